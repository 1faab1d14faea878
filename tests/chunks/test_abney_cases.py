"""Abney's models against exact answers."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from known_answers import exact_cases

from treegauge.chunks.corpus import Chunk, ChunkedSentence, truth
from treegauge.chunks.entropy import EntropyCounts
from treegauge.chunks.models import Models, SequenceModel, SequenceScores, Tagged, train_models, with_gold_tags

CASES = exact_cases("abney")


def corpus(sentences: list[dict[str, Any]]) -> list[Tagged]:
    return with_gold_tags(
        ChunkedSentence(tuple(s["words"]), tuple(s["tags"]), tuple(Chunk(*chunk) for chunk in s["chunks"])) for s in sentences
    )


def trained(case: dict[str, Any]) -> Models:
    second = None if case["train2"] is None else corpus(case["train2"])
    return train_models(corpus(case["train1"]), second, case["categories"])


def number(value: Any) -> float:
    if value is None:
        return math.nan
    return math.inf if value == "inf" else float(Fraction(value)) if isinstance(value, str) else float(value)


def close(ours: float, expected: Any) -> bool:
    return ours == pytest.approx(number(expected), rel=1e-9, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_models_and_measures(case: dict[str, Any]) -> None:
    models, categories = trained(case), tuple(case["categories"])
    for name, model in models.by_name().items():
        counts, expected = EntropyCounts(categories), case["expected"][name]
        for sentence, tags in corpus(case["test"]):
            is_true = truth(len(sentence), sentence.chunks, categories)
            counts.add(model.probabilities(tags), is_true, models.grammar.coverage(tags), eps=number(case["eps"]))
        assert (counts.n_candidates, counts.n_true, counts.impossible) == (expected["N"], expected["true"], expected["impossible"])
        assert close(counts.bits, expected["bits_finite"])
        assert close(counts.bits_per_candidate, expected["bc"])
        assert close(counts.bits_per_sentence, expected["bs"])
        assert close(counts.log10_perplexity, expected["log10_pp"])
        assert close(counts.expected_yes, expected["E_Y"])
        assert close(counts.expected_true_yes, expected["E_TY"])
        assert close(counts.expected_precision, expected["EP"])
        assert close(counts.expected_recall, expected["ER"])
        assert close(counts.clipped_bits_per_candidate, expected["bc_clipped"])
        assert close(counts.clipped_bits_per_sentence, expected["bs_clipped"])
        if "blame_clipped" in expected:
            check_blame(counts, expected)


def check_blame(counts: EntropyCounts, expected: dict[str, Any]) -> None:
    for blame in counts.blame():
        wanted = expected["blame_clipped"][blame.category]
        assert close(blame.share, wanted["share"])
        assert close(blame.expected_by_candidates, wanted["exp_all"])
        assert close(blame.expected_by_covered, wanted["exp_covered"])
        assert close(blame.expected_by_true, wanted["exp_true"])
    inside, outside = expected["coverage_clipped"]["covered"], expected["coverage_clipped"]["uncovered"]
    assert close(float(counts.covered.sum()), inside["cand"])
    assert close(float(counts.covered_true.sum()), inside["true"])
    assert close(float(counts.clipped_bits_covered.sum()), inside["bits"])
    assert close(float((counts.clipped_bits - counts.clipped_bits_covered).sum()), outside["bits"])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_model_s(case: dict[str, Any]) -> None:
    models, expected, scores = trained(case), case["expected"]["S"], SequenceScores()
    for index, (sentence, tags) in enumerate(corpus(case["test"])):
        probability = models.by_name()["G"].probabilities(tags)
        best = scores.add(SequenceModel(probability, len(sentence), models.categories), sentence.chunks)
        assert close(2.0**best.log2_probability, expected["best_probs"][index])
        assert best.ties == expected["ties"][index]
    assert scores.impossible == expected["impossible"]
    assert close(scores.bits, expected["bits_finite"])
    assert close(scores.bits_per_sentence, expected["bs"])
    assert scores.true == expected["ntrue"]
    if expected["unique"]:
        assert (scores.predicted, scores.correct) == (expected["npred"], expected["ncorr"])
        assert close(scores.precision, expected["precision"])
        assert close(scores.recall, expected["recall"])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_parameters(case: dict[str, Any]) -> None:
    models, expected = trained(case), case["expected"]["parameters"]
    number_of = {category: index for index, category in enumerate(models.categories)}
    assert close(models.one, expected["p1"])
    assert models.grammar.n_rules == expected["rules"]
    for category, length, p in expected["xk"]:
        assert close(float(models.by_length.table[length, number_of[category]]), p)
    known = {(c, tuple(tags)): number(p) for c, tags, p in expected["g"]}
    assert int((~np.isnan(models.grammar.probability)).sum()) == len(known)
    for (category, tags), p in known.items():
        assert close(float(models.grammar.probability[models.grammar.trie.add(tags), number_of[category]]), p)
    in_context = sum(int((~np.isnan(row)).sum()) for rows in models.contexts.values() for row in rows.values())
    assert in_context == len(expected["c"])
    for category, tags, following, p in expected["c"]:
        row = models.contexts[models.grammar.trie.add(tags)][following]
        assert close(float(row[number_of[category]]), p)
