"""A Dask cluster of two workers for the tests of engines, and commands run in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from treegauge.cli import main


class Ran(NamedTuple):
    """What a command left behind."""

    code: object
    out: str
    err: str


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Run a command in this process."""

    def command(*arguments: object) -> Ran:
        capfd.readouterr()
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        assert "Traceback" not in err, err
        return Ran(stop.value.code, out, err)

    return command


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """Two worker processes of one thread."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit=0, silence_logs=50
    ) as started:
        yield started


@pytest.fixture
def dask(cluster: Any) -> str:
    """The engine that is the cluster of the tests."""
    return f"dask:{cluster.scheduler_address}"
