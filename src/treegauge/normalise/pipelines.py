"""Pipelines of normalising steps, written as text: ``traces,functions,unaries:joined,binarise:right:h=2:v=1``.

Steps are separated by commas; after a step's name come its parameters, each after a colon, by position or as ``name=value``.
A value in double quotes may hold commas, colons and blanks: ``punctuation:"$, $."``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from treegauge.errors import UnknownName, UsageError
from treegauge.normalise.continuous import attach_punctuation, merge_nodes, raise_nodes, split_nodes
from treegauge.normalise.steps import ALIASES, STEPS, Step, Transform
from treegauge.trees import Tree, Treebank
from treegauge.trees.nltk import is_nltk_tree
from treegauge.trees.treebank import pick_origins

_PIECE = re.compile(r'"[^"]*"|[^"]')
_COUNTING: dict[Transform, Callable[[Tree, Counter[str]], Tree]] = {
    transform: transform for transform in (attach_punctuation, merge_nodes, raise_nodes, split_nodes)
}
_PLAIN = re.compile(r"[^,:=\"\s]+")


@dataclass(frozen=True)
class BoundStep:
    """A step with the values of its parameters."""

    step: Step
    values: Mapping[str, str]
    forward: Transform
    backward: Transform | None

    def __str__(self) -> str:
        """The step as text, with the parameters that differ from their defaults."""
        given = [
            f"{p.name}={self.values[p.name]}" if _PLAIN.fullmatch(self.values[p.name]) else f'{p.name}="{self.values[p.name]}"'
            for p in self.step.parameters
            if self.values[p.name] != p.default
        ]
        return ":".join([self.step.name, *given])


@dataclass(frozen=True)
class Pipeline:
    """Steps one after the other: a function from a tree to a tree, or to ``None`` if nothing is left of it.

    >>> clean = pipeline("traces,functions,redundant")
    >>> print(clean(Tree.parse("(S (NP-SBJ (NP (NN rain))) (VP (VBD fell) (NP (-NONE- *T*-1))))")))
    (S (NP (NN rain)) (VP (VBD fell)))
    >>> print(clean)
    traces,functions,redundant
    """

    steps: tuple[BoundStep, ...]
    undoing: bool = False

    def __str__(self) -> str:
        written = ",".join(str(step) for step in (reversed(self.steps) if self.undoing else self.steps))
        return f"undo of {written}" if self.undoing else written

    def __call__(self, tree: Tree) -> Tree | None:
        return self.trace(tree)[0]

    def trace(self, tree: Tree) -> tuple[Tree | None, BoundStep | None]:
        """The transformed tree, or None and the step that left nothing of it."""
        current = tree
        for step in self.steps:
            transform = step.backward if self.undoing else step.forward
            assert transform is not None
            made = transform(current)
            if made is None:
                return None, step
            current = made
        return current, None

    def apply(self, trees: object, gone: Counter[str] | None = None) -> Iterator[Tree]:
        """The normalised trees, in order, of a treebank, an iterable of trees, or any other value that holds trees.

        A tree that a filter rejects is left out; one of which a step leaves nothing becomes the empty parse ``()``, so that later
        trees keep their numbers. ``gone`` counts both by step.

        >>> gone = Counter()
        >>> trees = [Tree.parse("(S (NN rain) (. .))"), Tree.parse("(X (. .))"), Tree.parse("(S (A a) (B b) (C c))")]
        >>> for tree in pipeline("punctuation,length:2").apply(trees, gone):
        ...     print(tree)
        (S (NN rain))
        ()
        >>> dict(gone)
        {'punctuation': 1, 'length:longest=2': 1}
        """
        return (tree for _, tree in self._apply_numbered(_trees_of(trees), gone))

    def treebank(self, bank: Treebank, gone: Counter[str] | None = None) -> Treebank:
        """The treebank of the normalised trees, as :meth:`apply` gives them, each with the origin of the tree it was made from.

        >>> pipeline("length:1").treebank(Treebank.parse("(A (B b)) (A (B b) (C c))"))
        <Treebank of 1 tree, 1 token, 2 nodes>
        """
        numbered = list(self._apply_numbered(bank, gone))
        made = Treebank.from_trees(tree for _, tree in numbered)
        origins = pick_origins(bank.origins, np.array([index for index, _ in numbered], dtype=np.int64))
        return replace(made, origins=tuple(origins))

    def with_counter(self, changes: Counter[str]) -> Pipeline:
        """The same pipeline, which also counts in ``changes`` what its steps do to crossing branches and punctuation.

        >>> from treegauge.trees import parse_discbracket
        >>> changes = Counter()
        >>> split = pipeline("continuous:split").with_counter(changes)
        >>> print(split(parse_discbracket("(S (VP (NP 0=Wen) (V 2=kennt)) (PPER 1=er))")), dict(changes))
        (S (VP*1 (NP Wen)) (PPER er) (VP*2 (V kennt))) {'split': 1, 'pieces': 2}
        """

        def bound(step: BoundStep) -> BoundStep:
            backward = None if step.backward is None else _counting(step.backward, changes)
            return replace(step, forward=_counting(step.forward, changes), backward=backward)

        return replace(self, steps=tuple(map(bound, self.steps)))

    def _apply_numbered(self, trees: Iterable[Tree], gone: Counter[str] | None) -> Iterator[tuple[int, Tree]]:
        for index, tree in enumerate(trees):
            made, step = self.trace(tree)
            if step is not None and gone is not None and tree.width:
                gone[str(step)] += 1
            if made is not None:
                yield index, made
            elif step is not None and not step.step.filters:
                yield index, Tree("")

    def inverse(self) -> Pipeline:
        """The pipeline that undoes this one; :class:`~treegauge.errors.UsageError` names the steps that cannot be undone.

        >>> undo = pipeline("unaries:joined,binarise").inverse()
        >>> print(undo(Tree.parse("(S+VP (A a) (S+VP|A (B b) (C c)))")))
        (S (VP (A a) (B b) (C c)))
        """
        if self.undoing:
            return Pipeline(self.steps[::-1])
        lossy = [str(step) for step in self.steps if step.backward is None]
        if lossy:
            raise UsageError(
                f"cannot be undone: {', '.join(lossy)} (what it removes is not in the tree any more)\n"
                "  Give only the steps that can be undone."
            )
        return Pipeline(self.steps[::-1], undoing=True)


def _counting(transform: Transform, changes: Counter[str]) -> Transform:
    known = _COUNTING.get(transform)
    return transform if known is None else lambda tree: known(tree, changes)


def _trees_of(value: object) -> Iterable[Tree]:
    """The trees that a value holds; those of an iterable are made one at a time, so that a stream stays a stream."""
    from treegauge.io import as_treebank

    if isinstance(value, str | Tree | Treebank) or not isinstance(value, Iterable) or is_nltk_tree(cast(object, value)):
        return as_treebank(cast(object, value))
    return (item if isinstance(item, Tree) else as_treebank([item])[0] for item in cast("Iterable[object]", value))


def pipeline(text: str) -> Pipeline:
    """The pipeline that a text describes.

    >>> print(pipeline("traces, unaries:bottom, binarise:left:h=inf"))
    traces,unaries:keep=bottom,binarise:direction=left:h=inf
    >>> pipeline("trace")
    Traceback (most recent call last):
    treegauge.errors.UnknownName: unknown normalising step 'trace'; did you mean 'traces'? Valid: ...
    """
    if text.count('"') % 2:
        raise UsageError(f"a double quote is not closed in the steps {text!r}")
    steps: list[BoundStep] = []
    for written in _split(text, ","):
        name, *arguments = _split(written, ":")
        name = name.strip()
        if name in ALIASES and arguments:
            raise UsageError(f"{name} stands for {ALIASES[name][0]} and takes no parameters: {written.strip()!r}")
        steps += pipeline(ALIASES[name][0]).steps if name in ALIASES else [_bind(name, arguments)]
    return Pipeline(tuple(steps))


def _split(text: str, separator: str) -> list[str]:
    """The text between separators outside double quotes."""
    pieces = [""]
    for match in _PIECE.finditer(text):
        if match.group() == separator:
            pieces.append("")
        else:
            pieces[-1] += match.group()
    return pieces


def _bind(name: str, arguments: Iterable[str]) -> BoundStep:
    if name not in STEPS and name:
        from treegauge.spelling import british

        name = british(name)
    if name not in STEPS:
        if not name:
            raise UsageError("a step without a name: commas separate steps, as in traces,functions")
        raise UnknownName("normalising step", name, [*STEPS, *ALIASES])
    step = STEPS[name]
    values = {parameter.name: parameter.default for parameter in step.parameters}
    positional = iter(step.parameters)
    for argument in arguments:
        key, given, value = argument.partition("=") if not argument.lstrip().startswith('"') else ("", "", argument)
        if not given:
            parameter = next(positional, None)
            if parameter is None:
                raise UsageError(f"too many parameters for {name}: {argument!r} is one more than {step.signature} has")
            key, value = parameter.name, argument
        key = key.strip()
        if key not in values:
            raise UnknownName(f"parameter of {name}", key, values)
        values[key] = value.strip().strip('"')
    meant = {parameter.name: parameter.value(name, values[parameter.name]) for parameter in step.parameters}
    return BoundStep(step, values, step.do(meant), step.undo(meant) if step.undo else None)
