"""Reading and writing treebanks: one module per format.

>>> from treegauge.io import as_treebank, write
>>> bank = as_treebank("(S (NP (DT the) (NN cat)) (VP (VBD sat)))")
>>> write(bank, "-", to="pretty")
(S (NP (DT the) (NN cat)) (VP (VBD sat)))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from treegauge._lazy import lazy_names
from treegauge.io.formats import FORMATS, READABLE, WRITABLE, Format
from treegauge.io.reading import as_treebank, check, read, stream
from treegauge.io.sources import ReadOptions, Source

if TYPE_CHECKING:
    from treegauge.io.writing import write, write_blocks
else:
    __getattr__ = lazy_names(__name__)

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
