"""Coarser grammars: symbols of a grammar put together, each with the share that random trees of the grammar give it."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from treegauge.grammar.pcfg import PCFG, Rule

__all__ = ["coarse_label", "expected_usage", "project"]

_MOST_ROUNDS = 1000
_SMALLEST = 1e-12
_MARK = re.compile(r"[\^|~@]")


def expected_usage(grammar: PCFG) -> dict[str, float]:
    """How many nodes of each symbol a random tree of the grammar has on average, down to a depth of 1000.

    >>> expected_usage(PCFG.parse('S -> A A [.5] | A [.5]\\nA -> "a" [1]'))
    {'S': 1.0, 'A': 1.5}
    """
    index = {symbol: i for i, symbol in enumerate(grammar.nonterminals)}
    steps = [
        (index[rule.lhs], index[symbol], rule.probability)
        for rule in grammar.rules
        for symbol, word in zip(rule.rhs, rule.words, strict=True)
        if not word
    ]
    parent = np.array([step[0] for step in steps], np.int64)
    child = np.array([step[1] for step in steps], np.int64)
    probability = np.array([step[2] for step in steps], np.float64)
    level = np.zeros(len(index))
    level[index[grammar.start]] = 1.0
    usage = level.copy()
    for _ in range(_MOST_ROUNDS):
        level = np.bincount(child, level[parent] * probability, len(index))
        usage += level
        if level.max(initial=0.0) < _SMALLEST:
            break
    return dict(zip(index, usage.tolist(), strict=True))


def coarse_label(grammar: PCFG, symbol: str, marks: int = 0) -> str:
    """What a symbol shows as, with so many of its marks; one that does not show is called by its name and ``|``.

    >>> labels = {"S^R^U": "S", "S^R^U|A": None}
    >>> grammar = PCFG.from_rules([("S^R^U", ["a", "S^R^U|A"], 1), ("S^R^U|A", ["a", "b"], 1)], labels=labels)
    >>> [coarse_label(grammar, symbol, marks) for symbol in labels for marks in (0, 1)]
    ['S', 'S^R', 'S|', 'S^R|']
    """
    label = grammar.label(symbol)
    name, *rest = _MARK.split(symbol, maxsplit=marks + 1)
    kept = "^".join([name if label is None else label, *rest[:marks]])
    return kept if label is not None else f"{kept}|"


def project(grammar: PCFG, label: Callable[[str], str]) -> PCFG:
    """The grammar whose symbols are ``label(symbol)``: a rule is as probable as it is among all that random trees use.

    >>> grammar = PCFG.parse('S -> A1 A2 [1]\\nA1 -> "a" [1]\\nA2 -> "b" [1]')
    >>> print(project(grammar, lambda symbol: symbol[0]))
    S -> A A [1]
    A -> "a" [0.5]
    A -> "b" [0.5]
    """
    usage = expected_usage(grammar)
    names = {symbol: label(symbol) for symbol in grammar.nonterminals}
    weights: dict[tuple[str, tuple[str, ...], tuple[bool, ...]], float] = {}
    for rule in grammar.rules:
        right = tuple(x if word else names[x] for x, word in zip(rule.rhs, rule.words, strict=True))
        key = names[rule.lhs], right, rule.words
        weights[key] = weights.get(key, 0.0) + usage[rule.lhs] * rule.probability
    rules = [Rule(*key, weight) for key, weight in weights.items()]
    return PCFG.from_rules(rules, start=names[grammar.start], renormalise=True)
