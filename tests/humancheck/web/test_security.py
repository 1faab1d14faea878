"""Strangers at the door: wrong tokens, foreign origins, rebound names, paths that climb, addresses that listen too far."""

from __future__ import annotations

import http.client
import socket
from collections.abc import Iterator

import pytest
from humancheck_helpers import Client

from treegauge.errors import UsageError
from treegauge.humancheck.judgements import Person
from treegauge.humancheck.questions import Check
from treegauge.humancheck.session import Session, people_named
from treegauge.humancheck.store import Store
from treegauge.humancheck.web.security import HostRule, Links, check_address
from treegauge.humancheck.web.server import DEFAULT_PORT, Address, links_to, listen, serve_in_thread


@pytest.fixture(scope="module")
def anna(check: Check, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Somebody with a link; nothing in this file may get into the store."""
    with Store(tmp_path_factory.mktemp("door") / "j.sqlite") as store:
        with serve_in_thread(Session(check, store, people_named(["anna"]))) as links:
            client = Client(next(iter(links.values())))
            client.store = store
            yield client
            client.close()
        assert store.since(0) == []


ADDRESSES = ["", "question/abc", "measures", "judged", "results"]


@pytest.mark.parametrize("address", [*ADDRESSES, "judge", "undo"])
def test_a_wrong_token_opens_nothing(anna: Client, address: str) -> None:
    token = anna.path.split("/")[2]
    for wrong in ("x", token[:-1], token + "A", token.swapcase(), "%00", "..%2f..", "é" * 8):
        method = "POST" if address in ("judge", "undo") else "GET"
        status, text, _ = anna.request(method, f"/t/{wrong.encode('ascii', 'ignore').decode() or 'x'}/{address}", b"{}")
        assert status in (403, 404)
        assert token not in text
    assert anna.store.since(0) == []


def test_no_token_opens_nothing(anna: Client) -> None:
    for path in ("/", "/t/", "/judge", "/results", "/t"):
        assert anna.request("GET", path)[0] == 404


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1.evil.example", "http://localhost:1", "file://", "http://[", ""]
)
def test_a_foreign_origin_stores_nothing(anna: Client, origin: str) -> None:
    fields = {"id": "a" * 32, "question": anna.shown(), "verdict": "accepted"}
    assert anna.post("judge", fields, Origin=origin)[0] == 403
    assert anna.store.since(0) == []


def test_a_foreign_page_without_an_origin_stores_nothing(anna: Client) -> None:
    headers = {"Content-Type": "application/json", "Sec-Fetch-Site": "cross-site"}
    assert anna.request("POST", "judge", b"{}", headers)[0] == 403
    assert anna.store.since(0) == []


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "a@localhost", "localhost/x", "[::1", " "]
)
def test_a_rebound_name_sees_nothing(anna: Client, host: str) -> None:
    for path in (anna.path, "/static/check.js"):
        status, text, _ = anna.request("GET", path, headers={"Host": host})
        assert status in (400, 403)
        assert "<html" not in text


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:1", "localhost:9000", "[::1]:9000"])
def test_a_tunnel_may_change_the_port(anna: Client, host: str) -> None:
    assert anna.request("GET", anna.path, headers={"Host": host})[0] == 200


@pytest.mark.parametrize(
    "path",
    [
        "../app.py",
        "..%2fapp.py",
        "%2e%2e/app.py",
        "....//app.py",
        "/etc/passwd",
        "%2fetc%2fpasswd",
        "check.css%00",
        "..\\app.py",
        ".",
    ],
)
def test_paths_do_not_climb(anna: Client, path: str) -> None:
    status, text, _ = anna.request("GET", f"/static/{path}")
    assert status in (403, 404)
    assert "import" not in text
    assert "root:" not in text


def test_every_answer_has_the_headers(anna: Client) -> None:
    token = anna.path.split("/")[2]
    for path in (anna.path, "/nowhere", "/static/check.css", f"/t/{token}x/"):
        _, _, headers = anna.request("GET", path)
        policy = dict(rule.split(maxsplit=1) for rule in headers["content-security-policy"].split(";"))
        assert {policy.pop(name) for name in ("default-src", "base-uri", "frame-ancestors")} == {"'none'"}
        assert set(policy.values()) == {"'self'"}, "nothing from elsewhere, nothing inline"
        assert "script-src" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["cross-origin-opener-policy"] == headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["referrer-policy"] == "same-origin"
        assert headers["cache-control"] in ("no-store", "no-cache")
        assert "server" not in headers
        assert "set-cookie" not in headers
    assert anna.request("DELETE", anna.path)[0] in (404, 405)
    assert anna.request("POST", "")[0] in (404, 405)


def test_tokens_are_long_differ_and_change_with_the_secret() -> None:
    people = [Person("annotator", "anna"), Person("annotator", "ben"), Person("adjudicator", "anna")]
    links = Links(b"secret", people)
    tokens = {links.token(person) for person in people}
    assert len(tokens) == 3
    assert all(len(token) == 32 for token in tokens)
    assert [links.person(links.token(person)) for person in people] == people
    assert Links(b"other", people).person(links.token(people[0])) is None
    assert links.person(links.token(Person("annotator", "cleo"))) is None


def test_links_are_made_invalid_on_request(check: Check, store: Store) -> None:
    session = Session(check, store, people_named(["anna"]))
    with listen(Address(port=0)) as listening:
        first, second, third = (links_to(session, listening, Address(), renew=renew)[1] for renew in (False, False, True))
    assert first == second != third


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.1", "example.org", ""])
def test_other_machines_are_refused_unless_asked_for(host: str) -> None:
    with pytest.raises(UsageError, match="allow_remote"):
        check_address(host, allow_remote=False)
    check_address(host, allow_remote=True)
    for local in ("127.0.0.1", "::1", "localhost", "127.0.0.2"):
        check_address(local, allow_remote=False)


def test_a_remote_page_keeps_its_tokens_and_its_names(check: Check, store: Store) -> None:
    address = Address("0.0.0.0", 0, allow_remote=True, names=("lab.example",))
    with serve_in_thread(Session(check, store, people_named(["anna"])), address) as links:
        (link,) = links.values()
        assert link.startswith("http://lab.example:")
        client = Client(link.replace("lab.example", "127.0.0.1"))
        statuses = [
            client.request("GET", path, headers={"Host": host})[0]
            for path, host in (
                (client.path, "lab.example"),
                (client.path, "10.0.0.5:8765"),
                (client.path, socket.gethostname()),
                (client.path, "evil.example"),
                ("/t/guess/", "lab.example"),
            )
        ]
        client.close()
    assert statuses == [200, 200, 200, 403, 403]
    assert not HostRule().accepts("10.0.0.5")


def test_a_taken_port() -> None:
    with listen(Address(port=0)) as listening:
        taken = listening.getsockname()[1]
        with pytest.raises(UsageError, match=str(taken)):
            listen(Address(port=taken))
    with listen(Address()) as first, listen(Address()) as second:
        assert second.getsockname()[1] != first.getsockname()[1]
        assert second.getsockname()[1] != DEFAULT_PORT or first.getsockname()[1] != DEFAULT_PORT


def test_an_answer_is_not_held_back_on_its_way() -> None:
    with listen(Address(port=0)) as listening, socket.create_connection(listening.getsockname()):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY), "a body would wait 40 ms for its head's receipt"


def test_nonsense_on_the_wire_does_not_stop_the_server(anna: Client) -> None:
    host, port = anna.host.split(":")
    for nonsense in (
        b"\x00\xff\r\n\r\n",
        b"GET / HTTP/9\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"A" * 100_000,
    ):
        with socket.create_connection((host, int(port))) as connection:
            try:
                connection.sendall(nonsense)
                connection.recv(1000)
            except ConnectionError:
                pass
    connection = http.client.HTTPConnection(host, int(port))
    connection.request("GET", anna.path)
    assert connection.getresponse().status == 200
    connection.close()
