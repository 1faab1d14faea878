"""Sima'an 2003, Table 2: four algorithms on two treebank grammars, MRL (right-linearised) and MH (head-lexicalised)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from treegauge.errors import MismatchError, UsageError
from treegauge.experiments.experiment import (
    Corpus,
    Experiment,
    ExperimentReport,
    Work,
    own_corpus,
    parse_with_checkpoint,
    setting,
    split,
)
from treegauge.experiments.presentation import RateTests
from treegauge.experiments.simaan_report import (
    ALGORITHMS,
    CRITERIA,
    Outcome,
    Parses,
    Variant,
    cleaner,
    curve,
    experiment_report,
    variants,
)
from treegauge.grammar.tree_counts import statistics
from treegauge.normalise import collapse_unaries
from treegauge.parsing.parser import Parser, Sentence
from treegauge.trees.tree import Tree


@dataclass(frozen=True)
class Settings:
    """The options of the experiment."""

    unknown_below: int = setting(5, "Words seen fewer times in training, and unseen ones, become one unknown word.")
    sentences: int = setting(1000, "The most test sentences to parse: the first ones.")
    max_length: int = setting(0, "Leave out test sentences with more words; 0: none.")
    unaries: str = setting("joined", "MRL's chains of single children: joined into one symbol while parsing, or kept.")
    gold_tags: bool = setting(False, "Parse with the gold tags given.")
    halvings: int = setting(3, "How many times to halve the training trees, to see what their number does; -1: leave that out.")
    rounds: int = setting(10_000, "Rounds of the randomisation tests.")
    seed: int = setting(1, "Seed of the randomisation tests.")


def run(corpus: Corpus | None, settings: Settings, work: Work) -> ExperimentReport:
    """The report: both grammars trained and decoded by every algorithm, scored against transformed and original trees."""
    assert corpus is not None
    made = variants(settings.unaries)
    if settings.unknown_below < 1 or settings.rounds < 1:
        raise UsageError("the count below which words are unknown, and the number of rounds, must be at least 1")
    parts = split(corpus.bank)
    ready = cleaner("traces,root")
    train = [tree for tree in map(ready, parts.train) if tree.width]
    fit = [tree for tree in map(ready, parts.test) if tree.width and not 0 < settings.max_length < tree.width]
    test = fit[: settings.sentences]
    if not train or not test:
        raise MismatchError(f"{len(train)} trees to train on and {len(test)} to test on are too few")
    parses = [_parses(variant, train, test, settings, work) for variant in made]
    points = curve(made, train, test, settings.halvings, settings.unknown_below, work) if settings.halvings >= 0 else []
    work.report("testing differences")
    longest = f" of at most {settings.max_length} words" if settings.max_length else ""
    about = f"{len(train):,} trees to train on, {len(test):,} to test on{longest}; held out are {parts.how}"
    same = _tests(
        [collapse_unaries(cleaner("functions")(tree)) for tree in test],
        {
            f"{each.variant.name} {name}": list(map(each.variant.bare, trees))
            for each in parses
            for name, trees in each.trees.items()
        },
        settings,
    )
    return experiment_report(corpus.name, Outcome(parses, same, points, about, settings.unaries, settings.unknown_below))


def _parses(variant: Variant, train: Sequence[Tree], test: Sequence[Tree], settings: Settings, work: Work) -> Parses:
    """The parses of one grammar by every algorithm, with their scores."""
    grammar = variant.grammar(train, settings.unknown_below)
    work.report(f"{variant.name}: {len(grammar.rules):,} rules, {len(grammar.nonterminals):,} symbols")
    kind = " tags" if settings.gold_tags else ""
    sentences = [Sentence(tree.words, variant.tags(tree) if settings.gold_tags else None) for tree in test]
    trees: dict[str, list[Tree]] = {}
    unparsed = 0
    for objective, name in ALGORITHMS.items():
        parser = Parser(grammar, objective, gold_tags=settings.gold_tags)
        parsed = parse_with_checkpoint(work, f"{variant.name} {name}{kind}", parser, sentences)
        trees[name] = [one.scored_tree for one in parsed]
        unparsed = sum(one.fallback for one in parsed)
    clean = cleaner("functions")
    inner = [variant.forward(tree) for tree in test]
    return Parses(
        variant=variant,
        trees=trees,
        statistics=str(statistics(grammar)),
        unparsed=unparsed / len(test),
        own=_tests(list(map(variant.scored, inner)), {n: list(map(variant.scored, each)) for n, each in trees.items()}, settings),
        original=_tests(list(map(clean, test)), {n: list(map(variant.plain, each)) for n, each in trees.items()}, settings),
        inner={
            metric: RateTests(metric, inner, trees, preset="none", rounds=settings.rounds, seed=settings.seed)
            for metric in dict.fromkeys(criterion.metric for criterion in CRITERIA)
        },
    )


def _tests(gold: Sequence[Tree], systems: Mapping[str, Sequence[Tree]], settings: Settings) -> RateTests:
    return RateTests("parseval", gold, systems, rounds=settings.rounds, seed=settings.seed)


EXPERIMENT = Experiment(
    "simaan-table2",
    "Sima'an 2003, Table 2: MRL and MH grammars, four algorithms",
    "simaan2003",
    Settings,
    run,
    own_corpus,
)
