"""The default grammar on a real treebank: it must not get worse unnoticed."""

from __future__ import annotations

from pathlib import Path

import pytest

from treegauge import io
from treegauge.grammar.treebank_grammar import train
from treegauge.parsing.parser import Parser, Sentence
from treegauge.scoring.evaluation import score


@pytest.mark.slow
def test_half_of_gum_is_enough_for_72(shared: Path) -> None:
    """The whole of it, and all of dev, is measured by bench/grammars.py."""
    folder = shared / "data" / "gum"
    grammar = train(io.read(folder / "train.mrg")[::2]).grammar
    dev = [tree for tree in io.read(folder / "dev.mrg") if tree.width <= 25][::20]
    parser = Parser(grammar)
    rates = score(dev, [parser.parse(Sentence(tree.words)).tree for tree in dev]).rates
    assert rates["f1"] > 0.72
    assert rates["tagging_accuracy"] > 0.9
