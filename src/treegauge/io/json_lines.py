"""JSON lines: one object per sentence, with the bracketed or discbracket tree in one of its fields."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, cast

from treegauge.errors import FormatError, InputError
from treegauge.io.bracketed import text_errors, treebank_of_texts
from treegauge.io.discbracket import first_carries_places, place_words_in_block
from treegauge.io.sources import ReadOptions, Text
from treegauge.trees.treebank import Problem, Treebank

DEFAULT_FIELD = "parse"
_BLOCK_LINES = 4096


def read_json_lines(text: Text, options: ReadOptions) -> Iterator[Treebank | InputError]:
    """The trees of a file of JSON lines, in blocks; a line without the field is an error, or a sentence without a parse.

    If none of the first lines has the field, that is an error in any case.
    """
    field = options.field or DEFAULT_FIELD
    texts: list[str] = []
    problems: dict[int, Problem] = {}
    errors: dict[int, InputError] = {}
    first, has_field = 1, False
    without: FormatError | None = None  # the error of the first line without the field
    has_places: bool | None = None  # whether the trees are discbracket; known once a tree with words was read

    def trees() -> Iterator[Treebank | InputError]:
        nonlocal has_places
        try:
            bank = treebank_of_texts(texts, text.name, options, problems, first)
        except InputError:
            errors.update(text_errors(texts, text.name, options, first))
            bank = treebank_of_texts(["" if n in errors else each for n, each in enumerate(texts)], text.name, options, line=first)
        yield from (errors[number] for number in sorted(errors))
        bank = bank.take([number for number in range(len(texts)) if number not in errors]) if errors else bank
        has_places = first_carries_places(bank) if has_places is None else has_places
        yield from place_words_in_block(bank, options) if has_places else (bank,)

    for number, line in enumerate(text.lines(), start=1):
        record: Any = None
        try:
            record = _record(line, text.name, number)
            value = None if record is None else _value(record, field)
            has_field = has_field or record is not None
            texts.append(_text_of(value, field, text.name, number))
        except (FormatError, LookupError) as found:
            error = found if isinstance(found, FormatError) else _no_field(record, field, text.name, number)
            without = without or (None if error is found else error)
            kept = text.original(line) if options.keeps_text else b""
            if options.on_error == "stop":
                errors[len(texts)] = error
            else:
                problems[len(texts)] = Problem(error.place, error.problem, error.advice, text=kept)
            texts.append("")
        if len(texts) == _BLOCK_LINES:
            if without is not None and not has_field:
                break
            yield from trees()
            texts, problems, errors, first = [], {}, {}, number + 1
    if without is not None and not has_field:
        yield without
    elif texts:
        yield from trees()


def _record(line: bytes, path: str, number: int) -> dict[str, Any] | None:
    """The JSON object of a line; None for a blank one."""
    if not line.strip():
        return None
    try:
        record: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"not JSON: {error}", path=path, line=number) from None
    if not isinstance(record, dict):
        raise FormatError("not a JSON object", path=path, line=number)
    return cast("dict[str, Any]", record)


def _no_field(record: Any, field: str, path: str, number: int) -> FormatError:
    names = dict(_fields(record))
    trees = [name for name, value in names.items() if isinstance(value, str) and value.lstrip().startswith("(")]
    listed = ", ".join([*names][:20]) + (" ..." if len(names) > 20 else "")
    advice = f'Give field="{trees[0]}".' if trees else "Give the field of the trees: field=..."
    return FormatError(f"no field {field!r}; there are: {listed or 'none'}", path=path, line=number, advice=advice)


def _text_of(value: Any, field: str, path: str, number: int) -> str:
    """The text of a tree in a field; empty for null."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise FormatError(f"the field {field!r} is not text", path=path, line=number)
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise FormatError(f"the field {field!r} is not text: it contains half of a surrogate pair", path=path, line=number)
    return value


def _value(record: Any, field: str) -> Any:
    """The value of a field, of which ``a.b`` is inside another, or at a place of a list; a LookupError if there is none.

    >>> _value({"choices": [{"text": "(S (N rain))"}]}, "choices.0.text")
    '(S (N rain))'
    """
    fields = dict(_items(record))
    if field in fields:
        return fields[field]
    outer, dot, inner = field.partition(".")
    if not dot:
        raise KeyError(field)
    return _value(fields[outer], inner)


def _items(record: Any) -> Iterable[tuple[str, Any]]:
    """The items of a record by name, those of a list by their place; none of anything else."""
    if isinstance(record, list):
        return ((str(place), item) for place, item in enumerate(cast("list[Any]", record)))
    return cast("dict[str, Any]", record).items() if isinstance(record, dict) else ()


def _fields(record: Any, outer: str = "", depth: int = 4) -> Iterator[tuple[str, Any]]:
    """The names of the innermost fields, as ``a.b``, with their values."""
    for name, value in _items(record):
        if isinstance(value, (dict, list)) and value and depth:
            yield from _fields(value, f"{outer}{name}.", depth - 1)
        else:
            yield f"{outer}{name}", value
