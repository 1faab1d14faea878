"""Pictures as files, with the same bytes for the same data: SVG as it is drawn, PDF and PNG from the same SVG by matplotlib.

matplotlib (the extra ``[plot]``) draws the elements that our own pictures consist of: rectangles, circles, paths and text, with
colours, dashes and positions as attributes. It knows no style sheets; those of our pictures repeat what the attributes say.
"""

from __future__ import annotations

import importlib
import io
import math
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree

from treegauge.errors import MissingExtra, UsageError
from treegauge.io.writing import write_bytes
from treegauge.reports.comparison_figures import comparison_figure
from treegauge.reports.figures import Figure, figure_file
from treegauge.significance.comparison import Comparison

_DPI = 100
_POINTS = 72 / _DPI
_NARROWER = 0.9
"""matplotlib's own font is wider than the fonts for which pictures are laid out."""
_LARGEST = {"png": 30_000 / 2, "pdf": 200 * _DPI}
"""The largest side of a picture, in pixels of its layout: 30,000 pixels of PNG, 200 inches of PDF."""
_INHERITED = (
    *("fill", "stroke", "stroke-width", "stroke-dasharray", "fill-opacity", "stroke-opacity"),
    *("font-size", "font-weight", "text-anchor", "color"),
)
_COMMAND = re.compile(r"([a-zA-Z])([^a-zA-Z]*)")
_NUMBER = re.compile(r"-?\.?\d[\d.]*")

_Style = dict[str, str]
_Element = ElementTree.Element


def figure_format(path: str | Path) -> str:
    """The format that a file's suffix names: svg, pdf or png; any other suffix is an error.

    >>> figure_format("rates.PDF")
    'pdf'
    """
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix not in ("svg", "pdf", "png"):
        raise UsageError(f"{path}: a figure is written as SVG, PDF or PNG: name the file .svg, .pdf or .png")
    return suffix


def write_figure(figure: Figure | Comparison, path: str | Path, *, data: bool = False) -> list[Path]:
    """Draw a figure, or that of a comparison, into a file (SVG, PDF or PNG by its suffix) and, with ``data``, write its data beside
    it; returns the files."""
    figure = comparison_figure(figure) if isinstance(figure, Comparison) else figure
    if not isinstance(cast("object", figure), Figure):
        given = type(figure).__name__
        raise UsageError(f"a figure is made of a comparison, write_figure(treegauge.compare(...), 'x.svg'), not of a {given}")
    path = Path(path)
    write_bytes(draw_svg_as(figure_file(figure), figure_format(path)), path)
    tables = [path.with_suffix(".csv")] if data else []
    for table in tables:
        write_bytes(figure.csv().encode("utf-8", "replace"), table)
    return [path, *tables]


def draw_svg_as(svg: str, form: str) -> bytes:
    """One of our SVG pictures as it is, or as PDF or PNG without a date, so that the same picture gives the same bytes."""
    if form == "svg":
        return svg.encode("utf-8", "replace")
    root = ElementTree.fromstring(svg)
    width, height = (float(root.attrib[side]) for side in ("width", "height"))
    if max(width, height) > _LARGEST[form]:
        raise UsageError(
            f"a picture of {width:g} by {height:g} pixels is too large for {form.upper()}: choose fewer sentences, or draw SVG"
        )
    canvas = _Canvas(width, height)
    with warnings.catch_warnings():
        # A character that no installed font has is drawn as a box; a warning would add nothing.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        canvas.draw(root, 0.0, 0.0, {"fill": "black", "color": "#1b1b1b", "font-size": "14"})
        return canvas.bytes(form)


class _Canvas:
    """A matplotlib figure whose data coordinates are pixels, the first row at the top."""

    def __init__(self, width: float, height: float) -> None:
        try:
            self._matplotlib: Any = importlib.import_module("matplotlib")
            make_figure: Any = importlib.import_module("matplotlib.figure").Figure
            self._patches: Any = importlib.import_module("matplotlib.patches")
            self._path: Any = importlib.import_module("matplotlib.path").Path
            self._text: Any = importlib.import_module("matplotlib.textpath")
        except ImportError:
            raise MissingExtra("a PNG or PDF picture", "plot") from None
        self._matplotlib.rcParams["pdf.fonttype"] = 42
        self._figure = make_figure(figsize=(width / _DPI, height / _DPI), facecolor="white")
        self._axes = self._figure.add_axes((0, 0, 1, 1))
        self._axes.set(xlim=(0, width), ylim=(height, 0))
        self._axes.axis("off")

    def bytes(self, form: str) -> bytes:
        """The picture in a format; a PNG has two pixels for each one of the layout."""
        about = {"Software": "treegauge"} if form == "png" else {"Creator": "treegauge", "Producer": None, "CreationDate": None}
        data = io.BytesIO()
        self._figure.savefig(data, format=form, dpi=2 * _DPI, metadata=about)
        return data.getvalue()

    def draw(self, element: _Element, x: float, y: float, style: _Style) -> None:
        """Draw an element and those inside it, moved by ``x`` and ``y``; what it does not say is inherited from ``style``."""
        said = element.attrib
        style = style | {name: said[name] for name in _INHERITED if name in said}
        style["opacity"] = str(float(style.get("opacity", "1")) * float(said.get("opacity", "1")))
        name = element.tag.rpartition("}")[2]
        if name in ("svg", "g"):
            if name == "svg":
                x, y = x + float(said.get("x", "0")), y + float(said.get("y", "0"))
            elif moved := _NUMBER.findall(said.get("transform", "")):
                x, y = x + float(moved[0]), y + float(moved[1])
            for part in element:
                self.draw(part, x, y, style)
        elif name == "text":
            self._draw_text(element, x + float(said["x"]), y + float(said["y"]), style)
        elif name == "rect":
            # The paper below a picture has the picture's size, in pixels or in percent, and the canvas is white already.
            if "x" in said:
                shape = (x + float(said["x"]), y + float(said["y"])), float(said["width"]), float(said["height"])
                self._add(self._patches.Rectangle(*shape, **self._look(style)))
        elif name == "circle":
            self._add(self._patches.Circle((x + float(said["cx"]), y + float(said["cy"])), float(said["r"]), **self._look(style)))
        elif name == "path":
            points, codes = zip(*_path_points(said["d"], x, y), strict=True)
            self._add(self._patches.PathPatch(self._path(points, codes), **self._look(style)))

    def _add(self, patch: Any) -> None:
        self._axes.add_artist(patch)

    def _look(self, style: _Style) -> dict[str, Any]:
        fill, stroke = _colour(style, "fill"), _colour(style, "stroke")
        dashes = [_POINTS * float(number) for number in style.get("stroke-dasharray", "").split()]
        width = _POINTS * float(style.get("stroke-width", "1"))
        return {
            "facecolor": fill or (0, 0, 0, 0),
            "edgecolor": stroke or (0, 0, 0, 0),
            "linewidth": width if stroke else 0,
            "linestyle": (0, dashes) if dashes else "-",
        }

    def _draw_text(self, element: _Element, x: float, y: float, style: _Style) -> None:
        """Draw a line of text, whose parts may have colours of their own and be moved to the right."""
        parts = [(element.text or "", 0.0, style)]
        for part in element:
            own = style | {name: part.attrib[name] for name in _INHERITED if name in part.attrib}
            parts += [(part.text or "", float(part.get("dx", "0")), own), (part.tail or "", 0.0, style)]
        parts = [part for part in parts if part[0]]
        widths = [self._width(text, own) for text, _, own in parts]
        whole = sum(widths) + sum(moved for _, moved, _ in parts)
        x -= {"start": 0.0, "middle": whole / 2, "end": whole}[style.get("text-anchor", "start")]
        for (text, moved, own), width in zip(parts, widths, strict=True):
            # Without parse_math=False, a dollar sign would begin a formula.
            self._axes.text(x + moved, y, text, color=_colour(own, "fill"), parse_math=False, **self._font(own))
            x += moved + width

    def _font(self, style: _Style) -> dict[str, Any]:
        weight = "bold" if style.get("font-weight", "normal") in ("600", "bold") else "normal"
        return {"fontsize": _NARROWER * _POINTS * float(style["font-size"]), "weight": weight, "va": "baseline"}

    def _width(self, text: str, style: _Style) -> float:
        font = self._font(style)
        properties = importlib.import_module("matplotlib.font_manager").FontProperties(size=font["fontsize"], weight=font["weight"])
        return self._text.text_to_path.get_text_width_height_descent(text, properties, ismath=False)[0] / _POINTS


def _colour(style: _Style, name: str) -> tuple[str, float] | None:
    """The colour of a fill or stroke with its opacity; None if there is none."""
    colour = style.get(name, "none")
    if colour == "none":
        return None
    opacity = float(style.get(f"{name}-opacity", "1")) * float(style["opacity"])
    return (style["color"] if colour == "currentColor" else colour), opacity


_MOVE, _LINE, _CURVE, _CLOSE = 1, 2, 3, 79
"""matplotlib's codes of the parts of a path."""


def _path_points(d: str, left: float, top: float) -> Iterator[tuple[tuple[float, float], int]]:
    """The points of a path and matplotlib's code of each; arcs are half circles, as around a pill.

    >>> list(_path_points("M1 2h3V5z", 0, 0))
    [((1.0, 2.0), 1), ((4.0, 2.0), 2), ((4.0, 5.0), 2), ((1.0, 2.0), 79)]
    """
    x = y = 0.0
    start = x, y
    for command, rest in _COMMAND.findall(d):
        numbers = [float(number) for number in _NUMBER.findall(rest)]
        lower = command.lower()
        dx, dy = (x, y) if command.islower() else (0.0, 0.0)
        if lower == "z":
            yield (left + start[0], top + start[1]), _CLOSE
        elif lower in "hv":
            x, y = (dx + numbers[0], y) if lower == "h" else (x, dy + numbers[0])
            yield (left + x, top + y), _LINE
        elif lower == "a":
            radius, end = numbers[0], (dx + numbers[5], dy + numbers[6])
            middle, first = (y + end[1]) / 2, math.copysign(math.pi / 2, y - end[1])
            for step in range(1, 13):
                angle = first + math.pi * step / 12
                yield (left + x + radius * math.cos(angle), top + middle + radius * math.sin(angle)), _LINE
            x, y = end
        else:
            points = [(dx + numbers[i], dy + numbers[i + 1]) for i in range(0, len(numbers), 2)]
            code = {"m": _MOVE, "l": _LINE, "q": _CURVE}[lower]
            yield from (((left + a, top + b), code) for a, b in points)
            x, y = points[-1]
            start = (x, y) if lower == "m" else start
