"""The pages that users read: the commands in them, and what these print in a folder that ``treegauge examples`` filled."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(sh|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
MASKS = ((re.compile(r"\b\d+\.\d+ s\b"), "N s"), (re.compile(r"version:[\w.]+"), "version:V"))
CUT = "..."
"""The last line of an output that goes on."""
NEWCOMERS = ("README.md", "docs/tutorial.md", *(f"docs/howto/{name}.md" for name in ("paper", "treebanks", "language-models")))
NEWCOMERS += ("docs/howto/induction.md", "docs/howto/teach.md")
"""The pages that newcomers follow from the first line to the last: see ``tests/newcomers``."""


class Command(NamedTuple):
    """A line of shell in a page, and the lines shown below it; none in a block ``sh``."""

    line: str
    shown: list[str]


class Done(NamedTuple):
    """The exit code of a command, its standard output and its standard error."""

    code: int
    output: str
    errors: str

    @property
    def lines(self) -> list[str]:
        """Standard output, then standard error; what is said once, when kernels are compiled, is left out."""
        lines = (self.output + self.errors).splitlines()
        return [line.rstrip() for line in lines if not re.search("compiling the (parser's )?kernels", line)]


def commands(page: Path) -> Iterator[Command]:
    """The commands of a page in their order."""
    for kind, block in BLOCK.findall(page.read_text("utf-8")):
        if kind == "sh":
            yield from (Command(line, []) for line in block.replace("\\\n", " ").splitlines() if line.strip())
            continue
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, *shown = part.splitlines()
            yield Command(line, shown)


EXTRAS = ("matplotlib", "starlette", "uvicorn", "sqlalchemy", "alembic", "psycopg", "dask", "distributed", "torch")
"""Packages that come with an extra only."""


def run(line: str, folder: Path, *, extras: bool = True) -> Done:
    """Run a line of shell as a user with a terminal of 80 columns does; without ``extras``, after a plain ``pip install .``."""
    program = folder / "bin" / "treegauge"
    if not program.exists():
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m treegauge "$@"\n', "utf-8")
        program.chmod(0o755)
        hidden = f"import sys\nsys.modules.update(dict.fromkeys({EXTRAS}))\n"
        (program.parent / "sitecustomize.py").write_text(hidden, "utf-8")
    environment = dict(os.environ, COLUMNS="80", NO_COLOR="1", PYTHONUTF8="1", PATH=f"{program.parent}:{os.environ['PATH']}")
    if not extras:
        environment["PYTHONPATH"] = os.pathsep.join([str(program.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(["bash", "-c", line], cwd=folder, env=environment, capture_output=True, encoding="utf-8")
    return Done(done.returncode, done.stdout, done.stderr)


def masked(line: str) -> str:
    """The line without times and versions."""
    for pattern, word in MASKS:
        line = pattern.sub(word, line)
    return line.rstrip()


def differs(shown: list[str], done: Done) -> str:
    """What a command printed, if that is not what a page shows; else nothing."""
    expected, found = [masked(line) for line in shown], [masked(line) for line in done.lines]
    if expected and expected[-1] == CUT:
        expected, found = expected[:-1], found[: len(expected) - 1]
    return "" if not shown or expected == found else "\n".join(done.lines)
