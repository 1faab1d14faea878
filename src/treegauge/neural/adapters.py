"""Span charts from the scores of other parsers: benepar and supar."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from treegauge.errors import UsageError
from treegauge.neural.backend import Array, as_numpy
from treegauge.neural.span_crf import SpanCRF, check_batch_size
from treegauge.tables import number_of

if TYPE_CHECKING:
    from treegauge.parsing import SpanChart


def benepar_charts(
    parser: Any, sentences: Sequence[Any], *, tags: Sequence[Sequence[str]] | None = None, **options: Any
) -> list[SpanChart]:
    """The charts of sentences scored by a ``benepar.Parser``. A sentence is a list of words, or benepar's ``InputSentence``, whose
    missing fields the parser fills.

    A ``ChartParser`` of benepar works too if input sentences have all fields. Label 0 means "no constituent", the labels of chains
    are joined by ``::``, and the root is a constituent if the parser was trained that way. Tags are those of the argument ``tags``,
    or else those of sentences given to a ``benepar.Parser``, or those that the parser predicts, or those of the sentences. Trees do
    not have the node TOP that benepar adds to its own. Options are those of :class:`~treegauge.parsing.SpanChart`.
    """
    from treegauge.parsing import SpanChart

    model = getattr(parser, "_parser", parser)
    if not hasattr(model, "decoder"):
        raise UsageError(f"{type(parser).__name__} is not a benepar parser; give benepar.Parser(NAME)")
    given = _benepar_inputs(parser, sentences)
    labels = [model.decoder.label_from_index[i] for i in range(len(model.decoder.label_from_index))]
    root = bool(getattr(model.decoder, "force_root_constituent", True))
    own = _benepar_tags(model, given, keep_given=parser is not model) if tags is None else tags
    check_batch_size("tags", own, len(given))
    charts: list[SpanChart] = []
    for sentence, its_tags, scores in zip(given, own, model.parse(given, return_scores=True) if given else [], strict=True):
        words = [leaf for leaf, _ in sentence.pos()]
        charts.append(SpanChart(scores, labels=labels, words=words, tags=list(its_tags), null=0, root=root, **options))
    return charts


def _benepar_inputs(parser: Any, sentences: Sequence[Any]) -> list[Any]:
    """The sentences as benepar's input sentences with all fields."""
    fill = getattr(parser, "_with_missing_fields_filled", None)
    found: list[Any] = []
    for number, sentence in enumerate(sentences, 1):
        if fill is not None and isinstance(sentence, list | tuple):
            sentence = importlib.import_module("benepar").InputSentence(words=list(cast("Sequence[str]", sentence)))
        if isinstance(sentence, str | list | tuple):
            kind = (
                "words in a list" if fill is not None else "an input sentence of benepar; benepar.Parser(NAME) takes lists of words"
            )
            raise UsageError(f"sentence {number} must be {kind}")
        if fill is None and getattr(sentence, "escaped_words", True) is None:
            raise UsageError(f"sentence {number} has no escaped_words: give the whole benepar.Parser, which fills them")
        found.append(sentence if fill is None else fill(sentence))
    return found


def _benepar_tags(model: Any, sentences: Sequence[Any], *, keep_given: bool) -> list[list[str]]:
    """The tags that benepar's own trees would have; with ``keep_given``, those of the sentences that have tags."""
    if getattr(model, "f_tag", None) is None or not sentences:
        return [[tag for _, tag in sentence.pos()] for sentence in sentences]
    found = model.parse(sentences, return_compressed=True)
    predicted = [[model.tag_from_index[int(tag)] for tag in output.tags] for output in found]
    return [list(s.tags) if keep_given and s.tags is not None else own for s, own in zip(sentences, predicted, strict=True)]


def supar_charts(
    s_span: Array,
    s_label: Array,
    lengths: Array,
    labels: Sequence[str],
    *,
    words: Sequence[Sequence[str]] | None = None,
    tags: Sequence[Sequence[str]] | None = None,
) -> list[SpanChart]:
    """The charts of a batch scored by supar's ``CRFConstituencyModel``: its scores of spans (B, n+1, n+1) and of labels
    (B, n+1, n+1, labels) by fenceposts, the lengths in words, and the names of labels (``parser.CHART.vocab.itos``).

    supar's trees are binary, the labels of their spans are independent, and labels that end in ``|<>`` come from binarisation. The
    charts therefore hold the posteriors of supar's own distribution, with those labels as null labels.
    """
    from treegauge.parsing import SpanChart

    check_batch_size("words", words, len(s_label))
    check_batch_size("tags", tags, len(s_label))
    null = [X for X, name in enumerate(labels) if name.endswith("|<>")]
    if len(labels) != s_label.shape[-1]:
        raise UsageError(f"labels must have {number_of(s_label.shape[-1], 'name')}, not {len(labels)}")
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
