"""EVALB.md 5: quotation marks that one side deletes are put back when the lengths differ."""

from __future__ import annotations

import pytest
from evalb_helpers import NEW, run

from treegauge.metrics.evalb.lines import Log, Rules, read_sentence, repair_quotes
from treegauge.presets.prm import parse_prm

RULES = Rules(parse_prm(NEW.encode())[0])


def spans(gold: str, test: str):
    """Words and brackets of both sides after the repair."""
    both = [read_sentence(line.encode(), RULES, Log()) for line in (gold, test)]
    return [
        (b" ".join(s.words).decode(), [(a, b, label.decode()) for a, b, label in zip(s.starts, s.ends, s.labels, strict=True)])
        for s in repair_quotes(*both, RULES, Log())
    ]


@pytest.mark.parametrize("mark", ["'", '"', "/"])
def test_put_back_into_gold(mark: str):
    gold, test = f"(S (NP (N a)) (VP (V b) (`` {mark}) (N c)))", f"(S (NP (N a)) (VP (V b) (CD {mark}) (N c)))"
    row = run(gold, test, NEW).row
    assert (row.status, row.matched, row.gold, row.words, row.tags) == (0, 3, 3, 4, 3)


def test_put_back_into_test():
    row = run("(S (NP (N a) (POS ')) (VP (V b)))", "(S (NP (N a) ('' ')) (VP (V b)))", NEW).row
    assert (row.status, row.matched, row.words, row.tags) == (0, 3, 3, 2)


def test_later_brackets_move_and_open_ones_grow():
    gold = "(S (X (N w)) (NP (A (N a)) (`` ') (B (N b))) (VP (V c)))"
    test = gold.replace("``", "NN")
    assert spans(gold, test)[0] == (
        "w a ' b c",
        [(0, 5, "S"), (0, 1, "X"), (1, 4, "NP"), (1, 2, "A"), (3, 4, "B"), (4, 5, "VP")],
    )


def test_quote_adjacent():
    gold, test = "(S (NP (N a)) (`` \") ('' ') (VP (V b)))", "(S (NP (N a)) (NN \") (NN ') (VP (V b)))"
    outcome = run(gold, test, NEW)
    assert outcome.messages == ["1 : Words unmatch (\"|')"]
    # The first gold quote is put back twice, the second never.
    assert spans(gold, test)[0][0] == 'a " " b'


def test_quote_double_insert_bug():
    gold, test = "(S (NP (N a)) (`` ') (X ('' ') (N c)) (VP (V b)))", "(S (NP (N a)) (NN ') (X (NN ') (N c)) (VP (V b)))"
    # With equal words the double insertion goes unnoticed, but X has moved by two where it should grow by one.
    assert spans(gold, test)[0] == ("a ' ' c b", [(0, 5, "S"), (0, 1, "NP"), (3, 4, "X"), (4, 5, "VP")])
    row = run(gold, test, NEW).row
    assert (row.status, row.matched, row.gold, row.test, row.crossing, row.tags) == (0, 3, 4, 4, 0, 3)


def test_quote_equal_len_no_fix():
    gold, test = "(S (`` ') (N a) (NN '))", "(S (NN ') (N a) ('' '))"
    assert run(gold, test, NEW).messages == ["1 : Words unmatch (a|')"]


def test_quote_token_latex():
    gold, test = "(S (N a) (`` ``) (N c))", "(S (N a) (NN ``) (N c))"
    assert run(gold, test, NEW).messages == ["1 : Length unmatch (2|3)"]
    assert run(gold.replace("``)", "'')"), test.replace("``)", "'')"), NEW).messages == ["1 : Length unmatch (2|3)"]


def test_only_listed_tags():
    gold, test = "(S (N a) (`` ') (N c))", "(S (N a) (JJ ') (N c))"
    assert run(gold, test, NEW).messages == ["1 : Length unmatch (2|3)"]
    assert run(gold, test, NEW + "QUOTE_LABEL JJ\n").row.status == 0
    assert run(gold, gold.replace("``", "NN"), NEW.replace("QUOTE_LABEL ``", "QUOTE_LABEL X")).row.status == 1


def test_nothing_to_repair_when_both_or_neither_are_deleted():
    gold, test = "(S (N a) (`` ') (N c))", "(S (N a) ('' ') (N c) (N d))"
    assert run(gold, test, NEW).messages == ["1 : Length unmatch (2|3)"]
    gold, test = "(S (N a) (NN ') (N c))", "(S (N a) (CD ') (N c) (N d))"
    assert run(gold, test, NEW).messages == ["1 : Length unmatch (3|4)"]


def test_a_quote_elsewhere_is_not_put_back():
    assert run("(S (N a) (`` ') (N b))", "(S (N a) (N b) (NN '))", NEW).messages == ["1 : Length unmatch (2|3)"]


def test_repair_on_both_sides():
    gold, test = "(S (`` ') (N a) (NN \") (N b) (`` /))", "(S (CD ') (N a) ('' \") (N b) (NN /))"
    row = run(gold, test, NEW).row
    assert (row.status, row.words, row.tags, row.matched) == (0, 5, 2, 1)


def test_one_test_quote_can_be_put_back_for_each_gold_quote():
    # Two gold quotes at the same index: impossible unless one is deleted in gold, which is then no partner.
    gold, test = "(S (`` ') (NN ') (N a))", "(S ('' ') (N a))"
    assert run(gold, test, NEW).row.status == 0


def test_an_unclosed_bracket_counts_up_from_minus_one():
    gold, test = "(S (N a) (`` ') (N b)", "(S (N a) (NN ') (N b))"
    outcome = run(gold, test, NEW)
    # End -1 becomes 0, so the bracket from 0 to 0 holds no words.
    assert (outcome.row.status, outcome.row.gold, outcome.row.test) == (1, 0, 1)


def test_debug_2_shows_the_repair():
    outcome = run("(S (NP (N a)) (`` ') (VP (V b)))", "(S (NP (N a)) (NN ') (VP (V b)))", NEW + "DEBUG 2\n")
    lines = outcome.lines
    start = lines.index("1: `` - '")
    assert lines[start : start + 8] == [
        "1: `` - '",
        "1: NN - '",
        "bra=2, ind=1",
        "bracket[0]={0,2}",
        "bracket[1]={0,1}",
        "bracket[2]={1,2}",
        "endslen=1",
        "1.res=0, 2.res=0, 1.start=0, 2.start=0, 1.end=3, 2.end=3",
    ]


def test_the_sentences_given_stay_as_they_are():
    gold, test = (read_sentence(line, RULES, Log()) for line in (b"(S (N a) (`` '))", b"(S (N a) (NN '))"))
    repair_quotes(gold, test, RULES, Log())
    assert (gold.words, gold.ends) == ([b"a"], [1])
