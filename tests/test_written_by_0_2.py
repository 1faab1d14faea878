"""Models, checkpoints and scores written by treegauge 0.2, from ten trees of our own treebank, still open and give the same."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from treegauge import Scores, score
from treegauge.chunks.models import load_models
from treegauge.chunks.tagger import CertainTags
from treegauge.errors import FormatError
from treegauge.experiments import load_experiment
from treegauge.experiments.experiment import Corpus, run_experiment
from treegauge.grammar import load_model
from treegauge.grammar.latent.latent_model import load_latent
from treegauge.io import read
from treegauge.learning import BracketedSentences, LearningSettings, learn
from treegauge.learning.latent import TrainingSettings, train_latent
from treegauge.learning.latent.treebank_em import Schedule
from treegauge.parsing import Forest
from treegauge.parsing.latent.latent_forest import LatentForest
from treegauge.parsing.parser import Parser, Sentence

OLD = Path(__file__).parent / "written_by_0_2"
BANK = read(OLD / "trees.mrg")
WORDS = tuple(word for word, tag in zip(BANK.words(0), BANK.tags(0), strict=True) if tag != "-NONE-")
TREE = (
    "(S (VP (VB Show) (NP (PRP me)) (NP (NP (DT the) (NNS flights)) (PP (IN from) (NP (NNP Oslo))) (PP (TO to) (NP (NNP Vienna))) "
    "(PP (IN on) (NP (NNP Monday))))) (. .))"
)
"""The parse that 0.2 printed."""


def test_a_grammar_of_words() -> None:
    model = load_model(OLD / "words.model")
    assert model.trained_on == BANK.sha256()
    assert model.notes["steps"] == "traces,root,redundant,annotate"
    assert Forest(model.grammar, WORDS).log_partition == pytest.approx(-28.401839737598223, rel=1e-9)
    assert str(Parser(model.grammar).parse(Sentence(WORDS)).tree) == TREE


def test_a_grammar_of_tags() -> None:
    model = load_model(OLD / "tags.model")
    assert model.notes["terminals"] == "tags"
    assert all(Forest(model.grammar, [tag for tag in BANK.tags(i) if tag != "-NONE-"]).has_parse for i in range(len(BANK)))


def test_a_learned_grammar() -> None:
    model = load_model(OLD / "learned.model")
    assert model.notes["cross_entropy"][0][-1] == pytest.approx(4.317957, abs=1e-6)
    assert sum(rule.probability for rule in model.grammar.rules if rule.lhs == "S") == pytest.approx(1.0)


def test_a_trained_model() -> None:
    assert str(LatentForest(load_latent(OLD / "trained.model"), WORDS).argmax("viterbi").tree) == f"(TOP {TREE})"


def test_a_checkpoint_of_learn(tmp_path: Path) -> None:
    checkpoint = shutil.copy(OLD / "learned.checkpoint", tmp_path / "c")
    sentences = BracketedSentences.from_treebank(BANK, longest=10)
    settings = LearningSettings(nonterminals=3, iterations=8)
    steps: list[int] = []
    resumed = learn(sentences, settings, checkpoint=checkpoint, resume=True, on_iteration=lambda made: steps.append(made.step))
    assert steps[0] == 5
    assert resumed.histories[0] == pytest.approx(learn(sentences, settings).histories[0])


def test_a_checkpoint_of_train(tmp_path: Path) -> None:
    checkpoint = shutil.copytree(OLD / "trained.checkpoint", tmp_path / "c")
    settings = TrainingSettings(grammars=1, rounds=1, tuning_grammars=0, schedule=Schedule(2, 1, 1))
    seen: list[float] = []
    resumed = train_latent(
        list(BANK), settings, checkpoint=checkpoint, resume=True, on_iteration=lambda made: seen.append(made.log_likelihood)
    )
    anew = train_latent(list(BANK), settings)
    (first,), (second,) = resumed.notes["log_likelihood"][0], anew.notes["log_likelihood"][0]
    assert len(seen) == len(first) - 1 == 1
    assert first == pytest.approx(second, rel=1e-4)


def test_a_checkpoint_of_reproduce(tmp_path: Path) -> None:
    folder = shutil.copytree(OLD / "reproduced", tmp_path / "r")
    experiment = load_experiment("goodman-table1")
    settings = experiment.settings(runs=2, iterations=2, nonterminals=2, max_length=60)
    corpus = Corpus("trees", BANK)
    resumed = run_experiment(experiment, corpus, settings, folder=folder, resume=True, threads=1)
    anew = run_experiment(experiment, corpus, settings, threads=1)
    for one, other in zip(resumed.data["runs"], anew.data["runs"], strict=True):
        for algorithm, rates in other["rates"].items():
            for name, values in rates.items():
                assert one["rates"][algorithm][name] == pytest.approx(values, rel=1e-9)


def test_chunk_models() -> None:
    models, tagger = load_models(OLD / "chunks.model")
    assert tagger is None
    assert models.by_name()["G"].probabilities(CertainTags(BANK.tags(0))).max() > 0.5


def test_saved_scores() -> None:
    scores = Scores.load(OLD / "scores")
    again = score(OLD / "trees.mrg", {"parsed": OLD / "parsed.mrg"}, ["parseval", "hogenhout", "freval"])
    # FREVAL has another definition of ranges of sizes: rates in the file stay as 0.2 computed them, as its signature says,
    # and what is computed from its rows is defined as today.
    defined_anew = {f"{rate}_{sizes}" for rate in ("flr", "flp", "f1") for sizes in ("1-15", "1-25")}
    for before, after in zip(scores, again, strict=True):
        assert (before.metric, dict(before.counts)) == (after.metric, dict(after.counts))
        changed = {name for name, rate in after.rates.items() if before.rates[name] != pytest.approx(rate, rel=1e-9, nan_ok=True)}
        assert changed == (defined_anew if before.metric == "freval" else set())
        assert before.signature.version == "0.2.0"
        assert before.definition is not None
        assert before.definition.rates(before.rows.sum(axis=0)) == pytest.approx(dict(after.rates), rel=1e-9, nan_ok=True)
        assert before.rows.dtype == after.rows.dtype
        if before.rows.dtype == object:
            assert before.rows.tolist() == after.rows.tolist()
        else:
            assert before.rows == pytest.approx(after.rows, rel=1e-9)
        assert before.scored_sentences.length.tolist() == after.scored_sentences.length.tolist()
        ours, theirs = before.scored_sentences.reproduced, after.scored_sentences.reproduced
        assert (ours is None) == (theirs is None) == (before.metric != "hogenhout")
        assert ours is None or theirs is None or ours.tolist() == theirs.tolist()


def test_scores_as_json() -> None:
    (result,) = Scores.from_json((OLD / "scores.json").read_text("utf-8"))
    assert result.rates == Scores.load(OLD / "scores").of("parsed", "parseval").rates
    assert [record["sentence"] for record in result.per_sentence()] == list(range(len(BANK)))


def test_scores_of_0_1_are_refused() -> None:
    text = (OLD / "scores.json").read_text("utf-8").replace("treegauge.result/2", "treegauge.result/1")
    with pytest.raises(FormatError, match=r"the schema is 'treegauge.result/1', not 'treegauge.result/2'"):
        Scores.from_json(text)
