"""``treegauge score``: score parses against a treebank."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Collection, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from treegauge.cli import _options as shared
from treegauge.cli._group import INPUT, OUTPUT, Command, as_typed
from treegauge.engines import Engine, open_engine
from treegauge.errors import CheckFailed, MismatchError, UnknownName, UsageError
from treegauge.io.sources import ReadOptions
from treegauge.presets import Preset, load_preset, preset_text
from treegauge.tables import TABLE_FORMATS, comma_separated, render

if TYPE_CHECKING:
    from treegauge.scoring.inputs import Request
    from treegauge.scoring.result import RateLimit, Result

FORMATS = ("table", "json", "jsonl", "csv", "markdown", "latex", "html", "evalb")
BREAKDOWN_NAMES = "labels, confusions, lengths, depths, unaries, crossings, errors, fan-outs, gap-degrees"


def _show_list(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    """Print a line on each metric and exit."""
    if value:
        from treegauge.metrics.registry import find_metric, metric_names

        metrics = {name: find_metric(name) for name in metric_names()}
        width, wide = max(map(len, metrics)), max(len(metric.preset) for metric in metrics.values())
        for name, metric in metrics.items():
            gaps = "gaps" if metric.discontinuous else "-"
            click.echo(f"{name:{width}}  preset {metric.preset:{wide}}  {gaps:4}  {metric.summary}")
        click.echo("gaps: takes discontinuous trees; others need continuous ones (treegauge normalise --steps continuous:raise)")
        ctx.exit()


@click.command(
    cls=Command,
    seldom=(
        *("structure", "digits", "percent", "published", "grammar", "show_preset", "by_length"),
        *("seed", "rounds", "fail_over"),
    ),
)
@click.argument("gold", required=False, type=INPUT)
@click.argument("tests", nargs=-1, type=INPUT, metavar="TEST...")
@click.option("-m", "--metric", "metrics", multiple=True, metavar="NAME[:OPTION...]",
              help="A metric; may be given several times. Default: parseval.")  # fmt: skip
@click.option("--structure", metavar="LABEL,...", help="Metric hogenhout: only the brackets with these labels, as in PP,NP.")
@click.option("--grammar", type=INPUT, metavar="MODEL",
              help="Metric hogenhout: also the Parse Base of GOLD's sentences under this grammar.")  # fmt: skip
@click.option("--list", "list_metrics", is_flag=True, is_eager=True, expose_value=False, callback=_show_list,
              help="List the metrics and stop.")  # fmt: skip
@shared.preset_option("Preset: a name, or a .prm or .toml file. Default: the metric's own (see --list).")
@click.option("--show-preset", type=INPUT, is_flag=False, flag_value="", default=None, metavar="[NAME|FILE]",
              help="Show a preset (by default the one that -p names) and stop.")  # fmt: skip
@shared.on_mismatch_option("align", "error", "skip", "edit", "evalb")
@shared.match_words_option
@click.option("--ignore-words", is_flag=True, hidden=True, help="The same as --match-words length.")
@shared.cutoff_option("Also report sentences up to N words. Default: the preset's length.")
@click.option("--by-length", is_flag=True, help="The same as --breakdown lengths.")
@click.option("--breakdown", "breakdowns", multiple=True, metavar="NAME,...", help=f"Break the score down by: {BREAKDOWN_NAMES}.")
@click.option("--examples", type=click.IntRange(0), default=0, metavar="N", help="Show N sentences behind each row of a breakdown.")
@click.option("--baselines", is_flag=True, help="Score trivial parsers, too: right and left branching, balanced, random, oracle.")
@click.option("--seed", type=click.IntRange(0), default=None, metavar="N",
              help="Seed of the random baseline [0] and of --confidence [1].")  # fmt: skip
@click.option("--confidence", type=click.FloatRange(0, 1, min_open=True, max_open=True), is_flag=False, flag_value=0.95,
              default=None, metavar="[LEVEL]",
              help="Show a bootstrap confidence interval of this level [0.95] beside every rate.")  # fmt: skip
@click.option("--rounds", type=click.IntRange(1), default=10_000, show_default=True, metavar="N",
              help="--confidence: number of bootstrap samples.")  # fmt: skip
@click.option("--per-sentence", is_flag=True, help="Show every sentence, too.")
@click.option("--save", type=OUTPUT, metavar="FILE",
              help="Save the scores, with a row per sentence, for `compare --scores` and `report --scores`.")  # fmt: skip
@click.option("--fail-under", multiple=True, metavar="RATE=VALUE",
              help="Exit code 1 if a rate is below a value, as in f1=0.90 or goodman.labelled_recall=0.8. parsed=0.95 asks for "
              "that share of sentences with a readable tree over their words; missing and unreadable parses are then judged by it "
              "alone, without exit code 4.")  # fmt: skip
@click.option("--fail-over", multiple=True, metavar="RATE=VALUE",
              help="Exit code 1 if a lower-is-better rate is above a value, as in average_crossing=1.")  # fmt: skip
@shared.format_option(FORMATS, "Output format: table, json, jsonl (a line per sentence), csv, markdown, latex, html, or evalb "
                      "(EVALB's layout, printed from these counts).", by_suffix=True, metavar="NAME")  # fmt: skip
@click.option("--rates", default="", metavar="NAME,...",
              help="Rates to show: names as `f1` or `parseval.f1`, lr, lp, exact, cb. Default: all; with one row per system, the "
              "usual ones.")  # fmt: skip
@shared.paper_options
@shared.output_option("Output file.  [default: standard output]")
@click.option("-q", "--quiet", is_flag=True, help="List no sentences and print no remarks on stderr.")
@shared.stream_option
@shared.reading_both_options
@shared.jobs_option("Number of processors for large files")
@shared.engine_option
def command(gold: str | None, tests: tuple[str, ...], options: ReadOptions, engine: Engine, **chosen: Any) -> None:
    """Score TEST against GOLD: PARSEVAL, Goodman's rates, leaf-ancestor and other metrics.

    GOLD and TEST are treebank files, directories or globs, paired by file name; `-` is standard input. Several TESTs are shown
    side by side, and NAME=FILE gives one a name. NAME=FILE,FILE... or NAME=runs:GLOB are several runs of one parser: mean and
    standard deviation are shown.

    The counts are EVALB's, but no sentence is lost: tokens are aligned on words, and the gold tags decide what is deleted.
    Sentences whose words differ are listed on stderr. Exit code 4 if trees cannot be read, or there are missing or extra
    sentences; 1 if --fail-under or --fail-over failed.

    \b
    Examples:
      treegauge score gold.mrg parser.mrg
      treegauge score gold.mrg A.mrg B.mrg -m parseval -m goodman --confidence
      treegauge score gold/ parsed/ -p COLLINS.prm --breakdown labels,errors --examples 3
      treegauge score gold.mrg induced.mrg -m induction:kim -m induction:tn-pcfg --cutoff 10
      treegauge score gold.mrg A.mrg -m parseval -m hogenhout --save A.scores
      treegauge score gold.mrg parser.mrg --fail-under f1=0.90 --format json -o score.json
    """
    preset = None if chosen["preset"] is None else load_preset(chosen["preset"])
    if chosen["show_preset"] is not None:
        click.echo(_preset_description(chosen["show_preset"] or chosen["preset"] or "default"), nl=False)
        return
    if gold is None or not tests:
        raise click.UsageError("score needs gold and at least one file of parses: treegauge score GOLD TEST")
    if chosen["ignore_words"]:
        chosen["match_words"] = "length"
    from treegauge.scoring.evaluation import score_baselines, score_systems
    from treegauge.scoring.result import parse_rate_limit

    if chosen["structure"]:
        chosen["metrics"] = _of_structure(chosen["metrics"], chosen["structure"])
    if chosen["grammar"] and "hogenhout" not in [metric.partition(":")[0] for metric in chosen["metrics"]]:
        raise UsageError("--grammar is for the Parse Base of -m hogenhout")
    checks = [parse_rate_limit(text) for text in chosen["fail_under"]]
    checks += [parse_rate_limit(text, is_most=True) for text in chosen["fail_over"]]
    systems = shared.named_runs(tests)
    paths = [path for given in systems.values() for path in ([given] if isinstance(given, str) else given)]
    _remark(gold, paths, preset, chosen)
    request = _request(preset, options, chosen)
    with closing(_engine_for(engine, [gold, *paths], chosen)) as used, shared.progress("scoring", None) as advance:
        results = score_systems(gold, systems, replace(request, engine=used, progress=advance))
    chosen["tested"] = len(results)
    if chosen["baselines"]:
        with shared.progress("scoring baselines", None) as advance:
            results += score_baselines(gold, replace(request, progress=advance), seed=chosen["seed"] or 0)
    _finish(results, checks, gold, options, chosen)


def _finish(
    results: Sequence[Result], checks: Sequence[RateLimit], gold: str, options: ReadOptions, chosen: dict[str, Any]
) -> None:
    """Print and save the results; raise an error if a limit is missed, or if sentences are missing or cannot be read."""
    from treegauge.reports.scores import listed_notes, misfits_in, notes_by_system
    from treegauge.scoring.result import PARSED, Scores, failed_limits, has_surplus

    if chosen["confidence"] is not None:
        from treegauge.significance import with_confidence

        seed = {} if chosen["seed"] is None else {"seed": chosen["seed"]}
        with shared.progress("drawing samples", None) as advance:
            results = with_confidence(results, level=chosen["confidence"], rounds=chosen["rounds"], progress=advance, **seed)
    failed = failed_limits(results, checks)
    if chosen["save"] is not None:
        Scores(results).save(chosen["save"])
    _print(results, chosen)
    if chosen["grammar"]:
        _print_parse_base(chosen["grammar"], gold, options, chosen["form"])
    sys.stdout.flush()
    for line in () if chosen["quiet"] else listed_notes(notes_by_system(results), "; --format json lists them"):
        click.echo(as_typed(line), err=True)
    # A limit of parsed sentences judges missing and unreadable parses, but not a file with more parses than gold sentences.
    counts_parsed = any(check.rate == PARSED for check in checks)
    judged = [result for result in results if counts_parsed and not has_surplus(result)]
    for line in misfits_in(notes_by_system(judged)):
        shared.remark(as_typed(line))
    others = [result for result in results if result not in judged]
    lines = misfits_in(notes_by_system(others), listed=not chosen["quiet"])
    if failed:
        raise CheckFailed("\ntreegauge: ".join([*lines, *failed]))
    if lines and checks:
        advice = "" if counts_parsed else "; --fail-under parsed=... says how many may fail"
        lines.append(f"the checks passed, but exit code 4 reports these parses{advice}")
    if lines:
        raise MismatchError("\ntreegauge: ".join(lines))


def _print_parse_base(grammar: str, gold: str, options: ReadOptions, form: str) -> None:
    """Print the Parse Base below the scores, or on stderr if the format cannot hold it."""
    from treegauge.cli._grammars import parse_base_table

    beside = form in TABLE_FORMATS and form not in ("json", "csv")
    click.echo(
        ("\n" if beside else "") + render(parse_base_table(grammar, gold, options), form if beside else "table"), err=not beside
    )


def _kernels_can_count(chosen: dict[str, Any]) -> bool:
    from treegauge.compilation import can_compile

    return chosen["metrics"] in ((), ("parseval",)) and not chosen["breakdowns"] and not chosen["by_length"] and can_compile()


_LARGE_BYTES = 64 << 20
"""Files of more bytes than these together are worth starting processes for."""


def _engine_for(engine: Engine, paths: Sequence[str], chosen: dict[str, Any]) -> Engine:
    """The engine that was chosen or, for large files that compiled code cannot count, processes on this machine."""
    jobs = shared.number_of_jobs(chosen["jobs"], engine)
    if jobs == 1 or not engine.in_process or chosen["stream"] or chosen["on_mismatch"] == "evalb":
        return engine
    if not all(map(os.path.isfile, paths)) or sum(map(os.path.getsize, paths)) < _LARGE_BYTES or _kernels_can_count(chosen):
        return engine
    return open_engine(f"local:{jobs}")


def _of_structure(metrics: Sequence[str], labels: str) -> list[str]:
    """The metrics, with Hogenhout & Matsumoto's restricted to brackets of the given labels."""
    if "hogenhout" not in [metric.partition(":")[0] for metric in metrics]:
        raise UsageError("--structure is for -m hogenhout; --breakdown labels shows PARSEVAL by label")
    return [f"{metric}:structure={labels}" if metric.partition(":")[0] == "hogenhout" else metric for metric in metrics]


def _preset_description(name: str) -> str:
    """The text of the preset's file and, if it builds on another preset, all its settings."""
    preset, text = load_preset(name), preset_text(name)
    if not any(line.startswith("base") for line in text.splitlines()):
        return text
    settings = "".join(f"# {key} = {value}\n" for key, value in preset.options().items())
    return f"{text}\n# Together with what it builds on, that is:\n{settings}"


def _remark(gold: str, tests: Sequence[str], preset: Preset | None, chosen: dict[str, Any]) -> None:
    """Warn on stderr about what looks like a mistake, and about settings in a parameter file that have no effect here."""
    for test in tests:
        if os.path.exists(gold) and os.path.exists(test) and os.path.samefile(gold, test):
            shared.remark(f"warning: gold and test are the same: {test}")
    if preset is None:
        return
    heeded = {"QUOTE_LABEL"} if chosen["on_mismatch"] == "evalb" else set[str]()
    keywords = [said for said in preset.ignored if " " not in said and said not in heeded]
    if keywords:
        shared.remark(f"{chosen['preset']}: no effect here: {', '.join(keywords)}")
    for said in preset.ignored:
        if " " in said:
            shared.remark(said)


def _request(preset: Preset | None, reading: ReadOptions, chosen: dict[str, Any]) -> Request:
    """The request to count what the chosen options ask for."""
    from treegauge.scoring.inputs import Request

    sentences = chosen["per_sentence"] or chosen["save"] is not None or chosen["form"] in ("jsonl", "evalb")
    sentences = sentences or chosen["confidence"] is not None
    if chosen["stream"] and (sentences or chosen["baselines"]):
        raise UsageError(
            "--stream keeps no sentences: leave out --per-sentence, --save, --confidence, --baselines, and the formats jsonl, evalb"
        )
    return Request.of(
        chosen["metrics"] or ("parseval",),
        preset,
        breakdowns=_breakdown_names([*chosen["breakdowns"], *(["lengths"] if chosen["by_length"] else [])]),
        keep=not chosen["stream"],
        reading=reading,
        on_error=reading.on_error,
        pair="text",
        sentences=sentences or chosen["examples"] > 0,
        trees=chosen["examples"] > 0,
        **{name: chosen[name] for name in ("on_mismatch", "match_words", "cutoff")},
    )


def _breakdown_names(given: Sequence[str]) -> list[str]:
    """The names of breakdowns in the given words; the singular `label` means `labels`."""
    if not given:
        return []
    from treegauge.metrics.breakdowns import BREAKDOWNS

    known = {**{name.removesuffix("s"): name for name in BREAKDOWNS}, "unary": "unaries", **{name: name for name in BREAKDOWNS}}
    words = [word.strip() for text in given for word in text.split(",") if word.strip()]
    for word in words:
        if word not in known:
            raise UnknownName("breakdown", word, BREAKDOWNS)
    return list(dict.fromkeys(known[word] for word in words))


def _systems_text(results: Sequence[Result], wanted: Sequence[str], chosen: dict[str, Any]) -> str:
    """The table of a paper, a row a system."""
    from treegauge.scoring.paper_table import ShortSentences, published_rows, rates_of, result_rows, score_caption, systems_table

    tested, others = results[: chosen["tested"]], results[chosen["tested"] :]
    names = rates_of(tested, wanted)
    rows = [
        *result_rows(tested, names),
        *result_rows(others, names, untested="baseline"),
        *published_rows(chosen["published"], names),
    ]
    short = None if chosen["cutoff"] is None else ShortSentences(chosen["cutoff"], tested[0].short.sentences)
    table = systems_table(rows, names, score_caption(tested), (str(result.signature) for result in tested), short=short)
    return shared.render_rates(table, chosen) + "\n"


def _print(results: Sequence[Result], chosen: dict[str, Any]) -> None:
    """Write the results to a file, or to stdout with the headline rates in bold on a terminal."""
    from treegauge.reports.scores import score_text
    from treegauge.scoring.result import RateLayout

    form, wanted = chosen["form"], comma_separated(chosen["rates"])
    has_others = chosen["per_sentence"] or chosen["breakdowns"] or chosen["by_length"]
    if has_others and chosen["rows"] == "systems":
        shared.remark("--rows systems has no effect beside --breakdown, --by-length and --per-sentence")
    if shared.rows_are_systems(chosen) and not has_others:
        pieces = iter([_systems_text(results, wanted, chosen)])
    else:
        digits = (2 if chosen["percent"] else 4) if chosen["digits"] is None else chosen["digits"]
        names = ()
        if wanted:
            from treegauge.scoring.paper_table import rates_of

            names = rates_of(results, wanted)
        layout = RateLayout(names, chosen["percent"], digits)
        pieces = score_text(results, form, per_sentence=chosen["per_sentence"], examples=chosen["examples"], layout=layout)
    if chosen["output"] != "-":
        from treegauge.io.writing import write_chunks

        write_chunks((piece.encode("utf-8", "replace") for piece in pieces), chosen["output"])
        return
    on_terminal, headlines = form == "table" and sys.stdout.isatty(), {result.headline.replace("_", " ") for result in results}
    for piece in pieces:
        click.echo("\n".join(_for_terminal(line, headlines) for line in piece.split("\n")) if on_terminal else piece, nl=False)


def _for_terminal(line: str, headlines: Collection[str]) -> str:
    """A line of a table for a terminal: the headline rate is bold, and a signature is broken between its parts."""
    if line.split("  ")[0] in headlines:
        return line if os.environ.get("NO_COLOR") else click.style(line, bold=True)
    width = shutil.get_terminal_size().columns
    if len(line) <= width or "|version:" not in line:
        return line
    return textwrap.fill(line.replace("|", "| "), width, subsequent_indent="  ", break_on_hyphens=False).replace("| ", "|")
