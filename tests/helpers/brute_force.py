"""Brute force for tests: metrics by their definitions, all parses of a short sentence, all bracketings, and expected scores.

Everything here follows its definition directly, and is therefore slow.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache

from treegauge.grammar.pcfg import PCFG, Rule
from treegauge.trees.tree import Child, Span, Tree

Weighted = tuple[Tree, float]
PartsOfTree = Callable[[Tree], Iterable[Hashable]]
Bracketing = frozenset[tuple[int, int]]


def constituents(tree: Tree, *, preterminals: bool = False) -> list[Span]:
    """All labelled spans in pre-order, repeated ones included.

    >>> [tuple(span) for span in constituents(Tree.parse("(S (NP (NP (N a)) (N b)))"))]
    [(0, 2, 'S'), (0, 2, 'NP'), (0, 1, 'NP')]
    """
    return tree.spans(preterminals=preterminals)


def brackets(tree: Tree, *, preterminals: bool) -> set[Hashable]:
    """The spans (start, end) of the nodes."""
    return {(span.start, span.end) for span in tree.spans(preterminals=preterminals)}


def crosses(a: Sequence[int | str], b: Sequence[int | str]) -> bool:
    """Whether two spans overlap without one containing the other."""
    (i, j), (k, m) = ((int(span[0]), int(span[1])) for span in (a, b))
    return i < k < j < m or k < i < m < j


def goodman_counts(gold: Tree, test: Tree, *, preterminals: bool = False) -> dict[str, int]:
    """Goodman's counts of a sentence, on sets of labelled spans; whether brackets are the same is asked of multisets of spans."""
    correct = set(constituents(gold, preterminals=preterminals))
    guessed = set(constituents(test, preterminals=preterminals))
    spans, guessed_spans = (Counter((start, end) for start, end, _ in side) for side in (correct, guessed))
    return {
        "N_C": len(correct),
        "N_G": len(guessed),
        "L": len(correct & guessed),
        "B": sum((start, end) in spans for start, end, _ in guessed),
        "B_limited": (spans & guessed_spans).total(),
        "C": sum(not any(crosses(span, other) for other in correct) for span in guessed),
        "labelled_tree": correct == guessed,
        "bracketed_tree": spans == guessed_spans,
    }


def _name(child: Child) -> tuple[str, bool]:
    return (child, True) if isinstance(child, str) else (child.label, False)


def pc_links(tree: Tree, count: str = "all") -> set[tuple[int, int, str, int | str, str]]:
    """Parent-child links: the parent's span and label, the child's side and label.

    ``count`` is as in :class:`treegauge.metrics.simaan.ParentChild`.
    """
    return {
        (start, end, node.label, "only" if len(node.children) == 1 else side, child.label)
        for node, start, end in tree.nodes_with_spans()
        if count == "all" or len(node.children) == 2
        for side, child in enumerate(node.children)
        if isinstance(child, Tree)
    }


def productions(tree: Tree, count: str = "many") -> set[tuple[int, int, str, tuple[tuple[str, bool], ...]]]:
    """Frames: productions with their span; ``count`` is as in :class:`treegauge.metrics.simaan.Frames`."""
    return {
        (start, end, node.label, tuple(map(_name, node.children)))
        for node, start, end in tree.nodes_with_spans()
        if _is_counted(node, count)
    }


def _is_counted(node: Tree, count: str) -> bool:
    if count in ("bin", "strict"):
        return len(node.children) == 2 and (count == "bin" or not any(isinstance(child, str) for child in node.children))
    return count == "all" or len(node.children) > 1


def multiset_overlap(gold: Iterable[object], test: Iterable[object]) -> tuple[int, int, int]:
    """The number of elements that two multisets share, and the size of each; give sets to count each once."""
    ours, theirs = Counter(gold), Counter(test)
    return (ours & theirs).total(), ours.total(), theirs.total()


def lineages(tree: Tree) -> list[list[str]]:
    """The labels of the phrases above each word, from the word upwards, with the marks ``[`` and ``]``.

    >>> [" ".join(lineage) for lineage in lineages(Tree.parse("(S (N1 (w two) (N1 (w tax) (w revision)) (w bills)))"))]
    ['N1 [ S', '[ N1 N1 S', 'N1 ] N1 S', 'N1 S ]']
    """
    phrases = constituents(tree)
    result: list[list[str]] = []
    for word in range(tree.width):
        above = [span for span in phrases if span.start <= word < span.end]
        begins = next((k for k, span in enumerate(above) if span.start == word), None)
        ends = next((k for k, span in enumerate(above) if span.end == word + 1), None)
        lineage: list[str] = []
        for k in reversed(range(len(above))):
            lineage += ["["] * (k == begins) + [above[k].label] + ["]"] * (k == ends)
        result.append(lineage)
    return result


def lineage_similarity(a: Sequence[str], b: Sequence[str], *, first_letter: bool = True) -> Fraction:
    """1 - edit distance / sum of lengths; insertion and deletion cost 1, replacement 2, or 1/2 if the first letters agree."""

    @cache
    def distance(i: int, j: int) -> Fraction:
        if i == 0 or j == 0:
            return Fraction(i + j)
        x, y = a[i - 1], b[j - 1]
        alike = first_letter and x[:1] == y[:1] and "[" not in (x, y) and "]" not in (x, y)
        replace = Fraction(0) if x == y else Fraction(1, 2) if alike else Fraction(2)
        return min(distance(i - 1, j) + 1, distance(i, j - 1) + 1, distance(i - 1, j - 1) + replace)

    return 1 - distance(len(a), len(b)) / (len(a) + len(b))


def all_parses(grammar: PCFG, words: Sequence[str], *, repeats: int = 1) -> list[Weighted]:
    """Every parse of the words, with its probability; a symbol may occur at most ``repeats`` times over one span.

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


def expected_matches(parses: Sequence[Weighted], tree: Tree, parts: PartsOfTree) -> float:
    """The expected number of parts that a tree shares with a parse drawn by probability."""
    own = set(parts(tree))
    total = math.fsum(p for _, p in parses)
    return math.fsum(p * len(own & set(parts(parse))) for parse, p in parses) / total
