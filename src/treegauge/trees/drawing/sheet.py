"""What every picture has: the frame, the style sheet, escaped text, and the shapes around marked labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape as escape_html
from typing import Literal, NamedTuple

from treegauge.trees.drawing.marks import MARKS, Mark

__all__ = ["STYLESHEET", "Frame", "Theme", "escape", "shapes"]

Theme = Literal["inherit", "light", "dark", "auto"]
_FONTS = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'Noto Sans', sans-serif"
_INK_AND_PAPER = {"light": ("#1b1b1b", "#ffffff"), "dark": ("#e8e8e8", "#1b1b1b"), "auto": ("#1b1b1b", "#ffffff")}

# A mark's colours stand in attributes too; this sheet only lets a page change them.
STYLESHEET = "".join(
    [
        ".treegauge .edges{stroke:var(--tree-line,currentColor)}",
        ".treegauge .words{fill:var(--tree-word,currentColor)}",
        *(
            f".treegauge .{mark.name}{{--mark:var(--tree-{mark.name},{mark.colour})}}"
            for mark in MARKS.values()
            if mark.name != "focus"
        ),
        ".treegauge .shape{stroke:var(--mark);fill:var(--mark)}",
        ".treegauge .sign{fill:var(--mark)}",
        ".treegauge .branch{stroke:var(--mark)}",
        ".treegauge .ring{stroke:var(--tree-focus,currentColor)}",
    ]
)
_AUTO = (
    ".treegauge.auto{color:#1b1b1b}"
    "@media (prefers-color-scheme:dark){.treegauge.auto{color:#e8e8e8}.treegauge.auto .paper{fill:#1b1b1b}}"
)


class Frame(NamedTuple):
    """The outside of a picture."""

    title: str
    description: str = ""
    id_prefix: str = ""
    theme: Theme = "inherit"
    stylesheet: bool = True
    font: int = 14

    def around(self, body: Iterable[str], width: int, height: int) -> str:
        """The whole picture. Lines at whole numbers are moved by half a pixel, which makes them sharp."""
        ink, paper = _INK_AND_PAPER.get(self.theme, ("", ""))
        style = (STYLESHEET if self.stylesheet else "") + (_AUTO if self.theme == "auto" else "")
        described = f' aria-describedby="{self.id_prefix}desc"' if self.description else ""
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="treegauge{" auto" if self.theme == "auto" else ""}" role="img"'
            f' aria-label="{escape(self.title)}"{described} width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
            f' font-family="{_FONTS}" font-size="{self.font}" text-anchor="middle" fill="currentColor"'
            + (f' color="{ink}">' if ink else ">"),
            f"<title>{escape(self.title)}</title>",
            f'<desc id="{self.id_prefix}desc">{escape(self.description)}</desc>' if self.description else "",
            f"<style>{style}</style>" if style else "",
            f'<rect class="paper" width="{width}" height="{height}" fill="{paper}"/>' if paper else "",
            '<g transform="translate(.5 .5)">',
            *body,
            "</g>",
            "</svg>",
        ]
        return "\n".join(part for part in parts if part) + "\n"


def escape(text: str) -> str:
    """Text as an SVG holds it; characters that XML cannot hold have been replaced before (:func:`clean`)."""
    return escape_html(text, quote=True)


def shapes(marks: Sequence[Mark], x: int, y: int, half_width: int, half_height: int) -> str:
    """The outlines of a node's marks around the label whose middle is ``x, y``; the ring goes around another shape."""
    apart = 4 if len(marks) > 1 else 0
    return "".join(
        _shape(mark, x, y, half_width + apart, half_height + apart)
        if mark.shape == "ring"
        else _shape(mark, x, y, half_width, half_height)
        for mark in marks
    )


def _shape(mark: Mark, x: int, y: int, half_width: int, half_height: int) -> str:
    w, h, corner = half_width, half_height, half_height // 2
    left, right, top, bottom = x - w, x + w, y - h, y + h
    outline = {
        "pill": f"M{left + h} {top}H{right - h}a{h} {h} 0 0 1 0 {2 * h}H{left + h}a{h} {h} 0 0 1 0 {-2 * h}z",
        "rectangle": f"M{left} {top}H{right}V{bottom}H{left}z",
        "hexagon": f"M{left + corner} {top}H{right - corner}L{right} {y}L{right - corner} {bottom}H{left + corner}L{left} {y}z",
        "octagon": f"M{left + corner} {top}h{2 * (w - corner)}l{corner} {corner}v{2 * (h - corner)}l{-corner} {corner}"
        f"h{-2 * (w - corner)}l{-corner} {-corner}v{-2 * (h - corner)}z",
        "slanted": f"M{left + corner} {top}H{right}L{right - corner} {bottom}H{left}z",
        "ring": f"M{left} {top}H{right}V{bottom}H{left}z",
    }[mark.shape]
    paint = 'class="ring" fill="none"' if mark.shape == "ring" else f'class="shape" fill="{mark.colour}" fill-opacity=".12"'
    dash = f' stroke-dasharray="{mark.dash}"' if mark.dash else ""
    return f'<path {paint} stroke="{mark.colour}" stroke-width="{mark.stroke}"{dash} d="{outline}"/>'
