"""The grammar that comes with treegauge. After a change to the treebank or to training: python tests/helpers/shipped_grammar.py"""

from __future__ import annotations

from pathlib import Path

from treegauge.data import own_treebank
from treegauge.grammar.model import SHIPPED, STEPS, save_model
from treegauge.grammar.training_sentences import sentence_hashes
from treegauge.grammar.tree_counts import KEEP_EVERY, Recipe, count_trees
from treegauge.grammar.treebank_grammar import train_counted
from treegauge.parsing.tuned_decoding import settings_of_counts, settings_to_notes


def ship(path: Path = SHIPPED) -> None:
    """Train the grammar, choose its settings, and write its file."""
    bank = own_treebank()
    recipe = Recipe(STEPS, keep_every=KEEP_EVERY)
    counted = count_trees(bank, recipe)
    grammar, notes = train_counted(counted, recipe)
    chosen = settings_of_counts(counted, recipe)
    settings = {"settings": settings_to_notes(chosen)} if chosen else {}
    save_model(grammar, path, trained_on=bank.sha256(), notes={**notes, **settings}, sentences=sentence_hashes(bank))


if __name__ == "__main__":
    ship()
