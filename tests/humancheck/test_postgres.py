"""A PostgreSQL store: a real server, started here by a user that is not root, keeps what a SQLite file keeps."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sql
from humancheck_helpers import WORDS, assert_columns_are_known, judgement, writers_take_turns
from humancheck_load import KILLS, crowd, kill_again_and_again
from humancheck_postgres import NoServer, new_database, postgresql_server

from treegauge.errors import WriteError
from treegauge.humancheck.store import CONFLICT, KNOWN, STORED, Store

pytestmark = pytest.mark.postgres


@pytest.fixture(scope="module")
def postgresql() -> Iterator[str]:
    try:
        with postgresql_server() as location:
            yield location
    except NoServer as reason:
        if os.environ.get("TREEGAUGE_REQUIRE_POSTGRES") == "1":
            raise
        pytest.skip(str(reason))


def test_a_postgresql_store_is_a_store(postgresql: str) -> None:
    location = new_database(postgresql, "one")
    with Store(location) as store:
        assert store.name.startswith("postgresql://check@/one?")
        assert store.append([judgement("1", note="ä 🙂"), judgement("1", note="ä 🙂"), judgement("1")], WORDS) == [
            STORED,
            KNOWN,
            CONFLICT,
        ]
        assert [one.note for one in store.since(0)] == ["ä 🙂"]
        assert store.secret() == store.secret() != store.secret(renew=True)
        with store._engine.connect() as connection:
            assert_columns_are_known(connection)
        for statement in ("UPDATE judgement SET note = ''", "DELETE FROM judgement", "TRUNCATE judgement", "DELETE FROM sentence"):
            with store._engine.connect() as connection, pytest.raises(sql.exc.DBAPIError, match="only grows"):
                connection.execute(sql.text(statement))
        with pytest.raises(WriteError, match="NUL"):
            store.append([judgement("2", note="\x00")], WORDS)
    with Store(location.replace("postgresql", "postgres", 1)) as again:
        assert len(again.since(0)) == 1


def test_writers_take_turns(postgresql: str) -> None:
    location = new_database(postgresql, "turns")
    with Store(location) as first, Store(location) as second:
        writers_take_turns(first, second)


@pytest.mark.slow
def test_ten_annotators_at_once_on_postgresql(postgresql: str) -> None:
    crowd(new_database(postgresql, "crowd"))


@pytest.mark.slow
def test_killing_the_server_again_and_again_loses_and_doubles_nothing_on_postgresql(postgresql: str, tmp_path: Path) -> None:
    kill_again_and_again(new_database(postgresql, "kills"), KILLS, tmp_path)
