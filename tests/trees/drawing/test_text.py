"""Trees drawn as text: the drawing is read back by following its lines."""

from __future__ import annotations

import re
from textwrap import dedent

import pytest
from hypothesis import given, strategies as st

from treegauge.errors import UnknownName
from treegauge.tables import terminal_width
from treegauge.testing.strategies import trees
from treegauge.trees import Child, Tree
from treegauge.trees.drawing import draw_text

CAT = Tree.parse("(S (NP (DT the) (NN cat)) (VP (VBD sat)))")
MAT = Tree.parse("(S (NP (DT the) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (DT the) (NN mat)))) (. .))")
NAMES = st.text("abcXYZ", min_size=1, max_size=7)
PLAIN = trees(label=NAMES, tag=NAMES, word=NAMES, preterminals=False, empty=True, max_leaves=20)
ANY = trees(preterminals=False, empty=True, traces=True, max_leaves=8)


def picture(text: str) -> str:
    return dedent(text).strip("\n")


def follow(drawing: str) -> Tree:
    """The tree that a drawing in lines shows, found by following them from the root."""
    rows = drawing.split("\n")
    width = max(map(len, rows))
    rows = [row.ljust(width) for row in rows] + [" " * width]
    pieces = [[(m.start(), m.end(), m.group()) for m in re.finditer(r"[A-Za-z()]+", row)] for row in rows]

    def piece_at(row: int, column: int) -> tuple[int, int, str]:
        return next(piece for piece in pieces[row] if piece[0] <= column < piece[1])

    def ends(row: int, column: int) -> list[int]:
        """The columns a branching leads down to."""
        if rows[row][column] == "│":
            return [column]
        low = high = column
        while rows[row][low] not in "┌├":
            low -= 1
        while rows[row][high] not in "┐┤":
            high += 1
        return [at for at in range(low, high + 1) if rows[row][at] in "┌┬┐┼├┤"]

    def read(row: int, column: int) -> Child:
        first, last, text = piece_at(row, column)
        below = [at for at in range(first, last) if rows[row + 1][at] in "│┴┼├┤"]
        if text.endswith("()"):
            return Tree(text[:-2])
        if below:
            children: list[Child] = []
            for end in ends(row + 1, below[0]):
                down = row + 2
                while rows[down][end] == "│":
                    down += 1
                children.append(read(down, end))
            return Tree(text, children)
        if row == len(rows) - 3 and rows[row + 1][first:last].strip():
            return Tree(text, [next(piece[2] for piece in pieces[row + 1] if piece[0] < last and first < piece[1])])
        return text

    root = read(0, pieces[0][0][0])
    assert isinstance(root, Tree)
    return root


def indent(outline: str) -> Tree:
    """The tree that an outline shows, by its indentation."""
    open_nodes: list[tuple[str, list[Child]]] = []

    def close(depth: int) -> None:
        while len(open_nodes) > depth:
            label, children = open_nodes.pop()
            made = Tree(label, children)
            if not open_nodes:
                open_nodes.append(("", [made]))
                return
            open_nodes[-1][1].append(made)

    lines = [re.fullmatch(r"((?:│  |   )*(?:[├└]─ )?)(.*)", line) for line in outline.split("\n")]
    parsed = [(len(match[1]) // 3, match[2]) for match in lines if match]
    assert len(parsed) == len(lines)
    for number, (depth, text) in enumerate(parsed):
        close(depth)
        label, _, word = text.partition(" ")
        deeper = number + 1 < len(parsed) and parsed[number + 1][0] > depth
        if text.endswith("()"):
            made: Child = Tree(text[:-2])
        elif word:
            made = Tree(label, [word])
        elif deeper:
            open_nodes.append((label, []))
            continue
        else:
            made = label
        if not open_nodes:
            assert isinstance(made, Tree)
            return made
        open_nodes[-1][1].append(made)
    while len(open_nodes) > 1:
        label, children = open_nodes.pop()
        open_nodes[-1][1].append(Tree(label, children))
    return Tree(*open_nodes[0])


class TestPictures:
    def test_a_tree(self) -> None:
        assert draw_text(MAT) == picture("""
                           S
               ┌───────────┼─────────────┐
              NP          VP             │
             ┌─┴──┐    ┌───┴───┐         │
             │    │    │      PP         │
             │    │    │    ┌──┴──┐      │
             │    │    │    │    NP      │
             │    │    │    │   ┌─┴──┐   │
            DT   NN   VBD  IN  DT   NN   .
            the  cat  sat  on  the  mat  .
        """)

    def test_ascii(self) -> None:
        assert draw_text(CAT, {1: "matched", 4: "wrong-label focus"}, charset="ascii") == picture("""
                    S
               +----+----+
             NP =     VP ~ <
             +-+--+      |
            DT   NN     VBD
            the  cat    sat

            = matched   ~ wrong-label   < focus
        """)
        assert draw_text(MAT, dict.fromkeys(range(9), "missed"), charset="ascii", style="outline", folded=[1]).isascii()

    def test_marks_and_legend(self) -> None:
        marks = {0: "matched", 1: "missed", 4: "spurious", 5: "crossing focus"}
        assert draw_text(CAT, marks) == picture("""
                   S ✓
               ┌────┴────┐
             NP ∅      VP +
             ┌─┴──┐      │
            DT   NN   VBD × ◄
            the  cat    sat

            ✓ matched   ∅ missed   + spurious   × crossing   ◄ focus
        """)
        assert draw_text(CAT, marks, legend=False) == draw_text(CAT, marks).rpartition("\n\n")[0]

    def test_mirrored(self) -> None:
        assert draw_text(CAT, direction="rtl") == picture("""
                 S
             ┌───┴───┐
             VP      NP
             │    ┌──┴─┐
            VBD   NN   DT
            sat  cat  the
        """)

    def test_wide_characters(self) -> None:
        assert draw_text(Tree.parse("(文 (名詞句 (名詞 木構造) (助詞 を)) (動詞 読む))")) == picture("""
                      文
                  ┌────┴────┐
               名詞句       │
               ┌──┴───┐     │
             名詞   助詞  動詞
            木構造   を   読む
        """)

    def test_combining_marks(self) -> None:
        composed = draw_text(Tree.parse("(S (A é) (B b))"))
        decomposed = draw_text(Tree.parse("(S (A e\u0301) (B b))"))
        assert decomposed.replace("e\u0301", "é") == composed

    def test_folded(self) -> None:
        assert draw_text(MAT, folded=[6]) == picture("""
                           S
               ┌───────────┼───────────┐
              NP          VP           │
             ┌─┴──┐    ┌───┴────┐      │
             │    │    │      PP △     │
             │    │    │        │      │
            DT   NN   VBD       │      .
            the  cat  sat  on the mat  .
        """)

    def test_empty_nodes_words_among_nodes_and_no_label(self) -> None:
        assert draw_text(Tree.parse("( (S (NP (PRP I)) (VP (VBP am) (NP)) a (X b c)))")) == picture("""
                     •
                     │
                     S
             ┌───────┼──────┬───┐
            NP      VP      │   X
             │    ┌──┴──┐   │  ┌┴─┐
             │    │   NP()  │  │  │
             │    │         │  │  │
            PRP  VBP        │  │  │
             I   am         a  b  c
        """)

    @pytest.mark.parametrize(
        ("tree", "drawing"), [("()", "()"), ("(NP)", "NP()"), ("(NN x)", "NN\n x"), ("(X a b)", " X\n┌┴─┐\n│  │\na  b")]
    )
    def test_small(self, tree: str, drawing: str) -> None:
        assert draw_text(Tree.parse(tree)) == drawing

    def test_outline(self) -> None:
        assert draw_text(MAT, {1: "matched"}, style="outline", folded=[6]) == picture("""
            S
            ├─ NP ✓
            │  ├─ DT the
            │  └─ NN cat
            ├─ VP
            │  ├─ VBD sat
            │  └─ PP △ on the mat
            └─ . .

            ✓ matched
        """)


class TestReadBack:
    @given(PLAIN)
    def test_lines_lead_to_the_same_tree(self, tree: Tree) -> None:
        assert follow(draw_text(tree, width=None)) == tree

    @given(PLAIN)
    def test_an_outline_says_the_same_tree(self, tree: Tree) -> None:
        assert indent(draw_text(tree, width=None, style="outline")) == tree

    @given(PLAIN)
    def test_mirrored_lines_lead_to_the_mirrored_tree(self, tree: Tree) -> None:
        turned = follow(draw_text(tree, width=None, direction="rtl"))
        assert mirrored(turned) == tree

    @given(PLAIN)
    def test_ascii_has_the_same_shape(self, tree: Tree) -> None:
        as_ascii = str.maketrans("─│┌┐┬┴┼├┤•", "-|+++++++*")
        assert draw_text(tree, charset="ascii", width=None) == draw_text(tree, width=None).translate(as_ascii)


class TestLimits:
    @given(ANY, st.integers(5, 80))
    def test_the_width_is_kept_or_an_outline_drawn(self, tree: Tree, width: int) -> None:
        drawing = draw_text(tree, width=width)
        if drawing != draw_text(tree, width=width, style="outline"):
            assert max(map(terminal_width, drawing.split("\n"))) <= width
        assert not any(line.endswith(" ") for line in drawing.split("\n") if line.isascii())

    def test_tight_before_outline(self) -> None:
        loose = draw_text(MAT)
        width = max(map(len, loose.split("\n")))
        assert draw_text(MAT, width=width) == loose
        tight = draw_text(MAT, width=width - 1)
        assert tight.split("\n")[-1] == "the cat sat on the mat ."
        assert draw_text(MAT, width=len("the cat sat on the mat .")) == tight
        assert draw_text(MAT, width=len("the cat sat on the mat .") - 1).startswith("S\n├─ NP\n")

    @pytest.mark.parametrize(("width", "levels"), [(100, 100_000), (None, 3_000)])
    def test_deep(self, width: int | None, levels: int) -> None:
        tree = Tree("X", ["end"])
        for _ in range(levels):
            tree = Tree("X", [tree])
        tree = Tree("S", ["begin", Tree("W" * 80, ["wide"]), tree])
        drawing = draw_text(tree, width=width, style="outline")
        lines = drawing.split("\n")
        assert len(lines) == levels + 4
        assert max(map(len, lines)) <= 130
        shown = 23 if width else 30
        assert re.fullmatch(rf"…{levels + 1 - shown} +└─ X end", lines[-1])
        assert lines[shown + 3].startswith("…1 ")
        if width:
            assert draw_text(tree, width=width) == drawing

    def test_deep_and_wide_without_a_limit(self) -> None:
        tree = Tree("X", ["end"])
        for _ in range(3000):
            tree = Tree("X", [Tree("D", ["d"]), tree])
        assert draw_text(tree, width=None).startswith("X\n├─ D d\n└─ X\n")

    def test_long_words_are_cut(self) -> None:
        drawing = draw_text(Tree("N" * 1_000_000, ["w" * 1_000_000]))
        assert len(drawing) < 200
        assert "…" in drawing

    def test_nothing_in_a_word_reaches_the_terminal(self) -> None:
        tree = Tree("S\x1b[31m", ["a\x07\nb", Tree("X\r", ["\x9b0m", ""])])
        for style in ("tree", "outline"):
            drawing = draw_text(tree, {0: "matched"}, style=style)
            assert all(c.isprintable() or c == "\n" for c in drawing)

    def test_right_to_left_words_keep_their_columns(self) -> None:
        last = draw_text(Tree.parse("(S (A ילד) (B קרא))"), direction="rtl").split("\n")[-1]
        assert last == "\u200eקרא\u200e  \u200eילד\u200e"

    @pytest.mark.parametrize("option", [{"style": "boxes"}, {"charset": "utf-8"}, {"direction": "right"}])
    def test_wrong_options_are_refused(self, option: dict[str, str]) -> None:
        with pytest.raises(UnknownName, match="valid: "):
            CAT.draw(**option)

    def test_the_tree_draws_itself(self) -> None:
        assert CAT.draw() == draw_text(CAT)
        assert CAT.draw({0: "matched"}, width=3) == draw_text(CAT, {0: "matched"}, style="outline")


def mirrored(tree: Tree) -> Tree:
    return Tree(tree.label, [mirrored(child) if isinstance(child, Tree) else child for child in reversed(tree.children)])
