"""A linguist's hour, from the command to the patch: two annotators, 60 brackets, a corrected tree, an adjudication, an export."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from humancheck_browser import BrowserPerson
from humancheck_helpers import careless
from processes import running_process

from treegauge import io
from treegauge.data import own_treebank
from treegauge.io.sources import ReadOptions
from treegauge.trees import Tree

pytestmark = [pytest.mark.browser, pytest.mark.slow]
FILES = ["gold.mrg", "A.mrg"]
COMMENT = ["--comment", "#"]
BRACKETS = 60
DISPUTED = (4, 17, 40)


def check(folder: Path, *options: str) -> str:
    command = [sys.executable, "-m", "treegauge", "check", *FILES, *COMMENT, *options]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, encoding="utf-8").stdout


def over_lines(tree: Tree, depth: int = 0) -> str:
    """A tree with a phrase a line, as in the Wall Street Journal's files."""
    if tree.is_preterminal:
        return str(tree)
    inside = "".join(f"\n{'  ' * (depth + 1)}{over_lines(child, depth + 1)}" for child in tree.children if isinstance(child, Tree))
    return f"({tree.label}{inside})"


def judge(person: BrowserPerson, verdicts: str) -> None:
    """Answer one bracket after the other; now and then with a reason."""
    for number, verdict in enumerate(verdicts):
        if number % 7 == 0:
            person.press("1")
        person.answer(verdict)


def edit_tree(person: BrowserPerson, label: str) -> str:
    """Give the node under the cursor another label, and use the tree."""
    person.press("p")
    person.page.wait_for_selector("#editor[open] .edited")
    before = person.page.get_attribute(".edited", "data-tree")
    person.page.keyboard.press("l")
    person.type(label)
    person.page.keyboard.press("Enter")
    person.page.wait_for_function("before => document.querySelector('.edited').dataset.tree !== before", arg=before)
    edited = person.page.get_attribute(".edited", "data-tree")
    person.page.keyboard.press("Enter")
    person.page.wait_for_selector("#tree-edited:has-text('tree edited')")
    return edited


def test_an_hour_of_two_annotators_and_an_adjudicator(chromium: Any, tmp_path: Path) -> None:
    gold = own_treebank("dev")[:60]
    text = "# our own trees\n" + "".join(f"{over_lines(tree)}\n" for tree in gold)
    (tmp_path / "gold.mrg").write_text(text, "utf-8")
    io.write(careless(gold, 1), tmp_path / "A.mrg")
    people = ["--annotator", "anna", "--annotator", "ben", "--by", "bracket", "--sample", str(BRACKETS), "--port", "0", "--no-open"]
    command = [sys.executable, "-m", "treegauge", "check", *FILES, *COMMENT, *people]
    with running_process(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as page:
        assert page.stdout is not None
        links = dict(page.stdout.readline().strip().split(": ", 1) for _ in range(3))
        anna, ben, judging = (BrowserPerson(chromium, link) for link in links.values())
        said = ["r" if number % 3 == 0 else "a" for number in range(BRACKETS)]
        judge(anna, "".join(said[:4]))
        edited = edit_tree(anna, "WHADJP")
        anna.press("n")
        anna.type("look at the tree")
        anna.press("Escape")
        judge(anna, "".join(said[4:]))
        assert "All brackets are answered" in anna.page.inner_text("main")
        judge(ben, "".join({"a": "r", "r": "a"}[one] if number in DISPUTED else one for number, one in enumerate(said)))
        assert ben.page.is_visible(".done")
        judging.page.reload()
        assert judging.count.startswith(f"0 of {len(DISPUTED)} judged")
        assert "look at the tree" in judging.page.inner_text("main")
        judging.press("p")
        judging.page.wait_for_selector("#editor[open] .edited")
        judging.page.click("button[data-from=anna]")
        judging.page.wait_for_function("tree => document.querySelector('.edited').dataset.tree === tree", arg=edited)
        judging.page.keyboard.press("Enter")
        judge(judging, "arr")
        assert judging.page.is_visible(".done")
        judging.page.goto(judging.link + "judged")
        with judging.page.expect_download() as download:
            judging.page.click("a[href$='.jsonl']")
        exported = Path(download.value.path()).read_text("utf-8").splitlines()
        assert anna.errors + ben.errors + judging.errors == []
        for person in (anna, ben, judging):
            person.close()
        page.send_signal(signal.SIGHUP)
        _, errors = page.communicate(timeout=30)
    assert f"{2 * BRACKETS + len(DISPUTED)} answers stored" in errors
    assert len([line for line in exported if json.loads(line).get("verdict")]) == len(DISPUTED), "the adjudicator's own"
    # What follows is done elsewhere, with a copy of the one file of the store.
    away = tmp_path / "away"
    away.mkdir()
    for name in (*FILES, "judgements.sqlite"):
        shutil.copy(tmp_path / name, away / name)
    check(away, "--export", "all.jsonl")
    assert len((away / "all.jsonl").read_text("utf-8").splitlines()) >= 2 * BRACKETS + len(DISPUTED)
    assert f"{BRACKETS}" in check(away, "--agreement")
    assert "attachment" in check(away, "--results", "--by", "bracket", "--sample", str(BRACKETS))
    check(away, "--patch", "corrections.patch")
    check(away, "--corrected", "better.mrg")
    subprocess.run(["git", "apply", "corrections.patch"], cwd=away, check=True)
    applied = (away / "gold.mrg").read_text("utf-8")
    assert applied == (away / "better.mrg").read_text("utf-8") != text
    assert applied.startswith("# our own trees\n"), "comments and line breaks stay"
    trees = [str(tree) for tree in io.read(away / "gold.mrg", ReadOptions(comment="#"))]
    assert [(before, after) for before, after in zip(map(str, gold), trees, strict=True) if before != after] == [
        (next(str(tree) for tree in gold if tree.words == Tree.parse(edited).words), edited)
    ]
