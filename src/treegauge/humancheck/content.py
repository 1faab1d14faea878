"""What a judgement is about: a bracket named by its content, so that it outlives files, parsers and runs."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from typing import NamedTuple

from treegauge.trees.tree import Tree, to_flat

__all__ = ["Bracket", "sentence_hash", "storable", "tree_hash"]

# What PostgreSQL cannot hold in text, and no reader of a label can see.
_UNSTORABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")


class Bracket(NamedTuple):
    """The words of a sentence (by their hash), a span over them, a label, and the hash of the gold tree it was compared with.

    Words are those of the gold tree without traces, punctuation included, so a span does not depend on what a preset leaves out.
    The same text can stand in a treebank twice with two analyses; the gold tree tells them apart.
    """

    sentence: str
    start: int
    end: int
    label: str
    gold: str

    @property
    def key(self) -> str:
        """A short name for addresses."""
        return hashlib.sha256(repr(tuple(self)).encode()).hexdigest()[:24]

    def rank(self, seed: int) -> bytes:
        """The place in the random order of a seed.

        It depends on the bracket alone: what stood first for one parser stands first for the next one, too, so the brackets judged
        so far stay a random sample of all, however often parsers are run again.
        """
        return hashlib.sha256(f"{seed} {tuple(self)!r}".encode()).digest()


def sentence_hash(words: Sequence[str]) -> str:
    """A hash of the words of a sentence.

    >>> sentence_hash(["a", "b"])[:12], sentence_hash(["a b"])[:12]
    ('3554d2b8a1e3', '541e27fe8b97')
    """
    return hashlib.sha256(json.dumps(list(words)).encode()).hexdigest()


def tree_hash(tree: Tree) -> str:
    """A hash of a tree, whatever file or layout it was read from."""
    return hashlib.sha256(json.dumps(list(to_flat(tree))).encode()).hexdigest()


def storable(text: str) -> str:
    r"""Text as every database can hold it: control characters and halves of surrogate pairs are replaced.

    >>> storable("NP\x00")
    'NP\ufffd'
    """
    return _UNSTORABLE.sub("\ufffd", text)
