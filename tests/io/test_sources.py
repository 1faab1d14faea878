"""Where text comes from: suffixes, encodings, line ends, directories, globs, pipes, and everything that can go wrong there."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sys
import threading
from pathlib import Path

import pytest

import treegauge.io.sources as text_module
from treegauge.errors import EncodingError, InputError, UsageError
from treegauge.io import ReadOptions, Source, read, stream
from treegauge.io.sources import find_sources
from treegauge.trees import Treebank

TEXT = "(S (NP (NN Käse)))\n(S (VP (VB iß)))\n"
BANK = Treebank.parse(TEXT)


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".GZ", ""])
def test_compressed_by_suffix(tmp_path: Path, suffix: str) -> None:
    compress = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, "": bytes}[suffix.lower()]
    path = tmp_path / f"x.mrg{suffix}"
    path.write_bytes(compress(TEXT.encode()))
    assert read(path) == BANK
    assert Source(str(path)).suffix == ".mrg"


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
@pytest.mark.parametrize("damage", ["cut", "junk", "flipped", "empty"])
def test_damaged_compression_is_an_input_error(tmp_path: Path, suffix: str, damage: str) -> None:
    compress = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}[suffix]
    whole = compress(TEXT.encode() * 2000)
    middle = len(whole) // 2
    data = {
        "cut": whole[:middle],
        "junk": b"(S (A a))\n" * 20,
        "flipped": whole[:middle] + bytes(255 - byte for byte in whole[middle : middle + 9]) + whole[middle + 9 :],
        "empty": b"",
    }[damage]
    path = tmp_path / f"x.mrg{suffix}"
    path.write_bytes(data)
    if damage == "empty" and suffix == ".gz":
        assert len(read(path)) == 0  # what zcat makes of it, too
    else:
        with pytest.raises(InputError, match=r"x\.mrg"):
            read(path)


def test_compressed_without_the_suffix_says_so(tmp_path: Path) -> None:
    path = tmp_path / "x.mrg"
    path.write_bytes(gzip.compress(b"(A a)"))
    with pytest.raises(InputError, match=r"compressed \(\.gz\), not text"):
        read(path)


@pytest.mark.parametrize("piece", [b" ", b"()", b"()\n"])
def test_a_bomb_is_not_expanded(tmp_path: Path, piece: bytes) -> None:
    path = tmp_path / "x.mrg.gz"
    path.write_bytes(gzip.compress(piece * (2 << 20)))
    with pytest.raises(InputError, match="expands to more than"):
        read(path)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-16-le", "utf-32", "utf-8-sig", "cp1252", "UTF8"])
@pytest.mark.parametrize("chunk", [1, 3, 1 << 20])
def test_encodings(encoding: str, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_module, "CHUNK_BYTES", max(chunk, 3) if encoding == "utf-8-sig" else chunk)
    assert read(Source("x.mrg", TEXT.encode(encoding)), ReadOptions(encoding=encoding)) == BANK


def test_a_byte_order_mark_is_left_out_only_at_the_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_module, "CHUNK_BYTES", 4)
    text = "\ufeff(A a)\n(A \ufeffb)"
    for encoding in ("utf-8", "utf-16"):
        bank = read(Source("x.mrg", text.encode(encoding)), ReadOptions(encoding=encoding))
        assert bank.vocabulary == ("a", "\ufeffb")


@pytest.mark.parametrize(
    ("data", "encoding", "said"),
    [
        (TEXT.encode("utf-16"), "utf-8", "this is UTF-16, not UTF-8"),
        (TEXT.encode("utf-16-le"), "utf-8", "this is not text"),
        (TEXT.encode("utf-16-le")[:30], "utf-8", "zero byte"),
        (TEXT.encode(), "ascii", 'x.mrg:1: encoding="ascii" does not fit: byte 0xc3'),
        (b"(A a)\n(B \xff)", "utf-16", 'x.mrg:1: encoding="utf-16" does not fit'),
        (b"(A a)\n\n(B \x81)", "cp1252", 'x.mrg:3: encoding="cp1252" does not fit: byte 0x81'),
    ],
)
def test_wrong_encodings_say_so(data: bytes, encoding: str, said: str) -> None:
    with pytest.raises(EncodingError) as caught:
        read(Source("x.mrg", data), ReadOptions(encoding=encoding))
    assert said in str(caught.value)


@pytest.mark.parametrize("encoding", ["klingon", "rot13", "base64", "hex", "é\0"])
def test_unknown_encodings_are_usage_errors(encoding: str) -> None:
    with pytest.raises(UsageError, match="unknown encoding"):
        read(Source("x.mrg", b"(A a)"), ReadOptions(encoding=encoding))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("chunk", [1, 2, 9, 1 << 20])
def test_line_ends(end: str, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if end != "\r":
        monkeypatch.setattr(text_module, "CHUNK_BYTES", chunk)  # a Macintosh's is told by a whole chunk
    text = f"(A a){end}{end}(B{end} b){end}".encode()
    bank = read(Source("x.mrg", text))
    assert [bank.place(0), bank.place(1)] == ["x.mrg:1", "x.mrg:3"]
    lines = read(Source("x.mrg", f"(A a){end}{end}(B b){end}".encode()), ReadOptions(lines=True))
    assert [str(tree) for tree in lines] == ["(A a)", "()", "(B b)"]


def test_a_directory_is_one_treebank_in_name_order(tmp_path: Path) -> None:
    for name, text in {
        "b.mrg": "(B b)",
        "a/z.mrg": "(A z)",
        "a.export": "#FORMAT 3\n#BOS 1 0 0 0\nc C -- -- 0\n#EOS 1\n",
        "c.conll": "d D B-NP\n",
        "e.txt": "(E e)",
        "notes.pdf": "no treebank",
        ".hidden.mrg": "(X x)",
        ".git/x.mrg": "(X x)",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    trees = [str(tree) for tree in read(tmp_path)]
    assert trees == ["(VROOT (C c))", "(A z)", "(B b)", "(S (NP (D d)))", "(E e)"]
    assert [str(tree) for block in stream(tmp_path) for tree in block] == trees
    assert [str(tree) for tree in read(f"{tmp_path}/**/*.mrg")] == ["(A z)", "(B b)"]
    assert [str(tree) for tree in read(f"{tmp_path}/[be].*")] == ["(B b)", "(E e)"]


def test_nothing_to_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no treebank file in this directory"):
        read(tmp_path)
    with pytest.raises(InputError, match="nothing matches this pattern"):
        read(tmp_path / "*.mrg")
    (tmp_path / "train.mrg").write_text("(A a)")
    with pytest.raises(InputError, match=r"no such file\n.*Did you mean .*train\.mrg"):
        read(tmp_path / "trian.mrg")
    with pytest.raises(InputError, match="no file has a name with a zero byte"):
        read("a\0b")


def test_a_name_that_looks_like_a_pattern_is_the_file(tmp_path: Path) -> None:
    path = tmp_path / "x[1].mrg"
    path.write_text("(A a)")
    assert len(read(path)) == 1


def test_unreadable_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.mrg"
    path.write_text("(A a)")

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)  # to the superuser, who may run these tests, a real file would open
    with pytest.raises(InputError, match="permission denied"):
        read(path)


def test_a_read_error_is_an_input_error() -> None:
    if not os.path.exists("/proc/self/mem"):
        pytest.skip("needs a file that opens but cannot be read")
    with pytest.raises(InputError, match="cannot be read"):
        read("/proc/self/mem")


@pytest.mark.parametrize("name", ["pipe.mrg", "pipe.mrg.gz"])
@pytest.mark.posix
def test_a_named_pipe(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    os.mkfifo(path)
    data = TEXT.encode() if name.endswith(".mrg") else gzip.compress(TEXT.encode())
    writer = threading.Thread(target=path.write_bytes, args=(data,))
    writer.start()
    assert read(path) == BANK
    writer.join()


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    assert read("-") == BANK
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="no standard input"):
        read("-")


def test_sources_of_a_path() -> None:
    assert find_sources("-") == [Source("-")]
    assert find_sources("no-such-file") == [Source("no-such-file")]


@pytest.mark.parametrize("comment", ["\ud800", "#\udcff"])
def test_a_comment_that_is_not_text_is_an_error(comment: str) -> None:
    with pytest.raises(UsageError, match="is not text"):
        ReadOptions(comment=comment)
