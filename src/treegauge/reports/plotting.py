"""What all plots share: matplotlib on demand, the same bytes for the same data, signs that do not need colour."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from treegauge.errors import MissingExtra

__all__ = ["LINE_STYLES", "new_figure", "save_figure", "sparkline"]

LINE_STYLES = [
    {"color": colour, "marker": marker, "linestyle": line}
    for colour, marker, line in zip(
        # Okabe & Ito's colours, which colour-blind readers can tell apart; marker and dash tell the systems apart in grey.
        ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#B8A500"],
        ["o", "s", "^", "D", "v", "P", "X", "*"],
        ["-", "--", "-.", ":", "-", "--", "-.", ":"],
        strict=True,
    )
]


def new_figure(width: float = 7.0, height: float = 4.2) -> tuple[Any, Any]:
    """A matplotlib figure and its axes, drawn without a screen."""
    try:
        matplotlib: Any = importlib.import_module("matplotlib")
        make_figure: Any = importlib.import_module("matplotlib.figure").Figure
    except ImportError:
        raise MissingExtra("a plot", "plot") from None
    matplotlib.rcParams.update({"svg.hashsalt": "treegauge", "svg.fonttype": "none"})
    figure = make_figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", linewidth=0.4, alpha=0.6)
    return figure, axes


def save_figure(figure: Any, path: str | Path) -> Path:
    """Write a figure as SVG, PDF or PNG by its suffix, without the date that would make every run differ."""
    path = Path(path)
    metadata: dict[str, Any] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix, {})
    figure.savefig(path, metadata=metadata, dpi=160)
    return path


_BARS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float], *, ascii_only: bool = False) -> str:
    """Values between 0 and 1 as one character each.

    >>> sparkline([1, 0.5, 0.1, 0]), sparkline([1, 0.5, 0.1, 0], ascii_only=True)
    ('█▅▁▁', '#=..')
    """
    bars = ".-=#" if ascii_only else _BARS
    return "".join(bars[min(int(max(value, 0.0) * len(bars)), len(bars) - 1)] for value in values)
