"""Reading bracketed text: what it means, in blocks of any size, one tree per line or not."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

import treegauge.io.bracketed as bracketed
import treegauge.io.sources as text_module
from treegauge.errors import BracketError, EncodingError, FileNote, InputError
from treegauge.io import ReadOptions, Source, check, read, stream
from treegauge.testing import treebanks
from treegauge.testing.strategies import trees
from treegauge.trees import Tree, Treebank
from treegauge.trees.notation import parse_all


def reading(text: str | bytes, **options: object) -> Treebank:
    data = text.encode() if isinstance(text, str) else text
    return read(Source("x.mrg", data), ReadOptions(**options))  # type: ignore[arg-type]


def problem(text: str | bytes, **options: object) -> str:
    with pytest.raises(InputError) as caught:
        reading(text, **options)
    return str(caught.value)


MEANINGS = {
    "(S (NP (DT the) (NN cat)) (VP (VBD sat)))": [
        Tree("S", [Tree("NP", [Tree("DT", ["the"]), Tree("NN", ["cat"])]), Tree("VP", [Tree("VBD", ["sat"])])])
    ],
    "( (S (N a)))": [Tree("", [Tree("S", [Tree("N", ["a"])])])],
    "((S (N a)))": [Tree("", [Tree("S", [Tree("N", ["a"])])])],
    "()": [Tree("")],
    "( )": [Tree("")],
    "(())": [Tree("", [Tree("")])],
    "(X)": [Tree("X")],
    "( w)": [Tree("", ["w"])],
    "( w v)": [Tree("w", ["v"])],
    "(X w)": [Tree("X", ["w"])],
    "(NP the (NN cat) sat)": [Tree("NP", ["the", Tree("NN", ["cat"]), "sat"])],
    "(NP (NN cat) sat (X) y)": [Tree("NP", [Tree("NN", ["cat"]), "sat", Tree("X"), "y"])],
    "( (X) y (Z))": [Tree("", [Tree("X"), "y", Tree("Z")])],
    "(-LRB- -LRB-)(-RRB- a-RRB-)": [Tree("-LRB-", ["("]), Tree("-RRB-", ["a)"])],
    "(X-LRB- -LSB-)": [Tree("X(", ["-LSB-"])],
    "(A a)(B b)\n (C c)": [Tree("A", ["a"]), Tree("B", ["b"]), Tree("C", ["c"])],
    "(NP-SBJ-1=2 (-NONE- *T*-1))": [Tree("NP-SBJ-1=2", [Tree("-NONE-", ["*T*-1"])])],
    "(NN##lem=Haus|case=nom## Haus)": [Tree("NN##lem=Haus|case=nom##", ["Haus"])],
    "(NP\u00a0X\u2003Y a\u00a0b)": [Tree("NP\u00a0X\u2003Y", ["a\u00a0b"])],
    "\n\t (A\n a\r\n)\v\f": [Tree("A", ["a"])],
    "": [],
    " \n\n": [],
}


@pytest.mark.parametrize("text", MEANINGS)
def test_what_bracketed_text_means(text: str) -> None:
    assert list(reading(text)) == MEANINGS[text]
    assert parse_all(text) == MEANINGS[text]


@given(treebanks(trees(preterminals=False, empty=True)), st.integers(1, 50))
def test_blocks_of_any_size_give_the_same_columns(bank: Treebank, chunk: int) -> None:
    text = "".join(f"{tree}\n" for tree in bank)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_module, "CHUNK_BYTES", chunk)
        patch.setattr(bracketed, "_MOST_NAMES", 5)
        found = reading(text)
        blocks = list(stream(Source("x.mrg", text.encode())))
    assert found == bank
    assert list(found) == list(bank)
    assert sorted(found.labels) == sorted(bank.labels)
    assert found.vocabulary == bank.vocabulary
    assert [tree for block in blocks for tree in block] == list(bank)
    lines = [line for origin in found.origins for line in origin.line.tolist()]
    assert lines == list(range(1, len(bank) + 1))


def test_lines_of_trees_over_several_lines() -> None:
    bank = reading("\n\n(S\n  (A a)\n  (B b)) (C c)\n\n(D d)\n")
    assert [bank.place(index) for index in range(3)] == ["x.mrg:3", "x.mrg:5", "x.mrg:7"]


ONE_A_LINE = {
    "(A a)\n\n(B b)\n": ["(A a)", "()", "(B b)"],
    "(A a)\n \t\n": ["(A a)", "()"],
    "(A a) (B b)\n(C c)": ["( (A a) (B b))", "(C c)"],
    "\n\n": ["()", "()"],
    "()\n(())\n": ["()", "( ())"],
    "": [],
    "(A a)\r\n\r\n": ["(A a)", "()"],
}


@pytest.mark.parametrize("text", ONE_A_LINE)
@pytest.mark.parametrize("chunk", [1, 7, 1 << 20])
def test_one_tree_a_line(text: str, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_module, "CHUNK_BYTES", chunk)
    assert [str(tree) for tree in reading(text, lines=True)] == ONE_A_LINE[text]


def test_one_tree_a_line_must_end_on_it() -> None:
    assert problem("(A a)\n(S (A a)\n (B b))\n", lines=True) == (
        "x.mrg:2:1: the tree does not end on its line\n  (S (A a)\n  ^\n"
        "  Each line was declared to be one sentence: leave out lines=True for trees over several lines."
    )


@pytest.mark.parametrize("chunk", [1, 3, 1 << 20])
def test_comments_are_left_out(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_module, "CHUNK_BYTES", chunk)
    text = "# one (\n(S # a)\n  # two ) (\n(B b)\n#\n\n(C c)"
    assert [str(tree) for tree in reading(text, comment="#")] == ["(S # a)", "(B b)", "(C c)"]
    assert [str(tree) for tree in reading(text, comment="#", lines=True)] == ["(S # a)", "(B b)", "()", "(C c)"]
    bank = reading(text, comment="#")
    assert [bank.place(index) for index in range(3)] == ["x.mrg:2", "x.mrg:4", "x.mrg:7"]


@pytest.mark.parametrize("chunk", [1, 3, 1 << 20])
def test_a_comment_begins_its_line(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_module, "CHUNK_BYTES", chunk)
    assert "x.mrg:1:7: text outside brackets" in problem("(A a) # no comment\n(B b)", comment="#")


BALANCE = "  Each tree needs as many '(' as ')'; write -LRB- and -RRB- for literal brackets."
OUTSIDE = '  A word belongs in a bracket, as in (NP (NN word)); comment="#" skips lines with #, format="brackets" reads bare words.'
ERRORS = {
    "(S (NP (NN a))) )": [
        "x.mrg:1:17: closing bracket without an opening one",
        "  (S (NP (NN a))) )",
        "                  ^",
        BALANCE,
    ],
    "(A a)\nword (B b)": ["x.mrg:2:1: text outside brackets", "  word (B b)", "  ^", OUTSIDE],
    "(A a)\n\n  (S (B b)\n  (C c)": [
        "x.mrg:3:3: opening bracket that is never closed; the text ends on line 4",
        "    (S (B b)",
        "    ^",
        BALANCE,
    ],
    "(A a)\n(S (NP (B b)\n(C c)\n": [
        "x.mrg:2:1: 2 opening brackets that are never closed; a new tree begins on line 3",
        "  (S (NP (B b)",
        "  ^",
        BALANCE,
    ],
    "(É ü) )": ["x.mrg:1:7: closing bracket without an opening one", "  (É ü) )", "        ^", BALANCE],
}


@pytest.mark.parametrize("text", ERRORS)
def test_errors_say_where_what_and_what_to_do(text: str) -> None:
    assert problem(text).split("\n") == ERRORS[text]


def test_trees_with_brackets_at_the_margin_are_not_taken_for_unclosed() -> None:
    text = "(S\n(A a)\n(B b))\n(S\n(A a)\n(B b)))\n"
    assert problem(text).startswith("x.mrg:6:7: closing bracket without an opening one")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"(A caf\xe9)", "x.mrg:1:7: byte 0xe9 is not UTF-8"),
        (b"(A a)\n(B \xc3)", "x.mrg:2:4: byte 0xc3 is not UTF-8"),
        (b"(A a\0)", "x.mrg:1:5: zero byte"),
        (b"(\0A a)", "x.mrg:1:2: zero byte"),
    ],
)
def test_bytes_that_are_no_text(data: bytes, said: str) -> None:
    with pytest.raises(EncodingError) as caught:
        reading(data, encoding="utf-8")
    assert str(caught.value).startswith(said)


def test_all_errors_of_a_text_and_all_whole_trees() -> None:
    text = b"(A a)\nx y\n(S (B b)\n(C c)))))\n(D d) (E \xff)\n) z\n(F f"
    found = list(check(Source("x.mrg", text), ReadOptions(encoding="utf-8")))
    errors = [f"{item.place} {item.problem}" for item in found if isinstance(item, InputError)]
    assert errors == [
        "x.mrg:2:1 text outside brackets",
        "x.mrg:3:1 opening bracket that is never closed; a new tree begins on line 4",
        "x.mrg:4:6 closing bracket without an opening one",
        "x.mrg:5:10 byte 0xff is not UTF-8",
        "x.mrg:6:1 closing bracket without an opening one",
        "x.mrg:6:3 text outside brackets",
        "x.mrg:7:1 opening bracket that is never closed; the text ends on line 7",
    ]
    banks = [item for item in found if isinstance(item, Treebank)]
    assert [(str(tree), bank.place(index)) for bank in banks for index, tree in enumerate(bank)] == [
        ("(A a)", "x.mrg:1"),
        ("(C c)", "x.mrg:4"),
        ("(D d)", "x.mrg:5"),
        ("(E ?)", "x.mrg:5"),
    ]


def test_all_errors_one_tree_a_line() -> None:
    text = b"(A a)\n(B b\n\n# (\n(C c))\n(D d) (E e)\n"
    found = list(check(Source("x.mrg", text), ReadOptions(lines=True, comment="#")))
    assert [item.place for item in found if isinstance(item, InputError)] == ["x.mrg:2:1", "x.mrg:5:6"]
    assert [str(tree) for bank in found if isinstance(bank, Treebank) for tree in bank] == [
        "(A a)",
        "()",
        "(C c)",
        "( (D d) (E e))",
    ]


def test_errors_after_many_good_trees_keep_their_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_module, "CHUNK_BYTES", 64)
    lines = [f"(S (A a{number}))" for number in range(1000)]
    lines[700] = "(S (A a700)"
    found = list(check(Source("x.mrg", "\n".join(lines).encode())))
    assert [error.place for error in found if isinstance(error, InputError)] == ["x.mrg:701:1"]
    trees = [str(tree) for bank in found if isinstance(bank, Treebank) for tree in bank]
    assert trees == lines[:700] + lines[701:]


@pytest.mark.parametrize("chunk", [1 << 12, 1 << 20])
def test_a_tree_100_000_deep(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_module, "CHUNK_BYTES", chunk)
    deep = "(X " * 100_000 + "w" + ")" * 100_000
    bank = reading(deep + "\n(A a)")
    assert (len(bank), bank.n_nodes, bank.n_tokens) == (2, 100_001, 2)
    assert bank.parent[:4].tolist() == [-1, 0, 1, 2]
    assert bank[0].depth == 100_000
    assert "99999 opening brackets" not in problem(deep[:-1])
    assert problem(deep[:-1]).startswith("x.mrg:1:1: opening bracket that is never closed")
    assert problem(deep + ")").startswith("x.mrg:1:400002: closing bracket without an opening one")


def test_labels_and_words_of_a_megabyte() -> None:
    label, word = "L" * (1 << 20), "é" * (1 << 20)
    bank = reading(f"({label} {word}) ({label} b)")
    assert bank.labels == (label,)
    assert bank.words(0) == [word]
    assert problem(f"({label} {word}").startswith("x.mrg:1:1: opening bracket")


def test_a_bracket_never_closed_does_not_fetch_the_rest_of_a_huge_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_module, "CHUNK_BYTES", 1 << 12)
    monkeypatch.setattr(bracketed, "_SUSPICIOUS_TREE_BYTES", 1 << 16)
    path = tmp_path / "x.mrg"
    path.write_bytes(b"(S (A a)\n" + b"(S (A a))\n" * 100_000)
    taken: list[int] = []
    with pytest.raises(BracketError, match="a new tree begins on line 2"):
        read(Source(str(path), on_read=taken.append))
    assert sum(taken) < 1 << 18


def test_a_tree_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_module, "CHUNK_BYTES", 1 << 10)
    monkeypatch.setattr(bracketed, "_LARGEST_TREE_BYTES", 1 << 16)
    text = b"(A a)\n" + b" (" * 100_000
    assert "a tree of more than" in problem(text)
    found = list(check(Source("x.mrg", text)))
    assert [item.problem for item in found if isinstance(item, InputError)] == ["a tree of more than 0 MB"]
    assert [str(tree) for bank in found if isinstance(bank, Treebank) for tree in bank] == ["(A a)"]


CANCELLED = b"(S (N a))\n\n(S (N a) (V b)\n(S (N c))\n(S (N d)))\n(S (N e))\n"
"""A closing bracket is missing on line 3, and there is one too many on line 5."""


@pytest.mark.parametrize("chunk", [1 << 20, 7])
def test_errors_of_brackets_that_cancel_out_get_a_note(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_module, "CHUNK_BYTES", chunk)
    with pytest.warns(FileNote, match="inside the tree of line 3: is a bracket missing there.* lines=True") as notes:
        assert len(read(Source("x.mrg", CANCELLED))) == 3
    assert [str(note.message).partition(": ")[0] for note in notes] == ["x.mrg:4"]


@pytest.mark.parametrize(
    "text",
    [b"(S\n(N a)\n(V b))\n(S\n(N a))\n", b"(S\n (N a))\n\n\n(S (N b))\n", b"()\n()\n\n(S (N a))(S (N b))\n", b"(S (N a)\n)\n"],
)
def test_trees_of_several_lines_get_none(text: bytes) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(Source("x.mrg", text))
