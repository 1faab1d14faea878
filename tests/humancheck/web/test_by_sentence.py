"""A whole annotation job by sentence, by keyboard: two annotators, disagreement, adjudication, correction, results."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from humancheck_browser import BrowserPerson
from humancheck_helpers import careless, small_check

from treegauge import io
from treegauge.data import own_treebank
from treegauge.humancheck.questions import Check, CheckPlan, build_check
from treegauge.humancheck.session import Session, people_named
from treegauge.humancheck.store import Store
from treegauge.humancheck.web.server import serve_in_thread
from treegauge.trees import Treebank

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def by_sentence() -> Check:
    return small_check(CheckPlan(by_sentence=True, sample=3))


VARIANTS: dict[str, tuple[dict[str, Any], str]] = {
    "wide": ({}, "ltr"),
    "375 dark": ({"viewport": {"width": 375, "height": 740}, "color_scheme": "dark"}, "ltr"),
    "right to left": ({}, "rtl"),
}
HEBREW = [
    "(S (NP (N שלום) (N רב)) (VP (V לכם) (NP (N ילדים) (ADJ טובים)) (. .)))",
    "(S (NP (N אתמול)) (VP (V ראה) (NP (N איש) (ADJ זקן)) (PP (P עם) (NP (N כלב) (ADJ קטן)))))",
]
MISREAD = [
    "(S (X (N שלום) (N רב) (V לכם)) (NP (N ילדים) (ADJ טובים) (. .)))",
    "(S (NP (N אתמול)) (VP (V ראה) (NP (NP (N איש) (ADJ זקן)) (PP (P עם) (NP (N כלב) (ADJ קטן))))))",
]


def job(direction: str) -> tuple[Treebank, Treebank]:
    if direction == "rtl":
        return Treebank.parse("\n".join(HEBREW)), Treebank.parse("\n".join(MISREAD))
    gold = own_treebank("dev")[:12]
    return gold, careless(gold, 1)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_whole_job_by_sentence(chromium: Any, tmp_path: Path, variant: str) -> None:
    """Two annotators, disagreement, adjudication, correction, export and results, by keyboard alone."""
    options, direction = VARIANTS[variant]
    gold, test = job(direction)
    io.write(gold, tmp_path / "gold.mrg")
    check = build_check(io.read(tmp_path / "gold.mrg"), {"A": test}, CheckPlan(by_sentence=True, sample=3))
    units = [unit for unit in check.units if set(unit) <= set(check.order)]
    with (
        Store(tmp_path / "j.sqlite") as store,
        serve_in_thread(Session(check, store, people_named(["anna", "ben"]))) as links,
    ):
        anna, ben, adjudicator = (BrowserPerson(chromium, link, **options) for link in links.values())
        assert anna.page.get_attribute(".sentence", "dir") == direction
        # anna: a reason, a note, and a corrected tree: the first bracket put in under another label, and the whole relabelled.
        anna.press("1", "n")
        anna.type("why not")
        anna.press("Escape", "e", "l")
        anna.type("QP")
        anna.press("Escape", "p")
        anna.page.wait_for_selector("#editor[open] .edited")
        assert "+ QP" in anna.page.inner_text(".changes")
        first = anna.page.get_attribute(".edited", "data-tree")
        anna.page.keyboard.press("l")
        anna.type("WH")
        anna.page.keyboard.press("Enter")
        anna.page.wait_for_function("before => document.querySelector('.edited').dataset.tree !== before", arg=first)
        edited = anna.page.get_attribute(".edited", "data-tree")
        anna.page.keyboard.press("Enter")
        anna.page.wait_for_selector("#tree-edited")
        anna.page.reload()
        anna.page.wait_for_selector("article[data-ready]")
        assert anna.page.input_value("#note") == "why not", "an unsaved note survives a reload"
        assert anna.page.input_value("#correct-tree") == edited, "and so does an edited tree"
        sentences: list[str] = []
        for number in check.order:
            sentences.append(re.sub(r"[\[\]⟨⟩\s]", "", anna.page.inner_text(".sentence")))
            assert anna.key == check.questions[number].key
            assert anna.is_in_sight(".sentence .asked")
            assert anna.is_in_sight("g.focus"), "the bracket is in sight in the tree, too"
            assert anna.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
            anna.answer("a")
        assert anna.page.is_visible(".done")
        drafts = "Object.keys(localStorage).filter(name => name.startsWith('treegauge-draft'))"
        assert anna.page.evaluate(drafts) == [], "what was sent is no draft any more"
        assert sum(a != b for a, b in pairwise(sentences)) == len(units) - 1, "all brackets of a sentence stand together"
        # ben rejects the first and accepts the others; then he thinks again about the second.
        ben.answer("r")
        for _ in check.order[1:]:
            ben.answer("a")
        ben.press("z")
        ben.page.wait_for_selector("article[data-ready]")
        ben.answer("u")
        # The adjudicator sees both opinions, takes anna's tree, and settles it.
        adjudicator.page.reload()
        assert adjudicator.key == check.questions[check.order[0]].key
        assert "why not" in adjudicator.page.inner_text("main")
        adjudicator.press("p")
        adjudicator.page.wait_for_selector("#editor[open] .edited")
        adjudicator.follow("button[data-from=anna]")
        adjudicator.page.wait_for_function("tree => document.querySelector('.edited').dataset.tree === tree", arg=edited)
        adjudicator.page.keyboard.press("Enter")
        adjudicator.answer("a")
        adjudicator.page.wait_for_selector(".done")
        adjudicator.page.wait_for_load_state()
        adjudicator.follow("a[href=agreement]")
        adjudicator.page.wait_for_selector(".disputes")
        assert "settled: accepted" in adjudicator.page.inner_text("main")
        adjudicator.follow("a[href=results]")
        adjudicator.page.wait_for_selector("text=attachment")
        adjudicator.follow("a[href=judged]")
        adjudicator.page.wait_for_selector("#judgements")
        with adjudicator.page.expect_download() as download:
            adjudicator.follow("a[href='corrected.patch']")
        patch = Path(download.value.path()).read_text("utf-8")
        assert anna.errors + ben.errors + adjudicator.errors == []
        for person in (anna, ben, adjudicator):
            person.close()
    assert f"+{edited}\n" in patch
    assert export_and_results(tmp_path, gold, test) == [edited if f"-{tree}\n" in patch else str(tree) for tree in gold]


def export_and_results(folder: Path, gold: Treebank, test: Treebank) -> list[str]:
    """The corrected treebank from the command line, whose results must show the reason."""
    io.write(gold, folder / "gold.mrg")
    io.write(test, folder / "test.mrg")

    def command(*options: str) -> str:
        arguments = [sys.executable, "-m", "treegauge", "check", "gold.mrg", "test.mrg", "--store", "j.sqlite", *options]
        return subprocess.run(arguments, cwd=folder, check=True, capture_output=True, text=True, encoding="utf-8").stdout

    command("--corrected", "better.mrg")
    assert "attachment" in command("--results")
    return [str(tree) for tree in io.read(folder / "better.mrg")]


def test_nodes_fold_by_keyboard(chromium: Any, by_sentence: Check, store: Store) -> None:
    with serve_in_thread(Session(by_sentence, store, people_named(["anna"]))) as links:
        anna = BrowserPerson(chromium, next(iter(links.values())))
        tree = "figure:nth-of-type(2) .tree"
        before = anna.page.locator(f"{tree} g.node").count()
        at = anna.page.get_attribute(f"{tree} g.focus", "id")
        anna.press("f")
        assert anna.page.locator(f"#{at} .cursor").count() == 1, "the cursor begins at the bracket in question"
        anna.press("ArrowUp", "Enter")
        anna.page.wait_for_selector(f"{tree} g.folded .cursor")
        assert anna.page.locator(f"{tree} g.node").count() < before
        assert "folded" in anna.page.inner_text("#status")
        anna.press("Enter")
        anna.page.wait_for_selector(f"{tree} g.phrase .cursor")
        assert anna.page.locator(f"{tree} g.node").count() == before
        anna.press("Escape")
        assert anna.page.locator(".cursor").count() == 0
        anna.answer("a")
        assert anna.errors == []
        anna.close()


def test_trees_zoom_and_fit(chromium: Any, by_sentence: Check, store: Store) -> None:
    with serve_in_thread(Session(by_sentence, store, people_named(["anna"]))) as links:
        anna = BrowserPerson(chromium, next(iter(links.values())))
        width = "() => document.querySelector('.tree svg').getBoundingClientRect().width"
        fitting = anna.page.evaluate(width)
        anna.press("+", "+")
        assert anna.page.evaluate(width) > 1.4 * fitting
        tree = anna.page.query_selector(".tree:has(g.focus)").bounding_box()
        bracket = anna.page.query_selector("g.focus").bounding_box()
        assert tree["x"] <= bracket["x"] <= tree["x"] + tree["width"], "the bracket stays in its box"
        anna.press("0")
        assert anna.page.evaluate(width) == fitting
        anna.close()


def test_walking_through_the_brackets_of_a_sentence(chromium: Any, by_sentence: Check, store: Store) -> None:
    check = by_sentence
    unit = next(unit for unit in check.units[:3] if len(unit) > 1)
    with serve_in_thread(Session(check, store, people_named(["anna"]))) as links:
        anna = BrowserPerson(chromium, next(iter(links.values())))
        anna.page.goto(anna.link + f"?question={check.questions[unit[0]].key}")
        anna.press("ArrowDown")
        anna.page.wait_for_selector(f"article[data-key='{check.questions[unit[1]].key}']")
        bar = anna.page.query_selector(".bar").bounding_box()
        anna.press("ArrowUp")
        anna.page.wait_for_selector(f"article[data-key='{check.questions[unit[0]].key}']")
        assert anna.page.query_selector(".bar").bounding_box() == bar, "the bar does not move"
        anna.answer("a")
        assert anna.page.get_attribute(f".beside a[data-key='{check.questions[unit[0]].key}']", "class") == "accepted"
        anna.close()


PLACES = """() => {
  const main = document.querySelector("main");
  return [".question h1", ".beside", ".sentence", ".about", ".trees", "figure:nth-of-type(1) .tree",
    "figure:nth-of-type(2) .tree", ".zoom", ".bar", ".buttons"].map((selector) => {
      const element = document.querySelector(selector);
      const { x, y, width } = element.getBoundingClientRect();
      return [x, y + (main.contains(element) ? main.scrollTop : 0), width];
    });
}"""


@pytest.mark.parametrize("size", [(1366, 640), (1280, 800), (375, 740)], ids=str)
def test_nothing_moves_between_questions(chromium: Any, by_sentence: Check, store: Store, size: tuple[int, int]) -> None:
    """However many brackets a sentence has, and whether or not they are answered, all but what is below the sentence stays in its
    place: the box of the sentence is as high as the sentence, and the reason has as many lines as it needs."""
    check = by_sentence
    assert len({len(unit) for unit in check.units[:3]}) > 1
    with serve_in_thread(Session(check, store, people_named(["anna"]))) as links:
        anna = BrowserPerson(chromium, next(iter(links.values())), viewport=dict(zip(("width", "height"), size, strict=True)))
        first = None
        for number in check.order:
            anna.page.wait_for_selector("article[data-ready]")
            places = anna.page.evaluate(PLACES)
            rounded = [[round(number) for number in place] for place in places]
            fixed = [rounded[0][:2], *rounded[1:3], *rounded[-2:], [(x, width) for x, _, width in rounded[1:]]]
            first = first or fixed
            assert fixed == first, check.questions[number].words
            assert anna.is_in_sight("g.focus"), check.questions[number].words
            assert anna.is_in_sight(".beside [aria-current]")
            anna.answer("u" if number == check.order[-2] else "a")
            if number == check.order[0]:
                anna.answer("z")
                anna.page.wait_for_selector("article[data-ready]")
                assert [round(number) for number in anna.page.evaluate(PLACES)[0][:2]] == first[0]
                anna.answer("a")
        anna.close()


def test_the_rest_of_a_sentence_is_answered_at_once(chromium: Any, by_sentence: Check, store: Store) -> None:
    check = by_sentence
    unit = next(unit for unit in check.units[:3] if len(unit) > 2)
    with serve_in_thread(Session(check, store, people_named(["anna"]))) as links:
        anna = BrowserPerson(chromium, next(iter(links.values())))
        anna.page.goto(anna.link + f"?question={check.questions[unit[1]].key}")
        anna.answer("a")
        anna.page.goto(anna.link + f"?question={check.questions[unit[0]].key}")
        anna.press("8")
        anna.answer("Shift+R")
        assert anna.errors == []
        anna.close()
    verdicts = {judgement.bracket: (judgement.verdict, judgement.tags) for judgement in store.since(0)}
    wrong = ("rejected", ("word or tag wrong",))
    assert verdicts == {check.questions[number].bracket: ("accepted", ()) if number == unit[1] else wrong for number in unit}


HASTE = """async () => {
  const press = () => document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "a", bubbles: true }));
  const key = () => document.querySelector("article").dataset.key;
  const before = key();
  press();
  while (key() === before || document.body.matches(".busy")) await new Promise(requestAnimationFrame);
  press();
}"""


def test_two_presses_in_haste_judge_one_bracket(chromium: Any, by_sentence: Check, store: Store) -> None:
    with serve_in_thread(Session(by_sentence, store, people_named(["anna"]))) as links:
        anna = BrowserPerson(chromium, next(iter(links.values())))
        anna.page.wait_for_selector("article[data-ready]")
        anna.page.wait_for_load_state("networkidle")
        anna.page.evaluate(HASTE)
        assert "Too fast" in anna.page.inner_text("#status")
        anna.wait_until_stored()
        assert len(store.since(0)) == 1
        anna.close()
