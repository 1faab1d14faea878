"""Hogenhout & Matsumoto's metric: their items and the twelve measures of their Table 3.

The items of the paper's Table 1, for its parsers A and B:

    >>> table1 = {
    ...     "A": dict(TTB=11400, TPB=8671, EMA=6748, EMR=0, CEA=204, CER=690, SPA=956, SPR=73,
    ...               PINH=523, PNINH=371, TINH=5212, TNINH=1536),
    ...     "B": dict(TTB=11400, TPB=8771, EMA=6858, EMR=0, CEA=182, CER=611, SPA=1049, SPR=71,
    ...               PINH=470, PNINH=323, TINH=5426, TNINH=1432),
    ... }

From them follows its Table 4; in the scan of the paper, Generation Rate and Spurious Reject cannot be read:

    >>> for name, title in MEASURES.items():
    ...     print(f"{title:16}", *(f"{100 * measures(items)[name]:.1f}%" for items in table1.values()))
    Generation Rate  76.1% 76.9%
    Recall-hard      59.2% 60.2%
    Recall-soft      69.4% 71.0%
    Precision-hard   77.8% 78.2%
    Precision-soft   91.2% 92.2%
    Spuriousness     11.9% 12.8%
    Spurious Reject  7.1% 6.3%
    False Error      22.8% 23.0%
    Test Noise       14.2% 14.8%
    Problem Rate     3.2% 2.9%
    P-inheritance    58.5% 59.3%
    T-inheritance    77.2% 79.1%

Two systems are compared by YY, YN, NY and NN, the numbers of treebank brackets that both, only A, only B, or neither reproduced
(:func:`comparative_rows`). The ambiguity of a grammar is its Parse Base (:func:`parse_base`, section 7 of the paper).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from treegauge.alignment.pairing import Pair
from treegauge.errors import MismatchError, UsageError, check_name
from treegauge.metrics.hogenhout.items import (
    READINGS,
    STEPS,
    BracketKey,
    BracketToJudge,
    Items,
    Judgements,
    Verdict,
    find_items,
    inherits_match,
    preset_keeping,
)
from treegauge.metrics.metric import Metric, Rates, Rows, Total, choice, flag, ratio, repeatable
from treegauge.presets import Preset
from treegauge.trees.treebank import Int64, Mask

MEASURES = {
    "generation_rate": "Generation Rate",
    "recall_hard": "Recall-hard",
    "recall_soft": "Recall-soft",
    "precision_hard": "Precision-hard",
    "precision_soft": "Precision-soft",
    "spuriousness": "Spuriousness",
    "spurious_reject": "Spurious Reject",
    "false_error": "False Error",
    "test_noise": "Test Noise",
    "problem_rate": "Problem Rate",
    "p_inheritance": "P-inheritance",
    "t_inheritance": "T-inheritance",
}
"""Our name of each measure -> the paper's, in the order of Table 3."""


def measure_titles(reading: str) -> dict[str, str]:
    """The paper's names of the measures, with the reading of T-inheritance, which the paper does not say."""
    return MEASURES | {"t_inheritance": f"{MEASURES['t_inheritance']} ({reading})"}


def measures(items: Mapping[str, Any], *, with_emr: bool = False) -> Rates:
    """The measures of some items: all twelve if they include a person's judgements (EMA ... SPR), else those that need none.

    ``with_emr`` counts rejected exact matches in Test Noise and Problem Rate; the paper's formulas leave them out, since it had
    none. As long as crossing or spurious brackets are ``unjudged``, the measures that need all verdicts are nan.

    >>> checked = dict(TTB=7, TPB=9, EMA=3, EMR=2, CEA=1, CER=1, SPA=2, SPR=0, PINH=1, PNINH=1, TINH=1, TNINH=4)
    >>> round(measures(checked)["test_noise"], 3), round(measures(checked, with_emr=True)["test_noise"], 3)
    (0.333, 0.556)
    """
    ttb, tpb = items["TTB"], items["TPB"]
    rates: Rates = {"generation_rate": ratio(tpb, ttb)}
    if "EMA" in items:
        rates |= _judged_measures(items, with_emr)
    else:
        rates |= {
            # With the option structure, the numbers of reproduced treebank brackets and of exact matches differ.
            "recall_hard": ratio(items["TINH"] + items["TNINH"], ttb),
            "precision_hard": ratio(items["EM"], tpb),
            "spuriousness": ratio(items["SP"], tpb),
        }
    rates["p_inheritance"] = ratio(items["PINH"], items["PINH"] + items["PNINH"])
    rates["t_inheritance"] = ratio(items["TINH"], items["TINH"] + items["TNINH"])
    return rates


def _judged_measures(items: Mapping[str, Any], with_emr: bool) -> Rates:
    ema, emr, cea, cer, spa, spr = (items[name] for name in ("EMA", "EMR", "CEA", "CER", "SPA", "SPR"))
    unjudged = items.get("unjudged", 0)
    # Dividing by 0 makes a rate nan, which it is while verdicts are missing.
    all_judged = unjudged == 0
    ttb, tpb = items["TTB"] * all_judged, items["TPB"] * all_judged
    ema_in_treebank = items.get("EMA_treebank", ema)
    also_rejected = emr if with_emr else 0
    return {
        "recall_hard": ratio(ema_in_treebank, items["TTB"]),
        "recall_soft": ratio(ema_in_treebank + cea + spa, ttb),
        "precision_hard": ratio(ema, items["TPB"]),
        "precision_soft": ratio(ema + cea + spa, tpb),
        "spuriousness": ratio(items.get("SP", spa + spr), items["TPB"]),
        "spurious_reject": ratio(spr, spa + spr),
        "false_error": ratio(cea, cea + cer),
        "test_noise": ratio(cea + spa + spr + also_rejected, tpb),
        "problem_rate": ratio(cea + spr + also_rejected, tpb),
    }


def _labels(word: str) -> tuple[str, ...] | None:
    """The labels of a word such as ``structure=PP,NP``."""
    name, equals, labels = word.partition("=")
    return tuple(label for label in labels.split(",") if label) if equals and name == "structure" else None


def _kept_step(word: str) -> tuple[str, ...] | None:
    """The preprocessing step that a word such as ``keep-double`` leaves out."""
    step = word.removeprefix("keep-")
    return (step,) if step in STEPS and step != word else None


@dataclass(frozen=True)
class Hogenhout(Metric):
    """Unlabelled brackets as exact match, crossing error or spurious, their inheritance, and the measures made of them.

    * ``structure``: count only brackets with one of these labels. For TTB, TINH and TNINH the label in the treebank decides, for
      all others the parser's label; so Recall-hard is the share of the treebank's PPs, say, that were reproduced, whatever their
      label.
    * ``reading``: what TINH counts, one of :data:`~treegauge.metrics.hogenhout.items.READINGS`.
    * ``keep``: preprocessing steps to leave out, of ``punctuation``, ``empty``, ``double``, ``one-word``.
    * ``with_emr``: whether Test Noise and Problem Rate count rejected exact matches, once there are a person's verdicts.

    :meth:`with_judgements` adds a person's verdicts: with them there are the items EMA ... SPR and all twelve measures.

    >>> Hogenhout.with_options("structure=PP,NP", "literal", "keep-double").options["structure"]
    ('PP', 'NP')
    """

    structure: tuple[str, ...] = repeatable(
        (), ("structure=PP,NP",), _labels, "structure=PP,NP counts only brackets with these labels"
    )
    reading: str = choice("nontop", READINGS, "nontop (the default), literal, parse and both are readings of TINH")
    keep: tuple[str, ...] = repeatable(
        (), [f"keep-{step}" for step in STEPS], _kept_step, "keep-double leaves out the preprocessing step of that name"
    )
    with_emr: bool = flag(False, "with-emr", "", "with-emr counts rejected exact matches in Test Noise and Problem Rate")

    name = "hogenhout"
    summary = "exact, crossing and spurious brackets, their inheritance, recall and precision, hard and soft"
    reference = "hogenhout1996"
    headline = "recall_hard"
    lower_is_better = frozenset({"spuriousness", "test_noise", "problem_rate"})
    undirected = frozenset({"generation_rate", "p_inheritance", "t_inheritance", "false_error", "spurious_reject"})
    columns = ("TTB", "TPB", "EM", "CE", "SP", "PINH", "PNINH", "TINH", "TNINH")
    symmetries: ClassVar[Mapping[str, str]] = {"recall_hard": "precision_hard", "precision_hard": "recall_hard"}
    counts_are_results = True
    discontinuous = True

    def __post_init__(self) -> None:
        for step in self.keep:
            check_name("preprocessing step", step, STEPS)
        check_name("reading of TINH", self.reading, READINGS)

    @property
    def options(self) -> dict[str, Any]:
        """Every setting that could change the score; without judgements, ``with_emr`` cannot."""
        return {name: value for name, value in super().options.items() if name != "with_emr"}

    def reading_of(self, rate: str) -> str:
        return self.reading if rate == "t_inheritance" else ""

    def preset_for(self, preset: Preset | None) -> Preset:
        """The preset by which to prepare trees; it does the first two preprocessing steps, unless they are left out."""
        return preset_keeping(super().preset_for(preset), self.keep)

    def with_judgements(self, judgements: Judgements) -> JudgedHogenhout:
        """The metric with a person's verdicts."""
        return JudgedHogenhout(self.structure, self.reading, self.keep, self.with_emr, judgements)

    def rows(self, pair: Pair) -> Rows:
        return np.stack(self._columns(pair, self._items(pair)), axis=1)

    def _items(self, pair: Pair) -> Items:
        if self.preset_for(pair.preset) != pair.preset:
            kept = ", ".join(step for step in self.keep if step in ("punctuation", "empty"))
            raise UsageError(f"to keep {kept}, prepare the trees with the preset that Hogenhout.preset_for gives")
        return find_items(pair, self.keep)

    def _columns(self, pair: Pair, items: Items) -> list[Int64]:
        gold, test = items.gold.brackets, items.test.brackets
        in_gold, in_test = items.gold.labelled(self.structure), items.test.labelled(self.structure)
        passed_on = inherits_match(items, self.reading)
        of_test = [np.ones_like(in_test), items.exact, items.crosses, items.spurious, items.crosses_with_parent]
        of_test.append(items.crosses & ~items.crosses_with_parent)
        of_gold = [passed_on, items.reproduced & ~passed_on]
        columns = [gold.per_sentence(in_gold)]
        columns += [test.per_sentence(mask & in_test) for mask in of_test]
        return columns + [gold.per_sentence(mask & in_gold) for mask in of_gold]

    def reproduced(self, pair: Pair) -> Rows:
        """The treebank brackets that were reproduced; bit i is the i-th of the TTB brackets that count, in the tree's order."""
        items = self._items(pair)
        counted = items.gold.labelled(self.structure)
        sentence = items.gold.brackets.sentence[counted]
        return bits_of(self._is_reproduced(pair, items)[counted], np.bincount(sentence, minlength=len(pair)))

    def _is_reproduced(self, pair: Pair, items: Items) -> Mask:
        return items.reproduced

    def rates(self, total: Total) -> Rates:
        return measures(dict(zip(self.columns, total, strict=True)), with_emr=self.with_emr)


@dataclass(frozen=True)
class JudgedHogenhout(Hogenhout):
    """Hogenhout & Matsumoto's measures with a person's verdicts: the items EMA ... SPR, and all twelve measures.

    A rejected exact match is not reproduced.
    """

    judgements: Judgements = field(default_factory=Judgements, repr=False)

    columns = (*Hogenhout.columns, *("EMA", "EMR", "CEA", "CER", "SPA", "SPR", "EMA_treebank", "unjudged"))
    symmetries: ClassVar[Mapping[str, str]] = {}

    @property
    def options(self) -> dict[str, Any]:
        return {**super().options, "with_emr": self.with_emr, "judgements": self.judgements.sha256()[:12]}

    def rows(self, pair: Pair) -> Rows:
        items = self._items(pair)
        gold, test = items.gold.brackets, items.test.brackets
        in_gold, in_test = items.gold.labelled(self.structure), items.test.labelled(self.structure)
        accepted, rejected = verdicts_on(items, pair, self.judgements)
        checked = [mask & said for mask in (items.exact, items.crosses, items.spurious) for said in (accepted, rejected)]
        columns = self._columns(pair, items)
        columns += [test.per_sentence(mask & in_test) for mask in checked]
        columns.append(gold.per_sentence(in_gold & np.append(accepted & items.exact, False)[items.partner]))
        columns.append(test.per_sentence(in_test & ~accepted & ~rejected))
        return np.stack(columns, axis=1)

    def _is_reproduced(self, pair: Pair, items: Items) -> Mask:
        accepted, _ = verdicts_on(items, pair, self.judgements)
        return np.append(accepted, False)[items.partner]


def verdicts_on(items: Items, pair: Pair, judgements: Judgements) -> tuple[Mask, Mask]:
    """Masks of the accepted and of the rejected parser brackets; an exact match is accepted unless it was judged."""
    accepted = np.zeros(len(items.exact), dtype=np.bool_)
    rejected = np.zeros(len(items.exact), dtype=np.bool_)
    exact: list[bool] = items.exact.tolist()
    for row, key in enumerate(_keys(items, pair)):
        verdict = judgements.of(key.sentence, key.start, key.end, key.label or "", key.blocks)
        if verdict is None:
            verdict = Verdict.ACCEPTED if exact[row] else judgements.otherwise
        accepted[row] = verdict is Verdict.ACCEPTED
        rejected[row] = verdict is Verdict.REJECTED
    return accepted, rejected


def _keys(items: Items, pair: Pair) -> list[BracketKey]:
    """The key of each parser bracket, with the number of its sentence in the treebank."""
    test = items.test.brackets
    chains = items.test.chains(range(test.n_brackets))
    places = zip((pair.first + pair.index[test.sentence]).tolist(), test.start.tolist(), test.end.tolist(), strict=True)
    blocks = test.blocks_by_row()
    return [BracketKey(*place, chains[row], blocks.get(row, ())) for row, place in enumerate(places)]


def brackets_to_judge(pair: Pair, metric: Hogenhout, *, exact: bool = False) -> list[BracketToJudge]:
    """The parser brackets that a person is to judge, sentence by sentence.

    They are the crossing errors and the spurious brackets, and, with ``exact``, also the exact matches.
    """
    items = find_items(pair, metric.keep)
    asked = items.test.labelled(metric.structure) & (~items.exact | exact)
    kinds = np.where(items.exact, "EM", np.where(items.crosses, "CE", "SP")).tolist()
    keys = _keys(items, pair)
    return [BracketToJudge(keys[row], kinds[row]) for row in np.flatnonzero(asked).tolist()]


COMPARATIVE = ("YY", "YN", "NY", "NN")


def comparative_rows(a: Pair, b: Pair, metric_a: Hogenhout, metric_b: Hogenhout | None = None) -> Int64:
    """YY, YN, NY, NN of each sentence, for two systems against the same treebank and the same sentences of it.

    The metrics decide which brackets count; they may differ in their judgements only. A rejected exact match is not reproduced.

    >>> from treegauge import alignment
    >>> from treegauge.presets import load_preset
    >>> from treegauge.trees.treebank import Treebank
    >>> gold = Treebank.parse("(S (NP a b) (VP c (NP d e)))")
    >>> left = Treebank.parse("(S (NP a b) c d e)")
    >>> right = Treebank.parse("(S (NP a b) (VP c (NP d e)))")
    >>> preset = load_preset("default")
    >>> comparative_rows(alignment.pair(gold, left, preset), alignment.pair(gold, right, preset), Hogenhout()).tolist()
    [[2, 0, 2, 0]]
    """
    if not np.array_equal(a.index, b.index):
        raise MismatchError("the two systems were not scored on the same sentences, so their brackets cannot be compared")
    metrics = metric_a, metric_b or metric_a
    ours, theirs = (metric.rows(pair)[:, 0] for metric, pair in zip(metrics, (a, b), strict=True))
    if not np.array_equal(ours, theirs):
        raise MismatchError("the two systems were not scored against the same treebank brackets")
    return rows_of_bits(metrics[0].reproduced(a), metrics[1].reproduced(b), ours.tolist())


def bits_of(mask: Mask, counts: Int64) -> Rows:
    """A Python integer for each sentence, whose bit i is item i of the mask, given the number of items of each sentence.

    >>> bits_of(np.array([True, False, True, True]), np.array([3, 0, 1])).tolist()
    [5, 0, 1]
    """
    sets = np.zeros(len(counts), dtype=object)
    items = np.flatnonzero(mask)
    sentence = np.repeat(np.arange(len(counts)), counts)[items]
    for number, bit in zip(sentence.tolist(), (items - (np.cumsum(counts) - counts)[sentence]).tolist(), strict=True):
        sets[number] |= 1 << bit
    return sets


def rows_of_bits(a: Rows, b: Rows, brackets: Sequence[int] | Int64) -> Int64:
    """YY, YN, NY, NN of each sentence, from its number of brackets (TTB) and those that two systems reproduced.

    >>> rows_of_bits(np.array([0b0011], object), np.array([0b1111], object), [4]).tolist()
    [[2, 0, 2, 0]]
    """
    both, of_a, of_b = (np.array([bits.bit_count() for bits in sets], dtype=np.int64) for sets in (a & b, a, b))
    return np.stack([both, of_a - both, of_b - both, np.asarray(brackets, dtype=np.int64) - of_a - of_b + both], axis=1)


class ParseBase(NamedTuple):
    """The mean, the number of sentences in it, and the number of those left out because they have no parse or no words."""

    value: float
    sentences: int
    left_out: int

    @property
    def remark(self) -> str:
        """The reason why the mean is infinite; empty if it is not."""
        if not math.isinf(self.value):
            return ""
        return "infinite, since cycles of unary rules give some sentence infinitely many parses"


def parse_base(sentences: Iterable[tuple[int, float]]) -> ParseBase:
    """Parse Base, the number of parses per word: the geometric mean of p^(1/n) over sentences given as (n words, p parses).

    p may be any integer, however large, or infinite. The mean is nan if no sentence has a parse.

    >>> parse_base([(2, 4), (3, 8), (5, 0)])
    ParseBase(value=2.0, sentences=2, left_out=1)
    """
    logs: list[float] = []
    left_out = 0
    for n_words, n_parses in sentences:
        if n_words < 0 or n_parses < 0 or n_parses != n_parses:
            raise UsageError(f"there is no sentence of {n_words} words with {n_parses} parses")
        if n_words and n_parses:
            logs.append(math.log(n_parses) / n_words)
        else:
            left_out += 1
    # If one logarithm is infinite, so is the sum; fsum may raise an error there.
    mean = (math.inf if math.inf in logs else math.fsum(logs) / len(logs)) if logs else math.nan
    return ParseBase(math.exp(mean), len(logs), left_out)
