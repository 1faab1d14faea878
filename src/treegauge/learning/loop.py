"""Learning a grammar: re-estimation from one or several starts until convergence, which can be resumed after any interruption.

After each iteration the whole state is written to a checkpoint, completely or not at all.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.engines import IN_PROCESS, Engine
from treegauge.errors import UsageError, checked, hinting
from treegauge.grammar.grammar_text import read_text, write_text
from treegauge.grammar.model import save_model
from treegauge.grammar.pcfg import PCFG
from treegauge.io.archive import read_archive, refuse_other_run, refusing_damaged_model, write_archive
from treegauge.learning.reestimation import DenseGrammar, Learnable, ReestimationStep, cut_blocks, learnable, random_grammar, step
from treegauge.learning.sentences import BracketedSentences, trees_to_learn_from
from treegauge.tables import plain

SCHEMA = "treegauge-learning"
VERSION = 1


@dataclass(frozen=True)
class LearningState:
    """The state of learning: the next grammar, the cross entropies of all starts so far, and the best start so far.

    ``histories[r][k]`` is the cross entropy after ``k`` steps of start ``r``; the last history is that of the current start.
    ``best`` is the number of the best finished start (-1 if there is none), ``best_grammar`` its last grammar. ``finished`` tells
    whether the current start is finished too.
    """

    grammar: Learnable
    histories: tuple[tuple[float, ...], ...] = ((),)
    skipped: int = 0
    best: int = -1
    best_grammar: Learnable | None = None
    finished: bool = False

    def finish(self, grammar: Learnable) -> LearningState:
        """The state when the current start is finished with this grammar, which may be the best."""
        is_best = self.best < 0 or self.histories[-1][-1] < self.histories[self.best][-1]
        state = replace(self, best=len(self.histories) - 1, best_grammar=grammar) if is_best else self
        return replace(state, finished=True)


def save_state(path: str | Path, state: LearningState, settings: Mapping[str, Any]) -> None:
    """Write a state and the settings it belongs to."""
    arrays: dict[str, NDArray[Any]] = {}
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "version": VERSION,
        "settings": dict(settings),
        "histories": [plain(list(history)) for history in state.histories],
        "skipped": state.skipped,
        "best": state.best,
        "finished": state.finished,
        "grammar": pack_grammar(state.grammar, "grammar", arrays),
        "best_grammar": pack_grammar(state.best_grammar, "best", arrays),
    }
    write_archive(path, document, arrays)


def load_state(path: str | Path, settings: Mapping[str, Any]) -> LearningState:
    """The state in a file; a :class:`~treegauge.errors.UsageError` if it belongs to other settings."""
    if not os.path.exists(path):
        raise UsageError(f"{path}: no checkpoint there to resume from; start without resume=True")
    document, arrays = read_archive(path, SCHEMA, VERSION)
    with refusing_damaged_model(path):
        found = dict[str, Any](document["settings"])
    refuse_other_run(path, found, settings, "sentences")
    with refusing_damaged_model(path):
        grammar = unpack_grammar(document["grammar"], "grammar", arrays)
        if grammar is None:
            raise ValueError("no grammar")
        return LearningState(
            grammar,
            tuple(tuple(math.inf if x is None else float(x) for x in history) for history in document["histories"]),
            int(document["skipped"]),
            int(document["best"]),
            unpack_grammar(document["best_grammar"], "best", arrays),
            bool(document["finished"]),
        )


def pack_grammar(grammar: Learnable | None, name: str, arrays: dict[str, NDArray[Any]]) -> Any:
    """A grammar as JSON data; its arrays are added to ``arrays`` under names that begin with ``name``."""
    if isinstance(grammar, DenseGrammar):
        arrays[f"{name}_binary"], arrays[f"{name}_lexical"] = grammar.binary, grammar.lexical
        return {"symbols": grammar.symbols, "terminals": grammar.terminals, "labels": dict(grammar.labels)}
    return None if grammar is None else {"rules": write_text(grammar), "labels": dict(grammar.labels)}


def unpack_grammar(packed: Any, name: str, arrays: Mapping[str, NDArray[Any]]) -> Learnable | None:
    """The grammar that :func:`pack_grammar` has packed."""
    if packed is None:
        return None
    if "rules" in packed:
        rules = read_text(packed["rules"])
        return PCFG(rules.rules, rules.start, dict(packed["labels"]))
    symbols, terminals = tuple(map(str, packed["symbols"])), tuple(map(str, packed["terminals"]))
    binary, lexical = (arrays[f"{name}_{part}"].astype(np.float64) for part in ("binary", "lexical"))
    if binary.shape != (len(symbols),) * 3 or lexical.shape != (len(terminals), len(symbols)):
        raise ValueError("arrays of the wrong shape")
    return DenseGrammar(symbols, terminals, binary, lexical, dict(packed["labels"]))


@dataclass(frozen=True)
class LearningSettings:
    """The options of learning.

    * ``nonterminals``: the number of symbols of a random start, which has all rules in Chomsky normal form over them.
    * ``seed``: start ``r`` draws from ``numpy.random.default_rng([seed, r])``.
    * ``iterations``: the most steps from one start; ``tolerance``: stop when a step lowers the cross entropy by less
      than this many bits per word.
    * ``restarts``: the number of random starts; the one with the lowest final cross entropy is kept.
    * ``jobs``: the number of threads, by default one per processor; it does not change the result.
    * ``device``: count with torch on this device (``cuda`` or ``cpu``) and not with the kernels; the result differs by rounding.
    """

    nonterminals: int = 15
    seed: int = 1
    iterations: int = 100
    tolerance: float = 1e-4
    restarts: int = 1
    jobs: int | None = None
    device: str | None = None

    def __post_init__(self) -> None:
        for name, least in (("nonterminals", 1), ("seed", 0), ("iterations", 0), ("restarts", 1), ("tolerance", 0)):
            if not getattr(self, name) >= least:
                raise UsageError(f"{name} must be at least {least}, not {getattr(self, name)}")


class Iteration(NamedTuple):
    """The progress after one iteration: start and step, counted from 0, bits per word, and number of sentences without a parse."""

    start: int
    step: int
    cross_entropy: float
    skipped: int


@hinting
@dataclass(frozen=True)
class LearningResult:
    """The best grammar, and how it was learned: ``histories[r][k]`` is the cross entropy after ``k`` steps of start ``r``, ``best``
    is the start that the grammar comes from, ``skipped`` the number of sentences without a parse."""

    learned: Learnable
    histories: tuple[tuple[float, ...], ...] = field(repr=False)
    best: int
    skipped: int

    @property
    def cross_entropy(self) -> float:
        """The cross entropy of the grammar, in bits per word."""
        return self.histories[self.best][-1]

    def grammar(self, *, threshold: float = 0.0) -> PCFG:
        """The grammar as a PCFG; rules less probable than ``threshold`` are left out, and the others are scaled."""
        if isinstance(self.learned, DenseGrammar):
            return self.learned.to_pcfg(threshold=threshold)
        rules = [rule for rule in self.learned.rules if rule.probability >= threshold]
        return PCFG.from_rules(rules, start=self.learned.start, renormalise=threshold > 0, labels=self.learned.labels)

    def save(self, path: str | Path, *, terminals: str = "tags") -> None:
        """Write the grammar to a model file; ``terminals`` as in :func:`learn`."""
        save_model(self.grammar(), path, notes={"terminals": terminals})


def _check(sentences: BracketedSentences, settings: LearningSettings, start: PCFG | None) -> None:
    if start is not None and settings.restarts > 1:
        raise UsageError("with a given grammar there is only one start: several starts need random grammars")
    if not len(sentences):
        raise UsageError("no sentences to learn from")


@checked(LearningSettings)
def learn(
    sentences: object,
    settings: LearningSettings | None = None,
    *,
    start: PCFG | None = None,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    on_iteration: Callable[[Iteration], None] = lambda _: None,
    engine: Engine = IN_PROCESS,
    terminals: str = "tags",
    max_length: int | None = None,
    ignore_brackets: bool = False,
    **options: Any,
) -> LearningResult:
    """Learn a grammar from bracketed sentences, from random starts or from a given one (Pereira & Schabes 1992).

    The sentences are :class:`BracketedSentences`, or the tags and brackets of trees in any form that :func:`treegauge.as_treebank`
    accepts: a path, a Treebank, trees. Of trees, ``terminals`` may be "words", and ``max_length`` leaves out longer sentences;
    ``ignore_brackets`` is plain inside-outside. Further ``options`` are those of :class:`LearningSettings`.

    The state is written to ``checkpoint`` before ``on_iteration`` is called; ``resume`` continues from there, to the same result as
    without the interruption. On an ``engine`` with workers, each of several starts is a shard; of a single start, each step is
    divided into groups of sentences.

    >>> from treegauge.learning import read_brackets
    >>> sentences = read_brackets("((DT NN) (VBD (DT NN)))\\n(PRP (VBD (DT NN)))")
    >>> learned = learn(sentences, nonterminals=3, iterations=30)
    >>> learned.histories[0][0] > learned.cross_entropy
    True
    """
    settings = replace(settings or LearningSettings(), **options)
    if not isinstance(sentences, BracketedSentences):
        sentences = BracketedSentences.from_treebank(trees_to_learn_from(sentences), terminals=terminals, longest=max_length)
    sentences = sentences.without_brackets() if ignore_brackets else sentences
    _check(sentences, settings, start)
    fingerprint = _fingerprint(sentences, settings, start)
    if resume:
        if checkpoint is None:
            raise UsageError("resuming needs a checkpoint")
        state = load_state(checkpoint, fingerprint)
    else:
        state = LearningState(_start(sentences, settings, start, 0))

    def report(state: LearningState) -> None:
        if checkpoint is not None:
            save_state(checkpoint, state, fingerprint)
        history = state.histories[-1]
        on_iteration(Iteration(len(state.histories) - 1, len(history) - 1, history[-1], state.skipped))

    if settings.restarts > 1 and not engine.in_process:
        # A start that an interrupted run had not finished is run again.
        state = state if state.finished else replace(state, histories=state.histories[:-1])
        numbers = range(len(state.histories), settings.restarts)
        for made in engine.map(learn_start, (sentences, settings), numbers, title="learning"):
            histories = (*state.histories, *made.histories)
            state = replace(state, grammar=made.grammar, histories=histories, skipped=made.skipped).finish(made.grammar)
            report(state)
        return _result(state)
    prepared = cut_blocks(sentences)
    take = partial(step, prepared=prepared, threads=settings.jobs, engine=engine, device=settings.device)
    while True:
        for reached in _steps(state, settings, take):
            state = reached
            report(state)
        if len(state.histories) >= settings.restarts:
            return _result(state)
        following = _start(sentences, settings, start, len(state.histories))
        state = replace(state, grammar=following, histories=(*state.histories, ()), finished=False)


def learn_start(task: tuple[BracketedSentences, LearningSettings], number: int) -> LearningState:
    """Learn from one random start to its end."""
    sentences, settings = task
    take = partial(step, prepared=cut_blocks(sentences), threads=settings.jobs or 1, device=settings.device)
    (last,) = deque(_steps(LearningState(_start(sentences, settings, None, number)), settings, take), maxlen=1)
    return last


def _result(state: LearningState) -> LearningResult:
    assert state.best_grammar is not None
    return LearningResult(state.best_grammar, state.histories, state.best, state.skipped)


def _steps(
    state: LearningState, settings: LearningSettings, take: Callable[[Learnable], ReestimationStep]
) -> Iterator[LearningState]:
    """The states after each further step of the current start, up to the one in which it is finished."""
    if state.finished and len(state.histories) == 1 and not _is_over(state.histories[0], settings):
        # More iterations are allowed now than when the start was finished: go on from the last grammar.
        state = replace(state, histories=(state.histories[0][:-1],), best=-1, best_grammar=None, finished=False)
    while not state.finished:
        made = take(state.grammar)
        history = (*state.histories[-1], made.cross_entropy)
        state = replace(state, histories=(*state.histories[:-1], history), skipped=made.skipped)
        state = state.finish(made.grammar) if _is_over(history, settings) else replace(state, grammar=made.better)
        yield state


def _is_over(history: tuple[float, ...], settings: LearningSettings) -> bool:
    taken = len(history) - 1
    if history[-1] == math.inf:
        return True
    return taken >= settings.iterations or (taken > 0 and history[-2] - history[-1] < settings.tolerance)


def _start(sentences: BracketedSentences, settings: LearningSettings, given: PCFG | None, number: int) -> Learnable:
    if given is not None:
        return learnable(given)
    return random_grammar(settings.nonterminals, sentences.terminals, [settings.seed, number])


def _fingerprint(sentences: BracketedSentences, settings: LearningSettings, start: PCFG | None) -> dict[str, Any]:
    """Everything that decides the result. A single start may be resumed with more iterations, so these are left out for it."""
    text = None if start is None else write_text(start)
    decides: dict[str, Any] = {
        "sentences": sentences.sha256(),
        "start": None if text is None else hashlib.sha256(text.encode()).hexdigest(),
        "starts": settings.restarts,
    }
    if start is None:
        decides |= {"nonterminals": settings.nonterminals, "seed": settings.seed}
    if settings.restarts > 1:
        decides |= {"iterations": settings.iterations, "tolerance": settings.tolerance}
    return decides
