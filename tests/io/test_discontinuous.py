"""Formats that hold crossing branches: exact round trips among each other, detection, and what can be wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

import treegauge.data
import treegauge.io.sources
from treegauge.errors import FormatError, InputError, WriteError
from treegauge.io import ReadOptions, Source, check, read, write
from treegauge.io.formats import FORMATS, detect_format
from treegauge.io.sources import Text
from treegauge.normalise import attach_punctuation
from treegauge.testing import discontinuous_trees, trees
from treegauge.trees import Tree, Treebank, parse_discbracket

DATA = Path(treegauge.data.__file__).parent
HOLDING_GAPS = ("discbracket", "export", "export4", "tigerxml", "alpino")


def written(bank: Treebank, name: str) -> bytes:
    writer = FORMATS[name].writer
    assert writer is not None
    return b"".join(writer([bank]))


def back(data: bytes, name: str) -> Treebank:
    reader = "export" if name == "export4" else name
    return read(Source("x", data), ReadOptions(format=reader, functions=True, features=True))


@pytest.mark.parametrize("name", ["german", "dutch"])
@pytest.mark.parametrize("first", HOLDING_GAPS)
@pytest.mark.parametrize("second", HOLDING_GAPS)
def test_our_own_sentences_through_two_formats(name: str, first: str, second: str) -> None:
    bank = read(DATA / f"{name}.discbracket")
    through = back(written(back(written(bank, first), first), second), second)
    assert through == bank
    assert list(through) == list(bank)
    assert written(through, "discbracket") == (DATA / f"{name}.discbracket").read_bytes()


@settings(max_examples=200)
@given(st.lists(discontinuous_trees(trees(max_leaves=8)) | trees(max_leaves=4), max_size=3))
def test_round_trips_of_any_trees(made: list[Tree]) -> None:
    bank = Treebank.from_trees(made)
    for name in HOLDING_GAPS:
        try:
            data = written(bank, name)
        except WriteError:
            continue
        assert list(back(data, name)) == made, (name, data)


@settings(max_examples=100)
@given(
    discontinuous_trees(
        trees(
            label=st.sampled_from(["S", "NP-SB", "VP-OC", "top", "NP-top", "X##morph=a##"]),
            tag=st.sampled_from(["NN-NK", "V-HD", "$.", "NN-NK##lem=x|case=nom##", "ART##morph=Nom.Sg##", "-LRB-"]),
            word=st.sampled_from(["a", "b&c", "<", '"', "(", ")", "ß"]),
            max_leaves=8,
        )
    )
)
def test_usual_labels_can_be_written_in_every_format(tree: Tree) -> None:
    bank = Treebank.from_trees([tree])
    for name in ("discbracket", "export4", "tigerxml", "alpino"):
        assert list(back(written(bank, name), name)) == [tree], name


@pytest.mark.parametrize("name", ["bracketed", "pretty", "conll2000"])
def test_formats_without_crossing_branches_refuse_them_by_place(name: str) -> None:
    bank = read(DATA / "german.discbracket")
    with pytest.raises(WriteError, match=r"german\.discbracket:1"):
        written(bank, name)


@pytest.mark.parametrize(
    ("text", "suffix", "name"),
    [
        (b"(S (VP (A 0=x) (B 2=y)) (C 1=z))\n", "", "discbracket"),
        (b"(S (VP 0=x 2=y) 1=z)\n", ".txt", "discbracket"),
        (b"(S (VP (A 0=x) (B 3=y)) (C 1=z))\n", "", "discbracket"),  # with an error, not with words such as 0=x
        (b"()\n\n(S (VP (A 0=x) (B 2=y)) (C 1=z))\n", "", "discbracket"),
        (b"(S\n (VP (A 0=x)\n (B 2=y)) (C 1=z))\n", ".mrg", "discbracket"),
        (b"(A 0=x)\n(S (A x) (B y))\n", ".mrg", "bracketed"),
        (b"(A 0=x)\n(S (A 1=x) (B 0=y))\n", "", "discbracket"),
        (b"(A 1=x)\n(S (A 1=x) (B 0=y))\n", "", "bracketed"),
        (b"(S " + b" ".join(b"(A %d=x)" % k for k in range(5000)) + b")\n", "", "discbracket"),
        (b"(S (A 0=x) (B y))\n", "", "bracketed"),
        (b"(S (A x))\n", ".dbr", "discbracket"),
        (b'<?xml version="1.0"?>\n<alpino_ds><node/></alpino_ds>', ".xml", "alpino"),
        (b"<treebank><alpino_ds/></treebank>", "", "alpino"),
        (b"<corpus/>", ".xml", "tigerxml"),
    ],
)
def test_detection(text: bytes, suffix: str, name: str) -> None:
    options = ReadOptions()
    assert detect_format(Text(Source(f"x{suffix}", text), options), options).name == name


def test_written_files_are_detected(tmp_path: Path) -> None:
    bank = read(DATA / "dutch.discbracket")
    for suffix in (".discbracket", ".export", ".tigerxml", ".alpino", ".xml", ".discbracket.gz"):
        write(bank, tmp_path / f"x{suffix}")
        assert read(tmp_path / f"x{suffix}") == bank, suffix


def problems(data: bytes, name: str) -> list[str]:
    found = check(Source(f"x.{name}", data), ReadOptions(format=name))
    return [f"{item.place}: {item.problem}" for item in found if isinstance(item, InputError)]


def test_errors_of_discbracket_files_name_their_line_and_lose_no_other_tree() -> None:
    data = b"(S (A 0=a))\n(S (A 1=a))\n(S (A 0=a) (B b))\n(S (A 0=a)\n"
    assert sorted(problems(data, "discbracket")) == [
        "x.discbracket:2:1: there is no word 0, but a word 1",
        "x.discbracket:3:15: the word 'b' has no place",
        "x.discbracket:4:1: opening bracket that is never closed; the text ends on line 4",
    ]
    kept = [item for item in check(Source("x", data), ReadOptions(format="discbracket")) if isinstance(item, Treebank)]
    assert [str(tree) for block in kept for tree in block] == ["(S (A a))"]


@pytest.mark.parametrize("name", ["german", "dutch"])
@pytest.mark.parametrize("form", ["export", "tigerxml", "alpino"])
def test_punctuation_attached_on_reading_is_that_of_the_step(name: str, form: str) -> None:
    bank = read(DATA / f"{name}.discbracket")
    attached = [attach_punctuation(tree) for tree in bank]
    assert attached != list(bank)
    options = ReadOptions(format=form, attach_punctuation=True)
    assert list(read(Source("x", written(bank, form)), options)) == attached


WRONG_WORDS = {
    "(S (A 0=a) (B 0=b))": "1:15: two words have the place 0",
    "(S (A 0=a)) (S (A 0=a) (B -1=b))": "1:27: the word '-1=b' has no place",
    "(S (A 0=a)\n   (B 00=b))": "2:7: two words have the place 0",
    "(S (Ä 0=ä) (B 1=))": "1:15: the word '1=' has no text after its place",
    "(S (A 0=a) (B 9999999999=b))": "1:15: the word '9999999999=b' has a place that no sentence has",
    "(S (A 0=a) (B 2=b))": "1:1: there is no word 1, but a word 2",
    "(S (A 0=a))\n\n (S (A ٠=b))": "3:8: the word '٠=b' has no place",
}


@pytest.mark.parametrize("text", WRONG_WORDS)
def test_errors_of_discbracket_text_have_their_column(text: str) -> None:
    assert problems(text.encode(), "discbracket") == [f"x.discbracket:{WRONG_WORDS[text]}"]
    assert read(Source("x.dbr", text.encode()), ReadOptions(on_error="parse-fails")).problems()


def test_an_error_far_behind_has_its_column(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(treegauge.io.sources, "CHUNK_BYTES", 64)
    text = "(S (A 1=a) (B 0=b))\n" * 100 + "(S (A 1=a) (B 1=b))\n" + "(S (A 1=a) (B 0=b))\n" * 100
    assert problems(text.encode(), "discbracket") == ["x.discbracket:101:15: two words have the place 1"]


def test_json_lines_may_hold_discbracket_trees() -> None:
    trees = ["(S (VP (A 0=a) (B 2=b)) (C 1=c))", "", "(S (A 0=x))", "(S (A 0=x) (B 0=y))"]
    data = "".join(json.dumps({"parse": tree}) + "\n" for tree in trees).encode()
    bank = read(Source("x.jsonl", data), ReadOptions(on_error="parse-fails"))
    assert [" ".join(tree.words) for tree in bank] == ["a c b", "", "x", ""]
    assert bank.problems()[3].reason == "two words have the place 0"
    assert [*bank.problems()] == [3]
    with pytest.raises(FormatError, match=r"x\.jsonl:4: two words have the place 0"):
        read(Source("x.jsonl", data))


ALPINO = """<alpino_ds version="1.3">
<node begin="0" end="4" cat="top" rel="top">
 <node begin="0" end="3" cat="smain" rel="--">
  <node begin="0" end="3" cat="inf" rel="vc"><node begin="0" end="1" pos="pron" rel="obj1" lemma="dat" word="Dat"/>
   <node begin="2" end="3" pos="verb" rel="hd" lemma="doen" word="doen"/><node rel="su" index="1"/></node>
  <node begin="1" end="2" pos="verb" rel="hd" lemma="willen" word="wil"/>
  <node cat="np" rel="mod"><node rel="hd" index="1"/></node>
 </node>
 <node begin="3" end="4" pos="punct" rel="--" lemma="." word="."/>
</node>
<sentence sentid="s7">Dat wil doen .</sentence></alpino_ds>"""


def test_alpino_as_alpino_has_it() -> None:
    bank = read(Source("x.xml", ALPINO.encode()))
    assert str(bank[0]) == ("(top (smain (inf-vc (pron-obj1 0=Dat) (verb-hd 2=doen)) (verb-hd 1=wil)) (punct 3=.))")
    assert bank.place(0) == "x.xml:1 (sentence s7)"
    assert str(read(Source("x.xml", ALPINO.encode()), ReadOptions(functions=False))[0]).startswith("(top (smain (inf (pron 0=Dat)")
    tags = read(Source("x.xml", ALPINO.encode()), ReadOptions(features=True))[0].tags
    assert tags[0] == "pron-obj1##lem=dat##"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('begin="1" end="2"', 'begin="0" end="2"', "two words begin at 0: 'Dat' and 'wil'"),
        ('begin="1" end="2"', 'begin="one"', "the word 'wil' has no place (attribute begin): 'one'"),
        ('word="wil"', 'word=""', "the word at 1 has no text (attribute word)"),
        ('word="wil"/>', 'word="wil"><node begin="9" word="x"/></node>', "a node that has a word has another node below it"),
    ],
)
def test_what_can_be_wrong_in_alpino_xml(old: str, new: str, said: str) -> None:
    whole = "<treebank>" + ALPINO.replace(old, new) + ALPINO + "</treebank>"
    assert [problem.split(": ", 2)[2] for problem in problems(whole.encode(), "alpino")] == [said]
    kept = [item for item in check(Source("x", whole.encode())) if isinstance(item, Treebank)]
    assert sum(map(len, kept)) == 1


def test_alpino_bombs() -> None:
    assert "is not a treebank" in problems(b"<a/>", "alpino")[0]
    bomb = b"<!DOCTYPE a [<!ENTITY x 'yy'>]><alpino_ds/>"
    assert "the entity x is declared" in problems(bomb, "alpino")[0]
    deep = (
        b"<alpino_ds>" + b"<node cat='x'>" * 50_000 + b"<node begin='0' word='w' pos='t'/>" + b"</node>" * 50_000 + b"</alpino_ds>"
    )
    assert read(Source("x.xml", deep))[0].depth == 50_001


def test_a_tree_whose_root_is_no_vroot_comes_back_without_one() -> None:
    tree = parse_discbracket("(S-X (VP-OC (A 0=a) (B 2=b)) (C 1=c))")
    for name in HOLDING_GAPS:
        assert back(written(Treebank.from_trees([tree]), name), name)[0] == tree, name
