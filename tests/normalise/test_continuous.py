"""Raising, splitting, merging and moving punctuation: exact inverses, the same words, no gaps left."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

import treegauge.data
from treegauge.cli import main
from treegauge.io import read
from treegauge.normalise import (
    STEPS,
    attach_punctuation,
    count_gaps,
    merge_nodes,
    pipeline,
    raise_nodes,
    split_nodes,
)
from treegauge.testing import discontinuous_trees, trees
from treegauge.trees import Tree, Treebank, parse_discbracket
from treegauge.trees.discontinuous import PlacedWord

DATA = Path(treegauge.data.__file__).parent
LABELS = st.sampled_from(["A", "B", "A*1", "B*2.1", "*", "\\", "A\\", "NP-HD"])
ANY = discontinuous_trees(trees(label=LABELS, tag=st.sampled_from(["x", "x*1", "y-HD"]), word=st.sampled_from("uv"), max_leaves=9))
WITH_EMPTY = discontinuous_trees(trees(label=LABELS, word=st.sampled_from("uv"), max_leaves=9, empty=True))
OWN = [*read(DATA / "german.discbracket"), *read(DATA / "dutch.discbracket")]


@given(ANY | WITH_EMPTY)
def test_splitting_is_undone_exactly(tree: Tree) -> None:
    split = split_nodes(tree)
    assert split.is_continuous
    assert split.words == tree.words
    assert len(split.tags) == len(tree.tags)
    assert merge_nodes(split) == tree


@given(ANY)
def test_raising_leaves_no_gap_and_every_word_in_its_place(tree: Tree) -> None:
    raised = raise_nodes(tree)
    assert raised.is_continuous
    assert raised.words == tree.words
    assert raised.tags == tree.tags
    assert Counter(node.label for node in raised.nodes()) == Counter(node.label for node in tree.nodes())
    assert raise_nodes(raised) == raised


@given(trees(label=LABELS, max_leaves=8))
def test_continuous_trees_stay_as_they_are(tree: Tree) -> None:
    assert raise_nodes(tree) == tree
    assert merge_nodes(split_nodes(tree)) == tree


def test_by_hand() -> None:
    tree = parse_discbracket(
        "(S (VP-OC (NP-OA (ART-NK 0=Die) (NN-NK 1=Hoffnung) (VP-OC (PPER-OA 6=ihn) (VVIZU-HD 7=wiederzusehen))) (ADV-MO 4=nie) "
        "(VVPP-HD 5=verloren)) (VAFIN-HD 2=hat) (PPER-SB 3=sie))"
    )
    assert str(raise_nodes(tree)) == (
        "(S (NP-OA (ART-NK Die) (NN-NK Hoffnung)) (VAFIN-HD hat) (PPER-SB sie) (VP-OC (ADV-MO nie) (VVPP-HD verloren) "
        "(VP-OC (PPER-OA ihn) (VVIZU-HD wiederzusehen))))"
    )
    assert str(split_nodes(tree)) == (
        "(S (VP-OC*1 (NP-OA*1 (ART-NK Die) (NN-NK Hoffnung))) (VAFIN-HD hat) (PPER-SB sie) (VP-OC*2 (ADV-MO nie) "
        "(VVPP-HD verloren) (NP-OA*2 (VP-OC (PPER-OA ihn) (VVIZU-HD wiederzusehen)))))"
    )


def test_marks_carry_numbers_only_where_they_would_be_ambiguous() -> None:
    nested = parse_discbracket("(S (A (a 0=a) (a 4=a)) (A (b 1=b) (b 3=b)) (c 2=c))")
    assert str(split_nodes(nested)) == "(S (A*1.1 (a a)) (A*1.4 (b b)) (c c) (A*2.4 (b b)) (A*2.1 (a a)))"
    crossing = parse_discbracket("(S (A (a 0=a) (a 3=a)) (A (b 1=b) (b 4=b)) (c 2=c))")
    assert str(split_nodes(crossing)) == "(S (A*1 (a a)) (A*1 (b b)) (c c) (A*2 (a a)) (A*2 (b b)))"


@pytest.mark.parametrize(
    ("parse", "merged"),
    [
        ("(S (VP*1 (a a)) (b b))", "(S (VP a) (b b))"),
        ("(S (VP*2 (a a)) (b b))", "(S (VP a) (b b))"),
        ("(S (VP*1 (a a)) (b b) (NP (VP*2 (c c))))", "(S (VP a) (b b) (NP (VP c)))"),
        ("(S (VP*1 (a a)) (b b) (VP*3 (c c)))", "(S (VP a) (b b) (VP c))"),
        ("(S (VP*1 (a a)) (b b) (VP*2 (c c)) (VP*2 (d d)))", "(S (VP (a 0=a) (c 2=c)) (b 1=b) (VP (d 3=d)))"),
        ("(VP*1 (a a))", "(VP*1 (a a))"),
    ],
)
def test_merging_what_a_parser_gives(parse: str, merged: str) -> None:
    made = merge_nodes(Tree.parse(parse))
    expected = parse_discbracket(merged) if "=" in merged else None
    if expected is not None:
        assert made == expected
    else:
        assert str(made).replace("(a a)", "a").replace("(c c)", "c") == merged.replace("(a a)", "a")


def test_what_was_changed_is_counted() -> None:
    changes: Counter[str] = Counter()
    tree = OWN[0]
    split = split_nodes(tree, changes)
    merge_nodes(split, changes)
    raise_nodes(tree, changes)
    assert changes == {"split": 1, "pieces": 2, "merged": 2, "alone": 0, "raised": 1}
    assert count_gaps([Treebank.from_trees(OWN)]) == (63, 63, 328, 102, ((2, 94), (3, 8)))


def test_a_node_without_words_stays_where_it_is() -> None:
    tree = parse_discbracket("(S (E) (F) (VP (A 0=a) (E) (F) (B 2=b) (E)) (C 1=c) (E))")
    assert str(split_nodes(tree)) == "(S (E) (F) (VP*1 (A a)) (C c) (VP*2 (E) (F) (B b) (E)) (E))"
    assert merge_nodes(split_nodes(tree)) == tree


def test_the_command_says_what_it_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.dbr"
    path.write_text("(VROOT (S (VP (A 0=a) (B 3=b)) (C 2=c)) ($, 1=,))\n")
    said: list[str] = []
    for steps in ("attach-punctuation", "continuous:raise", "attach-punctuation,continuous:split"):
        with pytest.raises(SystemExit, match="0"):
            main(["normalise", "--steps", steps, str(path), "-o", str(tmp_path / "y.dbr")])
        said.append(capsys.readouterr().err)
    with pytest.raises(SystemExit, match="0"):
        main(["normalise", "--undo", "--steps", "continuous:split", str(tmp_path / "y.dbr"), "-o", str(tmp_path / "z.dbr")])
    said.append(capsys.readouterr().err)
    assert [lines.splitlines()[0] for lines in said] == [
        "treegauge: 1 punctuation mark attached to a phrase",
        "treegauge: words and nodes raised out of nodes with gaps: 2",
        "treegauge: 1 punctuation mark attached to a phrase",
        "treegauge: 2 pieces merged, 0 left alone",
    ]
    assert said[2].splitlines()[1:] == [
        "treegauge: 1 node with gaps split into 2 pieces",
        "treegauge: before, 1 of 1 sentences and 2 of 3 constituents have gaps",
        "treegauge: after, 0 of 1 sentences and 0 of 4 constituents have gaps",
    ]


def test_punctuation_goes_below_the_lowest_node_around_it() -> None:
    tree = parse_discbracket("(VROOT (S (NP-SB (A 0=Ein) (B 1=Mann) (S-RC (C 4=der) (D 5=trug))) (V 2=kam)) ($, 3=,) ($. 6=.))")
    assert str(attach_punctuation(tree)) == (
        "(VROOT (S (NP-SB (A 0=Ein) (B 1=Mann) (S-RC (C 4=der) (D 5=trug))) (V 2=kam) ($, 3=,)) ($. 6=.))"
    )
    changes: Counter[str] = Counter()
    before = count_gaps([Treebank.from_trees(OWN)])
    after = count_gaps([Treebank.from_trees(attach_punctuation(tree, changes) for tree in OWN)])
    assert changes["attached"] == 17
    assert after.constituents_with_gaps < before.constituents_with_gaps
    assert after.sentences_with_gaps == 63


@pytest.mark.parametrize("name", [name for name, step in STEPS.items() if name not in ("length",)])
def test_every_step_takes_discontinuous_trees(name: str) -> None:
    """The words of what is left stand in the order of the sentence, and what can be undone comes back."""
    chain = pipeline(name)
    for tree in OWN:
        made = chain(tree)
        if made is None:
            continue
        in_order = iter(tree.words)
        assert all(word in in_order for word in made.words)
        assert not any(isinstance(word, PlacedWord) for word in made.words)
        if chain.steps[0].backward is not None and name not in ("mh", "annotate"):
            assert chain.inverse()(made) == tree


def test_a_pipeline_from_gaps_to_a_grammar_and_back() -> None:
    chain = pipeline("continuous:split,unaries:joined,binarise:right:h=1")
    for tree in OWN:
        made = chain(tree)
        assert made is not None
        assert made.is_continuous
        assert chain.inverse()(made) == tree
