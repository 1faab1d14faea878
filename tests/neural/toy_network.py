"""A toy treebank, and small networks trained on it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from treegauge.neural.network_model import NetworkModel, NetworkSettings
from treegauge.trees import Tree

TREES = [
    Tree.parse(text)
    for text in (
        "(TOP (S (NP (DT the) (NN cat)) (VP (VBD sat))))",
        "(TOP (S (NP (DT the) (JJ old) (NN dog)) (VP (VBD saw) (NP (NP (DT a) (NN cat)) (PP (IN with) (NP (NN milk)))))))",
        "(TOP (S (NP (NN milk)) (VP (VBD saw) (NP (DT the) (NN dog)) (PP (IN with) (NP (DT a) (NN cat))))))",
        "(TOP (S (VP (VBD sat) (PP (IN with) (NP (NN milk))))))",
        "(TOP (FRAG (NP (DT a) (JJ old) (JJ old) (NN cat))))",
        "(TOP (S (NP-SBJ (-NONE- *)) (VP (VBD sat) (NP saw it))))",
        "(TOP (UH milk))",
    )
]
TINY = NetworkSettings(
    words=6, characters=4, convolutions=(3,), layers=2, hidden=5, spans=7, dropout=0.2, rate=0.02, tokens=40, epochs=4, passes=1
)


@cache
def trained(**options: Any) -> NetworkModel:
    """A network trained on the toy treebank, six times over so that there is a slice."""
    from treegauge.neural.network_training import train_network

    return train_network(TREES * 6, replace(TINY, **options), device="cpu")
