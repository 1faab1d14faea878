"""Decoding settings: chosen on trees the grammar does not know, stored in the model, used by ``parse --for``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from treegauge.data import own_treebank
from treegauge.errors import UsageError
from treegauge.grammar import load_model, train
from treegauge.grammar.tree_counts import Recipe, count_trees
from treegauge.io import write
from treegauge.normalise import pipeline
from treegauge.parsing.objectives import CRITERIA, VITERBI, settings_from_notes
from treegauge.parsing.tuned_decoding import SETTINGS, choose_settings, settings_to_notes, tuning_sentences
from treegauge.trees import Tree

pytestmark = pytest.mark.slow


def run(*words: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "treegauge", *words], input=text, capture_output=True, text=True, check=False)


def test_each_setting_is_best_for_its_rate() -> None:
    clean = pipeline("traces,functions,root")
    bank = list(own_treebank("train", ("travel",)))
    grammar = train(bank[:60], steps="traces,functions,root,redundant,binarise:h=1").grammar
    gold = [tree for tree in map(clean, bank[60:75]) if tree is not None]
    chosen = choose_settings(grammar, gold)
    assert set(chosen.rates) == set(SETTINGS)
    assert chosen.rates[chosen.best["f1"]]["f1"] == max(rates["f1"] for rates in chosen.rates.values())
    for criterion in ("recall", "precision"):
        allowed = [r for r in chosen.rates.values() if r["f1"] >= chosen.rates[VITERBI]["f1"]]
        assert chosen.rates[chosen.best[criterion]][criterion] == max(r[criterion] for r in allowed)
    assert settings_from_notes({"settings": settings_to_notes(chosen)}) == chosen.best


def test_notes_that_cannot_be_read() -> None:
    assert settings_from_notes({}) == {}
    with pytest.raises(UsageError, match="run treegauge induce again"):
        settings_from_notes({"settings": {"best": {"f1": 3}}})


def test_tuning_sentences_are_short_and_few() -> None:
    trees = [Tree("S", [Tree("A", ["a"])] * (1 + i % 60)) for i in range(3000)]
    found = tuning_sentences(trees)
    assert len(found) <= 500
    assert max(tree.width for tree in found) <= 40 < max(tree.width for tree in trees)


def test_the_commands(tmp_path: Path) -> None:
    bank = own_treebank("train", ("travel",))
    write(bank.take(range(60)), tmp_path / "train.mrg")
    model = str(tmp_path / "x.model")
    done = run("induce", str(tmp_path / "train.mrg"), "-o", model)
    assert done.returncode == 0, done.stderr
    assert "best for f1 on " in done.stderr
    assert set(settings_from_notes(load_model(model).notes)) == set(CRITERIA)
    sentence = "Show me the flights ."
    assert "decoding for f1: --objective" in run("parse", model, text=sentence).stderr
    assert "decoding for recall: --objective" in run("parse", model, "--for", "recall", text=sentence).stderr
    assert "mbr:parseval.recall" in run("parse", model, "--for", "parseval.recall", text=sentence).stderr
    assert "decoding for" not in run("parse", model, "--objective", "viterbi", text=sentence).stderr
    assert run("parse", model, "--for", "f1", "--objective", "viterbi", text=sentence).returncode == 2
    alone = str(tmp_path / "engine.model")
    assert "best for f1 on " in run("induce", str(tmp_path / "train.mrg"), "-o", alone, "--engine", "local:2").stderr
    assert Path(alone).read_bytes() == Path(model).read_bytes()
    piped = run("induce", "-", "-o", alone, text=(tmp_path / "train.mrg").read_text())
    assert "best for f1 on " in piped.stderr
    plain = str(tmp_path / "y.model")
    assert "best for" not in run("induce", str(tmp_path / "train.mrg"), "-o", plain, "--no-tune").stderr
    assert settings_from_notes(load_model(plain).notes) == {}
    unset = run("parse", plain, "--for", "recall", text=sentence)
    assert unset.returncode == 0
    assert "no stored setting for recall: --objective labelled-precision-recall --lam 0.25 (induce" in unset.stderr


def test_counts_without_some_trees_are_counts_of_the_others() -> None:
    bank = list(own_treebank("train", ("travel",)))[:30]
    for recipe in (Recipe(), Recipe("traces,functions,root,goodman", tags=True, estimator="corrected"), Recipe(rule_weight=1.0)):
        whole, some, rest = (count_trees(trees, recipe) for trees in (bank, bank[::3], [t for i, t in enumerate(bank) if i % 3]))
        left = whole.without(some)
        assert (left.trees, left.rules, left.roots, left.tokens, left.nodes) == (
            rest.trees, rest.rules, rest.roots, rest.tokens, rest.nodes,
        )  # fmt: skip
        assert sorted(map(repr, left.flat)) == sorted(map(repr, rest.flat))
    assert count_trees(bank, Recipe(keep_every=10)).stored_trees == bank[9::10]


def test_learned_grammars_are_tuned_on_trees_that_are_given(tmp_path: Path) -> None:
    bank = own_treebank("train", ("travel",))
    for name, chosen in (("train", range(40)), ("held", range(40, 60))):
        write(bank.take(chosen), tmp_path / f"{name}.mrg")
    model = str(tmp_path / "learned.model")
    learned = run(
        "learn", str(tmp_path / "train.mrg"), "-o", model, "--nonterminals", "3", "--iterations", "3", "--max-length", "10", "-q",
        "--tune", str(tmp_path / "held.mrg"),
    )  # fmt: skip
    assert learned.returncode == 0, learned.stderr
    assert "best for unlabelled f1 on " in learned.stderr
    notes = load_model(model).notes
    assert notes["settings"]["unlabelled"]
    assert set(settings_from_notes(notes)) == set(CRITERIA)
    assert run("learn", str(tmp_path / "train.mrg"), "--tune", str(tmp_path / "held.mrg")).returncode == 2


def test_expected_beside_actual(tmp_path: Path) -> None:
    write(own_treebank("dev", ("travel",)).take(range(4)), tmp_path / "gold.mrg")
    done = run("parse", "own", str(tmp_path / "gold.mrg"), "--input", "trees", "--posteriors", "--format", "jsonl")
    assert "expected recall" in done.stderr
    assert "actual recall" in done.stderr
    assert '"expected": {"recall": ' in done.stdout


def test_parse_says_that_it_uses_viterbi_without_settings(tmp_path: Path) -> None:
    grammar = tmp_path / "grammar.txt"
    grammar.write_text('S -> S S [.5] | "a" [.5]\n')
    assert "stored setting" not in run("parse", str(grammar), text="a a\n").stderr, "a grammar as text cannot store any"
    (tmp_path / "gold.mrg").write_text("(S (S a) (S a))\n")
    model = str(tmp_path / "few.model")
    assert run("induce", str(tmp_path / "gold.mrg"), "-o", model).returncode == 0
    done = run("parse", model, text="a a\n")
    assert done.stderr.startswith("this grammar has no stored setting: --objective viterbi")
    assert "stored setting" not in run("parse", model, "--objective", "viterbi", text="a a\n").stderr
    asked = run("parse", str(grammar), "--for", "f1", text="a a\n")
    assert "no stored setting for f1: --objective labelled-precision-recall (induce" in asked.stderr
    assert "no stored setting for exact: --objective viterbi" in run("parse", model, "--for", "exact", text="a a\n").stderr
    for name in ("f1", "recall"):
        wrong = run("parse", model, "--objective", name, text="a a\n")
        assert (wrong.returncode, f"--for {name}" in wrong.stderr) == (2, True)


def test_an_unknown_purpose_lists_the_known_ones(tmp_path: Path) -> None:
    refused = run("parse", "own", "--for", "recal", text="a\n")
    assert refused.returncode == 2
    assert refused.stderr.startswith(
        "treegauge: unknown criterion 'recal'; did you mean 'recall'? Valid: exact, f1, precision, recall, or METRIC.RATE"
    )
    assert "decoding for" not in run("parse", "own", "--for", "goodman.nonsense", text="a\n").stderr


def test_an_option_that_the_chosen_objective_does_not_take_is_explained(tmp_path: Path) -> None:
    grammar = tmp_path / "grammar.txt"
    grammar.write_text('S -> S S [.5] | "a" [.5]\n')
    refused = run("parse", str(grammar), "--lam", "0.3", text="a a\n")
    assert refused.returncode == 2
    assert "takes no option 'lam'" in refused.stderr
    assert "No objective was named" in refused.stderr
    named = run("parse", str(grammar), "--objective", "viterbi", "--lam", "0.3", text="a a\n")
    assert (named.returncode, "No objective was named" in named.stderr) == (2, False)
