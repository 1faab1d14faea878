"""Bracketed text: what it means, what it refuses, and that writing and reading are inverse."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st

from treegauge.errors import BracketError, WriteError
from treegauge.testing.strategies import trees
from treegauge.trees import Tree
from treegauge.trees.notation import (
    ESCAPED_BRACKETS,
    escape_label,
    escape_word,
    one_line,
    parse_all,
    pretty,
    restore_label,
    restore_word,
)

ANY = trees(preterminals=False, empty=True, traces=True, max_leaves=8)
NP = Tree("NP", [Tree("DT", ["the"]), Tree("NN", ["cat"])])


class TestReading:
    @pytest.mark.parametrize(
        ("text", "tree"),
        [
            ("()", Tree("")),
            ("( )", Tree("")),
            ("(())", Tree("", [Tree("")])),
            ("(NP)", Tree("NP")),
            ("( word)", Tree("", ["word"])),
            ("(\n word )", Tree("", ["word"])),
            ("(NN word)", Tree("NN", ["word"])),
            ("( NN word)", Tree("NN", ["word"])),
            ("(NN\tword\r\n)", Tree("NN", ["word"])),
            ("( (NP (DT the) (NN cat)))", Tree("", [NP])),
            ("(NP(DT the)(NN cat))", NP),
            ("(X a (Y b) c)", Tree("X", ["a", Tree("Y", ["b"]), "c"])),
            ("( (Y b) c)", Tree("", [Tree("Y", ["b"]), "c"])),
            ("(NN -LRB-)", Tree("NN", ["("])),
            ("(NN f-LRB-x-RRB-)", Tree("NN", ["f(x)"])),
            ("(-LRB- -LRB-)", Tree("-LRB-", ["("])),
            ("($-LRB- -RRB-)", Tree("$(", [")"])),
            ("(NN -LSB-)", Tree("NN", ["-LSB-"])),
            ("(-NONE- *T*-1)", Tree("-NONE-", ["*T*-1"])),
            ("(NN\u00a0x word)", Tree("NN\u00a0x", ["word"])),
            ("(NN wo\u2028rd)", Tree("NN", ["wo\u2028rd"])),
        ],
    )
    def test_meaning(self, text: str, tree: Tree) -> None:
        assert Tree.parse(text) == tree

    def test_several_trees(self) -> None:
        assert parse_all("(A a)(B b)\n\n(C c)") == [Tree("A", ["a"]), Tree("B", ["b"]), Tree("C", ["c"])]
        assert parse_all("  \n") == []

    @pytest.mark.parametrize(("text", "count"), [("", 0), ("(A a) (B b)", 2)])
    def test_one_tree_is_one_tree(self, text: str, count: int) -> None:
        with pytest.raises(BracketError, match=f"expected one tree, found {count}"):
            Tree.parse(text)

    @pytest.mark.parametrize(
        ("text", "problem", "line", "column"),
        [
            ("(S (NP (NN a))) )", "closing bracket without an opening one", 1, 17),
            ("(S\n(NP (NN a)\n", "opening bracket that is never closed", 1, 1),
            ("(A a)\n word", "text outside brackets", 2, 2),
            (")", "closing bracket without an opening one", 1, 1),
            ("(é ä)\nö", "text outside brackets", 2, 1),
        ],
    )
    def test_errors_say_where(self, text: str, problem: str, line: int, column: int) -> None:
        with pytest.raises(BracketError) as caught:
            Tree.parse(text)
        error = caught.value
        assert (error.problem, error.line, error.column) == (problem, line, column)
        shown, caret = str(error).splitlines()[1:3]
        assert caret.index("^") - 2 == column - 1
        assert shown[2:] == text.split("\n")[line - 1]
        advice = 'treegauge.read(text, on_error="repair")[0]' if problem.startswith("text") else "as many '(' as ')'"
        assert advice in str(error)


class TestEscapes:
    @given(st.text(st.characters(exclude_characters=[*" \t\n\r\v\f\0", *ESCAPED_BRACKETS], exclude_categories=["Cs"]), min_size=1))
    def test_a_word_comes_back(self, word: str) -> None:
        if "-LRB-" not in word and "-RRB-" not in word:
            assert restore_word(escape_word(word)) == word
        assert not set("() ") & set(escape_word(word))

    def test_the_tag_of_a_bracket_stays(self) -> None:
        assert [restore_label(tag) for tag in ("-LRB-", "-RRB-", "-LRB-X")] == ["-LRB-", "-RRB-", "(X"]
        assert escape_label("-LRB-") == "-LRB-"

    def test_what_does_not_come_back_means_the_same(self) -> None:
        assert Tree.parse(str(Tree("NN", ["-LRB-"]))) == Tree("NN", ["("])
        assert Tree.parse(str(Tree("(", ["x"]))) == Tree("-LRB-", ["x"])
        assert Tree.parse(str(Tree("NN", [ESCAPED_BRACKETS[0]]))) == Tree("NN", ["("])

    @pytest.mark.parametrize("word", ["", "two words", "tab\t", "line\n", "zero\0", "\v", "\f", "\r"])
    def test_a_word_that_text_cannot_hold_is_refused(self, word: str) -> None:
        with pytest.raises(WriteError, match=r"cannot be written.*\n.*(Replace|split)"):
            str(Tree("NN", [word]))
        with pytest.raises(WriteError):
            Tree("NN", [word]).pretty()

    @pytest.mark.parametrize("label", ["two words", "\n", "a\0"])
    def test_a_label_that_text_cannot_hold_is_refused(self, label: str) -> None:
        with pytest.raises(WriteError, match="label"):
            str(Tree(label, ["x"]))
        with pytest.raises(WriteError, match="label"):
            Tree("S", [Tree(label), "x"]).pretty(1)

    @pytest.mark.parametrize("width", [1, 100])
    def test_a_word_that_would_be_read_as_the_label_is_refused(self, width: int) -> None:
        for tree in (Tree("", ["a", "b"]), Tree("", ["a", Tree("B", ["b"])]), Tree("S", [Tree("", ["a", "b"])])):
            with pytest.raises(WriteError, match="without a label that begins with the word 'a'"):
                one_line(tree)
            with pytest.raises(WriteError, match="without a label"):
                pretty(tree, width)


class TestWriting:
    @given(ANY)
    def test_one_line_comes_back(self, tree: Tree) -> None:
        text = one_line(tree)
        assert not re.search(r"[\n\t\r\v\f]|  ", text)
        assert Tree.parse(text) == tree

    @given(ANY, st.integers(1, 120))
    def test_pretty_comes_back(self, tree: Tree, width: int) -> None:
        text = pretty(tree, width)
        assert Tree.parse(text) == tree
        assert not any(line != line.rstrip(" ") for line in text.split("\n"))

    @given(ANY, st.integers(1, 120))
    def test_pretty_is_one_line_just_where_that_fits(self, tree: Tree, width: int) -> None:
        line = one_line(tree)
        if len(line) <= width or not tree.children or tree.is_preterminal:
            assert pretty(tree, width) == line
        else:
            assert "\n" in pretty(tree, width)

    @given(ANY, st.integers(20, 120))
    def test_a_line_is_too_long_only_if_it_holds_a_single_leaf(self, tree: Tree, width: int) -> None:
        for line in pretty(tree, width).split("\n"):
            if len(line.rstrip(")")) > width:
                assert line.count("(") <= 1

    def test_brackets_count_as_they_are_written(self) -> None:
        # Eight characters a word once escaped: the width is that of the text, not of the words.
        tree = Tree("S", [Tree("A", ["(a)"]), Tree("B", ["(b)"])])
        line = "(S (A -LRB-a-RRB-) (B -LRB-b-RRB-))"
        assert pretty(tree, len(line)) == line
        assert pretty(tree, len(line) - 1) == "(S\n  (A -LRB-a-RRB-)\n  (B -LRB-b-RRB-))"

    def test_the_empty_root(self) -> None:
        assert str(Tree("", [NP])) == "( (NP (DT the) (NN cat)))"
        assert Tree("", [NP]).pretty(10) == "(\n  (NP\n    (DT the)\n    (NN cat)))"

    def test_indentation_stops_growing(self) -> None:
        tree = Tree("X", ["a"])
        for _ in range(200):
            tree = Tree("X", [tree])
        lines = pretty(tree, 40).split("\n")
        assert max(len(line) - len(line.lstrip(" ")) for line in lines) == 20
