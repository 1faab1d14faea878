"""The store: nothing is lost, doubled, changed or taken away; old and foreign files are met with words."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sql
from humancheck_helpers import WORDS, assert_columns_are_known, judgement, said, words_of, writers_take_turns

from treegauge.errors import InputError, UsageError, WriteError
from treegauge.humancheck import store as store_module
from treegauge.humancheck.judgements import BracketId, Judgement, JudgementLog, Person
from treegauge.humancheck.questions import Check
from treegauge.humancheck.store import CONFLICT, HELD, KNOWN, STORED, Store


def test_everything_comes_back_in_order(store: Store) -> None:
    written = [judgement(f"id-{number}", note="täg\n🙂", seconds=1.5, correction=True, blind=True) for number in range(5)]
    assert store.append(written, WORDS) == [STORED] * 5
    read = store.since(0)
    assert [one.seq for one in read] == [1, 2, 3, 4, 5]
    assert all(one.repeats(other) for one, other in zip(read, written, strict=True))
    assert read[0].seconds == 1.5
    assert [one.seq for one in store.since(3)] == [4, 5]
    assert store.words() == WORDS


def test_a_retry_is_stored_once_and_another_answer_under_its_id_is_refused(store: Store) -> None:
    assert store.append([judgement("1", seconds=1.0)], WORDS) == [STORED]
    assert store.append([judgement("1", seconds=2.0)], WORDS) == [KNOWN]
    assert store.append([judgement("1", note="other")], WORDS) == [CONFLICT]
    assert store.append([judgement("2"), judgement("2"), judgement("1")], WORDS) == [STORED, KNOWN, KNOWN]
    assert [one.id for one in store.since(0)] == ["1", "2"]


def test_all_or_nothing(store: Store) -> None:
    strange = Judgement("2", BracketId("unknown", 0, 1, "X", "g"), "SP", "accepted", "anna")
    with pytest.raises(KeyError):
        store.append([judgement("1"), strange], WORDS)
    assert store.since(0) == []


def test_any_word_comes_back(store: Store) -> None:
    words = ("\x00", "\ud800", "'\";--", "e\u0301", "🙂", "")
    store.append([judgement("1")], {"h" * 64: words})
    assert store.words() == {"h" * 64: words}


@pytest.mark.parametrize("statement", ["UPDATE judgement SET note = 'x'", "DELETE FROM judgement", "DELETE FROM sentence"])
def test_the_log_only_grows(store: Store, statement: str) -> None:
    store.append([judgement("1")], WORDS)
    with sqlite3.connect(store.name) as connection, pytest.raises(sqlite3.IntegrityError, match="only grows"):
        connection.execute(statement)
    connection.close()
    assert store.since(0)[0].verdict == "accepted"


def test_settings_that_survive_a_crash(store: Store) -> None:
    with store._engine.connect() as connection:
        found = [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("journal_mode", "synchronous", "busy_timeout")]
    assert found == ["wal", 2, 5_000]


def test_only_the_owner_reads_the_file(store: Store) -> None:
    assert stat.S_IMODE(os.stat(store.name).st_mode) == 0o600


def test_the_migrations_make_the_tables_that_the_program_uses(store: Store) -> None:
    with store._engine.connect() as connection:
        assert_columns_are_known(connection)


def test_a_store_is_opened_again_and_its_links_stay(tmp_path: Path) -> None:
    path = tmp_path / "folder with 100% blanks" / "j.sqlite"
    path.parent.mkdir()
    with Store(path) as first:
        first.append([judgement("1")], WORDS)
        secret = first.secret()
    with Store(f"sqlite:///{path}") as second:
        assert [one.id for one in second.since(0)] == ["1"]
        assert second.secret() == secret
        assert second.secret(renew=True) != secret


def test_a_store_of_a_newer_treegauge_is_left_alone(store: Store) -> None:
    with store._engine.begin() as connection:
        connection.execute(sql.text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(InputError, match="newer treegauge"):
        Store(store.name)


def test_what_is_no_store_is_said(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello, this is not a database at all", "utf-8")
    with pytest.raises(InputError, match=r"this file is damaged, or is not a store of judgements .*not a database"):
        Store(tmp_path / "text")
    with pytest.raises(InputError, match="no such store"):
        Store(tmp_path / "none", create=False)
    assert not (tmp_path / "none").exists()
    for wrong in ("mysql://u:secret@h/d", "sqlite://", "sqlite:///:memory:", "://"):
        with pytest.raises(UsageError) as caught:
            Store(wrong)
        assert "secret" not in str(caught.value)
    with pytest.raises(InputError) as refused:
        Store("postgresql://u:secret@127.0.0.1:1/d")
    assert "secret" not in str(refused.value)


def test_a_store_that_cannot_be_written_says_so(store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(store_module, "_LOCK_TIMEOUT", 0.05)
    with Store(store.name) as impatient, sqlite3.connect(store.name, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(WriteError, match=r"not stored: the store is locked by another program"):
            impatient.append([judgement("1")], WORDS)
        other.execute("ROLLBACK")
        assert impatient.append([judgement("1")], WORDS) == [STORED]
    other.close()


def test_many_writers_at_once(check: Check, tmp_path: Path) -> None:
    path, words = tmp_path / "j.sqlite", words_of(check)

    def write(name: str) -> None:
        with Store(path) as own:
            for number in range(20):
                own.append([said(check, number, "accepted", name, id=f"{name}-{number}", at="")], words)

    Store(path).close()
    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with Store(path) as store:
        stored = store.since(0)
    assert len({one.id for one in stored}) == len(stored) == 80
    assert [one.seq for one in stored] == list(range(1, 81))


def test_writers_take_turns(store: Store) -> None:
    with Store(store.name) as second:
        writers_take_turns(store, second)


def test_a_clock_that_is_set_back_does_not_turn_the_order_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, (at, verdict) in enumerate(
        [("2025-01-01T09:00:00.000000Z", "accepted"), ("2025-01-01T08:00:00.000000Z", "rejected")]
    ):
        # A restart, or another machine with another clock: the later answer has the earlier time.
        with Store(tmp_path / "j.sqlite") as store, monkeypatch.context() as clock:
            clock.setattr(store_module, "utc_now", lambda at=at: at)
            store.append([replace(judgement(str(number)), verdict=verdict)], WORDS)
    with Store(tmp_path / "j.sqlite") as store:
        log = JudgementLog(store.since(0))
        assert [one.at for one in store.since(0)] == ["2025-01-01T09:00:00.000000Z", "2025-01-01T08:00:00.000000Z"]
    current = log.current(judgement("0").bracket, Person("annotator", "anna"))
    assert current is not None
    assert current.verdict == "rejected"


def old_store(path: Path, version: str = "0.2") -> Path:
    """A store as a released version wrote it."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((Path(__file__).parent / "stores" / f"version_{version}.sql").read_text("utf-8"))
        connection.execute("PRAGMA journal_mode=WAL")
    return path


def test_a_store_of_version_0_2_opens_with_all_its_judgements(tmp_path: Path) -> None:
    path = old_store(tmp_path / "old.sqlite")
    with Store(path) as store:
        entries = store.since(0)
        assert [(one.seq, one.annotator, one.verdict) for one in entries] == [
            (1, "anna", "accepted"),
            (2, "anna", "rejected"),
            (3, "anna", "rejected"),
            (4, "ben", "rejected"),
            (5, "ben", "skipped"),
            (6, "anna", "withdrawn"),
            (7, "anna", "rejected"),
            (8, "carla", "unsure"),
        ]
        assert (entries[0].note, entries[1].correction, entries[1].seconds, entries[5].undoes) == ("a note", True, 2.5, "two00000")
        ruling = entries[6]
        assert (ruling.role, ruling.note, ruling.blind) == ("adjudicator", "über", True)
        assert ruling.tags == ("attachment", "coordination")
        assert (ruling.correct_label, ruling.correct_tree, entries[7].bracket.blocks) == ("PP", "(S (VP (V List)))", "1-2 4-5")
        assert store.words()[entries[0].bracket.sentence][:3] == ("What", "is", "the")
        assert store.link_numbers() == {("annotator", "ben"): 1}
        assert store.append([judgement("new")], WORDS) == [STORED]
        # The clock was set back between the two judgements of anna; her later one holds.
        current = JudgementLog(entries).current(entries[0].bracket, Person("annotator", "anna"))
        assert current is not None
        assert current.verdict == "rejected"
    with Store(path) as store:
        assert len(store.since(0)) == 9


def test_an_existing_store_becomes_private(tmp_path: Path) -> None:
    path = old_store(tmp_path / "old.sqlite")
    path.chmod(0o666)
    Store(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_dangling_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "link.sqlite").symlink_to(tmp_path / "elsewhere.sqlite")
    with pytest.raises(InputError, match="a link to a file that does not exist"):
        Store(tmp_path / "link.sqlite")
    assert not (tmp_path / "elsewhere.sqlite").exists()


@pytest.mark.parametrize("version", ["now", "0.2"])
def test_a_store_on_read_only_media_is_read(tmp_path: Path, version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "j.sqlite"
    if version == "now":
        with Store(path) as store:
            store.append([judgement("1")], WORDS)
    else:
        old_store(path)
    before = path.read_bytes()
    with closing(sqlite3.connect(path)) as open_elsewhere:
        open_elsewhere.execute("SELECT count(*) FROM judgement").fetchall()
        monkeypatch.setattr(store_module, "_is_writable", lambda path: False)
        with Store(path, create=False) as store:
            assert store.is_read_only
            assert len(store.since(0)) == (1 if version == "now" else 8)
            with pytest.raises(WriteError, match="read-only"):
                store.append([judgement("2")], WORDS)
    assert path.read_bytes() == before


def test_what_is_only_in_the_write_ahead_log_is_read_from_a_read_only_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "j.sqlite"
    with Store(path) as writer:
        writer.append([judgement("1")], WORDS)
        assert (tmp_path / "j.sqlite-wal").stat().st_size > 0
        monkeypatch.setattr(store_module, "_is_writable", lambda path: False)
        with Store(path, create=False) as store:
            assert [one.id for one in store.since(0)] == ["1"]


def test_a_full_disk_is_called_a_full_disk(tmp_path: Path) -> None:
    with Store(tmp_path / "j.sqlite") as store:
        with store._engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA max_page_count = 1")
        many = [judgement(str(number), note="x" * 2000) for number in range(200)]
        with pytest.raises(WriteError, match="not stored: the disk is full"):
            store.append(many, WORDS)


def test_reading_does_not_wait_for_a_writer(tmp_path: Path) -> None:
    with Store(tmp_path / "j.sqlite") as store:
        store.append([judgement("1")], WORDS)
        with closing(sqlite3.connect(tmp_path / "j.sqlite", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with Store(tmp_path / "j.sqlite", create=False) as reader:
                assert len(reader.since(0)) == 1
            other.execute("ROLLBACK")


def test_an_import_never_overrides_what_the_store_holds(store: Store) -> None:
    store.append([judgement("ours", note="ours")], WORDS)
    theirs = [judgement("a", note="first"), judgement("b", note="second"), judgement("ours", note="ours")]
    assert store.import_all(theirs, WORDS) == [HELD, HELD, KNOWN]
    assert [one.id for one in store.since(0)] == ["ours"]
    assert store.import_all(theirs, WORDS, replace=True) == [STORED, STORED, KNOWN]
    assert [one.id for one in store.since(0)] == ["ours", "a", "b"]
    fresh = [judgement("x", role="adjudicator"), judgement("y", role="adjudicator")]
    assert store.import_all(fresh, WORDS) == [STORED, STORED]


def test_revoked_links_are_counted(store: Store) -> None:
    assert store.link_numbers() == {}
    store.revoke_link("annotator", "änna")
    store.revoke_link("annotator", "änna")
    assert store.link_numbers() == {("annotator", "änna"): 2}


def test_people_with_links_are_known_and_keep_their_numbers(store: Store) -> None:
    store.revoke_link("annotator", "anna")
    store.add_people([("annotator", "anna"), ("adjudicator", "adjudicator")])
    assert store.link_numbers() == {("annotator", "anna"): 1, ("adjudicator", "adjudicator"): 0}
