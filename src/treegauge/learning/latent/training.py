"""Train a latent-variable model: settings chosen on a slice of the trees, then several grammars on all of them.

Grammars differ by the seed of their splits, and by the subcategories that they begin with
(:mod:`treegauge.learning.latent.split_merge`); their posteriors are averaged (Petrov 2010). Grammars are trained side by side by
threads, or several threads share one: neither changes the result. After every iteration a checkpoint is written.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

from treegauge.errors import UsageError
from treegauge.grammar.latent.model import Hierarchy, LatentModel, ParseSettings, as_stored
from treegauge.learning.latent.checkpoints import Checkpoints
from treegauge.learning.latent.split_merge import SCHEDULE, Schedule, State, begin, training_steps
from treegauge.learning.latent.treebank import STEPS, TreebankArrays, treebank_arrays
from treegauge.learning.latent.tuning import Trial, TunedTraining, as_document, choose, from_document, hold_out, middle_levels
from treegauge.trees.tree import Tree

__all__ = ["MOST_ROUNDS", "QUICK", "IterationReport", "TrainingSettings", "train_latent"]

FEWEST_TO_TUNE = 40
"""With fewer trees nothing is held out, and one round is done."""

MOST_ROUNDS = 10
"""The most rounds: a label may have 1,024 subcategories then, far more than any treebank tells apart."""

STARTS = (("phrases", "tags"), ("phrases", "inner"), ("tags",), ("phrases",), ("phrases", "tags", "inner"), ())
"""The contexts that the first, the second ... grammar begins with; then these again."""


@dataclass(frozen=True)
class TrainingSettings:
    """Settings of training.

    * ``grammars``: how many, with the seeds (``seed``, 0), (``seed``, 1) ...
    * ``rounds``: how many times subcategories are split; ``None``: up to ``most_rounds``, chosen on held-out trees.
    * ``tuning_grammars``: how many grammars settings are chosen with (at most ``grammars``); 0 chooses nothing.
    * ``starts``: the contexts that grammars begin with, one after the other and then again; ``()`` for none.
    * ``jobs``: threads; does not change the result.
    """

    grammars: int = 6
    rounds: int | None = None
    most_rounds: int = 5
    tuning_grammars: int = 4
    seed: int = 1
    jobs: int = 1
    schedule: Schedule = SCHEDULE
    starts: tuple[tuple[str, ...], ...] = STARTS

    def __post_init__(self) -> None:
        for name, least in (("grammars", 1), ("most_rounds", 0), ("tuning_grammars", 0), ("seed", 0), ("jobs", 1)):
            if not getattr(self, name) >= least:
                raise UsageError(f"{name} must be at least {least}, not {getattr(self, name)}")
        if not 0 <= (self.most_rounds if self.rounds is None else self.rounds) <= MOST_ROUNDS:
            raise UsageError(f"rounds must be at least 0 and at most {MOST_ROUNDS}, not {self.rounds}")

    @property
    def plan(self) -> dict[str, Any]:
        """All that decides the result, as plain data."""
        schedule = [*self.schedule[:-1], self.schedule.smoothing.rules, *self.schedule.smoothing.lexicon]
        return {
            "grammars": self.grammars,
            "rounds": self.rounds,
            "most_rounds": self.most_rounds,
            "tuning_grammars": self.tuning_grammars,
            "seed": self.seed,
            "schedule": schedule,
            "starts": [list(start) for start in self.starts],
        }

    def start(self, number: int) -> tuple[str, ...]:
        """The contexts that a grammar begins with."""
        return self.starts[number % len(self.starts)] if self.starts else ()


QUICK = TrainingSettings(grammars=2, tuning_grammars=2)
"""A third of the time, for somewhat less accuracy."""


class IterationReport(NamedTuple):
    """A report after an iteration: which grammar (``tuning-1`` or ``grammar-1``), its round, the iteration in the round, the
    log likelihood, and how much of all the work is done (from 0 to 1)."""

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
    checkpoint: str | Path | None = None,
    resume: bool = False,
    on_iteration: Callable[[IterationReport], None] = lambda _: None,
    on_try: Callable[[Trial], None] = lambda _: None,
    save: Callable[[LatentModel], None] = lambda _: None,
) -> LatentModel:
    """Train a model on trees (:data:`~treegauge.learning.latent.treebank.STEPS` are applied to them).

    The state is written to the folder ``checkpoint`` before ``on_iteration`` hears of it; ``resume`` goes on from there, to the
    same model as without the interruption. The folder is removed at the end, after ``save`` has kept the model.
    """
    settings = settings or TrainingSettings()
    if not trees:
        raise UsageError("there are no trees to train on")
    digest = trained_on or hashlib.sha256("\n".join(map(str, trees)).encode()).hexdigest()
    kept = Checkpoints(checkpoint, {**settings.plan, "trees": digest}, resume=resume)
    work = _Work(settings, len(trees), on_iteration, kept)
    chosen = _tuned(trees, work, on_try)
    arrays = treebank_arrays(trees)
    made = work.train(arrays, "grammar", settings.grammars if chosen.rounds else 1, chosen.rounds, settings.seed)
    grammars = tuple(as_stored(each[chosen.rounds], arrays.base, arrays.table) for each in made)
    notes = {
        "method": "latent-variable grammar by split-merge EM (Matsuzaki et al. 2005; Petrov et al. 2006)",
        "steps": STEPS,
        "trees": arrays.nodes.n_trees,
        "seed": settings.seed,
        "rounds": chosen.rounds,
        "tried": [list(each) for each in chosen.tried],
        "log_likelihood": work.histories("grammar", settings.grammars),
    }
    model = LatentModel(arrays.base, arrays.table, grammars, chosen.settings, digest, notes)
    save(model)
    kept.remove()
    return model


def _tuned(trees: Sequence[Tree], work: _Work, on_try: Callable[[Trial], None]) -> TunedTraining:
    """The settings for these trees: chosen, or chosen before the run was interrupted, or those that were asked for."""
    settings = work.settings
    if not settings.tuning_grammars or len(trees) < FEWEST_TO_TUNE:
        rounds = settings.rounds if settings.rounds is not None else settings.most_rounds if len(trees) >= FEWEST_TO_TUNE else 1
        return TunedTraining(rounds, ParseSettings(levels=middle_levels(rounds)), ())
    known = work.kept.load_choice(from_document)
    if known is not None:
        return known
    rest, held = hold_out(trees)
    arrays = treebank_arrays(rest)
    rounds = settings.most_rounds if settings.rounds is None else settings.rounds
    made = work.train(arrays, "tuning", min(settings.tuning_grammars, settings.grammars), rounds, settings.seed + 1)
    if settings.rounds is not None:
        made = [{rounds: each[rounds]} for each in made]
    chosen = choose(arrays, made, held, jobs=settings.jobs, on_try=on_try)
    work.kept.save_choice(as_document(chosen))
    return chosen


class _Work:
    """The training of several grammars, and how much of it is done."""

    def __init__(
        self, settings: TrainingSettings, n_trees: int, on_iteration: Callable[[IterationReport], None], kept: Checkpoints
    ) -> None:
        self.settings, self.on_iteration, self.kept = settings, on_iteration, kept
        self._history: dict[str, list[list[float]]] = {}
        self._effort: dict[str, float] = {}
        tuned = min(settings.tuning_grammars, settings.grammars) if n_trees >= FEWEST_TO_TUNE else 0
        rounds = settings.most_rounds if settings.rounds is None else settings.rounds
        self._whole = sum(map(_effort, range(1, rounds + 1))) * (settings.grammars + tuned)

    @property
    def _iterations(self) -> int:
        return self.settings.schedule.after_split + self.settings.schedule.after_merge + self.settings.schedule.smoothed

    def train(self, arrays: TreebankArrays, kind: str, count: int, rounds: int, seed: int) -> list[dict[int, Hierarchy]]:
        """Train grammars; for each what it is after each round."""
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
        state, history = self.kept.load(name) or (begin(arrays), list[list[float]]())
        made = {0: Hierarchy(begin(arrays).counts, ())} | self._complete(name, state)
        schedule, contexts = self.settings.schedule, self.settings.start(seed[-1])
        for step in training_steps(arrays, state, rounds, seed, schedule, threads, contexts=contexts):
            if stop.is_set():
                break
            state = step.state
            if len(history) < state.round:
                history.append([])
            history[-1].append(step.log_likelihood)
            if step.complete:
                made[state.round] = Hierarchy(state.counts, state.up)
                self.kept.save(f"{name}-round-{state.round}", state, history)
            self.kept.save(name, state, history)
            self._effort[name] = (
                sum(map(_effort, range(1, state.round))) + _effort(state.round) * state.iteration / self._iterations
            )
            done = min(1.0, sum(list(self._effort.values())) / max(self._whole, 1e-9))
            self.on_iteration(IterationReport(name, state.round, state.iteration, step.log_likelihood, done))
        self._history[name] = history
        return made

    def _complete(self, name: str, state: State) -> dict[int, Hierarchy]:
        """The rounds that were complete before an interruption."""
        found = {r: self.kept.load(f"{name}-round-{r}") for r in range(1, state.round + 1)}
        return {r: Hierarchy(each[0].counts, each[0].up) for r, each in found.items() if each is not None}

    def histories(self, kind: str, count: int) -> list[list[list[float]]]:
        return [self._history.get(f"{kind}-{number + 1}", []) for number in range(count)]


def _effort(number: int) -> float:
    """The time of a round, in times of the first."""
    return 1.7 ** (number - 1)
