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
        BracketError as BracketError,
        CheckFailed as CheckFailed,
        Discontinuous as Discontinuous,
        EncodingError as EncodingError,
        FormatError as FormatError,
        InputError as InputError,
        MismatchError as MismatchError,
        MissingExtra as MissingExtra,
        TreegaugeError as TreegaugeError,
        TreegaugeWarning as TreegaugeWarning,
        UnknownName as UnknownName,
        UsageError as UsageError,
        WriteError as WriteError,
    )
    from treegauge.grammar import PCFG as PCFG, induce as induce
    from treegauge.io import ReadOptions as ReadOptions, as_treebank as as_treebank, read as read, stream as stream, write as write
    from treegauge.learning import learn as learn
    from treegauge.learning.training import train as train
    from treegauge.metrics.registry import find_metric as find_metric, metric_names as metric_names
    from treegauge.models.parsing_model import ParsingModel as ParsingModel, load as load, mix as mix
    from treegauge.parsing import Forest as Forest, Parser as Parser, decode as decode
    from treegauge.presets import Preset as Preset, load_preset as load_preset, preset_names as preset_names
    from treegauge.reports.plots import write_figure as write_figure
    from treegauge.reports.reporting import Report as Report, report as report
    from treegauge.reports.tree_diff import TreeDiff as TreeDiff, diff as diff
    from treegauge.scoring.evaluation import Evaluator as Evaluator, evaluator as evaluator, score as score
    from treegauge.scoring.result import Result as Result, Scores as Scores
    from treegauge.scoring.signature import Signature as Signature
    from treegauge.significance import (
        CompareOptions as CompareOptions,
        Comparison as Comparison,
        compare as compare,
        with_confidence as with_confidence,
    )
    from treegauge.trees import Tree as Tree, Treebank as Treebank
else:
    _FOLDERS = (
        "alignment chunks data engines errors experiments grammar humancheck io learning metrics neural normalise parsing presets "
        "reports scoring significance testing trees"
    )
    __getattr__, __dir__ = lazy_names(__name__, _FOLDERS.split())

__version__ = "0.3.0"
