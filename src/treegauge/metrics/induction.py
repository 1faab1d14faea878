"""Unlabelled F1 of unsupervised parsing, as a mean of sentences and over the corpus, as the scripts of papers compute it.

All leave out punctuation and one-word spans, and count each span of a sentence once in the mean of sentences. They differ in three
rules that change the number:

* Kim, Dyer and Rush (2019) leave out only the span of the root itself: if there is a unary chain at the root, the whole sentence
  remains a gold span, which no binary tree can match. Yang, Zhao and Tu (2021, TN-PCFG) leave out every span over the whole
  sentence.
* If one side of a sentence has no spans, Kim et al. leave the sentence out of the mean (``eval.py``). For TN-PCFG, recall is 1 if
  gold has none, and precision is 1 too if test has none: a sentence of two words has F1 = 1. That is the rule of PRPN (Shen et al.
  2018), which ``compare_trees.py`` of Kim et al. has as well, beside the other rules of ``eval.py``; there even a sentence of one
  word has F1 = 1, which the others leave out.
* Over the corpus, Kim et al. count sets of spans; TN-PCFG counts a missed gold span as many times as it occurs in the tree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treegauge.alignment.brackets import Brackets
from treegauge.alignment.pairing import Pair
from treegauge.metrics.matching import Parts, is_in, table_of
from treegauge.metrics.metric import Metric, Rows, choice
from treegauge.presets import Preset
from treegauge.trees.treebank import Int64

CONVENTIONS = ("kim", "prpn", "tn-pcfg")


@dataclass(frozen=True)
class Induction(Metric):
    """Sentence F1 (the mean of sentences) and corpus F1 of unlabelled spans, for unsupervised parsing.

    One-word spans and the span of the root do not count, nor, but for ``prpn``, sentences of one word; the option ``convention``
    chooses between the rules of three scripts. A sentence without a parse has F1 = 0 if F1 would be defined for a parse.

    With ``kim``, the default (``eval.py`` of Kim et al.), only the span of the root is trivial, and a sentence without spans on one
    side has no F1. With ``prpn`` (their ``compare_trees.py``, after PRPN), one without gold spans has F1 = 1 if the parse has none,
    else 0. With ``tn-pcfg``, that is so, too, and no span over the whole sentence counts. The preset of the same name,
    ``-p induction``, is another thing: PARSEVAL without labels, over the same words, in which no span over
    the whole sentence counts and sentences without gold spans are left out.

    >>> import treegauge
    >>> gold = ["(S (NP (D the) (N cat)) (VP (V sat)))", "(S (NP (N rain)) (VP (V fell)))"]
    >>> test = ["(X (D the) (X (N cat) (V sat)))", "(X (N rain) (V fell))"]
    >>> [treegauge.score(gold, test, metric=f"induction:{paper}").rates["sentence_f1"] for paper in CONVENTIONS]
    [0.0, 0.5, 0.5]
    """

    name = "induction"
    summary = "unlabelled F1 of unsupervised parsing, as a mean of sentences and over the corpus, as in Kim et al., PRPN or TN-PCFG"
    reference = "kim2019"
    headline = "sentence_f1"
    columns = ("sentences", "matched", "gold", "test", "f1_sum", "f1_defined")
    ratios: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "sentence_f1": ("f1_sum", "f1_defined"),
        "corpus_f1": ("matched", "gold", "test"),
        "corpus_recall": ("matched", "gold"),
        "corpus_precision": ("matched", "test"),
    }
    preset = "induction"

    convention: str = choice("kim", CONVENTIONS, "kim, prpn, tn-pcfg: the paper whose rules for trivial and missing spans apply")

    def preset_for(self, preset: Preset | None) -> Preset:
        """The preset with all spans and without labels; the metric itself decides which spans count."""
        chosen = super().preset_for(preset)
        return replace(chosen, labelled=False, trivial_spans=True, duplicate_spans=True, empty_gold=True, empty_brackets=False)

    def rows(self, pair: Pair) -> Rows:
        pair.require_continuous("spans of unsupervised parsing are continuous")
        root_only = self.convention != "tn-pcfg"
        n_words = np.diff(pair.gold.token_offset)
        gold, test = (_counted_spans(side, n_words, root_only=root_only) for side in (pair.gold, pair.test))
        parts = Parts.of(len(pair), gold, test)
        matched, n_gold, n_test = parts.overlap()
        value = 2 * matched / np.maximum(n_gold + n_test, 1)
        counts = [matched, n_gold, n_test]
        if self.convention == "kim":
            defined = (n_gold > 0) & ((n_test > 0) | ~pair.has_parse)
        else:
            value[(n_gold == 0) & (n_test == 0) & pair.has_parse] = 1.0
            defined = n_words > (0 if root_only else 1)
        if not root_only:
            hits, missed = test[0][is_in(parts.test, parts.gold)], gold[0][~is_in(parts.gold, parts.test)]
            counts = [np.bincount(each, minlength=len(pair)) for each in (hits, np.append(hits, missed), test[0])]
        columns: list[NDArray[Any]] = [np.ones(len(pair)), *counts, np.where(defined, value, 0.0), defined]
        return table_of(columns)


def _counted_spans(brackets: Brackets, n_words: Int64, *, root_only: bool) -> tuple[Int64, ...]:
    """Sentence, start and end of the spans that count, each as often as it occurs.

    Spans over the whole sentence do not count; with ``root_only``, only the highest of them does not.
    """
    sentence = brackets.sentence
    start, end = brackets.start.astype(np.int64), brackets.end.astype(np.int64)
    is_whole = end - start == n_words[sentence]
    if root_only:
        before = np.append(0, np.cumsum(is_whole))
        is_whole &= before[:-1] == before[brackets.offset[sentence]]
    keep = (end - start > 1) & ~is_whole
    return sentence[keep], start[keep], end[keep]
