"""Kinds of files: what is written by suffix, what is refused, what is found in folders, and what a bad edge costs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import treegauge
from treegauge.cli import main
from treegauge.errors import EncodingError, FileNote
from treegauge.io import ReadOptions, Source, read
from treegauge.io.formats import lacks_labels
from treegauge.io.sources import find_sources
from treegauge.io.validation import examine
from treegauge.learning import read_brackets

TREES = "(S (NP (N Ana)) (VP (V dorme)))\n(S (NP (N Rui)) (VP (V lê)))\n"
TIGER = """\
<corpus id="x"><body>
<s id="s1"><graph root="s1_500"><terminals>
<t id="s1_1" word="Anna" lemma="Anna" pos="NE"><secedge label="SB" idref="s1_500"/></t>
<t id="s1_2" word="liest" lemma="lesen" pos="VVFIN"/></terminals>
<nonterminals><nt id="s1_500" cat="S"><edge label="SB" idref="s1_1"/><edge label="HD" idref="s1_2"/>
<secedge label="X" idref="s9_9"/></nt>
</nonterminals></graph></s>
<s id="s2"><graph root="s2_1"><terminals><t id="s2_1" word="Ja" lemma="ja" pos="PTKANT"/></terminals></graph></s>
</body></corpus>
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "x.mrg").write_text(TREES, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(line: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    with pytest.raises(SystemExit) as end:
        main(line.split())
    return int(end.value.code or 0), capsys.readouterr().err


@pytest.mark.parametrize("suffix", ["conllu", "json", "csv", "tsv", "conllu.gz"])
@pytest.mark.parametrize("command", ["convert x.mrg", "normalise x.mrg --steps redundant"])
def test_suffixes_of_other_data_are_refused(command: str, suffix: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, message = run(f"{command} -o out.{suffix}", capsys)
    assert code == 2
    assert all(part in message for part in ("bracketed", "export4", "tigerxml", "discbracket"))
    assert not (folder / f"out.{suffix}").exists()


@pytest.mark.parametrize("name", ["out.txt", "out", "out.conllu --to bracketed"])
def test_other_names_are_brackets(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(f"convert x.mrg -o {name}", capsys) == (0, "")
    assert (folder / name.split()[0]).read_text("utf-8") == TREES


@pytest.mark.parametrize("command", ["validate x.xml", "convert x.xml", "score x.xml x.mrg"])
def test_xml_that_is_no_treebank_is_an_error(command: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "x.xml").write_text('<?xml version="1.0"?><treealign><a id="1"/></treealign>', "utf-8")
    with pytest.raises(SystemExit) as end:
        main(command.split())
    printed = capsys.readouterr()
    assert end.value.code == 3
    assert "this XML is not a treebank: <treealign>" in printed.out + printed.err


def test_a_bad_secondary_edge_costs_that_edge(folder: Path) -> None:
    path = folder / "x.xml"
    path.write_text(TIGER, "utf-8")
    report = examine(Source(str(path)))
    assert (report.n_trees, report.n_errors) == (2, 0)
    assert any("secondary edge" in remark.text for remark in report.remarks)
    assert treegauge.score(path, path).signature.sentences == 2
    with pytest.warns(FileNote, match="the edge is left out"):
        kept = read(path, ReadOptions(secondary=True))
    assert len(kept) == 2


def test_lemmas_are_kept_where_there_is_a_place_and_counted_where_not(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "x.xml").write_text(TIGER, "utf-8")
    assert "3 lemmas left out" in run("convert x.xml -o out.mrg", capsys)[1]
    assert "3 lemmas left out" in run("convert x.xml -o out.export", capsys)[1]
    assert "lemmas" not in run("convert x.xml -o out.tigerxml", capsys)[1]
    assert 'lemma="lesen"' in (folder / "out.tigerxml").read_text("utf-8")
    assert "lemmas" not in run("convert x.xml --to export4 -o out4.export", capsys)[1]
    assert [read(name, ReadOptions(features=True)) for name in ("out.tigerxml", "out4.export")] == [
        read("x.xml", ReadOptions(features=True))
    ] * 2


def test_suffixes_of_treebanks_are_found_in_folders(tmp_path: Path) -> None:
    names = ["a.fid", "b.prd", "c.tbf", "d.ptb", "e.psd", "f.parsed", "g.fid.gz"]
    for name in [*names, "notes.md", "x.py"]:
        (tmp_path / name).touch()
    assert [Path(source.name).name for source in find_sources(tmp_path)] == names


BARE = ["((the cat) (sat down))", "((a dog) (ran (very fast)))", "(((the old) man) sleeps)", "yes"]
LABELLED = ["(X (X the cat) (X sat down))", "(X (X a dog) (X ran (X very fast)))", "(X (X (X the old) man) sleeps)", "(X yes)"]


def test_brackets_without_labels_are_told_from_labelled_ones(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The usual output of grammar induction; in labelled trees a bracket that begins with a bracket has no word of its own."""
    gold = [f"(S (NP (A {' (A '.join(word + ')' for word in tree.words)}))" for tree in map(treegauge.Tree.parse, LABELLED)]
    (folder / "gold.mrg").write_text("\n".join(gold), "utf-8")
    (folder / "x.jsonl").write_text("\n".join(json.dumps({"parse": text}) for text in BARE), "utf-8")
    for name in ("bare.txt", "bare.mrg"):
        (folder / name).write_text("\n".join(BARE), "utf-8")
        with pytest.warns(FileNote, match="brackets without labels"):
            bank = read(name)
        assert [str(tree) for tree in bank] == LABELLED
    values = [BARE, "\n".join(BARE[:3]), "x.jsonl", read_brackets("\n".join(BARE))]
    for value in values:
        expected = LABELLED[: 3 if isinstance(value, str) and "\n" in value else 4]
        assert [str(tree) for tree in treegauge.read(value)] == expected
        assert not treegauge.score(gold[: len(expected)], value, "induction", on_error="repair").problems
    code, message = run("score gold.mrg bare.txt -m induction -o -", capsys)
    assert (code, "words differ" in message, "brackets without labels" in message) == (0, False, False)
    assert "brackets without labels: each gets the label X" in run("score gold.mrg bare.txt -m parseval -o -", capsys)[1]
    (folder / "right.txt").write_text("(the (cat (sat down)))\n(a (dog (ran", "utf-8")
    (error,) = examine(Source("right.txt"), ReadOptions(format="brackets")).errors
    assert error.problem == "3 opening brackets that are never closed; the text ends on line 2"
    assert str(read("right.txt", format="brackets", on_error="repair")[1]) == "(X a (X dog (X ran)))"
    assert lacks_labels(b"( ( ( the old ) man ) sleeps )")
    for labelled in (
        TREES,
        "(S ( (NP the old) man) sleeps)",
        "( (S (NP the (N cat)) (VP sat)) .)",
        "(((DT the) (NN cat)) (VP (VBD sat)))",
        "(S (NP the cat) sat)",
    ):
        assert not lacks_labels(labelled.encode())


def test_a_sentence_of_one_bare_word(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "bare.txt").write_text("\n".join(reversed(BARE)), "utf-8")
    with pytest.warns(FileNote, match="brackets without labels"):
        assert [str(tree) for tree in read("bare.txt")] == LABELLED[::-1]
    (folder / "fence.txt").write_text("```\n(((the old) man) sleeps)\n", "utf-8")
    assert [error.problem for error in examine(Source("fence.txt")).errors] == ["text outside brackets"]
    (folder / "x.mrg").write_text("(S (A a))\nyes\n", "utf-8")
    assert "--format-in brackets reads bare words" in run("convert x.mrg -o y.mrg", capsys)[1]
    assert "--format-in brackets reads a word alone" in run("convert x.mrg -o y.mrg --on-error repair", capsys)[1]
    (folder / "gold.mrg").write_text("(S (A a))\n(S (A yes))\n", "utf-8")
    assert "--format-in brackets reads a word alone" in run("score gold.mrg x.mrg", capsys)[1]


def test_a_binary_file_is_one_error_and_a_note_on_the_file_comes_first(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "x.bin").write_bytes(bytes(range(256)) * 20)
    for on_error in ("stop", "parse-fails", "repair"):
        with pytest.raises(EncodingError, match="this is not text"):
            read("x.bin", on_error=on_error)
    assert examine(Source("x.bin")).n_errors == 1
    (folder / "x.ptb").write_text("#1 Ana\n(UTT+np (H+prop Ana) (X+n b))\n" * 9, "utf-8")
    with pytest.raises(SystemExit):
        main(["validate", "x.ptb"])
    lines = capsys.readouterr().out.splitlines()
    assert [("--treebank floresta" in line, "text outside" in line) for line in lines[:2]] == [(True, False), (False, True)]


def test_the_signs_of_another_style_than_the_given_one_are_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "x.psd").write_text("( (IP-MAT (NP-SBJ *con*) (VBDI kom-koma) (. .-.)) (ID 1350.X,1.2))\n" * 9, "utf-8")
    (folder / "x.ptb").write_text("#1 Ana\n(UTT+np (H+prop Ana) (X+n b))\n" * 9, "utf-8")
    for treebank, name, expected in (
        ("cess", "x.psd", "icepahc"), ("ptb", "x.psd", "icepahc"), ("icepahc", "x.ptb", "floresta"),
        ("icepahc", "x.psd", ""), ("ppcme2", "x.psd", ""), ("ycoe", "x.psd", ""), ("floresta", "x.ptb", ""),
    ):  # fmt: skip
        found = run(f"convert {name} -o y.mrg --treebank {treebank} --on-error skip", capsys)[1]
        assert (f"read it with --treebank {expected}" in found) == bool(expected), (treebank, name)


def test_converted_labels_keep_their_functions_and_a_note_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "x.ptb").write_text("#1 Ana\n(UTT+np (H+prop Ana) (.))\n", "utf-8")
    said = run("convert x.ptb --treebank floresta -o x.mrg", capsys)[1]
    assert "labels keep FUNCTION+form: give --treebank floresta with the result" in said
    for command in ("convert x.ptb --treebank floresta --no-functions -o y.mrg", "convert y.mrg -o z.mrg --treebank ptb"):
        assert "FUNCTION" not in run(command, capsys)[1]
    with pytest.raises(SystemExit):
        main(["normalise", "x.mrg", "--treebank", "floresta", "--steps", "functions"])
    assert capsys.readouterr().out == "(np (prop Ana) (. .))\n"


def test_sinica_in_big5_is_one_error_that_names_the_style(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "x.parsed").write_bytes("#1:1.[0] S(agent:NP(Head:Nhaa:他)|Head:VA11:來)#。(PERIODCATEGORY)\n".encode("big5") * 9)
    found = examine(Source("x.parsed")).errors
    assert len(found) == 1
    assert found[0].advice.startswith("Files of the Sinica Treebank are often Big5")
    assert "--treebank sinica" in run("convert x.parsed -o x.mrg", capsys)[1]
    assert len(read("x.parsed", treebank="sinica")) == 9
    line = "#1:1.[0] VA11:來#\n".encode()
    (folder / "y.parsed").write_bytes(line + b"#2:1.[0] VA11:\xff#\n" * 2 + line)
    assert len(examine(Source("y.parsed")).errors) == 2, "single lines that are wrong are all found"
