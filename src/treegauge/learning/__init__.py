"""Learning grammars from bracketed sentences: inside-outside re-estimation (Pereira & Schabes 1992).

>>> from treegauge.learning import LearningSettings, learn, read_brackets
>>> sentences = read_brackets("((DT NN) (VBD (DT NN)))\\n(PRP (VBD (DT NN)))")
>>> grammar = learn(sentences, LearningSettings(nonterminals=2, seed=7)).grammar()
>>> round(sum(rule.probability for rule in grammar.rules if rule.lhs == "S"), 9)
1.0
"""

from __future__ import annotations

from treegauge.learning.loop import Iteration, LearningResult, LearningSettings, learn
from treegauge.learning.reestimation import (
    DenseGrammar,
    ReestimationStep,
    learnable,
    random_grammar,
    reestimate,
    reestimation_steps,
)
from treegauge.learning.sentences import TERMINALS, BracketedSentences, read_brackets

__all__ = [
    "TERMINALS",
    "BracketedSentences",
    "DenseGrammar",
    "Iteration",
    "LearningResult",
    "LearningSettings",
    "ReestimationStep",
    "learn",
    "learnable",
    "random_grammar",
    "read_brackets",
    "reestimate",
    "reestimation_steps",
]
