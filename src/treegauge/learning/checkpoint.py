"""Checkpoints of learning: the whole state after an iteration, written so that it is there whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import TreegaugeError, UsageError
from treegauge.grammar.archive import ModelError, read_archive, write_archive
from treegauge.grammar.pcfg import PCFG
from treegauge.grammar.text import read_text, write_text
from treegauge.learning.dense import DenseGrammar
from treegauge.learning.reestimation import Learnable

__all__ = ["State", "load_state", "save_state"]

SCHEMA = "treegauge-learning"
VERSION = 1


@dataclass(frozen=True)
class State:
    """Where learning stands: the grammar to look at next, the cross entropies of each start so far, the best so far.

    ``histories[-1]`` belongs to the start at work, ``histories[r][k]`` is the cross entropy after ``k`` steps of start
    ``r``. ``best`` is the number of the best finished start (-1: none) and ``best_grammar`` what it came to.
    ``finished`` says that the start at work is done too.
    """

    grammar: Learnable
    histories: tuple[tuple[float, ...], ...] = ((),)
    skipped: int = 0
    best: int = -1
    best_grammar: Learnable | None = None
    finished: bool = False


def save_state(path: str | Path, state: State, settings: Mapping[str, Any]) -> None:
    """Write a state and the settings it belongs to."""
    arrays: dict[str, NDArray[Any]] = {}
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "version": VERSION,
        "settings": dict(settings),
        "histories": [list(history) for history in state.histories],
        "skipped": state.skipped,
        "best": state.best,
        "finished": state.finished,
        "grammar": _packed(state.grammar, "grammar", arrays),
        "best_grammar": _packed(state.best_grammar, "best", arrays),
    }
    write_archive(path, document, arrays)


def load_state(path: str | Path, settings: Mapping[str, Any]) -> State:
    """The state in a file; :class:`~treegauge.errors.UsageError` if it belongs to other settings."""
    if not os.path.exists(path):
        raise UsageError(f"{path}: no checkpoint there to resume from; leave out --resume to start")
    document, arrays = read_archive(path, SCHEMA, VERSION)
    try:
        found = dict(document["settings"])
        other = [name for name in {**found, **settings} if found.get(name) != settings.get(name)]
        if other:
            raise UsageError(
                f"{path}: the checkpoint belongs to another run; what differs: {', '.join(other)}.\n"
                "  Resume with the same sentences and options, or leave out --resume to start anew."
            )
        grammar = _unpacked(document["grammar"], "grammar", arrays)
        if grammar is None:
            raise ValueError("no grammar")
        return State(
            grammar,
            tuple(tuple(float(x) for x in history) for history in document["histories"]),
            int(document["skipped"]),
            int(document["best"]),
            _unpacked(document["best_grammar"], "best", arrays),
            bool(document["finished"]),
        )
    except UsageError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, TreegaugeError) as error:
        raise ModelError(f"the checkpoint's parts do not fit together ({error})", path=str(path)) from None


def _packed(grammar: Learnable | None, name: str, arrays: dict[str, NDArray[Any]]) -> Any:
    if isinstance(grammar, DenseGrammar):
        arrays[f"{name}_binary"], arrays[f"{name}_lexical"] = grammar.binary, grammar.lexical
        return {"symbols": grammar.symbols, "terminals": grammar.terminals, "labels": dict(grammar.labels)}
    return None if grammar is None else {"rules": write_text(grammar), "labels": dict(grammar.labels)}


def _unpacked(packed: Any, name: str, arrays: Mapping[str, NDArray[Any]]) -> Learnable | None:
    if packed is None:
        return None
    if "rules" in packed:
        rules = read_text(packed["rules"])
        return PCFG(rules.rules, rules.start, dict(packed["labels"]))
    symbols, terminals = tuple(map(str, packed["symbols"])), tuple(map(str, packed["terminals"]))
    binary, lexical = (arrays[f"{name}_{part}"].astype(np.float64) for part in ("binary", "lexical"))
    if binary.shape != (len(symbols),) * 3 or lexical.shape != (len(terminals), len(symbols)):
        raise ValueError("arrays of the wrong shape")
    return DenseGrammar(symbols, terminals, binary, lexical, dict(packed["labels"]))
