"""The decoding sweep: one grammar decoded with many settings on held-out sentences, with confidence intervals and tests.

The grammar is counted from the training trees and parses words. The setting for each of recall, precision, F1 and exact match is
chosen on a part of the training trees, so that the held-out trees decide nothing. Expected scores, by the grammar's own posteriors,
are shown beside actual ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from treegauge.errors import MismatchError
from treegauge.experiments.experiment import SIGNIFICANT, RateTests
from treegauge.grammar.tree_counts import KEEP_EVERY, Recipe, count_trees
from treegauge.grammar.treebank_grammar import train_counted
from treegauge.metrics.registry import find_metric
from treegauge.normalise import pipeline
from treegauge.parsing.confidence import ExpectedCounts, expected_counts
from treegauge.parsing.forest import Forest
from treegauge.parsing.objectives import CRITERIA, VITERBI, DecodingSetting
from treegauge.parsing.tuned_decoding import SETTINGS, TunedDecoding, settings_of_counts
from treegauge.scoring.evaluation import score
from treegauge.significance.bootstrap_intervals import bootstrap
from treegauge.significance.resampling import PairedColumns
from treegauge.tables import Cell, Table
from treegauge.trees.tree import Tree

SHOWN = (VITERBI, *(DecodingSetting("labelled-precision-recall", lam) for lam in (0.15, 0.25, 0.35, 0.5, 0.6, 0.8)))


@dataclass(frozen=True)
class Sweep:
    """The trees of each setting on the held-out sentences, the settings chosen for each rate, and their expected and actual
    rates."""

    chosen: TunedDecoding
    gold: Sequence[Tree]
    trees: Mapping[DecodingSetting, Sequence[Tree]]
    expected: Mapping[DecodingSetting, ExpectedCounts]
    tests: RateTests
    intervals: Mapping[DecodingSetting, Mapping[str, tuple[float, float]]]
    unparsed: int
    rules: int

    def table(self) -> Table:
        """A table with a row for each setting: each rate with its interval, and the p-value of its difference from Viterbi's."""
        rows: list[tuple[Cell, ...]] = []
        for setting in self.trees:
            rates = self.tests.rates[str(setting)]
            cells: list[Cell] = []
            for rate in CRITERIA.values():
                low, high = self.intervals[setting][rate]
                cells.append(f"{100 * rates[rate]:.1f} [{100 * low:.1f}, {100 * high:.1f}]")
                cells.append(None if setting == VITERBI else _p_cell(self.tests.p(str(VITERBI), str(setting), rate)))
            purposes = ", ".join(name for name, best in self.chosen.best.items() if best == setting)
            rows.append((str(setting), purposes, *cells))
        columns = tuple(column for name in CRITERIA for column in (_TITLES[name], "p"))
        about = (
            f"{len(self.gold)} held-out sentences, parsed from words by a grammar of {self.rules:,} rules; {self.unparsed} more "
            "have no parse.",
            f"chosen for: by `induce`, on {self.chosen.sentences} sentences of the training part. [ , ]: 95% bootstrap intervals; "
            "p: against Viterbi, paired randomisation over sentences.",
        )
        return Table("One grammar, decoded for different rates (%)", ("decoding", "chosen for", *columns), tuple(rows), about)

    def expected_table(self) -> Table:
        """A table of the expected and the actual recall, precision and F1 of each setting."""
        rows: list[tuple[Cell, ...]] = []
        for setting, counts in self.expected.items():
            rates = self.tests.rates[str(setting)]
            pairs = ((counts.recall, rates["recall"]), (counts.precision, rates["precision"]), (counts.f1, rates["f1"]))
            rows.append((str(setting), *(value for pair in pairs for value in pair)))
        columns = tuple(f"{name} {side}" for name in ("recall", "precision", "F1") for side in ("expected", "actual"))
        about = (
            "Expected: by the posteriors of the grammar, if the right parse were drawn from its own. Actual is lower where the "
            "grammar is too sure of itself; for choosing it is enough that both rank the settings alike.",
        )
        return Table("What the grammar expects, and what it gets (%)", ("decoding", *columns), tuple(rows), about, columns)

    def verdicts(self) -> list[str]:
        """A sentence for each rate that compares the setting chosen for it with Viterbi."""
        found: list[str] = []
        for criterion, rate in CRITERIA.items():
            setting = self.chosen.best[criterion]
            own, viterbi = self.tests.rates[str(setting)][rate], self.tests.rates[str(VITERBI)][rate]
            if setting == VITERBI:
                found.append(f"For {_TITLES[criterion]} Viterbi itself was chosen: {100 * own:.1f}.")
                continue
            p = self.tests.p(str(VITERBI), str(setting), rate)
            sure = "significant" if p < SIGNIFICANT else f"{len(self.gold)} sentences cannot tell"
            found.append(
                f"For {_TITLES[criterion]} `{setting}` was chosen: {100 * own:.1f} against Viterbi's {100 * viterbi:.1f} "
                f"({_p_text(p)}: {sure})."
            )
        return found

    def best(self, rate: str) -> DecodingSetting:
        """The setting other than Viterbi with the best rate on the held-out sentences; the first of equal ones."""
        return max((each for each in self.trees if each != VITERBI), key=lambda each: self.tests.rates[str(each)][rate])

    def trades(self) -> list[str]:
        """Sentences on the highest recall and the highest precision, and the price of each."""
        found: list[str] = []
        viterbi = self.tests.rates[str(VITERBI)]
        for rate, other in (("recall", "precision"), ("precision", "recall")):
            setting = self.best(rate)
            rates = self.tests.rates[str(setting)]
            gain, price = 100 * (rates[rate] - viterbi[rate]), 100 * (rates[other] - viterbi[other])
            p = self.tests.p(str(VITERBI), str(setting), rate)
            found.append(f"`{setting}` has {gain:+.1f} points of {rate} ({_p_text(p)}) at {price:+.1f} of {other}.")
        if all(setting == VITERBI for setting in self.chosen.best.values()):
            found.append(
                f"On the {self.chosen.sentences} tuning sentences no setting kept up with Viterbi's F1, so `--for` stays with "
                "Viterbi: this treebank is too small for posteriors that make up for it. On larger ones they do (docs: Parse for a "
                "metric)."
            )
        return found


_TITLES = {"recall": "recall", "precision": "precision", "f1": "F1", "exact": "exact match"}


def decoding_sweep(train: Sequence[Tree], held_out: Sequence[Tree], *, advance: Callable[[], None] = lambda: None) -> Sweep:
    """The sweep of a grammar counted from ``train``: settings are chosen there, and the held-out sentences parsed with all of them.

    ``advance`` is called after each sentence.
    """
    recipe = Recipe(keep_every=KEEP_EVERY)
    counted = count_trees(train, recipe)
    chosen = settings_of_counts(counted, recipe, advance=advance)
    if chosen is None:
        raise MismatchError("too few trees to choose settings on")
    grammar = train_counted(counted, recipe).grammar
    clean = pipeline("traces,functions,root")
    gold = [tree for tree in map(clean, held_out) if tree is not None and tree.width]
    settings = list(dict.fromkeys([*SHOWN, *(s for s in SETTINGS if s in chosen.best.values())]))
    trees: dict[DecodingSetting, list[Tree]] = {setting: [] for setting in settings}
    expected: dict[DecodingSetting, list[ExpectedCounts]] = {setting: [] for setting in settings}
    kept: list[Tree] = []
    for tree in gold:
        forest = Forest(grammar, tree.words)
        if forest.has_parse:
            kept.append(tree)
            for setting in settings:
                found = forest.argmax(setting.objective, **setting.options).tree
                trees[setting].append(found)
                expected[setting].append(expected_counts(forest, found))
        advance()
    named = {str(setting): parsed for setting, parsed in trees.items()}
    tests = RateTests("parseval", kept, named)
    return Sweep(
        chosen=chosen,
        gold=kept,
        trees=trees,
        expected={setting: _total(counts) for setting, counts in expected.items()},
        tests=tests,
        intervals=_intervals(kept, trees),
        unparsed=len(gold) - len(kept),
        rules=len(grammar.rules),
    )


def _total(counts: Sequence[ExpectedCounts]) -> ExpectedCounts:
    return ExpectedCounts(math.fsum(c.matched for c in counts), sum(c.test for c in counts), math.fsum(c.gold for c in counts))


def _intervals(
    gold: Sequence[Tree], trees: Mapping[DecodingSetting, Sequence[Tree]], rounds: int = 2_000
) -> dict[DecodingSetting, dict[str, tuple[float, float]]]:
    """95% intervals of each rate, by the bootstrap over sentences."""
    results = [score(gold, parsed, metric="parseval") for parsed in trees.values()]
    drawn = bootstrap(PairedColumns.of(find_metric("parseval"), [result.rows for result in results]), rounds=rounds)
    found: dict[DecodingSetting, dict[str, tuple[float, float]]] = {}
    for number, setting in enumerate(trees):
        found[setting] = {}
        for rate in CRITERIA.values():
            interval = drawn.of_rate(number, ("parseval", rate))
            found[setting][rate] = (interval.low, interval.high)
    return found


def _p_cell(p: float) -> str:
    """A p-value in a table.

    >>> _p_cell(0.0001), _p_cell(0.0632)
    ('< 0.001', '0.063')
    """
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def _p_text(p: float) -> str:
    """A p-value in a sentence.

    >>> _p_text(0.0001), _p_text(0.0632)
    ('p < 0.001', 'p = 0.063')
    """
    return f"p {_p_cell(p)}" if p < 0.001 else f"p = {_p_cell(p)}"
