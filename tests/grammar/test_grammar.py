"""Grammars: what makes one, text both ways, counting, model files that are damaged."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from treegauge.errors import FormatError, GrammarError, MismatchError, TreegaugeWarning
from treegauge.grammar import PCFG, Rule, induce, statistics, write_nltk, write_text
from treegauge.grammar.binarisation import close, components
from treegauge.grammar.grammar_text import read_file
from treegauge.trees import Tree

SMALL = PCFG.parse('S -> `PRP$` VP "x" [.25] | VP [.75]\nVP -> "a\\b" [.5] | S [.5]\n`PRP$` -> "," [1]')


def test_zero_rules_are_no_rules_and_equal_rules_are_one() -> None:
    grammar = PCFG.from_rules([("S", ["S", "S"], 0), ("S", ["a"], 0.5), ("S", ["a"], 0.5)])
    assert [str(rule) for rule in grammar.rules] == ['S -> "a" [1]']


@pytest.mark.parametrize("p", [-0.1, math.nan, math.inf])
def test_a_probability_out_of_range_is_refused(p: float) -> None:
    with pytest.raises(GrammarError, match="outside"):
        PCFG.from_rules([("S", ["a"], p)])


def test_sums_are_checked_or_made() -> None:
    rules = [("S", ["a"], 0.5), ("S", ["b"], 0.4)]
    with pytest.raises(GrammarError, match=r"'S' sum to 0\.9"):
        PCFG.from_rules(rules)
    assert [rule.probability for rule in PCFG.from_rules(rules, renormalise=True).rules] == pytest.approx([5 / 9, 4 / 9])
    assert PCFG.from_rules([("S", ["a"], 1 / 3 + 1e-9), ("S", ["b"], 2 / 3)]).totals["S"] != 1


def test_an_empty_right_side_is_refused() -> None:
    with pytest.raises(GrammarError, match="empty right-hand side"):
        PCFG.from_rules([("S", [], 1)])


def test_a_right_side_given_as_a_text_is_refused() -> None:
    """Its letters would be the words."""
    with pytest.raises(GrammarError, match=r"a rule is \('NP', \['Det', 'man'\], 0\.5\), not \('S', 'NP VP', 1\)"):
        PCFG.from_rules([("S", "NP VP", 1)])


@pytest.mark.parametrize("rules", [["S -> NP VP [1]"], "S -> NP VP [1]", [("S", ["a"])]])
def test_rules_that_are_no_triples_are_refused(rules: Any) -> None:
    with pytest.raises(GrammarError, match=r"PCFG\.parse reads rules as text"):
        PCFG.from_rules(rules)


def test_a_start_symbol_without_rules_is_refused() -> None:
    with pytest.raises(GrammarError, match="the start symbol 'X' has no rules"):
        PCFG.from_rules([("S", ["a"], 1)], start="X")
    with pytest.raises(FormatError, match="the start symbol 'X' has no rules"):
        PCFG.parse('%start X\nS -> "a" [1]')


def test_symbols_that_no_tree_has_are_named() -> None:
    """The first left-hand side is the start symbol, which those who learn to write grammars forget."""
    with pytest.warns(TreegaugeWarning, match="the start symbol NP never leads to S, VP$"):
        PCFG.parse('NP -> "I" [1]\nVP -> "sleep" [1]\nS -> NP VP [1]')
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PCFG.parse('S -> NP VP [1]\nVP -> "sleep" [1]\nNP -> N [1]\nN -> "I" [1]')


def test_arrows_and_quotes_of_slides_are_read(tmp_path: Path) -> None:
    slide = tmp_path / "slide.txt"
    slide.write_text("S → NP VP [1]\nNP → “I” [1]\nVP → ‘sleep’ [1]\n", encoding="utf-8")
    assert str(read_file(slide)) == 'S -> NP VP [1]\nNP -> "I" [1]\nVP -> "sleep" [1]'


def test_a_grammar_does_not_change_and_copies_are_equal() -> None:
    import copy
    import pickle

    with pytest.raises(AttributeError):
        SMALL.start = "X"  # pyright: ignore
    with pytest.raises(TypeError):
        SMALL.labels["S"] = "T"  # pyright: ignore
    assert copy.deepcopy(SMALL) == pickle.loads(pickle.dumps(SMALL)) == SMALL


words = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=4)


@given(st.lists(st.tuples(words, st.lists(st.tuples(words, st.booleans()), min_size=1, max_size=3)), min_size=1, max_size=5))
def test_text_holds_any_symbol_and_word(drawn: list[tuple[str, list[tuple[str, bool]]]]) -> None:
    rules = [Rule(lhs, tuple(x for x, _ in rhs), tuple(w for _, w in rhs), 1.0) for lhs, rhs in drawn]
    symbols = {symbol for rule in rules for symbol, word in zip(rule.rhs, rule.words, strict=True) if not word}
    rules += [Rule(symbol, ("w",), (True,), 1.0) for symbol in sorted(symbols - {rule.lhs for rule in rules})]
    grammar = PCFG.from_rules(rules, renormalise=True)
    again = PCFG.parse(write_text(grammar))
    assert again.rules == grammar.rules
    assert again.start == grammar.start


def test_text_is_nltks() -> None:
    nltk = pytest.importorskip("nltk")
    grammar = PCFG.parse('S -> NP VP [.9] | VP [.1]\nNP -> "it" [1]\nVP -> "is" [0.00001] | "was" [0.99999]')
    read = nltk.PCFG.fromstring(write_nltk(grammar))
    assert [(str(p.lhs()), p.prob()) for p in read.productions()] == [(r.lhs, r.probability) for r in grammar.rules]


@pytest.mark.parametrize(
    ("text", "place", "problem"),
    [
        ("S -> A", "g:1:7", "no probability"),
        ("\n# c\nS A [1]", "g:3:3", "expected '->'"),
        ("S -> A [x]", "g:1:9", "not a probability"),
        ("S -> A [1.5]", "g:1:9", "not a probability"),
        ("S -> [1]", "g:1:9", "must not be empty"),
        ("S -> A [1] B", "g:1:12", "expected '|'"),
        ('"w" -> A [1]', "g:1:1", "starts with a symbol"),
        ("%start", "g:1:1", "%start SYMBOL"),
        ("", "g:1:1", "no rules"),
        ('S -> "a" [.5]', "g", "sum to 0.5"),
        ("S -> A [.5]", "g:1:6", "the symbol 'A' has no rules"),
        ("S -> $ [1]", "g:1:6", "neither a symbol"),
    ],
)
def test_mistakes_in_text_have_a_place(text: str, place: str, problem: str) -> None:
    from treegauge.grammar.grammar_text import read_text

    with pytest.raises(FormatError) as caught:
        read_text(text, path="g")
    assert caught.value.place == place
    assert problem in str(caught.value)


def test_continued_lines_and_start() -> None:
    grammar = PCFG.parse('%start B\nA -> "a" [.5] \\\n | B [.5]\nB -> A [1]')
    assert (grammar.start, len(grammar.rules)) == ("B", 3)


def test_induction_counts_relative_frequency() -> None:
    trees = [Tree.parse(text) for text in ("(S (A a) (B b))", "(S (A a) (A a))", "(S (A c) (B b))")]
    grammar = induce(trees)
    probabilities = {str(rule.production): rule.probability for rule in grammar.rules}
    assert probabilities["S -> A B"] == pytest.approx(2 / 3)
    assert probabilities['A -> "a"'] == pytest.approx(3 / 4)


def test_trees_with_several_roots_get_a_start_that_does_not_show() -> None:
    grammar = induce([Tree.parse("(S (A a))"), Tree.parse("(NP (A a))")])
    assert (grammar.start, grammar.label("TOP")) == ("TOP", None)
    with pytest.raises(MismatchError, match="empty node"):
        induce([Tree.parse("(S (A) (B b))")])
    with pytest.raises(MismatchError, match="no trees"):
        induce([])


def test_statistics() -> None:
    found = statistics(SMALL)
    assert (found.rules, found.lexical, found.unary, found.binary, found.longer) == (5, 2, 2, 0, 1)
    assert (found.symbols, found.words, found.cyclic, found.longest) == (3, 3, 2, 3)


def test_closure_is_the_inverse() -> None:
    edges = [(0, 1, 0.5), (1, 0, 0.25), (1, 2, 0.25), (2, 2, 0.5), (0, 3, 0.25)]
    u = np.zeros((4, 4))
    for a, b, p in edges:
        u[a, b] = p
    want = np.linalg.inv(np.eye(4) - u)
    closure = close(4, edges)
    got = np.zeros((4, 4))
    for x in range(4):
        for k in range(closure.first[x], closure.first[x + 1]):
            got[closure.top[k], x] = closure.total[k]
    assert np.allclose(got, want, rtol=1e-14)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=20))
def test_components(edges: list[tuple[int, int]]) -> None:
    reach = np.eye(7, dtype=bool)
    for a, b in edges:
        reach[a, b] = True
    for k in range(7):
        reach |= reach[:, [k]] & reach[[k], :]
    groups = components(7, edges)
    assert sorted(x for group in groups for x in group) == list(range(7))
    for i, group in enumerate(groups):
        assert all(reach[a, b] for a in group for b in group)
        assert not any(reach[a, b] for a in group for later in groups[i + 1 :] for b in later)


GOOD_RULES = 'VP -> V NP [1]  # a comment\nNP -> "I" [1/2] | "you" [.5]\nV -> "see" [1]'


def test_comments_at_the_end_of_lines_and_fractions() -> None:
    grammar = PCFG.parse("S -> NP VP [1]\n" + GOOD_RULES)
    assert [rule.probability for rule in grammar.rules if rule.lhs == "NP"] == [0.5, 0.5]


@pytest.mark.parametrize(
    ("rule", "column", "reason"),
    [
        ("S -> NP Vp [1]", 9, "the symbol 'Vp' has no rules; did you mean 'VP'? Words are written in quotes"),
        ('S -> "it" it [1]', 11, "the symbol 'it' has no rules; words are written in quotes"),
        ("S -> NP VP [1/0]", 13, "[1/0] is not a probability between 0 and 1, such as 0.5 or 1/2"),
        ("S -> NP VP [half]", 13, "[half] is not a probability between 0 and 1, such as 0.5 or 1/2"),
    ],
)
def test_students_mistakes(rule: str, column: int, reason: str) -> None:
    with pytest.raises(FormatError) as found:
        PCFG.parse(f"%start S\n{rule}\n{GOOD_RULES}")
    assert (found.value.line, found.value.column, found.value.problem) == (2, column, reason)


def test_a_line_may_be_continued_by_an_empty_one() -> None:
    assert PCFG.parse('S -> "a" [1] \\\n\n') == PCFG.parse('S -> "a" [1]')
