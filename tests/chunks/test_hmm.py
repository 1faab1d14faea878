"""The tagger's lattice against sums over all tag sequences."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from treegauge.chunks import tagger as hmm
from treegauge.chunks.corpus import categories_of, chunk_trees
from treegauge.chunks.models import load_models, save_models, train_models, with_gold_tags
from treegauge.chunks.tagger import SENTENCE_END, HmmTagger, PosteriorTags
from treegauge.data import own_treebank
from treegauge.errors import ModelError


def brute_force(tags: list[str], transition: np.ndarray, emissions: list[np.ndarray]) -> dict[tuple[str, ...], float]:
    start, end = len(tags), len(tags) + 1
    weights: dict[tuple[str, ...], float] = {}
    for sequence in product(range(len(tags)), repeat=len(emissions)):
        padded = [start, start, *sequence, end]
        weight = float(np.prod([transition[a, b, c] for a, b, c in zip(padded, padded[1:], padded[2:], strict=False)]))
        weight *= float(np.prod([row[tag] for row, tag in zip(emissions, sequence, strict=True)]))
        weights[tuple(tags[tag] for tag in sequence)] = weight
    total = sum(weights.values())
    return {sequence: weight / total for sequence, weight in weights.items()}


@pytest.fixture
def random_lattice(monkeypatch: pytest.MonkeyPatch) -> tuple[PosteriorTags, dict[tuple[str, ...], float]]:
    monkeypatch.setattr(hmm, "_NEGLIGIBLE", 0.0)
    generator = np.random.default_rng(5)
    tags = ["A", "B", "C"]
    transition = generator.random((5, 5, 5))
    emissions = [generator.random(3) * (generator.random(3) > 0.2) + 1e-3 for _ in range(4)]
    return PosteriorTags(tags, transition, emissions), brute_force(tags, transition, emissions)


def test_every_tag_sequence_of_every_span_has_its_probability(
    random_lattice: tuple[PosteriorTags, dict[tuple[str, ...], float]],
) -> None:
    lattice, truth = random_lattice
    for start in range(4):
        for end in range(start + 1, 5):
            for sequence in product("ABC", repeat=end - start):
                expected = sum(p for tags, p in truth.items() if tags[start:end] == sequence)
                assert walked(lattice, start, sequence) == pytest.approx(expected, abs=1e-12)


def walked(lattice: PosteriorTags, start: int, sequence: tuple[str, ...]) -> float:
    probability, choices = 1.0, lattice.first(start)
    for offset, wanted in enumerate(sequence):
        found = [(p, state) for tag, p, state in choices if tag == wanted]
        if not found:
            return 0.0
        probability *= found[0][0]
        choices = lattice.following(start + offset + 1, found[0][1])
    assert sum(p for _, p, _ in choices) == pytest.approx(1)
    return probability


def test_the_sentence_ends_after_its_last_word(random_lattice: tuple[PosteriorTags, dict[tuple[str, ...], float]]) -> None:
    lattice, _ = random_lattice
    assert lattice.following(4, ("A", "B")) == [(SENTENCE_END, 1.0, ("B", SENTENCE_END))]


def test_unknown_words_are_tagged_by_their_suffix() -> None:
    sentences = [
        (["the", "walking", "dog"], ["DT", "VBG", "NN"]),
        (["the", "talking", "cat"], ["DT", "VBG", "NN"]),
        (["the", "small", "cat"], ["DT", "JJ", "NN"]),
    ]
    assert HmmTagger.train(sentences).lattice(["the", "barking", "dog"]).best() == ["DT", "VBG", "NN"]


def test_models_and_tagger_survive_a_file(tmp_path: Path) -> None:
    sentences = list(chunk_trees(own_treebank("train", ("travel",))))[:60]
    tagger = HmmTagger.train([(sentence.words, sentence.tags) for sentence in sentences])
    tagged = [(sentence, tagger.lattice(sentence.words)) for sentence in sentences]
    models = train_models(tagged[:30], tagged[30:], categories_of(sentences))
    save_models(tmp_path / "chunks.model", models, tagger, "travel")
    loaded, loaded_tagger = load_models(tmp_path / "chunks.model")
    assert loaded_tagger is not None
    for sentence, lattice in tagged[:10]:
        again = loaded_tagger.lattice(sentence.words)
        assert again.best() == lattice.best()
        for name, model in models.by_name().items():
            np.testing.assert_array_equal(loaded.by_name()[name].probabilities(again), model.probabilities(lattice))


def test_a_damaged_model_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "chunks.model"
    sentences = with_gold_tags(chunk_trees(own_treebank("dev", ("travel",))))
    save_models(path, train_models(sentences, None, categories_of(s for s, _ in sentences)), None, "travel")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 255
    path.write_bytes(data)
    with pytest.raises(ModelError, match="damaged"):
        load_models(path)
