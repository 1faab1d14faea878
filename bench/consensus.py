"""Minimum-risk decoding by any metric: the time for 100 samples of a sentence of about 30 words, all pairs scored at once.

python bench/consensus.py [--data FOLDER] [--save]
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from results import machine, save_section

from treegauge import io
from treegauge.data import own_treebank
from treegauge.grammar import PCFG, train
from treegauge.normalise import pipeline
from treegauge.parsing import Forest
from treegauge.parsing.objectives import MetricRate, consensus

METRICS = ("parseval.f1", "parseval.exact_match", "goodman.labelled_recall", "leaf-ancestor", "freval.f1")
SAMPLES, WORDS, REPEATS, TRIED = 100, 30, 3, 8
CLEAN = pipeline("traces,functions,root")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data" / "wsj_sample")
    parser.add_argument("--save", action="store_true")
    args = parser.parse_args()
    trees = [tree for tree in map(CLEAN, own_treebank()) if tree is not None]
    words = min(trees, key=lambda tree: abs(tree.width - WORDS)).words
    grammar = train(own_treebank("train"), steps="traces,functions,root,redundant,binarise:h=1").grammar
    parts = ["CPU seconds, the best of 3.", _table(Forest(grammar, words))]
    if (args.data / "train.mrg").is_file():
        grammar = train(io.read(args.data / "train.mrg")).grammar
        parts.append("A sentence of the WSJ sample, by the default grammar of its training part:")
        parts.append(_table(_most_ambiguous(grammar, args.data / "dev.mrg")))
    text = "\n\n".join([*parts, machine()])
    print(text)
    if args.save:
        save_section("Minimum-risk decoding", text)


def _most_ambiguous(grammar: PCFG, path: Path) -> Forest:
    """The one of the first sentences of 28 to 30 words whose samples hold the most different trees."""
    sentences = [tree.words for tree in map(CLEAN, io.read(path)) if tree is not None and WORDS - 2 <= tree.width <= WORDS]
    forests = [Forest(grammar, words) for words in sentences[:TRIED]]
    return max(forests, key=lambda forest: len(set(forest.sample(SAMPLES, 0))))


def _table(forest: Forest) -> str:
    different = len(set(forest.sample(SAMPLES, 0)))
    lines = [f"| {SAMPLES} samples ({different} different trees) of {forest.n} words | s |", "|---|---|"]
    lines.append(f"| drawing the samples | {_seconds(lambda seed: forest.sample(SAMPLES, seed)):.3f} |")
    for name in METRICS:
        rate = MetricRate(name)
        # Different samples in each round, since the rates of the same trees are cached.
        samples = [forest.sample(SAMPLES, seed) for seed in range(1, REPEATS + 2)]
        seconds = _seconds(lambda i, rate=rate, samples=samples: consensus(samples[i], [1.0] * SAMPLES, rate))
        lines.append(f"| choosing by {name} | {seconds:.3f} |")
    return "\n".join(lines)


def _seconds(work: object) -> float:
    assert callable(work)
    work(0)
    found: list[float] = []
    for number in range(1, REPEATS + 1):
        began = time.process_time()
        work(number)
        found.append(time.process_time() - began)
    return min(found)


if __name__ == "__main__":
    main()
