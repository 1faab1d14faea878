"""EVALB (Sekine & Collins 1997, as of 2008), reproduced byte for byte wherever its behaviour is defined.

``evalb`` is the program; ``score_lines`` gives what it computes as values. Everything is bytes: EVALB knows no
encoding. Above EVALB's fixed sizes, where its own output is undefined, sentences are scored properly and a remark
says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from treegauge._lazy import lazy_names

if TYPE_CHECKING:
    from treegauge.metrics.evalb.program import evalb
    from treegauge.metrics.evalb.scoring import SentenceResult, score_lines

__all__ = ["ERROR", "SKIP", "UNPAIRED", "VALID", "SentenceResult", "evalb", "score_lines"]

VALID, ERROR, SKIP, UNPAIRED = 0, 1, 2, -1
"""A sentence's status. EVALB prints 0, 1, 2; UNPAIRED is a line that the other file lacks, which gets no row."""

__getattr__ = lazy_names(__name__, {"program": ("evalb",), "scoring": ("SentenceResult", "score_lines")})
