"""The chart of a sentence as a table for people: every symbol of every span, with its inside probability and its posterior.

In a notebook the table is HTML whose cells open at a click, without a script: each cell shows its likeliest symbol and, opened, all
symbols and the rules that made them. As text it is a line a cell.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from treegauge.parsing.layout import cells
from treegauge.parsing.semirings import LOG_SUM

if TYPE_CHECKING:
    from treegauge.parsing.forest import Forest

__all__ = ["ChartEntry", "ChartTable"]

_MOST_ENTRIES = 20
_STYLE = (
    "<style>.tg-chart{border-collapse:collapse;font-size:90%}.tg-chart th,.tg-chart td{border:1px solid #8888;padding:2px 6px;"
    "vertical-align:bottom;text-align:left}.tg-chart td.none{border:none}.tg-chart summary{cursor:pointer;white-space:nowrap}"
    ".tg-chart .dead{opacity:.6}.tg-chart table{border-collapse:collapse;margin:4px 0}.tg-chart table td,.tg-chart table th{"
    "font-size:90%;white-space:nowrap}</style>"
)


class ChartEntry(NamedTuple):
    """A symbol over a span: its inside probability, and its posterior, 0 if it is in no parse of the sentence."""

    start: int
    end: int
    symbol: str
    inside: float
    posterior: float


@dataclass(frozen=True)
class ChartTable:
    """The chart of a forest, up to spans of ``longest`` words; see :meth:`treegauge.Forest.chart_table`."""

    forest: Forest
    longest: int

    @cached_property
    def entries(self) -> list[ChartEntry]:
        """All entries, shorter spans first; symbols of internal binarisation are left out."""
        forest, found = self.forest, self.forest.inside_chart
        starts, ends = cells(forest.n, found.chart)
        posterior = forest.posterior if forest.has_parse else np.zeros(len(found.chart.value))
        values = found.chart.value if found.mode == LOG_SUM else np.log(found.chart.value)
        before = np.concatenate([[0.0], np.cumsum(self._log_factors())])
        entries = [
            ChartEntry(s, t, forest.binary.symbols[X], math.exp(value - before[t] + before[s]), g)
            for s, t, X, value, g in zip(
                starts.tolist(), ends.tolist(), found.chart.symbol.tolist(), values.tolist(), posterior.tolist(), strict=True
            )
            if forest.binary.visible > X and t - s <= self.longest
        ]
        return sorted(entries, key=lambda e: (e.end - e.start, e.start, -e.posterior, -e.inside, e.symbol))

    def _log_factors(self) -> list[float]:
        """The logarithm of the factor by which the chart scales each word; 0 where it scales none."""
        own, scaled = self.forest.leaves, self.forest.inside_chart.grid.leaves
        if self.forest.inside_chart.mode == LOG_SUM:
            return [0.0] * self.forest.n
        first = own.first.tolist()
        return [math.log(scaled.weight[i] / own.weight[i]) if i < j else 0.0 for i, j in itertools.pairwise(first)]

    def __repr__(self) -> str:
        lines = list[str]()
        for (start, end), found in self._by_span().items():
            words = " ".join(self.forest.words[start:end])
            lines.append(f"{start}-{end} {words}: " + ", ".join(f"{e.symbol} {e.inside:.4g} ({e.posterior:.4f})" for e in found))
        return "\n".join(lines) or "(an empty chart)"

    def _by_span(self) -> dict[tuple[int, int], list[ChartEntry]]:
        found: dict[tuple[int, int], list[ChartEntry]] = {}
        for entry in self.entries:
            found.setdefault((entry.start, entry.end), []).append(entry)
        return found

    def _repr_html_(self) -> str:
        return self.html()

    def html(self) -> str:
        """The table: a row for each length, the longest spans on top, the words below; a cell opens at a click."""
        by_span, rules, n = self._by_span(), self._rules(), self.forest.n
        rows = list[str]()
        for width in range(min(n, self.longest), 0, -1):
            row = [f"<th>{width}</th>"]
            row += [self._cell(s, s + width, by_span.get((s, s + width), []), rules) for s in range(n - width + 1)]
            row += ['<td class="none"></td>'] * (width - 1)
            rows.append(f"<tr>{''.join(row)}</tr>")
        head = "".join(f"<th>{escape(word)}</th>" for word in self.forest.words)
        caption = "Rows: number of words; columns: first word. Click a cell for its symbols, inside probabilities and posteriors."
        body = f"<caption>{caption}</caption><tbody>{''.join(rows)}<tr><th></th>{head}</tr></tbody>"
        return f'{_STYLE}<table class="tg-chart">{body}</table>'

    def _cell(self, s: int, t: int, found: list[ChartEntry], rules: dict[tuple[int, int], list[str]]) -> str:
        words = escape(f"{s}-{t} {' '.join(self.forest.words[s:t])}")
        if not found:
            return f'<td title="{words}"></td>'
        best, others = found[0], f" +{len(found) - 1}" if len(found) > 1 else ""
        lines = "".join(
            f"<tr><td>{escape(e.symbol)}</td><td>{e.inside:.4g}</td><td>{e.posterior:.4f}</td></tr>" for e in found[:_MOST_ENTRIES]
        )
        if len(found) > _MOST_ENTRIES:
            lines += f'<tr><td colspan="3">and {len(found) - _MOST_ENTRIES:,} more</td></tr>'
        made = "".join(f"<div>{escape(line)}</div>" for line in rules.get((s, t), [])[:_MOST_ENTRIES])
        shade = f' style="background:rgba(80,120,255,{0.45 * min(best.posterior, 1.0):.2f})"' if best.posterior > 0 else ""
        summary = f"{escape(best.symbol)} {best.posterior:.2f}{others}"
        inner = f"<table><tr><th>symbol</th><th>inside</th><th>posterior</th></tr>{lines}</table>{made}"
        dead = "" if best.posterior > 0 else ' class="dead"'
        return f'<td title="{words}"{shade}><details{dead}><summary>{summary}</summary><b>{words}</b>{inner}</details></td>'

    def _rules(self) -> dict[tuple[int, int], list[str]]:
        """The rules used over each span in some parse, with the words where their children meet, and their posteriors."""
        found: dict[tuple[int, int], list[str]] = {}
        for rule in self.forest.anchored_rules():
            start, *middle, end = rule.boundaries
            parts = f" at {', '.join(map(str, middle))}" if middle else ""
            found.setdefault((start, end), []).append(f"{rule.production}{parts}: {rule.posterior:.4f}")
        return found
