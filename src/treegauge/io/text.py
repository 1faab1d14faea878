"""Bytes as text: whatever the encoding and the line ends, readers see chunks of UTF-8 whose lines end in a newline."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from treegauge.errors import EncodingError, FormatError, InputError, UsageError
from treegauge.io.sources import ReadOptions, Source, magic_suffix

__all__ = ["CHUNK_BYTES", "Text"]

CHUNK_BYTES = 5 << 17
_LONGEST_LINE_BYTES = 64 << 20


# A freed block this large teaches the C library's allocator to keep freed memory instead of giving it back to the system and
# fetching it again, page by page, for each block of text: a sixth of the time of reading. (Not touched, it costs nothing.)
np.empty(31 << 20, dtype=np.uint8)


class Text:
    """The text of a source, to be read once.

    ``chunks`` gives UTF-8 that is not yet checked, each chunk with whether it is the last; a byte order mark is gone. ``part`` is
    that of the source.
    """

    def __init__(self, source: Source, options: ReadOptions) -> None:
        self.name, self.suffix, self.part = source.name, source.suffix, source.part
        self.is_recoded = not _is_utf8(options.encoding)
        self._chunks = _chunks(source, options)
        self._first = next(self._chunks)

    @property
    def head(self) -> bytes:
        """The first chunk, which is still to be read."""
        return self._first[0]

    @property
    def is_whole(self) -> bool:
        """Whether the first chunk is all there is."""
        return self._first[1]

    def chunks(self) -> Iterator[tuple[bytes, bool]]:
        yield self._first
        yield from self._chunks

    def lines(self) -> Iterator[bytes]:
        """The lines, without their ends; an empty last line is none."""
        rest = b""
        for chunk, is_last in self.chunks():
            lines = (rest + chunk).split(b"\n")
            rest = lines.pop()
            yield from lines
            if is_last and rest:
                yield rest
            if len(rest) > _LONGEST_LINE_BYTES:
                raise FormatError(f"a line of more than {_LONGEST_LINE_BYTES >> 20} MB", path=self.name)


def _chunks(source: Source, options: ReadOptions) -> Iterator[tuple[bytes, bool]]:
    with source.open() as stream:
        chunks = _raw_chunks(stream, source.name)
        if _is_utf8(options.encoding):
            chunks = _without_mark(chunks, source.name)
        else:
            chunks = _to_utf8(chunks, options.encoding, source.name)
        # A file that was cut into parts has lines; a part of it may have no line end.
        yield from _with_last(_plain_line_ends(chunks, may_be_macintosh=source.part is None))


def _raw_chunks(stream: BinaryIO, name: str) -> Iterator[bytes]:
    try:
        while chunk := stream.read(CHUNK_BYTES):
            yield chunk
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {getattr(error, 'strerror', None) or error}", path=name) from None


def _is_utf8(encoding: str) -> bool:
    try:
        io.TextIOWrapper(io.BytesIO(), encoding)  # refuses codecs that are not of text, such as base64
        return codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")
    except (LookupError, ValueError):
        raise UsageError(f"unknown encoding {encoding!r}; for example: utf-8, latin-1, utf-16, cp1252") from None


def _without_mark(chunks: Iterator[bytes], name: str) -> Iterator[bytes]:
    for number, chunk in enumerate(chunks):
        if number == 0:
            if chunk.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                advice = "Give its encoding, utf-16 (option encoding)."
                raise EncodingError("this is UTF-16, not UTF-8", path=name, line=1, column=1, advice=advice)
            if suffix := magic_suffix(chunk):
                advice = f"Compression is told by the suffix: name the file {suffix}, or decompress it."
                raise EncodingError(f"this is compressed ({suffix}), not text", path=name, advice=advice)
            chunk = chunk.removeprefix(codecs.BOM_UTF8)
        yield chunk


def _to_utf8(chunks: Iterator[bytes], encoding: str, name: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)(errors="strict")
    line, is_first = 1, True
    for chunk, is_last in _with_last(chunks):
        try:
            text = decoder.decode(chunk, is_last)
            recoded = (text.removeprefix("\ufeff") if is_first else text).encode("utf-8")
        except UnicodeError as error:
            where, why = line, str(error)
            if isinstance(error, UnicodeDecodeError):
                where += error.object[: error.start].decode(encoding, "replace").count("\n")
                why = f"byte 0x{error.object[error.start]:02x}, {error.reason}"
            advice = "Give another encoding (option encoding)."
            raise EncodingError(f"this is not {encoding}: {why}", path=name, line=where, advice=advice) from None
        line += text.count("\n")
        is_first = is_first and not text
        yield recoded


def _plain_line_ends(chunks: Iterator[bytes], *, may_be_macintosh: bool) -> Iterator[bytes]:
    r"""Line ends ``\r\n`` as ``\n``; also ``\r``, if the text begins like one of an old Macintosh, without any ``\n``."""
    is_macintosh, is_first, held = False, True, b""
    for chunk in chunks:
        if is_first and chunk:
            is_macintosh, is_first = may_be_macintosh and b"\r" in chunk[:-1] and b"\n" not in chunk, False
        if held or b"\r" in chunk:
            chunk = held + chunk
            if is_macintosh:
                chunk = chunk.replace(b"\r", b"\n")
            else:
                held = b"\r" if chunk.endswith(b"\r") else b""
                chunk = chunk.removesuffix(held).replace(b"\r\n", b"\n")
        yield chunk
    if held:
        yield held


def _with_last(chunks: Iterator[bytes]) -> Iterator[tuple[bytes, bool]]:
    previous = b""
    for chunk in chunks:
        if previous:
            yield previous, False
        previous = chunk
    yield previous, True
