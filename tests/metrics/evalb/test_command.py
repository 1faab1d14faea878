"""``treegauge evalb`` as a program: raw words, streams, exit codes, a reader that leaves early."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from evalb_helpers import TRAM, run
from processes import running_process

COMMAND = [sys.executable, "-m", "treegauge", "evalb"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("gold", "test"):
        (tmp_path / name).write_text(TRAM + "\n")
    return tmp_path


def call(folder: Path, *words: str | bytes) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*COMMAND, *words], cwd=folder, capture_output=True, timeout=60, check=False)


def test_a_run(folder: Path):
    done = call(folder, "gold", "test")
    assert (done.stdout, done.stderr, done.returncode) == run(TRAM, TRAM, None)


def test_h_is_evalbs(folder: Path):
    done = call(folder, "-h")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b" evalb [-dDh]")


def test_help_alone_is_ours(folder: Path):
    done = call(folder, "--help")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"Usage: treegauge evalb [-d] [-D]")


@pytest.mark.parametrize("word", ["--", "--help", "--version", "-z"])
def test_other_words_are_evalbs(folder: Path, word: str):
    done = call(folder, "gold", "test", word)
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr.startswith(b" evalb [-dDh]")


def test_the_error_limit_is_the_exit_code(folder: Path):
    (folder / "test").write_text("junk\n")
    done = call(folder, "-e", "3", "gold", "test")
    assert done.returncode == 1
    assert done.stderr == b"1 : Reading sentence\n" * 5
    assert done.stdout.count(b"\n") == 3


@pytest.mark.posix
def test_file_names_are_bytes(folder: Path):
    name = b"\xff\xfe.mrg"
    try:
        os.rename(folder / "gold", os.fsencode(folder / "gold") + name)
    except OSError:
        pytest.skip("this file system has no such names")
    name = b"gold" + name
    assert call(folder, name, "test").returncode == 0
    assert call(folder, b"\xff", "test").stderr == b"Can't open gold file (\xff)\n"


@pytest.mark.posix
def test_standard_input(folder: Path):
    done = subprocess.run(
        [*COMMAND, "/dev/stdin", "test"], cwd=folder, input=TRAM.encode(), capture_output=True, timeout=60, check=False
    )
    assert (done.stdout, done.returncode) == (run(TRAM, TRAM, None).stdout, 0)


def test_a_reader_that_leaves_is_no_trouble(folder: Path):
    for name in ("gold", "test"):
        (folder / name).write_text((TRAM + "\n") * 20_000)
    with running_process([*COMMAND, "gold", "test"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        process.wait(timeout=60)
    assert process.returncode in (0, 1)
