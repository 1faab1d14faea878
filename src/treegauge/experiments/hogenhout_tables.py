"""Hogenhout & Matsumoto 1996, Tables 1, 2 and 4, and the real test, with two parsers of our own and a simulated judge.

The paper's two systems and its annotator are not available. Here two parsers are trained on a treebank, and a *simulated* judge
accepts crossing and spurious brackets at random, as often as the paper's annotator did. A store of real judgements of the two
outputs can be given instead.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treegauge import alignment
from treegauge.alignment.pairing import Pair
from treegauge.errors import UsageError, check_name
from treegauge.experiments.experiment import Corpus, Experiment, ExperimentReport, Work, clean_short, own_corpus, setting
from treegauge.experiments.paper_comparison import RateTests, paper_table
from treegauge.grammar.treebank_grammar import train
from treegauge.metrics.hogenhout import (
    COMPARATIVE,
    MEASURES,
    BracketKey,
    Hogenhout,
    Judgements,
    ParseBase,
    Verdict,
    brackets_to_judge,
    comparative_rows,
    measures,
    parse_base,
)
from treegauge.metrics.metric import total_of
from treegauge.parsing.forest import Forest
from treegauge.parsing.parser import Parser, Sentence
from treegauge.presets import load_preset
from treegauge.significance.classical import DEPENDENCE, Cells, binomial, mcnemar, real_test
from treegauge.tables import Cell, Table, rounded
from treegauge.trees.tree import Tree
from treegauge.trees.treebank import Treebank

ITEMS = ("TTB", "TPB", "EMA", "EMR", "CEA", "CER", "SPA", "SPR", "PINH", "PNINH", "TINH", "TNINH")
PAPER_ITEMS: dict[str, tuple[int, ...]] = {
    "A": (11400, 8671, 6748, 0, 204, 690, 956, 73, 523, 371, 5212, 1536),
    "B": (11400, 8771, 6858, 0, 182, 611, 1049, 71, 470, 323, 5426, 1432),
}
PAPER_CELLS = Cells(6516, 232, 343, 4309)
ACCEPTED = {"CE": 204 / (204 + 690), "SP": 956 / (956 + 73)}
"""The shares of crossing and of spurious brackets of system A that the paper's annotator accepted."""
JUDGES = ("simulated", "none")


@dataclass(frozen=True)
class Settings:
    """The options of the experiment."""

    sentences: int = setting(500, "Maximum number of test sentences; the first ones are parsed.")
    max_length: int = setting(40, "Leave out test sentences with more words; 0: none.")
    steps: str = setting("traces,functions,root,redundant,binarise:h=1", "Normalising steps of the grammar.")
    a: str = setting("viterbi", "Objective of system A.")
    b: str = setting("labelled-recall", "Objective of system B.")
    judge: str = setting("simulated", "simulated: accept as often as the paper's annotator did, at random; none: no human check.")
    store: str = setting("", "Judgements of real people on the two outputs (treegauge check), instead of the simulated judge.")
    seed: int = setting(1, "Seed of the simulated judge and of the randomisation test.")
    rounds: int = setting(10_000, "Rounds of the randomisation test.")


@dataclass(frozen=True)
class HogenhoutFindings:
    """The findings: items and measures by system, the four cells, the p-value of the randomisation test, the Parse Base, and the
    numbers of sentences by crossing errors."""

    items: Mapping[str, Mapping[str, Any]]
    rates: Mapping[str, Mapping[str, float]]
    cells: Cells
    p: float
    base: ParseBase
    crossings: Mapping[str, Sequence[int]]


def run(corpus: Corpus, settings: Settings, work: Work) -> ExperimentReport:
    """The report: two parsers trained and run, their brackets judged and counted, their difference tested."""
    check_name("judge", settings.judge, JUDGES)
    if settings.rounds < 1 or settings.a == settings.b:
        raise UsageError("two systems need two objectives, and a randomisation test at least one round")
    parts = corpus.split()
    gold = clean_short(parts.test, settings.max_length, settings.sentences)
    grammar = train(parts.train, steps=settings.steps).grammar
    sentences = [Sentence(tree.words) for tree in gold]
    objectives = {"A": settings.a, "B": settings.b}
    trees = {
        name: [one.scored_tree for one in work.parse(objective, Parser(grammar, objective), sentences)]
        for name, objective in objectives.items()
    }
    work.report("counting")
    forests = (Forest(grammar, sentence.words) for sentence in sentences)
    compared = _compare(gold, trees, settings, parse_base((forest.n, forest.n_parses) for forest in forests))
    about = f"{corpus.name}: {len(parts.train):,} trees to train on, {len(gold):,} to test on; held out: {parts.how}"
    return ExperimentReport(
        tables=[_items(compared), _comparative(compared), _measures(compared), _test(compared), _crossings(compared)],
        notes=_notes(about, settings, compared),
        data={
            "items": {name: dict(items) for name, items in compared.items.items()},
            "measures": {name: dict(rates) for name, rates in compared.rates.items()},
            "cells": list(compared.cells),
            "parse_base": compared.base.value,
        },
    )


def _compare(gold: Sequence[Tree], trees: Mapping[str, list[Tree]], settings: Settings, base: ParseBase) -> HogenhoutFindings:
    metric = Hogenhout()
    preset = metric.preset_for(load_preset(metric.preset))
    bank = Treebank.from_trees(gold)
    banks = {name: Treebank.from_trees(parsed) for name, parsed in trees.items()}
    pairs = {name: alignment.pair(bank, own, preset) for name, own in banks.items()}
    judgements = _judgements(bank, banks, pairs, metric, settings)
    judged = {name: metric.with_judgements(judgements[name]) if name in judgements else metric for name in pairs}
    items: dict[str, Mapping[str, Any]] = {}
    crossings: dict[str, list[int]] = {}
    for name, pair in pairs.items():
        rows = judged[name].rows(pair)
        items[name] = dict(zip(judged[name].columns, total_of(rows), strict=True))
        errors = [int(row[list(judged[name].columns).index("CE")]) for row in metric.rows(pair)] if "CE" in metric.columns else []
        crossings[name] = [sum(e == k for e in errors) for k in range(3)] + [sum(e > 2 for e in errors)]
    a, b = pairs.values()
    cells = Cells(*(int(cell) for cell in comparative_rows(a, b, *judged.values()).sum(axis=0)))
    tests = RateTests("hogenhout", gold, trees, preset=preset, rounds=settings.rounds, seed=settings.seed)
    rates = {name: measures(own) for name, own in items.items()}
    return HogenhoutFindings(items, rates, cells, tests.p("A", "B", "recall_hard"), base, crossings)


def _judgements(
    gold: Treebank, banks: Mapping[str, Treebank], pairs: Mapping[str, Pair], metric: Hogenhout, settings: Settings
) -> dict[str, Judgements]:
    if settings.store:
        from treegauge.humancheck.results import checked_systems, plan_for

        if not Path(settings.store).exists() and "://" not in settings.store:
            raise UsageError(f"{settings.store}: no such store of judgements")
        return dict(checked_systems(gold, dict(banks), settings.store, plan_for((), "default")).judgements)
    if settings.judge == "none":
        return {}
    rng = random.Random(settings.seed)
    verdicts: dict[BracketKey, Verdict] = {}
    found: dict[str, Judgements] = {}
    for name, pair in pairs.items():
        own: dict[BracketKey, Verdict] = {}
        for question in brackets_to_judge(pair, metric):
            # The same bracket of the same sentence gets the same verdict for both systems.
            if question.bracket not in verdicts:
                accepted = rng.random() < ACCEPTED[question.kind]
                verdicts[question.bracket] = Verdict.ACCEPTED if accepted else Verdict.REJECTED
            own[question.bracket] = verdicts[question.bracket]
        found[name] = Judgements(own)
    return found


def _items(compared: HogenhoutFindings) -> Table:
    names = [name for name in ITEMS if any(name in items for items in compared.items.values())]
    paper: dict[tuple[str, ...], Sequence[Cell]] = {
        (item,): [PAPER_ITEMS[system][i] for system in "AB"] for i, item in enumerate(ITEMS)
    }
    ours: dict[tuple[str, ...], Sequence[Cell]] = {
        (item,): [_count(compared.items[system].get(item)) for system in "AB"] for item in names
    }
    return paper_table("Items (Table 1)", ("item",), ("A", "B"), paper, ours)


def _count(value: Any) -> Cell:
    return None if value is None or value != value else int(value)


def _comparative(compared: HogenhoutFindings) -> Table:
    sides = [(cells, binomial(cells)) for cells in (PAPER_CELLS, compared.cells)]
    rows: list[tuple[Cell, ...]] = []
    for i, cell in enumerate(COMPARATIVE):
        row: list[Cell] = [cell]
        for cells, model in sides:
            expected = {"YY": (model.E_YY, model.deviations[0]), "NN": (model.E_NN, model.deviations[1])}.get(cell, (None, None))
            row += [cells[i], cells[i] / cells.total if cells.total else None, *expected]
        rows.append(tuple(row))
    columns = ("cell", "paper", "% computed", "E computed", "sd off computed", "ours", "ours %", "E ours", "sd off ours")
    about = (
        "Treebank brackets that both (YY), only A (YN), only B (NY), neither (NN) reproduced.",
        "E: what a binomial model expects, and by how many standard deviations the count is off: brackets are not equally hard.",
        "Computed: from the paper's four cells, as ours are. It prints 3.1% of NY, E(YY) = 4063 and E(NN) = 1851.",
    )
    return Table("Comparative items (Table 2): is it binomial?", columns, tuple(rows), about, ("% computed", "ours %"))


def _measures(compared: HogenhoutFindings) -> Table:
    paper = {system: measures(dict(zip(ITEMS, PAPER_ITEMS[system], strict=True))) for system in "AB"}
    return paper_table(
        "Measures (Table 4)",
        ("measure",),
        ("A", "B"),
        {(title,): [paper[system].get(name) for system in "AB"] for name, title in MEASURES.items()},
        {(title,): [compared.rates[system].get(name) for system in "AB"] for name, title in MEASURES.items()},
        percent=True,
        notes=(
            "The paper's are computed from its Table 1; all that are legible in print agree.",
            f"T-inheritance of ours: reading {Hogenhout().reading}; the paper does not say which is its own.",
        ),
    )


def _test(compared: HogenhoutFindings) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, cells in (("paper's counts", PAPER_CELLS), ("ours", compared.cells)):
        real, paired = real_test(cells), mcnemar(cells)
        whole = [rounded(value) for value in (real.M1, real.M2, real.size)]
        p = f"{compared.p:.4f}" if name == "ours" else None
        rows.append((name, *whole, real.z, *real.z_range, paired.z, f"{paired.p_exact:.2g}", p))
    columns = ("", "M1", "M2", "size", "z", "z least", "z most", "McNemar z", "exact p", "p by sentences")
    about = (
        f"{DEPENDENCE} (last column; recall-hard).",
        "The first row is computed from the paper's counts; the paper itself prints z = 4.7.",
    )
    return Table("The real test (section 6)", columns, tuple(rows), about)


def _crossings(compared: HogenhoutFindings) -> Table:
    rows = tuple((title, *(compared.crossings[system][k] for system in "AB")) for k, title in enumerate(("0", "1", "2", "more")))
    base = (
        f"Parse Base of the sentences under the grammar: {compared.base.value:.3f} (geometric mean of p^(1/n), "
        f"{compared.base.sentences:,} sentences{compared.base.remark and '; ' + compared.base.remark})."
    )

    return Table("Sentences by crossing errors", ("crossing errors", "A", "B"), rows, (base,))


def _notes(about: str, settings: Settings, compared: HogenhoutFindings) -> list[str]:
    ours, real = binomial(compared.cells), real_test(compared.cells)
    easy = ours.deviations[0] > 3 and ours.deviations[1] > 3
    agree = (
        "brackets are far from equally hard here too (YY and NN are "
        f"{ours.deviations[0]:.0f} and {ours.deviations[1]:.0f} standard deviations above a binomial model's; 48 and 62, "
        "computed from the paper's counts), "
        f"so only {real.size:,.0f} of {compared.cells.total:,} brackets are a real test (paper: 1,139 of 11,400)"
        if easy and real.size == real.size
        else "YY and NN are not far above what a binomial model expects, unlike in the paper"
    )
    better = "B" if compared.cells.NY > compared.cells.YN else "A"
    verdict = f"{better} reproduces more treebank brackets (z = {real.z:.2f} by the real test, p = {compared.p:.4f} by sentences)"
    inheritance = {system: rates.get("p_inheritance") for system, rates in compared.rates.items()}
    shares = ", ".join(f"{system} {value:.0%}" for system, value in inheritance.items() if value is not None and value == value)
    judge = (
        f"Judgements: real, from {Path(settings.store).name}."
        if settings.store
        else (
            "Judgements are SIMULATED, at random: a crossing bracket is accepted with probability "
            f"{ACCEPTED['CE']:.3f}, a spurious one with {ACCEPTED['SP']:.3f}, the shares of the paper's annotator for system A. "
            "False Error and Spurious Reject are therefore not meaningful here; give a store of real judgements with --store."
        )
        if settings.judge == "simulated"
        else "No human check: every exact match counts as accepted, and measures that need a person are missing."
    )
    return [
        f"Outcome: {agree}; {verdict}. Crossing errors are inherited from a crossing parent in {shares} of the cases (paper: "
        "58.5% and 59.3%).",
        judge,
        f"Corpus: the paper used 600 Japanese sentences of the EDR corpus; here {about}, of at most "
        f"{settings.max_length or 'any number of'} words.",
        f"Systems: one grammar counted from the training trees, decoded by {settings.a} (A) and by {settings.b} (B).",
    ]


EXPERIMENT = Experiment(
    "hogenhout-tables",
    "Hogenhout & Matsumoto 1996, Tables 1, 2 and 4: items, measures and the real test of two parsers",
    "hogenhout1996",
    Settings,
    run,
    own_corpus,
)
