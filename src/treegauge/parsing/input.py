"""Sentences to parse, from text: tokens, ``word/TAG``, raw text or trees.

There is one sentence per line, of raw text one or more; trees follow one another in any layout. Escapes of the Penn Treebank mean
the same as in trees: ``-LRB-`` is a bracket.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from treegauge.errors import EncodingError, FormatError
from treegauge.io import ReadOptions, stream
from treegauge.io.sources import Source, Text, find_sources
from treegauge.parsing.parser import Sentence
from treegauge.parsing.raw_text import split_sentences, tokenise
from treegauge.trees.notation import restore_word

InputKind = Literal["tokens", "tagged", "raw", "trees"]
KINDS: tuple[InputKind, ...] = ("tokens", "tagged", "raw", "trees")

RESTORED = "escaped brackets (-LRB-, -RRB-) are read as the brackets they stand for"
TABS = "tabs are read as blanks; if the file has columns, cut the sentences out first (cut -f2)"

_DEFAULT_OPTIONS = ReadOptions()
_TOKEN = re.compile(r"[^ \t\n\r\v\f]+")
"""A word: the same characters separate words in text and in trees."""


def read_sentences(path: str | Source, kind: InputKind, options: ReadOptions = _DEFAULT_OPTIONS) -> Iterator[Sentence]:
    """The sentences of a file, of standard input (``-``), or of a source.

    A blank line is a sentence without words, so that line i of the input is tree i of the output; in raw text blank lines are
    skipped, and a line can have several sentences. Warnings tell of escaped brackets that were restored, and of tabs.
    """
    if kind == "trees":
        for bank in stream(path, options):
            for i in range(len(bank)):
                words, tags = bank.words(i), bank.tags(i)
                kept = [k for k, tag in enumerate(tags) if tag != "-NONE-"]
                yield Sentence(tuple(words[k] for k in kept), tuple(tags[k] for k in kept))
        return
    for source in [path] if isinstance(path, Source) else find_sources(path):
        for number, line in enumerate(Text(source, options).lines(), 1):
            if number == 1 and kind in ("tokens", "raw"):
                _refuse_tree(line, source.name)
            text = _decode(line, source.name, number)
            if "\t" in text.strip():
                source.note(TABS)
            for part in split_sentences(text) if kind == "raw" else [text]:
                given = _sentence(part, kind, source.name, number)
                words = tuple(map(restore_word, given.words))
                if words != given.words:
                    source.note(RESTORED)
                yield given._replace(words=words, line=number if kind == "raw" else None)


_TREE = re.compile(rb"\(\s*(?:[^\s()]+\s*)?\((?!\s*\))[^\s()]*(?:[ \t]+[^\s()]+\s*\)|\s*\(|\s*$)|\([^\s()]+[ \t]+[^\s()]+\)\s*$")


def _refuse_tree(line: bytes, path: str) -> None:
    """Refuse a file whose first line begins like a tree, ``(S (NP ...``: its brackets would be taken for words."""
    if _TREE.match(line.strip()):
        raise FormatError(
            "this is a tree, not a sentence", path=path, line=1, advice='To parse the words of trees, give kind="trees".'
        )


def _decode(line: bytes, path: str, number: int) -> str:
    try:
        return line.decode().rstrip("\r")
    except UnicodeDecodeError as error:
        raise EncodingError(
            f"not UTF-8: {error.reason}", path=path, line=number, advice="Give its encoding: encoding=..."
        ) from None


def _sentence(text: str, kind: InputKind, path: str, number: int) -> Sentence:
    if kind == "raw":
        return Sentence(tuple(tokenise(text)))
    tokens = _TOKEN.findall(text)
    if kind == "tokens":
        return Sentence(tuple(tokens))
    pairs = [token.rpartition("/") for token in tokens]
    for token, (word, _, tag) in zip(tokens, pairs, strict=True):
        if not word or not tag:
            column = text.index(token) + 1
            raise FormatError(
                "expected word/TAG",
                path=path,
                line=number,
                column=column,
                text=text,
                advice='Are these plain tokens? Give kind="tokens".',
            )
    return Sentence(tuple(word for word, _, _ in pairs), tuple(tag for _, _, tag in pairs))
