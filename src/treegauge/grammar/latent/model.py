"""Latent-variable models: several grammars over one base grammar, the settings they are parsed with, and their file.

A file has each grammar's expected counts at its finest level; probabilities, and all coarser levels, are made when it is read.
Whatever a file says is checked then, because kernels do not look.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import ModelError
from treegauge.grammar.latent.grammar import LatentCounts, LatentSmoothing, Level, join_counts, level_of
from treegauge.grammar.latent.lexicon import LexiconSmoothing, WordTable
from treegauge.grammar.latent.rows import Rows, offsets
from treegauge.grammar.latent.symbols import INNER, PHRASE, TAG, BaseGrammar, Int64
from treegauge.grammar.lexicon import UNKNOWN
from treegauge.io.archive import read_archive, write_archive

__all__ = [
    "SCHEMA",
    "VERSION",
    "Hierarchy",
    "LatentModel",
    "ParseSettings",
    "as_stored",
    "load_latent",
    "save_latent",
    "settings_document",
    "settings_from",
]

SCHEMA = "treegauge-latent"
VERSION = 1
_MOST_PAIR_VALUES = 50_000_000
"""More counts of a tag's subcategories with words than this are refused: they would fill half a gigabyte."""
_LEAST_COUNT = 1e-4
"""Smaller expected counts of a word with a subcategory are not kept in files."""


class ParseSettings(NamedTuple):
    """Default settings of parsing: ``lam`` of labelled-precision-recall; which levels of the hierarchy
    are used on the way to the finest (by round); the posterior below which edges of the base forest, subcategories and edges of
    finer passes are left out."""

    lam: float = 0.4
    levels: tuple[int, ...] = (1, 3)
    base: float = 1e-4
    subcategory: float = 1e-4
    edge: float = 1e-5
    smoothing: LatentSmoothing = LatentSmoothing()


class Hierarchy(NamedTuple):
    """One grammar: its expected counts, and for each round the map from its subcategories to their numbers in the round before."""

    counts: LatentCounts
    up: tuple[Int64, ...]

    @property
    def rounds(self) -> int:
        return len(self.up)

    def to_round(self, base: BaseGrammar, wanted: int) -> Int64:
        """The map from the finest subcategories to those of a round."""
        symbol = np.repeat(np.arange(base.size), self.counts.sizes)
        to = np.arange(len(symbol)) - offsets(self.counts.sizes)[symbol]
        for up in reversed(self.up[wanted:]):
            first = _first_of(base, symbol, to)
            to = up[first[symbol] + to]
        return to


def _first_of(base: BaseGrammar, symbol: Int64, to: Int64) -> Int64:
    """The number of the first subcategory of each symbol, given all numbers within symbols."""
    sizes = np.zeros(base.size, np.int64)
    np.maximum.at(sizes, symbol, to + 1)
    return offsets(sizes)


@dataclass(frozen=True, eq=False)
class LatentModel:
    """Grammars over one base grammar and one table of words. The sha256 of the training trees is ``trained_on``."""

    base: BaseGrammar
    table: WordTable
    grammars: tuple[Hierarchy, ...]
    settings: ParseSettings = field(default_factory=ParseSettings)
    trained_on: str = ""
    notes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    derived: dict[object, Any] = field(default_factory=dict[object, Any])
    """Tables that parsing makes of the model once and keeps."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Without what parsing has made of it: a worker makes its own."""
        return LatentModel, (self.base, self.table, self.grammars, self.settings, self.trained_on, dict(self.notes))

    @property
    def rounds(self) -> int:
        """The number of rounds of the grammar that has most."""
        return max(grammar.rounds for grammar in self.grammars)

    @cached_property
    def base_level(self) -> Level:
        """The treebank's own grammar, without subcategories."""
        return self.level(0, 0)

    def counts(self, grammar: int, wanted: int) -> LatentCounts:
        """The expected counts of a grammar at the level of a round."""
        hierarchy = self.grammars[grammar]
        if wanted >= hierarchy.rounds:
            return hierarchy.counts
        return join_counts(self.base, self.table, hierarchy.counts, hierarchy.to_round(self.base, wanted))

    def level(self, grammar: int, wanted: int) -> Level:
        """The probabilities of a grammar at the level of a round."""
        return _float32(level_of(self.base, self.table, self.counts(grammar, wanted), self.settings.smoothing))

    def path(self, grammar: int) -> tuple[tuple[Level, ...], tuple[Int64, ...]]:
        """The levels that parsing goes through, at least two (kernels are compiled once for each number of levels), and for each
        the map to the subcategories of the one before."""
        hierarchy = self.grammars[grammar]
        between = sorted(r for r in set(self.settings.levels) if 0 < r < hierarchy.rounds)
        wanted = [*(between or [0]), hierarchy.rounds]
        levels = tuple(self.level(grammar, r) for r in wanted)
        ups = [np.zeros(int(levels[0].sizes.sum()), np.int64)]
        for coarse, fine in pairwise(wanted):
            part = Hierarchy(self.counts(grammar, fine), hierarchy.up[:fine])
            ups.append(part.to_round(self.base, coarse))
        return levels, tuple(ups)


def _float32(level: Level) -> Level:
    """The level with numbers of the type that kernels are compiled for."""
    binary, unary = (rows._replace(value=rows.value.astype(np.float32)) for rows in (level.binary, level.unary))
    known = level.emissions._replace(pair=level.emissions.pair.astype(np.float32))
    return level._replace(binary=binary, unary=unary, root=level.root.astype(np.float32), emissions=known)


def save_latent(model: LatentModel, path: str | Path) -> None:
    """Write a model as a file."""
    base, table = model.base, model.table
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "version": VERSION,
        "names": list(base.names),
        "middles": [[A, B, list(middle)] for (A, B), middle in base.middles.items()],
        "root": base.root,
        "words": list(table.words),
        "signatures": list(table.names),
        "settings": settings_document(model.settings),
        "grammars": [grammar.rounds for grammar in model.grammars],
        "trained_on": model.trained_on,
        "notes": dict(model.notes),
    }
    arrays: dict[str, NDArray[Any]] = {"kind": base.kind, "binary": base.binary, "unary": base.unary}
    for name in ("count", "pair_tag", "pair_word", "pair_count", "parent", "signature", "rare_pair", "rare_signature"):
        arrays[name] = getattr(table, name)
    for number, grammar in enumerate(model.grammars):
        arrays |= {f"{number}_{name}": array for name, array in _packed(grammar).items()}
    write_archive(path, document, arrays)


def _packed(grammar: Hierarchy) -> dict[str, NDArray[Any]]:
    counts = grammar.counts
    large = np.flatnonzero(counts.pair >= _LEAST_COUNT)
    return {
        "sizes": counts.sizes.astype(np.int16),
        "root": counts.root,
        "pair_place": np.diff(large, prepend=0).astype(np.int32),
        "pair_value": counts.pair[large].astype(np.float32),
        "up": np.concatenate([np.zeros(0, np.int16), *(up.astype(np.int16) for up in grammar.up)]),
        "up_sizes": np.array([len(up) for up in grammar.up], np.int64),
        **{
            f"{side}_{name}": array
            for side, rows in (("binary", counts.binary), ("unary", counts.unary))
            for name, array in (
                ("rows", np.diff(rows.first).astype(np.int32)),
                ("left", rows.left.astype(np.int16)),
                ("right", rows.right.astype(np.int16)),
                ("value", rows.value.astype(np.float32)),
            )
        },
    }


def as_stored(grammar: Hierarchy, base: BaseGrammar, table: WordTable) -> Hierarchy:
    """The grammar as a file keeps it."""
    return _unpacked(_packed(grammar), base, table)


def load_latent(path: str | Path) -> LatentModel:
    """The model in a file; :class:`~treegauge.errors.ModelError` if it is damaged or of another version."""
    document, arrays = read_archive(path, SCHEMA, VERSION)
    try:
        return _model(document, arrays)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ModelError(
            f"the model's parts do not fit together ({type(error).__name__}: {error})",
            path=str(path),
            advice="The file is damaged; write it again.",
        ) from None


def _model(document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> LatentModel:
    base = BaseGrammar(
        tuple(map(str, document["names"])),
        _numbers(arrays, "kind").astype(np.int8),
        _numbers(arrays, "binary", 3).astype(np.int32),
        _numbers(arrays, "unary", 2).astype(np.int32),
        {(int(A), int(B)): tuple(map(str, middle)) for A, B, middle in document["middles"]},
        None if document["root"] is None else str(document["root"]),
    )
    _check_base(base)
    int32 = {
        name: _numbers(arrays, name).astype(np.int32)
        for name in ("pair_tag", "pair_word", "parent", "signature", "rare_pair", "rare_signature")
    }
    table = WordTable(
        tuple(map(str, document["words"])), _numbers(arrays, "count").astype(np.int64), int32["pair_tag"], int32["pair_word"],
        _numbers(arrays, "pair_count").astype(np.int64), tuple(map(str, document["signatures"])), int32["parent"],
        int32["signature"], int32["rare_pair"], int32["rare_signature"],
    )  # fmt: skip
    _check_table(table, base)
    rounds = list(map(int, document["grammars"]))
    grammars = tuple(
        _unpacked({name.partition("_")[2]: array for name, array in arrays.items() if name.startswith(f"{number}_")}, base, table)
        for number in range(len(rounds))
    )
    if not grammars or [grammar.rounds for grammar in grammars] != rounds:
        raise ValueError("grammars of other rounds")
    return LatentModel(
        base, table, grammars, settings_from(document["settings"]), str(document["trained_on"]), dict(document["notes"])
    )


def settings_document(settings: ParseSettings) -> dict[str, Any]:
    """Settings as plain data."""
    return {**settings._asdict(), "smoothing": [settings.smoothing.rules, *settings.smoothing.lexicon]}


def settings_from(found: Mapping[str, Any]) -> ParseSettings:
    """The inverse of :func:`settings_document`."""
    rules, *lexicon = map(float, found["smoothing"])
    smoothing = LatentSmoothing(rules, LexiconSmoothing(*lexicon))
    plain = {name: float(found[name]) for name in ("lam", "base", "subcategory", "edge")}
    _check_settings({**plain, "rules": rules, **smoothing.lexicon._asdict()})
    return ParseSettings(levels=tuple(map(int, found["levels"])), smoothing=smoothing, **plain)


def _unpacked(arrays: Mapping[str, NDArray[Any]], base: BaseGrammar, table: WordTable) -> Hierarchy:
    sizes, root = _numbers(arrays, "sizes").astype(np.int64), _values(arrays, "root").astype(np.float64)
    if len(sizes) != base.size or sizes.min() < 1 or len(root) != int(sizes.sum()) or not root.sum() > 0:
        raise ValueError("sizes of other symbols")
    lengths = _numbers(arrays, "up_sizes").astype(np.int64)
    if (lengths < 0).any() or int(lengths.sum()) != len(_numbers(arrays, "up")):
        raise ValueError("up is of other subcategories")
    up = tuple(arrays["up"][begin:end].astype(np.int64) for begin, end in pairwise(offsets(lengths).tolist()))
    _check_hierarchy(sizes, up)
    place = np.cumsum(_numbers(arrays, "pair_place").astype(np.int64))
    pair = np.zeros(_check_pairs(table, sizes, place))
    pair[place] = _values(arrays, "pair_value")
    binary, unary = (_rows(arrays, side, rules, sizes) for side, rules in (("binary", base.binary), ("unary", base.unary)))
    return Hierarchy(LatentCounts(sizes, binary, unary, root, pair), up)


def _rows(arrays: Mapping[str, NDArray[Any]], side: str, rules: NDArray[np.int32], sizes: Int64) -> Rows:
    count = _numbers(arrays, f"{side}_rows").astype(np.int64)
    left, right = (_numbers(arrays, f"{side}_{name}").astype(np.int32) for name in ("left", "right"))
    value = _values(arrays, f"{side}_value").astype(np.float32)
    if len(count) != len(rules) or (count < 1).any() or int(count.sum()) != len(left) or len(right) != len(left):
        raise ValueError("rows of other rules")
    rule = np.repeat(np.arange(len(rules)), count)
    offset = offsets(sizes[rules[rule, 0]])
    most = sizes[rules[rule, 2]] if rules.shape[1] == 3 else np.ones(len(rule), np.int64)
    if len(value) != int(offset[-1]):
        raise ValueError("rows of other rules")
    if (left < 0).any() or (left >= sizes[rules[rule, 1]]).any() or (right < 0).any() or (right >= most).any():
        raise ValueError("a subcategory out of range")
    return Rows(offsets(count), left, right, offset, value)


def _numbers(arrays: Mapping[str, NDArray[Any]], name: str, columns: int = 0) -> NDArray[Any]:
    """An array of whole numbers of the right shape: one row of them, or rows of so many columns."""
    found = arrays[name]
    shape = (found.shape[0], columns) if columns and found.ndim else found.shape[:1]
    if found.dtype.kind not in "iu" or found.shape != shape or not found.shape:
        raise ValueError(f"{name} is not an array of whole numbers of the right shape")
    return found


def _values(arrays: Mapping[str, NDArray[Any]], name: str) -> NDArray[Any]:
    """A row of expected counts: finite numbers, none below 0."""
    found = arrays[name]
    if found.dtype.kind != "f" or found.ndim != 1 or not np.isfinite(found).all() or (found < 0).any():
        raise ValueError(f"{name} is not a row of counts")
    return found


def _within(what: str, array: NDArray[Any], bound: int, least: int = 0) -> None:
    if array.size and (int(array.min()) < least or int(array.max()) >= bound):
        raise ValueError(f"{what} has a number out of range")


def _check_base(base: BaseGrammar) -> None:
    """Symbols in the order phrases, inner symbols, tags; rules of symbols that can have them."""
    kind = base.kind
    if len(kind) != base.size or (np.diff(kind) < 0).any():
        raise ValueError("symbols are not in order")
    _within("kind", kind, TAG + 1)
    if not (kind == TAG).any():
        raise ValueError("there are no tags")
    for what, rules in (("binary", base.binary), ("unary", base.unary)):
        _within(what, rules, base.size)
        if len(np.unique(rules, axis=0)) != len(rules):
            raise ValueError(f"{what} has a rule twice")
    if (kind[base.binary[:, 0]] == TAG).any() or (kind[base.binary[:, 1]] == INNER).any():
        raise ValueError("binary has a rule of the wrong symbols")
    if (kind[base.unary[:, 0]] != PHRASE).any() or (kind[base.unary[:, 1]] == INNER).any():
        raise ValueError("unary has a rule of the wrong symbols")
    _within("middles", np.array(list(base.middles), np.int64), base.size)


def _check_table(table: WordTable, base: BaseGrammar) -> None:
    """Words, tags and signatures that point to each other."""
    words, pairs, names = len(table.words), len(table.pair_tag), len(table.names)
    lengths = (
        (table.count, words), (table.signature, words), (table.pair_word, pairs), (table.pair_count, pairs),
        (table.parent, names), (table.rare_signature, len(table.rare_pair)),
    )  # fmt: skip
    if any(len(array) != length for array, length in lengths) or not words or not pairs:
        raise ValueError("columns of words are of different lengths")
    bounds = (
        ("pair_tag", table.pair_tag, base.size), ("pair_word", table.pair_word, words), ("signature", table.signature, names),
        ("rare_pair", table.rare_pair, pairs), ("rare_signature", table.rare_signature, names),
    )  # fmt: skip
    for what, array, bound in bounds:
        _within(what, array, bound)
    if (base.kind[table.pair_tag] != TAG).any() or (np.diff(table.pair_tag) < 0).any():
        raise ValueError("pair_tag is not ordered by tag")
    if min(int(table.count.min()), int(table.pair_count.min())) < 1:
        raise ValueError("a word was never seen")
    if (table.parent < -1).any() or (table.parent >= np.arange(names)).any():
        raise ValueError("parent: a coarser signature stands behind a finer one")
    if len(set(table.words)) != words or len(set(table.names)) != names or UNKNOWN not in table.names:
        raise ValueError("words or signatures are not all different, or one is missing")
    if (np.bincount(table.rare_signature, minlength=names) == 0).any():
        raise ValueError("a signature that no rare word has")


def _check_pairs(table: WordTable, sizes: Int64, place: Int64) -> int:
    """The number of counts of pairs; ``place`` are those that are not 0, in order."""
    size = int(table.pair_offsets(sizes)[-1])
    if size > _MOST_PAIR_VALUES:
        raise ValueError(f"{size:,} counts of words with subcategories are too many")
    _within("pair_place", place, size)
    if (np.diff(place) <= 0).any():
        raise ValueError("pair_place is not in order")
    return size


def _check_hierarchy(sizes: Int64, up: tuple[Int64, ...]) -> None:
    """Each round's subcategories lead, in order, to all of the round before; the first round's to the symbols themselves."""
    for each in reversed(up):
        if len(each) != int(sizes.sum()):
            raise ValueError("up is of other subcategories")
        first = offsets(sizes)[:-1]
        step = np.diff(each, prepend=0)
        step[first] = 0
        if (each[first] != 0).any() or (step < 0).any() or (step > 1).any():
            raise ValueError("up does not lead to the subcategories of the round before")
        sizes = each[offsets(sizes)[1:] - 1] + 1
    if (sizes != 1).any():
        raise ValueError("the symbols before the first round have subcategories")


def _check_settings(found: Mapping[str, float]) -> None:
    """Finite numbers; shares and thresholds between 0 and 1."""
    for name, value in found.items():
        if not np.isfinite(value) or value < 0 or (value > 1 and name not in ("lam", "spelling", "coarser")):
            raise ValueError(f"the setting {name} is {value}")
