"""Tree: one constituency tree as an immutable value.

Beside it stand its parts as values (a labelled span, a production), :func:`rebuild`, which makes a new tree from an old one, and
:func:`fold`, which computes a value bottom-up. Nothing here recurses, so a tree 100,000 nodes deep can be built, compared, hashed,
walked and printed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from treegauge.errors import Discontinuous, UsageError, hinting

if TYPE_CHECKING:
    from treegauge.trees.discontinuous import Block
    from treegauge.trees.notation import NltkTree


JOIN = "::"
"""The separator between the labels of nodes that have one span, the highest first: ``S::VP``."""


class Span(NamedTuple):
    """A labelled constituent (s, t, X) over the words ``[start, end)``."""

    start: int
    end: int
    label: str


Bracket = tuple[int, int] | tuple[int, int, str]
"""A constituent as a pair (start, end), or with its label."""


class Production(NamedTuple):
    """A rule ``lhs -> rhs`` as used in a tree; ``words`` is true where the symbol in ``rhs`` is a word.

    >>> print(Production("NP", ("DT", "cat"), (False, True)))
    NP -> DT "cat"
    """

    lhs: str
    rhs: tuple[str, ...]
    words: tuple[bool, ...]

    def __str__(self) -> str:
        right = (f'"{symbol}"' if word else symbol for symbol, word in zip(self.rhs, self.words, strict=True))
        return " ".join([self.lhs, "->", *right])

    @property
    def is_lexical(self) -> bool:
        """Whether a word stands on the right-hand side."""
        return any(self.words)


@hinting
class Tree:
    """A label and a tuple of children, each a Tree or a word (``str``).

    A node without children spans no words: ``()`` is ``Tree("")``, a failed parse.

    >>> tree = Tree.parse("(S (NP (DT the) (NN cat)) (VP (VBD sat)))")
    >>> tree.words
    ('the', 'cat', 'sat')
    >>> [str(span.label) for span in tree.spans() if span.end - span.start > 1]
    ['S', 'NP']
    >>> tree == Tree("S", [tree[0], tree[1]])
    True
    """

    __slots__ = ("_hash", "_size", "_width", "children", "label")

    label: str
    children: tuple[Child, ...]
    _hash: int
    _size: int
    _width: int

    def __init__(self, label: str, children: Iterable[Tree | str] = ()) -> None:
        if not isinstance(label, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"the label of a Tree is a str, not {type(label).__name__}")
        if isinstance(children, str):
            raise TypeError(f"the children of a Tree are a sequence: Tree({label!r}, [{children!r}])")
        children = tuple(children)
        size, width = 1, 0
        for child in children:
            if isinstance(child, Tree):
                size += child._size
                width += child._width
            elif isinstance(child, str):  # pyright: ignore[reportUnnecessaryIsInstance]
                width += 1
            else:
                raise TypeError(f"a child of a Tree is a Tree or a str, not {type(child).__name__}")
        if not children and label[:1] == "(" and label.rstrip()[-1:] == ")" and len(label.split()) > 1:
            raise ValueError(f"Tree(label, children) makes a node; bracketed text is read by Tree.parse({label[:40]!r})")
        put = object.__setattr__
        put(self, "label", label)
        put(self, "children", children)
        put(self, "_size", size)
        put(self, "_width", width)
        # A child's hash is its own cached one, so this costs one level, not the whole subtree.
        put(self, "_hash", hash((label, children)))

    @classmethod
    def parse(cls, text: str) -> Tree:
        """The one tree written in a bracketed string; :class:`~treegauge.errors.BracketError` if there is not exactly one."""
        from treegauge.trees.notation import parse_one

        return parse_one(text)

    @classmethod
    def fromstring(cls, text: str) -> Tree:
        """The same as :meth:`parse`, by the name that nltk has for it."""
        return cls.parse(text)

    @classmethod
    def from_spans(cls, words: Sequence[str], spans: Iterable[Bracket], tags: Sequence[str] | None = None, top: str = "X") -> Tree:
        """The tree with these constituents, each the words ``[start, end)``: pairs, whose label is X, or triples with a label;
        ``S::VP`` makes two nodes. ``top`` labels the root if no constituent spans all words; a word without a tag, or whose tag is
        empty, has no node of its own.

        >>> print(Tree.from_spans("the cat sat".split(), [(0, 2)]))
        (X (X the cat) sat)
        >>> print(Tree.from_spans("I saw her".split(), [(0, 3, "S"), (1, 3, "VP::VP"), (2, 3, "NP")], ["P", "V", "P"]))
        (S (P I) (VP (VP (V saw) (NP (P her)))))
        >>> Tree.from_spans("the cat sat".split(), [(0, 2), (1, 3)])
        Traceback (most recent call last):
        treegauge.errors.UsageError: the span (1, 3) crosses another
        """
        if isinstance(words, str) or not hasattr(words, "__len__") or {*map(type, words)} & {list, tuple}:
            raise UsageError(f"words must be a list of words, such as 'a b'.split(), not {words!r}")
        n, tree = len(words), cls(top)
        try:
            found = list(dict.fromkeys(Span(span[0], span[1], "".join(span[2:3] if len(span) > 2 else "X")) for span in spans))
        except (TypeError, LookupError):
            raise UsageError("a span is (start, end) or (start, end, label), such as (0, 2, 'NP')") from None
        found += [] if any(span[:2] == (0, n) for span in found) else [Span(0, n, top)]
        done: list[tuple[int, str, list[Child]]] = []
        following = iter([*sorted(found, key=lambda span: (span.start, -span.end)), Span(n, n, "")])
        start, end, label = next(following)
        for position in range(n):
            while start == position < end <= (done[-1][0] if done else n):
                done.append((end, label, []))
                start, end, label = next(following)
            if start <= position or end > n:
                raise UsageError(f"the span {start, end} {'crosses another' if 0 <= start < end <= n else f'is outside {n} words'}")
            done[-1][2].append(Tree(tags[position], [words[position]]) if tags and tags[position] else words[position])
            while done and done[-1][0] == position + 1:
                _, name, children = done.pop()
                for part in reversed(name.split(JOIN)):
                    tree = Tree(part, children)
                    children: list[Child] = [tree]
                if done:
                    done[-1][2].append(tree)
        return tree

    @classmethod
    def from_nltk(cls, tree: NltkTree) -> Tree:
        """The same tree as an ``nltk.Tree`` (nltk itself is not imported)."""
        from treegauge.trees.notation import from_nltk

        return from_nltk(tree)

    def to_nltk(self) -> NltkTree:
        """The same tree as an ``nltk.Tree``; brackets inside words are escaped as ``-LRB-`` and ``-RRB-``."""
        from treegauge.trees.notation import to_nltk

        return to_nltk(self)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Tree does not change; build another, e.g. tree.replace(label=...)")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("a Tree does not change")

    def replace(self, *, label: str | None = None, children: Iterable[Tree | str] | None = None) -> Tree:
        """A copy with another label or other children."""
        return Tree(self.label if label is None else label, self.children if children is None else children)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        stack: list[tuple[Tree, Tree]] = [(self, other)]
        while stack:
            a, b = stack.pop()
            if a is b:
                continue
            if a._hash != b._hash or a.label != b.label or len(a.children) != len(b.children) or a.order != b.order:
                return False
            for x, y in zip(a.children, b.children, strict=True):
                if isinstance(x, Tree) and isinstance(y, Tree):
                    stack.append((x, y))
                elif isinstance(x, Tree) or isinstance(y, Tree) or x != y:
                    return False
        return True

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Callable[..., Tree], tuple[list[Any]]]:
        return from_flat, (list(to_flat(self)),)

    def __copy__(self) -> Tree:
        return self

    def __deepcopy__(self, memo: object) -> Tree:
        return self

    def __len__(self) -> int:
        """The number of children."""
        return len(self.children)

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Child]:
        return iter(self.children)

    def __getitem__(self, index: int) -> Child:
        return self.children[index]

    @property
    def is_preterminal(self) -> bool:
        """Whether this is a tag over its word: exactly one child, a word."""
        return len(self.children) == 1 and isinstance(self.children[0], str)

    @property
    def order(self) -> tuple[int, ...] | None:
        """None, unless the words of the children interleave: see :class:`~treegauge.trees.discontinuous.DiscontinuousTree`."""
        return None

    @property
    def is_continuous(self) -> bool:
        """Whether no node has a gap."""
        from treegauge.trees.discontinuous import is_continuous

        return is_continuous(self)

    @property
    def size(self) -> int:
        """The number of nodes, preterminals included, words not."""
        return self._size

    @property
    def width(self) -> int:
        """The number of words."""
        return self._width

    @property
    def depth(self) -> int:
        """The number of nodes on the longest path from here down to a word or an empty node."""
        deepest = 0
        stack: list[tuple[Tree, int]] = [(self, 1)]
        while stack:
            node, level = stack.pop()
            deepest = max(deepest, level)
            stack.extend((child, level + 1) for child in node.children if isinstance(child, Tree))
        return deepest

    def nodes(self) -> Iterator[Tree]:
        """All nodes in pre-order; the position in this order is the node's id in drawings."""
        stack: list[Tree] = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(child for child in reversed(node.children) if isinstance(child, Tree))

    def nodes_with_spans(self) -> Iterator[tuple[Tree, int, int]]:
        """All nodes in pre-order, each with the half-open range of words it covers.

        A node with a gap has no such range: :class:`~treegauge.errors.Discontinuous`. :meth:`nodes_with_blocks` accepts any tree.
        """
        stack: list[tuple[Tree, int]] = [(self, 0)]
        while stack:
            node, start = stack.pop()
            if node.__class__ is not Tree:
                raise Discontinuous("a constituent has a gap, so it has no span", advice="nodes_with_blocks() gives its blocks.")
            yield node, start, start + node._width
            below: list[tuple[Tree, int]] = []
            for child in node.children:
                if isinstance(child, Tree):
                    below.append((child, start))
                    start += child._width
                else:
                    start += 1
            stack.extend(reversed(below))

    def nodes_with_blocks(self) -> Iterator[tuple[Tree, list[Block]]]:
        """All nodes in pre-order, each with the blocks of words it covers: one block where it has no gap.

        >>> [(node.label, len(blocks)) for node, blocks in Tree.parse("(S (NP (N a)) (V b))").nodes_with_blocks()]
        [('S', 1), ('NP', 1), ('N', 1), ('V', 1)]
        """
        from treegauge.trees.discontinuous import nodes_with_blocks

        return nodes_with_blocks(self)

    def spans(self, *, preterminals: bool = True) -> list[Span]:
        """The labelled constituents in pre-order, empty ones included."""
        return [
            Span(start, end, node.label) for node, start, end in self.nodes_with_spans() if preterminals or not node.is_preterminal
        ]

    def productions(self) -> list[Production]:
        """The rules used, one per node that has children, in pre-order."""
        return [
            Production(
                node.label,
                tuple(child if isinstance(child, str) else child.label for child in node.children),
                tuple(isinstance(child, str) for child in node.children),
            )
            for node in self.nodes()
            if node.children
        ]

    @property
    def words(self) -> tuple[str, ...]:
        """The words from left to right."""
        return tuple(word for word, _ in self.tagged())

    @property
    def tags(self) -> tuple[str, ...]:
        """The tag of each word; ``""`` for a word that has no preterminal of its own."""
        return tuple(tag for _, tag in self.tagged())

    def tagged(self) -> Iterator[tuple[str, str]]:
        """(word, tag) from left to right."""
        stack: list[Child] = [self]
        while stack:
            node = stack.pop()
            if isinstance(node, str):
                yield node, ""
            elif node.is_preterminal:
                yield str(node.children[0]), node.label
            elif node.__class__ is Tree:
                stack.extend(reversed(node.children))
            else:
                yield from _in_order(node)

    def __str__(self) -> str:
        from treegauge.trees.notation import one_line

        return one_line(self)

    def __repr__(self) -> str:
        """A Python expression that gives this tree, even where bracketed text cannot hold it."""
        from treegauge.trees.notation import expression

        return expression(self)

    def pretty(self, width: int = 100) -> str:
        """Bracketed text over several lines, each node on one line if it fits into ``width`` columns."""
        from treegauge.trees.notation import pretty

        return pretty(self, width)

    def draw(self, marks: Mapping[int, str] | None = None, **options: Any) -> str:
        """The tree drawn with lines, as text; options as in :func:`treegauge.trees.drawing.draw_text`."""
        from treegauge.trees.drawing import draw_text

        return draw_text(self, marks, **options)

    def svg(self, marks: Mapping[int, str] | None = None, **options: Any) -> str:
        """The tree drawn as an SVG picture whose nodes carry ids ``n0``, ``n1`` ... in pre-order.

        Options as in :func:`treegauge.trees.drawing.draw_svg`.
        """
        from treegauge.trees.drawing import draw_svg

        return draw_svg(self, marks, **options)

    def _repr_svg_(self) -> str:
        """The picture for notebooks: on a background of its own, since they show it apart from the page; large trees are folded."""
        from treegauge.trees.drawing import draw_svg, fold_to

        return draw_svg(self, theme="auto", folded=fold_to(self))


Child = Tree | str


def _in_order(node: Tree) -> list[tuple[str, str]]:
    """(word, tag) of a node whose children's words interleave, from left to right."""
    from treegauge.trees.discontinuous import walk

    found: list[tuple[str, str]] = [("", "")] * node.width
    tag = ""
    for child, places, _ in walk(node):
        if isinstance(child, str):
            found[places[0]] = child, tag
        tag = child.label if isinstance(child, Tree) and child.is_preterminal else ""
    return found


def to_flat(tree: Tree) -> Iterator[Any]:
    """The tree in post-order: words, and ``(label, number of children)`` for nodes, with ``order`` third where words interleave."""
    stack: list[tuple[Child, bool]] = [(tree, False)]
    while stack:
        node, children_done = stack.pop()
        if isinstance(node, str):
            yield node
        elif children_done:
            yield (node.label, len(node.children)) if node.order is None else (node.label, len(node.children), node.order)
        else:
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(node.children))


def from_flat(items: Iterable[Any]) -> Tree:
    """The inverse of :func:`to_flat`; an item may also be a whole subtree."""
    built: list[Child] = []
    for item in items:
        if isinstance(item, str | Tree):
            built.append(item)
        else:
            label, arity = item[:2]
            first = len(built) - arity
            built[first:] = [Tree(label, built[first:]) if len(item) == 2 else _crossing(label, built[first:], item[2])]
    (root,) = built
    assert isinstance(root, Tree)
    return root


def _crossing(label: str, children: list[Child], order: tuple[int, ...]) -> Tree:
    from treegauge.trees.discontinuous import DiscontinuousTree

    return DiscontinuousTree(label, children, order)


def rebuild(tree: Tree, make: Callable[[Tree, list[Child]], Iterable[Child]]) -> Tree | None:
    """A new tree, made bottom-up: each node is replaced by what ``make(node, new_children)`` returns.

    That may be nothing (the node is removed), one item, or several (the node is spliced out). The result is ``None`` if nothing is
    left of the root; a root replaced by several items keeps its own label above them.

    >>> tree = Tree.parse("(S (X (NP (N a))) (VP (V b)))")
    >>> print(rebuild(tree, lambda node, children: children if node.label == "X" else [node.replace(children=children)]))
    (S (NP (N a)) (VP (V b)))
    """
    stack: list[tuple[Tree, list[Child], int]] = [(tree, [], 0)]
    while True:
        node, done, index = stack.pop()
        while index < len(node.children):
            child = node.children[index]
            index += 1
            if isinstance(child, Tree):
                stack.append((node, done, index))
                node, done, index = child, [], 0
            else:
                done.append(child)
        if node.__class__ is not Tree:
            return _rebuild_placed(tree, make)
        made = list(make(node, done))
        if stack:
            stack[-1][1].extend(made)
            continue
        if not made:
            return None
        if len(made) == 1 and isinstance(made[0], Tree):
            return made[0]
        return Tree(tree.label, made)


def rebuild_whole(tree: Tree, make: Callable[[Tree, list[Child]], Iterable[Child]]) -> Tree:
    """:func:`rebuild` with a function that leaves something of every tree."""
    made = rebuild(tree, make)
    assert made is not None
    return made


def _rebuild_placed(tree: Tree, make: Callable[[Tree, list[Child]], Iterable[Child]]) -> Tree | None:
    """:func:`rebuild` for a discontinuous tree, whose words carry their places meanwhile."""
    from treegauge.trees.discontinuous import from_placed_words, with_placed_words

    made = rebuild(with_placed_words(tree), make)
    return None if made is None else from_placed_words(made)


T = TypeVar("T")


def post_order(tree: Tree) -> Iterator[tuple[Tree, Sequence[Tree]]]:
    """All nodes, children before their parent, each with its ancestors from the root down to its parent.

    The sequence of ancestors is reused and changes with the next node: read it before going on.

    >>> tree = Tree.parse("(S (NP (N a)) (V b))")
    >>> [(node.label, [above.label for above in ancestors]) for node, ancestors in post_order(tree)]
    [('N', ['S', 'NP']), ('NP', ['S']), ('V', ['S']), ('S', [])]
    """
    ancestors: list[Tree] = []
    pending: list[Iterator[Tree]] = [iter((tree,))]
    while pending:
        node = next(pending[-1], None)
        if node is not None:
            ancestors.append(node)
            pending.append(child for child in node.children if isinstance(child, Tree))
            continue
        pending.pop()
        if ancestors:
            node = ancestors.pop()
            yield node, ancestors


def fold(tree: Tree, combine: Callable[[Tree, list[T | str], Sequence[Tree]], T]) -> T:
    """The value of the root, computed bottom-up: that of a node is ``combine(node, values of its children, ancestors)``.

    The value of a word is the word itself.

    >>> fold(Tree.parse("(S (NP (N a)) (V b))"), lambda node, values, above: f"{node.label}{len(above)}[{' '.join(values)}]")
    'S0[NP1[N2[a]] V1[b]]'
    """
    done: list[T] = []
    for node, ancestors in post_order(tree):
        first = len(done) - sum(isinstance(child, Tree) for child in node.children)
        values = iter(done[first:])
        del done[first:]
        done.append(combine(node, [child if isinstance(child, str) else next(values) for child in node.children], ancestors))
    (value,) = done
    return value
