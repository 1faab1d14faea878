"""Who may talk to the page: those with a link, from the page itself, under a name that is ours.

A link holds a token that nobody can guess. The ``Host`` of every request must be a name of this machine, so that no website can
reach the page by letting its own name point here (DNS rebinding); a request that stores something must come from the page itself
(``Origin``). The content policy lets the browser run our one script and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import ipaddress
import socket
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from treegauge.errors import UsageError

__all__ = ["Guard", "HostRule", "Links", "Who", "check_address"]

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


class Who(NamedTuple):
    """The person behind a link."""

    role: str
    name: str


class Links:
    """A token for each person, made from the store's secret: the same until the secret is renewed."""

    def __init__(self, secret: bytes, people: Collection[Who]) -> None:
        self._secret = secret
        self._people = {_fingerprint(self.token(who)): who for who in people}

    def token(self, who: Who) -> str:
        """The token in somebody's link: 192 bits that only the secret can give."""
        digest = hmac.digest(self._secret, f"{who.role}:{who.name}".encode(), hashlib.sha256)
        return base64.urlsafe_b64encode(digest[:24]).decode()

    def who(self, token: str) -> Who | None:
        """The person with a token; looked up by its hash, so that the time it takes says nothing about the right ones."""
        return self._people.get(_fingerprint(token))


def _fingerprint(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


class HostRule:
    """Which names of this machine are accepted.

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
        """Whether a ``Host`` header names this machine. A port may be any: a tunnel can change it."""
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
    """Refuse to listen to other machines unless that was asked for."""
    local = host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)
    if not local and not allow_remote:
        raise UsageError(
            f"--host {host} would let other machines reach the page; say --allow-remote if that is what you want.\n"
            "  Each annotator's link still holds a token, but without HTTPS anyone on the way can read it: a tunnel is safer,\n"
            "  ssh -L 8765:localhost:8765 this-machine"
        )


class Guard:
    """The outermost layer: refuses strangers, adds the security headers, and answers where something broke."""

    def __init__(self, app: ASGIApp, hosts: HostRule, report: Callable[[str], None]) -> None:
        self._app, self._hosts, self._report = app, hosts, report

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
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
        except Exception as error:
            self._report(f"internal error: {type(error).__name__}: {error}")
            if not started:
                await PlainTextResponse("Something broke here; the terminal says what.", 500)(scope, receive, guarded)

    def _refusal(self, method: str, headers: Mapping[str, str]) -> str:
        host = headers.get("host", "")
        if not self._hosts.accepts(host):
            return "This name is not one of this machine's. Use the link as it was printed."
        if method in ("GET", "HEAD"):
            return ""
        origin = headers.get("origin")
        if origin is None:
            from_page = headers.get("sec-fetch-site", "same-origin") == "same-origin"
        else:
            scheme, _, name = origin.lower().partition("://")
            from_page = scheme in ("http", "https") and name == host.lower()
        return "" if from_page else "Only the page itself may send judgements."
