"""PCFGs as model files: an archive of integer columns, with the hash of the data it was trained on.

One model comes with treegauge, so that ``echo ... | treegauge parse`` works at once. It is counted from our own treebank, with few
labels: a finer grammar of 521 trees would have no parse for most sentences. It is stored because loading takes a tenth of the time
of training. ``tests/helpers/shipped_grammar.py`` writes the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import treegauge
from treegauge.errors import UsageError
from treegauge.grammar.pcfg import PCFG, Rule
from treegauge.grammar.training_sentences import NO_HASHES, UInt64, stored_hashes
from treegauge.grammar.treebank_grammar import TrainedGrammar
from treegauge.io.archive import read_archive, refusing_damaged_model, write_archive
from treegauge.tables import concise

SCHEMA = "treegauge-pcfg"
VERSION = 1


@concise
class Model(NamedTuple):
    """A grammar, the sha256 of its training trees (``""`` if unknown), notes on how it was made, and the hashes of its training
    sentences, empty if unknown."""

    grammar: PCFG
    trained_on: str
    notes: Mapping[str, Any]
    sentences: UInt64 = NO_HASHES


def save_model(
    grammar: PCFG | TrainedGrammar, path: str | Path, *, trained_on: str = "", notes: Mapping[str, Any] | None = None,
    sentences: UInt64 = NO_HASHES,
) -> None:  # fmt: skip
    """Write a grammar as a model file; with its notes if it is one of :func:`treegauge.grammar.train`.

    >>> import tempfile, os
    >>> grammar = PCFG.parse('S -> S S [0.4] | "a" [0.6]')
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(grammar, os.path.join(folder, "s.model"), notes={"source": "a doctest"})
    ...     model = load_model(os.path.join(folder, "s.model"))
    >>> model.grammar == grammar, model.notes
    (True, {'source': 'a doctest'})
    """
    if isinstance(grammar, TrainedGrammar):
        grammar, notes = grammar.grammar, {**grammar.notes, **(notes or {})}
    if not isinstance(grammar, PCFG):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"save_model(grammar, path) takes a grammar first, not {type(grammar).__name__}; a model has .save(path)")
    symbols = {name: i for i, name in enumerate(grammar.nonterminals)}
    words = {word: i for i, word in enumerate(grammar.vocabulary)}
    document = {
        "schema": SCHEMA,
        "version": VERSION,
        "start": grammar.start,
        "symbols": list(symbols),
        "words": list(words),
        "labels": dict(grammar.labels),
        "trained_on": trained_on,
        "notes": dict(notes or {}),
    }
    is_word = [word for rule in grammar.rules for word in rule.words]
    rhs = [(words if word else symbols)[x] for rule in grammar.rules for x, word in zip(rule.rhs, rule.words, strict=True)]
    arrays: dict[str, NDArray[Any]] = {
        "lhs": np.array([symbols[rule.lhs] for rule in grammar.rules], np.int32),
        "arity": np.array([len(rule.rhs) for rule in grammar.rules], np.int32),
        "rhs": np.array(rhs, np.int32),
        "is_word": np.array(is_word, np.bool_),
        "probability": np.array([rule.probability for rule in grammar.rules], np.float64),
    }
    write_archive(path, document, arrays | ({"sentences": sentences} if len(sentences) else {}))


def load_model(path: str | Path) -> Model:
    """The model in a file; :class:`~treegauge.errors.ModelError` if it is damaged or of another version."""
    document, arrays = read_archive(path, SCHEMA, VERSION)
    with refusing_damaged_model(path):
        labels = {str(symbol): None if label is None else str(label) for symbol, label in document["labels"].items()}
        grammar = PCFG(tuple(_rules(document, arrays)), str(document["start"]), labels)
        return Model(grammar, str(document["trained_on"]), dict(document["notes"]), stored_hashes(arrays))


_COLUMNS = {"lhs": "i", "arity": "i", "rhs": "i", "is_word": "b", "probability": "f"}
_KINDS = {"i": "whole numbers", "b": "truth values", "f": "numbers"}


def _column(arrays: Mapping[str, NDArray[Any]], name: str) -> NDArray[Any]:
    found, kind = arrays[name], _COLUMNS[name]
    if found.ndim != 1 or found.dtype.kind != kind:
        raise ValueError(f"{name} is {found.dtype} of shape {found.shape}, not a column of {_KINDS[kind]}")
    return found


def _rules(document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> list[Rule]:
    symbols, words = [str(x) for x in document["symbols"]], [str(x) for x in document["words"]]
    lhs, arity, rhs, is_word, probability = (_column(arrays, name).tolist() for name in _COLUMNS)
    if sum(arity) != len(rhs) or len(is_word) != len(rhs) or min([*lhs, *rhs, *arity], default=0) < 0:
        raise ValueError("columns of different lengths")
    ends = np.cumsum(arrays["arity"]).tolist()
    sides: list[str] = [(words if kind else symbols)[x] for x, kind in zip(rhs, is_word, strict=True)]
    return [
        Rule(symbols[parent], tuple(sides[end - length : end]), tuple(is_word[end - length : end]), p)
        for parent, length, end, p in zip(lhs, arity, ends, probability, strict=True)
    ]


SHIPPED = Path(treegauge.__file__).parent / "data" / "own.model"
STEPS = "traces,functions,root,redundant,binarise:h=1"
"""The normalising steps of the shipped model."""


def shipped_model() -> Model:
    """The grammar of the treebank that comes with treegauge.

    >>> shipped_model().grammar.start
    'TOP'
    """
    return load_model(SHIPPED)
