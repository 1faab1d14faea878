"""Checkpoints of training: a folder with the state of each grammar after its last iteration and the settings that were chosen.

Files are written atomically, so a run that was killed at any moment can be resumed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import ModelError, UsageError
from treegauge.grammar.latent.latent_grammar import LatentCounts
from treegauge.grammar.latent.rule_rows import RuleRows
from treegauge.io.archive import read_archive, write_archive
from treegauge.io.writing import write_bytes
from treegauge.learning.latent.split_merge import TrainingState

Choice = TypeVar("Choice")

SCHEMA = "treegauge-training"
VERSION = 1
_PLAN, _CHOICE = "plan.json", "chosen.json"
_OURS = re.compile(r"plan\.json|chosen\.json|.+\.state|\..+\.part\..+")
"""The names of the files in a checkpoint folder."""


class Checkpoints:
    """The checkpoint folder of one run; without a folder nothing is saved. ``plan`` holds everything that determines the result."""

    def __init__(self, folder: str | Path | None, plan: Mapping[str, Any], *, resume: bool) -> None:
        self.folder = None if folder is None else Path(folder)
        if resume and (self.folder is None or not (self.folder / _PLAN).is_file()):
            raise UsageError(f"{self.folder}: no checkpoint there to resume from; start without resume=True")
        if self.folder is None:
            return
        if resume:
            found = _read(self.folder / _PLAN, dict[str, Any])
            other = [name for name in {**found, **plan} if found.get(name) != plan.get(name)]
            if other:
                raise UsageError(
                    f"{self.folder}: the checkpoint belongs to another run; what differs: {', '.join(other)}.\n"
                    "  Resume with the same treebank and options, or start again (without resume=True)."
                )
            return
        self.remove()
        self.folder.mkdir(parents=True)
        write_bytes(json.dumps(dict(plan), indent=1).encode(), self.folder / _PLAN)

    def remove(self) -> None:
        """Delete the folder; a folder that contains anything else is an error."""
        if self.folder is None or not self.folder.exists():
            return
        if not (self.folder / _PLAN).is_file() or not all(_OURS.fullmatch(name) for name in os.listdir(self.folder)):
            raise UsageError(f"{self.folder} exists and is not a checkpoint: choose another folder by checkpoint=...")
        shutil.rmtree(self.folder)

    def save(self, name: str, state: TrainingState, history: list[list[float]]) -> None:
        """Save the state of a grammar, and its log likelihoods so far, one list per round."""
        if self.folder is None:
            return
        document = {"schema": SCHEMA, "version": VERSION, "round": state.round, "iteration": state.iteration, "history": history}
        write_archive(self.folder / f"{name}.state", document, _arrays(state), compress=False)

    def load(self, name: str) -> tuple[TrainingState, list[list[float]]] | None:
        """The state and log likelihoods saved under a name, if any."""
        if self.folder is None or not os.path.exists(path := self.folder / f"{name}.state"):
            return None
        document, arrays = read_archive(path, SCHEMA, VERSION)
        try:
            up = tuple(arrays[f"up{r}"] for r in range(sum(key.startswith("up") for key in arrays)))
            counts = LatentCounts(arrays["sizes"], _rows(arrays, "binary"), _rows(arrays, "unary"), arrays["root"], arrays["pair"])
            return TrainingState(int(document["round"]), int(document["iteration"]), counts, up), [
                list(map(float, h)) for h in document["history"]
            ]
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"the checkpoint's parts do not fit together ({error})", path=str(path)) from None

    def save_choice(self, chosen: Mapping[str, Any]) -> None:
        """Save the settings that were chosen."""
        if self.folder is not None:
            write_bytes(json.dumps(dict(chosen)).encode(), self.folder / _CHOICE)

    def load_choice(self, made_of: Callable[[dict[str, Any]], Choice]) -> Choice | None:
        """The settings that were chosen, if saved; ``made_of`` makes them from plain data."""
        if self.folder is None or not (self.folder / _CHOICE).is_file():
            return None
        return _read(self.folder / _CHOICE, made_of)


def _read(path: Path, made_of: Callable[[dict[str, Any]], Choice]) -> Choice:
    try:
        return made_of(json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        advice = "The checkpoint is damaged; start again (without resume=True)."
        raise ModelError(f"not a readable checkpoint ({type(error).__name__}: {error})", path=str(path), advice=advice) from None


def _arrays(state: TrainingState) -> dict[str, NDArray[Any]]:
    counts = state.counts
    arrays: dict[str, NDArray[Any]] = {"sizes": counts.sizes, "root": counts.root, "pair": counts.pair}
    for side, rows in (("binary", counts.binary), ("unary", counts.unary)):
        arrays |= {f"{side}_{field}": np.asarray(value) for field, value in rows._asdict().items()}
    return arrays | {f"up{r}": up for r, up in enumerate(state.up)}


def _rows(arrays: Mapping[str, NDArray[Any]], side: str) -> RuleRows:
    first, left, right, offset, value = (arrays[f"{side}_{name}"] for name in RuleRows._fields)
    return RuleRows(first, left, right, offset, value)
