"""Reports and pictures for people: pages, tables, figures, tree diffs, explanations."""

from __future__ import annotations
