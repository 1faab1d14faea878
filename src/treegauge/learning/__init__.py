"""Learning grammars from bracketed sentences: inside-outside re-estimation (Pereira & Schabes 1992).

>>> from treegauge.learning import LearningSettings, learn, read_brackets
>>> sentences = read_brackets("((DT NN) (VBD (DT NN)))\\n(PRP (VBD (DT NN)))")
>>> grammar = learn(sentences, LearningSettings(nonterminals=2, seed=7)).grammar()
>>> round(sum(rule.probability for rule in grammar.rules if rule.lhs == "S"), 9)
1.0
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from treegauge._lazy import lazy_names

if TYPE_CHECKING:
    from treegauge.learning.loop import (
        Iteration as Iteration,
        LearningResult as LearningResult,
        LearningSettings as LearningSettings,
        learn as learn,
    )
    from treegauge.learning.reestimation import (
        DenseGrammar as DenseGrammar,
        ReestimationStep as ReestimationStep,
        learnable as learnable,
        random_grammar as random_grammar,
        reestimate as reestimate,
        reestimation_steps as reestimation_steps,
    )
    from treegauge.learning.sentences import (
        TERMINALS as TERMINALS,
        BracketedSentences as BracketedSentences,
        read_brackets as read_brackets,
    )
else:
    __getattr__, __dir__ = lazy_names(__name__, folders=["latent"])
