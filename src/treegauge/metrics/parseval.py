"""PARSEVAL: labelled and unlabelled brackets, exact match, crossing brackets, tags; and the same for brackets with gaps alone.

Black et al. 1991, as EVALB counts: brackets are a multiset, preterminals are not brackets, and a test bracket crosses if it
crosses any gold bracket. A parsed sentence without brackets on both sides is an exact match and has no sentence F1.
:meth:`treegauge.metrics.metric.Metric.without_parse` defines the row of a sentence without a parse; average crossing is over the
``parsed`` sentences.

On trees with crossing branches, brackets are labelled *yields*: a label and the set of words it covers (Maier 2010). Few
constituents have gaps, so a parser can miss them all and lose little; :class:`DiscontinuousBrackets` counts no others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treegauge.alignment.brackets import Brackets, sum_within
from treegauge.alignment.pairing import Pair
from treegauge.metrics.matching import crossing, matched_counts, partners_by_order
from treegauge.metrics.metric import Metric, Rates, Rows, Total, f1, ratio
from treegauge.trees.treebank import Int64


@dataclass(frozen=True)
class Parseval(Metric):
    """Labelled recall m/g, precision m/t and F1 = 2m/(g+t) over the brackets of a corpus, and what EVALB prints beside them.

    >>> import treegauge
    >>> gold = "(S (NP (DT the) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (NNS mats)))))"
    >>> test = "(S (NP (DT the) (NN cat)) (VP (VBD sat) (PP (IN on)) (NP (NNS mats))))"
    >>> result = treegauge.score(gold, test, metric="parseval")
    >>> result.counts["matched"], result.counts["gold"], result.counts["test"]
    (4, 5, 5)
    >>> round(result.rates["f1"], 3)
    0.8
    """

    name = "parseval"
    summary = "labelled and unlabelled bracket recall, precision and F1, exact match, crossing brackets, tagging accuracy"
    reference = "black1991"
    headline = "f1"
    columns = (
        *("sentences", "parsed", "matched", "gold", "test", "unlabelled_matched"),
        *("crossing", "no_crossing", "two_or_less_crossing", "exact", "words", "tags"),
        *("recall_sum", "recall_defined", "precision_sum", "precision_defined", "f1_sum", "f1_defined"),
    )

    symmetries: ClassVar[Mapping[str, str]] = {
        **{f"{kind}recall": f"{kind}precision" for kind in ("", "unlabelled_", "mean_")},
        **{f"{kind}precision": f"{kind}recall" for kind in ("", "unlabelled_", "mean_")},
        **{rate: rate for rate in ("f1", "unlabelled_f1", "mean_f1", "exact_match", "tagging_accuracy")},
    }
    compared_with_evalb = True
    discontinuous = True
    sentence_columns = ("parsed", "crossing", "no_crossing", "two_or_less_crossing", "exact")
    exact_columns = ("exact",)
    lower_is_better = frozenset({"average_crossing"})

    def rows(self, pair: Pair) -> Rows:
        gold, test = pair.gold, pair.test
        matched, unlabelled = _matched_counts(pair, gold, test)
        rows = self.rows_of(
            matched,
            gold.counts,
            test.counts,
            unlabelled,
            test.per_sentence(crossing(gold, test)),
            sum_within(gold.counted, gold.token_offset),
            sum_within(_has_right_tag(pair), gold.token_offset),
        )
        return self.without_parse(rows, pair)

    def rows_of(
        self, matched: Int64, gold: Int64, test: Int64, unlabelled: Int64, crossed: Int64, words: Int64, tags: Int64
    ) -> Rows:
        """The rows of parsed sentences whose brackets, words and tags are counted already."""
        rows = np.zeros((len(matched), len(self.columns)))
        columns = [
            *(np.ones(len(matched)), np.ones(len(matched))),
            *(matched, gold, test, unlabelled, crossed, crossed == 0, crossed <= 2),
            *((matched == gold) & (matched == test), words, tags),
        ]
        for numerator, denominator in ((matched, gold), (matched, test), (2 * matched, gold + test)):
            columns += [numerator / np.maximum(denominator, 1), denominator > 0]
        for index, column in enumerate(columns):
            rows[:, index] = column
        return rows

    def rates(self, total: Total) -> Rates:
        n = dict(zip(self.columns, total, strict=True))
        matched, gold, test, unlabelled = n["matched"], n["gold"], n["test"], n["unlabelled_matched"]
        return {
            "recall": ratio(matched, gold),
            "precision": ratio(matched, test),
            "f1": f1(matched, gold, test),
            "unlabelled_recall": ratio(unlabelled, gold),
            "unlabelled_precision": ratio(unlabelled, test),
            "unlabelled_f1": f1(unlabelled, gold, test),
            "mean_recall": ratio(n["recall_sum"], n["recall_defined"]),
            "mean_precision": ratio(n["precision_sum"], n["precision_defined"]),
            "mean_f1": ratio(n["f1_sum"], n["f1_defined"]),
            "exact_match": ratio(n["exact"], n["sentences"]),
            "average_crossing": ratio(n["crossing"], n["parsed"]),
            "no_crossing": ratio(n["no_crossing"], n["sentences"]),
            "two_or_less_crossing": ratio(n["two_or_less_crossing"], n["sentences"]),
            "tagging_accuracy": ratio(n["tags"], n["words"]),
        }


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
        matched, unlabelled = _matched_counts(pair, gold, test)
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


def _matched_counts(pair: Pair, gold: Brackets, test: Brackets) -> tuple[Int64, Int64]:
    """The number of matched brackets of each sentence, with equal labels and with any labels."""
    matched, unlabelled = matched_counts(gold, test, pair.matching_classes)
    if pair.equality is not None and pair.preset.labelled:
        matched = gold.per_sentence(partners_by_order(gold, test, pair.classes, pair.equality) >= 0)
    return matched, unlabelled


def _has_right_tag(pair: Pair) -> NDArray[np.bool_]:
    """For each token, whether its tag is right; the second and further pieces of a token have no tag of their own."""
    gold, test = pair.gold, pair.test
    if pair.equality is not None:
        same = pair.equality[gold.tag, test.tag] & (test.tag >= 0)
    else:
        classes = np.append(pair.classes, np.int32(-1))
        same = classes.take(gold.tag) == classes.take(test.tag)
    return same & (gold.tag >= 0) & gold.counted
