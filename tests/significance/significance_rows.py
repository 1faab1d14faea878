"""Systems to compare: PARSEVAL rows made of counts, and parsers that forget phrases."""

from __future__ import annotations

from importlib import resources

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from treegauge.metrics.parseval import Parseval
from treegauge.normalise.labels import remove_root
from treegauge.trees import Tree
from treegauge.trees.tree import Child, rebuild
from treegauge.trees.treebank import Treebank

COLUMNS = Parseval.columns
F1 = ("parseval", "f1")


def rows(counts: list[tuple[int, int, int]]) -> NDArray[np.float64]:
    """PARSEVAL rows from (matched, gold, test) of each sentence."""
    table = np.zeros((len(counts), len(COLUMNS)))
    for index, (matched, gold, test) in enumerate(counts):
        for name, count in {"sentences": 1, "parsed": 1, "matched": matched, "gold": gold, "test": test}.items():
            table[index, COLUMNS.index(name)] = count
        f1 = 2 * matched / (gold + test) if gold + test else 0.0
        table[index, COLUMNS.index("f1_sum")] = f1
        table[index, COLUMNS.index("f1_defined")] = gold + test > 0
    return table


@st.composite
def two_systems(draw: st.DrawFn, largest: int = 7) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Two systems on the same gold sentences."""
    a, b = [], []
    for _ in range(draw(st.integers(1, largest))):
        gold = draw(st.integers(0, 6))
        for system in (a, b):
            test = draw(st.integers(0, 6))
            system.append((draw(st.integers(0, min(gold, test))), gold, test))
    return rows(a), rows(b)


def own_treebank(n: int) -> list[Tree]:
    """The first sentences of the treebank that comes with treegauge."""
    text = (resources.files("treegauge") / "data" / "news.mrg").read_text("utf-8")
    return [remove_root(tree) for tree in Treebank.parse(text)[:n]]


def careless(trees: list[Tree], seed: int, share: float) -> list[Tree]:
    """A parser that forgets a share of the phrases: their children hang from what was above."""
    rng = np.random.default_rng(seed)

    def make(node: Tree, children: list[Child]) -> list[Child]:
        forgotten = not node.is_preterminal and rng.random() < share
        return children if forgotten else [node.replace(children=children)]

    return [rebuild(tree, make) or tree for tree in trees]
