"""The sentences that parsers got wrong, as compact data from which a report's page draws trees.

A tree is given by its columns, as in :class:`~treegauge.trees.treebank.Treebank`: labels and parents of its nodes in pre-order, the
node above each word, the words. Marks are one character per node (:data:`~treegauge.reports.tree_diff.CODES`; a blank where a node
does not count).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treegauge.alignment.alignment import Fit
from treegauge.alignment.brackets import Brackets
from treegauge.metrics.breakdowns import Breakdown
from treegauge.reports.tree_diff import CODES, BracketMarks
from treegauge.trees.treebank import Int64, Treebank

_MOST_BYTES = 3_600_000


@dataclass(frozen=True)
class DifferingSentences:
    """Sentences with a wrong bracket; those on which the systems differ most come first.

    ``documents`` are the sentences as JSON, and ``rows`` their rows in the compared pairs; ``labels`` and ``kinds`` (of error) are
    what the numbers in the documents stand for. ``differing`` counts all such sentences, ``compared`` all that were compared.
    ``characters`` are those of all words, whose widths the page needs.
    """

    labels: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    rows: tuple[int, ...] = ()
    differing: int = 0
    compared: int = 0
    characters: frozenset[str] = field(default=frozenset(), repr=False)


def find_sentences(
    gold: Treebank,
    banks: Mapping[str, Treebank],
    marks: Mapping[str, BracketMarks],
    errors: Mapping[str, Breakdown],
    *,
    most: int,
    most_bytes: int = _MOST_BYTES,
    numbers: Sequence[int] | None = None,
) -> DifferingSentences:
    """The sentences in which some system has a wrong bracket, at most ``most`` of them, in at most ``most_bytes`` of JSON.

    ``banks``, ``marks`` and ``errors`` (the breakdown by kind of error) are given by system. If ``gold`` holds only some sentences
    of a treebank, ``numbers`` are their numbers in it, counted from 0.
    """
    wrong = np.stack([found.wrong for found in marks.values()])
    order = rank_sentences(wrong)
    encoder = _SentenceEncoder(gold, banks, marks, errors, range(len(gold)) if numbers is None else numbers)
    found: list[str] = []
    rows: list[int] = []
    room = most_bytes
    for row in order[:most]:
        document = json.dumps(encoder.sentence(row), ensure_ascii=False, separators=(",", ":"))
        room -= len(document)
        if room < 0 and found:
            break
        found.append(document)
        rows.append(row)
    return DifferingSentences(
        tuple(encoder.labels), encoder.kinds, tuple(found), tuple(rows), len(order), wrong.shape[1], frozenset(encoder.characters)
    )


def rank_sentences(wrong: Int64) -> list[int]:
    """The sentences with wrong brackets: those on which the systems are furthest apart first, and among equals the worst first.

    ``wrong`` is the number of wrong brackets, a row per system and a column per sentence.

    >>> rank_sentences(np.array([[0, 2, 5, 1], [0, 6, 5, 0]]))
    [1, 3, 2]
    """
    spread: Int64 = wrong.max(axis=0) - wrong.min(axis=0)
    total: Int64 = wrong.sum(axis=0)
    # The sort is stable: ties stay in the order of the treebank.
    order = np.lexsort((-total, -spread))
    return order[total[order] > 0].tolist()


def _short_place(place: str) -> str:
    """The place of a sentence without its folder.

    >>> _short_place("data/gum/dev.mrg:12")
    'dev.mrg:12'
    """
    return PurePath(place).name


class _SentenceEncoder:
    """An encoder that makes a JSON document of each sentence; labels are numbered in the order of their first use."""

    def __init__(
        self,
        gold: Treebank,
        banks: Mapping[str, Treebank],
        marks: Mapping[str, BracketMarks],
        errors: Mapping[str, Breakdown],
        numbers: Sequence[int],
    ) -> None:
        self.gold, self.banks, self.marks, self.numbers = gold, banks, marks, numbers
        self.labels: dict[str, int] = {}
        self.characters: set[str] = set()
        self.kinds = tuple(dict.fromkeys(str(key[0]) for found in errors.values() for key in found.keys))
        self._of_gold = self._label_numbers(gold)
        self._of_system = {system: self._label_numbers(bank) for system, bank in banks.items()}
        self._kinds = {system: self._kinds_of(found) for system, found in errors.items()}
        self._notes = {system: {note.sentence: note for note in found.pair.alignment.notes} for system, found in marks.items()}

    def _label_numbers(self, bank: Treebank) -> Int64:
        """The report's number of each label of a treebank."""
        return np.array([self.labels.setdefault(label, len(self.labels)) for label in bank.labels] or [0], dtype=np.int64)

    def _kinds_of(self, errors: Breakdown) -> dict[int, list[int]]:
        """The kinds of error in each gold sentence."""
        kinds: dict[int, list[int]] = {}
        for number, kind in enumerate(self.kinds):
            sentences = {sentence for places in errors.places.get((kind,), ()) for sentence in places.rows[:, 0].tolist()}
            for sentence in sorted(sentences):
                kinds.setdefault(sentence, []).append(number)
        return kinds

    def sentence(self, row: int) -> dict[str, Any]:
        """The document of a row of the pairs: number, place, gold tree, and what each system made of it."""
        first = next(iter(self.marks.values())).pair
        sentence = int(first.index[row])
        return {
            "n": self.numbers[sentence] + 1,
            "p": _short_place(self.gold.place(sentence)),
            "g": self._tree(self.gold, self._of_gold, sentence),
            "t": [self._system(system, row, sentence) for system in self.banks],
        }

    def _system(self, system: str, row: int, sentence: int) -> dict[str, Any]:
        found, bank = self.marks[system], self.banks[system]
        pair = found.pair
        of_gold, of_test = (_rows_of(brackets, row) for brackets in (pair.gold, pair.test))
        gold_marks, test_marks = found.gold[of_gold], found.test[of_test]
        document: dict[str, Any] = {
            "g": _codes(pair.gold, of_gold, gold_marks),
            "c": [int((gold_marks == 0).sum()), len(gold_marks), len(test_marks), int((test_marks == 3).sum())],
        }
        if kinds := self._kinds.get(system, {}).get(sentence):
            document["k"] = kinds
        partner = int(pair.alignment.test[sentence])
        if partner < 0 or pair.alignment.fit[sentence] > Fit.EDITED:
            note = self._notes[system].get(sentence)
            return document | {"x": note.what if note else "no parse"}
        tree = self._tree(bank, self._of_system[system], partner)
        if tree["w"] == self.gold.words(sentence):
            del tree["w"]
        return document | tree | {"m": _codes(pair.test, of_test, test_marks)}

    def _tree(self, bank: Treebank, numbers: Int64, index: int) -> dict[str, Any]:
        nodes = slice(bank.node_offset[index], bank.node_offset[index + 1])
        tokens = slice(bank.token_offset[index], bank.token_offset[index + 1])
        tree: dict[str, Any] = {
            "l": numbers[bank.label[nodes]].tolist(),
            # The first parent is left out: it is always the root's -1.
            "p": bank.parent[nodes][1:].tolist(),
            "a": bank.above[tokens].tolist(),
            "w": bank.words(index),
        }
        self.characters.update(*tree["w"])
        empty = np.flatnonzero(bank.start[nodes] == bank.end[nodes])
        if len(empty):
            tree["e"] = dict(zip(empty.tolist(), bank.start[nodes][empty].tolist(), strict=True))
        return tree


def _rows_of(brackets: Brackets, row: int) -> slice:
    return slice(int(brackets.offset[row]), int(brackets.offset[row + 1]))


def _codes(brackets: Brackets, rows: slice, marks: NDArray[np.int8]) -> str:
    """The marks of a tree, one character per node, up to the last node that counts."""
    nodes: list[int] = brackets.node[rows].tolist()
    codes = [" "] * (max(nodes, default=-1) + 1)
    numbers: list[int] = marks.tolist()
    for node, number in zip(nodes, numbers, strict=True):
        codes[node] = CODES[number]
    return "".join(codes)
