"""American spellings, accepted wherever a command, option, metric, rate, objective or step is named; whole numbers."""

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


_MOST_DIGITS = 15


def whole_number(text: str) -> int | None:
    """The number that is written in digits; None where it is not, or not one that anybody means.

    Python takes characters such as ``²`` for digits, but not for numbers, and refuses to make numbers of thousands of digits.

    >>> whole_number("12"), whole_number("-1"), whole_number("²"), whole_number("9" * 5000)
    (12, None, None, None)
    """
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else None
