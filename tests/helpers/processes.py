"""Programs that tests start and must not leave behind, whatever becomes of the test."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any


@contextmanager
def running_process(command: Sequence[str], *, timeout: float = 300, **options: Any) -> Iterator[subprocess.Popen[Any]]:
    """A program that is killed at the end of the block if it still runs, or before if it runs longer than ``timeout`` seconds.

    ``subprocess.Popen`` as a context manager waits for the program instead: after a failed assertion in the block, for ever.
    """
    process: subprocess.Popen[Any] = subprocess.Popen(command, **options)
    watchdog = threading.Timer(timeout, _kill, [process, options.get("start_new_session", False)])
    watchdog.daemon = True
    watchdog.start()
    try:
        yield process
    finally:
        watchdog.cancel()
        _kill(process, options.get("start_new_session", False))
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        process.wait()


def _kill(process: subprocess.Popen[Any], whole_group: bool) -> None:
    if process.poll() is not None:
        return
    with suppress(ProcessLookupError):
        if whole_group:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
