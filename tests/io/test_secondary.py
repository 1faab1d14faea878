"""Secondary edges: read as features of labels where that is asked for, written as each format has them, and what can be wrong."""

from __future__ import annotations

import itertools
import random
import re
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from treegauge.cli import main
from treegauge.errors import FileNote, WriteError
from treegauge.io import ReadOptions, Source, check, read
from treegauge.io.formats import FORMATS
from treegauge.io.secondary import edges_of_tree, with_features
from treegauge.io.validation import examine
from treegauge.normalise import merge_nodes, pipeline, split_nodes
from treegauge.testing import discontinuous_trees, trees
from treegauge.trees import Tree, Treebank, parse_discbracket
from treegauge.trees.discontinuous import walk
from treegauge.trees.notation import discbracket_line

HOLDING_EDGES = ("export", "export4", "tigerxml", "alpino")
EXPORT = """#FORMAT 3
#BOS 1 0 0 0
Anna\tNE\t--\tSB\t500\tSB\t501\tSB\t503
kommt\tVVFIN\t--\tHD\t500
,\t$,\t--\t--\t0
lacht\tVVFIN\t--\tHD\t501
und\tKON\t--\tCD\t502
singt\tVVFIN\t--\tHD\t503\t%% a comment
#500\tS\t--\tCJ\t502
#501\tS\t--\tCJ\t502
#503\tS\t--\tCJ\t502\tMO\t500
#502\tCS\t--\t--\t0
#EOS 1
"""
TREE = (
    "(VROOT (CS (S-CJ##id=1## (NE-SB##sec=SB:2|sec=SB:3## 0=Anna) (VVFIN-HD 1=kommt)) (S-CJ##id=2## (VVFIN-HD 3=lacht)) "
    "(KON-CD 4=und) (S-CJ##id=3|sec=MO:1## (VVFIN-HD 5=singt))) ($, 2=,))"
)


def written(bank: Treebank, name: str) -> bytes:
    writer = FORMATS[name].writer
    assert writer is not None
    return b"".join(writer([bank]))


def back(data: bytes, name: str, secondary: bool = True) -> Treebank:
    reader = "export" if name == "export4" else name
    return read(Source("x", data), ReadOptions(format=reader, features=True, secondary=secondary))


def test_columns_after_the_parent_are_edges_where_asked_for() -> None:
    with_edges = read(Source("x.export", EXPORT.encode()), ReadOptions(secondary=True))
    assert str(with_edges[0]) == TREE
    without = read(Source("x.export", EXPORT.encode()))
    assert "##" not in str(without[0])
    assert pipeline("features")(with_edges[0]) == without[0]
    assert "lacht\tVVFIN\t--\tHD\t501\n" in written(with_edges, "export").decode()
    assert "Anna\tNE\t--\tSB\t500\tSB\t501\tSB\t502\n" in written(with_edges, "export").decode()


@pytest.mark.parametrize("first", HOLDING_EDGES)
@pytest.mark.parametrize("second", [*HOLDING_EDGES, "discbracket"])
def test_edges_through_two_formats(first: str, second: str) -> None:
    bank = Treebank.from_trees([parse_discbracket(TREE)])
    assert list(back(written(back(written(bank, first), first), second), second)) == list(bank)
    assert b"sec=" not in written(bank, first), "edges are written as the format has them"
    assert "sec=" not in str(back(written(bank, first), first, secondary=False)[0])


def numbered(tree: Tree, edges: set[tuple[int, int]]) -> Tree:
    """The tree with secondary edges (below, above), by numbers in pre-order, as features that are numbered as reading does."""
    first = [places[0] for node, places, _ in walk(tree) if isinstance(node, Tree)]
    above = sorted({a for _, a in edges}, key=lambda row: (first[row], row))
    rows = itertools.count()

    def marked(found: re.Match[str]) -> str:
        row = next(rows)
        own = [f"id={above.index(row) + 1}"] if row in above else []
        own += [f"sec=F:{number}" for number in sorted(above.index(a) + 1 for below, a in edges if below == row)]
        return "(" + with_features(found[1], "|".join(own))

    return parse_discbracket(re.sub(r"\(([^\s()]+)", marked, discbracket_line(tree)))


@settings(max_examples=60)
@given(
    discontinuous_trees(
        trees(
            label=st.sampled_from(["S", "NP-SB", "VP-OC", "VROOT"]),
            tag=st.sampled_from(["NN-NK", "V##lem=x##", "$."]),
            word=st.sampled_from(["a", "b"]),
            max_leaves=8,
        )
    ),
    st.randoms(use_true_random=False),
)
def test_any_edges_through_every_format(tree: Tree, random_: random.Random) -> None:
    nodes = list(tree.nodes())
    inner = [row for row, node in enumerate(nodes) if not node.is_preterminal]
    edges = {(random_.randrange(1, len(nodes)), random_.choice(inner)) for _ in range(random_.randrange(4)) if len(nodes) > 1}
    tree = numbered(tree, edges)
    for name in ("export4", "tigerxml", "alpino"):
        assert list(back(written(Treebank.from_trees([tree]), name), name)) == [tree], name
    assert len(edges_of_tree(tree)[1]) == len(edges)


@pytest.mark.parametrize(
    ("changed", "place", "problem"),
    [
        (("SB\t501\tSB\t503", "SB\t501\tSB\t599"), "x.export:3:26", "comes from '599', which is not a node of the sentence"),
        (("SB\t501\tSB\t503", "SB\t501\tSB"), "x.export:3:26", "needs two columns"),
        (("SB\t501\tSB\t503", "SB\tx"), "x.export:3:19", "needs two columns"),
        (("SB\t501\tSB\t503", "S|B\t501"), "x.export:3:19", "has a blank, '|' or '#'"),
    ],
)
def test_a_wrong_edge_of_export_costs_itself_and_has_its_place(changed: tuple[str, str], place: str, problem: str) -> None:
    source = Source("x.export", EXPORT.replace(*changed).encode())
    report = examine(source)
    (remark,) = report.remarks
    assert (remark.place, report.n_trees, report.n_errors) == (place, 1, 0)
    assert problem in remark.text
    assert len(read(source)) == 1, "edges that are not asked for do no harm"
    with pytest.warns(FileNote, match=re.escape(place)):
        (block,) = check(source, ReadOptions(secondary=True, on_error="parse-fails"))
    assert isinstance(block, Treebank)
    assert not block.problems()
    assert ("sec=SB:2" in str(block[0])) == ("501" in changed[1] and "|" not in changed[1]), "the other edges stay"


def test_a_wrong_edge_of_xml_costs_itself_and_has_its_place() -> None:
    bank = Treebank.from_trees([parse_discbracket(TREE)])
    tiger = written(bank, "tigerxml").replace(b'<secedge label="MO" idref="s1_502"', b'<secedge label="MO" idref="s1_1"')
    report = examine(Source("x.tigerxml", tiger))
    (remark,) = report.remarks
    line = next(number for number, text in enumerate(tiger.splitlines(), start=1) if b'"MO"' in text)
    assert (remark.place, "'s1_1', which is not a node" in remark.text) == (f"x.tigerxml:{line}:1", True)
    assert (report.n_trees, report.n_errors) == (1, 0)
    with pytest.warns(FileNote):
        (tree,) = read(Source("x.tigerxml", tiger), ReadOptions(secondary=True))
    assert str(tree).count("sec=") == 2, "the other edges stay"
    alpino = written(bank, "alpino").replace(b' word="Anna" index="1"', b' word="Anna"')
    remarks = examine(Source("x.alpino", alpino)).remarks
    assert [remark.place for remark in remarks] == ["x.alpino:12:9", "x.alpino:17:9"]
    assert "no node with words has the index '1'" in remarks[0].text


def test_index_nodes_that_stand_for_nothing_with_words_are_left_out() -> None:
    text = (
        '<alpino_ds><node cat="top" rel="top"><node cat="smain" rel="--"><node rel="su" index="1" word="Jan" pos="n" begin="0"/>'
        '<node rel="hd" word="wil" pos="v" begin="1"/><node rel="vc" cat="inf" index="2"><node rel="su" index="1"/></node>'
        '<node rel="obj1" index="2"/></node></node></alpino_ds>'
    )
    source = Source("x.alpino", text.encode())
    for options in (ReadOptions(), ReadOptions(secondary=True)):
        assert str(read(source, options)[0]) == "(top (smain (n-su Jan) (v-hd wil)))"
    with_child = text.replace(
        '<node rel="obj1" index="2"/>', '<node rel="mod" index="3"><node word="nu" pos="b" begin="2"/></node>'
    )
    for options in (ReadOptions(), ReadOptions(secondary=True)):
        tree = read(Source("x.alpino", with_child.encode()), options)[0]
        assert str(tree) == "(top (smain (n-su Jan) (v-hd wil) (-mod (b nu))))", "a node without a category is no index node"
    twice = text.replace('word="wil"', 'word="wil" index="1"')
    report = examine(Source("x.alpino", twice.encode()))
    assert ["two nodes with words have the index '1'" in remark.text for remark in report.remarks].count(True) == 1


@pytest.mark.parametrize(
    ("tree", "problem"),
    [
        ("(S (N##sec=SB:2## a) (V b))", "comes from a missing node"),
        ("(S (NP##id=1## (N##sec=SB:1## a)) (VP##id=1## (V b)))", "two nodes"),
        ("(S##sec=SB:1## (NP##id=1## (N a)) (V b))", "the root"),
        ("(S (N##id=1## a) (V##sec=SB:1## b))", "from the tag"),
        ("(S (NP##sec=SB:1##) (VP##id=1## (V b)))", "without words|has no words"),
    ],
)
def test_edges_that_cannot_be_written(tree: str, problem: str) -> None:
    bank = Treebank.parse(tree)
    for name in HOLDING_EDGES:
        with pytest.raises(WriteError, match=problem):
            written(bank, name)
    assert back(written(bank, "bracketed"), "bracketed") == bank


def test_a_feature_id_of_others_stays() -> None:
    bank = Treebank.parse("(S (NP (N##id=5## a)) (VP##id=1## (V##lem=x|sec=SB:1## b)))")
    assert list(back(written(bank, "tigerxml"), "tigerxml")) == list(bank)


def test_validate_notes_edges_that_transformations_cut() -> None:
    source = Source("x.mrg", b"(S (NP (N a)))\n(S (N##sec=SB:2## a) (VP##id=1## (V b)))")
    assert examine(source).remarks == [("x.mrg:2", "1 secondary edge from a missing node")]


def test_edges_survive_splitting() -> None:
    tree = parse_discbracket("(S (VP##id=1## (A 0=a) (B##sec=OC:1## 2=b)) (C##sec=SB:1## 1=c))")
    assert merge_nodes(split_nodes(tree)) == tree


ALPINO = """<alpino_ds>
<node cat="top" rel="top" begin="0" end="3"><node cat="smain" rel="--">
<node index="1" begin="0" end="1" rel="su" pos="pron" word="Hij"/><node begin="1" end="2" rel="hd" pos="verb" word="wil"/>
<node cat="inf" rel="vc"><node index="1" rel="su"/><node begin="2" end="3" rel="hd" pos="verb" word="gaan"/>
<node cat="ap" rel="mod"><node index="1" rel="su"/></node><node rel="x"/></node></node></node></alpino_ds>
"""
TIGER = """<corpus><s id="1"><graph root="r"><t id="a" word="a" pos="A"><secedge label="SB" idref="m"/></t>
<t id="b" word="b" pos="B"/><nt id="m" cat="M"><edge label="x" idref="b"/></nt>
<nt id="r" cat="S"><edge label="x" idref="a"/><edge label="x" idref="m"/></nt></graph></s></corpus>
"""


@pytest.mark.parametrize("command", [("convert", "--to", "discbracket"), ("normalise", "--steps", "continuous:split")])
@pytest.mark.parametrize(
    ("suffix", "text", "plain", "secondary"),
    [
        ("export", EXPORT, ["3 secondary edges left out (--secondary keeps them)"], []),
        ("xml", TIGER, ["1 secondary edge left out (--secondary keeps them)"], []),
        (
            "alpino",
            ALPINO,
            ["2 secondary edges left out (--secondary keeps them)", "2 nodes without words left out"],
            ["1 secondary edge of nodes without words left out", "2 nodes without words left out"],
        ),
    ],
)
def test_what_a_tree_leaves_out_is_counted(
    command: tuple[str, ...],
    suffix: str,
    text: str,
    plain: list[str],
    secondary: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / f"x.{suffix}"
    path.write_text(text, encoding="utf-8")
    for options, said in (((), plain), (("--secondary",), secondary)):
        with pytest.raises(SystemExit, match="0"):
            main([*command, *options, str(path), "-o", str(tmp_path / "y")])
        lines = [line.removeprefix("treegauge: ") for line in capsys.readouterr().err.splitlines() if "left out" in line]
        assert lines == said


def test_nodes_without_words_are_a_note_of_validate() -> None:
    report = examine(Source("x.alpino", ALPINO.encode()))
    assert [(remark.place, remark.text) for remark in report.remarks] == [
        ("x.alpino", "2 nodes without words in the file, left out of the trees")
    ]
    assert report.n_remarks == 1
    assert not examine(Source("x.alpino", ALPINO.encode()), most=0).remarks


def test_the_option_of_the_command_line(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    path = tmp_path / "x.export"
    path.write_text(EXPORT, encoding="utf-8")
    with pytest.raises(SystemExit, match="0"):
        main(["convert", str(path), "--secondary", "--to", "discbracket"])
    assert capsysbinary.readouterr().out.decode() == TREE + "\n"
    path.write_text(EXPORT.replace("SB\t503", "SB\t603"), encoding="utf-8")
    with pytest.raises(SystemExit, match="0"):
        main(["validate", str(path)])
    assert f"{path}:3:26: note: sentence 1: a secondary edge" in capsysbinary.readouterr().out.decode()
