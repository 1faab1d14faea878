"""The time that all chunk models take for the training sentences of CoNLL-2000.

python bench/chunks.py [--data ../shared/data/conll2000/train.txt] [--save]
"""

from __future__ import annotations

import argparse
import time
from itertools import pairwise
from pathlib import Path

from results import machine, save_section

from treegauge.chunks.corpus import categories_of, read_chunks
from treegauge.chunks.entropy import evaluate
from treegauge.chunks.models import train_models, with_gold_tags
from treegauge.chunks.tagger import HmmTagger


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=str(Path(__file__).parents[2] / "shared" / "data" / "conll2000" / "train.txt"))
    parser.add_argument("--save", action="store_true", help="write the section of RESULTS.md")
    arguments = parser.parse_args()
    began = time.process_time()
    sentences = read_chunks(arguments.data)
    reading = time.process_time() - began
    lines = [
        f"{len(sentences):,} sentences of CoNLL-2000, a third each for rules, for their probabilities and to measure; CPU time.",
        "",
        "| tags | tagging | training | all models and S | together |",
        "|---|---|---|---|---|",
    ]
    parts = [sentences[number::3] for number in range(3)]
    for tags in ("gold", "tagger"):
        marks = [time.process_time()]
        if tags == "gold":
            tagged = [with_gold_tags(part) for part in parts]
        else:
            tagger = HmmTagger.train([(sentence.words, sentence.tags) for part in parts[:2] for sentence in part])
            tagged = [[(sentence, tagger.lattice(sentence.words)) for sentence in part] for part in parts]
        marks.append(time.process_time())
        models = train_models(tagged[0], tagged[1], categories_of(sentences))
        marks.append(time.process_time())
        evaluate(models, tagged[2])
        marks.append(time.process_time())
        spent = [later - earlier for earlier, later in pairwise(marks)]
        lines.append(f"| {tags} | " + " | ".join(f"{seconds:.1f} s" for seconds in (*spent, sum(spent))) + " |")
    text = "\n".join([*lines, "", f"Reading: {reading:.2f} s.", "", machine()])
    print(text)
    if arguments.save:
        save_section("Chunks", text)


if __name__ == "__main__":
    main()
