"""The cases of this folder: exact answers, and what the C EVALB and the authors' FREVAL program printed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


def exact_cases(topic: str) -> list[dict[str, Any]]:
    """The cases of one topic (``pcfg``, ``trees``, ``freval``...), each with its ``id``, ``kind`` and ``expected``."""
    return json.loads((FOLDER / f"{topic}.json").read_text("utf-8"))["cases"]


@dataclass(frozen=True)
class ProgramCase:
    """Two files for a program, and what it printed; no exit code and no output where C's behaviour is undefined or Java crashed."""

    name: str
    gold: str
    test: str
    prm: str | None = None
    arguments: tuple[str, ...] = ()
    note: str = ""
    undefined: bool = False
    code: int | None = None
    stdout: str | None = None
    stderr: str | None = None

    def write_files(self, folder: Path) -> None:
        """Write ``gold``, ``test`` and, where there is one, ``prm``."""
        for name, text in (("gold", self.gold), ("test", self.test), ("prm", self.prm)):
            if text is not None:
                (folder / name).write_bytes(text.encode("utf-8"))

    @property
    def words(self) -> list[str]:
        """The words after ``evalb`` on the command line; those after ``CMD`` are all there are."""
        if self.arguments[:1] == ("CMD",):
            return list(self.arguments[1:])
        return [*(["-p", "prm"] if self.prm is not None else []), *self.arguments, "gold", "test"]


def program_cases(program: str) -> list[ProgramCase]:
    """The cases of ``evalb`` or ``freval``, one JSON object a line."""
    lines = (FOLDER / f"{program}_program.jsonl").read_text("utf-8").split("\n")
    return [ProgramCase(**{**case, "arguments": tuple(case.get("arguments", ()))}) for case in map(json.loads, filter(None, lines))]
