"""Sentences to parse, from text: tokens, ``word/TAG``, raw text or trees.

There is one sentence per line, of raw text one or more; trees follow one another in any layout. Escapes of the Penn Treebank mean
the same as in trees: ``-LRB-`` is a bracket.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal

from treegauge.errors import FormatError
from treegauge.io import ReadOptions, stream
from treegauge.io.diagnosis import encoding_error
from treegauge.io.sources import Source, Text, TextPosition, find_sources
from treegauge.parsing.parser import Sentence
from treegauge.parsing.raw_text import split_sentences, tokenise
from treegauge.trees.notation import restore_word

InputKind = Literal["tokens", "tagged", "raw", "trees"]
KINDS: tuple[InputKind, ...] = ("tokens", "tagged", "raw", "trees")

RESTORED = "escaped brackets (-LRB-, -RRB-) are read as the brackets they stand for"
BROKEN = "a sentence seems to go on in the next line: join the lines of each paragraph first (awk -v RS= '{$1=$1} 1')"
TABS = "tabs are read as blanks; if the file has columns, cut the sentences out first (cut -f2)"

_DEFAULT_OPTIONS = ReadOptions()
_TOKEN = re.compile(r"[^ \t\n\r\v\f]+")
"""A word: the same characters separate words in text and in trees."""


def read_sentences(path: str | Source, kind: InputKind, options: ReadOptions = _DEFAULT_OPTIONS) -> Iterator[Sentence]:
    """The sentences of a file, of standard input (``-``), or of a source.

    A blank line is a sentence without words, so that line i of the input is tree i of the output; in raw text blank lines are
    skipped, and a line can have several sentences. Warnings tell of escaped brackets that were restored, of tabs, and of raw text
    in which a line ends in a letter or a comma and the next begins with a small letter.
    """
    if kind == "trees":
        for bank in stream(path, options.of_categories):
            yield from (sentence_of(zip(bank.words(i), bank.tags(i), strict=True)) for i in range(len(bank)))
        return
    for source in [path] if isinstance(path, Source) else find_sources(path):
        text = ""
        for number, line in enumerate(Text(source, options).lines(), 1):
            if number == 1 and kind in ("tokens", "raw"):
                _refuse_tree(line, source.name)
            if (error := encoding_error(line, source.name, TextPosition(number, 0))) is not None:
                raise error
            before, text = text.rstrip()[-1:], line.decode().rstrip("\r")
            if kind == "raw" and (before.isalpha() or before == ",") and text.lstrip()[:1].islower():
                source.note(BROKEN)
            if "\t" in text.strip():
                source.note(TABS)
            for part in split_sentences(text) if kind == "raw" else [text]:
                given = _sentence(part, kind, source.name, number)
                words = tuple(map(restore_word, given.words))
                if words != given.words:
                    source.note(RESTORED)
                yield given._replace(words=words, line=number if kind == "raw" else None)


def sentence_of(tagged: Iterable[tuple[str, str]]) -> Sentence:
    """The sentence of a tree's words with their tags: traces are left out."""
    kept = [(word, tag) for word, tag in tagged if tag != "-NONE-"]
    return Sentence(tuple(word for word, _ in kept), tuple(tag for _, tag in kept))


_TREE = re.compile(rb"\(\s*(?:[^\s()]+\s*)?\((?!\s*\))[^\s()]*(?:[ \t]+[^\s()]+\s*\)|\s*\(|\s*$)|\([^\s()]+[ \t]+[^\s()]+\)\s*$")


def _refuse_tree(line: bytes, path: str) -> None:
    """Refuse a file whose first line begins like a tree, ``(S (NP ...``: its brackets would be taken for words."""
    if _TREE.match(line.strip()):
        raise FormatError(
            "this is a tree, not a sentence", path=path, line=1, advice='To parse the words of trees, give kind="trees".'
        )


def _sentence(text: str, kind: InputKind, path: str, number: int) -> Sentence:
    tokens = tokenise(text) if kind == "raw" else _TOKEN.findall(text)
    if kind != "tagged":
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
