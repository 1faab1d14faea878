"""From a treebank to a grammar whose parses look like the treebank: normalise, count, and note how symbols show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from treegauge.errors import MismatchError, UnknownName
from treegauge.grammar.counting import induce, tag_sequence_tree
from treegauge.grammar.dop import ESTIMATORS, dop, plain_label
from treegauge.grammar.lexicon import with_lexicon, with_unknown
from treegauge.grammar.pcfg import PCFG
from treegauge.grammar.rule_smoothing import smooth_rules
from treegauge.grammar.smoothing import USUAL, Smoothing, smoothed_lexicon, tokens
from treegauge.normalise import Pipeline, pipeline
from treegauge.normalise.annotate import lexical_tag
from treegauge.trees.tree import Tree

__all__ = ["COLLINS_BELOW", "COUNTS", "DEFAULT_STEPS", "LEXICONS", "Trained", "shown_label", "train"]

DEFAULT_STEPS = "traces,root,redundant,annotate"
COUNTS = "counts"
"""The estimator of a plain treebank grammar: relative frequency."""
LEXICONS = ("signatures", "collins", "plain")
COLLINS_BELOW = 5
"""Words seen fewer times than this become the unknown word (Collins 1997)."""


class Trained(NamedTuple):
    """A grammar and what is worth noting about how it was made."""

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
) -> Trained:
    """The grammar of trees after normalising steps; its parses show without what the steps added.

    ``estimator`` is ``counts`` (relative frequency), or ``dop1`` or ``corrected`` for DOP (:mod:`treegauge.grammar.dop`).
    ``tags`` parses tags instead of words. Otherwise ``lexicon`` says what becomes of words that are rare or unknown:
    ``signatures`` gives them the tags of words spelt alike (:mod:`treegauge.grammar.smoothing`); ``collins`` makes all that
    are seen fewer than ``unknown_below`` times one unknown word; ``plain`` takes words as they are. With a
    ``rule_weight`` rules are smoothed too (:mod:`treegauge.grammar.rule_smoothing`).

    >>> bank = [Tree.parse("(TOP (S (NP-SBJ (N a)) (V b) (ADV c)))")]
    >>> grammar = train(bank, steps="functions,root,binarise:h=1", lexicon="plain").grammar
    >>> grammar.nonterminals, grammar.label("S|NP")
    (('S', 'NP', 'S|NP', 'N', 'V', 'ADV'), None)
    """
    if lexicon not in LEXICONS:
        raise UnknownName("lexicon", lexicon, LEXICONS)
    if estimator not in (COUNTS, *ESTIMATORS):
        raise UnknownName("estimator", estimator, (COUNTS, *ESTIMATORS))
    made = pipeline(steps) if steps else Pipeline(())
    gone: Counter[str] = Counter()
    kept = [tree for tree in made.apply(trees, gone) if tree.width]
    if tags:
        # A single tag over a single word has no rule above the tag.
        phrases = [tree for tree in kept if not tree.is_preterminal]
        gone.update({"tags": len(kept) - len(phrases)} if len(phrases) < len(kept) else {})
        kept = phrases
    if not kept:
        raise MismatchError("no tree is left to count rules from: give more trees, or fewer normalising steps")
    if lexicon == "collins" and not tags:
        kept = with_unknown(kept, unknown_below)
    grammar = induce(kept, tags=tags) if estimator == COUNTS else dop(_over_tags(kept) if tags else kept, estimator)
    if lexicon == "signatures" and not tags:
        grammar = with_lexicon(grammar, smoothed_lexicon(tokens(kept), lexical_tag, smoothing))
    if rule_weight > 0:
        grammar = smooth_rules(grammar, Counter(node.label for tree in kept for node in tree.nodes()), rule_weight)
    changed = _shown(grammar, _undo(made), plain_label if estimator != COUNTS else str)
    notes = {
        "steps": str(made),
        "estimator": estimator,
        "rule_weight": rule_weight,
        "terminals": "tags" if tags else "words",
        "lexicon": _described(lexicon, unknown_below, smoothing) if not tags else "tags",
        "trees": len(kept),
        "left_out": dict(gone),
    }
    return Trained(PCFG(grammar.rules, grammar.start, changed), notes)


def _over_tags(trees: Iterable[Tree]) -> Iterator[Tree]:
    return (tree for tree in map(tag_sequence_tree, trees) if isinstance(tree, Tree))


def _shown(grammar: PCFG, undo: Pipeline, plain: Callable[[str], str]) -> dict[str, str | None]:
    """How symbols show where that is not their own name; those with one ``plain`` name show alike."""
    known: dict[str, str | None] = {}
    labels: dict[str, str | None] = {}
    for symbol in grammar.nonterminals:
        name = plain(symbol)
        if name not in known:
            known[name] = shown_label(name, undo)
        labels[symbol] = known[name] if grammar.label(symbol) is not None else None
    return {symbol: label for symbol, label in labels.items() if label != symbol}


def _described(lexicon: str, unknown_below: int, smoothing: Smoothing) -> str:
    """The lexicon with what it was made by."""
    if lexicon == "signatures":
        return ":".join([lexicon, *(f"{name}={value:g}" for name, value in smoothing._asdict().items())])
    return f"{lexicon}:below={unknown_below}" if lexicon == "collins" else lexicon


def _undo(made: Pipeline) -> Pipeline:
    """The inverse of the steps that can be undone node by node; joined unary chains are expanded in whole trees
    only."""
    usable = [step for step in made.steps if step.backward is not None and step.step.name not in ("unaries", "double", "add-root")]
    return Pipeline(tuple(usable)).inverse()


def shown_label(symbol: str, undo: Pipeline) -> str | None:
    """What becomes of a node with this label when the steps are undone; ``None`` if its children take its place.

    >>> undo = pipeline("xcont").inverse()
    >>> shown_label("NP_Cont", undo), shown_label("NP", undo)
    (None, 'NP')
    """
    inner = Tree(symbol, [Tree("A", ["a"]), Tree("B", ["b"])])
    undone = undo(Tree("TOP", [inner, Tree("C", ["c"])]))
    if undone is None:
        return None
    return next((node.label for node, start, end in undone.nodes_with_spans() if (start, end) == (0, 2)), None)
