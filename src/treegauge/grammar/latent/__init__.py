"""Latent-variable grammars: labels split into subcategories that no tree shows (Matsuzaki et al. 2005, Petrov et al. 2006)."""

from __future__ import annotations

from treegauge.grammar.latent.latent_model import LatentModel, ParseSettings, load_latent, save_latent
from treegauge.grammar.latent.subcategories import describe, to_pcfg

__all__ = ["LatentModel", "ParseSettings", "describe", "load_latent", "save_latent", "to_pcfg"]
