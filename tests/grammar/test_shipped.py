"""The shipped grammar is what training gives today."""

from pathlib import Path

from shipped_grammar import ship

from treegauge.data import own_treebank
from treegauge.grammar.model import SHIPPED, load_model, shipped_model
from treegauge.grammar.training_sentences import seen_sentences
from treegauge.parsing.objectives import CRITERIA, settings_from_notes


def test_the_shipped_grammar_is_the_one_that_training_gives(tmp_path: Path) -> None:
    ship(tmp_path / "new.model")
    made, shipped = load_model(tmp_path / "new.model"), shipped_model()
    advice = "training or the treebank has changed: python tests/helpers/shipped_grammar.py"
    assert made.grammar == shipped.grammar, advice
    assert (tmp_path / "new.model").read_bytes() == SHIPPED.read_bytes(), advice
    assert set(settings_from_notes(shipped.notes)) == set(CRITERIA)
    assert len(seen_sentences(list(own_treebank()), shipped.sentences)) == len(own_treebank())  # mix refuses to tune on them
