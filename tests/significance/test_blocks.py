"""A comparison works on rows in little memory, block by block; no bit of it depends on the size of a block."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import treegauge
from treegauge import CompareOptions
from treegauge.data import treebank_path
from treegauge.presets import load_preset
from treegauge.scoring import saved_scores
from treegauge.scoring.baselines import baseline_for
from treegauge.significance import PairedColumns, bootstrap, randomisation, resampling
from treegauge.significance.paired_comparison import comparable_scores, compare_scores
from treegauge.significance.resampling import WeightedSums, bootstrap_weights, random_swaps

GOLD = treegauge.read(treebank_path("travel"))
SYSTEMS = {name: baseline_for(name, GOLD, load_preset("default")) for name in ("right-branching", "random")}


def small_blocks(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """Everything that is cut into blocks is cut into small ones, in which sums are never floats as a whole."""
    for name in ("_SENTENCES", "_MOST_NUMBERS", "_MOST_FLOATS"):
        monkeypatch.setattr(resampling, name, size)


def compared(folder: Path) -> tuple[str, str]:
    """A comparison of trees, and of scores that were saved, by metrics of every kind of row, on all groups of sentences."""
    options = CompareOptions(
        metrics=("parseval", "hogenhout", "leaf-ancestor", "freval"),
        rounds=300,
        structure=("NP",),
        lengths=(10, 20),
        interval="bca",
    )
    scores = comparable_scores(GOLD, SYSTEMS, options, trees=False)
    direct = compare_scores(scores, options)
    kept = comparable_scores(GOLD, SYSTEMS, options)
    kept.save(folder / "all.scores")
    saved = compare_scores(saved_scores.load_scores(str(folder / "all.scores")), options)
    return json.dumps(direct.to_dict()), json.dumps(saved.to_dict())


@pytest.mark.parametrize("size", [16, 40])
def test_no_bit_depends_on_the_size_of_blocks(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = compared(tmp_path)
    assert whole[0] == whole[1]
    content = (tmp_path / "all.scores").read_bytes()
    small_blocks(monkeypatch, size)
    assert compared(tmp_path) == whole
    assert (tmp_path / "all.scores").read_bytes() == content


def test_sums_in_blocks_are_the_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(4)
    columns = np.floor(generator.random((101, 5)) * 1000) / 8
    swaps, weights = next(random_swaps(101, 7, 1)), next(bootstrap_weights(101, 7, 1))
    expected = swaps.floats() @ columns, weights.astype(np.float64) @ columns
    monkeypatch.setattr(resampling, "_MOST_FLOATS", 120)
    monkeypatch.setattr(resampling, "_SENTENCES", 16)
    sums = WeightedSums(columns, exact=True)
    assert np.array_equal(sums.of(swaps), expected[0])
    assert np.array_equal(sums.of(weights), expected[1])
    assert np.array_equal(sums.of_all(), columns.sum(axis=0, keepdims=True))


def test_samples_of_more_sentences_than_numbers_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = np.concatenate(list(bootstrap_weights(700, 9, 2)))
    monkeypatch.setattr(resampling, "_MOST_FLOATS", 64)
    assert np.array_equal(np.concatenate(list(bootstrap_weights(700, 9, 2))), whole)


def test_rounded_sums_in_blocks_are_as_good(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where sums are rounded, those of very many sentences are made in blocks; they may differ in the last bits only."""
    generator = np.random.default_rng(6)
    counts = generator.random((2, 90, 3)) * 10.0 ** generator.integers(-9, 9, size=(90, 3))
    counts[1, :20] = counts[0, :20]
    paired = PairedColumns((("m", "a"), ("m", "b"), ("m", "c")), tuple(counts), lambda sums: sums, exact=False)
    whole = bootstrap(paired, rounds=40).samples, randomisation(paired, rounds=40)
    monkeypatch.setattr(resampling, "_MOST_INEXACT", 10)
    monkeypatch.setattr(resampling, "_SENTENCES", 16)
    samples, tested = bootstrap(paired, rounds=40).samples, randomisation(paired, rounds=40)
    assert np.allclose(samples, whole[0], rtol=1e-13)
    assert tested.p.tolist() == whole[1].p.tolist()
    assert np.allclose(tested.difference, whole[1].difference, rtol=1e-13)
