"""Tables as text: aligned, and no wider than the terminal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from treegauge.tables import LONG, Table, render

WIDE = Table(
    "Differences",
    ("metric", "rate", "A", "B", "difference", "p"),
    (("parseval", "f1", 84.83, 85.63, 0.81, 0.0006), ("goodman", "labelled_recall", 85.4, 85.16, -0.24, 0.4556)),
    ("a note",),
)


def test_a_wide_table_goes_on_below_with_its_first_columns_repeated() -> None:
    lines = replace(WIDE, columns=("metric", *WIDE.columns[1:]), rows=tuple((1, *row[1:]) for row in WIDE.rows)).as_text(width=40)
    assert lines.split("\n\n")[1].splitlines()[0].split() == ["metric", "difference", "p"]
    assert max(map(len, lines.splitlines())) <= 40


def test_columns_of_names_become_lines_above_their_rows() -> None:
    lines = WIDE.as_text(width=50).splitlines()
    assert lines[1].split() == list(WIDE.columns[1:])
    assert [line for line in lines if ":" in line] == ["metric: parseval", "metric: goodman"]
    assert lines[3].split() == ["f1", "84.83", "85.63", "0.81", "0.00"]
    assert lines[-1] == "a note"
    assert max(map(len, lines)) <= 50


def test_a_name_that_never_changes_is_in_the_title() -> None:
    same = Table("Differences", WIDE.columns, tuple(("parseval", *row[1:]) for row in WIDE.rows))
    lines = same.as_text(width=55).splitlines()
    assert lines[0] == "Differences (metric: parseval)"
    assert lines[1].split() == list(WIDE.columns[1:])


def test_columns_stand_closer_before_a_table_is_cut() -> None:
    numbers = Table("", ("n", "a", "b"), ((1, 2.0, 3.0),))
    assert numbers.as_text(width=len("n  2.00  3.00")) == "n     a     b\n1  2.00  3.00"
    assert numbers.as_text(width=len("n 2.00 3.00")) == "n    a    b\n1 2.00 3.00"


def test_no_cell_is_lost_at_any_width() -> None:
    cells = sorted(" ".join(WIDE.as_text().splitlines()[2:-1]).split())
    for width in range(1, 100):
        shown = " ".join(WIDE.as_text(width=width).splitlines())
        assert all(cell in shown.split() for cell in cells), width


def test_a_table_that_fits_is_in_one_piece() -> None:
    assert WIDE.as_text(width=1000) == WIDE.as_text()


def test_a_long_table_that_is_too_wide_goes_on_after_some_rows() -> None:
    rows = tuple((number, 1.0, 2.0, 3.0) for number in range(2 * LONG))
    lines = Table("", ("n", "first", "second", "third"), rows).as_text(width=17).splitlines()
    assert [line.split() for line in lines if line.startswith(" n")] == [["n", "first", "second"], ["n", "third"]] * 2
    assert lines.index("") == LONG + 1


def test_the_terminal_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert render(WIDE, "table") == WIDE.as_text(width=40)
    assert "\n\n" not in render(WIDE, "csv")


@pytest.mark.parametrize("table", [Table("", (), ()), Table("", ("a", "b"), (("x", "y"),)), Table("", ("n",), ((1,),))])
def test_small_tables(table: Table) -> None:
    assert table.as_text(width=1).split() == [*table.columns, *(str(cell) for row in table.rows for cell in row)]
