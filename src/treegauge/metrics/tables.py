"""A table as a value: what a breakdown or a comparison gives back, before anybody decides how to show it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Cell", "Table"]

Cell = str | int | float | None
"""What stands in a table: text, a count, a rate (nan: undefined) or nothing."""


@dataclass(frozen=True)
class Table:
    """Named columns and rows of cells; ``notes`` are said below the table.

    ``percent`` names the columns of rates, which are shown times 100; the cells themselves stay fractions at full precision.

    >>> table = Table("By label", ("label", "gold", "recall"), (("NP", 4, 0.75),), percent=("recall",))
    >>> table.to_records()
    [{'label': 'NP', 'gold': 4, 'recall': 0.75}]
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    percent: tuple[str, ...] = ()

    def to_records(self) -> list[dict[str, Any]]:
        """A dict per row; nan becomes None, as JSON wants it."""
        return [dict(zip(self.columns, map(_plain, row), strict=True)) for row in self.rows]

    def column(self, name: str) -> Sequence[Cell]:
        """The cells of one column."""
        index = self.columns.index(name)
        return [row[index] for row in self.rows]


def _plain(cell: Cell) -> Cell:
    return None if isinstance(cell, float) and cell != cell else cell
