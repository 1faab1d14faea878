"""``treegauge train``: a parser from a treebank, by latent-variable grammars or a network."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import click

from treegauge.cli._group import INPUT, Command, OutputFile, SvgFile
from treegauge.cli._options import (
    broken_trees_options,
    device_option,
    format_option,
    hold_out_option,
    jobs_option,
    number_of_jobs,
    output_option,
    reading_options,
    refuse_idle,
    status_line,
)
from treegauge.engines import IN_PROCESS
from treegauge.errors import UsageError
from treegauge.grammar.training_sentences import STEPS, hold_out_by_words
from treegauge.io import ReadOptions, read
from treegauge.io.broken import BrokenTrees
from treegauge.io.writing import check_writable, write_bytes, write_chunks
from treegauge.normalise.pipelines import label_pipeline
from treegauge.tables import number_of
from treegauge.trees import Tree, Treebank

if TYPE_CHECKING:
    from treegauge.learning.latent.latent_training import IterationReport, Trial


@click.command(cls=Command, seldom=("checkpoint",))
@click.argument("treebank", type=INPUT)
@output_option("Output file of the model; with --show or --export, of the text.", default=None)
@click.option("--neural", is_flag=True, help="Train a network (extra [torch]); best on a GPU.")
@click.option("--quick", is_flag=True, help="Two grammars instead of six, or a network for CPUs: less time, less accurate.")
@click.option("--grammars", type=click.IntRange(1), metavar="N", help="Number of grammars.  [default: 6]")
@click.option(
    "--rounds", type=click.IntRange(0, 10), metavar="N", help="Rounds of splitting.  [default: chosen on held-out trees, at most 5]"
)
@click.option(
    "--epochs", type=click.IntRange(1), metavar="N",
    help="--neural: number of passes through the trees.  [default: 24, --quick: 28; more if there are few trees]",
)  # fmt: skip
@click.option(
    "--embeddings", type=INPUT, metavar="FILE", help="--neural: word vectors to start from, in word2vec's or GloVe's text format."
)
@click.option(
    "--encoder", metavar="PATH", help="Train a network over this pretrained transformer: a folder or a hub name (extra [encoder])."
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, metavar="N", help="Seed of the random numbers.")
@hold_out_option
@click.option("--no-tune", is_flag=True, help="Hold out no trees; use the default settings.")
@jobs_option("Number of threads")
@device_option("--neural: where to train")
@click.option(
    "--checkpoint",
    type=OutputFile(),
    metavar="FOLDER",
    help="Folder for the checkpoint, written after every iteration or minute.  [default: OUTPUT.checkpoint]",
)
@click.option("--resume", is_flag=True, help="Continue from the checkpoint; the model is the same as without interruption.")
@click.option("--show", is_flag=True, help="TREEBANK is a model: show what its subcategories mean.")
@click.option("--label", "labels", multiple=True, metavar="LABEL", help="--show: only this label or tag; can be repeated.")
@click.option("--svg", type=SvgFile(dir_okay=False, path_type=Path), metavar="FILE", help="--show: draw the subcategories.")
@click.option("--export", is_flag=True, help="TREEBANK is a model: write one of its grammars as an ordinary PCFG, as text.")
@click.option("--grammar", type=click.IntRange(1), default=1, show_default=True, metavar="N",
              help="--show, --export: which grammar.")  # fmt: skip
@click.option("--level", type=click.IntRange(0), metavar="N", help="--show, --export: after how many rounds.  [default: all]")
@format_option(("text", "nltk"), "--export: the format.")
@click.option("-q", "--quiet", is_flag=True, help="Print no line for each iteration.")
@reading_options
@broken_trees_options(drop=False)
def command(
    treebank: str, output: str | None, quick: bool, grammars: int | None, rounds: int | None, seed: int, hold_out: float,
    no_tune: bool, jobs: int, device: str, neural: bool, epochs: int | None, embeddings: str | None, encoder: str | None,
    checkpoint: str | None, resume: bool, show: bool, labels: tuple[str, ...], svg: Path | None, export: bool, grammar: int,
    level: int | None, form: str, quiet: bool, options: ReadOptions, broken: BrokenTrees,
) -> None:  # fmt: skip
    """Train a parser on TREEBANK: latent-variable grammars by split-merge EM (Petrov et al. 2006), or a network.

    The number of rounds, smoothing, pruning and lam are chosen on trees held out from TREEBANK; then the grammars are trained on
    all of it. A network is trained until its F1 on some of the trees no longer rises. stderr shows the log likelihood
    or the F1, and the time left. Parse with: treegauge parse MODEL.

    \b
    Examples:
      treegauge train train.mrg -o parser.model --jobs 2
      treegauge train train.mrg -o parser.model --quick
      treegauge train train.mrg -o network.model --neural
      treegauge train train.mrg -o network.model --neural --quick --device cpu --jobs 2
      treegauge train train.mrg -o network.model --neural --embeddings glove.txt.gz
      treegauge train train.mrg -o network.model --encoder bert-folder
      treegauge train train.mrg -o parser.model --jobs 2 --resume
      treegauge train --show parser.model --label NP
      treegauge train --export parser.model --level 2 -o grammar.txt
      treegauge parse parser.model sentences.txt -o out.mrg
    """
    if show and export:
        raise UsageError("--show and --export print different things: give one of them")
    network = neural or encoder is not None
    mode = "show" if show else "export" if export else "network" if network else "grammars"
    for modes, names, advice in _IDLE:
        if mode in modes.split():
            refuse_idle(names.split(), advice)
    if show or export:
        _look(treebank, output, show, labels, svg, grammar, level, form)
        return
    if output in (None, "-"):
        raise UsageError("name the model file: -o parser.model")
    check_writable(output)
    steps = str(label_pipeline(STEPS, options.treebank))
    if network:
        if quick and encoder is not None:
            raise UsageError("--quick trains a small network, --encoder a large one: leave out one")
        from treegauge.neural.network_model import chosen_device

        device, bank = chosen_device(device), _training_trees(treebank, options, hold_out, broken)
        _neural(bank, steps, output, quick, epochs, embeddings, encoder, seed, no_tune, jobs, device, checkpoint, resume, quiet)
        return
    from treegauge.compilation import report_compiling, when_compiling
    from treegauge.grammar.latent.latent_model import save_latent
    from treegauge.learning.latent.latent_training import QUICK, TrainingSettings, train_latent

    settings = replace(QUICK if quick else TrainingSettings(), seed=seed, rounds=rounds, jobs=number_of_jobs(jobs, IN_PROCESS))
    settings = replace(settings, grammars=grammars or settings.grammars, tuning_grammars=0 if no_tune else settings.tuning_grammars)
    bank = _training_trees(treebank, options, hold_out, broken)
    began = time.monotonic()
    with when_compiling(report_compiling), status_line(quiet=quiet) as show_line:

        def on_try(tried: Trial) -> None:
            if not quiet:
                click.echo(f"held-out F1 {100 * tried.f1:.2f} at lam {tried.lam:g}: {tried.what}", err=True)

        model = train_latent(
            list(bank), settings, trained_on=bank.sha256(), steps=steps, checkpoint=checkpoint or f"{output}.checkpoint",
            resume=resume, on_iteration=_iteration_printer(show_line), on_try=on_try, save=lambda made: save_latent(made, output),
        )  # fmt: skip
    made = f"{number_of(len(model.grammars), 'grammar')} of {number_of(model.rounds, 'round')}"
    click.echo(f"{made}, lam {model.settings.lam:g}, {_size(output)}, {_cost(began)}: {output}", err=True)


_IDLE = (
    ("show export", "neural quick grammars rounds epochs embeddings encoder seed hold_out no_tune jobs device checkpoint resume",
     "is for training, but --show and --export train nothing: --grammar N says which grammar, --level N after how many rounds"),
    ("show", "form", "belongs to --export, --show prints a table: leave out one of them"),
    ("export", "labels svg", "belongs to --show, which gives no grammar: leave out one of them"),
    ("grammars network", "labels svg grammar level form", "is about a model: add --show or --export, with the model in place of "
     "TREEBANK; for training write --grammars N and --rounds N"),
    ("network", "grammars rounds", "is for grammars, and this trains a network: leave it out"),
    ("grammars", "epochs embeddings device", "goes with --neural: grammars need rounds, no vectors and no GPU"),
)  # fmt: skip
"""Options that do nothing in some modes of the command: the modes, the names of the parameters, and what to do."""


def _size(path: str) -> str:
    size = os.path.getsize(path)
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"


def _cost(began: float, device: str = "cpu") -> str:
    """The time since the beginning, and the most memory that was held, where the system tells it."""
    spent, held = f"in {time.monotonic() - began:.0f} s", list[str]()
    if sys.platform != "win32":
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        held.append(f"{peak / 1e6:,.0f} MB of memory")
    if device == "cuda":
        from treegauge.neural.backend import torch_module

        held.append(f"{torch_module().cuda.max_memory_reserved() / 1e6:,.0f} MB on the GPU")
    return f"{spent} with {' and '.join(held)}" if held else spent


def _neural(
    bank: Treebank, steps: str, output: str, quick: bool, epochs: int | None, embeddings: str | None, encoder: str | None,
    seed: int, no_tune: bool, jobs: int, device: str, checkpoint: str | None, resume: bool, quiet: bool,
) -> None:  # fmt: skip
    from treegauge.neural.network_model import QUICK, WITH_ENCODER, NetworkSettings, save_network
    from treegauge.neural.network_training import TrainingReport, train_network
    from treegauge.neural.pretrained_encoder import read_encoder
    from treegauge.neural.sentence_batches import word_forms
    from treegauge.neural.word_vectors import read_vectors

    settings = QUICK if quick else WITH_ENCODER if encoder is not None else NetworkSettings()
    settings = replace(settings, seed=seed, **({} if epochs is None else {"epochs": epochs, "passes": 1}))
    began, vectors = time.monotonic(), None
    pretrained = None if encoder is None else read_encoder(encoder)
    if embeddings is not None:
        needed = {form for tree in bank for word in tree.words for form in word_forms(word)}
        vectors = read_vectors(embeddings, needed)
        known = sum(word in needed for word in vectors.words)
        click.echo(f"{number_of(len(vectors.words), 'word vector')}, {known:,} of them for words in the trees", err=True)
    time_left = _TimeLeft()
    with status_line(quiet=quiet) as show_line:

        def report(at: TrainingReport) -> None:
            left = time_left(at.done)
            f1 = "" if at.f1 is None or math.isnan(at.f1) else f", held-out F1 {100 * at.f1:.2f}"
            show_line(f"epoch {at.epoch} of {at.epochs}: {at.loss:.3f} nats per sentence{f1}{left}")

        model = train_network(
            list(bank), settings, trained_on=bank.sha256(), steps=steps, device=device,
            jobs=number_of_jobs(jobs, IN_PROCESS), tune=not no_tune, checkpoint=checkpoint or f"{output}.checkpoint",
            vectors=vectors, encoder=pretrained, resume=resume, on_report=report, save=lambda made: save_network(made, output),
        )  # fmt: skip
    f1 = f"held-out F1 {100 * model.notes['f1']:.2f}, " if model.notes["f1"] is not None else ""
    click.echo(f"network: {f1}lam {model.lam:g}, {_size(output)}, on {device} {_cost(began, device)}: {output}", err=True)


def _training_trees(treebank: str, options: ReadOptions, share: float, broken: BrokenTrees) -> Treebank:
    """The trees of a file without the held-out ones; stderr shows how many there are."""
    bank, held = broken.pass_on(read(treebank, options.of_categories)), list[Tree]()
    if share:
        rest, held = hold_out_by_words(list(bank), share)
        bank = Treebank.from_trees(rest)
    click.echo(number_of(len(bank), "tree") + (f", {len(held):,} held out" if share else ""), err=True)
    return bank


SECONDS_BETWEEN_LINES = 10.0


def _iteration_printer(show: Callable[[str], None]) -> Callable[[IterationReport], None]:
    """A function that shows each iteration, or one in ten seconds where lines stay (in a file, say), and the time left."""
    lock, time_left, shown = Lock(), _TimeLeft(), -math.inf

    def tell(at: IterationReport) -> None:
        nonlocal shown
        with lock:
            left = time_left(at.done)
            if sys.stderr.isatty() or time.monotonic() - shown >= SECONDS_BETWEEN_LINES:
                shown = time.monotonic()
                show(f"{at.name}, round {at.round}, iteration {at.iteration}: log likelihood {at.log_likelihood:,.1f}{left}")

    return tell


class _TimeLeft:
    """The time that the rest of the work takes, if that can be told from the share that is done since the first call.

    What comes before that call is left out: it waits for the kernels to be compiled.
    """

    first: tuple[float, float] | None = None

    def __call__(self, done: float) -> str:
        now = time.monotonic()
        self.first = self.first or (now, done)
        began, before = self.first
        seconds = (now - began) * (1 - done) / (done - before) if done - before > 0.01 else math.inf
        if seconds < 0.5 or seconds == math.inf:
            return ""
        return f", {seconds:.0f} s left" if seconds < 120 else f", {seconds / 60:.0f} min left"


def _look(
    path: str, output: str | None, show: bool, labels: tuple[str, ...], svg: Path | None, grammar: int, level: int | None, form: str
) -> None:
    from treegauge.cli._grammars import write_grammar
    from treegauge.grammar.latent.latent_model import load_latent
    from treegauge.grammar.latent.subcategories import describe, draw_subcategories, to_pcfg

    model = load_latent(path)
    if grammar > len(model.grammars):
        raise UsageError(f"--grammar {grammar}: the model has {number_of(len(model.grammars), 'grammar')}")
    rounds = model.grammars[grammar - 1].rounds
    if level is not None and level > rounds:
        raise UsageError(f"--level {level}: the grammar has {number_of(rounds, 'round')}")
    wanted = rounds if level is None else level
    if show:
        table = describe(model, grammar - 1, wanted, labels)
        if svg is not None:
            write_bytes(draw_subcategories(table).encode(), svg)
        write_chunks([f"{table.as_table()}\n".encode()], output or "-")
        return
    write_grammar(to_pcfg(model, grammar - 1, wanted), form, output or "-")
