"""Bastings & Sima'an 2014, Table 1: parsers ranked by fragments of size 1, 1-15, 1-25 and all.

The paper scored the output of nine parsers of other authors. Here the parsers are our own, all trained on the same trees: plain,
head-lexicalised and annotated treebank grammars, DOP, several decodings of one grammar, and latent-variable grammars.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from treegauge.errors import UsageError
from treegauge.experiments.experiment import Corpus, Experiment, ExperimentReport, Work, clean_short, own_corpus, setting
from treegauge.experiments.paper_comparison import RateTests
from treegauge.grammar.treebank_grammar import train
from treegauge.metrics.freval import Freval
from treegauge.normalise import expand_unaries
from treegauge.parsing.parser import Parser, Sentence
from treegauge.reports.figures import Figure, fragment_figures
from treegauge.scoring.evaluation import score
from treegauge.tables import Cell, Table, number_of
from treegauge.trees.tree import Tree

if TYPE_CHECKING:
    from treegauge.grammar.latent.latent_model import LatentModel
    from treegauge.learning.latent.latent_training import IterationReport

PAPER: dict[str, Sequence[float]] = {
    "B&K (basic) 2010": (87.7, 87.6, 87.6, 49.0, 49.8, 49.4, 35.2, 35.2, 35.2, 16.6, 16.7, 16.7),
    "B&K (richer) 2011": (89.5, 89.4, 89.5, 52.8, 58.0, 55.3, 35.9, 44.7, 39.8, 16.5, 20.7, 18.4),
    "Berkeley": (90.0, 90.3, 90.2, 47.4, 51.1, 49.2, 31.1, 35.0, 33.0, 14.2, 16.4, 15.3),
    "Bikel-Collins": (88.3, 88.2, 88.2, 49.8, 55.4, 52.5, 33.7, 41.1, 37.0, 15.4, 18.9, 17.0),
    "Charniak": (89.7, 89.9, 89.8, 52.8, 57.0, 54.8, 35.7, 40.0, 37.7, 16.3, 18.4, 17.3),
    "Charniak (Rerank.)": (91.2, 91.8, 91.5, 56.8, 60.0, 58.4, 38.7, 42.1, 40.4, 17.8, 19.4, 18.6),
    "Double-DOP": (86.3, 87.7, 87.0, 47.1, 48.1, 47.6, 32.4, 33.8, 33.1, 14.9, 15.6, 15.3),
    "Stanford (Factored)": (86.7, 86.4, 86.5, 46.1, 48.7, 47.4, 31.2, 34.3, 32.7, 14.3, 15.8, 15.0),
    "Stanford (PCFG)": (85.0, 86.1, 85.5, 43.1, 44.6, 43.8, 29.1, 29.6, 29.3, 13.4, 13.5, 13.4),
}
RANGES = ("1", "1-15", "1-25", "all")
COLUMNS = tuple(f"{name} {sizes}" for sizes in RANGES for name in ("FLR", "FLP", "F1"))
MOST_LINES, LARGEST = 8, 15
LATENT_OBJECTIVES = ("viterbi", "max-rule", "labelled-precision-recall")
ANNOTATED = "traces,root,redundant,annotate"


@dataclass(frozen=True)
class OwnParser:
    """A parser of our own: its name, the options of training its grammar, and the objectives for which it is decoded."""

    name: str
    options: Mapping[str, Any]
    decodings: Mapping[str, Mapping[str, Any]]


SYSTEMS = (
    OwnParser("PCFG", {"steps": "traces,functions,root,redundant,binarise:h=1"}, {"viterbi": {}}),
    OwnParser("MH", {"steps": "traces,root,mh", "lexicon": "collins"}, {"viterbi": {}}),
    OwnParser(
        "DOP",
        {"steps": "traces,functions,root,redundant,binarise:h=1", "estimator": "corrected", "lexicon": "collins"},
        {"labelled-recall": {}},
    ),
    OwnParser(
        "annotated",
        {"steps": ANNOTATED},
        {
            "viterbi": {},
            **{f"labelled-precision-recall lam {lam:g}": {"lam": lam} for lam in (0.25, 0.45, 0.6, 0.8)},
            "labelled-recall": {},
        },
    ),
)


@dataclass(frozen=True)
class Settings:
    """The options of the experiment."""

    sentences: int = setting(500, "Maximum number of test sentences; the first ones are parsed.")
    max_length: int = setting(40, "Leave out test sentences with more words; 0: none.")
    dop_trees: int = setting(400, "Maximum number of training trees for DOP, whose grammar grows with every node.")
    latent: int = setting(
        5, "Maximum rounds of splitting for latent-variable grammars; held-out training trees choose how many. 0: no such grammars."
    )
    matching: str = setting("published", "published counts as the authors' program does, edges as treegauge does by default.")
    rounds: int = setting(2_000, "Rounds of the randomisation tests.")
    seed: int = setting(1, "Seed of the randomisation tests, and of latent-variable grammars.")


def run(corpus: Corpus, settings: Settings, work: Work) -> ExperimentReport:
    """The report: parsers trained and run, scored by fragments of every size, and their rankings compared."""
    if settings.rounds < 1 or settings.sentences < 1 or settings.latent < 0:
        raise UsageError("the experiment needs at least one sentence, one round, and no negative number for latent")
    parts = corpus.split()
    gold = clean_short(parts.test, settings.max_length, settings.sentences)
    trees, unparsed = _parse(list(parts.train), gold, settings, work)
    if settings.latent:
        latent_trees, latent_unparsed = latent_parses(list(parts.train), gold, settings, work)
        trees, unparsed = trees | latent_trees, unparsed | latent_unparsed
    work.report("counting fragments")
    metric = Freval(matching=settings.matching)
    name = f"freval:{settings.matching}"
    tests = RateTests(name, gold, trees, preset=metric.preset, rounds=settings.rounds, seed=settings.seed)
    sparse = RateTests(f"{name}:sparsity", gold, trees, preset=metric.preset, rounds=1, seed=settings.seed)
    changes = _changes(metric, tests)
    return ExperimentReport(
        tables=[_table(metric, tests, sparse), _change_table(changes)],
        notes=_notes(corpus, settings, len(parts.train), gold, parts.how, unparsed, changes),
        figures=_figures(corpus, name, metric, gold, trees),
        data={"rates": tests.rates, "sparsity": sparse.rates, "unparsed": unparsed, "signatures": tests.signatures},
    )


def _parse(
    train_trees: Sequence[Tree], gold: Sequence[Tree], settings: Settings, work: Work
) -> tuple[dict[str, list[Tree]], dict[str, float]]:
    """The trees of every system and decoding, and the share of sentences without a parse."""
    sentences = [Sentence(tree.words) for tree in gold]
    found: dict[str, list[Tree]] = {}
    unparsed: dict[str, float] = {}
    for system in SYSTEMS:
        own = train_trees[: settings.dop_trees] if system.name == "DOP" else train_trees
        grammar = train(own, **system.options).grammar
        work.report(f"{system.name}: {len(grammar.rules):,} rules from {len(own):,} trees")
        for title, options in system.decodings.items():
            objective = title.partition(" ")[0]
            name = f"{system.name}, {title}" if len(system.decodings) > 1 else system.name
            parsed = work.parse(name, Parser(grammar, objective, options), sentences)
            found[name] = [expand_unaries(one.scored_tree) for one in parsed]
            unparsed[system.name] = sum(one.fallback for one in parsed) / len(parsed)
    return found, unparsed


def latent_parses(
    train_trees: Sequence[Tree], gold: Sequence[Tree], settings: Settings, work: Work
) -> tuple[dict[str, list[Tree]], dict[str, float]]:
    """The trees of latent-variable grammars made as ``treegauge train --quick`` makes them, and the share of sentences without a
    parse."""
    from treegauge.parsing.latent.latent_parser import LatentParser

    sentences = [Sentence(tree.words) for tree in gold]
    names = {f"latent, {objective}": objective for objective in LATENT_OBJECTIVES}
    model: Any = None
    if not all(work.are_parsed(name, sentences) for name in names):
        model = _latent_model(train_trees, settings, work)
    parsed = {name: work.parse(name, LatentParser(model, objective), sentences) for name, objective in names.items()}
    fallbacks = max(sum(one.fallback for one in each) for each in parsed.values())
    found = {name: [one.scored_tree for one in each] for name, each in parsed.items()}
    return found, {"latent": fallbacks / len(sentences)}


def _latent_model(train_trees: Sequence[Tree], settings: Settings, work: Work) -> LatentModel:
    from treegauge.learning.latent import QUICK, train_latent

    how = replace(QUICK, most_rounds=settings.latent, seed=settings.seed, jobs=work.jobs)
    rounds: set[tuple[str, int]] = set()

    def report(at: IterationReport) -> None:
        if (at.name, at.round) not in rounds:
            rounds.add((at.name, at.round))
            work.report(f"latent: {at.name}, round {at.round} of at most {settings.latent}, {at.done:.0%} of training done")

    model = train_latent(train_trees, how, on_iteration=report)
    work.report(f"latent: {number_of(len(model.grammars), 'grammar')} of {number_of(model.rounds, 'round')}")
    return model


def _table(metric: Freval, tests: RateTests, sparse: RateTests) -> Table:
    rows: list[tuple[Cell, ...]] = [(f"paper: {name}", *(value / 100 for value in values), None) for name, values in PAPER.items()]
    rows += [
        (f"ours: {name}", *(rates[rate] for rate in metric.range_rates), sparse.rates[name]["f1"])
        for name, rates in tests.rates.items()
    ]
    columns = (*COLUMNS, "F1 all, sparsity")
    about = (
        "The paper's parsers were trained on 39,832 trees and tested on section 23 of the Wall Street Journal; ours are others, on "
        "another treebank: compare how columns change within a row, not the rows.",
        "sparsity: sizes with few gold fragments are smoothed by smaller sizes (--alpha sparsity), as the paper suggests.",
    )
    title = "FREVAL by range of fragment sizes, uniform weights"
    return Table(title, ("parser", *columns), tuple(rows), about, columns)


ScoreChange = tuple[str, str, str, float, float, float, float]
"""Two systems, the range of sizes that reverses their order by size 1, and for both ranges the difference in F1, first less second,
with its p-value."""


def _changes(metric: Freval, tests: RateTests) -> list[ScoreChange]:
    """The pairs of systems whose order by size 1 is reversed by another range, with the first such range; the clearest first."""
    f1 = [rate for rate in metric.range_rates if rate.startswith("f1")]
    found: list[ScoreChange] = []
    for a, b in itertools.combinations(tests.rates, 2):
        first = tests.rates[a][f1[0]] - tests.rates[b][f1[0]]
        for rate, sizes in zip(f1[1:], RANGES[1:], strict=True):
            later = tests.rates[a][rate] - tests.rates[b][rate]
            if first * later < 0:
                found.append((a, b, sizes, first, tests.p(a, b, f1[0]), later, tests.p(a, b, rate)))
                break
    return sorted(found, key=lambda each: (max(each[4], each[6]), -abs(each[3]) - abs(each[5])))


def _change_table(changes: Iterable[ScoreChange]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (a, b, first, f"{p:.4f}", sizes, later, f"{q:.4f}") for a, b, sizes, first, p, later, q in changes
    ]
    columns = ("first", "second", "F1 size 1", "p", "sizes", "F1 there", "p there")
    about = ("First less second. p: two-sided, paired randomisation over sentences.",)
    return Table("Pairs whose order changes with the size of fragments", columns, tuple(rows), about, (columns[2], columns[5]))


def _figures(corpus: Corpus, name: str, metric: Freval, gold: Sequence[Tree], trees: Mapping[str, Sequence[Tree]]) -> list[Figure]:
    """The paper's Figures 1 and 2: F1 by fragment size up to 15, and its difference from the first parser's.

    If there are many parsers, only the first and those with the highest curves are drawn.
    """
    curves: dict[str, list[float]] = {}
    for system in trees:
        result = score(gold, trees[system], metric=name, preset=metric.preset)
        curves[system] = [each.f1 for each in metric.by_size(result.counts.values())][:LARGEST]
    first = next(iter(curves))
    highest = sorted(list(curves)[1:], key=lambda system: -sum(curves[system]))[: MOST_LINES - 1]
    curves = {system: values for system, values in curves.items() if system == first or system in highest}
    names = ("sizes", "difference")
    figures = zip(names, fragment_figures(curves, upto=LARGEST), strict=False)
    return [replace(figure, name=name, title=f"{figure.title}: {corpus.name}") for name, figure in figures]


def _notes(
    corpus: Corpus, settings: Settings, n_train: int, gold: Sequence[Tree], how: str, unparsed: Mapping[str, float],
    changes: Sequence[ScoreChange],
) -> list[str]:  # fmt: skip
    clear = [each for each in changes if max(each[4], each[6]) < 0.05]
    if clear:
        a, b, sizes, first, p, later, q = clear[0]
        outcome = (
            f"the ranking changes with the size of fragments, as in the paper: by size 1 {a} is {100 * first:+.2f} points from {b} "
            f"(p = {p:.4f}), by sizes {sizes} {100 * later:+.2f} (p = {q:.4f}); {len(clear)} such changes are significant "
            "both ways."
        )
    elif changes:
        outcome = f"the order of {len(changes)} pairs changes with the size of fragments, as in the paper, but none significantly."
    else:
        outcome = "no ranking changes with the size of fragments, unlike in the paper."
    longest = f" of at most {settings.max_length} words" if settings.max_length else ""
    instead = "a right-branching tree, or with latent that of their pieces" if settings.latent else "a right-branching tree"
    shares = ", ".join(f"{name} {share:.1%}" for name, share in unparsed.items())
    return [
        f"Outcome: {outcome}",
        f"Corpus: {corpus.name}, {n_train:,} trees to train on, {len(gold):,} to test on{longest}; held out: {how}. "
        f"DOP is of the first {min(settings.dop_trees, n_train):,} trees only.",
        f"Sentences without a parse get {instead}: {shares}.",
        "PCFG: right-binarised, one symbol of history. MH: Sima'an's head-lexicalised grammar, without unary productions, so it "
        "misses every bracket over a single child. DOP: Goodman's reduction, corrected estimator, decoded by Labelled Recall.",
        f"latent: two latent-variable grammars as of treegauge train --quick, of at most {number_of(settings.latent, 'round')}; "
        "rounds, smoothing, pruning and lam were chosen on held-out training trees."
        if settings.latent
        else "--latent 5 adds latent-variable grammars (treegauge train --quick), which take a few minutes on 10,000 trees.",
        "published counts fragments as the authors' program does (only the gold tree's edges are looked at); --matching edges "
        "counts them as treegauge does by default.",
    ]


EXPERIMENT = Experiment(
    "freval-table1",
    "Bastings & Sima'an 2014, Table 1: parsers by fragments of size 1, 1-15, 1-25 and all",
    "bastings2014",
    Settings,
    run,
    own_corpus,
)
