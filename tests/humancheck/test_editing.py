"""Edits of one tree: each keeps the words, undoes another, and together they reach every tree over the same words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from treegauge.errors import RequestError
from treegauge.humancheck.editing import (
    EDITS,
    add_bracket,
    changed_brackets,
    delete,
    edit_tree,
    edited_tree,
    move_into,
    move_out,
    relabel_node,
)
from treegauge.humancheck.judgements import LONGEST_TREE
from treegauge.testing.strategies import trees
from treegauge.trees import Tree

TREE = Tree.parse("(S (NP (D the) (N man)) (VP (V saw) (NP (D a) (N dog)) (PP (P in) (NP (N Ur)))))")


@given(trees(), st.sampled_from(sorted(EDITS)), st.integers(0, 12), st.integers(0, 12))
def test_no_edit_changes_a_word_or_leaves_an_empty_bracket(tree: Tree, name: str, node: int, last: int) -> None:
    try:
        found = edit_tree(tree, name, node, last, "NEW", has_gaps=False)
    except RequestError:
        return
    assert found.tree.words == tree.words
    assert all(part.children for part in found.tree.nodes())
    assert 0 <= found.node < found.tree.size
    assert found.tree != tree or name == "relabel"


@given(trees(), st.data())
def test_add_and_delete_undo_each_other(tree: Tree, data: st.DataObject) -> None:
    node = data.draw(st.integers(0, tree.size - 1))
    found = add_bracket(tree, node, node, "NEW")
    assert list(found.tree.nodes())[found.node].label == "NEW"
    if found.node:
        assert delete(found.tree, found.node).tree == tree


def is_plain(tree: Tree) -> bool:
    """Whether each word has a tag and each bracket a word."""
    return not tree.is_preterminal and all(tree.tags) and all(node.width for node in tree.nodes())


@settings(max_examples=40)
@given(trees().filter(is_plain))
def test_every_tree_can_be_taken_down_and_built_again(tree: Tree) -> None:
    """With delete and add alone one comes from any tree to any other over the same words."""
    built = tree
    while phrases := [number for number, node in enumerate(built.nodes()) if number and not node.is_preterminal]:
        built = delete(built, phrases[0]).tree
    spans = [(start, end) for node, start, end in tree.nodes_with_spans() if not node.is_preterminal]
    for start, end in sorted(spans[1:], key=lambda span: span[0] - span[1]):
        inside = [number for number, (_, first, last) in enumerate(built.nodes_with_spans()) if start <= first and last <= end]
        built = add_bracket(built, inside[0], _sibling(built, inside[0], inside), "X").tree
    assert sorted((start, end) for node, start, end in built.nodes_with_spans() if not node.is_preterminal) == sorted(spans)


def _sibling(tree: Tree, first: int, candidates: list[int]) -> int:
    """The last of some nodes that stands below the same node as another one."""
    for number in reversed(candidates):
        try:
            add_bracket(tree, first, number, "TRY")
        except RequestError:
            continue
        return number
    raise AssertionError("no sibling")


def test_moves() -> None:
    # The prepositional phrase goes from the verb phrase into the noun phrase before it, and comes out again.
    numbers = {str(node): number for number, node in enumerate(TREE.nodes())}
    inside = move_into(TREE, numbers["(PP (P in) (NP (N Ur)))"], -1)
    assert "(NP (D a) (N dog) (PP (P in) (NP (N Ur))))" in str(inside.tree)
    assert str(list(inside.tree.nodes())[inside.node]).startswith("(PP")
    assert move_out(inside.tree, inside.node).tree == TREE
    verb = move_into(TREE, numbers["(V saw)"], 1)
    assert "(VP (NP (V saw) (D a) (N dog)) (PP" in str(verb.tree)
    assert move_out(verb.tree, verb.node).tree == TREE


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda: delete(TREE, 0), "whole sentence"),
        (lambda: delete(TREE, 2), "tag"),
        (lambda: relabel_node(TREE, 1, "a b"), "without blanks"),
        (lambda: relabel_node(TREE, 1, "N)"), "without blanks"),
        (lambda: relabel_node(TREE, 1, "x" * 101), "characters"),
        (lambda: relabel_node(TREE, 99, "NP"), "no such node"),
        (lambda: add_bracket(TREE, 1, 5, "X"), "neighbours"),
        (lambda: move_out(TREE, 1), "directly below"),
        (lambda: move_out(TREE, 6), "first or the last"),
        (lambda: move_out(TREE, 12), "empty"),
        (lambda: move_into(TREE, 1, -1), "no bracket before"),
        (lambda: move_into(TREE, 6, -1), "no bracket before"),
        (lambda: move_into(TREE, 0, 1), "no bracket after"),
    ],
)
def test_what_cannot_be_done_is_refused_in_words(edit: object, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        edit()  # pyright: ignore[reportCallIssue]


@pytest.mark.parametrize(
    "text",
    ["", "(", "(S (D the))", "(S (N the) (N man))", "(S the man saw a dog in Ur)", str(TREE).replace("(NP (D the)", "( (D the)"),
     str(TREE).replace("Ur", "ur"), f"(S {TREE} (NP))", "(S " * LONGEST_TREE],
)  # fmt: skip
def test_only_trees_over_the_same_words_are_taken(text: str) -> None:
    with pytest.raises(RequestError):
        edited_tree(TREE, text)
    assert edited_tree(TREE, str(TREE)) == TREE


def test_changed_brackets() -> None:
    removed, new = changed_brackets(TREE, relabel_node(TREE, 1, "QP").tree)
    assert (removed, new) == ([("NP", ((0, 2),))], [("QP", ((0, 2),))])
    assert changed_brackets(TREE, TREE) == ([], [])
