"""A page and the people at it, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser

from humancheck_helpers import Client

from treegauge.humancheck.questions import Check
from treegauge.humancheck.session import Office, people_of
from treegauge.humancheck.store import Store
from treegauge.humancheck.web.server import running


class Person(Client):
    """A client who knows the office, too."""

    office: Office


def open_page(check: Check, store: Store, names: list[str], *, blind: bool = False) -> Iterator[dict[str, Person]]:
    office = Office(check, store, people_of(names), blind=blind)
    with running(office) as links:
        clients = {who.name: Person(link) for who, link in links.items()}
        for client in clients.values():
            client.office = office
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
