"""EVALB's result on the same trees: the sentences that it would drop, and the F-measure of the others.

EVALB pairs sentences by line, and each tree's own tags decide what it deletes. For most sentences this makes no difference, as a
comparison of columns shows; only the others are passed to :mod:`treegauge.metrics.evalb`, as the lines that EVALB would read.

:func:`evalb_rows` computes PARSEVAL's rows with EVALB's decisions throughout (``--on-mismatch evalb``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from treegauge.alignment.alignment import Fit
from treegauge.alignment.brackets import sentence_lengths, sum_within
from treegauge.alignment.notes import LEFT_OUT, Note
from treegauge.alignment.pairing import Pair, pair_of
from treegauge.alignment.words import WordNumbers, has_tag, without_tokens
from treegauge.errors import UsageError, WriteError
from treegauge.metrics.evalb import ERROR, SKIP, UNPAIRED, VALID
from treegauge.metrics.metric import Rows, ratio
from treegauge.metrics.parseval import Parseval
from treegauge.presets import EvalbFile, Preset, from_parameters
from treegauge.presets.prm import Parameters
from treegauge.tables import plain
from treegauge.trees.notation import one_line
from treegauge.trees.treebank import Int64, Mask, Treebank

if TYPE_CHECKING:
    from treegauge.metrics.evalb import SentenceResult

_UNSURE = -1
_COUNTED = ("sentences", "errors", "skips", "matched", "gold", "test")


@dataclass(frozen=True)
class EvalbOutcome:
    """EVALB's counts over the sentences that it would score, and the number of those that it would not.

    ``errors`` are sentences that it refuses because their words differ, ``skips`` those without a parse. EVALB stops at its error
    number MAX_ERROR + 2: ``failures`` are the sentences (from 0) of its errors up to that one, and ``stops_at`` is the number (from
    1) of the sentence at which it stops. ``endless``: it repeats an error until any limit is reached, as with text outside
    brackets. ``counts_also`` are labels that EVALB counts and the preset does not. Outcomes can be added.
    """

    file: str
    sentences: int = 0
    errors: int = 0
    skips: int = 0
    matched: int = 0
    gold: int = 0
    test: int = 0
    _: KW_ONLY
    failures: tuple[int, ...] = ()
    max_error: int = 10
    stops_at: int | None = None
    endless: bool = False
    counts_also: tuple[str, ...] = ()

    def __add__(self, other: EvalbOutcome) -> EvalbOutcome:
        counts = (a + b for a, b in zip(self._counts(), other._counts(), strict=True))
        failures = _first(self.failures + other.failures, self.max_error)
        endless = self.endless or other.endless
        return EvalbOutcome(self.file, *counts, failures=failures, max_error=self.max_error, endless=endless)

    def finished(self, preset: Preset, gold: Iterable[str], test: Iterable[str], *, longer: bool) -> EvalbOutcome:
        """The outcome on all sentences, scored by a preset, given the labels of phrases on both sides, and whether one side has
        more sentences, which is an error at the first of these."""
        failures = _first((*self.failures, *[self.sentences] * longer), self.max_error)
        stops_at = failures[-1] + 1 if len(failures) >= max(self.max_error + 2, 1) else None
        assert preset.parameters is not None
        evalb = from_parameters(preset.parameters.parameters, preset.parameters.name)
        also: list[str] = []
        for where, labels in (("in gold", gold), ("in the parses", test)):
            cut = {preset.cut_label(label) for label in labels}
            found = sorted(label for label in cut if preset.deletes(label) and not evalb.deletes(label))
            also += [f"{', '.join(label or 'brackets without a label' for label in found)} {where}"] if found else []
        return replace(self, stops_at=stops_at, counts_also=tuple(also))

    def _counts(self) -> tuple[int, ...]:
        return tuple(getattr(self, name) for name in _COUNTED)

    @property
    def dropped(self) -> int:
        return self.errors + self.skips

    @property
    def rates(self) -> dict[str, float]:
        """Recall, precision and F1 in EVALB's order of operations."""
        return self._rates_of(1.0)

    def _rates_of(self, whole: float) -> dict[str, float]:
        """The rates, if all would be ``whole``: EVALB computes in percentages, which decides how F1 is rounded in a tie."""
        recall, precision = ratio(whole * self.matched, self.gold), ratio(whole * self.matched, self.test)
        return {"recall": recall, "precision": precision, "f1": ratio(2 * precision * recall, precision + recall)}

    def to_dict(self) -> dict[str, Any]:
        """Plain data; an undefined rate is None."""
        rates, counts = plain(self.rates), dict(zip(_COUNTED, self._counts(), strict=True))
        stop = {"max_error": self.max_error, "stops_at": self.stops_at, "endless": self.endless}
        return {"file": self.file, "dropped": self.dropped, **counts, **rates, **stop, "counts_also": list(self.counts_also)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> EvalbOutcome:
        """The outcome from plain data; that of version 0.2 does not tell where EVALB stops."""
        stop = {"max_error": data.get("max_error", 10), "stops_at": data.get("stops_at"), "endless": data.get("endless", False)}
        return cls(*(data[name] for name in ("file", *_COUNTED)), **stop, counts_also=tuple(data.get("counts_also", ())))

    def __str__(self) -> str:
        f1 = self._rates_of(100.0)["f1"]
        also = f"; it counts {' and '.join(self.counts_also)}, which this score does not" if self.counts_also else ""
        without = f"drop {self.dropped} of these {self.sentences} sentences and print FMeasure {f1:.2f}{also}."
        if self.stops_at is None:
            return f"EVALB with {self.file} would {without}"
        stop = f"stop at sentence {self.stops_at} (MAX_ERROR {self.max_error}) and print no FMeasure"
        return f"EVALB with {self.file} would {stop}{'.' if self.endless else f'; without that limit it would {without}'}"


def _first(failures: Iterable[int], max_error: int) -> tuple[int, ...]:
    """The sentences of EVALB's errors, as far as the one at which it stops."""
    return tuple(sorted(failures)[: max(max_error + 2, 1)])


class AlignedBlock(NamedTuple):
    """A block of gold and test trees: with traces, without traces (``_words``), and as a pair; and the numbers of words."""

    gold: Treebank
    test: Treebank
    gold_words: Treebank
    test_words: Treebank
    pair: Pair
    words: WordNumbers


def evalb_verdicts(block: AlignedBlock, rows: Rows, file: EvalbFile) -> tuple[EvalbOutcome, Int64]:
    """EVALB's outcome on a block, and its status of each gold sentence; ``rows`` are PARSEVAL's rows of the pair."""
    _refuse_gaps(block.gold, block.test)
    preset = from_parameters(file.parameters, file.name)
    status = _sure_status(block, preset, may_repair=bool(file.parameters.quote_labels))
    outcome = EvalbOutcome(file.name, 0, int((status == ERROR).sum()), int((status == SKIP).sum()))
    outcome = replace(outcome, sentences=outcome.dropped)
    plain = np.flatnonzero(status == VALID)
    if len(plain):
        pair = block.pair
        if not _counts_alike(pair.preset, preset, block.gold, block.test):
            pair = pair_of(block.gold_words, block.test_words, pair.alignment, preset, block.words)
            rows = Parseval().rows(pair)
        of_sentence = np.full(len(block.gold), -1, dtype=np.int64)
        of_sentence[pair.index] = np.arange(len(pair))
        columns = [Parseval.columns.index(name) for name in ("matched", "gold", "test")]
        counts: list[int] = rows[of_sentence[plain]][:, columns].sum(axis=0).astype(int).tolist()
        outcome += EvalbOutcome(file.name, len(plain), 0, 0, *counts)
    errors = (status == ERROR).astype(np.int64)
    others = np.flatnonzero(status == _UNSURE)
    asked = list(_line_results(block.gold.take(others), block.test.take(others), file.parameters))
    for sentence, result in zip(others, asked, strict=False):
        counts = [result.matched, result.gold, result.test] if result.status == VALID else [0, 0, 0]
        outcome += EvalbOutcome(file.name, 1, int(result.status == ERROR), int(result.status == SKIP), *counts)
        status[sentence] = result.status
        errors[sentence] = len(result.messages) if not result.endless else file.parameters.max_error + 2
    failures = (np.repeat(np.arange(len(errors)), np.maximum(errors, 0)) + block.pair.first).tolist()
    endless = any(result.endless for result in asked)
    outcome = replace(outcome, failures=_first(failures, file.parameters.max_error), endless=endless)
    without_partner = np.full(len(block.gold) - len(status), UNPAIRED, dtype=np.int64)
    return outcome, np.concatenate([status, without_partner])


def _line_results(gold: Treebank, test: Treebank, parameters: Parameters) -> Iterator[SentenceResult]:
    """EVALB's result of each pair of trees, one per line."""
    if not len(gold):
        return iter(())
    from treegauge.metrics.evalb import score_lines

    unread = _unread_lines(test)
    lines = [unread.get(i, line) for i, line in enumerate(bracketed_lines(test))]
    return score_lines(bracketed_lines(gold), lines, parameters)


def _unread_lines(bank: Treebank) -> dict[int, bytes]:
    """The text of each tree that could not be read, as a line: EVALB reads such trees in its own way."""
    unread = {i: problem.text for i, problem in bank.problems().items() if not problem.repairs}
    return {i: b" ".join(text.split()) + b"\n" for i, text in unread.items() if text.strip()}


def _refuse_gaps(*banks: Treebank) -> None:
    for bank in banks:
        bank.require_continuous("EVALB reads bracketed text, which cannot hold crossing branches")


def _sure_status(block: AlignedBlock, preset: Preset, *, may_repair: bool) -> Int64:
    """EVALB's status of each sentence that both sides have, as far as it is certain; ``_UNSURE`` if EVALB must be asked.

    EVALB skips a parse without words, and refuses one whose number of words differs from gold, unless it may repair quotes. It
    scores a sentence, with our counts, if the same words are in the same positions and are deleted on both sides or on none.
    """
    n = min(len(block.gold), len(block.test))
    gold, test = block.gold_words[:n], block.test_words[:n]
    kept = [sum_within(~has_tag(bank, preset.delete_tags), bank.token_offset) for bank in (gold, test)]
    tagged = (sum_within(gold.tag < 0, gold.token_offset) == 0) & (sum_within(test.tag < 0, test.token_offset) == 0)
    status = np.full(n, _UNSURE, dtype=np.int64)
    if not may_repair:
        status[tagged & (kept[0] != kept[1])] = ERROR
    status[tagged & (kept[1] == 0)] = SKIP
    status[[i for i in _unread_lines(block.test) if i < n]] = _UNSURE
    open_ = tagged & (status == _UNSURE)
    status[open_ & _is_plain(block, preset, n)] = VALID
    return status


def _is_plain(block: AlignedBlock, preset: Preset, n: int) -> Mask:
    """A mask of the first ``n`` sentences: those with the same words in the same positions, deleted on both sides or on none."""
    gold, test, alignment = block.gold_words, block.test_words, block.pair.alignment
    same = (alignment.fit[:n] == Fit.TOKENS) & (alignment.test[:n] == np.arange(n))
    if alignment.gold_aside is not None and alignment.test_aside is not None:
        gold, test = without_tokens(gold, alignment.gold_aside), without_tokens(test, alignment.test_aside)
    gold, test = gold[:n], test[:n]
    if not same.all():
        places = np.flatnonzero(same)
        gold, test = gold.take(places), test.take(places)
    deleted = has_tag(gold, preset.delete_tags)
    doubtful = deleted != has_tag(test, preset.delete_tags)
    # EVALB compares bytes, and words that we treat as the same may have different bytes.
    suspect = np.flatnonzero(block.words.has_variants(gold.vocabulary)[gold.word] & ~deleted)
    doubtful[suspect] |= np.array(
        [
            gold.vocabulary[ours] != test.vocabulary[theirs]
            for ours, theirs in zip(gold.word[suspect].tolist(), test.word[suspect].tolist(), strict=True)
        ],
        dtype=np.bool_,
    )
    same[same] = sum_within(doubtful, gold.token_offset) == 0
    return same


def _counts_alike(one: Preset, other: Preset, *banks: Treebank) -> bool:
    """Whether two presets count the same brackets of these trees."""
    unlike = replace(one, name="", ignored=(), cutoff_length=0, delete_labels=other.delete_labels)
    if unlike != replace(other, name="", ignored=(), cutoff_length=0):
        return False
    return not any(_has_phrases(bank, one, other) for bank in banks)


def _has_phrases(bank: Treebank, one: Preset, other: Preset) -> bool:
    """Whether a treebank has phrases that one of two presets deletes and the other does not."""
    cut = [one.cut_label(label) for label in bank.labels]
    disputed = [number for number, label in enumerate(cut) if one.deletes(label) != other.deletes(label)]
    # If as many words have a label as their tag as nodes have it, no phrase has it.
    return any(int((bank.label == number).sum()) > int((bank.tag == number).sum()) for number in disputed)


def bracketed_lines(bank: Treebank) -> list[bytes]:
    """The trees of a treebank, one per line."""
    from treegauge.io.writing import one_line_text

    try:
        return b"".join(one_line_text([bank])).splitlines(keepends=True)
    except WriteError:
        # A tree that was built in memory may not survive being written and read again; EVALB would read whatever was written.
        return [one_line(tree).encode("utf-8", "surrogatepass") + b"\n" for tree in bank]


def evalb_parameters(preset: Preset) -> Parameters:
    """The parameters with which EVALB counts as a preset does; a UsageError if it cannot.

    EVALB has one list for tags and labels: it deletes tags that the preset deletes as labels.
    """
    allowed = Preset(
        name=preset.name,
        delete_tags=preset.delete_tags & preset.delete_labels,
        delete_labels=preset.delete_labels,
        delete_tags_for_length=preset.delete_tags_for_length,
        equal_labels=preset.equal_labels,
        equal_words=preset.equal_words,
        labelled=preset.labelled,
        cutoff_length=preset.cutoff_length,
        ignored=preset.ignored,
    )
    if preset != allowed:
        raise UsageError(
            f'EVALB does not support the preset {preset.name!r}; choose another preset, or align sentences with on_mismatch="align"'
        )
    return Parameters(
        cutoff_length=preset.cutoff_length,
        labelled=preset.labelled,
        delete_labels=tuple(label.encode() for label in sorted(preset.delete_labels)),
        delete_labels_for_length=tuple(label.encode() for label in sorted(preset.delete_tags_for_length)),
        quote_labels=() if preset.parameters is None else preset.parameters.parameters.quote_labels,
        equal_labels=tuple((a.encode(), b.encode()) for a, b in preset.equal_labels),
        equal_words=tuple((a.encode(), b.encode()) for a, b in preset.equal_words),
    )


@dataclass(frozen=True, eq=False)
class EvalbRows:
    """The rows of the sentences that EVALB scores and their numbers, length and status of all gold sentences, and EVALB's notes."""

    rows: Rows
    index: Int64
    length: Int64
    status: Int64
    notes: tuple[Note, ...]


def evalb_rows(gold: Treebank, test: Treebank, preset: Preset) -> EvalbRows:
    """Score test sentence i against gold sentence i as EVALB does; sentences that it drops have no row.

    >>> from treegauge.presets import load_preset
    >>> gold = Treebank.parse("(S (NP (NN a)) (. .)) (S (NP (NN a)) (. .))")
    >>> test = Treebank.parse("(S (NP (NN a)) (. .)) (S (NP (NN a)) (NN .))")
    >>> scored = evalb_rows(gold, test, load_preset("collins"))
    >>> scored.index.tolist(), scored.status.tolist(), scored.notes[0].text
    ([0], [0, 1], 'tree 2: EVALB: Length unmatch (1|2); it is left out')
    """
    _refuse_gaps(gold, test)
    parameters = evalb_parameters(preset)
    results = _results(gold, test, parameters)
    unlabelled = _results(gold, test, parameters._replace(labelled=False))
    valid = [result.id - 1 for result in results if result.status == VALID]

    def column(name: str) -> Int64:
        return np.array([getattr(results[i], name) for i in valid], dtype=np.int64)

    any_label = np.array([unlabelled[i].matched for i in valid], dtype=np.int64)
    columns = [*map(column, ("matched", "gold", "test")), any_label, *map(column, ("crossing", "words", "tags"))]
    rows = Parseval().rows_of(*columns)
    without_partner = range(len(results), len(gold))
    notes = [_note(gold, result) for result in results if result.status != VALID]
    notes += [Note(i, "missing", gold.place(i), "no test sentence in this place", LEFT_OUT) for i in without_partner]
    extra = range(len(gold), len(test))
    notes += [Note(-1, "extra", test.place(i), "no gold sentence in this place", LEFT_OUT) for i in extra]
    status = np.array([result.status for result in results] + [UNPAIRED for _ in without_partner], dtype=np.int64)
    return EvalbRows(rows, np.array(valid, dtype=np.int64), sentence_lengths(gold, preset), status, tuple(notes))


def _results(gold: Treebank, test: Treebank, parameters: Parameters) -> list[SentenceResult]:
    results = _line_results(gold, test, parameters)
    return [result for result in results if result.status != UNPAIRED]


def _note(gold: Treebank, result: SentenceResult) -> Note:
    sentence = result.id - 1
    said = [message.decode("utf-8", "replace") for message in result.messages] or ["no words in the parse"]
    return Note(sentence, "evalb", gold.place(sentence), f"EVALB: {', '.join(said)}", LEFT_OUT)
