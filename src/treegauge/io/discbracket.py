"""Discbracket files: brackets whose words carry their places, a tree per line.

::

    (S (VP (PWS 0=Wen) (VVFIN 2=kennt)) (PPER 1=er))

The text is read as brackets, with all that :mod:`treegauge.io.bracketed` knows about what can be wrong there; then the words of
each tree are put in their places.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from treegauge.errors import FormatError, InputError, WriteError
from treegauge.io.bracketed import check_bracketed
from treegauge.io.sources import ReadOptions, Text
from treegauge.io.writing import refusal
from treegauge.trees.bracketed import restore_label, restore_word
from treegauge.trees.discbracket import discbracket_line, with_places
from treegauge.trees.tree import Tree
from treegauge.trees.treebank import Origin, Problem, Treebank, pick_origins

__all__ = ["check_discbracket", "discbracket_text"]


def check_discbracket(text: Text, options: ReadOptions) -> Iterator[Treebank | InputError]:
    """All trees of a discbracket file, in blocks, and all its errors; or a sentence without a parse for each broken one."""
    for block in check_bracketed(text, options):
        if isinstance(block, InputError):
            yield block
            continue
        trees: list[Tree] = []
        kept: list[int] = []
        problems: dict[int, Problem] = {}
        known = block.problems()
        for index, tree in enumerate(block):
            try:
                trees.append(tree if index in known and not known[index].repairs else with_places(tree))
                kept.append(index)
            except FormatError as error:
                error = _at(block, index, error)
                if options.on_error == "stop":
                    yield error
                    continue
                problems[index] = Problem(error.place, error.problem, error.advice)
                trees.append(Tree(""))
                kept.append(index)
        if trees:
            origins = pick_origins(block.origins, np.array(kept, dtype=np.int64))
            yield replace(Treebank.from_trees(trees), origins=tuple(_with_problems(origins, problems)))


def _with_problems(origins: Iterable[Origin], problems: Mapping[int, Problem]) -> Iterator[Origin]:
    """The origins with further problems, numbered from the first tree of all."""
    first = 0
    for origin in origins:
        own = {index - first: problem for index, problem in problems.items() if first <= index < first + len(origin.line)}
        yield replace(origin, problems={**origin.problems, **own})
        first += len(origin.line)


def _at(block: Treebank, index: int, error: FormatError) -> FormatError:
    """The error with the file and line of its tree."""
    first = 0
    for origin in block.origins:
        if index - first < len(origin.line):
            return FormatError(error.problem, path=origin.path, line=int(origin.line[index - first]), advice=error.advice)
        first += len(origin.line)
    return error


def discbracket_text(blocks: Iterable[Treebank]) -> Iterator[bytes]:
    """The trees as discbracket text, one per line; continuous ones too."""
    for block in blocks:
        for index, tree in enumerate(block):
            try:
                _refuse_changed_names(tree)
                yield discbracket_line(tree).encode("utf-8") + b"\n"
            except WriteError as error:
                raise refusal(block, index, str(error)) from None
            except UnicodeEncodeError:
                raise refusal(block, index, "a label or word is not text: it contains half of a surrogate pair") from None


def _refuse_changed_names(tree: Tree) -> None:
    """Refuse labels and words that would be read back as others."""
    for node in tree.nodes():
        escaped = node.label.replace("(", "-LRB-").replace(")", "-RRB-")
        back = restore_label(escaped)
        if back != node.label:
            raise WriteError(f"the label {node.label!r} would be read back as {back!r}.\n  Give the node another label.")
    for word in tree.words:
        escaped = word.replace("(", "-LRB-").replace(")", "-RRB-")
        if restore_word(escaped) != word:
            raise WriteError(f"the word {word!r} would be read back as {restore_word(escaped)!r}.\n  Replace it.")
