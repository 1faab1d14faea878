"""``treegauge mix``: a mixture of models, with shares and lam chosen on held-out trees, as a model file."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import click

from treegauge.cli._grammars import shares_of
from treegauge.cli._group import INPUT, Command
from treegauge.cli._options import device_option, output_option, reading_options, status_line
from treegauge.compilation import report_compiling, when_compiling
from treegauge.errors import MismatchError, UsageError
from treegauge.io import ReadOptions, read
from treegauge.io.writing import check_writable
from treegauge.models.loading import LoadedModel, is_model, load_parser
from treegauge.models.mixtures import mix_models, save_mixture
from treegauge.parsing.mixture import LAM, MixtureParser
from treegauge.tables import number_of
from treegauge.trees import Tree

_HEADING, _FEW = 2, 0.05
"""The most words of a heading, and the share of the tuning trees that may be headings in the training trees, too."""


@click.command(cls=Command)
@click.argument("models", nargs=-1, required=True, type=INPUT, metavar="MODEL...")
@output_option("Output file of the mixture.", default=None)
@click.option("--tune", type=INPUT, metavar="TREES",
              help="Choose shares and lam by F1 on these trees, on which no model was trained.")  # fmt: skip
@click.option("--hold-out", type=click.FloatRange(0, 1, max_open=True), default=0.0, metavar="SHARE",
              help="Tune on the trees that train --hold-out SHARE leaves out of TREES.")  # fmt: skip
@click.option("--drop-overlap", is_flag=True, help="Tune without the sentences that a model was trained on, if there are any.")
@click.option("--shares", metavar="N,N,...", help="The shares of the models.  [default: chosen by --tune, else equal]")
@click.option("--lam", type=click.FloatRange(0, 1), metavar="NUMBER",
              help=f"Minimum posterior for keeping a node.  [default: chosen by --tune, else {LAM:g}]")  # fmt: skip
@click.option("--bundle", is_flag=True, help="Write the models into the file, so that it needs no other file.")
@device_option("Networks: where to compute posteriors")
@click.option("-q", "--quiet", is_flag=True, help="Print no line for each choice of shares.")
@reading_options
def command(
    models: tuple[str, ...], output: str | None, tune: str | None, hold_out: float, drop_overlap: bool, shares: str | None,
    lam: float | None, bundle: bool, device: str, quiet: bool, options: ReadOptions,
) -> None:  # fmt: skip
    """Mix MODELs of any kind: the mean of their posteriors, each with its share, decoded for the metric you report.

    The file lists its models (by paths relative to its folder) and their hashes. Parse with: treegauge parse OUTPUT.

    \b
    Examples:
      treegauge train train.mrg -o grammars.model --hold-out 0.03
      treegauge train train.mrg -o network.model --neural --hold-out 0.03
      treegauge mix grammars.model network.model --tune train.mrg --hold-out 0.03 -o mix.model
      treegauge mix grammars.model network.model --tune dev.mrg -o mix.model --bundle
      treegauge mix grammars.model network.model --shares 1,2 --lam 0.4 -o mix.model
      treegauge parse mix.model sentences.txt -o out.mrg
    """
    if output in (None, "-"):
        raise UsageError("name the file of the mixture: -o mix.model")
    check_writable(output)
    if wrong := [name for name in models if not is_model(name)]:
        raise UsageError(f"{wrong[0]} is not a model that treegauge has written")
    if len(models) < 2:
        raise UsageError("a mixture needs two models or more")
    if tune is not None and (shares is not None or lam is not None):
        raise UsageError("--tune chooses shares and lam: leave out --shares and --lam")
    if tune is None and (hold_out or drop_overlap):
        raise UsageError("--hold-out and --drop-overlap choose from the trees of --tune: add it")
    loaded = [load_parser(name, device=device) for name in models]
    parser = mix_models(loaded, None if shares is None else shares_of(shares), lam).parser
    assert isinstance(parser, MixtureParser)
    chosen, best, notes = parser.shares, parser.lam, dict[str, object]()
    if tune is None and shares is None:
        click.echo("equal shares suit models that are about equally good; --tune TREES chooses shares by F1", err=True)
    if tune is not None:
        trees = _tuning_trees(tune, options, hold_out, loaded, drop=drop_overlap)
        chosen, best, notes = _tuned(parser, loaded, trees, options.treebank, quiet=quiet)
    save_mixture(output, models, chosen, best, notes=notes, bundle=bundle)
    said = ", ".join(f"{name} {share:g}" for name, share in zip(models, chosen, strict=True))
    click.echo(f"shares: {said}; lam {best:g}: {output}", err=True)


def _tuning_trees(path: str, options: ReadOptions, share: float, models: Sequence[LoadedModel], *, drop: bool) -> list[Tree]:
    """The trees to tune on; an error if a model was trained on some of them, unless these are to be dropped."""
    from treegauge.grammar.training_sentences import hold_out_by_words, seen_sentences

    trees = list(read(path, options.of_categories))
    if share:
        trees = hold_out_by_words(trees, share)[1]
    for model in models:
        if not len(model.sentences):
            click.echo(f"{model.name} does not say what it was trained on: make sure that it was not these trees", err=True)
            continue
        seen = seen_sentences(trees, model.sentences)
        longest = max(seen.values(), key=len, default=())
        # A few headings, such as Introduction, are the same in many texts, and no sign that these trees were trained on.
        if not drop and (len(longest) > _HEADING or len(seen) > _FEW * len(trees)):
            first = " ".join(longest[:12])
            raise MismatchError(
                f"{model.name} was trained on {len(seen):,} of these {number_of(len(trees), 'sentence')}, such as: {first}\n"
                "  Tune on other trees: those that train left out (--hold-out with the same share), or all but these sentences "
                "(--drop-overlap)."
            )
        trees = [tree for number, tree in enumerate(trees) if number not in seen]
        if seen:
            click.echo(f"{number_of(len(seen), 'sentence')} dropped: {model.name} was trained on them", err=True)
    return trees


def _tuned(
    parser: MixtureParser, models: Sequence[LoadedModel], trees: Sequence[Tree], style: str, *, quiet: bool
) -> tuple[tuple[float, ...], float, dict[str, object]]:
    """The shares, lam, and as notes the settings for each purpose with their rates, and the calibration of expected F1."""
    from treegauge.grammar.training_sentences import without_traces
    from treegauge.parsing.mixture_tuning import tune_mixture
    from treegauge.parsing.tuned_decoding import settings_to_notes

    began = time.monotonic()
    with when_compiling(report_compiling), status_line(quiet=quiet) as show:
        found = tune_mixture(parser, trees, treebank=style, show=show)
    size, seconds = found.settings.sentences, time.monotonic() - began
    click.echo(f"tuned on {number_of(size, 'sentence')} in {seconds:.0f} s: F1 {100 * found.f1:.2f}; lam {found.lam:g}", err=True)
    for model, f1 in zip(models, found.alone, strict=True):
        click.echo(f"  {model.name} alone: {100 * f1:.2f}", err=True)
    for name, setting in found.settings.best.items():
        click.echo(f"best for {name}: --objective {setting}", err=True)
    tuned = replace(parser, shares=found.shares, lam=found.lam)
    calibration = tuned.fit_calibration(without_traces(trees))
    notes: dict[str, object] = {"settings": settings_to_notes(found.settings), "f1": found.f1, "calibration": calibration}
    return found.shares, found.lam, notes
