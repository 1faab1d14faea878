"""The public names: all there, all typed where a type checker looks, none loaded before it is used."""

from __future__ import annotations

import ast
import importlib
import json
import pkgutil
import re
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

import treegauge

SOURCE = Path(treegauge.__file__)
PAGE = (Path(__file__).parents[1] / "docs" / "reference" / "api.md").read_text("utf-8")
LISTED = re.findall(r"^\.\. auto(?:class|function|data):: (treegauge\S*)$", PAGE, re.MULTILINE)
FOLDERS = [
    package.name
    for package in pkgutil.walk_packages([str(SOURCE.parent)], "treegauge.")
    if package.ispkg and hasattr(importlib.import_module(package.name), "__all__")
]
"""The packages below treegauge that have public names; the others are internal altogether."""


@pytest.mark.parametrize("name", treegauge.__all__)
def test_every_name_is_there_and_documented(name: str) -> None:
    value = getattr(treegauge, name)
    assert name in dir(treegauge)
    assert value.__doc__


def test_all_names_are_imported_by_a_star() -> None:
    names: dict[str, object] = {}
    exec("from treegauge import *", names)
    assert set(treegauge.__all__) == set(names) - {"__builtins__"}


@pytest.mark.parametrize("folder", ["treegauge", *FOLDERS])
def test_type_checkers_take_the_names_for_public(folder: str) -> None:
    """In a typed package that has no list ``__all__``, a name is public if it is imported as itself."""
    module = importlib.import_module(folder)
    tree = ast.parse(Path(str(module.__file__)).read_text("utf-8"))
    guarded = [node for node in tree.body if isinstance(node, ast.If)]
    imported = [alias for guard in guarded for node in guard.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    assert "__all__" in vars(module) or {alias.asname for alias in imported} == set(module.__all__)


def test_the_name_of_a_command_leads_to_what_python_has_for_it() -> None:
    with pytest.raises(
        AttributeError, match=r'no attribute .validate.; write treegauge.read\(path, on_error="skip"\).problems\(\)'
    ):
        _ = treegauge.validate  # pyright: ignore
    with pytest.raises(AttributeError, match=r"no attribute .draw.; write tree.draw\(\) or tree.svg\(\)"):
        _ = treegauge.draw  # pyright: ignore


@pytest.mark.parametrize("command", ["explain", "reproduce", "cite"])
def test_a_command_without_a_function_is_named(command: str) -> None:
    with pytest.raises(AttributeError, match=f"treegauge {command} [A-Z]+ on the command line"):
        getattr(treegauge, command)


IN_DOCS = {
    name
    for page in (Path(__file__).parents[1] / "docs").rglob("*.md")
    if page.name != "architecture.md"
    for code in re.findall(r"^```(?:python|pycon)$.*?^```$|`[^`\n]+`", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    for name in re.findall(r"\btreegauge(?:\.[A-Za-z_]\w*){2,}", code)
}
"""The dotted names in the code of the pages, but for the page on what is internal."""


def test_names_in_the_docs_are_attributes_in_a_fresh_interpreter() -> None:
    """Each folder is an attribute before anything else was loaded: each has a process of its own."""
    by_folder: dict[str, list[str]] = {}
    for name in sorted({*IN_DOCS, *(name for name in LISTED if name.count(".") > 1)}):
        by_folder.setdefault(name.split(".")[1], []).append(name)
    code = "import sys, operator, treegauge\nfor name in sys.argv[1:]: operator.attrgetter(name.partition('.')[2])(treegauge)"
    assert len(IN_DOCS) > 20
    for names in by_folder.values():
        done = subprocess.run([sys.executable, "-c", code, *names], capture_output=True, text=True, check=False)
        assert not done.returncode, done.stderr


def test_the_folders_of_treegauge_are_its_public_ones() -> None:
    """``dir`` shows the names only; internal folders are not there until something imports them."""
    code = "import treegauge, json, sys; print(json.dumps([name for name in sys.argv[1:] if hasattr(treegauge, name)]))"
    there = [path.stem for path in SOURCE.parent.iterdir() if not path.stem.startswith("_") and path.stem != "py"]
    done = subprocess.run([sys.executable, "-c", code, *sorted(there)], capture_output=True, text=True, check=True)
    public = {folder.split(".")[1] for folder in FOLDERS} | {"errors"}
    assert public <= set(json.loads(done.stdout))
    assert "cli" not in json.loads(done.stdout)
    assert not public & set(dir(treegauge))


def test_other_names_are_not_there() -> None:
    with pytest.raises(AttributeError, match="no attribute 'scores'"):
        _ = treegauge.scores  # pyright: ignore


USES = """
import treegauge
import treegauge.grammar
import treegauge.parsing
from treegauge.metrics import Parseval

tree: treegauge.Tree = treegauge.Tree.parse("(S (N a))")
result: treegauge.Result = treegauge.score(tree, tree)
rule: treegauge.grammar.Rule = treegauge.induce([tree]).rules[0]
metric: str = Parseval().name
treegauge.nonsense
treegauge.parsing.nonsense
treegauge.grammar.nonsense
"""


@pytest.mark.skipif(find_spec("pyright") is None, reason="pyright is not installed")
def test_type_checkers_know_the_public_names_and_no_others(tmp_path: Path) -> None:
    """The names that are loaded on first use have their types, and a misspelt one is an error."""
    (tmp_path / "uses.py").write_text(USES)
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--outputjson", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)["generalDiagnostics"]
    errors = [(item["range"]["start"]["line"], item["rule"]) for item in found if item["severity"] == "error"]
    lines = USES.splitlines()
    wrong = [number for number, line in enumerate(lines) if line.endswith(".nonsense")]
    assert errors == [(number, "reportAttributeAccessIssue") for number in wrong], found


def test_package_citation_and_changelog_have_one_version() -> None:
    root = Path(__file__).parents[1]
    version = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert treegauge.__version__ == version
    assert f"\nversion: {version}\n" in (root / "CITATION.cff").read_text("utf-8")
    assert f"\n## {version}" in (root / "CHANGELOG.md").read_text("utf-8")
    done = subprocess.run([sys.executable, "-m", "treegauge", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"treegauge, version {version}\n"


def test_the_source_archive_has_what_the_tests_need() -> None:
    """Without ``conftest.py`` at the top, tests of the archive would import torch where there is none."""
    root = Path(__file__).parents[1]
    tool = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["tool"]
    packed = set(tool["hatch"]["build"]["targets"]["sdist"]["include"])
    assert {*tool["pytest"]["ini_options"]["testpaths"], *(path.name for path in root.glob("*.py"))} <= packed


def test_importing_loads_nothing() -> None:
    code = "import sys, treegauge; print([m for m in sys.modules if m.partition('.')[0] in ('numpy', 'click', 'rich')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_scoring_loads_neither_numba_nor_scipy_nor_rich() -> None:
    code = (
        "import sys, treegauge; treegauge.score('(S (N a))', '(S (N a))');"
        "print([m for m in ('numba', 'scipy', 'rich', 'nltk', 'jinja2', 'matplotlib') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_errors_have_one_root() -> None:
    errors = [
        value for name in treegauge.__all__ if isinstance(value := getattr(treegauge, name), type) and issubclass(value, Exception)
    ]
    assert [error for error in errors if not issubclass(error, treegauge.TreegaugeError)] == [treegauge.TreegaugeWarning]
    assert len(errors) == 13


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_exports_what_the_reference_lists(folder: str) -> None:
    module = importlib.import_module(folder)
    assert {name for name in LISTED if name.rpartition(".")[0] == folder} == {f"{folder}.{name}" for name in module.__all__}
    assert all(hasattr(module, name) for name in module.__all__)


def test_the_reference_lists_the_public_names_and_no_others() -> None:
    errors = {name for name, value in vars(treegauge.errors).items() if isinstance(value, type) and issubclass(value, Exception)}
    assert {name for name in LISTED if name.count(".") == 1} == {f"treegauge.{name}" for name in set(treegauge.__all__) - errors}
    assert {name.rpartition(".")[0] for name in LISTED} - {"treegauge"} == set(FOLDERS)
    assert len(LISTED) == len(set(LISTED))
    assert "automodule:: treegauge.errors" in PAGE
