"""Pretrained encoders: windows and means of sub-words, training that repeats and resumes, one file that needs no network."""

from __future__ import annotations

import copy
import logging
import os
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from treegauge.errors import MissingExtra, ModelError, UsageError
from treegauge.io.archive import read_archive, write_archive

pytest.importorskip("torch", reason="torch is not installed (extra [torch])")
pytest.importorskip("transformers", reason="transformers is not installed (extra [encoder])")

import torch
import transformers
from tests.neural.tiny_encoder import WORDS, save_encoder
from tests.neural.toy_network import TINY, TREES

from treegauge.neural.network_model import SCHEMA, VERSION, NetworkModel, load_network, save_network
from treegauge.neural.network_parser import NetworkParser
from treegauge.neural.network_training import train_network
from treegauge.neural.pretrained_encoder import FAMILIES, PretrainedEncoder, read_encoder
from treegauge.neural.sentence_batches import encode_sentences, make_batch
from treegauge.neural.span_network import on_device
from treegauge.parsing.parser import Sentence

pytestmark = pytest.mark.torch
SETTINGS = replace(TINY, layers=1, epochs=3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_encoder(tmp_path_factory.mktemp("encoder"))


@pytest.fixture(scope="module")
def model_file(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("models") / "m.model", folder)


def written(path: Path, folder: Path, **options: Any) -> Path:
    encoder = read_encoder(str(folder))
    train_network(TREES * 6, SETTINGS, device="cpu", encoder=encoder, save=lambda made: save_network(made, path), **options)
    return path


@pytest.mark.parametrize("seed", range(20))
def test_every_sub_word_counts_once_in_the_window_with_most_context(seed: int) -> None:
    rng = random.Random(seed)
    longest = rng.randint(1, 9)
    encoder = PretrainedEncoder("{}", "", (98, 99), (97,), 0, longest)
    sizes = [[rng.randint(1, longest) for _ in range(rng.randint(1, 12))] for _ in range(3)]
    sentences = [[np.array([rng.randrange(90) for _ in range(size)]) for size in own] for own in sizes]
    inputs, place, word = encoder.windows(sentences)
    flat = [(s, piece) for s, sentence in enumerate(sentences) for pieces in sentence for piece in pieces.tolist()]
    assert inputs.reshape(-1)[place].tolist() == [piece for _, piece in flat]
    assert len(set(place.tolist())) == len(place)
    assert word.tolist() == [w for w, pieces in enumerate(p for sentence in sentences for p in sentence) for _ in pieces]
    whole = {s: [piece for t, piece in flat if t == s] for s in range(3)}
    for row in inputs.tolist():
        inner = [each for each in row if each >= 0]
        assert (inner[:2], inner[-1]) == ([98, 99], 97)
        assert len(inner) <= longest + 3
    for s, (pieces, first) in enumerate(zip(whole.values(), np.cumsum([0, *map(len, whole.values())]), strict=False)):
        for i in range(len(pieces)):
            column = int(place[first + i]) % inputs.shape[1] - 2
            if len(pieces) <= longest:
                assert column == i
            elif longest >= 4:  # context on both sides, unless the sentence ends there
                assert min(column, i) >= min(i, longest // 4 - 1), s
                assert min(longest - 1 - column, len(pieces) - 1 - i) >= min(len(pieces) - 1 - i, longest // 4 - 1)


def test_means_of_sub_words_against_transformers_itself(folder: Path, model_file: Path) -> None:
    model = load_network(model_file)
    network = model.network("cpu")
    sentences = [["the", "cat", "sat"], ["milk"], ["(", "unseen", "\u200b", "12"]]
    batch = on_device(make_batch(encode_sentences(model.vocabulary, sentences, model.encoder), np.arange(3)), "cpu")
    with torch.no_grad():
        found = network._encoded(batch)[batch.position]
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder))
    at = 0
    for i in batch.chosen.tolist():
        given = tokenizer(sentences[i], is_split_into_words=True, return_tensors="pt")
        with torch.no_grad():
            outputs = network.encoder(**given).last_hidden_state[0]
        for number in range(len(sentences[i])):
            own = [j for j, word in enumerate(given.word_ids(0)) if word == number]
            assert torch.allclose(found[at], outputs[own].mean(0), atol=1e-5)
            at += 1
    assert at == len(found)


def test_the_weights_of_the_encoder_start_from_those_given_and_are_trained(folder: Path, model_file: Path) -> None:
    _, given = read_encoder(str(folder))
    model = load_network(model_file)
    moved = [np.abs(model.weights[f"encoder.{name}"].astype(float) - each).max() for name, each in given.items()]
    assert 0 < max(moved) < 0.01
    assert not any("pooler" in name for name in model.weights)


def test_long_sentences_and_a_batch_that_gives_what_single_ones_give(model_file: Path) -> None:
    parser = NetworkParser(load_network(model_file), device="cpu")
    sentences = [Sentence(tuple(["the", "cat", "saw", "supercalifragilisticexpialidocious", "milk"] * 5)), Sentence(("milk",))]
    together = list(parser.parse_all(sentences))
    assert [each.tree for each in together] == [parser.parse(sentence).tree for sentence in sentences]
    assert together[0].tree.width == 25


def test_training_twice_and_after_an_interruption_gives_the_same_bytes(folder: Path, model_file: Path, tmp_path: Path) -> None:
    steps: list[object] = []

    def stop(at: object) -> None:
        steps.append(at)
        if len(steps) == 4:
            raise KeyboardInterrupt

    state = torch.random.get_rng_state()
    with pytest.raises(KeyboardInterrupt):
        written(tmp_path / "m", folder, checkpoint=tmp_path / "c", every=0, on_report=stop)
    assert torch.equal(state, torch.random.get_rng_state())
    written(tmp_path / "m", folder, checkpoint=tmp_path / "c", resume=True)
    assert (tmp_path / "m").read_bytes() == model_file.read_bytes()


NAMES = {"hidden_size": "dim", "num_hidden_layers": "n_layers", "num_attention_heads": "n_heads", "intermediate_size": "hidden_dim"}
"""The settings of DistilBERT that have other names."""


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")  # by DeBERTa
@pytest.mark.parametrize("kind", FAMILIES)
def test_every_kind_of_encoder(kind: str, tmp_path: Path) -> None:
    """Training, a model file, and a sentence of more sub-words than a window has."""
    save_encoder(tmp_path / "encoder")
    sizes = dict.fromkeys(("hidden_size", "embedding_size"), 8) | dict.fromkeys(("num_hidden_layers", "num_attention_heads"), 2)
    settings = {NAMES.get(name, name) if kind == "distilbert" else name: size for name, size in sizes.items()}
    special = {"pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3, "cls_token_id": 2, "sep_token_id": 3}
    config = transformers.AutoConfig.for_model(kind, vocab_size=len(WORDS), max_position_embeddings=24, **settings, **special)
    transformers.AutoModel.from_config(config).save_pretrained(tmp_path / "encoder")
    encoder, options = read_encoder(str(tmp_path / "encoder")), {"device": "cpu", "tune": False}
    train_network(
        TREES, replace(SETTINGS, epochs=1), encoder=encoder, save=lambda made: save_network(made, tmp_path / "m"), **options
    )
    found = NetworkParser(load_network(tmp_path / "m"), device="cpu").parse(Sentence(("supercalifragilistic", "cat") * 4))
    assert (found.tree.width, found.fallback) == (8, False)


def test_another_encoder_is_not_resumed(folder: Path, tmp_path: Path) -> None:
    def stop(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        written(tmp_path / "m", folder, checkpoint=tmp_path / "c", on_report=stop)
    other = save_encoder(tmp_path / "other", hidden_size=12)
    with pytest.raises(UsageError, match="what differs: encoder"):
        written(tmp_path / "m", other, checkpoint=tmp_path / "c", resume=True)


ALONE = """
import socket, sys
def refuse(*_):
    raise SystemExit("a connection was tried")
socket.socket.connect = refuse
from treegauge.neural.network_model import load_network
from treegauge.neural.network_parser import NetworkParser
from treegauge.parsing.parser import Sentence
print(NetworkParser(load_network(sys.argv[1]), device="cpu").parse(Sentence(("the", "old", "cat", "sat"))).tree)
"""


def test_a_file_needs_neither_the_folder_nor_a_network(model_file: Path, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", ALONE, model_file], cwd=tmp_path, capture_output=True, text=True, check=True)
    right = NetworkParser(load_network(model_file), device="cpu").parse(Sentence(("the", "old", "cat", "sat"))).tree
    assert done.stdout.strip() == str(right)
    again = load_network(model_file)
    save_network(copy.deepcopy(again), tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == model_file.read_bytes()
    assert b"pickle" not in model_file.read_bytes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"config": {"model_type": "gpt2"}}, "kind 'gpt2'"),
        ({"config": {"num_hidden_layers": 10**6}}, "num_hidden_layers is 1,000,000"),
        ({"config": {"hidden_size": 10**9}}, "hidden_size is"),
        ({"config": {"hidden_size": 7}}, "this file is damaged"),
        ({"config": {"num_attention_heads": 0}}, "this file is damaged"),
        ({"config": {"vocab_size": 20}}, "sub-words than the encoder"),
        ({"config": {"hidden_act": "nonsense"}}, "this file is damaged"),
        ({"before": [10**6]}, "not in the vocabulary"),
        ({"unknown": "x"}, "not in the vocabulary"),
        ({"longest": 10**9}, "a window"),
        ({"tokeniser": "{}"}, "tokeniser cannot be read"),
        ({"tokeniser": None}, "a window"),
    ],
)
def test_a_hostile_encoder_is_refused(model_file: Path, tmp_path: Path, change: dict[str, Any], message: str) -> None:
    document, arrays = read_archive(model_file, SCHEMA, VERSION)
    inner = document["encoder"]
    inner.update({**change, "config": {**inner["config"], **change.get("config", {})}})
    write_archive(tmp_path / "h", document, arrays)
    with pytest.raises(ModelError, match=message):
        load_network(tmp_path / "h")


def test_settings_that_load_code_from_elsewhere_are_dropped(model_file: Path, tmp_path: Path) -> None:
    document, arrays = read_archive(model_file, SCHEMA, VERSION)
    added = {
        "auto_map": {"AutoModel": "x--y.Z"},
        "_attn_implementation": "a/b",
        "attn_implementation": "a/b",
        "quantization_config": {},
    }
    document["encoder"]["config"].update(added)
    write_archive(tmp_path / "h", document, arrays)
    found = load_network(tmp_path / "h").encoder
    assert found == load_network(model_file).encoder


def test_encoders_that_cannot_be_used_are_one_clear_error(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = "import sys; from treegauge.cli import main; main(sys.argv[1:])"
    (tmp_path / "t.mrg").write_text("\n".join(map(str, TREES)), "utf-8")
    command = [sys.executable, "-c", program, "train", "t.mrg", "-o", "m", "--encoder", "nobody/no-such-encoder"]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "no encoder of that name could be fetched from the hub" in done.stderr
    assert "Traceback" not in done.stderr
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="the folder holds no encoder"):
        read_encoder(str(tmp_path / "empty"))

    def unreachable(name: str) -> None:
        assert not logging.getLogger("huggingface_hub.utils._http").isEnabledFor(logging.WARNING), "each attempt is told"
        raise OSError("no network")

    with monkeypatch.context() as patch:
        patch.setattr(transformers.AutoConfig, "from_pretrained", unreachable)
        with pytest.raises(UsageError, match="no network"):
            read_encoder("nobody/no-such-encoder")
    assert logging.getLogger("huggingface_hub.utils._http").isEnabledFor(logging.WARNING)
    transformers.GPT2Config(n_layer=1, n_embd=4, n_head=1, vocab_size=len(WORDS)).save_pretrained(tmp_path / "gpt")
    with pytest.raises(UsageError, match="'gpt2'"):
        read_encoder(str(tmp_path / "gpt"))
    monkeypatch.setattr("treegauge.neural.pretrained_encoder.MOST_WEIGHTS", 10)
    with pytest.raises(UsageError, match="too many for a model file"):
        read_encoder(str(folder))
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtra, match=r"treegauge\[encoder\]"):
        read_encoder(str(folder))


def test_a_file_with_an_encoder_without_the_extra(model_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtra, match=r"treegauge\[encoder\]"):
        load_network(model_file)


def test_models_are_equal_whatever_the_number_of_threads(folder: Path, model_file: Path, tmp_path: Path) -> None:
    assert written(tmp_path / "m", folder, jobs=2).read_bytes() == model_file.read_bytes()
    assert isinstance(load_network(model_file), NetworkModel)
