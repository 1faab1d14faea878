"""The Sinica Treebank's own format: a tree per line, with roles before the labels.

``#1:1.[0] S(agent:NP(Head:Nhaa:他)|Head:VA11:來)#。(PERIODCATEGORY)`` has an identifier, the tree, and the punctuation mark that
follows the tree in the text and is not part of it. Roles are functions: with the option ``functions`` they become part of the
labels, as in ``NP-agent``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import numpy as np

from treegauge.errors import EncodingError, FormatError, InputError
from treegauge.io.diagnosis import encoding_error, error_at
from treegauge.io.label_parts import NONE, LabelParts, join_label
from treegauge.io.sources import LeftOut, ReadOptions, Text, TextPosition
from treegauge.trees.tree import Tree, from_flat
from treegauge.trees.treebank import Origin, Problem, Treebank

_BLOCK_LINES = 1 << 12
_LINE = re.compile(r"#(\S*\[\d+\])\s+(.*)#[^#]*", re.DOTALL)
_STEP = re.compile(r"([^()|]*)([()|])")
_ENCODING = 'Files of the Sinica Treebank are often Big5: give treebank="sinica". If all else is UTF-8, correct this line.'
_EXAMPLE = "A line is #1:1.[0] S(agent:NP(Head:Nhaa:word)|Head:VA11:word)#."


def read_sinica(text: Text, options: ReadOptions) -> Iterator[Treebank | InputError]:
    """All trees of a file, in blocks, and all its errors; or sentences without a parse in place of the errors."""
    numbered = ((number, line) for number, line in enumerate(text.lines(), start=1) if line.strip())
    while lines := list(islice(numbered, _BLOCK_LINES)):
        trees: list[tuple[int, str, Tree]] = []
        problems: dict[int, Problem] = {}
        for number, line in lines:
            try:
                trees.append((number, *_tree_of_line(line, text.name, number, options)))
            except InputError as error:
                if options.on_error == "stop":
                    yield error
                    if isinstance(error, EncodingError) and not trees:  # so would all other lines be
                        return
                    continue
                problems[len(trees)] = Problem(error.place, error.problem, error.advice, text=text.original(line))
                trees.append((number, str(number), Tree("")))
        origin = Origin(
            text.name, np.array([number for number, *_ in trees], np.int64), tuple(name for _, name, _ in trees), problems
        )
        if text.on_left_out is not None and (n_marks := sum(not line.rstrip().endswith(b"#") for _, line in lines)):
            text.on_left_out(LeftOut(marks=n_marks))
        yield replace(Treebank.from_trees(tree for *_, tree in trees), origins=(origin,))


def _tree_of_line(line: bytes, path: str, number: int, options: ReadOptions) -> tuple[str, Tree]:
    """The identifier and the tree of a line."""
    if (error := encoding_error(line, path, TextPosition(number, 0))) is not None:
        error.advice = _ENCODING
        raise error
    text = line.decode("utf-8")
    found = _LINE.fullmatch(text)
    if found is None:
        problem = "this is not an identifier #...[N], a tree and a # after it"
        raise error_at(FormatError, problem, path, TextPosition(number, 0), line, 0, _EXAMPLE)
    try:
        return found[1], from_flat(_flat_tree(found[2], options))
    except _Fault as fault:
        at = len(text[: found.start(2) + fault.at].encode())
        raise error_at(FormatError, fault.problem, path, TextPosition(number, 0), line, at, _EXAMPLE) from None


class _Fault(Exception):
    """A problem at a place in the text of a tree."""

    def __init__(self, problem: str, at: int) -> None:
        super().__init__(problem)
        self.problem, self.at = problem, at


def _flat_tree(text: str, options: ReadOptions) -> list[str | tuple[str, int]]:
    """The items of :func:`~treegauge.trees.tree.to_flat` for the tree in a text."""
    flat: list[str | tuple[str, int]] = []
    labels, children = list[str](), [0]  # of the nodes that are open; the first is above the root
    at, after_node = 0, False
    for step in _STEP.finditer(text):
        name, mark, at = step[1].strip(), step[2], step.start()
        if children[0]:
            raise _Fault("text after the end of the tree", at)
        if after_node and name:
            raise _Fault(f"{name[:40]!r} follows a bracket: | separates the parts of a node", at)
        if mark == "(":
            role, _, label = name.rpartition(":")
            if not label:
                raise _Fault("an opening bracket without a label", at)
            labels.append(_label(label, role, options))
            children.append(0)
        elif not labels:
            raise _Fault("no node is open here", at)
        elif not after_node:
            flat += _leaf(name, at, options)
            children[-1] += 1
        if mark == ")":
            flat.append((labels.pop(), children.pop()))
            children[-1] += 1
        after_node = mark == ")"
        at = step.end()
    rest = text[at:].strip()
    if labels or (rest and flat):
        raise _Fault("an opening bracket that is never closed" if labels else "text after the end of the tree", at)
    return flat or _leaf(rest, at, options)


def _leaf(name: str, at: int, options: ReadOptions) -> list[str | tuple[str, int]]:
    """The items of a word, ``role:tag:word`` or ``tag:word``."""
    role, tag, word = name.split(":", 2) if name.count(":") > 1 else ("", *name.partition(":")[::2])
    if not tag or not word:
        raise _Fault(f"{name[:40]!r} is not role:tag:word", at)
    return [word, (_label(tag, role, options), 1)]


def _label(name: str, role: str, options: ReadOptions) -> str:
    return join_label(LabelParts(name, role or NONE), options)
