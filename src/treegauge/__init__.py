"""Score constituency parsers, test differences, and decode for the metric you report.

>>> import treegauge
>>> result = treegauge.score(gold="(S (NP (NN rain)) (VP (V fell)))", test="(S (NP (NN rain)) (V fell))")
>>> print(f"{result.rates['recall']:.2f} {result.rates['precision']:.2f} {result.rates['f1']:.2f}")
0.67 1.00 0.80

Each name is loaded on first use, so that ``import treegauge`` itself costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from treegauge._lazy import lazy_names

if TYPE_CHECKING:
    from treegauge.errors import (
        BracketError,
        CheckFailed,
        Discontinuous,
        EncodingError,
        FormatError,
        InputError,
        MismatchError,
        MissingExtra,
        TreegaugeError,
        TreegaugeWarning,
        UnknownName,
        UsageError,
        WriteError,
    )
    from treegauge.grammar import PCFG, induce
    from treegauge.io import ReadOptions, as_treebank, read, stream, write
    from treegauge.learning import learn
    from treegauge.learning.training import train
    from treegauge.metrics.registry import find_metric, metric_names
    from treegauge.models.parsing_model import ParsingModel, load, mix
    from treegauge.parsing import Forest, Parser, decode
    from treegauge.presets import Preset, load_preset, preset_names
    from treegauge.reports.reporting import Report, report
    from treegauge.reports.tree_diff import TreeDiff, diff
    from treegauge.scoring.evaluation import Evaluator, evaluator, score
    from treegauge.scoring.result import Result, Scores
    from treegauge.scoring.signature import Signature
    from treegauge.significance import CompareOptions, Comparison, compare, with_confidence
    from treegauge.trees import Tree, Treebank
else:
    __getattr__ = lazy_names(__name__)

__version__ = "0.2.0"

__all__ = [
    "PCFG",
    "BracketError",
    "CheckFailed",
    "CompareOptions",
    "Comparison",
    "Discontinuous",
    "EncodingError",
    "Evaluator",
    "Forest",
    "FormatError",
    "InputError",
    "MismatchError",
    "MissingExtra",
    "Parser",
    "ParsingModel",
    "Preset",
    "ReadOptions",
    "Report",
    "Result",
    "Scores",
    "Signature",
    "Tree",
    "TreeDiff",
    "Treebank",
    "TreegaugeError",
    "TreegaugeWarning",
    "UnknownName",
    "UsageError",
    "WriteError",
    "__version__",
    "as_treebank",
    "compare",
    "decode",
    "diff",
    "evaluator",
    "find_metric",
    "induce",
    "learn",
    "load",
    "load_preset",
    "metric_names",
    "mix",
    "preset_names",
    "read",
    "report",
    "score",
    "stream",
    "train",
    "with_confidence",
    "write",
]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
