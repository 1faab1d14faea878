"""``treegauge parse``: the best trees of sentences for an objective."""

from __future__ import annotations

import itertools
import os
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

import click

from treegauge.cli._grammars import OWN, given_grammar
from treegauge.errors import UsageError
from treegauge.io.options import ReadOptions
from treegauge.parsing.jit import when_compiling
from treegauge.parsing.objectives import OBJECTIVES
from treegauge.parsing.parser import Parsed, Parser, Sentence
from treegauge.parsing.pruning import THRESHOLD, search_error
from treegauge.parsing.records import FORMATS, footer, header, record, records_done
from treegauge.parsing.sentences import KINDS, Kind, read_sentences

PRUNE_EVERY = 10
"""Of how many sentences one is parsed exactly too, to see whether pruning lost anything."""


@click.command(
    epilog="""\b
Examples:
  echo "I saw the man with the telescope ." | treegauge parse
  treegauge parse train.model sentences.txt --objective labelled-recall -o out.mrg
  treegauge parse train.model gold.mrg --input trees --gold-tags --jobs 2
  treegauge parse train.model sentences.txt --prune --objective labelled-precision-recall
  treegauge parse grammar.txt - --kbest 5 --format json < sentences.txt"""
)
@click.argument("grammar", default=OWN)
@click.argument("file", default="-")
@click.option("--objective", default="viterbi", show_default=True, metavar="NAME",
              help=f"What the tree is best for: {', '.join(OBJECTIVES)}; mbr:METRIC takes any metric.")  # fmt: skip
@click.option("--lam", type=float, metavar="NUMBER", help="labelled-precision-recall: what a node must be worth.")
@click.option("--pre/--nopre", default=None, help="Whether preterminals count (labelled-recall, bracketed-recall and others).")
@click.option("--candidates", type=click.Choice(["samples", "kbest"]), help="mbr: which trees vote.  [default: samples]")
@click.option("--size", type=click.IntRange(1), metavar="N", help="mbr: how many trees vote.  [default: 100]")
@click.option("--seed", type=click.IntRange(0), metavar="N", help="mbr: of the samples.  [default: 0]")
@click.option("--input", "kind", type=click.Choice(KINDS), default="tokens", show_default=True,
              help="tokens with blanks between, word/TAG, raw text, or trees (their words are parsed).")  # fmt: skip
@click.option("--raw", is_flag=True, help="The same as --input raw: split punctuation and clitics off as the Penn Treebank does.")
@click.option("--gold-tags", is_flag=True, help="Keep the tags of the input (tagged or trees).")
@click.option("--prune", type=float, is_flag=False, flag_value=THRESHOLD, default=0.0, metavar="[NUMBER]",
              help=f"Leave out what a coarse grammar finds less probable than NUMBER [{THRESHOLD:g}]; else exact.")  # fmt: skip
@click.option("--prune-check", type=click.IntRange(0), default=25, show_default=True, metavar="N",
              help="--prune: parse so many of the sentences exactly too, and say how often the best tree was lost.")  # fmt: skip
@click.option("--kbest", type=click.IntRange(0), default=0, metavar="K", help="Print the K likeliest parses of each sentence.")
@click.option("--posteriors", is_flag=True, help="Annotate each node with its posterior: NP=0.93.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="bracketed", show_default=True)
@click.option("-o", "--output", default="-", metavar="FILE", help="Where the trees go.")
@click.option("--resume", is_flag=True, help="Go on where a killed run stopped: FILE keeps its complete sentences.")
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="How many sentences to parse at once.")
@click.option("--encoding", default="utf-8", show_default=True, metavar="NAME", help="Of the sentences.")
@click.option("--start", metavar="SYMBOL", help="The start symbol of a text grammar.  [default: its first]")
@click.option("--renormalise", is_flag=True, help="Scale a text grammar's probabilities to sum to 1.")
def command(
    grammar: str, file: str, objective: str, kind: Kind, raw: bool, gold_tags: bool, prune: float,
    prune_check: int, kbest: int, posteriors: bool, form: str,
    output: str, resume: bool, jobs: int, encoding: str, start: str | None, renormalise: bool, **choices: Any,
) -> None:  # fmt: skip
    """Parse the sentences of FILE with GRAMMAR (a model, or text; without one, a small grammar of our own treebank).

    One sentence a line, one tree a line, in the same order. A sentence that has no parse gets a right-branching tree
    whose root is marked -FALLBACK; stderr says how many there are.
    """
    given = given_grammar(grammar, start=start, renormalise=renormalise)
    options = {name: value for name, value in choices.items() if value is not None}
    parser = Parser(given.grammar, objective, options, kbest, posteriors, gold_tags, given.tag_words, given.joined, prune)
    parser.check()
    sentences = read_sentences(file, "raw" if raw else kind, ReadOptions(encoding=encoding))
    if resume and (output == "-" or form == "json"):
        raise UsageError("--resume needs -o FILE and a format of one record a sentence: bracketed or jsonl")
    done = records_done(output, form, kbest) if resume else 0
    began, count, failed = time.monotonic(), 0, 0
    checked: list[Sentence] = []
    with _output(output, append=resume) as out, when_compiling(_say_compiling):
        out.write(header(form, grammar, objective, options))
        for parsed in _shown(parser.parse_all(itertools.islice(sentences, done, None), jobs)):
            out.write(record(form, done + count, parsed, kbest, posteriors, first=count == 0))
            count += 1
            failed += parsed.fallback
            if prune and len(checked) < prune_check and count % PRUNE_EVERY == 1:
                checked.append(parsed.sentence)
        out.write(footer(form))
    seconds = time.monotonic() - began
    resumed = f" after {done:,} done before" if done else ""
    click.echo(f"{count:,} sentences{resumed} in {seconds:.1f} s; {failed:,} without a parse (fallback)", err=True)
    if checked:
        click.echo(str(search_error(parser, checked)), err=True)


def _say_compiling() -> None:
    click.echo("treegauge: compiling the parser's kernels; this happens once", err=True)


@contextmanager
def _output(path: str, *, append: bool) -> Generator[TextIO]:
    if path == "-":
        yield sys.stdout
        return
    with open(path, "a" if append else "w", encoding="utf-8", newline="\n") as stream:
        yield stream


def _shown(parsed: Iterator[Parsed]) -> Iterator[Parsed]:
    """The same, with a line of progress on a terminal after the first second."""
    if not sys.stderr.isatty() or os.environ.get("NO_PROGRESS"):
        yield from parsed
        return
    began = said = time.monotonic()
    number = 0
    try:
        for number, item in enumerate(parsed, 1):
            yield item
            now = time.monotonic()
            if now - said > 1:
                said = now
                click.echo(f"\r{number:,} sentences, {number / (now - began):,.1f} a second", err=True, nl=False)
    finally:
        if said > began:
            click.echo("\r" + " " * 60 + "\r", err=True, nl=False)
