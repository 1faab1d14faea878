"""Grammars given to commands: a model, a text file, or the model that comes with treegauge."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from treegauge.cli._progress import progress
from treegauge.errors import InputError, UsageError
from treegauge.grammar.model import SHIPPED, Model, load_model
from treegauge.grammar.pcfg import PCFG
from treegauge.io.archive import archive_schema
from treegauge.io.sources import ReadOptions, Source
from treegauge.tables import Table

if TYPE_CHECKING:
    from treegauge.grammar.latent.latent_model import LatentModel
    from treegauge.neural.network_model import NetworkModel

OWN = "own"
"""The name that stands for the grammar of our own treebank."""


class LoadedGrammar(NamedTuple):
    """A grammar and the notes of its model; whether its words are tags, and whether its symbols join chains of labels."""

    grammar: PCFG
    tag_words: bool
    joined: bool
    notes: Mapping[str, Any] = {}


def load_grammar(name: str, *, start: str | None = None, renormalise: bool = False) -> LoadedGrammar:
    """The grammar in a file, a model or text; :data:`OWN` is that of our own treebank.

    ``start`` and ``renormalise`` are for text: the start symbol, and whether probabilities are scaled to sum to 1.
    """
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
    """The latent-variable model in a file; None if the file holds another grammar."""
    if name == OWN or not os.path.isfile(name):
        return None
    from treegauge.grammar.latent.latent_model import SCHEMA, load_latent

    return load_latent(name) if archive_schema(name) == SCHEMA else None


def load_if_network(name: str) -> NetworkModel | None:
    """The network in a file; None if the file holds something else. Each job of a command uses one thread of torch."""
    if name == OWN or not os.path.isfile(name) or archive_schema(name) != "treegauge-network":
        return None
    from treegauge.neural.backend import torch_module
    from treegauge.neural.network_model import load_network

    torch_module().set_num_threads(1)
    return load_network(name)


def _from_model(model: Model) -> LoadedGrammar:
    steps = str(model.notes.get("steps", ""))
    joined = "keep=joined" in steps or "double" in steps
    return LoadedGrammar(model.grammar, model.notes.get("terminals") == "tags", joined, model.notes)


def parse_base_table(name: str, gold: str, options: ReadOptions) -> Table:
    """The Parse Base of a grammar (Hogenhout & Matsumoto 1996): how ambiguous the sentences of a treebank are under it."""
    from treegauge.metrics.hogenhout import parse_base
    from treegauge.parsing.forest import Forest
    from treegauge.parsing.input import read_sentences

    if load_if_latent(name) is not None:
        raise UsageError("Parse Base counts the parses of a grammar of treegauge induce or learn, or of a text grammar")
    given = load_grammar(name)

    def lengths_and_counts() -> Iterator[tuple[int, float]]:
        with progress("counting parses", None) as advance:
            for sentence in read_sentences(gold, "trees", options):
                words = sentence.tags if given.tag_words and sentence.tags else sentence.words
                yield len(words), Forest(given.grammar, words).n_parses if words else 0
                advance()

    found = parse_base(lengths_and_counts())
    about = "the geometric mean of p^(1/n), p being the number of parses of a sentence of n words; 1: no ambiguity"
    row = (os.path.basename(name), found.value, found.sentences, found.left_out)
    columns = ("grammar", "Parse Base", "sentences", "without a parse")
    return Table("Parse Base (Hogenhout & Matsumoto 1996)", columns, (row,), (about, *([found.remark] if found.remark else [])))
