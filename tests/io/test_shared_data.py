"""The licensed treebanks, where they are at hand: read whole, and round-tripped through every format that holds them."""

from __future__ import annotations

from pathlib import Path

import pytest

from treegauge.io import ReadOptions, Source, read
from treegauge.io.formats import FORMATS
from treegauge.io.validation import examine
from treegauge.trees import Treebank
from treegauge.trees.bracketed import parse_all

if not (Path(__file__).resolve().parents[3] / "shared" / "data").is_dir():
    pytest.skip("no folder ../shared with the licensed treebanks beside the project", allow_module_level=True)

FILES = {
    "gum/train.mrg": (10_224, 177_410),
    "gum/dev.mrg": (1_575, 28_119),
    "wsj_sample/train.mrg": (3_253, 83_830),
    "wsj_sample/dev.mrg": (316, 8_222),
    "conll2000/train.txt": (8_936, 211_727),
}


def written(bank: Treebank, name: str) -> bytes:
    writer = FORMATS[name].writer
    assert writer is not None
    return b"".join(writer([bank]))


@pytest.mark.parametrize("name", FILES)
def test_files_are_read_whole(shared: Path, name: str) -> None:
    report = examine(Source(str(shared / "data" / name)))
    assert (report.n_trees, report.n_words) == FILES[name]
    assert (report.n_errors, report.n_remarks) == (0, 0)


def test_directories_are_one_treebank(shared: Path) -> None:
    assert len(read(shared / "data" / "gum")) == 11_799
    assert len(read(shared / "data" / "wsj_sample")) == 3_569


@pytest.mark.parametrize("name", ["gum/dev.mrg", "wsj_sample/dev.mrg"])
def test_columns_are_those_of_the_slow_reader(shared: Path, name: str) -> None:
    path = shared / "data" / name
    bank = read(path)
    slow = Treebank.from_trees(parse_all(path.read_text("utf-8")))
    assert bank == slow
    assert (bank.vocabulary, sorted(bank.labels)) == (slow.vocabulary, sorted(slow.labels))


def test_bytes_come_back_where_the_layout_is_ours(shared: Path) -> None:
    for name in ("gum/train.mrg", "gum/dev.mrg"):
        assert written(read(shared / "data" / name), "bracketed") == (shared / "data" / name).read_bytes()
    columns = shared / "data" / "conll2000" / "train.txt"
    assert written(read(columns), "conll2000") == columns.read_bytes()


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("to", ["bracketed", "pretty", "export", "export4"])
def test_trees_come_back_through_every_format(shared: Path, name: str, to: str) -> None:
    bank = read(shared / "data" / name)
    bank = bank if to == "bracketed" else bank[:150]
    reader = "bracketed" if to in ("bracketed", "pretty") else "export"
    assert read(Source("x", written(bank, to)), ReadOptions(format=reader)) == bank


def test_parser_output_is_read_one_tree_a_line(shared: Path) -> None:
    for path in sorted((shared / "data" / "outputs").glob("*.mrg")):
        assert len(read(path, ReadOptions(lines=True))) == 1_575
