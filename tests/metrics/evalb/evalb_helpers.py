"""Running EVALB on texts, and looking at what it printed."""

from __future__ import annotations

import io
import os
import tempfile
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from treegauge.metrics.evalb import evalb

COLLINS = files("treegauge.presets").joinpath("collins.prm").read_text()
NEW = files("treegauge.presets").joinpath("new.prm").read_text()

TRAM = "(TOP (S (NP (DT every) (NN tram)) (VP (VBZ needs) (NP (JJ straight) (NNS rails))) (. .)))"
"""Six tokens, five of them kept by COLLINS; S, NP, VP, NP count."""

OPEN = "Bracketing is unbalanced (too many open bracket)"
CLOSE = "Bracketing unbalance (too many close bracket)"


class Row(NamedTuple):
    id: int
    length: int
    status: int
    recall: float
    precision: float
    matched: int
    gold: int
    test: int
    crossing: int
    words: int
    tags: int
    accuracy: float


class Outcome(NamedTuple):
    stdout: bytes
    stderr: bytes
    code: int

    @property
    def lines(self) -> list[str]:
        return self.stdout.decode(errors="replace").splitlines()

    @property
    def messages(self) -> list[str]:
        return self.stderr.decode(errors="replace").splitlines()

    @property
    def rows(self) -> list[Row]:
        """The rows between the two rules (DEBUG 0 only)."""
        rows = []
        for line in self.lines[3:]:
            if line.startswith("="):
                break
            fields = line.split()
            rows.append(Row(*(float(field) if "." in field else int(field) for field in fields)))
        return rows

    @property
    def row(self) -> Row:
        [row] = self.rows
        return row

    @property
    def finished(self) -> bool:
        return b"=== Summary ===\n" in self.stdout

    def block(self, number: int) -> dict[str, str]:
        """A summary block, 0 for all sentences and 1 for the short ones: name -> value as printed."""
        text = self.stdout.decode().split("\n\n")[number + 1]
        return dict(line.split(" = ") for line in (line.replace("  ", " ").strip() for line in squeeze(text)))


def squeeze(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines() if "=" in line and not line.startswith("--")]


def run(gold: str | bytes, test: str | bytes, prm: str | bytes | None = COLLINS, *options: str) -> Outcome:
    """EVALB on two files, with a parameter file unless ``prm`` is None; options come after it, before the files."""
    words = [] if prm is None else ["-p", "prm"]
    return run_words([*words, *options, "gold", "test"], gold=gold, test=test, prm=prm or "")


def run_words(words: list[str], **contents: str | bytes) -> Outcome:
    """EVALB with these words, in a folder with these files."""
    out, err = io.BytesIO(), io.BytesIO()
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        for name, content in contents.items():
            Path(folder, name).write_bytes(content.encode() if isinstance(content, str) else content)
        os.chdir(folder)
        try:
            code = evalb(words, out, err)
        finally:
            os.chdir(before)
    return Outcome(out.getvalue(), err.getvalue(), code)
