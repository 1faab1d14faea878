"""A comparison as tables: rates, differences, which system beats which, and Hogenhout & Matsumoto's Tables 1, 2 and 4.

Cells are numbers at full precision; :class:`P` is a number with its own format.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from treegauge.errors import check_name
from treegauge.metrics.hogenhout import COMPARATIVE
from treegauge.metrics.hogenhout.bracket_measures import measure_titles
from treegauge.metrics.registry import find_metric
from treegauge.scoring.paper_table import (
    AS_GOOD,
    Published,
    ShortSentences,
    SystemRow,
    choose_rates,
    counted_caption,
    published_rows,
    rate_heading,
    runs_caption,
    systems_table,
)
from treegauge.significance.classical import ALPHA, DEPENDENCE
from treegauge.significance.comparison import Comparison, Difference, Group, PairOfSystems, Rate, length_title
from treegauge.significance.power import Power
from treegauge.significance.resampling import Name
from treegauge.tables import Average, Cell, Measured, Table, cell_text, number_of, rounded


def _number_of_swaps(pairs: Sequence[PairOfSystems]) -> str:
    """The number of ways of swapping sentences that were tried, in words."""
    kinds = [f"all {pair.rounds} ways" if pair.exact else f"{pair.rounds} rounds" for pair in pairs]
    return ", ".join(sorted({"no sentence differs" if kind == "all 1 ways" else kind for kind in kinds}))


def _cautions(comparison: Comparison) -> Iterator[str]:
    """The factor by which documents widen intervals, the warnings about intervals with the rates they concern, and all others."""
    group = comparison.overall
    if group.documents is not None:
        number, least, most = group.documents
        wider = " to ".join(dict.fromkeys((f"{least:.2f}", f"{most:.2f}")))
        yield f"{number_of(number, 'document')}, resampled whole: intervals are {wider} times as wide as with single sentences"
    about: dict[str, dict[str, None]] = {}
    for difference in (difference for pair in group.pairs for difference in pair.differences):
        about.setdefault(difference.interval.warning, {})[" ".join(difference.name)] = None
    about.pop("", None)
    yield from (f"{'all rates' if len(of) == len(group.names) else ', '.join(of)}: {warning}" for warning, of in about.items())
    yield from (f"warning: {warning}" for warning in (*comparison.warnings, *group.warnings))


class P(Average):
    """A probability, shown with four decimals, or as ``<.0001`` if it is smaller.

    >>> f"{P(0.03):.2f}", f"{P(1e-9):.2f}", f"{P(1):.2f}"
    ('.0300', '<.0001', '1.0000')
    """

    def __format__(self, spec: str) -> str:
        if 0 <= self < 0.0001:
            return "<.0001"
        return float.__format__(self, ".4f").removeprefix("0") if self < 1 else float.__format__(self, ".4f")


class Percent(Average):
    """A probability, shown as a whole percentage.

    >>> f"{Percent(0.8125):.2f}"
    '81%'
    """

    def __format__(self, spec: str) -> str:
        return f"{100 * float(self):.0f}%"


TABLES = (
    *("answer", "rates", "differences", "runs", "matrix", "length", "structure", "items", "comparative", "measures", "crossing"),
    *("brackets", "equivalence", "power", "signatures", "tidy"),
)
"""The tables of a comparison: the answer, rates with intervals, differences, runs, who beats whom, by length, by structure,
Hogenhout & Matsumoto's Tables 1, 2 and 4, sentences by crossing errors, tests on brackets, tests of equivalence, power, the
signatures of the scores, and all differences of all groups in one table for other programs."""


def comparison_tables(comparison: Comparison, names: Sequence[str] = ()) -> list[Table]:
    """The tables of a comparison with these names, or all that have content, in the order of :data:`TABLES`."""
    for name in names:
        check_name("table", name, (*TABLES, "all"))
    overall, names = comparison.overall, () if "all" in names else names
    items, comparative, measures = ([table] if overall.items else [] for table in paper_tables(overall))
    several, headlines = len(comparison.systems) > 2, [name for name in overall.names if name[1] == find_metric(name[0]).headline]
    tables: dict[str, list[Table]] = {
        "answer": [_answer_table(comparison)] if "answer" in names else [],
        "rates": [_rates(overall)] if several or "rates" in names else [],
        "differences": [_differences(comparison)],
        "runs": [_runs(overall)] if overall.has_runs or "runs" in names else [],
        "matrix": [matrix_table(comparison, overall, name) for name in headlines] if several or "matrix" in names else [],
        "length": _by_group(comparison, "length", "By sentence length"),
        "structure": _by_group(comparison, "structure", "By structure"),
        "items": items,
        "comparative": comparative,
        "measures": measures,
        "crossing": [_crossing_table(overall)] if overall.items else [],
        "brackets": [bracket_test_table([overall, *comparison.of_kind("structure")])] if overall.items else [],
        "equivalence": _equivalence(overall),
        "power": _power(overall),
        "signatures": [signature_table(comparison)] if "signatures" in names else [],
        "tidy": [tidy_table(comparison)] if "tidy" in names else [],
    }
    return [table for name in TABLES if not names or name in names for table in tables[name]]


def headline(group: Group) -> Name:
    """The rate that decides which of two systems is the better one: the first metric's main rate."""
    return next((name for name in group.names if name[1] == find_metric(name[0]).headline), group.names[0])


def better_last(group: Group) -> list[PairOfSystems]:
    """The pairs, each with the better system second, so that differences read as gains; those of the best system first."""
    name, sign = headline(group), -1 if headline(group)[1] in find_metric(headline(group)[0]).lower_is_better else 1
    pairs = [pair.turned() if sign * pair.of(name).value < 0 else pair for pair in group.pairs]
    value = {system: sign * rates[name].value for system, rates in group.rates.items()}
    return sorted(pairs, key=lambda pair: (-value[pair.b], -value[pair.a]))


def answer(comparison: Comparison) -> tuple[str, ...]:
    """A sentence on whether the best system is better than each other one, by the headline rate; of one system, on its plans."""
    group, level = comparison.overall, f"{100 * comparison.level:g}%"
    pairs, name = better_last(group), headline(comparison.overall)
    corrected = f" after Holm's correction for {number_of(len(group.pairs), 'pair')}" if len(pairs) > 1 else ""
    sentences: list[str] = []
    for pair in pairs[: len(comparison.systems) - 1]:
        found = pair.of(name)
        if math.isnan(found.value):
            sentences.append(f"{rate_heading(name, [name])} is undefined for {pair.a} or {pair.b}.")
            continue
        gain = found if found.value >= 0 else found.turned()
        size, low, high = (cell_text(value, percent=True) for value in shown_values(name, gain.value, *gain.interval[:2]))
        chance = f"({level} interval {low} to {high}, {_p_words(found.p_holm)}{corrected})"
        amount = f"{size} {rate_heading(name, [name])}"
        if found.winner:
            sentences.append(f"{pair.b} is better than {pair.a} by {amount} {chance}.")
        elif found.value:
            more = "less" if found.lower_is_better else "more"
            sentences.append(f"No difference is shown between {pair.a} and {pair.b}: {pair.b} has {amount} {more} {chance}.")
        else:
            sentences.append(f"{pair.a} and {pair.b} have the same {rate_heading(name, [name])} {chance}.")
        sentences += _further(found)
    return (*sentences, *_planned(name, list(group.plans.get(name, {}).values())))


def _planned(name: Name, plans: Sequence[Power]) -> Iterator[str]:
    """A sentence on the number of sentences that an assumed difference needs, if that is known for some correlation."""
    found = sorted(power.needed for power in plans if math.isfinite(power.needed))
    if found:
        size = cell_text(shown_values(name, plans[0].difference)[0], percent=True)
        ends = [f"{float(f'{needed:.2g}'):,.0f}" for needed in (found[0], found[-1])]
        number = f"about {' to '.join(dict.fromkeys(ends))}" if len(found) == len(plans) else f"at least {ends[0]}"
        takes = f"takes {number} sentences, depending on how alike the parsers are"
        yield f"To show a difference of {size} {rate_heading(name, [name])} with 80% power {takes}."


def _further(found: Difference) -> Iterator[str]:
    """Sentences on equivalence and power, if they were asked for."""
    rate = rate_heading(found.name, [found.name])
    if found.equivalence is not None:
        margin, p = cell_text(shown_values(found.name, found.equivalence.margin)[0], percent=True), _p_words(found.equivalence.p)
        verdict = "They are equivalent" if found.equivalence.p <= ALPHA else "It is not shown that they are equivalent"
        yield f"{verdict} within ±{margin} {rate} ({p})."
    if found.power is not None:
        size = cell_text(shown_values(found.name, found.power.detectable)[0], percent=True)
        shown = "cannot show any difference" if size == "-" else f"shows differences of {size} {rate} or more"
        yield f"Such a test set {shown} with 80% power."


def _p_words(p: float) -> str:
    shown = f"{P(p):.4f}"
    return f"p < {shown[1:]}" if shown.startswith("<") else f"p = {shown}"


def _answer_table(comparison: Comparison) -> Table:
    """The differences, without what only experts read."""
    group = comparison.overall
    rows = [cells for _, cells in _difference_rows(group, len(group.pairs) > 1)]
    notes = (f"{number_of(group.sentences, 'sentence')}; {_how_tested(comparison)}", *_cautions(comparison))
    table = _difference_table("", comparison, rows, notes)
    if len({metric for metric, _ in group.names}) > 1:
        return table
    place = table.columns.index("metric")
    columns, *others = (cells[:place] + cells[place + 1 :] for cells in (table.columns, *rows))
    return replace(table, columns=columns, rows=tuple(others))


def _how_tested(comparison: Comparison) -> str:
    """The tests in a line."""
    group = comparison.overall
    units = "documents" if group.documents else "sentences"
    resampled = [pair for pair in group.pairs if pair.rounds]
    words = [f"paired randomisation of whole {units} and bootstrap intervals, {comparison.rounds:,} rounds"] if resampled else []
    if len(resampled) < len(group.pairs):
        words.append(f"Student's t-test that counts the variation between runs and between {units}")
    return "; ".join(words) + (", p corrected for all pairs (Holm)" if len(group.pairs) > 1 else "")


def paper_table(
    comparison: Comparison,
    rates: str | Sequence[str] = (),
    *,
    others: Sequence[SystemRow] = (),
    published: Published = (),
    intervals: bool = False,
) -> Table:
    """One row per system: the best in bold, a dagger where a system is not significantly worse than the best.

    ``others`` and ``published`` are rows that are not tested; ``intervals`` shows the interval of each rate.
    """
    group = comparison.overall
    names = choose_rates(group.names, {}, rates or ("all",))
    length = comparison.cutoff or 0
    parts = [group, *(of for of in comparison.of_kind("length") if of.title == length_title(0, length))]
    rows = [
        SystemRow(system, whole, short=dict(*short))
        for system in group.rates
        for whole, *short in [[{n: _rate_cell(n, part.rates[system][n], interval=intervals) for n in names} for part in parts]]
    ]
    rows += [*others, *published_rows(published, names)]
    presets = next((word.partition(":")[2] for word in comparison.signature.split("|") if word.startswith("preset:")), "")
    caption = counted_caption((metric for metric, _ in names), presets.split(","), group.sentences)
    caption += runs_caption(_numbers_of_runs(group))
    if comparison.cutoff is not None and parts == [group]:
        caption += f" No sentence is as short as {number_of(length, 'word')}."
    if intervals:
        caption += f" In brackets: {100 * comparison.level:g}% intervals."
    as_good = [{name: _not_worse(part, name) for name in names} for part in parts]
    if group.pairs:
        some_equal = any(len(of) > 1 for part in as_good for of in part.values())
        verdict = f"{AS_GOOD}: not significantly worse (p >" if some_equal else "all others are significantly worse (p ≤"
        caption += f" Bold: best system tested here; {verdict} {ALPHA:g}; {_how_tested(comparison)})."
    short = [ShortSentences(length, part.sentences, of) for part, of in zip(parts[1:], as_good[1:], strict=True)]
    return systems_table(rows, names, caption, (comparison.signature,), as_good[0], *short)


def _not_worse(group: Group, name: Name) -> frozenset[str]:
    """The systems that are not significantly worse than the best by a rate."""
    sign = -1 if name[1] in find_metric(name[0]).lower_is_better else 1
    defined = {system: sign * rates[name].value for system, rates in group.rates.items() if not math.isnan(rates[name].value)}
    if not defined:
        return frozenset()
    best = max(defined, key=lambda system: defined[system])
    equal = {best}
    for pair in group.pairs:
        if best in (pair.a, pair.b) and not pair.of(name).winner:
            equal |= {pair.a, pair.b}
    return frozenset(equal & set(defined))


def _differences(comparison: Comparison) -> Table:
    """The difference of every rate and pair; two systems are named in the heading, more of them in columns."""
    group, several = comparison.overall, len(comparison.systems) > 2
    rows = [(*cells, Average(d.effect), d.sign.wins, d.sign.losses) for d, cells in _difference_rows(group, several)]
    runs = _numbers_of_runs(group)
    samples = f", {comparison.rounds} bootstrap samples, seed {comparison.seed}" if not runs or 1 in runs.values() else ""
    notes = [
        *_test_notes(comparison, group),
        *([f"Holm: p corrected for {number_of(len(group.pairs), 'pair')}"] if several else []),
        "effect: difference in standard deviations of a sentence; wins, losses: sentences where the second system is better, worse",
        f"{number_of(group.sentences, 'sentence')}{samples}",
        *_cautions(comparison),
    ]
    return _difference_table("Differences", comparison, rows, notes, after=("effect", "wins", "losses"))


def _test_notes(comparison: Comparison, group: Group) -> Iterator[str]:
    """Notes on intervals and p: of single runs by resampling, of several by variance components."""
    percent, resampled = f"{100 * comparison.level:g}%", [pair for pair in group.pairs if pair.rounds]
    units = "documents" if group.documents else "sentences"
    if resampled:
        methods = ", ".join(sorted({d.interval.method for pair in resampled for d in pair.differences})).replace("bca", "BCa")
        yield f"difference: second minus first, with its {percent} bootstrap interval ({methods})"
        yield f"p: paired randomisation of whole {units} ({_number_of_swaps(resampled)})"
    if len(resampled) < len(group.pairs):
        yield f"±: standard deviation over runs ({', '.join(f'{system} {n}' for system, n in _numbers_of_runs(group).items())})"
        yield f"difference of means over runs, second minus first, with its {percent} interval and p: variance components of"
        yield f"runs and {units}, Student's t with Satterthwaite's degrees of freedom"


def _numbers_of_runs(group: Group) -> dict[str, int]:
    return {system: len(next(iter(rates.values())).runs) or 1 for system, rates in group.rates.items()}


def _runs(group: Group) -> Table:
    """The share of runs in the variance, and the permutation of runs, of each pair; empty if no system has several."""
    several = len(group.rates) > 2
    rows = tuple(
        (
            *((pair.a, pair.b) if several else ()),
            *(*difference.name, test.df, test.share_of_runs, 1 - test.share_of_runs, test.opposite),
            *(P(test.permutation.p), P(test.permutation.least)),
        )
        for pair in group.pairs
        for difference in pair.differences
        if (test := difference.runs) is not None
    )
    units = "documents" if group.documents else "sentences"
    notes = (
        f"% runs, % {units}: share of the variance of the difference; opposite: single pairs of runs that show the opposite",
        "permuted p: exact permutation of whole runs, the test set taken as given; least: the smallest p possible with so few runs",
    )
    percent = ("% runs", f"% {units}", "opposite")
    columns = (*(("first", "second") if several else ()), "metric", "rate", "df", *percent, "permuted p", "least")
    return Table("Runs", columns, rows, notes, percent=percent)


def _equivalence(group: Group) -> list[Table]:
    """Whether each difference is within the margin, if that was asked for."""
    rows = [
        (pair.a, pair.b, *one.name, *shown_values(one.name, one.value, margin), P(p), "yes" if p <= ALPHA else "not shown")
        for pair in group.pairs
        for one in pair.differences
        if one.equivalence is not None
        for margin, p in [one.equivalence]
    ]
    resampled = all(pair.rounds for pair in group.pairs)
    notes = (
        f"p: two one-sided tests that the difference is within ± the margin, {'bootstrap and t' if resampled else 't by runs'}"
        + (f", corrected for {number_of(len(group.pairs), 'pair')} (Holm)" if len(group.pairs) > 1 else ""),
    )
    columns = ("first", "second", "metric", "rate", "difference", "margin", "p", "equivalent")
    return [Table("Equivalence", columns, tuple(rows), notes, percent=("difference", "margin"))] if rows else []


def power_rows(group: Group) -> list[tuple[tuple[str, str], tuple[Cell, ...], Name, Power]]:
    """The power of each pair and rate, or for each rate and correlation with an imagined system, after the cells that name it."""
    several = len(group.pairs) > 1
    found: list[tuple[tuple[str, str], tuple[Cell, ...], Name, Power]] = [
        ((pair.a, pair.b), (pair.a, pair.b) if several else (), one.name, one.power)
        for pair in group.pairs
        for one in pair.differences
        if one.power is not None
    ]
    (system,) = group.rates if group.plans else [""]
    return found + [((system, ""), (r,), name, power) for name, plans in group.plans.items() for r, power in plans.items()]


def _power(group: Group) -> list[Table]:
    """The power of the tests, and the curve over numbers of sentences, if it was asked for."""
    found = power_rows(group)
    if not found:
        return []
    pair = ("correlation",) if group.plans else ("first", "second") if len(group.pairs) > 1 else ()
    rows = tuple(
        (*which, *name, *shown_values(name, of.difference), Percent(of.power), *shown_values(name, of.detectable), _needed(of))
        for _, which, name, of in found
    )
    notes = [
        "power: how often a test on such sentences shows this difference (p <= .05), if it is the true one",
        "detectable: the smallest difference with 80% power; needed: the number of sentences for 80% power",
        *(["correlation: with the assumed system; rough if under 50 sentences (1 - r of all) differ"] if group.plans else []),
        *(["more runs: sentences alone cannot give 80% power"] if any(math.isinf(of.needed) for *_, of in found) else []),
        *(["power is that of one test alone, without Holm's correction"] if len(group.pairs) > 1 else []),
    ]
    columns = (*pair, "metric", "rate", "difference", "power", "detectable", "needed")
    curves = tuple((*which, *name, *(Percent(value) for _, value in of.curve)) for _, which, name, of in found if of.curve)
    sizes = tuple(f"{size:,}" for size, _ in next((of.curve for *_, of in found if of.curve), ()))
    return [
        Table("Power", columns, rows, tuple(notes), percent=("difference", "detectable")),
        Table("Power by number of sentences", (*pair, "metric", "rate", *sizes), curves),
    ]


def _needed(power: Power) -> Cell:
    """The number of sentences, to two digits."""
    if not math.isfinite(power.needed):
        return "more runs" if math.isinf(power.needed) and power.difference else None
    return int(float(f"{power.needed:.2g}"))


def _difference_table(
    title: str, comparison: Comparison, rows: Sequence[tuple[Cell, ...]], notes: Sequence[str], *, after: tuple[str, ...] = ()
) -> Table:
    """The table of :func:`_difference_rows`, with further columns ``after`` theirs."""
    pair, systems, holm = (
        (("first", "second"), ("1st", "2nd"), ("Holm",)) if len(comparison.systems) > 2 else ((), comparison.systems, ())
    )
    values = (*systems, "difference", "low", "high")
    return Table(title, (*pair, "metric", "rate", *values, "p", *holm, *after), tuple(rows), tuple(notes), percent=values)


def _difference_rows(group: Group, several: bool) -> Iterator[tuple[Difference, tuple[Cell, ...]]]:
    """Each difference of each pair, with its cells; the pair and Holm's correction are shown for ``several`` systems only."""
    for pair in group.pairs:
        for difference in pair.differences:
            name = difference.name
            means = (_rate_cell(name, group.rates[system][name]) for system in (pair.a, pair.b))
            values = shown_values(name, difference.value, *difference.interval[:2])
            cells = (*name, *means, *values, P(difference.p))
            yield difference, (pair.a, pair.b, *cells, P(difference.p_holm)) if several else cells


def _rate_cell(name: Name, rate: Rate, *, interval: bool = False) -> Measured:
    """A rate for a column of percentages, with its standard deviation over runs and, if asked for, its interval."""
    ends = (rate.interval.low, rate.interval.high) if interval else None
    return Measured(rate.value, sd=rate.sd, interval=ends, is_average=name[1].startswith("average_"))


def shown_values(name: Name, *values: float) -> tuple[float, ...]:
    """Values of a rate for a column of percentages, in which a mean of counts is not shown as a percentage.

    >>> from treegauge.tables import cell_text
    >>> [cell_text(shown_values(("parseval", rate), 0.8)[0], percent=True) for rate in ("f1", "average_crossing")]
    ['80.00', '0.80']
    """
    return tuple(map(Average, values)) if name[1].startswith("average_") else values


def _rates(group: Group) -> Table:
    """The rates of each system with their intervals."""
    rows = tuple(
        (*name, system, _rate_cell(name, rates[name]), *shown_values(name, *rates[name].interval[:2]))
        for name in group.names
        for system, rates in group.rates.items()
    )
    return Table("Rates", ("metric", "rate", "system", "value", "low", "high"), rows, percent=("value", "low", "high"))


def matrix_table(comparison: Comparison, group: Group, name: Name) -> Table:
    """A matrix of systems at .05 after Holm's correction: ``>`` the row is better, ``<`` worse, ``=`` no difference shown."""
    signs = {(a, a): "" for a in comparison.systems}
    for pair in group.pairs:
        winner = pair.of(name).winner
        signs[pair.a, pair.b] = "=<>"[winner]
        signs[pair.b, pair.a] = "=<>"[-winner]
    rows = tuple(
        (row, group.rates[row][name].value, *(signs[row, column] for column in comparison.systems)) for row in comparison.systems
    )
    n_pairs = number_of(len(group.pairs), "pair")
    return Table(
        f"Who beats whom: {name[0]} {name[1]}",
        ("system", "value", *comparison.systems),
        rows,
        (f"> the row is better at {ALPHA:g} after Holm's correction for {n_pairs}; < worse; = no difference shown",),
        percent=("value",),
    )


def _by_group(comparison: Comparison, kind: str, title: str) -> list[Table]:
    """The differences of all groups of a kind, if there are any."""
    groups = comparison.of_kind(kind)
    if not groups:
        return []
    several = len(comparison.systems) > 2
    rows = [(group.title, group.sentences, *cells) for group in groups for _, cells in _difference_rows(group, several)]
    notes = [f"warning: {group.title}: {warning}" for group in groups for warning in group.warnings]
    table = _difference_table(title, comparison, rows, notes)
    return [replace(table, columns=("group", "sentences", *table.columns))]


def tidy_table(comparison: Comparison) -> Table:
    """One row for each group, pair and rate, with everything about the difference."""
    columns = (
        *("kind", "group", "sentences", "first", "second", "metric", "rate", "rate_first", "rate_second", "difference"),
        *("low", "high", "interval", "p", "p_holm", "effect_size", "error_reduction", "wins", "losses", "ties", "p_sign"),
    )
    rows = tuple(
        (
            *(group.kind, group.title, group.sentences, pair.a, pair.b, *d.name, d.a, d.b, d.value),
            *(*d.interval[:3], d.p, d.p_holm, d.effect, d.error_reduction, *d.sign),
        )
        for group in comparison.groups
        for pair in group.pairs
        for d in pair.differences
    )
    return Table("All differences", columns, rows)


def signature_table(comparison: Comparison) -> Table:
    """The signature of each score that was compared."""
    rows = tuple((system, *one) for system, of_system in comparison.signatures.items() for one in of_system.items())
    return Table("Signatures", ("system", "metric", "signature"), rows)


def paper_tables(group: Group) -> list[Table]:
    """Hogenhout & Matsumoto's Table 1 (items), Table 2 (comparative items) and Table 4 (measures) for these systems."""
    systems = list(group.items)
    checked = any("EMA" in items for items in group.items.values())
    of_parse = ("EMA", "EMR", "CEA", "CER", "SPA", "SPR") if checked else ("EM", "CE", "SP")

    def item_row(name: str) -> tuple[Cell, ...]:
        counts = [(items.get(name, 0), items["TPB"]) for items in group.items.values()]
        return name, *(cell for n, whole in counts for cell in (n, _share(n, whole) if name in of_parse else None))

    table1 = Table(
        "Items (Hogenhout & Matsumoto 1996, Table 1)",
        ("item", *(column for system in systems for column in (system, f"{system} %TPB"))),
        tuple(map(item_row, ("TTB", "TPB", *of_parse, "PINH", "PNINH", "TINH", "TNINH"))),
        percent=tuple(f"{system} %TPB" for system in systems),
    )
    table2 = Table(
        "Comparative items (Table 2)",
        (
            *("first", "second", *(column for cell in COMPARATIVE for column in (cell, f"%{cell}"))),
            *("E(YY)", "YY sd", "E(NN)", "NN sd"),
        ),
        tuple(
            (
                *(pair.a, pair.b, *(part for count in cells for part in (count, _share(count, cells.total)))),
                *(rounded(chance.E_YY), chance.deviations[0], rounded(chance.E_NN), chance.deviations[1]),
            )
            for pair in group.pairs
            if pair.brackets is not None
            for cells, chance in [(pair.brackets.cells, pair.brackets.binomial)]
        ),
        (
            "treebank brackets that both systems (YY), only the first (YN), only the second (NY), neither (NN) reproduced",
            "E: what YY and NN would be if every bracket were as easy as any other (binomial); sd: by how many standard deviations "
            "they differ from it",
        ),
        percent=tuple(f"%{cell}" for cell in COMPARATIVE),
    )
    titles = measure_titles(group.reading)
    measured = [name for name in titles if any(name in group.measures[system] for system in systems)]
    table4 = Table(
        "Measures (Table 4)",
        ("measure", *systems),
        tuple((titles[name], *(group.measures[system].get(name) for system in systems)) for name in measured),
        _unjudged_note(group) if checked else ("the other measures need a person's judgement of crossing and spurious brackets",),
        percent=tuple(systems),
    )
    return [table1, table2, table4]


def _unjudged_note(group: Group) -> tuple[str, ...]:
    """A note with the number of brackets without a judgement; measures that need them all are undefined."""
    waiting = {system: items.get("unjudged", 0) for system, items in group.items.items()}
    found = ", ".join(f"{system} {count}" for system, count in waiting.items() if count)
    return (f"brackets without a verdict: {found}; measures that need them all cannot be computed",) if found else ()


def _crossing_table(group: Group) -> Table:
    """The number of sentences with no, one, two ... crossing errors."""
    systems = list(group.crossing_errors)

    def row(title: str, first: int, last: int | None) -> tuple[Cell, ...]:
        counts = [sum(group.crossing_errors[system][first:last]) for system in systems]
        return title, *(cell for count in counts for cell in (count, _share(count, group.sentences)))

    rows = [row(str(errors), errors, errors + 1) for errors in range(6)]
    return Table(
        "Sentences by crossing errors",
        ("crossing errors", *(column for system in systems for column in (system, f"{system} %"))),
        (*rows, row("more than 5", 6, None)),
        percent=tuple(f"{system} %" for system in systems),
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")


def bracket_test_table(groups: Sequence[Group]) -> Table:
    """McNemar's test and the real test for every pair and structure, with their warnings."""
    rows: list[tuple[Cell, ...]] = []
    notes = [f"warning: {DEPENDENCE}"]
    for group in groups:
        for pair in group.pairs:
            tests = pair.brackets
            if tests is None or not tests.cells.total:
                continue
            real, mcnemar = tests.real_test, tests.mcnemar
            rows.append(
                (
                    *(group.title, pair.a, pair.b, mcnemar.z, P(mcnemar.p_exact)),
                    *(rounded(real.M1), rounded(real.M2), rounded(real.size), real.z, *real.z_range, P(real.p)),
                )
            )
            others = [warning for warning in tests.warnings if warning != DEPENDENCE]
            notes += [f"warning: {group.title}, {pair.a} and {pair.b}: {warning}" for warning in others]
    return Table(
        "Tests on brackets: McNemar, and the real test (Hogenhout & Matsumoto 1996, section 6)",
        ("brackets", "first", "second", "McNemar z", "exact p", "M1", "M2", "size", "z", "z least", "z most", "p"),
        tuple(rows),
        tuple(notes),
    )
