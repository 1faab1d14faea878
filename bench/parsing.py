"""The speed of charts: inside, outside and decoding with a WSJ-sample grammar, compared with NLTK's ViterbiParser in the same run.

    python bench/parsing.py [--data ../shared/data/wsj_sample] [--plot FILE.svg] [--save]

The grammar is Goodman's: relative frequency over tags, unary chains collapsed,
X_Cont binarisation; the sentences are 100 held-out ones of 5-40 tags. NLTK is timed on short sentences only; it is
compared on those that it was timed on.
"""

from __future__ import annotations

import argparse
import gc
import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from results import machine, save_section

from scoring import least_of_numba
from treegauge.grammar import PCFG, statistics as grammar_statistics, write_nltk
from treegauge.grammar.grammar_text import nltk_names
from treegauge.grammar.treebank_grammar import train
from treegauge.io import read
from treegauge.normalise import pipeline
from treegauge.parsing import Forest
from treegauge.parsing.parser import Parser, Sentence

STEPS = "traces,functions,root,unaries:top,xcont"
BUCKETS = ((5, 10), (11, 20), (21, 30), (31, 40))
OBJECTIVES = ("viterbi", "labelled-recall", "bracketed-recall", "labelled-recall-licensed", "parent-child", "frames")
NLTK_LONGEST = 8


def best_of(rounds: int, work: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    """The shortest of several runs, which was disturbed least, in seconds of CPU time."""
    times: list[float] = []
    for _ in range(rounds):
        gc.collect()
        began = clock()
        work()
        times.append(clock() - began)
    return min(times)


def load(folder: Path) -> tuple[PCFG, list[tuple[str, ...]]]:
    grammar = train(read(folder / "train.mrg"), steps=STEPS, tags=True).grammar
    held_out = [tree.tags for tree in pipeline("traces").apply(read(folder / "dev.mrg"))]
    return grammar, [tags for tags in held_out if 5 <= len(tags) <= 40][:100]


def marginals(grammar: PCFG, tags: Sequence[str]) -> None:
    """Compute inside, outside, and the Labelled Recall tree."""
    forest = Forest(grammar, tags)
    if forest.has_parse:
        forest.argmax("labelled-recall")


def by_length(grammar: PCFG, sentences: Sequence[Sequence[str]]) -> tuple[list[str], list[tuple[int, float]]]:
    points = [(len(tags), best_of(3, lambda tags=tags: marginals(grammar, tags))) for tags in sentences]
    lines = ["| tags | sentences | ms per sentence |", "|---|---|---|"]
    for low, high in (*BUCKETS, (5, 40)):
        chosen = [seconds for n, seconds in points if low <= n <= high]
        if chosen:
            lines.append(f"| {low}-{high} | {len(chosen)} | {1e3 * statistics.fmean(chosen):.2f} |")
    return lines, points


def by_objective(grammar: PCFG, sentences: Sequence[Sequence[str]]) -> list[str]:
    lines = ["| objective | ms per sentence |", "|---|---|"]
    for objective in OBJECTIVES:

        def work(objective: str = objective) -> None:
            for tags in sentences:
                forest = Forest(grammar, tags)
                if forest.has_parse:
                    forest.argmax(objective)

        work()
        lines.append(f"| {objective} | {1e3 * best_of(3, work) / len(sentences):.2f} |")
    return lines


def threads(grammar: PCFG, sentences: Sequence[Sequence[str]]) -> list[str]:
    many = [Sentence(tuple(tags)) for tags in sentences] * 4
    parser = Parser(grammar, "labelled-recall")
    times = {jobs: best_of(3, lambda jobs=jobs: list(parser.parse_all(many, jobs)), time.perf_counter) for jobs in (1, 2)}
    return [
        f"{len(many)} sentences, {jobs} thread{'s' * (jobs > 1)}: {seconds:.2f} s wall time ({len(many) / seconds:.0f} a second)."
        for jobs, seconds in times.items()
    ]


def beside_nltk(grammar: PCFG, sentences: Sequence[Sequence[str]]) -> list[str]:
    """The times of NLTK's ViterbiParser and of our Viterbi on the short sentences, and of treegauge on all."""
    try:
        import nltk
    except ImportError:
        return ["NLTK is not installed: no peer."]
    names = nltk_names(grammar.nonterminals)
    parser = nltk.ViterbiParser(nltk.PCFG.fromstring(write_nltk(grammar)))
    short = sorted((tags for tags in sentences if len(tags) <= NLTK_LONGEST), key=len)[:3]
    if not short:
        return [f"No held-out sentence has at most {NLTK_LONGEST} tags: no peer."]
    theirs = 0.0
    for tags in short:
        began = time.process_time()
        found = next(iter(parser.parse(list(tags))), None)
        seconds = time.process_time() - began
        ours = Forest(grammar, tags)
        assert (found is not None) == ours.has_parse
        if found is not None:
            assert math.isclose(math.log(found.prob()), ours.best().log_probability, rel_tol=1e-9), names
        theirs += seconds
    own = sum(best_of(3, lambda tags=tags: Forest(grammar, tags).best()) for tags in short if Forest(grammar, tags).has_parse)

    def all_of_them() -> None:
        for tags in sentences:
            forest = Forest(grammar, tags)
            if forest.viterbi.root >= 0:
                forest.best()

    ours_all = best_of(3, all_of_them) / len(sentences)
    return [
        f"NLTK's ViterbiParser, measured on {len(short)} sentences of {len(short[0])}-{len(short[-1])} tags: {theirs:.2f} s, "
        f"treegauge's Viterbi {1e3 * own:.2f} ms, {theirs / own:,.0f} times faster; the same probabilities.",
        f"treegauge on all {len(sentences)} sentences: {1e3 * ours_all:.2f} ms per sentence, which NLTK was not tried on.",
    ]


def long_sentence() -> list[str]:
    grammar = PCFG.parse('S -> S S [.3] | A S [.2] | "a" [.5]\nA -> A A [.3] | S A [.2] | "a" [.5]')
    forest = Forest(grammar, ["a"] * 1000)
    began = time.process_time()
    score = forest.argmax("labelled-recall").score
    seconds = time.process_time() - began
    size = sum(part.nbytes for part in (*forest.inside_chart.chart, *forest.outer))
    return [
        f"1,000 tokens, 6 rules: inside, outside and Labelled Recall {seconds:.1f} s, charts {size / 2**20:.0f} MB, "
        f"log P = {forest.log_partition:.6f}, expected score {score:.3f}."
    ]


def large_grammar(rules: int = 100_000) -> list[str]:
    rng = np.random.default_rng(1)
    symbols = [f"X{i}" for i in range(400)]
    drawn = {tuple(row) for row in rng.integers(0, len(symbols), (rules + 2000, 3)).tolist()}
    triples = [(symbols[a], [symbols[b], symbols[c]], 1.0) for a, b, c in sorted(drawn)[:rules]]
    lexical = [(symbol, [f"w{k}"], 20.0) for symbol in symbols for k in rng.choice(50, 3, replace=False).tolist()]
    grammar = PCFG.from_rules([*triples, *lexical], start="X0", nonterminals=symbols, renormalise=True)
    began = time.process_time()
    columns = grammar.binary
    made = time.process_time() - began
    words = [f"w{k}" for k in rng.integers(0, 50, 40).tolist()]
    forest = Forest(grammar, words)
    began = time.process_time()
    forest.argmax("labelled-recall")
    seconds = time.process_time() - began
    size = sum(part.nbytes for part in (*forest.inside_chart.chart, *forest.outer))
    return [
        f"{len(grammar.rules):,} random rules over {columns.visible} symbols, 40 tokens: {seconds:.2f} s, "
        f"charts {size / 2**20:.0f} MB, columns made in {made:.2f} s, "
        f"log P = {forest.log_partition:.4f}."
    ]


def start_up() -> list[str]:
    """The times of whole commands with cached kernels and with an empty cache, and the least time that Numba takes."""

    def run(folder: str, *command: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            command,
            input=b"it is here .\n",
            capture_output=True,
            check=True,
            env={**os.environ, "NUMBA_CACHE_DIR": folder},
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    with tempfile.TemporaryDirectory() as folder:
        parse, least = (sys.executable, "-m", "treegauge", "parse"), least_of_numba(Path(folder))
        fresh, _ = run(folder, *parse), run(folder, *least)
        cached, floor = (min(run(folder, *command) for _ in range(5)) for command in (parse, least))
    return [
        f"`echo it is here . | treegauge parse`: {cached:.2f} s with cached kernels, {fresh:.1f} s the first time (compiling). "
        f"Importing Numba and calling one cached kernel that adds three numbers: {floor:.2f} s."
    ]


def plot(points: Sequence[tuple[int, float]], path: str) -> None:
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "treegauge"
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4))
    axes.plot([n**3 for n, _ in points], [1e3 * seconds for _, seconds in points], "o", markersize=3)
    axes.set_xlabel("length cubed")
    axes.set_ylabel("ms: inside, outside, Labelled Recall")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None}, bbox_inches="tight")


def report(grammar: PCFG, sentences: Sequence[Sequence[str]], plot_to: str | None) -> str:
    busy = os.getloadavg()[0]
    marginals(grammar, sentences[0])
    lines, points = by_length(grammar, sentences)
    cubes = np.array([n**3 for n, _ in points], float)
    if plot_to:
        plot(points, plot_to)
    parts = [
        f"Grammar: {str(grammar_statistics(grammar)).replace(chr(10), '; ')}. {len(sentences)} held-out sentences.",
        f"Load average {busy:.1f} on {os.cpu_count()} cores when it began. Times are CPU time where not said otherwise.",
        "Inside, outside and Labelled Recall decoding, each sentence by itself (best of 3, garbage collected in between):",
        "\n".join(lines),
        f"Correlation of time with the cube of the length: {np.corrcoef(cubes, [s for _, s in points])[0, 1]:.3f}.",
        "All sentences in one go, inside and (except for Viterbi) outside included:",
        "\n".join(by_objective(grammar, sentences)),
        *threads(grammar, sentences),
        *beside_nltk(grammar, sentences),
        "disco-dop 0.5.2 does not build from the package index on Python 3.11, so it is not measured.",
        *long_sentence(),
        *large_grammar(),
        *start_up(),
        f"Largest memory of this whole run: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB.",
        machine() + ".",
    ]
    return "\n\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data" / "wsj_sample")
    parser.add_argument("--plot", metavar="FILE.svg")
    parser.add_argument("--save", action="store_true", help="write the section of RESULTS.md")
    arguments = parser.parse_args()
    text = report(*load(arguments.data), arguments.plot)
    print(text)
    if arguments.save:
        save_section("Parsing", text)


if __name__ == "__main__":
    main()
