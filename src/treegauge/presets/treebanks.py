"""Treebanks by name: the tags of their punctuation and traces, and the labels of their roots.

A preset such as ``collins`` is written for the Penn Treebank; :func:`~treegauge.presets.for_treebank` makes it treat the
punctuation, traces and roots of another treebank in the same way.

>>> TREEBANKS["ctb"].punctuation
frozenset({'PU'})
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple


class TreebankTags(NamedTuple):
    """The tags of a treebank that are not words of a sentence, and the labels of its roots."""

    language: str
    punctuation: frozenset[str]
    traces: frozenset[str] = frozenset({"-NONE-"})
    roots: frozenset[str] = frozenset({"TOP", "ROOT", ""})


_GERMAN = frozenset({"$,", "$.", "$(", "$[", "$*LRB*", "$-LRB-", "$LRB"})
_DUTCH = frozenset({"let", "LET", "LET()", "punct"})
_HEBREW = ("CLN", "CM", "DASH", "DOT", "ELPS", "EXCL", "LRB", "QM", "QUOT", "RRB", "SCLN")

TREEBANKS: dict[str, TreebankTags] = {
    "ptb": TreebankTags("English", frozenset({",", ":", "``", "''", "."})),
    "ctb": TreebankTags("Chinese", frozenset({"PU"})),
    "negra": TreebankTags("German", _GERMAN, frozenset({"-NONE-"}), frozenset({"VROOT", "ROOT", "TOP", ""})),
    "tiger": TreebankTags("German", _GERMAN, frozenset({"-NONE-"}), frozenset({"VROOT", "ROOT", "TOP", ""})),
    "ftb": TreebankTags("French", frozenset({"PONCT", "PONCTS", "PONCTW", "PONCT-S", "PONCT-W"})),
    "patb": TreebankTags("Arabic", frozenset({"PUNC"})),
    "alpino": TreebankTags("Dutch", _DUTCH, frozenset({"-NONE-"}), frozenset({"top", "TOP", "ROOT", ""})),
    "hebrew": TreebankTags("Hebrew", frozenset({f"yy{name}" for name in _HEBREW})),
    "polish": TreebankTags("Polish", frozenset({"interp"})),
}
"""The tags of each treebank, by name. ``ptb`` has those that EVALB's ``COLLINS.prm`` deletes: there brackets are words."""

TRACES: frozenset[str] = frozenset(tag for known in TREEBANKS.values() for tag in known.traces)
"""The tags of traces in all treebanks, which stand for no word."""

PUNCTUATION: frozenset[str] = frozenset(
    {*(tag for known in TREEBANKS.values() for tag in known.punctuation), "?", "!", "-LRB-", "-RRB-", "HYPH", "NFP", "#", "$", '"'}
)
"""The tags of punctuation and symbols in all treebanks: unlike traces they are text, which a tagger may tag differently."""

_LEAST_SHARE = 0.03
"""Tags on a smaller share of the words may be a coincidence."""
_TIMES_MORE = 10
"""A preset that leaves out some punctuation does not fit if the file has so many times more that the preset does not list."""
FEATURES = "##"
"""The mark before the features of a tag in treebanks of the SPMRL shared tasks: ``PONCT##lem=.|s=s##``."""


def counted_punctuation(counts: Iterable[tuple[str, int]]) -> Counter[str]:
    """The numbers of words with each punctuation tag of any treebank; tags that differ in features are counted together.

    >>> counted_punctuation([("PONCT##lem=,##", 3), ("PONCT##lem=.##", 2), ("NN", 7), ("PU", 1)])
    Counter({'PONCT##': 5, 'PU': 1})
    """
    found: Counter[str] = Counter()
    for tag, count in counts:
        name, features, _ = tag.partition(FEATURES)
        if count and (tag in PUNCTUATION or (features and name in PUNCTUATION)):
            found[tag if tag in PUNCTUATION else name + features] += count
    return found


class UnusedPunctuation(NamedTuple):
    """Punctuation tags of a treebank that a preset does not leave out, and the number of words with them."""

    treebank: str
    tags: tuple[str, ...]
    found: int
    words: int
    has_features: bool = False


def unused_punctuation(counts: Mapping[str, int], words: int, delete_tags: frozenset[str]) -> UnusedPunctuation | None:
    """The punctuation of a file that a preset misses: the preset leaves punctuation out, but lists hardly any of the file's tags.

    ``counts`` are the numbers of words with each tag, as :func:`counted_punctuation` gives them. None if the preset fits.

    >>> unused_punctuation({"PU": 120}, 1000, frozenset({",", "."}))
    UnusedPunctuation(treebank='ctb', tags=('PU',), found=120, words=1000, has_features=False)
    >>> unused_punctuation({"PU": 120}, 1000, frozenset({",", ".", "PU"})) is None
    True
    """
    if delete_tags.isdisjoint(PUNCTUATION):
        return None
    least = max(_LEAST_SHARE * words, _TIMES_MORE * sum(counts.get(tag, 0) for tag in delete_tags))
    for name, known in TREEBANKS.items():
        for suffix in ("", FEATURES):
            tags = {tag: counts.get(tag + suffix, 0) for tag in sorted(known.punctuation) if tag + suffix not in delete_tags}
            found = {tag: count for tag, count in tags.items() if count}
            if sum(found.values()) > least:
                return UnusedPunctuation(name, tuple(found), sum(found.values()), words, bool(suffix))
    return None
