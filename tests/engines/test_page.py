"""The page on clusters: what can run without one runs, and gives what it says."""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from treegauge.data import own_treebank

pytestmark = pytest.mark.slow

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "howto" / "cluster.md").read_text("utf-8")
BLOCKS = [
    block for block in re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL) if "gold.mrg" in block or "own" in block
]


def shell(line: str, folder: Path) -> str:
    paths = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": paths}
    return subprocess.run(["bash", "-ec", line], cwd=folder, env=environment, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    trees = [str(tree) for tree in own_treebank("dev")][:30]
    (tmp_path / "gold.mrg").write_text("\n".join(trees) + "\n")
    (tmp_path / "parser.mrg").write_text("\n".join(trees).replace("(PP ", "(NP ") + "\n")
    (tmp_path / "sentences.txt").write_text("Where is the hotel ?\nWe left .\n")
    return tmp_path


def test_there_are_three_blocks_that_run() -> None:
    assert len(BLOCKS) == 3


@pytest.mark.slow
def test_engines_of_one_machine(folder: Path) -> None:
    score, parse, on_dask = BLOCKS[0].splitlines()
    plain = shell("treegauge score gold.mrg parser.mrg", folder)
    assert shell(score, folder) == shell(on_dask, folder) == plain
    shell(parse, folder)
    trees = gzip.decompress((folder / "parsed.mrg.gz").read_bytes()).decode()
    assert trees == shell("treegauge parse own sentences.txt", folder)


@pytest.mark.slow
def test_parts(folder: Path) -> None:
    assert shell(BLOCKS[1], folder) == shell("treegauge score gold.mrg parser.mrg", folder)
    shell(BLOCKS[2], folder)
    assert (folder / "parsed.mrg").read_text() == shell("treegauge parse own sentences.txt", folder)
