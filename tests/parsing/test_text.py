"""Plain text to parse: the same words from text and from trees have the same parses; files as people have them; raw text."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import warnings
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, strategies as st

from treegauge import Tree
from treegauge.cli._group import treegauge
from treegauge.errors import EncodingError, FileNote, TreegaugeError
from treegauge.grammar.model import shipped_model
from treegauge.io import ReadOptions
from treegauge.parsing import Parser, Sentence, read_sentences, split_sentences, tokenise
from treegauge.parsing.raw_text import unsplit_words
from treegauge.parsing.spellings import Spellings
from treegauge.trees.notation import escape_word

HOSTILE = [
    "-LRB-", "-RRB-", "a-LRB-b-RRB-", "-LSB-", "-RCB-", "(", ")", "f(x)", r"1\/2", r"\*", "``", "''", '"', "“", "”", "’s", "—", "…",
    "New\u00a0York", "a\u2028b", "a\u3000b", "\ufeffx", "\u200b", "0=a", "#", "%", "&quot;", "e\u0301", "-NONE-x", "*T*-1", "ﷺ",
]  # fmt: skip


def sentences(path: Path, kind: str) -> list[Sentence]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FileNote)
        return list(read_sentences(str(path), kind))  # type: ignore[arg-type]


def in_both_forms(folder: Path, lines: list[list[str]]) -> tuple[list[Sentence], list[Sentence]]:
    """The sentences read from text, and from trees with the same words."""
    text, trees = folder / "a.txt", folder / "a.mrg"
    text.write_text("".join(" ".join(words) + "\n" for words in lines), "utf-8", newline="\n")
    rows = ["".join(f"(X {escape_word(word)})" for word in words) for words in lines]
    trees.write_text("".join(f"(S {row})\n" for row in rows), "utf-8", newline="\n")
    return sentences(text, "tokens"), sentences(trees, "trees")


def test_hostile_words_are_the_same_in_text_and_in_trees(tmp_path: Path) -> None:
    lines = [["The", word, "barked", "."] for word in HOSTILE] + [["Really", "?", word] for word in HOSTILE]
    from_text, from_trees = in_both_forms(tmp_path, lines)
    assert [each.words for each in from_text] == [each.words for each in from_trees]
    parser = Parser(shipped_model().grammar)
    for one, other in zip(from_text, from_trees, strict=True):
        assert parser.parse(one).tree == parser.parse(other).tree, one


WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=" \t\n\r\v\f\0\\\u07fb\u07fc"), min_size=1)


@given(st.lists(WORDS, min_size=1))
def test_any_words_are_the_same_in_text_and_in_trees(tmp_path_factory: pytest.TempPathFactory, words: list[str]) -> None:
    lines = [["It", *words]]
    from_text, from_trees = in_both_forms(tmp_path_factory.mktemp("words"), lines)
    assert [each.words for each in from_text] == [each.words for each in from_trees]


def test_gum_from_text_and_from_trees(shared: Path, tmp_path: Path) -> None:
    """All words of GUM dev are the same, and a sample of its sentences has the same parses."""
    trees = shared / "data" / "gum" / "dev.mrg"
    from_trees = sentences(trees, "trees")
    text = tmp_path / "dev.txt"
    text.write_text("".join(" ".join(map(escape_word, each.words)) + "\n" for each in from_trees), "utf-8")
    from_text = sentences(text, "tokens")
    assert [each.words for each in from_text] == [each.words for each in from_trees]
    parser = Parser(shipped_model().grammar, probabilities=False)
    brackets = [i for i, each in enumerate(from_trees) if len(each.words) <= 15 and "(" in each.words]
    for i in [*brackets, *range(0, len(from_trees), 60)]:
        if len(from_trees[i].words) <= 15:
            assert parser.parse(from_text[i]).tree == parser.parse(from_trees[i]).tree


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"It rains .\r\nRain fell .\r\n", [["It", "rains", "."], ["Rain", "fell", "."]]),
        (b"\xef\xbb\xbfIt rains .\n", [["It", "rains", "."]]),
        (b"It rains .\n\n  \nRain fell .", [["It", "rains", "."], [], [], ["Rain", "fell", "."]]),
        (b"It\trains\t.\n", [["It", "rains", "."]]),
        (b"-LRB- It rains -RRB-\n", [["(", "It", "rains", ")"]]),
        (b"", []),
    ],
)
def test_files_as_people_have_them(tmp_path: Path, content: bytes, expected: list[list[str]]) -> None:
    (tmp_path / "a.txt").write_bytes(content)
    assert [list(each.words) for each in sentences(tmp_path / "a.txt", "tokens")] == expected


@pytest.mark.parametrize(("content", "note"), [(b"a\tb\nc\td\n", "cut -f2"), (b"a -LRB-\n-LRB-\n", "-LRB-"), (b"a b\n", "")])
def test_what_was_done_is_said(tmp_path: Path, content: bytes, note: str) -> None:
    found = notes_on(tmp_path, content, "tokens")
    assert bool(found) == bool(note)
    assert all(note in each for each in found)


def notes_on(folder: Path, content: bytes, kind: Any) -> list[str]:
    (folder / "a.txt").write_bytes(content)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        list(read_sentences(str(folder / "a.txt"), kind))
    return [str(each.message) for each in found]


@pytest.mark.posix
@pytest.mark.parametrize("content", ["It was a dark\nand stormy night.\n", "It rained,\r\nand he left.\r\n"])
def test_broken_lines_of_raw_text_are_noted_with_a_command_that_joins_them(tmp_path: Path, content: str) -> None:
    (note,) = notes_on(tmp_path, content.encode(), "raw")
    command = re.search(r"\((awk .*)\)", note)
    assert command is not None
    assert not notes_on(tmp_path, content.encode(), "tokens"), "tokens are a sentence per line by definition"
    (tmp_path / "a.txt").write_bytes(content.replace("\r", "").encode() + b"\nA heading\n\nThe end\n")
    arguments = [*shlex.split(command[1]), str(tmp_path / "a.txt")]
    joined = subprocess.run(arguments, capture_output=True, check=True).stdout
    assert joined.decode() == " ".join(content.split()) + "\nA heading\nThe end\n"
    assert not notes_on(tmp_path, joined, "raw")
    assert not notes_on(tmp_path, b"A heading\n\nthe end\nIt rained.\nand so on", "raw")


@pytest.mark.parametrize("kind", ["tokens", "raw", "tagged"])
@pytest.mark.parametrize(
    ("encoding", "option"), [("utf-16", "auto"), ("utf-16", "utf-16"), ("utf-32", "utf-32"), ("latin-1", "auto")]
)
def test_text_is_decoded_as_trees_are(tmp_path: Path, kind: Any, encoding: str, option: str) -> None:
    text = "Das/ART Caf\u00e9/NN \u00f6ffnet/V\n\nJa/UH\n"
    for name, written in (("plain", "utf-8"), ("other", encoding)):
        (tmp_path / name).write_bytes((text if kind == "tagged" else re.sub("/[A-Z]+", "", text)).encode(written))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FileNote)
        found = list(read_sentences(str(tmp_path / "other"), kind, ReadOptions(encoding=option)))
    assert found == list(read_sentences(str(tmp_path / "plain"), kind))


@pytest.mark.parametrize(
    ("encoding", "message"), [("nonsense", "unknown encoding 'nonsense'"), ("utf-8", "a.txt:2:4: byte 0xe9 is not UTF-8")]
)
def test_text_in_an_unknown_or_another_encoding_is_an_error(tmp_path: Path, encoding: str, message: str) -> None:
    (tmp_path / "a.txt").write_bytes("Ja .\nCaf\u00e9 .\n".encode("latin-1"))
    with pytest.raises(TreegaugeError, match=message):
        list(read_sentences(str(tmp_path / "a.txt"), "tokens", ReadOptions(encoding=encoding)))


@pytest.mark.parametrize("kind", ["tokens", "raw", "tagged", "trees"])
def test_a_zero_byte_is_an_error_with_a_place(tmp_path: Path, kind: Any) -> None:
    (tmp_path / "a").write_bytes("(N ja)\n(N \u00e9/b\0)\n".encode() if kind == "trees" else "ja/N\nja/N \u00e9\0/N\n".encode())
    with pytest.raises(EncodingError, match=r"a:2:\d: zero byte"):
        list(read_sentences(str(tmp_path / "a"), kind))


def run(*arguments: str, text: str) -> Result:
    done = CliRunner().invoke(treegauge, arguments, input=text)
    assert done.exit_code == 0, done.stderr
    return done


def test_text_that_is_not_tokenised_gets_one_hint_at_raw() -> None:
    done = run("parse", text="I saw the telescope.\nI don't see it.\n")
    assert done.stderr.count("--raw") == 1
    assert "'telescope.' looks like text that is not split into words: --raw splits it" in done.stderr
    assert "--raw" not in run("parse", text="I saw the telescope .\nI do n't see Mr. Smith .\n").stderr
    done = run("parse", "--raw", text="I saw the telescope. I don't see it.\n\n")
    assert "--raw" not in done.stderr
    assert [Tree.parse(line).words for line in done.stdout.splitlines()] == [
        ("I", "saw", "the", "telescope", "."),
        ("I", "do", "n't", "see", "it", "."),
    ]


def test_posteriors_splits_text_and_hints_at_that_as_parse_does() -> None:
    raw = run("posteriors", "--raw", "--sentence", "2", "--least", "0.5", text="I saw the man. It's late.\n")
    assert "It 's late ." in raw.stdout
    assert "'man.' looks like text" in run("posteriors", text="I saw the man.\n").stderr


def test_empty_lines_do_not_count_as_sentences_without_a_parse() -> None:
    done = run("parse", text="It rains .\n\n\n")
    assert "3 sentences in" in done.stderr
    assert "; 0 without a parse" in done.stderr


def test_a_terminal_is_told_what_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "terminal" not in run("parse", text="It rains .\n").stderr
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda self: self.name == "<stdin>", raising=False)
    assert run("parse", text="It rains .\n").stderr.count("from the terminal, one per line; end with Ctrl-D") == 1


def test_the_suffix_of_the_output_chooses_its_format(tmp_path: Path) -> None:
    for suffix, begins in ((".jsonl", '{"sentence": 1'), (".json", "{"), (".mrg", "(S (NP"), (".txt", "(S (NP")):
        run("parse", "own", "-", "-o", str(tmp_path / f"x{suffix}"), text="It rains .\n")
        assert (tmp_path / f"x{suffix}").read_text("utf-8").startswith(begins)
    refused = CliRunner().invoke(treegauge, ["parse", "own", "-", "-o", str(tmp_path / "x.svg")], input="It rains .\n")
    assert "there is no format for the suffix .svg; there are: bracketed, json, jsonl" in str(refused.exception)
    assert not (tmp_path / "x.svg").exists()


@pytest.mark.parametrize("command", ["parse", "posteriors"])
def test_raw_text_has_no_words_yet(command: str) -> None:
    refused = CliRunner().invoke(treegauge, [command, "own", "-", "--raw", "--input", "tagged"], input="It/PRP rains/VBZ\n")
    assert "--raw splits text into words, but --input tagged has words already" in str(refused.exception)


def test_records_of_raw_text_have_their_line_and_quiet_says_nothing() -> None:
    text = "It rains. He left\n\nThe man's here.\n"
    done = run("parse", "--raw", "--format", "jsonl", "--quiet", text=text)
    assert [json.loads(line)["line"] for line in done.stdout.splitlines()] == [1, 1, 3]
    assert done.stderr == ""
    plain = run("parse", "-q", "--format", "jsonl", text="It rains.\n")
    assert "line" not in json.loads(plain.stdout)
    assert plain.stderr == ""


def test_kbest_names_no_objective() -> None:
    assert "decoding for" not in run("parse", "own", "-", "--kbest", "2", text="It rains .\n").stderr


def test_other_spellings_are_said_once_and_trees_show_the_words_as_given() -> None:
    done = run("parse", text="“ It rains , ” he said .\n“ It rains , ” he said .\n")
    assert done.stderr.count("as the model spells them") == 1
    assert "4 words looked up as the model spells them: “ as ``, ” as ''" in done.stderr
    assert all(Tree.parse(line).words[0] == "“" for line in done.stdout.splitlines())


def test_a_line_of_3000_words_is_a_fallback_and_the_others_are_parsed() -> None:
    done = run("parse", text="It rains .\n" + "rain " * 3000 + "\nRain fell .\n")
    first, long, last = map(Tree.parse, done.stdout.splitlines())
    assert (first.label, long.label, last.label) == ("S", "S-FALLBACK", "S")
    assert len(long.words) == 3000
    assert "1 sentence of these: too long to be parsed (too many words, or too little memory for the chart): 2" in done.stderr


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He left. She stayed!", ["He left.", "She stayed!"]),
        ('"Why?" he asked. "No."', ['"Why?" he asked.', '"No."']),
        ("He paid No. 5. No. Never.", ["He paid No. 5.", "No.", "Never."]),
        ("Dr. J. R. Smith of the U.S. Army. It ended.", ["Dr. J. R. Smith of the U.S. Army.", "It ended."]),
        ("They left the U.S. The rest stayed.", ["They left the U.S.", "The rest stayed."]),
        ("It fell by 3.5 percent... and rose", ["It fell by 3.5 percent... and rose"]),
        (
            "It closed on Jan. 5. We met on Oct. 3, 1990, in Sept. It rained.",
            ["It closed on Jan. 5.", "We met on Oct. 3, 1990, in Sept.", "It rained."],
        ),
        ("A heading\nIt rained. He left", ["A heading", "It rained.", "He left"]),
        ("   ", []),
        ("Mr. J. R. Hartley (b. 1878) bought it. It was red.", ["Mr. J. R. Hartley (b. 1878) bought it.", "It was red."]),
        ("See it (p. 45, fig. 3. Mind the axis.) there.", ["See it (p. 45, fig. 3. Mind the axis.) there."]),
        ("He left. (It rained. It was late.) She came.", ["He left.", "(It rained.", "It was late.)", "She came."]),
        ("He left (why? Nobody knows. She came.", ["He left (why?", "Nobody knows.", "She came."]),
        ("``No.'' `Why?' «Oui.» «Et toi?»", ["``No.''", "`Why?'", "«Oui.»", "«Et toi?»"]),
    ],
)
def test_sentences_of_a_paragraph(text: str, expected: list[str]) -> None:
    assert split_sentences(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("'Why?' he asked.", "` Why ? ' he asked ."),
        ("He said, 'I know.'", "He said , ` I know . '"),
        ("‘It’s late,’ she said (‘No!’).", "` It 's late , ' she said ( ` No ! ' ) ."),
        ("'Tis the dogs' house of the '90s; get 'em!", "'Tis the dogs ' house of the '90s ; get 'em !"),
        ("\"'Why?' he asked,\" she said.", "`` ` Why ? ' he asked , '' she said ."),
        ("``What,'' he said, `is it?'", "`` What , '' he said , ` is it ? '"),
        ("«Oui», dit-il. «Non.»", "« Oui » , dit-il. « Non . »"),
    ],
)
def test_quotation_marks_are_tokens(text: str, expected: str) -> None:
    assert tokenise(text) == expected.split()


@given(st.text())
def test_splitting_loses_no_characters(text: str) -> None:
    assert "".join("".join(split_sentences(text)).split()) == "".join(text.split())
    text = re.sub("[\u00ad\u200b\u2060\ufeff]", "", text)
    if '"' not in text:
        kept = "".join(tokenise(text)).replace("``", '"').replace("''", '"')
        kept = kept.replace("`", "'")
        plain = (
            text.replace("`", "'")
            .replace("’", "'")
            .replace("‘", "'")
            .replace("“", '"')
            .replace("”", '"')
            .replace("``", '"')
            .replace("''", '"')
        )
        assert sorted(kept.replace("''", '"')) == sorted("".join(plain.split()).replace("''", '"'))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See http://a.org/b?c=1, or mail x.y@z.org.", "See http://a.org/b?c=1 , or mail x.y@z.org ."),
        ("It's 'quoted' – at 10:30 — isn’t it?", "It 's ` quoted ' – at 10:30 — is n't it ?"),
        ("AT&T's R&D cost $1,000.50 (50%).", "AT&T 's R&D cost $ 1,000.50 ( 50 % ) ."),
        ("I cannot; gonna... wait", "I can not ; gon na ... wait"),
        ("the govern\u00adment\u200b fell\ufeff", "the government fell"),
        ("\ue000 see www.a.org, \ue000b or c\ue000@d.org.", "\ue000 see www.a.org , \ue000b or c\ue000@d.org ."),
    ],
)
def test_words_of_a_sentence(text: str, expected: str) -> None:
    assert " ".join(tokenise(text)) == expected


def test_tokens_of_the_penn_treebank_do_not_look_unsplit() -> None:
    text = "Mr. Smith of Acme Corp. , who 's `` here '' , did n't pay $ 1,000 in the U.S. on Jan. 5 : O'Neill did ."
    assert list(unsplit_words(text.split(" "))) == []
    assert not any(list(unsplit_words(["apples", ",", last])) for last in ("etc.", "Inc.", "Jr.", "Dec."))
    words = ["Who,", "me?", "it's", "he’ll", "telescope."]
    assert list(unsplit_words(words)) == words


@pytest.mark.parametrize(
    ("known", "given", "expected"),
    [
        ("( ) [ n't", "-LRB- -RRB- -LSB- n’t", "( ) [ n't"),
        ("-LRB- -RRB- -LSB-", "( ) [", "-LRB- -RRB- -LSB-"),
        ("`` ''", '" It " “ It ”', "`` It '' `` It ''"),
        ('"', "`` It '' “ It ”", '" It " " It "'),
        (r"1\/2 \*", "1/2 *", r"1\/2 \*"),
        ("1/2 *", r"1\/2 \*", "1/2 *"),
        ("-- ...", "— – …", "-- -- ..."),
        ("— (", "— -- ( new", "— — ( new"),
        ("office fine Café", "of\ufb01ce ﬁ\u00adne Cafe\u0301 m\u00b2 new\u200b", "office fine Café m\u00b2 new\u200b"),
    ],
)
def test_words_are_found_in_the_spelling_of_the_model(known: str, given: str, expected: str) -> None:
    find = Spellings(known.split())
    assert find(given.split()) == tuple(expected.split())
    assert find(expected.split()) == tuple(expected.split())
