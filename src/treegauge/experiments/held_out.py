"""Which trees of a treebank are trained on, and which are held out."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import NamedTuple

from treegauge.data import own_treebank
from treegauge.errors import MismatchError
from treegauge.experiments.base import Corpus
from treegauge.trees.treebank import Treebank

__all__ = ["HeldOut", "held_out", "own_corpus"]

EVERY = 5
_HELD_OUT = re.compile(r"(^|[^a-z])(dev|test|eval|heldout|held-out)([^a-z]|$)", re.IGNORECASE)


class HeldOut(NamedTuple):
    """Trees to train on, trees to test on, and how they were told apart."""

    train: Treebank
    test: Treebank
    how: str


def own_corpus() -> Corpus:
    """The treebank that comes with treegauge."""
    return Corpus("treegauge's own treebank", own_treebank())


def held_out(bank: Treebank) -> HeldOut:
    """The trees of files called dev or test are held out; where there are none, the fifth of every five trees of a file is.

    >>> train, test, how = held_out(own_treebank())
    >>> len(train), len(test), test == own_treebank("dev")
    (418, 103, True)
    """
    files = [(origin.path, len(origin.line)) for origin in bank.origins] or [("", len(bank))]
    named = [_HELD_OUT.search(PurePath(path).name) is not None for path, _ in files]
    by_name = any(named) and not all(named)
    is_test: list[bool] = []
    for (_, size), apart in zip(files, named, strict=True):
        is_test += [apart] * size if by_name else [i % EVERY == EVERY - 1 for i in range(size)]
    test = [i for i, held in enumerate(is_test) if held]
    train = [i for i, held in enumerate(is_test) if not held]
    if not test or not train:
        raise MismatchError(
            f"{len(bank)} trees cannot be split into trees to train on and trees to test on: give more trees, or a folder with a\n"
            "  file called dev or test beside the others"
        )
    how = "the files called dev or test" if by_name else "the fifth of every five trees of each file"
    return HeldOut(bank.take(train), bank.take(test), how)
