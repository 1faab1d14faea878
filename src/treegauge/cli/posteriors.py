"""``treegauge posteriors``: how probable each constituent of a sentence is."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from treegauge.cli._grammars import OWN, LoadedGrammar, load_grammar, load_if_latent
from treegauge.cli._group import Command
from treegauge.cli._options import spare_inputs
from treegauge.errors import NoParse
from treegauge.io.sources import ReadOptions
from treegauge.io.writing import write_bytes
from treegauge.parsing.display import draw_posteriors
from treegauge.parsing.forest import Forest
from treegauge.parsing.input import KINDS, Kind, read_sentences

if TYPE_CHECKING:
    from treegauge.grammar.latent.model import LatentModel
    from treegauge.parsing.latent.forest import LatentForest

FORMATS = ("table", "json", "csv")


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  echo "I saw the man with the telescope ." | treegauge posteriors
  echo "I saw the man with the telescope ." | treegauge posteriors --svg chart.svg
  treegauge posteriors train.model sentence.txt --least 0.1 --format csv""",
)
@click.argument("grammar", default=OWN)
@click.argument("file", default="-")
@click.option("--input", "kind", type=click.Choice(KINDS), default="tokens", show_default=True,
              help="Input: tokens separated by blanks, word/TAG pairs, raw text, or trees.")  # fmt: skip
@click.option("--least", type=click.FloatRange(0), default=0.001, show_default=True, help="Leave out smaller posteriors.")
@click.option("--symbols", is_flag=True, help="Show the grammar's own symbols, not the labels of output trees.")
@click.option("--svg", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Draw the chart as a heat map.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True, help="Output format.")
@click.option("--encoding", default="utf-8", show_default=True, metavar="NAME", help="Encoding of the input.")
@click.option("--start", metavar="SYMBOL", help="The start symbol of a text grammar.  [default: its first]")
@click.option("--renormalise", is_flag=True, help="Scale a text grammar's probabilities to sum to 1.")
def command(
    grammar: str, file: str, kind: Kind, least: float, symbols: bool, svg: Path | None, form: str, encoding: str,
    start: str | None, renormalise: bool,
) -> None:  # fmt: skip
    """Print the posterior of every constituent of the first sentence of FILE under GRAMMAR, and draw them."""
    spare_inputs(svg, grammar, file)
    latent = load_if_latent(grammar)
    given = None if latent is not None else load_grammar(grammar, start=start, renormalise=renormalise)
    sentence = next(read_sentences(file, kind, ReadOptions(encoding=encoding)), None)
    if sentence is None:
        raise NoParse("there is no sentence to parse: the input is empty")
    words = sentence.tags if given is not None and given.tag_words and sentence.tags else sentence.words
    forest = _forest(given, latent, words)
    if not forest.has_parse:
        raise NoParse(f"the grammar has no parse for: {' '.join(words)}")
    found = forest.constituents() if symbols else forest.shown_constituents()
    if svg is not None:
        write_bytes(draw_posteriors(words, found).encode(), svg)
    rows = [c for c in sorted(found, key=lambda c: (c.start, -c.end)) if c.posterior >= least]
    if form == "json":
        document = {
            "schema": "treegauge-posteriors-1",
            "words": list(words),
            "log_probability": forest.log_partition,
            "parses": None if forest.n_parses == math.inf else forest.n_parses,
            "entropy_nats": None if math.isnan(forest.entropy()) else forest.entropy(),
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
    click.echo(f"log probability {forest.log_partition:.4f}; {forest.n_parses:,} parses{shown}", err=True)


def _forest(given: LoadedGrammar | None, latent: LatentModel | None, words: Sequence[str]) -> Forest | LatentForest:
    if latent is not None:
        from treegauge.parsing.latent.forest import LatentForest

        return LatentForest(latent, words)
    assert given is not None
    return Forest(given.grammar, words)
