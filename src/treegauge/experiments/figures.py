"""Line figures of experiments: a value, drawn as SVG, with its data as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from treegauge.reports.plotting import LINE_STYLES, new_figure, save_figure

__all__ = ["Line", "LineFigure"]


@dataclass(frozen=True)
class Line:
    """A named line, and the band around it if there is one."""

    name: str
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None


@dataclass(frozen=True)
class LineFigure:
    """Lines over the same x."""

    name: str
    title: str
    x_label: str
    y_label: str
    x: Sequence[float]
    lines: Sequence[Line]

    def draw(self, path: str) -> None:
        """Write the figure; the suffix says as what."""
        figure, axes = new_figure()
        every = max(1, len(self.x) // 15)
        for line, style in zip(self.lines, LINE_STYLES, strict=False):
            axes.plot(self.x, line.y, label=line.name, markersize=4, linewidth=1.3, markevery=every, **style)
            if line.low is not None and line.high is not None:
                axes.fill_between(self.x, line.low, line.high, color=style["color"], alpha=0.12, linewidth=0)
        axes.set(xlabel=self.x_label, ylabel=self.y_label, title=self.title)
        axes.legend(frameon=False)
        save_figure(figure, path)

    def csv(self) -> str:
        """A row for each x, a column for each line and the ends of its band."""
        columns = [(self.x_label, self.x)]
        for line in self.lines:
            columns.append((line.name, line.y))
            if line.low is not None and line.high is not None:
                columns += [(f"{line.name} (low)", line.low), (f"{line.name} (high)", line.high)]
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([name for name, _ in columns])
        writer.writerows(zip(*(values for _, values in columns), strict=True))
        return text.getvalue()
