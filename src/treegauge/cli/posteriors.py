"""``treegauge posteriors``: the posteriors of a sentence's constituents, the expected scores of trees, and calibration."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from treegauge.cli._grammars import LoadedGrammar, load_grammar, load_if_latent
from treegauge.cli._group import INPUT, Command, OutputFile
from treegauge.cli._options import treebank_option
from treegauge.cli._progress import progress
from treegauge.errors import NoParse, TooLong, UsageError
from treegauge.io import read
from treegauge.io.sources import AUTO, ReadOptions
from treegauge.io.writing import write_bytes
from treegauge.models.loading import OWN
from treegauge.normalise import pipeline
from treegauge.parsing.chart import check_memory
from treegauge.parsing.forest import Forest, no_parse
from treegauge.parsing.forest_views import draw_posteriors
from treegauge.parsing.input import KINDS, InputKind, read_sentences
from treegauge.parsing.posterior_view import Constituent
from treegauge.tables import Cell, Table, number_of, plain, render, whole_number
from treegauge.trees.tree import Tree

if TYPE_CHECKING:
    from treegauge.grammar.latent.latent_model import LatentModel
    from treegauge.parsing.latent.latent_forest import LatentForest

FORMATS = ("table", "json", "csv")
_ITEM_BYTES = 1000
"""The memory that a constituent takes until it is printed."""


@click.command(cls=Command)
@click.argument("grammar", type=INPUT, default=OWN)
@click.argument("file", type=INPUT, default="-")
@click.option("--input", "kind", type=click.Choice(KINDS), default="tokens", show_default=True,
              help="Input: tokens separated by blanks, word/TAG pairs, raw text, or trees.")  # fmt: skip
@click.option("--sentence", "chosen", default="1", show_default=True, metavar="N|all", help="Which sentence of FILE.")
@click.option("--least", type=click.FloatRange(0), default=0.001, show_default=True, help="Leave out smaller posteriors.")
@click.option("--symbols", is_flag=True, help="Show the grammar's own symbols, not the labels of output trees.")
@click.option("--tree", "trees", type=INPUT, metavar="TREES",
              help="Print the rates that each tree of this file can be expected to have: ER_LR, ER_PC, ER_CF.")  # fmt: skip
@click.option("-m", "--metric", "metrics", multiple=True, metavar="METRIC[.RATE]",
              help="--tree: also the expected rate of a metric, from samples; may be repeated.")  # fmt: skip
@click.option(
    "-p", "--preset", type=INPUT, metavar="NAME|FILE", help="--tree: preset of the metrics.  [default: that of the metric]"
)
@click.option("--samples", type=click.IntRange(1), default=200, show_default=True, metavar="N", help="--tree: number of samples.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, metavar="N", help="--tree: seed of the samples.")
@click.option("--calibration", type=INPUT, metavar="GOLD",
              help="Compare posteriors with how often constituents are right in these trees, label by label.")  # fmt: skip
@click.option("--bins", is_flag=True, help="--calibration: a row for every tenth of the posteriors of each label.")
@click.option("--longest", type=click.IntRange(1), metavar="N", help="--calibration: leave out sentences of more than N words.")
@click.option("--svg", type=OutputFile(dir_okay=False, path_type=Path), metavar="FILE",
              help="Draw the chart as a heat map; --calibration: the reliability curve.")  # fmt: skip
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True, help="Output format.")
@click.option("--encoding", default=AUTO, metavar="NAME", help="Encoding of the input.  [default: UTF-8]")
@treebank_option
@click.option("--start", metavar="SYMBOL", help="The start symbol of a text grammar.  [default: its first]")
@click.option("--renormalise", is_flag=True, help="Scale a text grammar's probabilities to sum to 1.")
def command(
    grammar: str, file: str, kind: InputKind, chosen: str, least: float, symbols: bool, trees: str | None, metrics: tuple[str, ...],
    preset: str | None, samples: int, seed: int, calibration: str | None, bins: bool, longest: int | None, svg: Path | None,
    form: str, encoding: str, style: str, start: str | None, renormalise: bool,
) -> None:  # fmt: skip
    """Print the posterior of every constituent of a sentence of FILE under GRAMMAR, the first by default, and draw them.

    With --tree, print instead the score that each given tree can be expected to have if the right parse is one of the grammar's
    own; with --calibration, how often constituents of each posterior are right.

    \b
    Examples:
      echo "I saw the man with the telescope ." | treegauge posteriors
      echo "I saw the man with the telescope ." | treegauge posteriors --svg chart.svg
      treegauge posteriors train.model sentence.txt --least 0.1 --format csv
      treegauge posteriors train.model sentences.txt --sentence all --format json
      treegauge posteriors train.model --tree parses.mrg -m parseval.f1 -m freval
      treegauge posteriors train.model --calibration dev.mrg --svg reliability.svg
    """
    latent = load_if_latent(grammar)
    given = None if latent is not None else load_grammar(grammar, start=start, renormalise=renormalise)
    if trees is not None or calibration is not None:
        if trees is not None and calibration is not None:
            raise UsageError("--tree and --calibration cannot be combined: choose one")
        if file != "-":
            raise UsageError("the sentences are those of the trees: leave out FILE")
        if given is not None and given.joined:
            raise UsageError("this grammar joins chains of labels into one symbol, so it has no posteriors of single labels")
        options = ReadOptions(encoding=encoding, treebank=style)
        if trees is not None:
            if svg is not None:
                raise UsageError("--svg draws one chart, or the curve of --calibration: leave it out with --tree")
            _print_expected_rates(given, latent, trees, options, metrics, preset, samples, seed, form)
        else:
            _calibration(given, latent, str(calibration), options, bins, longest, svg, form)
        return
    wanted = whole_number(chosen)
    if chosen != "all" and not wanted:
        raise UsageError(f"--sentence is a number from 1 on, or all, not {chosen!r}")
    if wanted is None and svg is not None:
        raise UsageError("--svg draws one chart: give the number of its sentence, not all")
    sentences = read_sentences(file, kind, ReadOptions(encoding=encoding, treebank=style))
    number = 0
    for number, sentence in enumerate(itertools.islice(sentences, wanted), 1):
        if wanted not in (None, number):
            continue
        words = sentence.tags if given is not None and given.tag_words and sentence.tags else sentence.words
        forest = _forest(given, latent, words)
        if not forest.has_parse:
            error = no_parse(words, forest.unknown_words if isinstance(forest, Forest) else ())
            if wanted is not None:
                raise error
            click.echo(f"sentence {number}: {error}", err=True)
            continue
        found = forest.constituents() if symbols else forest.shown_constituents()
        if svg is not None:
            write_bytes(draw_posteriors(words, found).encode(), svg)
        rows = [c for c in sorted(found, key=lambda c: (c.start, -c.end)) if c.posterior >= least]
        if wanted is None and form != "json":
            click.echo(f"# sentence {number}")
        _print_constituents(forest, words, rows, form)
    if number < (wanted or 1):
        given_ones = f"has {number_of(number, 'sentence')}" if number else "is empty"
        raise NoParse(f"there is no sentence to parse: the input {given_ones}")


def _print_constituents(forest: Forest | LatentForest, words: Sequence[str], rows: Sequence[Constituent], form: str) -> None:
    """Print the constituents of a sentence with their posteriors; stderr shows its probability, parses and entropy."""
    if form == "json":
        document = {
            "schema": "treegauge.posteriors/2",
            "words": list(words),
            "log_probability": forest.log_partition,
            "parses": None if forest.n_parses == math.inf else forest.n_parses,
            "entropy_nats": plain(forest.entropy()),
            "constituents": [c._asdict() for c in rows],
        }
        click.echo(json.dumps(document, ensure_ascii=False))
        return
    if form == "csv":
        click.echo("start,end,label,posterior")
        for c in rows:
            label = c.label.replace('"', '""')
            click.echo(f'{c.start},{c.end},"{label}",{c.posterior!r}')
        return
    width = max([5, *(len(c.label) for c in rows)])
    click.echo(f"start  end  {'label':{width}}  posterior  words")
    for c in rows:
        click.echo(f"{c.start:5}  {c.end:3}  {c.label:{width}}  {c.posterior:9.4f}  {' '.join(words[c.start : c.end])}")
    entropy = forest.entropy() / math.log(2)
    shown = "" if math.isnan(entropy) else f", entropy {entropy:.2f} bits"
    parses = number_of(forest.n_parses, "parse")
    click.echo(f"log probability {forest.log_partition:.4f}; {parses}{shown}", err=True)


def _forest(given: LoadedGrammar | None, latent: LatentModel | None, words: Sequence[str]) -> Forest | LatentForest:
    """The parses of a sentence; an error if it has too many words, or if there is too little memory for its chart."""
    if latent is not None:
        from treegauge.parsing.latent.latent_forest import LatentForest

        return LatentForest(latent, words)
    assert given is not None
    check_memory(given.grammar.binary, words, None, item_bytes=_ITEM_BYTES)
    return Forest(given.grammar, words)


def _forest_or_none(given: LoadedGrammar | None, latent: LatentModel | None, words: Sequence[str]) -> Forest | LatentForest | None:
    """The parses of a sentence; ``None``, and a line on stderr, if it is too long."""
    try:
        return _forest(given, latent, words)
    except TooLong as error:
        click.echo(f"left out: {error}", err=True)
        return None


def _over_grammar_words(given: LoadedGrammar | None, tree: Tree) -> Tree:
    """The tree over the words of the grammar, which are the tree's tags if it is a grammar over tags."""
    if given is None or not given.tag_words:
        return tree
    return tree.replace(
        children=[child.label if isinstance(child, Tree) and child.is_preterminal else child if isinstance(child, str)
                  else _over_grammar_words(given, child) for child in tree.children]
    )  # fmt: skip


def _print_expected_rates(
    given: LoadedGrammar | None, latent: LatentModel | None, path: str, options: ReadOptions, metrics: Sequence[str],
    preset: str | None, samples: int, seed: int, form: str,
) -> None:  # fmt: skip
    from treegauge.parsing.expected import expected_rates

    rows: list[tuple[Cell, ...]] = []
    columns: tuple[str, ...] = ("tree", "ER_LR", "expected precision", "expected F1", "ER_PC", "ER_CF", *metrics)
    unparsed, by_samples = 0, False
    bank = read(path, options)
    clean = pipeline("traces,functions,root")
    with progress("trees", len(bank)) as advance:
        for number, tree in enumerate(bank, 1):
            shown = clean(tree)
            shown = None if shown is None else _over_grammar_words(given, shown)
            forest = _forest_or_none(given, latent, shown.words) if shown is not None and shown.width else None
            if shown is None or forest is None or not forest.has_parse:
                unparsed += 1
                rows.append((number, *([None] * (len(columns) - 1))))
            else:
                found = expected_rates(forest, shown, metrics=metrics, preset=preset, samples=samples, seed=seed)
                by_samples = by_samples or not found.exact
                rows.append((number, *(value for _, value in found.rows())))
            advance()
    parsed = [row for row in rows if row[1] is not None]
    if len(rows) > 1 and parsed:
        means: list[Any] = [
            math.fsum(float(value) for row in parsed if (value := row[i]) is not None) / len(parsed) for i in range(1, len(columns))
        ]
        rows.append(("mean", *means))
    notes = ["What each tree scores on average if the right parse is drawn from the grammar's own; phrases only."]
    if by_samples or metrics:
        which = ", ".join([*(["ER_PC", "ER_CF"] if by_samples else []), *metrics])
        notes.append(f"{which}: from {number_of(samples, 'sample')} (seed {seed}); the rest is exact.")
    if unparsed:
        notes.append(f"{unparsed:,} of {len(bank):,} trees: the grammar has no parse for the sentence.")
    table = Table("Expected rates", columns, tuple(rows), tuple(notes), columns[1:])
    click.echo(render(table, form))


def _calibration(
    given: LoadedGrammar | None, latent: LatentModel | None, path: str, options: ReadOptions, bins: bool, longest: int | None,
    svg: Path | None, form: str,
) -> None:  # fmt: skip
    from treegauge.parsing.expected import calibrate, draw_calibration
    from treegauge.parsing.objectives import VITERBI, settings_from_notes

    clean = pipeline("traces,functions,root")
    kept = [tree for tree in map(clean, read(path, options)) if tree is not None and 0 < tree.width <= (longest or tree.width)]
    gold = [_over_grammar_words(given, tree) for tree in kept]
    if not gold:
        raise NoParse("there is no tree to compare with")
    setting = VITERBI if given is None else settings_from_notes(given.notes).get("f1", VITERBI)
    with progress("parsing", len(gold)) as advance:
        found = calibrate(
            (_forest_or_none(given, latent, tree.words) for tree in gold), gold,
            choose=lambda forest: forest.argmax(setting.objective, **setting.options).tree, advance=advance,
        )  # fmt: skip
    if svg is not None:
        write_bytes(draw_calibration(found).encode(), svg)
    if form == "json":
        labels = [
            {"label": each.label, "phrases": each.size, "posterior": each.posterior, "right": each.right, "error": each.error,
             "bins": [b._asdict() for b in each.bins]}
            for each in found.labels
        ]  # fmt: skip
        actual = {"matched": found.matched, "gold": found.gold, "test": found.expected.test}
        expected = {"matched": found.expected.matched, "gold": found.expected.gold}
        document = {"schema": "treegauge.calibration/2", "sentences": found.sentences, "unparsed": found.unparsed,
                    "objective": str(setting), "expected": expected, "actual": actual, "labels": labels}  # fmt: skip
        click.echo(json.dumps(plain(document), ensure_ascii=False))
        return
    click.echo(render(found.table(bins=bins), form))
