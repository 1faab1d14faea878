"""Rare and unknown words: one unknown word (Collins 1997, as in Sima'an 2003), word signatures, or another lexicon.

The signatures of a word describe its spelling, from the finest description to none at all.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from treegauge.grammar.pcfg import PCFG, Rule
from treegauge.trees.tree import Child, Tree, rebuild

__all__ = ["UNKNOWN", "is_signature", "rare_below", "signatures", "with_lexicon", "with_unknown"]

UNKNOWN = "<unknown>"
"""The word that stands for every word a grammar does not know; P(<unknown> | tag) comes from the rare words of the
training trees."""


def with_unknown(trees: Sequence[Tree], below: int) -> list[Tree]:
    """The trees with every word seen fewer than ``below`` times in them replaced by the unknown word.

    Where no word is so rare, the rarest are replaced: some words must show what unknown ones are like. ``below=1`` replaces none.

    >>> bank = [Tree.parse("(S (N a) (V b))"), Tree.parse("(S (N a) (V c))")]
    >>> [str(tree) for tree in with_unknown(bank, 2)]
    ['(S (N a) (V <unknown>))', '(S (N a) (V <unknown>))']
    """
    counts = Counter(word for tree in trees for word in tree.words)
    below = rare_below(counts, below)

    def make(node: Tree, children: list[Child]) -> list[Child]:
        kept = [UNKNOWN if isinstance(child, str) and counts[child] < below else child for child in children]
        return [node.replace(children=kept)]

    made = [rebuild(tree, make) for tree in trees]
    return [tree for tree in made if tree is not None]


def rare_below(counts: Mapping[str, int], below: int) -> int:
    """The count below which words are replaced by the unknown word."""
    return max(below, min(counts.values(), default=0) + 1) if below > 1 else below


def with_lexicon(grammar: PCFG, lexicon: Mapping[str, Mapping[str, float]]) -> PCFG:
    """The grammar with other words: a symbol that rewrites to single words does so as often as before, but to the words
    of ``lexicon[symbol]``, in proportion to their counts there.

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
"""By how many letters a word must be longer than a suffix of it that means anything."""


def signatures(word: str, *, initial: bool = False, known: Callable[[str], bool] = lambda word: False) -> tuple[str, ...]:
    """The signatures of a word, finest first; the last is the unknown word itself.

    A signature has the word's capitals (``C`` first, ``A`` all, ``M`` others, ``I`` first of the first word of a
    sentence; ``k`` where the word is ``known`` in lower case), ``d`` for digits (``D``: without any letters), ``h`` for
    a hyphen, and its last three, two, one or no letters.

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


def is_signature(word: str) -> bool:
    """Whether a word of a grammar stands for words that it does not know.

    >>> is_signature("<unknown:C>"), is_signature(UNKNOWN), is_signature("unknown")
    (True, True, False)
    """
    return word == UNKNOWN or (word.startswith(f"{UNKNOWN[:-1]}:") and word.endswith(">"))


def _shape(word: str, initial: bool, known: Callable[[str], bool]) -> str:
    capitals = sum(map(str.isupper, word))
    shape = ""
    if capitals:
        if word[0].isupper() and capitals == 1:
            shape = "I" if initial else "C"
        else:
            shape = "A" if word == word.upper() else "M"
        shape += "k" if known(word.lower()) else ""
    if any(map(str.isdigit, word)):
        shape += "d" if any(map(str.isalpha, word)) else "D"
    return shape + ("h" if "-" in word[1:-1] else "")
