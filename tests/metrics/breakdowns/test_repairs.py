"""Errors by kind: repairs turn every test tree into its gold tree, and each wrong bracket is explained once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from brute_force import crosses
from hypothesis import given, settings
from tree_pairs import tree_pairs

from treegauge import alignment
from treegauge.alignment.pairing import Pair
from treegauge.metrics.breakdowns.error_analysis import MOST_WRONG, Repair, SentenceRepairs, by_error, explain
from treegauge.metrics.breakdowns.repair_forest import KINDS
from treegauge.metrics.matching import partners
from treegauge.presets import load_preset
from treegauge.trees import Span, Tree, Treebank


def pair_of(gold: str, test: str, preset: str = "none") -> Pair:
    return alignment.pair(Treebank.parse(gold), Treebank.parse(test), load_preset(preset))


def brackets(pair: Pair, side: str, sentence: int) -> Counter[Span]:
    """The brackets of a sentence, labels by the first of those that the preset takes as equal."""
    found = pair.gold if side == "gold" else pair.test
    rows = range(found.offset[sentence], found.offset[sentence + 1])
    return Counter(Span(int(found.start[i]), int(found.end[i]), found.labels[pair.classes[found.label[i]]]) for i in rows)


def as_class(pair: Pair, span: Span) -> Span:
    return span._replace(label=pair.gold.labels[pair.classes[pair.gold.labels.index(span.label)]])


def replayed(pair: Pair, found: SentenceRepairs) -> Counter[Span]:
    """The test brackets after all repairs; each step must leave a tree."""
    tree = brackets(pair, "test", found.sentence)
    for repair in found.repairs:
        for before, after in repair.changes:
            if before is not None:
                assert tree[as_class(pair, before)] > 0, repair
                tree[as_class(pair, before)] -= 1
            if after is not None:
                tree[as_class(pair, after)] += 1
        present = list(+tree)
        assert not any(crosses(a, b) for i, a in enumerate(present) for b in present[:i]), repair
    return +tree


def check(pair: Pair, *, replay: bool = True) -> int:
    """Check every sentence of a pair; the number of repairs."""
    partner = partners(pair.gold, pair.test, pair.matching_classes)
    missed = {row for row in range(pair.gold.n_brackets) if partner[row] < 0}
    spurious = set(range(pair.test.n_brackets)) - set(partner.tolist())
    explained_missed: Counter[int] = Counter()
    explained_spurious: Counter[int] = Counter()
    number = 0
    for found in explain(pair):
        for repair in found.repairs:
            assert repair.kind in KINDS
            assert repair.missed or repair.spurious, "every repair explains something"
            explained_missed.update(repair.missed)
            explained_spurious.update(repair.spurious)
            check_shape(repair)
        number += len(found.repairs)
        if replay:
            assert replayed(pair, found) == brackets(pair, "gold", found.sentence)
    assert explained_missed == Counter(missed)
    assert explained_spurious == Counter(spurious)
    return number


def check_shape(repair: Repair) -> None:
    """A repair does what its action says: a moved run is taken off or put on the edge of the nodes that change."""
    if repair.action == "move":
        for before, after in repair.changes:
            if before is not None and after is not None:
                assert before.label == after.label
                small, large = sorted((before, after), key=lambda span: span.end - span.start)
                rest = set(range(large.start, large.end)) - set(range(small.start, small.end))
                assert rest == set(range(repair.start, repair.end))
    elif repair.kind != "no parse":
        ((before, after),) = repair.changes
        assert (before is None) == (repair.action == "add")
        assert (after is None) == (repair.action == "remove")
        if before is not None and after is not None:
            assert before[:2] == after[:2]


@settings(max_examples=150)
@given(tree_pairs(max_words=9))
def test_repairs_turn_any_tree_into_any_other(trees: tuple[Tree, Tree]) -> None:
    gold, test = (Treebank.from_trees([tree]) for tree in trees)
    check(alignment.pair(gold, test, load_preset("none")))
    check(alignment.pair(gold, gold, load_preset("none")))


@settings(max_examples=50)
@given(tree_pairs(max_words=9))
def test_unlabelled_and_deleting_presets(trees: tuple[Tree, Tree]) -> None:
    gold, test = (Treebank.from_trees([tree]) for tree in trees)
    check(alignment.pair(gold, test, load_preset("collins")))
    check(alignment.pair(gold, test, load_preset("induction")), replay=False)


@pytest.mark.slow
@pytest.mark.parametrize("system", ["berkeley-maxrule", "berkeley-viterbi"])
def test_repairs_of_real_output(shared: Path, system: str) -> None:
    outputs = shared / "data" / "outputs"
    gold = Treebank.parse((outputs / "gum_dev.gold.mrg").read_text("utf-8"))
    test = Treebank.parse((outputs / f"gum_dev.{system}.mrg").read_text("utf-8"))
    pair = alignment.pair(gold, test, load_preset("default"))
    repairs = check(pair)
    partner = partners(pair.gold, pair.test, pair.matching_classes)
    wrong = pair.gold.n_brackets + pair.test.n_brackets - 2 * int((partner >= 0).sum())
    assert repairs < wrong / 2, "moves explain more than one bracket"


SAW = "(S (NP (PRP I)) (VP (VBD saw) {}))"
MAN, EYES = "(NP (DT a) (NN man))", "(PP (IN with) (NP (NNS eyes)))"


@pytest.mark.parametrize(
    ("kind", "gold", "test"),
    [
        ("PP attachment", SAW.format(f"{MAN} {EYES}"), SAW.format(f"(NP {MAN} {EYES})")),
        ("PP attachment", SAW.format(f"(NP {MAN} {EYES})"), SAW.format(f"{MAN} {EYES}")),
        ("PP attachment", SAW.format(f"(NP (DT a) (NN man) {EYES})"), SAW.format(f"(NP (DT a) (NN man)) {EYES}")),
        (
            "PP attachment",  # from high to low, through a PP: three brackets, one error
            "(VP (VB go) (PP (TO to) (NP (NP (NN town)) (PP (IN by) (NP (NN sea))))))",
            "(VP (VB go) (PP (TO to) (NP (NN town))) (PP (IN by) (NP (NN sea))))",
        ),
        (
            "clause attachment",
            "(S (NP (PRP I)) (VP (VBD said) (SBAR (IN that) (S (NP (PRP he)) (VP (VBD left))))) (SBAR (IN so) (S (VP (VB go)))))",
            "(S (NP (PRP I)) (VP (VBD said) (SBAR (IN that) (S (NP (PRP he)) (VP (VBD left)))) (SBAR (IN so) (S (VP (VB go))))))",
        ),
        (
            "modifier attachment",
            "(S (NP (NN rain)) (VP (VBD fell) (ADVP (RB here))) (ADVP (RB again)))",
            "(S (NP (NN rain)) (VP (VBD fell) (ADVP (RB here)) (ADVP (RB again))))",
        ),
        (
            "modifier attachment",  # the word gets its phrase where it belongs
            "(S (VP (VBD fell) (NP (NN rain))) (ADVP (RB again)))",
            "(S (VP (VBD fell) (NP (NN rain) (RB again))))",
        ),
        (
            "NP attachment",
            "(VP (VBD had) (NP (DT a) (NN walk)) (NP (DT this) (NN morning)))",
            "(VP (VBD had) (NP (NP (DT a) (NN walk)) (NP (DT this) (NN morning))))",
        ),
        (
            "VP attachment",
            "(S (NP (NP (DT the) (NN man)) (VP (VBG seen) (NP (NN today)))) (VP (VBD left)))",
            "(S (NP (DT the) (NN man)) (VP (VBG seen) (NP (NN today))) (VP (VBD left)))",
        ),
        (
            "coordination",
            "(NP (NP (NNS cats)) (PP (IN of) (NP (NP (NNS men)) (CC and) (NP (NNS dogs)))))",
            "(NP (NP (NP (NNS cats)) (PP (IN of) (NP (NNS men)))) (CC and) (NP (NNS dogs)))",
        ),
        ("NP-internal structure", "(NP (DT a) (NML (NN tax) (NN rate)) (NN cut))", "(NP (DT a) (NN tax) (NN rate) (NN cut))"),
        ("NP-internal structure", "(NP (DT a) (CD 10) (NN %) (NN tax))", "(NP (DT a) (QP (CD 10) (NN %)) (NN tax))"),
        ("unary", "(S (VP (VB go) (ADVP (RB home))))", "(VP (VB go) (ADVP (RB home)))"),
        ("unary", "(VP (VB go) (NP (NN home) (NN now)))", "(VP (VB go) (S (NP (NN home) (NN now))))"),
        ("single-word phrase", "(VP (VB go) (ADVP (RB home)))", "(VP (VB go) (RB home))"),
        ("single-word phrase", "(VP (VB go) (RB home))", "(VP (VB go) (ADVP (RB home)))"),
        ("different label", "(VP (VB go) (ADVP (RB home)))", "(VP (VB go) (NP (RB home)))"),
        ("missing node", "(S (VP (VB go) (NP (NN home))) (NP (NN now)))", "(S (VB go) (NP (NN home)) (NP (NN now)))"),
        ("extra node", "(S (VB go) (NP (NN home)) (NP (NN now)))", "(S (FRAG (VB go) (NP (NN home))) (NP (NN now)))"),
    ],
)  # fmt: skip
def test_one_error_has_one_kind(kind: str, gold: str, test: str) -> None:
    pair = pair_of(gold, test)
    check(pair)
    (found,) = explain(pair)
    assert [repair.kind for repair in found.repairs] == [kind]


def test_a_long_way_up_is_one_error() -> None:
    """A PP that left three nodes at once: each of them was too long."""
    gold = "(VP (VB go) (PP (TO to) (NP (NP (NN town)) (PP (IN of) (NP (NN stone))))) (PP (IN by) (NP (NN sea))))"
    test = "(VP (VB go) (PP (TO to) (NP (NP (NN town)) (PP (IN of) (NP (NP (NN stone)) (PP (IN by) (NP (NN sea))))))))"
    pair = pair_of(gold, test)
    ((repair,),) = [found.repairs for found in explain(pair)]
    assert (repair.kind, repair.what, repair.start, repair.end) == ("PP attachment", "PP", 5, 7)
    assert len(repair.missed) == 3
    assert len(repair.spurious) == 4
    check(pair)


def test_a_moved_phrase_with_another_label_takes_two_repairs() -> None:
    pair = pair_of(SAW.format(f"(ADJP (JJ old) (JJ grey)) {EYES}"), SAW.format(f"(NP (JJ old) (JJ grey) {EYES})"))
    ((move, relabel),) = [found.repairs for found in explain(pair)]
    assert (move.kind, relabel.kind, relabel.what) == ("PP attachment", "different label", "NP -> ADJP")
    assert (move.missed, len(move.spurious)) == ((), 1)
    assert (len(relabel.missed), relabel.spurious) == (1, ())
    check(pair)


def test_a_sentence_without_a_parse_is_one_error() -> None:
    pair = pair_of("(S (NP (N a)) (VP (V b))) (S (N a) (N b))", "() (S (N a) (N b))")
    ((repair,),) = [found.repairs for found in explain(pair)]
    assert (repair.kind, repair.start, repair.end, len(repair.missed)) == ("no parse", 0, 2, 3)
    check(pair)


def test_trees_with_nothing_in_common_are_repaired_node_by_node() -> None:
    n = MOST_WRONG
    right, left = "(N w)", "(N w)"
    for _ in range(n):
        right, left = f"(S (N w) {right})", f"(S {left} (N w))"
    pair = pair_of(right, left)
    assert check(pair, replay=False) == 2 * (n - 1)
    (found,) = explain(pair)
    assert Counter(repair.kind for repair in found.repairs) == {"extra node": n - 1, "missing node": n - 1}


def test_depth_is_no_limit() -> None:
    deep = "(A " * 20_000 + "(N a)" + ")" * 20_000
    pair = pair_of(f"(S {deep} (NP (N b)))", f"(S {deep} (VP (N b)))")
    assert check(pair, replay=False) == 1


def test_table_adds_up() -> None:
    gold = "\n".join([SAW.format(f"{MAN} {EYES}"), "(VP (VB go) (ADVP (RB home)))"])
    test = "\n".join([SAW.format(f"(NP {MAN} {EYES})"), "(VP (VB go) (NP (RB home)))"])
    found = by_error(pair_of(gold, test))
    assert found.counts[("PP attachment",)] == (1, 0, 1, 1)
    assert found.counts[("different label",)] == (1, 1, 1, 1)
    rows = {row[0]: row for row in found.table.rows}
    columns = found.table.columns
    label = dict(zip(columns, rows["different label"], strict=True))
    assert label["share"] == pytest.approx(2 / 3)
    assert label["f1 if repaired"] == pytest.approx(2 * 8 / (8 + 9))
    places = found.examples(("different label",))
    assert [(place.sentence, place.side, place.label) for place in places] == [(1, "gold", "ADVP"), (1, "test", "NP")]
    assert sum(row[columns.index("share")] for row in found.table.rows) == pytest.approx(1)
