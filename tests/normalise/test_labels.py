"""Labels: what is cut, what is kept, and what EVALB does otherwise."""

from __future__ import annotations

import pytest

from treegauge.normalise import (
    add_root,
    base_label,
    drop_one_word,
    drop_punctuation,
    evalb_label,
    function_tags,
    hogenhout,
    keep_short,
    remove_added_root,
    remove_redundant,
    remove_root,
    remove_traces,
    sentence_length,
    split_features,
    strip_features,
    strip_functions,
)
from treegauge.trees import Tree


@pytest.mark.parametrize(
    ("label", "base", "evalb"),
    [
        ("NP-SBJ-1", "NP", "NP"),
        ("NP=2", "NP", "NP"),
        ("S-TPC=1", "S", "S"),
        ("ADVP|PRT", "ADVP|PRT", "ADVP|PRT"),
        ("-LRB-", "-LRB-", ""),
        ("-NONE-", "-NONE-", ""),
        ("-", "-", ""),
        ("=X", "=X", ""),
        ("", "", ""),
        ("PRP$", "PRP$", "PRP$"),
    ],
)
def test_cuts(label: str, base: str, evalb: str) -> None:
    assert base_label(label) == base
    assert evalb_label(label) == evalb


@pytest.mark.parametrize(
    ("label", "plain", "features", "base"),
    [
        ("NC##cpos=N|g=m##", "NC", {"cpos": "N", "g": "m"}, "NC##cpos=N|g=m##"),
        ("NP-SUJ##g=f##", "NP-SUJ", {"g": "f"}, "NP##g=f##"),
        ("NP##case=nom##-SB", "NP-SB", {"case": "nom"}, "NP##case=nom##"),
        ("V##lemma=a=b|refl##", "V", {"lemma": "a=b", "refl": ""}, "V##lemma=a=b|refl##"),
        ("NC##g=m", "NC", {"g": "m"}, "NC##g=m"),
        ("NC####", "NC", {}, "NC####"),
        ("#", "#", {}, "#"),
        ("-LRB-##g=m##", "-LRB-", {"g": "m"}, "-LRB-##g=m##"),
    ],
)
def test_features(label: str, plain: str, features: dict[str, str], base: str) -> None:
    assert split_features(label) == (plain, features)
    assert base_label(label) == base


def test_function_tags_leave_out_indices() -> None:
    assert function_tags("NP-LOC-PRD-2") == ("LOC", "PRD")
    assert function_tags("NP-SUJ##g=f##") == ("SUJ",)
    assert function_tags("-NONE-") == function_tags("NP") == function_tags("NP=3") == ()


def test_stripping_can_spare_the_tags() -> None:
    tree = Tree.parse("(NP-SBJ (NN-X a) (-RRB- b))")
    assert str(strip_functions(tree)) == "(NP (NN a) (-RRB- b))"
    assert str(strip_functions(tree, tags=False)) == "(NP (NN-X a) (-RRB- b))"
    assert str(strip_functions(tree, evalb=True)) == "(NP (NN a) ( b))"


def test_features_are_cut_before_functions_or_after() -> None:
    tree = Tree.parse("(SENT##a=b## (NP-SUJ##g=m## (NC##cpos=N-X## x)))")
    assert strip_functions(strip_features(tree)) == strip_features(strip_functions(tree)) == Tree.parse("(SENT (NP (NC x)))")


def test_only_nodes_over_one_child_of_their_label_are_redundant() -> None:
    tree = Tree.parse("(NP (NP (NP (NN a)) (NN b)) (S (NP (S (S (NN (NN c)))))))")
    assert str(remove_redundant(tree)) == "(NP (NP (NP (NN a)) (NN b)) (S (NP (S (NN c)))))"


def test_roots() -> None:
    assert str(remove_root(Tree.parse("(TOP ( (S (A a))))"))) == "(S (A a))"
    assert str(remove_root(Tree.parse("( (S (A a)) (. .))"))) == "( (S (A a)) (. .))"
    assert str(remove_root(Tree.parse("(S1 (A a))"), {"TOP"})) == "(S1 (A a))"
    assert remove_root(Tree("", ["word"])) == Tree("", ["word"])
    assert remove_root(Tree("")) == Tree("")
    tree = Tree.parse("(TOP (S (A a)))")
    assert remove_added_root(add_root(tree)) == tree
    assert remove_added_root(add_root(tree, "X"), "Y") == add_root(tree, "X")


def test_traces_take_along_what_they_empty_but_not_what_was_empty() -> None:
    tree = Tree.parse("(S (NP (-NONE- *)) (X) (VP (VB go) (SBAR (-NONE- 0) (S (-NONE- *T*)))) (-NONE-))")
    assert str(remove_traces(tree)) == "(S (X) (VP (VB go)))"
    assert remove_traces(Tree("")) == Tree("")
    assert remove_traces(Tree.parse("(S (NP (-NONE- *)))")) is None


def test_punctuation_is_any_set_of_tags() -> None:
    tree = Tree.parse("(S (NP (-LRB- -LRB-) (NN a) (-RRB- -RRB-)) ($, x) (. .))")
    assert str(drop_punctuation(tree)) == "(S (NP (NN a)) ($, x))"
    assert str(drop_punctuation(tree, {"$,"})) == "(S (NP (-LRB- -LRB-) (NN a) (-RRB- -RRB-)) (. .))"
    assert drop_punctuation(Tree.parse("(S (PRN (. .)) (: --))")) is None


def test_one_word_brackets_end_in_the_tag_or_the_bare_word() -> None:
    assert str(drop_one_word(Tree.parse("(S (NP (NN rain)))"))) == "(NN rain)"
    assert drop_one_word(Tree("S", [Tree("X", [Tree("Y", ["w"])]), "v"])) == Tree("S", [Tree("Y", ["w"]), "v"])


def test_one_word_brackets_may_stay() -> None:
    tree = Tree.parse("(S (S (NP (NX (NN rain))) (VP (VBD fell)) (. .)))")
    assert str(hogenhout(tree)) == "(S+S (NN rain) (VBD fell))"
    assert str(hogenhout(tree, one_word=False)) == "(S+S (NP+NX (NN rain)) (VP (VBD fell)))"
    assert hogenhout(Tree.parse("(S (. .))")) is None
    assert hogenhout(Tree("")) is None


def test_length_counts_words_not_traces() -> None:
    tree = Tree.parse("(S (NP (-NONE- *)) (VP (VB go) (NP (NN home))) (. .))")
    assert sentence_length(tree) == 3
    assert sentence_length(tree, ()) == 4
    assert keep_short(tree, 3) is tree
    assert keep_short(tree, 2) is None
