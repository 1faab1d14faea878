"""``treegauge posteriors``: the posteriors of a sentence's constituents, the expected scores of trees, and calibration."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from treegauge.cli._grammars import input_kind, input_sentences, load_models, model_options, models_and_text, raw_option
from treegauge.cli._group import INPUT, Command, SvgFile
from treegauge.cli._options import format_option, progress, refuse_idle
from treegauge.errors import NoParse, TooLong, UsageError
from treegauge.io import read
from treegauge.io.sources import AUTO, ReadOptions
from treegauge.io.writing import write_bytes
from treegauge.normalise.pipelines import label_pipeline
from treegauge.parsing.chart import check_memory
from treegauge.parsing.expected import calibrate, draw_calibration, expected_rates
from treegauge.parsing.forest import Forest, no_parse
from treegauge.parsing.forest_views import draw_posteriors
from treegauge.parsing.input import KINDS, InputKind
from treegauge.parsing.mixture import MixtureParser
from treegauge.parsing.objectives import DecodingSetting
from treegauge.parsing.parser import Parser, Sentence, SentenceParser, with_words
from treegauge.parsing.posterior_view import Constituent, PosteriorView
from treegauge.tables import Cell, Table, number_of, plain, render, whole_number
from treegauge.trees.tree import Child, Tree, rebuild

_ITEM_BYTES = 1000
"""The memory that a constituent takes until it is printed."""


@click.command(cls=Command, seldom=("preset", "samples", "seed", "bins", "longest", "style", "start", "renormalise", "device"))
@click.argument("files", nargs=-1, type=INPUT, metavar="[MODEL]... [FILE]")
@click.option(
    "--shares", metavar="N,N,...", help="Several models: the share of each in the mean of their posteriors.  [default: equal]"
)
@click.option("--input", "kind", type=click.Choice(KINDS), default="tokens", show_default=True,
              help="Input: tokens separated by blanks, word/TAG pairs, raw text, or trees.")  # fmt: skip
@raw_option
@click.option("--sentence", "chosen", metavar="N|all", help="Which sentence of FILE.  [default: 1]")
@click.option("--least", type=click.FloatRange(0, 1), default=0.001, show_default=True, help="Leave out smaller posteriors.")
@click.option("--symbols", is_flag=True, help="Show the grammar's own symbols, not the labels of output trees.")
@click.option("--tree", "trees", type=INPUT, metavar="TREES",
              help="Print the expected rates of each tree in this file: ER_LR, ER_PC, ER_CF.")  # fmt: skip
@click.option("-m", "--metric", "metrics", multiple=True, metavar="METRIC[.RATE]",
              help="--tree: also the expected rate of a metric, from samples; may be repeated.")  # fmt: skip
@click.option(
    "-p", "--preset", type=INPUT, metavar="NAME|FILE", help="--tree: preset of the metrics.  [default: that of the metric]"
)
@click.option("--samples", type=click.IntRange(1), default=200, show_default=True, metavar="N", help="--tree: number of samples.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, metavar="N", help="--tree: seed of the samples.")
@click.option("--calibration", type=INPUT, metavar="GOLD",
              help="Compare posteriors with how often constituents are right in these trees, label by label.")  # fmt: skip
@click.option("--bins", is_flag=True, help="--calibration: a row for each label and range of posteriors (0 to .1 ...).")
@click.option("--longest", type=click.IntRange(1), metavar="N", help="--calibration: leave out sentences of more than N words.")
@click.option("--svg", type=SvgFile(dir_okay=False, path_type=Path), metavar="FILE",
              help="Draw the chart as a heat map; --calibration: the reliability curve.")  # fmt: skip
@format_option(("table", "json", "csv"))
@click.option("--encoding", default=AUTO, metavar="NAME", help="Encoding of the input.  [default: UTF-8]")
@model_options
def command(
    files: tuple[str, ...], shares: str | None, kind: InputKind, raw: bool, chosen: str | None, least: float, symbols: bool,
    trees: str | None, metrics: tuple[str, ...], preset: str | None, samples: int, seed: int, calibration: str | None, bins: bool,
    longest: int | None, svg: Path | None, form: str, encoding: str, style: str, start: str | None, renormalise: bool, device: str,
) -> None:  # fmt: skip
    """Print the posterior of every constituent of a sentence of FILE, the first by default, and draw them.

    MODEL is a model of any kind or a grammar as text (default: own, a small grammar that comes with treegauge); the
    posteriors of several models are averaged. Only grammars give the number of parses and the probability of the sentence; a
    mixture has no whole trees, and thus no entropy, ER_PC, ER_CF or expected rates of metrics.

    With --tree, print instead the expected score of each given tree if the right parse is drawn from the model; with
    --calibration, how often constituents of each posterior are right.

    \b
    Examples:
      echo "I saw the man with the telescope ." | treegauge posteriors
      echo "I saw the man with the telescope ." | treegauge posteriors --svg chart.svg
      treegauge posteriors train.model sentence.txt --least 0.1 --format csv
      treegauge posteriors train.model sentences.txt --sentence all --format json
      treegauge posteriors grammars.model network.model sentences.txt --sentence 3
      treegauge posteriors train.model --tree parses.mrg -m parseval.f1 -m freval
      treegauge posteriors train.model --calibration dev.mrg --svg reliability.svg
    """
    if trees is None:
        refuse_idle(("metrics", "preset", "samples", "seed"), "belongs to --tree: add it")
    if calibration is None:
        refuse_idle(("bins", "longest"), "belongs to --calibration: add it")
    names, file = models_and_text(files)
    parser = load_models(names, shares, start=start, renormalise=renormalise, device=device).for_f1
    options = ReadOptions(encoding=encoding, treebank=style)
    if trees is not None or calibration is not None:
        if trees is not None and calibration is not None:
            raise UsageError("--tree and --calibration cannot be combined: choose one")
        if file != "-":
            raise UsageError("the sentences are those of the trees: leave out FILE")
        if isinstance(parser, Parser) and parser.joined:
            raise UsageError("this grammar joins chains of labels into single symbols, so it has no posteriors of single labels")
        if trees is None:
            _calibration(parser, str(calibration), options, bins, longest, svg, form)
            return
        if svg is not None:
            raise UsageError("--svg draws one chart, or the curve of --calibration: leave it out with --tree")
        _print_expected_rates(parser, trees, options, metrics, preset, samples, seed, form)
        return
    wanted = whole_number(chosen or "1")
    if chosen != "all" and not wanted:
        raise UsageError(f"--sentence is a number from 1, or all, not {chosen!r}")
    if wanted is None and svg is not None:
        raise UsageError("--svg draws one chart: give the number of its sentence, not all")
    number = 0
    sentences = input_sentences(file, input_kind(kind, raw), options, parser)
    for number, sentence in enumerate(itertools.islice(sentences, wanted), 1):
        if wanted not in (None, number):
            continue
        try:
            _print_sentence(parser, sentence, least, symbols, svg, form, None if wanted else number)
        except (NoParse, TooLong) as error:
            if wanted is not None:
                raise
            click.echo(f"sentence {number}: {error}", err=True)
    if chosen is None and file != "-" and next(sentences, None) is not None:
        click.echo("this is the first sentence; --sentence 2 shows the second one, --sentence all shows all", err=True)
    if number < (wanted or 1):
        raise NoParse(f"there is no sentence {wanted or 1}: the input {f'has {number:,}' if number else 'is empty'}")


def _print_sentence(
    parser: SentenceParser, sentence: Sentence, least: float, symbols: bool, svg: Path | None, form: str, number: int | None
) -> None:
    """Print the posteriors of one sentence, below its number if there are several, and draw them."""
    view = _view(parser, sentence)
    if symbols and "grammar" not in view.gives:
        raise UsageError("--symbols shows the symbols of a grammar, and a network or a mixture has none: leave it out")
    words = view.words if parser.reads_tags else sentence.words
    found: list[Constituent] = getattr(view, "constituents")() if symbols else view.shown_constituents()  # noqa: B009
    if svg is not None:
        write_bytes(draw_posteriors(words, found).encode(), svg)
        click.echo(f"wrote {svg}", err=True)
    rows = [c for c in sorted(found, key=lambda c: (c.start, -c.end)) if c.posterior >= least]
    if number is not None and form != "json":
        click.echo(f"# sentence {number}")
    _print_constituents(view, words, rows, form, "" if number is None else f"sentence {number}: ")


def _print_constituents(view: PosteriorView, words: Sequence[str], rows: Sequence[Constituent], form: str, which: str) -> None:
    """Print the constituents of a sentence with their posteriors; stderr shows its probability, parses and entropy, if these are
    known, after ``which`` sentence it is."""
    parses: Any = getattr(view, "n_parses", None)
    log_probability = view.log_partition if "grammar" in view.gives else None
    if form == "json":
        document = {
            "schema": "treegauge.posteriors/3",
            "words": list(words),
            "sentence_log_probability": log_probability,
            "parses": None if parses == math.inf else parses,
            "entropy_nats": plain(view.entropy()) if "trees" in view.gives else None,
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
    said = [] if log_probability is None else [f"log probability of the words {log_probability:.4f}; {number_of(parses, 'parse')}"]
    entropy = view.entropy() if "trees" in view.gives else math.nan
    if said := [*said, *([] if math.isnan(entropy) else [f"entropy {entropy / math.log(2):.2f} bits ({entropy:.4f} nats)"])]:
        click.echo(which + ", ".join(said), err=True)


def _view(parser: SentenceParser, sentence: Sentence) -> PosteriorView:
    """The posteriors of a sentence; an error if it has no parse or too many words, or if there is too little memory."""
    if not sentence.words:
        raise no_parse(())
    if isinstance(parser, Parser):
        words = sentence.tags if parser.tag_words and sentence.tags else sentence.words
        check_memory(parser.grammar.binary, words, None, item_bytes=_ITEM_BYTES)
    view = parser.view(sentence)
    if not view.has_parse:
        raise no_parse(view.words, view.unknown_words if isinstance(view, Forest) else ())
    return view


def _view_or_none(parser: SentenceParser, tree: Tree) -> PosteriorView | None:
    """The posteriors of a tree's words; None if there is no parse, and with a line on stderr if there are too many words."""
    try:
        return _view(parser, Sentence(tree.words, tree.tags))
    except NoParse:
        return None
    except TooLong as error:
        click.echo(f"left out: {error}", err=True)
        return None


def _as_read(parser: SentenceParser, tree: Tree) -> Tree:
    """The tree over the words that the model reads, which are the tree's tags if it is a grammar over tags."""

    def make(node: Tree, children: list[Child]) -> list[Child]:
        return [node.label] if node.is_preterminal else [node.replace(children=children)]

    return (rebuild(tree, make) if parser.reads_tags and not tree.is_preterminal else None) or tree


def _print_expected_rates(
    parser: SentenceParser, path: str, options: ReadOptions, metrics: Sequence[str], preset: str | None, samples: int, seed: int,
    form: str,
) -> None:  # fmt: skip

    is_mixture = isinstance(parser, MixtureParser)
    if is_mixture and metrics:
        raise UsageError("--metric needs samples of whole trees, which a mixture does not have: give one model")
    rows: list[tuple[Cell, ...]] = []
    columns: tuple[str, ...] = ("tree", "ER_LR", "expected precision", "expected F1", "ER_PC", "ER_CF", *metrics)
    unparsed, by_samples = 0, False
    bank = read(path, options)
    clean = label_pipeline("traces,functions,root", options.treebank)
    with progress("trees", len(bank)) as advance:
        for number, tree in enumerate(bank, 1):
            shown = clean(tree)
            view = None if shown is None else _view_or_none(parser, shown)
            if shown is None or view is None:
                unparsed += 1
                rows.append((number, *([None] * (len(columns) - 1))))
            else:
                own = with_words(_as_read(parser, shown), view.words)
                found = expected_rates(view, own, metrics=metrics, preset=preset, samples=samples, seed=seed)
                by_samples = by_samples or (not found.exact and found.samples > 0)
                rows.append((number, *(value for _, value in found.rows())))
            advance()
    parsed = [row for row in rows if row[1] is not None]
    if len(rows) > 1 and parsed:
        means: list[Any] = [
            math.fsum(float(value) for row in parsed if (value := row[i]) is not None) / len(parsed) for i in range(1, len(columns))
        ]
        rows.append(("mean", *means))
    notes = ["What each tree scores on average if the right parse is drawn from the model; phrases only."]
    if is_mixture:
        notes.append("ER_PC and ER_CF need whole trees, which a mixture does not have.")
    if by_samples or metrics:
        which = ", ".join([*(["ER_PC", "ER_CF"] if by_samples else []), *metrics])
        notes.append(f"{which}: from {number_of(samples, 'sample')} (seed {seed}); the rest is exact.")
    if unparsed:
        notes.append(f"{unparsed:,} of {len(bank):,} trees: the model has no parse for the sentence.")
    table = Table("Expected rates", columns, tuple(rows), tuple(notes), columns[1:])
    click.echo(render(table, form))


def _calibration(
    parser: SentenceParser, path: str, options: ReadOptions, bins: bool, longest: int | None, svg: Path | None, form: str
) -> None:

    clean = label_pipeline("traces,functions,root", options.treebank)
    kept = [tree for tree in map(clean, read(path, options)) if tree is not None and 0 < tree.width <= (longest or tree.width)]
    if not kept:
        raise NoParse("there is no tree to compare with")
    with progress("parsing", len(kept)) as advance:
        found = calibrate(
            (_view_or_none(parser, tree) for tree in kept), [_as_read(parser, tree) for tree in kept],
            choose=lambda view: view.argmax(parser.objective, **parser.options).tree, advance=advance,
        )  # fmt: skip
    if svg is not None:
        write_bytes(draw_calibration(found).encode(), svg)
        click.echo(f"wrote {svg}", err=True)
    if form == "json":
        labels = [
            {"label": each.label, "phrases": each.size, "posterior": each.posterior, "right": each.right, "error": each.error,
             "bins": [b._asdict() for b in each.bins]}
            for each in found.labels
        ]  # fmt: skip
        actual = {"matched": found.matched, "gold": found.gold, "test": found.expected.test}
        expected = {"matched": found.expected.matched, "gold": found.expected.gold}
        objective = str(DecodingSetting(parser.objective, parser.options.get("lam")))
        document = {"schema": "treegauge.calibration/2", "sentences": found.sentences, "unparsed": found.unparsed,
                    "objective": objective, "expected": expected, "actual": actual, "labels": labels}  # fmt: skip
        click.echo(json.dumps(plain(document), ensure_ascii=False))
        return
    click.echo(render(found.table(bins=bins), form))
