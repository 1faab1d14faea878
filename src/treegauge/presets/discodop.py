"""Keywords that disco-dop adds to EVALB's parameter files (its manual, command ``eval``): settings here, or metrics.

>>> settings, remarks, rest = disco_keywords(b"DELETE_WORD um\\nDISC_ONLY 1\\nDELETE_LABEL TOP\\n")
>>> settings
{'delete_words': frozenset({'um'})}
>>> remarks
((2, 'DISC_ONLY: not read here; constituents with gaps alone are the metric discontinuous'),)
>>> rest
b'\\n\\nDELETE_LABEL TOP\\n'
"""

from __future__ import annotations

from typing import Any

from treegauge.presets.prm import atoi

__all__ = ["disco_keywords"]

_ELSEWHERE = {
    b"DISC_ONLY": "constituents with gaps alone are the metric discontinuous",
    b"LA": "leaf-ancestor scores are the metric leaf-ancestor",
    b"TED": "there is no tree-edit distance",
    b"DEP": "dependencies are not scored",
}


def disco_keywords(data: bytes) -> tuple[dict[str, Any], tuple[tuple[int, str], ...], bytes]:
    """The settings that such keywords make, remarks on those that are no settings here, and the text without their lines."""
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
        elif keyword in _ELSEWHERE:
            if atoi(value):
                remarks.append((number, f"{keyword.decode()}: not read here; {_ELSEWHERE[keyword]}"))
        else:
            continue
        lines[number - 1] = b""
    return settings, tuple(remarks), b"\n".join(lines)
