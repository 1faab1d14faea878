"""Writing treebanks in every format that has a writer, and the functions by which treegauge writes any file.

A file appears whole or not at all, and is compressed if its suffix says so; ``-`` is standard output.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO, cast

from treegauge.errors import InputError, UsageError, WriteError
from treegauge.io.formats import FORMATS, WRITABLE, Format, format_named, format_of_suffix
from treegauge.io.reading import as_treebank
from treegauge.io.sources import Source, find_sources, problem_with_name
from treegauge.trees.tree import Tree
from treegauge.trees.treebank import Treebank

NOT_TEXT = "a label or word is not text: it contains half of a surrogate pair"


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
    """Write chunks of bytes to a file, compressed by its suffix, or to standard output if the path is ``-``."""
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
    """Write bytes to a file uncompressed, whatever its suffix."""
    name = os.fspath(path)
    try:
        with _whole_file(name) as raw:
            raw.write(content)
    except OSError as error:
        raise WriteError(f"{name}: cannot be written: {error.strerror or error}") from None


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse a path that cannot be written, before the long work whose result is to be written there."""
    name = os.fspath(path)
    if problem := problem_with_name(name):
        raise WriteError(f"{name!r} cannot be written: {problem}")
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
        else:  # standard output of a notebook or a test
            sys.stdout.write(chunk.decode("utf-8"))
    sys.stdout.flush()


@contextmanager
def _whole_file(name: str) -> Generator[BinaryIO]:
    """A file for writing that gets its name only when all is written; a device or pipe is written directly."""
    if problem := problem_with_name(name):
        raise WriteError(f"{name!r} cannot be written: {problem}")
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
    """A temporary path beside a file, with the same suffix; unless an error is raised, it replaces the file at the end."""
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
    """Write trees (any value that :func:`~treegauge.io.reading.as_treebank` accepts) to a file, or to standard output for ``-``.

    ``to`` is a name of :data:`~treegauge.io.formats.WRITABLE`; ``auto`` means the format of the suffix, or else ``bracketed``.
    """
    write_blocks([as_treebank(trees)], path, to)


def write_blocks(blocks: Iterable[Treebank], path: str | os.PathLike[str], to: str = "auto") -> None:
    """Write blocks of trees, keeping no more than one block in memory."""
    writer = _format(path, to).writer
    assert writer is not None
    write_chunks(writer(blocks), path)


def _format(path: str | os.PathLike[str], name: str) -> Format:
    if name != "auto":
        return format_named(name, WRITABLE)
    found = format_of_suffix(Source(os.fspath(path)).suffix)
    return found if found is not None and found.writer is not None else FORMATS["bracketed"]


def protect_inputs(output: str | os.PathLike[str] | None, *inputs: str | os.PathLike[str] | None) -> None:
    """Raise an error if the output of a command is one of the files that it reads, also under another name or by a link.

    Inputs are files, directories or globs; ``None`` and ``-`` (standard input or output) are ignored.
    """
    if output is None or os.fspath(output) == "-" or not os.path.exists(output):
        return
    for given in inputs:
        if given and os.fspath(given) != "-" and any(_is_same_file(output, name) for name in _files_of(os.fspath(given))):
            raise UsageError(f"{os.fspath(output)} is an input of this command and would be overwritten: name another output file")


def _files_of(given: str) -> list[str]:
    """The files that a path, a directory or a glob stands for; the path itself if they cannot be listed."""
    try:
        return [given, *(source.name for source in find_sources(given))]
    except InputError:
        return [given]


def _is_same_file(one: str | os.PathLike[str], other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def tree_lines(blocks: Iterable[Treebank], lines_of: Callable[[Tree, int], Iterable[str]]) -> Iterator[bytes]:
    """The lines of each tree, in UTF-8, as ``lines_of(tree, number)`` gives them; numbers count from 1.

    The error for a tree that cannot be written names the place where it was read.
    """
    number = 0
    for block in blocks:
        for index, tree in enumerate(block):
            number += 1
            try:
                yield "\n".join([*lines_of(tree, number), ""]).encode("utf-8")
            except WriteError as error:
                raise refusal(block, index, str(error)) from None
            except UnicodeEncodeError:
                raise refusal(block, index, NOT_TEXT) from None


def refusal(bank: Treebank, index: int, problem: str) -> WriteError:
    """The error for a tree that cannot be written, with the place where it was read."""
    return WriteError(f"{bank.place(index)}: {problem}")
