"""Rare and unknown words: a single unknown word (Collins 1997, as in Sima'an 2003), word signatures, smoothed lexicons.

The signatures of a word describe its spelling, from the finest description to none at all. The smoothed lexicon estimates P(t | w)
of a tag symbol t and a word w from their counts, backed off to the word's signatures s, whose P(t | s) come from rare words. The
tag that a symbol t shows as is written |t|: first |t| given the word is estimated, then t given |t| and the word.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from treegauge.grammar.pcfg import PCFG, Rule
from treegauge.trees.tree import Child, Tree, rebuild_whole

UNKNOWN = "<unknown>"
"""The word for all words that are not in a grammar; P(<unknown> | tag) comes from the rare words of the training trees."""


def with_unknown(trees: Sequence[Tree], below: int) -> list[Tree]:
    """The trees in which each word that occurs fewer than ``below`` times is replaced by the unknown word.

    If no word is so rare, the rarest ones are replaced, because some words must model the unknown ones. ``below=1`` replaces none.

    >>> bank = [Tree.parse("(S (N a) (V b))"), Tree.parse("(S (N a) (V c))")]
    >>> [str(tree) for tree in with_unknown(bank, 2)]
    ['(S (N a) (V <unknown>))', '(S (N a) (V <unknown>))']
    """
    counts = Counter(word for tree in trees for word in tree.words)
    below = rare_below(counts, below)

    def make(node: Tree, children: list[Child]) -> list[Child]:
        kept = [UNKNOWN if isinstance(child, str) and counts[child] < below else child for child in children]
        return [node.replace(children=kept)]

    return [rebuild_whole(tree, make) for tree in trees]


def rare_below(counts: Mapping[str, int], below: int) -> int:
    """The count below which words are replaced by the unknown word."""
    return max(below, min(counts.values(), default=0) + 1) if below > 1 else below


def with_lexicon(grammar: PCFG, lexicon: Mapping[str, Mapping[str, float]]) -> PCFG:
    """The grammar with another lexicon: a symbol rewrites to single words with the same total probability as before, but to the
    words of ``lexicon[symbol]``, in proportion to their counts there.

    >>> grammar = PCFG.parse('S -> N N [1]\\nN -> "a" [.25] | "b" [.25] | N N [.5]')
    >>> print(with_lexicon(grammar, {"N": {"a": 3, "c": 1}}))
    S -> N N [1]
    N -> N N [0.5]
    N -> "a" [0.375]
    N -> "c" [0.125]
    """
    share: dict[str, float] = {}
    for rule in grammar.rules:
        if rule.is_lexical:
            share[rule.lhs] = share.get(rule.lhs, 0.0) + rule.probability
    rules = [rule for rule in grammar.rules if not (rule.is_lexical and lexicon.get(rule.lhs))]
    for symbol, words in lexicon.items():
        total = math.fsum(words.values())
        rules += [Rule(symbol, (word,), (True,), share[symbol] * count / total) for word, count in words.items()]
    return PCFG(tuple(rules), grammar.start, grammar.labels)


_SUFFIX = 3
"""The number of last letters in the finest signature."""
_LONGER = 2
"""The number of letters by which a word must be longer than a suffix that is informative."""


def signatures(word: str, *, initial: bool = False, known: Callable[[str], bool] = lambda word: False) -> tuple[str, ...]:
    """The signatures of a word, finest first; the last is the unknown word itself.

    A signature describes the word's capitals (``C``: the first letter, ``A``: all letters, ``M``: others, ``I``: the first letter
    of the first word of a sentence; ``k`` if the word is ``known`` in lower case), its digits (``d``, or ``D`` without any
    letters), a hyphen (``h``), and its last three, two, one or no letters.

    >>> signatures("re-evaluating")
    ('<unknown:h:ing>', '<unknown:h:ng>', '<unknown:h:g>', '<unknown:h>', '<unknown>')
    >>> signatures("1,024"), signatures("Smith", known={"smith"}.__contains__)[3], signatures("Smith", initial=True)[3]
    (('<unknown:D>', '<unknown>'), '<unknown:Ck>', '<unknown:I>')
    """
    shape = _shape(word, initial, known)
    stem = word.lower()
    letters = [stem[-n:] for n in range(min(_SUFFIX, len(stem) - _LONGER), 0, -1)] if stem[-1:].isalpha() else []
    names = [*(f"{shape}:{suffix}" for suffix in letters), *([shape] if shape else [])]
    return (*(f"{UNKNOWN[:-1]}:{name}>" for name in names), UNKNOWN)


def _shape(word: str, initial: bool, known: Callable[[str], bool]) -> str:
    capitals = sum(map(str.isupper, word))
    shape = ""
    if capitals:
        is_name = word[0].isupper() and capitals == 1
        shape = ("I" if initial else "C") if is_name else "A" if word == word.upper() else "M"
        shape += "k" if known(word.lower()) else ""
    if any(map(str.isdigit, word)):
        shape += "d" if any(map(str.isalpha, word)) else "D"
    return shape + ("h" if "-" in word[1:-1] else "")


class Token(NamedTuple):
    """A word with its tag, and whether it is the first of its sentence."""

    tag: str
    word: str
    initial: bool


class Smoothing(NamedTuple):
    """The strength of lexical smoothing. Words that occur at most ``rare`` times (if there are none, the rarest) model unseen ones.

    ``alpha``, ``beta`` and ``gamma`` are the weights of the general distribution for a word's shown tags, for a signature's tags,
    and for the symbols of one shown tag. Tags whose P(t | w) is below ``least`` are dropped.
    """

    rare: int = 1
    alpha: float = 0.5
    beta: float = 2.0
    gamma: float = 0.5
    least: float = 1e-3


USUAL = Smoothing()


def tokens(trees: Iterable[Tree]) -> Counter[Token]:
    """The number of times that each word has each tag.

    >>> sorted(tokens([Tree.parse("(S (N fish) (V fish))")]))
    [Token(tag='N', word='fish', initial=True), Token(tag='V', word='fish', initial=False)]
    """
    return Counter(Token(tag, word, not i) for tree in trees for i, (word, tag) in enumerate(tree.tagged()) if tag)


def smoothed_lexicon(
    counts: Mapping[Token, int], shown: Callable[[str], str] = lambda tag: tag, smoothing: Smoothing = USUAL
) -> dict[str, dict[str, float]]:
    """The words and signatures of each tag symbol, with smoothed counts; ``shown(t)`` is the tag |t| that a symbol shows as.

    >>> lexicon = smoothed_lexicon(tokens([Tree.parse("(S (N Rome) (V fell))"), Tree.parse("(S (N rain) (V came))")]))
    >>> {word: round(lexicon["V"][word], 2) for word in ("fell", "Rome")}
    {'fell': 0.93, 'Rome': 0.05}
    """
    words = _Words(counts, shown, smoothing)
    made: dict[str, dict[str, float]] = defaultdict(dict)
    for totals, shares_of in ((words.totals, words.of_word), (words.unseen, words.of_signature)):
        for name, total in totals.items():
            for tag, share in _drop_small(shares_of(name), smoothing.least).items():
                made[tag][name] = total * share
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
        """Count the tags of rare words by signature, and the weight of unseen words: each rare word is one, in equal parts for each
        of its signatures."""
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
        """P(t | w): that of the shown tag, times that of its symbol."""
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
            for tag, inner in self._of_shown_tag(word, name).items()
        }

    def _of_shown_tag(self, word: str, name: str) -> Shares:
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
    """The shares of at least ``least``, scaled to sum to 1; all shares if none is so large."""
    kept = {tag: share for tag, share in shares.items() if share >= least}
    left = math.fsum(kept.values())
    return {tag: share / left for tag, share in kept.items()} if left else shares
