"""Insertion and removal of brackets in a tree, by the words that count; punctuation stays where it is."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.trees.discontinuous import WordPlaces, from_placed_words, walk, with_placed_words
from treegauge.trees.tree import Child, Tree, rebuild


def post_order_numbers(tree: Tree) -> Iterator[int]:
    """The pre-order number of each node, in post-order: the order in which ``rebuild`` visits them.

    >>> list(post_order_numbers(Tree.parse("(S (NP (D a)) (V b))")))
    [2, 1, 3, 0]
    """
    stack: list[tuple[Tree, int, bool]] = [(tree, 0, False)]
    while stack:
        node, number, done = stack.pop()
        if done:
            yield number
            continue
        stack.append((node, number, True))
        below: list[tuple[Tree, int, bool]] = []
        number += 1
        for child in node.children:
            if isinstance(child, Tree):
                below.append((child, number, False))
                number += child.size
        stack.extend(reversed(below))


class BracketChange(NamedTuple):
    """A bracket to insert into a tree or (``inserts`` False) to remove; ``start`` and ``end`` are in counted words.

    ``blocks`` are its spans where it has gaps.
    """

    start: int
    end: int
    label: str
    inserts: bool
    blocks: tuple[tuple[int, int], ...] = ()


def correct_tree(
    tree: Tree,
    changes: Sequence[BracketChange],
    counts: NDArray[np.bool_],
    is_frame: Callable[[str], bool] = lambda label: not label,
) -> Tree | str:
    """The tree with brackets inserted and removed, or the reason why that is impossible.

    ``counts`` tells for each word whether it counts, ``is_frame`` whether a label (such as TOP) is not a bracket at all.

    >>> tree = Tree.parse("(S (NP (N I)) (VP (V saw) (NP (D the) (N man)) (PP (P with) (NP (D a) (N hat)))))")
    >>> everything = np.ones(7, dtype=np.bool_)
    >>> print(correct_tree(tree, [BracketChange(2, 7, "NP", True)], everything))
    (S (NP (N I)) (VP (V saw) (NP (NP (D the) (N man)) (PP (P with) (NP (D a) (N hat))))))
    >>> print(correct_tree(tree, [BracketChange(5, 7, "NP", False)], everything))
    (S (NP (N I)) (VP (V saw) (NP (D the) (N man)) (PP (P with) (D a) (N hat))))
    >>> print(correct_tree(Tree.parse("(S (A a) (B b) (C c))"), [BracketChange(0, 3, "X", True, ((0, 1), (2, 3)))], everything[:3]))
    (S (X (A 0=a) (C 2=c)) (B 1=b))
    """
    covers = {change: _Cover(change, counts) for change in changes}
    inserted = [change for change in changes if change.inserts]
    for one, other in combinations(inserted, 2):
        common = int((covers[one].mask & covers[other].mask).sum())
        if 0 < common < min(covers[one].size, covers[other].size):
            return f"the accepted brackets {one.label} and {other.label} cross each other"
        if common == covers[one].size == covers[other].size and one.label != other.label:
            return f"the same words were accepted as {one.label} and as {other.label}"
    result = _remove(tree, covers, is_frame)
    if isinstance(result, str):
        return result
    # From the outside in, so that each one finds its place inside those before it.
    for change in sorted(inserted, key=lambda change: (-covers[change].size, change)):
        result = _insert(result, change.label, covers[change])
    return result


class _Cover:
    """The counted words of a bracket to insert or remove (``mask``), to be compared with those of other brackets."""

    def __init__(self, change: BracketChange, counts: NDArray[np.bool_]) -> None:
        number = np.cumsum(counts) - 1
        spans = change.blocks or ((change.start, change.end),)
        within = [(start <= number) & (number < end) for start, end in spans]
        self.mask = counts & np.logical_or.reduce(within)
        self.size = int(self.mask.sum())
        self._counts = counts
        self._own, self._all = (np.append(0, np.cumsum(mask)) for mask in (self.mask, counts))

    def shared(self, places: WordPlaces) -> tuple[int, int]:
        """The number of counted words at some places, and the number of those among them that the bracket covers."""
        if isinstance(places, range):
            first, last = places.start, places.stop
            return int(self._all[last] - self._all[first]), int(self._own[last] - self._own[first])
        return int(self._counts[list(places)].sum()), int(self.mask[list(places)].sum())

    def crosses(self, places: WordPlaces) -> bool:
        """Whether the bracket and the words at some places overlap, neither within the other."""
        n_words, common = self.shared(places)
        return 0 < common < min(n_words, self.size)

    def equals(self, places: WordPlaces) -> bool:
        """Whether the bracket covers just the counted words at some places."""
        return self.shared(places) == (self.size, self.size)

    def is_inside(self, places: WordPlaces) -> bool:
        """Whether the bracket covers all counted words at some places, and there is at least one."""
        n_words, common = self.shared(places)
        return 0 < n_words == common


def _remove(tree: Tree, covers: Mapping[BracketChange, _Cover], is_frame: Callable[[str], bool]) -> Tree | str:
    """The tree without the brackets to be removed: those named, and those that an inserted one crosses."""
    doomed: set[int] = set()
    nodes = [(node, places) for node, places, _ in walk(tree) if isinstance(node, Tree)]
    for number, (node, places) in enumerate(nodes):
        if node.is_preterminal or is_frame(node.label):
            continue
        if any(cover.crosses(places) if change.inserts else cover.equals(places) for change, cover in covers.items()):
            doomed.add(number)
    if 0 in doomed:
        return "a correction would remove the bracket around the whole sentence"
    numbers = post_order_numbers(tree)

    def make(node: Tree, children: list[Child]) -> list[Child]:
        return children if next(numbers) in doomed else [Tree(node.label, children)]

    return _rebuilt(tree, make)


def _insert(tree: Tree, label: str, cover: _Cover) -> Tree:
    """The tree with a bracket inserted below the lowest node over its words, around those children that are within it."""
    found, number, lowest = list[tuple[WordPlaces, int]](), -1, 0
    for node, places, parent in walk(tree):
        found.append((places, parent))
        if isinstance(node, Tree):
            number += 1
            if not node.is_preterminal and cover.shared(places)[1] == cover.size:
                lowest = number
    parts = [places for places, parent in found if parent == lowest]
    chosen = _parts_inside(parts, cover)
    numbers = post_order_numbers(tree)

    def make(node: Tree, children: list[Child]) -> list[Child]:
        if next(numbers) != lowest:
            return [Tree(node.label, children)]
        new: list[Child] = [child for child, is_chosen in zip(children, chosen, strict=True) if is_chosen]
        for name in reversed(label.split("+")):
            new = [Tree(name, new)]
        first = chosen.index(True)
        rest = [child for child, is_chosen in zip(children[first:], chosen[first:], strict=True) if not is_chosen]
        return [Tree(node.label, [*children[:first], *new, *rest])]

    return _rebuilt(tree, make)


def _parts_inside(parts: Sequence[WordPlaces], cover: _Cover) -> list[bool]:
    """Whether each child of a node is within a new bracket.

    A child without counted words is within it if its neighbours on both sides are; if all other children are, it always is.
    """
    counted = [index for index, places in enumerate(parts) if cover.shared(places)[0]]
    inside = {index for index in counted if cover.is_inside(parts[index])}
    if len(inside) == len(counted):
        return [True] * len(parts)
    chosen: list[bool] = []
    for index in range(len(parts)):
        at = bisect_left(counted, index)
        is_counted = at < len(counted) and counted[at] == index
        beside = [index] if is_counted else [*counted[max(at - 1, 0) : at], *counted[at : at + 1]]
        chosen.append((is_counted or len(beside) == 2) and inside.issuperset(beside))
    return chosen


def _rebuilt(tree: Tree, make: Callable[[Tree, list[Child]], list[Child]]) -> Tree:
    """The tree rebuilt from the bottom by ``make``, with its words in their places."""
    made = rebuild(with_placed_words(tree), make)
    assert made is not None
    return from_placed_words(made)


def is_in_tree(change: BracketChange, tree: Tree, counts: NDArray[np.bool_]) -> bool:
    """Whether a tree has the bracket that a change would insert: its label over its counted words."""
    cover = _Cover(change, counts)
    nodes = ((node, places) for node, places, _ in walk(tree) if isinstance(node, Tree))
    return any(node.label == change.label and cover.equals(places) for node, places in nodes)
