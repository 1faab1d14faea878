"""Messages that Python users see name no option of the command line."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import treegauge

PACKAGE = Path(treegauge.__file__).parent
COMMANDS = ("cli", "__main__.py")
FLAG = re.compile(r"(?<!var\()(?<![\w{-])--[a-z][a-z-]+")
FOR_COMMANDS = {
    "reports/scores.py": {
        *("--match-words {}", "--on-mismatch edit", "; --on-error repair reads", "--fail-over", "--fail-under", "--treebank "),
    },
    "parsing/objectives.py": {" --lam "},
}
"""Texts that are not messages of the API: lines for a command's stderr, and what to type after `parse --for`."""


def texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """All string literals with their lines, but for docstrings and strings that stand alone."""
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.lineno, node.value


def modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] not in COMMANDS)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_message_names_an_option_of_the_command_line(path: Path) -> None:
    name = str(path.relative_to(PACKAGE))
    allowed = FOR_COMMANDS.get(name, set())
    tree = ast.parse(path.read_text("utf-8"))
    # The tables of experiments are printed by the command `reproduce`; what they raise is a message like any other.
    parts = [node for node in ast.walk(tree) if isinstance(node, ast.Raise)] if name.startswith("experiments/") else [tree]
    found = [(line, text) for part in parts for line, text in texts(part) if FLAG.search(text)]
    assert not [f"{name}:{line}: {text}" for line, text in found if not any(part in text for part in allowed)]
    assert len(found) >= len(allowed), "an exception that is none any more"


def test_flags_are_found() -> None:
    """The scan sees what it is for: in f-strings, in parts put together, but not in docstrings or style sheets."""
    code = 'def f():\n    "say --resume"\n    raise ValueError(f"{x}: leave out "\n        "--resume to start")\n'
    assert [line for line, text in texts(ast.parse(code)) if FLAG.search(text)] == [3]
    assert not FLAG.search("stroke:var(--mark)")


def test_messages_of_scoring() -> None:
    """Refusals and warnings as Python users meet them."""
    gold, other = ["(S (NP (NN Rain)) (VP (VBD fell)))"] * 3, ["(S (NP (NN rain)) (VP (VBD fell)))"] * 3
    said = [*treegauge.score(gold, other).warnings, *(note.text for note in treegauge.score(gold, ["(S", "x", ""]).notes)]
    for on_mismatch, match_words in (("error", "exact"), ("edit", "length"), ("align", "no")):
        with pytest.raises(treegauge.errors.TreegaugeError) as refusal:
            treegauge.score(gold, other, on_mismatch=on_mismatch, match_words=match_words)
        said.append(str(refusal.value))
    assert len(said) >= 7
    assert not [text for text in said if FLAG.search(text)]
    assert any('match_words="case"' in text for text in said)
