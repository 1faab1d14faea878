"""The NEGRA export format from trees; reading it back with functions and features gives the very same trees."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from treegauge.errors import WriteError
from treegauge.io.export import NO_ROOT, is_node_name
from treegauge.io.graphs import ROOT, ROOT_LABEL
from treegauge.io.node_labels import split_label
from treegauge.io.refusal import refusal
from treegauge.trees.brackets import restore_word
from treegauge.trees.tree import Tree
from treegauge.trees.treebank import Treebank

__all__ = ["export_text"]

_FIRST_NODE = 500
_RESERVED = re.compile(r"%%|#(FORMAT|BOT|EOT|BOS|EOS)$")
_BLANK = re.compile(r"[ \t\n\r\v\f\0]")


def export_text(blocks: Iterable[Treebank], version: int = 3) -> Iterator[bytes]:
    """The trees as an export file of version 3 or 4, sentences numbered from 1.

    A tree whose root is not ``VROOT`` is marked by a comment in its first line, so that reading does not put one on top.
    """
    yield f"#FORMAT {version}\n".encode()
    number = 0
    for block in blocks:
        for index, tree in enumerate(block):
            number += 1
            try:
                yield "\n".join([*_sentence(tree, number, version), ""]).encode("utf-8")
            except WriteError as error:
                raise refusal(block, index, str(error)) from None
            except UnicodeEncodeError:
                raise refusal(block, index, "a label or word is not text: it holds half of a surrogate pair") from None


def _sentence(tree: Tree, number: int, version: int) -> Iterator[str]:
    """The lines of a sentence: its words, then its nodes, children before parents."""
    has_root = tree.label == ROOT_LABEL and not tree.is_preterminal
    is_empty = not tree.children and not tree.label
    yield f"#BOS {number} 0 0 0" + ("" if has_root or is_empty else f" {NO_ROOT}")
    if not is_empty:
        words, nodes = _words_and_nodes(tree, has_root)
        names = {place: str(name) for name, (_, _, place) in enumerate(nodes, start=_FIRST_NODE)}
        for word, label, parent in words:
            yield _row(_checked_word(word), label, names.get(parent, ROOT), version)
        for label, parent, place in nodes:
            yield _row("#" + names[place], label, names.get(parent, ROOT), version)
    yield f"#EOS {number}"


def _words_and_nodes(tree: Tree, has_root: bool) -> tuple[list[tuple[str, str, int]], list[tuple[str, int, int]]]:
    """The words (word, tag, parent) and, bottom-up, the nodes (label, parent, place), known by their place in pre-order."""
    words: list[tuple[str, str, int]] = []
    nodes: list[tuple[str, int, int]] = []
    stack: list[tuple[Tree, int, int | None]] = [(tree, -1, None)]  # a node comes again, with its place, after its children
    count = 0
    while stack:
        node, parent, place = stack.pop()
        if place is not None:
            nodes.append((node.label, parent, place))
        elif node.is_preterminal:
            words.append((str(node.children[0]), node.label, parent))
        else:
            below = [child for child in node.children if isinstance(child, Tree)]
            _refuse_shape(node, len(below))
            if not (has_root and count == 0):
                stack.append((node, parent, count))
            stack.extend((child, count, None) for child in reversed(below))
            count += 1
    return words, nodes


def _refuse_shape(node: Tree, nodes_below: int) -> None:
    if not node.width:
        raise WriteError(f"the node {node.label!r} has no words: the export format cannot hold it.\n  Remove it first.")
    if nodes_below < len(node.children):
        word = next(child for child in node.children if isinstance(child, str))
        raise WriteError(f"the word {word!r} has no tag of its own, which the export format needs.\n  Give it one.")


def _checked_word(word: str) -> str:
    if not word or _BLANK.search(word):
        raise WriteError(
            f"the word {word!r} cannot be written in the export format: blanks separate columns there.\n"
            "  Replace the blank (for example by '_') or split the word into two tokens."
        )
    if _RESERVED.match(word) or is_node_name(word.encode("utf-8", "replace")) or restore_word(word) != word:
        raise WriteError(f"the word {word!r} has a meaning of its own in the export format.\n  Replace it.")
    return word


def _row(name: str, label: str, parent: str, version: int) -> str:
    parts = split_label(label, has_lemma=version == 4)
    columns = [name, *([parts.lemma] if version == 4 else []), parts.tag, parts.morphology, parts.function, parent]
    return "\t".join(columns)
