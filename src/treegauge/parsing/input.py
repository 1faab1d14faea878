"""Sentences to parse, from text: tokens, ``word/TAG``, raw text or trees; and a tokeniser for raw English text.

There is one sentence per line; trees follow one another in any layout. The tokeniser follows the Penn Treebank.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from treegauge.errors import EncodingError, FormatError
from treegauge.io import ReadOptions, stream
from treegauge.io.sources import AUTO, Source, find_sources
from treegauge.parsing.parser import Sentence

_RULES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r'^"|(?<=[ (\[{<])"', " `` "),
        (r'"', " '' "),
        (r"\.\.\.", " ... "),
        (r"--", " -- "),
        (r"[;@#$%&?!\[\](){}<>]", r" \g<0> "),
        (r",(?!\d)", " , "),
        (r":(?!\d)", " : "),
        (r"(?<=[^.])\.(?=\s*['\")\]}]*\s*$)", " ."),
        (r"(?<=[^'])'(?= )", " '"),
        (r"(?i)(?<=[a-z])n't\b", " n't"),
        (r"(?i)'(s|m|d|ll|re|ve)\b", r" '\1"),
        (r"(?i)\b(can)(not)\b", r"\1 \2"),
        (r"(?i)\b(gim|lem)(me)\b", r"\1 \2"),
        (r"(?i)\b(gon|got|wan)(na|ta)\b", r"\1 \2"),
    )
)


def tokenise(text: str) -> list[str]:
    """The words of a sentence: punctuation and clitics split off, straight double quotes turned into `` and ''.

    >>> tokenise('"I can\\'t," she said, "pay $1,000."')
    ['``', 'I', 'ca', "n't", ',', "''", 'she', 'said', ',', '``', 'pay', '$', '1,000', '.', "''"]
    >>> tokenise("The dogs' owner isn't in the U.S. today (it's 10:30).")
    ['The', 'dogs', "'", 'owner', 'is', "n't", 'in', 'the', 'U.S.', 'today', '(', 'it', "'s", '10:30', ')', '.']
    """
    text = f" {text.strip()} ".replace("’", "'").replace("“", ' "').replace("”", '" ')[1:]
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text.split()


InputKind = Literal["tokens", "tagged", "raw", "trees"]
KINDS: tuple[InputKind, ...] = ("tokens", "tagged", "raw", "trees")

_DEFAULT_OPTIONS = ReadOptions()


def read_sentences(path: str | Source, kind: InputKind, options: ReadOptions = _DEFAULT_OPTIONS) -> Iterator[Sentence]:
    """The sentences of a file, of standard input (``-``), or of a source.

    A blank line is a sentence without words, so that line i of the input is tree i of the output; in raw text blank lines are
    skipped.
    """
    if kind == "trees":
        for bank in stream(path, options):
            for i in range(len(bank)):
                words, tags = bank.words(i), bank.tags(i)
                kept = [k for k, tag in enumerate(tags) if tag != "-NONE-"]
                yield Sentence(tuple(words[k] for k in kept), tuple(tags[k] for k in kept))
        return
    for source in [path] if isinstance(path, Source) else find_sources(path):
        encoding = options.encoding_of(source.name).replace(AUTO, "utf-8")
        with source.open() as lines:
            for number, line in enumerate(lines, 1):
                if number == 1 and kind in ("tokens", "raw"):
                    _refuse_tree(line, source.name)
                text = _decode(line, source.name, number, encoding)
                if kind != "raw" or text.strip():
                    yield _sentence(text, kind, source.name, number)


_TREE = re.compile(rb"\(\s*(?:[^\s()]+\s*)?\((?!\s*\))[^\s()]*(?:[ \t]+[^\s()]+\s*\)|\s*\(|\s*$)|\([^\s()]+[ \t]+[^\s()]+\)\s*$")


def _refuse_tree(line: bytes, path: str) -> None:
    """Refuse a file whose first line begins like a tree, ``(S (NP ...``: its brackets would be taken for words."""
    if _TREE.match(line.strip()):
        raise FormatError(
            "this is a tree, not a sentence", path=path, line=1, advice='To parse the words of trees, give kind="trees".'
        )


def _decode(line: bytes, path: str, number: int, encoding: str) -> str:
    try:
        return line.decode(encoding).lstrip("\ufeff").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise EncodingError(f"not {encoding} text: {error.reason}", path=path, line=number) from None


def _sentence(text: str, kind: InputKind, path: str, number: int) -> Sentence:
    if kind == "raw":
        return Sentence(tuple(tokenise(text)))
    tokens = text.split()
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
