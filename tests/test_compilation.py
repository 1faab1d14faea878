"""Compiled kernels are stored by Numba; whatever happens to the stored files, results are right."""

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

pytest.importorskip("numba", reason="kernels need the extra [parse]")

from processes import running_process

from treegauge import compilation

TWICE = "from treegauge.compilation import *\n\n@kernel\ndef twice(x):\n    return 2 * x\n\n"
PRINT = "with when_compiling(report_compiling):\n    print(twice(21))\n"


def _run(program: Path, cache: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), **variables}
    return subprocess.run([sys.executable, program], env=environment, capture_output=True, check=True, text=True)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(TWICE + PRINT)
    return path


def test_a_kernel_is_compiled_once(program: Path, tmp_path: Path) -> None:
    first, second = (_run(program, tmp_path / "cache") for _ in range(2))
    assert first.stdout == second.stdout == "42\n"
    assert first.stderr == "treegauge: compiling the kernels of __main__; this happens once\n"
    assert second.stderr == ""


def test_where_nothing_can_be_written_each_run_compiles(program: Path, tmp_path: Path) -> None:
    in_the_way = tmp_path / "__pycache__"
    in_the_way.write_text("")
    for _ in range(2):
        done = _run(program, in_the_way / "cache", XDG_CACHE_HOME=str(in_the_way), HOME=str(in_the_way))
        assert done.stdout == "42\n"
        assert "set NUMBA_CACHE_DIR to a folder that can be written" in done.stderr


def test_without_the_compiler_kernels_are_python(program: Path, tmp_path: Path) -> None:
    done = _run(program, tmp_path / "cache", NUMBA_DISABLE_JIT="1")
    assert (done.stdout, done.stderr) == ("42\n", "")


def test_other_folders_of_the_users_cache_stay(program: Path, tmp_path: Path) -> None:
    theirs = tmp_path / "cache" / "kernels-of-my-thesis"
    theirs.mkdir(parents=True)
    os.utime(theirs, (0, 0))
    _run(program, tmp_path / "cache")
    assert theirs.is_dir()


DAMAGES: list[Callable[[bytes], bytes]] = [lambda data: data[: len(data) // 2], lambda data: b"", lambda data: bytes(len(data))]


@pytest.mark.slow
def test_a_damaged_kernel_is_compiled_again(tmp_path: Path) -> None:
    """Of three kernels the index is damaged, of three the code, each in another way; one index names a class that is gone."""
    cases = [(suffix, damage) for suffix in (".nbi", ".nbc") for damage in DAMAGES]
    cases.append((".nbi", lambda data: data[: data.index(b".") + 1] + b"cno_such_module\nNoSuchClass\n."))
    for number in range(len(cases)):
        source = TWICE.replace("2 * x", f"2 * x + {number}")
        (tmp_path / f"kernel_{number}.py").write_text(f"{source}print(twice(21))\n")
    program = tmp_path / "all_of_them.py"
    program.write_text("".join(f"import kernel_{number}\n" for number in range(len(cases))))
    right = [str(42 + number) for number in range(len(cases))]
    assert _run(program, tmp_path / "cache").stdout.split() == right
    for number, (suffix, damage) in enumerate(cases):
        stored = list((tmp_path / "cache").rglob(f"kernel_{number}.*{suffix}"))
        assert stored
        for path in stored:
            path.write_bytes(damage(path.read_bytes()))
    again = _run(program, tmp_path / "cache")
    assert again.stdout.split() == right
    said = [f"the stored kernel kernel_{number}.twice cannot be used" in again.stderr for number in range(len(cases))]
    assert said == [True] * len(cases)
    # They are stored again by the next run, from which on nothing is said.
    _run(program, tmp_path / "cache")
    assert _run(program, tmp_path / "cache").stderr == ""
    assert len(list((tmp_path / "cache").rglob("*.nbc"))) == len(cases)


def test_an_error_of_a_kernel_is_no_damage(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(TWICE + "try:\n    twice(twice)\nexcept Exception as error:\n    print(type(error).__name__)\n")
    done = _run(program, tmp_path / "cache")
    assert (done.stdout, done.stderr) == ("TypingError\n", "")


def test_processes_may_compile_one_kernel_at_the_same_time(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(TWICE + "print(twice(21), twice(1.5))\n")
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    with ExitStack() as programs:
        made = (
            running_process([sys.executable, str(program)], env=environment, stdout=subprocess.PIPE, text=True) for _ in range(3)
        )
        started = [programs.enter_context(one) for one in made]
        assert [process.communicate()[0] for process in started] == ["42 3.0\n"] * 3
    assert _run(program, tmp_path / "cache").stdout == "42 3.0\n"


def test_kernels_of_other_sources_have_other_names(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Numba looks for changes only in the file of a kernel."""
    (tmp_path / "parsing").mkdir()
    monkeypatch.setattr(compilation, "__file__", str(tmp_path / "compilation.py"))
    kernels, types = "from treegauge.compilation import inline", "class Chart(NamedTuple):"
    names: list[str] = []
    for text in ("no kernel", "still no kernel", kernels, f"{kernels}, helper", types, f"{types} pass"):
        (tmp_path / "parsing" / "helpers.py").write_text(text)
        names.append(compilation._sources.__wrapped__())
    assert names[0] == names[1]
    assert len(set(names)) == 5


INTERRUPTED = """
import ctypes, signal
from typing import NamedTuple
import numpy as np
from treegauge.compilation import kernel

send = getattr(ctypes.CDLL(None), "raise")
send.argtypes, send.restype = [ctypes.c_int], ctypes.c_int

class Sums(NamedTuple):
    values: np.ndarray
    n: int

@kernel
def sums(values, number):
    return Sums(values, send(number)), number

signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    sums(np.zeros(1), int(signal.SIGINT))
    print("returned")
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent by the C library of Unix")
def test_an_interrupt_in_a_kernel_is_raised_after_it(tmp_path: Path) -> None:
    """Numba crashes if an exception is raised while it makes Python objects of a kernel's results."""
    program = tmp_path / "interrupted.py"
    program.write_text(INTERRUPTED)
    assert _run(program, tmp_path / "cache").stdout == "interrupted\n"
