"""Hashes of training sentences, and trees held out by them."""

from __future__ import annotations

import numpy as np
import pytest

from treegauge.data import own_treebank
from treegauge.errors import UsageError
from treegauge.grammar.training_sentences import hold_out_by_words, sentence_hash, sentence_hashes, stored_hashes
from treegauge.trees.tree import Tree


def test_traces_do_not_change_the_side_of_a_sentence() -> None:
    plain, traced = Tree.parse("(S (A a) (B b))"), Tree.parse("(S (A a) (NP (-NONE- *)) (B b))")
    assert sentence_hashes([plain]).tolist() == sentence_hashes([traced]).tolist() == [sentence_hash(["a", "b"])]


def test_the_same_words_are_on_the_same_side_in_any_order_and_amount() -> None:
    trees = list(own_treebank("train"))
    rest, held = hold_out_by_words(trees, 0.2)
    assert len(rest) + len(held) == len(trees)
    assert 0.1 * len(trees) < len(held) < 0.3 * len(trees)
    assert not set(sentence_hashes(rest).tolist()) & set(sentence_hashes(held).tolist())
    assert [str(tree) for tree in hold_out_by_words(trees[::-1], 0.2)[1]] == [str(tree) for tree in held[::-1]]
    assert {str(tree) for tree in hold_out_by_words(trees, 0.1)[1]} <= {str(tree) for tree in held}, (
        "a smaller share is a part of a larger one"
    )


def test_another_purpose_holds_out_other_trees() -> None:
    trees = list(own_treebank("train"))
    rest, _ = hold_out_by_words(trees, 0.2)
    assert hold_out_by_words(rest, 0.2)[1] == []
    assert hold_out_by_words(rest, 0.2, "other")[1] != []


def test_wrong_shares_and_arrays_are_refused() -> None:
    with pytest.raises(UsageError, match="at least 0 and below 1, not 1"):
        hold_out_by_words([], 1.0)
    assert len(stored_hashes({})) == 0
    with pytest.raises(ValueError, match="not an array of hashes"):
        stored_hashes({"sentences": np.zeros(3)})
