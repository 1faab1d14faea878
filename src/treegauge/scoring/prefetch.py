"""Items that a separate thread makes in advance, such as blocks of trees that are read while others are scored."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

ItemT = TypeVar("ItemT")


class Prefetch(Generic[ItemT]):
    """Items made in a thread, a few ahead of the consumer."""

    def __init__(self, make: Callable[[], Iterator[ItemT]], most_ahead: int = 2) -> None:
        self._queue: queue.Queue[ItemT | BaseException | None] = queue.Queue(most_ahead)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._fill, args=(make,), daemon=True)
        self._thread.start()

    def _fill(self, make: Callable[[], Iterator[ItemT]]) -> None:
        try:
            for item in make():
                if not self._put(item):
                    return
            self._put(None)
        except BaseException as error:
            self._put(error)

    def _put(self, item: ItemT | BaseException | None) -> bool:
        """Put an item into the queue; False if the consumer has stopped."""
        while not self._stopped.is_set():
            try:
                self._queue.put(item, timeout=0.1)
            except queue.Full:
                continue
            return True
        return False

    def take(self) -> ItemT | None:
        """The next item, or None after the last; an error in making it is raised here."""
        item = self._queue.get()
        if item is None or isinstance(item, BaseException):
            self._queue.put(item)  # a further request gets the same answer
        if isinstance(item, BaseException):
            raise item
        return item

    def close(self) -> None:
        """Stop the thread, and wait for it."""
        self._stopped.set()
        self._thread.join()
