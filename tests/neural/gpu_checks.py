"""Checks for every device. On a GPU machine without pytest they run as a program that needs only torch, Triton and NumPy:

    PYTHONPATH=src:. python tests/neural/gpu_checks.py [NAME ...]

The reference on the CPU is the recursion in torch operations in float64, which the other tests compare with enumeration.
A folder with torch-struct may be named in TREEGAUGE_PEERS.
"""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from tests.neural.tiny_encoder import save_encoder
from tests.neural.toy_network import TINY, TREES

from treegauge.grammar.training_sentences import training_trees
from treegauge.neural import DensePCFG, LowRankPCFG, SpanCRF
from treegauge.neural.network_model import NetworkSettings
from treegauge.neural.network_training import train_network
from treegauge.neural.network_view import network_views
from treegauge.neural.pretrained_encoder import read_encoder
from treegauge.neural.recursion import log_partition, span_sums, sums_by_width
from treegauge.neural.sentence_batches import Vocabulary
from treegauge.neural.span_network import SpanNetwork
from treegauge.parsing.free_objectives import labelled_precision_recall

if os.environ.get("TREEGAUGE_PEERS"):
    sys.path.append(os.environ["TREEGAUGE_PEERS"])
DEVICE = os.environ.get("TREEGAUGE_DEVICE", "cuda")


def batch(B: int, n: int, L: int, seed: int = 0, scale: float = 2.0) -> tuple[Any, Any]:
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(B, n, n, L, dtype=torch.float64, generator=generator) * scale
    lengths = torch.randint(1, n + 1, (B,), generator=generator)
    lengths[0] = n
    return scores, lengths


def reference(crf: SpanCRF) -> tuple[Any, Any]:
    """log Z and marginals by torch operations on the CPU, through autograd."""
    scores = crf.scores.detach().double().cpu().requires_grad_()
    on_cpu = SpanCRF(
        scores, crf.lengths, null=crf.null or None, root=crf.root,
        allowed=None if crf.allowed is None else crf.allowed.cpu(), required=None if crf.required is None else crf.required.cpu(),
    )  # fmt: skip
    z = sums_by_width(on_cpu.weights.left, on_cpu.weights.right, on_cpu._lengths)
    (marginals,) = torch.autograd.grad(z.sum(), scores)
    if crf.null:
        marginals[..., crf.null] = 0.0
    return z.detach(), marginals


def check_span_crf() -> None:
    for n, null, root in ((1, 0, True), (7, None, True), (7, 0, True), (13, [0, 3], False), (40, -1, True), (70, 0, True)):
        scores, lengths = batch(9, n, 4, seed=n)
        for dtype, close in ((torch.float64, 1e-11), (torch.float32, 2e-5)):
            crf = SpanCRF(scores.to(DEVICE, dtype), lengths, null=null, root=root)
            z, marginals = reference(crf)
            assert (crf.log_partition.cpu() - z).abs().max() < close * max(1.0, float(z.abs().max())), (n, null, dtype)
            assert (crf.marginals.cpu() - marginals).abs().max() < close, (n, null, dtype)


def check_constraints() -> None:
    scores, lengths = batch(8, 9, 3, seed=5)
    generator = torch.Generator().manual_seed(1)
    allowed = torch.rand(8, 9, 9, 3, generator=generator) < 0.8
    allowed[:, 0] = True
    required = torch.zeros(8, 9, 9, dtype=torch.bool)
    required[lengths > 4, 1, 3] = True
    allowed |= required[..., None]
    for null in (None, 0):
        if null is None:
            allowed[:, torch.arange(9), torch.arange(9)] = True
        crf = SpanCRF(scores.to(DEVICE), lengths, null=null, allowed=allowed, required=required)
        z, marginals = reference(crf)
        possible = torch.isfinite(z)
        assert possible.any()
        assert (crf.log_partition.cpu()[possible] - z[possible]).abs().max() < 1e-10
        assert (crf.marginals.cpu()[possible] - marginals[possible]).abs().max() < 1e-11


def check_gradients() -> None:
    scores, _ = batch(2, 4, 2, seed=3)
    scores = scores.to(DEVICE).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: SpanCRF(x, [4, 3], null=0).log_partition, (scores,))
    assert torch.autograd.gradgradcheck(lambda x: SpanCRF(x, [4, 3], null=0).log_partition, (scores,))
    assert torch.autograd.gradcheck(lambda x: SpanCRF(x, [4, 3], null=0).marginals, (scores,))
    target = torch.full((2, 4, 4), -1)
    target[0, 0, 3] = target[1, 0, 2] = 1
    loss = SpanCRF(scores, [4, 3], null=0).loss(target)
    loss.backward()
    assert torch.isfinite(scores.grad).all()
    assert scores.grad.abs().sum() > 0


def check_same_bits() -> None:
    scores, lengths = batch(64, 33, 3, seed=8)
    scores = scores.to(DEVICE, torch.float32)
    runs = [SpanCRF(scores, lengths, null=0) for _ in range(3)]
    assert all(torch.equal(run.log_partition, runs[0].log_partition) for run in runs)
    assert all(torch.equal(run.marginals, runs[0].marginals) for run in runs)


def check_other_types() -> None:
    scores, lengths = batch(4, 12, 3, seed=2)
    for dtype in (torch.float16, torch.bfloat16):
        given = scores.to(DEVICE, dtype).requires_grad_()
        crf = SpanCRF(given, lengths, null=0)
        z, _ = reference(crf)
        assert crf.log_partition.dtype == dtype
        assert (crf.log_partition.double().cpu() - z).abs().max() < 0.01 * z.abs().max()
        crf.log_partition.sum().backward()
        assert torch.isfinite(given.grad).all()


def check_long_sentences() -> None:
    scores, _ = batch(2, 512, 1, seed=4)
    lengths = torch.tensor([512, 300], device=DEVICE)
    weights = scores[..., 0].to(DEVICE)
    z, as_left, as_right = span_sums(weights, weights, lengths)
    assert (sums_by_width(weights, weights, lengths) - z).abs().max() < 1e-8
    spans = (as_left + as_right).sum((1, 2)).cpu()
    assert (spans - torch.tensor([1023.0, 599.0])).abs().max() < 1e-8
    z32, left32, right32 = span_sums(weights.float(), weights.float(), lengths)
    exact = span_sums(weights.float().double(), weights.float().double(), lengths)
    assert (z32 - exact[0]).abs().max() < 1e-5 * exact[0].abs().max()
    assert (left32 + right32 - exact[1] - exact[2]).abs().max() < 1e-4


def check_impossible() -> None:
    weights = torch.zeros(2, 3, 3, device=DEVICE)
    weights[0, 0, 1] = weights[0, 1, 2] = -float("inf")
    z, as_left, as_right = span_sums(weights, weights, torch.tensor([3, 3], device=DEVICE))
    assert z.tolist()[0] == -float("inf")
    assert abs(z.tolist()[1] - 0.6931472) < 1e-6
    assert float((as_left + as_right)[0, :, :].sum()) < 1.5
    assert torch.isfinite(log_partition(weights[1:], weights[1:], torch.tensor([3], device=DEVICE))).all()


def grammar(B: int, n: int, N: int, T: int, *, batched: bool, dtype: Any = torch.float64) -> tuple[Any, Any, Any]:
    generator = torch.Generator().manual_seed(N)
    sizes: list[Any] = [(B, N), (B, N, (N + T) ** 2) if batched else (N, (N + T) ** 2), (B, n, T)]
    root, rules, emissions = (torch.randn(*size, dtype=torch.float64, generator=generator).log_softmax(-1) for size in sizes)
    return root.to(dtype), rules.reshape(*rules.shape[:-1], N + T, N + T).to(dtype), emissions.to(dtype)


def check_broken_scores() -> None:
    """nan, +inf and a null score of -inf: nan for that sentence, its marginals and its gradient, and for no other."""
    given, _ = batch(4, 6, 3, seed=8)
    lengths = torch.tensor([6, 5, 6, 3])
    given[3, 3:], given[3, :, 3:], given[:, 4, 1] = float("nan"), float("nan"), float("inf")  # beyond a sentence: no matter
    for value, X in ((float("nan"), 1), (float("inf"), 2), (float("nan"), 0), (-float("inf"), 0)):
        scores = given.clone()
        scores[1, 2, 3, X] = value
        for allowed in (None, torch.ones(4, 6, 6, dtype=torch.bool)):
            leaf = scores.to(DEVICE).requires_grad_()
            crf = SpanCRF(leaf, lengths, null=0, allowed=allowed)
            right = SpanCRF(given.to(DEVICE), lengths, null=0, allowed=allowed).log_partition
            z = crf.log_partition
            assert z.isnan().tolist() == [False, True, False, False], (value, X, z)
            assert torch.equal(z[[0, 2, 3]], right[[0, 2, 3]])
            (gradient,) = torch.autograd.grad(z.sum(), leaf)
            for found in (gradient, SpanCRF(leaf.detach(), lengths, null=0, allowed=allowed).marginals):
                assert found.isnan().flatten(1).any(1).tolist() == [False, True, False, False], (value, X)


def check_pcfg() -> None:
    for batched in (True, False):
        given = grammar(5, 11, 4, 6, batched=batched)
        lengths = [11, 7, 2, 5, 11]
        on_cpu, on_gpu = DensePCFG(*given, lengths), DensePCFG(*(x.to(DEVICE) for x in given), lengths)
        assert (on_cpu.log_partition - on_gpu.log_partition.cpu()).abs().max() < 1e-10
        for a, b in zip(on_cpu.marginals, on_gpu.marginals, strict=True):
            assert (a - b.cpu()).abs().max() < 1e-10
        floats = DensePCFG(*(x.to(DEVICE, torch.float32) for x in given), lengths)
        assert (floats.log_partition.cpu() - on_cpu.log_partition).abs().max() < 1e-4
        assert (floats.marginals.spans.cpu() - on_cpu.marginals.spans).abs().max() < 1e-4
    small = [x.to(DEVICE).requires_grad_() for x in grammar(2, 4, 2, 2, batched=True)]
    assert torch.autograd.gradcheck(lambda *x: DensePCFG(*x, [4, 3]).log_partition, small)


def check_low_rank() -> None:
    generator = torch.Generator().manual_seed(3)
    sizes = ((5,), (5, 4), (8, 4), (8, 4), (3, 9, 3))
    given = [torch.randn(*size, dtype=torch.float64, generator=generator) for size in sizes]
    rules = torch.einsum("ar,xr,yr->axy", *(x.exp() for x in given[1:4])).log()
    lengths = torch.tensor([9, 4, 2])
    exact = DensePCFG(given[0], rules, given[4], lengths)
    for dtype, close in ((torch.float64, 1e-11), (torch.float32, 2e-5)):
        leaves = [x.to(DEVICE, dtype).requires_grad_() for x in given]
        low = LowRankPCFG(*leaves, lengths)
        assert torch.allclose(low.log_partition.cpu().double(), exact.log_partition, rtol=close, atol=close)
        assert torch.allclose(low.marginals.spans.cpu().double(), exact.marginals.spans, rtol=close, atol=close)
        gradient = torch.autograd.grad(low.log_partition.sum(), leaves)
        for mine, its in zip(gradient[1:4], low.marginals[3:], strict=True):
            assert torch.allclose(mine, its, rtol=close, atol=close)


def check_torch_struct() -> None:
    from torch_struct import SentCFG, TreeCRF

    warnings.simplefilter("ignore")
    for seed in range(400 // 8):
        scores, lengths = batch(8, 3 + seed % 10, 1 + seed % 3, seed=seed)
        for dtype, close in ((torch.float64, 1e-12), (torch.float32, 1e-5)):
            given = scores.to(DEVICE, dtype)
            theirs, ours = TreeCRF(given.double(), lengths=lengths.to(DEVICE)), SpanCRF(given, lengths)
            scale = max(1.0, float(theirs.partition.abs().max()))
            assert (theirs.partition - ours.log_partition).abs().max() < close * scale, (seed, dtype)
            assert (theirs.marginals - ours.marginals).abs().max() < close * 10, (seed, dtype)
    root, rules, emissions = (x.to(DEVICE) for x in grammar(4, 8, 3, 5, batched=True))
    lengths = torch.tensor([8, 5, 2, 7], device=DEVICE)
    assert (
        SentCFG((emissions, rules, root), lengths=lengths).partition - DensePCFG(root, rules, emissions, lengths).log_partition
    ).abs().max() < 1e-11


def check_network() -> None:
    """The posteriors and trees of a network on the CPU and on the device."""
    vocabulary = Vocabulary(("the", "cat", "sat"), tuple("acehst"), ("D", "N", "V"), ("S", "NP", "S::VP"), None)
    torch.manual_seed(1)
    network = SpanNetwork(NetworkSettings(words=16, characters=8, hidden=32, spans=24), vocabulary.sizes).eval()
    sentences = [["the", "cat", "sat"] * k for k in (1, 3, 8, 25)]
    right = network_views(network, vocabulary, 0.45, sentences)
    for ours, theirs in zip(network_views(network.to(DEVICE), vocabulary, 0.45, sentences), right, strict=True):
        assert abs(ours.spans - theirs.spans).max() < 1e-4
        assert abs(ours.scores - theirs.scores).max() < 1e-4
        assert labelled_precision_recall(ours, lam=0.1).tree == labelled_precision_recall(theirs, lam=0.1).tree


def check_encoder() -> None:
    """A tiny encoder, fine-tuned on the device (on a GPU in mixed precision), learns its trees; parses are the same on the CPU."""
    with tempfile.TemporaryDirectory() as folder:
        encoder = read_encoder(str(save_encoder(Path(folder), hidden_size=32, intermediate_size=64)))
    settings = replace(TINY, layers=1, hidden=16, spans=16, epochs=40, dropout=0.0)
    model = train_network(TREES * 6, settings, device=DEVICE, encoder=encoder, tune=False)
    gold = [tree for tree in training_trees(TREES).trees if tree.width > 1]
    sentences = [*(tree.words for tree in gold), ["the", "cat", "supercalifragilistic"] * 12]
    right = network_views(model.network("cpu"), model.vocabulary, model.lam, sentences)
    for ours, theirs in zip(network_views(model.network(DEVICE), model.vocabulary, model.lam, sentences), right, strict=True):
        assert abs(ours.spans - theirs.spans).max() < 1e-4
        assert abs(ours.scores - theirs.scores).max() < 1e-3
    found = [labelled_precision_recall(view, lam=model.lam).tree.children[0] for view in right[:-1]]  # below the root
    assert found == gold, list(map(str, found))


CHECKS = [
    check_span_crf,
    check_constraints,
    check_gradients,
    check_same_bits,
    check_other_types,
    check_long_sentences,
    check_impossible,
    check_broken_scores,
    check_pcfg,
    check_low_rank,
    check_network,
    check_encoder,
    check_torch_struct,
]

if __name__ == "__main__":
    failed = 0
    for check in [check for check in CHECKS if check.__name__ in sys.argv[1:] or not sys.argv[1:]]:
        try:
            check()
            print(f"passed  {check.__name__}", flush=True)
        except Exception as error:
            failed += 1
            print(f"FAILED  {check.__name__}: {type(error).__name__}: {str(error)[:2000]}", flush=True)
    sys.exit(failed > 0)
