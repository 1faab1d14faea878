"""Corrected treebanks as text: the files of the gold trees with only the corrected trees changed, and patches of those files.

Line breaks, indentation, comments and whatever else stands between and inside the trees stay as they are.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from treegauge.errors import RequestError
from treegauge.io.sources import ReadOptions, Source, Text, relative_path
from treegauge.trees.notation import discbracket_line, parse_discbracket
from treegauge.trees.tree import Tree
from treegauge.trees.treebank import Treebank

_TOKEN = re.compile(r"(\s*)(\(\s*[^\s()]+|[()]|[^\s()]+)")
"""Blanks, and then an opening bracket with its label, a closing bracket, or a word."""


class CorrectedFile(NamedTuple):
    """A file of gold trees, and its bytes before and after the corrections."""

    path: str
    before: bytes
    after: bytes


def corrected_files(before: Treebank, after: Treebank, reading: ReadOptions = ReadOptions()) -> list[CorrectedFile] | None:
    """The files of a treebank with the trees of another one in place of its own where they differ.

    None if the trees are not bracketed text in files that can be read again, such as NEGRA export or standard input.
    """
    changed = {index: after[index] for index in range(len(before)) if before[index] != after[index]}
    made: list[CorrectedFile] = []
    first = 0
    for origin in before.origins:
        last = first + len(origin.line)
        lines: list[int] = origin.line.tolist()
        trees = {index - first: (before[index], tree) for index, tree in changed.items() if first <= index < last}
        first = last
        if not origin.path or origin.path == "-" or origin.ids is not None or not os.path.isfile(origin.path):
            return None
        with Source(origin.path).open() as stream:
            data = stream.read()
        encoding = _encoding_of(data, origin.path, reading)
        try:
            text = _with_trees(data.decode(encoding), lines, trees)
            result = None if text is None else text.encode(encoding)
        except (LookupError, UnicodeError):
            return None
        if result is None or (not trees and result != data):
            return None
        made.append(CorrectedFile(origin.path, data, result))
    return made or None


def _encoding_of(data: bytes, path: str, reading: ReadOptions) -> str:
    """The encoding as which a file was read."""
    text = Text(Source(path, data, on_note=lambda place, what: None), reading)
    for _ in text.chunks():
        pass
    return text.encoding


def _with_trees(text: str, lines: list[int], trees: Mapping[int, tuple[Tree, Tree]]) -> str | None:
    """A text with some of its trees replaced; ``lines`` has the line on which each tree begins. None if a tree is not found."""
    line_starts = [0, *(match.end() for match in re.finditer("\n", text))]
    parts: list[str] = []
    done = 0
    for number, line in enumerate(lines):
        if number in trees or line in lines[number + 1 : number + 2] or line in lines[max(number - 1, 0) : number]:
            start = text.find("(", max(done, line_starts[line - 1]))
            end = _end_of_tree(text, start)
            if end < 0:
                return None
            if number in trees:
                replaced = replace_brackets(text[start:end], *trees[number])
                if replaced is None:
                    return None
                parts += [text[done:start], replaced]
            else:
                parts.append(text[done:end])
            done = end
    return "".join([*parts, text[done:]])


def _end_of_tree(text: str, start: int) -> int:
    """The end of the tree that begins at ``start``; -1 if there is none."""
    depth = 0
    for match in re.compile(r"[()]").finditer(text, start) if start >= 0 else ():
        depth += 1 if match[0] == "(" else -1
        if depth == 0:
            return match.end()
    return -1


def replace_brackets(text: str, before: Tree, after: Tree) -> str | None:
    r"""The text of a tree with the brackets of another tree over the same words, spaced and broken into lines as it was.

    None if the text is not that of the tree ``before``.

    >>> old, new = Tree.parse("(S (A a) (B b) (C c))"), Tree.parse("(S (A a) (X (B b) (C c)))")
    >>> replace_brackets("(S (A a)\n   (B b)\n   (C c))", old, new)
    '(S (A a)\n   (X (B b)\n   (C c)))'
    >>> replace_brackets("(S (A a)\n   (X (B b)\n   (C c)))", new, old)
    '(S (A a)\n   (B b)\n   (C c))'
    """
    found = [(match[1], match[2]) for match in _TOKEN.finditer(text)]
    notations = [(str, Tree.parse)] if before.is_continuous and after.is_continuous else []
    for line, parse in (*notations, (discbracket_line, parse_discbracket)):
        old, new = ([match[2] for match in _TOKEN.finditer(line(tree))] for tree in (before, after))
        if [_kind(token) for _, token in found] == [_kind(token) for token in old]:
            merged = _merged(found, old, new)
            # A blank can matter: "( word)" has an empty label.
            return merged if parse(merged) == after else line(after)
    return None


def _kind(token: str) -> str:
    return token[0] if token[0] in "()" else ""


def _merged(found: Sequence[tuple[str, str]], old: Sequence[str], new: Sequence[str]) -> str:
    """The tokens ``new``; those that are also among ``old`` have the spelling, and the blanks before them, of ``found``."""
    made: list[str] = []
    inherited: str | None = None  # the blanks of a bracket that was removed, or that begins in front of the next one
    for change, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if change == "equal":
            for blanks, token in found[i1:i2]:
                made += [blanks if inherited is None or token == ")" else inherited, token]
                inherited = inherited if token == ")" else None
            continue
        if inherited is None:
            inherited = next((blanks for blanks, token in found[i1:i2] if token != ")"), None)
        for token in new[j1:j2]:
            if token == ")":
                made.append(token)
            else:
                made += [inherited if inherited is not None else found[i2][0] if i2 < len(found) else " ", token]
                inherited = " "
    return "".join(made)


def patch_of(files: Sequence[CorrectedFile] | None) -> Iterator[bytes]:
    """The lines of a unified diff of all files that changed, for ``git apply`` and ``patch -p1`` in the current folder."""
    if files is None or any(os.path.getsize(each.path) != len(each.before) for each in files):
        raise RequestError(
            "a patch needs bracketed files whose trees are read just as they are written, and these are not: standard input,\n"
            "  export, XML and .gz have no such text; treebank=... leaves out lemmas and the like. corrected=... writes all trees."
        )
    for path, before, after in files:
        name = relative_path(path).encode("utf-8", "surrogateescape")
        old, new = (re.findall(rb"[^\n]*\n|[^\n]+", data) for data in (before, after))
        for line in difflib.diff_bytes(difflib.unified_diff, old, new, b"a/" + name, b"b/" + name):
            yield line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n"
