"""Traces are not words: a gold tree with them and a parse without them are over the same sentence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from treegauge.metrics.brackets import sum_within
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
    is_trace = np.array([label in traces for label in bank.labels] + [False], dtype=np.bool_)[bank.tag]
    if not is_trace.any():
        return bank
    kept = np.flatnonzero(~is_trace)
    position = np.append(0, np.cumsum(~is_trace))
    first_token = np.repeat(bank.token_offset[:-1], np.diff(bank.node_offset))
    return replace(
        bank,
        start=(position[first_token + bank.start] - position[first_token]).astype(np.int32),
        end=(position[first_token + bank.end] - position[first_token]).astype(np.int32),
        word=bank.word[kept],
        tag=bank.tag[kept],
        above=bank.above[kept],
        token_offset=np.append(0, np.cumsum(sum_within(~is_trace, bank.token_offset))),
    )
