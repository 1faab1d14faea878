"""Minimum-risk decoding by any metric: the time of 100 samples of a sentence of about 30 words, all pairs of them scored at once.

python bench/consensus.py [--save]
"""

from __future__ import annotations

import argparse
import time

from results import machine, save_section

from treegauge.data import own_treebank
from treegauge.grammar import train
from treegauge.normalise import pipeline
from treegauge.parsing import Forest
from treegauge.parsing.objectives import MetricRate, consensus

METRICS = ("parseval.f1", "parseval.exact_match", "goodman.labelled_recall", "leaf-ancestor", "freval")
SAMPLES, WORDS, REPEATS = 100, 30, 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", action="store_true")
    args = parser.parse_args()
    clean = pipeline("traces,functions,root")
    grammar = train(own_treebank("train"), steps="traces,functions,root,redundant,binarise:h=1").grammar
    trees = [tree for tree in map(clean, own_treebank()) if tree is not None]
    words = min(trees, key=lambda tree: abs(tree.width - WORDS)).words
    forest = Forest(grammar, words)
    drawn = forest.sample(SAMPLES, 0)
    lines = [
        f"{SAMPLES} samples ({len(set(drawn))} different trees) of a sentence of {len(words)} words; CPU seconds, the best of "
        f"{REPEATS}:",
        "",
        "| | s |",
        "|---|---|",
    ]
    lines.append(f"| drawing the samples | {_seconds(lambda seed: forest.sample(SAMPLES, seed)):.3f} |")
    for name in METRICS:
        rate = MetricRate(name)
        # Other samples each time: rates of the same trees are remembered.
        samples = [forest.sample(SAMPLES, seed) for seed in range(1, REPEATS + 2)]
        seconds = _seconds(lambda i, rate=rate, samples=samples: consensus(samples[i], [1.0] * SAMPLES, rate))
        lines.append(f"| choosing by {name} | {seconds:.3f} |")
    text = "\n".join([*lines, "", machine()])
    print(text)
    if args.save:
        save_section("Minimum-risk decoding", text)


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
