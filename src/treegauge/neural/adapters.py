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
    """The charts of sentences (benepar's own ``InputSentence`` or whatever its ``parse`` takes) under a benepar ``ChartParser``
    (``benepar.Parser(name)._parser`` of its NLTK interface).

    Label 0 means "no constituent", chains are joined by ``::``, the root is a constituent if the parser was trained so. Tags are
    those given, else those that the parser predicts, else those of the sentences. Trees have no node TOP, which benepar adds to
    its own. Options are those of :class:`~treegauge.parsing.SpanChart`.
    """
    from treegauge.parsing import SpanChart

    decoder = parser.decoder
    labels = [decoder.label_from_index[i] for i in range(len(decoder.label_from_index))]
    root = bool(getattr(decoder, "force_root_constituent", True))
    if tags is None:
        tags = _benepar_tags(parser, sentences)
    charts: list[SpanChart] = []
    for sentence, own, scores in zip(sentences, tags, parser.parse(sentences, return_scores=True), strict=True):
        words = [leaf for leaf, _ in sentence.pos()]
        charts.append(SpanChart(scores, labels=labels, words=words, tags=list(own), null=0, root=root, **options))
    return charts


def _benepar_tags(parser: Any, sentences: Sequence[Any]) -> list[list[str]]:
    """The tags that benepar's own trees would have."""
    if getattr(parser, "f_tag", None) is None:
        return [[tag for _, tag in sentence.pos()] for sentence in sentences]
    found = parser.parse(sentences, return_compressed=True)
    return [[parser.tag_from_index[int(tag)] for tag in output.tags] for output in found]


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
