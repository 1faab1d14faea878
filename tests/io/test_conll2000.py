"""CoNLL-2000 columns: the trees they are, the very same columns back, and their errors."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

import treegauge.io.sources as text_module
from treegauge.errors import InputError, WriteError
from treegauge.io import ReadOptions, Source, check, read
from treegauge.io.conll2000 import conll2000_text
from treegauge.trees import Tree, Treebank

SAMPLE = "He PRP B-NP\nreckons VBZ B-VP\nthe DT B-NP\ndeficit NN I-NP\n. . O\n\n"


def reading(text: str, **options: object) -> Treebank:
    return read(Source("x.conll", text.encode()), ReadOptions(**options))  # pyright: ignore[reportArgumentType]


def columns(bank: Treebank) -> str:
    return b"".join(conll2000_text([bank])).decode()


SHAPES = {
    SAMPLE: "(S (NP (PRP He)) (VP (VBZ reckons)) (NP (DT the) (NN deficit)) (. .))",
    "a A B-X\nb B B-X\n\n": "(S (X (A a)) (X (B b)))",
    "a A I-X\nb B I-X\n\n": "(S (I-X (A a) (B b)))",
    "a A O\nb B I-X\n\n": "(S (A a) (I-X (B b)))",
    "a A B-X\nb B I-Y\nc C I-X\n\n": "(S (X (A a)) (I-Y (B b)) (I-X (C c)))",
    "-LRB- ( O\n-RRB- ) B-X\n\n": "(S (-LRB- -LRB-) (X (-RRB- -RRB-)))",
    "a A B-O\n\n": "(S (O (A a)))",
}


@pytest.mark.parametrize("text", SHAPES)
def test_columns_are_trees_and_trees_columns(text: str) -> None:
    bank = reading(text)
    assert [str(tree) for tree in bank] == [SHAPES[text]]
    assert bank == Treebank.from_trees(list(bank))
    assert set(bank.labels) == {node.label for tree in bank for node in tree.nodes()}
    assert columns(bank) == text


NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=1, max_size=5)
NAME = NAMES.filter(lambda name: not any(c in name for c in "()") and "RB-" not in name)
CHUNK = st.just("O") | st.builds("{}-{}".format, st.sampled_from("BI"), st.sampled_from(["NP", "VP", "O", "X-Y"]))
SENTENCE = st.lists(st.tuples(NAME, NAME, CHUNK), min_size=1, max_size=8)


@given(st.lists(SENTENCE, max_size=5), st.integers(1, 40))
def test_any_columns_come_back(sentences: list[list[tuple[str, str, str]]], chunk: int) -> None:
    text = "".join("".join(f"{' '.join(row)}\n" for row in rows) + "\n" for rows in sentences)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_module, "CHUNK_BYTES", chunk)
        bank = reading(text)
    assert columns(bank) == text
    assert list(bank) == list(Treebank.from_trees(list(bank)))
    assert bank == Treebank.from_trees(list(bank))


def test_blanks_comments_and_places() -> None:
    text = "\n# one\n\na\tA\t B-X \n# two\nb  B I-X\n \t\n\n\nc C O"
    bank = reading(text, comment="#")
    assert [str(tree) for tree in bank] == ["(S (X (A a) (B b)))", "(S (C c))"]
    assert [bank.place(0), bank.place(1)] == ["x.conll:4", "x.conll:10"]


def test_all_errors_and_all_good_sentences() -> None:
    data = b"a A O\n\nb B\nc C X-NP\n\nd D B-\ne E B-I-X\nf F i-np\n\ng G O H\n\n\xff H O\n\ni I O\n"
    found = list(check(Source("x.conll", data), ReadOptions(encoding="utf-8")))
    assert [f"{item.place} {item.problem}" for item in found if isinstance(item, InputError)] == [
        "x.conll:3:1 2 columns instead of 3",
        "x.conll:4:5 'X-NP' is not a chunk tag",
        "x.conll:6:5 'B-' is not a chunk tag",
        "x.conll:7:5 'B-I-X' is not a chunk tag",
        "x.conll:8:5 'i-np' is not a chunk tag",
        "x.conll:10:1 4 columns instead of 3",
        "x.conll:12:1 byte 0xff is not UTF-8",
    ]
    banks = [item for item in found if isinstance(item, Treebank)]
    assert [(str(tree), bank.place(index)) for bank in banks for index, tree in enumerate(bank)] == [
        ("(S (A a))", "x.conll:1"),
        ("(S (I i))", "x.conll:14"),
    ]


@pytest.mark.parametrize(
    "tree",
    [
        Tree(""),
        Tree("S"),
        Tree("S", ["a"]),
        Tree("NP", [Tree("N", ["a"])]),
        Tree("S", [Tree("NP", ["a", "b"])]),
        Tree("S", [Tree("NP", [Tree("X", [Tree("N", ["a"])])])]),
        Tree("S", [Tree("N", ["a"]), Tree("NP")]),
        Tree("S", [Tree("N", ["a"]), Tree("NP", [Tree("X")])]),
        Tree("S", [Tree("NP", [Tree("N", ["a b"])])]),
        Tree("S", [Tree("NP", [Tree("", ["a"])])]),
        Tree("S", [Tree("N P", [Tree("N", ["a"]), Tree("N", ["b"])])]),
        Tree("S", [Tree("NP", [Tree("N", ["-LRB-"])])]),
        Tree("S", [Tree("NP", [Tree("(", ["a"])])]),
        Tree("S", [Tree("B-NP", [Tree("N", ["a"])])]),
        Tree("S", [Tree("I-", [Tree("N", ["a"])])]),
        Tree("S", [Tree("", [Tree("N", ["a"])])]),
        Tree("S", [Tree("NP", [Tree("N", ["a"])]), Tree("I-NP", [Tree("N", ["a"])])]),
    ],
    ids=repr,
)
def test_what_columns_cannot_hold_is_refused_by_name(tree: Tree) -> None:
    with pytest.raises(WriteError, match=r"^tree 2: "):
        columns(Treebank.from_trees([Tree("S", [Tree("A", ["a"])]), tree]))


def test_an_empty_file() -> None:
    assert len(reading("")) == len(reading("\n \n")) == 0
    assert columns(Treebank.from_trees([])) == ""
