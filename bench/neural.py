"""Span CRFs and dense PCFGs compared with torch-struct (and supar, if it is installed): sentences per second, memory, errors.

    python bench/neural.py [--save] [--quick]            CPU; one process per measurement, to measure memory separately
    python bench/neural.py --gpu [--output FILE]         GPU: needs torch, Triton and NumPy only; prints markdown

A folder with torch-struct may be named in TREEGAUGE_PEERS. Targets: on a CPU at least 5 times torch-struct one sentence at a
time and 3 times in batches; on a GPU at least 50 times at n = 40, batch 512; a dense PCFG (30 nonterminals, 60 preterminals,
n = 40) at least 10 times as fast in at most a tenth of the memory. Without ``null`` all do the same work: log Z and the marginals
of all spans of binary trees.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch

from treegauge.neural import DensePCFG, SpanCRF
from treegauge.neural.recursion import span_sums, sums_by_width

if os.environ.get("TREEGAUGE_PEERS"):
    sys.path.append(os.environ["TREEGAUGE_PEERS"])
warnings.simplefilter("ignore")
SIZES = [(n, B) for n in (20, 40, 80) for B in (1, 32, 512)]
NT, T, LENGTH = 30, 60, 40


def spans(n: int, B: int, device: str, labels: int = 1) -> Any:
    return torch.randn(B, n, n, labels, device=device, generator=torch.Generator(device).manual_seed(n))


def ours(scores: Any) -> Callable[[], Any]:
    def work() -> Any:
        crf = SpanCRF(scores)
        return crf.marginals, crf.log_partition

    return work


def our_nary(scores: Any) -> Callable[[], Any]:
    both = torch.cat([torch.zeros_like(scores), scores], -1)

    def work() -> Any:
        crf = SpanCRF(both, null=0)
        return crf.marginals, crf.log_partition

    return work


def by_width(scores: Any) -> Callable[[], Any]:
    lengths = torch.full((len(scores),), scores.shape[1], device=scores.device)

    def work() -> Any:
        weights = scores[..., 0].clone().requires_grad_()
        z = sums_by_width(weights, weights, lengths)
        return z, torch.autograd.grad(z.sum(), weights)

    return work


def torch_struct(scores: Any) -> Callable[[], Any]:
    from torch_struct import TreeCRF

    def work() -> Any:
        crf = TreeCRF(scores)
        return crf.marginals, crf.partition

    return work


def supar(scores: Any) -> Callable[[], Any]:
    from supar.structs import ConstituencyCRF

    B, n = scores.shape[:2]
    fence = torch.zeros(B, n + 1, n + 1, device=scores.device)
    fence[:, :-1, 1:] = scores[..., 0]
    mask = torch.ones(B, n + 1, n + 1, dtype=torch.bool, device=scores.device).triu(1)

    def work() -> Any:
        crf = ConstituencyCRF(fence, mask[:, 0].sum(-1))
        return crf.marginals, crf.log_partition

    return work


def grammar(B: int, n: int, device: str) -> tuple[Any, Any, Any]:
    generator = torch.Generator(device).manual_seed(1)
    sizes: list[Any] = [(B, NT), (B, NT, (NT + T) ** 2), (B, n, T)]
    root, rules, emissions = (torch.randn(*size, device=device, generator=generator).log_softmax(-1) for size in sizes)
    return root, rules.reshape(B, NT, NT + T, NT + T), emissions


def our_pcfg(given: tuple[Any, Any, Any]) -> Callable[[], Any]:
    def work() -> Any:
        pcfg = DensePCFG(*given)
        return pcfg.marginals

    return work


def their_pcfg(given: tuple[Any, Any, Any]) -> Callable[[], Any]:
    from torch_struct import SentCFG

    root, rules, emissions = given

    def work() -> Any:
        return SentCFG((emissions, rules, root)).marginals

    return work


SPAN_CRFS: dict[str, Callable[[Any], Callable[[], Any]]] = {
    "treegauge": ours,
    "treegauge, n-ary": our_nary,
    "torch operations": by_width,
    "torch-struct": torch_struct,
    "supar": supar,
}
PCFGS: dict[str, Callable[[Any], Callable[[], Any]]] = {"treegauge": our_pcfg, "torch-struct": their_pcfg}


def best_time(work: Callable[[], Any], rounds: int, device: str) -> float:
    """The shortest run in seconds, after one to warm up."""
    work()
    best = float("inf")
    for _ in range(rounds):
        if device == "cuda":
            torch.cuda.synchronize()
        began = time.perf_counter() if device == "cuda" else time.process_time()
        work()
        if device == "cuda":
            torch.cuda.synchronize()
        best = min(best, (time.perf_counter() if device == "cuda" else time.process_time()) - began)
    return best


def measure_gpu(make: Callable[[], Callable[[], Any]], rounds: int = 5) -> tuple[float, float]:
    """The seconds of a call, and the bytes that it allocates on the GPU."""
    work = make()
    torch.cuda.empty_cache()
    work()
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    seconds = best_time(work, rounds, "cuda")
    return seconds, torch.cuda.max_memory_allocated() - before


def measure_cpu(kind: str, name: str, n: int, B: int) -> tuple[float, float] | str:
    """The CPU seconds and peak bytes of one call in a process of its own, or the reason why there are none."""
    command = [sys.executable, __file__, "--one", json.dumps([kind, name, n, B])]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
    if run.returncode:
        return run.stderr.strip().splitlines()[-1] if run.stderr.strip() else f"exit {run.returncode}"
    seconds, memory = json.loads(run.stdout)
    return seconds, memory


def one(kind: str, name: str, n: int, B: int) -> None:
    """Measure here, and print the numbers as JSON."""
    torch.set_num_threads(1)
    if kind == "span":
        small, large = SPAN_CRFS[name](spans(3, 1, "cpu")), SPAN_CRFS[name](spans(n, B, "cpu"))
    else:
        small, large = PCFGS[name](grammar(1, 3, "cpu")), PCFGS[name](grammar(B, n, "cpu"))
    small()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    large()
    first = time.process_time() - began
    memory = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    rounds = 0 if first > 20 else 1 if first > 2 else 3
    print(json.dumps([min([first, *(best_time(large, 1, "cpu") for _ in range(rounds))]), memory]))


Row = tuple[str, int, int, float, float]


def table(rows: list[Row], peer: str) -> str:
    """Rows as markdown, with the ratio to a peer of the same size."""
    lines = [
        "| | n | batch | sentences/s | ms per sentence | peak memory MiB | times the speed of " + peer + " | share of its memory |"
    ]
    lines.append("|---|---|---|---|---|---|---|---|")
    known = {(n, B): (seconds, memory) for name, n, B, seconds, memory in rows if name == peer}
    for name, n, B, seconds, memory in rows:
        base = known.get((n, B))
        times = f"{base[0] / seconds:.1f}" if base else ""
        share = f"{memory / base[1]:.4f}" if base and base[1] > 0 else ""
        lines.append(
            f"| {name} | {n} | {B} | {B / seconds:,.0f} | {seconds / B * 1e3:.4f} | {memory / 2**20:.1f} | {times} | {share} |"
        )
    return "\n".join(lines)


def errors(device: str) -> str:
    """The differences between float32 and float64 on the same float32 scores."""
    lines = ["| n | scores | largest error of log Z | relative | largest error of a marginal |", "|---|---|---|---|---|"]
    for n in (40, 80, 128, 256, 512):
        for scale in (1.0, 5.0):
            B = 16 if n <= 128 else 4
            weights = spans(n, B, device)[..., 0] * scale
            lengths = torch.full((B,), n, device=device)
            z, a, b = span_sums(weights, weights, lengths)
            exact = span_sums(weights.double(), weights.double(), lengths)
            off = float((z - exact[0]).abs().max())
            relative = float(((z - exact[0]) / exact[0]).abs().max())
            of_marginal = float((a.double() + b - exact[1] - exact[2]).abs().max())
            lines.append(f"| {n} | normal, deviation {scale:g} | {off:.1e} | {relative:.1e} | {of_marginal:.1e} |")
    return "\n".join(lines)


def measured(name: str, n: int, B: int, make: Callable[[], Callable[[], Any]], rounds: int = 3) -> list[Row]:
    """A row, or none and a line on stderr if the measurement fails (as torch-struct does when memory runs out)."""
    try:
        return [(name, n, B, *measure_gpu(make, rounds))]
    except Exception as error:
        print(f"{name} at n={n}, batch {B}: {type(error).__name__}: {str(error)[:200]}", file=sys.stderr)
        torch.cuda.empty_cache()
        return []


def gpu_spans() -> str:
    rows: list[Row] = []
    for n, B in SIZES:
        for name in ("treegauge", "treegauge, n-ary", "torch operations", "torch-struct"):
            rows += measured(name, n, B, lambda name=name, n=n, B=B: SPAN_CRFS[name](spans(n, B, "cuda")), 3 if n > 40 else 5)
    return "Span CRF, log Z and all marginals:\n\n" + table(rows, "torch-struct")


def gpu_labels() -> str:
    rows: list[Row] = []
    for n, B in ((40, 32), (40, 512)):
        for name in ("treegauge", "torch-struct"):
            rows += measured(name, n, B, lambda name=name, n=n, B=B: SPAN_CRFS[name](spans(n, B, "cuda", 30)))
    return "The same with 30 labels:\n\n" + table(rows, "torch-struct")


def gpu_long() -> str:
    rows: list[Row] = []
    for n, B in ((128, 256), (256, 64), (512, 32)):
        rows += measured("treegauge", n, B, lambda n=n, B=B: ours(spans(n, B, "cuda")))
    return "Long sentences:\n\n" + table(rows, "torch-struct")


def gpu_pcfg() -> str:
    rows: list[Row] = []
    for B in (4, 16, 64, 512):
        for name in PCFGS if B <= 64 else ("treegauge",):
            rows += measured(name, LENGTH, B, lambda name=name, B=B: PCFGS[name](grammar(B, LENGTH, "cuda")))
    return f"Dense PCFG, {NT} nonterminals, {T} preterminals, all marginals:\n\n" + table(rows, "torch-struct")


GPU_PARTS: dict[str, Callable[[], str]] = {
    "spans": gpu_spans,
    "labels": gpu_labels,
    "long": gpu_long,
    "errors": lambda: "float32 beside float64:\n\n" + errors("cuda"),
    "pcfg": gpu_pcfg,
    "learning": lambda: "Rules counted for `learn --device cuda`: " + learning(),
}


def gpu(parts: list[str]) -> str:
    """The GPU part, or some of it, as markdown."""
    head = f"{torch.cuda.get_device_name()}, torch {torch.__version__}, float32."
    return "\n\n".join([head, *(GPU_PARTS[part]() for part in parts)])


def learning() -> str:
    """Expected counts of 1,000 bracketed sentences, 20 symbols, on the GPU and by the same code on the CPU."""
    import numpy as np

    from treegauge.neural.dense_pcfg import expected_rule_counts

    rng = np.random.default_rng(1)
    N, W = 20, 48
    weight = rng.random((N, N * N + W))
    weight /= weight.sum(axis=1, keepdims=True)
    binary, lexical = weight[:, : N * N].reshape(N, N, N), weight[:, N * N :].T.copy()
    sentences = []
    for _ in range(1000):
        n = int(rng.integers(5, 41))
        start = int(rng.integers(0, n - 2))
        sentences.append((rng.integers(0, W, n), [(start, int(rng.integers(start + 2, n + 1)))]))
    found = expected_rule_counts(binary, lexical, sentences, "cuda")
    seconds = min(_timed(lambda: expected_rule_counts(binary, lexical, sentences, "cuda")) for _ in range(3))
    few = expected_rule_counts(binary, lexical, sentences[:40], "cpu")
    check = expected_rule_counts(binary, lexical, sentences[:40], "cuda")
    off = max(float(np.abs(a - b).max()) for a, b in zip(few, check, strict=True))
    again = expected_rule_counts(binary, lexical, sentences, "cuda")
    same = all((a == b).all() for a, b in zip(found, again, strict=True))
    what = f"1,000 sentences of 5 to 40 words, {N} symbols, float64: {seconds:.3f} s"
    return f"{what}; largest difference to the CPU {off:.1e}; same bits: {same}"


def _timed(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    torch.cuda.synchronize()
    return time.perf_counter() - began


def sweep() -> str:
    """The best number of spans and splits at once, and of warps."""
    from treegauge.neural.triton_spans import span_sums_triton

    lines: list[str] = []
    for n, B in ((40, 512), (128, 256)):
        weights = spans(n, B, "cuda")[..., 0].contiguous()
        lengths = torch.full((B,), n, device="cuda", dtype=torch.int32)
        found: dict[tuple[int, int, int], float] = {}
        for tile, splits, warps in itertools.product((8, 16, 32), (16, 32, 64), (2, 4, 8)):
            if 32 * warps <= tile * splits <= 512 * warps:
                options = {"tile": tile, "splits": splits, "warps": warps}
                work = partial(span_sums_triton, weights, weights, lengths, True, **options)
                found[tile, splits, warps] = best_time(work, 3, "cuda")
        order = sorted(found, key=found.__getitem__)
        lines.append(f"n {n} batch {B}: " + "; ".join(f"{key} {found[key] * 1e3:.3f} ms" for key in order[:8]))
        print(lines[-1], flush=True)
    return "\n".join(lines)


def cpu(quick: bool) -> str:
    sizes = [(20, 1), (20, 32), (40, 1), (40, 32)] if quick else SIZES
    rows: list[Row] = []
    parts: list[str] = []
    for kind, makers, cases in (("span", SPAN_CRFS, sizes), ("pcfg", PCFGS, [(LENGTH, 1), (LENGTH, 4)])):
        rows = []
        for n, B in cases:
            for name in makers:
                if name == "torch operations" or (name in ("torch-struct", "supar") and n * n * n * B > 40**3 * 512):
                    continue
                found = measure_cpu(kind, name, n, B)
                if isinstance(found, str):
                    parts.append(f"{name} at n={n}, batch {B}: not measured ({found[:120]})")
                else:
                    rows.append((name, n, B, *found))
        title = (
            "Span CRF, log Z and all marginals"
            if kind == "span"
            else f"Dense PCFG, {NT} nonterminals, {T} preterminals, all marginals"
        )
        parts += ["", f"{title}, float32, one thread, CPU time:", "", table(rows, "torch-struct")]
    return "\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--part", action="append", choices=list(GPU_PARTS), help="of the GPU part, only this; repeatable")
    parser.add_argument("--sweep", action="store_true", help="GPU: try other numbers of spans, splits and warps at once")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--save", action="store_true")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one(*json.loads(options.one))
        return
    text = sweep() if options.sweep else gpu(options.part or list(GPU_PARTS)) if options.gpu else cpu(options.quick)
    print(text)
    if options.output:
        options.output.write_text(text + "\n", "utf-8")
    if options.save:
        from results import machine, save_section

        own = text if options.gpu else f"{machine()}\n\n{text}"
        save_section("Span CRFs and dense PCFGs, GPU" if options.gpu else "Span CRFs and dense PCFGs, CPU", own)


if __name__ == "__main__":
    main()
