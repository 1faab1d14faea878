"""Tree: an immutable value of any depth."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import pytest
from hypothesis import given

from treegauge.errors import UsageError
from treegauge.testing.strategies import trees
from treegauge.trees import Child, Production, Span, Tree
from treegauge.trees.tree import from_flat, rebuild, to_flat

DEEP = 100_000
CAT = Tree.parse("(S (NP (DT the) (NN cat)) (VP (VBD sat)))")
ANY = trees(preterminals=False, empty=True, traces=True, max_leaves=8)


def deep(word: str = "end") -> Tree:
    """A chain of phrases with a second child at every tenth."""
    tree = Tree("X", [word])
    for level in range(DEEP):
        tree = Tree("X", [Tree("D", ["d"]), tree] if level % 10 == 0 else [tree])
    return tree


@pytest.fixture(scope="module")
def deep_tree() -> Tree:
    return deep()


class TestValue:
    def test_a_tree_is_its_label_and_children(self) -> None:
        assert CAT.label == "S"
        assert CAT.children == (CAT[0], CAT[1])
        assert list(CAT) == [CAT[0], CAT[1]]
        assert (len(CAT), CAT.size, CAT.width, CAT.depth) == (2, 6, 3, 3)

    def test_a_tree_without_children_is_true_and_spans_nothing(self) -> None:
        failed = Tree("")
        assert failed
        assert (len(failed), failed.size, failed.width, failed.depth, failed.words) == (0, 1, 0, 1, ())
        assert failed.spans() == [Span(0, 0, "")]
        assert failed.productions() == []

    @pytest.mark.parametrize(
        "other",
        [
            Tree("X", CAT.children),
            Tree("S", CAT.children[:1]),
            Tree("S", [*CAT.children, "x"]),
            Tree("S", [CAT[1], CAT[0]]),
            Tree.parse("(S (NP (DT the) (NN cat)) (VP (VBD sits)))"),
            Tree.parse("(S (NP (DT the) (NN cat)) (VP (VBN sat)))"),
            Tree.parse("(S (NP (DT the)) (VP (NN cat) (VBD sat)))"),
            "(S (NP (DT the) (NN cat)) (VP (VBD sat)))",
            None,
        ],
    )
    def test_unequal(self, other: object) -> None:
        assert other != CAT

    def test_a_word_is_not_an_empty_node_of_that_name(self) -> None:
        assert Tree("X", ["a"]) != Tree("X", [Tree("a")])
        assert hash(Tree("X", ["a"])) != hash(Tree("X", [Tree("a")]))

    @given(ANY)
    def test_an_equal_tree_built_apart_is_equal_and_hashes_alike(self, tree: Tree) -> None:
        again = from_flat(list(to_flat(tree)))
        assert again == tree
        assert again is not tree
        assert hash(again) == hash(tree)
        assert len({again, tree}) == 1

    def test_hash_differs_where_trees_differ(self) -> None:
        different = [CAT, CAT.replace(label="X"), CAT.replace(children=CAT.children[:1]), Tree("S"), CAT[0]]
        assert len({hash(tree) for tree in different}) == len(different)

    @pytest.mark.parametrize("name", ["label", "children", "_hash", "other"])
    def test_it_cannot_be_changed(self, name: str) -> None:
        with pytest.raises(AttributeError, match="does not change"):
            setattr(CAT, name, "x")
        with pytest.raises(AttributeError, match="does not change"):
            delattr(CAT, name)
        assert CAT.label == "S"

    def test_it_keeps_nothing_of_the_list_it_was_made_from(self) -> None:
        children: list[Child] = ["a", "b"]
        tree = Tree("X", children)
        children.append("c")
        assert tree.words == ("a", "b")

    def test_replace_leaves_the_original_alone(self) -> None:
        assert str(CAT.replace(label="Q")) == "(Q (NP (DT the) (NN cat)) (VP (VBD sat)))"
        assert str(CAT.replace(children=["a"])) == "(S a)"
        assert str(CAT.replace(label="", children=[])) == "()"
        assert CAT.label == "S"

    @pytest.mark.parametrize(
        ("label", "children", "problem"),
        [("X", [1], "not int"), ("X", [None], "not NoneType"), (3, [], "not int"), ("NN", "cat", r"Tree\('NN', \['cat'\]\)")],
    )
    def test_a_wrong_part_is_refused(self, label: str, children: list[str], problem: str) -> None:
        with pytest.raises(TypeError, match=problem):
            Tree(label, children)


class TestCopies:
    @given(ANY)
    def test_pickle(self, tree: Tree) -> None:
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            assert pickle.loads(pickle.dumps(tree, protocol)) == tree

    def test_a_pickle_from_another_process_hashes_as_ours(self) -> None:
        # Each process salts its string hashes, so a hash must not travel inside the pickle.
        program = (
            "import pickle, sys; from treegauge.trees import Tree; sys.stdout.buffer.write(pickle.dumps(Tree.parse(sys.argv[1])))"
        )
        made = subprocess.run([sys.executable, "-c", program, str(CAT)], capture_output=True, check=True).stdout
        assert pickle.loads(made) in {CAT}

    def test_copies_are_the_tree_itself(self) -> None:
        assert copy.copy(CAT) is CAT
        assert copy.deepcopy(CAT) is CAT
        assert copy.deepcopy([CAT]) == [CAT]


class TestWalks:
    def test_nodes_in_pre_order(self) -> None:
        assert [node.label for node in CAT.nodes()] == ["S", "NP", "DT", "NN", "VP", "VBD"]

    def test_spans(self) -> None:
        assert CAT.spans() == [(0, 3, "S"), (0, 2, "NP"), (0, 1, "DT"), (1, 2, "NN"), (2, 3, "VP"), (2, 3, "VBD")]
        assert CAT.spans(preterminals=False) == [(0, 3, "S"), (0, 2, "NP"), (2, 3, "VP")]

    def test_spans_of_empty_nodes_and_bare_words(self) -> None:
        tree = Tree.parse("(S (E) a (NP b (E) c) (E))")
        assert tree.spans() == [(0, 3, "S"), (0, 0, "E"), (1, 3, "NP"), (2, 2, "E"), (3, 3, "E")]

    @given(ANY)
    def test_spans_cover_the_words_below(self, tree: Tree) -> None:
        spans = list(tree.nodes_with_spans())
        assert [node for node, _, _ in spans] == list(tree.nodes())
        for node, start, end in spans:
            assert tree.words[start:end] == node.words

    @given(ANY)
    def test_counts_agree(self, tree: Tree) -> None:
        nodes = list(tree.nodes())
        assert tree.size == len(nodes)
        assert tree.width == len(tree.words) == len(tree.tags)
        assert tree.depth == 1 + max((child.depth for child in tree if isinstance(child, Tree)), default=0)
        assert len(tree.productions()) == sum(1 for node in nodes if node.children)

    def test_tags(self) -> None:
        tree = Tree.parse("(S (NP (DT the) cat) (VP sat (ADV (RB))))")
        assert tree.words == ("the", "cat", "sat")
        assert tree.tags == ("DT", "", "")
        assert list(tree.tagged()) == [("the", "DT"), ("cat", ""), ("sat", "")]

    def test_productions(self) -> None:
        assert [str(rule) for rule in Tree.parse("(S (NP (DT the) cat) (VP))").productions()] == [
            "S -> NP VP",
            'NP -> DT "cat"',
            'DT -> "the"',
        ]
        assert [rule.is_lexical for rule in CAT.productions()] == [False, False, True, True, False, True]
        # A word that looks like a label is still another rule.
        assert Production("X", ("NP",), (True,)) != Production("X", ("NP",), (False,))

    def test_is_preterminal(self) -> None:
        found = [node.is_preterminal for node in Tree.parse("(S (A a) (B b c) (C) (D d (E)))").nodes()]
        assert found == [False, True, False, False, False, False]


class TestRebuild:
    def test_drop_keep_and_splice(self) -> None:
        def make(node: Tree, children: list[Child]) -> list[Child]:
            if node.label == "DROP":
                return []
            return children if node.label == "SPLICE" else [node.replace(children=children)]

        assert str(rebuild(Tree.parse("(S (DROP (A a)) (SPLICE (B b) c) (C d))"), make)) == "(S (B b) c (C d))"
        assert rebuild(Tree.parse("(DROP (A a))"), make) is None
        assert str(rebuild(Tree.parse("(SPLICE (A a))"), make)) == "(A a)"
        assert str(rebuild(Tree.parse("(SPLICE (A a) (B b))"), make)) == "(SPLICE (A a) (B b))"
        assert str(rebuild(Tree.parse("(SPLICE a)"), make)) == "(SPLICE a)"

    @given(ANY)
    def test_identity(self, tree: Tree) -> None:
        assert rebuild(tree, lambda node, children: [node.replace(children=children)]) == tree

    @given(ANY)
    def test_children_come_before_parents(self, tree: Tree) -> None:
        seen: list[Tree] = []

        def make(node: Tree, children: list[Child]) -> list[Child]:
            seen.append(node)
            return [node]

        rebuild(tree, make)
        positions = {id(node): place for place, node in enumerate(seen)}
        assert len(seen) == tree.size
        for node in tree.nodes():
            assert all(positions[id(child)] <= positions[id(node)] for child in node if isinstance(child, Tree))


class TestDeep:
    """Nothing recurses: a hundred thousand levels are like three."""

    def test_counts(self, deep_tree: Tree) -> None:
        assert deep_tree.size == DEEP + DEEP // 10 + 1
        assert deep_tree.depth == DEEP + 1
        assert deep_tree.width == len(deep_tree.words) == DEEP // 10 + 1

    def test_equality_and_hash(self, deep_tree: Tree) -> None:
        again = deep()
        assert deep_tree == again
        assert hash(deep_tree) == hash(again)
        assert deep_tree != deep("other")

    def test_pickle(self, deep_tree: Tree) -> None:
        assert pickle.loads(pickle.dumps(deep_tree)) == deep_tree

    @pytest.mark.slow
    def test_text(self, deep_tree: Tree) -> None:
        assert Tree.parse(str(deep_tree)) == deep_tree
        assert Tree.parse(deep_tree.pretty()) == deep_tree
        assert repr(deep_tree).startswith("Tree.parse('(X (X (X (X ")

    def test_walks(self, deep_tree: Tree) -> None:
        assert sum(1 for _ in deep_tree.nodes()) == deep_tree.size
        assert deep_tree.spans()[-1] == (DEEP // 10, DEEP // 10 + 1, "X")
        assert len(deep_tree.productions()) == deep_tree.size
        assert rebuild(deep_tree, lambda node, children: [node.replace(children=children)]) == deep_tree


class TestRepr:
    @given(trees(preterminals=False, empty=True))
    def test_it_is_an_expression_for_the_tree(self, tree: Tree) -> None:
        assert eval(repr(tree), {"Tree": Tree}) == tree

    @pytest.mark.parametrize(
        "tree",
        [
            Tree("NN", ["two words"]),
            Tree("NN", [""]),
            Tree("a b", [Tree("NN", ["x"]), "y", Tree("E")]),
            Tree("", ["a", "b"]),
            Tree("NN", ["-LRB-"]),
            Tree("(", ["x"]),
            Tree("N\n", ["x'\"["]),
        ],
    )
    def test_also_of_one_that_text_cannot_hold(self, tree: Tree) -> None:
        assert repr(tree).startswith("Tree(")
        assert eval(repr(tree), {"Tree": Tree}) == tree


def test_trees_of_spans() -> None:
    """The labels of a span stand below each other in the order given; a span that is given twice counts once."""
    assert str(Tree.from_spans(list("abcd"), [(1, 4), (2, 4), (1, 4)], "abcd")) == "(X (a a) (X (b b) (X (c c) (d d))))"
    assert str(Tree.from_spans(list("abc"), [], "abc", "S")) == "(S (a a) (b b) (c c))"
    assert str(Tree.from_spans(["a", "b"], [(0, 1, "N"), (0, 2, "S"), (0, 2, "VP")])) == "(S (VP (N a) b))"


@pytest.mark.parametrize("spans", [[(0, 2), (1, 3)], [(0, 4)], [(2, 4)], [(3, 4)], [(1, 1)], [(2, 1)], [(-1, 2)]])
def test_spans_that_make_no_tree_are_refused(spans: list[tuple[int, int]]) -> None:
    start, end = spans[-1]
    fault = "crosses another" if len(spans) > 1 else "is outside 3 words"
    with pytest.raises(UsageError, match=rf"^the span \({start}, {end}\) {fault}$"):
        Tree.from_spans(list("abc"), spans)


@given(ANY)
def test_the_spans_of_a_tree_make_it_again(tree: Tree) -> None:
    if tree.width and all(len(node.words) for node in tree.nodes()):
        labels: dict[tuple[int, int], list[str]] = {}
        for node, start, end in tree.nodes_with_spans():
            labels.setdefault((start, end), []).append(node.label)
        made = Tree.from_spans(tree.words, [(*span, "::".join(names)) for span, names in labels.items()])
        assert made == tree
