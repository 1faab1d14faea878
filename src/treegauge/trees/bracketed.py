"""Trees as bracketed text: escapes, the reader for one small string, and the two ways of writing.

Whole files are read by :mod:`treegauge.io.bracketed`; this module defines what the text means:

* ``(LABEL child ...)``, a child being a bracketing or a word; ``( (S ...))`` has an empty root label;
* an atom right after ``(`` is the label, except that ``( word)``, a lone atom set off by a blank, is a word under the empty label;
* ``\\(`` and ``\\)`` inside a word are brackets, too, where a tree cannot be read otherwise (:mod:`treegauge.io.escapes`);
* ``-LRB-`` and ``-RRB-`` inside a word, and inside a label of more than that, stand for brackets: they are restored on
  reading and escaped on writing. A label that is exactly ``-LRB-`` or ``-RRB-`` is the Penn Treebank's tag and stays.

So the one tree that is not read back as it was written is one built by hand with ``-LRB-`` inside a word (or one of
:data:`ESCAPED_BRACKETS`), or with a bare bracket for a label: it comes back as the same text means it, with ``(`` in the word and
the tag ``-LRB-``.
"""

from __future__ import annotations

import re

from treegauge.errors import BracketError, WriteError
from treegauge.trees.tree import Child, Tree

__all__ = [
    "ESCAPED_BRACKETS",
    "escape_label",
    "escape_word",
    "expression",
    "one_line",
    "parse_one",
    "pretty",
    "refuse_hidden_label",
    "restore_label",
    "restore_word",
]

_SPACE = " \t\n\r\v\f"
_ATOM_OR_BRACKET = re.compile(r"[()]|[^() \t\n\r\v\f]+")
_FORBIDDEN = re.compile(r"[ \t\n\r\v\f\0]")
_WITH_ESCAPES = re.compile(r"[()]|(?:\\[()]|[^() \t\n\r\v\f])+")
_BRACKET_TAGS = ("-LRB-", "-RRB-")
ESCAPED_BRACKETS = ("\u07fb", "\u07fc")
"""Letters that Unicode does not have: an escaped bracket while a file is being read."""
_ESCAPES = {"\\(": "(", "\\)": ")", ESCAPED_BRACKETS[0]: "(", ESCAPED_BRACKETS[1]: ")"}
_ESCAPED = re.compile("|".join(map(re.escape, _ESCAPES)))


def restore_word(word: str) -> str:
    """A word as it stands in the text, brackets and all.

    >>> restore_word("-LRB-"), restore_word("a-RRB-"), restore_word("-LSB-")
    ('(', 'a)', '-LSB-')
    """
    if "\\" in word or ESCAPED_BRACKETS[0] in word or ESCAPED_BRACKETS[1] in word:
        word = _ESCAPED.sub(lambda found: _ESCAPES[found[0]], word)
    return word.replace("-LRB-", "(").replace("-RRB-", ")") if "RB-" in word else word


def restore_label(label: str) -> str:
    """A label with its brackets; the Penn Treebank's tags ``-LRB-`` and ``-RRB-`` are labels in their own right.

    >>> restore_label("$-LRB-"), restore_label("-LRB-")
    ('$(', '-LRB-')
    """
    if label in _BRACKET_TAGS:
        return label
    restored = restore_word(label)
    return {"(": "-LRB-", ")": "-RRB-"}.get(restored, restored) if restored != label else label


def escape_word(word: str) -> str:
    """A word as bracketed text can hold it; refuses an empty word and one with a space in it.

    >>> escape_word("f(x)")
    'f-LRB-x-RRB-'
    """
    if not word or _FORBIDDEN.search(word):
        shown = "the empty word" if not word else f"the word {word!r}"
        raise WriteError(
            f"{shown} cannot be written as bracketed text: blanks separate words there.\n"
            "  Replace the blank (for example by '_') or split the word into two tokens."
        )
    return _escape(word)


def escape_label(label: str) -> str:
    """A label as bracketed text can hold it; it may be empty, but not contain a space."""
    if _FORBIDDEN.search(label):
        raise WriteError(
            f"the label {label!r} cannot be written as bracketed text: a blank ends a label there.\n"
            "  Replace the blank, for example by '_'."
        )
    return _escape(label)


def _escape(atom: str) -> str:
    return atom.replace("(", "-LRB-").replace(")", "-RRB-") if "(" in atom or ")" in atom else atom


def parse_one(text: str) -> Tree:
    """The one tree in ``text``."""
    trees = parse_all(text)
    if len(trees) != 1:
        raise BracketError(
            f"expected one tree, found {len(trees)}", advice="Treebank.parse reads any number of trees from a string."
        )
    return trees[0]


def _tokens(text: str) -> list[tuple[str, int]]:
    """Brackets and atoms with their places; a backslash escapes a bracket where the tree says so."""
    plain = [(match.group(), match.start()) for match in _ATOM_OR_BRACKET.finditer(text)]
    if "\\(" not in text and "\\)" not in text:
        return plain
    escaped = [(match.group(), match.start()) for match in _WITH_ESCAPES.finditer(text)]
    return escaped if "\\(" in text or (_balance(escaped) and not _balance(plain)) else plain


def _balance(tokens: list[tuple[str, int]]) -> bool:
    depth = 0
    for token, _ in tokens:
        depth += (token == "(") - (token == ")")
        if depth < 0:
            return False
    return not depth


def parse_all(text: str) -> list[Tree]:
    """All trees in a small string, one object per node: for doctests, prompts and messages."""
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
    parts: list[str] = []
    stack: list[Child | None] = [tree]
    while stack:
        node = stack.pop()
        if node is None:
            parts.append(")")
        elif isinstance(node, str):
            parts.append(" " + escape_word(node))
        elif node.__class__ is not Tree:
            return _discbracket(tree)
        else:
            refuse_hidden_label(node)
            parts.append((" (" if parts else "(") + escape_label(node.label))
            stack.append(None)
            stack.extend(reversed(node.children))
    return "".join(parts)


def _discbracket(tree: Tree) -> str:
    from treegauge.trees.discbracket import discbracket_line

    return discbracket_line(tree)


def refuse_hidden_label(node: Tree) -> None:
    if not node.label and len(node.children) > 1 and isinstance(node.children[0], str):
        raise WriteError(
            f"a node without a label that begins with the word {node.children[0]!r} cannot be written as bracketed text: the word "
            "would be read as the label.\n  Give the node a label."
        )


def expression(tree: Tree) -> str:
    """A Python expression for the tree: ``Tree.parse`` of its text, or constructors where text would not give the same tree back.

    >>> expression(Tree("NN", ["cat"])), expression(Tree("NN", ["two words"]))
    ("Tree.parse('(NN cat)')", "Tree('NN', ['two words'])")
    """
    from treegauge.trees.discbracket import parse_discbracket

    name, parse = ("Tree.parse", parse_one) if tree.is_continuous else ("parse_discbracket", parse_discbracket)
    try:
        text = one_line(tree)
        if parse(text) == tree:
            return f"{name}({text!r})"
    except WriteError:
        pass
    parts: list[str] = []
    stack: list[Child | tuple[str]] = [tree]  # a text that closes a node stands in a tuple
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
    """The tree over several lines: a node that fits into ``width`` stays on one, else its children are indented by two.

    >>> print(pretty(Tree.parse("(S (NP (DT the) (NN cat)) (VP (VBD sat)))"), width=24))
    (S
      (NP (DT the) (NN cat))
      (VP (VBD sat)))
    """
    if not tree.is_continuous:
        return _discbracket(tree)
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
    stack: list[tuple[Tree, bool]] = [(tree, False)]
    while stack:
        node, children_done = stack.pop()
        if children_done:
            inside = sum(1 + (len(escape_word(child)) if isinstance(child, str) else lengths[id(child)]) for child in node.children)
            lengths[id(node)] = len(escape_label(node.label)) + 2 + inside
        else:
            stack.append((node, True))
            stack.extend((child, False) for child in node.children if isinstance(child, Tree))
    return lengths
