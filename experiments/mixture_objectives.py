"""The objectives on a mixture, each measured by its own rate: python experiments/mixture_objectives.py TREES SHARE MODEL MODEL...

The trees that ``--hold-out SHARE`` has left out of every MODEL are divided: shares, lam and the setting for each purpose are chosen
on every other tree, and the rates are measured on the rest. Writes ``experiments/results/mixture_objectives.md``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from treegauge.grammar.training_sentences import hold_out_by_words, seen_sentences
from treegauge.io import read
from treegauge.models.loading import load_parser
from treegauge.models.mixtures import mix_models
from treegauge.normalise import pipeline
from treegauge.parsing.mixture import MixtureParser
from treegauge.parsing.mixture_tuning import tune_mixture
from treegauge.parsing.objectives import CRITERIA
from treegauge.parsing.parser import Sentence
from treegauge.scoring.evaluation import score
from treegauge.tables import Table, render
from treegauge.trees import Tree

RESULTS = Path(__file__).parent / "results" / "mixture_objectives.md"


def main(path: str, share: str, names: list[str]) -> None:
    clean = pipeline("traces,functions,root")
    held = hold_out_by_words(list(read(path)), float(share))[1]
    models = [load_parser(name, device="cpu") for name in names]
    assert not any(seen_sentences(held, model.sentences) for model in models), "a model was trained on held-out trees"
    parser = mix_models(models).parser
    assert isinstance(parser, MixtureParser)
    tuned = tune_mixture(parser, held[::2], show=lambda line: print(line, file=sys.stderr))
    gold = [tree for tree in map(clean, held[1::2]) if tree is not None and tree.width]
    parser = parser.with_settings(shares=tuned.shares, lam=tuned.lam)
    views = parser.views([Sentence(tree.words, tree.tags) for tree in gold])
    trees: dict[str, list[Tree]] = {}
    for criterion, setting in tuned.settings.best.items():
        found = [None if view is None else view.argmax(setting.objective, **setting.options).tree for view in views]
        trees[criterion] = [tree or parser.fallback_tree(Sentence(own.words)) for tree, own in zip(found, gold, strict=True)]
    rates = {criterion: score(gold, own, metric="parseval").rates for criterion, own in trees.items()}
    rows = [
        (f"`--for {criterion}`", str(tuned.settings.best[criterion]), *(100 * own[rate] for rate in CRITERIA.values()))
        for criterion, own in rates.items()
    ]
    alone = {Path(name).stem: 100 * f1 for name, f1 in zip(names, tuned.alone, strict=True)}
    notes = (
        f"{len(gold)} sentences; chosen on {tuned.settings.sentences} others: shares {', '.join(f'{s:g}' for s in tuned.shares)}, "
        f"F1 {100 * tuned.f1:.2f}; the models alone, there: {', '.join(f'{name} {f1:.2f}' for name, f1 in alone.items())}.",
    )
    table = Table(
        "Objectives on a mixture", ("setting", "objective", "F1", "exact match", "recall", "precision"), tuple(rows), notes
    )
    RESULTS.write_text(render(table, "markdown") + "\n", "utf-8")
    print(RESULTS.read_text("utf-8"))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
