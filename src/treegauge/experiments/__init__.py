"""The papers' experiments, run again: one module each, with the paper's numbers beside ours.

An experiment is a module ``treegauge.experiments.<name>`` (with ``_`` for ``-``) that defines ``EXPERIMENT``, and a line in
:data:`EXPERIMENTS`.
"""

from __future__ import annotations

import importlib

from treegauge.errors import check_name
from treegauge.experiments.experiment import Experiment

__all__ = ["EXPERIMENTS", "Experiment", "load_experiment"]

EXPERIMENTS: dict[str, str] = {
    "abney-tables": "The entropy of phrase recognition by models 0 to S (Abney 1993).",
    "freval-table1": "Parsers ranked by fragments of size 1, 1-15, 1-25 and all (Bastings & Sima'an 2014, Table 1).",
    "goodman-example": "Four parses, and a tree that is better than all of them (Goodman 1996, section 3).",
    "goodman-table1": "Viterbi against Bracketed Recall on grammars learned from brackets (Goodman 1996, Table 1).",
    "goodman-table2": "A grammar counted from trees: three algorithms on five criteria (Goodman 1996, Table 2).",
    "hogenhout-tables": "Items, measures and the real test of two parsers, with a human check (Hogenhout & Matsumoto 1996).",
    "simaan-example": "The sentence of eight words whose likeliest parse is not the best (Sima'an 2003, section 4.2).",
    "simaan-table2": "Four algorithms on right-linearised and on head-lexicalised treebanks (Sima'an 2003, Table 2).",
}
"""One line of help for each experiment, by name."""


def load_experiment(name: str) -> Experiment:
    """The experiment of a name.

    >>> load_experiment("goodman-table1").reference
    'goodman1996'
    """
    check_name("experiment", name, EXPERIMENTS)
    return importlib.import_module(f"treegauge.experiments.{name.replace('-', '_')}").EXPERIMENT
