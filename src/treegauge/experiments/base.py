"""What an experiment is, what it works with, and what it comes to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple, Protocol

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
    """What an experiment is given besides its settings: finished pieces of a run that was killed, and someone who
    listens."""

    pieces: Pieces
    say: Callable[[str], None] = lambda _: None
    threads: int | None = None


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
