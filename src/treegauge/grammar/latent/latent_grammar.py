"""A latent-variable grammar at one level of its hierarchy: the probabilities of rules, roots and words, made from expected counts.

One set of counts gives the grammar with any smoothing, and, with subcategories merged along the hierarchy of splits, every
coarser grammar (Petrov & Klein 2007).

The lexicon of a latent-variable grammar: its known words, the signatures of unknown words, and P(word | tag subcategory).

For a word w and a subcategory t_x of a tag, P(t_x | w) is estimated from expected counts. It is smoothed with the estimate for rare
words of w's signature (:func:`treegauge.grammar.lexicon.signatures`), and that of each signature with the next coarser one's.
Bayes' rule then gives P(w | t_x), which is mixed with its mean over the subcategories of t. An unseen word is as probable as a word
seen once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.grammar.latent.rule_rows import (
    BaseGrammar,
    RuleRows,
    drop_small,
    merge_rows,
    offsets,
    owners,
    scale_rows,
    sum_by_index,
)
from treegauge.grammar.lexicon import signatures
from treegauge.trees.columns import Float64, Int32, Int64


class LexiconSmoothing(NamedTuple):
    """Smoothing of the lexicon: ``spelling`` is the pseudo-count of a word's signature, ``coarser`` that of the next coarser
    signature, ``flat`` the weight of the mean over subcategories. With all three 0, estimates are relative frequencies."""

    spelling: float = 0.5
    coarser: float = 2.0
    flat: float = 0.3


@dataclass(frozen=True, eq=False)
class WordTable:
    """The words, tags and signatures of training trees with their counts, all of which EM leaves unchanged.

    A *pair* is a tag symbol and a word seen with it; pairs are ordered by tag, then by word. ``signature[w]`` is the finest
    signature of word w that some rare word has, ``parent[s]`` the next coarser signature (-1: none), and ``names`` are the
    signatures' names. ``rare_pair`` and ``rare_signature`` list the pairs of rare words with each of their signatures.
    """

    words: tuple[str, ...]
    count: Int64
    pair_tag: Int32
    pair_word: Int32
    pair_count: Int64
    names: tuple[str, ...]
    parent: Int32
    signature: Int32
    rare_pair: Int32
    rare_signature: Int32

    @classmethod
    def of(cls, tokens: Mapping[tuple[int, str], int], initial: Mapping[str, int], rare: int = 1) -> WordTable:
        """The table of the counts of (tag symbol, word). ``initial`` counts how often each word begins a sentence; words seen at
        most ``rare`` times (or as rarely as any word) are rare."""
        total: Counter[str] = Counter()
        for (_, word), n in tokens.items():
            total[word] += n
        words = sorted(total)
        number = {word: i for i, word in enumerate(words)}
        pairs = sorted((tag, number[word], n) for (tag, word), n in tokens.items())
        rare = max(rare, min(total.values()))
        chains = {w: signatures(w, initial=2 * initial.get(w, 0) > total[w], known=total.__contains__) for w in words}
        names: dict[str, int] = {}
        parent: list[int] = []
        for word in (word for word in words if total[word] <= rare):
            above = -1
            for name in reversed(chains[word]):
                if name not in names:
                    names[name] = len(names)
                    parent.append(above)
                above = names[name]
        seen = [[names[name] for name in chains[word] if name in names] for word in words]
        listed = [(p, s) for p, (_, w, _) in enumerate(pairs) if total[words[w]] <= rare for s in seen[w]]
        tag, word, seen_together = np.array(pairs, np.int64).T
        rare_pair, rare_signature = np.array(listed, np.int32).reshape(-1, 2).T
        return cls(
            words=tuple(words),
            count=np.array([total[word] for word in words], np.int64),
            pair_tag=tag.astype(np.int32),
            pair_word=word.astype(np.int32),
            pair_count=seen_together,
            names=tuple(names),
            parent=np.array(parent, np.int32),
            signature=np.array([chain[0] for chain in seen], np.int32),
            rare_pair=rare_pair,
            rare_signature=rare_signature,
        )

    @cached_property
    def number(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.words)}

    @cached_property
    def _numbered_names(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def generations(self) -> tuple[Int64, ...]:
        """The signatures grouped by their number of coarser signatures."""
        depth = np.zeros(len(self.parent), np.int64)
        for s, p in enumerate(self.parent.tolist()):
            depth[s] = depth[p] + 1 if p >= 0 else 0
        return tuple(np.flatnonzero(depth == d) for d in range(int(depth.max(initial=0)) + 1))

    @cached_property
    def rare_counts(self) -> Float64:
        """The number of rare tokens with each signature."""
        return np.bincount(self.rare_signature, self.pair_count[self.rare_pair], len(self.names)).astype(np.float64)

    @cached_property
    def by_signature(self) -> dict[int, tuple[Int64, Int64, Int64]]:
        """For each tag: its rare pairs (numbered from the tag's first pair) ordered by signature, the index at which each signature
        begins, and these signatures."""
        made: dict[int, tuple[Int64, Int64, Int64]] = {}
        tags = self.pair_tag[self.rare_pair]
        for tag in np.unique(self.pair_tag).tolist():
            own = np.flatnonzero(tags == tag)
            own = own[np.argsort(self.rare_signature[own], kind="stable")]
            found, begins = np.unique(self.rare_signature[own], return_index=True)
            made[tag] = self.rare_pair[own].astype(np.int64) - self.pairs_of_tag(tag).start, begins, found.astype(np.int64)
        return made

    @cached_property
    def pairs_of_word(self) -> tuple[Int64, Int64]:
        """Arrays ``first`` and ``pair``: the pairs of word w are ``pair[first[w]:first[w+1]]``."""
        order = np.argsort(self.pair_word, kind="stable").astype(np.int64)
        return np.searchsorted(self.pair_word[order], np.arange(len(self.words) + 1)).astype(np.int64), order

    def pairs_of_tag(self, tag: int) -> slice:
        """The slice of pairs that belong to a tag symbol."""
        low, high = np.searchsorted(self.pair_tag, [tag, tag + 1])
        return slice(int(low), int(high))

    def pair_offsets(self, sizes: Int64) -> Int64:
        """The index at which the numbers of each pair begin; a pair has one for each subcategory of its tag."""
        return offsets(sizes[self.pair_tag])

    def find(self, words: Sequence[str]) -> tuple[Int64, Int64]:
        """The number of each word of a sentence (-1: unknown), and the number of its signature."""
        known = [self.number.get(word, -1) for word in words]
        spelt = [
            int(self.signature[n]) if n >= 0 else self._spelling(word, i == 0)
            for i, (word, n) in enumerate(zip(words, known, strict=True))
        ]
        return np.array(known, np.int64), np.array(spelt, np.int64)

    def _spelling(self, word: str, initial: bool) -> int:
        names = self._numbered_names
        return next(names[name] for name in signatures(word, initial=initial, known=self.number.__contains__) if name in names)


class Emissions(NamedTuple):
    """Counts of words and probabilities of signatures at one level. The columns of tag t are ``first[t]:first[t+1]``, one for each
    subcategory.

    ``total`` holds the expected counts of subcategories, ``spelling`` has a row P(t_x | signature) for each signature, and ``pair``
    holds the expected counts of pairs (see :meth:`WordTable.pair_offsets`).
    """

    first: Int64
    total: Float64
    spelling: NDArray[np.float32]
    pair: Any
    pair_offset: Int64


def emissions(
    table: WordTable, sizes: Int64, is_tag: NDArray[np.bool_], counts: NDArray[Any], smoothing: LexiconSmoothing
) -> Emissions:
    """The emissions that the expected counts of pairs give."""
    first = offsets(np.where(is_tag, sizes, 0))
    pair_offset = table.pair_offsets(sizes)
    total = np.zeros(int(first[-1]))
    spelling = np.zeros((len(table.names), int(first[-1])), np.float32)
    weight = table.rare_counts[:, None]
    for tag, (rare_pairs, begins, found) in table.by_signature.items():
        of_tag = table.pairs_of_tag(tag)
        count = counts[pair_offset[of_tag.start] : pair_offset[of_tag.stop]].reshape(-1, int(sizes[tag])).astype(np.float64)
        rare = np.zeros((len(table.names), int(sizes[tag])))
        if len(found):
            rare[found] = np.add.reduceat(count[rare_pairs], begins, axis=0)
        share = np.empty_like(rare)
        for depth, members in enumerate(table.generations):
            # (rare + coarser * share of the parent) / (weight + coarser), in place because parsing waits for it.
            own_share = share.take(table.parent[members], axis=0) if depth else rare[members] / weight[members]
            own_share *= smoothing.coarser
            own_share += rare.take(members, axis=0)
            own_share /= weight[members] + smoothing.coarser
            share[members] = own_share
        own = slice(int(first[tag]), int(first[tag + 1]))
        total[own], spelling[:, own] = count.sum(axis=0), share
    return Emissions(first, total, spelling, counts, pair_offset)


def pair_probabilities(
    table: WordTable, sizes: Int64, made: Emissions, smoothing: LexiconSmoothing, precision: Any = np.float32
) -> NDArray[Any]:
    """P(word | t_x) of all pairs."""
    probability = np.zeros(len(made.pair), precision)
    for tag in np.unique(table.pair_tag).tolist():
        of_tag = table.pairs_of_tag(tag)
        own, flat = (
            slice(int(made.first[tag]), int(made.first[tag + 1])),
            slice(int(made.pair_offset[of_tag.start]), int(made.pair_offset[of_tag.stop])),
        )
        word = table.pair_word[of_tag]
        count = made.pair[flat].reshape(-1, int(sizes[tag])).astype(np.float64)
        seen = table.count[word][:, None].astype(np.float64)
        share = (count + smoothing.spelling * made.spelling[table.signature[word]][:, own]) / (seen + smoothing.spelling)
        with np.errstate(divide="ignore", invalid="ignore"):
            given = np.where(made.total[own] > 0, share * seen / made.total[own], 0.0)
        given = (1 - smoothing.flat) * given + smoothing.flat * given.mean(axis=1, keepdims=True)
        probability[flat] = given.ravel()
    return probability


class LatentSmoothing(NamedTuple):
    """Smoothing of a grammar: ``rules`` is the weight of the mean over the parent's subcategories in the probability of a rule."""

    rules: float = 0.05
    lexicon: LexiconSmoothing = LexiconSmoothing()


class LatentCounts(NamedTuple):
    """Expected counts of a treebank: ``sizes`` has the number of subcategories of each symbol, ``root`` the counts of subcategories
    at the root, and ``pair`` the counts of tag-word pairs, one number for each subcategory of the tag."""

    sizes: Int64
    binary: RuleRows
    unary: RuleRows
    root: NDArray[np.float64]
    pair: NDArray[Any]


class Level(NamedTuple):
    """The probabilities of a grammar at one level. The subcategories of all symbols are numbered consecutively; those of A begin
    at ``first[A]``. ``flat`` and ``spelling`` are the smoothing of the lexicon."""

    sizes: Int64
    first: Int64
    binary: RuleRows
    unary: RuleRows
    root: NDArray[Any]
    emissions: Emissions
    flat: float
    spelling: float


def rules_of(base: BaseGrammar, counts: LatentCounts, smoothing: float, least: float = 0.0) -> tuple[RuleRows, RuleRows]:
    """The probabilities of binary and of unary rules; see :func:`~treegauge.grammar.latent.rule_rows.drop_small` for ``least``."""
    binary, unary = owners(counts.binary, base.binary, counts.sizes), owners(counts.unary, base.unary, counts.sizes)
    size = int(counts.sizes.sum())
    total = sum_by_index(binary, counts.binary.value, size) + sum_by_index(unary, counts.unary.value, size)
    return (
        drop_small(scale_rows(counts.binary, binary, total, smoothing), least),
        drop_small(scale_rows(counts.unary, unary, total, smoothing), least),
    )


def level_of(base: BaseGrammar, table: WordTable, counts: LatentCounts, smoothing: LatentSmoothing, least: float = 1e-6) -> Level:
    """The grammar with the probabilities that expected counts give; rows below ``least`` times their rule's largest weight are
    dropped."""
    binary, unary = rules_of(base, counts, smoothing.rules, least)
    root = (counts.root / counts.root.sum()).astype(counts.binary.value.dtype)
    made = emissions(table, counts.sizes, base.is_tag, counts.pair, smoothing.lexicon)
    return Level(counts.sizes, offsets(counts.sizes), binary, unary, root, made, smoothing.lexicon.flat, smoothing.lexicon.spelling)


def usage(base: BaseGrammar, counts: LatentCounts) -> NDArray[np.float64]:
    """The expected count of every subcategory."""
    begin = offsets(counts.sizes)
    total = counts.root.copy()
    for rows, rules in ((counts.binary, base.binary), (counts.unary, base.unary)):
        if not len(rows.value):
            continue
        rule = np.repeat(np.arange(len(rules)), np.diff(rows.first))
        in_row = np.add.reduceat(rows.value.astype(np.float64), rows.offset[:-1])
        for column, inner in ((1, rows.left), (2, rows.right)):
            if column < rules.shape[1]:
                total += sum_by_index(begin[rules[rule, column]] + inner, in_row, len(total))
    return total


def coarser_sizes(base: BaseGrammar, sizes: Int64, to: Int64) -> Int64:
    """The number of subcategories of each symbol once subcategory x is number ``to[x]`` of its symbol."""
    begin = offsets(sizes)
    return np.array([int(to[begin[s] : begin[s + 1]].max()) + 1 for s in range(base.size)], np.int64)


def merge_counts(base: BaseGrammar, table: WordTable, counts: LatentCounts, to: Int64) -> LatentCounts:
    """The counts of the coarser grammar in which subcategory x is number ``to[x]`` of its symbol."""
    new = coarser_sizes(base, counts.sizes, to)
    begin = offsets(counts.sizes)
    symbol = np.repeat(np.arange(base.size), counts.sizes)
    root = sum_by_index(offsets(new)[symbol] + to, counts.root, int(new.sum()))
    old, made = table.pair_offsets(counts.sizes), table.pair_offsets(new)
    widths = np.diff(old)
    inner = to[np.repeat(begin[table.pair_tag] - old[:-1], widths) + np.arange(int(old[-1]))]
    pair = sum_by_index(np.repeat(made[:-1], widths) + inner, counts.pair, int(made[-1]))
    return LatentCounts(
        new,
        merge_rows(counts.binary, base.binary, counts.sizes, new, to),
        merge_rows(counts.unary, base.unary, counts.sizes, new, to),
        root,
        pair,
    )
