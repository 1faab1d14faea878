"""The work behind ``treegauge.score``: a job counts the trees of each system and turns the counts into results."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TypedDict, Unpack

from treegauge import __version__
from treegauge.alignment.notes import Note
from treegauge.engines import IN_PROCESS, Engine
from treegauge.errors import UsageError
from treegauge.io.sources import ReadOptions
from treegauge.metrics.metric import Metric
from treegauge.metrics.registry import find_metric
from treegauge.presets import Preset, load_preset
from treegauge.presets.treebanks import unused_punctuation
from treegauge.scoring.counts import HashedCounts, Request, SystemCounts, check_fit, count_files, no_progress
from treegauge.scoring.evalb_view import evalb_parameters
from treegauge.scoring.inputs import (
    SMALLEST_BYTES,
    FileTrees,
    Hasher,
    MemoryTrees,
    TreebankLike,
    Trees,
    paired_files,
    path_of,
    trees_of,
)
from treegauge.scoring.result import Inputs, Part, Result, ScoredTrees
from treegauge.scoring.sentence_rows import MetricCounts, join_blocks
from treegauge.scoring.signature import Signature

MetricLike = str | Metric
PresetLike = str | os.PathLike[str] | Preset


class RequestOptions(TypedDict, total=False):
    """The options of :func:`treegauge.score` that are passed on to :class:`~treegauge.scoring.counts.Request` unchanged."""

    on_mismatch: str
    match_words: str
    cutoff: int | None
    sentences: bool
    pair: str
    treebank: str
    trees: bool


class JobOptions(RequestOptions, total=False):
    """The options of :func:`treegauge.score` that decide what is counted."""

    breakdowns: Sequence[str]
    stream: bool
    reading: ReadOptions
    on_error: str


def on_error_policy(reading: ReadOptions) -> str:
    """The policy for test trees that cannot be read, given the options of reading, whose default is to stop at the first.

    Scoring treats such a tree as a failed parse instead, unless the options ask for repair.
    """
    return "parse-fails" if reading.on_error == "stop" else reading.on_error


SystemTotal = tuple[HashedCounts, Inputs | None]
"""The counts of a system, and the files they were counted from."""


@dataclass(frozen=True, eq=False)
class ScoringJob:
    """A call of :func:`treegauge.score`: the trees of gold and of each system, what to count, and how to read files.

    :meth:`count` counts, in this process or on an engine; :meth:`results` turns the counts into results. ``names`` are the metrics
    as the caller wrote them, for the results.
    """

    gold: TreebankLike
    systems: Mapping[str, TreebankLike]
    request: Request
    names: Sequence[str]
    reading: ReadOptions

    @classmethod
    def of(
        cls,
        gold: TreebankLike,
        systems: Mapping[str, TreebankLike],
        metrics: Sequence[MetricLike],
        preset: PresetLike | None,
        *,
        breakdowns: Sequence[str] = (),
        stream: bool = False,
        reading: ReadOptions = ReadOptions(),
        on_error: str | None = None,
        **options: Unpack[RequestOptions],
    ) -> ScoringJob:
        """The job of a call of :func:`treegauge.score` with these options."""
        request = Request(
            metrics=tuple(find_metric(each) if isinstance(each, str) else each for each in metrics),
            preset=None if preset is None else load_preset(preset),
            keep=not stream,
            breakdowns=tuple(breakdowns),
            on_error=on_error or on_error_policy(reading),
            **options,
        )
        return cls(gold, systems, request, [each if isinstance(each, str) else each.name for each in metrics], reading)

    def count(self, engine: Engine = IN_PROCESS, progress: Callable[[int], None] = no_progress) -> list[SystemTotal]:
        """The counts of each system; in this process, ``progress`` is called with the number of sentences just counted."""
        if not self.systems:
            raise UsageError("there is no system to score")
        request, kept = replace(self.request, progress=progress), dict[str, Trees]()
        if len(self.systems) > 1 and request.keep and (path := path_of(self.gold)) is not None and os.path.isfile(path):
            # Gold trees are read once for all systems, unless that would take much memory.
            kept[path] = trees_of(path, self._reading.of_gold, keep=request.trees or os.path.getsize(path) < LARGE_BYTES)
        every = (_paired_trees(self.gold, test, self._reading, request, kept) for test in self.systems.values())
        return [self._count(files, request, engine) for files in every]

    def _count(self, files: Sequence[tuple[Trees, Trees]], request: Request, engine: Engine) -> SystemTotal:
        if engine.in_process and (counted := _count_by_kernels(files, request, self._reading)) is not None:
            return counted, _inputs_of(files, self._reading)
        return _count_trees(files, request, engine), _inputs_of(files, self._reading)

    @property
    def _reading(self) -> ReadOptions:
        return replace(self.reading, on_error=self.request.on_error)

    def results(self, counted: Sequence[SystemTotal]) -> list[Result]:
        """The results of all systems by all metrics: the systems in their order, and for each its metrics."""
        results: list[Result] = []
        for system, (found, inputs) in zip(self.systems, counted, strict=True):
            of_metrics = zip(self.names, found.counts.of_metrics, strict=True)
            results += [_result(system, name, each, found.counts, found.digests, inputs) for name, each in of_metrics]
        return results


def _count_trees(files: Sequence[tuple[Trees, Trees]], request: Request, engine: Engine) -> HashedCounts:
    """The counts of all files of a system, and their hashes; the files are closed."""
    try:
        with Hasher() as hasher:
            return HashedCounts(count_files(files, request, hasher, engine), hasher.digests())
    finally:
        for sides in files:
            for side in sides:
                side.close()


LARGE_BYTES = 32 << 20
"""Gold trees of a file that is larger than this are read again for every system."""


def _bytes_of(trees: Trees) -> int:
    try:
        return sum(map(os.path.getsize, trees.paths))
    except OSError:
        return 0


def _count_by_kernels(files: Sequence[tuple[Trees, Trees]], request: Request, reading: ReadOptions) -> HashedCounts | None:
    """The counts of two large files if no rows are wanted; None if the kernels cannot or need not count them."""
    if len(files) != 1 or any(len(side.paths) != 1 for side in files[0]) or (request.keep and request.sentences):
        return None
    if "-" in files[0][0].paths + files[0][1].paths or sum(_bytes_of(side) for side in files[0]) < SMALLEST_BYTES:
        return None
    from treegauge.compilation import can_compile

    if not can_compile():
        return None
    from treegauge.scoring.large_files import count_large_files

    counted = count_large_files(files[0][0].paths[0], files[0][1].paths[0], request, reading)
    if counted is not None:
        check_fit(counted.counts)
    return counted


def _paired_trees(
    gold: TreebankLike, test: TreebankLike, reading: ReadOptions, request: Request, kept: dict[str, Trees]
) -> list[tuple[Trees, Trees]]:
    """Gold and test trees, pair by pair of files that belong together.

    ``kept`` holds the gold trees by path, so that gold files are read once for all systems.
    """
    gold_path, test_path = path_of(gold), path_of(test)
    pairs = paired_files(gold_path, test_path) if gold_path is not None and test_path is not None else None
    if pairs is None:
        theirs = trees_of(test, reading, keep=_must_keep(request, test_path))
        return [(_gold_trees(gold_path, gold, reading, request, kept), theirs)]
    ours = [_gold_trees(path, path, reading, request, kept) for path, _ in pairs]
    return [(side, FileTrees([path], reading, keep=_must_keep(request, path))) for side, (_, path) in zip(ours, pairs, strict=True)]


def _must_keep(request: Request, path: str | None) -> bool:
    """Whether the trees of a file are kept: if they are wanted later, or come from standard input, which cannot be read twice."""
    return request.keep and (request.trees or path == "-")


def _gold_trees(path: str | None, gold: TreebankLike, reading: ReadOptions, request: Request, kept: dict[str, Trees]) -> Trees:
    if path is None:
        return trees_of(gold, reading.of_gold, keep=_must_keep(request, path))
    if path not in kept:
        kept[path] = trees_of(path, reading.of_gold, keep=_must_keep(request, path))
    return kept[path]


def _inputs_of(files: Sequence[tuple[Trees, Trees]], reading: ReadOptions) -> Inputs | None:
    if any(isinstance(side, MemoryTrees) for sides in files for side in sides):
        return None
    gold, test = (tuple(path for sides in files for path in sides[number].paths) for number in (0, 1))
    return Inputs(gold, test, asdict(reading))


def _result(
    system: str, name: str, counts: MetricCounts, counted: SystemCounts, digests: tuple[str, str], inputs: Inputs | None
) -> Result:
    metric, request = counts.metric, counted.request
    options = dict(metric.options)
    if request.on_mismatch == "evalb" and (quotes := evalb_parameters(counts.preset).quote_labels):
        # EVALB's quote repair is not part of a preset, but of EVALB's decisions.
        options["quote_labels"] = [label.decode("utf-8", "replace") for label in quotes]
    signature = Signature(
        metric=name,
        options=options,
        preset=counts.preset,
        on_mismatch=request.on_mismatch,
        match_words=request.match_words,
        on_error="repair" if request.on_error == "repair" else "parse-fails",
        repairs=dict(sorted(counted.repairs.items())),
        sentences=counts.n_total,
        skipped=counted.n_gold - counts.n_total,
        gold=digests[0][:12],
        test=digests[1][:12],
        version=__version__,
    )
    like_evalb = counted.evalb is not None and metric.compared_with_evalb
    return Result(
        system=system,
        metric=name,
        headline=metric.headline,
        columns=metric.columns,
        total=Part.of(metric, counts.total.values(), counts.n_total),
        short=Part.of(metric, counts.short.values(), counts.n_short, counts.preset.cutoff_length),
        signature=signature,
        notes=(*counted.all_notes(), *_preset_notes(counts, counted), *_gap_notes(metric, counted)),
        evalb=counted.evalb if like_evalb else None,
        inputs=inputs,
        definition=metric,
        sentences=counts.sentences(counted.places, counted.evalb_status if like_evalb else ()) if request.keep else None,
        trees=ScoredTrees(counted.gold, counted.test, join_blocks(counted.partner)) if request.keep and request.trees else None,
        breakdowns=counted.breakdowns,
    )


def _preset_notes(counts: MetricCounts, counted: SystemCounts) -> list[Note]:
    """A note if the gold trees have many punctuation tags of another treebank, which the preset does not delete."""
    found = unused_punctuation(counted.punctuation, counted.n_words, counts.preset.delete_tags)
    if found is None:
        return []
    tags = ", ".join(found.tags) + (" with features (##...##)" if found.has_features else "")
    first = "after the normalisation step features, " if found.has_features else ""
    what = (
        f"{found.found:,} of {found.words:,} words have the tag {tags}, which is punctuation in the treebank {found.treebank}; "
        f'the preset {counts.preset.name} does not leave it out ({first}treebank="{found.treebank}")'
    )
    return [Note(-1, "punctuation", "gold", what)]


def _gap_notes(metric: Metric, counted: SystemCounts) -> list[Note]:
    """A note that EVALB's figures are missing, if the reason is that trees have gaps."""
    if counted.gap is None or not metric.compared_with_evalb:
        return []
    what = "EVALB's figures are left out: it reads brackets, which cannot hold gaps (step continuous:raise makes trees continuous)"
    return [Note(-1, "evalb", counted.gap, what)]
