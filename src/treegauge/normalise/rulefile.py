r"""Head rules as a value, and the text file they are written in.

A rule file is a table. Each line is a step of the search among the children of a node; the steps for a label are tried in the
order of their lines until one finds a child::

    # parent  search     labels
    VP        left       TO VBD VBN MD VBZ VB VBG VBP VP
    NP        last       POS
    NP        rightmost  NN NNP NNPS NNS NX POS JJR
    NP        leftmost   NP
    NP        right
    *         left

* ``left`` looks for the first label among the children, from the left, then for the second label, and so on; ``right`` does so from
  the right. Without labels they take the first child from that side.
* ``leftmost`` and ``rightmost`` take the leftmost or rightmost child that has any of the labels.
* ``first`` and ``last`` take the first or last child if it has any of the labels.

If no step for a label finds a child, the first child from the side of its last step is the head. ``*`` is every label that has no
line of its own. Labels are compared without function tags, indices and features.

``%skip`` lists tags that are heads only where there is nothing else, such as punctuation (which Collins had removed).
``%coordination`` lists conjunctions: a head right after one hands over to the child before it, so that the first conjunct is the
head; not so in base phrases of the labels under ``%base``, those without a child of their own label. A line that begins with
``#`` is a comment.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from treegauge.errors import FormatError, UsageError
from treegauge.normalise.labels import base_label, split_features
from treegauge.trees import Child, Tree

__all__ = ["HeadRules", "Search", "bare_label"]


class Search(NamedTuple):
    """One step: where to look, and for which labels."""

    where: str
    labels: tuple[str, ...]

    @property
    def from_left(self) -> bool:
        return self.where in ("left", "leftmost", "first")

    def find(self, names: Sequence[str]) -> int | None:
        """The index of the child it finds among children of these labels."""
        if not self.labels:
            return 0 if self.from_left else len(names) - 1
        seen = names if self.from_left else names[::-1]
        found = _FIND[self.where](seen, self.labels)
        return found if found is None or self.from_left else len(names) - 1 - found


def _ranked(names: Sequence[str], labels: Sequence[str]) -> int | None:
    return next((names.index(label) for label in labels if label in names), None)


def _nearest(names: Sequence[str], labels: Sequence[str]) -> int | None:
    return next((i for i, name in enumerate(names) if name in labels), None)


def _at_edge(names: Sequence[str], labels: Sequence[str]) -> int | None:
    return 0 if names[0] in labels else None


_FIND: dict[str, Callable[[Sequence[str], Sequence[str]], int | None]] = {
    "left": _ranked,
    "right": _ranked,
    "leftmost": _nearest,
    "rightmost": _nearest,
    "first": _at_edge,
    "last": _at_edge,
}
_ADVICE = f"A line is a label, one of {', '.join(_FIND)}, and labels; or %skip, %coordination or %base and labels."


@dataclass(frozen=True)
class HeadRules:
    r"""Which child is the head: the searches for each label, those for all others, and the exceptions.

    >>> rules = HeadRules.parse("VP left VBD VP\n* right")
    >>> rules.head_index(Tree.parse("(VP (ADVP (RB soon)) (VBD rained))")), rules.head_index(Tree.parse("(NP (DT the) (NN cat))"))
    (1, 1)
    """

    searches: dict[str, tuple[Search, ...]]
    default: tuple[Search, ...]
    skip: frozenset[str] = frozenset()
    coordination: frozenset[str] = frozenset()
    base: frozenset[str] = frozenset()
    name: str = field(default="", compare=False)

    @classmethod
    def parse(cls, text: str, name: str = "<rules>") -> HeadRules:
        """The rules written in a text; :class:`~treegauge.errors.FormatError` says which line is wrong."""
        searches: dict[str, list[Search]] = {}
        lists: dict[str, list[str]] = {"%skip": [], "%coordination": [], "%base": []}
        for number, line in enumerate(text.splitlines(), start=1):
            fields = line.split()
            if not fields or fields[0].startswith("#"):
                continue
            if fields[0] in lists:
                lists[fields[0]] += fields[1:]
                continue
            problem, column = _problem(line, fields)
            if problem:
                raise FormatError(problem, path=name, line=number, column=column, text=line, advice=_ADVICE)
            searches.setdefault(fields[0], []).append(Search(fields[1], tuple(fields[2:])))
        if "*" not in searches:
            raise FormatError("no line for * (all other labels)", path=name, advice="Add one, for example: * left")
        default = tuple(searches.pop("*"))
        return cls({k: tuple(v) for k, v in searches.items()}, default, *map(frozenset, lists.values()), name=name)

    @classmethod
    def read(cls, path: str | Path) -> HeadRules:
        """The rules in a file."""
        try:
            return cls.parse(Path(path).read_text(encoding="utf-8-sig"), str(path))
        except UnicodeDecodeError as error:
            raise FormatError(f"not UTF-8 text ({error.reason})", path=str(path)) from None

    def head_index(self, node: Tree) -> int:
        """The index of the head child."""
        if not node.children:
            raise UsageError("a node without children has no head")
        names = [bare_label(child) for child in node.children]
        filled = [i for i, child in enumerate(node.children) if isinstance(child, str) or child.width] or list(range(len(names)))
        candidates = [i for i in filled if not self.is_skipped(node.children[i])] or filled
        parent = bare_label(node)
        at = _search(self.searches.get(parent, self.default), [names[i] for i in candidates])
        in_base = parent in self.base and parent not in names
        if not in_base and at >= 2 and names[candidates[at - 1]] in self.coordination:
            at -= 2
        return candidates[at]

    def is_skipped(self, child: Child) -> bool:
        """Whether a child is a head only where there is nothing else: it has no word, or one with a tag under ``%skip``."""
        return isinstance(child, Tree) and (not child.width or (child.is_preterminal and child.label in self.skip))


def _problem(line: str, fields: Sequence[str]) -> tuple[str, int]:
    """What is wrong with the line of a search, and in which column; ``""`` if nothing is."""
    label, *rest = fields
    at_label = line.index(label) + 1
    if label.startswith("%") and len(label) > 1:
        return f"unknown directive {label}", at_label
    if not rest:
        return f"no search after the label {label}", at_label
    at_search = line.index(rest[0], at_label + len(label) - 1) + 1
    if rest[0] not in _FIND:
        return f"{rest[0]} is no search", at_search
    if len(rest) == 1 and rest[0] not in ("left", "right"):
        return f"{rest[0]} needs at least one label", at_search
    return "", 0


def _search(steps: Sequence[Search], names: Sequence[str]) -> int:
    """What the first successful step finds, or the first child from the side of the last step."""
    found = next((index for step in steps if (index := step.find(names)) is not None), None)
    if found is None:
        return 0 if steps[-1].from_left else len(names) - 1
    return found


def bare_label(node: Child) -> str:
    """The label without function tags, indices and features; ``""`` for a word.

    >>> bare_label(Tree.parse("(NP-SBJ-1##g=f## (NN rain))"))
    'NP'
    """
    return "" if isinstance(node, str) else _bare(node.label)


@lru_cache(maxsize=4096)
def _bare(label: str) -> str:
    return base_label(split_features(label)[0])
