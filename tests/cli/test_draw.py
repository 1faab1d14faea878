"""``treegauge draw``: trees of files, of standard input and of the command line, as text and as pictures."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from treegauge.trees import Tree

CAT, SHORT = "(S (NP (DT the) (NN cat)) (VP (VBD sat)))", "(S (V go))"


def draw(*words: str, text: str = "", folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "treegauge", "draw", *words]
    return subprocess.run(command, capture_output=True, encoding="utf-8", input=text, check=False, cwd=folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "two.mrg").write_text(f"{CAT}\n{SHORT}\n", "utf-8")
    return tmp_path


def test_a_tree_on_the_command_line_is_drawn_as_python_draws_it() -> None:
    assert draw(CAT).stdout == Tree.parse(CAT).draw() + "\n"


def test_several_trees_have_headings_and_a_choice_of_one_has_none(folder: Path) -> None:
    cat, short = (Tree.parse(text).draw() for text in (CAT, SHORT))
    assert draw("two.mrg", folder=folder).stdout == f"two.mrg:1\n{cat}\n\ntwo.mrg:2\n{short}\n"
    assert draw("two.mrg", "-s", "2", folder=folder).stdout == f"{short}\n"
    assert draw("two.mrg", "-s", "1-2", folder=folder).stdout == draw("two.mrg", folder=folder).stdout
    assert draw("two.mrg", CAT, "-s", "3", "-s", "2", folder=folder).stdout == f"<string>:1\n{cat}\n\ntwo.mrg:2\n{short}\n"


def test_standard_input_and_reading_options() -> None:
    assert draw("-", text=SHORT).stdout == draw(SHORT).stdout
    assert draw("-", "--lines", text=f"{SHORT}\n\n{SHORT}\n").stdout.count("-:") == 3
    assert "┌" not in draw("-", "--ascii", text=CAT).stdout
    assert draw("-", "--width", "20", text=CAT).stdout.startswith("   ")
    assert draw("-", "--width", "20", text=f"(S {CAT} {CAT})").stdout.startswith("S\n├─ S")


@pytest.mark.parametrize("numbers", [[1], [1, 2]])
def test_svg(folder: Path, numbers: list[int]) -> None:
    words = [word for number in numbers for word in ("-s", str(number))]
    assert draw("two.mrg", *words, "-o", "trees.svg", folder=folder).returncode == 0
    root = ElementTree.parse(folder / "trees.svg").getroot()
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert ["the" in texts, "go" in texts, "two.mrg:2" in texts] == [1 in numbers, 2 in numbers, len(numbers) > 1]
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))


def test_png(folder: Path) -> None:
    pytest.importorskip("matplotlib")
    assert draw("two.mrg", "-o", "trees.png", folder=folder).returncode == 0
    assert (folder / "trees.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("two.mrg", "-s", "3"), 2, "there is no sentence 3: the treebank has 2"),
        (("two.mrg", "-s", "2-1"), 2, "'2-1' is neither a positive number nor a range such as 1-5"),
        (("two.mrg", "-s", "1-x"), 2, "'1-x' is neither"),
        (("two.mrg", "-s", "1-999999999999"), 2, "there is no sentence 999999999999: the treebank has 2"),
        (("none.mrg",), 3, "none.mrg: no such file"),
        (("(S (NP",), 3, "never closed"),
        (("empty.mrg",), 3, "empty.mrg: no trees to draw"),
        (("two.mrg", "-o", "tree.jpg"), 2, "no format for the suffix .jpg"),
        (("two.mrg", "-o", "tree.gif"), 2, "no format for the suffix .gif; there are: text, svg, png, pdf"),
        (("two.mrg", "-o", "tree.JPEG"), 2, "no format for the suffix .jpeg"),
        (("two.mrg", "-o", "tree.tex"), 2, "no format for the suffix .tex; there are: text, svg, png, pdf"),
        (("[S [NP cats]]",), 2, "the brackets of a tree are round: (S (NP cats))"),
        (("two.mrg", "-o", "two.mrg"), 2, "two.mrg"),
        (("many.mrg", "-o", "tree.svg"), 2, "201 trees in one picture: choose up to 200 with --sentence N"),
    ],
)
def test_errors(folder: Path, words: tuple[str, ...], code: int, message: str) -> None:
    (folder / "empty.mrg").write_text("", "utf-8")
    (folder / "many.mrg").write_text(f"{SHORT}\n" * 201, "utf-8")
    done = draw(*words, folder=folder)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
