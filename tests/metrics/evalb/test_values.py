"""``score_lines``: what EVALB computes, as values."""

from __future__ import annotations

import pytest
from evalb_helpers import COLLINS, NEW, OPEN, TRAM

from treegauge.metrics.evalb import ERROR, SKIP, UNPAIRED, VALID, score_lines
from treegauge.presets.prm import Parameters, parse_prm


def score(gold: list[str], test: list[str], prm: str = COLLINS):
    parameters, _ = parse_prm(prm.encode())
    return list(score_lines([line.encode() for line in gold], [line.encode() for line in test], parameters))


def test_counts():
    [result] = score([TRAM + "\n"], [TRAM.replace("(VP", "(XP").replace("JJ", "NN")])
    assert result[:9] == (1, 6, VALID, 3, 4, 4, 0, 5, 4)
    assert (result.messages, result.remarks, result.endless) == ((), (), False)


def test_messages_have_no_number_and_no_newline():
    results = score([TRAM, TRAM[:-1], TRAM], ["(S (N x))", TRAM, ""])
    assert [(result.id, result.status) for result in results] == [(1, ERROR), (2, ERROR), (3, SKIP)]
    assert [result.messages for result in results] == [(b"Length unmatch (5|1)",), (OPEN.encode(),), ()]


def test_an_endless_line_is_one_message_and_the_next_is_scored():
    results = score(["junk", TRAM], [TRAM, TRAM])
    assert [(result.status, result.endless) for result in results] == [(ERROR, True), (VALID, False)]
    assert results[0].messages == (b"Reading sentence",)


@pytest.mark.parametrize(("gold", "test", "kind"), [(3, 1, b"gold"), (1, 3, b"test")])
def test_lines_without_partner(gold: int, test: int, kind: bytes):
    *scored, last = score([TRAM] * gold, [TRAM] * test)
    assert [result.status for result in scored] == [VALID]
    assert (last.id, last.status) == (2, UNPAIRED)
    assert last.messages == (b"Number of lines unmatch (too many lines in %s file)" % kind,)


def test_limits_are_remarks():
    [result] = score(["(S " + "(N a) " * 201 + ")"], ["(S " + "(N a) " * 201 + ")"])
    assert (result.status, result.words, len(result.remarks)) == (VALID, 201, 2)


def test_debug_is_in_trace_and_dump():
    [result] = score(["(S (N a)"], ["(S (N a))"], "DEBUG 2\n")
    assert result.messages == (OPEN.encode(),)
    assert len(result.trace) == 2
    assert result.trace[0] == b"label=S, word=, wid=0\nlabel=N, word=a, wid=0\n"
    assert result.dump.startswith(b"-<1>---(wn1=  1, bn1=  1)-")
    [plain] = score(["(S (N a)"], ["(S (N a))"])
    assert (plain.trace, plain.dump) == ((), b"")


def test_lines_may_be_any_iterable():
    lines = (line for line in [TRAM.encode()] * 2)
    assert sum(1 for _ in score_lines(lines, [TRAM.encode()] * 2, Parameters())) == 2


WELL_FORMED = [
    TRAM,
    "(S(NP(N a))(VP(V b)))",
    "(S (N a)\t(NN) (X (Y)) (. .))\r",
    "(N a)",
    "(( a) (N b))",
]
MALFORMED = ["(S (N a)", "(S (N a)))", "x", "(S (N a b))", "(S (N a ))", "(S (N", "(S (N ", "(S (N a\0))", "(S (`` ')", ") (S", ""]


@pytest.mark.parametrize("line", [*WELL_FORMED, *MALFORMED, "(S (N a)) (S (N b))", "(NN )", "( )", "(S (`` ') (N a))"])
def test_many_lines_are_scored_as_one_is(line: str):
    lines = [line, TRAM, "(S (N c))"] * 30
    tests = [line, "(S (`` ') (N a))", "(S (X (N c)))"] * 30
    parameters, _ = parse_prm(NEW.encode())
    expected = [
        result._replace(id=number)
        for number, pair in enumerate(zip(lines, tests, strict=True), start=1)
        for result in score_lines([pair[0].encode()], [pair[1].encode() + b"\n"], parameters)
    ]
    gold, test = ([line.encode() + b"\n" for line in side] for side in (lines, tests))
    assert list(score_lines(gold, test, parameters)) == expected
