"""All that is wrong or odd about one treebank file."""

from __future__ import annotations

from dataclasses import dataclass, field

from treegauge.errors import InputError
from treegauge.io.options import ReadOptions
from treegauge.io.reading import check
from treegauge.io.remarks import Remark, remarks_on
from treegauge.io.sources import Source

__all__ = ["Report", "examine"]


@dataclass
class Report:
    """What is in a file: everything is counted, and the first errors and remarks are kept."""

    path: str
    n_trees: int = 0
    n_words: int = 0
    n_errors: int = 0
    n_remarks: int = 0
    errors: list[InputError] = field(default_factory=list[InputError])
    remarks: list[Remark] = field(default_factory=list[Remark])


def examine(source: Source, options: ReadOptions = ReadOptions(), most: int = 20) -> Report:
    """Read a file to its end, whatever is wrong with it; at most ``most`` errors and remarks are kept.

    >>> report = examine(Source("x.mrg", b"(S (N a))\\n(S (N b)\\n(S (N c)) ()\\nword"))
    >>> report.n_trees, report.n_errors, report.n_remarks
    (3, 2, 2)
    >>> [error.problem for error in report.errors]
    ['opening bracket that is never closed; a new tree begins on line 3', 'text outside brackets']
    >>> [remark.text for remark in report.remarks]
    ['2 trees on this line', 'empty parse']
    """
    report = Report(source.name)
    for item in check(source, options):
        if isinstance(item, InputError):
            report.n_errors += 1
            if len(report.errors) < most:
                report.errors.append(item)
        else:
            report.n_trees += len(item)
            report.n_words += item.n_tokens
            remarks = remarks_on(item)
            report.n_remarks += len(remarks)
            report.remarks += remarks[: most - len(report.remarks)]
    return report
