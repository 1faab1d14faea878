"""What went wrong when the check was tried for real, each a test: lost notes, slow connections, tokens in the open."""

from __future__ import annotations

import http.client
import re
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from humancheck_helpers import said, small_check, words_of
from humancheck_page import PageClient, Tags, open_page
from processes import running_process

from treegauge.errors import UsageError
from treegauge.humancheck.judgements import TAGS, JudgementLog, Person
from treegauge.humancheck.questions import Check, CheckPlan
from treegauge.humancheck.session import AnnotatorProgress, Session, people_named, share_of
from treegauge.humancheck.store import Store
from treegauge.humancheck.web import server
from treegauge.humancheck.web.pages import render_markdown
from treegauge.humancheck.web.server import Address, open_in_browser, serve_in_thread


@pytest.fixture
def people(check: Check, store: Store) -> Iterator[dict[str, PageClient]]:
    yield from open_page(check, store, ["anna", "ben"])


def answer(client: PageClient, **fields: object) -> tuple[int, dict[str, object]]:
    return client.post("judge", {"id": f"{time.monotonic_ns():032x}", "question": client.shown(), "verdict": "accepted", **fields})


def test_judging_again_and_undo_keep_the_note_and_the_mark(people: dict[str, PageClient]) -> None:
    anna = people["anna"]
    key = anna.shown()
    assert answer(anna, note="because", correction=True, correct_label="NP", tags=["attachment"])[0] == 200
    again = anna.get(f"question/{key}")
    expected = ('data-note="because"', 'data-correction="yes"', 'data-label="NP"', 'data-tags="attachment"')
    assert all(text in again for text in expected)
    (judgement,) = anna.session.log.by_id.values()
    assert anna.post("undo", {"id": "u" * 32, "undoes": judgement.id})[0] == 200
    after = anna.get(f"question/{key}")
    assert all(text in after for text in expected)
    assert "Before: accepted" in after
    page = anna.get(f"?question={key}")
    assert ">because</textarea>" in page


def test_an_answer_changed_later_shows_what_it_was(people: dict[str, PageClient]) -> None:
    anna = people["anna"]
    key = anna.shown()
    anna.judge("accepted", key)
    anna.judge("rejected", key)
    text = anna.get(f"question/{key}")
    assert "You rejected this bracket" in text
    assert "Before that: accepted" in text


@pytest.mark.parametrize("seconds", ["1e999", "NaN", "-Infinity", "9" * 400])
def test_times_that_are_no_numbers_are_refused(people: dict[str, PageClient], seconds: str) -> None:
    anna = people["anna"]
    body = f'{{"id": "{"a" * 32}", "question": "{anna.shown()}", "verdict": "accepted", "seconds": {seconds}}}'
    status, _, _ = anna.request("POST", "judge", body.encode(), {"Content-Type": "application/json", "Accept": "application/json"})
    assert status == 400
    assert answer(anna, seconds=1.5)[0] == 200


def test_a_store_with_endless_times_still_serves(check: Check, store: Store) -> None:
    store.append([said(check, check.order[0], "accepted", seconds=float("inf"))], words_of(check))
    for clients in open_page(check, store, ["anna"]):
        assert answer(clients["anna"])[0] == 200


def test_half_sent_requests_time_out(check: Check, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "REQUEST_TIMEOUT", 0.4)
    with serve_in_thread(Session(check, store, people_named(["anna"]))) as links:
        link = urlsplit(next(iter(links.values())))
        head = f"POST {link.path}judge HTTP/1.1\r\nHost: {link.netloc}\r\n".encode()
        whole_head = head + b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n"
        for start in (b"", head, whole_head, whole_head + b"{"):
            with socket.create_connection((link.hostname, link.port), timeout=20) as connection:
                connection.sendall(start)
                answered = connection.recv(1000)
                assert answered == b"" or b"HTTP/1.1 4" in answered
        client = PageClient(next(iter(links.values())))
        assert client.get()
        time.sleep(0.8)  # a connection between two requests is not a half-sent request
        assert client.get()
        client.close()


def test_a_request_that_is_aborted_is_no_error(check: Check, store: Store) -> None:
    reported: list[str] = []
    with serve_in_thread(Session(check, store, people_named(["anna"])), report=reported.append) as links:
        link = urlsplit(next(iter(links.values())))
        head = f"POST {link.path}judge HTTP/1.1\r\nHost: {link.netloc}\r\nContent-Type: application/json\r\n"
        for _ in range(3):
            with socket.create_connection((link.hostname, link.port), timeout=20) as connection:
                connection.sendall(head.encode() + b'Content-Length: 100\r\n\r\n{"id"')
                time.sleep(0.1)
        client = PageClient(next(iter(links.values())))
        client.get()
        client.close()
    assert reported == []


@pytest.mark.slow
def test_pages_are_read_while_another_program_holds_the_store(check: Check, store: Store) -> None:
    import sqlite3
    from contextlib import closing

    from sqlalchemy import event

    statements: list[str] = []
    event.listen(store._engine, "before_cursor_execute", lambda _, __, statement, *___: statements.append(statement))
    for clients in open_page(check, store, ["anna"]):
        with closing(sqlite3.connect(store.name, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            statements.clear()
            assert clients["anna"].get()
            assert clients["anna"].get("results")
            assert "BEGIN IMMEDIATE" not in statements, "that waits for the other program"
            status, problem = answer(clients["anna"])
            assert status == 503
            assert "the store is locked by another program" in str(problem["message"])
            assert "BEGIN IMMEDIATE" in statements
            other.execute("ROLLBACK")
        assert answer(clients["anna"])[0] == 200


def test_the_token_is_on_no_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(server.webbrowser, "open", opened.append)
    link = "http://localhost:1/t/SECRET/?a=1&b=2"
    with open_in_browser(link):
        (address,) = opened
        path = Path(address.removeprefix("file://"))
        assert "SECRET" not in address
        assert path.stat().st_mode & 0o077 == 0 or path.parent.stat().st_mode & 0o077 == 0
        assert "SECRET/?a=1&amp;b=2" in path.read_text()
    assert not path.exists()


def test_a_link_can_be_revoked_while_the_page_is_served(people: dict[str, PageClient], store: Store) -> None:
    anna, ben = people["anna"], people["ben"]
    assert anna.request("GET", "")[0] == ben.request("GET", "")[0] == 200
    store.revoke_link("annotator", "anna")
    assert anna.request("GET", "")[0] == 403
    assert ben.request("GET", "")[0] == 200


def test_a_sub_path_behind_a_proxy(check: Check, store: Store) -> None:
    with serve_in_thread(Session(check, store, people_named(["anna"])), Address(port=0, base="/lab/check")) as links:
        client = PageClient(next(iter(links.values())))
        assert "/lab/check/t/" in client.path
        assert 'href="/lab/check/static/check.css"' in client.get()
        assert client.request("GET", "/lab/check/static/check.css")[0] == 200
        # A proxy that takes the sub-path away.
        assert client.request("GET", client.path.removeprefix("/lab/check"))[0] == 200
        client.close()
    for wrong in ("lab", "/lab/", "/a b"):
        with pytest.raises(UsageError, match="slash"):
            Address(base=wrong)


def test_https(check: Check, store: Store, tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    try:
        subprocess.run([*make, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("no openssl on this machine")
    address = Address(port=0, certificate=str(certificate), key=str(key))
    with serve_in_thread(Session(check, store, people_named(["anna"])), address) as links:
        link = urlsplit(next(iter(links.values())))
        assert link.scheme == "https"
        context = ssl.create_default_context(cafile=str(certificate))
        context.check_hostname = False
        connection = http.client.HTTPSConnection(link.hostname or "", link.port, context=context, timeout=30)
        connection.request("GET", link.path)
        assert connection.getresponse().status == 200
        connection.close()
    with pytest.raises(UsageError, match="certificate"):
        server.make_server(server.page_app(Session(check, store, people_named(["a"])), server.Links(b"", []), server.HostRule()),
                           Address(certificate=str(tmp_path / "none.pem")))  # fmt: skip


def test_plain_text_is_warned_about(tmp_path: Path) -> None:
    from treegauge import io
    from treegauge.data import own_treebank

    io.write(own_treebank("dev")[:3], tmp_path / "gold.mrg")
    command = [sys.executable, "-m", "treegauge", "check", "gold.mrg", "gold.mrg", "--allow-remote", "--port", "0", "--no-open"]
    with running_process(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as page:
        assert page.stdout is not None
        assert page.stderr is not None
        assert page.stdout.readline().startswith("http://")
        assert "plain text" in page.stderr.readline()


def test_unsure_is_not_judged() -> None:
    assert str(AnnotatorProgress(40, 20, 11, 9, 2, 42, 0.0)) == "31 of 42 judged, 9 unsure, 2 skipped, 2 left"


def test_what_is_skipped_has_one_name_on_every_page(people: dict[str, PageClient]) -> None:
    anna = people["anna"]
    assert "1 skipped" in anna.judge("skipped")["progress"]["text"]
    page = Tags(anna.get()).text
    assert "1 skipped" in page
    assert re.search(r"Last: \s*skipped\s+\S+ \[", page), "the last answer"
    assert re.search(r"→\s+Skip S", page), "the button"
    assert "skipped" in Tags(anna.get("judged")).text
    assert "skipped" in Tags(people["adjudicator"].get("results")).text
    assert "skipped" in anna.get("export.csv")
    for address in ("", "judged", "results", "guidelines"):
        for person in (anna, people["adjudicator"]):
            text = person.get(address).lower()
            assert not re.search(r"put off|postpone|set aside|deferred", text), address


def test_reason_tags_are_kept_and_counted(people: dict[str, PageClient]) -> None:
    anna = people["anna"]
    assert answer(anna, tags=["other", "attachment"])[0] == 200
    (judgement,) = anna.session.log.by_id.values()
    assert judgement.tags == ("attachment", "other")
    assert answer(anna, tags=["nonsense"])[0] == 400
    results = anna.get("results")
    assert "Reasons" in results
    assert "attachment" in results
    assert len(TAGS) == 9


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "[x](javascript:alert(1))", "![x](http://example.org/x.png)",
        "<javascript:alert(1)>", "[x]\n\n[x]: javascript:alert(1)", "```\n<script>\n```", "# <svg onload=alert(1)>",
    ],
)  # fmt: skip
def test_guidelines_hold_no_html_links_or_images(text: str) -> None:
    made = render_markdown(text)
    assert set(re.findall(r"<(\w+)[^>]*>", made)) <= {"p", "pre", "code", "h3"}
    assert "href" not in made
    assert "src=" not in made.replace("&lt;img src=", "")


def test_guidelines_show_examples_of_this_check_and_the_projects_own(check: Check, store: Store) -> None:
    own = "# Ours\n\n- <b>never</b> *split* `NP`\n\n[x](javascript:y) ![z](//z)"
    session = Session(check, store, people_named(["anna"]), guidelines=own)
    with serve_in_thread(session) as links:
        client = PageClient(next(iter(links.values())))
        client.judge("accepted", note="reads <i>well</i>")
        text = client.get("guidelines")
        client.close()
    assert "<h3>Ours</h3>" in text
    assert "&lt;b&gt;never&lt;/b&gt; <em>split</em> <code>NP</code>" in text
    assert "<p>[x](javascript:y) ![z](//z)</p>" in text
    assert "reads &lt;i&gt;well&lt;/i&gt;" in text
    assert text.count('class="accepted">Accept<') == text.count('class="rejected">Reject<') == 3
    assert all(tag in text for tag in TAGS)


def test_shares_cover_everything_and_overlap_as_stated() -> None:
    check = small_check(CheckPlan(by_sentence=True), sentences=200)
    names = ["anna", "ben", "cleo"]
    shares = {name: share_of(check, names, name, 0.25) for name in names}
    everything = set(check.order)
    assert set.union(*shares.values()) == everything
    common = set.intersection(*shares.values())
    assert 0.1 < len(common) / len(everything) < 0.4
    units = {check.unit_of[number] for number in common}
    assert common == {number for unit in units for number in check.units[unit]}, "sentences are not divided"
    assert shares["anna"] & shares["ben"] == common
    more = share_of(check, [*names, "dan"], "anna", 0.25)
    assert more <= shares["anna"]
    assert share_of(check, names, "anna", 1.0) == everything


def test_agreement_is_for_the_adjudicator(people: dict[str, PageClient]) -> None:
    anna, ben, adjudicator = people["anna"], people["ben"], people["adjudicator"]
    key = anna.shown()
    anna.judge("accepted", key)
    ben.judge("rejected", key)
    page = adjudicator.get("agreement")
    assert key in page
    assert "Cohen" in page
    assert anna.request("GET", "agreement")[0] == 403


def test_the_corrected_tree_is_shown(people: dict[str, PageClient]) -> None:
    anna = people["anna"]
    assert "(QP " in anna.get(f"edit/{anna.shown()}?label=QP&verdict=accepted")
    assert "As in the treebank" in anna.get(f"edit/{anna.shown()}?verdict=accepted"), "nothing is put in without a label"


def test_own_judgements_are_exported(people: dict[str, PageClient]) -> None:
    anna, ben = people["anna"], people["ben"]
    anna.judge("accepted", note="=1+1")
    ben.judge("rejected")
    lines = anna.get("export.csv").splitlines()
    assert len(lines) == 2
    assert "'=1+1" in lines[1]
    assert len(anna.get("export.jsonl").splitlines()) == 1


def test_questions_of_a_sentence_stand_together() -> None:
    check = small_check(CheckPlan(by_sentence=True, sample=7))
    sentences = [check.questions[number].bracket.sentence for number in check.order]
    assert len(set(sentences)) == 7
    assert sorted(sentences, key=sentences.index) == sentences
    log = JudgementLog()
    assert log.history(check.questions[0].bracket, Person("annotator", "anna")) == []


@pytest.mark.parametrize("seconds", [-5, -0.001, 1e400])
def test_a_time_that_cannot_be_is_refused(people: dict[str, PageClient], seconds: float) -> None:
    anna = people["anna"]
    fields = {"id": "a" * 16, "question": anna.shown(), "verdict": "accepted"}
    assert anna.post("judge", {**fields, "seconds": seconds})[0] == 400
    assert anna.post("judge", {**fields, "seconds": 1e6})[0] == 200
