"""Imports point downward, so that the layout on disk is the architecture."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "src" / "treegauge"

LAYERS = [
    {"_lazy", "errors", "spelling"},
    {"tables", "compiled"},
    {"trees", "presets"},
    {"io", "alignment"},
    {"metrics", "normalise", "engines", "data"},
    {"scoring", "grammar", "humancheck"},
    {"significance", "parsing", "chunks"},
    {"neural"},
    {"learning", "reports"},
    {"experiments"},
    {"cli"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Line and top-level subpackage of every import of treegauge itself, also those inside functions."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            if node.module == "treegauge":
                names = [f"treegauge.{alias.name}" for alias in node.names]
            else:
                names = [node.module]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] == "treegauge" and len(parts) > 1:
                yield node.lineno, parts[1]


MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] not in ("__init__.py", "testing"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_downward(path: Path) -> None:
    own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    if own == "__main__":
        return
    for line, other in imports(path):
        place = f"{path.relative_to(PACKAGE)}:{line} imports {other}"
        assert other in (own, "__version__") or LEVEL[other] < LEVEL[own], place


def test_every_subpackage_has_a_layer() -> None:
    found = {path.name.removesuffix(".py") for path in PACKAGE.iterdir() if path.is_dir() or path.suffix == ".py"}
    unplaced = found - set(LEVEL) - {"__init__", "__main__", "__pycache__", "testing", "py.typed"}
    assert not unplaced


def test_no_module_is_left_unread() -> None:
    assert len(MODULES) > 20
