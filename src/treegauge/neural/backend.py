"""torch and Triton where they are installed: the only place that imports them, and only when a tensor comes along."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

from treegauge.errors import MissingExtra

__all__ = ["Array", "Tensor", "as_numpy", "has_triton", "in_gradient_mode", "is_tensor", "torch_module", "use_triton"]

P = ParamSpec("P")
T = TypeVar("T")

Tensor = Any
"""A torch tensor. torch may be absent, so its types are not ours to name."""
Array = Any
"""A NumPy array or a torch tensor, as the caller gave it."""


def torch_module() -> Any:
    """torch itself."""
    try:
        return importlib.import_module("torch")
    except ImportError:
        raise MissingExtra("treegauge.neural on tensors", "torch") from None


def is_tensor(value: object) -> bool:
    """Whether a value is a torch tensor; nobody who has one has not imported torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def as_numpy(value: Any) -> Any:
    """A tensor's values as a NumPy array; anything else as it is."""
    if not is_tensor(value):
        return value
    value = value.detach()
    return (value.float() if value.dtype in (torch_module().bfloat16, torch_module().float16) else value).cpu().numpy()


@cache
def has_triton() -> bool:
    """Whether Triton is installed."""
    return importlib.util.find_spec("triton") is not None


def use_triton(value: Tensor) -> bool:
    """Whether a tensor goes through Triton: on a GPU, or anywhere in Triton's own interpreter."""
    return has_triton() and (value.is_cuda or os.environ.get("TRITON_INTERPRET") == "1")


def in_gradient_mode(method: Callable[P, T]) -> Callable[P, T]:
    """A method that records gradients if its object was made where they were recorded (``tracked``), wherever it is called.

    What a distribution has computed once is used again. If that was under ``no_grad``, a loss would otherwise lack a part of its
    gradient, and nobody would be told.
    """

    @wraps(method)
    def run(*args: P.args, **options: P.kwargs) -> T:
        tracked: bool | None = getattr(args[0], "tracked", None)
        if tracked is None:
            return method(*args, **options)
        with torch_module().set_grad_enabled(tracked):
            return method(*args, **options)

    return run
