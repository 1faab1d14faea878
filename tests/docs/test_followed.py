"""Pages that are followed from the first line to the last with all extras, and the account of what runs each page's commands."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from pages import (
    FOLLOWED,
    LINE_BY_LINE,
    NEWCOMERS,
    NOT_RUN,
    OF_THEIR_OWN,
    ROOT,
    Done,
    commands,
    follow,
    interrupt,
    is_run,
    run,
    serve,
)

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^ *```([^\n]*)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^ *(\$ |(treegauge|pip|python|dask|sbatch|srun|for|mkdir|cat|echo) )", re.MULTILINE)
NO_MORE_THAN = 2
"""The most commands of README and docs that no test runs."""


@pytest.mark.slow
@pytest.mark.skipif(find_spec("uvicorn") is None, reason="the extra web is not installed")
@pytest.mark.parametrize("page", FOLLOWED)
def test_the_page_from_the_first_line_to_the_last(page: str, tmp_path: Path) -> None:
    if "--neural" in (ROOT / page).read_text("utf-8"):
        pytest.importorskip("torch", reason="torch is not installed (extra [torch])")
    found = follow(page, tmp_path, extras=True)
    for line, done in found.items():
        if line.startswith("treegauge check gold.mrg A.mrg") and "--" not in line:
            assert "0 answers stored in judgements.sqlite" in done.errors
        if "--corrected" in line:
            assert len((tmp_path / "better.mrg").read_text("utf-8").splitlines()) >= 103


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_of_the_page_is_run(page: Path) -> None:
    """A page with commands is named in one of the tables of ``pages.py``, whose test runs all of them but those of ``NOT_RUN``."""
    name = page.relative_to(ROOT).as_posix()
    tables = [table for table in (NEWCOMERS, FOLLOWED, LINE_BY_LINE, OF_THEIR_OWN) if name in table]
    assert len(tables) == (1 if list(commands(page)) or name in OF_THEIR_OWN else 0), f"{name}: add it to a table of pages.py"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_stand_in_blocks_whose_commands_are_run(page: Path) -> None:
    """No command hides in a block of another kind; those of the architecture page's recipes are in blocks of text."""
    blocks = FENCE.findall(page.read_text("utf-8"))
    hidden = [block for kind, block in blocks if kind in ("", "text", "bash", "shell", "shell-session") and COMMAND.search(block)]
    assert not hidden or OF_THEIR_OWN.get(page.relative_to(ROOT).as_posix()) == "tests/docs/test_recipes.py", hidden


def test_few_commands_are_not_run() -> None:
    lines = [line for page in PAGES for line, _ in commands(page)]
    left_out = [line for line in lines if not is_run(line)]
    assert len(lines) > 300
    assert len(left_out) <= NO_MORE_THAN, left_out
    assert all(any(line.startswith(beginning) for line in lines) for beginning in NOT_RUN)


def test_the_tables_name_pages_and_tests_that_exist() -> None:
    assert all((ROOT / name).is_file() for name in (*NEWCOMERS, *FOLLOWED, *LINE_BY_LINE, *OF_THEIR_OWN, *OF_THEIR_OWN.values()))
    assert all(shown for _, shown in commands(ROOT / "docs/compare.md")), "test_shown_output.py runs commands with output only"


@pytest.mark.slow
def test_a_command_that_fails_would_be_found(tmp_path: Path) -> None:
    assert run("treegauge score gold.mrg nowhere.mrg", tmp_path).code == 3
    with pytest.raises(AssertionError, match=r"nowhere\.mrg"):
        serve("treegauge check nowhere.mrg nowhere.mrg", tmp_path)
    assert interrupt("treegauge score nowhere.mrg nowhere.mrg", tmp_path) != Done(130, "", "")
