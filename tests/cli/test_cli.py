"""The command line as a whole: help, versions, errors, exit codes, start-up."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest

from treegauge.cli import COMMANDS
from treegauge.cli._group import treegauge


def run(*arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "treegauge", *arguments]
    return subprocess.run(command, capture_output=True, text=True, input=text, check=False)


def test_help_lists_six_commands_by_task_and_all_when_asked() -> None:
    short, full = run("--help"), run("help", "--all")
    assert (short.returncode, full.returncode) == (0, 0)
    listed = short.stdout.partition("Commands:\n")[2].partition("\n\n")[0].splitlines()
    assert [line.split()[0] for line in listed] == ["score", "compare", "diff", "validate", "train", "parse"]
    assert all(f"\n  {name} " in full.stdout for name in COMMANDS)
    assert run("help").stdout == short.stdout
    assert len(short.stdout.splitlines()) < 24
    assert max(map(len, short.stdout.splitlines())) <= 80


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(name: str) -> None:
    command = treegauge.get_command(click.Context(treegauge), name)
    assert command is not None
    text = command.get_help(click.Context(command, info_name=name))
    assert f"treegauge {name}" in text.replace(f"Usage: treegauge {name}", ""), "an example says more than a list of options"


def test_an_unknown_command_names_the_nearest() -> None:
    done = run("scores")
    assert done.returncode == 2
    assert "did you mean 'score'" in done.stderr
    assert "Traceback" not in done.stderr


def test_version() -> None:
    assert run("--version").stdout.startswith("treegauge, version ")


def test_an_unknown_option_is_a_usage_error() -> None:
    assert run("demo", "--no-such-option").returncode == 2


def test_scoring_imports_neither_numba_nor_scipy() -> None:
    code = "import sys, treegauge.cli.score; print([m for m in ('numba', 'scipy', 'matplotlib', 'nltk') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


@pytest.mark.posix
def test_a_closed_pipe_is_quiet_and_no_failure(tmp_path: Path) -> None:
    (tmp_path / "x.mrg").write_text("(S (NP (NN rain)) (VP (VBD fell)))\n" * 20_000)
    for command in ("convert x.mrg", "score x.mrg x.mrg --per-sentence", "--help"):
        line = f"{sys.executable} -m treegauge {command} | head -1; echo ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False, cwd=tmp_path)
        assert "Traceback" not in done.stderr
        assert done.stdout.splitlines()[-1] == "0", command


@pytest.mark.posix
@pytest.mark.parametrize(("command", "code"), [("score x.mrg bad.mrg --per-sentence", 4), ("evalb x.mrg bad.mrg", 1)])
def test_a_closed_pipe_hides_no_malformed_input(command: str, code: int, tmp_path: Path) -> None:
    """The exit code is that of the command whose output is read to its end."""
    (tmp_path / "x.mrg").write_text("(S (NP (NN rain)) (VP (VBD fell)))\n" * 5_000)
    (tmp_path / "bad.mrg").write_text("(S (NP (NN rain)) (VP (VBD fell)))\n" * 4_900 + "(S (NP (NN rain)) (VP (VBD fell))\n" * 100)
    for reader in ("cat", "head -1"):
        line = f"{sys.executable} -m treegauge {command} | {reader} > {reader[0]}; echo ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False, cwd=tmp_path)
        assert (done.stdout, "Traceback" in done.stderr) == (f"{code}\n", False), (reader, done.stderr)
    assert (tmp_path / "c").stat().st_size > 1 << 17, "more than a pipe holds"
