"""``treegauge chunks`` as a user runs it, on our own treebank."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from treegauge.chunks.corpus import Chunk, ChunkedSentence
from treegauge.chunks.entropy import evaluate
from treegauge.chunks.models import train_models, with_gold_tags
from treegauge.data import treebank_path

COLUMNS = "He PRP B-NP\nsat VBD B-VP\n. . O\n\nRain NN B-NP\nfell VBD B-VP\n"


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "treegauge", "chunks", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_train_measure_and_draw(tmp_path: Path) -> None:
    travel, story = str(treebank_path("travel")), str(treebank_path("story"))
    done = run("train", travel, story, "-o", "m.model", "--tags", "tagger", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    done = run("entropy", "m.model", str(treebank_path("news")), "--blame-figure", "blame.svg", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    bits = {line.split()[0]: float(line.split()[2]) for line in done.stdout.splitlines()[2:7]}
    assert bits["0"] > bits["1"] > bits["XK"] > bits["G"]
    assert (tmp_path / "blame.svg").stat().st_size > 1000


def test_scores_are_conllevals(tmp_path: Path) -> None:
    (tmp_path / "gold.txt").write_text(COLUMNS)
    (tmp_path / "test.txt").write_text(COLUMNS.replace("sat VBD B-VP", "sat VBD B-NP"))
    done = run("score", "gold.txt", "test.txt", folder=tmp_path)
    assert done.stdout.splitlines()[0] == "processed 5 tokens with 4 phrases; found: 4 phrases; correct: 3."
    rates = json.loads(run("score", "gold.txt", "test.txt", "--format", "json", folder=tmp_path).stdout)
    assert rates["all"]["f1"] == 0.75
    assert rates["by_category"]["VP"] == {"true": 2, "found": 1, "correct": 1, "precision": 1.0, "recall": 0.5, "f1": 2 / 3}


def test_any_chunkers_candidates_are_measured(tmp_path: Path) -> None:
    (tmp_path / "gold.txt").write_text(COLUMNS)
    (tmp_path / "p.txt").write_text("NP 0 1 1\nVP 1 2 1\nNull 2 3 1\n\nNP 0 1 0.5\nVP 1 2 1\n")
    done = run("entropy", "-", "gold.txt", "--candidates", "p.txt", "--format", "json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["schema"] == "treegauge.tables/2"
    [row] = document["tables"][0]["rows"]
    assert row["b/s"] == pytest.approx(0.5, abs=1e-4)
    assert row["ER"] == pytest.approx(4.5 / 5)


def test_an_iob_taggers_marginals_are_measured(tmp_path: Path) -> None:
    (tmp_path / "gold.txt").write_text(COLUMNS)
    (tmp_path / "m.txt").write_text("He B-NP=1\nsat B-VP=1\n. O=1\n\nRain B-NP=0.5 O=0.5\nfell B-VP=1\n")
    done = run("entropy", "-", "gold.txt", "--marginals", "m.txt", "--format", "json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["schema"] == "treegauge.tables/2"
    [row] = document["tables"][0]["rows"]
    assert row["b/s"] == pytest.approx(1.0, abs=1e-3)
    (tmp_path / "m.txt").write_text("He B-NP=1.5\n")
    assert run("entropy", "-", "gold.txt", "--marginals", "m.txt", folder=tmp_path).returncode == 3


def test_a_model_needs_the_name_of_a_file(tmp_path: Path) -> None:
    """The hyphen stands for standard output in other commands; it was a file of that name."""
    (tmp_path / "gold.txt").write_text(COLUMNS)
    done = run("train", "gold.txt", "-o", "-", folder=tmp_path)
    assert (done.returncode, "-o chunks.model" in done.stderr) == (2, True), done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["gold.txt"]


@pytest.mark.parametrize("option", ["--candidates", "--marginals"])
def test_probabilities_that_are_not_text_are_an_error_at_their_line(tmp_path: Path, option: str) -> None:
    (tmp_path / "gold.txt").write_text(COLUMNS)
    (tmp_path / "p.txt").write_bytes(bytes(range(256)))
    done = run("entropy", "-", "gold.txt", option, "p.txt", folder=tmp_path)
    assert (done.returncode, "p.txt:1" in done.stderr) == (3, True), done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("score", "gold.txt", "short.txt"), 4, "2 sentences"),
        (("score", "gold.txt", "other.txt"), 4, "different words"),
        (("score", "gold.txt", "missing.txt"), 3, "no such file"),
        (("score", "gold.txt", "broken.txt"), 3, "broken.txt:1"),
        (("entropy", "gold.txt", "gold.txt"), 3, "is not a model file"),
        (("entropy", "m", "gold.txt", "--eps", "0.7"), 2, "between 0 and 0.5"),
        (("train", "empty.txt", "-o", "m"), 3, "no sentences"),
    ],
)
def test_bad_requests(tmp_path: Path, arguments: tuple[str, ...], code: int, message: str) -> None:
    texts = {"gold": COLUMNS, "short": "He PRP B-NP\n", "other": COLUMNS.replace("He", "She"), "broken": "He PRP\n", "empty": "\n"}
    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(text)
    done = run(*arguments, folder=tmp_path)
    assert (done.returncode, message in done.stderr) == (code, True), done.stderr


def test_a_category_that_only_the_test_corpus_has_still_counts() -> None:
    train = ChunkedSentence(("a", "b"), ("A", "B"), (Chunk("NP", 0, 2),))
    test = ChunkedSentence(("a", "b"), ("A", "B"), (Chunk("UCP", 0, 1), Chunk("Null", 1, 2)))
    result = evaluate(train_models(with_gold_tags([train]), None, ("NP", "Null")), with_gold_tags([test]))
    assert result.categories == ("NP", "Null", "UCP")
    assert result.counts["G"].n_true == 2
    assert result.counts["G"].impossible == 3
    assert result.counts["0"].bits == pytest.approx(9)
    assert np.isfinite(result.counts["C"].clipped_bits_per_candidate)
