"""Our own treebanks, CC0: 521 English sentences in Penn Treebank style, and 63 German and Dutch ones with crossing branches.

``GUIDE.md`` describes the annotation.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from treegauge.errors import UnknownName
from treegauge.io import read
from treegauge.trees import Treebank

__all__ = ["KINDS", "LANGUAGES", "PARTS", "discontinuous_treebank", "own_treebank", "treebank_path"]

KINDS = ("travel", "news", "story")
LANGUAGES = ("german", "dutch")
PARTS = ("train", "dev", "all")

_FOLDER = Path(__file__).parent


def treebank_path(kind: str) -> Path:
    """The file of one kind of text."""
    if kind not in KINDS:
        raise UnknownName("kind of text", kind, KINDS)
    return _FOLDER / f"{kind}.mrg"


def own_treebank(part: str = "all", kinds: tuple[str, ...] = KINDS) -> Treebank:
    """The trees of the treebank that comes with treegauge: its training part, its development part, or all.

    >>> len(own_treebank("train")), len(own_treebank("dev")), len(own_treebank())
    (418, 103, 521)
    >>> print(own_treebank("dev", ("travel",))[0].words[:4])
    ('What', 'is', 'the', 'cheapest')
    """
    if part not in PARTS:
        raise UnknownName("part of the treebank", part, PARTS)
    split = tomllib.loads((_FOLDER / "SPLIT.toml").read_text("utf-8"))["split"]
    banks = [read(treebank_path(kind)) for kind in kinds]
    if part == "all":
        return Treebank.concatenate(banks)
    is_dev = [[index % split["every"] == split["remainder"] for index in range(len(bank))] for bank in banks]
    chosen = [
        bank.take([index for index, dev in enumerate(devs) if dev == (part == "dev")])
        for bank, devs in zip(banks, is_dev, strict=True)
    ]
    return Treebank.concatenate(chosen)


def discontinuous_treebank(language: str) -> Treebank:
    """The sentences with crossing branches of one language.

    >>> len(discontinuous_treebank("german")), len(discontinuous_treebank("dutch"))
    (34, 29)
    """
    if language not in LANGUAGES:
        raise UnknownName("language", language, LANGUAGES)
    return read(_FOLDER / f"{language}.discbracket")
