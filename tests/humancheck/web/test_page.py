"""The page over HTTP: the whole job without a browser, retries, several people."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

import pytest
from humancheck_helpers import Client, said, small_check, words_of
from humancheck_page import PageClient, Tags, open_page

from treegauge.errors import UsageError, WriteError
from treegauge.humancheck.judgements import Person
from treegauge.humancheck.questions import Check, CheckPlan, build_check
from treegauge.humancheck.session import Session, people_named
from treegauge.humancheck.store import Store
from treegauge.humancheck.web.server import serve_in_thread
from treegauge.trees import Treebank


@pytest.fixture
def people(check: Check, store: Store) -> Iterator[dict[str, PageClient]]:
    """Anna, Ben and the adjudicator at a page."""
    yield from open_page(check, store, ["anna", "ben"])


@pytest.mark.slow
def test_the_whole_job(people: dict[str, PageClient], store: Store) -> None:
    anna = people["anna"]
    total = len(anna.session.check.order)
    assert f"of {total} judged" in anna.get()
    assert "whatever the treebank’s style" in anna.get()
    first = anna.shown()
    answer = anna.judge("accepted", note="fine", correction=True, seconds=2)
    assert answer["progress"]["answered"] == 1
    assert answer["next"] != first
    for verdict in ("rejected", "unsure", "skipped"):
        answer = anna.judge(verdict)
    assert (answer["progress"]["left"], answer["progress"]["skipped"]) == (total - 3, 1)
    _, answer = anna.post("undo", {"id": secrets.token_hex(8), "undoes": store.since(0)[-1].id})
    assert answer["next"] == anna.shown()
    assert [one.verdict for one in store.since(0)] == ["accepted", "rejected", "unsure", "skipped", "withdrawn"]
    assert (store.since(0)[0].note, store.since(0)[0].seconds) == ("fine", 2)
    key = anna.shown()
    while key:
        key = anna.judge("rejected", key)["next"]
    assert "All brackets are answered" in anna.get()
    assert "95% intervals" in anna.get("results")  # the unsure one is left


def test_every_part_of_the_page(people: dict[str, PageClient], store: Store) -> None:
    anna = people["anna"]
    question = anna.session.check.questions[anna.session.check.by_key[anna.shown()]]
    page = Tags(anna.get())
    assert " ".join(question.words) in page.text
    assert sum(tag == "svg" for tag, _ in page.tags) == 2
    assert {"accepted", "rejected", "unsure", "skipped"} == {
        values.get("value") for tag, values in page.tags if tag == "button"
    } - {None}
    assert "Generation Rate" not in page.text, "measures are hidden while judging"
    assert "Generation Rate" in anna.get("measures")
    for tag, values in page.tags:
        if tag in ("link", "script", "img", "a", "form"):
            target = values.get("href") or values.get("src") or values.get("action") or ""
            assert not target.startswith(("http:", "https:", "//")), f"the page must work offline: {target}"
    for address in re.findall(r'(?:href|src)="(/static/[^"]+)"', anna.get()):
        assert anna.get(address)
    anna.judge("accepted")
    assert "accepted" in anna.get("judged")
    again = anna.get(f"?question={question.key}")
    assert "A new answer replaces it" in again
    assert "Items (Hogenhout" in anna.get("results")


@pytest.mark.parametrize("kind", ["CE", "SP", "EM"])
def test_the_reason_is_said(store: Store, kind: str) -> None:
    check = small_check(CheckPlan(exact=True))
    question = next(question for question in check.questions if question.kind == kind)
    for clients in open_page(check, store, ["anna"]):
        text = Tags(clients["anna"].get(f"question/{question.key}")).text
        words = {"CE": "it crosses the treebank’s", "SP": "the treebank has no such bracket", "EM": "the treebank has the same"}
        assert words[kind] in text


def test_an_answer_that_comes_twice_is_stored_once(people: dict[str, PageClient], store: Store) -> None:
    anna, key = people["anna"], people["anna"].shown()
    fields = {"id": "a" * 32, "question": key, "verdict": "accepted", "note": "x", "seconds": 1}
    (first, one), (second, two) = anna.post("judge", fields), anna.post("judge", fields | {"seconds": 9})
    assert (first, second) == (200, 200)
    assert one["next"] == two["next"]
    assert len(store.since(0)) == 1
    status, refusal = anna.post("judge", fields | {"verdict": "rejected"})
    assert (status, "belongs to another" in refusal["message"]) == (409, True)
    undo = {"id": "b" * 32, "undoes": "a" * 32}
    assert [anna.post("undo", undo)[0], anna.post("undo", undo)[0], anna.post("undo", undo | {"id": "c" * 32})[0]] == [200] * 3
    assert len(store.since(0)) == 2


def test_a_page_without_its_script_works_by_forms(people: dict[str, PageClient], store: Store) -> None:
    anna = people["anna"]
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Origin": f"http://{anna.host}"}
    for verdict in ("accepted", "rejected"):
        page = anna.get()
        form = page[page.index('id="answers"') :]
        hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form))
        body = urlencode({**hidden, "verdict": verdict, "note": "ä & b", "correction": "yes"}).encode()
        status, _, answer = anna.request("POST", "judge", body, headers)
        assert status == 303
        assert answer["location"].startswith("./?question=")
    hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', anna.get().split('id="answers"')[0]))
    status, _, _ = anna.request("POST", "undo", urlencode(hidden).encode(), headers)
    assert status == 303
    assert [(one.verdict, one.note, one.correction) for one in store.since(0)[:2]] == [
        ("accepted", "ä & b", True),
        ("rejected", "ä & b", True),
    ]
    assert store.since(0)[2].verdict == "withdrawn"


def test_annotators_disagree_and_an_adjudicator_settles_it(people: dict[str, PageClient]) -> None:
    anna, ben, adjudicator = people["anna"], people["ben"], people["adjudicator"]
    assert anna.shown() == ben.shown()
    assert "No disagreement is open" in adjudicator.get()
    first = anna.shown()
    anna.judge("accepted", note="<b>reads</b> well")
    assert ben.shown() == first
    ben.judge("rejected")
    assert adjudicator.shown() == first
    page = adjudicator.get()
    assert "&lt;b&gt;reads&lt;/b&gt; well" in page
    assert "ben</b> rejected" in page
    assert "ben" not in Tags(anna.get(f"?question={first}")).text.replace("benefit", "")
    adjudicator.judge("accepted", first)
    assert "No disagreement is open" in adjudicator.get()
    results = adjudicator.get("results")
    assert "Krippendorff" in results
    assert "1 settled" in results
    assert "Krippendorff" not in anna.get("results")


def test_what_was_said_of_another_gold_tree_is_shown(check: Check, store: Store) -> None:
    number = check.order[0]
    then = said(check, number, "accepted", "ben")
    store.append([replace(then, bracket=then.bracket._replace(gold="0" * 64))], words_of(check))
    for clients in open_page(check, store, ["anna"]):
        page = Tags(clients["anna"].get(f"?question={check.questions[number].key}")).text
        assert "When the treebank had a different tree, ben accepted this bracket" in page
        assert clients["anna"].session.log.opinions(check.questions[number].bracket) == {}


def test_one_person_cannot_take_back_what_another_said(people: dict[str, PageClient], store: Store) -> None:
    people["anna"].judge("accepted")
    fields = {"id": secrets.token_hex(8), "undoes": store.since(0)[0].id}
    assert people["ben"].post("undo", fields)[0] == 404
    assert len(store.since(0)) == 1


def test_blind(check: Check, store: Store) -> None:
    for clients in open_page(check, store, ["anna"], blind=True):
        anna = clients["anna"]
        crossing = next(check.questions[n] for n in check.order if check.questions[n].kind == "CE")
        page = Tags(anna.get(f"?question={crossing.key}"))
        for telling in ("Crossing", "crosses", "Treebank", "Parser", "∅", "×"):
            assert telling not in page.text.split("Keys ?")[1].split("The twelve measures")[0], telling
        assert "Tree 1" in page.text
        last = anna.judge("accepted", crossing.key)["last"]
        assert "crossing error" in last
        assert "was the treebank’s" in last
        assert store.since(0)[-1].blind
        anna.judge("rejected", crossing.key)
        assert not store.since(0)[-1].blind, "by then the reason was known"


def test_a_blind_tree_does_not_tell_whose_it_is(store: Store) -> None:
    gold = "(TOP (S (NP-SBJ (N we)) (VP (V saw) (NP-OBJ (D a) (N cat)) (PP=2 (P in) (NP (N Ur))))))"
    test = "(ROOT (S (NP (N we)) (VP (V saw) (NP (NP (D a) (N cat)) (PP (P in) (NP (N Ur)))))))"
    check = build_check(Treebank.parse(gold), {"A": Treebank.parse(test)})
    for clients in open_page(check, store, ["anna"], blind=True):
        page = clients["anna"].get().split("<dialog")[0]
        for telling in ("TOP", "ROOT", "SBJ", "OBJ", "PP=2"):
            assert telling not in page


def test_blind_trees_stand_in_random_order(check: Check) -> None:
    from treegauge.humancheck.web.views import gold_is_first

    first = [gold_is_first(check.questions[n], "anna") for n in check.order]
    other = [gold_is_first(check.questions[n], "ben") for n in check.order]
    assert 0.3 < sum(first) / len(first) < 0.7
    assert first != other


def test_two_servers_on_one_store(check: Check, store: Store) -> None:
    with Store(store.name) as second:
        for one in open_page(check, store, ["anna"]):
            for other in open_page(check, second, ["anna"]):
                key = one["anna"].shown()
                one["anna"].judge("accepted", key)
                assert other["anna"].shown() != key
                assert 'id="count">1 of' in other["anna"].get()


def test_trouble_with_the_store_is_said_and_the_answer_can_be_sent_again(
    people: dict[str, PageClient], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna = people["anna"]
    fields = {"id": "a" * 32, "question": anna.shown(), "verdict": "accepted"}

    def full(*_: object) -> list[str]:
        raise WriteError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(store, "append_and_read", full)
        assert anna.post("judge", fields) == (503, {"message": "the disk is full"})
    assert anna.post("judge", fields)[0] == 200


def test_what_breaks_is_reported_in_one_line(check: Check, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    session = Session(check, store, people_named(["anna"]))
    with serve_in_thread(session, report=told.append) as links:
        client = Client(next(iter(links.values())))
        monkeypatch.setattr(session, "question", lambda key: 1 / 0)
        status, text, headers = client.request("GET", "question/x")
        client.close()
    assert (status, told) == (500, ["internal error: ZeroDivisionError: division by zero"])
    assert "Traceback" not in text
    assert "content-security-policy" in headers


def test_names_of_people() -> None:
    assert people_named(["anna"]) == [Person("annotator", "anna")]
    assert people_named(["anna", "ben", "anna"]) == [
        Person("annotator", "anna"),
        Person("annotator", "ben"),
        Person("adjudicator", "adjudicator"),
    ]
    for wrong in ("", "  ", "x" * 61, "adjudicator"):
        with pytest.raises(UsageError):
            people_named([wrong])


def test_nothing_to_judge(store: Store, tmp_path: Path) -> None:
    gold = Treebank.parse("(S (A a) (B b))")
    for clients in open_page(build_check(gold, {"A": gold}), store, ["anna"]):
        assert "There is nothing to judge" in clients["anna"].get()
