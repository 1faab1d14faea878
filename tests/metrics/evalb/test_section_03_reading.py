"""EVALB.md 3: how a line becomes words and brackets."""

from __future__ import annotations

import pytest
from evalb_helpers import CLOSE, COLLINS, OPEN, TRAM, run

READING = "1 : Reading sentence"


def read(line: str | bytes, prm: str = ""):
    """A line against itself."""
    return run(line, line, prm)


def is_endless(outcome, *first: str) -> bool:
    """The messages, then "Reading sentence" up to the limit of 12, and no row."""
    left = 12 - len(first)
    return outcome.messages == [*first, *[READING] * left] and outcome.code == 1 and outcome.rows == []


def line_of(size: int) -> str:
    """A well-formed line of so many bytes, without newline: two words, one of them long in blanks."""
    line = "(S (N a)%s(N b))"
    return line % (" " * (size - len(line) + 2))


def test_line_4998():
    assert len(line_of(4998)) == 4998
    outcome = read(line_of(4998) + "\n" + TRAM + "\n")
    assert (outcome.messages, [row.words for row in outcome.rows]) == ([], [2, 6])


def test_a_longer_line_is_read_whole_and_remarked():
    outcome = read(line_of(4999) + "\n" + TRAM + "\n")
    assert [row.words for row in outcome.rows] == [2, 6]
    assert [message.split(";")[0] for message in outcome.messages] == [
        "treegauge: gold line 1: 5000 bytes are read whole",
        "treegauge: test line 1: 5000 bytes are read whole",
    ]
    assert read(line_of(4999)).messages == []  # without a newline it still fits


def test_the_last_line_needs_no_newline():
    assert run("(S (N a))\n(S (N b))", "(S (N a))\n(S (N b))\n").rows[1].matched == 1


@pytest.mark.parametrize("blank", [" ", "\t", "\v", "\f", "\r", " \r\t "])
def test_six_kinds_of_whitespace(blank: str):
    outcome = read(f"{blank}(S{blank}(NP{blank}(N{blank}a){blank}){blank}(V{blank}b)){blank}\n")
    assert (outcome.row.words, outcome.row.gold, outcome.messages) == (2, 2, [])


def test_other_bytes_are_no_whitespace():
    assert read("(S (N a\u00a0b) (V c\x1cd))").row.words == 2
    assert read(b"(S (N \xff\xfe))").row.words == 1


def test_two_trees_one_line():
    outcome = read("(S (N a)) (S (N b)) (N c)")
    assert (outcome.row.words, outcome.row.gold) == (3, 2)


def test_no_blank_between_trees():
    assert read("(S(NP(N a))(VP(V b)))").row.gold == 3


def test_labels_and_words_may_be_empty():
    assert read("( (S (N a) ( b)))").row.gold == 2
    assert read("( (S (N a) ( b)))").row.words == 2


def test_preterminal_space_no_word():
    outcome = read("(S (N a) (NN ))")
    assert (outcome.row.words, outcome.row.gold) == (2, 1)


def test_no_blank_after_the_label_opens_a_nonterminal():
    outcome = read("(S (N a) (NN))")
    assert (outcome.row.words, outcome.row.gold) == (1, 1)
    dump = run("(S (N a) (()))", "(S (N a))", "DEBUG 1\n").lines
    assert "-<1>---(wn1=  1, bn1=  3)-           -<2>---(wn2=  1, bn2=  1)-" in dump


def test_no_space_after_label_before_a_bracket():
    assert read("(NP(DT the) (NN cat))").row == read("(NP (DT the) (NN cat))").row


def test_junk_before():
    assert is_endless(read("junk (S (N a))"))


def test_bare_word_line():
    assert is_endless(read("failure"))


def test_mixed_word_and_tree():
    assert is_endless(read("(S (N a) b)"))


def test_junk_after():
    assert is_endless(read("(S (N a)) x"))


def test_byte_order_mark():
    assert is_endless(read("\ufeff(S (N a))"))


def test_two_words_in_a_bracket():
    assert is_endless(read("(S (N a b))"), "1 : More than two elements in a bracket")


def test_blank_before_the_closing_bracket_of_a_terminal():
    assert is_endless(read("(S (N a ))"), "1 : More than two elements in a bracket")


def test_word_right_before_an_opening_bracket():
    # The scanner looks at the byte after the word only: an opening bracket there is no error yet.
    assert is_endless(read("(S (N a(V b)))"))


def test_a_line_that_ends_after_a_word():
    assert is_endless(read("(S (N a\n"), "1 : More than two elements in a bracket")


def test_the_endless_error_of_gold_comes_before_test_is_read():
    assert run("x", "y z").messages == [READING] * 12
    outcome = run(TRAM + "\n" + TRAM + "\nx\n", TRAM + "\n" + TRAM + "\n" + TRAM + "\n")
    assert len(outcome.rows) == 2
    assert outcome.messages == ["3 : Reading sentence"] * 12


def test_missing_closing_bracket_is_the_outermost_one():
    outcome = run("(S (NP (N a)) (VP (V b)))", "(S (NP (N a)) (VP (V b))", "DEBUG 1\n")
    assert outcome.messages == [f"1 : {OPEN}"]
    assert "  0 : 0 :   0    2  S             0 : 0 :   0   -1  S     " in outcome.lines


def test_unclosed_counted_bracket():
    outcome = run("(S (NP (N a)) (VP (V b)))", "(S (NP (N a)) (VP (V b))", "")
    assert outcome.messages == [f"1 : {OPEN}"]
    row = outcome.row
    assert (row.status, row.matched, row.gold, row.test, row.crossing) == (1, 2, 3, 3, 0)


def test_both_unclosed_brackets_match_each_other():
    outcome = read("(S (NP (N a)) (VP (V b))")
    assert (outcome.row.status, outcome.row.matched) == (1, 3)
    assert outcome.messages == [f"1 : {OPEN}"] * 2


def test_extra_close():
    outcome = run(TRAM, TRAM + ")")
    assert outcome.messages == [f"1 : {OPEN}"]
    assert (outcome.row.status, outcome.row.matched, outcome.code) == (1, 4, 0)
    assert outcome.block(0)["Number of Error sentence"] == "1"


def test_extra_close_two():
    outcome = run(TRAM + "))", TRAM)
    assert outcome.messages == [f"1 : {CLOSE}", f"1 : {OPEN}"]
    assert run(TRAM + ")))", TRAM).messages == [f"1 : {CLOSE}", f"1 : {CLOSE}", f"1 : {OPEN}"]


def test_a_closing_bracket_too_many_is_never_made_good_by_an_opening_one():
    outcome = read("(S (N a))) (S (N b)")
    assert outcome.row.status == 1
    assert outcome.messages == [f"1 : {OPEN}"] * 2


@pytest.mark.parametrize("end", ["(N", "(N ", "(N\t", "(", "( "])
@pytest.mark.parametrize("newline", ["\n", ""])
def test_truncated_label_eol(end: str, newline: str):
    outcome = run(f"{TRAM}\n(S (N a) {end}{newline}", f"{TRAM}\n(S (N a) (N b))\n")
    assert outcome.messages == [f"2 : {OPEN}", "2 : Length unmatch (1|2)"]
    assert [row.status for row in outcome.rows] == [0, 1]


def test_a_word_that_ends_with_the_file():
    outcome = run("(S (N a) (N b", "(S (N a) (N b))")
    assert outcome.messages == [f"1 : {OPEN}", "1 : Length unmatch (1|2)"]


def test_multi_line_tree():
    text = "(S\n  (N a)\n  (V b))\n" + TRAM + "\n"
    outcome = run(text, text)
    assert [(row.id, row.status) for row in outcome.rows] == [(1, 2), (2, 0), (3, 1), (4, 0)]
    assert outcome.code == 0


def test_spans_count_kept_words_in_order_of_opening():
    outcome = run("(A (. .) (B (N a) (. .)) (C (. .)) (D (N b) (E (N c))))", "(A (N a) (N b) (N c))", COLLINS + "DEBUG 1\n")
    brackets = outcome.stdout.decode().split("\n\n")[1]
    assert [line[:26] for line in brackets.splitlines()] == [
        "  0 : 1 :   0    3  A     ",
        "  1 : 0 :   0    1  B     ",
        "  2 : 5 :   1    1  C     ",
        "  3 : 0 :   1    3  D     ",
        "  4 : 0 :   2    3  E     ",
    ]


def test_punct_tag_mismatch():
    outcome = run("(S (N a) (. .))", "(S (N a) (NN .))")
    assert outcome.messages == ["1 : Length unmatch (1|2)"]
    assert outcome.row.status == 1


def test_tags_are_compared_literally_for_deletion():
    prm = "DELETE_LABEL PRT\nEQ_LABEL ADVP PRT\n"
    assert run("(S (N a) (PRT b))", "(S (N a) (ADVP b))", prm).messages == ["1 : Length unmatch (1|2)"]
    assert read("(S (N a) (PRT-X b))", prm).row.words == 2


def test_length_leaves_out_only_its_own_list():
    prm = "DELETE_LABEL .\nDELETE_LABEL_FOR_LENGTH -NONE-\nDELETE_LABEL_FOR_LENGTH X\n"
    row = read("(S (N a) (. .) (-NONE- *) (X b) (X c))", prm).row
    assert (row.length, row.words) == (2, 4)


def test_only_the_gold_length_is_used():
    assert run("(S (N a))", "(S (N a) (. .) (. .))").row.length == 1


def test_brackets_as_words_are_ordinary():
    assert read("(S (-LRB- -LRB-) (N a) (-RRB- -RRB-))", COLLINS).row.words == 3


def test_nul_ends_strings_but_not_scanning():
    assert read(b"(S (N a\0b) (N c))").row.words == 2
    assert run(b"(S (N a\0b) (N c))", b"(S (N a) (N c))", "").row.status == 0
    assert run(b"(S\0T (N a))", b"(S (N a))", "").row.matched == 1
    assert read(b"(S (N a)) \0 junk").row.status == 0
    assert read(b"(S (N a) \0 (N b))").messages == [f"1 : {OPEN}"] * 2
    assert read(b"\0(S (N a))").row.status == 2
