"""The shipped grammar is what training gives today."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from shipped_grammar import ship

from treegauge.data import own_treebank
from treegauge.grammar.model import SCHEMA, SHIPPED, VERSION, shipped_model
from treegauge.grammar.training_sentences import seen_sentences
from treegauge.io.archive import read_archive
from treegauge.parsing.objectives import CRITERIA, settings_from_notes


def rounded(document: Mapping[str, Any]) -> Any:
    """The same data with fewer digits."""
    return json.loads(json.dumps(document), parse_float=lambda digits: f"{float(digits):.9g}")


def test_the_shipped_grammar_is_the_one_that_training_gives(tmp_path: Path) -> None:
    """With a tolerance for numbers that are not whole, since sums differ in their last bits between processors."""
    ship(tmp_path / "new.model")
    advice = "training or the treebank has changed: python tests/helpers/shipped_grammar.py"
    (made, columns), (shipped, stored) = (read_archive(path, SCHEMA, VERSION) for path in (tmp_path / "new.model", SHIPPED))
    assert rounded(made) == rounded(shipped), advice
    assert columns.keys() == stored.keys(), advice
    for name, column in columns.items():
        assert column.dtype == stored[name].dtype, advice
        np.testing.assert_allclose(column, stored[name], rtol=1e-9 if column.dtype.kind == "f" else 0, err_msg=advice)


def test_the_shipped_grammar_has_settings_and_knows_its_sentences() -> None:
    shipped = shipped_model()
    assert set(settings_from_notes(shipped.notes)) == set(CRITERIA)
    assert len(seen_sentences(list(own_treebank()), shipped.sentences)) == len(own_treebank())  # mix refuses to tune on them
