"""Writing: what is written reads back as the very same trees, and what would not is refused."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from treegauge.errors import FileNote, UnknownName, UsageError, WriteError
from treegauge.io import WRITABLE, ReadOptions, Source, read, write, write_blocks
from treegauge.io.formats import FORMATS
from treegauge.io.label_parts import join_label, split_label
from treegauge.io.writing import check_writable
from treegauge.parsing.output import RecordFile
from treegauge.testing.strategies import labels, treebanks, trees
from treegauge.trees import Tree, Treebank

READER = {"pretty": "bracketed", "export4": "export"}
WIDE = treebanks(trees(preterminals=False, empty=True))
TAGGED = treebanks(trees())


def text_of(bank: Treebank, name: str) -> bytes:
    writer = FORMATS[name].writer
    assert writer is not None
    return b"".join(writer([bank]))


def back(text: bytes, name: str) -> Treebank:
    return read(Source("x", text), ReadOptions(format=READER.get(name, name), features=True))


@given(WIDE, st.sampled_from(["bracketed", "pretty"]))
def test_bracketed_text_reads_back_as_the_same_trees(bank: Treebank, name: str) -> None:
    found = back(text_of(bank, name), name)
    assert list(found) == list(bank)
    assert found == bank


@given(WIDE)
def test_one_line_from_columns_is_one_line_from_trees(bank: Treebank) -> None:
    assert text_of(bank, "bracketed").decode() == "".join(f"{tree}\n" for tree in bank)
    assert text_of(bank[1:], "bracketed").decode() == "".join(f"{tree}\n" for tree in bank[1:])


@given(TAGGED, st.sampled_from(["export", "export4"]))
def test_export_reads_back_as_the_same_trees(bank: Treebank, name: str) -> None:
    try:
        text = text_of(bank, name)
    except WriteError:
        assert any(_is_special(part) for tree in bank for node in tree.nodes() for part in (node.label, *map(str, node.children)))
    else:
        assert list(back(text, name)) == list(bank)


def _is_special(name: str) -> bool:
    r"""What columns cannot hold: ``--`` for a label, a word that looks like a keyword or a node, brackets escaped as ``\(``."""
    return name == "--" or name.startswith(("#", "%%")) or "\\(" in name or "\\)" in name


@given(labels(), st.booleans())
def test_labels_come_apart_and_together(label: str, has_lemma: bool) -> None:
    if not _is_special(label):
        assert join_label(split_label(label, has_lemma), ReadOptions(features=True)) == label


@pytest.mark.parametrize(
    "label",
    ["", "NP", "NP-SB", "NP-", "NP--", "NP---", "-NONE-", "-LRB-", "$(", "NP-SBJ-1=2", "NN##lem=Haus##", "NN-SB##lem=a|b=c##",
     "NN##morph=Nom.Sg##", "NN##--##", "NN####", "NN##lem=--##", "NN##lem=|x=y##", "##a=b##", "NN##x##", "A-B##c", "A##b-c=d##"],
)  # fmt: skip
def test_labels_with_functions_and_features_come_back(label: str) -> None:
    for has_lemma in (False, True):
        assert join_label(split_label(label, has_lemma), ReadOptions(features=True)) == label


def test_the_layout_of_export() -> None:
    bank = Treebank.parse("(VROOT (S (NP-SB (NN##lem=Haus|case=nom## Haus)) (VVFIN steht)) ($. .)) (S (A a)) () (A a)")
    assert text_of(bank, "export").decode() == (
        "#FORMAT 3\n"
        "#BOS 1 0 0 0\nHaus\tNN\tlem=Haus|case=nom\t--\t500\nsteht\tVVFIN\t--\t--\t501\n.\t$.\t--\t--\t0\n"
        "#500\tNP\t--\tSB\t501\n#501\tS\t--\t--\t0\n#EOS 1\n"
        "#BOS 2 0 0 0 %% no VROOT\na\tA\t--\t--\t500\n#500\tS\t--\t--\t0\n#EOS 2\n"
        "#BOS 3 0 0 0\n#EOS 3\n"
        "#BOS 4 0 0 0 %% no VROOT\na\tA\t--\t--\t0\n#EOS 4\n"
    )
    assert "Haus\tHaus\tNN\tcase=nom\t--\t500" in text_of(bank, "export4").decode()


REFUSED = {
    "bracketed": ["a b", "", "a\tb", "-LRB-", "x\n", "\0", "-LRB(", "\ud800"],
    "pretty": ["a b", "", "-RRB-"],
    "export": ["a b", "", "-LRB-", "#500", "#EOS", "%%", "%%x", "\ud800"],
    "conll2000": ["a b", "", "\ud800"],
}


@pytest.mark.parametrize(("name", "word"), [(name, word) for name, words in REFUSED.items() for word in words])
def test_words_that_would_not_come_back_are_refused_by_tree(name: str, word: str) -> None:
    bank = Treebank.from_trees([Tree("S", [Tree("A", ["a"])]), Tree("S", [Tree("A", ["a"]), Tree("B", [word])])])
    with pytest.raises(WriteError, match=r"^tree 2: "):
        text_of(bank, name)


@pytest.mark.parametrize("label", ["a b", "(", ")", "X\n", "\0"])
def test_labels_that_would_not_come_back_are_refused(label: str) -> None:
    bank = Treebank.from_trees([Tree("S", [Tree(label, ["a"])])])
    for name in WRITABLE:
        if name in ("tigerxml", "alpino") and label in ("a b", "X\n"):  # attributes may have blanks
            assert back(text_of(bank, name), name) == bank
            continue
        with pytest.raises(WriteError, match=r"^tree 1: "):
            text_of(bank, name)


@pytest.mark.parametrize("name", ["bracketed", "pretty"])
def test_a_hidden_label_is_refused(name: str) -> None:
    bank = Treebank.from_trees([Tree("", ["a"]), Tree("", [Tree("X"), "a"]), Tree("S", [Tree("", ["a", "b"])])])
    assert back(text_of(bank[:2], name), name) == bank[:2]
    with pytest.raises(WriteError, match=r"^tree 3: a node without a label that begins with the word 'a'"):
        text_of(bank, name)


@pytest.mark.parametrize("tree", [Tree("S"), Tree("S", [Tree("X"), Tree("A", ["a"])]), Tree("S", ["a", "b"]), Tree("", [Tree("")])])
def test_shapes_that_export_cannot_hold_are_refused(tree: Tree) -> None:
    with pytest.raises(WriteError, match=r"^tree 1: "):
        text_of(Treebank.from_trees([tree]), "export")


def test_the_refusal_names_the_place(tmp_path: Path) -> None:
    bank = read(Source("x.xml", b"<corpus><s id='s7'>\n<t id='a' word='New York' pos='NE'/></s></corpus>"))
    with pytest.raises(WriteError, match=r"^x\.xml:1 \(sentence s7\): the word 'New York' cannot be written.*\n.*split the word"):
        write(bank, tmp_path / "x.mrg")
    assert not list(tmp_path.iterdir())


def test_deep_trees() -> None:
    deep = read(Source("x.mrg", b"(X " * 100_000 + b"w" + b")" * 100_000))
    assert back(text_of(deep, "bracketed"), "bracketed") == deep
    assert back(text_of(deep, "pretty"), "pretty") == deep
    assert back(text_of(deep, "export"), "export") == deep


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
def test_compressed_by_suffix_and_always_the_same(tmp_path: Path, suffix: str) -> None:
    bank = Treebank.parse("(S (A a)) (S (B ü))")
    decompress = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}[suffix]
    path, other = tmp_path / f"x.mrg{suffix}", tmp_path / f"y.mrg{suffix}"
    write(bank, path)
    write(bank, other)
    assert path.read_bytes() == other.read_bytes()
    assert decompress(path.read_bytes()).decode() == "(S (A a))\n(S (B ü))\n"
    assert read(path) == bank


@pytest.mark.parametrize(
    ("name", "first"),
    [("x.export", "#FORMAT 3"), ("x.mrg", "(S (A a))"), ("x.conll", "a A O"), ("x", "(S (A a))"), ("x.xml", "<?xml")],
)
def test_the_format_by_suffix(tmp_path: Path, name: str, first: str) -> None:
    write("(S (A a))", tmp_path / name)
    assert (tmp_path / name).read_text().startswith(first)


def test_an_unknown_format_lists_those_that_can_be_written(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match=r"'exprot'; did you mean 'export'.*conll2000"):
        write("(A a)", tmp_path / "x", to="exprot")


def failing(bank: Treebank) -> Iterator[Treebank]:
    yield bank
    raise KeyboardInterrupt


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_file_appears_whole_or_not_at_all(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x.mrg{suffix}"
    bank = Treebank.parse("(S (A a))")
    with pytest.raises(KeyboardInterrupt):
        write_blocks(failing(bank), path)
    assert not list(tmp_path.iterdir())
    write(bank, path)
    with pytest.raises(KeyboardInterrupt):
        write_blocks(failing(Treebank.parse("(S (B b))")), path)
    assert list(tmp_path.iterdir()) == [path]
    assert read(path) == bank


def test_what_a_killed_run_has_left_is_named(tmp_path: Path) -> None:
    (left := tmp_path / ".0a1b2c3d.part.out.mrg").write_bytes(b"(S")
    (tmp_path / ".0a1b2c3d.part.other.mrg").write_bytes(b"(S")
    with pytest.warns(FileNote, match="left by a run that was killed") as notes:
        write([Tree.parse("(S (N a))")], tmp_path / "out.mrg")
    assert [note.message.path for note in notes if isinstance(note.message, FileNote)] == [str(left)]
    assert left.exists()


@pytest.mark.posix
def test_the_file_written_may_be_the_one_read(tmp_path: Path) -> None:
    path = tmp_path / "x.mrg"
    path.write_text("(A a)\n(B b)")
    path.chmod(0o640)
    link = tmp_path / "link.mrg"
    link.symlink_to(path)
    write(read(link), link, to="pretty")
    assert path.read_text() == "(A a)\n(B b)\n"
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_devices_and_places_that_cannot_be_written(tmp_path: Path) -> None:
    write("(A a)", os.devnull)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    with pytest.raises(WriteError, match=r"x\.mrg: cannot be written: No such file or directory"):
        write("(A a)", tmp_path / "no" / "x.mrg")
    with pytest.raises(WriteError, match="cannot be written: Is a directory"):
        write("(A a)", tmp_path)


@pytest.mark.posix
@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="pipes have no names on this system")
def test_a_pipe_whose_name_is_no_file_is_written() -> None:
    """As ``-o >(gzip > x.gz)`` and ``-o /dev/stdout`` in a shell."""
    reading, writing = os.pipe()
    path = f"/dev/fd/{writing}"
    write("(A a)", path)
    check_writable(path)
    with RecordFile(path, "bracketed", False, resume=False, plan={"seed": 1}).open() as record:
        record("(B b)\n")
    os.close(writing)
    with open(reading, "rb") as stream:
        assert stream.read() == b"(A a)\n(B b)\n"


def test_standard_output(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    write("(A ü)", "-")
    assert stream.buffer.getvalue() == "(A ü)\n".encode()  # pyright: ignore[reportAttributeAccessIssue]
    notebook = io.StringIO()
    monkeypatch.setattr(sys, "stdout", notebook)
    write("(A ü)", "-")
    assert notebook.getvalue() == "(A ü)\n"


def test_a_suffix_that_no_format_has_is_noted_and_arguments_in_the_wrong_order_are_named(tmp_path: Path) -> None:
    tree = Tree.parse("(S (V go))")
    with pytest.warns(FileNote, match="no format has the suffix .foo: brackets are written, a tree per line"):
        write(tree, tmp_path / "x.foo")
    assert (tmp_path / "x.foo").read_text() == "(S (V go))\n"
    for name in ("x", "x.txt", "x.mrg.gz", "x.23", "x.trees"):  # warnings are errors here
        write(tree, tmp_path / name)
    with pytest.raises(UsageError, match=r"no format for trees has the suffix \.tex"):
        write(tree, tmp_path / "x.tex")
    with pytest.raises(UsageError, match=r"path must be the name of a file, not list: write\(trees, path\)"):
        write("x.mrg", [tree])  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["export", "export4", "tigerxml", "alpino"])
def test_sentences_keep_their_numbers_in_formats_that_have_them(name: str) -> None:
    rows = "".join(f"#BOS {number} 0 0 0\nEs\tPPER\t--\tSB\t0\n#EOS {number}\n" for number in ("228", "s230", "7", "x", "400"))
    bank = read(Source("x.export", rows.encode()))
    for trees_of in (bank, bank.take([0, 1, 2, 3, 4])):
        again = read(Source("x", text_of(trees_of, name)), ReadOptions(format=READER.get(name, name)))
        ids = [re.search(r"sentence s?(\d+)\)$", again.place(index)) for index in range(5)]
        assert [found and found[1] for found in ids] == ["228", "230", "231", "232", "400"], "7 and x would not be unique"
    assert "230" in read(Source("x", text_of(bank[1:2], name)), ReadOptions(format=READER.get(name, name))).place(0)


@pytest.mark.parametrize("name", ["export4", "tigerxml", "alpino"])
def test_a_trace_with_a_lemma_keeps_its_tag(name: str) -> None:
    bank = Treebank.parse("(VROOT (S (NP (-NONE-##lem=N## *con*)) (VBD##lem=come## came)))")
    text = text_of(bank, name)
    options = ReadOptions(format=READER.get(name, name))
    assert list(read(Source("x", text), options)[0].tags) == ["-NONE-", "VBD"]
    assert read(Source("x", text), ReadOptions(format=options.format, features=True))[0] == bank[0]


def test_a_label_that_a_format_lacks_is_refused_with_the_step_that_renames_it() -> None:
    bank = Treebank.parse("(S (-- --) (A a))")
    with pytest.raises(WriteError, match=r"step labels:--=NEW"):
        text_of(bank, "export")
    from treegauge.normalise import pipeline

    assert b"--\tDASH\t" in text_of(pipeline("labels:--=DASH").apply(bank), "export")
