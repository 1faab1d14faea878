"""Training: from a treebank to a grammar whose parses look like the treebank's trees.

Trees are normalised and counted; the grammar records the output label of each symbol. Rules of split symbols may be smoothed
towards those of all symbols that differ from them only in their parent:

P'(A -> rhs) = (c(A) P(A -> rhs) + k P(A' -> rhs)) / (c(A) + k), where A' stands for all symbols that equal A but for their parent
(for example ``VP^S^VBF`` and ``VP^SBAR^VBF``), c counts nodes, and P(A' -> rhs) is the mean over these symbols, weighted by c.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from math import fsum
from typing import Any, NamedTuple

from treegauge.errors import MismatchError, hinting
from treegauge.grammar.dop_reduction import dop, plain_label
from treegauge.grammar.lexicon import USUAL, Smoothing, smoothed_lexicon, with_lexicon, with_unknown
from treegauge.grammar.pcfg import PCFG, Rule
from treegauge.grammar.tree_counts import (
    COLLINS_BELOW,
    COUNTS,
    DEFAULT_STEPS,
    Recipe,
    TreeCounts,
    count_trees,
    relative_frequency,
    tag_sequence_tree,
    with_unknown_rules,
)
from treegauge.io import as_treebank
from treegauge.normalise import Pipeline
from treegauge.normalise.labels import split_marked
from treegauge.normalise.markovisation import lexical_tag
from treegauge.tables import concise
from treegauge.trees.tree import Tree

_LEAST = 1e-5
"""The least probability of a rule that smoothing adds: less probable ones would only slow parsing."""


def without_parent(symbol: str) -> str:
    """A split symbol without the mark of its parent, which is the first after its label.

    >>> without_parent("VP^S^VBF|NP"), without_parent("NP^S"), without_parent("NN")
    ('VP^VBF|NP', 'NP', 'NN')
    """
    made = split_marked(symbol, "|")
    label, *marks = split_marked(made[0], "^")
    return "|".join(["^".join([label, *marks[1:]]), *made[1:]])


def smooth_rules(grammar: PCFG, counts: Mapping[str, int], weight: float, coarser: Callable[[str], str] = without_parent) -> PCFG:
    """The grammar with its rules smoothed, except those with words; ``counts`` has the number of nodes of each symbol.

    >>> rules = [("S", ["A^S", "A^X"], 1), ("A^S", ["B", "B"], 1), ("A^X", ["C", "C"], 1), ("B", ["b"], 1), ("C", ["c"], 1)]
    >>> smoothed = smooth_rules(PCFG.from_rules(rules), {"A^S": 3, "A^X": 1}, 1.0)
    >>> [str(rule) for rule in smoothed.rules if rule.lhs == "A^S"]
    ['A^S -> B B [0.9375]', 'A^S -> C C [0.0625]']
    """
    groups: dict[str, list[str]] = defaultdict(list)
    inner: dict[str, dict[tuple[str, ...], Rule]] = defaultdict(dict)
    for rule in grammar.rules:
        if not any(rule.words):
            if rule.lhs not in inner:
                groups[coarser(rule.lhs)].append(rule.lhs)
            inner[rule.lhs][rule.rhs] = rule
    rules = [rule for rule in grammar.rules if any(rule.words)]
    for members in groups.values():
        total = sum(counts.get(member, 0) for member in members)
        general: dict[tuple[str, ...], float] = defaultdict(float)
        for member in members:
            for rhs, rule in inner[member].items():
                general[rhs] += counts.get(member, 0) * rule.probability / total if total else 0.0
        for member in members:
            rules += _smooth_symbol(member, inner[member], general, counts.get(member, 0), weight if len(members) > 1 else 0.0)
    return PCFG.from_rules(rules, start=grammar.start, labels=grammar.labels, renormalise=True)


def _smooth_symbol(
    symbol: str, own: Mapping[tuple[str, ...], Rule], general: Mapping[tuple[str, ...], float], count: int, weight: float
) -> list[Rule]:
    # The probability that the symbol leaves for rules with words does not change.
    share = fsum(rule.probability for rule in own.values())
    mean = fsum(general.values())
    made: list[Rule] = []
    for rhs in {**own, **(general if weight and mean else {})}:
        p = own[rhs].probability if rhs in own else 0.0
        if weight and mean:
            p = (count * p + weight * share * general[rhs] / mean) / (count + weight)
        if rhs in own or p >= _LEAST:
            made.append(Rule(symbol, rhs, (False,) * len(rhs), p))
    return made


@hinting
@concise
class TrainedGrammar(NamedTuple):
    """A grammar, and notes on how it was made."""

    grammar: PCFG
    notes: dict[str, Any]


def train(
    trees: Iterable[Tree],
    *,
    steps: str = DEFAULT_STEPS,
    tags: bool = False,
    estimator: str = COUNTS,
    lexicon: str = "signatures",
    unknown_below: int = COLLINS_BELOW,
    smoothing: Smoothing = USUAL,
    rule_weight: float = 0.0,
) -> TrainedGrammar:
    """The grammar of trees after normalising steps; what the steps added to labels does not show in its parses.

    ``estimator`` is ``counts`` (relative frequency), or ``dop1`` or ``corrected`` for DOP (:mod:`treegauge.grammar.dop_reduction`).
    With ``tags`` the grammar parses tags instead of words. Otherwise ``lexicon`` is the treatment of rare and unknown words:
    ``signatures`` gives them the tags of words with a similar spelling (:mod:`treegauge.grammar.lexicon`); ``collins`` replaces all
    words that occur fewer than ``unknown_below`` times by one unknown word; ``plain`` leaves words as they are. With a
    ``rule_weight`` above 0 rules are smoothed (:mod:`treegauge.grammar.treebank_grammar`).

    >>> bank = [Tree.parse("(TOP (S (NP-SBJ (N a)) (V b) (ADV c)))")]
    >>> grammar = train(bank, steps="functions,root,binarise:h=1", lexicon="plain").grammar
    >>> grammar.nonterminals, grammar.label("S|NP")
    (('S', 'NP', 'S|NP', 'N', 'V', 'ADV'), None)
    """
    recipe = Recipe(steps, tags, estimator, lexicon, unknown_below, smoothing, rule_weight)
    return train_counted(count_trees(as_treebank(trees), recipe), recipe)


def train_counted(counted: TreeCounts, recipe: Recipe) -> TrainedGrammar:
    """The grammar of trees that have been counted."""
    if not counted.trees:
        raise MismatchError("no tree is left to count rules from: give more trees, or fewer normalising steps")
    grammar = _estimate(counted, recipe)
    if recipe.lexicon == "signatures" and not recipe.tags:
        grammar = with_lexicon(grammar, smoothed_lexicon(counted.tokens, lexical_tag, recipe.smoothing))
    if recipe.rule_weight > 0:
        grammar = smooth_rules(grammar, counted.nodes, recipe.rule_weight)
    made = recipe.pipeline
    changed = _output_labels(grammar, _undo(made), plain_label if recipe.estimator != COUNTS else str)
    notes = {
        "steps": str(made),
        "estimator": recipe.estimator,
        "rule_weight": recipe.rule_weight,
        "terminals": "tags" if recipe.tags else "words",
        "lexicon": _describe_lexicon(recipe) if not recipe.tags else "tags",
        "trees": counted.trees,
        "left_out": dict(counted.left_out),
    }
    return TrainedGrammar(PCFG(grammar.rules, grammar.start, changed), notes)


def _estimate(counted: TreeCounts, recipe: Recipe) -> PCFG:
    has_unknown = recipe.lexicon == "collins" and not recipe.tags
    if recipe.estimator == COUNTS:
        rules = with_unknown_rules(counted.rules, recipe.unknown_below) if has_unknown else counted.rules
        return relative_frequency(rules, counted.roots)
    kept = with_unknown(counted.all_trees, recipe.unknown_below) if has_unknown else counted.all_trees
    if recipe.tags:
        kept = [tree for tree in map(tag_sequence_tree, kept) if isinstance(tree, Tree)]
    return dop(kept, recipe.estimator)


def _output_labels(grammar: PCFG, undo: Pipeline, plain: Callable[[str], str]) -> dict[str, str | None]:
    """The output labels of symbols that differ from their names; symbols with the same ``plain`` name show as the same label."""
    known: dict[str, str | None] = {}
    labels: dict[str, str | None] = {}
    for symbol in grammar.nonterminals:
        name = plain(symbol)
        if name not in known:
            known[name] = shown_label(name, undo)
        labels[symbol] = known[name] if grammar.label(symbol) is not None else None
    return {symbol: label for symbol, label in labels.items() if label != symbol}


def _describe_lexicon(recipe: Recipe) -> str:
    """The lexicon and its parameters, as a note."""
    if recipe.lexicon == "signatures":
        return ":".join([recipe.lexicon, *(f"{name}={value:g}" for name, value in recipe.smoothing._asdict().items())])
    return f"{recipe.lexicon}:below={recipe.unknown_below}" if recipe.lexicon == "collins" else recipe.lexicon


def _undo(made: Pipeline) -> Pipeline:
    """The inverse of the steps that can be undone node by node. Joined unary chains can be expanded only in whole trees."""
    usable = [step for step in made.steps if step.backward is not None and step.step.name not in ("unaries", "double", "add-root")]
    return Pipeline(tuple(usable)).inverse()


def shown_label(symbol: str, undo: Pipeline) -> str | None:
    """The label of a node after the steps are undone; ``None`` if its children replace it.

    >>> from treegauge.normalise import pipeline
    >>> undo = pipeline("xcont").inverse()
    >>> shown_label("NP_Cont", undo), shown_label("NP", undo)
    (None, 'NP')
    """
    inner = Tree(symbol, [Tree("A", ["a"]), Tree("B", ["b"])])
    undone = undo(Tree("TOP", [inner, Tree("C", ["c"])]))
    if undone is None:
        return None
    return next((node.label for node, start, end in undone.nodes_with_spans() if (start, end) == (0, 2)), None)
