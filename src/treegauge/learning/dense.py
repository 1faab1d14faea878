"""A grammar in Chomsky normal form as arrays of all its possible rules: what re-estimation works on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import UsageError
from treegauge.grammar.pcfg import PCFG, Rule

__all__ = ["DenseGrammar", "is_normal_form", "random_grammar", "symbol_names"]

Float64 = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class DenseGrammar:
    """``binary[A, B, C]`` = P(A -> B C) and ``lexical[w, A]`` = P(A -> w); the start symbol is symbol 0.

    >>> grammar = DenseGrammar.from_pcfg(PCFG.parse('S -> S S [0.25] | "a" [0.75]'))
    >>> grammar.binary.tolist(), grammar.lexical.tolist()
    ([[[0.25]]], [[0.75]])
    """

    symbols: tuple[str, ...]
    terminals: tuple[str, ...]
    binary: Float64
    lexical: Float64
    labels: Mapping[str, str | None] = field(default_factory=dict[str, str | None])
    """How symbols show in output trees, see :class:`~treegauge.grammar.PCFG`."""

    @classmethod
    def from_pcfg(cls, grammar: PCFG) -> DenseGrammar:
        """The arrays of a grammar in Chomsky normal form."""
        if not is_normal_form(grammar):
            raise UsageError("only rules A -> B C and A -> word fit into a dense grammar")
        symbol = {name: i for i, name in enumerate(grammar.nonterminals)}
        terminal = {word: i for i, word in enumerate(grammar.vocabulary)}
        binary, lexical = np.zeros((len(symbol),) * 3), np.zeros((len(terminal), len(symbol)))
        for rule in grammar.rules:
            if rule.is_lexical:
                lexical[terminal[rule.rhs[0]], symbol[rule.lhs]] = rule.probability
            else:
                binary[symbol[rule.lhs], symbol[rule.rhs[0]], symbol[rule.rhs[1]]] = rule.probability
        return cls(tuple(symbol), tuple(terminal), binary, lexical, grammar.labels)

    def to_pcfg(self, *, threshold: float = 0.0) -> PCFG:
        """The grammar as a list of rules; those below ``threshold`` are left out and the others scaled."""
        rules = (rule for rule in self._rules() if rule.probability >= max(threshold, np.nextafter(0.0, 1.0)))
        return PCFG.from_rules(rules, start=self.symbols[0], renormalise=threshold > 0, labels=self.labels)

    def _rules(self) -> Iterator[Rule]:
        for A, parent in enumerate(self.symbols):
            for B, C in np.argwhere(self.binary[A] > 0).tolist():
                yield Rule(parent, (self.symbols[B], self.symbols[C]), (False, False), float(self.binary[A, B, C]))
            for w in np.flatnonzero(self.lexical[:, A] > 0).tolist():
                yield Rule(parent, (self.terminals[w],), (True,), float(self.lexical[w, A]))

    @property
    def n_rules(self) -> int:
        """The number of rules that have a probability above 0."""
        return int((self.binary > 0).sum() + (self.lexical > 0).sum())

    def __repr__(self) -> str:
        return f"<DenseGrammar of {self.n_rules:,} rules, {len(self.symbols)} symbols, {len(self.terminals):,} words>"


def is_normal_form(grammar: PCFG) -> bool:
    """Whether every rule is A -> B C or A -> word (Chomsky normal form)."""
    return all(rule.words in ((True,), (False, False)) for rule in grammar.rules)


def symbol_names(number: int) -> tuple[str, ...]:
    """S, N1, N2 ..."""
    return ("S", *(f"N{i}" for i in range(1, number)))


def random_grammar(nonterminals: int, terminals: Sequence[str], seed: int | Sequence[int]) -> DenseGrammar:
    """All rules in Chomsky normal form, with random probabilities: draws from (0, 1], divided by their sum.

    Pereira & Schabes (1992): 15 nonterminals and 48 tags make 4095 rules.

    >>> random_grammar(15, [f"t{i}" for i in range(48)], seed=1)
    <DenseGrammar of 4,095 rules, 15 symbols, 48 words>
    """
    if nonterminals < 1:
        raise UsageError(f"a grammar needs at least one nonterminal, not {nonterminals}")
    rng = np.random.default_rng(seed)
    # From (0, 1] and not [0, 1): a rule that starts at 0 stays there.
    weight = 1.0 - rng.random((nonterminals, nonterminals**2 + len(terminals)))
    weight /= weight.sum(axis=1, keepdims=True)
    binary = weight[:, : nonterminals**2].reshape((nonterminals,) * 3)
    lexical = weight[:, nonterminals**2 :].T
    return DenseGrammar(symbol_names(nonterminals), tuple(terminals), binary.copy(), lexical.copy())
