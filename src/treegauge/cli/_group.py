"""The click group ``treegauge``: every command by name, imported only when it is called; and what all commands have.

``treegauge COMMAND --help`` explains the options that are used often and names the others: those for reading treebanks and for
clusters, which are the same in many commands, and those that a command declares as ``seldom`` used. ``treegauge help COMMAND``
explains every option.

A command refuses to overwrite a file that it reads, whatever its parameters are called: a parameter that names a file has the type
:data:`INPUT` if the file is read, and :data:`OUTPUT` if it is written. In the messages of the library it names an argument of
Python by its flag.
"""

from __future__ import annotations

import glob
import importlib
import inspect
import math
import os
import re
import shlex
import warnings
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, cast

import click

from treegauge import __version__
from treegauge.cli import COMMANDS, SECTIONS
from treegauge.errors import BracketError, FileNote, TreegaugeError, UnknownName, UsageError
from treegauge.tables import british, number_of

SHARED = "format_in", "encoding", "lines", "comment", "functions", "features", "attach_punctuation", "secondary", "field", "engine"
"""Options that are the same in many commands, and that ``--help`` does not explain."""

_ALL = "treegauge.every-option"
NO_SHARDS = (
    "runs are no longer cut into parts (--shard, --part, merge): use --engine with a Dask cluster\n"
    "  docs/howto/cluster.md shows how to start one inside a batch job, and how to split the input of parse.\n"
    "  Files of trees are joined by: treegauge convert A.mrg B.mrg -o ALL.mrg"
)


class _File(click.Path):
    """A path as it is given: whether it can be read or written is found out by reading or writing (exit code 3)."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(readable=False, **settings)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if "\0" in str(value) else super().convert(value, param, ctx)


class InputFile(_File):
    """A file, directory or glob that is read; a system may be NAME=FILE, a preset NAME+FILE, and ``-`` is standard input."""


class OutputFile(_File):
    """A file that is written, ``-`` being standard output; ``is_read``: what it holds already is read as well, as of a store."""

    def __init__(self, *, is_read: bool = False, **settings: Any) -> None:
        super().__init__(**settings)
        self.is_read = is_read


class SvgFile(OutputFile):
    """A picture that is written as SVG, whatever its name; a name that ends in another format's suffix is refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if str(value).lower().endswith((".png", ".pdf", ".jpg", ".jpeg", ".gif")):
            raise UsageError(f"{value}: the picture is written as SVG: name the file .svg")
        return super().convert(value, param, ctx)


INPUT = InputFile()
OUTPUT = OutputFile()


def protect_inputs(*further: str | os.PathLike[str]) -> None:
    """Raise an error if an output of the running command, or a ``further`` file that it writes, is one of its inputs, or if two are
    one file; names that differ in case only are one where folders ignore case.
    """
    ctx = click.get_current_context()
    outputs = [(given, path) for given in ctx.command.params if isinstance(given.type, OutputFile) for path in _paths(ctx, given)]
    for output, path in [*outputs, *((None, os.fspath(path)) for path in further)]:
        if path != "-" and os.path.exists(path) and any(_is_same_file(path, name) for name in input_files(but=output)):
            raise UsageError(f"{path} is an input of this command and would be overwritten: name another output file")
    places = [os.path.realpath(path).casefold() for _, path in outputs]
    for (_, path), place in zip(outputs, places, strict=True):
        if path != "-" and places.count(place) > 1 and (os.path.isfile(path) or not os.path.exists(path)):
            raise UsageError(f"two outputs of this command have the name {path}: name another file for one of them")


def _is_same_file(one: str, other: str) -> bool:
    """Whether two names, or links, are those of one file, even if it has a third name, too."""
    with suppress(OSError, ValueError):
        return os.path.samefile(one, other)
    return False


def input_files(but: click.Parameter | None = None) -> list[str]:
    """The names of all files that the running command reads, with the folders they are in, except those of one parameter."""
    from treegauge.io.sources import find_sources

    ctx, found = click.get_current_context(), list[str]()
    read = [given for given in ctx.command.params if given is not but and _is_read(given)]
    for name in filter(None, (name for given in read for path in _paths(ctx, given) for name in _names(path))):
        found.append(name)
        with suppress(TreegaugeError):
            found += [source.name for source in find_sources(name)]
    return found


def _is_read(parameter: click.Parameter) -> bool:
    kind: object = parameter.type
    return isinstance(kind, InputFile) or (isinstance(kind, OutputFile) and kind.is_read)


def _paths(ctx: click.Context, parameter: click.Parameter) -> Iterator[str]:
    value: object = ctx.params.get(parameter.name or "")
    for path in cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,):
        name = os.fspath(cast("str | os.PathLike[str]", path)) if isinstance(path, str | os.PathLike) else "\0"
        if "\0" not in name:  # what is no file's name is refused where it is opened
            yield name


def _names(given: str) -> tuple[str, ...]:
    """All that may be a file in the value of a parameter: the whole, FILE of NAME=FILE, its runs, and the parts of NAME+FILE."""
    value = given.partition("=")[2]
    return given, value, *run_files(given), *run_files(value), *given.split("+")


def run_files(given: str) -> list[str]:
    """The files of a system's runs, ``a.mrg,b.mrg`` or ``runs:GLOB``; none if it is a single file, folder or glob."""
    if os.path.exists(given) or ("," not in given and not given.startswith("runs:")):
        return []
    from treegauge.io.sources import find_sources

    if given.startswith("runs:"):
        return [source.name for source in find_sources(given.removeprefix("runs:"))]
    return [] if glob.glob(given) else _listed(given)


def _listed(given: str) -> list[str]:
    """The files of a list with commas between; the longest name that exists is one file, commas and all."""
    words, files = given.split(","), list[str]()
    while words:
        size = next((n for n in range(len(words), 1, -1) if os.path.exists(name := ",".join(words[:n])) or glob.glob(name)), 1)
        files.append(",".join(words[:size]))
        del words[:size]
    return [file for file in files if file]


_ARGUMENT = re.compile(r'\b([a-z][a-z_]*)=(?:"([^"\n]*)"|(True|False|\.\.\.|-?\d[\d.]*\b))')
_FLAGS = {"format": "--format-in"}
"""Flags of arguments that another flag has the name of."""
_OF_OTHERS = {"on_error": "of score and convert", "on_mismatch": "(in score)", "rates": "of score and compare"}
"""Arguments whose flags messages name in commands, too, that do not have them."""


def as_typed(text: str, context: click.Context | None = None) -> str:
    """A message in which ``match_words="case"`` is ``--match-words case``, if the running command has such a flag.

    >>> @click.command()
    ... @click.option("--match-words")
    ... @click.option("--encoding", metavar="NAME")
    ... @click.option("--resume", is_flag=True)
    ... def command(**_):
    ...     print(as_typed('give match_words="case", encoding=..., or resume=True; but lines=True stays'))
    >>> command(["--resume"], standalone_mode=False)
    give --match-words case, --encoding NAME, or --resume; but lines=True stays
    """
    context = context or click.get_current_context(silent=True)
    if context is None:
        return text
    flags = {flag: option for option in context.command.params if isinstance(option, click.Option) for flag in option.opts}
    names = {option.name: flag for flag, option in flags.items() if flag.startswith("--")}

    def typed(match: re.Match[str]) -> str:
        name, quoted, plain = match.groups()
        flag = _FLAGS.get(name, f"--{name.replace('_', '-')}")
        flag = flag if flag in flags or name in _FLAGS else names.get(name, "")
        if flag not in flags:
            return f"--{name.replace('_', '-')} {quoted} {_OF_OTHERS[name]}" if name in _OF_OTHERS else match[0]
        option = flags[flag]
        if option.is_flag:
            return option.secondary_opts[-1] if plain == "False" and option.secondary_opts else flag
        value = shlex.quote(quoted) if quoted is not None else plain
        return f"{flag} {option.make_metavar(context) if plain == '...' else value}"

    return _ARGUMENT.sub(typed, text)


class Command(click.Command):
    """A command that never overwrites a file that it reads, and names its own flags in the messages of the library.

    ``seldom`` are names of parameters that ``--help`` does not explain. The examples at the end of its docstring are shown last.
    """

    def __init__(self, *args: Any, seldom: Sequence[str] = (), **settings: Any) -> None:
        super().__init__(*args, **settings)
        about, title, examples = inspect.cleandoc(self.help or "").partition("\b\nExample")
        if title:
            self.help, self.epilog = about.rstrip(), title + examples
        self.seldom = frozenset((*SHARED, *seldom))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            rest = super().parse_args(ctx, args)
            _refuse_nan(ctx)
            return rest
        except click.NoSuchOption as error:
            import difflib

            from treegauge.cli._words import option_meant

            options = [option for option in self.params if isinstance(option, click.Option) and not option.hidden]
            known = [flag for option in options for flag in (*option.opts, *option.secondary_opts)]
            formats = [name for option in options if option.name == "form" for name in getattr(option.type, "choices", ())]
            if meant := option_meant(error.option_name, known, formats):
                raise UsageError(f"unknown option {error.option_name}: write {meant}") from None
            nearest = difflib.get_close_matches(error.option_name, known, n=1)
            raise click.NoSuchOption(error.option_name, possibilities=nearest, ctx=ctx) from None
        except click.BadParameter as error:
            from treegauge.cli._words import value_meant

            choices = getattr(error.param.type, "choices", ()) if error.param is not None else ()
            said = error.message.replace("valid integer range", "whole number").replace("valid float range", "number")
            if (said := said + value_meant(error.message, choices)) != error.message:
                raise click.BadParameter(said, ctx, error.param, error.param_hint) from None
            raise
        except click.UsageError as error:
            if "unexpected extra argument" in error.message and any(option.name == "output" for option in self.params):
                raise click.UsageError(f"{error.message}. Is it the output? Write -o FILE", ctx) from None
            raise

    def invoke(self, ctx: click.Context) -> Any:
        protect_inputs()
        try:
            with _notes_shown(ctx):
                return super().invoke(ctx)
        except TreegaugeError as error:
            if isinstance(error, BracketError) and os.path.isfile(error.path):
                error.advice += "\n  " + (_MENDING_HERE if "rejects" in ctx.params else _MENDING)
            error.rephrase(as_typed)
            raise
        except KeyboardInterrupt:
            kept = ctx.params.get("checkpoint") or f"{ctx.params.get('output')}.checkpoint"
            if "resume" in ctx.params and os.path.exists(kept):
                click.echo(f"treegauge: {kept} keeps what was done: the same command with --resume continues", err=True)
            raise

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Explain the options; those seldom used are only named, unless all are to be explained."""
        options = [option for option in self.get_params(ctx) if isinstance(option, click.Option)]
        named = [option.opts[-1] for option in options if option.name in self.seldom and not option.hidden]
        if ctx.meta.get(_ALL) or len(named) < _WORTH_HIDING:
            named = []
        with formatter.section("Options"):
            explained = [option.get_help_record(ctx) for option in options if option.opts[-1] not in named]
            formatter.write_dl([record for record in explained if record is not None])
        if named:
            formatter.write_paragraph()
            formatter.write_text(f"Also: {', '.join(named)}")
            formatter.write_text(f"All options are explained by: treegauge help {ctx.command_path.removeprefix('treegauge ')}")


_MENDING = "treegauge convert FILE --on-error repair -o MENDED mends what can be mended; treegauge validate FILE lists all errors."
_MENDING_HERE = "--on-error repair mends what can be mended, --on-error skip does without it; treegauge validate lists all errors."


def _refuse_nan(ctx: click.Context) -> None:
    """Raise an error for numbers that are not finite where a range of numbers is expected: nan is in every range of click."""
    ranged = [each for each in ctx.command.params if isinstance(each, click.Option) and isinstance(each.type, click.FloatRange)]
    for option in ranged:
        given: Any = ctx.params.get(option.name or "")
        for number in given if option.multiple else [given]:
            if isinstance(number, float) and not math.isfinite(number):
                raise click.BadParameter(f"{number} is not a finite number.", ctx, option)


_WORTH_HIDING = 3
"""The least number of options that are named rather than explained: fewer take no more lines."""


@contextmanager
def _notes_shown(context: click.Context) -> Generator[None]:
    """A context in which notes on files are listed on stderr: the first few files with the same note, then their number."""
    files: dict[str, set[str]] = {}
    show = warnings.showwarning

    def show_note(message: Warning | str, *details: Any, **more: Any) -> None:
        if not isinstance(message, FileNote):
            show(message, *details, **more)
        elif not context.params.get("quiet"):
            known = files.setdefault(message.what, set())
            if message.path not in known and len(known) < _MOST_FILES:
                click.echo(f"treegauge: {message.path}: {as_typed(message.what, context)}", err=True)
            known.add(message.path)

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", FileNote)
            warnings.showwarning = show_note
            yield
    finally:
        for what, known in files.items():
            if len(known) > _MOST_FILES:
                rest = number_of(len(known) - _MOST_FILES, "file")
                click.echo(f"treegauge: {rest} more: {as_typed(what, context)}", err=True)


_MOST_FILES = 3


def full_help(command: click.Command, path: str, *, every: bool = True) -> str:
    """The help of a command as it is typed, with an explanation of every option; of the group, with every command."""
    context = click.Context(command, info_name=path, max_content_width=110, help_option_names=["-h", "--help"])
    context.meta[_ALL] = every
    return command.get_help(context)


_SHARING = {"cite": "explain", "completion": "help", "draw": "diff", "examples": "demo", "treebanks": "explain"}
"""Short commands that stand in the module of another, under their own names."""


class LazyGroup(click.Group):
    """A click group that lists its commands with their help without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if not (name := _known_name(cmd_name)):
            return None
        module = importlib.import_module(f"treegauge.cli.{_SHARING.get(name, name).replace('-', '_')}")
        return getattr(module, name) if name in _SHARING else module.command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args[:1] == ["merge"]:
            raise UsageError(NO_SHARDS)
        if args and not _known_name(args[0]) and not args[0].startswith("-"):
            raise unknown_command(args[0], COMMANDS, args)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, commands in (SECTIONS if ctx.meta.get(_ALL) else {"Commands": _BY_TASK}).items():
            with formatter.section(title):
                formatter.write_dl(list(commands.items()))


_BY_TASK = {
    "score GOLD TEST": "Score a parser.",
    "compare GOLD A B": "Is parser B better than parser A?",
    "diff GOLD TEST": "Draw what a parser gets wrong.",
    "validate FILE...": "Find the errors of a treebank.",
    "train TREES -o MODEL": "Train a parser.",
    "parse MODEL FILE": "Parse sentences or raw text.",
}


_FURTHER = """\b
A tour in a minute:  treegauge demo
All commands:        treegauge help --all
Options of one:      treegauge score --help"""


def unknown_command(word: str, known: Iterable[str], args: Sequence[str] = ()) -> UnknownName:
    """The error for a word that is no command: it says what to type instead, as far as that is known; of files, their score."""
    from treegauge.cli._words import command_meant

    name = "score" if len(args) > 1 else "validate"
    meant = f"treegauge {name} {shlex.join(args)}" if args and os.path.isfile(word) else command_meant(word)
    return UnknownName("command", word, known, hint=f"type: {meant}" if meant else "")


def _known_name(word: str) -> str:
    """The name of the command that a word means, in British or American spelling; empty if there is none."""
    return next((each for each in (word, british(word)) if each in COMMANDS), "")


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110, "token_normalize_func": british},
    epilog=_FURTHER,
)
@click.version_option(__version__, "-V", "--version", prog_name="treegauge")
def treegauge() -> None:
    """Score constituency parsers, test differences, decode for the metric you report."""
