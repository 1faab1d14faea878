"""The results under ``experiments/results``: each names the commit it was made with, and the small ones come out again."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from treegauge.experiments import load_experiment
from treegauge.experiments.experiment import document, run_experiment

RESULTS = Path(__file__).parents[2] / "experiments" / "results"
STORED = [path for path in sorted(RESULTS.rglob("*.json")) if "treegauge.reproduce/2" in path.read_text("utf-8")[:80]]
SMALL = ["goodman-example/goodman-example", "simaan-example/simaan-example", "hogenhout-tables/own/hogenhout-tables"]
SLOWER = ["goodman-table2/own/goodman-table2", "simaan-table2/own/simaan-table2", "freval-table1/own/freval-table1"]

pytestmark = pytest.mark.skipif(not STORED, reason="experiments/results is part of the repository, not of a source distribution")


@pytest.mark.parametrize("path", STORED, ids=lambda path: str(path.relative_to(RESULTS)))
def test_a_stored_result_names_its_version_and_commit(path: Path) -> None:
    found = json.loads(path.read_text("utf-8"))
    assert re.fullmatch(r"\d+\.\d+\.\d+", found["version"])
    assert re.fullmatch(r"[0-9a-f]{40}", found["commit"])


def numbers(data: Any, place: str = "") -> dict[str, float]:
    """All numbers of JSON data, by their place."""
    if isinstance(data, dict):
        return {name: number for key, item in data.items() for name, number in numbers(item, f"{place}.{key}").items()}
    if isinstance(data, list):
        return {name: number for i, item in enumerate(data) for name, number in numbers(item, f"{place}[{i}]").items()}
    return {place: float(data)} if isinstance(data, (int, float)) else {}


@pytest.mark.parametrize("name", [*SMALL, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOWER)])
def test_a_small_result_comes_out_again(name: str) -> None:
    """With a tolerance, since sums differ in their last bits between processors."""
    pytest.importorskip("numba")
    stored = json.loads((RESULTS / f"{name}.json").read_text("utf-8"))
    experiment = load_experiment(name.rpartition("/")[2])
    corpus = None if experiment.corpus is None else experiment.corpus()
    settings = experiment.settings(**stored["settings"])
    made = document(experiment, run_experiment(experiment, corpus, settings), experiment.fingerprint(corpus, settings))
    assert made["corpus"] == stored["corpus"]
    for part in ("data", "tables"):
        assert numbers(json.loads(json.dumps(made[part]))) == pytest.approx(numbers(stored[part]), rel=1e-4, abs=1e-6)
