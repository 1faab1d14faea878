"""The chart as a table: its numbers by enumeration of all parses, and its HTML."""

from __future__ import annotations

import math
import re
from collections import defaultdict

import pytest

from treegauge import PCFG, Forest

GRAMMAR = PCFG.parse('S -> S S [.4] | A [.1] | "x" [.5]\nA -> "x" [.25] | A A [.75]')


def insides(grammar: PCFG, words: list[str]) -> dict[tuple[int, int, str], float]:
    """The inside probability of each symbol over each span: the sum over all parses with that symbol as the start."""
    found: dict[tuple[int, int, str], float] = defaultdict(float)
    rules = [(rule.lhs, rule.rhs, rule.probability) for rule in grammar.rules]
    for symbol in grammar.nonterminals:
        own = PCFG.from_rules(rules, start=symbol)
        for start in range(len(words)):
            for end in range(start + 1, len(words) + 1):
                part = Forest(own, words[start:end])
                if part.has_parse:
                    found[start, end, symbol] = math.fsum(math.exp(parse.log_probability) for parse in part.kbest(10_000))
    return found


def test_insides_and_posteriors_are_those_of_all_parses() -> None:
    words = ["x"] * 4
    forest = Forest(GRAMMAR, words)
    entries = forest.chart_table().entries
    expected = insides(GRAMMAR, words)
    assert {(e.start, e.end, e.symbol) for e in entries} == set(expected)
    for entry in entries:
        assert entry.inside == pytest.approx(expected[entry.start, entry.end, entry.symbol], rel=1e-9)
    posteriors = {(c.start, c.end, c.label): c.posterior for c in forest.constituents()}
    for e in entries:
        assert e.posterior == pytest.approx(posteriors.get((e.start, e.end, e.symbol), 0.0))


def test_a_chart_can_be_shown_up_to_a_length_and_without_a_parse() -> None:
    forest = Forest(PCFG.parse('S -> A A [1]\nA -> "<b>" [1]'), ["<b>", "<b>", "y"])
    assert not forest.has_parse
    assert [(e.start, e.end, e.symbol, e.inside, e.posterior) for e in forest.chart_table().entries] == [
        (0, 1, "A", 1.0, 0.0),
        (1, 2, "A", 1.0, 0.0),
        (0, 2, "S", 1.0, 0.0),
    ]
    assert [e.end - e.start for e in forest.chart_table(1).entries] == [1, 1]
    page = forest._repr_html_()
    assert "Not in the grammar: y." in page
    assert "<b><b>" not in page
    assert "&lt;b&gt;" in page


def test_the_table_has_a_cell_for_each_span_and_opens_without_a_script() -> None:
    page = Forest(GRAMMAR, ["x"] * 3).chart_table().html()
    assert page.count("<details") == 6
    assert "<script" not in page
    assert re.search(r"S -&gt; S S at 1: 0\.\d+", page)
    assert page.count("<tr><th>") == 3 + 1 + 6
