"""Parses of a whole treebank, written otherwise: where the score falls, the message names the option that restores it."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from treegauge.cli import main

pytestmark = pytest.mark.slow

LEAF = re.compile(r"\(([^\s()]+) ([^\s()]+)\)")
Rewrite = Callable[[list[str]], str]


def by_word(written: Callable[[str], str]) -> Rewrite:
    """The file with each word written otherwise."""
    return lambda lines: "\n".join(LEAF.sub(lambda leaf: f"({leaf[1]} {written(leaf[2])})", line) for line in lines)


def by_tree(written: Callable[[int, str], str]) -> Rewrite:
    """The file with each tree written otherwise."""
    return lambda lines: "\n".join(written(number, line) for number, line in enumerate(lines, start=1))


def in_prose(number: int, tree: str) -> str:
    return f"{number}. Of course (as you asked):\n```\n{tree}\n```\nI hope this helps.\n"


SAME = "the score is that of the file as it was"
WAYS: dict[str, tuple[Rewrite, str]] = {
    "nfd": (by_word(lambda word: unicodedata.normalize("NFD", word)), "--match-words loose"),
    "lower": (by_word(str.lower), "--match-words case"),
    "unk": (by_word(lambda word: word if len(word) < 9 else "<unk>"), "--match-words loose"),
    "no-break space": (by_word(lambda word: f"\N{NO-BREAK SPACE}{word}" if len(word) > 7 else word), "--match-words loose"),
    "html": (by_word(lambda word: word.replace("a", "&#97;")), "--match-words loose"),
    "nltk": (by_word(lambda word: word.replace("-LRB-", r"\(").replace("-RRB-", r"\)")), SAME),
    "slash": (by_word(lambda word: word.replace("/", r"\/")), SAME),
    "curly quotes": (by_word(lambda word: word.replace("''", "”").replace("``", "“")), SAME),
    "plain quotes": (by_word(lambda word: word.replace("''", '"').replace("``", '"')), SAME),
    "prose": (by_tree(in_prose), "--on-error repair"),
    "numbering": (by_tree(lambda number, tree: f"{number}) {tree}"), "--on-error repair"),
    "square": (by_tree(lambda _, tree: tree.replace("(", "[").replace(")", "]")), "--on-error repair"),
    "unclosed": (by_tree(lambda number, tree: tree[: -1 - number % 2]), "--on-error repair"),
    "closed twice": (by_tree(lambda number, tree: tree + ")" * (number % 3)), "--on-error repair"),
    "JSON": (by_tree(lambda number, tree: json.dumps({"id": number, "parse": tree})), SAME),
}


def scored(gold: Path, test: Path, output: Path, *options: str) -> dict[str, object]:
    with pytest.raises(SystemExit):
        main(["score", str(gold), str(test), "--format", "json", "-o", str(output), *options])
    document = json.loads(output.read_text("utf-8"))
    return {"counts": document["counts"], "rates": document["rates"]}


def test_the_option_that_is_named_restores_the_score(shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One test for all ways: tests that a public clone must skip are to be few."""
    gold, parser = (shared / "data" / "outputs" / f"gum_dev.{name}.mrg" for name in ("gold", "berkeley-maxrule"))
    lines = parser.read_text("utf-8").splitlines()
    expected = scored(gold, parser, tmp_path / "expected.json")
    for way, (rewrite, advice) in WAYS.items():
        (tmp_path / "test").write_text(rewrite(lines) + "\n", "utf-8")
        capsys.readouterr()
        found = scored(gold, tmp_path / "test", tmp_path / "found.json")
        said = capsys.readouterr().err
        assert said.count("\n") <= 12, (way, said)
        if advice == SAME:
            assert (found, said) == (expected, ""), way
            continue
        assert advice in said.splitlines()[-1], way
        assert found != expected or way in ("prose", "closed twice"), way
        assert scored(gold, tmp_path / "test", tmp_path / "then.json", *advice.split()) == expected, way
