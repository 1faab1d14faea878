"""The example notebooks run from top to bottom and show what is stored in them.

`python tests/reports/test_notebook.py` stores what they show now; look at the difference before committing it.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
NOTEBOOKS = ("treegauge.ipynb", "teaching.ipynb")
VERSION = re.compile(r"version:[\w.]+")


def run_cell(source: str, names: dict[str, Any], title: str) -> Any:
    """Run a cell as a notebook does: the value of its last expression is what it shows."""
    body = ast.parse(source, title).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), title, "exec"), names)
    return eval(compile(ast.Expression(last.value), title, "eval"), names) if isinstance(last, ast.Expr) else None


def outputs_of(source: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """What a notebook stores below a cell: what it printed, and its value in the richest form and as text."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        value = run_cell(source, names, f"cell {number}")
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": printed.getvalue().splitlines(keepends=True)})
    if value is not None:
        data = {"text/plain": repr(value).splitlines(keepends=True)}
        for name, kind in (("_repr_html_", "text/html"), ("_repr_svg_", "image/svg+xml")):
            if hasattr(value, name):
                data[kind] = getattr(value, name)().splitlines(keepends=True)
                break
        outputs.append({"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"})
    return outputs


def executed(name: str) -> dict[str, Any]:
    """The notebook with its outputs as they are now; it runs in the current folder."""
    notebook = json.loads((EXAMPLES / name).read_text("utf-8"))
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate((cell for cell in notebook["cells"] if cell["cell_type"] == "code"), 1):
        cell["outputs"] = outputs_of("".join(cell["source"]), names, number)
        cell["execution_count"] = number
    return notebook


def masked(notebook: dict[str, Any]) -> Any:
    return json.loads(VERSION.sub("version:V", json.dumps(notebook)))


@pytest.mark.slow
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_shows_what_is_stored_in_it(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    stored = json.loads((EXAMPLES / name).read_text("utf-8"))
    assert (stored["nbformat"], stored["nbformat_minor"]) == (4, 5)
    for old, new in zip(masked(stored)["cells"], masked(executed(name))["cells"], strict=True):
        assert old == new, "".join(old["source"])


def test_the_notebooks_are_stored_with_outputs() -> None:
    for name in NOTEBOOKS:
        cells = json.loads((EXAMPLES / name).read_text("utf-8"))["cells"]
        assert sum(bool(cell["outputs"]) for cell in cells if cell["cell_type"] == "code") >= 8


if __name__ == "__main__":
    os.environ["COLUMNS"] = "110"
    for notebook in NOTEBOOKS:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            made = executed(notebook)
        (EXAMPLES / notebook).write_text(json.dumps(made, ensure_ascii=False, indent=1) + "\n", "utf-8")
