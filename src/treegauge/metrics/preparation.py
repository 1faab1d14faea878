"""From two treebanks to two sets of Brackets over the same tokens: what every metric compares.

Deletion is decided by the gold tags, so a comma that the parser tagged as a noun cannot make a sentence incomparable.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import MismatchError
from treegauge.metrics.alignment import LEFT_OUT, MISSED, Alignment, Fit, align
from treegauge.metrics.brackets import Brackets, LabelNumbers
from treegauge.metrics.extraction import brackets_of, sentence_lengths
from treegauge.metrics.refinement import over_common_tokens
from treegauge.metrics.tokens import has_tag
from treegauge.metrics.traces import without_traces
from treegauge.metrics.words import WordNumbers
from treegauge.normalise.preset import Preset
from treegauge.trees.treebank import Int32, Int64, Treebank

__all__ = ["Pair", "pair_of", "prepare"]


@dataclass(frozen=True)
class Pair:
    """Gold and test as Brackets over the same tokens, sentence by sentence.

    ``index[i]`` is the gold sentence behind row ``i``: all of them, unless some were left out. ``classes`` numbers the
    labels so that those the preset takes as equal have one number; where it takes A as B and B as C, but not A as C, they are one
    class all the same, and ``equality`` is the exact table.
    """

    gold: Brackets
    test: Brackets
    index: Int64
    alignment: Alignment
    classes: Int32
    preset: Preset
    equality: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.gold)

    @property
    def matching_classes(self) -> Int32 | None:
        """What labels are matched by: None where the preset ignores labels."""
        return self.classes if self.preset.labelled else None

    def sentences(self, first: int, last: int) -> Pair:
        """The rows ``first:last`` alone."""
        return Pair(
            self.gold.sentences(first, last),
            self.test.sentences(first, last),
            self.index[first:last],
            self.alignment,
            self.classes,
            self.preset,
            self.equality,
        )


def prepare(gold: Treebank, test: Treebank, preset: Preset, *, on_mismatch: str = "align", ignore_words: bool = False) -> Pair:
    """Align two treebanks and reduce them to what counts.

    ``on_mismatch``: ``align`` counts the gold brackets of a sentence that does not fit as missed, ``skip`` leaves it out,
    ``error`` raises :class:`~treegauge.errors.MismatchError`.
    """
    gold, test = without_traces(gold, preset), without_traces(test, preset)
    words = WordNumbers(preset)
    alignment = align(gold, test, preset, words, ignore_words=ignore_words)
    return pair_of(gold, test, alignment, preset, words, on_mismatch=on_mismatch)


def pair_of(
    gold: Treebank,
    test: Treebank,
    alignment: Alignment,
    preset: Preset,
    words: WordNumbers | None = None,
    *,
    on_mismatch: str = "align",
) -> Pair:
    """What counts of two treebanks without traces that are aligned already."""
    if on_mismatch == "error" and alignment.notes:
        raise MismatchError(_refusal(alignment))
    common = over_common_tokens(gold, test, alignment)
    numbers = LabelNumbers()
    keep = ~has_tag(common.gold, preset.delete_tags)
    words = words or WordNumbers(preset)
    gold_words, test_words = words.of(common.gold.vocabulary), words.of(common.test.vocabulary)
    length = sentence_lengths(gold, preset)
    gold_brackets = brackets_of(common.gold, preset, keep, numbers, gold_words, length=length, counted=common.counted)
    test_brackets = brackets_of(
        common.test,
        preset,
        keep,
        numbers,
        test_words,
        length=length,
        counted=common.counted,
        tags_comparable=common.tags_comparable,
        keep_sentence=common.has_test,
    )
    gold_brackets = replace(gold_brackets, labels=numbers.strings)
    test_brackets = replace(test_brackets, labels=numbers.strings)
    stays = np.ones(len(gold), dtype=np.bool_)
    if on_mismatch == "skip":
        stays &= alignment.fit < Fit.TEXT_DIFFERS
        notes = [replace(note, consequence=LEFT_OUT) if note.consequence == MISSED else note for note in alignment.notes]
        alignment = replace(alignment, notes=tuple(notes))
    if not preset.empty_gold:
        stays &= gold_brackets.counts > 0
    index = np.flatnonzero(stays)
    if len(index) < len(gold):
        gold_brackets, test_brackets = gold_brackets.take(index), test_brackets.take(index)
    classes, equality = numbers.classes(preset.equal_labels), numbers.equality(preset.equal_labels)
    return Pair(gold_brackets, test_brackets, index, alignment, classes, preset, equality)


def _refusal(alignment: Alignment) -> str:
    more = len(alignment.notes) - 1
    first = alignment.notes[0]
    return f"gold and test do not fit: {first.place}: {first.what}" + (f"\n  and {more} more such" if more else "")
