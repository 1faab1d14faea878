"""What README and docs show in a block ``console`` is what the commands print, in a folder that ``treegauge examples`` filled.

`python tests/docs/test_shown_output.py docs/compare.md` writes into a page what its commands print now; read the difference.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from treegauge.data import write_examples

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
MASKS = ((re.compile(r"\b\d+\.\d+ s\b"), "N s"), (re.compile(r"version:[\w.]+"), "version:V"))
CUT = "..."


def shown(page: Path) -> list[tuple[str, list[str]]]:
    """The commands of a page, and the lines shown below each."""
    found: list[tuple[str, list[str]]] = []
    for block in BLOCK.findall(page.read_text("utf-8")):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


PAGES = [page for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if shown(page)]


def masked(text: str) -> str:
    for pattern, word in MASKS:
        text = pattern.sub(word, text)
    return text


def printed(command: str, folder: Path) -> list[str]:
    """Standard output, then standard error, as a terminal of 110 columns shows them."""
    lines = run(command, folder)[1].splitlines()
    return [line.rstrip() for line in lines if "compiling the parser's kernels" not in line]


def run(command: str, folder: Path) -> tuple[int, str]:
    """The exit code of a line of shell, and what it printed."""
    program = folder / "bin" / "treegauge"
    if not program.exists():
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m treegauge "$@"\n', "utf-8")
        program.chmod(0o755)
    environment = dict(os.environ, COLUMNS="110", NO_COLOR="1", PYTHONUTF8="1", PATH=f"{program.parent}:{os.environ['PATH']}")
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, encoding="utf-8")
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_print_what_the_page_shows(page: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    write_examples(tmp_path)
    if "gum_dev." in page.read_text("utf-8"):
        for path in (request.getfixturevalue("shared") / "data" / "outputs").iterdir():
            (tmp_path / path.name).symlink_to(path)
    for command, lines in shown(page):
        found = [masked(line) for line in printed(command, tmp_path)]
        expected = [masked(line.rstrip()) for line in lines]
        if expected and expected[-1] == CUT:
            expected = expected[:-1]
            found = found[: len(expected)]
        elif expected == []:
            continue
        assert found == expected, command


SERVES = "treegauge check"
README = (ROOT / "README.md").read_text("utf-8")
README_LINES = "".join(re.findall(r"^```sh\n(.*?)^```", README, re.MULTILINE | re.DOTALL)).splitlines()


@pytest.mark.slow
def test_the_commands_of_the_readme_run_in_an_empty_folder_one_after_the_other(tmp_path: Path) -> None:
    first, *others = [line.removeprefix("pip install . && ") for line in README_LINES if not line.startswith("pip install '")]
    assert first == "treegauge examples"
    for line in (first, *others):
        if SERVES not in line:
            code, text = run(line, tmp_path)
            assert code == (4 if "llm.jsonl" in line else 0), f"{line}\n{text}"


def test_a_page_that_lies_would_be_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```console\n$ echo one\ntwo\n```\n", "utf-8")
    ((command, lines),) = shown(page)
    assert printed(command, tmp_path) != lines


def renew(page: Path, folder: Path) -> None:
    """Write into a page what its commands print now, as much of it as was shown."""

    def block(match: re.Match[str]) -> str:
        lines: list[str] = []
        for part in re.split(r"^(?=\$ )", match[1], flags=re.MULTILINE):
            command, *old = part.splitlines() or [""]
            if command.startswith("$ "):
                new = printed(command[2:], folder)
                cut = [*new[: len(old) - 1], CUT] if old[-1:] == [CUT] else new
                lines += [command, *(cut if old else [])]
        return "```console\n" + "".join(f"{line}\n" for line in lines) + "```"

    page.write_text(BLOCK.sub(block, page.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    import tempfile

    for name in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as temporary:
            write_examples(temporary)
            for path in (ROOT.parent / "shared" / "data" / "outputs").glob("*"):
                (Path(temporary) / path.name).symlink_to(path)
            renew(Path(name), Path(temporary))
