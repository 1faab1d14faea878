"""A whole annotation job by sentence, by keyboard: two annotators, disagreement, adjudication, correction, results."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from axe_checks import axe_faults
from humancheck_browser import BrowserPerson
from humancheck_helpers import small_check

from treegauge.humancheck.corrections import correct_treebank
from treegauge.humancheck.judgements import JudgementLog
from treegauge.humancheck.questions import Check, CheckPlan, build_check
from treegauge.humancheck.session import Session, people_named
from treegauge.humancheck.store import Store
from treegauge.humancheck.web.server import serve_in_thread
from treegauge.trees import Treebank

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PAGES = ("", "guidelines", "judged", "results")


@pytest.fixture(scope="module")
def by_sentence() -> Check:
    return small_check(CheckPlan(by_sentence=True, sample=3))


def test_the_whole_job_by_sentence(chromium: Any, by_sentence: Check, store: Store) -> None:
    check = by_sentence
    with serve_in_thread(Session(check, store, people_named(["anna", "ben"]))) as links:
        anna, ben, adjudicator = (BrowserPerson(chromium, link) for link in links.values())
        # anna accepts everything; the first bracket with a reason, a note and a correction of the treebank.
        anna.press("1", "e", "l")
        anna.page.keyboard.type("QP")
        anna.page.keyboard.press("Escape")
        anna.press("n")
        anna.page.keyboard.type("why not")
        anna.page.keyboard.press("Escape")
        anna.page.reload()
        anna.page.wait_for_selector("article[data-ready]")
        assert anna.page.input_value("#note") == "why not", "an unsaved note survives a reload"
        assert anna.page.is_checked("#correction")
        moves = 0
        sentences: list[str] = []
        for number in check.order:
            shown = re.sub(r"[\[\]⟨⟩\s]", "", anna.page.inner_text(".sentence"))
            sentences.append(shown)
            moves += len(sentences) > 1 and sentences[-2] != shown
            assert anna.key == check.questions[number].key
            anna.answer("a")
        assert anna.page.is_visible(".done")
        assert moves == 2, "all brackets of a sentence stand together"
        # ben rejects the first and accepts the others.
        ben.answer("r")
        for _ in check.order[1:]:
            ben.answer("a")
        adjudicator.page.reload()
        assert adjudicator.key == check.questions[check.order[0]].key
        assert "why not" in adjudicator.page.inner_text("main")
        adjudicator.press("e", "l")
        adjudicator.page.keyboard.type("QP")
        adjudicator.page.keyboard.press("Escape")
        adjudicator.answer("a")
        adjudicator.page.goto(adjudicator.link + "agreement")
        assert "settled: accepted" in adjudicator.page.inner_text("main")
        adjudicator.page.goto(adjudicator.link + "results")
        assert "attachment" in adjudicator.page.inner_text("main")
        assert anna.errors + ben.errors + adjudicator.errors == []
        for person in (anna, ben, adjudicator):
            person.close()
    log = JudgementLog(store.since(0))
    first = next(iter(store.since(0)))
    assert (first.note, first.correct_label, first.tags) == ("why not", "QP", ("attachment",))
    assert any("(QP " in str(tree) for tree in correct_treebank(check, log).bank)


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


def test_two_presses_in_haste_judge_one_bracket(chromium: Any, by_sentence: Check, store: Store) -> None:
    with serve_in_thread(Session(by_sentence, store, people_named(["anna"]))) as links:
        anna = BrowserPerson(chromium, next(iter(links.values())))
        anna.page.wait_for_selector("article[data-ready]")
        before = anna.key
        anna.page.keyboard.press("a")
        anna.page.wait_for_selector(f"article:not([data-key='{before}'])")
        anna.page.wait_for_selector("body:not(.busy)")
        anna.page.keyboard.press("a")
        anna.page.wait_for_timeout(400)
        assert len(store.since(0)) == 1
        assert "Too fast" in anna.page.inner_text("#status")
        anna.close()


@pytest.mark.parametrize(
    "options", [{}, {"viewport": {"width": 375, "height": 740}}, {"color_scheme": "dark"}], ids=["wide", "375", "dark"]
)
def test_axe_finds_no_fault(chromium: Any, by_sentence: Check, tmp_path: Path, axe: str, options: dict[str, Any]) -> None:
    with (
        Store(tmp_path / "j.sqlite") as store,
        serve_in_thread(Session(by_sentence, store, people_named(["anna", "ben"]), guidelines="# Ours")) as links,
    ):
        context = chromium.new_context(bypass_csp=True, **options)
        page = context.new_page()
        for person, link in links.items():
            for name in (*PAGES, *(["agreement"] if person.role == "adjudicator" else [])):
                page.goto(link + name)
                assert axe_faults(page, axe) == [], name
                assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), name
        page.goto(next(iter(links.values())))
        page.keyboard.press("?")
        assert axe_faults(page, axe) == [], "help"
        context.close()


def test_text_from_right_to_left(chromium: Any, store: Store) -> None:
    gold = Treebank.parse("(S (NP (N שלום) (N רב)) (VP (V לכם) (NP (N ילדים) (ADJ טובים))))")
    test = Treebank.parse("(S (X (N שלום) (N רב) (V לכם)) (NP (N ילדים) (ADJ טובים)))")
    check = build_check(gold, {"A": test}, CheckPlan(by_sentence=True))
    with serve_in_thread(Session(check, store, people_named(["anna"]))) as links:
        anna = BrowserPerson(chromium, next(iter(links.values())))
        assert anna.page.get_attribute(".sentence", "dir") == "rtl"
        for _ in check.order:
            anna.answer("r")
        assert anna.page.is_visible(".done")
        assert anna.errors == []
        anna.close()
