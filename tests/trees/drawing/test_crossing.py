"""Crossing branches as text and SVG: two pictures to the letter, and what holds for all of them."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, strategies as st

from treegauge.testing import discontinuous_trees, trees
from treegauge.trees import Tree, parse_discbracket
from treegauge.trees.drawing import draw_svg, draw_text, tree_items
from treegauge.trees.drawing.layout import place_crossing

APFEL = parse_discbracket("(S (VP (NP (ART 0=Den) (NN 1=Apfel)) (VVPP 4=gegessen)) (VAFIN 2=hat) (NE 3=Anna))")
BRIEF = parse_discbracket("(S (PPER 0=Sie) (VAFIN 1=hat) (VP (NP (NN 2=Briefe) (RC (PRELS 4=die) (V 5=kamen))) (VVPP 3=gefunden)))")
ANY = discontinuous_trees(trees(label=st.sampled_from(["S", "NP", "LONG"]), tag=st.sampled_from("xy"), word=st.sampled_from("uvw")))
HERE = Path(__file__).parent


@pytest.mark.parametrize(("name", "tree"), [("apfel", APFEL), ("brief", BRIEF)])
def test_pictures_to_the_letter(name: str, tree: Tree) -> None:
    """``python tests/trees/drawing/test_crossing.py`` writes them again; look at them then."""
    for suffix, drawn in drawings(tree).items():
        assert (HERE / "crossing" / f"{name}.{suffix}").read_text("utf-8") == drawn


def drawings(tree: Tree) -> dict[str, str]:
    marks = {1: "missed", 2: "matched"}
    return {
        "txt": draw_text(tree) + "\n\n" + draw_text(tree, marks, charset="ascii") + "\n",
        "svg": draw_svg(tree, marks, title="Gold"),
    }


@given(ANY)
def test_words_stand_in_their_order_and_labels_apart(tree: Tree) -> None:
    items = tree_items(tree)
    size = [2 * len(item.text) for item in items]
    placed = place_crossing(items, size, 2)
    words = sorted((item.start, at) for item, at in zip(items, placed.centre, strict=True) if not item.is_node)
    assert all(a < b for (_, a), (_, b) in pairwise(words))
    for index, item in enumerate(items):
        assert item.parent < 0 or placed.row(item.parent) < placed.row(index)
        assert placed.centre[index] >= size[index] // 2
        assert placed.centre[index] - size[index] // 2 + size[index] <= placed.width
    for row in {placed.row(i) for i in range(len(items))}:
        own = [i for i in range(len(items)) if placed.row(i) == row]
        ends = sorted((placed.centre[i] - size[i] // 2, placed.centre[i] - size[i] // 2 + size[i]) for i in own)
        assert all(right <= left for (_, right), (left, _) in pairwise(ends))


@given(ANY)
def test_every_node_and_word_is_in_both_drawings(tree: Tree) -> None:
    text = draw_text(tree)
    assert text.split("\n")[-1].split() == list(tree.words)
    labels = sorted(node.label for node in tree.nodes())
    assert sorted(re.findall(r"[A-Za-z]+", "\n".join(text.split("\n")[:-1]))) == labels
    root = ElementTree.fromstring(draw_svg(tree))
    ids = [element.get("id", "") for element in root.iter()]
    assert sum(name.startswith("n") for name in ids) == tree.size
    assert sum(name.startswith("w") for name in ids) == tree.width


if __name__ == "__main__":
    (HERE / "crossing").mkdir(exist_ok=True)
    for own_name, own_tree in (("apfel", APFEL), ("brief", BRIEF)):
        for own_suffix, own_drawing in drawings(own_tree).items():
            (HERE / "crossing" / f"{own_name}.{own_suffix}").write_text(own_drawing, "utf-8")
