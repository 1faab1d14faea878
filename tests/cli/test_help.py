"""Short help with the usual options, every option in ``treegauge help``, and American spellings."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from treegauge.cli import COMMANDS
from treegauge.cli._group import SHARED, Command, full_help, treegauge


def all_commands() -> Iterator[tuple[str, click.Command]]:
    for name in COMMANDS:
        command = treegauge.get_command(click.Context(treegauge), name)
        assert command is not None
        yield from below(name, command)


def below(path: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from below(f"{path} {name}", found)


EVERY = dict(all_commands())


def said(*words: str) -> str:
    done = CliRunner().invoke(treegauge, list(words), prog_name="treegauge")
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize("path", EVERY)
def test_every_command_explains_every_option_somewhere(path: str) -> None:
    """``treegauge help`` shows each option that is not hidden, and help of one's own on it."""
    text = full_help(EVERY[path], f"treegauge {path}")
    for option in EVERY[path].params:
        if isinstance(option, click.Option) and not option.hidden:
            assert option.help, f"{path} {option.opts[-1]} has no help"
            assert option.opts[-1] in text, f"{path} {option.opts[-1]}"


@pytest.mark.parametrize("path", [path for path in EVERY if path != "evalb"])
def test_every_command_has_an_example_and_fits_80_columns(path: str) -> None:
    text = said(*path.split(), "--help")
    assert f"treegauge {path.split()[0]}" in text.split("xample", 1)[-1], "no example"
    options = text.split("xample", 1)[0].splitlines()
    assert max(map(len, options)) <= 90, max(options, key=len)


def test_short_help_names_options_that_are_seldom_used_and_does_not_explain_them() -> None:
    short, full = said("score", "--help"), said("help", "score")
    for option, explanation in (("--format-in", "latin-1"), ("--engine", "dask:tcp"), ("--show-preset", "Show a preset")):
        assert short.split().count(option) + short.split().count(f"{option},") == 1
        assert explanation not in short
        assert explanation in full
    assert "All options are explained by: treegauge help score" in short
    assert "are explained by" not in full


@pytest.mark.parametrize("path", EVERY)
def test_short_help_is_shorter_unless_it_explains_everything(path: str) -> None:
    """What somebody sees who types ``--help`` is never longer than ``treegauge help``, in a terminal of the same width."""
    short = EVERY[path].get_help(click.Context(EVERY[path], info_name=f"treegauge {path}", terminal_width=80))
    full = full_help(EVERY[path], f"treegauge {path}")
    lines = len(short.splitlines()), len(full.splitlines())
    assert lines[0] < lines[1] if "\nAlso: " in short else lines[0] == lines[1]


def test_options_that_are_seldom_used_exist() -> None:
    assert {*SHARED} <= {option.name for command in EVERY.values() for option in command.params}
    for path, command in EVERY.items():
        if isinstance(command, Command):
            unknown = command.seldom - {*SHARED} - {option.name for option in command.params}
            assert not unknown, f"{path}: {unknown}"


@pytest.mark.parametrize(
    ("words", "given", "same"),
    [
        (("normalize", "--steps", "binarize:right", "-"), "(S (A a) (B b) (C c))", ("normalise", "--steps", "binarise:right", "-")),
        (("parse", "GRAMMAR", "-", "--renormalize"), "a", ("parse", "GRAMMAR", "-", "--renormalise")),
        (
            ("parse", "GRAMMAR", "-", "--for", "goodman.labeled_recall"),
            "a",
            ("parse", "GRAMMAR", "-", "--for", "goodman.labelled_recall"),
        ),
        (
            ("score", "GOLD", "-", "--fail-under", "unlabeled_f1=0.5"),
            "(S (A a))",
            ("score", "GOLD", "-", "--fail-under", "unlabelled_f1=0.5"),
        ),
        (
            ("compare", "GOLD", "GOLD", "x=GOLD", "-m", "parseval", "--rates", "unlabeled_f1", "--rounds", "9"),
            "",
            ("compare", "GOLD", "GOLD", "x=GOLD", "-m", "parseval", "--rates", "unlabelled_f1", "--rounds", "9"),
        ),
    ],
)
def test_american_spellings_mean_the_same(words: tuple[str, ...], given: str, same: tuple[str, ...], tmp_path: Path) -> None:
    files = {"GRAMMAR": "S -> A [1]\nA -> 'a' [1]\n", "GOLD": "(S (A a))\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8")
    runs = [
        subprocess.run(
            [sys.executable, "-m", "treegauge", *each], input=given, text=True, capture_output=True, check=True, cwd=tmp_path
        )
        for each in (words, same)
    ]
    assert runs[0].stdout == runs[1].stdout != ""


def test_an_american_objective_is_ours() -> None:
    from treegauge.parsing.objectives import check_objective

    assert check_objective("labeled-recall", {})[0].name == "labelled-recall"


def test_help_of_an_unknown_command_is_a_usage_error() -> None:
    done = CliRunner().invoke(treegauge, ["help", "scor"])
    assert "did you mean 'score'" in str(done.exception)
