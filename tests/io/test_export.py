"""The NEGRA export format, read: versions, tables, comments, labels, gaps, and all its errors."""

from __future__ import annotations

import pytest

from treegauge.errors import FormatError, InputError
from treegauge.io import ReadOptions, Source, check, read
from treegauge.trees import Treebank

NEGRA = """\
%% a comment before everything
#FORMAT 3
#BOT ORIGIN
0\t--\t
1\trefcorp1\tFrankfurter Rundschau
#EOT ORIGIN
#BOT WORDTAG
0	UNKNOWN	N	#BOS is only text here
#EOT WORDTAG
#BOS 1 2 899973978 1 %% @SB2AV@
Mögen		VMFIN	3.Pl.Pres.Konj	HD	504
Puristen		NN	Masc.Nom.Pl.*	NK	502	%% R=1 (
aller		PIDAT	*.Gen.Pl	NK	500
Musikbereiche		NN	Masc.Gen.Pl.*	NK	500
die		ART	Def.Fem.Akk.Sg	NK	501
Nase		NN	Fem.Akk.Sg.*	NK	501	SB	504
.		$.	--	--	0
#500		NP	--	GR	502
#501		NP	--	OA	504
#502		NP	--	SB	504
#504		S	--	--	0
#EOS 1
#BOS 2 2 0 1
(		$(	--	--	0
Ja		PTKANT	--	--	0
)		$(	--	--	0
#EOS 2
"""

VERSION_4 = """\
#FORMAT 4
#BOS 7 0 0 0
Häuser\tHaus\tNN\tcase=nom|number=pl\tSB\t500
stehen\tstehen\tVVFIN\t--\tHD\t500
#500\t--\tS\t--\t--\t0
#EOS 7
"""


def reading(text: str, **options: object) -> Treebank:
    return read(Source("x.export", text.encode()), ReadOptions(**options))  # pyright: ignore[reportArgumentType]


def errors(text: str, **options: object) -> list[str]:
    found = check(Source("x.export", text.encode()), ReadOptions(**options))  # pyright: ignore[reportArgumentType]
    return [f"{item.place}: {item.problem}" for item in found if isinstance(item, InputError)]


def sentence(*rows: str, name: str = "1") -> str:
    return "\n".join([f"#BOS {name} 0 0 0", *rows, f"#EOS {name}", ""])


def test_a_file_as_negra_has_it() -> None:
    bank = reading(NEGRA)
    assert [str(tree) for tree in bank] == [
        "(VROOT (S (VMFIN-HD Mögen) (NP-SB (NN-NK Puristen) (NP-GR (PIDAT-NK aller) (NN-NK Musikbereiche))) "
        "(NP-OA (ART-NK die) (NN-NK Nase))) ($. .))",
        "(VROOT ($-LRB- -LRB-) (PTKANT Ja) ($-LRB- -RRB-))",
    ]
    assert bank.words(1) == ["(", "Ja", ")"]
    assert bank.place(0) == "x.export:10 (sentence 1)"


def test_without_functions_with_features() -> None:
    assert str(reading(NEGRA, functions=False)[1]) == "(VROOT ($-LRB- -LRB-) (PTKANT Ja) ($-LRB- -RRB-))"
    assert str(reading(NEGRA, functions=False, features=True)[0]).startswith("(VROOT (S (VMFIN##morph=3.Pl.Pres.Konj## Mögen)")


def test_version_4_has_lemmas() -> None:
    assert str(reading(VERSION_4)[0]) == "(VROOT (S (NN-SB Häuser) (VVFIN-HD stehen)))"
    assert str(reading(VERSION_4, features=True)[0]) == (
        "(VROOT (S (NN-SB##lem=Haus|case=nom|number=pl## Häuser) (VVFIN-HD##lem=stehen## stehen)))"
    )


@pytest.mark.parametrize("text", [NEGRA, VERSION_4])
def test_the_version_is_guessed_without_a_header(text: str) -> None:
    assert reading("\n".join(line for line in text.split("\n") if not line.startswith("#FORMAT"))) == reading(text)


def test_children_come_in_the_order_of_their_first_words() -> None:
    text = sentence("a A -- -- 501", "b B -- -- 500", "c C -- -- 0", "#500 Y -- -- 0", "#501 X -- -- 0")
    assert str(reading(text)[0]) == "(VROOT (X (A a)) (Y (B b)) (C c))"


def test_an_empty_sentence_is_an_empty_parse_and_missing_tags_are_empty_labels() -> None:
    assert [str(tree) for tree in reading(sentence() + sentence("a -- -- -- 0", name="2"))] == ["()", "(VROOT ( a))"]


def test_sentences_over_five_hundred_words_and_deep_ones() -> None:
    wide = sentence(*(f"w{k} T -- -- 500" for k in range(1200)), "#500 S -- -- 0")
    assert reading(wide).n_tokens == 1200
    depth = 100_000
    deep = sentence("w T -- -- 500", *(f"#{500 + k} X -- -- {501 + k}" for k in range(depth - 1)), f"#{499 + depth} X -- -- 0")
    assert reading(deep).n_nodes == depth + 2


def test_a_discontinuous_tree() -> None:
    text = NEGRA + sentence(
        "Das PDS -- OA 500",
        "kann VMFIN -- HD 501",
        "ich PPER -- SB 501",
        "tun VVINF -- HD 500",
        "#500 VP -- OC 501",
        "#501 S -- -- 0",
        name="3",
    )
    assert str(reading(text)[2]) == ("(VROOT (S (VP-OC (PDS-OA 0=Das) (VVINF-HD 3=tun)) (VMFIN-HD 1=kann) (PPER-SB 2=ich)))")


COMMA = sentence("Er PPER -- SB 500", ", $, -- -- 0", "sagt VVFIN -- HD 500", ". $. -- -- 0", "#500 S -- -- 0")


def test_punctuation_at_the_root_is_attached_on_request() -> None:
    assert str(reading(COMMA)[0]) == "(VROOT (S (PPER-SB 0=Er) (VVFIN-HD 2=sagt)) ($, 1=,) ($. 3=.))"
    assert str(reading(COMMA, attach_punctuation=True)[0]) == "(VROOT (S (PPER-SB Er) ($, ,) (VVFIN-HD sagt)) ($. .))"


def test_attached_punctuation_goes_to_the_lowest_node_around_it() -> None:
    text = sentence(
        "a A -- -- 500", '" X -- -- 0', ", $, -- -- 0", "b B -- -- 500", "- $( -- -- 0", "c C -- -- 501", "und KON -- -- 0",
        "#500 NP -- -- 501", "#501 S -- -- 0",
    )  # fmt: skip
    assert str(reading(text, attach_punctuation=True)[0]) == (
        '(VROOT (S (NP (A a) (X ") ($, ,) (B b)) ($-LRB- -) (C c)) (KON und))'
    )


def test_a_real_gap_stays_with_punctuation_attached() -> None:
    text = sentence("a A -- -- 500", "b B -- -- 0", ", $, -- -- 0", "c C -- -- 500", "#500 X -- -- 0")
    assert str(reading(text, attach_punctuation=True)[0]) == "(VROOT (X (A 0=a) (C 3=c)) (B 1=b) ($, 2=,))"


WRONG = {
    "a A -- --": "x.export:2:1: 4 columns instead of 5",
    "a A -- -- x": "x.export:2:1: the parent 'x' is not a number",
    "a A -- -- 777": "x.export:2:11: sentence 1: a word has the parent 777, which does not exist",
    "a A -- -- 500\n#500 X -- -- 501\n#501 Y -- -- 500": "x.export:3:14: sentence 1: node 500 is not below "
    "the root: its ancestors form a cycle",
    "a A -- -- 0\n#500 X -- -- 0": "x.export:3:1: sentence 1: node 500 (X) covers no word",
    "a A -- -- 500\n#500 X -- -- 0\n#500 X -- -- 0": "x.export:4:1: node 500 occurs twice",
    "777 A -- -- 777 SB 777": "x.export:2:13: sentence 1: a word has the parent 777, which does not exist",
}


@pytest.mark.parametrize("rows", WRONG)
def test_what_can_be_wrong_with_a_sentence(rows: str) -> None:
    assert errors(sentence(*rows.split("\n"))) == [WRONG[rows]]


def test_a_sentence_must_end_with_its_own_eos() -> None:
    lost = "#BOS 1\na A -- -- 0\nb B -- -- 0\n#EOS 2\n#BOS 3\nc C -- -- 0\n#EOS\n#BOS\nd D -- -- 0\n#EOS 4\n"
    assert errors(lost) == ["x.export:4:1: #EOS of sentence 2, but the sentence began as 1"]
    assert [str(tree) for tree in reading(lost[lost.index("#BOS 3") :])] == ["(VROOT (C c))", "(VROOT (D d))"]


@pytest.mark.parametrize(("version", "row"), [(4, "a A -- -- 0"), (3, "a a A -- -- 0")])
def test_columns_of_the_other_version_are_named(version: int, row: str) -> None:
    with pytest.raises(FormatError, match=rf"This looks like version {7 - version}: correct the line #FORMAT"):
        reading(f"#FORMAT {version}\n" + sentence(row))


def test_all_errors_are_listed_and_good_sentences_read() -> None:
    rows = "stray|more|#FORMAT 3|#BOS 1|a A|b|#EOS 1|#BOS 2|c C -- -- 0|#BOS 3|d D -- -- 0|#EOS 3|#EOS 4|stray|#BOS 5|e E -- -- 0"
    text = rows.replace("|", "\n")
    assert errors(text) == [
        "x.export:1:1: a line outside of any sentence",
        "x.export:5:1: 2 columns instead of 5",
        "x.export:6:1: 1 column instead of 5",
        "x.export:10:1: sentence 2 has no #EOS before the next #BOS",
        "x.export:13:1: #EOS without a #BOS before it",
        "x.export:14:1: a line outside of any sentence",
        "x.export:16:1: sentence 5 has no #EOS: the file ends in it",
    ]
    banks = [item for item in check(Source("x.export", text.encode())) if isinstance(item, Treebank)]
    assert [str(tree) for bank in banks for tree in bank] == ["(VROOT (D d))"]


def test_other_versions_are_refused() -> None:
    assert errors("#FORMAT 5\n") == ["x.export:1:1: unknown version '5'"]


def test_bytes_that_are_no_text() -> None:
    data = b"#BOS 1\ncaf\xe9 A -- -- 0\nb\0 B -- -- 0\n#EOS 1\n"
    found = list(check(Source("x.export", data), ReadOptions(encoding="utf-8")))
    assert [str(item).split("\n")[0] for item in found] == [
        "x.export:2:4: byte 0xe9 is not UTF-8",
        "x.export:3:2: zero byte",
    ]
    latin = read(Source("x.export", b"#BOS 1\ncaf\xe9 A -- -- 0\n#EOS 1\n"), ReadOptions(encoding="latin-1"))
    assert latin.vocabulary == ("café",)
