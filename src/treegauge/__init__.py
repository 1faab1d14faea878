"""Score constituency parsers, test differences, and decode for the metric you report.

>>> import treegauge
>>> result = treegauge.score(gold="(S (NP (NN rain)) (VP (V fell)))", test="(S (NP (NN rain)) (V fell))")
>>> print(f"{result.rates['recall']:.2f} {result.rates['precision']:.2f} {result.rates['f1']:.2f}")
0.67 1.00 0.80

Each name is loaded on first use, so that ``import treegauge`` itself costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

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
        UnknownName,
        UsageError,
        WriteError,
    )
    from treegauge.grammar import PCFG, induce
    from treegauge.io import ReadOptions, as_treebank, read, stream, write
    from treegauge.learning import learn
    from treegauge.metrics.registry import find_metric, metric_names
    from treegauge.parsing import Forest, Parser, decode
    from treegauge.presets import Preset, load_preset, preset_names
    from treegauge.reports.reporting import Report, report
    from treegauge.reports.tree_diff import TreeDiff, diff
    from treegauge.scoring.evaluation import Evaluator, evaluator, score
    from treegauge.scoring.result import Result, Scores
    from treegauge.scoring.signature import Signature
    from treegauge.significance import CompareOptions, Comparison, compare, with_confidence
    from treegauge.trees import Tree, Treebank

__version__ = "0.2.0"

_HOME = {
    "treegauge.errors": (
        *("BracketError", "CheckFailed", "Discontinuous", "EncodingError", "FormatError", "InputError", "MismatchError"),
        *("MissingExtra", "TreegaugeError", "UnknownName", "UsageError", "WriteError"),
    ),
    "treegauge.grammar": ("PCFG", "induce"),
    "treegauge.io": ("ReadOptions", "as_treebank", "read", "stream", "write"),
    "treegauge.learning": ("learn",),
    "treegauge.metrics.registry": ("find_metric", "metric_names"),
    "treegauge.parsing": ("Forest", "Parser", "decode"),
    "treegauge.scoring.result": ("Result", "Scores"),
    "treegauge.scoring.evaluation": ("Evaluator", "evaluator", "score"),
    "treegauge.scoring.signature": ("Signature",),
    "treegauge.presets": ("Preset", "load_preset", "preset_names"),
    "treegauge.reports.reporting": ("Report", "report"),
    "treegauge.reports.tree_diff": ("TreeDiff", "diff"),
    "treegauge.significance": ("CompareOptions", "Comparison", "compare", "with_confidence"),
    "treegauge.trees": ("Tree", "Treebank"),
}
_MODULE = {name: module for module, names in _HOME.items() for name in names}

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
    "load_preset",
    "metric_names",
    "preset_names",
    "read",
    "report",
    "score",
    "stream",
    "with_confidence",
    "write",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULE[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
