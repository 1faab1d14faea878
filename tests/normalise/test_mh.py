"""MH and the binarisations, drawn by hand."""

from __future__ import annotations

import pytest

from treegauge.errors import UnknownName, UsageError
from treegauge.normalise import (
    HeadRules,
    annotate_parents,
    binarise,
    binarise_goodman,
    collapse_unaries,
    mh,
    unbinarise,
    unbinarise_goodman,
    unmh,
)
from treegauge.parsing.parser import fallback
from treegauge.trees import Tree

FIVE = Tree.parse("(A (L2 a) (L1 b) (H c) (R1 d) (R2 e))")


def shape(tree: Tree) -> str:
    """Labels of made nodes left out, words only."""
    inside = " ".join(child if isinstance(child, str) else shape(child) for child in tree)
    return inside if tree.is_preterminal else f"[{inside}]"


def test_shapes() -> None:
    assert shape(binarise(FIVE, "right")) == "[a [b [c [d e]]]]"
    assert shape(binarise(FIVE, "left")) == "[[[[a b] c] d] e]"


def test_head_driven_as_in_figure_4() -> None:
    """A -> L2 @, @ -> L1 @, @ -> @ R2, @ -> H R1."""
    rules = HeadRules.parse("A left H\n* left")
    assert str(binarise(FIVE, "head", h=0, rules=rules)) == "(A (L2 a) (A| (L1 b) (A| (A| (H c) (R1 d)) (R2 e))))"


@pytest.mark.parametrize(
    ("direction", "h", "expected"),
    [
        ("right", 0, "(A (L2 a) (A| (L1 b) (A| (H c) (A| (R1 d) (R2 e)))))"),
        ("right", 1, "(A (L2 a) (A|L2 (L1 b) (A|L1 (H c) (A|H (R1 d) (R2 e)))))"),
        ("right", 2, "(A (L2 a) (A|L2 (L1 b) (A|L2|L1 (H c) (A|L1|H (R1 d) (R2 e)))))"),
        ("right", None, "(A (L2 a) (A|L2 (L1 b) (A|L2|L1 (H c) (A|L2|L1|H (R1 d) (R2 e)))))"),
        ("left", 2, "(A (A|R2 (A|R2|R1 (A|R1|H (L2 a) (L1 b)) (H c)) (R1 d)) (R2 e))"),
        ("head", 2, "(A (A|R2 (A|R2|R1 (A|R1|H (L2 a) (L1 b)) (H c)) (R1 d)) (R2 e))"),
    ],
)
def test_horizontal_markovisation(direction: str, h: int | None, expected: str) -> None:
    assert str(binarise(FIVE, direction, h=h, rules="left")) == expected


def test_vertical_markovisation_stops_at_the_root_and_spares_tags() -> None:
    tree = Tree.parse("(S (NP (NP (N a)) (PP (P b) (NP (N c)) (X x))) (V d))")
    three = "(S (NP^S (NP^NP^S (N a)) (PP^NP^S (P b) (NP^PP^NP (N c)) (X x))) (V d))"
    assert str(annotate_parents(tree, 3)) == three
    assert str(annotate_parents(tree, 2, tags=True)) == (
        "(S (NP^S (NP^NP (N^NP a)) (PP^NP (P^PP b) (NP^PP (N^NP c)) (X^PP x))) (V^S d))"
    )
    assert annotate_parents(tree, 1) == tree
    assert str(binarise(tree, h=1, v=3)) == three.replace("(NP^PP^NP (N c)) (X x)", "(PP^NP^S|P (NP^PP^NP (N c)) (X x))")


def test_own_marks_are_escaped_and_restored() -> None:
    tree = Tree.parse(r"(A|B (X^Y a) (X_Cont b) (C\ c))")
    assert str(binarise(tree, h=1)) == r"(A\|B (X\^Y a) (A\|B|X\^Y (X_Cont b) (C\\ c)))"
    assert str(binarise_goodman(tree)) == r"(A|B (X^Y a) (A|B_Cont (X\_Cont b) (C\\ c)))"
    assert str(collapse_unaries(Tree.parse("(A+B (C (-LRB- x)))"), "joined")) == r"(A\+B+C+-\LRB- x)"


def test_parser_output_with_stray_made_nodes() -> None:
    """A Labelled Recall parser may put made nodes where no binarisation does: they go all the same, and no word loses its tag."""
    assert str(unbinarise_goodman(Tree.parse("(S_Cont (NP_Cont (A a) (B b)) (C c))"))) == "(S (A a) (B b) (C c))"
    assert str(unbinarise(Tree.parse("(S|NP (NP| (A a) (B|x b)) (NP| (C c)))"))) == "(S (A a) (B b) (C c))"
    assert str(unbinarise(Tree.parse("(S|NP (NP^S (A a)))"))) == "(S (NP (A a)))"


def test_impossible_binarisations() -> None:
    with pytest.raises(UnknownName, match="right"):
        binarise(FIVE, "up")
    with pytest.raises(UsageError, match="h=-1"):
        binarise(FIVE, h=-1)
    with pytest.raises(UsageError, match="v=0"):
        binarise(FIVE, v=0)
    with pytest.raises(UsageError, match="v=0"):
        annotate_parents(FIVE, 0)
    with pytest.raises(UnknownName, match="joined"):
        collapse_unaries(FIVE, "middle")


SENTENCE = Tree.parse(
    "(S (NP-TMP (NN yesterday)) (, ,) (NP-SBJ (DT the) (NN man)) (VP (VBD told) (NP (PRP her)) "
    "(SBAR (IN that) (S (NP-SBJ (PRP it)) (VP (VBD rained)))) (PP-LOC (IN in) (NP (NN Kent)))) (. .))"
)


def test_mh_by_hand() -> None:
    """Head of S is the VP (tag VBD); NP-TMP is not a complement, NP-SBJ is; of VP the NP and the SBAR are, the PP-LOC is not."""
    assert mh(SENTENCE) == Tree.parse(
        """
        (S^~VBD (NN yesterday)
          (S^~VBD|NP| (, ,)
            (S^~VBD|NP| (NP^S~NN (DT the) (NN man))
              (S^~VBD||
                (VP^S~VBD
                  (VP^S~VBD||NP+SBAR
                    (VP^S~VBD||NP (VBD told) (PRP her))
                    (SBAR^VP~IN (IN that) (S^SBAR~VBD (PRP it) (VBD rained))))
                  (PP^VP~IN (IN in) (NN Kent)))
                (. .)))))
        """
    )
    assert unmh(mh(SENTENCE)) == Tree.parse(
        "(S (NN yesterday) (, ,) (NP (DT the) (NN man)) (VP (VBD told) (PRP her) "
        "(SBAR (IN that) (S (PRP it) (VBD rained))) (PP (IN in) (NN Kent))) (. .))"
    )


def test_heads_and_complements_are_those_before_unaries_go() -> None:
    """Without its NP and VP, S -> PRP VBD . would have the PRP as complement of nothing and the wrong head."""
    tree = Tree.parse("(S (NP-SBJ (PRP it)) (ADVP (RB never)) (VP (VBD rained)))")
    assert str(mh(tree)) == "(S^~VBD (PRP it) (S^~VBD|| (RB never) (VBD rained)))"
    inside = Tree.parse("(S (ADVP (RB never)) (NP-SBJ (PRP it)) (VP (VBD rained)))")
    assert str(mh(inside)) == "(S^~VBD (RB never) (S^~VBD|NP| (PRP it) (VBD rained)))"


def test_mh_frames_are_multisets() -> None:
    tree = Tree.parse("(VP (VBD made) (NP (A a)) (S (B b)) (NP (C c)) (ADVP (D d)))")
    assert str(mh(tree)) == ("(VP^~VBD (VP^~VBD||NP+NP+S (VP^~VBD||NP+S (VP^~VBD||NP (VBD made) (A a)) (B b)) (C c)) (D d))")


def test_mh_of_hardly_anything() -> None:
    assert mh(Tree("")) == Tree("^~")
    assert unmh(mh(Tree(""))) == Tree("")
    assert str(mh(Tree.parse("(S (NP (NN rain)))"))) == "(NN rain)"


def test_fallback_wants_a_tag_for_each_word() -> None:
    with pytest.raises(UsageError, match="2 words but 1 tag:"):
        fallback(["a", "b"], ["A"])
    assert str(fallback(["a", "b", "c"], root="TOP", label="@")) == "(TOP (@ a b) c)"
