"""A view that has only posteriors, as a mean of several has: every objective works on it, or says why it cannot."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
import pytest

from treegauge.errors import UsageError
from treegauge.grammar import PCFG
from treegauge.parsing import OBJECTIVES, Forest, PosteriorView, SpanLabels
from treegauge.trees.tree import Child, Tree

WORDS = ["go", "home"]
FIRST, SECOND = (
    Forest(PCFG.parse(f'S -> V [{p}] | W N [{1 - p}]\nV -> W N [1]\nW -> "go" [1]\nN -> "home" [1]'), WORDS) for p in (0.75, 0.25)
)


class Mean(PosteriorView):
    """The mean of the posteriors of two forests with the same labels."""

    words = tuple(WORDS)

    @cached_property
    def span_labels(self) -> SpanLabels:
        a, b = FIRST.span_labels, SECOND.span_labels
        assert a.names == b.names
        assert np.array_equal(a.label, b.label)
        return replace(
            a, any=(a.any + b.any) / 2, phrase=(a.phrase + b.phrase) / 2, top=(a.top + b.top) / 2, some=(a.some + b.some) / 2
        )

    def tag_posteriors(self, position: int) -> list[tuple[str | None, float]]:
        return FIRST.tag_posteriors(position)

    def rooted(self, nodes: list[Child]) -> Tree:
        return FIRST.rooted(nodes)


def test_objectives_over_posteriors_alone() -> None:
    mean = Mean()
    assert str(mean.argmax("labelled-precision-recall", lam=0.4).tree) == "(S (V (W go) (N home)))"
    assert str(mean.argmax("labelled-precision-recall", lam=0.6).tree) == "(S (W go) (N home))"
    assert mean.argmax("labelled-precision-recall", lam=0.4).score == pytest.approx(0.7)
    assert mean.argmax("labelled-recall", lam=0.4).score == pytest.approx(1.1)
    assert mean.argmax("bracketed-recall").score == pytest.approx(1.0)
    assert mean.argmax("general", weights=mean.span_labels.some).tree.words == tuple(WORDS)


@pytest.mark.parametrize("name", [name for name, objective in OBJECTIVES.items() if objective.needs])
def test_an_objective_that_needs_more_says_what(name: str) -> None:
    options = {"score": lambda gold, test: 1.0} if name == "mbr" else {}
    usable = "; usable here: labelled-recall, bracketed-recall, general, labelled-precision-recall"
    with pytest.raises(UsageError, match=f"objective {name} (needs potentials|chooses among the parses|multiplies).*{usable}$"):
        Mean().argmax(name, **options)
