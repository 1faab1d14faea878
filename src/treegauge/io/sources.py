"""From a path to text: files, directories, globs and standard input, decompressed by suffix and recoded to UTF-8.

A file that expands without bound is refused. :class:`ReadOptions` holds the choices of a user about reading, as one value.
Encodings are told apart by :mod:`treegauge.io.encodings`.
"""

from __future__ import annotations

import codecs
import glob
import io
import os
import re
import stat
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from itertools import chain
from typing import Any, BinaryIO, Literal, NamedTuple, TypedDict, cast

from treegauge.errors import (
    EncodingError,
    FileNote,
    FormatError,
    InputError,
    UnknownName,
    UsageError,
    check_name,
    refusing_unreadable,
    warn,
)
from treegauge.presets.treebanks import TREEBANKS, TreebankStyle
from treegauge.tables import concise

ON_ERROR = ("parse-fails", "stop", "repair")
IN_STRINGS = "<strings>"  # a list of texts in messages
_EARLIER = {"skip": "parse-fails", "close": "repair"}  # names of 0.2
_BOMB_BYTES, _BOMB_RATIO = 1 << 20, 100
_LOOKED_AT, _FEW_CONTROLS = 4096, 15
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_MAGIC = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\0": ".xz"}


COMPRESSED = frozenset({".gz", ".bz2", ".xz"})
"""The suffixes of compressed files."""


def compressed_file(raw: BinaryIO, suffix: str, mode: Literal["rb", "wb"]) -> BinaryIO:
    """A file compressed by its suffix, for reading or writing its content."""
    if suffix == ".gz":
        import gzip

        # No name and no time in the header: the same trees give the same bytes.
        return cast(BinaryIO, gzip.GzipFile(filename="", fileobj=raw, mode=mode, compresslevel=6, mtime=0))
    if suffix == ".bz2":
        import bz2

        return cast(BinaryIO, bz2.BZ2File(raw, mode))
    import lzma

    return cast(BinaryIO, lzma.LZMAFile(raw, mode))


def magic_suffix(head: bytes) -> str:
    """The suffix of compressed files that begin with these bytes; ``""`` if they are not those of a compressed file."""
    return next((suffix for magic, suffix in _MAGIC.items() if head.startswith(magic)), "")


def decompress(raw: BinaryIO, suffix: str, name: str) -> BinaryIO:
    """The decompressed bytes of a file with this suffix."""
    return cast(BinaryIO, _BoundedStream(raw, suffix, name))


class _Readable(io.RawIOBase):
    """A stream that is only read."""

    def readable(self) -> bool:
        return True


class _BoundedStream(_Readable):
    """A decompressed stream that raises our errors, and refuses a file that expands without bound."""

    def __init__(self, raw: BinaryIO, suffix: str, name: str) -> None:
        self.name, self.taken, self.given = name, 0, 0
        self.stream = compressed_file(cast(BinaryIO, _ProgressReader(raw, self._take)), suffix, "rb")

    def _take(self, size: int) -> None:
        self.taken += size

    def read(self, size: int = -1, /) -> bytes:
        try:
            data = self.stream.read(size)
        except EOFError:
            advice = "It was cut short: fetch it again."
            raise InputError("the compressed file ends in the middle", path=self.name, advice=advice) from None
        except _decompression_errors() as error:
            advice = "Is the suffix right, and the file whole?"
            raise InputError(f"cannot be decompressed: {error}", path=self.name, advice=advice) from None
        self.given += len(data)
        if self.given > _BOMB_BYTES and self.given > _BOMB_RATIO * max(self.taken, 1):
            advice = "No treebank compresses so well; decompress it yourself if it is really one."
            raise InputError(f"expands to more than {_BOMB_RATIO} times its size", path=self.name, advice=advice)
        return data


def _decompression_errors() -> tuple[type[Exception], ...]:
    import lzma
    import zlib

    return OSError, zlib.error, lzma.LZMAError


TREEBANK_SUFFIXES = {
    *(".mrg", ".ptb", ".psd", ".prd", ".fid", ".tbf", ".parse", ".brackets", ".bracketed", ".tree", ".trees", ".txt", ".gold"),
    *(".test", ".parsed", ".out"),
    *(".export", ".negra", ".discbracket", ".dbr", ".alpino", ".xml", ".tigerxml", ".tiger", ".conll", ".conll2000", ".iob"),
    ".jsonl",
}


class TextPosition(NamedTuple):
    """A position in a text: the line, counted from 1, and the number of characters before it on that line."""

    line: int
    characters: int

    @property
    def begins_line(self) -> bool:
        return self.characters == 0

    def after(self, text: bytes, end: int | None = None) -> TextPosition:
        """The position at the end of a text that begins here, or at the end of its first ``end`` bytes."""
        import numpy as np  # bytes.count takes ten times as long

        newlines = int(np.count_nonzero(np.frombuffer(text, np.uint8)[:end] == ord("\n")))
        rest = len(text[text.rfind(b"\n", 0, end) + 1 : end].decode("utf-8", "replace"))
        return TextPosition(self.line + newlines, rest if newlines else self.characters + rest)


class LeftOut(NamedTuple):
    """The numbers of what trees leave out: secondary edges, nodes without words, lemmas and morphological features.

    ``trees`` are those that hold no words but only codes and comments of their treebank, ``marks`` such codes beside words, and
    punctuation after a tree.
    """

    edges: int = 0
    nodes: int = 0
    lemmas: int = 0
    features: int = 0
    trees: int = 0
    marks: int = 0

    def plus(self, other: LeftOut) -> LeftOut:
        """Both together."""
        return LeftOut(*map(sum, zip(self, other, strict=True)))


@dataclass(frozen=True)
class Source:
    """A named source of bytes; ``data`` holds the bytes if they are already in memory.

    ``on_read`` is called with the number of bytes, before decompression, after each read. ``stored`` is the file to open, if it
    differs from the name. ``on_left_out`` is called with what the tree of a sentence leaves out, ``on_note`` with the place and the
    text of each note on the file; without it, notes are warnings.
    """

    name: str
    data: bytes | None = field(default=None, repr=False)
    on_read: Callable[[int], None] | None = field(default=None, repr=False)
    stored: str = ""
    on_left_out: Callable[[LeftOut], None] | None = field(default=None, repr=False)
    on_note: Callable[[str, str], None] | None = field(default=None, repr=False)

    def note(self, what: str, place: str = "") -> None:
        """Tell the user something about this file, or about a place in it."""
        if self.on_note is not None:
            self.on_note(place or self.name, what)
        else:
            warn(FileNote(place or self.name, what))

    @property
    def suffix(self) -> str:
        """The suffix of the name without that of compression: ``.mrg`` for ``x.mrg.gz``."""
        stem, suffix = os.path.splitext(self.name)
        return (os.path.splitext(stem)[1] if suffix.lower() in COMPRESSED else suffix).lower()

    @contextmanager
    def open(self) -> Generator[BinaryIO]:
        """Open the source for reading its bytes, decompressed."""
        if self.data is not None:
            yield io.BytesIO(self.data)
        elif self.name == "-" and not self.stored:
            yield self._with_progress(_standard_input())
        else:
            with _open(self.stored or self.name) as file:
                raw = self._with_progress(file)
                suffix = os.path.splitext(self.name)[1].lower()
                yield decompress(raw, suffix, self.name) if suffix in COMPRESSED else raw

    def _with_progress(self, raw: BinaryIO) -> BinaryIO:
        return raw if self.on_read is None else cast(BinaryIO, _ProgressReader(raw, self.on_read))


class _ProgressReader(_Readable):
    """A stream that reports how much is read from it."""

    def __init__(self, raw: BinaryIO, on_read: Callable[[int], None]) -> None:
        self.raw, self.on_read = raw, on_read

    def read(self, size: int = -1, /) -> bytes:
        data = self.raw.read(size)
        self.on_read(len(data))
        return data


class _Pipe(_Readable):
    """A pipe that is waited for a second at a time: a signal just before a read that waits for ever would wait as long."""

    def __init__(self, raw: Any) -> None:
        self.raw = raw

    def readinto(self, buffer: Any, /) -> int | None:
        import select

        while not select.select([self.raw], [], [], 1.0)[0]:
            pass
        return self.raw.readinto(buffer)

    def close(self) -> None:
        self.raw.close()
        super().close()


def _patient(file: io.BufferedReader) -> BinaryIO:
    """The file or, if it is a pipe, a reader that waits for it as :class:`_Pipe` does."""
    is_pipe = os.name == "posix" and stat.S_ISFIFO(os.fstat(file.fileno()).st_mode)
    return io.BufferedReader(_Pipe(file.detach())) if is_pipe else file


def _standard_input() -> BinaryIO:
    stream: BinaryIO | None = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise InputError("there is no standard input", path="-")
    return stream


def _open(path: str) -> BinaryIO:
    with refusing_unreadable(path):
        try:
            return _patient(open(path, "rb"))
        except FileNotFoundError:
            advice = "For one answer give a list: [answer]." if (" " in path or not path) and not os.path.splitext(path)[1] else ""
            raise InputError("no such file", path=path, advice=_named_system(path) or _similar_names(path) or advice) from None
        except IsADirectoryError:
            raise InputError("is a directory, not a file", path=path) from None
        except PermissionError:
            raise InputError("cannot be read: permission denied", path=path) from None


def _named_system(path: str) -> str:
    """Advice on NAME=FILE, NAME=FILE,FILE... or NAME=runs:GLOB, which stands for a system, where a file is read."""
    file = path.partition("=")[2].partition(",")[0]
    found = file.startswith("runs:") or glob.glob(file)
    return "NAME=FILE is a system of score, compare or report: the gold trees come first." if found else ""


def _similar_names(path: str) -> str:
    folder, name = os.path.split(path)
    try:
        names = os.listdir(folder or ".")
    except OSError:
        return ""
    import difflib

    close = difflib.get_close_matches(name, names, n=3)
    return f"Did you mean {' or '.join(os.path.join(folder, name) for name in close)}?" if close else ""


def relative_path(path: str | os.PathLike[str], folder: str | os.PathLike[str] = ".") -> str:
    """The path from a folder to a file, with slashes; the whole path if there is none, as between two drives of Windows."""
    try:
        return os.path.relpath(path, folder).replace(os.sep, "/")
    except ValueError:
        return os.path.abspath(path).replace(os.sep, "/")


def problem_with_name(name: str) -> str:
    """The reason why no file can have a name; nothing if one can."""
    if "\0" in name:
        return "no file has a name with a zero byte"
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        return "no file has a name with half of a surrogate pair"
    return ""


def find_sources(path: str | os.PathLike[str]) -> list[Source]:
    """The sources that a path stands for: the file itself, all treebank files below a directory, or those that a glob matches.

    Files are in the order of their names; ``-`` is standard input.
    """
    name = os.fspath(path)
    if problem := problem_with_name(name):
        raise InputError(f"cannot be read: {problem}", path=repr(name))
    found = [name]
    if name != "-" and os.path.isdir(name):
        found = sorted(_treebank_files(name))
        if not found:
            advice = f"Looked for {' '.join(sorted(TREEBANK_SUFFIXES))}, also with .gz .bz2 .xz;\n"
            advice += f"  a glob such as '{os.path.join(name, '*')}' matches any name."
            raise InputError("no treebank file in this directory", path=name, advice=advice)
    elif glob.has_magic(name) and not os.path.exists(name):
        found = sorted(file for file in glob.glob(name, recursive=True) if os.path.isfile(file))
        if not found:
            raise InputError("nothing matches this pattern", path=name, advice=_named_system(name))
    return [Source(file) for file in found]


def is_stream(path: str | None) -> bool:
    """Whether a path stands for what is read or written only once: a standard stream, a pipe or a device."""
    return path == "-" or (path is not None and os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)))


def content_hash(path: str | os.PathLike[str]) -> str:
    """The sha256 of the files that a path stands for; of what can be read but once, such as standard input, only the name."""
    names = [source.name for source in find_sources(path)]
    if not all(map(os.path.isfile, names)):
        return os.fspath(path)
    import hashlib

    whole = hashlib.sha256()
    for name in names:
        with _open(name) as file:
            while data := file.read(CHUNK_BYTES):
                whole.update(data)
    return whole.hexdigest()


def _treebank_files(folder: str) -> Iterator[str]:
    def refuse(error: OSError) -> None:
        raise InputError(f"cannot be listed: {error.strerror or error}", path=str(error.filename or folder))

    for parent, folders, files in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for file in files:
            path = os.path.join(parent, file)
            if not file.startswith(".") and Source(path).suffix in TREEBANK_SUFFIXES:
                yield path


AUTO = "auto"


class ReadKeywords(TypedDict, total=False):
    """The fields of :class:`ReadOptions` as keywords of a call, for type checkers."""

    format: str
    encoding: str
    lines: bool
    comment: str
    functions: bool
    features: bool | str
    attach_punctuation: bool
    on_error: str
    field: str
    secondary: bool
    treebank: str


@concise
@dataclass(frozen=True)
class ReadOptions:
    """Options for reading a treebank.

    * ``format``: a name of :data:`treegauge.io.FORMATS`, or ``auto``.
    * ``encoding``: the encoding of the text. ``auto`` is UTF-8, or what the bytes look like (see
      :mod:`treegauge.io.encodings`); UTF-8 is checked strictly. ``PATTERN=NAME`` gives the encoding of files whose path or name
      matches; several are separated by commas, and one without a pattern is for the other files.
    * ``treebank``: a name of :data:`treegauge.presets.treebanks.TREEBANKS`, which says what is a word, a lemma, a trace and a
      comment in its files.
    * ``lines``: each line is one sentence, so that a blank line is an empty parse ``()`` and several trees on a line become
      one under an empty root.
    * ``comment``: lines that begin with this text are left out.
    * ``functions``: grammatical functions of export, TIGER-XML and Alpino XML become part of the label (``NP-SB``).
    * ``features``: lemmas and morphology of the same formats, and lemmas of treebanks that have them, become SPMRL features
      (``NN##lem=Haus##``); ``morphology`` leaves out the lemmas.
    * ``attach_punctuation``: in the same formats, punctuation that hangs from the root between the words of a constituent
      becomes part of the smallest such constituent. NEGRA and TIGER attach all punctuation to the root, which alone makes nearly
      every sentence with a comma discontinuous.
    * ``secondary``: secondary edges of export, TIGER-XML and Alpino XML (there: nodes with an index) become features of labels
      (``NP-SB##sec=SB:1##``, see :mod:`treegauge.io.secondary`); otherwise they are left out.
    * ``on_error``: what to do with a tree that cannot be read: raise an error (``stop``), make it a sentence without a parse
      (``parse-fails``), or repair it where possible (``repair``, see :mod:`treegauge.io.repairs`). The problems are kept in the
      treebank. ``skip`` and ``close`` are earlier names of the last two.
    * ``field``: the field that holds the tree, in a file of JSON lines.
    """

    format: str = "auto"
    encoding: str = AUTO
    lines: bool = False
    comment: str = ""
    functions: bool = True
    features: bool | str = False
    attach_punctuation: bool = False
    on_error: str = "stop"
    field: str = ""
    secondary: bool = False
    treebank: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "on_error", _EARLIER.get(self.on_error, self.on_error))
        check_name("value of on_error", self.on_error, (*ON_ERROR, "skip"))
        if self.treebank and self.treebank not in TREEBANKS:
            raise UnknownName("treebank", self.treebank, TREEBANKS)
        if self.comment.encode("utf-8", "replace").decode() != self.comment:
            raise UsageError(f"comment={self.comment!a} is not text")
        if self.treebank and not self.comment:
            object.__setattr__(self, "comment", TREEBANKS[self.treebank].comment)

    @property
    def style(self) -> TreebankStyle | None:
        """The style of the treebank that is named, if any."""
        return TREEBANKS.get(self.treebank)

    @property
    def changes_trees(self) -> bool:
        """Whether the style of a treebank changes trees after reading."""
        return self.treebank != "" and TREEBANKS[self.treebank].changes_trees

    @property
    def comments_part_trees(self) -> bool:
        """Whether comments stand between trees, so that one inside a tree shows that the tree should have ended."""
        return self.treebank != "" and not self.lines and self.comment == TREEBANKS[self.treebank].comment != ""

    def encoding_of(self, path: str) -> str:
        """The name of the encoding that is given for a file, or ``auto``.

        >>> ReadOptions(encoding="old/*=latin-1,*.fid=gb18030").encoding_of("old/x.mrg"), ReadOptions().encoding_of("x.mrg")
        ('latin-1', 'auto')
        """
        found = AUTO
        for part in self.encoding.split(","):
            pattern, equals, name = part.rpartition("=")
            if equals and (fnmatch(path, pattern) or fnmatch(os.path.basename(path), pattern)):
                return name
            found = found if equals else name
        return found

    @property
    def of_categories(self) -> ReadOptions:
        """The same options, by which functions before a mark, as in ``SUBJ+np``, are left out of labels."""
        return replace(self, functions=self.functions and not (self.style and self.style.function_mark))

    @property
    def of_gold(self) -> ReadOptions:
        """The same options for gold trees, which must be free of errors, and neither in a field nor without labels."""
        return replace(self, on_error="stop", field="", format=AUTO if self.format == "brackets" else self.format)


CHUNK_BYTES = 5 << 17
_LONGEST_LINE_BYTES = 64 << 20


class Text:
    """The text of a source, to be read once.

    ``chunks`` gives UTF-8 that is not yet validated, without a byte order mark, and for each chunk whether it is the last.
    ``encoding`` is that of the file, as far as it was read.
    """

    def __init__(self, source: Source, options: ReadOptions) -> None:
        self.source, self.name, self.suffix = source, source.name, source.suffix
        self.on_left_out = source.on_left_out
        given = re.sub("(?i)^latin-(?!1$)", "latin", options.encoding_of(source.name))
        self.encoding = "utf-8" if given == AUTO or _is_utf8(given) else given
        self._chunks = self._open(given, options.style)
        self._first = next(self._chunks)

    @property
    def is_recoded(self) -> bool:
        """Whether the text was not UTF-8."""
        return self.encoding != "utf-8"

    def original(self, text: bytes) -> bytes:
        """Some of the text in the encoding of the file."""
        return text.decode("utf-8", "surrogateescape").encode(self.encoding, "surrogateescape") if self.is_recoded else text

    def _open(self, given: str, style: TreebankStyle | None) -> Iterator[tuple[bytes, bool]]:
        with self.source.open() as stream:
            chunks = _raw_chunks(stream, self.name)
            if self.is_recoded:
                chunks = _to_utf8(chunks, given, self.name)
            else:
                chunks = _without_mark(self._found(chunks, style) if given == AUTO else chunks, self.name)
            yield from _with_last(_plain_line_ends(chunks))

    def _found(self, chunks: Iterator[bytes], style: TreebankStyle | None) -> Iterator[bytes]:
        """The chunks as UTF-8; the first ones that are not ASCII decide about the encoding."""
        held, line, is_first, name = b"", 1, True, ""
        for chunk in chunks:
            held += chunk
            if is_first and ((head := held[:64].lstrip())[:1] != b"(" or b"\0" in head[:8]):  # text that is not plain brackets
                name = _encoding_of_other(held)
            is_first = False
            if not name and not held.isascii():
                name = _encoding_of(held, style)
            if name:
                break
            if held.isascii():
                yield held
                line += held.count(b"\n")
                held = b""
        rest = chain([held] if held else [], chunks)
        if name in ("", "utf-8"):
            yield from rest
            return
        self.encoding = name
        if style is None or name != style.encoding:
            western = 'Windows-1252 (Latin-1); if letters look wrong, name another encoding, as in encoding="latin-2"'
            self.source.note(f"not UTF-8: read as {western if name == 'cp1252' else name.upper()}")
        yield from _to_utf8(rest, name, self.name, line)

    @property
    def head(self) -> bytes:
        """The first chunk, which :meth:`chunks` gives as well."""
        return self._first[0]

    @property
    def is_whole(self) -> bool:
        """Whether the first chunk is the whole text."""
        return self._first[1]

    def chunks(self) -> Iterator[tuple[bytes, bool]]:
        """The chunks of the text, each with whether it is the last."""
        yield self._first
        yield from self._chunks

    def lines(self) -> Iterator[bytes]:
        """The lines without their ends; an empty last line is left out."""
        rest = b""
        for chunk, is_last in self.chunks():
            lines = (rest + chunk).split(b"\n")
            rest = lines.pop()
            yield from lines
            if is_last and rest:
                yield rest
            if len(rest) > _LONGEST_LINE_BYTES:
                raise FormatError(f"a line of more than {_LONGEST_LINE_BYTES >> 20} MB", path=self.name)


def _encoding_of(beginning: bytes, style: TreebankStyle | None) -> str:
    """The encoding of text that is not ASCII: UTF-8 if it is valid or no other is certain; empty if more text must be seen."""
    try:
        return "utf-8" if not codecs.utf_8_decode(beginning, "strict", False)[0].isascii() else ""
    except UnicodeDecodeError:
        from treegauge.io.encodings import WINDOWS, has_utf8, is_western

        if style and style.encoding and not (style.encoding == "latin-1" and has_utf8(beginning)):
            return style.encoding
        return WINDOWS if is_western(beginning) else "utf-8"


def _encoding_of_other(beginning: bytes) -> str:
    """The encoding of UTF-16 and XML, whose parser knows what it declares; empty for other text."""
    from treegauge.io.encodings import is_xml, utf16

    return utf16(beginning) or ("utf-8" if is_xml(beginning) else "")


def _raw_chunks(stream: BinaryIO, name: str) -> Iterator[bytes]:
    with refusing_unreadable(name):
        is_first = True
        while chunk := stream.read(CHUNK_BYTES):
            if is_first and chunk.startswith(b"PK\3\4"):
                from treegauge.io.archive import refuse_scores

                refuse_scores(chunk, name)
                raise FormatError("this is a treegauge model or another zip file, not trees or text", path=name)
            is_first = False
            yield chunk


def _is_utf8(encoding: str) -> bool:
    try:
        io.TextIOWrapper(io.BytesIO(), encoding)  # refuses codecs that are not of text, such as base64
        return codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")
    except (LookupError, ValueError):
        raise UsageError(f"unknown encoding {encoding!r}; for example: utf-8, latin-1, latin-2, utf-16, cp1252") from None


def _without_mark(chunks: Iterator[bytes], name: str) -> Iterator[bytes]:
    for number, chunk in enumerate(chunks):
        if number == 0:
            if chunk.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                advice = 'Give its encoding: encoding="utf-16".'
                raise EncodingError("this is UTF-16, not UTF-8", path=name, line=1, column=1, advice=advice)
            if suffix := magic_suffix(chunk):
                advice = f"Files are decompressed by their suffix: let the name end in {suffix}, or decompress the file."
                raise EncodingError(f"this is compressed ({suffix}), not text", path=name, advice=advice)
            beginning = chunk[:_LOOKED_AT]
            if b"\0" in beginning and len(_CONTROLS.findall(beginning)) > max(_FEW_CONTROLS, len(beginning) // 50):
                raise EncodingError("this is not text", path=name, advice='If it is, name its encoding: encoding="utf-16-le".')
            chunk = chunk.removeprefix(codecs.BOM_UTF8)
        yield chunk


def _to_utf8(chunks: Iterator[bytes], encoding: str, name: str, line: int = 1) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)(errors="strict")
    is_first = True
    for chunk, is_last in _with_last(chunks):
        try:
            text = decoder.decode(chunk, is_last)
            recoded = (text.removeprefix("\ufeff") if is_first else text).encode("utf-8")
        except UnicodeError as error:
            where, why = line, str(error)
            if isinstance(error, UnicodeDecodeError):
                where += error.object[: error.start].decode(encoding, "replace").count("\n")
                why = f"byte 0x{error.object[error.start]:02x}, {error.reason}"
            advice = 'Give another encoding, for example encoding="latin-1".'
            raise EncodingError(f'encoding="{encoding}" does not fit: {why}', path=name, line=where, advice=advice) from None
        line += text.count("\n")
        is_first = is_first and not text
        yield recoded


def _plain_line_ends(chunks: Iterator[bytes]) -> Iterator[bytes]:
    r"""The chunks with line ends ``\r\n`` as ``\n``; also ``\r``, if the first chunk has no ``\n``, as on an old Macintosh."""
    is_macintosh, is_first, held = False, True, b""
    for chunk in chunks:
        if is_first and chunk:
            is_macintosh, is_first = b"\r" in chunk[:-1] and b"\n" not in chunk, False
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


def is_comment(line: bytes, options: ReadOptions) -> bool:
    """Whether a line is a comment, to be left out."""
    comment = options.comment.strip().encode()
    return bool(comment) and line.lstrip(b" \t\r\v\f").startswith(comment)
