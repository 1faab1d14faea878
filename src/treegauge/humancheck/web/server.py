"""The server of the page: its socket, the links to it, and a shutdown that stores what is under way."""

from __future__ import annotations

import asyncio
import errno
import html
import socket
import ssl
import tempfile
import threading
import webbrowser
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from treegauge.errors import TreegaugeError, UsageError
from treegauge.humancheck.judgements import Person
from treegauge.humancheck.session import Session
from treegauge.humancheck.web.app import page_app
from treegauge.humancheck.web.security import Guard, HostRule, Links, check_address

__all__ = [
    "DEFAULT_PORT",
    "REQUEST_TIMEOUT",
    "Address",
    "links_to",
    "listen",
    "make_server",
    "open_in_browser",
    "serve",
    "serve_in_thread",
]

DEFAULT_PORT = 8765
REQUEST_TIMEOUT = 15.0
"""The seconds that a request may take to arrive, from its connection or its first byte to its last."""


@dataclass(frozen=True)
class Address:
    """The address to listen on, further names of this machine for links, a sub-path behind a proxy, and files for HTTPS."""

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    allow_remote: bool = False
    names: tuple[str, ...] = field(default=())
    base: str = ""
    certificate: str | None = None
    key: str | None = None

    def __post_init__(self) -> None:
        if self.base and not (self.base.startswith("/") and not self.base.endswith("/") and quote(self.base) == self.base):
            raise UsageError(f"the path {self.base!r}: write it with a slash in front and none behind, as in /check")
        if (self.key is not None) and self.certificate is None:
            raise UsageError("--key needs --certificate")


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
    links = Links(session.store.secret(renew=renew), session.people, _LinkNumbers(session))
    port = listening.getsockname()[1]
    name = next(iter(address.names), socket.gethostname() if address.host in ("0.0.0.0", "::") else address.host)
    host = f"[{name}]" if ":" in name else name
    scheme = "https" if address.certificate else "http"
    start = f"{scheme}://{host}:{port}{address.base}"
    return links, {person: f"{start}/t/{quote(links.token(person))}/" for person in session.people}


class _LinkNumbers:
    """The numbers of revoked links, from the store; the last ones known while it cannot be read."""

    def __init__(self, session: Session) -> None:
        self._store, self._last = session.store, dict[tuple[str, str], int]()

    def __call__(self) -> Mapping[tuple[str, str], int]:
        with suppress(TreegaugeError):
            self._last = self._store.link_numbers()
        return self._last


class _TimedProtocol(H11Protocol):
    """A connection that is closed if a request does not arrive as a whole in time."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._timer is not None:
            self._timer.cancel()

    def _watch(self) -> None:
        """Start the clock while a request is incomplete, and stop it when one is complete."""
        is_waiting = self.conn.their_state in (h11.IDLE, h11.SEND_BODY)
        if is_waiting and self._timer is None:
            self._timer = self.loop.call_later(REQUEST_TIMEOUT, self._close_slow)
        elif not is_waiting and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _close_slow(self) -> None:
        self._timer = None
        if self.conn.their_state in (h11.IDLE, h11.SEND_BODY) and not self.transport.is_closing():
            self.transport.close()


def make_server(app: Guard, address: Address | None = None) -> uvicorn.Server:
    """The server of an application."""
    address = address or Address()
    # No access log: it would show the tokens.
    config = uvicorn.Config(
        app,
        http=_TimedProtocol,
        loop="asyncio",
        ws="none",
        lifespan="on",
        access_log=False,
        log_level="critical",
        server_header=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=5,
        ssl_certfile=address.certificate,
        ssl_keyfile=address.key,
    )
    try:
        config.load()
    except (OSError, ssl.SSLError) as error:
        raise UsageError(f"--certificate {address.certificate}: {error.strerror or error}") from None
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
        hosts = HostRule(remote=address.allow_remote, names=address.names)
        server = make_server(page_app(session, links, hosts, report, base=address.base), address)
        announce(addresses)
        # Stopping a server by Ctrl-C is not an accident.
        with suppress(KeyboardInterrupt):
            server.run(sockets=[listening])


@contextmanager
def open_in_browser(link: str) -> Generator[None]:
    """Open a link for as long as the block lasts, without its token on any command line, where other users could read it.

    The browser gets the name of a file, which only this user can read and which leads to the link.
    """
    with tempfile.TemporaryDirectory(prefix="treegauge-") as folder:
        page = Path(folder) / "open.html"
        target = html.escape(link, quote=True)
        page.write_text(f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={target}">', "utf-8")
        webbrowser.open(page.as_uri())
        yield


@contextmanager
def serve_in_thread(session: Session, address: Address | None = None, **options: Any) -> Generator[dict[Person, str]]:
    """Serve the page from a thread for as long as the block lasts: for notebooks and tests."""
    address = address or Address(port=0)
    with listen(address) as listening:
        links, addresses = links_to(session, listening, address)
        hosts = HostRule(remote=address.allow_remote, names=address.names)
        server = make_server(page_app(session, links, hosts, base=address.base, **options), address)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        try:
            yield addresses
        finally:
            server.should_exit = True
            thread.join()
