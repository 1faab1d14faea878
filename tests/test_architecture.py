"""Imports point downward, so that the layout on disk is the architecture."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "src" / "treegauge"

LAYERS = [
    {"_lazy"},
    {"errors"},
    {"compilation"},
    {"tables"},
    {"trees", "presets"},
    {"io", "alignment"},
    {"metrics", "normalise", "engines", "data"},
    {"scoring", "grammar", "humancheck"},
    {"significance", "parsing", "chunks"},
    {"neural"},
    {"models"},
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


def module_name(path: Path) -> str:
    return ".".join(("treegauge", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")


NAMES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def definitions(path: Path, kind: type[ast.ClassDef | ast.FunctionDef]) -> set[str]:
    """The names of the classes, or of the functions, of a module."""
    return {node.name for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, kind)}


def test_a_class_name_means_one_thing() -> None:
    """The settings of the experiments aside, which all experiments name alike because one command runs them."""
    places: dict[str, list[str]] = {}
    for module, path in NAMES.items():
        for name in definitions(path, ast.ClassDef):
            if not name.startswith("_") and (not module.startswith("treegauge.experiments.") or name != "Settings"):
                places.setdefault(name, []).append(module)
    assert len(places) > 100
    assert {name: modules for name, modules in places.items() if len(modules) > 1} == {}


def test_no_name_is_a_module_and_a_function_of_one_package() -> None:
    """Else ``import treegauge.package.name as module`` gives the function."""
    found: list[str] = []
    for package in (name for name, path in NAMES.items() if path.name == "__init__.py"):
        folder = NAMES[package].parent
        modules = {path.stem for path in folder.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
        exported = getattr(import_module(package), "__all__", ())
        found += [f"{package}.{name}" for name in exported if name in modules and callable(getattr(import_module(package), name))]
    assert not found


def test_the_page_lists_every_folder_in_the_order_of_the_layers() -> None:
    page = (Path(__file__).parent.parent / "docs" / "architecture.md").read_text("utf-8")
    rows = [row.split("|")[1] for row in page.splitlines() if row.startswith("| `")]
    named = [name.strip().strip("`") for row in rows for name in row.split(",")]
    assert set(named) == {path.stem for path in PACKAGE.iterdir() if path.suffix in (".py", "") and not path.name.startswith("_")}
    levels = [LEVEL[name] for name in named if name not in ("data", "testing")]
    assert levels == sorted(levels)
