"""Significance: tests and confidence intervals for the differences between parsers, computed from rows of counts.

Everything is computed from the rows of a metric, so every test is available for every metric.

>>> from treegauge.significance import Cells, real_test
>>> round(real_test(Cells(YY=6516, YN=232, NY=343, NN=4309)).z, 1)
4.7
"""

from __future__ import annotations

from treegauge.significance.bootstrap_intervals import (
    Bootstrap,
    Interval,
    bca_interval,
    bootstrap,
    percentile_interval,
    with_confidence,
)
from treegauge.significance.classical import (
    Binomial,
    Cells,
    McNemar,
    PairedT,
    RealTest,
    SignTest,
    binomial,
    holm,
    mcnemar,
    paired_t,
    real_test,
    real_test_at,
    real_test_m1,
    sign_test,
)
from treegauge.significance.comparison import Comparison
from treegauge.significance.paired_comparison import compare, compare_scores
from treegauge.significance.resampling import PairedColumns, RandomisationResult, randomisation
from treegauge.significance.score_table import CompareOptions

__all__ = [
    "Binomial",
    "Bootstrap",
    "Cells",
    "CompareOptions",
    "Comparison",
    "Interval",
    "McNemar",
    "PairedColumns",
    "PairedT",
    "RandomisationResult",
    "RealTest",
    "SignTest",
    "bca_interval",
    "binomial",
    "bootstrap",
    "compare",
    "compare_scores",
    "holm",
    "mcnemar",
    "paired_t",
    "percentile_interval",
    "randomisation",
    "real_test",
    "real_test_at",
    "real_test_m1",
    "sign_test",
    "with_confidence",
]
