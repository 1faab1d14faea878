"""What the parts of a model must be like to fit together: everything that a file says is checked here, because kernels do not look.

Each check raises :class:`ValueError` with what is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treegauge.grammar.latent.lexicon import WordTable
from treegauge.grammar.latent.rows import offsets
from treegauge.grammar.latent.symbols import INNER, PHRASE, TAG, BaseGrammar, Int64
from treegauge.grammar.lexicon import UNKNOWN

__all__ = ["check_base", "check_hierarchy", "check_pairs", "check_settings", "check_table", "numbers", "values"]

MOST_PAIR_VALUES = 50_000_000
"""More counts of a tag's subcategories with words than this are refused: they would fill half a gigabyte."""


def numbers(arrays: Mapping[str, NDArray[Any]], name: str, columns: int = 0) -> NDArray[Any]:
    """An array of whole numbers of the right shape: one row of them, or rows of so many columns."""
    found = arrays[name]
    shape = (found.shape[0], columns) if columns and found.ndim else found.shape[:1]
    if found.dtype.kind not in "iu" or found.shape != shape or not found.shape:
        raise ValueError(f"{name} is not an array of whole numbers of the right shape")
    return found


def values(arrays: Mapping[str, NDArray[Any]], name: str) -> NDArray[Any]:
    """A row of expected counts: finite numbers, none below 0."""
    found = arrays[name]
    if found.dtype.kind != "f" or found.ndim != 1 or not np.isfinite(found).all() or (found < 0).any():
        raise ValueError(f"{name} is not a row of counts")
    return found


def _within(what: str, array: NDArray[Any], bound: int, least: int = 0) -> None:
    if array.size and (int(array.min()) < least or int(array.max()) >= bound):
        raise ValueError(f"{what} has a number out of range")


def check_base(base: BaseGrammar) -> None:
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


def check_table(table: WordTable, base: BaseGrammar) -> None:
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


def check_pairs(table: WordTable, sizes: Int64, place: Int64) -> int:
    """The number of counts of pairs; ``place`` are those that are not 0, in order."""
    size = int(table.pair_offsets(sizes)[-1])
    if size > MOST_PAIR_VALUES:
        raise ValueError(f"{size:,} counts of words with subcategories are too many")
    _within("pair_place", place, size)
    if (np.diff(place) <= 0).any():
        raise ValueError("pair_place is not in order")
    return size


def check_hierarchy(sizes: Int64, up: tuple[Int64, ...]) -> None:
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


def check_settings(found: Mapping[str, float]) -> None:
    """Finite numbers; shares and thresholds between 0 and 1."""
    for name, value in found.items():
        if not np.isfinite(value) or value < 0 or (value > 1 and name not in ("lam", "spelling", "coarser")):
            raise ValueError(f"the setting {name} is {value}")
