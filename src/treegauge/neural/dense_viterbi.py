"""The most probable parse under a dense PCFG: the best value of each symbol over each span, one width at a time, and the parse
that has it, read off from the top."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treegauge.neural.backend import Array, as_numpy, is_tensor, torch_module
from treegauge.parsing.derivations import Best
from treegauge.trees.tree import Child, Tree

if TYPE_CHECKING:
    from treegauge.neural.pcfg import PCFG

__all__ = ["best_parses", "best_values"]

Floats = NDArray[np.float64]


def best_values(pcfg: PCFG) -> list[Array]:
    """The logarithm of the best derivation of each symbol, by width: ``[d - 2]`` is (B, n - d + 1, N); of spans of one word, with
    shared symbols, the emissions."""
    xp: Any = torch_module() if is_tensor(pcfg.emissions) else np
    emissions, rules = pcfg.emissions, pcfg.rules
    if is_tensor(emissions):
        emissions, rules = emissions.detach(), rules.detach()
    n, N = pcfg.n, pcfg.N
    of = [rules[..., A, :, :] for A in range(N)]
    by_width: dict[int, Array] = {1: emissions} if pcfg.shared else {}
    first: Array = None
    last: Array = None
    if not pcfg.shared:
        # The best preterminal of each word, for each rule and sibling: (B, n, N, N).
        first = xp.stack([xp.amax(emissions[..., :, None] + _spread(r[..., N:, :N]), -2) for r in of], 2)
        last = xp.stack([xp.amax(emissions[..., None, :] + _spread(r[..., :N, N:]), -1) for r in of], 2)
    for d in range(2, n + 1):
        k = n - d + 1
        if not pcfg.shared and d == 2:
            pairs = emissions[:, :-1, :, None] + emissions[:, 1:, None, :]
            value = xp.stack([_largest(xp, pairs + _spread(r[..., N:, N:])) for r in of], -1)
        else:
            best = None
            for w in range(1, d) if pcfg.shared else range(2, d - 1):
                pairs = by_width[w][:, :k, :, None] + by_width[d - w][:, w : w + k, None, :]
                best = pairs if best is None else xp.maximum(best, pairs)
            value = None if best is None else xp.stack([_largest(xp, best + _spread(r[..., :N, :N])) for r in of], -1)
            if not pcfg.shared:
                after = xp.amax(first[:, :k] + by_width[d - 1][:, 1:, None, :], -1)
                before = xp.amax(last[:, d - 1 :] + by_width[d - 1][:, :k, None, :], -1)
                border = xp.maximum(after, before)
                value = border if value is None else xp.maximum(value, border)
        if pcfg.allowed is not None:
            fits = pcfg.allowed[:, xp.arange(k), xp.arange(k) + d - 1]
            value = xp.where(fits[..., None], value, xp.zeros_like(value) - np.inf)
        by_width[d] = value
    return [by_width[d] for d in range(2, n + 1)]


def _spread(rules: Array) -> Array:
    """(X, Y) or (B, X, Y), to be added to (B, k, X, Y)."""
    return rules if rules.ndim == 2 else rules[:, None]


def _largest(xp: Any, values: Array) -> Array:
    return xp.amax(values.reshape(*values.shape[:2], -1), -1)


def best_parses(pcfg: PCFG, log_z: Floats, words: Sequence[Sequence[str]] | None) -> list[Best]:
    """The best parse of each sentence of a batch; a sentence without one has nan for a score and a flat tree."""
    values = [as_numpy(value) for value in best_values(pcfg)]
    emissions, rules, root = (as_numpy(x) for x in (pcfg.emissions, pcfg.rules, pcfg.root))
    found: list[Best] = []
    for b, n in enumerate(pcfg.lengths.tolist()):
        tokens = [str(i) for i in range(n)] if words is None else list(words[b])
        if n == 1 and not pcfg.shared:
            found.append(Best(Tree("X", tokens), math.nan))
            continue
        top = root[b] + (values[n - 2][b, 0] if n > 1 else emissions[b, 0])
        A = int(top.argmax())
        if top[A] == -np.inf:
            found.append(Best(Tree("X", tokens), math.nan))
            continue
        own = rules if rules.ndim == 3 else rules[b]
        tree = _read(n, A, [value[b] for value in values], emissions[b], own, pcfg.N, pcfg.shared, tokens)
        found.append(Best(tree, math.exp(float(top[A]) - float(log_z[b]))))
    return found


def _read(n: int, A: int, values: list[Any], emissions: Any, rules: Any, N: int, shared: bool, words: Sequence[str]) -> Tree:
    def cell(s: int, t: int) -> Any:
        """The best values over a span, by all symbols that a child can have."""
        if t - s > 1:
            return values[t - s - 2][s] if shared else np.concatenate([values[t - s - 2][s], np.full(emissions.shape[1], -np.inf)])
        return emissions[s] if shared else np.concatenate([np.full(N, -np.inf), emissions[s]])

    done: list[list[Child]] = [[]]
    stack: list[tuple[int, int, int, bool]] = [(0, n, A, False)]
    while stack:
        s, t, symbol, finished = stack.pop()
        name = f"N{symbol}" if symbol < N else f"T{symbol - N}"
        if finished:
            children = done.pop()
            done[-1].append(Tree(name, children))
        elif t == s + 1:
            done[-1].append(Tree(name, [words[s]]))
        else:
            sums = np.stack([cell(s, r)[:, None] + cell(r, t)[None, :] for r in range(s + 1, t)]) + rules[symbol]
            r, left, right = np.unravel_index(int(sums.argmax()), sums.shape)
            middle = s + 1 + int(r)
            stack += [(s, t, symbol, True), (middle, t, int(right), False), (s, middle, int(left), False)]
            done.append([])
    (tree,) = done[0]
    assert isinstance(tree, Tree)
    return tree
