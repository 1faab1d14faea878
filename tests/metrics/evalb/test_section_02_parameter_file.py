"""EVALB.md 2: the parameter file, as a value (``parse_prm``) and through the program."""

from __future__ import annotations

import pytest
from evalb_helpers import COLLINS, TRAM, run

from treegauge.presets.prm import Parameters, atoi, parse_prm


def parse(text: str | bytes) -> Parameters:
    return parse_prm(text if isinstance(text, bytes) else text.encode())[0]


def said(text: str) -> list[str]:
    return [message.text.decode() for message in parse_prm(text.encode())[1]]


def test_every_keyword():
    parameters = parse(
        "DEBUG 1\nMAX_ERROR 7\nCUTOFF_LEN 70\nLABELED 0\nDELETE_LABEL TOP\nDELETE_LABEL_FOR_LENGTH -NONE-\n"
        "QUOTE_LABEL POS\nEQ_LABEL ADVP PRT\nEQ_WORD can ca\n"
    )
    assert parameters == Parameters(
        debug=1,
        max_error=7,
        cutoff_length=70,
        labelled=False,
        delete_labels=(b"TOP",),
        delete_labels_for_length=(b"-NONE-",),
        quote_labels=(b"POS",),
        equal_labels=((b"ADVP", b"PRT"),),
        equal_words=((b"can", b"ca"),),
    )


def test_defaults_are_those_without_a_file():
    assert parse("") == Parameters(0, 10, 40, True, (), (), (), (), ())


def test_files_accumulate():
    first, _ = parse_prm(b"DELETE_LABEL TOP\nCUTOFF_LEN 10\nEQ_WORD a b\n")
    both, _ = parse_prm(b"DELETE_LABEL .\nCUTOFF_LEN 20\n", first)
    assert both == Parameters(cutoff_length=20, delete_labels=(b"TOP", b"."), equal_words=((b"a", b"b"),))


def test_prm_two_labels():
    assert parse("DELETE_LABEL . ,\n").delete_labels == (b". ,",)
    outcome = run("(S (N a) (. .))", "(S (N a) (. .))", "DELETE_LABEL . ,\n")
    assert outcome.row.words == 2


def test_prm_trailing_comment():
    assert parse("DELETE_LABEL .   # the full stop\n").delete_labels == (b".   # the full stop",)


def test_prm_leading_space():
    assert said(" DELETE_LABEL TOP\n") == ["Unknown keyword ( DELETE_LABEL TOP) in parameter file"]
    assert said("\tDEBUG 1  \n") == ["Unknown keyword (\tDEBUG 1) in parameter file"]
    outcome = run(TRAM, TRAM, " DELETE_LABEL TOP\n")
    assert outcome.stderr == b"Unknown keyword ( DELETE_LABEL TOP) in parameter file\n"
    assert (outcome.row.gold, outcome.code) == (5, 0)


def test_comments_only_in_the_first_column():
    assert parse_prm(b"#DEBUG 1\n# DEBUG 1\n") == (Parameters(), ())
    assert said("  # a comment\n") == ["Unknown keyword (  # a comment) in parameter file"]


def test_lines_shorter_than_three_are_skipped():
    assert parse_prm(b"\n \nab\nx\n   \n\t\t\n") == (Parameters(), ())
    assert said("abc\n") == ["Unknown keyword (abc) in parameter file"]


def test_keywords_are_case_sensitive_and_whole():
    assert said("debug 1\nDEBUGS 1\nDELETE_LABELS x\n") == [
        "Unknown keyword (debug 1) in parameter file",
        "Unknown keyword (DEBUGS 1) in parameter file",
        "Unknown keyword (DELETE_LABELS x) in parameter file",
    ]


def test_blanks_between_keyword_and_value():
    assert parse("DELETE_LABEL\t TOP\nDELETE_LABEL \v\f.  \r\n").delete_labels == (b"TOP", b".")


def test_crlf_and_a_last_line_without_newline():
    assert parse("CUTOFF_LEN 9\r\nDELETE_LABEL TOP") == Parameters(cutoff_length=9, delete_labels=(b"TOP",))


@pytest.mark.parametrize("value", ["one", "one two three"])
def test_pairs_want_exactly_two_words(value: str):
    assert parse_prm(f"EQ_LABEL {value}\n".encode())[0] == Parameters()
    assert said(f"EQ_LABEL {value}\nEQ_WORD {value}\n") == ["EQ_LABEL requires two values", "EQ_WORD requires two values"]


def test_duplicates_are_harmless():
    twice = COLLINS + COLLINS
    assert run(TRAM, TRAM, twice) == run(TRAM, TRAM, COLLINS)


def test_labeled_text_value():
    gold, test = "(S (NP (N a)) (N b))", "(S (VP (N a)) (N b))"
    assert parse("LABELED yes\n").labelled is False
    assert run(gold, test, "LABELED yes\n").row.matched == 2
    assert run(gold, test, "LABELED 1\n").row.matched == 1
    assert run(gold, test, "LABELED -3\n").row.matched == 1
    assert parse("DEBUG much\nMAX_ERROR many\n") == Parameters(debug=0, max_error=0)


def test_prm_missing_value():
    parameters, messages = parse_prm(b"DELETE_LABEL\nCUTOFF_LEN 12\nDEBUG   \n")
    assert parameters == Parameters(cutoff_length=12)
    assert [(message.line, message.undefined) for message in messages] == [(1, True), (3, True)]
    outcome = run(TRAM, TRAM, "DELETE_LABEL\n")
    assert outcome.messages == ["treegauge: prm line 1: DELETE_LABEL has no value; the line is ignored"]
    assert (outcome.code, outcome.row.gold) == (0, 5)
    assert said("EQ_LABEL\n") == ["EQ_LABEL requires two values"]


def test_records_of_499_bytes():
    label = b"x" * 480
    fits, cut = b"DELETE_LABEL " + label + b"12345\n", b"DELETE_LABEL " + label + b"123456789\n"
    assert len(fits) == 499
    assert parse(fits).delete_labels == (label + b"12345",)
    parameters, messages = parse_prm(cut)
    assert parameters.delete_labels == (label + b"123456",)
    assert [message.text for message in messages] == [b"Unknown keyword (789) in parameter file"]


def test_a_nul_ends_a_line():
    assert parse(b"DELETE_LABEL TO\0P\nCUTOFF_LEN 3\n") == Parameters(cutoff_length=3, delete_labels=(b"TO",))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (b"12", 12),
        (b" \t+12x", 12),
        (b"-7", -7),
        (b"- 7", 0),
        (b"", 0),
        (b"1e3", 1),
        (b"0012", 12),
        (b"2147483648", -2147483648),
        (b"9" * 30, -1),
        (b"-" + b"9" * 30, 0),
        (b"9" * 10_000, -1),
    ],
)
def test_numbers_are_read_as_c_reads_them(text: bytes, number: int):
    assert atoi(text) == number
