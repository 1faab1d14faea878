r"""EVALB parameter files (``.prm``) as values.

A ``.prm`` file holds one directive per line, a keyword and its value (Sekine & Collins 1997; the keywords are listed in
:data:`KEYWORDS`). Several files add up: lists grow, and the last value of a number counts.

>>> parameters, messages = parse_prm(b"DELETE_LABEL TOP\nDELETE_LABEL .\nEQ_LABEL ADVP PRT\nCUTOFF_LEN 70\nfoo bar\n")
>>> parameters.delete_labels, parameters.equal_labels, parameters.cutoff_length
((b'TOP', b'.'), ((b'ADVP', b'PRT'),), 70)
>>> messages[0].text
b'Unknown keyword (foo bar) in parameter file'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from treegauge._lazy import advice_on

_RECORD = 499
"""EVALB reads a parameter file in records of at most this many bytes; the rest of a longer line is the next record."""

_WHITESPACE = b" \t\n\v\f\r"


class Parameters(NamedTuple):
    """The settings of an EVALB run; the defaults are EVALB's without any file: nothing is deleted, so TOP counts.

    ``delete_labels``: a terminal with such a tag is dropped with its word, a non-terminal with such a label (after
    cutting, or by ``equal_labels``) does not count. ``delete_labels_for_length``: terminals left out of the sentence
    length. ``quote_labels``: tags whose ``'``, ``"`` and ``/`` are restored when gold and test differ in length.
    ``equal_labels`` and ``equal_words``: pairs that are the same in both directions, not transitively.
    """

    debug: int = 0
    max_error: int = 10
    cutoff_length: int = 40
    labelled: bool = True
    delete_labels: tuple[bytes, ...] = ()
    delete_labels_for_length: tuple[bytes, ...] = ()
    quote_labels: tuple[bytes, ...] = ()
    equal_labels: tuple[tuple[bytes, bytes], ...] = ()
    equal_words: tuple[tuple[bytes, bytes], ...] = ()


class PrmMessage(NamedTuple):
    """A message about a line of a parameter file.

    ``undefined`` is false for a message that EVALB itself prints, and true where EVALB would have read past the end of the line.
    """

    line: int
    text: bytes
    undefined: bool = False


def cut_label(label: bytes) -> bytes:
    """The label up to its first ``-`` or ``=``.

    >>> cut_label(b"NP-SBJ-1"), cut_label(b"NP=2"), cut_label(b"-LRB-"), cut_label(b"NP|x")
    (b'NP', b'NP', b'', b'NP|x')
    """
    return label.partition(b"-")[0].partition(b"=")[0]


def atoi(text: bytes) -> int:
    """The integer at the start of a text, read as glibc's ``atoi`` does: 0 if there is none, 64 bits cut to 32.

    >>> atoi(b" 12x"), atoi(b"-1"), atoi(b"yes"), atoi(b"4294967297")
    (12, -1, 0, 1)
    """
    found = re.match(rb"[ \t-\r]*([+-]?)0*([0-9]*)", text)
    if found is None or not found[2]:
        return 0
    # Twenty digits are past 64 bits already; strtol stays at the nearest limit.
    size = int(found[2]) if len(found[2]) < 20 else 1 << 64
    number = max(-size, -(1 << 63)) if found[1] == b"-" else min(size, (1 << 63) - 1)
    return (number + (1 << 31)) % (1 << 32) - (1 << 31)


def parse_prm(data: bytes, before: Parameters | None = None) -> tuple[Parameters, tuple[PrmMessage, ...]]:
    r"""The parameters after reading the bytes of a file on top of ``before``, and the messages about its lines.

    A value is everything after the blanks that follow the keyword, inner blanks included; there are no trailing comments.

    >>> parse_prm(b"DELETE_LABEL . # period\n")[0].delete_labels
    (b'. # period',)
    """
    parameters = before or Parameters()
    messages: list[PrmMessage] = []
    for number, line in enumerate(_records(data), start=1):
        text = line[:1] + line[1:].rstrip(_WHITESPACE)
        if text.startswith(b"#") or len(text) < 3:
            continue
        keyword, *rest = re.split(rb"\s+", text, maxsplit=1)
        value = rest[0] if rest else None
        directive = KEYWORDS.get(keyword)
        if directive is None:
            messages.append(PrmMessage(number, b"Unknown keyword (%s) in parameter file" % text))
        elif value is None and keyword not in _PAIRS:
            messages.append(PrmMessage(number, b"%s has no value; the line is ignored" % keyword, undefined=True))
        else:
            changed = directive(parameters, value or b"")
            if changed is None:
                messages.append(PrmMessage(number, b"%s requires two values" % keyword))
            else:
                parameters = changed
    return parameters, tuple(messages)


def _records(data: bytes) -> Iterator[bytes]:
    """The records EVALB reads: lines, in pieces of 499 bytes, each ending at a NUL as C strings do."""
    for line in data.split(b"\n"):
        line += b"\n"
        for start in range(0, len(line), _RECORD):
            yield line[start : start + _RECORD].partition(b"\0")[0]


def _add_pair(name: str, parameters: Parameters, value: bytes) -> Parameters | None:
    match value.split():
        case [first, second]:
            return parameters._replace(**{name: (*getattr(parameters, name), (first, second))})
        case _:
            return None


KEYWORDS: dict[bytes, Callable[[Parameters, bytes], Parameters | None]] = {
    b"DEBUG": lambda p, value: p._replace(debug=atoi(value)),
    b"MAX_ERROR": lambda p, value: p._replace(max_error=atoi(value)),
    b"CUTOFF_LEN": lambda p, value: p._replace(cutoff_length=atoi(value)),
    b"LABELED": lambda p, value: p._replace(labelled=atoi(value) != 0),
    b"DELETE_LABEL": lambda p, value: p._replace(delete_labels=(*p.delete_labels, value)),
    b"DELETE_LABEL_FOR_LENGTH": lambda p, value: p._replace(delete_labels_for_length=(*p.delete_labels_for_length, value)),
    b"QUOTE_LABEL": lambda p, value: p._replace(quote_labels=(*p.quote_labels, value)),
    b"EQ_LABEL": partial(_add_pair, "equal_labels"),
    b"EQ_WORD": partial(_add_pair, "equal_words"),
}
"""Keyword -> the parameters changed by a value; ``None`` if the keyword needs exactly two words and the value has not two."""

_PAIRS = frozenset({b"EQ_LABEL", b"EQ_WORD"})


def disco_keywords(data: bytes) -> tuple[dict[str, Any], tuple[tuple[int, str], ...], bytes]:
    r"""The settings of disco-dop's keywords, remarks on those that are no settings here, and the text without their lines.

    The keywords are those of its manual, command ``eval``.

    >>> settings, remarks, rest = disco_keywords(b"DELETE_WORD um\nDISC_ONLY 1\nDELETE_LABEL TOP\n")
    >>> settings
    {'delete_words': frozenset({'um'})}
    >>> remarks
    ((2, 'DISC_ONLY: not read here; constituents with gaps alone are the metric discontinuous'),)
    >>> rest
    b'\n\nDELETE_LABEL TOP\n'
    """
    settings: dict[str, Any] = {}
    remarks: list[tuple[int, str]] = []
    lines = data.split(b"\n")
    for number, line in enumerate(lines, start=1):
        keyword, _, rest = line.strip().partition(b" ")
        value = rest.strip()
        if keyword == b"DELETE_WORD" and value:
            settings["delete_words"] = settings.get("delete_words", frozenset[str]()) | {value.decode("utf-8", "replace")}
        elif keyword == b"DELETE_ROOT_PRETERMS":
            settings["delete_root_preterminals"] = atoi(value) != 0
        elif meant := advice_on("keyword of disco-dop").get(keyword.decode("latin-1")):
            if atoi(value):
                remarks.append((number, f"{keyword.decode()}: not read here; {meant}"))
        else:
            continue
        lines[number - 1] = b""
    return settings, tuple(remarks), b"\n".join(lines)
