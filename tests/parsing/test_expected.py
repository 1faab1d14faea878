"""Expected rates of trees and the calibration of posteriors, against enumeration and by their definitions."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import brute_force as brute
import pytest
from hypothesis import assume, given, settings
from tests.parsing.grammars import pcfgs, sentences

from treegauge.data import own_treebank
from treegauge.errors import MismatchError, NoParse
from treegauge.grammar import PCFG
from treegauge.io import write
from treegauge.normalise import pipeline
from treegauge.parsing import Forest
from treegauge.parsing.confidence import expected_counts
from treegauge.parsing.expected import calibrate, draw_calibration, expected_rates
from treegauge.trees import Tree


@settings(max_examples=60)
@given(pcfgs(), sentences(4))
def test_expected_rates_by_enumeration(grammar: PCFG, words: list[str]) -> None:
    forest = Forest(grammar, words)
    assume(forest.has_parse and forest.n > 1 and forest.n_parses <= 200)
    parses = brute.all_parses(grammar, words)
    for tree in (parses[0][0], forest.argmax("labelled-recall").tree, Tree("S", list(words))):
        found = expected_rates(forest, tree)
        assert found.exact
        for value, parts in (
            (found.labelled_recall, lambda tree: brute.constituents(tree, preterminals=False)),
            (found.parent_child, brute.pc_links),
            (found.frames, brute.productions),
        ):
            size = brute.expected_matches([(parse, p) for parse, p in parses], parses[0][0], parts)
            total = math.fsum(p for _, p in parses)
            size = math.fsum(p * len(parts(parse)) for parse, p in parses) / total
            ideal = brute.expected_matches(parses, tree, parts) / size if size else math.nan
            assert value == pytest.approx(ideal, abs=1e-9, nan_ok=True)


def test_what_does_not_show_is_sampled() -> None:
    """A binarisation symbol: the samples are trees without it, and so are the links and frames that count."""
    grammar = PCFG.parse('S -> A R [.7] | R A [.3]\nR -> A A [1]\nA -> "x" [1]').with_labels(lambda X: None if X == "R" else X)
    forest = Forest(grammar, ["x"] * 3)
    flat = Tree.parse("(S (A x) (A x) (A x))")
    found = expected_rates(forest, flat, metrics=["parseval.exact_match"], samples=20)
    assert not found.exact
    assert found.samples == 20
    assert (found.labelled_recall, found.frames, found.parent_child, found.metrics["parseval.exact_match"]) == (1, 1, 1, 1)
    assert found.error["parseval.exact_match"] == 0
    other = expected_rates(forest, Tree.parse("(S (B (A x) (A x)) (A x))"), metrics=["parseval.precision"], samples=20)
    assert other.labelled_recall == 1
    assert other.labelled_precision == 0.5
    assert (other.frames, other.metrics["parseval.precision"]) == (0, 0.5)


def test_what_has_no_expected_rates() -> None:
    forest = Forest(PCFG.parse('S -> "x" "x" [1]'), ["x", "x"])
    with pytest.raises(MismatchError):
        expected_rates(forest, Tree.parse("(S x)"))
    with pytest.raises(NoParse):
        expected_rates(Forest(PCFG.parse('S -> "x" "x" [1]'), ["x"]), Tree.parse("(S x)"))


def test_calibration_of_a_grammar_on_its_own_samples() -> None:
    """Trees drawn from the grammar are right as often as the posteriors say, in every bin and for each label."""
    grammar = PCFG.parse('S -> A S [.3] | S A [.3] | A A [.4]\nA -> A A [.2] | "x" [.8]')
    forests = [Forest(grammar, ["x"] * (3 + i % 3)) for i in range(1500)]
    gold = [forest.sample(1, seed)[0] for seed, forest in enumerate(forests)]
    found = calibrate(forests, gold, choose=lambda forest: forest.argmax("viterbi").tree)
    assert [each.label for each in found.labels] == ["all", "S", "A"]
    assert (found.sentences, found.unparsed) == (1500, 0)
    for each in found.labels:
        assert each.error < 0.04
        for b in each.bins:
            assert abs(b.right - b.posterior) < 4 * math.sqrt(b.posterior * (1 - b.posterior) / b.size) + 1e-9
    assert found.matched / found.gold == pytest.approx(found.expected.recall, abs=0.02)
    always = [Forest(grammar, ["x"] * 3).argmax("viterbi").tree] * 300
    wrong = calibrate([Forest(grammar, ["x"] * 3)] * 300, always, choose=lambda forest: forest.argmax("viterbi").tree)
    assert wrong.labels[0].error > 0.1
    svg = draw_calibration(found)
    assert svg.count("<polyline") == 3
    long = replace(found, labels=(replace(found.labels[0], label="grammars, calibrated"),))
    widths = [int(re.findall(r'width="(\d+)"', draw_calibration(each))[0]) for each in (found, long)]
    assert widths[0] == 536
    assert widths[1] > 536 + 8 * (len("grammars, calibrated") - 14), "long names of the legend are not cut"


def test_counts_add_up_to_the_right_parse() -> None:
    forest = Forest(PCFG.parse('S -> A S [.5] | "x" [.5]\nA -> A A [.3] | "x" [.7]'), ["x"] * 4)
    for tree in forest.sample(5, 1):
        counts = expected_counts(forest, tree)
        assert counts.matched <= min(counts.test, counts.gold) + 1e-12
        assert counts.matched == pytest.approx(forest.expected_score(tree))


def test_the_commands(tmp_path: Path) -> None:
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "treegauge", "posteriors", "own", *words]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    clean = pipeline("traces,functions,root")
    bank = own_treebank("dev", ("travel",))
    trees = [tree for tree in map(clean, bank) if tree is not None and 4 <= tree.width <= 9][:5]
    path = tmp_path / "trees.mrg"
    path.write_text("".join(f"{tree}\n" for tree in trees))
    done = run("--tree", str(path), "-m", "parseval.f1", "--samples", "20", "--format", "csv")
    assert done.returncode == 0, done.stderr
    header, *rows = done.stdout.splitlines()[:7]
    assert header.split(",")[:6] == ["tree", "ER_LR", "expected precision", "expected F1", "ER_PC", "ER_CF"]
    values = [float(cell) for row in rows[:-1] for cell in row.split(",")[1:] if cell]
    assert values
    assert all(0 <= value <= 1 for value in values)
    write(bank.take(range(20)), tmp_path / "gold.mrg")
    svg = tmp_path / "curve.svg"
    done = run("--calibration", str(tmp_path / "gold.mrg"), "--longest", "12", "--format", "json", "--svg", str(svg))
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["labels"][0]["label"] == "all"
    assert document["actual"]["matched"] <= document["actual"]["gold"]
    assert svg.read_text().startswith("<svg")
    assert "calibration error" in run("--calibration", str(tmp_path / "gold.mrg"), "--longest", "8").stdout
    assert run("--calibration", str(path), "--tree", str(path)).returncode == 2
    assert run(str(path), "--tree", str(path)).returncode == 2
