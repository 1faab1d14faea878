"""``treegauge.score``: gold and test in, a result out, whatever form the trees have.

:class:`Evaluator` is a metric with a preset, ready to use, in the manner of Hugging Face's ``evaluate``.

>>> parseval = evaluator("parseval")
>>> rates = parseval.compute(predictions=["(S (NP (NN rain)) (V fell))"], references=["(S (NP (NN rain)) (VP (V fell)))"])
>>> round(rates["f1"], 2)
0.8
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, overload

import numpy as np

from treegauge import __version__, io
from treegauge.alignment.alignment import Note
from treegauge.engines import IN_PROCESS, Engine
from treegauge.errors import MismatchError, UsageError
from treegauge.io.sources import ReadOptions
from treegauge.metrics.compact_rows import CompactIndex, CompactRows
from treegauge.metrics.metric import Metric, Rates, Rows, Total
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
    SentencePlaces,
    TreebankLike,
    Trees,
    paired_files,
    path_of,
    return_free_memory,
    share_one_heap,
    trees_of,
)
from treegauge.scoring.metric_counts import MetricCounts, Numbers, joined
from treegauge.scoring.result import Inputs, Part, Result, ScoredTrees, Scores
from treegauge.scoring.sentences import Sentences
from treegauge.scoring.signature import Signature
from treegauge.trees.treebank import Treebank

if TYPE_CHECKING:
    from treegauge.engines.parts import ShardedWork
    from treegauge.scoring.shards import FilePair

__all__ = ["Evaluator", "JobOptions", "ScoreOptions", "ScoringJob", "evaluator", "score", "score_baselines"]

MetricLike = str | Metric
PresetLike = str | os.PathLike[str] | Preset


class RequestOptions(TypedDict, total=False):
    """The options of :func:`score` that go into its request as they are."""

    on_mismatch: str
    match_words: str
    cutoff: int | None
    sentences: bool
    pair: str
    treebank: str


class JobOptions(RequestOptions, total=False):
    """The options of :func:`score` that decide what is counted."""

    breakdowns: Sequence[str]
    stream: bool
    reading: ReadOptions
    on_error: str


class ScoreOptions(JobOptions, total=False):
    """The options of :func:`score` that go by name."""

    progress: Callable[[int], None] | None
    engine: Engine


@overload
def score(
    gold: TreebankLike,
    test: Mapping[str, TreebankLike],
    metric: MetricLike | Sequence[MetricLike] = ...,
    preset: PresetLike | None = ...,
    **options: Unpack[ScoreOptions],
) -> Scores: ...
@overload
def score(
    gold: TreebankLike,
    test: TreebankLike,
    metric: MetricLike = ...,
    preset: PresetLike | None = ...,
    **options: Unpack[ScoreOptions],
) -> Result: ...
@overload
def score(
    gold: TreebankLike,
    test: TreebankLike,
    metric: Sequence[MetricLike],
    preset: PresetLike | None = ...,
    **options: Unpack[ScoreOptions],
) -> Scores: ...
def score(
    gold: TreebankLike,
    test: TreebankLike | Mapping[str, TreebankLike],
    metric: MetricLike | Sequence[MetricLike] = "parseval",
    preset: PresetLike | None = None,
    *,
    on_mismatch: str = "align",
    match_words: str = "exact",
    cutoff: int | None = None,
    breakdowns: Sequence[str] = (),
    stream: bool = False,
    reading: ReadOptions = ReadOptions(),
    progress: Callable[[int], None] | None = None,
    engine: Engine = IN_PROCESS,
    sentences: bool = True,
    on_error: str | None = None,
    pair: str = "order",
    treebank: str = "",
) -> Result | Scores:
    """Score test trees against gold trees.

    ``gold`` and ``test`` are paths (files, directories, globs), Treebanks, bracketed text, or iterables of Tree, of nltk trees
    or of strings. A mapping of names to test trees compares several systems, a list of metrics several metrics: either gives
    :class:`~treegauge.scoring.result.Scores` instead of one :class:`~treegauge.scoring.result.Result`.

    Options:

    * ``metric``: a name, with options after colons (``goodman:pre``), or a Metric; several in a list.
    * ``preset``: the name of a preset, a ``.prm`` or ``.toml`` file, or a Preset. None: each metric's own, which is ``freval`` for
      FREVAL, ``induction`` for the metric of that name and ``default`` for all others.
    * ``on_mismatch``: what becomes of a sentence whose words differ or that has no parse: its gold brackets count as missed
      (``align``), it is left out (``skip``), or whatever EVALB does (``evalb``). ``error`` scores nothing if any sentence does
      not fit token by token. ``edit`` aligns the words of a sentence that differ by edit distance, and scores the brackets over the
      words that both sides have; ``result.edited`` counts such sentences.
    * ``match_words``: when two words are the same: ``exact`` (escapes and quotation marks apart), ``case`` (capitals apart),
      ``loose`` (any difference in writing apart; ``<unk>`` is any word), ``length`` (always: equally many tokens fit).
    * ``cutoff``: the longest sentence of the part ``short``, instead of the preset's.
    * ``breakdowns``: names of :data:`treegauge.metrics.breakdowns.BREAKDOWNS`, for ``result.breakdowns``.
    * ``stream``: files are worked through block by block, and rows are not kept.
    * ``reading``: how files are read: format, encoding, comments, see :class:`~treegauge.io.sources.ReadOptions`.
    * ``progress``: a function that is told how many more sentences have been scored.
    * ``engine``: where files are scored, see :mod:`treegauge.engines`.
    * ``sentences``: whether rows are kept when an engine other than this process scores.
    * ``on_error``: a test tree that cannot be read is a sentence without a parse (``parse-fails``), is repaired as far as it can be
      (``repair``), or an error (``stop``). If not given it is ``parse-fails``, or ``repair`` if ``reading`` says so;
      ``result.problems`` lists such trees. A gold tree that cannot be read is always an error.
    * ``pair``: sentences belong together by their order, and unequal numbers of them are a MismatchError (``order``), or by their
      text where the order does not fit (``text``).
    * ``treebank``: one of :data:`treegauge.presets.treebanks.TREEBANKS`, such as ``ctb``: what the preset does to the punctuation,
      traces and roots of the Penn Treebank it then does to those of this one.

    The rates, each a fraction that is nan for 0/0 (0 in FREVAL), are in ``result.rates`` and attributes of the result:

    * ``parseval``: recall, precision, f1, each also ``unlabelled_`` and ``mean_`` (of sentences); exact_match, average_crossing,
      no_crossing, two_or_less_crossing, tagging_accuracy.
    * ``goodman``: labelled_recall, labelled_tree, bracketed_recall, bracketed_tree, consistent_brackets_recall,
      consistent_brackets_tree, and ``mean_`` of the three recalls.
    * ``parent-child``, ``frames``: recall, precision, f1, mean_recall, mean_precision, mean_f1.
    * ``leaf-ancestor``: leaf_ancestor, mean_leaf_ancestor.
    * ``hogenhout``: generation_rate, recall_hard, precision_hard, spuriousness, p_inheritance, t_inheritance.
    * ``freval``: flr, flp, f1 over fragments of all sizes, and of the sizes 1, 1-15 and 1-25 (``f1_1-15``).
    * ``induction``: sentence_f1, corpus_f1, corpus_recall, corpus_precision of unlabelled spans, as papers on unsupervised parsing
      define them (``induction:kim``, ``induction:tn-pcfg``).

    >>> result = score("(S (NP (NN a)) (VP (V b) (NP (NN c))))", "(S (NP (NN a)) (VP (V b)) (NP (NN c)))")
    >>> result.counts["matched"], round(result.rates["f1"], 3)
    (3, 0.75)
    >>> result.f1
    0.75
    """
    wanted = list(metric) if isinstance(metric, Sequence) and not isinstance(metric, str) else [metric]
    several = isinstance(test, Mapping) or len(wanted) > 1 or wanted[0] is not metric
    systems = test if isinstance(test, Mapping) else {_name_of(test): test}
    job = ScoringJob.of(
        gold, systems, wanted, preset, on_mismatch=on_mismatch, match_words=match_words, cutoff=cutoff, breakdowns=breakdowns,
        stream=stream, reading=reading, sentences=sentences, on_error=on_error, pair=pair, treebank=treebank,
    )  # fmt: skip
    results = job.results(job.count(engine, progress or no_progress))
    return Scores(results) if several else results[0]


def _on_error(reading: ReadOptions) -> str:
    """The policy for test trees that cannot be read: reading stops at one unless told otherwise, but scoring goes on."""
    return "parse-fails" if reading.on_error == "stop" else reading.on_error


def score_baselines(
    gold: str, metrics: Sequence[str], preset: Preset | None, *, seed: int = 0, **options: Unpack[ScoreOptions]
) -> list[Result]:
    """The results of trivial parsers by all metrics, to be read beside those of systems."""
    from treegauge.scoring.baselines import BASELINES, baseline_for

    results: list[Result] = []
    bank = io.read(gold, options.get("reading", ReadOptions()).of_gold)
    main = load_preset(find_metric(metrics[0]).preset) if preset is None else preset
    for name in BASELINES:
        trees = {name: baseline_for(name, bank, main, seed=seed)}
        scored = score(bank, trees, metrics, preset, **{**options, "breakdowns": ()})
        used = seed if name == "random" else None
        results += [replace(result, evalb=None, signature=replace(result.signature, seed=used)) for result in scored]
    return results


SystemTotal = tuple[HashedCounts, Inputs | None]
"""The counts of a system, and the files they were counted from."""


@dataclass(frozen=True, eq=False)
class ScoringJob:
    """A call of :func:`score`: what to score, and how. It is done in two steps, counts and results, and the counts may be made
    in this process, on an engine, or by :meth:`total` from the values of shards that were counted anywhere."""

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
        """The job with the options of :func:`score`."""
        request = Request(
            metrics=tuple(find_metric(each) if isinstance(each, str) else each for each in metrics),
            preset=None if preset is None else load_preset(preset),
            keep=not stream,
            breakdowns=tuple(breakdowns),
            on_error=on_error or _on_error(reading),
            **options,
        )
        return cls(gold, systems, request, [each if isinstance(each, str) else each.name for each in metrics], reading)

    def count(self, engine: Engine = IN_PROCESS, progress: Callable[[int], None] = no_progress) -> list[SystemTotal]:
        """The counts of each system; ``progress`` is told how many more sentences have been counted in this process."""
        if not self.systems:
            raise UsageError("there is no system to score")
        if not engine.in_process:
            return self.total(self.work().values(engine), engine)
        request, kept = replace(self.request, progress=progress), dict[str, Trees]()
        return [self._count(_files(self.gold, test, self._reading, request, kept), request) for test in self.systems.values()]

    def _count(self, files: Sequence[tuple[Trees, Trees]], request: Request) -> SystemTotal:
        is_large = sum(_bytes_of(side) for sides in files for side in sides) > LARGE_BYTES
        if is_large:
            share_one_heap()
        if (counted := _counted_by_kernels(files, request, self._reading)) is not None:
            return counted, _inputs(files, self._reading)
        found = _counted(files, request), _inputs(files, self._reading)
        if is_large:
            return_free_memory()
        return found

    @property
    def _reading(self) -> ReadOptions:
        return replace(self.reading, on_error=self.request.on_error)

    def work(self) -> ShardedWork:
        """The same work cut into shards."""
        from treegauge.scoring.shards import work_in_shards

        return work_in_shards(_file_pairs(self._all_files()), self.request, self._reading)

    def total(self, values: Iterable[Any], engine: Engine = IN_PROCESS) -> list[SystemTotal]:
        """The counts of each system, from the values of all shards in order; what shards cannot count is counted on the engine."""
        from treegauge.scoring.shards import counts_of_systems

        every = self._all_files()
        counted = counts_of_systems(_file_pairs(every), values, self.request, self._reading, engine)
        return [(one, _inputs(files, self._reading)) for one, files in zip(counted, every, strict=True)]

    def _all_files(self) -> list[list[tuple[Trees, Trees]]]:
        every = [_files(self.gold, test, self._reading, self.request, {}) for test in self.systems.values()]
        if any(isinstance(side, MemoryTrees) for files in every for sides in files for side in sides):
            raise UsageError("trees in memory cannot be shared among workers: give files, or leave out the engine")
        return every

    def results(self, counted: Sequence[SystemTotal]) -> list[Result]:
        """The results of all systems by all metrics."""
        results: list[Result] = []
        for system, (found, inputs) in zip(self.systems, counted, strict=True):
            of_metrics = zip(self.names, found.counts.of_metrics, strict=True)
            results += [_result(system, name, each, found.counts, found.digests, inputs) for name, each in of_metrics]
        if sum(result.sentences.compact_rows.nbytes for result in results if result.sentences is not None) > LARGE_BYTES:
            return_free_memory()
        return results


def _counted(files: Sequence[tuple[Trees, Trees]], request: Request) -> HashedCounts:
    """The counts of all files of a system; nothing else that was needed for them is kept."""
    try:
        with Hasher() as hasher:
            return HashedCounts(count_files(files, request, hasher), hasher.digests())
    finally:
        for sides in files:
            for side in sides:
                side.close()


LARGE_BYTES = 32 << 20
"""For files of more bytes together, care is taken to hold little memory."""


def _bytes_of(trees: Trees) -> int:
    try:
        return sum(map(os.path.getsize, trees.paths))
    except OSError:
        return 0


def _counted_by_kernels(files: Sequence[tuple[Trees, Trees]], request: Request, reading: ReadOptions) -> HashedCounts | None:
    """The counts of a large file of which no rows are wanted; None where that is not what there is."""
    if len(files) != 1 or any(len(side.paths) != 1 for side in files[0]) or (request.keep and request.sentences):
        return None
    if "-" in files[0][0].paths + files[0][1].paths or sum(_bytes_of(side) for side in files[0]) < SMALLEST_BYTES:
        return None
    from treegauge.scoring.plain_counts import count_plainly

    counted = count_plainly(files[0][0].paths[0], files[0][1].paths[0], request, reading)
    if counted is not None:
        check_fit(counted.counts)
    return counted


def _file_pairs(every: Sequence[Sequence[tuple[Trees, Trees]]]) -> list[list[FilePair]]:
    from treegauge.scoring.shards import FilePair

    return [[FilePair(ours.paths, theirs.paths) for ours, theirs in files] for files in every]


def _files(
    gold: TreebankLike, test: TreebankLike, reading: ReadOptions, request: Request, kept: dict[str, Trees]
) -> list[tuple[Trees, Trees]]:
    """The files of both sides that belong together; gold files are read once for all systems."""
    gold_path, test_path = path_of(gold), path_of(test)
    pairs = paired_files(gold_path, test_path) if gold_path is not None and test_path is not None else None
    if pairs is None:
        theirs = trees_of(test, reading, keep=_keeps(request, test_path))
        return [(_kept(gold_path, gold, reading, request, kept), theirs)]
    ours = [_kept(path, path, reading, request, kept) for path, _ in pairs]
    return [(side, FileTrees([path], reading, keep=_keeps(request, path))) for side, (_, path) in zip(ours, pairs, strict=True)]


def _keeps(request: Request, path: str | None) -> bool:
    """Whether the trees of a file are kept for a second look, as what can be read only once must be."""
    return request.keep and (request.trees or path == "-")


def _kept(path: str | None, gold: TreebankLike, reading: ReadOptions, request: Request, kept: dict[str, Trees]) -> Trees:
    if path is None:
        return trees_of(gold, reading.of_gold, keep=_keeps(request, path))
    if path not in kept:
        kept[path] = trees_of(path, reading.of_gold, keep=_keeps(request, path))
    return kept[path]


def _inputs(files: Sequence[tuple[Trees, Trees]], reading: ReadOptions) -> Inputs | None:
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
        sentences=_sentences(counts, counted, counted.evalb_status if like_evalb else []) if request.keep else None,
        trees=ScoredTrees(counted.gold, counted.test, joined(counted.partner)) if request.keep and request.trees else None,
        breakdowns=counted.breakdowns,
    )


def _preset_notes(counts: MetricCounts, counted: SystemCounts) -> list[Note]:
    """A note if the gold trees are full of another treebank's punctuation, of which the preset knows nothing."""
    found = unused_punctuation(counted.punctuation, counted.n_words, counts.preset.delete_tags)
    if found is None:
        return []
    tags = ", ".join(found.tags) + (" with features (##...##)" if found.has_features else "")
    first = "after the normalisation step features, " if found.has_features else ""
    what = (
        f"{found.found:,} of {found.words:,} words have the tag {tags}, which is punctuation in the treebank {found.treebank}; "
        f"the preset {counts.preset.name} does not leave it out ({first}option treebank: {found.treebank})"
    )
    return [Note(-1, "punctuation", "gold", what)]


def _gap_notes(metric: Metric, counted: SystemCounts) -> list[Note]:
    """A note on why EVALB's own figures are missing, if that is because trees have gaps."""
    if counted.gap is None or not metric.compared_with_evalb:
        return []
    what = "EVALB's figures are left out: it reads brackets, which cannot hold gaps (step continuous:raise makes trees continuous)"
    return [Note(-1, "evalb", counted.gap, what)]


def _sentences(counts: MetricCounts, counted: SystemCounts, verdicts: Sequence[Numbers]) -> Sentences:
    counts.join()
    nothing = np.zeros((0, len(counts.metric.columns)))
    return Sentences(
        compact_rows=counts.rows[0] if counts.rows else CompactRows.of(nothing),
        compact_index=counts.index[0] if counts.index else CompactIndex(range(0)),
        compact_length=joined(counts.length),
        compact_status=joined(counts.status),
        places=SentencePlaces(counted.gold),
        compact_evalb=joined(verdicts) if verdicts else None,
        bits=counts.reproduced[0] if counts.reproduced else None,
    )


def _name_of(test: TreebankLike) -> str:
    path = path_of(test)
    return "test" if path is None else os.path.basename(os.path.normpath(path))


def evaluator(metric: str | Metric = "parseval", preset: PresetLike | None = None, **options: Unpack[ScoreOptions]) -> Evaluator:
    """The metric of that name with a preset (None: its own); ``options`` are those of :func:`treegauge.score`."""
    return Evaluator(metric, preset, **options)


class Evaluator:
    """A metric, a preset and the options of :func:`treegauge.score`; it can collect predictions batch by batch.

    >>> parseval = evaluator("parseval", "collins")
    >>> parseval.add(prediction="(S (NP (NN rain)) (VP (V fell)))", reference="(S (NP (NN rain)) (VP (V fell)))")
    >>> parseval.add_batch(predictions=["(S (NN a))"], references=["(S (NP (NN a)))"])
    >>> parseval.compute()["exact_match"]
    0.5
    """

    def __init__(self, metric: str | Metric, preset: PresetLike | None = None, **options: Unpack[ScoreOptions]) -> None:
        self.metric = find_metric(metric) if isinstance(metric, str) else metric
        self.preset = load_preset(self.metric.preset if preset is None else preset)
        self._asked, self._options = metric, options
        self._predictions: list[Treebank] = []
        self._references: list[Treebank] = []

    @property
    def name(self) -> str:
        return self.metric.name

    @property
    def columns(self) -> tuple[str, ...]:
        return self.metric.columns

    def score(self, gold: TreebankLike, test: TreebankLike) -> Result:
        """The result of :func:`treegauge.score`, with signature, notes and rows."""
        return score(gold, test, self._asked, self.preset, **self._options)

    def rows(self, gold: TreebankLike, test: TreebankLike) -> Rows:
        """One row of counts a sentence; rows add."""
        return self.score(gold, test).rows

    def rates(self, total: Total) -> Rates:
        """The rates of a sum of rows; nan is 0/0.

        >>> result = evaluator("freval").score("(S (NP (N a)) (V b))", "(S (NP (N a)) (V b))")
        >>> evaluator("freval").rates(result.counts.values())["f1"]
        1.0
        """
        return self.metric.rates(total)

    def add(self, *, prediction: Any, reference: Any) -> None:
        """Collect one parse and its gold tree."""
        self.add_batch(predictions=[prediction], references=[reference])

    def add_batch(self, *, predictions: Iterable[Any], references: Iterable[Any]) -> None:
        """Collect parses and their gold trees: paths, Treebanks, or iterables of Tree, of nltk trees or of strings.

        A parse that cannot be read is what the option ``on_error`` makes of it: a sentence without a parse, unless given.
        """
        reading = self._options.get("reading", ReadOptions())
        on_error = self._options.get("on_error") or _on_error(reading)
        test = io.as_treebank(predictions, replace(reading, on_error=on_error))
        gold = io.as_treebank(references, reading.of_gold)
        if len(test) != len(gold):
            raise MismatchError(f"{len(test)} predictions for {len(gold)} references; a failed parse is an empty string or tree")
        self._predictions.append(test)
        self._references.append(gold)

    def compute(self, *, predictions: Any = None, references: Any = None) -> dict[str, float]:
        """The rates of what is given, or else of what was collected, which is then forgotten."""
        if (predictions is None) != (references is None):
            raise UsageError("compute needs both predictions and references, or neither")
        if predictions is not None:
            self.add_batch(predictions=predictions, references=references)
        if not self._predictions:
            raise UsageError("there is nothing to compute: give predictions and references, or add some first")
        test, gold = Treebank.concatenate(self._predictions), Treebank.concatenate(self._references)
        self._predictions, self._references = [], []
        return dict(self.score(gold, test).rates)
