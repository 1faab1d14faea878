"""Where a command's result goes: standard output, or a file that appears only when it is complete."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import sys
import tempfile
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

import click

__all__ = ["output_file", "write_lines"]


def _gzip(raw: BinaryIO) -> BinaryIO:
    # No name and no time in the header: the same input gives the same bytes.
    return cast(BinaryIO, gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0))


def _bzip2(raw: BinaryIO) -> BinaryIO:
    return cast(BinaryIO, bz2.BZ2File(raw, "wb"))


def _xz(raw: BinaryIO) -> BinaryIO:
    return cast(BinaryIO, lzma.LZMAFile(raw, "wb"))


_COMPRESS: dict[str, Callable[[BinaryIO], BinaryIO]] = {".gz": _gzip, ".bz2": _bzip2, ".xz": _xz}


def write_lines(path: str, lines: Iterable[str]) -> None:
    """Write lines as UTF-8 to a file (compressed by its suffix) or, for ``-``, to standard output."""
    with output_file(path) as file:
        for line in lines:
            file.write(f"{line}\n".encode())


@contextmanager
def output_file(path: str) -> Generator[BinaryIO]:
    """Bytes on their way to a file; an error leaves what was there before, even if it is also what is being read.

    What is no ordinary file, such as a pipe or ``/dev/null``, is written to directly; ``-`` is standard output.
    """
    target = Path(path)
    if path == "-":
        with _until_closed():
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        return
    if target.exists() and not target.is_file():
        with target.open("wb") as file:
            yield file
        return
    target = Path(os.path.realpath(target))
    handle, temporary = _temporary(target)
    try:
        with os.fdopen(handle, "wb") as raw:
            compress = _COMPRESS.get(target.suffix.lower())
            if compress is None:
                yield raw
            else:
                with compress(raw) as file:
                    yield file
        os.chmod(temporary, _mode(target))
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


@contextmanager
def _until_closed() -> Generator[None]:
    """End the command, quietly and well, when the reader of our output has seen enough of it."""
    try:
        yield
    except BrokenPipeError:
        # What is still in the buffer goes nowhere, so that the interpreter's last flush does not complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise click.exceptions.Exit(0) from None


def _temporary(target: Path) -> tuple[int, str]:
    """A new file beside the target; an error names the target, which is what the user knows."""
    try:
        return tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from None


def _mode(target: Path) -> int:
    """The permissions of the file that is replaced, or those of any new file."""
    if target.exists():
        return target.stat().st_mode & 0o7777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
