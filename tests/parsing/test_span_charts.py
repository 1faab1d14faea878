"""Span charts from elsewhere against the enumeration of all labelled trees, binary ones and n-ary ones."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from brute_force import binary_bracketings, nary_bracketings
from hypothesis import given, strategies as st

from treegauge.errors import UnknownName, UsageError
from treegauge.parsing import SpanChart, decode, marginals
from treegauge.presets import load_preset
from treegauge.trees import Tree

Labelled = dict[tuple[int, int], int]
Weighted = list[tuple[Labelled, float]]


def labelled_trees(n: int, labels: int) -> Iterator[Labelled]:
    for b in binary_bracketings(n):
        spans = sorted(b)
        for chosen in itertools.product(range(labels), repeat=len(spans)):
            yield dict(zip(spans, chosen, strict=True))


def labelled_nary_trees(n: int, labels: list[int], *, root: bool = True) -> Iterator[Labelled]:
    """All n-ary trees, each once: constituents nest, single words may be some, the root is one if ``root``."""
    for b in nary_bracketings(n):
        words = [(i, i + 1) for i in range(n)]
        phrases = sorted(span for span in b if span[1] - span[0] > 1)
        fixed = [span for span in phrases if root or span != (0, n)]
        free = [*words, *([] if root else [(0, n)] * (n > 1))]
        if root and n == 1:
            fixed, free = words, []
        for chosen in itertools.product(labels, repeat=len(fixed)):
            for maybe in itertools.product([None, *labels], repeat=len(free)):
                tree = dict(zip(fixed, chosen, strict=True))
                tree |= {span: X for span, X in zip(free, maybe, strict=True) if X is not None}
                yield tree


def scores_of(n: int, labels: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(scale=2, size=(n, n, labels))


def weighted_nary(scores: np.ndarray, null: list[int], *, root: bool = True) -> Weighted:
    """All n-ary trees with their potentials, straight from the definition."""
    base = np.log(np.exp(scores[:, :, null]).sum(axis=2))
    real = [X for X in range(scores.shape[2]) if X not in null]
    return [
        (tree, math.exp(math.fsum(scores[s, t - 1, X] - base[s, t - 1] for (s, t), X in tree.items())))
        for tree in labelled_nary_trees(len(scores), real, root=root)
    ]


def posteriors(weights: Weighted, shape: tuple[int, ...]) -> tuple[float, np.ndarray]:
    z = math.fsum(w for _, w in weights)
    posterior = np.zeros(shape)
    for tree, w in weights:
        for (s, t), X in tree.items():
            posterior[s, t - 1, X] += w / z
    return z, posterior


@given(st.integers(1, 4), st.integers(1, 2), st.integers(0, 10**6))
def test_marginals_and_objectives(n: int, labels: int, seed: int) -> None:
    scores = scores_of(n, labels, seed)
    weights = [(tree, math.exp(math.fsum(scores[s, t - 1, X] for (s, t), X in tree.items()))) for tree in labelled_trees(n, labels)]
    z, posterior = posteriors(weights, scores.shape)
    found = marginals(scores)
    upper = np.triu_indices(n)
    assert found.log_partition == pytest.approx(math.log(z), abs=1e-10)
    assert np.allclose(found.posterior[upper], posterior[upper], atol=1e-12)
    assert decode(scores, "viterbi").score == pytest.approx(max(w for _, w in weights) / z)
    for name, worth in (("labelled-recall", posterior.max(axis=2)), ("bracketed-recall", posterior.sum(axis=2))):
        ideal = max(math.fsum(worth[s, t - 1] for s, t in b) for b in binary_bracketings(n))
        assert decode(scores, name).score == pytest.approx(ideal)
        assert decode(posterior, name, kind="posteriors").score == pytest.approx(ideal)
        by_end = np.concatenate([np.zeros((n, 1)), worth], axis=1)
        assert decode(scores, "general", weights=by_end).score == pytest.approx(ideal)
    top = posterior.max(axis=2) - 0.4
    ideal = max(
        math.fsum(top[s, t - 1] if (s, t) == (0, n) else max(0.0, top[s, t - 1]) for s, t in b) for b in nary_bracketings(n)
    )
    assert decode(scores, "labelled-precision-recall", lam=0.4).score == pytest.approx(ideal)


CHARTS = st.tuples(
    st.integers(1, 4), st.sampled_from([(2, [0]), (3, [-1]), (3, [0, 2]), (4, [1, 3])]), st.booleans(), st.integers(0, 10**6)
)


@given(CHARTS)
def test_nary_trees_are_counted_once(drawn: tuple[int, tuple[int, list[int]], bool, int]) -> None:
    n, (labels, null), root, seed = drawn
    scores = scores_of(n, labels, seed)
    weights = weighted_nary(scores, [X % labels for X in null], root=root)
    z, posterior = posteriors(weights, scores.shape)
    chart = SpanChart(scores, null=null, root=root)
    assert chart.log_partition == pytest.approx(math.log(z), abs=1e-10)
    upper = np.triu_indices(n)
    assert np.allclose(chart.posterior[upper], posterior[upper], atol=1e-12)
    share = [w / z for _, w in weights]
    assert chart.entropy() == pytest.approx(-math.fsum(p * math.log(p) for p in share if p), abs=1e-9)
    ordered = sorted(weights, key=lambda item: -item[1])
    best = chart.kbest(7)
    assert len(best) == min(7, len(weights))
    assert [parse.log_probability for parse in best] == pytest.approx([math.log(w) for _, w in ordered[:7]])
    assert len({parse.tree for parse in best}) == len(best)
    for parse in best:
        assert chart.log_probability(parse.tree) == pytest.approx(parse.log_probability - chart.log_partition)
    assert decode(scores, "viterbi", null=null, root=root).score == pytest.approx(ordered[0][1] / z)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n", [5, 6])
def test_longer_nary_trees(n: int, seed: int) -> None:
    scores = scores_of(n, 2, seed)
    z, posterior = posteriors(weighted_nary(scores, [1]), scores.shape)
    found = marginals(scores, null=-1)
    assert found.log_partition == pytest.approx(math.log(z), abs=1e-10)
    upper = np.triu_indices(n)
    assert np.allclose(found.posterior[upper], posterior[upper], atol=1e-12)


def crosses(a: tuple[int, int], b: tuple[int, int]) -> bool:
    return a[0] < b[0] < a[1] < b[1] or b[0] < a[0] < b[1] < a[1]


@given(CHARTS, st.integers(0, 2**30))
def test_constraints(drawn: tuple[int, tuple[int, list[int]], bool, int], chosen: int) -> None:
    n, (labels, null), root, seed = drawn
    scores, rng = scores_of(n, labels, seed), np.random.default_rng(chosen)
    null = [X % labels for X in null]
    allowed = rng.random((n, n, labels)) < 0.8
    allowed[0, n - 1] = True
    required = [(0, 2)] if n > 2 and chosen % 2 else [(1, 3)] if n > 2 else []
    for s, t in required:
        allowed[s, t - 1] = True
    weights = [
        (tree, w)
        for tree, w in weighted_nary(scores, null, root=root)
        if all(allowed[s, t - 1, X] for (s, t), X in tree.items()) and all(span in tree for span in required)
    ]
    z, posterior = posteriors(weights, scores.shape)
    chart = SpanChart(scores, null=null, root=root, allowed=allowed, required=required)
    assert chart.log_partition == pytest.approx(math.log(z), abs=1e-10)
    upper = np.triu_indices(n)
    assert np.allclose(chart.posterior[upper], posterior[upper], atol=1e-12)
    best = chart.kbest(5)
    assert [parse.log_probability for parse in best] == pytest.approx(sorted((math.log(w) for _, w in weights), reverse=True)[:5])
    for objective in ("viterbi", "labelled-recall", "labelled-precision-recall"):
        spans = chart.label_numbers(chart.argmax(objective).tree)
        if spans is None:
            assert not root
            continue
        assert all(span in spans for span in required)
        assert not any(crosses(a, b) for a in spans for b in required)


def test_constraints_on_binary_trees() -> None:
    scores = scores_of(5, 2, 11)
    allowed = np.ones((5, 5), bool)
    allowed[0, 1] = allowed[2, 4] = False
    trees = [tree for tree in labelled_trees(5, 2) if (0, 2) not in tree and (2, 5) not in tree and (1, 3) in tree]
    z = math.fsum(math.exp(math.fsum(scores[s, t - 1, X] for (s, t), X in tree.items())) for tree in trees)
    chart = SpanChart(scores, allowed=allowed, required=[(1, 3)])
    assert chart.log_partition == pytest.approx(math.log(z))
    half_open = np.concatenate([np.zeros((5, 1), bool), allowed], axis=1)
    assert marginals(scores, allowed=half_open, required=[(1, 3)]).log_partition == pytest.approx(math.log(z))
    one = [tree for tree in trees if tree[1, 3] == 1]
    z = math.fsum(math.exp(math.fsum(scores[s, t - 1, X] for (s, t), X in tree.items())) for tree in one)
    assert marginals(scores, allowed=allowed, required=[(1, 3, "1")]).log_partition == pytest.approx(math.log(z))
    assert decode(scores, "labelled-recall", allowed=allowed, required=[(1, 3)]).tree.words == tuple("01234")


@given(CHARTS)
def test_expected_f1(drawn: tuple[int, tuple[int, list[int]], bool, int]) -> None:
    """Of a given tree exactly; and no price of a constituent gives a tree of larger expected F1 than the default."""
    n, (labels, null), _, seed = drawn
    scores = scores_of(n, labels, seed)
    weights = weighted_nary(scores, [X % labels for X in null])
    z, posterior = posteriors(weights, scores.shape)
    chart = SpanChart(scores, null=null)

    def exact(tree: Labelled) -> float:
        return math.fsum(w / z * 2 * len(tree.items() & other.items()) / (len(tree) + len(other)) for other, w in weights)

    for tree, _ in weights[:: max(1, len(weights) // 5)]:
        assert chart.expected_f1(chart.tree(tree)) == pytest.approx(exact(tree), abs=1e-9)
        worth = math.fsum(posterior[s, t - 1, X] for (s, t), X in tree.items())
        assert chart.expected_score(chart.tree(tree)) == pytest.approx(worth)
    best = chart.argmax("labelled-precision-recall")
    spans = chart.label_numbers(best.tree)
    assert spans is not None
    assert best.score == pytest.approx(exact(spans), abs=1e-9)
    for lam in np.linspace(0.1, 0.9, 9).tolist():
        assert best.score >= chart.expected_f1(chart.argmax("labelled-precision-recall", lam=lam).tree) - 1e-9
    if len(weights) <= 400:
        assert best.score >= max(exact(tree) for tree, _ in weights) - 0.005
    size = math.fsum(w / z * len(tree) for tree, w in weights)
    ratios = [2 * math.fsum(posterior[s, t - 1, X] for (s, t), X in tree.items()) / (size + len(tree)) for tree, _ in weights]
    given = SpanChart(chart.posterior, null=null, kind="posteriors").argmax()
    assert given.score == pytest.approx(max(ratios))
    assert best == chart.argmax()
    found = chart.confidence(best.tree)
    assert found.probability == pytest.approx(math.exp(chart.log_probability(best.tree)))
    assert [c.posterior for c in found.constituents] == pytest.approx(
        [posterior[c.start, c.end - 1, int(c.label)] for c in found.constituents]
    )


def test_a_lower_price_keeps_more() -> None:
    chart = SpanChart(scores_of(6, 3, 5), null=0)
    sizes = [chart.argmax("labelled-precision-recall", lam=lam).tree.size for lam in (0.0, 0.2, 0.4, 1.0)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1] == 1


@pytest.mark.parametrize("null", [None, 0])
def test_samples_come_with_their_probabilities(null: int | None) -> None:
    scores = scores_of(3, 2, 4) / 2
    chart = SpanChart(scores, null=null)
    found = Counter(chart.sample(20_000, seed=3))
    assert chart.sample(5, seed=3) == chart.sample(5, seed=3)
    for tree, count in found.most_common(12):
        p = math.exp(chart.log_probability(tree))
        assert abs(count / 20_000 - p) < 5 * math.sqrt(p / 20_000)


def test_risk_by_any_metric() -> None:
    chart = SpanChart(scores_of(4, 3, 8) * 3, null=0, labels=["", "A", "B"], words=list("abcd"), tags=["T"] * 4)
    trees = [(p.tree, math.exp(p.log_probability - chart.log_partition)) for p in chart.kbest(200)]

    def share(gold: Tree, test: Tree) -> float:
        a, b = (set(tree.spans(preterminals=False)) for tree in (gold, test))
        return 2 * len(a & b) / (len(a) + len(b))

    best = chart.argmax("mbr", score=share, candidates="kbest", size=200)
    z = math.fsum(p for _, p in trees)
    assert best.score == pytest.approx(max(math.fsum(p * share(gold, test) for gold, p in trees) / z for test, _ in trees))
    assert chart.argmax("mbr:parseval", size=30).tree.words == tuple("abcd")


def test_no_constituent_at_all_can_be_the_best_tree() -> None:
    """F1 of two trees without constituents is 1, so the empty tree is worth its probability."""
    scores = np.zeros((3, 3, 2))
    scores[:, :, 1] = -6.0
    chart = SpanChart(scores, null=0, root=False, labels=["", "NP"])
    best = chart.argmax()
    assert best.score == pytest.approx(math.exp(-chart.log_partition)) == pytest.approx(chart.expected_f1(best.tree))
    assert chart.spans(best.tree) == {}
    # Posteriors alone tell that it has at least 1 less their sum.
    given = SpanChart(chart.posterior, null=0, root=False, labels=["", "NP"], kind="posteriors").argmax()
    assert given == (best.tree, pytest.approx(1 - chart.posterior.sum()))
    assert SpanChart(np.zeros((2, 2, 2)), null=0, root=False, kind="posteriors").argmax().score == 1.0
    sampled = chart.argmax("mbr:parseval.f1")
    assert chart.spans(sampled.tree) == {}
    assert sampled.score == pytest.approx(best.score, abs=0.1)


def test_a_root_that_only_stands_in_counts_nowhere() -> None:
    """It has a label that presets delete, whatever labels the chart has; X, which treebanks have, is a label as any other."""
    scores = np.full((3, 3, 2), -6.0)
    scores[:, :, 0] = 0.0
    empty = SpanChart(scores, null=0, root=False, labels=["", "X"], words="abc", tags="TTT")
    trees = [empty.best().tree, empty.argmax().tree, empty.argmax("bracketed-recall").tree]
    assert {str(tree) for tree in trees[:2]} == {"(TOP (T a) (T b) (T c))"}
    assert all(trees[0].label in load_preset(name).delete_labels for name in ("default", "collins", "spmrl", "disco"))
    whole = Tree.parse("(X (T a) (T b) (T c))")
    assert empty.spans(trees[0]) == {}
    assert empty.spans(whole) == {(0, 3): "X"}
    assert empty.log_probability(whole) == pytest.approx(-6.0 - empty.log_partition)


@pytest.mark.parametrize("filling", [np.inf, -np.inf, np.nan, 1e308, 7.0])
@pytest.mark.parametrize("kind", ["potentials", "posteriors"])
@pytest.mark.parametrize("null", [None, 0])
def test_scores_below_the_diagonal_have_no_effect(filling: float, kind: Any, null: int | None) -> None:
    scores = np.random.default_rng(1).dirichlet([1] * 4, size=(4, 4))[:, :, :3]
    other = scores.copy()
    other[np.tril_indices(4, -1)] = filling
    one, two = (SpanChart(each, kind=kind, null=null, root=null is None) for each in (scores, other))
    assert two.argmax() == one.argmax()
    assert np.array_equal(two.scores, one.scores)
    if kind == "potentials":
        assert (two.log_partition, two.kbest(3)) == (one.log_partition, one.kbest(3))


def test_temperature_divides_scores() -> None:
    scores = scores_of(4, 2, 1)
    assert np.allclose(marginals(scores, null=0, temperature=4.0).posterior, marginals(scores / 4, null=0).posterior)
    assert decode(scores, null=0, temperature=0.5) == decode(scores * 2, null=0)


@pytest.mark.parametrize("kind", ["potentials", "posteriors"])
def test_merged_labels(kind: Any) -> None:
    """The posterior of a merged label is the sum of its parts, at any temperature and under constraints."""
    names = ["NP-SBJ", "", "NP", "VP", "VP-PRD"]
    allowed = np.random.default_rng(1).random((4, 4, 5)) < 0.8
    allowed[0, 3] = True
    chart = SpanChart(scores_of(4, 5, 3), labels=names, null=1, temperature=1.7, allowed=allowed)
    exact = np.stack([chart.posterior[:, :, own].sum(axis=2) for own in ([1], [0, 2], [3, 4])], axis=2)
    if kind == "posteriors":
        chart = SpanChart(chart.posterior, labels=names, null=1, kind=kind)
    merged = chart.merge_labels(lambda label: label.split("-")[0])
    assert merged.labels == ["", "NP", "VP"]
    assert merged.null == [0]
    assert np.allclose(merged.posterior, exact, atol=1e-12)
    if kind == "potentials":
        assert merged.log_partition == pytest.approx(chart.log_partition)


def test_the_null_label_does_not_show() -> None:
    scores = np.zeros((3, 3, 2))
    scores[:, :, 1] = -8.0
    scores[0, 2, 1] = scores[0, 0, 1] = scores[1, 1, 1] = scores[2, 2, 1] = 8.0
    for objective in ("viterbi", "labelled-recall", "labelled-precision-recall"):
        tree = decode(scores, objective, labels=["", "NP"], null=0, words=["a", "b", "c"]).tree
        assert tree.words == ("a", "b", "c")
        assert "" not in {node.label for node in tree.nodes()}
    for objective in ("viterbi", "labelled-precision-recall"):
        assert str(decode(scores, objective, labels=["", "NP"], null=0, words=["a", "b", "c"]).tree) == "(NP (NP a) (NP b) (NP c))"


def test_chains_and_tags() -> None:
    scores = np.full((3, 3, 3), -9.0)
    scores[:, :, 0] = 0.0
    scores[0, 2, 1] = scores[2, 2, 2] = 9.0
    chart = SpanChart(scores, null=0, labels=["", "S::VP", "NP"], words=["see", "the", "cat"], tags=["V", "D", "N"])
    tree = chart.argmax().tree
    assert str(tree) == "(S (VP (V see) (D the) (NP (N cat))))"
    assert chart.log_probability(tree) == pytest.approx(chart.best().log_probability - chart.log_partition)
    assert chart.log_probability(Tree.parse("(S (V see) (D the) (N cat))")) == -math.inf
    assert chart.confidence(tree).constituents[0].label == "S::VP"


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


@pytest.mark.parametrize("null", [None, 0])
@pytest.mark.parametrize("scale", [1.0, 300.0])
def test_wide_ranges_against_log_space(null: int | None, scale: float) -> None:
    """Scores so far apart that no double holds all products: against the same recursion in logarithms."""
    scores = scores_of(24, 2, 5) * scale
    chart = SpanChart(scores, null=null)
    given = chart.potentials
    n = given.n
    inner = np.full((n, n + 1), -np.inf)
    for d in range(1, n + 1):
        for s in range(n - d + 1):
            t = s + d
            if d == 1:
                inner[s, t] = 0.0
                continue
            parts = [inner[s, r] + given.left[s, r - 1] + inner[r, t] + given.right[r, t - 1] for r in range(s + 1, t)]
            inner[s, t] = np.logaddexp.reduce(parts)
    assert chart.log_partition == pytest.approx(inner[0, n] + given.left[0, n - 1], rel=1e-13, abs=1e-9)
    assert chart.posterior[np.triu_indices(n)].min() >= 0
    assert chart.posterior.sum(axis=2)[np.triu_indices(n)].max() <= 1 + 1e-9
    assert chart.posterior[0, n - 1].sum() == pytest.approx(1.0)


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
        ([[[0.0], [0.0]], [[0.0]]], {}, "an array"),
        (np.zeros((2, 2, 1), complex), {}, "real numbers"),
        (np.full((2, 2, 1), 1.5), {"kind": "posteriors"}, "between 0 and 1"),
        (np.zeros((2, 2, 4)), {"temperature": "hot"}, "temperature must be a number above 0"),
        (np.zeros((2, 2, 4)), {"null": 1.5}, "null must be the number of a label"),
        (np.full((2, 2, 1), -np.inf), {}, "potential 0"),
        (np.zeros((2, 2, 1)), {"labels": ["a", "b"]}, "labels"),
        (np.zeros((2, 2, 1)), {"objective": "viterbi", "kind": "posteriors"}, "potentials"),
        (np.zeros((2, 2, 1)), {"kind": "posteriors", "temperature": 2.0}, "temperature"),
        (np.zeros((2, 2, 4)), {"null": 5}, "null must be the number of a label, from -4 to 3, not 5"),
        (np.zeros((2, 2, 4)), {"null": [0, 1.5]}, "null must be"),
        (np.zeros((2, 2, 2)), {"null": [0, 1]}, "2 of 2 labels are null"),
        (np.full((2, 2, 2), -np.inf), {"null": 0}, "required="),
        (np.zeros((2, 2, 4)), {"kind": "probs"}, "unknown kind of scores 'probs'"),
        (np.zeros((2, 2, 4)), {"objective": "bracketed-recall", "lam": 0.5}, "bracketed-recall takes no option 'lam'"),
        (np.zeros((2, 2, 4)), {"objective": "frames"}, "frames chooses among the parses of a grammar"),
        (np.zeros((2, 2, 4)), {"objective": "max-rule"}, "needs a model of treegauge train"),
        (np.zeros((2, 2, 4)), {"objective": "viterbi", "lam": 0.5}, "viterbi takes no option 'lam'"),
        (np.zeros((2, 2, 4)), {"objective": "labelled-precision-recall", "lam": math.nan}, "lam must be a finite number"),
        (np.zeros((2, 2, 4)), {"objective": "general"}, "general needs weights="),
        (np.zeros((2, 2, 4)), {"temperature": 0.0}, "temperature must be a number above 0"),
        (np.zeros((2, 2, 4)), {"root": "S"}, "root says whether"),
        (np.zeros((2, 2, 4)), {"required": [(0, 3)]}, "not within 2 words"),
        (np.zeros((3, 3, 4)), {"required": [(0, 2), (1, 3)]}, "cross each other"),
        (np.zeros((3, 3, 4)), {"required": [(0, 2, "NP")]}, "not one of the chart's labels"),
        (np.zeros((3, 3, 4)), {"allowed": np.ones((2, 2))}, "allowed spans of 3 words"),
        (np.zeros((3, 3, 4)), {"objective": "general", "weights": np.ones((2, 2))}, "span weights of 3 words"),
    ],
)
def test_errors(scores: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        decode(scores, **options)


def test_unknown_objective() -> None:
    with pytest.raises(UnknownName, match="labelled-recall"):
        decode(np.zeros((2, 2, 1)), "labelled-recal")


def test_a_chart_without_labels_is_one_of_brackets() -> None:
    scores = np.array([[0.0, 2.0, 1.0], [0.0, 0.0, -1.0], [0.0, 0.0, 0.0]])
    with_label = SpanChart(scores[..., None], labels=["X"], words=["a", "b", "c"])
    without = SpanChart(scores, words=["a", "b", "c"])
    assert str(without.argmax("viterbi").tree) == "(X (X (X a) (X b)) (X c))"
    assert without.argmax("viterbi") == with_label.argmax("viterbi")
