"""A PostgreSQL server of our own, run by a user that is not root, for as long as a block lasts."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sql


class NoServer(Exception):
    """Why there can be no server on this machine."""


@contextmanager
def postgresql_server() -> Iterator[str]:
    """The address of a fresh server's first database."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    initdb = str(programs[-1]) if programs else shutil.which("initdb")
    if initdb is None:
        raise NoServer("no PostgreSQL server program on this machine")
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="tg-pg-") as folder:
        before = _as_other_user(folder) if os.geteuid() == 0 else []
        control = [*before, str(Path(initdb).parent / "pg_ctl"), "-D", f"{folder}/data", "-l", f"{folder}/log"]
        _run([*before, initdb, "-D", f"{folder}/data", "-A", "trust", "-U", "check", "-E", "UTF8", "--no-sync"], folder)
        _run([*control, "-w", "-o", f"-k {folder} -c listen_addresses=''", "start"], folder)
        try:
            yield f"postgresql://check@/postgres?host={folder}"
        finally:
            _run([*control, "-m", "immediate", "stop"], folder)


def new_database(location: str, name: str) -> str:
    """The address of a fresh database on a server."""
    engine = sql.create_engine(location.replace("postgresql", "postgresql+psycopg", 1), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(sql.text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return location.replace("/postgres?", f"/{name}?")


def _as_other_user(folder: str) -> list[str]:
    """What to put before a command so that it does not run as root, which the server refuses."""
    for name in ("postgres", "nobody"):
        try:
            pwd.getpwnam(name)
        except KeyError:
            continue
        shutil.chown(folder, name)
        return [*_with_null(folder), "runuser", "-u", name, "--"]
    raise NoServer("no user on this machine person could run a server")


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
    """Run a program of the server's; where it cannot run, there is no server."""
    with open(f"{folder}/output", "w+b") as output:
        done = subprocess.run(command, stdout=output, stderr=output, cwd=folder, check=False)
        output.seek(0)
        said = output.read().decode("utf-8", "replace")
    if done.returncode:
        lines = [line for line in said.splitlines() if "cannot" in line or "could not" in line or "rror" in line]
        raise NoServer(f"PostgreSQL does not run on this machine: {lines[0] if lines else command[-1]}")
