"""Traces are not words: a gold tree with them and a parse without them are over the same sentence."""

from __future__ import annotations

from treegauge.metrics.tokens import has_tag, without_tokens
from treegauge.normalise.preset import Preset
from treegauge.trees.treebank import Treebank

__all__ = ["without_traces"]


def without_traces(bank: Treebank, preset: Preset) -> Treebank:
    """The treebank without the tokens that a preset leaves out of both scoring and length (``-NONE-``).

    Each side's own tags decide, as no parser tags a word so. The nodes stay; those left without words span nothing.

    >>> from treegauge.normalise.preset import load_preset
    >>> bank = Treebank.parse("(S (NP (-NONE- *)) (VP (V go) (. .)))")
    >>> without_traces(bank, load_preset("collins")).words(0)
    ['go', '.']
    """
    traces = preset.delete_tags & preset.delete_tags_for_length
    return without_tokens(bank, has_tag(bank, traces)) if not traces.isdisjoint(bank.labels) else bank
