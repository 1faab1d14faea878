"""Formats with a sentence on each line: JSON lines, with the tree in a field of an object, and brackets without labels."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, cast

from treegauge.errors import FormatError, InputError
from treegauge.io.bracketed import text_errors, treebank_of_texts
from treegauge.io.discbracket import first_carries_places, place_words_in_block
from treegauge.io.formats import lacks_labels
from treegauge.io.sources import ReadOptions, Text
from treegauge.trees.treebank import Problem, Treebank

DEFAULT_FIELD = "parse"
_BLOCK_LINES = 4096


def read_json_lines(text: Text, options: ReadOptions) -> Iterator[Treebank | InputError]:
    """The trees of a file of JSON lines, in blocks; a line without text in the field is an error, or a sentence without a parse.

    If none of the first lines has it, that is an error in any case.
    """
    return _read_lines(text, options, lambda line, number: _text_of(line, options.field, text.name, number))


def read_brackets(text: Text, options: ReadOptions) -> Iterator[Treebank | InputError]:
    """The trees of a file of brackets without labels, ``((the cat) sat)``: each bracket gets the label X."""
    return _read_lines(text, replace(options, format="brackets"), lambda line, number: line.decode("utf-8", "replace"))


def _read_lines(text: Text, options: ReadOptions, text_of: Callable[[bytes, int], str | None]) -> Iterator[Treebank | InputError]:
    """The trees in the texts that a function finds in the lines, each with its number; None for a line that is no record."""
    texts: list[str] = []
    problems: dict[int, Problem] = {}
    errors: dict[int, InputError | None] = {}  # of lines that give no tree; None for a line that is no record
    first, has_field = 1, False
    without: FormatError | None = None  # the error of the first line without the field, or else of the first that is not an object
    has_places: bool | None = None  # whether the trees are discbracket; known once a tree with words was read

    def trees() -> Iterator[Treebank | InputError]:
        nonlocal has_places
        is_bare = options.format == "brackets" or lacks_labels("\n".join(texts).encode("utf-8", "replace"))
        given = replace(options, format="brackets") if is_bare else options
        try:
            bank = treebank_of_texts(texts, text.name, given, problems, first)
        except InputError:
            errors.update(text_errors(texts, text.name, given, first))
            bank = treebank_of_texts(["" if n in errors else each for n, each in enumerate(texts)], text.name, given, line=first)
        yield from filter(None, (errors[number] for number in sorted(errors)))
        bank = bank.take([number for number in range(len(texts)) if number not in errors]) if errors else bank
        has_places = first_carries_places(bank) if has_places is None else has_places
        yield from place_words_in_block(bank, options) if has_places else (bank,)

    for number, line in enumerate(_lines(text), start=1):
        try:
            given = text_of(line, number)
            errors |= {len(texts): None} if given is None else {}
            texts.append(given or "")
            has_field = has_field or bool(line.strip())
        except FormatError as error:
            if without is None or (error.advice and not without.advice):  # advice: there are other fields
                of_first = without if without is not None and without.problem.startswith("no field") else error
                without = FormatError(of_first.problem, path=text.name, line=of_first.line, advice=error.advice)
            if options.on_error == "stop":
                errors[len(texts)] = error
            else:
                problems[len(texts)] = Problem(error.place, error.problem, error.advice, text=text.original(line))
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


def _text_of(line: bytes, given: str, path: str, number: int) -> str | None:
    """The text of the tree in the field of a line; empty for null, None for a blank line."""
    if not line.strip():
        return None
    fields, field = json_object(line, path, number), re.sub(r"\[(\d+)\]", r".\1", given) or DEFAULT_FIELD
    value, problem = None, ""
    try:
        value = _value(fields, field)
        problem = "" if value is None or isinstance(value, str) else f"the field {field!r} is not text"
    except LookupError:
        problem = f"no field {field!r}"
    if problem:
        names = dict(_fields(fields))
        trees = [name for name, value in names.items() if isinstance(value, str) and value.lstrip().startswith("(")]
        short = [*(names if len(names) <= 20 else dict.fromkeys(re.sub(r"(\.\d+)+$", ".0 ...", name) for name in names))]
        listed = ", ".join(short[:20]) + (" ..." if len(short) > 20 else "")
        advice = f'Give field="{trees[0]}".' if trees else "" if given else "Give the field of the trees: field=..."
        place = re.match(r"(.+?)\.\d+\.", trees[0]) if trees else None
        if place and f"{place[1]}.1.{trees[0][place.end() :]}" in names:
            advice = f"If the list {place[1]!r} holds the sentences, write one item per line; otherwise g{advice[1:]}"
        raise FormatError(f"{problem}; there are: {listed or 'none'}", path=path, line=number, advice=advice)
    if any("\ud800" <= character <= "\udfff" for character in value or ""):
        raise FormatError(f"the field {field!r} is not text: it contains half of a surrogate pair", path=path, line=number)
    return value or ""


def json_object(line: str | bytes, path: str, number: int) -> dict[str, Any]:
    """The JSON object on a line."""
    try:
        record: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"not JSON: {error}", path=path, line=number) from None
    if not isinstance(record, dict):
        raise FormatError("not a JSON object", path=path, line=number)
    return cast("dict[str, Any]", record)


def _lines(text: Text) -> Iterable[bytes]:
    """The lines of a text; of an array of objects, a line for each of them."""
    if not text.head.lstrip().startswith(b"[") or not text.head.lstrip()[1:].lstrip().startswith(b"{"):
        return text.lines()
    whole = b"\n".join(text.lines())
    try:
        return [json.dumps(item).encode() for item in json.loads(whole)]
    except (ValueError, RecursionError):
        return whole.split(b"\n")


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


def _fields(record: Any, outer: str = "", depth: int = 8) -> Iterator[tuple[str, Any]]:
    """The names of the innermost fields, as ``a.b``, with their values."""
    for name, value in _items(record):
        if isinstance(value, (dict, list)) and value and depth:
            yield from _fields(value, f"{outer}{name}.", depth - 1)
        else:
            yield f"{outer}{name}", value
