"""Model files with wrong content but a correct hash: they are refused, or used without harm."""

from __future__ import annotations

import copy
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.latent.toys import model_of

from treegauge.errors import ModelError, TreegaugeError
from treegauge.grammar.latent.latent_model import SCHEMA, VERSION, load_latent, save_latent
from treegauge.io.archive import read_archive, write_archive
from treegauge.parsing.latent.latent_parser import LatentParser
from treegauge.parsing.parser import Sentence

Parts = tuple[dict[str, Any], dict[str, np.ndarray]]
NUMBERS = (0, -1, 1, 2, 7, 100, 10**6, 2**31 - 1, -(2**31))
COUNTS = (0.0, -1.0, float("nan"), float("inf"), 1e300, 1e-300, -0.5)
PLAIN = (None, 7, "x", [], {}, [1], ["a"], -1, {"a": 1}, [[0, 0, ["x"]]])


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Parts:
    path = tmp_path_factory.mktemp("models") / "m.model"
    save_latent(model_of(seeds=(0, 1)), path)
    return read_archive(path, SCHEMA, VERSION)


def change_array(rng: random.Random, arrays: dict[str, np.ndarray]) -> None:
    name = rng.choice(list(arrays))
    old = arrays[name].copy()
    how = rng.choice(["one", "one", "one", "all", "drop", "cut", "twice", "type", "shape", "order"])
    if how == "drop":
        del arrays[name]
        return
    value = np.array(rng.choice(NUMBERS if old.dtype.kind in "iu" else COUNTS)).astype(old.dtype)
    if how in ("one", "all") and old.size:
        old.reshape(-1)[rng.randrange(old.size) if how == "one" else slice(None)] = value
    made = {
        "cut": old[: len(old) // 2],
        "twice": np.concatenate([old, old]),
        "type": old.astype(rng.choice([np.float64, np.int8, np.uint64, np.complex128, np.bool_])),
        "shape": old.reshape(-1, 1),
        "order": old[rng.sample(range(len(old)), len(old))],
    }
    arrays[name] = made.get(how, old)


def change_document(rng: random.Random, document: dict[str, Any]) -> None:
    name = rng.choice([name for name in document if name not in ("schema", "version")])
    inner, value = document[name], rng.choice(PLAIN)
    if isinstance(inner, list) and inner and rng.random() < 0.5:
        inner[rng.randrange(len(inner))] = value
    elif isinstance(inner, dict) and inner and rng.random() < 0.5:
        inner[rng.choice(list(inner))] = value
    else:
        document[name] = value


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("seed", range(6))
def test_resealed_models_raise_no_foreign_error(parts: Parts, tmp_path: Path, seed: int) -> None:
    """Any change of content gives a model that works, or an error of ours."""
    rng, path, refused = random.Random(seed), tmp_path / "m.model", 0
    for _ in range(50):
        document, arrays = copy.deepcopy(parts[0]), dict(parts[1])
        for _ in range(rng.choice([1, 1, 2])):
            change_array(rng, arrays) if rng.random() < 0.7 else change_document(rng, document)
        write_archive(path, document, arrays)
        try:
            parsed = LatentParser(load_latent(path), kbest=2, posteriors=True).parse(Sentence(("the", "cat", "sat")))
            assert parsed.tree.words == ("the", "cat", "sat")
        except TreegaugeError:
            refused += 1
    assert 20 < refused < 50


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("0_binary_rows", 2**31 - 1),
        ("0_sizes", 30_000),
        ("0_binary_value", 3e38),
        ("0_up", 5),
        ("0_binary_left", 9),
        ("parent", 3),
        ("pair_tag", 0),
        ("kind", 2),
    ],
)
def test_numbers_that_would_lead_a_kernel_astray_are_refused(parts: Parts, tmp_path: Path, name: str, value: float) -> None:
    document, arrays = parts[0], {key: array.copy() for key, array in parts[1].items()}
    arrays[name].reshape(-1)[0] = value
    write_archive(tmp_path / "m.model", document, arrays)
    with pytest.raises(ModelError, match="this file is damaged"):
        load_latent(tmp_path / "m.model")


def test_a_model_without_grammars_is_refused(parts: Parts, tmp_path: Path) -> None:
    write_archive(tmp_path / "m.model", {**parts[0], "grammars": []}, parts[1])
    with pytest.raises(ModelError, match="stated numbers of rounds"):
        load_latent(tmp_path / "m.model")
