"""EVALB.md 14: where C is undefined, a malformed line gets status 1 and a message, and no line shifts another."""

from __future__ import annotations

import pytest
from evalb_helpers import TRAM, run

MALFORMED = [
    "(S (N a)))",
    "(S (N a))))))",
    ")",
    ") (S (N a))",
    "(S (N a)) ) (S (N b)",
    "(S (N a) (N",
    "(S (N a) (N ",
    "(S (N a) (",
    "(S (N a) ",
]


@pytest.mark.parametrize("line", MALFORMED)
@pytest.mark.parametrize("sides", ["gold", "test", "both"])
def test_a_malformed_line(line: str, sides: str):
    good = "(S (N a))"
    gold = "\n".join([TRAM, line if sides != "test" else good, TRAM]) + "\n"
    test = "\n".join([TRAM, line if sides != "gold" else good, TRAM]) + "\n"
    outcome = run(gold, test)
    statuses = [row.status for row in outcome.rows]
    no_words = line == ")" and sides != "gold"
    assert statuses == [0, 2 if no_words else 1, 0]
    assert outcome.code == 0
    assert outcome.messages
    assert all(message.startswith("2 : ") for message in outcome.messages)
    assert outcome.block(0)["Bracketing FMeasure"] == "100.00"


def test_a_long_line_does_not_shift_the_next():
    long = "(S " + "(N abc) " * 900 + ")\n"
    outcome = run(TRAM + "\n" + long + TRAM + "\n", TRAM + "\n" + long + TRAM + "\n")
    assert [(row.id, row.status, row.words) for row in outcome.rows] == [(1, 0, 5), (2, 0, 900), (3, 0, 5)]
