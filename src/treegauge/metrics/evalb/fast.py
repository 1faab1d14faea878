"""A fast reader of well-formed lines within EVALB's limits; it returns ``None`` for any other line.

A line is split at its opening brackets. Each part (``NP``, ``NN dog)))``) means the same wherever it stands, so it is
analysed once and remembered: corpora repeat their parts, and most of a line costs a dictionary look-up per bracket.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from treegauge.metrics.evalb import reading as limits
from treegauge.metrics.evalb.reading import Rules

__all__ = ["ByteBracket", "FastReader", "FastSentence"]

Terminal = tuple[bytes, bytes]
"""Tag and word."""
ByteBracket = tuple[int, int, bytes]
"""Start, end, label."""

_PART = re.compile(rb"([^\s()\0]*)(?:\s+(?:([^\s()\0]*)(\)[\s)]*))?|(\)[\s)]*))?")
_MOST_PARTS = 500_000
"""The largest number of remembered parts; with more, all are forgotten, so that memory stays bounded."""


class FastSentence(NamedTuple):
    """A well-formed line: the kept words with their tags, the brackets that count (in the order they close), the length."""

    terminals: list[Terminal]
    brackets: list[ByteBracket]
    length: int


class _Irregular(Exception):
    """A part that only the exact scanner should read."""


_KEPT, _OPENS, _DROPPED, _KEPT_FREE, _DROPPED_FREE = range(5)
"""The kind of a part: a terminal that stays, a non-terminal, a deleted terminal; the last two add nothing to the length."""

_Part = tuple[int, Any, int]
"""Its kind; the terminal that stays, or the label if it counts, or ``None``; how many brackets close after it."""


class _TextParts(dict[bytes, _Part]):
    """Parts analysed so far; a new one is analysed when it is first asked for."""

    def __init__(self, analyse: Callable[[bytes], _Part]) -> None:
        super().__init__()
        self._analyse = analyse

    def __missing__(self, part: bytes) -> _Part:
        self[part] = analysed = self._analyse(part)
        return analysed


class FastReader:
    r"""Reads lines with one set of rules; ``read`` gives ``None`` for a line it does not understand.

    >>> from treegauge.presets.prm import Parameters
    >>> reader = FastReader(Rules(Parameters(delete_labels=(b"TOP", b"."))), {})
    >>> reader.read(b"(TOP (S (NP-SBJ (NN cats)) (VP (V sleep)) (. .)))\n").brackets
    [(0, 1, b'NP'), (1, 2, b'VP'), (0, 2, b'S')]
    >>> reader.read(b"(TOP (S (NP (NN cats)))\n") is None
    True
    """

    def __init__(self, rules: Rules, label_classes: dict[bytes, bytes]) -> None:
        self._rules = rules
        self._classes = label_classes
        self._parts = _TextParts(self._analyse)
        self._terminals: dict[Terminal, Terminal] = {}

    def read(self, line: bytes) -> FastSentence | None:
        """The sentence of a well-formed line, or ``None``."""
        parts = line.split(b"(")
        if len(line) > limits.LINE or len(parts) > limits.BRACKETS + 1 or (parts[0] and not parts[0].isspace()):
            return None
        del parts[0]
        if len(self._parts) > _MOST_PARTS:
            self._parts.clear()
            self._terminals.clear()
        try:
            return self._assemble(parts)
        except (_Irregular, IndexError):
            return None

    def _assemble(self, parts: list[bytes]) -> FastSentence | None:
        """Put the parts together; IndexError where a bracket closes that was not open."""
        terminals: list[Terminal] = []
        brackets: list[ByteBracket] = []
        stack: list[tuple[int, bytes | None]] = []
        words = length = 0
        # The order of the branches is that of their frequency.
        for kind, what, closes in map(self._parts.__getitem__, parts):
            if kind == _KEPT:
                terminals.append(what)
                words += 1
            elif kind == _OPENS:
                stack.append((words, what))
            elif kind == _DROPPED:
                length += 1
            elif kind == _KEPT_FREE:
                terminals.append(what)
                words += 1
                length -= 1
            while closes:
                start, label = stack.pop()
                if label is not None and start != words:
                    brackets.append((start, words, label))
                closes -= 1
        return None if stack else FastSentence(terminals, brackets, words + length)

    def _analyse(self, part: bytes) -> _Part:
        found = _PART.fullmatch(part)
        if found is None or len(found[1]) > limits.LABEL:
            raise _Irregular
        label, word, after_word, after_label = found.groups()
        if word is None:
            return _OPENS, self._label_class(label), (after_label or b"").count(b")")
        if len(word) > limits.WORD or self._rules.is_quote(label, word):
            raise _Irregular
        free = label in self._rules.not_in_length
        closes = after_word.count(b")") - 1
        if label in self._rules.deleted_tags:
            return (_DROPPED_FREE if free else _DROPPED), None, closes
        # One object for equal terminals, so that equal sentences compare by identity.
        terminal = self._terminals.setdefault((label, word), (label, word))
        return (_KEPT_FREE if free else _KEPT), terminal, closes

    def _label_class(self, label: bytes) -> bytes | None:
        """The key of a label in a bracket: the same for equal labels, ``None`` if it does not count."""
        counted = self._rules.counted_label(label)
        if counted is None:
            return None
        return self._classes.get(counted, counted) if self._rules.parameters.labelled else b""
