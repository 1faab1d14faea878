"""Tree diffs as pictures: SVG, and PNG or PDF drawn from it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from treegauge.reports.plots import draw_svg_as
from treegauge.reports.tree_diff import TreeDiff
from treegauge.trees.drawing import draw_svg, legend_svg
from treegauge.trees.drawing.marks import clean, ems
from treegauge.trees.drawing.svg import PictureFrame, Theme, escape_xml

_FONT, _SVG_MARGIN, _SVG_LINE = 14, 12, 24
_SIZE = re.compile(r'<svg xmlns="http://www.w3.org/2000/svg"([^>]*) width="(\d+)" height="(\d+)"')
_LONGEST_HEADING = 160


class _Drawing(NamedTuple):
    """SVG elements with their right and bottom edges."""

    elements: list[str]
    right: int
    bottom: int


def diff_svg(diffs: Sequence[TreeDiff], *, fold: bool = True, theme: Theme = "auto") -> str:
    """The differences as one SVG picture, one below the other; ``fold`` folds subtrees in which everything matched.

    >>> from treegauge.reports.tree_diff import diff
    >>> picture = diff_svg([diff("(S (NP (N a)) (V b))", "(S (N a) (V b))")])
    >>> picture.count("<svg"), "1 missed" in picture
    (4, True)
    """
    elements: list[str] = []
    right, bottom = 0, _SVG_MARGIN
    for number, diff in enumerate(diffs):
        block = _sentence(diff, number, bottom, fold)
        elements += block.elements
        right, bottom = max(right, block.right), block.bottom + _SVG_MARGIN
    used = {mark for diff in diffs for _, _, marks in diff.sides for mark in marks.values()}
    if used:
        block = _inner_picture(legend_svg(used, width=max(right, 400), stylesheet=False), bottom)
        elements += block.elements
        right, bottom = max(right, block.right), block.bottom
    title = "; ".join(f"{diff.place}: {diff.summary}" for diff in diffs[:3]) or "No difference"
    return PictureFrame(clean(title, 400), theme=theme, font=_FONT).around(elements, right + _SVG_MARGIN, bottom + _SVG_MARGIN)


def _sentence(diff: TreeDiff, number: int, top: int, fold: bool) -> _Drawing:
    heading = clean(f"{diff.place}: {diff.summary}", _LONGEST_HEADING)
    elements = [_text(heading, top + _FONT, bold=True)]
    right, bottom = _SVG_MARGIN + ems(heading) * _FONT * 108 // 10_000, top + _SVG_LINE
    for side, (name, tree, marks) in enumerate(diff.sides):
        folded = diff.folded(tree, marks) if fold else frozenset[int]()
        picture = draw_svg(tree, marks, id_prefix=f"s{number}t{side}-", title=name, folded=folded, legend=False, stylesheet=False)
        elements.append(_text(clean(name, 60), bottom + _FONT, bold=False))
        block = _inner_picture(picture, bottom + _SVG_LINE)
        elements += block.elements
        right, bottom = max(right, block.right), block.bottom
    return _Drawing(elements, right, bottom)


def _text(text: str, baseline: int, *, bold: bool) -> str:
    weight = ' font-weight="600"' if bold else ' fill-opacity=".75"'
    return f'<text x="{_SVG_MARGIN}" y="{baseline}" text-anchor="start"{weight}>{escape_xml(text)}</text>'


def _inner_picture(picture: str, top: int) -> _Drawing:
    """A picture inside another, at its own size."""
    found = _SIZE.match(picture)
    assert found is not None, "a picture begins with its size"
    width, height = int(found[2]), int(found[3])
    inside = f'<svg x="{_SVG_MARGIN}" y="{top}"' + picture[len('<svg xmlns="http://www.w3.org/2000/svg"') :]
    return _Drawing([inside.rstrip("\n")], _SVG_MARGIN + width, top + height)


def diff_png(diffs: Sequence[TreeDiff], *, fold: bool = True) -> bytes:
    """The picture of :func:`diff_svg` as PNG, on white; needs the extra ``[plot]``."""
    return draw_svg_as(diff_svg(diffs, fold=fold, theme="light"), "png")


def diff_pdf(diffs: Sequence[TreeDiff], *, fold: bool = True) -> bytes:
    """The picture of :func:`diff_svg` on one PDF page of its size; needs the extra ``[plot]``."""
    return draw_svg_as(diff_svg(diffs, fold=fold, theme="light"), "pdf")
