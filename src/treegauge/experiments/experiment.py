"""Experiments: their settings, corpora, checkpoints and reports, the split of a treebank into training and test trees, and the run
of an experiment with checkpoints, whose report is written as JSON, Markdown and figures."""

from __future__ import annotations

import itertools
import json
import math
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path, PurePath
from typing import Any, NamedTuple

import treegauge
from treegauge.data import own_treebank
from treegauge.engines import IN_PROCESS, Engine, SentenceBlock
from treegauge.errors import MismatchError
from treegauge.io.archive import refuse_other_run, refusing_damaged_checkpoint
from treegauge.io.writing import write_bytes
from treegauge.normalise import pipeline
from treegauge.parsing.parser import ParsedSentence, Sentence, SentenceParser
from treegauge.reports.figures import Figure
from treegauge.reports.plots import write_figure
from treegauge.tables import Table, plain, render
from treegauge.trees.tree import Tree, from_flat, to_flat
from treegauge.trees.treebank import Treebank


class Checkpoint:
    r"""The finished parts of an experiment by name, in a file of JSON lines: first the settings, then a line for each part.

    An incomplete last line is ignored. Without a path nothing is stored on disk.

    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "p.jsonl")
    >>> Checkpoint(path, {"seed": 1}).get("run 1", lambda: [0.5, 1])
    [0.5, 1]
    >>> Checkpoint(path, {"seed": 1}, resume=True).get("run 1", lambda: "computed anew")
    [0.5, 1]
    """

    def __init__(self, path: str | Path | None = None, settings: Mapping[str, Any] | None = None, *, resume: bool = False) -> None:
        self._path = None if path is None else Path(path)
        self._done: dict[str, Any] = {}
        if self._path is None:
            return
        header = json.loads(json.dumps(settings or {}))
        if resume and self._path.exists():
            self._load(self._path, header)
        else:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(f"{json.dumps(header)}\n".encode(), self._path)

    def __len__(self) -> int:
        return len(self._done)

    def __contains__(self, name: str) -> bool:
        return name in self._done

    def get(self, name: str, compute: Callable[[], Any]) -> Any:
        """The stored value of a name; if there is none, the value that ``compute`` returns, which is stored. It must be JSON
        data."""
        if name not in self._done:
            line = json.dumps({"name": name, "value": compute()})
            # Converted to JSON and back, so that a new value equals a stored one.
            self._done[name] = json.loads(line)["value"]
            if self._path is not None:
                with self._path.open("a", encoding="utf-8") as file:
                    file.write(line + "\n")
                    file.flush()
                    os.fsync(file.fileno())
        return self._done[name]

    def _load(self, path: Path, header: Any) -> None:
        with refusing_damaged_checkpoint(path):
            whole = path.read_text("utf-8").rpartition("\n")[0]
            found, *pieces = (json.loads(line) for line in whole.split("\n"))
            found = dict[str, Any](found)
            self._done = {str(piece["name"]): piece["value"] for piece in pieces}
        refuse_other_run(path, found, header)
        write_bytes(f"{whole}\n".encode(), path)


EVERY = 5
"""One of this many trees is held out, if no file is named dev or test."""
_HELD_OUT = re.compile(r"(^|[^a-z])(dev|test|eval|heldout|held-out)([^a-z]|$)", re.IGNORECASE)


class TreebankSplit(NamedTuple):
    """Trees to train on, trees to test on, and a description of the split."""

    train: Treebank
    test: Treebank
    how: str


class Corpus(NamedTuple):
    """A treebank and its name in reports."""

    name: str
    bank: Treebank

    def split(self) -> TreebankSplit:
        """The split of a treebank: the trees of files named dev or test are held out, or else every fifth tree of each file.

        >>> train, test, how = own_corpus().split()
        >>> len(train), len(test), test == own_treebank("dev")
        (418, 103, True)
        """
        files = [(origin.path, len(origin.line)) for origin in self.bank.origins] or [("", len(self.bank))]
        named = [_HELD_OUT.search(PurePath(path).name) is not None for path, _ in files]
        by_name = any(named) and not all(named)
        is_test: list[bool] = []
        for (_, size), apart in zip(files, named, strict=True):
            is_test += [apart] * size if by_name else [i % EVERY == EVERY - 1 for i in range(size)]
        test = [i for i, held in enumerate(is_test) if held]
        train = [i for i, held in enumerate(is_test) if not held]
        if not test or not train:
            raise MismatchError(
                f"{len(self.bank)} trees cannot be split into trees to train on and trees to test on: give more trees, or a\n"
                "  folder with a file called dev or test beside the others"
            )
        how = "the files called dev or test" if by_name else "the fifth of every five trees of each file"
        return TreebankSplit(self.bank.take(train), self.bank.take(test), how)


BLOCK = 50
"""The number of sentences in a part of the checkpoint."""


@dataclass(frozen=True)
class Work:
    """The means of running an experiment: its checkpoint, a progress callback, the number of threads, and an engine."""

    checkpoint: Checkpoint
    report: Callable[[str], None] = lambda _: None
    threads: int | None = None
    engine: Engine = IN_PROCESS

    @property
    def jobs(self) -> int:
        """The number of threads of one part: as given, or else one per processor in this process and one in a worker."""
        return self.threads or (os.cpu_count() or 1 if self.engine.in_process else 1)

    def each(self, function: Callable[[Any, Any], Any], shared: Any, named: Mapping[str, Any]) -> Iterator[Any]:
        """The values of named parts, in order: the stored value, or else ``function(shared, item)``, which is stored at once.

        Values must be JSON data.
        """
        missing = [item for name, item in named.items() if name not in self.checkpoint]
        made = self.engine.map(function, shared, missing)
        for name in named:
            yield self.checkpoint.get(name, lambda: next(made))

    def parse(self, name: str, parser: SentenceParser, sentences: Sequence[Sentence]) -> list[ParsedSentence]:
        """The parses of sentences; those in the checkpoint are not parsed again."""
        blocks = {
            _piece(name, first): SentenceBlock(first, (tuple(sentences[first : first + BLOCK]),))
            for first in range(0, len(sentences), BLOCK)
        }
        kept = {piece for piece in blocks if piece in self.checkpoint}
        parsed: list[ParsedSentence] = []
        began, fresh = time.monotonic(), 0
        for (piece, block), found in zip(blocks.items(), self.each(_parse, (parser, self.jobs), blocks), strict=True):
            fresh += 0 if piece in kept else len(block)
            parsed += [_from_document(sentence, document) for sentence, document in zip(block.sides[0], found, strict=True)]
            rate = f", {fresh / (time.monotonic() - began):.1f} a second" if fresh else ""
            self.report(f"{name}: {len(parsed)} of {len(sentences)} sentences{rate}")
        return parsed

    def are_parsed(self, name: str, sentences: Sequence[Sentence]) -> bool:
        """Whether all parses of :meth:`parse` are in the checkpoint, so that no parser is needed."""
        return all(_piece(name, first) in self.checkpoint for first in range(0, len(sentences), BLOCK))


@dataclass(frozen=True)
class ExperimentReport:
    """The results of an experiment: tables (the paper's numbers beside ours), figures, notes on differences from the paper, and all
    numbers as data."""

    tables: Sequence[Table]
    notes: Sequence[str] = ()
    figures: Sequence[Figure] = ()
    data: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Experiment:
    """A paper's experiment.

    ``settings`` is a frozen dataclass; its fields, made by :func:`setting`, become options of the command line.
    ``corpus`` gives the treebank to use where the user names none, or ``None`` for an experiment without a treebank.
    ``run(corpus, settings, work)`` makes the report.
    """

    name: str
    title: str = field(repr=False)
    reference: str = field(repr=False)
    settings: type[Any] = field(repr=False)
    run: Callable[[Any, Any, Work], ExperimentReport] = field(repr=False)
    corpus: Callable[[], Corpus] | None = field(default=None, repr=False)

    def fingerprint(self, corpus: Corpus | None, settings: Any) -> dict[str, Any]:
        """Everything that decides the result."""
        trees = None if corpus is None else {"name": corpus.name, "trees": len(corpus.bank), "sha256": corpus.bank.sha256()}
        return {"experiment": self.name, "corpus": trees, "settings": asdict(settings)}


@dataclass(frozen=True)
class NoSettings:
    """The settings of an experiment that has no options."""


def setting(default: Any, meaning: str) -> Any:
    """A field of an experiment's settings, with its default and its help text."""
    return field(default=default, metadata={"help": meaning})


def own_corpus() -> Corpus:
    """The treebank that comes with treegauge."""
    return Corpus("treegauge's own treebank", own_treebank())


def run_experiment(
    experiment: Experiment,
    corpus: Corpus | None,
    settings: Any,
    *,
    folder: str | Path | None = None,
    resume: bool = False,
    threads: int | None = None,
    progress: Callable[[str], None] = lambda _: None,
    engine: Engine = IN_PROCESS,
) -> ExperimentReport:
    """Run an experiment; with a folder, store finished parts there as soon as they are done, and the report at the end."""
    fingerprint = experiment.fingerprint(corpus, settings)
    kept = None if folder is None else Path(folder) / f"{experiment.name}.pieces.jsonl"
    report = experiment.run(corpus, settings, Work(Checkpoint(kept, fingerprint, resume=resume), progress, threads, engine))
    if folder is not None and kept is not None:
        for path in write_report(experiment, report, fingerprint, Path(folder)):
            progress(f"wrote {path}")
        kept.unlink()
    return report


def source_commit() -> str | None:
    """The last commit that changed the source, if the package is in a Git repository that tracks it."""
    command = ["git", "-C", str(Path(treegauge.__file__).parent), "log", "-1", "--format=%H", "--", "."]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() or None
    except (OSError, subprocess.CalledProcessError):
        return None


def document(experiment: Experiment, report: ExperimentReport, fingerprint: dict[str, Any]) -> dict[str, Any]:
    """The report as a JSON document with numbers at full precision."""
    return {
        "schema": "treegauge.reproduce/2",
        "title": experiment.title,
        "reference": experiment.reference,
        "version": version("treegauge"),
        "commit": source_commit(),
        **fingerprint,
        "tables": [table.to_dict() for table in report.tables],
        "notes": list(report.notes),
        "data": plain(report.data),
    }


def markdown(experiment: Experiment, report: ExperimentReport, fingerprint: dict[str, Any]) -> str:
    """The report as a Markdown page: title and settings, tables, figures, and the differences from the paper with their reasons."""
    corpus = fingerprint["corpus"]
    about = f" on {corpus['name']} ({corpus['trees']:,} trees, sha256 {corpus['sha256'][:12]})" if corpus else ""
    settings = ", ".join(f"{name}={value}" for name, value in fingerprint["settings"].items())
    code = ", ".join(filter(None, [version("treegauge"), source_commit()]))
    parts = [f"# {experiment.title}", f"`treegauge reproduce {experiment.name}`{about}. Settings: {settings}. treegauge {code}."]
    parts += [render(table, "markdown") for table in report.tables]
    parts += [f"![{figure.name}]({experiment.name}-{figure.name}.svg)" for figure in report.figures]
    if report.notes:
        parts.append("## What differs from the paper, and why\n\n" + "\n".join(f"- {note}" for note in report.notes))
    return "\n\n".join(parts) + "\n"


def write_report(experiment: Experiment, report: ExperimentReport, fingerprint: dict[str, Any], folder: Path) -> list[Path]:
    """Write NAME.json, NAME.md, and for each figure an SVG and its data as CSV, each file completely or not at all. Returns their
    paths."""
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for figure in report.figures:
        written += write_figure(figure, folder / f"{experiment.name}-{figure.name}.svg", data=True)
    text = json.dumps(document(experiment, report, fingerprint), ensure_ascii=False, indent=1)
    for suffix, content in ((".json", text + "\n"), (".md", markdown(experiment, report, fingerprint))):
        written.append(folder / f"{experiment.name}{suffix}")
        write_bytes(content.encode(), written[-1])
    return written


def _piece(name: str, first: int) -> str:
    return f"{name} {first}"


def _parse(how: tuple[SentenceParser, int], block: SentenceBlock) -> list[dict[str, Any]]:
    parser, jobs = how
    return [
        {"tree": list(to_flat(parsed.tree)), "score": plain(parsed.score), "fallback": parsed.fallback}
        for parsed in parser.parse_all(block.sides[0], jobs)
    ]


def _from_document(sentence: Sentence, document: dict[str, Any]) -> ParsedSentence:
    tree: Tree = from_flat(document["tree"])
    score = math.nan if document["score"] is None else float(document["score"])
    return ParsedSentence(sentence, tree, score, math.nan, bool(document["fallback"]))


def clean_short(trees: Iterable[Tree], longest: int, most: int) -> list[Tree]:
    """The first ``most`` trees of at most ``longest`` words (0 for any length), without traces, function tags and root."""
    clean = pipeline("traces,functions,root")
    short = (tree for tree in map(clean, trees) if tree is not None and 0 < tree.width <= (longest or tree.width))
    found = list(itertools.islice(short, most))
    if not found:
        raise MismatchError("no sentence to test on: allow longer ones")
    return found
