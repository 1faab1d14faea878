"""Where compiled kernels are kept."""

import warnings
from pathlib import Path

import numba
import pytest

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
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    return tmp_path


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
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(package / "file"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert FOLDER() is None
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
