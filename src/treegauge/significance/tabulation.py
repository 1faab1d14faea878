"""A comparison as tables: rates, differences, which system beats which, and Hogenhout & Matsumoto's Tables 1, 2 and 4.

Cells are numbers at full precision; :class:`P` is a number with its own format.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from treegauge.errors import UnknownName
from treegauge.metrics.hogenhout import COMPARATIVE, MEASURES
from treegauge.metrics.registry import find_metric
from treegauge.scoring.paper_table import (
    AS_GOOD,
    SystemRow,
    choose_rates,
    published_rows,
    rate_heading,
    runs_caption,
    systems_table,
)
from treegauge.significance.classical import DEPENDENCE
from treegauge.significance.comparison import ALPHA, BracketTests, Comparison, Difference, Group, PairOfSystems, Rate
from treegauge.significance.resampling import Name
from treegauge.tables import Average, Cell, Measured, Table, cell_text, number_of, rounded


def _interval_methods(pairs: Sequence[PairOfSystems]) -> str:
    """The kinds of interval of some pairs."""
    return ", ".join(sorted({d.interval.method for pair in pairs for d in pair.differences})).replace("bca", "BCa")


def _number_of_pairs(group: Group) -> str:
    """The number of pairs of systems, in words."""
    return number_of(len(group.pairs), "pair")


def _number_of_swaps(pairs: Sequence[PairOfSystems]) -> str:
    """The number of ways of swapping sentences that were tried, in words."""
    kinds = [f"all {pair.rounds} ways" if pair.exact else f"{pair.rounds} rounds" for pair in pairs]
    return ", ".join(sorted({"no sentence differs" if kind == "all 1 ways" else kind for kind in kinds}))


def _interval_warnings(group: Group) -> list[str]:
    """The warnings about intervals, each once, with the rates it concerns."""
    about: dict[str, list[str]] = {}
    for pair in group.pairs:
        for difference in pair.differences:
            rates = about.setdefault(difference.interval.warning, [])
            if (rate := " ".join(difference.name)) not in rates:
                rates.append(rate)
    return [f"{'all rates' if len(r) == len(group.names) else ', '.join(r)}: {warning}" for warning, r in about.items() if warning]


class P(float):
    """A probability, shown with four decimals, or as ``<.0001`` if it is smaller.

    >>> f"{P(0.03):.2f}", f"{P(1e-9):.2f}", f"{P(1):.2f}"
    ('.0300', '<.0001', '1.0000')
    """

    def __format__(self, spec: str) -> str:
        if 0 <= self < 0.0001:
            return "<.0001"
        return float.__format__(self, ".4f").removeprefix("0") if self < 1 else float.__format__(self, ".4f")


TABLES = (
    *(
        "answer",
        "rates",
        "differences",
        "runs",
        "matrix",
        "length",
        "structure",
        "items",
        "comparative",
        "measures",
        "crossing",
        "brackets",
    ),
    *("signatures", "tidy"),
)
"""The tables of a comparison: the answer, rates with intervals, differences, runs, who beats whom, by length, by structure,
Hogenhout & Matsumoto's Tables 1, 2 and 4, sentences by crossing errors, tests on brackets, the signatures of the scores, and all
differences of all groups in one table for other programs."""


def comparison_tables(comparison: Comparison, names: Sequence[str] = ()) -> list[Table]:
    """The tables of a comparison with these names, or all that have content, in the order of :data:`TABLES`."""
    for name in names:
        if name not in (*TABLES, "all"):
            raise UnknownName("table", name, (*TABLES, "all"))
    overall, names = comparison.overall, () if "all" in names else names
    items, comparative, measures = ([table] if overall.items else [] for table in paper_tables(overall))
    several = len(comparison.systems) > 2
    tables: dict[str, list[Table]] = {
        "answer": [_answer_table(comparison)] if "answer" in names else [],
        "rates": [_rates(comparison, overall)] if several or "rates" in names else [],
        "differences": [_differences(comparison, overall)],
        "runs": [_runs(comparison, overall)] if overall.has_runs or "runs" in names else [],
        "matrix": _matrices(comparison, overall) if several or "matrix" in names else [],
        "length": _by_group(comparison, "length", "By sentence length"),
        "structure": _by_group(comparison, "structure", "By structure"),
        "items": items,
        "comparative": comparative,
        "measures": measures,
        "crossing": [crossing_table(overall)] if overall.items else [],
        "brackets": [bracket_test_table([overall, *comparison.of_kind("structure")])] if overall.items else [],
        "signatures": [signature_table(comparison)] if "signatures" in names else [],
        "tidy": [tidy_table(comparison)] if "tidy" in names else [],
    }
    return [table for name in TABLES if not names or name in names for table in tables[name]]


def headline(group: Group) -> Name:
    """The rate that decides which of two systems is the better one: the first metric's main rate."""
    return next((name for name in group.names if name[1] == find_metric(name[0]).headline), group.names[0])


def _better_last(group: Group) -> list[PairOfSystems]:
    """The pairs, each with the better system second, so that differences read as gains; those of the best system first."""
    name, sign = headline(group), -1 if headline(group)[1] in find_metric(headline(group)[0]).lower_is_better else 1
    pairs = [pair.turned() if sign * pair.of(name).value < 0 else pair for pair in group.pairs]
    value = {system: sign * rates[name].value for system, rates in group.rates.items()}
    return sorted(pairs, key=lambda pair: (-value[pair.b], -value[pair.a]))


def answer(comparison: Comparison) -> tuple[str, ...]:
    """A sentence on whether the best system is better than each other one, by the headline rate."""
    group, level = comparison.overall, f"{100 * comparison.level:g}%"
    pairs, name = _better_last(group), headline(comparison.overall)
    corrected = f" after Holm's correction for {_number_of_pairs(group)}" if len(pairs) > 1 else ""
    sentences: list[str] = []
    for pair in pairs[: len(comparison.systems) - 1]:
        found = pair.of(name)
        if math.isnan(found.value):
            sentences.append(f"{rate_heading(name, [name])} is undefined for {pair.a} or {pair.b}.")
            continue
        gain = found if found.value >= 0 else found.turned()
        size, low, high = (cell_text(value, percent=True) for value in shown_values(name, gain.value, *gain.interval[:2]))
        p = f"{P(found.p_holm):.4f}"
        chance = f"({level} interval {low} to {high}, p {'' if p.startswith('<') else '= '}{p.replace('<', '< ')}{corrected})"
        amount = f"{size} {rate_heading(name, [name])}"
        if found.winner:
            sentences.append(f"{pair.b} is better than {pair.a} by {amount} {chance}.")
        elif found.value:
            more = "less" if found.lower_is_better else "more"
            sentences.append(f"No difference is shown between {pair.a} and {pair.b}: {pair.b} has {amount} {more} {chance}.")
        else:
            sentences.append(f"{pair.a} and {pair.b} have the same {rate_heading(name, [name])} {chance}.")
    return tuple(sentences)


def _answer_table(comparison: Comparison) -> Table:
    """The differences, each of the better system from the other, without what only experts read."""
    group = comparison.overall
    pairs = _better_last(group)
    ordered = replace(comparison, systems=(pairs[0].a, pairs[0].b)) if len(pairs) == 1 else comparison
    rows = tuple(cells for _, cells in _difference_rows(group, len(pairs) > 1, pairs))
    notes = (
        f"{number_of(group.sentences, 'sentence')}; {_how_tested(comparison)}",
        *_document_note(group),
        *_interval_warnings(group),
        *(f"warning: {warning}" for warning in (*comparison.warnings, *group.warnings)),
    )
    columns = _difference_columns(ordered)
    if len({metric for metric, _ in group.names}) == 1:
        place = columns.index("metric")
        columns, rows = columns[:place] + columns[place + 1 :], tuple(row[:place] + row[place + 1 :] for row in rows)
    return Table("", columns, rows, notes, percent=_difference_percent(ordered))


def _how_tested(comparison: Comparison) -> str:
    """The tests in a line."""
    group = comparison.overall
    units = "documents" if group.documents else "sentences"
    resampled = [pair for pair in group.pairs if pair.rounds]
    words = [f"paired randomisation of whole {units} and bootstrap intervals, {comparison.rounds:,} rounds"] if resampled else []
    if len(resampled) < len(group.pairs):
        words.append(f"variance components of runs and {units}")
    return "; ".join(words) + (", p corrected for all pairs (Holm)" if len(group.pairs) > 1 else "")


def paper_table(
    comparison: Comparison,
    rates: Sequence[str] = (),
    *,
    others: Sequence[SystemRow] = (),
    published: Sequence[str] = (),
    intervals: bool = False,
) -> Table:
    """A row a system: the best in bold, a dagger where a system is not significantly worse than the best.

    ``others`` and ``published`` (``Name=82.5,83.1``) are rows that are not tested; ``intervals`` shows the interval of each rate.
    """
    group = comparison.overall
    names = choose_rates(group.names, {}, rates or ("all",))
    rows = [
        SystemRow(system, {name: _paper_cell(name, of[name], intervals) for name in names}) for system, of in group.rates.items()
    ]
    rows += [*others, *published_rows(published, names)]
    metrics = ", ".join(dict.fromkeys(metric for metric, _ in names))
    preset = next((word.partition(":")[2] for word in comparison.signature.split("|") if word.startswith("preset:")), "")
    caption = f"{metrics} (preset {preset}) on {number_of(group.sentences, 'sentence')}."
    caption += runs_caption(_numbers_of_runs(group))
    if intervals:
        caption += f" In brackets: {100 * comparison.level:g}% intervals."
    if group.pairs:
        caption += f" Bold: best; {AS_GOOD}: not significantly worse (p > {ALPHA:g}; {_how_tested(comparison)})."
    return systems_table(rows, names, caption, (comparison.signature,), {name: _not_worse(group, name) for name in names})


def _paper_cell(name: Name, rate: Rate, intervals: bool) -> Measured:
    ends = (rate.interval.low, rate.interval.high) if intervals else None
    return Measured(rate.value, sd=rate.sd, interval=ends, is_average=name[1].startswith("average_"))


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


def _differences(comparison: Comparison, group: Group) -> Table:
    """The difference of every rate and pair; two systems are named in the heading, more of them in columns."""
    several = len(comparison.systems) > 2
    rows = tuple((*cells, d.effect, d.sign.wins, d.sign.losses) for d, cells in _difference_rows(group, several))
    notes = [
        *_test_notes(comparison, group),
        *([f"Holm: p corrected for {_number_of_pairs(group)}"] if several else []),
        "effect: difference in standard deviations of a sentence; wins, losses: sentences where the second system is better, worse",
        f"{number_of(group.sentences, 'sentence')}{_samples(comparison, group)}",
        *_document_note(group),
        *_interval_warnings(group),
        *(f"warning: {warning}" for warning in (*comparison.warnings, *group.warnings)),
    ]
    columns = (*_difference_columns(comparison), "effect", "wins", "losses")
    return Table("Differences", columns, rows, tuple(notes), percent=_difference_percent(comparison))


def _test_notes(comparison: Comparison, group: Group) -> Iterator[str]:
    """Notes on intervals and p: of single runs by resampling, of several by variance components."""
    percent, resampled = f"{100 * comparison.level:g}%", [pair for pair in group.pairs if pair.rounds]
    units = "documents" if group.documents else "sentences"
    if resampled:
        yield f"difference: second minus first, with its {percent} bootstrap interval ({_interval_methods(resampled)})"
        yield f"p: paired randomisation of whole {units} ({_number_of_swaps(resampled)})"
    if len(resampled) < len(group.pairs):
        yield f"±: standard deviation over runs ({', '.join(f'{system} {n}' for system, n in _numbers_of_runs(group).items())})"
        yield f"difference of means over runs, second minus first, with its {percent} interval and p: variance components of"
        yield f"runs and {units}, Student's t with Satterthwaite's degrees of freedom"


def _samples(comparison: Comparison, group: Group) -> str:
    """The bootstrap samples, if any were drawn."""
    runs = _numbers_of_runs(group)
    return f", {comparison.rounds} bootstrap samples, seed {comparison.seed}" if not runs or 1 in runs.values() else ""


def _numbers_of_runs(group: Group) -> dict[str, int]:
    return {system: len(next(iter(rates.values())).runs) or 1 for system, rates in group.rates.items()}


def _document_note(group: Group) -> Iterator[str]:
    """A note on how much wider documents make intervals."""
    if group.documents is not None:
        number, least, most = group.documents
        wider = f"{least:.2f}" if f"{least:.2f}" == f"{most:.2f}" else f"{least:.2f} to {most:.2f}"
        yield f"{number_of(number, 'document')}, resampled whole: intervals are {wider} times as wide as with single sentences"


def _runs(comparison: Comparison, group: Group) -> Table:
    """The share of runs in the variance, and the permutation of runs, of each pair; empty if no system has several."""
    rows = tuple(
        (
            *((pair.a, pair.b) if len(comparison.systems) > 2 else ()),
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
        "permuted p: exact permutation of whole runs, the test set taken as given; least: the smallest p so few runs can have",
    )
    pair = ("first", "second") if len(comparison.systems) > 2 else ()
    percent = ("% runs", f"% {units}", "opposite")
    columns = (*pair, "metric", "rate", "df", *percent, "permuted p", "least")
    return Table("Runs", columns, rows, notes, percent=percent)


def _difference_columns(comparison: Comparison) -> tuple[str, ...]:
    """The columns of :func:`_difference_rows`."""
    if len(comparison.systems) > 2:
        return "first", "second", "metric", "rate", "A", "B", "difference", "low", "high", "p", "Holm"
    return "metric", "rate", *comparison.systems, "difference", "low", "high", "p"


def _difference_percent(comparison: Comparison) -> tuple[str, ...]:
    return *(("A", "B") if len(comparison.systems) > 2 else comparison.systems), "difference", "low", "high"


def _difference_rows(
    group: Group, several: bool, pairs: Sequence[PairOfSystems] | None = None
) -> Iterator[tuple[Difference, tuple[Cell, ...]]]:
    """Each difference of each pair, with its cells; the pair and Holm's correction are shown for ``several`` systems only."""
    for pair in group.pairs if pairs is None else pairs:
        for difference in pair.differences:
            name = difference.name
            means = (rate_cell(name, group.rates[system][name]) for system in (pair.a, pair.b))
            values = shown_values(name, difference.value, *difference.interval[:2])
            cells = (*name, *means, *values, P(difference.p))
            yield difference, (pair.a, pair.b, *cells, P(difference.p_holm)) if several else cells


def rate_cell(name: Name, rate: Rate) -> Cell:
    """A rate for a column of percentages, with its standard deviation over runs."""
    if rate.sd is None:
        return shown_values(name, rate.value)[0]
    return Measured(rate.value, sd=rate.sd, is_average=name[1].startswith("average_"))


def shown_values(name: Name, *values: float) -> tuple[float, ...]:
    """Values of a rate for a column of percentages, in which a mean of counts is not shown as a percentage.

    >>> from treegauge.tables import cell_text
    >>> [cell_text(shown_values(("parseval", rate), 0.8)[0], percent=True) for rate in ("f1", "average_crossing")]
    ['80.00', '0.80']
    """
    return tuple(map(Average, values)) if name[1].startswith("average_") else values


def _rates(comparison: Comparison, group: Group) -> Table:
    """The rates of each system with their intervals."""
    rows = tuple(
        (*name, system, rate_cell(name, rate), *shown_values(name, *rate.interval[:2]))
        for name in group.names
        for system, rate in ((system, group.rates[system][name]) for system in comparison.systems)
    )
    return Table("Rates", ("metric", "rate", "system", "value", "low", "high"), rows, percent=("value", "low", "high"))


def _matrices(comparison: Comparison, group: Group) -> list[Table]:
    """A matrix of which system beats which, for the headline rate of each metric."""
    return [matrix_table(comparison, group, name) for name in group.names if name[1] == find_metric(name[0]).headline]


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
    n_pairs = _number_of_pairs(group)
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
    rows = tuple((group.title, group.sentences, *cells) for group in groups for _, cells in _difference_rows(group, several))
    notes = [f"warning: {group.title}: {warning}" for group in groups for warning in group.warnings]
    columns = ("group", "sentences", *_difference_columns(comparison))
    return [Table(title, columns, rows, tuple(notes), percent=_difference_percent(comparison))]


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
    names = ["TTB", "TPB", *(("EMA", "EMR", "CEA", "CER", "SPA", "SPR") if checked else ("EM", "CE", "SP"))]
    names += ["PINH", "PNINH", "TINH", "TNINH"]
    of_parse = {"EM", "CE", "SP", "EMA", "EMR", "CEA", "CER", "SPA", "SPR"}
    table1 = Table(
        "Items (Hogenhout & Matsumoto 1996, Table 1)",
        ("item", *(column for system in systems for column in (system, f"{system} %TPB"))),
        tuple(
            (
                name,
                *(
                    cell
                    for system in systems
                    for cell in _count_cells(group.items[system], name, "TPB" if name in of_parse else "")
                ),
            )
            for name in names
        ),
        percent=tuple(f"{system} %TPB" for system in systems),
    )
    table2 = Table(
        "Comparative items (Table 2)",
        ("first", "second", *(column for cell in COMPARATIVE for column in (cell, f"%{cell}")), *_CHANCE),
        tuple(
            (
                pair.a,
                pair.b,
                *(part for count in cells for part in (count, _share(count, cells.total))),
                *_binomial_cells(pair.brackets),
            )
            for pair in group.pairs
            if pair.brackets is not None
            for cells in [pair.brackets.cells]
        ),
        (
            "treebank brackets that both systems (YY), only the first (YN), only the second (NY), neither (NN) reproduced",
            "E: what YY and NN would be if every bracket were as easy as any other (binomial); sd: by how many standard deviations "
            "they differ from it",
        ),
        percent=tuple(f"%{cell}" for cell in COMPARATIVE),
    )
    measured = [name for name in MEASURES if any(name in group.measures[system] for system in systems)]
    table4 = Table(
        "Measures (Table 4)",
        ("measure", *systems),
        tuple((MEASURES[name], *(group.measures[system].get(name) for system in systems)) for name in measured),
        _unjudged_note(group) if checked else ("the other measures need a person's judgement of crossing and spurious brackets",),
        percent=tuple(systems),
    )
    return [table1, table2, table4]


_CHANCE = ("E(YY)", "YY sd", "E(NN)", "NN sd")


def _binomial_cells(tests: BracketTests) -> tuple[Cell, ...]:
    """YY and NN in the binomial model, and their distances from it in standard deviations."""
    found = tests.binomial
    return rounded(found.E_YY), found.deviations[0], rounded(found.E_NN), found.deviations[1]


def _unjudged_note(group: Group) -> tuple[str, ...]:
    """A note with the number of brackets without a judgement; measures that need them all are undefined."""
    waiting = {system: items.get("unjudged", 0) for system, items in group.items.items()}
    found = ", ".join(f"{system} {count}" for system, count in waiting.items() if count)
    return (f"brackets without a verdict: {found}; measures that need them all are not known",) if found else ()


def crossing_table(group: Group, upto: int = 5) -> Table:
    """The number of sentences with no, one, two ... crossing errors."""
    systems = list(group.crossing_errors)

    def row(title: str, first: int, last: int | None) -> tuple[Cell, ...]:
        counts = [sum(group.crossing_errors[system][first:last]) for system in systems]
        return title, *(cell for count in counts for cell in (count, _share(count, group.sentences)))

    rows = [row(str(errors), errors, errors + 1) for errors in range(upto + 1)]
    return Table(
        "Sentences by crossing errors",
        ("crossing errors", *(column for system in systems for column in (system, f"{system} %"))),
        (*rows, row(f"more than {upto}", upto + 1, None)),
        percent=tuple(f"{system} %" for system in systems),
    )


def _count_cells(items: Mapping[str, int], name: str, whole: str) -> tuple[Cell, Cell]:
    count = items.get(name, 0)
    return count, _share(count, items[whole]) if whole else None


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")


def bracket_test_table(groups: Sequence[Group]) -> Table:
    """McNemar's test and the real test for every pair and structure, with their warnings."""
    rows: list[tuple[Cell, ...]] = []
    notes = [f"warning: {DEPENDENCE}"]
    for group in groups:
        for pair in group.pairs:
            tests = pair.brackets
            if tests is None:
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
