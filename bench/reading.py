"""How fast treebanks are read into columns, beside nltk reading the same trees in the same run, and how much memory it takes.

python bench/reading.py [--data ../shared/data/gum/train.mrg] [--megabytes 30] [--rounds 5] [--save]

Imports are not counted. nltk is given the same trees as brackets, one per line, whatever the format that it stands beside; its
lines are in memory already, where we read a file.
"""

from __future__ import annotations

import argparse
import gc
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import nltk.data
from generated import generate
from nltk.corpus.reader import BracketParseCorpusReader
from nltk.tree import Tree as NltkTree
from results import machine, save_section

from treegauge.io import ReadOptions, read, stream, write
from treegauge.trees import Treebank

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data" / "gum" / "train.mrg"
FEW = 2000
"""Trees in the other formats."""
MEMORY = """
import sys
import treegauge.io

def most():  # not getrusage, which counts the parent's memory before the new program began
    with open("/proc/self/status") as status:
        return next(line.split()[1] for line in status if line.startswith("VmHWM"))

before = most()
if sys.argv[1] == "read":
    treebank = treegauge.io.read(sys.argv[2])
else:
    for treebank in treegauge.io.stream(sys.argv[2]):
        pass
print(before, most())
"""


class Speed(NamedTuple):
    """What was read in the best of some rounds by CPU time, which other work on the machine disturbs least."""

    trees: int
    size: int
    seconds: float

    def row(self, name: str, peer: Speed) -> str:
        assert self.trees == peer.trees
        speed = f"{self.trees / self.seconds:,.0f} | {self.size / self.seconds / 1e6:.1f}"
        by_bytes = self.size / self.seconds * peer.seconds / peer.size
        return f"| {name} | {self.trees:,} | {speed} | {peer.seconds / self.seconds:.1f} | {by_bytes:.1f} |"


Jobs = dict[str, tuple[int, Callable[[], int]]]
"""What is measured, by name: the bytes of the file, and the work, which gives the number of trees."""
NLTK = "`nltk.Tree.fromstring`, a line at a time"


def timed(work: Callable[[], int]) -> tuple[int, float]:
    gc.collect()
    began = time.process_time()
    return work(), time.process_time() - began


def rows(jobs: Jobs, rounds: int) -> list[str]:
    """The rows of jobs on the same trees, of which one is nltk's."""
    found = speeds(jobs, rounds)
    return [speed.row(name, found[NLTK]) for name, speed in found.items()]


def speeds(jobs: Jobs, rounds: int) -> dict[str, Speed]:
    """The best round of each job; the jobs take turns, so that a busy moment of the machine strikes all of them."""
    best: dict[str, Speed] = {}
    for _ in range(rounds):
        for name, (size, work) in jobs.items():
            trees, seconds = timed(work)
            if name not in best or seconds < best[name].seconds:
                best[name] = Speed(trees, size, seconds)
    return best


def enlarged(data: Path, trees: int, size: int, folder: Path) -> Path:
    """A file of about that size made of so many trees, with words that keep being new."""
    return generate(data, data, trees * max(1, round(size / data.stat().st_size)), folder).gold


def nltk_job(path: Path) -> tuple[int, Callable[[], int]]:
    """nltk reading a file with a tree per line, whose text is in memory already."""
    lines = path.read_text("utf-8").splitlines()
    return path.stat().st_size, lambda: sum(1 for line in lines if NltkTree.fromstring(line))


def reading_jobs(path: Path, bank: Treebank, folder: Path) -> Jobs:
    """Readers of one file with a tree per line, and our writer of it."""
    nltk.data.path.append(str(path.parent))  # nltk opens only files below the folders it is told of
    corpus = BracketParseCorpusReader(str(path.parent), path.name)
    size = path.stat().st_size
    return {
        NLTK: nltk_job(path),
        "`nltk` `BracketParseCorpusReader.parsed_sents`": (size, lambda: sum(1 for _ in corpus.parsed_sents())),
        "`treegauge.io.read`": (size, lambda: len(read(path))),
        "write bracketed, a tree per line": (size, writing(bank, folder / "y.mrg", "bracketed")),
    }


def large_jobs(large: Path) -> Jobs:
    """Readers of a large file."""
    size = large.stat().st_size
    return {
        NLTK: nltk_job(large),
        "`treegauge.io.read`, large file": (size, lambda: len(read(large))),
        "`treegauge.io.stream`, large file": (size, lambda: sum(map(len, stream(large)))),
    }


def format_jobs(name: str, part: Treebank, folder: Path) -> Jobs:
    """Our reader and writer of another format, and nltk reading the same trees as brackets."""
    path, brackets, options = folder / f"x.{name}", folder / f"x.{name}.mrg", ReadOptions(format=name)
    write(part, path, name)
    write(part, brackets, "bracketed")
    size = path.stat().st_size
    return {
        NLTK: nltk_job(brackets),
        f"read {name}": (size, lambda: len(read(path, options))),
        f"write {name}": (size, writing(part, folder / f"y.{name}", name)),
    }


def writing(part: Treebank, path: Path, name: str) -> Callable[[], int]:
    def work() -> int:
        write(part, path, name)
        return len(part)

    return work


def in_other_formats(bank: Treebank, data: Path) -> dict[str, Treebank]:
    """What is written in other formats: the first trees, and the chunks of CoNLL-2000 if these are beside the treebank."""
    parts = {"export": bank[:FEW], "tigerxml": bank[:FEW]}
    chunks = data.parent.parent / "conll2000" / "train.txt"
    return parts | ({"conll2000": read(chunks, ReadOptions(format="conll2000"))[:FEW]} if chunks.is_file() else {})


def memory(how: str, path: Path) -> tuple[int, int]:
    """The memory of a fresh process in bytes, before reading and at its peak."""
    done = subprocess.run([sys.executable, "-c", MEMORY, how, str(path)], capture_output=True, text=True, check=True)
    before, peak = (int(number) * 1024 for number in done.stdout.split())
    return before, peak


def section(data: Path, megabytes: int, rounds: int) -> str:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bank, once = read(data), folder / "once.mrg"
        write(bank, once, "bracketed")
        large = enlarged(once, len(bank), megabytes << 20, folder)
        found = [*rows(reading_jobs(once, bank, folder), rounds), *rows(large_jobs(large), rounds)]
        for other, part in in_other_formats(bank, data).items():
            found += rows(format_jobs(other, part, folder), rounds)
        size = large.stat().st_size
        held: list[str] = []
        for how in ("read", "stream"):
            before, peak = memory(how, large)
            ratios = f"{peak / size:.1f} | {(peak - before) / size:.1f}"
            held.append(f"| `treegauge.io.{how}` | {before / 2**20:.0f} MB | {peak / 2**20:.0f} MB | {ratios} |")
        about = (
            f"{len(bank):,} trees, {once.stat().st_size / 1e6:.1f} MB; the large file is {size / 1e6:.1f} MB made of them, "
            "with a growing vocabulary."
        )
    return "\n".join(
        [
            f"{about} CPU time without imports, best of {rounds} rounds in which the readers take turns; each beside nltk reading "
            "the brackets of the same trees, measured anew for each set of trees.",
            "",
            "| reader | trees | trees/s | MB/s | trees/s over nltk's | bytes/s over nltk's |",
            "|---|---:|---:|---:|---:|---:|",
            *found,
            "",
            "| memory, large file | with treegauge imported | at most | at most / bytes of the file | growth / bytes |",
            "|---|---|---|---|---|",
            *held,
            "",
            machine(),
        ]
    )


def own_treebank() -> Path:
    return Path(str(resources.files("treegauge") / "data" / "news.mrg"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=SHARED if SHARED.is_file() else own_treebank(), help="a bracketed treebank")
    parser.add_argument("--megabytes", type=int, default=30, help="the size of the large file")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--save", action="store_true", help="replace the section in RESULTS.md")
    arguments = parser.parse_args()
    text = section(arguments.data, arguments.megabytes, arguments.rounds)
    print(text)
    if arguments.save:
        save_section("Reading", text)


if __name__ == "__main__":
    main()
