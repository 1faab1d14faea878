"""Markdown as HTML, for a project's guidelines: headings, paragraphs, lists, emphasis and code; everything else is plain text."""

from __future__ import annotations

import re
from html import escape

__all__ = ["render_markdown"]

_INLINE = (
    (re.compile(r"`([^`]+)`"), r"<code>\1</code>"),
    (re.compile(r"\*\*([^*]+)\*\*"), r"<strong>\1</strong>"),
    (re.compile(r"(?<!\*)\*([^*\s][^*]*)\*"), r"<em>\1</em>"),
)
_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*$")
_ITEM = re.compile(r"\s*(?:[-*+]|(\d+)[.)])\s+(.*)")


def render_markdown(text: str) -> str:
    """The text as HTML; HTML tags in it are shown as text.

    >>> print(render_markdown("# Rules\\n\\nAccept *all*:\\n\\n- `NP`\\n- <b>"))
    <h3>Rules</h3>
    <p>Accept <em>all</em>:</p>
    <ul><li><code>NP</code></li><li>&lt;b&gt;</li></ul>
    """
    blocks = re.split(r"\n\s*\n", text.replace("\r\n", "\n").strip())
    return "\n".join(part for block in blocks for part in _block(block.split("\n")) if part)


def _block(lines: list[str]) -> list[str]:
    heading = _HEADING.match(lines[0])
    if heading:
        # Below the headings of the page.
        level = min(len(heading[1]) + 2, 6)
        return [f"<h{level}>{_inline(heading[2])}</h{level}>", *(_block(lines[1:]) if lines[1:] else [])]
    items = [_ITEM.match(line) for line in lines]
    if items[0]:
        entries: list[str] = []
        for line, item in zip(lines, items, strict=True):
            if item:
                entries.append(item[2])
            else:
                entries[-1] += " " + line.strip()
        kind = "ol" if items[0][1] else "ul"
        return [f"<{kind}>" + "".join(f"<li>{_inline(entry)}</li>" for entry in entries) + f"</{kind}>"]
    first = next((number for number, item in enumerate(items) if item), len(lines))
    paragraph = f"<p>{_inline(' '.join(line.strip() for line in lines[:first]))}</p>"
    return [paragraph, *(_block(lines[first:]) if lines[first:] else [])]


def _inline(text: str) -> str:
    result = escape(text)
    for pattern, replacement in _INLINE:
        result = pattern.sub(replacement, result)
    return result
