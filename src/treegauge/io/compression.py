"""Compressed files by suffix, bounded against bombs."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable
from typing import BinaryIO, cast

from treegauge.errors import InputError

__all__ = ["COMPRESSED", "decompressed", "magic_suffix"]

_BOMB_BYTES, _BOMB_RATIO = 256 << 20, 1000
_MAGIC = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\0": ".xz"}


def _gunzip(raw: BinaryIO) -> BinaryIO:
    return cast(BinaryIO, gzip.GzipFile(fileobj=raw, mode="rb"))


def _bunzip2(raw: BinaryIO) -> BinaryIO:
    return cast(BinaryIO, bz2.BZ2File(raw))


def _unxz(raw: BinaryIO) -> BinaryIO:
    return cast(BinaryIO, lzma.LZMAFile(raw))


COMPRESSED: dict[str, Callable[[BinaryIO], BinaryIO]] = {".gz": _gunzip, ".bz2": _bunzip2, ".xz": _unxz}


def magic_suffix(head: bytes) -> str:
    """The suffix that a compressed file should have had, by its first bytes; ``""`` if it does not look compressed."""
    return next((suffix for magic, suffix in _MAGIC.items() if head.startswith(magic)), "")


def decompressed(raw: BinaryIO, suffix: str, name: str) -> BinaryIO:
    """The decompressed bytes of a file with this suffix."""
    counted = _Counted(raw)
    return cast(BinaryIO, _Bounded(COMPRESSED[suffix](cast(BinaryIO, counted)), counted, name))


class _Counted(io.RawIOBase):
    """A stream that knows how many bytes were taken from it, even if it is a pipe."""

    def __init__(self, raw: BinaryIO) -> None:
        self.raw, self.taken = raw, 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        data = self.raw.read(size)
        self.taken += len(data)
        return data


class _Bounded(io.RawIOBase):
    """A decompressed stream that turns decompression errors into ours and refuses to expand a bomb."""

    def __init__(self, stream: BinaryIO, counted: _Counted, name: str) -> None:
        self.stream, self.counted, self.name, self.given = stream, counted, name, 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
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
        if self.given > _BOMB_BYTES and self.given > _BOMB_RATIO * max(self.counted.taken, 1):
            raise InputError(
                f"expands to more than {_BOMB_RATIO} times its size",
                path=self.name,
                advice="No treebank compresses so well; decompress it yourself if it is really one.",
            )
        return data
