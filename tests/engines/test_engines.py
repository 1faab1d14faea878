"""What every engine promises: results in order, errors as they are, patience with workers, and the sentences at fault."""

from __future__ import annotations

import operator
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from treegauge.engines import Engine, InProcess, Threads, WorkerLost, in_order, open_engine
from treegauge.engines.workers import Cluster, Processes
from treegauge.errors import EngineError, InputError, MissingExtra, ShardFailed, UsageError
from treegauge.io import read


@pytest.fixture(params=["here", "processes", "dask"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with closing(_opened(request)) as opened:
        yield opened


def _opened(request: pytest.FixtureRequest) -> Engine:
    if request.param == "here":
        return InProcess()
    return Processes(2) if request.param == "processes" else open_engine(request.getfixturevalue("dask"))


def test_results_come_in_order_whatever_takes_longest(engine: Engine) -> None:
    assert list(engine.map(operator.mul, "ab", range(30))) == ["ab" * n for n in range(30)]
    assert list(engine.map(operator.mul, 2, iter([]))) == []


def test_errors_about_the_input_pass_through_as_they_are(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "x.mrg").write_text("(A a)\n(B b))\n")
    with pytest.raises(InputError) as here:
        read(tmp_path / "x.mrg")
    with pytest.raises(InputError) as there:
        list(engine.map(operator.call, read, [tmp_path / "x.mrg"]))
    assert str(there.value) == str(here.value)
    assert (there.value.line, there.value.exit_code) == (2, 3)


@pytest.mark.parametrize("engine", ["processes", "dask"], indirect=True)
def test_a_shard_that_always_fails_is_named_and_others_go_on(engine: Engine) -> None:
    with pytest.raises(ShardFailed, match="work failed 3 times on 0: ZeroDivisionError"):
        list(engine.map(operator.call, partial(operator.floordiv, 12), [1, 2, 0, 3]))
    assert list(engine.map(operator.call, partial(operator.floordiv, 12), [1, 2, 3])) == [12, 6, 4]


def test_a_worker_that_dies_with_its_shard_takes_nothing_else_along() -> None:
    with Processes(2) as engine:
        with pytest.raises(ShardFailed, match="a worker process died"):
            list(engine.map(operator.call, os._exit, [3]))
        assert list(engine.map(operator.mul, 2, range(9))) == list(range(0, 18, 2))


def test_a_worker_that_is_killed_once_changes_nothing(tmp_path: Path) -> None:
    # The first to come leaves a marker and kills its worker.
    line = f"[ -e {tmp_path}/marker ] || {{ touch {tmp_path}/marker; kill -9 $PPID; }}"
    call = partial(subprocess.call, ["bash", "-c", line], -1, None)
    with Processes(2) as engine:
        assert list(engine.map(operator.call, call, [None] * 6)) == [0] * 6
    assert (tmp_path / "marker").exists()


@pytest.mark.posix
def test_closing_an_engine_ends_work_that_is_going_on(tmp_path: Path) -> None:
    line = f"echo $0 >> {tmp_path}/begun; [ $0 = 0 ] || {{ sleep 20; touch {tmp_path}/finished; }}"
    with Processes(1) as engine:
        results = engine.map(operator.call, partial(subprocess.run, check=True), [["bash", "-c", line, str(n)] for n in range(2)])
        next(results)
        while "1" not in (tmp_path / "begun").read_text():
            time.sleep(0.01)
    assert not (tmp_path / "finished").exists()


@dataclass(frozen=True)
class Numbers:
    """A shard that can be cut."""

    first: int
    last: int

    def __str__(self) -> str:
        return f"numbers {self.first} to {self.last - 1}"

    def halves(self) -> list[Numbers]:
        middle = (self.first + self.last) // 2
        return [Numbers(self.first, middle), Numbers(middle, self.last)] if self.last - self.first > 1 else []


class Flaky:
    """A pool in this thread whose work fails on some numbers, or the first few times."""

    window = 4

    def __init__(self, bad: set[int], failures: int = 0) -> None:
        self.bad, self.failures, self.tried = bad, failures, list[Any]()

    def start(self, item: Numbers) -> Numbers:
        return item

    def finish(self, task: Numbers) -> int:
        self.tried.append(task)
        if self.failures:
            self.failures -= 1
            raise WorkerLost("a worker went away")
        if self.bad & set(range(task.first, task.last)):
            raise MemoryError("too large")
        return sum(range(task.first, task.last))

    alone = finish

    def abandon(self, tasks: Iterator[Numbers]) -> None:
        assert list(tasks) is not None


SHARDS = [Numbers(0, 8), Numbers(8, 16), Numbers(16, 17)]


def test_a_failing_shard_is_tried_again() -> None:
    pool = Flaky(set(), failures=2)
    assert list(in_order(pool, SHARDS)) == [28, 92, 16]
    assert pool.tried.count(SHARDS[0]) == 3


def test_the_sentences_at_fault_are_found() -> None:
    with pytest.raises(ShardFailed) as failed:
        list(in_order(Flaky({11, 14}), SHARDS))
    assert str(failed.value).splitlines() == [
        "work failed 3 times on numbers 8 to 15: MemoryError: too large",
        "  it fails on numbers 11 to 11",
        "  it fails on numbers 14 to 14",
        "  Nothing was left out: there is no result without these sentences.",
    ]
    assert failed.value.exit_code == 5


def test_a_shard_that_fails_only_as_a_whole_is_said_to() -> None:
    with pytest.raises(ShardFailed, match="its halves do not fail"):
        list(in_order(Flaky(set(), failures=3), SHARDS))


def test_engines_by_name() -> None:
    assert [
        type(open_engine(name)) for name in ("local", "local:1", "local:2", "dask", "dask:3", "dask:tcp://x:1", "dask:s.json")
    ] == [
        *(InProcess, InProcess, Processes),
        *(Cluster, Cluster, Cluster, Cluster),
    ]
    for name in ("loca", "local:x", "local:0", "dask:host", "dask:host:8786", ""):
        with pytest.raises(UsageError):
            open_engine(name)


def test_no_scheduler_is_an_error_that_says_how_to_start_one(monkeypatch: pytest.MonkeyPatch) -> None:
    from treegauge.engines import workers

    monkeypatch.setattr(workers, "_SECONDS_TO_CONNECT", 1)
    for name in ("dask:tcp://127.0.0.1:9", "dask:never_written.json"):
        with pytest.raises(EngineError, match="dask scheduler"), closing(open_engine(name)) as engine:
            list(engine.map(operator.mul, 2, [1]))


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtra, match=r"pip install 'treegauge\[cluster\]'"), closing(open_engine("dask")) as engine:
        list(engine.map(operator.mul, 2, [1]))


def test_no_thread_is_left_behind() -> None:
    before = threading.active_count()
    with Processes(2) as engine:
        results = engine.map(operator.mul, 2, range(100))
        assert next(results) == 0
        results.close()  # pyright: ignore
    assert threading.active_count() == before


def test_dask_is_not_imported_by_commands() -> None:
    code = "import sys, treegauge.cli.score, treegauge.cli.parse; print([m for m in ('dask', 'distributed') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_threads_give_results_in_order_and_raise_what_work_raises() -> None:
    assert list(Threads(3).map(_slow_square, 0.01, range(10))) == [number**2 for number in range(10)]
    results = Threads(2).map(_slow_square, 0.0, [3, -1, 4])
    assert next(results) == 9
    with pytest.raises(ValueError, match="-1"):
        next(results)


def _slow_square(wait: float, number: int) -> int:
    if number < 0:
        raise ValueError(number)
    time.sleep(wait if number % 2 else 0)
    return number**2


INHERITING = """
import sys, threading
from treegauge.engines.workers import Processes

class Loaded:
    def __reduce__(self):
        return str, ("packed",)

def kind(shared, item):
    return type(shared).__name__

if __name__ == "__main__":
    if "--thread" in sys.argv:
        threading.Thread(target=threading.Event().wait, daemon=True).start()
    with Processes(2, inherit="--inherit" in sys.argv) as engine:
        print(*engine.map(kind, Loaded(), range(3)))
"""


@pytest.mark.parametrize(
    ("words", "expected"),
    [(["--inherit"], "Loaded"), (["--inherit", "--thread"], "str"), ([], "str")],
    ids=["copy", "thread", "new"],
)
def test_workers_inherit_what_is_loaded_unless_threads_forbid_it(words: list[str], expected: str, tmp_path: Path) -> None:
    """A copy of this process has the shared value itself; a process that began anew has what was packed."""
    script = tmp_path / "inheriting.py"
    script.write_text(INHERITING)
    done = subprocess.run([sys.executable, str(script), *words], check=True, capture_output=True, text=True)
    assert set(done.stdout.split()) == ({expected} if sys.platform == "linux" else {"str"})
