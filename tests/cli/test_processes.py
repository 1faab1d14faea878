"""Commands as processes among others: ended by signals, with standard streams closed or full, or called by a program."""

from __future__ import annotations

import gc
import importlib
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from processes import running_process

from treegauge.cli import main

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and shells of POSIX")

COMMAND = [sys.executable, "-m", "treegauge"]
TREES = "(S (NP (DT the) (NN rain)) (VP (VBD fell)))\n"
TERM, HUP, INT, KILL = signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "gold.mrg").write_text(TREES)
    (tmp_path / "test.mrg").write_text(TREES.replace("VP", "NP"))
    (tmp_path / "broken.mrg").write_text(TREES[:-2])
    (tmp_path / "g.txt").write_text('S -> S S [.5] | "a" [.5]\n')
    (tmp_path / "s.txt").write_text("a a\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def wait_until(holds: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    """Wait for a condition, for at most five minutes and as long as the process runs."""
    until = time.monotonic() + 300
    while not holds():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.mark.parametrize(("number", "code"), [(INT, 130), (TERM, 143), (HUP, 129)])
@pytest.mark.parametrize("command", ["convert", "normalise --steps traces"])
def test_a_signal_ends_a_command_that_leaves_nothing(folder: Path, command: str, number: int, code: int) -> None:
    pipe = folder / "pipe.mrg"
    os.mkfifo(pipe)
    before = sorted(folder.iterdir())
    words = [*COMMAND, *command.split(), "pipe.mrg", "-o", "out.mrg"]
    with running_process(words, stderr=subprocess.PIPE) as process, pipe.open("wb") as stream:  # opens when the command does
        stream.write(TREES.encode() * 200)
        stream.flush()
        wait_until(lambda: bool(list(folder.glob(".*.part.out.mrg"))), process)
        process.send_signal(number)
        _, message = process.communicate(timeout=300)
    said = "interrupted" if number == INT else f"interrupted by {signal.Signals(number).name}"
    assert (process.returncode, message.decode().strip()) == (code, f"treegauge: {said}")
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(
    ("number", "code", "how"),
    [
        (TERM, 143, "--jobs 2"),
        (KILL, -9, "--jobs 2"),
        (HUP, 129, "--engine local:2"),
        (KILL, -9, "--engine local:2"),
        pytest.param(TERM, 143, "--engine dask:2", marks=pytest.mark.slow),
        pytest.param(KILL, -9, "--engine dask:2", marks=pytest.mark.slow),
    ],
)
def test_workers_end_with_their_command(folder: Path, number: int, code: int, how: str) -> None:
    """All its processes have ended once nobody holds its standard error open any more."""
    if "dask" in how:
        pytest.importorskip("distributed")
    (folder / "long.txt").write_text(("a " * 60 + "\n") * 20_000)
    (folder / "tmp").mkdir()
    words = [*COMMAND, "parse", "g.txt", "long.txt", "-o", "out.mrg", *how.split()]
    environment = {**os.environ, "TMPDIR": str(folder / "tmp")}
    with running_process(words, stderr=subprocess.PIPE, start_new_session=True, env=environment) as process:
        try:
            wait_until(lambda: (folder / "out.mrg").exists() and (folder / "out.mrg").stat().st_size > 0, process)
            process.send_signal(number)
            _, message = process.communicate(timeout=300)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, KILL)
    assert (process.returncode, b"Traceback" in message) == (code, False)
    assert (folder / "out.mrg.checkpoint").exists()
    assert not list((folder / "tmp").glob("treegauge-*"))


def ignore_hangups() -> None:
    """Do as nohup does."""
    signal.signal(HUP, signal.SIG_IGN)


def test_a_command_that_ignores_hangups_goes_on(folder: Path) -> None:
    words = [*COMMAND, "convert", "-", "-o", "out.mrg"]
    with running_process(words, stdin=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=ignore_hangups) as process:
        assert process.stdin is not None
        process.stdin.write(TREES.encode() * 2000)
        process.stdin.flush()
        wait_until(lambda: bool(list(folder.glob(".*.part.out.mrg"))), process)
        process.send_signal(HUP)
        _, message = process.communicate(timeout=300)
    assert (process.returncode, message) == (0, b"")
    assert (folder / "out.mrg").read_text() == TREES * 2000


STREAMS = {
    "score gold.mrg gold.mrg -q": (0, 3),
    "score gold.mrg test.mrg --fail-under f1=1.0": (1, 3),
    "score gold.mrg gold.mrg -q -o out.txt": (0, 0),
    "score gold.mrg broken.mrg --per-sentence": (4, 3),
    "validate broken.mrg": (3, 3),
    "convert gold.mrg": (0, 3),
    "parse g.txt s.txt -o out.mrg": (0, 0),
    "evalb gold.mrg gold.mrg": (0, 3),
    "nonsense": (2, 2),
}
"""The exit code of commands: usually, and if standard output cannot be written."""


@pytest.mark.parametrize("line", STREAMS)
def test_standard_streams_that_are_closed_or_full(folder: Path, line: str) -> None:
    usual, without_output = STREAMS[line]
    plain = subprocess.run([*COMMAND, *line.split()], capture_output=True, check=False)
    ends = {">&-": without_output, "2>&-": usual, "<&-": usual, "| true": usual, ">&- 2>&- <&-": without_output}
    if os.path.exists("/dev/full"):
        ends |= {">/dev/full": without_output, "2>/dev/full": usual}
    for end, code in ends.items():
        script = f"'{sys.executable}' -m treegauge {line} {end}; exit ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", script], capture_output=True, check=False)
        assert (done.returncode, b"Traceback" in done.stderr, b"internal" in done.stderr) == (code, False, False), (end, done)
        if end in ("2>&-", "2>/dev/full", "<&-"):
            assert done.stdout == plain.stdout
        if end == ">&-" and without_output == 3:
            assert done.stderr.endswith(b"treegauge: standard output is closed\n")


def state() -> tuple[object, ...]:
    handlers = [signal.getsignal(number) for number in (INT, TERM, HUP)]
    return gc.get_threshold(), warnings.formatwarning, list(warnings.filters), handlers, sys.stdout, sys.stderr


@pytest.mark.parametrize("words", [["cite", "parseval"], ["score", "missing.mrg", "missing.mrg"], ["evalb", "missing", "missing"]])
def test_a_program_that_calls_a_command_stays_as_it_was(words: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    def call() -> None:
        print("before")
        with pytest.raises(SystemExit):
            main(words)
        print("after")

    importlib.import_module("numpy")  # which adds filters of its own
    before = state()
    call()
    thread = threading.Thread(target=call)  # where no handler can be installed
    thread.start()
    thread.join()
    assert state() == before
    shown = capfd.readouterr().out.split("before\n")
    assert [text.endswith("after\n") for text in shown] == [False, True, True]
    assert shown[1] == shown[2]


def test_handlers_of_a_program_stay_while_it_calls_a_command() -> None:
    program = (
        "import signal\nfrom treegauge.cli import main, _group\n"
        "signal.signal(signal.SIGTERM, lambda *_: print('ours', flush=True))\n"
        "_group.treegauge.main = lambda **_: signal.raise_signal(signal.SIGTERM)\nmain(['score'])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ours\n", "")


@pytest.mark.parametrize(("number", "code"), [(TERM, 143), (INT, 130)])
def test_a_signal_that_arrives_in_a_finaliser_is_not_lost(number: int, code: int) -> None:
    """Numba's objects have finalisers, in which Python only prints exceptions."""
    program = (
        "import signal, time\nfrom treegauge.cli import main, _group\n"
        "class Finalised:\n"
        f"    def __del__(self):\n        signal.raise_signal({int(number)})\n"
        "def work(**_):\n    Finalised()\n    time.sleep(60)\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "_group.treegauge.main = work\nmain(['score'])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, "interrupted" in done.stderr, "Traceback" in done.stderr) == (code, True, False)
