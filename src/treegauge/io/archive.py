"""Model archives: a zip of one JSON document and NumPy arrays; no pickle, bounded, and the same bytes for the same model.

The zip's comment ends in the sha256 of all bytes before it: a zip alone would not notice a change in its dates and attributes.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import ModelError
from treegauge.io.writing import write_bytes

__all__ = ["MOST_BYTES", "archive_schema", "read_archive", "write_archive"]

MOST_BYTES = 1 << 30
"""A model whose parts unpack to more than this is refused."""
_MOST_PARTS = 512
_DOCUMENT = "model.json"
_EPOCH = (1980, 1, 1, 0, 0, 0)
_SEAL = 64
"""Hexadecimal digits of a sha256."""
_UNREADABLE = (
    zipfile.BadZipFile, zlib.error, struct.error, RuntimeError, NotImplementedError, ValueError, KeyError, EOFError,
    IndexError, TypeError, MemoryError, OSError,
)  # fmt: skip


def write_archive(
    path: str | Path, document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], *, compress: bool = True
) -> None:
    """Write ``document`` and ``arrays``; the file appears whole or not at all. Without ``compress`` it is larger, and there
    sooner."""
    parts = {_DOCUMENT: json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1).encode()}
    for name, array in arrays.items():
        buffer = io.BytesIO()
        np.save(buffer, np.ascontiguousarray(array), allow_pickle=False)
        parts[f"{name}.npy"] = buffer.getvalue()
    made = io.BytesIO()
    method = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    with zipfile.ZipFile(made, "w", method) as archive:
        archive.comment = b"sha256 of what stands before: " + b"0" * _SEAL
        for name, content in parts.items():
            member = zipfile.ZipInfo(name, _EPOCH)
            member.compress_type = method
            archive.writestr(member, content)
    body = made.getvalue()[:-_SEAL]
    write_bytes(body + _seal(body), path)


def _seal(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode()


def read_archive(path: str | Path, schema: str, version: int) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The document and the arrays of a model of this schema and version."""
    # Read whole first: an error of the disk is told from one of the content, which may send zipfile to impossible
    # places.
    if os.path.getsize(path) > MOST_BYTES:
        raise ModelError(f"larger than {MOST_BYTES:,} bytes: refused", path=str(path))
    content = Path(path).read_bytes()
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts = _parts(archive, str(path))
        document = dict[str, Any](json.loads(parts.pop(_DOCUMENT).decode()))
        arrays = {name.removesuffix(".npy"): np.load(io.BytesIO(content), allow_pickle=False) for name, content in parts.items()}
    except _UNREADABLE as error:
        raise ModelError(
            f"not a readable model file ({error})", path=str(path), advice="The file is damaged or no model; write it again."
        ) from None
    found = document.get("schema"), document.get("version")
    if found != (schema, version):
        raise ModelError(
            f"a model of schema {found[0]!r} version {found[1]!r}; this treegauge reads {schema!r} version {version}",
            path=str(path),
            advice="Make the model again with this version, or read it with the version that wrote it.",
        )
    if content[-_SEAL:] != _seal(content[:-_SEAL]):
        raise ModelError(
            "its sha256 is not the one it was written with", path=str(path), advice="The file is damaged; write it again."
        )
    return document, arrays


def archive_schema(path: str | Path) -> str:
    """The schema of a model archive, from its first bytes; empty if it is none."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open(_DOCUMENT) as stream:
            found = re.match(rb'\{\s*"schema":\s*"([^"]*)"', stream.read(200))
    except _UNREADABLE:
        return ""
    return found[1].decode() if found else ""


def _parts(archive: zipfile.ZipFile, path: str) -> dict[str, bytes]:
    members = archive.infolist()
    if len(members) > _MOST_PARTS or sum(member.file_size for member in members) > MOST_BYTES:
        raise ModelError(f"unpacks to more than {MOST_BYTES:,} bytes or {_MOST_PARTS} parts: refused", path=path)
    parts: dict[str, bytes] = {}
    left = MOST_BYTES
    for member in members:
        # The declared size may lie, so what is read is bounded too.
        with archive.open(member) as stream:
            parts[member.filename] = stream.read(left + 1)
        left -= len(parts[member.filename])
        if left < 0:
            raise ModelError(f"unpacks to more than {MOST_BYTES:,} bytes: refused", path=path)
    return parts
