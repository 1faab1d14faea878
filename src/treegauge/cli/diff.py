"""``treegauge diff``: draw what is right and wrong in a parse."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import click

from treegauge.cli._group import Command
from treegauge.cli._options import (
    match_words_option,
    on_error_options,
    prints_unicode,
    reading_options,
    report_problems,
    spare_inputs,
    treebank_option,
)
from treegauge.cli._progress import gold_and_tests
from treegauge.errors import UsageError
from treegauge.io.sources import ReadOptions

FORMATS = ("text", "svg", "png", "pdf")
_BY_SUFFIX = {".svg": "svg", ".png": "png", ".pdf": "pdf"}
_OTHER_PICTURES = frozenset({".eps", ".ps", ".jpg", ".jpeg", ".gif", ".tif", ".tiff", ".webp", ".bmp", ".html", ".docx"})


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  treegauge diff gold.mrg parser.mrg
  treegauge diff gold.mrg parser.mrg --sentence 12 -o diff.svg
  treegauge diff gold.mrg parser.mrg --worst 20 | less""",
)
@click.argument("gold")
@click.argument("test")
@click.option("-s", "--sentence", "sentences", multiple=True, type=click.IntRange(1), metavar="N",
              help="Draw this sentence, counted from 1; may be given several times.")  # fmt: skip
@click.option("--worst", type=click.IntRange(1), default=1, show_default=True, metavar="N",
              help="Without --sentence: draw the N sentences with the most wrong brackets.")  # fmt: skip
@click.option("--all", "everything", is_flag=True, help="Without --sentence: draw all sentences that differ, in their order.")
@click.option("--fold/--no-fold", default=True, show_default=True, help="Close subtrees in which everything is right.")
@click.option("-p", "--preset", default="default", show_default=True, metavar="NAME|FILE", help="Which brackets and words count.")
@treebank_option
@match_words_option
@click.option("--width", type=click.IntRange(20), metavar="COLUMNS", help="Text: the widest line. Default: the terminal's.")
@click.option(
    "--ascii", "ascii_only", is_flag=True, help="Text: draw with ASCII characters only, as where the terminal has no others."
)
@click.option("--format", "form", type=click.Choice(FORMATS), help="Default: by the suffix of --output, else text.")
@click.option("-o", "--output", default="-", show_default=True, metavar="FILE", help="Where to write; - is standard output.")
@reading_options
@on_error_options
def command(
    gold: str,
    test: str,
    sentences: tuple[int, ...],
    worst: int,
    everything: bool,
    fold: bool,
    preset: str,
    treebank: str,
    match_words: str,
    width: int | None,
    ascii_only: bool,
    form: str | None,
    output: str,
    options: ReadOptions,
) -> None:
    """Draw a gold tree and a test tree with every bracket marked: matched, missed, spurious, crossing or wrongly labelled.

    GOLD and TEST are treebank files, directories or globs. Without --sentence the worst sentence is drawn. PNG and PDF need the
    extra [plot].
    """
    from treegauge.io.writing import write_chunks
    from treegauge.presets import load_preset
    from treegauge.reports.tree_diff import TreeDiffs

    suffix = Path(output).suffix.lower()
    if form is None and suffix in _OTHER_PICTURES:
        raise UsageError(f"-o {output}: there is no format for the suffix {suffix}; name the file .svg, .pdf, .png or .txt")
    form = form or _BY_SUFFIX.get(suffix, "text")
    if form in ("png", "pdf") and output == "-" and sys.stdout.isatty():
        raise UsageError(f"a picture would garble the terminal: give a file, -o diff.{form}")
    spare_inputs(output, gold, test)
    gold_bank, (test_bank,) = gold_and_tests(gold, [test], options)
    compared = TreeDiffs(gold_bank, test_bank, load_preset(preset, treebank), match_words=match_words)
    chosen = [number - 1 for number in sentences] or None
    found = compared.of(compared.worst(worst) if chosen is None and not everything else chosen)
    if not found:
        click.echo("treegauge: no difference: every bracket that counts is matched", err=True)
        report_problems({test: compared.notes})
        return
    if form == "text":
        from treegauge.reports.tree_diff import diff_text

        columns = width or shutil.get_terminal_size((100, 24)).columns
        charset = "ascii" if ascii_only or (output == "-" and not prints_unicode(sys.stdout)) else "unicode"
        texts = [diff_text(one, width=columns, fold=fold, charset=charset) for one in found]
        write_chunks([("\n\n".join(texts) + "\n").encode("utf-8", "replace")], output)
    elif form == "svg":
        from treegauge.reports.diff_pictures import diff_svg

        write_chunks([diff_svg(found, fold=fold).encode("utf-8", "replace")], output)
    else:
        from treegauge.reports.diff_pictures import diff_pdf, diff_png

        write_chunks([diff_png(found, fold=fold) if form == "png" else diff_pdf(found, fold=fold)], output)
    report_problems({test: compared.notes})
