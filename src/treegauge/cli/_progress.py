"""A progress bar on a terminal, after a second, on stderr; nothing elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

__all__ = ["progress"]

_PATIENCE = 1.0


@contextmanager
def progress(title: str, total: int | None, unit: str = "sentences") -> Generator[Callable[..., None]]:
    """Gives a function to call after each unit of work, or with a number after several."""
    if not sys.stderr.isatty():
        yield _nothing
        return
    bar = _Bar(title, total, unit)
    try:
        yield bar.advance
    finally:
        bar.close()


def _nothing(count: int = 1) -> None:
    pass


class _Bar:
    """Counts quietly at first; after a second of work it brings in rich and shows itself."""

    def __init__(self, title: str, total: int | None, unit: str) -> None:
        self.title, self.total, self.unit = title, total, unit
        self.done, self.started, self.shown = 0, time.monotonic(), None

    def advance(self, count: int = 1) -> None:
        self.done += count
        if self.shown is None and time.monotonic() - self.started > _PATIENCE:
            self._show()
        if self.shown is not None:
            bar, task = self.shown
            bar.update(task, completed=self.done)

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn(self.unit),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        bar.start()
        self.shown = bar, bar.add_task(self.title, total=self.total)

    def close(self) -> None:
        if self.shown is not None:
            self.shown[0].stop()
