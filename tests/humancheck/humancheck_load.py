"""People who answer as fast as they can, and who send each answer until it is acknowledged."""

from __future__ import annotations

import http.client
import json
import os
import random
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from processes import running_process

from treegauge.humancheck.judgements import Judgement
from treegauge.humancheck.store import Store

HERE = Path(__file__).parent
KILLS = 100


class Served(NamedTuple):
    """A server that starts again when told to: its links, the questions' keys, and the process that prints which one serves."""

    links: list[str]
    keys: list[str]
    process: subprocess.Popen[str]

    def serving(self) -> int:
        """The next process that serves, as soon as there is one."""
        assert self.process.stdout is not None
        return int(self.process.stdout.readline())

    def end(self, process: int, number: signal.Signals) -> None:
        """Send the process that serves a signal, and wait until it is dead."""
        assert self.process.stdout is not None
        os.kill(process, number)
        assert self.process.stdout.readline() == "\n"

    def go_on(self) -> None:
        """Let the next one serve."""
        assert self.process.stdin is not None
        print(file=self.process.stdin, flush=True)


@contextmanager
def served(location: str, annotators: int) -> Iterator[Served]:
    command = [sys.executable, str(HERE / "humancheck_server.py"), location, str(annotators)]
    with running_process(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=HERE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield Served(json.loads(process.stdout.readline()), json.loads(process.stdout.readline()), process)
        finally:
            process.stdin.close()
            process.wait(timeout=60)


class Annotator(threading.Thread):
    """Answers one question after the other; ``acknowledged`` are the ids that were, ``retries`` how often one was sent again."""

    def __init__(self, link: str, keys: Sequence[str], stop: threading.Event | None = None) -> None:
        super().__init__(daemon=True)
        self.link, self.keys, self.stop = urlsplit(link), keys, stop
        self.acknowledged: dict[str, tuple[str, str]] = {}
        self.sent: set[str] = set()
        self.seconds: list[float] = []
        self.retries = 0
        self._connection: http.client.HTTPConnection | None = None

    def run(self) -> None:
        for number, key in enumerate(self.keys):
            if self.stop is not None and self.stop.is_set():
                break
            name = secrets.token_hex(16)
            verdict = ("accepted", "rejected", "unsure", "skipped")[number % 4]
            self.sent.add(name)
            body = json.dumps({"id": name, "question": key, "verdict": verdict}).encode()
            begin = time.perf_counter()
            while not self._send(body):
                self.retries += 1
            self.seconds.append(time.perf_counter() - begin)
            self.acknowledged[name] = (key, verdict)
        if self._connection is not None:
            self._connection.close()

    def _send(self, body: bytes) -> bool:
        try:
            if self._connection is None:
                self._connection = http.client.HTTPConnection(self.link.hostname or "", self.link.port, timeout=30)
            self._connection.request("POST", self.link.path + "judge", body, {"Content-Type": "application/json"})
            answer = self._connection.getresponse()
            answer.read()
        except (OSError, http.client.HTTPException):
            if self._connection is not None:
                self._connection.close()
            self._connection = None
            return False
        assert answer.status == 200, answer.status
        return True


def assert_all_there(stored: list[Judgement], annotators: list[Annotator]) -> None:
    """What was acknowledged is there as it was said, once; and nothing is there that nobody said."""
    by_id = {judgement.id: judgement for judgement in stored}
    assert len(by_id) == len(stored)
    acknowledged = {name: said for annotator in annotators for name, said in annotator.acknowledged.items()}
    lost = set(acknowledged) - set(by_id)
    assert not lost
    assert set(by_id) <= {name for annotator in annotators for name in annotator.sent}
    assert all((by_id[name].bracket.key, by_id[name].verdict) == said for name, said in acknowledged.items())
    times_said = Counter((judgement.annotator, judgement.bracket) for judgement in stored)
    assert set(times_said.values()) == {1}


EACH = 300
"""How many judgements each of the crowd posts; ``bench/humancheck.py`` has ten annotators post 1,000 each."""


def crowd(location: str) -> None:
    """Ten annotators post judgements as fast as they can."""
    with served(location, 10) as page:
        page.serving()
        annotators = [Annotator(link, page.keys[:EACH]) for link in page.links]
        for annotator in annotators:
            annotator.start()
        for annotator in annotators:
            annotator.join(300)
    with Store(location) as store:
        stored = store.since(0)
    assert len(stored) == 10 * EACH
    assert Counter(judgement.annotator for judgement in stored) == {f"annotator {number}": EACH for number in range(10)}
    assert_all_there(stored, annotators)
    assert sum(annotator.retries for annotator in annotators) == 0


ENDINGS = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP)


def kill_again_and_again(location: str, kills: int, folder: Path) -> None:
    """Four annotators answer as fast as they can while the process that serves them is ended, each time at another moment.

    After SIGTERM and SIGHUP a copy of the one file of a SQLite store, without its ``-wal``, has every acknowledged answer.
    """
    rng = random.Random(1)
    stop = threading.Event()
    with served(location, 4) as page:
        annotators = [Annotator(link, page.keys, stop) for link in page.links]
        for annotator in annotators:
            annotator.start()
        for kill in range(kills):
            process = page.serving()
            before = sum(len(annotator.acknowledged) for annotator in annotators)
            deadline = time.monotonic() + 30
            # At some moment after it has begun to answer: under load, in the middle of whatever it does.
            while sum(len(annotator.acknowledged) for annotator in annotators) == before and time.monotonic() < deadline:
                time.sleep(0.001)
            time.sleep(rng.random() * 0.04)
            ending = ENDINGS[kill % len(ENDINGS)]
            page.end(process, ending)
            if ending != signal.SIGKILL and "://" not in location:
                assert_copy_is_complete(Path(location), annotators, folder)
            page.go_on()
        page.serving()
        stop.set()
        for annotator in annotators:
            annotator.join(60)
        assert not any(annotator.is_alive() for annotator in annotators)
    with Store(location) as store:
        assert_all_there(store.since(0), annotators)
    assert sum(annotator.retries for annotator in annotators) > kills / 3, "many endings must have hit somebody's answer"
    assert all(len(annotator.acknowledged) < len(page.keys) for annotator in annotators), "load must have lasted to the end"


def assert_copy_is_complete(store: Path, annotators: list[Annotator], folder: Path) -> None:
    """A copy of the one file has what was acknowledged; nobody serves meanwhile."""
    acknowledged = {name for annotator in annotators for name in list(annotator.acknowledged)}
    copy = folder / "copy.sqlite"
    copy.write_bytes(store.read_bytes())
    with Store(copy) as opened:
        assert acknowledged <= {judgement.id for judgement in opened.since(0)}
