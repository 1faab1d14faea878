"""The bytes of some thirty command lines on our own treebank; a change of any of them is named in CHANGELOG.md.

Numbers printed at full precision may differ in the last bits on another processor, which may sum in another order.

`python tests/test_golden_commands.py` writes what the commands print now; read the difference before committing it.
"""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "golden"
TIMES = re.compile(r"\b\d+\.\d+ s\b")
FULL_PRECISION = re.compile(r"--format (?:json|jsonl|csv)\b|^induce ")
"""Commands that print numbers with all their digits."""
NUMBER = re.compile(r"-?\d+(?:\.\d+(?:e[-+]\d+)?|e-\d+)")

COMMANDS = {
    "score": "score gold.mrg A.mrg B.mrg",
    "score-all-metrics": "score gold.mrg A.mrg -m parseval -m goodman -m hogenhout -m freval -m leaf-ancestor",
    "score-collins": "score gold.mrg A.mrg -p collins",
    "score-spmrl": "score gold.mrg A.mrg B.mrg -p spmrl --format markdown",
    "score-induction": "score gold.mrg A.mrg -p induction",
    "score-json": "score gold.mrg B.mrg --format json",
    "score-jsonl": "score gold.mrg B.mrg --format jsonl",
    "score-csv": "score gold.mrg A.mrg B.mrg -m goodman --format csv",
    "score-latex": "score gold.mrg A.mrg B.mrg --format latex",
    "score-evalb": "score gold.mrg A.mrg --format evalb",
    "score-per-sentence": "score gold.mrg A.mrg --per-sentence",
    "score-breakdowns": "score gold.mrg A.mrg --breakdown labels,confusions,lengths,depths,unaries,crossings,errors",
    "score-baselines": "score gold.mrg A.mrg --baselines",
    "score-list": "score --list",
    "score-show-preset": "score --show-preset default",
    "evalb": "evalb gold.mrg A.mrg",
    "freval": "freval gold.mrg A.mrg B.mrg",
    "freval-json": "freval gold.mrg A.mrg --format json",
    "compare": "compare gold.mrg A.mrg B.mrg --rounds 500",
    "compare-all": "compare gold.mrg A.mrg B.mrg --rounds 500 -m all --table all --signature full",
    "compare-latex": "compare gold.mrg A.mrg B.mrg --rounds 200 --format latex --rates lr,lp,f1,exact,cb --published X=lr:80,lp:81",
    "compare-json": "compare gold.mrg A.mrg B.mrg --rounds 200 -m parseval --format json",
    "compare-structure": "compare gold.mrg A.mrg B.mrg --rounds 200 -m parseval --structure NP,PP --by-length",
    "diff": "diff gold.mrg A.mrg --worst 2",
    "explain": "explain parseval",
    "explain-freval": "explain freval",
    "cite": "cite freval",
    "validate": "validate gold.mrg",
    "convert": "convert A.mrg --to export -o -",
    "normalise": "normalise gold.mrg --steps traces,functions,unaries:top,binarise:right -o -",
    "induce": "induce gold.mrg --steps traces,functions,root --lexicon plain -o -",
    "parse-kbest": "parse grammar.txt sentence.txt --kbest 3 --format json",
    "parse-recall": "parse grammar.txt sentence.txt --objective labelled-recall --posteriors",
    "posteriors": "posteriors grammar.txt sentence.txt",
    "missing-file": "score gold.mrg missing.mrg",
    "malformed": "validate broken.mrg",
}


def printed(command: str) -> str:
    """Exit code, standard output and standard error of a command in the folder of the golden files, times masked."""
    environment = dict(os.environ, NO_COLOR="1", COLUMNS="100", PYTHONUTF8="1")
    run = subprocess.run(
        [sys.executable, "-m", "treegauge", *command.split()], cwd=FOLDER, env=environment, capture_output=True, encoding="utf-8"
    )
    errors = "".join(line for line in run.stderr.splitlines(keepends=True) if "compiling the kernels" not in line)
    return f"$ treegauge {command}\nexit {run.returncode}\n--- stdout\n{run.stdout}--- stderr\n{TIMES.sub('N s', errors)}"


def rounded_as(expected: str, text: str) -> str:
    """The text with those numbers that are nearly the expected ones written as there."""
    wanted = iter(NUMBER.findall(expected))

    def nearest(found: re.Match[str]) -> str:
        other = next(wanted, found[0])
        return other if math.isclose(float(found[0]), float(other), rel_tol=1e-9, abs_tol=1e-12) else found[0]

    return NUMBER.sub(nearest, text)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_bytes_of(name: str) -> None:
    text, expected = printed(COMMANDS[name]), (FOLDER / f"{name}.out").read_text("utf-8")
    if FULL_PRECISION.search(COMMANDS[name]):
        text = rounded_as(expected, text)
    assert text == expected


@pytest.mark.parametrize("name", COMMANDS)
def test_full_precision_is_compared_as_numbers(name: str) -> None:
    expected = (FOLDER / f"{name}.out").read_text("utf-8")
    assert bool(FULL_PRECISION.search(COMMANDS[name])) or not re.search(r"\d\.\d{9}", expected)
    nearly = re.sub(r"(\d\.\d{15})\d+\b", r"\g<1>", expected)
    assert rounded_as(expected, nearly) == expected
    assert rounded_as(expected, off := re.sub(r"(?<=\d\.\d{6})\d", lambda digit: str((int(digit[0]) + 1) % 10), expected)) == off


def test_no_golden_file_is_left_over() -> None:
    assert {path.stem for path in FOLDER.glob("*.out")} == set(COMMANDS)


if __name__ == "__main__":
    for old in FOLDER.glob("*.out"):
        old.unlink()
    for name, command in COMMANDS.items():
        (FOLDER / f"{name}.out").write_text(printed(command), "utf-8")
