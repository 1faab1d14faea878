"""The work of judging: key presses and page moves per sentence, bracket by bracket and sentence by sentence.

    python bench/judging_keys.py VERDICTS.tsv GOLD TEST... [--save]

A line of VERDICTS has the words of a bracket, its label, a key (a, r or u) and a reason (1 to 9, or nothing), as a person did;
a browser then gives the same answers on the page in both ways. A page move is a change of the sentence on the screen; a bracket is
out of sight if its node in the parser's tree cannot be seen without scrolling. Needs Chromium.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from results import machine, save_section

from treegauge import io
from treegauge.humancheck.questions import Check, CheckPlan, build_check
from treegauge.humancheck.session import Session, people_named
from treegauge.humancheck.store import Store
from treegauge.humancheck.web.server import serve_in_thread
from treegauge.trees import Treebank

FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
SEEN = """() => {
  const node = document.querySelector("g.focus");
  const box = node.getBoundingClientRect();
  const found = document.elementFromPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2);
  return Boolean(found) && node.contains(found);
}"""
Verdicts = dict[tuple[str, str], tuple[str, str]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verdicts", type=Path)
    parser.add_argument("gold")
    parser.add_argument("tests", nargs="+")
    parser.add_argument("--save", action="store_true", help="write the section of RESULTS.md")
    options = parser.parse_args()
    verdicts = read_verdicts(options.verdicts)
    gold, *tests = (io.read(path) for path in (options.gold, *options.tests))
    rows = wanted_sentences(build_check(gold, dict(zip("ABCDEFGHIJ", tests, strict=False))), verdicts)
    banks = [Treebank.from_trees(bank[row] for row in rows) for bank in (gold, *tests)]
    text = table(len(rows), [measure(banks, verdicts, mode) for mode in ("bracket", "sentence", "sentence, Shift")])
    print(text)
    if options.save:
        save_section("Judging by keys", text)


def read_verdicts(path: Path) -> Verdicts:
    lines = (line.split("\t") for line in path.read_text("utf-8").splitlines() if line)
    return {(words, label): (key, reason) for words, label, key, reason in lines}


def wanted_sentences(check: Check, verdicts: Verdicts) -> list[int]:
    """The sentences in which every bracket in question has a verdict."""
    found: dict[int, bool] = {}
    for number in check.order:
        question = check.questions[number]
        for occurrence in question.occurrences:
            known = (" ".join(question.words), question.bracket.label) in verdicts
            found[occurrence.sentence] = found.get(occurrence.sentence, True) and known
    return sorted(sentence for sentence, complete in found.items() if complete)


def measure(banks: list[Treebank], verdicts: Verdicts, mode: str) -> Counter[str]:
    """The counts for giving all verdicts in one of the two ways."""
    gold, *tests = banks
    check = build_check(gold, dict(zip("ABCDEFGHIJ", tests, strict=False)), CheckPlan(by_sentence=mode != "bracket"))
    answers = {one.key: verdicts[" ".join(one.words), one.bracket.label] for one in check.questions if one.kind != "EM"}
    from playwright.sync_api import sync_playwright

    with (
        tempfile.TemporaryDirectory() as folder,
        Store(f"{folder}/j.sqlite") as store,
        serve_in_thread(Session(check, store, people_named(["anna"]))) as links,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(next(iter(links.values())))
        counts = judge_all(page, answers, at_once=mode.endswith("Shift"))
        browser.close()
        given = {judgement.bracket.key: judgement.verdict[0] for judgement in store.since(0)}
    assert given == {key: answer for key, (answer, _) in answers.items()}, "the same verdicts in every way"
    return counts


def judge_all(page: Any, answers: dict[str, tuple[str, str]], *, at_once: bool) -> Counter[str]:
    counts: Counter[str] = Counter()
    last = ""
    while page.query_selector("article"):
        page.wait_for_selector("article[data-ready]")
        key = page.get_attribute("article", "data-key")
        sentence = page.inner_text(".context p:nth-of-type(2)") or page.text_content(".context")
        counts["moves"] += sentence != last
        last = sentence
        counts["brackets"] += 1
        if not page.evaluate(SEEN):
            counts["out of sight"] += 1
        verdict, reason = answers[key]
        keys = [reason] if reason else []
        states = page.eval_on_selector_all(".beside a.open", "links => links.map((link) => link.dataset.key)") or [key]
        same = at_once and verdict in "ar" and len(states) > 1 and all(answers[one] == answers[key] for one in states)
        keys.append(f"Shift+{verdict}" if same else verdict)
        counts["keys"] += len(keys)
        for one in keys:
            page.keyboard.press(one)
        page.wait_for_selector(f"body:not(.busy) article:not([data-key='{key}']), .done")
        page.wait_for_selector("body:not(.busy)")
        counts["brackets"] += len(states) - 1 if same else 0
    return counts


def table(sentences: int, rows: list[Counter[str]]) -> str:
    lines = [
        f"{rows[0]['brackets']} brackets in {sentences} sentences, each with a reason where there is one.",
        "",
        "| way | key presses | per sentence | page moves | per sentence | bracket out of sight |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    names = ("bracket by bracket", "sentence by sentence", "the same, Shift for the rest of a sentence")
    for name, row in zip(names, rows, strict=True):
        cells = (
            row["keys"],
            f"{row['keys'] / sentences:.1f}",
            row["moves"],
            f"{row['moves'] / sentences:.1f}",
            row["out of sight"],
        )
        lines.append(f"| {name} | {' | '.join(map(str, cells))} |")
    return "\n".join([*lines, "", machine()])


if __name__ == "__main__":
    main()
