"""Models and checkpoints written by treegauge 0.1 (commit 5cbf77d, ten trees of our own treebank) still open and parse the same."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import pytest

from treegauge.chunks.models import load_models
from treegauge.chunks.tagger import CertainTags
from treegauge.grammar import load_model
from treegauge.io import read
from treegauge.learning import BracketedSentences, LearningSettings, learn
from treegauge.parsing import Forest
from treegauge.parsing.parser import Parser, Sentence

OLD = Path(__file__).parent / "written_by_0_1"
BANK = read(OLD / "trees.mrg")
WORDS = tuple(word for word, tag in zip(BANK.words(0), BANK.tags(0), strict=True) if tag != "-NONE-")
LOG_PROBABILITY = -28.401839737598223
TREE = (
    "(S (VP (VB Show) (NP (PRP me)) (NP (NP (DT the) (NNS flights)) (PP (IN from) (NP (NNP Oslo))) (PP (TO to) (NP (NNP Vienna))) "
    "(PP (IN on) (NP (NNP Monday))))) (. .))"
)
"""What 0.1 printed."""


def test_a_grammar_of_words() -> None:
    model = load_model(OLD / "words.model")
    assert model.trained_on == BANK.sha256()
    assert model.notes["steps"] == "traces,root,redundant,annotate"
    forest = Forest(model.grammar, WORDS)
    assert forest.log_partition == pytest.approx(LOG_PROBABILITY, abs=1e-9)
    assert str(Parser(model.grammar).parse(Sentence(WORDS)).tree) == TREE


def test_a_grammar_of_tags() -> None:
    model = load_model(OLD / "tags.model")
    assert model.notes["terminals"] == "tags"
    assert all(Forest(model.grammar, [tag for tag in BANK.tags(i) if tag != "-NONE-"]).has_parse for i in range(len(BANK)))


def test_a_learned_grammar() -> None:
    model = load_model(OLD / "learned.model")
    assert [round(x, 6) for x in model.notes["cross_entropy"][0]][-1] > 0
    assert math.isclose(sum(rule.probability for rule in model.grammar.rules if rule.lhs == "S"), 1.0)


def test_a_checkpoint_of_learning_resumes(tmp_path: Path) -> None:
    checkpoint = shutil.copy(OLD / "learned.model.checkpoint", tmp_path / "c")
    sentences = BracketedSentences.from_treebank(BANK, longest=10)
    resumed = learn(sentences, LearningSettings(nonterminals=3, iterations=8), checkpoint=checkpoint, resume=True)
    anew = learn(sentences, LearningSettings(nonterminals=3, iterations=8))
    assert resumed.histories == anew.histories


def test_chunk_models() -> None:
    models, tagger = load_models(OLD / "chunks.model")
    assert tagger is None
    assert models.by_name()["G"].probabilities(CertainTags(BANK.tags(0))).max() > 0.5
