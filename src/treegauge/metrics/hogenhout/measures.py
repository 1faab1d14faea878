"""The twelve measures of the paper's Table 3, from its items.

    >>> table1 = {
    ...     "A": dict(TTB=11400, TPB=8671, EMA=6748, EMR=0, CEA=204, CER=690, SPA=956, SPR=73,
    ...               PINH=523, PNINH=371, TINH=5212, TNINH=1536),
    ...     "B": dict(TTB=11400, TPB=8771, EMA=6858, EMR=0, CEA=182, CER=611, SPA=1049, SPR=71,
    ...               PINH=470, PNINH=323, TINH=5426, TNINH=1432),
    ... }

Table 4 follows; Generation Rate and Spurious Reject are lost in the scan of the paper:

    >>> for name, title in MEASURES.items():
    ...     print(f"{title:16}", *(f"{100 * measures(items)[name]:.1f}%" for items in table1.values()))
    Generation Rate  76.1% 76.9%
    Recall-hard      59.2% 60.2%
    Recall-soft      69.4% 71.0%
    Precision-hard   77.8% 78.2%
    Precision-soft   91.2% 92.2%
    Spuriousness     11.9% 12.8%
    Spurious Reject  7.1% 6.3%
    False Error      22.8% 23.0%
    Test Noise       14.2% 14.8%
    Problem Rate     3.2% 2.9%
    P-inheritance    58.5% 59.3%
    T-inheritance    77.2% 79.1%
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from treegauge.metrics.base import Rates, ratio

__all__ = ["MEASURES", "measures"]

MEASURES = {
    "generation_rate": "Generation Rate",
    "recall_hard": "Recall-hard",
    "recall_soft": "Recall-soft",
    "precision_hard": "Precision-hard",
    "precision_soft": "Precision-soft",
    "spuriousness": "Spuriousness",
    "spurious_reject": "Spurious Reject",
    "false_error": "False Error",
    "test_noise": "Test Noise",
    "problem_rate": "Problem Rate",
    "p_inheritance": "P-inheritance",
    "t_inheritance": "T-inheritance",
}
"""Our name of each measure -> the paper's, in the order of Table 3."""


def measures(items: Mapping[str, Any], *, with_emr: bool = False) -> Rates:
    """The measures that the items allow: all twelve with a person's check (EMA ... SPR), else those that need no person.

    ``with_emr`` counts rejected exact matches in Test Noise and Problem Rate, which the paper's formulas leave out (it had none).
    While crossing or spurious brackets are ``unjudged``, the measures that need all verdicts are nan.

    >>> checked = dict(TTB=7, TPB=9, EMA=3, EMR=2, CEA=1, CER=1, SPA=2, SPR=0, PINH=1, PNINH=1, TINH=1, TNINH=4)
    >>> round(measures(checked)["test_noise"], 3), round(measures(checked, with_emr=True)["test_noise"], 3)
    (0.333, 0.556)
    """
    ttb, tpb = items["TTB"], items["TPB"]
    rates: Rates = {"generation_rate": ratio(tpb, ttb)}
    if "EMA" in items:
        rates |= _checked(items, with_emr)
    else:
        rates |= {
            # By structure, reproduced treebank brackets and exact matches of the parser are not the same number.
            "recall_hard": ratio(items["TINH"] + items["TNINH"], ttb),
            "precision_hard": ratio(items["EM"], tpb),
            "spuriousness": ratio(items["SP"], tpb),
        }
    rates["p_inheritance"] = ratio(items["PINH"], items["PINH"] + items["PNINH"])
    rates["t_inheritance"] = ratio(items["TINH"], items["TINH"] + items["TNINH"])
    return rates


def _checked(items: Mapping[str, Any], with_emr: bool) -> Rates:
    ema, emr, cea, cer, spa, spr = (items[name] for name in ("EMA", "EMR", "CEA", "CER", "SPA", "SPR"))
    unjudged = items.get("unjudged", 0)
    # A whole of 0 makes a rate nan: that is what a rate is worth while verdicts are missing.
    all_judged = unjudged == 0
    ttb, tpb = items["TTB"] * all_judged, items["TPB"] * all_judged
    ema_in_treebank = items.get("EMA_treebank", ema)
    also_rejected = emr if with_emr else 0
    return {
        "recall_hard": ratio(ema_in_treebank, items["TTB"]),
        "recall_soft": ratio(ema_in_treebank + cea + spa, ttb),
        "precision_hard": ratio(ema, items["TPB"]),
        "precision_soft": ratio(ema + cea + spa, tpb),
        "spuriousness": ratio(items.get("SP", spa + spr), items["TPB"]),
        "spurious_reject": ratio(spr, spa + spr),
        "false_error": ratio(cea, cea + cer),
        "test_noise": ratio(cea + spa + spr + also_rejected, tpb),
        "problem_rate": ratio(cea + spr + also_rejected, tpb),
    }
