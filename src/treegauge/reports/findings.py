"""The findings of a report in plain English: which system is better, by how much, whether by chance, and in which brackets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby

from treegauge.reports.report_contents import errors_table, labels_table
from treegauge.reports.reporting import Report
from treegauge.significance.comparison import ALPHA, Difference, PairOfSystems
from treegauge.significance.resampling import Name
from treegauge.significance.tabulation import shown_values
from treegauge.tables import Cell, Table, cell_text, number_of

_F1 = ("parseval", "f1")
MOST_PAIRS = 3
"""With more pairs of systems than this, the summary ranks the systems instead of comparing each pair."""


def headline(names: Sequence[Name]) -> Name:
    """The rate to name first: F1, or else the first of the names."""
    return _F1 if _F1 in names else names[0]


def headline_difference(pair: PairOfSystems) -> Difference:
    """The difference between two systems in the headline rate."""
    return pair.of(headline([difference.name for difference in pair.differences]))


def headline_name(name: Name) -> str:
    """A rate in words.

    >>> headline_name(("parseval", "f1")), headline_name(("leaf-ancestor", "leaf_ancestor"))
    ('F1', 'leaf-ancestor')
    """
    metric, rate = name
    return "F1" if name == _F1 else metric if metric.replace("-", "_") == rate else f"{metric} {rate.replace('_', ' ')}"


def p_text(p: float) -> str:
    """A probability as papers print it.

    >>> p_text(0.00001), p_text(0.0213)
    ('p < .0001', 'p = .0213')
    """
    return "p < .0001" if p < 0.0001 else "p = " + f"{p:.4f}".removeprefix("0")


def rate_number(name: Name, value: float) -> str:
    """A rate as a number with a real minus sign: a share in percent, a mean of counts as it is.

    >>> rate_number(("parseval", "f1"), -0.022), rate_number(("parseval", "average_crossing"), 0.8)
    ('−2.20', '0.80')
    """
    return cell_text(shown_values(name, value)[0], percent=True).replace("-", "−", 1) if not math.isnan(value) else "-"


def summary_text(report: Report) -> str:
    """The findings in a few sentences."""
    group = report.comparison.overall
    name = headline(group.names)
    if all(math.isnan(group.rates[system][name].value) for system in report.systems):
        return f"{_list_of(report.systems)} cannot be rated: none of the {group.sentences:,} sentences has a bracket that counts."
    if len(report.systems) == 1:
        return _one_system(report, report.systems[0])
    if len(group.pairs) > MOST_PAIRS:
        return f"{_ranking(report)} {_surely_different(report)}".rstrip()
    return " ".join(_pair(report, pair) for pair in group.pairs)


def _surely_different(report: Report) -> str:
    """A sentence on how many of many pairs differ significantly; empty if no two differ at all."""
    pairs = report.comparison.overall.pairs
    if not any(headline_difference(pair).value for pair in pairs):
        return ""
    found = [pair for pair in pairs if headline_difference(pair).winner]
    if not found and len(pairs) > ALPHA * (report.comparison.rounds + 1):
        return (
            f"{report.comparison.rounds:,} rounds are too few to tell the {len(pairs)} differences between two of them from chance."
        )
    if not found:
        return f"None of the {len(pairs)} differences between two of them is shown to be more than chance."
    which = "one is" if len(found) == 1 else f"{len(found)} are"
    return f"Of the {len(pairs)} differences between two of them, {which} unlikely to be due to chance (after Holm's correction)."


def _one_system(report: Report, system: str) -> str:
    group = report.comparison.overall
    name = headline(group.names)
    rate = group.rates[system][name]
    low, high = (rate_number(name, end) for end in rate.interval[:2])
    interval = f" ({100 * report.comparison.level:g}% interval {low} to {high})" if not math.isnan(rate.interval.low) else ""
    reached = f"{system} reaches {headline_name(name)} {rate_number(name, rate.value)} on"
    return f"{reached} {number_of(group.sentences, 'sentence')}{interval}.{_worst_kind(report, system)}"


def _worst_kind(report: Report, system: str) -> str:
    wrong = _wrong_by_kind(errors_table(report), system, several=False)
    total = sum(wrong.values())
    if not total:
        return ""
    kind = max(wrong, key=lambda name: wrong[name])
    return f" The most frequent kind of error, {kind}, accounts for {wrong[kind]:,} of its {total:,} wrong brackets."


def _ranking(report: Report) -> str:
    """A sentence that ranks all systems by the headline rate, those with the same rate together."""
    group = report.comparison.overall
    name = headline(group.names)
    values = {system: group.rates[system][name].value for system in report.systems}
    direction = -1 if headline_difference(group.pairs[0]).lower_is_better else 1
    ranked = sorted(report.systems, key=lambda system: -direction * values[system] if not math.isnan(values[system]) else math.inf)
    same = [(text, list(systems)) for text, systems in groupby(ranked, key=lambda system: rate_number(name, values[system]))]
    if len(same) == 1:
        return f"All {len(ranked)} systems have the same {headline_name(name)} ({same[0][0]})."
    listed = ", ".join(f"{_list_of(systems)} ({text}{' each' if len(systems) > 1 else ''})" for text, systems in same)
    less = " (less is better)" if direction < 0 else ""
    return f"By {headline_name(name)}{less}, the systems are, from the best to the worst: {listed}."


def _list_of(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _pair(report: Report, pair: PairOfSystems) -> str:
    difference = headline_difference(pair)
    name = difference.name
    what = headline_name(name)
    if difference.value == 0:
        return f"{pair.a} and {pair.b} have the same {what} ({rate_number(name, difference.a)})."
    if math.isnan(difference.value):
        return f"{pair.a} and {pair.b} cannot be compared by {what}: one of them has none."
    better, worse = (pair.b, pair.a) if (difference.value > 0) != difference.lower_is_better else (pair.a, pair.b)
    values = (difference.a, difference.b, *difference.interval[:2], abs(difference.value))
    a, b, low, high, size = (rate_number(name, value) for value in values)
    unit = f"{size} in" if name[1].startswith("average_") else f"{size} points of"
    level, less = f"{100 * report.comparison.level:g}%", ", where less is better" if difference.lower_is_better else ""
    numbers = f"({pair.b} {b}, {pair.a} {a}; {level} interval of the difference, {pair.b} minus {pair.a}: {low} to {high})"
    size = f"by {unit} {what}{less} {numbers}"
    chance = f"({p_text(difference.p_holm)}, randomisation test)"
    if difference.winner:
        text = f"{better} is better than {worse} {size}; this is unlikely to be due to chance {chance}."
    else:
        text = f"{better} is ahead of {worse} {size}, but that may be due to chance {chance}."
    return text + _where(report, better, worse)


def _where(report: Report, better: str, worse: str) -> str:
    """A sentence on the label and the kind of error that account for most of a difference; empty if there is none."""
    if not report.marks:
        return ""
    labels, errors = labels_table(report), errors_table(report)
    gold = labels.columns.index("gold")
    places = [labels.columns.index(f"{system} recall") for system in (better, worse)]
    gains = {str(row[0]): round(_number(row[gold]) * (_number(row[places[0]]) - _number(row[places[1]]))) for row in labels.rows}
    few, many = (_wrong_by_kind(errors, system, several=True) for system in (better, worse))
    saved = {kind: many[kind] - few.get(kind, 0) for kind in many}
    parts: list[str] = []
    if gains and (most := max(gains.values())) > 0:
        label = max(gains, key=lambda name: gains[name])
        parts.append(f"finds {number_of(most, f'more {label} bracket')}")
    if saved and (most := max(saved.values())) > 0:
        kind = max(saved, key=lambda name: saved[name])
        parts.append(f"has {number_of(most, 'fewer wrong bracket')} of the kind “{kind}”")
    return f" Where it comes from: {better} {' and '.join(parts)}." if parts else ""


def _wrong_by_kind(table: Table, system: str, *, several: bool) -> dict[str, int]:
    """The wrong brackets of a system, missed and spurious, by kind of error."""
    names = [f"{system} {column}" if several else column for column in ("missed", "spurious")]
    if not table.rows or names[0] not in table.columns:
        return {}
    places = [table.columns.index(name) for name in names]
    return {str(row[0]): sum(int(_number(row[place])) for place in places) for row in table.rows}


def _number(cell: Cell) -> float:
    return float(cell) if isinstance(cell, (int, float)) and not math.isnan(cell) else 0.0
