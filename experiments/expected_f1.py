"""Expected F1 against actual F1, sentence by sentence, for models of several kinds; a table and a picture.

    python experiments/expected_f1.py train.mrg --hold-out 0.03 grammars=g.model network=n.model mixture=g.model,n.model --svg x.svg

The trees are those that ``train --hold-out`` leaves out, none of which a model has seen. One half of them calibrates the other, and
the other way round. Sentences are put into groups of equal size by their expected F1; a group's F1 is that of all its brackets.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from treegauge import Tree, read, score
from treegauge.grammar.training_sentences import hold_out_by_words
from treegauge.models.loading import load_parser
from treegauge.normalise import pipeline
from treegauge.parsing.confidence import ExpectedCounts, F1Calibration, fit_logistic
from treegauge.parsing.expected import Calibration, LabelCalibration, Reliability, draw_calibration
from treegauge.parsing.mixture import mixture_of
from treegauge.parsing.parser import Sentence, SentenceParser
from treegauge.tables import Table

GROUPS = 6


def parser_of(files: str) -> SentenceParser:
    parsers = {name: load_parser(name, device="cpu").parser for name in files.split(",")}
    made = next(iter(parsers.values())) if len(parsers) == 1 else mixture_of(parsers)
    return made.with_settings(objective="labelled-precision-recall", expected_f1=True)


def grouped(name: str, expected: np.ndarray, right: np.ndarray, size: np.ndarray) -> LabelCalibration:
    """The groups of sentences: mean expected F1, weighted by brackets, and F1."""
    groups = np.array_split(np.argsort(expected, kind="stable"), GROUPS)
    rows = [
        Reliability(
            float(expected[own].min()), float(expected[own].max()), int(size[own].sum()),
            float(np.average(expected[own], weights=size[own])), float(right[own].sum() / size[own].sum()),
        )
        for own in groups
    ]  # fmt: skip
    error = sum(row.size * abs(row.posterior - row.right) for row in rows) / sum(row.size for row in rows)
    mean, f1 = float(np.average(expected, weights=size)), float(right.sum() / size.sum())
    return LabelCalibration(name, int(size.sum()), mean, f1, error, tuple(rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees")
    parser.add_argument("models", nargs="+", metavar="NAME=MODEL[,MODEL...]")
    parser.add_argument("--hold-out", type=float, default=0.0)
    parser.add_argument("--svg", type=Path)
    args = parser.parse_args()
    trees = list(read(args.trees))
    if args.hold_out:
        trees = hold_out_by_words(trees, args.hold_out)[1]
    gold: list[Tree] = [tree for tree in map(pipeline("traces"), trees) if tree is not None and tree.width]
    found, rows = list[LabelCalibration](), list[tuple[str, ...]]()
    for name, _, files in (given.partition("=") for given in args.models):
        parsed = list(parser_of(files).parse_all([Sentence(tree.words) for tree in gold]))
        kept = [i for i, each in enumerate(parsed) if each.confidence is not None]
        result = score([gold[i] for i in kept], [parsed[i].tree for i in kept], metric="parseval")
        assert result.rows is not None
        column = {name: result.rows[:, i].astype(float) for i, name in enumerate(result.columns)}
        matched, of_gold, of_test = (column[name] for name in ("matched", "gold", "test"))
        usable = np.flatnonzero(of_gold + of_test > 0)
        right, size = 2 * matched[usable], (of_gold + of_test)[usable]
        confidences = [parsed[i].confidence for i in kept]
        raw = np.array([each.expected_f1 for each in confidences if each is not None])[usable]
        calibrated = np.empty(len(raw))
        for half in (0, 1):
            own, other = np.arange(len(raw)) % 2 == half, np.arange(len(raw)) % 2 != half
            chosen = F1Calibration(*fit_logistic(raw[other], right[other], size[other]), int(other.sum()))
            calibrated[own] = [chosen(f1) for f1 in raw[own]]
        for what, values in ((name, raw), (f"{name}, cal.", calibrated)):
            made = grouped(what, values, right, size)
            found.append(made)
            correlation = float(np.corrcoef(values, right / size)[0, 1])
            numbers = (100 * made.posterior, 100 * made.right, 100 * made.error)
            rows.append((what, str(len(raw)), *(f"{number:.2f}" for number in numbers), f"{correlation:.2f}"))
    columns = ("model", "sentences", "expected F1", "F1", "mean distance of groups", "correlation")
    print(Table("Expected and actual F1", columns, tuple(rows)))
    if args.svg:
        whole = Calibration(tuple(found), len(gold), 0, ExpectedCounts(0.0, 0, 0.0), 0, 0)
        picture = draw_calibration(whole).replace("Are posteriors right as often as they say?", "Expected and actual F1")
        picture = picture.replace("mean posterior", "expected F1").replace("share right", "F1")
        args.svg.write_text(picture.replace("Share of right constituents by posterior", "F1 by expected F1"), "utf-8")


if __name__ == "__main__":
    main()
