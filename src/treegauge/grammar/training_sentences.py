"""Training sentences: the normalised trees that parsers are trained on, and hashes of sentences, which models store and by which
trees are held out.

A hash depends on the words alone, without traces, so every kind of model and every seed holds out the same trees, and equal
sentences are always on the same side.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import MismatchError, UsageError
from treegauge.grammar.tree_counts import refuse_gaps
from treegauge.normalise import ROOT_LABELS, pipeline
from treegauge.trees.tree import Tree

UInt64 = NDArray[np.uint64]
NO_HASHES: UInt64 = np.zeros(0, np.uint64)
"""The hashes of a model that does not know its training sentences."""
STEPS = "traces,functions,features,root,redundant"
"""The normalisation steps that trees go through before a parser is trained on them."""


class TrainingTrees(NamedTuple):
    """Normalised trees, and the label of the root that most of the given trees have above them, if any."""

    trees: list[Tree]
    root: str | None


def training_trees(trees: Iterable[Tree], steps: str = STEPS) -> TrainingTrees:
    """Normalised trees; those without words are left out, and those with gaps are an error."""
    normalise, kept, roots = pipeline(steps), list[Tree](), Counter[str]()
    for number, tree in enumerate(trees, start=1):
        made = normalise(tree)
        if made is not None and made.width:
            refuse_gaps(made, number)
            roots[tree.label if tree.label in ROOT_LABELS else "-"] += 1
            kept.append(made)
    if not kept:
        raise MismatchError("there is no tree with words to train on")
    (root, _), *_ = roots.most_common(1)
    return TrainingTrees(kept, None if root == "-" else root)


def without_traces(trees: Iterable[Tree]) -> list[Tree]:
    """The trees without traces; those without words are left out."""
    return [tree for tree in map(pipeline("traces"), trees) if tree is not None and tree.width]


def sentence_hash(words: Iterable[str], purpose: str = "") -> int:
    """A hash of 64 bits of the words of a sentence, another one for each ``purpose``; the same on every machine.

    >>> sentence_hash(["a", "b"]) == sentence_hash(("a", "b")) != sentence_hash(["a b"])
    True
    """
    content = "\0".join(words).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(content, digest_size=8, person=purpose.encode()).digest(), "big")


def sentence_hashes(trees: Iterable[Tree]) -> UInt64:
    """The hashes of the sentences of some trees, without traces: sorted, each once."""
    return np.unique(np.array([sentence_hash(words) for words in _words_of(trees) if words], np.uint64))


def _words_of(trees: Iterable[Tree]) -> Iterator[tuple[str, ...]]:
    """The words of each tree, without traces."""
    for tree in map(pipeline("traces"), trees):
        yield () if tree is None else tree.words


def seen_sentences(trees: Sequence[Tree], sentences: UInt64) -> dict[int, tuple[str, ...]]:
    """The words of the trees whose sentences are among those with the given hashes, by the trees' numbers."""
    known = set(sentences.tolist())
    return {number: own for number, own in enumerate(_words_of(trees)) if own and sentence_hash(own) in known}


def hold_out_by_words(trees: Sequence[Tree], share: float, purpose: str = "") -> tuple[list[Tree], list[Tree]]:
    """The trees to train on, and the held-out ones: about this ``share`` of the sentences, chosen by their hash.

    >>> rest, held = hold_out_by_words([Tree("S", [f"word{i}"]) for i in range(1000)], 0.1)
    >>> len(rest), len(held)
    (891, 109)
    """
    if not 0 <= share < 1:
        raise UsageError(f"the share of held-out trees must be at least 0 and below 1, not {share:g}")
    sides: tuple[list[Tree], list[Tree]] = ([], [])
    for tree, words in zip(trees, _words_of(trees), strict=True):
        sides[bool(words) and sentence_hash(words, purpose) < share * 2**64].append(tree)
    return sides


def stored_hashes(arrays: Mapping[str, NDArray[Any]]) -> UInt64:
    """The array ``sentences`` of a model file, checked; empty in files that have none."""
    found = arrays.get("sentences", NO_HASHES)
    if found.dtype != np.uint64 or found.ndim != 1:
        raise ValueError("sentences is not an array of hashes")
    return found
