"""Figures as files for papers, with the same bytes for the same data.

SVG is drawn as on the report's page; PDF and PNG are drawn by matplotlib (the extra ``[plot]``).
"""

from __future__ import annotations

import importlib
import io
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from treegauge.errors import MissingExtra, UsageError
from treegauge.io.writing import write_bytes
from treegauge.reports.charts import figure_file
from treegauge.reports.figures import COLOURS, Figure

LINE_STYLES = [
    # Markers and dashes distinguish the systems in grey print.
    {"color": colour, "marker": marker, "linestyle": line}
    for colour, marker, line in zip(
        COLOURS,
        ["o", "s", "^", "D", "v", "P", "X", "*", "<", ">"],
        ["-", "--", "-.", ":", "-", "--", "-.", ":", "-", "--"],
        strict=True,
    )
]
_MOST_NAMES = 20


def new_figure(width: float = 7.0, height: float = 4.2) -> tuple[Any, Any]:
    """A matplotlib figure and its axes, drawn without a screen."""
    try:
        matplotlib: Any = importlib.import_module("matplotlib")
        make_figure: Any = importlib.import_module("matplotlib.figure").Figure
    except ImportError:
        raise MissingExtra("a plot", "plot") from None
    matplotlib.rcParams.update({"svg.hashsalt": "treegauge", "svg.fonttype": "none", "pdf.fonttype": 42})
    figure = make_figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", linewidth=0.4, alpha=0.6)
    return figure, axes


def figure_format(path: str | Path) -> str:
    """The format that a file's suffix names: svg, pdf or png; any other suffix is an error.

    >>> figure_format("rates.PDF")
    'pdf'
    """
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix not in ("svg", "pdf", "png"):
        raise UsageError(f"{path}: a figure is written as SVG, PDF or PNG: name the file .svg, .pdf or .png")
    return suffix


def save_figure(figure: Any, path: str | Path) -> Path:
    """Write a matplotlib figure as SVG, PDF or PNG by the file's suffix, without a date, which would differ in every run."""
    path, data = Path(path), io.BytesIO()
    form = figure_format(path)
    metadata: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(form, {})
    figure.savefig(data, format=form, metadata=metadata, dpi=160)
    write_bytes(data.getvalue(), path)
    return path


def write_figure(figure: Figure, path: str | Path, *, data: bool = False) -> list[Path]:
    """Draw a figure into a file (SVG, PDF or PNG by its suffix) and, with ``data``, write its data beside it; returns the files."""
    path = Path(path)
    if path.suffix.lower() == ".svg":
        write_bytes(figure_file(figure).encode("utf-8", "replace"), path)
    else:
        _plot(figure, path)
    written = [path]
    if data:
        table = path.with_suffix(".csv")
        write_bytes(figure.csv().encode("utf-8", "replace"), table)
        written.append(table)
    return written


def _plot(figure: Figure, path: Path) -> None:
    """Draw a figure with matplotlib."""
    height = 4.2 if figure.kind != "points" else 1.2 + len(figure.names) * _row_height(figure)
    canvas, axes = new_figure(height=max(height, 2.0))
    _DRAW[figure.kind](figure, axes)
    axes.set_title(figure.title, fontsize="medium")
    if len(figure.series) > 1:
        axes.legend(frameon=False, fontsize="small")
    save_figure(canvas, path)


def _row_height(figure: Figure) -> float:
    return 0.13 * len(figure.series) + 0.14 if any(one.low for one in figure.series) else 0.28


def _axis_values(values: Any, figure: Figure) -> list[float]:
    """The values as the axis shows them, in percent if the figure is."""
    return [100 * value if figure.percent else value for value in values]


def _draw_lines(figure: Figure, axes: Any) -> None:
    places = list(range(len(figure.names)))
    for number, one in enumerate(figure.series):
        style = LINE_STYLES[number % len(LINE_STYLES)]
        axes.plot(places, _axis_values(one.values, figure), label=one.name, markersize=4, linewidth=1.4, **style)
    values = [value for one in figure.series for value in one.values if math.isfinite(value)]
    if min(values, default=0.0) < 0 < max(values, default=0.0):
        axes.axhline(0, color="black", linewidth=0.8)
    elif figure.zero:
        axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]) if min(values, default=0.0) < 0 else 0.0)
    every = max(1, -(-len(places) // _MOST_NAMES))
    axes.set_xticks(places[::every], list(figure.names)[::every], rotation=30 if max(map(len, figure.names), default=0) > 4 else 0)
    axes.set(xlabel=figure.x_title, ylabel=_with_unit(figure.y_title, figure))


def _draw_points(figure: Figure, axes: Any) -> None:
    rows = len(figure.names)
    step = 0.7 / max(len(figure.series), 1)
    for number, one in enumerate(figure.series):
        style = LINE_STYLES[number % len(LINE_STYLES)]
        offset = step * (number - (len(figure.series) - 1) / 2)
        places = [index + offset for index in range(rows)]
        values = _axis_values(one.values, figure)
        options: dict[str, Any] = {"color": style["color"], "marker": style["marker"], "linestyle": "none", "markersize": 4}
        if one.low:
            low, high = _axis_values(one.low, figure), _axis_values(one.high, figure)
            below = [max(value - end, 0.0) for value, end in zip(values, low, strict=True)]
            above = [max(end - value, 0.0) for value, end in zip(values, high, strict=True)]
            axes.errorbar(values, places, xerr=[below, above], label=one.name, capsize=2, elinewidth=1, **options)
        else:
            axes.plot(values, places, label=one.name, **options)
    axes.set_yticks(range(rows), list(figure.names))
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x", linewidth=0.4, alpha=0.6)
    if figure.zero:
        axes.set_xlim(left=min(0.0, axes.get_xlim()[0]))
    axes.set(xlabel=_with_unit(figure.x_title, figure))


def _draw_columns(figure: Figure, axes: Any) -> None:
    width = 0.8 / max(len(figure.series), 1)
    for number, one in enumerate(figure.series):
        middle = [index - 0.4 + (number + 0.5) * width for index in range(len(figure.names))]
        hatch = "" if number % 2 == 0 else "///"
        axes.bar(middle, _axis_values(one.values, figure), 0.9 * width, label=one.name, color=COLOURS[number % len(COLOURS)],
                 hatch=hatch, edgecolor="white", linewidth=0.3)  # fmt: skip
    axes.set_xticks(range(len(figure.names)), list(figure.names))
    axes.set(xlabel=figure.x_title, ylabel=_with_unit(figure.y_title, figure))


def _with_unit(title: str, figure: Figure) -> str:
    return f"{title} (%)" if figure.percent and title and "%" not in title else title or ("%" if figure.percent else "")


_DRAW: Mapping[str, Callable[[Figure, Any], None]] = {"lines": _draw_lines, "points": _draw_points, "columns": _draw_columns}
