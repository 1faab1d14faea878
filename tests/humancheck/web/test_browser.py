"""The whole job in a real browser: keys, undo, reload, lost connections, a second annotator, hostile and long text."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sql
from humancheck_browser import BrowserPerson
from humancheck_helpers import small_check

from treegauge.humancheck.judgements import LONGEST_NOTE, Person
from treegauge.humancheck.questions import Check, CheckPlan, build_check
from treegauge.humancheck.session import Session, people_named
from treegauge.humancheck.store import Store
from treegauge.humancheck.web.server import serve_in_thread
from treegauge.trees import Tree, Treebank

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_the_whole_job(chromium: Any, store: Store) -> None:
    check = small_check(CheckPlan(sample=6))
    session = Session(check, store, people_named(["anna", "ben"]))
    with serve_in_thread(session) as links:
        by_name = {person.name: link for person, link in links.items()}
        anna = BrowserPerson(chromium, by_name["anna"])
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
        assert "1 skipped" in anna.count
        for key in "aar":
            anna.answer(key)
        assert anna.key == keys[2], "what was skipped comes last"
        assert anna.page.inner_text("#measures") == "", "hidden while judging"
        anna.page.click("#measures-box summary")
        anna.page.wait_for_selector("#measures table")
        assert "Recall-soft" in anna.page.inner_text("#measures")
        anna.press("r")
        anna.page.wait_for_selector(".done")
        assert "All brackets are answered" in anna.page.inner_text("main")
        anna.press("z")
        anna.page.wait_for_selector("article")
        assert anna.key == keys[2]
        assert anna.page.is_checked("#correction"), "undo keeps the mark"
        anna.press("e", "a")
        anna.page.wait_for_selector(".done")

        ben = BrowserPerson(chromium, by_name["ben"])
        assert ben.key == keys[0]
        ben.page.wait_for_selector("article[data-ready]")
        ben.page.click("button.reject")
        ben.page.wait_for_selector(f"article[data-key='{keys[1]}']")
        adjudicator = BrowserPerson(chromium, by_name["adjudicator"])
        assert adjudicator.key == keys[0]
        assert "anna accepted" in adjudicator.page.inner_text("article")
        adjudicator.press("a")
        adjudicator.page.wait_for_selector(".done")
        adjudicator.load("nav a[href=results]")
        assert "Krippendorff" in adjudicator.page.inner_text("main")
        assert anna.errors + ben.errors + adjudicator.errors == []
        for person in (anna, ben, adjudicator):
            person.close()
    log = store.since(0)
    noted = [judgement for judgement in log if judgement.note]
    assert [(one.note, one.correction, one.verdict) for one in noted] == [
        ("ararat", True, "unsure"),
        ("ararat", True, "skipped"),
        ("ararat", True, "rejected"),
        ("ararat", False, "accepted"),
    ]
    verdicts = [session.log.current(check.questions[n].bracket, Person("annotator", "anna")) for n in check.order]
    assert [said.verdict for said in verdicts if said] == ["accepted", "rejected", "accepted", "accepted", "accepted", "rejected"]


def test_answers_survive_a_bad_connection(chromium: Any, check: Check, store: Store) -> None:
    """The next question is there while an answer is sent again and again, and both are kept across a reload."""
    with serve_in_thread(Session(check, store, people_named(["anna"]))) as links:
        anna = BrowserPerson(chromium, next(iter(links.values())))
        fates = iter(["lost", "stored, answer lost", "broken"])

        def fate(route: Any) -> None:
            match next(fates, "well"):
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
        anna.press("a")
        anna.page.wait_for_selector("#trouble:not([hidden])")
        assert "not stored yet" in anna.page.inner_text("#trouble").lower()
        assert "not stored yet" in anna.page.inner_text("#last")
        anna.press("r")
        anna.wait_until_stored()
        assert anna.page.is_hidden("#trouble")
        assert [judgement.verdict for judgement in store.since(0)] == ["accepted", "rejected"]

        anna.page.unroute("**/judge")
        anna.page.route("**/judge", lambda route: route.abort())
        anna.press("r", "u")
        anna.page.wait_for_selector("#trouble:not([hidden])")
        anna.page.on("dialog", lambda dialog: dialog.accept())
        anna.page.goto(anna.link)  # what waits is kept, and not asked about again
        anna.page.wait_for_selector(f"article[data-key='{check.questions[check.order[4]].key}']")
        anna.page.unroute("**/judge")
        anna.wait_until_stored()
        assert anna.count.startswith("3 of")
        assert [judgement.verdict for judgement in store.since(0)] == ["accepted", "rejected", "rejected", "unsure"]
        anna.press("z")
        anna.wait_until_stored()
        assert anna.key == check.questions[check.order[3]].key
        anna.close()
    assert store.since(0)[-1].verdict == "withdrawn"


def test_hostile_text_runs_nothing(chromium: Any, store: Store) -> None:
    words = ["<img src=x onerror=alert(1)>", "<script>alert(2)</script>", "\"'><svg onload=alert(3)>", "{{7*7}}", "x"]
    tags = [Tree("<b>", [word]) for word in words]
    gold, test = Tree("S", tags), Tree("S", [Tree("<i onclick=alert(4)>", tags[:2]), *tags[2:]])
    check = build_check(Treebank.from_trees([gold, gold.replace(label="T")]), {"<u>": Treebank.from_trees([test, test])})
    with serve_in_thread(Session(check, store, people_named(["<h1>anna"]))) as links:
        anna = BrowserPerson(chromium, next(iter(links.values())))
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
    with Store(tmp_path / "b.sqlite") as store, serve_in_thread(Session(check, store, people_named(["anna"]), blind=True)) as links:
        anna = BrowserPerson(chromium, next(iter(links.values())))
        captions = [caption.inner_text() for caption in anna.page.query_selector_all("figcaption")]
        assert captions == ["Tree 1", "Tree 2"]
        assert anna.page.query_selector(".reason, .matched, .crossing, .spurious, .missed, .focus") is None
        anna.answer("a")
        assert "It was " in anna.page.inner_text("#last")
        anna.close()
    shared = next(question for question in check.questions if len(check.systems_with(question)) == 2 and question.kind != "EM")
    with Store(tmp_path / "c.sqlite") as store, serve_in_thread(Session(check, store, people_named(["anna"]))) as links:
        anna = BrowserPerson(chromium, next(iter(links.values())))
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
    with serve_in_thread(Session(check, store, people_named(["anna"]))) as links:
        anna = BrowserPerson(chromium, next(iter(links.values())))
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


@contextmanager
def locked(store: Store) -> Iterator[None]:
    """Another program writes to the store, and does not end."""
    with closing(sqlite3.connect(store.name, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


@contextmanager
def full(store: Store) -> Iterator[None]:
    """SQLite gets no more pages than it has, which it reports as it does a full disk."""

    def pages(number: int) -> Callable[..., None]:
        return lambda connection, *_: connection.execute(f"PRAGMA max_page_count={number}")

    limit, no_limit = pages(1), pages(1_000_000)
    sql.event.listen(store._engine, "checkout", limit)
    yield
    sql.event.remove(store._engine, "checkout", limit)
    sql.event.listen(store._engine, "checkout", no_limit)


@pytest.mark.parametrize(
    ("trouble", "cause"), [(locked, "the store is locked by another program"), (full, "the disk is full")], ids=["locked", "full"]
)
def test_the_page_and_the_terminal_say_why_an_answer_is_not_stored(
    chromium: Any, check: Check, store: Store, trouble: Any, cause: str
) -> None:
    reported: list[str] = []
    with serve_in_thread(Session(check, store, people_named(["anna"])), report=reported.append) as links:
        anna = BrowserPerson(chromium, next(iter(links.values())))
        anna.page.wait_for_selector("article[data-ready]")
        anna.page.fill("#note", "語" * LONGEST_NOTE)  # more bytes than a page of the store has
        anna.press("Escape")
        with trouble(store):
            anna.page.keyboard.press("a")
            anna.page.wait_for_selector("#trouble:not([hidden])")
            assert anna.page.inner_text("#trouble") == f"Not stored yet: {cause}. Trying again …"
            assert any(text.endswith(cause) for text in reported), "and the terminal"
            assert store.since(0) == []
        anna.wait_until_stored()
        assert anna.page.is_hidden("#trouble")
        assert [judgement.verdict for judgement in store.since(0)] == ["accepted"]
        anna.close()


NARROW = {"viewport": {"width": 375, "height": 740}, "has_touch": True}
SHOWN = """(node) => {
  const box = node.closest(".tree").getBoundingClientRect(), { left, right } = node.querySelector("text").getBoundingClientRect();
  return box.left <= left && right <= box.right;
}"""


def test_every_node_is_reached_on_a_telephone(chromium: Any, store: Store) -> None:
    """By keyboard, as the box scrolls with the cursor; by touch, as the trees shrink until they are seen whole."""
    check = small_check(sentences=103)
    number = min(check.order, key=lambda number: abs(len(check.questions[number].span.words) - 16))
    with serve_in_thread(Session(check, store, people_named(["anna"]))) as links:
        anna = BrowserPerson(chromium, next(iter(links.values())), **NARROW)
        anna.page.goto(anna.link + f"?question={check.questions[number].key}&whole=yes")
        anna.press("0", "f")
        nodes = anna.page.query_selector_all(".tree:focus g.node")
        assert not all(node.evaluate(SHOWN) for node in nodes), "a tree that fits would show nothing"
        while move(anna, "ArrowUp"):
            pass
        assert walk(anna) == len(nodes) - 1, "all but the one at the top"
        anna.press("0")
        whole = "() => [...document.querySelectorAll('.tree')].every((tree) => tree.scrollWidth <= tree.clientWidth)"
        assert not anna.page.evaluate(whole)
        for _ in range(8):
            anna.page.tap("button[data-zoom='0.8']")
        assert anna.page.evaluate(whole)
        anna.page.tap("button[data-zoom='0']")
        assert not anna.page.evaluate(whole)
        assert all(min(box["width"], box["height"]) >= 24 for box in boxes(anna, "#question .zoom button, .buttons button"))
        clipped = "[...document.querySelectorAll('.buttons button')].filter((one) => one.scrollWidth > one.clientWidth).length"
        assert anna.page.evaluate(clipped) == 0, "the words of the buttons fit"
        assert anna.errors == []
        anna.close()


def move(person: BrowserPerson, key: str) -> bool:
    """Whether an arrow key moves the cursor, which must then be in sight."""
    cursor = "() => document.querySelector('g.node:has(> .cursor)').id"
    before = person.page.evaluate(cursor)
    person.page.keyboard.press(key)
    assert person.page.query_selector("g.node:has(> .cursor)").evaluate(SHOWN)
    return person.page.evaluate(cursor) != before


def walk(person: BrowserPerson) -> int:
    """How many nodes below the cursor arrow keys reach; the cursor comes back."""
    if not move(person, "ArrowDown"):
        return 0
    reached = 1 + walk(person)
    while move(person, "ArrowRight"):
        reached += 1 + walk(person)
    assert move(person, "ArrowUp")
    return reached


def boxes(person: BrowserPerson, selector: str) -> list[dict[str, float]]:
    return [element.bounding_box() for element in person.page.query_selector_all(selector)]


def test_without_javascript_the_page_works_by_its_buttons(chromium: Any, check: Check, store: Store) -> None:
    with serve_in_thread(Session(check, store, people_named(["anna"]))) as links:
        anna = BrowserPerson(chromium, next(iter(links.values())), java_script_enabled=False)
        assert "Without JavaScript there are no keys and no tree editor" in anna.page.inner_text("#answers noscript")
        for button in ("#editor-button", "#help-button", ".zoom"):
            assert not anna.page.is_visible(button), button
        before = anna.key
        anna.page.fill("#note", "by hand")
        anna.page.check("#correction")
        anna.page.fill("#correct-label", "QP")
        anna.load("button.accept")
        assert anna.key != before
        assert "1 of" in anna.count
        anna.load("#last button")
        assert anna.key == before
        anna.load("button.reject")
        anna.close()
    first = store.since(0)[0]
    assert (first.verdict, first.note, first.correction, first.correct_label) == ("accepted", "by hand", True, "QP")
    assert [judgement.verdict for judgement in store.since(0)] == ["accepted", "withdrawn", "rejected"]


def test_a_correction_without_a_label_says_what_is_missing(chromium: Any, check: Check, store: Store) -> None:
    with serve_in_thread(Session(check, store, people_named(["anna"]))) as links:
        anna = BrowserPerson(chromium, next(iter(links.values())))
        anna.press("e", "a")
        missing = "() => document.querySelector('#correct-label').validationMessage"
        assert anna.page.evaluate(missing) == "Choose the label of the corrected bracket first."
        assert anna.page.evaluate("document.activeElement.id") == "correct-label"
        anna.press("Escape")
        anna.answer("r")  # what needs no label is not held up
        anna.press("e", "a")
        anna.type("NP")
        assert anna.page.evaluate(missing) == ""
        anna.press("Escape")
        anna.answer("a")
        anna.close()
    assert [(one.verdict, one.correct_label) for one in store.since(0)] == [("rejected", ""), ("accepted", "NP")]


def test_the_date_of_an_earlier_answer_is_the_readers(chromium: Any, check: Check, store: Store) -> None:
    """Two people half a day apart; for the UTC of any moment the calendar of one of them shows another date."""
    shown = "() => document.querySelector('.earlier time').textContent"
    here = "at => new Date(at).toLocaleString([], { dateStyle: 'medium' })"
    dates: set[str] = set()
    with serve_in_thread(Session(check, store, people_named(["anna"]))) as links:
        for zone in ("Pacific/Kiritimati", "Etc/GMT+12"):
            anna = BrowserPerson(chromium, next(iter(links.values())), timezone_id=zone)
            if not dates:
                anna.answer("a")
            judged = next(iter(store.since(0)))
            anna.page.goto(anna.page.url.partition("?")[0] + f"?question={check.questions[check.order[0]].key}")
            anna.page.wait_for_selector("article[data-ready]")
            assert anna.page.evaluate(shown) == anna.page.evaluate(here, judged.at)
            dates.add(anna.page.evaluate(shown))
            anna.close()
    assert len(dates) == 2


def test_pages_on_paper(chromium: Any, check: Check, store: Store) -> None:
    """Nothing is cut off at the right of the paper, and what cannot be pressed is not printed."""
    with serve_in_thread(Session(check, store, people_named(["anna", "ben"]))) as links:
        anna = BrowserPerson(chromium, next(iter(links.values())), viewport={"width": 700, "height": 1000})
        anna.answer("a")
        anna.page.emulate_media(media="print")
        for address in ("", "judged", "results"):
            anna.page.goto(anna.link + address)
            edges = "[...document.querySelectorAll('svg, table, .sentence')].map((one) => one.getBoundingClientRect().right)"
            assert max(anna.page.evaluate(edges)) <= 700, address
            useless = anna.page.query_selector_all(".bar button, .zoom button, nav[aria-label=Pages], select, input, textarea")
            assert not any(element.is_visible() for element in useless), address
        anna.close()
