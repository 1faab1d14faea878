"""Goodman 1996, Table 2: a grammar counted from trees, three algorithms, five criteria.

The grammar is counted from training trees without epsilons, with singletons collapsed, and binarised with X_Cont, by relative
frequency without smoothing. Held-out sentences are parsed with every objective, and the trees are scored by every criterion:
against the binarised gold trees, except that consistent brackets are scored against the n-ary ones, as in the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from treegauge.errors import MismatchError, UsageError
from treegauge.experiments import paper_comparison
from treegauge.experiments.experiment import Corpus, Experiment, ExperimentReport, TreebankSplit, Work, own_corpus, setting
from treegauge.grammar.tree_counts import induce
from treegauge.normalise import pipeline
from treegauge.parsing.parser import ParsedSentence, Parser, Sentence
from treegauge.reports.figures import PAPER_LINES, Figure, Series
from treegauge.scoring.evaluation import score
from treegauge.tables import Cell, Table
from treegauge.trees.tree import Tree

GOODMAN_OBJECTIVES = ("viterbi", "labelled-recall", "bracketed-recall")

CRITERIA = {
    "labelled_recall": "Labelled Recall",
    "labelled_tree": "Labelled Tree",
    "bracketed_recall": "Bracketed Recall",
    "consistent_brackets_recall": "Cons. Brackets Recall",
    "consistent_brackets_tree": "Cons. Brackets Tree",
}

_CLEAN = "traces,functions,root"
_BINARY = "unaries:keep=top,xcont"


@dataclass(frozen=True)
class Matrix:
    """Rates by objective and criterion, and the trees behind them."""

    rates: dict[str, dict[str, float]]
    trees: dict[str, list[Tree]]
    gold: list[Tree]
    binary_gold: list[Tree]
    train_trees: int
    rules: int
    unparsed: int


def objective_matrix(
    train: Sequence[Tree],
    test: Sequence[Tree],
    parse: Callable[[Parser, Sequence[Sentence]], Iterable[ParsedSentence]],
    most_symbols: int = 40,
) -> Matrix:
    """The matrix of a grammar trained on some trees: the tags of others are parsed with every objective by ``parse``, and scored by
    every criterion."""
    clean = pipeline(_CLEAN)
    binary = pipeline(_BINARY)
    train_trees = [binary(tree) for tree in _short(train, clean, most_symbols)]
    gold = _short(test, clean, most_symbols)
    if not gold or not train_trees:
        raise MismatchError(f"no sentence of at most {most_symbols} symbols to train on, or none to test on")
    binary_gold = [tree for tree in map(binary, gold) if tree is not None]
    grammar = induce([tree for tree in train_trees if tree is not None], tags=True)
    sentences = [Sentence(tree.words, tree.tags) for tree in binary_gold]
    trees: dict[str, list[Tree]] = {}
    unparsed = 0
    for objective in GOODMAN_OBJECTIVES:
        parsed = list(parse(Parser(grammar, objective, tag_words=True), sentences))
        unparsed = sum(one.fallback for one in parsed)
        trees[objective] = [one.scored_tree for one in parsed]
    rates = {objective: _rates(gold, binary_gold, guessed) for objective, guessed in trees.items()}
    return Matrix(rates, trees, gold, binary_gold, len(train_trees), len(grammar.rules), unparsed)


def _short(trees: Sequence[Tree], clean: Callable[[Tree], Tree | None], most: int) -> list[Tree]:
    """The cleaned trees of 2 to ``most`` words; once singletons are collapsed, a single word has no constituents."""
    cleaned = (clean(tree) for tree in trees)
    return [tree for tree in cleaned if tree is not None and 1 < tree.width <= most]


def _rates(gold: Sequence[Tree], binary_gold: Sequence[Tree], guessed: Sequence[Tree]) -> dict[str, float]:
    against_binary = score(binary_gold, guessed, metric="goodman", preset="none").rates
    against_nary = score(gold, guessed, metric="goodman", preset="none").rates
    return {name: (against_nary if name.startswith("consistent") else against_binary)[name] for name in CRITERIA}


NAMES = {"viterbi": "Labelled Tree", "labelled-recall": "Labelled Recall", "bracketed-recall": "Bracketed Recall"}
PAPER: dict[tuple[str, ...], Sequence[float]] = {
    ("Labelled Tree",): (0.4860, 0.0454, 0.6098, 0.6635, 0.1207),
    ("Labelled Recall",): (0.4966, 0.0371, 0.6134, 0.6839, 0.1163),
    ("Bracketed Recall",): (0.0451, 0.0011, 0.6163, 0.6817, 0.1119),
}
PAPER_UNPARSED = 0.09
OWN = {
    "labelled_tree": "viterbi",
    "labelled_recall": "labelled-recall",
    "bracketed_recall": "bracketed-recall",
    "consistent_brackets_recall": "bracketed-recall",
}
"""The algorithm that maximises each criterion (Table 3). Maximising Consistent Brackets Tree is NP-complete. For Consistent
Brackets Recall it is the algorithm for brackets: for binary trees the two criteria are the same."""


@dataclass(frozen=True)
class Settings:
    """The options of the experiment."""

    max_length: int = setting(40, "Leave out sentences with more symbols.")
    rounds: int = setting(10_000, "Rounds of the randomisation tests.")
    seed: int = setting(1, "Seed of the randomisation tests.")


def run(corpus: Corpus, settings: Settings, work: Work) -> ExperimentReport:
    """The report: the table, the error reductions, and whether the algorithm of each criterion is best on it."""
    if settings.max_length < 2 or settings.rounds < 1:
        raise UsageError(
            f"sentences of at most {settings.max_length} symbols and {settings.rounds} rounds are not enough for the experiment"
        )
    parts = corpus.split()
    matrix = objective_matrix(
        list(parts.train),
        list(parts.test),
        lambda parser, sentences: work.parse(parser.objective, parser, sentences),
        settings.max_length,
    )
    work.report("testing differences")
    binary, nary = (
        paper_comparison.RateTests("goodman", gold, matrix.trees, preset="none", rounds=settings.rounds, seed=settings.seed)
        for gold in (matrix.binary_gold, matrix.gold)
    )
    verdicts = [
        paper_comparison.criterion_test(
            nary if criterion.startswith("consistent") else binary, criterion, CRITERIA[criterion], own, NAMES
        )
        for criterion, own in OWN.items()
    ]
    return ExperimentReport(
        tables=[_table(matrix), _reductions(matrix), paper_comparison.criterion_table(verdicts)],
        notes=_notes(corpus, parts, settings, matrix, verdicts),
        figures=[_figure(corpus, matrix)],
        data={
            "rates": matrix.rates,
            "rules": matrix.rules,
            "train": matrix.train_trees,
            "test": len(matrix.gold),
            "unparsed": matrix.unparsed / len(matrix.gold),
            "signatures": {"binary trees": binary.signatures, "n-ary trees": nary.signatures},
        },
    )


def _table(matrix: Matrix) -> Table:
    ours = {(NAMES[name],): [rates[criterion] for criterion in CRITERIA] for name, rates in matrix.rates.items()}
    unparsed = matrix.unparsed / len(matrix.gold)
    notes = [f"Unparsed sentences (right-branching fallback): paper {PAPER_UNPARSED:.0%}, ours {unparsed:.1%}."]
    title = "Grammar induced by counting: three algorithms on five criteria"
    return paper_comparison.paper_table(title, ("algorithm",), tuple(CRITERIA.values()), PAPER, ours, percent=True, notes=notes)


def _reductions(matrix: Matrix) -> Table:
    """The error reductions of two algorithms against the Labelled Tree (Viterbi) algorithm."""
    rows: list[tuple[Cell, ...]] = []
    for name in GOODMAN_OBJECTIVES[1:]:
        for column, criterion in enumerate(CRITERIA):
            printed = paper_comparison.error_reduction(PAPER["Labelled Tree",][column], PAPER[NAMES[name],][column])
            found = paper_comparison.error_reduction(matrix.rates["viterbi"][criterion], matrix.rates[name][criterion])
            rows.append((NAMES[name], CRITERIA[criterion], printed, found))
    columns = ("algorithm", "criterion", "computed", "ours")
    about = "Computed: from the rates that the paper prints. It speaks of as much as a 10% reduction in error rate."
    return Table("Share of the error of the Labelled Tree algorithm that goes away", columns, tuple(rows), (about,), columns[2:])


def _figure(corpus: Corpus, matrix: Matrix) -> Figure:
    series = [
        Series(NAMES[name], [rates[criterion] for criterion in CRITERIA], paper=PAPER.get((NAMES[name],), ()))
        for name, rates in matrix.rates.items()
    ]
    title = f"Three algorithms on five criteria: {corpus.name}"
    names = [criterion.replace(" Brackets", "") for criterion in CRITERIA.values()]
    return Figure("rates", "columns", title, names, series, PAPER_LINES, percent=True, key="criterion")


def _notes(
    corpus: Corpus, parts: TreebankSplit, settings: Settings, matrix: Matrix, verdicts: Sequence[paper_comparison.CriterionTest]
) -> list[str]:
    # Goodman's algorithms and criteria have the same names.
    outcome = paper_comparison.in_words(
        [replace(each, own=f"the {each.own} algorithm", rival=f"the {each.rival} algorithm") for each in verdicts]
    )
    return [
        f"Outcome: {outcome} In the paper there is one exception: Labelled Recall is best on Consistent Brackets Recall.",
        "Corpus: the paper used part of the Penn Treebank 0.5 (1805 test sentences, 38610 nonterminals; how many to train on it "
        f"does not say). Here {corpus.name}: {matrix.train_trees:,} trees to train on, {len(matrix.gold):,} to test on, of 2 to "
        f"{settings.max_length} symbols; held out: {parts.how}.",
        "Sentences are sequences of gold tags, which the paper's 'symbols' most likely were.",
        "Trees: traces and function tags removed, chains of single children collapsed (the top label stays; over one word, the "
        "tag), X -> A B C D as X -> A X_Cont and so on. Relative frequency, no smoothing. Preterminals do not count.",
        "Labelled and bracketed rates are against these binary trees; consistent brackets are against the n-ary trees, as they "
        "must have been in the paper (against binary trees they would equal the bracketed ones).",
        "Bracketed Recall labels only the root, so its labelled recall is that of the root.",
    ]


EXPERIMENT = Experiment(
    "goodman-table2",
    "Goodman 1996, Table 2: a grammar induced by counting, three algorithms, five criteria",
    "goodman1996",
    Settings,
    run,
    own_corpus,
)
