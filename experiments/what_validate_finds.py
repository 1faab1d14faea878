"""What ``treegauge validate`` finds on treebanks: a row of a Markdown table for each, as in ``docs/howto/treebanks.md``.

``python experiments/what_validate_finds.py GUM=gum/*.mrg IcePaHC=icepahc.psd:icepahc``: a name, a file, folder or glob and, after a
colon, the style in which to read it. Each treebank is examined twice, as it is and in its style.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections import Counter

from treegauge.errors import InputError
from treegauge.io import ReadOptions
from treegauge.io.sources import find_sources
from treegauge.io.validation import FileReport, examine


def summary(reports: list[FileReport]) -> str:
    """The numbers of trees, words, traces, errors and notes in some files, and the most frequent kinds of errors and notes."""
    total = [
        sum(getattr(report, name) for report in reports) for name in ("n_trees", "n_words", "n_traces", "n_errors", "n_remarks")
    ]
    kinds = Counter(_kind(found) for report in reports for found in [*report.errors, *report.remarks])
    named = "; ".join(f"{kind} ({count:,})" for kind, count in kinds.most_common(3)) or "nothing"
    return " | ".join([*(f"{number:,}" for number in total), named])


def _kind(found: object) -> str:
    """An error or a note without its place and numbers."""
    text = found.problem if isinstance(found, InputError) else str(getattr(found, "text", found))
    text = text.partition(";")[0].partition(":")[0] if "read it with" not in text else text
    return re.sub(r"^[\d,]+ (node|word)s?\b", r"\1s", text)


def main(arguments: list[str]) -> None:
    print("| treebank | read with | trees | words | traces among them | errors | notes | what they are |")
    print("|---|---|---:|---:|---:|---:|---:|---|")
    for argument in arguments:
        name, _, rest = argument.partition("=")
        path, _, style = rest.partition(":")
        for treebank in dict.fromkeys(["", style]):
            options = ReadOptions(treebank=treebank)
            reports = [examine(source, options, most=1 << 20) for source in find_sources(path)]
            print(f"| {name} | {f'`--treebank {treebank}`' if treebank else 'no option'} | {summary(reports)} |")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1:])
