"""The recipes of the architecture page, followed to the letter in a copy of the source."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.latent.toys import model_of

import treegauge
from treegauge.grammar.latent import save_latent
from treegauge.parsing import write_charts
from treegauge.trees import Tree

pytestmark = pytest.mark.slow

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "architecture.md").read_text("utf-8")
RECIPES = {
    title: re.findall(r"^```(\w+)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    for title, text in re.findall(r"^## (Add [^\n]*)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
}
OPENING = {
    "METRICS": "METRICS: dict[str, str] = {\n",
    "OBJECTIVES": "    for objective in (\n",
    "_TABLE": "_TABLE = (\n",
    "SECTIONS, under Treebanks": '    "Treebanks": {\n',
}
"""The line behind which an entry of each table is put."""
EXPECTED = {
    "Add a metric": ["generation_rate,1.333333"],
    "Add an objective": [
        "(S (NP (DT the) (NN rain)) (VP (VBD fell)))\n",
        "(TOP (S (NP (DT the) (NN rain)) (VBD fell)))\n",
        "(S (NP (S the) (NP rain)) (S fell))\n",
    ],
    "Add a format": ["parseval"],
    "Add a command": ["2 sentences, 7 words"],
}
"""What the commands of each recipe print, among other things: an objective by a counted grammar, a trained model and a chart."""


def apply(block: str, root: Path) -> None:
    """Write the file that a block is, or put its lines where its first line says."""
    where, _, lines = block.partition("\n")
    path, _, place = where.removeprefix("# ").partition(", ")
    file = root / path
    if not place:
        assert not file.exists(), path
        file.write_text(lines, "utf-8")
        return
    text = file.read_text("utf-8")
    if place == "at the end":
        file.write_text(f"{text}\n\n{lines}", "utf-8")
    elif place == "among the imports":
        first = text.index("\nfrom treegauge.") + 1
        file.write_text(text[:first] + lines + text[first:], "utf-8")
    else:
        opening = OPENING[place.removeprefix("in ")]
        assert text.count(opening) == 1, place
        file.write_text(text.replace(opening, opening + lines), "utf-8")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    source = Path(treegauge.__file__).parent
    shutil.copytree(source, tmp_path / "src" / "treegauge", ignore=shutil.ignore_patterns("__pycache__"))
    gold = "(S (NP (DT the) (NN rain)) (VP (VBD fell)))\n(S (NP (DT the) (NNS dogs)) (VP (VBD bit) (NP (NNS cats))))\n"
    (tmp_path / "gold.mrg").write_text(gold.replace("(NP (NNS cats))", "(NNS cats)"))
    (tmp_path / "parser.mrg").write_text(gold.replace("(VP (VBD fell))", "(VP (X (VBD fell)))"))
    rules = "S -> NP VP [1]\nNP -> DT NN [1]\nVP -> VBD [1]\nDT -> 'the' [1]\nNN -> 'rain' [1]\nVBD -> 'fell' [1]\n"
    (tmp_path / "grammar.txt").write_text(rules)
    (tmp_path / "sentences.txt").write_text("the rain fell\n")
    save_latent(model_of([Tree.parse("(TOP (S (NP (DT the) (NN rain)) (VBD fell)))")]), tmp_path / "trained.model")
    scores = np.zeros((3, 3, 2))
    scores[0, 2, 0] = scores[0, 1, 1] = scores[1, 1, 1] = 3.0
    write_charts(tmp_path / "charts.npz", [scores], labels=["S", "NP"], words=[["the", "rain", "fell"]])
    return tmp_path


def test_all_four_recipes_are_there() -> None:
    assert list(RECIPES) == list(EXPECTED)


@pytest.mark.slow
@pytest.mark.parametrize("title", RECIPES)
def test_recipe(title: str, root: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(root / "src")}
    printed = ""
    for kind, block in RECIPES[title]:
        if kind == "python":
            apply(block, root)
            continue
        for line in block.splitlines():
            words = line.removeprefix("$ treegauge ").split()
            command = [sys.executable, "-m", "treegauge", *words]
            done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            printed += done.stdout
    assert all(expected in printed for expected in EXPECTED[title]), printed


def test_every_module_that_the_page_names_is_there() -> None:
    source, project = Path(treegauge.__file__).parent, Path(__file__).resolve().parents[2]
    named = set(re.findall(r"`([\w/]+\.py)`", PAGE))
    assert len(named) > 20
    assert [name for name in sorted(named) if not (source / name).is_file() and not (project / name).is_file()] == []
