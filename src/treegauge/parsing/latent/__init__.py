"""Parsing with latent-variable grammars: coarse-to-fine passes, posteriors, and objectives over them."""

from __future__ import annotations

from treegauge.parsing.latent.latent_forest import LatentForest
from treegauge.parsing.latent.latent_parser import LatentParser

__all__ = ["LatentForest", "LatentParser"]
