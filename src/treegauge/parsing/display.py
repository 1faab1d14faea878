"""Pictures of a forest: the chart of posteriors as SVG, and the summary that a notebook shows."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from treegauge.parsing.posteriors import Constituent
from treegauge.tables import Table
from treegauge.trees.drawing import draw_svg, fold_to

if TYPE_CHECKING:
    from treegauge.parsing.forest import Forest

__all__ = ["draw_posteriors", "forest_html"]

_CELL, _MARGIN, _WORDS = 64, 16, 40


def draw_posteriors(words: Sequence[str], constituents: Sequence[Constituent]) -> str:
    """An SVG picture: each cell shows its span's likeliest label and posterior; the tooltip lists all.

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
    title = html.escape("\n".join(lines))
    box = (
        f'<g><title>{title}</title><rect x="{x:g}" y="{y:g}" width="{_CELL - 2}" height="{_CELL - 2}" rx="3" '
        f'fill="rgb({shade},{shade},255)" stroke="#ccc"/>'
    )
    if found:
        # Numbers beside the shade: nothing rests on colour alone.
        text = f"{found[0].label} {found[0].posterior:.2f}"
        box += f'<text x="{x + _CELL / 2 - 1:g}" y="{y + _CELL / 2 + 3:g}" text-anchor="middle">{_short(text)}</text>'
    return box + "</g>"


def _short(text: str, most: int = 11) -> str:
    return html.escape(text if len(text) <= most else text[: most - 1] + "…")


_MOST_WORDS = 12


def forest_html(forest: Forest) -> str:
    """The forest as HTML.

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
            ("log probability", f"{forest.log_partition:.4f}"),
            ("entropy in bits", f"{forest.entropy() / math.log(2):.3f}"),
            ("log probability of the best parse", f"{forest.best().log_probability:.4f}"),
        ),
    )
    tree = forest.best().tree
    return "".join([f"<p>{title}</p>", facts.as_html(), draw_svg(tree, folded=fold_to(tree), id_prefix="best-"), chart])
