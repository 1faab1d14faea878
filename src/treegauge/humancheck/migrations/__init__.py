"""The history of the store's tables, for alembic."""

from __future__ import annotations
