"""Grammars given to commands: a model, a text file, or the model that comes with treegauge."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from treegauge.errors import InputError
from treegauge.grammar.model import SHIPPED, Model, load_model
from treegauge.grammar.pcfg import PCFG
from treegauge.io.archive import archive_schema
from treegauge.io.sources import Source

if TYPE_CHECKING:
    from treegauge.grammar.latent.model import LatentModel

__all__ = ["OWN", "LoadedGrammar", "load_grammar", "load_if_latent"]

OWN = "own"
"""The name of the grammar of our own treebank."""


class LoadedGrammar(NamedTuple):
    """A grammar; whether its words are tags; whether its labels join unary chains; the notes of its model."""

    grammar: PCFG
    tag_words: bool
    joined: bool
    notes: Mapping[str, Any] = {}


def load_grammar(name: str, *, start: str | None = None, renormalise: bool = False) -> LoadedGrammar:
    """The grammar in a file, or :data:`OWN`."""
    if name == OWN:
        return _from_model(load_model(SHIPPED))
    with Source(name).open() as stream:
        head = stream.read(2)
    if head != b"PK":
        from treegauge.grammar.grammar_text import read_file

        return LoadedGrammar(read_file(name, start=start, renormalise=renormalise), False, False)
    if start is not None:
        raise InputError("a model has its start symbol: leave out --start", path=name)
    return _from_model(load_model(name))


def load_if_latent(name: str) -> LatentModel | None:
    """The latent-variable model in a file; ``None`` if it is another grammar."""
    if name == OWN or not os.path.isfile(name):
        return None
    from treegauge.grammar.latent.model import SCHEMA, load_latent

    return load_latent(name) if archive_schema(name) == SCHEMA else None


def _from_model(model: Model) -> LoadedGrammar:
    steps = str(model.notes.get("steps", ""))
    joined = "keep=joined" in steps or "double" in steps
    return LoadedGrammar(model.grammar, model.notes.get("terminals") == "tags", joined, model.notes)
