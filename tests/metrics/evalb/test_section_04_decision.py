"""EVALB.md 4: valid, error or skip, in that order of questions."""

from __future__ import annotations

import pytest
from evalb_helpers import OPEN, TRAM, run

ZEROS = (0, 0, 0, 0, 0, 0)


def counts(row):
    return (row.matched, row.gold, row.test, row.crossing, row.words, row.tags)


@pytest.mark.parametrize("nothing", ["", " ", "()", "(())", "(TOP)", "(TOP (. .) (, ,))", "\t\r"])
def test_a_test_line_without_words_is_skipped(nothing: str):
    outcome = run(TRAM + "\n", nothing + "\n")
    assert (outcome.row.status, outcome.row.length, counts(outcome.row)) == (2, 6, ZEROS)
    assert (outcome.messages, outcome.code) == ([], 0)
    assert run(nothing + "\n", nothing + "\n").row.status == 2


def test_a_gold_line_without_words_is_an_error():
    outcome = run("\n", TRAM + "\n")
    assert outcome.messages == ["1 : Length unmatch (0|5)"]
    assert (outcome.row.status, outcome.row.length) == (1, 0)


def test_skip_overrides_a_reading_error():
    outcome = run(TRAM[:-1] + "\n", "\n")
    assert outcome.messages == [f"1 : {OPEN}"]
    assert outcome.row.status == 2
    assert outcome.block(0)["Number of Error sentence"] == "0"
    assert outcome.block(0)["Number of Skip sentence"] == "1"


def test_length_before_words():
    outcome = run("(S (N a) (N b))", "(S (N c))")
    assert outcome.messages == ["1 : Length unmatch (2|1)"]
    assert counts(outcome.row) == ZEROS


def test_the_first_word_that_differs():
    outcome = run("(S (N a) (N b) (N c))", "(S (N a) (N x) (N y))")
    assert outcome.messages == ["1 : Words unmatch (b|x)"]
    assert (outcome.row.status, counts(outcome.row)) == (1, ZEROS)


def test_words_are_compared_as_bytes():
    assert run("(S (N Cat))", "(S (N cat))").row.status == 1
    assert run("(S (N caf\u00e9))", "(S (N cafe\u0301))").row.status == 1
    assert run("(S (N caf\u00e9))", "(S (N caf\u00e9))").row.status == 0


def test_equal_words_in_both_directions_but_not_transitively():
    prm = "EQ_WORD a b\nEQ_WORD b c\n"
    statuses = [run(f"(S (N {g}))", f"(S (N {t}))", prm).row.status for g, t in ["ab", "ba", "bc", "cb", "ac", "ca"]]
    assert statuses == [0, 0, 0, 0, 1, 1]


def test_deleted_words_are_never_compared():
    assert run("(S (N a) (. .) (, ,))", "(S (N a) (: ;) (. !))").row.status == 0


def test_missing_close():
    outcome = run(TRAM, TRAM[:-1])
    assert outcome.messages == [f"1 : {OPEN}"]
    assert (outcome.row.status, counts(outcome.row)) == (1, (4, 4, 4, 0, 5, 5))
    block = outcome.block(0)
    assert (block["Number of Valid sentence"], block["Bracketing Recall"], block["Tagging accuracy"]) == (
        "0",
        "0.00",
        "0.00",
    )


def test_an_error_sentence_does_not_count_as_valid():
    block = run(f"{TRAM}\n{TRAM}\n\n", f"{TRAM}\n(S (N x))\n\n").block(0)
    names = ["sentence", "Error sentence", "Skip sentence", "Valid sentence"]
    assert [block[f"Number of {name}"] for name in names] == ["3", "1", "1", "1"]
