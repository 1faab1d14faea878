"""The constituents with gaps alone: labelled recall, precision, F1 and exact match.

PARSEVAL on trees with crossing branches compares labelled *yields*, multisets of a label and the set of words it covers (Maier
2010). Few constituents have gaps, so a parser can miss them all and lose little; this metric leaves all others out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treegauge.alignment.pairing import Pair
from treegauge.metrics.matching import matched_counts, partners_by_order
from treegauge.metrics.metric import Metric, Rates, Rows, Total, f1, ratio

__all__ = ["DiscontinuousBrackets"]


@dataclass(frozen=True)
class DiscontinuousBrackets(Metric):
    """Recall m/g, precision m/t and F1 = 2m/(g+t) of the constituents with gaps, with and without labels.

    ``exact_match`` is the share, among the sentences with a gap in gold or test, of those whose constituents with gaps are all
    right. On continuous trees there is nothing to count, and every rate is nan.

    >>> import treegauge
    >>> from treegauge.trees import parse_discbracket
    >>> gold = parse_discbracket("(S (VP (NP 0=Wen) (V 3=gesehen)) (AUX 1=hast) (N 2=du))")
    >>> test = parse_discbracket("(S (VP (NP 0=Wen) (V 3=gesehen) (N 2=du)) (AUX 1=hast))")
    >>> result = treegauge.score(gold, test, metric="discontinuous")
    >>> result.counts["gold"], result.counts["test"], result.rates["f1"]
    (1, 1, 0.0)
    """

    name = "discontinuous"
    summary = "labelled and unlabelled recall, precision and F1 of the constituents with gaps alone, and their exact match"
    reference = "maier2010"
    headline = "f1"
    columns = ("sentences", "matched", "gold", "test", "unlabelled_matched", "with_gaps", "exact")
    symmetries: ClassVar[Mapping[str, str]] = {
        **{f"{kind}recall": f"{kind}precision" for kind in ("", "unlabelled_")},
        **{f"{kind}precision": f"{kind}recall" for kind in ("", "unlabelled_")},
        **{rate: rate for rate in ("f1", "unlabelled_f1", "exact_match")},
    }
    discontinuous = True
    exact_columns = ("exact",)

    def rows(self, pair: Pair) -> Rows:
        gold, test = pair.gold.select(pair.gold.fan_out > 1), pair.test.select(pair.test.fan_out > 1)
        matched, unlabelled = matched_counts(gold, test, pair.matching_classes)
        if pair.equality is not None and pair.preset.labelled:
            matched = gold.per_sentence(partners_by_order(gold, test, pair.classes, pair.equality) >= 0)
        with_gaps = gold.counts + test.counts > 0
        columns: list[NDArray[Any]] = [
            *(np.ones(len(pair)), matched, gold.counts, test.counts, unlabelled),
            *(with_gaps, with_gaps & (matched == gold.counts) & (matched == test.counts)),
        ]
        return self.without_parse(np.stack([column.astype(np.int64) for column in columns], axis=1), pair)

    def rates(self, total: Total) -> Rates:
        n = dict(zip(self.columns, total, strict=True))
        return {
            "recall": ratio(n["matched"], n["gold"]),
            "precision": ratio(n["matched"], n["test"]),
            "f1": f1(n["matched"], n["gold"], n["test"]),
            "unlabelled_recall": ratio(n["unlabelled_matched"], n["gold"]),
            "unlabelled_precision": ratio(n["unlabelled_matched"], n["test"]),
            "unlabelled_f1": f1(n["unlabelled_matched"], n["gold"], n["test"]),
            "exact_match": ratio(n["exact"], n["with_gaps"]),
        }
