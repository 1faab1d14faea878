"""Models given to commands: counted or trained grammars, networks, text grammars, several of them, or the model of our own
treebank."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from treegauge.cli._progress import progress
from treegauge.errors import UsageError
from treegauge.grammar.pcfg import PCFG
from treegauge.io.archive import archive_schema
from treegauge.io.sources import ReadOptions
from treegauge.models.loading import LATENT, OWN, LoadedModel, is_model, load_parser
from treegauge.parsing.mixture import LAM
from treegauge.parsing.parser import Parser
from treegauge.tables import Table, number_of

if TYPE_CHECKING:
    from treegauge.grammar.latent.latent_model import LatentModel


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
    given = load_parser(name, start=start, renormalise=renormalise)
    if not isinstance(given.parser, Parser):
        raise UsageError(f"{name}: this needs a grammar of treegauge induce or learn, or a text grammar")
    return LoadedGrammar(given.parser.grammar, given.parser.tag_words, given.parser.joined, given.notes)


def load_if_latent(name: str) -> LatentModel | None:
    """The latent-variable model in a file; None if the file holds another grammar."""
    if name == OWN or not os.path.isfile(name):
        return None
    from treegauge.grammar.latent.latent_model import load_latent

    return load_latent(name) if archive_schema(name) == LATENT else None


def models_and_text(files: Sequence[str]) -> tuple[Sequence[str], str]:
    """The models among the arguments of a command, and the file of its sentences, ``-`` if none is given.

    Leading arguments that are models by their content, or ``own``, are models; without one, the first is a grammar as text.
    """
    size = next((i for i, name in enumerate(files) if not is_model(name)), len(files))
    if not size and files and files[0] != "-":
        size = 1
    if len(files) > size + 1:
        further = next((name for name in files[size:] if is_model(name)), files[size])
        raise UsageError(
            f"{number_of(len(files) - size, 'file')} after the models, where one text is read: {', '.join(files[size:])}\n"
            f"  Models come first, and only those that treegauge has written can be mixed: is {further} one?"
        )
    return files[:size] or (OWN,), files[size] if len(files) > size else "-"


def load_models(
    names: Sequence[str], shares: str | None, *, start: str | None = None, renormalise: bool = False, device: str = "auto"
) -> LoadedModel:
    """The model of this name, or the mixture of several by their shares; stderr shows shares that nobody chose."""
    models = [load_parser(name, start=start, renormalise=renormalise, device=device) for name in names]
    if len(models) == 1:
        if shares is not None:
            raise UsageError("--shares is for several models, and there is one")
        return models[0]
    from treegauge.models.mixtures import mix_models

    made = mix_models(models, None if shares is None else shares_of(shares))
    if shares is None:
        click.echo(
            f"mixture of {len(models)} models with equal shares, lam {LAM:g} (treegauge mix --tune chooses better ones)", err=True
        )
    return made


def shares_of(text: str) -> list[float]:
    """Numbers separated by commas."""
    try:
        return [float(share) for share in text.split(",")]
    except ValueError:
        raise UsageError(f"shares are numbers separated by commas, such as 2,1,1, not {text!r}") from None


def parse_base_table(name: str, gold: str, options: ReadOptions) -> Table:
    """The Parse Base of a grammar (Hogenhout & Matsumoto 1996): how ambiguous the sentences of a treebank are under it."""
    from treegauge.metrics.hogenhout import parse_base
    from treegauge.parsing.forest import Forest
    from treegauge.parsing.input import read_sentences

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
