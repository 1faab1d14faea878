"""``treegauge.score``: gold and test trees in any form in, a result out.

:class:`Evaluator` is a metric with a preset, ready to use, in the manner of Hugging Face's ``evaluate``.

>>> parseval = evaluator("parseval")
>>> rates = parseval.compute(predictions=["(S (NP (NN rain)) (V fell))"], references=["(S (NP (NN rain)) (VP (V fell)))"])
>>> round(rates["f1"], 2)
0.8
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from typing import Any, Unpack, cast, overload

from treegauge import __version__, io
from treegauge.alignment.notes import Note
from treegauge.engines import IN_PROCESS, Engine
from treegauge.errors import FormatError, InputError, MismatchError, TreegaugeWarning, UsageError, checked, warn
from treegauge.io.sources import ReadKeywords, ReadOptions, is_stream
from treegauge.metrics.metric import Metric, Rates, Rows, Total
from treegauge.metrics.registry import find_metric
from treegauge.presets import load_preset
from treegauge.presets.treebanks import unused_punctuation
from treegauge.scoring.counts import HashedCounts, Hasher, MetricCounts, SystemCounts, check_fit, count_files
from treegauge.scoring.evalb_view import evalb_parameters
from treegauge.scoring.inputs import (
    SMALLEST_BYTES,
    MetricLike,
    PresetLike,
    Request,
    TreebankLike,
    Trees,
    paired_files,
    path_of,
    runs_of,
    second_system,
    trees_of,
)
from treegauge.scoring.result import Inputs, Part, Result, ScoredTrees, Scores, join_blocks
from treegauge.scoring.signature import Signature
from treegauge.trees.treebank import Treebank


class ScoreOptions(ReadKeywords, total=False):
    """The keyword arguments of :func:`score`, for type checkers: those of :meth:`~treegauge.scoring.inputs.Request.of`."""

    on_mismatch: str
    match_words: str
    cutoff: int | None
    breakdowns: str | Sequence[str]
    stream: bool
    reading: ReadOptions
    progress: Callable[[int], None] | None
    engine: Engine
    sentences: bool
    pair: str
    trees: bool
    strict: bool


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
@checked(ReadOptions)
def score(
    gold: TreebankLike,
    test: TreebankLike | Mapping[str, TreebankLike],
    metric: MetricLike | Sequence[MetricLike] = "parseval",
    preset: PresetLike | None = None,
    *,
    on_mismatch: str = "align",
    match_words: str = "exact",
    cutoff: int | None = None,
    breakdowns: str | Sequence[str] = (),
    stream: bool = False,
    reading: ReadOptions = ReadOptions(),
    progress: Callable[[int], None] | None = None,
    engine: Engine = IN_PROCESS,
    sentences: bool = True,
    on_error: str | None = None,
    pair: str = "order",
    treebank: str = "",
    trees: bool = True,
    strict: bool = False,
    **further: Any,
) -> Result | Scores:
    """Score test trees against gold trees.

    ``gold`` and ``test`` are paths (files, directories, globs), Treebanks, bracketed text, or iterables of Tree, of nltk trees
    or of strings. A mapping of names to test trees scores several systems, a list of metrics several metrics: either gives
    :class:`~treegauge.scoring.result.Scores` instead of one :class:`~treegauge.scoring.result.Result`. In the mapping, a list of
    paths, of Treebanks or of lists of trees is a system with several runs, each with results of its own.

    Options:

    * ``metric``: a name, with options after colons (``goodman:pre``), or a Metric; several in a list.
    * ``preset``: the name of a preset, a ``.prm`` or ``.toml`` file, or a Preset. None: each metric's own, which is ``freval`` for
      FREVAL, ``induction`` for the metric of that name and ``default`` for all others.
    * ``on_mismatch``: what happens to a sentence whose words differ or that has no parse: its gold brackets count as missed
      (``align``), it is left out (``skip``), or EVALB decides (``evalb``). ``error`` scores nothing unless every sentence matches
      token by token. ``edit`` aligns differing words by edit distance and scores the brackets over the words that both sides
      share; ``result.edited`` counts such sentences.
    * ``match_words``: when two words are the same: ``exact`` (but for escapes and quotation marks), ``case`` (ignoring case),
      ``loose`` (ignoring all differences in writing; ``<unk>`` matches any word), ``length`` (always: only the number of tokens
      counts).
    * ``cutoff``: the longest sentence of the part ``short``, instead of the preset's.
    * ``breakdowns``: names of :data:`treegauge.metrics.breakdowns.BREAKDOWNS`, for ``result.breakdowns``.
    * ``stream``: whether files are read block by block, without keeping rows.
    * ``reading``: how files are read, see :class:`~treegauge.io.sources.ReadOptions`; its fields are options, too:
      ``format``, ``encoding``, ``lines``, ``comment`` and the others.
    * ``progress``: a function that is called with the number of sentences scored since the last call.
    * ``engine``: where files are scored, see :mod:`treegauge.engines`.
    * ``sentences``: whether rows are kept when workers of an engine score.
    * ``on_error``: whether a test tree that cannot be read counts as a sentence without a parse (``parse-fails``), is repaired as
      far as possible (``repair``), or is an error (``stop``). The default is ``parse-fails``, or ``repair`` if ``reading`` asks for
      it; ``result.problems`` lists such trees. A gold tree that cannot be read is always an error.
    * ``pair``: whether unequal numbers of sentences are a MismatchError (``order``), or the sentences that one side lacks are found
      by their text (``text``); parses are in the order of gold in any case.
    * ``treebank``: one of :data:`treegauge.presets.treebanks.TREEBANKS`, such as ``ctb``: the preset then treats the punctuation,
      traces and roots of this treebank as it treats those of the Penn Treebank.
    * ``trees``: whether the trees are kept in ``result.trees``; without them large files take less memory.
    * ``strict``: whether what the command line warns of (trees that cannot be read, sentences missing, words, tags, labels or roots
      that are by and large not those of gold) is a MismatchError; otherwise it is issued as one
      :class:`~treegauge.errors.TreegaugeWarning`. Single sentences with other words are an error with ``on_mismatch="error"``.

    The rates, each a fraction that is nan for 0/0 (0 in FREVAL), are in ``result.rates``, and are attributes of the result too:

    * ``parseval``: recall, precision, f1, each also ``unlabelled_`` and ``mean_`` (of sentences); exact_match, average_crossing,
      no_crossing, two_or_less_crossing, tagging_accuracy.
    * ``goodman``: labelled_recall, labelled_tree, bracketed_recall, bracketed_tree, consistent_brackets_recall,
      consistent_brackets_tree, and ``mean_`` of the three recalls.
    * ``parent-child``, ``frames``: recall, precision, f1, mean_recall, mean_precision, mean_f1.
    * ``leaf-ancestor``: leaf_ancestor, mean_leaf_ancestor.
    * ``hogenhout``: generation_rate, recall_hard, precision_hard, spuriousness, p_inheritance, t_inheritance.
    * ``freval``: flr, flp, f1 over fragments of all sizes, and of the sizes 1, 1-15 and 1-25 (``f1_1-15``).
    * ``induction``: sentence_f1, corpus_f1, corpus_recall, corpus_precision of unlabelled spans, as papers on unsupervised parsing
      define them (``induction:kim``, ``induction:prpn``, ``induction:tn-pcfg``).

    >>> result = score("(S (NP (NN a)) (VP (V b) (NP (NN c))))", "(S (NP (NN a)) (VP (V b)) (NP (NN c)))")
    >>> result.counts["matched"], round(result.rates["f1"], 3)
    (3, 0.75)
    >>> result.f1
    0.75
    """
    wanted = list(metric) if isinstance(metric, Sequence) and not isinstance(metric, str) else [metric]
    if not all(isinstance(each, Metric) or (isinstance(cast("object", each), str) and each[:1] != "(") for each in wanted):
        raise second_system("score")
    if not isinstance(test, Mapping) and len(runs_of(test)) > 1:
        raise UsageError("a list of files is several systems or several runs: score(gold, {'A': a, 'B': b}) or {'A': [run1, run2]}")
    several = isinstance(test, Mapping) or len(wanted) > 1 or wanted[0] is not metric
    systems = test if isinstance(test, Mapping) else {_name_of(test): test}
    request = Request.of(
        wanted, preset, on_mismatch=on_mismatch, match_words=match_words, cutoff=cutoff, breakdowns=breakdowns, keep=not stream,
        reading=replace(reading, **further), progress=progress, engine=engine, sentences=sentences, on_error=on_error, pair=pair,
        treebank=treebank, trees=trees,
    )  # fmt: skip
    results = score_systems(gold, systems, request)
    warn_of({result.system: result.remarks for result in results}, strict=strict)
    return Scores(results) if several else results[0]


def warn_of(remarks: Mapping[str, Iterable[str]], *, strict: bool) -> None:
    """Issue the remarks on all systems as one TreegaugeWarning at the line that called treegauge; ``strict`` raises an error."""
    several = len(remarks) > 1
    lines = [f"{system}: {remark}" if several else remark for system, every in remarks.items() for remark in every]
    if lines and strict:
        raise MismatchError("\n".join(lines))
    if lines:
        warn(TreegaugeWarning("\n".join(lines)))


def score_baselines(gold: str, request: Request, *, seed: int = 0) -> list[Result]:
    """The results of all :data:`~treegauge.scoring.baselines.BASELINES`, to set beside those of systems."""
    from treegauge.scoring.baselines import BASELINES, baseline_for

    results: list[Result] = []
    bank = io.read(gold, request.reading.of_gold)
    main = load_preset(request.metrics[0].preset) if request.preset is None else request.preset
    for name in BASELINES:
        trees = {name: baseline_for(name, bank, main, seed=seed)}
        scored = score_systems(bank, trees, replace(request, breakdowns=(), engine=IN_PROCESS))
        used = seed if name == "random" else None
        results += [replace(result, evalb=None, signature=replace(result.signature, seed=used)) for result in scored]
    return results


def _name_of(test: TreebankLike) -> str:
    path = path_of(test)
    return "test" if path is None else os.path.basename(os.path.normpath(path))


def evaluator(metric: str | Metric = "parseval", preset: PresetLike | None = None, **options: Unpack[ScoreOptions]) -> Evaluator:
    """An evaluator: the metric of that name with a preset (None: its own) and the options of :func:`treegauge.score`."""
    return Evaluator(metric, preset, **options)


class Evaluator:
    """A metric with a preset and the options of :func:`treegauge.score`, which can collect predictions batch by batch.

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

    def __repr__(self) -> str:
        return f"<Evaluator {self.name}, preset {self.preset.name}>"

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

    @checked()
    def add(self, *, prediction: Any, reference: Any) -> None:
        """Collect one parse and its gold tree."""
        self.add_batch(predictions=[prediction], references=[reference])

    @checked()
    def add_batch(self, *, predictions: Iterable[Any], references: Iterable[Any]) -> None:
        """Collect parses and their gold trees: paths, Treebanks, or iterables of Tree, of nltk trees or of strings.

        The option ``on_error`` decides about a parse that cannot be read; by default it counts as a sentence without a parse.
        ``cutoff`` is for :meth:`score`: :meth:`compute` gives the rates of all sentences.
        """
        given = dict[str, Any](self._options)
        if given.get("cutoff") is not None:
            raise UsageError("compute() has no cutoff: score(gold, test).short has the rates of the sentences up to it")
        names = given.keys() & ({each.name for each in fields(ReadOptions)} - {"on_error", "treebank"})
        reading = replace(given.get("reading", ReadOptions()), **{name: given[name] for name in names})
        request = Request.of([self.metric], self.preset, reading=reading, on_error=given.get("on_error"))
        test = io.as_treebank(predictions, request.test_reading)
        gold = io.as_treebank(references, request.reading.of_gold)
        if len(test) != len(gold):
            raise MismatchError(f"{len(test)} predictions for {len(gold)} references; a failed parse is an empty string or tree")
        self._predictions.append(test)
        self._references.append(gold)

    def compute(self, *, predictions: Any = None, references: Any = None) -> dict[str, float]:
        """The rates of the trees that are given and of those collected so far, which are then forgotten."""
        if (predictions is None) != (references is None):
            raise UsageError("compute needs both predictions and references, or neither")
        if predictions is not None:
            self.add_batch(predictions=predictions, references=references)
        if not self._predictions:
            raise UsageError("there is nothing to compute: give predictions and references, or add some first")
        test, gold = Treebank.concatenate(self._predictions), Treebank.concatenate(self._references)
        self._predictions, self._references = [], []
        return dict(self.score(gold, test).rates)


SystemTotal = tuple[HashedCounts, Inputs | None]
"""The counts of a system, and the files they were counted from."""


def score_systems(gold: TreebankLike, systems: Mapping[str, TreebankLike], request: Request) -> list[Result]:
    """The results of all systems by all metrics: the systems in their order, for each its runs, for each run its metrics."""
    results: list[Result] = []
    runs = {(system, run): trees for system, given in systems.items() for run, trees in runs_of(given).items()}
    for (system, run), (found, inputs) in zip(runs, count_systems(gold, runs, request), strict=True):
        for name, each in zip(request.names, found.counts.of_metrics, strict=True):
            results.append(replace(_result(system, name, each, found.counts, found.digests, inputs), run=run))
    return results


def count_systems(gold: TreebankLike, systems: Mapping[Any, TreebankLike], request: Request) -> list[SystemTotal]:
    """The counts of each system, by its name and that of its run."""
    if not systems:
        raise UsageError("there is no system to score")
    kept, reading = dict[str, Trees](), request.test_reading
    if len(systems) > 1 and request.keep and (path := path_of(gold)) is not None and os.path.isfile(path):
        # Gold trees are read once for all systems, unless that would take much memory.
        kept[path] = trees_of(path, reading.of_gold, keep=request.trees or os.path.getsize(path) < LARGE_BYTES)
    totals: list[SystemTotal] = []
    for name, test in systems.items():
        try:
            files = _paired_trees(gold, test, request, kept)
            counted = _count_by_kernels(files, request) if request.engine.in_process else None
            totals.append((counted or _count_trees(files, request), _inputs_of(files, reading)))
        except MismatchError as error:
            if len(systems) > 1:
                error.rephrase(lambda said, name=name: f"{', run '.join(filter(None, name))}: {said}")
            raise
    return totals


def _count_trees(files: Sequence[tuple[Trees, Trees]], request: Request) -> HashedCounts:
    """The counts of all files of a system, and their hashes; the files are closed."""
    try:
        hasher = Hasher()
        return HashedCounts(count_files(files, request, hasher), hasher.digests())
    except FormatError as error:
        if request.reading.field and any(error.path in gold.paths for gold, _ in files):
            error.advice = 'Gold comes first; field=... is only of the parses, and gold trees in JSON are in the field "parse".'
            error.args = (error.message(),)
        raise
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


def _count_by_kernels(files: Sequence[tuple[Trees, Trees]], request: Request) -> HashedCounts | None:
    """The counts of two large files if no rows are wanted; None if the kernels cannot or need not count them."""
    if len(files) != 1 or any(len(side.paths) != 1 for side in files[0]) or (request.keep and request.sentences):
        return None
    if any(map(is_stream, files[0][0].paths + files[0][1].paths)) or sum(_bytes_of(side) for side in files[0]) < SMALLEST_BYTES:
        return None
    from treegauge.compilation import can_compile

    if not can_compile():
        return None
    from treegauge.scoring.large_files import count_large_files

    counted = count_large_files(files[0][0].paths[0], files[0][1].paths[0], request, request.test_reading)
    if counted is not None:
        check_fit(counted.counts)
    return counted


def _paired_trees(gold: TreebankLike, test: TreebankLike, request: Request, kept: dict[str, Trees]) -> list[tuple[Trees, Trees]]:
    """Gold and test trees, pair by pair of files that belong together.

    ``kept`` holds the gold trees by path (empty for trees in memory), so that they are read once for all systems.
    """
    reading = request.test_reading
    gold_path, test_path = path_of(gold), path_of(test)
    pairs = paired_files(gold_path, test_path) if gold_path is not None and test_path is not None else None
    if pairs is None:
        theirs = trees_of(test, reading, keep=_must_keep(request, test_path))
        return [(_gold_trees(gold_path, gold, reading, request, kept), theirs)]
    ours = [_gold_trees(path, path, reading, request, kept) for path, _ in pairs]
    return [(side, Trees([path], reading, keep=_must_keep(request, path))) for side, (_, path) in zip(ours, pairs, strict=True)]


def _must_keep(request: Request, path: str | None) -> bool:
    """Whether the trees of a file are kept: if they are wanted later, or come from a pipe, which cannot be read twice."""
    return request.keep and (request.trees or is_stream(path))


def _gold_trees(path: str | None, gold: TreebankLike, reading: ReadOptions, request: Request, kept: dict[str, Trees]) -> Trees:
    if (name := path or "") not in kept:
        try:
            kept[name] = trees_of(path or gold, reading.of_gold, keep=_must_keep(request, path))
        except (InputError, UsageError) as error:
            if path is None:
                error.args = (
                    f"{error}\n  This is in the gold trees, which must all be readable: gold comes first, then the parses.",
                )
            raise
    return kept[name]


def _inputs_of(files: Sequence[tuple[Trees, Trees]], reading: ReadOptions) -> Inputs | None:
    if not all(side.paths for sides in files for side in sides):
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
    evalb, longer = counted.evalb if metric.compared_with_evalb else None, counted.n_gold != counted.n_test
    return Result(
        system=system,
        metric=name,
        headline=metric.headline,
        columns=metric.columns,
        total=Part.of(metric, counts.total.values(), counts.n_total),
        short=Part.of(metric, counts.short.values(), counts.n_short, counts.preset.cutoff_length),
        signature=signature,
        notes=(*counted.all_notes(), *_preset_notes(counts, counted), *_gap_notes(metric, counted)),
        evalb=evalb.finished(counts.preset, *(use.phrases for use in counted.labels), longer=longer) if evalb is not None else None,
        inputs=inputs,
        definition=metric,
        sentences=counts.sentences(counted.places, counted.evalb_status if evalb is not None else ()) if request.keep else None,
        trees=ScoredTrees(counted.gold, counted.test, join_blocks(counted.partner)) if request.keep and request.trees else None,
        breakdowns=counted.breakdowns,
    )


def _preset_notes(counts: MetricCounts, counted: SystemCounts) -> list[Note]:
    """A note if the gold trees have many punctuation tags of another treebank, which the preset does not delete."""
    found = unused_punctuation(counted.labels[0].tags, counted.labels[0].words, counts.preset.delete_tags)
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
