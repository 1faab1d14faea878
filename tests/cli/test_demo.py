"""``treegauge demo``: short, narrow, and what it shows is what its commands print."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from treegauge.data import write_examples


def run(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "treegauge", *words]
    variables = {**os.environ, "PYTHONUTF8": "1", **variables}
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False, cwd=folder, env=variables)


def test_the_tour_fits_a_screen_writes_nothing_and_shows_what_its_commands_print(tmp_path: Path) -> None:
    done = run(tmp_path, "demo")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert not list(tmp_path.iterdir())
    write_examples(tmp_path)
    before_next = done.stdout.partition("What to type next")[0]
    steps = re.findall(r"^\$ treegauge ([^#\n]*[^#\n ])[^\n]*\n((?:(?!\$ ).*\n)*)", before_next, re.MULTILINE)
    assert [line.split()[0] for line, _ in steps] == ["score", "validate", "compare", "diff", "induce", "parse", "compare"]
    for line, shown in steps:
        printed = run(tmp_path, *line.split(), COLUMNS="80").stdout.splitlines()
        assert set(shown.splitlines()) <= {"", *printed}, line
        assert shown.strip() or line.startswith(("induce", "parse")), line
    assert done.stdout.count("\nmessy.mrg:") == 3, "both errors that the last line counts"
    assert re.search(r"^B is better than A by .*p = \.000\d", done.stdout, re.MULTILINE)
    assert re.search(r"^C is better than A by .*precision", done.stdout, re.MULTILINE)


def test_a_terminal_without_unicode_is_drawn_for(tmp_path: Path) -> None:
    done = run(tmp_path, "demo", PYTHONUTF8="0", PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()
    assert "+-----" in done.stdout


@pytest.mark.slow
def test_the_first_run_says_that_it_compiles(tmp_path: Path) -> None:
    done = run(tmp_path, "demo", NUMBA_CACHE_DIR=str(tmp_path / "kernels"))
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("compiling") == 1
    assert len((done.stdout + done.stderr).splitlines()) <= 40
    assert "compiling" not in run(tmp_path, "demo", NUMBA_CACHE_DIR=str(tmp_path / "kernels")).stderr
