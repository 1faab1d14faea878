"""Triton and its language with types, for the modules of kernels, which are imported only where Triton is installed.

In these modules all annotations of kernels except ``tl.constexpr`` are strings, because Triton would evaluate others in the kernel.
"""

import importlib
from typing import TYPE_CHECKING, Any, TypeAlias

triton: Any = importlib.import_module("triton")
if TYPE_CHECKING:

    class _AnyName(type):
        def __getattr__(cls, name: str) -> Any: ...

    class _Language(metaclass=_AnyName):
        constexpr: TypeAlias = Any

    tl = _Language
else:
    tl = importlib.import_module("triton.language")
