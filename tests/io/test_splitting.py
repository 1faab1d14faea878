"""Files cut into pieces: together they are the file, tree for tree and line for line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treegauge.errors import BracketError
from treegauge.io import ReadOptions, read, stream
from treegauge.io import splitting as cutting
from treegauge.io.splitting import SplitFiles, cut_files
from treegauge.trees.treebank import Treebank

TREES = ("(S (A a) (B b))", "(S\n  (A a)\n(B b))", "(NP (NN é))", "()", "((S (X -LRB-)))", "(A a)\r")
BETWEEN = ("\n", " ", "\n\n", "", "\r\n", " \n ")


def read_again(side: SplitFiles, options: ReadOptions) -> Treebank:
    banks = [
        Treebank.concatenate([b for s in piece.sources for b in stream(s, options)] or [Treebank.parse("")])
        for piece in side.pieces
    ]
    assert [len(bank) for bank in banks] == [piece.trees for piece in side.pieces]
    assert [piece.first for piece in side.pieces] == [sum(map(len, banks[:k])) for k in range(len(banks))]
    return Treebank.concatenate(banks)


@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from(TREES), st.sampled_from(BETWEEN)), min_size=1, max_size=12), min_size=1, max_size=3
    ),
    st.integers(1, 5),
    st.sampled_from([7, 64, 1 << 22]),
)
def test_pieces_are_the_whole(
    tmp_path_factory: pytest.TempPathFactory, files: list[list[tuple[str, str]]], size: int, chunk: int
) -> None:
    folder = tmp_path_factory.mktemp("cut")
    paths = [str(folder / f"{k}.mrg") for k in range(len(files))]
    for path, content in zip(paths, files, strict=True):
        # A first line end says that a lone \r is not a line end.
        Path(path).write_bytes(("\n" + "".join(tree + between for tree, between in content)).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cutting, "_CHUNK_BYTES", chunk)
        side = cut_files(paths, ReadOptions(), size)
    whole = Treebank.concatenate([read(path) for path in paths])
    assert side.trees == len(whole)
    assert all(piece.trees == size for piece in side.pieces[:-1])
    again = read_again(side, ReadOptions())
    assert again == whole
    assert [again.place(i) for i in range(len(whole))] == [whole.place(i) for i in range(len(whole))]


@given(st.lists(st.sampled_from(["(A a)", "", "(A a) (B b)", " "]), min_size=1, max_size=12), st.integers(1, 4), st.booleans())
def test_lines_are_cut_as_lines(tmp_path_factory: pytest.TempPathFactory, lines: list[str], size: int, ends: bool) -> None:
    path = tmp_path_factory.mktemp("cut") / "x.mrg"
    path.write_text("\n".join(lines) + "\n" * ends)
    options = ReadOptions(lines=True)
    side = cut_files([str(path)], options, size)
    whole = read(path, options)
    assert side.trees == len(whole)
    if len(whole):
        assert read_again(side, options) == whole


@pytest.mark.parametrize(
    ("name", "data", "options"),
    [
        ("x.mrg", b"(A a))\n(B b)", ReadOptions()),
        ("x.mrg", b"(A a)\n(B b", ReadOptions()),
        ("x.mrg.gz", gzip.compress(b"(A a)\n(B b)"), ReadOptions()),
        ("x.mrg", "(A ä)\n(B b)".encode("utf-16"), ReadOptions(encoding="utf-16")),
        ("x.mrg", b"# ((\n(A a)\n(B b)", ReadOptions(comment="#")),
        ("x.mrg", b"(A a)\r(B b)\r", ReadOptions()),
        ("x.export", b"#BOS 1\na\tA\t--\t--\t0\n#EOS 1\n", ReadOptions()),
    ],
    ids=["closed too often", "not closed", "compressed", "recoded", "comments", "Macintosh", "export"],
)
def test_what_cannot_be_cut_is_one_piece(tmp_path: Path, name: str, data: bytes, options: ReadOptions) -> None:
    (tmp_path / name).write_bytes(data)
    side = cut_files([str(tmp_path / name)], options, 1)
    assert side.trees == -1
    assert [[source.part for source in piece.sources] for piece in side.pieces] == [[None]]


def test_an_error_in_a_piece_has_its_place_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "x.mrg"
    path.write_text("(A a)\n(B b) (C c) word\n(D d)\n")
    (piece,) = [piece for piece in cut_files([str(path)], ReadOptions(), 1).pieces if piece.first == 2]
    with pytest.raises(BracketError, match=r"x\.mrg:2:13"):
        list(stream(piece.sources[0], ReadOptions()))


def test_changed_bytes_change_the_checksum(tmp_path: Path) -> None:
    path = tmp_path / "x.mrg"
    path.write_text("(A a)\n")
    before = cut_files([str(path)], ReadOptions(), 1)
    path.write_text("(A b)\n")
    assert cut_files([str(path)], ReadOptions(), 1).checksum != before.checksum
