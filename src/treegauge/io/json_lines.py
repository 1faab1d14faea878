"""JSON lines: one object per sentence, with the bracketed or discbracket tree in one of its fields."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, cast

from treegauge.errors import FormatError, InputError
from treegauge.io.bracketed import treebank_of_texts
from treegauge.io.discbracket import first_carries_places, place_words_in_block
from treegauge.io.sources import ReadOptions, Text
from treegauge.trees.treebank import Problem, Treebank

DEFAULT_FIELD = "parse"
_BLOCK_LINES = 4096


def read_json_lines(text: Text, options: ReadOptions) -> Iterator[Treebank | InputError]:
    """The trees of a file of JSON lines, in blocks; a line without the field is an error, or a sentence without a parse."""
    field = options.field or DEFAULT_FIELD
    texts: list[str] = []
    problems: dict[int, Problem] = {}
    first = 1
    has_places: bool | None = None  # whether the trees are discbracket; known once a tree with words was read

    def trees() -> Iterator[Treebank | InputError]:
        nonlocal has_places
        bank = treebank_of_texts(texts, text.name, options, problems, first)
        has_places = first_carries_places(bank) if has_places is None else has_places
        yield from place_words_in_block(bank, options) if has_places else (bank,)

    for number, line in enumerate(text.lines(), start=1):
        try:
            texts.append(_text_of(line, field, text.name, number))
        except InputError as error:
            if options.on_error == "stop":
                yield error
                return
            problems[len(texts)] = Problem(error.place, error.problem, error.advice)
            texts.append("")
        if len(texts) == _BLOCK_LINES:
            yield from trees()
            texts, problems, first = [], {}, number + 1
    if texts:
        yield from trees()


def _text_of(line: bytes, field: str, path: str, number: int) -> str:
    """The text of the tree in the field of a line; empty for a blank line and for null."""
    if not line.strip():
        return ""
    try:
        record: Any = json.loads(line)
    except ValueError as error:
        raise FormatError(f"not JSON: {error}", path=path, line=number) from None
    if not isinstance(record, dict):
        raise FormatError("not a JSON object", path=path, line=number)
    fields = cast("dict[str, Any]", record)
    if field not in fields:
        raise FormatError(f"no field {field!r}; there are: {', '.join(fields) or 'none'}", path=path, line=number)
    value = fields[field]
    if value is None:
        return ""
    if not isinstance(value, str):
        raise FormatError(f"the field {field!r} is not text", path=path, line=number)
    return value
