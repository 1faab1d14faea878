"""Where compiled kernels are kept."""

import os
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from numba.core import config
from processes import running_process

from treegauge.parsing import jit

FOLDER = jit._folder.__wrapped__


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with one kernel and one module without."""
    for name, text in {
        "parsing/one.py": "from treegauge.parsing.jit import kernel",
        "parsing/other.py": "no kernel",
        "grammar/binarisation.py": "types",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(jit, "_PACKAGE", tmp_path)
    monkeypatch.setattr(jit, "_TYPE_MODULES", ("grammar/binarisation.py",))
    monkeypatch.setattr(config, "CACHE_DIR", "")
    return tmp_path


def test_the_modules_of_types_exist() -> None:
    assert all((jit._PACKAGE / name).is_file() for name in jit._TYPE_MODULES)


def test_each_source_has_its_folder(package: Path) -> None:
    before = FOLDER()
    assert before is not None
    assert Path(before).parent == package / "__pycache__"
    (package / "parsing/other.py").write_text("still no kernel")
    assert FOLDER() == before
    (package / "parsing/one.py").write_text("from treegauge.parsing.jit import kernel, inlined")
    changed = FOLDER()
    (package / "grammar/binarisation.py").write_text("other types")
    assert len({before, changed, FOLDER()}) == 3


def test_a_package_that_cannot_be_written_keeps_them_with_the_user(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (package / "__pycache__").write_text("a file in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    found = FOLDER()
    assert found is not None
    assert Path(found).parent == tmp_path / "home" / "treegauge"


def test_where_nothing_can_be_written_each_run_compiles(
    package: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (package / "file").write_text("")
    monkeypatch.setattr(config, "CACHE_DIR", str(package / "file"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert FOLDER() is None
        monkeypatch.setattr(jit, "_folder", lambda: str(package))
        jit.report_compiling()
        assert capsys.readouterr().err == "treegauge: compiling the kernels; this happens once\n"
        monkeypatch.setattr(jit, "_folder", lambda: None)
        assert jit.kernel(_twice)(21) == 42
    jit.report_compiling()
    said = capsys.readouterr().err
    assert "happens once" not in said
    assert "NUMBA_CACHE_DIR" in said


def test_kernels_that_nobody_used_for_a_month_are_removed(package: Path) -> None:
    import os

    old, recent = package / "__pycache__/kernels-old", package / "__pycache__/kernels-recent"
    for folder in (old, recent):
        folder.mkdir(parents=True)
    os.utime(old, (0, 0))
    FOLDER()
    assert recent.exists()
    assert not old.exists()


def _twice(x: int) -> int:
    return 2 * x


def test_processes_that_need_one_kernel_compile_it_once(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import numpy as np\nfrom treegauge.parsing.jit import kernel\n\n@kernel\ndef total(x):\n    return np.sort(x).sum()\n\n"
        "assert total(np.arange(4.0)) == 6\nprint(sum(total.stats.cache_misses.values()))\n"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, str(tmp_path / "program.py")]
    with ExitStack() as programs:
        program = (running_process(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(3))
        started = [programs.enter_context(one) for one in program]
        assert sorted(process.communicate()[0].strip() for process in started) == ["0", "0", "1"]


@pytest.mark.skipif(sys.platform == "win32", reason="files are not locked there")
def test_a_lock_is_waited_for_but_not_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "kernel.lock")
    first = jit._lock_file(path)
    assert first is not None
    said: list[str] = []
    with ThreadPoolExecutor(1) as pool, jit.when_compiling(lambda: said.append("waits")):
        second = pool.submit(jit._lock_file, path)
        with pytest.raises(TimeoutError):
            second.result(0.1)
        assert said == ["waits"]
        os.close(first)
        held = second.result()
    assert held is not None
    monkeypatch.setattr(jit, "_LONGEST_WAIT", 0.1)
    assert jit._lock_file(path) is None
    os.close(held)
    assert jit._lock_file(str(tmp_path / "no-such-folder" / "kernel.lock")) is None
