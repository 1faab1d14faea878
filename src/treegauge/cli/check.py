"""``treegauge check``: annotate brackets in the browser; results, agreement, export and corrections."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from treegauge.cli._group import INPUT, OUTPUT, Command, OutputFile, as_typed
from treegauge.cli._options import (
    counting_options,
    format_option,
    list_notes,
    named_single_runs,
    preset_option,
    reading_both_options,
)
from treegauge.errors import CheckFailed, MismatchError, UsageError, check_name
from treegauge.io.sources import ReadOptions, Source
from treegauge.tables import comma_separated, number_of, render_all

if TYPE_CHECKING:
    from treegauge.humancheck.judgements import JudgementLog, Person
    from treegauge.humancheck.questions import Check
    from treegauge.humancheck.store import Store

_TASKS = ("results", "agreement", "audit", "export", "import", "corrected", "patch", "revoke")


@click.command(
    cls=Command,
    seldom=(
        *("keep", "with_emr", "rule", "across_gold", "replace", "parser_labels", "revoke", "audit", "seed"),
        *("host", "port", "allow_remote", "names", "certificate", "key", "base", "new_links", "open_"),
    ),
)
@click.argument("gold", required=False, type=INPUT)
@click.argument("tests", nargs=-1, type=INPUT, metavar="[TEST...]")
@click.option("--store", type=OutputFile(is_read=True), default="judgements.sqlite", show_default=True, metavar="FILE|URL",
              help="Store of judgements: a SQLite file, or postgresql://user@host/database.")  # fmt: skip
@click.option("--annotator", "annotators", multiple=True, metavar="NAME",
              help="Annotator name (repeatable); each gets a link. With --results: count only these annotators.")  # fmt: skip
@click.option("--by", type=click.Choice(["sentence", "bracket"]),
              help="Ask sentence by sentence, or bracket by bracket. Default: sentence; bracket with --blind.")  # fmt: skip
@click.option("--sample", type=click.IntRange(0), default=0, metavar="N",
              help="Ask about N sentences (--by bracket: N brackets), drawn at random (0: all).")  # fmt: skip
@click.option("--overlap", type=click.FloatRange(0, 1), metavar="SHARE",
              help="Divide the questions among the annotators; a SHARE, as in 0.2, goes to all. Default: all.")  # fmt: skip
@click.option("--guidelines", type=INPUT, metavar="FILE",
              help="Show this Markdown file among the guidelines.")  # fmt: skip
@click.option("--structure", default="", metavar="LABEL,...", help="Only brackets with these labels, as in PP,NP.")
@click.option("--exact", is_flag=True, help="Ask about exact matches too, to find errors in the treebank.")
@click.option("--blind", is_flag=True, help="Show two unnamed trees in random order, and the reason only after the answer.")
@click.option("--seed", metavar="N", type=click.IntRange(0), default=1, show_default=True, help="Seed of the random order.")
@counting_options(preset_option(default="default"))
@click.option("--keep", default="", metavar="STEP,...",
              help="Preprocessing steps to omit: punctuation, empty, double, one-word.")  # fmt: skip
@click.option("--with-emr", is_flag=True, help="Count rejected exact matches in Test Noise and Problem Rate.")
@click.option("--rule", type=click.Choice(["majority", "unanimous"]), default="majority", show_default=True,
              help="Rule that turns the verdicts of several annotators into one, where there is no adjudicator's.")  # fmt: skip
@click.option("--across-gold", is_flag=True,
              help="With --results: for brackets without a verdict, use those given before the gold tree changed.")  # fmt: skip
@click.option("--results", is_flag=True, help="Print the items and measures (Tables 1 and 4 of the paper) and exit.")
@click.option("--agreement", is_flag=True, help="Print the agreement of the annotators and exit.")
@click.option("--audit", is_flag=True, help="Print all entries of the log of judgements and exit.")
@click.option(
    "--export",
    type=OUTPUT,
    metavar="FILE",
    help="Write all judgements to a .jsonl or .csv file (- is standard output, JSON lines).",
)
@click.option("--import", "import_", type=INPUT, metavar="FILE", help="Read judgements from a .jsonl or .csv file into the store.")
@click.option("--replace", is_flag=True, help="With --import: override judgements of the same annotators on the same brackets.")
@click.option("--corrected", type=OUTPUT, metavar="FILE", help="Write the treebank with all accepted corrections.")
@click.option("--patch", type=OUTPUT, metavar="FILE", help="Write the accepted corrections as a patch (- is standard output).")
@click.option("--parser-labels", is_flag=True,
              help="With --corrected and --patch: use the parser's label where no annotator chose one.")  # fmt: skip
@click.option("--revoke", metavar="NAME", help="Invalidate the link of an annotator; the next start gives a new one.")
@format_option()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="Port to listen on (0: any free port)."
)
@click.option("--allow-remote", is_flag=True, help="Let other machines reach the page (links still need their tokens).")
@click.option(
    "--allow-host", "names", multiple=True, metavar="NAME", help="Host name under which this machine is reached (repeatable)."
)
@click.option("--certificate", type=INPUT, metavar="FILE", help="Serve HTTPS with this certificate (PEM).")
@click.option("--key", type=INPUT, metavar="FILE", help="Private key of the certificate (PEM).")
@click.option("--path", "base", default="", metavar="/PATH", help="Sub-path of the page behind a proxy, as in /check.")
@click.option("--new-links", is_flag=True, help="Invalidate all links given out before.")
@click.option(
    "--open/--no-open", "open_", default=None, help="Open the page in a browser. Default: on a terminal, with one annotator."
)
@reading_both_options
def command(gold: str | None, tests: tuple[str, ...], options: ReadOptions, **settings: Any) -> None:
    """Annotate brackets in the browser: accept or reject those on which parser and treebank differ.

    A page on this machine shows one sentence after the other, with all its brackets in question. The store keeps the judgements by
    sentence, span and label, so they also apply to the parser's next version. GOLD and TEST are treebank files; NAME=FILE
    gives a parser a name. The human check is that of Hogenhout & Matsumoto (1996).

    \b
    Examples:
      treegauge check gold.mrg parser.mrg
      treegauge check gold.mrg A.mrg B.mrg --annotator anna --annotator ben --sample 100 --overlap 0.2
      treegauge check gold.mrg A.mrg B.mrg --results --format latex
      treegauge check gold.mrg parser.mrg --exact --corrected better-gold.mrg
      treegauge check --export judgements.jsonl
    """
    from treegauge.humancheck import require_web

    require_web()
    tasks = [name for name in _TASKS if settings["import_" if name == "import" else name]]
    if len(tasks) > 1:
        raise UsageError(f"choose one of --{tasks[0]} and --{tasks[1]}")
    task = tasks[0] if tasks else "serve"
    if task not in _OF_STORE and (gold is None or not tests):
        raise UsageError("check needs a treebank and a parser's output: treegauge check GOLD TEST")
    from treegauge.humancheck.store import Store
    from treegauge.humancheck.web.security import check_address

    check_address(settings["host"], allow_remote=settings["allow_remote"])
    with Store(settings["store"], create=task in ("serve", "import")) as store:
        if task in _OF_STORE or gold is None:
            _OF_STORE[task](store, settings)
        else:
            check = _check(gold, tests, options, settings)
            lines = list_notes({system.name: system.notes for system in check.systems})
            _OF_CHECK[task](check, store, {**settings, "reading": options})
            if lines:
                raise MismatchError("\n".join(lines))


def _check(gold: str, tests: Sequence[str], options: ReadOptions, settings: dict[str, Any]) -> Check:
    from treegauge.cli._treebanks import gold_and_tests
    from treegauge.humancheck.questions import CheckPlan, build_check
    from treegauge.metrics.hogenhout import Hogenhout
    from treegauge.presets import load_preset

    banks = gold_and_tests(gold, named_single_runs(tests), options)
    metric = Hogenhout(
        structure=comma_separated(settings["structure"]), keep=comma_separated(settings["keep"]), with_emr=settings["with_emr"]
    )
    by_sentence = (settings["by"] or ("bracket" if settings["blind"] else "sentence")) == "sentence"
    if by_sentence and settings["blind"]:
        raise UsageError("--blind asks bracket by bracket: leave out --by sentence")
    plan = CheckPlan(
        metric,
        load_preset(settings["preset"], options.treebank),
        settings["exact"],
        settings["sample"],
        settings["seed"],
        by_sentence,
        settings["match_words"],
    )
    return build_check(*banks, plan)


def _open_log(store: Store, annotators: Sequence[str]) -> JudgementLog:
    """The log of a store; annotators who have not judged anything are an error."""
    from treegauge.humancheck.judgements import JudgementLog

    log = JudgementLog(store.since(0))
    known = log.names()
    for name in annotators:
        check_name("annotator", name, known)
    return log


def _serve(check: Check, store: Store, settings: dict[str, Any]) -> None:
    from treegauge.humancheck.session import Session, people_named
    from treegauge.humancheck.web.server import Address, open_in_browser, serve

    people = people_named(settings["annotators"] or ("annotator",))
    guidelines = _guidelines(settings["guidelines"])
    session = Session(check, store, people, blind=settings["blind"], overlap=settings["overlap"], guidelines=guidelines)
    names = ("host", "port", "allow_remote", "names", "base", "certificate", "key")
    address = Address(**{name: settings[name] for name in names})
    if settings["allow_remote"] and not settings["certificate"]:
        click.echo(
            "treegauge: warning: links and judgements travel as plain text (HTTP), which others on the network can read;\n"
            "  serve HTTPS with --certificate and --key, or put a proxy with HTTPS in front",
            err=True,
        )
    with ExitStack() as stack:

        def announce(links: dict[Person, str]) -> None:
            click.echo(f"{_number_of_questions(check)} to judge; judgements are kept in {store.name}", err=True)
            for person, link in links.items():
                click.echo(f"{person.name}: {link}" if len(links) > 1 else link)
            sys.stdout.flush()
            click.echo("Stop with Ctrl-C.", err=True)
            wanted = settings["open_"]
            if wanted or (wanted is None and len(links) == 1 and sys.stdout.isatty() and not settings["allow_remote"]):
                stack.enter_context(open_in_browser(next(iter(links.values()))))

        before = len(session.log.by_id)
        serve(session, address, announce, lambda text: click.echo(text, err=True), renew=settings["new_links"])
    click.echo(f"\n{number_of(len(session.log.by_id) - before, 'answer')} stored in {store.name}", err=True)


def _number_of_questions(check: Check) -> str:

    brackets = number_of(len(check.order), "bracket")
    if check.plan.sample:
        brackets = f"{len(check.order):,} of {number_of(len(check.ranking), 'bracket')}"
    if not check.plan.by_sentence:
        return brackets
    return f"{brackets} in {number_of(len({check.unit_of[number] for number in check.order}), 'sentence')}"


def _guidelines(path: str | None) -> str:

    if path is None:
        return ""
    with Source(path).open() as stream:
        return stream.read().decode("utf-8-sig", "replace")


def _results(check: Check, store: Store, settings: dict[str, Any]) -> None:
    from treegauge.humancheck.judgements import verdict_rule
    from treegauge.humancheck.results import find_results, tags_table

    annotators = settings["annotators"]
    log = _open_log(store, annotators)
    verdict = verdict_rule(log, settings["rule"], annotators, across_gold=settings["across_gold"])
    results = find_results(check, verdict)
    tags = tags_table(check, log, annotators)
    if settings["form"] == "json":
        document = {"schema": "treegauge.check/2", "store": store.name, "rule": settings["rule"], **results.to_dict()}
        document["reasons"] = tags.to_records()
        click.echo(json.dumps(document, ensure_ascii=False, indent=1))
        return
    click.echo(render_all([*results.tables(), *([tags] if tags.rows else [])], settings["form"]))


def _agreement(check: Check, store: Store, settings: dict[str, Any]) -> None:
    from treegauge.humancheck.results import find_agreement

    click.echo(
        render_all([find_agreement(check, _open_log(store, settings["annotators"]), settings["annotators"])], settings["form"])
    )


def _write_corrections(check: Check, store: Store, settings: dict[str, Any]) -> None:
    from treegauge import io
    from treegauge.humancheck.corrected_text import corrected_files, patch_of
    from treegauge.humancheck.corrections import correct_treebank
    from treegauge.io.writing import write_chunks

    annotators = settings["annotators"]
    log = _open_log(store, annotators)
    corrected = correct_treebank(check, log, settings["rule"], annotators, parser_labels=settings["parser_labels"])
    for refusal in corrected.refused:
        click.echo(as_typed(refusal), err=True)
    files = corrected_files(check.gold, corrected.bank, settings["reading"])
    if settings["patch"]:
        write_chunks(patch_of(files), settings["patch"])
    elif files is not None and _writes_brackets(settings["corrected"]):
        write_chunks((file.after for file in files), settings["corrected"])
    else:
        if settings["reading"].changes_trees:
            click.echo("note: written from the trees as they were read, without the files' lemmas, comments and layout", err=True)
        io.write(corrected.bank, settings["corrected"])
    changes = number_of(corrected.changes, "bracket")
    click.echo(f"{changes} corrected in {corrected.sentences:,} of {number_of(len(corrected.bank), 'tree')}", err=True)


def _writes_brackets(path: str) -> bool:
    """Whether a file with this name holds bracketed text, as the treebank's files may."""
    from treegauge.io.formats import format_of_suffix

    known = format_of_suffix(Source(path).suffix)
    return known is None or known.name in ("bracketed", "discbracket")


def _audit(store: Store, settings: dict[str, Any]) -> None:
    from treegauge.humancheck.exchange import audit_table

    click.echo(render_all([audit_table(store.since(0), store.words())], settings["form"]))


def _export(store: Store, settings: dict[str, Any]) -> None:
    from treegauge.humancheck.exchange import export_lines
    from treegauge.io.writing import write_chunks

    suffix = Source(settings["export"]).suffix
    if settings["export"] != "-" and suffix not in (".jsonl", ".csv"):
        raise UsageError(f"--export {settings['export']}: the file name must end in .jsonl or .csv")
    lines = export_lines(store, suffix.removeprefix(".") or "jsonl")
    # Half a surrogate pair, which UTF-8 cannot encode, is written as its JSON escape.
    write_chunks((f"{line}\n".encode("utf-8", "backslashreplace") for line in lines), settings["export"])


def _import(store: Store, settings: dict[str, Any]) -> None:
    from treegauge.humancheck.exchange import import_file

    counts = import_file(store, settings["import_"], replace=settings["replace"])
    click.echo(f"{number_of(counts.stored, 'judgement')} stored, {counts.known} known already", err=True)
    if counts.held:
        held = number_of(counts.held, "judgement")
        click.echo(f"{held} left out: the store has another one by the same annotator; --replace prefers the file's", err=True)
    if counts.conflicts:
        conflicts = number_of(counts.conflicts, "judgement")
        raise CheckFailed(f"{conflicts} left out: the id belongs to another judgement in {store.name}")


def _revoke(store: Store, settings: dict[str, Any]) -> None:
    from treegauge.humancheck.session import ADJUDICATOR

    name: str = settings["revoke"]
    known = {person for _, person in store.link_numbers()} | set(_open_log(store, ()).names())
    check_name("annotator", name, known)
    store.revoke_link("adjudicator" if name == ADJUDICATOR.name else "annotator", name)
    click.echo(f"the link of {name} is no longer valid", err=True)


_OF_CHECK: dict[str, Callable[[Check, Store, dict[str, Any]], None]] = {
    "serve": _serve,
    "results": _results,
    "agreement": _agreement,
    "corrected": _write_corrections,
    "patch": _write_corrections,
}
_OF_STORE: dict[str, Callable[[Store, dict[str, Any]], None]] = {
    "audit": _audit,
    "export": _export,
    "import": _import,
    "revoke": _revoke,
}
