"""Goodman's six rates: labelled, bracketed and consistent, each by constituent and by tree.

Goodman 1996, Parsing Algorithms and Metrics, section 2. A tree is a *set* of triples (s, t, X): a bracket that occurs twice counts
once (PARSEVAL counts it twice).

* ``N_C``, ``N_G``: constituents of the gold ("correct") and of the test ("guessed") tree
* ``L``: triples of the guess that are in the gold tree
* ``B``: triples of the guess whose span is in the gold tree, whatever the label; ``B_limited``: the same, at most ``N_C``
* ``C``: triples of the guess that cross no gold constituent
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.alignment.brackets import Brackets, token_positions
from treegauge.alignment.pairing import Pair
from treegauge.metrics.matching import codes, crossing, is_in
from treegauge.metrics.metric import Metric, Rates, Rows, Total, flag, ratio
from treegauge.trees.treebank import Int32, Int64


class _Triples(NamedTuple):
    sentence: Int64
    start: Int64
    end: Int64
    gap: Int64
    label: Int64


@dataclass(frozen=True)
class Goodman(Metric):
    """Labelled Recall L/N_C, Bracketed Recall B/N_C, Consistent Brackets Recall C/N_G; and the shares of trees where they are 1.

    Rates of constituents are over the corpus; ``mean_...`` are means over the sentences that have constituents (N_C or N_G > 0).
    Preterminals count only with ``goodman:pre``; a phrase over one word always counts. In the paper, guessed trees are binary and
    have as many constituents as the gold tree. On other trees, a labelled (bracketed) tree is right if all its constituents
    (brackets) are right and it has as many as the gold tree, and at most as many brackets of a sentence are right as its gold tree
    has. So no rate exceeds 1, and Labelled Tree is the exact match of PARSEVAL if no bracket occurs twice.

    >>> import treegauge
    >>> gold = "(S (A (a x) (a x)) (B (b x) (b x)))"
    >>> test = "(S (A (a x) (a x)) (C (b x) (b x)))"
    >>> rates = treegauge.score(gold, test, metric="goodman").rates
    >>> round(rates["labelled_recall"], 3), rates["labelled_tree"], rates["bracketed_tree"]
    (0.667, 0.0, 1.0)
    """

    preterminals: bool = flag(False, "pre", "nopre", "pre counts preterminals as constituents, nopre (the default) does not")

    name = "goodman"
    summary = "Labelled, Bracketed and Consistent Brackets Recall and Tree rates, on sets of constituents"
    reference = "goodman1996"
    headline = "labelled_recall"
    discontinuous = True
    columns = (
        *("sentences", "N_C", "N_G", "L", "B", "C", "labelled_tree", "bracketed_tree", "consistent_brackets_tree"),
        *("labelled_recall_sum", "bracketed_recall_sum", "recall_defined"),
        *("consistent_brackets_recall_sum", "consistent_brackets_defined", "B_limited"),
    )

    sentence_columns = ("labelled_tree", "bracketed_tree", "consistent_brackets_tree")
    exact_columns = ("labelled_tree", "bracketed_tree")

    def rows(self, pair: Pair) -> Rows:
        n = len(pair)
        gold = self._triples(pair.gold, pair.matching_classes)
        test = self._triples(pair.test, pair.matching_classes)
        both = _Triples(*(np.concatenate(columns) for columns in zip(gold, test, strict=True)))
        code, n_gold = codes(both), len(gold.sentence)
        span = codes(both[:4])
        in_gold = np.unique(code[:n_gold], return_index=True)[1]
        in_test = np.unique(code[n_gold:], return_index=True)[1]

        # A preterminal covers one word, so it crosses nothing unless gold does not have the word.
        crosses = test.end > pair.test.n_shared[test.sentence]
        crosses[: pair.test.n_brackets] = crossing(pair.gold, pair.test)

        def count(triples: Int64, right: NDArray[np.bool_]) -> Int64:
            return np.bincount(test.sentence[triples[right]], minlength=n)

        N_C = np.bincount(gold.sentence[in_gold], minlength=n)
        N_G = np.bincount(test.sentence[in_test], minlength=n)
        L = count(in_test, is_in(code[n_gold:][in_test], code[:n_gold]))
        B = count(in_test, is_in(span[n_gold:][in_test], span[:n_gold]))
        B_limited = np.minimum(B, N_C)
        C = count(in_test, ~crosses[in_test])
        columns: list[NDArray[Any]] = [
            *(np.ones(n), N_C, N_G, L, B, C, (L == N_C) & (N_C == N_G), (B == N_C) & (N_C == N_G), C == N_G),
            *(L / np.maximum(N_C, 1), B_limited / np.maximum(N_C, 1), N_C > 0),
            *(C / np.maximum(N_G, 1), N_G > 0, B_limited),
        ]
        return self.without_parse(np.stack([column.astype(np.float64) for column in columns], axis=1), pair)

    def _triples(self, brackets: Brackets, classes: Int32 | None) -> _Triples:
        """The constituents as columns, phrases first; repeated ones are still included."""
        classes = np.zeros(len(brackets.labels), dtype=np.int32) if classes is None else classes
        phrases = _Triples(
            brackets.sentence,
            brackets.start.astype(np.int64),
            brackets.end.astype(np.int64),
            brackets.gap_numbers,
            classes[brackets.label].astype(np.int64),
        )
        if not self.preterminals:
            return phrases
        sentence, position = token_positions(brackets)
        tagged = np.flatnonzero((brackets.tag >= 0) & brackets.counted)
        place = position[tagged]
        tags = _Triples(sentence[tagged], place, place + 1, np.zeros_like(place), classes[brackets.tag[tagged]].astype(np.int64))
        return _Triples(*(np.concatenate(columns) for columns in zip(phrases, tags, strict=True)))

    def rates(self, total: Total) -> Rates:
        n = dict(zip(self.columns, total, strict=True))
        return {
            "labelled_recall": ratio(n["L"], n["N_C"]),
            "labelled_tree": ratio(n["labelled_tree"], n["sentences"]),
            "bracketed_recall": ratio(n["B_limited"], n["N_C"]),
            "bracketed_tree": ratio(n["bracketed_tree"], n["sentences"]),
            "consistent_brackets_recall": ratio(n["C"], n["N_G"]),
            "consistent_brackets_tree": ratio(n["consistent_brackets_tree"], n["sentences"]),
            "mean_labelled_recall": ratio(n["labelled_recall_sum"], n["recall_defined"]),
            "mean_bracketed_recall": ratio(n["bracketed_recall_sum"], n["recall_defined"]),
            "mean_consistent_brackets_recall": ratio(n["consistent_brackets_recall_sum"], n["consistent_brackets_defined"]),
        }
