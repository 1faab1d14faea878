"""Significance: tests and confidence intervals for the differences between parsers, computed from rows of counts.

Everything is computed from the rows of a metric, so every test is available for every metric.

>>> from treegauge.significance import Cells, real_test
>>> round(real_test(Cells(YY=6516, YN=232, NY=343, NN=4309)).z, 1)
4.7
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from treegauge._lazy import lazy_names

if TYPE_CHECKING:
    from treegauge.significance.bootstrap_intervals import (
        Bootstrap as Bootstrap,
        bca_interval as bca_interval,
        bootstrap as bootstrap,
        percentile_interval as percentile_interval,
        with_confidence as with_confidence,
    )
    from treegauge.significance.classical import (
        Binomial as Binomial,
        Cells as Cells,
        McNemar as McNemar,
        PairedT as PairedT,
        RealTest as RealTest,
        SignTest as SignTest,
        binomial as binomial,
        holm as holm,
        mcnemar as mcnemar,
        paired_t as paired_t,
        real_test as real_test,
        real_test_at as real_test_at,
        real_test_m1 as real_test_m1,
        sign_test as sign_test,
    )
    from treegauge.significance.comparison import Comparison as Comparison
    from treegauge.significance.paired_comparison import compare as compare, compare_scores as compare_scores
    from treegauge.significance.resampling import (
        Interval as Interval,
        PairedColumns as PairedColumns,
        RandomisationResult as RandomisationResult,
        randomisation as randomisation,
    )
    from treegauge.significance.score_table import CompareOptions as CompareOptions
else:
    __getattr__, __dir__ = lazy_names(__name__)
