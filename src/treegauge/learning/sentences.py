"""Bracketed sentences, from which grammars are learned: terminals, and the spans that no constituent may cross.

A sentence may be bracketed fully, in part or not at all (Pereira & Schabes 1992); without brackets learning is plain
inside-outside re-estimation.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from treegauge.alignment.words import has_tag, without_tokens
from treegauge.errors import BracketError, EncodingError, MismatchError, UsageError, check_name
from treegauge.io import as_treebank
from treegauge.io.sources import ReadOptions, Text, find_sources
from treegauge.normalise.pruning import TRACE_TAGS
from treegauge.trees.columns import rows_of
from treegauge.trees.tree import Tree
from treegauge.trees.treebank import Int32, Int64, Treebank

StartEnd = tuple[int, int]
Terminals = Literal["tags", "words"]
TERMINALS: tuple[Terminals, ...] = ("tags", "words")
_BARE = 'Brackets without labels are read by treegauge.learning.read_brackets (in the command: input="brackets").'


@dataclass(frozen=True, eq=False, repr=False)
class BracketedSentences:
    """Sentences as columns: sentence ``i`` has the tokens ``token_offset[i]:token_offset[i+1]`` and the brackets
    ``bracket_offset[i]:bracket_offset[i+1]``; ``terminal`` has indices into ``terminals``.

    Brackets are half-open spans of two words or more, each stored once per sentence; shorter ones forbid nothing.

    >>> sentences = BracketedSentences.of([("a b c".split(), [(0, 2), (0, 3), (0, 2)]), (["b"], [])])
    >>> sentences.words(0), sentences.brackets(0)
    (['a', 'b', 'c'], [(0, 2), (0, 3)])
    >>> sentences
    <2 bracketed sentences, 4 tokens, 2 brackets>
    """

    terminals: tuple[str, ...]
    terminal: Int32
    token_offset: Int64
    start: Int32
    end: Int32
    bracket_offset: Int64

    @classmethod
    def of(cls, sentences: Iterable[tuple[Sequence[str], Iterable[StartEnd]]]) -> BracketedSentences:
        """Sentences given as words and brackets."""
        ids: dict[str, int] = {}
        terminal: list[int] = []
        spans: list[StartEnd] = []
        token_offset, bracket_offset = [0], [0]
        for number, (words, brackets) in enumerate(sentences, 1):
            terminal.extend(ids.setdefault(word, len(ids)) for word in words)
            spans.extend(_useful_brackets(brackets, len(words), number))
            token_offset.append(len(terminal))
            bracket_offset.append(len(spans))
        return cls(
            tuple(ids),
            np.array(terminal, np.int32),
            np.array(token_offset, np.int64),
            np.array([s for s, _ in spans], np.int32),
            np.array([t for _, t in spans], np.int32),
            np.array(bracket_offset, np.int64),
        )

    @classmethod
    def from_treebank(
        cls, bank: Treebank, *, terminals: str = "tags", longest: int | None = None, drop: Collection[str] = TRACE_TAGS
    ) -> BracketedSentences:
        """The tags or the words of trees, and the spans of their constituents without labels.

        Tokens with a tag in ``drop`` are left out, and then sentences without words or with more than ``longest``.

        >>> bank = Treebank.parse("(S (NP (DT the) (NN cat)) (VP (VBD sat) (NP (-NONE- *))))")
        >>> sentences = BracketedSentences.from_treebank(bank)
        >>> sentences.words(0), sentences.brackets(0)
        (['DT', 'NN', 'VBD'], [(0, 2), (0, 3)])
        """
        check_name("kind of terminals", terminals, TERMINALS)
        bank = without_tokens(bank, has_tag(bank, frozenset(drop)))
        bank.require_continuous("brackets to learn from have no gaps")
        length = np.diff(bank.token_offset)
        kept = np.flatnonzero((length > 0) & (length <= (np.inf if longest is None else longest)))
        bank = bank.take(kept)
        names, column = (bank.labels, bank.tag) if terminals == "tags" else (bank.vocabulary, bank.word)
        if (column < 0).any():
            untagged = int(np.flatnonzero(column < 0)[0])
            sentence = int(np.searchsorted(bank.token_offset, untagged, side="right")) - 1
            raise MismatchError(
                f"{bank.place(sentence)}: a word without a tag: {' '.join(bank.words(sentence))}\n"
                '  Take the words themselves as terminals with terminals="words", or tag the sentences.\n'
                f"  {_BARE}"
            )
        used: list[int] = sorted(set(column.tolist()), key=names.__getitem__)
        number = np.zeros(len(names), np.int32)
        number[used] = np.arange(len(used))
        sentence = np.repeat(np.arange(len(bank)), np.diff(bank.node_offset))
        rows = np.stack([sentence, bank.start, bank.end], axis=1)[bank.end - bank.start > 1]
        spans = np.unique(rows, axis=0) if len(rows) else rows
        return cls(
            tuple(names[i] for i in used),
            number[column],
            bank.token_offset - bank.token_offset[0],
            spans[:, 1].astype(np.int32),
            spans[:, 2].astype(np.int32),
            np.searchsorted(spans[:, 0], np.arange(len(bank) + 1)).astype(np.int64),
        )

    def __len__(self) -> int:
        return len(self.token_offset) - 1

    @property
    def n_tokens(self) -> int:
        return len(self.terminal)

    @property
    def lengths(self) -> Int64:
        """The number of words of each sentence."""
        return np.diff(self.token_offset)

    def words(self, index: int) -> list[str]:
        """The terminals of one sentence."""
        return [self.terminals[i] for i in self.terminal[self.token_offset[index] : self.token_offset[index + 1]].tolist()]

    def brackets(self, index: int) -> list[StartEnd]:
        """The brackets of one sentence."""
        which = slice(self.bracket_offset[index], self.bracket_offset[index + 1])
        return list(zip(self.start[which].tolist(), self.end[which].tolist(), strict=True))

    def __iter__(self) -> Iterator[Tree]:
        """The sentences as trees whose constituents are X, as :func:`treegauge.score` takes them."""
        return (Tree.from_spans(self.words(index), self.brackets(index)) for index in range(len(self)))

    def take(self, indices: Sequence[int] | Int64) -> BracketedSentences:
        """The sentences at ``indices``, in that order."""
        sentences = np.asarray(indices, dtype=np.int64)
        tokens, token_offset = rows_of(self.token_offset, sentences)
        brackets, bracket_offset = rows_of(self.bracket_offset, sentences)
        return BracketedSentences(
            self.terminals, self.terminal[tokens], token_offset, self.start[brackets], self.end[brackets], bracket_offset
        )

    def without_brackets(self) -> BracketedSentences:
        """The same sentences without brackets."""
        nothing = np.zeros(0, np.int32)
        return replace(self, start=nothing, end=nothing, bracket_offset=np.zeros_like(self.token_offset))

    def sha256(self) -> str:
        """A hash of the sentences and their brackets."""
        digest = hashlib.sha256(json.dumps(self.terminals).encode())
        for column in (self.terminal, self.token_offset, self.start, self.end, self.bracket_offset):
            digest.update(len(column).to_bytes(8, "little") + column.astype("<i8").tobytes())
        return digest.hexdigest()

    def __repr__(self) -> str:
        return f"<{len(self):,} bracketed sentences, {self.n_tokens:,} tokens, {len(self.start):,} brackets>"


def _useful_brackets(brackets: Iterable[StartEnd], n: int, number: int) -> list[StartEnd]:
    """The brackets of two words or more, each once, of sentence ``number`` of n words; an error if one does not fit."""
    spans = sorted({(int(s), int(t)) for s, t in brackets})
    for s, t in spans:
        if not 0 <= s <= t <= n:
            raise UsageError(f"sentence {number} has {n} words, but a bracket [{s}, {t})")
    return [(s, t) for s, t in spans if t - s > 1]


def trees_to_learn_from(value: object, options: ReadOptions = ReadOptions()) -> Treebank:
    """The trees that a value or a file holds; an error in their brackets tells how sentences without labels are read."""
    try:
        return as_treebank(value, options)
    except BracketError as error:
        error.advice += f"\n  {_BARE}"
        error.args = (error.message(),)
        raise


def read_brackets(text: str | os.PathLike[str] | Iterable[str], *, path: str = "") -> BracketedSentences:
    """The sentences of a text, one per line, in the notation of Pereira & Schabes: parentheses are brackets, all else are
    terminals.

    There are no labels, and a line need not have brackets; blank lines are skipped. Instead of a text, a file or its lines can be
    given; a string that is the name of a file stands for that file, unless a ``path`` for messages goes with it.

    >>> sentences = read_brackets("((DT NN) (VBD (IN NN)))\\nUH")
    >>> [(sentences.words(i), sentences.brackets(i)) for i in range(2)]
    [(['DT', 'NN', 'VBD', 'IN', 'NN'], [(0, 2), (0, 5), (2, 5), (3, 5)]), (['UH'], [])]
    """
    if isinstance(text, os.PathLike) or (not path and isinstance(text, str) and os.path.isfile(text)):
        text, path = text_of_files(text), path or os.fspath(text)
    if not isinstance(text, str):
        lines: list[object] = list(text) if isinstance(text, Iterable) else [text]  # type: ignore[reportUnnecessaryIsInstance]
        if other := next((line for line in lines if not isinstance(line, str)), None):
            raise UsageError(f"expected the sentences as text, as a file or as a list of lines, not {type(other).__name__}")
        text = "\n".join(str(line).rstrip("\r\n") for line in lines)
    return BracketedSentences.of(_lines(text, path))


def text_of_files(path: str | os.PathLike[str], options: ReadOptions = ReadOptions()) -> str:
    """The text of a file, or of the files below a directory or that a glob matches, one after another."""
    parts: list[str] = []
    for source in find_sources(path):
        try:
            parts.append(b"".join(chunk for chunk, _ in Text(source, options).chunks()).decode())
        except UnicodeDecodeError as error:
            raise EncodingError(f"this is not UTF-8: {error}", path=source.name, advice="Name another encoding=...") from None
    return "\n".join(parts)


def _lines(text: str, path: str) -> Iterator[tuple[list[str], list[StartEnd]]]:
    for number, line in enumerate(text.splitlines(), 1):
        words, spans, open_at = list[str](), list[StartEnd](), list[tuple[int, int]]()
        for found in re.finditer(r"[()]|[^\s()]+", line):
            if (token := found[0]) == "(":
                open_at.append((len(words), found.start() + 1))
            elif token == ")":
                if not open_at:
                    raise _bracket_error("closing bracket without an opening one", path, number, found.start() + 1, line)
                spans.append((open_at.pop()[0], len(words)))
            else:
                words.append(token)
        if open_at:
            raise _bracket_error("opening bracket without a closing one", path, number, open_at[-1][1], line)
        if words:
            yield words, spans


def _bracket_error(problem: str, path: str, line: int, column: int, text: str) -> BracketError:
    advice = "Each line needs as many '(' as ')'; write -LRB- and -RRB- for literal ones."
    return BracketError(problem, path=path, line=line, column=column, text=text, advice=advice)
