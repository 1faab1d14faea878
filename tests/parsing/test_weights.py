"""General Recall by weights from the command line, and consensus by any metric over all pairs of trees at once."""

from __future__ import annotations

import itertools
import json
import math
import subprocess
import sys
from pathlib import Path

import brute_force as brute
import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from tests.parsing.grammars import pcfgs, sentences

import treegauge
from treegauge.errors import FormatError, MismatchError, UsageError
from treegauge.grammar import PCFG
from treegauge.parsing import Forest, PosteriorView
from treegauge.parsing.span_weights import read_weights
from treegauge.parsing.tree_consensus import MetricRate
from treegauge.trees import Tree

GRAMMAR = PCFG.parse('S -> S S [.4] | A S [.2] | "x" [.4]\nA -> S A [.5] | "x" [.5]')


@settings(max_examples=40)
@given(pcfgs(), sentences(4))
def test_functions_of_a_view_are_weights(grammar: PCFG, words: list[str]) -> None:
    """Labelled Recall and Bracketed Recall as functions; other weights by enumeration of bracketings."""
    forest = Forest(grammar, words)
    assume(forest.has_parse and forest.n > 1)
    n = forest.n
    start, end = np.arange(n)[:, None], np.arange(n + 1)[None, :]
    long = end - start > 1

    def labelled(view: PosteriorView) -> np.ndarray:
        g = view.span_labels.dense(view.span_labels.any)
        return np.where(g > 0, g * long[:, :, None], -1e300)

    found = forest.argmax("general", weights=labelled)
    assert found.score == pytest.approx(forest.argmax("labelled-recall", labels="one").score, abs=1e-9)
    brackets = forest.argmax("general", weights=lambda view: view.span_labels.some * long)
    assert brackets.score == pytest.approx(forest.argmax("bracketed-recall").score, abs=1e-9)
    odd = np.minimum(end - start, 2) - 0.5 * (start == 1) + np.sqrt(end)
    ideal = max(math.fsum(odd[span] for span in spans) for spans in brute.binary_bracketings(n))
    assert forest.argmax("general", weights=odd).score == pytest.approx(ideal, abs=1e-9)


def test_weights_by_label_and_by_span(tmp_path: Path) -> None:
    forest = Forest(GRAMMAR, ["x"] * 3)
    labels = tmp_path / "labels.txt"
    labels.write_text("A 2\nS 0.5\n")
    g = {(c.start, c.end, c.label): c.posterior for c in forest.shown_constituents()}
    best = forest.argmax("general", weights=read_weights(str(labels)))
    ideal = max(
        math.fsum(max(2 * g.get((s, t, "A"), 0.0), 0.5 * g.get((s, t, "S"), 0.0)) for s, t in spans)
        for spans in brute.binary_bracketings(3)
    )
    assert best.score == pytest.approx(ideal, abs=1e-12)
    listed = tmp_path / "spans.jsonl"
    listed.write_text(json.dumps({"words": ["x"] * 3, "spans": [[1, 3, 0.25], [0, 2, "A", 2.5]]}) + "\n")
    best = forest.argmax("general", weights=read_weights(str(listed)))
    assert best.score == 2.5
    assert (0, 2, "A") in {tuple(span) for span in best.tree.spans()}
    with pytest.raises(MismatchError, match="no span weights for the sentence"):
        Forest(GRAMMAR, ["x"] * 2).argmax("general", weights=read_weights(str(listed)))


def test_weights_that_are_no_file_are_refused() -> None:
    for name in ("nowhere.jsonl", "g * 2"):
        with pytest.raises(UsageError, match="no such file"):
            read_weights(name)


@pytest.mark.parametrize("text", ["NP\n", "NP one\n", '{"words": ["a"]}\n', '{"words": ["a"], "spans": [[0, 2, 1]]}\n', "\n"])
def test_files_of_weights_that_cannot_be_read(text: str, tmp_path: Path) -> None:
    (tmp_path / "w.txt").write_text(text)
    with pytest.raises(FormatError):
        read_weights(str(tmp_path / "w.txt"))


@pytest.mark.slow
@settings(max_examples=8)
@given(st.data())
def test_all_pairs_at_once_are_pairs_one_by_one(data: st.DataObject) -> None:
    """Also where the gold tree's tags decide which words count."""
    words = data.draw(st.integers(2, 4))
    tags = st.sampled_from(["N", "V", ".", ","])

    def tree() -> Tree:
        leaves = [Tree(data.draw(tags), [f"w{i}"]) for i in range(words)]
        cut = data.draw(st.integers(1, words - 1))
        inner = Tree(data.draw(st.sampled_from(["A", "B"])), leaves[:cut])
        return Tree("S", [inner, *leaves[cut:]])

    trees = list(dict.fromkeys(tree() for _ in range(5)))
    for name in ("parseval.recall", "goodman.consistent_brackets_recall", "freval"):
        for preset in ("collins", "none"):
            rate = MetricRate(name, preset)
            table = rate.table(trees)
            for (i, a), (j, b) in itertools.product(enumerate(trees), enumerate(trees)):
                one = treegauge.score([a], [b], metric=rate.metric.name, preset=preset).rates[rate.rate]
                np.testing.assert_allclose(table[i, j], one, rtol=1e-12, err_msg=f"{name} {preset} {a} {b}")


def test_the_command(tmp_path: Path) -> None:
    grammar = tmp_path / "g.txt"
    grammar.write_text('S -> S S [.4] | A S [.2] | "x" [.4]\nA -> S A [.5] | "x" [.5]\n')

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "treegauge", "parse", str(grammar), "-", *words]
        return subprocess.run(command, input="x x x\n", capture_output=True, text=True, check=False)

    weights = tmp_path / "weights.jsonl"
    weights.write_text(json.dumps({"words": ["x"] * 3, "spans": [[0, 2, 1.0]]}) + "\n")
    done = run("--objective", "general", "--weights", str(weights))
    assert done.returncode == 0, done.stderr
    assert (0, 2) in {span[:2] for span in Tree.parse(done.stdout.strip()).spans()}
    assert run("--objective", "general").returncode == 2
    assert run("--objective", "viterbi", "--weights", str(weights)).returncode == 2
    assert run("--for", "parseval.recall", "--preset", "none", "--size", "5").returncode == 0
    assert run("--objective", "viterbi", "--preset", "none").returncode == 2
    assert "preset" in run("--for", "parseval.recall", "--preset", "nonesuch").stderr
