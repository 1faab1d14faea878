"""Broken trees of a treebank: their places and problems, what was done with them, and the bytes that were left out."""

from __future__ import annotations

from collections.abc import Iterator

from treegauge.tables import number_of
from treegauge.trees.treebank import Problem, Treebank


class BrokenTrees:
    """Collects the broken trees of blocks that were read with the policies ``skip`` and ``close``.

    A tree that cannot be read stays as an empty parse, so that sentences keep their numbers, or is dropped.

    >>> from treegauge.io import ReadOptions, Source, read
    >>> broken = BrokenTrees(drop=True)
    >>> bank = broken.pass_on(read(Source("x.mrg", b"(A a)\\n(B (C c)\\n(D d)"), ReadOptions(on_error="skip")))
    >>> len(bank), broken.rejected
    (2, b'(B (C c)\\n')
    >>> print(broken.summary)
    1 of 3 trees is broken: 1 left out, 0 repaired
    """

    def __init__(self, *, drop: bool) -> None:
        self.drop = drop
        self.n_trees = 0
        self.problems: list[Problem] = []

    def pass_on(self, bank: Treebank) -> Treebank:
        """The block, without its broken trees if they are dropped."""
        found = bank.problems()
        self.n_trees += len(bank)
        self.problems += found.values()
        if not self.drop or all(problem.repairs for problem in found.values()):
            return bank
        return bank.take([index for index in range(len(bank)) if index not in found or found[index].repairs])

    @property
    def rejected(self) -> bytes:
        """The bytes of the trees that could not be read, and of what repairs left out, each ended by a newline."""
        return b"".join(problem.text + b"\n" for problem in self.problems if problem.text or not problem.repairs)

    def lines(self) -> Iterator[str]:
        """A line for each broken tree: its place, what is wrong, and what was done."""
        for problem in self.problems:
            done = f"repaired: {', '.join(problem.repairs)}" if problem.repairs else self._consequence
            yield f"{problem.place}: {problem.reason}; {done}"

    @property
    def _consequence(self) -> str:
        return "left out" if self.drop else "written as ()"

    @property
    def summary(self) -> str:
        """The number of broken trees, and what was done with them."""
        repaired = sum(bool(problem.repairs) for problem in self.problems)
        verb = "is" if len(self.problems) == 1 else "are"
        rest = f"{len(self.problems) - repaired:,} {self._consequence}, {repaired:,} repaired"
        return f"{len(self.problems):,} of {number_of(self.n_trees, 'tree')} {verb} broken: {rest}"
