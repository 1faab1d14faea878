"""The style of a treebank: applied to trees as they stand in its files, and recognised by the signs of its text.

The reader of bracketed text knows no treebank. What it has read is changed here, for all trees of a block at once: nodes that are
no part of the sentence go, punctuation gets its words, lemmas are parted from words, and traces get the tag ``-NONE-``, which
every preset and the step ``traces`` know.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from treegauge.io.bracketed_columns import Events, nesting_of, stable_order, tree_columns
from treegauge.io.label_parts import lemma_feature
from treegauge.io.secondary import with_features
from treegauge.io.sources import LeftOut, ReadOptions
from treegauge.presets.treebanks import NO_WORD, TreebankStyle
from treegauge.trees.columns import Bytes, Int32, Int64, Mask, offsets_of
from treegauge.trees.treebank import Treebank, pick_origins, text_order

_OPEN, _CLOSE, _WORD = np.uint8(ord("(")), np.uint8(ord(")")), np.uint8(ord("w"))


class _Strings(list[str]):
    """Labels or words by number; two numbers may have the same string."""

    def __init__(self, strings: tuple[str, ...]) -> None:
        super().__init__(strings)
        self.numbers = {string: number for number, string in enumerate(strings)}

    def number(self, string: str) -> int:
        """The number of a string, which may be new."""
        if string not in self.numbers:
            self.numbers[string] = len(self)
            self.append(string)
        return self.numbers[string]

    def all_numbers(self, strings: Iterable[str]) -> Int32:
        return np.array([self.number(string) for string in strings], np.int32)

    def matching(self, pattern: str, among: Int32) -> Mask:
        """A mask of those numbers whose string matches a pattern."""
        found = [number for number in _distinct(among) if re.fullmatch(pattern, self[number])]
        return np.isin(among, found)


class _Items(NamedTuple):
    """The brackets and words of trees in order: their kind, the number of their label or word, that of a word's lemma, their tree.

    A number is -1 where there is none.
    """

    kind: Bytes
    name: Int32
    lemma: Int32
    tree: Int32

    @classmethod
    def of(cls, bank: Treebank) -> _Items:
        order = text_order(bank)
        length = order.closing + 1
        begin = np.cumsum(length) - length
        kind = np.full(int(length.sum()), _CLOSE)
        kind[begin] = np.where(order.item < bank.n_nodes, _OPEN, _WORD)
        name = np.full(len(kind), -1, np.int32)
        name[begin] = np.concatenate([bank.label, bank.word]).take(order.item)
        return cls(kind, name, np.full(len(kind), -1, np.int32), np.repeat(np.cumsum(order.is_first, dtype=np.int32) - 1, length))

    def select(self, keep: Mask) -> _Items:
        return _Items(self.kind[keep], self.name[keep], self.lemma[keep], self.tree[keep])

    def insert(self, places: Int64, kind: Bytes, name: Int32) -> _Items:
        """With further items before those at some places, in the given order where two have the same place."""
        lemma, tree = np.full(len(places), -1, np.int32), self.tree.take(places, mode="clip")
        return _Items(
            np.insert(self.kind, places, kind),
            np.insert(self.name, places, name),
            np.insert(self.lemma, places, lemma),
            np.insert(self.tree, places, tree),
        )

    def follow(self, *kinds: np.uint8) -> Int64:
        """The places at which items of these kinds follow each other."""
        n = len(self.kind) - len(kinds) + 1
        if n <= 0:
            return np.zeros(0, np.int64)
        return np.flatnonzero(np.logical_and.reduce([self.kind[k : k + n] == kind for k, kind in enumerate(kinds)]))

    def events(self) -> Events:
        step = (self.kind == _OPEN).view(np.int8) - (self.kind == _CLOSE).view(np.int8)
        return Events(self.kind, self.kind == _CLOSE, np.arange(len(self.kind)), self.kind, np.cumsum(step, dtype=np.int32))


class StyledTrees:
    """The trees of one file in the style of its treebank, block by block.

    Lemmas are parted from words if most words of the first block with words have one: a file that was converted has none.
    """

    def __init__(self, style: TreebankStyle, options: ReadOptions, on_left_out: Callable[[LeftOut], None] | None = None) -> None:
        self._style, self._options, self._on_left_out = style, options, on_left_out
        self._has_lemmas: bool | None = None
        self._n_marks = 0  # in the present block
        self._labels, self._words = _Strings(()), _Strings(())

    def of(self, bank: Treebank) -> Treebank:
        """A block of trees in this style; trees with crossing branches stay as they are."""
        if bank.blocks is not None or not bank.n_nodes:
            return bank
        self._labels, self._words = _Strings(bank.labels), _Strings(bank.vocabulary)
        items = self._with_punctuation(self._without_other_nodes(_Items.of(bank)))
        items = self._with_tagged_traces(self._with_lemmas_apart(items))
        items, n_lemmas = self._with_lemmas_in_labels(items)
        n_trees = len(bank) - len(np.unique(items.tree))
        if self._on_left_out is not None and (n_lemmas or n_trees or self._n_marks):
            self._on_left_out(LeftOut(lemmas=n_lemmas, trees=n_trees, marks=self._n_marks))
        return self._treebank(items, bank)

    def _without_other_nodes(self, items: _Items) -> _Items:
        """Without the nodes that are no part of the sentence, and those that cover nothing else."""
        events = items.events()
        numbers = [number for number, label in enumerate(self._labels) if label in self._style.not_words]
        other = events.opens[np.isin(items.name[events.opens], numbers)]
        self._n_marks = len(other)
        if not len(other):
            return items
        closes, partner = np.flatnonzero(events.is_close), np.zeros(len(events), np.int64)
        # Of the brackets of one depth, the first opening one is closed by the first closing one.
        opens = events.opens[stable_order(events.depth[events.opens])]
        partner[opens] = closes[stable_order(events.depth[closes])]
        gone = _inside(other, partner)
        before, left = (np.concatenate([[0], np.cumsum(mask)]) for mask in (events.is_word, events.is_word & ~gone))
        had_words = before[partner[opens]] > before[opens]
        emptied = opens[had_words & (left[partner[opens]] == left[opens])]
        return items.select(~(gone | _inside(emptied, partner)))

    def _with_punctuation(self, items: _Items) -> _Items:
        """With a word below each node that has none, but has a label."""
        if not self._style.punctuation_nodes:
            return items
        places = items.follow(_OPEN, _CLOSE)
        places = places[self._labels.matching(".+", items.name[places])]
        labels: list[int] = items.name[places].tolist()
        words = self._words.all_numbers(self._labels[label] for label in labels)
        return items.insert(places + 1, np.full(len(places), _WORD), words)

    def _with_lemmas_apart(self, items: _Items) -> _Items:
        match self._style.lemma:
            case " ":
                return self._with_second_words_as_lemmas(items)
            case "-":
                return self._with_words_split(items)
            case _:
                return items

    def _with_second_words_as_lemmas(self, items: _Items) -> _Items:
        """Without the last word of each ``(tag word lemma)``, which is the lemma of the one before."""
        places = items.follow(_OPEN, _WORD, _WORD, _CLOSE) + 1
        if not self._most_have_lemmas(len(places), len(places) + len(items.follow(_OPEN, _WORD, _CLOSE))):
            return items
        items.lemma[places] = items.name[places + 1]
        keep = np.ones(len(items.kind), np.bool_)
        keep[places + 1] = False
        return items.select(keep)

    def _with_words_split(self, items: _Items) -> _Items:
        """With words split at their last hyphen; traces have no lemmas."""
        places = np.flatnonzero((items.kind == _WORD) & ~self._traces(items))
        used, index = np.unique(items.name[places], return_inverse=True)
        split = [_word_and_lemma(self._words[number]) for number in _distinct(used)]
        has_lemma = np.array([bool(lemma) for _, lemma in split], np.bool_).take(index)
        if not self._most_have_lemmas(int(has_lemma.sum()), len(places)):
            return items
        word, lemma = (self._words.all_numbers(pair[k] for pair in split).take(index) for k in (0, 1))
        items.name[places] = word
        items.lemma[places[has_lemma]] = lemma[has_lemma]
        return items

    def _most_have_lemmas(self, n_lemmas: int, n_words: int) -> bool:
        if self._has_lemmas is None and n_words:
            self._has_lemmas = 2 * n_lemmas > n_words
        return bool(self._has_lemmas) and n_lemmas > 0

    def _traces(self, items: _Items) -> Mask:
        """A mask of the items that are words of the form of a trace, under a label that may have it."""
        found = np.zeros(len(items.kind), np.bool_)
        places = np.flatnonzero(items.kind == _WORD)
        for word, label in self._style.trace_forms:
            is_trace = self._words.matching(word, items.name[places])
            if label:
                is_first = items.kind[places - 1] == _OPEN
                is_trace &= is_first & self._labels.matching(label, np.where(is_first, items.name[places - 1], 0))
            found[places[is_trace]] = True
        return found

    def _with_tagged_traces(self, items: _Items) -> _Items:
        """With the tag of traces over each word of their form that has another tag or none."""
        places = np.flatnonzero(self._traces(items))
        if not len(places):
            return items
        tag = self._labels.number(NO_WORD)
        is_tagged = (items.kind[places - 1] == _OPEN) & (items.name[places - 1] == tag) & (items.kind[places + 1] == _CLOSE)
        places = places[~is_tagged]
        kind = np.repeat(np.array([_CLOSE, _OPEN]), len(places))
        return items.insert(np.concatenate([places + 1, places]), kind, np.where(kind == _OPEN, tag, -1).astype(np.int32))

    def _with_lemmas_in_labels(self, items: _Items) -> tuple[_Items, int]:
        """With lemmas as features of tags if the options ask for features, and the number of lemmas that are left out."""
        places = np.flatnonzero(items.lemma >= 0)
        if self._options.features is not True:
            return items, len(places)
        tagged = places[(items.kind[places - 1] == _OPEN) & (items.kind[places + 1] == _CLOSE)]
        tags: list[int] = items.name[tagged - 1].tolist()
        lemmas: list[int] = items.lemma[tagged].tolist()
        items.name[tagged - 1] = self._labels.all_numbers(
            with_features(self._labels[tag], lemma_feature(self._words[lemma])) for tag, lemma in zip(tags, lemmas, strict=True)
        )
        return items, len(places) - len(tagged)

    def _treebank(self, items: _Items, bank: Treebank) -> Treebank:
        if not len(items.kind):
            return bank[:0]
        events = items.events()
        nesting = nesting_of(events)
        trees = items.tree[events.opens[nesting.roots]].astype(np.int64)
        part = tree_columns(nesting, items.name[events.opens], items.name[events.words], ())
        origins = bank.origins if len(trees) == len(bank) else tuple(pick_origins(bank.origins, trees))
        labels = tuple(self._labels if self._options.functions else map(self._category, self._labels))
        return Treebank(labels, tuple(self._words), *part.columns, offsets_of([part.n_nodes]), offsets_of([part.n_tokens]), origins)

    def _category(self, label: str) -> str:
        return label.rpartition(self._style.function_mark)[2] or label if self._style.function_mark else label


def _distinct(numbers: Int32) -> list[int]:
    return np.unique(numbers).tolist()


def _inside(opens: Int64, partner: Int64) -> Mask:
    """A mask of some brackets and all items inside them; ``partner`` has the closing bracket of each opening one."""
    step = np.zeros(len(partner) + 1, np.int32)
    step[opens] += 1
    step[partner[opens] + 1] -= 1
    return np.cumsum(step[:-1]) > 0


def _word_and_lemma(form: str) -> tuple[str, str]:
    """The word before the last hyphen and the lemma after it; neither is empty, unless there is no lemma.

    >>> _word_and_lemma("Við-ég"), _word_and_lemma("hend$-hönd"), _word_and_lemma("---"), _word_and_lemma("<dash>")
    (('Við', 'ég'), ('hend$', 'hönd'), ('-', '-'), ('<dash>', ''))
    """
    at = form.rfind("-", 1, len(form) - 1)
    return (form[:at], form[at + 1 :]) if at > 0 else (form, "")
