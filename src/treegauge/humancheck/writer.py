"""Judgements on their way to the store: whatever waits is stored in one transaction.

A commit costs a sync of the disk, some milliseconds, however much is in it; so ten annotators who answer at once wait for one
sync, not for ten. Nobody is told that a judgement is stored before it is.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple

from treegauge.errors import TreegaugeError, WriteError
from treegauge.humancheck.records import Judgement
from treegauge.humancheck.store import Store

__all__ = ["Writer"]

_MOST_TOGETHER = 200


class _Job(NamedTuple):
    """A judgement and the words of its sentence, or None to read only; and whom to tell."""

    judgement: Judgement | None
    words: Sequence[str]
    told: asyncio.Future[str]


class Writer:
    """A thread that stores judgements; ``hear`` is called in the event loop with every new entry of the log, others' included."""

    def __init__(self, store: Store, seen: int, hear: Callable[[list[Judgement]], None]) -> None:
        self._store, self._seen, self._hear = store, seen, hear
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._run, name="judgements", daemon=True)
        self._thread.start()

    async def append(self, judgement: Judgement, words: Sequence[str]) -> str:
        """Store a judgement; gives what became of it when it is safe on the disk."""
        return await self._put(judgement, words)

    async def refresh(self) -> None:
        """Hear what others have put into the store."""
        await self._put(None, ())

    async def _put(self, judgement: Judgement | None, words: Sequence[str]) -> str:
        told: asyncio.Future[str] = self._loop.create_future()
        self._jobs.put(_Job(judgement, words, told))
        return await told

    def close(self) -> None:
        """Store what waits, then stop."""
        self._jobs.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            jobs = [job]
            stopping = False
            while len(jobs) < _MOST_TOGETHER and not self._jobs.empty():
                further = self._jobs.get()
                if further is None:
                    stopping = True
                    break
                jobs.append(further)
            self._do(jobs)
            if stopping:
                return

    def _do(self, jobs: list[_Job]) -> None:
        try:
            outcomes, news = self._stored(jobs)
        except Exception as error:
            if len(jobs) > 1:
                # One of them may be the trouble: each on its own, so that no one else's is lost.
                for job in jobs:
                    self._do([job])
                return
            trouble = error if isinstance(error, TreegaugeError) else WriteError(f"the judgement was not stored: {error}")
            self._loop.call_soon_threadsafe(self._fail, jobs[0], trouble)
            return
        self._loop.call_soon_threadsafe(self._tell, jobs, outcomes, news)

    def _stored(self, jobs: list[_Job]) -> tuple[list[str], list[Judgement]]:
        judgements = [job.judgement for job in jobs if job.judgement is not None]
        words = {job.judgement.bracket.sentence: job.words for job in jobs if job.judgement is not None}
        if judgements:
            outcomes, news = self._store.append_and_read(judgements, words, self._seen)
        else:
            outcomes, news = [], self._store.since(self._seen)
        self._seen = max((judgement.seq for judgement in news), default=self._seen)
        told = iter(outcomes)
        return ["" if job.judgement is None else next(told) for job in jobs], news

    def _tell(self, jobs: list[_Job], outcomes: list[str], news: list[Judgement]) -> None:
        try:
            self._hear(news)
        finally:
            for job, outcome in zip(jobs, outcomes, strict=True):
                if not job.told.done():
                    job.told.set_result(outcome)

    def _fail(self, job: _Job, error: Exception) -> None:
        if not job.told.done():
            job.told.set_exception(error)
