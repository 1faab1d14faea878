"""Weights of spans for General Recall (Goodman 1996, section 6), given as an expression or in a file.

An expression is arithmetic over these names, with ``+ - * / ** < <= > >= == != and or not``, and the functions ``min max abs log
exp sqrt``:

* ``g``: the posterior of each label over each span; ``bracket``: the probability that some node has the span
* ``start``, ``end``, ``length``: those of the span; ``n``: the number of words
* ``label``: the label, to be compared with a quoted one

A file has either lines of a label and a number, by which the label's posterior is multiplied (labels not listed count 0), or JSON
lines, each with the ``words`` of a sentence and its ``spans``: [start, end, weight] or [start, end, label, weight].

>>> from treegauge.grammar import PCFG
>>> from treegauge.parsing import Forest
>>> grammar = PCFG.parse('''S -> A C [.6] | E B [.4]
... A -> "x" [1]
... B -> "x" [1]
... C -> "x" "x" [1]
... E -> "x" "x" [1]''')
>>> forest = Forest(grammar, ["x"] * 3)
>>> print(forest.argmax("general", weights=read_weights("g * (label == 'E')")).tree)
(S (E (A x) x) (B x))
"""

from __future__ import annotations

import ast
import json
import operator
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import FormatError, MismatchError, UnknownName, UsageError
from treegauge.io.sources import Source

if TYPE_CHECKING:
    from treegauge.parsing.forest import Forest

SpanWeights = Callable[["Forest"], NDArray[np.float64]]
"""A function from a forest to the weights of its spans: an array (n, n+1) or (n, n+1, labels)."""
NAMES = ("g", "bracket", "start", "end", "length", "n", "label")
"""The names that an expression may use."""

_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: np.divide,
    ast.Pow: np.power,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: np.logical_not,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_FUNCTIONS: dict[str, tuple[int, Callable[..., Any]]] = {
    "min": (2, np.minimum),
    "max": (2, np.maximum),
    "abs": (1, np.abs),
    "log": (1, np.log),
    "exp": (1, np.exp),
    "sqrt": (1, np.sqrt),
}


def read_weights(given: str) -> SpanWeights:
    """The weights in the file ``given``, if there is one, else those of the expression ``given``."""
    if os.path.isfile(given):
        return _read_file(given)
    if given.endswith((".jsonl", ".tsv", ".txt", ".json")):
        raise UsageError(f"{given}: no such file of span weights")
    return ExpressionWeights(given)


@dataclass(frozen=True)
class ExpressionWeights:
    """Weights computed by an expression over posteriors, spans and labels."""

    expression: str

    def __post_init__(self) -> None:
        self._check(self._tree)

    @property
    def _tree(self) -> ast.expr:
        try:
            return ast.parse(self.expression.strip(), mode="eval").body
        except (SyntaxError, ValueError) as error:
            why = error.msg if isinstance(error, SyntaxError) else str(error)
            raise UsageError(f"{self.expression!r} is neither an expression of span weights ({why}) nor a file") from None

    def __call__(self, forest: Forest) -> NDArray[np.float64]:
        n, found = forest.n, forest.span_labels
        g = np.zeros((n, n + 1, len(found.names)))
        span = np.repeat(np.arange(n * (n + 1)), np.diff(found.first))
        g[span // (n + 1), span % (n + 1), found.label] = found.any
        start, end = np.arange(n, dtype=np.float64)[:, None, None], np.arange(n + 1, dtype=np.float64)[None, :, None]
        names: dict[str, Any] = {
            "g": g,
            "bracket": found.some[:, :, None],
            "start": start,
            "end": end,
            "length": end - start,
            "n": float(n),
            "label": np.array(found.names)[None, None, :],
        }
        with np.errstate(divide="ignore", invalid="ignore"):
            value: Any = _value(self._tree, names)
        weights = np.broadcast_to(np.asarray(value, np.float64), np.broadcast_shapes(np.shape(value), (n, n + 1, 1))).copy()
        weights[(end - start)[:, :, 0] < 1] = 0.0
        if not np.isfinite(weights).all():
            raise UsageError(f"{self.expression!r}: not a number over some span, or infinite; log and / need values above 0")
        # A label that cannot have a span gets no weight there, unless the expression does not depend on labels.
        return weights[:, :, 0] if weights.shape[2] == 1 else np.where(g > 0, weights, -np.inf).clip(-1e300)

    def _check(self, node: ast.AST) -> None:
        """Refuse an expression that is not arithmetic, before the first sentence."""
        match node:
            case ast.Constant(value=bool()) | ast.Constant(value=complex()):
                raise UsageError(f"{self.expression!r}: a weight is made of numbers")
            case ast.Constant(value=int() | float() | str()):
                return
            case ast.Name(id=name):
                if name not in NAMES:
                    raise UnknownName("name in an expression of span weights", name, [*NAMES, *_FUNCTIONS])
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                self._check(left)
                self._check(right)
            case ast.UnaryOp(op=op, operand=operand) if type(op) in _OPERATORS:
                self._check(operand)
            case ast.BoolOp(values=values):
                for value in values:
                    self._check(value)
            case ast.Compare(left=left, ops=ops, comparators=others) if all(type(op) in _OPERATORS for op in ops):
                for side in (left, *others):
                    self._check(side)
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _FUNCTIONS:
                if len(arguments) != _FUNCTIONS[name][0]:
                    raise UsageError(f"{self.expression!r}: {name} takes {_FUNCTIONS[name][0]} values")
                for argument in arguments:
                    self._check(argument)
            case _:
                shown = ast.unparse(node) if isinstance(node, ast.expr) else type(node).__name__
                raise UsageError(f"{self.expression!r}: {shown} is not arithmetic; names: {', '.join((*NAMES, *_FUNCTIONS))}")


def _value(node: ast.AST, names: Mapping[str, Any]) -> Any:
    """The value of a checked expression, given the values of its names."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return names[name]
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATORS[type(op)](_value(left, names), _value(right, names))
        case ast.UnaryOp(op=op, operand=operand):
            return _OPERATORS[type(op)](_value(operand, names))
        case ast.BoolOp(op=op, values=values):
            join = np.logical_and if isinstance(op, ast.And) else np.logical_or
            first, *others = (_value(value, names) for value in values)
            for other in others:
                first = join(first, other)
            return first
        case ast.Compare(left=left, ops=ops, comparators=others):
            sides = [_value(side, names) for side in (left, *others)]
            found: Any = True
            for op, a, b in zip(ops, sides, sides[1:], strict=False):
                found = np.logical_and(found, _OPERATORS[type(op)](a, b))
            return found
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _FUNCTIONS[name][1](*(_value(argument, names) for argument in arguments))
        case _:
            raise AssertionError("checked before")


@dataclass(frozen=True)
class LabelWeights:
    """Weights that multiply each label's posterior by a number; labels without a number count 0."""

    weights: Mapping[str, float]

    def __call__(self, forest: Forest) -> NDArray[np.float64]:
        factor = np.array([self.weights.get(name, 0.0) for name in forest.span_labels.names])
        g = ExpressionWeights("g")(forest)
        return np.where(g > -1e299, g * factor, g)


@dataclass(frozen=True)
class ListedWeights:
    """Weights listed for each sentence, which is identified by its words: (start, end, label or None, weight). Other spans have
    weight 0."""

    path: str
    sentences: Mapping[tuple[str, ...], Sequence[tuple[int, int, str | None, float]]]

    def __call__(self, forest: Forest) -> NDArray[np.float64]:
        if forest.words not in self.sentences:
            raise MismatchError(f"{self.path}: no span weights for the sentence: {' '.join(forest.words)}")
        n, names = forest.n, forest.span_labels.names
        listed = self.sentences[forest.words]
        if all(label is None for _, _, label, _ in listed):
            spans = np.zeros((n, n + 1))
            for start, end, _, weight in listed:
                spans[start, end] += weight
            return spans
        weights = np.zeros((n, n + 1, len(names)))
        for start, end, label, weight in listed:
            if label is None:
                weights[start, end] += weight
            elif label in names:
                weights[start, end, names.index(label)] += weight
            else:
                raise UnknownName(f"label in {self.path}", label, names)
        return weights


def _read_file(path: str) -> SpanWeights:
    with Source(path).open() as stream:
        content = stream.read().decode("utf-8", "replace")
    lines = [(number, line.strip()) for number, line in enumerate(content.splitlines(), 1) if line.strip()]
    if not lines:
        raise FormatError("no span weights: the file is empty", path=path)
    if lines[0][1].startswith("{"):
        return ListedWeights(path, dict(_sentence_weights(path, number, line) for number, line in lines))
    return LabelWeights(dict(_label_weight(path, number, line) for number, line in lines))


def _label_weight(path: str, number: int, line: str) -> tuple[str, float]:
    parts = line.split()
    try:
        label, weight = parts[0], float(parts[1])
        if len(parts) != 2 or not np.isfinite(weight):
            raise ValueError
    except (IndexError, ValueError):
        advice = 'Or JSON lines: {"words": ["a", "b"], "spans": [[0, 2, "NP", 1.5]]}'
        raise FormatError("expected a label and a number", path=path, line=number, text=line, advice=advice) from None
    return label, weight


def _sentence_weights(path: str, number: int, line: str) -> tuple[tuple[str, ...], list[tuple[int, int, str | None, float]]]:
    try:
        record: Any = json.loads(line)
        words = tuple(str(word) for word in record["words"])
        spans = [_span(item, len(words)) for item in cast("list[Any]", record["spans"])]
    except (ValueError, KeyError, TypeError, IndexError) as error:
        advice = 'A line is {"words": ["a", "b"], "spans": [[0, 2, 1.5], [0, 2, "NP", 0.5]]}; 0 <= start < end <= words.'
        raise FormatError(f"not span weights ({error})", path=path, line=number, text=line[:200], advice=advice) from None
    return words, spans


def _span(item: Any, n: int) -> tuple[int, int, str | None, float]:
    start, end, *rest = item
    label, weight = (None, rest[0]) if len(rest) == 1 else (str(rest[0]), rest[1])
    if not (isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= n and len(rest) <= 2):
        raise ValueError(f"{item} is not a span of {n} words with a weight")
    if not np.isfinite(float(weight)):
        raise ValueError(f"{item} has no finite weight")
    return start, end, label, float(weight)
