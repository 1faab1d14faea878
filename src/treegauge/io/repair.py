"""Trees in what a language model writes: code fences, numbering, prose, square brackets, closing brackets too few or too many.

A text that holds one sentence is repaired by :func:`repair`; :func:`answers` finds the sentences in a whole file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from treegauge.io.bracketed_columns import find_events

__all__ = ["REPAIRS", "Repaired", "answers", "repair"]

REPAIRS = ("code-fence", "numbering", "prose", "square-brackets", "closing-added", "closing-removed")
"""The kinds of repair: what was taken away, changed or added."""

_FENCE = re.compile(rb"^[ \t]*(?:```|~~~)[^\n]*$|```", re.MULTILINE)
_NUMBERING = re.compile(rb"\s*(?:(?:\(?\d+[.):]|#\d+[.:]?|[-*>]|\xe2\x80\xa2|\*\*\d+\.?\*\*)[ \t]*)+")
_NUMBERED_TREE = re.compile(_NUMBERING.pattern + rb"(?=[(\[])")
_TREE_INSIDE = re.compile(rb"\(\s*[^\s()\[\]]*\s*\(|\[\s*[^\s()\[\]]+\s*\[|[(\[][A-Z][^\s()\[\]]*\s*$")
_CLOSING_ONLY = re.compile(rb"[ \t]*[)\]][)\] \t\r]*")
_PARAGRAPH = re.compile(rb"\n[ \t\r]*\n(?=[ \t]*[^\s()\[\]])")


class Repaired(NamedTuple):
    """A tree as it should have been written, where in the text it begins, and what was done to it."""

    tree: bytes
    start: int
    repairs: tuple[str, ...]


class _Candidate(NamedTuple):
    """A bracketing in a text, ``start:end``, with its number of brackets and how many of them are not closed."""

    start: int
    end: int
    brackets: int
    missing: int


def repair(text: bytes) -> Repaired | None:
    """The tree in a text that stands for one sentence; None if there is none.

    >>> repair(b"1. (S (NP (N rain)) (VP (V falls))")
    Repaired(tree=b'(S (NP (N rain)) (VP (V falls)))', start=3, repairs=('numbering', 'closing-added'))
    >>> repair(b"Sure: [S [NP [N rain]]]").tree
    b'(S (NP (N rain)))'
    """
    plain = _FENCE.sub(lambda found: b"\n" * (len(found[0]) - 1) + b" ", text)
    candidates = [*_candidates(plain, b"(", b")"), *_candidates(plain, b"[", b"]")]
    if not candidates:
        return None
    best = max(candidates, key=lambda candidate: candidate.brackets)
    before, after = plain[: best.start], plain[best.end :]
    tree, square = plain[best.start : best.end], plain[best.start : best.start + 1] == b"["
    surplus = re.match(rb"\s*[)\]][\s)\]]*", after)
    after = after[surplus.end() :] if surplus else after
    lines, _, line = before.rpartition(b"\n")
    numbering = _NUMBERING.fullmatch(line) is not None
    prose = bool(after.strip() or lines.strip() or (line.strip() and not numbering))
    if prose and best.brackets == 1:
        return None  # a remark in brackets
    if square:
        tree = tree.replace(b"(", b"-LRB-").replace(b")", b"-RRB-").replace(b"[", b"(").replace(b"]", b")")
    tree = tree.rstrip() + b")" * best.missing
    done = (plain != text, numbering, prose, square, best.missing > 0, surplus is not None)
    events = find_events(tree)
    if not len(events.words) or not events.balance():
        return None
    return Repaired(tree, best.start, tuple(name for name, was_done in zip(REPAIRS, done, strict=True) if was_done))


def _candidates(text: bytes, opening: bytes, closing: bytes) -> Iterator[_Candidate]:
    """The bracketings in a text, outermost only; the last may be without its end."""
    depth = start = brackets = 0
    for found in re.finditer(b"[" + re.escape(opening + closing) + b"]", text):
        if found[0] == opening:
            if not depth:
                start, brackets = found.start(), 0
            depth, brackets = depth + 1, brackets + 1
        elif depth:
            depth -= 1
            if not depth:
                yield _Candidate(start, found.end(), brackets, 0)
    if depth:
        cut = _PARAGRAPH.search(text, start)
        inside = text[start : cut.start()] if cut else text[start:]
        missing = inside.count(opening) - inside.count(closing)
        yield _Candidate(start, start + len(inside), inside.count(opening), max(missing, 0))


def answers(text: bytes) -> list[int]:
    """The places in a file at which the text of each sentence begins; prose goes with the tree before it.

    >>> answers(b"Here you are:\\n1. (S (N a))\\n2. (S (N b)\\n\\n3. (S (N c)))")
    [0, 27, 40]
    """
    begins: list[int] = []
    depth, opening, closing = 0, b"(", b")"
    at = 0
    for line in text.split(b"\n"):
        tree_at = _tree_begin(line, depth)
        if tree_at >= 0:
            opening, closing = (b"[", b"]") if line[tree_at : tree_at + 1] == b"[" else (b"(", b")")
            depth = 0
            begins.append(at)
            counted = line[tree_at:]
        else:
            counted = b"" if depth == 0 else line
        if _FENCE.match(line):
            depth = 0
        depth = max(depth + counted.count(opening) - counted.count(closing), 0)
        at += len(line) + 1
    return [0, *begins[1:]] if begins else []


def _tree_begin(line: bytes, depth: int) -> int:
    """The place on a line at which a new tree begins, or -1; inside a tree, only at the margin or behind a number."""
    if line[:1] in (b"(", b"[") and not _CLOSING_ONLY.fullmatch(line):
        return 0
    numbered = _NUMBERED_TREE.match(line)
    if numbered and (not depth or not line[:1].isspace()):
        return numbered.end()
    if depth:
        return -1
    stripped = line.lstrip()
    if stripped[:1] in (b"(", b"["):
        return len(line) - len(stripped)
    inside = _TREE_INSIDE.search(line)
    return inside.start() if inside else -1
