"""Lexicons that know every word: tags of rare words smoothed towards those of their signature, mass kept for unseen ones.

With c(t, w) how often the symbol t stands over the word w, and |t| the tag that it shows (a grammar may split tags),
the count of a known word is shared out anew:

* P(|t| | w) = (c(|t|, w) + alpha P(|t| | s)) / (c(w) + alpha), s being the finest signature of the word;
* P(t | |t|, w) = (c(t, w) + gamma P(t | |t|)) / (c(|t|, w) + gamma): a noun seen as subject only can be an object;
* P(t | s) = (u(t, s) + beta P(t | s')) / (u(s) + beta), s' the next coarser signature, u counted over rare words only.

P(w | t) is the relative frequency of these counts over words and signatures; a signature counts as many words as there
are rare ones that have it, each of them shared equally between its signatures.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from math import fsum
from typing import NamedTuple

from treegauge.grammar.lexicon import signatures
from treegauge.trees.tree import Tree

__all__ = ["USUAL", "Smoothing", "Token", "smoothed_lexicon", "tokens"]


class Token(NamedTuple):
    """A word under its tag, and whether it is the first of its sentence."""

    tag: str
    word: str
    initial: bool


class Smoothing(NamedTuple):
    """The strength of lexical smoothing: words seen at most ``rare`` times (if none, the rarest) stand for unseen ones; the
    weights of the three smoothings; and below which probability P(t | w) a tag of a word is dropped."""

    rare: int = 1
    alpha: float = 0.5
    beta: float = 2.0
    gamma: float = 0.5
    least: float = 1e-3


USUAL = Smoothing()


def tokens(trees: Iterable[Tree]) -> Counter[Token]:
    """The number of times each word stands under each tag.

    >>> sorted(tokens([Tree.parse("(S (N fish) (V fish))")]))
    [Token(tag='N', word='fish', initial=True), Token(tag='V', word='fish', initial=False)]
    """
    return Counter(Token(tag, word, not i) for tree in trees for i, (word, tag) in enumerate(tree.tagged()) if tag)


def smoothed_lexicon(
    counts: Mapping[Token, int], shown: Callable[[str], str] = lambda tag: tag, smoothing: Smoothing = USUAL
) -> dict[str, dict[str, float]]:
    """For each tag symbol its words and signatures with their counts, shared out as above; ``shown(t)`` is |t|.

    >>> lexicon = smoothed_lexicon(tokens([Tree.parse("(S (N Rome) (V fell))"), Tree.parse("(S (N rain) (V came))")]))
    >>> {word: round(lexicon["V"][word], 2) for word in ("fell", "Rome")}
    {'fell': 0.93, 'Rome': 0.05}
    """
    words = _Words(counts, shown, smoothing)
    made: dict[str, dict[str, float]] = defaultdict(dict)
    for word, total in words.totals.items():
        shares = words.of_word(word)
        for tag, share in _drop_small(shares, smoothing.least).items():
            made[tag][word] = total * share
    for signature, total in words.unseen.items():
        for tag, share in _drop_small(words.of_signature(signature), smoothing.least).items():
            made[tag][signature] = total * share
    return dict(made)


Shares = dict[str, float]


class _Words:
    """The distributions of a lexicon under construction."""

    def __init__(self, counts: Mapping[Token, int], shown: Callable[[str], str], smoothing: Smoothing) -> None:
        self.smoothing = smoothing
        self.by_word: dict[str, Counter[str]] = defaultdict(Counter)
        self.totals: Counter[str] = Counter()
        self.tags: Counter[str] = Counter()
        for (tag, word, _), count in counts.items():
            self.by_word[word][tag] += count
            self.totals[word] += count
            self.tags[tag] += count
        self.shown = {tag: shown(tag) for tag in self.tags}
        self.group: dict[str, Counter[str]] = defaultdict(Counter)
        for tag, count in self.tags.items():
            self.group[self.shown[tag]][tag] += count
        self._count_rare(counts)
        self.done: dict[str, Shares] = {}

    def _count_rare(self, counts: Mapping[Token, int]) -> None:
        """u(t, s), and how the rare words stand for unseen ones: each word once, in equal parts by each of its signatures."""
        self.rare: dict[str, Counter[str]] = defaultdict(Counter)
        self.coarser: dict[str, str | None] = {}
        self.unseen: dict[str, float] = defaultdict(float)
        self.finest: dict[str, Counter[str]] = defaultdict(Counter)
        most = max(self.smoothing.rare, min(self.totals.values(), default=0))
        for (tag, word, initial), count in counts.items():
            names = signatures(word, initial=initial, known=self.totals.__contains__)
            self.finest[word][names[0]] += count
            self.coarser.update(zip(names, (*names[1:], None), strict=True))
            if self.totals[word] > most:
                continue
            for name in names:
                self.rare[name][tag] += count
                self.unseen[name] += count / (len(names) * self.totals[word])

    def of_signature(self, signature: str) -> Shares:
        """P(t | s)."""
        if signature not in self.done:
            coarser = self.coarser[signature]
            below = {} if coarser is None else self.of_signature(coarser)
            self.done[signature] = _mix(self.rare[signature], below, self.smoothing.beta)
        return self.done[signature]

    def of_word(self, word: str) -> Shares:
        """P(t | w): first which tag shows, then which symbol of it."""
        seen: Counter[str] = Counter()
        for tag, count in self.by_word[word].items():
            seen[self.shown[tag]] += count
        general: Shares = defaultdict(float)
        for tag, share in self.of_signature(self.finest[word].most_common(1)[0][0]).items():
            general[self.shown[tag]] += share
        return {
            tag: share * inner
            for name, share in _mix(seen, general, self.smoothing.alpha).items()
            if share >= self.smoothing.least
            for tag, inner in self._inside(word, name).items()
        }

    def _inside(self, word: str, name: str) -> Shares:
        """P(t | |t|, w)."""
        group = self.group[name]
        if len(group) == 1:
            return dict.fromkeys(group, 1.0)
        seen = Counter({tag: count for tag, count in self.by_word[word].items() if tag in group})
        total = group.total()
        return _mix(seen, {tag: count / total for tag, count in group.items()}, self.smoothing.gamma)


def _mix(counts: Mapping[str, int], general: Mapping[str, float], weight: float) -> Shares:
    """(count + weight general) / (total + weight); without a general distribution, relative frequency."""
    total = sum(counts.values())
    if not general:
        return {tag: count / total for tag, count in counts.items()}
    if total + weight == 0:
        return dict(general)
    mixed = {tag: weight * share / (total + weight) for tag, share in general.items()}
    for tag, count in counts.items():
        mixed[tag] = mixed.get(tag, 0.0) + count / (total + weight)
    return mixed


def _drop_small(shares: Shares, least: float) -> Shares:
    """The shares of at least ``least``, scaled to sum to what all summed to."""
    kept = {tag: share for tag, share in shares.items() if share >= least}
    left = fsum(kept.values())
    return {tag: share / left for tag, share in kept.items()} if left else shares
