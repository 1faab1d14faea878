"""Agreement between annotators: Cohen's kappa for each pair, Krippendorff's alpha for all, whichever brackets each has judged.

Both compare the observed agreement with the agreement expected by chance: 1 is full agreement, 0 is chance; undefined (nan) if
everybody always gives the same answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.humancheck.bracket_ids import BracketId
from treegauge.humancheck.judgements import JudgementLog
from treegauge.humancheck.questions import Check
from treegauge.metrics.metric import ratio
from treegauge.tables import Cell, Table, number_of

_SAMPLES = 2000


def cohens_kappa(a: Sequence[int], b: Sequence[int]) -> float:
    """(P_o - P_e) / (1 - P_e), where P_e is the agreement of two who answer at random, each with their own share of every answer.

    Cohen 1960, *A coefficient of agreement for nominal scales*. Answers are numbers of categories.

    >>> round(cohens_kappa([0] * 88 + [0] * 14 + [0] * 18 + [1] * 10 + [1] * 40 + [1] * 10 + [2] * 2 + [2] * 6 + [2] * 12,
    ...                    [0] * 88 + [1] * 14 + [2] * 18 + [0] * 10 + [1] * 40 + [2] * 10 + [0] * 2 + [1] * 6 + [2] * 12), 3)
    0.492
    """
    return float(_kappa(_cells(np.asarray(a), np.asarray(b)).sum(axis=0)))


def _cells(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float64]:
    """A table for each unit, rows for one's answer and columns for the other's, with a single 1 in it."""
    size = int(max(a.max(initial=0), b.max(initial=0))) + 1
    cells = np.zeros((len(a), size, size))
    cells[np.arange(len(a)), a, b] = 1
    return cells


def _kappa(table: NDArray[np.float64]) -> Any:
    """Kappa of a table of counts, or of many tables at once."""
    n = table.sum(axis=(-2, -1))
    observed = np.trace(table, axis1=-2, axis2=-1)
    by_chance = ratio((table.sum(axis=-1) * table.sum(axis=-2)).sum(axis=-1), np.asarray(n))
    return ratio(observed - by_chance, np.asarray(n - by_chance))


def krippendorffs_alpha(answers: Sequence[Sequence[int | None]]) -> float:
    """1 - D_o/D_e for nominal answers: a list per annotator, with None where they gave no answer.

    Krippendorff 2011, *Computing Krippendorff's alpha-reliability*, which has these two examples:

    >>> round(krippendorffs_alpha([[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]]), 3)
    0.095
    >>> x = None
    >>> round(krippendorffs_alpha([[1, 2, 3, 3, 2, 1, 4, 1, 2, x, x, x], [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, x, 3],
    ...                            [x, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, x], [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, x]]), 3)
    0.743
    """
    table = np.array([[-1 if answer is None else answer for answer in row] for row in answers], dtype=np.int64)
    return float(_alpha(_coincidences(table).sum(axis=0)))


def _coincidences(table: NDArray[np.int64]) -> NDArray[np.float64]:
    """The coincidences of each unit's answers: every ordered pair of its m answers counts 1/(m - 1)."""
    categories = int(table.max(initial=0)) + 1
    counts = np.stack([(table == category).sum(axis=0) for category in range(categories)], axis=1).astype(np.float64)
    m = counts.sum(axis=1)
    pairs = counts[:, :, None] * counts[:, None, :] - np.eye(categories) * counts[:, :, None]
    return np.where(m > 1, 1 / np.where(m > 1, m - 1, 1), 0.0)[:, None, None] * pairs


def _alpha(coincidences: NDArray[np.float64]) -> Any:
    """Alpha of a table of coincidences, or of many tables at once."""
    n = coincidences.sum(axis=(-2, -1))
    shares = coincidences.sum(axis=-1)
    disagreement = n - np.trace(coincidences, axis1=-2, axis2=-1)
    expected = (n**2 - (shares**2).sum(axis=-1)) / np.where(n > 1, n - 1, 1)
    return 1 - ratio(disagreement, np.asarray(expected))


class Agreement(NamedTuple):
    """A measure of agreement with its 95% bootstrap interval, over the brackets that both (for alpha: two or more) have judged.

    ``shared`` is the number of these brackets, ``share`` the fraction on which the annotators agree.
    """

    annotators: tuple[str, ...]
    measure: str
    shared: int
    share: float
    value: float
    low: float
    high: float


def ratings(log: JudgementLog, brackets: Sequence[BracketId], *, unsure: bool = False) -> dict[str, list[int | None]]:
    """Each annotator's answer on each bracket: 0 accepted, 1 rejected, 2 unsure (if ``unsure``), None if there is no answer."""
    number = {"accepted": 0, "rejected": 1} | ({"unsure": 2} if unsure else {})
    opinions = [log.opinions(bracket) for bracket in brackets]
    names = sorted({name for of_bracket in opinions for name in of_bracket})
    return {
        name: [number.get(of_bracket[name].verdict) if name in of_bracket else None for of_bracket in opinions] for name in names
    }


def all_agreements(answers: Mapping[str, Sequence[int | None]], *, seed: int = 1) -> list[Agreement]:
    """Cohen's kappa for every pair of annotators, then Krippendorff's alpha for all; ``answers`` are those of :func:`ratings`."""
    found: list[Agreement] = []
    for a, b in combinations(answers, 2):
        both = [(x, y) for x, y in zip(answers[a], answers[b], strict=True) if x is not None and y is not None]
        first, second = (np.array(column, dtype=np.int64) for column in (zip(*both, strict=True) if both else ((), ())))
        cells = _cells(first, second)
        share = ratio(float((first == second).sum()), len(both))
        low, high = _interval(_kappa, cells, seed)
        found.append(Agreement((a, b), "Cohen's kappa", len(both), share, float(_kappa(cells.sum(axis=0))), low, high))
    table = np.array([[-1 if x is None else x for x in row] for row in answers.values()], dtype=np.int64)
    if len(answers) > 1:
        table = table[:, (table >= 0).sum(axis=0) > 1]
        units = _coincidences(table)
        total = units.sum(axis=0)
        share = ratio(float(np.trace(total)), float(total.sum()))
        low, high = _interval(_alpha, units, seed)
        found.append(Agreement(tuple(answers), "Krippendorff's alpha", table.shape[1], share, float(_alpha(total)), low, high))
    return found


def _interval(measure: Any, units: NDArray[np.float64], seed: int) -> tuple[float, float]:
    """The middle 95% of the measure over samples of the units, drawn with replacement."""
    if len(units) < 2:
        return float("nan"), float("nan")
    rng = np.random.default_rng(seed)
    weights = rng.multinomial(len(units), np.full(len(units), 1 / len(units)), size=_SAMPLES)
    values = measure(np.tensordot(weights.astype(np.float64), units, axes=1))
    values = values[~np.isnan(values)]
    if not len(values):
        return float("nan"), float("nan")
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


def find_agreement(check: Check, log: JudgementLog, annotators: Sequence[str] = ()) -> Table:
    """The agreement of the annotators of a check, or of those named, and the number of disputed brackets."""
    brackets = [question.bracket for question in check.questions]
    answers = {name: row for name, row in ratings(log, brackets).items() if not annotators or name in annotators}
    disputes = [bracket for bracket in brackets if log.is_disputed(bracket)]
    rulings = sum(log.ruling(bracket) is not None for bracket in disputes)
    return agreement_table(all_agreements(answers), disputed=len(disputes), settled=rulings)


def agreement_table(agreements: Sequence[Agreement], *, disputed: int, settled: int) -> Table:
    """The agreements as a table, with a note on disputed brackets and how many of them the adjudicator has settled."""
    rows: list[tuple[Cell, ...]] = [
        (
            ", ".join(found.annotators),
            found.measure,
            found.shared,
            found.share,
            _Coefficient(found.value),
            _Coefficient(found.low),
            _Coefficient(found.high),
        )
        for found in agreements
    ]
    disputes = number_of(disputed, "bracket")
    notes = [f"{disputes} accepted by one annotator and rejected by another, {settled} settled by an adjudicator"]
    if not rows:
        notes = ["agreement needs at least two annotators"]
    columns = ("annotators", "measure", "brackets", "agree", "value", "low", "high")
    return Table("Agreement (accepted or rejected)", columns, tuple(rows), tuple(notes), percent=("agree",))


class _Coefficient(float):
    """A coefficient, shown with three decimals in any table."""

    def __format__(self, spec: str) -> str:
        return float.__format__(self, ".3f")
