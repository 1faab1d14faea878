"""From two treebanks to a :class:`Pair`: their brackets over the same tokens, which every metric compares.

Test sentences are put in gold order. Where the two sides are tokenised differently, tokens are cut at the boundaries of both: if
one side has ``can not`` and the other ``cannot``, both get the tokens ``can`` and ``not``, but the second piece of a gold token
does not count as a word of its own.

Where words were aligned by edit distance, both sides are over common tokens, too: in each sentence the shared tokens come first,
then those of gold alone, then those of test alone. A bracket covers its shared tokens. A bracket that has none is placed over its
own tokens after the shared ones, where no bracket of the other side can match it; so it counts as missed in gold, and against
precision in test.

The gold tags decide which tokens are deleted, so a comma that the parser tagged as a noun cannot make a sentence incomparable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from treegauge.alignment.alignment import Alignment, Fit, align
from treegauge.alignment.brackets import (
    Brackets,
    LabelNumbers,
    brackets_of,
    nearest_kept,
    sentence_lengths,
    sum_within,
    with_gap_numbers,
)
from treegauge.alignment.notes import LEFT_OUT, MISSED
from treegauge.alignment.words import WordNumbers, is_deleted, matched_word, without_tokens, without_traces
from treegauge.errors import Discontinuous, MismatchError
from treegauge.presets import Preset
from treegauge.tables import concise
from treegauge.trees.columns import Blocks
from treegauge.trees.treebank import Int32, Int64, Mask, Origin, Treebank, place_of

KindT = TypeVar("KindT", bound=np.generic)


class Common(NamedTuple):
    """Gold and test trees over the same tokens, and masks of the tokens and sentences; None stands for "all".

    ``counted`` marks the tokens that are a gold token or the first piece of one, ``tags_comparable`` those that are a whole token
    on both sides. Where no test sentence matches, the gold sentence takes its place; its nodes must not count, and ``has_test`` is
    False.
    """

    gold: Treebank
    test: Treebank
    counted: Mask | None = None
    tags_comparable: Mask | None = None
    has_test: Mask | None = None


def over_common_tokens(gold: Treebank, test: Treebank, alignment: Alignment, match_words: str = "exact") -> Common:
    """Both treebanks over common tokens; unchanged if all sentences match token by token.

    Sentences whose words were aligned by edit distance keep their own tokens on each side.
    """
    if alignment.gold_aside is not None and alignment.test_aside is not None:
        gold, test = without_tokens(gold, alignment.gold_aside), without_tokens(test, alignment.test_aside)
    if alignment.is_identity:
        return Common(gold, test[: len(gold)] if len(test) > len(gold) else test)
    has_test = alignment.fit <= Fit.CHARACTERS
    has_test[list(alignment.shared)] = True
    test = _in_gold_order(gold, test, alignment.test, has_test)
    counted, comparable = None, np.repeat(has_test, np.diff(gold.token_offset))
    recut = np.flatnonzero(alignment.fit == Fit.CHARACTERS).tolist()
    if recut:
        pieces = {sentence: _CommonTokens(gold.words(sentence), test.words(sentence), match_words) for sentence in recut}
        gold, token = _recut(gold, {sentence: cut.gold for sentence, cut in pieces.items()})
        counted = np.diff(token, prepend=-1) > 0
        test, _ = _recut(test, {sentence: cut.test for sentence, cut in pieces.items()})
        comparable = np.repeat(has_test, np.diff(gold.token_offset))
        for sentence, cut in pieces.items():
            comparable[gold.token_offset[sentence] : gold.token_offset[sentence + 1]] = cut.same_extent
    return Common(gold, test, counted, comparable, has_test)


def _in_gold_order(gold: Treebank, test: Treebank, partner: Int64, has_test: Mask) -> Treebank:
    """The test sentences in gold order, with the gold sentence itself where no test sentence matches."""
    if bool(has_test.all()):
        return test.take(partner)
    both = Treebank.concatenate([test, gold])
    return both.take(np.where(has_test, partner, len(test) + np.arange(len(gold))))


class _CommonTokens:
    """The tokens of two tokenisations of the same characters, cut at the boundaries of both.

    Common token ``k`` is a piece of gold token ``gold[k]`` and of test token ``test[k]``; ``same_extent`` marks those for which
    these two have the same characters.
    """

    def __init__(self, gold: list[str], test: list[str], match_words: str) -> None:
        gold_edges, test_edges = _edges(gold, match_words), _edges(test, match_words)
        starts = np.union1d(gold_edges, test_edges)[:-1]
        self.gold = np.searchsorted(gold_edges, starts, side="right") - 1
        self.test = np.searchsorted(test_edges, starts, side="right") - 1
        same_start = gold_edges[self.gold] == test_edges[self.test]
        self.same_extent = same_start & (gold_edges[self.gold + 1] == test_edges[self.test + 1])


def _edges(words: list[str], match_words: str) -> Int64:
    form = "exact" if match_words == "length" else match_words
    return np.cumsum([0] + [len(matched_word(word, form)) for word in words])


def _recut(bank: Treebank, pieces: dict[int, Int64]) -> tuple[Treebank, Int64]:
    """The treebank with the tokens of some sentences cut into pieces, and for each piece the token it is cut from.

    Each piece keeps the tag and the parent of its token.
    """
    n_pieces = np.ones(bank.n_tokens, dtype=np.int64)
    for sentence, tokens in pieces.items():
        first, last = int(bank.token_offset[sentence]), int(bank.token_offset[sentence + 1])
        n_pieces[first:last] = np.bincount(tokens, minlength=last - first)
    token = np.repeat(np.arange(bank.n_tokens), n_pieces)
    return bank.over_tokens(token, np.searchsorted(token, np.arange(bank.n_tokens + 1))), token


@concise
@dataclass(frozen=True, eq=False)
class Pair:
    """Gold and test as Brackets over the same tokens, sentence by sentence.

    ``index[i]`` is the number of the gold sentence in row ``i``; there is a row for each, unless some were left out. ``classes``
    gives labels that the preset treats as equal the same number. If the preset equates A with B and B with C, but not A with C, all
    three are one class nevertheless, and ``equality`` is the exact table. ``origins`` tell where the gold sentences, and the test
    sentences in gold order, were read. ``first`` is the number of gold sentences before these, if the pair is a block of a
    treebank.
    """

    gold: Brackets
    test: Brackets
    index: Int64
    alignment: Alignment
    classes: Int32
    preset: Preset
    equality: Mask | None = None
    origins: tuple[Sequence[Origin], Sequence[Origin]] = ((), ())
    first: int = 0

    def __len__(self) -> int:
        return len(self.gold)

    def only(self, sentences: Int64) -> Pair:
        """The pair reduced to some gold sentences; those without a row are left out."""
        rows = np.flatnonzero(np.isin(self.index, sentences))
        if len(rows) == len(self.index):
            return self
        return replace(self, gold=self.gold.take(rows), test=self.test.take(rows), index=self.index[rows])

    @property
    def is_continuous(self) -> bool:
        """Whether no bracket that counts has a gap, on either side."""
        return self.gold.blocks is None and self.test.blocks is None

    def require_continuous(self, purpose: str) -> None:
        """Refuse brackets with gaps; ``purpose`` begins the message, such as ``"FREVAL counts fragments of continuous trees"``."""
        for side, brackets in (("gold", self.gold), ("test", self.test)):
            if brackets.blocks is not None:
                row = int(brackets.blocks.row[0])
                label = brackets.labels[int(brackets.label[row])] or "a node"
                raise Discontinuous(
                    f"{purpose}, but {label} has a gap",
                    path=self.place(int(brackets.sentence[row]), side),
                    advice="Make the trees continuous first, with the normalisation step continuous:raise (or continuous:split).",
                )

    def place(self, row: int, side: str = "gold") -> str:
        """The place of the gold or test tree of a row: its file and line, or its number."""
        place = place_of(self.origins[side == "test"], int(self.index[row]))
        return f"{side} {place}" if place.startswith("tree ") else place

    @property
    def matching_classes(self) -> Int32 | None:
        """The class of each label for matching; None if the preset ignores labels."""
        return self.classes if self.preset.labelled else None

    @property
    def has_parse(self) -> Mask:
        """For each row, whether there is a parse over the words of the gold sentence."""
        return self.alignment.fit[self.index] <= Fit.EDITED

    @property
    def is_edited(self) -> Mask:
        """For each row, whether the words of gold and test differ and were aligned by edit distance."""
        edited = np.zeros(len(self.alignment.fit), dtype=np.bool_)
        edited[list(self.alignment.shared)] = True
        return edited[self.index]


def pair(gold: Treebank, test: Treebank, preset: Preset, *, on_mismatch: str = "align", match_words: str = "exact") -> Pair:
    """Align two treebanks and extract the brackets that a preset counts.

    ``on_mismatch``: ``align`` counts the gold brackets of a sentence that does not match as missed, ``skip`` leaves the sentence
    out, ``edit`` aligns its words by edit distance, and ``error`` raises :class:`~treegauge.errors.MismatchError`. ``match_words``
    is one of :data:`treegauge.alignment.words.MATCH_WORDS`.
    """
    words = WordNumbers(preset, match_words)
    alignment = align(gold, test, preset, words, edit=on_mismatch == "edit")
    gold, test = without_traces(gold, preset), without_traces(test, preset)
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
    """The pair of two treebanks without traces that are already aligned."""
    if on_mismatch == "error" and alignment.notes:
        raise MismatchError(_refusal(alignment))
    words = words or WordNumbers(preset)
    common = over_common_tokens(gold, test, alignment, words.match_words)
    numbers = LabelNumbers(preset.equal_labels)
    keep = ~is_deleted(common.gold, preset)
    gold_words, test_words = words.of(common.gold.vocabulary), words.of(common.test.vocabulary)
    length = sentence_lengths(gold, preset)
    gold_brackets = brackets_of(common.gold, preset, keep, numbers, gold_words, length=length, counted=common.counted)
    of_test = _TestTokens(common, alignment, preset, keep)
    test_brackets = brackets_of(
        common.test,
        preset,
        of_test.keep,
        numbers,
        test_words,
        length=length,
        counted=of_test.counted,
        tags_comparable=of_test.tags_comparable,
        keep_sentence=common.has_test,
    )
    if of_test.gold_shared is not None and of_test.test_shared is not None:
        gold_shared, test_shared = of_test.gold_shared[keep], of_test.test_shared[of_test.keep]
        gold_brackets, test_brackets = over_shared_tokens(gold_brackets, test_brackets, gold_shared, test_shared)
    if words.match_words != "exact":
        same = slice(None) if test_brackets.shared is None else test_brackets.shared
        word = test_brackets.word.copy()
        word[same] = gold_brackets.word[same]  # matched words are the same word, whatever their form
        test_brackets = replace(test_brackets, word=word)
    gold_brackets = replace(gold_brackets, labels=numbers.strings)
    test_brackets = replace(test_brackets, labels=numbers.strings)
    if gold_brackets.blocks is not None or test_brackets.blocks is not None:
        gold_brackets, test_brackets = with_gap_numbers(gold_brackets, test_brackets)
    stays = np.ones(len(gold), dtype=np.bool_)
    if on_mismatch == "skip":
        stays &= alignment.fit < Fit.TEXT_DIFFERS
        notes = [note._replace(consequence=LEFT_OUT) if note.consequence == MISSED else note for note in alignment.notes]
        alignment = alignment._replace(notes=tuple(notes))
    if not preset.empty_gold:
        stays &= gold_brackets.counts > 0
    index = np.flatnonzero(stays)
    if len(index) < len(gold):
        gold_brackets, test_brackets = gold_brackets.take(index), test_brackets.take(index)
    classes, equality = numbers.classes(preset.equal_labels), numbers.equality(preset.equal_labels)
    origins = common.gold.origins, common.test.origins
    return Pair(gold_brackets, test_brackets, index, alignment, classes, preset, equality, origins)


class _TestTokens:
    """Properties of the test tokens: those of the gold tokens, except in sentences aligned by edit distance.

    There each test token has the properties of the gold token it is aligned with; if it has none, its own tag decides whether it is
    kept. ``gold_shared`` and ``test_shared`` mark the tokens that both sides have (None: all).
    """

    def __init__(self, common: Common, alignment: Alignment, preset: Preset, keep: Mask) -> None:
        self.keep, self.counted, self.tags_comparable = keep, common.counted, common.tags_comparable
        self.gold_shared: Mask | None = None
        self.test_shared: Mask | None = None
        if not alignment.shared:
            return
        partner = _gold_tokens(common.gold, common.test, alignment)
        self.test_shared = partner >= 0
        self.gold_shared = np.zeros(common.gold.n_tokens, dtype=np.bool_)
        self.gold_shared[partner[self.test_shared]] = True
        self.keep = np.where(self.test_shared, np.append(keep, False)[partner], ~is_deleted(common.test, preset))
        if common.counted is not None:
            self.counted = np.append(common.counted, True)[partner]
        if common.tags_comparable is not None:
            self.tags_comparable = np.append(common.tags_comparable, True)[partner]


def _gold_tokens(gold: Treebank, test: Treebank, alignment: Alignment) -> Int64:
    """For each test token the gold token it is aligned with, or -1."""
    n_test = np.diff(test.token_offset)
    partner = np.repeat(gold.token_offset[:-1] - test.token_offset[:-1], n_test) + np.arange(test.n_tokens)
    for sentence, (ours, theirs) in alignment.shared.items():
        first = int(test.token_offset[sentence])
        partner[first : int(test.token_offset[sentence + 1])] = -1
        partner[first + theirs] = gold.token_offset[sentence] + ours
    return partner


def _refusal(alignment: Alignment) -> str:
    more = len(alignment.notes) - 1
    first = alignment.notes[0]
    return f"gold and test do not match: {first.place}: {first.what}" + (f"\n  and {more} more" if more else "")


def over_shared_tokens(gold: Brackets, test: Brackets, gold_shared: Mask, test_shared: Mask) -> tuple[Brackets, Brackets]:
    """Both sides over common tokens; the masks mark, among the own tokens of each side, those that the other side has too."""
    n_shared = sum_within(gold_shared, gold.token_offset)
    only_gold, only_test = sum_within(~gold_shared, gold.token_offset), sum_within(~test_shared, test.token_offset)
    offset = np.append(0, np.cumsum(n_shared + only_gold + only_test))
    return (
        _over_common(gold, gold_shared, n_shared, n_shared, offset),
        _over_common(test, test_shared, n_shared, n_shared + only_gold, offset),
    )


def _over_common(side: Brackets, shared: Mask, n_shared: Int64, first_own: Int64, offset: Int64) -> Brackets:
    """One side over common tokens; in each sentence, the tokens that only this side has begin at ``first_own``."""
    shared_before, own_before = (np.append(0, np.cumsum(mask)) for mask in (shared, ~shared))
    first_token = side.token_offset[:-1]
    start, end, blocks = _over_subset(side, first_token, shared_before)
    own_start, own_end, own_blocks = _over_subset(side, first_token, own_before)
    is_empty = side.start == side.end
    filled_above = nearest_kept(side.parent, ~is_empty)[side.parent]
    apart = (start == end) & ~is_empty
    apart |= is_empty & np.append(apart, False)[filled_above]
    shift = first_own[side.sentence].astype(np.int32)
    rows = [] if blocks is None else [(blocks, ~apart, np.zeros_like(shift))]
    rows += [] if own_blocks is None else [(own_blocks, apart, shift)]

    sentence = np.repeat(np.arange(len(side)), np.diff(side.token_offset))
    rank = np.where(shared, shared_before[:-1], own_before[:-1])
    rank -= np.where(shared, shared_before[first_token][sentence], own_before[first_token][sentence])
    place = offset[sentence] + rank + np.where(shared, 0, first_own[sentence])
    is_shared = np.zeros(int(offset[-1]), dtype=np.bool_)
    position = np.arange(len(is_shared)) - np.repeat(offset[:-1], np.diff(offset))
    is_shared[position < np.repeat(n_shared, np.diff(offset))] = True
    return replace(
        side,
        start=np.where(apart, own_start + shift, start).astype(np.int32),
        end=np.where(apart, own_end + shift, end).astype(np.int32),
        tag=_scatter(side.tag, place, len(is_shared), -1),
        word=_scatter(side.word, place, len(is_shared), -1),
        above=_scatter(side.above, place, len(is_shared), -1),
        counted=_scatter(side.counted, place, len(is_shared), False),
        token_offset=offset,
        blocks=_join_blocks(rows),
        shared=is_shared,
        own_width=side.width,
    )


def _over_subset(side: Brackets, first_token: Int64, before: Int64) -> tuple[Int32, Int32, Blocks | None]:
    """Start, end and blocks of all brackets over a subset of the tokens, of which ``before[i]`` come before token ``i``."""
    first = first_token[side.sentence]
    start = (before[first + side.start] - before[first]).astype(np.int32)
    end = (before[first + side.end] - before[first]).astype(np.int32)
    if side.blocks is None:
        return start, end, None
    moved = side.blocks.over(first[side.blocks.row], before)
    start[moved.row], end[moved.row] = moved.start, moved.end
    return start, end, moved.blocks


def _join_blocks(parts: list[tuple[Blocks, Mask, Int32]]) -> Blocks | None:
    """The blocks of several sources in the order of rows; from each source the rows that its mask marks, shifted."""
    chosen = [
        Blocks(blocks.row[of], blocks.start[of] + shift[blocks.row[of]], blocks.end[of] + shift[blocks.row[of]])
        for blocks, mask, shift in parts
        for of in [np.flatnonzero(mask[blocks.row])]
    ]
    rows = np.concatenate([blocks.row for blocks in chosen]) if chosen else np.zeros(0, dtype=np.int64)
    if not len(rows):
        return None
    order = np.argsort(rows, kind="stable")
    start, end = (np.concatenate([getattr(blocks, name) for blocks in chosen])[order] for name in ("start", "end"))
    return Blocks(rows[order], start.astype(np.int32), end.astype(np.int32))


def _scatter(values: NDArray[KindT], place: Int64, size: int, rest: int | bool) -> NDArray[KindT]:
    """An array with the values at the given places and ``rest`` everywhere else."""
    everywhere = np.full(size, rest, dtype=values.dtype)
    everywhere[place] = values
    return everywhere
