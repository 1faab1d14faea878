"""Goodman's six rates: labelled, bracketed and consistent, each by constituent and by tree.

Goodman 1996, Parsing Algorithms and Metrics, section 2. A tree is a *set* of triples (s, t, X): a bracket that occurs twice counts
once (PARSEVAL counts it twice).

* ``N_C``, ``N_G``: constituents of the gold ("correct") and of the test ("guessed") tree
* ``L``: triples of the guess that are in the gold tree
* ``B``: triples of the guess whose span is in the gold tree, whatever the label; ``B_limited``: the same, but no more triples of
  one span than the gold tree has
* ``C``: triples of the guess that cross no gold constituent
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.alignment.brackets import Brackets, token_positions
from treegauge.alignment.pairing import Pair
from treegauge.metrics.matching import Parts, crossing, is_in, one_to_one, table_of
from treegauge.metrics.metric import Metric, Rows, flag
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
    have as many constituents as the gold tree. On other trees, a span is right no more often than both trees have it, and a
    labelled (bracketed) tree is right only if its constituents (brackets) are those of the gold tree, neither more nor fewer. So no
    rate exceeds 1, and Labelled Tree is the exact match of PARSEVAL if no bracket occurs twice.

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

    ratios: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "labelled_recall": ("L", "N_C"),
        "labelled_tree": ("labelled_tree", "sentences"),
        "bracketed_recall": ("B_limited", "N_C"),
        "bracketed_tree": ("bracketed_tree", "sentences"),
        "consistent_brackets_recall": ("C", "N_G"),
        "consistent_brackets_tree": ("consistent_brackets_tree", "sentences"),
        "mean_labelled_recall": ("labelled_recall_sum", "recall_defined"),
        "mean_bracketed_recall": ("bracketed_recall_sum", "recall_defined"),
        "mean_consistent_brackets_recall": ("consistent_brackets_recall_sum", "consistent_brackets_defined"),
    }
    sentence_columns = ("labelled_tree", "bracketed_tree", "consistent_brackets_tree")
    exact_columns = ("labelled_tree", "bracketed_tree")

    def rows(self, pair: Pair) -> Rows:
        n = len(pair)
        gold, test = (self._triples(side, pair.matching_classes) for side in (pair.gold, pair.test))
        parts, spans = Parts.of(n, gold, test), Parts.of(n, gold[:4], test[:4])
        in_gold, in_test = (np.unique(side, return_index=True)[1] for side in (parts.gold, parts.test))
        gold_spans, test_spans = one_to_one(spans.gold[in_gold], spans.test[in_test])

        # A preterminal covers one word, so it crosses nothing unless gold does not have the word.
        crosses = test.end > pair.test.n_shared[test.sentence]
        crosses[: pair.test.n_brackets] = crossing(pair.gold, pair.test)

        L, N_C, N_G = parts.overlap()
        B = np.bincount(test.sentence[in_test[is_in(spans.test[in_test], spans.gold)]], minlength=n)
        B_limited = np.bincount(test.sentence[in_test[is_in(test_spans, gold_spans)]], minlength=n)
        C = np.bincount(test.sentence[in_test[~crosses[in_test]]], minlength=n)
        columns: list[NDArray[Any]] = [
            *(np.ones(n), N_C, N_G, L, B, C, (L == N_C) & (N_C == N_G), (B_limited == N_C) & (N_C == N_G), C == N_G),
            *(L / np.maximum(N_C, 1), B_limited / np.maximum(N_C, 1), N_C > 0),
            *(C / np.maximum(N_G, 1), N_G > 0, B_limited),
        ]
        return self.without_parse(table_of(columns), pair)

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
