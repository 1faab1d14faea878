"""Comparison of systems: every metric and every pair, on all sentences, by length and by structure.

:func:`compare_scores` needs scores only, computed now or read from a file: it tests their rows on the sentences that all systems
share. :func:`compare` scores trees first.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from treegauge import __version__, io
from treegauge.alignment.notes import MISSED
from treegauge.alignment.pairing import Pair
from treegauge.engines import IN_PROCESS, Engine
from treegauge.errors import UnknownName, UsageError, checked
from treegauge.io.reading import holds_gaps
from treegauge.io.sources import ReadOptions
from treegauge.metrics.hogenhout import Judgements
from treegauge.scoring.evaluation import score_systems, warn_of
from treegauge.scoring.inputs import Request, TreebankLike, no_progress, path_of, runs_of, second_system
from treegauge.scoring.paper_table import choose_rates
from treegauge.scoring.result import Result, Scores, runs_by_system
from treegauge.significance.comparison import Comparison, Group, length_title
from treegauge.significance.resampling import PairedColumns, Progress
from treegauge.significance.score_table import CompareOptions, GroupTests, ScoreTable
from treegauge.tables import number_of
from treegauge.trees.tree import Tree
from treegauge.trees.treebank import Int64, Treebank

if TYPE_CHECKING:
    from treegauge.metrics.breakdowns import Breakdown

BY_STRUCTURE = ("recall_hard", "precision_hard")


@checked(CompareOptions, ReadOptions)
def compare(
    gold: TreebankLike,
    systems: Mapping[str, TreebankLike] | Sequence[TreebankLike],
    options: CompareOptions | None = None,
    *,
    metric: str | Sequence[str] = (),
    reading: ReadOptions = ReadOptions(),
    judgements: Mapping[str, Judgements] | None = None,
    progress: Progress = no_progress,
    engine: Engine = IN_PROCESS,
    strict: bool = False,
    **settings: Any,
) -> Comparison:
    """Compare two or more systems on the same treebank, by PARSEVAL unless a ``metric`` is given ("all": by all metrics).

    The options can be given by their names, too: ``compare(gold, systems, metric="parseval", rounds=2000, clusters="by-file")``,
    and so can those for reading, such as ``encoding="latin-1"``. With ``power=True`` and a difference to ``assume``, one system is
    enough.

    ``systems`` are trees by name; in a list, they are named by their files, or "system 1", "system 2" ... Trees may have any form:
    paths, Treebanks, bracketed text, iterables of trees; ``reading`` has the options for reading files. ``judgements`` are a
    person's judgements, by system: with them, all of Hogenhout & Matsumoto's measures are defined, and a rejected exact match is
    not reproduced. ``progress`` is called with the number of rounds done since the last call, of ``options.rounds`` in all.
    ``engine`` is where the rounds run; it does not affect the result.

    Options:

    * ``rates``: names as in ``"recall,f1"``, or "all"; ``metric``: a name, or several in a list; ``preset``: which brackets count.
    * ``clusters``: the documents, whose sentences are resampled together: a file with the name, first and last sentence of each
      document, a label for each sentence, ``by-file``, or ``comment:PATTERN``, a line of gold that begins one.
    * ``power``: how likely such a test set is to show the difference; ``assume``: the difference in points to plan for;
      ``equivalence``: a margin in points for two one-sided tests.
    * ``rounds``, ``seed``: of the random swaps and bootstrap samples; ``level``, ``interval``: of the confidence intervals.
    * ``lengths``, ``cutoff``, ``structure``: also compare sentences by length, up to so many words, and the brackets of labels.
    * ``on_mismatch``, ``match_words``, ``on_error``, ``pair``, ``treebank``, and those for reading: as of :func:`treegauge.score`.

    A system is one set of trees, or several runs: a list of files, or ``"runs:GLOB"``. What looks wrong about the trees is issued
    as one :class:`~treegauge.errors.TreegaugeWarning`; with ``strict``, it is a MismatchError.

    >>> gold = "(S (NP (D a) (N b)) (VP (V c) (NP (D d) (N e))))" * 5
    >>> flat, flatter = "(S (D a) (N b) (VP (V c) (NP (D d) (N e))))" * 5, "(S (D a) (N b) (VP (V c) (D d) (N e)))" * 5
    >>> comparison = compare(gold, {"flatter": flatter, "flat": flat}, metric="parseval", rounds=100)
    >>> round(comparison["recall"].difference, 2), comparison["recall"].p
    (0.25, 0.0625)
    """
    if "metrics" in settings:
        raise UnknownName("argument of compare", "metrics", ["metric"])
    usual = ("parseval",) if judgements is None else ("parseval", "hogenhout")
    options, reading = with_settings("compare", options or CompareOptions(metrics=usual), reading, metric, settings)
    systems = systems_by_name(gold, systems)
    if len(systems) < 2 and not options.power:
        raise UsageError("a comparison needs at least two systems, by name or in a list; one is enough for power=True, assume=0.5")
    scores = comparable_scores(gold, systems, options, reading=reading, judgements=judgements, trees=False)
    warn_of({result.label: (*result.remarks, *_is_copy(result, scores)) for result in scores}, strict=strict)
    return compare_scores(scores, options, progress=progress, engine=engine)


def with_settings(
    function: str, options: CompareOptions, reading: ReadOptions, metric: str | Sequence[str], given: Mapping[str, Any]
) -> tuple[CompareOptions, ReadOptions]:
    """The options of comparing and of reading, with those given by name; an error if a system is in their place."""
    if not isinstance(cast("object", options), CompareOptions):
        raise second_system(function)
    known = {field.name for field in fields(CompareOptions)}
    settings = {name: value for name, value in given.items() if name in known}
    reading = replace(reading, **{name: value for name, value in given.items() if name not in known})
    chosen = replace(options, **settings, **({"metrics": metric} if metric else {}))
    return replace(chosen, metrics=()) if "all" in chosen.metrics else chosen, reading


def systems_by_name(gold: TreebankLike, systems: Mapping[str, TreebankLike] | Sequence[TreebankLike]) -> Mapping[str, TreebankLike]:
    """The systems by name; those in a list are named by their files if these names differ, otherwise by numbers."""
    if isinstance(systems, Mapping):
        return systems
    given, kind = cast("object", systems), type(systems).__name__
    if isinstance(given, (str, os.PathLike, Tree, Treebank)) or not isinstance(given, Sequence):
        raise UsageError(f"{_HOW_TO_NAME}, not {kind}")
    if _is_one_system(gold, systems):
        raise UsageError(f"{_HOW_TO_NAME}; the list that was given holds single trees, so it is one system")
    paths = [path_of(trees) for trees in systems]
    names = [Path(path).stem if path is not None else f"system {number}" for number, path in enumerate(paths, start=1)]
    if len(set(names)) < len(names):
        names = [f"system {number}" for number in range(1, len(names) + 1)]
    return dict(zip(names, systems, strict=True))


_HOW_TO_NAME = "systems are given by name, {'mine': a, 'other': b}, or in a list, [a, b]"


def _is_one_system(gold: TreebankLike, systems: Sequence[TreebankLike]) -> bool:
    """Whether the sequence that should hold systems holds one tree for each of several gold sentences."""
    if not systems or not isinstance(gold, Sequence) or isinstance(gold, str) or len(gold) < 2:
        return False
    trees = [isinstance(item, Tree) or (isinstance(item, str) and path_of(item) is None) for item in systems]
    texts = [item is None or (isinstance(item, str) and not os.path.exists(item)) for item in cast("Sequence[object]", systems)]
    others = all(is_tree or is_text for is_tree, is_text in zip(trees, texts, strict=True))
    return any(trees) and others and (len(systems) == len(gold) or any(isinstance(item, Tree) for item in systems))


def comparable_scores(
    gold: TreebankLike,
    systems: Mapping[str, TreebankLike],
    options: CompareOptions,
    *,
    reading: ReadOptions = ReadOptions(),
    judgements: Mapping[str, Judgements] | None = None,
    trees: bool = True,
    breakdowns: Sequence[str] = (),
    thinned: Callable[[Breakdown, Pair], Breakdown] | None = None,
) -> Scores:
    """The scores that a comparison with these options needs, of each system by each metric, with rows.

    ``trees``, ``breakdowns`` and ``thinned`` are those of :class:`~treegauge.scoring.inputs.Request`.
    """
    if isinstance(options.clusters, str) and options.clusters.startswith("comment:"):
        reading = replace(reading, comment=reading.comment or "#")
    sides = (gold, *(run for given in systems.values() for run in runs_of(given).values()))
    request = Request.of(
        options.scored_metrics(discontinuous=any(holds_gaps(side, reading) for side in sides)),
        options.preset,
        trees=trees,
        places=trees or options.clusters is not None,
        breakdowns=breakdowns,
        thinned=thinned,
        reading=reading,
        **{name: getattr(options, name) for name in ("on_mismatch", "match_words", "on_error", "pair", "treebank")},
    )
    if not judgements:
        return Scores(score_systems(gold, systems, request))
    path = path_of(gold)
    bank = gold if path is not None and os.path.isfile(path) and not trees else io.as_treebank(gold, reading.of_gold)
    results: list[Result] = []
    for system, test in systems.items():
        of_system = judgements.get(system, Judgements())
        judged = replace(request, metrics=tuple(metric.with_judgements(of_system) for metric in request.metrics))
        results += score_systems(bank, {system: test}, judged)
    return Scores(results)


def compare_scores(
    scores: Sequence[Result],
    options: CompareOptions | None = None,
    *,
    progress: Progress = no_progress,
    engine: Engine = IN_PROCESS,
) -> Comparison:
    """The comparison of systems, given their scores with rows; for a single system there are rates and intervals, but no pairs.

    Scores that cannot be compared, because gold trees, options of a metric, presets or sentences differ, raise a
    :class:`~treegauge.errors.MismatchError`. With ``on_mismatch="skip"`` in the options, the sentences that all share are compared.
    """
    options = options or CompareOptions()
    table = ScoreTable(scores, options.metrics, options.structure, options.on_mismatch, options.clusters)
    if options.power and len(table.systems) == 1 and (options.assume is None or len(table.members) > 1):
        raise UsageError("with a single system, give the difference to plan for, assume=0.5, and only one run of the system")
    passes = options.passes(len(table.systems))
    rounds = _Rounds(progress, options.rounds, passes)
    groups = tuple(_groups(table, options, GroupTests(table, options, rounds.add, engine)))
    rounds.add(options.rounds * passes)  # what was not necessary, such as rounds of pairs whose swaps are few
    first = table.results(table.compared[0])
    copies = (f"{result.label}: {remark}" for result in first for remark in _is_copy(result, first))
    return Comparison(
        systems=tuple(table.systems),
        groups=groups,
        rounds=options.rounds,
        seed=options.seed,
        level=options.level,
        signature=_signature(table, options),
        signatures={label: {name: table.signature(name, label) for name in table.compared} for label in table.members},
        warnings=(*copies, *_unpaired_warnings(first, table.sentences), *_evalb_warnings(scores)),
        dropped_by_evalb={result.label: result.dropped_by_evalb for result in scores if result.evalb is not None},
        cutoff=options.cutoff,
    )


class _Rounds:
    """Progress in rounds, each of which is done in several passes."""

    def __init__(self, progress: Progress, rounds: int, passes: int) -> None:
        self._progress, self._rounds, self._passes = progress, rounds, passes
        self._done, self._told = 0, 0

    def add(self, done: int) -> None:
        """Count rounds of one pass."""
        self._done += done
        rounds = min(self._done // self._passes, self._rounds)
        if rounds > self._told:
            self._progress(rounds - self._told)
            self._told = rounds


def _is_copy(result: Result, others: Iterable[Result]) -> Sequence[str]:
    """A remark if a system that is compared, or a run of it, has the gold trees themselves, or those of one before it."""
    earlier = itertools.takewhile(lambda other: other.label != result.label, others)
    whose = {result.signature.gold: "the gold trees", **{other.signature.test: f"those of {other.label}" for other in earlier}}
    return [f"its trees are {whose[result.signature.test]}"] if result.signature.test in whose else ()


def _unpaired_warnings(results: Sequence[Result], common: Int64) -> Iterator[str]:
    """Warnings about sentences that do not match the treebank, or were left out for some systems only."""
    n_gold = results[0].signature.sentences + results[0].signature.skipped
    for result in results:
        missed = len({note.sentence for note in result.notes if note.consequence == MISSED})
        extra = sum(note.kind == "extra" for note in result.notes)
        if missed:
            yield f"{result.label}: {missed} of {n_gold} sentences do not match the treebank's; their brackets count as missed"
        if extra:
            yield f"{result.label}: {number_of(extra, 'sentence')} without a counterpart in the treebank"
    if any(result.signature.sentences != len(common) for result in results):
        counts = ", ".join(f"{result.label} {result.skipped}" for result in results)
        yield (
            f"the systems skip different sentences ({counts}): only the {len(common)} sentences that all systems have are "
            "compared. Scores of each system on its own sentences, as EVALB gives them, favour the one that skips the harder ones"
        )
    elif len(common) < n_gold:
        yield f"{n_gold - len(common)} of {n_gold} sentences are left out for every system"


def _evalb_warnings(scores: Sequence[Result]) -> list[str]:
    """A warning if EVALB would drop sentences, in particular if they differ between systems."""
    counted = [result for result in scores if result.evalb is not None]
    dropped = {result.label: set(result.dropped_by_evalb) for result in counted}
    union = set[int]().union(*dropped.values())
    if not union:
        return []
    n_gold = max(result.signature.sentences + result.signature.skipped for result in scores)
    if all(of_system == union for of_system in dropped.values()):
        return [f"EVALB would drop {len(union):,} of these {n_gold:,} sentences for every system; they are compared here"]
    numbers = {of: dict.fromkeys(str(len(run.dropped_by_evalb)) for run in runs) for of, runs in runs_by_system(counted).items()}
    counts = ", ".join(f"{system} {'/'.join(of_runs)}" for system, of_runs in numbers.items())
    return [f"EVALB would score the systems on different sentences (dropped: {counts}); treegauge uses all {n_gold:,}"]


def _signature(table: ScoreTable, options: CompareOptions) -> str:
    """One line with the settings of the comparison."""
    results = table.results(table.compared[0])
    signature, documents = results[0].signature, table.documents
    presets = dict.fromkeys(table.results(name)[0].signature.preset.name for name in table.compared)
    parts: list[tuple[str, Any]] = [
        ("metrics", ",".join(table.compared)),
        ("preset", ",".join(presets)),
        ("on_mismatch", signature.on_mismatch),
        ("sentences", len(table.sentences)),
        ("rounds", options.rounds),
        ("seed", options.seed),
        ("level", f"{options.level:g}"),
        ("interval", options.interval),
        ("gold", signature.gold),
        *(() if documents is None else [("clusters", f"{len(set(documents.tolist()))}@{sha256(documents.data).hexdigest()[:6]}")]),
        *(
            (system, ",".join(results[run].signature.test for run in runs))
            for system, runs in zip(table.systems, table.runs, strict=True)
        ),
        ("version", __version__),
    ]
    return "|".join(["compare", *(f"{key}:{value}" for key, value in parts)])


def _groups(table: ScoreTable, options: CompareOptions, tests: GroupTests) -> Iterator[Group]:
    """All sentences, then those of each length, then the brackets of each structure."""
    everything = np.arange(len(table.sentences))
    paired = PairedColumns.stack([PairedColumns.of(table.metric(name), table.rows(name), name=name) for name in table.compared])
    names = choose_rates(paired.names, {name: table.metric(name).headline for name in table.compared}, options.rates)
    yield tests.group("all", "all sentences", paired, names, table.brackets, everything)
    edges = [0, *sorted(set(options.lengths)), math.inf] if options.lengths else []
    for low, high in dict.fromkeys([*itertools.pairwise(edges), *([] if options.cutoff is None else [(0, options.cutoff)])]):
        where = np.flatnonzero((table.length > low) & (table.length <= high))
        if len(where):
            yield tests.group("length", length_title(low, high), paired.take(where), names, table.brackets, where)
    for label, name in table.structure.items():
        shown = name.partition(":")[0]
        of_label = PairedColumns.of(table.metric(name), table.rows(name), name=shown)
        names = [(shown, rate) for rate in BY_STRUCTURE]
        found = tests.group("structure", label, of_label, names, name, everything, scored_as={shown: name})
        in_gold = table.rows(name)[0][:, table.metric(name).columns.index("TTB")].any()
        yield found if in_gold else replace(found, warnings=("no gold bracket has this label", *found.warnings))
