"""Scores shown: tables, Markdown, LaTeX, CSV, JSON, a line of JSON a sentence, or EVALB's own layout."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from treegauge.errors import UsageError
from treegauge.metrics.evalb.printing import HEADER, Totals, row, summary
from treegauge.metrics.evalb.sentences import UNPAIRED, VALID, SentenceResult
from treegauge.metrics.result import Result, Scores
from treegauge.metrics.result_tables import shown_rate, tables_of, tidy_table
from treegauge.metrics.tables import Cell, Table
from treegauge.reports.tables import render
from treegauge.reports.verdicts import one_of_each_system

__all__ = ["SCORE_FORMATS", "evalb_layout", "score_text"]


def score_text(results: Sequence[Result], form: str, *, per_sentence: bool = False, examples: int = 0) -> Iterator[str]:
    """The results in a format of :data:`SCORE_FORMATS`, piece by piece; each piece ends in a newline."""
    yield from SCORE_FORMATS[form](results, per_sentence, examples)


def _as_tables(form: str) -> Callable[[Sequence[Result], bool, int], Iterator[str]]:
    def pieces(results: Sequence[Result], per_sentence: bool, examples: int) -> Iterator[str]:
        tables = [_sentence_table(result) for result in results] if per_sentence else []
        blocks = [render(table, form) for table in [*tables, *tables_of(results)]]
        for result in one_of_each_system(results):
            for name, counted in result.breakdowns.items():
                table = counted.table
                title = f"{result.system}: {table.title}" if len(results) > 1 else table.title
                blocks.append(render(Table(title, table.columns, table.rows, table.notes, table.percent), form))
                if examples:
                    from treegauge.reports.examples import example_lines

                    blocks.append("\n".join(example_lines(result, name, examples)))
        yield "\n\n".join(block for block in blocks if block) + "\n"

    return pieces


def _sentence_table(result: Result) -> Table:
    """A row a sentence: its place, its length, the main rate and its counts, without those that only serve sums."""
    counts = [name for name in result.columns if name != "sentences" and not name.endswith(("_sum", "_defined"))]
    rows: list[tuple[Cell, ...]] = []
    for record in result.per_sentence():
        rate = record.get("rates", {}).get(result.headline)
        shown = None if rate is None else shown_rate(result.headline, rate)
        rows.append((record["place"], record["length"], shown, *_cells(record["counts"][name] for name in counts)))
    return Table(f"{result.system}: {result.metric}", ("sentence", "length", result.headline, *counts), tuple(rows))


def _cells(counts: Iterable[Any]) -> list[Cell]:
    return [count if isinstance(count, (int, float)) else " ".join(map(str, count)) for count in counts]


def _as_csv(results: Sequence[Result], per_sentence: bool, examples: int) -> Iterator[str]:
    """Tidy: a row for each rate, or for each sentence; everything at full precision."""
    if not per_sentence:
        yield render(tidy_table(results), "csv") + "\n"
        return
    if len({result.metric for result in results}) > 1:
        raise UsageError("--per-sentence --format csv has a column for each count, so it takes one metric at a time")
    columns = ("system", "sentence", "place", "length", *results[0].columns)
    rows: list[tuple[Cell, ...]] = []
    for result in results:
        for record in result.per_sentence():
            counts = _cells(record["counts"].values())
            rows.append((result.system, record["sentence"], record["place"], record["length"], *counts))
    yield render(Table("", columns, tuple(rows)), "csv") + "\n"


def _as_json(results: Sequence[Result], per_sentence: bool, examples: int) -> Iterator[str]:
    together = results[0] if len(results) == 1 else Scores(results)
    yield together.to_json(per_sentence=per_sentence) + "\n"


def _as_json_lines(results: Sequence[Result], per_sentence: bool, examples: int) -> Iterator[str]:
    """A line a sentence."""
    for result in results:
        for record in result.per_sentence():
            line = {"system": result.system, "metric": result.metric, **record}
            yield json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n"


def _as_evalb(results: Sequence[Result], per_sentence: bool, examples: int) -> Iterator[str]:
    if len(results) != 1 or results[0].metric != "parseval":
        raise UsageError("EVALB's layout shows one system by the metric parseval")
    yield evalb_layout(results[0])


def evalb_layout(result: Result) -> str:
    """EVALB's table and summary, printed from these counts; a sentence that was left out is an error, or a skip without parse."""
    sentences = result.scored_sentences
    columns = [result.columns.index(name) for name in ("matched", "gold", "test", "crossing", "words", "tags")]
    counted = dict(zip(sentences.index.tolist(), sentences.rows[:, columns].astype(int).tolist(), strict=True))
    everything, short = Totals(), Totals()
    cutoff = result.short.length or 0
    rows: list[bytes] = []
    for number, (length, status) in enumerate(zip(sentences.length.tolist(), sentences.status.tolist(), strict=True)):
        if status == UNPAIRED:
            break
        line = SentenceResult(number + 1, length, status, *(counted[number] if status == VALID else ()))
        everything.add(line)
        if length <= cutoff:
            short.add(line)
        rows.append(row(line))
    return (HEADER + b"".join(rows) + summary(everything, short, cutoff)).decode()


SCORE_FORMATS: dict[str, Callable[[Sequence[Result], bool, int], Iterator[str]]] = {
    "table": _as_tables("table"),
    "json": _as_json,
    "jsonl": _as_json_lines,
    "csv": _as_csv,
    "markdown": _as_tables("markdown"),
    "latex": _as_tables("latex"),
    "evalb": _as_evalb,
}
"""Format name -> how scores are written in it."""
