"""A forest as a notebook shows it: how many parses, how sure, the best tree, and for a short sentence its chart of posteriors."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

from treegauge.metrics.tables import Table
from treegauge.parsing.heatmap import draw_posteriors
from treegauge.trees.drawing import draw_svg, fold_to

if TYPE_CHECKING:
    from treegauge.parsing.forest import Forest

__all__ = ["forest_html"]

_MOST_WORDS = 12


def forest_html(forest: Forest) -> str:
    """The forest as HTML.

    >>> from treegauge.grammar.pcfg import PCFG
    >>> from treegauge.parsing.forest import Forest
    >>> grammar = PCFG.parse('S -> S S [.5] | "x" [.5]')
    >>> html = forest_html(Forest(grammar, ["x", "x", "x"]))
    >>> "<td style=\\"text-align: left\\">2</td>" in html, html.count("<svg")
    (True, 2)
    """
    title = escape(" ".join(forest.words))
    if not forest.has_parse:
        return f"<p>{title}</p><p>The grammar has no parse for this sentence.</p>"
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
    parts = [f"<p>{title}</p>", facts.as_html(), draw_svg(tree, folded=fold_to(tree), id_prefix="best-")]
    if forest.n <= _MOST_WORDS:
        parts.append(draw_posteriors(forest.words, forest.shown_constituents()))
    return "".join(parts)
