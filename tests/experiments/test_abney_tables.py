"""Abney's tables on our own treebank."""

from __future__ import annotations

import pytest

from treegauge.errors import UsageError
from treegauge.experiments import load_experiment
from treegauge.experiments.abney_tables import Settings
from treegauge.experiments.experiment import Corpus, run_experiment
from treegauge.trees import Treebank


def test_the_models_come_in_the_papers_order() -> None:
    experiment = load_experiment("abney-tables")
    assert experiment.corpus is not None
    report = run_experiment(experiment, experiment.corpus(), Settings(tags="gold"))
    measures, blame, coverage, sensitivity = report.tables
    bits = [float(str(row["b/s ours"])) for row in measures.to_records()[:4]]
    assert bits == sorted(bits, reverse=True)
    assert sum(float(row["%H ours"]) for row in blame.to_records()) == pytest.approx(100)
    assert coverage.to_records()[1]["covered"] > 0.9
    assert len(sensitivity.rows) == 5
    assert report.figures[0].csv().startswith("category,share of the entropy,expected\n")


def test_too_little_to_measure_is_said() -> None:
    corpus = Corpus("two", Treebank.parse("(S (NP (NN a)) (VP (VB b))) (S (NP (NN a)) (VP (VB b)))"))
    with pytest.raises(UsageError, match="at least 3 sentences"):
        run_experiment(load_experiment("abney-tables"), corpus, Settings())
