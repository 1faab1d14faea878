"""``treegauge normalise``: transform trees by a sequence of steps, or undo them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import click

from treegauge.cli._group import INPUT, Command
from treegauge.cli._options import broken_trees_options, output_option, reading_options, remark
from treegauge.cli._treebanks import sources_with_counts, sources_with_progress
from treegauge.errors import UsageError
from treegauge.io import ReadOptions, stream, write_blocks
from treegauge.io.broken import BrokenTrees
from treegauge.normalise import STEPS, pipeline
from treegauge.normalise.continuous import GapCounts, add_gaps, count_gaps
from treegauge.normalise.pipelines import ALIASES
from treegauge.tables import number_of
from treegauge.trees import Treebank


@click.command(cls=Command)
@click.argument("files", nargs=-1, type=INPUT, metavar="FILE...")
@click.option("--steps", "written", multiple=True, metavar="STEP[:PARAMETER...],...",
              help="Steps to apply, in this order; see --list.")  # fmt: skip
@click.option("--undo", is_flag=True, help="Undo the steps, last one first; each must be reversible.")
@output_option("Output file, one tree per line; another suffix (.export) writes that format.", show_default=True)
@click.option("--list", "listing", is_flag=True, help="List the steps and their parameters.")
@reading_options
@broken_trees_options(drop=True)
def command(
    files: tuple[str, ...], written: tuple[str, ...], undo: bool, output: str, listing: bool, options: ReadOptions,
    broken: BrokenTrees,
) -> None:  # fmt: skip
    """Transform the trees of FILE... (- is stdin) and write them.

    A sentence from which a step removes everything is written as the empty parse (), so that sentences keep their numbers; one that
    a filter rejects is left out. Both are counted on stderr, as are changes to crossing branches and punctuation.
    Exit code 4 if --on-error skipped or repaired trees.

    \b
    Examples:
      treegauge normalise --steps traces,functions,redundant wsj/ -o clean.mrg
      treegauge normalise --steps traces,root,unaries:joined,binarise:head:h=2:v=2 train.mrg -o binary.mrg
      treegauge normalise --steps attach-punctuation,continuous:split tiger.xml -o tiger.mrg
      treegauge normalise --undo --steps unaries:joined,binarise:head:h=2:v=2 parsed.mrg -o parsed.nary.mrg
      treegauge normalise --steps 'punctuation:"$, $."' negra.mrg | less
    """
    if listing:
        click.echo("\n".join(_listing()))
        return
    if not written:
        raise UsageError("no steps given, for example --steps traces,functions; --list shows them all")
    chain = pipeline(",".join(written), options.treebank)
    gone: Counter[str] = Counter()
    before: list[GapCounts] = []
    after: list[GapCounts] = []
    changes: Counter[str] = Counter()
    labels: set[str] = set()
    chain = (chain.inverse() if undo else chain).with_counter(changes)

    def apply_steps(block: Treebank) -> Treebank:
        made = chain.apply(block, gone)
        labels.update(block.labels)
        before.append(count_gaps([block]))
        after.append(count_gaps([made]))
        return made

    with sources_with_progress(files, "normalising") as sources, sources_with_counts(sources, options) as counted:
        write_blocks((apply_steps(broken.pass_on(block)) for source in counted for block in stream(source, options)), output)
    for step, number in gone.items():
        filtered = STEPS[step.partition(":")[0]].filters
        remark(f"{number_of(number, 'sentence')} {'left out' if filtered else 'emptied, written as (),'} by {step}")
    # Only of the first step is it certain that it sees the labels of the input.
    pairs = [pair for step in chain.steps[:1] if step.step.name == "labels" for pair in step.values["new"].split()]
    if missing := [repr(old) for old, _, _ in (pair.partition("=") for pair in pairs) if old not in labels]:
        remark(f"no node is labelled {' or '.join(missing)}, so labels renames none")
    for line in _change_lines(changes):
        remark(line)
    if add_gaps(before).constituents_with_gaps or add_gaps(after).constituents_with_gaps:
        remark(f"before, {add_gaps(before)}")
        remark(f"after, {add_gaps(after)}")


def _change_lines(changes: Counter[str]) -> Iterator[str]:
    """Lines on what was changed by steps that make trees continuous or undo that."""
    if changes["attached"]:
        yield f"{number_of(changes['attached'], 'punctuation mark')} attached to a phrase"
    if changes["raised"]:
        yield f"words and nodes raised out of nodes with gaps: {changes['raised']:,}"
    if changes["split"]:
        yield f"{number_of(changes['split'], 'node')} with gaps split into {number_of(changes['pieces'], 'piece')}"
    if changes["merged"] or changes["alone"]:
        yield f"{number_of(changes['merged'], 'piece')} merged, {changes['alone']:,} left alone"


def _listing() -> Iterator[str]:
    yield "Steps, with their parameters at the defaults (* can be undone):"
    for step in STEPS.values():
        yield f"  {step.signature}{' *' if step.undo else ''}"
        yield f"      {step.help}"
        yield from (f"      {parameter.name}: {parameter.help}" for parameter in step.parameters)
    yield "Short for several steps:"
    for name, (steps, origin) in ALIASES.items():
        yield f"  {name}"
        yield f"      {steps} ({origin})"
