"""No transform recurses, none is quadratic in the number of children: deep and wide trees go through every step and back."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from treegauge.normalise import STEPS, collapse_unaries, head_positions, head_word, mh, pipeline, unmh
from treegauge.trees import Tree

pytestmark = pytest.mark.slow

DEEPER_THAN_THE_INTERPRETER = 3_000
VERY_DEEP = 100_000


def unary(depth: int) -> Tree:
    tree = Tree("N", ["w"])
    for i in range(depth):
        tree = Tree("X" if i % 3 else "Y", [tree])
    return tree


def right(depth: int) -> Tree:
    """Right branching, with a unary production at every other level."""
    tree = Tree("N", ["w"])
    for i in range(depth):
        tree = Tree("S", [Tree("D", ["v"]), tree] if i % 2 else [tree])
    return tree


def wide(width: int) -> Tree:
    return Tree("S", [Tree("N", ["w"])] * width)


WRITTEN = [*STEPS, "unaries:bottom", "unaries:joined", "binarise:left", "binarise:head", "parents:tags=yes", "length:200000"]


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("build", [unary, right, wide])
def test_every_step(build: Callable[[int], Tree], written: str) -> None:
    tree = build(DEEPER_THAN_THE_INTERPRETER)
    chain = pipeline(written)
    made = chain(tree)
    if made is None:
        assert written == "length"
        return
    assert made.width == tree.width
    if chain.steps[0].backward is not None and written != "mh":
        assert chain.inverse()(made) == tree


@pytest.mark.slow
def test_very_deep() -> None:
    tree = right(VERY_DEEP)
    chain = pipeline("unaries:joined:tags=no,parents")
    made = chain(tree)
    assert made is not None
    assert chain.inverse()(made) == tree
    assert unmh(mh(tree)) == collapse_unaries(tree)
    assert head_word(tree, "right") == "w"
    assert head_positions(tree, "right")[0] == VERY_DEEP // 2


@pytest.mark.slow
def test_very_wide() -> None:
    tree = wide(VERY_DEEP)
    for written in ("binarise:left:h=1", "mh"):
        chain = pipeline(written)
        made = chain(tree)
        assert made is not None
        assert chain.inverse()(made) == tree
