"""Outputs of parsers: every sentence scored, and EVALB's own numbers beside.

Two parsers' outputs on our own treebank, with the tag of a comma wrong here and there, are scored against our EVALB (whose bytes
are tested in ``tests/metrics/evalb``); two outputs of the Berkeley parser on GUM, where they are at hand, against what EVALB itself
printed.
"""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import NamedTuple

import pytest

import treegauge
from treegauge.metrics.evalb import evalb
from treegauge.presets import preset_text
from treegauge.reports.scores import evalb_layout
from treegauge.scoring.result import Result

GOLDEN = Path(__file__).parent.parent / "golden"
BERKELEY = {"berkeley-maxrule": (82.75, "83.84"), "berkeley-viterbi": (80.55, "81.77")}
"""EVALB's F1 of the two outputs, and what it becomes where the root counts."""


class Output(NamedTuple):
    """A gold file, a parser's file, EVALB's parameter file, and what EVALB printed."""

    gold: Path
    test: Path
    parameters: Path
    printed: str

    @property
    def dropped(self) -> list[int]:
        """The sentences that EVALB dropped, from 0."""
        lines = (line.split() for line in self.printed.splitlines() if re.match(r" *\d+ +\d+ +[12] ", line))
        return [int(line[0]) - 1 for line in lines]


@pytest.fixture(scope="module", params=["A", "B"])
def own(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Output:
    folder = tmp_path_factory.mktemp("own")
    trees = (GOLDEN / f"{request.param}.mrg").read_text().splitlines()
    trees = [tree.replace("(, ,)", "(NN ,)") if number % 3 == 0 else tree for number, tree in enumerate(trees)]
    (folder / "test.mrg").write_text("\n".join(trees) + "\n")
    (folder / "collins.prm").write_text(preset_text("collins"))
    printed = io.BytesIO()
    evalb(["-p", str(folder / "collins.prm"), str(GOLDEN / "gold.mrg"), str(folder / "test.mrg")], printed, io.BytesIO())
    return Output(GOLDEN / "gold.mrg", folder / "test.mrg", folder / "collins.prm", printed.getvalue().decode())


@pytest.fixture(scope="module")
def result(own: Output) -> Result:
    return treegauge.score(own.gold, own.test)


def check_sentences(result: Result, output: Output) -> None:
    """Every sentence is scored, and the sentences that EVALB would drop are named."""
    sentences = len(output.gold.read_text().splitlines())
    assert (result.counts["sentences"], result.skipped) == (sentences, 0)
    assert result.evalb is not None
    assert (result.evalb.dropped, result.evalb.sentences) == (len(output.dropped), sentences)
    assert f"would drop {len(output.dropped)} of these {sentences} sentences" in str(result)


def check_rows(result: Result, output: Output) -> None:
    """Both agree to the last digit on the sentences that both score."""
    columns = [result.columns.index(name) for name in ("matched", "gold", "test", "crossing", "words", "tags")]
    rows = (line.split() for line in output.printed.splitlines() if re.match(r" *\d+ +\d+ +0 ", line))
    theirs = {int(row[0]) - 1: [int(row[1]), *map(int, row[5:11])] for row in rows}
    assert len(theirs) == result.counts["sentences"] - len(output.dropped)
    for sentence, (length, *counts) in theirs.items():
        assert result.rows[sentence, columns].astype(int).tolist() == counts
        assert result.scored_sentences.length[sentence] == length


def check_layout(output: Output) -> None:
    """EVALB's decisions in EVALB's layout are EVALB's bytes."""
    result = treegauge.score(output.gold, output.test, preset=output.parameters, on_mismatch="evalb")
    assert result.skipped == len(output.dropped)
    assert evalb_layout(result) == output.printed


def check_pairing(result: Result, output: Output, path: Path, first: int) -> None:
    """A file that lacks three sentences and has another twice is paired by text."""
    lines, twice = output.test.read_text().splitlines(keepends=True), first + 20
    path.write_text("".join([*lines[:first], *lines[first + 3 : twice], lines[twice - 1], *lines[twice:]]))
    found = treegauge.score(output.gold, path, pair="text")
    before = [(note.kind, note.sentence) for note in result.notes]
    missing = [("missing", sentence) for sentence in range(first, first + 3)]
    assert [(note.kind, note.sentence) for note in found.notes] == [*before, *missing, ("extra", -1)]
    lost = int(result.rows[first : first + 3, result.columns.index("matched")].sum())
    assert found.counts["matched"] == result.counts["matched"] - lost


def test_every_sentence_is_scored_and_those_that_evalb_would_drop_are_named(result: Result, own: Output) -> None:
    assert own.dropped
    check_sentences(result, own)


def test_both_agree_to_the_last_digit_on_the_sentences_both_score(result: Result, own: Output) -> None:
    check_rows(result, own)


def test_evalbs_decisions_in_evalbs_layout_are_evalbs_bytes(own: Output) -> None:
    check_layout(own)


def test_the_root_moves_evalbs_number_and_not_ours(result: Result, own: Output) -> None:
    gold, test = (re.sub(r"(?m)^(.*)$", r"(ROOT \1)", path.read_text().strip()) for path in (own.gold, own.test))
    rooted = treegauge.score(gold, test)
    assert rooted.evalb is not None
    assert result.evalb is not None
    assert rooted.rates["f1"] == result.rates["f1"]
    assert rooted.evalb.rates["f1"] > result.evalb.rates["f1"]


def test_a_stream_gives_the_same(result: Result, own: Output) -> None:
    assert treegauge.score(own.gold, own.test, stream=True).to_dict() == result.to_dict()


def test_shifted_files_are_paired_by_text(result: Result, own: Output, tmp_path: Path) -> None:
    check_pairing(result, own, tmp_path / "shifted.mrg", 10)


@pytest.mark.parametrize("system", BERKELEY)
def test_the_berkeley_parser_on_gum_too(shared: Path, tmp_path: Path, system: str) -> None:
    folder = shared / "data" / "outputs"
    printed = (folder / f"gum_dev.{system}.evalb.txt").read_text()
    output = Output(folder / "gum_dev.gold.mrg", folder / f"gum_dev.{system}.mrg", folder / "collins.prm", printed)
    result = treegauge.score(output.gold, output.test)
    check_sentences(result, output)
    assert len(output.dropped) == 18
    assert result.evalb is not None
    f1, with_root = BERKELEY[system]
    assert f"{100 * result.evalb.rates['f1']:.2f}" == f"{f1:.2f}"
    check_rows(result, output)
    check_layout(output)
    rooted = treegauge.score(*(path.read_text().replace("(TOP ", "(ROOT ") for path in output[:2]))
    assert rooted.evalb is not None
    assert rooted.rates["f1"] == result.rates["f1"]
    assert f"{100 * rooted.evalb.rates['f1']:.2f}" == with_root
    assert treegauge.score(output.gold, output.test, stream=True).to_dict() == result.to_dict()
    check_pairing(result, output, tmp_path / "shifted.mrg", 100)
