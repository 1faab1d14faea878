"""The page for everybody, in a real browser: keyboards of any kind, screen readers, narrow and dark screens, no movement."""

from __future__ import annotations

import time
from typing import Any

import pytest
from humancheck_browser import BrowserPerson

from treegauge.humancheck.questions import Check, build_check
from treegauge.humancheck.session import Session, people_named
from treegauge.humancheck.store import Store
from treegauge.humancheck.web.server import serve_in_thread
from treegauge.trees import Tree, Treebank

pytestmark = [pytest.mark.browser, pytest.mark.slow]

FOCUSED = "() => document.activeElement.value || document.activeElement.className || document.activeElement.id"
NAMELESS = """() => [...document.querySelectorAll(
        "button, a, input:not([type=hidden]), textarea, [role=region], [role=img], svg, progress")]
    .filter(e => !(e.getAttribute("aria-label") || e.textContent.trim() || e.closest("label")?.textContent.trim()))
    .map(e => e.outerHTML.slice(0, 80))"""
OUTLINE = "() => parseFloat(getComputedStyle(document.activeElement).outlineWidth)"
DOUBLED_IDS = """() => {
    const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
    return ids.length - new Set(ids).size;
}"""


def accessible(person: BrowserPerson) -> list[dict[str, Any]]:
    """What a screen reader is given, node by node."""
    session = person.context.new_cdp_session(person.page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    return [node for node in nodes if not node["ignored"]]


def test_keyboard_alone_is_enough(chromium: Any, check: Check, store: Store) -> None:
    with serve_in_thread(Session(check, store, people_named(["anna"]))) as links:
        anna = BrowserPerson(chromium, next(iter(links.values())))
        seen: list[str] = []
        for _ in range(40):
            anna.page.keyboard.press("Tab")
            seen.append(anna.page.evaluate(FOCUSED))
            if seen[-1] == "accepted":
                break
        assert "skip-link" in seen[0]
        assert "sentence" in seen
        assert "tree" in seen
        before = anna.key
        anna.page.keyboard.press("Enter")
        anna.page.wait_for_selector(f"article:not([data-key='{before}'])")
        assert anna.page.evaluate("() => document.activeElement.value") == "accepted", "one can go on where one was"
        assert anna.page.evaluate(OUTLINE) >= 2, "one sees where one is"
        anna.wait_until_stored()
        assert store.since(0)[0].verdict == "accepted"
        anna.page.keyboard.press("?")
        assert anna.page.is_visible("#help")
        anna.page.keyboard.press("a")
        anna.page.keyboard.press("Escape")
        assert anna.page.is_hidden("#help")
        anna.page.keyboard.press("?")
        anna.page.check("#keys-off")
        anna.page.keyboard.press("Escape")
        anna.page.keyboard.press("r")
        anna.page.wait_for_timeout(200)
        assert len(store.since(0)) == 1, "letters do nothing once they are switched off"
        anna.close()


def test_keys_that_write_other_letters_work_by_their_place(chromium: Any, check: Check, store: Store) -> None:
    with serve_in_thread(Session(check, store, people_named(["anna"]))) as links:
        anna = BrowserPerson(chromium, next(iter(links.values())))
        for key, code in (("ф", "KeyA"), ("ρ", "KeyR"), ("ü", "BracketLeft"), ("F1", "F1")):
            anna.page.wait_for_selector("article[data-ready]")
            anna.page.evaluate(
                "([key, code]) => document.body.dispatchEvent(new KeyboardEvent('keydown', {key, code, bubbles: true}))",
                [key, code],
            )
            anna.page.wait_for_selector("body:not(.busy)")
        anna.wait_until_stored()
        assert [judgement.verdict for judgement in store.since(0)] == ["accepted", "rejected"]
        anna.close()


def test_time_away_from_the_page_does_not_count(chromium: Any, check: Check, store: Store) -> None:
    hide = """hidden => {
        Object.defineProperty(document, "hidden", {value: hidden, configurable: true});
        document.dispatchEvent(new Event("visibilitychange"));
    }"""
    with serve_in_thread(Session(check, store, people_named(["anna"]))) as links:
        anna = BrowserPerson(chromium, next(iter(links.values())))
        begin = time.monotonic()
        anna.page.reload()
        anna.page.evaluate(hide, True)
        anna.page.wait_for_timeout(1000)
        anna.page.evaluate(hide, False)
        anna.answer("a")
        whole = time.monotonic() - begin
        anna.close()
    (judgement,) = store.since(0)
    assert judgement.seconds is not None
    assert 0 < judgement.seconds <= whole - 1


@pytest.mark.parametrize(("wish", "moves"), [("no-preference", True), ("reduce", False)])
def test_nothing_moves_for_those_who_do_not_want_it(chromium: Any, check: Check, store: Store, wish: str, moves: bool) -> None:
    with serve_in_thread(Session(check, store, people_named(["anna"]))) as links:
        anna = BrowserPerson(chromium, next(iter(links.values())), reduced_motion=wish)
        moving = "() => [...document.querySelectorAll('*')].some(e => parseFloat(getComputedStyle(e).transitionDuration) > 0)"
        assert anna.page.evaluate(moving) == moves
        anna.close()


def test_screen_readers_hear_everything(chromium: Any, check: Check, store: Store) -> None:
    with serve_in_thread(Session(check, store, people_named(["anna"]))) as links:
        anna = BrowserPerson(chromium, next(iter(links.values())))
        assert anna.page.evaluate(NAMELESS) == []
        assert anna.page.evaluate("() => document.documentElement.lang") == "en"
        assert anna.page.evaluate("() => document.querySelectorAll('h1').length") == 1
        assert anna.page.evaluate(DOUBLED_IDS) == 0
        spoken = anna.page.locator("body").aria_snapshot()
        controls = (
            'button "Accept A"',
            'progressbar "Brackets answered"',
            'group "Sentence"',
            'textbox "Note N"',
            'group "Verdict"',
        )
        for control in (*controls, f'heading "{anna.page.inner_text("h1")}"'):
            assert control in spoken
        trees = [node for node in accessible(anna) if node["role"]["value"] in ("image", "img")]
        titles = [tree["name"]["value"].split(":")[0] for tree in trees]
        assert titles == anna.page.evaluate("[...document.querySelectorAll('figcaption')].map((one) => one.firstChild.data.trim())")
        brackets = trees[1]["description"]["value"]
        assert brackets.count("(") == brackets.count(")") > 3, "a tree is read out as brackets"
        assert " focus]" in brackets, "with the bracket in question"
        anna.answer("a")
        heard = anna.page.inner_text("#status")
        assert heard.startswith("Answered: accepted ")
        assert "acceptable bracket" in heard
        anna.close()


@pytest.mark.parametrize("width", [360, 768, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_every_width_and_both_schemes(chromium: Any, store: Store, width: int, scheme: str) -> None:
    words = [f"word{number}" for number in range(80)]
    tags = [Tree("N", [word]) for word in words]
    gold = Tree("S", [Tree("NP", tags[:40]), Tree("VP", tags[40:])])
    test = Tree("S", [*tags[:10], Tree("X", tags[10:60]), *tags[60:]])
    check = build_check(Treebank.from_trees([gold]), {"parser": Treebank.from_trees([test])})
    with serve_in_thread(Session(check, store, people_named(["anna"]))) as links:
        anna = BrowserPerson(chromium, next(iter(links.values())), color_scheme=scheme)
        anna.page.set_viewport_size({"width": width, "height": 740})
        anna.page.wait_for_timeout(100)
        assert anna.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), (
            "the page itself never scrolls sideways"
        )
        buttons = anna.page.query_selector_all(".buttons button[name=verdict]")
        for button in buttons:
            place = button.bounding_box()
            assert place["y"] + place["height"] <= 740, "the answers are always in sight"
            assert place["height"] >= 44, "and large enough for a thumb"
        paper = anna.page.evaluate("() => getComputedStyle(document.body).backgroundColor")
        assert (paper == "rgb(255, 255, 255)") == (scheme == "light")
        focus = anna.page.query_selector_all("figure")[1].query_selector(".focus").bounding_box()
        tree = anna.page.query_selector_all(".tree")[1].bounding_box()
        assert tree["x"] <= focus["x"] + focus["width"] / 2 <= tree["x"] + tree["width"], "the bracket is scrolled into sight"
        assert anna.errors == []
        anna.close()
