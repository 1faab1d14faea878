"""Goodman's Table 1: the paper's own numbers, the trees that are compared, and small runs."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from treegauge.errors import UsageError
from treegauge.experiments import load_experiment
from treegauge.experiments.experiment import Checkpoint, Corpus, Work
from treegauge.experiments.goodman_table1 import CRITERIA, DIFFERENCE, PAPER, RECALL, VITERBI, Settings
from treegauge.trees import Treebank

EXPERIMENT = load_experiment("goodman-table1")
RESULTS = Path(__file__).resolve().parents[2] / "experiments" / "results" / "goodman-table1"


def test_the_papers_numbers_fit_together() -> None:
    """Its differences of means are the means of its differences, to what rounding leaves; trees are multiples of 1/88."""
    for name in CRITERIA:
        difference = PAPER[RECALL, name].mean - PAPER[VITERBI, name].mean
        assert difference == pytest.approx(PAPER[DIFFERENCE, name].mean, abs=0.00016)
    for parser in (VITERBI, RECALL, DIFFERENCE):
        least, most, *_ = PAPER[parser, "Consistent Brackets Tree"]
        assert [least * 88, most * 88] == pytest.approx([round(least * 88), round(most * 88)], abs=0.01)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    """Sentences of a right-branching language, in which the second of each pair agrees with the first."""
    rng = np.random.default_rng(1)
    trees: list[str] = []
    for _ in range(80):
        pairs = [f"(P ({x} {x}) ({x.lower()} {x.lower()}))" for x in rng.choice(list("AB"), int(rng.integers(1, 4)))]
        tree = "(E e)"
        for pair in pairs:
            tree = f"(S {pair} {tree})"
        trees.append(tree)
    return Corpus("pairs", Treebank.parse(" ".join(trees)))


@pytest.mark.slow
def test_a_small_run(corpus: Corpus) -> None:
    settings = Settings(runs=3, nonterminals=6, iterations=30)
    report = EXPERIMENT.run(corpus, settings, Work(Checkpoint()))
    runs = report.data["runs"]
    assert [len(run["cross_entropy"]) for run in runs] == [31] * 3
    assert all(run["train"] == 64 and run["test"] == 16 for run in runs)
    for run in runs:
        assert all(a >= b - 1e-12 for a, b in itertools.pairwise(run["cross_entropy"]))
        rates = [rate for by_name in run["rates"].values() for values in by_name.values() for rate in values]
        assert all(0 <= rate <= 1 for rate in rates)
    last = [run["rates"][RECALL]["Consistent Brackets Recall"][-1] for run in runs]
    assert max(last) > 0.95, "the language is learnable"
    table = report.tables[0]
    assert table.rows[0][:2] == (VITERBI, "Consistent Brackets Recall")
    assert table.column("mean ours")[3] == pytest.approx(sum(last) / 3)
    assert len(report.figures) == 3


def test_seeds_decide_and_threads_do_not(corpus: Corpus) -> None:
    settings = Settings(runs=1, nonterminals=3, iterations=3)
    one, two = (EXPERIMENT.run(corpus, settings, Work(Checkpoint(), threads=threads)).data for threads in (1, 2))
    other = EXPERIMENT.run(corpus, Settings(runs=1, nonterminals=3, iterations=3, seed=2), Work(Checkpoint())).data
    assert one == two
    assert one["runs"][0]["cross_entropy"] != other["runs"][0]["cross_entropy"]


def test_too_few_sentences_are_refused() -> None:
    with pytest.raises(UsageError, match="at least 10 sentences"):
        EXPERIMENT.run(Corpus("one", Treebank.parse("(S (A a) (B b))")), Settings(), Work(Checkpoint()))


@pytest.mark.parametrize("name", ["travel", "gum", "wsj"])
def test_the_committed_results_are_what_the_paper_found(name: str) -> None:
    """Bracketed Recall beats Viterbi on consistent brackets over ten runs; the page says what its data says."""
    if not RESULTS.is_dir():
        pytest.skip("no folder experiments/results: it is part of the repository, not of a source distribution")
    found = json.loads((RESULTS / name / "goodman-table1.json").read_text("utf-8"))
    assert len(found["data"]["runs"]) == 10
    test = found["data"]["paired_t"]["Consistent Brackets Recall"]
    assert test["mean"] > 0
    assert f"by {100 * test['mean']:+.2f} points" in (RESULTS / name / "goodman-table1.md").read_text("utf-8")
