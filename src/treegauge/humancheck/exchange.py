"""Export and import of judgements as JSON lines or CSV, and the audit trail as a table.

A file holds the whole log, withdrawn judgements included, with the words of every sentence, so it can be read without the treebank
and the store it came from. Importing a file twice, or files that overlap, stores no judgement twice: every judgement has its id.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar, cast

from treegauge.errors import FormatError, UsageError
from treegauge.humancheck.judgements import (
    LONGEST_LABEL,
    LONGEST_NAME,
    LONGEST_NOTE,
    LONGEST_TREE,
    MOST_SECONDS,
    ROLES,
    TAGS,
    VERDICTS,
    BracketId,
    Judgement,
    read_blocks,
    sentence_hash,
    storable,
)
from treegauge.humancheck.questions import KINDS
from treegauge.humancheck.store import CONFLICT, HELD, KNOWN, STORED, Store
from treegauge.io.json_lines import json_object
from treegauge.io.sources import Source
from treegauge.tables import Cell, Table

COLUMNS = (
    *("id", "at", "annotator", "role", "verdict", "kind", "label", "start", "end", "bracket", "blocks"),
    *("note", "correction", "undoes", "blind", "seconds", "correct_label", "correct_tree", "tags", "gold", "words"),
)
"""The fields of a record; ``blocks`` is empty unless a bracket has gaps; ``bracket`` repeats its words, for human readers."""

_T = TypeVar("_T")
_TIME = "%Y-%m-%dT%H:%M:%S.%fZ"


# A spreadsheet takes a cell that begins like this for a formula; an apostrophe before it makes it text.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")


def export_lines(store: Store, form: str) -> Iterator[str]:
    """The whole log as lines of JSON (``jsonl``) or CSV (``csv``)."""
    yield from judgement_lines(store.since(0), store.words(), form)


def judgement_lines(judgements: Iterable[Judgement], words: Mapping[str, Sequence[str]], form: str) -> Iterator[str]:
    """Judgements as lines of JSON (``jsonl``) or CSV (``csv``); ``words`` are those of their sentences, by hash."""
    records = (_to_record(judgement, words[judgement.bracket.sentence]) for judgement in judgements)
    if form == "jsonl":
        yield from (json.dumps(record, ensure_ascii=False) for record in records)
        return
    yield _csv_line(COLUMNS)
    for record in records:
        texts = {"words": json.dumps(record["words"], ensure_ascii=False), "tags": ", ".join(record["tags"])}
        yield _csv_line(map(_csv_cell, {**record, **texts}.values()))


def _csv_cell(value: Any) -> Any:
    if isinstance(value, str) and _FORMULA.match(value):
        return "'" + value
    return "" if value is None else value


def _csv_text(cell: str) -> str:
    """The text of a cell, without the apostrophe that protected it."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def _csv_line(cells: Iterable[Any]) -> str:
    """A row as a line of CSV; a note of several lines is one quoted cell."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(cells)
    return text.getvalue()


def _to_record(judgement: Judgement, words: Sequence[str]) -> dict[str, Any]:
    bracket = judgement.bracket
    texts = {"bracket": " ".join(bracket.words(words)), "tags": list(judgement.tags), "words": list(words)}
    fields = {**vars(judgement), **bracket._asdict(), **texts}
    return {name: fields[name] for name in COLUMNS}


@dataclass(frozen=True)
class ImportCounts:
    """The numbers of judgements in a file by outcome: stored now, known already, or left out.

    ``conflicts`` are left out because their id belongs to another judgement, ``held`` because the store already has a judgement by
    the same annotator on the same bracket.
    """

    stored: int
    known: int
    conflicts: int
    held: int


def import_file(store: Store, path: str, *, replace: bool = False) -> ImportCounts:
    """Add the judgements of a JSON lines or CSV file (by its suffix), in its order; all of them, or none if a line is wrong.

    Where the store already has a judgement of the same annotator on the same bracket, it stays the current one, unless ``replace``.
    """
    records = list(_records(path))
    words = {judgement.bracket.sentence: sentence for judgement, sentence in records}
    counts = Counter(store.import_all([judgement for judgement, _ in records], words, replace=replace))
    return ImportCounts(counts[STORED], counts[KNOWN], counts[CONFLICT], counts[HELD])


def _records(path: str) -> Iterator[tuple[Judgement, list[str]]]:
    suffix = Source(path).suffix
    if suffix not in (".jsonl", ".csv"):
        raise UsageError(f"{path}: judgements are read from files that end in .jsonl or .csv")
    with Source(path).open() as stream:
        data = stream.read()
    try:
        # Only a line feed ends a line: a word may contain any other character that Unicode counts as a line break.
        lines = list(io.StringIO(data.decode("utf-8-sig"), newline="\n"))
    except UnicodeDecodeError:
        raise FormatError("not UTF-8 text", path=path) from None
    numbered = ((number, json_object(line, path, number)) for number, line in enumerate(lines, start=1) if line.strip())
    for number, record in numbered if suffix == ".jsonl" else _csv_lines(lines, path):
        try:
            yield _from_record(record)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            problem = f"the field {error} is missing" if isinstance(error, KeyError) else str(error)
            advice = "Files that treegauge check exports can be read."
            raise FormatError(f"not a judgement: {problem}", path=path, line=number, advice=advice) from None


def _csv_lines(lines: list[str], path: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    reader = csv.DictReader(lines, strict=True)
    try:
        for record in reader:
            yes = {"True": True, "False": False}
            typed: dict[str, Any] = {name: _csv_text(cell) for name, cell in record.items()}
            for name in ("start", "end"):
                typed[name] = int(record[name])
            for name in ("correction", "blind"):
                typed[name] = yes[record[name]]
            typed["seconds"] = float(record["seconds"]) if record["seconds"] else None
            typed["tags"] = [tag.strip() for tag in record.get("tags", "").split(",") if tag.strip()]
            typed["words"] = json.loads(record["words"])
            yield reader.line_num, typed
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError, csv.Error) as error:
        raise FormatError(f"not a judgement: {error}", path=path, line=reader.line_num) from None


def _from_record(record: Mapping[str, Any]) -> tuple[Judgement, list[str]]:
    """The judgement of a record, after a check of every field, and the words of its sentence."""
    words = record["words"]
    if not isinstance(words, list) or not all(isinstance(word, str) for word in cast("list[object]", words)):
        raise ValueError("words is not a list of strings")
    sentence = cast("list[str]", words)
    start, end = _of(int, record, "start"), _of(int, record, "end")
    if not 0 <= start <= end <= len(sentence):
        raise ValueError(f"the span {start}:{end} is outside the sentence")
    written = _text({"blocks": "", **record}, "blocks", 100_000)
    blocks = read_blocks(written)
    if blocks and (blocks[0][0], blocks[-1][1]) != (start, end):
        raise ValueError(f"the blocks {written!r} do not begin and end as the span {start}:{end}")
    label, gold = _text(record, "label", 10_000), _text(record, "gold", 64)
    bracket = BracketId(sentence_hash(sentence), start, end, label, gold, written)
    judgement = Judgement(
        _text(record, "id", 64, least=1),
        bracket,
        _one_of(record, "kind", KINDS),
        _one_of(record, "verdict", VERDICTS),
        _text(record, "annotator", LONGEST_NAME, least=1),
        _one_of(record, "role", ROLES),
        _text(record, "note", LONGEST_NOTE, lines=True),
        _of(bool, record, "correction"),
        _text(record, "undoes", 64),
        _of(bool, record, "blind"),
        _seconds(record),
        _text({"correct_label": "", **record}, "correct_label", LONGEST_LABEL),
        _tags(record),
        _text({"correct_tree": "", **record}, "correct_tree", LONGEST_TREE),
        _time(record),
    )
    if (judgement.verdict == "withdrawn") != bool(judgement.undoes):
        raise ValueError("the verdict `withdrawn`, and no other, names in `undoes` the judgement that it withdraws")
    return judgement, sentence


def _seconds(record: Mapping[str, Any]) -> float | None:
    value = record.get("seconds")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST_SECONDS:
        raise ValueError(f"seconds cannot be {str(value)[:20]}: it is a number between 0 and {MOST_SECONDS:g}")
    return float(value)


def _tags(record: Mapping[str, Any]) -> tuple[str, ...]:
    tags = cast("list[object]", record.get("tags") or [])
    unknown = [tag for tag in tags if tag not in TAGS]
    if not isinstance(record.get("tags", []), list) or unknown:
        raise ValueError(f"tags cannot be {str(unknown or tags)[:60]}; they are among {', '.join(TAGS)}")
    return tuple(tag for tag in TAGS if tag in tags)


def _of(kind: type[_T], record: Mapping[str, Any], name: str) -> _T:
    value = record[name]
    if type(value) is not kind:
        raise ValueError(f"{name} cannot be {value!r}")
    return value


def _text(record: Mapping[str, Any], name: str, most: int, *, least: int = 0, lines: bool = False) -> str:
    """The text of a field, which any database can store: of one line, or of several."""
    value = _of(str, record, name)
    if not least <= len(value) <= most:
        raise ValueError(f"{name} has {len(value)} characters; between {least} and {most} are allowed")
    return "\n".join(map(storable, value.splitlines() if lines else [value]))


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
        flags = {
            "withdrawn later": judgement.id in withdrawn_ids,
            "blind": judgement.blind,
            "treebank wrong": judgement.correction,
            f"should be {judgement.correct_label}": judgement.correct_label,
            "tree edited": judgement.correct_tree,
        }
        remarks = [text for text, holds in flags.items() if holds]
        # The table may go to a terminal, where control characters in a word would act as commands.
        inside = storable(" ".join(bracket.words(words[bracket.sentence])))
        said = (judgement.seq, judgement.at, judgement.annotator, judgement.role, judgement.verdict, judgement.kind)
        rows.append((*said, bracket.label, inside, ", ".join(filter(None, [*remarks, *judgement.tags, judgement.note]))))
    columns = ("entry", "at", "who", "role", "verdict", "kind", "label", "bracket", "remark")
    return Table("Audit trail", columns, tuple(rows), ("1 entry" if len(rows) == 1 else f"{len(rows)} entries",))
