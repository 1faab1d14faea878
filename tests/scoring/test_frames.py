"""Results as pandas data frames, with pandas only where somebody asks for one."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

import treegauge

GOLD = ["(S (NP (N a)) (VP (V b) (NP (N c))))", "(S (NP (N a)) (VP (V b)))"]
TEST = ["(S (NP (N a)) (VP (V b) (PP (N c))))", "(S (NP (N a)) (VP (V b)))"]


@pytest.fixture
def pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library of the same name that returns what it is given."""
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=lambda data, columns=(): data))


def as_lists(frame: Any) -> dict[str, list[Any]]:
    return {name: list(column) for name, column in frame.items()}


@pytest.mark.usefixtures("pandas")
def test_a_row_a_sentence() -> None:
    result = treegauge.score(GOLD, TEST)
    frame = as_lists(result.to_frame())
    assert frame["sentence"] == [0, 1]
    assert frame["length"] == [3, 2]
    assert (frame["matched"], frame["gold"], frame["test"]) == ([3, 3], [4, 3], [4, 3])


@pytest.mark.usefixtures("pandas")
def test_a_row_a_rate() -> None:
    scores = treegauge.Scores([treegauge.score(GOLD, TEST)])
    f1 = [row for row in scores.to_frame() if row["rate"] == "f1" and row["length"] == "all"]
    assert [row["value"] for row in f1] == [pytest.approx(6 / 7)]


def test_real_pandas() -> None:
    pytest.importorskip("pandas")
    frame = treegauge.score(GOLD, TEST).to_frame()
    assert frame["matched"].sum() == 6


def test_without_pandas_the_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(treegauge.UsageError, match="pip install pandas"):
        treegauge.score(GOLD, TEST).to_frame()
