"""Words that people type for a command or an option of another name, and what treegauge calls it."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Literal

_IN_PYTHON = {"sample": "sample(5)", "inside": "chart_table()", "outside": "chart_table()", "chart": "chart_table()"}
"""Methods of a grammar's forest that no option has, by the words for them."""
_FILES = frozenset({"--gold", "--test", "--pred", "--predicted", "--file", "--files", "--input", "-i", "--model", "--trees"})
_PICTURES = frozenset({"svg", "png", "pdf"})


@cache
def words_for(kind: Literal["commands", "options", "formats"]) -> dict[str, str]:
    """The words that people type, by what treegauge calls it: a table of ``words.toml``."""
    return tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))[kind]


def _meant(kind: Literal["commands", "options", "formats"], word: str) -> list[str]:
    """The names that treegauge has for a word, the best first."""
    return [name for name, words in words_for(kind).items() if word in words.split()]


def command_meant(word: str) -> str:
    """The command to type instead of ``treegauge WORD``; empty if nobody would know.

    >>> command_meant("evaluate"), command_meant("Tokenize"), command_meant("xyz")
    ('treegauge score GOLD TEST', 'treegauge parse MODEL --raw FILE', '')
    """
    return next((f"treegauge {line}" for line in _meant("commands", word.lower().replace("_", "-").replace("ize", "ise"))), "")


def value_meant(message: str, choices: Collection[str]) -> str:
    """The end of click's message on a value that an option does not have: the one that is meant, if that is plain.

    >>> value_meant("'tex' is not one of 'table', 'latex'.", ["table", "latex"]), value_meant("'x' is not one of 'y'.", ["y"])
    (" Did you mean 'latex'?", '')
    """
    given = message.split("'")[1].lower() if message.startswith("'") else ""
    meant = [*_meant("formats", given), *difflib.get_close_matches(given, choices, n=1)]
    return next((f" Did you mean {each!r}?" for each in meant if each in choices), "")


def option_meant(flag: str, known: Collection[str], formats: Collection[str]) -> str:
    """The option of a command that somebody means by one that it does not have, or by the name of a format; empty if it is none.

    >>> option_meant("--tex", ["--format"], ["table", "latex"]), option_meant("--png", ["--format"], ["text", "png"])
    ('--format latex', '-o FILE.png')
    >>> option_meant("--confidence", ["--expected-f1"], []), option_meant("--trees", ["--shares", "--tune"], [])
    ('--expected-f1', '--tune')
    >>> option_meant("--plot", ["--figure"], []), option_meant("--gold", [], []), option_meant("--fast", [], ["table"])
    ('--figure', 'the file without an option', '')
    >>> option_meant("--on-error", ["--statistics"], [])  # another command does it
    'treegauge convert FILE --on-error repair -o MENDED'
    """
    name = next(iter(_meant("formats", word := flag.lstrip("-").lower())), word)
    if name in formats:
        return f"-o FILE.{name}" if name in _PICTURES else f"--format {name}"
    if flag == "--gold" and "--statistics" in known:
        return "treegauge score GOLD TEST, which compares sentences"
    if flag in _FILES:
        return "--tune" if flag == "--trees" and {"--tune", "--shares"} <= set(known) else "the file without an option"
    if name in _IN_PYTHON and "--renormalise" in known:
        return f"Python, treegauge.Forest(grammar, words).{_IN_PYTHON[name]}"
    return next((each for each in _meant("options", flag) if each.partition(" ")[0] in {*known, "treegauge"}), "")
