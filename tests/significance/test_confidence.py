"""Confidence intervals of one system: those of the comparison's bootstrap, their coverage, and how they are shown."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import treegauge
from treegauge import CompareOptions, Result, Scores, with_confidence
from treegauge.data import treebank_path
from treegauge.errors import UsageError
from treegauge.presets import load_preset
from treegauge.scoring.baselines import baseline_for
from treegauge.scoring.paper_table import result_rows, score_caption, systems_table
from treegauge.scoring.result import Sentences
from treegauge.tables import render

GOLD = treegauge.read(treebank_path("travel"))
TEST = baseline_for("right-branching", GOLD, load_preset("default"))


def test_intervals_are_those_of_a_comparison() -> None:
    scores = with_confidence(treegauge.score(GOLD, TEST, ["parseval", "goodman"], cutoff=12), rounds=300, seed=7)
    options = CompareOptions(metrics=("parseval", "goodman"), rounds=300, seed=7)
    compared = treegauge.compare(GOLD, {"a": TEST, "b": GOLD}, options)
    checked = 0
    for result in scores:
        for rate, (low, high) in result.total.intervals.items():
            if (result.metric, rate) not in compared.overall.rates["a"]:
                continue
            theirs = compared.overall.rates["a"][result.metric, rate].interval
            assert (low, high) == pytest.approx((theirs.low, theirs.high), nan_ok=True)
            assert not low > result.rates[rate]
            assert not high < result.rates[rate]
            checked += 1
        assert result.short.intervals.keys() == result.short.rates.keys()
    assert checked > 4


def test_short_sentences_have_the_intervals_of_a_corpus_of_their_own() -> None:
    whole = with_confidence(treegauge.score(GOLD, TEST, cutoff=8), rounds=200)
    chosen = np.flatnonzero(whole.scored_sentences.length <= 8)
    own = with_confidence(treegauge.score(GOLD.take(chosen), TEST.take(chosen)), rounds=200)
    assert whole.short.sentences == own.total.sentences > 5
    for rate, ends in own.total.intervals.items():
        assert whole.short.intervals[rate] == pytest.approx(ends, abs=1e-12)


def test_coverage_of_f1_of_samples_of_a_known_corpus() -> None:
    """90% intervals from 60 sentences hold the F1 of the corpus that they were drawn from about 90% of the time."""
    result = treegauge.score(GOLD, TEST)
    truth, rows = result.f1, result.rows
    random = np.random.default_rng(5)
    trials, held = 300, 0
    for trial in range(trials):
        chosen = random.integers(0, len(rows), 60)
        sentences = Sentences(rows[chosen], np.arange(60), np.ones(60, np.int64), np.zeros(60, np.int64), [""] * 60)
        low, high = with_confidence(replace(result, sentences=sentences), rounds=200, seed=trial, level=0.9).total.intervals["f1"]
        held += low <= truth <= high
    # Four standard errors of 300 trials around 0.9, and a little for 60 sentences being few.
    assert 0.82 <= held / trials <= 0.96


def test_they_survive_json_and_files(tmp_path: Path) -> None:
    result = with_confidence(treegauge.score(GOLD, TEST), rounds=50, level=0.8)
    back = Result.from_json(result.to_json())
    assert back.total.intervals == result.total.intervals
    assert back.confidence == result.confidence
    Scores([result]).save(tmp_path / "x.scores")
    assert Scores.load(tmp_path / "x.scores")[0].short.intervals == result.short.intervals
    assert "intervals" not in json.loads(treegauge.score(GOLD, TEST).to_json())


def test_what_has_none_says_so() -> None:
    one = with_confidence(treegauge.score("(S (A a) (B b))", "(S (A a) (B b))"), rounds=20)
    assert all(math.isnan(low) for low, _ in one.total.intervals.values())
    assert "recall                100.00 [-, -]" in str(one)
    assert "nan" not in str(one)
    with pytest.raises(UsageError, match="no rows"):
        with_confidence(Result.from_json(treegauge.score(GOLD, TEST).to_json()))


def test_the_command_shows_them_in_every_format(tmp_path: Path) -> None:
    travel = str(treebank_path("travel"))
    treegauge.write(TEST, tmp_path / "test.mrg")

    def score(*options: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "treegauge", "score", travel, "test.mrg", "--rounds", "40", *options]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    result = with_confidence(treegauge.score(GOLD, TEST), rounds=40)
    low, high = result.total.intervals["f1"]
    table = score("--confidence").stdout
    assert f"[{100 * low:.2f}, {100 * high:.2f}]" in table
    assert "Intervals: 95%, percentile bootstrap over sentences, 40 samples, seed 1." in table
    document = json.loads(score("--confidence", "--format", "json").stdout)
    assert document["intervals"]["f1"] == [low, high]
    assert document["confidence"] == {"level": 0.95, "method": "percentile", "rounds": 40, "seed": 1}
    csv = score("--confidence", "0.5", "--format", "csv").stdout.splitlines()
    assert csv[0] == "system,metric,length,sentences,rate,value,low,high"
    narrow = next(line.split(",") for line in csv if ",f1," in line)
    assert low < float(narrow[6]) < float(narrow[7]) < high
    refused = score("--confidence", "--stream")
    assert (refused.returncode, "--confidence" in refused.stderr) == (2, True)
    assert score("--confidence", "95").returncode == 2


def test_the_interval_beside_a_mean_over_runs_is_that_of_the_mean() -> None:
    """It is that of a comparison, which counts the variation between runs; where runs left out other sentences, there is none."""
    runs = [GOLD.take([*range(n)]) + TEST.take([*range(n, len(GOLD))]) for n in (10, 20, 40)]
    compared = treegauge.compare(GOLD, {"a": runs, "b": TEST}, rounds=20).overall.rates["a"]
    scores = with_confidence(treegauge.score(GOLD, {"a": runs, "b": TEST}, cutoff=12), rounds=20)
    found = scores[0].total.intervals_of_mean
    assert found["f1"] == pytest.approx(compared["parseval", "f1"].interval[:2])
    middle = sum(run.f1 for run in scores if run.system == "a") / 3
    assert sum(found["f1"]) / 2 == pytest.approx(middle)
    low, high = (100 * end for end in found["f1"])
    shown = f"[{low:.2f}, {high:.2f}]"
    table = str(scores)
    assert f"{100 * middle:.2f} ± " in table
    assert shown in table
    assert "intervals of means count the variation between runs, too (Student's t)" in table
    paper = systems_table(result_rows(scores, [("parseval", "f1")]), [("parseval", "f1")], score_caption(scores), ())
    assert f" {shown}" in render(paper, "latex")
    assert "In brackets: 95\\% intervals." in render(paper, "latex")
    assert scores[0].short.intervals_of_mean["f1"] != found["f1"]
    whole = with_confidence(treegauge.score(GOLD, {"a": runs}, cutoff=400), rounds=20)[0]
    assert whole.short.intervals_of_mean == whole.total.intervals_of_mean
    other = [runs[0], runs[1].take([*range(5, len(GOLD))])]
    left_out = with_confidence(treegauge.score(GOLD, {"a": other}, on_mismatch="skip", pair="text"), rounds=20)
    assert not left_out[0].total.intervals_of_mean
    assert "[" not in str(left_out).partition("Intervals: ")[0]
