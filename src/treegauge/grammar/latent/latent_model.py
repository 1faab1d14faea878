"""Latent-variable models: several grammars over one base grammar, the settings for parsing with them, and their file format.

A file holds each grammar's expected counts at its finest level; probabilities and all coarser levels are computed from them.
Reading checks every array, because the compiled kernels do not check bounds.
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

from treegauge.grammar.latent.latent_grammar import (
    LatentCounts,
    LatentSmoothing,
    Level,
    LexiconSmoothing,
    WordTable,
    level_of,
    merge_counts,
)
from treegauge.grammar.latent.rule_rows import INNER, PHRASE, TAG, BaseGrammar, Int64, RuleRows, offsets
from treegauge.grammar.lexicon import UNKNOWN
from treegauge.grammar.training_sentences import UInt64, stored_hashes
from treegauge.io.archive import read_archive, refusing_damaged_model, write_archive
from treegauge.tables import number_of

SCHEMA = "treegauge-latent"
VERSION = 1
_MOST_PAIR_VALUES = 50_000_000
"""The limit on counts of words with subcategories of tags: more would fill half a gigabyte."""
_LEAST_COUNT = 1e-4
"""Smaller expected counts of a word with a subcategory are not written to files."""


class ParseSettings(NamedTuple):
    """Default settings of parsing.

    * ``lam``: the minimum posterior for keeping a node under labelled-precision-recall;
    * ``levels``: the rounds whose levels of the hierarchy are parsed with before the finest;
    * ``base``, ``subcategory``, ``edge``: the posteriors below which edges of the base forest, subcategories, and edges of finer
      passes are pruned;
    * ``smoothing``: the smoothing of expected counts.
    """

    lam: float = 0.4
    levels: tuple[int, ...] = (1, 3)
    base: float = 1e-4
    subcategory: float = 1e-4
    edge: float = 1e-5
    smoothing: LatentSmoothing = LatentSmoothing()


class Hierarchy(NamedTuple):
    """One grammar: its expected counts, and for each round the map from its subcategories to those of the round before."""

    counts: LatentCounts
    up: tuple[Int64, ...]

    @property
    def rounds(self) -> int:
        return len(self.up)

    def to_round(self, base: BaseGrammar, wanted: int) -> Int64:
        """The map from the finest subcategories to those of a round; subcategories are numbered within their symbol."""
        symbol = np.repeat(np.arange(base.size), self.counts.sizes)
        to = np.arange(len(symbol)) - offsets(self.counts.sizes)[symbol]
        for up in reversed(self.up[wanted:]):
            sizes = np.zeros(base.size, np.int64)
            np.maximum.at(sizes, symbol, to + 1)
            to = up[offsets(sizes)[symbol] + to]
        return to


@dataclass(frozen=True, eq=False)
class LatentModel:
    """Grammars over one base grammar and one table of words. ``trained_on`` is the SHA-256 of the training trees, ``notes`` is a
    record of the training, and ``sentences`` are the hashes of the training sentences, empty if unknown."""

    base: BaseGrammar
    table: WordTable
    grammars: tuple[Hierarchy, ...]
    settings: ParseSettings = field(default_factory=ParseSettings)
    trained_on: str = ""
    notes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    sentences: UInt64 = field(default_factory=lambda: np.zeros(0, np.uint64))
    derived: dict[object, Any] = field(default_factory=dict[object, Any])
    """A cache of tables that parsing computes from the model."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the model without its cache; a worker process fills its own."""
        return LatentModel, (self.base, self.table, self.grammars, self.settings, self.trained_on, dict(self.notes), self.sentences)

    def __repr__(self) -> str:
        size = f"{number_of(len(self.grammars), 'grammar')}, {number_of(self.rounds, 'round')}"
        return f"<LatentModel of {size}, {len(self.table.words):,} words>"

    @property
    def rounds(self) -> int:
        """The largest number of rounds of any grammar."""
        return max(grammar.rounds for grammar in self.grammars)

    @cached_property
    def base_level(self) -> Level:
        """The treebank's own grammar, without subcategories."""
        return self.level(0, 0)

    def counts(self, grammar: int, wanted: int) -> LatentCounts:
        """The expected counts of a grammar at the level of round ``wanted``."""
        hierarchy = self.grammars[grammar]
        if wanted >= hierarchy.rounds:
            return hierarchy.counts
        return merge_counts(self.base, self.table, hierarchy.counts, hierarchy.to_round(self.base, wanted))

    def level(self, grammar: int, wanted: int) -> Level:
        """The probabilities of a grammar at the level of round ``wanted``."""
        return _float32(level_of(self.base, self.table, self.counts(grammar, wanted), self.settings.smoothing))

    def path(self, grammar: int) -> tuple[tuple[Level, ...], tuple[Int64, ...]]:
        """The levels that parsing goes through, and the map from each level's subcategories to those of the level before.

        There are always at least two, because kernels are compiled for each number of levels.
        """
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
    """The level in single precision, for which the kernels are compiled."""
    binary, unary = (rows._replace(value=rows.value.astype(np.float32)) for rows in (level.binary, level.unary))
    known = level.emissions._replace(pair=level.emissions.pair.astype(np.float32))
    return level._replace(binary=binary, unary=unary, root=level.root.astype(np.float32), emissions=known)


def save_latent(model: LatentModel, path: str | Path) -> None:
    """Write a model to a file."""
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
    arrays: dict[str, NDArray[Any]] = {"kind": base.kind, "binary": base.binary, "unary": base.unary, "sentences": model.sentences}
    for name in ("count", "pair_tag", "pair_word", "pair_count", "parent", "signature", "rare_pair", "rare_signature"):
        arrays[name] = getattr(table, name)
    for number, grammar in enumerate(model.grammars):
        arrays |= {f"{number}_{name}": array for name, array in _pack(grammar).items()}
    write_archive(path, document, arrays)


def _pack(grammar: Hierarchy) -> dict[str, NDArray[Any]]:
    """The arrays of a grammar for a file, in small types and without negligible counts."""
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
    """The grammar as it would be read back from a file, with the same rounding."""
    return _unpack(_pack(grammar), base, table)


def load_latent(path: str | Path) -> LatentModel:
    """Read a model from a file; a damaged file or another version is a :class:`~treegauge.errors.ModelError`."""
    document, arrays = read_archive(path, SCHEMA, VERSION)
    with refusing_damaged_model(path):
        return _model(document, arrays)


def _model(document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> LatentModel:
    """The model in the parts of a file, all of which are checked."""
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
        _unpack({name.partition("_")[2]: array for name, array in arrays.items() if name.startswith(f"{number}_")}, base, table)
        for number in range(len(rounds))
    )
    if not grammars or [grammar.rounds for grammar in grammars] != rounds:
        raise ValueError("the grammars do not have the stated numbers of rounds")
    return LatentModel(
        base, table, grammars, settings_from(document["settings"]), str(document["trained_on"]), dict(document["notes"]),
        stored_hashes(arrays),
    )  # fmt: skip


def settings_document(settings: ParseSettings) -> dict[str, Any]:
    """The settings as plain data for JSON."""
    return {**settings._asdict(), "smoothing": [settings.smoothing.rules, *settings.smoothing.lexicon]}


def settings_from(found: Mapping[str, Any]) -> ParseSettings:
    """The inverse of :func:`settings_document`; settings must be finite and not negative, weights and thresholds at most 1."""
    rules, *lexicon = map(float, found["smoothing"])
    smoothing = LatentSmoothing(rules, LexiconSmoothing(*lexicon))
    plain = {name: float(found[name]) for name in ("lam", "base", "subcategory", "edge")}
    for name, value in {**plain, "rules": rules, **smoothing.lexicon._asdict()}.items():
        if not np.isfinite(value) or value < 0 or (value > 1 and name not in ("lam", "spelling", "coarser")):
            raise ValueError(f"the setting {name} is {value}, which is out of range")
    return ParseSettings(levels=tuple(map(int, found["levels"])), smoothing=smoothing, **plain)


def _unpack(arrays: Mapping[str, NDArray[Any]], base: BaseGrammar, table: WordTable) -> Hierarchy:
    """The grammar in the arrays of a file, which are checked; the inverse of :func:`_pack`."""
    sizes, root = _numbers(arrays, "sizes").astype(np.int64), _values(arrays, "root").astype(np.float64)
    if len(sizes) != base.size or sizes.min() < 1 or len(root) != int(sizes.sum()) or not root.sum() > 0:
        raise ValueError("sizes and root do not match the symbols")
    lengths = _numbers(arrays, "up_sizes").astype(np.int64)
    if (lengths < 0).any() or int(lengths.sum()) != len(_numbers(arrays, "up")):
        raise ValueError("up does not match up_sizes")
    up = tuple(arrays["up"][begin:end].astype(np.int64) for begin, end in pairwise(offsets(lengths).tolist()))
    _check_hierarchy(sizes, up)
    place = np.cumsum(_numbers(arrays, "pair_place").astype(np.int64))
    pair = np.zeros(_check_pairs(table, sizes, place))
    pair[place] = _values(arrays, "pair_value")
    binary, unary = (_rows(arrays, side, rules, sizes) for side, rules in (("binary", base.binary), ("unary", base.unary)))
    return Hierarchy(LatentCounts(sizes, binary, unary, root, pair), up)


def _rows(arrays: Mapping[str, NDArray[Any]], side: str, rules: NDArray[np.int32], sizes: Int64) -> RuleRows:
    """The rows of binary or unary rules (``side``) in the arrays of a file, checked."""
    count = _numbers(arrays, f"{side}_rows").astype(np.int64)
    left, right = (_numbers(arrays, f"{side}_{name}").astype(np.int32) for name in ("left", "right"))
    value = _values(arrays, f"{side}_value").astype(np.float32)
    if len(count) != len(rules) or (count < 1).any() or int(count.sum()) != len(left) or len(right) != len(left):
        raise ValueError(f"the {side} rows do not match the rules")
    rule = np.repeat(np.arange(len(rules)), count)
    offset = offsets(sizes[rules[rule, 0]])
    most = sizes[rules[rule, 2]] if rules.shape[1] == 3 else np.ones(len(rule), np.int64)
    if len(value) != int(offset[-1]):
        raise ValueError(f"the {side} rows do not match the rules")
    if (left < 0).any() or (left >= sizes[rules[rule, 1]]).any() or (right < 0).any() or (right >= most).any():
        raise ValueError(f"a {side} row has a subcategory that is out of range")
    return RuleRows(offsets(count), left, right, offset, value)


def _numbers(arrays: Mapping[str, NDArray[Any]], name: str, columns: int = 0) -> NDArray[Any]:
    """An array of whole numbers: one-dimensional, or with the given number of columns."""
    found = arrays[name]
    shape = (found.shape[0], columns) if columns and found.ndim else found.shape[:1]
    if found.dtype.kind not in "iu" or found.shape != shape or not found.shape:
        raise ValueError(f"{name} is not an array of whole numbers of the right shape")
    return found


def _values(arrays: Mapping[str, NDArray[Any]], name: str) -> NDArray[Any]:
    """A one-dimensional array of expected counts, which are not negative, and small enough to be summed."""
    found = arrays[name]
    if found.dtype.kind != "f" or found.ndim != 1 or not ((found >= 0) & (found < 1e15)).all():
        raise ValueError(f"{name} is not an array of counts")
    return found


def _within(what: str, array: NDArray[Any], bound: int) -> None:
    if array.size and (int(array.min()) < 0 or int(array.max()) >= bound):
        raise ValueError(f"{what} has a number out of range")


def _check_base(base: BaseGrammar) -> None:
    """Check that symbols are ordered (phrases, inner symbols, tags) and that rules are between symbols that can have them."""
    kind = base.kind
    if len(kind) != base.size or (np.diff(kind) < 0).any():
        raise ValueError("the symbols are not ordered by kind")
    _within("kind", kind, TAG + 1)
    if not (kind == TAG).any():
        raise ValueError("there are no tags")
    for what, rules in (("binary", base.binary), ("unary", base.unary)):
        _within(what, rules, base.size)
        if len(np.unique(rules, axis=0)) != len(rules):
            raise ValueError(f"{what} has the same rule twice")
    if (kind[base.binary[:, 0]] == TAG).any() or (kind[base.binary[:, 1]] == INNER).any():
        raise ValueError("binary has a rule between the wrong kinds of symbols")
    if (kind[base.unary[:, 0]] != PHRASE).any() or (kind[base.unary[:, 1]] == INNER).any():
        raise ValueError("unary has a rule between the wrong kinds of symbols")
    if (base.unary[:, 0] == base.unary[:, 1]).any():
        raise ValueError("unary has a rule from a symbol to itself")
    if len(set(zip(base.names, kind.tolist(), strict=True))) != base.size:
        raise ValueError("two symbols of the same kind have the same name")
    _within("middles", np.array(list(base.middles), np.int64), base.size)


def _check_table(table: WordTable, base: BaseGrammar) -> None:
    """Check that words, tags and signatures refer to each other as they should."""
    words, pairs, names = len(table.words), len(table.pair_tag), len(table.names)
    lengths = (
        (table.count, words), (table.signature, words), (table.pair_word, pairs), (table.pair_count, pairs),
        (table.parent, names), (table.rare_signature, len(table.rare_pair)),
    )  # fmt: skip
    if any(len(array) != length for array, length in lengths) or not words or not pairs:
        raise ValueError("the columns of words are empty or of different lengths")
    bounds = (
        ("pair_tag", table.pair_tag, base.size), ("pair_word", table.pair_word, words), ("signature", table.signature, names),
        ("rare_pair", table.rare_pair, pairs), ("rare_signature", table.rare_signature, names),
    )  # fmt: skip
    for what, array, bound in bounds:
        _within(what, array, bound)
    if (base.kind[table.pair_tag] != TAG).any() or (np.diff(table.pair_tag) < 0).any():
        raise ValueError("pair_tag has a symbol that is not a tag, or is not in order")
    if min(int(table.count.min()), int(table.pair_count.min())) < 1:
        raise ValueError("a word or pair has a count below 1")
    if (table.parent < -1).any() or (table.parent >= np.arange(names)).any():
        raise ValueError("parent has a coarser signature after a finer one")
    if len(set(table.words)) != words or len(set(table.names)) != names or UNKNOWN not in table.names:
        raise ValueError(f"words or signatures are not all different, or the signature {UNKNOWN} is missing")
    if (np.bincount(table.rare_signature, minlength=names) == 0).any():
        raise ValueError("no rare word has one of the signatures")


def _check_pairs(table: WordTable, sizes: Int64, place: Int64) -> int:
    """The number of counts of pairs, after a check of ``place``, the indices of those that are not 0."""
    size = int(table.pair_offsets(sizes)[-1])
    if size > _MOST_PAIR_VALUES:
        raise ValueError(f"{size:,} counts of words with subcategories are more than {_MOST_PAIR_VALUES:,}")
    _within("pair_place", place, size)
    if (np.diff(place) <= 0).any():
        raise ValueError("pair_place is not in order")
    return size


def _check_hierarchy(sizes: Int64, up: tuple[Int64, ...]) -> None:
    """Check that each round's subcategories map, in order, onto all those of the round before, and the first round's onto the
    symbols."""
    for each in reversed(up):
        if len(each) != int(sizes.sum()):
            raise ValueError("up does not have an entry for each subcategory")
        first = offsets(sizes)[:-1]
        step = np.diff(each, prepend=0)
        step[first] = 0
        if (each[first] != 0).any() or (step < 0).any() or (step > 1).any():
            raise ValueError("up does not map onto the subcategories of the round before")
        sizes = each[offsets(sizes)[1:] - 1] + 1
    if (sizes != 1).any():
        raise ValueError("up leaves subcategories before the first round")
