"""Breakdowns: against counting by hand over Tree objects, adding up over shards, and leading to the brackets behind them."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from brute_force import constituents
from hypothesis import given, settings
from tree_pairs import treebank_pairs

from treegauge import alignment, score
from treegauge.alignment.pairing import Pair
from treegauge.errors import UnknownName
from treegauge.metrics.breakdowns import BREAKDOWNS, Breakdown, breakdown
from treegauge.metrics.breakdowns.constituent_counts import Key
from treegauge.metrics.metric import total_of
from treegauge.metrics.parseval import Parseval
from treegauge.presets import load_preset
from treegauge.reports.scores import score_text
from treegauge.trees import Span, Tree, Treebank

Banks = tuple[Treebank, Treebank]


def pair_of(gold: str, test: str, preset: str = "none") -> Pair:
    return alignment.pair(Treebank.parse(gold), Treebank.parse(test), load_preset(preset))


def as_they_stand(banks: Banks) -> Pair:
    return alignment.pair(*banks, load_preset("none"))


def row(found: Breakdown, key: Key) -> dict[str, object]:
    return dict(zip(found.table.columns, found.table.rows[found.keys.index(key)], strict=True))


@settings(max_examples=25)
@given(treebank_pairs())
def test_labels_are_counted_one_by_one(banks: Banks) -> None:
    expected: Counter[tuple[str, int]] = Counter()
    for gold, test in zip(*banks, strict=True):
        ours, theirs = Counter(constituents(gold)), Counter(constituents(test))
        for column, spans in enumerate((ours, ours & theirs, theirs, ours & theirs)):
            for span in spans.elements():
                expected[span.label, column] += 1
    found = breakdown("labels", as_they_stand(banks))
    assert dict(found.counts) == {(label,): tuple(expected[label, i] for i in range(4)) for label, _ in expected}


@settings(max_examples=25)
@given(treebank_pairs())
def test_confusions_pair_missed_and_spurious_brackets_of_one_span(banks: Banks) -> None:
    found = breakdown("confusions", as_they_stand(banks))
    expected = 0
    for gold, test in zip(*banks, strict=True):
        ours, theirs = Counter(constituents(gold)), Counter(constituents(test))
        missed, spurious = (Counter((s.start, s.end) for s in c.elements()) for c in (ours - theirs, theirs - ours))
        expected += (missed & spurious).total()
    assert sum(count for (count,) in found.counts.values()) == expected
    assert all(ours != theirs for ours, theirs in found.counts)


@settings(max_examples=25)
@given(treebank_pairs())
def test_lengths_and_depths_sum_to_the_corpus(banks: Banks) -> None:
    pair = as_they_stand(banks)
    metric = Parseval()
    total = dict(zip(metric.columns, total_of(metric.rows(pair)), strict=True))
    lengths = [sum(column) for column in zip(*breakdown("lengths", pair).counts.values(), strict=True)] or [0] * 6
    assert lengths == [total[name] for name in ("sentences", "gold", "test", "matched", "exact", "crossing")]
    depths = [sum(column) for column in zip(*breakdown("depths", pair).counts.values(), strict=True)] or [0] * 4
    assert depths == [total[name] for name in ("gold", "matched", "test", "matched")]


@settings(max_examples=25)
@given(treebank_pairs())
def test_depth_is_the_number_of_phrases_from_the_top(banks: Banks) -> None:
    expected: Counter[int] = Counter()
    for tree in banks[0]:
        stack = [(tree, 1)]
        while stack:
            node, depth = stack.pop()
            if not node.is_preterminal:
                expected[depth] += 1
            stack.extend((child, depth + 1) for child in node.children if isinstance(child, Tree))
    found = breakdown("depths", as_they_stand(banks))
    assert {key[0]: counts[0] for key, counts in found.counts.items() if counts[0]} == dict(expected)


@settings(max_examples=25)
@given(treebank_pairs())
def test_unary_chains_are_whole(banks: Banks) -> None:
    expected: Counter[tuple[str, int]] = Counter()
    for gold, test in zip(*banks, strict=True):
        ours, theirs = chains(gold), chains(test)
        for column, found in enumerate((ours, theirs, ours & theirs)):
            for _, _, chain in found:
                expected[" -> ".join(chain), column] += 1
    found = breakdown("unaries", as_they_stand(banks))
    assert dict(found.counts) == {(chain,): tuple(expected[chain, i] for i in range(3)) for chain, _ in expected}


def chains(tree: Tree) -> set[tuple[int, int, tuple[str, ...]]]:
    by_span: dict[tuple[int, int], list[str]] = {}
    for start, end, label in constituents(tree):
        by_span.setdefault((start, end), []).append(label)
    return {(*span, tuple(labels)) for span, labels in by_span.items() if len(labels) > 1}


@pytest.mark.parametrize("name", BREAKDOWNS)
@settings(max_examples=8)
@given(banks=treebank_pairs())
def test_shards_add_up(name: str, banks: Banks) -> None:
    whole = as_they_stand(banks)
    cut = len(whole) // 2
    parts = [as_they_stand((banks[0][part], banks[1][part])) for part in (slice(0, cut), slice(cut, None))]
    added, expected = breakdown(name, parts[0]) + breakdown(name, parts[1]), breakdown(name, whole)
    assert dict(added.counts) == dict(expected.counts)
    assert added.sentences == expected.sentences == len(whole)
    for key in expected.keys:
        assert Counter(added.examples(key)) == Counter(expected.examples(key))
    assert [list(map(str, cells)) for cells in added.table.rows] == [list(map(str, cells)) for cells in expected.table.rows]


@pytest.mark.parametrize("name", BREAKDOWNS)
@settings(max_examples=8)
@given(banks=treebank_pairs())
def test_places_are_wrong_brackets(name: str, banks: Banks) -> None:
    found = breakdown(name, as_they_stand(banks))
    for key in found.keys:
        places = found.examples(key)
        assert found.examples(key, 2) == places[:2]
        for place in places:
            side = banks[0] if place.side == "gold" else banks[1]
            if not place.label:  # the whole sentence is meant
                assert (place.start, place.end) == (0, side[place.sentence].width)
                assert banks[0][place.sentence] != banks[1][place.sentence]
            else:
                assert Span(place.start, place.end, place.label) in constituents(side[place.sentence])


@pytest.mark.parametrize("name", BREAKDOWNS)
def test_nothing_and_everything_right(name: str) -> None:
    empty = breakdown(name, pair_of("", ""))
    assert empty.table.rows == ()
    assert empty.table.columns
    right = breakdown(name, pair_of("(S (NP (N a) (N b)) (VP (VP (V c))))", "(S (NP (N a) (N b)) (VP (VP (V c))))"))
    assert not any(right.examples(key) for key in right.keys)


def test_equal_labels_share_a_row() -> None:
    found = breakdown("labels", pair_of("(S (ADVP (R a)) (PRT (R b)))", "(S (PRT (R a)) (ADVP (R b)))", "collins"))
    assert found.counts[("ADVP=PRT",)] == (2, 2, 2, 2)
    assert not breakdown("confusions", pair_of("(S (ADVP (R a)))", "(S (PRT (R a)))", "collins")).counts


def test_without_labels_recall_goes_by_gold_label() -> None:
    gold = "(S (NP (N a) (N b)) (VP (V c) (N d) (N e)))"
    test = "(X (X (N a) (N b)) (X (X (V c) (N d)) (N e)))"
    found = breakdown("labels", pair_of(gold, test, "induction"))
    assert row(found, ("NP",))["recall"] == 1
    for column in ("precision", "f1"):
        assert math.isnan(float(str(row(found, ("NP",))[column])))
    assert row(found, ("X",))["precision"] == pytest.approx(2 / 3)
    both = breakdown("labels", pair_of(gold, test.replace("(X (N", "(NP (N"), "induction"))
    assert row(both, ("NP",))["f1"] == 1
    labelled = breakdown("labels", pair_of(gold, test))
    assert row(labelled, ("NP",))["f1"] == 0


def test_lengths_come_in_buckets_of_ten() -> None:
    def sentence(n: int) -> str:
        return "(S " + " ".join(f"(N w{i})" for i in range(n)) + ")"

    texts = "\n".join(map(sentence, (1, 10, 11, 60, 61, 200)))
    rows = breakdown("lengths", pair_of(texts, texts)).table.rows
    assert [cells[:2] for cells in rows] == [("1-10", 2), ("11-20", 1), ("51-60", 1), (">60", 2)]


def test_a_chain_on_the_wrong_span_is_not_right() -> None:
    pair = pair_of("(S (SBAR (S (N a) (N b))) (N c))", "(S (SBAR (S (N a) (N b) (N c))))")
    found = breakdown("unaries", pair)
    assert found.counts == {("SBAR -> S",): (1, 0, 0), ("S -> SBAR -> S",): (0, 1, 0)}


def test_examples_are_shown_in_their_sentences() -> None:
    gold = Treebank.parse("(S (NP (PRP I)) (VP (VBD saw) (`` ``) (NP (NNS cats)) ('' '') (ADVP (RB here))) (. .))")
    test = Treebank.parse("(S (NP (PRP I)) (VP (VBD saw) (`` ``) (NP (NNS cats)) ('' '') (NP (RB here))) (. .))")
    result = score(gold, test, breakdowns=["confusions"])
    shown = "".join(score_text([result], "table", examples=2))
    assert shown.endswith("  tree 1: missed ADVP: I saw cats [here]\n  tree 1: spurious NP: I saw cats [here]\n")


def test_unknown_breakdown_is_named() -> None:
    with pytest.raises(UnknownName, match="confusions"):
        breakdown("confusion", pair_of("", ""))
