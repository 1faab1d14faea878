"""The example of validation inside a training loop runs, and its numbers are those of the command line."""

from __future__ import annotations

import importlib.util
import sys
import warnings
from pathlib import Path
from types import ModuleType

import pytest

import treegauge
from treegauge.data import own_treebank

EXAMPLE = Path(__file__).parents[2] / "examples" / "training_loop.py"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("training_loop", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["training_loop"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_it_learns_and_says_so(example: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        example.main()
    lines = capsys.readouterr().out.splitlines()
    scores = [float(line.split("F1 ")[1].split("%")[0]) for line in lines[:3]]
    assert scores == sorted(scores)
    assert scores[-1] > 75
    signature = treegauge.Signature.parse(lines[3].split(": ", 1)[1])
    assert (signature.metric, signature.sentences) == ("parseval", len(own_treebank("dev")))


def test_a_failed_parse_counts_as_missed(example: ModuleType) -> None:
    dev = own_treebank("dev")[:3]
    result = example.validate(dev, [str(dev[0]), "", str(dev[2])])
    assert result.rates["recall"] < 1
    assert result.rates["precision"] == 1


def bare(tree: treegauge.Tree) -> str:
    """A tree as grammar induction writes it: brackets over several words, without labels."""
    inside = [child if isinstance(child, str) else bare(child) for child in tree.children]
    return f"({' '.join(inside)})" if len(inside) > 1 else inside[0]


@pytest.mark.parametrize("shape", ["gold", "right-branching"])
def test_brackets_without_labels_score_alike_in_batches_of_any_size_and_from_files(shape: str, tmp_path: Path) -> None:
    """Their words are those of gold, so that a single sentence suffices to tell that they are no labels."""
    gold = [tree for tree in own_treebank("dev") if "-NONE-" not in str(tree)][:40]
    parses = gold if shape == "gold" else list(treegauge.scoring.baseline_for("right-branching", gold, "none"))
    lines, labelled = [bare(tree) for tree in parses], treegauge.score(gold, parses, "induction")
    evaluator = treegauge.evaluator("induction")
    (tmp_path / "one.mrg").write_text(lines[0], "utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for size in (1, 2, 5, 40):
            for i in range(0, len(gold), size):
                evaluator.add_batch(predictions=lines[i : i + size], references=gold[i : i + size])
            assert evaluator.compute() == labelled.rates
        assert (
            treegauge.score(gold[:1], tmp_path / "one.mrg", "induction").rates
            == treegauge.score(gold[:1], parses[:1], "induction").rates
        )
    trees = treegauge.score("(S (A a) (B b) (C c))", ["(a b) c"], "induction").trees
    assert trees is not None
    assert str(trees.test[0][0]) == "(X (X a b) c)"
    with pytest.warns(treegauge.TreegaugeWarning, match="the words differ in 1 of 1 parse"):
        treegauge.score("(S (A a) (B b) (C c))", [str((("a", "b"), "c"))], "induction")
