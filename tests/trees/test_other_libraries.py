"""Trees of other libraries are taken as they are: look-alikes everywhere, the libraries themselves where they are installed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import assume, given

import treegauge
from treegauge.errors import UsageError
from treegauge.io import ReadOptions, as_treebank, read
from treegauge.testing.strategies import trees
from treegauge.trees import Tree

CAT = "(ROOT (S (NP (DT The) (NN cat)) (VP (VBD sat)) (. .)))"
DOG = "(ROOT (S (NP (DT The) (NN dog)) (VP (VBD ran)) (. .)))"


class StanzaLike:
    """As stanza's trees: children are a tuple, a word is a node without them, and ``str`` is bracketed text."""

    def __init__(self, label: str | None = None, children: tuple[Any, ...] = ()) -> None:
        self.label, self.children = label, children

    def __str__(self) -> str:
        return f"({self.label or ''} {' '.join(map(str, self.children))})" if self.children else str(self.label)


class Printed:
    """An object that shows itself as a bracketed tree, and has nothing else of one."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text


def like_stanza(node: Any) -> StanzaLike:
    return StanzaLike(node) if isinstance(node, str) else StanzaLike(node.label, tuple(map(like_stanza, node.children)))


@given(trees())
def test_a_tree_of_nodes_is_the_same_tree(tree: Tree) -> None:
    assume("\\" not in str(tree))  # a backslash before a bracket is an escape there, as in a file
    assert list(as_treebank(like_stanza(tree))) == [tree]
    assert list(as_treebank([like_stanza(tree), tree])) == [tree, tree]


def test_they_are_scored_compared_and_read() -> None:
    gold = [CAT, DOG]
    for test in ([like_stanza(Tree.parse(text)) for text in gold], [Printed(text) for text in gold]):
        assert treegauge.score(gold, test).f1 == 1
        assert treegauge.score(test, gold).counts["gold"] == treegauge.score(gold, gold).counts["gold"] > 0
        assert list(treegauge.compare(gold, {"A": test, "B": gold}).systems) == ["A", "B"]
        assert [str(tree) for tree in read(test)] == gold
        assert [str(tree) for tree in read(test[0])] == [CAT]


def test_labels_may_be_methods_or_missing_and_words_any_object() -> None:
    token = Printed("rain")
    token.children = ["of a dependency tree, as spaCy's tokens have them"]  # type: ignore[attr-defined]
    noun = SimpleNamespace(label=lambda: "N", children=[token])
    root = SimpleNamespace(label=None, children=[noun, SimpleNamespace(label="CD", children=[3])])
    assert str(as_treebank(root)[0]) == "( (N rain) (CD 3))"
    leaf = SimpleNamespace(tag="UH", word="yes")
    assert str(as_treebank(SimpleNamespace(label="X", children=[leaf]))[0]) == "(X (UH yes))"


@pytest.mark.parametrize("value", [Printed("no tree"), object(), 3, {"label": "S"}])
def test_other_objects_are_refused(value: object) -> None:
    for policy in ("stop", "parse-fails"):
        with pytest.raises(UsageError, match="item 1 of the list: expected a Tree"):
            as_treebank([value], ReadOptions(on_error=policy))


def test_text_is_no_label() -> None:
    assert Tree.fromstring(CAT) == Tree.parse(CAT)
    with pytest.raises(ValueError, match=r"Tree\.parse"):
        Tree("(S (NP x))")
    assert Tree("(").label == "("


def test_trees_of_stanza_itself() -> None:
    reader = pytest.importorskip("stanza.models.constituency.tree_reader", exc_type=ImportError)
    assert [str(tree) for tree in as_treebank(reader.read_trees(f"{CAT} {DOG}"))] == [CAT, DOG]
