"""To nltk and back; nltk stays out unless someone asks for one of its trees."""

from __future__ import annotations

import subprocess
import sys

import nltk
import pytest
from hypothesis import given

from treegauge.errors import UsageError, WriteError
from treegauge.testing.strategies import trees
from treegauge.trees import Tree
from treegauge.trees.notation import is_nltk_tree

CAT = "(S (NP (DT the) (NN cat)) (VP (VBD sat)))"


def run(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True).stdout


@given(trees(preterminals=False, empty=True, traces=True))
def test_there_and_back(tree: Tree) -> None:
    assert Tree.from_nltk(tree.to_nltk()) == tree


@given(trees())
def test_the_same_labels_words_and_spans(tree: Tree) -> None:
    other = tree.to_nltk()
    assert isinstance(other, nltk.Tree)
    assert len(other.leaves()) == tree.width
    assert len(list(other.subtrees())) == tree.size
    assert other.height() == tree.depth + 1
    assert len(other.productions()) == len(tree.productions())


def test_what_nltk_reads_we_read_alike() -> None:
    for text in (CAT, "( (S (NN a)))", "(NP (-LRB- -LRB-) (NN f-LRB-x-RRB-))"):
        assert Tree.from_nltk(nltk.Tree.fromstring(text)) == Tree.parse(text)
        assert nltk.Tree.fromstring(text) == Tree.parse(text).to_nltk()


def test_every_sort_of_nltk_tree() -> None:
    plain = nltk.Tree.fromstring(CAT)
    for kind in (nltk.ImmutableTree, nltk.ParentedTree, nltk.MultiParentedTree):
        other = kind.convert(plain)
        assert is_nltk_tree(other)
        assert Tree.from_nltk(other) == Tree.parse(CAT)


def test_a_tagged_leaf_becomes_a_preterminal() -> None:
    chunked = nltk.Tree("S", [nltk.Tree("NP", [("the", "DT"), ("(", "-LRB-")]), ("sat", "VBD"), 3])
    assert Tree.from_nltk(chunked) == Tree(
        "S", [Tree("NP", [Tree("DT", ["the"]), Tree("-LRB-", ["("])]), Tree("VBD", ["sat"]), "3"]
    )


def test_labels_that_are_not_strings() -> None:
    grammar = nltk.Tree(nltk.grammar.Nonterminal("NP"), ["x"])
    assert Tree.from_nltk(grammar) == Tree("NP", ["x"])


@pytest.mark.parametrize("value", [["a"], ("a",), "a", Tree("a"), None, nltk.Tree])
def test_what_is_not_one(value: object) -> None:
    assert not is_nltk_tree(value)


def test_a_word_nltk_could_not_print_is_refused() -> None:
    with pytest.raises(WriteError, match="blanks separate words"):
        Tree("NN", ["two words"]).to_nltk()


def test_deep() -> None:
    tree = Tree("X", ["a"])
    for _ in range(30_000):
        tree = Tree("X", [tree])
    assert Tree.from_nltk(tree.to_nltk()) == tree


def test_nltk_is_imported_only_for_to_nltk() -> None:
    program = f"""
import sys
from treegauge.trees import Tree, Treebank
from treegauge.trees.notation import from_nltk, is_nltk_tree

class Other(list):
    "Looks like an nltk tree, and is none."
    def __init__(self, label, children):
        super().__init__(children)
        self.name = label
    def label(self):
        return self.name

tree = Tree.parse({CAT!r})
Treebank.from_trees([tree]), tree.draw(), tree.svg()
assert is_nltk_tree(Other("X", []))
assert from_nltk(Other("X", ["a", Other("Y", [])])) == Tree("X", ["a", Tree("Y")])
print("nltk" in sys.modules)
tree.to_nltk()
print("nltk" in sys.modules)
"""
    assert run(program).split() == ["False", "True"]


def test_without_nltk_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nltk", None)
    monkeypatch.setitem(sys.modules, "nltk.tree", None)
    with pytest.raises(UsageError, match="pip install nltk"):
        Tree("X").to_nltk()
