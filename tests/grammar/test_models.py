"""Model files: they come back whole whatever the grammar, and any damage, another version or a bomb is refused by name."""

from __future__ import annotations

import json
import tempfile
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import treegauge
from treegauge.errors import EncodingError, ModelError
from treegauge.grammar import PCFG, load_model, save_model
from treegauge.grammar.tree_counts import LEXICONS
from treegauge.grammar.treebank_grammar import train
from treegauge.trees import Tree

BANK = [
    Tree.parse("(S (NP (DT the) (NN cat)) (VP (VBD slept)))"),
    Tree.parse("(S (NP (NNP Rome)) (VP (VBD burned)))"),
    Tree.parse("(S (NP (CD 42) (NNS cats)) (VP (VBD slept) (ADVP (RB well)) (NP (NN today))))"),
]
SMALL = PCFG.parse('S -> `PRP$` VP "x" [.25] | VP [.75]\nVP -> "a\\b" [.5] | S [.5]\n`PRP$` -> "," [1]')
KINDS: dict[str, dict[str, Any]] = {
    **{f"{name} lexicon": {"lexicon": name} for name in LEXICONS},
    "tags": {"tags": True, "steps": "xcont"},
    "MRL": {"steps": "mrl,unaries:joined", "lexicon": "collins"},
    "MH": {"steps": "mh", "lexicon": "collins"},
    "markovised": {"steps": "binarise:h=1:v=2"},
    "smoothed rules": {"rule_weight": 2.0},
    "DOP1": {"estimator": "dop1", "steps": "xcont", "tags": True},
    "corrected DOP": {"estimator": "corrected"},
}


@pytest.mark.parametrize("kind", KINDS)
def test_models_come_back_whole_and_refuse_damage(kind: str, tmp_path: Path) -> None:
    grammar, notes = train(BANK, **KINDS[kind])
    path = tmp_path / "g.model"
    save_model(grammar, path, notes=notes)
    back = load_model(path)
    assert back.grammar == grammar
    assert dict(back.notes) == notes
    content = path.read_bytes()
    for at in range(0, len(content), max(1, len(content) // 60)):
        path.write_bytes(content[:at] + bytes([content[at] ^ 0x20]) + content[at + 1 :])
        with pytest.raises(ModelError) as caught:
            load_model(path)
        assert str(path) in str(caught.value)


@given(st.data())
def test_any_byte_in_any_other(data: st.DataObject) -> None:
    content, path = _kept_model()
    at = data.draw(st.integers(0, len(content) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda value: value != content[at]))
    path.write_bytes(content[:at] + bytes([byte]) + content[at + 1 :])
    with pytest.raises(ModelError):
        load_model(path)


@cache
def _kept_model() -> tuple[bytes, Path]:
    path = Path(tempfile.mkdtemp()) / "g.model"
    save_model(train(BANK).grammar, path)
    return path.read_bytes(), path


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_of_an_older_schema_says_so(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "old.model"
    monkeypatch.setattr("treegauge.grammar.model.VERSION", 0)
    save_model(train(BANK, **KINDS[kind]).grammar, path)
    monkeypatch.undo()
    with pytest.raises(ModelError, match="version 0; this treegauge reads"):
        load_model(path)


def test_models_round_trip_to_the_same_bytes(tmp_path: Path) -> None:
    grammar = SMALL.with_labels(lambda symbol: None if symbol == "VP" else symbol.lower())
    for name in ("a", "b"):
        save_model(grammar, tmp_path / name, trained_on="abc", notes={"steps": "traces"})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    model = load_model(tmp_path / "a")
    assert (model.grammar, model.trained_on, model.notes) == (grammar, "abc", {"steps": "traces"})


def test_every_damaged_byte_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "m"
    save_model(SMALL, path)
    data = path.read_bytes()
    for at in range(len(data)):
        path.write_bytes(data[:at] + bytes([data[at] ^ (1 << at % 8)]) + data[at + 1 :])
        with pytest.raises(ModelError):
            load_model(path)
    for shorter in (data[: len(data) // 2], data[:-1], data + b"0", b"PK", b""):
        path.write_bytes(shorter)
        with pytest.raises(ModelError):
            load_model(path)


def test_a_model_whose_beginning_is_damaged_is_said_to_be_so(tmp_path: Path) -> None:
    """It is no longer known by its first bytes, and could have been a grammar as text."""
    path = tmp_path / "m.model"
    save_model(SMALL, path)
    path.write_bytes(b"\xff\xfe" + path.read_bytes()[2:])
    with pytest.raises(EncodingError, match="neither a model nor UTF-8 text") as caught:
        treegauge.load(path)
    assert "If it was a model, it is damaged" in str(caught.value)


def test_another_version_is_named(tmp_path: Path) -> None:
    path = tmp_path / "m"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model.json", json.dumps({"schema": "treegauge-pcfg", "version": 0}))
    with pytest.raises(ModelError, match="version 0; this treegauge reads 'treegauge-pcfg' version 1"):
        load_model(path)


def test_bombs_and_pickles_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m"
    save_model(PCFG.from_rules([("S", ["a" * 100_000], 1)]), path)
    for most, problem in ((100, "larger than 100 bytes"), (10_000, "unpacks to more than 10,000 bytes")):
        monkeypatch.setattr("treegauge.io.archive.MOST_BYTES", most)
        with pytest.raises(ModelError, match=problem):
            load_model(path)
    monkeypatch.undo()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model.json", "{}")
        with archive.open("lhs.npy", "w") as part:
            np.save(part, np.array([object()]), allow_pickle=True)
    with pytest.raises(ModelError, match="pickle"):
        load_model(path)
