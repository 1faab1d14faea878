"""Two real outputs of the Berkeley parser on GUM: every sentence scored, and EVALB's own numbers beside."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import treegauge
from treegauge.reports.scores import evalb_layout
from treegauge.scoring.result import Result

if not (Path(__file__).resolve().parents[3] / "shared" / "data").is_dir():
    pytest.skip("no folder ../shared with the licensed treebanks beside the project", allow_module_level=True)

SYSTEMS = {"berkeley-maxrule": 82.75, "berkeley-viterbi": 80.55}


@pytest.fixture(scope="module", params=SYSTEMS)
def system(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def files(shared: Path, system: str) -> tuple[Path, Path, Path]:
    start = shared / "data" / "outputs"
    return start / "gum_dev.gold.mrg", start / f"gum_dev.{system}.mrg", start / f"gum_dev.{system}.evalb.txt"


@pytest.fixture(scope="module")
def result(files: tuple[Path, Path, Path]) -> Result:
    return treegauge.score(*files[:2])


def evalb_rows(printed: str) -> dict[int, list[int]]:
    """For each sentence that EVALB scored its length, matched, gold, test, crossing, words and tags."""
    rows = (line.split() for line in printed.splitlines() if re.match(r" *\d+ +\d+ +0 ", line))
    return {int(row[0]) - 1: [int(row[1]), *map(int, row[5:11])] for row in rows}


def test_every_sentence_is_scored_and_evalb_would_drop_18(result: Result, system: str) -> None:
    assert (result.counts["sentences"], result.skipped, result.notes) == (1575, 0, ())
    assert result.evalb is not None
    assert (result.evalb.dropped, result.evalb.sentences) == (18, 1575)
    assert f"{100 * result.evalb.rates['f1']:.2f}" == f"{SYSTEMS[system]:.2f}"
    assert "would drop 18 of these 1575 sentences" in str(result)


def test_both_agree_to_the_last_digit_on_the_sentences_both_score(result: Result, files: tuple[Path, Path, Path]) -> None:
    columns = [result.columns.index(name) for name in ("matched", "gold", "test", "crossing", "words", "tags")]
    theirs = evalb_rows(files[2].read_text())
    assert len(theirs) == 1557
    for sentence, (length, *counts) in theirs.items():
        assert result.rows[sentence, columns].astype(int).tolist() == counts
        assert result.scored_sentences.length[sentence] == length


def test_evalbs_decisions_in_evalbs_layout_are_evalbs_bytes(shared: Path, files: tuple[Path, Path, Path]) -> None:
    preset = shared / "data" / "outputs" / "collins.prm"
    result = treegauge.score(*files[:2], preset=preset, on_mismatch="evalb")
    assert result.skipped == 18
    assert evalb_layout(result) == files[2].read_text()


def test_the_root_moves_the_number_by_a_point(files: tuple[Path, Path, Path], system: str) -> None:
    """Counting the root or not: 82.75 or 83.84."""
    gold, test = (path.read_text().replace("(TOP ", "(ROOT ") for path in files[:2])
    result = treegauge.score(gold, test)
    assert result.evalb is not None
    assert result.rates["f1"] == treegauge.score(*files[:2]).rates["f1"]
    assert f"{100 * result.evalb.rates['f1']:.2f}" == {"berkeley-maxrule": "83.84", "berkeley-viterbi": "81.77"}[system]


def test_a_stream_gives_the_same(result: Result, files: tuple[Path, Path, Path]) -> None:
    streamed = treegauge.score(*files[:2], stream=True)
    assert streamed.to_dict() == result.to_dict()


def test_shifted_files_are_paired_by_text(files: tuple[Path, Path, Path], tmp_path: Path, result: Result) -> None:
    lines = files[1].read_text().splitlines(keepends=True)
    shifted = tmp_path / "shifted.mrg"
    shifted.write_text("".join([*lines[:100], *lines[103:900], lines[899], *lines[900:]]))
    found = treegauge.score(files[0], shifted, pair="text")
    assert [(note.kind, note.sentence) for note in found.notes] == [
        ("missing", 100),
        ("missing", 101),
        ("missing", 102),
        ("extra", -1),
    ]
    assert found.counts["matched"] == result.counts["matched"] - int(result.rows[100:103, result.columns.index("matched")].sum())
