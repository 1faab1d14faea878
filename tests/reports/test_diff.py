"""Tree diffs: marks that add up to PARSEVAL's counts, and pictures in three forms."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from hypothesis import given
from tree_pairs import tree_pairs

import treegauge
from treegauge.reports.tree_diff import (
    SystemDiffs,
    TreeDiff,
    TreeDiffs,
    diff,
    diff_picture,
    diff_svg,
    diff_text,
    mark_brackets,
    system_diff_text,
)
from treegauge.trees import Tree, Treebank, parse_discbracket

GOLD = "(S (NP (PRP I)) (VP (VBD saw) (NP (DT a) (NN man)) (PP (IN with) (NP (NNS eyes)))))"
TEST = "(S (NP (PRP I)) (VP (VBD saw) (NX (DT a) (NN man)) (X (NN man))))"
CROSSED = "(S (NP (PRP I)) (VP (VBD saw) (NP (DT a)) (X (NN man) (IN with)) (NP (NNS eyes))))"


def run(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-m", "treegauge", "diff", *arguments], capture_output=True, check=False)


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    gold, test = tmp_path / "gold.mrg", tmp_path / "test.mrg"
    gold.write_text(f"{GOLD}\n{GOLD}\n(S (V go))\n")
    test.write_text(f"{GOLD}\n{CROSSED}\n(X (V go))\n")
    return str(gold), str(test)


def test_every_kind_of_mark() -> None:
    found = diff(GOLD, CROSSED, preset="none")
    assert set(found.test_marks.values()) == {"matched", "crossing", "spurious"}
    assert set(found.gold_marks.values()) == {"matched", "missed"}
    assert diff("(S (NP (N a)) (V b))", "(S (XP (N a)) (V b))").gold_marks[1] == "wrong-label"


@given(tree_pairs())
def test_marks_add_up_to_parseval(pair: tuple[Tree, Tree]) -> None:
    gold, test = (Treebank.from_trees([tree]) for tree in pair)
    counts = treegauge.score(gold, test, preset="none").counts
    found = diff(gold, test, preset="none")
    gold_marks, test_marks = list(found.gold_marks.values()), list(found.test_marks.values())
    assert gold_marks.count("matched") == test_marks.count("matched") == counts["matched"]
    assert gold_marks.count("wrong-label") == test_marks.count("wrong-label")
    assert (len(gold_marks), len(test_marks)) == (counts["gold"], counts["test"])
    assert found.wrong == counts["gold"] + counts["test"] - 2 * counts["matched"]


def test_crossing_marks_are_the_crossing_brackets_that_match_nothing(shared: Path) -> None:
    from treegauge import alignment
    from treegauge.metrics.matching import crossing
    from treegauge.presets import load_preset

    folder = shared / "data" / "outputs"
    gold, test = (treegauge.read(folder / f"gum_dev.{name}.mrg") for name in ("gold", "berkeley-viterbi"))
    marks = mark_brackets(alignment.pair(gold, test, load_preset("default")))
    is_crossing = crossing(marks.pair.gold, marks.pair.test)
    assert is_crossing.sum() == (marks.test == 3).sum() > 0


def test_nodes_are_marked_where_they_stand_though_traces_and_punctuation_do_not_count() -> None:
    gold = "(S (NP-SBJ (-NONE- *)) (`` ``) (VP (V go) (NP (N home))) (. .))"
    found = diff(gold, "(S (`` ``) (VP (V go) (PP (N home))) (. .))")
    nodes = list(found.gold.nodes())
    assert {nodes[number].label: mark for number, mark in found.gold_marks.items()} == {
        "S": "matched",
        "VP": "matched",
        "NP": "wrong-label",
    }


def test_a_sentence_over_other_words_has_no_test_tree() -> None:
    found = diff("(S (V go) (N home))", "(S (V stay))")
    assert found.test is None
    assert "words differ" in found.summary
    assert set(found.gold_marks.values()) == {"missed"}
    assert "gold" in diff_text(found)
    assert diff_svg([found]).count("<svg") == 3


def test_other_tokens_over_the_same_text_are_marked_by_their_own_nodes() -> None:
    found = diff("(S (VP (MD can) (RB not)) (VP (V go)))", "(S (VP (MD cannot)) (XP (V go)))", preset="none")
    assert found.gold_marks == {0: "matched", 1: "matched", 4: "wrong-label"}
    assert found.test_marks == {0: "matched", 1: "matched", 3: "wrong-label"}


def test_differing_sentences_and_the_worst() -> None:
    gold, test = [GOLD, GOLD, "(S (V go))"], [GOLD, CROSSED, "(X (V go))"]
    assert sorted(TreeDiffs(gold, test).differing()) == [1, 2]
    assert TreeDiffs(gold, test).differing()[:1] == [1]
    assert TreeDiffs(gold, gold).differing() == []
    assert treegauge.diff(gold, test).sentence == 1, "without a number it is the worst sentence, as on the command line"
    assert treegauge.diff(gold, gold).sentence == 0
    with pytest.raises(treegauge.UsageError, match="there is no sentence 3, counted from 0: the treebank has 3"):
        TreeDiffs(gold, test).of([3])


HOSTILE = {
    "script": Tree("S", [Tree("<script>alert(1)</script>", [Tree('"&', ["</svg><img src=x onerror=alert(1)>"])])]),
    "directions": Tree("S", [Tree("N", ["שלום\u202e"]), Tree("N", ["مرحبا"]), Tree("N", ["👩\u200d🚀"])]),
    "control": Tree("S\x00", [Tree("\x1b[31m", ["\ud800"])]),
    "empty": Tree("", []),
    "dollars": Tree("S", [Tree("PRP$", ["$x^{$"])]),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_trees_are_drawn(name: str) -> None:
    tree = HOSTILE[name]
    found = TreeDiff(0, "tree 1", tree, tree.replace(label="X"), {0: "missed"}, {0: "crossing"})
    picture = diff_svg([found], fold=False)
    ElementTree.fromstring(picture)
    assert "<script" not in picture
    assert "<img" not in picture
    assert "\x1b" not in diff_text(found)
    assert diff_picture([found], "png").startswith(b"\x89PNG")
    assert "<script" not in found._repr_html_()


def test_a_deep_tree_is_drawn_folded() -> None:
    tree = Tree("V", ["go"])
    for _ in range(20_000):
        tree = Tree("S", [tree])
    found = diff([tree], [tree], preset="none")
    assert len(diff_svg([found])) < 10_000


def test_a_picture_too_large_for_png_is_refused() -> None:
    tree = Tree("S", [Tree("N", [f"word{number}"]) for number in range(10_000)])
    with pytest.raises(treegauge.UsageError, match="too large for PNG"):
        diff_picture([TreeDiff(0, "tree 1", tree, None, {}, {})], "png", fold=False)


def test_pictures_have_the_same_bytes_every_time() -> None:
    found = [diff(GOLD, TEST), diff(GOLD, CROSSED)]
    assert diff_svg(found) == diff_svg(found)
    assert diff_picture(found, "png") == diff_picture(found, "png")


def test_the_command_draws_the_worst_sentence(files: tuple[str, str]) -> None:
    done = run(*files, "--width", "80")
    assert done.returncode == 0, done.stderr
    assert "gold.mrg:2: gold:" in done.stdout.decode()
    assert "× crossing" in done.stdout.decode()


def test_the_command_writes_what_the_suffix_says(files: tuple[str, str], tmp_path: Path) -> None:
    for suffix, start in ((".svg", b"<svg"), (".png", b"\x89PNG"), (".txt", files[0].encode())):
        path = tmp_path / f"diff{suffix}"
        done = run(*files, "--all", "-o", str(path))
        assert (done.returncode, done.stdout) == (0, b""), done.stderr
        assert path.read_bytes().startswith(start)


def test_the_command_says_when_nothing_differs(files: tuple[str, str]) -> None:
    done = run(files[0], files[0], "--all")
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"no difference" in done.stderr
    done = run(*files, "--sentence", "9")
    assert done.returncode == 2
    assert b"there is no sentence 9: the treebank has 3" in done.stderr


def test_the_layout_of_the_picture() -> None:
    """Every place of the outer picture: headings, names, trees and the legend, and the room around them."""
    first = diff("(S (NP (N rain)) (VP (V fell) (ADV hard)))", "(S (NP (N rain)) (V fell) (ADV hard))")
    picture = ElementTree.fromstring(diff_svg([first, diff("(S (N a) (V b))", "(X (N a) (V b))")], fold=False))
    svg = "{http://www.w3.org/2000/svg}"
    (outer,) = (child for child in picture if child.tag == f"{svg}g")
    texts = [(element.text, element.get("x"), element.get("y")) for element in outer if element.tag == f"{svg}text"]
    boxes = [
        tuple(int(child.get(name, "")) for name in ("x", "y", "width", "height")) for child in outer if child.tag == f"{svg}svg"
    ]
    assert texts == [
        ("<string>:1: gold: 2 matched, 1 missed; test: 2 matched", "12", "26"),
        ("gold", "12", "50"),
        ("test", "12", "225"),
        ("<string>:1: gold: 1 wrong-label; test: 1 wrong-label", "12", "412"),
        ("gold", "12", "436"),
        ("test", "12", "570"),
    ]
    assert boxes == [
        (12, 60, 177, 151),
        (12, 235, 174, 151),
        (12, 446, 81, 110),
        (12, 580, 82, 110),
        (12, 702, 427, 42),
    ]
    assert (picture.get("width"), picture.get("height")) == ("462", "756")
    assert picture.get("viewBox") == "0 0 462 756"


def test_the_layout_of_a_tree_in_the_picture() -> None:
    found = diff("(S (NP (N rain)) (VP (V fell) (ADV hard)))", "(S (NP (N rain)) (V fell) (ADV hard))")
    places = dict(re.findall(r'id="s0t0-([nw]\d)"[^>]*(?:>.*?<text)? x="(\d+)" y="\d+"', diff_svg([found], fold=False)))
    heights = dict(re.findall(r'id="s0t0-([nw]\d)"[^>]*(?:>.*?<text)? x="\d+" y="(\d+)"', diff_svg([found], fold=False)))
    assert places == {
        "n0": "87",
        "n1": "47",
        "n2": "47",
        "n3": "128",
        "n4": "108",
        "n5": "148",
        "w0": "47",
        "w1": "108",
        "w2": "148",
    }
    assert heights == {
        "n0": "29",
        "n1": "70",
        "n2": "111",
        "n3": "70",
        "n4": "111",
        "n5": "111",
        "w0": "132",
        "w1": "132",
        "w2": "132",
    }


def test_two_systems_differ_in_the_brackets_that_one_of_them_has_wrong(tmp_path: Path) -> None:
    gold, one, two = (tmp_path / f"{name}.mrg" for name in ("gold", "one", "two"))
    gold.write_text(f"{GOLD}\n{GOLD}\n(S (NP (N a)) (VP (V b)))\n")
    one.write_text(f"{GOLD}\n{CROSSED}\n(S (N a) (XP (V b)))\n")
    two.write_text(f"{GOLD}\n{GOLD}\n(S (NP (N a)) (XP (V b)))\n")
    done = run(str(gold), str(one), f"ours={two}", "--all", "--ascii")
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode()
    assert "one and ours differ in 2 of 3 sentences: one has fewer wrong brackets in 0, ours in 2" in done.stderr.decode()
    first, second = text.split(f"{gold}:3: ")
    assert f"{gold}:2: one: 4 wrong brackets, ours: 0 wrong brackets" in first
    assert "wrong in one alone:\n  missed NP: a man\n" in first
    assert "wrong in ours" not in text
    assert "wrong in one alone:\n  missed NP: a\nwrong in both:\n  wrong-label VP: b\n  wrong-label XP: b\n" in second
    assert [line for line in second.splitlines() if line in ("gold", "one", "ours")] == ["gold", "one", "ours"]


def test_two_systems_on_trees_with_gaps() -> None:
    gold = parse_discbracket("(S (VP (A 0=a) (C 2=c)) (B 1=b))")
    flat, other = Tree.parse("(S (A a) (B b) (C c))"), parse_discbracket("(S (VP (A 0=a) (B 1=b)) (C 2=c))")
    diffs = SystemDiffs(TreeDiffs([gold], [flat], names=("gold", "A")), TreeDiffs([gold], [other], names=("gold", "B")))
    (found,) = diffs.of([0])
    assert [[str(bracket) for bracket in brackets] for brackets in found.wrong_brackets] == [
        [],
        ["crossing VP: a b"],
        ["missed VP: a … c"],
    ]
    assert "missed VP: a … c" in system_diff_text(found)


def test_the_sentence_in_which_two_systems_differ_most_is_drawn_unless_one_is_chosen(tmp_path: Path) -> None:
    gold, one, two = (tmp_path / f"{name}.mrg" for name in ("gold", "one", "two"))
    gold.write_text(f"(S (NP (N a)) (V b))\n{GOLD}\n")
    one.write_text(f"(S (N a) (V b))\n{CROSSED}\n")
    two.write_text(f"(S (NP (N a)) (V b))\n{GOLD}\n")
    assert run(str(gold), str(one), str(two)).stdout.decode().startswith(f"{gold}:2: ")
    assert run(str(gold), str(one), str(two), "-s", "1").stdout.decode().startswith(f"{gold}:1: ")
    same = run(str(gold), str(one), f"other={one}")
    assert (same.returncode, same.stdout) == (0, b"")
    assert b"no difference" in same.stderr
    assert run(str(gold), str(one), str(two), str(gold)).returncode == 2
    svg = tmp_path / "diff.svg"
    assert run(str(gold), str(one), str(two), "--all", "-o", str(svg)).returncode == 0
    assert "gold: 1 matched, 1 missed; one: 1 matched" in svg.read_text("utf-8")


@given(tree_pairs())
def test_wrong_tags_add_up_to_tagging_accuracy_and_are_marked(pair: tuple[Tree, Tree]) -> None:
    gold, test = (Treebank.from_trees([tree]) for tree in pair)
    counts = treegauge.score(gold, test, preset="none").counts
    found = diff(gold, test, preset="none")
    tagged = [(one, other) for one, other in zip(pair[0].tags, pair[1].tags, strict=True) if one or other]
    assert len(found.wrong_tags) == sum(one != other for one, other in tagged)
    assert len(tagged) - len(found.wrong_tags) == counts["tags"]
    for tree, side, (_, _, marks) in zip(pair, (0, 1), found.sides, strict=True):
        nodes = list(tree.nodes())
        assert all(
            nodes[each[side]].is_preterminal and marks[each[side]] == "wrong-label" for each in found.wrong_tags if each[side] >= 0
        )


def test_wrong_tags_of_words_that_count_behind_traces_and_other_tokens() -> None:
    gold = "(S (NP (-NONE- *)) (VP (VB go) (RB home)) (. .))", "(S (VP (MD can) (RB not)) (VP (V go)))"
    test = "(S (VP (VB go) (NN home)) (NN .))", "(S (VP (MD cannot)) (VP (VB go)))"
    diffs = TreeDiffs(Treebank.parse(" ".join(gold)), Treebank.parse(" ".join(test)))
    assert [found.wrong_tags for found in diffs.of([0, 1])] == [((5, 3),), ((5, 4),)]
    assert diffs.of([0])[0].summary.endswith("; 1 tag differs")


def test_a_changed_tag_is_a_difference_and_the_number_of_sentences_not_drawn_is_told(tmp_path: Path) -> None:
    old, new = tmp_path / "old.mrg", tmp_path / "new.mrg"
    old.write_text(f"{GOLD}\n{GOLD}\n{GOLD}\n")
    new.write_text(f"{GOLD}\n{GOLD.replace('NN man', 'NNS man')}\n{GOLD.replace('NP (DT', 'NX (DT')}\n")
    done = run(str(old), str(new), "-p", "none")
    assert done.stdout.decode().startswith(f"{old}:3: "), "wrong brackets come before wrong tags"
    assert "1 of 2 differing sentences drawn; --all draws all" in done.stderr.decode()
    done = run(str(old), str(new), "--all")
    assert f"{old}:2: gold: 6 matched; test: 6 matched; 1 tag differs" in done.stdout.decode()
    assert "NN ≠" in done.stdout.decode()
    assert "NNS ≠" in done.stdout.decode()
    assert "drawn" not in done.stderr.decode()
    done = run(str(old), str(old), str(new), "--all")
    assert "wrong in new alone:\n  wrong-tag NN: man\n  wrong-tag NNS: man\n" in done.stdout.decode()
