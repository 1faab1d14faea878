"""General Recall by weights from the command line, and consensus by any metric over all pairs of trees at once."""

from __future__ import annotations

import itertools
import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.parsing.grammars import pcfgs, sentences

import treegauge
from treegauge.errors import FormatError, MismatchError, TreegaugeError, UnknownName, UsageError
from treegauge.grammar import PCFG
from treegauge.parsing import Forest
from treegauge.parsing.span_weights import read_weights
from treegauge.parsing.tree_consensus import MetricRate
from treegauge.testing import brute_force as brute
from treegauge.trees import Tree

GRAMMAR = PCFG.parse('S -> S S [.4] | A S [.2] | "x" [.4]\nA -> S A [.5] | "x" [.5]')


@settings(max_examples=40)
@given(pcfgs(), sentences(4))
def test_expressions_say_what_they_say(grammar: PCFG, words: list[str]) -> None:
    """Labelled Recall, Bracketed Recall, and lengths, as expressions; the rest by enumeration of bracketings."""
    forest = Forest(grammar, words)
    assume(forest.has_parse and forest.n > 1)
    by_expression = forest.argmax("general", weights=read_weights("g * (length > 1)"))
    assert by_expression.score == pytest.approx(forest.argmax("labelled-recall", labels="one").score, abs=1e-9)
    brackets = forest.argmax("general", weights=read_weights("bracket * (length > 1)"))
    assert brackets.score == pytest.approx(forest.argmax("bracketed-recall").score, abs=1e-9)
    odd = forest.argmax("general", weights=read_weights("min(length, 2) - 0.5 * (start == 1) + sqrt(end)"))
    ideal = max(
        math.fsum(min(t - s, 2) - 0.5 * (s == 1) + math.sqrt(t) for s, t in spans) for spans in brute.binary_bracketings(forest.n)
    )
    assert odd.score == pytest.approx(ideal, abs=1e-9)


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


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ("g +", UsageError),
        ("posterior * 2", UnknownName),
        ("__import__('os')", UsageError),
        ("g.shape", UsageError),
        ("[g]", UsageError),
        ("min(g)", UsageError),
        ("nowhere.jsonl", UsageError),
    ],
)
def test_what_is_no_weight_is_refused(given: str, error: type[TreegaugeError]) -> None:
    with pytest.raises(error):
        read_weights(given)


@pytest.mark.parametrize("text", ["NP\n", "NP one\n", '{"words": ["a"]}\n', '{"words": ["a"], "spans": [[0, 2, 1]]}\n', "\n"])
def test_files_of_weights_that_cannot_be_read(text: str, tmp_path: Path) -> None:
    (tmp_path / "w.txt").write_text(text)
    with pytest.raises(FormatError):
        read_weights(str(tmp_path / "w.txt"))


def test_a_weight_that_is_no_number() -> None:
    with pytest.raises(UsageError, match="infinite"):
        Forest(GRAMMAR, ["x"] * 3).argmax("general", weights=read_weights("log(g)"))


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

    done = run("--objective", "general", "--weights", "(start == 0) * (end == 2)")
    assert done.returncode == 0, done.stderr
    assert (0, 2) in {span[:2] for span in Tree.parse(done.stdout.strip()).spans()}
    assert run("--objective", "general").returncode == 2
    assert run("--objective", "viterbi", "--weights", "g").returncode == 2
    assert run("--for", "parseval.recall", "--preset", "none", "--size", "5").returncode == 0
    assert run("--objective", "viterbi", "--preset", "none").returncode == 2
    assert "preset" in run("--for", "parseval.recall", "--preset", "nonesuch").stderr
