"""Discbracket text: brackets whose words carry their places, ``(S (VP (PWS 0=Wen) (VVPP 2=kennt)) (PPER 1=er))``.

Places count from 0 and name every word of the sentence once. Children are written in the order of their first words; any order
is read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from treegauge.errors import FormatError
from treegauge.trees.bracketed import escape_label, escape_word, parse_one, refuse_hidden_label
from treegauge.trees.discontinuous import PlacedWord, walk, weave
from treegauge.trees.tree import Child, Tree, rebuild

__all__ = ["carries_places", "discbracket_line", "parse_discbracket", "with_places"]

_PLACE = re.compile(r"([0-9]{1,9})=(.+)", re.DOTALL)
_NUMBERED = re.compile(r"([0-9]+)=(.*)", re.DOTALL)


def carries_places(words: Sequence[str]) -> bool:
    """Whether the words of a tree are numbered from 0, each once, in any order.

    >>> carries_places(["1=er", "0=Wen"]), carries_places(["0=Wen", "er"])
    (True, False)
    """
    places = [found and int(found[1]) for found in map(_PLACE.fullmatch, words)]
    return None not in places and sorted(place or 0 for place in places) == list(range(len(words)))


def discbracket_line(tree: Tree) -> str:
    """The tree as discbracket text on one line."""
    parts: list[str] = []
    open_nodes: list[int] = []  # children still to come
    for node, places, _ in walk(tree):
        if isinstance(node, str):
            parts.append(f" {places[0]}={escape_word(node)}")
        else:
            refuse_hidden_label(node)
            parts.append((" (" if parts else "(") + escape_label(node.label))
            open_nodes.append(len(node.children))
            if node.children:
                continue
        while open_nodes:
            if open_nodes[-1] > (1 if isinstance(node, str) else 0):
                open_nodes[-1] -= 1
                break
            open_nodes.pop()
            parts.append(")")
            node = ""  # what was just closed is a child of the next one
    return "".join(parts)


def parse_discbracket(text: str) -> Tree:
    """The one tree in discbracket text; :class:`~treegauge.errors.BracketError` if there is not exactly one.

    >>> tree = parse_discbracket("(S (VP (V 2=kennt) (PWS 0=Wen)) (PPER 1=er))")
    >>> tree.words, tree.tags, str(tree)
    (('Wen', 'er', 'kennt'), ('PWS', 'PPER', 'V'), '(S (VP (PWS 0=Wen) (V 2=kennt)) (PPER 1=er))')
    """
    return with_places(parse_one(text))


def with_places(tree: Tree) -> Tree:
    """The tree that one read as brackets is in truth, its words being ``place=word``; FormatError if they are not."""
    seen: set[int] = set()

    def make(node: Tree, children: list[Child]) -> list[Child]:
        return [Tree(node.label, [_placed(child, seen) if isinstance(child, str) else child for child in children])]

    placed = rebuild(tree, make)
    assert placed is not None
    missing = next((at for at in range(len(seen)) if at not in seen), None)
    if missing is not None:
        raise FormatError(f"there is no word {missing}, but a word {max(seen)}", advice="Words are numbered from 0, without gaps.")
    return weave(placed)


def _placed(text: str, seen: set[int]) -> PlacedWord:
    match = _PLACE.fullmatch(text)
    if match is None:
        advice = "In discbracket text each word is PLACE=WORD, such as 0=Wen."
        numbered = _NUMBERED.fullmatch(text)
        problem = "no place" if numbered is None else "a place that no sentence has" if numbered[2] else "no text after its place"
        advice += "" if numbered else " If these are plain brackets, say so (option format)."
        raise FormatError(f"the word {text[:60]!r} has {problem}", advice=advice)
    at = int(match.group(1))
    if at in seen:
        raise FormatError(f"two words have the place {at}", advice="Words are numbered from 0, each once.")
    seen.add(at)
    return PlacedWord(match.group(2), at)
