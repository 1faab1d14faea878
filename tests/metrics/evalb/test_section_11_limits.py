"""EVALB.md 11: at the fixed sizes nothing is said; beyond them the score is right and a remark says what EVALB lacks."""

from __future__ import annotations

import pytest
from evalb_helpers import NEW, run

from treegauge.metrics.evalb import program


def remarks(outcome) -> list[str]:
    assert all(message.startswith("treegauge: ") for message in outcome.messages)
    return [message.removeprefix("treegauge: ").partition(" where EVALB")[0] for message in outcome.messages]


def sentence(words: int, brackets: int = 1, label: int = 1, word: int = 5) -> str:
    """A tree of so many words and brackets (a chain at the top) with one label and one word of the given size."""
    terminals = [f"(N w{number})" for number in range(words - 1)] + [f"(N {'x' * word})"]
    return "(S " * (brackets - 1) + f"({'L' * label} {' '.join(terminals)})" + ")" * (brackets - 1) + "\n"


AT_LIMIT = {"words": {"words": 200}, "brackets": {"words": 2, "brackets": 200}, "label": {"words": 2, "label": 29}}
AT_LIMIT["word"] = {"words": 2, "word": 99}


@pytest.mark.parametrize("sizes", AT_LIMIT.values(), ids=AT_LIMIT)
def test_the_last_size_that_fits(sizes: dict[str, int]):
    outcome = run(sentence(**sizes), sentence(**sizes))
    assert outcome.messages == []
    assert (outcome.row.matched, outcome.row.words) == (sizes.get("brackets", 1), sizes["words"])


BEYOND = [
    ({"words": 201}, "201 words"),
    ({"words": 1000}, "1000 words"),
    ({"words": 2, "label": 30}, "a label of 30 bytes"),
    ({"words": 2, "word": 100}, "a word of 100 bytes"),
]


@pytest.mark.parametrize(("sizes", "what"), BEYOND, ids=[what for _, what in BEYOND])
def test_beyond(sizes: dict[str, int], what: str):
    outcome = run(sentence(**sizes), sentence(**sizes))
    row = outcome.row
    assert (row.status, row.matched, row.gold, row.test) == (0, 1, 1, 1)
    assert (row.words, row.tags) == (sizes["words"], sizes["words"])
    assert remarks(outcome)[-2 if sizes["words"] < 1000 else 1].endswith(f"line 1: {what}")
    assert outcome.code == 0


def test_brackets_201():
    gold = sentence(2, 201)
    outcome = run(gold, gold)
    assert (outcome.row.matched, outcome.row.gold, outcome.row.test) == (201, 201, 201)
    assert remarks(outcome) == ["gold line 1: 201 brackets", "test line 1: 201 brackets"]
    assert outcome.messages[0] == (
        "treegauge: gold line 1: 201 brackets where EVALB holds 200; its own result is undefined here, this one is not"
    )
    assert outcome.block(0)["Bracketing FMeasure"] == "100.00"


def test_what_counts_is_what_is_kept():
    # 249 tokens of which 186 stay fit, as in the Penn Treebank's longest sentence.
    line = "(S " + "(N a) " * 186 + "(. .) " * 63 + ")\n"
    assert run(line, line).messages == []


def test_only_the_side_beyond_is_named():
    gold, test = sentence(201), sentence(3)
    outcome = run(gold, test)
    assert outcome.messages[0].startswith("treegauge: gold line 1: 201 words where EVALB holds 200")
    assert outcome.messages[1:] == ["1 : Length unmatch (201|3)"]


def test_more_than_20_quotes():
    gold = "(S " + '(`` ") (N x) ' * 21 + ")\n"
    outcome = run(gold, gold.replace("``", "NN"), NEW)
    assert remarks(outcome) == ["gold line 1: 21 quote terminals", "test line 1: 21 quote terminals"]
    assert (outcome.row.status, outcome.row.words, outcome.row.tags) == (0, 42, 21)
    twenty = "(S " + '(`` ") (N x) ' * 20 + ")\n"
    assert run(twenty, twenty.replace("``", "NN"), NEW).messages == []


def test_words_put_back_count():
    gold = "(S " + "(N a) " * 200 + "(`` '))\n"
    assert remarks(run(gold, gold.replace("``", "NN"), NEW)) == ["gold line 1: 201 words", "test line 1: 201 words"]


@pytest.mark.parametrize(
    ("line", "fits", "what"),
    [
        ("DELETE_LABEL x{}", 100, "DELETE_LABEL"),
        ("DELETE_LABEL_FOR_LENGTH x{}", 100, "DELETE_LABEL_FOR_LENGTH"),
        ("QUOTE_LABEL x{}", 20, "QUOTE_LABEL"),
        ("EQ_LABEL x{} y", 100, "EQ_LABEL"),
        ("EQ_WORD x{} y", 100, "EQ_WORD"),
    ],
)
def test_lists_of_the_parameter_file(line: str, fits: int, what: str):
    lines = [line.format(number) + "\n" for number in range(fits + 1)]
    assert run("(S (N a))", "(S (N a))", "".join(lines[:fits])).messages == []
    outcome = run("(S (x100 (N a)))", "(S (x100 (N a)))", "".join(lines))
    assert remarks(outcome) == [f"{fits + 1} {what} lines"]
    assert outcome.row.gold == (1 if what == "DELETE_LABEL" else 2)


def test_long_values_of_pairs():
    label = "L" * 30
    outcome = run(f"(S ({label} (N a)) (N b))", "(S (M (N a)) (N b))", f"EQ_LABEL M {label}\n")
    assert outcome.row.matched == 2
    assert remarks(outcome) == ["an EQ_LABEL or EQ_WORD value of 30 bytes", "gold line 1: a label of 30 bytes"]


def test_a_long_text_in_the_trace():
    gold = "(A " + "(N abcdefgh) " * 100 + ")\n"
    outcome = run(gold, gold.replace("(A", "(B"), "DEBUG 2\n")
    assert outcome.messages == ["treegauge: line 1: a traced bracket of more than 999 bytes; EVALB's own trace is undefined here"]


def test_no_trace_of_pairs_beyond_the_limit():
    gold = sentence(2, 201)
    outcome = run(gold, gold, "DEBUG 2\n")
    assert outcome.messages[-1] == "treegauge: line 1: too many brackets for the DEBUG 2 trace, which is left out"
    assert b"1.res" not in outcome.stdout


DEEP = 100_000


def test_deep_nesting():
    line = b"(A " * DEEP + b"(N x)" + b")" * DEEP
    outcome = run(line, line)
    assert (outcome.row.matched, outcome.row.crossing) == (DEEP, 0)


def test_deep_chains_of_equal_labels():
    n = 5000
    line = b"(A " * n + b"(N x)" + b")" * n
    assert run(line, line.replace(b"A", b"B"), "EQ_LABEL A B\nEQ_LABEL B C\n").row.matched == n


def test_long_branching_sentences():
    n = 20_000
    right = b"".join(b"(A (N w) " for _ in range(n)) + b"(N w)" + b")" * n
    left = b"(A " * n + b"(N w)" + b" (N w))" * n
    row = run(right, left).row
    assert (row.matched, row.gold, row.test, row.crossing) == (1, n, n, n - 1)


@pytest.mark.parametrize("line", [b"(A " * DEEP, b")" * DEEP, b"\0" * DEEP, b"(" * DEEP, b"x" * DEEP, b" " * DEEP])
def test_hostile_lines_end_with_a_message_or_a_row(line: bytes):
    outcome = run(line + b"\n", line + b"\n")
    assert outcome.code in (0, 1)
    assert outcome.finished == (outcome.code == 0)
    assert program.MOST_REPETITIONS > 10_000
