"""Pieces of long work that are kept as they get done, so that a killed experiment goes on where it was."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from treegauge.errors import FormatError, UsageError

__all__ = ["Pieces"]


class Pieces:
    r"""Results by name, in a file of JSON lines: the settings first, then a line for each piece as it is finished.

    A line that a kill cut short is not there. Without a path nothing is kept.

    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "p.jsonl")
    >>> Pieces(path, {"seed": 1}).get("run 1", lambda: [0.5, 1])
    [0.5, 1]
    >>> Pieces(path, {"seed": 1}, resume=True).get("run 1", lambda: "computed anew")
    [0.5, 1]
    """

    def __init__(self, path: str | Path | None = None, settings: Mapping[str, Any] | None = None, *, resume: bool = False) -> None:
        self._path = None if path is None else Path(path)
        self._done: dict[str, Any] = {}
        if self._path is None:
            return
        header = json.loads(json.dumps(settings or {}))
        if resume and self._path.exists():
            self._load(self._path, header)
        else:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._replace(self._path, json.dumps(header) + "\n")

    def __len__(self) -> int:
        return len(self._done)

    def __contains__(self, name: str) -> bool:
        return name in self._done

    def get(self, name: str, compute: Callable[[], Any]) -> Any:
        """The piece of a name: as it was kept, or computed and kept. It must be made of what JSON has."""
        if name not in self._done:
            line = json.dumps({"name": name, "value": compute()})
            # Read back, so that a fresh piece and a kept one are the same value.
            self._done[name] = json.loads(line)["value"]
            if self._path is not None:
                with self._path.open("a", encoding="utf-8") as file:
                    file.write(line + "\n")
                    file.flush()
                    os.fsync(file.fileno())
        return self._done[name]

    def _load(self, path: Path, header: Any) -> None:
        whole = path.read_text("utf-8").rpartition("\n")[0]
        lines = whole.split("\n")
        try:
            found = json.loads(lines[0])
            pieces = [json.loads(line) for line in lines[1:]]
            self._done = {str(piece["name"]): piece["value"] for piece in pieces}
        except (ValueError, KeyError, TypeError) as error:
            raise FormatError(f"no pieces of an experiment ({error})", path=str(path), advice="Leave out --resume.") from None
        if found != header:
            other = sorted(name for name in {**found, **header} if found.get(name) != header.get(name))
            raise UsageError(
                f"{path}: these are pieces of another run; what differs: {', '.join(other)}.\n"
                "  Resume with the same treebank and options, or leave out --resume to start anew."
            )
        self._replace(path, whole + "\n")

    @staticmethod
    def _replace(path: Path, text: str) -> None:
        unfinished = Path(f"{path}.part")
        unfinished.write_text(text, "utf-8")
        os.replace(unfinished, path)
