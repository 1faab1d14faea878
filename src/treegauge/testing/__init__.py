"""Hypothesis strategies for testing programs that handle trees; they need the extra ``[test]``.

>>> from treegauge.testing import trees
>>> trees(max_leaves=3).example().width  # doctest: +SKIP
2
"""

from __future__ import annotations

from treegauge.testing.strategies import discontinuous_trees, labels, treebanks, trees, words

__all__ = ["discontinuous_trees", "labels", "treebanks", "trees", "words"]
