"""``treegauge check``: a page on which people judge brackets, and everything that follows from their judgements."""

from __future__ import annotations

import json
import sys
import webbrowser
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import click

from treegauge.cli._options import named_systems, reading_options
from treegauge.errors import UnknownName, UsageError
from treegauge.io.sources import ReadOptions

if TYPE_CHECKING:
    from treegauge.humancheck.judgements import Ledger
    from treegauge.humancheck.questions import Check, Plan
    from treegauge.humancheck.store import Store
    from treegauge.humancheck.web.security import Who
    from treegauge.tables import Table

FORMATS = ("table", "json", "csv", "markdown", "latex")
_TASKS = ("results", "agreement", "audit", "export", "import", "corrected")


@click.command(
    epilog="""\b
Examples:
  treegauge check gold.mrg parser.mrg
  treegauge check gold.mrg A.mrg B.mrg --annotator anna --annotator ben --sample 300 --blind
  treegauge check gold.mrg A.mrg B.mrg --results --format latex
  treegauge check gold.mrg parser.mrg --exact --corrected better-gold.mrg
  treegauge check --export judgements.jsonl"""
)
@click.argument("gold", required=False)
@click.argument("tests", nargs=-1, metavar="[TEST...]")
@click.option("--store", default="judgements.sqlite", show_default=True, metavar="FILE|URL",
              help="Where judgements are kept: a SQLite file, or postgresql://user@host/database.")  # fmt: skip
@click.option("--annotator", "annotators", multiple=True, metavar="NAME",
              help="Somebody who judges, each with a link; give it several times. With --results: only these count.")  # fmt: skip
@click.option("--sample", type=click.IntRange(0), default=0, metavar="N", help="Ask about N brackets, drawn at random; 0: all.")
@click.option("--structure", default="", metavar="LABEL,...", help="Only brackets with these labels, as in PP,NP.")
@click.option("--exact", is_flag=True, help="Ask about exact matches, too: that finds errors in the treebank.")
@click.option("--blind", is_flag=True, help="Two unnamed trees in random order; the reason only after the answer.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed of the random order.")
@click.option("-p", "--preset", default="default", show_default=True, metavar="NAME|FILE", help="Which brackets and words count.")
@click.option("--keep", default="", metavar="STEP,...",
              help="Preprocessing steps to leave out: punctuation, empty, double, one-word.")  # fmt: skip
@click.option("--with-emr", is_flag=True, help="Count rejected exact matches in Test Noise and Problem Rate.")
@click.option("--rule", type=click.Choice(["majority", "unanimous"]), default="majority", show_default=True,
              help="How several annotators' verdicts become one, where no adjudicator has spoken.")  # fmt: skip
@click.option("--across-gold", is_flag=True,
              help="With --results: for brackets not judged, take what was said when the gold tree was another.")  # fmt: skip
@click.option("--results", is_flag=True, help="Print the items and measures (Tables 1 and 4 of the paper), and stop.")
@click.option("--agreement", is_flag=True, help="Print how well the annotators agree, and stop.")
@click.option("--audit", is_flag=True, help="Print everything that was ever said, and stop.")
@click.option("--export", metavar="FILE", help="Write all judgements to a .jsonl or .csv file (- is standard output, JSON lines).")
@click.option("--import", "import_", metavar="FILE", help="Read judgements from a .jsonl or .csv file into the store.")
@click.option("--corrected", metavar="FILE", help="Write the treebank with all accepted corrections.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True, help="Of what is printed.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="0: any free port.")
@click.option("--allow-remote", is_flag=True, help="Let other machines reach the page (links still need their tokens).")
@click.option("--allow-host", "names", multiple=True, metavar="NAME", help="A name under which this machine is reached.")
@click.option("--new-links", is_flag=True, help="Make all links given out before invalid.")
@click.option("--open/--no-open", "open_", default=None, help="Open the page in a browser. Default: on a terminal, one annotator.")
@reading_options
def command(gold: str | None, tests: tuple[str, ...], options: ReadOptions, **settings: Any) -> None:
    """Let people judge the brackets on which parser and treebank differ.

    A page on this machine shows one bracket after the other: accept it or reject it. The judgements stay in the store, keyed by
    sentence, span and label, so they hold for the parser's next version, too. GOLD and TEST are treebank files; NAME=FILE gives a
    parser a name. The human check is that of Hogenhout & Matsumoto (1996).
    """
    from treegauge.humancheck import require_web

    require_web()
    tasks = [name for name in _TASKS if settings["import_" if name == "import" else name]]
    if len(tasks) > 1:
        raise UsageError(f"one thing at a time: --{tasks[0]} or --{tasks[1]}")
    task = tasks[0] if tasks else "serve"
    if task not in ("audit", "export", "import") and (gold is None or not tests):
        raise UsageError("check needs a treebank and a parser's output: treegauge check GOLD TEST")
    from treegauge.humancheck.store import Store
    from treegauge.humancheck.web.security import check_address

    check_address(settings["host"], allow_remote=settings["allow_remote"])
    with Store(settings["store"], create=task in ("serve", "import")) as store:
        if task in _OF_STORE or gold is None:
            _OF_STORE[task](store, settings)
        else:
            _OF_CHECK[task](_check(gold, tests, options, settings), store, settings)


def _check(gold: str, tests: Sequence[str], options: ReadOptions, settings: dict[str, Any]) -> Check:
    from treegauge import io
    from treegauge.humancheck.questions import build_check

    systems = named_systems(tests)
    with ThreadPoolExecutor(2) as pool:
        gold_bank, *banks = pool.map(io.read, [gold, *systems.values()], [options] * (1 + len(systems)))
    check = build_check(gold_bank, dict(zip(systems, banks, strict=True)), _plan(settings))
    for system in check.systems:
        for note in system.pair.alignment.notes:
            click.echo(f"{system.name}: {note.text}", err=True)
    return check


def _plan(settings: dict[str, Any]) -> Plan:
    from treegauge.humancheck.questions import Plan
    from treegauge.metrics.hogenhout import Hogenhout
    from treegauge.presets import load_preset

    metric = Hogenhout(structure=_words(settings["structure"]), keep=_words(settings["keep"]), with_emr=settings["with_emr"])
    return Plan(metric, load_preset(settings["preset"]), settings["exact"], settings["sample"], settings["seed"])


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _ledger(store: Store, annotators: Sequence[str]) -> Ledger:
    """The current verdicts of a store; annotators asked for must have judged something in it."""
    from treegauge.humancheck.judgements import Ledger

    ledger = Ledger(store.since(0))
    known = ledger.speakers()
    for name in annotators:
        if name not in known:
            raise UnknownName("annotator", name, known)
    return ledger


def _serve(check: Check, store: Store, settings: dict[str, Any]) -> None:
    from treegauge.humancheck.session import Office, people_of
    from treegauge.humancheck.web.server import Address, serve

    office = Office(check, store, people_of(settings["annotators"] or ("annotator",)), blind=settings["blind"])
    address = Address(settings["host"], settings["port"], settings["allow_remote"], settings["names"])

    def tell(links: dict[Who, str]) -> None:
        asked = f"{len(check.order)} of {len(check.ranked)}" if settings["sample"] else str(len(check.order))
        click.echo(f"{asked} brackets to judge; judgements are kept in {store.name}", err=True)
        for who, link in links.items():
            click.echo(f"{who.name}: {link}" if len(links) > 1 else link)
        sys.stdout.flush()
        click.echo("Stop with Ctrl-C.", err=True)
        wanted = settings["open_"]
        if wanted or (wanted is None and len(links) == 1 and sys.stdout.isatty() and not settings["allow_remote"]):
            webbrowser.open(next(iter(links.values())))

    before = len(office.ledger.by_id)
    serve(office, address, tell, lambda text: click.echo(text, err=True), renew=settings["new_links"])
    click.echo(f"\n{len(office.ledger.by_id) - before} answers stored in {store.name}", err=True)


def _results(check: Check, store: Store, settings: dict[str, Any]) -> None:
    from treegauge.humancheck.judgements import decided
    from treegauge.humancheck.results import find_results

    annotators = settings["annotators"]
    verdict = decided(_ledger(store, annotators), settings["rule"], annotators, across_gold=settings["across_gold"])
    found = find_results(check, verdict)
    if settings["form"] == "json":
        document = {"schema": "treegauge.check/1", "store": store.name, "rule": settings["rule"], **found.to_dict()}
        click.echo(json.dumps(document, ensure_ascii=False, indent=1))
        return
    _print(found.tables(), settings["form"])


def _agreement(check: Check, store: Store, settings: dict[str, Any]) -> None:
    from treegauge.humancheck.agreement import find_agreement

    _print([find_agreement(check, _ledger(store, settings["annotators"]), settings["annotators"])], settings["form"])


def _corrected(check: Check, store: Store, settings: dict[str, Any]) -> None:
    from treegauge import io
    from treegauge.humancheck.corrections import corrected_treebank

    annotators = settings["annotators"]
    done = corrected_treebank(check, _ledger(store, annotators), settings["rule"], annotators)
    for refusal in done.refused:
        click.echo(refusal, err=True)
    io.write(done.bank, settings["corrected"])
    click.echo(f"{done.changes} brackets corrected in {done.sentences} of {len(done.bank)} trees", err=True)


def _audit(store: Store, settings: dict[str, Any]) -> None:
    from treegauge.humancheck.exchange import audit_table

    _print([audit_table(store.since(0), store.words())], settings["form"])


def _export(store: Store, settings: dict[str, Any]) -> None:
    from treegauge.humancheck.exchange import export_lines
    from treegauge.io.sources import Source
    from treegauge.io.writing import write_chunks

    suffix = Source(settings["export"]).suffix
    if settings["export"] != "-" and suffix not in (".jsonl", ".csv"):
        raise UsageError(f"--export {settings['export']}: judgements are written to files that end in .jsonl or .csv")
    lines = export_lines(store, suffix.removeprefix(".") or "jsonl")
    # Half a surrogate pair, which UTF-8 cannot hold, becomes the escape by which JSON knows it.
    write_chunks((f"{line}\n".encode("utf-8", "backslashreplace") for line in lines), settings["export"])


def _import(store: Store, settings: dict[str, Any]) -> None:
    from treegauge.errors import CheckFailed
    from treegauge.humancheck.exchange import import_file

    done = import_file(store, settings["import_"])
    click.echo(f"{done.stored} judgements stored, {done.known} were known", err=True)
    if done.conflicts:
        raise CheckFailed(f"{done.conflicts} judgements have the id of another one in {store.name} and were left out")


def _print(tables: Sequence[Table], form: str) -> None:
    from treegauge.tables import render

    click.echo("\n\n".join(render(table, form) for table in tables))


_OF_CHECK: dict[str, Callable[[Check, Store, dict[str, Any]], None]] = {
    "serve": _serve,
    "results": _results,
    "agreement": _agreement,
    "corrected": _corrected,
}
_OF_STORE: dict[str, Callable[[Store, dict[str, Any]], None]] = {"audit": _audit, "export": _export, "import": _import}
