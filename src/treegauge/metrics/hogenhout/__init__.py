"""Hogenhout & Matsumoto 1996: a careful count of brackets, with or without a person's judgements.

    >>> import treegauge
    >>> from treegauge import alignment
    >>> from treegauge.presets import load_preset
    >>> from treegauge.trees.treebank import Treebank

The paper's example, two sentences and a parser:

    >>> treebank = Treebank.parse('''
    ... (S (W He) (S (W walks) (W to) (S (W the) (W house))))
    ... (S (S (W The) (W president)) (S (W gave) (S (W a) (W long) (W speech))))''')
    >>> parser = Treebank.parse('''
    ... (S (W He) (S (W walks) (S (W to) (S (W the) (W house)))))
    ... (S (W The) (S (S (W president) (W gave)) (S (W a) (S (W long) (W speech)))))''')
    >>> pair = alignment.pair(treebank, parser, load_preset("default"))
    >>> metric = Hogenhout()
    >>> {name: int(count) for name, count in zip(metric.columns, metric.rows(pair).sum(axis=0))}
    {'TTB': 7, 'TPB': 9, 'EM': 5, 'CE': 2, 'SP': 2, 'PINH': 1, 'PNINH': 1, 'TINH': 1, 'TNINH': 4}
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from treegauge._lazy import lazy_names

if TYPE_CHECKING:
    from treegauge.metrics.hogenhout.bracket_measures import (
        COMPARATIVE as COMPARATIVE,
        MEASURES as MEASURES,
        Hogenhout as Hogenhout,
        JudgedHogenhout as JudgedHogenhout,
        ParseBase as ParseBase,
        brackets_to_judge as brackets_to_judge,
        comparative_rows as comparative_rows,
        measures as measures,
        parse_base as parse_base,
        rows_of_bits as rows_of_bits,
    )
    from treegauge.metrics.hogenhout.items import (
        BracketKey as BracketKey,
        BracketToJudge as BracketToJudge,
        Judgements as Judgements,
        Verdict as Verdict,
        crossing_histogram as crossing_histogram,
    )
else:
    __getattr__, __dir__ = lazy_names(__name__)
