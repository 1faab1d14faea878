"""Training of latent-variable models: settings are chosen on held-out trees, then several grammars are trained on all trees.

Grammars differ by the seed of their splits and by their first subcategories (:mod:`treegauge.learning.latent.treebank_em`); parsing
averages their posteriors (Petrov 2010). Threads train several grammars in parallel, or share one grammar; neither changes the
result. A checkpoint is a folder with the state of each grammar after its last iteration and the settings that were chosen; files
are written atomically, so a run that was killed at any moment can be resumed.

The settings are the number of rounds, the smoothing, lam, and the pruning. Ten stretches of neighbouring trees are held out,
grammars are trained on the rest, and the settings with the best F1 on the held-out trees are chosen. Differences too small for a
few hundred sentences count as ties, which go to the cheaper pruning, but to more rounds: a mean of several grammars gains from
rounds that a single grammar does not gain from.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import TreegaugeError, UsageError
from treegauge.grammar.latent.latent_grammar import LatentCounts, LatentSmoothing, LexiconSmoothing
from treegauge.grammar.latent.latent_model import Hierarchy, LatentModel, ParseSettings, as_stored, settings_document, settings_from
from treegauge.grammar.latent.rule_rows import RuleRows
from treegauge.grammar.training_sentences import STEPS, sentence_hashes, without_traces
from treegauge.io.checkpoints import CheckpointFolder
from treegauge.learning.latent.treebank_em import (
    SCHEDULE,
    Schedule,
    TrainingState,
    TreebankArrays,
    initial_state,
    training_steps,
    treebank_arrays,
)
from treegauge.parsing.confidence import F1Calibration, calibration_from_notes
from treegauge.parsing.latent.latent_forest import LatentForest
from treegauge.parsing.latent.latent_parser import LatentParser
from treegauge.scoring.evaluation import evaluator
from treegauge.tables import number_of
from treegauge.trees.tree import Tree

SHARE = 0.08
MOST_SENTENCES = 600
MOST_WORDS = 60
FEW_SENTENCES = 20
LAMS = (0.3, 0.35, 0.4, 0.45, 0.5)
SMOOTHINGS = ((0.05, 0.3), (0.01, 0.1), (0.1, 0.5))
"""Weights of the mean over subcategories, for rules and for words."""
PRUNINGS = ((1e-4, 1e-4, 1e-5), (1e-4, 1e-3, 1e-4))
"""Thresholds of the base pass, of subcategories and of edges; the slowest setting first."""
TIE = 0.0005
"""The loss of F1 that is accepted for cheaper pruning."""
ROUNDS_TIE = 0.002
"""The loss of F1 that is accepted for more rounds."""
CLEARLY = 0.01
"""If fewer rounds lose more F1 than this, still fewer are not tried."""


class Trial(NamedTuple):
    """A setting, its F1 on the held-out trees with the best lam, and that lam."""

    what: str
    f1: float
    lam: float


class TunedTraining(NamedTuple):
    """The number of rounds and the settings that were chosen, all trials, and the calibration of expected F1 on the held-out
    trees."""

    rounds: int
    settings: ParseSettings
    tried: tuple[Trial, ...]
    calibration: F1Calibration | None = None


def hold_out(trees: Sequence[Tree]) -> tuple[list[Tree], list[Tree]]:
    """The trees to train on, and the held-out trees: the ends of ten stretches, a larger share if there are few trees.

    >>> rest, held = hold_out([Tree("A", ["a"])] * 5000)
    >>> len(rest), len(held)
    (4600, 400)
    """
    share = max(SHARE, min(0.25, 100 / max(1, len(trees))))
    rest: list[Tree] = []
    held: list[Tree] = []
    for part in range(10):
        low, high = len(trees) * part // 10, len(trees) * (part + 1) // 10
        cut = high - round((high - low) * share)
        rest += trees[low:cut]
        held += trees[cut:high]
    return rest, held


def middle_levels(rounds: int) -> tuple[int, ...]:
    """The levels of the hierarchy that parsing goes through before the finest."""
    return (2,) if rounds >= 4 else (1,) if rounds == 3 else ()


def choose_settings(
    arrays: TreebankArrays,
    grammars: Sequence[Mapping[int, Hierarchy]],
    held: Sequence[Tree],
    *,
    jobs: int = 1,
    on_try: Callable[[Trial], None] = lambda _: None,
) -> TunedTraining:
    """Choose settings by their F1 on held-out trees; ``grammars[g][r]`` is grammar g after r rounds.

    ``on_try`` is called after each trial.
    """
    gold = _gold(held)
    tried: list[Trial] = []

    def attempt(what: str, rounds: int, settings: ParseSettings) -> Trial:
        parts = tuple(each[rounds] for each in grammars)[: 1 if rounds == 0 else None]
        model = LatentModel(arrays.base, arrays.table, parts, settings)
        made = Trial(what, *_best_lam(model, gold, jobs))
        tried.append(made)
        on_try(made)
        return made

    by_rounds: dict[int, Trial] = {}
    for rounds in sorted(grammars[0], reverse=True):
        made = attempt(number_of(rounds, "round"), rounds, ParseSettings(levels=middle_levels(rounds)))
        by_rounds[rounds] = made
        if made.f1 < max(each.f1 for each in by_rounds.values()) - CLEARLY:
            break
    best = max(each.f1 for each in by_rounds.values())
    rounds = max(r for r, each in by_rounds.items() if each.f1 >= best - ROUNDS_TIE)
    settings, best_try = ParseSettings(levels=middle_levels(rounds)), by_rounds[rounds]
    for rules, flat in SMOOTHINGS[1:]:
        smoothing = LatentSmoothing(rules, LexiconSmoothing(flat=flat))
        made = attempt(f"smoothing {rules:g} of rules, {flat:g} of words", rounds, settings._replace(smoothing=smoothing))
        if made.f1 > best_try.f1:
            best_try, settings = made, settings._replace(smoothing=smoothing)
    for base, subcategory, edge in PRUNINGS[1:]:
        pruned = settings._replace(base=base, subcategory=subcategory, edge=edge)
        made = attempt(f"pruning {base:g} {subcategory:g} {edge:g}", rounds, pruned)
        if made.f1 >= best_try.f1 - TIE:
            settings, best_try = pruned, made
    settings = settings._replace(lam=best_try.lam)
    model = LatentModel(arrays.base, arrays.table, tuple(each[rounds] for each in grammars)[: 1 if rounds == 0 else None], settings)
    return TunedTraining(rounds, settings, tuple(tried), LatentParser(model).fit_calibration(gold, jobs))


def _gold(held: Sequence[Tree]) -> list[Tree]:
    """At most :data:`MOST_SENTENCES` of the trees, evenly spread, without traces and long sentences; the shortest if all are
    long."""
    whole = without_traces(held)
    made = [tree for tree in whole if tree.width <= MOST_WORDS] or sorted(whole, key=lambda tree: tree.width)[:FEW_SENTENCES]
    return made[:: max(1, -(-len(made) // MOST_SENTENCES))]


def _best_lam(model: LatentModel, gold: Sequence[Tree], jobs: int) -> tuple[float, float]:
    """The best F1 of labelled-precision-recall over lam, and that lam; 0 and the default lam if the trees have no brackets."""

    def decode(tree: Tree) -> list[Tree]:
        try:
            forest = LatentForest(model, tree.words)
            if forest.has_parse:
                return [forest.argmax("labelled-precision-recall", lam=lam).tree for lam in LAMS]
        except TreegaugeError:
            pass
        return [Tree("")] * len(LAMS)

    with ThreadPoolExecutor(max(1, jobs)) as pool:
        trees = list(pool.map(decode, gold))
    metric = evaluator("parseval")
    scores = [metric.compute(predictions=[each[i] for each in trees], references=list(gold))["f1"] for i in range(len(LAMS))]
    best = max(range(len(LAMS)), key=lambda i: scores[i])
    return (0.0, ParseSettings().lam) if any(map(math.isnan, scores)) else (scores[best], LAMS[best])


def as_document(chosen: TunedTraining) -> dict[str, Any]:
    """The choice as plain data for JSON."""
    plain = {"rounds": chosen.rounds, "settings": settings_document(chosen.settings), "tried": [list(t) for t in chosen.tried]}
    return {**plain, "calibration": chosen.calibration}


def from_document(document: Mapping[str, Any]) -> TunedTraining:
    """The inverse of :func:`as_document`."""
    tried = tuple(Trial(*each) for each in document["tried"])
    return TunedTraining(int(document["rounds"]), settings_from(document["settings"]), tried, calibration_from_notes(document))


class Checkpoints(CheckpointFolder):
    """The checkpoint folder of one run, with the state of each grammar."""

    def save(self, name: str, state: TrainingState, history: list[list[float]]) -> None:
        """Save the state of a grammar, and its log likelihoods so far, one list per round."""
        self.write_state(name, {"round": state.round, "iteration": state.iteration, "history": history}, _arrays(state))

    def load(self, name: str) -> tuple[TrainingState, list[list[float]]] | None:
        """The state and log likelihoods saved under a name, if any."""
        return self.read_state(name, _state_and_history)


def _state_and_history(document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> tuple[TrainingState, list[list[float]]]:
    """The inverse of :meth:`Checkpoints.save`."""
    up = tuple(arrays[f"up{r}"] for r in range(sum(key.startswith("up") for key in arrays)))
    counts = LatentCounts(arrays["sizes"], _rows(arrays, "binary"), _rows(arrays, "unary"), arrays["root"], arrays["pair"])
    history = [list(map(float, each)) for each in document["history"]]
    return TrainingState(int(document["round"]), int(document["iteration"]), counts, up), history


def _arrays(state: TrainingState) -> dict[str, NDArray[Any]]:
    counts = state.counts
    arrays: dict[str, NDArray[Any]] = {"sizes": counts.sizes, "root": counts.root, "pair": counts.pair}
    for side, rows in (("binary", counts.binary), ("unary", counts.unary)):
        arrays |= {f"{side}_{field}": np.asarray(value) for field, value in rows._asdict().items()}
    return arrays | {f"up{r}": up for r, up in enumerate(state.up)}


def _rows(arrays: Mapping[str, NDArray[Any]], side: str) -> RuleRows:
    first, left, right, offset, value = (arrays[f"{side}_{name}"] for name in RuleRows._fields)
    return RuleRows(first, left, right, offset, value)


FEWEST_TO_TUNE = 40
"""With fewer trees no settings are chosen on held-out trees, and there is one round by default."""

MOST_ROUNDS = 10
"""The most rounds. A label can then have 1,024 subcategories, far more than any treebank can distinguish."""

STARTS = (("phrases", "tags"), ("phrases", "inner"), ("tags",), ("phrases",), ("phrases", "tags", "inner"), ())
"""The contexts by which the first, second, ... grammar gets its first subcategories; the list is repeated as needed."""


@dataclass(frozen=True)
class TrainingSettings:
    """Settings of training.

    * ``grammars``: the number of grammars, which have the seeds (``seed``, 0), (``seed``, 1), ...
    * ``rounds``: the number of times that subcategories are split; ``None`` chooses it on held-out trees, up to ``most_rounds``.
    * ``tuning_grammars``: the number of grammars with which settings are chosen (at most ``grammars``); 0 keeps the defaults.
    * ``starts``: the contexts by which each grammar gets its first subcategories, repeated as needed; ``()`` for random splits.
    * ``jobs``: the number of threads, which does not change the result.
    """

    grammars: int = 6
    rounds: int | None = None
    most_rounds: int = 5
    tuning_grammars: int = 4
    seed: int = 1
    jobs: int = 1
    schedule: Schedule = field(default=SCHEDULE, repr=False)
    starts: tuple[tuple[str, ...], ...] = field(default=STARTS, repr=False)

    def __post_init__(self) -> None:
        for name, least in (("grammars", 1), ("most_rounds", 0), ("tuning_grammars", 0), ("seed", 0), ("jobs", 1)):
            if not getattr(self, name) >= least:
                raise UsageError(f"{name} must be at least {least}, not {getattr(self, name)}")
        if not 0 <= (self.most_rounds if self.rounds is None else self.rounds) <= MOST_ROUNDS:
            raise UsageError(f"rounds must be at least 0 and at most {MOST_ROUNDS}, not {self.rounds}")

    @property
    def plan(self) -> dict[str, Any]:
        """The settings that determine the result, as plain data."""
        schedule = [*self.schedule[:-1], self.schedule.smoothing.rules, *self.schedule.smoothing.lexicon]
        numbers = {name: getattr(self, name) for name in ("grammars", "rounds", "most_rounds", "tuning_grammars", "seed")}
        return {**numbers, "schedule": schedule, "starts": [list(start) for start in self.starts]}

    def start(self, number: int) -> tuple[str, ...]:
        """The contexts by which a grammar gets its first subcategories."""
        return self.starts[number % len(self.starts)] if self.starts else ()


QUICK = TrainingSettings(grammars=2, tuning_grammars=2)
"""Settings that take a third of the time and give somewhat lower accuracy."""


class IterationReport(NamedTuple):
    """A report after an iteration: the grammar's name (such as ``tuning-1`` or ``grammar-1``), its round, the iteration within the
    round, the log likelihood, and the fraction of all work that is done."""

    name: str
    round: int
    iteration: int
    log_likelihood: float
    done: float


def train_latent(
    trees: Sequence[Tree],
    settings: TrainingSettings | None = None,
    *,
    trained_on: str = "",
    steps: str = STEPS,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    on_iteration: Callable[[IterationReport], None] = lambda _: None,
    on_try: Callable[[Trial], None] = lambda _: None,
    save: Callable[[LatentModel], None] = lambda _: None,
) -> LatentModel:
    """Train a model on trees, after normalising them by ``steps``.

    The state is written to the folder ``checkpoint`` before each call of ``on_iteration``; ``resume`` continues from it and gives
    the same model as an uninterrupted run. The folder is removed at the end, after ``save`` was called with the model. ``on_try``
    is called after each trial on held-out trees. ``trained_on`` identifies the trees (default: their SHA-256).
    """
    settings = settings or TrainingSettings()
    if not trees:
        raise UsageError("there are no trees to train on")
    digest = trained_on or hashlib.sha256("\n".join(map(str, trees)).encode()).hexdigest()
    checkpoints = Checkpoints(checkpoint, {**settings.plan, "trees": digest}, resume=resume)
    run = _TrainingRun(settings, len(trees), on_iteration, checkpoints)
    chosen = _choose_settings(trees, steps, run, on_try)
    arrays = treebank_arrays(trees, steps)
    made = run.train(arrays, "grammar", settings.grammars if chosen.rounds else 1, chosen.rounds, settings.seed)
    grammars = tuple(as_stored(each[chosen.rounds], arrays.base, arrays.table) for each in made)
    notes = {
        "method": "latent-variable grammar by split-merge EM (Matsuzaki et al. 2005; Petrov et al. 2006)",
        "steps": steps,
        "trees": arrays.nodes.n_trees,
        "seed": settings.seed,
        "rounds": chosen.rounds,
        "tried": [list(each) for each in chosen.tried],
        "calibration": chosen.calibration,
        "log_likelihood": [run.history.get(f"grammar-{number + 1}", []) for number in range(settings.grammars)],
    }
    model = LatentModel(arrays.base, arrays.table, grammars, chosen.settings, digest, notes, sentence_hashes(trees))
    save(model)
    checkpoints.remove()
    return model


def _choose_settings(trees: Sequence[Tree], steps: str, run: _TrainingRun, on_try: Callable[[Trial], None]) -> TunedTraining:
    """The settings for these trees: chosen on held-out trees, read from the checkpoint, or the defaults if nothing is chosen."""
    settings = run.settings
    if not settings.tuning_grammars or len(trees) < FEWEST_TO_TUNE:
        rounds = settings.rounds if settings.rounds is not None else settings.most_rounds if len(trees) >= FEWEST_TO_TUNE else 1
        return TunedTraining(rounds, ParseSettings(levels=middle_levels(rounds)), ())
    known = run.checkpoints.load_choice(from_document)
    if known is not None:
        return known
    rest, held = hold_out(trees)
    arrays = treebank_arrays(rest, steps)
    rounds = settings.most_rounds if settings.rounds is None else settings.rounds
    made = run.train(arrays, "tuning", min(settings.tuning_grammars, settings.grammars), rounds, settings.seed + 1)
    if settings.rounds is not None:
        made = [{rounds: each[rounds]} for each in made]
    chosen = choose_settings(arrays, made, held, jobs=settings.jobs, on_try=on_try)
    run.checkpoints.save_choice(as_document(chosen))
    return chosen


class _TrainingRun:
    """The training of several grammars, with its checkpoints and progress."""

    def __init__(
        self, settings: TrainingSettings, n_trees: int, on_iteration: Callable[[IterationReport], None], checkpoints: Checkpoints
    ) -> None:
        self.settings, self.on_iteration, self.checkpoints = settings, on_iteration, checkpoints
        self.history: dict[str, list[list[float]]] = {}
        self._effort: dict[str, float] = {}
        tuned = min(settings.tuning_grammars, settings.grammars) if n_trees >= FEWEST_TO_TUNE else 0
        rounds = settings.most_rounds if settings.rounds is None else settings.rounds
        self._whole = _effort_up_to(rounds) * (settings.grammars + tuned)

    def train(self, arrays: TreebankArrays, kind: str, count: int, rounds: int, seed: int) -> list[dict[int, Hierarchy]]:
        """Train grammars; return for each its hierarchy after each round."""
        if kind == "grammar":  # the number of rounds is known now
            self._whole = sum(self._effort.values()) + _effort_up_to(rounds) * count
        side_by_side = max(1, min(count, self.settings.jobs))
        threads = max(1, self.settings.jobs // side_by_side)
        stop = Event()

        def one(number: int) -> dict[int, Hierarchy]:
            try:
                return self._grammar(arrays, f"{kind}-{number + 1}", rounds, (seed, number), threads, stop)
            except BaseException:
                stop.set()
                raise

        if side_by_side == 1:
            return [one(number) for number in range(count)]
        with ThreadPoolExecutor(side_by_side) as pool:
            try:
                return list(pool.map(one, range(count)))
            except BaseException:
                stop.set()
                raise

    def _grammar(
        self, arrays: TreebankArrays, name: str, rounds: int, seed: tuple[int, ...], threads: int, stop: Event
    ) -> dict[int, Hierarchy]:
        """Train one grammar from its checkpoint, or from the start; return its hierarchy after each round."""
        state, history = self.checkpoints.load(name) or (initial_state(arrays), list[list[float]]())
        made = {0: Hierarchy(initial_state(arrays).counts, ())} | self._complete(name, state)
        schedule, contexts = self.settings.schedule, self.settings.start(seed[-1])
        iterations = schedule.after_split + schedule.after_merge + schedule.smoothed
        for step in training_steps(arrays, state, rounds, seed, schedule, threads, contexts=contexts):
            if stop.is_set():
                break
            state = step.state
            if len(history) < state.round:
                history.append([])
            history[-1].append(step.log_likelihood)
            if step.complete:
                made[state.round] = Hierarchy(state.counts, state.up)
                self.checkpoints.save(f"{name}-round-{state.round}", state, history)
            self.checkpoints.save(name, state, history)
            before = _effort_up_to(state.round - 1)
            self._effort[name] = before + (_effort_up_to(state.round) - before) * state.iteration / iterations
            done = min(1.0, sum(list(self._effort.values())) / max(self._whole, 1e-9))
            self.on_iteration(IterationReport(name, state.round, state.iteration, step.log_likelihood, done))
        self.history[name] = history
        return made

    def _complete(self, name: str, state: TrainingState) -> dict[int, Hierarchy]:
        """The hierarchies of the rounds that were complete before an interruption."""
        found = {r: self.checkpoints.load(f"{name}-round-{r}") for r in range(1, state.round + 1)}
        return {r: Hierarchy(each[0].counts, each[0].up) for r, each in found.items() if each is not None}


def _effort_up_to(rounds: int) -> float:
    """The time that so many rounds take, relative to the first."""
    return sum(1.7**number for number in range(rounds))
