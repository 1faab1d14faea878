"""A PostgreSQL store: a real server, started here by a user that is not root, keeps what a SQLite file keeps."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sql
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from humancheck_helpers import WORDS, judgement, writers_take_turns
from humancheck_load import crowd

from treegauge.errors import WriteError
from treegauge.humancheck.schema import METADATA
from treegauge.humancheck.store import CONFLICT, KNOWN, STORED, Store

pytestmark = pytest.mark.postgres


@pytest.fixture(scope="module")
def postgresql() -> Iterator[str]:
    """The address of a PostgreSQL server of our own, run by a user that is not root."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    initdb = str(programs[-1]) if programs else shutil.which("initdb")
    user = next((name for name in ("postgres", "nobody") if _user_exists(name)), None) if os.geteuid() == 0 else ""
    if initdb is None or user is None:
        assert os.environ.get("TREEGAUGE_REQUIRE_POSTGRES") != "1", "no PostgreSQL server program, or no user to run it"
        pytest.skip("no PostgreSQL server program on this machine")
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="tg-pg-") as folder:
        as_user = [*_with_null(folder), "runuser", "-u", user, "--"] if user else []
        if user:
            shutil.chown(folder, user)
        control = [*as_user, str(Path(initdb).parent / "pg_ctl"), "-D", f"{folder}/data", "-l", f"{folder}/log"]
        _run([*as_user, initdb, "-D", f"{folder}/data", "-A", "trust", "-U", "check", "-E", "UTF8", "--no-sync"], folder)
        _run([*control, "-w", "-o", f"-k {folder} -c listen_addresses=''", "start"], folder)
        try:
            yield f"postgresql://check@/postgres?host={folder}"
        finally:
            _run([*control, "-m", "immediate", "stop"], folder)


def _with_null(folder: str) -> list[str]:
    """What to put before a command so that any user in it may open /dev/null.

    The server's programs cannot do without it, and there are machines that give it to root alone. Such a command gets a null device
    of its own, in a name space that nothing else of the machine sees.
    """
    if os.stat(os.devnull).st_mode & 0o666 == 0o666:
        return []
    device = f"{folder}/device"
    steps = [
        f"mkdir -p {device}",
        f"mount -t tmpfs none {device}",
        f"mknod -m 666 {device}/null c 1 3",
        f"mount --bind {device}/null {os.devnull}",
        'exec "$@"',
    ]
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c", " && ".join(steps), "sh"]


def _run(command: list[str], folder: str) -> None:
    """Run a program of the server's; where it cannot run, there is no server to test with."""
    with open(f"{folder}/output", "w+b") as output:
        done = subprocess.run(command, stdout=output, stderr=output, cwd=folder, check=False)
        output.seek(0)
        said = output.read().decode("utf-8", "replace")
    if done.returncode:
        assert os.environ.get("TREEGAUGE_REQUIRE_POSTGRES") != "1", said
        lines = [line for line in said.splitlines() if "cannot" in line or "could not" in line or "rror" in line]
        pytest.skip(f"PostgreSQL does not run on this machine: {lines[0] if lines else command[-1]}")


def _user_exists(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


def test_a_postgresql_store_is_a_store(postgresql: str) -> None:
    location = _database(postgresql, "one")
    with Store(location) as store:
        assert store.append([judgement("1", note="ä 🙂"), judgement("1", note="ä 🙂"), judgement("1")], WORDS) == [
            STORED,
            KNOWN,
            CONFLICT,
        ]
        assert [one.note for one in store.since(0)] == ["ä 🙂"]
        assert store.secret() == store.secret() != store.secret(renew=True)
        with store._engine.connect() as connection:
            assert compare_metadata(MigrationContext.configure(connection), METADATA) == []
        for statement in ("UPDATE judgement SET note = ''", "DELETE FROM judgement", "TRUNCATE judgement", "DELETE FROM sentence"):
            with store._engine.connect() as connection, pytest.raises(sql.exc.DBAPIError, match="only grows"):
                connection.execute(sql.text(statement))
        with pytest.raises(WriteError, match="NUL"):
            store.append([judgement("2", note="\x00")], WORDS)
    with Store(location.replace("postgresql", "postgres", 1)) as again:
        assert len(again.since(0)) == 1


def test_writers_take_turns(postgresql: str) -> None:
    location = _database(postgresql, "turns")
    with Store(location) as first, Store(location) as second:
        writers_take_turns(first, second)


@pytest.mark.slow
def test_ten_annotators_at_once_on_postgresql(postgresql: str) -> None:
    crowd(_database(postgresql, "crowd"))


def _database(location: str, name: str) -> str:
    """A fresh database on the server."""
    engine = sql.create_engine(location.replace("postgresql", "postgresql+psycopg", 1), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(sql.text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return location.replace("/postgres?", f"/{name}?")
