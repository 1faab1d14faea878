"""The server of the page: its URLs, its socket, the links to it, and a shutdown that first stores all answers received.

The URLs answer with HTML for people and JSON for the page's script; all but the static files are below a link's token.

=========================  ======================================================================================
``GET  /t/TOKEN/``         the page, with the next question or (``?question=KEY``) a certain one
``GET  .../question/KEY``  the part of the page for one question
``GET  .../edit/KEY``      the treebank's tree as a correction would leave it (``?label=NP&verdict=accepted``), to be edited
``POST .../edit/KEY``      the tree after an edit: relabel, add, delete or move a bracket
``GET  .../corrected.mrg`` the treebank with one's own corrections (the adjudicator: everybody's); ``corrected.patch``: as a patch;
                           with crossing branches ``corrected.discbracket`` and ``corrected.export``
``GET  .../measures``      the twelve measures so far
``GET  .../guidelines``    what to accept and what to reject, with examples
``GET  .../judged``        one's own judgements; ``.../export.csv`` and ``.../export.jsonl``: as files
``GET  .../sentences``     all sentences (``?show=open&label=NP&search=words&page=2``)
``GET  .../results``       the paper's tables; ``.../agreement``: agreement and disagreements; ``.../agreement.csv``: all verdicts
``POST .../judge``         store an answer (JSON from the script, a form without it)
``POST .../undo``          withdraw one
``GET  /q/KEY``            leads on to a question by the link that the browser opened last: an address without a token
``GET  /static/NAME``      the style sheet, the scripts, the icon
=========================  ======================================================================================
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import html
import json
import re
import signal
import socket
import ssl
import tempfile
import threading
import webbrowser
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, cast
from urllib.parse import parse_qsl, quote

import h11
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from treegauge.errors import RequestError, TreegaugeError, UsageError
from treegauge.humancheck.judgements import Person
from treegauge.humancheck.questions import Question
from treegauge.humancheck.results import verdict_table
from treegauge.humancheck.session import Answer, Session
from treegauge.humancheck.web.pages import Pages
from treegauge.humancheck.web.pictures import Toggled
from treegauge.humancheck.web.security import Guard, HostRule, Links, check_address
from treegauge.humancheck.web.views import TreeEditor
from treegauge.tables import plain, render

_STATIC = Path(__file__).parent / "static"
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_LARGEST_BODY = 64 * 1024

Handler = Callable[[Request, Person], Awaitable[Response]]


class _Submission(NamedTuple):
    """The fields of a POST request, and whether a form sent them (a page without its script)."""

    fields: dict[str, Any]
    by_form: bool

    def text(self, name: str) -> str:
        """A field of text."""
        value = self.fields.get(name, "")
        if not isinstance(value, str):
            raise RequestError(f"The field {name!r} is not text.")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """A field with a list of texts; from a form, with commas between them."""
        value = self.fields.get(name, [])
        items = value.split(",") if isinstance(value, str) else value
        if not isinstance(items, list) or not all(isinstance(item, str) for item in cast("list[object]", items)):
            raise RequestError(f"The field {name!r} is not a list of texts.")
        return tuple(item for item in cast("list[str]", items) if item)

    def number(self, name: str) -> int:
        """A field with a whole number."""
        value = self.fields.get(name, 0)
        if not isinstance(value, int) or isinstance(value, bool):
            raise RequestError(f"The field {name!r} is not a number.")
        return value

    def seconds(self) -> float | None:
        """The field ``seconds``."""
        value = self.fields.get("seconds")
        try:
            return float(value) if isinstance(value, int | float) else None
        except OverflowError:
            raise RequestError("The time is not a number.") from None


def page_app(session: Session, links: Links, hosts: HostRule, report: Callable[[str], None] = print, *, base: str = "") -> Guard:
    """The page of a check as an ASGI application; ``report`` gets a line for each failure, ``base`` is a proxy's sub-path."""
    return Guard(_App(session, links, report, base).starlette(), hosts, report, base)


class _App:
    """The handlers of all URLs, a method each."""

    def __init__(self, session: Session, links: Links, report: Callable[[str], None], base: str) -> None:
        self.session, self.links, self.report, self.pages = session, links, report, Pages(session, base)
        self.editing = TreeEditor(session, self.pages.render)
        # Only these files are served, by name: no path can lead out of the folder.
        self.static = {path.name: path.read_bytes() for path in _STATIC.iterdir() if path.suffix in _TYPES}
        self.tags = {name: f'"{hashlib.sha256(content).hexdigest()[:16]}"' for name, content in self.static.items()}

    def starlette(self) -> Starlette:
        below = {
            "": self.page,
            "question/{key}": self.question,
            "edit/{key}": self.editor,
            "corrected.{form}": self.corrected,
            "measures": self.measures,
            "guidelines": self.fresh(self.pages.guidelines),
            "judged": self.fresh(self.pages.judgement_list),
            "export.{form}": self.export,
            "sentences": self.sentences,
            "results": self.fresh(self.pages.results),
            "agreement": self.agreement,
            "agreement.csv": self.agreement,
        }
        routes = [
            Route("/static/{name}", self.static_file),
            Route("/q/{key}", self.way_in),
            *(Route(f"/t/{{token}}/{path}", self.for_person(handler)) for path, handler in below.items()),
            Route("/t/{token}/edit/{key}", self.for_person(self.edit), methods=["POST"]),
            Route("/t/{token}/judge", self.for_person(self.judge), methods=["POST"]),
            Route("/t/{token}/undo", self.for_person(self.undo), methods=["POST"]),
        ]
        handlers = {404: self.not_found, 405: self.not_found}
        # Pages hold no secret that their compressed size could reveal: tokens are in addresses only.
        compress = [Middleware(GZipMiddleware, minimum_size=500, compresslevel=6)]
        return Starlette(routes=routes, lifespan=self.lifespan, exception_handlers=handlers, middleware=compress)

    @asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncGenerator[None]:
        self.session.open()
        yield
        self.session.close()

    def for_person(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        """A handler that requires a valid link and answers errors as JSON or HTML, whichever the client accepts."""

        async def handle(request: Request) -> Response:
            person = self.links.person(request.path_params["token"])
            if person is None:
                text = "Ask for a new link: the terminal in which the check runs shows them all."
                return HTMLResponse(self.pages.message("This link is not valid", text), 403)
            try:
                return await handler(request, person)
            except TreegaugeError as error:
                status = error.status if isinstance(error, RequestError) else 503
                if status == 503:
                    self.report(str(error))
                if "application/json" in request.headers.get("accept", ""):
                    return JSONResponse({"message": str(error)}, status)
                return HTMLResponse(self.pages.message("Error", str(error)), status)

        return handle

    async def not_found(self, request: Request, _: Exception) -> Response:
        return HTMLResponse(self.pages.message("Page not found", "Use the link as it was printed in the terminal."), 404)

    async def static_file(self, request: Request) -> Response:
        name: str = request.path_params["name"]
        if name not in self.static:
            return Response("no such file", 404, media_type="text/plain")
        headers = {"cache-control": "no-cache", "etag": self.tags[name]}
        if request.headers.get("if-none-match") == self.tags[name]:
            return Response(status_code=304, headers=headers)
        return Response(self.static[name], media_type=_TYPES[Path(name).suffix], headers=headers)

    async def way_in(self, request: Request) -> Response:
        text = "A link to a bracket works in a browser in which you have opened your own link before."
        return HTMLResponse(self.pages.message("Open your own link first", text, script="way_in.js"))

    async def page(self, request: Request, person: Person) -> Response:
        await self.session.refresh()
        key = request.query_params.get("question", "")
        if key:
            self.session.question(key)
        return HTMLResponse(self.pages.page(person, key, **_view_options(request)))

    async def question(self, request: Request, person: Person) -> Response:
        question = self.session.question(request.path_params["key"])
        return HTMLResponse(self.pages.question(person, question, **_view_options(request)))

    async def editor(self, request: Request, person: Person) -> Response:
        question = self.shown_treebank(request, person)
        label, verdict, begin = (request.query_params.get(name, "") for name in ("label", "verdict", "from"))
        return HTMLResponse(self.editing.start(person, question, label[:100], verdict, begin))

    async def edit(self, request: Request, person: Person) -> Response:
        question = self.shown_treebank(request, person)
        submission = await _read_submission(request)
        node, last = submission.number("node"), submission.number("last")
        tree, edit, label = (submission.text(name) for name in ("tree", "edit", "label"))
        return HTMLResponse(self.editing.edit(person, question, tree, edit, label, node, last))

    def shown_treebank(self, request: Request, person: Person) -> Question:
        """The question of a request about the treebank's tree; refused in a blind check before the first answer."""
        question = self.session.question(request.path_params["key"])
        if self.session.is_blind(person, question):
            raise RequestError("In a blind check the treebank's tree can be corrected only after the first answer.", 403)
        return question

    async def corrected(self, request: Request, person: Person) -> Response:
        form: str = request.path_params["form"]
        if form not in ("mrg", "discbracket", "export", "patch"):
            raise RequestError("The corrected treebank is exported as .mrg, .discbracket, .export or .patch.", 404)
        if self.session.blind and person.role == "annotator":
            raise RequestError("In a blind check only the adjudicator can export the treebank.", 403)
        await self.session.refresh()
        content = await asyncio.to_thread(self.session.export_corrected, person, form)
        return _attachment(content, "text/plain", f"corrected.{form}")

    async def measures(self, request: Request, person: Person) -> Response:
        return HTMLResponse(self.pages.measures(person))

    def fresh(self, render: Callable[[Person], str]) -> Handler:
        """A handler of a page that is made of the newest judgements."""

        async def handle(request: Request, person: Person) -> Response:
            await self.session.refresh()
            return HTMLResponse(render(person))

        return handle

    async def export(self, request: Request, person: Person) -> Response:
        form: str = request.path_params["form"]
        if form not in ("csv", "jsonl"):
            raise RequestError("Judgements are exported as .csv or .jsonl.", 404)
        await self.session.refresh()
        kind = {"csv": "text/csv", "jsonl": "application/jsonl"}[form]
        return _attachment(self.session.export(person, form), kind, f"judgements.{form}")

    async def agreement(self, request: Request, person: Person) -> Response:
        if person.role != "adjudicator":
            raise RequestError("Agreement is shown to the adjudicator, so that annotators judge independently.", 403)
        await self.session.refresh()
        if request.url.path.endswith(".csv"):
            table = verdict_table(self.session.check, self.session.log)
            return _attachment(render(table, "csv") + "\n", "text/csv", "agreement.csv")
        return HTMLResponse(self.pages.agreement(person))

    async def sentences(self, request: Request, person: Person) -> Response:
        await self.session.refresh()
        show, label, search, page = (request.query_params.get(name, "") for name in ("show", "label", "search", "page"))
        number = int(page) if re.fullmatch(r"\d{1,6}", page) else 1
        return HTMLResponse(self.pages.sentences(person, show, label[:100], search[:200], number))

    async def judge(self, request: Request, person: Person) -> Response:
        submission = await _read_submission(request)
        answer = Answer(
            submission.text("id"),
            submission.text("question"),
            submission.text("verdict"),
            submission.text("note"),
            submission.fields.get("correction") in (True, "yes"),
            submission.seconds(),
            submission.text("correct_label"),
            submission.texts("tags"),
            submission.text("correct_tree"),
        )
        await self.session.judge(person, answer)
        return self.next_step(person, submission)

    async def undo(self, request: Request, person: Person) -> Response:
        submission = await _read_submission(request)
        withdrawn = await self.session.undo(person, submission.text("id"), submission.text("undoes"))
        return self.next_step(person, submission, self.session.check.number[withdrawn.bracket])

    def next_step(self, person: Person, submission: _Submission, number: int | None = None) -> Response:
        """The response after an answer was stored, leading to the question ``number`` or else to the next one."""
        worklist = self.session.worklists[person]
        number = worklist.next() if number is None else number
        key = "" if number is None else self.session.check.questions[number].key
        if submission.by_form:
            return RedirectResponse(f"./?question={key}" if key else "./", 303)
        progress = worklist.progress()
        fields = plain(progress._asdict()) | {"left": progress.left, "judged": progress.judged, "text": str(progress)}
        return JSONResponse({"next": key, "last": self.pages.last(person), "progress": fields})


def _attachment(content: str | bytes, kind: str, name: str) -> Response:
    """A file that the browser saves under a name."""
    return Response(content, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})


def _view_options(request: Request) -> dict[str, Any]:
    """The options of :func:`~treegauge.humancheck.web.views.question_view` in a request."""
    query = request.query_params
    changes = [re.findall(r"(d?)(\d{1,6})", query.get(name, "")) for name in ("fold1", "fold2")]
    toggled = [Toggled(*(frozenset(int(at) for kind, at in one if kind == wanted) for wanted in ("", "d"))) for one in changes]
    return {"whole": query.get("whole") == "yes", "system": query.get("system", ""), "toggled": toggled}


async def _read_submission(request: Request) -> _Submission:
    """The fields of a request, sent as a JSON object or as a form."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _LARGEST_BODY:
            raise RequestError("The answer is too large.", 413)
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    try:
        text = body.decode("utf-8")
        if kind == "application/x-www-form-urlencoded":
            pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=40)
            fields: Any = dict(pairs) | {"tags": [value for name, value in pairs if name == "tags"]}
            return _Submission(fields, True)
        fields = json.loads(text) if kind == "application/json" else None
    except (ValueError, RecursionError):
        raise RequestError("The answer cannot be read.") from None
    if not isinstance(fields, dict):
        raise RequestError("An answer is a JSON object or a form.", 415 if fields is None else 400)
    return _Submission(cast("dict[str, Any]", fields), False)


DEFAULT_PORT = 8765
REQUEST_TIMEOUT = 15.0
"""The seconds within which a request must arrive completely, counted from the connection or its first byte."""


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
            raise UsageError("a private key needs a certificate: give certificate=... too")


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
    # A response is sent as head and body; without this option, the body would wait about 40 ms for the confirmation of the head.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def links_to(
    session: Session, listening: socket.socket, address: Address, *, renew: bool = False
) -> tuple[Links, dict[Person, str]]:
    """The tokens of all people, and the links to give them."""
    links = Links(session.store.secret(renew=renew), session.people, _LinkNumbers(session))
    session.store.add_people(session.people)
    port = listening.getsockname()[1]
    name = next(iter(address.names), socket.gethostname() if address.host in ("0.0.0.0", "::") else address.host)
    host = f"[{name}]" if ":" in name else name
    scheme = "https" if address.certificate else "http"
    start = f"{scheme}://{host}:{port}{address.base}"
    return links, {person: f"{start}/t/{quote(links.token(person))}/" for person in session.people}


class _LinkNumbers:
    """The numbers of revoked links, from the store or, while that cannot be read, as last known."""

    def __init__(self, session: Session) -> None:
        self._store, self._last = session.store, dict[tuple[str, str], int]()

    def __call__(self) -> Mapping[tuple[str, str], int]:
        with suppress(TreegaugeError):
            self._last = self._store.link_numbers()
        return self._last


class _TimedProtocol(H11Protocol):
    """A connection that is closed if a request does not arrive completely in time."""

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


class _Server(uvicorn.Server):
    """A server that SIGHUP stops as Ctrl-C and SIGTERM do: after all answers received are stored."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        hang_up = getattr(signal, "SIGHUP", None)
        is_main = threading.current_thread() is threading.main_thread()
        with super().capture_signals():
            # A hang-up that is ignored (nohup) stays ignored.
            if hang_up is None or not is_main or signal.getsignal(hang_up) is signal.SIG_IGN:
                yield
                return
            before = signal.signal(hang_up, self.handle_exit)
            try:
                yield
            finally:
                signal.signal(hang_up, before)


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
        raise UsageError(f"certificate {address.certificate}: {error.strerror or error}") from None
    return _Server(config)


def _serving(
    session: Session, listening: socket.socket, address: Address, report: Callable[[str], None], *, renew: bool = False
) -> tuple[uvicorn.Server, dict[Person, str]]:
    """The server of a session at a socket, and the links to give to people."""
    links, addresses = links_to(session, listening, address, renew=renew)
    hosts = HostRule(remote=address.allow_remote, names=address.names)
    return make_server(page_app(session, links, hosts, report, base=address.base), address), addresses


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
        if address.port == DEFAULT_PORT != listening.getsockname()[1]:
            report(f"port {DEFAULT_PORT} is busy, so another one is used")
        server, addresses = _serving(session, listening, address, report, renew=renew)
        # Ctrl-C is the usual way to stop the server; SIGTERM and SIGHUP are as good, also while it starts.
        try:
            with server.capture_signals():
                announce(addresses)
                server.run(sockets=[listening])
        except KeyboardInterrupt as stop:
            stop.args = ("the server has ended",)  # so that the command does not take the signal for lost


@contextmanager
def open_in_browser(link: str) -> Generator[None]:
    """Open a link in the browser without putting its token on a command line, where other users could read it.

    The browser is given a file that redirects to the link and that only this user can read; it exists as long as the block lasts.
    """
    with tempfile.TemporaryDirectory(prefix="treegauge-") as folder:
        page = Path(folder) / "open.html"
        target = html.escape(link, quote=True)
        page.write_text(f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={target}">', "utf-8")
        webbrowser.open(page.as_uri())
        yield


@contextmanager
def serve_in_thread(
    session: Session, address: Address | None = None, report: Callable[[str], None] = print
) -> Generator[dict[Person, str]]:
    """Serve the page from a thread for as long as the block lasts: for notebooks and tests."""
    address = address or Address(port=0)
    with listen(address) as listening:
        server, addresses = _serving(session, listening, address, report)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        try:
            yield addresses
        finally:
            server.should_exit = True
            thread.join()
