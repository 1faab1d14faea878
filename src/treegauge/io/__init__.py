"""Reading and writing treebanks: one module per format.

>>> bank = as_treebank("(S (NP (DT the) (NN cat)) (VP (VBD sat)))")
>>> write(bank, "-", to="pretty")
(S (NP (DT the) (NN cat)) (VP (VBD sat)))
"""

from __future__ import annotations

from treegauge.io.formats import FORMATS, READABLE, WRITABLE, Format
from treegauge.io.reading import as_treebank, check, read, stream
from treegauge.io.sources import ReadOptions, Source
from treegauge.io.writing import write, write_blocks

__all__ = [
    "FORMATS",
    "READABLE",
    "WRITABLE",
    "Format",
    "ReadOptions",
    "Source",
    "as_treebank",
    "check",
    "read",
    "stream",
    "write",
    "write_blocks",
]
