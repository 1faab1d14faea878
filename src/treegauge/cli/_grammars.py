"""Models given to commands: counted or trained grammars, networks, text grammars, several of them, or the model of our own
treebank."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence

import click

from treegauge.cli._options import Function, device_option, progress, treebank_option
from treegauge.errors import InputError, UsageError
from treegauge.grammar.grammar_text import write_nltk, write_text
from treegauge.grammar.pcfg import PCFG
from treegauge.io.sources import ReadOptions
from treegauge.io.writing import write_chunks
from treegauge.models.loading import OWN, LoadedModel, is_model, load_parser
from treegauge.parsing.input import InputKind, read_sentences
from treegauge.parsing.mixture import LAM
from treegauge.parsing.parser import Parser, Sentence, SentenceParser
from treegauge.parsing.raw_text import unsplit_words
from treegauge.tables import Table


def load_grammar(name: str) -> Parser:
    """The parser of the grammar in a file, a model or text; :data:`OWN` is that of our own treebank."""
    parser = load_parser(name).parser
    if not isinstance(parser, Parser):
        raise UsageError(f"{name}: this needs a grammar of treegauge induce or learn, or a text grammar")
    return parser


def write_grammar(grammar: PCFG, form: str, output: str) -> None:
    """Write a grammar as text: NLTK's if the form is ``nltk``, else our own."""
    write_chunks([(write_nltk(grammar) if form == "nltk" else write_text(grammar)).encode()], output)


def models_and_text(files: Sequence[str]) -> tuple[Sequence[str], str]:
    """The models among the arguments of a command, and the file of its sentences, ``-`` if none is given.

    Leading arguments that are models by their content, or ``own``, are models; without one, the first is a grammar as text.
    """
    command = click.get_current_context().command_path
    if sentence := next((name for name in files if " " in name and not os.path.exists(name)), ""):
        advice = f'A sentence is read from standard input: echo "{sentence}" | {command} MODEL'
        raise InputError("no such file", path=sentence, advice=advice)
    size = next((i for i, name in enumerate(files) if not is_model(name)), len(files))
    if not size and files and files[0] != "-":
        size = 1
    if len(files) > size + 1:
        other = next(name for name in files if not is_model(name))
        raise UsageError(
            f"only one text can follow the models, not {len(files) - size}: {', '.join(files[size:])}\n"
            f"  Models come first, and only those that treegauge has written can be mixed: is {other} one?\n"
            f"  Several texts are joined: cat {' '.join(files[size:])} | {command} {' '.join(files[:size])} -"
        )
    return files[:size] or (OWN,), files[size] if len(files) > size else "-"


raw_option = click.option(
    "--raw", is_flag=True, help="The same as --input raw: split text into sentences and words, as in the Penn Treebank."
)


def input_kind(kind: InputKind, raw: bool) -> InputKind:
    """The kind of input that ``--input`` and ``--raw`` say."""
    if raw and kind in ("tagged", "trees"):
        raise UsageError(f"--raw splits text into words, but --input {kind} has words already: leave one of them out")
    return "raw" if raw else kind


def model_options(command: Function) -> Function:
    """Add ``--treebank``, ``--start``, ``--renormalise`` and ``--device``: how models, and trees with sentences, are read."""
    start = click.option("--start", metavar="SYMBOL", help="The start symbol of a text grammar.  [default: its first]")
    renormalise = click.option("--renormalise", is_flag=True, help="Scale a text grammar's probabilities to sum to 1.")
    return treebank_option(start(renormalise(device_option("Networks: where to compute posteriors")(command))))


def input_sentences(file: str, kind: InputKind, options: ReadOptions, parser: SentenceParser) -> Iterator[Sentence]:
    """The sentences of a file; stderr says that a terminal is read, and shows the first word that looks like text that is not
    tokenised, unless the model knows it."""
    if file == "-" and sys.stdin.isatty():
        click.echo("reading sentences from the terminal, one per line; end with Ctrl-D", err=True)
    is_told = kind != "tokens" or click.get_current_context().params.get("quiet", False)
    for sentence in read_sentences(file, kind, options):
        if not is_told and (word := next((w for w in unsplit_words(sentence.words) if w not in parser.spellings.known), None)):
            click.echo(f"{word!r} looks like text that is not split into words: --raw splits it", err=True)
            is_told = True
        yield sentence


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
    if shares is None and not click.get_current_context().params.get("quiet", False):
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
