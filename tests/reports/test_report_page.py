"""The report in a real browser: its controls work, hostile text stays text, and no request leaves the page."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest
from axe_checks import axe_faults
from report_helpers import FLAT, GOLD, HOSTILE, HOSTILE_NAME, SYSTEMS

import treegauge
from treegauge.data import discontinuous_treebank
from treegauge.normalise import strip_functions
from treegauge.reports.report_contents import difference_tables
from treegauge.significance import CompareOptions
from treegauge.tables import render
from treegauge.trees import Tree, Treebank
from treegauge.trees.drawing import draw_svg, fold_settled

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser
QUICK = CompareOptions(rounds=20)
REPORT = treegauge.report(GOLD, SYSTEMS, QUICK)


class Watched:
    """A page opened from disk, with everything it asked for, said or complained about."""

    def __init__(self, chromium: Browser, path: Path) -> None:
        self.said: list[str] = []
        self.requests: list[str] = []
        self.page: Page = chromium.new_page(viewport={"width": 1200, "height": 900})
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: self.said.append(dialog.message))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())

    def numbers(self) -> list[int]:
        return [int(text[1:]) for text in self.page.locator(".item .number").all_inner_texts()]


@pytest.fixture(scope="module")
def own(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Watched:
    path = tmp_path_factory.mktemp("report") / "report.html"
    REPORT.write(str(path))
    return Watched(chromium, path)


@pytest.fixture
def page(own: Watched) -> Page:
    own.page.reload()
    return own.page


def test_nothing_leaves_the_page_and_nothing_goes_wrong(own: Watched, page: Page) -> None:
    page.locator("#more").click()
    page.locator(".item > button").nth(3).click()
    assert all(url.startswith(("file:", "data:")) for url in own.requests)
    assert own.said == []


def test_the_first_sentence_is_drawn(page: Page) -> None:
    trees = page.locator(".item").first.locator(".trees svg.treegauge")
    assert trees.count() == 3
    assert trees.nth(0).locator(".node.matched").count() > 0
    assert page.locator(".item").first.locator("figcaption").all_inner_texts()[1].startswith(" A: oracle-binary: F1")


def test_search_filter_and_sort(own: Watched, page: Page) -> None:
    everything = int(page.locator("#count").inner_text().split()[0])
    page.locator("#search").fill("please")
    found = page.locator(".item .words").all_inner_texts()
    assert found
    assert all("please" in text.lower() for text in found)
    page.locator("#search").fill(f"#{own.numbers()[0]}")
    assert len(own.numbers()) == 1
    page.locator("#search").press("Escape")
    assert page.locator("#count").inner_text().startswith(f"{everything} of {everything}")
    page.locator("#sort").select_option("order of the treebank")
    assert own.numbers() == sorted(own.numbers())
    page.locator("#sort").select_option("shortest")
    lengths = [len(text.split()) for text in page.locator(".item .words").all_inner_texts()]
    assert lengths == sorted(lengths)
    page.locator("#who").select_option("right-branching is best")
    assert page.locator("#count").inner_text().startswith("0 of")
    page.locator("#who").select_option("oracle-binary is best")
    page.locator("#kind").select_option("PP attachment")
    assert 0 < int(page.locator("#count").inner_text().split()[0]) < everything
    page.locator("#kind").select_option("any")
    page.locator("#label").select_option("SBAR")
    assert 0 < int(page.locator("#count").inner_text().split()[0]) < everything


def test_the_keyboard(page: Page) -> None:
    page.keyboard.press("j")
    focused = "document.activeElement.closest('.item')?.id"
    first = page.evaluate(focused)
    page.keyboard.press("j")
    second = page.evaluate(focused)
    assert first != second
    page.keyboard.press("Enter")
    assert page.locator(f"#{second}").get_attribute("class") == "item open"
    page.keyboard.press("k")
    assert page.evaluate(focused) == first
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "search"
    page.keyboard.type("jk/f")
    assert page.locator("#search").input_value() == "jk/f"
    assert page.locator(".item").count() == 0


def test_folding(page: Page) -> None:
    folded = page.locator(".item").first.locator(".node.folded")
    assert folded.count() > 0
    before = folded.count()
    folded.first.click()
    assert page.locator(".item").first.locator(".node.folded").count() == before - 1
    page.keyboard.press("f")
    assert folded.count() == 0
    assert not page.locator("#fold").is_checked()


def test_a_link_leads_to_its_sentence(page: Page) -> None:
    link = page.locator(".examples a").first
    target = (link.get_attribute("href") or "")[1:]
    page.locator("#search").fill("no such words")
    link.click()
    assert page.locator(f"#{target}").get_attribute("class") == "item open"


def test_texts_of_a_tree_do_not_touch(page: Page) -> None:
    page.locator("#fold").uncheck()
    measure = """() => {
        const place = text => { const box = text.getBBox(); return [Math.round(box.y), box.x, box.x + box.width]; };
        return [...document.querySelectorAll(".item svg.treegauge")].map(svg => [...svg.querySelectorAll("text")].map(place));
    }"""
    for texts in page.evaluate(measure):
        ordered = sorted(texts)
        for (y, _, end), (other_y, start, _) in pairwise(ordered):
            assert y != other_y or end <= start


@pytest.mark.slow
def test_hostile_text_stays_text(chromium: Browser, tmp_path: Path) -> None:
    path = tmp_path / "hostile.html"
    treegauge.report(HOSTILE, {HOSTILE_NAME: FLAT, "b": HOSTILE}, QUICK, title=HOSTILE_NAME).write(str(path))
    watched = Watched(chromium, path)
    for number in range(watched.page.locator(".item").count()):
        item = watched.page.locator(".item").nth(number)
        if "open" not in (item.get_attribute("class") or ""):
            item.locator("button").click()
        assert item.locator("svg.treegauge").count() >= 1
    assert watched.page.locator("img").count() == 0
    assert watched.page.locator("h1").inner_text() == HOSTILE_NAME
    words = watched.page.locator(".item:has-text('שלום') .word").all_text_contents()
    assert any("שלום" in word for word in words)
    assert watched.said == []
    assert all(url.startswith(("file:", "data:")) for url in watched.requests)
    watched.page.close()


def test_a_deep_tree_is_folded_before_it_is_drawn(chromium: Browser, tmp_path: Path) -> None:
    deep, flat = Tree("V", ["go"]), Tree("S", [Tree("V", ["go"])])
    for _ in range(3_000):
        deep = Tree("S", [deep])
    path = tmp_path / "deep.html"
    options = CompareOptions(rounds=5, preset="none", metrics=("parseval", "hogenhout"))
    treegauge.report([deep], {"flat": [flat]}, options).write(str(path))
    watched = Watched(chromium, path)
    assert 10 < watched.page.locator(".item svg.treegauge").first.locator(".node").count() < 200
    assert watched.said == []
    watched.page.close()


PYTHON_PLACES = """(root) => {
  const at = (text) => [Number(text.getAttribute("x")), Number(text.getAttribute("y")), text.firstChild.textContent];
  const places = {};
  for (const node of root.querySelectorAll(".node")) places["n" + node.dataset.node] = at(node.querySelector("text"));
  for (const word of root.querySelectorAll(".word")) places["w" + word.dataset.start] = at(word);
  const paths = [...root.querySelectorAll("path:not(.shape)")].map((path) => path.getAttribute("d")).sort();
  return { places, paths, size: [Number(root.getAttribute("width")), Number(root.getAttribute("height"))] };
}"""


def places_of_python(picture: str) -> dict[str, Any]:
    root = ElementTree.fromstring(picture)
    svg = "{http://www.w3.org/2000/svg}"
    places: dict[str, list[Any]] = {}
    for group in root.iter(f"{svg}g"):
        if (name := group.get("id", "")).startswith("n"):
            text = group.find(f"{svg}text")
            assert text is not None
            places[name] = [int(text.get("x", "")), int(text.get("y", "")), text.text]
    for text in root.iter(f"{svg}text"):
        if (name := text.get("id", "")).startswith("w"):
            places[name] = [int(text.get("x", "")), int(text.get("y", "")), text.text]
    paths = sorted(path.get("d", "") for path in root.iter(f"{svg}path") if path.get("class") != "shape")
    return {"places": places, "paths": paths, "size": [int(root.get("width", "")), int(root.get("height", ""))]}


WIDE = Treebank.from_trees(
    [
        Tree("S", [Tree("NP", [Tree("N", ["木構造"]), Tree("N", ["👩\u200d🚀"]), Tree("N", ["e\u0301t" * 30])]), Tree("VP", [])]),
        Tree("S", [Tree("NP", [Tree("N", ["שלום"]), Tree("N", ["רב"])]), Tree("VP", [Tree("V", ["עולם"]), Tree("P", ["ב"])])]),
        Tree("S", [Tree("NP", [Tree("D", [f"word{number}"]) for number in range(12)]), Tree("VP", [Tree("V", ["go"])])]),
    ]
)


def without_first_phrase(tree: Tree) -> Tree:
    first = tree.children[0]
    assert isinstance(first, Tree)
    return tree.replace(children=[*first.children, *tree.children[1:]])


def continuous_pair() -> tuple[Treebank, Treebank]:
    gold = Treebank.from_trees([*WIDE, *GOLD[:60]])
    return gold, Treebank.from_trees([*map(without_first_phrase, WIDE), *SYSTEMS["right-branching"][:60]])


def crossing_pair() -> tuple[Treebank, Treebank]:
    """German sentences, their verb phrases without labels' functions: wrong labels on right yields, with gaps on both sides."""
    gold = discontinuous_treebank("german")
    return gold, Treebank.from_trees([strip_functions(tree) for tree in gold])


@pytest.mark.parametrize("pair", [continuous_pair, crossing_pair])
@pytest.mark.parametrize("fold", [True, False])
def test_trees_are_where_python_draws_them(chromium: Browser, tmp_path: Path, fold: bool, pair: Any) -> None:
    gold, test = pair()
    report = treegauge.report(gold, {"A": test}, CompareOptions(rounds=5, preset="none"))
    path = tmp_path / "report.html"
    report.write(str(path))
    watched = Watched(chromium, path)
    if not fold:
        watched.page.locator("#fold").uncheck()
    marks = report.marks["A"]
    compared = 0
    for row in report.sentences.rows[:20]:
        sentence = int(marks.pair.index[row])
        item = watched.page.locator(f"#s{sentence + 1}")
        if "open" not in (item.get_attribute("class") or ""):
            item.locator("button").first.click()
        direction: Literal["ltr", "rtl"] = "rtl" if "שלום" in gold[sentence].words else "ltr"
        sides = [(gold[sentence], marks.of_gold(row)), (test[sentence], marks.of_test(row))]
        for number, (tree, found) in enumerate(sides):
            folded = fold_settled(tree, found) if fold else ()
            expected = places_of_python(draw_svg(tree, found, folded=folded, legend=False, direction=direction))
            drawn = item.locator("svg.treegauge").nth(number).evaluate(PYTHON_PLACES)
            assert drawn == expected
            compared += len(drawn["places"])
    watched.page.close()
    assert compared > 200


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 800, 1100, 1440])
def test_axe_finds_no_fault(chromium: Browser, tmp_path: Path, axe: str, width: int, scheme: Literal["light", "dark"]) -> None:
    path = tmp_path / "report.html"
    treegauge.report(GOLD, SYSTEMS, QUICK).write(str(path))
    context = chromium.new_context(bypass_csp=True, color_scheme=scheme, viewport={"width": width, "height": 800})
    page = context.new_page()
    page.goto(path.as_uri())
    assert axe_faults(page, axe) == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    shown = page.locator(".plot .narrow svg").first if width < 600 else page.locator(".plot .wide svg").first
    assert shown.is_visible()
    context.close()


def test_nodes_fold_by_keyboard(page: Page) -> None:
    item = page.locator(".item.open").first
    before = item.locator(".node.folded").count()
    node = item.locator(".node.folded").first
    number = node.get_attribute("data-node")
    node.focus()
    page.keyboard.press("Enter")
    assert item.locator(".node.folded").count() < before
    assert page.evaluate("document.activeElement.dataset.node") == number, "the focus stays"


def test_the_first_example_is_short(page: Page) -> None:
    assert len(page.locator(".item.open .words").first.inner_text().split()) <= 20


def test_a_figure_can_be_saved(page: Page) -> None:
    with page.expect_download() as download:
        page.locator(".plot .save[data-form=svg]").first.click()
    assert download.value.suggested_filename == "differences.svg"
    ElementTree.parse(download.value.path())


def test_a_figure_alone_becomes_a_pdf(page: Page) -> None:
    page.evaluate("window.print = () => {}")
    page.locator(".plot .save[data-form=pdf]").first.click()
    assert page.title() == "differences", "the name under which the print window saves it"
    view = page.locator(".plot .wide svg").first.get_attribute("viewBox")
    width, height = map(float, (view or "").split()[2:])
    document = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type /Page\b", document)) == 1
    box = re.search(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", document)
    assert box is not None
    assert [float(size) for size in box.groups()] == pytest.approx([0.75 * (width + 20), 0.75 * (height + 20)], abs=2)
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.title() != "differences"
    assert page.locator(".printed").count() == 0


def test_every_figure_and_table_says_what_it_shows_and_links_to_its_definition(page: Page) -> None:
    for selector in (".plot", ".tables > div"):
        for shown in page.locator(selector).all():
            meaning = shown.locator(".meaning")
            assert meaning.count() == 1
            target = meaning.locator("a").get_attribute("href")
            assert target is not None
            assert page.locator(target).count() == 1, target


def test_headings_and_trees_stay_whole_on_paper(chromium: Browser, tmp_path: Path) -> None:
    """No heading stands at the foot of a page without what it heads, and no tree is wider than the paper."""
    path = tmp_path / "report.html"
    treegauge.report(GOLD, SYSTEMS, QUICK).write(str(path))
    page = chromium.new_page(viewport={"width": 700, "height": 1000})
    page.goto(path.as_uri())
    page.emulate_media(media="print")
    every = """([selector, rule]) =>
      [...document.querySelectorAll(selector)].every((e) => getComputedStyle(e)[rule].startsWith("avoid"))"""
    assert page.evaluate(every, ["h2, caption, summary", "breakAfter"])
    assert page.evaluate(every, ["figure, table", "breakInside"])
    assert page.evaluate("[...document.querySelectorAll('.trees svg')].every((e) => e.getBoundingClientRect().right <= 700)")
    page.close()


def test_a_telephone_shows_whole_sentences_and_readable_trees(chromium: Browser, own: Watched) -> None:
    """Words have the width of the page; trees shrink, but not below 70%; a node beyond the edge scrolls into sight."""
    page = chromium.new_page(viewport={"width": 375, "height": 740}, reduced_motion="reduce")
    page.goto(own.page.url.partition("#")[0])
    item = page.locator(".item.open").first
    assert (item.locator(".words").bounding_box() or {})["width"] > 280
    sizes = item.locator("svg.treegauge").evaluate_all(
        "all => all.map((svg) => [svg.getBoundingClientRect().width, svg.parentNode.clientWidth, svg.viewBox.baseVal.width])"
    )
    for shown, room, width in sizes:
        assert shown / width == pytest.approx(min(1, max(0.7, room / width)), abs=0.01)
    assert any(shown < width for shown, _, width in sizes)
    page.locator("#fold").uncheck()
    nodes = item.locator(".node.phrase")
    for number in (0, nodes.count() - 1):
        nodes.nth(number).focus()
        page.keyboard.press("Enter")  # folded: the tree is drawn anew
        page.keyboard.press("Enter")
        assert page.evaluate(
            """() => {
              const { left, right } = document.activeElement.getBoundingClientRect();
              return left >= 0 && right <= window.innerWidth;
            }"""
        )
    page.close()


def test_ten_systems_stay_readable(chromium: Browser, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    systems = {f"system {number}": SYSTEMS[sorted(SYSTEMS)[number % len(SYSTEMS)]] for number in range(10)}
    treegauge.report(GOLD, systems, QUICK).write(str(path))
    page = chromium.new_page(viewport={"width": 375, "height": 800})
    page.goto(path.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.locator(".cards li").count() == 10
    assert "45 differences" in page.inner_text(".plain")
    assert not page.get_by_text("system 9 − system 0").first.is_visible(), "45 pairs are behind a line that opens"
    assert page.locator("figure[data-name=differences]").is_visible()
    page.close()


def test_the_tables_of_all_pairs_are_behind_a_line_that_opens(chromium: Browser, tmp_path: Path) -> None:
    """Of three systems, too: the answer, the figure and the rates come first."""
    treegauge.report(GOLD, {**SYSTEMS, "third": SYSTEMS["right-branching"]}, QUICK).write(str(tmp_path / "three.html"))
    page = chromium.new_page(viewport={"width": 1200, "height": 900})
    page.goto((tmp_path / "three.html").as_uri())
    titles = [title for title in page.locator("#summary caption").all_inner_texts() if title]
    assert titles[0] == "Rates"
    assert not any(title.startswith("Differences") for title in titles)
    page.get_by_text("All differences of all pairs").click()
    assert page.locator("#summary caption").get_by_text("Differences", exact=True).is_visible()
    page.close()


def pages_of(document: bytes) -> int:
    return len(re.findall(rb"/Type /Page\b", document))


def test_paper_has_what_is_open_and_a_full_report_everything(chromium: Browser, tmp_path: Path) -> None:
    found = treegauge.report(GOLD, SYSTEMS, QUICK)
    pages: list[int] = []
    for full in (False, True):
        path = tmp_path / f"{full}.html"
        replace(found, full=full).write(str(path))
        page = chromium.new_page()
        page.goto(path.as_uri())
        pages.append(pages_of(page.pdf(format="A4")))
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert (page.locator("details:not([open])").count() == 0) == full
        assert page.locator("#definitions").is_visible() == page.get_by_text("Labels confused by").first.is_visible() == full
        assert page.locator(".item.open svg.treegauge").first.is_visible()
        page.close()
    assert pages[0] < pages[1]


@pytest.mark.slow
@pytest.mark.parametrize("names", [("maxrule", "viterbi"), ("maxrule", "viterbi", "viterbi")])
def test_a_report_on_gum_fits_on_eight_pages(chromium: Browser, shared: Path, tmp_path: Path, names: tuple[str, ...]) -> None:
    outputs = shared / "data" / "outputs"
    systems = {f"{name} {number}": str(outputs / f"gum_dev.berkeley-{name}.mrg") for number, name in enumerate(names)}
    treegauge.report(str(outputs / "gum_dev.gold.mrg"), systems, QUICK).write(str(tmp_path / "gum.html"))
    page = chromium.new_page()
    page.goto((tmp_path / "gum.html").as_uri())
    assert pages_of(page.pdf(format="A4")) <= 8
    page.close()


def test_three_clicks_lead_from_the_answer_to_the_tree_that_explains_it(chromium: Browser, tmp_path: Path) -> None:
    """A reader's way: the report is written by the command, and one click on a kind of error, or a label, shows its trees."""
    files = [tmp_path / f"{name}.mrg" for name in ("gold", *SYSTEMS)]
    for path, trees in zip(files, (GOLD, *SYSTEMS.values()), strict=True):
        path.write_text("\n".join(map(str, trees)) + "\n", "utf-8")
    command = [sys.executable, "-m", "treegauge", "report", *map(str, files), "-o", str(tmp_path / "r.html"), "--rounds", "50"]
    subprocess.run(command, check=True, capture_output=True)
    from playwright.sync_api import expect

    watched = Watched(chromium, tmp_path / "r.html")
    page = watched.page
    page.emulate_media(reduced_motion="reduce")
    assert page.inner_text("#summary .plain").startswith("oracle-binary is better than right-branching by ")
    links = page.locator(".origins a")
    assert links.count() == 6
    counts = {page.inner_text("#count")}
    for number in range(6):
        name = links.nth(number).inner_text()
        links.nth(number).click()
        control = "#label" if number < 3 else "#kind"
        expect(page.locator(control)).to_have_value(name)
        assert page.locator("#who").input_value() == "oracle-binary is best"
        counts.add(page.inner_text("#count"))
        item = page.locator(".item.open")
        assert item.count() == 1
        assert item.locator("svg.treegauge").count() == 3
        box = item.bounding_box()
        assert box is not None
        assert 0 <= box["y"] < 200, "the trees are in sight"
        if number >= 3:
            assert name in item.locator("figcaption").nth(2).inner_text()
        else:
            wrong = item.locator(".node.missed, .node.spurious, .node.crossing, .node.wrong-label text").all_text_contents()
            assert any(re.match(rf"{name}\b", text) for text in wrong), (name, wrong)
    assert len(counts) > 3, "the links choose among the sentences"
    page.select_option("#kind", index=0)
    links.nth(5).click()
    expect(page.locator("#kind"), "the same link works again").to_have_value(links.nth(5).inner_text())
    page.go_back()
    expect(page.locator("#kind"), "Back leads to the list before").to_have_value(links.nth(4).inner_text())
    assert watched.said == []
    page.close()


@pytest.mark.parametrize("clipboard", [True, False])
def test_tables_are_copied(chromium: Browser, own: Watched, clipboard: bool) -> None:
    context = chromium.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(own.page.url.partition("#")[0])
    if not clipboard:
        page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')); }")
    table = page.locator("#summary .tables > div").first
    rows = table.locator("tr").count()
    for form in ("tsv", "latex"):
        button = table.locator(f"[data-form={form}]")
        button.click()
        button.get_by_text("Copied").wait_for()
        text = page.evaluate("navigator.clipboard.readText()")
        if form == "tsv":
            lines = [line.split("\t") for line in text.splitlines()]
            assert len(lines) == rows
            assert lines[0][:4] == ["rate", "difference", "interval", "p"]
            assert {len(line) for line in lines} == {8}
        else:
            assert text == render(difference_tables(REPORT)[0], "latex")
    button = table.locator("[data-form=tsv]")
    button.dblclick()
    button.get_by_text("Copied").wait_for()
    button.get_by_text("Copy as TSV").wait_for()
    page.wait_for_timeout(1600)
    assert button.inner_text() == "Copy as TSV", "the second click did not take the answer to the first for its own words"
    page.evaluate(
        "() => { navigator.clipboard.writeText = () => Promise.reject(new Error()); document.execCommand = () => false; }"
    )
    button.click()
    button.get_by_text("Not copied").wait_for()
    context.close()


def test_long_names_break_and_two_figures_stand_side_by_side(chromium: Browser, tmp_path: Path) -> None:
    names = ("a name of many words, with the seed, the beam and the date of the run", "a-name-without-any-blank-" * 4)
    treegauge.report(GOLD, dict(zip(names, SYSTEMS.values(), strict=True)), QUICK).write(str(tmp_path / "long.html"))
    for width in (390, 800, 1200, 1440):
        page = chromium.new_page(viewport={"width": width, "height": 800})
        page.goto((tmp_path / "long.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") == width
        one, other = (page.locator("#fragments .plot").nth(number).bounding_box() for number in range(2))
        assert one is not None
        assert other is not None
        assert (one["y"] == other["y"]) == (width >= 1200)
        page.close()


def test_a_telephone_shows_what_matters_first_and_what_scrolls(chromium: Browser, own: Watched) -> None:
    page = chromium.new_page(viewport={"width": 390, "height": 800}, reduced_motion="reduce")
    page.goto(own.page.url.partition("#")[0])
    table = page.locator("#summary .tables .scroll").first
    for number in range(4):
        box = table.locator("th[scope=col]").nth(number).bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 390, "rate, difference, interval and p are in sight"
    assert "more-right" in (table.get_attribute("class") or "")
    table.evaluate("box => { box.scrollLeft = box.scrollWidth; }")
    page.locator("#summary .tables .more-left:not(.more-right)").first.wait_for()
    holders = page.locator(".item.open .trees .scroll")
    assert holders.evaluate_all("all => all.map((box) => box.scrollLeft)") == [0, 0, 0], "a tree starts at its left"
    wider = "all => all.map((box) => [box.scrollWidth > box.clientWidth + 2, box.classList.contains('more-right')])"
    assert all(scrolls == shown for scrolls, shown in holders.evaluate_all(wider))
    texts = page.locator(".narrow svg text").all_text_contents()
    assert not any("…" in text for text in texts), "no name in a figure is cut"
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    cut = """() => [...document.querySelectorAll("caption span, figcaption, p, dd, h2")]
        .filter((e) => e.getClientRects().length && e.getBoundingClientRect().right > 391).map((e) => e.textContent)"""
    assert page.evaluate(cut) == []
    page.close()
