"""Leaf-ancestor: how alike the lineages of each word are in the two trees.

Sampson & Babarczy 2003, A test of the leaf-ancestor metric for parse accuracy, Natural Language Engineering 9(4). A lineage is
the labels between word and root, with marks for where constituents begin and end (:mod:`treegauge.metrics.lineages`); tags are not
part of it. The similarity of two lineages is 1 - d / (m + n): m and n are their lengths, marks included, d is the cheapest edit
from one to the other. Inserting or deleting costs 1; replacing costs 2, and 0.5 if the two labels share their first letter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import UnknownName, UsageError
from treegauge.metrics.base import Rates, Rows, Total, ratio
from treegauge.metrics.brackets import sum_within
from treegauge.metrics.lineages import Lineages, chunks, edit_costs, lineages, path_codes, spelled
from treegauge.metrics.parts import codes
from treegauge.metrics.preparation import Pair
from treegauge.trees.treebank import Int32, Int64

__all__ = ["LeafAncestor"]


@dataclass(frozen=True)
class LeafAncestor:
    """The mean similarity of the words' lineages, over all words and as a mean of sentence means.

    ``leaf-ancestor:plain`` leaves out the cost 0.5 for labels that share their first letter: all unlike labels cost 2. A word
    under no constituent in both trees has no lineage and does not count.

    By hand, [S [N1 two [N1 tax revision] bills] were passed] against [S [NP two tax revision bills] were passed]. ``two`` has the
    lineages ``N1 [ S`` and ``NP [ S``: a replacement within one letter, 1 - 0.5/6. ``tax`` has ``[ N1 N1 S`` and ``NP S``: a mark
    and a label to delete and the same replacement, 1 - 2.5/6. ``revision`` and ``bills`` are their mirror images, ``were`` and
    ``passed`` agree; the mean is 5/6:

    >>> from treegauge.metrics.preparation import prepare
    >>> from treegauge.normalise.preset import load_preset
    >>> from treegauge.trees import Treebank
    >>> gold = Treebank.parse("(S (N1 (w two) (N1 (w tax) (w revision)) (w bills)) (w were) (w passed))")
    >>> test = Treebank.parse("(S (NP (w two) (w tax) (w revision) (w bills)) (w were) (w passed))")
    >>> pair = prepare(gold, test, load_preset("none"))
    >>> [round(value, 3) for value in LeafAncestor().similarities(pair).tolist()]
    [0.917, 0.583, 0.583, 0.917, 1.0, 1.0]
    >>> import treegauge
    >>> round(treegauge.score(gold, test, metric="leaf-ancestor").rates["leaf_ancestor"], 4)
    0.8333
    """

    first_letter: bool = True
    name: str = "leaf-ancestor"
    summary: str = "how alike the labels between each word and the root are, by edit distance"
    reference: str = "sampson2003"
    headline: str = "leaf_ancestor"
    columns: tuple[str, ...] = ("sentences", "words", "similarity", "sentence_similarity", "sentences_defined")

    @classmethod
    def with_options(cls, *words: str) -> LeafAncestor:
        """``leaf-ancestor:plain``: no credit for a shared first letter; ``leaf-ancestor:letters`` is the default."""
        if len(words) != 1:
            raise UsageError(f"leaf-ancestor takes one option, letters or plain, not {':'.join(words)!r}")
        if words[0] not in ("letters", "plain"):
            raise UnknownName("option of leaf-ancestor", words[0], ["letters", "plain"])
        return cls(first_letter=words[0] == "letters")

    @property
    def mirrored(self) -> Mapping[str, str]:
        return {"leaf_ancestor": "leaf_ancestor", "mean_leaf_ancestor": "mean_leaf_ancestor"}

    @property
    def options(self) -> Mapping[str, Any]:
        return {"first_letter": self.first_letter}

    def rows(self, pair: Pair) -> Rows:
        similarity = self.similarities(pair)
        defined = ~np.isnan(similarity)
        words = sum_within(defined, pair.gold.token_offset)
        sentence = np.repeat(np.arange(len(pair)), np.diff(pair.gold.token_offset))
        total = np.bincount(sentence[defined], weights=similarity[defined], minlength=len(pair))
        columns = (np.ones(len(pair)), words, total, total / np.maximum(words, 1), words > 0)
        return np.stack([column.astype(np.float64) for column in columns], axis=1)

    def similarities(self, pair: Pair) -> NDArray[np.float64]:
        """How alike each kept token's lineages are; nan where it has none, or is a further piece of a gold token."""
        classes = pair.classes if pair.preset.labelled else np.zeros_like(pair.classes)
        gold, test = lineages(pair.gold), lineages(pair.test)
        gold_path, test_path = (np.append(path, 0) for path in path_codes(pair.gold, pair.test, classes))
        different = (gold_path[gold.bracket] != test_path[test.bracket]) | (gold.begins != test.begins) | (gold.ends != test.ends)
        similarity = np.ones(len(different))
        similarity[((gold.length + test.length) == 0) | ~pair.gold.counted] = np.nan
        tokens = np.flatnonzero(different & pair.gold.counted)
        columns = [(path[side.bracket], side.begins, side.ends) for path, side in ((gold_path, gold), (test_path, test))]
        pairs = codes([column[tokens] for side in columns for column in side])
        # Most words share their pair of lineages with others: each pair is compared once.
        _, first, which = np.unique(pairs, return_index=True, return_inverse=True)
        similarity[tokens] = self._compared(pair, gold, test, tokens[first], classes)[which]
        return similarity

    def _compared(self, pair: Pair, gold: Lineages, test: Lineages, tokens: Int64, classes: Int32) -> NDArray[np.float64]:
        letter = _letters(pair)
        m, n = gold.length[tokens], test.length[tokens]
        similarity = np.ones(len(tokens))
        for group in chunks(m, n):
            chosen, m_group, n_group = tokens[group], m[group], n[group]
            costs = edit_costs(
                spelled(pair.gold, gold, chosen, classes, int(m_group.max())),
                spelled(pair.test, test, chosen, classes, int(n_group.max())),
                m_group,
                n_group,
                letter,
                1 if self.first_letter else 4,
            )
            similarity[group] = 1 - costs / (2 * (m_group + n_group))
        return similarity

    def rates(self, total: Total) -> Rates:
        n = dict(zip(self.columns, total, strict=True))
        return {
            "leaf_ancestor": ratio(n["similarity"], n["words"]),
            "mean_leaf_ancestor": ratio(n["sentence_similarity"], n["sentences_defined"]),
        }


def _letters(pair: Pair) -> Int32:
    """A number for the first letter of each label, then one for each mark and for what fills up: these are like nothing else."""
    letters: dict[str, int] = {}
    numbers = [letters.setdefault(label[:1], len(letters)) for label in pair.gold.labels]
    return np.array([*numbers, len(letters), len(letters) + 1, len(letters) + 2], dtype=np.int32)
