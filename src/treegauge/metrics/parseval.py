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
from treegauge.metrics.matching import SHARE_COLUMNS, crossing, partners, partners_by_preset, share_columns
from treegauge.metrics.metric import Metric, Rows, exchanged
from treegauge.trees.treebank import Int64

_RATIOS = {
    "recall": ("matched", "gold"),
    "precision": ("matched", "test"),
    "f1": ("matched", "gold", "test"),
    "unlabelled_recall": ("unlabelled_matched", "gold"),
    "unlabelled_precision": ("unlabelled_matched", "test"),
    "unlabelled_f1": ("unlabelled_matched", "gold", "test"),
}


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
        *SHARE_COLUMNS,
    )
    ratios: ClassVar[Mapping[str, tuple[str, ...]]] = {
        **_RATIOS,
        "mean_recall": ("recall_sum", "recall_defined"),
        "mean_precision": ("precision_sum", "precision_defined"),
        "mean_f1": ("f1_sum", "f1_defined"),
        "exact_match": ("exact", "sentences"),
        "average_crossing": ("crossing", "parsed"),
        "no_crossing": ("no_crossing", "sentences"),
        "two_or_less_crossing": ("two_or_less_crossing", "sentences"),
        "tagging_accuracy": ("tags", "words"),
    }
    symmetries: ClassVar[Mapping[str, str]] = {
        **exchanged("", "unlabelled_", "mean_"),
        **{rate: rate for rate in ("exact_match", "tagging_accuracy")},
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
            sum_within(has_right_tag(pair), gold.token_offset),
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
            *share_columns(matched, gold, test),
        ]
        for index, column in enumerate(columns):
            rows[:, index] = column
        return rows


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
    ratios: ClassVar[Mapping[str, tuple[str, ...]]] = {**_RATIOS, "exact_match": ("exact", "with_gaps")}
    symmetries: ClassVar[Mapping[str, str]] = {**exchanged("", "unlabelled_"), "exact_match": "exact_match"}
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


def _matched_counts(pair: Pair, gold: Brackets, test: Brackets) -> tuple[Int64, Int64]:
    """The number of matched brackets of each sentence, with equal labels and with any labels."""
    partner, unlabelled = partners_by_preset(pair, gold, test), partners(gold, test, None)
    return gold.per_sentence(partner >= 0), gold.per_sentence(unlabelled >= 0)


def has_right_tag(pair: Pair) -> NDArray[np.bool_]:
    """For each token, whether its tag is right; the second and further pieces of a token have no tag of their own."""
    gold, test = pair.gold, pair.test
    if pair.equality is not None:
        same = pair.equality[gold.tag, test.tag] & (test.tag >= 0)
    else:
        classes = np.append(pair.classes, np.int32(-1))
        same = classes.take(gold.tag) == classes.take(test.tag)
    return same & (gold.tag >= 0) & gold.counted
