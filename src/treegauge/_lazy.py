"""Public names of a package that are loaded from their modules on first use."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def lazy_names(package: str, modules: Mapping[str, tuple[str, ...]]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package, given the names that each of its modules defines.

    >>> find = lazy_names("treegauge.alignment", {"words": ("plain_word",)})
    >>> find("plain_word").__module__
    'treegauge.alignment.words'
    >>> find("no_such_name")
    Traceback (most recent call last):
    AttributeError: module 'treegauge.alignment' has no attribute 'no_such_name'
    """
    module_of = {name: module for module, names in modules.items() for name in names}

    def find(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"{package}.{module_of[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return find
