"""Running the page: a socket, the links to it, and a server that stores what is under way before it stops."""

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
from treegauge.humancheck.session import Office
from treegauge.humancheck.web.app import make_app
from treegauge.humancheck.web.security import Guard, HostRule, Links, Who, check_address

__all__ = ["DEFAULT_PORT", "Address", "links_to", "listen", "make_server", "running", "serve"]

DEFAULT_PORT = 8765


@dataclass(frozen=True)
class Address:
    """Where to listen, and which other names of this machine may stand in links."""

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    allow_remote: bool = False
    names: tuple[str, ...] = field(default=())


def listen(address: Address) -> socket.socket:
    """A listening socket; where the usual port is taken, one on any free port."""
    check_address(address.host, allow_remote=address.allow_remote)
    try:
        return _bound(address.host, address.port)
    except OSError as error:
        if error.errno == errno.EADDRINUSE and address.port == DEFAULT_PORT:
            return _bound(address.host, 0)
        raise UsageError(f"cannot listen on {address.host}, port {address.port}: {error.strerror or error}") from None


def _bound(host: str, port: int) -> socket.socket:
    listening = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=256)
    # An answer goes out as head and body: without this, connections hold the body back until the browser confirms the head, 40 ms.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def links_to(office: Office, listening: socket.socket, address: Address, *, renew: bool = False) -> tuple[Links, dict[Who, str]]:
    """The tokens of all people, and the addresses to give them."""
    links = Links(office.store.secret(renew=renew), office.people)
    port = listening.getsockname()[1]
    name = next(iter(address.names), socket.gethostname() if address.host in ("0.0.0.0", "::") else address.host)
    shown = f"[{name}]" if ":" in name else name
    return links, {who: f"http://{shown}:{port}/t/{quote(links.token(who))}/" for who in office.people}


def make_server(app: Guard) -> uvicorn.Server:
    """The server of a page."""
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
    office: Office,
    address: Address,
    tell: Callable[[dict[Who, str]], None],
    report: Callable[[str], None],
    *,
    renew: bool = False,
) -> None:
    """Serve the page until somebody stops it; ``tell`` gets the links as soon as they work."""
    with listen(address) as listening:
        links, addresses = links_to(office, listening, address, renew=renew)
        app = make_app(office, links, HostRule(remote=address.allow_remote, names=address.names), report)
        tell(addresses)
        # Stopping a server by Ctrl-C is not an accident.
        with suppress(KeyboardInterrupt):
            make_server(app).run(sockets=[listening])


@contextmanager
def running(office: Office, address: Address | None = None, **options: Any) -> Generator[dict[Who, str]]:
    """The page, served by a thread for as long as the block lasts: for notebooks and tests."""
    address = address or Address(port=0)
    with listen(address) as listening:
        links, addresses = links_to(office, listening, address)
        hosts = HostRule(remote=address.allow_remote, names=address.names)
        server = make_server(make_app(office, links, hosts, **options))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        try:
            yield addresses
        finally:
            server.should_exit = True
            thread.join()
