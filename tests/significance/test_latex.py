"""The LaTeX of ``score`` and ``compare`` compiles, whatever systems are called."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from significance_rows import careless, own_treebank

import treegauge

HOSTILE = ("A_1 & B%", "#1 ~ ^2", "\\begin{x}", "[1] $x$", "*star|<b>", "{", "Müller – ß")


def compiled(tables: Sequence[str], folder: Path) -> None:
    """Compile a document with these tables."""
    program = shutil.which("pdflatex")
    if program is None:
        pytest.skip("there is no pdflatex here")
    if not subprocess.run(["kpsewhich", "booktabs.sty"], capture_output=True, check=False).stdout:
        pytest.skip("this TeX has no booktabs")
    body = "\n\n".join(tables)
    (folder / "paper.tex").write_text(
        "\\documentclass{article}\\usepackage{booktabs}\n\\begin{document}\n" + body + "\n\\end{document}\n", "utf-8"
    )
    command = [program, "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert (folder / "paper.pdf").stat().st_size > 1000


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A treebank and six runs of parsers."""
    gold = own_treebank(40)
    for name, trees in [("gold", gold), *((f"run{seed}", careless(gold, seed, 0.1 + 0.02 * seed)) for seed in range(6))]:
        (tmp_path / f"{name}.mrg").write_text("\n".join(map(str, trees)) + "\n", "utf-8")
    return tmp_path


def run(folder: Path, *words: str) -> str:
    command = [sys.executable, "-m", "treegauge", *words, "--format", "latex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_tables_of_papers_compile(files: Path) -> None:
    gold, runs = "gold.mrg", [f"run{number}.mrg" for number in range(6)]
    several = [f"{HOSTILE[0]}={','.join(runs[:3])}", f"{HOSTILE[1]}={','.join(runs[3:])}"]
    single = [f"{name}={file}" for name, file in zip(HOSTILE[:6], runs, strict=True)]
    published = ["--published", f"{HOSTILE[0]}=lr:82.5,lp:83.1", "--published", "[2]=-,80,,"]
    rounds = ["--rounds", "50", "--quiet"]
    compiled(
        [
            run(files, "compare", gold, *several, *published, *rounds, "--intervals", "--baselines"),
            run(files, "compare", gold, *single, *rounds, "--rates", "lr,lp,f1,exact,cb"),
            run(files, "compare", gold, *single[:2], *rounds, "--table", "all", "--power", "--equivalence", "1", "-m", "all"),
            run(files, "score", gold, *several, *published, "--baselines"),
            run(files, "score", gold, *single, "--rows", "rates", "--fraction", "--digits", "3"),
        ],
        files,
    )


def test_names_in_python_compile(tmp_path: Path) -> None:
    gold = own_treebank(20)
    systems = {name: careless(gold, seed, 0.2) for seed, name in enumerate((*HOSTILE, "two\nlines\n\nof a name"))}
    comparison = treegauge.compare(gold, systems, metric="parseval", rounds=20)
    compiled([comparison.to_latex(), comparison.to_latex("f1", digits=1)], tmp_path)


def test_the_package_is_named(files: Path) -> None:
    assert run(files, "score", "gold.mrg", "run0.mrg").startswith("% needs \\usepackage{booktabs}\n\\begin{table}\n")
