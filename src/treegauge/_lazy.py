"""Public names of a package that are loaded from their modules on first use.

Such a package imports its names where type checkers look, and only there; the same lines tell where a name is found::

    if TYPE_CHECKING:
        from treegauge.alignment.pairing import Pair, pair
    else:
        __getattr__ = lazy_names(__name__)
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any


def lazy_names(package: str) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package that imports its names under ``if TYPE_CHECKING``.

    >>> find = lazy_names("treegauge.alignment")
    >>> find("Pair").__module__
    'treegauge.alignment.pairing'
    >>> find("no_such_name")
    Traceback (most recent call last):
    AttributeError: module 'treegauge.alignment' has no attribute 'no_such_name'
    """
    module_of: dict[str, str] = {}

    def find(name: str) -> Any:
        if not module_of:
            module_of.update(_imported_for_types(package))
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(module_of[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return find


def _imported_for_types(package: str) -> dict[str, str]:
    """The module of each name that a package imports for type checkers."""
    import ast
    import pkgutil

    source = pkgutil.get_data(package, "__init__.py") or b""
    guarded = [node for node in ast.parse(source).body if isinstance(node, ast.If)]
    imports = [node for guard in guarded for node in guard.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in imports for alias in node.names}
