"""The base grammar of a latent-variable grammar: the treebank's own labels, its binary and unary rules.

Trees are binarised to the right with one *inner* symbol per label: ``(NP a b c)`` is ``NP -> a @NP``, ``@NP -> b c``. Over one span
stands at most one unary rule between phrases; what a longer chain has in the middle is put back by the most frequent middle. A
phrase over one word has a unary rule to its tag, and the root is a distribution over symbols.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

__all__ = ["INNER", "PHRASE", "TAG", "BaseGrammar", "Int32", "Int64"]

PHRASE, INNER, TAG = 0, 1, 2
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class BaseGrammar:
    """Symbols and rules without subcategories.

    ``names`` are the labels of symbols, ``kind`` says what each is: phrases come first, then inner symbols (which do not show),
    then tags. A tag with the empty name stands over words that have none, and does not show. ``binary`` has rows (A, B, C),
    ``unary`` rows (A, B). ``middles[A, B]`` are the labels that most often stand between A and B in a chain. ``root`` is the
    label above all others, if the treebank has one.
    """

    names: tuple[str, ...]
    kind: NDArray[np.int8]
    binary: Int32
    unary: Int32
    middles: Mapping[tuple[int, int], tuple[str, ...]] = field(default_factory=dict[tuple[int, int], tuple[str, ...]])
    root: str | None = None

    @property
    def size(self) -> int:
        """The number of symbols."""
        return len(self.names)

    @cached_property
    def is_tag(self) -> NDArray[np.bool_]:
        return self.kind == TAG

    @cached_property
    def is_inner(self) -> NDArray[np.bool_]:
        return self.kind == INNER

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels that phrases show."""
        found = [name for name, kind in zip(self.names, self.kind.tolist(), strict=True) if kind == PHRASE]
        return tuple(dict.fromkeys([*found, *(name for middle in self.middles.values() for name in middle)]))

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """The names of tags."""
        return tuple(dict.fromkeys(name for name, kind in zip(self.names, self.kind.tolist(), strict=True) if kind == TAG))

    @cached_property
    def titles(self) -> tuple[str, ...]:
        """For each symbol a name of its own: a phrase's label, @ and the label of an inner symbol, a tag, with ^ behind it where a
        phrase has the same name or it has none; one more @ or ^ as long as another symbol is called so."""
        taken = {name for name, kind in zip(self.names, self.kind.tolist(), strict=True) if kind == PHRASE} | {""}
        hidden = {name for middle in self.middles.values() for name in middle}
        made: list[str] = []
        for name, kind in zip(self.names, self.kind.tolist(), strict=True):
            title = f"@{name}" if kind == INNER else name
            while kind != PHRASE and (title in taken or title in hidden):
                title = f"@{title}" if kind == INNER else f"{title}^"
            taken.add(title)
            made.append(title)
        return tuple(made)

    def title(self, symbol: int) -> str:
        """The name of a symbol that tells it from all others."""
        return self.titles[symbol]
