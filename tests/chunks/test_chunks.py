"""Chunks from trees, conlleval's numbers, and candidates from other chunkers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from treegauge.chunks.corpus import (
    Chunk,
    ChunkedSentence,
    categories_of,
    chunk_trees,
    chunks_of_iob,
    chunks_of_tree,
    iob_of_chunks,
    span_row,
    truth,
)
from treegauge.chunks.entropy import (
    ChunkScores,
    EntropyCounts,
    conlleval_printout,
    from_candidates,
    from_iob_marginals,
    read_candidates,
)
from treegauge.chunks.models import ByContext, ByLength, ByTags, ChunkRules, RuleTrie
from treegauge.chunks.tagger import SENTENCE_END
from treegauge.data import own_treebank
from treegauge.errors import FormatError, MismatchError
from treegauge.trees import Tree


def shown(text: str) -> list[str]:
    tree = Tree.parse(text)
    return [f"{category}:{'_'.join(tree.words[start:end])}" for category, start, end in chunks_of_tree(tree)]


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        ("(S (NP (NP (DT the) (NN man)) (PP (IN in) (NP (DT a) (NN hat)))) (VP (VBD left)))", "NP:the_man PP:in_a_hat VP:left"),
        ("(NP (NP (DT the) (NN man) (POS 's)) (JJ old) (NN hat))", "NP:the_man_'s NP:old_hat"),
        ("(VP (MD will) (ADVP (RB not)) (VP (VB be) (VP (VBN seen))))", "VP:will_not_be_seen"),
        (
            "(S (NP (PRP He)) (VP (VBD said) (SBAR (IN that) (S (NP (PRP it)) (VP (VBD rained))))))",
            "NP:He VP:said Null:that NP:it VP:rained",
        ),
        ("(NP (ADJP (RB very) (JJ old)) (NNS men))", "NP:very_old_men"),
        ("(VP (VBD picked) (PRT (RP up)) (NP (DT a) (NN book)))", "VP:picked PRT:up NP:a_book"),
        ("(S (NP (NN rain)) (, ,) (CC and) (NP (NN snow)) (. .))", "NP:rain Null:, Null:and NP:snow Null:."),
        ("(PP (IN of) (NP (NP (NN rain)) (CC and) (NP (NN snow))))", "PP:of_rain Null:and NP:snow"),
    ],
)
def test_chunks_end_with_their_head(tree: str, expected: str) -> None:
    assert shown(tree) == expected.split()


def test_every_tree_of_our_treebank_is_partitioned() -> None:
    sentences = list(chunk_trees(own_treebank()))
    assert len(sentences) == 521
    assert {"NP", "VP", "PP", "Null"} <= set(categories_of(sentences))


def test_a_tree_of_a_hundred_thousand_nodes() -> None:
    tree = Tree("NN", ["x"])
    for _ in range(100_000):
        tree = Tree("NP", [tree])
    assert chunks_of_tree(tree) == [Chunk("NP", 0, 1)]


MARKS = st.lists(st.sampled_from(["O", "B-NP", "I-NP", "B-VP", "I-VP"]), max_size=12)


@given(MARKS)
def test_marks_and_chunks_agree(marks: list[str]) -> None:
    chunks = chunks_of_iob(marks)
    assert chunks_of_iob(iob_of_chunks(chunks, len(marks))) == chunks
    words = ["w"] * len(marks)
    sentence = ChunkedSentence.from_iob(words, words, marks)
    assert [chunk for chunk in sentence.chunks if chunk.category != "Null"] == chunks


def test_conlleval_prints_its_layout() -> None:
    scores = ChunkScores.of([(["B-NP", "I-NP", "B-VP", "O"], ["B-NP", "I-NP", "B-NP", "O"])])
    assert list(conlleval_printout(scores)) == [
        "processed 4 tokens with 2 phrases; found: 2 phrases; correct: 1.",
        "accuracy:  75.00%; precision:  50.00%; recall:  50.00%; FB1:  50.00",
        "               NP: precision:  50.00%; recall: 100.00%; FB1:  66.67  2",
        "               VP: precision:   0.00%; recall:   0.00%; FB1:   0.00  0",
    ]


def test_sentences_of_other_lengths_are_refused() -> None:
    with pytest.raises(MismatchError):
        ChunkScores.of([(["O"], ["O", "O"])])


def test_a_perfect_chunker_has_no_entropy() -> None:
    sentence = ChunkedSentence.from_iob(["He", "sat", "."], ["PRP", "VBD", "."], ["B-NP", "B-VP", "O"])
    categories = categories_of([sentence])
    certain = from_candidates(3, [(*chunk, 1.0) for chunk in sentence.chunks], categories)
    marginals = [{"B-NP": 1.0}, {"B-VP": 1.0}, {"O": 1.0}]
    for probability in (certain, from_iob_marginals(marginals, categories)):
        counts = EntropyCounts(categories)
        counts.add(probability, truth(3, sentence.chunks, categories))
        assert (counts.bits_per_candidate, counts.impossible, counts.expected_precision, counts.expected_recall) == (0, 0, 1, 1)


@pytest.mark.parametrize("rounding", [-(2.0**-53), 0.0, 2.0**-52])
def test_an_event_is_impossible_whatever_the_rounding_of_a_sum(rounding: float) -> None:
    """A sum that is 1 may be a bit above or below it, as the processor adds; the smallest P of a true chunk is possible."""
    counts = EntropyCounts(("NP",))
    counts.add(np.array([[1.0 + rounding], [1e-200]]), np.array([[False], [True]]))
    assert (counts.impossible, counts.bits_per_candidate) == (1, math.inf)
    assert counts.bits == pytest.approx(-math.log2(1e-200))


class TenTags:
    """One word, which has any of ten tags with probability .1: taken off one by one, they leave 1.4e-16 of 1."""

    def __len__(self) -> int:
        return 1

    def first(self, word: int) -> list[tuple[str, float, tuple[str, ...]]]:
        return [(f"T{n}", 0.1, ()) for n in range(10)]

    def following(self, word: int, state: tuple[str, ...]) -> list[tuple[str, float, tuple[str, ...]]]:
        return [(SENTENCE_END, 1.0, ())]


def test_what_rounding_leaves_of_the_tags_is_no_probability() -> None:
    """Every tag has a rule, so model XK, which would find a chunk here, has no say in models G and C."""
    trie = RuleTrie()
    nodes = [0, *(trie.add([f"T{n}"]) for n in range(10))]
    grammar = ChunkRules(trie, np.ones((len(nodes), 1), dtype=bool), np.zeros((len(nodes), 1)))
    by_length = ByLength(np.full((3, 1), 0.5))
    for model in (ByTags(grammar, by_length), ByContext(grammar, {}, by_length)):
        assert model.probabilities(TenTags()).tolist() == [[0.0]]


def test_marginals_of_all_candidates_that_start_at_a_word_sum_to_the_marks_that_begin_there() -> None:
    marginals = [{"B-NP": 0.7, "O": 0.3}, {"I-NP": 0.4, "B-NP": 0.5, "O": 0.1}, {"I-NP": 0.2, "O": 0.8}]
    probability = from_iob_marginals(marginals, ["NP", "Null"])
    assert sum(probability[span_row(3, 0, end), 0] for end in (1, 2, 3)) == pytest.approx(0.7)


@pytest.mark.parametrize("line", ["NP 0 2", "NP 2 1 0.5", "NP 0 1 1.5", "NP a 1 0.5", "NP 0 1 nan"])
def test_a_bad_candidate_is_named(line: str) -> None:
    with pytest.raises(FormatError, match=r"x\.txt:2:1"):
        list(read_candidates(["NP 0 1 0.5", line], "x.txt"))
