"""The time of one iteration of learning from brackets, and its growth with nonterminals and length.

    python bench/learning.py [--data ../shared/data/wsj_sample/train.mrg] [--plot FILE.svg] [--save]

Target: at most 0.3 s for 1,000 WSJ-sample tag sequences of at most 40 tags with 15 to 20 nonterminals on two
threads. The yardstick, in the same run, is the same algorithm written with one NumPy ``einsum`` per span. Without the
WSJ sample, copies of the treebank that comes with treegauge are used.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from results import machine, save_section

from treegauge.data import own_treebank
from treegauge.io import read
from treegauge.learning import BracketedSentences, DenseGrammar, random_grammar, reestimation_steps
from treegauge.learning.reestimation import cut_blocks, expect_dense

SENTENCES, LONGEST, YARDSTICK = 1_000, 40, 40


def best_of(rounds: int, work: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    """The shortest of several runs, which was disturbed least, in seconds of CPU time unless another clock is given."""
    times: list[float] = []
    for _ in range(rounds):
        began = clock()
        work()
        times.append(clock() - began)
    return min(times)


def corpus(path: Path) -> tuple[str, BracketedSentences]:
    name, bank = ("WSJ-sample", read(path)) if path.exists() else ("our own", own_treebank())
    sentences = BracketedSentences.from_treebank(bank, longest=LONGEST)
    return name, sentences.take(np.arange(SENTENCES) % len(sentences))


def iteration(grammar: DenseGrammar, sentences: BracketedSentences, rounds: int = 5) -> float:
    """CPU time of one iteration on one thread."""
    prepared = cut_blocks(sentences)
    expect_dense(grammar, prepared, threads=1)
    return best_of(rounds, lambda: expect_dense(grammar, prepared, threads=1))


def wall_time(grammar: DenseGrammar, sentences: BracketedSentences, threads: int) -> float:
    prepared = cut_blocks(sentences)
    return best_of(15, lambda: expect_dense(grammar, prepared, threads=threads), time.perf_counter)


def numpy_counts(grammar: DenseGrammar, sentences: BracketedSentences) -> NDArray[np.float64]:
    """Expected counts of the binary rules, as one would write them with NumPy; without scaling, so for short sentences only."""
    P, index = grammar.binary, {word: i for i, word in enumerate(grammar.terminals)}
    counts = np.zeros_like(P)
    for i in range(len(sentences)):
        words, brackets = sentences.words(i), sentences.brackets(i)
        n = len(words)
        ok = np.ones((n + 1, n + 1), np.bool_)
        for a, b in brackets:
            ok[:a, a + 1 : b] = ok[a + 1 : b, b + 1 :] = False
        e, f = np.zeros((n + 1, n + 1, len(P))), np.zeros((n + 1, n + 1, len(P)))
        x: dict[tuple[int, int], NDArray[np.float64]] = {}
        for s in range(n):
            e[s, s + 1] = grammar.lexical[index[words[s]]]
        spans = [(s, s + d) for d in range(2, n + 1) for s in range(n - d + 1) if ok[s, s + d]]
        for s, t in spans:
            x[s, t] = np.einsum("rb,rc->bc", e[s, s + 1 : t], e[s + 1 : t, t])
            e[s, t] = np.einsum("abc,bc->a", P, x[s, t])
        f[0, n, 0] = 1 / e[0, n, 0]
        for s, t in reversed(spans):
            y = np.einsum("a,abc->bc", f[s, t], P)
            f[s, s + 1 : t] += e[s + 1 : t, t] @ y.T
            f[s + 1 : t, t] += e[s, s + 1 : t] @ y
            counts += f[s, t][:, None, None] * P * x[s, t]
    return counts


def right_branching(n: int) -> list[tuple[int, int]]:
    return [(s, n) for s in range(n - 1)]


def growth(values: list[tuple[int, float]]) -> list[str]:
    """Rows with the exponent of the growth since the row before."""
    rows = [f"| {values[0][0]} | {1000 * values[0][1]:.2f} | |"]
    for (a, first), (b, second) in itertools.pairwise(values):
        rows.append(f"| {b} | {1000 * second:.2f} | {np.log(second / first) / np.log(b / a):.2f} |")
    return rows


def report(path: Path, plot: str | None) -> str:
    name, sentences = corpus(path)
    lines = [
        f"One iteration over {len(sentences):,} {name} tag sequences of at most {LONGEST} tags ({sentences.n_tokens:,} tags,"
        f" {len(sentences.start):,} brackets); the target is 0.3 s on two threads:",
        "",
        "| nonterminals | rules | CPU time s | 1 thread, wall time s | 2 threads, wall time s |",
        "|---:|---:|---:|---:|---:|",
    ]
    for N in (15, 20):
        grammar = random_grammar(N, sentences.terminals, 1)
        one, two = (wall_time(grammar, sentences, threads) for threads in (1, 2))
        lines.append(f"| {N} | {grammar.n_rules:,} | {iteration(grammar, sentences):.3f} | {one:.3f} | {two:.3f} |")
    lines += ["", *_yardstick(sentences), "", *_late(sentences)]
    by_symbols = [(N, iteration(random_grammar(N, sentences.terminals, 1), sentences, 3)) for N in (5, 10, 20, 40, 60)]
    lines += [
        "",
        "Growth with nonterminals (theory: 3 where rules outweigh all else), CPU time:",
        "",
        "| nonterminals | ms an iteration | exponent |",
    ]
    lines += ["|---:|---:|---:|", *growth(by_symbols)]
    free, bound = _by_length()
    lines += ["", "Growth with length, 15 nonterminals, CPU time: no brackets (theory: between 2, rules, and 3, splits)", ""]
    lines += ["| tags | ms per sentence | exponent |", "|---:|---:|---:|", *growth(free)]
    lines += [
        "",
        "and full right-branching brackets, where forbidden spans cost no more than a look (theory: 1, plus the looks)",
        "",
    ]
    lines += ["| tags | ms per sentence | exponent |", "|---:|---:|---:|", *growth(bound)]
    if plot:
        _draw(plot, by_symbols, free, bound)
    return "\n".join([*lines, "", machine()])


def _yardstick(sentences: BracketedSentences) -> list[str]:
    few = sentences.take(range(YARDSTICK))
    grammar = random_grammar(15, sentences.terminals, 1)
    slow, fast = best_of(3, lambda: numpy_counts(grammar, few)), iteration(grammar, few)
    same = np.allclose(numpy_counts(grammar, few), expect_dense(grammar, cut_blocks(few)).binary, rtol=1e-9, atol=0)
    return [
        f"The first {YARDSTICK} sentences with 15 nonterminals, CPU time: {1000 * fast:.1f} ms; with NumPy, one einsum a span,"
        f" {1000 * slow:.0f} ms ({slow / fast:.0f}x), counts {'equal' if same else 'DIFFERENT'} to 9 digits."
    ]


def _late(sentences: BracketedSentences) -> list[str]:
    """A measurement of whether the tiny numbers of a nearly converged grammar slow the kernels down."""
    start = random_grammar(15, sentences.terminals, 1)
    late = next(itertools.islice(reestimation_steps(start, sentences), 60, None)).grammar
    assert isinstance(late, DenseGrammar)
    seconds = iteration(late, sentences)
    return [f"After 60 iterations (15 nonterminals, {late.n_rules:,} rules left) one takes {seconds:.3f} s of CPU time."]


def _by_length() -> tuple[list[tuple[int, float]], list[tuple[int, float]]]:
    rng = np.random.default_rng(1)
    grammar = random_grammar(15, [f"t{i}" for i in range(45)], 1)
    free: list[tuple[int, float]] = []
    bound: list[tuple[int, float]] = []
    for n in (10, 20, 40, 80, 160):
        count = max(1, 320 // n)
        words = [rng.choice(grammar.terminals, n).tolist() for _ in range(count)]
        bare = BracketedSentences.of([(w, []) for w in words])
        full = BracketedSentences.of([(w, right_branching(n)) for w in words])
        free.append((n, iteration(grammar, bare, 3) / count))
        bound.append((n, iteration(grammar, full, 3) / count))
    return free, bound


def _draw(path: str, by_symbols: list[tuple[int, float]], free: list[tuple[int, float]], bound: list[tuple[int, float]]) -> None:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
    named = [
        ("1,000 sentences by nonterminals", by_symbols),
        ("a sentence by length, no brackets", free),
        ("a sentence by length, full brackets", bound),
    ]
    for (label, values), marker in zip(named, "os^", strict=True):
        axes.plot([x for x, _ in values], [1000 * y for _, y in values], label=label, marker=marker)
    axes.set(xscale="log", yscale="log", xlabel="nonterminals, or tags", ylabel="ms", title="One iteration of learning")
    axes.legend(frameon=False)
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared/data/wsj_sample/train.mrg")
    parser.add_argument("--plot", metavar="FILE.svg")
    parser.add_argument("--save", action="store_true", help="Replace the section of RESULTS.md.")
    given = parser.parse_args()
    text = report(given.data, given.plot)
    print(text)
    if given.save:
        save_section("Learning from brackets", text)


if __name__ == "__main__":
    main()
