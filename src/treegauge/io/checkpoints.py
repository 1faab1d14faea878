"""Checkpoint folders: the states of a long computation, each written completely or not at all, so that a run that was killed at any
moment can be resumed."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from numpy.typing import NDArray

from treegauge.errors import UsageError
from treegauge.io.archive import read_archive, refuse_other_run, refusing_damaged_checkpoint, refusing_damaged_model, write_archive
from treegauge.io.writing import write_bytes

Choice = TypeVar("Choice")

SCHEMA = "treegauge-training"
VERSION = 1
_MOST_BYTES = 1 << 33
"""A state is refused if it is larger; that of a pretrained encoder has seven times the size of the model's file."""
_PLAN, _CHOICE = "plan.json", "chosen.json"
_OURS = re.compile(r"plan\.json|chosen\.json|.+\.state|\..+\.part\..+")
"""The names of the files in a checkpoint folder."""


class CheckpointFolder:
    """The checkpoint folder of one run; without a folder nothing is saved. ``plan`` holds everything that determines the result."""

    def __init__(self, folder: str | Path | None, plan: Mapping[str, Any], *, resume: bool) -> None:
        self.folder = None if folder is None else Path(folder)
        if resume and (self.folder is None or not (self.folder / _PLAN).is_file()):
            raise UsageError(f"{self.folder or 'checkpoint=None'}: no checkpoint there to resume from; start without resume=True")
        if self.folder is None:
            return
        if resume:
            refuse_other_run(self.folder, _read(self.folder / _PLAN, dict[str, Any]), plan)
            return
        self.remove()
        self.folder.mkdir(parents=True)
        write_bytes(json.dumps(dict(plan), indent=1).encode(), self.folder / _PLAN)

    def remove(self) -> None:
        """Delete the folder; a folder that contains anything else is an error."""
        if self.folder is None or not self.folder.exists():
            return
        names = os.listdir(self.folder) if self.folder.is_dir() else [""]
        # A run that was killed before it wrote its plan has left an empty folder, or a part of the plan.
        if not all(_OURS.fullmatch(name) for name in names) or any(name[0] != "." for name in names if _PLAN not in names):
            raise UsageError(f"{self.folder} exists and is not a checkpoint: choose another folder with checkpoint=...")
        for name in sorted(names, key=_PLAN.__eq__):  # the plan last, so that what is left if this is killed is a checkpoint
            (self.folder / name).unlink()
        self.folder.rmdir()

    def write_state(self, name: str, document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Write a state under a name, in the place of an earlier one."""
        if self.folder is not None:
            head = {"schema": SCHEMA, "version": VERSION, **document}
            write_archive(self.folder / f"{name}.state", head, arrays, compress=False)

    def read_state(
        self, name: str, made_of: Callable[[dict[str, Any], dict[str, NDArray[Any]]], Choice], *, most_parts: int = 512
    ) -> Choice | None:
        """The state written under a name, if any; ``made_of`` makes it from the document and the arrays."""
        if self.folder is None or not os.path.exists(path := self.folder / f"{name}.state"):
            return None
        document, arrays = read_archive(path, SCHEMA, VERSION, most_parts=most_parts, most_bytes=_MOST_BYTES)
        with refusing_damaged_model(path):
            return made_of(document, arrays)

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
    with refusing_damaged_checkpoint(path):
        return made_of(json.loads(path.read_text("utf-8")))
