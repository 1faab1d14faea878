"""TIGER-XML from trees; reading it back with functions and features gives the very same trees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from treegauge.errors import WriteError
from treegauge.io.graphs import NONE, ROOT_LABEL, LabelParts, WordRow, node_parts, rows_of_tree, split_label
from treegauge.io.tigerxml import NO_ROOT
from treegauge.io.writing import refusal
from treegauge.io.xml import attribute_text
from treegauge.trees.bracketed import restore_word
from treegauge.trees.tree import Tree
from treegauge.trees.treebank import Treebank

__all__ = ["tigerxml_text"]

_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<corpus id="treegauge">\n<body>\n'


def tigerxml_text(blocks: Iterable[Treebank]) -> Iterator[bytes]:
    """The trees as a TIGER-XML corpus, sentences numbered from 1."""
    yield _HEAD.encode()
    number = 0
    for block in blocks:
        for index, tree in enumerate(block):
            number += 1
            try:
                yield ("\n".join(_sentence(tree, f"s{number}")) + "\n").encode("utf-8")
            except WriteError as error:
                raise refusal(block, index, str(error)) from None
            except ValueError:  # also half of a surrogate pair
                raise refusal(block, index, "a label or word holds a character that XML cannot have") from None
    yield b"</body>\n</corpus>\n"


def _sentence(tree: Tree, name: str) -> Iterator[str]:
    if not tree.children and not tree.label:
        yield f'<s id="{name}">\n<graph>\n<terminals>\n</terminals>\n<nonterminals>\n</nonterminals>\n</graph>\n</s>'
        return
    words, nodes = rows_of_tree(tree, "TIGER-XML")
    has_root = tree.label == ROOT_LABEL and not tree.is_preterminal
    names = {number: f"{name}_VROOT" if has_root and number == 0 else f"{name}_{500 + number}" for number in nodes}
    yield f'<s id="{name}">'
    if not has_root:
        yield f"<?{NO_ROOT}?>"
    yield f'<graph root="{names[0] if nodes else name + "_1"}"' + ("" if tree.is_continuous else ' discontinuous="true"') + ">"
    yield "<terminals>"
    below: dict[int, list[_Edge]] = {number: [] for number in nodes}
    for place, row in enumerate(words, start=1):
        parts = _word_parts(row)
        yield _word(f"{name}_{place}", row.word, parts)
        if row.parent >= 0:
            below[row.parent].append(_Edge(f"{name}_{place}", parts.function))
    yield "</terminals>\n<nonterminals>"
    categories: dict[int, str] = {}
    for number, node in nodes.items():
        parts = node_parts(node.label, is_root=node.parent < 0)
        categories[number] = parts.tag
        if node.parent >= 0:
            below[node.parent].append(_Edge(names[number], parts.function))
    for number in nodes:
        yield f'<nt id="{names[number]}" cat={attribute_text(categories[number])}>'
        for edge in below[number]:
            yield f'<edge label={attribute_text(edge.function)} idref="{edge.name}" />'
        yield "</nt>"
    yield "</nonterminals>\n</graph>\n</s>"


class _Edge(NamedTuple):
    name: str
    function: str


def _word_parts(row: WordRow) -> LabelParts:
    """The parts of a word's label; without a parent there is no edge to hold its function."""
    parts = split_label(row.label, has_lemma=True)
    return parts if row.parent >= 0 or parts.function == NONE else node_parts(row.label, is_root=True)


def _word(name: str, word: str, parts: LabelParts) -> str:
    if not word or restore_word(word) != word:
        raise WriteError(f"the word {word!r} cannot be written in TIGER-XML: it would be read back as {restore_word(word)!r}.")
    values = {"word": word, "lemma": parts.lemma, "pos": parts.tag, "morph": parts.morphology}
    return f'<t id="{name}" ' + " ".join(f"{key}={attribute_text(value)}" for key, value in values.items()) + " />"
