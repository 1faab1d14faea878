"""The trees behind a result: its files read again, and its pair of brackets made again, for whoever shows single brackets."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import fields

from treegauge import io
from treegauge.alignment.alignment import align_pairs
from treegauge.alignment.pairing import Pair, pair_of
from treegauge.alignment.words import WordNumbers, without_traces
from treegauge.errors import MismatchError, UsageError
from treegauge.io.sources import ReadOptions
from treegauge.scoring.evaluation import score
from treegauge.scoring.result import Result
from treegauge.trees.treebank import Treebank

__all__ = ["pair_behind", "rescore"]


def rescore(result: Result) -> Result:
    """The result with its trees; if it was read back, they are read from the files it names, and must be the same."""
    if result.trees is not None:
        return result
    inputs = result.inputs
    if inputs is None:
        raise UsageError(f"{result.system}: these scores are of trees in memory, which cannot be read again; give the trees")
    for path in (*inputs.gold, *inputs.test):
        if not os.path.exists(path):
            raise UsageError(f"{path} is not there, but the scores of {result.system} are of its trees")
    reading = ReadOptions(**{item.name: inputs.reading[item.name] for item in fields(ReadOptions) if item.name in inputs.reading})
    signature = result.signature
    again = score(
        _trees(inputs.gold, reading.of_gold),
        {result.system: _trees(inputs.test, reading)},
        result.metric,
        signature.preset,
        on_mismatch=signature.on_mismatch,
        ignore_words=signature.ignore_words,
        reading=reading,
        on_error=reading.on_error,
        pair="text",
    )[0]
    for side, path, before, now in (
        ("gold", inputs.gold[0], signature.gold, again.signature.gold),
        ("test", inputs.test[0], signature.test, again.signature.test),
    ):
        if before != now:
            raise MismatchError(f"{path} has changed since it was scored: the hash of the {side} trees was {before} and is {now}")
    return again


def _trees(paths: Sequence[str], reading: ReadOptions) -> str | Treebank:
    """One file by its name, so that it is read as it was then; several as one treebank."""
    return paths[0] if len(paths) == 1 else Treebank.concatenate([io.read(path, reading) for path in paths])


def pair_behind(result: Result) -> Pair:
    """The brackets that a result was counted from, all sentences in one pair."""
    trees, signature = result.scored_trees, result.signature
    preset = signature.preset
    gold, test = (without_traces(Treebank.concatenate(list(blocks)), preset) for blocks in (trees.gold, trees.test))
    words = WordNumbers(preset)
    alignment = align_pairs(gold, test, trees.partner, preset, words, ignore_words=signature.ignore_words)
    return pair_of(gold, test, alignment, preset, words, on_mismatch="skip" if signature.on_mismatch == "skip" else "align")
