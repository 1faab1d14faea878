"""Training latent-variable grammars by split-merge EM."""

from __future__ import annotations

from treegauge.learning.latent.latent_training import QUICK, TrainingSettings, train_latent

__all__ = ["QUICK", "TrainingSettings", "train_latent"]
