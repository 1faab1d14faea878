"""The paper's preprocessing, each step of which can be left out: punctuation, empty, double and one-word brackets.

The first two steps happen where trees become brackets, so they are settings of the preset; the last two happen here. A double
bracket is one with the span of its parent: the chain becomes one bracket that keeps all its labels.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import UnknownName
from treegauge.metrics.brackets import Brackets, nearest_kept
from treegauge.normalise.preset import Preset
from treegauge.trees.treebank import Int64

__all__ = ["STEPS", "Prepared", "check_steps", "preprocess", "preset_keeping"]

STEPS = ("punctuation", "empty", "double", "one-word")
"""What is dropped from both trees, in this order."""

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Prepared:
    """Brackets after preprocessing, and for each bracket before it the row it became part of (-1: dropped)."""

    brackets: Brackets
    before: Brackets
    became: Int64

    def labelled(self, labels: Collection[str]) -> Mask:
        """Which brackets have, somewhere in their chain, one of the labels; all of them if none is given."""
        if not labels:
            return np.ones(self.brackets.n_brackets, dtype=np.bool_)
        wanted = np.array([label in labels for label in self.before.labels], dtype=np.bool_)[self.before.label]
        mask = np.zeros(self.brackets.n_brackets, dtype=np.bool_)
        mask[self.became[wanted & (self.became >= 0)]] = True
        return mask

    def chains(self, rows: Collection[int]) -> dict[int, str]:
        """For each row the labels of its chain from the top, joined by ``+``."""
        chosen = set(rows)
        labels: dict[int, list[str]] = {}
        numbers: list[int] = self.before.label.tolist()
        for label, row in zip(numbers, self.became.tolist(), strict=True):
            if row in chosen:
                labels.setdefault(row, []).append(self.before.labels[label])
        return {row: "+".join(chain) for row, chain in labels.items()}


def check_steps(keep: Collection[str]) -> None:
    """Refuse a step that the paper does not have."""
    for step in keep:
        if step not in STEPS:
            raise UnknownName("preprocessing step", step, STEPS)


def preset_keeping(preset: Preset, keep: Collection[str]) -> Preset:
    """The preset with the first two steps left out as asked."""
    if "punctuation" in keep:
        preset = replace(preset, delete_tags=frozenset())
    if "empty" in keep:
        preset = replace(preset, empty_brackets=True)
    return preset


def preprocess(brackets: Brackets, keep: Collection[str] = ()) -> Prepared:
    """Brackets without empty, double and one-word ones, except the kinds in ``keep``."""
    now = brackets
    became: Int64 = np.arange(brackets.n_brackets)
    for step, dropped_by, chain in (("empty", _empty, False), ("double", _double, True), ("one-word", _one_word, False)):
        if step in keep:
            continue
        stays = ~dropped_by(now)
        row = np.append(np.cumsum(stays) - 1, -1)
        goes_to = nearest_kept(now.parent, stays)[:-1] if chain else np.where(stays, np.arange(len(stays)), -1)
        became = np.append(row[goes_to], -1)[became]
        now = now.select(stays)
    return Prepared(now, brackets, became)


def _empty(brackets: Brackets) -> Mask:
    return brackets.start >= brackets.end


def _double(brackets: Brackets) -> Mask:
    """Brackets with the span of their parent."""
    parent = brackets.parent
    if not brackets.n_brackets:
        return np.zeros(0, dtype=np.bool_)
    same = (brackets.start == brackets.start[parent]) & (brackets.end == brackets.end[parent])
    return same & (parent >= 0)


def _one_word(brackets: Brackets) -> Mask:
    """Brackets around a single word of the gold tokenisation, or a part of one."""
    words_before = np.append(0, np.cumsum(brackets.counted))
    first = brackets.token_offset[:-1][brackets.sentence]
    words = words_before[first + brackets.end] - words_before[first + brackets.start]
    return (words <= 1) & (brackets.start < brackets.end)
