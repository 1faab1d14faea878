"""The same bytes however the files are cut: into blocks of several sizes, a stream, the tasks of processes and of a cluster.

The trees are made so that what a block sees differs from block to block: its labels, which of the labels that the preset takes as
equal come first, which of them occur at all, and its words.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from treegauge import read
from treegauge.data import treebank_path
from treegauge.io import sources
from treegauge.metrics.breakdowns import BREAKDOWNS
from treegauge.metrics.registry import metric_names

METRICS = [word for name in metric_names() for word in ("-m", name)]
ALL_BREAKDOWNS = ("--breakdown", ",".join(BREAKDOWNS))
SCORES = [
    ("score", "gold.mrg", "test.mrg", *METRICS, *ALL_BREAKDOWNS),
    ("score", "gold.mrg", "test.mrg", "other.mrg", *ALL_BREAKDOWNS, "-p", "chain.toml", "--format", "json"),
    ("score", "gold.mrg", "test.mrg", "other.mrg", *ALL_BREAKDOWNS, "-p", "collins"),
    ("freval", "gold.mrg", "test.mrg", "other.mrg", "--by-size"),
]
ROWS = [
    ("score", "gold.mrg", "test.mrg", *METRICS, "--format", "jsonl"),
    ("compare", "gold.mrg", "test.mrg", "other.mrg", "--rounds", "500", "--format", "json"),
]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Trees whose ADVP and PRT come in turns: only one of them, the other one, or both, in either order."""
    folder = tmp_path_factory.mktemp("cut")
    trees = [" ".join(str(tree).split()) for tree in read(treebank_path("travel"))[:48]]
    gold = [f"(S {tree} {_particles(number)})" for number, tree in enumerate(trees)]
    test = [
        f"(S {tree.replace('(NP ', '(NX ' if number % 3 else '(NP ')} {_particles(number + 9)})"
        for number, tree in enumerate(trees)
    ]
    other = [line.replace("(PP ", "(Q ").replace("(A ", "(C ") for line in gold]
    for name, lines in (("gold", gold), ("test", test), ("other", other)):
        (folder / f"{name}.mrg").write_text("\n".join(lines) + "\n")
    # A = B and B = C, but few trees have B, and none of those an A or a C.
    (folder / "chain.toml").write_text('base = "default"\nequal_labels = [["A", "B"], ["B", "C"], ["NX", "NP"]]\n')
    return folder


def _particles(number: int) -> str:
    labels = (("ADVP",), ("PRT",), ("PRT", "ADVP"), ("ADVP", "PRT"), ("ADVP", "A"), ("PRT", "B"))[number // 8 % 6]
    return " ".join(f"({label} (NX (RP up{place})))" for place, label in enumerate(labels))


@pytest.fixture(autouse=True)
def here(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files)


Run = Callable[..., Any]


@pytest.mark.parametrize("command", [*SCORES, *ROWS], ids=" ".join)
def test_blocks(command: tuple[str, ...], run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run(*command)
    assert whole.out
    for size in (400, 3000):
        monkeypatch.setattr(sources, "CHUNK_BYTES", size)
        assert run(*command) == whole


@pytest.mark.parametrize("command", SCORES[:3], ids=" ".join)
def test_streams(command: tuple[str, ...], run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run(*command)
    monkeypatch.setattr(sources, "CHUNK_BYTES", 1000)
    assert run(*command, "--stream") == whole


@pytest.mark.parametrize("command", [*SCORES, *ROWS], ids=" ".join)
def test_worker_processes(command: tuple[str, ...], run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run(*command)
    for size in (700, 2500):
        monkeypatch.setattr(sources, "CHUNK_BYTES", size)
        assert run(*command, "--engine", "local:2") == whole


@pytest.mark.parametrize("command", SCORES[:3], ids=" ".join)
def test_worker_processes_with_a_stream(command: tuple[str, ...], run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run(*command)
    monkeypatch.setattr(sources, "CHUNK_BYTES", 1000)
    assert run(*command, "--stream", "--engine", "local:2") == whole


def test_parses(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    command = ("parse", "own", "gold.mrg", "--input", "trees", "--gold-tags", "--objective", "labelled-recall", "--format", "jsonl")
    whole = run(*command).out
    assert run(*command, "--jobs", "2").out == whole
    for size in (3, 16):
        monkeypatch.setattr("treegauge.cli.parse.BLOCK", size)
        assert run(*command, "--engine", "local:2").out == whole


@pytest.mark.slow
@pytest.mark.parametrize("command", [*SCORES, *ROWS], ids=" ".join)
def test_a_cluster(command: tuple[str, ...], run: Run, dask: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run(*command)
    monkeypatch.setattr(sources, "CHUNK_BYTES", 1000)
    assert run(*command, "--engine", dask) == whole
