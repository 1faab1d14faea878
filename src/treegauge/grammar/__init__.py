"""Grammars: PCFGs as values and as text, counted from trees, kept in model files."""

from __future__ import annotations

from treegauge.grammar.counting import Statistics, induce, statistics
from treegauge.grammar.model import load_model, save_model
from treegauge.grammar.pcfg import PCFG, TOLERANCE, Rule
from treegauge.grammar.text import read_text, write_nltk, write_text

__all__ = [
    "PCFG",
    "TOLERANCE",
    "Rule",
    "Statistics",
    "induce",
    "load_model",
    "read_text",
    "save_model",
    "statistics",
    "write_nltk",
    "write_text",
]
