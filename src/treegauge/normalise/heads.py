r"""Heads: the head child of a node by rules, the head word that percolates up from it, and the complements of a head.

Head rules have a name: ``collins`` (the table of Collins 1999, for Penn Treebank labels), ``left`` and ``right`` (the first child
from that side that is neither punctuation nor a trace). Any other name is the path of a rule file.

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
  the right. Without labels, the first child from that side is chosen.
* ``leftmost`` and ``rightmost`` choose the leftmost or rightmost child that has any of the labels.
* ``first`` and ``last`` choose the first or last child if it has any of the labels.

If no step for a label finds a child, the first child from the side of its last step is the head. ``*`` stands for every label
without a line of its own. Labels are compared without function tags, indices and features.

``%skip`` lists tags that are heads only if there is no other child, such as punctuation (which Collins had removed).
``%coordination`` lists conjunctions: if the head found follows one, the child before the conjunction is the head instead, so that
the first conjunct is; except in base phrases of the labels under ``%base``, those without a child of their own label. A line that
begins with ``#`` is a comment.

Complements are the children that a head requires (Collins 1997, section 2.2); they are found before function tags are cut.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from treegauge.errors import FormatError, UnknownName, UsageError
from treegauge.normalise.labels import base_label, function_tags, split_features
from treegauge.trees import Child, Tree


class Search(NamedTuple):
    """One step of a search: where to look, and for which labels."""

    where: str
    labels: tuple[str, ...]

    @property
    def from_left(self) -> bool:
        return self.where in ("left", "leftmost", "first")

    def find(self, names: Sequence[str]) -> int | None:
        """The index of the child that it finds among children with these labels; None if it finds none."""
        if not self.labels:
            return 0 if self.from_left else len(names) - 1
        seen = names if self.from_left else names[::-1]
        found = _FIND[self.where](seen, self.labels)
        return found if found is None or self.from_left else len(names) - 1 - found


def _by_rank(names: Sequence[str], labels: Sequence[str]) -> int | None:
    return next((names.index(label) for label in labels if label in names), None)


def _nearest(names: Sequence[str], labels: Sequence[str]) -> int | None:
    return next((i for i, name in enumerate(names) if name in labels), None)


def _at_edge(names: Sequence[str], labels: Sequence[str]) -> int | None:
    return 0 if names[0] in labels else None


_FIND: dict[str, Callable[[Sequence[str], Sequence[str]], int | None]] = {
    "left": _by_rank,
    "right": _by_rank,
    "leftmost": _nearest,
    "rightmost": _nearest,
    "first": _at_edge,
    "last": _at_edge,
}
_ADVICE = f"A line is a label, one of {', '.join(_FIND)}, and labels; or %skip, %coordination or %base and labels."


@dataclass(frozen=True)
class HeadRules:
    r"""Rules that find the head child: the searches for each label, those for all others, and the exceptions.

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

    def __repr__(self) -> str:
        return f"<HeadRules for {len(self.searches)} labels>"

    @classmethod
    def parse(cls, text: str, name: str = "<rules>") -> HeadRules:
        """The rules in a text; :class:`~treegauge.errors.FormatError` names the line that is wrong."""
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
        """Whether a child is a head only if there is no other: it has no words, or is a tag under ``%skip``."""
        return isinstance(child, Tree) and (not child.width or (child.is_preterminal and child.label in self.skip))


def _problem(line: str, fields: Sequence[str]) -> tuple[str, int]:
    """The problem with the line of a search, and its column; the problem is ``""`` if there is none."""
    label, *rest = fields
    at_label = line.index(label) + 1
    if label.startswith("%") and len(label) > 1:
        return f"unknown directive {label}", at_label
    if not rest:
        return f"no search after the label {label}", at_label
    at_search = line.index(rest[0], at_label + len(label) - 1) + 1
    if rest[0] not in _FIND:
        return f"{rest[0]} is not a search", at_search
    if len(rest) == 1 and rest[0] not in ("left", "right"):
        return f"{rest[0]} needs at least one label", at_search
    return "", 0


def _search(steps: Sequence[Search], names: Sequence[str]) -> int:
    """The child that the first successful step finds, or the first child from the side of the last step."""
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


HEAD_RULES = ("collins", "left", "right")
"""The names of the head rules that come with treegauge."""


def head_rules(name: str | HeadRules = "collins") -> HeadRules:
    """Head rules by name, or from the rule file of that path.

    >>> head_rules("collins").head_index(Tree.parse("(NP (DT the) (NN cat) (PP (IN on) (NP (DT the) (NN mat))))"))
    1
    """
    if isinstance(name, HeadRules):
        return name
    if name in HEAD_RULES:
        return _load_rules(name)
    if Path(name).is_file():
        return HeadRules.read(name)
    raise UnknownName("set of head rules (and no such file)", name, HEAD_RULES)


@cache
def _load_rules(name: str) -> HeadRules:
    if name == "collins":
        text = (resources.files("treegauge.normalise") / "collins1999.heads").read_text(encoding="utf-8")
        return HeadRules.parse(text, name)
    return HeadRules.parse(f"* {name}\n%skip , . : `` '' -LRB- -RRB- -NONE-", name)


def head_index(node: Tree, rules: str | HeadRules = "collins") -> int:
    """The index of a node's head child.

    >>> head_index(Tree.parse("(VP (MD will) (VP (VB rain)))"))
    0
    """
    return head_rules(rules).head_index(node)


def head_positions(tree: Tree, rules: str | HeadRules = "collins") -> list[int]:
    """The position of the head word of each node, in pre-order; -1 for a node without words.

    >>> tree = Tree.parse("(S (NP (DT the) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (DT the) (NN mat)))))")
    >>> [(node.label, tree.words[i]) for node, i in zip(tree.nodes(), head_positions(tree)) if not node.is_preterminal]
    [('S', 'sat'), ('NP', 'cat'), ('VP', 'sat'), ('PP', 'on'), ('NP', 'mat')]
    """
    rules = head_rules(rules)
    nodes = list(tree.nodes_with_spans())
    positions = [-1] * len(nodes)
    # In reverse pre-order the children of a node come before it; the sizes of its left siblings give the row of a child.
    for row in range(len(nodes) - 1, -1, -1):
        node, position, _ = nodes[row]
        if not node.width:
            continue
        head = rules.head_index(node)
        child_row = row + 1
        for child in node.children[:head]:
            child_row += child.size if isinstance(child, Tree) else 0
            position += child.width if isinstance(child, Tree) else 1
        positions[row] = position if isinstance(node.children[head], str) else positions[child_row]
    return positions


def head_word(tree: Tree, rules: str | HeadRules = "collins") -> str:
    """The head word of a tree; ``""`` if it has no words.

    >>> head_word(Tree.parse("(NP (NP (DT the) (NN cat)) (PP (IN on) (NP (NN board))))"))
    'cat'
    """
    return _head_leaf(tree, head_rules(rules))[0]


def head_tag(tree: Tree, rules: str | HeadRules = "collins") -> str:
    """The tag of the head word of a tree; ``""`` if the tree has no words, or that word no tag.

    >>> head_tag(Tree.parse("(S (NP (DT the) (NN cat)) (VP (VBD sat)))"))
    'VBD'
    """
    return _head_leaf(tree, head_rules(rules))[1]


def _head_leaf(tree: Tree, rules: HeadRules) -> tuple[str, str]:
    node: Child = tree
    tag = ""
    while isinstance(node, Tree):
        if not node.width:
            return "", ""
        tag = node.label if node.is_preterminal else ""
        node = node.children[rules.head_index(node)]
    return node, tag


COMPLEMENTS: dict[str, frozenset[str]] = {
    "S": frozenset({"NP", "SBAR", "S"}),
    "VP": frozenset({"NP", "SBAR", "S", "VP"}),
    "SBAR": frozenset({"S"}),
}
"""Parent label -> labels of the children that are complements."""

ADJUNCT_TAGS = frozenset({"ADV", "VOC", "BNF", "DIR", "EXT", "LOC", "MNR", "TMP", "CLR", "PRP"})
"""Function tags of adjuncts, which no complement has."""


def complements(node: Tree, rules: str | HeadRules = "collins") -> tuple[int, ...]:
    """The indices of the children that are complements of the head.

    These are NP, SBAR and S under S, NP, SBAR, S and VP under VP, and S under SBAR, unless tagged as adjuncts; and in a PP the
    first child after the head, whatever it is (except punctuation, which Collins had removed).

    >>> complements(Tree.parse("(S (NP-TMP (NN today)) (NP-SBJ (PRP it)) (VP (VBD rained)))"))
    (1,)
    >>> complements(Tree.parse("(PP (IN since) (ADVP (RB then)))"))
    (1,)
    """
    rules = head_rules(rules)
    if len(node.children) < 2:
        return ()
    parent, head = bare_label(node), rules.head_index(node)
    if parent == "PP":
        after = (i for i in range(head + 1, len(node.children)) if not rules.is_skipped(node.children[i]))
        return tuple(after)[:1]
    wanted = COMPLEMENTS.get(parent, frozenset[str]())
    return tuple(
        i
        for i, child in enumerate(node.children)
        if i != head
        and isinstance(child, Tree)
        and bare_label(child) in wanted
        and ADJUNCT_TAGS.isdisjoint(function_tags(child.label))
    )
