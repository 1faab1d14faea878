"""The authors' program, to the byte, wherever it did not crash."""

from __future__ import annotations

from pathlib import Path

import pytest

from treegauge.metrics.freval_published import published_printout, published_sentences

CASES = Path(__file__).parents[2].parent / "shared" / "freval_cases"
FOLDERS = sorted(path.parent for path in CASES.glob("*/rc") if path.read_text().strip() == "0")


def printout(gold: Path, test: Path) -> str:
    sentences = list(published_sentences(gold.read_bytes().splitlines(True), test.read_bytes().splitlines(True)))
    return "".join(f"{line}\n" for line in published_printout(sentences))


@pytest.mark.skipif(not FOLDERS, reason="../shared/freval_cases is not here")
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_prints_what_the_program_printed(folder: Path) -> None:
    assert printout(folder / "gold", folder / "test") == (folder / "expected.txt").read_text()
