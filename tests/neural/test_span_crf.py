"""Span CRFs on tensors against enumeration, against charts one by one, and in training."""

from __future__ import annotations

import importlib.util
import itertools
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from brute_force import nary_bracketings

from treegauge.errors import NoTree, UnknownName, UsageError
from treegauge.neural import SpanCRF
from treegauge.neural.span_crf import encode
from treegauge.trees import Tree

torch: Any = pytest.importorskip("torch", reason="torch is not installed (extra [torch])")
pytestmark = pytest.mark.torch
ROOT = Path(__file__).resolve().parents[2]


@cache
def all_trees(n: int, labels: tuple[int, ...], size: int, root: bool) -> Any:
    """All n-ary trees, each once, as (n, n, labels) arrays of zeros and ones; single words may be constituents."""
    rows: list[Any] = []
    for bracketing in nary_bracketings(n):
        spans = sorted(bracketing)
        fixed = [span for span in spans if span[1] - span[0] > 1 and (root or span != (0, n))]
        fixed += [(0, 1)] if n == 1 and root else []
        free = [span for span in spans if span not in fixed]
        for named in itertools.product(labels, repeat=len(fixed)):
            for maybe in itertools.product([-1, *labels], repeat=len(free)):
                row = np.zeros((n, n, size), np.bool_)
                for (s, t), X in zip([*fixed, *free], [*named, *maybe], strict=True):
                    row[s, t - 1, X] |= X >= 0
                rows.append(row.reshape(-1))
    return np.array(rows)


def enumerated(scores: Any, null: list[int], root: bool, allowed: Any, required: Any) -> tuple[float, Any]:
    """log Z and the posteriors of one chart by its definition: a sum over all trees."""
    n, _, size = scores.shape
    trees = all_trees(n, tuple(X for X in range(size) if X not in null), size, root)
    base = np.log(np.exp(scores[:, :, null]).sum(axis=2))
    worth = np.where(allowed, scores - base[:, :, None], -np.inf)
    shown = trees.reshape(-1, n, n, size).any(axis=3)
    trees = trees[(shown | ~required).all(axis=(1, 2)) & ~(trees & ~np.isfinite(worth).reshape(-1)).any(axis=1)]
    if not len(trees):
        return -np.inf, np.zeros(scores.shape)
    total = trees @ np.where(np.isfinite(worth), worth, 0.0).reshape(-1)
    z = np.logaddexp.reduce(total)
    return z, (np.exp(total - z) @ trees).reshape(scores.shape)


@pytest.mark.parametrize("root", [True, False])
@pytest.mark.parametrize("constrained", [False, True])
@pytest.mark.parametrize(("longest", "size", "null"), [(6, 2, [1]), (6, 3, [0, 2]), (4, 3, [0]), (4, 4, [1, 2])])
def test_batches_of_mixed_lengths_against_enumeration(
    longest: int, size: int, null: list[int], constrained: bool, root: bool
) -> None:
    """Tensors and arrays, null sets, masked scores, allowed labels and required spans; to six words."""
    lengths = [longest, 1, longest - 1, 3, 2, longest]
    rng = np.random.default_rng(longest * size + constrained)
    scores = rng.normal(scale=2, size=(6, longest, longest, size))
    real = [X for X in range(size) if X not in null]
    allowed, required = np.ones(scores.shape, np.bool_), np.zeros(scores.shape[:3], np.bool_)
    options: dict[str, Any] = {}
    if constrained:
        scores[..., real[0]][rng.random(scores.shape[:3]) < 0.1] = -np.inf
        allowed = rng.random(scores.shape) < 0.8
        required[0, 1, 2] = required[5, 0, 1] = required[5, 1, 1] = True
        options = {"allowed": allowed, "required": required}
    tensor = SpanCRF(torch.as_tensor(scores), lengths, null=null, root=root, **options)
    marginals = tensor.marginals.numpy()
    possible = 0
    for i, n in enumerate(lengths):
        z, posterior = enumerated(scores[i, :n, :n], null, root, allowed[i, :n, :n], required[i, :n, :n])
        assert tensor.log_partition[i].item() == pytest.approx(z, abs=1e-10)
        if z == -np.inf:
            continue
        possible += 1
        assert np.allclose(marginals[i, :n, :n], posterior, atol=1e-12)
        assert np.abs(marginals[i]).sum() == pytest.approx(posterior.sum())
        own = SpanCRF(scores[i : i + 1], [n], null=null, root=root, **{name: mask[i : i + 1] for name, mask in options.items()})
        assert own.log_partition[0] == pytest.approx(z, abs=1e-10)
        assert np.allclose(own.marginals[0, :n, :n], posterior, atol=1e-12)
    assert possible >= 3


def test_arrays_and_tensors_and_conventions_agree() -> None:
    scores = torch.randn(3, 5, 5, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    fence = torch.zeros(3, 6, 6, 3, dtype=torch.float64)
    fence[:, :-1, 1:] = scores
    ours, array = SpanCRF(scores, [5, 2, 4], null=-1), SpanCRF(scores.numpy(), [5, 2, 4], null=-1)
    posts = SpanCRF(fence, [5, 2, 4], null=-1, convention="fencepost")
    assert np.allclose(ours.log_partition, array.log_partition, atol=1e-12)
    assert np.allclose(ours.marginals, array.marginals, atol=1e-13)
    assert np.allclose(ours.entropy, array.entropy, atol=1e-12)
    assert torch.equal(ours.marginals, posts.marginals)
    assert [best.tree for best in ours.decode("viterbi")] == [best.tree for best in array.decode("viterbi")]
    assert [best.tree for best in ours.decode()] == [chart.argmax().tree for chart in array.charts]


def test_the_gradient_of_the_loss() -> None:
    trees = [Tree.parse("(S (D a) (VP (V b) (N c)))"), Tree.parse("(S (D a) (V b))")]
    labels = ["", "S", "VP"]
    scores = torch.randn(2, 3, 3, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(3)).requires_grad_()
    crf = SpanCRF(scores, [3, 2], null=0, labels=labels)
    loss = crf.loss(trees, reduction="none")
    for i, tree in enumerate(trees):
        own = crf.charts[i]
        own.tags = list(tree.tags)
        assert loss[i].item() == pytest.approx(-own.log_probability(tree))
    assert np.allclose(loss.detach(), SpanCRF(scores.detach().numpy(), [3, 2], null=0, labels=labels).loss(trees, reduction="none"))
    assert torch.equal(crf.loss(torch.as_tensor(encode(trees, labels, 3))), crf.loss(trees))
    (gradient,) = torch.autograd.grad(loss.sum(), scores)
    target = encode(trees, labels, 3)
    expected = crf.marginals.detach().clone()
    for b, s, t in np.argwhere(target > 0).tolist():
        expected[b, s, t, target[b, s, t]] -= 1
    assert np.allclose(gradient[..., 1:], expected[..., 1:], atol=1e-12)
    assert np.allclose(gradient.sum(-1), 0, atol=1e-12)
    assert torch.autograd.gradcheck(lambda x: SpanCRF(x, [3, 2], null=0, labels=labels).loss(trees), (scores,))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"null": 3}, "null must be the number of a label, from -3 to 2, not 3"),
        ({"null": [0, 1, 2]}, "3 of 3 labels are null"),
        ({"lengths": [5, 1]}, "lengths must be 2 whole numbers from 1 to 4"),
        ({"lengths": [2.5, 1.0]}, "whole numbers"),
        ({"lengths": ["a", "b"]}, "whole numbers"),
        ({"root": "S", "null": 0}, "root says whether"),
        ({"temperature": np.inf}, "temperature"),
        ({"temperature": "hot"}, "temperature"),
        ({"null": 1.5}, "null must be the number of a label"),
        ({"lengths": [0, 1]}, "lengths"),
        ({"temperature": -1.0}, "temperature"),
        ({"labels": ["a"]}, "labels must have 3 names, not 1"),
        ({"allowed": np.ones((2, 3, 3))}, "allowed spans must have shape"),
    ],
)
def test_errors(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        SpanCRF(torch.zeros(2, 4, 4, 3), **options)


def test_other_errors() -> None:
    with pytest.raises(UnknownName, match="inclusive"):
        SpanCRF(torch.zeros(2, 4, 4, 3), convention="half-open")  # pyright: ignore
    with pytest.raises(UsageError, match="shape"):
        SpanCRF(torch.zeros(2, 4, 4))
    with pytest.raises(UsageError, match="no sentence"):
        SpanCRF(torch.zeros(0, 4, 4, 3))
    null = torch.tensor([0, 2])
    assert SpanCRF(torch.zeros(1, 2, 2, 3), null=null).null == [0, 2]
    crf = SpanCRF(torch.zeros(1, 2, 2, 2), null=0, labels=["", "S"])
    with pytest.raises(UsageError, match="'VP' is not one of the labels"):
        crf.loss([Tree.parse("(S (VP (V a)) (N b))")])
    with pytest.raises(UsageError, match="the whole sentence is not a constituent"):
        crf.loss(np.full((1, 2, 2), -1))
    with pytest.raises(UsageError, match="binary"):
        SpanCRF(torch.zeros(1, 2, 2, 2)).loss(np.array([[[0, 1], [-1, -1]]]))


FORMS = [torch.as_tensor, np.asarray]


@pytest.mark.parametrize("form", FORMS)
def test_a_sentence_without_a_tree(form: Any) -> None:
    """Without a tree, log Z is -inf and the marginals are 0, on tensors and arrays; other sentences are not affected."""
    scores = np.random.default_rng(1).normal(size=(3, 4, 4, 3))
    whole = SpanCRF(form(scores), null=0)
    required = np.zeros((3, 4, 4), np.bool_)
    required[0, 0, 1] = required[0, 1, 2] = True  # they cross
    required[1, 3, 0] = True  # below the diagonal is not a span
    crf = SpanCRF(form(scores), null=0, required=required)
    assert crf.log_partition[0] == -np.inf
    assert np.allclose(crf.log_partition[1:], whole.log_partition[1:])
    assert not crf.marginals[0].any()
    assert np.isnan(float(crf.entropy[0]))
    assert np.allclose(crf.entropy[1:], whole.entropy[1:])
    with pytest.raises(NoTree, match="sentence 1: required spans cross"):
        crf.decode()


def test_scores_that_are_no_numbers() -> None:
    """Such a sentence and its gradient are nan, and no other: a finite loss would hide the problem. In arrays it is an error."""
    given = np.random.default_rng(2).normal(size=(3, 4, 4, 3))
    right = SpanCRF(torch.as_tensor(given), [4, 4, 3], null=0)
    for value, X in ((np.nan, 1), (np.inf, 1), (np.nan, 0), (-np.inf, 0)):
        scores = given.copy()
        scores[1, 1, 2, X] = value
        leaf = torch.as_tensor(scores).requires_grad_()
        crf = SpanCRF(leaf, [4, 4, 3], null=0)
        assert crf.log_partition.isnan().tolist() == [False, True, False]
        assert torch.equal(crf.marginals.isnan().flatten(1).any(1), torch.tensor([False, True, False]))
        assert torch.allclose(crf.log_partition[::2], right.log_partition[::2])
        (gradient,) = torch.autograd.grad(crf.log_partition.sum(), leaf)
        assert gradient.isnan().flatten(1).any(1).tolist() == [False, True, False]
        with pytest.raises(UsageError, match="sentence 2: "):
            _ = SpanCRF(scores, [4, 4, 3], null=0).log_partition
    with pytest.raises(UsageError, match="real numbers"):
        SpanCRF(given.astype(complex))


@pytest.mark.parametrize("null", [None, 0])
def test_what_stands_beyond_a_sentence(null: int | None) -> None:
    scores = torch.randn(2, 4, 4, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(5))
    padded = scores.clone()
    padded[1, 2:], padded[1, :, 2:], padded[:, 1, 0] = float("nan"), float("nan"), float("inf")
    gradients = []
    for given in (scores, padded):
        leaf = given.clone().requires_grad_()
        z = SpanCRF(leaf, [4, 2], null=null).log_partition
        gradients += [z.detach(), *torch.autograd.grad(z.sum(), leaf)]
    assert torch.equal(gradients[0], gradients[2])
    assert torch.equal(gradients[1], gradients[3])


def test_without_gradients_first() -> None:
    """Results cached under no_grad do not change a later gradient, and results under no_grad have none."""
    target = np.full((2, 4, 4), -1)
    target[:, 0, 3] = 1
    scores = torch.randn(2, 4, 4, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(6))
    found = []
    for before in (False, True):
        leaf = scores.clone().requires_grad_()
        crf = SpanCRF(leaf, null=0, temperature=0.7)
        if before:
            with torch.no_grad():
                assert not any(x.requires_grad for x in (crf.log_partition, crf.marginals, crf.entropy, crf.loss(target)))
        found += torch.autograd.grad(crf.loss(target) + crf.entropy.sum(), leaf)
    assert torch.equal(*found)
    with torch.no_grad():
        crf = SpanCRF(scores.clone().requires_grad_(), null=0)
    assert not crf.loss(target).requires_grad


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
def test_half_precision(kind: Any) -> None:
    """Results are rounded once, at the end: log Z is near 180, where bfloat16 has no fractions, and the entropies are near 50."""
    scores = (torch.randn(3, 30, 30, 5, generator=torch.Generator().manual_seed(0)) * 2).to(kind)
    exact, crf = SpanCRF(scores.double(), null=0), SpanCRF(scores, null=0)
    small = {torch.float16: 2e-3, torch.bfloat16: 1e-2}[kind]
    for name in ("log_partition", "marginals", "entropy"):
        mine, its = getattr(crf, name), getattr(exact, name)
        assert mine.dtype == kind
        assert torch.allclose(mine.double(), its, rtol=small, atol=small / 10), name
    likely = np.full((3, 30, 30), -1)
    for i, best in enumerate(exact.decode("viterbi", tags=[["T"] * 30] * 3)):
        likely[i] = encode([best.tree], exact.labels, 30)[0]
    loss = exact.loss(likely, "none")
    assert torch.allclose(crf.loss(likely, "none").double(), loss, rtol=small)
    assert float(loss.max()) < float(exact.log_partition.min()) / 3
    assert SpanCRF((scores * 3).long()).log_partition.dtype == torch.float32


@pytest.mark.parametrize("form", FORMS)
def test_targets_that_make_no_tree(form: Any) -> None:
    scores, labels = form(np.zeros((2, 4, 4, 3))), ["", "A", "B"]
    target = np.full((2, 4, 4), -1)
    target[:, 0, 3] = target[:, 0, 1] = 1
    crossing, beyond = target.copy(), target.copy()
    crossing[1, 1, 2] = 2
    beyond[0, 1, 1] = 3
    free = SpanCRF(scores, null=0, root=False, labels=labels)
    for given, message in (
        (crossing, "sentence 2: constituents cross each other"),
        (beyond, "target 3 is not the number of a label, from 0 to 2"),
        (target * 1.0, "targets must be whole numbers"),
        (
            [Tree.parse("(A (T a) (T b) (T c) (T d))"), Tree.parse("(A (T a) (T b))")],
            "sentence 2: the tree has 2 words",
        ),
        (["(A (T a))", "(A (T a))"], "a str is not a tree"),
    ):
        with pytest.raises(UsageError, match=message):
            free.loss(given)
    binary = np.full((1, 4, 4), -1)
    binary[0, range(4), range(4)] = binary[0, 0, 3] = binary[0, 0, 1] = binary[0, 1, 2] = 0
    with pytest.raises(UsageError, match="cross"):
        SpanCRF(scores[:1]).loss(binary)
    with pytest.raises(UsageError, match="words are given for 1 sentence, but there are 2"):
        free.decode(words=[["a"]])


def example() -> Any:
    spec = importlib.util.spec_from_file_location("train_span_crf", ROOT / "examples" / "train_span_crf.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_a_small_parser_learns() -> None:
    """Six epochs on our own treebank: above 84 F1 on its dev part, and decoding for F1 beats Viterbi there (87.3 and 86.5)."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        module = example()
        to_train, dev = module.parts()
        charts = module.charts(*module.train(to_train, epochs=6), dev)
    finally:
        torch.set_num_threads(threads)
    from treegauge import score
    from treegauge.parsing import tune

    f1 = {name: score(dev, [chart.argmax(name).tree for chart in charts]).rates["f1"] for name in ("viterbi", None)}
    assert f1["viterbi"] > 0.84
    assert f1[None] > f1["viterbi"]
    tuned = tune(charts, dev, temperatures=[1.0], lams=[0.3, 0.4, None])
    by_objective = {setting.objective: setting.f1 for setting in reversed(tuned.settings)}
    assert by_objective["labelled-precision-recall"] > by_objective["viterbi"]
    assert tuned.calibration_error < 0.1


def test_importing_does_not_load_torch() -> None:
    code = (
        "import sys, treegauge.neural as n, numpy; n.SpanCRF(numpy.zeros((1, 2, 2, 1))).log_partition;print('torch' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=dict(os.environ))
    assert run.stdout.strip() == "False"
