"""Hogenhout & Matsumoto's items on the exact cases: sets of brackets, items in four readings, human split, measures, YY ... NN."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from known_answers import exact_cases

from treegauge import alignment
from treegauge.alignment.pairing import Pair
from treegauge.metrics.hogenhout import (
    COMPARATIVE,
    MEASURES,
    BracketKey,
    Hogenhout,
    Judgements,
    Verdict,
    comparative_rows,
    crossing_histogram,
)
from treegauge.metrics.hogenhout.items import preprocess
from treegauge.presets import Preset
from treegauge.trees import Tree
from treegauge.trees.treebank import Treebank


def tree(nested: list[Any]) -> Tree:
    label, *children = nested
    return Tree(label, [child if isinstance(child, str) else tree(child) for child in children])


@pytest.fixture(params=exact_cases("hm"), ids=lambda case: case["id"])
def case(request: pytest.FixtureRequest) -> dict[str, Any]:
    return request.param


def pairs(case: dict[str, Any]) -> tuple[Pair, Pair]:
    banks = [Treebank.from_trees([tree(sentence[side]) for sentence in case["sentences"]]) for side in range(3)]
    preset = Preset(name="case", delete_tags=frozenset(case["drop_tags"]), cut_labels_at="")
    return alignment.pair(banks[0], banks[1], preset), alignment.pair(banks[0], banks[2], preset)


def judgements(human: dict[str, Any]) -> Judgements:
    verdicts = {}
    for name, verdict in (("accepted", Verdict.ACCEPTED), ("rejected_em", Verdict.REJECTED)):
        for sentence, spans in enumerate(human[name]):
            verdicts |= {BracketKey(sentence, start, end): verdict for start, end in spans}
    return Judgements(verdicts, otherwise=Verdict.REJECTED)


def value(fraction: str | None) -> float:
    return float("nan") if fraction is None else float(Fraction(fraction))


def test_brackets_after_preprocessing(case: dict[str, Any]) -> None:
    for pair, side in zip(pairs(case), (1, 2), strict=True):
        for brackets, place in ((pair.gold, 0), (pair.test, side)):
            left = preprocess(brackets).brackets
            for sentence, expected in enumerate(case["expected"]["brackets"]):
                rows = slice(left.offset[sentence], left.offset[sentence + 1])
                assert sorted(zip(left.start[rows].tolist(), left.end[rows].tolist(), strict=True)) == list(
                    map(tuple, expected[place])
                )


def test_items_in_four_readings(case: dict[str, Any]) -> None:
    for pair, system in zip(pairs(case), "AB", strict=True):
        expected = case["expected"][system]["items"]
        for reading in ("nontop", "literal", "parse", "both"):
            metric = Hogenhout(reading=reading)
            items = dict(zip(metric.columns, metric.rows(pair).sum(axis=0).tolist(), strict=True))
            wanted = {name: expected[name if name in expected else f"{name}_{reading}"] for name in metric.columns}
            assert items == wanted


@pytest.mark.parametrize("with_emr", [False, True])
def test_human_check_and_measures(case: dict[str, Any], with_emr: bool) -> None:
    for pair, system in zip(pairs(case), "AB", strict=True):
        metric = Hogenhout(with_emr=with_emr, reading="literal").with_judgements(judgements(case[f"human_{system}"]))
        total = metric.rows(pair).sum(axis=0).tolist()
        items = dict(zip(metric.columns, total, strict=True))
        expected = case["expected"][system]
        assert {name: items[name] for name in expected["human"]} == expected["human"]
        rates = metric.rates(total)
        assert list(rates) == list(MEASURES)
        for name, title in MEASURES.items():
            wanted = expected["measures"].get(f"{title}_emr" if with_emr else title, expected["measures"][title])
            assert rates[name] == pytest.approx(value(wanted), nan_ok=True, abs=1e-15), title


def test_comparative_items_and_histogram(case: dict[str, Any]) -> None:
    a, b = pairs(case)
    rows = comparative_rows(a, b, Hogenhout())
    assert dict(zip(COMPARATIVE, rows.sum(axis=0).tolist(), strict=True)) == case["expected"]["compare"]
    metric = Hogenhout()
    errors = metric.rows(a)[:, metric.columns.index("CE")]
    # The cases list the sentences' numbers of crossing errors in increasing order.
    histogram = crossing_histogram(errors)
    assert np.repeat(np.arange(len(histogram)), histogram).tolist() == case["expected"]["crossing_histogram_A"]
