"""Judgements as files: out, in, twice, from two stores; and every way in which a file can be wrong."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest
from humancheck_helpers import WORDS, judgement, said, words_of

from treegauge.errors import FormatError, UsageError
from treegauge.humancheck.exchange import COLUMNS, audit_table, export_lines, import_file
from treegauge.humancheck.questions import Check
from treegauge.humancheck.store import Store


@pytest.fixture
def full(check: Check, store: Store) -> Store:
    first = said(check, 0, "accepted", note='two\nlines, "quoted"; =1+1', correction=True, blind=True, seconds=2.5)
    log = [first, said(check, 0, "withdrawn", undoes=first.id), said(check, 1, "rejected", "ben\u2028", role="adjudicator")]
    store.append(log, words_of(check))
    return store


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "jsonl.gz"])
def test_out_and_in_again(full: Store, tmp_path: Path, suffix: str) -> None:
    form = suffix.removesuffix(".gz")
    text = "".join(f"{line}\n" for line in export_lines(full, form)).encode()
    path = tmp_path / f"log.{suffix}"
    path.write_bytes(gzip.compress(text) if suffix.endswith("gz") else text)
    with Store(tmp_path / "other.sqlite") as other:
        assert import_file(other, str(path)).stored == 3
        assert import_file(other, str(path)).known == 3
        assert other.since(0) == full.since(0)
        assert other.words() == full.words()
        assert "".join(f"{line}\n" for line in export_lines(other, form)).encode() == text


def test_csv_is_for_other_programs_too(full: Store) -> None:
    rows = list(csv.DictReader(io.StringIO("\n".join(export_lines(full, "csv")))))
    assert tuple(rows[0]) == COLUMNS
    assert rows[0]["bracket"] == " ".join(json.loads(rows[0]["words"])[int(rows[0]["start"]) : int(rows[0]["end"])])


def test_two_people_who_worked_apart(check: Check, tmp_path: Path) -> None:
    words = words_of(check)
    files = []
    for name in ("anna", "ben"):
        with Store(tmp_path / f"{name}.sqlite") as own:
            own.append([said(check, n, "accepted", name) for n in check.order[:5]], words)
            files.append(tmp_path / f"{name}.jsonl")
            files[-1].write_text("\n".join(export_lines(own, "jsonl")), "utf-8")
    with Store(tmp_path / "both.sqlite") as both:
        assert [import_file(both, str(file)).stored for file in files] == [5, 5]
        assert len(both.since(0)) == 10


def test_another_judgement_under_the_same_id_is_counted(full: Store, tmp_path: Path) -> None:
    records = [json.loads(line) for line in export_lines(full, "jsonl")]
    records[0]["note"] = "changed"
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(map(json.dumps, records)), "utf-8")
    done = import_file(full, str(path))
    assert (done.stored, done.known, done.conflicts) == (0, 2, 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"verdict": "maybe"}, "verdict cannot be 'maybe'"),
        ({"kind": "XX"}, "kind"),
        ({"role": "king"}, "role"),
        ({"start": -1}, "outside the sentence"),
        ({"end": 10**9}, "outside the sentence"),
        ({"start": "0"}, "start cannot be '0'"),
        ({"start": True}, "start cannot be True"),
        ({"words": "a b"}, "words"),
        ({"words": [1]}, "words"),
        ({"annotator": ""}, "annotator"),
        ({"annotator": "x" * 61}, "annotator"),
        ({"note": "x" * 2001}, "note"),
        ({"id": "x" * 65}, "id"),
        ({"at": "yesterday"}, "yesterday"),
        ({"at": "2999-01-01T00:00:00.000000Z"}, "future"),
        ({"undoes": "y"}, "withdrawn"),
        ({"correction": 1}, "correction"),
        ({"seconds": "long"}, "long"),
        ({"gold": None}, "gold"),
    ],
)
def test_a_wrong_record_is_refused_and_nothing_is_stored(
    full: Store, check: Check, tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    good = json.loads(next(export_lines(full, "jsonl")))
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps({**good, "id": "new"}) + "\n\n" + json.dumps(good | change) + "\n", "utf-8")
    with pytest.raises(FormatError, match=message) as caught:
        import_file(full, str(path))
    assert caught.value.line == 3
    assert len(full.since(0)) == 3


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.jsonl", b"{\n"),
        ("x.jsonl", b"[]\n"),
        ("x.jsonl", b"{}\n"),
        ("x.jsonl", b"[" * 100_000),
        ("x.jsonl", b"\xff\n"),
        ("x.csv", b"id,at\n1,2\n"),
        ("x.csv", b'"'),
        ("x.csv", ",".join(COLUMNS).encode() + b"\n" + b"," * 16 + b"\n"),
    ],
)
def test_what_is_no_log_is_refused(store: Store, tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FormatError, match=name):
        import_file(store, str(tmp_path / name))


def test_other_suffixes_are_refused(store: Store) -> None:
    with pytest.raises(UsageError, match=r"\.jsonl or \.csv"):
        import_file(store, "x.txt")


def test_the_audit_trail_tells_all(full: Store) -> None:
    table = audit_table(full.since(0), full.words())
    assert [row[4] for row in table.rows] == ["accepted", "withdrawn", "rejected"]
    assert str(table.rows[0][-1]).startswith("withdrawn later, blind, treebank wrong, two")


def test_the_audit_trail_gives_no_orders_to_a_terminal(store: Store) -> None:
    store.append([judgement("1")], dict.fromkeys(WORDS, ("\x1b[2J", "\x07bell")))
    shown = str(audit_table(store.since(0), store.words()))
    assert not {"\x1b", "\x07"} & set(shown)


@pytest.mark.parametrize("seconds", ["1e999", "NaN", "-1", "9" * 400, "true", '"1"', "86401"])
def test_times_out_of_bounds_are_refused_by_line(store: Store, tmp_path: Path, seconds: str) -> None:
    store.append([judgement("1")], WORDS)
    (line,) = export_lines(store, "jsonl")
    path = tmp_path / "log.jsonl"
    path.write_text(line + "\n" + line.replace('"seconds": null', f'"seconds": {seconds}') + "\n", "utf-8")
    with Store(tmp_path / "other.sqlite") as other:
        with pytest.raises(FormatError, match=r"log\.jsonl:2: not a judgement: seconds"):
            import_file(other, str(path))
        assert other.since(0) == []


@pytest.mark.parametrize("note", ["=1+1", "+1", "-1", "@x", "'=1", "plain", "''-1", "'quoted'"])
def test_no_cell_begins_a_formula_and_notes_come_back(store: Store, tmp_path: Path, note: str) -> None:
    store.append([judgement("1", note=note)], WORDS)
    lines = list(export_lines(store, "csv"))
    (cells,) = list(csv.reader(lines[1:]))
    assert not any(cell[:1] in ("=", "+", "-", "@", "\t") for cell in cells)
    path = tmp_path / "log.csv"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    with Store(tmp_path / "other.sqlite") as other:
        import_file(other, str(path))
        assert [one.note for one in other.since(0)] == [note]


def test_labels_and_reasons_go_out_and_in_again(store: Store, tmp_path: Path) -> None:
    store.append([judgement("1", correction=True, correct_label="NP", tags=("attachment", "other"))], WORDS)
    for form in ("csv", "jsonl"):
        path = tmp_path / f"log.{form}"
        path.write_text("\n".join(export_lines(store, form)) + "\n", "utf-8")
        with Store(tmp_path / f"{form}.sqlite") as other:
            import_file(other, str(path))
            (one,) = other.since(0)
            assert (one.correct_label, one.tags) == ("NP", ("attachment", "other"))
