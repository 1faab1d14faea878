"""Export and import of judgements as JSON lines or CSV, and the audit trail as a table.

A file holds the whole log, withdrawn judgements included, with the words of every sentence, so it needs neither the treebank nor
the store it came from. Importing a file twice, or files that overlap, adds nothing twice: every judgement has its id.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar, cast

from treegauge.errors import FormatError, UsageError
from treegauge.humancheck.judgements import LONGEST_NAME, LONGEST_NOTE, ROLES, VERDICTS, Judgement
from treegauge.humancheck.questions import KINDS, BracketId, sentence_hash, storable
from treegauge.humancheck.store import CONFLICT, KNOWN, STORED, Store
from treegauge.io.sources import Source
from treegauge.tables import Cell, Table

__all__ = ["ImportCounts", "audit_table", "export_lines", "import_file"]

COLUMNS = (
    *("id", "at", "annotator", "role", "verdict", "kind", "label", "start", "end", "bracket", "note", "correction", "undoes"),
    *("blind", "seconds", "gold", "words"),
)
"""The fields of a record; ``bracket`` is for human readers: it repeats the words ``start:end``."""

_AT_ONCE = 1000
_T = TypeVar("_T")
_TIME = "%Y-%m-%dT%H:%M:%S.%fZ"


def export_lines(store: Store, form: str) -> Iterator[str]:
    """The whole log as lines of JSON (``jsonl``) or CSV (``csv``)."""
    words = store.words()
    records = (_to_record(judgement, words[judgement.bracket.sentence]) for judgement in store.since(0))
    if form == "jsonl":
        yield from (json.dumps(record, ensure_ascii=False) for record in records)
        return
    writer = _CsvLines()
    yield writer.line(COLUMNS)
    for record in records:
        cells = {**record, "words": json.dumps(record["words"], ensure_ascii=False)}
        yield writer.line(["" if cells[name] is None else cells[name] for name in COLUMNS])


class _CsvLines:
    """A writer of rows as lines of CSV; a note of several lines is one quoted cell."""

    def __init__(self) -> None:
        self._text = ""
        self._writer = csv.writer(self, lineterminator="")

    def write(self, text: str) -> int:
        self._text = text
        return len(text)

    def line(self, cells: Iterable[Any]) -> str:
        self._writer.writerow(cells)
        return self._text


def _to_record(judgement: Judgement, words: Sequence[str]) -> dict[str, Any]:
    bracket = judgement.bracket
    own = {name: getattr(judgement, name) for name in ("id", "at", "annotator", "role", "verdict", "kind")}
    rest = {name: getattr(judgement, name) for name in ("note", "correction", "undoes", "blind", "seconds")}
    span = {
        "label": bracket.label,
        "start": bracket.start,
        "end": bracket.end,
        "bracket": " ".join(words[bracket.start : bracket.end]),
    }
    return {**own, **span, **rest, "gold": bracket.gold, "words": list(words)}


@dataclass(frozen=True)
class ImportCounts:
    """The numbers of judgements of a file that were new, known, or had the id of another one."""

    stored: int
    known: int
    conflicts: int


def import_file(store: Store, path: str) -> ImportCounts:
    """Add the judgements of a JSON lines or CSV file (by its suffix); nothing is stored if a line cannot be read."""
    records = list(_records(path))
    counts: Counter[str] = Counter()
    for first in range(0, len(records), _AT_ONCE):
        part = records[first : first + _AT_ONCE]
        words = {judgement.bracket.sentence: sentence for judgement, sentence in part}
        counts.update(store.append([judgement for judgement, _ in part], words))
    return ImportCounts(counts[STORED], counts[KNOWN], counts[CONFLICT])


def _records(path: str) -> Iterator[tuple[Judgement, list[str]]]:
    suffix = Source(path).suffix
    if suffix not in (".jsonl", ".csv"):
        raise UsageError(f"{path}: judgements are read from files that end in .jsonl or .csv")
    with Source(path).open() as stream:
        data = stream.read()
    try:
        # Only line feeds end a line: a word may hold any other character that Unicode calls a line's end.
        lines = list(io.StringIO(data.decode("utf-8-sig"), newline="\n"))
    except UnicodeDecodeError:
        raise FormatError("not UTF-8 text", path=path) from None
    for number, record in _json_lines(lines, path) if suffix == ".jsonl" else _csv_lines(lines, path):
        try:
            yield _from_record(record)
        except (KeyError, TypeError, ValueError) as error:
            problem = f"the field {error} is missing" if isinstance(error, KeyError) else str(error)
            advice = "Files as `treegauge check --export` writes them can be read."
            raise FormatError(f"not a judgement: {problem}", path=path, line=number, advice=advice) from None


def _json_lines(lines: list[str], path: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise FormatError(f"not JSON: {error}", path=path, line=number) from None
        if not isinstance(record, dict):
            raise FormatError("not a JSON object", path=path, line=number)
        yield number, cast("dict[str, Any]", record)


def _csv_lines(lines: list[str], path: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    reader = csv.DictReader(lines, strict=True)
    try:
        for record in reader:
            yes = {"True": True, "False": False}
            typed: dict[str, Any] = {**record}
            for name in ("start", "end"):
                typed[name] = int(record[name])
            for name in ("correction", "blind"):
                typed[name] = yes[record[name]]
            typed["seconds"] = float(record["seconds"]) if record["seconds"] else None
            typed["words"] = json.loads(record["words"])
            yield reader.line_num, typed
    except (KeyError, TypeError, ValueError, csv.Error) as error:
        raise FormatError(f"not a judgement: {error}", path=path, line=reader.line_num) from None


def _from_record(record: Mapping[str, Any]) -> tuple[Judgement, list[str]]:
    """The judgement of a record, with every field checked, and the words of its sentence."""
    words = record["words"]
    if not isinstance(words, list) or not all(isinstance(word, str) for word in cast("list[object]", words)):
        raise ValueError("words is not a list of strings")
    sentence = cast("list[str]", words)
    start, end = _of(int, record, "start"), _of(int, record, "end")
    if not 0 <= start <= end <= len(sentence):
        raise ValueError(f"the span {start}:{end} is outside the sentence")
    bracket = BracketId(sentence_hash(sentence), start, end, storable(_text(record, "label", 10_000)), _text(record, "gold", 64))
    seconds = record.get("seconds")
    judgement = Judgement(
        _text(record, "id", 64, least=1),
        bracket,
        _one_of(record, "kind", KINDS),
        _one_of(record, "verdict", VERDICTS),
        storable(_text(record, "annotator", LONGEST_NAME, least=1)),
        _one_of(record, "role", ROLES),
        "\n".join(map(storable, _text(record, "note", LONGEST_NOTE).splitlines())),
        _of(bool, record, "correction"),
        _text(record, "undoes", 64),
        _of(bool, record, "blind"),
        None if seconds is None else float(seconds),
        _time(record),
    )
    if (judgement.verdict == "withdrawn") != bool(judgement.undoes):
        raise ValueError("a judgement is withdrawn by naming it in `undoes`, and only then")
    return judgement, sentence


def _of(kind: type[_T], record: Mapping[str, Any], name: str) -> _T:
    value = record[name]
    if type(value) is not kind:
        raise ValueError(f"{name} cannot be {value!r}")
    return value


def _text(record: Mapping[str, Any], name: str, most: int, *, least: int = 0) -> str:
    value = _of(str, record, name)
    if not least <= len(value) <= most:
        raise ValueError(f"{name} has {len(value)} characters; between {least} and {most} are allowed")
    return value


def _one_of(record: Mapping[str, Any], name: str, valid: Sequence[str]) -> str:
    value = record[name]
    if value not in valid:
        raise ValueError(f"{name} cannot be {value!r}; it is one of {', '.join(valid)}")
    return value


def _time(record: Mapping[str, Any]) -> str:
    at = _text(record, "at", 32)
    when = datetime.strptime(at, _TIME).replace(tzinfo=UTC)
    if when > datetime.now(UTC) + timedelta(days=1):
        raise ValueError(f"at lies in the future: {at}")
    return at


def audit_table(judgements: Sequence[Judgement], words: Mapping[str, Sequence[str]]) -> Table:
    """Every entry of the log: when, who, the verdict, the bracket, and whether it was withdrawn later."""
    withdrawn_ids = {judgement.undoes for judgement in judgements if judgement.verdict == "withdrawn"}
    rows: list[tuple[Cell, ...]] = []
    for judgement in judgements:
        bracket = judgement.bracket
        remark = ", ".join(
            text
            for text, holds in (
                ("withdrawn later", judgement.id in withdrawn_ids),
                ("blind", judgement.blind),
                ("treebank wrong", judgement.correction),
                (judgement.note, bool(judgement.note)),
            )
            if holds
        )
        # For a terminal, to which control characters in a word would be orders.
        inside = storable(" ".join(words[bracket.sentence][bracket.start : bracket.end]))
        rows.append(
            (
                judgement.seq,
                judgement.at,
                judgement.annotator,
                judgement.role,
                judgement.verdict,
                judgement.kind,
                bracket.label,
                inside,
                remark,
            )
        )
    columns = ("entry", "at", "who", "role", "verdict", "kind", "label", "bracket", "remark")
    return Table("Audit trail", columns, tuple(rows), ("1 entry" if len(rows) == 1 else f"{len(rows)} entries",))
