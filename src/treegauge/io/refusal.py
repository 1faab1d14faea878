"""How writers say which tree they cannot write."""

from __future__ import annotations

from treegauge.errors import WriteError
from treegauge.trees.treebank import Treebank

__all__ = ["refusal"]


def refusal(bank: Treebank, index: int, problem: str) -> WriteError:
    """The error that tree ``index`` cannot be written, with the place it was read from."""
    return WriteError(f"{bank.place(index)}: {problem}")
