"""Options that several commands share, as decorators; the names and files given on the command line; and progress on stderr.

A command with ``@reading_options`` gets the keyword argument ``options``, a :class:`~treegauge.io.sources.ReadOptions`; one with
``@stream_option`` gets ``stream``, a bool; one with ``@engine_option`` the opened ``engine``; and so on.
"""

from __future__ import annotations

import functools
import glob
import os
import re
import sys
import time
import warnings
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TextIO

import click

from treegauge.alignment.words import MATCH_WORDS
from treegauge.cli._group import INPUT, NO_SHARDS, OUTPUT, as_typed, input_files, protect_inputs, run_files
from treegauge.engines import Engine, open_engine, usable_processors
from treegauge.errors import FileNote, InputError, MismatchError, UsageError
from treegauge.io.formats import READABLE
from treegauge.io.sources import AUTO, ON_ERROR, ReadOptions, Source
from treegauge.presets.treebanks import TREEBANKS
from treegauge.tables import Table, render, whole_number

if TYPE_CHECKING:
    from pathlib import Path

    from rich.progress import Progress

    from treegauge.alignment.notes import Note
    from treegauge.reports.figures import Figure

Function = Callable[..., Any]
Decorator = Callable[[Function], Function]


def refuse_idle(names: Collection[str], advice: str) -> None:
    """Refuse the options of these parameters of the running command if they were given: here they would do nothing."""
    context = click.get_current_context()
    for each in context.command.params:
        if each.name in names and context.get_parameter_source(each.name or "") is click.core.ParameterSource.COMMANDLINE:
            raise UsageError(f"{each.opts[-1]} {advice}")


def reading_options(command: Function) -> Function:
    """Add the options for reading treebanks; the command gets ``options: ReadOptions``."""

    @functools.wraps(command)
    def with_options(*args: Any, format_in: str, encoding: tuple[str, ...], style: str, **others: Any) -> Any:
        for part in encoding:
            if "=" in part and all(ReadOptions(encoding=part).encoding_of(name) == AUTO for name in input_files()):
                warnings.warn(FileNote(f"--encoding {part}", "no effect: no file name matches"), stacklevel=2)
        reading = {name: others.pop(name) for name in ("lines", "comment", "functions", "attach_punctuation", "secondary", "field")}
        reading |= {"encoding": ",".join(encoding) or AUTO, "features": bool(others.pop("features")), "treebank": style}
        return command(*args, options=ReadOptions(format_in, **reading), **others)

    for add in reversed(_READING):
        with_options = add(with_options)
    return treebank_option(with_options)


def reading_both_options(command: Function) -> Function:
    """Add the options for reading a treebank and test trees: :func:`reading_options` and ``--on-error``."""

    @functools.wraps(command)
    def with_options(*args: Any, options: ReadOptions, on_error: str, **others: Any) -> Any:
        return command(*args, options=replace(options, on_error=on_error), **others)

    choice = click.option("--on-error", type=click.Choice(ON_ERROR[:3]), default=ON_ERROR[0], show_default=True, metavar="HOW",
                          help="If a test tree cannot be read: parse-fails (count it as a sentence without a parse), stop, or "
                          "repair (as far as possible).")  # fmt: skip
    return reading_options(choice(with_options))


def broken_trees_options(*, drop: bool) -> Decorator:
    """Add ``--on-error`` and ``--rejects`` for the trees of a treebank; the command gets ``broken: BrokenTrees``.

    ``drop``: also add ``--drop`` and ``-q``; otherwise broken trees are always left out. After the command, broken trees are
    listed, and the exit code is 4.
    """
    fails = ("parse-fails", "skip") if drop else ("skip",)
    consequence = "write () in its place" if drop else "leave it out"

    def add(command: Function) -> Function:
        @functools.wraps(command)
        def with_options(*args: Any, options: ReadOptions, on_error: str, rejects: str | None, **others: Any) -> Any:
            from treegauge.io.broken import BrokenTrees
            from treegauge.io.writing import write_bytes

            dropped = others.pop("drop", None)
            listed = not drop or not others.pop("quiet")
            if on_error == "stop" and (rejects is not None or dropped):
                raise UsageError("--rejects and --drop apply only if broken trees do not stop the command: add --on-error skip")
            broken = BrokenTrees(drop=dropped is not False)
            result = command(*args, options=replace(options, on_error=on_error), broken=broken, **others)
            if rejects is not None:
                write_bytes(broken.rejected, rejects)
            for line in broken.lines() if listed else ():
                click.echo(as_typed(line), err=True)
            if broken.problems:
                raise MismatchError(broken.summary)
            return result

        how = f"If a tree cannot be read: stop, {' or '.join(fails)} ({consequence}), or repair (as far as possible)."
        choice = click.Choice(["stop", *fails, "repair"])
        policy = click.option("--on-error", type=choice, default="stop", show_default=True, metavar="HOW", help=how)
        kept = click.option("--rejects", type=OUTPUT, metavar="FILE", help="--on-error: write the text of broken trees to a file.")
        if not drop:
            return policy(kept(with_options))
        left_out = click.option("--drop", is_flag=True, help="--on-error: leave broken trees out.")
        quiet = click.option("-q", "--quiet", is_flag=True, help="List no trees and print no remarks on stderr.")
        return policy(left_out(kept(quiet(with_options))))

    return add


def remark(line: str) -> None:
    """Print a remark on stderr, unless --quiet."""
    if not click.get_current_context().params.get("quiet"):
        click.echo(f"treegauge: {line}", err=True)


_ON_MISMATCH = {
    "align": "align (count its gold brackets as missed)",
    "error": "error (stop)",
    "skip": "skip (leave it out)",
    "skip-for-all": "skip (leave it out for all systems)",
    "edit": "edit (align its words by edit distance)",
    "evalb": "evalb (do as EVALB does)",
}


def on_mismatch_option(*policies: str, for_all: bool = False) -> Decorator:
    """Add ``--on-mismatch`` with these policies; the command gets ``on_mismatch: str``.

    ``for_all``: a sentence that one system skips is left out for all systems.
    """
    *first, last = (_ON_MISMATCH["skip-for-all" if for_all and policy == "skip" else policy] for policy in policies)
    how = f"If a sentence's words differ from the treebank's, or it has no parse: {', '.join(first)}, or {last}."
    return click.option("--on-mismatch", type=click.Choice(policies), default="align", show_default=True, metavar="HOW", help=how)


match_words_option = click.option(
    "--match-words", type=click.Choice(MATCH_WORDS), default=MATCH_WORDS[0], show_default=True, metavar="HOW",
    help="Which words count as the same: exact (except for escapes and quotes), case (ignore capitals), loose (ignore also "
    "Unicode normal form, spacing, all quotes and escapes; <unk> is any word), or length (any word; only lengths are compared).",
)  # fmt: skip
"""Adds ``--match-words``; the command gets ``match_words: str``."""


def _or_empty(context: click.Context, parameter: click.Parameter, value: str | None) -> str:
    """The value of an option; empty if it is not given."""
    return value or ""


treebank_option = click.option(
    "--treebank", "style", type=click.Choice(list(TREEBANKS)), callback=_or_empty, metavar="NAME",
    help="Treebank whose file style and conventions (tags of punctuation, traces, roots) apply, such as ctb or icepahc; see: "
    "treegauge treebanks.  [default: ptb]",
)  # fmt: skip
"""Adds ``--treebank``; the command gets ``style: str``, empty if it is not given."""


def cutoff_option(text: str) -> Decorator:
    """Add ``--cutoff``; the command gets ``cutoff: int | None``."""

    def only(context: click.Context, parameter: click.Parameter, values: tuple[int, ...]) -> int | None:
        if len(values) > 1:
            raise UsageError("--cutoff is given twice: run the command once for each length; --by-length steps by ten")
        return values[0] if values else None

    return click.option("--cutoff", type=click.IntRange(0), multiple=True, callback=only, metavar="N", help=text)


def output_option(text: str, default: str | None = "-", *, metavar: str = "FILE", show_default: bool = False) -> Decorator:
    """Add ``-o``; the command gets ``output: str``, or None if it is not given and has no default."""
    return click.option("-o", "--output", type=OUTPUT, default=default, show_default=show_default, metavar=metavar, help=text)


hold_out_option = click.option(
    "--hold-out", type=click.FloatRange(0, 1, max_open=True), default=0.0, metavar="SHARE",
    help="Leave out this share of the trees, chosen by their words: the same ones for every model and seed.",
)  # fmt: skip

TABLES = ("table", "json", "csv", "markdown", "latex")
RATE_TABLES = (*TABLES, "html")
"""The formats of a command that prints tables, the second with tables of rates."""
_WRITTEN = ("json", "jsonl", "csv", "html", "svg", "png", "pdf", "jpg", "jpeg", "gif", "bmp", "tiff", "webp", "eps", "ps")
_BY_SUFFIX = {f".{form}": form for form in _WRITTEN} | {".md": "markdown", ".tex": "latex", ".htm": "html"}


def format_option(
    formats: Iterable[str] = TABLES, text: str = "Output format.", *, by_suffix: bool = False, metavar: str | None = None
) -> Decorator:
    """Add ``--format``; the command gets ``form: str``: by default the first, or ``by_suffix`` of ``-o`` the one of that suffix."""
    known = list(formats)

    def form(context: click.Context, _: click.Parameter, value: str | None) -> str:
        output = context.params.get("output") if by_suffix else None
        suffix = Source(output or "-").suffix
        found = value or _BY_SUFFIX.get(suffix, known[0])
        if found not in known:
            raise UsageError(f"-o {output}: there is no format for the suffix {suffix}; there are: {', '.join(known)}")
        return found

    shown = f"{text}  [default: {'by the suffix of -o, or ' * by_suffix}{known[0]}]"
    return click.option("--format", "form", type=click.Choice(known), default=None, callback=form, metavar=metavar, help=shown)


def preset_option(text: str = "Which brackets and words count.", default: str | None = None) -> Decorator:
    """Add ``-p``; the command gets ``preset: str``, or None if it is not given and has no default."""
    shown = default is not None
    return click.option("-p", "--preset", type=INPUT, default=default, show_default=shown, metavar="NAME|FILE", help=text)


def counting_options(preset: Decorator, *policies: str, for_all: bool = False) -> Decorator:
    """Add the options on what counts: ``-p``, ``--on-mismatch`` if there are policies, and ``--match-words``."""

    def add(command: Function) -> Function:
        command = match_words_option(command)
        if policies:
            command = on_mismatch_option(*policies, for_all=for_all)(command)
        return preset(command)

    return add


def comparing_options(command: Function) -> Function:
    """Add the options on what counts if systems are compared."""
    text = "Which brackets and words count. Default: each metric's own, see `treegauge score --list`."
    return counting_options(preset_option(text), "align", "skip", "error", "edit", for_all=True)(command)


def resampling_options(command: Function) -> Function:
    """Add ``--rounds``, ``--seed`` and ``--level``, of tests and confidence intervals."""
    rounds = click.option("--rounds", metavar="N", type=click.IntRange(1), default=10_000, show_default=True,
                          help="Random swaps for the tests, and bootstrap samples for the intervals.")  # fmt: skip
    seed = click.option("--seed", metavar="N", type=click.IntRange(0), default=1, show_default=True, help="Random seed.")
    level = click.option("--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95, show_default=True,
                         metavar="LEVEL", help="Level of the confidence intervals.")  # fmt: skip
    return rounds(seed(level(command)))


def paper_options(command: Function) -> Function:
    """Add the options of the table in a paper, ``--rows``, ``--published``, ``--digits`` and ``--fraction``."""
    rows = click.option("--rows", type=click.Choice(["systems", "rates"]), default=None,
                        help="One row per system or per rate.  [default: systems in latex, markdown and html]")  # fmt: skip
    published = click.option("--published", multiple=True, metavar="NAME=RATE:VALUE,...",
                             help="A row of published percentages, marked as not tested, as in 'Berkeley=f1:82.5', or with one "
                             "value or none for each of --rates, as in 'Berkeley=,,82.5'; may be given several times.")  # fmt: skip
    digits = click.option("--digits", type=click.IntRange(0, 12), default=None, metavar="N",
                          help="Digits after the point.  [default: 2, for fractions 4]")  # fmt: skip
    percent = click.option(
        "--percent/--fraction", default=True, show_default=True, help="Rates as percentages or as fractions of 1."
    )
    return rows(published(digits(percent(command))))


def rows_are_systems(chosen: Mapping[str, Any]) -> bool:
    """Whether the table has one row per system: if that is asked for, or by default in formats for papers."""
    found = (chosen["rows"] or ("systems" if chosen["form"] in ("latex", "markdown", "html") else "rates")) == "systems"
    if chosen["published"] and not found:
        raise UsageError("--published adds a row to a table with one row per system: give --rows systems or --format latex")
    return found


def render_rates(table: Table, chosen: Mapping[str, Any]) -> str:
    """A table in the chosen format, with percentages or fractions, and a number of digits."""

    shown = table if chosen["percent"] else replace(table, percent=())
    digits = (2 if chosen["percent"] else 4) if chosen["digits"] is None else chosen["digits"]
    return render(shown, chosen["form"], digits=digits)


def list_notes(notes: Mapping[str, Sequence[Note]]) -> list[str]:
    """List on stderr the notes on each system's sentences; returns the lines of an error if there should be one."""
    from treegauge.reports.scores import listed_notes, misfits_in

    for line in listed_notes(notes):
        click.echo(as_typed(line), err=True)
    return misfits_in(notes)


def report_problems(notes: Mapping[str, Sequence[Note]]) -> None:
    """List the notes on each system's sentences; exit code 4 if trees cannot be read, or sentences are missing or too many."""
    if lines := list_notes(notes):
        raise MismatchError("\ntreegauge: ".join(lines))


def write_figures(figures: Sequence[Figure], folder: Path, *forms: str) -> None:
    """Write figures into a folder, each in these formats, and its data beside the first; stderr names the files."""
    from treegauge.reports.plots import write_figure

    folder.mkdir(parents=True, exist_ok=True)
    protect_inputs(*(folder / f"{figure.name}.{form}" for figure in figures for form in (*forms, "csv")))
    for figure in figures:
        for form in forms:
            for path in write_figure(figure, folder / f"{figure.name}.{form}", data=form == forms[0]):
                click.echo(f"wrote {path}", err=True)


def prints_unicode(stream: TextIO) -> bool:
    """Whether the encoding of a stream has the characters that trees are drawn with."""
    try:
        "│─✓△".encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _number_or_auto(context: click.Context, parameter: click.Parameter, value: str) -> int:
    """The number of jobs that an option's value names; 0 for ``auto``."""
    if value == "auto":
        return 0
    jobs = whole_number(value)
    if not jobs:
        raise click.BadParameter(f"{value[:40]!r} is neither auto nor a positive number.", context, parameter)
    return jobs


def jobs_option(what: str) -> Decorator:
    """Add ``--jobs``, whose help begins with ``what``; the command gets ``jobs: int``, 0 for auto (:func:`number_of_jobs`)."""
    words = f"{what}; auto: one for each processor. Does not change the result."
    return click.option("--jobs", callback=_number_or_auto, default="auto", show_default=True, metavar="N", help=words)


def device_option(what: str) -> Decorator:
    """Add ``--device``, whose help begins with ``what``; the command gets ``device: str``."""
    words = f"{what}; auto: a GPU if torch can use one."
    return click.option("--device", type=click.Choice(["auto", "cpu", "cuda"]), default="auto", show_default=True, help=words)


def number_of_jobs(jobs: int, engine: Engine) -> int:
    """The number of jobs: the one given or, for auto, one per processor, but one in all if an engine distributes the work."""
    return jobs or (usable_processors() if engine.in_process else 1)


stream_option = click.option("--stream", is_flag=True, help="Read the files block by block, in constant memory.")
"""Adds ``--stream``; the command gets ``stream: bool``."""


_READING = (
    click.option("--format-in", type=click.Choice(["auto", *READABLE]), default="auto", show_default=True,
                 help="Input format; auto detects it from the file's suffix, then from its content."),
    click.option("--encoding", multiple=True, metavar="[PATTERN=]NAME",
                 help="Encoding of the input, for example latin-1, or of files whose name matches, 'old/*=latin-1'; can be "
                 "repeated.  [default: UTF-8; UTF-16 or Windows-1252 (Latin-1) if detected]"),
    click.option("--lines", is_flag=True, help="Bracketed text: each line is one sentence, so a blank line is an empty parse and "
                 "several trees on a line are one."),
    click.option("--comment", default="", metavar="PREFIX",
                 help="Skip lines that begin with PREFIX (bracketed text and CoNLL-2000)."),
    click.option("--functions/--no-functions", default=True, show_default=True,
                 help="Export and TIGER-XML: add grammatical functions to the labels, as in NP-SB."),
    click.option("--features/--no-features", default=None,
                 help="Export, TIGER-XML, Alpino XML, treebanks with lemmas: add lemmas and morphology to the labels as SPMRL "
                 "features, as in NN##lem=Haus##.  [default: only in convert, to formats with a place for them]"),
    click.option("--attach-punctuation", is_flag=True,
                 help="Export, TIGER-XML and Alpino XML: attach punctuation under the root to the constituent around it."),
    click.option("--secondary", is_flag=True,
                 help="Export, TIGER-XML and Alpino XML: keep secondary edges, which are further parents, as in NP##sec=SB:1##."),
    click.option("--field", default="", metavar="NAME",
                 help="JSON lines: the field with the tree, as in parse or choices.0.text; with a GOLD, that of TEST."),
)  # fmt: skip


def engine_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--engine``, and refuse ``--shard`` and ``--part``, which earlier releases had."""

    @functools.wraps(command)
    def with_engine(*args: Any, engine: str, shard: str | None, part: str | None, **others: Any) -> Any:
        if shard is not None or part is not None:
            raise UsageError(NO_SHARDS)
        with closing(_EngineWithProgress(open_engine(engine))) as opened:
            return command(*args, engine=opened, **others)

    return _ENGINE(click.option("--shard", hidden=True)(click.option("--part", hidden=True)(with_engine)))


_ENGINE = click.option(
    "--engine", default="local", show_default=True, metavar="NAME",
    help="Where the work runs: local (this process), local:N (N processes), dask (a cluster on this machine) or "
    "dask:tcp://HOST:PORT. Does not change the result.",
)  # fmt: skip


class _EngineWithProgress(Engine):
    """An engine with a progress bar over its blocks."""

    def __init__(self, engine: Engine) -> None:
        self._engine, self.in_process = engine, engine.in_process

    def map(self, function: Callable[[Any, Any], Any], shared: Any, items: Iterable[Any], *, title: str = "") -> Iterator[Any]:
        results = self._engine.map(function, shared, items, title=title)
        return results if self._engine.in_process or not title else _with_progress(results, items, title)

    def close(self) -> None:
        self._engine.close()


def _with_progress(results: Iterator[Any], items: Iterable[Any], title: str) -> Iterator[Any]:
    with progress(title, len(items) if isinstance(items, list | tuple) else None, unit="blocks") as advance:
        for result in results:
            yield result
            advance()


_SECONDS_BEFORE_BAR = 1.0


@contextmanager
def progress(title: str, total: int | None, unit: str = "sentences") -> Generator[Callable[..., None]]:
    """A progress bar (by rich) over ``total`` units of work, None if their number is not known; it is shown after a second.

    Yields the function to call after each unit, or with a number after several.
    """
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    with ExitStack() as shown:
        bar: Progress | None = None
        done, began = 0, time.monotonic()

        def advance(count: int = 1) -> None:
            nonlocal bar, done
            done += count
            if bar is None and time.monotonic() - began > _SECONDS_BEFORE_BAR:
                bar = shown.enter_context(_progress_bar(unit))
                bar.add_task(title, total=total)
            if bar is not None:
                bar.update(bar.task_ids[0], completed=done)

        yield advance


def _progress_bar(unit: str) -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), unit, TimeRemainingColumn())
    # Trees that are written meanwhile belong on standard output.
    return Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False)


@contextmanager
def status_line(*, quiet: bool) -> Generator[Callable[[str], None]]:
    """Yields a function that shows how far a long computation is: on a terminal its line replaces the last one."""
    if quiet:
        yield lambda line: None
    elif not sys.stderr.isatty():
        yield lambda line: click.echo(line, err=True)
    else:
        from rich.console import Console
        from rich.text import Text

        with Console(stderr=True).status("") as status:
            yield lambda line: status.update(Text(line))


def named_systems(paths: Sequence[str]) -> dict[str, str]:
    """Each path under a short name: the part in which it differs from the others, or NAME of ``NAME=PATH``.

    >>> named_systems(["out/gum.berkeley.mrg", "out/gum.charniak.mrg", "mine=x.mrg"])
    {'berkeley': 'out/gum.berkeley.mrg', 'charniak': 'out/gum.charniak.mrg', 'mine': 'x.mrg'}
    >>> named_systems(["a/dev.mrg", "b/dev.mrg"])
    {'a/dev': 'a/dev.mrg', 'b/dev': 'b/dev.mrg'}
    >>> named_systems(["ours=x.mrg", "theirs=y.mrg"])
    {'ours': 'x.mrg', 'theirs': 'y.mrg'}
    """
    given = [_given_name(path) for path in paths]
    unnamed = [path for name, path in given if not name]
    short = dict(zip(unnamed, _short_names(unnamed), strict=True))
    systems: dict[str, str] = {}
    for name, path in given:
        name = name or short[path]
        if name in systems:
            raise UsageError(f"two systems are called {name!r}; write NAME=FILE to give them different names")
        systems[name] = path
    return systems


def named_runs(arguments: Sequence[str]) -> dict[str, str | list[str]]:
    """The systems by name, as :func:`named_systems` has them; ``a.mrg,b.mrg`` and ``runs:GLOB`` are the runs of one system."""
    systems: dict[str, str | list[str]] = {}
    for name, path in named_systems(arguments).items():
        files = run_files(path)
        systems[name] = files or path
        if files and not any(os.path.exists(file) or glob.glob(file) for file in files):
            raise InputError("no such file", path=files[0], advice=f"With commas, {path} stands for the runs of one system.")
    return systems


def named_single_runs(arguments: Sequence[str]) -> dict[str, str]:
    """The systems by name, as :func:`named_systems` has them; several runs are an error: the trees of one are shown."""
    if several := [given for given in arguments if run_files(given.partition("=")[2] or given)]:
        raise UsageError(f"{several[0]}: the trees of one run are shown; give one file per system, or use treegauge compare")
    return named_systems(arguments)


def runs_meant(systems: Mapping[str, str | list[str]]) -> str:
    """A hint if some systems look like runs of one parser, because their files differ only in a number.

    >>> runs_meant({"1": "a-1.mrg", "2": "a-2.mrg", "3": "a-3.mrg", "b": "b.mrg"})
    "3 files look like runs of one parser; to compare their mean, write NAME=runs:'a-*.mrg'"
    >>> runs_meant({"a": "a-1.mrg", "b": "b-1.mrg"})
    ''
    """
    patterns = [re.sub(r"\d+(?=\D*$)", "*", path) for path in systems.values() if isinstance(path, str)]
    pattern = max(patterns, key=patterns.count, default="")
    if "*" not in pattern or patterns.count(pattern) < _AS_MANY_AS_RUNS:
        return ""
    return f"{patterns.count(pattern)} files look like runs of one parser; to compare their mean, write NAME=runs:'{pattern}'"


_AS_MANY_AS_RUNS = 3
"""Fewer files that differ in a number may well be different parsers."""


def _given_name(argument: str) -> tuple[str, str]:
    name, equals, path = argument.partition("=")
    is_name = bool(equals) and os.sep not in name and not os.path.exists(argument)
    return (name, path) if is_name and name else ("", argument)


def _short_names(paths: Sequence[str]) -> list[str]:
    stems = [_stem(path) for path in paths]
    if len(set(stems)) < len(stems):
        return [os.path.normpath(os.path.join(os.path.dirname(path), stem)) for path, stem in zip(paths, stems, strict=True)]
    if len(stems) < 2:
        return stems
    before = len(_common_parts(stems))
    after = len(_common_parts([stem[::-1] for stem in stems]))
    return [stem[before : len(stem) - after] or stem for stem in stems]


def _stem(path: str) -> str:
    if files := run_files(path):
        # Of several runs, the common beginning of their names, without a number at its end.
        stems = [_stem(file) for file in files]
        return _common_beginning(stems).rstrip("._-0123456789") or stems[0]
    name = os.path.basename(os.path.normpath(path))
    for suffix in (".gz", ".bz2", ".xz"):
        name = name.removesuffix(suffix)
    return os.path.splitext(name)[0]


def _common_parts(names: Sequence[str]) -> str:
    """The common beginning up to and including its last separator, so that names are cut only between words."""
    common = _common_beginning(names)
    return common[: max(map(common.rfind, "._-")) + 1]


def _common_beginning(names: Sequence[str]) -> str:
    first, last = min(names), max(names)
    return first[: next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))]
