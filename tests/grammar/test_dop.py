"""Goodman's reduction of DOP against its definition: all subtrees written out as rules."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterator

import brute_force as brute
import pytest

from treegauge.errors import MismatchError, UnknownName
from treegauge.grammar.dop_reduction import ESTIMATORS, dop, plain_label
from treegauge.grammar.treebank_grammar import train
from treegauge.normalise import relabel
from treegauge.parsing import Forest
from treegauge.trees import Tree

BANKS = {
    "binary": ["(S (A a) (S (A a) (B b)))", "(S (S (B b) (B b)) (A a))", "(S (A b) (B a))"],
    "unary and long": ["(S (X (T (A a) (B b))) (A b))", "(S (A a) (B b) (A a))", "(S (X (A a)))"],
    "words among symbols": ["(S a (S (A a) b) (A b))", "(S (S a b) b)"],
    "repeated": ["(S (A a) (B b))", "(S (A a) (B b))", "(S (S (A a) (B b)) (S (A a) (A b)))"],
}


def subtrees(node: Tree) -> Iterator[Tree]:
    """All subtrees headed by a node: each child that is a node ends there (a Tree without children) or goes on."""
    options: list[list[Tree | str]] = [
        [child] if isinstance(child, str) else [Tree(child.label), *subtrees(child)] for child in node.children
    ]
    for children in itertools.product(*options):
        yield Tree(node.label, children)


def weights(bank: list[Tree], estimator: str) -> dict[str, dict[Tree, float]]:
    """P(subtree | its root)."""
    nodes = [node for tree in bank for node in tree.nodes()]
    n = Counter(node.label for node in nodes)
    found: dict[str, dict[Tree, float]] = defaultdict(lambda: defaultdict(float))
    for node in nodes:
        headed = list(subtrees(node))
        for tree in headed:
            found[node.label][tree] += 1 if estimator == "dop1" else 1 / (n[node.label] * len(headed))
    for label, trees in found.items():
        total = math.fsum(trees.values())
        found[label] = {tree: weight / total for tree, weight in trees.items()}
    return found


def probability(tree: Tree, given: dict[str, dict[Tree, float]]) -> float:
    """The sum over all derivations: a subtree at the root, then the trees that its open nodes stand for."""

    def open_nodes(fragment: Tree, whole: Tree) -> list[Tree] | None:
        if not fragment.children:
            return [whole] if fragment.label == whole.label else None
        if fragment.label != whole.label or len(fragment.children) != len(whole.children):
            return None
        found: list[Tree] = []
        for part, child in zip(fragment.children, whole.children, strict=True):
            if isinstance(part, str) or isinstance(child, str):
                if part != child:
                    return None
                continue
            below = open_nodes(part, child)
            if below is None:
                return None
            found += below
        return found

    total = 0.0
    for fragment, p in given[tree.label].items():
        rest = open_nodes(fragment, tree)
        if rest is not None:
            total += p * math.prod(probability(below, given) for below in rest)
    return total


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("name", BANKS)
def test_the_reduction_gives_every_tree_its_probability(name: str, estimator: str) -> None:
    bank = [Tree.parse(text) for text in BANKS[name]]
    given = weights(bank, estimator)
    grammar = dop(bank, estimator)
    for words in itertools.chain.from_iterable(itertools.product("ab", repeat=n) for n in (1, 2, 3, 4)):
        found: Counter[Tree] = Counter()
        for tree, p in brute.all_parses(grammar, words, repeats=3):
            found[relabel(tree, plain_label)] += p  # pyright: ignore
        for tree, p in found.items():
            if _no_chain_repeats(tree):
                assert p == pytest.approx(probability(tree, given)), str(tree)


def _no_chain_repeats(tree: Tree) -> bool:
    """Enumeration stops at repeated symbols on one span; trees with them have more derivations."""
    spans = Counter(tree.spans())
    return max(spans.values()) == 1


def test_posteriors_add_up_over_addresses() -> None:
    bank = [Tree.parse(text) for text in BANKS["binary"]]
    given = weights(bank, "dop1")
    words = ("a", "a", "b")
    forest = Forest(dop(bank), words)
    trees = {relabel(tree, plain_label) for tree, _ in brute.all_parses(dop(bank), words)}
    total = math.fsum(probability(tree, given) for tree in trees)
    expected: Counter[tuple[int, int, str]] = Counter()
    for tree in trees:
        for span in set(tree.spans()):
            expected[span] += probability(tree, given) / total  # pyright: ignore
    found = {c[:3]: c.posterior for c in forest.shown_constituents()}
    assert found == {tuple(span): pytest.approx(p) for span, p in expected.items()}
    assert math.exp(forest.log_partition) == pytest.approx(total)


def test_equal_subtrees_share_their_symbols() -> None:
    once = dop([Tree.parse("(S (NP (D a) (N b)) (V c))")])
    many = dop([Tree.parse("(S (NP (D a) (N b)) (V c))")] * 50)
    assert len(many.rules) == len(once.rules) == 2 * (1 + 1 + 1 + 4 + 4)


def test_huge_numbers_of_subtrees() -> None:
    text = "(B b)"
    for _ in range(1200):
        text = f"(S (A a) {text})"
    grammar = dop([Tree.parse(text)])
    assert max(grammar.totals.values()) == pytest.approx(1)


def test_training_hides_what_steps_added() -> None:
    bank = [Tree.parse("(S (A a) (B b) (A c))"), Tree.parse("(X (A a) (B b))")]
    for tags in (True, False):
        grammar = train(bank, steps="xcont", tags=tags, estimator="corrected").grammar
        assert grammar.label("TOP") is None
        assert {grammar.label(x) for x in grammar.nonterminals if x.startswith("S_Cont")} == {None}
        assert {grammar.label(x) for x in grammar.nonterminals if x.startswith("X@")} == {"X"}
    forest = Forest(train(bank, steps="xcont", lexicon="plain", estimator="dop1").grammar, ["a", "b", "c"])
    assert str(forest.argmax("labelled-recall").tree) == "(S (A a) (B b) (A c))"


def test_errors_say_what_is_wrong() -> None:
    with pytest.raises(UnknownName):
        dop([Tree.parse("(S a)")], "dop2")
    with pytest.raises(MismatchError, match="empty"):
        dop([Tree("S", [Tree("A", ["a"]), Tree("E")])])
    with pytest.raises(MismatchError, match="@"):
        dop([Tree.parse("(S (A@1 a))")])
