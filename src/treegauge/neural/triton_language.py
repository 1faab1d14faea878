"""Triton and its language, for the modules of kernels; imported only where Triton is installed.

The annotations of kernels are strings, all but ``tl.constexpr``: others Triton would look up in the kernel.
"""

import importlib
from typing import TYPE_CHECKING, Any, TypeAlias

__all__ = ["tl", "triton"]

triton: Any = importlib.import_module("triton")
if TYPE_CHECKING:

    class _AnyName(type):
        def __getattr__(cls, name: str) -> Any: ...

    class _Language(metaclass=_AnyName):
        constexpr: TypeAlias = Any

    tl = _Language
else:
    tl = importlib.import_module("triton.language")
