"""F1 of unsupervised parsing against the rules of the papers' evaluations, each written down again in a few lines."""

from __future__ import annotations

import re

import pytest

import treegauge
from treegauge.data import treebank_path
from treegauge.presets import load_preset
from treegauge.scoring.baselines import baseline_for
from treegauge.trees import Tree, Treebank

WORD_TAGS = {
    *("CC", "CD", "DT", "EX", "FW", "IN", "JJ", "JJR", "JJS", "LS", "MD", "NN", "NNS"),
    *("NNP", "NNPS", "PDT", "POS", "PRP", "PRP$", "RB", "RBR", "RBS", "RP", "SYM", "TO", "UH"),
    *("VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "WDT", "WP", "WP$", "WRB"),
}
ROOTS = frozenset({"", "TOP", "ROOT", "S1", "VROOT"})
Span = tuple[int, int]


def spans_of(tree: Tree, counts: list[bool]) -> list[Span]:
    """The spans of all phrases over the words that count, in post-order, roots without a label of their own left out."""
    found: list[Span] = []
    places = iter(range(len(counts)))
    before = [sum(counts[:place]) for place in range(len(counts) + 1)]

    def visit(node: Tree) -> tuple[int, int]:
        if node.is_preterminal:
            place = next(places)
            return place, place + 1
        edges = [visit(child) for child in node.children if isinstance(child, Tree)]
        first, last = before[edges[0][0]], before[edges[-1][1]]
        if last - first > 1 and node.label.partition("-")[0] not in ROOTS:
            found.append((first, last))
        return edges[0][0], edges[-1][1]

    visit(tree)
    return found


def kim(gold: list[Span], test: list[Span]) -> tuple[tuple[int, int, int], float | None]:
    """Kim et al.: the last span is the root's; sets; no F1 where one side is empty."""
    ours, theirs = set(gold[:-1]), set(test[:-1])
    both = len(ours & theirs)
    counts = both, len(theirs) - both, len(ours) - both
    return counts, None if not ours or not theirs else 2 * both / (len(ours) + len(theirs))


def prpn(gold: list[Span], test: list[Span]) -> tuple[tuple[int, int, int], float | None]:
    """compare_trees.py of Kim et al.: the last span is the root's; sets; F1 = 1 where both sides are empty."""
    ours, theirs = set(gold[:-1]), set(test[:-1])
    return kim(gold, test)[0], 2 * len(ours & theirs) / (len(ours) + len(theirs)) if ours or theirs else 1.0


def tn_pcfg(gold: list[Span], test: list[Span], length: int) -> tuple[tuple[int, int, int], float | None]:
    """TN-PCFG: no span over the whole sentence; lists over the corpus; no gold span means recall 1."""
    gold, test = ([span for span in side if span != (0, length)] for side in (gold, test))
    counts = (
        sum(span in gold for span in test),
        sum(span not in gold for span in test),
        sum(span not in test for span in gold),
    )
    both = len(set(gold) & set(test))
    precision = both / len(set(test)) if test else float(not gold)
    recall = both / len(set(gold)) if gold else 1.0
    return counts, 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def expected(gold: Treebank, test: Treebank, paper: str, longest: int) -> tuple[float, float]:
    """Sentence F1 and corpus F1 of the sentences of up to so many words."""
    totals, values = [0, 0, 0], list[float]()
    for ours, theirs in zip(gold, test, strict=True):
        counts = [tag in WORD_TAGS for tag in ours.tags]
        if not (0 if paper == "prpn" else 1) < sum(counts) <= longest:
            continue
        sides = spans_of(ours, counts), spans_of(theirs, counts)
        of_sentence, f1 = {"kim": kim, "prpn": prpn}[paper](*sides) if paper != "tn-pcfg" else tn_pcfg(*sides, sum(counts))
        totals = [total + count for total, count in zip(totals, of_sentence, strict=True)]
        values += [] if f1 is None else [f1]
    tp, fp, fn = totals
    return sum(values) / len(values), 2 * tp / (2 * tp + fp + fn)


@pytest.mark.parametrize("paper", ["kim", "prpn", "tn-pcfg"])
@pytest.mark.parametrize("kind", ["right-branching", "random", "oracle-binary"])
def test_f1_is_that_of_the_papers(paper: str, kind: str) -> None:
    gold = Treebank.from_trees([tree for part in ("story", "travel") for tree in treegauge.read(treebank_path(part)) if tree.width])
    test = baseline_for(kind, gold, load_preset("induction"), seed=1)
    result = treegauge.score(gold, test, f"induction:{paper}", cutoff=10)
    sentence_f1, corpus_f1 = expected(gold, test, paper, 10_000)
    assert result.rates["sentence_f1"] == pytest.approx(sentence_f1, abs=1e-12)
    assert result.rates["corpus_f1"] == pytest.approx(corpus_f1, abs=1e-12)
    # WSJ10 and its like: the limit holds for the words that count.
    sentence_f1, corpus_f1 = expected(gold, test, paper, 10)
    assert result.short.rates["sentence_f1"] == pytest.approx(sentence_f1, abs=1e-12)
    assert result.short.rates["corpus_f1"] == pytest.approx(corpus_f1, abs=1e-12)
    assert result.short.sentences == sum(sum(tag in WORD_TAGS for tag in tree.tags) <= 10 for tree in gold)


def rate(gold: str, test: str, paper: str) -> tuple[float, float]:
    result = treegauge.score([gold], [test], f"induction:{paper}")
    return result.rates["sentence_f1"], result.rates["corpus_f1"]


def test_a_unary_chain_at_the_root_is_a_span_for_kim_alone() -> None:
    gold, test = "(S (VP (VB go) (NP (DT the) (NN way))))", "(X (VB go) (X (DT the) (NN way)))"
    assert rate(gold, test, "kim") == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    assert rate(gold, test, "tn-pcfg") == (1.0, 1.0)


def test_a_missed_gold_span_counts_as_often_as_it_stands_for_tn_pcfg_alone() -> None:
    gold = "(S (NP (NX (DT the) (NN cat))) (VP (VBD sat) (RB down)))"
    test = "(X (X (X (DT the) (NN cat)) (VBD sat)) (RB down))"
    missed = "(X (DT the) (X (NN cat) (X (VBD sat) (RB down))))"
    assert rate(gold, test, "kim")[1] == rate(gold, test, "tn-pcfg")[1] == pytest.approx(2 / 4)
    assert rate(gold, missed, "kim")[1] == pytest.approx(2 / 4)
    assert rate(gold, missed, "tn-pcfg")[1] == pytest.approx(2 / 5)


def test_a_missing_parse_has_f1_0() -> None:
    gold = ["(S (NP (DT the) (NN cat)) (VP (VBD sat)))"] * 2
    for paper in ("kim", "prpn", "tn-pcfg"):
        assert treegauge.score(gold, [gold[0], ""], f"induction:{paper}").rates["sentence_f1"] == 0.5


def test_output_without_punctuation_or_with_other_tags_fits() -> None:
    gold = "(S (NP (DT the) (NN cat)) (, ,) (VP (VBD sat) (ADVP (RB down) (RB there))) (. .))"
    for test in (
        "(X (X (T-1 the) (T-2 cat)) (X (T-3 sat) (X (T-1 down) (T-9 there))))",
        "(X (X (T-1 the) (T-2 cat)) (X (T-7 ,) (X (X (T-3 sat) (X (T-1 down) (T-9 there))) (T-7 .))))",
    ):
        assert rate(gold, test, "tn-pcfg") == (1.0, 1.0), test


def test_tables_say_how_many_sentences_have_an_f1_and_what_a_label_counts() -> None:
    gold = ["(S (NP (DT the) (NN cat)) (VP (VBD sat)))", "(S (NP (NN rain)) (VP (VBD fell)))"]
    test = ["(X (X (DT the) (NN cat)) (VBD sat))", "(X (NN rain) (VBD fell))"]
    result = treegauge.score(gold, test, "induction", breakdowns=["labels"])
    assert re.search(r"sentences +2\nwith an f1 +1\n", str(result)), str(result)
    assert "with an f1" not in str(treegauge.score(gold, test, "induction:prpn"))
    assert "whatever their labels" in str(result.breakdowns["labels"].table)
    assert not treegauge.score(gold, gold, breakdowns=["labels"]).breakdowns["labels"].table.notes
