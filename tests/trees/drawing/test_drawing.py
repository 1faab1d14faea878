"""What both drawings rest on: widths of text, places, marks, folding."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from treegauge.errors import UnknownName, UsageError
from treegauge.tables import terminal_width
from treegauge.testing.strategies import trees
from treegauge.trees import Tree
from treegauge.trees.drawing import MARKS, draw_svg, draw_text, fold_settled, fold_to, lay_out, legend_svg, legend_text, tree_items
from treegauge.trees.drawing.marks import clean, ems, isolate_direction, node_marks

ANY = trees(preterminals=False, empty=True, traces=True, max_leaves=8)
CAT = Tree.parse("(S (NP (DT the) (NN cat)) (VP (VBD sat)))")


class TestWidth:
    @pytest.mark.parametrize(
        ("text", "width"),
        [
            ("", 0),
            ("NP-SBJ", 6),
            ("木構造", 6),
            ("ｗｉｄｅ", 8),
            ("ﾊﾝｶｸ", 4),
            ("e\u0301", 1),
            ("a\u20dd", 1),
            ("क्षि", 3),  # two letters and a vowel sign that stands by itself; the virama takes no column
            ("ילד", 3),
            ("한글", 4),
            ("\u1112\u1161\u11ab", 2),  # the same syllable from its three parts
            ("👍", 2),
            ("👩\u200d🚀", 2),
            ("❤\ufe0f", 2),
            ("a\u200bb", 2),
        ],
    )
    def test_columns(self, text: str, width: int) -> None:
        assert terminal_width(text) == width

    def test_ems_tell_narrow_from_wide(self) -> None:
        assert 0 < ems("i") < ems("n") < ems("m") <= ems("木")
        assert ems("é") == ems("e")
        assert ems("e\u0301") == ems("e")
        assert ems("ill") < ems("WWW") / 2

    @given(st.text(max_size=100), st.integers(2, 40))
    def test_clean_text_can_be_drawn(self, text: str, longest: int) -> None:
        shown = clean(text, longest)
        assert terminal_width(shown) <= longest
        assert not any(ord(c) < 32 or 127 <= ord(c) < 160 or 0xD800 <= ord(c) < 0xE000 for c in shown)
        assert "\n" not in shown
        assert clean(shown, longest) == shown

    def test_clean_text_cannot_turn_the_line_round(self) -> None:
        assert clean("a\u202eb\u2066c", 10) == "a\ufffdb\ufffdc"

    def test_joiners_stay(self) -> None:
        assert clean("می\u200cخواهم", 20) == "می\u200cخواهم"

    def test_only_words_from_right_to_left_are_set_off(self) -> None:
        assert isolate_direction("ילד") == "\u200eילד\u200e"
        assert isolate_direction("قرأ") == "\u200eقرأ\u200e"
        assert [isolate_direction(text) for text in ("cat", "猫", "é")] == ["cat", "猫", "é"]
        assert terminal_width(isolate_direction("ילד")) == 3


class TestPlaces:
    @given(ANY, st.integers(1, 4), st.integers(0, 3), st.booleans())
    def test_nothing_overlaps(self, tree: Tree, gap: int, snap: int, mirrored: bool) -> None:
        items = tree_items(tree)
        layout = lay_out(items, [max(terminal_width(item.text), 1) for item in items], gap, snap=snap, mirrored=mirrored)
        rows: dict[int, list[tuple[int, int]]] = {}
        for index in range(len(items)):
            left = layout.left[index]
            rows.setdefault(layout.row(index), []).append((left, left + layout.size[index]))
            assert left <= layout.centre[index] < left + layout.size[index]
            assert left >= 0
            assert left + layout.size[index] <= layout.width
        for row in rows.values():
            assert all(second[0] - first[1] >= gap for first, second in pairwise(sorted(row)))

    @given(ANY, st.booleans())
    def test_words_are_in_order_and_parents_above_their_children(self, tree: Tree, mirrored: bool) -> None:
        items = tree_items(tree)
        layout = lay_out(items, [max(terminal_width(item.text), 1) for item in items], 2, mirrored=mirrored)
        words = [layout.left[index] for index, item in enumerate(items) if item.kind == "word"]
        assert words == sorted(words, reverse=mirrored)
        for index in range(len(items)):
            below = [layout.centre[child] for child, item in enumerate(items) if item.parent == index]
            if below:
                assert min(below) <= layout.centre[index] <= max(below)
                assert abs(2 * layout.centre[index] - min(below) - max(below)) <= 1
            for child, item in enumerate(items):
                if item.parent == index:
                    assert layout.row(child) > layout.row(index)

    def test_snapping_puts_a_parent_above_its_middle_child(self) -> None:
        items = tree_items(Tree.parse("(S (A a) (B b) (C cccc))"))
        sizes = [len(item.text) for item in items]
        plain, snapped = lay_out(items, sizes, 2), lay_out(items, sizes, 2, snap=1)
        middle = next(index for index, item in enumerate(items) if item.text == "B")
        assert plain.centre[0] != plain.centre[middle]
        assert snapped.centre[0] == snapped.centre[middle]

    @given(ANY)
    def test_items_are_the_nodes_and_words(self, tree: Tree) -> None:
        items = tree_items(tree)
        nodes = [item for item in items if item.is_node]
        assert [item.number for item in nodes] == list(range(tree.size))
        assert [(item.start, item.end, item.text) for item in nodes] == tree.spans()
        words = [item for item in items if not item.is_node]
        assert [item.text for item in words] == list(tree.words)
        assert [item.number for item in words] == list(range(tree.width))


class TestMarks:
    def test_no_two_marks_share_a_sign(self) -> None:
        assert set(MARKS) == {"matched", "missed", "spurious", "crossing", "wrong-label", "focus"}
        for sign in ("symbol", "ascii_symbol", "colour", "shape"):
            assert len({getattr(mark, sign) for mark in MARKS.values()}) == len(MARKS), sign
        assert all(mark.ascii_symbol.isascii() and terminal_width(mark.symbol) == 1 for mark in MARKS.values())

    @pytest.mark.parametrize("paper", ["#ffffff", "#1b1b1b", "#000000"])
    def test_colours_are_seen_on_light_and_dark_paper(self, paper: str) -> None:
        for mark in MARKS.values():
            if mark.colour != "currentColor":
                assert contrast(mark.colour, paper) >= 3.7, mark.name

    def test_a_finding_and_the_focus(self) -> None:
        marks = node_marks(CAT, {0: "focus", 1: "focus crossing", 2: "matched"})
        assert [marks[node].names for node in range(3)] == ["focus", "crossing focus", "matched"]

    @pytest.mark.parametrize("draw", [draw_text, draw_svg])
    def test_wrong_marks_are_refused(self, draw: type[draw_text]) -> None:
        with pytest.raises(UnknownName, match=r"unknown mark 'crosing'; did you mean 'crossing'"):
            draw(CAT, {0: "crosing"})
        for node in (-1, 6):
            with pytest.raises(UsageError, match=f"no node {node} to mark: its nodes are numbered from 0 to 5"):
                draw(CAT, {node: "matched"})
        with pytest.raises(UsageError, match="at most one mark"):
            draw(CAT, {0: "matched crossing"})

    def test_legends(self) -> None:
        assert legend_text() == "✓ matched   ∅ missed   + spurious   × crossing   ≠ wrong-label   ◄ focus"
        assert legend_text(["crossing", "matched"], charset="ascii") == "= matched   x crossing"
        for legend in (legend_text, legend_svg):
            with pytest.raises(UnknownName, match="unknown mark"):
                legend(["green"])


class TestFolding:
    def test_a_folded_node_hides_its_nodes_and_keeps_the_numbers_of_the_others(self) -> None:
        items = tree_items(CAT, folded=[1])
        assert [(item.kind, item.number, item.start, item.end) for item in items] == [
            ("phrase", 0, 0, 3),
            ("folded", 1, 0, 2),
            ("roof", 0, 0, 2),
            ("phrase", 4, 2, 3),
            ("tag", 5, 2, 3),
            ("word", 2, 2, 3),
        ]

    def test_long_roofs_are_short(self) -> None:
        tree = Tree("S", [Tree("NP", [f"word{number}" for number in range(1000)]), "end"])
        assert tree_items(tree, folded=[1])[2].text == "word0 word1 word2 … word999"
        longer = Tree("S", [Tree("NP", ["a" * 100, "b"]), "end"])
        assert tree_items(longer, folded=[1])[2].text == "a" * 100 + " … b"

    def test_a_node_that_is_not_there(self) -> None:
        with pytest.raises(UsageError, match="no node 6 to fold"):
            draw_text(CAT, folded=[6])

    @given(ANY, st.integers(2, 12), st.integers(1, 6))
    def test_folding_to_a_size(self, tree: Tree, nodes: int, depth: int) -> None:
        folded = fold_to(tree, nodes=nodes, depth=depth)
        shown = [item for item in tree_items(tree, folded) if item.is_node]
        assert {item.number for item in shown if item.kind == "folded"} == folded
        if tree.size <= nodes and tree.depth <= depth + 1:
            assert not folded
        if folded:
            (level,) = {item.depth for item in shown if item.kind == "folded"}
            # What is below the level of the folded nodes covers no words, so there is nothing to fold it over.
            assert all(item.start == item.end for item in shown if item.depth > level)
            assert level == 1 or (level <= depth and sum(item.depth <= level for item in shown) <= nodes)

    @given(trees(empty=True), st.data())
    def test_folding_what_is_settled(self, tree: Tree, data: st.DataObject) -> None:
        marks = data.draw(st.dictionaries(st.integers(0, tree.size - 1), st.sampled_from(["matched", "missed", "matched focus"])))
        shown = {item.number: item.kind for item in tree_items(tree, fold_settled(tree, marks)) if item.is_node}
        for node, mark in marks.items():
            assert mark == "matched" or shown[node] != "folded"
        nodes = list(tree.nodes())
        for node, kind in shown.items():
            inside = range(node, node + nodes[node].size)
            quiet = all(marks.get(other, "matched") == "matched" for other in inside)
            if kind == "folded":
                assert quiet
            elif kind == "phrase" and node > 0:
                assert not quiet or not nodes[node].width

    def test_a_large_tree_is_shown_folded_in_a_notebook(self) -> None:
        deep = Tree("X", ["end"])
        for _ in range(5000):
            deep = Tree("X", [Tree("D", ["d"]), deep])
        picture = deep._repr_svg_()
        assert picture.count('class="node') < 200
        assert "d d d … end" in picture
        assert 'class="node folded"' not in CAT._repr_svg_()


def contrast(one: str, other: str) -> float:
    """The contrast of two colours as WCAG 2 defines it."""
    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
