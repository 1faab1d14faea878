"""PCFGs of low rank, compared with dense PCFGs that have the same rules."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from treegauge.errors import UsageError
from treegauge.neural import PCFG, DensePCFG, LowRankPCFG

LENGTHS = [6, 4, 2, 1]


def factors(shared: bool, batched: bool, seed: int = 1, scale: float = 2.0) -> list[Any]:
    """Roots, parents, lefts, rights and emissions of 3 nonterminals, 2 preterminals (or the same) and rank 4."""
    rng = np.random.default_rng(seed)
    T = 3 if shared else 2
    rows = (3, 3, 3) if shared else (3, 5, 5)
    own = [rng.normal(scale=scale, size=(4, r, 4) if batched else (r, 4)) for r in rows]
    own[0][..., 1, 2] = -np.inf
    return [rng.normal(size=(4, 3)), *own, rng.normal(scale=scale, size=(4, 6, T))]


def whole(parents: Any, lefts: Any, rights: Any) -> Any:
    """All rules as one array of log-potentials."""
    return np.log(np.einsum("...ar,...xr,...yr->...axy", np.exp(parents), np.exp(lefts), np.exp(rights)))


@pytest.mark.parametrize("constrained", [False, True])
@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("shared", [False, True])
def test_against_all_rules(shared: bool, batched: bool, constrained: bool) -> None:
    """log Z, posteriors and trees; the expected counts of the factors from those of the rules."""
    given = factors(shared, batched)
    allowed = np.random.default_rng(3).random((4, 6, 6)) < 0.85 if constrained else None
    if allowed is not None:
        allowed[range(4), 0, [n - 1 for n in LENGTHS]] = True
    rules = whole(*given[1:4])
    low = LowRankPCFG(*given, LENGTHS, allowed=allowed)
    dense = DensePCFG(given[0], rules, given[4], LENGTHS, allowed=allowed)
    assert np.allclose(low.log_partition, dense.log_partition, atol=1e-11)
    mine, its = low.marginals, dense.marginals
    for name in ("spans", "words", "roots"):
        assert np.allclose(getattr(mine, name), getattr(its, name), atol=1e-12), name
    U, V, W = (np.exp(x) for x in given[1:4])
    each = its.rules / np.exp(rules)
    assert np.allclose(mine.parents, np.einsum("...axy,...xr,...yr->...ar", each, V, W) * U, atol=1e-11)
    assert np.allclose(mine.lefts, np.einsum("...axy,...ar,...yr->...xr", each, U, W) * V, atol=1e-11)
    assert np.allclose(mine.rights, np.einsum("...axy,...ar,...xr->...yr", each, U, V) * W, atol=1e-11)
    for objective in ("bracketed-recall", "labelled-recall"):
        for a, b in zip(low.decode(objective), dense.decode(objective), strict=True):
            assert a.tree == b.tree
            assert math.isnan(b.score) if math.isnan(a.score) else a.score == pytest.approx(b.score)


@pytest.mark.torch
@pytest.mark.parametrize("shared", [False, True])
def test_tensors_and_gradients(shared: bool) -> None:
    torch: Any = pytest.importorskip("torch", reason="torch is not installed (extra [torch])")
    given = factors(shared, batched=False)
    given[1][1, 2] = -3.0
    array = LowRankPCFG(*given, LENGTHS)
    tensors = [torch.as_tensor(x).requires_grad_() for x in given]
    low = LowRankPCFG(*tensors, LENGTHS)
    assert np.allclose(low.log_partition.detach(), array.log_partition, atol=1e-12)
    for a, b in zip(low.marginals, array.marginals, strict=True):
        assert np.allclose(a, b, atol=1e-12)
    possible = 4 if shared else 3  # a word of its own has no parse where preterminals are no nonterminals
    small = [x[:possible] if x.ndim == 3 or x.shape == (4, 3) else x for x in tensors]
    leaves = [x.detach().clone().requires_grad_() for x in small]
    assert torch.autograd.gradcheck(lambda *x: LowRankPCFG(*x, LENGTHS[:possible]).log_partition, leaves)
    z = LowRankPCFG(*leaves, LENGTHS[:possible]).log_partition.sum()
    with pytest.raises(UsageError, match="differentiated once"):
        torch.autograd.grad(z, leaves, create_graph=True)
    half = LowRankPCFG(*(x.detach().bfloat16() for x in small), LENGTHS[:possible])
    assert half.log_partition.dtype == torch.bfloat16
    assert torch.allclose(half.log_partition.double(), low.log_partition.detach()[:possible], rtol=0.02)


def test_many_symbols() -> None:
    """The 27 billion rules of 3,000 symbols are never stored."""
    rng = np.random.default_rng(1)
    parents, lefts, rights = (np.log(rng.dirichlet(np.ones(n), size=m).reshape(shape)) for n, m, shape in (
        (8, 3000, (3000, 8)), (3000, 8, (3000, 8)), (3000, 8, (3000, 8)),
    ))  # fmt: skip
    emissions = np.log(rng.dirichlet(np.ones(50), size=3000).T[None, rng.integers(50, size=9)])
    low = LowRankPCFG(np.full(3000, -np.log(3000)), parents, lefts, rights, emissions)
    assert np.isfinite(low.log_partition).all()
    assert low.marginals.spans.sum() == pytest.approx(17)
    assert low.marginals.parents.sum() == pytest.approx(8)


def test_errors() -> None:
    assert PCFG is DensePCFG
    given = factors(shared=False, batched=False)
    with pytest.raises(UsageError, match=r"lefts must have shape \(5, 4\) or \(4, 5, 4\), not \(4, 4\)"):
        LowRankPCFG(*given[:2], given[2][:4], *given[3:])
    with pytest.raises(UsageError, match="the most probable parse needs all rules"):
        LowRankPCFG(*given).decode("viterbi")
    with pytest.raises(UsageError, match="lengths"):
        LowRankPCFG(*given, [7, 1, 1, 1])
