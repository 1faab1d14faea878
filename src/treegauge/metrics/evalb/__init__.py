"""EVALB (Sekine & Collins 1997, as of 2008), reproduced byte for byte wherever its behaviour is defined.

``evalb`` is the program; ``score_lines`` returns its results as values. All text is bytes, since EVALB has no notion of an
encoding. Beyond EVALB's fixed sizes, where its own output is undefined, sentences are scored properly, with a remark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from treegauge._lazy import lazy_names

if TYPE_CHECKING:
    from treegauge.metrics.evalb.program import evalb
    from treegauge.metrics.evalb.scoring import SentenceResult, score_lines
else:
    __getattr__, __dir__ = lazy_names(__name__)

__all__ = ["ERROR", "SKIP", "UNPAIRED", "VALID", "SentenceResult", "evalb", "score_lines"]

VALID, ERROR, SKIP, UNPAIRED = 0, 1, 2, -1
"""The status of a sentence. EVALB prints 0, 1 or 2; UNPAIRED is a line that the other file lacks, which gets no row."""
