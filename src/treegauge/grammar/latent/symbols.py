"""The base grammar of a latent-variable grammar: the treebank's own labels, and its binary and unary rules.

Trees are binarised to the right with one *inner* symbol per label: ``(NP a b c)`` is ``NP -> a @NP``, ``@NP -> b c``. A span has at
most one unary rule between phrases: a longer chain keeps its top and bottom, and parsing restores the labels that most often stood
between them. A phrase over one word has a unary rule to its tag, and roots have a distribution over symbols.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

PHRASE, INNER, TAG = 0, 1, 2
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class BaseGrammar:
    """Symbols and rules without subcategories.

    ``names`` are the labels of symbols and ``kind`` their kinds: phrases come first, then inner symbols (which do not appear in
    trees), then tags. The tag with the empty name is for words without a tag, and does not appear in trees either. ``binary`` has
    rows (A, B, C), ``unary`` rows (A, B). ``middles[A, B]`` are the labels that most often stand between A and B in a chain.
    ``root`` is the label of the treebank's root nodes, if it has one.
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
        """The distinct labels of phrases, those in the middle of chains among them."""
        found = [name for name, kind in zip(self.names, self.kind.tolist(), strict=True) if kind == PHRASE]
        return tuple(dict.fromkeys([*found, *(name for middle in self.middles.values() for name in middle)]))

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """The distinct names of tags."""
        return tuple(dict.fromkeys(name for name, kind in zip(self.names, self.kind.tolist(), strict=True) if kind == TAG))

    @cached_property
    def titles(self) -> tuple[str, ...]:
        """A unique name for each symbol: the label of a phrase, ``@`` and the label of an inner symbol, or the name of a tag. More
        ``@`` in front of inner symbols, and ``^`` after tags, tell apart names that would be equal or empty."""
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
        """The unique name of a symbol."""
        return self.titles[symbol]
