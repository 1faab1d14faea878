"""What went wrong when the page was used for a whole day, each a test in the browser."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from axe_checks import axe_faults
from humancheck_browser import BrowserPerson
from humancheck_helpers import Client, careless, said, small_check, words_of

from treegauge import io
from treegauge.data import discontinuous_treebank, own_treebank
from treegauge.humancheck.questions import Check, CheckPlan, build_check
from treegauge.humancheck.session import Session, people_named
from treegauge.humancheck.store import Store
from treegauge.humancheck.web.server import serve_in_thread
from treegauge.presets import load_preset
from treegauge.trees import Tree, Treebank, parse_discbracket

pytestmark = [pytest.mark.browser, pytest.mark.slow]
TELEPHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture(scope="module")
def by_sentence() -> Check:
    return small_check(CheckPlan(by_sentence=True), sentences=103)


def verdicts(store: Store) -> list[str]:
    return [judgement.verdict for judgement in store.since(0)]


def link_of(links: dict[Any, str], name: str = "anna") -> str:
    return next(link for person, link in links.items() if person.name == name)


# Nothing said that was not meant


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_enter_in_the_field_of_the_label_gives_no_answer(chromium: Any, check: Check, store: Store, script: bool) -> None:
    with serve_in_thread(Session(check, store, people_named(["anna"]))) as links:
        anna = BrowserPerson(chromium, link_of(links), java_script_enabled=script)
        before = anna.key
        anna.page.locator("#correct-label").fill("NP")
        anna.page.locator("#correct-label").press("Enter")
        anna.page.wait_for_timeout(400)
        assert anna.key == before
        assert verdicts(store) == []
        if script:
            assert anna.page.evaluate("document.activeElement.id") != "correct-label", "the label is complete"
            anna.answer("r")
        else:
            anna.load("button.reject")
        assert anna.key != before
        anna.close()
    (stored,) = store.since(0)
    assert (stored.verdict, stored.correction, stored.correct_label) == ("rejected", True, "NP"), "a label means a correction"


def test_a_label_is_never_dropped(chromium: Any, check: Check, store: Store) -> None:
    with serve_in_thread(Session(check, store, people_named(["anna"]))) as links:
        anna = BrowserPerson(chromium, link_of(links))
        before = anna.key
        anna.press("l")
        anna.type("WHNP")
        assert anna.page.is_checked("#correction"), "typing a label ticks the box"
        anna.press("Enter")
        anna.answer("a")
        anna.press("z")
        anna.page.wait_for_selector(f"article[data-key='{before}'][data-ready]")
        assert (anna.page.input_value("#correct-label"), anna.page.is_checked("#correction")) == ("WHNP", True)
        anna.wait_until_stored()
        anna.page.evaluate("localStorage.clear()")
        anna.page.reload()
        assert anna.page.input_value("#correct-label") == "WHNP", "the check remembers it, too"
        anna.press("e")
        anna.answer("a")
        anna.close()
    first, _, last = store.since(0)
    assert (first.correction, first.correct_label) == (True, "WHNP")
    assert (last.correction, last.correct_label) == (False, ""), "whoever unticks the box means it"


def open_editor(person: BrowserPerson) -> str:
    person.press("p")
    person.page.wait_for_selector("#editor[open] .edited")
    return person.page.get_attribute(".edited", "data-tree")


def relabel(person: BrowserPerson, label: str) -> str:
    before = person.page.get_attribute(".edited", "data-tree")
    person.page.keyboard.press("l")
    person.type(label)
    person.page.keyboard.press("Enter")
    person.page.wait_for_function("before => document.querySelector('.edited').dataset.tree !== before", arg=before)
    return person.page.get_attribute(".edited", "data-tree")


def test_an_edited_tree_outlives_escape_and_reload(chromium: Any, check: Check, store: Store) -> None:
    with serve_in_thread(Session(check, store, people_named(["anna"]))) as links:
        anna = BrowserPerson(chromium, link_of(links))
        key = anna.key
        gold = open_editor(anna)
        edited = relabel(anna, "XYZ")
        anna.page.keyboard.press("Escape")
        anna.page.wait_for_selector("#editor:not([open])", state="attached")
        # The page hears that the editor was closed a moment after it is.
        anna.page.wait_for_function("() => document.querySelector('#tree-edited').innerText === 'edits kept, not used'")
        anna.page.reload()
        assert open_editor(anna) == edited
        anna.page.keyboard.press("Escape")
        anna.answer("r")
        anna.page.goto(anna.link + f"?question={key}")
        assert open_editor(anna) == edited, "not sent, so it is kept"
        anna.page.click("button[data-from=treebank]")
        anna.page.wait_for_selector(".changes:has-text('As in the treebank')")
        anna.page.keyboard.press("z")
        assert anna.page.get_attribute(".edited", "data-tree") == edited
        anna.page.keyboard.press("Enter")
        anna.page.wait_for_selector("#tree-edited:text-is('tree edited')")
        anna.answer("r")
        assert anna.errors == []
        anna.close()
    assert [judgement.correct_tree for judgement in store.since(0)] == ["", edited]
    assert edited != gold


def test_edits_are_undone_and_redone(chromium: Any, check: Check, store: Store) -> None:
    with serve_in_thread(Session(check, store, people_named(["anna"]))) as links:
        anna = BrowserPerson(chromium, link_of(links))
        trees = [open_editor(anna), relabel(anna, "ONE"), relabel(anna, "TWO")]

        def shown(key: str) -> str:
            anna.page.keyboard.press(key)
            return anna.page.get_attribute(".edited", "data-tree")

        assert [shown("z"), shown("z"), shown("y"), shown("Shift+Z")] == [trees[1], trees[0], trees[1], trees[2]]
        shown("y")
        assert "nothing to redo" in anna.page.inner_text("#editor-message")
        shown("z")
        relabel(anna, "THREE")
        shown("y")
        assert "nothing to redo" in anna.page.inner_text("#editor-message"), "another edit ends what could be redone"
        anna.close()


@pytest.mark.parametrize("reload", [False, True], ids=["at once", "after a reload"])
def test_undo_takes_back_all_that_one_key_answered(chromium: Any, by_sentence: Check, store: Store, reload: bool) -> None:
    check = by_sentence
    unit = next(unit for unit in check.units if len(unit) > 2)
    with serve_in_thread(Session(check, store, people_named(["anna"]))) as links:
        anna = BrowserPerson(chromium, link_of(links))
        anna.page.goto(anna.link + f"?question={check.questions[unit[0]].key}")
        anna.answer("a")
        anna.page.goto(anna.link + f"?question={check.questions[unit[1]].key}")
        anna.press("2")
        anna.answer("Shift+R")
        assert f"{len(unit) - 1} brackets" in anna.page.inner_text("#last")
        if reload:
            anna.page.reload()
        anna.press("z")
        anna.page.wait_for_selector(f"article[data-key='{check.questions[unit[1]].key}'][data-ready]")
        anna.wait_until_stored()
        assert anna.page.locator(".beside a.open").count() == len(unit) - 1
        assert anna.page.is_checked("input[value=coordination]"), "the reasons are there again"
        assert anna.count.startswith("1 of")
        anna.press("z")
        anna.page.wait_for_selector(f"article[data-key='{check.questions[unit[0]].key}']")
        anna.wait_until_stored()
        anna.close()
    log = store.since(0)
    assert verdicts(store) == ["accepted", *["rejected"] * (len(unit) - 1), *["withdrawn"] * len(unit)]
    assert {one.undoes for one in log if one.undoes} == {one.id for one in log if not one.undoes}


# Long sentences

IN_SIGHT = """() => {
  const holds = (outer, inner) => outer.left - 1 <= inner.left && inner.right <= outer.right + 1
    && outer.top - 1 <= inner.top && inner.bottom <= outer.bottom + 1;
  const main = document.querySelector("main").getBoundingClientRect();
  const isShown = (figure) => {
    const [first] = figure.dataset.targets.split(" ");
    const place = document.getElementById(first)?.getBoundingClientRect();
    return Boolean(place) && holds(main, place) && holds(figure.querySelector(".tree").getBoundingClientRect(), place);
  };
  const sentence = document.querySelector(".sentence");
  return {
    treebank: isShown(document.querySelector("figure:not(.parse)")),
    parse: isShown(document.querySelector("figure.parse")),
    words: holds(main, document.querySelector(".pinned").getBoundingClientRect()),
    sentence: sentence.scrollHeight <= sentence.clientHeight + 1,
  };
}"""


@pytest.fixture(scope="module")
def gum(shared: Path) -> Check:
    outputs = shared / "data" / "outputs"
    systems = {name: io.read(outputs / f"gum_dev.berkeley-{name}.mrg") for name in ("maxrule", "viterbi")}
    return build_check(io.read(outputs / "gum_dev.gold.mrg"), systems, CheckPlan(by_sentence=True))


@pytest.mark.parametrize(("size", "least"), [((1440, 900), 148), ((1100, 800), 140)], ids=str)
def test_what_matters_is_in_sight_on_gum(chromium: Any, gum: Check, store: Store, size: tuple[int, int], least: int) -> None:
    keys = [gum.questions[number].key for number in random.Random(31).sample(gum.order, 150)]
    seen: list[dict[str, bool]] = []
    largest = 0
    with serve_in_thread(Session(gum, store, people_named(["anna"]))) as links:
        anna = BrowserPerson(chromium, link_of(links), viewport=dict(zip(("width", "height"), size, strict=True)))
        client = Client(link_of(links))
        for key in keys:
            anna.page.goto(anna.link + f"?question={key}")
            anna.page.wait_for_selector("article[data-ready]")
            seen.append(anna.page.evaluate(IN_SIGHT))
            head = {"Accept-Encoding": "gzip"}
            client._connection.request("GET", f"{client.path}question/{key}", headers=head)
            largest = max(largest, len(client._connection.getresponse().read()))
        client.close()
        anna.close()
    for what in ("treebank", "parse", "words", "sentence"):
        assert sum(one[what] for one in seen) >= least, what
    assert largest <= 30_000, "bytes of a question"


def nested(start: int, end: int) -> Tree:
    """A tree that grows by one word a level, from left to right."""
    tree = Tree("X", [Tree("N", [f"word{end - 1}"])])
    for number in range(end - 2, start - 1, -1):
        tree = Tree("X", [Tree("N", [f"word{number}"]), tree])
    return tree


@pytest.fixture(scope="module")
def long_check() -> Check:
    """A sentence of 60 words; the parser's bracket crosses the treebank's, far from the beginning."""
    tags = [Tree("N", [f"word{number}"]) for number in range(60)]
    gold = Tree("S", [*tags[:20], Tree("NP", [*tags[20:38], Tree("PP", [*tags[38:44], nested(44, 50)])]), nested(50, 60)])
    test = Tree("S", [*tags[:20], Tree("VP", [*tags[20:30], Tree("QP", [*tags[30:40], Tree("Q", tags[40:45])]), *tags[45:]])])
    return build_check(Treebank.from_trees([gold] * 2), {"A": Treebank.from_trees([test] * 2)}, CheckPlan(by_sentence=True))


def crossing_question(check: Check) -> str:
    return next(check.questions[number].key for number in check.order if check.questions[number].bracket.label == "QP")


@pytest.mark.parametrize("size", [(1440, 900), (1100, 800)], ids=str)
def test_the_node_that_is_crossed_is_in_sight(chromium: Any, long_check: Check, store: Store, size: tuple[int, int]) -> None:
    with serve_in_thread(Session(long_check, store, people_named(["anna"]))) as links:
        anna = BrowserPerson(chromium, link_of(links), viewport=dict(zip(("width", "height"), size, strict=True)))
        anna.page.goto(anna.link + f"?question={crossing_question(long_check)}")
        anna.page.wait_for_selector("article[data-ready]")
        assert all(anna.page.evaluate(IN_SIGHT).values())
        target = anna.page.locator(f"#{anna.page.get_attribute('figure:not(.parse)', 'data-targets').split(' ')[0]}")
        assert target.locator("text").text_content() == "X×"
        anna.close()


def test_what_is_off_the_path_is_dots_that_open(chromium: Any, long_check: Check, store: Store) -> None:
    with serve_in_thread(Session(long_check, store, people_named(["anna"]))) as links:
        anna = BrowserPerson(chromium, link_of(links))
        anna.page.goto(anna.link + f"?question={crossing_question(long_check)}")
        tree = anna.page.locator("figure:not(.parse) .tree")
        dots = tree.locator("g.dots")
        assert dots.count() > 0
        before, name = dots.count(), dots.first.get_attribute("id")
        start, end = map(int, dots.first.get_attribute("data-span").split(" "))
        assert dots.first.text_content() == f"… {end - start}", "with the number of words"
        dots.first.click()
        tree.locator(f"#{name}").wait_for(state="detached")
        assert dots.count() == before - 1
        assert tree.locator(f"#one-n{name.rpartition('-d')[2]} .cursor").count() == 1
        # And by keyboard.
        anna.press("f", "ArrowUp")
        for _ in range(40):
            if anna.page.locator("figure.parse g.dots .cursor").count():
                break
            anna.press("ArrowLeft")
            if not anna.page.locator("figure.parse g.dots .cursor").count():
                anna.press("ArrowUp")
        at = anna.page.get_attribute("figure.parse g.dots:has(.cursor)", "id")
        anna.press("Enter")
        anna.page.locator(f"#{at}").wait_for(state="detached")
        assert anna.errors == []
        anna.close()


def test_whole_trees_open_fitted_to_their_pane(chromium: Any, long_check: Check, store: Store) -> None:
    fits = """() => [...document.querySelectorAll(".tree")]
      .every((tree) => tree.scrollWidth <= tree.clientWidth && tree.scrollHeight <= tree.clientHeight)"""
    scale = """() => {
      const { width, viewBox } = document.querySelector(".tree svg");
      return width.baseVal.value / viewBox.baseVal.width;
    }"""
    with serve_in_thread(Session(long_check, store, people_named(["anna"]))) as links:
        anna = BrowserPerson(chromium, link_of(links))
        anna.page.goto(anna.link + f"?question={crossing_question(long_check)}")
        anna.press("w")
        anna.page.wait_for_selector("article[data-whole=yes]")
        assert anna.page.locator("figure:not(.parse) .words text").count() == 60
        assert anna.page.evaluate(fits)
        assert anna.page.evaluate(scale) < 0.7
        anna.press("0")
        assert anna.page.evaluate(scale) == pytest.approx(0.7), "as large as is readable"
        assert anna.page.evaluate(IN_SIGHT)["treebank"], "with what matters in sight"
        anna.press("w")
        anna.page.wait_for_selector("article[data-whole='']")
        assert anna.page.locator("g.dots").count() > 0
        anna.close()


def test_only_the_words_of_a_bracket_with_a_gap_are_underlined(chromium: Any, store: Store) -> None:
    gold = discontinuous_treebank("german")[:1]
    text = "(VROOT (S (NP (ART-NK 0=Den) (NE-SB 3=Anna)) (X (NN-NK 1=Apfel) (VAFIN-HD 2=hat)) (VVPP-HD 4=gegessen)) ($. 5=.))"
    test = Treebank.from_trees([parse_discbracket(text)])
    check = build_check(gold, {"A": test}, CheckPlan(preset=load_preset("disco")))
    key = next(question.key for question in check.questions if question.span.blocks)
    with serve_in_thread(Session(check, store, people_named(["anna"]))) as links:
        anna = BrowserPerson(chromium, link_of(links))
        anna.page.goto(anna.link + f"?question={key}")
        anna.page.wait_for_selector("article[data-ready]")
        for figure in ("figure:not(.parse)", "figure.parse"):
            assert anna.page.locator(f"{figure} text.asked").all_text_contents() == ["Den", "Anna"]
        assert [one.strip() for one in anna.page.locator(".sentence .asked").all_text_contents()] == ["Den", "Anna"]
        anna.close()


def swipe(person: BrowserPerson, distance: int) -> None:
    """A finger moves up from the first tree, in steps, and the page comes to rest."""
    box = person.page.locator("figure.parse .tree").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + 60
    session = person.context.new_cdp_session(person.page)
    session.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for step in range(1, 11):
        session.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [{"x": x, "y": y - distance * step / 10}]})
        person.page.wait_for_timeout(16)
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    person.page.wait_for_timeout(700)


def test_a_swipe_leads_to_the_other_tree_on_a_telephone(chromium: Any, long_check: Check, store: Store) -> None:
    with serve_in_thread(Session(long_check, store, people_named(["anna"]))) as links:
        anna = BrowserPerson(chromium, link_of(links), **TELEPHONE)
        anna.page.goto(anna.link + f"?question={crossing_question(long_check)}")
        anna.page.wait_for_selector("article[data-ready]")
        assert anna.page.evaluate(IN_SIGHT)["parse"]
        swipe(anna, 420)
        seen = anna.page.evaluate(IN_SIGHT)
        assert seen["treebank"]
        assert seen["words"], "the bracket's words are pinned"
        assert anna.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        anna.close()


# Finding one's way


def test_the_address_names_the_bracket(chromium: Any, check: Check, store: Store) -> None:
    keys = [check.questions[number].key for number in check.order]
    with serve_in_thread(Session(check, store, people_named(["anna", "ben"]))) as links:
        anna = BrowserPerson(chromium, link_of(links), permissions=["clipboard-read", "clipboard-write"])
        address = "() => new URLSearchParams(location.search).get('question')"
        anna.page.wait_for_selector("article[data-ready]")
        assert anna.page.evaluate(address) == keys[0]
        anna.answer("a")
        anna.answer("r")
        assert anna.page.evaluate(address) == keys[2]
        anna.page.reload()
        assert anna.key == keys[2]
        anna.page.go_back()
        anna.page.wait_for_selector(f"article[data-key='{keys[1]}']")
        assert "You rejected this bracket" in anna.page.inner_text(".about")
        anna.page.go_forward()
        anna.page.wait_for_selector(f"article[data-key='{keys[2]}']")
        anna.page.click("#copy-link")
        copied = anna.page.evaluate("navigator.clipboard.readText()")
        ben = BrowserPerson(chromium, link_of(links, "ben"))
        assert ben.key == keys[0]
        assert urlsplit(ben.link).path not in copied
        assert urlsplit(anna.link).path not in copied, "nobody's token is in it"
        ben.page.goto(copied)
        ben.page.wait_for_selector(f"article[data-key='{keys[2]}']")
        assert ben.page.url.startswith(ben.link), "by ben's own link"
        stranger = BrowserPerson(chromium, copied)
        assert "Open your own link first" in stranger.page.inner_text("main")
        assert anna.errors + ben.errors + stranger.errors == []
        for person in (anna, ben, stranger):
            person.close()


def test_the_address_names_a_bracket_that_was_chosen_in_its_sentence(chromium: Any, by_sentence: Check, store: Store) -> None:
    unit = next(unit for unit in by_sentence.units if len(unit) > 2)
    keys = [by_sentence.questions[number].key for number in unit]
    with serve_in_thread(Session(by_sentence, store, people_named(["anna"]))) as links:
        anna = BrowserPerson(chromium, link_of(links))
        anna.page.goto(f"{anna.link}?question={keys[0]}")
        anna.page.wait_for_selector("article[data-ready]")
        anna.page.locator(".beside a").nth(2).click()
        anna.page.wait_for_selector(f"article[data-key='{keys[2]}'][data-ready]")
        anna.page.wait_for_url(f"**/?question={keys[2]}")
        anna.page.reload()
        assert anna.key == keys[2]
        anna.page.go_back()
        anna.page.wait_for_selector(f"article[data-key='{keys[0]}'][data-ready]")
        assert anna.errors == []
        anna.close()


def test_the_list_of_sentences(chromium: Any, store: Store) -> None:
    gold = own_treebank("dev")
    trees = [
        Tree.parse(str(tree).replace("(NP", "(QP")) if index % 5 == 0 else tree for index, tree in enumerate(careless(gold, 1))
    ]
    check = build_check(gold, {"A": Treebank.from_trees(trees)}, CheckPlan(by_sentence=True))
    first, second = (check.questions[number] for number in check.order[:2])
    unit = check.units[0]
    log = [said(check, number, "accepted") for number in unit] + [said(check, unit[0], "rejected", "ben")]
    store.append(log, words_of(check))
    with serve_in_thread(Session(check, store, people_named(["anna", "ben"]))) as links:
        anna, judge = (BrowserPerson(chromium, link_of(links, name)) for name in ("anna", "adjudicator"))
        anna.load("a[href=sentences]")
        rows = anna.page.locator(".sentences tr:has(a)")
        total = rows.count()
        number = first.occurrences[0].sentence + 1
        assert total == len(check.units)
        assert f"{len(unit)} of {len(unit)}" in anna.page.inner_text(f".sentences tr:has(td:text-is('{number}'))")
        for show, expected in (("open", total - 1), ("with my answers", 1)):
            anna.page.select_option("select[name=show]", show)
            anna.load("button:text-is('Filter')")
            assert rows.count() == expected, show
        anna.page.goto(anna.link + "sentences?show=disagreed")
        assert rows.count() == 0, "an annotator does not learn where others disagree"
        anna.page.goto(anna.link + f"sentences?search={number}")
        assert rows.count() == 1
        words = " ".join(second.span.words[:3])
        anna.page.goto(anna.link + "sentences")
        anna.page.fill("input[name=search]", words.upper())
        with anna.page.expect_navigation():
            anna.page.keyboard.press("Enter")
        assert 0 < rows.count() < total
        anna.page.goto(anna.link + "sentences?label=QP")
        assert 0 < rows.count() < total
        assert all("QP" in text for text in rows.all_inner_texts())
        anna.load(rows.first.locator("a"))
        assert anna.key
        judge.page.goto(judge.link + "sentences?show=disagreed")
        assert judge.page.locator(".sentences tbody tr").count() == 1
        judge.load(".sentences tbody a")
        assert judge.key in {check.questions[number].key for number in unit}
        for person in (anna, judge):
            assert person.errors == []
            person.close()


def test_progress_and_the_time_left(chromium: Any, by_sentence: Check, store: Store) -> None:
    check = by_sentence
    unit = next(unit for unit in check.units if len(unit) > 2)
    others = [number for number in check.order if number not in unit][:6]
    store.append([said(check, number, "accepted", seconds=60.0) for number in others], words_of(check))
    with serve_in_thread(Session(check, store, people_named(["anna"]))) as links:
        anna = BrowserPerson(chromium, link_of(links))
        left = len(check.order) - 6
        assert anna.count == f"6 of {len(check.order)} judged, {left} left (about {round(left / 60)} h)"
        anna.page.goto(anna.link + f"?question={check.questions[unit[0]].key}")
        anna.page.wait_for_selector("article[data-ready]")
        assert anna.page.inner_text("#answered") == f"0 of {len(unit)}"
        anna.answer("a")
        anna.page.goto(anna.link + f"?question={check.questions[unit[1]].key}")
        anna.page.wait_for_selector("article[data-ready]")
        assert anna.page.inner_text("#answered") == f"1 of {len(unit)}"
        anna.close()


def test_agreement_by_label_confusions_filter_and_csv(chromium: Any, check: Check, store: Store) -> None:
    numbers = check.order[:12]
    log = [said(check, number, "accepted") for number in numbers]
    log += [said(check, number, "rejected" if index < 3 else "accepted", "ben") for index, number in enumerate(numbers)]
    log.append(said(check, numbers[0], "accepted", "adjudicator", role="adjudicator"))
    store.append(log, words_of(check))
    with serve_in_thread(Session(check, store, people_named(["anna", "ben"]))) as links:
        judge = BrowserPerson(chromium, link_of(links, "adjudicator"))
        judge.page.goto(judge.link + "agreement")
        text = judge.page.inner_text("main")
        labels = [check.questions[number].bracket.label for number in numbers]
        shown = dict(line.split("\t")[:2] for line in judge.page.locator("section").first.locator("tbody tr").all_inner_texts())
        assert shown == {label: str(labels.count(label)) for label in labels}
        assert "anna: accepted\t9\t3\t0" in text
        rows = judge.page.locator(".disputes tbody tr:not([hidden])")
        assert rows.count() == 3
        judge.page.select_option("select[name=settled]", "open")
        assert rows.count() == 2
        judge.page.select_option("select[name=settled]", "accepted")
        assert rows.count() == 1
        judge.page.select_option("select[name=settled]", "")
        judge.page.select_option("select[name=label]", labels[1])
        assert rows.count() == labels[:3].count(labels[1])
        with judge.page.expect_download() as download:
            judge.page.click("a[href='agreement.csv']")
        lines = Path(download.value.path()).read_text("utf-8").splitlines()
        assert lines[0] == "sentence,label,words,kind,anna,ben,adjudicator"
        assert len(lines) == 13
        assert sum(line.endswith(",accepted,rejected,") for line in lines) == 2
        assert sum(line.endswith(",accepted,rejected,accepted") for line in lines) == 1
        assert judge.errors == []
        judge.close()


# Touch


def test_a_tree_is_edited_by_taps(chromium: Any, check: Check, store: Store) -> None:
    with serve_in_thread(Session(check, store, people_named(["anna"]))) as links:
        anna = BrowserPerson(chromium, link_of(links), **TELEPHONE)
        anna.page.wait_for_selector("article[data-ready]")
        anna.page.tap("#more-button")
        anna.page.tap("#editor-button")
        anna.page.wait_for_selector("#editor[open] .edited")
        assert "Tap a node" in anna.page.inner_text("#editor-keys")
        assert "Arrows" not in anna.page.inner_text("#editor-keys")
        assert not anna.page.locator("#editor kbd:visible").count(), "no keys are named where there are none"
        width = "() => document.querySelector('#editor svg').getBoundingClientRect().width"
        before = anna.page.evaluate(width)
        anna.page.tap("#editor [data-zoom='1.25']")
        assert anna.page.evaluate(width) > before
        anna.page.tap("#editor [data-zoom='0']")
        assert anna.page.evaluate(width) == pytest.approx(before)
        tags = anna.page.locator("#editor g.tag")
        spans = [tuple(map(int, tag.get_attribute("data-span").split())) for tag in tags.all()]
        paths = anna.page.evaluate(
            """async () => {
              const { nodesOf } = await import("/static/cursor.js");
              return nodesOf(document.querySelector("#editor .tree")).filter((one) => one.isTag).map((one) => one.above.number);
            }"""
        )
        at = next(index for index in range(len(paths) - 1) if paths[index] == paths[index + 1])
        tags.nth(at).tap()
        anna.page.tap("#editor-several")
        tags.nth(at + 1).tap()
        assert anna.page.locator("#editor .cursor").count() == 2
        anna.page.tap("#editor [data-action=a]")
        anna.page.fill("#editor-label", "NEW")
        anna.page.tap("#editor [data-action=ok]")
        anna.page.wait_for_selector("#editor .changes:has-text('+ NEW')")
        assert spans[at + 1][1] - spans[at][0] == 2
        anna.page.tap("#editor [data-action=enter]")
        anna.page.wait_for_selector("#tree-edited:text-is('tree edited')")
        anna.page.tap("button.reject")
        anna.wait_until_stored()
        assert anna.errors == []
        anna.close()
    assert "(NEW (" in store.since(0)[0].correct_tree


WIDTHS = (390, 800, 1100, 1440)
SMALL_TARGETS = """() => [...document.querySelectorAll("a, button, summary, input:not([type=hidden]), select, textarea")]
  .filter((one) => one.checkVisibility() && !one.closest(".skip-link, p, li, td, output"))
  .map((one) => [one.closest("label")?.getBoundingClientRect() ?? one.getBoundingClientRect(), one.outerHTML.slice(0, 90)])
  .filter(([{ width, height }]) => Math.min(width, height) < 23.5).map(([, html]) => html)"""


@pytest.mark.parametrize("width", WIDTHS)
def test_axe_finds_no_fault_and_nothing_is_small_or_cut(
    chromium: Any, by_sentence: Check, tmp_path: Path, axe: str, width: int
) -> None:
    """Every page, in light and in dark."""
    people = people_named(["anna", "ben", "cleo"])
    first, second = by_sentence.order[:2]
    log = [said(by_sentence, number, "accepted", note="why", tags=("attachment",)) for number in by_sentence.order]
    log += [said(by_sentence, first, "rejected", "ben", correction=True), said(by_sentence, second, "rejected", "ben")]
    log.append(said(by_sentence, first, "accepted", "adjudicator", role="adjudicator", correct_label="NP", correction=True))
    pages = ("", "guidelines", "sentences", "judged", "results", "agreement", "nothing")
    with (
        Store(tmp_path / "j.sqlite") as store,
        serve_in_thread(Session(by_sentence, store, people, guidelines="# Ours")) as links,
    ):
        store.append(log, words_of(by_sentence))
        touch = {"has_touch": True, "is_mobile": True} if width < 600 else {}
        context = chromium.new_context(bypass_csp=True, viewport={"width": width, "height": 800}, **touch)
        page = context.new_page()

        def assert_no_fault(what: str) -> None:
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                assert axe_faults(page, axe) == [], (what, scheme)
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), what
            assert page.evaluate(SMALL_TARGETS) == [], what

        adjudicator, cleo = link_of(links, "adjudicator"), link_of(links, "cleo")
        addresses = [*(adjudicator + name for name in pages), link_of(links, "anna"), link_of(links, "anna") + "judged"]
        for address in (*addresses, f"{link_of(links, 'ben')}?question={by_sentence.questions[first].key}"):
            page.goto(address)
            page.wait_for_timeout(50)
            assert_no_fault(address.rpartition("/")[2])
        for key, dialog in (("?", "#help"), ("g", "#panel"), ("p", "#editor")):
            page.goto(cleo)
            page.wait_for_selector("article[data-ready]")
            page.keyboard.press(key)
            page.wait_for_selector(f"{dialog}[open] h1, {dialog}[open] h2")
            assert_no_fault(dialog)
        context.close()


def test_lists_and_tables_are_easy_to_read(chromium: Any, by_sentence: Check, store: Store) -> None:
    """A count stays on one line, words in a table begin at its left, and a table that is too wide shows that it scrolls."""
    log = [said(by_sentence, number, "accepted", name) for number in by_sentence.order for name in ("anna", "ben")]
    store.append(log, words_of(by_sentence))
    with serve_in_thread(Session(by_sentence, store, people_named(["anna", "ben"]))) as links:
        page = chromium.new_page(viewport={"width": 1100, "height": 800})
        page.goto(link_of(links, "anna") + "sentences")
        lines = page.locator(".sentences td:nth-child(3)").evaluate_all(
            """all => all.map((cell) => {
              const range = document.createRange();
              range.selectNodeContents(cell.lastChild);
              return range.getClientRects().length;
            })"""
        )
        assert {*lines} == {1}
        page.set_viewport_size({"width": 390, "height": 800})
        page.goto(link_of(links, "adjudicator") + "agreement")
        cell = page.locator("td", has_text="kappa").first
        assert cell.evaluate("one => getComputedStyle(one).textAlign") == "left"
        assert page.locator("td", has_text="100.00").first.evaluate("one => getComputedStyle(one).textAlign") == "right"
        table = page.locator(".scroll").first
        assert table.evaluate("box => box.scrollWidth > box.clientWidth")
        shades = [table.screenshot()]
        table.evaluate("box => { box.scrollLeft = box.scrollWidth; }")
        shades.append(table.screenshot())
        table.evaluate("box => { box.style.background = 'none'; }")
        assert table.screenshot() not in shades
        page.close()


# Slow lines


def test_on_a_slow_line_the_next_question_is_there_before_the_answer_is_stored(chromium: Any, check: Check, store: Store) -> None:
    keys = [check.questions[number].key for number in check.order]
    with serve_in_thread(Session(check, store, people_named(["anna"]))) as links:
        anna = BrowserPerson(chromium, link_of(links))
        anna.page.wait_for_load_state("networkidle")  # the next questions have come
        session = anna.context.new_cdp_session(anna.page)
        session.send("Network.enable")
        slow = {"offline": False, "latency": 600, "downloadThroughput": 50_000 / 8, "uploadThroughput": 50_000 / 8}
        session.send("Network.emulateNetworkConditions", slow)
        anna.press("a")
        assert anna.key == keys[1], "at once"
        assert "not stored yet" in anna.page.inner_text("#last")
        anna.press("r")
        assert anna.key == keys[2]
        assert "2 answers are not stored yet" in anna.page.inner_text("#last")
        kept = "() => Object.keys(localStorage).filter((name) => name.startsWith('treegauge-answer')).length"
        assert anna.page.evaluate(kept) == 2, "they would survive a reload"
        anna.wait_until_stored()
        assert "stored" in anna.page.inner_text("#last")
        assert anna.page.evaluate(kept) == 0
        assert verdicts(store) == ["accepted", "rejected"]
        assert anna.errors == []
        anna.close()


def test_what_is_answered_without_a_connection_is_sent_later(chromium: Any, check: Check, store: Store) -> None:
    with serve_in_thread(Session(check, store, people_named(["anna"]))) as links:
        anna = BrowserPerson(chromium, link_of(links))
        anna.page.wait_for_load_state("networkidle")
        anna.context.set_offline(True)
        for key in "ara":
            anna.press(key)
        assert verdicts(store) == []
        anna.context.set_offline(False)
        anna.wait_until_stored()
        assert verdicts(store) == ["accepted", "rejected", "accepted"]
        anna.close()


def test_answers_on_their_way_outlive_a_reload_and_can_be_undone(chromium: Any, by_sentence: Check, store: Store) -> None:
    check = by_sentence
    unit = next(unit for unit in check.units if len(unit) > 2)
    with serve_in_thread(Session(check, store, people_named(["anna"]))) as links:
        anna = BrowserPerson(chromium, link_of(links))
        anna.page.goto(anna.link + f"?question={check.questions[unit[0]].key}")
        anna.page.wait_for_load_state("networkidle")
        anna.page.route("**/judge*", lambda route: route.abort())
        anna.press("Shift+R")
        assert f"{len(unit)} answers are not stored yet" in anna.page.inner_text("#last")
        anna.page.reload()
        anna.page.wait_for_selector(".last.pending")
        assert verdicts(store) == []
        anna.page.unroute("**/judge*")
        anna.wait_until_stored()
        assert verdicts(store) == ["rejected"] * len(unit)
        at = anna.key
        anna.page.wait_for_load_state("networkidle")
        anna.page.route("**/judge*", lambda route: route.abort())
        anna.press("a", "z")
        anna.page.wait_for_selector(f"article[data-key='{at}'][data-ready]")
        anna.page.unroute("**/judge*")
        anna.wait_until_stored()
        assert anna.key == at
        anna.answer("u")
        anna.close()
    current = {one.bracket.key: one.verdict for one in store.since(0) if one.verdict != "withdrawn"}
    assert current[at] == "unsure"
    assert len(current) == len(unit) + 1


def test_an_answer_that_is_refused_is_said_and_asked_again(chromium: Any, check: Check, store: Store) -> None:
    with serve_in_thread(Session(check, store, people_named(["anna"]))) as links:
        anna = BrowserPerson(chromium, link_of(links))
        first = anna.key
        refusal = '{"message": "No."}'
        anna.page.route("**/judge", lambda route: route.fulfill(status=409, body=refusal, content_type="application/json"))
        anna.press("n")
        anna.type("because")
        anna.press("Escape", "a")
        anna.page.wait_for_selector("#trouble:not([hidden])")
        assert anna.page.inner_text("#trouble") == "No."
        anna.page.unroute("**/judge")
        anna.page.goto(anna.link)
        anna.page.wait_for_selector("article[data-ready]")
        assert anna.key == first
        assert anna.page.input_value("#note") == "because", "nothing that was written is lost"
        anna.close()


def test_responses_are_compressed_and_scripts_come_once(check: Check, store: Store) -> None:
    with serve_in_thread(Session(check, store, people_named(["anna"]))) as links:
        client = Client(link_of(links))
        connection = client._connection

        def fetch(path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
            connection.request("GET", path, headers={"Accept-Encoding": "gzip", **headers})
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()

        plain = client.get(f"question/{client.shown()}")
        status, headers, body = fetch(f"{client.path}question/{client.shown()}")
        assert (status, headers["content-encoding"]) == (200, "gzip")
        assert len(body) < len(plain) / 3
        _, headers, _ = fetch("/static/check.js")
        status, _, body = fetch("/static/check.js", **{"If-None-Match": headers["etag"]})
        assert (status, body) == (304, b"")
        client.close()
