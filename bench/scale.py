"""Work on more sentences than one would keep in memory, and on more workers than one.

python bench/scale.py [--sentences 1000000] [--scored 100000] [--parsed 4000] [--rounds 3] [--save]

Memory: the most that `score --stream` holds for a corpus made of our own treebank whose vocabulary grows as that of real text does
(see generated.py), and what other commands hold on pipes for a short and for a longer input. Throughput: sentences per second of
scoring and of parsing on one and on two workers, the best of some rounds in which engines take turns, with the workers started
before the clock is. Overhead: shards with nothing to do. Two workers can be faster than one only where two processors have nothing
else to do.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import operator
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path

from generated import generate, own_files, vocabulary
from results import machine, peak_memory, save_section

import treegauge
from treegauge.cli._grammars import load_grammar
from treegauge.data import own_treebank
from treegauge.engines import Engine, InProcess, open_engine
from treegauge.io.sources import ReadOptions
from treegauge.parsing.output import ParseJob, parse_block, sentence_blocks
from treegauge.parsing.parser import Parser

METRICS = ["parseval", "goodman", "leaf-ancestor", "freval"]
ENGINES = {"this process": "local", "2 processes": "local:2", "Dask, 1 worker": "dask:1", "Dask, 2 workers": "dask:2"}
SHARDS = 500


def write_corpus(folder: Path, n: int) -> tuple[Path, Path]:
    """Gold and test trees of so many sentences."""
    files = generate(*own_files(folder), n, folder)
    return files.gold, files.test


def memory(folder: Path, n: int) -> list[str]:
    gold, test = write_corpus(folder, n)
    size = (gold.stat().st_size + test.stat().st_size) / 1e6
    began = time.perf_counter()
    held, seconds = peak_memory("score", gold, test, "--stream"), time.perf_counter() - began
    lines = [
        f"`score --stream` of {n:,} sentences ({size:,.0f} MB in two files, {vocabulary(gold):,} different words): at most "
        f"{held / 1e6:.0f} MB held; {seconds:.0f} s, {n / seconds:,.0f} sentences per second.",
        "",
        "| on a pipe | sentences | most held | sentences | most held |",
        "|---|---|---|---|---|",
    ]
    gold.unlink()
    test.unlink()
    for name, few, many in (
        ("convert", 20_000, 200_000),
        ("score", 20_000, 200_000),
        ("chunks", 2_000, 20_000),
        ("parse", 500, 5_000),
    ):
        cells: list[str] = []
        for count in (few, many):
            cells += [f"{count:,}", f"{_on_a_pipe(name, folder, count) / 1e6:.0f} MB"]
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return lines


def _on_a_pipe(name: str, folder: Path, n: int) -> int:
    gold, test = write_corpus(folder, n)
    if name == "convert":
        return peak_memory("convert", "-", stdin=gold)
    if name == "score":
        return peak_memory("score", gold, "-", "--stream", stdin=test)
    if name == "chunks":
        return peak_memory("chunks", "score", gold, "-", stdin=gold)
    return peak_memory("parse", "own", "-", "--input", "trees", "--prune", stdin=gold)


def rates(job: Callable[[Engine], int], rounds: int) -> dict[str, float]:
    """Sentences per second on each engine, with workers started and their code loaded."""
    found = dict.fromkeys(ENGINES, 0.0)
    with ExitStack() as stack:
        engines = {title: stack.enter_context(closing(open_engine(name))) for title, name in ENGINES.items()}
        for number in range(rounds + 1):
            for title, engine in engines.items():
                began = time.perf_counter()
                done = job(engine) / (time.perf_counter() - began)
                found[title] = max(found[title], done) if number else 0.0  # the first time, workers start
    return found


def throughput(folder: Path, scored: int, parsed: int, rounds: int) -> list[str]:
    gold, test = write_corpus(folder, scored)
    sentences = folder / "sentences.txt"
    words = (" ".join(own_treebank()[i % 521].words[:25]) for i in range(parsed))
    sentences.write_text("\n".join(words) + "\n")
    given = load_grammar("own")
    job = ParseJob(Parser(given.grammar, "labelled-recall"), "tokens", ReadOptions(), "bracketed")

    def score(engine: Engine) -> int:
        treegauge.score(gold, {"test": test}, METRICS, engine=engine, sentences=False)
        return scored

    def parse(engine: Engine) -> int:
        return sum(len(done) for done in engine.map(parse_block, job, sentence_blocks(str(sentences), job)))

    lines = [
        f"| sentences per second | scoring by {len(METRICS)} metrics | beside one worker | parsing | beside one worker |",
        "|---|---|---|---|---|",
    ]
    scoring, parsing = rates(score, rounds), rates(parse, rounds)
    for title in ENGINES:
        cells = [f"{found[title]:,.0f} | {found[title] / found['Dask, 1 worker']:.2f}x" for found in (scoring, parsing)]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return lines


def control(rounds: int) -> list[str]:
    """The speed-up of work that shares nothing on two processors: no engine can do better at that moment."""
    work = partial(hashlib.pbkdf2_hmac, "sha256", b"password", b"salt")
    seconds = {"local": math.inf, "local:2": math.inf}
    for name in seconds:
        with closing(open_engine(name)) as engine:
            for _ in range(rounds + 1):
                began = time.perf_counter()
                list(engine.map(operator.call, work, [300_000] * 12))
                seconds[name] = min(seconds[name], time.perf_counter() - began)
    gain = seconds["local"] / seconds["local:2"]
    return [f"Meanwhile two processes that only compute were {gain:.2f}x as fast as one: that is what the machine had to give."]


def overhead() -> list[str]:
    lines = [f"| {SHARDS} shards with nothing to do | milliseconds a shard |", "|---|---|"]
    for title, name in ENGINES.items():
        with closing(open_engine(name)) as engine:
            list(engine.map(operator.mul, 2, range(10)))
            began = time.perf_counter()
            assert list(engine.map(operator.mul, 2, range(SHARDS))) == list(range(0, 2 * SHARDS, 2))
            shown = "none" if isinstance(engine, InProcess) else f"{(time.perf_counter() - began) / SHARDS * 1e3:.2f}"
            lines.append(f"| {title} | {shown} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=int, default=1_000_000)
    parser.add_argument("--scored", type=int, default=100_000)
    parser.add_argument("--parsed", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--save", action="store_true", help="write the section of RESULTS.md")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        text = "\n".join(
            [
                *memory(Path(folder), arguments.sentences),
                "",
                *throughput(Path(folder), arguments.scored, arguments.parsed, arguments.rounds),
                "",
                *control(arguments.rounds),
                "",
                *overhead(),
                "",
                machine(),
            ]
        )
    print(text)
    if arguments.save:
        save_section("Scale", text)


if __name__ == "__main__":
    main()
