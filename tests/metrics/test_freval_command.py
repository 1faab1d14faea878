"""``treegauge freval`` as a user runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

GOLD = "(TOP (S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (DT a) (NN dog))) (. .)))\n"
GOOD = "(TOP (S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (DT a) (NN dog))) (. .)))\n"
BAD = "(TOP (S (NP (DT the) (NN cat)) (XP (VBD saw) (NP (DT a) (NN dog))) (. .)))\n"


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "treegauge", "freval", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("gold.mrg", GOLD), ("good.mrg", GOOD), ("bad.mrg", BAD), ("short.mrg", "")):
        (tmp_path / name).write_text(text)
    return tmp_path


def test_systems_side_by_side(folder: Path) -> None:
    done = run("gold.mrg", "good.mrg", "bad.mrg", folder=folder)
    assert done.returncode == 0
    assert done.stdout.splitlines()[1].split()[:4] == ["good", "100.00", "100.00", "100.00"]
    assert done.stdout.splitlines()[2].split()[:4] == ["bad", "75.00", "75.00", "75.00"]


def test_json_has_every_size_at_full_precision(folder: Path) -> None:
    done = run("gold.mrg", "mine=bad.mrg", "--format", "json", folder=folder)
    [system] = json.loads(done.stdout)["systems"]
    assert system["system"] == "mine"
    assert [size["matched"] for size in system["by_size"]] == [3, 1, 0, 0]
    assert system["rates"]["flr"] == pytest.approx((3 / 4 + 1 / 3) / 4)


def test_figures_and_their_data(folder: Path) -> None:
    pytest.importorskip("matplotlib")
    arguments = ("gold.mrg", "good.mrg", "bad.mrg", "--figures", "plots", "--baseline", "good")
    assert run(*arguments, folder=folder).returncode == 0
    first = (folder / "plots" / "f1_difference.svg").read_bytes()
    assert (folder / "plots" / "f1_difference.csv").read_text().splitlines()[:2] == ["size,good,bad", "1,0.0,-0.25"]
    assert run(*arguments, folder=folder).returncode == 0
    assert (folder / "plots" / "f1_difference.svg").read_bytes() == first


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("gold.mrg", "missing.mrg"), 3, "no such file"),
        (("gold.mrg", "bad.mrg", "--sizes", "0"), 2, "positive numbers"),
        (("gold.mrg", "bad.mrg", "--alpha", "0.5,0.4"), 2, "sum to 1"),
        (("gold.mrg", "bad.mrg", "--figures", "x", "--baseline", "none"), 2, "unknown baseline"),
        (("gold.mrg", "bad.mrg", "--format", "program"), 2, "'program' is not one of"),
        (("gold.mrg", "bad.mrg", "good/bad.mrg"), 3, "no such file"),
    ],
)
def test_bad_requests_get_a_message_and_a_code(folder: Path, arguments: tuple[str, ...], code: int, message: str) -> None:
    done = run(*arguments, folder=folder)
    assert (done.returncode, message in done.stderr, done.stdout) == (code, True, "")


def test_published_scores_no_empty_file(folder: Path) -> None:
    done = run("gold.mrg", "short.mrg", "--matching", "published", folder=folder)
    assert done.returncode == 3
    assert "short.mrg: no trees in the test file" in done.stderr
