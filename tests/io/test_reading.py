"""Any input as a Treebank; formats told by suffix, by content or by force; blocks in constant memory."""

from __future__ import annotations

import re
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

import treegauge.io.sources as text_module
from treegauge.errors import BracketError, FormatError, InputError, UnknownName, UsageError
from treegauge.io import FORMATS, READABLE, ReadOptions, Source, as_treebank, read, stream
from treegauge.io.reading import read_sources
from treegauge.io.validation import examine, remarks_on
from treegauge.trees import Tree, Treebank

BANK = Treebank.parse("(S (NP (N rain))) (S (V go))")


def test_whatever_holds_trees_is_a_treebank(tmp_path: Path) -> None:
    nltk = pytest.importorskip("nltk.tree")
    path = tmp_path / "x.mrg"
    path.write_text("\n".join(map(str, BANK)))
    for value in (
        BANK,
        path,
        str(path),
        "\n (S (NP (N rain)))(S (V go))",
        list(BANK),
        iter(BANK),
        map(str, BANK),
        [str(tree).replace(" ", "\n") for tree in BANK],
        [nltk.Tree.fromstring(str(tree)) for tree in BANK],
        [BANK[0], str(BANK[1])],
        [str(BANK[0]), nltk.Tree.fromstring(str(BANK[1]))],
    ):
        assert as_treebank(value) == BANK
    assert as_treebank(BANK[0]) == as_treebank(nltk.Tree.fromstring(str(BANK[0]))) == BANK[:1]
    for files in ([path, path], [str(path), str(path)], [str(path), path]):
        assert as_treebank(files) == Treebank.concatenate([BANK, BANK])
    with pytest.raises(UsageError, match=r"string 1 is not bracketed text: .*\n  If this is a list of files, not all are there"):
        as_treebank([str(path), str(tmp_path / "y.mrg")])
    assert len(as_treebank([])) == len(as_treebank("()")) - 1 == 0


def test_blank_strings_are_empty_parses() -> None:
    assert list(as_treebank(["(A a)", "", " \n", "(A a) (B b)"])) == [
        Tree("A", ["a"]),
        Tree(""),
        Tree(""),
        Tree("", [Tree("A", ["a"]), Tree("B", ["b"])]),
    ]


@pytest.mark.parametrize("value", [3, None, b"(A a)", [3], ["x.mrg"], [None, "(A a)"], "(A \ud800)"])
def test_what_holds_no_trees_is_a_usage_error(value: object) -> None:
    with pytest.raises(UsageError):
        as_treebank(value)


def test_strings_name_the_string_that_is_wrong() -> None:
    with pytest.raises(BracketError, match="<strings>:2:1: opening bracket that is never closed"):
        as_treebank(["(A a)", "(B b"])
    with pytest.raises(InputError, match="no such file"):
        as_treebank("no-such-file.mrg")


BRACKETS, COLUMNS = b" \n(S (N a))", b"\na N B-NP\n"
EXPORT, XML = b"#FORMAT 3\n#BOS 1\na N -- -- 0\n#EOS 1", b"<?xml version='1.0'?><corpus/>"


@pytest.mark.parametrize(
    ("name", "data", "label"),
    [
        ("x", BRACKETS, "S"),
        ("x.txt", BRACKETS, "S"),
        ("x", COLUMNS, "S"),
        ("x.txt", COLUMNS, "S"),
        ("x.gold", EXPORT, "VROOT"),
        ("x", b"%% made by hand\n" + EXPORT, "VROOT"),
        ("-x", b"", ""),
        ("x.export", b"#BOS 1\n( $( -- -- 0\n#EOS 1", "VROOT"),
        ("x.conll", b"( ( O", "S"),
    ],
)
def test_formats_by_suffix_and_content(name: str, data: bytes, label: str) -> None:
    bank = read(Source(name, data))
    assert [tree.label for tree in bank] == ([label] if label else [])


def test_xml_by_content() -> None:
    assert len(read(Source("x", b"\xef\xbb\xbf" + XML))) == 0
    with pytest.raises(FormatError, match="not XML"):
        read(Source("x", b"<s>"))


def test_comments_do_not_hide_the_format() -> None:
    assert len(read(Source("x", b"; c\n; d\na N O"), ReadOptions(comment=";"))) == 1


def test_a_format_can_be_forced() -> None:
    assert read(Source("x.mrg", COLUMNS), ReadOptions(format="conll2000"))[0].label == "S"
    with pytest.raises(BracketError, match="text outside brackets"):
        read(Source("x", COLUMNS), ReadOptions(format="bracketed"))
    with pytest.raises(UnknownName, match="did you mean 'tigerxml'"):
        read(Source("x", b""), ReadOptions(format="tigerxm"))
    with pytest.raises(UnknownName):
        read(Source("x", b""), ReadOptions(format="pretty"))


def test_every_format_is_documented_and_can_be_read_or_written() -> None:
    suffixes = [suffix for known in FORMATS.values() for suffix in known.suffixes]
    assert len(set(suffixes)) == len(suffixes)
    assert all(known.help and (known.reader or known.writer) for known in FORMATS.values())
    assert "tigerxml" in READABLE


def test_what_is_odd_is_remarked() -> None:
    report = examine(Source("x.mrg", b"(A a) (B b)\n()\n(NP the cat) \n(S (X) (Y (Z)) (V go))\n(C c)\n(())\n"))
    assert [f"{remark.place}: {remark.text}" for remark in report.remarks] == [
        "x.mrg:1: 2 trees on this line",
        "x.mrg:2: empty parse",
        "x.mrg:3: 2 words without a tag",
        "x.mrg:4: 3 nodes without words",
        "x.mrg:6: empty parse",
    ]
    assert (report.n_trees, report.n_words, report.n_errors, report.n_remarks) == (7, 6, 0, 5)
    assert remarks_on(Treebank.from_trees([]), 20) == ([], 0)


def test_reports_count_everything_and_keep_the_first() -> None:
    report = examine(Source("x.mrg", b"()\n" * 50 + b")\n" * 50), most=3)
    assert (report.n_errors, len(report.errors), report.n_remarks, len(report.remarks)) == (50, 3, 50, 3)


PIECES = ["(A a)", "(S (B b) c)", "()", "( (N n))", "\n", "\n\n", " ", "# x (\n", "(", ")", "w", "é", "\0", ""]
FILES = st.lists(st.lists(st.sampled_from(PIECES[:8] * 6 + PIECES), max_size=5).map("".join), min_size=1, max_size=6)


@given(FILES, st.booleans(), st.sampled_from(["", "#"]))
def test_small_files_read_together_are_those_read_one_by_one(files: list[str], lines: bool, comment: str) -> None:
    options = ReadOptions(lines=lines, comment=comment)
    sources = [Source(f"{number}.mrg", file.encode()) for number, file in enumerate(files)]
    try:
        expected = [read(source, options) for source in sources]
    except InputError as error:
        with pytest.raises(type(error), match=re.escape(str(error))):
            read_sources(sources, options)
    else:
        bank = read_sources(sources, options)
        assert list(bank) == [tree for part in expected for tree in part]
        assert bank == Treebank.concatenate(expected)
        places = [part.place(index) for part in expected for index in range(len(part))]
        assert [bank.place(index) for index in range(len(bank))] == places


def test_a_group_of_small_files_ends_at_a_large_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_module, "CHUNK_BYTES", 50)
    files = ["(A a)", "(B b)\n" * 20, "(C c)", "", "a A O\n", "(D d)"]
    sources = [Source("x.conll" if file.endswith("O\n") else f"{number}.mrg", file.encode()) for number, file in enumerate(files)]
    trees = [str(tree) for tree in read_sources(sources, ReadOptions())]
    assert trees == ["(A a)", *["(B b)"] * 20, "(C c)", "(S (A a))", "(D d)"]


def peak(blocks: Iterator[Treebank]) -> int:
    tracemalloc.start()
    assert sum(len(block) for block in blocks) > 0
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


@pytest.mark.slow
@pytest.mark.parametrize("name", ["x.mrg", "x.conll"])
def test_a_stream_needs_constant_memory(tmp_path: Path, name: str) -> None:
    if name == "x.mrg":
        lines = "".join(f"(S (NP (DT the) (NN word{number})) (VP (VBD fell)))\n" for number in range(40_000))
    else:
        lines = "".join(f"the DT B-NP\nword{number} NN I-NP\n. . O\n\n" for number in range(40_000))
    path = tmp_path / name
    peaks: list[int] = []
    for copies in (2, 8):
        path.write_text(lines * copies)
        peaks.append(peak(stream(path)))
    assert peaks[1] < 1.25 * peaks[0]
