"""Public names of a package, loaded from their modules on first use, each written once.

Such a package imports its names where type checkers look, and only there; ``as`` tells these that a name is public, and the same
lines tell where it is found::

    if TYPE_CHECKING:
        from treegauge.alignment.pairing import Pair as Pair, pair as pair
    else:
        __getattr__, __dir__ = lazy_names(__name__)
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Collection
from functools import cache
from pathlib import Path
from typing import Any


def lazy_names(package: str, folders: Collection[str] = ()) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The ``__getattr__`` and the ``__dir__`` of a package that imports its names under ``if TYPE_CHECKING``.

    ``folders`` are its public modules, which are attributes from the start.

    >>> find, names = lazy_names("treegauge.alignment")
    >>> find("Pair").__module__
    'treegauge.alignment.pairing'
    >>> find("__all__"), names()
    (['Brackets', 'Pair', 'pair'], ['Brackets', 'Pair', 'pair'])
    >>> find("no_such_name")
    Traceback (most recent call last):
    AttributeError: module 'treegauge.alignment' has no attribute 'no_such_name'
    """

    @cache
    def module_of() -> dict[str, str]:
        return _imported_for_types(package)

    def find(name: str) -> Any:
        if name in folders:
            return importlib.import_module(f"{package}.{name}")
        if name == "__all__":
            return sorted(module_of())
        if name not in module_of():
            raise AttributeError(f"module {package!r} {lack_of(name, package)}", name=name, obj=sys.modules[package])
        value = getattr(importlib.import_module(module_of()[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        module = sys.modules[package]
        return sorted({*module.__all__, *({"__version__"} & vars(module).keys())})

    return find, names


def lack_of(name: str, owner: str) -> str:
    """The end of the error for an attribute that a class or module lacks, with what to write for it."""
    meant = advice_on(owner).get(name)
    return f"has no attribute {name!r}" + (f"; write {meant}" if meant else "")


@cache
def advice_on(kind: str) -> dict[str, str]:
    """The advice on names that somebody may expect: attributes of a class or module, arguments of a function, metrics ..."""
    import tomllib

    return tomllib.loads(Path(__file__).with_name("advice.toml").read_text("utf-8")).get(kind, {})


def _imported_for_types(package: str) -> dict[str, str]:
    """The module of each name that a package imports for type checkers."""
    import ast
    import pkgutil

    source = pkgutil.get_data(package, "__init__.py") or b""
    guarded = [node for node in ast.parse(source).body if isinstance(node, ast.If)]
    imports = [node for guard in guarded for node in guard.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in imports for alias in node.names}
