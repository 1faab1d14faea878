"""Model archives: a zip file of one JSON document and NumPy arrays, without pickle.

The same model gives the same bytes, and what is unpacked is bounded. The zip's comment ends with the SHA-256 of all bytes before
it, since a zip file does not notice changes in its own dates and attributes. Score files and charts are zip files of arrays, too.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import re
import zipfile
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import FormatError, ModelError, UsageError, refusing_damage, refusing_unreadable
from treegauge.io.writing import write_bytes

MOST_BYTES = 1 << 30
"""A model whose parts unpack to more than this is refused."""
_MOST_PARTS = 512
_DOCUMENT = "model.json"
_EPOCH = (1980, 1, 1, 0, 0, 0)
_SEAL = 64
"""The number of hexadecimal digits of a SHA-256."""
_PLAIN_BYTES, _MOST_RATIO = 8 << 20, 60
"""A file that unpacks to more bytes than the first number, and to more than that many times its own size, is refused: no real model
compresses so well, and as Python objects the content may need twenty times its size."""


def write_archive(
    path: str | Path, document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], *, compress: bool = True
) -> None:
    """Write a document and arrays; the file appears whole or not at all. Without ``compress`` it is larger, but written sooner."""
    parts = {_DOCUMENT: json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1).encode("utf-8", "surrogatepass")}
    comment = b"sha256 of what stands before: " + b"0" * _SEAL
    body = zipped(parts, arrays, compress=compress, comment=comment)[:-_SEAL]
    write_bytes(body + _seal(body), path)


def zipped(parts: Mapping[str, bytes], arrays: Mapping[str, NDArray[Any]], *, compress: bool = True, comment: bytes = b"") -> bytes:
    """A zip file of some parts and some arrays, whose dates are fixed, so that the same ones give the same bytes."""
    made, method = io.BytesIO(), zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    saved = dict(parts)
    for name, array in arrays.items():
        buffer = io.BytesIO()
        np.save(buffer, np.ascontiguousarray(array), allow_pickle=False)
        saved[f"{name}.npy"] = buffer.getvalue()
    with zipfile.ZipFile(made, "w", method) as archive:
        archive.comment = comment
        for name, content in saved.items():
            member = zipfile.ZipInfo(name, _EPOCH)
            member.compress_type = method
            archive.writestr(member, content)
    return made.getvalue()


def _seal(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode()


def read_archive(
    path: str | Path, schema: str, version: int | None, *, most_parts: int = _MOST_PARTS, most_bytes: int | None = None
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The document and the arrays of a model with this schema and version (None: any version, which the caller checks)."""
    # The file is read first, so that an error of the disk is not mistaken for damaged content, on which zipfile fails in many ways.
    most_bytes = most_bytes or MOST_BYTES
    content = file_content(path, most_bytes)
    refuse_scores(content, str(path))
    with refusing_damaged_model(path):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts = _parts(archive, len(content), str(path), most_parts, most_bytes)
        document = dict[str, Any](json.loads(parts.pop(_DOCUMENT).decode("utf-8", "surrogatepass")))
        arrays = {name.removesuffix(".npy"): array_of(part) for name, part in parts.items()}
    found = document.get("schema"), document.get("version")
    if found != (schema, found[1] if version is None else version):
        raise ModelError(
            f"a model of schema {found[0]!r} version {found[1]!r}; this treegauge reads {schema!r} version {version}",
            path=str(path),
            advice="Make the model again with this version, or read it with the version that wrote it."
            if found[0] == schema
            else "This is a model of another kind: treegauge.load and treegauge parse open models of every kind.",
        )
    if content[-_SEAL:] != _seal(content[:-_SEAL]):
        raise ModelError("its sha256 differs from the one stored in it", path=str(path), advice="It is damaged: write it again.")
    return document, arrays


def refuse_scores(beginning: bytes, path: str) -> None:
    """Raise an error if a file, of which this is the beginning, has saved scores, whose first member is scores.json."""
    if beginning.startswith(b"PK") and beginning[30:41] == b"scores.json":
        how = "in Python treegauge.significance.compare_scores(treegauge.Scores.load(a, b))"
        raise FormatError(f"saved scores, not trees or a model\n  Compare them with the option scores of compare, {how}", path=path)


def refusing_damaged_model(path: str | Path) -> AbstractContextManager[None]:
    """:func:`~treegauge.errors.refusing_damage` for what is made of the parts of a model or checkpoint."""
    return refusing_damage(str(path), "a model file", ModelError, advice="Write it again.")


def refusing_damaged_checkpoint(path: str | Path) -> AbstractContextManager[None]:
    """The same for the text of a checkpoint."""
    return refusing_damage(str(path), "a checkpoint", ModelError, advice="Start again (without resume=True).")


def archive_schema(path: str | Path) -> str:
    """The schema of a model archive, from the beginning of its document; empty if the file is not an archive."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open(_DOCUMENT) as stream:
            found = re.match(rb'\{\s*"schema":\s*"([^"]*)"', stream.read(200))
    except Exception:  # of many kinds, see read_archive
        return ""
    return found[1].decode(errors="replace") if found else ""


def refuse_other_run(path: str | Path, found: Mapping[str, Any], wanted: Mapping[str, Any], what: str = "treebank") -> None:
    """Raise an error that names what differs if the settings ``found`` in a checkpoint are not those ``wanted``."""
    other = [name for name in {**found, **wanted} if found.get(name) != wanted.get(name)]
    if other:
        raise UsageError(
            f"{path}: the checkpoint belongs to another run; what differs: {', '.join(other)}.\n"
            f"  Resume with the same {what} and options, or start again (without resume=True)."
        )


def file_content(path: str | Path, most_bytes: int | None = None) -> bytes:
    """The bytes of a file that is not too large to be one of ours."""
    most_bytes = most_bytes or MOST_BYTES
    with refusing_unreadable(str(path)):
        if os.path.getsize(path) > most_bytes:
            raise ModelError(f"larger than {most_bytes:,} bytes: refused", path=str(path))
        return Path(path).read_bytes()


def refuse_bomb(archive: zipfile.ZipFile, size: int, path: str, plain: int, ratio: int) -> None:
    """Refuse a zip file of ``size`` bytes that unpacks to more than ``plain`` bytes, and to more than ``ratio`` times its size."""
    unpacked = sum(member.file_size for member in archive.infolist())
    if unpacked > max(plain, ratio * size):
        raise FormatError(f"it unpacks to {unpacked:,} bytes, {unpacked // max(size, 1):,} times its size: refused", path=path)


def array_of(part: bytes) -> NDArray[Any]:
    """The array stored in a part; its header must describe exactly the bytes that follow."""
    stream = io.BytesIO(part)
    version = np.lib.format.read_magic(stream)
    reader = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, by_columns, dtype = reader(stream)
    begin = stream.tell()
    if dtype.hasobject or dtype.itemsize * math.prod(shape) != len(part) - begin:
        raise ValueError(f"{len(part) - begin} bytes do not hold an array of {dtype} and shape {shape}")
    codes = np.frombuffer(part, np.dtype("u4").newbyteorder(dtype.byteorder), offset=begin) if dtype.kind == "U" else np.zeros(0)
    if codes.max(initial=0) > 0x10FFFF:
        raise ValueError("text with an invalid code point")  # of which Python makes strings on which its own functions fail
    # A copy, since an array over the bytes of the part could not be changed.
    return np.frombuffer(part, dtype, offset=begin).reshape(shape, order="F" if by_columns else "C").copy()


def _parts(archive: zipfile.ZipFile, size: int, path: str, most_parts: int, most_bytes: int) -> dict[str, bytes]:
    members = archive.infolist()
    unpacked = sum(member.file_size for member in members)
    most = min(most_bytes, max(_PLAIN_BYTES, _MOST_RATIO * size))
    if len(members) > most_parts or unpacked > most:
        raise ModelError(f"unpacks to more than {most:,} bytes or {most_parts} parts: refused", path=path)
    parts: dict[str, bytes] = {}
    left = most_bytes
    for member in members:
        # The declared size may be wrong, so the bytes read are bounded, too.
        with archive.open(member) as stream:
            parts[member.filename] = stream.read(min(left, member.file_size) + 1)
        left -= len(parts[member.filename])
        if left < 0:
            raise ModelError(f"unpacks to more than {most_bytes:,} bytes: refused", path=path)
    return parts
