"""Rules of split symbols smoothed towards those of all symbols that differ from them only in what stands above.

P'(A -> rhs) = (c(A) P(A -> rhs) + k P(A' -> rhs)) / (c(A) + k), where A' stands for all symbols that are A but for their parent
(``VP^S^VBF`` and ``VP^SBAR^VBF`` for example), c counts nodes, and P(A' -> rhs) is the mean over them, weighted by c.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping

from treegauge.grammar.pcfg import PCFG, Rule
from treegauge.normalise.marks import parts

__all__ = ["smooth_rules", "without_parent"]

_LEAST = 1e-5
"""Smoothed rules less probable than this are not made: they would slow parsing for nothing."""


def without_parent(symbol: str) -> str:
    """A split symbol without the mark that follows its label.

    >>> without_parent("VP^S^VBF|NP"), without_parent("NP^S"), without_parent("NN")
    ('VP^VBF|NP', 'NP', 'NN')
    """
    made = parts(symbol, "|")
    label, *marks = parts(made[0], "^")
    return "|".join(["^".join([label, *marks[1:]]), *made[1:]])


def smooth_rules(grammar: PCFG, counts: Mapping[str, int], weight: float, coarser: Callable[[str], str] = without_parent) -> PCFG:
    """The grammar with its rules smoothed, words left alone; ``counts`` has the number of nodes of each symbol.

    >>> rules = [("S", ["A^S", "A^X"], 1), ("A^S", ["B", "B"], 1), ("A^X", ["C", "C"], 1), ("B", ["b"], 1), ("C", ["c"], 1)]
    >>> smoothed = smooth_rules(PCFG.from_rules(rules), {"A^S": 3, "A^X": 1}, 1.0)
    >>> [str(rule) for rule in smoothed.rules if rule.lhs == "A^S"]
    ['A^S -> B B [0.9375]', 'A^S -> C C [0.0625]']
    """
    groups: dict[str, list[str]] = defaultdict(list)
    inner: dict[str, dict[tuple[str, ...], Rule]] = defaultdict(dict)
    for rule in grammar.rules:
        if not any(rule.words):
            if rule.lhs not in inner:
                groups[coarser(rule.lhs)].append(rule.lhs)
            inner[rule.lhs][rule.rhs] = rule
    rules = [rule for rule in grammar.rules if any(rule.words)]
    for members in groups.values():
        total = sum(counts.get(member, 0) for member in members)
        general: dict[tuple[str, ...], float] = defaultdict(float)
        for member in members:
            for rhs, rule in inner[member].items():
                general[rhs] += counts.get(member, 0) * rule.probability / total if total else 0.0
        for member in members:
            rules += _smoothed(member, inner[member], general, counts.get(member, 0), weight if len(members) > 1 else 0.0)
    return PCFG.from_rules(rules, start=grammar.start, labels=grammar.labels, renormalise=True)


def _smoothed(
    symbol: str, own: Mapping[tuple[str, ...], Rule], general: Mapping[tuple[str, ...], float], count: int, weight: float
) -> list[Rule]:
    # What the symbol leaves for words stays so, and is not shared out.
    share = sum(rule.probability for rule in own.values())
    mean = sum(general.values())
    made: list[Rule] = []
    for rhs in {**own, **(general if weight and mean else {})}:
        p = own[rhs].probability if rhs in own else 0.0
        if weight and mean:
            p = (count * p + weight * share * general[rhs] / mean) / (count + weight)
        if rhs in own or p >= _LEAST:
            made.append(Rule(symbol, rhs, (False,) * len(rhs), p))
    return made
