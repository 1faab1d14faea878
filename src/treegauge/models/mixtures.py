"""Mixture files: the shares of some models and their decoding settings, with the models' names and hashes, or with the models
themselves."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from treegauge.errors import ModelError, UsageError
from treegauge.grammar.model import SHIPPED
from treegauge.io.archive import archive_schema, file_content, read_archive, refusing_damaged_model, write_archive
from treegauge.io.sources import problem_with_name, relative_path
from treegauge.models.loading import MIXTURE, OWN, LoadedModel, load_parser
from treegauge.parsing.mixture import check_shares, mixture_of

VERSION = 1
_DEEPEST = 8
"""So often mixtures can be parts of mixtures."""
_PART = "part."
"""The beginning of the names of arrays that hold the bytes of a model."""


def mix_models(models: Sequence[LoadedModel], shares: Sequence[float] | None = None, lam: float | None = None) -> LoadedModel:
    """The mixture of some models; its training sentences are those of all of them."""
    names = [os.path.normpath(model.name) for model in models]
    if len(set(names)) < len(names):
        twice = max(names, key=names.count)
        raise UsageError(
            f"{twice} is there twice: give it once, with a share of 2 if it counts twice; the text to parse comes last"
        )
    sentences = np.unique(np.concatenate([model.sentences for model in models]))
    return LoadedModel(" + ".join(names), mixture_of({m.name: m.parser for m in models}, shares, lam), {}, sentences)


def save_mixture(
    path: str | Path, names: Sequence[str], shares: Sequence[float], lam: float, *, notes: Mapping[str, Any], bundle: bool = False
) -> None:
    """Write a file that names its models, by paths that begin at its folder; with ``bundle`` it contains them."""
    contents = [file_content(SHIPPED if name == OWN else name) for name in names]
    for name in names if bundle else ():
        if archive_schema(name) == MIXTURE and not read_archive(name, MIXTURE, VERSION)[1]:
            raise UsageError(f"{name} names its models by paths, which would be lost: mix those models, or bundle it, too")
    folder = Path(path).resolve().parent
    places = [name if name == OWN else relative_path(Path(name).resolve(), folder) for name in names]
    parts = [
        {"path": place, "sha256": hashlib.sha256(content).hexdigest()} for place, content in zip(places, contents, strict=True)
    ]
    document = {"schema": MIXTURE, "version": VERSION, "parts": parts, "shares": list(shares), "lam": lam, "notes": dict(notes)}
    held = {f"{_PART}{i}": np.frombuffer(content, np.uint8) for i, content in enumerate(contents)} if bundle else {}
    write_archive(path, document, held)


def load_mixture(path: str | Path, *, device: str = "auto", depth: int = 1) -> LoadedModel:
    """The mixture in a file; :class:`~treegauge.errors.ModelError` if it is damaged, or if a part is missing or was changed."""
    document, arrays = read_archive(path, MIXTURE, VERSION)
    with refusing_damaged_model(path):
        parts = [(str(part["path"]), str(part["sha256"])) for part in document["parts"]]
        shares, lam, notes = [float(share) for share in document["shares"]], float(document["lam"]), dict(document["notes"])
        check_shares(parts, shares)
        if not abs(lam) < 1e9 or depth > _DEEPEST or any(problem_with_name(place) for place, _ in parts):
            raise ValueError("lam is not a number, a part has no name, or mixtures of mixtures are too deep")
        contents = [arrays[f"{_PART}{i}"].tobytes() for i in range(len(parts))] if arrays else None
    with tempfile.TemporaryDirectory(prefix="treegauge-") as folder:
        models: list[LoadedModel] = []
        for number, (place, sha256) in enumerate(parts):
            file = str(SHIPPED) if place == OWN else str(Path(path).resolve().parent / place)
            if contents is not None:
                file = os.path.join(folder, f"{number}-{os.path.basename(place)[-100:]}")
                Path(file).write_bytes(contents[number])
            _check_part(path, file, sha256)
            models.append(load_parser(file, device=device, depth=depth))
    made = mix_models(models, shares, lam)
    return LoadedModel(str(path), made.parser, notes, made.sentences)


def _check_part(path: str | Path, part: str, sha256: str) -> None:
    """Refuse a part that is not where it was, or not what it was, when the mixture was made."""
    advice = "Put it back, or mix again; a bundled mixture contains its parts."
    if not os.path.isfile(part):
        raise ModelError(f"its part {part} is not there", path=str(path), advice=advice)
    if hashlib.sha256(file_content(part)).hexdigest() != sha256:
        raise ModelError(f"its part {part} has been changed since it was mixed", path=str(path), advice=advice)
