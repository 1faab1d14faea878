"""Validation of a treebank file: its errors, and remarks on trees that are unusual but not wrong.

Remarks are made on empty parses, words without tags, nodes without words, several trees on a line, secondary edges from missing
nodes, an encoding that was found and not given, and signs of a treebank that has a style of its own. The secondary edges of a
format are looked at whether or not they were asked for.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Unpack

import numpy as np

from treegauge.errors import InputError, checked
from treegauge.io.reading import Path, as_treebank, check
from treegauge.io.secondary import lost_edges
from treegauge.io.sources import LeftOut, ReadKeywords, ReadOptions, Source
from treegauge.presets.treebanks import TRACES
from treegauge.tables import Cell, Table, number_of
from treegauge.trees.columns import Int64, sum_within
from treegauge.trees.tree import Tree
from treegauge.trees.treebank import Treebank


class Remark(NamedTuple):
    """Something unusual, and its place, ``file:line``."""

    place: str
    text: str


def remarks_on(bank: Treebank, most: int) -> tuple[list[Remark], int]:
    """The remarks on the first ``most`` trees that have one of a kind, in order, and the number of all remarks.

    >>> remarks_on(Treebank.parse("() (NP the (N cat)) (S (NP) (V go))"), 2)
    ([Remark(place='tree 1', text='empty parse'), Remark(place='tree 2', text='1 word without a tag'), \
Remark(place='tree 3', text='1 node without words')], 3)
    """
    n_tokens = np.diff(bank.token_offset)
    bare = sum_within(bank.tag < 0, bank.token_offset)
    empty = sum_within(bank.start == bank.end, bank.node_offset)
    crowded = _trees_on_line(bank)
    lost = _lost_edges(bank)
    kinds: list[tuple[Int64, Callable[[int], str]]] = [
        (np.flatnonzero(n_tokens == 0), lambda index: "empty parse"),
        (np.flatnonzero(bare), lambda index: f"{number_of(bare[index], 'word')} without a tag"),
        (np.flatnonzero((empty > 0) & (n_tokens > 0)), lambda index: f"{number_of(empty[index], 'node')} without words"),
        (np.flatnonzero(crowded > 1), lambda index: f"{crowded[index]} trees on this line"),
    ]
    found = [(index, text(index)) for trees, text in kinds for index in trees[:most].tolist()]
    remarks = [Remark(bank.place(index), text) for index, text in sorted(found + lost)]
    return remarks, sum(len(trees) for trees, _ in kinds) + len(lost)


def _lost_edges(bank: Treebank) -> list[tuple[int, str]]:
    """The remarks on secondary edges from missing nodes, each with the number of its tree."""
    with_edges = [number for number, label in enumerate(bank.labels) if "sec=" in label]
    rows = np.flatnonzero(np.isin(bank.label, with_edges)) if with_edges else ()
    trees = sorted({bank.tree_of_row(int(row)) for row in rows})
    lost = [(index, lost_edges(node.label for node in bank[index].nodes())) for index in trees]
    return [(index, f"{number_of(n, 'secondary edge')} from a missing node") for index, n in lost if n]


def _trees_on_line(bank: Treebank) -> Int64:
    """The number of trees on a line, for its first tree; 0 for the others. A block ends with a line, unless that is very long."""
    lines = np.concatenate([np.zeros(0, np.int64), *(origin.line for origin in bank.origins)])
    if len(lines) != len(bank):
        return np.zeros(len(bank), np.int64)
    first = np.flatnonzero(np.diff(lines, prepend=-1) != 0)
    counts = np.zeros(len(bank), np.int64)
    counts[first] = np.diff(first, append=len(lines))
    return counts


@dataclass
class FileReport:
    """The outcome of validating a file: numbers of trees, words, errors and remarks, and the first errors and remarks.

    ``n_traces`` of the words are traces.
    """

    path: str
    n_trees: int = 0
    n_words: int = 0
    n_errors: int = 0
    n_remarks: int = 0
    n_with_gaps: int = 0
    n_traces: int = 0
    errors: list[InputError] = field(default_factory=list[InputError])
    remarks: list[Remark] = field(default_factory=list[Remark])


def examine(source: Source, options: ReadOptions = ReadOptions(), most: int = 20) -> FileReport:
    """Validate a file to its end, whatever errors it has; at most ``most`` errors and ``most`` remarks are kept.

    >>> report = examine(Source("x.mrg", b"(S (N a))\\n(S (N b)\\n(S (N c)) ()\\nword"))
    >>> report.n_trees, report.n_errors, report.n_remarks
    (3, 2, 2)
    >>> [error.problem for error in report.errors]
    ['opening bracket that is never closed; a new tree begins on line 3', 'text outside brackets']
    >>> [remark.text for remark in report.remarks]
    ['2 trees on this line', 'empty parse']
    """
    report = FileReport(source.name)
    left_out = LeftOut()
    notes: list[Remark] = []

    def count(more: LeftOut) -> None:
        nonlocal left_out
        left_out = left_out.plus(more)

    def note(place: str, text: str) -> None:
        notes.append(Remark(place, text))

    for item in check(replace(source, on_left_out=count, on_note=note), replace(options, secondary=True)):
        if isinstance(item, InputError):
            report.n_errors += 1
            if len(report.errors) < most:
                report.errors.append(item)
        else:
            report.n_trees += len(item)
            report.n_words += item.n_tokens
            report.n_traces += int(np.isin(item.tag, [number for number, tag in enumerate(item.labels) if tag in TRACES]).sum())
            report.n_with_gaps += 0 if item.is_continuous else sum(item.has_gaps(index) for index in range(len(item)))
            remarks, n_remarks = remarks_on(item, most - len(report.remarks))
            report.n_remarks += n_remarks
            report.remarks += remarks[: most - len(report.remarks)]
    if not report.n_trees + report.n_errors:
        notes.append(Remark(source.name, "there are no trees in this file"))
    if left_out.nodes:
        notes.append(Remark(source.name, f"{number_of(left_out.nodes, 'node')} without words in the file, left out of the trees"))
    if left_out.trees:
        notes.append(Remark(source.name, f"{number_of(left_out.trees, 'tree')} without words, such as (CODE ...) alone, left out"))
    report.n_remarks += len(notes)
    report.remarks = [*notes, *report.remarks][:most]
    return report


@checked(ReadOptions)
def count_parts(trees: Iterable[Tree] | Path, most: int = 20, **reading: Unpack[ReadKeywords]) -> Table:
    """The number of trees, or of those in a file, their lengths, and the most frequent labels, tags, words and productions;
    options for reading a file as of :func:`treegauge.read`.

    >>> print(count_parts([Tree.parse("(S (NP (N rain)) (VP (V fell)))")], most=1))
    Statistics
    what                   name        count
    trees                                  1
    words                                  2
    mean length                         2.00
    longest                                2
    different labels                       3
    label                  S               1
    different tags                         2
    tag                    N               1
    different words                        2
    word                   rain            1
    different productions                  3
    production             S -> NP VP      1
    """
    found = {kind: Counter[str]() for kind in ("label", "tag", "word", "production")}
    lengths: list[int] = []
    for tree in as_treebank(trees, **reading) if isinstance(trees, str | os.PathLike) else trees:
        lengths.append(tree.width)
        found["word"].update(tree.words)
        found["production"].update(str(rule) for rule in tree.productions() if not rule.is_lexical)
        for node in tree.nodes():
            found["tag" if node.is_preterminal else "label"][node.label] += 1
    mean = sum(lengths) / len(lengths) if lengths else float("nan")
    numbers = {"trees": len(lengths), "words": sum(lengths), "mean length": mean, "longest": max([0, *lengths])}
    rows: list[tuple[Cell, ...]] = [(name, "", count) for name, count in numbers.items()]
    for kind, counts in found.items():
        rows += [(f"different {kind}s", "", len(counts)), *((kind, name, count) for name, count in counts.most_common(most))]
    return Table("Statistics", ("what", "name", "count"), tuple(rows))
