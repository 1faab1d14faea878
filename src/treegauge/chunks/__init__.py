"""Chunks: candidates, Abney's models 0 to S, the entropy of recognising them, and conlleval's scores."""

from __future__ import annotations
