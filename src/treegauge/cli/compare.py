"""``treegauge compare``: test whether the difference between parsers is significant."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from zipfile import is_zipfile

import click

from treegauge.alignment.notes import REMARKS, Note
from treegauge.cli import _options as shared
from treegauge.cli._group import INPUT, OUTPUT, Command, as_typed
from treegauge.cli._treebanks import checked_by_people
from treegauge.engines import Engine, Threads
from treegauge.errors import MismatchError, UsageError, check_name
from treegauge.io.sources import ReadOptions
from treegauge.io.writing import write_chunks

if TYPE_CHECKING:
    from treegauge.humancheck.results import CheckedSystems
    from treegauge.scoring.paper_table import SystemRow
    from treegauge.significance.comparison import Comparison
    from treegauge.significance.score_table import CompareOptions


@click.command(
    cls=Command,
    seldom=(
        *("lengths", "digits", "percent", "published", "signature", "intervals", "assume", "seed", "level", "interval"),
        *("real_test", "figure", "store"),
    ),
    epilog="""\b
Examples:
  treegauge compare gold.mrg A.mrg B.mrg
  treegauge compare gold.mrg mine=out1.mrg theirs=out2.mrg --structure PP,NP --by-length
  treegauge compare gold.mrg A=runs:'a-*.mrg' B=runs:'b-*.mrg' --rates f1 --format latex
  treegauge compare gold.mrg A.mrg --power --assume 0.5
  treegauge score gold.mrg A.mrg -m parseval -m hogenhout --save A.scores
  treegauge compare --scores A.scores B.scores""",
)
@click.argument("gold", required=False, type=INPUT)
@click.argument("tests", nargs=-1, type=INPUT, metavar="A B...")
@click.option("--scores", "scored", is_flag=True,
              help="The arguments are score files written by `treegauge score --save`, not trees.")  # fmt: skip
@click.option("-m", "--metric", "metrics", multiple=True, metavar="NAME[:OPTION...]",
              help="A metric to compare by, or all; may be given several times.  [default: parseval]")  # fmt: skip
@click.option("--rates", default="", metavar="NAME,...",
              help="Rates to compare: names as `f1` or `parseval.f1`, lr, lp, exact, cb, or `all`. Default: each metric's main "
              "one.")  # fmt: skip
@shared.comparing_options
@click.option("--structure", default="", metavar="LABEL,...", help="Compare the brackets of these labels, too, one by one.")
@click.option("--by-length", is_flag=True, help="Compare by sentence length, too.")
@click.option("--lengths", default="", metavar="N,...", help="--by-length: upper ends of the lengths.  [default: 10,20,30,40]")
@shared.cutoff_option("Also compare the sentences up to N words.")
@click.option("--clusters", type=INPUT, metavar="FILE|by-file|comment:PATTERN",
              help="Resample the sentences of a document together. FILE: name, first and last sentence of each document; by-file: "
              "one document per file; comment:PATTERN: a document begins at a line of GOLD that matches.")  # fmt: skip
@shared.resampling_options
@click.option("--interval", type=click.Choice(["percentile", "bca"]), default="percentile", show_default=True,
              help="Kind of bootstrap interval.")  # fmt: skip
@click.option("--power", is_flag=True,
              help="Statistical power: how likely a test set of this size is to show the difference, the smallest difference it "
              "can show, and the number of sentences needed.")  # fmt: skip
@click.option("--assume", type=float, metavar="POINTS",
              help="--power: assume that this is the true difference; one system is then enough.")  # fmt: skip
@click.option("--equivalence", type=float, metavar="POINTS",
              help="Test whether the difference is within ± this margin (two one-sided tests).")  # fmt: skip
@click.option("--table", "tables", multiple=True, metavar="NAME",
              help="Show only this table (repeatable): answer, rates, differences, runs, matrix, length, structure, items, "
              "comparative, measures, crossing, brackets, equivalence, power, signatures, tidy, or all.")  # fmt: skip
@click.option("--real-test", metavar="M1,M2",
              help="Size and z of the real test with M1 easy and M2 hard brackets set aside; leave one empty (,4027) to solve for "
              "it.")  # fmt: skip
@click.option("--store", type=INPUT, metavar="FILE|URL",
              help="Judgements of a human check (treegauge check), which all twelve measures need.")  # fmt: skip
@click.option("--figure", type=OUTPUT, metavar="FILE",
              help="Also draw the differences with their intervals, or with --power its curves: SVG; with [plot] also PDF and PNG, "
              "by the suffix.")  # fmt: skip
@shared.format_option(shared.RATE_TABLES, by_suffix=True)
@shared.paper_options
@click.option("--intervals", is_flag=True, help="With one row per system: show the interval of each rate, too.")
@click.option("--baselines", is_flag=True, help="With one row per system: trivial parsers, too (right branching ...), not tested.")
@click.option("--signature", type=click.Choice(["short", "full"]), default="short", show_default=True,
              help="Signature in the last line: full has the hashes of all trees, and every setting.")  # fmt: skip
@shared.output_option("Output file.  [default: standard output]")
@click.option("-q", "--quiet", is_flag=True, help="List no sentences and print no remarks on stderr.")
@shared.reading_both_options
@shared.jobs_option("Number of threads that resample")
@shared.engine_option
def command(gold: str | None, tests: tuple[str, ...], options: ReadOptions, engine: Engine, **chosen: Any) -> None:
    """Compare parsers: which is better, by how much, and whether that is due to chance.

    GOLD and A, B ... are treebank files, directories or globs; NAME=FILE gives a system a name. NAME=FILE,FILE... or NAME=runs:GLOB
    are several runs of one parser: intervals and p then include the variation between runs as well as between sentences. With
    --scores, all of them are score files. All other p values come from a paired randomisation test that swaps whole sentences;
    McNemar's test and the real test of Hogenhout & Matsumoto (1996) are shown as well.
    """
    from treegauge.reports.scores import misfits_in
    from treegauge.significance.score_table import CompareOptions
    from treegauge.significance.tabulation import TABLES

    for name in chosen["tables"]:
        check_name("table", name, (*TABLES, "all"))
    if gold is None or not (tests or chosen["scored"]):
        raise click.UsageError("Missing argument 'GOLD' or 'A B...'.")
    if engine.in_process and shared.number_of_jobs(chosen["jobs"], engine) > 1:
        engine = Threads(shared.number_of_jobs(chosen["jobs"], engine))
    chosen["lengths"] = chosen["lengths"] or ("10,20,30,40" if chosen["by_length"] else ())
    same = ("preset", "on_mismatch", "match_words", "rounds", "seed", "level", "interval")
    same += ("clusters", "power", "assume", "equivalence", "rates", "structure", "lengths", "cutoff")
    how = CompareOptions(
        metrics=_metrics(chosen),
        treebank=options.treebank,
        on_error=options.on_error,
        pair="text",
        **{name: chosen[name] for name in same},
    )
    if chosen["structure"] and chosen["rates"]:
        shared.remark("--rates does not apply to --structure, whose table has recall_hard and precision_hard")
    if chosen["figure"]:
        from treegauge.reports.plots import figure_format

        figure_format(chosen["figure"])  # refuses a suffix that names none, before anything is computed
    if chosen["baselines"] and (chosen["scored"] or not shared.rows_are_systems(chosen)):
        raise UsageError("--baselines adds rows to a table with one row per system: give --rows systems, and no --scores")
    if chosen["scored"]:
        if chosen["store"] is not None or chosen["preset"] is not None or options.treebank:
            raise UsageError("--store, --preset and --treebank cannot be combined with --scores: they apply to trees")
        (comparison, notes), checked = _of_scores([gold, *tests], how, engine, every="all" in chosen["metrics"]), None
    else:
        systems = shared.named_runs(tests)
        if hint := shared.runs_meant(systems):
            shared.remark(hint)
        comparison, checked, notes = _of_trees(gold, systems, how, options, engine, chosen["store"])
    if chosen["figure"]:
        from treegauge.reports.plots import write_figure

        write_figure(comparison, chosen["figure"])
        click.echo(f"wrote {chosen['figure']}", err=True)
    others = _baseline_rows(gold, how, options) if chosen["baselines"] else ()
    text = _text(comparison, checked, others, chosen)
    if chosen["real_test"] is not None:
        text += _real_tests(comparison, *_set_aside(chosen["real_test"]), chosen["form"])
    write_chunks([text.encode("utf-8", "replace")], chosen["output"])
    if not chosen["quiet"]:
        shared.report_problems(notes)
    elif lines := misfits_in(notes, listed=False):
        raise MismatchError("\ntreegauge: ".join(lines))


def _metrics(chosen: Mapping[str, Any]) -> tuple[str, ...]:
    """The metrics that are asked for; none stands for all, or for those that saved scores have."""
    if "all" in chosen["metrics"] or (chosen["scored"] and not chosen["metrics"]):
        return ()
    return chosen["metrics"] or (("parseval",) if chosen["store"] is None else ("parseval", "hogenhout"))


def _of_scores(
    paths: Sequence[str], how: CompareOptions, engine: Engine, *, every: bool
) -> tuple[Comparison, dict[str, list[Note]]]:
    """The comparison of saved scores, and the remarks on all trees of a system; its sentences were listed when it was scored."""
    from treegauge.scoring.saved_scores import load_systems
    from treegauge.significance.paired_comparison import compare_scores

    scores = load_systems(paths)
    if not how.metrics and not every and any(result.metric == "parseval" for result in scores):
        how = replace(how, metrics=("parseval",))
    systems = {result.system for result in scores}
    if len(systems) < 2 and not how.power:
        raise UsageError("compare needs scores of at least two systems: treegauge compare --scores A.scores B.scores")
    with shared.progress("Resampling", how.rounds, unit="rounds") as advance:
        comparison = compare_scores(scores, how, progress=advance, engine=engine)
    return comparison, {result.label: [note for note in result.notes if note.kind in REMARKS] for result in scores}


def _of_trees(
    gold: str, systems: dict[str, str | list[str]], how: CompareOptions, options: ReadOptions, engine: Engine, store: str | None
) -> tuple[Comparison, CheckedSystems | None, dict[str, Sequence[Note]]]:
    from treegauge.significance.paired_comparison import comparable_scores, compare_scores

    if len(systems) < 2 and not how.power:
        scores = " (add --scores to compare saved scores)" if is_zipfile(gold) else ""
        raise UsageError(f"compare needs at least two systems: treegauge compare GOLD A B{scores}")
    single = {system: path for system, path in systems.items() if isinstance(path, str)}
    if store is not None and len(single) < len(systems):
        raise UsageError("--store: judgements are of the trees of one run; give one file for each system")
    checked = None if store is None else checked_by_people(gold, single, options, how, store)
    with shared.progress("Resampling", how.rounds, unit="rounds") as advance:
        scores = comparable_scores(gold, systems, how, reading=options, judgements=checked and checked.judgements, trees=False)
        comparison = compare_scores(scores, how, progress=advance, engine=engine)
    return comparison, checked, {result.label: result.notes for result in scores}


def _baseline_rows(gold: str, how: CompareOptions, options: ReadOptions) -> list[SystemRow]:
    """The rates of trivial parsers, which are not tested."""
    from treegauge.scoring.evaluation import score_baselines
    from treegauge.scoring.inputs import Request
    from treegauge.scoring.paper_table import rates_of, result_rows

    request = Request.of(
        how.scored_metrics(), how.preset, reading=options, treebank=options.treebank, pair="text", cutoff=how.cutoff
    )
    results = score_baselines(gold, request)
    return result_rows(results, rates_of(results, ("all",)), untested="baseline")


def _text(comparison: Comparison, checked: CheckedSystems | None, others: Sequence[SystemRow], chosen: Mapping[str, Any]) -> str:
    """Everything that is printed, in the chosen format."""
    form, tables = chosen["form"], chosen["tables"]
    if form == "json":
        human_check = {"human_check": checked.results.to_dict()} if checked else {}
        return json.dumps(comparison.to_dict() | human_check, ensure_ascii=False, indent=1) + "\n"
    if shared.rows_are_systems(chosen) and not tables:
        from treegauge.significance.tabulation import paper_table

        table = paper_table(
            comparison, chosen["rates"], others=others, published=chosen["published"], intervals=chosen["intervals"]
        )
        asked = comparison.tables("structure", "equivalence", "power", *(["length"] if chosen["lengths"] else []))
        return "\n\n".join(shared.render_rates(each, chosen) for each in (table, *asked)) + "\n"
    # CSV is read by programs, which need one table: all differences, unless another is named.
    found = comparison.tables(*tables or ("tidy",)) if tables or form == "csv" else comparison.usual_tables
    if checked and chosen["on_mismatch"] != "skip":
        # The check's own tables of these names also estimate brackets not judged yet; they are on all sentences.
        estimated = {table.title: table for table in checked.results.tables()}
        found = [estimated.get(table.title, table) for table in found]
    blocks = ["\n".join(comparison.answer)] if form == "table" and comparison.answer and (not tables or "answer" in tables) else []
    text = as_typed("\n\n".join([*blocks, *(shared.render_rates(table, chosen) for table in found)])) + "\n"
    if not chosen["quiet"] and (form == "csv" or (tables and not {"differences", "answer", "all"} & set(tables))):
        for warning in comparison.warnings:
            click.echo(as_typed(f"warning: {warning}"), err=True)
    if form in ("table", "markdown"):
        text += f"\n{comparison.signature if chosen['signature'] == 'full' else comparison.short_signature}\n"
    return text


def _set_aside(text: str) -> tuple[float | None, float | None]:
    """M1 and M2 from the value of --real-test; None for the one to solve for."""
    try:
        first, second = (float(word) if word.strip() else None for word in text.split(","))
    except ValueError:
        raise UsageError(f"--real-test {text!r}: two numbers with a comma between; one may be missing, as in ,4027") from None
    return first, second


def _real_tests(comparison: Comparison, M1: float | None, M2: float | None, form: str) -> str:
    """The real test of each pair with the given M1 and M2, as text; beside JSON, it is printed on stderr."""
    from treegauge.significance.classical import real_test_at
    from treegauge.tables import Cell, Table, render

    rows: list[tuple[Cell, ...]] = []
    notes: list[str] = []
    for pair in comparison.overall.pairs:
        if pair.brackets is not None:
            test = real_test_at(pair.brackets.cells, M1, M2)
            rows.append((pair.a, pair.b, test.M1, test.M2, test.size, test.z, f"{test.p:.4f}"))
            notes += [f"{pair.a} and {pair.b}: {test.reason}"] if test.reason else []
    if not rows:
        raise UsageError("--real-test needs brackets of treebank and parses: compare by hogenhout")
    columns = ("first", "second", "M1", "M2", "size", "z", "p")
    table = Table("The real test with given M1 and M2", columns, tuple(rows), tuple(notes))
    text = f"\n{render(table, 'table' if form == 'json' else form)}\n"
    if form == "json":
        click.echo(text, nl=False, err=True)
    return "" if form == "json" else text
