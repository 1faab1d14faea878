"""The authors' program, to the byte, wherever it did not crash."""

from __future__ import annotations

import pytest
from freval_program import published_printout, published_sentences
from known_answers import ProgramCase, program_cases

CASES = [case for case in program_cases("freval") if case.code == 0]


def printout(gold: bytes, test: bytes) -> str:
    sentences = list(published_sentences(gold.splitlines(True), test.splitlines(True)))
    return "".join(f"{line}\n" for line in published_printout(sentences))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_prints_what_the_program_printed(case: ProgramCase) -> None:
    assert printout(case.gold.encode(), case.test.encode()) == case.stdout


@pytest.mark.parametrize(
    ("gold", "test", "status", "words"),
    [
        # A node without children is compared as a word, by its label, and covers nothing.
        (b"(S (NP) (VP (V b) (N c)))", b"(S (NP) (VP (V b) (N c)))", "OK", 3),
        (b"(S (NP) (VP (V b) (N c)))", b"(S (XP) (VP (V b) (N c)))", "Error", 0),
        (b"(S (NP) (VP (V b) (N c)))", b"(S (VP (V b) (N c)))", "Error", 0),
        (b"(S (TOP (NP)) (VP (V b) (N c)))", b"(S (VP (V b) (N c)))", "OK", 2),
        # A quote that only one side deletes is put back; where it stands counts words that are not quotes.
        (b"(S ('' \") (VP (V b) (N c)))", b'(S (NN ") (VP (V b) (N c)))', "OK", 3),
        (b"(S (VP (V b) ('' \") (N c)))", b'(S (NN ") (VP (V b) (N c)))', "Error", 0),
        (b"(S ('' \") ('' \") (VP (V b)))", b'(S (NN ") (NN ") (VP (V b)))', "OK", 3),
    ],
)
def test_childless_nodes_and_quotes(gold: bytes, test: bytes, status: str, words: int) -> None:
    [sentence] = published_sentences([gold], [test])
    assert (sentence.status, sentence.words) == (status, words)
    if status == "OK":
        assert sentence.gold.at(1) == sentence.matched.at(1) == 2


def test_numbers_are_rounded_half_up_as_java_does() -> None:
    # One of 800 words has another tag: 99.875% are right.
    words = " ".join(["(A a)"] * 799)
    text = printout(f"(S {words} (A b))\n".encode(), f"(S {words} (B b))\n".encode())
    assert " 99.88" in text
    assert "Tagging accuracy          =  99.88" in text
