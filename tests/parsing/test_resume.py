"""A killed run goes on to the same file: killed by the system at any moment, plain or compressed."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from processes import running_process

from treegauge.parsing.output import RecordFile

pytestmark = pytest.mark.slow

GRAMMAR = 'S -> S S [.5] | "a" [.5]\n'
OPEN = {"": open, ".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def content(path: Path) -> bytes:
    with OPEN[path.suffix if path.suffix in OPEN else ""](path, "rb") as stream:
        return stream.read()


def command(folder: Path, target: Path, *more: str) -> list[str]:
    arguments = ["parse", str(folder / "g.txt"), str(folder / "s.txt"), "-o", str(target), *more]
    return [sys.executable, "-m", "treegauge", *arguments]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nobody killed, beside its grammar and its sentences."""
    folder = tmp_path_factory.mktemp("whole")
    words = [f"w{n}" for n in range(100)]
    (folder / "g.txt").write_text("S -> S S [.5]\n" + "".join(f'S -> "{word}" [.005]\n' for word in words))
    rng = random.Random(1)
    (folder / "s.txt").write_text("".join(" ".join(rng.choices(words, k=n % 30 + 1)) + "\n" for n in range(1500)))
    subprocess.run(command(folder, folder / "whole.mrg"), check=True, capture_output=True)
    return folder / "whole.mrg"


@pytest.mark.slow
@pytest.mark.parametrize(("suffix", "more"), [("", ()), (".gz", ()), ("", ("--engine", "local:2"))], ids=str)
@pytest.mark.posix
def test_a_run_killed_by_the_system_resumes_to_the_same_file(
    whole: Path, tmp_path: Path, suffix: str, more: tuple[str, ...]
) -> None:
    killed = tmp_path / f"killed.mrg{suffix}"
    options: dict[str, Any] = {"stderr": subprocess.DEVNULL, "start_new_session": True}
    with running_process(command(whole.parent, killed, *more), **options) as process:
        until = time.monotonic() + 120
        while not (killed.exists() and killed.stat().st_size > 4000) and process.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL, "it was killed in the middle"
    left = killed.stat().st_size
    done = subprocess.run(command(whole.parent, killed, *more, "--resume"), check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "done before" in done.stderr
    assert killed.stat().st_size > left > 0
    assert content(killed) == whole.read_bytes()


@pytest.mark.parametrize("suffix", OPEN)
@pytest.mark.parametrize("kbest", [0, 2])
def test_whatever_is_left_of_a_file_its_complete_records_stay(tmp_path: Path, suffix: str, kbest: int) -> None:
    end = "\n\n" if kbest else "\n"
    records = [f"(S (N {'x' * (n * 37 % 50)}{n}é)){end}" for n in range(60)]
    path = tmp_path / f"x.mrg{suffix}"
    with RecordFile(str(path), "bracketed", kbest, resume=False).open() as write:
        for record in records:
            write(record)
    whole = path.read_bytes()
    assert content(path).decode() == "".join(records)
    for size in {0, 1, len(whole) // 3, len(whole) // 2, len(whole) - 30, len(whole) - 1, len(whole)}:
        path.write_bytes(whole[:size])
        left = RecordFile(str(path), "bracketed", kbest, resume=True)
        assert 0 <= left.done <= len(records)
        assert left.done == len(records) if size == len(whole) else left.done < len(records) or suffix
        with left.open() as write:
            for record in records[left.done :]:
                write(record)
        assert content(path).decode() == "".join(records), size


@pytest.mark.posix
@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="pipes have no names on this system")
def test_records_go_to_a_pipe_whose_name_is_no_file() -> None:
    reading, writing = os.pipe()
    with RecordFile(f"/dev/fd/{writing}", "bracketed", False, resume=False, plan={"seed": 1}).open() as write:
        write("(A a)\n")
    os.close(writing)
    with open(reading, "rb") as stream:
        assert stream.read() == b"(A a)\n"


def test_output_is_compressed_by_its_suffix_and_the_same_every_time(tmp_path: Path) -> None:
    (tmp_path / "g.txt").write_text(GRAMMAR)
    (tmp_path / "s.txt").write_text("a a\na a a\n")
    targets = [tmp_path / "1.mrg.gz", tmp_path / "2.mrg.gz"]
    for target in targets:
        subprocess.run(command(tmp_path, target), check=True, capture_output=True)
    assert targets[0].read_bytes() == targets[1].read_bytes()
    assert gzip.decompress(targets[0].read_bytes()) == b"(S (S a) (S a))\n(S (S a) (S (S a) (S a)))\n"


def test_nothing_is_written_over_a_folder(tmp_path: Path) -> None:
    (tmp_path / "g.txt").write_text(GRAMMAR)
    (tmp_path / "s.txt").write_text("a a\n")
    done = subprocess.run(command(tmp_path, tmp_path), check=False, capture_output=True, text=True)
    assert (done.returncode, "Traceback" in done.stderr) == (3, False)
