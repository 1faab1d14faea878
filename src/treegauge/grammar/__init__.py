"""Grammars: PCFGs as values and as text, induced from trees, stored in model files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treegauge._lazy import lazy_names

if TYPE_CHECKING:
    from treegauge.errors import GrammarError as GrammarError, ModelError as ModelError
    from treegauge.grammar.grammar_text import read_text as read_text, write_nltk as write_nltk, write_text as write_text
    from treegauge.grammar.model import (
        Model as Model,
        load_model as load_model,
        save_model as save_model,
        shipped_model as shipped_model,
    )
    from treegauge.grammar.pcfg import PCFG as PCFG, TOLERANCE as TOLERANCE, Rule as Rule
    from treegauge.grammar.tree_counts import Statistics as Statistics, induce as induce, statistics as statistics
    from treegauge.grammar.treebank_grammar import TrainedGrammar as TrainedGrammar, train as train
else:
    __getattr__, __dir__ = lazy_names(__name__, folders=["latent"])
