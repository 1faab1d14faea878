"""The examples and the Python of the pages pass mypy --strict and pyright."""

from __future__ import annotations

import doctest
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
WITH_TORCH = {"train_span_crf.py"}
PAGES = tuple(ROOT / "docs" / name for name in ("howto/python.md", "howto/parse-text.md", "howto/paper.md", "compare.md"))
CHECKERS = {
    "mypy": ["mypy", "--strict", "--no-error-summary", "--python-executable", sys.executable],
    "pyright": ["pyright", "--pythonpath", sys.executable],
}
INIT = "    def __init__(self, *args: object, **keywords: object) -> None: ...\n"
STUBS = {
    "datasets.pyi": f"class Features:\n{INIT}class Value:\n{INIT}",
    "evaluate.pyi": f"class MetricInfo:\n{INIT}class Metric:\n    config_name: str\n",
}
"""What one example uses of libraries that are not installed here."""
FENCE = re.compile(r"^```python\n(?!>>>)(.*?)^```", re.MULTILINE | re.DOTALL)


def code_of(page: Path) -> str:
    """The Python of a page: its doctests without those that show an error, and its other blocks."""
    text = page.read_text("utf-8")
    shown = [each.source for each in doctest.DocTestParser().get_examples(text) if each.exc_msg is None]
    return "".join(["import treegauge\n", *shown, *FENCE.findall(text)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("typed")
    for example in EXAMPLES:
        shutil.copy(example, made)
    for name, text in STUBS.items():
        (made / name).write_text(text)
    for page in PAGES:
        (made / f"page_{page.stem.replace('-', '_')}.py").write_text(code_of(page), "utf-8")
    return made


def check_types(checker: str, folder: Path, files: list[str]) -> None:
    if find_spec(checker) is None:
        pytest.skip(f"{checker} is not installed")
    done = subprocess.run(
        [sys.executable, "-m", *CHECKERS[checker], *files], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("checker", CHECKERS)
def test_examples_and_pages_are_typed(checker: str, folder: Path) -> None:
    files = sorted(path.name for path in folder.glob("*.py") if path.name not in WITH_TORCH)
    assert len(files) == len(EXAMPLES) + len(PAGES) - len(WITH_TORCH)
    check_types(checker, folder, files)


@pytest.mark.torch
@pytest.mark.parametrize("checker", CHECKERS)
def test_examples_with_torch_are_typed(checker: str, folder: Path) -> None:
    if find_spec("torch") is None:
        pytest.skip("torch is not installed (extra [torch])")
    check_types(checker, folder, sorted(WITH_TORCH))


@pytest.mark.parametrize("checker", CHECKERS)
def test_a_wrong_type_is_found(checker: str, tmp_path: Path) -> None:
    if find_spec(checker) is None:
        pytest.skip(f"{checker} is not installed")
    (tmp_path / "wrong.py").write_text('import treegauge\n\ntreegauge.read("x", encodings="utf-8")\n')
    command = [sys.executable, "-m", *CHECKERS[checker], "wrong.py"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 1
