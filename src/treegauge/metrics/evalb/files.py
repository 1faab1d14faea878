"""Opening files as C's fopen does."""

from __future__ import annotations

import io
import os
from typing import BinaryIO

__all__ = ["open_file"]


def open_file(name: bytes) -> BinaryIO | None:
    """A file's bytes, or ``None`` where it cannot be opened; a directory opens and holds nothing.

    >>> open_file(b"no such file") is None
    True
    """
    try:
        return open(os.fsdecode(name), "rb")
    except IsADirectoryError:
        return io.BytesIO()
    except (OSError, ValueError):
        return None
