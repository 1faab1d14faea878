"""Hypothesis strategies for testing programs that handle trees; they need the extra ``[test]``.

>>> from treegauge.testing import trees
>>> trees(max_leaves=3).example().width  # doctest: +SKIP
2
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from treegauge._lazy import lazy_names

if TYPE_CHECKING:
    from treegauge.testing.strategies import (
        discontinuous_trees as discontinuous_trees,
        labels as labels,
        treebanks as treebanks,
        trees as trees,
        words as words,
    )
else:
    __getattr__, __dir__ = lazy_names(__name__)
