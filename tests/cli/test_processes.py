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

import numpy as np
import pytest
from processes import running_process

import treegauge
from treegauge.cli import COMMANDS, main
from treegauge.grammar import PCFG, save_model
from treegauge.humancheck.judgements import BracketId, Judgement, sentence_hash
from treegauge.humancheck.store import Store
from treegauge.parsing import write_charts

pytestmark = pytest.mark.posix

COMMAND = [sys.executable, "-m", "treegauge"]
TREES = "(S (NP (DT the) (NN rain)) (VP (VBD fell)))\n"
TERM, HUP, INT, KILL = (getattr(signal, name, signal.SIGTERM) for name in ("SIGTERM", "SIGHUP", "SIGINT", "SIGKILL"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "gold.mrg").write_text(TREES)
    (tmp_path / "test.mrg").write_text(TREES.replace("VP", "NP"))
    (tmp_path / "broken.mrg").write_text(TREES[:-2])
    (tmp_path / "g.txt").write_text('S -> S S [.5] | "a" [.5]\n')
    (tmp_path / "s.txt").write_text("a a\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def files(folder: Path) -> Path:
    """The folder with a file of every kind that a command reads."""
    (folder / "many.mrg").write_text(TREES * 20)
    (folder / "other.mrg").write_text("(S (NN rain))\n" * 20)
    (folder / "chunks.txt").write_text("It PRP B-NP\nfell VBD B-VP\n\n")
    for preset, name in (("default", "a.json"), ("collins", "b.json")):
        (folder / name).write_text(treegauge.score("gold.mrg", "test.mrg", preset=preset).to_json())
    for name in ("g.model", "h.model"):
        save_model(PCFG.parse((folder / "g.txt").read_text()), folder / name, notes={"name": name})
    write_charts(folder / "charts.npz", [np.zeros((3, 3, 1))], ["S"])
    words = ("the", "rain", "fell")
    bracket = BracketId(sentence_hash(words), 2, 3, "VP", "gold")
    with Store(folder / "store.sqlite") as store:
        store.append([Judgement("1", bracket, "SP", "accepted", "anna")], {sentence_hash(words): words})
    return folder


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
        pytest.param(INT, 130, "--engine dask:2", marks=pytest.mark.slow),
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
            os.killpg(process.pid, number) if number == INT else process.send_signal(number)  # as Ctrl-C, to all processes
            _, message = process.communicate(timeout=300)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, KILL)
    assert (process.returncode, b"Traceback" in message) == (code, False)
    assert (folder / "out.mrg.checkpoint").exists()
    assert not list((folder / "tmp").glob("treegauge-*"))


LONG_RUNS = {
    "learn": ("learn many.mrg --nonterminals 9 --iterations 100000 --tolerance 0 --jobs 2 -o out", "out.checkpoint"),
    "train": ("train many.mrg --grammars 50 --rounds 2 --no-tune --jobs 2 -o out", "out.checkpoint/*.state"),
    "train --neural": ("train many.mrg --neural --quick --epochs 60000 --device cpu -o out", "out.checkpoint/plan.json"),
    "check": ("check gold.mrg test.mrg --no-open --port 0 --store store.sqlite", "tmp/said"),
}
"""Commands that take long, and the file that shows that they have begun their work."""


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(TERM, 143), (HUP, 129), (KILL, -9)])
@pytest.mark.parametrize("name", LONG_RUNS)
def test_a_long_run_that_is_ended_leaves_no_process_and_no_part_of_a_file(
    files: Path, monkeypatch: pytest.MonkeyPatch, name: str, number: int, code: int
) -> None:
    """What it leaves is a checkpoint, or a store, that the next run opens; its threads and processes have ended."""
    pytest.importorskip("torch" if name == "train --neural" else "numba")
    line, sign = LONG_RUNS[name]
    (files / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(files / "tmp"))
    before = {path.name for path in files.iterdir()}
    words = [*COMMAND, *line.split()]
    with (
        (files / "tmp" / "said").open("wb") as said,
        running_process(words, stdout=said, stderr=subprocess.PIPE, start_new_session=True) as process,
    ):
        wait_until(lambda: any(path.stat().st_size for path in files.glob(sign)), process)
        process.send_signal(number)
        _, message = process.communicate(timeout=300)  # which ends when nobody holds standard error open any more
    assert (process.returncode, b"Traceback" in message) == (0 if name == "check" and number != KILL else code, False), message
    if name == "check":
        assert subprocess.run([*COMMAND, "check", "--export", "-", "--store", "store.sqlite"], check=False).returncode == 0
    left = {path.name for path in files.iterdir()} - before
    if number == KILL:  # a checkpoint may have been in the middle of being written; the next run names its part
        left = {path for path in left if ".part." not in path}
    assert left == (set() if name == "check" else {"out.checkpoint"})
    assert not list((files / "tmp").glob("treegauge-*"))


@pytest.mark.parametrize("number", [TERM, HUP, INT])
@pytest.mark.parametrize(("test", "code"), [("test.mrg", 0), ("broken.mrg", 4)])
def test_a_signal_while_the_page_of_check_starts_ends_it_as_later_ones_do(folder: Path, number: int, test: str, code: int) -> None:
    """The exit code is that of the trees: the signal was meant for the page."""
    program = (
        "import click, signal\necho = click.echo\n"
        "def echo_and_signal(text='', **options):\n    echo(text, **options)\n"
        f"    if 'http' in str(text):\n        signal.raise_signal({int(number)})\n"
        "click.echo = echo_and_signal\nfrom treegauge.cli import main\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"main(['check', 'gold.mrg', '{test}', '--no-open', '--port', '0'])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=240, check=False)
    assert (done.returncode, "Traceback" in done.stderr, "interrupted" in done.stderr) == (code, False, False), done
    assert "0 answers stored" in done.stderr


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
    "evalb many.mrg other.mrg": (1, 3),
    "nonsense": (2, 2),
}
"""The exit code of commands: usually, and if standard output cannot be written."""

SLOW_STREAMS = {
    "demo": (0, 3),
    "examples new": (0, 3),
    "freval gold.mrg broken.mrg": (4, 3),
    "compare gold.mrg test.mrg broken.mrg --rounds 20": (4, 3),
    "report gold.mrg test.mrg -o out.html": (0, 0),
    "report gold.mrg broken.mrg --format markdown": (4, 3),
    "diff gold.mrg broken.mrg": (4, 3),
    "check --export - --store store.sqlite": (0, 3),
    "check gold.mrg test.mrg --results --store store.sqlite": (0, 3),
    "explain parseval": (0, 3),
    "explain-difference a.json b.json": (0, 3),
    "cite parseval": (0, 3),
    "treebanks": (0, 3),
    "convert broken.mrg": (3, 3),
    "normalise gold.mrg --steps traces": (0, 3),
    "draw gold.mrg": (0, 3),
    "induce gold.mrg -o -": (0, 3),
    "train gold.mrg --grammars 1 --rounds 0 --no-tune -o out.model": (0, 0),
    "mix g.model h.model -o mix.model": (0, 0),
    "parse g.txt s.txt": (0, 3),
    "decode charts.npz": (0, 3),
    "consensus broken.mrg broken.mrg": (4, 3),
    "posteriors g.txt s.txt": (0, 3),
    "learn gold.mrg --nonterminals 2 --iterations 2 -o -": (0, 3),
    "chunks score chunks.txt chunks.txt": (0, 3),
    "reproduce goodman-example": (0, 3),
    "help score": (0, 3),
    "completion bash": (0, 3),
    "--help": (0, 3),
}
KERNELS = {"parse", "posteriors", "decode", "learn", "train", "mix", "reproduce", "demo"}
"""Commands that need the extra [parse]."""


def test_streams_of_every_command_are_tried() -> None:
    assert {line.split()[0] for line in (*STREAMS, *SLOW_STREAMS)} == {*COMMANDS, "nonsense", "--help"}


@pytest.mark.parametrize("line", [*STREAMS, *(pytest.param(line, marks=pytest.mark.slow) for line in SLOW_STREAMS)])
def test_standard_streams_that_are_closed_or_full(files: Path, line: str) -> None:
    if line.split()[0] in KERNELS:
        pytest.importorskip("numba", reason="kernels need the extra [parse]")
    usual, without_output = (STREAMS | SLOW_STREAMS)[line]
    plain = subprocess.run([*COMMAND, *line.split()], capture_output=True, check=False)
    assert plain.returncode == usual, plain
    # A reader that goes away does not change the outcome.
    ends = {">&-": without_output, "2>&-": usual, "<&-": usual, "| true": usual, "| head -1": usual, ">&- 2>&- <&-": without_output}
    if os.path.exists("/dev/full"):
        ends |= {">/dev/full": without_output, "2>/dev/full": usual}
    for end, code in ends.items():
        script = f"rm -rf new; '{sys.executable}' -m treegauge {line} {end}; exit ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", script], capture_output=True, check=False)
        assert (done.returncode, b"Traceback" in done.stderr, b"internal" in done.stderr) == (code, False, False), (end, done)
        if end in ("2>&-", "2>/dev/full", "<&-"):
            assert done.stdout == plain.stdout
        if end == ">&-" and without_output == 3 != usual:
            assert done.stderr.endswith(b"treegauge: standard output is closed\n")


def state() -> tuple[object, ...]:
    handlers = [signal.getsignal(number) for number in (INT, TERM, HUP)]
    hooks = warnings.formatwarning, sys.unraisablehook
    return gc.get_threshold(), hooks, list(warnings.filters), handlers, sys.stdout, sys.stderr, dict(os.environ)


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


PLACES = {
    "a finaliser": "class Finalised:\n    def __del__(self):\n        arrive()\nFinalised()",
    "code that drops all exceptions": "try:\n    arrive()\nexcept BaseException:\n    pass",
    "a module that turns exceptions into errors": "try:\n    arrive()\nexcept BaseException:\n    raise ImportError",
    "an object that is half made": (
        "class Half:\n    def __init__(self):\n        arrive()\n        self.whole = 1\n"
        "    def __del__(self):\n        print(self.whole)\nHalf()"
    ),
}
"""Places at which Python, Numba or NumPy may be when a signal arrives: where an exception is only printed, or not even that."""


@pytest.mark.parametrize(("number", "code"), [(TERM, 143), (HUP, 129), (INT, 130)])
@pytest.mark.parametrize("place", PLACES)
def test_a_signal_is_not_lost_wherever_it_arrives(place: str, number: int, code: int) -> None:
    program = (
        "import signal, time\nfrom treegauge.cli import main, _group\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"def arrive():\n    signal.raise_signal({int(number)})\n"
        f"def work(**_):\n    exec({PLACES[place]!r}, globals())\n    time.sleep(60)\n    return 77\n"
        "_group.treegauge.main = work\nmain(['score'])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=240, check=False)
    assert (done.returncode, done.stderr.startswith("treegauge: interrupted"), done.stderr.count("\n")) == (code, True, 1), done


@pytest.mark.parametrize(("number", "code"), [(TERM, 143), (INT, 130)])
def test_a_signal_waits_until_a_worker_is_started(number: int, code: int) -> None:
    """Else the worker, whose parent has gone away in the middle of telling it what to do, prints a traceback."""
    program = (
        "import operator, os, signal, time\nfrom multiprocessing import util\nfrom treegauge.cli import main, _group\n"
        "from treegauge.engines.workers import Processes\n"
        "spawn = util.spawnv_passfds\n"
        "def spawn_and_signal(*words):\n"
        "    made = spawn(*words)\n    if 'spawn_main' in str(words):\n        time.sleep(1)\n"
        f"        os.killpg(0, signal.SIGINT) if {number == INT} else signal.raise_signal({int(number)})\n    return made\n"
        "def work(**_):\n    with Processes(2) as engine:\n        return list(engine.map(operator.mul, 3, range(4)))\n"
        "if __name__ == '__main__':\n    signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "    util.spawnv_passfds, _group.treegauge.main = spawn_and_signal, work\n    main(['score'])\n"
    )
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, capture_output=True, text=True, timeout=240, check=False, start_new_session=True)
    assert (done.returncode, "interrupted" in done.stderr, "Traceback" in done.stderr) == (code, True, False), done
