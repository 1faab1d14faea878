"""Treebank: the columns say exactly what the trees say."""

from __future__ import annotations

import dataclasses
import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from treegauge.errors import UsageError
from treegauge.testing.strategies import trees
from treegauge.trees import Origin, Tree, Treebank
from treegauge.trees.columns import TreebankHash

ANY = trees(preterminals=False, empty=True, traces=True, max_leaves=6)
BANKS = st.lists(ANY, max_size=4).map(Treebank.from_trees)
FEW = [Tree.parse(text) for text in ("(A a)", "(A b)", "(B a)", "(A (a))", "()", "(A a (E))", "(A (E) a)", "(A (A a))")]
TEXT = "(S (NP (DT the) (NN cat)) (VP (VBD sat))) (NP (NN rain)) () (X a (Y) b (Z c d) (E))"
BANK = Treebank.parse(TEXT)


def read_from(path: str, trees: int, first_line: int = 1, ids: tuple[str, ...] | None = None) -> Treebank:
    """Trees that say they were read from a file."""
    bank = Treebank.from_trees([Tree("A", [f"{path}{number}"]) for number in range(trees)])
    return dataclasses.replace(bank, origins=(Origin(path, np.arange(first_line, first_line + trees), ids),))


class TestColumns:
    def test_columns(self) -> None:
        bank = Treebank.parse("(S (NP (DT the) (NN cat)) (VP (VBD sat))) (X a (Y) b)")
        assert [bank.labels[i] for i in bank.label] == ["S", "NP", "DT", "NN", "VP", "VBD", "X", "Y"]
        assert bank.start.tolist() == [0, 0, 0, 1, 2, 2, 0, 1]
        assert bank.end.tolist() == [3, 2, 1, 2, 3, 3, 2, 1]
        assert bank.parent.tolist() == [-1, 0, 1, 1, 0, 4, -1, 0]
        assert [bank.vocabulary[i] for i in bank.word] == ["the", "cat", "sat", "a", "b"]
        assert [bank.labels[i] if i >= 0 else "" for i in bank.tag] == ["DT", "NN", "VBD", "", ""]
        assert bank.above.tolist() == [2, 3, 5, 0, 0]
        assert bank.node_offset.tolist() == [0, 6, 8]
        assert bank.token_offset.tolist() == [0, 3, 5]
        assert bank.is_preterminal.tolist() == [False, False, True, True, False, True, False, False]

    @given(st.lists(ANY, max_size=4))
    def test_trees_come_back(self, given_trees: list[Tree]) -> None:
        bank = Treebank.from_trees(given_trees)
        assert list(bank) == given_trees
        assert [bank[i] for i in range(len(bank))] == given_trees
        assert len(bank) == len(given_trees)
        assert bank.n_nodes == sum(tree.size for tree in given_trees)
        assert bank.n_tokens == sum(tree.width for tree in given_trees)

    @given(st.lists(ANY, max_size=4))
    def test_columns_agree_with_the_trees(self, given_trees: list[Tree]) -> None:
        bank = Treebank.from_trees(given_trees)
        spans = [span for tree in given_trees for span in tree.spans()]
        assert [(s, e, bank.labels[i]) for s, e, i in zip(bank.start, bank.end, bank.label, strict=True)] == spans
        assert bank.is_preterminal.tolist() == [node.is_preterminal for tree in given_trees for node in tree.nodes()]
        for index, tree in enumerate(given_trees):
            assert tuple(bank.words(index)) == tree.words
            assert tuple(bank.tags(index)) == tree.tags

    @given(BANKS)
    def test_column_types(self, bank: Treebank) -> None:
        for name in ("label", "start", "end", "parent", "word", "tag", "above"):
            assert getattr(bank, name).dtype == np.int32
        assert bank.node_offset.dtype == bank.token_offset.dtype == np.int64

    def test_deep(self) -> None:
        tree = Tree("X", ["a"])
        for _ in range(100_000):
            tree = Tree("X", [tree])
        bank = Treebank.from_trees([tree])
        assert bank.n_nodes == 100_001
        assert bank[0] == tree


class TestSequence:
    def test_indices(self) -> None:
        assert BANK[-1] == BANK[3]
        assert BANK[np.int64(1)] == Tree.parse("(NP (NN rain))")
        for index in (4, -5):
            for method in (BANK.__getitem__, BANK.words, BANK.tags, BANK.place):
                with pytest.raises(IndexError, match=f"tree {index} of 4"):
                    method(index)

    def test_words_and_tags_count_from_the_end_too(self) -> None:
        assert BANK.words(-4) == ["the", "cat", "sat"]
        assert BANK.words(-1) == ["a", "b", "c", "d"]
        assert BANK.tags(-3) == ["NN"]
        assert BANK.words(2) == []

    def test_it_is_a_sequence(self) -> None:
        assert Tree("") in BANK
        assert BANK.index(Tree("")) == 2
        assert list(reversed(BANK)) == list(BANK)[::-1]
        assert repr(BANK) == "<Treebank of 4 trees, 8 tokens, 13 nodes>"

    @given(BANKS, st.slices(4))
    def test_slices(self, bank: Treebank, part: slice) -> None:
        assert list(bank[part]) == list(bank)[part]
        assert bank[part] == Treebank.from_trees(list(bank)[part])

    @given(st.data())
    def test_take(self, data: st.DataObject) -> None:
        bank = data.draw(BANKS)
        indices = data.draw(st.lists(st.integers(-len(bank), len(bank) - 1), max_size=8)) if len(bank) else []
        whole = list(bank)
        assert list(bank.take(indices)) == [whole[index] for index in indices]
        assert list(bank.take(np.array(indices, np.int64))) == [whole[index] for index in indices]

    @pytest.mark.parametrize("index", [4, -5])
    def test_take_refuses_what_is_not_there(self, index: int) -> None:
        with pytest.raises(IndexError, match=f"tree {index} of 4"):
            BANK.take([0, index])

    @given(st.lists(BANKS, max_size=4))
    def test_concatenate(self, parts: list[Treebank]) -> None:
        joined = Treebank.concatenate(parts)
        together = [tree for part in parts for tree in part]
        assert list(joined) == together
        assert joined == Treebank.from_trees(together)
        assert len(set(joined.labels)) == len(joined.labels)
        assert len(set(joined.vocabulary)) == len(joined.vocabulary)

    @given(BANKS, st.integers(0, 4))
    def test_cutting_and_joining_is_the_identity(self, bank: Treebank, cut: int) -> None:
        assert Treebank.concatenate([bank[:cut], bank[cut:]]) == bank

    @given(BANKS)
    def test_pickle(self, bank: Treebank) -> None:
        again = pickle.loads(pickle.dumps(bank))
        assert again == bank
        assert list(again) == list(bank)

    def test_it_cannot_be_changed(self) -> None:
        for column in dataclasses.fields(BANK):
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(BANK, column.name, None)


class TestPlaces:
    def test_trees_from_nowhere_are_numbered(self) -> None:
        assert [BANK.place(index) for index in (0, 3, -1)] == ["tree 1", "tree 4", "tree 4"]

    def test_places_survive_joining_cutting_and_picking(self) -> None:
        bank = Treebank.concatenate([read_from("a.mrg", 3), BANK[:2], read_from("b.mrg", 2, 10, ("x", "y"))])
        assert [bank.place(index) for index in range(7)] == [
            *("a.mrg:1", "a.mrg:2", "a.mrg:3", "tree 4", "tree 5"),
            *("b.mrg:10 (sentence x)", "b.mrg:11 (sentence y)"),
        ]
        assert bank.place(-1) == "b.mrg:11 (sentence y)"
        assert [bank[2:6].place(index) for index in range(4)] == ["a.mrg:3", "tree 2", "tree 3", "b.mrg:10 (sentence x)"]
        assert [bank[::-3].place(index) for index in range(3)] == ["b.mrg:11 (sentence y)", "tree 2", "a.mrg:1"]
        picked = bank.take([6, 5, 0, 0, 6])
        assert [picked.place(index) for index in range(5)] == [
            *("b.mrg:11 (sentence y)", "b.mrg:10 (sentence x)", "a.mrg:1", "a.mrg:1", "b.mrg:11 (sentence y)"),
        ]

    @given(st.lists(st.integers(0, 3), max_size=4), st.data())
    def test_a_picked_tree_keeps_its_place(self, sizes: list[int], data: st.DataObject) -> None:
        parts = [read_from(f"{number}.mrg", size, 10 * number + 1) for number, size in enumerate(sizes)]
        bank = Treebank.concatenate(parts)
        indices = data.draw(st.lists(st.sampled_from(range(len(bank))), max_size=9)) if len(bank) else []
        picked = bank.take(indices)
        assert [picked.place(new) for new in range(len(indices))] == [bank.place(old) for old in indices]


class TestHash:
    def test_it_is_the_same_on_every_machine(self) -> None:
        assert BANK.sha256() == "61b5e4f1ad4923d6679f4e05e4493b026b926059cfdf20f279b9bc9c3bb1ff88"

    @given(st.lists(st.sampled_from(FEW), max_size=3), st.lists(st.sampled_from(FEW), max_size=3))
    @example([], [])
    @example(FEW, list(FEW))
    @example(FEW, FEW[::-1])
    def test_equal_just_where_the_trees_are(self, one: list[Tree], other: list[Tree]) -> None:
        first, second = Treebank.from_trees(one), Treebank.from_trees(other)
        assert (first == second) == (one == other)
        assert (first.sha256() == second.sha256()) == (one == other)

    @given(BANKS)
    def test_it_does_not_depend_on_where_the_trees_came_from(self, bank: Treebank) -> None:
        other = Treebank.parse("(Q (R r) (S s))")
        around = Treebank.concatenate([other, bank, other])
        assert around[1:-1].sha256() == bank.sha256()
        assert hash(around[1:-1]) == hash(bank)
        with_origin = dataclasses.replace(bank, origins=(Origin("x.mrg", np.ones(len(bank), np.int64)),))
        assert with_origin.sha256() == bank.sha256()
        assert bank.take(range(len(bank))).sha256() == bank.sha256()

    @given(BANKS, st.lists(st.integers(0, 4), max_size=3).map(sorted))
    def test_it_does_not_depend_on_the_blocks_it_comes_in(self, bank: Treebank, cuts: list[int]) -> None:
        digest = TreebankHash()
        for first, last in pairwise([0, *cuts, max(len(bank), *cuts, 0)]):
            digest.update(bank[first:last])
        assert digest.hexdigest() == bank.sha256()

    def test_it_does_not_depend_on_how_strings_are_numbered(self) -> None:
        bank = Treebank.parse("(A (B b) (C c))")
        turned = dataclasses.replace(
            bank,
            labels=("unused", *bank.labels[::-1]),
            label=(3 - bank.label).astype(np.int32),
            tag=(3 - bank.tag).astype(np.int32),
            vocabulary=("b", "c", "b"),
            word=np.array([2, 1], np.int32),
        )
        assert list(turned) == list(bank)
        assert turned.sha256() == bank.sha256()

    def test_it_does_not_depend_on_how_columns_lie_in_memory(self) -> None:
        columns = {name: np.repeat(getattr(BANK, name), 2)[::2] for name in ("label", "start", "end", "parent", "word", "above")}
        wide = {"tag": BANK.tag.astype(np.int64), "node_offset": BANK.node_offset.astype(">i8")}
        assert dataclasses.replace(BANK, **columns, **wide).sha256() == BANK.sha256()

    @pytest.mark.parametrize(
        "name", ["label", "start", "end", "parent", "word", "tag", "above", "node_offset", "token_offset", "labels", "vocabulary"]
    )
    def test_it_depends_on_every_column(self, name: str) -> None:
        bank = Treebank.parse("(S (NP (DT the) (NN cat)) (VP (VBD sat) x))")
        column = getattr(bank, name)
        hashes = {bank.sha256()}
        for place in range(len(column)):
            if isinstance(column, tuple):
                changed = (*column[:place], "other", *column[place + 1 :])
            else:
                changed = column.copy()
                changed[place] = (changed[place] + 1) % (len(bank.labels) if name in ("label", "tag") else 4)
            hashes.add(dataclasses.replace(bank, **{name: changed}).sha256())
        assert len(hashes) == len(column) + 1

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ([Tree("a\nb", [Tree("c")])], [Tree("a", [Tree("b\nc")])]),
            ([Tree("ab", [Tree("c")])], [Tree("a", [Tree("bc")])]),
            ([Tree("X", ["ab", "c"])], [Tree("X", ["a", "bc"])]),
            ([Tree("X", ["a"])], [Tree("X", [Tree("a")])]),
            ([Tree("X", ["a", Tree("E")])], [Tree("X", [Tree("E"), "a"])]),
            ([Tree("X", ["a"]), Tree("Y")], [Tree("X", ["a", Tree("Y")])]),
            ([Tree("")], []),
            ([Tree("X", ["\ud800"])], [Tree("X", ["\udc00"])]),
        ],
    )
    def test_near_misses_differ(self, one: list[Tree], other: list[Tree]) -> None:
        assert Treebank.from_trees(one).sha256() != Treebank.from_trees(other).sha256()
        assert Treebank.from_trees(one) != Treebank.from_trees(other)

    def test_other_things_are_not_equal(self) -> None:
        assert list(BANK) != BANK
        assert BANK != TEXT


def test_what_is_no_index_is_named_and_treebanks_add_up() -> None:
    bank = Treebank.parse("(A a) (B b)")
    for index in ("1", [0, 1], np.array([0, 1]), 1.0, None):
        with pytest.raises(UsageError, match="the index of a tree is a whole number or a slice, not"):
            bank[index]  # type: ignore[call-overload]
    assert bank[np.int64(1)] == bank[-1] == Tree.parse("(B b)")
    assert bank + bank == Treebank.concatenate([bank, bank])
    with pytest.raises(TypeError):
        bank + "(A a)"  # type: ignore[operator]


def test_a_file_in_place_of_marks_is_answered_with_how_to_write_a_picture() -> None:
    tree = Tree.parse("(A a)")
    for draw in (tree.draw, tree.svg):
        with pytest.raises(UsageError, match=r"marks cannot be 'tree.png'.*draw_svg_as\(tree.svg\(\), 'png'\)"):
            draw("tree.png")  # type: ignore[arg-type]
