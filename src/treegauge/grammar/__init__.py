"""Grammars: PCFGs as values and as text, induced from trees, stored in model files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treegauge._lazy import lazy_names
from treegauge.errors import GrammarError, ModelError

if TYPE_CHECKING:
    from treegauge.grammar.grammar_text import read_text, write_nltk, write_text
    from treegauge.grammar.model import Model, load_model, save_model, shipped_model
    from treegauge.grammar.pcfg import PCFG, TOLERANCE, Rule
    from treegauge.grammar.tree_counts import Statistics, induce, statistics
    from treegauge.grammar.treebank_grammar import TrainedGrammar, train
else:
    __getattr__ = lazy_names(__name__)

__all__ = [
    "PCFG",
    "TOLERANCE",
    "GrammarError",
    "Model",
    "ModelError",
    "Rule",
    "Statistics",
    "TrainedGrammar",
    "induce",
    "load_model",
    "read_text",
    "save_model",
    "shipped_model",
    "statistics",
    "train",
    "write_nltk",
    "write_text",
]
