"""``treegauge learn``: a grammar from bracketed sentences, by inside-outside re-estimation."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import click

from treegauge.cli._grammars import load_grammar, write_grammar
from treegauge.cli._group import INPUT, OUTPUT, Command
from treegauge.cli._options import engine_option, output_option, progress, reading_options, remark, status_line
from treegauge.compilation import report_compiling, when_compiling
from treegauge.engines import Engine
from treegauge.errors import UsageError
from treegauge.grammar.model import save_model
from treegauge.grammar.pcfg import PCFG
from treegauge.grammar.tree_counts import statistics
from treegauge.io import ReadOptions, read
from treegauge.learning import TERMINALS, BracketedSentences, Iteration, LearningResult, LearningSettings, learn, read_brackets
from treegauge.learning.sentences import text_of_files, trees_to_learn_from
from treegauge.normalise import PUNCTUATION, TRACE_TAGS
from treegauge.normalise.pipelines import label_pipeline
from treegauge.presets import load_preset
from treegauge.tables import number_of, plain


@click.command(cls=Command, seldom=("tolerance", "threshold", "checkpoint", "device"))
@click.argument("brackets", type=INPUT)
@output_option("Output file; - prints the grammar as text.")
@click.option(
    "--format", "form", type=click.Choice(["model", "text", "nltk"]), help="Output format.  [default: model for files, text for -]"
)
@click.option("--input", "kind", type=click.Choice(["trees", "brackets"]), default="trees", show_default=True,
              help="A treebank (labels are ignored), or one sentence per line with bare brackets or none: ((a b) c).")  # fmt: skip
@click.option("--terminals", type=click.Choice(TERMINALS), default="tags", show_default=True,
              help="Terminals of a treebank: learn over its tags or its words.")  # fmt: skip
@click.option("--max-length", type=click.IntRange(1), metavar="N", help="Leave out longer sentences.")
@click.option("--no-punctuation", is_flag=True, help="Leave out tokens with the Penn Treebank's punctuation tags.")
@click.option("--ignore-brackets", is_flag=True, help="Plain inside-outside re-estimation, from the sentences alone.")
@click.option("--nonterminals", type=click.IntRange(1), default=15, show_default=True, metavar="N",
              help="Number of symbols of a random start, with all rules A -> B C and A -> word over them.")  # fmt: skip
@click.option("--start", type=INPUT, metavar="GRAMMAR", help="Start from this grammar (model or text) instead of a random one.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, metavar="N", help="Seed of the random starts.")
@click.option("--restarts", type=click.IntRange(1), default=1, show_default=True, metavar="N",
              help="Learn from N random starts and keep the grammar with the lowest cross entropy.")  # fmt: skip
@click.option("--iterations", type=click.IntRange(0), default=100, show_default=True, metavar="N",
              help="Maximum iterations per start.")  # fmt: skip
@click.option("--tolerance", type=click.FloatRange(0), default=1e-4, show_default=True, metavar="BITS",
              help="Stop when a step lowers the cross entropy by less than this (bits per word); 0 never stops early.")  # fmt: skip
@click.option("--threshold", type=click.FloatRange(0, 1), default=0.0, show_default=True, metavar="P",
              help="Write only rules at least this probable, and scale them to sum to 1.")  # fmt: skip
@click.option("--tune", type=INPUT, metavar="TREES",
              help="Choose decoding settings by unlabelled F1 on these trees, and store them in the model.")  # fmt: skip
@click.option("--checkpoint", type=OUTPUT, metavar="FILE", help="Checkpoint, written every step.  [default: OUTPUT.checkpoint]")
@click.option("--resume", is_flag=True, help="Continue from the checkpoint; the result is the same as without interruption.")
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="Threads. Does not change the result.  [default: all processors]")
@click.option("--device", metavar="NAME",
              help="Count with torch on this device (cuda); results differ by rounding.  [default: compiled kernels]")  # fmt: skip
@click.option("-q", "--quiet", is_flag=True, help="Print no line for each step.")
@reading_options
@engine_option
def command(
    brackets: str, output: str, form: str | None, start: str | None, threshold: float, tune: str | None, checkpoint: str | None,
    resume: bool, quiet: bool, nonterminals: int, seed: int, iterations: int, tolerance: float, restarts: int, jobs: int | None,
    device: str | None, engine: Engine, **reading: Any,
) -> None:  # fmt: skip
    """Learn a grammar from bracketed sentences (Pereira & Schabes 1992).

    No constituent of a parse may cross a bracket of BRACKETS; sentences may be bracketed fully, in part or not at all. After each
    step stderr shows the cross entropy in bits per word. A sentence without a compatible parse is left out and counted.

    \b
    Examples:
      treegauge learn train.mrg -o learned.model --nonterminals 15 --max-length 15
      treegauge learn train.mrg -o learned.model --restarts 5 --seed 3 --iterations 200
      treegauge learn train.mrg -o learned.model --restarts 5 --seed 3 --iterations 200 --resume
      treegauge learn train.mrg -o learned.model --max-length 15 --tune held-out.mrg
      treegauge learn sentences.txt --input brackets --ignore-brackets --nonterminals 4 > grammar.txt
      treegauge learn sentences.txt --input brackets --start grammar.txt -o better.txt --format text
    """
    form = form or ("text" if output == "-" else "model")
    if form == "model" and output == "-":
        raise UsageError("name the model file: -o grammar.model, or give --format text")
    if tune is not None and form != "model":
        raise UsageError("--tune stores settings in a model: leave it out, or write a model")
    settings = LearningSettings(nonterminals, seed, iterations, tolerance, restarts, jobs, device)
    reading["options"] = reading["options"].of_categories
    sentences = _sentences(brackets, **reading)
    sizes = (len(sentences), "sentence"), (sentences.n_tokens, "token"), (len(sentences.start), "bracket")
    click.echo(", ".join(number_of(size, noun) for size, noun in sizes), err=True)
    if checkpoint is None and output != "-":
        checkpoint = f"{output}.checkpoint"
    given = None if start is None else load_grammar(start).grammar

    with when_compiling(report_compiling), status_line(quiet=quiet) as show:
        learned = learn(
            sentences, settings, start=given, checkpoint=checkpoint, resume=resume, engine=engine,
            on_iteration=lambda at: show(_describe_step(at, restarts)),
        )  # fmt: skip
    terminals = reading["terminals"] if reading["kind"] == "trees" else "words"
    tuned = None if tune is None else _tune(learned.grammar(threshold=threshold), tune, terminals == "tags", **reading)
    _write(learned, output, form, threshold, sentences, terminals, settings, tuned)


def _tune(grammar: PCFG, path: str, tag_words: bool, *, no_punctuation: bool, options: ReadOptions, **_: Any) -> dict[str, Any]:
    """The settings with the best unlabelled rates on some trees, as the model stores them."""
    from treegauge.parsing.tuned_decoding import UNLABELLED, choose_settings, settings_to_notes, tuning_sentences

    clean = label_pipeline("traces,functions,root" + (",punctuation" if no_punctuation else ""), options.treebank)
    gold = tuning_sentences(tree for tree in map(clean, read(path, options)) if tree is not None)
    preset = replace(load_preset("default"), name="unlabelled", labelled=False)
    with progress("tuning", len(gold)) as advance:
        chosen = choose_settings(grammar, gold, settings=UNLABELLED, preset=preset, tag_words=tag_words, advance=advance)
    for name, setting in chosen.best.items():
        click.echo(f"best for unlabelled {name} on {number_of(chosen.sentences, 'sentence')}: --objective {setting}", err=True)
    return {"settings": {**settings_to_notes(chosen), "unlabelled": True}}


def _sentences(
    path: str, *, kind: str, terminals: str, max_length: int | None, no_punctuation: bool, ignore_brackets: bool,
    options: ReadOptions,
) -> BracketedSentences:  # fmt: skip
    if kind == "trees":
        drop = TRACE_TAGS | (PUNCTUATION["ptb"] if no_punctuation else frozenset[str]())
        bank = trees_to_learn_from(path, options)
        sentences = BracketedSentences.from_treebank(bank, terminals=terminals, longest=max_length, drop=drop)
    else:
        sentences = read_brackets(text := text_of_files(path, options), path=path)
        if re.search(r"\((?:S|NP|TOP|ROOT)[\s-]", text):
            remark(f"{path} has labels, which become words: for trees, leave out --input brackets")
        if max_length is not None:
            sentences = sentences.take((sentences.lengths <= max_length).nonzero()[0])
    return sentences.without_brackets() if ignore_brackets else sentences


def _describe_step(at: Iteration, restarts: int) -> str:
    which = f"start {at.start + 1} of {restarts}, " if restarts > 1 else ""
    without = f", {number_of(at.skipped, 'sentence')} without a parse" if at.skipped else ""
    return f"{which}step {at.step}: {at.cross_entropy:.6f} bits per word{without}"


def _write(
    learned: LearningResult, output: str, form: str, threshold: float, sentences: BracketedSentences, terminals: str,
    settings: LearningSettings, tuned: Mapping[str, Any] | None,
) -> None:  # fmt: skip
    grammar = learned.grammar(threshold=threshold)
    if form == "model":
        notes = {
            "terminals": terminals,
            "method": "inside-outside re-estimation from brackets (Pereira & Schabes 1992)",
            "seed": settings.seed,
            "cross_entropy": [plain(list(history)) for history in learned.histories],
            "best_start": learned.best,
            "skipped": learned.skipped,
            "threshold": threshold,
            **(tuned or {}),
        }
        save_model(grammar, output, trained_on=sentences.sha256(), notes=notes)
    else:
        write_grammar(grammar, form, output)
    if learned.cross_entropy == math.inf:
        click.echo(
            "no sentence has a parse that fits its brackets: the grammar stays as it was. Start from a grammar that knows these\n"
            "  words (or from a random one), and check that no two brackets cross.",
            err=True,
        )
    which = f"start {learned.best + 1} of {len(learned.histories)}, " if len(learned.histories) > 1 else ""
    taken = len(learned.histories[learned.best]) - 1
    click.echo(f"{which}{taken} steps: {learned.cross_entropy:.6f} bits per word; {learned.skipped:,} skipped", err=True)
    click.echo(str(statistics(grammar)), err=True)
