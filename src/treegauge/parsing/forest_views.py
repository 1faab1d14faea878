"""Views of a forest for people: its chart as a table, its posteriors as a picture, and the summary that a notebook shows.

In a notebook the table is HTML without scripts: a cell shows its likeliest symbol, and a click opens it to show all symbols and the
rules that derive them. As text the table has a line for each cell.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from treegauge.parsing.chart_layout import LOG_SUM, cells
from treegauge.parsing.posterior_view import Constituent
from treegauge.tables import Table, optional_library
from treegauge.trees.drawing import draw_svg, fold_to

if TYPE_CHECKING:
    from treegauge.parsing.forest import Forest

_MOST_ENTRIES = 20
_STYLE = (
    "<style>.tg-chart{border-collapse:collapse;font-size:90%}.tg-chart th,.tg-chart td{border:1px solid #8888;padding:2px 6px;"
    "vertical-align:bottom;text-align:left}.tg-chart td.none{border:none}.tg-chart summary{cursor:pointer;white-space:nowrap}"
    ".tg-chart .dead{opacity:.6}.tg-chart table{border-collapse:collapse;margin:4px 0}.tg-chart table td,.tg-chart table th{"
    "font-size:90%;white-space:nowrap}</style>"
)


class ChartEntry(NamedTuple):
    """A symbol over a span, with its inside probability and its posterior, which is 0 if the symbol is in no parse there."""

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
        """The logarithm of the factor by which the chart scales each word; 0 for a word that is not scaled."""
        own, scaled = self.forest.leaves, self.forest.inside_chart.grid.leaves
        if self.forest.inside_chart.mode == LOG_SUM:
            return [0.0] * self.forest.n
        first = own.first.tolist()
        return [math.log(scaled.weight[i] / own.weight[i]) if i < j else 0.0 for i, j in itertools.pairwise(first)]

    def __repr__(self) -> str:
        return f"<ChartTable over {self.forest.n} words: {len(self.entries)} symbols in spans of up to {self.longest}>"

    def __str__(self) -> str:
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

    def to_frame(self) -> Any:
        """The entries as a pandas data frame."""
        return optional_library("pandas", "a data frame").DataFrame(self.entries)

    def _repr_html_(self) -> str:
        return self.html()

    def html(self) -> str:
        """The table: a row for each length, the longest spans at the top, the words at the bottom; a click opens a cell."""
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
        """The rules that some parse uses over each span, as text with the positions where their children meet, and posteriors."""
        found: dict[tuple[int, int], list[str]] = {}
        for rule in self.forest.anchored_rules():
            start, *middle, end = rule.boundaries
            parts = f" at {', '.join(map(str, middle))}" if middle else ""
            found.setdefault((start, end), []).append(f"{rule.production}{parts}: {rule.posterior:.4f}")
        return found


_CELL, _MARGIN, _WORDS = 64, 16, 40


def draw_posteriors(words: Sequence[str], constituents: Sequence[Constituent]) -> str:
    """An SVG picture: each cell shows its span's likeliest label and its posterior; the tooltip lists all labels.

    >>> svg = draw_posteriors(["a", "b"], [Constituent(0, 2, "S", 1.0), Constituent(0, 1, "A", 0.75)])
    >>> svg.count("<rect"), "S 1.00" in svg
    (4, True)
    """
    n = len(words)
    width, height = n * _CELL + 2 * _MARGIN, n * _CELL + 2 * _MARGIN + _WORDS
    by_span: dict[tuple[int, int], list[Constituent]] = {}
    for constituent in constituents:
        by_span.setdefault((constituent.start, constituent.end), []).append(constituent)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" font-size="11" role="img" aria-label="Posteriors of the constituents of a sentence">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    for d in range(1, n + 1):
        for s in range(n - d + 1):
            found = sorted(by_span.get((s, s + d), []), key=lambda c: (-c.posterior, c.label))
            parts.append(_cell(words, s, s + d, found))
    for i, word in enumerate(words):
        x, y = _MARGIN + i * _CELL + _CELL / 2, height - _MARGIN - _WORDS / 3
        parts.append(f'<text x="{x:g}" y="{y:g}" text-anchor="middle">{_short(word)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _cell(words: Sequence[str], s: int, t: int, found: Sequence[Constituent]) -> str:
    n, d = len(words), t - s
    x, y = _MARGIN + (s + (d - 1) / 2) * _CELL, _MARGIN + (n - d) * _CELL
    best = min(1.0, found[0].posterior) if found else 0.0
    shade = round(255 - 155 * best)
    lines = [f"{s}-{t} {' '.join(words[s:t])}", *(f"{c.label} {c.posterior:.4f}" for c in found)]
    title = escape("\n".join(lines))
    box = (
        f'<g><title>{title}</title><rect x="{x:g}" y="{y:g}" width="{_CELL - 2}" height="{_CELL - 2}" rx="3" '
        f'fill="#{shade:02x}{shade:02x}ff" stroke="#ccc"/>'
    )
    if found:
        # The number says what the shade says: nothing depends on colour alone.
        text = f"{found[0].label} {found[0].posterior:.2f}"
        box += f'<text x="{x + _CELL / 2 - 1:g}" y="{y + _CELL / 2 + 3:g}" text-anchor="middle">{_short(text)}</text>'
    return box + "</g>"


def _short(text: str, most: int = 11) -> str:
    return escape(text if len(text) <= most else text[: most - 1] + "…")


_MOST_WORDS = 12


def forest_html(forest: Forest) -> str:
    """A summary of a forest as HTML: its numbers of parses, probabilities, the best tree, and the chart of a short sentence.

    >>> from treegauge.grammar.pcfg import PCFG
    >>> from treegauge.parsing.forest import Forest
    >>> grammar = PCFG.parse('S -> S S [.5] | "x" [.5]')
    >>> html = forest_html(Forest(grammar, ["x", "x", "x"]))
    >>> "<td style=\\"text-align: left\\">2</td>" in html, html.count("<svg"), html.count("<details")
    (True, 1, 6)
    """
    title = escape(" ".join(forest.words))
    chart = forest.chart_table().html() if forest.n <= _MOST_WORDS else ""
    if not forest.has_parse:
        missing = f" Not in the grammar: {escape(', '.join(forest.unknown_words))}." if forest.unknown_words else ""
        return f"<p>{title}</p><p>The grammar has no parse for this sentence.{missing}</p>{chart}"
    parses = forest.n_parses
    shown = "infinitely many" if parses == math.inf else f"{parses:,}" if parses < 10**15 else f"{parses:.3e}"
    facts = Table(
        "",
        ("forest", "value"),
        (
            ("parses", shown),
            ("log probability of the words", f"{forest.log_partition:.4f}"),
            ("entropy", f"{forest.entropy() / math.log(2):.3f} bits ({forest.entropy():.3f} nats)"),
            ("log probability of the best parse", f"{forest.best().log_probability:.4f}"),
        ),
    )
    tree = forest.best().tree
    return "".join([f"<p>{title}</p>", facts.as_html(), draw_svg(tree, folded=fold_to(tree), id_prefix="best-"), chart])
