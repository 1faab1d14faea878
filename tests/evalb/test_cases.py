"""The C program's own outputs: the cases and the real parser outputs beside the project."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from evalb_literal import Literal, Undefined

from treegauge.metrics.evalb import evalb

SHARED = Path(__file__).resolve().parents[3] / "shared"
CASES = sorted(path.parent for path in SHARED.glob("evalb_cases/*/note"))
HERE = Path(__file__).parent


def outcome_of(folder: Path, words: list[str], monkeypatch: pytest.MonkeyPatch) -> tuple[bytes, bytes, int]:
    monkeypatch.chdir(folder)
    out, err = io.BytesIO(), io.BytesIO()
    code = evalb(words, out, err)
    return out.getvalue(), err.getvalue(), code


def words_of(folder: Path) -> list[str]:
    words = (folder / "args").read_text().split()
    if words[:1] == ["CMD"]:
        return words[1:]
    return [*(["-p", "prm"] if (folder / "prm").exists() else []), *words, "gold", "test"]


def is_undefined(folder: Path) -> bool:
    return "UNDEFINED" in (folder / "note").read_text()


@pytest.mark.skipif(not CASES, reason="no folder ../shared/evalb_cases beside the project")
@pytest.mark.parametrize("folder", [case for case in CASES if not is_undefined(case)], ids=lambda path: path.name)
def test_case(folder: Path, monkeypatch: pytest.MonkeyPatch):
    stdout, stderr, code = outcome_of(folder, words_of(folder), monkeypatch)
    assert stdout == (folder / "expected.txt").read_bytes()
    assert stderr == (folder / "expected.err").read_bytes()
    assert code == int((folder / "rc").read_text())


@pytest.mark.skipif(not CASES, reason="no folder ../shared/evalb_cases beside the project")
@pytest.mark.parametrize("folder", [case for case in CASES if is_undefined(case)], ids=lambda path: path.name)
def test_undefined_case(folder: Path, monkeypatch: pytest.MonkeyPatch):
    """Well-formed lines score as the slow scorer scores them without limits; malformed ones are errors."""
    stdout, stderr, code = outcome_of(folder, words_of(folder), monkeypatch)
    gold, test = (folder / "gold").read_bytes(), (folder / "test").read_bytes()
    assert code == 0
    try:
        slow = Literal((folder / "prm").read_bytes(), gold, test, limits=False)
    except Undefined:
        malformed = [not balanced(line) for line in gold.splitlines()]
        rows = stdout.split(b"\n")[3 : 3 + len(malformed)]
        assert [int(row[13:14]) in (1, 2) for row in rows] == malformed
        assert b"Bracketing" in stderr
    else:
        assert stdout == slow.stdout
        assert stderr.startswith(b"treegauge: gold line 1: ")


def balanced(line: bytes) -> bool:
    depth = 0
    for byte in line:
        depth += (byte == ord("(")) - (byte == ord(")"))
        if depth < 0:
            return False
    return depth == 0


@pytest.mark.parametrize("name", ["gum_dev.berkeley-maxrule", "gum_dev.berkeley-viterbi"])
def test_parser_outputs(shared: Path, name: str, monkeypatch: pytest.MonkeyPatch):
    folder = shared / "data" / "outputs"
    words = ["-p", "collins.prm", "gum_dev.gold.mrg", f"{name}.mrg"]
    stdout, stderr, code = outcome_of(folder, words, monkeypatch)
    assert stdout == (folder / f"{name}.evalb.txt").read_bytes()
    assert stderr == (folder / f"{name}.evalb.err").read_bytes()
    assert code == 0


def test_every_named_case_has_a_test():
    """Each name in [brackets] in EVALB.md has a test of that name here, with or without a folder there."""
    text = SHARED / "EVALB.md"
    if not text.exists():
        pytest.skip("no ../shared/EVALB.md beside the project")
    named = {
        name.strip().partition(":")[0].lower()
        for group in re.findall(r"`\[([a-z0-9_:, D]+)\]`", text.read_text())
        for name in group.split(",")
    }
    named -= {"brackets"}  # the word that explains the notation
    ours = {name for path in HERE.glob("test_section_*.py") for name in re.findall(r"def test_(\w+)\(", path.read_text())}
    assert len(named) > 30
    assert named - ours == set()
