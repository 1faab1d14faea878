"""Goodman 1996, Table 2: a grammar counted from trees, three algorithms, five criteria."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from treegauge.errors import UsageError
from treegauge.experiments.experiment import Corpus, Experiment, ExperimentReport, TreebankSplit, Work, own_corpus, setting, split
from treegauge.experiments.parsing import CRITERIA, GOODMAN_OBJECTIVES, Matrix, objective_matrix, parse_with_checkpoint
from treegauge.experiments.presentation import (
    CriterionTest,
    RateTests,
    criterion_table,
    criterion_test,
    error_reduction,
    in_words,
    paper_table,
)
from treegauge.reports.figures import PAPER_LINES, Figure, Series
from treegauge.tables import Cell, Table

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


def run(corpus: Corpus | None, settings: Settings, work: Work) -> ExperimentReport:
    """The report: the table, the error reductions, and whether the algorithm of each criterion is best on it."""
    assert corpus is not None
    if settings.max_length < 2 or settings.rounds < 1:
        raise UsageError(
            f"sentences of at most {settings.max_length} symbols and {settings.rounds} rounds are not enough for the experiment"
        )
    parts = split(corpus.bank)
    matrix = objective_matrix(
        list(parts.train),
        list(parts.test),
        most_symbols=settings.max_length,
        parse_all=lambda parser, sentences: parse_with_checkpoint(work, parser.objective, parser, sentences),
    )
    work.report("testing differences")
    binary, nary = (
        RateTests("goodman", gold, matrix.trees, preset="none", rounds=settings.rounds, seed=settings.seed)
        for gold in (matrix.binary_gold, matrix.gold)
    )
    verdicts = _verdicts(binary, nary)
    return ExperimentReport(
        tables=[_table(matrix), _reductions(matrix), criterion_table(verdicts)],
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
    return paper_table(title, ("algorithm",), tuple(CRITERIA.values()), PAPER, ours, percent=True, notes=notes)


def _reductions(matrix: Matrix) -> Table:
    """The error reductions of two algorithms against the Labelled Tree (Viterbi) algorithm."""
    order = list(CRITERIA)
    rows: list[tuple[Cell, ...]] = []
    for name in GOODMAN_OBJECTIVES[1:]:
        for criterion in order:
            column = order.index(criterion)
            printed = error_reduction(PAPER["Labelled Tree",][column], PAPER[NAMES[name],][column])
            found = error_reduction(matrix.rates["viterbi"][criterion], matrix.rates[name][criterion])
            rows.append((NAMES[name], CRITERIA[criterion], printed, found))
    columns = ("algorithm", "criterion", "paper", "ours")
    return Table(
        "Share of the error of the Labelled Tree algorithm that goes away", columns, tuple(rows), percent=("paper", "ours")
    )


def _verdicts(binary: RateTests, nary: RateTests) -> list[CriterionTest]:
    return [
        criterion_test(nary if criterion.startswith("consistent") else binary, criterion, CRITERIA[criterion], own, NAMES)
        for criterion, own in OWN.items()
    ]


def _name_algorithms(each: CriterionTest) -> CriterionTest:
    """The same test with "the ... algorithm" in its names, because Goodman's algorithms and criteria have the same names."""
    return replace(each, own=f"the {each.own} algorithm", rival=f"the {each.rival} algorithm")


def _figure(corpus: Corpus, matrix: Matrix) -> Figure:
    order = list(CRITERIA)
    series = [
        Series(NAMES[name], [rates[criterion] for criterion in order], paper=PAPER.get((NAMES[name],), ()))
        for name, rates in matrix.rates.items()
    ]
    title = f"Three algorithms on five criteria: {corpus.name}"
    names = [CRITERIA[criterion].replace(" Brackets", "") for criterion in order]
    return Figure("rates", "columns", title, names, series, PAPER_LINES, percent=True, key="criterion")


def _notes(
    corpus: Corpus, parts: TreebankSplit, settings: Settings, matrix: Matrix, verdicts: Sequence[CriterionTest]
) -> list[str]:
    outcome = in_words([_name_algorithms(each) for each in verdicts])
    return [
        f"Outcome: {outcome} In the paper there is one exception: Labelled Recall is best on Consistent Brackets Recall.",
        "Corpus: the paper used part of the Penn Treebank 0.5 (1805 test sentences, 38610 nonterminals; how many to train on it "
        f"does not say). Here {corpus.name}: {matrix.train_trees:,} trees to train on, {len(matrix.gold):,} to test on, of 2 to "
        f"{settings.max_length} symbols; held out are {parts.how}.",
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
