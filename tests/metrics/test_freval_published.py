"""The authors' program, to the byte, wherever it did not crash."""

from __future__ import annotations

import pytest
from known_answers import ProgramCase, program_cases

from treegauge.metrics.freval_published import published_printout, published_sentences

CASES = [case for case in program_cases("freval") if case.code == 0]


def printout(gold: bytes, test: bytes) -> str:
    sentences = list(published_sentences(gold.splitlines(True), test.splitlines(True)))
    return "".join(f"{line}\n" for line in published_printout(sentences))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_prints_what_the_program_printed(case: ProgramCase) -> None:
    assert printout(case.gold.encode(), case.test.encode()) == case.stdout
