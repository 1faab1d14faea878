"""Batched span CRFs: log Z, marginals, losses and trees from the scores of labelled spans, as tensors or NumPy arrays.

The distribution is that of :class:`~treegauge.parsing.SpanChart`, over binary trees, or with null labels over n-ary trees.

>>> import numpy as np
>>> crf = SpanCRF(np.zeros((2, 3, 3, 2)), [3, 2], null=0, labels=["", "NP"])
>>> np.exp(crf.log_partition).round(6).tolist()
[24.0, 4.0]
>>> crf.marginals[1, :2, :2, 1].round(6).tolist()
[[0.5, 1.0], [0.0, 0.5]]
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from treegauge.errors import NoTree, UsageError, check_name
from treegauge.neural.backend import NEVER, Array, Tensor, as_mask, as_numpy, in_gradient_mode, is_tensor, torch_module, use_triton
from treegauge.tables import number_of
from treegauge.trees.tree import Tree

if TYPE_CHECKING:
    from treegauge.neural.recursion import SpanSums, SpanWeights
    from treegauge.neural.triton_labels import FusedSums
    from treegauge.parsing import Best, SpanChart

CONVENTIONS = ("inclusive", "fencepost")
Null = int | Sequence[int] | None


class SpanCRF:
    """A distribution over the trees of each sentence of a batch.

    * ``scores``: (B, n, n, labels), where ``scores[b, i, j]`` is for the words from i to j, both included; with
      ``convention="fencepost"`` (B, n+1, n+1, labels), for the words between the fenceposts i and j. Any float type; gradients with
      respect to a tensor are supported.
    * ``lengths``: (B,); by default all sentences have n words.
    * ``null``: the label, or labels, that mean "no constituent", which makes trees n-ary.
    * ``root=False``: with null labels, the whole sentence need not be a constituent.
    * ``temperature``: a number by which scores are divided.
    * ``allowed``: (B, n, n) or (B, n, n, labels), a mask of what may be a constituent; ``required``: (B, n, n), a mask of what must
      be one. Both are in the convention of the scores.
    * ``labels``: the names of labels, for trees.

    float16 and bfloat16 are computed in float32. On a CPU all sums are in float64. Scores beyond a sentence, or below the diagonal,
    have no effect and a gradient of 0. For a sentence with a score of nan or +inf, or a null score of -inf, all results are nan if
    scores are a tensor; in a NumPy array such a score is an error.
    """

    def __init__(
        self,
        scores: Array,
        lengths: Array | None = None,
        *,
        null: Null = None,
        convention: Literal["inclusive", "fencepost"] = "inclusive",
        root: bool = True,
        temperature: float = 1.0,
        allowed: Array | None = None,
        required: Array | None = None,
        labels: Sequence[str] | None = None,
    ) -> None:
        from treegauge.parsing.span_trees import checked_root, checked_temperature, null_labels

        check_name("convention", convention, CONVENTIONS)
        scores = _as_floats(scores)
        if scores.ndim == 4 and not len(scores):
            raise UsageError("the batch has no sentence")
        if scores.ndim != 4 or scores.shape[1] != scores.shape[2] or 0 in scores.shape:
            shape = "(B, n, n, labels)" if convention == "inclusive" else "(B, n+1, n+1, labels)"
            raise UsageError(f"{convention} span scores must have shape {shape}, not {tuple(scores.shape)}")
        self._fencepost = convention == "fencepost"
        if self._fencepost and scores.shape[1] < 2:
            raise UsageError("fencepost scores of n words have n + 1 rows; 1 row means no words")
        self.scores = self._inclusive(scores)
        self.tracked = bool(scores.requires_grad and torch_module().is_grad_enabled()) if is_tensor(scores) else None
        self.temperature = checked_temperature(temperature)
        B, n, _, size = self.scores.shape
        self.lengths = checked_lengths(lengths, B, n)
        self.null = null_labels(null, size)
        self.root = checked_root(root)
        self.labels = [str(x) for x in range(size)] if labels is None else list(labels)
        if len(self.labels) != size:
            raise UsageError(f"labels must have {number_of(size, 'name')}, not {len(self.labels)}")
        self.allowed = None if allowed is None else self._mask(allowed, [(B, n, n), (B, n, n, size)], "allowed")
        self.required = None if required is None else self._mask(required, [(B, n, n)], "required")
        if self.required is not None:
            self.required = self.required.triu() if is_tensor(self.required) else np.triu(self.required)

    def _inclusive(self, array: Array) -> Array:
        return array[:, :-1, 1:] if self._fencepost else array

    def _mask(self, mask: Array, shapes: list[tuple[int, ...]], name: str) -> Array:
        mask = self._inclusive(as_mask(mask, self.scores))
        if tuple(mask.shape) not in shapes:
            raise UsageError(f"{name} spans must have shape {' or '.join(map(str, shapes))}, not {tuple(mask.shape)}")
        return mask

    @cached_property
    def _lengths(self) -> Tensor:
        torch, n = torch_module(), self.scores.shape[1]
        if (self.lengths == n).all():  # made on the device, without a transfer
            return torch.full((len(self.lengths),), n, dtype=torch.int32, device=self.scores.device)
        return torch.as_tensor(self.lengths, device=self.scores.device)

    @cached_property
    def _scaled_scores(self) -> Tensor:
        """The scores divided by the temperature, in a type for computing."""
        torch = torch_module()
        scores = self.scores if self.scores.dtype in (torch.float32, torch.float64) else self.scores.float()
        return scores if self.temperature == 1 else scores / self.temperature

    @cached_property
    @in_gradient_mode
    def weights(self) -> SpanWeights:
        """The weights of spans in trees, as tensors."""
        return self._weights(self._scaled_scores)

    def _weights(self, scaled: Tensor) -> SpanWeights:
        from treegauge.neural.recursion import span_weights

        return span_weights(scaled, self._lengths, self.null, self.root, self.allowed, self.required)

    @cached_property
    def _sums(self) -> SpanSums:
        from treegauge.neural.recursion import SpanSums

        return SpanSums(self.weights.left, self.weights.right, self._lengths)

    @cached_property
    def _fused(self) -> FusedSums | None:
        """The sums computed directly from the scores, if there are kernels for that: on a GPU, without constraints."""
        size = self.scores.shape[-1]
        if self.allowed is not None or self.required is not None or size == 1 or not use_triton(self.scores):
            return None
        from treegauge.neural.triton_labels import MOST_LABELS, FusedSums, LabelledSpans

        if size > MOST_LABELS:
            return None
        return FusedSums(LabelledSpans(self._scaled_scores, self._lengths, tuple(self.null), self.root), self._by_operations)

    def _by_operations(self, scaled: Tensor) -> Tensor:
        from treegauge.neural.recursion import sums_by_width

        weights = self._weights(scaled)
        return sums_by_width(weights.left, weights.right, self._lengths)

    @cached_property
    def charts(self) -> list[SpanChart]:
        """The chart of each sentence, for k-best trees, samples, entropies and confidence."""
        return [self._chart(i) for i in range(len(self.lengths))]

    def _chart(self, i: int, **names: Any) -> SpanChart:
        """The chart of sentence i, with ``names`` as further arguments of :class:`~treegauge.parsing.SpanChart`."""
        from treegauge.parsing.span_charts import SpanChart

        n = int(self.lengths[i])
        allowed = None if self.allowed is None else as_numpy(self.allowed[i])[:n, :n]
        required = [] if self.required is None else np.argwhere(as_numpy(self.required[i])[:n, :n]).tolist()
        with _naming_sentence(i):
            return SpanChart(
                as_numpy(self.scores[i])[:n, :n].astype(np.float64),
                labels=self.labels,
                null=self.null or None,
                root=self.root,
                temperature=self.temperature,
                allowed=allowed,
                required=[(first, last + 1) for first, last in required],
                **names,
            )

    @cached_property
    def _charts_with_trees(self) -> list[SpanChart | None]:
        """The chart of each sentence; ``None`` where there is no tree."""
        found: list[SpanChart | None] = []
        for i in range(len(self.lengths)):
            try:
                chart = self._chart(i)
                found.append(chart if chart.log_partition > -np.inf else None)
            except NoTree:
                found.append(None)
        return found

    @cached_property
    @in_gradient_mode
    def _log_partition(self) -> Array:
        """log Z in the type for computing, whose digits are needed for differences of nearly equal numbers."""
        if not is_tensor(self.scores):
            return np.array([-np.inf if chart is None else chart.log_partition for chart in self._charts_with_trees])
        return (self._fused or self._sums).log_partition()

    @cached_property
    @in_gradient_mode
    def _marginals(self) -> Array:
        if not is_tensor(self.scores):
            found = np.zeros(self.scores.shape)
            for i, chart in enumerate(self._charts_with_trees):
                if chart is not None:
                    found[i, : chart.n, : chart.n] = chart.posterior
            return found
        if self._fused and not self.tracked:
            return self._fused.marginals()
        return self.weights.constituents(*self._sums.parts())

    @property
    def log_partition(self) -> Array:
        """log Z (B,): the logarithm of the sum over all trees, -inf if there is none. Its gradient is the marginals."""
        return self._as_given(self._log_partition)

    @property
    def marginals(self) -> Array:
        """The probability of each labelled constituent: (B, n, n, labels) by first and last word, 0 for null labels."""
        return self._as_given(self._marginals)

    @property
    def entropy(self) -> Array:
        """The entropy of each sentence's tree, in nats (B,); nan if there is none."""
        return self._as_given(self._entropy)

    @cached_property
    @in_gradient_mode
    def _entropy(self) -> Array:
        if not is_tensor(self.scores):
            return np.array([np.nan if chart is None else chart.entropy() for chart in self._charts_with_trees])
        p, z = self._marginals, self._log_partition
        worth = self.weights.label.masked_fill(p <= 0, 0.0)
        return z.masked_fill(z == -np.inf, np.nan) - (p * worth).sum((1, 2, 3))

    def _as_given(self, value: Array) -> Array:
        """A result in the type of the scores, detached if torch does not record gradients now."""
        if not is_tensor(value):
            return value
        return value.to(self.scores.dtype) if torch_module().is_grad_enabled() else value.detach().to(self.scores.dtype)

    def log_probability(self, trees: Sequence[Tree] | Array) -> Array:
        """The log probability of each sentence's tree (B,).

        The words of a tree have tags, which are not constituents. Instead of trees, an array (B, n, n) can be given with the number
        of each constituent's label by first and last word (or by fenceposts), and -1 or a null label where there is none.
        """
        return self._as_given(self._log_probability(self.targets(trees)))

    @in_gradient_mode
    def _log_probability(self, target: Array) -> Array:
        if not is_tensor(self.scores):
            return np.array([self._score_of(i, target[i]) for i in range(len(target))]) - self._log_partition
        score = self._tree_scores(target)
        return score.masked_fill(score < NEVER / 10, -np.inf) - self._log_partition

    def _tree_scores(self, target: Array) -> Tensor:
        """The score of each sentence's tree (B,), gathered from its constituents so that no array of all labels is made."""
        from treegauge.neural.recursion import log_sum

        torch = torch_module()
        target = torch.as_tensor(target, device=self.scores.device)
        number = target.clamp_min(0)[..., None]
        worth = self._scaled_scores.gather(3, number)[..., 0]
        if self.null:
            worth = worth - log_sum(self._scaled_scores[..., self.null])
        never = torch.zeros_like(target, dtype=torch.bool)
        if self.allowed is not None:
            never = ~(self.allowed.gather(3, number)[..., 0] if self.allowed.ndim == 4 else self.allowed)
        score = worth.masked_fill(never, NEVER).masked_fill(target < 0, 0.0).sum((1, 2))
        return score if self.required is None else score.masked_fill((self.required & (target < 0)).flatten(1).any(1), NEVER)

    def _score_of(self, i: int, target: Array) -> float:
        where, chart = np.argwhere(target >= 0), self._charts_with_trees[i]
        if chart is None:
            return np.nan
        if self.required is not None and (self.required[i] & (target < 0)).any():
            return -np.inf
        return float(sum(chart.potentials.label[s, last, target[s, last]] for s, last in where.tolist()))

    def loss(self, trees: Sequence[Tree] | Array, reduction: Literal["mean", "sum", "none"] = "mean") -> Array:
        """The negative log likelihood of the correct trees, by default averaged over sentences; see :meth:`log_probability`."""
        check_name("reduction", reduction, ("mean", "sum", "none"))
        loss = -self._log_probability(self.targets(trees))
        return self._as_given(loss if reduction == "none" else loss.mean() if reduction == "mean" else loss.sum())

    def targets(self, trees: Sequence[Tree] | Array) -> Array:
        """The number of each constituent's label (B, n, n) by first and last word, -1 where there is none, after checks."""
        given: Any = trees
        numbered = is_tensor(trees) or isinstance(trees, np.ndarray)
        if numbered:
            target = np.asarray(as_numpy(given))
            if target.dtype.kind not in "iu":
                raise UsageError(f"targets must be whole numbers, not {target.dtype}")
            target = self._inclusive(target).astype(np.int64)
        else:
            target = encode(given, self.labels, self.scores.shape[1])
        if target.shape != tuple(self.scores.shape[:3]):
            raise UsageError(f"targets of shape {target.shape} do not fit scores of shape {tuple(self.scores.shape)}")
        if target.max() >= len(self.labels):
            raise UsageError(f"target {target.max()} is not the number of a label, from 0 to {len(self.labels) - 1}")
        target[np.isin(target, self.null)] = -1
        crossing = _has_crossing(target >= 0) if numbered else np.zeros(len(target), np.bool_)
        for i, n in enumerate(self.lengths.tolist()):
            real = target[i] >= 0
            if real.sum() != np.triu(real[:n, :n]).sum():
                raise UsageError(f"sentence {i + 1}: a constituent is outside its {number_of(n, 'word')}")
            if not numbered and len(given[i].words) != n:
                raise UsageError(f"sentence {i + 1}: the tree has {number_of(len(given[i].words), 'word')}, but the length is {n}")
            if crossing[i]:
                raise UsageError(f"sentence {i + 1}: constituents cross each other, so they do not form a tree")
            if self.null and self.root and target[i, 0, n - 1] < 0:
                raise UsageError(f"sentence {i + 1}: the whole sentence is not a constituent; root=False allows that")
            if not self.null and real.sum() != 2 * n - 1:
                raise UsageError(f"sentence {i + 1}: without null labels a tree is binary, and each word is a constituent too")
        return target

    def decode(
        self,
        objective: str | None = None,
        *,
        words: Sequence[Sequence[str]] | None = None,
        tags: Sequence[Sequence[str]] | None = None,
        **options: Any,
    ) -> list[Best]:
        """The best tree of each sentence for an objective, and its expected score.

        Objectives and their options are those of :meth:`treegauge.parsing.SpanChart.argmax`.
        """
        check_batch_size("words", words, len(self.lengths))
        check_batch_size("tags", tags, len(self.lengths))
        posterior = as_numpy(self._marginals) if is_tensor(self.scores) and objective != "viterbi" else None
        found: list[Best] = []
        for i, n in enumerate(self.lengths.tolist()):
            names: dict[str, Any] = {"words": None if words is None else words[i], "tags": None if tags is None else tags[i]}
            chart = self._chart(i, **names)
            if posterior is not None:
                chart.posterior = posterior[i, :n, :n].astype(np.float64)
            with _naming_sentence(i, NoTree):
                found.append(chart.argmax(objective, **options))
        return found

    def __repr__(self) -> str:
        B, n, _, size = self.scores.shape
        return f"<SpanCRF of {B} sentences of up to {n} words, {size} labels, {len(self.null)} of them null>"


def encode(trees: Sequence[Tree], labels: Sequence[str], n: int) -> Any:
    """The number of each constituent's label in trees with tagged words: (B, n, n) by first and last word, -1 where there is none.

    >>> encode([Tree.parse("(S (D a) (VP (V b)))")], ["", "S", "VP"], 3)[0].tolist()
    [[-1, 1, -1], [-1, 2, -1], [-1, -1, -1]]
    """
    from treegauge.parsing.span_trees import labelled_spans

    number = {name: X for X, name in reversed(list(enumerate(labels)))}
    target = np.full((len(trees), n, n), -1, np.int64)
    for i, tree in enumerate(trees):
        if not isinstance(tree, Tree):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"sentence {i + 1}: a {type(tree).__name__} is not a tree; Tree.parse reads one from its brackets")
        for (s, t), label in labelled_spans(tree, tags=True).items():
            if label not in number:
                raise UsageError(f"sentence {i + 1}: {label!r} is not one of the labels")
            if t > n:
                raise UsageError(f"sentence {i + 1}: the tree has {number_of(len(tree.words), 'word')}, but the scores are of {n}")
            target[i, s, t - 1] = number[label]
    return target


def check_batch_size(name: str, given: Sequence[Any] | None, B: int) -> None:
    """Raise an error unless an argument, if given, has an element for each of B sentences."""
    if given is not None and len(given) != B:
        raise UsageError(f"{name} are given for {number_of(len(given), 'sentence')}, but there are {B}")


def checked_lengths(lengths: Array | None, B: int, n: int) -> Any:
    """The lengths of a batch's sentences as a NumPy array, after checks; n for all if none are given."""
    found = np.full(B, n, np.int64) if lengths is None else np.asarray(as_numpy(lengths))
    if found.dtype.kind not in "iu" or found.shape != (B,) or (found < 1).any() or (found > n).any():
        raise UsageError(f"lengths must be {B} whole numbers from 1 to {n}, not {found.tolist()}")
    return found.astype(np.int64)


def _as_floats(scores: Array) -> Array:
    """The scores as an array or tensor of real numbers; a tensor of whole numbers is converted to floats."""
    if not is_tensor(scores):
        array = np.asarray(scores)
        if array.dtype.kind not in "fiu":
            raise UsageError(f"span scores must be real numbers, not {array.dtype}")
        return array
    torch = torch_module()
    if scores.is_complex() or scores.dtype == torch.bool:
        raise UsageError(f"span scores must be real numbers, not {scores.dtype}")
    return scores if scores.is_floating_point() else scores.to(torch.get_default_dtype())


def _has_crossing(real: Any) -> Any:
    """Whether spans (B, n, n) of each sentence cross: one begins inside another, not at its start, and ends after it."""
    given = real.astype(np.int32)
    later = given[:, :, ::-1].cumsum(axis=2)[:, :, ::-1] - given
    after = later.cumsum(axis=1)
    begins_in = np.diagonal(after, axis1=1, axis2=2)[:, None, :] - after
    return (real & (begins_in > 0)).any(axis=(1, 2))


@contextmanager
def _naming_sentence(i: int, errors: type[UsageError] = UsageError) -> Generator[None]:
    """Add the number of the sentence to errors of a chart."""
    try:
        yield
    except errors as error:
        raise type(error)(f"sentence {i + 1}: {error}") from None
