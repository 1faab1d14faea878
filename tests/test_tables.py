"""Tables as text: aligned, and no wider than the terminal."""

from __future__ import annotations

import pytest

from treegauge.tables import LONG, Table, render

WIDE = Table(
    "Differences",
    ("metric", "rate", "A", "B", "difference", "p"),
    (("parseval", "f1", 84.83, 85.63, 0.81, 0.0006), ("goodman", "labelled_recall", 85.4, 85.16, -0.24, 0.4556)),
    ("a note",),
)


def test_a_wide_table_goes_on_below_with_its_first_columns_repeated() -> None:
    lines = WIDE.as_text(width=40).splitlines()
    assert lines[0] == "Differences"
    assert lines[1].split() == ["metric", "rate", "A", "B"]
    assert lines[4] == ""
    assert lines[5].split() == ["metric", "rate", "difference"]
    assert lines[6].split() == ["parseval", "f1", "0.81"]
    assert lines[-1] == "a note"
    assert max(map(len, lines)) <= 40


def test_no_cell_is_lost_at_any_width() -> None:
    cells = sorted(" ".join(WIDE.as_text().splitlines()[2:-1]).split())
    for width in range(1, 100):
        shown = " ".join(WIDE.as_text(width=width).splitlines())
        assert all(cell in shown.split() for cell in cells), width


def test_a_table_that_fits_is_in_one_piece() -> None:
    assert WIDE.as_text(width=1000) == WIDE.as_text()


def test_a_long_table_is_not_cut() -> None:
    long = Table("", WIDE.columns, WIDE.rows * (1 + LONG // 2))
    assert long.as_text(width=40) == long.as_text()


def test_the_terminal_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert render(WIDE, "table") == WIDE.as_text(width=40)
    assert "\n\n" not in render(WIDE, "csv")


@pytest.mark.parametrize("table", [Table("", (), ()), Table("", ("a", "b"), (("x", "y"),)), Table("", ("n",), ((1,),))])
def test_small_tables(table: Table) -> None:
    assert table.as_text(width=1).split() == [*table.columns, *(str(cell) for row in table.rows for cell in row)]
