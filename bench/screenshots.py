"""Pictures of both pages for the documentation, made with our own treebank and two parses of our own grammar.

Those of right-to-left text show two sentences of our own in Hebrew.

    python bench/screenshots.py docs/images

Needs Chromium; the printed pages also pdftoppm (poppler). Look at what it made before it is committed.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from treegauge import io, report
from treegauge.data import own_treebank, write_examples
from treegauge.humancheck.questions import Check, CheckPlan, build_check
from treegauge.humancheck.session import Session, people_named
from treegauge.humancheck.store import Store
from treegauge.humancheck.web.server import serve_in_thread
from treegauge.significance import CompareOptions
from treegauge.trees import Treebank

FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
OBJECTIVES: tuple[str, ...] = ("viterbi", "labelled-recall")
WIDE = {"width": 1200, "height": 840}
NARROW = {"width": 375, "height": 740}
HEBREW = [
    "(S (NP (N אתמול)) (VP (V ראה) (NP (N איש) (ADJ זקן)) (PP (P עם) (NP (N כלב) (ADJ קטן)))))",
    "(S (NP (N שלום) (N רב)) (VP (V לכם) (NP (N ילדים) (ADJ טובים)) (. .)))",
]
MISREAD = [
    "(S (NP (N אתמול)) (VP (V ראה) (NP (N איש) (PP (ADJ זקן) (P עם))) (NP (N כלב) (ADJ קטן))))",
    "(S (X (N שלום) (N רב) (V לכם)) (NP (N ילדים) (ADJ טובים) (. .)))",
]
GUIDELINES = (
    "# Our house rules\n\n- A bracket around *not* and a verb is not a constituent.\n- When in doubt, press `U` and write a note."
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", type=Path, metavar="FOLDER")
    target: Path = parser.parse_args().target
    target.mkdir(parents=True, exist_ok=True)
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        files = parse_own_treebank(Path(folder))
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        draw_check(browser, files, Path(folder), target)
        draw_report(browser, Path(folder), target)
        draw_right_to_left(browser, Path(folder), target)
        browser.close()


def parse_own_treebank(folder: Path) -> list[Path]:
    """The gold trees and a parse by each objective."""
    gold = folder / "gold.mrg"
    io.write(own_treebank("dev"), gold)
    for objective in OBJECTIVES:
        command = [sys.executable, "-m", "treegauge", "parse", "own", str(gold), "--input", "trees", "--objective", objective]
        (folder / f"{objective}.mrg").write_bytes(subprocess.run(command, capture_output=True, check=True).stdout)
    return [gold, *(folder / f"{objective}.mrg" for objective in OBJECTIVES)]


@contextmanager
def served(check: Check, store: Path, *, blind: bool = False) -> Iterator[dict[str, str]]:
    people = people_named(["anna"] if blind else ["anna", "ben"])
    with Store(store) as opened, serve_in_thread(Session(check, opened, people, blind=blind, guidelines=GUIDELINES)) as links:
        yield {person.name: link for person, link in links.items()}


def draw_check(browser: Any, files: list[Path], folder: Path, target: Path) -> None:
    gold, *tests = (io.read(path) for path in files)
    systems = dict(zip(OBJECTIVES, tests, strict=True))
    with served(build_check(gold, systems, CheckPlan(by_sentence=True)), folder / "a.sqlite") as links:
        page, other = (browser.new_page(viewport=WIDE) for _ in range(2))
        for one, name, keys in ((page, "anna", "arrararara"), (other, "ben", "aarararrra")):
            one.goto(links[name])
            for number, key in enumerate(keys):
                press(one, str(1 + number % 6))
                press(one, key)
        page.goto(links["anna"] + f"?question={bracket_of(build_check(gold, systems, CheckPlan(by_sentence=True)))}")
        page.wait_for_selector("article[data-ready]")
        page.screenshot(path=target / "check-light.png")
        page.emulate_media(color_scheme="dark")
        page.screenshot(path=target / "check-dark.png")
        page.emulate_media(color_scheme="light")
        print_pages(browser, page, folder / "check", target / "check-print.png")
        press(page, "e")
        press(page, "l")
        page.keyboard.type("NP")
        page.keyboard.press("Escape")
        press(page, "p")
        page.wait_for_selector("#editor[open] .edited")
        page.screenshot(path=target / "check-editor.png")
        page.keyboard.press("Escape")
        press(page, "e")
        press(page, "g")
        page.wait_for_selector("#panel[open] h1")
        page.screenshot(path=target / "check-guidelines.png")
        page.keyboard.press("Escape")
        page.set_viewport_size(NARROW)
        page.wait_for_timeout(300)
        page.screenshot(path=target / "check-narrow.png")
        page.evaluate("document.querySelector('main').scrollTop = document.querySelector('.trees').offsetTop - 200")
        page.screenshot(path=target / "check-trees-narrow.png")
        page.set_viewport_size({"width": 1000, "height": 760})
        for name in ("results", "judged"):
            page.goto(links["anna"] + name)
            page.screenshot(path=target / f"check-{name}.png")
        page.goto(links["adjudicator"] + "agreement")
        page.screenshot(path=target / "check-agreement.png")
    with served(build_check(gold, systems, CheckPlan()), folder / "b.sqlite", blind=True) as links:
        page = browser.new_page(viewport={"width": 1200, "height": 760})
        page.goto(links["anna"])
        press(page, "a")
        page.screenshot(path=target / "check-blind.png")


def bracket_of(check: Check) -> str:
    """A crossing error in a sentence of medium length with several brackets in question."""
    for unit in check.units:
        crossing = [check.questions[number] for number in unit if check.questions[number].kind == "CE"]
        if crossing and len(unit) > 2 and 9 <= len(crossing[0].span.words) <= 13:
            return crossing[0].key
    raise SystemExit("no such sentence")


def press(page: Any, key: str) -> None:
    if page.query_selector("article"):
        page.wait_for_selector("article[data-ready]")
    page.keyboard.press(key)
    page.wait_for_selector("body:not(.busy)")


def draw_report(browser: Any, folder: Path, target: Path) -> None:
    """The report that the README makes."""
    place = folder / "examples"
    write_examples(place)
    written = place / "report.html"
    command = [sys.executable, "-m", "treegauge", "report", "gold.mrg", "A.mrg", "B.mrg", "-o", written.name]
    subprocess.run(command, check=True, capture_output=True, cwd=place)
    page = browser.new_page(viewport=WIDE, reduced_motion="reduce")
    page.goto(written.as_uri())
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.evaluate("window.scrollTo(0, 0)")
        page.screenshot(path=target / f"report-{scheme}.png")
        page.evaluate("document.querySelector('#sentences').scrollIntoView()")
        page.wait_for_timeout(300)
        page.screenshot(path=target / f"report-trees-{scheme}.png")
    page.emulate_media(color_scheme="light")
    print_pages(browser, page, folder / "report", target / "report-print.png")
    page.set_viewport_size(NARROW)
    page.reload()
    page.evaluate("document.querySelector('#summary').scrollIntoView()")
    page.wait_for_timeout(300)
    page.screenshot(path=target / "report-narrow.png")
    page.evaluate("document.querySelector('.item.open').scrollIntoView()")
    page.wait_for_timeout(300)
    page.screenshot(path=target / "report-trees-narrow.png")


def draw_right_to_left(browser: Any, folder: Path, target: Path) -> None:
    gold, test = (Treebank.parse("\n".join(trees)) for trees in (HEBREW, MISREAD))
    page = browser.new_page(viewport=WIDE)
    with served(build_check(gold, {"A": test}, CheckPlan(by_sentence=True)), folder / "c.sqlite") as links:
        page.goto(links["anna"])
        page.wait_for_selector("article[data-ready]")
        page.screenshot(path=target / "check-rtl.png")
    report(gold, {"A": test}, CompareOptions(rounds=100)).write(str(folder / "rtl.html"))
    page.goto((folder / "rtl.html").as_uri())
    page.evaluate("document.querySelector('#sentences').scrollIntoView({behavior: 'instant'})")
    page.screenshot(path=target / "report-trees-rtl.png")


def print_pages(browser: Any, page: Any, name: Path, target: Path) -> None:
    """Make pictures of the first printed pages, if the program for it is installed."""
    if not shutil.which("pdftoppm"):
        return
    page.pdf(path=name.with_suffix(".pdf"), format="A4")
    subprocess.run(["pdftoppm", "-png", "-r", "55", "-l", "3", str(name.with_suffix(".pdf")), f"{name}-paper"], check=True)
    side_by_side(browser, sorted(name.parent.glob(f"{name.name}-paper*.png")), target)


def side_by_side(browser: Any, pages: list[Path], target: Path) -> None:
    """A picture of printed pages side by side."""
    images = "".join(f'<img src="{path.as_uri()}" style="border:1px solid #999;margin:6px">' for path in pages)
    sheet = pages[0].with_name("sheet.html")
    sheet.write_text(f'<body style="margin:6px;background:#ddd;display:inline-flex">{images}</body>', "utf-8")
    page = browser.new_page(viewport={"width": 1500, "height": 700})
    page.goto(sheet.as_uri())
    page.locator("body").screenshot(path=target)


if __name__ == "__main__":
    main()
