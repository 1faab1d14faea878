"""Trees with crossing branches: values, columns, text."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

import treegauge.data
from treegauge.errors import Discontinuous, FormatError, UsageError
from treegauge.testing import discontinuous_trees, trees
from treegauge.trees import DiscontinuousTree, Tree, Treebank, parse_discbracket
from treegauge.trees.columns import TreebankHash
from treegauge.trees.discontinuous import PlacedWord, blocks_of, from_placed_words, with_placed_words
from treegauge.trees.tree import Child, rebuild

WEN = "(S (VP (PWS 0=Wen) (VVPP 3=gesehen)) (VAFIN 1=hast) (PPER 2=du))"
DATA = Path(treegauge.data.__file__).parent


def token_sets(tree: Tree) -> list[tuple[str, frozenset[int]]]:
    """The nodes in pre-order with the set of words each covers, from discbracket text alone."""
    found: list[tuple[str, frozenset[int]]] = []
    open_nodes: list[tuple[int, str, set[int]]] = []
    text = str(tree) if not tree.is_continuous else str(numbered(tree))
    for piece in text.replace("(", " ( ").replace(")", " ) ").split():
        if piece == "(":
            open_nodes.append((len(found), "", set()))
            found.append(("", frozenset()))
        elif piece == ")":
            number, label, words = open_nodes.pop()
            found[number] = label, frozenset(words)
            if open_nodes:
                open_nodes[-1][2].update(words)
        elif "=" in piece:
            open_nodes[-1][2].add(int(piece.split("=")[0]))
        else:
            number, _, words = open_nodes.pop()
            open_nodes.append((number, piece, words))
    return found


def numbered(tree: Tree) -> Tree:
    count = iter(range(tree.width))

    def walk(node: Tree) -> Tree:
        return Tree(node.label, [f"{next(count)}={child}" if isinstance(child, str) else walk(child) for child in node.children])

    return walk(tree)


SIMPLE = trees(label=st.sampled_from("ABC"), tag=st.sampled_from("xyz"), word=st.sampled_from("uvw"), max_leaves=8)


def test_words_and_tags_stand_in_the_order_of_the_sentence() -> None:
    tree = parse_discbracket(WEN)
    assert isinstance(tree, DiscontinuousTree)
    assert tree.words == ("Wen", "hast", "du", "gesehen")
    assert tree.tags == ("PWS", "VAFIN", "PPER", "VVPP")
    assert [(node.label, blocks) for node, blocks in tree.nodes_with_blocks()][:2] == [("S", [(0, 4)]), ("VP", [(0, 1), (3, 4)])]
    inside = tree[0]
    assert isinstance(inside, Tree)
    assert inside.words == ("Wen", "gesehen")
    assert inside.is_continuous


def test_a_plain_root_over_a_crossing_node() -> None:
    tree = Tree("TOP", [parse_discbracket(WEN), Tree("$.", ["?"])])
    assert type(tree) is Tree
    assert not tree.is_continuous
    assert tree.words == ("Wen", "hast", "du", "gesehen", "?")
    assert str(tree) == "(TOP (S (VP (PWS 0=Wen) (VVPP 3=gesehen)) (VAFIN 1=hast) (PPER 2=du)) ($. 4=?))"
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert Treebank.from_trees([tree])[0] == tree


def test_equality_sees_the_order_of_words() -> None:
    a, b = parse_discbracket("(S (A 0=x 2=x) 1=x)"), parse_discbracket("(S (A 0=x 1=x) 2=x)")
    c = parse_discbracket("(S (A 0=x 3=x) 1=x 2=x)"), parse_discbracket("(S (A 0=x 2=x) 1=x 3=x)")
    assert a != b
    assert c[0] != c[1]
    assert hash(a) != hash(b)
    assert a == parse_discbracket("(S 1=x (A 2=x 0=x))")
    assert copy.deepcopy(a) is a
    assert eval(repr(a), {"parse_discbracket": parse_discbracket}) == a


@given(discontinuous_trees())
def test_repr_is_an_expression_for_any_tree(tree: Tree) -> None:
    names = {"Tree": Tree, "DiscontinuousTree": DiscontinuousTree, "parse_discbracket": parse_discbracket}
    assert eval(repr(tree), names) == tree
    words = iter(["two words", "-LRB-", *["x"] * tree.width])  # neither can be written as discbracket text
    odd = from_placed_words(_with_words(with_placed_words(tree), words))
    assert eval(repr(odd), names) == odd


def _with_words(tree: Tree, words: Iterator[str]) -> Tree:
    def make(node: Tree, children: list[Child]) -> list[Child]:
        return [Tree(node.label, [PlacedWord(next(words), c.place) if isinstance(c, PlacedWord) else c for c in children])]

    made = rebuild(tree, make)
    assert made is not None
    return made


@pytest.mark.parametrize(
    ("order", "said"),
    [
        ([0, 1, 2], "leaves no gap"),
        ([0, 0, 2], "no permutation|not a permutation"),
        ([2, 0, 1], "reverses"),
        ([1, 2, 0], "reverses"),
    ],
)
def test_orders_that_are_none(order: list[int], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        DiscontinuousTree("S", [Tree("A", ["a", "c"]), "b"], order)


def test_what_needs_spans_refuses_gaps() -> None:
    tree = parse_discbracket(WEN)
    for ask in (tree.spans, lambda: list(tree.nodes_with_spans()), tree.to_nltk):
        with pytest.raises(Discontinuous):
            ask()
    with pytest.raises(UsageError, match="order is lost"):
        tree.replace(children=[Tree("A", ["a"])])
    assert tree.replace(label="Q").words == tree.words


@given(discontinuous_trees(SIMPLE))
def test_round_trips_of_values(tree: Tree) -> None:
    assert from_placed_words(with_placed_words(tree)) == tree
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert parse_discbracket(str(tree)) == tree if not tree.is_continuous else True
    assert hash(from_placed_words(with_placed_words(tree))) == hash(tree)


@given(discontinuous_trees(SIMPLE))
def test_blocks_are_those_of_the_token_sets(tree: Tree) -> None:
    expected = token_sets(tree)
    found = [(node.label, frozenset(w for s, e in blocks for w in range(s, e))) for node, blocks in tree.nodes_with_blocks()]
    assert found == expected
    for (_, words), (_, blocks) in zip(expected, tree.nodes_with_blocks(), strict=True):
        assert blocks_of(sorted(words)) == blocks


@given(st.lists(discontinuous_trees(SIMPLE) | SIMPLE, max_size=6), st.data())
def test_columns_hold_the_trees(made: list[Tree], data: st.DataObject) -> None:
    bank = Treebank.from_trees(made)
    assert list(bank) == made
    assert bank.is_continuous == all(tree.is_continuous for tree in made)
    assert [bank.words(i) for i in range(len(bank))] == [list(tree.words) for tree in made]
    assert [bank.tags(i) for i in range(len(bank))] == [list(tree.tags) for tree in made]
    cut = data.draw(st.integers(0, len(made)))
    parts = [bank[:cut], bank[cut:]]
    assert [list(part) for part in parts] == [made[:cut], made[cut:]]
    assert Treebank.concatenate(parts) == bank
    digest = TreebankHash()
    for part in parts:
        digest.update(part)
    assert digest.hexdigest() == bank.sha256()
    chosen = data.draw(st.lists(st.integers(0, len(made) - 1), max_size=8)) if made else []
    assert list(bank.take(chosen)) == [made[i] for i in chosen]
    for column in (bank.blocks and (bank.blocks.row,)) or ():
        assert (column[1:] >= column[:-1]).all()


@given(st.lists(discontinuous_trees(SIMPLE), min_size=1, max_size=4), st.data())
def test_columns_over_fewer_tokens(made: list[Tree], data: st.DataObject) -> None:
    """Leaving tokens out of the columns gives the token sets without them."""
    import numpy as np

    bank = Treebank.from_trees(made)
    keep = np.array(data.draw(st.lists(st.booleans(), min_size=bank.n_tokens, max_size=bank.n_tokens)), dtype=bool)
    position = np.append(0, np.cumsum(keep))
    moved = bank.over_tokens(np.flatnonzero(keep), position)
    for index, tree in enumerate(made):
        first, last = int(bank.token_offset[index]), int(bank.token_offset[index + 1])
        rank = {old: int(position[first + old] - position[first]) for old in range(last - first) if keep[first + old]}
        expected = [{rank[w] for w in words if w in rank} for _, words in token_sets(tree)]
        nodes = range(int(moved.node_offset[index]), int(moved.node_offset[index + 1]))
        assert [rows_words(moved, row) for row in nodes] == expected


def rows_words(bank: Treebank, row: int) -> set[int]:
    blocks = bank.blocks.within(row, row + 1) if bank.blocks is not None else None
    if blocks is None:
        return set(range(int(bank.start[row]), int(bank.end[row])))
    assert blocks.start[0] == bank.start[row]
    assert blocks.end[-1] == bank.end[row]
    assert (blocks.start[1:] > blocks.end[:-1]).all()
    return {w for s, e in zip(blocks.start.tolist(), blocks.end.tolist(), strict=True) for w in range(s, e)}


def test_continuous_treebanks_have_no_blocks_and_the_hash_they_had() -> None:
    bank = Treebank.parse("(S (NP (N a)) (V b))")
    assert bank.blocks is None
    assert bank.sha256() == "0e69fabeb51c48b5c6a414d1d6434464bf742b72e3b9ffe5fff1ed860c52d715"
    assert Treebank.from_trees([parse_discbracket("(S (NP (N 0=a)) (V 1=b))")]) == bank


def test_deep_and_wide_trees() -> None:
    deep: Tree = Tree("A", [PlacedWord("a", 0), PlacedWord("c", 2)])
    for _ in range(20_000):
        deep = Tree("A", [deep])
    tree = from_placed_words(Tree("S", [deep, PlacedWord("b", 1)]))
    assert tree.words == ("a", "b", "c")
    bank = Treebank.from_trees([tree])
    assert bank[0] == tree
    assert pickle.loads(pickle.dumps(tree)) == tree


def test_a_sentence_of_nothing_but_gaps_is_bounded() -> None:
    tree: Tree = Tree("A", [PlacedWord("a", 2 * k) for k in range(3000)])
    for _ in range(3000):
        tree = Tree("A", [tree])
    whole = Tree("S", [tree, *(PlacedWord("b", 2 * k + 1) for k in range(3000))])
    with pytest.raises(FormatError, match="more than 4194304 words"):
        from_placed_words(whole)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("(S (A 0=a) (B 2=b))", "there is no word 1, but a word 2"),
        ("(S (A 0=a) (B 0=b))", "two words have the place 0"),
        ("(S (A 0=a) (B b))", "the word 'b' has no place"),
        ("(S (A -1=a))", "the word '-1=a' has no place"),
    ],
)
def test_discbracket_text_that_is_none(text: str, said: str) -> None:
    with pytest.raises(FormatError, match=said):
        parse_discbracket(text)


@pytest.mark.parametrize("name", ["german", "dutch"])
def test_our_own_sentences_all_have_gaps_beside_punctuation(name: str) -> None:
    lines = (DATA / f"{name}.discbracket").read_text("utf-8").splitlines()
    for line in lines:
        tree = parse_discbracket(line)
        assert str(tree) == line
        marks = {place for place, word in enumerate(tree.words) if word in ",.?"}
        gaps = [set(range(b[0].start, b[-1].end)) - {w for s, e in b for w in range(s, e)} for _, b in tree.nodes_with_blocks()]
        assert any(gap - marks for gap in gaps), line
