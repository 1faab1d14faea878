"""The whole job in a real browser: keys, undo, reload, lost connections, a second annotator, narrow and dark pages."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from humancheck_helpers import small_check

from treegauge.humancheck.office import Office, people_of
from treegauge.humancheck.queue import Check, Plan, build_check
from treegauge.humancheck.serving import running
from treegauge.humancheck.store import Store
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
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update"]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        assert os.environ.get("TREEGAUGE_REQUIRE_BROWSER") != "1", "no Chromium"
        pytest.skip("no Chromium on this machine")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


class Desk:
    """A person at the page in a browser."""

    def __init__(self, browser: Any, link: str, **options: Any) -> None:
        self.context = browser.new_context(viewport={"width": 1280, "height": 900}, **options)
        self.page = self.context.new_page()
        self.link = link
        self.errors: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        self.page.on("request", self._listen)
        self.page.goto(link)

    def _listen(self, request: Any) -> None:
        """The page works offline: it asks nobody but the check itself."""
        if urlsplit(request.url).netloc != urlsplit(self.link).netloc:
            self.errors.append(f"a request leaves the page: {request.url}")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
            self.page.wait_for_selector("body:not(.busy)")

    def answer(self, key: str) -> None:
        """Press a key and wait for the next question."""
        before = self.key
        self.press(key)
        self.page.wait_for_selector(f"article:not([data-key='{before}']), .done")

    @property
    def key(self) -> str:
        return self.page.get_attribute("article", "data-key") if self.page.query_selector("article") else ""

    @property
    def count(self) -> str:
        return self.page.inner_text("#count")

    def close(self) -> None:
        self.context.close()


def accessible(desk: Desk) -> list[dict[str, Any]]:
    """What a screen reader is given, node by node."""
    session = desk.context.new_cdp_session(desk.page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    return [node for node in nodes if not node["ignored"]]


def test_the_whole_job(chromium: Any, store: Store) -> None:
    check = small_check(Plan(sample=6))
    office = Office(check, store, people_of(["anna", "ben"]))
    with running(office) as links:
        by_name = {who.name: link for who, link in links.items()}
        anna = Desk(chromium, by_name["anna"])
        assert anna.count == "0 of 6 judged, 6 left"
        keys = [check.questions[number].key for number in check.order]
        assert anna.key == keys[0]
        anna.answer("a")
        anna.answer("r")
        assert anna.key == keys[2]
        assert anna.count == "2 of 6 judged, 4 left"
        assert "rejected" in anna.page.inner_text("#last")
        # A note is text, not a row of commands; the remark about the treebank goes with the answer.
        anna.press("n")
        anna.page.keyboard.type("ararat")
        anna.press("Escape", "e")
        anna.answer("u")
        assert anna.page.input_value("#note") == ""
        assert not anna.page.is_checked("#correction")
        anna.answer("z")
        assert anna.key == keys[2]
        assert anna.count == "2 of 6 judged, 4 left"
        anna.answer("s")
        anna.page.reload()
        assert anna.key == keys[3]
        assert "(1 put off)" in anna.count
        for key in "aar":
            anna.answer(key)
        assert anna.key == keys[2], "what was put off comes last"
        assert "Recall-soft" in anna.page.inner_text("#measures")
        anna.press("r")
        anna.page.wait_for_selector(".done")
        assert "All brackets are judged" in anna.page.inner_text("main")
        anna.press("z")
        anna.page.wait_for_selector("article")
        assert anna.key == keys[2]
        anna.press("a")
        anna.page.wait_for_selector(".done")

        ben = Desk(chromium, by_name["ben"])
        assert ben.key == keys[0]
        ben.page.click("button.reject")
        ben.page.wait_for_selector(f"article[data-key='{keys[1]}']")
        adjudicator = Desk(chromium, by_name["adjudicator"])
        assert adjudicator.key == keys[0]
        assert "anna accepted" in adjudicator.page.inner_text("article")
        adjudicator.press("a")
        adjudicator.page.wait_for_selector(".done")
        adjudicator.page.click("text=The results")
        assert "Krippendorff" in adjudicator.page.inner_text("main")
        assert anna.errors + ben.errors + adjudicator.errors == []
        for desk in (anna, ben, adjudicator):
            desk.close()
    log = store.since(0)
    noted = [judgement for judgement in log if judgement.note]
    assert [(one.note, one.correction, one.verdict) for one in noted] == [("ararat", True, "unsure")]
    verdicts = [office.ledger.standing(check.questions[n].bracket, ("annotator", "anna")) for n in check.order]
    assert [said.verdict for said in verdicts if said] == ["accepted", "rejected", "accepted", "accepted", "accepted", "rejected"]


def test_answers_survive_a_bad_connection(chromium: Any, check: Check, store: Store) -> None:
    with running(Office(check, store, people_of(["anna"]))) as links:
        anna = Desk(chromium, next(iter(links.values())))
        fates = iter(["lost", "stored, answer lost", "broken", "well"])

        def fate(route: Any) -> None:
            match next(fates):
                case "lost":
                    route.abort()
                case "stored, answer lost":
                    route.fetch()
                    route.abort()
                case "broken":
                    route.fulfill(status=503, body="{}")
                case _:
                    route.continue_()

        anna.page.route("**/judge", fate)
        anna.page.keyboard.press("a")
        anna.page.wait_for_selector("#trouble:not([hidden])")
        assert "Not stored yet" in anna.page.inner_text("#trouble")
        anna.page.keyboard.press("r")  # an impatient second answer does nothing while the first is under way
        anna.page.wait_for_selector("body:not(.busy)")
        assert anna.page.is_hidden("#trouble")
        assert [judgement.verdict for judgement in store.since(0)] == ["accepted"]

        anna.page.unroute("**/judge")
        anna.page.route("**/judge", lambda route: route.abort())
        anna.page.keyboard.press("r")
        anna.page.wait_for_selector("#trouble:not([hidden])")
        anna.page.on("dialog", lambda dialog: dialog.accept())
        anna.page.unroute("**/judge")
        anna.page.reload()  # what waited is sent again by the page that comes up
        anna.page.wait_for_function("() => document.querySelector('#count').textContent.startsWith('2 of')")
        assert [judgement.verdict for judgement in store.since(0)] == ["accepted", "rejected"]
        anna.close()


def test_keyboard_alone_is_enough(chromium: Any, check: Check, store: Store) -> None:
    with running(Office(check, store, people_of(["anna"]))) as links:
        anna = Desk(chromium, next(iter(links.values())))
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
    with running(Office(check, store, people_of(["anna"]))) as links:
        anna = Desk(chromium, next(iter(links.values())))
        for key, code in (("ф", "KeyA"), ("ρ", "KeyR"), ("ü", "BracketLeft"), ("F1", "F1")):
            anna.page.evaluate(
                "([key, code]) => document.body.dispatchEvent(new KeyboardEvent('keydown', {key, code, bubbles: true}))",
                [key, code],
            )
            anna.page.wait_for_selector("body:not(.busy)")
        assert [judgement.verdict for judgement in store.since(0)] == ["accepted", "rejected"]
        anna.close()


def test_time_away_from_the_page_does_not_count(chromium: Any, check: Check, store: Store) -> None:
    hide = """hidden => {
        Object.defineProperty(document, "hidden", {value: hidden, configurable: true});
        document.dispatchEvent(new Event("visibilitychange"));
    }"""
    with running(Office(check, store, people_of(["anna"]))) as links:
        anna = Desk(chromium, next(iter(links.values())))
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
    with running(Office(check, store, people_of(["anna"]))) as links:
        anna = Desk(chromium, next(iter(links.values())), reduced_motion=wish)
        moving = "() => [...document.querySelectorAll('*')].some(e => parseFloat(getComputedStyle(e).transitionDuration) > 0)"
        assert anna.page.evaluate(moving) == moves
        anna.close()


def test_screen_readers_hear_everything(chromium: Any, check: Check, store: Store) -> None:
    with running(Office(check, store, people_of(["anna"]))) as links:
        anna = Desk(chromium, next(iter(links.values())))
        assert anna.page.evaluate(NAMELESS) == []
        assert anna.page.evaluate("() => document.documentElement.lang") == "en"
        assert anna.page.evaluate("() => document.querySelectorAll('h1').length") == 1
        assert anna.page.evaluate(DOUBLED_IDS) == 0
        spoken = anna.page.locator("body").aria_snapshot()
        controls = (
            'button "Accept A"',
            'progressbar "Brackets judged"',
            'region "Sentence"',
            'textbox "Note N"',
            'group "Your answer"',
        )
        for control in (*controls, f'heading "{anna.page.inner_text("h1")}"'):
            assert control in spoken
        trees = [node for node in accessible(anna) if node["role"]["value"] in ("image", "img")]
        titles = [tree["name"]["value"].split(":")[0] for tree in trees]
        assert titles == [anna.page.inner_text(f"figcaption >> nth={number}").split(" made it")[0] for number in (0, 1)]
        brackets = trees[1]["description"]["value"]
        assert brackets.count("(") == brackets.count(")") > 3, "a tree is read out as brackets"
        assert " focus]" in brackets, "with the bracket in question"
        anna.answer("a")
        heard = anna.page.inner_text("#status")
        assert heard.startswith("Stored: accepted.")
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
    with running(Office(check, store, people_of(["anna"]))) as links:
        anna = Desk(chromium, next(iter(links.values())), color_scheme=scheme)
        anna.page.set_viewport_size({"width": width, "height": 740})
        anna.page.wait_for_timeout(100)
        assert anna.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), (
            "the page itself never scrolls sideways"
        )
        buttons = anna.page.query_selector_all(".buttons button")
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


def test_hostile_text_runs_nothing(chromium: Any, store: Store) -> None:
    words = ["<img src=x onerror=alert(1)>", "<script>alert(2)</script>", "\"'><svg onload=alert(3)>", "{{7*7}}", "x"]
    tags = [Tree("<b>", [word]) for word in words]
    gold, test = Tree("S", tags), Tree("S", [Tree("<i onclick=alert(4)>", tags[:2]), *tags[2:]])
    check = build_check(Treebank.from_trees([gold, gold.replace(label="T")]), {"<u>": Treebank.from_trees([test, test])})
    with running(Office(check, store, people_of(["<h1>anna"]))) as links:
        anna = Desk(chromium, next(iter(links.values())))
        dialogs: list[str] = []
        anna.page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
        anna.press("n")
        anna.page.keyboard.type("<img src=x onerror=alert(5)>")
        anna.press("Escape")
        anna.answer("a")
        for address in ("", "judged", "results"):
            anna.page.goto(anna.link + address)
            anna.page.wait_for_timeout(100)
            assert words[0] in anna.page.inner_text("main") or address == "results"
            assert anna.page.query_selector("main img, main i, main u, main b script") is None
        assert dialogs == []
        assert anna.errors == []
        anna.close()


def test_blind_and_the_other_parsers_tree(chromium: Any, check: Check, tmp_path: Path) -> None:
    with Store(tmp_path / "b.sqlite") as store, running(Office(check, store, people_of(["anna"]), blind=True)) as links:
        anna = Desk(chromium, next(iter(links.values())))
        captions = [caption.inner_text() for caption in anna.page.query_selector_all("figcaption")]
        assert captions == ["Tree 1", "Tree 2"]
        assert anna.page.query_selector(".reason, .matched, .crossing, .spurious, .missed, .focus") is None
        anna.answer("a")
        assert "It was " in anna.page.inner_text("#last")
        anna.close()
    shared = next(question for question in check.questions if len(check.name_of(question)) == 2 and question.kind != "EM")
    with Store(tmp_path / "c.sqlite") as store, running(Office(check, store, people_of(["anna"]))) as links:
        anna = Desk(chromium, next(iter(links.values())))
        anna.page.goto(anna.link + f"?question={shared.key}")
        shown = anna.page.get_attribute("article", "data-system")
        anna.press("t")
        anna.page.wait_for_selector(f"article:not([data-system='{shown}'])")
        anna.press("c")
        assert anna.page.is_visible(".context p")
        assert anna.errors == []
        anna.close()


def test_long_sentences_scroll(chromium: Any, store: Store) -> None:
    tags = [Tree("N", [f"word{number}"]) for number in range(10_000)]
    gold = Tree("S", [Tree("NP", tags[:5000]), Tree("VP", tags[5000:])])
    test = Tree("S", [Tree("NP", tags[:4990]), Tree("X", tags[4990:5010]), *tags[5010:]])
    check = build_check(Treebank.from_trees([gold]), {"parser": Treebank.from_trees([test])})
    number = next(n for n in check.order if check.questions[n].bracket.label == "X")
    with running(Office(check, store, people_of(["anna"]))) as links:
        anna = Desk(chromium, next(iter(links.values())))
        anna.page.goto(anna.link + f"?question={check.questions[number].key}")
        box, asked = anna.page.query_selector(".sentence").bounding_box(), anna.page.query_selector(".asked").bounding_box()
        assert box["y"] <= asked["y"] <= box["y"] + box["height"]
        assert box["height"] < 250
        anna.press("w")
        anna.page.wait_for_selector("article[data-whole=yes]")
        anna.page.goto(anna.link)
        anna.page.wait_for_selector("article[data-whole=yes]")  # the wish is remembered
        anna.page.click("#whole")
        anna.page.wait_for_selector("article[data-whole='']")
        assert anna.errors == []
        anna.close()
