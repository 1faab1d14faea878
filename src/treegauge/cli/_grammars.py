"""Grammars given to commands: a model, a text file, or the model that comes with treegauge."""

from __future__ import annotations

from typing import NamedTuple

from treegauge.errors import InputError
from treegauge.grammar.model import SHIPPED, Model, load_model
from treegauge.grammar.pcfg import PCFG
from treegauge.io.sources import Source

__all__ = ["OWN", "LoadedGrammar", "load_grammar"]

OWN = "own"
"""The name of the grammar of our own treebank."""


class LoadedGrammar(NamedTuple):
    """A grammar; whether its words are tags; whether its labels join unary chains."""

    grammar: PCFG
    tag_words: bool
    joined: bool


def load_grammar(name: str, *, start: str | None = None, renormalise: bool = False) -> LoadedGrammar:
    """The grammar in a file, or :data:`OWN`."""
    if name == OWN:
        return _from_model(load_model(SHIPPED))
    with Source(name).open() as stream:
        head = stream.read(2)
    if head != b"PK":
        from treegauge.grammar.text import read_file

        return LoadedGrammar(read_file(name, start=start, renormalise=renormalise), False, False)
    if start is not None:
        raise InputError("a model has its start symbol: leave out --start", path=name)
    return _from_model(load_model(name))


def _from_model(model: Model) -> LoadedGrammar:
    steps = str(model.notes.get("steps", ""))
    return LoadedGrammar(model.grammar, model.notes.get("terminals") == "tags", "keep=joined" in steps or "double" in steps)
