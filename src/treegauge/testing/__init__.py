"""Tools for testing programs that handle trees: hypothesis strategies (they need the extra ``[test]``).

>>> from treegauge.testing import trees
>>> trees(max_leaves=3).example().width  # doctest: +SKIP
2
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treegauge.testing.strategies import labels, treebanks, trees, words

__all__ = ["labels", "treebanks", "trees", "words"]

_HOME = dict.fromkeys(("labels", "treebanks", "trees", "words"), "treegauge.testing.strategies")


def __getattr__(name: str) -> Any:
    """Each name is imported when it is first used: hypothesis is not needed to run treegauge."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)
