"""The fast decoders against forests."""

from __future__ import annotations

import math

import numpy as np
import pytest

from treegauge.grammar import PCFG
from treegauge.learning import BracketedSentences, DenseGrammar, random_grammar
from treegauge.learning.reestimation import decode_brackets
from treegauge.parsing import Forest


@pytest.mark.parametrize("seed", range(6))
def test_both_parses_are_those_of_the_forest(seed: int) -> None:
    rng = np.random.default_rng(seed)
    grammar = random_grammar(4, list("abc"), seed)
    words = [rng.choice(list("abcz") if i == 0 else list("abc"), int(rng.integers(1, 8))).tolist() for i in range(6)]
    rules = grammar.to_pcfg()
    for found, sentence in zip(decode_brackets(grammar, BracketedSentences.of([(w, []) for w in words])), words, strict=True):
        forest = Forest(rules, sentence)
        assert (found is None) == (not forest.has_parse)
        if found is not None:
            parse, best = forest.best(), forest.argmax("bracketed-recall")
            spans = {(span.start, span.end) for span in parse.tree.spans() if span.end - span.start > 1}
            assert set(found.viterbi) == spans
            assert found.log_probability == pytest.approx(parse.log_probability)
            assert found.expected_brackets == pytest.approx(best.score)
            brackets = {(span.start, span.end) for span in best.tree.spans() if span.end - span.start > 1}
            assert set(found.bracketed_recall) == brackets


def test_what_is_out_of_range_is_decoded_too() -> None:
    grammar = PCFG.parse('S -> B S [.5] | B B [.5]\nB -> B B [.1] | "a" [.1] | "z" [.8]\nA -> A A [.45] | "a" [.55]')
    (found,) = decode_brackets(DenseGrammar.from_pcfg(grammar), BracketedSentences.of([(["a"] * 260, [])]))
    assert found is not None
    assert len(found.viterbi) == len(found.bracketed_recall) == 259
    assert math.isfinite(found.expected_brackets)


def test_no_words_have_no_parse() -> None:
    assert decode_brackets(random_grammar(2, ["a"], 1), BracketedSentences.of([([], [])])) == [None]
