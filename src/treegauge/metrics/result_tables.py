"""Results as tables: a row a rate, a column a system."""

from __future__ import annotations

import math
from collections.abc import Sequence

from treegauge.metrics.hogenhout.metric import Hogenhout
from treegauge.metrics.result import Part, Result
from treegauge.metrics.tables import Cell, Table

__all__ = ["shown_rate", "tables_of", "tidy_table"]


def shown_rate(name: str, rate: float) -> float:
    """A rate as it is shown: shares as percentages, averages of counts as they are."""
    return rate if name.startswith("average_") else 100 * rate


def tables_of(results: Sequence[Result]) -> list[Table]:
    """A table for each metric; short sentences stand beside all of them, or, with several systems, in a table of their own."""
    tables: list[Table] = []
    for metric in dict.fromkeys(result.metric for result in results):
        group = [result for result in results if result.metric == metric]
        totals, shorts = [result.total for result in group], [result.short for result in group]
        has_short = any(short.sentences < total.sentences for short, total in zip(shorts, totals, strict=True))
        limit = f"length <= {shorts[0].length}"
        names = [result.system for result in group]
        if len(group) == 1:
            named = [("all", totals[0]), *([(limit, shorts[0])] if has_short else [])]
            tables.append(_table("", metric, [name for name, _ in named], [part for _, part in named], group))
        elif has_short:
            tables.append(_table("All sentences", metric, names, totals, []))
            tables.append(_table(f"Sentences of {limit}", metric, names, shorts, group))
        else:
            tables.append(_table("", metric, names, totals, group))
    return tables


def _table(title: str, metric: str, names: Sequence[str], parts: Sequence[Part], noted: Sequence[Result]) -> Table:
    # Hogenhout & Matsumoto's items are results themselves; the counts of other metrics are only on the way to their rates.
    items = parts[0].counts if metric.partition(":")[0] == Hogenhout.name else ()
    rows: list[tuple[Cell, ...]] = [(item, *(part.counts.get(item) for part in parts)) for item in items]
    rows += [
        (name.replace("_", " "), *(shown_rate(name, part.rates.get(name, math.nan)) for part in parts)) for name in parts[0].rates
    ]
    rows.append(("sentences", *(part.sentences for part in parts)))
    notes: list[str] = []
    for result in noted:
        who = f"{result.system}: " if len(noted) > 1 else ""
        notes += [f"{who}Sentences left out: {result.skipped}."] if result.skipped else []
        notes += [f"{who}{result.evalb}"] if result.evalb is not None else []
        notes.append(str(result.signature))
    return Table(title, (metric, *names), tuple(rows), tuple(notes))


def tidy_table(results: Sequence[Result]) -> Table:
    """All rates at full precision, a row each: what a spreadsheet or data frame wants."""
    rows: list[tuple[Cell, ...]] = []
    for result in results:
        for name, part in (("all", result.total), (f"<={result.short.length}", result.short)):
            rows += [(result.system, result.metric, name, part.sentences, rate, value) for rate, value in part.rates.items()]
    return Table("", ("system", "metric", "length", "sentences", "rate", "value"), tuple(rows))
