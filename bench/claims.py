"""The page docs/benchmarks.md: a table for each claim, taken from RESULTS.md, with peers, date, commit, and how to run it again.

Run it after a script of this folder has renewed its section of RESULTS.md with --save. A test compares the page with RESULTS.md.
"""

from __future__ import annotations

import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
RESULTS = HERE / "RESULTS.md"
PAGE = HERE.parent / "docs" / "benchmarks.md"


class Claim(NamedTuple):
    """A claim, the section of RESULTS.md and the script behind it, and which rows of the section's tables show it.

    ``rows`` is a pattern; a table without such a row is left out. ``note`` is a pattern of sentences to quote; ``remark`` explains
    the table.
    """

    claim: str
    section: str
    command: str
    rows: str
    note: str = ""
    remark: str = ""


CLAIMS = (
    Claim(
        "Reading is faster than with NLTK",
        "Reading",
        "reading.py",
        r"fromstring.*(10,224|112,464)|`treegauge\.io\.(read|stream)`.*\d,",
    ),
    Claim(
        "Scoring takes less time than reading with NLTK", "Scoring", "scoring.py", r"reading both|^\| `treegauge (score|evalb)` "
    ),
    Claim(
        "Scoring large files beside EVALB",
        "Before and after",
        "before_after.py",
        r"0,000 sentences",
        remark="Seconds. Before: version 0.2; after: 0.3 while it was being made, on the same machine in turns. C EVALB was not\n"
        "run with them: its time is that of nltk reading the same files, divided by 9.7, as measured once.",
    ),
    Claim("Commands start quickly", "Start-up", "startup.py", r"treegauge", r"^The bare"),
    Claim("Comparing takes a second", "Significance", "significance.py", r"parseval|freval|\| all ", r"two systems"),
    Claim("Fragments are counted, not enumerated", "FREVAL", "freval.py", r"leaves"),
    Claim("Viterbi parsing is faster than with NLTK", "Parsing", "parsing.py", r"^$", r"^NLTK's ViterbiParser"),
    Claim("Parsers trained on GUM", "Parsers trained on gum", "treebank_parsers.py", r"train|mixture", r"^Trained on|^Berkeley"),
    Claim(
        "Parsers trained on the WSJ sample",
        "Parsers trained on wsj_sample",
        "treebank_parsers.py",
        r"train|mixture",
        r"^Trained on",
    ),
    Claim(
        "Span CRFs and dense PCFGs on a GPU beside torch-struct",
        "Span CRFs and dense PCFGs, GPU",
        "neural.py",
        r"^\| (treegauge|torch-struct) \| 40 \| (512 .*(9|1[0-9])\d{2},?\d{3}|512 \| 1.,195|64 )",
        r"^NVIDIA|^(Span|Dense).*:$",
    ),
    Claim(
        "Span CRFs and dense PCFGs on a CPU beside torch-struct and supar",
        "Span CRFs and dense PCFGs, CPU",
        "neural.py",
        r"^\| (treegauge|torch-struct|supar) \| 40 \| (32|4) ",
        r"^(Span|Dense).*:$",
    ),
    Claim("Learning from brackets", "Learning from brackets", "learning.py", r"^\| (15|20) \| \d+,", r"^One iteration|with NumPy"),
    Claim(
        "Memory grows little with the file", "Memory", "memory.py", r"`(score|evalb|compare)( --stream| -m parseval| --scores|)`"
    ),
    Claim("A million sentences need little memory", "Scale", "scale.py", r"^$", r"^`score --stream`"),
    Claim("Ten people can judge at once", "Human check", "humancheck.py", r"SQLite|PostgreSQL", r"^10 annotators"),
)


def section_of(text: str, name: str) -> str:
    """The text of a section, without its heading."""
    found = re.search(rf"^## {re.escape(name)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise SystemExit(f"RESULTS.md has no section {name!r}: change CLAIMS in bench/claims.py")
    return found[1]


def shown(section: str, claim: Claim) -> list[str]:
    """The tables of a section with the rows that match, and the sentences that match, in their order."""
    parts: list[str] = []
    for block in re.split(r"\n{2,}", section.strip()):
        if not block.startswith("|"):
            parts += [block] if claim.note and re.search(claim.note, block) else []
            continue
        head, rule, *body = (re.sub(r" *\| *", "|", line) for line in block.splitlines())
        chosen = [tight for tight, line in zip(body, block.splitlines()[2:], strict=True) if re.search(claim.rows, line)]
        parts += ["\n".join([head, rule, *chosen])] if chosen else []
    if not parts:
        raise SystemExit(f"nothing in the section {claim.section!r} matches: change CLAIMS in bench/claims.py")
    return parts


def measured(section: str) -> str:
    """The day and the commit of the last change to a section's lines, and the machine."""
    command = [
        "git",
        "-C",
        str(HERE),
        "blame",
        "--line-porcelain",
        f"-L/^## {re.escape(section)}$/,/^\\(Python 3\\|`python\\)/",
        "--",
        "RESULTS.md",
    ]
    blame = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    times = {
        int(time): name for name, time in re.findall(r"^([0-9a-f]{40}) .*?^committer-time (\d+)$", blame, re.MULTILINE | re.DOTALL)
    }
    day = datetime.fromtimestamp(max(times), UTC).date()
    return f"Measured on {day}, commit {times[max(times)][:7]}."


def page(results: str, dates: dict[str, str]) -> str:
    """The whole page."""
    parts = [INTRODUCTION]
    for claim in CLAIMS:
        how = f"`python bench/{claim.command} --save`. {dates.get(claim.section, '')}".strip()
        remark = [claim.remark] if claim.remark else []
        parts.append("\n\n".join([f"## {claim.claim}", *remark, *shown(section_of(results, claim.section), claim), how]))
    return "\n\n".join([*parts, FIGURES]) + "\n"


INTRODUCTION = """# How fast and how accurate is it?

One table for each claim, with other programs beside ours where they do the same. The tables are cut from `bench/RESULTS.md`,
which has the full ones. Times depend on the machine, two cores of a server unless something else is said; ratios to another
program, measured in the same run, depend on it less. Each section has the date and the commit of its last run: older ones hold
for the version of that day."""

FIGURES = """## How parsing grows

The time of each of 100 sentences: it grows as the cube of the length, plus a cost per sentence and a cost per span.

![Time a sentence takes against the cube of its length: points along a line](images/parsing-n3.svg)

`python bench/parsing.py --plot docs/images/parsing-n3.svg`. Drawn on 2026-11-15, commit 0601a8a.

## How scoring and comparing grow

The dotted lines show proportional growth.

![CPU time of score by sentences, their length and the vocabulary, and of compare by systems and rounds](images/growth.svg)

`python bench/growth.py --figure docs/images/growth.svg --save`. Drawn on 2026-11-16, commit d608d5f.

## The page itself

`python bench/claims.py` writes this page anew from `bench/RESULTS.md`; a test compares the two."""


if __name__ == "__main__":
    PAGE.write_text(page(RESULTS.read_text("utf-8"), {claim.section: measured(claim.section) for claim in CLAIMS}), "utf-8")
