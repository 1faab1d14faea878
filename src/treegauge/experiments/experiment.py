"""Experiments: their settings, corpora, checkpoints and reports, the split of a treebank into training and test trees, and the run
of an experiment with checkpoints, whose report is written as JSON, Markdown and figures.

Their tables have the paper's numbers beside ours, summaries of repeated runs, tests of differences between systems and of whether
each algorithm is best on the criterion that it maximises.
"""

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

import numpy as np

import treegauge
from treegauge.data import own_treebank
from treegauge.engines import IN_PROCESS, Engine, SentenceBlock
from treegauge.errors import MismatchError
from treegauge.io.archive import refuse_other_run, refusing_damaged_checkpoint
from treegauge.io.writing import write_bytes
from treegauge.metrics.registry import find_metric
from treegauge.normalise import pipeline
from treegauge.parsing.parser import ParsedSentence, Sentence, SentenceParser
from treegauge.presets import Preset
from treegauge.reports.figures import Figure
from treegauge.reports.plots import write_figure
from treegauge.scoring.evaluation import score
from treegauge.significance.resampling import PairedColumns, randomisation
from treegauge.tables import Cell, Table, plain, render
from treegauge.trees.tree import Tree, from_flat, to_flat
from treegauge.trees.treebank import Treebank


class Summary(NamedTuple):
    """The smallest, the largest, the mean and the sample standard deviation of some numbers."""

    least: float
    most: float
    mean: float
    deviation: float


def summarise(values: Sequence[float]) -> Summary:
    """The summary of repeated runs; nan if there are none, and the deviation of a single run is nan.

    >>> summarise([1.0, 2.0, 3.0])
    Summary(least=1.0, most=3.0, mean=2.0, deviation=1.0)
    """
    if not len(values):
        return Summary(math.nan, math.nan, math.nan, math.nan)
    array = np.asarray(values, dtype=np.float64)
    deviation = float(array.std(ddof=1)) if len(array) > 1 else math.nan
    return Summary(float(array.min()), float(array.max()), float(array.mean()), deviation)


def error_reduction(before: float, after: float) -> float:
    """The share of the error of a rate ``before`` that is gone ``after``; nan if there was no error.

    >>> round(error_reduction(0.8, 0.85), 9)
    0.25
    """
    return (after - before) / (1 - before) if before < 1 else math.nan


def paper_table(
    title: str,
    keys: Sequence[str],
    columns: Sequence[str],
    paper: Mapping[tuple[str, ...], Sequence[Cell]],
    ours: Mapping[tuple[str, ...], Sequence[Cell]],
    *,
    percent: bool = False,
    notes: Sequence[str] = (),
) -> Table:
    """A table with two columns for each column of the paper: its value and ours; a missing value is shown as -.

    >>> print(paper_table("F1", ["parser"], ["LR"], {("MRL",): [0.7]}, {("MRL",): [0.71], ("MH",): [0.8]}, percent=True))
    F1
    parser  LR paper  LR ours
    MRL        70.00    71.00
    MH             -    80.00
    """
    names = [f"{column} {side}" for column in columns for side in ("paper", "ours")]
    nothing: Sequence[Cell] = [None] * len(columns)
    rows: list[tuple[Cell, ...]] = []
    for key in dict.fromkeys([*paper, *ours]):
        pairs = zip(paper.get(key, nothing), ours.get(key, nothing), strict=True)
        rows.append((*key, *(cell for pair in pairs for cell in pair)))
    return Table(title, (*keys, *names), tuple(rows), tuple(notes), tuple(names) if percent else ())


class RateTests:
    """The rates of systems by one metric, and the p-values of their differences.

    >>> gold = [Tree.parse("(S (A a) (X (B b) (C c)))")] * 3
    >>> flat = [Tree.parse("(S (A a) (B b) (C c))")] * 3
    >>> tests = RateTests("parseval", gold, {"flat": flat, "gold": gold}, rounds=100)
    >>> tests.rates["flat"]["recall"], tests.p("flat", "gold", "recall")
    (0.5, 0.25)
    """

    def __init__(
        self,
        metric: str,
        gold: Sequence[Tree],
        systems: Mapping[str, Sequence[Tree]],
        *,
        preset: str | Preset = "default",
        rounds: int = 10_000,
        seed: int = 1,
    ) -> None:
        results = {name: score(gold, trees, metric=metric, preset=preset) for name, trees in systems.items()}
        self.rates = {name: dict(result.rates) for name, result in results.items()}
        self.signatures = {name: str(result.signature) for name, result in results.items()}
        self._names, self._rounds, self._seed = list(systems), rounds, seed
        self._paired = PairedColumns.of(find_metric(metric), [result.rows for result in results.values()])
        self._done: dict[tuple[str, str], Mapping[str, float]] = {}

    def p(self, a: str, b: str, rate: str) -> float:
        """The two-sided p-value of the difference between two systems in a rate, by paired randomisation."""
        first, second = sorted((a, b), key=self._names.index)
        if (first, second) not in self._done:
            places = self._names.index(first), self._names.index(second)
            found = randomisation(self._paired, *places, rounds=self._rounds, seed=self._seed)
            self._done[first, second] = {name: float(p) for (_, name), p in zip(found.names, found.p, strict=True)}
        return self._done[first, second][rate]


SIGNIFICANT = 0.05
_TIE = 5e-7
"""Rates closer than this count as equal."""


@dataclass(frozen=True)
class CriterionTest:
    """The difference between the algorithm ``own`` and the best other one, ``rival``, on the criterion that ``own`` maximises;
    ``where`` names the grammar."""

    criterion: str
    own: str
    rival: str
    difference: float
    p: float
    where: str = ""

    @property
    def is_best(self) -> bool:
        """Whether the algorithm is better than every other; a tie does not count."""
        return self.difference > _TIE

    @property
    def is_tie(self) -> bool:
        return abs(self.difference) <= _TIE

    @property
    def verdict(self) -> str:
        """The outcome in a word or two."""
        return "tie" if self.is_tie else "best" if self.is_best else "not best"

    def __str__(self) -> str:
        """The outcome in one sentence.

        >>> print(CriterionTest("LR", "M_LR", "MPP", -0.002, 0.4, "MH"))
        On LR (MH) MPP is 0.20 points above M_LR (p = 0.4000): not significant, so the sample cannot tell
        """
        place = f"On {self.criterion}" + (f" ({self.where})" if self.where else "")
        if self.is_tie:
            return f"{place} {self.own} and {self.rival} are equal"
        if self.is_best:
            lead = f"{place} {self.own} leads {self.rival} by {100 * self.difference:.2f} points (p = {self.p:.4f})"
            return lead if self.p < SIGNIFICANT else f"{lead}: not significant"
        found = f"{place} {self.rival} is {-100 * self.difference:.2f} points above {self.own} (p = {self.p:.4f})"
        if self.p >= SIGNIFICANT:
            return f"{found}: not significant, so the sample cannot tell"
        return f"{found}: significant; {self.own} is best on average over the grammar's own trees, and this treebank's are others"


def criterion_test(
    tests: RateTests, rate: str, criterion: str, own: str, names: Mapping[str, str] | None = None, where: str = ""
) -> CriterionTest:
    """The test of algorithm ``own`` on one criterion; ``names`` are the shown names of algorithms, by their names in ``tests``."""
    shown = names or {name: name for name in tests.rates}
    rival = max((name for name in tests.rates if name != own), key=lambda name: tests.rates[name][rate])
    difference = tests.rates[own][rate] - tests.rates[rival][rate]
    return CriterionTest(criterion, shown[own], shown[rival], difference, tests.p(rival, own, rate), where)


def criterion_table(verdicts: Sequence[CriterionTest], notes: Sequence[str] = ()) -> Table:
    """The table of several tests, with a row for each."""
    several = any(each.where for each in verdicts)
    rows: list[tuple[Cell, ...]] = [
        (*([each.where] if several else []), each.criterion, each.own, each.rival, each.difference, f"{each.p:.4f}", each.verdict)
        for each in verdicts
    ]
    columns = ("criterion", "its algorithm", "best other", "difference", "p", "verdict")
    about = "p: two-sided, paired randomisation over sentences. A difference that is not significant decides nothing."
    return Table(
        "Is each algorithm the best on the criterion that it maximises?",
        (*(["grammar"] if several else []), *columns),
        tuple(rows),
        notes=(*notes, about),
        percent=("difference",),
    )


def in_words(verdicts: Sequence[CriterionTest]) -> str:
    """A text with the number of algorithms that are best on their own criterion, and every exception with its significance."""
    best = [each for each in verdicts if each.is_best]
    weak = [each for each in best if each.p >= SIGNIFICANT]
    said = f"on {len(best)} of {len(verdicts)} criteria the algorithm made for it is best"
    said += f", on {len(best) - len(weak)} of them significantly (p < {SIGNIFICANT:g})." if best else "."
    for each in (*weak, *(each for each in verdicts if not each.is_best)):
        said += f" {each}."
    return said


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


class Corpus(NamedTuple):
    """A treebank and its name in reports."""

    name: str
    bank: Treebank


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
    title: str
    reference: str
    settings: type[Any]
    run: Callable[[Corpus | None, Any, Work], ExperimentReport]
    corpus: Callable[[], Corpus] | None = None

    def fingerprint(self, corpus: Corpus | None, settings: Any) -> dict[str, Any]:
        """Everything that decides the result."""
        trees = None if corpus is None else {"name": corpus.name, "trees": len(corpus.bank), "sha256": corpus.bank.sha256()}
        return {"experiment": self.name, "corpus": trees, "settings": asdict(settings)}


def setting(default: Any, meaning: str) -> Any:
    """A field of an experiment's settings, with its default and its help text."""
    return field(default=default, metadata={"help": meaning})


EVERY = 5
"""One of so many trees is held out, if no file is named dev or test."""
_HELD_OUT = re.compile(r"(^|[^a-z])(dev|test|eval|heldout|held-out)([^a-z]|$)", re.IGNORECASE)


class TreebankSplit(NamedTuple):
    """Trees to train on, trees to test on, and a description of the split."""

    train: Treebank
    test: Treebank
    how: str


def own_corpus() -> Corpus:
    """The treebank that comes with treegauge."""
    return Corpus("treegauge's own treebank", own_treebank())


def split(bank: Treebank) -> TreebankSplit:
    """The split of a treebank: the trees of files named dev or test are held out, or else every fifth tree of each file.

    >>> train, test, how = split(own_treebank())
    >>> len(train), len(test), test == own_treebank("dev")
    (418, 103, True)
    """
    files = [(origin.path, len(origin.line)) for origin in bank.origins] or [("", len(bank))]
    named = [_HELD_OUT.search(PurePath(path).name) is not None for path, _ in files]
    by_name = any(named) and not all(named)
    is_test: list[bool] = []
    for (_, size), apart in zip(files, named, strict=True):
        is_test += [apart] * size if by_name else [i % EVERY == EVERY - 1 for i in range(size)]
    test = [i for i, held in enumerate(is_test) if held]
    train = [i for i, held in enumerate(is_test) if not held]
    if not test or not train:
        raise MismatchError(
            f"{len(bank)} trees cannot be split into trees to train on and trees to test on: give more trees, or a folder with a\n"
            "  file called dev or test beside the others"
        )
    how = "the files called dev or test" if by_name else "the fifth of every five trees of each file"
    return TreebankSplit(bank.take(train), bank.take(test), how)


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


BLOCK = 50
"""The number of sentences in a part of the checkpoint."""


def parse_with_checkpoint(work: Work, name: str, parser: SentenceParser, sentences: Sequence[Sentence]) -> list[ParsedSentence]:
    """The parses of sentences; those in the checkpoint are not parsed again."""
    blocks: dict[str, SentenceBlock] = {}
    for first in range(0, len(sentences), BLOCK):
        block = tuple(sentences[first : first + BLOCK])
        blocks[_piece(name, first)] = SentenceBlock(first, (block,))
    kept = {piece for piece in blocks if piece in work.checkpoint}
    parsed: list[ParsedSentence] = []
    began, fresh = time.monotonic(), 0
    for (piece, block), found in zip(blocks.items(), work.each(_parse, (parser, work.jobs), blocks), strict=True):
        fresh += 0 if piece in kept else len(block)
        parsed += [_from_document(sentence, document) for sentence, document in zip(block.sides[0], found, strict=True)]
        rate = f", {fresh / (time.monotonic() - began):.1f} a second" if fresh else ""
        work.report(f"{name}: {len(parsed)} of {len(sentences)} sentences{rate}")
    return parsed


def are_parsed(work: Work, name: str, sentences: Sequence[Sentence]) -> bool:
    """Whether all parses of :func:`parse_with_checkpoint` are in the checkpoint, so that no parser is needed."""
    return all(_piece(name, first) in work.checkpoint for first in range(0, len(sentences), BLOCK))


def _piece(name: str, first: int) -> str:
    return f"{name} {first}"


def _parse(how: tuple[SentenceParser, int], block: SentenceBlock) -> list[dict[str, Any]]:
    parser, jobs = how
    return [_document(parsed) for parsed in parser.parse_all(block.sides[0], jobs)]


def _document(parsed: ParsedSentence) -> dict[str, Any]:
    return {"tree": list(to_flat(parsed.tree)), "score": plain(parsed.score), "fallback": parsed.fallback}


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
