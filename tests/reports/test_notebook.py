"""The example notebook runs from top to bottom, and what it shows shows itself."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path(__file__).parents[2] / "examples" / "treegauge.ipynb"


def run_cell(source: str, names: dict[str, Any], title: str) -> Any:
    """Run a cell as a notebook does: the value of its last expression is what it shows."""
    body = ast.parse(source, title).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), title, "exec"), names)
    return eval(compile(ast.Expression(last.value), title, "eval"), names) if isinstance(last, ast.Expr) else None


def shown(value: Any) -> str:
    """What a notebook would show of a value: its richest form."""
    for name in ("_repr_html_", "_repr_svg_"):
        if hasattr(value, name):
            return getattr(value, name)()
    return repr(value)


@pytest.mark.slow
def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    notebook = json.loads(NOTEBOOK.read_text("utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] or cell["execution_count"] for cell in cells), "outputs would grow old"
    names: dict[str, Any] = {"__name__": "__main__"}
    outputs = [shown(run_cell("".join(cell["source"]), names, f"cell {number}")) for number, cell in enumerate(cells, 1)]
    tree, scores, errors, examples, difference, comparison, forest, best, differing = outputs
    assert tree.startswith("<svg")
    assert scores.count("<table>") >= 1
    assert "PP attachment" in errors
    assert "Place(sentence=" in examples
    assert difference.count("<svg") == 3
    assert "Differences" in comparison
    assert forest.count("<svg") == 2
    assert best.startswith("<svg")
    assert "2.00 of 3 constituents" in capsys.readouterr().out
    assert int(differing) > 0
    assert "<title>Parser report" in Path("report.html").read_text("utf-8")
