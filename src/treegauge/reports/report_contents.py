"""The tables, figures and findings of a report: rates with intervals, differences, winners, breakdowns of all systems side by side,
and in plain English which system is better, by how much, whether by chance, and in which brackets.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from treegauge.metrics.freval import Freval
from treegauge.metrics.registry import find_metric
from treegauge.reports.comparison_figures import differences_figure
from treegauge.reports.figures import Figure, Series, fragment_figures, number_in
from treegauge.reports.reporting import Report
from treegauge.scoring.paper_table import rate_heading
from treegauge.significance.classical import ALPHA
from treegauge.significance.comparison import Comparison, Difference, Group, PairOfSystems
from treegauge.significance.resampling import Interval, Name
from treegauge.significance.tabulation import P, better_last, headline, matrix_table, shown_values
from treegauge.tables import Cell, Table, cell_text, number_of

_MOST_CONFUSIONS = 12
_MATRIX_RATES = (("parseval", "f1"), ("parseval", "exact_match"), ("leaf-ancestor", "leaf_ancestor"), ("freval", "f1"))


def section_tables(report: Report) -> dict[str, Sequence[Table]]:
    """The tables of each section of the page, in its order; those that need the trees are empty if only scores are at hand."""
    of_trees = bool(report.marks)
    return {
        "differences": difference_tables(report),
        "summary": rates_tables(report),
        "matrix": matrix_tables(report),
        "fragments": fragments_tables(report),
        "labels": [labels_table(report)] if of_trees else [],
        "lengths": [lengths_table(report)] if of_trees else [],
        "crossings": [crossings_table(report)] if of_trees else [],
        "gaps": gaps_tables(report),
        "errors": [errors_table(report)] if of_trees and report.breakdowns.get("errors") else [],
        "confusions": confusion_tables(report),
        "hogenhout": hogenhout_tables(report),
        "pairs": hogenhout_pair_tables(report),
        "checked": report.checked,
    }


def rates_tables(report: Report) -> list[Table]:
    """Each rate of each system with its interval; none for two systems, whose rates are in the table of differences."""
    group = report.comparison.overall
    if len(report.systems) == 2:
        return []
    rows = tuple((*_name_cells(name), *(_rate_cell(group, system, name) for system in report.systems)) for name in group.names)
    notes = (_about_intervals(report), *_about_fragments(report))
    return [Table("Rates", ("metric", "rate", *report.systems), rows, notes)]


def _rate_cell(group: Group, system: str, name: Name) -> str:
    rate = group.rates[system][name]
    return rate_text(name, rate.value, rate.interval)


def _about_intervals(report: Report) -> str:
    sentences, rounds = number_of(report.comparison.overall.sentences, "sentence"), report.comparison.rounds
    return f"{sentences}; in brackets {100 * report.comparison.level:g}% bootstrap intervals ({rounds} samples of the sentences)"


def _about_fragments(report: Report) -> list[str]:
    sizes = report.fragments[report.systems[0]].sizes if report.fragments else ()
    if ("freval", "f1") not in report.comparison.overall.names or len(sizes) < 2:
        return []
    return [f"freval f1 gives {len(sizes)} fragment sizes equal weight, most of which no parser gets right: see Fragments"]


def difference_tables(report: Report) -> list[Table]:
    """The differences of every pair of systems in every rate, the better system minus the other; none for a single system."""
    comparison, group = report.comparison, report.comparison.overall
    if not group.pairs:
        return []
    pairs = better_last(group)
    several = len(pairs) > 1
    rows: list[tuple[Cell, ...]] = []
    for pair in pairs:
        names = [f"{pair.b} − {pair.a}"] if several else []
        for one in pair.differences:
            value, low, high = (shown_values(one.name, end)[0] for end in (one.value, *one.interval[:2]))
            interval = f"[{cell_text(low, percent=True)}, {cell_text(high, percent=True)}]" if not math.isnan(low) else "-"
            systems = (_rate_cell(group, system, one.name) for system in (pair.b, pair.a))
            label = rate_heading(one.name, group.names)
            rows.append((*names, label, value, interval, P(one.p_holm), *systems, one.sign.wins, one.sign.losses))
    (plain,) = comparison.tables("differences")
    # Its other notes are on columns that are not here, or elsewhere on the page.
    notes = [
        note
        for note in plain.notes
        if not note.startswith(("difference: ", "effect: ", "warning: ")) and "samples, seed" not in note
    ]
    which = ("first", "second") if several else (pairs[0].b, pairs[0].a)
    columns = ("pair", "rate") if several else ("rate",)
    return [
        Table(
            "Differences" if several else f"Differences, {which[0]} minus {which[1]}",
            (*columns, "difference", "interval", "p", *which, "wins", "losses"),
            tuple(rows),
            (
                _about_intervals(report),
                *notes,
                "wins, losses: sentences where the first system is better, worse",
                *_about_fragments(report),
            ),
            percent=("difference",),
        )
    ]


def _name_cells(name: tuple[str, str]) -> tuple[str, str]:
    return name[0], find_metric(name[0]).rate_words(name[1])


def rate_text(name: tuple[str, str], value: float, interval: Interval) -> str:
    """A rate and its interval as text: a share in percent, a mean of counts as it is.

    >>> rate_text(("parseval", "f1"), 0.8253, Interval(0.8160, 0.8341, "bca"))
    '82.53 [81.60, 83.41]'
    """
    text, low, high = (cell_text(one, percent=True) for one in shown_values(name, value, *interval[:2]))
    return text if math.isnan(value) or math.isnan(interval.low) else f"{text} [{low}, {high}]"


def matrix_tables(report: Report) -> list[Table]:
    """The winner of every pair of more than two systems, by the rates that people quote."""
    group = report.comparison.overall
    names = [name for name in _MATRIX_RATES if name in group.names]
    if len(report.systems) < 3:
        return []
    tables = [matrix_table(report.comparison, group, name) for name in names]
    # The signs are explained once, below the last table.
    return [*(replace(table, notes=()) for table in tables[:-1]), *tables[-1:]]


def fragments_tables(report: Report) -> list[Table]:
    """FREVAL: a row for each system, with recall, precision and F1 for each range of sizes; none on discontinuous trees."""
    if not report.fragments:
        return []
    metric = Freval()
    columns = metric.range_columns
    rows = tuple((system, *(found.rates[name] for name in metric.range_rates)) for system, found in report.fragments.items())
    return [Table("Fragments (FREVAL) up to a size", ("system", *columns), rows, percent=columns)]


def labels_table(report: Report) -> Table:
    """Recall, precision and F1 of each label."""
    return _side_by_side(report, "labels", "By label", "label", ("gold",), ("recall", "precision", "f1"))


def lengths_table(report: Report) -> Table:
    """PARSEVAL by sentence length."""
    return _side_by_side(report, "lengths", "By sentence length", "words", ("sentences", "gold"), ("f1", "exact", "crossing"))


def crossings_table(report: Report) -> Table:
    """Sentences by the number of crossing brackets; unless the report is full, those with many are one row."""
    table = _side_by_side(report, "crossings", "Sentences by crossing brackets", "crossing", (), ("sentences", "share"))
    rows = sorted((tuple(cell or 0 for cell in row) for row in table.rows), key=lambda row: int(row[0]))
    table = Table(table.title, table.columns, tuple(rows), percent=table.percent)
    return table if report.full else _with_many_crossings_together(table)


def _with_many_crossings_together(table: Table) -> Table:
    """The table with one row for all sentences with at least :data:`_MOST_CROSSING` crossing brackets."""
    few = [row for row in table.rows if int(number_in(row[0])) < _MOST_CROSSING]
    many = table.rows[len(few) :]
    if len(many) < 2:
        return table
    sums = (sum(map(number_in, column)) for column in list(zip(*many, strict=True))[1:])
    total = (value if name in table.percent else int(value) for name, value in zip(table.columns[1:], sums, strict=True))
    return replace(table, rows=(*few, (f"{_MOST_CROSSING}+", *total)))


def gaps_tables(report: Report) -> list[Table]:
    """Brackets by their fan-out, and sentences by their gap degree; none on continuous trees."""
    if not report.breakdowns.get("fan-outs"):
        return []
    fan_outs = _side_by_side(report, "fan-outs", "By fan-out", "fan-out", ("gap degree", "gold"), ("recall", "precision", "f1"))
    title = "By gap degree of the sentence"
    degrees = _side_by_side(report, "gap-degrees", title, "gap degree", ("sentences", "gold"), ("f1", "exact"))
    return [replace(table, rows=tuple(sorted(table.rows, key=lambda row: int(row[0] or 0)))) for table in (fan_outs, degrees)]


def errors_table(report: Report) -> Table:
    """Errors by kind, with the F1 if all of that kind were repaired; without rows on discontinuous trees."""
    return _side_by_side(report, "errors", "By kind of error", "kind", (), ("errors", "missed", "spurious", "f1 if repaired"))


def confusion_tables(report: Report) -> list[Table]:
    """The most frequent wrong labels on right spans, a table for each system."""
    found = {system: of_system.table for system, of_system in report.breakdowns.get("confusions", {}).items()}
    return [
        replace(table, title=f"Labels confused by {system}", rows=table.rows[:_MOST_CONFUSIONS], notes=())
        for system, table in found.items()
        if table.rows
    ]


def hogenhout_tables(report: Report) -> list[Table]:
    """Hogenhout & Matsumoto's items and measures of each system."""
    # A human check has tables of its own, in which no measure is missing.
    found = [] if report.checked else [table for name in ("items", "measures") for table in report.comparison.tables(name)]
    return [*found, *([report.parse_base] if report.parse_base is not None else [])]


def hogenhout_pair_tables(report: Report) -> list[Table]:
    """The brackets that every two systems share, and the tests on them; none for a single system."""
    names = () if len(report.systems) < 2 else ("comparative", "brackets")
    return [table for name in names for table in report.comparison.tables(name)]


def _side_by_side(report: Report, breakdown: str, title: str, key: str, shared: Sequence[str], of_system: Sequence[str]) -> Table:
    """A breakdown of all systems in one table: the ``shared`` columns once, those ``of_system`` once for each system."""
    if breakdown not in report.breakdowns:
        return Table(title, (key, *shared), ())
    tables = {system: found.table for system, found in report.breakdowns[breakdown].items()}
    records = {system: _by_key(table, key) for system, table in tables.items()}
    keys = list(dict.fromkeys(name for found in records.values() for name in found))
    several = len(report.systems) > 1
    columns = [(s, column, f"{s} {column}" if several else column) for column in of_system for s in report.systems]
    rows: list[tuple[Cell, ...]] = []
    for name in keys:
        known = next(found[name] for found in records.values() if name in found)
        rows.append(
            (name, *(known[column] for column in shared), *(records[s].get(name, {}).get(column) for s, column, _ in columns))
        )
    first = next(iter(tables.values()), Table(title, (), ()))
    percent = tuple(shown for _, column, shown in columns if column in first.percent)
    return Table(title, (key, *shared, *(shown for *_, shown in columns)), tuple(rows), first.notes, percent)


def _by_key(table: Table, key: str) -> Mapping[Cell, Mapping[str, Cell]]:
    index = table.columns.index(key)
    return {row[index]: dict(zip(table.columns, row, strict=True)) for row in table.rows}


_MOST_SIZES = 15
_MOST_LABELS = 14
_MOST_CROSSING = 10


def report_figures(report: Report, tables: Mapping[str, Sequence[Table]]) -> dict[str, list[Figure]]:
    """The figures of each section of a report, those of breakdowns from the ``tables`` of their sections."""
    drawn = {"labels": _labels_figure, "lengths": _lengths_figure, "crossings": _crossings_figure, "errors": _errors_figure}
    of_trees = {name: [draw(report, table) for table in tables[name] if table.rows] for name, draw in drawn.items()}
    return {"summary": _summary_figures(report), "fragments": _fragment_figures(report), **of_trees}


def _summary_figures(report: Report) -> list[Figure]:
    """The differences between two systems, or of the best of several from the others, with the rates; the rates of one system."""
    comparison = report.comparison
    if len(report.systems) == 1:
        return [rates_figure(comparison)]
    group, best = comparison.overall, ranked_systems(report)[0]
    name = headline(group)
    pairs = [pair for pair in better_last(group) if best in (pair.a, pair.b)]
    several = len(pairs) > 1
    chosen = [replace(pair, differences=(pair.of(name),) if several else _drawable(pair)) for pair in pairs]
    figure = differences_figure(replace(comparison, groups=(replace(group, pairs=tuple(chosen)),)))
    if not several:
        return [figure]
    title = f"Differences in {rate_heading(name, [name])}, {best} minus each other system"
    return [replace(figure, title=f"{title}, with {100 * comparison.level:g}% intervals"), rates_figure(comparison)]


def _drawable(pair: PairOfSystems) -> tuple[Difference, ...]:
    """The differences but for that of FREVAL over all sizes, most of which no parser gets right: it may dwarf the others."""
    found = tuple(one for one in pair.differences if one.name != ("freval", "f1"))
    return found or pair.differences


def rates_figure(comparison: Comparison) -> Figure:
    """Every rate of a comparison with its interval."""
    group = comparison.overall
    defined = [name for name in group.names if any(math.isfinite(group.rates[s][name].value) for s in comparison.systems)]
    # Means of counts have another scale, so they are drawn only if there is nothing else.
    names = [name for name in defined if not name[1].startswith("average_")]
    percent = bool(names) or not defined
    names = names or defined
    rates = {system: [group.rates[system][name] for name in names] for system in comparison.systems}
    series = [
        Series(system, [rate.value for rate in of], [rate.interval.low for rate in of], [rate.interval.high for rate in of])
        for system, of in rates.items()
    ]
    shown = [f"{metric} {rate.replace('_', ' ')}" if metric.replace("-", "_") != rate else metric for metric, rate in names]
    title = f"Rates{' in percent' if percent else ''}, with {100 * comparison.level:g}% bootstrap intervals"
    return Figure("rates", "points", title, shown, series, percent=percent, key="rate")


def _fragment_figures(report: Report) -> list[Figure]:
    """F1 by fragment size and, with several systems, the difference from the first."""
    if not report.fragments:
        return []
    largest = max((len(found.sizes) for found in report.fragments.values()), default=1)
    f1 = {system: [size.f1 for size in found.sizes] for system, found in report.fragments.items()}
    return fragment_figures(f1, upto=min(largest, _MOST_SIZES))


def _labels_figure(report: Report, table: Table) -> Figure:
    """F1 of the most frequent labels."""
    rows = sorted(table.rows, key=lambda row: -number_in(row[1]))[:_MOST_LABELS]
    names = [f"{row[0]} ({row[1]})" for row in rows]
    title = "F1 of the most frequent labels (gold brackets)"
    return Figure("labels", "points", title, names, _of_systems(report, table, rows, "f1"), percent=True, key="label")


def _lengths_figure(report: Report, table: Table) -> Figure:
    """F1 by sentence length."""
    names = [f"{row[0]} ({row[1]})" for row in table.rows]
    series = _of_systems(report, table, table.rows, "f1")
    return Figure("lengths", "lines", "F1 by sentence length", names, series, "words (sentences)", "F1", percent=True, key="words")


def _crossings_figure(report: Report, table: Table) -> Figure:
    """The number of sentences with no, one, two ... crossing brackets."""
    names = [*map(str, range(_MOST_CROSSING)), f"{_MOST_CROSSING}+"]
    series: list[Series] = []
    for one in _of_systems(report, table, table.rows, "sentences"):
        counts = [0.0] * len(names)
        for row, value in zip(table.rows, one.values, strict=True):
            counts[min(int(str(row[0]).rstrip("+")), _MOST_CROSSING)] += 0 if math.isnan(value) else value
        series.append(Series(one.name, counts))
    title = "Sentences by the number of test brackets that cross gold"
    return Figure("crossings", "columns", title, names, series, "crossing brackets in the sentence", "sentences", key="crossing")


def _errors_figure(report: Report, table: Table) -> Figure:
    """Wrong brackets, missed and spurious, by kind of error."""
    missed, spurious = (_of_systems(report, table, table.rows, column) for column in ("missed", "spurious"))
    series = [
        Series(a.name, [x + y for x, y in zip(a.values, b.values, strict=True)]) for a, b in zip(missed, spurious, strict=True)
    ]
    title = "Wrong brackets, missed and spurious, by kind of error"
    return Figure("errors", "points", title, [str(row[0]) for row in table.rows], series, "wrong brackets", zero=True, key="kind")


def _of_systems(report: Report, table: Table, rows: Sequence[Sequence[Cell]], column: str) -> list[Series]:
    """One column of every system, from a table that shows the systems side by side."""
    several = len(report.systems) > 1
    places = [table.columns.index(f"{system} {column}" if several else column) for system in report.systems]
    return [Series(system, [number_in(row[place]) for row in rows]) for system, place in zip(report.systems, places, strict=True)]


_MOST_ORIGINS = 3


class SavedBrackets(NamedTuple):
    """A label or a kind of error, and how many wrong brackets of it the better system has fewer than the other."""

    name: str
    fewer: int


class Findings(NamedTuple):
    """The findings in a sentence or two; of the better of two systems also where it has fewer wrong brackets, and in all."""

    text: str
    better: str = ""
    other: str = ""
    fewer: int = 0
    labels: tuple[SavedBrackets, ...] = ()
    kinds: tuple[SavedBrackets, ...] = ()


def summarise(report: Report) -> Findings:
    """The answer of the comparison, how many differences of several systems are sure, and in which brackets the best is better."""
    group = report.comparison.overall
    name = headline(group)
    if all(math.isnan(group.rates[system][name].value) for system in report.systems):
        who = ", ".join(report.systems)
        return Findings(f"{who} cannot be rated: none of the {group.sentences:,} sentences has a bracket that counts.")
    if len(report.systems) == 1:
        return Findings(_one_system(report, report.systems[0]))
    pair = better_last(group)[0]
    text = " ".join([report.comparison.answer[0], *_surely_different(report)])
    if not pair.of(name).value or math.isnan(pair.of(name).value):
        return Findings(text)
    labels = _fewer(report, "labels", pair, lambda gold, found, test, right: gold - found + test - right)
    kinds = _fewer(report, "errors", pair, lambda errors, missed, spurious, sentences: missed + spurious)
    return Findings(text, pair.b, pair.a, sum(one.fewer for one in labels), *(_largest(found) for found in (labels, kinds)))


def _fewer(report: Report, breakdown: str, pair: PairOfSystems, wrong: Callable[[int, int, int, int], int]) -> list[SavedBrackets]:
    """The wrong brackets of each key of a breakdown that the second system has fewer than the first."""
    if not report.breakdowns.get(breakdown):
        return []
    first, second = (report.breakdowns[breakdown][system].counts for system in (pair.a, pair.b))
    nothing = (0, 0, 0, 0)
    # The key without parts is that of the totals.
    keys = [key for key in dict.fromkeys([*first, *second]) if key]
    return [SavedBrackets(str(key[0]), wrong(*first.get(key, nothing)) - wrong(*second.get(key, nothing))) for key in keys]


def _largest(origins: Sequence[SavedBrackets]) -> tuple[SavedBrackets, ...]:
    found = sorted((one for one in origins if one.fewer > 0), key=lambda one: -one.fewer)
    return tuple(found[:_MOST_ORIGINS])


def ranked_systems(report: Report) -> list[str]:
    """The systems by the headline rate, the best first; those without a rate last."""
    group = report.comparison.overall
    name = headline(group)
    values = {system: group.rates[system][name].value for system in report.systems}
    sign = 1 if group.pairs and group.pairs[0].of(name).lower_is_better else -1
    return sorted(report.systems, key=lambda system: math.inf if math.isnan(values[system]) else sign * values[system])


def _surely_different(report: Report) -> list[str]:
    """A sentence on how many pairs of several systems differ significantly; none if no two differ at all."""
    pairs = report.comparison.overall.pairs
    found = [pair.of(headline(report.comparison.overall)) for pair in pairs]
    if len(pairs) == 1 or not any(one.value for one in found):
        return []
    sure, among = sum(bool(one.winner) for one in found), f"the {len(pairs)} differences between two of them"
    if not sure and len(pairs) > ALPHA * (report.comparison.rounds + 1):
        return [f"{report.comparison.rounds:,} rounds are too few to tell {among} from chance."]
    return [f"Of {among}, {sure or 'none'} {'is' if sure < 2 else 'are'} shown to be more than chance."]


def _one_system(report: Report, system: str) -> str:
    group = report.comparison.overall
    name = headline(group)
    rate = group.rates[system][name]
    value, low, high = (cell_text(one, percent=True) for one in shown_values(name, rate.value, *rate.interval[:2]))
    interval = f" ({100 * report.comparison.level:g}% interval {low} to {high})" if not math.isnan(rate.interval.low) else ""
    reached = f"{system} reaches {rate_heading(name, [name])} {value} on {number_of(group.sentences, 'sentence')}{interval}."
    return f"{reached}{_worst_kind(report, system)}"


def _worst_kind(report: Report, system: str) -> str:
    counts = report.breakdowns.get("errors", {})
    wrong = (
        {str(key[0]): missed + spurious for key, (_, missed, spurious, _) in counts[system].counts.items() if key} if counts else {}
    )
    total = sum(wrong.values())
    if not total:
        return ""
    kind = max(wrong, key=lambda name: wrong[name])
    return f" The most frequent kind of error, {kind}, accounts for {wrong[kind]:,} of its {total:,} wrong brackets."
