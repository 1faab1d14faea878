"""Latent-variable grammars: labels split into subcategories that no tree shows (Matsuzaki et al. 2005, Petrov et al. 2006)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treegauge._lazy import lazy_names

if TYPE_CHECKING:
    from treegauge.grammar.latent.description import describe
    from treegauge.grammar.latent.export import to_pcfg
    from treegauge.grammar.latent.model import LatentModel, ParseSettings, load_latent, save_latent

__all__ = ["LatentModel", "ParseSettings", "describe", "load_latent", "save_latent", "to_pcfg"]

__getattr__ = lazy_names(
    __name__,
    {
        "description": ("describe",),
        "export": ("to_pcfg",),
        "model": ("LatentModel", "ParseSettings", "load_latent", "save_latent"),
    },
)
