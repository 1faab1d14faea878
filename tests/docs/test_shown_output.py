"""What README and docs show in a block ``console`` is what the commands print, in a folder that ``treegauge examples`` filled.

Pages that are followed from the first line to the last are compared in ``tests/newcomers`` and ``test_followed.py``.
`python tests/docs/test_shown_output.py docs/compare.md` writes into a page what its commands print now; read the difference.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "helpers"))

from pages import CUT, FOLLOWED, NEWCOMERS, ROOT, commands, differs, run, serves

from treegauge.data import write_examples

BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
PAGES = [
    page
    for page in sorted((ROOT / "docs").rglob("*.md"))
    if page.relative_to(ROOT).as_posix() not in (*NEWCOMERS, *FOLLOWED) and BLOCK.search(page.read_text("utf-8"))
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_print_what_the_page_shows(page: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    write_examples(tmp_path)
    if "gum_dev." in page.read_text("utf-8"):
        for path in (request.getfixturevalue("shared") / "data" / "outputs").iterdir():
            (tmp_path / path.name).symlink_to(path)
    for line, shown in commands(page):
        if shown:
            assert not (found := differs(shown, run(line, tmp_path))), f"{line}\n{found}"


def test_a_page_that_lies_would_be_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```console\n$ echo one\ntwo\n$ echo three\nthree\n```\n", "utf-8")
    assert [differs(shown, run(line, tmp_path)) for line, shown in commands(page)] == ["one", ""]


def renew(page: Path, folder: Path) -> None:
    """Write into a page what its commands print now, as much of it as was shown; all commands of the page are run."""
    new: list[list[str]] = []
    for line, old in commands(page):
        if not line.startswith("pip ") and not serves(line):
            lines = run(line.removeprefix("pip install '.[parse]' && "), folder).lines
            new.append([] if not old else [*lines[: len(old) - 1], CUT] if old[-1] == CUT else lines)
        else:
            new.append([])
    following = iter(zip(commands(page), new, strict=True))

    def block(match: re.Match[str]) -> str:
        count = len(re.findall(r"^\$ ", match[1], re.MULTILINE))
        lines = list[str]()
        while count:
            (line, _), shown = next(following)
            if re.search(rf"^\$ {re.escape(line)}$", match[1], re.MULTILINE):
                lines += [f"$ {line}", *shown]
                count -= 1
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
