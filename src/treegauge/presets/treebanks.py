"""Treebanks by name: how their files are read, the tags of their punctuation and traces, and the labels of their roots.

A preset such as ``collins`` is written for the Penn Treebank; :func:`~treegauge.presets.for_treebank` makes it treat the
punctuation, traces and roots of another treebank in the same way. What a word, a lemma, a trace or a comment is in its files is
data in ``treebanks.styles``, and :mod:`treegauge.io.styles` applies it.

>>> TREEBANKS["ctb"].punctuation
frozenset({'PU'})
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, cast

NO_WORD = "-NONE-"
"""The tag of a trace in the Penn Treebank; traces that a style finds by their form get it."""


@dataclass(frozen=True)
class TreebankStyle:
    """The style in which a treebank is written.

    * ``punctuation`` and ``traces`` are tags of what is not a word of a sentence, ``roots`` are labels of roots.
    * ``files``: what the treebank is, in words; ``example``: a tree as its files have it.
    * ``not_words``: labels of nodes that are no part of the sentence; they and all below them are left out.
    * ``trace_forms``: patterns of words that are traces, each with a pattern of the label above them (empty: any label).
    * ``lemma``: what separates a word from its lemma, the last hyphen of ``word-lemma`` or the blank of ``(tag word lemma)``.
    * ``punctuation_nodes``: whether a node without words, ``(.)``, is a punctuation mark.
    * ``comment``: the beginning of lines that are left out; ``encoding``: that of files which are not UTF-8.
    * ``function_mark``: what separates the function of a label from the category after it, as in ``SUBJ+np``.
    """

    language: str
    punctuation: frozenset[str]
    traces: frozenset[str] = frozenset({NO_WORD})
    roots: frozenset[str] = frozenset({"TOP", "ROOT", ""})
    files: str = ""
    example: str = ""
    not_words: frozenset[str] = frozenset()
    trace_forms: tuple[tuple[str, str], ...] = ()
    lemma: str = ""
    punctuation_nodes: bool = False
    comment: str = ""
    encoding: str = ""
    function_mark: str = ""

    def description(self) -> list[str]:
        """The rules by which files are read, a line each; those of the Penn Treebank are left out.

        >>> TREEBANKS["ctb"].description()
        ['punctuation: PU', 'lines that begin with < are comments', 'files that are not UTF-8 are gb18030']
        """
        found = {
            "punctuation: " + " ".join(sorted(self.punctuation)): True,
            "not words: (" + " ...) (".join(sorted(self.not_words)) + " ...)": self.not_words,
            "traces by form, such as *0* or *T*-1, are tagged -NONE-": self.trace_forms,
            "(tag word lemma): the lemma is not a word": self.lemma == " ",
            "word-lemma: split at the last hyphen": self.lemma == "-",
            "(.) is a punctuation mark": self.punctuation_nodes,
            f"lines that begin with {self.comment} are comments": self.comment,
            f"FUNCTION{self.function_mark}form: the form is compared": self.function_mark,
            f"files that are not UTF-8 are {self.encoding}": self.encoding,
        }
        return [line for line, holds in found.items() if holds]

    def is_related(self, other: TreebankStyle) -> bool:
        """Whether the styles have the same traces and comments, as those of PPCME2 and IcePaHC."""
        return (self.trace_forms, self.comment) == (other.trace_forms, other.comment)

    @property
    def changes_trees(self) -> bool:
        """Whether trees are changed after reading, so that compiled readers cannot be used."""
        return bool(self.not_words or self.trace_forms or self.lemma or self.punctuation_nodes or self.function_mark)


def _styles() -> dict[str, TreebankStyle]:
    """The styles in ``treebanks.styles``; a style that is ``like`` another has its fields where it gives none of its own."""
    given = tomllib.loads(Path(__file__).with_name("treebanks.styles").read_text("utf-8"))
    whole = {name: given.get(own.pop("like", ""), {}) | own for name, own in given.items()}
    return {name: TreebankStyle(**{key: _value(key, value) for key, value in own.items()}) for name, own in whole.items()}


def _value(name: str, value: Any) -> Any:
    if name == "trace_forms":
        return tuple((form, label) for form, label in value)
    return frozenset(cast("list[str]", value)) if isinstance(value, list) else value


TREEBANKS: dict[str, TreebankStyle] = _styles()
"""The style of each treebank, by name. ``ptb`` has the tags that EVALB's ``COLLINS.prm`` deletes: there brackets are words."""

TRACES: frozenset[str] = frozenset(tag for known in TREEBANKS.values() for tag in known.traces)
"""The tags of traces in all treebanks, which stand for no word."""

PUNCTUATION: frozenset[str] = frozenset(
    {*(tag for known in TREEBANKS.values() for tag in known.punctuation), "?", "!", "-LRB-", "-RRB-", "HYPH", "NFP", "#", "$", '"'}
)
"""The tags of punctuation and symbols in all treebanks: unlike traces they are text, which a tagger may tag differently."""

_LEAST_SHARE = 0.03
"""Tags on a smaller share of the words may be a coincidence."""
_TIMES_MORE = 10
"""A preset that leaves out some punctuation does not fit if the file has this many times more that the preset does not list."""
FEATURES = "##"
"""The mark before the features of a tag in treebanks of the SPMRL shared tasks: ``PONCT##lem=.|s=s##``."""


def _punctuation_counts(tags: Mapping[str, int]) -> Counter[str]:
    """The numbers of words with each punctuation tag of any treebank; tags that differ in features are counted together.

    >>> _punctuation_counts({"PONCT##lem=,##": 3, "PONCT##lem=.##": 2, "NN": 7, "PU": 1})
    Counter({'PONCT##': 5, 'PU': 1})
    """
    found: Counter[str] = Counter()
    for tag, count in tags.items():
        name, features, _ = tag.partition(FEATURES)
        if tag in PUNCTUATION or (features and name in PUNCTUATION):
            found[tag if tag in PUNCTUATION else name + features] += count
    return found


class UnusedPunctuation(NamedTuple):
    """Punctuation tags of a treebank that a preset does not leave out, and the number of words with them."""

    treebank: str
    tags: tuple[str, ...]
    found: int
    words: int
    has_features: bool = False


def unused_punctuation(tags: Mapping[str, int], words: int, delete_tags: frozenset[str]) -> UnusedPunctuation | None:
    """The punctuation of a file that a preset misses: the preset leaves punctuation out, but lists hardly any of the file's tags.

    ``tags`` are the numbers of words with each tag. None if the preset fits.

    >>> unused_punctuation({"PU": 120}, 1000, frozenset({",", "."}))
    UnusedPunctuation(treebank='ctb', tags=('PU',), found=120, words=1000, has_features=False)
    >>> unused_punctuation({"PU": 120}, 1000, frozenset({",", ".", "PU"})) is None
    True
    """
    if delete_tags.isdisjoint(PUNCTUATION):
        return None
    counts = _punctuation_counts(tags)
    least = max(_LEAST_SHARE * words, _TIMES_MORE * sum(counts[tag] for tag in delete_tags))
    for name, known in TREEBANKS.items():
        for suffix in ("", FEATURES):
            missed = {tag: counts[tag + suffix] for tag in sorted(known.punctuation) if tag + suffix not in delete_tags}
            found = {tag: count for tag, count in missed.items() if count}
            if sum(found.values()) > least:
                return UnusedPunctuation(name, tuple(found), sum(found.values()), words, bool(suffix))
    return None
