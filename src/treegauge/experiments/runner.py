"""Run an experiment with checkpoints; write its report as JSON, Markdown and figures."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from treegauge.engines import IN_PROCESS, Engine
from treegauge.errors import MissingExtra
from treegauge.experiments.base import Checkpoint, Corpus, Experiment, ExperimentReport, Work
from treegauge.io.writing import partial_path, write_bytes
from treegauge.tables import plain, render

__all__ = ["document", "markdown", "run_experiment", "write_report"]


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
    """Run an experiment; with a folder, store finished parts there as they come, and the report at the end."""
    fingerprint = experiment.fingerprint(corpus, settings)
    kept = None if folder is None else Path(folder) / f"{experiment.name}.pieces.jsonl"
    report = experiment.run(corpus, settings, Work(Checkpoint(kept, fingerprint, resume=resume), progress, threads, engine))
    if folder is not None and kept is not None:
        for path in write_report(experiment, report, fingerprint, Path(folder), progress):
            progress(f"wrote {path}")
        kept.unlink()
    return report


def document(experiment: Experiment, report: ExperimentReport, fingerprint: dict[str, Any]) -> dict[str, Any]:
    """The report as one JSON document, at full precision."""
    return {
        "schema": "treegauge.reproduce/1",
        "title": experiment.title,
        "reference": experiment.reference,
        "version": version("treegauge"),
        **fingerprint,
        "tables": [json.loads(render(table, "json")) for table in report.tables],
        "notes": list(report.notes),
        "data": plain(report.data),
    }


def markdown(experiment: Experiment, report: ExperimentReport, fingerprint: dict[str, Any], *, figures: bool = True) -> str:
    """The report as a page: what it is, the tables, the figures, what differs from the paper and why."""
    corpus = fingerprint["corpus"]
    about = f" on {corpus['name']} ({corpus['trees']:,} trees, sha256 {corpus['sha256'][:12]})" if corpus else ""
    settings = ", ".join(f"{name}={value}" for name, value in fingerprint["settings"].items())
    parts = [f"# {experiment.title}", f"`treegauge reproduce {experiment.name}`{about}. Settings: {settings}."]
    parts += [render(table, "markdown") for table in report.tables]
    if figures:
        parts += [f"![{figure.name}]({experiment.name}-{figure.name}.svg)" for figure in report.figures]
    if report.notes:
        parts.append("## What differs from the paper, and why\n\n" + "\n".join(f"- {note}" for note in report.notes))
    return "\n\n".join(parts) + "\n"


def write_report(
    experiment: Experiment, report: ExperimentReport, fingerprint: dict[str, Any], folder: Path, progress: Callable[[str], None]
) -> list[Path]:
    """Write NAME.json, NAME.md, and for each figure an SVG and its data; each file whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    drawn = True
    for figure in report.figures:
        base = f"{experiment.name}-{figure.name}"
        try:
            with partial_path(folder / f"{base}.svg") as unfinished:
                figure.draw(unfinished)
            written.append(folder / f"{base}.svg")
        except MissingExtra as error:
            drawn = False
            progress(f"no figure: {error}")
        written.append(_write(folder / f"{base}.csv", figure.csv()))
    text = json.dumps(document(experiment, report, fingerprint), ensure_ascii=False, indent=1)
    written.append(_write(folder / f"{experiment.name}.json", text + "\n"))
    written.append(_write(folder / f"{experiment.name}.md", markdown(experiment, report, fingerprint, figures=drawn)))
    return written


def _write(path: Path, text: str) -> Path:
    write_bytes(text.encode(), path)
    return path
