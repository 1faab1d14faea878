"""Progress on stderr, by rich on a terminal: a bar after the first second of work, or a line that says how far it is."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

import click

_SECONDS_BEFORE_BAR = 1.0


@contextmanager
def progress(title: str, total: int | None, unit: str = "sentences") -> Generator[Callable[..., None]]:
    """A progress bar over ``total`` units of work, None if their number is not known.

    Yields the function to call after each unit, or with a number after several.
    """
    if not sys.stderr.isatty():
        yield _ignore_progress
        return
    bar = _Bar(title, total, unit)
    try:
        yield bar.advance
    finally:
        bar.close()


@contextmanager
def status_line(*, quiet: bool) -> Generator[Callable[[str], None]]:
    """Yields a function that shows how far a long computation is: on a terminal its line replaces the last one."""
    if quiet:
        yield lambda line: None
    elif not sys.stderr.isatty():
        yield lambda line: click.echo(line, err=True)
    else:
        from rich.console import Console
        from rich.text import Text

        with Console(stderr=True).status("") as status:
            yield lambda line: status.update(Text(line))


def _ignore_progress(count: int = 1) -> None:
    """Ignore progress."""


class _Bar:
    """A count that becomes a progress bar (by rich) after a second of work."""

    def __init__(self, title: str, total: int | None, unit: str) -> None:
        self.title, self.total, self.unit = title, total, unit
        self.done, self.started, self.shown = 0, time.monotonic(), None

    def advance(self, count: int = 1) -> None:
        self.done += count
        if self.shown is None and time.monotonic() - self.started > _SECONDS_BEFORE_BAR:
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
            redirect_stdout=False,  # trees that are written meanwhile belong on standard output
        )
        bar.start()
        self.shown = bar, bar.add_task(self.title, total=self.total)

    def close(self) -> None:
        if self.shown is not None:
            self.shown[0].stop()
