"""Trees as bracketed text, as discbracket text and as ``nltk.Tree``: escapes, the reader for one small string, and the writers.

Whole files are read by :mod:`treegauge.io.bracketed`; this module defines what the text means:

* ``(LABEL child ...)``, a child being a bracketing or a word; ``( (S ...))`` has an empty root label;
* an atom right after ``(`` is the label, except that ``( word)``, a lone atom set off by a blank, is a word under the empty label;
* ``\\(`` and ``\\)`` inside a word are brackets, too, where a tree cannot be read otherwise;
* ``-LRB-`` and ``-RRB-`` inside a word, and inside a longer label, stand for brackets: they are restored on reading and escaped on
  writing. A label that is exactly ``-LRB-`` or ``-RRB-`` is the Penn Treebank's tag and stays.

So the only trees not read back as they were written are those built by hand with ``-LRB-`` (or one of :data:`ESCAPED_BRACKETS`)
inside a word, which comes back as ``(``, or with a bare bracket for a label, which comes back as the tag ``-LRB-``.

Discbracket text holds crossing branches: its words carry their places in the sentence,
``(S (VP (PWS 0=Wen) (VVPP 2=kennt)) (PPER 1=er))``. Places count from 0 and name every word once. Children are written in the
order of their first words, and read in any order.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Protocol, cast

from treegauge.errors import BracketError, Discontinuous, FormatError, UsageError, WriteError
from treegauge.trees.discontinuous import PlacedWord, from_placed_words, with_placed_words
from treegauge.trees.tree import Child, Tree, fold, from_flat, rebuild_whole

FORBIDDEN = re.compile(r"[ \t\n\r\v\f\0]")
"""Characters that no word or label of bracketed text can hold."""
# Patterns as text: re compiles them on first use, and files are read by other code.
_ATOM_OR_BRACKET = r"[()]|[^() \t\n\r\v\f]+"
_WITH_ESCAPES = r"[()]|(?:\\[()]|[^() \t\n\r\v\f])+"
_BRACKET_TAGS = ("-LRB-", "-RRB-")
ESCAPED_BRACKETS = ("\u07fb", "\u07fc")
"""Characters that Unicode does not assign; they stand for escaped brackets while a file is being read."""
_ESCAPES = {"\\(": "(", "\\)": ")", ESCAPED_BRACKETS[0]: "(", ESCAPED_BRACKETS[1]: ")"}
_ESCAPED = "|".join(map(re.escape, _ESCAPES))


def restore_word(word: str) -> str:
    """The word that an atom of bracketed text stands for, its brackets restored.

    >>> restore_word("-LRB-"), restore_word("a-RRB-"), restore_word("-LSB-")
    ('(', 'a)', '-LSB-')
    """
    if "\\" in word or ESCAPED_BRACKETS[0] in word or ESCAPED_BRACKETS[1] in word:
        word = re.sub(_ESCAPED, lambda found: _ESCAPES[found[0]], word)
    return word.replace("-LRB-", "(").replace("-RRB-", ")") if "RB-" in word else word


def restore_label(label: str) -> str:
    """The label that an atom of bracketed text stands for; the Penn Treebank's tags ``-LRB-`` and ``-RRB-`` stay as they are.

    >>> restore_label("$-LRB-"), restore_label("-LRB-")
    ('$(', '-LRB-')
    """
    if label in _BRACKET_TAGS:
        return label
    restored = restore_word(label)
    return {"(": "-LRB-", ")": "-RRB-"}.get(restored, restored) if restored != label else label


def escape_word(word: str) -> str:
    """The atom that stands for a word in bracketed text; an empty word, or one with a blank, is refused.

    >>> escape_word("f(x)")
    'f-LRB-x-RRB-'
    """
    if not word or FORBIDDEN.search(word):
        shown = "the empty word" if not word else f"the word {word!r}"
        raise WriteError(
            f"{shown} cannot be written as bracketed text: blanks separate words there.\n"
            "  Replace the blank (for example by '_') or split the word into two tokens."
        )
    return _escape(word)


def escape_label(label: str) -> str:
    """The atom that stands for a label in bracketed text; a label with a blank is refused, an empty one is not."""
    if FORBIDDEN.search(label):
        raise WriteError(
            f"the label {label!r} cannot be written as bracketed text: a blank ends a label there.\n"
            "  Replace the blank, for example by '_'."
        )
    return _escape(label)


def _escape(atom: str) -> str:
    return atom.replace("(", "-LRB-").replace(")", "-RRB-") if "(" in atom or ")" in atom else atom


def parse_one(text: str) -> Tree:
    """The one tree in ``text``; BracketError if there is not exactly one."""
    trees = parse_all(text)
    if len(trees) != 1:
        raise BracketError(
            f"expected one tree, found {len(trees)}", advice="Treebank.parse reads any number of trees from a string."
        )
    return trees[0]


def _tokens(text: str) -> list[tuple[str, int]]:
    """Brackets and atoms, each with its position; a backslash escapes a bracket where the tree cannot be read otherwise."""
    plain = [(match.group(), match.start()) for match in re.finditer(_ATOM_OR_BRACKET, text)]
    if "\\(" not in text and "\\)" not in text:
        return plain
    escaped = [(match.group(), match.start()) for match in re.finditer(_WITH_ESCAPES, text)]
    return escaped if "\\(" in text or (_balance(escaped) and not _balance(plain)) else plain


def _balance(tokens: list[tuple[str, int]]) -> bool:
    """Whether every bracket has its partner."""
    depths = [0, *accumulate((token == "(") - (token == ")") for token, _ in tokens)]
    return min(depths) == 0 == depths[-1]


def parse_all(text: str) -> list[Tree]:
    """All trees in a small string, read without NumPy: for doctests, prompts and messages."""
    trees: list[Tree] = []
    open_nodes: list[tuple[str, list[Child], int]] = []
    tokens = _tokens(text)
    index = 0
    while index < len(tokens):
        token, at = tokens[index]
        index += 1
        if token == "(":
            label, index = _label(tokens, index, at)
            open_nodes.append((label, [], at))
        elif token == ")":
            if not open_nodes:
                raise _error("closing bracket without an opening one", text, at)
            label, children, _ = open_nodes.pop()
            tree = Tree(label, children)
            if open_nodes:
                open_nodes[-1][1].append(tree)
            else:
                trees.append(tree)
        elif open_nodes:
            open_nodes[-1][1].append(restore_word(token))
        else:
            raise _error("text outside brackets", text, at)
    if open_nodes:
        raise _error("opening bracket that is never closed", text, open_nodes[0][2])
    return trees


def _label(tokens: list[tuple[str, int]], index: int, opened_at: int) -> tuple[str, int]:
    """The label after an opening bracket, and the index of the token after it."""
    if index == len(tokens) or tokens[index][0] in "()":
        return "", index
    atom, at = tokens[index]
    alone = index + 1 < len(tokens) and tokens[index + 1][0] == ")"
    if at > opened_at + 1 and alone:
        return "", index
    return restore_label(atom), index + 1


def _error(problem: str, text: str, at: int) -> BracketError:
    line_start = text.rfind("\n", 0, at) + 1
    line_end = text.find("\n", at)
    return BracketError(
        problem,
        path="<string>",
        line=text.count("\n", 0, at) + 1,
        column=at - line_start + 1,
        text=text[line_start : line_end if line_end >= 0 else len(text)],
        advice="Each tree needs as many '(' as ')'; write -LRB- and -RRB- for literal brackets.",
    )


def one_line(tree: Tree) -> str:
    """The tree as bracketed text on one line, or as discbracket text if it is discontinuous.

    >>> print(one_line(Tree("", [Tree("S", [Tree("NN", ["(x)"])])])))
    ( (S (NN -LRB-x-RRB-)))
    """
    return _line(tree, escape_word) if tree.is_continuous else discbracket_line(tree)


def _line(tree: Tree, write_word: Callable[[str], str]) -> str:
    parts: list[str] = []
    stack: list[Child | None] = [tree]
    while stack:
        node = stack.pop()
        if node is None:
            parts.append(")")
        elif isinstance(node, str):
            parts.append(" " + write_word(node))
        else:
            refuse_hidden_label(node)
            parts.append((" (" if parts else "(") + escape_label(node.label))
            stack.append(None)
            stack.extend(reversed(node.children))
    return "".join(parts)


def refuse_hidden_label(node: Tree) -> None:
    """Raise WriteError for a node without a label whose first word would be read as its label."""
    if not node.label and len(node.children) > 1 and isinstance(node.children[0], str):
        raise WriteError(
            f"a node without a label that begins with the word {node.children[0]!r} cannot be written as bracketed text: the word "
            "would be read as the label.\n  Give the node a label."
        )


def expression(tree: Tree) -> str:
    """A Python expression for the tree: ``Tree.parse`` of its text, or constructors where the text would be read as another tree.

    >>> expression(Tree("NN", ["cat"])), expression(Tree("NN", ["two words"]))
    ("Tree.parse('(NN cat)')", "Tree('NN', ['two words'])")
    """
    name, parse = ("Tree.parse", parse_one) if tree.is_continuous else ("parse_discbracket", parse_discbracket)
    try:
        text = one_line(tree)
        if parse(text) == tree:
            return f"{name}({text!r})"
    except WriteError:
        pass
    parts: list[str] = []
    stack: list[Child | tuple[str]] = [tree]  # the text that closes a node is in a tuple
    while stack:
        node = stack.pop()
        between = ", " if parts and not parts[-1].endswith("[") else ""
        if isinstance(node, tuple):
            parts.append(node[0])
        elif isinstance(node, str):
            parts.append(between + repr(node))
        else:
            parts.append(f"{between}{node.__class__.__name__}({node.label!r}, [")
            stack.append(("])" if node.order is None else f"], {node.order})",))
            stack.extend(reversed(node.children))
    return "".join(parts)


def pretty(tree: Tree, width: int = 100) -> str:
    """The tree over several lines: a node wider than ``width`` has its children on lines of their own, indented by two.

    >>> print(pretty(Tree.parse("(S (NP (DT the) (NN cat)) (VP (VBD sat)))"), width=24))
    (S
      (NP (DT the) (NN cat))
      (VP (VBD sat)))
    """
    if not tree.is_continuous:
        return discbracket_line(tree)
    lengths = _lengths(tree)
    lines: list[str] = []
    stack: list[tuple[Child, int, int]] = [(tree, 0, 0)]
    # A deep tree would need quadratically many blanks; beyond half the width the indentation stops growing.
    deepest_indent = max(width // 2, 2)
    while stack:
        node, indent, closing = stack.pop()
        blank = " " * min(indent, deepest_indent)
        if isinstance(node, str):
            lines.append(blank + escape_word(node) + ")" * closing)
        elif not node.children or node.is_preterminal or len(blank) + lengths[id(node)] + closing <= width:
            lines.append(blank + one_line(node) + ")" * closing)
        else:
            refuse_hidden_label(node)
            lines.append(blank + "(" + escape_label(node.label))
            last = len(node.children) - 1
            stack.extend(
                (child, indent + 2, closing + 1 if i == last else 0) for i, child in reversed(list(enumerate(node.children)))
            )
    return "\n".join(lines)


def _lengths(tree: Tree) -> dict[int, int]:
    """The one-line length of each node, by identity."""
    lengths: dict[int, int] = {}

    def measure(node: Tree, inside: list[int | str], above: Sequence[Tree]) -> int:
        sizes = (len(escape_word(child)) if isinstance(child, str) else child for child in inside)
        lengths[id(node)] = len(escape_label(node.label)) + 2 + sum(1 + size for size in sizes)
        return lengths[id(node)]

    fold(tree, measure)
    return lengths


_PLACE = r"(?s)([0-9]{1,9})=(.+)"
_NUMBERED = r"(?s)([0-9]+)=(.*)"


def carries_places(words: Sequence[str]) -> bool:
    """Whether the words of a tree carry the places from 0 on, each once, in any order.

    >>> carries_places(["1=er", "0=Wen"]), carries_places(["0=Wen", "er"])
    (True, False)
    """
    places = [found and int(found[1]) for found in map(re.compile(_PLACE).fullmatch, words)]
    return None not in places and sorted(place or 0 for place in places) == list(range(len(words)))


def discbracket_line(tree: Tree) -> str:
    """The tree as discbracket text on one line."""
    return _line(with_placed_words(tree), lambda word: f"{cast(PlacedWord, word).place}={escape_word(word)}")


def parse_discbracket(text: str) -> Tree:
    """The one tree in discbracket text; :class:`~treegauge.errors.BracketError` if there is not exactly one.

    >>> tree = parse_discbracket("(S (VP (V 2=kennt) (PWS 0=Wen)) (PPER 1=er))")
    >>> tree.words, tree.tags, str(tree)
    (('Wen', 'er', 'kennt'), ('PWS', 'PPER', 'V'), '(S (VP (PWS 0=Wen) (V 2=kennt)) (PPER 1=er))')
    """
    return place_words(parse_one(text))


def place_words(tree: Tree) -> Tree:
    """The discontinuous tree that a tree of words ``place=word`` stands for; FormatError if a word has no place of its own."""
    seen: set[int] = set()

    def make(node: Tree, children: list[Child]) -> list[Child]:
        return [Tree(node.label, [_placed_word(child, seen) if isinstance(child, str) else child for child in children])]

    placed = rebuild_whole(tree, make)
    missing = next((at for at in range(len(seen)) if at not in seen), None)
    if missing is not None:
        raise FormatError(f"there is no word {missing}, but a word {max(seen)}", advice="Words are numbered from 0, without gaps.")
    return from_placed_words(placed)


def _placed_word(text: str, seen: set[int]) -> PlacedWord:
    match = re.fullmatch(_PLACE, text)
    if match is None:
        advice = "In discbracket text each word is PLACE=WORD, such as 0=Wen."
        numbered = re.fullmatch(_NUMBERED, text)
        problem = "no place" if numbered is None else "a place that no sentence has" if numbered[2] else "no text after its place"
        advice += "" if numbered else ' If these are plain brackets, give format="bracketed".'
        raise FormatError(f"the word {text[:60]!r} has {problem}", advice=advice)
    at = int(match.group(1))
    if at in seen:
        raise FormatError(f"two words have the place {at}", advice="Words are numbered from 0, each once.")
    seen.add(at)
    return PlacedWord(match.group(2), at)


class NltkTree(Protocol):
    """The part of ``nltk.Tree`` that we need: a label and iteration over children."""

    def label(self) -> str: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __len__(self) -> int: ...


def is_nltk_tree(value: object) -> bool:
    """Whether ``value`` looks like an ``nltk.Tree`` (a list with a ``label()``)."""
    return isinstance(value, list) and callable(getattr(cast(object, value), "label", None))


def from_nltk(tree: NltkTree) -> Tree:
    """The Tree with the labels and words of an ``nltk.Tree``; escaped brackets are restored as on reading a file.

    A leaf that is a pair ``(word, tag)``, as in nltk's chunked sentences, becomes a preterminal.
    """
    return _from_nodes(tree, lambda node: (node.label(), list(node)) if is_nltk_tree(node) else None)


def _from_nodes(tree: Any, parts: Callable[[Any], tuple[Any, list[Any]] | None]) -> Tree:
    """The Tree of another library's nodes, given a function for the label and the children of a node; it is None for a leaf."""
    flat: list[Any] = []
    stack: list[tuple[Any, bool]] = [(tree, False)]
    while stack:
        node, children_done = stack.pop()
        found = parts(node)
        if found is None:
            flat += _leaf(node)
        elif children_done or not found[1]:
            flat.append((restore_label(_text(found[0])), len(found[1])))
        else:
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(found[1]))
    return from_flat(flat)


def _text(label: Any) -> str:
    return "" if label is None else str(label() if callable(label) else label)


def _leaf(leaf: Any) -> list[Any]:
    """The items of :func:`~treegauge.trees.tree.to_flat` for a leaf: its word, and its tag where it has one."""
    if _is_tagged_word(leaf):
        return [restore_word(leaf.word), (restore_label(leaf.tag), 1)]
    match leaf:
        case (str() as word, str() as tag):
            return [restore_word(word), (restore_label(tag), 1)]
        case _:
            return [restore_word(_text(leaf.label) if _is_node(leaf) else str(leaf))]


def is_other_tree(value: object) -> bool:
    """Whether ``value`` is a node of another library: with ``label`` and ``children``, as stanza's, or a leaf of benepar's."""
    return _is_node(value) or _is_tagged_word(value)


def _is_node(value: object) -> bool:
    return hasattr(value, "label") and hasattr(value, "children")


def _is_tagged_word(value: object) -> bool:
    return isinstance(getattr(value, "tag", None), str) and isinstance(getattr(value, "word", None), str)


def from_other(tree: Any) -> Tree:
    """The Tree of nodes of another library: a node without children is a word, ``label`` may be a method, and None is no label.

    A child without ``label`` and ``children`` is a word, too, by its ``str``.

    >>> class Node:
    ...     def __init__(self, label, children=()):
    ...         self.label, self.children = label, children
    >>> print(from_other(Node("S", [Node("NP", [Node("N", [Node("rain")])]), Node("V", ["fell"])])))
    (S (NP (N rain)) (V fell))
    """

    def parts(node: Any) -> tuple[Any, list[Any]] | None:
        children = list(node.children or ()) if _is_node(node) else []
        return (node.label, children) if children or (node is tree and not _is_tagged_word(node)) else None

    return _from_nodes(tree, parts)


def to_nltk(tree: Tree) -> NltkTree:
    """An ``nltk.Tree`` with the same labels and words, brackets escaped so that nltk can print and read it back."""
    if not tree.is_continuous:
        advice = "Make the tree continuous first (continuous:raise or continuous:split)."
        raise Discontinuous("an nltk.Tree cannot hold crossing branches", advice=advice)
    try:
        make: Any = importlib.import_module("nltk.tree").Tree
    except ImportError:
        raise UsageError("to_nltk needs nltk: pip install nltk") from None

    def convert(node: Tree, children: list[Any], ancestors: Sequence[Tree]) -> Any:
        return make(escape_label(node.label), [escape_word(child) if isinstance(child, str) else child for child in children])

    return fold(tree, convert)
