"""PARSEVAL's rows by EVALB's own decisions: pairs by line, each tree's own tags, sentences dropped (``--on-mismatch evalb``)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from treegauge.errors import UsageError
from treegauge.metrics.alignment import LEFT_OUT, Note
from treegauge.metrics.base import Rows
from treegauge.metrics.evalb import UNPAIRED, VALID, SentenceResult, score_lines
from treegauge.metrics.evalb_outcome import bracketed_lines
from treegauge.metrics.extraction import sentence_lengths
from treegauge.metrics.parseval import Parseval
from treegauge.normalise.preset import Preset
from treegauge.normalise.prm import Parameters
from treegauge.trees.treebank import Int64, Treebank

__all__ = ["EvalbRows", "evalb_parameters", "evalb_rows"]


def evalb_parameters(preset: Preset) -> Parameters:
    """The parameters with which EVALB counts what a preset says; a UsageError where it cannot.

    EVALB has one list for tags and labels: what the preset deletes as a label is deleted as a tag too.
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
        raise UsageError(f"EVALB cannot do what the preset {preset.name!r} says; choose another, or --on-mismatch align")
    return Parameters(
        cutoff_length=preset.cutoff_length,
        labelled=preset.labelled,
        delete_labels=tuple(label.encode() for label in sorted(preset.delete_labels)),
        delete_labels_for_length=tuple(label.encode() for label in sorted(preset.delete_tags_for_length)),
        quote_labels=() if preset.parameters is None else preset.parameters.parameters.quote_labels,
        equal_labels=tuple((a.encode(), b.encode()) for a, b in preset.equal_labels),
        equal_words=tuple((a.encode(), b.encode()) for a, b in preset.equal_words),
    )


@dataclass(frozen=True)
class EvalbRows:
    """Rows of the sentences that EVALB scores, which those are, the status of every gold sentence, and what EVALB says."""

    rows: Rows
    index: Int64
    length: Int64
    status: Int64
    notes: tuple[Note, ...]


def evalb_rows(gold: Treebank, test: Treebank, preset: Preset) -> EvalbRows:
    """Score sentence i against sentence i as EVALB does; sentences that it drops have no row.

    >>> from treegauge.normalise.preset import load_preset
    >>> gold = Treebank.parse("(S (NP (NN a)) (. .)) (S (NP (NN a)) (. .))")
    >>> test = Treebank.parse("(S (NP (NN a)) (. .)) (S (NP (NN a)) (NN .))")
    >>> scored = evalb_rows(gold, test, load_preset("collins"))
    >>> scored.index.tolist(), scored.status.tolist(), scored.notes[0].text
    ([0], [0, 1], 'tree 2: EVALB: Length unmatch (1|2); it is left out')
    """
    parameters = evalb_parameters(preset)
    results = _results(gold, test, parameters)
    unlabelled = _results(gold, test, replace(parameters, labelled=False))
    valid = [result.id - 1 for result in results if result.status == VALID]

    def column(name: str) -> Int64:
        return np.array([getattr(results[i], name) for i in valid], dtype=np.int64)

    rows = Parseval().rows_of(
        column("matched"),
        column("gold"),
        column("test"),
        np.array([unlabelled[i].matched for i in valid], dtype=np.int64),
        column("crossing"),
        column("words"),
        column("tags"),
    )
    without_partner = range(len(results), len(gold))
    notes = [_note(gold, result) for result in results if result.status != VALID]
    notes += [Note(i, "missing", gold.place(i), "no test sentence in this place", LEFT_OUT) for i in without_partner]
    extra = range(len(gold), len(test))
    notes += [Note(-1, "extra", test.place(i), "no gold sentence in this place", LEFT_OUT) for i in extra]
    status = np.array([result.status for result in results] + [UNPAIRED for _ in without_partner], dtype=np.int64)
    return EvalbRows(rows, np.array(valid, dtype=np.int64), sentence_lengths(gold, preset), status, tuple(notes))


def _results(gold: Treebank, test: Treebank, parameters: Parameters) -> list[SentenceResult]:
    results = score_lines(bracketed_lines(gold, range(len(gold))), bracketed_lines(test, range(len(test))), parameters)
    return [result for result in results if result.status != UNPAIRED]


def _note(gold: Treebank, result: SentenceResult) -> Note:
    sentence = result.id - 1
    said = [message.decode("utf-8", "replace") for message in result.messages] or ["no words in the parse"]
    return Note(sentence, "evalb", gold.place(sentence), f"EVALB: {', '.join(said)}", LEFT_OUT)
