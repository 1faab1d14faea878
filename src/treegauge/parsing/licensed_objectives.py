"""Objectives that choose among the grammar's own parses: which parts count, and the best parse for them (Sima'an 2003)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from treegauge.grammar.pcfg import Rule
from treegauge.parsing.best import Best
from treegauge.parsing.licensed import Parts, best_licensed
from treegauge.parsing.rounds import licensed_steps

if TYPE_CHECKING:
    from treegauge.parsing.forest import Forest

__all__ = ["frames", "licensed_labelled_recall", "parent_child"]


def licensed_labelled_recall(forest: Forest, *, pre: bool = True) -> Best:
    """The parse with most right labelled constituents on average: M_LR (Sima'an 2003). Without ``pre`` preterminals
    do not count."""

    def number() -> Parts:
        ids = _Numbers()
        return _parts(forest, ids, node=[ids.of(key) for key in _label_keys(forest)], preterminals=pre)

    return _licensed(forest, ("nodes", pre), number)


def parent_child(forest: Forest, *, count: Literal["binary", "all"] = "binary") -> Best:
    """The parse with most right parent-child links on average: M_PCh (Sima'an 2003).

    A link is the parent's span and label, the child's index and label; words are no children. ``binary`` counts the
    links of productions with two children, ``all`` those of every production, as the metric PC does.
    """
    return _licensed(forest, ("links", count), lambda: _numbered_links(forest, count))


def _numbered_links(forest: Forest, count: str) -> Parts:
    ids, keys = _Numbers(), _keys_by_name(forest)
    rules: dict[int, list[int]] = {}
    alone: dict[int, int] = {}
    for source, rule in enumerate(forest.grammar.rules):
        children = [None if word else keys[x] for x, word in zip(rule.rhs, rule.words, strict=True)]
        if len(children) == 2 or (len(children) > 2 and count == "all"):
            links = [(keys[rule.lhs], i, child) for i, child in enumerate(children) if child is not None]
            rules[source] = [ids.of(link) for link in links]
        elif count == "all" and rule.is_unary:
            alone[source] = ids.of((keys[rule.lhs], "only", children[0]))
    return _parts(forest, ids, rules=rules, alone=alone)


def frames(forest: Forest, *, count: Literal["strict", "bin", "many", "all"] = "bin") -> Best:
    """The parse with most right productions on average, splits aside: M_CFP (Sima'an 2003).

    ``bin`` counts productions with two children, ``strict`` only those of them without words, ``many`` those with
    two or more children (as the metric CF does), ``all`` every production.
    """
    return _licensed(forest, ("frames", count), lambda: _numbered_frames(forest, count))


def _numbered_frames(forest: Forest, count: str) -> Parts:
    ids, keys = _Numbers(), _keys_by_name(forest)
    rules: dict[int, list[int]] = {}
    alone: dict[int, int] = {}
    for source, rule in enumerate(forest.grammar.rules):
        right = tuple((x, True) if word else (keys[x], False) for x, word in zip(rule.rhs, rule.words, strict=True))
        if len(right) > 1 and _counts(rule, count):
            rules[source] = [ids.of((keys[rule.lhs], right))]
        elif rule.is_unary and count == "all":
            alone[source] = ids.of((keys[rule.lhs], right))
    leaf = [ids.of((key, "word")) for key in _label_keys(forest)] if count == "all" else None
    return _parts(forest, ids, rules=rules, alone=alone, leaf=leaf)


def _counts(rule: Rule, count: str) -> bool:
    return count in ("many", "all") or (len(rule.rhs) == 2 and (count == "bin" or not any(rule.words)))


class _Numbers:
    """Parts and their numbers."""

    def __init__(self) -> None:
        self.ids: dict[object, int] = {}

    def of(self, part: object) -> int:
        return self.ids.setdefault(part, len(self.ids))


def _label_keys(forest: Forest) -> list[object]:
    """For each visible symbol what it counts as: its output label, or itself if it does not show."""
    symbols = forest.binary.symbols[: forest.binary.visible]
    return [(symbol,) if label is None else label for symbol, label in zip(symbols, forest.output_labels, strict=False)]


def _keys_by_name(forest: Forest) -> dict[str, object]:
    return dict(zip(forest.binary.symbols[: forest.binary.visible], _label_keys(forest), strict=True))


def _licensed(forest: Forest, key: tuple[object, ...], number: Callable[[], Parts]) -> Best:
    """The best parse where things count as numbered parts; the numbers are made once for a grammar."""
    derived = forest.binary.derived
    if ("parts", *key) not in derived:
        derived["parts", *key] = number()
    parts: Parts = derived["parts", *key]
    filled = forest.filled
    made = best_licensed(filled.mode, forest.n, filled.grid, forest.outer, parts)
    steps = licensed_steps(filled.mode, filled.grid, forest.outer, made, parts, filled.root, forest.n)
    return Best(forest.tree(steps), float(made.best[filled.root]))


def _parts(
    forest: Forest,
    ids: _Numbers,
    *,
    node: Sequence[int] | None = None,
    leaf: Sequence[int] | None = None,
    rules: dict[int, list[int]] | None = None,
    alone: dict[int, int] | None = None,
    preterminals: bool = True,
) -> Parts:
    """What nodes, leaves, rules of two or more children and unary rules count as, in the order of the binarised
    grammar."""
    binary, n_symbols = forest.binary, forest.binary.n_symbols
    by_rule = [(rules or {}).get(source, []) for source in binary.binary_source.tolist()]
    none = [-1] * n_symbols
    return Parts(
        size=len(ids.ids),
        node=np.array([*(node or none), *none][:n_symbols], np.int32),
        leaf=np.array([*(leaf or none), *none][:n_symbols], np.int32),
        unary=np.array([(alone or {}).get(source, -1) for source in binary.unary_source.tolist()], np.int32),
        binary_first=np.concatenate([[0], np.cumsum([len(p) for p in by_rule], dtype=np.int64)]).astype(np.int64),
        binary=np.array([part for p in by_rule for part in p], np.int32),
        preterminals=preterminals,
        cyclic=binary.cyclic,
    )
