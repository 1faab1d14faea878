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

from treegauge.metrics.hogenhout.bracket_measures import (
    COMPARATIVE,
    MEASURES,
    Hogenhout,
    JudgedHogenhout,
    ParseBase,
    brackets_to_judge,
    comparative_rows,
    measures,
    parse_base,
    rows_of_bits,
)
from treegauge.metrics.hogenhout.items import BracketKey, BracketToJudge, Judgements, Verdict, crossing_histogram

__all__ = [
    "COMPARATIVE",
    "MEASURES",
    "BracketKey",
    "BracketToJudge",
    "Hogenhout",
    "JudgedHogenhout",
    "Judgements",
    "ParseBase",
    "Verdict",
    "brackets_to_judge",
    "comparative_rows",
    "crossing_histogram",
    "measures",
    "parse_base",
    "rows_of_bits",
]
