"""Span charts: decoding from the scores that any parser gives to labelled spans.

``scores[i, j, X]`` belongs to label X over the words i .. j, both included, so the array of a sentence of n words is (n, n,
labels); entries with j < i are ignored. Scores are the log-potentials of a tree-CRF, where P(tree) is proportional to the
exponential of the sum over the tree's spans, including single words; or they are posteriors. In a notebook:

>>> import numpy as np
>>> from treegauge.parsing import decode
>>> scores = np.random.default_rng(1).normal(size=(4, 4, 3))
>>> best = decode(scores, "labelled-recall", labels=["NP", "VP", "S"], words="time flies like arrows".split())
>>> print(best.tree)
(S (VP time) (VP (NP flies) (NP (NP like) (NP arrows))))

If a parser has a label for "no constituent", ``null`` names it, and the trees are n-ary:

>>> chart = SpanChart(scores, null=0, labels=["", "VP", "S"], words="time flies like arrows".split())
>>> print(chart.argmax().tree)
(S (VP (VP (VP time) (VP flies)) like) (VP arrows))
>>> print(chart.kbest(1)[0].tree)
(S (VP (VP (VP time) flies) like) arrows)
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from treegauge.errors import NoTree, UsageError, check_name
from treegauge.parsing.posterior_view import DUMMY, TOP, Best, Constituent, Float64, Parse, PosteriorView, Reading, SpanLabels
from treegauge.parsing.span_kernels import sample_parts
from treegauge.parsing.span_trees import (
    JOIN,
    Null,
    Potentials,
    Required,
    as_array,
    as_half_open,
    best_trees,
    checked_root,
    checked_temperature,
    expected_f1,
    labelled_spans,
    log_sums,
    null_labels,
    potentials,
    required_spans,
    spans_crossing,
)
from treegauge.tables import concise, number_of
from treegauge.trees.columns import Mask
from treegauge.trees.tree import Child, Tree

ChartKind = Literal["potentials", "posteriors"]
KINDS = ("potentials", "posteriors")
CONVENTIONS = ("inclusive", "fencepost")
ROUNDING = 0.001
"""The distance by which posteriors may leave the range from 0 to 1, as they do in float16 or float32."""


@concise
class Marginals(NamedTuple):
    """The logarithm of the sum over all trees, and the posterior of each labelled span, in the shape of the scores."""

    log_partition: float
    posterior: Float64


@concise
class Confidence(NamedTuple):
    """The confidence in a tree: its probability, its expected F1, and the posterior of each of its constituents."""

    probability: float
    f1: float
    constituents: list[Constituent]


class SpanChart(PosteriorView):
    """All trees over the span scores of one sentence, with their probabilities and posteriors, computed on first use.

    * ``null``: the label, or the set of labels, that means "no constituent". The distribution is then over n-ary trees, each
      counted once: a constituent is worth its score less the span's null score, a span that is not a constituent 0.
    * ``root=False``: with null labels, the whole sentence need not be a constituent.
    * ``temperature``: scores are divided by it.
    * ``allowed``: an array (n, n) or (n, n, labels) of the spans that may be constituents; ``required``: half-open spans
      (start, end) or (start, end, label) that must be.
    * ``tags``: the tags of the words in trees; without tags a node over one word is a constituent.
    * ``kind="posteriors"``: the scores are posteriors; methods that need the probabilities of whole trees then raise an error.
    * ``convention``: ``inclusive`` if ``scores[i, j]`` belongs to the words i .. j, ``fencepost`` if to those between
      the fenceposts i and j, in an array (n+1, n+1, labels).
    """

    lam = None
    root_label = DUMMY

    def __init__(
        self,
        scores: Any,
        *,
        labels: Sequence[str] | None = None,
        words: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        null: Null = None,
        root: bool = True,
        temperature: float = 1.0,
        allowed: ArrayLike | None = None,
        required: Required = (),
        kind: ChartKind = "potentials",
        convention: str = "inclusive",
    ) -> None:
        check_name("kind of scores", kind, KINDS)
        check_name("convention", convention, CONVENTIONS)
        self.scores = as_array(scores, CONVENTIONS.index(convention))
        n, size = len(self.scores), self.scores.shape[2]
        self.kind = kind
        self.gives = frozenset({"trees"} if kind == "potentials" else ())
        self.labels = ["X"] * (size == 1) or [str(x) for x in range(size)] if labels is None else list(labels)
        self.has_words = words is not None
        self.words = tuple(str(i) for i in range(n)) if words is None else tuple(words)
        self.tags = None if tags is None else list(tags)
        if len(self.labels) != size or self.n != n or (self.tags is not None and len(self.tags) != n):
            given = [number_of(len(self.labels), "label"), number_of(len(self.words), "word")]
            given += [] if self.tags is None else [number_of(len(self.tags), "tag")]
            wanted = f"{size} labels, {n} words, {n} tags (or none)"
            raise UsageError(f"scores of shape {self.scores.shape} need {wanted}; given: {', '.join(given)}")
        self.null = null_labels(null, size)
        self.is_binary = not self.null
        self.root, self.temperature = checked_root(root), checked_temperature(temperature)
        if kind == "posteriors" and temperature != 1:
            raise UsageError("a temperature needs potentials: it cannot be applied to posteriors")
        if kind == "posteriors" and not (self.scores.min() >= -ROUNDING and self.scores.max() <= 1 + ROUNDING):
            raise UsageError("posteriors must lie between 0 and 1; scores of other kinds are potentials")
        if kind == "potentials" and self.null and (self.scores[:, :, self.null].max(axis=2) == -np.inf).any():
            raise UsageError("the null score of a span must not be -inf; name spans that must be constituents in required=")
        self.allowed = None if allowed is None else as_half_open(allowed, n, size)
        self.must, by_label = required_spans(required, n, self.labels)
        if by_label is not None:
            own = True if self.allowed is None else self.allowed if self.allowed.ndim == 3 else self.allowed[:, :, None]
            self.allowed = by_label & own

    def with_temperature(self, temperature: float) -> SpanChart:
        """The same chart at another temperature."""
        other = copy.copy(self)
        other.temperature = checked_temperature(temperature)
        other._forget()
        return other

    def merge_labels(self, name: Callable[[str], str]) -> SpanChart:
        """The chart in which labels of the same ``name`` are one; a tree has the sum of the probabilities of the trees it stands
        for.

        A metric that cuts function tags off labels counts ``NP`` and ``NP-SBJ`` as one. A chart that is decoded for it should do
        the same, or perhaps neither label is probable enough to be kept. Null labels are not merged.

        >>> chart = SpanChart(np.zeros((2, 2, 4)), null=0, labels=["", "NP", "NP-SBJ", "S"])
        >>> merged = chart.merge_labels(lambda label: label.split("-")[0])
        >>> merged.labels, math.isclose(merged.log_partition, chart.log_partition)
        (['', 'NP', 'S'], True)
        """
        groups: dict[str, list[int]] = {}
        for X, label in enumerate(self.labels):
            if X not in self.null:
                groups.setdefault(name(label), []).append(X)
        of_label = [[X] for X in self.null] + list(groups.values())
        scores = self.scores
        if self.kind == "potentials":
            scores = scores / self.temperature
        if self.allowed is not None and self.allowed.ndim == 3:
            shown = self.allowed | np.isin(np.arange(len(self.labels)), self.null)
            scores = np.where(shown, scores, -np.inf if self.kind == "potentials" else 0.0)
        merge = log_sums if self.kind == "potentials" else np.sum
        other = copy.copy(self)
        other._forget()
        other.scores = np.stack([merge(scores[:, :, own], axis=2) for own in of_label], axis=2)
        other.labels = [*(self.labels[X] for X in self.null), *groups]
        other.null, other.temperature = list(range(len(self.null))), 1.0
        other.allowed = None if self.allowed is None or self.allowed.ndim == 3 else self.allowed
        return other

    def _forget(self) -> None:
        """Drop what was computed from other scores or at another temperature."""
        for computed in ("potentials", "posterior", "span_labels", "orders", "phrase_posteriors", "required"):
            self.__dict__.pop(computed, None)

    @property
    def stand_in(self) -> str:
        """The first label that is not null, for spans that must be constituents without a possible label."""
        return next(label for X, label in enumerate(self.labels) if X not in self.null)

    @property
    def reading(self) -> Reading:
        """One label per span; a chain of nodes is a label of its own."""
        return "one"

    @cached_property
    def span_labels(self) -> SpanLabels:
        """The posteriors of labelled spans, as the objectives read them; all are phrases, and none is above another."""
        n = self.n
        s, last, label = np.nonzero(np.where(np.triu(np.ones((n, n), np.bool_))[:, :, None], self.posterior, 0.0) > 0)
        g = self.posterior[s, last, label]
        some = np.zeros((n, n + 1))
        some[:, 1:] = np.triu(self.posterior.sum(axis=2))
        first = np.searchsorted(s * (n + 1) + last + 1, np.arange(n * (n + 1) + 1))
        return SpanLabels(tuple(self.labels), n, first, label, g, g, g, some, np.zeros((n, n + 1)), tagged=False)

    @cached_property
    def required(self) -> Mask:
        """The spans that must be constituents, an (n, n+1) mask; the root too, unless that is left open."""
        mask = np.zeros((self.n, self.n + 1), np.bool_)
        mask[:, 1:] = self.must
        mask[0, self.n] |= self.root or not self.null
        return mask

    @property
    def forbidden(self) -> Mask | None:
        """The spans that cross required ones, and in binary trees those that are not allowed."""
        mask = np.zeros((self.n, self.n + 1), np.bool_)
        mask[:, 1:] = spans_crossing(self.must)
        if self.allowed is not None and not self.null:
            mask |= ~((self.span_labels.some > 0) | self.required)
        return mask

    def tag_posteriors(self, position: int) -> list[tuple[str | None, float]]:
        """The given tag of a word, if there is one."""
        return [] if self.tags is None else [(self.tags[position], 1.0)]

    @property
    def phrase_labels(self) -> frozenset[str]:
        """The labels of the nodes that its trees can have, apart from tags."""
        return frozenset(node for X, label in enumerate(self.labels) if X not in self.null for node in self.nodes_of(label))

    @staticmethod
    def nodes_of(name: str) -> Sequence[str]:
        """The nodes that a label such as ``S::VP`` stands for."""
        return name.split(JOIN)

    def rooted(self, nodes: list[Child]) -> Tree:
        """The only node, if it is a constituent, or else all nodes below a root that is only a placeholder."""
        single = nodes[0] if len(nodes) == 1 else None
        is_tag = isinstance(single, Tree) and self.tags is not None and single.is_preterminal
        return single if isinstance(single, Tree) and not is_tag else Tree(TOP, nodes)

    @cached_property
    def potentials(self) -> Potentials:
        """The scores as weights of the parts of trees."""
        if self.kind == "posteriors":
            raise UsageError("this needs potentials: posteriors do not say how likely a whole tree is")
        made = potentials(
            self.scores,
            self.null,
            root=self.root,
            temperature=self.temperature,
            allowed=self.allowed,
            required=self.must if self.must.any() else None,
        )
        if made.log_partition == -math.inf:
            raise NoTree("every tree over these spans has potential 0 (score -inf)")
        return made

    @property
    def log_partition(self) -> float:
        """The logarithm of the sum over all trees; with null labels, relative to the tree without constituents."""
        return self.potentials.log_partition

    @cached_property
    def posterior(self) -> Float64:
        """The posterior g(s, t, X) of each labelled constituent, by first and last word; 0 for null labels."""
        if self.kind == "posteriors":
            posterior = self.scores.copy()
            posterior[:, :, self.null] = 0.0
            return posterior
        return self.potentials.span[:, :, None] * self.potentials.label_share

    def constituents(self, least: float = 0.0) -> list[Constituent]:
        """All constituents whose posterior is above ``least``, sorted by start, end and label."""
        where = np.argwhere(self.posterior > least).tolist()
        return [Constituent(i, j + 1, self.labels[X], float(self.posterior[i, j, X])) for i, j, X in where if j >= i]

    def entropy(self) -> float:
        """The entropy of the tree, in nats."""
        score = np.where(self.posterior > 0, self.potentials.label, 0.0)
        return max(0.0, self.log_partition - float((self.posterior * score).sum()))

    def argmax(self, objective: str | None = None, **options: Any) -> Best:
        """The best tree for an objective of :data:`~treegauge.parsing.OBJECTIVES`, and its expected score.

        The default is ``labelled-precision-recall`` if there are null labels, else ``labelled-recall``.
        """
        return super().argmax(objective or ("labelled-precision-recall" if self.null else "labelled-recall"), **options)

    def kbest(self, k: int) -> list[Parse]:
        """The k most probable trees, or all if there are fewer, each with the logarithm of its potential; less
        :attr:`log_partition`, that is the logarithm of its probability."""
        if k < 1:
            raise UsageError(f"k must be at least 1, not {k}")
        return [Parse(self.tree(spans), value).given(self.log_partition) for value, spans in best_trees(self.potentials, k)]

    def sample(self, size: int, seed: int = 0) -> list[Tree]:
        """``size`` trees, drawn at random by their probabilities: the same trees with the same seed, so that further ones need
        another ``seed``."""
        return [self.tree(spans) for spans in self.sample_spans(size, seed)]

    def sample_spans(self, size: int, seed: int = 0) -> list[dict[tuple[int, int], int]]:
        """The constituents of sampled trees, each with the number of its label."""
        given, rng, n = self.potentials, np.random.default_rng(seed), self.n
        uniform = rng.random((size, n - 1)), rng.random((size, 2, 2 * n - 1))
        total = given.label_share.cumsum(axis=2)
        found: list[dict[tuple[int, int], int]] = []
        for draws, (real, label) in zip(*uniform, strict=True):
            parts = sample_parts(given.inside, n, draws)
            s, last, role = parts[:, 0], parts[:, 1] - 1, parts[:, 2]
            shown = real < np.where(role == 1, given.share[1][s, last], given.share[0][s, last])
            chosen = (total[s, last] <= (label * total[s, last, -1])[:, None]).sum(axis=1)
            rows = np.flatnonzero(shown).tolist()
            found.append({(int(s[i]), int(last[i]) + 1): int(chosen[i]) for i in rows})
        return found

    def tree(self, spans: Mapping[tuple[int, int], int]) -> Tree:
        """The tree with these constituents."""
        return Tree.from_spans(self.words, ((*span, self.labels[X]) for span, X in spans.items()), self.tags, TOP)

    def spans(self, tree: Tree) -> dict[tuple[int, int], str]:
        """The constituents of a tree, the labels of several nodes over one span joined, without a root that is only a
        placeholder."""
        spans = labelled_spans(tree, tags=self.tags is not None)
        if self.null and not self.root and TOP not in self.labels and spans.get((0, self.n)) == TOP:
            del spans[0, self.n]
        return spans

    def label_numbers(self, tree: Tree) -> dict[tuple[int, int], int] | None:
        """The constituents of a tree with the numbers of their labels; None if the chart lacks one of the labels."""
        if len(tree.words) != self.n:
            raise UsageError(f"a tree over {len(tree.words)} words does not fit a chart of {self.n}")
        number = {name: X for X, name in reversed(list(enumerate(self.labels))) if X not in self.null}
        spans = self.spans(tree)
        return {span: number[name] for span, name in spans.items()} if all(x in number for x in spans.values()) else None

    def log_probability(self, tree: Tree) -> float:
        """The logarithm of a tree's probability; -inf if it has none."""
        spans = self.label_numbers(tree)
        if spans is None or not self._is_possible(spans):
            return -math.inf
        return math.fsum(self.potentials.label[s, t - 1, X] for (s, t), X in spans.items()) - self.log_partition

    def _is_possible(self, spans: Mapping[tuple[int, int], int]) -> bool:
        if not self.null:
            return len(spans) == 2 * self.n - 1
        must = {(i, j + 1) for i, j in np.argwhere(self.must).tolist()}
        return must <= set(spans) and ((0, self.n) in spans or not self.root)

    def expected_score(self, tree: Tree | str, *, pre: bool = False) -> float:
        """The expected number of right labelled constituents of a tree; with ``pre`` the given tags count too."""
        tree = Tree.parse(tree) if isinstance(tree, str) else tree
        right = len(self.tags) if pre and self.tags is not None else 0
        return right + math.fsum(self.phrase_posteriors.get((*span, label), 0.0) for span, label in self.spans(tree).items())

    def exact_f1(self, trees: Sequence[Tree]) -> list[float] | None:
        """The expected F1 of some trees; None for a chart of posteriors, which do not determine the sizes of trees."""
        if self.kind == "posteriors":
            return None
        return expected_f1(self.potentials, [self.matching_labels(tree) for tree in trees])

    def expected_f1(self, tree: Tree) -> float:
        """The exact mean of the labelled F1, 2 matches / (both sizes), of a tree against random trees of this chart, in time
        O(n^4)."""
        return expected_f1(self.potentials, [self.matching_labels(tree)])[0]

    def matching_labels(self, tree: Tree) -> dict[tuple[int, int], list[int]]:
        """The constituents of a tree, each with the numbers of all labels that have its name."""
        number: dict[str, list[int]] = {}
        for X, name in enumerate(self.labels):
            if X not in self.null:
                number.setdefault(name, []).append(X)
        return {span: number.get(label, []) for span, label in self.spans(tree).items()}

    def confidence(self, tree: Tree) -> Confidence:
        """The probability of a tree, its expected F1, and the probability of each of its constituents."""
        g, spans = self.phrase_posteriors, self.spans(tree)
        constituents = [Constituent(*span, label, g.get((*span, label), 0.0)) for span, label in spans.items()]
        return Confidence(math.exp(self.log_probability(tree)), self.expected_f1(tree), constituents)

    def __repr__(self) -> str:
        return f"<SpanChart over {self.n} words, {len(self.labels)} labels, {len(self.null)} of them null>"


def decode(
    scores: Any, objective: str | None = None, *, kind: ChartKind = "potentials", labels: Sequence[str] | None = None,
    words: Sequence[str] | None = None, tags: Sequence[str] | None = None, null: Null = None, root: bool = True,
    temperature: float = 1.0, allowed: ArrayLike | None = None, required: Required = (), convention: str = "inclusive",
    **options: Any,
) -> Best:  # fmt: skip
    """The best tree for an objective, and its expected score, from an array of span scores (NumPy, or any array with DLPack).

    The arguments are those of :class:`SpanChart`; further options are the objective's, such as ``lam`` of
    ``labelled-precision-recall``, the minimum posterior of a node, whose default maximises the expected F1 under the chart.
    """
    if isinstance(scores, PosteriorView):
        raise UsageError("decode takes an array of span scores; a forest or chart has its best tree itself: .argmax(objective)")
    chart = SpanChart(
        scores, labels=labels, words=words, tags=tags, null=null, root=root, temperature=temperature, allowed=allowed,
        required=required, kind=kind, convention=convention,
    )  # fmt: skip
    return chart.argmax(objective, **options)


def marginals(
    scores: Any,
    *,
    null: Null = None,
    root: bool = True,
    temperature: float = 1.0,
    allowed: ArrayLike | None = None,
    required: Required = (),
) -> Marginals:
    """The posteriors of a tree-CRF over labelled trees: binary trees, or with ``null`` n-ary ones.

    >>> uniform = marginals(np.zeros((3, 3, 1)))
    >>> round(math.exp(uniform.log_partition)), uniform.posterior[0, 1, 0].round(9)
    (2, np.float64(0.5))
    """
    chart = SpanChart(scores, null=null, root=root, temperature=temperature, allowed=allowed, required=required)
    return Marginals(chart.log_partition, chart.posterior)
