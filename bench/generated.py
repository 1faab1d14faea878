"""Large files to measure on, made from small ones: sentences are repeated with changes, and with new words.

Real text keeps bringing new words; a small file that is merely repeated brings none after its first copy, so everything that
depends on the vocabulary would look cheaper than it is. Here words of every further copy are renamed, rare ones more often than
frequent ones, so that the vocabulary grows about as the square root of the text (Heaps' law). Gold and test get the same words.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from treegauge import load_preset, write
from treegauge.data import own_treebank
from treegauge.scoring.baselines import baseline_for

_LEAF = re.compile(r" ([^() ]+)\)")
_PHRASE = re.compile(r"\((NP|VP|PP|S|ADJP|ADVP|SBAR)(?= \()")
_FREQUENT = 150
_RENAMED, _RELABELLED = 0.25, 0.02
_TAIL = 0.6


class FilePair(NamedTuple):
    """A gold and a test file, and their number of sentences."""

    gold: Path
    test: Path
    sentences: int

    @property
    def size(self) -> int:
        """The size of both files in bytes."""
        return self.gold.stat().st_size + self.test.stat().st_size


def own_files(folder: Path) -> tuple[Path, Path]:
    """Our own treebank and the best binary tree of each sentence, for use where there is no parser's output."""
    bank = own_treebank()
    gold, test = folder / "own.gold.mrg", folder / "own.test.mrg"
    write(bank, gold)
    write(baseline_for("oracle-binary", bank, load_preset("default")), test)
    return gold, test


def source_files(data: Path, folder: Path) -> tuple[Path, Path]:
    """A parser's output and its gold trees or, if there is none, our own files."""
    gold, test = data / "gum_dev.gold.mrg", data / "gum_dev.berkeley-maxrule.mrg"
    return (gold, test) if gold.is_file() and test.is_file() else own_files(folder)


def generate(
    gold: Path, test: Path, sentences: int, folder: Path, *, seed: int = 1, renamed: float = _RENAMED, longest: int | None = None
) -> FilePair:
    """Write files of ``sentences`` sentences, made of copies of two files with a tree per line; the first copy is unchanged.

    ``renamed`` is the share of the infrequent words that get a new name in each further copy; sentences of more than ``longest``
    words are left out.
    """
    lines = [path.read_text("utf-8").splitlines() for path in (gold, test)]
    if longest is not None:
        places = [number for number, line in enumerate(lines[0]) if len(_LEAF.findall(line)) <= longest]
        lines = [[side[number] for number in places] for side in lines]
    counts = Counter(word for line in lines[0] for word in _LEAF.findall(line))
    frequent = {word for word, _ in counts.most_common(_FREQUENT)}
    made = FilePair(folder / f"gold.{sentences}.mrg", folder / f"test.{sentences}.mrg", sentences)
    generator = random.Random(seed)
    with made.gold.open("w", encoding="utf-8") as ours, made.test.open("w", encoding="utf-8") as theirs:
        for number in range(sentences):
            one, other = (side[number % len(lines[0])] for side in lines)
            if number >= len(lines[0]):
                names = _names(one, frequent, generator, renamed)
                one, other = (_renamed(line, names) for line in (one, _perturbed(other, generator)))
            ours.write(one + "\n")
            theirs.write(other + "\n")
    return made


def vocabulary(path: Path) -> int:
    """The number of different words in a file."""
    with path.open(encoding="utf-8") as file:
        return len({word for line in file for word in _LEAF.findall(line)})


def _names(line: str, frequent: set[str], generator: random.Random, renamed: float) -> dict[str, str]:
    """New names for some of the words that are not frequent."""
    rare = dict.fromkeys(word for word in _LEAF.findall(line) if word not in frequent)
    return {word: f"{word}{int(generator.paretovariate(_TAIL)) % 10**9}" for word in rare if generator.random() < renamed}


def _renamed(line: str, names: dict[str, str]) -> str:
    return _LEAF.sub(lambda found: f" {names.get(found[1], found[1])})", line) if names else line


def _perturbed(line: str, generator: random.Random) -> str:
    """The tree with other labels on some of its phrases."""
    return _PHRASE.sub(lambda found: "(X" if generator.random() < _RELABELLED else found[0], line)
