"""A test that fails while a program runs ends, and takes the program with it."""

from __future__ import annotations

import os
import sys

import pytest
from processes import running_process

FOREVER = [sys.executable, "-c", "import time; print('!', flush=True); time.sleep(3600)"]


def is_running(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("session", [False, True])
def test_a_failed_assertion_ends_the_program(session: bool) -> None:
    with pytest.raises(AssertionError, match="on purpose"), running_process(FOREVER, start_new_session=session) as process:
        raise AssertionError("on purpose")
    assert not is_running(process.pid)


def test_a_program_that_never_answers_is_killed() -> None:
    with running_process(FOREVER, timeout=0.2) as process:
        assert process.wait(timeout=60) < 0
