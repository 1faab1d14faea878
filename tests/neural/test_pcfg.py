"""Dense PCFGs against a forest of all parses, on arrays and tensors; expected counts against the kernels of learning."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from treegauge.errors import UsageError
from treegauge.learning import BracketedSentences, random_grammar, read_brackets
from treegauge.learning.reestimation import expect_dense, expect_on_device
from treegauge.neural import DensePCFG
from treegauge.parsing import Forest

SENTENCES = "a b a c\n(a b) c b\nc\n((b a) (c c)) a"


def shared(sentences: BracketedSentences, seed: int, i: int) -> tuple[Any, Any]:
    """A grammar with shared symbols over one sentence, as arrays and as a forest."""
    grammar = random_grammar(3, sentences.terminals, seed)
    number = {word: k for k, word in enumerate(grammar.terminals)}
    words = sentences.words(i)
    with np.errstate(divide="ignore"):
        root = np.log(np.eye(3)[0])
    emissions = np.log(grammar.lexical[[number[word] for word in words]])[None]
    return DensePCFG(root, np.log(grammar.binary), emissions), Forest(grammar.to_pcfg(), words)


@pytest.mark.parametrize("i", range(4))
def test_against_a_forest(i: int) -> None:
    pcfg, forest = shared(read_brackets(SENTENCES), 3, i)
    assert pcfg.log_partition[0] == pytest.approx(forest.log_partition)
    g = {(c.start, c.end, c.label): c.posterior for c in forest.constituents()}
    for s in range(forest.n):
        for t in range(s + 1, forest.n + 1):
            for X, name in enumerate(("S", "N1", "N2")):
                assert pcfg.marginals.spans[0, s, t - 1, X] == pytest.approx(g.get((s, t, name), 0.0), abs=1e-12)
    best = pcfg.argmax()[0]
    assert best.score == pytest.approx(math.exp(forest.best().log_probability - forest.log_partition))
    for objective in ("labelled-recall", "bracketed-recall"):
        assert pcfg.decode(objective)[0].score == pytest.approx(forest.argmax(objective, pre=True).score)


def test_counts_as_learning_has_them() -> None:
    sentences = read_brackets(SENTENCES)
    grammar = random_grammar(4, sentences.terminals, 9)
    pytest.importorskip("torch", reason="torch is not installed (extra [torch])")
    from treegauge.learning.reestimation import cut_blocks

    exact, found = expect_dense(grammar, cut_blocks(sentences)), expect_on_device(grammar, sentences, "cpu")
    for a, b in zip(exact, found, strict=True):
        assert np.allclose(a, b, atol=1e-12)
    for device in ("nowhere", "meta", ""):
        with pytest.raises(UsageError, match="cannot be used") as caught:
            expect_on_device(grammar, sentences, device)
        assert len(str(caught.value)) < 250


@pytest.mark.torch
@pytest.mark.parametrize("batched", [True, False])
def test_tensors_as_arrays(batched: bool) -> None:
    torch: Any = pytest.importorskip("torch", reason="torch is not installed (extra [torch])")
    rng = np.random.default_rng(2)
    root, emissions = rng.normal(size=(3, 2)), rng.normal(size=(3, 5, 3))
    rules = rng.normal(size=(3, 2, 5, 5) if batched else (2, 5, 5))
    allowed = rng.random((3, 5, 5)) < 0.9
    allowed[:, 0] = True
    array = DensePCFG(root, rules, emissions, [5, 3, 2], allowed=allowed)
    given = [torch.as_tensor(x) for x in (root, rules, emissions)]
    tensor = DensePCFG(*given, [5, 3, 2], allowed=allowed)
    assert np.allclose(array.log_partition, tensor.log_partition)
    for a, b in zip(array.marginals, tensor.marginals, strict=True):
        assert np.allclose(a, b, atol=1e-12)
    assert [best.tree for best in array.decode()] == [best.tree for best in tensor.decode()]
    inputs = [x.clone().requires_grad_() for x in given]
    assert torch.autograd.gradcheck(lambda *x: DensePCFG(*x, [5, 3, 2], allowed=allowed).log_partition, inputs)


@pytest.mark.torch
@pytest.mark.parametrize("shared", [True, False])
def test_the_gradient_of_expected_counts(shared: bool) -> None:
    torch: Any = pytest.importorskip("torch", reason="torch is not installed (extra [torch])")
    generator = torch.Generator().manual_seed(5)
    sizes = [(2,), (2, 2, 2), (2, 3, 2)] if shared else [(2, 2), (2, 2, 3, 3), (2, 3, 1)]
    given = [torch.randn(*size, dtype=torch.float64, generator=generator).requires_grad_() for size in sizes]
    allowed = torch.ones(2, 3, 3, dtype=torch.bool)
    allowed[0, 0, 1] = False
    assert torch.autograd.gradcheck(lambda *x: tuple(DensePCFG(*x, [3, 2], allowed=allowed).marginals), given)


@pytest.mark.torch
def test_types_and_gradient_modes() -> None:
    """Half precision, mixed types, arrays with tensors, results first computed without gradients, second derivatives of log Z."""
    torch: Any = pytest.importorskip("torch", reason="torch is not installed (extra [torch])")
    generator = torch.Generator().manual_seed(4)
    given = [torch.randn(*size, dtype=torch.float64, generator=generator) for size in ((2,), (2, 3, 3), (2, 3, 1))]
    exact = DensePCFG(*given, [3, 2])
    for kind, close in ((torch.float16, 2e-3), (torch.bfloat16, 2e-2)):
        half = DensePCFG(*(x.to(kind) for x in given), [3, 2])
        assert half.log_partition.dtype == half.marginals.rules.dtype == kind
        assert torch.allclose(half.log_partition.double(), exact.log_partition, rtol=close, atol=close)
    mixed = DensePCFG(given[0].numpy(), given[1].requires_grad_(), given[2].float(), [3, 2])
    with torch.no_grad():
        assert not mixed.log_partition.requires_grad
    assert mixed.log_partition.dtype == torch.float64
    assert torch.allclose(torch.autograd.grad(mixed.log_partition.sum(), given[1])[0], exact.marginals.rules, atol=1e-6)
    leaves = [x.detach().clone().requires_grad_() for x in given]
    assert torch.autograd.gradgradcheck(lambda *x: DensePCFG(*x, [3, 2]).log_partition, leaves)


@pytest.mark.parametrize("objective", ["viterbi", "labelled-recall", "labelled-precision-recall"])
def test_a_sentence_without_a_parse(objective: str) -> None:
    pcfg = DensePCFG(np.zeros(2), np.zeros((2, 5, 5)), np.zeros((2, 3, 3)), [3, 1])
    best = pcfg.decode(objective, words=[["a", "b", "c"], ["d"]])
    assert best[0].score > 0
    assert str(best[1].tree) == "(X d)"
    assert math.isnan(best[1].score)


def test_errors() -> None:
    pcfg = DensePCFG(np.zeros(2), np.zeros((2, 5, 5)), np.zeros((2, 3, 3)))
    with pytest.raises(UsageError, match="lengths of"):
        pcfg.decode(words=[["a"], ["b"]])
    with pytest.raises(UsageError, match="takes no option 'lam'"):
        pcfg.decode("viterbi", lam=0.5)
    with pytest.raises(UsageError, match="roots must have shape"):
        DensePCFG(np.zeros(()), np.zeros((2, 5, 5)), np.zeros((1, 3, 3)))
    with pytest.raises(UsageError, match="real numbers"):
        DensePCFG(np.zeros(2, complex), np.zeros((2, 5, 5)), np.zeros((1, 3, 3)))
    with pytest.raises(UsageError, match="no sentence"):
        DensePCFG(np.zeros(2), np.zeros((2, 5, 5)), np.zeros((0, 3, 3)))
    with pytest.raises(UsageError, match="rules of 2 nonterminals and 3 preterminals"):
        DensePCFG(np.zeros(2), np.zeros((2, 4, 4)), np.zeros((1, 3, 3)))
    with pytest.raises(UsageError, match="emissions"):
        DensePCFG(np.zeros(2), np.zeros((2, 5, 5)), np.zeros((3, 3)))
    with pytest.raises(UsageError, match="allowed"):
        DensePCFG(np.zeros(2), np.zeros((2, 5, 5)), np.zeros((1, 3, 3)), allowed=np.ones((1, 2, 2)))
