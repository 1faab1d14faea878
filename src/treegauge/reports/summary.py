"""A report in one paragraph of plain English, made from its numbers: which system is better, whether by chance, and where."""

from __future__ import annotations

import math

from treegauge.reports.report import Report
from treegauge.reports.report_tables import errors_table, labels_table
from treegauge.significance.comparison import Difference, PairOfSystems
from treegauge.tables import Cell, Table

__all__ = ["HEADLINE", "headline_difference", "headline_name", "p_text", "summary_text"]

HEADLINE = ("parseval", "f1")
_MOST_PAIRS = 3


def headline_difference(pair: PairOfSystems) -> Difference:
    """The difference of two systems that is named first: F1, or the first rate there is."""
    names = [difference.name for difference in pair.differences]
    return pair.of(HEADLINE if HEADLINE in names else names[0])


def headline_name(name: tuple[str, str]) -> str:
    """A rate in words.

    >>> headline_name(("parseval", "f1")), headline_name(("leaf-ancestor", "leaf_ancestor"))
    ('F1', 'leaf-ancestor leaf ancestor')
    """
    return "F1" if name == HEADLINE else f"{name[0]} {name[1].replace('_', ' ')}"


def p_text(p: float) -> str:
    """A probability as papers print it.

    >>> p_text(0.00001), p_text(0.0213)
    ('p < .0001', 'p = .0213')
    """
    return "p < .0001" if p < 0.0001 else "p = " + f"{p:.4f}".removeprefix("0")


def summary_text(report: Report) -> str:
    """The findings in a few sentences."""
    sentences = report.comparison.overall.sentences
    if len(report.systems) == 1:
        return _one_system(report, report.systems[0], sentences)
    pairs = report.comparison.overall.pairs
    texts = [_pair(report, pair) for pair in pairs[:_MOST_PAIRS]]
    if len(pairs) > _MOST_PAIRS:
        return f"{_ranking(report)} The table of differences has every pair."
    return " ".join(texts)


def _one_system(report: Report, system: str, sentences: int) -> str:
    group = report.comparison.overall
    name = HEADLINE if HEADLINE in group.names else group.names[0]
    rate = group.rates[system][name]
    if math.isnan(rate.value):
        return f"{system} was scored on {sentences:,} sentences, none of which has a bracket that counts."
    level = f"{100 * report.comparison.level:g}%"
    return (
        f"{system} reaches {headline_name(name)} {100 * rate.value:.2f} on {sentences:,} sentences "
        f"({level} interval {100 * rate.interval.low:.2f} to {100 * rate.interval.high:.2f}).{_worst_kind(report, system)}"
    )


def _worst_kind(report: Report, system: str) -> str:
    table = errors_table(report)
    wrong = _wrong_by_kind(table, system, several=False)
    if not wrong:
        return ""
    kind = max(wrong, key=lambda name: wrong[name])
    total = sum(wrong.values())
    return f" Most of its {total:,} wrong brackets come from {kind} ({wrong[kind]:,})." if total else ""


def _ranking(report: Report) -> str:
    group = report.comparison.overall
    name = HEADLINE if HEADLINE in group.names else group.names[0]
    ranked = sorted(report.systems, key=lambda system: -group.rates[system][name].value)
    listed = ", ".join(f"{system} ({100 * group.rates[system][name].value:.2f})" for system in ranked)
    return f"By {headline_name(name)}, the systems are, from the best to the worst: {listed}."


def _pair(report: Report, pair: PairOfSystems) -> str:
    difference = headline_difference(pair)
    rates = report.comparison.overall.rates
    a, b = (100 * rates[system][difference.name].value for system in (pair.a, pair.b))
    what, level = headline_name(difference.name), f"{100 * report.comparison.level:g}%"
    low, high = 100 * difference.interval.low, 100 * difference.interval.high
    better, worse = (pair.b, pair.a) if difference.value >= 0 else (pair.a, pair.b)
    chance = p_text(difference.p_holm)
    if difference.value == 0:
        return f"{pair.a} and {pair.b} have the same {what} ({a:.2f})."
    interval = f"{level} interval of the difference, {pair.b} minus {pair.a}: {low:.2f} to {high:.2f}"
    size = f"by {abs(b - a):.2f} points of {what} ({pair.b} {b:.2f}, {pair.a} {a:.2f}; {interval})"
    if difference.winner:
        text = f"{better} is better than {worse} {size}; the difference is not due to chance ({chance}, randomisation test)."
    else:
        text = f"{better} is ahead of {worse} {size}, but that may be due to chance ({chance}, randomisation test)."
    return text.replace(" -", " −") + _where(report, pair, better, worse)


def _where(report: Report, pair: PairOfSystems, better: str, worse: str) -> str:
    """The label and the kind of error that account for most of a difference."""
    labels, errors = labels_table(report), errors_table(report)
    gold, key = labels.columns.index("gold"), 0
    places = [labels.columns.index(f"{system} recall") for system in (better, worse)]
    gains = {str(row[key]): _number(row[gold]) * (_number(row[places[0]]) - _number(row[places[1]])) for row in labels.rows}
    gains = {label: gain for label, gain in gains.items() if gain > 0}
    few, many = (_wrong_by_kind(errors, system, several=True) for system in (better, worse))
    saved = {kind: many[kind] - few.get(kind, 0) for kind in many if many[kind] > few.get(kind, 0)}
    parts: list[str] = []
    if gains:
        label = max(gains, key=lambda name: gains[name])
        parts.append(f"{better} finds {round(gains[label]):,} more {label} brackets")
    if saved:
        kind = max(saved, key=lambda name: saved[name])
        parts.append(f"it has {saved[kind]:,} fewer wrong brackets from {kind}")
    return f" Where it comes from: {' and '.join(parts)}." if parts else ""


def _wrong_by_kind(table: Table, system: str, *, several: bool) -> dict[str, int]:
    """The wrong brackets of a system, missed and spurious, by kind of error."""
    names = [f"{system} {column}" if several else column for column in ("missed", "spurious")]
    if not table.rows or names[0] not in table.columns:
        return {}
    places = [table.columns.index(name) for name in names]
    return {str(row[0]): sum(int(_number(row[place])) for place in places) for row in table.rows}


def _number(cell: Cell) -> float:
    return float(cell) if isinstance(cell, (int, float)) and not math.isnan(cell) else 0.0
