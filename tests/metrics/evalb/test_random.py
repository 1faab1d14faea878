"""Thousands of small random files: treegauge against the slow, literal scorer, to the byte."""

from __future__ import annotations

import re

import pytest
from evalb_helpers import run
from evalb_literal import Literal, Undefined
from evalb_random import random_case

pytestmark = pytest.mark.slow

CHUNK = 250
REMARK = rb"treegauge: line \d+: a traced bracket without its closing bracket; [^\n]*\n"
"""Our own remark where EVALB's trace is undefined, on stderr; everything else must be EVALB's."""


@pytest.mark.parametrize("first", range(0, 10 * CHUNK, CHUNK))
def test_random_files(first: int):
    defined = 0
    for seed in range(first, first + CHUNK):
        case = random_case(seed)
        outcome = run(case.gold, case.test, case.prm)
        try:
            slow = Literal(*case)
        except Undefined:
            assert outcome.code in (0, 1)
            continue
        defined += 1
        assert outcome._replace(stderr=re.sub(REMARK, b"", outcome.stderr)) == (slow.stdout, slow.stderr, slow.code), f"seed {seed}"
    assert defined > CHUNK * 0.8


def test_the_random_files_show_everything():
    """The comparison is worth as much as what the files contain."""
    seen: set[str] = set()
    for seed in range(600):
        case = random_case(seed)
        try:
            slow = Literal(*case)
        except Undefined:
            seen.add("undefined")
            continue
        seen.update(f"status {row[1]}" for row in slow.rows)
        seen.update(name for name in ("LABEL[", "BRACKET[", "EXTRA[", "CROSSING[", "bra=") if name.encode() in slow.stdout)
        messages = ("Length", "Words", "too many open", "More than two", "Reading", "gold file", "test file", "requires")
        seen.update(name for name in messages if name.encode() in slow.stderr)
        if any(row[1] == 0 and 0 < row[2] < row[3] and row[5] for row in slow.rows):
            seen.add("partly right")
        seen.add(f"code {slow.code}")
    assert len(seen) == 20, sorted(seen)
