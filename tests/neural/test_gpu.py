"""The same checks on the CPU and, if there is one, on a GPU; without a GPU Triton's interpreter runs the kernels on the CPU."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed (extra [torch])")
CHECKS = Path(__file__).parent / "gpu_checks.py"

pytestmark = pytest.mark.torch


def load(device: str) -> list[Callable[[], None]]:
    spec = importlib.util.spec_from_file_location(f"checks_on_{device}", CHECKS)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    vars(module)["DEVICE"] = device
    return module.CHECKS


@pytest.mark.parametrize("check", load("cuda"), ids=lambda check: check.__name__)
def test_on_a_gpu(check: Callable[[], None]) -> None:
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    run(check)


@pytest.mark.parametrize("check", load("cpu"), ids=lambda check: check.__name__)
def test_on_the_cpu(check: Callable[[], None]) -> None:
    run(check)


def run(check: Callable[[], None]) -> None:
    if check.__name__ == "check_torch_struct":
        pytest.importorskip("torch_struct", reason="torch-struct is not installed")
    check()


INTERPRETED = """
import torch
from treegauge.neural import recursion
from treegauge.neural.triton_spans import span_sums_triton
generator = torch.Generator().manual_seed(0)
for dtype, close in ((torch.float64, 1e-13), (torch.float32, 2e-6)):
    left, right = torch.randn(2, 4, 9, 9, dtype=dtype, generator=generator) * 4
    left[1, 0, 3] = right[1, 0, 3] = -float("inf")
    left[2], right[2] = left[2] * 40, right[2] * 40
    lengths = torch.tensor([9, 7, 6, 1])
    exact = recursion._by_numba(left.double(), right.double(), lengths, True)
    for tile, splits in ((16, 16), (4, 2)):
        found = span_sums_triton(left, right, lengths, True, tile=tile, splits=splits)
        for a, b in zip(exact, found):
            assert ((a - b).abs() <= close * a.abs().clamp_min(1.0)).all(), (dtype, tile, (a - b).abs().max())
print("equal")
"""

FUSED = """
import torch
from treegauge.neural import SpanCRF
generator = torch.Generator().manual_seed(0)
lengths = [3, 1]
for null, root, size in ((0, True, 3), ([1, 3], False, 5), (None, True, 2)):
    for dtype, close in ((torch.float64, 1e-12), (torch.float32, 3e-6)):
        fence = torch.randn(2, 4, 4, size, dtype=dtype, generator=generator) * 3
        fence[0, 1, 3, 2 if null == 0 else 0] = -float("inf")
        scores = fence.clone().requires_grad_()
        options = dict(null=null, root=root, convention="fencepost", temperature=1.4)
        crf, exact = SpanCRF(scores, lengths, **options), SpanCRF(fence.double().numpy(), lengths, **options)
        assert crf._fused is not None
        assert torch.allclose(crf.log_partition.double(), torch.as_tensor(exact.log_partition), rtol=close, atol=close)
        with torch.no_grad():
            found = SpanCRF(scores, lengths, **options).marginals
        assert torch.allclose(found.double(), torch.as_tensor(exact.marginals), rtol=close, atol=close)
        (gradient,) = torch.autograd.grad(crf.log_partition.sum() * 1.4, scores)
        real = [X for X in range(size) if X not in crf.null]
        assert torch.allclose(gradient[:, :-1, 1:][..., real], found[..., real], rtol=close, atol=close)
        if null is not None:
            assert gradient.sum(-1).abs().max() < close * 10
        for value in (float("nan"), float("inf")):
            with torch.no_grad():
                broken = fence.clone()
                broken[0, 0, 2, 1], broken[1, 2:] = value, float("nan")
                marked = SpanCRF(broken, lengths, **options)
                assert marked.log_partition.isnan().tolist() == [True, False], marked.log_partition
                assert marked.marginals.isnan().flatten(1).any(1).tolist() == [True, False]
small = torch.randn(1, 2, 2, 3, dtype=torch.float64, generator=generator).requires_grad_()
assert torch.autograd.gradcheck(lambda x: SpanCRF(x, null=[0, 2]).log_partition, (small,))
assert torch.autograd.gradgradcheck(lambda x: SpanCRF(x, null=[0, 2]).log_partition, (small,))
print("equal")
"""


@pytest.mark.parametrize("code", [INTERPRETED, FUSED], ids=["recursion", "labels"])
def test_the_triton_kernels_in_its_interpreter(code: str) -> None:
    pytest.importorskip("triton", reason="Triton is not installed")
    environment = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert run.stdout.strip() == "equal", run.stderr


def test_the_triton_kernels_compile() -> None:
    """Compile for an H100 or H200, which need not be present."""
    triton = pytest.importorskip("triton", reason="Triton is not installed")
    compiler = pytest.importorskip("triton.compiler")
    backends = pytest.importorskip("triton.backends.compiler")
    from treegauge.neural import triton_labels, triton_spans

    integers = ("n", "total", "step_b", "step_s", "step_last", "label_step", "size")
    number = {"LENGTH": "*i32", "E1": "*i32", "E2": "*i32", "E3": "*i32", "NULL": "*i8", **dict.fromkeys(integers, "i32")}
    recursion: dict[str, Any] = {"TILE": 16, "SPLITS": 64}
    labels: dict[str, Any] = {"SPANS": 256, "LABELS": 4, "HAS_NULL": True, "ROOT": True}
    kernels = [
        (triton_spans.inside_kernel, recursion),
        (triton_spans.outside_kernel, recursion),
        (triton_labels.weights_kernel, labels),
        (triton_labels.marginals_kernel, {**labels, "GRADIENT": False}),
        (triton_labels.marginals_kernel, {**labels, "GRADIENT": True}),
    ]
    for kernel, options in kernels:
        for double in (False, True):
            constants = {**options, **({"DOUBLE": double} if "TILE" in options else {})}
            signature = {
                name: number.get(name, "*fp64" if double else "*fp32") for name in kernel.arg_names if name not in constants
            }
            source = compiler.ASTSource(kernel, {**signature, **dict.fromkeys(constants, "constexpr")}, constants)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made = triton.compile(source, target=backends.GPUTarget("cuda", 90, 32), options={"num_warps": 4})
            assert "ptx" in made.asm
