"""Leaf-ancestor: the similarity of each word's lineages in the two trees.

Sampson & Babarczy 2003, A test of the leaf-ancestor metric for parse accuracy, Natural Language Engineering 9(4). The lineage of a
word is the sequence of labels between the word and the root, without its tag, and with marks where constituents begin and end. Read
from the word upwards, ``[`` comes before the label of the highest constituent that begins with the word, and ``]`` after the label
of the highest one that ends with it: without the marks, [A x] [A y] and [A x y] would be the same.

The similarity of two lineages is 1 - d / (m + n), where m and n are their lengths, marks included, and d is the cost of the
cheapest edit from one to the other. Inserting or deleting costs 1; replacing costs 2, and 0.5 if the two labels share their first
letter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from treegauge.alignment.brackets import Brackets, sum_within
from treegauge.alignment.pairing import Pair
from treegauge.errors import InputError
from treegauge.metrics.matching import codes, table_of
from treegauge.metrics.metric import Metric, Rows, flag
from treegauge.trees.columns import depths
from treegauge.trees.treebank import Int32, Int64

_CELLS_AT_ONCE = 1 << 16
_LONG = 200
MOST_CELLS = 1 << 26
"""The most pairs of labels that are compared in the long lineages of one sentence, which takes about a second."""


@dataclass(frozen=True)
class Lineages:
    """The lineage of each token: the innermost ``bracket`` (-1: none), the depths of the brackets with the marks for ``begins`` and
    ``ends`` (-1: no mark), and the ``length``, marks included."""

    bracket: Int64
    begins: Int64
    ends: Int64
    length: Int64


def lineages(brackets: Brackets) -> Lineages:
    """The lineage of each kept token."""
    depth = np.append(depths(brackets.parent), -1)
    begins = np.full(len(brackets.tag), -1, dtype=np.int64)
    ends = begins.copy()
    # The highest bracket with a given start or end comes first in pre-order; going backwards, it is written last and stays.
    backwards = np.arange(brackets.n_brackets - 1, -1, -1)
    base = brackets.token_offset[:-1][brackets.sentence]
    begins[(base + brackets.start)[backwards]] = depth[:-1][backwards]
    ends[(base + brackets.end - 1)[backwards]] = depth[:-1][backwards]
    length = depth[brackets.above] + 1 + (begins >= 0) + (ends >= 0)
    return Lineages(brackets.above, begins, ends, length)


def path_codes(gold: Brackets, test: Brackets, classes: Int32) -> tuple[Int64, Int64]:
    """A number for the path of labels from the root down to each bracket, in gold and in test; equal paths have equal numbers."""
    depth = np.concatenate([depths(gold.parent), depths(test.parent)])
    parent = np.concatenate([gold.parent, np.where(test.parent < 0, -1, test.parent + gold.n_brackets)])
    label = classes[np.concatenate([gold.label, test.label])]
    code = np.zeros(len(depth) + 1, dtype=np.int64)
    order = np.argsort(depth, kind="stable")
    edges = np.searchsorted(depth[order], np.arange(int(depth.max(initial=-1)) + 2))
    used = 1
    for first, last in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        level = order[first:last]
        numbers = np.unique(codes([code[parent[level]], label[level]]), return_inverse=True)[1]
        code[level] = numbers + used
        used += int(numbers.max()) + 1
    return code[: gold.n_brackets], code[gold.n_brackets : -1]


def symbol_rows(brackets: Brackets, of: Lineages, tokens: Int64, classes: Int32, width: int) -> Int32:
    """Lineages from the root down as rows of symbols, padded with -1 to ``width``.

    A symbol is a class of labels; with ``n`` classes, ``n`` is the mark ``[`` and ``n + 1`` is ``]``.

    >>> from treegauge import alignment
    >>> from treegauge.presets import load_preset
    >>> from treegauge.trees import Treebank
    >>> bank = Treebank.parse("(S (NP (D the) (N cat)) (V sat))")
    >>> brackets = alignment.pair(bank, bank, load_preset("none")).gold
    >>> names = [*brackets.labels, "[", "]", ""]
    >>> rows = symbol_rows(brackets, lineages(brackets), np.arange(3), np.arange(5), 3)
    >>> [" ".join(names[symbol] for symbol in row) for row in rows.tolist()]
    ['S [ NP', 'S ] NP', '] S ']
    """
    symbols = np.full((len(tokens), width), -1, dtype=np.int32)
    place, row = of.length[tokens] - 1, of.bracket[tokens]
    begins, ends = of.begins[tokens], of.ends[tokens]
    depth = place - (begins >= 0) - (ends >= 0)

    def write(rows: Int64, symbol: Int32 | int) -> None:
        symbols[rows, place[rows]] = symbol
        place[rows] -= 1

    alive = np.flatnonzero(row >= 0)
    while len(alive):
        write(alive[begins[alive] == depth[alive]], len(classes))
        write(alive, classes[brackets.label[row[alive]]])
        write(alive[ends[alive] == depth[alive]], len(classes) + 1)
        row[alive] = brackets.parent[row[alive]]
        depth[alive] -= 1
        alive = alive[row[alive] >= 0]
    return symbols


Ask = Callable[[int, int], None]
"""A function that may refuse a number of pairs of symbols in a row before they are compared."""


def edit_costs(a: Int32, b: Int32, a_length: Int64, b_length: Int64, letter: Int32, alike: int, ask: Ask | None = None) -> Int64:
    """Twice the cost of the cheapest edit of each row of ``a`` into the same row of ``b``; ``ask`` is asked about long rows.

    Inserting and deleting a symbol cost 1, replacing one 2, or ``alike``/2 if the two share their ``letter``.

    >>> a, b = np.array([[0, 1, 2]], np.int32), np.array([[0, 3, -1]], np.int32)
    >>> edit_costs(a, b, np.array([3]), np.array([2]), np.array([0, 7, 7, 7], np.int32), 1).tolist()
    [3]
    """
    if a.shape[1] <= _LONG or not len(a):
        return _costs(a, b, a_length, b_length, letter, alike)
    # Deep lineages share most of their symbols at both ends, which cost nothing.
    trimmed = [_trim(a[row, : a_length[row]], b[row, : b_length[row]]) for row in range(len(a))]
    if ask is not None:
        for row, (x, y) in enumerate(trimmed):
            ask(row, len(x) * len(y))
    return np.concatenate([_costs(x[None], y[None], np.array([len(x)]), np.array([len(y)]), letter, alike) for x, y in trimmed])


def _trim(x: Int32, y: Int32) -> tuple[Int32, Int32]:
    """Two sequences without their common prefix and common suffix."""
    for backwards in (1, -1):
        x, y = x[::backwards], y[::backwards]
        n = min(len(x), len(y))
        unlike = np.flatnonzero(x[:n] != y[:n])
        same = int(unlike[0]) if len(unlike) else n
        x, y = x[same:][::backwards], y[same:][::backwards]
    return x, y


def _costs(a: Int32, b: Int32, a_length: Int64, b_length: Int64, letter: Int32, alike: int) -> Int64:
    """The usual recursion, one symbol of ``a`` at a time, for all rows and all symbols of ``b`` at once."""
    width = b.shape[1]
    steps = np.cumsum(np.full(width + 1, 2, dtype=np.int32), dtype=np.int32) - np.int32(2)
    previous = np.repeat(steps[np.newaxis], len(a), axis=0)
    result = steps[b_length].astype(np.int64)
    letters_b = letter[b]
    same, kin, unlike = np.int32(0), np.int32(alike), np.int32(4)
    for i in range(a.shape[1]):
        symbol = a[:, i : i + 1]
        replace: Int32 = np.where(symbol == b, same, np.where(letter[symbol] == letters_b, kin, unlike))
        current = previous + np.int32(2)
        current[:, 1:] = np.minimum(current[:, 1:], previous[:, :-1] + replace)
        # A run of insertions goes along the row: its best start is a running minimum of the cost before the run.
        current = np.minimum.accumulate(current - steps, axis=1) + steps
        done = a_length == i + 1
        result[done] = current[done, b_length[done]]
        previous = current
    return result


def groups_by_length(a_length: Int64, b_length: Int64) -> list[Int64]:
    """The pairs in groups of similar length, each small enough to be compared at once."""
    magnitude = np.log2(np.maximum(a_length, b_length) + 1).astype(np.int64)
    order = np.lexsort((b_length, a_length, magnitude))
    cells = (a_length[order] + b_length[order] + 1).astype(np.int64)
    group = np.cumsum(cells) // _CELLS_AT_ONCE
    cuts = np.flatnonzero(np.diff(group) | np.diff(magnitude[order])) + 1
    return [part for part in np.split(order, cuts) if len(part)]


@dataclass(frozen=True)
class LeafAncestor(Metric):
    """The mean similarity of the words' lineages, over all words and as a mean of sentence means.

    ``leaf-ancestor:plain`` leaves out the cost 0.5 for labels that share their first letter: all unlike labels cost 2. A word
    under no constituent in both trees has no lineage and does not count.

    By hand, [S [N1 two [N1 tax revision] bills] were passed] against [S [NP two tax revision bills] were passed]. ``two`` has the
    lineages ``N1 [ S`` and ``NP [ S``: a replacement within one letter, 1 - 0.5/6. ``tax`` has ``[ N1 N1 S`` and ``NP S``: a mark
    and a label to delete and the same replacement, 1 - 2.5/6. ``revision`` and ``bills`` are their mirror images, ``were`` and
    ``passed`` agree; the mean is 5/6:

    >>> from treegauge import alignment
    >>> from treegauge.presets import load_preset
    >>> from treegauge.trees import Treebank
    >>> gold = Treebank.parse("(S (N1 (w two) (N1 (w tax) (w revision)) (w bills)) (w were) (w passed))")
    >>> test = Treebank.parse("(S (NP (w two) (w tax) (w revision) (w bills)) (w were) (w passed))")
    >>> pair = alignment.pair(gold, test, load_preset("none"))
    >>> [round(value, 3) for value in LeafAncestor().similarities(pair).tolist()]
    [0.917, 0.583, 0.583, 0.917, 1.0, 1.0]
    >>> import treegauge
    >>> round(treegauge.score(gold, test, metric="leaf-ancestor").rates["leaf_ancestor"], 4)
    0.8333
    """

    first_letter: bool = flag(
        True, "letters", "plain", "plain gives no credit for a shared first letter; letters, the default, does"
    )

    name = "leaf-ancestor"
    summary = "how alike the labels between each word and the root are, by edit distance"
    reference = "sampson2003"
    headline = "leaf_ancestor"
    discontinuous = True
    columns = ("sentences", "words", "similarity", "sentence_similarity", "sentences_defined")
    ratios: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "leaf_ancestor": ("similarity", "words"),
        "mean_leaf_ancestor": ("sentence_similarity", "sentences_defined"),
    }
    symmetries: ClassVar[Mapping[str, str]] = {"leaf_ancestor": "leaf_ancestor", "mean_leaf_ancestor": "mean_leaf_ancestor"}

    def rows(self, pair: Pair) -> Rows:
        similarity = self.similarities(pair)
        defined = ~np.isnan(similarity)
        words = sum_within(defined, pair.gold.token_offset)
        sentence = np.repeat(np.arange(len(pair)), np.diff(pair.gold.token_offset))
        total = np.bincount(sentence[defined], weights=similarity[defined], minlength=len(pair))
        return table_of([np.ones(len(pair)), words, total, total / np.maximum(words, 1), words > 0])

    def similarities(self, pair: Pair) -> NDArray[np.float64]:
        """The similarity of each kept token's lineages; nan if it has none, or is the second or a further piece of a gold token.

        It is 0 for the words of a sentence without a parse, and for words that only one side has in an alignment by edit distance.
        """
        classes = pair.classes if pair.preset.labelled else np.zeros_like(pair.classes)
        gold, test = lineages(pair.gold), lineages(pair.test)
        gold_path, test_path = (np.append(path, 0) for path in path_codes(pair.gold, pair.test, classes))
        different = (gold_path[gold.bracket] != test_path[test.bracket]) | (gold.begins != test.begins) | (gold.ends != test.ends)
        similarity = np.ones(len(different))
        has_none = (gold.length + test.length) == 0
        similarity[has_none] = np.where(np.repeat(pair.has_parse, np.diff(pair.gold.token_offset)), np.nan, 0)[has_none]
        similarity[~pair.gold.counted] = np.nan
        tokens = np.flatnonzero(different & pair.gold.counted)
        columns = [(path[side.bracket], side.begins, side.ends) for path, side in ((gold_path, gold), (test_path, test))]
        pairs = codes([column[tokens] for side in columns for column in side])
        # Many words have the same pair of lineages; each pair is compared once.
        _, first, which = np.unique(pairs, return_index=True, return_inverse=True)
        similarity[tokens] = self._edit_similarities(pair, gold, test, tokens[first], classes)[which]
        if pair.gold.shared is not None:
            similarity[~pair.gold.shared & (pair.gold.counted | pair.test.counted)] = 0
        return similarity

    def _edit_similarities(self, pair: Pair, gold: Lineages, test: Lineages, tokens: Int64, classes: Int32) -> NDArray[np.float64]:
        letter = _letters(pair)
        m, n = gold.length[tokens], test.length[tokens]
        similarity = np.ones(len(tokens))
        cells: Counter[int] = Counter()

        def refuse_more(token: int, more: int) -> None:
            sentence = int(np.searchsorted(pair.gold.token_offset, token, side="right")) - 1
            cells[sentence] += more
            if cells[sentence] > MOST_CELLS:
                raise InputError(
                    f"these trees are too deep for leaf-ancestor: more than {MOST_CELLS:,} pairs of labels to compare",
                    path=pair.place(sentence),
                    advice="Leave this sentence out, or choose other metrics.",
                )

        for group in reversed(groups_by_length(m, n)):  # the longest first, so that trees too deep are refused at once
            chosen, m_group, n_group = tokens[group], m[group], n[group]
            costs = edit_costs(
                symbol_rows(pair.gold, gold, chosen, classes, int(m_group.max())),
                symbol_rows(pair.test, test, chosen, classes, int(n_group.max())),
                m_group,
                n_group,
                letter,
                1 if self.first_letter else 4,
                lambda row, more, chosen=chosen: refuse_more(int(chosen[row]), more),
            )
            similarity[group] = 1 - costs / (2 * (m_group + n_group))
        return similarity


def _letters(pair: Pair) -> Int32:
    """A number for the first letter of each label, then numbers of their own for the two marks and for the padding."""
    letters: dict[str, int] = {}
    numbers = [letters.setdefault(label[:1], len(letters)) for label in pair.gold.labels]
    return np.array([*numbers, len(letters), len(letters) + 1, len(letters) + 2], dtype=np.int32)
