"""A page and the people at it, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser

from humancheck_helpers import Client

from treegauge.humancheck.questions import Check
from treegauge.humancheck.session import Session, people_named
from treegauge.humancheck.store import Store
from treegauge.humancheck.web.server import serve_in_thread


class PageClient(Client):
    """A client that knows the session, too."""

    session: Session


def open_page(check: Check, store: Store, names: list[str], *, blind: bool = False) -> Iterator[dict[str, PageClient]]:
    session = Session(check, store, people_named(names), blind=blind)
    with serve_in_thread(session) as links:
        clients = {person.name: PageClient(link) for person, link in links.items()}
        for client in clients.values():
            client.session = session
        yield clients
        for client in clients.values():
            client.close()


class Tags(HTMLParser):
    """All tags of a page, their attributes, and the text outside them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data
