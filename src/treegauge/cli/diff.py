"""``treegauge diff`` and ``draw``: draw the right and wrong brackets of one system's or two systems' parses, and trees alone."""

from __future__ import annotations

import functools
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from treegauge.cli._group import INPUT, Command
from treegauge.cli._options import (
    counting_options,
    format_option,
    named_single_runs,
    output_option,
    preset_option,
    prints_unicode,
    reading_both_options,
    reading_options,
    report_problems,
)
from treegauge.cli._treebanks import gold_and_tests
from treegauge.errors import InputError, UsageError
from treegauge.io import read
from treegauge.io.sources import ReadOptions
from treegauge.io.writing import write_chunks
from treegauge.presets import load_preset
from treegauge.trees import Tree, Treebank

if TYPE_CHECKING:
    from treegauge.reports.tree_diff import Charset, SystemDiff, TreeDiff


def _ranges(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> list[range]:
    """The sentences that ``3`` and ``1-5`` stand for."""
    found = [re.fullmatch(r"([1-9]\d{0,17})(?:-([1-9]\d{0,17}))?", text) for text in given]
    ranges = [range(int(each[1]), int(each[2] or each[1]) + 1) if each else range(0) for each in found]
    if bad := [text for text, numbers in zip(given, ranges, strict=True) if not numbers]:
        raise click.BadParameter(f"{bad[0]!r} is neither a positive number nor a range such as 1-5.", context, option)
    return ranges


def _chosen(sentences: Sequence[range], size: int) -> list[int]:
    """The sentences chosen, counted from 0, of a treebank of ``size`` trees."""
    if absent := [numbers[-1] for numbers in sentences if numbers[-1] > size]:
        raise UsageError(f"there is no sentence {absent[0]}: the treebank has {size}")
    return [number - 1 for numbers in sentences for number in numbers]


sentence_option = click.option("-s", "--sentence", "sentences", multiple=True, callback=_ranges, metavar="N|N-M",
                               help="Draw this sentence, counted from 1, or a range; may be given several times.")  # fmt: skip


def _drawing_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a drawing; the command gets ``form``, ``output``, ``width: int`` and ``charset``."""

    @functools.wraps(command)
    def with_options(*args: Any, width: int | None, ascii_only: bool, form: str, output: str, **others: Any) -> Any:
        if form in ("png", "pdf") and output == "-" and sys.stdout.isatty():
            raise UsageError(f"a picture cannot be shown in the terminal: give a file, -o tree.{form}")
        columns = width or shutil.get_terminal_size((100, 24)).columns
        charset: Charset = "ascii" if ascii_only or (output == "-" and not prints_unicode(sys.stdout)) else "unicode"
        return command(*args, width=columns, charset=charset, form=form, output=output, **others)

    columns = click.option(
        "--width", type=click.IntRange(20), metavar="COLUMNS", help="Text: the widest line. Default: the terminal's."
    )
    characters = click.option("--ascii", "ascii_only", is_flag=True,
                              help="Text: draw with ASCII characters only; the default if the terminal has no others.")  # fmt: skip
    form = format_option(("text", "svg", "png", "pdf"), by_suffix=True)
    output = output_option("Where to write; - is standard output.", show_default=True)
    return columns(characters(form(output(with_options))))


@click.command(cls=Command)
@click.argument("gold", type=INPUT)
@click.argument("tests", nargs=-1, required=True, type=INPUT, metavar="TEST [TEST]")
@sentence_option
@click.option("--worst", type=click.IntRange(1), default=1, show_default=True, metavar="N",
              help="Without --sentence: draw the N sentences with the most wrong brackets; with two systems, those in which their "
              "numbers of wrong brackets differ most.")  # fmt: skip
@click.option("--all", "everything", is_flag=True, help="Without --sentence: draw all sentences that differ, in their order.")
@click.option("--fold/--no-fold", default=True, show_default=True, help="Fold subtrees without errors.")
@counting_options(preset_option(default="default"))
@_drawing_options
@reading_both_options
def command(
    gold: str, tests: tuple[str, ...], sentences: list[range], worst: int, everything: bool, fold: bool, preset: str,
    match_words: str, width: int, charset: Charset, form: str, output: str, options: ReadOptions,
) -> None:  # fmt: skip
    """Draw a gold tree and a test tree with every bracket marked: matched, missed, spurious, crossing or wrongly labelled.

    GOLD and TEST are treebank files, directories or globs. Without --sentence the worst sentence is drawn. With a second TEST, the
    sentences in which the two systems differ are drawn, with the brackets that are wrong in one alone or in both; NAME=FILE gives
    a system a name. PNG and PDF need the extra [plot].

    \b
    Examples:
      treegauge diff gold.mrg parser.mrg
      treegauge diff gold.mrg parser.mrg --sentence 12 -o diff.svg
      treegauge diff gold.mrg parser.mrg --worst 20 | less
      treegauge diff gold.mrg A.mrg B.mrg --worst 5
    """
    from treegauge.reports.tree_diff import SystemDiffs, TreeDiffs

    if len(tests) > 2:
        raise UsageError("diff takes one system or two; treegauge report and treegauge compare take more")
    systems = named_single_runs(tests)
    if len(tests) == 1:
        systems = {"test": systems.popitem()[1]}
    gold_bank, banks = gold_and_tests(gold, systems, options)
    rules = load_preset(preset, options.treebank)
    compared = [TreeDiffs(gold_bank, bank, rules, names=("gold", name), match_words=match_words) for name, bank in banks.items()]
    diffs = SystemDiffs(*compared) if len(compared) == 2 else compared[0]
    differing = diffs.differing()
    chosen = _chosen(sentences, len(gold_bank)) or (sorted(differing) if everything else differing[:worst])
    if isinstance(diffs, SystemDiffs) and chosen:
        click.echo(diffs.summary(differing), err=True)
    if chosen:
        write_chunks([_drawn(diffs.of(chosen), form, width=width, fold=fold, charset=charset)], output)
    elif len(compared) == 2:
        click.echo("treegauge: no difference: the same brackets and tags are right and wrong in both systems", err=True)
    else:
        hint = "" if rules.name == "none" else "; -p none compares everything"
        click.echo(f"treegauge: no difference: every bracket and tag that counts is matched{hint}", err=True)
    if not sentences and len(chosen) < len(differing):
        click.echo(f"treegauge: {len(chosen)} of {len(differing):,} differing sentences drawn; --all draws all", err=True)
    report_problems(dict(zip(systems if len(tests) == 2 else tests, (each.notes for each in compared), strict=True)))


def _drawn(found: Sequence[TreeDiff | SystemDiff], form: str, **how: Any) -> bytes:
    """The differences as text with a blank line between them or, in another format, as one picture."""
    from treegauge.reports.tree_diff import SystemDiff, diff_picture, diff_text, system_diff_text

    if form == "text":
        drawn = (system_diff_text(one, **how) if isinstance(one, SystemDiff) else diff_text(one, **how) for one in found)
        return ("\n\n".join(drawn) + "\n").encode("utf-8", "replace")
    singles = [one for each in found for one in ((each.first, each.second) if isinstance(each, SystemDiff) else (each,))]
    return diff_picture(singles, form, fold=how["fold"])


_MOST_TREES = 200
"""The largest number of trees in one picture."""


@click.command(cls=Command)
@click.argument("trees", nargs=-1, required=True, type=INPUT, metavar="FILE|TREE...")
@sentence_option
@_drawing_options
@reading_options
def draw(
    trees: tuple[str, ...], sentences: list[range], width: int, charset: Charset, form: str, output: str, options: ReadOptions
) -> None:
    """Draw the trees of treebank files, directories or globs, or a TREE itself: an argument that begins with a bracket.

    `-` is standard input. Trees that are wider than the terminal are drawn as outlines. A picture holds at most 200 trees; PNG
    and PDF need the extra [plot].

    \b
    Examples:
      treegauge draw '(S (NP (DT the) (NN cat)) (VP (VBD sat)))'
      treegauge draw gold.mrg --sentence 12 -o tree.svg
      treegauge parse train.model sentences.txt | treegauge draw -
    """

    if square := [given for given in trees if given.startswith("[") and " " in given]:
        raise UsageError(f"the brackets of a tree are round: {square[0].replace('[', '(').replace(']', ')')}")
    bank = Treebank.concatenate([read(given, options) for given in trees])
    if not len(bank):
        raise InputError("no trees to draw", path=trees[0])
    chosen = [(bank.place(i), bank[i]) for i in _chosen(sentences, len(bank)) or range(len(bank))]
    if form != "text" and len(chosen) > _MOST_TREES:
        raise UsageError(f"{len(chosen)} trees in one picture: choose up to {_MOST_TREES} with --sentence N")
    write_chunks([_trees_picture(chosen, form)] if form != "text" else _texts(chosen, width, charset), output)


def _texts(trees: Sequence[tuple[str, Tree]], width: int, charset: Charset) -> Iterator[bytes]:
    """The trees as text, with a blank line between them; several trees have headings."""
    for number, (heading, tree) in enumerate(trees):
        above = "\n" * (number > 0) + f"{heading}\n" * (len(trees) > 1)
        yield f"{above}{tree.draw(width=width, charset=charset)}\n".encode("utf-8", "replace")


def _trees_picture(trees: Sequence[tuple[str, Tree]], form: str) -> bytes:
    from treegauge.reports.plots import draw_svg_as
    from treegauge.reports.tree_diff import trees_svg

    return draw_svg_as(trees_svg(trees, theme="auto" if form == "svg" else "light"), form)
