"""How parsed sentences are written: bracketed text, JSON lines, or one JSON document."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from treegauge.parsing.parser import Parsed
from treegauge.parsing.posteriors import Constituent
from treegauge.trees.tree import Tree

__all__ = ["FORMATS", "annotated", "footer", "header", "record"]

FORMATS = ("bracketed", "json", "jsonl")
SCHEMA = "treegauge-parse-1"


def header(form: str, grammar: str, objective: str, options: Mapping[str, Any]) -> str:
    """What stands before the records."""
    if form != "json":
        return ""
    head = json.dumps({"schema": SCHEMA, "grammar": grammar, "objective": objective, "options": dict(options)})
    return head[:-1] + ', "sentences": ['


def footer(form: str) -> str:
    """What stands after the records."""
    return "\n]}\n" if form == "json" else ""


def record(form: str, number: int, parsed: Parsed, kbest: int, posteriors: bool, *, first: bool) -> str:
    """One sentence. With k-best, bracketed text has one tree a line and a blank line after each sentence."""
    if form == "bracketed":
        trees = [parse.tree for parse in parsed.kbest] if kbest and not parsed.fallback else [parsed.tree]
        shown = [annotated(tree, parsed.constituents) if posteriors and not parsed.fallback else tree for tree in trees]
        return "".join(f"{tree}\n" for tree in shown) + ("\n" if kbest else "")
    text = json.dumps(_values(number, parsed, kbest, posteriors), ensure_ascii=False, allow_nan=False)
    if form == "jsonl":
        return text + "\n"
    return ("\n" if first else ",\n") + text


def _values(number: int, parsed: Parsed, kbest: int, posteriors: bool) -> dict[str, Any]:
    values: dict[str, Any] = {
        "sentence": number + 1,
        "words": list(parsed.sentence.words),
        "tree": str(parsed.tree),
        "expected_score": _number(parsed.score),
        "log_probability": _number(parsed.log_probability),
        "fallback": parsed.fallback,
    }
    if kbest:
        values["kbest"] = [{"tree": str(p.tree), "log_probability": p.log_probability} for p in parsed.kbest]
    if posteriors:
        values["posteriors"] = [list(constituent) for constituent in parsed.constituents]
    return values


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def annotated(tree: Tree, constituents: Sequence[Constituent]) -> Tree:
    """The tree with the posterior of each node in its label, after an equals sign that most tools cut.

    >>> print(annotated(Tree.parse("(S (A a) (B b))"), [Constituent(0, 2, "S", 1.0), Constituent(0, 1, "A", 0.25)]))
    (S=1.000 (A=0.250 a) (B=0.000 b))
    """
    g = {(c.start, c.end, c.label): c.posterior for c in constituents}
    labels = [f"{node.label}={g.get((s, t, node.label), 0.0):.3f}" for node, s, t in tree.nodes_with_spans()]
    return _relabelled(tree, labels)


def _relabelled(tree: Tree, labels: Sequence[str]) -> Tree:
    """The tree with the labels of its nodes, in pre-order, replaced."""
    nodes = list(tree.nodes())
    made: list[Tree] = []
    for number in range(len(nodes) - 1, -1, -1):
        node = nodes[number]
        children = [child if isinstance(child, str) else made.pop() for child in node.children]
        made.append(Tree(labels[number], children))
    return made[0]
