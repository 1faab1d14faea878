"""The F1 of other tools: the tools themselves where they are installed, else their documented rule in a few lines of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import treegauge
from treegauge.io import read
from treegauge.normalise import pipeline
from treegauge.presets import load_preset
from treegauge.trees import Tree
from treegauge.trees.tree import rebuild

FOLDER = Path(__file__).parent.parent / "golden"
CASES = [
    (
        "(ROOT (S (NP (NP (NN rain))) (VP (VBD fell) (PRT (RP down))) (. ?)))",
        "(ROOT (S (NP (NN rain)) (VP (VBD fell) (ADVP (RP down))) (. ?)))",
    ),
    ("(S1 (X (NP (NP (NP (NN a)))) (! !)))", "(S1 (X (NP (NP (NN a))) (! !)))"),
    ("(TOP (FRAG (: --) (NP (NN a) (, ,) (NN b)) (`` ``)))", "(TOP (FRAG (: --) (NP (NN a)) (, ,) (NP (NN b)) (`` ``)))"),
]


def with_tags_of(gold: Tree, test: Tree) -> Tree:
    tags = iter(gold.tags)
    made = rebuild(test, lambda node, children: [Tree(next(tags) if node.is_preterminal else node.label, children)])
    assert made is not None
    return made


def pairs() -> Iterator[tuple[list[Tree], list[Tree]]]:
    """Gold trees and parses of the same words with the gold tags, all without traces and functions."""
    clean = pipeline("traces,functions")
    yield [Tree.parse(gold) for gold, _ in CASES], [Tree.parse(test) for _, test in CASES]
    for name in ("A.mrg", "B.mrg"):
        both = zip(map(clean, read(FOLDER / "gold.mrg")), read(FOLDER / name), strict=True)
        same = [(gold, with_tags_of(gold, test)) for gold, test in both if gold is not None and gold.words == test.words]
        assert len(same) > 30
        yield [gold for gold, _ in same], [test for _, test in same]


def corenlp_brackets(tree: Tree) -> set[tuple[str, int, int]]:
    """The set of brackets that CoreNLP's documentation describes: no punctuation, no root symbol, PRT is ADVP, each once."""
    found: set[tuple[str, int, int]] = set()

    def walk(node: Tree, start: int) -> int:
        if node.is_preterminal:
            return start + (node.label not in {",", ".", ":", "``", "''"})
        end = start
        for child in node.children:
            assert isinstance(child, Tree)
            end = walk(child, end)
        if end > start and node.label not in {"ROOT", "TOP", "S1"}:
            found.add(("ADVP" if node.label == "PRT" else node.label, start, end))
        return end

    walk(tree, 0)
    return found


def test_corenlp_by_its_documentation() -> None:
    preset = replace(load_preset("default"), duplicate_spans=False)
    for gold, test in pairs():
        ours, theirs = ([corenlp_brackets(tree) for tree in bank] for bank in (gold, test))
        matched = sum(len(a & b) for a, b in zip(ours, theirs, strict=True))
        expected = 2 * matched / (sum(map(len, ours)) + sum(map(len, theirs)))
        assert treegauge.score(gold, test, preset=preset).f1 == pytest.approx(expected, abs=1e-12)
    gold, test = next(pairs())
    assert treegauge.score(gold, test, preset=preset).f1 != treegauge.score(gold, test).f1, "a bracket occurs twice"


def test_supar() -> None:
    nltk = pytest.importorskip("nltk")
    transform = pytest.importorskip("supar.utils.transform", exc_type=ImportError)
    metrics = pytest.importorskip("supar.utils.metric", exc_type=ImportError)
    deleted = {"TOP", "S1", "-NONE-", ",", ":", "``", "''", ".", "?", "!", ""}  # the defaults of its parsers

    def spans(trees: list[Tree]) -> list[object]:
        return [transform.Tree.factorize(nltk.Tree.fromstring(str(tree)), deleted, {"ADVP": "PRT"}) for tree in trees]

    for gold, test in pairs():
        theirs = metrics.SpanMetric()(spans(test), spans(gold))
        ours = treegauge.score(gold, test, preset="new")
        assert (ours.f1, ours.rates["unlabelled_f1"]) == pytest.approx((theirs.lf, theirs.uf), abs=1e-9)


def test_the_page_names_every_tool() -> None:
    page = (Path(treegauge.__file__).parents[2] / "docs/howto/which-f1.md").read_text("utf-8")
    for tool in ("EVALB", "EVALB_SPMRL", "benepar", "supar", "stanza", "CoreNLP", "disco-dop", "TN-PCFG", "Kim et al."):
        assert f"\n| {tool}" in page, tool
