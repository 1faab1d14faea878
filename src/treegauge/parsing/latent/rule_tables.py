"""Tables of a latent-variable model for parsing, made once: the base rules in the chart's order, the levels, and the labels that
show."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treegauge.grammar.latent.grammar import Level
from treegauge.grammar.latent.model import LatentModel
from treegauge.grammar.latent.rows import offsets
from treegauge.grammar.latent.symbols import INNER, PHRASE, BaseGrammar, Int64
from treegauge.parsing.jit import Ints
from treegauge.parsing.latent.base_chart import BaseRules

__all__ = ["Labels", "Tables", "model_tables"]


class Labels(NamedTuple):
    """For each symbol the number of the label or the tag that it shows as (-1: none); the labels in the middle of unary rule u are
    ``middle[middle_first[u]:middle_first[u+1]]``; ``same[T]`` is the label with the name of tag T (-1: none). ``n_labels`` is 1
    at least."""

    label: Ints
    tag: Ints
    middle_first: Ints
    middle: Ints
    same: Ints
    n_labels: int
    n_tags: int


class Tables(NamedTuple):
    """A model ready for parsing; ``paths`` has for each grammar its levels and the maps between them."""

    rules: BaseRules
    labels: Labels
    paths: tuple[tuple[tuple[Level, ...], tuple[Int64, ...]], ...]


def model_tables(model: LatentModel) -> Tables:
    """The tables of a model, kept with it."""
    if "tables" not in model.derived:
        paths = tuple(model.path(grammar) for grammar in range(len(model.grammars)))
        model.derived["tables"] = Tables(_base_rules(model.base, model.base_level), _labels(model.base), paths)
    return model.derived["tables"]


def _base_rules(base: BaseGrammar, level: Level) -> BaseRules:
    parent, left, right = base.binary.T
    is_tag = base.is_tag
    pairs, pair = np.unique(left.astype(np.int64) * base.size + right, return_inverse=True)
    pair_left, pair_right = pairs // base.size, pairs % base.size
    phrases = int((base.kind == PHRASE).sum())
    tags = phrases + int((base.kind == INNER).sum())
    by_pair = np.argsort(pair, kind="stable")
    by_parent = np.argsort(parent, kind="stable")
    unary_by_parent = np.argsort(base.unary[:, 0], kind="stable")
    symbols = np.arange(base.size + 1)
    return BaseRules(
        phrases=phrases,
        tags=tags,
        is_tag=is_tag,
        is_inner=base.is_inner,
        parent=parent.astype(np.int32),
        pair=pair.astype(np.int32),
        weight=level.binary.value.astype(np.float64),
        pair_left=pair_left.astype(np.int32),
        pair_right=pair_right.astype(np.int32),
        pair_first=np.searchsorted(pair_left, symbols).astype(np.int64),
        pair_tags=np.searchsorted(pairs, symbols[:-1] * base.size + tags).astype(np.int64),
        by_pair=by_pair.astype(np.int32),
        pair_rules=np.searchsorted(pair[by_pair], np.arange(len(pairs) + 1)).astype(np.int64),
        by_parent=by_parent.astype(np.int32),
        parent_first=np.searchsorted(parent[by_parent], symbols).astype(np.int64),
        unary_parent=base.unary[:, 0].astype(np.int32),
        unary_child=base.unary[:, 1].astype(np.int32),
        unary_weight=level.unary.value.astype(np.float64),
        unary_by_parent=unary_by_parent.astype(np.int32),
        unary_first=np.searchsorted(base.unary[unary_by_parent, 0], symbols).astype(np.int64),
        root=level.root.astype(np.float64),
    )


def _labels(base: BaseGrammar) -> Labels:
    label = {name: i for i, name in enumerate(base.labels)}
    tag = {name: i for i, name in enumerate(base.tags)}
    middles = [[label[name] for name in _between(base, int(A), int(B))] for A, B in base.unary]
    return Labels(
        np.array([label[n] if k == PHRASE else -1 for n, k in zip(base.names, base.kind.tolist(), strict=True)], np.int32),
        np.array([tag[n] if t else -1 for n, t in zip(base.names, base.is_tag.tolist(), strict=True)], np.int32),
        offsets(np.array([len(middle) for middle in middles], np.int64)),
        np.array([x for middle in middles for x in middle], np.int32),
        np.array([label.get(name, -1) for name in base.tags], np.int32),
        max(1, len(label)),
        len(tag),
    )


def _between(base: BaseGrammar, A: int, B: int) -> list[str]:
    """The labels in the middle of a chain, each once; a label that the ends of the chain have too is one constituent with them."""
    return [name for name in dict.fromkeys(base.middles.get((A, B), ())) if name not in (base.names[A], base.names[B])]
