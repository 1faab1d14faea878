"""One module a change of the tables, each after the one it names as ``down_revision``."""

from __future__ import annotations
