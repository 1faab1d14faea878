"""Alignment: from two treebanks to a :class:`Pair`, their brackets over the same tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treegauge._lazy import lazy_names

if TYPE_CHECKING:
    from treegauge.alignment.brackets import Brackets as Brackets
    from treegauge.alignment.pairing import Pair as Pair, pair as pair
else:
    __getattr__, __dir__ = lazy_names(__name__)
