"""``treegauge normalise`` as a program: pipes, files, exit codes."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pytest
from processes import running_process

from treegauge.normalise import STEPS
from treegauge.trees import Treebank

TREES = """( (S (NP-SBJ-1 (DT the) (NN cat)) (VP (VBD sat) (NP (-NONE- *-1)) (ADVP (RB here)) (NP-TMP (NN today))) (. .)))
(X (. .))
(S (VP (VB go)))
"""


def run(*args: str | Path, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "treegauge", "normalise", *map(str, args)],
        input=text,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    file = tmp_path / "trees.mrg"
    file.write_text(TREES, encoding="utf-8")
    return file


def test_from_stdin_to_stdout_with_vanished_and_filtered_sentences() -> None:
    done = run("--steps", "traces,functions", "--steps", "root,punctuation,length:4", "-", text=TREES)
    assert done.returncode == 0
    assert done.stdout.splitlines() == ["()", "(S (VP (VB go)))"]
    assert done.stderr.splitlines() == [
        "treegauge: 1 sentence left out by length:longest=4",
        "treegauge: 1 sentence emptied, written as (), by punctuation",
    ]


def test_there_and_back_through_a_compressed_file(bank: Path, tmp_path: Path) -> None:
    steps = "unaries:joined,binarise:head:h=1:v=2"
    binary = tmp_path / "binary.mrg.gz"
    assert run("--steps", steps, bank, "-o", binary).returncode == 0
    lines = gzip.decompress(binary.read_bytes()).decode("utf-8").splitlines()
    assert lines[2] == "(S+VP+VB go)"
    assert "+S|" in lines[0]
    back = run("--undo", "--steps", steps, binary)
    assert back.returncode == 0
    assert Treebank.parse(back.stdout) == Treebank.parse(TREES)


def test_the_punctuation_is_that_of_the_treebank() -> None:
    given = "((S (sn (n a a)) (Fc , ,) (v b b) (Fp . .)))\n"
    clean = "( (S (sn (n a)) (v b)))\n"
    assert run("--treebank", "cess", "--steps", "punctuation", "-", text=given).stdout == clean
    assert run("--treebank", "cess", "--steps", "punctuation:tags=evalb", "-", text=given).stdout != clean
    named = run("--steps", "punctuation:cess", "-", text="((S (n a) (Fc ,)))")
    assert named.stdout == "( (S (n a)))\n"


def test_a_file_is_not_normalised_in_place(bank: Path) -> None:
    before = bank.read_bytes()
    done = run("--steps", "functions", bank, bank, "-o", bank)
    assert done.returncode == 2
    assert bank.read_bytes() == before


def test_an_error_leaves_the_old_output(bank: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.mrg"
    broken.write_text("(S (A a))\n(S (B b)\n", encoding="utf-8")
    output = tmp_path / "out.mrg"
    output.write_text("before", encoding="utf-8")
    done = run("--steps", "traces", bank, broken, "-o", output)
    assert done.returncode == 3
    assert "broken.mrg:2:1" in done.stderr
    assert output.read_text("utf-8") == "before"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["broken.mrg", "out.mrg", "trees.mrg"]


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["--steps", "trace", "-"], 2, "did you mean 'traces'"),
        (["--undo", "--steps", "traces,xcont", "-"], 2, "cannot be undone: traces"),
        (["-"], 2, "no steps given"),
        (["--steps", "traces"], 2, "no files given"),
        (["--steps", "traces", "missing.mrg"], 3, "missing.mrg: no such file"),
        (["--steps", "functions:evalb=yes", "-"], 3, "-:1: a node without a label that begins with the word"),
    ],
)
def test_errors(args: list[str], code: int, message: str) -> None:
    done = run(*args, text="(-X a b)")
    assert done.returncode == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_the_list_has_every_step() -> None:
    done = run("--list")
    assert done.returncode == 0
    for step in STEPS.values():
        assert f"  {step.signature}{' *' if step.undo else ''}\n      {step.help}\n" in done.stdout


def test_a_closed_pipe_is_no_error(bank: Path) -> None:
    bank.write_text("(S (A a) (B b))\n" * 20_000, encoding="utf-8")
    with running_process(
        [sys.executable, "-m", "treegauge", "normalise", "--steps", "xcont", str(bank)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == b"(S (A a) (B b))\n"
        process.stdout.close()
        assert process.wait() == 0
        assert process.stderr
        assert process.stderr.read() == b""


@pytest.mark.parametrize(
    ("steps", "said"), [("labels:NPP=N", "no node is labelled 'NPP'"), ("labels:NP=N", ""), ("traces,labels:NPP=N", "")]
)
def test_a_label_to_rename_that_is_nowhere_is_named(tmp_path: Path, steps: str, said: str) -> None:
    (tmp_path / "a.mrg").write_text("(S (NP (N a)) (V b))\n")
    words = [sys.executable, "-m", "treegauge", "normalise", "--steps", steps, str(tmp_path / "a.mrg")]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert said in done.stderr
    assert bool(said) == bool(done.stderr)
