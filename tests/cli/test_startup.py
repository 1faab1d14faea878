"""Start-up: what a command loads before it works on one sentence. Counts, not times: `bench/startup.py` measures those."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TREES = "(S (NP (DT the) (NN rain)) (VP (VBD fell)))\n"
REPORT = """
import sys
from treegauge.cli import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    assert not end.code, end.code
print(*sys.modules, file=sys.stderr)
"""


@pytest.fixture
def sentence(tmp_path: Path) -> str:
    path = tmp_path / "one.mrg"
    path.write_text(TREES)
    return str(path)


def loaded(*words: str, code: str = REPORT) -> set[str]:
    done = subprocess.run([sys.executable, "-c", code, *words], check=True, capture_output=True, text=True)
    return set(done.stderr.splitlines()[-1].split())


def ours(modules: set[str]) -> list[str]:
    return sorted(name for name in modules if name.split(".")[0] == "treegauge")


def test_evalb_loads_few_modules_and_neither_numpy_nor_click(sentence: str) -> None:
    modules = loaded("evalb", sentence, sentence)
    assert len(ours(modules)) <= 20, ours(modules)
    assert modules.isdisjoint({"numpy", "click"})


def test_score_loads_at_most_45_modules(sentence: str) -> None:
    modules = loaded("score", sentence, sentence)
    assert len(ours(modules)) <= 45, ours(modules)
    assert modules.isdisjoint({"numba", "scipy", "matplotlib", "nltk", "jinja2"})


def test_help_imports_no_command() -> None:
    assert ours(loaded("--help")) == [
        "treegauge",
        "treegauge._lazy",
        "treegauge.cli",
        "treegauge.cli._group",
        "treegauge.errors",
        "treegauge.tables",
    ]


def test_the_program_ends_with_its_code_after_all_that_was_to_be_done_at_the_end() -> None:
    code = """
import atexit, sys, treegauge.cli
atexit.register(print, "registered before")
def run(args):
    atexit.register(print, "last", flush=False)
    print("first")
    return 7
treegauge.cli._run = run
treegauge.cli.main()
"""
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (7, "first\nlast\nregistered before\n", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize("command", ["score", "evalb", "--help"])
def test_output_to_a_full_disk_is_an_error(command: str, sentence: str) -> None:
    words = [sys.executable, "-m", "treegauge", command, sentence, sentence]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(words, check=False, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr.splitlines()[-1:]) == (3, ["treegauge: No space left on device"])
    assert "Traceback" not in done.stderr


def test_import_treegauge_imports_nothing_else() -> None:
    modules = loaded(code="import sys, treegauge; print(*sys.modules, file=sys.stderr)")
    assert ours(modules) == ["treegauge", "treegauge._lazy"]


def test_evalb_is_the_same_program_through_click(sentence: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """The group's own command, which help and completion use, gives the bytes of the short way past click."""
    from treegauge.cli._group import treegauge

    code = treegauge.main(["evalb", "-p", sentence, sentence, sentence], prog_name="treegauge", standalone_mode=False)
    through_click = capfdbinary.readouterr()
    words = [sys.executable, "-m", "treegauge", "evalb", "-p", sentence, sentence, sentence]
    done = subprocess.run(words, check=False, capture_output=True)
    assert (done.stdout, done.stderr, done.returncode) == (through_click.out, through_click.err, code)
    assert b"Bracketing FMeasure" in done.stdout
