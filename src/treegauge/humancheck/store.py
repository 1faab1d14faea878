"""The store of judgements: a log that only grows, in a SQLite file or a PostgreSQL database.

SQLite runs in WAL mode with full sync: an acknowledged judgement survives a crash of the process and, if the disk does what it
reports, a crash of the machine. What the ``-wal`` file holds goes into the file itself when nobody writes, and at the end.

Writers take turns (``BEGIN IMMEDIATE``, an advisory lock in PostgreSQL), so the order of ``seq`` is the order of commits, and
reading on from the last ``seq`` misses nothing. That order alone determines which of two judgements is the later one; clocks do not
matter. Stores of older versions are migrated when they are opened; a store that cannot be written is read from a copy.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import sqlite3
import tempfile
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import sqlalchemy as sql
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Boolean, event
from sqlalchemy.engine import Connection, Engine, Row
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError

from treegauge.errors import InputError, MissingExtra, UsageError, WriteError, refusing_damage
from treegauge.humancheck.judgements import BracketId, Judgement, utc_now

# The migrations make the tables; here are the columns that are read and written.
SENTENCE = sql.table("sentence", sql.column("hash"), sql.column("words"))  # a JSON list in ASCII, which holds any string
_BRACKET_COLUMNS = ("sentence", "start_word", "end_word", "label", "gold", "blocks")
_FLAGS = ("correction", "blind")
_SHARED_NAMES = (
    *("kind", "verdict", "annotator", "role", "note", "undoes", "seconds", "at", "correct_label", "correct_tree"),
    *_FLAGS,
)
JUDGEMENT = sql.table(
    "judgement",
    *(sql.column(name, Boolean if name in _FLAGS else None) for name in ("seq", "id", *_BRACKET_COLUMNS, "tags", *_SHARED_NAMES)),
)
SETTING = sql.table("setting", sql.column("name"), sql.column("value"))


_FOLDER = Path(__file__).parent / "migrations"


def configuration(connection: Connection) -> Config:
    """Alembic's settings for a store."""
    config = Config()
    # To Alembic a percent sign in a path is the beginning of a variable.
    config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


def migrate(connection: Connection, name: str) -> None:
    """Create the tables, or migrate those of an older version, inside the connection's transaction."""
    if _is_current(connection):
        return
    try:
        command.upgrade(configuration(connection), "head")
    except CommandError:
        raise InputError(
            "this store of judgements was made by a newer treegauge, or by one before 0.2",
            path=name,
            advice="Bring treegauge up to date, or open an old store once with 0.2; nothing was changed in the store.",
        ) from None


def _is_current(connection: Connection) -> bool:
    """Whether the tables are those of this version."""
    newest = ScriptDirectory.from_config(configuration(connection)).get_current_head()
    return MigrationContext.configure(connection).get_current_revision() == newest


DEFAULT_STORE = "judgements.sqlite"
STORED, KNOWN, CONFLICT, HELD = "stored", "known", "conflict", "held"
"""The outcomes of adding a judgement: stored now; known already; not stored because its id belongs to another judgement, or because
the store holds another judgement by the same person on the same bracket, which an import does not override."""

_LOCK_TIMEOUT = 5.0
_ADVISORY_LOCK = 7_461_996
_LINK = "link "


class Store:
    """A log of judgements.

    >>> import tempfile
    >>> said = Judgement("1", BracketId("hash", 0, 2, "NP", "gold"), "SP", "accepted", "anna")
    >>> with tempfile.TemporaryDirectory() as folder, Store(f"{folder}/judgements.sqlite") as store:
    ...     store.append([said, said], {"hash": ("the", "cat")})
    ...     [judgement.verdict for judgement in store.since(0)]
    ['stored', 'known']
    ['accepted']
    """

    def __init__(self, location: str | os.PathLike[str] = DEFAULT_STORE, *, create: bool = True) -> None:
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        self.name = os.fspath(location)
        path = _sqlite_path(self.name)
        if path is not None:
            self.name = path
            location = self._prepare_file(path, create)
        self._engine = _engine(os.fspath(location))
        if path is None:
            self.name = self._engine.url.set(drivername="postgresql").render_as_string()
        try:
            with self._reporting("cannot be opened"):
                with self._engine.begin() as connection:
                    is_current = _is_current(connection)
                if not is_current:
                    with self._writing() as connection:
                        migrate(connection, self.name)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _prepare_file(self, path: str, create: bool) -> str:
        """The file to open: the store itself, created if need be and made private, or a copy if it cannot be written."""
        if not os.path.exists(path):
            _create_file(path, create)
            return path
        if _is_writable(path):
            _make_private(path)
            return path
        self._copy = tempfile.TemporaryDirectory(prefix="treegauge-")
        copy = os.path.join(self._copy.name, "copy.sqlite")
        try:
            for suffix in ("", "-wal"):
                if os.path.exists(path + suffix):
                    shutil.copyfile(path + suffix, copy + suffix)
        except OSError as error:
            self._copy.cleanup()
            raise InputError(f"the store of judgements cannot be read: {error.strerror}", path=path) from None
        return copy

    @property
    def is_read_only(self) -> bool:
        """Whether judgements can be read but not added."""
        return self._copy is not None

    def checkpoint(self) -> None:
        """Move what SQLite's ``-wal`` file holds into the file itself, as far as no reader prevents it; errors do not matter."""
        if self._engine.dialect.name == "sqlite" and not self.is_read_only:
            with suppress(SQLAlchemyError, sqlite3.Error, UnicodeDecodeError), closing(self._engine.raw_connection()) as connection:
                connection.cursor().execute("PRAGMA wal_checkpoint(PASSIVE)")

    def close(self) -> None:
        """Close all connections; then a SQLite store is one file again."""
        self.checkpoint()
        self._engine.dispose()
        if self._copy is not None:
            self._copy.cleanup()

    def append(self, judgements: Sequence[Judgement], words: Mapping[str, Sequence[str]]) -> list[str]:
        """Add judgements in one transaction, all or none; ``words`` are the words of their sentences, by hash.

        Returns :data:`STORED`, :data:`KNOWN` or :data:`CONFLICT` for each, once they are on the disk.
        """
        return self.append_and_read(judgements, words)[0]

    def import_all(
        self, judgements: Sequence[Judgement], words: Mapping[str, Sequence[str]], *, replace: bool = False
    ) -> list[str]:
        """Add the judgements of a file in its order, in one transaction, all or none; returns the outcome of each.

        A judgement is left out (:data:`HELD`) if the store already has one by the same person on the same bracket, unless
        ``replace``.
        """
        with self._write_errors(), self._writing() as connection:
            held = set[tuple[BracketId, str, str]]() if replace else _stored_keys(connection)
            known = self._with_ids(connection, [judgement.id for judgement in judgements])
            keys = [(judgement.bracket, judgement.role, judgement.annotator) for judgement in judgements]
            is_held = [key in held and judgement.id not in known for key, judgement in zip(keys, judgements, strict=True)]
            wanted = [judgement for judgement, waits in zip(judgements, is_held, strict=True) if not waits]
            outcomes = iter(self._append(connection, wanted, words))
            return [HELD if waits else next(outcomes) for waits in is_held]

    def append_and_read(
        self, judgements: Sequence[Judgement], words: Mapping[str, Sequence[str]], seq: int | None = None
    ) -> tuple[list[str], list[Judgement]]:
        """Append judgements and, in the same transaction, read all judgements :meth:`since` a position in the log."""
        with self._write_errors(), self._writing() as connection:
            outcomes = self._append(connection, judgements, words)
            return outcomes, [] if seq is None else _since(connection, seq)

    @contextmanager
    def _write_errors(self) -> Generator[None]:
        """Turn an error of the database into a :class:`WriteError`; refuse a store that can only be read."""
        if self.is_read_only:
            raise WriteError(f"{self.name}: the judgement was not stored: the store is read-only")
        try:
            yield
        except SQLAlchemyError as error:
            raise WriteError(f"{self.name}: the judgement was not stored: {_cause(error)}") from None

    def _append(self, connection: Connection, judgements: Sequence[Judgement], words: Mapping[str, Sequence[str]]) -> list[str]:
        known = self._with_ids(connection, [judgement.id for judgement in judgements])
        fresh: list[Judgement] = []
        outcomes: list[str] = []
        for judgement in judgements:
            if judgement.id not in known:
                placed = judgement if judgement.at else replace(judgement, at=utc_now())
                fresh.append(placed)
                known[judgement.id] = placed
                outcomes.append(STORED)
            else:
                outcomes.append(KNOWN if known[judgement.id].repeats(judgement) else CONFLICT)
        if fresh:
            self._add_sentences(connection, {judgement.bracket.sentence for judgement in fresh}, words)
            connection.execute(sql.insert(JUDGEMENT), [_to_row(judgement) for judgement in fresh])
        return outcomes

    def _with_ids(self, connection: Connection, ids: Sequence[str]) -> dict[str, Judgement]:
        found: dict[str, Judgement] = {}
        for part in _portions(ids):
            rows = connection.execute(sql.select(JUDGEMENT).where(JUDGEMENT.c.id.in_(part))).all()
            with refusing_damage(self.name, "a store of judgements", InputError):
                found |= {row.id: _from_row(row) for row in rows}
        return found

    def _add_sentences(self, connection: Connection, hashes: set[str], words: Mapping[str, Sequence[str]]) -> None:
        missing = set(hashes)
        for part in _portions(sorted(hashes)):
            missing -= set(connection.scalars(sql.select(SENTENCE.c.hash).where(SENTENCE.c.hash.in_(part))))
        if missing:
            rows = [{"hash": name, "words": json.dumps(list(words[name]))} for name in sorted(missing)]
            connection.execute(sql.insert(SENTENCE), rows)

    def since(self, seq: int) -> list[Judgement]:
        """The judgements after a position in the log, in its order."""
        with self._reporting("cannot be read"), self._engine.begin() as connection:
            return _since(connection, seq)

    def words(self) -> dict[str, tuple[str, ...]]:
        """The words of all sentences, by hash."""
        with self._reporting("cannot be read"), self._engine.begin() as connection:
            return {row.hash: tuple(json.loads(row.words)) for row in connection.execute(sql.select(SENTENCE))}

    def secret(self, *, renew: bool = False) -> bytes:
        """The random secret from which the links are made; they stay valid until it is renewed."""
        with self._reporting("cannot be written"), self._writing() as connection:
            value = _setting(connection, "secret")
            if value is None or renew:
                value = secrets.token_hex(32)
                _set_setting(connection, "secret", value)
            return bytes.fromhex(value)

    def link_numbers(self) -> dict[tuple[str, str], int]:
        """The number of times each person's link was revoked, by role and name, for everybody who was ever given a link."""
        with self._reporting("cannot be read"), self._engine.begin() as connection:
            rows = connection.execute(sql.select(SETTING.c.name, SETTING.c.value).where(SETTING.c.name.like(f"{_LINK}%")))
            return {(str(role), str(name)): int(number) for role, name, number in (json.loads(row.value) for row in rows)}

    def revoke_link(self, role: str, name: str) -> None:
        """Make a person's present link invalid; the next link will differ."""
        self._number_links([(role, name)], 1)

    def add_people(self, people: Iterable[tuple[str, str]]) -> None:
        """Remember the people who are given links, by role and name."""
        known = self.link_numbers()
        if new := [person for person in people if tuple(person) not in known]:
            self._number_links(new, 0)

    def _number_links(self, people: Iterable[tuple[str, str]], more: int) -> None:
        with self._write_errors(), self._writing() as connection:
            for role, name in people:
                setting = _LINK + hashlib.sha256(f"{role}:{name}".encode()).hexdigest()[:40]
                stored = _setting(connection, setting) or '["", "", 0]'
                with refusing_damage(self.name, "a store of judgements", InputError):
                    number = int(json.loads(stored)[2])
                _set_setting(connection, setting, json.dumps([role, name, number + more]))

    @contextmanager
    def _writing(self) -> Generator[Connection]:
        """A transaction that locks out other writers from its beginning."""
        with self._engine.connect().execution_options(treegauge_writes=True) as connection, connection.begin():
            if self._engine.dialect.name == "postgresql":
                connection.execute(sql.text("SELECT pg_advisory_xact_lock(:number)"), {"number": _ADVISORY_LOCK})
            yield connection

    @contextmanager
    def _reporting(self, what: str) -> Generator[None]:
        """Turn an error of the database into an :class:`InputError` that says what cannot be done."""
        with refusing_damage(self.name, "a store of judgements", InputError):
            try:
                yield
            except SQLAlchemyError as error:
                if type(found := getattr(error, "orig", None)) is sqlite3.DatabaseError:
                    raise found from None  # SQLite's own for a file that is no database, or a damaged one
                advice = "A store is a SQLite file or a PostgreSQL address, postgresql://user@host/database."
                raise InputError(f"the store of judgements {what}: {_cause(error)}", path=self.name, advice=advice) from None


def _setting(connection: Connection, name: str) -> str | None:
    return connection.scalar(sql.select(SETTING.c.value).where(SETTING.c.name == name))


def _set_setting(connection: Connection, name: str, value: str) -> None:
    connection.execute(sql.delete(SETTING).where(SETTING.c.name == name))
    connection.execute(sql.insert(SETTING), {"name": name, "value": value})


def _stored_keys(connection: Connection) -> set[tuple[BracketId, str, str]]:
    """The bracket, role and annotator of all judgements in the store."""
    columns = [JUDGEMENT.c[name] for name in _BRACKET_COLUMNS] + [JUDGEMENT.c.role, JUDGEMENT.c.annotator]
    rows = cast("Iterable[tuple[Any, ...]]", connection.execute(sql.select(*columns).distinct()))
    return {(BracketId(*row[:6]), row[6], row[7]) for row in rows}


def _sqlite_path(location: str) -> str | None:
    """The file of a SQLite store; None for a database server."""
    if "://" not in location:
        path = location
    elif location.startswith("sqlite:"):
        path = _parse_url(location).database or ""
    else:
        return None
    if not path or path == ":memory:":
        raise UsageError("a store in memory would lose every judgement: give the name of a file")
    return path


def _create_file(path: str, create: bool) -> None:
    """Create an empty file that only its owner can read, since it will hold the secret behind the links."""
    if os.path.islink(path):
        advice = "Remove the link, or create the file that it names."
        raise InputError("the store is a link to a file that does not exist", path=path, advice=advice)
    if not create:
        raise InputError("no such store of judgements", path=path, advice="Name the file in which judgements are kept: store=...")
    # Another process may have created it meanwhile.
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0), 0o600))


def _make_private(path: str) -> None:
    """Remove other users' permissions from a store of ours."""
    for name in (path, f"{path}-wal", f"{path}-shm"):
        with suppress(FileNotFoundError, PermissionError):
            if os.stat(name).st_mode & 0o077:
                os.chmod(name, 0o600)


def _is_writable(path: str) -> bool:
    """Whether a store can be written; SQLite must also write in its folder."""
    return os.access(path, os.W_OK) and os.access(os.path.dirname(os.path.abspath(path)), os.W_OK)


def _parse_url(location: str) -> sql.URL:
    try:
        return sql.make_url(location)
    except (ArgumentError, ValueError):
        raise UsageError("the store's address is malformed; write postgresql://user@host/database") from None


def _engine(location: str) -> Engine:
    if "://" not in location:
        return _sqlite(sql.URL.create("sqlite", database=location))
    url = _parse_url(location)
    backend = url.get_backend_name()
    if backend not in ("postgresql", "postgres"):
        raise UsageError(
            f"a store cannot be kept in {backend!r}: give the name of a SQLite file, or postgresql://user@host/database"
        )
    try:
        return sql.create_engine(url.set(drivername="postgresql+psycopg"), pool_pre_ping=True)
    except (ImportError, NoSuchModuleError):
        raise MissingExtra("a PostgreSQL store", "web") from None


def _sqlite(url: sql.URL) -> Engine:
    # The driver must not begin transactions on its own: ours begin with the event below.
    engine = sql.create_engine(url, connect_args={"timeout": _LOCK_TIMEOUT, "isolation_level": None})
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _set_up_sqlite(connection: Any, _: object) -> None:
    cursor = connection.cursor()
    for setting in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", f"busy_timeout={int(1000 * _LOCK_TIMEOUT)}"):
        cursor.execute(f"PRAGMA {setting}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("treegauge_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _cause(error: SQLAlchemyError) -> str:
    """The cause of an error in one line, without the statement and its parameters."""
    text = str(error.orig) if isinstance(error, DBAPIError) and error.orig is not None else str(error)
    known = next((words for sign, words in _CAUSES.items() if sign in text), None)
    return known or (text.strip().splitlines()[0] if text.strip() else type(error).__name__)


_CAUSES = {
    "disk is full": "the disk is full",
    "No space left": "the disk is full",
    "database is locked": "the store is locked by another program",
    "readonly database": "the store is read-only",
    "disk I/O error": "the disk reports an error",
}


def _portions(values: Sequence[str]) -> Iterable[Sequence[str]]:
    return (values[first : first + 500] for first in range(0, len(values), 500))


def _since(connection: Connection, seq: int) -> list[Judgement]:
    query = sql.select(JUDGEMENT).where(JUDGEMENT.c.seq > seq).order_by(JUDGEMENT.c.seq)
    return [_from_row(row) for row in connection.execute(query)]


def _to_row(judgement: Judgement) -> dict[str, Any]:
    bracket = dict(zip(_BRACKET_COLUMNS, judgement.bracket, strict=True))
    shared = {name: getattr(judgement, name) for name in _SHARED_NAMES}
    return {"id": judgement.id, **bracket, "tags": ",".join(judgement.tags), **shared}


def _from_row(row: Row[Any]) -> Judgement:
    columns = cast("Mapping[str, Any]", row._mapping)  # pyright: ignore[reportPrivateUsage]
    bracket = BracketId(*(columns[name] for name in _BRACKET_COLUMNS))
    tags = tuple(columns["tags"].split(",")) if columns["tags"] else ()
    return Judgement(columns["id"], bracket, **{name: columns[name] for name in _SHARED_NAMES}, tags=tags, seq=columns["seq"])
