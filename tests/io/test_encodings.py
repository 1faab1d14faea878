"""Encodings told apart file by file, and named where they cannot be."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from treegauge.cli import main
from treegauge.errors import EncodingError, FileNote, UsageError
from treegauge.io import ReadOptions, read
from treegauge.io.encodings import has_utf8, is_western, utf16
from treegauge.io.sources import Source
from treegauge.io.validation import examine

SENTENCES = {
    "German": "Die größte Änderung heißt „Müßiggang“ .",
    "French": "L’élève reçoit où il a été « là-bas » .",
    "Spanish": "¿ Dónde está el niño ? ¡ Aquí !",
    "Portuguese": "A coração não põe à mão o pão .",
    "Icelandic": "Það er þýðing á Ísöld og æði .",
    "Swedish": "Århundradets kött är på ön .",
}
OTHERS = {
    "iso8859-2": "Zażółć gęślą jaźń , małżeństwo wyższe .",
    "iso8859-5": "Мы читаем старые книги дома .",
    "koi8-r": "Мы читаем старые книги дома .",
    "iso8859-9": "Işığı ağaçların altında gördüğümüz gün şimdi .",
    "gb18030": "他 常常 来 这里 看书 。",
    "big5": "他 常常 來 這裡 看書 。",
    "shift_jis": "彼 は よく ここ に 来る 。",
    "iso8859-7": "Διαβάζουμε παλιά βιβλία στο σπίτι .",
}


def tree(sentence: str) -> str:
    return "(S " + " ".join(f"(X {word})" for word in sentence.split()) + ")\n"


def found(path: Path, encoding: str = "auto") -> tuple[str, list[str]]:
    """The words of a file, and the notes on it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FileNote)
        bank = read(path, ReadOptions(encoding=encoding))
    return " ".join(bank.words(0)), [str(warning.message) for warning in caught]


@pytest.mark.parametrize("language", SENTENCES)
def test_western_text_is_certain_and_named(language: str, tmp_path: Path) -> None:
    sentence = SENTENCES[language]
    (tmp_path / "x.mrg").write_bytes(tree(sentence).encode("cp1252"))
    words, notes = found(tmp_path / "x.mrg")
    assert (words, len(notes)) == (sentence, 1)
    assert "not UTF-8: read as Windows-1252 (Latin-1)" in notes[0]


@pytest.mark.parametrize("encoding", OTHERS)
def test_other_text_is_not_taken_for_western(encoding: str, tmp_path: Path) -> None:
    data = tree(OTHERS[encoding]).encode(encoding)
    assert not is_western(data)
    (tmp_path / "x.mrg").write_bytes(data)
    with pytest.raises(EncodingError, match="is not UTF-8"):
        read(tmp_path / "x.mrg")
    assert found(tmp_path / "x.mrg", encoding) == (OTHERS[encoding], [])


def test_utf8_with_one_wrong_byte_is_broken_utf8(tmp_path: Path) -> None:
    data = tree(SENTENCES["German"]).encode() * 20
    (tmp_path / "x.mrg").write_bytes(data + b"(X M\xfcller)\n")
    with pytest.raises(EncodingError, match=r"x\.mrg:21:5: byte 0xfc is not UTF-8"):
        read(tmp_path / "x.mrg")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_utf16_is_told_by_its_mark_or_its_zeros(encoding: str, tmp_path: Path) -> None:
    data = tree(SENTENCES["German"]).encode(encoding)
    assert utf16(data) == encoding
    (tmp_path / "x.mrg").write_bytes(data)
    words, notes = found(tmp_path / "x.mrg")
    assert (words, len(notes)) == (SENTENCES["German"], 1)


def test_a_folder_of_mixed_encodings(tmp_path: Path) -> None:
    encodings = {"a.mrg": "utf-8", "b.mrg": "latin-1", "c.mrg": "utf-16", "d.mrg": "utf-8-sig", "old/e.mrg": "iso8859-2"}
    (tmp_path / "old").mkdir()
    for name, encoding in encodings.items():
        (tmp_path / name).write_bytes(tree("größer" if encoding != "iso8859-2" else "małżeństwo").encode(encoding))
    with pytest.raises(EncodingError, match=r"e\.mrg:1:\d+: byte 0xb3 is not UTF-8"):
        read(tmp_path)
    for pattern in ("e.mrg", "*/old/*", f"{tmp_path}/old/*"):
        for name in ("iso8859-2", "latin-2", "Latin-2"):
            bank = read(tmp_path, ReadOptions(encoding=f"{pattern}={name}"))
            assert [bank.words(number) for number in range(5)] == [["größer"]] * 4 + [["małżeństwo"]]
    with pytest.raises(UsageError, match="unknown encoding 'iso8859-99'"):
        read(tmp_path, ReadOptions(encoding="e.mrg=iso8859-99"))


def test_the_first_pattern_that_fits_decides_and_one_name_is_for_the_rest() -> None:
    options = ReadOptions(encoding="*.fid=gb18030,old/*=latin-1,cp1250")
    names = ["x/a.fid", "old/a.fid", "old/a.mrg", "new/a.mrg"]
    assert [options.encoding_of(name) for name in names] == ["gb18030", "gb18030", "latin-1", "cp1250"]


def test_validate_remarks_on_the_encoding() -> None:
    report = examine(Source("x.mrg", tree(SENTENCES["French"]).encode("cp1252")))
    assert [remark.text for remark in report.remarks] == [
        'not UTF-8: read as Windows-1252 (Latin-1); if letters look wrong, name another encoding, as in encoding="latin-2"'
    ]
    assert (report.n_trees, report.n_errors) == (1, 0)


def test_a_pattern_that_fits_no_file_gets_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old").mkdir()
    Path("old/a.mrg").write_text("(S (N a))\n")
    for pattern, is_noted in (("old/*", False), ("a.*", False), ("odl/*", True), ("*.fid", True)):
        with pytest.raises(SystemExit) as left:
            main(["validate", "old", "--encoding", f"{pattern}=latin-1", "--encoding", "utf-8"])
        shown = f"--encoding {pattern}=latin-1: no effect: no file name matches" in capsys.readouterr().err
        assert (left.value.code, shown) == (0, is_noted)


@pytest.mark.parametrize("style", ["ptb", "cess"])
def test_two_encodings_in_one_file_are_an_error_also_where_a_style_has_one(style: str) -> None:
    one, other = (tree(SENTENCES["Spanish"]).encode(encoding) for encoding in ("utf-8", "latin-1"))
    options = ReadOptions(treebank=style)
    with pytest.raises(EncodingError, match=r"x\.tbf:2:\d+: byte 0x[\s\S]*if all else is UTF-8, correct this line"):
        read(Source("x.tbf", one + other), options)
    assert read(Source("x.tbf", other * 2), options)[0] == read(Source("x.tbf", one), options)[0]


def test_bytes_of_two_byte_encodings_that_look_like_utf8_are_no_second_encoding() -> None:
    characters = "中国人在世界上学习语言" * 3
    assert has_utf8("é".encode() + characters.encode("gb18030"))
    word = "é".encode().decode("gb18030") + characters
    assert read(Source("x.fid", tree(word).encode("gb18030")), ReadOptions(treebank="ctb")).words(0) == [word]
