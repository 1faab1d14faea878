"""The pages: links lead somewhere, commands are commands and run, and nothing public is left out."""

from __future__ import annotations

import importlib
import io
import json
import re
import shlex
import sys
from pathlib import Path

import click
import numpy as np
import pages
import pytest

import treegauge
from treegauge.cli import COMMANDS, main
from treegauge.cli._group import treegauge as program
from treegauge.data import discontinuous_treebank, own_treebank
from treegauge.grammar import induce, save_model

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "experiments" / "results").rglob("*.md")),
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "bench/RESULTS.md")),
]
IDS = [str(page.relative_to(ROOT)) for page in PAGES]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The names under which a page's headings can be linked to."""
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(page: Path) -> list[str]:
    return LINK.findall(FENCE.sub("", page.read_text("utf-8")))


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_links_lead_somewhere(page: Path) -> None:
    for link in links(page):
        target, _, anchor = link.partition("#")
        if target.startswith(("http://", "https://", "mailto:")):
            continue
        file = (page.parent / target).resolve() if target else page
        assert file.exists(), link
        assert not anchor or anchor in anchors(file), link


def test_the_table_of_extras_has_every_command() -> None:
    page = (ROOT / "docs" / "reference" / "cli.md").read_text("utf-8")
    table = page.partition("| command | extra |")[2].partition("\n\n")[0]
    listed = re.findall(r"`([a-z-]+)`", table)
    assert set(COMMANDS) <= set(listed)


def test_there_are_links() -> None:
    assert sum(len(links(page)) for page in PAGES) > 20


def test_every_page_can_be_reached() -> None:
    index = (ROOT / "docs" / "index.md").read_text("utf-8")
    for page in (ROOT / "docs").rglob("*.md"):
        name = page.relative_to(ROOT / "docs").with_suffix("").as_posix()
        assert name == "index" or re.search(rf"^{re.escape(name)}$", index, re.MULTILINE), name


def test_no_page_is_long() -> None:
    """A page answers one question in at most 1,500 words; the reference may be longer."""
    pages = [page for page in (ROOT / "docs").rglob("*.md") if page.parent.name != "reference"]
    assert {page.name: words for page in pages if (words := len(page.read_text("utf-8").split())) > 1500} == {}


def test_every_metric_is_in_the_docs() -> None:
    page = (ROOT / "docs" / "howto" / "score.md").read_text("utf-8")
    assert [name for name in treegauge.metric_names() if f"`{name}`" not in page] == []


IMPORT = re.compile(r"^(?:>>> |\.\.\. )?from (treegauge[\w.]*) import ([\w, ]+)", re.MULTILINE)
REFERENCE = (ROOT / "docs" / "reference" / "api.md").read_text("utf-8")
FOLDERS = re.findall(r"^### treegauge\.(\w+)$", REFERENCE, re.MULTILINE)
FOR_USERS = [page for page in PAGES if page.name not in ("architecture.md", "CONTRIBUTING.md")]
"""Pages that use the package; the recipes of the architecture page change it."""


@pytest.mark.parametrize("page", FOR_USERS, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_import_public_names_only(page: Path) -> None:
    for module, names in IMPORT.findall(page.read_text("utf-8")):
        if module != "treegauge.neural":
            public = {*importlib.import_module(module).__all__, *(FOLDERS if module == "treegauge" else ())}
            assert f"### {module}\n" in REFERENCE or module == "treegauge", module
            assert [name for name in names.split(",") if name.strip() not in public] == [], module


def command_lines(page: Path) -> list[str]:
    """The lines of a page that call treegauge."""
    blocks = re.findall(r"^```(?:sh|console)\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    lines = [line.removeprefix("$ ") for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    return [line for line in lines if re.search(r"(^|\| |&& )treegauge ", line)]


def calls(line: str) -> list[list[str]]:
    """The arguments of each call of treegauge in a line of shell."""
    found: list[list[str]] = []
    current: list[str] | None = None
    for word in shlex.split(line, comments=True):
        if word in ("|", ">", "&&", ";", "<"):
            current = None
        elif word == "treegauge" and current is None:
            current = []
            found.append(current)
        elif current is not None:
            current.append(word)
    return found


ALL_LINES = [(name, line) for page, name in zip(PAGES, IDS, strict=True) for line in command_lines(page)]


@pytest.mark.parametrize(("page", "line"), ALL_LINES, ids=[f"{page}: {line}" for page, line in ALL_LINES])
def test_commands_exist_and_have_these_options(page: str, line: str) -> None:
    for arguments in calls(line):
        if arguments[0].startswith("-"):
            continue
        name, *rest = arguments
        assert name in COMMANDS, line
        group = program.get_command(click.Context(program), name)
        while (
            isinstance(group, click.Group)
            and rest
            and not rest[0].startswith("-")
            and rest[0] in group.list_commands(click.Context(group))
        ):
            name, *rest = rest
            group = group.get_command(click.Context(group), name)
        assert group is not None
        try:
            group.make_context(name, [re.sub(r"[$<>]", "x", word) for word in rest])
        except click.exceptions.Exit:
            assert "--help" in rest or "--list" in rest


LINES = [(page, line) for page in pages.LINE_BY_LINE for line, _ in pages.commands(ROOT / page) if pages.is_run(line)]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the pages talk of."""
    folder = tmp_path_factory.mktemp("docs")
    train = [str(tree) for tree in own_treebank("train")][::10]
    gold = [str(tree) for tree in own_treebank("dev")][:12]
    parse = [tree.replace("(PP ", "(ADVP ") for tree in gold]
    other = [tree.replace("(NP ", "(NX ", 1) for tree in gold]
    files = {"gold.mrg": gold, "parser.mrg": parse, "A.mrg": parse, "B.mrg": other, "train.mrg": train, "wsj.mrg": train}
    for name in ("gold", "parsed", "wsj"):
        (folder / name).mkdir()
    files |= {"gold/1.mrg": gold, "parsed/1.mrg": parse, "wsj/wsj_0001.mrg": train}
    for name, lines in files.items():
        (folder / name).write_text("\n".join(lines) + "\n", "utf-8")
    words = [" ".join(tree.words) for tree in own_treebank("dev")][:3]
    (folder / "sentences.txt").write_text("\n".join(words) + "\n", "utf-8")
    (folder / "answers.txt").write_text("\n".join(f"{number}. {tree}" for number, tree in enumerate(parse, 1)) + "\n", "utf-8")
    (folder / "answers.jsonl").write_text("".join(json.dumps({"parse": tree}) + "\n" for tree in parse), "utf-8")
    (folder / "gold.txt").write_text("It PRP B-NP\nrained VBD B-VP\n\n", "utf-8")
    (folder / "chunker.txt").write_text("It PRP B-NP\nrained VBD I-NP\n\n", "utf-8")
    (folder / "word-tag-gold-test.txt").write_text("It PRP B-NP B-NP\nrained VBD B-VP I-NP\n\n", "utf-8")
    german = list(discontinuous_treebank("german"))
    for name in (
        "german.export",
        "tiger.xml",
        "train.discbracket",
        "gold.discbracket",
        "a.discbracket",
        "b.discbracket",
        "gold.export",
    ):
        treegauge.write(german, folder / name)
    treegauge.write(german, folder / "parsed.discbracket")
    (folder / "german.txt").write_text("\n".join(" ".join(tree.words) for tree in german) + "\n", "utf-8")
    for name, source in {"dev.mrg": "gold.mrg", "parses.mrg": "gold.mrg", "parsed.mrg": "parser.mrg"}.items():
        (folder / name).write_bytes((folder / source).read_bytes())
    save_model(induce(list(own_treebank("train"))[::10], tags=False), folder / "train.model")
    charts = {"scores": np.zeros((2, 3, 3, 2)), "lengths": np.array([3, 2]), "labels": np.array(["", "NP"])}
    np.savez(folder / "charts.npz", **charts)
    (folder / "ctb").mkdir()
    (folder / "ctb" / "like.fid").write_text("<S ID=1>\n( (IP (NP-SBJ (PN 他)) (VP (VV 来)) (PU 。)))\n</S>\n", "gb18030")
    (folder / "weights.txt").write_text("NP 1\n", "utf-8")
    (folder / "mine.toml").write_text('base = "default"\ncut_labels_at = "="\n', "utf-8")
    (folder / "COLLINS.prm").write_text("DELETE_LABEL TOP\nDELETE_LABEL -NONE-\nDELETE_LABEL .\n", "utf-8")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(("page", "line"), LINES, ids=[f"{page}: {line}" for page, line in LINES])
def test_commands_run(
    page: str, line: str, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    if pages.serves(line) or not calls(line):
        done = pages.serve(line, place) if pages.serves(line) else pages.run(line, place)
        assert done.code == 0, f"{done.output}{done.errors}"
        return
    (arguments,) = calls(line)
    said = re.match(r'echo "(.*?)" \| ', line)
    if said:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(f"{said[1]}\n".encode()), "utf-8"))
    with pytest.raises(SystemExit) as left:
        main([word for given in arguments for word in (sorted(map(str, Path().glob(given))) if "*" in given else [given])])
    captured = capsys.readouterr()
    assert left.value.code in (0, None), captured.err
    target = re.search(r"> (\S+)", line.partition("#")[0])
    if target:
        Path(target[1]).write_text(captured.out, "utf-8")
