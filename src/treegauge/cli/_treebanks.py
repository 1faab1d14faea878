"""The treebanks that a command reads, with a progress bar and with a count of what their trees leave out."""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from treegauge.cli._options import progress, remark
from treegauge.errors import InputError, UsageError
from treegauge.io.sources import LeftOut, ReadOptions, Source, find_sources
from treegauge.tables import number_of

if TYPE_CHECKING:
    from treegauge.humancheck.results import CheckedSystems
    from treegauge.significance.paired_comparison import CompareOptions
    from treegauge.trees.treebank import Treebank

_MEGABYTE = 1 << 20


def gold_and_tests(gold: str, systems: Mapping[str, str], options: ReadOptions) -> tuple[Treebank, dict[str, Treebank]]:
    """The treebank and the trees of each system by name, read two files at a time; a file without trees is refused.

    If a file has another number of trees than the treebank, but as many lines as it has sentences, each line is read as a sentence,
    and a blank line as a failed parse, as ``score`` does.
    """
    from concurrent.futures import ThreadPoolExecutor

    from treegauge.io.reading import may_hold_trees, read

    paths = [gold, *systems.values()]
    with ThreadPoolExecutor(2) as pool:
        banks = list(pool.map(read, paths, [options.of_gold, *[options] * len(systems)]))
    for number, (path, bank) in enumerate(zip(paths, banks, strict=True)):
        if not len(bank) or (not bank.n_tokens and bank.problems() and not may_hold_trees(path, options)):
            side = "test" if number else "gold"
            raise InputError(f"no trees in the {side} file", path=path, advice="Nothing was compared.")
    gold_bank, *others = banks
    return gold_bank, {
        name: bank if len(bank) == len(gold_bank) else _line_by_line(path, options, len(gold_bank)) or bank
        for (name, path), bank in zip(systems.items(), others, strict=True)
    }


def checked_by_people(
    gold: str, systems: Mapping[str, str], options: ReadOptions, how: CompareOptions, store: str
) -> CheckedSystems:
    """The systems with the judgements of a human check in a store."""
    from treegauge.humancheck.results import checked_systems, plan_for

    plan = plan_for(how.metrics, how.preset or "default", how.match_words, treebank=how.treebank)
    return checked_systems(*gold_and_tests(gold, systems, options), store, plan)


def _line_by_line(path: str, options: ReadOptions, n_sentences: int) -> Treebank | None:
    """The trees of a file with a sentence on each line; None unless it has ``n_sentences`` lines."""
    from treegauge.scoring.inputs import Trees

    trees = Trees([source.name for source in find_sources(path)], options, keep=False).line_by_line() if path != "-" else None
    if trees is None:
        return None
    try:
        bank = trees.whole()
    except InputError:
        return None
    finally:
        trees.close()
    return bank if len(bank) == n_sentences else None


@contextmanager
def sources_with_progress(paths: Sequence[str], title: str) -> Generator[list[Source]]:
    """The sources of some paths; a progress bar shows how much of them has been read."""
    if not paths:
        raise UsageError("no files given; write - for standard input")
    is_shown = click.get_current_context().params.get("output") == "-"
    if len(paths) > 1 and is_shown and re.fullmatch(r"[^*?[]+\.\w+", last := paths[-1]) and not os.path.exists(last):
        raise InputError("no such file", path=last, advice=f"Is it the output? Write -o {last}")
    sources = [source for path in paths for source in find_sources(path)]
    with progress(title, _megabytes(sources), unit="MB") as advance:
        waiting = 0

        def on_read(count: int) -> None:
            nonlocal waiting
            waiting += count
            while waiting >= _MEGABYTE:
                waiting -= _MEGABYTE
                advance()

        yield [replace(source, on_read=on_read) for source in sources]


def _megabytes(sources: Sequence[Source]) -> int | None:
    """The size of all sources in megabytes; None if one of them is not a file."""
    if not all(os.path.isfile(source.name) for source in sources):
        return None
    return sum(os.path.getsize(source.name) for source in sources) // _MEGABYTE


@contextmanager
def sources_with_counts(sources: Iterable[Source], options: ReadOptions) -> Generator[list[Source]]:
    """The sources; at the end of the block, stderr shows what the trees leave out, such as secondary edges and lemmas."""
    total = LeftOut()

    def count(left_out: LeftOut) -> None:
        nonlocal total
        total = total.plus(left_out)

    yield [replace(source, on_left_out=count) for source in sources]
    edges = "of nodes without words left out" if options.secondary else "left out (--secondary keeps them)"
    for number, noun, rest in (
        (total.edges, "secondary edge", edges),
        (total.nodes, "node", "without words left out"),
        (total.lemmas, "lemma", "left out (--features keeps them in the labels)"),
        (total.features, "morphological feature", "left out (--features keeps them in the labels)"),
        (total.marks, "mark", "beside the sentences left out, such as (ID ...) or punctuation after a tree"),
        (total.trees, "tree", "without words left out, such as (CODE ...) alone"),
    ):
        if number:
            remark(f"{number_of(number, noun)} {rest}")
