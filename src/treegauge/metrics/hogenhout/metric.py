"""Hogenhout & Matsumoto's items and measures as a metric like any other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import UnknownName, UsageError
from treegauge.metrics.base import Rates, Rows, Total
from treegauge.metrics.hogenhout.items import READINGS, Items, find_items, inherited
from treegauge.metrics.hogenhout.judgements import BracketKey, Judgements, Question, Verdict
from treegauge.metrics.hogenhout.measures import measures
from treegauge.metrics.hogenhout.preprocessing import STEPS, check_steps, preset_keeping
from treegauge.metrics.preparation import Pair
from treegauge.normalise.preset import Preset

__all__ = ["Hogenhout", "questions", "verdicts_on"]

Mask = NDArray[np.bool_]

_REGULAR = ("TTB", "TPB", "EM", "CE", "SP", "PINH", "PNINH", "TINH", "TNINH")
_CHECKED = ("EMA", "EMR", "CEA", "CER", "SPA", "SPR", "EMA_treebank", "unjudged")


@dataclass(frozen=True)
class Hogenhout:
    """Unlabelled brackets as exact match, crossing error or spurious, their inheritance, and the measures made of them.

    * ``structure``: only brackets with one of these labels. TTB, TINH and TNINH go by the treebank's label, all others by the
      parser's; so Recall-hard is the share of the treebank's PPs (say) that were reproduced, whatever label they got.
    * ``reading``: what TINH counts, one of :data:`~treegauge.metrics.hogenhout.items.READINGS`.
    * ``keep``: preprocessing steps to leave out, of ``punctuation``, ``empty``, ``double``, ``one-word``.
    * ``judgements``: a person's verdicts; with them the items EMA ... SPR and all twelve measures.
    * ``with_emr``: whether Test Noise and Problem Rate count rejected exact matches.

    >>> find = Hogenhout.with_options
    >>> find("structure=PP,NP", "literal", "keep-double").options["structure"]
    ('PP', 'NP')
    """

    structure: tuple[str, ...] = ()
    reading: str = "nontop"
    keep: tuple[str, ...] = ()
    judgements: Judgements | None = None
    with_emr: bool = False
    name: str = field(default="hogenhout", init=False)
    summary: str = field(
        default="exact, crossing and spurious brackets, their inheritance, recall and precision, hard and soft", init=False
    )
    reference: str = field(default="hogenhout1996", init=False)
    headline: str = field(default="recall_hard", init=False)

    def __post_init__(self) -> None:
        check_steps(self.keep)
        if self.reading not in READINGS:
            raise UnknownName("reading of TINH", self.reading, READINGS)

    @classmethod
    def with_options(cls, *words: str) -> Hogenhout:
        """``hogenhout:structure=PP,NP``, ``hogenhout:literal``, ``hogenhout:keep-double``, ``hogenhout:with-emr``, or several."""
        settings: dict[str, Any] = {"keep": ()}
        for word in words:
            if word.startswith("structure="):
                settings["structure"] = tuple(label for label in word.removeprefix("structure=").split(",") if label)
            elif word in READINGS:
                settings["reading"] = word
            elif word.removeprefix("keep-") in STEPS and word.startswith("keep-"):
                settings["keep"] = (*settings["keep"], word.removeprefix("keep-"))
            elif word == "with-emr":
                settings["with_emr"] = True
            else:
                valid = ("structure=PP,NP", *READINGS, *(f"keep-{step}" for step in STEPS), "with-emr")
                raise UnknownName("Hogenhout option", word, valid)
        return cls(**settings)

    @property
    def columns(self) -> tuple[str, ...]:
        return _REGULAR if self.judgements is None else (*_REGULAR, *_CHECKED)

    @property
    def mirrored(self) -> Mapping[str, str]:
        if self.judgements is not None:
            return {}
        return {"recall_hard": "precision_hard", "precision_hard": "recall_hard"}

    @property
    def options(self) -> Mapping[str, Any]:
        options: dict[str, Any] = {"structure": self.structure, "reading": self.reading, "keep": self.keep}
        if self.judgements is not None:
            options |= {"with_emr": self.with_emr, "judgements": self.judgements.sha256()[:12]}
        return options

    def adapted(self, preset: Preset) -> Preset:
        """The preset to prepare trees with: the first two preprocessing steps are its business."""
        return preset_keeping(preset, self.keep)

    def rows(self, pair: Pair) -> Rows:
        if self.adapted(pair.preset) != pair.preset:
            kept = ", ".join(step for step in self.keep if step in ("punctuation", "empty"))
            raise UsageError(f"to keep {kept}, prepare the trees with the preset that Hogenhout.adapted gives")
        items = find_items(pair, self.keep)
        gold, test = items.gold.brackets, items.test.brackets
        in_gold, in_test = items.gold.labelled(self.structure), items.test.labelled(self.structure)
        passed_on = inherited(items, self.reading)
        of_test = [np.ones_like(in_test), items.exact, items.crosses, items.spurious, items.crosses_with_parent]
        of_test.append(items.crosses & ~items.crosses_with_parent)
        of_gold = [passed_on, items.reproduced & ~passed_on]
        columns = [gold.per_sentence(in_gold)]
        columns += [test.per_sentence(mask & in_test) for mask in of_test]
        columns += [gold.per_sentence(mask & in_gold) for mask in of_gold]
        if self.judgements is not None:
            accepted, rejected = verdicts_on(items, pair, self.judgements)
            checked = [mask & said for mask in (items.exact, items.crosses, items.spurious) for said in (accepted, rejected)]
            columns += [test.per_sentence(mask & in_test) for mask in checked]
            columns.append(gold.per_sentence(in_gold & np.append(accepted & items.exact, False)[items.partner]))
            columns.append(test.per_sentence(in_test & ~accepted & ~rejected))
        return np.stack(columns, axis=1)

    def rates(self, total: Total) -> Rates:
        return measures(dict(zip(self.columns, total, strict=True)), with_emr=self.with_emr)


def verdicts_on(items: Items, pair: Pair, judgements: Judgements) -> tuple[Mask, Mask]:
    """Which parser brackets are accepted and which rejected; an exact match is accepted unless somebody said otherwise."""
    accepted = np.zeros(len(items.exact), dtype=np.bool_)
    rejected = np.zeros(len(items.exact), dtype=np.bool_)
    exact: list[bool] = items.exact.tolist()
    for row, key in enumerate(_keys(items, pair)):
        verdict = judgements.of(key.sentence, key.start, key.end, key.label or "")
        if verdict is None:
            verdict = Verdict.ACCEPTED if exact[row] else judgements.otherwise
        accepted[row] = verdict is Verdict.ACCEPTED
        rejected[row] = verdict is Verdict.REJECTED
    return accepted, rejected


def _keys(items: Items, pair: Pair) -> list[BracketKey]:
    """The name of each parser bracket."""
    test = items.test.brackets
    chains = items.test.chains(range(test.n_brackets))
    places = zip(pair.index[test.sentence].tolist(), test.start.tolist(), test.end.tolist(), strict=True)
    return [BracketKey(sentence, start, end, chains[row]) for row, (sentence, start, end) in enumerate(places)]


def questions(pair: Pair, metric: Hogenhout, *, exact: bool = False) -> list[Question]:
    """The parser brackets that a person is to judge, sentence by sentence: crossing errors and spurious ones, exact matches on
    request."""
    items = find_items(pair, metric.keep)
    asked = items.test.labelled(metric.structure) & (~items.exact | exact)
    kinds = np.where(items.exact, "EM", np.where(items.crosses, "CE", "SP")).tolist()
    keys = _keys(items, pair)
    return [Question(keys[row], kinds[row]) for row in np.flatnonzero(asked).tolist()]
