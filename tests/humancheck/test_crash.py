"""Servers that die and annotators that crowd: no acknowledged judgement is lost, none is there twice."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from pathlib import Path

import pytest
from humancheck_load import Annotator, assert_all_there, crowd, served

from treegauge.humancheck.store import Store

KILLS = 100


@pytest.mark.slow
def test_killing_the_server_again_and_again_loses_and_doubles_nothing(tmp_path: Path) -> None:
    rng = random.Random(1)
    stop = threading.Event()
    with served(str(tmp_path / "j.sqlite"), 4) as page:
        annotators = [Annotator(link, page.keys, stop) for link in page.links]
        for annotator in annotators:
            annotator.start()
        for _ in range(KILLS):
            process = page.serving()
            before = sum(len(annotator.acknowledged) for annotator in annotators)
            deadline = time.monotonic() + 30
            # At some moment after it has begun to answer: under load, in the middle of whatever it does.
            while sum(len(annotator.acknowledged) for annotator in annotators) == before and time.monotonic() < deadline:
                time.sleep(0.001)
            time.sleep(rng.random() * 0.04)
            os.kill(process, signal.SIGKILL)
        page.serving()
        stop.set()
        for annotator in annotators:
            annotator.join(60)
        assert not any(annotator.is_alive() for annotator in annotators)
    with Store(tmp_path / "j.sqlite") as store:
        assert_all_there(store.since(0), annotators)
    assert sum(annotator.retries for annotator in annotators) > KILLS / 2, "most kills must have hit somebody's answer"
    assert all(len(annotator.acknowledged) < len(page.keys) for annotator in annotators), "load must have lasted to the end"


@pytest.mark.slow
def test_ten_annotators_at_once(tmp_path: Path) -> None:
    crowd(str(tmp_path / "j.sqlite"))
