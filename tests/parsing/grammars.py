"""Random small grammars for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from treegauge.grammar import PCFG

SYMBOLS = ["S", "A", "B"]
WORDS = ["a", "b"]


@st.composite
def pcfgs(draw: st.DrawFn, *, unary: bool = False, cycles: bool = False, longest: int = 2, mixed: bool = False) -> PCFG:
    """A grammar over S, A, B and the words a, b in which every symbol can end; ``cycles`` only matters with ``unary``."""
    rules: list[tuple[str, list[str], float]] = []
    for i, lhs in enumerate(SYMBOLS):
        weights = st.integers(1, 6)
        for word in draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=2, unique=True)):
            rules.append((lhs, [word], draw(weights)))
        children = SYMBOLS + WORDS if mixed else SYMBOLS
        right = st.lists(st.sampled_from(children), min_size=2, max_size=longest).map(tuple)
        for rhs in draw(st.lists(right, max_size=3, unique=True)):
            rules.append((lhs, list(rhs), draw(weights)))
        below = SYMBOLS if cycles else SYMBOLS[i + 1 :]
        if unary and below:
            for child in draw(st.lists(st.sampled_from(below), max_size=2, unique=True)):
                rules.append((lhs, [child], draw(weights)))
    return PCFG.from_rules(rules, start="S", nonterminals=SYMBOLS, renormalise=True)


def sentences(longest: int = 5) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(WORDS), min_size=1, max_size=longest)
