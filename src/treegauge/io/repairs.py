"""Bracketed text with broken trees made readable: each broken tree becomes an empty parse, or is repaired.

A broken tree ends before the next line that begins with an opening bracket, or with a comment of its treebank (with ``lines``: at
the end of its line), and stays one sentence. Text outside brackets on lines of its own is a sentence, too: a parser printed it
instead of a tree. But where trees are fenced, numbered or introduced, as in the output of a language model, such text belongs to
the tree before it. Of several trees in one answer the largest is taken, the last of equals, or else the one after the word
"final" if it has as many words; trees over different words with nothing between them are parts of one sentence, and stay together,
unless one is a remark, ``(Note: this is hard)``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from treegauge.errors import BracketError
from treegauge.io.bracketed_columns import escape_everywhere, find_events, read_escapes
from treegauge.io.diagnosis import OUTSIDE, bad_bytes, first_error
from treegauge.io.sources import ReadOptions, TextPosition, is_comment
from treegauge.trees.treebank import Problem

REPAIRS = ("code-fence", "numbering", "prose", "several-trees", "square-brackets", "closing-added", "closing-removed")
"""The kinds of repair, named after what was removed, changed or added."""

_FENCE = re.compile(rb"^[ \t]*(?:```|~~~)[^\n]*$|```", re.MULTILINE)
_NUMBERING = re.compile(rb"\s*(?:(?:\(?\d+[.):]|#\d+[.:]?|[-*>]|\xe2\x80\xa2|\*\*\d+\.?\*\*)[ \t]*)+")
_NUMBERED_TREE = re.compile(_NUMBERING.pattern + rb"(?=[(\[])")
_TREE_INSIDE = re.compile(rb"\(\s*[^\s()\[\]]*\s*\(|\[\s*[^\s()\[\]]+\s*\[|[(\[][A-Z][^\s()\[\]]*\s*$")
_CLOSING_ONLY = re.compile(rb"[ \t]*[)\]][)\] \t\r]*")
_SQUARE_WORD = re.compile(rb"(?<=\[)((?:-[LR][RSC]B-|[^\s()\[\]A-Za-z]+|SYM|PUNCT?|PU|PONCT)[ \t]+)([\[\]])(?=\])")
_ANSWER = re.compile(_FENCE.pattern + rb"|^[ \t]*\[|:\s*[(\[]|^" + _NUMBERED_TREE.pattern, re.MULTILINE)
_WORD = re.compile(rb"(?<=[\s)\]])[^\s()\[\]]+")
_FLAT = re.compile(rb"\([^\s()]+(?:\s+[^\s()]+){2,}\s*\)")  # several words without tags
_UNTAGGED = re.compile(rb"\)\s*([^\s()]+)|\([^\s()]+\s+([^\s()]+)\s*\(")
_FINAL = re.compile(rb"\bfinal\b[^()\[\]]*$", re.IGNORECASE)
_IN_JSON = re.compile(rb'("\s*:\s*")(\s*\((?:[^"\\]|\\.)*)', re.DOTALL)  # a field that holds a tree
_PARAGRAPH = re.compile(rb"\n[ \t\r]*\n(?=[ \t]*[^\s()\[\]])")


class RepairedTree(NamedTuple):
    """A repaired tree, its beginning in the text, the kinds of repair, which of several trees it is, and the text left out."""

    tree: bytes
    start: int
    repairs: tuple[str, ...]
    which: str = ""
    left_out: bytes = b""


class _Candidate(NamedTuple):
    """A bracketing ``start:end`` in a text, with the number of its opening brackets and of those never closed."""

    start: int
    end: int
    brackets: int
    missing: int


def repair(text: bytes) -> RepairedTree | None:
    """The tree in the text of one sentence, repaired; None if there is none.

    >>> repair(b"1. (S (NP (N rain)) (VP (V falls))")
    RepairedTree(tree=b'(S (NP (N rain)) (VP (V falls)))', start=3, repairs=('numbering', 'closing-added'), which='', left_out=b'')
    >>> repair(b"Sure: [S [NP [N rain]]]").tree, repair(b"Draft: (S (N rain)) Final: (NP (N rain))")[::4]
    (b'(S (NP (N rain)))', (b'(NP (N rain))', b'Draft: (S (N rain)) Final:'))
    """
    plain = _FENCE.sub(lambda found: b"\n" * (len(found[0]) - 1) + b" ", text)
    # A square bracket that is the word below a tag for brackets, as in [-LRB- [], is not a bracket of the tree.
    hidden = _SQUARE_WORD.sub(lambda found: found[1] + (b"\x01" if found[2] == b"[" else b"\x02"), plain)
    candidates = [*_candidates(plain, b"(", b")"), *_candidates(hidden, b"[", b"]")]
    if not candidates:
        return None
    best = max(candidates, key=lambda each: (each.brackets, each.start))
    n_words = len(_WORD.findall(plain, best.start, best.end))
    final = [each for each in reversed(candidates) if _FINAL.search(plain[max(each.start - 80, 0) : each.start])]
    best = next((each for each in final if len(_WORD.findall(plain, each.start, each.end)) == n_words), best)
    tree, square = plain[best.start : best.end], plain[best.start : best.start + 1] == b"["
    others = [
        each for each in candidates if each.brackets > 1 and each.start != best.start and plain[each.start] == plain[best.start]
    ]
    rest = bytearray(plain)
    for other in others:
        rest[other.start : other.end] = b" " * (other.end - other.start)
    before, after = bytes(rest[: best.start]), bytes(rest[best.end :])
    surplus = re.match(rb"\s*[)\]][\s)\]]*", after)
    after = after[surplus.end() :] if surplus else after
    lines, _, line = before.rpartition(b"\n")
    numbering = _NUMBERING.fullmatch(line) is not None
    prose = bool(after.strip() or lines.strip() or (line.strip() and not numbering))
    if prose and best.brackets == 1:
        return None  # a remark in brackets
    if square:
        tree = hidden[best.start : best.end].replace(b"(", b"-LRB-").replace(b")", b"-RRB-").replace(b"[", b"(").replace(b"]", b")")
        tree = tree.replace(b"\x01", b"[").replace(b"\x02", b"]")
    tree = tree.rstrip() + b")" * best.missing
    done = (plain != text, numbering, prose, bool(others), square, best.missing > 0, surplus is not None)
    events = find_events(tree)
    if not len(events.words) or not events.balance():
        return None
    which = f"; tree {sum(each.start < best.start for each in others) + 1} of {len(others) + 1} was taken" if others else ""
    repairs = tuple(name for name, was_done in zip(REPAIRS, done, strict=True) if was_done)
    around = plain[: best.start].strip(), plain[best.end :].strip()
    return RepairedTree(tree, best.start, repairs, which, b"\n".join(filter(None, around)) if others or prose else b"")


def _holds_one_tree(text: bytes) -> bool:
    """Whether only one of the bracketings of a text is its tree: all have the same words, or some are prose among tagged words.

    >>> _holds_one_tree(b"(S (N a)) (NP (N a))"), _holds_one_tree(b"(S (N a)) (S (N b))"), _holds_one_tree(b"(S (N a)) (so it is)")
    (True, False, True)
    """
    found = list(_candidates(text, b"(", b")"))
    words = {tuple(_WORD.findall(text, each.start, each.end)) for each in found}
    remarks = [_FLAT.search(text, each.start, each.end) for each in found if each.brackets == 1]
    in_trees = any(_FLAT.search(text, each.start, each.end) for each in found if each.brackets > 1)
    return len(found) > 1 and (len(words) == 1 or (any(remarks) and len(remarks) < len(found) and not in_trees))


def _candidates(text: bytes, opening: bytes, closing: bytes) -> Iterator[_Candidate]:
    """The outermost bracketings in a text; the last one may lack its end."""
    depth = start = brackets = 0
    for found in re.finditer(b"[" + re.escape(opening + closing) + b"]", text):
        if found[0] == opening:
            if not depth:
                start, brackets = found.start(), 0
            depth, brackets = depth + 1, brackets + 1
        elif depth:
            depth -= 1
            if not depth:
                yield _Candidate(start, found.end(), brackets, 0)
    if depth:
        cut = _PARAGRAPH.search(text, start)
        inside = text[start : cut.start()] if cut else text[start:]
        missing = inside.count(opening) - inside.count(closing)
        yield _Candidate(start, start + len(inside), inside.count(opening), max(missing, 0))


def answer_starts(text: bytes) -> list[int]:
    """The positions in a file at which the text of each sentence begins; prose belongs to the tree before it.

    >>> answer_starts(b"Here you are:\\n1. (S (N a))\\n2. (S (N b)\\n\\n3. (S (N c)))")
    [0, 27, 40]
    """
    begins: list[int] = []
    depth, opening, closing = 0, b"(", b")"
    at = 0
    for line in text.split(b"\n"):
        tree_at = _tree_begin(line, depth)
        if tree_at >= 0:
            opening, closing = (b"[", b"]") if line[tree_at : tree_at + 1] == b"[" else (b"(", b")")
            depth = 0
            begins.append(at)
            counted = line[tree_at:]
        else:
            counted = b"" if depth == 0 else line
        if _FENCE.match(line):
            depth = 0
        depth = max(depth + counted.count(opening) - counted.count(closing), 0)
        at += len(line) + 1
    return [0, *begins[1:]] if begins else []


def _tree_begin(line: bytes, depth: int) -> int:
    """The position on a line at which a new tree begins, or -1; inside a tree that is only the margin, or after a number."""
    if line[:1] in (b"(", b"[") and not _CLOSING_ONLY.fullmatch(line):
        return 0
    numbered = _NUMBERED_TREE.match(line)
    if numbered and (not depth or not line[:1].isspace()):
        return numbered.end()
    if depth:
        return -1
    stripped = line.lstrip()
    if stripped[:1] in (b"(", b"["):
        return len(line) - len(stripped)
    inside = _TREE_INSIDE.search(line)
    return inside.start() if inside else -1


_MARGIN = re.compile(rb"\n(?=\()")
_TOKEN = re.compile(rb"[()]|[^() \t\n\r\v\f]+")


class ReadableText(NamedTuple):
    """Text whose trees can all be read, their problems by number, and the number of bytes of the given text that it replaces."""

    text: bytes
    problems: dict[int, Problem]
    used: int


class _TextPiece(NamedTuple):
    """Part ``start:end`` of a text: one broken tree, or text that can be read."""

    start: int
    end: int
    is_broken: bool


def mend(
    text: bytes, path: str, place: TextPosition, options: ReadOptions, *, is_last: bool, nested: bool, ends: Sequence[int] = ()
) -> ReadableText:
    """The text of a block that begins between trees, mended up to the last place where a tree certainly begins.

    ``nested``: brackets at the beginning of a line may be inside trees; ``ends``: places where a tree has ended in any case. If
    ``used`` is 0, more text is needed.
    """
    is_repaired = options.on_error == "repair" and b"\\(" in text
    text = escape_everywhere(text) if is_repaired else read_escapes(text, lines=options.lines, is_whole=is_last)
    if options.lines:
        used = len(text) if is_last else text.rfind(b"\n") + 1
        pieces: Sequence[_TextPiece] = list(_lines(text[:used], options))
    else:
        margins = [found.end() for found in _MARGIN.finditer(text)]
        used = len(text) if is_last else margins[-1] if margins and not nested else 0
        pieces = list(_trees(text[:used], [*margins, *ends], nested))
        is_answer = any(piece.is_broken and _ANSWER.search(text, piece.start, piece.end + 1) for piece in pieces)
        if options.on_error == "repair" and is_answer and not ends:
            pieces = list(_answers(text[:used]))
    if not used:
        return ReadableText(b"", {}, 0)
    return _put_together(text[:used], pieces, path, place, options)


def mend_texts(texts: Sequence[str], path: str, first: int, options: ReadOptions) -> ReadableText:
    """The texts of single sentences, mended, as one line each; ``first`` is the number of the first line."""
    lines: list[bytes] = []
    problems: dict[int, Problem] = {}
    for number, given in enumerate(texts):
        text = given.encode("utf-8", "replace").strip()
        line = read_escapes(text.replace(b"\n", b" ").replace(b"\r", b" "), lines=True)
        if not _is_good(line) or (options.on_error == "repair" and _holds_one_tree(line)):
            line, problem = _mend_piece(
                escape_everywhere(text) if b"\\(" in text else text, path, TextPosition(first + number, 0), options, b""
            )
            problems[number] = problem
            line = line.replace(b"\n", b" ").strip()
        lines.append(line + b"\n")
    whole = b"".join(lines)
    return ReadableText(whole, problems, len(whole))


def _is_good(text: bytes) -> bool:
    """Whether a text can be read: its brackets balance and its bytes are UTF-8."""
    return find_events(text).balance() and bad_bytes(text) is None


def _lines(text: bytes, options: ReadOptions) -> Iterator[_TextPiece]:
    at = 0
    for line in text.split(b"\n"):
        if not is_comment(line, options):
            yield _TextPiece(at, at + len(line), bool(line) and not _is_good(line))
        at += len(line) + 1


def _answers(text: bytes) -> Iterator[_TextPiece]:
    """The sentences in the output of a language model; all of it is one sentence if no tree begins in it."""
    begins = answer_starts(text) or [0]
    for start, end in zip(begins, [*begins[1:], len(text)], strict=True):
        if text[start:end].strip():
            yield _TextPiece(start, end, not _is_good(text[start:end]))


def _trees(text: bytes, begins: Sequence[int], nested: bool) -> Iterator[_TextPiece]:
    """Stretches of complete trees, and broken trees; ``begins`` are places where trees may begin."""
    begins = sorted({0, *(begin for begin in begins if begin < len(text))})
    ends = [*begins[1:], len(text)]
    first = 0
    while first < len(begins):
        last = _last_of_whole_tree(text, begins, ends, first) if nested else first
        start, end = begins[first], ends[last]
        first = last + 1
        if _is_good(text[start:end]):
            yield _TextPiece(start, end, False)
            continue
        broken = start + _broken_from(text[start:end])
        if text[start:broken].strip():
            yield _TextPiece(start, broken, False)
        yield _TextPiece(broken, end, True)


def _last_of_whole_tree(text: bytes, begins: list[int], ends: list[int], first: int) -> int:
    """The stretch in which the tree that begins with stretch ``first`` ends; ``first`` itself if the tree never ends."""
    depth = 0
    for number in range(first, len(begins)):
        depth += text.count(b"(", begins[number], ends[number]) - text.count(b")", begins[number], ends[number])
        if depth <= 0:
            return number if depth == 0 else first
    return first


def _broken_from(text: bytes) -> int:
    """The position in a stretch of text at which the first broken tree begins."""
    fault = bad_bytes(text)
    bad = len(text) if fault is None else fault[1]
    depth = begin = last_end = 0
    last_tree = -1
    for token in _TOKEN.finditer(text):
        at, byte = token.start(), token[0][:1]
        if token.end() > bad:
            return begin if depth else at
        if byte == b"(":
            begin = at if not depth else begin
            depth += 1
        elif byte == b")":
            if not depth:
                return max(last_tree, 0)
            depth -= 1
            if not depth:
                last_tree, last_end = begin, token.end()
        elif not depth:
            on_line_of_tree = last_tree >= 0 and b"\n" not in text[last_end:at]
            return last_tree if on_line_of_tree else at
    return begin


def _put_together(text: bytes, pieces: Sequence[_TextPiece], path: str, place: TextPosition, options: ReadOptions) -> ReadableText:
    """The text with its broken pieces mended, and their problems by the number of the tree."""
    parts: list[bytes] = []
    marks: list[int] = []
    found: list[Problem] = []
    done = size = 0
    for piece in pieces:
        if not piece.is_broken:
            continue
        parts.append(text[done : piece.start])
        size += len(parts[-1])
        at, follows = place.after(text[: piece.start]), b"" if options.lines else text[piece.end : piece.end + 1]
        follows = options.comment.encode() if follows == b" " else follows  # comments were overwritten by blanks
        mended, problem = _mend_piece(text[piece.start : piece.end], path, at, options, follows)
        marks.append(size + len(mended) - len(mended.lstrip()))
        found.append(problem)
        parts.append(mended)
        size += len(mended)
        done = piece.end
    whole = b"".join([*parts, text[done:]])
    if options.lines:
        numbers = [k for k, piece in enumerate(pieces) if piece.is_broken]
    else:
        events = find_events(whole)
        roots = events.position[(events.depth == 1) & events.is_open]
        numbers = np.searchsorted(roots, marks).tolist()
    return ReadableText(whole, dict(zip(numbers, found, strict=True)), len(text))


def _mend_piece(text: bytes, path: str, place: TextPosition, options: ReadOptions, follows: bytes) -> tuple[bytes, Problem]:
    """A readable tree in place of a broken piece of text, on as many lines, and the problem with the piece."""
    error = first_error(text + follows, path, place, options)
    error = error or BracketError("several trees over the same words, or a remark", path=path, line=place.line, column=1)
    reason = error.problem + (_kind_of_text(text) if error.problem == OUTSIDE else "")
    newlines = text.count(b"\n")
    may_repair = options.on_error == "repair" and bad_bytes(text) is None
    if may_repair and (repaired := repair(_IN_JSON.sub(_decoded, text))) is not None:
        before = text[: repaired.start].count(b"\n")
        tree = b"\n" * before + repaired.tree.replace(b"\n", b" ") + b"\n" * (newlines - before)
        untagged = _UNTAGGED.search(tree)
        reason += repaired.which
        reason += f"; {(untagged[1] or untagged[2]).decode()!r} is now a word without a tag" if untagged else ""
        return tree, Problem(error.place, reason, "", repaired.repairs, text=repaired.left_out)
    blanks = len(text) - len(text.lstrip())
    before = text[:blanks].count(b"\n")
    may_repair = options.on_error != "repair" and "comment=" not in reason
    problem = Problem(error.place, reason, error.advice, may_repair=may_repair, text=text.strip())
    return b"\n" * before + b"()" + b"\n" * (newlines - before), problem


def _kind_of_text(text: bytes) -> str:
    """The kind of text outside brackets, as the end of a message; empty if it is not plain."""
    if _FENCE.search(text):
        return " (a code fence)"
    if text.lstrip().startswith(b"#"):
        return '; comment="#" skips lines with #'
    alone = '; format="brackets" reads a word alone' if len(text.split()) == 1 else ""
    return "" if b"(" in text else " (square brackets)" if b"[" in text else f" (no bracket at all{alone})"


def _decoded(field: re.Match[bytes]) -> bytes:
    """The field of a JSON object with the escapes in its text decoded, unless it is not JSON."""
    try:
        return field[1] + json.loads(b'"%b"' % field[2], strict=False).encode("utf-8", "replace")
    except ValueError:
        return field[0]
