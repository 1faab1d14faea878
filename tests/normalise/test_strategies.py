"""The public strategies: what they promise, and what is said where hypothesis is missing."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given

import treegauge.testing
from treegauge.testing import labels, treebanks, trees, words
from treegauge.trees import Tree, Treebank


@given(trees(preterminals=False, empty=True, traces=True))
def test_trees_can_be_written_and_read(tree: Tree) -> None:
    assert Tree.parse(str(tree)) == tree


@given(trees(unaries=False))
def test_without_unaries(tree: Tree) -> None:
    assert all(node.is_preterminal or len(node) >= 2 for node in tree.nodes())


@given(trees(label=labels(nasty=False), tag=labels(tags=True, nasty=False), word=words(nasty=False)))
def test_tame_trees_have_words_under_tags(tree: Tree) -> None:
    assert all(tree.tags)
    assert tree.width > 0


@given(treebanks(max_size=3))
def test_treebanks(bank: Treebank) -> None:
    assert len(bank) <= 3
    assert Treebank.from_trees(list(bank)) == bank


def test_names_are_lazy() -> None:
    assert sorted(treegauge.testing.__all__) == treegauge.testing.__all__
    with pytest.raises(AttributeError, match="no attribute 'forests'"):
        _ = treegauge.testing.forests


def test_missing_hypothesis_is_named() -> None:
    code = (
        "import sys; sys.modules['hypothesis'] = None\n"
        "import treegauge.testing\n"
        "try: treegauge.testing.trees\n"
        "except treegauge.errors.MissingExtra as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "treegauge[test]" in done.stdout
