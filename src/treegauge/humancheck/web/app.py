"""The page's addresses: HTML for people, a little JSON for its script, all below a link's token.

=========================  ======================================================================================
``GET  /t/TOKEN/``         the page, with the next question or (``?question=KEY``) a certain one
``GET  .../question/KEY``  the part of the page that belongs to a question
``GET  .../measures``      the twelve measures as they stand
``GET  .../judged``        one's own judgements; ``.../results``: the paper's tables
``POST .../judge``         store an answer (JSON from the script, a form without it)
``POST .../undo``          withdraw one
``GET  /static/NAME``      the style sheet, the script, the icon
=========================  ======================================================================================
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple, cast
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from treegauge.errors import Refused, TreegaugeError
from treegauge.humancheck.session import Answer, Office
from treegauge.humancheck.web.pages import Pages
from treegauge.humancheck.web.security import Guard, HostRule, Links, Who

__all__ = ["make_app"]

_STATIC = Path(__file__).parent / "static"
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_LARGEST_BODY = 64 * 1024

Handler = Callable[[Request, Who], Awaitable[Response]]


class _Sent(NamedTuple):
    """The fields of a request, and whether a form (a page without its script) sent them."""

    fields: dict[str, Any]
    by_form: bool

    def text(self, name: str) -> str:
        """A field of text."""
        value = self.fields.get(name, "")
        if not isinstance(value, str):
            raise Refused(f"The field {name!r} is not text.")
        return value


def make_app(office: Office, links: Links, hosts: HostRule, report: Callable[[str], None] = print) -> Guard:
    """The page of a check as an ASGI application; ``report`` is told what breaks."""
    return Guard(_App(office, links).starlette(), hosts, report)


class _App:
    def __init__(self, office: Office, links: Links) -> None:
        self.office, self.links, self.pages = office, links, Pages(office)
        # Only these files are served, by their names: there is no path to climb out of.
        self.static = {path.name: path.read_bytes() for path in _STATIC.iterdir() if path.suffix in _TYPES}

    def starlette(self) -> Starlette:
        routes = [
            Route("/static/{name}", self.static_file),
            Route("/t/{token}/", self.known(self.page)),
            Route("/t/{token}/question/{key}", self.known(self.question)),
            Route("/t/{token}/measures", self.known(self.measures)),
            Route("/t/{token}/judged", self.known(self.judged)),
            Route("/t/{token}/results", self.known(self.results)),
            Route("/t/{token}/judge", self.known(self.judge), methods=["POST"]),
            Route("/t/{token}/undo", self.known(self.undo), methods=["POST"]),
        ]
        return Starlette(routes=routes, lifespan=self.lifespan, exception_handlers={404: self.nothing, 405: self.nothing})

    @asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncGenerator[None]:
        self.office.open()
        yield
        self.office.close()

    def known(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        """A handler that only people with a link reach; what is refused is said in the form that was asked for."""

        async def handle(request: Request) -> Response:
            who = self.links.who(request.path_params["token"])
            if who is None:
                text = "Ask for a new link: the terminal in which the check runs shows them all."
                return HTMLResponse(self.pages.message("This link is not valid", text), 403)
            try:
                return await handler(request, who)
            except TreegaugeError as error:
                status = error.status if isinstance(error, Refused) else 503
                if "application/json" in request.headers.get("accept", ""):
                    return JSONResponse({"message": str(error)}, status)
                return HTMLResponse(self.pages.message("That did not work", str(error)), status)

        return handle

    async def nothing(self, request: Request, _: Exception) -> Response:
        return HTMLResponse(self.pages.message("There is nothing here", "Use the link as it was printed in the terminal."), 404)

    async def static_file(self, request: Request) -> Response:
        name: str = request.path_params["name"]
        if name not in self.static:
            return Response("there is no such file", 404, media_type="text/plain")
        return Response(self.static[name], media_type=_TYPES[Path(name).suffix], headers={"cache-control": "no-cache"})

    async def page(self, request: Request, who: Who) -> Response:
        await self.office.writer.refresh()
        key = request.query_params.get("question", "")
        if key:
            self.office.question(key)
        return HTMLResponse(self.pages.page(who, key, **_shown(request)))

    async def question(self, request: Request, who: Who) -> Response:
        question = self.office.question(request.path_params["key"])
        return HTMLResponse(self.pages.question(who, question, **_shown(request)))

    async def measures(self, request: Request, who: Who) -> Response:
        return HTMLResponse(self.pages.measures(who))

    async def judged(self, request: Request, who: Who) -> Response:
        await self.office.writer.refresh()
        return HTMLResponse(self.pages.judged(who))

    async def results(self, request: Request, who: Who) -> Response:
        await self.office.writer.refresh()
        return HTMLResponse(self.pages.results(who))

    async def judge(self, request: Request, who: Who) -> Response:
        sent = await _sent(request)
        seconds = sent.fields.get("seconds")
        answer = Answer(
            sent.text("id"),
            sent.text("question"),
            sent.text("verdict"),
            sent.text("note"),
            sent.fields.get("correction") in (True, "yes"),
            float(seconds) if isinstance(seconds, int | float) else None,
        )
        await self.office.judge(who, answer)
        return self.answered(who, sent)

    async def undo(self, request: Request, who: Who) -> Response:
        sent = await _sent(request)
        withdrawn = await self.office.undo(who, sent.text("id"), sent.text("undoes"))
        return self.answered(who, sent, self.office.check.number[withdrawn.bracket])

    def answered(self, who: Who, sent: _Sent, number: int | None = None) -> Response:
        """What to do next, after an answer was stored: the question that was taken back, or the next one."""
        desk = self.office.desks[who]
        number = desk.next() if number is None else number
        key = "" if number is None else self.office.check.questions[number].key
        if sent.by_form:
            return RedirectResponse(f"./?question={key}" if key else "./", 303)
        progress = desk.progress()
        return JSONResponse({"next": key, "last": self.pages.last(who), "progress": progress._asdict() | {"left": progress.left}})


def _shown(request: Request) -> dict[str, Any]:
    """How a question is to be shown."""
    return {"whole": request.query_params.get("whole") == "yes", "system": request.query_params.get("system", "")}


async def _sent(request: Request) -> _Sent:
    """The fields of a request: a JSON object, or a form."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _LARGEST_BODY:
            raise Refused("That is too much for an answer.", 413)
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    try:
        text = body.decode("utf-8")
        if kind == "application/x-www-form-urlencoded":
            return _Sent(dict(parse_qsl(text, keep_blank_values=True, max_num_fields=20)), True)
        fields = json.loads(text) if kind == "application/json" else None
    except (ValueError, RecursionError):
        raise Refused("The answer cannot be read.") from None
    if not isinstance(fields, dict):
        raise Refused("An answer is a JSON object or a form.", 415 if fields is None else 400)
    return _Sent(cast("dict[str, Any]", fields), False)
