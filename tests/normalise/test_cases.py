"""The exact answers of ``cases/transforms.json`` and the bracket sets of ``cases/hm.json``, through the public functions."""

from __future__ import annotations

from typing import Any

import pytest
from known_answers import exact_cases

from treegauge.normalise import (
    binarise_goodman,
    collapse_unaries,
    hogenhout,
    mrl,
    pipeline,
    remove_traces,
    unbinarise_goodman,
    unmrl,
)
from treegauge.parsing.parser import fallback
from treegauge.trees import Tree


def load(name: str) -> list[Any]:
    return [pytest.param(case, id=case["id"]) for case in exact_cases(name)]


def tree_of(value: Any) -> Tree:
    label, *children = value
    return Tree(label, [child if isinstance(child, str) else tree_of(child) for child in children])


@pytest.mark.parametrize("case", load("transforms"))
def test_goodman(case: dict[str, Any]) -> None:
    expected = {name: value for name, value in case["expected"].items() if name != "fallback_spans"}
    tree = tree_of(case["tree"])
    full = remove_traces(tree)
    if full is None:
        assert all(value is None for value in expected.values())
        assert pipeline("goodman")(tree) is None
        return
    top = collapse_unaries(full)
    made = {
        "no_epsilon": full,
        "collapsed_top": top,
        "collapsed_bottom": collapse_unaries(full, "bottom"),
        "binarized": binarise_goodman(top),
        "binarized_no_collapse": mrl(full),
    }
    assert made == {name: tree_of(value) for name, value in expected.items()}
    assert pipeline("goodman")(tree) == made["binarized"]
    assert unbinarise_goodman(made["binarized"]) == top
    assert unmrl(made["binarized_no_collapse"]) == full


@pytest.mark.parametrize("case", load("transforms"))
def test_fallback(case: dict[str, Any]) -> None:
    full = remove_traces(tree_of(case["tree"]))
    words, tags = (full.words, full.tags) if full else ((), ())
    for tree in (fallback(words, tags), fallback(words)):
        assert tree.words == words
        assert [[s.start, s.end] for s in sorted(tree.spans()) if s.end - s.start >= 2] == case["expected"]["fallback_spans"]


@pytest.mark.parametrize("case", load("hm"))
def test_hogenhout_brackets(case: dict[str, Any]) -> None:
    for sentence, expected in zip(case["sentences"], case["expected"]["brackets"], strict=True):
        for value, brackets in zip(sentence, expected, strict=True):
            tree = hogenhout(tree_of(value), case["drop_tags"])
            spans = tree.spans(preterminals=False) if tree else []
            assert sorted([span.start, span.end] for span in spans) == brackets
