"""Line and bar figures of experiments, drawn as SVG, with their data as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from treegauge.reports.plots import LINE_STYLES, new_figure, save_figure

__all__ = ["BarFigure", "Line", "LineFigure"]


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


@dataclass(frozen=True)
class BarFigure:
    """For each group (along x) a bar for each series; ``paper[series][i]`` is the paper's value, drawn as a line across the bar."""

    name: str
    title: str
    y_label: str
    groups: Sequence[str]
    series: Mapping[str, Sequence[float]]
    paper: Mapping[str, Sequence[float]] = field(default_factory=dict[str, Sequence[float]])

    def draw(self, path: str) -> None:
        """Write the figure; the suffix says as what."""
        figure, axes = new_figure(8.4)
        width = 0.8 / max(1, len(self.series))
        for number, (name, values) in enumerate(self.series.items()):
            style = LINE_STYLES[number % len(LINE_STYLES)]
            middle = [x - 0.4 + (number + 0.5) * width for x in range(len(self.groups))]
            axes.bar(middle, values, 0.9 * width, label=name, color=style["color"], alpha=0.85)
            if name in self.paper:
                label = "paper" if number == len(self.series) - 1 else None
                axes.hlines(
                    self.paper[name],
                    [x - 0.45 * width for x in middle],
                    [x + 0.45 * width for x in middle],
                    color="black",
                    linewidth=2,
                    label=label,
                )
        axes.set(ylabel=self.y_label, title=self.title)
        axes.set_xticks(range(len(self.groups)), self.groups)
        axes.legend(frameon=False, ncols=len(self.series) + 1, fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.08))
        save_figure(figure, path)

    def csv(self) -> str:
        """A row for each bar: group, series, ours, the paper's."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["group", "series", "ours", "paper"])
        for name, values in self.series.items():
            printed = self.paper.get(name) or [""] * len(values)
            writer.writerows(zip(self.groups, [name] * len(values), values, printed, strict=True))
        return text.getvalue()
