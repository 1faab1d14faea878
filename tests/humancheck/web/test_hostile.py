"""What means harm or makes no sense: answers, bodies, sentences."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from humancheck_page import PageClient, Tags, open_page

from treegauge.humancheck.questions import Check, CheckPlan, build_check
from treegauge.humancheck.store import Store
from treegauge.metrics.hogenhout import Hogenhout
from treegauge.trees import Tree, Treebank


@pytest.fixture(scope="module")
def visitor(check: Check, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageClient]:
    """Somebody whose answers are all refused, so that one page serves many tests."""
    with Store(tmp_path_factory.mktemp("visit") / "j.sqlite") as store:
        for clients in open_page(check, store, ["anna"]):
            yield clients["anna"]
        assert store.since(0) == []


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"id": "short"}, 400),
        ({"id": "x" * 65}, 400),
        ({"id": "<script>alert(1)</script>"}, 400),
        ({"id": 7}, 400),
        ({"verdict": "withdrawn"}, 400),
        ({"verdict": "perhaps"}, 400),
        ({"question": "0" * 24}, 404),
        ({"note": "x" * 2001}, 400),
        ({"note": ["x"]}, 400),
        ({"note": "x" * 100_000}, 413),
    ],
)
def test_answers_that_make_no_sense(visitor: PageClient, fields: dict[str, object], status: int) -> None:
    good = {"id": "a" * 32, "question": visitor.shown(), "verdict": "accepted"}
    assert visitor.post("judge", good | fields)[0] == status
    assert visitor.session.store.since(0) == []


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"{", "application/json", 400),
        (b"\xff", "application/json", 400),
        (b"[]", "application/json", 400),
        (b"[" * 60_000, "application/json", 400),
        (b"a", "text/plain", 415),
        (b"&".join(b"a=b" for _ in range(30)), "application/x-www-form-urlencoded", 400),
    ],
)
def test_bodies_that_cannot_be_read(visitor: PageClient, body: bytes, kind: str, status: int) -> None:
    assert visitor.request("POST", "judge", body, {"Content-Type": kind})[0] == status


HOSTILE = {
    "script": ["<script>alert(1)</script>", "</script><script>alert(2)</script>", "<img", "src=x", "onerror=alert(3)>"],
    "quotes": ["'", '"', "\"onmouseover='x'", "`", "&quot;", "&#x27;", "{{7*7}}", "{%"],
    "emoji": ["👩‍🚀", "🏳️‍🌈", "🙂", "1️⃣", "\U0001f9d1\U0001f3fd"],
    "combining": ["e\u0301" * 20, "\u0301", "a" + "\u0300" * 500, "\u202eabc", "\u2066x"],
    "controls": ["\x00", "\x1b[31m", "\x7f", "\u2028", "\ufffe", "\ud800"],
    "right to left": ["שלום", "עולם", "اللغة", "العربية", "!"],
    "long": [f"word{number}" for number in range(10_000)],
    "one long word": ["x" * 20_000, "y", "z", "w"],
}


@pytest.mark.parametrize("words", HOSTILE.values(), ids=HOSTILE)
def test_hostile_sentences(store: Store, words: list[str]) -> None:
    tags = [Tree(f"<{index}>\"'", [word]) for index, word in enumerate(words)]
    middle = len(tags) // 2
    gold = Tree("<b>S</b>", [Tree("NP&", tags[:middle]), Tree("VP", tags[middle:])])
    test = Tree("S", [tags[0], Tree('X"><script>', tags[1 : middle + 1]), *tags[middle + 1 :]])
    check = build_check(Treebank.from_trees([gold]), {"<i>A</i>": Treebank.from_trees([test])})
    name = "<u>anna</u>'\""
    for clients in open_page(check, store, [name]):
        client = clients[name]
        addresses = ("", "judged") if len(words) > 100 else ("", "?whole=yes", "judged", "results", "measures")
        for address in addresses:
            page = Tags(client.get(address))
            assert not {tag for tag, _ in page.tags} & {"b>s<", "i", "u", "img", "iframe", "style"}
            scripts = [values for tag, values in page.tags if tag == "script"]
            assert scripts in ([], *([{"type": "module", "src": f"/static/{name}.js"}] for name in ("check", "lists")))
            assert not any(attribute.startswith("on") for _, values in page.tags for attribute in values)
            assert not any("style" in values for _, values in page.tags)
            assert not set("\x00\x1b\x7f\u202e\u2066\ufffe\ud800") & set(page.text), (
                "nothing that a page cannot hold or that turns it round"
            )
        client.judge("accepted", note="<script>alert('note')</script>")
        assert "<script>alert" not in client.get("judged")
    (stored,) = store.since(0)
    assert store.words()[stored.bracket.sentence] == tuple(words)


def test_right_to_left_text_is_shown_so(store: Store) -> None:
    words = HOSTILE["right to left"]
    gold = Tree("S", [Tree("W", [word]) for word in words])
    test = Tree("S", [Tree("NP", gold.children[:2]), *gold.children[2:]])
    check = build_check(Treebank.from_trees([gold]), {"A": Treebank.from_trees([test])}, CheckPlan(Hogenhout()))
    for clients in open_page(check, store, ["anna"]):
        page = clients["anna"].get()
        assert 'dir="rtl"' in page
        assert page.count('direction="rtl"') == 2


def test_a_deep_tree_is_drawn_in_part(store: Store) -> None:
    deep = 20_000
    gold = Treebank.parse("(S " * deep + "(A a) (B b) (C c)" + ")" * deep)
    test = Treebank.parse("(S (X (A a) (B b)) (C c))")
    check = build_check(gold, {"A": test})
    for clients in open_page(check, store, ["anna"]):
        for address in ("", "?whole=yes"):
            assert len(clients["anna"].get(address)) < 2_000_000
