"""Large files to measure on, made from small ones: sentences come again perturbed, and with words nobody has seen before.

Real text never stops having new words; a small file repeated has none after its first copy, so what depends on the vocabulary would
look cheaper than it is. Here the words of every further copy are renamed, rare ones more often than frequent ones, by numbers with
a long tail: the vocabulary grows about as the square root of the text does (Heaps' law). Both sides get the same words.
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
    """Gold and test of so many sentences."""

    gold: Path
    test: Path
    sentences: int

    @property
    def size(self) -> int:
        """Bytes of both files."""
        return self.gold.stat().st_size + self.test.stat().st_size


def own_files(folder: Path) -> tuple[Path, Path]:
    """Where there is no parser's output: our own treebank, against the best binary tree of each sentence."""
    bank = own_treebank()
    gold, test = folder / "own.gold.mrg", folder / "own.test.mrg"
    write(bank, gold)
    write(baseline_for("oracle-binary", bank, load_preset("default")), test)
    return gold, test


def source_files(data: Path, folder: Path) -> tuple[Path, Path]:
    """A parser's output beside its gold trees, or our own."""
    gold, test = data / "gum_dev.gold.mrg", data / "gum_dev.berkeley-maxrule.mrg"
    return (gold, test) if gold.is_file() and test.is_file() else own_files(folder)


def generate(
    gold: Path, test: Path, sentences: int, folder: Path, *, seed: int = 1, renamed: float = _RENAMED, longest: int | None = None
) -> FilePair:
    """So many sentences of two files that have a tree per line; the first copy is as it stands.

    ``renamed`` is the share of the words that are not frequent that get a new name in each further copy; ``longest``, if given, the
    most words of a sentence that is taken.
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
    """The number of different words of a file."""
    with path.open(encoding="utf-8") as file:
        return len({word for line in file for word in _LEAF.findall(line)})


def _names(line: str, frequent: set[str], generator: random.Random, renamed: float) -> dict[str, str]:
    """New names for some of the words that are not frequent."""
    rare = dict.fromkeys(word for word in _LEAF.findall(line) if word not in frequent)
    return {word: f"{word}{int(generator.paretovariate(_TAIL)) % 10**9}" for word in rare if generator.random() < renamed}


def _renamed(line: str, names: dict[str, str]) -> str:
    return _LEAF.sub(lambda found: f" {names.get(found[1], found[1])})", line) if names else line


def _perturbed(line: str, generator: random.Random) -> str:
    """The tree with some of its phrases under another label."""
    return _PHRASE.sub(lambda found: "(X" if generator.random() < _RELABELLED else found[0], line)
