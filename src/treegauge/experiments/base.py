"""What an experiment is, what it works with, and what it comes to."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple, Protocol

from treegauge.engines import HERE, Engine
from treegauge.experiments.pieces import Pieces
from treegauge.metrics.tables import Table
from treegauge.trees.treebank import Treebank

__all__ = ["Corpus", "Experiment", "Figure", "Report", "Work", "setting"]


class Corpus(NamedTuple):
    """A treebank and what it is called in reports."""

    name: str
    bank: Treebank


class Figure(Protocol):
    """A figure of a report, and the numbers in it."""

    @property
    def name(self) -> str: ...
    def draw(self, path: str) -> None: ...
    def csv(self) -> str: ...


@dataclass(frozen=True)
class Work:
    """What an experiment is given besides its settings: finished pieces of a run that was killed, someone who listens, and an
    engine for the pieces that are to be made."""

    pieces: Pieces
    say: Callable[[str], None] = lambda _: None
    threads: int | None = None
    engine: Engine = HERE

    @property
    def jobs(self) -> int:
        """How many threads a piece may use: all processors in this process, else one, unless said otherwise."""
        return self.threads or (os.cpu_count() or 1 if self.engine.in_process else 1)

    def each(self, function: Callable[[Any, Any], Any], shared: Any, named: Mapping[str, Any]) -> Iterator[Any]:
        """The piece of each name, in order: as it was kept, or ``function(shared, item)`` of its item, kept as soon as it is there.

        Pieces must be made of what JSON has.
        """
        missing = [item for name, item in named.items() if name not in self.pieces]
        made = self.engine.map(function, shared, missing)
        for name in named:
            yield self.pieces.get(name, lambda: next(made))


@dataclass(frozen=True)
class Report:
    """What an experiment comes to: tables (the paper's numbers beside ours), figures, what differs and why, all
    numbers."""

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
    run: Callable[[Corpus | None, Any, Work], Report]
    corpus: Callable[[], Corpus] | None = None

    def fingerprint(self, corpus: Corpus | None, settings: Any) -> dict[str, Any]:
        """All that decides the result."""
        trees = None if corpus is None else {"name": corpus.name, "trees": len(corpus.bank), "sha256": corpus.bank.sha256()}
        return {"experiment": self.name, "corpus": trees, "settings": asdict(settings)}


def setting(default: Any, meaning: str) -> Any:
    """A field of an experiment's settings: its default and what it means."""
    return field(default=default, metadata={"help": meaning})
