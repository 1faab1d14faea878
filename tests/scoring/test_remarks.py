"""Remarks on input that looks wrong: printed by the command line, issued as one TreegaugeWarning by Python, raised if strict."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import treegauge
from treegauge import CompareOptions, MismatchError, Tree, TreegaugeWarning, UsageError
from treegauge.data import write_examples
from treegauge.io import read, write
from treegauge.normalise import pipeline

Trees = list[Tree]
QUICK = CompareOptions(metrics=("parseval",), rounds=5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("remarks")
    write_examples(folder)
    return folder


@pytest.fixture(scope="module")
def gold(folder: Path) -> Trees:
    return list(read(folder / "gold.mrg"))


@pytest.fixture(scope="module")
def parses(folder: Path) -> Trees:
    return list(read(folder / "A.mrg"))


def relabelled(tree: Tree, label: Callable[[str], str]) -> Tree:
    children = [child if isinstance(child, str) else relabelled(child, label) for child in tree.children]
    return Tree(tree.label if tree.is_preterminal else label(tree.label), children)


def lowered(tree: Tree) -> Tree:
    return Tree(tree.label, [child.lower() if isinstance(child, str) else lowered(child) for child in tree.children])


WRONG: dict[str, tuple[Callable[[Trees], Any], str]] = {
    "features": (lambda trees: [relabelled(tree, "{}##x=y##".format) for tree in trees], "differ in what follows the category"),
    "small labels": (lambda trees: [relabelled(tree, str.lower) for tree in trees], "capital and small letters: write both alike"),
    "dummy labels": (
        lambda trees: [relabelled(tree, lambda _: "NT") for tree in trees],
        "labels that gold does not have (NT; gold",
    ),
    "root": (lambda trees: [Tree("R00T", [tree]) for tree in trees], "103 of 103 parses have the root R00T"),
    "another order": (lambda trees: trees[::-1], "seem to be in another order: sort them"),
    "words as labels": (
        lambda trees: [f"({' ('.join(tree.words[:-1])} {tree.words[-1]}{')' * (len(tree.words) - 1)}".upper() for tree in trees],
        'brackets without labels, as (the (cat sat)), give format="brackets"',
    ),
    "no labels": (
        lambda trees: [f"({' ('.join(tree.words[:-1])} {tree.words[-1]}{')' * (len(tree.words) - 1)}" for tree in trees],
        "brackets without labels: each gets the label X; so compare brackets alone (metric induction)",
    ),
    "small words": (lambda trees: [lowered(tree) for tree in trees], 'give match_words="case"'),
    "shifted": (
        lambda trees: trees[1:] + trees[:1],
        "gold and test do not match: 1 gold sentence has no parse, 1 parse has no gold sentence",
    ),
    "reversed": (
        lambda trees: trees[::-1],
        "gold and test do not match: 102 gold sentences have no parse, 102 parses have no gold sentence",
    ),
    "unreadable": (lambda trees: ["(S (NP"] * 80 + list(map(str, trees[80:])), "80 trees could not be read; "),
    "empty, too": (lambda trees: ["(S (NP"] * 3 + [""] * 100, "3 trees could not be read, and 100 are empty; "),
}


@pytest.mark.parametrize("name", WRONG)
def test_one_warning_a_call_and_an_error_if_strict(name: str, gold: Trees, parses: Trees) -> None:
    change, said = WRONG[name]
    wrong = change(parses)
    calls: list[Callable[..., object]] = [
        lambda **strict: treegauge.score(gold, wrong, **strict),
        lambda **strict: treegauge.score(gold, {"good": parses, "wrong": wrong}, ["parseval", "goodman"], **strict),
        lambda **strict: treegauge.evaluator(**strict).compute(predictions=wrong, references=gold),
        lambda **strict: treegauge.compare(gold, [parses, wrong], QUICK, **strict),
    ]
    for call in calls:
        with pytest.warns(TreegaugeWarning) as found:
            call()
        assert [said in str(warning.message) for warning in found] == [True]
        assert found[0].filename == __file__
        with pytest.raises(MismatchError) as refusal:
            call(strict=True)
        assert str(refusal.value) == str(found[0].message)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", TreegaugeWarning)
            call()


@pytest.mark.parametrize("name", ["features", "small labels", "dummy labels", "root"])
def test_the_command_line_prints_the_same(name: str, folder: Path, gold: Trees, parses: Trees) -> None:
    change, said = WRONG[name]
    write(change(parses), folder / "wrong.mrg")
    done = run(folder, "score", "gold.mrg", "wrong.mrg")
    (line,) = (line for line in done.stderr.splitlines() if "warning:" in line)
    assert said in line
    assert done.returncode == 0
    with pytest.warns(TreegaugeWarning) as found:
        treegauge.score(folder / "gold.mrg", folder / "wrong.mrg")
    assert line == f"warning: {found[0].message}"
    result = json.loads(run(folder, "score", "gold.mrg", "wrong.mrg", "--format", "json").stdout)
    assert said.split("(")[0][:20] in result["notes"][-1]["what"] or result["notes"][-1]["cause"]


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "treegauge", *words], cwd=folder, capture_output=True, text=True, check=False)


def test_good_parses_are_no_reason_to_warn(gold: Trees, parses: Trees, folder: Path) -> None:
    """Nor are roots that presets delete, few differing words, unlabelled metrics, nor the gold trees in a score."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for test in (parses, list(read(folder / "B.mrg")), gold, [Tree("TOP", [tree]) for tree in parses]):
            treegauge.score(gold, test)
            treegauge.score([Tree("ROOT", [tree]) for tree in gold], test)
        treegauge.score(gold, [relabelled(tree, lambda _: "X") for tree in parses], "induction")
        treegauge.score(gold, [*parses[:-1], ""], strict=True)


def test_files_without_labels_under_an_unlabelled_metric_are_no_reason_to_warn(tmp_path: Path) -> None:
    bare = "(((the cat) sat) .)\n"
    for name, text in (("gold.mrg", "(S (X (NP the cat) (VP sat)) .)\n"), ("a.txt", bare), ("b.txt", bare)):
        (tmp_path / name).write_text(text, "utf-8")
    gold, runs = tmp_path / "gold.mrg", [tmp_path / "a.txt", tmp_path / "b.txt"]
    assert treegauge.io.formats.lacks_labels(bare.encode())
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        treegauge.score(gold, {"a": runs}, "induction")
        treegauge.compare(gold, {"a": runs, "right": treegauge.read(gold)}, metric="induction", rounds=5)
    assert not [str(warning.message) for warning in found if "without labels" in str(warning.message)]


def test_gold_trees_as_a_system_are_remarked_on(gold: Trees, parses: Trees, folder: Path) -> None:
    with pytest.warns(TreegaugeWarning, match="^gold: its trees are the gold trees$"):
        found = treegauge.compare(gold, {"a": parses, "gold": gold}, QUICK)
    assert "gold: its trees are the gold trees" in found.warnings
    done = run(folder, "compare", "gold.mrg", "A.mrg", "gold.mrg", "-m", "parseval", "--rounds", "5")
    assert "warning: gold: its trees are the gold trees" in done.stdout
    assert done.returncode == 0


def test_the_step_that_is_advised_takes_the_root_off(gold: Trees, parses: Trees) -> None:
    """The step ``root`` alone takes off the usual roots, so the remark names the label, too."""
    rooted = [Tree("R00T", [tree]) for tree in parses]
    with pytest.warns(TreegaugeWarning, match="with the normalisation step root:R00T, or") as found:
        treegauge.score(gold, rooted)
    (step,) = re.findall(r"step (\S+),", str(found[0].message))
    assert [pipeline(step)(tree) for tree in rooted] == [pipeline("root")(tree) for tree in parses]


def test_exchanged_files(gold: Trees, parses: Trees) -> None:
    """A treebank in the place of the parses is the only side with traces."""
    with pytest.warns(TreegaugeWarning, match="words of the parses, and no word of gold, are traces; are gold and test exchanged"):
        treegauge.score(parses, gold)


@pytest.mark.parametrize("wrong", [[{"parse": "(S (N a))"}], [3, 4], [b"(S (N a))"]])
def test_other_things_than_trees_are_refused(wrong: Any) -> None:
    gold = ["(S (N a))"] * len(wrong)
    for call in (
        treegauge.score,
        treegauge.evaluator().score,
        lambda gold, wrong: treegauge.compare(gold, {"a": gold, "b": wrong}),
    ):
        with pytest.raises(UsageError, match="item 1 of the list: expected a Tree"):
            call(gold, wrong)


@pytest.mark.parametrize("wrong", [{"(S (N a))"}, {"(S (N a))": 1}, {"(S (N a))": 1}.keys()])
def test_what_has_no_order_is_no_treebank(wrong: Any) -> None:
    for call in (treegauge.read, lambda wrong: treegauge.evaluator().compute(predictions=wrong, references=["(S (N a))"])):
        with pytest.raises(UsageError, match="expected a treebank, a path, trees in order or bracketed text, not"):
            call(wrong)


def test_large_files_have_the_same_remarks(folder: Path, parses: Trees, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that kernels count."""
    pytest.importorskip("numba")
    from treegauge.scoring import evaluation

    monkeypatch.setattr(evaluation, "SMALLEST_BYTES", 0)
    for name in ("features", "root"):
        change, said = WRONG[name]
        write(change(parses), folder / "wrong.mrg")
        with pytest.warns(TreegaugeWarning) as found:
            treegauge.score(folder / "gold.mrg", folder / "wrong.mrg", stream=True)
        assert said in str(found[0].message)
