"""Modules that need torch or Triton are collected where these are installed; CI has a step of its own for them."""

import os
from importlib.util import find_spec

collect_ignore_glob: list[str] = []
if find_spec("torch") is None:
    collect_ignore_glob += ["src/treegauge/neural/*.py", "tests/neural/gpu_checks.py", "examples/train_span_crf.py"]
elif find_spec("triton") is None:
    collect_ignore_glob += ["src/treegauge/neural/triton_*.py"]


def pytest_xdist_auto_num_workers() -> int:
    """One worker more than there are processors: many tests wait for a command that they have started."""
    return (os.cpu_count() or 1) + 1
