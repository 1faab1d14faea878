"""The example files for other tools: a test that fails a build, and a metric for the library ``evaluate``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import treegauge
from treegauge.data import own_treebank

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def build(**environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "test_parser_quality.py"]
    return subprocess.run(command, cwd=EXAMPLES, env={**os.environ, **environment}, capture_output=True, text=True)


@pytest.mark.slow
def test_the_build_passes_while_f1_is_high_enough_and_fails_below(tmp_path: Path) -> None:
    trees = list(own_treebank("dev"))[:20]
    saved = tmp_path / "last.scores"
    treegauge.Scores([treegauge.score(trees, trees)]).save(saved)
    assert build().returncode == 0
    assert "is below 99.00" in build(LEAST_F1="0.99").stdout
    assert "F1 fell from 100.00" in build(BASELINE=str(saved)).stdout


def test_the_metric_of_evaluate() -> None:
    evaluate = pytest.importorskip("evaluate", reason="the library evaluate is not installed")
    metric = evaluate.load(str(EXAMPLES / "treegauge_metric.py"))
    found = metric.compute(
        predictions=["(S (NP (N rain)) (VP (V fell)))", "(S"], references=["(S (NP (N rain)) (V fell))", "(S (N a))"]
    )
    assert found["problems"] == 1
    assert found["recall"] == pytest.approx(2 / 3)
