"""``treegauge consensus``: for each sentence, the one of several trees that agrees most with the others, or a tree of the brackets
with the most votes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import click

from treegauge.cli._group import INPUT, OUTPUT, Command
from treegauge.cli._options import reading_both_options
from treegauge.errors import MismatchError, UsageError
from treegauge.io import ReadOptions, read
from treegauge.io.writing import write_chunks
from treegauge.parsing.bracket_votes import recombined_trees
from treegauge.parsing.mixture import LAM
from treegauge.parsing.tree_consensus import consensus_of_treebanks
from treegauge.tables import number_of
from treegauge.trees import Treebank


@click.command(cls=Command)
@click.argument("files", nargs=-1, required=True, type=INPUT, metavar="FILE...")
@click.option("--metric", metavar="NAME", help="The metric by which trees agree.  [default: parseval]")
@click.option("-p", "--preset", type=INPUT, metavar="NAME", help="Preset: which brackets and words count.  [default: collins]")
@click.option("--recombine", is_flag=True, help="Build each tree from the brackets with the most votes; it need not be in a file.")
@click.option("--lam", type=click.FloatRange(0, 1), metavar="NUMBER",
              help=f"--recombine: keep brackets with more than this share of the votes.  [default: {LAM:g}]")  # fmt: skip
@click.option("--weight", "weights", type=click.FloatRange(0), multiple=True, metavar="NUMBER",
              help="Weight of each file's vote, in their order.  [default: 1 each]")  # fmt: skip
@click.option("-o", "--output", type=OUTPUT, default="-", metavar="FILE", help="File for the trees.")
@reading_both_options
def command(
    files: tuple[str, ...], metric: str | None, preset: str | None, recombine: bool, lam: float | None, weights: tuple[float, ...],
    output: str, options: ReadOptions,
) -> None:  # fmt: skip
    """For each sentence, choose from the trees in several FILEs (parsers' outputs, or samples of one parser or language model) the
    one with the best mean score against all of them.

    With --recombine, the brackets of all trees vote, and the tree has the best total of votes, with lam as the price of a bracket.

    All files have the same sentences in the same order. A failed parse (an empty tree, or one that cannot be read) neither votes
    nor wins. stderr shows how often each file's tree was chosen, and how many trees could not be read or were repaired; exit code
    4 if a sentence has no readable tree in any file.

    \b
    Examples:
      treegauge consensus a.mrg b.mrg c.mrg -o best.mrg
      treegauge consensus sample*.mrg --metric freval -o best.mrg
      treegauge consensus answers*.jsonl --field parse --on-error repair -o best.mrg
      treegauge consensus a.mrg b.mrg c.mrg --recombine --lam 0.5 -o best.mrg
      treegauge consensus good.mrg fair.mrg poor.mrg --weight 2 --weight 1 --weight 0.5
    """
    if len(files) < 2:
        raise UsageError("a consensus needs the trees of two files or more")
    if weights and len(weights) != len(files):
        raise UsageError(f"{len(weights)} weights for {len(files)} files")
    if weights and not any(weights):
        raise UsageError("all weights are 0: at least one file must have a vote")
    if recombine and (metric is not None or preset is not None):
        raise UsageError("--recombine counts votes for labelled brackets: leave out --metric and --preset")
    if lam is not None and not recombine:
        raise UsageError("--lam belongs to --recombine: add it")
    banks = [read(file, options) for file in files]
    if recombine:
        _recombine(banks, files, weights, LAM if lam is None else lam, output)
        return
    chosen, without = dict.fromkeys(range(len(files)), 0), 0
    scores: list[float] = []

    def lines() -> Iterator[bytes]:
        nonlocal without
        found = consensus_of_treebanks(
            banks, metric or "parseval", preset=preset or "collins", weights=weights or None, names=files
        )
        for best, first in found:
            chosen[first] += 1
            without += not best.tree.words
            if not math.isnan(best.score):
                scores.append(best.score)
            yield f"{best.tree}\n".encode()

    write_chunks(lines(), output)
    mean = f"; mean agreement {math.fsum(scores) / len(scores):.4f}" if scores else ""
    click.echo(f"{number_of(sum(chosen.values()), 'sentence')}{mean}", err=True)
    for number, file in enumerate(files):
        click.echo(f"  {chosen[number]:,} from {file}{_remarks(banks[number])}", err=True)
    _refuse_unreadable(banks, without)


def _recombine(banks: Sequence[Treebank], files: Sequence[str], weights: Sequence[float], lam: float, output: str) -> None:
    """Write the trees of the brackets with the most votes; stderr shows how many are the tree of no file."""
    sentences = new = without = 0

    def lines() -> Iterator[bytes]:
        nonlocal sentences, new, without
        for best, is_new in recombined_trees(banks, weights or None, lam=lam, names=files):
            sentences, new, without = sentences + 1, new + is_new, without + (not best.tree.words)
            yield f"{best.tree}\n".encode()

    write_chunks(lines(), output)
    click.echo(f"{number_of(sentences, 'sentence')}; {number_of(new, 'tree')} that no file has", err=True)
    for bank, file in zip(banks, files, strict=True):
        if said := _remarks(bank):
            click.echo(f"  {file}{said}", err=True)
    _refuse_unreadable(banks, without)


def _refuse_unreadable(banks: Sequence[Treebank], without: int) -> None:
    """Raise an error if sentences are without a tree because no file's can be read."""
    if without and any(not problem.repairs for bank in banks for problem in bank.problems().values()):
        raise MismatchError(f"{number_of(without, 'sentence')} without a readable tree in any file")


def _remarks(bank: Treebank) -> str:
    """The numbers of trees in a file that could not be read and that were repaired, in words."""
    problems = bank.problems().values()
    repaired = sum(bool(problem.repairs) for problem in problems)
    broken = len(problems) - repaired
    said = [f"{broken:,} could not be read"] * bool(broken) + [f"{repaired:,} repaired"] * bool(repaired)
    return f" ({', '.join(said)})" if said else ""
