"""Messages name options as those who read them write them: Python users never see flags, users of commands never see arguments."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

import treegauge
from treegauge.cli import main

PACKAGE = Path(treegauge.__file__).parent
COMMANDS = ("cli", "__main__.py")
FLAG = re.compile(r"(?<!var\()(?<![\w{-])--[a-z][a-z-]+")
FOR_COMMANDS = {"parsing/objectives.py": {" --lam "}}
"""Texts that are not messages of the API: what to type after `parse --for`."""
PYTHON = re.compile(r"""\b[a-z_]+=(?:"[^"\n]*"|True|False|\.\.\.)|\boptions? [a-z]+_[a-z_]+""")


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


TREES = "(S (NP (NN Rain)) (VP (VBD fell)))\n" * 6
FILES = {
    "gold.mrg": TREES,
    "lower.mrg": TREES.lower(),
    "other.mrg": TREES.replace("Rain", "Hail"),
    "broken.mrg": TREES.replace("fell)))", "fell))", 1),
    "latin.mrg": TREES.replace("Rain", "k\xb3os"),
    "lines.mrg": "(S (NP (NN Rain))\n (VP (VBD fell)))\n",
    "answers.jsonl": '{"output": "(S (NN Rain))"}\n' + '{"output": "I cannot."}\n' * 3,
    "rules.txt": "S -> 'rain' [0.4] | 'snow' [0.2]\n",
}
SAID = {
    "score gold.mrg lower.mrg": "give --match-words case",
    "score gold.mrg other.mrg": "--match-words length compares lengths only, --on-mismatch edit scores",
    "score gold.mrg other.mrg --on-mismatch edit --match-words length": "leave out one of the two",
    "score gold.mrg lower.mrg --on-mismatch error": "give --match-words case",
    "score gold.mrg broken.mrg": "--on-error repair reads those that can be repaired",
    "score gold.mrg gold.mrg --fail-under average_crossing=1": "use --fail-over average_crossing=1",
    "score gold.mrg gold.mrg --fail-under f2=1": "unknown rate 'f2'",
    "diff gold.mrg lower.mrg": "give --match-words case",
    "freval gold.mrg lower.mrg": "warning: the words differ",
    "convert latin.mrg": "for example --encoding latin-1",
    "validate answers.jsonl": "Give --field output.",
    "validate answers.jsonl --field output --max 1": "answers.jsonl: ... and 2 more errors",
    "convert answers.jsonl --field output": "text outside brackets",
    "validate latin.mrg": "for example --encoding latin-1",
    "validate lines.mrg --lines": "leave out --lines for trees over several lines",
    "convert gold.mrg --format-in discbracket": "give --format-in bracketed",
    "parse own gold.mrg": "give --input trees",
    "posteriors own gold.mrg": "give --input trees",
    "parse own other.mrg --input tagged": "Give --input tokens.",
    "parse rules.txt gold.mrg --input trees": "scale them with --renormalise",
    "learn gold.mrg -o g.model --resume": "start without --resume",
    "check gold.mrg lower.mrg --results --store none.sqlite": "judgements are kept: --store FILE|URL",
    "check gold.mrg lower.mrg --host 0.0.0.0": "give --allow-remote to permit this",
}
"""Command lines, and how the options are named in what stderr or stdout shows."""


@pytest.mark.parametrize("line", SAID)
def test_messages_of_commands(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text, "latin-1" if name == "latin.mrg" else "utf-8")
    with pytest.raises(SystemExit):
        main(shlex.split(line))
    said = "".join(capfd.readouterr())
    assert SAID[line] in said
    assert not PYTHON.findall(said)


def test_quoted_text_stays_as_it_is(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A line of the input that looks like an argument is shown unchanged."""
    path = tmp_path / "gold.mrg"
    path.write_text('(S (NP (NN encoding="utf-8")) (VP (V lines=True)))) encoding="x"\n')
    with pytest.raises(SystemExit):
        main(["convert", str(path)])
    assert '(S (NP (NN encoding="utf-8")) (VP (V lines=True)))) encoding="x"\n' in capfd.readouterr().err
