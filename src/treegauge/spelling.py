"""American spellings, accepted wherever a command, option, metric, rate, objective or step is named."""

from __future__ import annotations

_PAIRS = (("labeled", "labelled"), ("normaliz", "normalis"), ("binariz", "binaris"), ("markoviz", "markovis"), ("color", "colour"))


def british(name: str) -> str:
    """The name in British spelling, as treegauge has it.

    >>> british("labeled-recall"), british("binarize:right"), british("normalise")
    ('labelled-recall', 'binarise:right', 'normalise')
    """
    for american, ours in _PAIRS:
        name = name.replace(american, ours)
    return name
