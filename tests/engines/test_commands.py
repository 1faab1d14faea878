"""Every command that takes an engine: the same bytes from this process, from worker processes and from a Dask cluster."""

from __future__ import annotations

import gzip
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from processes import running_process

from treegauge import read
from treegauge.data import treebank_path
from treegauge.engines import IN_PROCESS
from treegauge.grammar import tree_counts
from treegauge.io import sources
from treegauge.learning import reestimation as expectation


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a few sentences, so that there are several."""
    monkeypatch.setattr(sources, "CHUNK_BYTES", 3000)
    monkeypatch.setattr("treegauge.cli.parse.BLOCK", 5)
    monkeypatch.setattr(tree_counts.count_treebank, "__defaults__", (IN_PROCESS, 17))
    monkeypatch.setattr(expectation, "GROUP", 1)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Gold trees, two systems, sentences; one system has a failed parse and another text, the other a blank line."""
    folder = tmp_path_factory.mktemp("files")
    one_line = [" ".join(tree.split()) for tree in _own_trees()]
    flat = [tree.replace("(VP ", "(X ").replace("(NP ", "(NX ") if i % 3 else tree for i, tree in enumerate(one_line)]
    flat[7] = "(S (UH other) (NN words))"
    failed = [tree.replace("(PP ", "(NP ") for tree in one_line]
    failed[20] = ""
    for name, lines in (("gold", one_line), ("a", flat), ("b", failed)):
        (folder / f"{name}.mrg").write_text("\n".join(lines) + "\n")
    bank = read(folder / "gold.mrg")
    words = [[w for w, t in zip(bank.words(i), bank.tags(i), strict=True) if t != "-NONE-"] for i in range(len(bank))]
    (folder / "s.txt").write_text("".join(" ".join(sentence) + "\n" + "\n" * (i % 4 == 0) for i, sentence in enumerate(words)))
    return folder


def _own_trees() -> list[str]:
    return [str(tree) for tree in read(treebank_path("travel"))[:60]]


COMMANDS = [
    (
        "score",
        "gold.mrg",
        "a.mrg",
        "b.mrg",
        "-m",
        "parseval",
        "-m",
        "leaf-ancestor",
        "-m",
        "freval",
        "--breakdown",
        "labels,errors",
    ),
    ("score", "gold.mrg", "a.mrg", "--format", "json"),
    ("score", "gold.mrg", "b.mrg", "--per-sentence", "--examples", "2", "--breakdown", "labels"),
    ("score", "gold.mrg", "a.mrg", "--format", "jsonl", "-m", "freval"),
    ("score", "gold.mrg", "a.mrg", "--on-mismatch", "evalb", "-p", "collins", "--format", "evalb"),
    ("score", "gold.mrg", "a.mrg", "--on-mismatch", "error"),
    ("score", "gold.mrg", "a.mrg", "--on-mismatch", "skip", "--stream", "--fail-under", "f1=0.99"),
    ("freval", "gold.mrg", "a.mrg", "b.mrg", "--by-size"),
    ("freval", "gold.mrg", "a.mrg", "b.mrg", "--matching", "published", "--format", "json"),
    ("parse", "own", "s.txt", "--format", "json", "--kbest", "2", "--posteriors"),
    ("parse", "own", "s.txt", "--prune", "1e-4", "--prune-check", "3"),
    ("parse", "own", "gold.mrg", "--input", "trees", "--gold-tags", "--objective", "labelled-recall"),
    ("induce", "gold.mrg", "--format", "text"),
    ("induce", "gold.mrg", "--format", "text", "--lexicon", "collins", "--smooth-rules", "1"),
    ("induce", "gold.mrg", "--format", "text", "--tags", "--dop", "corrected", "--steps", "traces,functions,root,goodman"),
    ("learn", "gold.mrg", "--nonterminals", "3", "--iterations", "3", "--format", "text"),
    ("learn", "gold.mrg", "--nonterminals", "3", "--iterations", "3", "--format", "text", "--restarts", "3", "-q"),
]
OTHERS = [
    ("compare", "gold.mrg", "a.mrg", "b.mrg", "--rounds", "3000", "--format", "json"),
    ("compare", "gold.mrg", "a.mrg", "b.mrg", "--rounds", "1200", "--interval", "bca", "-m", "freval", "-m", "leaf-ancestor"),
    ("reproduce", "goodman-table1", "gold.mrg", "--runs", "3", "--iterations", "2", "--nonterminals", "3", "--format", "json"),
    ("reproduce", "goodman-table2", "gold.mrg", "--rounds", "50", "--max-length", "12", "--format", "json"),
]


def without_times(err: str) -> str:
    """What stderr says, without what a run of other speed, or the first one, says otherwise."""
    lines = [line for line in err.splitlines() if " in " not in line and "compiling" not in line and "a second" not in line]
    return "\n".join(lines)


@pytest.mark.slow
@pytest.mark.parametrize("command", [*COMMANDS, *OTHERS], ids=" ".join)
def test_an_engine_changes_no_byte(
    command: tuple[str, ...], run: Callable[..., Any], dask: str, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(files)
    here = run(*command)
    there = run(*command, "--engine", dask)
    assert there.out == here.out
    assert (there.code, without_times(there.err)) == (here.code, without_times(here.err))
    assert here.out or here.code == 4


@pytest.mark.parametrize("command", [COMMANDS[0], COMMANDS[9], COMMANDS[12], COMMANDS[15], OTHERS[0]], ids=" ".join)
def test_worker_processes_change_no_byte(
    command: tuple[str, ...], run: Callable[..., Any], files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(files)
    assert run(*command, "--engine", "local:2").out == run(*command).out


@pytest.mark.parametrize("command", [COMMANDS[0], *COMMANDS[7:], *OTHERS], ids=" ".join)
def test_shards_of_earlier_releases_are_refused_with_the_page(
    command: tuple[str, ...], run: Callable[..., Any], files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(files)
    for words in ((*command, "--shard", "1/2"), (*command, "--part", "x"), ("merge", "1.part", "2.part"), ("merge",)):
        done = run(*words)
        assert (done.code, done.out) == (2, "")
        assert "docs/howto/cluster.md" in done.err


def test_sentences_out_of_step_are_paired_by_text_all_the_same(
    run: Callable[..., Any], files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = (files / "gold.mrg").read_text().splitlines()
    swapped = [*lines[:30], lines[40], *lines[31:40], lines[30], *lines[41:]]
    for name, trees in (("gold", lines), ("missing", [*lines[:11], *lines[12:]]), ("swapped", swapped)):
        (tmp_path / f"{name}.mrg").write_text("\n".join(trees) + "\n")
    for name in ("missing.mrg", "swapped.mrg"):
        whole = run("score", "gold.mrg", name)
        assert run("score", "gold.mrg", name, "--engine", "local:2") == whole


def test_directories_and_compressed_files(
    run: Callable[..., Any], files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for side in ("gold", "a"):
        (tmp_path / side).mkdir()
        lines = (files / f"{side}.mrg").read_text().splitlines()
        for first, suffix in ((0, ""), (25, ".gz"), (50, "")):
            name = f"{side}/{first:02}.mrg{suffix}"
            _write(tmp_path / name, "\n".join(lines[first : first + 25]) + "\n")
    assert run("score", "gold", "a", "--engine", "local:2", "--format", "json") == run("score", "gold", "a", "--format", "json")
    assert run("induce", "gold", "--engine", "local:2") == run("induce", "gold")


def _write(path: Path, text: str) -> None:
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())


@pytest.mark.parametrize(
    "command",
    [("score", "gold.mrg", "a.mrg"), ("freval", "gold.mrg", "a.mrg"), ("induce", "gold.mrg"), ("parse", "own", "s.txt")],
    ids=" ".join,
)
def test_standard_input(command: tuple[str, ...], run: Callable[..., Any], files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files)
    with open(command[-1]) as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        piped = run(*command[:-1], "-", "--engine", "local:2")
    here = run(*command)
    assert re.findall(r"[A-Z0-9.]{2,}", piped.out) == re.findall(r"[A-Z0-9.]{2,}", here.out) != []
    assert piped.code == here.code


@pytest.mark.slow
def test_a_worker_killed_in_the_middle_changes_nothing(cluster: Any, dask: str, files: Path, tmp_path: Path) -> None:
    text = (files / "s.txt").read_text() * 14  # several shards
    (tmp_path / "s.txt").write_text(text)
    command = [sys.executable, "-m", "treegauge", "parse", "own", str(tmp_path / "s.txt"), "--objective", "mbr:goodman"]
    command += ["--size", "10", "-o"]
    subprocess.run([*command, str(tmp_path / "here.mrg")], check=True, capture_output=True)
    with running_process([*command, str(tmp_path / "there.mrg"), "--engine", dask], stderr=subprocess.DEVNULL) as running:
        killed = 0
        until = time.monotonic() + 120
        while running.poll() is None and time.monotonic() < until and killed < 2:
            busy = [worker for worker in cluster.scheduler.workers.values() if worker.processing]
            if busy:
                os.kill(_process_of(cluster, busy[0].address), signal.SIGKILL)
                killed += 1
            time.sleep(0.5)
        assert running.wait(timeout=240) == 0
    assert killed
    assert (tmp_path / "there.mrg").read_bytes() == (tmp_path / "here.mrg").read_bytes()


def _process_of(cluster: Any, address: str) -> int:
    return next(nanny.pid for nanny in cluster.workers.values() if nanny.worker_address == address)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_only_its_own_tasks_end_with_a_command(cluster: Any, dask: str, tmp_path: Path, number: int) -> None:
    """The workers of the user's own cluster stay, and a task of somebody else does, too."""
    from distributed import Client

    (tmp_path / "g.txt").write_text('S -> S S [.5] | "a" [.5]\n')
    (tmp_path / "s.txt").write_text(("a " * 60 + "\n") * 20_000)
    command = [sys.executable, "-m", "treegauge", "parse", str(tmp_path / "g.txt"), str(tmp_path / "s.txt")]
    before = set(cluster.scheduler.workers)

    def ours() -> list[str]:
        return [str(key) for key in list(cluster.scheduler.tasks) if "treegauge" in str(key)]

    with Client(cluster, set_as_default=False) as client:
        other = client.submit(str.upper, "kept", key="other")
        words = [*command, "-o", str(tmp_path / "out.mrg"), "--engine", dask]
        with running_process(words, stderr=subprocess.DEVNULL) as running:
            while not (ours() and (tmp_path / "out.mrg").exists() and (tmp_path / "out.mrg").stat().st_size):
                assert running.poll() is None
                time.sleep(0.01)
            running.send_signal(number)
            assert running.wait(timeout=300) == (143 if number == signal.SIGTERM else -number)
        until = time.monotonic() + 300
        while ours():
            assert time.monotonic() < until, ours()
            time.sleep(0.05)
        assert other.result() == "KEPT"
    assert set(cluster.scheduler.workers) == before
