"""Where bytes come from: files, directories, globs, stdin; compressed by suffix."""

from __future__ import annotations

import difflib
import glob
import io
import os
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from treegauge.errors import InputError
from treegauge.io.compression import COMPRESSED, decompressed

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ["Part", "Source", "find_sources"]

TREEBANK_SUFFIXES = {
    *(".mrg", ".ptb", ".psd", ".parse", ".brackets", ".bracketed", ".tree", ".trees", ".txt", ".gold", ".test"),
    *(".export", ".negra", ".xml", ".tigerxml", ".tiger", ".conll", ".conll2000", ".iob"),
}


class Part(NamedTuple):
    """Some bytes of a file, ``start:end``, and the place where they begin: a line, and how many of its characters come before."""

    start: int
    end: int
    line: int = 1
    characters: int = 0


@dataclass(frozen=True)
class Source:
    """A named place to read bytes from; ``data`` holds them where they are in memory already.

    ``on_read`` is told the number of bytes, before decompression, each time some were read. ``part`` are the bytes of an
    uncompressed file to read, if not all. ``stored`` is the file that has the bytes, if it goes by another name.
    """

    name: str
    data: bytes | None = None
    on_read: Callable[[int], None] | None = None
    part: Part | None = None
    stored: str = ""

    @property
    def suffix(self) -> str:
        """The suffix of the name that tells the format: that of ``x.mrg.gz`` is ``.mrg``."""
        path = Path(self.name)
        return (path.with_suffix("") if path.suffix.lower() in COMPRESSED else path).suffix.lower()

    @property
    def is_compressed(self) -> bool:
        """Whether the suffix of the name says so."""
        return Path(self.name).suffix.lower() in COMPRESSED

    @contextmanager
    def open(self) -> Generator[BinaryIO]:
        """The bytes, decompressed."""
        if self.data is not None:
            yield io.BytesIO(self.data)
        elif self.name == "-" and not self.stored:
            yield self._watched(_standard_input())
        else:
            with _opened(self.stored or self.name) as file:
                raw = self._watched(file if self.part is None else _part_of(file, self.part))
                suffix = Path(self.name).suffix.lower()
                yield decompressed(raw, suffix, self.name) if suffix in COMPRESSED else raw

    def _watched(self, raw: BinaryIO) -> BinaryIO:
        return raw if self.on_read is None else cast(BinaryIO, _Watched(raw, self.on_read))


def _part_of(file: BinaryIO, part: Part) -> BinaryIO:
    file.seek(part.start)
    return cast(BinaryIO, io.BufferedReader(_Part(file, part.end - part.start)))


class _Part(io.RawIOBase):
    """The next bytes of a file, as if it ended behind them."""

    def __init__(self, raw: BinaryIO, size: int) -> None:
        self.raw, self.left = raw, size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer)
        data = self.raw.read(min(len(view), self.left))
        view[: len(data)] = data
        self.left -= len(data)
        return len(data)


class _Watched(io.RawIOBase):
    """A stream that tells how much is read from it."""

    def __init__(self, raw: BinaryIO, on_read: Callable[[int], None]) -> None:
        self.raw, self.on_read = raw, on_read

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        data = self.raw.read(size)
        self.on_read(len(data))
        return data


def _standard_input() -> BinaryIO:
    stream: BinaryIO | None = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise InputError("there is no standard input", path="-")
    return stream


def _opened(path: str) -> BinaryIO:
    try:
        return open(path, "rb")
    except FileNotFoundError:
        raise InputError("no such file", path=path, advice=_similar_names(path)) from None
    except IsADirectoryError:
        raise InputError("is a directory, not a file", path=path) from None
    except PermissionError:
        raise InputError("may not be read: permission denied", path=path) from None
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be opened: {getattr(error, 'strerror', None) or error}", path=path) from None


def _similar_names(path: str) -> str:
    folder = Path(path).parent
    try:
        names = [entry.name for entry in folder.iterdir()]
    except OSError:
        return ""
    close = difflib.get_close_matches(Path(path).name, names, n=3)
    return f"Did you mean {' or '.join(str(folder / name) for name in close)}?" if close else ""


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
                advice=f"Looked for {' '.join(sorted(TREEBANK_SUFFIXES))}, also with .gz .bz2 .xz;\n"
                f"  a glob such as '{os.path.join(name, '*')}' takes any name.",
            )
        return [Source(file) for file in found]
    if glob.has_magic(name) and not os.path.exists(name):
        found = sorted(file for file in glob.glob(name, recursive=True) if os.path.isfile(file))
        if not found:
            raise InputError("nothing matches this pattern", path=name)
        return [Source(file) for file in found]
    return [Source(name)]


def _treebank_files(folder: str) -> Iterator[str]:
    def refuse(error: OSError) -> None:
        raise InputError(f"cannot be listed: {error.strerror or error}", path=str(error.filename or folder))

    for parent, folders, files in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for file in files:
            path = os.path.join(parent, file)
            if not file.startswith(".") and Source(path).suffix in TREEBANK_SUFFIXES:
                yield path
