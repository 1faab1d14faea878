"""``treegauge parse``: the best trees of sentences for an objective."""

from __future__ import annotations

import itertools
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from typing import Any

import click

from treegauge.cli._grammars import input_kind, input_sentences, load_models, model_options, models_and_text, raw_option
from treegauge.cli._group import INPUT, OUTPUT, Command, InputFile
from treegauge.cli._options import engine_option, format_option, jobs_option, number_of_jobs, progress
from treegauge.compilation import report_compiling, when_compiling
from treegauge.engines import Engine, SentenceBlock, blocks_of
from treegauge.errors import TreegaugeError, UnknownName, UsageError
from treegauge.io.sources import AUTO, ReadOptions, content_hash
from treegauge.models.loading import LoadedModel
from treegauge.parsing.coarse_to_fine import THRESHOLD, search_error
from treegauge.parsing.confidence import ExpectedCounts, calibration_from_notes
from treegauge.parsing.input import KINDS, InputKind
from treegauge.parsing.mixture import MixtureParser
from treegauge.parsing.objectives import CRITERIA, OBJECTIVES, settings_from_notes
from treegauge.parsing.output import BLOCK, FORMATS, ParseJob, ParseRecord, RecordFile, footer, header, parse_block, parse_record
from treegauge.parsing.parser import Parser, Sentence, SentenceParser
from treegauge.parsing.span_weights import read_weights
from treegauge.presets.treebanks import PUNCTUATION
from treegauge.tables import cut, number_of

MANY = 256
"""The number of sentences from which on starting processes is worthwhile."""
SMALL_BLOCK = 16
"""The number of sentences that a process of this machine parses at a time."""
_USUAL = 10
"""The length of a sentence that is parsed quickly and needs all kernels."""
MOST_UNKNOWN = 5
"""The number of unknown words that are named; further ones are counted."""
_NOT_IN_PLAN = ("files", "output", "resume", "quiet", "jobs", "engine", "prune_check")
"""Options that change no record."""
PRUNE_EVERY = 10
"""One sentence in this many is also parsed without pruning, to see whether pruning lost the best tree."""


@click.command(
    cls=Command,
    seldom=("weights", "preset", "pre", "candidates", "size", "seed", "prune_check", "start", "renormalise"),
    epilog="""\b
Examples:
  echo "I saw the man with the telescope ." | treegauge parse
  treegauge parse train.model sentences.txt --objective labelled-recall -o out.mrg
  treegauge parse grammars.model network.model sentences.txt -o out.mrg
  treegauge parse train.model gold.mrg --input trees --gold-tags --jobs 2
  treegauge parse train.model sentences.txt --for parseval.recall --preset collins
  treegauge parse train.model sentences.txt --objective general --weights weights.txt
  treegauge parse train.model sentences.txt --prune --objective labelled-precision-recall
  treegauge parse grammar.txt - --kbest 5 --format json < sentences.txt
  treegauge parse train.model sentences.txt --engine dask:tcp://host:8786 -o out.mrg.gz""",
)
@click.argument("files", nargs=-1, type=INPUT, metavar="[MODEL]... [FILE]")
@click.option(
    "--shares", metavar="N,N,...", help="Several models: the share of each in the mean of their posteriors.  [default: equal]"
)
@click.option("--for", "purpose", metavar="CRITERION",
              help="recall, precision, f1 or exact: the setting stored in the model; or METRIC.RATE.  [default: f1]")  # fmt: skip
@click.option("--objective", metavar="NAME",
              help=f"Decoding objective: {', '.join(OBJECTIVES)}; max-rule only with models of treegauge train; mbr:METRIC "
              "takes any metric.  [default: as --for; labelled-precision-recall with models of treegauge train]")  # fmt: skip
@click.option("--lam", type=click.FloatRange(0, 1), metavar="NUMBER", help="labelled-precision-recall: least posterior of a node.")
@click.option("--weights", type=INPUT, metavar="FILE",
              help="general: file of span weights, by label or by span.")  # fmt: skip
@click.option("--preset", type=INPUT, metavar="NAME",
              help="mbr: preset of the metric, as in treegauge score.  [default: that of the metric]")  # fmt: skip
@click.option("--pre/--nopre", default=None, help="Count preterminals, or not (labelled-recall, bracketed-recall and others).")
@click.option("--candidates", type=click.Choice(["samples", "kbest"]), help="mbr: kind of trees to compare.  [default: samples]")
@click.option("--size", type=click.IntRange(1), metavar="N", help="mbr: number of trees to compare.  [default: 100]")
@click.option("--seed", type=click.IntRange(0), metavar="N", help="mbr: seed of the samples.  [default: 0]")
@click.option("--input", "kind", type=click.Choice(KINDS), default="tokens", show_default=True,
              help="Input: tokens separated by blanks, word/TAG pairs, raw text, or trees (their words are parsed).")  # fmt: skip
@raw_option
@click.option("--gold-tags", is_flag=True, help="Keep the tags of the input (tagged or trees).")
@click.option("--prune", type=float, is_flag=False, flag_value=THRESHOLD, default=0.0, metavar="[NUMBER]",
              help=f"Prune spans that a coarse grammar finds less probable than NUMBER [{THRESHOLD:g}].")  # fmt: skip
@click.option("--exact", is_flag=True, help="Models of treegauge train: prune nothing. Slow; for short sentences.")
@click.option("--prune-check", type=click.IntRange(0), metavar="N",
              help="Also parse N of the sentences exactly, and report how often pruning lost the best tree.  [default: 25 with "
              "--prune, else 0]")  # fmt: skip
@click.option(
    "--kbest",
    type=click.IntRange(1),
    metavar="K",
    help="Print the K likeliest parses of each sentence; bracketed, a line above each gives its probabilities: "
    "# sentence 1, parse 2, posterior 0.4286, log probability -6.0968. Read such files with --comment '#'.",
)
@click.option("--posteriors", is_flag=True, help="Annotate each node with its posterior: NP=0.93.")
@click.option(
    "--expected-f1",
    is_flag=True,
    help="Add the expected F1 of each tree, calibrated on trees held out in training, or marked as not calibrated; bracketed, in "
    "a line above the tree: # sentence 1, expected F1 0.8731.",
)
@format_option(FORMATS, by_suffix=True)
@click.option("-o", "--output", type=OUTPUT, default="-", metavar="FILE", help="Output file.")
@click.option("--resume", is_flag=True, help="Continue an interrupted run; its complete sentences are kept.")
@jobs_option("Number of sentences parsed in parallel")
@click.option("-q", "--quiet", is_flag=True, help="Print no remarks or totals on stderr.")
@click.option("--encoding", default=AUTO, metavar="NAME", help="Encoding of the input.  [default: UTF-8, or detected]")
@model_options
@engine_option
def command(
    files: tuple[str, ...], shares: str | None, purpose: str | None, objective: str | None, kind: InputKind, raw: bool,
    gold_tags: bool, prune: float, exact: bool, prune_check: int | None, kbest: int | None, posteriors: bool, expected_f1: bool,
    form: str, output: str, resume: bool, jobs: int, quiet: bool, encoding: str, style: str, start: str | None, renormalise: bool,
    device: str, engine: Engine, **choices: Any,
) -> None:  # fmt: skip
    """Parse the sentences of FILE with MODEL (a model, or a grammar as text; default: own, a small grammar that comes
    with treegauge).

    The posteriors of several models are averaged. One sentence per line in, one tree per line out, in the same order. A sentence
    that has no parse gets a right-branching tree whose root is marked -FALLBACK; stderr shows how many there are.
    """
    if resume and (output == "-" or form == "json"):
        raise UsageError("--resume needs -o FILE and a format of one record per sentence: bracketed or jsonl")
    options = {name: value for name, value in choices.items() if value is not None}
    weights = options.get("weights")
    if weights is not None:
        options["weights"] = read_weights(weights)
    kind, (names, file) = input_kind(kind, raw), models_and_text(files)
    given, is_named = load_models(names, shares, start=start, renormalise=renormalise, device=device), objective is not None
    if kbest and form == "bracketed" and (expected_f1 or purpose is not None or objective not in (None, "viterbi")):
        why = "--kbest prints the likeliest parses; --objective, --for and --expected-f1 concern another tree"
        raise UsageError(f"{why}: leave them out, or give --format jsonl, which has both")
    if objective in CRITERIA:
        raise UsageError(f"{objective} is a rate, not an objective: --for {objective} chooses the objective for it")
    if purpose is not None and objective is not None:
        raise UsageError("--for chooses the objective: leave out --objective")
    said = ""
    if objective is None:
        objective, options, said = _setting(purpose, given, options)
    parser = given.parser.with_settings(
        objective=objective, options=options, kbest=kbest or 0, posteriors=posteriors, gold_tags=gold_tags, expected_f1=expected_f1,
        calibration=calibration_from_notes(given.notes),
    )  # fmt: skip
    if isinstance(parser, Parser):
        parser = replace(parser, probabilities=form != "bracketed" or bool(kbest))
    parser = _with_pruning(parser, prune, exact)
    _check(parser, is_named)
    if said and not quiet and not (kbest and form == "bracketed"):  # the likeliest parses are printed, whatever the objective
        click.echo(said, err=True)
    check = (25 if prune else 0) if prune_check is None else prune_check
    plan = None if output == "-" else _plan(names, file)
    target = RecordFile(output, form, bool(kbest) or expected_f1, resume=resume, plan=plan)
    if target.discards and not quiet:
        click.echo(f"{output}: an unfinished run is discarded; --resume would have continued it", err=True)
    every = PRUNE_EVERY if prune_check is None else 1
    reading = ReadOptions(encoding=encoding, treebank=style)
    job = ParseJob(parser, kind, reading, form, jobs or 1, target.done, every, check)
    sentences = target.missing(input_sentences(file, job.kind, job.reading, parser))
    if engine.in_process:
        records = _parse_here(sentences, replace(job, jobs=number_of_jobs(jobs, engine)), many=os.path.isfile(file))
    else:
        blocks = blocks_of(sentences, BLOCK, job.done)
        records = itertools.chain.from_iterable(engine.map(parse_block, job, blocks, title="parsing"))
    beginning = header(form, given.name, parser.objective, options | ({"weights": weights} if weights else {}))
    with target.open() as write:
        totals = _write_records(records, write, beginning, footer(form), posteriors)
    if not quiet:
        _print_totals(totals, parser, job.done)
    if posteriors and not quiet:
        gold = file if kind == "trees" and file != "-" and not kbest and not job.done else None
        _print_expected(totals.expected, gold, form, job.reading)


def _plan(models: Sequence[str], file: str) -> dict[str, Any]:
    """Everything that determines the records: the options of this command, with the hashes of its files in place of their names."""
    context = click.get_current_context()
    chosen = {each: context.params[each.name or ""] for each in context.command.params if each.name not in _NOT_IN_PLAN}
    own = {max(each.opts, key=len): _hashes(value) if isinstance(each.type, InputFile) else value for each, value in chosen.items()}
    return own | {"the model": _hashes(models), "the text": _hashes(file)}


def _hashes(paths: str | Sequence[str] | None) -> list[str]:
    return [content_hash(path) for path in ([paths] if isinstance(paths, str) else paths or ())]


@dataclass
class _Totals:
    """Totals over all sentences, printed at the end; ``checked`` are the sentences to be parsed without pruning as well."""

    began: float = field(default_factory=time.monotonic)
    sentences: int = 0
    failed: int = 0
    too_long: list[int] = field(default_factory=list[int])
    pruned: int = 0
    without_a_model: int = 0
    checked: list[Sentence] = field(default_factory=list[Sentence])
    expected: list[tuple[str, ExpectedCounts | None]] = field(default_factory=list[tuple[str, "ExpectedCounts | None"]])
    unknown_words: Counter[str] = field(default_factory=Counter[str])
    respelled: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])


def _write_records(
    records: Iterator[ParseRecord], write: Callable[[str], object], beginning: str, end: str, posteriors: bool
) -> _Totals:
    totals = _Totals()
    # Worker processes start with the first record, as copies of this one; anything written before would be written by them, too.
    first = list(itertools.islice(records, 1))
    write(beginning)
    for text, made, checked in itertools.chain(first, records):
        write(text)
        totals.expected += [(text, made.expected)] if posteriors else []
        totals.sentences += 1
        totals.failed += made.fallback
        totals.too_long += [totals.sentences] * made.too_long
        totals.pruned += made.pruned
        totals.without_a_model += made.missing > 0 and not made.fallback
        totals.unknown_words.update(made.unknown_words)
        totals.respelled.update(made.respelled)
        totals.checked += [] if checked is None else [checked]
    write(end)
    return totals


def _print_totals(totals: _Totals, parser: SentenceParser, done: int) -> None:
    resumed = f" after {done:,} done before" if done else ""
    parsed = f"{number_of(totals.sentences, 'sentence')}{resumed} in {time.monotonic() - totals.began:.1f} s"
    click.echo(f"{parsed}; {totals.failed:,} without a parse (fallback)", err=True)
    if totals.too_long:
        why = "too many words, or too little memory for the chart"
        which = cut(", ".join(str(done + number) for number in totals.too_long), "")
        click.echo(f"{number_of(len(totals.too_long), 'sentence')} of these: too long to be parsed ({why}): {which}", err=True)
    if totals.without_a_model:
        click.echo(f"{number_of(totals.without_a_model, 'sentence')} parsed by only some of the models", err=True)
    if totals.pruned:
        click.echo(f"{number_of(totals.pruned, 'sentence')} pruned despite --exact: too many parses", err=True)
    _print_unknown_words(totals.unknown_words, "tag" if parser.reads_tags else "word")
    if totals.respelled:
        shown = cut(", ".join(f"{word} as {known}" for (word, known), _ in totals.respelled.most_common()), "")
        click.echo(f"{number_of(totals.respelled.total(), 'word')} looked up as the model spells them: {shown}", err=True)
    if totals.checked:
        click.echo(str(search_error(parser, totals.checked)), err=True)


def _print_unknown_words(found: Counter[str], what: str) -> None:
    """Print the words, or tags, that the grammar lacks and sentences have no parse for: the most frequent, and how many more."""
    for word, count in found.most_common(MOST_UNKNOWN):
        click.echo(f"{what} {word!r} is not in the grammar ({number_of(count, 'sentence')})", err=True)
    if len(found) > MOST_UNKNOWN:
        click.echo(f"and {number_of(len(found) - MOST_UNKNOWN, f'more {what}')} that are not in the grammar", err=True)
    if what == "tag" and 2 * sum(found[tag] for tag in PUNCTUATION) > found.total():
        why = "most of these tags are punctuation: prepare the trees as those that were learned from"
        click.echo(f"{why}; without punctuation: treegauge normalise FILE --steps preset:induction", err=True)


def _with_pruning(parser: SentenceParser, prune: float, exact: bool) -> SentenceParser:
    """The parser with the threshold ``prune`` or, if ``exact``, without pruning."""
    if exact and prune:
        raise UsageError("--exact and --prune contradict each other: leave out one")
    if exact:
        return parser.without_pruning()
    if prune and isinstance(parser, MixtureParser):
        return replace(parser, parts=tuple(_with_pruning(part, prune, exact) for part in parser.parts))
    if prune and not isinstance(parser, Parser):
        why = "a network has nothing to prune; a model of treegauge train always prunes, with its own thresholds"
        raise UsageError(f"{why}: leave out --prune, or give --exact")
    return replace(parser, prune=prune) if isinstance(parser, Parser) else parser


def _setting(purpose: str | None, given: LoadedModel, options: dict[str, Any]) -> tuple[str, dict[str, Any], str]:
    """The objective for a criterion, with its options, and a line that says which it is; none for a grammar written as text."""
    setting = given.setting(purpose)
    if "lam" in options and setting.lam is not None:
        setting = setting._replace(lam=options["lam"])
    said = f"decoding for {purpose or 'f1'}: --objective {setting}"
    if isinstance(given.parser, Parser) and (purpose is None or purpose in CRITERIA) and not settings_from_notes(given.notes):
        lacking = "no stored setting" if purpose is None else f"no stored setting for {purpose}"
        how = "learn --tune TREES" if "cross_entropy" in given.notes else "induce, given 50 trees or more,"
        said = f"this grammar has {lacking}: --objective {setting} ({how} stores one)"
        said = said if given.notes or purpose is not None else ""
    return setting.objective, {**options, **setting.options}, said


def _check(parser: SentenceParser, is_named: bool) -> None:
    """Refuse options that the objective does not have; if no objective was named, the error tells how to name one."""
    try:
        parser.check()
    except UnknownName:
        raise
    except UsageError as error:
        if is_named or "option" not in str(error):
            raise
        advice = "No objective was named, so this one was chosen. Name the one to which the option belongs, as in"
        raise UsageError(f"{error}\n  {advice} --objective labelled-precision-recall --lam 0.4.") from None


def _print_expected(found: list[tuple[str, ExpectedCounts | None]], gold: str | None, form: str, reading: ReadOptions) -> None:
    """Print the expected rates of the trees and, if the input has gold trees, their actual rates."""
    counts = [each for _, each in found if each is not None]
    if not counts:
        return
    total = ExpectedCounts.total(counts)
    said = f"expected recall {100 * total.recall:.2f}, precision {100 * total.precision:.2f}, F1 {100 * total.f1:.2f}"
    if gold is not None:
        from treegauge.io import read
        from treegauge.scoring.evaluation import score
        from treegauge.trees import Tree

        right = read(gold, reading.of_categories)
        texts = [json.loads(text.strip(",\n"))["tree"] if form != "bracketed" else text for text, _ in found]
        kept = [i for i, (_, each) in enumerate(found) if each is not None]
        rates = score([right[i] for i in kept], [Tree.parse(texts[i]) for i in kept], metric="parseval").rates
        said += (
            f"; actual recall {100 * rates['recall']:.2f}, precision {100 * rates['precision']:.2f}, F1 {100 * rates['f1']:.2f} "
            "(PARSEVAL, against the input's own trees)"
        )
    click.echo(f"{said}; sentences without a parse left out", err=True)


def _parse_here(sentences: Iterator[Sentence], job: ParseJob, *, many: bool) -> Iterator[ParseRecord]:
    """Parse on this machine; stderr shows the progress, and whether kernels must be compiled. ``many``: there may be many."""
    with when_compiling(report_compiling), progress("parsing", None) as advance:
        for record in _records_here(sentences, job, many=many):
            yield record
            advance()


def _records_here(sentences: Iterator[Sentence], job: ParseJob, *, many: bool) -> Iterator[ParseRecord]:
    """Parse in this process or, with several jobs and many sentences, in several processes."""
    if job.jobs > 1 and many and job.parser.forks:
        first = list(itertools.islice(sentences, MANY))
        sentences = itertools.chain(first, sentences)
        if len(first) == MANY:
            return _parse_in_processes(job, blocks_of(sentences, SMALL_BLOCK, job.done))
    parses = enumerate(job.parser.parse_all(sentences, job.jobs), job.done)
    return (parse_record(job, number, parsed) for number, parsed in parses)


def _parse_in_processes(job: ParseJob, blocks: Iterator[SentenceBlock]) -> Iterator[ParseRecord]:
    """Parse block by block in several processes; threads of one process would wait for each other while trees are built.

    The processes are forked here, after the kernels are loaded and before a progress bar starts a thread, which would make forking
    unsafe.
    """
    from treegauge.engines.workers import Processes

    first = next(blocks)
    with suppress(TreegaugeError):  # kernels are loaded by a sentence of the block; its errors are reported when its turn comes
        list(job.parser.parse_all([min(first.sides[0], key=lambda sentence: abs(len(sentence.words) - _USUAL))], 1))
    engine = Processes(job.jobs, inherit=True)
    found = engine.map(parse_block, replace(job, jobs=1), itertools.chain([first], blocks))
    try:
        begun = next(found)
    except BaseException:
        engine.close()
        raise
    return _records(engine, itertools.chain([begun], found))


def _records(engine: Engine, found: Iterator[list[ParseRecord]]) -> Iterator[ParseRecord]:
    with closing(engine):
        for records in found:
            yield from records
