"""Tuning on held-out sentences: the objective and its lam for a grammar; the temperature, objective and lam for a parser's span
charts, with the calibration of their posteriors.

For a grammar, the settings with the best F1 and with the most exact matches are chosen. For recall and for precision it is the best
setting whose F1 is at least that of Viterbi, so that recall is not bought with towers of labels, nor precision with empty trees.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import MismatchError, UsageError
from treegauge.grammar.pcfg import PCFG
from treegauge.grammar.tree_counts import Recipe, TreeCounts, count_trees
from treegauge.grammar.treebank_grammar import train_counted
from treegauge.normalise.pipelines import label_pipeline
from treegauge.parsing.confidence import ExpectedCounts, F1Calibration, fit_calibration
from treegauge.parsing.expected import BINS, Reliability, reliability_bins
from treegauge.parsing.objectives import CRITERIA, VITERBI, DecodingSetting
from treegauge.parsing.parser import Parser, Sentence
from treegauge.parsing.span_charts import SpanChart
from treegauge.parsing.span_trees import labelled_spans
from treegauge.presets import Preset
from treegauge.scoring.evaluation import score
from treegauge.trees.tree import Tree

MOST_SENTENCES, MOST_WORDS, LEAST_TREES = 500, 40, 50
"""The limits of tuning: the maximum number of sentences, their maximum length, and the least number of trees of a treebank."""

SETTINGS = (
    VITERBI,
    *(DecodingSetting("labelled-recall", lam) for lam in (0.2, 0.35, 0.5)),
    *(DecodingSetting("labelled-precision-recall", lam) for lam in (0.15, 0.25, 0.35, 0.45, 0.5, 0.6, 0.7, 0.8)),
    *(DecodingSetting("labelled-recall-licensed", lam) for lam in (0.35, 0.5)),
)
"""The settings that are tried for a grammar."""

UNLABELLED = (
    VITERBI,
    DecodingSetting("bracketed-recall"),
    DecodingSetting("labelled-recall"),
    *(DecodingSetting("labelled-precision-recall", lam) for lam in (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)),
    DecodingSetting("labelled-recall-licensed"),
)
"""The settings that are tried for grammars whose labels mean nothing, such as those of `treegauge learn`."""


@dataclass(frozen=True)
class TunedDecoding:
    """The best setting for each purpose, the rates of all settings that were tried, the number of sentences, and the calibration of
    expected F1 on them."""

    best: dict[str, DecodingSetting]
    rates: dict[DecodingSetting, dict[str, float]] = field(default_factory=dict[DecodingSetting, dict[str, float]], repr=False)
    sentences: int = 0
    calibration: F1Calibration | None = None


def tuning_sentences(trees: Iterable[Tree]) -> list[Tree]:
    """The trees of at most 40 words; of more than 500, at most 500 evenly spread ones."""
    short = [tree for tree in trees if 0 < tree.width <= MOST_WORDS]
    step = max(1, -(-len(short) // MOST_SENTENCES))
    return short[::step]


def choose_settings(
    grammar: PCFG,
    gold: Sequence[Tree],
    *,
    settings: Sequence[DecodingSetting] = SETTINGS,
    preset: str | Preset = "default",
    tag_words: bool = False,
    joined: bool = False,
    calibrated: bool = False,
    advance: Callable[[], None] = lambda: None,
) -> TunedDecoding:
    """The best settings for a grammar, by the rates under a preset of the parses of the gold trees' sentences.

    For exact match the most probable tree is the best guess (Goodman 1996, section 2.2), and few parses match exactly, so another
    setting is chosen only if it is significantly better.

    ``settings`` must include Viterbi. With ``calibrated``, the expected F1 of trees decoded for F1 is calibrated as well.
    ``advance`` is called after each sentence.
    """
    if not gold:
        raise MismatchError("no tree to tune on")
    sentences = [Sentence(tree.words, tree.tags) for tree in gold]
    parser = Parser(grammar, tag_words=tag_words, joined=joined, expected_f1=calibrated)
    parsers = [parser.with_settings(objective=setting.objective, options=setting.options) for setting in settings]
    trees = {setting: list[Tree]() for setting in settings}
    expected = {setting: list[ExpectedCounts | None]() for setting in settings}
    for sentence in sentences:
        for setting, parsed in zip(settings, Parser.parse_with_each(parsers, sentence), strict=True):
            trees[setting].append(parsed.scored_tree)
            expected[setting].append(parsed.expected)
        advance()
    found = best_settings(gold, trees, VITERBI, preset=preset)
    best = found.best["f1"]
    return replace(found, calibration=fit_calibration(trees[best], expected[best], gold) if calibrated else None)


def best_settings(
    gold: Sequence[Tree],
    trees: Mapping[DecodingSetting, Sequence[Tree]],
    usual: DecodingSetting,
    *,
    least: float | None = None,
    preset: str | Preset = "default",
) -> TunedDecoding:
    """The best setting for each purpose, given the trees under each setting. For recall and precision F1 must be at least
    ``least``, by default that of the ``usual`` setting, which is used for exact match unless another is significantly better: it is
    the one that is best in theory."""
    scored = {setting: score(gold, parsed, metric="parseval", preset=preset) for setting, parsed in trees.items()}
    rates = {setting: dict(result.rates) for setting, result in scored.items()}
    exact = {setting: result.rows[:, result.columns.index("exact")] > 0 for setting, result in scored.items()}
    least = rates[usual]["f1"] if least is None else least
    best: dict[str, DecodingSetting] = {}
    for criterion, rate in CRITERIA.items():
        floor = least if criterion in ("recall", "precision") else 0.0
        allowed = [setting for setting in trees if rates[setting]["f1"] >= floor] or [usual]
        if criterion == "exact":
            allowed = [setting for setting in trees if setting == usual or is_surely_better(exact[setting], exact[usual])]
        best[criterion] = max(allowed, key=lambda setting: rates[setting][rate])
    return TunedDecoding(best, rates, len(gold))


def is_surely_better(ours: NDArray[np.bool_], theirs: NDArray[np.bool_]) -> bool:
    """Whether significantly more sentences are right than under another setting (two-sided sign test, p < .05).

    >>> is_surely_better(np.repeat([True, False], [6, 94]), np.zeros(100, bool))
    True
    >>> is_surely_better(np.repeat([True, False], [5, 95]), np.zeros(100, bool))
    False
    """
    wins, losses = int((ours & ~theirs).sum()), int((theirs & ~ours).sum())
    tosses = wins + losses
    return wins > losses and 2 * sum(math.comb(tosses, k) for k in range(wins, tosses + 1)) < 0.05 * 2**tosses


def settings_of_counts(counted: TreeCounts, recipe: Recipe, *, advance: Callable[[], None] = lambda: None) -> TunedDecoding | None:
    """Settings chosen on the stored trees, under a grammar counted from the other trees; ``None`` if there are too few trees."""
    if counted.trees + counted.left_out.total() < LEAST_TREES or not counted.stored:
        return None
    apart = counted.stored_trees
    grammar = train_counted(counted.without(count_trees(apart, replace(recipe, keep_every=0))), recipe).grammar
    return settings_on_trees(grammar, apart, recipe, advance=advance)


def settings_on_trees(
    grammar: PCFG, trees: Iterable[Tree], recipe: Recipe, *, advance: Callable[[], None] = lambda: None
) -> TunedDecoding | None:
    """Settings chosen on the short ones of some trees, without traces, function tags and an empty root; ``None`` if there are
    none."""
    clean = label_pipeline("traces,functions,root", recipe.treebank)
    sentences = tuning_sentences(tree for tree in map(clean, trees) if tree is not None)
    if not sentences:
        return None
    joined = "joined" in recipe.steps
    return choose_settings(grammar, sentences, tag_words=recipe.tags, joined=joined, calibrated=True, advance=advance)


def settings_to_notes(chosen: TunedDecoding) -> dict[str, Any]:
    """The settings in the form in which a model file stores them."""
    return {"sentences": chosen.sentences, "best": {name: list(setting) for name, setting in chosen.best.items()}}


TEMPERATURES = (0.25, 0.5, 0.7, 1.0, 1.4, 2.0, 4.0)
LAMS = (None, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6)
OBJECTIVES = ("viterbi", "labelled-recall", "labelled-precision-recall")


class ChartSetting(NamedTuple):
    """One way to decode span charts, and its labelled F1 on the held-out sentences; with ``lam`` None each chart has its own
    lam."""

    temperature: float
    objective: str
    lam: float | None
    f1: float


@dataclass(frozen=True)
class TuningResult:
    """The best setting, all settings that were tried, best first, and the calibration of the posteriors at the best temperature.

    ``calibration_error`` is the mean distance between posterior and share of right ones over all constituents; ``log_loss`` is the
    mean of -log P(gold tree), in nats (inf if some chart excludes its gold tree).
    """

    best: ChartSetting
    settings: tuple[ChartSetting, ...] = field(repr=False)
    bins: tuple[Reliability, ...] = field(repr=False)
    calibration_error: float
    log_loss: float

    @property
    def options(self) -> dict[str, Any]:
        """The best setting as arguments of :func:`~treegauge.parsing.decode`."""
        lam = {} if self.best.lam is None else {"lam": self.best.lam}
        return {"temperature": self.best.temperature, "objective": self.best.objective, **lam}

    def __str__(self) -> str:
        lam = "" if self.best.objective != "labelled-precision-recall" else f", lam {self.best.lam or 'of each chart'}"
        lines = [
            f"best: {self.best.objective}{lam}, temperature {self.best.temperature:g}: F1 {100 * self.best.f1:.2f}",
            f"calibration error {self.calibration_error:.4f}, log loss {self.log_loss:.3f} nats per sentence",
            "posterior   constituents  mean   right",
        ]
        lines += [f"{b.low:.1f}-{b.high:.1f} {b.size:18,}  {b.posterior:.3f}  {b.right:.3f}" for b in self.bins]
        return "\n".join(lines)


def tune(
    charts: Iterable[SpanChart],
    gold: Iterable[Tree],
    *,
    temperatures: Sequence[float] = TEMPERATURES,
    objectives: Sequence[str] = OBJECTIVES,
    lams: Sequence[float | None] = LAMS,
) -> TuningResult:
    """The temperature, objective and lam with the best labelled F1 of all held-out sentences together; the first of equal ones.

    F1 is over the charts' own constituents (a chain of nodes over one span counts as one, tags do not count) and needs no preset.
    ``charts`` must be of potentials, and have tags if the gold trees have them.
    """
    given, gold = list(charts), list(gold)
    _check_charts(given, gold)
    if not (temperatures and objectives and lams):
        raise UsageError("there is nothing to choose from: temperatures, objectives and lams need at least one each")
    right = [set(labelled_spans(tree, tags=chart.tags is not None).items()) for chart, tree in zip(given, gold, strict=True)]
    # Only one objective takes a lam.
    ways = [(objective, lam) for objective in objectives for lam in (lams if objective == "labelled-precision-recall" else [None])]
    settings: list[ChartSetting] = []
    for temperature in temperatures:
        at = [chart.with_temperature(temperature) for chart in given]
        for objective, lam in ways:
            options = {} if lam is None else {"lam": lam}
            found = [set(chart.spans(chart.argmax(objective, **options).tree).items()) for chart in at]
            matched = sum(len(a & b) for a, b in zip(right, found, strict=True))
            total = sum(map(len, right)) + sum(map(len, found))
            settings.append(ChartSetting(temperature, objective, lam, 2 * matched / total if total else math.nan))
    best = max(settings, key=lambda setting: -math.inf if math.isnan(setting.f1) else setting.f1)
    at = [chart.with_temperature(best.temperature) for chart in given]
    bins, error = calibration(at, gold)
    loss = -math.fsum(chart.log_probability(tree) for chart, tree in zip(at, gold, strict=True)) / len(at)
    ordered = tuple(sorted(settings, key=lambda setting: -setting.f1))
    return TuningResult(best, ordered, bins, error, loss)


def _check_charts(charts: Sequence[SpanChart], gold: Sequence[Tree]) -> None:
    """Refuse charts and gold trees that do not fit each other, and charts of posteriors."""
    if len(charts) != len(gold) or not charts:
        raise MismatchError(
            f"{len(charts)} charts and {len(gold)} gold trees: there must be as many charts as trees, and at least one"
        )
    for number, (chart, tree) in enumerate(zip(charts, gold, strict=True), 1):
        kinds: list[tuple[Any, type]] = [(chart, SpanChart), (tree, Tree)]
        for value, kind in kinds:
            if not isinstance(value, kind):
                raise UsageError(f"sentence {number}: {type(value).__name__} where a {kind.__name__} is needed")
        if len(tree.words) != chart.n:
            raise MismatchError(f"sentence {number}: a chart of {chart.n} words and a gold tree over {len(tree.words)}")
        if chart.kind != "potentials":
            raise UsageError("tuning needs potentials: posteriors have no temperature")


def calibration(charts: Sequence[SpanChart], gold: Sequence[Tree], size: int = BINS) -> tuple[tuple[Reliability, ...], float]:
    """The reliability of the charts' posteriors above 0.01, in ``size`` bins, and the mean distance between posterior and share of
    right ones."""
    posterior: list[float] = []
    right: list[bool] = []
    for chart, tree in zip(charts, gold, strict=True):
        own = set(labelled_spans(tree, tags=chart.tags is not None).items())
        for c in chart.constituents(0.01):
            posterior.append(c.posterior)
            right.append(((c.start, c.end), c.label) in own)
    p, hit = np.array(posterior), np.array(right, np.float64)
    return reliability_bins(p, hit, size)
