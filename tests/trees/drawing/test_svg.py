"""Trees as SVG: well-formed, self-contained, the same bytes, and every sign where it should be."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import resources
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, strategies as st

from treegauge.errors import UnknownName, UsageError
from treegauge.testing.strategies import trees
from treegauge.trees import Tree, Treebank
from treegauge.trees.drawing import MARKS, STYLESHEET, draw_svg, legend_svg

ANY = trees(preterminals=False, empty=True, traces=True, max_leaves=8)
CAT = Tree.parse("(S (NP (DT the) (NN cat)) (VP (VBD sat)))")
ALL_MARKS = {0: "matched", 1: "missed", 2: "spurious", 3: "crossing focus", 4: "wrong-label", 5: "focus"}
SVG = "{http://www.w3.org/2000/svg}"


def parsed(picture: str) -> ElementTree.Element:
    return ElementTree.fromstring(picture)


def by_id(picture: str) -> dict[str, ElementTree.Element]:
    found = [element for element in parsed(picture).iter() if "id" in element.attrib]
    elements = {element.attrib["id"]: element for element in found}
    assert len(elements) == len(found), "an id occurs twice"
    return elements


def text_of(element: ElementTree.Element) -> str:
    """The text of a node without its title and signs."""
    text = element if element.tag == f"{SVG}text" else element.find(f"{SVG}text")
    assert text is not None
    return text.text or ""


class TestElements:
    @given(ANY)
    def test_each_node_and_word_has_its_id_text_and_span(self, tree: Tree) -> None:
        elements = by_id(draw_svg(tree))
        for number, (node, start, end) in enumerate(tree.nodes_with_spans()):
            element = elements[f"n{number}"]
            assert element.attrib["data-span"] == f"{start} {end}"
            assert element.attrib["class"].startswith("node ")
            assert text_of(element) == node.label + ("" if node.children else "()") or (text_of(element) == "•" and not node.label)
        for position, word in enumerate(tree.words):
            assert text_of(elements[f"w{position}"]) == word
        assert sum(name[0] == "n" for name in elements) == tree.size
        assert sum(name[0] == "w" for name in elements) == tree.width
        assert sum(name[0] == "e" for name in elements) == tree.size - 1

    @given(ANY)
    def test_branches_go_from_the_parent_to_the_child(self, tree: Tree) -> None:
        elements = by_id(tree.svg())
        parents = [-1] * tree.size
        numbered = list(tree.nodes())
        number = 0
        for place, node in enumerate(numbered):
            number = place + 1
            for child in node:
                if isinstance(child, Tree):
                    parents[number] = place
                    number += child.size
        for number in range(1, tree.size):
            path = elements[f"e{number}"].attrib["d"]
            parent_x, parent_y = position(elements[f"n{parents[number]}"])
            x, y = position(elements[f"n{number}"])
            begin = re.match(r"M(\d+) (\d+)", path)
            assert begin
            assert int(begin[1]) == parent_x
            assert parent_y < int(begin[2])
            end_x, end_y = walk(path)
            assert end_x == x
            assert int(begin[2]) < end_y < y
            assert all(min(x, parent_x) <= int(turn) <= max(x, parent_x) for turn in re.findall(r"H(\d+)", path))

    @given(ANY)
    def test_everything_is_inside_the_picture(self, tree: Tree) -> None:
        root = parsed(draw_svg(tree, {0: "matched focus"}))
        width, height = int(root.attrib["width"]), int(root.attrib["height"])
        assert root.attrib["viewBox"] == f"0 0 {width} {height}"
        for element in root.iter(f"{SVG}text"):
            assert 0 < int(element.attrib["x"]) < width
            assert 0 < int(element.attrib["y"]) < height
        for element in root.iter(f"{SVG}path"):
            x, y = walk(element.attrib["d"])
            assert 0 <= x <= width
            assert 0 <= y <= height

    def test_words_stand_in_one_row_in_order(self) -> None:
        elements = by_id(draw_svg(CAT))
        places = [position(elements[f"w{number}"]) for number in range(3)]
        assert len({y for _, y in places}) == 1
        assert [x for x, _ in places] == sorted(x for x, _ in places)
        turned = by_id(draw_svg(CAT, direction="rtl"))
        assert [position(turned[f"w{number}"])[0] for number in (2, 1, 0)] == sorted(
            position(turned[f"w{number}"])[0] for number in range(3)
        )
        assert '<g class="words" direction="rtl">' in draw_svg(CAT, direction="rtl")

    def test_kinds(self) -> None:
        tree = Tree.parse("(S (NP (DT the) (NN cat)) (VP (V go) (E)) (-NONE- *T*-1))")
        elements = by_id(draw_svg(tree, folded=[1]))
        kinds = [elements[f"n{number}"].attrib["class"].split()[1] for number in (0, 1, 4, 5, 6, 7)]
        assert kinds == ["phrase", "folded", "phrase", "tag", "empty", "tag"]
        assert "n2" not in elements
        assert "n3" not in elements
        assert text_of(elements["w0"]) == "the cat"
        assert elements["w3"].attrib["class"] == "trace"
        assert draw_svg(tree, folded=[1]).count('class="roof"') == 1

    def test_sizes_follow_the_font(self) -> None:
        small, large = parsed(draw_svg(CAT, font_size=10)), parsed(draw_svg(CAT, font_size=40))
        assert (small.attrib["font-size"], large.attrib["font-size"]) == ("10", "40")
        assert 3.5 < int(large.attrib["width"]) / int(small.attrib["width"]) < 4.5

    def test_a_wide_character_takes_more_room(self) -> None:
        def width(text: str) -> int:
            return int(parsed(draw_svg(Tree("X", [text]))).attrib["width"])

        assert width("iiii") < width("nnnn") < width("mmmm") < width("木木木木木")
        assert width("e\u0301" * 9) == width("e" * 9)


class TestMarks:
    def test_each_mark_has_its_class_shape_line_and_symbol(self) -> None:
        elements = by_id(draw_svg(CAT, ALL_MARKS))
        drawn: dict[str, set[str]] = {}
        for number, names in ALL_MARKS.items():
            element = elements[f"n{number}"]
            assert set(names.split()) <= set(element.attrib["class"].split())
            shapes = element.findall(f"{SVG}path")
            signs = element.findall(f"{SVG}text/{SVG}tspan")
            assert [sign.text for sign in signs] == [MARKS[name].symbol for name in names.split()]
            assert [shape.attrib["stroke"] for shape in shapes] == [MARKS[name].colour for name in names.split()]
            title = element.find(f"{SVG}title")
            assert title is not None
            assert (title.text or "").endswith(": " + names)
            for name, shape in zip(names.split(), shapes, strict=True):
                commands = re.sub(r"[\d .-]+", "", shape.attrib["d"])
                drawn.setdefault(name, set()).add(
                    f"{commands} {shape.attrib['stroke-width']} {shape.attrib.get('stroke-dasharray')}"
                )
        looks = [look for name in drawn for look in drawn[name]]
        assert len(drawn) == len(MARKS)
        assert len(set(looks)) == len(MARKS), "two marks look alike but for their colour"

    def test_a_marked_branch_looks_like_its_mark(self) -> None:
        elements = by_id(draw_svg(CAT, ALL_MARKS))
        for number in (1, 2, 3, 4):
            mark = MARKS[ALL_MARKS[number].split()[0]]
            edge = elements[f"e{number}"].attrib
            assert (edge["stroke"], edge["stroke-width"], edge.get("stroke-dasharray", "")) == (mark.colour, mark.stroke, mark.dash)
        assert "stroke" not in elements["e5"].attrib

    def test_no_marks_no_signs(self) -> None:
        picture = draw_svg(CAT, stylesheet=False)
        for word in ("shape", "tspan", "legend", *(name for name in MARKS)):
            assert word not in picture

    def test_the_legend_names_what_occurs(self) -> None:
        picture = draw_svg(CAT, {0: "matched", 1: "crossing"})
        assert re.findall(r'class="key ([a-z-]+)"', picture) == ["matched", "crossing"]
        assert "legend" not in draw_svg(CAT, {0: "matched"}, legend=False)
        assert re.findall(r'class="key ([a-z-]+)"', legend_svg()) == list(MARKS)
        assert re.findall(r'class="key ([a-z-]+)"', legend_svg(["focus", "matched"])) == ["matched", "focus"]

    def test_a_narrow_legend_has_more_lines(self) -> None:
        wide, narrow = parsed(legend_svg()), parsed(legend_svg(width=200))
        assert int(narrow.attrib["width"]) <= 200 < int(wide.attrib["width"])
        assert int(narrow.attrib["height"]) > 3 * int(wide.attrib["height"])


class TestSafety:
    HOSTILE = Tree(
        '<b onload="x">&',
        [
            Tree("]]>", ["<script>alert(1)</script>"]),
            Tree("'\"", ["</text></svg><script>alert(2)</script>"]),
            Tree("\x00\x1b\ufffe", ["\ud800", "a\x0cb", "\u202eabc"]),
            Tree("&amp;", ["&lt;", "🙂", "e" + "\u0301" * 50, "word " * 100]),
        ],
    )

    def test_hostile_text_stays_text(self) -> None:
        picture = draw_svg(self.HOSTILE, {0: "crossing", 1: "focus"}, title="<i>\x00</i>", folded=[3])
        root = parsed(picture)
        allowed = {"svg", "title", "desc", "style", "g", "path", "text", "tspan"}
        assert {element.tag.removeprefix(SVG) for element in root.iter()} <= allowed
        assert not any(name.startswith("on") for element in root.iter() for name in element.attrib)
        assert text_of(by_id(picture)["w0"]) == "<script>alert(1)</script>"
        picture.encode("utf-8")

    @given(st.text(max_size=8), st.text(max_size=8))
    def test_any_text_gives_well_formed_xml(self, label: str, word: str) -> None:
        root = parsed(draw_svg(Tree(label, [Tree("X", [word]), word]), {0: "missed"}, title=word))
        assert root.tag == f"{SVG}svg"

    def test_nothing_is_fetched(self) -> None:
        picture = draw_svg(self.HOSTILE, dict.fromkeys(range(5), "crossing focus"), theme="auto")
        rest = picture.replace('xmlns="http://www.w3.org/2000/svg"', "")
        for word in ("http", "href", "url(", "@import", "<image", "<use", "<!"):
            assert word not in rest

    def test_it_looks_the_same_without_styles(self) -> None:
        # A page may forbid them: then attributes alone must carry colours and lines.
        bare = draw_svg(CAT, ALL_MARKS, stylesheet=False)
        assert "<style" not in bare
        assert " style=" not in bare
        assert re.sub(r"<style>.*</style>\n", "", draw_svg(CAT, ALL_MARKS)) == bare

    def test_a_page_can_change_every_colour(self) -> None:
        assert f"<style>{STYLESHEET}</style>" in draw_svg(CAT)
        for name in ("line", "word", *MARKS):
            assert f"var(--tree-{name}," in STYLESHEET
        for mark in MARKS.values():
            assert mark.colour in STYLESHEET

    @pytest.mark.parametrize("prefix", ["1", "a b", 'x"', "<", "é", "-a", "a/b"])
    def test_a_bad_prefix_is_refused(self, prefix: str) -> None:
        with pytest.raises(UsageError, match="id prefix"):
            draw_svg(CAT, id_prefix=prefix)

    def test_prefixes_keep_trees_apart(self) -> None:
        one, other = (set(by_id(draw_svg(CAT, ALL_MARKS, id_prefix=prefix))) for prefix in ("gold-", "t1."))
        assert not one & other
        assert all(name.startswith("gold-") for name in one)
        assert 'aria-describedby="gold-desc"' in draw_svg(CAT, id_prefix="gold-")

    @pytest.mark.parametrize("option", [{"direction": "up"}, {"theme": "blue"}])
    def test_wrong_options_are_refused(self, option: dict[str, str]) -> None:
        with pytest.raises(UnknownName, match="valid: "):
            CAT.svg(**option)

    @pytest.mark.parametrize("size", [0, 3, 201, -14])
    def test_a_wrong_font_size_is_refused(self, size: int) -> None:
        with pytest.raises(UsageError, match="font size"):
            draw_svg(CAT, font_size=size)


class TestReaders:
    def test_a_screen_reader_hears_the_sentence_the_marks_and_the_tree(self) -> None:
        root = parsed(draw_svg(CAT, {1: "crossing", 4: "matched focus", 5: "matched"}, title="Gold"))
        label = "Gold: the cat sat (2 matched, 1 crossing, 1 focus)"
        assert root.attrib["role"] == "img"
        assert root.attrib["aria-label"] == label
        assert root.findtext(f"{SVG}title") == label
        heard = "(S (NP [crossing] (DT the) (NN cat)) (VP [matched focus] (VBD [matched] sat)))"
        assert root.findtext(f"{SVG}desc") == heard

    @given(trees(preterminals=False, empty=True, max_leaves=6))
    def test_the_description_is_the_bracketed_text(self, tree: Tree) -> None:
        written = str(tree)
        if "RB-" not in written and len(written) < 900:
            heard = parsed(draw_svg(tree)).findtext(f"{SVG}desc") or ""
            assert heard == written

    def test_long_descriptions_end(self) -> None:
        tree = Tree("S", [Tree("N", [f"word{number}"]) for number in range(5000)])
        root = parsed(draw_svg(tree))
        assert len(root.attrib["aria-label"]) < 250
        assert len(root.findtext(f"{SVG}desc") or "") < 1300

    def test_an_empty_tree(self) -> None:
        root = parsed(draw_svg(Tree("")))
        assert root.attrib["aria-label"] == "Tree: no words"
        assert [element.text for element in root.iter(f"{SVG}text")] == ["()"]


class TestThemes:
    def test_in_a_page_it_takes_the_colours_of_the_page(self) -> None:
        root = parsed(draw_svg(CAT))
        assert root.attrib["fill"] == "currentColor"
        assert "color" not in root.attrib
        assert root.find(f"{SVG}rect") is None

    @pytest.mark.parametrize("theme", ["light", "dark", "auto"])
    def test_alone_it_brings_its_own_paper(self, theme: str) -> None:
        root = parsed(CAT.svg(theme=theme))
        paper = root.find(f"{SVG}rect")
        assert paper is not None
        assert (root.attrib["color"], paper.attrib["fill"]) == (
            ("#e8e8e8", "#1b1b1b") if theme == "dark" else ("#1b1b1b", "#ffffff")
        )
        assert ("prefers-color-scheme:dark" in CAT.svg(theme=theme)) == (theme == "auto")

    def test_a_notebook_shows_it_on_its_own_paper(self) -> None:
        assert CAT._repr_svg_() == draw_svg(CAT, theme="auto")
        assert CAT.svg() == draw_svg(CAT)
        assert CAT.svg({0: "matched"}) == draw_svg(CAT, {0: "matched"})


class TestSameBytes:
    def test_in_every_process(self) -> None:
        program = (
            "from treegauge.trees import Tree; import sys;"
            "t = Tree.parse('(S (NP (DT the) (NN cat)) (VP (VBD sat)))');"
            "sys.stdout.buffer.write(t.svg({0: 'matched', 1: 'missed', 3: 'focus'}, theme='auto').encode())"
        )
        expected = CAT.svg({0: "matched", 1: "missed", 3: "focus"}, theme="auto").encode()
        for seed in ("0", "1"):
            environment = {**os.environ, "PYTHONHASHSEED": seed}
            assert (
                subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, env=environment).stdout == expected
            )

    def test_marks_in_any_order(self) -> None:
        assert draw_svg(CAT, ALL_MARKS) == draw_svg(CAT, dict(reversed(ALL_MARKS.items())))

    def test_deep(self) -> None:
        tree = Tree("X", ["end"])
        for level in range(30_000):
            tree = Tree("X", [Tree("D", ["d"]), tree] if level % 20 == 0 else [tree])
        picture = draw_svg(tree)
        assert picture.count('class="node ') == tree.size
        assert picture.count('id="w') == tree.width


@pytest.mark.browser
def test_texts_do_not_touch_in_a_real_browser(chromium: Any) -> None:
    """Widths are only estimated, so ask Chromium how wide each text of our own treebank came out."""
    text = resources.files("treegauge.data").joinpath("travel.mrg").read_text(encoding="utf-8")
    drawn = Treebank.parse(re.sub(r"(?m)^#.*$", "", text))[:30]
    measure = """() => [...document.querySelectorAll("text")].map(text => {
        const box = text.getBBox();
        return [box.x, box.y, box.width, text.textContent];
    })"""
    page = chromium.new_page()
    for number, tree in enumerate(drawn):
        marks = {node: list(MARKS)[node % 6] for node in range(number % 3, tree.size, 3)}
        page.set_content(draw_svg(tree, marks, legend=False))
        rows: dict[int, list[tuple[float, float, str]]] = {}
        for x, y, width, shown in page.evaluate(measure):
            rows.setdefault(round(y), []).append((x, x + width, shown))
        for row in rows.values():
            for (_, end, one), (begin, _, other) in pairwise(sorted(row)):
                assert end < begin, f"{one!r} touches {other!r} in {tree}"
    page.close()


def position(element: ElementTree.Element) -> tuple[int, int]:
    text = element if element.tag == f"{SVG}text" else element.find(f"{SVG}text")
    assert text is not None
    return int(text.attrib["x"]), int(text.attrib["y"])


def walk(path: str) -> tuple[int, int]:
    """Where the pen is after a path."""
    x = y = x0 = y0 = 0
    for command, rest in re.findall(r"([A-Za-z])([^A-Za-z]*)", path):
        numbers = [int(number) for number in re.findall(r"-?\d+", rest)]
        match command:
            case "M" | "L":
                x, y = numbers
            case "H":
                (x,) = numbers
            case "V":
                (y,) = numbers
            case "h":
                x += numbers[0]
            case "v":
                y += numbers[0]
            case "l" | "q" | "a":
                x, y = x + numbers[-2], y + numbers[-1]
            case "z":
                x, y = x0, y0
            case _:
                raise AssertionError(f"unknown command {command}")
        if command == "M":
            x0, y0 = x, y
    return x, y
