"""Models of trained networks: settings, vocabulary and weights, and their file format.

A file holds the weights in half precision. Reading builds nothing before every setting and every array has been checked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import UsageError, check_name
from treegauge.grammar.training_sentences import UInt64, stored_hashes
from treegauge.io.archive import read_archive, refusing_damaged_model, write_archive
from treegauge.neural.backend import torch_module
from treegauge.neural.pretrained_encoder import PretrainedEncoder, encoder_of
from treegauge.neural.sentence_batches import Vocabulary
from treegauge.neural.word_vectors import MOST_DIMENSIONS

SCHEMA = "treegauge-network"
VERSION = 2
DEVICES = ("auto", "cpu", "cuda")
_WEIGHTS = "weights."
"""The beginning of the names of weights among the arrays of a file."""
_MOST_PARTS = 2048
_MOST, _MOST_LAYERS = 1 << 16, 64
"""No size of a network, nor the number of its epochs, is larger than the first, nor the number of its layers than the second."""


@dataclass(frozen=True)
class NetworkSettings:
    """Settings of a network and of its training.

    * ``words``, ``characters``: the sizes of their vectors; ``convolutions``: the widths of convolutions over characters;
      ``vectors``: the size of given vectors of words, 0 if there are none.
    * ``layers``, ``hidden``: the number of bidirectional LSTM layers, and their size in each direction; ``spans``: the size of the
      layer between them and the scores.
    * ``dropout``: the share of values that are set to 0 in training; ``unknown``: a word seen n times in training is read as an
      unknown one with probability ``unknown`` / (``unknown`` + n).
    * ``rate``: the largest learning rate, ``encoder_rate`` that of a pretrained encoder; ``tokens``: the number of words in a
      batch; ``tag_weight``: the weight of the tags' loss.
    * ``epochs``: how often all trees are seen ``passes`` times, and then the slice is parsed; ``passes`` = 0 is as many as make an
      epoch of at least 3,000 trees.
    """

    words: int = 256
    characters: int = 96
    convolutions: tuple[int, ...] = (3, 5)
    layers: int = 3
    hidden: int = 400
    spans: int = 400
    dropout: float = 0.33
    unknown: float = 0.8375
    rate: float = 2e-3
    tokens: int = 800
    epochs: int = 24
    passes: int = 0
    tag_weight: float = 0.25
    seed: int = 1
    vectors: int = 0
    encoder_rate: float = 3e-5

    def __post_init__(self) -> None:
        whole = ("words", "characters", "layers", "hidden", "spans", "tokens", "epochs")
        sizes: list[tuple[str, Any]] = [(name, getattr(self, name)) for name in whole]
        for name, value in [*sizes, *(("convolutions", width) for width in self.convolutions)]:
            most = _MOST_LAYERS if name == "layers" else _MOST
            if not isinstance(value, int) or not 1 <= value <= most:
                raise UsageError(f"{name} must be a whole number from 1 to {most:,}, not {value!r}")
        numbers = ("dropout", 0.99), ("unknown", 1e6), ("rate", 1.0), ("encoder_rate", 1.0), ("tag_weight", 1e3), ("passes", _MOST)
        for name, most in (*numbers, ("vectors", MOST_DIMENSIONS)):
            if not 0 <= getattr(self, name) <= most:
                raise UsageError(f"{name} must be a number from 0 to {most:g}, not {getattr(self, name)!r}")
        if not 0 <= self.seed < 1 << 62:
            raise UsageError(f"seed must be a whole number of at least 0, not {self.seed!r}")


QUICK = NetworkSettings(words=128, characters=64, layers=2, hidden=200, spans=250, dropout=0.2, epochs=28)
"""A smaller network, for training and parsing on a CPU."""
WITH_ENCODER = NetworkSettings(words=128, characters=64, layers=1, epochs=12)
"""The settings for a network over a pretrained encoder."""


@dataclass(frozen=True, eq=False)
class NetworkModel:
    """A trained network. ``lam`` is the price of a node chosen in training, ``trained_on`` the SHA-256 of the training trees,
    ``notes`` a record of the training, ``sentences`` the hashes of the training sentences, ``vectors`` the given vectors of words,
    and ``encoder`` a pretrained encoder."""

    vocabulary: Vocabulary
    settings: NetworkSettings
    weights: Mapping[str, NDArray[np.float16]]
    lam: float
    trained_on: str = ""
    notes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    sentences: UInt64 = field(default_factory=lambda: np.zeros(0, np.uint64))
    vectors: NDArray[np.float16] = field(default_factory=lambda: np.zeros((0, 0), np.float16))
    encoder: PretrainedEncoder | None = None
    derived: dict[str, Any] = field(default_factory=dict[str, Any], repr=False)
    """A cache of networks, by device."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the model without its cache."""
        return NetworkModel, tuple(getattr(self, each.name) for each in fields(self) if each.name != "derived")

    def __repr__(self) -> str:
        size = sum(array.size for array in self.weights.values())
        return f"<NetworkModel of {size:,} weights, {len(self.vocabulary.labels)} labels, lam {self.lam:g}>"

    def network(self, device: str = "auto") -> Any:
        """The network on a device, for parsing."""
        device = chosen_device(device)
        if device not in self.derived:
            from treegauge.neural.span_network import SpanNetwork, load_vectors, load_weights

            network = SpanNetwork(self.settings, self.vocabulary.sizes, self.encoder)
            self.derived[device] = load_vectors(load_weights(network, self.weights), self.vectors).to(device).eval()
        return self.derived[device]


def chosen_device(name: str) -> str:
    """``cpu`` or ``cuda`` for the name of a device; ``auto`` is a GPU if torch can use one."""
    check_name("device", name, DEVICES)
    available = name != "cpu" and bool(torch_module().cuda.is_available())
    if name == "cuda" and not available:
        raise UsageError('torch finds no GPU that it can use: give device="cpu", or install a torch with CUDA')
    return "cuda" if available else "cpu"


def half_precision(weights: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[np.float16]]:
    """The weights as files hold them."""
    with np.errstate(over="ignore"):
        made = {name: array.astype(np.float16) for name, array in weights.items()}
    if not all(np.isfinite(array).all() for array in made.values()):
        raise UsageError("training diverged: a weight is too large or not a number; try a smaller learning rate")
    return made


def save_network(model: NetworkModel, path: str | Path) -> None:
    """Write a model to a file."""
    document = {
        "schema": SCHEMA,
        "version": VERSION,
        "trained_on": model.trained_on,
        "lam": model.lam,
        "settings": asdict(model.settings),
        "vocabulary": asdict(model.vocabulary),
        "notes": dict(model.notes),
    }
    if model.encoder is not None:
        document["encoder"] = {**asdict(model.encoder), "config": json.loads(model.encoder.config)}
    arrays = {"sentences": model.sentences, **({"vectors": model.vectors} if len(model.vectors) else {})}
    write_archive(path, document, {**arrays, **{_WEIGHTS + name: array for name, array in model.weights.items()}})


def load_network(path: str | Path) -> NetworkModel:
    """The model in a file; :class:`~treegauge.errors.ModelError` if it is damaged or of another version."""
    from treegauge.neural.span_network import weight_shapes

    document, arrays = read_archive(path, SCHEMA, VERSION, most_parts=_MOST_PARTS)
    with refusing_damaged_model(path):
        settings, vocabulary = _settings(document["settings"]), _vocabulary(document["vocabulary"])
        encoder = encoder_of(document["encoder"]) if document.get("encoder") else None
        weights = {name.removeprefix(_WEIGHTS): array for name, array in arrays.items() if name.startswith(_WEIGHTS)}
        vectors = arrays.get("vectors", np.zeros((0, 0), np.float16))
        shapes = {**weight_shapes(settings, vocabulary.sizes, encoder), "vectors": (len(vocabulary.vectors), settings.vectors)}
        _check_weights({**weights, "vectors": vectors}, shapes)
        lam = float(document["lam"])
        if not 0 <= lam <= 1:
            raise ValueError(f"lam is {lam}")
        notes, hashes = dict[str, Any](document["notes"]), stored_hashes(arrays)
        return NetworkModel(vocabulary, settings, weights, lam, str(document["trained_on"]), notes, hashes, vectors, encoder)


def _settings(found: Mapping[str, Any]) -> NetworkSettings:
    plain: dict[str, Any] = {**found, "convolutions": tuple(found["convolutions"])}
    return NetworkSettings(**plain)


def _vocabulary(found: Mapping[str, Any]) -> Vocabulary:
    lists = {name: tuple(found[name]) for name in ("words", "characters", "tags", "labels")}
    lists["vectors"] = tuple(found.get("vectors", ()))
    for name, values in lists.items():
        if not all(isinstance(value, str) for value in values) or len(set(values)) != len(values):
            raise ValueError(f"the {name} are not different strings")
    root = found["root"]
    if not lists["tags"] or not lists["labels"] or not (root is None or isinstance(root, str)):
        raise ValueError("tags, labels or root are missing")
    return Vocabulary(**lists, root=root)


def _check_weights(weights: Mapping[str, NDArray[Any]], wanted: Mapping[str, tuple[int, ...]]) -> None:
    """Check that there is a finite array of the right shape for each weight of the network."""
    if set(weights) != set(wanted):
        raise ValueError(f"weights are missing or unknown: {', '.join(sorted(set(weights) ^ set(wanted))[:3])}")
    for name, array in weights.items():
        if array.shape != wanted[name] or array.dtype != np.float16 or not np.isfinite(array).all():
            raise ValueError(f"the weights {name} are not finite numbers of shape {wanted[name]}")
