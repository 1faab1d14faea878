"""Alignment by edit distance: against all alignments, against trees cut by hand, and what must hold for every metric."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray
from tree_pairs import treebank_pairs

import treegauge
from treegauge import alignment
from treegauge.alignment import alignment as alignment_module
from treegauge.alignment.alignment import shared_tokens
from treegauge.errors import UsageError
from treegauge.metrics.metric import Metric, total_of
from treegauge.metrics.registry import METRICS, find_metric
from treegauge.presets import load_preset
from treegauge.trees import Tree, Treebank, parse_discbracket

words = st.lists(st.sampled_from("abc"), max_size=6)
every_metric = pytest.mark.parametrize("name", [*METRICS, "goodman:pre", "frames:all", "leaf-ancestor:plain", "freval:published"])
Banks = tuple[Treebank, Treebank]


def equality(gold: list[str], test: list[str]) -> NDArray[np.bool_]:
    return np.array([[ours == theirs for theirs in test] for ours in gold], dtype=np.bool_).reshape(len(gold), len(test))


def edit_distance(gold: list[str], test: list[str]) -> int:
    """The fewest words to delete from gold and to insert, by trying every subset of the gold words."""
    for n_shared in range(min(len(gold), len(test)), -1, -1):
        of_test = {tuple(chosen) for chosen in itertools.combinations(test, n_shared)}
        if any(chosen in of_test for chosen in itertools.combinations(gold, n_shared)):
            return len(gold) + len(test) - 2 * n_shared
    raise AssertionError


@given(words, words)
def test_nothing_is_cheaper(gold: list[str], test: list[str]) -> None:
    ours, theirs = shared_tokens(equality(gold, test))
    assert (np.diff(ours) > 0).all()
    assert (np.diff(theirs) > 0).all()
    assert [gold[i] for i in ours] == [test[k] for k in theirs]
    assert len(gold) + len(test) - 2 * len(ours) == edit_distance(gold, test)


def constituents(tree: Tree, shared: list[int]) -> tuple[Counter[tuple[str, frozenset[int]]], int]:
    """The phrases of a tree over the words it shares, numbered in order, and how many phrases have none of them."""
    rank = {place: number for number, place in enumerate(shared)}
    found: Counter[tuple[str, frozenset[int]]] = Counter()
    apart = 0

    def visit(node: Tree, first: int) -> int:
        nonlocal apart
        at = first
        for child in node.children:
            at = visit(child, at) if isinstance(child, Tree) else at + 1
        covered = frozenset(rank[place] for place in range(first, at) if place in rank)
        if not node.is_preterminal:
            apart += not covered
            found[node.label, covered] += bool(covered)
        return at

    visit(tree, 0)
    return found, apart


def with_words(bank: Treebank, sentences: list[list[str]]) -> Treebank:
    """The same trees over other words."""
    texts: list[str] = []
    for tree, new in zip(bank, sentences, strict=True):
        leaves = iter(new)
        texts.append("".join(f"{piece} " for piece in _relabelled(tree, leaves)))
    return Treebank.parse(" ".join(texts)) if texts else bank


def _relabelled(node: Tree, leaves: Iterator[str]) -> list[str]:
    pieces = [f"({node.label}"]
    for child in node.children:
        pieces += _relabelled(child, leaves) if isinstance(child, Tree) else [next(leaves)]
    return [*pieces, ")"]


@st.composite
def edited_pairs(draw: st.DrawFn) -> Banks:
    """Gold and test trees of the same shapes as usual, over words that often differ."""
    gold, test = draw(treebank_pairs())
    sides: list[Treebank] = []
    for bank in (gold, test):
        new = [[draw(st.sampled_from("abcd")) for _ in bank.words(i)] for i in range(len(bank))]
        sides.append(with_words(bank, new))
    return sides[0], sides[1]


def is_symmetric(gold: Treebank, test: Treebank) -> bool:
    """Whether the words of all sentences align alike in both directions: of alignments of equal cost, either may be taken."""
    preset = load_preset("none")
    if any(
        alignment.pair(*banks, preset).alignment.test.tolist() != list(range(len(gold))) for banks in ((gold, test), (test, gold))
    ):
        return False
    found = [equality(gold.words(i), test.words(i)) for i in range(len(gold))]
    return all(
        np.array_equal(ours, theirs)
        for same in found
        for ours, theirs in zip(shared_tokens(same), reversed(shared_tokens(same.T)), strict=True)
    )


def rates_of(metric: Metric, gold: Treebank, test: Treebank, on_mismatch: str = "edit") -> dict[str, float]:
    pair = alignment.pair(gold, test, metric.preset_for(load_preset("none")), on_mismatch=on_mismatch)
    return metric.rates(total_of(metric.rows(pair)))


@settings(max_examples=40)
@given(edited_pairs())
def test_parseval_by_hand(banks: Banks) -> None:
    """Matched, gold and test brackets of each sentence, from trees and sets of words alone."""
    gold, test = banks
    pair = alignment.pair(gold, test, load_preset("none"), on_mismatch="edit")
    metric = find_metric("parseval")
    rows = metric.rows(pair)
    for i in range(len(gold)):
        partner = int(pair.alignment.test[i])
        if partner < 0:
            continue
        ours, theirs = shared_tokens(equality(gold.words(i), test.words(partner)))
        of_gold, gold_apart = constituents(gold[i], ours.tolist())
        of_test, test_apart = constituents(test[partner], theirs.tolist())
        row = dict(zip(metric.columns, rows[i].tolist(), strict=True))
        assert row["matched"] == (of_gold & of_test).total()
        assert row["gold"] == of_gold.total() + gold_apart
        assert row["test"] == of_test.total() + test_apart
        crossed = sum(
            count for (_, own), count in of_test.items() if any(own & other and own - other and other - own for _, other in of_gold)
        )
        assert row["crossing"] == (crossed + test_apart if len(ours) else 0)


@every_metric
@settings(max_examples=7)
@given(edited_pairs())
def test_rates_are_rates_and_swap(name: str, banks: Banks) -> None:
    metric = find_metric(name)
    (gold, test) = banks
    there, back = rates_of(metric, gold, test), rates_of(metric, test, gold)
    for rate, value in there.items():
        if name != "freval:published" and not rate.startswith(("average_", "generation", "bracketed_recall", "mean_bracketed")):
            assert math.isnan(value) or -1e-12 <= value <= 1 + 1e-12, rate
        mirror = metric.counterpart(rate)
        if mirror is not None and is_symmetric(*banks):
            assert value == pytest.approx(back[mirror], nan_ok=True), rate


@every_metric
@settings(max_examples=5)
@given(treebank_pairs())
def test_same_words_change_nothing(name: str, banks: Banks) -> None:
    metric = find_metric(name)
    edited, aligned = rates_of(metric, *banks), rates_of(metric, *banks, on_mismatch="align")
    assert edited == pytest.approx(aligned, nan_ok=True)


PRECISIONS = {
    "parseval": ("precision", "unlabelled_precision", "mean_precision", "f1", "tagging_accuracy", "exact_match", "no_crossing"),
    "goodman": ("consistent_brackets_recall", "labelled_recall", "bracketed_recall", "consistent_brackets_tree"),
    "goodman:pre": ("consistent_brackets_recall", "labelled_recall"),
    "parent-child": ("precision", "recall"),
    "frames": ("precision", "recall"),
    "frames:all": ("precision", "recall"),
    "leaf-ancestor": ("leaf_ancestor", "mean_leaf_ancestor"),
    "hogenhout": ("precision_hard", "recall_hard"),
    "freval": ("flp", "flr", "f1"),
    "freval:published": ("flp", "flr"),
}


@pytest.mark.parametrize("name", PRECISIONS)
def test_garbage_scores_nothing(name: str) -> None:
    """A parse that shares no word counts against precision in every metric."""
    gold = ["(S (NP (DT The) (NN dog)) (VP (VBD barked) (ADVP (RB very) (RB loudly))))"]
    test = ["(S (NP (DT No) (NN cat)) (VP (VBD slept) (ADVP (RB so) (RB badly))))"]
    rates = treegauge.score(gold, test, name, on_mismatch="edit").rates
    assert {rate: rates[rate] for rate in PRECISIONS[name]} == dict.fromkeys(PRECISIONS[name], 0)


@pytest.mark.parametrize("name", PRECISIONS)
def test_garbage_beside_good_parses_lowers_precision(name: str) -> None:
    right = "(S (NP (DT The) (NN dog)) (VP (VBD barked) (ADVP (RB very) (RB loudly))))"
    garbage = "(S (NP (DT No) (NN cat)) (VP (VBD slept) (ADVP (RB so) (RB badly))))"
    blank = treegauge.score([right] * 2, [right, ""], name, on_mismatch="edit").rates
    rates = treegauge.score([right] * 2, [right, garbage], name, on_mismatch="edit").rates
    for rate in PRECISIONS[name]:
        assert rates[rate] < 1
        assert rates[rate] <= blank[rate]


def test_a_word_inserted_and_one_deleted_by_hand() -> None:
    """The dog (deleted: very) barked (inserted: so): S, NP and VP stand over the words that both have."""
    gold = "(S (NP (DT The) (NN dog)) (VP (VBD barked) (ADVP (RB very))))"
    test = "(S (NP (DT The) (NN dog)) (VP (ADVP (RB so)) (VBD barked)))"
    result = treegauge.score([gold], [test], on_mismatch="edit")
    counts = {name: result.counts[name] for name in ("matched", "gold", "test", "words", "tags", "exact", "crossing")}
    assert counts == {"matched": 3, "gold": 4, "test": 4, "words": 4, "tags": 3, "exact": 0, "crossing": 1}
    assert result.edited == 1
    assert "Words aligned by edit distance in 1 of 1 sentence." in str(result)
    assert "on_mismatch:edit" in str(result.signature)
    (note,) = result.notes
    assert note.kind == "edited"
    assert "3 of 4 gold and 4 test words are shared" in note.text


def test_trees_with_gaps() -> None:
    gold = parse_discbracket("(S (VP (NP 0=Wen) (V 3=gesehen)) (AUX 1=hast) (N 2=du))")
    test = parse_discbracket("(S (VP (NP 0=Wen) (V 4=gesehen)) (AUX 1=hast) (X (N 2=wohl)) (N 3=du))")
    result = treegauge.score(Treebank.from_trees([gold]), Treebank.from_trees([test]), "discontinuous", on_mismatch="edit")
    assert (result.rates["recall"], result.rates["precision"]) == (1, 1)
    assert result.rates["exact_match"] == 0
    parseval = treegauge.score(Treebank.from_trees([gold]), Treebank.from_trees([test]), on_mismatch="edit", preset="none")
    assert (parseval.counts["matched"], parseval.counts["gold"], parseval.counts["test"]) == (2, 2, 3)


def test_deleted_words_stay_deleted() -> None:
    """Punctuation does not count on either side, whether the other side has it or not."""
    gold = "(S (NP (NN Rain)) (, ,) (VP (VBD fell)) (. .))"
    test = "(S (NP (NN Rain)) (VP (VBD fell) (RB hard)) (. !) (: --))"
    counts = treegauge.score([gold], [test], on_mismatch="edit").counts
    assert (counts["matched"], counts["gold"], counts["test"], counts["words"]) == (3, 3, 3, 2)


def test_what_edit_cannot_go_with() -> None:
    with pytest.raises(UsageError, match="match_words"):
        treegauge.score(["(A a)"], ["(A b)"], on_mismatch="edit", match_words="length")


def test_edit_distance_knows_the_other_ways_to_match_words() -> None:
    gold, test = ["(S (NP (NN Rain)) (VP (VBD fell) (RB hard)))"], ["(S (NP (NN rain)) (VP (VBD fell) (RB down)))"]
    assert treegauge.score(gold, test, on_mismatch="edit").rates["f1"] < 1
    result = treegauge.score(gold, test, on_mismatch="edit", match_words="case")
    assert (result.rates["f1"], result.rates["exact_match"]) == (1, 0)


def test_breakdowns() -> None:
    gold = ["(S (NP (DT The) (NN dog)) (VP (VBD barked)))", "(S (NP (NN Rain)) (VP (VBD fell)))"]
    test = ["(S (NP (DT The) (NN cat)) (VP (VBD barked)))", "(S (X (NN snow)) (VP (VBD fell)))"]
    names = ("labels", "confusions", "lengths", "depths", "unaries", "crossings", "errors")
    result = treegauge.score(gold, test, on_mismatch="edit", breakdowns=names)
    assert result.breakdowns["labels"].counts["NP",] == (2, 1, 1, 1)
    assert result.breakdowns["labels"].counts["X",] == (0, 0, 1, 0)
    assert not result.breakdowns["confusions"].counts
    assert all(result.breakdowns[name].table for name in names)


def test_sentences_too_long_for_a_table_are_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is asked before anything of that size is made."""
    long = 20_000
    gold, test = (f"(S {' '.join(f'(N w{step * i % 97})' for i in range(long))})" for step in (1, 7))
    (note,) = treegauge.score(gold, test, on_mismatch="edit").notes[:1]
    assert note.kind == "text-differs"
    assert note.what.endswith("20,000 and 20,000 words are too many to align by edit distance")
    monkeypatch.setattr(alignment_module, "LARGEST_TABLE", 5)
    notes = [treegauge.score("(S (N a) (N b))", f"(S (N a) (N {word}))", on_mismatch="edit").notes[0] for word in ("c", "c) (N d")]
    assert [note.kind for note in notes] == ["edited", "text-differs"]
