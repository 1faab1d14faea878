"""Reading and writing treebanks: one module per format.

>>> from treegauge.io import as_treebank, write
>>> bank = as_treebank("(S (NP (DT the) (NN cat)) (VP (VBD sat)))")
>>> write(bank, "-", to="pretty")
(S (NP (DT the) (NN cat)) (VP (VBD sat)))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from treegauge._lazy import lazy_names

if TYPE_CHECKING:
    from treegauge.io.formats import FORMATS as FORMATS, READABLE as READABLE, WRITABLE as WRITABLE, Format as Format
    from treegauge.io.reading import as_treebank as as_treebank, check as check, read as read, stream as stream
    from treegauge.io.sources import ReadOptions as ReadOptions, Source as Source
    from treegauge.io.validation import count_parts as count_parts
    from treegauge.io.writing import write as write, write_blocks as write_blocks
else:
    __getattr__, __dir__ = lazy_names(__name__)
