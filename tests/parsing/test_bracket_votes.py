"""Trees recombined from the brackets of several trees, against all trees."""

from __future__ import annotations

import math
import random
from collections import Counter
from pathlib import Path
from typing import Any

import brute_force as brute
import pytest
from click.testing import CliRunner
from hypothesis import given, settings, strategies as st

from treegauge.cli.consensus import command
from treegauge.errors import Discontinuous, FileNote
from treegauge.io import read
from treegauge.parsing.bracket_votes import recombine, recombined_trees
from treegauge.trees import Tree, Treebank


def random_tree(draw: random.Random, s: int, t: int) -> Tree:
    """A tree over the words s .. t - 1 with few labels, so that trees often agree; a label may stand over another."""
    if t == s + 1:
        leaf = Tree(draw.choice("DN"), [f"w{s}"])
        return Tree(draw.choice("AB"), [leaf]) if draw.random() < 0.3 else leaf
    cuts = sorted(draw.sample(range(s + 1, t), draw.randint(1, min(2, t - s - 1))))
    made = Tree(draw.choice("AB"), [random_tree(draw, i, j) for i, j in zip([s, *cuts], [*cuts, t], strict=True)])
    return Tree(draw.choice("AB"), [made]) if draw.random() < 0.2 else made


@settings(max_examples=80)
@given(st.integers(2, 5), st.integers(2, 4), st.randoms(use_true_random=False), st.sampled_from([0.2, 0.34, 0.45, 0.6]))
def test_the_recombined_tree_is_the_best_of_all_trees(n: int, size: int, draw: random.Random, lam: float) -> None:
    trees = [random_tree(draw, 0, n) for _ in range(size)]
    weights = [draw.choice([0.5, 1.0, 2.0]) for _ in trees]
    votes: Counter[Any] = Counter()
    for tree, weight in zip(trees, weights, strict=True):
        for part in set(tree.spans(preterminals=False)):
            votes[part] += weight / sum(weights)

    def worth(s: int, t: int) -> float:
        gains = sorted((p - lam for (i, j, _), p in votes.items() if (i, j) == (s, t)), reverse=True)
        kept = [gain for gain in gains if gain > 0]
        return math.fsum(kept or (gains[:1] if t - s == n else []))

    best = recombine(trees, weights, lam=lam)
    ideal = max(math.fsum(worth(s, t) for s, t in spans) for spans in brute.nary_bracketings(n))
    own = set(best.tree.spans(preterminals=False))
    assert best.score == pytest.approx(ideal)
    assert best.score == pytest.approx(sum(votes[part] - lam for part in own))
    assert best.tree.words == trees[0].words


A = "(S (NP (D a) (N b)) (V c) (PP (P d) (N e)))"
B = "(S (D a) (X (N b) (VP (V c) (PP (P d) (N e)))))"
C = "(S (NP (D a) (N b)) (VP (V c) (PP (P d) (N e))))"


def test_the_nodes_over_one_span_keep_their_order() -> None:
    tree = Tree.parse("(S (NP (N it)) (VP (PP (NP (D the) (N cat)))))")
    assert recombine([tree, tree]).tree == tree


def test_a_tree_that_no_system_has() -> None:
    trees = [Tree.parse(text) for text in (A, B, "(S (NP (D a) (N b)) (VP (V c) (P d) (N e)))")]
    assert str(recombine(trees).tree) == C
    # With the weight of the first tree above all others, it wins.
    assert str(recombine(trees, [5, 1, 1], lam=0.5).tree) == A
    assert recombine([Tree(""), Tree("")]).tree == Tree("")


def test_roots_and_function_tags() -> None:
    """A root that only holds a tree together does not vote; function tags count if all treebanks have them."""
    one, other = Treebank.parse("(TOP (S (NP-SBJ (N a)) (V b)))"), Treebank.parse("(TOP (S (NP (N a)) (V b)))")
    with pytest.warns(FileNote, match="function tags are cut off"):
        ((best, is_new),) = list(recombined_trees([one, other]))
    assert (str(best.tree), is_new) == ("(TOP (S (NP (N a)) (V b)))", False)
    ((best, _),) = list(recombined_trees([one, one]))
    assert str(best.tree) == "(TOP (S (NP-SBJ (N a)) (V b)))"

    for text in ("( (S (N a) (V b)))", "( (S (N a)) (V b))", "(TOP (S (N a)) (V b))"):
        # The root of the Penn Treebank has no label, and is as much part of the trees as one that has.
        ((best, is_new),) = list(recombined_trees([Treebank.parse(text)] * 2))
        assert (str(best.tree), is_new) == (text, False)


def test_command(tmp_path: Path) -> None:
    for name, text in zip("abc", (A, B, "(S (NP (D a) (N b)) (VP (V c) (P d) (N e)))"), strict=True):
        (tmp_path / f"{name}.mrg").write_text(f"{text}\n()\n")
    files = [str(tmp_path / f"{name}.mrg") for name in "abc"]
    done = CliRunner().invoke(command, [*files, "--recombine"])
    assert done.stdout == f"{C}\n()\n"
    assert "2 sentences; 1 tree that no file has" in done.stderr
    heavy = CliRunner().invoke(command, [*files, "--recombine", "--lam", "0.5", "--weight", "5", "--weight", "1", "--weight", "1"])
    assert heavy.stdout == f"{A}\n()\n"
    for wrong, message in ((["--recombine", "--metric", "freval"], "leave out --metric"), (["--lam", "0.5"], "--recombine")):
        assert message in str(CliRunner().invoke(command, [*files, *wrong]).exception)


def test_trees_with_gaps_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "gap.discbracket"
    path.write_text("(S (VP (V 0=a) (N 2=c)) (N 1=b))\n")
    bank = read(path)
    with pytest.raises(Discontinuous, match="gap"):
        list(recombined_trees([bank, bank]))
