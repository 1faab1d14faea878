"""Sima'an 2003, Table 2: four algorithms on two treebank grammars, MRL (right-linearised) and MH (head-lexicalised).

The learning curve shows by how much MH is ahead of MRL as the number of training trees grows, and what unknown words cost either
grammar, both decoded by MPP.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from treegauge.errors import MismatchError, UsageError, check_name
from treegauge.experiments.experiment import Corpus, Experiment, ExperimentReport, Work, own_corpus, setting
from treegauge.experiments.paper_comparison import CriterionTest, RateTests, criterion_table, criterion_test, in_words, paper_table
from treegauge.grammar.lexicon import with_unknown
from treegauge.grammar.pcfg import PCFG
from treegauge.grammar.tree_counts import induce, statistics
from treegauge.normalise import collapse_unaries, expand_unaries, mh, pipeline, unmh, unmrl
from treegauge.parsing.parser import Parser, Sentence
from treegauge.reports.figures import PAPER_LINES, Figure, Series
from treegauge.scoring.evaluation import score
from treegauge.tables import Cell, Table
from treegauge.trees.tree import Tree

GRAMMARS = ("MRL", "MH")
UNARIES = ("joined", "kept")


@dataclass(frozen=True)
class Variant:
    """A way to make a grammar from trees.

    ``forward`` turns a treebank tree into a tree of the grammar. Of a parse, ``scored`` makes the tree that the paper compared with
    ``gold`` of the held-out tree, ``plain`` the one that is compared with the original tree, and ``bare`` the one that is compared
    with the original tree without unary productions. ``against`` describes the gold trees.
    """

    name: str
    forward: Callable[[Tree], Tree]
    scored: Callable[[Tree], Tree]
    plain: Callable[[Tree], Tree]
    against: str

    def gold(self, tree: Tree) -> Tree:
        return self.scored(self.forward(tree))

    def bare(self, tree: Tree) -> Tree:
        return collapse_unaries(self.plain(tree))

    def tags(self, tree: Tree) -> tuple[str, ...]:
        """The tags of a tree in the grammar's form, in which a joined chain over a word is its tag."""
        return self.forward(tree).tags

    def grammar(self, trees: Sequence[Tree], unknown_below: int) -> PCFG:
        """The relative-frequency grammar over words; its symbols show as they are, so posteriors belong to the grammar's own
        symbols."""
        return induce(with_unknown([self.forward(tree) for tree in trees], unknown_below))


def variants(unaries: str) -> list[Variant]:
    """The variants MRL and MH. In MRL a chain of single children may be one symbol while parsing (``S+VP``), expanded before
    scoring.

    >>> mrl, mh = variants("joined")
    >>> tree = Tree.parse("(S (NP (N we)) (VP (V go) (ADVP (A now)) (ADVP (B home))))")
    >>> print(mrl.forward(tree), mrl.gold(tree), mh.gold(tree), sep="\\n")
    (S (NP+N we) (VP (V go) (VP_Cont (ADVP+A now) (ADVP+B home))))
    (S (NP (N we)) (VP (V go) (VP_Cont (ADVP (A now)) (ADVP (B home)))))
    (S (N we) (VP (V go) (A now) (B home)))
    """
    check_name("treatment of unaries", unaries, UNARIES)
    if unaries == "joined":
        # Binarised first, so that only the node itself is part of a chain and its continuations are not.
        forward = cleaner("functions,mrl,unaries:joined")
        mrl = Variant("MRL", forward, expand_unaries, lambda tree: unmrl(expand_unaries(tree)), "binarised")
    else:
        mrl = Variant("MRL", cleaner("functions,mrl"), lambda tree: tree, unmrl, "binarised")
    return [mrl, Variant("MH", mh, unmh, unmh, "unary-free")]


def cleaner(steps: str) -> Callable[[Tree], Tree]:
    """Normalising steps as a function; a tree of which nothing is left becomes an empty one."""
    made = pipeline(steps)

    def clean(tree: Tree) -> Tree:
        done = made(tree)
        return Tree("") if done is None else done

    return clean


def unknown_share(train: Sequence[Tree], test: Sequence[Tree], below: int) -> float:
    """The share of the words of ``test`` that occur fewer than ``below`` times in ``train``.

    >>> unknown_share([Tree.parse("(S (A a) (A a) (B b))")], [Tree.parse("(S (A a) (B b))")], 2)
    0.5
    """
    counts = Counter(word for tree in train for word in tree.words)
    words = [word for tree in test for word in tree.words]
    return sum(counts[word] < below for word in words) / len(words)


PAPER_TREES = 39_832
"""The number of training trees in the paper: sections 02-21 of the Wall Street Journal."""
PAPER_AHEAD = 0.8005 - 0.6144
"""F of MH less F of MRL in the paper, by MPP."""


class CurveRates(NamedTuple):
    """F of a grammar, and the share of sentences for which it has no parse."""

    f1: float
    unparsed: float


@dataclass(frozen=True)
class CurvePoint:
    """The rates of both grammars after training on ``trees`` trees: over words, and with the gold tags given. ``unknown`` is the
    share of unknown words."""

    trees: int
    unknown: float
    words: Mapping[str, CurveRates]
    tags: Mapping[str, CurveRates]

    def ahead(self, *, tags: bool = False) -> float:
        """F of MH less F of MRL."""
        found = self.tags if tags else self.words
        return found["MH"].f1 - found["MRL"].f1

    def cells(self) -> tuple[Cell, ...]:
        """The row of the table."""
        sides = ((self.words, self.ahead()), (self.tags, self.ahead(tags=True)))
        found = [(*(side[name].f1 for name in GRAMMARS), ahead, side["MH"].unparsed) for side, ahead in sides]
        return self.trees, self.unknown, *found[0], *found[1]


def curve(
    made: Sequence[Variant], train: Sequence[Tree], test: Sequence[Tree], halvings: int, below: int, work: Work
) -> list[CurvePoint]:
    """F by MPP after training on all trees, on every second one, every fourth and so on; the fewest trees first."""
    points: list[CurvePoint] = []
    for halving in range(halvings, -1, -1):
        part = train[:: 2**halving]
        found: dict[bool, dict[str, CurveRates]] = {False: {}, True: {}}
        for variant in made:
            grammar = variant.grammar(part, below)
            gold = [variant.gold(tree) for tree in test]
            for tags, rates in found.items():
                sentences = [Sentence(tree.words, variant.tags(tree) if tags else None) for tree in test]
                # With all trees and over words, these are the parses of the paper's table too, under the same name.
                name = f"{variant.name} MPP" + (" tags" if tags else "") + (f" 1/{2**halving}" if halving else "")
                parsed = work.parse(name, Parser(grammar, gold_tags=tags), sentences)
                f1 = score(gold, [variant.scored(one.scored_tree) for one in parsed]).rates["f1"]
                rates[variant.name] = CurveRates(f1, sum(one.fallback for one in parsed) / len(parsed))
        points.append(CurvePoint(len(part), unknown_share(part, test, below), found[False], found[True]))
    return points


def curve_table(points: Sequence[CurvePoint]) -> Table:
    names = (*GRAMMARS, "MH less MRL", "MH without a parse")
    columns = ("trees to train on", "unknown words", *names, *(f"{name}, gold tags" for name in names))
    rows = tuple(point.cells() for point in points)
    return Table("F by MPP, as the training trees grow in number", columns, rows, percent=columns[1:])


def curve_figure(points: Sequence[CurvePoint], corpus: str) -> Figure:
    lines = [
        Series(f"{name}, {kind}", [getattr(point, attribute)[name].f1 for point in points])
        for attribute, kind in (("words", "words"), ("tags", "gold tags"))
        for name in GRAMMARS
    ]
    trees, what = [point.trees for point in points], "trees to train on"
    return Figure("curve", "lines", f"F by MPP: {corpus}", list(map(str, trees)), lines, what, "F", percent=True, key=what, x=trees)


def curve_note(points: Sequence[CurvePoint]) -> str:
    """A note on why MH is ahead by less than in the paper."""
    first, last = points[0], points[-1]
    doublings = math.log2(PAPER_TREES / last.trees)
    said = (
        f"MH less MRL is {100 * last.ahead():+.1f} points here and {100 * PAPER_AHEAD:+.1f} in the paper, which trained on "
        f"{PAPER_TREES:,} trees, {doublings:.1f} doublings more. "
    )
    if len(points) > 1:
        slopes = [100 * (last.words[name].f1 - first.words[name].f1) / (len(points) - 1) for name in GRAMMARS]
        said += (
            f"From {first.trees:,} to {last.trees:,} trees each doubling is worth {slopes[0]:+.1f} points to MRL and "
            f"{slopes[1]:+.1f} to MH, whose lead goes from {100 * first.ahead():+.1f} to {100 * last.ahead():+.1f}. "
        )
    mrl, mh = (tuple(f"{point.tags[name].unparsed:.1%}" for point in (first, last)) for name in GRAMMARS)
    return said + (
        f"MH needs more trees because its symbols are many: held to the gold tags, it has no parse for {mh[0]} of the sentences "
        f"after {first.trees:,} trees and for {mh[1]} after {last.trees:,} (MRL: {mrl[0]} and {mrl[1]}). Without them it escapes "
        f"by way of the unknown word, which {last.unknown:.1%} of the test words are and which may have any tag."
    )


ALGORITHMS = {"viterbi": "MPP", "labelled-recall-licensed": "M_LR", "parent-child": "M_PCh", "frames": "M_CFP"}
COLUMNS = {"recall": "LR", "precision": "LP", "f1": "F", "exact_match": "exact match", "no_crossing": "0-cross"}
PAPER: dict[tuple[str, ...], Sequence[float]] = {
    ("MRL", "MPP"): (0.6006, 0.6290, 0.6144, 0.054, 0.178),
    ("MRL", "M_LR"): (0.6036, 0.6555, 0.6284, 0.039, 0.156),
    ("MRL", "M_PCh"): (0.6110, 0.6525, 0.6310, 0.045, 0.165),
    ("MRL", "M_CFP"): (0.6169, 0.6522, 0.6340, 0.048, 0.165),
    ("MH", "MPP"): (0.8007, 0.8004, 0.8005, 0.230, 0.470),
    ("MH", "M_LR"): (0.8197, 0.8173, 0.8185, 0.234, 0.482),
    ("MH", "M_PCh"): (0.8070, 0.8065, 0.8067, 0.226, 0.480),
    ("MH", "M_CFP"): (0.8158, 0.8147, 0.8152, 0.234, 0.480),
}
COMPARED = (("MPP", "M_LR"), ("MPP", "M_PCh"), ("MPP", "M_CFP"), ("M_LR", "M_PCh"), ("M_LR", "M_CFP"))


class Criterion(NamedTuple):
    """The criterion that an algorithm maximises: a rate of a metric on the grammar's own trees."""

    algorithm: str
    metric: str
    rate: str
    name: str


CRITERIA = (
    Criterion("MPP", "goodman:pre", "labelled_tree", "exact tree"),
    Criterion("M_LR", "goodman:pre", "labelled_recall", "labelled recall"),
    Criterion("M_PCh", "parent-child", "recall", "parent-child"),
    Criterion("M_CFP", "frames", "recall", "frames"),
)


@dataclass(frozen=True)
class Parses:
    """The parses of one grammar, scored as in the paper (``own``), against the original trees, and by several metrics against the
    grammar's own trees (``inner``)."""

    variant: Variant
    trees: Mapping[str, Sequence[Tree]]
    statistics: str
    unparsed: float
    own: RateTests
    original: RateTests
    inner: Mapping[str, RateTests]


@dataclass(frozen=True)
class Outcome:
    """Everything that is reported: the parses of both grammars, their scores against the ``same`` trees, the learning curve, and a
    description of data and settings."""

    parses: Sequence[Parses]
    same: RateTests
    points: Sequence[CurvePoint]
    about: str
    unaries: str
    unknown_below: int


def experiment_report(corpus: str, outcome: Outcome) -> ExperimentReport:
    """The report of the experiment."""
    own = {
        (each.variant.name, name): [each.own.rates[name][rate] for rate in COLUMNS]
        for each in outcome.parses
        for name in each.trees
    }
    verdicts = [
        criterion_test(each.inner[criterion.metric], criterion.rate, criterion.name, criterion.algorithm, where=each.variant.name)
        for each in outcome.parses
        for criterion in CRITERIA
    ]
    about = (
        "Recall of constituents (preterminals included), links and frames on the grammar's own trees: that is what is maximised."
    )
    criteria = criterion_table(verdicts, [about])
    tables = [_table(outcome, own), criteria, _difference_table(outcome), _same(outcome.same), _original(outcome)]
    figures: list[Figure] = [_figure(corpus, own)]
    if outcome.points:
        tables.append(curve_table(outcome.points))
        figures.append(curve_figure(outcome.points, corpus))
    return ExperimentReport(tables, _notes(corpus, outcome, verdicts), figures, _data(outcome))


def _table(outcome: Outcome, own: Mapping[tuple[str, ...], Sequence[Cell]]) -> Table:
    shares = ", ".join(f"{each.variant.name} {each.unparsed:.1%}" for each in outcome.parses)
    notes = [f"Unparsed sentences (right-branching fallback; the paper does not say how many it had): {shares}."]
    title = "Right-linearised (MRL) and head-lexicalised (MH) treebank grammars, four algorithms"
    return paper_table(title, ("grammar", "algorithm"), tuple(COLUMNS.values()), PAPER, own, percent=True, notes=notes)


def _original(outcome: Outcome) -> Table:
    rows = [
        (each.variant.name, name, *(each.original.rates[name][rate] for rate in COLUMNS))
        for each in outcome.parses
        for name in each.trees
    ]
    columns = tuple(COLUMNS.values())
    return Table("The same parses against the original trees", ("grammar", "algorithm", *columns), tuple(rows), percent=columns)


def _difference_table(outcome: Outcome) -> Table:
    """The table of differences in F between algorithms: the paper's and ours, with significance and error reduction."""
    rows: list[tuple[Cell, ...]] = []
    for each in outcome.parses:
        for a, b in COMPARED:
            before, printed = each.own.rates[a]["f1"], PAPER[each.variant.name, a][2]
            difference, paper = each.own.rates[b]["f1"] - before, PAPER[each.variant.name, b][2] - printed
            shares = paper / (1 - printed), difference / (1 - before)
            rows.append((each.variant.name, f"{b} less {a}", paper, difference, f"{each.own.p(a, b, 'f1'):.4f}", *shares))
    columns = ("grammar", "algorithms", "F computed", "F ours", "p", "error reduction computed", "error reduction ours")
    about = "p: two-sided, paired randomisation over sentences, of our difference in F. Computed: from the F that the paper prints."
    return Table("One algorithm less another", columns, tuple(rows), notes=(about,), percent=(columns[2], columns[3], *columns[5:]))


def _same(same: RateTests) -> Table:
    """The table of F of both grammars against the trees without unary productions."""
    rows: list[tuple[Cell, ...]] = []
    for name in ALGORITHMS.values():
        mrl, mh = (f"{grammar} {name}" for grammar in GRAMMARS)
        f1 = [same.rates[system]["f1"] for system in (mrl, mh)]
        rows.append((name, *f1, f1[1] - f1[0], f"{same.p(mrl, mh, 'f1'):.4f}"))
    columns = ("algorithm", "MRL", "MH", "MH less MRL", "p")
    title = "F of both grammars against the same trees: n-ary, without unary productions"
    return Table(title, columns, tuple(rows), percent=columns[1:4])


def _figure(corpus: str, own: Mapping[tuple[str, ...], Sequence[Any]]) -> Figure:
    def f1(rows: Mapping[tuple[str, ...], Sequence[Any]], name: str) -> list[float]:
        return [float(rows[grammar, name][2]) for grammar in GRAMMARS]

    series = [Series(name, f1(own, name), paper=f1(PAPER, name)) for name in ALGORITHMS.values()]
    title = f"F of four algorithms on two grammars: {corpus}"
    return Figure("f1", "columns", title, GRAMMARS, series, PAPER_LINES, "F", percent=True, key="grammar")


def _notes(corpus: str, outcome: Outcome, verdicts: Sequence[CriterionTest]) -> list[str]:
    f1 = {each.variant.name: {name: each.own.rates[name]["f1"] for name in each.trees} for each in outcome.parses}
    p = {each.variant.name: each.own.p("MPP", "M_LR", "f1") for each in outcome.parses}
    gain, best = 100 * (f1["MH"]["M_LR"] - f1["MH"]["MPP"]), max(f1["MRL"], key=lambda name: f1["MRL"][name])
    ahead = 100 * (f1["MH"]["MPP"] - f1["MRL"]["MPP"])
    alike = outcome.same.rates["MH MPP"]["f1"] - outcome.same.rates["MRL MPP"]["f1"]
    alike_p = outcome.same.p("MRL MPP", "MH MPP", "f1")
    precision = {name: f"{100 * rates['precision']:.2f}" for name, rates in outcome.parses[0].own.rates.items()}
    chains = (
        "In MRL a chain of single children is one symbol while parsing and is expanded before scoring, so that the grammar is "
        "binary, as the paper's equations have it. (--unaries kept leaves unary rules in: M_LR then collects every label that a "
        "chain can have.)"
        if outcome.unaries == "joined"
        else "In MRL unary rules are kept, and every label that a chain of them can have counts for M_LR: its precision is "
        f"{precision['M_LR']}, that of MPP {precision['MPP']}."
    )
    return [
        f"Outcome: with MPP, MH is {ahead:+.1f} points of F from MRL (paper: +18.6), against the same trees {100 * alike:+.1f} "
        f"(p = {alike_p:.4f}); in MH, M_LR is {gain:+.2f} from MPP (p = {p['MH']:.4f}; paper: +1.80); in MRL {best} is best "
        "(paper: M_CFP).",
        f"Each algorithm on its own criterion: {in_words(verdicts)}",
        _order_note(outcome),
        *([curve_note(outcome.points)] if outcome.points else []),
        f"Corpus: the paper trained on the Wall Street Journal, sections 02-21 ({PAPER_TREES:,} trees), and tested on 1000 trees "
        f"of section 23. Here {corpus}: {outcome.about}.",
        "In the first table the two grammars are scored against different trees, as in the paper: MRL against binarised trees, "
        "whose linearisation nodes count, MH against trees without unary productions. Two tables have both against the same trees: "
        "without unary productions, and the original ones, where MH misses every bracket over a single child.",
        chains,
        f"Words seen fewer than {outcome.unknown_below} times are one unknown word, after Collins (1997), who used a tagger for "
        "them; here there is none. Relative frequency, no smoothing. Scores as EVALB's, but no sentence is left out.",
    ]


def _order_note(outcome: Outcome) -> str:
    """A note on the order of the algorithms under MRL, and on the gaps between precision and recall."""
    rates = {each.variant.name: each.own.rates for each in outcome.parses}["MRL"]
    order = " > ".join(sorted((name for name in ALGORITHMS.values() if name != "MPP"), key=lambda name: -rates[name]["f1"]))
    gaps: list[str] = []
    for name in ALGORITHMS.values():
        recall, precision = PAPER["MRL", name][:2]
        ours = rates[name]["precision"] - rates[name]["recall"]
        gaps.append(f"{name} {100 * ours:+.1f} (paper {100 * (precision - recall):+.1f})")
    p = {each.variant.name: each.own for each in outcome.parses}["MRL"].p("M_LR", "M_CFP", "f1")
    best = {rate: max(ALGORITHMS.values(), key=lambda name: rates[name][rate]) for rate in ("precision", "recall")}
    same, why = ("as", "") if order == "M_CFP > M_PCh > M_LR" else ("unlike", ", and why its order differs stays open")
    return (
        f"Order under MRL by F: {order} (M_CFP against M_LR: p = {p:.4f}), {same} in the paper, where it is M_CFP > M_PCh > M_LR. "
        "Binary trees have equally many brackets, so precision less recall shows what became of unary productions: "
        f"{', '.join(gaps)}. The best precision has {best['precision']} (paper: M_LR), the best recall {best['recall']} (paper: "
        f"M_CFP). The paper does not say how chains of unary productions count{why}. "
        "(experiments/simaan_order.py varies one thing at a time.)"
    )


def _data(outcome: Outcome) -> dict[str, Any]:
    def rates_of(tests: RateTests) -> dict[str, Any]:
        return {"rates": tests.rates, "signatures": tests.signatures}

    grammars = {
        each.variant.name: {
            "unparsed": each.unparsed,
            "grammar": each.statistics,
            f"against {each.variant.against} trees": rates_of(each.own),
            "against original trees": rates_of(each.original),
            "on the grammar's own trees": {metric: rates_of(tests) for metric, tests in each.inner.items()},
        }
        for each in outcome.parses
    }
    return {**grammars, "against the same trees": rates_of(outcome.same), "curve": [_plain(point) for point in outcome.points]}


def _plain(point: CurvePoint) -> dict[str, Any]:
    sides = {"words": point.words, "gold tags": point.tags}
    found = {kind: {name: rates._asdict() for name, rates in side.items()} for kind, side in sides.items()}
    return {"trees": point.trees, "unknown": point.unknown, **found}


@dataclass(frozen=True)
class Settings:
    """The options of the experiment."""

    unknown_below: int = setting(5, "Words seen fewer times in training, and unseen ones, become one unknown word.")
    sentences: int = setting(1000, "Maximum number of test sentences; the first ones are parsed.")
    max_length: int = setting(0, "Leave out test sentences with more words; 0: none.")
    unaries: str = setting("joined", "MRL's chains of single children: joined into one symbol while parsing, or kept.")
    gold_tags: bool = setting(False, "Parse with the gold tags given.")
    halvings: int = setting(3, "How many times to halve the training trees, to see the effect of their number; -1: skip this.")
    rounds: int = setting(10_000, "Rounds of the randomisation tests.")
    seed: int = setting(1, "Seed of the randomisation tests.")


def run(corpus: Corpus, settings: Settings, work: Work) -> ExperimentReport:
    """The report: both grammars trained and decoded by every algorithm, scored against transformed and original trees."""
    made = variants(settings.unaries)
    if settings.unknown_below < 1 or settings.rounds < 1:
        raise UsageError("the count below which words are unknown, and the number of rounds, must be at least 1")
    parts = corpus.split()
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
    about = f"{len(train):,} trees to train on, {len(test):,} to test on{longest}; held out: {parts.how}"
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
        parsed = work.parse(f"{variant.name} {name}{kind}", parser, sentences)
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
    "simaan-table2", "Sima'an 2003, Table 2: MRL and MH grammars, four algorithms", "simaan2003", Settings, run, own_corpus
)
