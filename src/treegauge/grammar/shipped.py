"""The grammar that comes with treegauge, so that ``echo ... | treegauge parse`` works at once.

It is counted from our own treebank, with few labels: from 521 trees a finer grammar would have no parse of most sentences. It is
kept as a model file because loading one takes a tenth of the time of training. After a change to the treebank or to training,
write the file again::

    python -c "from treegauge.grammar.shipped import ship; ship()"
"""

from __future__ import annotations

from pathlib import Path

import treegauge
from treegauge.grammar.model import Model, load_model, save_model

__all__ = ["SHIPPED", "STEPS", "ship", "shipped_model"]

SHIPPED = Path(treegauge.__file__).parent / "data" / "own.model"
STEPS = "traces,functions,root,redundant,binarise:h=1"


def shipped_model() -> Model:
    """The grammar of the treebank that comes with treegauge.

    >>> shipped_model().grammar.start
    'TOP'
    """
    return load_model(SHIPPED)


def ship(path: Path = SHIPPED) -> None:
    """Train the grammar and write its file."""
    from treegauge.data import own_treebank
    from treegauge.grammar.training import train

    bank = own_treebank()
    grammar, notes = train(bank, steps=STEPS)
    save_model(grammar, path, trained_on=bank.sha256(), notes=notes)
