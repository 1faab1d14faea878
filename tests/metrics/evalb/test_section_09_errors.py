"""EVALB.md 9: messages, the limit that ends a run, files of different length."""

from __future__ import annotations

import pytest
from evalb_helpers import OPEN, TRAM, run

from treegauge.metrics.evalb import program

GOOD, BAD = "(S (N a))\n", "(S (N b))\n"


def stops_at(limit: int) -> int:
    """The number of messages of a run on plenty of errors."""
    outcome = run(GOOD * 30, BAD * 30, f"MAX_ERROR {limit}\n")
    assert outcome.code == 1
    assert len(outcome.rows) == len(outcome.messages) - 1
    assert outcome.stdout.count(b"===") == outcome.stdout.split(b"\n")[2].count(b"===")
    return len(outcome.messages)


def test_max_error_10():
    assert stops_at(10) == 12
    assert run(GOOD * 11, BAD * 11, "MAX_ERROR 10\n").code == 0


def test_max_error_0():
    assert stops_at(0) == 2


def test_max_error_neg():
    assert stops_at(-1) == 1
    assert stops_at(-5) == 1


def test_two_messages_max_error():
    # Each sentence gives two messages: unbalanced, then of another length.
    gold, test = "(S (N a)\n" * 5, "(S (N a) (N b))\n" * 5
    outcome = run(gold, test, "MAX_ERROR 2\n")
    assert outcome.messages == [
        f"1 : {OPEN}",
        "1 : Length unmatch (1|2)",
        f"2 : {OPEN}",
        "2 : Length unmatch (1|2)",
    ]
    assert (outcome.code, len(outcome.rows)) == (1, 1)
    assert run(gold, test, "MAX_ERROR 8\n").code == 1
    finished = run(gold, test, "MAX_ERROR 9\n")
    assert (finished.code, finished.block(0)["Number of Error sentence"]) == (0, "5")


def test_a_sentence_can_give_three_messages():
    outcome = run("(S (N a)\n", "(S (N b) (N c)\n", "MAX_ERROR 10\n")
    assert outcome.messages == [f"1 : {OPEN}", f"1 : {OPEN}", "1 : Length unmatch (1|2)"]


def test_skips_do_not_count():
    assert run(GOOD * 30, "\n" * 30, "MAX_ERROR 0\n").code == 0


def test_gold_longer():
    outcome = run(GOOD * 4, GOOD * 2)
    assert outcome.messages == ["3 : Number of lines unmatch (too many lines in gold file)"]
    assert (outcome.code, len(outcome.rows), outcome.block(0)["Number of Error sentence"]) == (0, 2, "0")
    assert outcome.block(0)["Number of sentence"] == "2"


def test_test_longer():
    outcome = run(GOOD * 2, GOOD * 4)
    assert outcome.messages == ["3 : Number of lines unmatch (too many lines in test file)"]
    assert (outcome.code, len(outcome.rows)) == (0, 2)
    assert run("", GOOD).messages == ["1 : Number of lines unmatch (too many lines in test file)"]


@pytest.mark.parametrize(("gold", "test"), [(GOOD * 2, GOOD), (GOOD, GOOD * 2)])
def test_different_lengths_count_for_the_limit(gold: str, test: str):
    outcome = run(gold, test, "MAX_ERROR -1\n")
    assert (outcome.code, outcome.finished, len(outcome.rows)) == (1, False, 1)


def test_the_extra_gold_line_is_read_first():
    outcome = run(GOOD + "(S (N a)\n", GOOD)
    assert outcome.messages == [f"2 : {OPEN}", "2 : Number of lines unmatch (too many lines in gold file)"]
    assert run(GOOD + "junk\n", GOOD).messages == ["2 : Reading sentence"] * 12


def test_a_missing_line_shifts_all_later_pairs():
    texts = [TRAM.replace("tram", word) + "\n" for word in ("one", "two", "three")]
    outcome = run("".join(texts), texts[0] + texts[2])
    assert outcome.messages == [
        "2 : Words unmatch (two|three)",
        "3 : Number of lines unmatch (too many lines in gold file)",
    ]


def test_empty_files():
    outcome = run("", "")
    assert (outcome.messages, outcome.code, outcome.rows) == ([], 0, [])
    assert outcome.block(0)["Bracketing FMeasure"] == "-nan"


def test_an_endless_line_counts_what_came_before():
    outcome = run(BAD * 3 + "junk\n", GOOD * 4, "MAX_ERROR 5\n")
    assert outcome.messages == [f"{number} : Words unmatch (b|a)" for number in (1, 2, 3)] + ["4 : Reading sentence"] * 4
    assert (outcome.code, len(outcome.rows)) == (1, 3)


def test_a_large_limit_is_reached_in_blocks():
    outcome = run("junk\n", GOOD, "MAX_ERROR 10000\n")
    assert outcome.stderr == b"1 : Reading sentence\n" * 10_002
    assert run("(S (N a b))\n", GOOD, "MAX_ERROR 0\n").messages == [
        "1 : More than two elements in a bracket",
        "1 : Reading sentence",
    ]
    assert run("(S (N a b))\n", GOOD, "MAX_ERROR -1\n").messages == ["1 : More than two elements in a bracket"]


@pytest.mark.parametrize("limit", [2_000_000_000, 2_147_483_647])
def test_a_limit_that_would_take_for_ever_is_cut_short_and_said_so(limit: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(program, "MOST_REPETITIONS", 5000)
    outcome = run("junk\n", GOOD, f"MAX_ERROR {limit}\n")
    # One message, 5000 more, and the remark.
    assert outcome.messages[:-1] == ["1 : Reading sentence"] * 5001
    left = limit + 2 - 5001
    assert outcome.messages[-1] == f"treegauge: stopped here; EVALB would print the last message {left} times more"
    assert outcome.code == 1
