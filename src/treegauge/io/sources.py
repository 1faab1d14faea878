"""Where bytes come from: files, directories, globs, stdin; compressed by suffix; in any encoding.

Everything downstream sees chunks of UTF-8.
"""

from __future__ import annotations

import bz2
import codecs
import glob
import gzip
import io
import lzma
import os
import sys
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from treegauge.errors import EncodingError, InputError, UsageError
from treegauge.io.options import ReadOptions

__all__ = ["CHUNK_BYTES", "Source", "find_sources", "text_chunks"]

CHUNK_BYTES = 1 << 20


def _gunzip(raw: BinaryIO) -> BinaryIO:
    return cast(BinaryIO, gzip.GzipFile(fileobj=raw, mode="rb"))


def _bunzip2(raw: BinaryIO) -> BinaryIO:
    return cast(BinaryIO, bz2.BZ2File(raw))


def _unxz(raw: BinaryIO) -> BinaryIO:
    return cast(BinaryIO, lzma.LZMAFile(raw))  # closed with the file below it


_DECOMPRESSORS = {".gz": _gunzip, ".bz2": _bunzip2, ".xz": _unxz}
_BOMB_BYTES, _BOMB_RATIO = 256 << 20, 1000

_TREEBANK_SUFFIXES = {
    *(".mrg", ".ptb", ".psd", ".parse", ".brackets", ".bracketed", ".tree", ".trees", ".txt", ".gold", ".test"),
    *(".export", ".negra", ".xml", ".tbf", ".conll", ".conll2000", ".iob"),
}


@dataclass(frozen=True)
class Source:
    """A named place to read bytes from; ``data`` holds them where they are in memory already."""

    name: str
    data: bytes | None = None

    @property
    def suffix(self) -> str:
        """The suffix of the name that tells the format: that of ``x.mrg.gz`` is ``.mrg``."""
        path = Path(self.name)
        return (path.with_suffix("") if path.suffix in _DECOMPRESSORS else path).suffix.lower()

    @contextmanager
    def open(self) -> Generator[BinaryIO]:
        """The bytes, decompressed."""
        if self.data is not None:
            yield io.BytesIO(self.data)
        elif self.name == "-":
            yield sys.stdin.buffer
        else:
            with _opened(self.name) as raw:
                suffix = Path(self.name).suffix.lower()
                yield _decompressed(raw, suffix, self.name) if suffix in _DECOMPRESSORS else raw


def _opened(path: str) -> BinaryIO:
    try:
        return open(path, "rb")
    except FileNotFoundError:
        raise InputError("no such file", path=path, advice=_similar_names(path)) from None
    except IsADirectoryError:
        raise InputError("is a directory, not a file", path=path) from None
    except OSError as error:
        raise InputError(f"cannot be opened: {error.strerror or error}", path=path) from None


def _similar_names(path: str) -> str:
    import difflib

    folder = Path(path).parent
    names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    close = difflib.get_close_matches(Path(path).name, names, n=3)
    return f"Did you mean {' or '.join(str(folder / name) for name in close)}?" if close else ""


def _decompressed(raw: BinaryIO, suffix: str, name: str) -> BinaryIO:
    return cast(BinaryIO, _Bounded(_DECOMPRESSORS[suffix](raw), raw, name))


class _Bounded(io.RawIOBase):
    """A decompressed stream that turns decompression errors into ours and refuses to expand a bomb."""

    def __init__(self, stream: BinaryIO, raw: BinaryIO, name: str) -> None:
        self.stream, self.raw, self.name, self.given = stream, raw, name, 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        try:
            data = self.stream.read(size)
        except EOFError:
            raise InputError(
                "the compressed file ends in the middle", path=self.name, advice="It was cut short: fetch it again."
            ) from None
        except (OSError, zlib.error, lzma.LZMAError) as error:
            raise InputError(
                f"cannot be decompressed: {error}", path=self.name, advice="Is the suffix right, and the file whole?"
            ) from None
        self.given += len(data)
        if self.given > _BOMB_BYTES and self.given > _BOMB_RATIO * max(self.raw.tell(), 1):
            raise InputError(
                f"expands to more than {_BOMB_RATIO} times its size",
                path=self.name,
                advice="No treebank compresses so well; decompress it yourself if it is really one.",
            )
        return data


def find_sources(path: str | os.PathLike[str]) -> list[Source]:
    """The files a path stands for: itself, all treebank files below a directory (in name order), or what a glob matches.

    ``-`` is standard input.
    """
    name = os.fspath(path)
    if name == "-" or os.path.isfile(name):
        return [Source(name)]
    if os.path.isdir(name):
        found = sorted(_treebank_files(name))
        if not found:
            raise InputError(
                "no treebank file in this directory",
                path=name,
                advice=f"Looked for {' '.join(sorted(_TREEBANK_SUFFIXES))}, also with .gz .bz2 .xz;\n"
                f"  a glob such as '{name}/*' takes any name.",
            )
        return [Source(file) for file in found]
    if glob.has_magic(name):
        found = sorted(file for file in glob.glob(name, recursive=True) if os.path.isfile(file))
        if not found:
            raise InputError("nothing matches this pattern", path=name)
        return [Source(file) for file in found]
    return [Source(name)]


def _treebank_files(folder: str) -> Iterator[str]:
    for parent, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for file in files:
            path = os.path.join(parent, file)
            if not file.startswith(".") and Source(path).suffix in _TREEBANK_SUFFIXES:
                yield path


def text_chunks(source: Source, options: ReadOptions) -> Iterator[tuple[bytes, bool]]:
    """The text in chunks of UTF-8 bytes (not yet checked), each with whether it is the last; the byte order mark is gone."""
    with source.open() as stream:
        chunks = _raw_chunks(stream)
        if _is_utf8(options.encoding):
            chunks = _without_mark(chunks, source.name)
        else:
            chunks = _recoded(chunks, options.encoding, source.name)
        yield from _with_last(chunks)


def _raw_chunks(stream: BinaryIO) -> Iterator[bytes]:
    while chunk := stream.read(CHUNK_BYTES):
        yield chunk


def _is_utf8(encoding: str) -> bool:
    try:
        return codecs.lookup(encoding).name in ("utf-8", "utf-8-sig", "ascii")
    except LookupError:
        raise UsageError(f"unknown encoding {encoding!r}; for example: utf-8, latin-1, utf-16, cp1252") from None


def _without_mark(chunks: Iterator[bytes], name: str) -> Iterator[bytes]:
    for number, chunk in enumerate(chunks):
        if number == 0 and chunk.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise EncodingError(
                "this is UTF-16, not UTF-8", path=name, line=1, column=1, advice="Give its encoding: --encoding utf-16"
            )
        yield chunk.removeprefix(codecs.BOM_UTF8) if number == 0 else chunk


def _recoded(chunks: Iterator[bytes], encoding: str, name: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)(errors="strict")
    line = 1
    for chunk, is_last in _with_last(chunks):
        try:
            text = decoder.decode(chunk, is_last)
        except UnicodeError as error:
            raise EncodingError(
                f"these bytes are not {encoding}: {error}", path=name, line=line, advice="Give another --encoding."
            ) from None
        line += text.count("\n")
        yield text.removeprefix("\ufeff").encode("utf-8", "replace")


def _with_last(chunks: Iterator[bytes]) -> Iterator[tuple[bytes, bool]]:
    previous = b""
    for chunk in chunks:
        if previous:
            yield previous, False
        previous = chunk
    yield previous, True
