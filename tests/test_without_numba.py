"""Without Numba everything that scores works, with the same results; what needs it names the extra."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from treegauge.data import write_examples

PROGRAM = """
import sys
sys.modules["numba"] = None
from treegauge.scoring import evaluation
evaluation.SMALLEST_BYTES = 1
from treegauge.cli import main
main(sys.argv[1:])
"""
WITH_NUMBA = PROGRAM.replace('sys.modules["numba"] = None\n', "")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("examples")
    write_examples(folder)
    return folder


def _run(folder: Path, *words: str, program: str = PROGRAM) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", program, *words], cwd=folder, capture_output=True, text=True)


@pytest.mark.parametrize(
    "words",
    ["score gold.mrg A.mrg", "evalb gold.mrg A.mrg", "compare gold.mrg A.mrg B.mrg", "validate gold.mrg", "diff gold.mrg A.mrg"],
)
def test_same_output(folder: Path, words: str) -> None:
    without, plain = (_run(folder, *words.split(), program=program) for program in (PROGRAM, WITH_NUMBA))
    assert (without.returncode, without.stdout) == (plain.returncode, plain.stdout)
    assert without.stdout


@pytest.mark.parametrize("words", ["parse grammar.txt sentence.txt", "train gold.mrg -o x.model", "learn gold.mrg", "demo"])
def test_the_extra_is_named(folder: Path, words: str) -> None:
    done = _run(folder, *words.split())
    assert done.returncode == 2
    assert ("What to type next" in done.stdout) == (words == "demo")
    assert done.stderr.strip().endswith("pip install 'treegauge[parse]' (in its repository '.[parse]')")


def test_imports(folder: Path) -> None:
    program = "import sys\nsys.modules['numba'] = None\nimport treegauge, treegauge.neural, treegauge.grammar, treegauge.reports\n"
    program += "try:\n    from treegauge.parsing import Forest\nexcept treegauge.MissingExtra as error:\n    print(error.extra)\n"
    done = _run(folder, program=program)
    assert (done.stdout, done.stderr) == ("parse\n", "")
