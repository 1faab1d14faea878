"""No command writes over one of its inputs, whatever name the output has."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from treegauge import io
from treegauge.cli import main
from treegauge.cli._group import INPUT, OUTPUT, Command, InputFile, OutputFile, treegauge
from treegauge.data import own_treebank
from treegauge.humancheck.store import Store

# For each option that names an output: a command line in which OUT is the output, and the input that it must not be.
LINES = {
    ("report", "output"): ("report gold.mrg test.mrg -o OUT", "test.mrg"),
    ("report", "figures"): ("report gold.mrg x=figures/rates.svg --figures figures", "figures/rates.svg"),
    ("diff", "output"): ("diff gold.mrg test.mrg -o OUT", "gold.mrg"),
    ("draw", "output"): ("draw gold.mrg -o OUT", "gold.mrg"),
    ("compare", "figure"): ("compare gold.mrg test.mrg also=other.mrg --figure OUT", "other.mrg"),
    ("compare", "output"): ("compare gold.mrg test.mrg also=other.mrg -o OUT", "other.mrg"),
    ("check", "store"): ("check gold.mrg test.mrg --store OUT", "test.mrg"),
    ("check", "export"): ("check --store s.sqlite --export OUT", "s.sqlite"),
    ("check", "corrected"): ("check gold.mrg test.mrg --store s.sqlite --corrected OUT", "gold.mrg"),
    ("check", "patch"): ("check gold.mrg test.mrg --store s.sqlite --patch OUT", "gold.mrg"),
    ("freval", "figures"): ("freval gold.mrg x=figures/f1_by_size.csv --figures figures", "figures/f1_by_size.csv"),
    ("score", "save"): ("score gold.mrg test.mrg --save OUT", "gold.mrg"),
    ("score", "output"): ("score gold.mrg test.mrg -o OUT", "gold.mrg"),
    ("convert", "output"): ("convert gold.mrg -o OUT", "gold.mrg"),
    ("convert", "rejects"): ("convert gold.mrg --on-error skip --rejects OUT", "gold.mrg"),
    ("normalise", "rejects"): ("normalise --steps traces gold.mrg --on-error skip --rejects OUT", "gold.mrg"),
    ("induce", "rejects"): ("induce gold.mrg --on-error skip --rejects OUT", "gold.mrg"),
    ("train", "rejects"): ("train gold.mrg -o new.model --on-error skip --rejects OUT", "gold.mrg"),
    ("normalise", "output"): ("normalise --steps traces gold.mrg -o OUT", "gold.mrg"),
    ("induce", "output"): ("induce gold.mrg -o OUT", "gold.mrg"),
    ("parse", "output"): ("parse own words.txt -o OUT", "words.txt"),
    ("posteriors", "svg"): ("posteriors own words.txt --svg OUT", "words.txt"),
    ("learn", "output"): ("learn gold.mrg -o OUT", "gold.mrg"),
    ("learn", "checkpoint"): ("learn gold.mrg -o new.model --checkpoint OUT", "gold.mrg"),
    ("chunks train", "output"): ("chunks train gold.mrg gold.mrg -o OUT", "gold.mrg"),
    ("chunks entropy", "blame_file"): ("chunks entropy gold.mrg test.mrg --blame-figure OUT", "test.mrg"),
    ("train", "output"): ("train gold.mrg -o OUT", "gold.mrg"),
    ("train", "checkpoint"): ("train gold.mrg -o new.model --checkpoint OUT", "gold.mrg"),
    ("train", "svg"): ("train gold.mrg --show --svg OUT", "gold.mrg"),
    ("decode", "output"): ("decode gold.mrg -o OUT", "gold.mrg"),
    ("mix", "output"): ("mix own own --tune gold.mrg -o OUT", "gold.mrg"),
    ("consensus", "output"): ("consensus gold.mrg test.mrg -o OUT", "test.mrg"),
    ("reproduce", "output"): ("reproduce abney-tables report/abney-tables.json -o report", "report/abney-tables.json"),
}
OTHER_INPUTS = {
    "report's store": ("report gold.mrg test.mrg --store s.sqlite -o OUT", "s.sqlite"),
    "compare's store": ("compare gold.mrg test.mrg other.mrg --store s.sqlite --figure OUT", "s.sqlite"),
    "report's grammar": ("report gold.mrg test.mrg --grammar words.txt -o OUT", "words.txt"),
    "a preset": ("score gold.mrg test.mrg -p words.txt -o OUT", "words.txt"),
    "a preset with another": ("diff gold.mrg test.mrg -p default+words.txt -o OUT", "words.txt"),
    "guidelines": ("check gold.mrg test.mrg --store s.sqlite --guidelines words.txt --patch OUT", "words.txt"),
}


def output_options(command: click.Command, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(command, click.Group):
        context = click.Context(command)
        for inner in command.list_commands(context):
            found = command.get_command(context, inner)
            assert found is not None
            yield from output_options(found, f"{name} {inner}".strip())
    else:
        yield from ((name, option.name or "") for option in command.params if isinstance(option.type, OutputFile))


DEFINED = {
    (name.partition(" ")[0] if name.startswith("reproduce") else name, option) for name, option in output_options(treegauge, "")
}


def test_every_option_that_names_an_output_is_tried() -> None:
    assert set(LINES) == DEFINED


def all_commands(command: click.Command) -> Iterator[click.Command]:
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from all_commands(found)
    yield command


FILES = re.compile(
    r"FILE|OUT\b|IN\.\.\.|TREES|GOLD|TEST|MODEL|GRAMMAR|WEIGHTS|FOLDER|DIR|PART|json|treebank|brackets|charts|first|second"
)


def test_every_parameter_that_names_a_file_has_a_type_of_files() -> None:
    """A name of a file is recognised by what the help calls it; the types are what protects."""
    named, untyped = 0, list[str]()
    for command in all_commands(treegauge):
        for given in command.params:
            shown = given.metavar or ("" if isinstance(given, click.Option) else given.name or "")
            if FILES.search(shown) and given.name not in ("folder", "alpha"):
                named += 1
                untyped += [] if isinstance(given.type, InputFile | OutputFile) else [f"{command.name}: {given.name} ({shown})"]
    assert named > 70
    assert not untyped


@click.command("tried", cls=Command)
@click.argument("sources", nargs=-1, type=INPUT)
@click.option("--rules", type=INPUT)
@click.option("--log", type=OUTPUT)
@click.option("--state", type=OutputFile(is_read=True))
def tried(sources: tuple[str, ...], rules: str | None, log: str | None, state: str | None) -> None:
    """A command that writes a log."""
    if log is not None and log != "-":
        Path(log).write_text("written")


@pytest.mark.parametrize(
    ("line", "is_refused"),
    [
        ("a.mrg --log a.mrg", True),
        ("a.mrg b.mrg --log b.mrg", True),
        ("name=a.mrg --log a.mrg", True),
        ("b.mrg --rules collins+a.mrg --log a.mrg", True),
        ("folder --log folder/c.mrg.gz", True),
        ("'*.mrg' --log b.mrg", True),
        ("a.mrg --log folder/../a.mrg", True),
        ("a.mrg --state b.mrg --log b.mrg", True),
        ("a.mrg --state a.mrg", True),
        ("a.mrg --log b.mrg", False),
        ("a.mrg --log new.log", False),
        ("a.mrg --log a.log", False),
        ("- --log -", False),
        ("a.mrg --log -", False),
        ("b=b.mrg --state s --log a.mrg", False),
        ("folder --log c.mrg.gz", False),
    ],
)
def test_an_option_of_any_name_is_safe(line: str, is_refused: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new option that writes a file is protected by its type alone, and by nothing else."""
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    for file in ("a.mrg", "b.mrg", "folder/c.mrg.gz"):
        io.write(own_treebank("dev")[:1], file)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}
    result = CliRunner().invoke(tried, shlex.split(line))
    assert ("would be overwritten" in str(result.exception)) == is_refused
    if is_refused:
        assert {path: path.read_bytes() for path in tmp_path.rglob("*.*")} == before
    else:
        assert result.exit_code == 0


# An export has a suffix of its own, so it cannot have the name of its input.
TRIED = [(*option, link) for option in sorted(set(LINES) & DEFINED) for link in ("same", "symbolic", "hard")]
TRIED.remove(("check", "export", "same"))


@pytest.mark.parametrize("line", OTHER_INPUTS)
def test_stores_presets_and_grammars_are_inputs_too(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for file in ("gold.mrg", "test.mrg", "other.mrg"):
        io.write(own_treebank("dev")[:3], file)
    Path("words.txt").write_text("rain fell\n")
    Store("s.sqlite").close()
    text, name = OTHER_INPUTS[line]
    before = Path(name).read_bytes()
    with pytest.raises(SystemExit) as stop:
        main(shlex.split(text.replace("OUT", name)))
    assert stop.value.code == 2
    assert "is an input of this command and would be overwritten" in capfd.readouterr().err
    assert Path(name).read_bytes() == before


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("score gold.mrg gold.mrg -o new --save ./new", "./new"),
        ("score gold.mrg gold.mrg -o new --save NEW", "NEW"),
        ("convert gold.mrg -o new.mrg --on-error skip --rejects New.mrg", "New.mrg"),
        ("report gold.mrg gold.mrg -o new --figures new", "new"),
    ],
)
def test_two_outputs_are_two_files_on_every_system(
    line: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """One would be lost, with names that differ in case only where folders ignore case."""
    monkeypatch.chdir(tmp_path)
    io.write(own_treebank("dev")[:3], "gold.mrg")
    with pytest.raises(SystemExit) as stop:
        main(shlex.split(line))
    assert stop.value.code == 2
    said = capfd.readouterr().err
    assert "two outputs of this command have the name" in said
    assert name.lower() in said.lower()
    assert os.listdir() == ["gold.mrg"]


def test_what_is_no_file_takes_several_outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    io.write(own_treebank("dev")[:3], "gold.mrg")
    with pytest.raises(SystemExit) as stop:
        main(shlex.split(f"convert gold.mrg -o {os.devnull} --on-error skip --rejects {os.devnull}"))
    assert not stop.value.code


@pytest.mark.parametrize("tried", TRIED, ids=" ".join)
@pytest.mark.posix
def test_an_input_is_never_overwritten(
    tried: tuple[str, str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    *option, link = tried
    line, name = LINES[option[0], option[1]]
    for folder in ("figures", "report"):
        (tmp_path / folder).mkdir()
    trees = own_treebank("dev")[:3]
    for file in ("gold.mrg", "test.mrg", "other.mrg", "figures/f1_by_size.csv", "figures/rates.svg", "report/abney-tables.json"):
        io.write(trees, tmp_path / file, "bracketed")
    (tmp_path / "words.txt").write_text("rain fell\n")
    Store(tmp_path / "s.sqlite").close()
    before = (tmp_path / name).read_bytes()
    out = name
    if "OUT" in line and link != "same":
        suffix = ".csv" if option == ["check", "export"] else Path(name).suffix
        out = f"link{suffix}"
        (os.symlink if link == "symbolic" else os.link)(name, out)
    with pytest.raises(SystemExit) as stop:
        main(shlex.split(line.replace("OUT", out)))
    assert stop.value.code == 2
    assert "is an input of this command and would be overwritten" in capfd.readouterr().err
    assert (tmp_path / name).read_bytes() == before
