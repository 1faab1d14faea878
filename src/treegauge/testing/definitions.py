"""Metrics by their definitions, on single trees: slow, short, and what the fast ones are checked against."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache

from treegauge.trees import Child, Span, Tree

__all__ = [
    "constituents",
    "crosses",
    "goodman_counts",
    "lineage_similarity",
    "lineages",
    "multiset_overlap",
    "pc_links",
    "productions",
]


def constituents(tree: Tree, *, preterminals: bool = False) -> list[Span]:
    """All labelled spans in pre-order, as often as they stand there.

    >>> [tuple(span) for span in constituents(Tree.parse("(S (NP (NP (N a)) (N b)))"))]
    [(0, 2, 'S'), (0, 2, 'NP'), (0, 1, 'NP')]
    """
    return tree.spans(preterminals=preterminals)


def crosses(a: Sequence[int | str], b: Sequence[int | str]) -> bool:
    """Whether two spans overlap without one containing the other."""
    (i, j), (k, m) = ((int(span[0]), int(span[1])) for span in (a, b))
    return i < k < j < m or k < i < m < j


def goodman_counts(gold: Tree, test: Tree, *, preterminals: bool = False) -> dict[str, int]:
    """Goodman's N_C, N_G, L, B, C on sets of triples."""
    correct = set(constituents(gold, preterminals=preterminals))
    guessed = set(constituents(test, preterminals=preterminals))
    spans = {(start, end) for start, end, _ in correct}
    return {
        "N_C": len(correct),
        "N_G": len(guessed),
        "L": len(correct & guessed),
        "B": sum((start, end) in spans for start, end, _ in guessed),
        "C": sum(not any(crosses(span, other) for other in correct) for span in guessed),
    }


def _name(child: Child) -> tuple[str, bool]:
    return (child, True) if isinstance(child, str) else (child.label, False)


def pc_links(tree: Tree, count: str = "all") -> set[tuple[int, int, str, int | str, str]]:
    """Parent-child links: parent's span, its label, the child's side, its label; ``count`` as in
    :class:`treegauge.metrics.simaan.ParentChild`."""
    return {
        (start, end, node.label, "only" if len(node.children) == 1 else side, child.label)
        for node, start, end in tree.nodes_with_spans()
        if count == "all" or len(node.children) == 2
        for side, child in enumerate(node.children)
        if isinstance(child, Tree)
    }


def productions(tree: Tree, count: str = "many") -> set[tuple[int, int, str, tuple[tuple[str, bool], ...]]]:
    """Frames: productions with their span; ``count`` as in :class:`treegauge.metrics.simaan.Frames`."""
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
    """For each word the labels of the phrases above it, from the word upwards, with the marks ``[`` and ``]``.

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
    """1 - edit distance / (both lengths): insert and delete 1, replace 2, or 1/2 for labels with one first letter."""

    @cache
    def distance(i: int, j: int) -> Fraction:
        if i == 0 or j == 0:
            return Fraction(i + j)
        x, y = a[i - 1], b[j - 1]
        alike = first_letter and x[:1] == y[:1] and "[" not in (x, y) and "]" not in (x, y)
        replace = Fraction(0) if x == y else Fraction(1, 2) if alike else Fraction(2)
        return min(distance(i - 1, j) + 1, distance(i, j - 1) + 1, distance(i - 1, j - 1) + replace)

    return 1 - distance(len(a), len(b)) / (len(a) + len(b))
