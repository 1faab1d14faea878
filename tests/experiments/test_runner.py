"""What all experiments share: pieces that survive a kill, reports in a folder, tables beside the paper's, the command."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest
from processes import running_process

from treegauge.cli.reproduce import command
from treegauge.errors import ModelError, UnknownName, UsageError
from treegauge.experiments import EXPERIMENTS, load_experiment
from treegauge.experiments.experiment import Checkpoint, Corpus, Experiment, ExperimentReport, Work, run_experiment, setting
from treegauge.experiments.paper_comparison import paper_table
from treegauge.reports.figures import Figure, Series


@dataclass(frozen=True)
class Squares:
    upto: int = setting(4, "The last number.")


def run_squares(corpus: Corpus | None, settings: Squares, work: Work) -> ExperimentReport:
    values = [work.checkpoint.get(str(n), lambda n=n: n * n) for n in range(1, settings.upto + 1)]
    table = paper_table("Squares", ["n"], ["square"], {("2",): [4]}, {(str(n + 1),): [v] for n, v in enumerate(values)})
    series = [Series("ours", values, values, values)]
    figure = Figure("curve", "lines", "Squares", list("0123"[: len(values)]), series, "n", "square")
    return ExperimentReport([table], ["the paper squares 2 only"], [figure], {"values": values, "undefined": math.nan})


SQUARES = Experiment("squares", "Nobody 1900, Table 0", "nobody1900", Squares, run_squares)


def test_a_report_is_written_whole(tmp_path: Path) -> None:
    said: list[str] = []
    run_experiment(SQUARES, None, Squares(3), folder=tmp_path, progress=said.append)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "squares-curve.csv",
        "squares-curve.svg",
        "squares.json",
        "squares.md",
    ]
    found = json.loads((tmp_path / "squares.json").read_text("utf-8"))
    assert found["schema"] == "treegauge.reproduce/2"
    assert found["settings"] == {"upto": 3}
    assert found["data"] == {"values": [1, 4, 9], "undefined": None}
    assert found["tables"][0]["rows"][0] == {"n": "2", "square paper": 4, "square ours": 4}
    page = (tmp_path / "squares.md").read_text("utf-8")
    assert "| 2 | 4 | 4 |" in page
    assert "the paper squares 2 only" in page
    assert (tmp_path / "squares-curve.csv").read_text("utf-8").splitlines()[1] == "0,1,1,1"
    assert len([line for line in said if line.startswith("wrote")]) == 4


def test_the_same_run_writes_the_same_bytes(tmp_path: Path) -> None:
    for name in "ab":
        run_experiment(SQUARES, None, Squares(3), folder=tmp_path / name)
    first, second = ({p.name: p.read_bytes() for p in (tmp_path / name).iterdir()} for name in "ab")
    assert first == second


def test_pieces_are_kept_and_taken_up(tmp_path: Path) -> None:
    path, computed = tmp_path / "p.jsonl", list[str]()

    def value(name: str) -> str:
        computed.append(name)
        return name

    pieces = Checkpoint(path, {"seed": 1})
    for name in "abc":
        pieces.get(name, lambda name=name: value(name))
    # As a kill in the middle of writing leaves it.
    path.write_bytes(path.read_bytes()[:-5])
    again = Checkpoint(path, {"seed": 1}, resume=True)
    assert [again.get(name, lambda name=name: value(name)) for name in "abcd"] == list("abcd")
    assert computed == list("abccd")
    assert len(Checkpoint(path, {"seed": 1}, resume=True)) == 4
    with pytest.raises(UsageError, match="what differs: seed"):
        Checkpoint(path, {"seed": 2}, resume=True)
    path.write_text("no JSON\n", "utf-8")
    with pytest.raises(ModelError, match="this file is damaged, or is not a checkpoint"):
        Checkpoint(path, {"seed": 1}, resume=True)
    assert len(Checkpoint(path, {"seed": 1})) == 0


def test_every_experiment_loads_and_says_what_can_be_set() -> None:
    for name in EXPERIMENTS:
        experiment = load_experiment(name)
        assert experiment.name == name
        context = click.Context(command)
        found = command.get_command(context, name)
        assert found is not None
        text = found.get_help(click.Context(found, info_name=name))
        assert all(f"--{option.replace('_', '-')}" in text for option in experiment.settings.__dataclass_fields__)
    with pytest.raises(UnknownName, match="did you mean 'goodman-table1'"):
        load_experiment("goodman-tabel1")


def treegauge(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "treegauge", *arguments], capture_output=True, text=True, check=False)


def test_the_command_lists_runs_and_refuses() -> None:
    listed = treegauge("reproduce", "--list")
    assert listed.returncode == 0
    assert all(name in listed.stdout for name in EXPERIMENTS)
    wrong = treegauge("reproduce", "goodman-table9")
    assert wrong.returncode == 2
    assert "did you mean" in wrong.stderr


QUICK = ["--runs", "3", "--iterations", "6", "--nonterminals", "4", "--sentences", "60"]


def results(folder: Path) -> dict[str, Any]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.slow
def test_a_killed_experiment_goes_on_to_the_same_report(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert treegauge("reproduce", "goodman-table1", *QUICK, "-o", str(whole)).returncode == 0
    arguments: Sequence[str] = ["reproduce", "goodman-table1", *QUICK, "-o", str(killed)]
    with running_process([sys.executable, "-m", "treegauge", *arguments], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("run 2"):  # is done, so the third has begun
                break
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert (killed / "goodman-table1.pieces.jsonl").exists()
    done = treegauge(*arguments, "--resume")
    assert done.returncode == 0, done.stderr
    assert results(killed) == results(whole)
