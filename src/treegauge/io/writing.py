"""Writing treebanks in every format that has a writer, and the one way in which treegauge writes any file.

A file appears whole or not at all, is compressed by its suffix, and ``-`` is standard output.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from typing import BinaryIO, cast

from treegauge.errors import InputError, UsageError, WriteError
from treegauge.io.formats import FORMATS, WRITABLE, Format, format_named, format_of_suffix
from treegauge.io.reading import as_treebank
from treegauge.io.sources import Source, find_sources
from treegauge.trees.treebank import Treebank

__all__ = [
    "COMPRESSORS",
    "check_writable",
    "partial_path",
    "refusal",
    "spare_inputs",
    "write",
    "write_blocks",
    "write_bytes",
    "write_chunks",
]


def _gzip(raw: BinaryIO) -> BinaryIO:
    import gzip

    # No name and no time in the header: the same trees give the same bytes.
    return cast(BinaryIO, gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=6, mtime=0))


def _bzip2(raw: BinaryIO) -> BinaryIO:
    import bz2

    return cast(BinaryIO, bz2.BZ2File(raw, "wb"))


def _xz(raw: BinaryIO) -> BinaryIO:
    import lzma

    return cast(BinaryIO, lzma.LZMAFile(raw, "wb"))


COMPRESSORS: dict[str, Callable[[BinaryIO], BinaryIO]] = {".gz": _gzip, ".bz2": _bzip2, ".xz": _xz}


def write_chunks(chunks: Iterable[bytes], path: str | os.PathLike[str]) -> None:
    """Write to a file, or to standard output if the path is ``-``."""
    name = os.fspath(path)
    if name == "-":
        _write_standard_output(chunks)
        return
    try:
        with _whole_file(name) as raw:
            compress = COMPRESSORS.get(os.path.splitext(name)[1].lower())
            if compress is None:
                raw.writelines(chunks)
            else:
                with compress(raw) as stream:
                    stream.writelines(chunks)
    except OSError as error:
        raise WriteError(f"{name}: cannot be written: {error.strerror or error}") from None


def write_bytes(content: bytes, path: str | os.PathLike[str]) -> None:
    """Write bytes to a file as they are, whatever its suffix."""
    name = os.fspath(path)
    try:
        with _whole_file(name) as raw:
            raw.write(content)
    except OSError as error:
        raise WriteError(f"{name}: cannot be written: {error.strerror or error}") from None


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse a name under which no file can be written, before the long work whose result is to be written there."""
    name = os.fspath(path)
    if "\0" in name:
        raise WriteError(f"{name!r} cannot be the name of a file: it has a zero byte")
    target = os.path.realpath(name)
    if os.path.isdir(target):
        raise WriteError(f"{name}: cannot be written: it is a folder")
    if os.path.exists(target) and not stat.S_ISREG(os.stat(target).st_mode):
        return
    partial = _partial_name(target)
    try:
        open(partial, "xb").close()
        os.unlink(partial)
    except OSError as error:
        raise WriteError(f"{name}: cannot be written: {error.strerror or error}") from None


def _write_standard_output(chunks: Iterable[bytes]) -> None:
    sys.stdout.flush()
    stream: BinaryIO | None = getattr(sys.stdout, "buffer", None)
    for chunk in chunks:
        if stream is not None:
            stream.write(chunk)
        else:  # a notebook's, or a test's
            sys.stdout.write(chunk.decode("utf-8"))
    sys.stdout.flush()


@contextmanager
def _whole_file(name: str) -> Generator[BinaryIO]:
    """A file for writing that takes its name only when all is written; a device or pipe is written to directly."""
    if "\0" in name:
        raise WriteError(f"{name!r} cannot be the name of a file: it has a zero byte")
    target = os.path.realpath(name)
    if os.path.exists(target) and not stat.S_ISREG(os.stat(target).st_mode):
        with open(target, "wb") as raw:
            yield raw
        return
    with partial_path(target) as partial, open(partial, "xb") as raw:
        yield raw
        raw.flush()
        os.fsync(raw.fileno())


def _partial_name(target: str) -> str:
    folder, base = os.path.split(target)
    return os.path.join(folder, f".{os.urandom(4).hex()}.part.{base[-100:]}")


@contextmanager
def partial_path(path: str | os.PathLike[str]) -> Generator[str]:
    """A new name beside a file, with the same suffix; what is written under it takes the file's place when all went well."""
    target = os.path.realpath(path)
    partial = _partial_name(target)
    try:
        yield partial
        if os.path.exists(target):
            os.chmod(partial, stat.S_IMODE(os.stat(target).st_mode))
        os.replace(partial, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(partial)
        raise


def write(trees: object, path: str | os.PathLike[str], to: str = "auto") -> None:
    """Write trees (whatever :func:`~treegauge.io.reading.as_treebank` takes) to a file, or to standard output for ``-``.

    ``to`` is a name of :data:`~treegauge.io.formats.WRITABLE`; ``auto`` goes by the suffix, and else is ``bracketed``.
    """
    write_blocks([as_treebank(trees)], path, to)


def write_blocks(blocks: Iterable[Treebank], path: str | os.PathLike[str], to: str = "auto") -> None:
    """Write the trees of a stream; no more than a block is in memory."""
    writer = _format(path, to).writer
    assert writer is not None
    write_chunks(writer(blocks), path)


def _format(path: str | os.PathLike[str], name: str) -> Format:
    if name != "auto":
        return format_named(name, WRITABLE)
    found = format_of_suffix(Source(os.fspath(path)).suffix)
    return found if found is not None and found.writer is not None else FORMATS["bracketed"]


def spare_inputs(output: str | os.PathLike[str] | None, *inputs: str | os.PathLike[str] | None) -> None:
    """Raise an error if an output is one of the files that a command reads: by device and inode, so links count as well.

    Inputs are files, directories or globs; ``None`` and ``-`` (standard input or output) are not files.
    """
    if output is None or os.fspath(output) == "-" or not os.path.exists(output):
        return
    for given in inputs:
        if given and os.fspath(given) != "-" and any(_is_same_file(output, name) for name in _files_of(os.fspath(given))):
            raise UsageError(f"{os.fspath(output)} is an input of this command and would be overwritten: name another output file")


def _files_of(given: str) -> list[str]:
    """The files that a path, a directory or a glob names; a path that cannot be read is reported when it is read."""
    try:
        return [given, *(source.name for source in find_sources(given))]
    except InputError:
        return [given]


def _is_same_file(one: str | os.PathLike[str], other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def refusal(bank: Treebank, index: int, problem: str) -> WriteError:
    """The error that tree ``index`` cannot be written, with the place it was read from."""
    return WriteError(f"{bank.place(index)}: {problem}")
