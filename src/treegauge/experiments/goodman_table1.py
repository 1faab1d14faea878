"""Goodman 1996, Table 1: Viterbi against Bracketed Recall on grammars learned from brackets (Pereira & Schabes 1992).

There are several runs, each with a new split into training and test sentences and a new random start. After every step of learning
the test sentences are parsed both ways. The table has the rates after the last step.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from treegauge import alignment
from treegauge.data import own_treebank
from treegauge.errors import UsageError
from treegauge.experiments.experiment import Corpus, Experiment, ExperimentReport, Work, setting
from treegauge.experiments.paper_comparison import Summary, error_reduction, paper_table, summarise
from treegauge.learning import BracketedSentences, DenseGrammar, random_grammar, reestimation_steps
from treegauge.learning.reestimation import decode_brackets
from treegauge.metrics.goodman import Goodman
from treegauge.metrics.metric import total_of
from treegauge.parsing.parser import fallback
from treegauge.presets import load_preset
from treegauge.reports.figures import Figure, Series
from treegauge.significance import paired_t
from treegauge.significance.classical import student
from treegauge.tables import Table
from treegauge.trees import Tree, Treebank

CRITERIA = {
    "Consistent Brackets Recall": "consistent_brackets_recall",
    "Consistent Brackets Tree": "consistent_brackets_tree",
    "Bracketed Recall": "bracketed_recall",
}
VITERBI, RECALL, DIFFERENCE = "Labelled Tree (Viterbi)", "Bracketed Recall", "difference"
PAPER = {
    (VITERBI, "Consistent Brackets Recall"): Summary(0.8606, 0.9327, 0.9013, 0.0257),
    (VITERBI, "Consistent Brackets Tree"): Summary(0.5114, 0.7727, 0.6398, 0.0796),
    (VITERBI, "Bracketed Recall"): Summary(0.7138, 0.8188, 0.7587, 0.0318),
    (RECALL, "Consistent Brackets Recall"): Summary(0.8802, 0.9434, 0.9114, 0.0222),
    (RECALL, "Consistent Brackets Tree"): Summary(0.5341, 0.7614, 0.6364, 0.0782),
    (RECALL, "Bracketed Recall"): Summary(0.7215, 0.8069, 0.7603, 0.0314),
    (DIFFERENCE, "Consistent Brackets Recall"): Summary(-0.0155, 0.0245, 0.0101, 0.0107),
    (DIFFERENCE, "Consistent Brackets Tree"): Summary(-0.0341, 0.0341, -0.0034, 0.0234),
    (DIFFERENCE, "Bracketed Recall"): Summary(-0.0134, 0.0202, 0.0017, 0.0120),
}
PAPER_RUNS, PAPER_UNPARSED = 10, 0.005
EARLY = (5, 10, 20)

RatesOfRuns = dict[str, list[float]]
"""The rates after each step, by criterion."""


@dataclass(frozen=True)
class Settings:
    """The options of the experiment."""

    runs: int = setting(10, "Number of runs, each with another split and another start.")
    nonterminals: int = setting(15, "Symbols of the learned grammars.")
    iterations: int = setting(75, "Steps of re-estimation.")
    test: int = setting(88, "Test sentences per run; at most a fifth of all.")
    sentences: int = setting(788, "Maximum number of sentences, drawn anew for each run.")
    max_length: int = setting(15, "Leave out sentences with more terminals.")
    terminals: str = setting("tags", "tags or words")
    seed: int = setting(1, "Seed of splits and starts.")


def own_travel() -> Corpus:
    """Our own sentences about travel, which are nearest to ATIS, the paper's corpus."""
    return Corpus("the travel part of treegauge's own treebank", own_treebank("all", ("travel",)))


def run(corpus: Corpus, settings: Settings, work: Work) -> ExperimentReport:
    """The report of all runs: the table, the paired t-test, and the rates by step."""
    usable = _usable(corpus.bank, settings)
    results: list[dict[str, Any]] = []
    runs = {f"run {number}": number for number in range(settings.runs)}
    for result in work.each(one_run, (usable, settings, work.jobs), runs):
        results.append(result)
        work.report(f"run {len(results)} of {settings.runs} is done")
    return _report(usable, settings, results)


def _usable(bank: Treebank, settings: Settings) -> BracketedSentences:
    """The sentences of two terminals or more; in shorter ones there is no bracket to find."""
    every = BracketedSentences.from_treebank(bank, terminals=settings.terminals, longest=settings.max_length)
    usable = every.take(np.flatnonzero(every.lengths >= 2))
    if len(usable) < 10 or settings.runs < 1 or settings.test < 1:
        raise UsageError(
            f"the experiment needs at least 10 sentences, a run and a test sentence, but there are {len(usable)} sentences\n"
            f"  of 2 to {settings.max_length} terminals, and {settings.runs} runs with {settings.test} test sentences are asked for"
        )
    return usable


def one_run(shared: tuple[BracketedSentences, Settings, int], number: int) -> dict[str, Any]:
    """The run of one split and one start: the rates of both parsers after each step, as JSON data."""
    sentences, settings, threads = shared
    order = np.random.default_rng([settings.seed, number]).permutation(len(sentences))[: settings.sentences]
    size = min(settings.test, len(order) // 5)
    test, train = sentences.take(order[:size]), sentences.take(order[size:])
    gold = Treebank.from_trees(Tree.from_spans(test.words(i), test.brackets(i), test.words(i)) for i in range(size))
    start = random_grammar(settings.nonterminals, sentences.terminals, [settings.seed, number, 1])
    rates: dict[str, RatesOfRuns] = {parser: {name: [] for name in CRITERIA} for parser in (VITERBI, RECALL)}
    entropy: list[float] = []
    unparsed: list[int] = []
    for taken in itertools.islice(reestimation_steps(start, train, threads=threads), settings.iterations + 1):
        assert isinstance(taken.grammar, DenseGrammar)
        decoded = decode_brackets(taken.grammar, test)
        guesses = {
            VITERBI: [_guess(test.words(i), found and found.viterbi) for i, found in enumerate(decoded)],
            RECALL: [_guess(test.words(i), found and found.bracketed_recall) for i, found in enumerate(decoded)],
        }
        for parser, trees in guesses.items():
            for name, rate in _rates(gold, trees).items():
                rates[parser][name].append(rate)
        entropy.append(taken.cross_entropy)
        unparsed.append(sum(found is None for found in decoded))
    return {"train": len(train), "test": size, "cross_entropy": entropy, "unparsed": unparsed, "rates": rates}


def _guess(words: Sequence[str], brackets: Sequence[tuple[int, int]] | None) -> Tree:
    return fallback(words, words, root="X") if brackets is None else Tree.from_spans(words, brackets, words)


def _rates(gold: Treebank, trees: Sequence[Tree]) -> dict[str, float]:
    metric = Goodman()
    rows = metric.rows(alignment.pair(gold, Treebank.from_trees(trees), load_preset("none"), on_mismatch="error"))
    rates = metric.rates(total_of(rows))
    return {name: float(rates[key]) for name, key in CRITERIA.items()}


def _report(sentences: BracketedSentences, settings: Settings, results: Sequence[Mapping[str, Any]]) -> ExperimentReport:
    last = {
        (parser, name): [float(result["rates"][parser][name][-1]) for result in results]
        for parser in (VITERBI, RECALL)
        for name in CRITERIA
    }
    for name in CRITERIA:
        pairs = zip(last[VITERBI, name], last[RECALL, name], strict=True)
        last[DIFFERENCE, name] = [b - a for a, b in pairs]
    ours = {key: summarise(values) for key, values in last.items()}
    tests = {name: paired_t(last[VITERBI, name], last[RECALL, name]) for name in CRITERIA}
    unparsed = sum(result["unparsed"][-1] for result in results) / sum(result["test"] for result in results)
    table = paper_table(
        "Percentages correct after the last step: minimum, maximum, mean and standard deviation over the runs",
        ("algorithm", "criterion"),
        ("min", "max", "mean", "SD"),
        PAPER,
        ours,
        percent=True,
    )
    return ExperimentReport(
        tables=[table, _significance(tests, ours, unparsed), _on_the_way(results)],
        notes=_notes(sentences, settings, results, ours, tests),
        figures=[_figure(name, results) for name in CRITERIA],
        data={
            "runs": [dict(result) for result in results],
            "paired_t": {name: test._asdict() for name, test in tests.items()},
            "unparsed": unparsed,
        },
    )


def _significance(tests: Mapping[str, Any], ours: Mapping[tuple[str, str], Summary], unparsed: float) -> Table:
    """The table of t, p and error reduction of the paired differences; the paper's t is computed from its printed mean and SD."""
    rows: list[tuple[Any, ...]] = []
    for name in CRITERIA:
        paper = PAPER[DIFFERENCE, name]
        t = paper.mean / (paper.deviation / math.sqrt(PAPER_RUNS))
        shares = [error_reduction(source[VITERBI, name].mean, source[RECALL, name].mean) for source in (PAPER, ours)]
        test = tests[name]
        rows.append(
            (name, t, test.t, f"{student(t, PAPER_RUNS - 1):.3f}", f"{test.p:.3g}", *(f"{100 * share:.1f}%" for share in shares))
        )
    return Table(
        "Bracketed Recall less Viterbi: paired t-test over the runs, and the share of the error that goes away",
        ("criterion", "t computed", "t ours", "p computed", "p ours", "error reduction computed", "error reduction ours"),
        tuple(rows),
        notes=(
            "Computed: from the means and standard deviations that the paper prints. It says that the difference in Consistent "
            "Brackets Recall is significant at the 2% level.",
            f"Unparsed sentences (right-branching fallback): paper {PAPER_UNPARSED:.1%}, ours {unparsed:.1%}.",
        ),
    )


def _on_the_way(results: Sequence[Mapping[str, Any]]) -> Table:
    """The table of the main criterion during learning, which the paper describes in words for its Figure 2."""
    rows: list[tuple[Any, ...]] = []
    marks = [step for step in EARLY if step < len(results[0]["cross_entropy"])]
    for parser in (VITERBI, RECALL):
        curves = np.array([result["rates"][parser]["Consistent Brackets Recall"] for result in results])
        falls = np.minimum(np.diff(curves, axis=1), 0.0)
        early = [float(curves[:, step].mean()) for step in marks]
        rows.append((parser, *early, float((falls < 0).sum(axis=1).mean()), -float(falls.sum(axis=1).mean())))
    at = [f"after {step} steps" for step in marks]
    return Table(
        "Consistent Brackets Recall on the way: means over the runs",
        ("algorithm", *at, "steps on which it falls", "sum of the falls"),
        tuple(rows),
        notes=("The paper, of its Figure 2: Bracketed Recall is smoother, more nearly monotonic, and off to a much faster start.",),
        percent=(*at, "sum of the falls"),
    )


def typical_run(results: Sequence[Mapping[str, Any]], name: str) -> int:
    """The index of the run whose final difference between the two parsers is nearest to the mean; the first of equal ones."""
    differences = [result["rates"][RECALL][name][-1] - result["rates"][VITERBI][name][-1] for result in results]
    mean = math.fsum(differences) / len(differences)
    return min(range(len(differences)), key=lambda i: abs(differences[i] - mean))


def _figure(name: str, results: Sequence[Mapping[str, Any]]) -> Figure:
    lines: list[Series] = []
    for parser in (VITERBI, RECALL):
        columns = [summarise(values) for values in zip(*(result["rates"][parser][name] for result in results), strict=True)]
        least, most, mean, _ = map(list, zip(*columns, strict=True))
        lines.append(Series(parser, mean, least, most))
    if len(results) > 1:
        typical = typical_run(results, name)
        rates = results[typical]["rates"]
        lines += [Series(f"{parser}, run {typical + 1}", rates[parser][name]) for parser in (VITERBI, RECALL)]
    return Figure(
        CRITERIA[name].replace("_", "-"),
        "lines",
        f"{name} by step of learning: mean and range of {len(results)} runs, and a typical run",
        list(map(str, range(len(lines[0].values)))),
        lines,
        x_title="step of re-estimation",
        y_title=name,
        percent=True,
        key="step of re-estimation",
    )


def _notes(
    sentences: BracketedSentences,
    settings: Settings,
    results: Sequence[Mapping[str, Any]],
    ours: Mapping[tuple[str, str], Summary],
    tests: Mapping[str, Any],
) -> list[str]:
    train, test = results[0]["train"], results[0]["test"]
    main = "Consistent Brackets Recall"
    difference, p = ours[DIFFERENCE, main].mean, tests[main].p
    outcome = "beats" if difference > 0 else "does not beat"
    return [
        f"Outcome: on {main} Bracketed Recall {outcome} Viterbi by {100 * difference:+.2f} points (p = {p:.3g}); in the paper by "
        "+1.01 (p = .015, computed; it says 2%).",
        f"Corpus: the paper learned from the TI section of ATIS (tags of about 700 sentences, 88 test sentences per run). Here "
        f"{train} sentences to learn from and {test} to test on in each run, drawn from {len(sentences):,} of at most "
        f"{settings.max_length} {settings.terminals}.",
        "Gold brackets are those of the n-ary trees after removal of traces, punctuation kept; labels are ignored, and a span "
        "counts once. Brackets over one word are left out on both sides, as every parse has them; the paper does not say what "
        "it did with them.",
        f"Steps: {settings.iterations} re-estimations in every run; the paper does not say how many. The figures begin with the "
        "random grammar (step 0). The paper's Figure 2 shows one typical run; ours show the mean and range of all, and the run "
        "whose difference is nearest to the mean.",
        "Starts are draws from (0, 1], scaled to sum to 1; the paper only says that they are random.",
    ]


EXPERIMENT = Experiment(
    "goodman-table1",
    "Goodman 1996, Table 1 and Figure 2: grammars learned by the method of Pereira & Schabes",
    "goodman1996",
    Settings,
    run,
    own_travel,
)
