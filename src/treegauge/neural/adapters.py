"""Charts of other parsers, as they come: benepar and supar."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from treegauge.errors import UsageError
from treegauge.neural.backend import Array, as_numpy
from treegauge.neural.span_crf import SpanCRF

if TYPE_CHECKING:
    from treegauge.parsing import SpanChart

__all__ = ["benepar_charts", "supar_charts"]


def benepar_charts(
    parser: Any, sentences: Sequence[Any], *, tags: Sequence[Sequence[str]] | None = None, **options: Any
) -> list[SpanChart]:
    """The charts of sentences (benepar's own ``InputSentence`` or whatever its ``parse`` takes) under a benepar ``ChartParser``.

    Label 0 means "no constituent", chains are joined by ``::``, the root is a constituent if the parser was trained so. Tags are
    those given, else those of the sentences. Options are those of :class:`~treegauge.parsing.SpanChart`.
    """
    from treegauge.parsing import SpanChart

    decoder = parser.decoder
    labels = [decoder.label_from_index[i] for i in range(len(decoder.label_from_index))]
    charts: list[SpanChart] = []
    for i, (sentence, scores) in enumerate(zip(sentences, parser.parse(sentences, return_scores=True), strict=True)):
        own = [tag for _, tag in sentence.pos()] if tags is None else list(tags[i])
        root = bool(getattr(decoder, "force_root_constituent", True))
        charts.append(SpanChart(scores, labels=labels, words=list(sentence.words), tags=own, null=0, root=root, **options))
    return charts


def supar_charts(
    s_span: Array,
    s_label: Array,
    lengths: Array,
    labels: Sequence[str],
    *,
    words: Sequence[Sequence[str]] | None = None,
    tags: Sequence[Sequence[str]] | None = None,
) -> list[SpanChart]:
    """The charts of a batch under supar's ``CRFConstituencyModel``: its scores of spans (B, n+1, n+1) and of labels
    (B, n+1, n+1, labels) by fenceposts, the lengths (in words), and the labels' names (``parser.CHART.vocab.itos``).

    supar's trees are binary: a span's label is drawn by itself, and labels that end in ``|<>`` were made by binarisation. So the
    charts are posteriors of its own distribution, with those labels null.
    """
    from treegauge.parsing import SpanChart

    null = [X for X, name in enumerate(labels) if name.endswith("|<>")]
    if len(labels) != s_label.shape[-1]:
        raise UsageError(f"{len(labels)} names for {s_label.shape[-1]} labels")
    spans = as_numpy(SpanCRF(s_span[..., None], lengths, convention="fencepost").marginals)[..., 0].astype(np.float64)
    scores = as_numpy(s_label)[:, :-1, 1:].astype(np.float64)
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    shares /= shares.sum(-1, keepdims=True)
    charts: list[SpanChart] = []
    for i, n in enumerate(np.asarray(as_numpy(lengths)).tolist()):
        named: dict[str, Any] = {"words": None if words is None else words[i], "tags": None if tags is None else tags[i]}
        posterior = spans[i, :n, :n, None] * shares[i, :n, :n]
        charts.append(SpanChart(posterior, kind="posteriors", labels=list(labels), null=null or None, **named))
    return charts
