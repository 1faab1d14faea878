"""One step of inside-outside re-estimation from bracketed sentences (Pereira & Schabes 1992).

The new P(A -> rhs) is the expected count of the rule divided by that of A. A nonterminal whose expected count is 0
keeps its rules; a probability of 0 stays 0; a sentence without a compatible parse is left out and counted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.engines import HERE, Engine
from treegauge.errors import MismatchError
from treegauge.grammar.pcfg import PCFG
from treegauge.learning.dense import DenseGrammar, is_normal_form
from treegauge.learning.expectation import DenseExpectation, Prepared, RuleExpectation, expect_dense, expect_rules, prepare
from treegauge.learning.sentences import BracketedSentences

__all__ = ["Learnable", "Step", "learnable", "reestimate", "steps"]

Learnable = DenseGrammar | PCFG
_SMALL, _SHARE = 32, 100
_ROUNDING = 2.0**-48


class Step(NamedTuple):
    """A grammar, how well it fits, and the grammar re-estimated from it.

    ``cross_entropy`` is -sum of log2 P(sentence) / sum of words, in bits a word, over the sentences that have a parse;
    ``skipped`` counts the others.
    """

    grammar: Learnable
    cross_entropy: float
    skipped: int
    log_probability: NDArray[np.float64]
    better: Learnable


def learnable(grammar: PCFG) -> Learnable:
    """The form in which a grammar is re-estimated fastest: dense if it is in Chomsky normal form and not too sparse."""
    size = len(grammar.nonterminals)
    if is_normal_form(grammar) and (size <= _SMALL or size**3 <= _SHARE * len(grammar.rules)):
        return DenseGrammar.from_pcfg(grammar)
    return grammar


def reestimate(grammar: PCFG, sentences: BracketedSentences, *, threads: int | None = None) -> PCFG:
    """The grammar after one step, its rules in the same order.

    >>> from treegauge.learning import BracketedSentences
    >>> grammar = PCFG.parse('S -> A S [.25] | S A [.25] | "a" [.5]\\nA -> "a" [.5] | S S [.5]')
    >>> print(reestimate(grammar, BracketedSentences.of([(["a", "a", "a"], [])])))
    S -> A S [0.214286]
    S -> S A [0.214286]
    S -> "a" [0.571429]
    A -> "a" [0.666667]
    A -> S S [0.333333]
    """
    better = step(learnable(grammar), prepare(sentences), threads=threads).better
    made = better if isinstance(better, PCFG) else better.to_pcfg()
    order = {rule.production: number for number, rule in enumerate(grammar.rules)}
    return PCFG(tuple(sorted(made.rules, key=lambda rule: order[rule.production])), made.start, made.labels)


def steps(grammar: Learnable, sentences: BracketedSentences, *, threads: int | None = None) -> Iterator[Step]:
    """One step after the other, without end: step ``k`` tells of the grammar after ``k`` re-estimations."""
    prepared = prepare(sentences)
    while True:
        made = step(grammar, prepared, threads=threads)
        yield made
        grammar = made.better


def step(grammar: Learnable, prepared: Prepared, *, threads: int | None = None, engine: Engine = HERE) -> Step:
    """How well a grammar fits, and the grammar after it."""
    if isinstance(grammar, PCFG):
        counted = expect_rules(grammar, prepared.sentences, engine=engine)
        better: Learnable = _relative_rules(grammar, counted)
    else:
        counted = expect_dense(grammar, prepared, threads=threads, engine=engine)
        better = _relative_dense(grammar, counted)
    parsed = counted.log_probability > -math.inf
    if not parsed.any():
        raise MismatchError(
            "no sentence has a parse that fits its brackets, so there is nothing to learn from.\n"
            "  Start from a grammar that knows these words (or from a random one), and see that no two brackets cross."
        )
    words = int(prepared.sentences.lengths[parsed].sum())
    bits = (0.0 - math.fsum(counted.log_probability[parsed].tolist())) / math.log(2)
    # The probability of what is certain comes out as 1 but for rounding, and its entropy is 0.
    return Step(grammar, bits / words if bits > _ROUNDING * words else 0.0, int((~parsed).sum()), counted.log_probability, better)


def _relative_dense(grammar: DenseGrammar, counted: DenseExpectation) -> DenseGrammar:
    total = counted.binary.sum(axis=(1, 2)) + counted.lexical.sum(axis=0)
    seen = total > 0
    divisor = np.where(seen, total, 1.0)
    return DenseGrammar(
        grammar.symbols,
        grammar.terminals,
        np.where(seen[:, None, None], counted.binary / divisor[:, None, None], grammar.binary),
        np.where(seen, counted.lexical / divisor, grammar.lexical),
        grammar.labels,
    )


def _relative_rules(grammar: PCFG, counted: RuleExpectation) -> PCFG:
    parts: dict[str, list[float]] = {}
    for rule, count in zip(grammar.rules, counted.counts.tolist(), strict=True):
        parts.setdefault(rule.lhs, []).append(count)
    totals = {lhs: math.fsum(counts) for lhs, counts in parts.items()}
    rules = [
        rule._replace(probability=count / totals[rule.lhs]) if totals[rule.lhs] > 0 else rule
        for rule, count in zip(grammar.rules, counted.counts.tolist(), strict=True)
    ]
    return PCFG(tuple(rules), grammar.start, grammar.labels)
