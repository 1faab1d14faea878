"""The server of the page: its socket, the links to it, and a shutdown that stores what is under way."""

from __future__ import annotations

import errno
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import uvicorn

from treegauge.errors import UsageError
from treegauge.humancheck.judgements import Person
from treegauge.humancheck.session import Session
from treegauge.humancheck.web.app import page_app
from treegauge.humancheck.web.security import Guard, HostRule, Links, check_address

__all__ = ["DEFAULT_PORT", "Address", "links_to", "listen", "make_server", "serve", "serve_in_thread"]

DEFAULT_PORT = 8765


@dataclass(frozen=True)
class Address:
    """The address to listen on, and further names of this machine for links."""

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    allow_remote: bool = False
    names: tuple[str, ...] = field(default=())


def listen(address: Address) -> socket.socket:
    """A listening socket; on any free port if the default port is taken."""
    check_address(address.host, allow_remote=address.allow_remote)
    try:
        return _bind(address.host, address.port)
    except OSError as error:
        if error.errno == errno.EADDRINUSE and address.port == DEFAULT_PORT:
            return _bind(address.host, 0)
        raise UsageError(f"cannot listen on {address.host}, port {address.port}: {error.strerror or error}") from None


def _bind(host: str, port: int) -> socket.socket:
    listening = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=256)
    # An answer goes out as head and body: without this, connections hold the body back until the browser confirms the head, 40 ms.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def links_to(
    session: Session, listening: socket.socket, address: Address, *, renew: bool = False
) -> tuple[Links, dict[Person, str]]:
    """The tokens of all people, and the links to give them."""
    links = Links(session.store.secret(renew=renew), session.people)
    port = listening.getsockname()[1]
    name = next(iter(address.names), socket.gethostname() if address.host in ("0.0.0.0", "::") else address.host)
    host = f"[{name}]" if ":" in name else name
    return links, {person: f"http://{host}:{port}/t/{quote(links.token(person))}/" for person in session.people}


def make_server(app: Guard) -> uvicorn.Server:
    """The server of an application."""
    # No access log: it would show the tokens.
    config = uvicorn.Config(
        app,
        http="h11",
        loop="asyncio",
        ws="none",
        lifespan="on",
        access_log=False,
        log_level="error",
        server_header=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=5,
    )
    return uvicorn.Server(config)


def serve(
    session: Session,
    address: Address,
    announce: Callable[[dict[Person, str]], None],
    report: Callable[[str], None],
    *,
    renew: bool = False,
) -> None:
    """Serve the page until it is stopped; ``announce`` gets the links as soon as they work."""
    with listen(address) as listening:
        links, addresses = links_to(session, listening, address, renew=renew)
        app = page_app(session, links, HostRule(remote=address.allow_remote, names=address.names), report)
        announce(addresses)
        # Stopping a server by Ctrl-C is not an accident.
        with suppress(KeyboardInterrupt):
            make_server(app).run(sockets=[listening])


@contextmanager
def serve_in_thread(session: Session, address: Address | None = None, **options: Any) -> Generator[dict[Person, str]]:
    """Serve the page from a thread for as long as the block lasts: for notebooks and tests."""
    address = address or Address(port=0)
    with listen(address) as listening:
        links, addresses = links_to(session, listening, address)
        hosts = HostRule(remote=address.allow_remote, names=address.names)
        server = make_server(page_app(session, links, hosts, **options))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        try:
            yield addresses
        finally:
            server.should_exit = True
            thread.join()
