"""Learning grammars from bracketed sentences: inside-outside re-estimation (Pereira & Schabes 1992).

>>> from treegauge.learning import LearningSettings, learn, read_brackets
>>> sentences = read_brackets("((DT NN) (VBD (DT NN)))\\n(PRP (VBD (DT NN)))")
>>> grammar = learn(sentences, LearningSettings(nonterminals=2, seed=7)).grammar()
>>> round(sum(rule.probability for rule in grammar.rules if rule.lhs == "S"), 9)
1.0
"""

from treegauge.learning.dense import DenseGrammar, random_grammar
from treegauge.learning.reestimation import Step, learnable, reestimate, steps
from treegauge.learning.run import Iteration, Learned, LearningSettings, learn
from treegauge.learning.sentences import TERMINALS, BracketedSentences, read_brackets

__all__ = [
    "TERMINALS",
    "BracketedSentences",
    "DenseGrammar",
    "Iteration",
    "Learned",
    "LearningSettings",
    "Step",
    "learn",
    "learnable",
    "random_grammar",
    "read_brackets",
    "reestimate",
    "steps",
]
