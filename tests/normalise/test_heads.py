"""Heads and complements: hand-checked phrases, each with the reason; the rule file's errors."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given

from treegauge.errors import FormatError, UnknownName, UsageError
from treegauge.normalise import HeadRules, head_index, head_positions, head_rules, head_tag, head_word
from treegauge.normalise.heads import complements
from treegauge.testing import trees
from treegauge.trees import Tree


@pytest.mark.parametrize(
    ("text", "head"),
    [
        # Collins 1999, Appendix A: the first label of the list that is there, from the side of the search.
        ("(VP (MD will) (VP (VB rain)))", "MD"),
        ("(VP (TO to) (VP (VB rain)))", "TO"),
        ("(VP (ADVP (RB soon)) (VBD fell) (NP (NN rain)))", "VBD"),
        ("(S (NP-SBJ (PRP it)) (VP (VBD rained)) (. .))", "VP"),
        ("(SBAR (WHNP-1 (WP who)) (S (VP (VBD fell))))", "WHNP-1"),
        ("(SBAR (IN that) (S (NP (PRP it)) (VP (VBD rained))))", "IN"),
        ("(PP (IN in) (NP (NN May)))", "IN"),
        ("(PP (VBG including) (NP (NN May)))", "VBG"),
        ("(ADJP (RB very) (JJ wet))", "JJ"),
        ("(ADJP (CD ten) (NNS years) (JJ old))", "NNS"),
        ("(ADVP (RB very) (RB soon))", "last RB"),
        ("(QP (IN about) ($ $) (CD 5) (CD million))", "$"),
        ("(SQ (VBZ does) (NP (PRP it)) (VP (VB rain)))", "VBZ"),
        ("(SINV (VP (VBD fell)) (NP (NN rain)) (VBZ is))", "VBZ"),
        ("(WHNP (WDT which) (NN rain))", "WDT"),
        ("(PRT (RP up))", "RP"),
        # NP has rules of its own, in this order.
        ("(NP (DT the) (NN cat) (POS 's))", "POS"),
        ("(NP (NP (DT the) (NN cat) (POS 's)) (JJ old) (NN mat))", "NN"),
        ("(NP (DT the) (JJ old) (NN cat) (NN mat))", "last NN"),
        ("(NP (NP (DT the) (NN cat)) (PP (IN on) (NP (NN board))))", "NP"),
        ("(NP (NP (NN a)) (, ,) (NP (NN b)))", "first NP"),
        ("(NP ($ $) (CD 5))", "$"),
        ("(NP (DT the) (CD 5))", "CD"),
        ("(NP (DT the) (JJ poor))", "JJ"),
        ("(NP (DT these) (PRP it))", "PRP"),
        ("(NP (NN rain) (. .))", "NN"),
        # Coordination: the first conjunct, except in base NPs (Bikel 2004, Figure 6).
        ("(ADVP (RB here) (CC and) (RB now))", "first RB"),
        ("(ADVP (RB here) (, ,) (CC but) (RB now))", "first RB"),
        ("(NP (NNP John) (CC and) (NNP Jane))", "last NNP"),
        ("(NP (NP (NNP John)) (CC and) (NP (NNP Jane)))", "first NP"),
        ("(UCP (ADJP (JJ old)) (CC and) (PP (IN in) (NP (NN debt))))", "ADJP"),
        ("(UCP (CC and) (PP (IN in) (NP (NN debt))))", "PP"),
        # Defaults: the side of the rule, punctuation and traces passed over.
        ("(FRAG (NP (NN rain)) (ADVP (RB here)) (. .))", "ADVP"),
        ("(PRN (, ,) (S (VP (VBD said))) (, ,))", "S"),
        ("(INTJ (UH oh) (UH my))", "first UH"),
        ("(X (: --) (. .))", ":"),
        ("(XYZ (-NONE- *) (NN rain) (NN fall))", "first NN"),
        ("(XYZ (A) (NN rain))", "NN"),
        ("(S (-NONE- *) (VP))", "-NONE-"),
    ],
)
def test_collins(text: str, head: str) -> None:
    tree = Tree.parse(text)
    which, label = head.split() if " " in head else ("first", head)
    children = [child.label if isinstance(child, Tree) else child for child in tree]
    expected = children.index(label) if which == "first" else len(children) - 1 - children[::-1].index(label)
    assert head_index(tree) == expected


def test_defaults_to_either_side() -> None:
    tree = Tree.parse("(NP (`` ``) (DT the) (NN cat) (. .))")
    assert head_index(tree, "left") == 1
    assert head_index(tree, "right") == 2


def test_words_beside_phrases_can_be_heads() -> None:
    tree = Tree("NP", ["the", Tree("NN", ["cat"]), "sat"])
    assert head_index(tree, "right") == 2
    assert head_positions(tree, "right") == [2, 1]
    assert (head_word(tree, "right"), head_tag(tree, "right")) == ("sat", "")


def test_percolation() -> None:
    tree = Tree.parse(
        "(S (NP-SBJ (NP (DT the) (NN man)) (SBAR (WHNP (WP who)) (S (VP (VBD slept))))) "
        "(VP (MD will) (VP (VB wake) (ADVP (RB up)))) (. .))"
    )
    heads = {
        f"{node.label} {' '.join(node.words)}": tree.words[i] for node, i in zip(tree.nodes(), head_positions(tree), strict=True)
    }
    assert heads["S the man who slept will wake up ."] == "will"
    assert heads["NP-SBJ the man who slept"] == "man"
    assert heads["SBAR who slept"] == "who"
    assert heads["VP wake up"] == "wake"
    assert (head_word(tree), head_tag(tree)) == ("will", "MD")


def test_a_node_without_words_has_no_head_word() -> None:
    assert head_positions(Tree.parse("(S (A) (B b))")) == [0, -1, 0]
    assert head_positions(Tree("S", [Tree("A")])) == [-1, -1]
    assert (head_word(Tree("S")), head_tag(Tree("S"))) == ("", "")
    with pytest.raises(UsageError, match="no head"):
        head_index(Tree("S"))


@given(trees(preterminals=False, empty=True, traces=True))
def test_the_head_word_is_the_head_childs(tree: Tree) -> None:
    nodes = list(tree.nodes_with_spans())
    for (node, start, end), head in zip(nodes, head_positions(tree), strict=True):
        assert (head == -1) if start == end else (start <= head < end)
        if head >= 0:
            assert head_word(node) == tree.words[head]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(S (NP-SBJ (PRP it)) (VP (VBD rained)))", ["NP-SBJ"]),
        ("(S (NP-TMP (NN today)) (NP-SBJ (PRP it)) (VP (VBD rained)))", ["NP-SBJ"]),
        ("(S (SBAR-ADV (IN if) (S (VP (VBD so)))) (, ,) (NP-SBJ (PRP it)) (VP (VBD rained)))", ["NP-SBJ"]),
        ("(S (S-TPC-1 (VP (VBD rained))) (, ,) (NP-SBJ (PRP he)) (VP (VBD said)))", ["S-TPC-1", "NP-SBJ"]),
        ("(VP (VBD gave) (NP (PRP her)) (NP (NN tea)) (PP-TMP (IN at) (NP (CD five))))", ["NP", "NP"]),
        ("(VP (VBD gave) (NP (NN tea)) (PP-DTV (TO to) (NP (PRP her))))", ["NP"]),
        ("(VP (VBD put) (NP (PRP it)) (PP-PUT (IN on) (NP (NN top))))", ["NP"]),
        ("(VP (MD will) (VP (VB rain)))", ["VP"]),
        ("(VP (VBD said) (SBAR (IN that) (S (VP (VBD rained)))))", ["SBAR"]),
        ("(VP (VBD went) (NP-DIR (NN home)) (SBAR-PRP (IN as) (S (VP (VBD rained)))))", []),
        ("(SBAR (IN that) (S (NP (PRP it)) (VP (VBD rained))))", ["S"]),
        ("(SBAR (WHNP (WP who)) (S-ADV (VP (VBD rained))))", []),
        ("(PP (IN in) (NP (NN May)))", ["NP"]),
        ("(PP (IN from) (PP-LOC (IN behind) (NP (NN May))))", ["PP-LOC"]),
        ("(PP (RB just) (IN since) (ADVP-TMP (RB then)) (NP (NN May)))", ["ADVP-TMP"]),
        ("(PP (IN in) (`` ``) (NP (NN May)) ('' ''))", ["NP"]),
        ("(NP (NP (NN rain)) (SBAR (IN that) (S (VP (VBD fell)))))", []),
        ("(SINV (NP (NN rain)) (VP (VBD fell)))", []),
        ("(VP (VB rain))", []),
        ("(VP)", []),
    ],
)
def test_complements(text: str, expected: list[str]) -> None:
    tree = Tree.parse(text)
    found = [tree[i] for i in complements(tree)]
    assert [child.label for child in found if isinstance(child, Tree)] == expected


def test_a_rule_file(tmp_path: Path) -> None:
    file = tmp_path / "german.heads"
    file.write_text("# NEGRA\n\nS first VVFIN\nS rightmost VP  NP\n* right # $\n%skip $. $,\n%skip $(\n", encoding="utf-8-sig")
    rules = head_rules(str(file))
    assert rules.skip == {"$.", "$,", "$("}
    assert rules.head_index(Tree.parse("(S (VVFIN a) (VP (X b)))")) == 0
    assert rules.head_index(Tree.parse("(S (VP-OC (X b)) (VVFIN a) (NP-SB (X c)) ($. .))")) == 2
    assert rules.head_index(Tree.parse("(S (A a) (B b) ($. .))")) == 1
    assert rules.head_index(Tree.parse("(AP (# a) (B b))")) == 0
    assert HeadRules.read(file) == rules == head_rules(rules)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("* left\nNP\n", "rules:2:1: no search after the label NP"),
        ("* left\n  NP  up NN", "rules:2:7: up is not a search"),
        ("NP rightmost\n* left", "rules:1:4: rightmost needs at least one label"),
        ("%skp .\n* left", "rules:1:1: unknown directive %skp"),
        ("NP left NN", "rules: no line for \\* "),
        ("", "rules: no line for \\* "),
    ],
)
def test_a_wrong_rule_file_says_where(text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        HeadRules.parse(text, "rules")


def test_rule_files_that_cannot_be_read(tmp_path: Path) -> None:
    file = tmp_path / "latin.heads"
    file.write_bytes(b"* left\nNP left \xe4\n")
    with pytest.raises(FormatError, match="not UTF-8"):
        head_rules(str(file))
    with pytest.raises(UnknownName, match="did you mean 'collins'"):
        head_rules("colins")
