"""Metrics: gold and test trees in, rows of counts out."""

from __future__ import annotations
