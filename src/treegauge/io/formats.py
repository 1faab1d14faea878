"""The file formats: a table of names, suffixes, readers and writers, and the detection of format and style of a text."""

from __future__ import annotations

import importlib
import io
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

from treegauge.errors import InputError, check_name
from treegauge.io.sources import ReadOptions, Text, is_comment
from treegauge.presets.treebanks import TREEBANKS
from treegauge.tables import concise
from treegauge.trees.treebank import Treebank

Reader = Callable[[Text, ReadOptions], Iterator[Treebank | InputError]]
Writer = Callable[[Iterable[Treebank]], Iterator[bytes]]


@concise
class Format(NamedTuple):
    """A file format: its name, a line of help, the suffixes that identify it, its reader and its writer.

    ``features``: whether what is written has a place for lemmas and morphology, or for ``morphology`` alone. A reader yields
    blocks of trees and, in between, all errors; a caller that stops at the first error raises it.
    """

    name: str
    help: str
    suffixes: tuple[str, ...] = ()
    reader: Reader | None = None
    writer: Writer | None = None
    features: bool | str = False


def _later(name: str) -> Callable[..., Any]:
    """A function of this package whose module is loaded on the first call, since most work needs only one format."""
    module, function = name.split(".")

    def call(*arguments: Any, **options: Any) -> Any:
        return getattr(importlib.import_module(f"treegauge.io.{module}"), function)(*arguments, **options)

    return call


def _both(module: str) -> tuple[Reader, Writer]:
    """The reader and the writer of a format that has a module of its own."""
    return _later(f"{module}.read_{module}"), _later(f"{module}.{module}_text")


_BRACKETED = (".mrg", ".ptb", ".psd", ".prd", ".fid", ".tbf", ".parse", ".brackets", ".bracketed")
_BY_LINE = _later("bracketed.read_bracketed"), _later("writing.one_line_text")
_PLACES = "brackets whose words carry their places, (VP 0=Wen 2=kennt)"
_SINICA = "lines of the Sinica Treebank, #1:1.[0] S(agent:NP(...)|...)# (reading only)"
_JSON = "JSON lines, or an array of objects, with a tree in a field (reading only)"
_BARE = "brackets without labels, ((the cat) sat), a sentence per line; each bracket becomes an X (reading only)"
_VERSION_4 = "NEGRA export format, written as version 4 (with lemmas)"
_TABLE = (
    Format("bracketed", "Penn Treebank brackets; written one tree per line", _BRACKETED, *_BY_LINE),
    Format("pretty", "Penn Treebank brackets, written over several lines", writer=_later("writing.pretty_text")),
    Format("export", "NEGRA export format, written as version 3", (".export", ".negra"), *_both("export"), "morphology"),
    Format("export4", _VERSION_4, writer=partial(_later("export.export_text"), version=4), features=True),
    Format("tigerxml", "TIGER-XML", (".tigerxml", ".tiger", ".xml"), *_both("tigerxml"), True),
    Format("discbracket", _PLACES, (".discbracket", ".dbr"), *_both("discbracket")),
    Format("alpino", "Alpino XML", (".alpino",), *_both("alpino"), True),
    Format("conll2000", "columns word, tag, chunk of CoNLL-2000", (".conll", ".conll2000", ".iob"), *_both("conll2000")),
    Format("sinica", _SINICA, (), _later("sinica.read_sinica")),
    Format("brackets", _BARE, (), _later("json_lines.read_brackets")),
    Format("jsonl", _JSON, (".jsonl", ".ndjson"), _later("json_lines.read_json_lines")),
)

FORMATS: dict[str, Format] = {known.name: known for known in _TABLE}
FORMATS_WITH_GAPS = frozenset({"export", "tigerxml", "discbracket", "alpino"})
"""The readable formats that can hold crossing branches."""
READABLE = tuple(known.name for known in _TABLE if known.reader is not None)
WRITABLE = tuple(known.name for known in _TABLE if known.writer is not None)

_EXPORT_LINE = re.compile(rb"#(FORMAT|BOT|BOS)\b|%%")
_ALPINO = re.compile(rb"<(alpino_ds|treebank|node)\b")
BRACKET_OR_ATOM = re.compile(rb"[()]|[^\s()]+")
PLACED = re.compile(rb"(\d{1,9})=.+", re.DOTALL)
_LONGEST_LOOK = 1 << 14
SINICA_LINE = re.compile(rb"#\S*\[\d+\]\s")
_JSON_LINE = re.compile(rb'\{\s*"|\[\s*\{|\[$')
_CHUNK_LINE = re.compile(rb"\S+\s+\S+\s+(O|[BI]-\S+)")


def format_named(name: str, valid: Collection[str]) -> Format:
    """The format of that name, which must be one of the valid ones."""
    check_name("format", name, valid)
    return FORMATS[name]


def format_of_suffix(suffix: str) -> Format | None:
    """The format that a suffix identifies, if any."""
    return next((known for known in _TABLE if suffix in known.suffixes), None)


def detect_format(text: Text, options: ReadOptions) -> Format:
    """The format that the options name, else that of the suffix, else the one that the beginning of the text looks like.

    Bracketed text that has the signs of a treebank's style, but is not to be read in it or a related one, gets a note that names
    the style. A note on missing labels is left to scoring where broken trees are read, too: a metric may compare brackets alone.
    """
    found = format_of(text, options)
    sign = style_by_signs(text.head) if found.name == "bracketed" else None
    given = options.style or TREEBANKS["ptb"]
    if sign is not None and not TREEBANKS[sign.treebank].is_related(given):
        text.source.note(f'{sign.what}: read it with treebank="{sign.treebank}"')
    if found.name == "brackets" and options.format == "auto" and options.on_error == "stop":
        text.source.note("brackets without labels: each gets the label X, so compare brackets alone (metric induction)")
    return found


def format_of(text: Text, options: ReadOptions) -> Format:
    """The format of :func:`detect_format`, without a note."""
    if options.field and options.format == "auto" and not text.head.lstrip().startswith(b"("):  # brackets have no fields
        return FORMATS["jsonl"]
    if options.format != "auto":
        return format_named(options.format, READABLE)
    if text.suffix != ".xml" and (known := format_of_suffix(text.suffix)) is not None:
        # Where all words are numbered, or no bracket has a label, a file with the suffix of bracketed text is something else.
        found = _looks_like(text.head, options) if known.name == "bracketed" else ""
        return FORMATS[found] if found in ("discbracket", "brackets") else known
    return FORMATS[_looks_like(text.head, options)] if text.suffix != ".xml" else FORMATS[_kind_of_xml(text.head)]


def _looks_like(head: bytes, options: ReadOptions) -> str:
    """The name of the format that the beginning of a text looks like."""
    line = next((line.strip() for line in io.BytesIO(head) if line.strip() and not is_comment(line, options)), b"")
    if line.startswith(b"<") and not has_sgml_lines(head):
        return _kind_of_xml(head)
    if _EXPORT_LINE.match(line):
        return "export"
    if SINICA_LINE.match(line):
        return "sinica"
    if _JSON_LINE.match(line):
        return "jsonl"
    if _CHUNK_LINE.fullmatch(line):
        return "conll2000"
    if not line.startswith(b"(") and (b"`" in line or len(line.split()) != 1):  # a word alone may be a sentence
        return "bracketed"
    return "discbracket" if _has_places(head, options) else "brackets" if lacks_labels(head) else "bracketed"


def lacks_labels(head: bytes) -> bool:
    """Whether brackets have no labels: on a quarter of the lines one inside the first begins with a bracket and has a word.

    >>> lacks_labels(b"(((the old) cat) sat)\\n((a b) (c d))"), lacks_labels(b"( (S (NP the (N cat)) (VP sat)) .)")
    (True, False)
    """
    if not re.search(rb"\)\s*[^\s()]", head[:_LOOKED_AT]):
        return False
    lines = [line.strip()[1:] for line in head[:_LOOKED_AT].split(b"\n") if line.strip()]
    return 4 * sum(map(_has_bare_word, lines)) >= len(lines)


def _has_bare_word(line: bytes) -> bool:
    """Whether a line has a word in a bracket that begins with a bracket; brackets are replaced from inside.

    A blank between the two brackets stands for an empty label, unless there are blanks before closing brackets, too.
    """
    while not re.search(rb"\(\0[^()]*[^\s()\0]|\(\s+\0[^()]*[^\s()\0]\s+\)", line):
        line, changed = re.subn(rb"\([^()]*\)", b"\0", line)
        if not changed:
            return False
    return True


def _kind_of_xml(head: bytes) -> str:
    return "alpino" if _ALPINO.search(head) else "tigerxml"


def _has_places(head: bytes, options: ReadOptions) -> bool:
    """Whether the words of the first tree with several words are numbered, ``(VP (PWS 0=Wen) (V 1=kennt))``.

    If all trees in the beginning of the text have one word, each word must have the number 0.
    """
    if len(head) > _LONGEST_LOOK:
        head = head[:_LONGEST_LOOK].rpartition(b" ")[0]
    lines = (line for line in head.split(b"\n") if not is_comment(line, options))
    places: list[bytes] = []
    depth, previous, has_words = 0, b"", False
    for found in BRACKET_OR_ATOM.finditer(b"\n".join(lines)):
        token = found[0]
        depth += (token == b"(") - (token == b")")
        if token not in (b"(", b")") and previous != b"(":
            placed = PLACED.fullmatch(token)
            if placed is None:
                return False
            places.append(placed[1])
            has_words = True
        if not depth and len(places) == 1 and int(places[0]):
            return False
        if not depth:
            if len(places) > 1:
                break
            places = []
        previous = token
    return has_words


_LOOKED_AT = 1 << 13
_FEW = 5
# Signs of treebanks, as text: re compiles them on first use, and most files need none.
_SGML = rb"(?m)^[ \t]*<(?:S ID=|/S>|DOC>|HEADER>|BODY>|su id=)"
_ID_AT_END = rb"\(ID [^\s()]+\)\s*\)\s*(?:\(|\Z)"
_FUNCTION_LEAF = rb"\([^\s()+]+\+[^\s()+]+ [^\s()]+\)"
_LEAF = rb"\((?!ID |CODE )[^\s()]+ ([^\s()*0][^\s()]*)\)"
_LEAF_WITH_LEMMA = rb"\([^\s()]+ ([^\s()]+) ([^\s()]+)\)"


class StyleSign(NamedTuple):
    """A sign that was seen in a text, and the treebank whose style has it."""

    what: str
    treebank: str


def has_sgml_lines(head: bytes) -> bool:
    """Whether a text has the SGML lines of the Penn Chinese Treebank, such as ``<S ID=1>``."""
    head = head[:_LOOKED_AT]
    return b"<" in head and b"<?xml" not in head and re.search(_SGML, head) is not None


def style_by_signs(head: bytes) -> StyleSign | None:
    """The style whose signs the beginning of a text has, unmistakably; None if it has none of them.

    >>> style_by_signs(b"( (IP-MAT (NP-SBJ *con*) (VBDI kom-koma)) (ID 1.2))")
    StyleSign(what='an (ID ...) beside every tree, and words with lemmas', treebank='icepahc')
    >>> style_by_signs(b"( (S (NP (DT the) (NN cat)) (VP (VBD sat))))")
    """
    head = head[:_LOOKED_AT]
    if b"(ID " in head and len(re.findall(_ID_AT_END, head)) >= max(head.count(b"\n("), 1):
        leaves: list[bytes] = re.findall(_LEAF, head)
        if 2 * sum(b"-" in leaf[1:-1] for leaf in leaves) > len(leaves):
            return StyleSign("an (ID ...) beside every tree, and words with lemmas", "icepahc")
        return StyleSign("an (ID ...) beside every tree", "ppcme2")
    if has_sgml_lines(head):
        return StyleSign("SGML lines such as <S ID=1> between the trees", "ctb")
    if (head.startswith(b"#") or b"\n#" in head) and 2 * len(re.findall(_FUNCTION_LEAF, head)) > len(re.findall(_LEAF, head)):
        return StyleSign("lines that begin with #, and labels FUNCTION+form", "floresta")
    return StyleSign("leaves of three parts, (tag word lemma)", "cess") if _has_lemma_leaves(head) else None


def _has_lemma_leaves(head: bytes) -> bool:
    """Whether nearly all leaves have three parts, of which the last two, word and lemma, mostly begin alike but differ."""
    if not any(len(piece.rpartition(b"(")[2].split()) == 3 for piece in head.split(b")", _FEW)[:_FEW]):
        return False
    found: list[tuple[bytes, bytes]] = re.findall(_LEAF_WITH_LEMMA, head)
    alike = sum(word[:1].lower() == lemma[:1].lower() for word, lemma in found) * any(word != lemma for word, lemma in found)
    return len(found) > max(9 * len(re.findall(_LEAF, head)), _FEW) and 2 * alike > len(found)
