"""The grammar that a command was given: a model, a text file, or the one that comes with treegauge."""

from __future__ import annotations

from typing import Any, NamedTuple

from treegauge.errors import InputError
from treegauge.grammar.model import load_model
from treegauge.grammar.pcfg import PCFG
from treegauge.grammar.text import read_file
from treegauge.grammar.training import default_grammar
from treegauge.io.sources import Source

__all__ = ["OWN", "Given", "given_grammar"]

OWN = "own"
"""The name of the grammar of our own treebank."""


class Given(NamedTuple):
    """A grammar; whether its words are tags; whether its labels join unary chains."""

    grammar: PCFG
    tag_words: bool
    joined: bool


def given_grammar(name: str, *, start: str | None = None, renormalise: bool = False) -> Given:
    """The grammar in a file, or :data:`OWN`."""
    if name == OWN:
        return _from_notes(*default_grammar())
    with Source(name).open() as stream:
        head = stream.read(2)
    if head != b"PK":
        return Given(read_file(name, start=start, renormalise=renormalise), False, False)
    if start is not None:
        raise InputError("a model has its start symbol: leave out --start", path=name)
    model = load_model(name)
    return _from_notes(model.grammar, dict(model.notes))


def _from_notes(grammar: PCFG, notes: dict[str, Any]) -> Given:
    steps = str(notes.get("steps", ""))
    return Given(grammar, notes.get("terminals") == "tags", "keep=joined" in steps or "double" in steps)
