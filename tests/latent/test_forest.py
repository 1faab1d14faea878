"""Forests of latent-variable models, compared with the ordinary chart parser and with enumeration of all parses."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import brute_force as brute
import numpy as np
import pytest
from tests.latent.toys import PLAIN, TREES, Enumerated, enumerate_parses, model_of

from treegauge.errors import UsageError
from treegauge.grammar.latent.latent_model import LatentModel
from treegauge.grammar.latent.subcategories import to_pcfg
from treegauge.parsing import Forest
from treegauge.parsing.latent.base_chart import base_inside
from treegauge.parsing.latent.latent_derivations import best_derivations
from treegauge.parsing.latent.latent_forest import LatentForest, tree_entropy
from treegauge.parsing.objectives import OBJECTIVES
from treegauge.parsing.span_weights import read_weights
from treegauge.parsing.tree_consensus import MetricRate
from treegauge.trees.tree import Tree

WITHOUT_CHAINS = [tree for tree in TREES if "(S (VP" not in str(tree) and "FRAG" not in str(tree) and "UH" not in str(tree)]
SENTENCES = ["the cat sat", "milk saw a dog with milk", "the old dog saw the cat with a dog with milk"]
NO_PHRASES, NO_TAGS = [Tree.parse("(UH milk)"), Tree.parse("(NN milk)")], [Tree.parse("(S a b)")]
SHORT = ["a cat sat", "milk", "sat with milk", "milk saw the cat", "the old cat sat with milk"]


def parses(model: LatentModel, words: tuple[str, ...]) -> dict[str, float]:
    """P(tree, words) in the mixture of a model's grammars."""
    total = defaultdict[str, float](float)
    for number in range(len(model.grammars)):
        for parse in enumerate_parses(model, number, words):
            total[str(parse.tree)] += parse.probability / len(model.grammars)
    return dict(total)


def constituents(tree: Tree, preterminals: bool = True) -> set[tuple[int, int, str]]:
    return {(span.start, span.end, span.label) for span in tree.spans(preterminals=preterminals)}


@pytest.mark.parametrize("sentence", SENTENCES)
@pytest.mark.parametrize("splits", [1, 2])
def test_posteriors_are_those_of_every_subcategory_written_out(sentence: str, splits: int) -> None:
    model = model_of(WITHOUT_CHAINS, splits)
    words = sentence.split()
    ours, ordinary = LatentForest(model, words, exact=True), Forest(to_pcfg(model, least=0.0), words)
    assert ours.log_partition == pytest.approx(ordinary.log_partition, abs=1e-5)
    theirs = {(c.start, c.end, c.label): c.posterior for c in ordinary.shown_constituents()}
    found = {(c.start, c.end, c.label): c.posterior for c in ours.shown_constituents()}
    assert {key for key, p in theirs.items() if p > 1e-9} == {key for key, p in found.items() if p > 1e-9}
    assert [found[key] for key in sorted(theirs)] == pytest.approx([theirs[key] for key in sorted(theirs)], abs=1e-5)


@pytest.mark.parametrize("sentence", SHORT)
@pytest.mark.parametrize("seeds", [(0,), (1, 2, 3)])
def test_posteriors_equal_enumeration(sentence: str, seeds: tuple[int, ...]) -> None:
    model, words = model_of(seeds=seeds), tuple(sentence.split())
    forest = LatentForest(model, words, exact=True)
    each = [enumerate_parses(model, number, words) for number in range(len(seeds))]
    assert forest.n_parses == len(each[0])
    totals = [math.fsum(parse.probability for parse in found) for found in each]
    assert forest.log_partition == pytest.approx(math.log(math.fsum(totals) / len(totals)), abs=1e-5)
    expected = defaultdict[tuple[int, int, str], float](float)
    for found, total in zip(each, totals, strict=True):
        for parse in found:
            for key in constituents(parse.tree):
                expected[key] += parse.probability / total / len(totals)
    shown = {(c.start, c.end, c.label): c.posterior for c in forest.shown_constituents()}
    for key, posterior in expected.items():
        assert shown[key] == pytest.approx(posterior, abs=1e-5), key
    assert sum(shown.values()) == pytest.approx(sum(expected.values()), abs=1e-4)


def test_posteriors_add_up() -> None:
    forest = LatentForest(model_of(seeds=(0, 1)), ["the", "old", "dog", "saw", "the", "cat", "with", "a", "dog", "with", "milk"])
    packed, item, edge = forest.packed_forest, forest.item_posterior, forest.edge_posterior
    for v in range(len(packed.symbol)):
        if packed.first[v + 1] > packed.first[v]:
            assert edge[packed.first[v] : packed.first[v + 1]].sum() == pytest.approx(item[v], abs=1e-6)
    assert sum(item[v] for v in forest.roots()) == pytest.approx(1.0)
    assert forest.posteriors.tag.sum(axis=1) == pytest.approx(1.0)


@pytest.mark.parametrize("sentence", SHORT)
def test_viterbi_is_the_likeliest_derivation(sentence: str) -> None:
    model, words = model_of(seeds=(4, 5)), tuple(sentence.split())
    found: list[Enumerated] = [parse for number in range(2) for parse in enumerate_parses(model, number, words)]
    best = max(found, key=lambda parse: parse.best)
    parse = LatentForest(model, words, exact=True).best()
    assert parse.log_probability == pytest.approx(math.log(best.best / 2), abs=1e-5)
    assert parse.tree == best.tree


@pytest.mark.parametrize("sentence", SHORT)
def test_kbest_are_distinct_trees_with_their_probabilities(sentence: str) -> None:
    model, words = model_of(seeds=(4, 5)), tuple(sentence.split())
    expected = parses(model, words)
    found = LatentForest(model, words, exact=True).kbest(3)
    assert len({str(parse.tree) for parse in found}) == len(found) >= 1
    for parse in found:
        assert math.exp(parse.log_probability) == pytest.approx(expected[str(parse.tree)], rel=1e-4)
    assert [p.log_probability for p in found] == sorted((p.log_probability for p in found), reverse=True)
    assert str(found[0].tree) == max(expected, key=lambda tree: expected[tree])


@pytest.mark.parametrize("sentence", SENTENCES)
def test_kbest_are_the_k_likeliest_of_all_trees(sentence: str) -> None:
    model, words = model_of(seeds=(4, 5)), tuple(sentence.split())
    expected = sorted(parses(model, words).values(), reverse=True)
    forest = LatentForest(model, words, exact=True)
    for k in (1, 2, 3, 7, 50):
        found = [math.exp(parse.log_probability) for parse in forest.kbest(k)]
        assert found == pytest.approx(expected[:k], rel=1e-4)
    assert forest.kbest(0) == []


def test_there_are_k_trees_also_where_many_derivations_are_one_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    """With few candidates the order is that of the search, and still there are k different trees if the forest has so many."""
    forest = LatentForest(model_of(seeds=(4, 5)), SENTENCES[2].split(), exact=True)
    monkeypatch.setattr("treegauge.parsing.latent.latent_derivations.CANDIDATES", 1)
    monkeypatch.setattr("treegauge.parsing.latent.latent_derivations.LEAST_CANDIDATES", 1)
    for k in range(1, forest.n_parses + 2):
        assert len({str(parse.tree) for parse in forest.kbest(k)}) == min(k, forest.n_parses)


def test_all_derivations_are_found_in_order() -> None:
    """Of one grammar without subcategories, the product of P(edge | item) is P(derivation | words)."""
    forest = LatentForest(model_of(), ["a", "cat", "sat"], exact=True)
    ways = list(best_derivations(forest))
    assert len(ways) == len(set(ways)) == forest.n_parses
    assert math.fsum(math.exp(forest.log_probability_of(way)) for way in ways) == pytest.approx(
        math.exp(forest.log_partition), rel=1e-5
    )


def test_samples_have_their_posteriors() -> None:
    model, words = model_of(seeds=(4, 5)), ("sat", "with", "milk")
    forest = LatentForest(model, words, exact=True)
    size = 4000
    drawn = Counter(map(str, forest.sample(size, 1)))
    expected = defaultdict[str, float](float)
    for number in range(2):
        found = enumerate_parses(model, number, words)
        total = math.fsum(parse.probability for parse in found)
        for parse in found:
            expected[str(parse.tree)] += parse.probability / total / 2
    for tree, share in expected.items():
        assert abs(drawn[tree] / size - share) < 5 * math.sqrt(share * (1 - share) / size) + 1e-9
    assert [str(tree) for tree in forest.sample(20, 7)] == [str(tree) for tree in forest.sample(20, 7)]


@pytest.mark.parametrize("sentence", SHORT)
def test_entropy_equals_enumeration_and_is_estimated_well(sentence: str) -> None:
    model, words = model_of(seeds=(4, 5)), tuple(sentence.split())
    shares = defaultdict[str, float](float)
    for number in range(2):
        found = enumerate_parses(model, number, words)
        total = math.fsum(parse.probability for parse in found)
        for parse in found:
            shares[str(parse.tree)] += parse.probability / total / 2
    expected = -math.fsum(p * math.log(p) for p in shares.values() if p > 0)
    forest = LatentForest(model, words, exact=True)
    assert forest.entropy() == pytest.approx(expected, abs=1e-5)
    spread = math.sqrt(math.fsum(p * (math.log(p) + expected) ** 2 for p in shares.values() if p > 0) / 400)
    assert abs(tree_entropy(forest, few=0, samples=400) - expected) <= 5 * spread + 1e-5


@pytest.mark.parametrize("sentence", SHORT[2:])
@pytest.mark.parametrize("lam", [0.2, 0.4])
def test_no_parse_is_worth_more_than_the_best_tree(sentence: str, lam: float) -> None:
    model, words = model_of(seeds=(4, 5)), tuple(sentence.split())
    forest = LatentForest(model, words, exact=True)
    shown = {(c.start, c.end, c.label): c.posterior for c in forest.shown_constituents()}

    def worth(tree: Tree, price: float) -> float:
        top = tree[0] if tree.label == "TOP" else tree
        assert isinstance(top, Tree)
        return math.fsum(shown.get(key, 0.0) - price for key in constituents(top, preterminals=False))

    trees = [Tree.parse(text) for text in parses(model, words)]
    free = forest.argmax("labelled-precision-recall", lam=lam)
    assert free.score == pytest.approx(worth(free.tree, lam), abs=1e-6)
    assert free.score >= max(worth(tree, lam) for tree in trees) - 1e-6


@pytest.mark.parametrize("lam", [None, 0.2, 0.4])
@pytest.mark.parametrize("pre", [False, True])
@pytest.mark.parametrize("sentence", SHORT[2:])
def test_recall_pays_for_further_labels_and_phrases_over_one_word(sentence: str, pre: bool, lam: float | None) -> None:
    """Without lam the model's own is the price; the free optimum is not below the licensed one."""
    model, words = model_of(seeds=(4, 5)), tuple(sentence.split())
    forest = LatentForest(model, words, exact=True)
    shown = {(c.start, c.end, c.label): c.posterior for c in forest.shown_constituents()}

    def worth(tree: Tree) -> float:
        top = tree[0] if tree.label == "TOP" else tree
        assert isinstance(top, Tree)
        keys = list(constituents(top, preterminals=False))
        long = {(start, end) for start, end, _ in keys if end - start > 1}
        tags = math.fsum(shown[i, i + 1, tag] for i, tag in enumerate(top.tags)) if pre else 0.0
        return math.fsum(shown.get(key, 0.0) for key in keys) - price * (len(keys) - len(long)) + tags

    price = model.settings.lam if lam is None else lam
    best = forest.argmax("labelled-recall-licensed", pre=pre, lam=lam)
    assert best.score == pytest.approx(max(worth(Tree.parse(text)) for text in parses(model, words)), abs=1e-6)
    assert worth(best.tree) == pytest.approx(best.score, abs=1e-6)
    free = forest.argmax("labelled-recall", pre=pre, lam=lam)
    assert worth(free.tree) == pytest.approx(free.score, abs=1e-6)
    assert free.score >= best.score - 1e-6


def test_two_labels_of_equal_posterior_count_twice() -> None:
    """Every S is over a VP here, so that both have the posterior 1: the second costs lam."""
    forest = LatentForest(model_of([Tree.parse("(TOP (S (VP (VB go) (RB on))))")]), ["go", "on"], exact=True)
    best = forest.argmax("labelled-recall", lam=0.3)
    assert str(best.tree) == "(TOP (S (VP (VB go) (RB on))))"
    assert best.score == pytest.approx(1.7)


@pytest.mark.parametrize("sentence", SHORT[2:])
@pytest.mark.parametrize(
    ("objective", "count", "parts"),
    [
        *(("parent-child", count, brute.pc_links) for count in ("binary", "all")),
        *(("frames", count, brute.productions) for count in ("strict", "bin", "many", "all")),
    ],
)
def test_parts_count_as_for_counted_grammars(sentence: str, objective: str, count: str, parts: Any) -> None:
    """By enumeration, with a model of binary trees: it has no inner symbols, so that a tree shows all that counts."""
    binary = [tree for tree in TREES if all(len(node.children) < 3 for node in tree.nodes())]
    forest = LatentForest(model_of(binary, seeds=(4, 5)), sentence.split(), exact=True)
    if not forest.has_parse:
        return
    weighted = [(_without_root(Tree.parse(text)), p) for text, p in posterior_parses(forest).items()]
    best = forest.argmax(objective, count=count)
    counted = partial(parts, count=count)
    expected = max(brute.expected_matches(weighted, tree, counted) for tree, _ in weighted)
    assert best.score == pytest.approx(expected, abs=1e-5)
    assert brute.expected_matches(weighted, _without_root(best.tree), counted) == pytest.approx(expected, abs=1e-5)


def posterior_parses(forest: LatentForest) -> dict[str, float]:
    """P(tree | words), the mean over the grammars."""
    total = defaultdict[str, float](float)
    for number in range(len(forest.model.grammars)):
        found = enumerate_parses(forest.model, number, forest.words)
        z = math.fsum(parse.probability for parse in found)
        for parse in found:
            total[str(parse.tree)] += parse.probability / z / len(forest.model.grammars)
    return dict(total)


@pytest.mark.parametrize(
    ("trees", "sentence"), [*((TREES, sentence) for sentence in SHORT), (NO_PHRASES, "milk"), (NO_TAGS, "a b")]
)
def test_every_objective_gives_a_tree_over_the_words(trees: list[Tree], sentence: str) -> None:
    forest = LatentForest(model_of(trees, seeds=(4, 5)), sentence.split())
    for name in OBJECTIVES:
        options = {"general": {"weights": forest.span_labels.some}, "mbr": {"score": MetricRate("parseval")}}.get(name, {})
        best = forest.argmax(name, **options)
        assert best.tree.words == tuple(sentence.split()), name
        assert math.isfinite(best.score) or (name == "mbr" and trees is NO_PHRASES), name


@pytest.mark.parametrize("sentence", SHORT)
def test_free_objectives_are_best_among_the_parses(sentence: str) -> None:
    forest = LatentForest(model_of(seeds=(4, 5)), sentence.split(), exact=True)
    shown = {(c.start, c.end, c.label): c.posterior for c in forest.shown_constituents()}
    trees = [tree[0] for tree in map(Tree.parse, parses(forest.model, forest.words))]

    def spans(tree: Tree) -> set[tuple[int, int]]:
        return {(s, t) for s, t, _ in constituents(tree, preterminals=False) if t > s + 1}

    brackets = forest.argmax("bracketed-recall")
    some = forest.span_labels.some
    assert brackets.score == pytest.approx(math.fsum(some[key] for key in spans(brackets.tree)), abs=1e-6)
    g = forest.span_labels.dense(forest.span_labels.any)
    long = (np.arange(forest.n + 1) - np.arange(forest.n)[:, None] > 1)[:, :, None]
    wanted = np.array([name == "NP" for name in forest.span_labels.names])
    nouns = forest.argmax("general", weights=np.where(g > 0, g * wanted * long, -1e300))
    for tree in trees:
        assert isinstance(tree, Tree)
        assert brackets.score >= math.fsum(some[key] for key in spans(tree)) - 1e-6
        worth = math.fsum(shown[s, t, "NP"] for s, t, name in constituents(tree) if name == "NP" and t > s + 1)
        assert nouns.score >= worth - 1e-6
    assert nouns.score == pytest.approx(
        math.fsum(shown.get(key, 0.0) for key in constituents(nouns.tree) if key[2] == "NP" and key[1] > key[0] + 1), abs=1e-6
    )


@pytest.mark.parametrize("objective", ["frames", "parent-child"])
def test_the_tags_of_a_licensed_tree_are_the_likely_ones_among_equals(objective: str) -> None:
    """Tags do not count in these objectives, but they decide between trees that are otherwise equal."""
    trees = [Tree.parse(f"(TOP (S (NP ({tag} I)) (VP (VB go) (RB on))))") for tag in ("NNP", *["PRP"] * 9)]
    forest = LatentForest(model_of(trees), ["I", "go", "on"])
    assert forest.argmax(objective).tree.tags == ("PRP", "VB", "RB")


def test_weights_of_labels_by_a_file_and_wrong_options(tmp_path: Path) -> None:
    forest = LatentForest(model_of(), ["the", "old", "cat", "sat", "with", "milk"])
    (tmp_path / "weights.txt").write_text("NP 1\nPP 2\n", "utf-8")
    best = forest.argmax("general", weights=read_weights(str(tmp_path / "weights.txt")))
    assert (4, 6, "PP") in constituents(best.tree)
    with pytest.raises(UsageError, match="shape"):
        forest.argmax("general", weights=np.zeros((2, 2)))
    for wrong in (math.nan, math.inf):
        with pytest.raises(UsageError, match="finite"):
            forest.argmax("labelled-precision-recall", lam=wrong)
    every = forest.argmax("labelled-precision-recall", lam=-1.0).tree
    assert constituents(every) <= {(c.start, c.end, c.label) for c in forest.shown_constituents()}


def test_max_rule_multiplies_the_posteriors_of_rules() -> None:
    """Compared with the product, over all grammars, of the posteriors of the edges of every parse."""
    forest = LatentForest(model_of(seeds=(4, 5)), ["the", "old", "cat", "sat", "with", "milk"], exact=True)
    best = forest.argmax("max-rule")
    packed = forest.packed_forest
    values: dict[str, float] = {}
    for derivation in best_derivations(forest):
        total = 0.0
        for _, each in forest.grammar_passes:
            total += math.log(each.item[derivation.root])
            for d in derivation.edges:
                total += math.log(each.edge[d]) if packed.kind[d] > 0 else 0.0
                for v in (packed.left[d], packed.right[d]):
                    if v >= 0 and forest.model.base.is_tag[packed.symbol[v]]:
                        total += math.log(each.item[v])
        values[str(forest.tree(derivation))] = total
    assert best.score == pytest.approx(max(values.values()), abs=1e-6)
    assert values[str(best.tree)] == pytest.approx(best.score, abs=1e-6)


def test_gold_tags_are_kept() -> None:
    model = model_of()
    forest = LatentForest(model, ["milk", "sat"], tags=[{"UH"}, {"VBD"}])
    assert {c.label for c in forest.shown_constituents() if (c.start, c.end) == (0, 1)} & set(model.base.tags) <= {"UH"}


def test_a_tag_that_no_word_of_its_kind_has_is_kept() -> None:
    """The lexicon rules the tag out, but the given tag takes precedence."""
    model = model_of()
    forest = LatentForest(model, ["sat", "saw", "milk"], tags=[{"NN"}, {"VBD"}, {"NN"}])
    assert forest.has_parse
    assert forest.argmax("labelled-precision-recall").tree == Tree.parse("(TOP (S (NP (NN sat)) (VP (VBD saw) (NP (NN milk)))))")


LABELS_TWICE = (
    "(TOP (S (VP (S (NP (A a) (B b))))))",
    "(TOP (S (NP (NP a)) (X (NP (A a) (NP b)))))",
    "(TOP (S (NP (QP (NP a))) (X (QP (B b)))))",
    "(TOP (S (VP (NP (QP (NP b)))) (X (QP (A a) (NP b)))))",
    "(TOP (VP (QP (A a) (B b))))",
    "(TOP (X (TOP (A a) (B b))))",
    "(TOP (NP (NP a)))",
)
"""A label stands twice over a span: in a chain, or as that of a tag and of a phrase right above it, at the top of a chain over it,
or in the middle of one; or as the root's."""
SOME_TAGS = ("(TOP (S (NP (A a) b) (X (B b))))", "(TOP (S (A a) (X (NP a b))))", "(TOP (S a (NP (B b) a) (X (A a))))")
"""Words with a tag, without one, and right below a phrase."""


@pytest.mark.parametrize("texts", [LABELS_TWICE, SOME_TAGS])
@pytest.mark.parametrize("sentence", ["a b", "a a b", "b a b", "a"])
def test_a_constituent_has_the_probability_that_a_tree_shows_it(texts: tuple[str, ...], sentence: str) -> None:
    """By the label, and by the span alone; so none has more than 1, even where a label stands twice over a span."""
    model, words = model_of([Tree.parse(text) for text in texts], seeds=(0, 1)), tuple(sentence.split())
    forest = LatentForest(model, words, exact=True)
    expected, spans = defaultdict[tuple[int, int, str], float](float), defaultdict[tuple[int, int], float](float)
    each = [enumerate_parses(model, number, words) for number in range(len(model.grammars))]
    if not forest.has_parse:
        assert not any(each)
        return
    for found in each:
        total = math.fsum(parse.probability for parse in found) * len(each)
        for parse in found:
            for key in constituents(parse.tree):
                expected[key] += parse.probability / total
            for span in {key[:2] for key in constituents(_without_root(parse.tree))}:
                spans[span] += parse.probability / total
    shown = {(c.start, c.end, c.label): c.posterior for c in forest.shown_constituents()}
    assert shown == pytest.approx(dict(expected), abs=1e-5)
    assert max(shown.values()) <= 1
    some = forest.span_labels.some
    assert {(s, t): some[s, t] for s, t in np.argwhere(some > 1e-12).tolist()} == pytest.approx(dict(spans), abs=1e-5)


def _without_root(tree: Tree) -> Tree:
    """The tree below the treebank's root."""
    (child,) = tree.children
    return child if isinstance(child, Tree) else tree


def test_pruning_loses_little() -> None:
    model = model_of(seeds=(4, 5))
    words = ["the", "old", "dog", "saw", "the", "cat", "with", "a", "dog", "with", "milk"]
    pruned, exact = LatentForest(model, words), LatentForest(model, words, exact=True)
    assert pruned.log_partition == pytest.approx(exact.log_partition, abs=0.01)
    assert np.abs(pruned.posteriors.label - exact.posteriors.label).max() < 0.01
    assert PLAIN.rules == 0


def test_a_sentence_that_pruning_would_leave_without_a_parse_has_one() -> None:
    model = model_of(seeds=(4, 5))
    harsh = replace(model, settings=model.settings._replace(base=0.9, subcategory=0.9, edge=0.9), derived={})
    words = ["the", "old", "dog", "saw", "the", "cat", "with", "a", "dog", "with", "milk"]
    assert LatentForest(harsh, words).log_partition <= LatentForest(model, words, exact=True).log_partition + 1e-9
    long = ["milk", "saw", "the", "dog", *["with", "a", "dog"] * 60]
    assert LatentForest(model, long).argmax("labelled-precision-recall").tree.words == tuple(long)


def test_a_sentence_without_a_parse_is_not_scaled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chart without very small numbers has a probability of 0 because there is no parse, not because of underflow."""
    charts: list[int] = []

    def counted(n: int, *arguments: Any) -> None:
        charts.append(n)
        base_inside(n, *arguments)

    monkeypatch.setattr("treegauge.parsing.latent.latent_forest.base_inside", counted)
    assert not LatentForest(model_of(), ["with", "the", "sat"]).has_parse
    assert charts == [3, 3]  # with the frequent tags of each word, and with all tags
