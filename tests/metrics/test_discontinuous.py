"""Scores of trees with crossing branches: by hand, against brute force on sets of words, and as before on continuous trees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from brute_force import lineage_similarity
from hypothesis import Phase, given, settings, strategies as st
from tree_pairs import discontinuous_pairs, tree_pairs

import treegauge
import treegauge.io.sources
from treegauge import alignment
from treegauge.alignment.pairing import Pair
from treegauge.data import discontinuous_treebank
from treegauge.errors import Discontinuous
from treegauge.metrics.breakdowns import BREAKDOWNS, breakdown
from treegauge.metrics.registry import METRICS, compared_metrics, find_metric, metric_class
from treegauge.normalise import pipeline
from treegauge.presets import load_preset
from treegauge.trees import Tree, Treebank, parse_discbracket

Yield = tuple[str, frozenset[int]]

GOLD = "(VROOT (S (VP-OC (NP-OA (ART 0=Den) (NN 1=Apfel)) (VVPP 4=gegessen)) (VAFIN 2=hat) (NE 3=Anna)) ($. 5=.))"
TEST = "(VROOT (S (VP-OC (NP-SB (ART 0=Den) (NN 1=Apfel)) (NE 3=Anna) (VVPP 4=gegessen)) (VAFIN 2=hat)) ($. 5=.))"


def columns(trees: Sequence[Tree]) -> Treebank:
    return Treebank.from_trees(trees)


def yields(tree: Tree, dropped: frozenset[str] = frozenset()) -> list[tuple[Tree, frozenset[int]]]:
    """The phrases in pre-order with the words they cover; words with a dropped tag do not count."""
    kept = [place for place, tag in enumerate(tree.tags) if tag not in dropped]
    rank = {place: number for number, place in enumerate(kept)}
    found: list[tuple[Tree, frozenset[int]]] = []
    for node, blocks in tree.nodes_with_blocks():
        if not node.is_preterminal:
            words = frozenset(rank[w] for s, e in blocks for w in range(s, e) if w in rank)
            if words:
                found.append((node, words))
    return found


def has_gap(words: frozenset[int]) -> bool:
    return max(words) - min(words) + 1 > len(words)


def crosses(a: frozenset[int], b: frozenset[int]) -> bool:
    return bool(a & b and a - b and b - a)


def parseval(gold: Tree, test: Tree, dropped: frozenset[str] = frozenset()) -> dict[str, float]:
    ours: list[Yield] = [(node.label, words) for node, words in yields(gold, dropped)]
    theirs: list[Yield] = [(node.label, words) for node, words in yields(test, dropped)]
    matched = (Counter(ours) & Counter(theirs)).total()
    unlabelled = (Counter(words for _, words in ours) & Counter(words for _, words in theirs)).total()
    crossed = sum(any(crosses(words, other) for _, other in ours) for _, words in theirs)
    tags = sum(a == b for a, b, keep in zip(gold.tags, test.tags, gold.tags, strict=True) if keep not in dropped)
    return {
        "matched": matched,
        "gold": len(ours),
        "test": len(theirs),
        "unlabelled_matched": unlabelled,
        "crossing": crossed,
        "exact": matched == len(ours) == len(theirs),
        "tags": tags,
    }


def discontinuous(gold: Tree, test: Tree) -> dict[str, float]:
    ours = Counter((node.label, words) for node, words in yields(gold) if has_gap(words))
    theirs = Counter((node.label, words) for node, words in yields(test) if has_gap(words))
    matched = (ours & theirs).total()
    return {
        "matched": matched,
        "gold": ours.total(),
        "test": theirs.total(),
        "with_gaps": bool(ours or theirs),
        "exact": bool(ours or theirs) and matched == ours.total() == theirs.total(),
    }


def goodman(gold: Tree, test: Tree) -> dict[str, float]:
    correct = {(node.label, words) for node, words in yields(gold)}
    guessed = {(node.label, words) for node, words in yields(test)}
    sets = {words for _, words in correct}
    return {
        "N_C": len(correct),
        "N_G": len(guessed),
        "L": len(correct & guessed),
        "B": sum(words in sets for _, words in guessed),
        "C": sum(not any(crosses(words, other) for other in sets) for _, words in guessed),
    }


def links(tree: Tree) -> set[object]:
    return {
        (words, node.label, "only" if len(node.children) == 1 else side, child.label)
        for node, words in yields(tree)
        for side, child in enumerate(node.children)
        if isinstance(child, Tree)
    }


def frames(tree: Tree) -> set[object]:
    return {
        (words, node.label, tuple(child.label for child in node.children if isinstance(child, Tree)))
        for node, words in yields(tree)
        if len(node.children) > 1
    }


def similarity(gold: Tree, test: Tree) -> Fraction:
    """The sum of the similarities of lineages; the marks stand at a constituent's first and last word."""
    total = Fraction(0)
    for word in range(gold.width):
        pair: list[list[str]] = []
        for tree in (gold, test):
            above = [(node.label, words) for node, words in yields(tree) if word in words]
            begins = next((k for k, (_, words) in enumerate(above) if min(words) == word), None)
            ends = next((k for k, (_, words) in enumerate(above) if max(words) == word), None)
            lineage: list[str] = []
            for k in reversed(range(len(above))):
                lineage += ["["] * (k == begins) + [above[k][0]] + ["]"] * (k == ends)
            pair.append(lineage)
        total += lineage_similarity(*pair) if any(pair) else 0
    return total


def rows(name: str, pair: Pair) -> list[dict[str, float]]:
    metric = find_metric(name)
    return [dict(zip(metric.columns, row.tolist(), strict=True)) for row in metric.rows(pair)]


PAIRS = st.lists(discontinuous_pairs(8), min_size=25, max_size=25)


@pytest.mark.slow
@settings(max_examples=80, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(PAIRS)
def test_two_thousand_random_pairs_against_brute_force(pairs: list[tuple[Tree, Tree]]) -> None:
    pair = alignment.pair(columns([gold for gold, _ in pairs]), columns([test for _, test in pairs]), load_preset("none"))
    expected = {
        "parseval": [parseval(gold, test) for gold, test in pairs],
        "discontinuous": [discontinuous(gold, test) for gold, test in pairs],
        "goodman": [goodman(gold, test) for gold, test in pairs],
        "parent-child": [_overlap(links(gold), links(test)) for gold, test in pairs],
        "frames": [_overlap(frames(gold), frames(test)) for gold, test in pairs],
    }
    for name, wanted in expected.items():
        for found, right in zip(rows(name, pair), wanted, strict=True):
            assert {key: found[key] for key in right} == right, name


def _overlap(gold: set[object], test: set[object]) -> dict[str, float]:
    return {"matched": len(gold & test), "gold": len(gold), "test": len(test)}


def hogenhout(gold: Tree, test: Tree) -> dict[str, float]:
    """Items of the sets of two words and more; a chain of nodes over the same words is one."""
    ours, theirs = ({words for _, words in yields(tree) if len(words) > 1} for tree in (gold, test))
    exact = ours & theirs
    crossing = {words for words in theirs - exact if any(crosses(words, other) for other in ours)}
    spurious = theirs - exact - crossing
    return {"TTB": len(ours), "TPB": len(theirs), "EM": len(exact), "CE": len(crossing), "SP": len(spurious)}


@settings(max_examples=60, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(st.lists(discontinuous_pairs(8), min_size=10, max_size=10))
def test_items_against_brute_force(pairs: list[tuple[Tree, Tree]]) -> None:
    pair = alignment.pair(columns([gold for gold, _ in pairs]), columns([test for _, test in pairs]), load_preset("none"))
    for found, (gold, test) in zip(rows("hogenhout", pair), pairs, strict=True):
        right = hogenhout(gold, test)
        assert {key: found[key] for key in right} == right
        assert found["TINH"] + found["TNINH"] == found["EM"]


@settings(max_examples=60, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(st.lists(discontinuous_pairs(6), min_size=5, max_size=5))
def test_leaf_ancestor_against_brute_force(pairs: list[tuple[Tree, Tree]]) -> None:
    pair = alignment.pair(columns([gold for gold, _ in pairs]), columns([test for _, test in pairs]), load_preset("none"))
    for found, (gold, test) in zip(rows("leaf-ancestor", pair), pairs, strict=True):
        assert found["similarity"] == pytest.approx(float(similarity(gold, test)))


@pytest.mark.slow
@settings(max_examples=100, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(st.lists(discontinuous_pairs(8), min_size=10, max_size=10))
def test_words_that_do_not_count_close_gaps(pairs: list[tuple[Tree, Tree]]) -> None:
    """The tag of a word decides on both sides whether it counts: in gold."""
    dropped = frozenset({"IN", "CC"})
    preset = treegauge.presets.Preset(delete_tags=dropped, cut_labels_at="")
    gold = [tree for tree, _ in pairs]
    test = [_with_tags(tree, other.tags) for tree, other in zip((t for _, t in pairs), gold, strict=True)]
    pair = alignment.pair(columns(gold), columns(test), preset)
    for found, ours, theirs in zip(rows("parseval", pair), gold, test, strict=True):
        right = parseval(ours, theirs, dropped)
        assert {key: found[key] for key in right} == right


def test_a_gap_that_closes_at_its_left_end_crosses_nothing() -> None:
    """SBAR begins before NX and, once its first words do not count, behind it."""
    tree = parse_discbracket("(VP (NX (SBAR (CC 0=a) (RB 2=c)) (NX (DT 1=b))) (PP (CC 3=d) (NN 4=e)))")
    preset = treegauge.presets.Preset(delete_tags=frozenset({"CC"}), cut_labels_at="")
    (row,) = rows("parseval", alignment.pair(columns([tree]), columns([tree]), preset))
    assert (row["crossing"], row["matched"]) == (0, row["gold"])


def _with_tags(tree: Tree, tags: Sequence[str]) -> Tree:
    from treegauge.trees.discontinuous import from_placed_words, with_placed_words

    def walk(node: Tree) -> Tree:
        if node.is_preterminal:
            word = node.children[0]
            return Tree(tags[word.place], [word])  # pyright: ignore
        return Tree(node.label, [child if isinstance(child, str) else walk(child) for child in node.children])

    return from_placed_words(walk(with_placed_words(tree)))


@settings(max_examples=50, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(st.lists(tree_pairs(7), min_size=1, max_size=8))
def test_continuous_sentences_count_the_same_beside_discontinuous_ones(pairs: list[tuple[Tree, Tree]]) -> None:
    gold, test = columns([g for g, _ in pairs]), columns([t for _, t in pairs])
    ours, theirs = parse_discbracket(GOLD), parse_discbracket(TEST)
    alone = alignment.pair(gold, test, load_preset("default"))
    beside = alignment.pair(
        Treebank.concatenate([columns([ours]), gold, columns([ours])]),
        Treebank.concatenate([columns([theirs]), test, columns([ours])]),
        load_preset("default"),
    )
    for name in METRICS:
        if metric_class(name).discontinuous:
            metric = find_metric(name)
            assert metric.rows(beside)[1:-1].tobytes() == metric.rows(alone).tobytes(), name


def test_by_hand() -> None:
    """Gold has S, VP{0,1,4}, NP{0,1}; test has S, VP{0,1,3,4}, NP{0,1}: S and NP are right, VP is not and crosses nothing."""
    gold, test = parse_discbracket(GOLD), parse_discbracket(TEST)
    result = treegauge.score(gold, test, preset="disco")
    assert (result.counts["matched"], result.counts["gold"], result.counts["test"]) == (2, 3, 3)
    assert result.rates["f1"] == pytest.approx(2 / 3)
    assert result.counts["crossing"] == 0
    assert result.rates["tagging_accuracy"] == 1.0
    gaps = treegauge.score(gold, test, metric="discontinuous", preset="disco")
    assert (gaps.counts["matched"], gaps.counts["gold"], gaps.counts["test"]) == (0, 1, 1)
    assert gaps.rates["exact_match"] == 0.0
    same = treegauge.score(gold, gold, metric="discontinuous", preset="disco")
    assert same.rates["f1"] == same.rates["exact_match"] == 1.0


def test_our_german_sentences_against_their_raised_trees() -> None:
    """Every constituent with a gap is lost; counted by hand over the first three: 3 of 3 + 1 of 2 + 1 of 3 ... see the numbers."""
    gold = discontinuous_treebank("german")[:3]
    test = pipeline("continuous:raise").apply(gold)
    result = treegauge.score(gold, test, preset="disco")
    # 1: S VP{0,1,4} NP; raised: S NP, VP over one word. 2: S VP{0,3,4}; raised VP{3,4}. 3: S VP{0,2,3,4} NP; raised VP{0}.
    assert (result.counts["gold"], result.counts["test"], result.counts["matched"]) == (8, 8, 5)
    gaps = treegauge.score(gold, test, metric="discontinuous", preset="disco")
    assert (gaps.counts["gold"], gaps.counts["test"]) == (3, 0)
    assert np.isnan(gaps.rates["precision"])


def test_breakdowns_by_fan_out_and_gap_degree() -> None:
    gold = discontinuous_treebank("german")
    test = pipeline("continuous:raise").apply(gold)
    pair = alignment.pair(gold, test, load_preset("disco"))
    fan_out = breakdown("fan-outs", pair)
    parseval = find_metric("parseval")
    total = dict(zip(parseval.columns, parseval.rows(pair).sum(axis=0), strict=True))
    assert sum(counts[0] for counts in fan_out.counts.values()) == total["gold"]
    assert sum(counts[1] for counts in fan_out.counts.values()) == total["matched"]
    assert {key: counts[1] for key, counts in fan_out.counts.items() if key != (1,)} == {(2,): 0, (3,): 0}
    degrees = breakdown("gap-degrees", pair)
    assert sum(counts[0] for counts in degrees.counts.values()) == 34
    assert sum(counts[3] for counts in degrees.counts.values()) == total["matched"]


def test_metrics_that_need_spans_refuse_with_the_step_that_helps() -> None:
    gold = parse_discbracket(GOLD)
    refused = [name for name in METRICS if not metric_class(name).discontinuous]
    assert refused == ["freval", "induction"]
    for name in refused:
        with pytest.raises(Discontinuous, match="continuous:raise"):
            treegauge.score(gold, gold, metric=name)
    with pytest.raises(Discontinuous, match="continuous:raise"):
        treegauge.score(gold, gold, on_mismatch="evalb")
    found = treegauge.score(gold, gold)
    assert found.evalb is None
    (note,) = [note for note in found.notes if note.kind == "evalb"]
    assert "EVALB's figures are left out: it reads brackets, which cannot hold gaps" in note.text
    assert not any(note.kind == "evalb" for note in treegauge.score(gold, gold, metric="goodman").notes)


@pytest.mark.parametrize("metric", ["freval", "induction"])
def test_a_refused_tree_is_named_by_its_place_in_the_file(metric: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(treegauge.io.sources, "CHUNK_BYTES", 64)  # so that there are many blocks
    plain, path = tmp_path / "x.mrg", tmp_path / "x.dbr"
    line = "(S (A a) (B b) (C c))\n"
    plain.write_text(line * 201)
    path.write_text("(S (A 0=a) (B 1=b) (C 2=c))\n" * 200 + "(S (VP (A 0=a) (C 2=c)) (B 1=b))\n")
    for gold, test in ((path, path), (plain, path)):
        with pytest.raises(Discontinuous, match=r"^\S*x\.dbr:201: "):
            treegauge.score(gold, test, metric=metric)
    with pytest.raises(Discontinuous, match=r"^gold tree 2: "):
        treegauge.score([Tree.parse(line), parse_discbracket(GOLD)], [Tree.parse(line), parse_discbracket(GOLD)], metric=metric)


@pytest.mark.parametrize("name", [name for name in BREAKDOWNS if name != "errors"])
def test_breakdowns_take_discontinuous_trees(name: str) -> None:
    gold = discontinuous_treebank("dutch")
    pair = alignment.pair(gold, pipeline("continuous:raise").apply(gold), load_preset("disco"))
    assert breakdown(name, pair).table.columns


def test_missing_and_broken_parses_and_other_tokens() -> None:
    gold = discontinuous_treebank("german")[:3]
    first, second = gold[0], gold[1]
    result = treegauge.score(gold, columns([first, Tree("")]), preset="disco", pair="text")
    assert result.counts["gold"] == 8
    assert result.counts["matched"] == 3
    cut = parse_discbracket(
        str(second)
        .replace("3=gestern", "3=ges")
        .replace("(ADV-MO 3=ges)", "(ADV-MO 3=ges) (ADV-MO 4=tern)")
        .replace("4=angerufen", "5=angerufen")
        .replace("5=?", "6=?")
    )
    again = treegauge.score(columns([second]), columns([cut]), preset="disco")
    assert (again.counts["matched"], again.counts["gold"], again.counts["test"]) == (2, 2, 2)


def test_systems_are_compared_by_the_metrics_that_take_gaps() -> None:
    gold = discontinuous_treebank("dutch")
    raised = pipeline("continuous:raise").apply(gold)
    comparison = treegauge.compare(gold, {"gold": gold, "raised": raised}, treegauge.CompareOptions(preset="disco", rounds=20))
    assert {metric for metric, _ in comparison.overall.names} == set(compared_metrics(discontinuous=True))
    assert comparison.overall.pair("gold", "raised").of(("discontinuous", "f1")).value == -1.0
