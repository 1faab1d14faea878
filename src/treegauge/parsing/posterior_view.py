"""The view of one sentence's posteriors that every decoding objective reads: of a forest, a span chart, or a mean of several.

An engine gives :class:`SpanLabels`, the tags of words and what it knows besides (whole trees, a grammar); the objectives in
:mod:`treegauge.parsing.objectives` are written once against this view.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import TooLong, UsageError, hinting
from treegauge.tables import concise, cut
from treegauge.trees.columns import Float64
from treegauge.trees.tree import Child, Tree

Reading = Literal["one", "set"]
"""The labels of one span: one, or a set of them where unary rules put several nodes over it."""

DUMMY = "X"
"""The label of a bracket that has no label of its own."""
TOP = "TOP"
"""The root of a tree without a constituent over the whole sentence: a label that all presets delete, so that it does not count."""


@concise
class Best(NamedTuple):
    """The best tree for an objective, and its expected score."""

    tree: Tree
    score: float

    def _repr_svg_(self) -> str:
        return self.tree.svg(theme="auto")


@concise
@hinting
class Parse(NamedTuple):
    """A tree and the logarithm of its probability together with the words; of span charts, of its potential. K-best parses
    have their ``posterior``, the probability given the words, too."""

    tree: Tree
    log_probability: float
    posterior: float | None = None

    def given(self, of_words: float) -> Parse:
        """The parse with its posterior, given the log probability of the words."""
        # By rounding, the difference of two logarithms may be a little above 0.
        return self._replace(posterior=min(math.exp(self.log_probability - of_words), 1.0))

    def _repr_svg_(self) -> str:
        return self.tree.svg(theme="auto")


class Constituent(NamedTuple):
    """A labelled span and its posterior g(s, t, X), the probability that the parse has such a node; with cycles of unary rules, the
    expected number of them."""

    start: int
    end: int
    label: str
    posterior: float


@concise
@dataclass(frozen=True, eq=False)
class SpanLabels:
    """The posteriors g(s, t, label) of constituents, sparse: span [s, t) has the entries from ``first[s * (n + 1) + t]`` up to the
    ``first`` of the next span.

    ``any`` includes preterminals, ``phrase`` leaves them out. ``top`` tells how high the label stands in its chain: the probability
    that it is the top, half of that of being right below the top, a quarter ... By span, ``some[s, t]`` is the probability that a
    shown node has the span, ``hidden[s, t]`` that only symbols which the grammar hides have it. ``tagged`` tells whether the tags
    of words are among the labels.
    """

    names: tuple[str, ...]
    n: int
    first: NDArray[np.int64]
    label: NDArray[np.int64]
    any: Float64
    phrase: Float64
    top: Float64
    some: Float64
    hidden: Float64
    tagged: bool = True

    @classmethod
    def of_rows(
        cls, names: tuple[str, ...], n: int, span: NDArray[Any], label: NDArray[Any], columns: Sequence[Float64], some: Float64,
        hidden: Float64, *, tagged: bool = True,
    ) -> SpanLabels:  # fmt: skip
        """The labels of rows in any order: of a span, as s * (n + 1) + t, and the number of a label, with the ``columns`` ``any``,
        ``phrase`` and ``top``, which are summed over rows of the same label and span."""
        size = max(1, len(names))
        keys, row = np.unique(span * size + label, return_inverse=True)
        of_any, phrase, top = (np.bincount(row, column, len(keys)).astype(np.float64) for column in columns)
        first = np.searchsorted(keys, np.arange(n * (n + 1) + 1) * size)
        return cls(names, n, first, keys % size, of_any, phrase, top, some, hidden, tagged)

    def of_span(self, s: int, t: int) -> slice:
        """The entries of a span."""
        at = s * (self.n + 1) + t
        return slice(int(self.first[at]), int(self.first[at + 1]))

    def best(self, values: Float64) -> tuple[Float64, NDArray[np.int64]]:
        """The largest positive value of each span's entries and its label, the first of equal ones; 0 and -1 if there is none."""
        weight, label = np.zeros((self.n, self.n + 1)), np.full((self.n, self.n + 1), -1, np.int64)
        positive = np.flatnonzero(values > 0)
        span = np.repeat(np.arange(self.n * (self.n + 1)), np.diff(self.first))[positive]
        order = np.lexsort((self.label[positive], -np.round(values[positive], 12), span))
        span, at = span[order], positive[order]
        leading = np.append(True, span[1:] != span[:-1]) if len(span) else np.zeros(0, np.bool_)
        weight.reshape(-1)[span[leading]] = values[at[leading]]
        label.reshape(-1)[span[leading]] = self.label[at[leading]]
        return weight, label

    def total(self, values: Float64) -> Float64:
        """The sum of the values of each span's entries, an (n, n+1) array."""
        span = np.repeat(np.arange(self.n * (self.n + 1)), np.diff(self.first))
        return np.bincount(span, values, self.n * (self.n + 1)).astype(np.float64).reshape(self.n, self.n + 1)

    def dense(self, values: Float64) -> Float64:
        """The values as an (n, n+1, labels) array."""
        made = np.zeros((self.n * (self.n + 1), len(self.names)))
        made[np.repeat(np.arange(len(made)), np.diff(self.first)), self.label] = values
        return made.reshape(self.n, self.n + 1, -1)


class LabelOrder(Protocol):
    """The orders in which labels may occur over one span."""

    def order(self, labels: Sequence[int], last: int = -1) -> tuple[int, ...] | None:
        """An order of the labels from the top down, above the tag ``last`` if given; None if there is none."""
        ...

    def best(self, worth: Mapping[int, float], last: int = -1) -> tuple[int, ...]:
        """The labels with the largest sum of worths that have an order; in that order."""
        ...


class AnyOrder:
    """Labels in the order in which they are given; those from ``size`` on are only tags, and never above a word's tag."""

    def __init__(self, size: int) -> None:
        self.size = size

    def order(self, labels: Sequence[int], last: int = -1) -> tuple[int, ...] | None:
        return tuple(labels) if all(label < self.size for label in labels) else None

    def best(self, worth: Mapping[int, float], last: int = -1) -> tuple[int, ...]:
        return tuple(label for label in worth if label < self.size)


ProductionChild = tuple[Hashable, bool]
WORD: ProductionChild = ("", True)
"""A word as the child of a production."""


def _no_parts(parent: Hashable, children: Sequence[ProductionChild]) -> Sequence[Hashable]:
    return ()


@concise
class CountedParts(NamedTuple):
    """The parts that count in a parse: each is worth its posterior.

    ``productions(parent, children)`` lists the parts of a production; a child is a label and whether it is a word, and a symbol
    that does not show is a label of its own. With ``nodes`` the labelled constituents count, each (span, label) once, preterminals
    only with ``preterminals``; each label of a span but the first, and each phrase over one word, costs ``lam``. ``key`` names the
    parts, for the tables that a grammar stores.
    """

    key: tuple[object, ...]
    productions: Callable[[Hashable, Sequence[ProductionChild]], Sequence[Hashable]] = _no_parts
    nodes: bool = False
    preterminals: bool = True
    lam: float = 0.0


NEEDS = {
    "trees": "needs potentials: posteriors do not say how likely a whole tree is",
    "grammar": "chooses among the parses of a grammar, and there is none here",
    "subcategories": "multiplies the posteriors of rules with subcategories: it needs a model of treegauge train",
}
"""The things that a view may lack, and why an objective cannot do without them."""


class PosteriorView:
    """The knowledge of one sentence's parses. Subclasses fill in what they know; ``gives`` names what they have besides posteriors:
    ``trees`` (whole trees and their probabilities), ``grammar`` (:meth:`best_parse`), ``subcategories`` (:meth:`best_product`)."""

    words: tuple[str, ...]
    gives: frozenset[str] = frozenset()
    is_binary: bool = True
    """Whether every span of a binary tree is a node, even one that no label can have."""
    lam: float | None = 0.5
    """The price of a node unless one is given; None if the sentence's own, with the best expected F1, is to be found."""
    treebank_root: str | None = None
    """The label above every tree that is not a constituent, if there is one."""
    root_label: str | None = None
    """The label of the root of unlabelled trees; None for its likeliest."""

    @staticmethod
    def checked_words(words: Iterable[str], most: int) -> tuple[str, ...]:
        """The words of a sentence, of which a chart can hold at most ``most``."""
        if isinstance(words, str):
            raise UsageError(f"a sentence is a sequence of words, not a string: {words[:40]!r}.split()")
        found = tuple(words)
        if len(found) > most:
            raise TooLong(f"a sentence of {len(found):,} words is too long for a chart; the most is {most:,}")
        return found

    @property
    def n(self) -> int:
        """The number of words."""
        return len(self.words)

    @property
    def has_parse(self) -> bool:
        """Whether there is a parse."""
        return True

    @property
    def log_partition(self) -> float:
        """The logarithm of the sentence's probability."""
        raise UsageError(f"this {NEEDS['trees']}")

    @property
    def annotated(self) -> bool:
        """Whether symbols of the grammar show as labels with another name."""
        return False

    @property
    def stand_in(self) -> str:
        """The label of a node whose span no label can have."""
        return DUMMY

    @property
    def reading(self) -> Reading:
        """Whether a span has one label or a set, unless that is chosen."""
        return "set"

    @cached_property
    def span_labels(self) -> SpanLabels:
        """The posteriors of constituents, span by span."""
        raise NotImplementedError

    @cached_property
    def orders(self) -> LabelOrder:
        """The orders in which labels may occur over one span."""
        return AnyOrder(len(self.span_labels.names))

    def tag_posteriors(self, position: int) -> list[tuple[str | None, float]]:
        """The tags that a word can have (None: a word without one), each with its posterior, the most probable first."""
        raise NotImplementedError

    @cached_property
    def required(self) -> NDArray[np.bool_]:
        """The spans that must be nodes, an (n, n+1) mask: by default that of the whole sentence."""
        mask = np.zeros((self.n, self.n + 1), np.bool_)
        mask[0, self.n] = True
        return mask

    @property
    def forbidden(self) -> NDArray[np.bool_] | None:
        """The spans that no binary tree may have, an (n, n+1) mask; None if there are none."""
        return None

    @staticmethod
    def nodes_of(name: str) -> Sequence[str]:
        """The nodes that a label stands for, from the top down."""
        return (name,)

    def rooted(self, nodes: list[Child]) -> Tree:
        """The tree with these topmost nodes, below the treebank's root if it has one."""
        root = self.treebank_root
        whole = nodes[0] if len(nodes) == 1 and isinstance(nodes[0], Tree) else Tree(TOP if root is None else root, nodes)
        return whole if root in (None, whole.label) else Tree(root, [whole])

    def best(self) -> Parse:
        """The likeliest parse."""
        return self.kbest(1)[0]

    def kbest(self, k: int) -> list[Parse]:
        """The k likeliest parses, or all if there are fewer."""
        raise UsageError(f"this {NEEDS['trees']}")

    def sample(self, size: int, seed: int = 0) -> list[Tree]:
        """``size`` trees, drawn at random by their probabilities given the sentence: the same trees with the same seed."""
        raise UsageError(f"this {NEEDS['trees']}")

    def entropy(self) -> float:
        """The entropy of the tree given the sentence, in nats."""
        raise UsageError(f"this {NEEDS['trees']}")

    def best_parse(self, parts: CountedParts) -> Best:
        """The parse of the grammar whose parts have the largest sum of worths."""
        raise UsageError(f"this {NEEDS['grammar']}")

    def best_product(self) -> Best:
        """The parse whose rules have the largest product of posteriors."""
        raise UsageError(f"this {NEEDS['subcategories']}")

    def exact_f1(self, trees: Sequence[Tree]) -> list[float] | None:
        """The expected F1 of some trees; None if the posteriors alone do not tell it."""
        return None

    def argmax(self, objective: str = "viterbi", **options: Any) -> Best:
        """The best tree for an objective, and its expected score; see :mod:`treegauge.parsing.objectives`."""
        from treegauge.parsing.objectives import decode_view

        self.require_parse()
        return decode_view(self, objective, **options)

    def _repr_svg_(self) -> str | None:
        """The likeliest tree, if there is one."""
        return self.best().tree.svg(theme="auto") if self.has_parse else None

    def require_parse(self) -> None:
        """Raise an error if there is no parse."""

    def shown_constituents(self, *, preterminals: bool = True) -> list[Constituent]:
        """The posteriors g(s, t, label) by the labels that output trees show, each counted once per span."""
        if not self.has_parse:
            return []
        found = self.span_labels
        posterior = found.any if preterminals else found.phrase
        span = np.repeat(np.arange(self.n * (self.n + 1)), np.diff(found.first))
        rows = zip(
            (span // (self.n + 1)).tolist(), (span % (self.n + 1)).tolist(), found.label.tolist(), posterior.tolist(), strict=True
        )
        return [Constituent(s, t, found.names[label], g) for s, t, label, g in rows if g > 0]

    def phrase_constituents(self) -> list[Constituent]:
        """The posteriors g(s, t, label) by the labels that output trees show, without preterminals."""
        return self.shown_constituents(preterminals=False)

    @cached_property
    def phrase_posteriors(self) -> dict[tuple[int, int, str], float]:
        """g(s, t, label) by span and label, without preterminals."""
        return {(c.start, c.end, c.label): c.posterior for c in self.phrase_constituents()}

    def expected_score(self, tree: Tree | str, *, pre: bool = False) -> float:
        """The expected number of right labelled constituents of a tree (or its text): the sum of g over its shown constituents,
        each counted once. With ``pre``, preterminals count too."""
        tree = Tree.parse(tree) if isinstance(tree, str) else tree
        if tree.words != self.words:
            raise UsageError(f"the words differ: {cut(' '.join(tree.words))!r} is not the sentence of this forest")
        g = {(c.start, c.end, c.label): c.posterior for c in self.shown_constituents()} if pre else self.phrase_posteriors
        return math.fsum(g.get((s, t, label), 0.0) for s, t, label in set(tree.spans(preterminals=pre)))
