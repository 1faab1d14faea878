"""FREVAL of whole files: every system's counts and rates, by our alignment or by the published program's conventions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from treegauge.engines import IN_PROCESS, Engine
from treegauge.errors import InputError, UsageError
from treegauge.io.sources import ReadOptions, find_sources
from treegauge.metrics.freval import BySize, Freval, SizeScore
from treegauge.metrics.freval_published import published_sentences
from treegauge.presets import load_preset
from treegauge.scoring.counts import Request
from treegauge.scoring.score import tally_systems
from treegauge.tables import Table, number_of

__all__ = ["FrevalScores", "lines_of", "score_all_published", "score_fragments", "score_published"]


@dataclass(frozen=True)
class FrevalScores:
    """One system's fragments: rates by range of sizes, scores by size, and what there is to say about it."""

    system: str
    rates: Mapping[str, float]
    sizes: tuple[SizeScore, ...]
    sentences: int
    signature: str
    notes: tuple[str, ...] = ()

    def by_size_table(self) -> Table:
        rows = tuple((s.size, s.gold, s.test, s.matched, s.recall, s.precision, s.f1) for s in self.sizes)
        columns = ("size", "gold", "test", "matched", "LR", "LP", "F1")
        return Table(self.system, columns, rows, percent=("LR", "LP", "F1"))

    def to_dict(self) -> dict[str, Any]:
        sizes = [
            {
                "size": s.size,
                "gold": s.gold,
                "test": s.test,
                "matched": s.matched,
                "recall": s.recall,
                "precision": s.precision,
                "f1": s.f1,
            }
            for s in self.sizes
        ]
        return {
            "system": self.system,
            "sentences": self.sentences,
            "rates": dict(self.rates),
            "by_size": sizes,
            "signature": self.signature,
        }


def score_fragments(
    gold: str, systems: Mapping[str, str], metric: Freval, preset: str, options: ReadOptions, engine: Engine = IN_PROCESS
) -> list[FrevalScores]:
    """Every system against the gold file, tokens aligned and no sentence lost."""
    chosen = load_preset(preset)
    request = Request((metric,), chosen, sentences=False)
    results: list[FrevalScores] = []
    for system, (counted, _) in zip(systems, tally_systems(gold, systems, request, options, engine), strict=True):
        (tally,) = counted.tally.tallies
        total = tally.total.values()
        signature = _signature(metric, chosen.name, tally.n_total)
        notes = tuple(f"{system}: {note.text}" for note in counted.tally.notes)
        results.append(FrevalScores(system, metric.rates(total), tuple(metric.by_size(total)), tally.n_total, signature, notes))
    return results


def score_all_published(gold: str, systems: Mapping[str, str], metric: Freval, engine: Engine = IN_PROCESS) -> list[FrevalScores]:
    """Every system by the conventions of the authors' program, which go through a file from its first line: a shard is a system."""
    if "-" in (gold, *systems.values()) and not engine.in_process:
        raise UsageError("standard input cannot be shared among workers: save it to a file, or use --engine local")
    return list(engine.map(_published, (gold, metric), list(systems.items()), title="scoring"))


def _published(shared: tuple[str, Freval], system: tuple[str, str]) -> FrevalScores:
    return score_published(system[0], shared[0], system[1], shared[1])


def score_published(system: str, gold: str, test: str, metric: Freval) -> FrevalScores:
    """One system line by line, with the conventions of the authors' program."""
    gold_lines, test_lines = list(lines_of(gold)), list(lines_of(test))
    for side, path, lines in (("gold", gold, gold_lines), ("test", test, test_lines)):
        if not any(map(bytes.strip, lines)):
            raise InputError(f"no trees in the {side} file", path=path, advice="Nothing was scored.")
    valid = [sentence for sentence in published_sentences(gold_lines, test_lines) if sentence.status == "OK"]
    total = [
        len(valid),
        sum((sentence.gold for sentence in valid), BySize()),
        sum((sentence.test for sentence in valid), BySize()),
        sum((sentence.matched for sentence in valid), BySize()),
    ]
    # Also those that the program drops without a word: behind a line that is no tree, or behind a blank one.
    left_out = sum(map(bool, map(bytes.strip, gold_lines))) - len(valid)
    notes = (f"{system}: {number_of(left_out, 'sentence')} left out, as the published program does",) if left_out else ()
    signature = _signature(metric, "published", len(valid))
    return FrevalScores(system, metric.rates(total), tuple(metric.by_size(total)), len(valid), signature, notes)


def _signature(metric: Freval, preset: str, sentences: int) -> str:
    alpha = metric.alpha if isinstance(metric.alpha, str) else ",".join(f"{weight:g}" for weight in metric.alpha)
    return f"freval|matching:{metric.matching}|alpha:{alpha}|mean:{metric.mean}|preset:{preset}|sentences:{sentences}"


def lines_of(path: str) -> Iterator[bytes]:
    """The lines of a file, with their newlines."""
    for source in find_sources(path):
        with source.open() as stream:
            yield from stream
