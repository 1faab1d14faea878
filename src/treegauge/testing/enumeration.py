"""Brute force for charts: all parses of a short sentence, all bracketings of n words, expected scores by their definition.

Slow on purpose: everything here is read off definitions, so that what is fast can be checked against it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

from treegauge.grammar.pcfg import PCFG, Rule
from treegauge.testing.definitions import pc_links, productions
from treegauge.trees.tree import Child, Tree

__all__ = [
    "all_parses",
    "binary_bracketings",
    "brackets",
    "constituents",
    "expected_matches",
    "frames",
    "links",
    "nary_bracketings",
]

Weighted = tuple[Tree, float]
Parts = Callable[[Tree], Iterable[Hashable]]
Bracketing = frozenset[tuple[int, int]]


def all_parses(grammar: PCFG, words: Sequence[str], *, repeats: int = 1) -> list[Weighted]:
    """Every tree the grammar gives the words, with its probability; a symbol may stand ``repeats`` times on one span.

    >>> grammar = PCFG.parse('S -> S S [.5] | "a" [.5]')
    >>> [(str(tree), p) for tree, p in all_parses(grammar, ["a", "a"])]
    [('(S (S a) (S a))', 0.125)]
    """
    rules: dict[str, list[Rule]] = {}
    for rule in grammar.rules:
        rules.setdefault(rule.lhs, []).append(rule)
    memory: dict[tuple[int, int, str], list[Weighted]] = {}

    def of(s: int, t: int, X: str, above: tuple[str, ...]) -> list[Weighted]:
        if above.count(X) >= repeats:
            return []
        if not above and (s, t, X) in memory:
            return memory[s, t, X]
        found: list[Weighted] = []
        for rule in rules.get(X, []):
            for children, p in right(s, t, rule, (*above, X)):
                found.append((Tree(X, children), rule.probability * p))
        if not above:
            memory[s, t, X] = found
        return found

    def right(s: int, t: int, rule: Rule, above: tuple[str, ...]) -> Iterator[tuple[list[Child], float]]:
        for cuts in itertools.combinations(range(s + 1, t), len(rule.rhs) - 1):
            bounds = [s, *cuts, t]
            options: list[list[tuple[Child, float]]] = []
            for i, (symbol, is_word) in enumerate(zip(rule.rhs, rule.words, strict=True)):
                a, b = bounds[i], bounds[i + 1]
                if is_word:
                    options.append([(symbol, 1.0)] if b == a + 1 and words[a] == symbol else [])
                else:
                    options.append([*of(a, b, symbol, above if len(rule.rhs) == 1 else ())])
            for chosen in itertools.product(*options):
                yield [child for child, _ in chosen], math.prod(p for _, p in chosen)

    return of(0, len(words), grammar.start, ()) if words else []


def binary_bracketings(n: int) -> list[Bracketing]:
    """The sets of spans of all binary trees over n words.

    >>> [len(binary_bracketings(n)) for n in (1, 2, 3, 4, 5)]
    [1, 1, 2, 5, 14]
    """
    return [b for b in nary_bracketings(n) if len(b) == 2 * n - 1]


def nary_bracketings(n: int) -> list[Bracketing]:
    """The sets of spans of all trees over n words in which every node above a word has two children or more.

    >>> [len(nary_bracketings(n)) for n in (1, 2, 3, 4, 5)]
    [1, 1, 3, 11, 45]
    """
    memory: dict[tuple[int, int], list[Bracketing]] = {}

    def of(s: int, t: int) -> list[Bracketing]:
        if (s, t) not in memory:
            own = frozenset({(s, t)})
            found = [own] if t == s + 1 else []
            for size in range(1, t - s):
                for cuts in itertools.combinations(range(s + 1, t), size):
                    bounds = [s, *cuts, t]
                    for parts in itertools.product(*(of(a, b) for a, b in itertools.pairwise(bounds))):
                        found.append(own.union(*parts))
            memory[s, t] = found
        return memory[s, t]

    return of(0, n)


def constituents(tree: Tree, *, pre: bool) -> set[Hashable]:
    """(start, end, label) of the nodes; without ``pre`` not of preterminals."""
    return {tuple(span) for span in tree.spans(preterminals=pre)}


def brackets(tree: Tree, *, pre: bool) -> set[Hashable]:
    """(start, end) of the nodes."""
    return {(span.start, span.end) for span in tree.spans(preterminals=pre)}


def links(tree: Tree, *, count: str = "all") -> set[Hashable]:
    """The parent-child links of a tree: see :func:`treegauge.testing.definitions.pc_links`."""
    return {*pc_links(tree, count)}


def frames(tree: Tree, *, count: str = "many") -> set[Hashable]:
    """The productions of a tree that count, with their spans: see :func:`treegauge.testing.definitions.productions`."""
    return {*productions(tree, count)}


def expected_matches(parses: Sequence[Weighted], tree: Tree, parts: Parts) -> float:
    """The expected number of parts that a tree shares with the right parse."""
    own = set(parts(tree))
    total = math.fsum(p for _, p in parses)
    return math.fsum(p * len(own & set(parts(parse))) for parse, p in parses) / total
