"""PCFG: a probabilistic context-free grammar as an immutable value."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from treegauge.errors import GrammarError, check_kind, hinting
from treegauge.tables import number_of
from treegauge.trees.tree import Production

if TYPE_CHECKING:
    from treegauge.grammar.binarisation import BinaryGrammar

TOLERANCE = 1e-6
"""The largest accepted distance from 1 of the sum of the probabilities of one left-hand side."""
TOP = "TOP"
"""The start symbol above the roots of trees, if these do not all have the same label. It does not show in output."""


class Rule(NamedTuple):
    """A rule ``lhs -> rhs [probability]``; ``words[i]`` tells whether ``rhs[i]`` is a word, not a symbol.

    >>> print(Rule("NP", ("DT", "cat"), (False, True), 0.5))
    NP -> DT "cat" [0.5]
    """

    lhs: str
    rhs: tuple[str, ...]
    words: tuple[bool, ...]
    probability: float

    @property
    def production(self) -> Production:
        """The rule without its probability."""
        return Production(self.lhs, self.rhs, self.words)

    @property
    def is_lexical(self) -> bool:
        """Whether it rewrites to one word: ``A -> "w"``."""
        return self.words == (True,)

    @property
    def is_unary(self) -> bool:
        """Whether it rewrites to one symbol: ``A -> B``."""
        return self.words == (False,)

    def __str__(self) -> str:
        return f"{self.production} [{self.probability:g}]"


@hinting
@dataclass(frozen=True)
class PCFG:
    """A grammar of rules of any length, also with words among symbols; the probabilities of each left-hand side sum to 1.

    Rules of probability 0 are dropped; a rule given twice becomes one rule with the sum. ``labels`` has the labels of symbols in
    output trees that differ from their names: another label, or ``None`` for a symbol (made by a binarisation) that its children
    replace.

    >>> grammar = PCFG.from_rules([("S", ["A", "A"], 1), ("A", ["a"], 0.25), ("A", ["b"], 0.75)], start="S")
    >>> grammar.nonterminals, grammar.vocabulary
    (('S', 'A'), ('a', 'b'))
    >>> print(grammar)
    S -> A A [1]
    A -> "a" [0.25]
    A -> "b" [0.75]
    """

    rules: tuple[Rule, ...]
    start: str
    labels: Mapping[str, str | None] = field(default_factory=dict[str, str | None])

    def __post_init__(self) -> None:
        for rule in self.rules:
            _check(rule)
        object.__setattr__(self, "rules", _merge_duplicates(self.rules))
        object.__setattr__(self, "labels", MappingProxyType(dict(self.labels)))
        if self.rules and self.start not in self.totals:
            raise GrammarError(f"the start symbol {self.start!r} has no rules")
        for lhs, total in self.totals.items():
            if abs(total - 1) > TOLERANCE:
                raise GrammarError(
                    f"the probabilities of {lhs!r} sum to {total:.9g}, not to 1 (tolerance {TOLERANCE:g}).\n"
                    "  Correct the rules, or scale them with renormalise=True."
                )

    @classmethod
    def from_rules(
        cls,
        rules: Iterable[Rule | tuple[str, Sequence[str], float]],
        *,
        start: str | None = None,
        nonterminals: Iterable[str] | None = None,
        renormalise: bool = False,
        labels: Mapping[str, str | None] | None = None,
    ) -> PCFG:
        """A grammar from ``Rule`` values or triples (lhs, rhs, probability).

        In a triple, an element of the right-hand side is a symbol if it is in ``nonterminals`` (by default: if it is the left-hand
        side of some rule), else a word. The start symbol is the first left-hand side unless given. With ``renormalise`` the
        probabilities are first divided by the sum of their left-hand side.
        """
        given = list(rules)
        symbols = {rule[0] for rule in given} if nonterminals is None else set(nonterminals)
        made = [rule if isinstance(rule, Rule) else _from_triple(rule, symbols) for rule in given]
        if not made and start is None:
            raise GrammarError("a grammar needs at least one rule, or a start symbol")
        return cls(tuple(_normalise(made) if renormalise else made), made[0].lhs if start is None else start, labels or {})

    @classmethod
    def parse(cls, text: str, *, start: str | None = None, renormalise: bool = False) -> PCFG:
        """The grammar in a string in NLTK's format; see :mod:`treegauge.grammar.grammar_text`.

        >>> PCFG.parse('S -> "x" S [0.5] | "x" [0.5]').start
        'S'
        """
        from treegauge.grammar.grammar_text import read_text

        if text.strip() and not set("[>=→") & set(text):
            raise GrammarError("no rules here; to parse text: treegauge.ParsingModel(treegauge.Parser(grammar)).parse(text)")
        return read_text(text, start=start, renormalise=renormalise)

    @cached_property
    def totals(self) -> dict[str, float]:
        """The sum of the probabilities of each left-hand side, in order of first appearance."""
        return totals_by_parent(self.rules, (rule.probability for rule in self.rules))

    @cached_property
    def nonterminals(self) -> tuple[str, ...]:
        """The symbols: the start symbol, then the others in order of first appearance."""
        seen = {self.start: None}
        for rule in self.rules:
            seen[rule.lhs] = None
            if not rule.is_lexical:
                seen.update((symbol, None) for symbol, word in zip(rule.rhs, rule.words, strict=True) if not word)
        return tuple(seen)

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """The words, in order of first appearance."""
        words = (symbol for rule in self.rules for symbol, word in zip(rule.rhs, rule.words, strict=True) if word)
        return tuple(dict.fromkeys(words))

    @cached_property
    def binary(self) -> BinaryGrammar:
        """The same grammar in the binarised form that charts need, made once."""
        from treegauge.grammar.binarisation import binarise_grammar

        return binarise_grammar(self)

    def label(self, symbol: str) -> str | None:
        """The label of a symbol in output trees; ``None`` if it does not show."""
        return self.labels.get(symbol, symbol)

    def with_labels(self, label: Callable[[str], str | None]) -> PCFG:
        """The same grammar, with ``label(symbol)`` as the label of each symbol in output trees.

        >>> grammar = PCFG.parse('S -> A-1 A-2 [1]\\nA-1 -> "a" [1]\\nA-2 -> "a" [1]')
        >>> grammar.with_labels(lambda symbol: symbol.split("-")[0]).label("A-2")
        'A'
        """
        return PCFG(self.rules, self.start, {symbol: label(symbol) for symbol in self.nonterminals})

    def __str__(self) -> str:
        return "\n".join(map(str, self.rules))

    def __repr__(self) -> str:
        sizes = (len(self.rules), "rule"), (len(self.nonterminals), "symbol"), (len(self.vocabulary), "word")
        return f"<PCFG of {', '.join(number_of(*size) for size in sizes)}>"

    def __getstate__(self) -> tuple[tuple[Rule, ...], str, dict[str, str | None]]:
        return self.rules, self.start, dict(self.labels)

    def __setstate__(self, state: tuple[tuple[Rule, ...], str, dict[str, str | None]]) -> None:
        for name, value in zip(("rules", "start", "labels"), state, strict=True):
            object.__setattr__(self, name, MappingProxyType(value) if isinstance(value, dict) else value)


def totals_by_parent(rules: Iterable[Rule | Production], values: Iterable[float]) -> dict[str, float]:
    """The sum of the values of each left-hand side, given a value for each rule, in order of first appearance."""
    parts: dict[str, list[float]] = {}
    for rule, value in zip(rules, values, strict=True):
        parts.setdefault(rule.lhs, []).append(value)
    return {lhs: math.fsum(own) for lhs, own in parts.items()}


def _from_triple(triple: tuple[str, Sequence[str], float], symbols: set[str]) -> Rule:
    if isinstance(triple, str) or len(triple) != 3 or isinstance(triple[1], str):
        raise GrammarError(f"a rule is ('NP', ['Det', 'man'], 0.5), not {triple!r}; PCFG.parse reads rules as text")
    lhs, rhs, probability = triple
    check_kind(f"the probability of {lhs}", probability, "float")
    return Rule(lhs, tuple(rhs), tuple(symbol not in symbols for symbol in rhs), float(probability))


def _check(rule: Rule) -> None:
    if not rule.rhs:
        raise GrammarError(
            f"the rule {rule} has an empty right-hand side; remove empty nodes from the treebank, or rewrite the grammar"
        )
    if not 0 <= rule.probability < math.inf:
        raise GrammarError(f"the rule {rule} has a probability outside [0, 1]")


def _merge_duplicates(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """The rules of positive probability, each once."""
    kept = [rule for rule in rules if rule.probability > 0]
    if len({rule[:3] for rule in kept}) == len(kept):
        return tuple(kept)
    totals: dict[Production, float] = {}
    for rule in kept:
        totals[rule.production] = totals.get(rule.production, 0.0) + rule.probability
    return tuple(Rule(*production, probability) for production, probability in totals.items())


def _normalise(rules: Sequence[Rule]) -> list[Rule]:
    for rule in rules:
        _check(rule)
    totals = totals_by_parent(rules, (rule.probability for rule in rules))
    # A left-hand side whose rules all have probability 0 is left without rules.
    return [rule._replace(probability=rule.probability / totals[rule.lhs]) for rule in rules if totals[rule.lhs] > 0]
