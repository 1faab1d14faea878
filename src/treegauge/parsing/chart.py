"""Charts of one sentence: the symbols over its words, scaling against underflow, inside and outside passes, the number of parses,
and the memory that a long sentence needs.

The number of parses is exact, a Python integer of any size. A chart of counts modulo a prime costs as little as any other chart,
and enough primes determine the number (Chinese remainder theorem); a chart of logarithms tells how many primes are enough.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from treegauge.errors import MismatchError, TooLong, UsageError
from treegauge.grammar.binarisation import BinaryGrammar, Float64
from treegauge.parsing.chart_layout import (
    LARGEST,
    LOG_SUM,
    MAX,
    MODULAR,
    SMALLEST,
    SUM,
    Chart,
    Leaves,
    Limit,
    RuleWeights,
    find_entry,
)
from treegauge.parsing.chart_passes import Outer, inside, outside
from treegauge.parsing.derivations import Grid

Tags = Sequence[Collection[str] | Mapping[str, float] | None]
"""For each word the tags it may have, or ``None`` for all. A mapping gives tags with weights, which replace the grammar's."""

NO_LIMIT = Limit(np.zeros((0, 0, 0), np.bool_), *(np.zeros(0, kind) for kind in (np.int32, np.int64, np.int32)))
_ATTEMPTS = 3
"""The number of scale factors that are tried before a chart is computed in logarithms."""


@dataclass(frozen=True, eq=False)
class InsideChart:
    """An inside chart in one semiring, with the grammar and the words it was computed from.

    ``root`` is the entry of the start symbol over the whole sentence, or -1. In mode SUM the values are scaled: add ``log_scale``
    to the logarithm of a value over the whole sentence.
    """

    mode: int
    n: int
    grid: Grid
    weights: RuleWeights
    root: int
    log_scale: float

    @property
    def chart(self) -> Chart:
        return self.grid.chart

    @property
    def log_value(self) -> float:
        """The logarithm of the start symbol's value over the whole sentence; -inf if it has none."""
        if self.root < 0:
            return -math.inf
        value = float(self.chart.value[self.root])
        return self.log_scale + (math.log(value) if self.mode == SUM else value)


def leaves_of(grammar: BinaryGrammar, words: Sequence[str], tags: Tags | None = None) -> Leaves:
    """The symbols that may stand over each word, with their probabilities; ``tags`` limits them.

    A word that the grammar has under none of the allowed tags gets all of them, each with weight 1.
    """
    if tags is not None and len(tags) != len(words):
        raise MismatchError(f"{len(words)} words but tags for {len(tags)}")
    nothing = np.zeros(0, np.int32), np.zeros(0)
    found: list[tuple[NDArray[np.int32], Float64]] = []
    for i, word in enumerate(words):
        symbols, weights, _ = grammar.word(word, initial=i == 0)
        allowed = None if tags is None else tags[i]
        if allowed is not None:
            symbols, weights = _limit_tags(grammar, symbols, weights, allowed)
        found.append((symbols, weights))
    first = np.zeros(len(words) + 1, np.int64)
    np.cumsum([len(symbols) for symbols, _ in found], out=first[1:])
    return Leaves(first, *(np.concatenate([nothing[k], *(f[k] for f in found)]) for k in (0, 1)))


def _limit_tags(
    grammar: BinaryGrammar, symbols: NDArray[np.int32], weights: Float64, allowed: Collection[str] | Mapping[str, float]
) -> tuple[NDArray[np.int32], Float64]:
    artificial = symbols >= grammar.visible
    if "index" not in grammar.derived:
        grammar.derived["index"] = {name: i for i, name in enumerate(grammar.symbols[: grammar.visible])}
    index: dict[str, int] = grammar.derived["index"]
    ids = {name: index[name] for name in allowed if name in index}
    if isinstance(allowed, Mapping):
        given = cast("Mapping[str, float]", allowed)
        chosen = {i: float(given[name]) for name, i in ids.items() if given[name] > 0}
    else:
        known = {i: w for i, w in zip(symbols.tolist(), weights.tolist(), strict=True) if i in ids.values()}
        chosen = known or dict.fromkeys(ids.values(), 1.0)
    return (
        np.concatenate([np.array(list(chosen), np.int32), symbols[artificial]]).astype(np.int32),
        np.concatenate([np.array(list(chosen.values()), np.float64), weights[artificial]]),
    )


def limit_of(n: int, grammar: BinaryGrammar, brackets: Sequence[tuple[int, int]] | None, allowed: ArrayLike | None) -> Limit:
    """The limit that allows all visible symbols over the same spans: the ``allowed`` ones that cross no bracket."""
    if brackets is None and allowed is None:
        return NO_LIMIT
    mask = np.ones((n, n + 1), np.bool_) if allowed is None else np.array(allowed, np.bool_)
    if mask.shape != (n, n + 1):
        raise UsageError(f"allowed spans of {n} words must be an array of shape ({n}, {n + 1}), not {mask.shape}")
    s, t = np.arange(n)[:, None], np.arange(n + 1)[None, :]
    for i, j in brackets or ():
        mask &= ~(((i < s) & (s < j) & (j < t)) | ((s < i) & (i < t) & (t < j)))
    group = np.where(np.arange(grammar.n_symbols) < grammar.visible, 0, -1).astype(np.int32)
    return Limit(mask[:, :, None], group, np.array([0, grammar.visible]), np.arange(grammar.visible, dtype=np.int32))


def weights_of(grammar: BinaryGrammar, mode: int, modulus: float = 0.0) -> tuple[RuleWeights, Float64]:
    """The weights of binary rules and of chains, and those of single unary rules, in the numbers of a mode; cached with the
    grammar."""
    key = "weights", mode, modulus
    if key not in grammar.derived:
        closure, binary, unary = grammar.closure, grammar.binary_probability, grammar.unary_probability
        chain = {SUM: closure.total, MAX: closure.best}.get(mode)
        if mode == LOG_SUM:
            chain = np.log(closure.total)
        elif mode == MODULAR:
            binary, unary = np.ones_like(binary), np.ones_like(unary)
            chain = np.array([count % int(modulus) if modulus else count for count in closure.chains], np.float64)
        if mode in (LOG_SUM, MAX):
            binary, unary = np.log(binary), np.log(unary)
        assert chain is not None
        grammar.derived[key] = RuleWeights(binary, closure.first, closure.top, chain, len(unary) > 0), unary
    return grammar.derived[key]


def fill(grammar: BinaryGrammar, leaves: Leaves, mode: int, limit: Limit = NO_LIMIT, modulus: float = 0.0) -> InsideChart:
    """The inside chart of a sentence.

    In mode SUM the words are scaled, and scaled again if numbers leave the range of exact products; if that does not help, the
    chart is of mode LOG_SUM instead.
    """
    n = len(leaves.first) - 1
    if mode == SUM:
        scaled = _fill_scaled(grammar, leaves, limit)
        if scaled is not None:
            return scaled
        mode = LOG_SUM
    if mode in (LOG_SUM, MAX):
        leaves = leaves._replace(weight=np.log(leaves.weight))
    elif mode == MODULAR:
        leaves = leaves._replace(weight=np.ones_like(leaves.weight))
    weights, unary = weights_of(grammar, mode, modulus)
    chart, *_ = inside(mode, n, leaves, grammar.binary, weights, limit, modulus)
    return _inside_chart(grammar, mode, n, chart, leaves, weights, unary, 0.0)


def _fill_scaled(grammar: BinaryGrammar, leaves: Leaves, limit: Limit) -> InsideChart | None:
    """A chart of probabilities in which each word's are multiplied by a factor, the same for every derivation; None if no factor
    keeps all numbers in range."""
    n = len(leaves.first) - 1
    weights, unary = weights_of(grammar, SUM)
    length = np.diff(leaves.first)
    log_factor = -np.log(np.maximum.reduceat(leaves.weight, leaves.first[:-1])) if length.all() else np.zeros(n)
    for _ in range(_ATTEMPTS):
        scaled = leaves._replace(weight=np.exp(np.log(leaves.weight) + np.repeat(log_factor, length)))
        chart, width, low, high = inside(SUM, n, scaled, grammar.binary, weights, limit, 0.0)
        if width == n and not (low < SMALLEST or high > LARGEST):
            return _inside_chart(grammar, SUM, n, chart, scaled, weights, unary, -float(log_factor.sum()))
        if low <= 0 or width == 1 or high == math.inf or math.log(high) - math.log(low) > math.log(LARGEST / SMALLEST):
            return None
        # Spread over the words, the middle of the values at this width brings them back to about 1.
        log_factor = log_factor - (math.log(low) + math.log(high)) / 2 / width
    return None


def _inside_chart(
    grammar: BinaryGrammar, mode: int, n: int, chart: Chart, leaves: Leaves, weights: RuleWeights, unary: Float64, log_scale: float
) -> InsideChart:
    root = find_entry(chart, 0, n, grammar.start) if n else -1
    grid = Grid(chart, leaves, grammar.binary, weights.binary, grammar.unary, unary)
    return InsideChart(mode, n, grid, weights, root, log_scale)


def outer_of(inside_chart: InsideChart) -> Outer:
    """The outside values of a chart that has a parse."""
    return outside(
        inside_chart.mode, inside_chart.n, inside_chart.chart, inside_chart.grid.binary, inside_chart.weights, inside_chart.root
    )


_LARGEST = 1 << 26
"""The bound of the primes: below it the product of two remainders plus a third is exact in a float64."""


def number_of_parses(grammar: BinaryGrammar, leaves: Leaves, limit: Limit, cyclic: bool) -> int | float:
    """The number of parses; ``math.inf`` if a parse can repeat a cycle of unary rules."""
    if cyclic:
        return math.inf
    log_number = _log_number(grammar, leaves, limit)
    if log_number == -math.inf:
        return 0
    number, product = 0, 1
    for prime in _primes():
        if math.log(product) > log_number + math.log(2) + 1e-6 * max(1.0, log_number):
            return number
        inside_chart = fill(grammar, leaves, MODULAR, limit, float(prime))
        remainder = round(float(inside_chart.chart.value[inside_chart.root])) if inside_chart.root >= 0 else 0
        number += product * ((remainder - number) * pow(product, -1, prime) % prime)
        product *= prime
    raise AssertionError("there are enough primes")


def _log_number(grammar: BinaryGrammar, leaves: Leaves, limit: Limit) -> float:
    """The logarithm of the number of parses, to about ten digits."""
    exact, _ = weights_of(grammar, MODULAR)
    with np.errstate(divide="ignore"):
        logs = exact._replace(binary=np.log(exact.binary), chain=np.log(exact.chain))
    ones = leaves._replace(weight=np.zeros_like(leaves.weight))
    n = len(leaves.first) - 1
    chart, *_ = inside(LOG_SUM, n, ones, grammar.binary, logs, limit, 0.0)
    root = find_entry(chart, 0, n, grammar.start)
    return float(chart.value[root]) if root >= 0 else -math.inf


def _primes() -> Iterator[int]:
    """The primes below the bound, largest first."""
    for number in range(_LARGEST - 1, 2, -2):
        if all(number % divisor for divisor in range(3, math.isqrt(number) + 1, 2)):
            yield number


def has_unary_cycle(inside_chart: InsideChart, posterior: NDArray[np.float64], cyclic: NDArray[np.bool_]) -> bool:
    """Whether some parse contains a symbol that derives itself by unary rules."""
    return bool(cyclic.any()) and bool((cyclic[inside_chart.chart.symbol] & (posterior > 0)).any())


LONG = 400
"""The length in words above which the memory for a chart is checked; shorter sentences fit on any machine."""
_PROBE = 200
"""The number of first words on which the size of a long sentence's chart is estimated."""
_CHARTS = 3
"""The peak memory in charts: a chart grows by copying, and its outside values take the same space."""
_SHARE = 0.5
"""The share of the available memory that one chart may take: other sentences and other programs need some too."""


def check_memory(grammar: BinaryGrammar, words: Sequence[str], tags: Tags | None, item_bytes: int = 0) -> None:
    """Refuse a sentence whose chart would take more than half of the available memory.

    The size of a chart grows with the square of the length; how large charts are under this grammar is measured on the sentence's
    first words. ``item_bytes`` is what the caller needs for each item of the chart besides.
    """
    if len(words) <= LONG:
        return
    columns = fill(grammar, leaves_of(grammar, words[:_PROBE], None if tags is None else tags[:_PROBE]), MAX).chart
    needed = (_CHARTS * sum(column.nbytes for column in columns) + item_bytes * len(columns.symbol)) * (len(words) / _PROBE) ** 2
    if needed > (available := available_memory()) * _SHARE:
        raise TooLong(
            f"a sentence of {len(words):,} words needs about {needed / 1e9:.1f} GB for its chart; "
            f"{available / 1e9:.1f} GB are available, of which it may take half"
        )


def available_memory() -> int:
    """The bytes that this process can still allocate: the system's free memory, or what a container or ``ulimit -v`` leaves."""
    bounds = [_free_memory()]
    used, most = (_read_number(Path(f"/sys/fs/cgroup/memory.{name}")) for name in ("current", "max"))
    if used is not None and most is not None:
        bounds.append(max(most - used, 0))
    bounds += _free_address_space()
    return min(bounds)


def _free_memory() -> int:
    """The bytes of free memory of the system, or an estimate."""
    try:
        for line in Path("/proc/meminfo").read_text("ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    except (OSError, ValueError):
        pass
    try:
        # On systems that do not report the free memory, half of all memory.
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, OSError, ValueError):
        return 4 << 30


def _read_number(path: Path) -> int | None:
    try:
        return int(path.read_text("ascii"))
    except (OSError, ValueError):
        return None


def _free_address_space() -> list[int]:
    """The bytes that ``ulimit -v`` still allows, if it is set."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        taken = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, OSError, ValueError, IndexError):
        return []
    return [] if limit == resource.RLIM_INFINITY else [max(limit - taken, 0)]
