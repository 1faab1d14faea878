"""Every option of every command has an example in the reference, and the examples run."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import click
import numpy as np
import pages
import pytest
from tests.neural.tiny_encoder import save_encoder

from treegauge.cli import COMMANDS, main
from treegauge.cli._group import treegauge as program
from treegauge.data import write_examples

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference"


def lines(page: Path) -> list[str]:
    """The commands of a page, without the remarks behind them."""
    blocks = re.findall(r"^```sh\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    shown = [line.partition("  #")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in shown if line.startswith("treegauge ")]


LINES = [line for page in sorted(REFERENCE.glob("*.md")) for line in lines(page)]
EXTRAS = {"--device": "torch", "--encoder": "transformers", "--engine dask": "distributed", "treegauge check": "uvicorn"}
"""Words of the examples that need an extra, and one of its packages: without it, their lines are left out."""
INTERRUPTED = "# go on after an interruption"
"""The remark behind a command that resumes another one, which is interrupted first."""
UNREADABLE = ("llm.jsonl", "messy.mrg")
"""Some of their trees are broken: exit code 4."""


def commands(name: str = "", group: click.Group = program) -> Iterator[tuple[str, click.Command]]:
    """All commands with their full names."""
    for one in COMMANDS if group is program else group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), one)
        assert command is not None
        yield f"{name} {one}".strip(), command
        if isinstance(command, click.Group):
            yield from commands(f"{name} {one}".strip(), command)


def options(command: click.Command) -> dict[tuple[str, str], set[str]]:
    """What can be written for each option, by its name and its help."""
    shown = [each for each in command.params if isinstance(each, click.Option) and not each.hidden]
    return {(each.opts[-1], each.help or ""): {*each.opts, *each.secondary_opts} for each in shown}


def test_every_option_has_an_example() -> None:
    """An option that several commands share, with the same help, needs one example for all of them."""
    by_command = {name: options(command) for name, command in commands()}
    commands_of: dict[tuple[str, str], list[str]] = {}
    for name, found in by_command.items():
        for option in found:
            commands_of.setdefault(option, []).append(name)
    words = [(line, set(shlex.split(line))) for line in LINES]
    missing = [
        f"{' or '.join(names)} {option[0]}"
        for option, names in commands_of.items()
        if not any(
            line.startswith(f"treegauge {name} ") and by_command[name][option] & given for name in names for line, given in words
        )
    ]
    assert len(commands_of) > 150
    assert missing == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that ``treegauge examples`` writes, and those of other programs that the examples name."""
    place = tmp_path_factory.mktemp("examples")
    write_examples(place)
    charts = {"scores": np.zeros((2, 3, 3, 2)), "lengths": np.array([3, 2]), "labels": np.array(["", "NP"])}
    for name in ("charts.npz", "charts2.npz"):
        np.savez(place / name, **charts)
    judgement = {"id": "1", "at": "2026-11-16T00:00:00.000000Z", "annotator": "anna", "role": "annotator", "verdict": "accepted"}
    bracket = {"kind": "CE", "label": "NP", "start": 0, "end": 1, "gold": "", "words": ["Rain", "fell"]}
    rest = {"note": "", "correction": False, "undoes": "", "blind": False}
    (place / "judgements.jsonl").write_text(json.dumps(judgement | bracket | rest) + "\n", "utf-8")
    for name in ("a", "b"):
        for number in range(1, 4):
            (place / f"{name}-{number}.mrg").write_text((place / f"{name.upper()}.mrg").read_text("utf-8"), "utf-8")
    (place / "documents.tsv").write_text("first\t1\t50\nsecond\t51\t103\n", "utf-8")
    (place / "weights.txt").write_text("NP 1\n", "utf-8")
    (place / "vectors.txt").write_text("2 3\nthe 0.1 -0.2 0.3\nrain 0.4 0.5 -0.6\n", "utf-8")
    if find_spec("transformers") is not None and find_spec("torch") is not None:
        save_encoder(place / "encoder")
    (place / "marked.txt").write_text("It PRP B-NP\nrained VBD B-VP\n\n", "utf-8")
    (place / "chunker.txt").write_text("It PRP B-NP\nrained VBD I-NP\n\n", "utf-8")
    (place / "probabilities.txt").write_text("NP 0 1 0.9\nVP 1 2 0.8\n\n", "utf-8")
    (place / "marks.txt").write_text("It B-NP=0.9 O=0.1\nrained B-VP=0.8 O=0.2\n\n", "utf-8")
    return place


def possible(line: str) -> bool:
    """Whether the extras that a line needs are installed."""
    return all(find_spec(package) is not None for words, package in EXTRAS.items() if words in line)


RUN = [line for line, _ in pages.commands(REFERENCE / "examples.md") if possible(line)]


def exit_code(line: str, folder: Path) -> int | str | None:
    """Run a line: in this process where possible, since there are many."""
    if pages.serves(line):
        return pages.serve(line, folder).code
    if not line.startswith("treegauge "):
        return pages.run(line, folder).code
    if INTERRUPTED in line:
        assert pages.interrupt(line.replace(" --resume", ""), folder).code == 130
    with pytest.raises(SystemExit) as left:
        main(shlex.split(line, comments=True)[1:])
    return left.value.code


@pytest.mark.slow
def test_the_examples_run(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """All of them in their order, since some write files that later ones read."""
    monkeypatch.chdir(folder)
    failed: list[str] = []
    for line in RUN:
        code = exit_code(line, folder)
        if code not in ((4,) if any(name in line for name in UNREADABLE) else (0, None)):
            failed.append(f"{line}\n  exit code {code}: {capsys.readouterr().err[-600:]}")
    assert not failed, "\n".join(failed)


def test_an_option_without_an_example_would_be_found() -> None:
    found = options(program.get_command(click.Context(program), "convert") or program)
    assert ("--to", "Output format; auto goes by the suffix.") in found
