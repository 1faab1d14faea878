"""Whole treebanks, our own and, where they are at hand, the licensed ones: read whole, and round-tripped through every format."""

from __future__ import annotations

from pathlib import Path

import pytest

from treegauge.data import KINDS, treebank_path
from treegauge.io import ReadOptions, Source, read
from treegauge.io.formats import FORMATS
from treegauge.io.validation import examine
from treegauge.trees import Treebank
from treegauge.trees.notation import parse_all

OWN = {"travel": (210, 2_479), "news": (163, 3_376), "story": (148, 2_159)}
FILES = {
    "gum/train.mrg": (10_224, 177_410),
    "gum/dev.mrg": (1_575, 28_119),
    "wsj_sample/train.mrg": (3_253, 83_830),
    "wsj_sample/dev.mrg": (316, 8_222),
    "conll2000/train.txt": (8_936, 211_727),
}
FORMATS_BACK = ("bracketed", "pretty", "export", "export4")


def written(bank: Treebank, name: str) -> bytes:
    writer = FORMATS[name].writer
    assert writer is not None
    return b"".join(writer([bank]))


def check_read_whole(path: Path, n_trees: int, n_words: int) -> None:
    report = examine(Source(str(path)))
    assert (report.n_trees, report.n_words) == (n_trees, n_words)
    assert (report.n_errors, report.n_remarks) == (0, 0)


def check_columns(path: Path) -> None:
    """The columns are those of the slow reader."""
    bank = read(path)
    slow = Treebank.from_trees(parse_all(path.read_text("utf-8")))
    assert bank == slow
    assert (bank.vocabulary, sorted(bank.labels)) == (slow.vocabulary, sorted(slow.labels))


def check_formats(bank: Treebank) -> None:
    """Trees come back through every format that holds them."""
    for to in FORMATS_BACK:
        some = bank if to == "bracketed" else bank[:150]
        reader = "bracketed" if to in ("bracketed", "pretty") else "export"
        assert read(Source("x", written(some, to)), ReadOptions(format=reader)) == some, to


@pytest.mark.parametrize("kind", KINDS)
def test_our_own_files_are_read_whole_and_come_back(kind: str) -> None:
    path = treebank_path(kind)
    check_read_whole(path, *OWN[kind])
    check_columns(path)
    check_formats(read(path))
    assert read(Source("x", written(read(path), "bracketed"))) == read(path)


def test_our_own_files_in_a_directory_are_one_treebank(tmp_path: Path) -> None:
    for kind in KINDS:
        (tmp_path / f"{kind}.mrg").write_bytes(treebank_path(kind).read_bytes())
    assert len(read(tmp_path)) == sum(n_trees for n_trees, _ in OWN.values())


@pytest.mark.slow
def test_the_licensed_files_too(shared: Path) -> None:
    folder = shared / "data"
    for name, (n_trees, n_words) in FILES.items():
        check_read_whole(folder / name, n_trees, n_words)
        check_formats(read(folder / name))
    for name in ("gum/dev.mrg", "wsj_sample/dev.mrg"):
        check_columns(folder / name)
    assert len(read(folder / "gum")) == 11_799
    assert len(read(folder / "wsj_sample")) == 3_569


def test_licensed_bytes_come_back_where_the_layout_is_ours(shared: Path) -> None:
    for name in ("gum/train.mrg", "gum/dev.mrg"):
        assert written(read(shared / "data" / name), "bracketed") == (shared / "data" / name).read_bytes()
    columns = shared / "data" / "conll2000" / "train.txt"
    assert written(read(columns), "conll2000") == columns.read_bytes()
    for path in sorted((shared / "data" / "outputs").glob("*.mrg")):
        assert len(read(path, ReadOptions(lines=True))) == 1_575
