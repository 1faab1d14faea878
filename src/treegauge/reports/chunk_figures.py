"""The blame for a chunk model's entropy as a bar chart."""

from __future__ import annotations

from pathlib import Path

from treegauge.metrics.tables import Table
from treegauge.reports.plotting import new_figure, save_figure

__all__ = ["draw_blame"]


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
