"""Mixtures of models: the mean of their posteriors, decoded."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import brute_force as brute
import pytest
from hypothesis import assume, given, settings, strategies as st
from tests.parsing.grammars import pcfgs, sentences

from treegauge.grammar import PCFG
from treegauge.normalise.pruning import chain_labels
from treegauge.parsing import mixture_tuning
from treegauge.parsing.forest import Forest
from treegauge.parsing.mixture import LAM, LPR, MixtureParser, MixtureView, collect
from treegauge.parsing.mixture_tuning import tune_mixture
from treegauge.parsing.parser import Parser, Sentence
from treegauge.trees.tree import Tree

FISH = PCFG.parse('S -> N V [.5] | N N [.5]\nN -> "fish" [.5] | "x" [.5]\nV -> "fish" [.5] | "swim" [.5]')


def test_views_of_a_parser_are_its_forests() -> None:
    """Sentences without a parse, and those too long for a chart, have no view."""
    parser = Parser(FISH)
    known, unknown, long = Sentence(("fish", "swim")), Sentence(("swim", "swim")), Sentence(("fish",) * 5000)
    views = parser.views([known, unknown, long])
    assert [view is None for view in views] == [False, True, True]
    assert views[0] is not None
    assert views[0].argmax().tree == parser.parse(known).tree == parser.view(known).argmax().tree
    assert parser.phrase_labels == {"S"}
    joined = PCFG.parse('`S+VP` -> `NP+N` V [1]\n`NP+N` -> "fish" [1]\nV -> "swim" [1]')
    assert Parser(joined, joined=True).phrase_labels == {"S", "VP", "NP"}


def mean_by_enumeration(
    grammars: list[PCFG], words: list[str], shares: list[float], parts: Callable[[Tree], Iterable[Any]] = brute.constituents
) -> Counter[Any]:
    """The mean posterior of each phrase, by enumeration; a grammar without a parse leaves its share to the others."""
    found = [
        (share, parses) for grammar, share in zip(grammars, shares, strict=True) if (parses := brute.all_parses(grammar, words))
    ]
    assume(found)
    assume(sum(share for share, _ in found))
    mean: Counter[Any] = Counter()
    for share, parses in found:
        assume(len(parses) <= 300)
        total = math.fsum(p for _, p in parses)
        for tree, p in parses:
            for part in set(parts(tree)):
                mean[part] += share / sum(share for share, _ in found) * p / total
    return mean


SHARES = st.lists(st.sampled_from([0.0, 0.25, 1.0, 3.0]), min_size=2, max_size=2)


@settings(max_examples=60)
@given(st.tuples(*[st.one_of(pcfgs(), pcfgs(unary=True))] * 2), sentences(), SHARES, st.sampled_from([0.1, 0.3, 0.45, 0.7]))
def test_a_mixture_decoded_is_the_best_of_all_trees(
    grammars: tuple[PCFG, PCFG], words: list[str], shares: list[float], lam: float
) -> None:
    assume(any(shares))
    g = mean_by_enumeration(list(grammars), words, shares)
    parser, n = MixtureParser(tuple(map(Parser, grammars)), tuple(shares)), len(words)
    view = parser.view(Sentence(tuple(words)))
    assert {c[:3]: c.posterior for c in view.phrase_constituents()} == pytest.approx(
        {k: v for k, v in g.items() if v > 0}, abs=2e-6
    )

    def worth(s: int, t: int, price: float, free: bool) -> float:
        gains = sorted((p - price for (i, j, _), p in g.items() if (i, j) == (s, t)), reverse=True)
        first = gains[:1] if (free or t - s == n) and gains else []
        return sum(max(x + price * free, x if t - s == n else 0.0) for x in first) + sum(max(x, 0.0) for x in gains[len(first) :])

    for name in ("labelled-precision-recall", "labelled-recall"):
        free = name == "labelled-recall"
        best = view.argmax(name, lam=lam)
        ideal = (
            max(math.fsum(worth(s, t, lam, free and t > s + 1) for s, t in b) for b in brute.nary_bracketings(n)) if n > 1 else None
        )
        own = Counter((s, t) for s, t, _ in set(best.tree.spans(preterminals=False)))
        paid = sum(count - (free and t > s + 1) for (s, t), count in own.items())
        assert best.score == pytest.approx(sum(g[part] for part in set(brute.constituents(best.tree))) - lam * paid, abs=1e-5)
        assert ideal is None or best.score == pytest.approx(ideal, abs=1e-5), name
    some = mean_by_enumeration(list(grammars), words, shares, lambda tree: brute.brackets(tree, preterminals=True))
    most = max(math.fsum(some[span] for span in b) for b in brute.binary_bracketings(n))
    assert view.argmax("bracketed-recall", pre=True).score == pytest.approx(most, abs=1e-5)


class OtherParser(Parser):
    """A parser of another kind."""


ATTACHMENT = (
    "VP -> V NP [{}] | V NP PP [{}]\nNP -> NP PP [{}] | N [{}]\nPP -> P NP [1]\nV -> 'saw' [1]\nN -> 'it' [1]\nP -> 'on' [1]"
)
LOW, HIGH = (PCFG.parse(ATTACHMENT.format(p, 1 - p, 0.5, 0.5)) for p in (0.7, 0.05))
LOW_TREE = Tree.parse("(VP (V saw) (NP (NP (N it)) (PP (P on) (NP (N it)))))")


def test_kinds_of_models_begin_with_equal_shares_which_models_of_one_kind_divide() -> None:
    """Where no share changes the trees, that is the result."""
    parts = Parser(LOW), OtherParser(LOW), OtherParser(LOW)
    assert tune_mixture(MixtureParser(parts, (1, 1, 1)), [LOW_TREE] * 5).shares == (2, 1, 1)
    assert tune_mixture(MixtureParser(parts[1:], (1, 1)), [LOW_TREE] * 5).shares == (1, 1)


def test_a_share_is_changed_where_that_gains_much() -> None:
    for better, worse in ((Parser(LOW), Parser(HIGH)), (Parser(LOW), OtherParser(HIGH))):
        found = tune_mixture(MixtureParser((better, worse), (1, 1)), [LOW_TREE] * 5)
        assert found.shares[0] > found.shares[1]
        assert found.f1 == found.alone[0] > found.alone[1]


def test_the_usual_lam_is_kept_unless_another_gains_more_than_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    parser = MixtureParser((Parser(LOW), OtherParser(HIGH)), (1, 1))
    trees = [LOW_TREE, *[Tree.parse("(VP (V saw) (NP (N it)) (PP (P on) (NP (N it))))")] * 3]
    found = tune_mixture(parser, trees)
    by_lam = {setting.lam: rates["f1"] for setting, rates in found.settings.rates.items() if setting.objective == LPR}
    assert (found.lam == LAM) == (max(by_lam.values()) <= by_lam[LAM] + mixture_tuning.CHANCE)
    monkeypatch.setattr(mixture_tuning, "CHANCE", 2.0)
    assert tune_mixture(parser, [LOW_TREE] * 5).lam == LAM


def test_shares_of_single_models_are_not_changed_for_a_gain_that_chance_may_have_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mixture_tuning, "CHANCE", 2.0)
    assert tune_mixture(MixtureParser((Parser(LOW), Parser(HIGH)), (1, 1)), [LOW_TREE] * 5).shares == (1, 1)
    assert tune_mixture(MixtureParser((Parser(LOW), OtherParser(HIGH)), (1, 1)), [LOW_TREE] * 5).shares != (1, 1)


def test_a_chain_over_a_word_is_phrases_above_a_tag() -> None:
    grammar = PCFG.parse('S -> `NP+QP+N` V [1]\n`NP+QP+N` -> "fish" [1]\nV -> "swim" [1]')
    made = MixtureView(["fish", "swim"], [collect(Forest(grammar, ["fish", "swim"]), chain_labels)], [1.0])
    assert {tuple(c) for c in made.phrase_constituents()} == {(0, 1, "NP", 1.0), (0, 1, "QP", 1.0), (0, 2, "S", 1.0)}
    assert {tuple(c) for c in made.shown_constituents()} >= {(0, 1, "N", 1.0), (1, 2, "V", 1.0)}
