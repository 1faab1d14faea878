"""What all plots share: matplotlib on demand, the same bytes for the same data, signs that do not need colour.

FREVAL's figures for any set of systems: F1 by fragment size, the difference to a baseline, and a zoom (Bastings & Sima'an 2014).

The data of each figure is written beside it as CSV.

The blame for a chunk model's entropy as a bar chart.
"""

from __future__ import annotations

import csv
import importlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treegauge.errors import MissingExtra, UnknownName
from treegauge.metrics.freval import SizeScore
from treegauge.tables import Table

__all__ = [
    "LINE_STYLES",
    "Curve",
    "curves_csv",
    "difference",
    "draw_blame",
    "new_figure",
    "save_figure",
    "sparkline",
    "write_figures",
]

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


@dataclass(frozen=True)
class Curve:
    """A system and its F1 for the sizes 1, 2, 3 ..."""

    system: str
    f1: tuple[float, ...]

    @classmethod
    def of(cls, system: str, scores: Sequence[SizeScore]) -> Curve:
        return cls(system, tuple(score.f1 for score in scores))

    def between(self, first: int, last: int) -> tuple[float, ...]:
        """F1 for the sizes ``first`` ... ``last``; 0 beyond the largest."""
        return tuple(self.f1[size - 1] if size <= len(self.f1) else 0.0 for size in range(first, last + 1))


def difference(curves: Sequence[Curve], baseline: str) -> list[Curve]:
    """Each other system's F1 minus the baseline's, size by size."""
    by_name = {curve.system: curve for curve in curves}
    if baseline not in by_name:
        raise UnknownName("baseline system", baseline, by_name)
    largest = max(len(curve.f1) for curve in curves)
    base = by_name[baseline].between(1, largest)
    return [
        Curve(curve.system, tuple(a - b for a, b in zip(curve.between(1, largest), base, strict=True)))
        for curve in curves
        if curve.system != baseline
    ]


def curves_csv(curves: Sequence[Curve], first: int, last: int) -> str:
    """The data of a figure: a row per size, a column per system."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["size", *(curve.system for curve in curves)])
    columns = [curve.between(first, last) for curve in curves]
    writer.writerows([size, *values] for size, *values in zip(range(first, last + 1), *columns, strict=True))
    return text.getvalue()


def write_figures(
    curves: Sequence[Curve], folder: Path, *, baseline: str, suffix: str = ".svg", upto: int = 15, zoom: tuple[int, int] = (6, 13)
) -> list[Path]:
    """Write the paper's three figures and their data; returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    figures = [
        ("f1_by_size", curves, 1, upto, "F1", "F1 by fragment size"),
        ("f1_zoom", curves, *zoom, "F1", f"F1 for fragment sizes {zoom[0]}-{zoom[1]}"),
    ]
    if len(curves) > 1:
        against = difference(curves, baseline)
        figures.insert(1, ("f1_difference", against, 1, upto, f"F1 - F1({baseline})", f"Difference to {baseline}"))
    written: list[Path] = []
    for name, shown, first, last, axis, title in figures:
        data = folder / f"{name}.csv"
        data.write_text(curves_csv(shown, first, last), "utf-8")
        written += [_draw(shown, first, last, axis, title, folder / f"{name}{suffix}"), data]
    return written


def _draw(curves: Sequence[Curve], first: int, last: int, axis: str, title: str, path: Path) -> Path:
    figure, axes = new_figure()
    sizes = list(range(first, last + 1))
    for curve, style in zip(curves, LINE_STYLES * (1 + len(curves) // len(LINE_STYLES)), strict=False):
        axes.plot(sizes, curve.between(first, last), label=curve.system, markersize=4, linewidth=1.4, **style)
    if axis.startswith("F1 -"):
        axes.axhline(0, color="black", linewidth=0.8)
    axes.set(xlabel="fragment size (nodes)", ylabel=axis, title=title, xlim=(first - 0.3, last + 0.3))
    axes.set_xticks(sizes if len(sizes) <= 20 else sizes[:: max(1, len(sizes) // 15)])
    axes.legend(frameon=False)
    return save_figure(figure, path)


def draw_blame(table: Table, path: Path) -> Path:
    """Each category's share of the entropy beside the share expected if entropy ignored categories."""
    rows = [row for row in table.rows if isinstance(row[1], float) and row[1] == row[1]]
    figure, axes = new_figure(height=0.32 * len(rows) + 1.4)
    places = list(range(len(rows)))
    axes.barh(
        [place - 0.2 for place in places],
        [100 * float(row[1] or 0) for row in rows],
        0.4,
        color="#0072B2",
        label="% of the entropy",
    )
    axes.barh(
        [place + 0.2 for place in places],
        [100 * float(row[2] or 0) for row in rows],
        0.4,
        color="#E69F00",
        hatch="///",
        edgecolor="white",
        label="expected",
    )
    axes.set_yticks(places, [str(row[0]) for row in rows])
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x", linewidth=0.4, alpha=0.6)
    axes.set(xlabel="%", title=table.title)
    axes.legend(frameon=False, loc="lower right")
    return save_figure(figure, path)
