"""Writing treebanks: the functions by which treegauge writes any file, and bracketed text from columns.

A file appears whole or not at all, and is compressed if its suffix says so; ``-`` is standard output. Reading bracketed text gives
back the same trees; a tree for which it would not is refused.
"""

from __future__ import annotations

import glob
import os
import stat
import sys
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import BinaryIO, NamedTuple

import numpy as np

from treegauge.errors import FileNote, UsageError, WriteError, checked, refusing_unwritable, warn
from treegauge.io.formats import FORMATS, WRITABLE, Format, format_named, format_of_suffix
from treegauge.io.reading import as_treebank
from treegauge.io.sources import COMPRESSED, Source, compressed_file, is_stream, problem_with_name
from treegauge.trees.columns import Bytes, Int32, Int64
from treegauge.trees.notation import escape_label, escape_word, pretty, restore_label, restore_word
from treegauge.trees.tree import Tree
from treegauge.trees.treebank import TextOrder, Treebank, text_order

NOT_TEXT = "a label or word is not text: it contains half of a surrogate pair"


def write_chunks(chunks: Iterable[bytes], path: str | os.PathLike[str]) -> None:
    """Write chunks of bytes to a file, compressed by its suffix, or to standard output if the path is ``-``.

    If the reader of a pipe goes away, no more chunks are taken, so that a command ends soon, but with its own exit code.
    """
    name = os.fspath(path)
    if name == "-":
        with suppress(BrokenPipeError):
            write_standard_output(chunks)
        return
    suffix = os.path.splitext(name)[1].lower()
    with (
        refusing_unwritable(name),
        _whole_file(name) as raw,
        compressed_file(raw, suffix, "wb") if suffix in COMPRESSED else nullcontext(raw) as stream,
    ):
        stream.writelines(chunks)


def write_bytes(content: bytes, path: str | os.PathLike[str]) -> None:
    """Write bytes to a file uncompressed, whatever its suffix."""
    name = os.fspath(path)
    with refusing_unwritable(name), _whole_file(name) as raw:
        raw.write(content)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse a path that cannot be written, before the long work whose result is to be written there."""
    name = os.fspath(path)
    if problem := problem_with_name(name):
        raise WriteError(f"{name!r} cannot be written: {problem}")
    if os.path.isdir(name):
        raise WriteError(f"{name}: cannot be written: it is a folder")
    if is_stream(name):
        return
    partial = _partial_name(os.path.realpath(name))
    with refusing_unwritable(name):
        open(partial, "xb").close()
        os.unlink(partial)


def write_standard_output(chunks: Iterable[bytes]) -> None:
    """Write chunks of bytes to standard output; BrokenPipeError if the reader of a pipe goes away."""
    sys.stdout.flush()
    stream: BinaryIO | None = getattr(sys.stdout, "buffer", None)
    for chunk in chunks:
        if stream is not None:
            stream.write(chunk)
        else:  # standard output of a notebook or a test
            sys.stdout.write(chunk.decode("utf-8"))
    (stream or sys.stdout).flush()


@contextmanager
def _whole_file(name: str) -> Generator[BinaryIO]:
    """A file for writing that gets its name only when all is written; a device or pipe is written directly."""
    if problem := problem_with_name(name):
        raise WriteError(f"{name!r} cannot be written: {problem}")
    if is_stream(name):  # whose real path, as that of >(gzip > FILE), need not be a file's
        with open(name, "wb") as raw:
            yield raw
        return
    with partial_path(name) as partial, open(partial, "xb") as raw:
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
    folder, base = os.path.split(target)
    for left in glob.glob(f".????????.part.{glob.escape(base[-100:])}", root_dir=folder):
        what = "part of a file, left by a run that was killed; delete it unless another run is writing it"
        warnings.warn(FileNote(os.path.join(folder, left), what), stacklevel=2)
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


@checked()
def write(trees: object, path: str | os.PathLike[str], to: str = "auto") -> None:
    """Write trees (any value that :func:`~treegauge.io.reading.as_treebank` accepts) to a file, or to standard output for ``-``.

    ``to`` is a name of :data:`~treegauge.io.formats.WRITABLE`; ``auto`` means the format of the suffix, or else ``bracketed``.
    """
    if not isinstance(path, str | os.PathLike):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"path must be the name of a file, not {type(path).__name__}: write(trees, path)")
    write_blocks([as_treebank(trees)], path, to)


def write_blocks(blocks: Iterable[Treebank], path: str | os.PathLike[str], to: str = "auto") -> None:
    """Write blocks of trees, keeping no more than one block in memory."""
    writer = output_format(path, to).writer
    assert writer is not None
    write_chunks(writer(blocks), path)


NOT_TREES = frozenset(
    {".conllu", ".conllx", ".json", ".csv", ".tsv", ".html", ".md", ".tex", ".svg", ".png", ".pdf", ".toml", ".yaml"}
)
"""Suffixes of files that hold no trees, or trees in a format that cannot be written."""
_PLAIN = frozenset({"", ".txt", ".text", ".tree", ".trees", ".out", ".gold", ".test", ".pred"})
"""Suffixes of files of brackets that say nothing about the format."""


def output_format(path: str | os.PathLike[str], name: str = "auto") -> Format:
    """The format of that name; for ``auto`` that of the suffix, or else brackets, with a note if nobody would know that.

    A suffix of other files is refused.
    """
    if name != "auto":
        return format_named(name, WRITABLE)
    suffix = Source(os.fspath(path)).suffix
    found = format_of_suffix(suffix)
    if suffix in NOT_TREES or (found is not None and found.writer is None):
        known = ", ".join(" ".join([each.name, *each.suffixes]) for each in map(FORMATS.__getitem__, WRITABLE))
        raise UsageError(f'no format for trees has the suffix {suffix}: name one, as in to="bracketed"\n  There are: {known}.')
    if found is None and suffix not in _PLAIN and not suffix[1:].isdigit():
        warn(FileNote(os.fspath(path), f"no format has the suffix {suffix}: brackets are written, a tree per line, as in x.mrg"))
    return found or FORMATS["bracketed"]


def tree_lines(blocks: Iterable[Treebank], lines_of: Callable[[Tree, int], Iterable[str]]) -> Iterator[bytes]:
    """The lines of each tree, in UTF-8, as ``lines_of(tree, number)`` gives them.

    A number is that at the end of the sentence's id, or one more than the last number if there is none or it is not larger. The
    error for a tree that cannot be written names the place where it was read.
    """
    number = 0
    for block in blocks:
        for index, (tree, own) in enumerate(zip(block, block.id_numbers(), strict=True)):
            number = max(number + 1, own)
            try:
                yield "\n".join([*lines_of(tree, number), ""]).encode("utf-8")
            except WriteError as error:
                raise refusal(block, index, str(error)) from None
            except UnicodeEncodeError:
                raise refusal(block, index, NOT_TEXT) from None


def refusal(bank: Treebank, index: int, problem: str) -> WriteError:
    """The error for a tree that cannot be written, with the place where it was read."""
    return WriteError(f"{bank.place(index)}: {problem}")


def one_line_text(blocks: Iterable[Treebank]) -> Iterator[bytes]:
    """The trees as bracketed text, one per line."""
    for block in blocks:
        _refuse_gaps(block)
        if len(block):
            yield _one_line_each(block)


def pretty_text(blocks: Iterable[Treebank]) -> Iterator[bytes]:
    """The trees as bracketed text, each over as many lines as it needs."""
    for block in blocks:
        _refuse_gaps(block)
        _stems(block)
        _refuse_hidden_labels(block, text_order(block))
        for tree in block:
            yield pretty(tree).encode() + b"\n"


def _refuse_gaps(bank: Treebank) -> None:
    """Raise an error for the first tree with a gap."""
    if bank.blocks is None:
        return
    row = int(bank.blocks.row[0])
    label = bank.labels[int(bank.label[row])]
    raise refusal(
        bank,
        bank.tree_of_row(row),
        f"{label or 'a node'} has a gap, which bracketed text cannot hold.\n"
        "  Write discbracket, export, tigerxml or alpino, or make the trees continuous: treegauge normalise, step continuous:raise",
    )


def _one_line_each(bank: Treebank) -> bytes:
    """The text of the trees, one per line.

    It is a sequence of nodes and words, each written as a blank (except at the beginning of a tree), its stem, and the brackets
    that close after it.
    """
    stems = _stems(bank)
    order = text_order(bank)
    _refuse_hidden_labels(bank, order)
    stem = np.concatenate([bank.label, bank.word + np.int32(len(bank.labels))]).take(order.item)
    size = stems.size.take(stem)
    length = size + order.closing + ~order.is_first + order.is_last
    behind = np.cumsum(length)
    begin = behind - length
    text = np.full(behind[-1], ord(")"), dtype=np.uint8)
    text[begin[~order.is_first]] = ord(" ")
    text[behind[order.is_last] - 1] = ord("\n")
    within = np.arange(int(size.sum())) - np.repeat(np.cumsum(size) - size, size)
    target = within + np.repeat(begin + ~order.is_first, size)
    within += np.repeat(stems.start.take(stem), size)
    text[target] = stems.data.take(within)
    return text.tobytes()


class _Stems(NamedTuple):
    """The text of each label (with its opening bracket), then that of each word, as slices of ``data``."""

    data: Bytes
    start: Int64
    size: Int64


def _stems(bank: Treebank) -> _Stems:
    labels = _texts(
        bank, bank.labels, bank.label, bank.node_offset, lambda label: _exactly(label, escape_label(label), restore_label)
    )
    words = _texts(
        bank, bank.vocabulary, bank.word, bank.token_offset, lambda word: _exactly(word, escape_word(word), restore_word)
    )
    texts = [*(b"(" + label for label in labels), *words]
    size = np.array([len(text) for text in texts], dtype=np.int64)
    return _Stems(np.frombuffer(b"".join(texts), dtype=np.uint8), np.cumsum(size) - size, size)


def _texts(bank: Treebank, names: tuple[str, ...], column: Int32, offset: Int64, text_of: Callable[[str], bytes]) -> list[bytes]:
    """The text of each name that the column uses; empty for others."""
    texts = [b""] * len(names)
    for number in np.flatnonzero(np.bincount(column, minlength=len(names))).tolist():
        try:
            texts[number] = text_of(names[number])
        except WriteError as error:
            row = int(np.flatnonzero(column == number)[0])
            raise refusal(bank, int(np.searchsorted(offset, row, side="right")) - 1, str(error)) from None
    return texts


def _exactly(name: str, escaped: str, restore: Callable[[str], str]) -> bytes:
    """The escaped name in UTF-8; WriteError if it would be read back as another name."""
    if escaped != name or "RB-" in name:
        back = restore(escaped)
        if back != name:
            raise WriteError(
                f"{name!r} cannot be written as bracketed text: it would be read as {back!r}, since -LRB- is a bracket there."
            )
    try:
        return escaped.encode("utf-8")
    except UnicodeEncodeError:
        raise WriteError(f"{name!r} is not text: it contains half of a surrogate pair") from None


def _refuse_hidden_labels(bank: Treebank, order: TextOrder) -> None:
    """Refuse a node without a label that begins with a word and has further children: the word would be read as the label."""
    empty = [number for number, label in enumerate(bank.labels) if not label]
    if not empty:
        return
    token = order.item - bank.n_nodes
    nameless = np.isin(bank.label, empty)
    before_word = np.flatnonzero((token[:-1] < 0) & (token[1:] >= 0))
    row, word = order.item[before_word], token[before_word + 1]
    tree = np.searchsorted(bank.token_offset, word, side="right") - 1
    is_first_child = bank.above[word] + bank.node_offset[tree] == row
    hidden = np.flatnonzero(nameless[row] & is_first_child & (bank.tag[word] < 0))
    if len(hidden):
        first = int(hidden[0])
        name = bank.vocabulary[bank.word[word[first]]]
        raise refusal(
            bank,
            int(tree[first]),
            f"a node without a label that begins with the word {name!r} cannot be written as bracketed text: the word would be "
            "read as the label.\n  Give the node a label.",
        )
