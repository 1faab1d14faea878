"""One module per change of the tables, each following the one it names as ``down_revision``."""

from __future__ import annotations
