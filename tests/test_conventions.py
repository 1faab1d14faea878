"""Conventions of the code: docstrings that say what something is, names that mean one thing, imports without cycles."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "src" / "treegauge"
MODULES = {
    ".".join(("treegauge", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
ROOMS = sorted({name.split(".")[1] for name in MODULES if "." in name})
QUESTION_WORDS = {"What", "How", "Which", "Where", "When", "Who", "Whose", "Why"}


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """Line and text of the docstrings of a module, its classes and functions, and of the strings below its constants."""
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield getattr(node, "lineno", 1), text
            for above, below in zip(node.body, node.body[1:], strict=False):
                is_text = (
                    isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) and isinstance(below.value.value, str)
                )
                if isinstance(above, ast.Assign | ast.AnnAssign) and is_text:
                    yield below.lineno, ast.literal_eval(below.value)


@pytest.mark.parametrize("module", MODULES)
def test_every_module_has_a_docstring(module: str) -> None:
    assert ast.get_docstring(ast.parse(MODULES[module].read_text("utf-8"))) or module.endswith("__main__")


@pytest.mark.parametrize("room", ROOMS)
def test_no_docstring_begins_with_a_question_word(room: str) -> None:
    riddles = [
        f"{path.relative_to(PACKAGE)}:{line}: {text.splitlines()[0]}"
        for name, path in MODULES.items()
        if name.split(".")[1:2] == [room]
        for line, text in docstrings(path)
        if text.split()[0].rstrip(",.:") in QUESTION_WORDS
    ]
    assert not riddles


def imports(path: Path, module: str) -> Iterator[str]:
    """The modules of treegauge that a module imports when it is imported itself."""
    for statement in ast.parse(path.read_text("utf-8")).body:
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names if alias.name in MODULES)
        elif isinstance(statement, ast.ImportFrom) and statement.module:
            for alias in statement.names:
                inner = f"{statement.module}.{alias.name}"
                found = inner if inner in MODULES else statement.module
                if found in MODULES and found != module:
                    yield found


def test_no_module_imports_itself_by_a_detour() -> None:
    graph = {name: set(imports(path, name)) for name, path in MODULES.items()}
    assert sum(map(len, graph.values())) > len(graph)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def names_in(package: Path) -> set[str]:
    """The functions and classes that any module of a package defines, and the names that the package's own module imports."""
    names: set[str] = set()
    for path in package.glob("*.py"):
        for statement in ast.parse(path.read_text("utf-8")).body:
            if isinstance(statement, ast.ImportFrom) and path.stem == "__init__":
                names |= {alias.asname or alias.name for alias in statement.names}
            elif isinstance(statement, ast.FunctionDef | ast.ClassDef):
                names.add(statement.name)
    return names


PACKAGES = sorted(path.parent for path in PACKAGE.rglob("__init__.py"))


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: str(path.relative_to(PACKAGE.parent)))
def test_no_name_is_both_a_module_and_something_else(package: Path) -> None:
    modules = {path.stem for path in package.glob("*.py")} | {path.parent.name for path in package.glob("*/__init__.py")}
    assert not modules & names_in(package)


def test_few_tests_need_licensed_data(request: pytest.FixtureRequest) -> None:
    """A public clone skips them."""
    items = [item for item in request.session.items if isinstance(item, pytest.Function) and "shared" in item.fixturenames]
    licensed = {
        item.nodeid.partition("[")[0] for item in items if "shared" not in getattr(getattr(item, "callspec", None), "params", ())
    }
    assert len(licensed) <= 30, sorted(licensed)
