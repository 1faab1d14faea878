"""The same checks on the CPU and, where there is one, on a GPU; elsewhere Triton's interpreter runs its kernels on the CPU."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

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
    module.DEVICE = device
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


def test_the_triton_kernels_in_its_interpreter() -> None:
    pytest.importorskip("triton", reason="Triton is not installed")
    environment = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    run = subprocess.run([sys.executable, "-c", INTERPRETED], capture_output=True, text=True, env=environment, check=False)
    assert run.stdout.strip() == "equal", run.stderr


def test_the_triton_kernels_compile() -> None:
    """For an H100 or H200, which need not be here."""
    triton = pytest.importorskip("triton", reason="Triton is not installed")
    compiler = pytest.importorskip("triton.compiler")
    backends = pytest.importorskip("triton.backends.compiler")
    from treegauge.neural import triton_spans

    number = {"LENGTH": "*i32", "E1": "*i32", "E2": "*i32", "E3": "*i32", "n": "i32"}
    for kernel in (triton_spans.inside_kernel, triton_spans.outside_kernel):
        for double in (False, True):
            constants = {"TILE": 16, "SPLITS": 64, "DOUBLE": double}
            signature = {
                name: number.get(name, "*fp64" if double else "*fp32") for name in kernel.arg_names if name not in constants
            }
            source = compiler.ASTSource(kernel, {**signature, **dict.fromkeys(constants, "constexpr")}, constants)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made = triton.compile(source, target=backends.GPUTarget("cuda", 90, 32), options={"num_warps": 4})
            assert "ptx" in made.asm
