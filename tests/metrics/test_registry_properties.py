"""What must hold for every metric there is or will be: a new one in the registry is tested here without a further line."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import json
import math
import pkgutil
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from tree_pairs import treebank_pairs

import treegauge
import treegauge.metrics
from treegauge import alignment
from treegauge.alignment.pairing import Pair
from treegauge.errors import UnknownName, UsageError
from treegauge.metrics.freval import Freval, SizeScore
from treegauge.metrics.metric import Metric, total_of
from treegauge.metrics.registry import METRICS, find_metric, metric_names
from treegauge.presets import load_preset
from treegauge.trees import Treebank, parse_discbracket

WITH_OPTIONS = ["goodman:pre", "frames:strict", "frames:all", "leaf-ancestor:plain", "freval:published"]
WITH_OPTIONS += ["induction:prpn", "induction:tn-pcfg"]

SIZES_WITHOUT_PARTS_SCORE_0 = {"freval"}
"""Their definition says so: a size of which there are no fragments keeps its weight, so small trees cannot reach 1 everywhere."""

every_metric = pytest.mark.parametrize("name", [*METRICS, *WITH_OPTIONS])
few_examples = settings(max_examples=7)
Banks = tuple[Treebank, Treebank]


def pair_for(metric: Metric, gold: Treebank, test: Treebank) -> Pair:
    """Trees as they stand; a metric may have preprocessing of its own that the preset must leave to it."""
    return alignment.pair(gold, test, metric.preset_for(load_preset("none")))


def rates_of(metric: Metric, gold: Treebank, test: Treebank) -> dict[str, float]:
    return metric.rates(total_of(metric.rows(pair_for(metric, gold, test))))


def counterparts(metric: Metric) -> dict[str, str]:
    """The rates that turn into each other when gold and test change places."""
    found = {rate: metric.counterpart(rate) for rate in metric.rate_names}
    return {rate: other for rate, other in found.items() if other is not None}


def same_rates(a: dict[str, float], b: dict[str, float]) -> None:
    assert list(a) == list(b)
    np.testing.assert_allclose(list(a.values()), list(b.values()), rtol=1e-12, atol=1e-15)


@every_metric
def test_is_described(name: str) -> None:
    metric = find_metric(name)
    assert metric.name == name.partition(":")[0]
    assert metric.summary
    assert metric.reference
    assert inspect.getdoc(type(metric))
    assert metric.columns
    assert len(set(metric.columns)) == len(metric.columns)
    bank = Treebank.parse("(S (NP (D the) (N cat)) (VP (V sat)))")
    rates = rates_of(metric, bank, bank)
    assert metric.headline in rates
    assert all(isinstance(rate, float) for rate in rates.values())
    assert {metric.counterpart(rate) for rate in rates} <= {*rates, None}
    assert all(isinstance(option, str) for option in metric.options)


@every_metric
@few_examples
@given(treebank_pairs())
def test_one_row_a_sentence(name: str, banks: Banks) -> None:
    metric = find_metric(name)
    assert metric.rows(pair_for(metric, *banks)).shape == (len(banks[0]), len(metric.columns))


@every_metric
@few_examples
@given(treebank_pairs())
def test_a_tree_matches_itself(name: str, banks: Banks) -> None:
    metric = find_metric(name)
    rates = rates_of(metric, banks[0], banks[0])
    if metric.name in SIZES_WITHOUT_PARTS_SCORE_0:
        has_phrases = not banks[0].is_preterminal.all()
        assert rates[metric.headline] == pytest.approx(1 if has_phrases else 0)
        return
    for rate in {metric.headline, *counterparts(metric)}:
        assert rates[rate] == 1 or math.isnan(rates[rate]), rate


@every_metric
@few_examples
@given(treebank_pairs())
def test_declared_symmetries_hold(name: str, banks: Banks) -> None:
    metric = find_metric(name)
    there, back = rates_of(metric, *banks), rates_of(metric, *reversed(banks))
    for rate, mirror in counterparts(metric).items():
        assert there[rate] == pytest.approx(back[mirror], nan_ok=True), rate


@every_metric
@few_examples
@given(treebank_pairs(), st.randoms(use_true_random=False))
def test_order_does_not_matter(name: str, banks: Banks, random: Any) -> None:
    metric = find_metric(name)
    order = list(range(len(banks[0])))
    random.shuffle(order)
    rows = metric.rows(pair_for(metric, *banks))
    shuffled = metric.rows(pair_for(metric, *(bank.take(order) for bank in banks)))
    same_rates(metric.rates(total_of(shuffled)), metric.rates(total_of(rows)))
    assert metric.rates(total_of(shuffled)) == pytest.approx(metric.rates(total_of(rows[order])), nan_ok=True)


@every_metric
@few_examples
@given(treebank_pairs(), st.integers(0, 5))
def test_shards_add_up(name: str, banks: Banks, cut: int) -> None:
    metric = find_metric(name)
    gold, test = banks
    whole = pair_for(metric, gold, test)
    cut = min(cut, len(whole))
    expected = metric.rates(total_of(metric.rows(whole)))
    cut_before = [pair_for(metric, gold[:cut], test[:cut]), pair_for(metric, gold[cut:], test[cut:])]
    cut_after = [whole.only(whole.index[:cut]), whole.only(whole.index[cut:])]
    for parts in (cut_before, cut_after):
        same_rates(metric.rates(total_of(np.concatenate([metric.rows(part) for part in parts]))), expected)
        totals = [total_of(metric.rows(part)) for part in parts if len(part)]
        same_rates(metric.rates(added(totals, len(metric.columns))), expected)


def added(totals: Sequence[Sequence[Any]], n_columns: int) -> list[Any]:
    return [sum(column) for column in zip(*totals, strict=True)] if totals else [0] * n_columns


@every_metric
@few_examples
@given(treebank_pairs())
def test_doubling_a_corpus_changes_no_rate(name: str, banks: Banks) -> None:
    metric = find_metric(name)
    doubled = rates_of(metric, *(Treebank.concatenate([bank, bank]) for bank in banks))
    once = rates_of(metric, *banks)
    same_rates(doubled, once)


@every_metric
def test_nothing_scores_nothing(name: str) -> None:
    metric = find_metric(name)
    empty = Treebank.from_trees([])
    rows = metric.rows(pair_for(metric, empty, empty))
    assert rows.shape == (0, len(metric.columns))
    rates = metric.rates(total_of(rows))
    assert rates
    if metric.name in SIZES_WITHOUT_PARTS_SCORE_0:
        assert set(rates.values()) == {0.0}
    else:
        assert all(math.isnan(rate) for rate in rates.values()), rates


@every_metric
def test_a_missing_parse_is_a_row_without_test_parts(name: str) -> None:
    metric = find_metric(name)
    gold = Treebank.parse("(S (NP (D the) (N cat)) (VP (V sat) (R down))) (S (NP (N rain)) (VP (V fell) (R down)))")
    if name == "discontinuous":  # whose parts are constituents with gaps alone
        gold = Treebank.from_trees([parse_discbracket("(S (VP (NP 0=Wen) (V 2=kennt)) (N 1=er))")] * 2)
    assert rates_of(metric, gold, blanked(gold, [0]))[metric.headline] < 1


def modules() -> Iterator[str]:
    for module in pkgutil.walk_packages(treegauge.metrics.__path__, "treegauge.metrics."):
        yield module.name


def looks_like_a_metric(found: object, module: str) -> bool:
    return inspect.isclass(found) and found.__module__ == module and issubclass(found, Metric) and "name" in vars(found)


def test_no_metric_is_forgotten() -> None:
    registered = set(METRICS.values())
    found = {
        f"{module}:{name}"
        for module in modules()
        for name, value in vars(importlib.import_module(module)).items()
        if looks_like_a_metric(value, module)
    }
    assert len(found) >= 5

    def home(target: str) -> object:
        module, _, attribute = target.partition(":")
        return getattr(importlib.import_module(module), attribute)

    assert set(map(home, found)) == set(map(home, registered))
    assert metric_names() == list(METRICS)


@every_metric
def test_options_are_the_fields_and_survive_json(name: str) -> None:
    metric = find_metric(name)
    assert type(metric).from_options(json.loads(json.dumps(metric.options))) == metric
    assert set(metric.options) <= {field.name for field in dataclasses.fields(metric)}
    for words in metric.option_words().values():
        assert words.meaning
        assert all(words.read(word) is not None for word in words.examples)


@every_metric
def test_an_unknown_option_names_the_valid_ones(name: str) -> None:
    metric = find_metric(name)
    with pytest.raises(UsageError if not metric.option_words() else UnknownName, match=metric.name):
        find_metric(f"{metric.name}:no-such-option")


@pytest.mark.parametrize("name", ["goodman:pre:nopre", "frames:bin:all", "freval:edges:published", "leaf-ancestor:plain:letters"])
def test_contradicting_options_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match="contradicts"):
        find_metric(name)


@every_metric
def test_has_a_preset_of_its_own(name: str) -> None:
    metric = find_metric(name)
    result = treegauge.score("(S (NP (D the) (N cat)) (VP (V sat)))", "(S (NP (D the) (N cat)) (V sat))", name)
    assert result.signature.preset.name == metric.preset
    assert f"|preset:{metric.preset}@" in str(result.signature)


@every_metric
@few_examples
@given(treebank_pairs().filter(lambda banks: len(banks[0]) > 0))
def test_a_total_may_be_plain_numbers_and_lists(name: str, banks: Banks) -> None:
    evaluator = treegauge.evaluator(name, "none")
    result = evaluator.score(*banks)
    same_rates(evaluator.rates(result.counts.values()), dict(result.rates))
    same_rates(evaluator.rates(json.loads(json.dumps(list(result.counts.values())))), dict(result.rates))


@every_metric
def test_nothing_counted_is_undefined_but_0_in_freval(name: str) -> None:
    metric = find_metric(name)
    nothing = metric.rates([0] * len(metric.columns))
    assert all(rate == 0 if metric.name == "freval" else math.isnan(rate) for rate in nothing.values())


@every_metric
@few_examples
@given(treebank_pairs())
def test_many_sums_have_the_rates_of_each(name: str, banks: Banks) -> None:
    metric = find_metric(name)
    rows = metric.rows(pair_for(metric, *banks))
    (columns,), _ = metric.float_columns([rows])
    sums = np.stack([columns.sum(axis=0), columns[:1].sum(axis=0)])
    expected = [list(metric.rates(total_of(part)).values()) for part in (rows, rows[:1])]
    np.testing.assert_allclose(metric.rates_of_sums(sums), expected, rtol=1e-9, atol=1e-12)


def test_nobody_but_the_metrics_asks_which_metric_it_is() -> None:
    package = Path(treegauge.__file__).parent
    asking = re.compile(r"isinstance\((\w+\.)*metric, (?!str\b|Sequence\b)")
    for path in package.rglob("*.py"):
        if "metrics" not in path.relative_to(package).parts:
            assert not asking.search(path.read_text("utf-8")), path


DEFINED_OVER_GOLD = ("recall", "accuracy", "_tree", "exact_match", "no_crossing", "two_or_less_crossing", "flr", "leaf_ancestor")
"""Beginnings and ends of the names of rates whose whole is a matter of the gold trees alone."""

EMPTY = Treebank.parse("()")


def blanked(test: Treebank, places: Sequence[int]) -> Treebank:
    """The treebank with the parses at some places gone."""
    both = Treebank.concatenate([test, EMPTY])
    return both.take([len(test) if index in places else index for index in range(len(test))])


def is_recall_type(rate: str) -> bool:
    return any(part in rate for part in DEFINED_OVER_GOLD) and "consistent_brackets_recall" not in rate


def exceeds_1(metric: Metric, rate: str, gold: Treebank, test: Treebank) -> bool:
    """Whether a rate is made of precisions above 1, which a perfect parse, which has 1, lowers.

    Bastings & Sima'an's program (FREVAL with the published matching) looks for the edges of a fragment in the gold tree only: every
    connected set of matched nodes of gold counts as matched, also where the test tree has them apart and so counts fewer fragments.
    Precision divides by those of the test tree, and its F1 is made of that. Recall divides by gold's, and cannot.
    """
    made_of_precision = isinstance(metric, Freval) and rate.startswith(("flp", "f1"))
    return made_of_precision and any(size.precision > 1 for size in sizes_of(metric, gold, test))


def sizes_of(metric: Metric, gold: Treebank, test: Treebank) -> list[SizeScore]:
    """FREVAL's scores of each size; none for metrics without sizes."""
    return metric.by_size(total_of(metric.rows(pair_for(metric, gold, test)))) if isinstance(metric, Freval) else []


def test_published_precision_exceeds_1_by_definition() -> None:
    """Six phrases right under A make 15 fragments of size 3 in gold; a test tree with nodes between them has 13, and all match."""
    words = [f"(P (a w{number}))" for number in range(6)]
    gold = f"(A {' '.join(words)})"
    test = "(A (X {} (X {} {})) (X {} (X {} {})))".format(*words)
    freval = Freval(matching="published")
    rows = freval.rows(pair_for(freval, Treebank.parse(gold), Treebank.parse(test)))
    size_3 = next(score for score in freval.by_size(total_of(rows)) if score.size == 3)
    assert (size_3.matched, size_3.test, size_3.recall) == (15, 13, 1)
    assert size_3.precision > 1


@every_metric
@few_examples
@given(treebank_pairs().filter(lambda banks: len(banks[0]) > 0), st.data())
def test_losing_a_perfect_parse_improves_no_rate(name: str, banks: Banks, data: st.DataObject) -> None:
    metric = find_metric(name)
    gold, test = banks
    place = data.draw(st.integers(0, len(gold) - 1))
    both = Treebank.concatenate([test, gold])
    test = both.take([len(test) + index if index == place else index for index in range(len(test))])
    lost = blanked(test, [place])
    before, after = rates_of(metric, gold, test), rates_of(metric, gold, lost)
    for rate in before:
        if rate in metric.undirected or math.isnan(after[rate]) or exceeds_1(metric, rate, gold, lost):
            continue
        if math.isnan(before[rate]):  # words without a phrase above them: undefined in a perfect parse, and worth 0 without one
            assert after[rate] == 0, rate
            continue
        change = after[rate] - before[rate]
        assert (-change if rate in metric.lower_is_better else change) <= 1e-12, rate


def sizes_weighed(metric: Metric, gold: Treebank, test: Treebank) -> int:
    """The number of sizes among which FREVAL shares out its weight; always 0 for metrics without sizes.

    Bastings & Sima'an's program takes the largest tree of either side, so a large test tree that is lost raises every weight that
    is left, and recall with it. With gold's sizes only, which is the default, this number cannot change.
    """
    return len(sizes_of(metric, gold, test))


def test_published_recall_rises_where_the_largest_tree_is_lost() -> None:
    gold = Treebank.parse("(S (N a) (S (N b) (N c)) (N d))\n(S (N a) (S (N b) (N c)))")
    test = Treebank.parse("(S (N a) (S (N b) (S (N c) (N d))))\n(S (N a) (S (N b) (N c)))")
    for matching, may_rise in (("published", True), ("edges", False)):
        metric = Freval(matching=matching)
        before, after = rates_of(metric, gold, test), rates_of(metric, gold, blanked(test, [0]))
        assert (after["flr"] > before["flr"]) == may_rise
        assert (sizes_weighed(metric, gold, blanked(test, [0])) < sizes_weighed(metric, gold, test)) == may_rise


@every_metric
@few_examples
@given(treebank_pairs(), st.data())
def test_recall_never_rises_whatever_parse_is_lost(name: str, banks: Banks, data: st.DataObject) -> None:
    metric = find_metric(name)
    gold, test = banks
    places = data.draw(st.lists(st.integers(0, len(gold) - 1), unique=True)) if len(gold) else []
    lost = blanked(test, places)
    before, after = rates_of(metric, gold, test), rates_of(metric, gold, lost)
    # By size recall never rises, whatever the weights of the sizes.
    for size, without in zip(sizes_of(metric, gold, test), sizes_of(metric, gold, lost), strict=False):
        assert without.recall <= size.recall + 1e-12, size.size
    if sizes_weighed(metric, gold, test) != sizes_weighed(metric, gold, lost):
        return
    for rate in filter(is_recall_type, before):
        assert math.isnan(before[rate]) or after[rate] <= before[rate] + 1e-12, rate


@every_metric
def test_a_broken_parse_is_a_blank_one(name: str) -> None:
    gold = ["(S (NP (D the) (N cat)) (VP (V sat) (R down)))", "(S (NP (N rain)) (VP (V fell) (R down)))"]
    blank, broken = (treegauge.score(gold, [gold[0], parse], name).rates for parse in ("", "(S (NP (N rain)) (VP"))
    same_rates(dict(blank), dict(broken))


def test_a_sentence_without_a_parse_is_no_exact_match_and_not_free_of_crossings() -> None:
    """Gold brackets or none: an empty gold sentence without a parse was an exact match once."""
    for gold in ("(NN rain)", "()"):
        rates = treegauge.score([gold], [""], preset="none").rates
        assert (rates["exact_match"], rates["no_crossing"], rates["two_or_less_crossing"]) == (0, 0, 0)
        assert math.isnan(rates["average_crossing"])
        trees = treegauge.score([gold], [""], "goodman", preset="none").rates
        assert (trees["labelled_tree"], trees["bracketed_tree"], trees["consistent_brackets_tree"]) == (0, 0, 0)


def test_average_crossing_is_over_parses() -> None:
    gold = ["(S (A (N a) (N b)) (N c))"] * 2
    result = treegauge.score(gold, ["(S (N a) (B (N b) (N c)))", ""])
    assert result.rates["average_crossing"] == 1
    assert result.counts["parsed"] == 1


@every_metric
def test_directions_name_rates_of_the_metric(name: str) -> None:
    metric = find_metric(name)
    checked = {"recall_soft", "precision_soft", "spurious_reject", "false_error", "test_noise", "problem_rate"}
    assert metric.lower_is_better | metric.undirected <= {*metric.rate_names, *checked}
    assert not metric.lower_is_better & metric.undirected
    assert set(metric.sentence_columns) <= set(metric.columns)
