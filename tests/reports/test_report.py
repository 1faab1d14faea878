"""The report: one page that needs nothing else, escapes everything, says what the numbers are, and is the same every time."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import math
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from report_helpers import FLAT, GOLD, HOSTILE, HOSTILE_NAME, SYSTEMS, Page

import treegauge
from treegauge.data import discontinuous_treebank
from treegauge.errors import Discontinuous
from treegauge.metrics.hogenhout import Judgements, Verdict
from treegauge.normalise import pipeline
from treegauge.reports.figures import Figure, FigureKind, Scale, Series, figure_svg
from treegauge.reports.report_contents import crossings_table, difference_tables, report_figures, section_tables, summarise
from treegauge.reports.reporting import Report, find_sentences
from treegauge.significance import CompareOptions
from treegauge.trees import Tree, Treebank

QUICK = CompareOptions(rounds=50)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "treegauge", "report", *arguments], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def report() -> Report:
    return treegauge.report(GOLD, SYSTEMS, QUICK, gold_name="own.mrg")


@pytest.fixture(scope="module")
def page(report: Report) -> Page:
    return Page.of(report.html())


def test_nothing_is_fetched(report: Report, page: Page) -> None:
    for tag in ("img", "iframe", "object", "audio", "video", "source", "embed"):
        assert page.all(tag) == []
    for _, attributes in page.elements:
        for name in ("src", "srcset", "action", "poster", "data"):
            assert name not in attributes
        assert (attributes.get("href") or "#").startswith(("#", "data:,"))
    assert "@import" not in report.html()
    assert "url(" not in report.html()


def test_the_policy_allows_the_own_script_and_style_only(page: Page) -> None:
    policy = next(meta["content"] for meta in page.all("meta") if meta.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for kind, text in (("style", page.texts["style"][0]), ("script", page.texts["script"][-1])):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}';" in policy
    assert all("style" not in attributes for _, attributes in page.elements)
    assert not any(name.startswith("on") for _, attributes in page.elements for name in attributes)


def test_the_page_is_well_formed_and_accessible(page: Page) -> None:
    assert page.errors == []
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = {
        href[1:]
        for a in page.all("a")
        if (href := a.get("href") or "").startswith("#") and not re.match(r"#s\d|#sentences[?]", href)
    }
    assert targets <= set(ids)
    assert {attributes["aria-labelledby"] for attributes in page.all("section")} <= set(ids)
    assert all(picture.get("aria-label") for picture in page.all("svg") if picture.get("role") == "img")
    assert len(page.all("caption")) == len(page.all("table"))
    assert all(header.get("scope") for header in page.all("th"))
    headings = [int(tag[1]) for tag, _ in page.elements if re.fullmatch(r"h\d", tag)]
    assert headings[0] == 1
    assert headings.count(1) == 1
    assert all(b - a <= 1 for a, b in itertools.pairwise(headings))
    assert page.all("html")[0]["lang"] == "en"


def test_examples_lead_to_sentences_that_are_there(page: Page) -> None:
    linked = {int(href[2:]) for a in page.all("a") if re.match(r"#s\d", href := a.get("href") or "")}
    assert linked
    assert linked <= {sentence["n"] for sentence in page.sentences}


def test_the_same_input_gives_the_same_bytes(report: Report) -> None:
    assert treegauge.report(GOLD, SYSTEMS, QUICK, gold_name="own.mrg").html() == report.html()


def test_the_numbers_are_those_of_score(report: Report) -> None:
    html = report.html()
    for system, trees in SYSTEMS.items():
        rates = treegauge.score(GOLD, trees).rates
        assert f'<span class="value">{100 * rates["f1"]:.2f}</span>' in html
        assert report.comparison.overall.rates[system]["parseval", "f1"].value == pytest.approx(rates["f1"])
        freval = treegauge.score(GOLD, trees, "freval").rates
        assert report.fragments[system].rates == pytest.approx(dict(freval))


def tree_of(columns: dict[str, Any], words: list[str], labels: list[str]) -> Tree:
    """The tree behind the columns in the page: what its script draws."""
    n = len(columns["l"])
    parents = [-1, *columns["p"]]
    first = {int(node): start for node, start in columns.get("e", {}).items()}
    for position in range(len(words) - 1, -1, -1):
        node = columns["a"][position]
        while node >= 0:
            first[node] = position
            node = parents[node]
    inside: list[list[tuple[int, int, Tree | str]]] = [[] for _ in range(n)]
    for position, above in enumerate(columns["a"]):
        inside[above].append((position, 1, words[position]))
    for node in range(n - 1, -1, -1):
        ordered = sorted(inside[node], key=lambda item: item[:2])
        tree = Tree(labels[columns["l"][node]], [child for *_, child in ordered])
        if node:
            inside[parents[node]].insert(0, (first[node], 0, tree))
    return tree


def test_the_page_holds_the_trees_and_their_marks(report: Report, page: Page) -> None:
    labels = page.data["labels"]
    assert page.data["systems"] == list(SYSTEMS)
    for sentence in page.sentences:
        index = sentence["n"] - 1
        assert tree_of(sentence["g"], sentence["g"]["w"], labels) == GOLD[index]
        for system, one in zip(SYSTEMS.values(), sentence["t"], strict=True):
            assert tree_of(one, one.get("w", sentence["g"]["w"]), labels) == system[index]
            matched, gold, test, _ = one["c"]
            assert (one["g"].count("="), one["m"].count("=")) == (matched, matched)
            assert (len(one["g"].replace(" ", "")), len(one["m"].replace(" ", ""))) == (gold, test)
            counts = treegauge.score(GOLD[index : index + 1], system[index : index + 1]).counts
            assert (matched, gold, test) == (counts["matched"], counts["gold"], counts["test"])


def test_sentences_come_by_how_far_the_systems_are_apart(page: Page) -> None:
    def wrong(one: dict[str, list[int]]) -> int:
        matched, gold, test, _ = one["c"]
        return gold + test - 2 * matched

    apart = [max(map(wrong, sentence["t"])) - min(map(wrong, sentence["t"])) for sentence in page.sentences]
    assert apart == sorted(apart, reverse=True)
    assert all(any(map(wrong, sentence["t"])) for sentence in page.sentences)


def test_hostile_trees_and_names_stay_text() -> None:
    report = treegauge.report(HOSTILE, {HOSTILE_NAME: FLAT, "b": HOSTILE}, QUICK, title=HOSTILE_NAME, gold_name=HOSTILE_NAME)
    html = report.html()
    page = Page.of(html)
    assert page.errors == []
    assert len(page.all("script")) == 3
    assert "<script>alert" not in html
    assert page.all("img") == page.all("b") == []
    assert not any(name.startswith("on") for _, attributes in page.elements for name in attributes)
    assert "49" not in page.texts["title"][0]
    words = [word for sentence in page.sentences for word in sentence["g"]["w"]]
    assert "</script><img src=x onerror=alert(1)>" in words
    assert sum(len(sentence["g"]["w"]) >= 10_000 for sentence in page.sentences) == 1
    assert HOSTILE_NAME in page.texts["title"][0]


def test_one_system_has_rates_but_no_comparison() -> None:
    report = treegauge.report(GOLD, {"alone": SYSTEMS["right-branching"]}, QUICK)
    html = report.html()
    assert Page.of(html).errors == []
    assert "is better than" not in html
    assert [table.title for table in report.tables()][:2] == ["Rates", "Fragments (FREVAL) up to a size"]


def test_identical_and_perfect_systems() -> None:
    html = treegauge.report(GOLD, {"a": GOLD, "b": GOLD}, QUICK).html()
    assert "a and b have the same F1 (" in html
    assert "fewer wrong brackets" not in html
    assert "0 of" in html
    assert len(Page.of(html).all("script")) == 1, "no data of sentences, but tables that can be copied"


def test_three_systems_are_corrected_for_their_pairs() -> None:
    report = treegauge.report(GOLD, {**SYSTEMS, "gold": GOLD}, QUICK)
    html = report.html()
    assert html.count("after Holm&#39;s correction for 3 pairs)") == 1
    assert "Differences in F1, gold minus each other system" in html
    assert "fewer wrong brackets than <bdi>oracle-binary</bdi>: by label" in html
    assert html.count("after Holm&#39;s correction") >= 2
    assert any(table.title.startswith("Who beats whom") for table in report.tables())


def test_a_missing_parse_is_said() -> None:
    broken = [str(tree) for tree in SYSTEMS["oracle-binary"]]
    broken[3] = "()"
    page = Page.of(treegauge.report(GOLD, {"broken": broken, "b": SYSTEMS["right-branching"]}, QUICK).html())
    sentence = next(sentence for sentence in page.sentences if sentence["n"] == 4)
    assert sentence["t"][0]["x"] == "no parse"
    assert sentence["t"][0]["c"][:3] == [0, sentence["t"][1]["c"][1], 0]
    assert any("no parse" in text for text in page.texts["li"])


def test_sentences_are_limited_by_number_and_by_bytes(report: Report) -> None:
    few = treegauge.report(GOLD, SYSTEMS, QUICK, most=2)
    assert few.sentences.rows == report.sentences.rows[:2]
    assert few.sentences.differing == report.sentences.differing > 2
    assert "the 2 on which the systems differ most are here" in few.html()
    errors = report.breakdowns["errors"]
    small = find_sentences(GOLD, SYSTEMS, report.marks, errors, most=2000, most_bytes=3000)
    assert sum(map(len, small.documents)) <= 3000
    assert 1 <= len(small.documents) < report.sentences.differing


def test_judgements_and_the_tables_of_a_check() -> None:
    accepted = {system: Judgements({}, otherwise=Verdict.ACCEPTED) for system in SYSTEMS}
    checked = [treegauge.score(GOLD, SYSTEMS["oracle-binary"]).table()]
    report = treegauge.report(GOLD, SYSTEMS, QUICK, judgements=accepted, checked=checked)
    assert 'id="checked"' in report.html()
    measures = report.comparison.overall.measures["right-branching"]
    assert measures["precision_soft"] == 1
    assert report.tables()[-1] is checked[0]


def test_a_preset_and_skipping() -> None:
    gold, test = Treebank.parse("(S (A a) (B b)) (S (NP (A c) (B d)) (C e))"), ["(S (A a) (B b))", "()"]
    report = treegauge.report(gold, {"a": test}, CompareOptions(rounds=10, preset="none", on_mismatch="skip"))
    assert report.comparison.overall.sentences == 1
    assert report.sentences.differing == 0


def test_charts_do_without_values() -> None:
    kinds: tuple[FigureKind, ...] = ("lines", "points", "columns")
    for kind in kinds:
        assert "<svg" in figure_svg(Figure("f", kind, "nothing", [], [Series("a", [])]))
        gaps = [Series("a", [math.nan, 0.5]), Series("b", [math.nan, math.nan])]
        drawn = figure_svg(Figure("f", kind, "gaps", ["x", "y"], gaps))
        assert "nan" not in re.sub(r'aria-label="[^"]*"', "", drawn)


@pytest.mark.parametrize("values", [[0.0], [5e-9, 6e-9], [-3.0, 8.5], [1e12], [0.3333, 0.3334], [1.0, 1 - 1e-16]])
def test_ticks_are_round_and_hold_the_values(values: list[float]) -> None:
    scale = Scale.around(values, 0, 100)
    ticks = scale.ticks()
    assert scale.low <= min(values)
    assert max(values) <= scale.high
    assert 2 <= len(ticks) <= 12
    assert len({scale.label(tick, percent=False) for tick in ticks}) == len(ticks)


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    paths = [tmp_path / "gold.mrg", tmp_path / "sys.a.mrg", tmp_path / "sys.b.mrg"]
    for path, trees in zip(paths, (GOLD, *SYSTEMS.values()), strict=True):
        path.write_text("\n".join(map(str, trees)) + "\n", "utf-8")
    return [str(path) for path in paths]


def test_the_command_writes_the_page(files: list[str], tmp_path: Path) -> None:
    target = tmp_path / "out.html"
    done = run(*files, "-o", str(target), "--rounds", "20", "--title", "Mine")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert done.stderr == f"wrote {target}\n"
    page = Page.of(target.read_text("utf-8"))
    assert page.texts["title"][0] == "Mine: a, b"
    assert str(tmp_path) not in target.read_text("utf-8")


@pytest.mark.parametrize(
    ("form", "start"), [("markdown", "**Differences, "), ("latex", "% needs \\usepackage{booktabs}\n\\begin{tabular}")]
)
def test_the_command_writes_its_tables(files: list[str], form: str, start: str) -> None:
    done = run(*files, "--format", form, "--rounds", "20")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(start)
    assert "PP attachment" in done.stdout


def test_the_command_refuses_what_it_cannot_do(files: list[str]) -> None:
    assert run(*files, "-p", "no-such-preset").returncode == 2
    assert run(*files, "no-such-file.mrg").returncode == 3
    done = run(*files, "-o", "no/such/folder/r.html", "--rounds", "5")
    assert done.returncode == 3
    assert "cannot be written" in done.stderr


def test_the_command_shows_a_human_check(files: list[str], tmp_path: Path) -> None:
    from treegauge.humancheck.judgements import Judgement
    from treegauge.humancheck.questions import build_check
    from treegauge.humancheck.store import Store

    check = build_check(treegauge.read(files[0]), {"a": treegauge.read(files[1])})
    store = tmp_path / "judgements.sqlite"
    judged = [
        Judgement(str(number), question.bracket, question.kind, "accepted", "anna")
        for number, question in enumerate(check.questions)
        if question.kind != "EM"
    ]
    with Store(store) as opened:
        opened.append(judged, {question.bracket.sentence: question.span.words for question in check.questions})
    target = tmp_path / "out.html"
    done = run(*files[:2], "--store", str(store), "-o", str(target), "--rounds", "20")
    assert done.returncode == 0, done.stderr
    page = Page.of(target.read_text("utf-8"))
    assert any(section.get("id") == "checked" for section in page.all("section"))
    measures = [text for text in page.texts["tbody"] if "Precision-soft" in text]
    assert len(measures) == 1, "in the check's own table, which lacks none"
    assert all(re.search(r"Precision-soft\s*100\.00", text) for text in measures)
    assert json.loads(page.texts["script"][0])["systems"] == ["sys.a"]
    run(*files, "--store", str(store), "-o", str(target), "--rounds", "20")
    captions = Page.of(target.read_text("utf-8")).texts["caption"]
    assert sum("Comparative items" in text for text in captions) == 1, "the brackets that two systems share need no verdicts"


def test_the_answer_names_the_winner_first_and_no_sign_has_to_be_turned() -> None:
    for names in (("worse", "better"), ("better", "worse")):
        trees = dict(zip(("better", "worse"), SYSTEMS.values(), strict=True))
        report = treegauge.report(GOLD, {name: trees[name] for name in names}, QUICK)
        (pair,) = report.comparison.overall.pairs
        value = 100 * abs(pair.of(("parseval", "f1")).value)
        low, high = sorted(100 * abs(end) for end in pair.of(("parseval", "f1")).interval[:2])
        answer = summarise(report)
        assert answer.text.startswith(f"better is better than worse by {value:.2f} F1 (95% interval {low:.2f} to {high:.2f}, p")
        html = report.html()
        assert html.count(answer.text) == 1, "said once"
        assert re.findall(r'class="name">.*?<bdi>(\w+)</bdi>', html) == ["better", "worse"]
        (table,) = difference_tables(report)
        assert table.columns == ("rate", "difference", "interval", "p", "better", "worse", "wins", "losses")
        row = next(row for row in table.texts() if row[0] == "parseval F1")
        assert row[1:3] == [f"{value:.2f}", f"[{low:.2f}, {high:.2f}]"]
        sign = pair.of(("parseval", "f1")).sign
        assert row[-2:] == [str(number) for number in sorted((sign.wins, sign.losses), reverse=True)]
        assert "Differences, better − worse" in html, "the forest plot"
        (figure,) = report_figures(report, section_tables(report))["summary"]
        assert "parseval F1" in figure.names
        assert "freval F1" not in figure.names, "it would stretch the axis until no interval is seen"


def test_the_answer_tells_where_wrong_brackets_were_saved() -> None:
    report = treegauge.report(GOLD, SYSTEMS, QUICK)
    answer = summarise(report)
    counts = {name: treegauge.score(GOLD, trees).counts for name, trees in SYSTEMS.items()}
    wrong = {name: count["gold"] + count["test"] - 2 * count["matched"] for name, count in counts.items()}
    assert answer.fewer == wrong["right-branching"] - wrong["oracle-binary"] > 0
    assert len(answer.labels) == len(answer.kinds) == 3
    errors = {name: {row[0]: row[3] + row[4] for row in found.table.rows} for name, found in report.breakdowns["errors"].items()}
    for kind, fewer in answer.kinds:
        assert fewer == errors["right-branching"][kind] - errors["oracle-binary"].get(kind, 0)
    for control, found in (("label", answer.labels), ("kind", answer.kinds)):
        assert [one.fewer for one in found] == sorted((one.fewer for one in found), reverse=True)
        for one in found:
            href = f"#sentences?{control}={one.name.replace(' ', '+')}&amp;who=oracle-binary+is+best"
            assert f'<a href="{href}">{one.name}</a> {one.fewer:,}' in report.html()


def test_examples_are_of_different_ordinary_sentences_and_say_what_should_be() -> None:
    """The heading in capitals is of a better length, but it comes only where nothing else is at hand."""
    heading = "(S (NP (DT THE) (NN MAN)) (VP (VBD SAW) (NP (DT A) (NN DOG)) (PP (IN WITH) (NP (DT A) (JJ BIG) (NN TELE)))))"
    plain = "(S (NP (PRP he)) (VP (VBD {0}) (NP (DT a) (NN dog)) (PP (IN with) (NP (NN joy)))) (. .))"
    gold = [heading, *(plain.format(verb) for verb in ("saw", "met"))]
    wrong = [
        re.sub(r"\(NP (\(DT \w+\) \(NN \w+\))\) (\(PP .*?\)\)\))", r"(NP (NP \1) \2)", tree, flags=re.IGNORECASE) for tree in gold
    ]
    report = treegauge.report(gold, {"a": wrong, "b": wrong}, CompareOptions(rounds=5))
    page = report.html()
    assert page.count("PP attached to NP “a dog with joy”, should be attached to VP “") == 2
    assert {int(number) for number in re.findall(r'<a href="#s(\d+)">sentence', page)} == {2, 3}
    alone = treegauge.report([heading], {"a": wrong[:1]}, CompareOptions(rounds=5)).html()
    assert "PP attached to NP “A DOG WITH" in alone


def test_an_example_that_can_be_told_in_words_comes_first() -> None:
    """Where a bracket is over the same words in both trees, "attached to" would not tell what is wrong."""
    joy = "(NP (NP (N joy)) (PP (P of) (NP (N life))))"
    same = (f"(S (NP (D the) (J old) (N man)) (VP (V chose) {joy} (PP (P to) (NP (D the) (N end)))) (. .))",)
    same += (same[0].replace(joy, f"(NP {joy})"),)
    other = ("(S (NP (N he)) (VP (V saw) (NP (D a) (N dog)) (PP (P with) (NP (N joy)))) (. .))",)
    other += ("(S (NP (N he)) (VP (V saw) (NP (NP (D a) (N dog)) (PP (P with) (NP (N joy))))) (. .))",)
    gold, wrong = zip(same, other, strict=True)
    page = treegauge.report(list(gold), {"a": list(wrong)}, CompareOptions(rounds=5)).html()
    assert "misplaced" not in page
    assert "PP attached to NP “a dog with joy”, should be attached to VP “saw a dog with joy”" in page


def branching(words: int, *, left: bool) -> str:
    tree = ""
    for number in range(words) if left else reversed(range(words)):
        tree = f"(X {tree} (T w{number}))" if left else f"(X (T w{number}) {tree})"
    return tree


def test_counts_of_crossing_brackets_stop_at_ten_unless_the_report_is_full() -> None:
    lengths = (2, 3, 14, 16)
    gold, test = ([branching(words, left=left) for words in lengths] for left in (True, False))
    report = treegauge.report(gold, {"a": test}, CompareOptions(rounds=5, preset="none"))
    assert crossings_table(report).rows == ((0, 1, 0.25), (1, 1, 0.25), ("10+", 2, 0.5))
    assert [row[:2] for row in crossings_table(replace(report, full=True)).rows] == [(0, 1), (1, 1), (12, 1), (14, 1)]


RIGHT = "(S (NP (D the) (N man)) (VP (V saw) (NP (N her))))"
WRONG = "(S (NP (D the)) (X (N man) (V saw)) (NP (N her)))"
CROSSING = "average crossing"
AHEAD = f"No difference is shown between wrong and right: right has 1.00 {CROSSING} less ("
FIRST_PARAGRAPHS = {
    ("right", "wrong"): AHEAD,
    ("wrong", "right"): AHEAD,
    ("right", "also"): f"right and also have the same {CROSSING} (",
    ("wrong",): f"wrong reaches {CROSSING} 1.00 on 1 sentence.",
    ("wrong", "right", "also"): "right and also have the same",
    ("right", "also", "again", "and"): f"right and also have the same {CROSSING} (",
}


@pytest.mark.parametrize("systems", FIRST_PARAGRAPHS, ids=" ".join)
def test_the_first_paragraph_is_true_to_its_numbers(systems: tuple[str, ...]) -> None:
    """Also for a rate of which less is better and that is not a share, for ties, for one system and for many."""
    trees = {system: WRONG if system == "wrong" else RIGHT for system in systems}
    report = treegauge.report(RIGHT, trees, CompareOptions(rounds=20, metrics=("parseval",), rates=("average_crossing",)))
    summary = summarise(report).text
    assert summary.startswith(FIRST_PARAGRAPHS[systems])
    html = report.html()
    assert summary.replace("'", "&#39;") in html
    assert html.count("F1 [") == 0, "no rate is called F1 that is not"


def test_the_command_line_is_named_without_folders(files: list[str], tmp_path: Path) -> None:
    target, figures = tmp_path / "out.html", tmp_path / "figures"
    gold, first, second = files
    done = run(gold, first, f"B={second}", f"--output={target}", "--title", "A/B", "--rounds", "20", "--figures", str(figures))
    assert done.returncode == 0, done.stderr
    text = target.read_text("utf-8")
    assert "treegauge report gold.mrg sys.a.mrg B=sys.b.mrg --output=out.html --title A/B --rounds 20" in text
    assert str(tmp_path) not in text
    names = {path.name for path in figures.iterdir()}
    assert {"differences.svg", "differences.pdf", "differences.csv", "f1_by_size.pdf", "labels.svg", "errors.csv"} <= names


def test_discontinuous_trees() -> None:
    """What needs spans is left out, and the page says so; PARSEVAL's figures are those of the score itself."""
    gold = discontinuous_treebank("german")
    raised = pipeline("continuous:raise").apply(gold)
    found = treegauge.report(gold, {"raised": raised}, CompareOptions(rounds=10))
    value = found.comparison.overall.rates["raised"]["parseval", "f1"].value
    assert value == treegauge.score(gold, raised).rates["f1"]
    assert ("discontinuous", "f1") in found.comparison.overall.names
    assert not found.fragments
    assert not found.breakdowns["errors"]
    titles = {table.title for table in found.tables()}
    assert "By label" in titles
    assert not any("Fragments" in title or "kind of error" in title for title in titles)
    page = found.html()
    assert "These trees have constituents with gaps" in page
    assert 'id="hogenhout"' in page
    assert 'id="fragments"' not in page
    assert 'id="gaps"' in page
    bare = treegauge.report(gold, {"raised": raised}, CompareOptions(rounds=10, preset="disco"))
    tables = {table.title: table for table in bare.tables()}
    assert [row[:4] for row in tables["By fan-out"].rows] == [(1, 0, 95, 75 / 95), (2, 1, 43, 0.0), (3, 2, 1, 0.0)]
    assert [row[:3] for row in tables["By gap degree of the sentence"].rows] == [(1, 33, 135), (2, 1, 4)]
    assert found.sentences.differing == 34
    both = treegauge.report(gold, {"raised": raised, "perfect": gold}, CompareOptions(rounds=50))
    assert "perfect is better than raised" in both.html()
    with pytest.raises(Discontinuous, match=r"german\.discbracket:1: .* but VP has a gap\n.*continuous:raise"):
        treegauge.report(gold, {"raised": raised}, CompareOptions(rounds=10, metrics=("freval",)))
