"""The C program's own outputs: the cases kept with the tests, and real parser outputs beside the project."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from evalb_literal import Literal, Undefined
from known_answers import ProgramCase, program_cases

from treegauge.metrics.evalb import evalb

CASES = program_cases("evalb")
IN_PROCESS = Path(__file__).parent


def outcome_of(folder: Path, words: list[str], monkeypatch: pytest.MonkeyPatch) -> tuple[bytes, bytes, int]:
    monkeypatch.chdir(folder)
    out, err = io.BytesIO(), io.BytesIO()
    code = evalb(words, out, err)
    return out.getvalue(), err.getvalue(), code


@pytest.mark.parametrize("case", [case for case in CASES if not case.undefined], ids=lambda case: case.name)
def test_case(case: ProgramCase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    case.write_files(tmp_path)
    stdout, stderr, code = outcome_of(tmp_path, case.words, monkeypatch)
    assert (stdout.decode(), stderr.decode(), code) == (case.stdout, case.stderr, case.code)


@pytest.mark.parametrize("case", [case for case in CASES if case.undefined], ids=lambda case: case.name)
def test_undefined_case(case: ProgramCase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Well-formed lines score as the slow scorer scores them without limits; malformed ones are errors."""
    case.write_files(tmp_path)
    stdout, stderr, code = outcome_of(tmp_path, case.words, monkeypatch)
    gold, test = case.gold.encode(), case.test.encode()
    assert code == 0
    try:
        slow = Literal((case.prm or "").encode(), gold, test, limits=False)
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
    """Each name in [brackets] in EVALB.md has a test of that name here, whether or not it is among the cases."""
    named = {
        name.strip().partition(":")[0].lower()
        for group in re.findall(r"`\[([a-z0-9_:, D]+)\]`", (IN_PROCESS / "EVALB.md").read_text("utf-8"))
        for name in group.split(",")
    }
    named -= {"brackets"}  # the word that explains the notation
    ours = {name for path in IN_PROCESS.glob("test_section_*.py") for name in re.findall(r"def test_(\w+)\(", path.read_text())}
    assert len(named) > 30
    assert named - ours == set()
