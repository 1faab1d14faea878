"""Span charts from elsewhere against the enumeration of all labelled binary trees."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treegauge.errors import UnknownName, UsageError
from treegauge.parsing import decode, marginals
from treegauge.testing.enumeration import binary_bracketings, nary_bracketings

Labelled = dict[tuple[int, int], int]


def labelled_trees(n: int, labels: int) -> Iterator[Labelled]:
    for b in binary_bracketings(n):
        spans = sorted(b)
        for chosen in itertools.product(range(labels), repeat=len(spans)):
            yield dict(zip(spans, chosen, strict=True))


def scores_of(n: int, labels: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(scale=2, size=(n, n, labels))


@given(st.integers(1, 4), st.integers(1, 2), st.integers(0, 10**6))
def test_marginals_and_objectives(n: int, labels: int, seed: int) -> None:
    scores = scores_of(n, labels, seed)
    weights = [(tree, math.exp(math.fsum(scores[s, t - 1, X] for (s, t), X in tree.items()))) for tree in labelled_trees(n, labels)]
    z = math.fsum(w for _, w in weights)
    posterior = np.zeros_like(scores)
    for tree, w in weights:
        for (s, t), X in tree.items():
            posterior[s, t - 1, X] += w / z
    found = marginals(scores)
    upper = np.triu_indices(n)
    assert found.log_partition == pytest.approx(math.log(z), abs=1e-10)
    assert np.allclose(found.posterior[upper], posterior[upper], atol=1e-12)
    assert decode(scores, "viterbi").score == pytest.approx(max(w for _, w in weights) / z)
    for name, worth in (("labelled-recall", posterior.max(axis=2)), ("bracketed-recall", posterior.sum(axis=2))):
        ideal = max(math.fsum(worth[s, t - 1] for s, t in b) for b in binary_bracketings(n))
        assert decode(scores, name).score == pytest.approx(ideal)
        assert decode(posterior, name, kind="posteriors").score == pytest.approx(ideal)
    top = posterior.max(axis=2) - 0.4
    ideal = max(
        math.fsum(top[s, t - 1] if (s, t) == (0, n) else max(0.0, top[s, t - 1]) for s, t in b) for b in nary_bracketings(n)
    )
    assert decode(scores, "labelled-precision-recall", lam=0.4).score == pytest.approx(ideal)


def test_the_null_label_does_not_show() -> None:
    scores = np.zeros((3, 3, 2))
    scores[:, :, 1] = -8.0
    scores[0, 2, 1] = scores[0, 0, 1] = scores[1, 1, 1] = scores[2, 2, 1] = 8.0
    for objective in ("viterbi", "labelled-recall"):
        tree = decode(scores, objective, labels=["", "NP"], null=0, words=["a", "b", "c"]).tree
        assert tree.words == ("a", "b", "c")
        assert "" not in {node.label for node in tree.nodes()}
    assert str(decode(scores, "viterbi", labels=["", "NP"], null=0, words=["a", "b", "c"]).tree) == ("(NP (NP a) (NP b) (NP c))")


class Elsewhere:
    """A tensor of another library, known only by DLPack."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack__(self, **options: object) -> object:
        return self.array.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


def test_arrays_of_other_libraries() -> None:
    scores = scores_of(4, 2, 7)
    assert decode(Elsewhere(scores)) == decode(scores)
    assert decode(scores.tolist()) == decode(scores)


def test_large_scores_neither_overflow_nor_underflow() -> None:
    scores = np.full((30, 30, 2), -2000.0)
    found = marginals(scores)
    trees = math.comb(58, 29) // 30
    assert found.log_partition == pytest.approx(59 * -2000.0 + 59 * math.log(2) + math.log(trees), rel=1e-12)
    impossible = np.zeros((3, 3, 1))
    impossible[0, 1] = -np.inf
    assert marginals(impossible).posterior[1, 2, 0] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        (np.zeros((2, 3, 1)), {}, "shape"),
        (np.full((2, 2, 1), np.nan), {}, "nan"),
        (np.full((2, 2, 1), -np.inf), {}, "potential 0"),
        (np.zeros((2, 2, 1)), {"labels": ["a", "b"]}, "labels"),
        (np.zeros((2, 2, 1)), {"objective": "viterbi", "kind": "posteriors"}, "potentials"),
    ],
)
def test_errors(scores: np.ndarray, options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        decode(scores, **options)


def test_unknown_objective() -> None:
    with pytest.raises(UnknownName, match="labelled-recall"):
        decode(np.zeros((2, 2, 1)), "labeled-recall")
