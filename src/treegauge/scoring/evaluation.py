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
from dataclasses import replace
from typing import Any, Unpack, overload

from treegauge import io
from treegauge.engines import IN_PROCESS, Engine
from treegauge.errors import MismatchError, UsageError
from treegauge.io.sources import ReadOptions
from treegauge.metrics.metric import Metric, Rates, Rows, Total
from treegauge.metrics.registry import find_metric
from treegauge.presets import Preset, load_preset
from treegauge.scoring.counts import no_progress
from treegauge.scoring.inputs import TreebankLike, path_of
from treegauge.scoring.job import JobOptions, MetricLike, PresetLike, ScoringJob, on_error_policy
from treegauge.scoring.result import Result, Scores
from treegauge.trees.treebank import Treebank


class ScoreOptions(JobOptions, total=False):
    """The options of :func:`score` that are keyword arguments."""

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
    trees: bool = True,
) -> Result | Scores:
    """Score test trees against gold trees.

    ``gold`` and ``test`` are paths (files, directories, globs), Treebanks, bracketed text, or iterables of Tree, of nltk trees
    or of strings. A mapping of names to test trees compares several systems, a list of metrics several metrics: either gives
    :class:`~treegauge.scoring.result.Scores` instead of one :class:`~treegauge.scoring.result.Result`.

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
    * ``reading``: how files are read: format, encoding, comments, see :class:`~treegauge.io.sources.ReadOptions`.
    * ``progress``: a function that is called with the number of sentences scored since the last call.
    * ``engine``: where files are scored, see :mod:`treegauge.engines`.
    * ``sentences``: whether rows are kept when workers of an engine score.
    * ``on_error``: whether a test tree that cannot be read counts as a sentence without a parse (``parse-fails``), is repaired as
      far as possible (``repair``), or is an error (``stop``). The default is ``parse-fails``, or ``repair`` if ``reading`` asks for
      it; ``result.problems`` lists such trees. A gold tree that cannot be read is always an error.
    * ``pair``: whether sentences are paired by their order, so that unequal numbers of them are a MismatchError (``order``), or by
      their text where the order does not match (``text``).
    * ``treebank``: one of :data:`treegauge.presets.treebanks.TREEBANKS`, such as ``ctb``: the preset then treats the punctuation,
      traces and roots of this treebank as it treats those of the Penn Treebank.
    * ``trees``: whether the trees are kept in ``result.trees``; without them large files take less memory.

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
        stream=stream, reading=reading, sentences=sentences, on_error=on_error, pair=pair, treebank=treebank, trees=trees,
    )  # fmt: skip
    results = job.results(job.count(engine, progress or no_progress))
    return Scores(results) if several else results[0]


def score_baselines(
    gold: str, metrics: Sequence[str], preset: Preset | None, *, seed: int = 0, **options: Unpack[ScoreOptions]
) -> list[Result]:
    """The results of all :data:`~treegauge.scoring.baselines.BASELINES` by all metrics, to set beside those of systems."""
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

        The option ``on_error`` decides about a parse that cannot be read; by default it counts as a sentence without a parse.
        """
        reading = self._options.get("reading", ReadOptions())
        on_error = self._options.get("on_error") or on_error_policy(reading)
        test = io.as_treebank(predictions, replace(reading, on_error=on_error))
        gold = io.as_treebank(references, reading.of_gold)
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
