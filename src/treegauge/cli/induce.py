"""``treegauge induce``: a grammar counted from a treebank."""

from __future__ import annotations

from typing import Any

import click

from treegauge.cli._group import INPUT, Command
from treegauge.cli._options import broken_trees_options, engine_option, hold_out_option, output_option, progress, reading_options
from treegauge.compilation import report_compiling, when_compiling
from treegauge.engines import Engine
from treegauge.errors import UsageError
from treegauge.grammar.dop_reduction import ESTIMATORS
from treegauge.grammar.model import save_model
from treegauge.grammar.pcfg import PCFG
from treegauge.grammar.training_sentences import hold_out_by_words
from treegauge.grammar.tree_counts import KEEP_EVERY, LEXICONS, Recipe, TreeCounts, count_treebank, statistics
from treegauge.grammar.treebank_grammar import COLLINS_BELOW, COUNTS, DEFAULT_STEPS, train_counted
from treegauge.io import ReadOptions, read
from treegauge.io.broken import BrokenTrees
from treegauge.tables import number_of
from treegauge.trees import Treebank


@click.command(cls=Command)
@click.argument("treebank", type=INPUT)
@output_option("Output file; - prints the grammar as text.")
@click.option("--steps", default=DEFAULT_STEPS, show_default=True, metavar="STEPS",
              help="Normalising steps before counting (treegauge normalise --list); \"\" for none.")  # fmt: skip
@click.option("--tags", is_flag=True, help="Induce a grammar over tags: preterminals are read as words.")
@click.option(
    "--dop", type=click.Choice(ESTIMATORS), help="Data-oriented parsing: all subtrees as rules; parse with labelled-recall."
)
@click.option("--lexicon", type=click.Choice(LEXICONS), default="signatures", show_default=True,
              help="Treatment of rare and unknown words: by spelling, as one unknown word, or none.")  # fmt: skip
@click.option("--unknown-below", type=click.IntRange(1), default=COLLINS_BELOW, show_default=True, metavar="N",
              help="--lexicon collins: words seen fewer than N times become the unknown word.")  # fmt: skip
@click.option("--smooth-rules", type=click.FloatRange(0), default=0.0, metavar="NUMBER",
              help="Smooth rules towards those of symbols with another parent; NUMBER is their weight.")  # fmt: skip
@click.option("--tune", type=INPUT, metavar="FILE", help="Trees to choose decoding settings on.  [default: a tenth of TREEBANK]")
@click.option("--no-tune", is_flag=True, help="Store no decoding settings; parse then uses Viterbi.")
@hold_out_option
@click.option(
    "--format", "form", type=click.Choice(["model", "text", "nltk"]), help="Output format.  [default: model for files, text for -]"
)
@reading_options
@broken_trees_options(drop=False)
@engine_option
def command(
    treebank: str, output: str, steps: str, tags: bool, dop: str | None, lexicon: str, unknown_below: int, smooth_rules: float,
    tune: str | None, no_tune: bool, hold_out: float, form: str | None, options: ReadOptions, broken: BrokenTrees, engine: Engine,
) -> None:  # fmt: skip
    """Induce a PCFG from TREEBANK: relative frequencies after normalising steps. Its size is printed on stderr.

    \b
    Examples:
      treegauge induce train.mrg -o train.model
      treegauge induce train.mrg --steps traces,functions,root,goodman --tags -o tags.model
      treegauge induce train.mrg --steps traces,root,mh --lexicon collins -o mh.model
      treegauge induce train.mrg --steps traces,functions,root,goodman --tags --dop corrected -o dop.model
      treegauge induce train.mrg --format nltk -o grammar.txt
    """
    form = form or ("text" if output == "-" else "model")
    if form == "model" and output == "-":
        raise click.UsageError("name the model file: -o grammar.model, or give --format text")
    if tune is not None and no_tune:
        raise UsageError("--tune and --no-tune contradict each other: leave out one")
    apart = KEEP_EVERY if form == "model" and not no_tune and tune is None else 0
    recipe = Recipe(
        steps, tags, dop or COUNTS, lexicon, unknown_below, rule_weight=smooth_rules, keep_every=apart, treebank=options.treebank
    )

    def pass_on(bank: Treebank) -> Treebank:
        bank = broken.pass_on(bank)
        return Treebank.from_trees(hold_out_by_words(list(bank), hold_out)[0]) if hold_out else bank

    counted = count_treebank(treebank, options, recipe, engine, pass_on=pass_on)
    grammar, notes = train_counted(counted.counts, recipe)
    if form == "model":
        if not no_tune:
            notes = {**notes, **_settings(tune, grammar, counted.counts, recipe, options)}
        save_model(grammar, output, trained_on=counted.sha256, notes=notes, sentences=counted.sentences)
    else:
        from treegauge.cli._grammars import write_grammar

        write_grammar(grammar, form, output)
    left_out = sum(notes["left_out"].values())
    click.echo(f"{number_of(notes['trees'], 'tree')} counted, {left_out:,} left out; steps: {notes['steps'] or 'none'}", err=True)
    click.echo(str(statistics(grammar)), err=True)


def _settings(tune: str | None, grammar: PCFG, counted: TreeCounts, recipe: Recipe, options: ReadOptions) -> dict[str, Any]:
    """Decoding settings and the calibration of expected F1, chosen on the trees of ``tune`` or on a tenth of the treebank under a
    grammar of the rest."""
    from treegauge.parsing.tuned_decoding import settings_of_counts, settings_on_trees, settings_to_notes

    with when_compiling(report_compiling), progress("tuning", None) as advance:
        if tune is not None:
            chosen = settings_on_trees(grammar, read(tune, options.of_gold), recipe, advance=advance)
        else:
            chosen = settings_of_counts(counted, recipe, advance=advance)
    if chosen is None:
        return {}
    for name, setting in chosen.best.items():
        click.echo(f"best for {name} on {number_of(chosen.sentences, 'sentence')}: --objective {setting}", err=True)
    return {"settings": settings_to_notes(chosen), "calibration": chosen.calibration}
