"""Trees with crossing branches as values.

A tree is discontinuous if one of its nodes has a gap: words of other nodes stand between its own. Then the words of some node's
children interleave, and that node is a :class:`DiscontinuousTree`; all others are plain :class:`~treegauge.trees.tree.Tree` values,
so a tree without gaps costs nothing extra. Children stand in the order of their first words.

A transform is given a *placed* tree: plain nodes over words that carry their place in the sentence (:func:`with_placed_words`).
Whatever it makes of them, :func:`from_placed_words` puts the words back in order.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Concatenate, NamedTuple, ParamSpec, TypeVar, cast

from treegauge.errors import FormatError, UsageError
from treegauge.trees.tree import Child, Tree, fold, from_flat, to_flat

Options = ParamSpec("Options")
Made = TypeVar("Made", Tree, Tree | None)
Node = TypeVar("Node")

_MOST_WORDS = 1 << 22
"""The most words that the nodes with gaps of one sentence may have together; real sentences have a few thousand at most."""


class Block(NamedTuple):
    """A run of words ``[start, end)``."""

    start: int
    end: int


class DiscontinuousTree(Tree):
    """A node whose children's words interleave.

    ``order[k]`` is the place, among this node's own words, of the ``k``-th word when the children are read one after the other. It
    increases within each child, and children stand in the order of their first words.

    >>> from treegauge.trees.notation import parse_discbracket
    >>> tree = parse_discbracket("(S (VP (PWS 0=Wen) (VVPP 3=gesehen)) (VAFIN 1=hast) (PPER 2=du))")
    >>> tree.order, tree.words
    ((0, 3, 1, 2), ('Wen', 'hast', 'du', 'gesehen'))
    """

    __slots__ = ("_order",)

    _order: tuple[int, ...]

    def __init__(self, label: str, children: Iterable[Child], order: Sequence[int]) -> None:
        super().__init__(label, children)
        order = tuple(order)
        _check_order(self, order)
        object.__setattr__(self, "_order", order)
        object.__setattr__(self, "_hash", hash((label, self.children, order)))

    @property
    def order(self) -> tuple[int, ...]:
        """The places, among the words of this node, of the words of its children, read one child after the other."""
        return self._order

    def replace(self, *, label: str | None = None, children: Iterable[Child] | None = None) -> Tree:
        """A copy with another label or other children, which must have as many words as the old ones."""
        new = self.children if children is None else tuple(children)
        if [_width(child) for child in new] != [_width(child) for child in self.children]:
            raise UsageError(
                "children of a discontinuous node can be replaced only by ones with as many words: otherwise their order is lost.\n"
                "  Change with_placed_words(tree), then give the outcome to from_placed_words()."
            )
        return DiscontinuousTree(self.label if label is None else label, new, self._order)


def _width(child: Child) -> int:
    return 1 if isinstance(child, str) else child.width


def _check_order(node: Tree, order: tuple[int, ...]) -> None:
    """Refuse an order that is not a permutation, reverses the words of a child, or is that of a plain tree."""
    problem = ""
    if sorted(order) != list(range(node.width)):
        problem = "is not a permutation of its words"
    elif all(a < b for a, b in pairwise(order)):
        problem = "leaves no gap: use a plain Tree"
    else:
        first, before = 0, -1
        for child in node.children:
            own = order[first : first + _width(child)]
            first += len(own)
            if own and (own[0] < before or any(a > b for a, b in pairwise(own))):
                problem = "reverses words or children"
            before = own[0] if own else before
    if problem:
        raise UsageError(f"the order {order[:20]} of the node {node.label!r} {problem}")


class PlacedWord(str):
    """A word with its place in the sentence."""

    __slots__ = ("place",)

    place: int

    def __new__(cls, word: str, place: int) -> PlacedWord:
        made = super().__new__(cls, word)
        made.place = place
        return made

    def __str__(self) -> str:
        return self

    def __reduce__(self) -> tuple[type[PlacedWord], tuple[str, int]]:
        return PlacedWord, ("".join(self), self.place)


WordPlaces = Sequence[int]
"""Ascending places of words: a range where there is no gap, so that taking a part of it costs nothing."""


def walk(tree: Tree) -> Iterator[tuple[Child, WordPlaces, int]]:
    """All nodes and words in pre-order, each with the places of its words in the sentence and its parent's number (-1: none).

    Nodes are numbered in this order. A node without words has an empty range that begins where it stands.
    """
    stack: list[tuple[Child, WordPlaces, int]] = [(tree, range(tree.width), -1)]
    count = 0
    while stack:
        node, places, parent = stack.pop()
        yield node, places, parent
        if isinstance(node, str):
            continue
        number, count = count, count + 1
        below: list[tuple[Child, WordPlaces, int]] = []
        order = node.order
        read = 0
        for child in node.children:
            width = _width(child)
            if not width:
                below.append((child, _empty_range(places, order, read), number))
            elif order is None:
                below.append((child, places[read : read + width], number))
            else:
                below.append((child, _as_range([places[k] for k in order[read : read + width]]), number))
            read += width
        stack.extend(reversed(below))


def _empty_range(places: WordPlaces, order: tuple[int, ...] | None, read: int) -> range:
    """The empty range of a node without words: before the next word that is read, or behind the last one."""
    if isinstance(places, range) and order is None:
        return range(places.start + read, places.start + read)
    if read == len(places):
        behind = places[-1] + 1
        return range(behind, behind)
    at = places[read if order is None else order[read]]
    return range(at, at)


def _as_range(places: list[int]) -> WordPlaces:
    first, last = places[0], places[-1]
    return range(first, last + 1) if last - first + 1 == len(places) else places


def blocks_of(places: WordPlaces) -> list[Block]:
    """The runs of adjacent words.

    >>> blocks_of([0, 1, 4]), blocks_of(range(2, 2))
    ([Block(start=0, end=2), Block(start=4, end=5)], [Block(start=2, end=2)])
    """
    if isinstance(places, range):
        return [Block(places.start, places.stop)]
    blocks: list[Block] = []
    start = places[0]
    for a, b in pairwise(places):
        if b != a + 1:
            blocks.append(Block(start, a + 1))
            start = b
    blocks.append(Block(start, places[-1] + 1))
    return blocks


def nodes_with_blocks(tree: Tree) -> Iterator[tuple[Tree, list[Block]]]:
    """All nodes in pre-order, each with the blocks of words it covers: one where it has no gap."""
    for node, places, _ in walk(tree):
        if isinstance(node, Tree):
            yield node, blocks_of(places)


def is_continuous(tree: Tree) -> bool:
    """Whether no node of the tree has a gap."""
    return all(node.__class__ is Tree for node in tree.nodes())


def with_placed_words(tree: Tree) -> Tree:
    """The tree as plain nodes over words that carry their places; :func:`from_placed_words` undoes it."""
    words = (PlacedWord(node, places[0]) for node, places, _ in walk(tree) if isinstance(node, str))
    return from_flat(next(words) if isinstance(item, str) else item[:2] for item in to_flat(tree))


def on_placed(transform: Callable[Concatenate[Tree, Options], Made]) -> Callable[Concatenate[Tree, Options], Made]:
    """A transform for all trees, made from one that ignores gaps and returns the word objects that it was given."""

    @functools.wraps(transform)
    def on_any(tree: Tree, *args: Options.args, **kwargs: Options.kwargs) -> Made:
        if is_continuous(tree):
            return transform(tree, *args, **kwargs)
        made = transform(with_placed_words(tree), *args, **kwargs)
        return made if made is None else cast(Made, from_placed_words(made))

    return on_any


def is_punctuation(word: str, tag: str) -> bool:
    """Whether a word is punctuation: it has a tag like ``$,``, or no letter or digit."""
    return tag.startswith("$") or not any(map(str.isalnum, word))


def attachments(is_loose: Sequence[bool], ancestors: Callable[[int], Iterable[Node]]) -> Iterator[tuple[int, Node]]:
    """The places of loose words that stand between others, each with the lowest node above the words on both sides.

    ``ancestors(place)`` are the nodes above a word, from the lowest to the root.

    >>> list(attachments([False, True, False, True], lambda place: ["NP", "S"] if place == 0 else ["S"]))
    [(1, 'S')]
    """
    for left, right in pairwise(place for place, loose in enumerate(is_loose) if not loose):
        if right - left > 1:
            above_left = set(ancestors(left))
            lowest = next(node for node in ancestors(right) if node in above_left)
            yield from ((place, lowest) for place in range(left + 1, right))


class _PlacedChild(NamedTuple):
    """A child with the places of its words."""

    child: Child
    places: WordPlaces


def from_placed_words(tree: Tree) -> Tree:
    """The tree whose words stand in the order of their places, which need not be consecutive.

    >>> tree = Tree("S", [Tree("A", [PlacedWord("a", 0), PlacedWord("c", 7)]), PlacedWord("b", 3)])
    >>> print(from_placed_words(tree))
    (S (A 0=a 2=c) 1=b)
    """
    places = sorted(leaf.place for leaf in _leaves(tree))
    rank = {at: number for number, at in enumerate(places)}
    if len(rank) < len(places):
        raise UsageError("two words of a tree have the same place")
    n_words = 0

    def combine(node: Tree, values: list[_PlacedChild | str], above: Sequence[Tree]) -> _PlacedChild:
        nonlocal n_words
        piece = _node_over(node.label, [value if isinstance(value, _PlacedChild) else placed(value) for value in values])
        n_words += 0 if isinstance(piece.places, range) and piece.child.__class__ is Tree else len(piece.places)
        if n_words > _MOST_WORDS:
            raise FormatError(f"constituents with gaps have more than {_MOST_WORDS} words in this sentence")
        return piece

    def placed(word: str) -> _PlacedChild:
        assert isinstance(word, PlacedWord)
        return _PlacedChild("".join(word), range(rank[word.place], rank[word.place] + 1))

    made = fold(tree, combine).child
    assert isinstance(made, Tree)
    return made


def _leaves(tree: Tree) -> Iterator[PlacedWord]:
    stack: list[Child] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, Tree):
            stack.extend(node.children)
        elif isinstance(node, PlacedWord):
            yield node
        else:
            raise UsageError(f"the word {node!r} was put into a discontinuous tree without a place in the sentence")


def _node_over(label: str, pieces: list[_PlacedChild]) -> _PlacedChild:
    """A node over children, sorted by their first words; a child without words stays before the one that it stood before."""
    keys: list[tuple[float, int]] = []
    following = float("inf")
    for piece in reversed(pieces):
        following = piece.places[0] if piece.places else following
        keys.append((following, 1 if piece.places else 0))
    keys.reverse()
    in_order = sorted(range(len(pieces)), key=keys.__getitem__)
    if any(a > b for a, b in pairwise(in_order)):
        pieces = [pieces[k] for k in in_order]
    with_words = [piece.places for piece in pieces if piece.places]
    children = [piece.child for piece in pieces]
    if not with_words:
        return _PlacedChild(Tree(label, children), range(0))
    if all(isinstance(p, range) for p in with_words) and all(a[-1] + 1 == b[0] for a, b in pairwise(with_words)):
        return _PlacedChild(Tree(label, children), range(with_words[0][0], with_words[-1][-1] + 1))
    read = [at for places in with_words for at in places]
    if all(a < b for a, b in pairwise(read)):
        return _PlacedChild(Tree(label, children), _as_range(read))
    own = sorted(read)
    number = {at: k for k, at in enumerate(own)}
    return _PlacedChild(DiscontinuousTree(label, children, [number[at] for at in read]), _as_range(own))
