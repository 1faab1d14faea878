"""The speed of reading treebanks into columns, compared with nltk's two readers in the same run, and the memory it takes.

python bench/reading.py [--data ../shared/data/gum/train.mrg] [--megabytes 30] [--rounds 5] [--save]
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
from nltk.corpus.reader import BracketParseCorpusReader
from nltk.tree import Tree as NltkTree
from results import machine, save_section

from treegauge.io import ReadOptions, read, stream, write
from treegauge.trees import Treebank

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data" / "gum" / "train.mrg"
NLTK_BYTES = 1 << 20  # nltk reads only so much: its speed does not depend on the size of the file
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
        ratio = (self.size / self.seconds) / (peer.size / peer.seconds)
        return f"| {name} | {self.trees / self.seconds:,.0f} | {self.size / self.seconds / 1e6:.1f} | {ratio:.1f} |"


def timed(work: Callable[[], int]) -> tuple[int, float]:
    gc.collect()
    began = time.process_time()
    return work(), time.process_time() - began


def speeds(jobs: dict[str, tuple[int, Callable[[], int]]], rounds: int) -> dict[str, Speed]:
    """The best round of each job; the jobs take turns, so that a busy moment of the machine affects all of them."""
    best: dict[str, Speed] = {}
    for _ in range(rounds):
        for name, (size, work) in jobs.items():
            trees, seconds = timed(work)
            if name not in best or seconds < best[name].seconds:
                best[name] = Speed(trees, size, seconds)
    return best


def repeated(data: Path, size: int, folder: Path) -> Path:
    """A file of about the given size with as many copies of the treebank as it takes."""
    text = data.read_bytes()
    path = folder / "large.mrg"
    path.write_bytes(text * max(1, round(size / len(text))))
    return path


def sample(data: Path, folder: Path) -> Path:
    """The first trees of the treebank, one per line, for nltk."""
    lines: list[bytes] = []
    for tree in read(data):
        lines.append(f"{tree}\n".encode())
        if sum(map(len, lines)) > NLTK_BYTES:
            break
    path = folder / "sample.mrg"
    path.write_bytes(b"".join(lines))
    return path


def reading_jobs(data: Path, large: Path, few: Path) -> dict[str, tuple[int, Callable[[], int]]]:
    sentences = few.read_text("utf-8").splitlines()
    nltk.data.path.append(str(few.parent))  # nltk opens only files below the folders it is told of
    corpus = BracketParseCorpusReader(str(few.parent), few.name)
    return {
        "`nltk.Tree.fromstring`, a line at a time": (
            few.stat().st_size,
            lambda: sum(1 for sentence in sentences if NltkTree.fromstring(sentence)),
        ),
        "`nltk` `BracketParseCorpusReader.parsed_sents`": (few.stat().st_size, lambda: sum(1 for _ in corpus.parsed_sents())),
        "`treegauge.io.read`, the treebank once": (data.stat().st_size, lambda: len(read(data))),
        "`treegauge.io.read`, large file": (large.stat().st_size, lambda: len(read(large))),
        "`treegauge.io.stream`, large file": (large.stat().st_size, lambda: sum(map(len, stream(large)))),
    }


def format_jobs(data: Path, folder: Path) -> dict[str, tuple[int, Callable[[], int]]]:
    """Jobs that read and write the other formats: trees and, if CoNLL-2000 is beside the treebank, chunks."""
    bank = read(data)

    def written(name: str, part: Treebank) -> Callable[[], int]:
        def work() -> int:
            write(part, folder / f"y.{name}", name)
            return len(part)

        return work

    jobs = {"write bracketed, a tree per line": (data.stat().st_size, written("bracketed", bank))}
    parts = {"export": bank[:2000], "tigerxml": bank[:2000]}
    chunks = data.parent.parent / "conll2000" / "train.txt"
    if chunks.is_file():
        parts["conll2000"] = read(chunks, ReadOptions(format="conll2000"))
    for name, part in parts.items():
        path, options = folder / f"x.{name}", ReadOptions(format=name)
        write(part, path, name)
        size = path.stat().st_size
        jobs[f"read {name} ({len(part):,} trees)"] = (size, lambda path=path, options=options: len(read(path, options)))
        jobs[f"write {name} ({len(part):,} trees)"] = (size, written(name, part))
    return jobs


def memory(how: str, path: Path) -> tuple[int, int]:
    """The memory of a fresh process in bytes, before reading and at its peak."""
    done = subprocess.run([sys.executable, "-c", MEMORY, how, str(path)], capture_output=True, text=True, check=True)
    before, peak = (int(number) * 1024 for number in done.stdout.split())
    return before, peak


def section(data: Path, megabytes: int, rounds: int) -> str:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        large = repeated(data, megabytes << 20, folder)
        found = speeds(reading_jobs(data, large, sample(data, folder)), rounds)
        peer = found["`nltk.Tree.fromstring`, a line at a time"]
        others = speeds(format_jobs(data, folder), rounds)
        size = large.stat().st_size
        rows: list[str] = []
        for how in ("read", "stream"):
            before, peak = memory(how, large)
            ratios = f"{peak / size:.1f} | {(peak - before) / size:.1f}"
            rows.append(f"| `treegauge.io.{how}` | {before / 2**20:.0f} MB | {peak / 2**20:.0f} MB | {ratios} |")
    trees = found["`treegauge.io.read`, the treebank once"].trees
    return "\n".join(
        [
            f"{trees:,} trees, {data.stat().st_size / 1e6:.1f} MB; the large file is {size / 1e6:.1f} MB of them over and over. "
            f"CPU time, best of {rounds} rounds in which the readers take turns.",
            "",
            "| reader | trees/s | MB/s | bytes/s beside `nltk.Tree.fromstring` |",
            "|---|---|---|---|",
            *(speed.row(job, peer) for job, speed in found.items()),
            *(speed.row(job, peer) for job, speed in others.items()),
            "",
            "| memory, large file | with treegauge imported | at most | at most / bytes of the file | growth / bytes |",
            "|---|---|---|---|---|",
            *rows,
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
