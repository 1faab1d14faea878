"""Access to the page: only with a link, only from the page itself, only under a name of this machine.

A link contains a token that cannot be guessed. The ``Host`` of every request must be a name of this machine, so that no website can
reach the page by pointing its own name here (DNS rebinding); a request that stores something must come from the page itself
(``Origin``). The content policy lets the browser run our own scripts and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import ipaddress
import socket
from collections.abc import Callable, Collection, Mapping
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from treegauge.errors import UsageError
from treegauge.humancheck.judgements import Person

_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "cache-control": "no-store",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class Links:
    """A token for each person, made from the store's secret: valid until the secret is renewed or the link is revoked.

    ``numbers`` returns how often each person's link was revoked; it is called at every request, so a revoked link ends at once.
    """

    def __init__(
        self, secret: bytes, people: Collection[Person], numbers: Callable[[], Mapping[tuple[str, str], int]] = dict[Any, int]
    ) -> None:
        self._secret, self._people, self._numbers = secret, tuple(people), numbers

    def token(self, person: Person) -> str:
        """The token in a person's present link: 192 bits derived from the secret."""
        return self._token(person, self._numbers().get(person, 0))

    def _token(self, person: Person, number: int) -> str:
        again = f":{number}" if number else ""
        digest = hmac.digest(self._secret, f"{person.role}:{person.name}{again}".encode(), hashlib.sha256)
        return base64.urlsafe_b64encode(digest[:24]).decode()

    def person(self, token: str) -> Person | None:
        """The person to whom a valid token belongs; hashes are compared, so that timing reveals nothing about tokens."""
        numbers, wanted = self._numbers(), _fingerprint(token)
        return next((one for one in self._people if _fingerprint(self._token(one, numbers.get(one, 0))) == wanted), None)


def _fingerprint(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


class HostRule:
    """The rule for the names under which this machine may be addressed.

    >>> rule = HostRule()
    >>> [rule.accepts(host) for host in ("localhost:8765", "[::1]:8765", "evil.example:8765", "127.0.0.1.evil.example", "")]
    [True, True, False, False, False]
    >>> HostRule(remote=True).accepts("192.168.0.7:80"), HostRule(names=["lab.example"]).accepts("lab.example")
    (True, True)
    """

    def __init__(self, *, remote: bool = False, names: Collection[str] = ()) -> None:
        self._remote = remote
        self._names = _LOCAL | {name.lower() for name in names}
        if remote:
            self._names |= {socket.gethostname().lower(), socket.getfqdn().lower()}

    def accepts(self, host: str) -> bool:
        """Whether a ``Host`` header names this machine; the port does not matter, since a tunnel can change it."""
        try:
            name = (urlsplit(f"//{host}").hostname or "") if host and "@" not in host and "/" not in host else ""
        except ValueError:
            return False
        # An address cannot be rebound; only names can.
        return name in self._names or (self._remote and _is_address(name))


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def check_address(host: str, *, allow_remote: bool) -> None:
    """Raise an error if the page would be reachable from other machines without permission."""
    local = host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)
    if not local and not allow_remote:
        raise UsageError(
            f"the host {host} would let other machines reach the page; give allow_remote=True to permit this.\n"
            "  Each annotator's link still holds a token, but without HTTPS anyone on the network can read it: a tunnel is safer,\n"
            "  ssh -L 8765:localhost:8765 this-machine"
        )


class Guard:
    """The outermost layer: checks host and origin, adds security headers, and turns failures into responses."""

    def __init__(self, app: ASGIApp, hosts: HostRule, report: Callable[[str], None], base: str = "") -> None:
        self._app, self._hosts, self._report, self._base = app, hosts, report, base

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if self._base and scope["path"].startswith(f"{self._base}/"):
            # A proxy may pass the sub-path on or remove it.
            scope = {**scope, "path": scope["path"].removeprefix(self._base), "raw_path": None}
        started = False

        async def guarded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self._refusal(scope["method"], Headers(scope=scope))
        if refusal:
            await PlainTextResponse(refusal, 403)(scope, receive, guarded)
            return
        try:
            await self._app(scope, receive, guarded)
        except ClientDisconnect:
            # The client is gone: there is nobody to answer.
            return
        except Exception as error:
            self._report(f"internal error: {type(error).__name__}: {error}")
            if not started:
                await PlainTextResponse("Internal error; the terminal shows the cause.", 500)(scope, receive, guarded)

    def _refusal(self, method: str, headers: Mapping[str, str]) -> str:
        """The reason to refuse a request; empty if it is allowed."""
        host = headers.get("host", "")
        if not self._hosts.accepts(host):
            return "Unknown host name. Use the link as it was printed."
        if method in ("GET", "HEAD"):
            return ""
        origin = headers.get("origin")
        if origin is None:
            from_page = headers.get("sec-fetch-site", "same-origin") == "same-origin"
        else:
            scheme, _, name = origin.lower().partition("://")
            from_page = scheme in ("http", "https") and name == host.lower()
        return "" if from_page else "Only the page itself may send judgements."
