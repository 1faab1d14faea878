"""The difference between two scores: which options changed the number, and by how much.

Two results are compared by their signatures. If the trees can be read, options are changed one after the other, from those of the
first result to those of the second, and the rate is computed after each: the changes add up to the difference. The effect of each
option alone is given beside its change, to show options that act only together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, cast

from treegauge import io
from treegauge.errors import TreegaugeError
from treegauge.io.sources import ReadOptions
from treegauge.presets import EvalbFile, Preset
from treegauge.presets.prm import Parameters
from treegauge.scoring.evaluation import score
from treegauge.scoring.result import Inputs, Result, shown_rate
from treegauge.scoring.signature import Signature
from treegauge.tables import Cell, Table, plain
from treegauge.trees.treebank import Treebank

_MOST_ELEMENTS = 40


@dataclass(frozen=True)
class OptionChange:
    """One option that differs: its values, and the effect of changing it, after the others and alone (None: not computed)."""

    option: str
    before: str
    after: str
    change: float | None = None
    alone: float | None = None

    @property
    def has_effect(self) -> bool:
        return self.change is None or bool(self.change) or bool(self.alone)

    @property
    def description(self) -> str:
        """The change in words.

        >>> OptionChange("delete_labels", "ROOT", "").description, OptionChange("labelled", "True", "False").description
        ('ROOT no longer in delete_labels', 'labelled: True -> False')
        """
        if self.before and self.after:
            return f"{self.option}: {self.before} -> {self.after}"
        return f"{self.before} no longer in {self.option}" if self.before else f"{self.after} now in {self.option}"


@dataclass(frozen=True)
class ScoreDifference:
    """The rate in both results, the steps from the first to the second, and remarks."""

    rate: str
    before: float
    after: float
    steps: tuple[OptionChange, ...]
    remarks: tuple[str, ...] = ()

    @property
    def unexplained(self) -> float:
        """The part of the difference that the changes do not explain; nan if they were not computed."""
        changes = [step.change for step in self.steps]
        if any(change is None for change in changes):
            return math.nan
        return self.after - self.before - math.fsum(change for change in changes if change is not None)

    def table(self) -> Table:
        """The options that have an effect, with the rate after each change; the others are in a note."""
        rate, value = self.rate.replace("_", " "), self.before
        rows: list[tuple[Cell, ...]] = [("(the first result)", "", "", None, None, self._as_printed(value))]
        effective = [step for step in self.steps if step.has_effect]
        for step in effective:
            value = math.nan if step.change is None else value + step.change
            reached = None if step.change is None else self._as_printed(value)
            rows.append(
                (step.option, step.before, step.after, self._as_printed(step.change), self._as_printed(step.alone), reached)
            )
        rows.append(("(the second result)", "", "", None, None, self._as_printed(self.after)))
        idle = [step.description for step in self.steps if not step.has_effect]
        notes = ["change: made one after the other; alone: only this option changed"] if effective else []
        notes += [f"No effect: {'; '.join(idle)}."] if idle else []
        return Table("", ("option", "first", "second", "change", "alone", rate), tuple(rows), (*notes, *self.remarks))

    def _as_printed(self, value: float | None) -> float | None:
        return None if value is None else shown_rate(self.rate, value)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        steps = [{item.name: getattr(step, item.name) for item in fields(step)} for step in self.steps]
        numbers = plain({"before": self.before, "after": self.after})
        return {"schema": "treegauge.difference/2", "rate": self.rate, **numbers, "steps": steps, "remarks": list(self.remarks)}


@dataclass(frozen=True)
class _State:
    """Everything a score depends on."""

    gold: Treebank | None
    test: Treebank | None
    metric: str
    preset: Preset
    on_mismatch: str
    match_words: str
    quote_labels: tuple[str, ...]


_SettingChange = tuple[str, str, str, Callable[[_State], _State]]
"""An option, its value before and after, and a function that changes it."""


def explain_difference(
    first: Result, second: Result, rate: str | None = None, *, gold: str | None = None, test: str | None = None
) -> ScoreDifference:
    """The options that changed a rate from the first result to the second.

    ``rate`` is the headline unless given. The trees are read from the files that the results name, or from ``gold`` and ``test``;
    if they cannot be read, or the files have changed since, the options are only listed, without their effects.
    """
    name = rate if rate is not None else first.headline
    remarks: list[str] = []
    before, after = (result.rates.get(name, math.nan) for result in (first, second))
    start, end = _state(first, gold, test, remarks), _state(second, gold, test, remarks)
    changes = list(_changes(first.signature, second.signature, start, end))
    if first.signature.version != second.signature.version:
        remarks.append(f"The versions differ: {first.signature.version} and {second.signature.version}.")
    if None in (start.gold, start.test, end.gold, end.test) or name not in first.rates or name not in second.rates:
        steps = [OptionChange(option, old, new) for option, old, new, _ in changes]
        return ScoreDifference(name, before, after, tuple(steps), tuple(dict.fromkeys(remarks)))
    steps, again, finally_ = _effects(start, changes, name)
    for which, result, found, given in (("first", first, again, before), ("second", second, finally_, after)):
        if found != given and not (math.isnan(found) and math.isnan(given)):
            ours, theirs = shown_rate(name, found), shown_rate(name, given)
            remarks.append(f"Scored again here, the {which} result is {ours:.4f}, not {theirs:.4f} ({result.signature.version}).")
    return ScoreDifference(name, before, after, tuple(steps), tuple(dict.fromkeys(remarks)))


def _effects(start: _State, changes: list[_SettingChange], name: str) -> tuple[list[OptionChange], float, float]:
    """The effect of each change, and the rate at the beginning and at the end."""
    origin = previous = _rate(start, name)
    steps: list[OptionChange] = []
    state = start
    for option, old, new, change in changes:
        state = change(state)
        reached = _rate(state, name)
        alone = _rate(change(start), name) - origin
        steps.append(OptionChange(option, old, new, reached - previous, alone))
        previous = reached
    return steps, origin, previous


def _rate(state: _State, name: str) -> float:
    assert state.gold is not None
    assert state.test is not None
    file = EvalbFile("", Parameters(quote_labels=tuple(label.encode() for label in state.quote_labels)))
    preset = replace(state.preset, parameters=file if state.quote_labels else None)
    result = score(state.gold, state.test, state.metric, preset, on_mismatch=state.on_mismatch, match_words=state.match_words)
    return result.rates.get(name, math.nan)


def _state(result: Result, gold: str | None, test: str | None, remarks: list[str]) -> _State:
    signature, inputs = result.signature, result.inputs
    return _State(
        _trees(gold, "gold", signature.gold, inputs, remarks),
        _trees(test, "test", signature.test, inputs, remarks),
        signature.metric,
        signature.preset,
        signature.on_mismatch,
        signature.match_words,
        tuple(signature.options.get("quote_labels", ())),
    )


def _trees(given: str | None, side: str, digest: str, inputs: Inputs | None, remarks: list[str]) -> Treebank | None:
    """The trees of a result, if they have the hash in its signature; otherwise None, and a remark is added."""
    paths: tuple[str, ...] = (given,) if given is not None else () if inputs is None else getattr(inputs, side)
    if not paths:
        remarks.append(f"The {side} trees of a result were not read from a file; name it: {side}=...")
        return None
    reading = ReadOptions() if inputs is None else ReadOptions(**inputs.reading)
    reading = reading.of_gold if side == "gold" else reading
    for options in (reading, replace(reading, lines=True)):
        try:
            bank = Treebank.concatenate([io.read(path, options) for path in paths])
        except TreegaugeError as error:
            remarks.append(f"The {side} trees cannot be read again: {error}")
            return None
        if bank.sha256().startswith(digest):
            return bank
    remarks.append(f"{', '.join(paths)} holds other trees now; name the right file: {side}=...")
    return None


def _changes(first: Signature, second: Signature, start: _State, end: _State) -> Iterator[_SettingChange]:
    """Every option that differs, in the order in which they are changed."""
    for side in ("gold", "test"):
        old, new = getattr(first, side), getattr(second, side)
        if old != new:
            yield f"{side} trees", old, new, _setter(**{side: getattr(end, side)})
    if (first.metric, first.options) != (second.metric, second.options):
        yield "metric", _metric(first), _metric(second), _setter(metric=end.metric, quote_labels=end.quote_labels)
    yield from _preset_changes(start.preset, end.preset)
    for name in ("on_mismatch", "match_words"):
        old, new = getattr(first, name), getattr(second, name)
        if old != new:
            yield name, str(old), str(new), _setter(**{name: new})


def _metric(signature: Signature) -> str:
    return " ".join([signature.metric, *(f"{key}={value}" for key, value in signature.options.items())])


def _setter(**values: Any) -> Callable[[_State], _State]:
    return lambda state: replace(state, **values)


def _preset_changes(old: Preset, new: Preset) -> Iterator[_SettingChange]:
    settings = [item.name for item in fields(Preset) if item.name not in ("name", "ignored", "parameters")]
    for name in settings:
        before, after = getattr(old, name), getattr(new, name)
        if before == after:
            continue
        if isinstance(before, frozenset) and len(before ^ after) <= _MOST_ELEMENTS:
            for element in sorted(before ^ after):
                yield _element_change(name, element, added=element in after)
        else:
            yield name, _text(before), _text(after), _preset_setter({name: after})


def _element_change(name: str, element: str, *, added: bool) -> _SettingChange:
    def change(state: _State) -> _State:
        now: frozenset[str] = getattr(state.preset, name)
        return replace(state, preset=replace(state.preset, **{name: now | {element} if added else now - {element}}))

    shown = element or "(the empty label)"
    return name, "" if added else shown, shown if added else "", change


def _preset_setter(values: Mapping[str, Any]) -> Callable[[_State], _State]:
    return lambda state: replace(state, preset=replace(state.preset, **values))


def _text(value: Any) -> str:
    if isinstance(value, frozenset):
        return " ".join(sorted(cast("frozenset[str]", value)))
    if isinstance(value, tuple):
        return " ".join("=".join(pair) for pair in cast("tuple[tuple[str, str], ...]", value))
    return str(value)
