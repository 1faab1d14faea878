"""The values of a comparison of systems: differences with intervals and p-values, tests on brackets, groups of sentences.

:mod:`treegauge.significance.paired_comparison` computes them, and :mod:`treegauge.significance.tabulation` shows them as tables.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from statistics import stdev
from types import MappingProxyType
from typing import Any, NamedTuple

from treegauge.errors import UsageError, checked
from treegauge.metrics.registry import rate_name
from treegauge.scoring.paper_table import Published
from treegauge.significance.classical import ALPHA, Binomial, Cells, McNemar, RealTest, SignTest
from treegauge.significance.power import Power
from treegauge.significance.resampling import Interval, Name
from treegauge.significance.runs import RunsTest
from treegauge.tables import Table, comma_separated, concise, cut, number_of, plain, render

_SHORT_SIGNATURE = ("compare", "metrics", "preset", "sentences", "rounds", "seed", "clusters", "version")

NO_ERROR = (
    *("average_crossing", "generation_rate", "spuriousness", "spurious_reject", "false_error", "test_noise", "problem_rate"),
    *("p_inheritance", "t_inheritance"),
)
"""The rates for which 1 is not the best value, so that 1 minus the rate is not an error rate."""


@dataclass(frozen=True)
class Rate:
    """One system's rate and its confidence interval; if the system has several ``runs``, the mean of their rates."""

    value: float
    interval: Interval
    runs: tuple[float, ...] = ()

    @property
    def sd(self) -> float | None:
        """The standard deviation over runs."""
        return stdev(self.runs) if len(self.runs) > 1 else None


class Equivalence(NamedTuple):
    """The p, corrected for the number of pairs (Holm), of two one-sided tests that a difference is within ± the margin."""

    margin: float
    p: float


@dataclass(frozen=True)
class Difference:
    """B's rate minus A's, with its interval and tests.

    ``p`` is the p-value of the randomisation test, ``p_holm`` the same corrected for the number of pairs; ``effect`` is the
    difference in standard deviations of a sentence; ``sign`` counts the sentences that each system wins. If ``lower_is_better``,
    the lower rate wins. If a system has several runs, the rates are means over runs, and interval and p are those of ``runs``.
    ``equivalence`` and ``power`` are there if they are asked for.
    """

    name: Name
    a: float
    b: float
    interval: Interval
    p: float
    p_holm: float
    effect: float
    sign: SignTest
    lower_is_better: bool = False
    runs: RunsTest | None = None
    equivalence: Equivalence | None = None
    power: Power | None = None

    @property
    def value(self) -> float:
        return self.b - self.a

    @property
    def error_reduction(self) -> float:
        """The share of A's error that B avoids; nan if A makes none, or if 1 minus the rate is not an error rate."""
        return self.value / (1 - self.a) if self.a < 1 and self.name[1] not in NO_ERROR else math.nan

    @property
    def winner(self) -> int:
        """1 if B is better at the level :data:`ALPHA` after Holm's correction, -1 if A is, else 0."""
        if not self.p_holm <= ALPHA or not self.value:
            return 0
        return 1 if (self.value > 0) != self.lower_is_better else -1

    def turned(self) -> Difference:
        """The same difference as A's rate minus B's."""
        interval = self.interval._replace(low=-self.interval.high, high=-self.interval.low)
        sign = self.sign._replace(wins=self.sign.losses, losses=self.sign.wins)
        return replace(self, a=self.b, b=self.a, interval=interval, effect=-self.effect, sign=sign)


@concise
class RateOutcome(NamedTuple):
    """The difference of a rate between two systems: second minus first, its interval and p, and the better system's name.

    ``rates`` has each system's rate, of several runs the mean, and ``deviations`` the standard deviation over runs (None for one
    run). ``winner`` is None if no difference is shown at the level .05.
    ``power`` and ``equivalence`` are there if they are asked for.
    """

    difference: float
    interval: Interval
    p: float
    winner: str | None
    power: Power | None = None
    equivalence: Equivalence | None = None
    rates: Mapping[str, float] = MappingProxyType({})
    deviations: Mapping[str, float | None] = MappingProxyType({})

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self.interval.low

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return self.interval.high


@dataclass(frozen=True)
class BracketTests:
    """Hogenhout & Matsumoto's tests on the brackets of the treebank, which treat brackets as independent."""

    cells: Cells
    binomial: Binomial
    mcnemar: McNemar
    real_test: RealTest
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class PairOfSystems:
    """Two systems: the differences of their rates, and the tests on their brackets, if the scores allow them."""

    a: str
    b: str
    differences: tuple[Difference, ...]
    brackets: BracketTests | None
    rounds: int
    exact: bool

    def of(self, name: Name | str) -> Difference:
        """The difference of one rate: ``("parseval", "f1")``, ``"parseval.f1"``, or ``"f1"`` if one metric has it."""
        wanted = ".".join(name) if isinstance(name, tuple) else rate_name(name)
        found = [one for one in self.differences if wanted in (one.name[1], ".".join(one.name))]
        if len(found) != 1:
            known = ", ".join(".".join(difference.name) for difference in self.differences)
            raise UsageError(f"{len(found) or 'no'} rates are called {wanted!r}; there are: {known}")
        return found[0]

    def turned(self) -> PairOfSystems:
        """The same differences with the second system first; the tests on brackets are left out."""
        return replace(self, a=self.b, b=self.a, differences=tuple(one.turned() for one in self.differences), brackets=None)


class Documents(NamedTuple):
    """The number of documents whose sentences were resampled together, and how much wider intervals became: least and most."""

    number: int
    least_wider: float
    most_wider: float


@dataclass(frozen=True)
class Group:
    """A comparison on some of the data: all sentences, sentences of some length, or brackets of one structure.

    ``items``, ``measures`` and ``crossing_errors`` (the numbers of sentences with 0, 1, 2 ... of them) are Hogenhout & Matsumoto's,
    by system; ``reading`` is that of T-inheritance. ``plans`` has, for one system, the power to find a difference from an imagined
    one, by rate and correlation.
    """

    kind: str
    title: str
    sentences: int
    names: tuple[Name, ...]
    rates: Mapping[str, Mapping[Name, Rate]]
    items: Mapping[str, Mapping[str, int]]
    measures: Mapping[str, Mapping[str, float]]
    crossing_errors: Mapping[str, Sequence[int]]
    pairs: tuple[PairOfSystems, ...]
    warnings: tuple[str, ...] = ()
    documents: Documents | None = None
    reading: str = ""
    plans: Mapping[Name, Mapping[float, Power]] = field(default_factory=dict[Name, Mapping[float, Power]])

    def pair(self, a: str, b: str) -> PairOfSystems:
        """The comparison of two systems, in the order in which they were given."""
        found = [pair for pair in self.pairs if (pair.a, pair.b) == (a, b)]
        if not found:
            known = ", ".join(f"{pair.a} and {pair.b}" for pair in self.pairs)
            raise UsageError(f"{a} and {b} were not compared, in this order; there are: {known}")
        return found[0]

    @property
    def has_runs(self) -> bool:
        """Whether a system has several runs."""
        return any(rate.runs for rates in self.rates.values() for rate in rates.values())


def length_title(low: float, high: float) -> str:
    """The title of the group of sentences with more than ``low`` and at most ``high`` words."""
    return f"{int(low) + 1}-{int(high)} words" if high < math.inf else f"more than {int(low)} words"


@dataclass(frozen=True)
class Comparison:
    """The comparison of several systems on one treebank: on all sentences first, then by length and by structure.

    ``signatures`` are those of the scores, by system and metric; ``dropped_by_evalb`` are the gold sentences (from 0) that EVALB
    would not score, by system, where PARSEVAL is among the metrics. Sentences up to ``cutoff`` words are a group of their own.
    """

    systems: tuple[str, ...]
    groups: tuple[Group, ...]
    rounds: int
    seed: int
    level: float
    signature: str
    signatures: Mapping[str, Mapping[str, str]]
    warnings: tuple[str, ...] = ()
    dropped_by_evalb: Mapping[str, Sequence[int]] = field(default_factory=dict[str, Sequence[int]])
    cutoff: int | None = None

    def tables(self, *names: str) -> list[Table]:
        """The tables of these names (see :data:`treegauge.significance.tabulation.TABLES`), or all that have content."""
        from treegauge.significance.tabulation import comparison_tables

        return comparison_tables(self, names)

    @property
    def usual_tables(self) -> list[Table]:
        """The tables that are shown unless others are named: the gains of the better system, and what was asked for."""
        asked = ("length", "structure", "items", "comparative", "measures", "crossing", "brackets", "equivalence", "power")
        runs, matrix = ("runs",) if self.overall.has_runs else (), ("matrix",) if len(self.systems) > 2 else ()
        return self.tables("answer" if self.overall.pairs else "rates", *runs, *matrix, *asked)

    @property
    def answer(self) -> tuple[str, ...]:
        """A sentence on whether the best system is better than each other one; of one system, on what its plan needs."""
        from treegauge.significance.tabulation import answer

        return answer(self)

    def __getitem__(self, rate: str) -> RateOutcome:
        """The outcome of a rate, if there are two systems."""
        if len(self.overall.pairs) != 1:
            raise UsageError(
                f"there are {len(self.overall.pairs)} pairs: name one, as in comparison.overall.pair(a, b).of({rate!r})"
            )
        (pair,) = self.overall.pairs
        found = pair.of(rate)
        winner = (None, pair.b, pair.a)[found.winner]
        rates = {pair.a: found.a, pair.b: found.b}
        deviations = {system: self.overall.rates[system][found.name].sd for system in rates}
        return RateOutcome(found.value, found.interval, found.p, winner, found.power, found.equivalence, rates, deviations)

    def to_frame(self) -> Any:
        """All differences as a pandas data frame, a row for each group, pair and rate."""
        return self.tables("tidy")[0].to_frame()

    @checked()
    def to_latex(self, *names: str | Sequence[str], rates: Sequence[str] = (), published: Published = (), digits: int = 2) -> str:
        """The table of a paper: one row per system, the best in bold, a dagger where a system is not significantly worse.

        ``published`` are percentages of other systems, ``{"Berkeley": {"f1": 82.5}}``: rows that are marked as not tested.
        """
        from treegauge.significance.tabulation import paper_table

        wanted = [word for given in (*names, rates) for word in comma_separated(given)]
        return render(paper_table(self, wanted, published=published), "latex", digits=digits)

    def __str__(self) -> str:
        return "\n\n".join([*(["\n".join(self.answer)] if self.answer else []), *map(str, self.usual_tables), self.short_signature])

    @property
    def short_signature(self) -> str:
        """The signature without the hashes of the trees and the settings that are usual."""
        words = self.signature.split("|")
        kept = [word for word in words if word.partition(":")[0] in _SHORT_SIGNATURE]
        return "|".join([*kept, *(word for word in words if word.startswith("on_mismatch:") and not word.endswith(":align"))])

    def __repr__(self) -> str:
        sentences = number_of(self.groups[0].sentences, "sentence")
        return cut(f"<Comparison on {sentences}: {' '.join(self.answer) or ', '.join(self.systems)}>")

    def _repr_html_(self) -> str:
        sentences = "".join(f"<p>{escape(sentence)}</p>" for sentence in self.answer)
        return sentences + "".join(table.as_html() for table in self.usual_tables)

    @property
    def overall(self) -> Group:
        return self.groups[0]

    def of_kind(self, kind: str) -> tuple[Group, ...]:
        """The groups by ``length`` or by ``structure``."""
        return tuple(group for group in self.groups if group.kind == kind)

    def to_dict(self) -> dict[str, Any]:
        """Everything at full precision, for JSON; undefined numbers are None."""
        return {
            "schema": "treegauge.compare/2",
            "systems": list(self.systems),
            "rounds": self.rounds,
            "seed": self.seed,
            "level": self.level,
            "signature": self.signature,
            "signatures": {system: dict(of_system) for system, of_system in self.signatures.items()},
            "warnings": list(self.warnings),
            "dropped_by_evalb": {system: [index + 1 for index in dropped] for system, dropped in self.dropped_by_evalb.items()},
            "groups": [_group_dict(group) for group in self.groups],
        }


def _group_dict(group: Group) -> dict[str, Any]:
    plans = ((name, [{"correlation": r, **power._asdict()} for r, power in of.items()]) for name, of in group.plans.items())
    return {
        "kind": group.kind,
        "title": group.title,
        "sentences": group.sentences,
        "systems": {
            system: {
                "rates": _by_metric((name, _rate_dict(rate)) for name, rate in rates.items()),
                "items": dict(group.items.get(system, {})),
                "measures": {name: plain(value) for name, value in group.measures.get(system, {}).items()},
                "crossing_errors": list(group.crossing_errors.get(system, [])),
            }
            for system, rates in group.rates.items()
        },
        "pairs": [_pair_dict(pair) for pair in group.pairs],
        "warnings": list(group.warnings),
        **({} if group.documents is None else {"documents": plain(group.documents._asdict())}),
        **({"plans": _by_metric(plans)} if group.plans else {}),
    }


def _rate_dict(rate: Rate) -> dict[str, Any]:
    of_runs = {"runs": list(rate.runs), "sd": rate.sd} if rate.runs else {}
    return {"value": rate.value, **of_runs, **_interval(rate.interval)}


def _pair_dict(pair: PairOfSystems) -> dict[str, Any]:
    differences = (
        (
            difference.name,
            {
                "a": difference.a,
                "b": difference.b,
                "difference": difference.value,
                **_interval(difference.interval),
                "p": difference.p,
                "p_holm": difference.p_holm,
                "effect_size": difference.effect,
                "error_reduction": difference.error_reduction,
                "sign_test": difference.sign._asdict(),
                **_optional_tests(difference),
            },
        )
        for difference in pair.differences
    )
    brackets: dict[str, Any] | None = None
    if (tests := pair.brackets) is not None:
        parts = {"binomial": tests.binomial, "mcnemar": tests.mcnemar, "real_test": tests.real_test}
        of_parts = {name: part._asdict() for name, part in parts.items()}
        brackets = {**tests.cells._asdict(), **of_parts, "warnings": tests.warnings}
    return {
        "a": pair.a,
        "b": pair.b,
        "randomisation": {"rounds": pair.rounds, "exact": pair.exact},
        "differences": _by_metric(differences),
        "brackets": plain(brackets),
    }


def _optional_tests(difference: Difference) -> dict[str, Any]:
    """The test of runs, of equivalence and the power, those that there are; interval and p of runs stand beside them."""
    tests = {"runs": difference.runs, "equivalence": difference.equivalence, "power": difference.power}
    found: dict[str, dict[str, Any]] = {name: test._asdict() for name, test in tests.items() if test is not None}
    if difference.runs is not None:
        found["runs"] |= {"permutation": difference.runs.permutation._asdict()}
        del found["runs"]["interval"], found["runs"]["p"]
    return found


def _interval(interval: Interval) -> dict[str, Any]:
    return {"low": interval.low, "high": interval.high, "interval": interval.method, "interval_warning": interval.warning}


def _by_metric(values: Any) -> dict[str, dict[str, Any]]:
    """{metric: {rate: value}} from ((metric, rate), value)."""
    nested: dict[str, dict[str, Any]] = {}
    for (metric, rate), value in values:
        nested.setdefault(metric, {})[rate] = plain(value)
    return nested
