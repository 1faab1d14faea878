"""Pretrained transformers as encoders of words, through the library transformers (extra ``[encoder]``).

A model file holds the configuration and the tokeniser of an encoder as text, and its weights as arrays: it is read without a
network, and nothing in it is executed. Sentences with more sub-words than the encoder takes are read in windows that overlap by
half.
"""

from __future__ import annotations

import importlib
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.alignment.words import plain_word
from treegauge.errors import MissingExtra, UsageError, check_name
from treegauge.neural.backend import torch_module
from treegauge.trees.columns import Int64

FAMILIES = ("albert", "bert", "camembert", "deberta-v2", "distilbert", "electra", "modernbert", "mpnet", "roberta", "xlm-roberta")
"""The kinds of encoders that are used."""
MOST_WEIGHTS = 450_000_000
"""A model file cannot hold more."""
LONGEST_WINDOW = 510
"""The most sub-words of a window; attention is quadratic in it."""
_FROM_PADDING = ("camembert", "mpnet", "roberta", "xlm-roberta")
"""The kinds whose positions are counted from the number of the padding, which is 1 or larger."""
_DROPPED = ("auto_map", "architectures", "id2label", "label2id", "dtype", "torch_dtype", "transformers_version")


class Windows(NamedTuple):
    """The sub-words of a batch: ``inputs`` (windows, longest) with -1 for padding, and for each sub-word its ``place`` in the
    flattened inputs and the number of its ``word`` among all words."""

    inputs: Int64
    place: Int64
    word: Int64


NO_WINDOWS = Windows(np.zeros((0, 0), np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64))


@dataclass(frozen=True)
class PretrainedEncoder:
    """An encoder without its weights: ``config`` and ``tokeniser`` are JSON, ``before`` and ``after`` the special sub-words around
    a sentence, ``unknown`` that of a word without sub-words, ``longest`` the most sub-words of a window, special ones aside."""

    config: str
    tokeniser: str
    before: tuple[int, ...]
    after: tuple[int, ...]
    unknown: int
    longest: int

    def build(self) -> Any:
        """The module of transformers with random weights; gives the outputs of the last layer."""
        transformers = transformers_module()
        plain = json.loads(self.config)
        encoder = transformers.AutoModel.from_config(transformers.AutoConfig.for_model(plain.pop("model_type"), **plain))
        if getattr(encoder, "pooler", None) is not None:
            encoder.pooler = None
        return encoder

    @cached_property
    def tokenizer(self) -> Any:
        """The tokeniser, made from its text."""
        return importlib.import_module("tokenizers").Tokenizer.from_str(self.tokeniser)

    def sub_words(self, words: Sequence[str]) -> list[Int64]:
        """The sub-words of each word, which has at least one."""
        plain = [[plain_word(word)] for word in words]
        found = self.tokenizer.encode_batch(plain, is_pretokenized=True, add_special_tokens=False)
        return [np.array(each.ids[: self.longest] or [self.unknown], np.int64) for each in found]

    def windows(self, sentences: Sequence[Sequence[Int64]]) -> Windows:
        """The windows of sentences, given as sub-words word by word. A sub-word counts in the window whose middle is nearest."""
        rows: list[list[int]] = []
        at: list[tuple[Int64, Int64]] = []
        for sentence in sentences:
            pieces = np.concatenate(sentence)
            size = len(pieces)
            begins = np.array([*range(0, size - self.longest, max(1, self.longest // 2)), max(0, size - self.longest)])
            middle = np.abs(begins[:, None] + (min(size, self.longest) - 1) / 2 - np.arange(size))
            window = middle.argmin(axis=0)
            at.append((len(rows) + window, len(self.before) + np.arange(size) - begins[window]))
            rows += [[*self.before, *pieces[i : i + self.longest].tolist(), *self.after] for i in begins.tolist()]
        inputs = np.full((len(rows), max(map(len, rows))), -1, np.int64)
        for row, values in enumerate(rows):
            inputs[row, : len(values)] = values
        row, column = (np.concatenate(each) for each in zip(*at, strict=True))
        sizes = [len(pieces) for sentence in sentences for pieces in sentence]
        return Windows(inputs, row * inputs.shape[1] + column, np.repeat(np.arange(len(sizes)), sizes))


def transformers_module() -> Any:
    """The module transformers, or :class:`~treegauge.errors.MissingExtra` if it is not installed."""
    try:
        return importlib.import_module("transformers")
    except ImportError:
        raise MissingExtra("a pretrained encoder", "encoder") from None


def read_encoder(name: str) -> tuple[PretrainedEncoder, dict[str, NDArray[np.float16]]]:
    """The encoder in a folder, or of that name on the hub, and its weights."""
    transformers, torch = transformers_module(), torch_module()
    messages = transformers.utils.logging
    shown = messages.get_verbosity(), messages.is_progress_bar_enabled()
    messages.set_verbosity_error()
    hub = logging.getLogger("huggingface_hub")  # which tells of each attempt to reach a network
    level = hub.level
    hub.setLevel(logging.ERROR)
    messages.disable_progress_bar()
    try:
        config = transformers.AutoConfig.from_pretrained(name)
        check_name("kind of encoder", config.model_type, FAMILIES)
        tokenizer = transformers.AutoTokenizer.from_pretrained(name, use_fast=True, add_prefix_space=True)
        module = transformers.AutoModel.from_pretrained(name, dtype=torch.float32)
    except (OSError, ValueError, ImportError) as error:
        reason = str(error).strip().split("\n")[0]
        where = (
            "the folder holds no encoder that transformers reads"
            if Path(name).is_dir()
            else ("there is no such folder, and no encoder of that name could be fetched from the hub")
        )
        raise UsageError(f"{name}: {where}: {reason}\n  Without a network, give a folder written by save_pretrained.") from None
    finally:
        hub.setLevel(level)
        messages.set_verbosity(shown[0])
        messages.enable_progress_bar() if shown[1] else None
    made = tokenizer([["a"]], is_split_into_words=True)
    ids, words = made["input_ids"][0], made.word_ids(0)
    inner = [i for i, word in enumerate(words) if word is not None] or [len(ids)]
    before, after = ids[: inner[0]], ids[inner[-1] + 1 :]
    first = max(1, int(config.pad_token_id or 0)) + 1 if config.model_type in _FROM_PADDING else 0
    positions = int(getattr(config, "max_position_embeddings", 2 * LONGEST_WINDOW)) - first
    document = {
        "config": _plain_config(config.to_dict()),
        "tokeniser": tokenizer.backend_tokenizer.to_str(),
        "before": before,
        "after": after,
        "unknown": tokenizer.unk_token_id if tokenizer.unk_token_id is not None else ids[inner[0]],
        "longest": min(LONGEST_WINDOW, positions - len(before) - len(after)),
    }
    weights = {name: weight for name, weight in module.state_dict().items() if not name.startswith("pooler.")}
    size = sum(weight.numel() for weight in weights.values())
    if size > MOST_WEIGHTS:
        raise UsageError(f"{name}: {size:,} weights are too many for a model file; the most is {MOST_WEIGHTS:,}")
    return encoder_of(document), {key: weight.numpy().astype(np.float16) for key, weight in weights.items()}


def _plain_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that shape the network, without those that would load code or weights from elsewhere."""
    return {
        key: _plain_config(value) if isinstance(value, dict) else value  # pyright: ignore[reportUnknownArgumentType]
        for key, value in config.items()
        if not key.startswith("_") and key not in _DROPPED and "implementation" not in key and "quantization" not in key
    }


def encoder_of(found: Mapping[str, Any]) -> PretrainedEncoder:
    """The encoder in the document of a model file; :class:`ValueError` if it is not one that we would write."""
    config = _plain_config(found["config"])
    if config["model_type"] not in FAMILIES:
        raise ValueError(f"an encoder of kind {config['model_type']!r}")
    _check_sizes(config)
    before, after = tuple(found["before"]), tuple(found["after"])
    for number in (*before, *after, found["unknown"]):
        if type(number) is not int or not 0 <= number < config["vocab_size"]:
            raise ValueError(f"the sub-word {number!r} is not in the vocabulary")
    if type(found["longest"]) is not int or not 1 <= found["longest"] <= LONGEST_WINDOW or not isinstance(found["tokeniser"], str):
        raise ValueError(f"a window of {found['longest']} sub-words")
    made = PretrainedEncoder(json.dumps(config), found["tokeniser"], before, after, found["unknown"], found["longest"])
    try:
        largest = max(made.tokenizer.get_vocab().values())
    except Exception as error:  # tokenizers raises plain exceptions
        raise ValueError(f"its tokeniser cannot be read: {error}") from None
    if largest >= config["vocab_size"]:
        raise ValueError("the tokeniser has more sub-words than the encoder")
    return made


def _check_sizes(value: Any, key: str = "") -> None:
    """Refuse sizes that no encoder has, before anything is built."""
    if isinstance(value, dict):
        for name, inner in value.items():  # pyright: ignore[reportUnknownVariableType]
            _check_sizes(inner, str(name))  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(value, list):
        for inner in value:  # pyright: ignore[reportUnknownVariableType]
            _check_sizes(inner, key)
    elif isinstance(value, int) and abs(value) > (128 if "layer" in key and not key.startswith("layer_norm") else 1 << 20):
        raise ValueError(f"the encoder's {key} is {value:,}")
