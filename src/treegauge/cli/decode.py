"""``treegauge decode``: the best trees of a file of span charts for an objective."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any, Literal

import click

from treegauge.cli._group import INPUT, Command
from treegauge.cli._options import format_option, output_option
from treegauge.compilation import report_compiling, when_compiling
from treegauge.errors import FormatError, MismatchError, NoTree, UsageError
from treegauge.io.writing import write_chunks
from treegauge.parsing.chart_files import read_charts
from treegauge.parsing.mixture import MixtureView, Posteriors, check_shares, collect, labels_to_cut, mixture_of
from treegauge.parsing.objectives import OBJECTIVES
from treegauge.parsing.output import kbest_line
from treegauge.parsing.span_charts import KINDS, SpanChart
from treegauge.parsing.span_weights import read_weights
from treegauge.tables import number_of, plain

SPAN_OBJECTIVES = [name for name, each in OBJECTIVES.items() if each.needs in ("", "trees")]


@click.command(cls=Command, seldom=("weights", "pre", "candidates", "size", "seed"))
@click.argument("charts", nargs=-1, required=True, type=INPUT, metavar="CHARTS...")
@click.option("--shares", metavar="N,N,...", help="Several files: their shares in the mean of the posteriors.  [default: equal]")
@click.option("--objective", metavar="NAME",
              help=f"Decoding objective: {', '.join(SPAN_OBJECTIVES)}; mbr:METRIC takes any metric.  "
                   "[default: labelled-precision-recall with null labels, else labelled-recall]")  # fmt: skip
@click.option("--lam", type=click.FloatRange(0, 1), metavar="NUMBER",
              help="labelled-precision-recall: minimum posterior for keeping a node.  [default: best expected F1]")  # fmt: skip
@click.option("--weights", type=INPUT, metavar="FILE",
              help="general: file of span weights, by label or by span.")  # fmt: skip
@click.option("--pre/--nopre", default=None, help="Count preterminals, or not (labelled-recall, bracketed-recall and others).")
@click.option("--null", multiple=True, metavar="LABEL", help="A label (or its number) that means no constituent; repeatable.")
@click.option("--root/--no-root", default=True, show_default=True, help="Whether the whole sentence must be a constituent.")
@click.option("--temperature", type=float, default=1.0, show_default=True, help="Divide scores by this number.")
@click.option("--kind", type=click.Choice(KINDS), default="potentials", show_default=True, help="What the scores are.")
@click.option("--candidates", type=click.Choice(["samples", "kbest"]), help="mbr: kind of trees that vote.  [default: samples]")
@click.option("--size", type=click.IntRange(1), metavar="N", help="mbr: number of trees that vote.  [default: 100]")
@click.option("--seed", type=click.IntRange(0), metavar="N", help="mbr: seed of the samples.  [default: 0]")
@click.option("--kbest", type=click.IntRange(1), metavar="K",
              help="Print the K most probable trees of each sentence; bracketed, a line that begins with # gives the posterior of "
              "each.")  # fmt: skip
@format_option(("bracketed", "jsonl"), "Trees, or a JSON record per sentence with scores and confidences.", by_suffix=True)
@output_option("File for the trees.")
def command(
    charts: tuple[str, ...], shares: str | None, objective: str | None, null: tuple[str, ...], root: bool, temperature: float,
    kind: Literal["potentials", "posteriors"], kbest: int | None, form: str, output: str, **choices: Any,
) -> None:  # fmt: skip
    """Decode the span scores in CHARTS, an .npz file with the arrays scores, lengths and labels (and words, tags, null,
    convention: "fencepost" if scores are by fenceposts).

    One tree per line, in the order of the charts. With null labels trees are n-ary, else binary. The posteriors of several chart
    files for the same sentences, and of models that parse their words, are averaged.

    \b
    Examples:
      treegauge decode charts.npz -o out.mrg
      treegauge decode charts.npz --objective viterbi
      treegauge decode charts.npz --objective labelled-precision-recall --lam 0.4 --temperature 2
      treegauge decode charts.npz other.npz grammars.model --shares 2,1,1 --lam 0.45 -o out.mrg
      treegauge decode charts.npz --null "" --objective mbr:freval --size 200
      treegauge decode charts.npz --format jsonl | jq .confidence
    """
    options = {name: value for name, value in choices.items() if value is not None}
    if "weights" in options:
        options["weights"] = read_weights(options["weights"])
    given: dict[str, Any] = {"root": root, "temperature": temperature, "kind": kind}
    done = [0]

    if len(charts) == 1 and shares is not None:
        raise UsageError("--shares is for several files, and there is one")
    if len(charts) > 1 and kbest:
        raise UsageError("k-best trees need the probabilities of whole trees, which a mixture does not have: give one file")

    def lines() -> Iterator[bytes]:
        nulls = list(null) or None
        views = read_charts(charts[0], null=nulls, **given) if len(charts) == 1 else _mixed(charts, shares, nulls, given)
        for number, chart in enumerate(views, 1):
            try:
                for line in _records(chart, number, objective, options, kbest, form):
                    yield f"{line}\n".encode()
            except NoTree as error:
                raise FormatError(f"chart {number}: {error}", path=str(*charts[:1])) from None
            done[0] = number

    with when_compiling(report_compiling):
        write_chunks(lines(), output)
    click.echo(f"{number_of(done[0], 'sentence')} decoded", err=True)


def _mixed(files: Sequence[str], shares: str | None, null: list[str] | None, given: dict[str, Any]) -> Iterator[MixtureView]:
    """The mean of the posteriors of each sentence: of charts, and of models that parse the charts' words."""
    from treegauge.cli._grammars import shares_of
    from treegauge.io.archive import archive_schema
    from treegauge.models.loading import OWN, load_parser
    from treegauge.parsing.parser import Sentence

    own = [1.0] * len(files) if shares is None else shares_of(shares)
    check_shares(files, own)
    of_models = [i for i, name in enumerate(files) if name == OWN or archive_schema(name)]
    rest = [i for i in range(len(files)) if i not in of_models]
    if not rest:
        raise UsageError("these are all models: treegauge parse mixes them")
    models = mixture_of({files[i]: load_parser(files[i]).parser for i in of_models}) if of_models else None
    cut = set[int]()
    for number, found in enumerate(zip_longest(*(read_charts(files[i], null=null, **given) for i in rest)), 1):
        if None in found:
            raise MismatchError(f"{files[rest[found.index(None)]]} has {number_of(number - 1, 'chart')}, another file has more")
        if number == 1:
            labels = {i: chart.phrase_labels for i, chart in zip(rest, found, strict=True)}
            labels |= {i: part.phrase_labels for i, part in zip(of_models, models.parts if models else (), strict=True)}
            cut = set(labels_to_cut(files, [labels[i] for i in range(len(files))]))
            models = models and replace(models, cut=frozenset(of_models.index(i) for i in cut.intersection(of_models)))
        first, parts = next((each for each in found if each.has_words), found[0]), dict[int, Posteriors]()
        for i, chart in zip(rest, found, strict=True):
            if chart.n != first.n or (chart.has_words and chart.words != first.words):
                raise MismatchError(f"chart {number} of {files[i]} has different words from the same chart in another file")
            parts[i] = collect(chart, cut=i in cut)
        if models is not None:
            if not first.has_words:
                raise MismatchError(f"{files[rest[0]]} has no words, but models parse words: with such charts they cannot be mixed")
            (found,) = models.by_part([Sentence(first.words, None if first.tags is None else tuple(first.tags))])
            parts |= {i: part for i, part in zip(of_models, found, strict=True) if part is not None}
        yield MixtureView(first.words, [parts[i] for i in sorted(parts)], [own[i] for i in sorted(parts)])


def _records(
    chart: SpanChart | MixtureView, number: int, objective: str | None, options: dict[str, Any], kbest: int | None, form: str
) -> Iterator[str]:
    """The lines of one sentence."""
    if isinstance(chart, MixtureView):
        objective = objective or "labelled-precision-recall"
    elif form == "bracketed" and kbest:
        for rank, parse in enumerate(chart.kbest(kbest)):
            yield kbest_line(number - 1, rank, math.exp(min(parse.log_probability - chart.log_partition, 0.0)))
            yield str(parse.tree)
        yield ""
        return
    best = chart.argmax(objective, **options) if objective else chart.argmax(**options)
    if form == "bracketed":
        yield str(best.tree)
        return
    record: dict[str, Any] = {"sentence": number, "tree": str(best.tree), "expected_score": plain(best.score)}
    if isinstance(chart, SpanChart) and chart.kind == "potentials":
        found = chart.confidence(best.tree)
        record["confidence"] = {"probability": found.probability, "expected_f1": plain(found.f1)}
        record["entropy_nats"] = chart.entropy()
        record["constituents"] = [list(c) for c in found.constituents]
    if kbest:
        record["kbest"] = [{"tree": str(parse.tree), "probability": parse.posterior} for parse in chart.kbest(kbest)]
    yield json.dumps(record, ensure_ascii=False, allow_nan=False)
