"""torch, Triton and NumPy behind one set of functions, so that the same code works on tensors and arrays.

torch is imported only when a tensor is given, and Triton only where it is installed.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache, wraps
from threading import Lock
from typing import Any, ParamSpec, TypeVar

import numpy as np

from treegauge.errors import MissingExtra

P = ParamSpec("P")
T = TypeVar("T")

Tensor = Any
"""A torch tensor. It is typed as Any because torch may not be installed."""
Array = Any
"""A NumPy array or a torch tensor."""


NEVER = -1e30
"""A stand-in for log 0: with -inf, gradients would be nan."""


def torch_module() -> Any:
    """The torch module, or :class:`~treegauge.errors.MissingExtra` if it is not installed."""
    try:
        return importlib.import_module("torch")
    except ImportError:
        raise MissingExtra("a network (PyTorch)", "torch") from None


def _tf32_settings() -> tuple[list[tuple[Any, str]], Any]:
    """The settings of torch that let a GPU use TF32 for products of matrices, convolutions and LSTMs, and the value that forbids
    it. Those of torch 2.9 and later must not be mixed with the older ones."""
    of = torch_module().backends
    if hasattr(of, "fp32_precision"):
        return [(each, "fp32_precision") for each in (of.cuda.matmul, of.cudnn.conv, of.cudnn.rnn)], "ieee"
    return [(each, "allow_tf32") for each in (of.cuda.matmul, of.cudnn)], False


class _FullPrecision:
    """A context in which a GPU computes in single precision, not in TF32, which changes posteriors in the fourth decimal.

    torch's settings are those of the whole process: of several threads in the context, the last one restores them.
    """

    def __init__(self) -> None:
        self._lock, self._threads, self._before = Lock(), 0, list[Any]()

    def __enter__(self) -> None:
        with self._lock:
            settings, off = _tf32_settings()
            if not self._threads:
                self._before = [getattr(*setting) for setting in settings]
                for setting in settings:
                    setattr(*setting, off)
            self._threads += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._threads -= 1
            if not self._threads:
                for setting, value in zip(_tf32_settings()[0], self._before, strict=True):
                    setattr(*setting, value)


full_precision = _FullPrecision()


@contextmanager
def fast_products() -> Generator[None]:
    """A context in which a GPU multiplies matrices with less precision (TF32), which costs training nothing."""
    (products, name), off = _tf32_settings()[0][0], _tf32_settings()[1]
    before = getattr(products, name)
    setattr(products, name, "tf32" if off else True)
    try:
        yield
    finally:
        setattr(products, name, before)


def is_tensor(value: object) -> bool:
    """Whether a value is a torch tensor; torch is not imported for this, since whoever has a tensor has imported it."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def as_numpy(value: Any) -> Any:
    """A tensor's values as a NumPy array; anything else unchanged."""
    if not is_tensor(value):
        return value
    value = value.detach()
    return (value.float() if value.dtype in (torch_module().bfloat16, torch_module().float16) else value).cpu().numpy()


def as_mask(value: Array, like: Array) -> Array:
    """A mask as an array of booleans, or as a tensor on the device of another tensor."""
    if not is_tensor(like):
        return np.ascontiguousarray(as_numpy(value), np.bool_)
    torch = torch_module()
    return torch.as_tensor(value, device=like.device).to(torch.bool).contiguous()


@cache
def has_triton() -> bool:
    """Whether Triton is installed."""
    return importlib.util.find_spec("triton") is not None


def use_triton(value: Tensor) -> bool:
    """Whether to use Triton's kernels for a tensor: on a GPU, or on any device in Triton's interpreter."""
    return has_triton() and (value.is_cuda or os.environ.get("TRITON_INTERPRET") == "1")


def in_gradient_mode(method: Callable[P, T]) -> Callable[P, T]:
    """Make a method record gradients exactly if they were recorded when its object was made (``tracked``).

    A distribution caches its results. If one was first computed under ``no_grad``, a later loss would otherwise silently lack a
    part of its gradient.
    """

    @wraps(method)
    def run(*args: P.args, **options: P.kwargs) -> T:
        tracked: bool | None = getattr(args[0], "tracked", None)
        if tracked is None:
            return method(*args, **options)
        with torch_module().set_grad_enabled(tracked):
            return method(*args, **options)

    return run


def module_of(array: Array) -> Any:
    """The module that an array belongs to: torch or NumPy."""
    return torch_module() if is_tensor(array) else np


def zeros(like: Array, shape: tuple[int, ...]) -> Array:
    """An array of zeros with the type and device of another array."""
    return like.new_zeros(shape) if is_tensor(like) else np.zeros(shape, like.dtype)


def numbers_to(like: Array, size: int) -> Array:
    """The numbers from 0 to ``size`` - 1, on the device of another array."""
    return torch_module().arange(size, device=like.device) if is_tensor(like) else np.arange(size)


def limits(array: Array) -> tuple[float, float]:
    """A small and a large number of an array's type whose products with the numbers of charts do not underflow or overflow."""
    return (1e-290, 1e290) if (array.element_size() if is_tensor(array) else array.itemsize) == 8 else (1e-37, 1e30)


def transpose(array: Array) -> Array:
    """The array with its last two axes swapped."""
    return module_of(array).swapaxes(array, -1, -2)


def at_least(array: Array, least: float) -> Array:
    """The array with smaller elements replaced by ``least``."""
    return array.clamp_min(least) if is_tensor(array) else np.maximum(array, least)


def at_most(array: Array, most: float) -> Array:
    """The array with larger elements replaced by ``most``."""
    return array.clamp_max(most) if is_tensor(array) else np.minimum(array, most)


def _strided_view(array: Array, shape: tuple[int, ...], strides: tuple[int, ...], first: int) -> Array:
    """A view of an array, with strides and the index of the first element counted in elements."""
    if is_tensor(array):
        return array.as_strided(shape, strides, array.storage_offset() + first)
    flat = array.reshape(-1)[first:]
    return np.lib.stride_tricks.as_strided(flat, shape, [step * array.itemsize for step in strides])


def _strides(array: Array) -> tuple[int, ...]:
    return array.stride() if is_tensor(array) else tuple(step // array.itemsize for step in array.strides)


def diagonal(array: Array, d: int, *, below: bool = False) -> Array:
    """A view of array[b, s, s + d] (or [b, s + d, s] if ``below``) for all s: (B, k, ...)."""
    steps, shape = _strides(array), tuple(array.shape)
    first = d * steps[1] if below else d * steps[2]
    return _strided_view(array, (shape[0], shape[1] - d, *shape[3:]), (steps[0], steps[1] + steps[2], *steps[3:]), first)


def windows(array: Array, k: int, row: int, column: int, width: int) -> Array:
    """A view of array[b, s + row, s + column + j] for s < k and j < width: (B, k, width, ...)."""
    steps, shape = _strides(array), tuple(array.shape)
    first = row * steps[1] + column * steps[2]
    return _strided_view(array, (shape[0], k, width, *shape[3:]), (steps[0], steps[1] + steps[2], steps[2], *steps[3:]), first)
