"""A tree as an indented outline, one node a line; in a deep tree only the last few levels of indentation are drawn."""

from __future__ import annotations

from treegauge.trees.drawing.layout import Item
from treegauge.trees.drawing.measure import embedded

__all__ = ["outline_lines"]

_LEVELS = 30
_ROOM_FOR_TEXT = 30


def outline_lines(items: list[Item], texts: list[str], width: int | None, ascii_only: bool) -> list[str]:
    """The lines of the outline. A line too deep for the width begins with the number of levels that are left out."""
    last = _last_children(items)
    bar, branch, corner, beyond = ("|  ", "+- ", "`- ", "..") if ascii_only else ("│  ", "├─ ", "└─ ", "…")
    most = _LEVELS if width is None else max(2, min(_LEVELS, (width - _ROOM_FOR_TEXT) // 3))
    guides: list[str] = []
    lines: list[str] = []
    for index, item in enumerate(items):
        if not item.is_node and items[item.parent].kind in ("tag", "folded"):
            lines[-1] += " " + embedded(texts[index])
            continue
        del guides[max(item.depth - 1, 0) :]
        hidden = max(item.depth - most, 0)
        count = f"{beyond}{hidden} " if hidden else ""
        own = "" if item.depth == 0 else corner if last[index] else branch
        lines.append(count + "".join(guides[hidden:]) + own + embedded(texts[index]))
        if item.depth:
            guides.append("   " if last[index] else bar)
    return lines


def _last_children(items: list[Item]) -> list[bool]:
    """For each item, whether it is the last child of its parent."""
    seen: set[int] = set()
    last = [False] * len(items)
    for index in range(len(items) - 1, -1, -1):
        parent = items[index].parent
        last[index] = parent not in seen
        seen.add(parent)
    return last
