r"""Brackets inside words, escaped by a backslash, ``(-LRB- \()``, as nltk reads them since version 3.10.

The Penn Treebank has no such escape: there ``(SYM \)`` is a backslash with its tag. So a tree is read with escapes if it contains
``\(``, which can mean nothing else, or if its brackets balance only then. Escapes are replaced by two characters that no text has
and that take as many bytes, so that every other byte keeps its place; :func:`treegauge.trees.bracketed.restore_word` turns them
into brackets.
"""

from __future__ import annotations

import re

from treegauge.io.bracketed_columns import find_events
from treegauge.trees.bracketed import ESCAPED_BRACKETS

_OPEN, _CLOSE = (letter.encode() for letter in ESCAPED_BRACKETS)
# Patterns as text: re compiles them on first use, and they are rarely used.
_ESCAPED = rb"\\[()]"
_MARGIN = rb"(?<=\n)(?=\()"
_LINE = rb"(?<=\n)"


def has_escapes(text: bytes) -> bool:
    r"""Whether a text contains ``\(`` or ``\)``."""
    return b"\\" in text and re.search(_ESCAPED, text) is not None


def escape_everywhere(text: bytes) -> bytes:
    r"""The text with every ``\(`` and ``\)`` read as a bracket inside a word."""
    return text.replace(b"\\(", _OPEN).replace(b"\\)", _CLOSE)


def read_escapes(text: bytes, *, lines: bool, is_whole: bool = True) -> bytes:
    r"""The text with escaped brackets replaced, tree by tree; trees begin at the margin or, with ``lines``, on each line.

    If the text is not whole, its last tree may be incomplete and so does not balance yet.

    >>> escaped = read_escapes(rb"(S (-LRB- \() (-RRB- \)))", lines=False)
    >>> escaped.count(b"("), escaped.count(b")"), read_escapes(rb"(X (SYM \))", lines=False)
    (3, 3, b'(X (SYM \\))')
    """
    if not has_escapes(text):
        return text
    trees = re.split(_LINE if lines else _MARGIN, text)
    last = len(trees) - 1
    return b"".join(_read_tree(tree, is_whole or number < last) for number, tree in enumerate(trees))


def _read_tree(tree: bytes, is_whole: bool) -> bytes:
    if not has_escapes(tree):
        return tree
    escaped = escape_everywhere(tree)
    if b"\\(" in tree:
        return escaped
    balanced = (reading for reading in (tree, escaped) if find_events(reading).balance())
    return next(balanced, tree if is_whole else escaped)
