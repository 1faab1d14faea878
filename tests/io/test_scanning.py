"""The compiled scanner gives the columns that the NumPy reader gives, and the same errors, whatever the text and however it is cut.

``TREEGAUGE_FUZZ=200000 pytest -n 2 tests/io/test_scanning.py`` tries that many texts instead of a few thousand, in parts that
run side by side.
"""

from __future__ import annotations

import os
import random
from contextlib import suppress

import pytest

pytest.importorskip("numba", reason="kernels need the extra [parse]")

import treegauge.io.sources as text_module
from treegauge.errors import InputError
from treegauge.io.bracketed import bracketed_parts
from treegauge.io.bracketed_columns import Names, join_parts
from treegauge.io.sources import ReadOptions, Source, Text
from treegauge.scoring.large_files import _new_names, _NotPlain
from treegauge.trees.columns import TreebankHash
from treegauge.trees.notation import restore_label, restore_word
from treegauge.trees.treebank import Treebank

INPUTS = int(os.environ.get("TREEGAUGE_FUZZ", "2000"))
PARTS = -(-INPUTS // 10_000)
PIECES = [
    *(b"(", b")", b"(", b")", b" ", b" ", b"\n", b"\t", b"\r\n", b"\v", b"(S ", b"(NP (NN ", b"(NN dog)", b"(VP (V ran))", b"))"),
    *(b"( ", b"()", b"( word)", b"( NP (N a))", b"(X)", b"(A(B b)(C c))", b"((", b"-LRB-", b"(-LRB- -LRB-)", b"-RRB-LRB-"),
    *(b"word", b"seven77", b"eight888", b"nine99999", b"Donaudampfschifffahrtsgesellschaft", b"caf\xc3\xa9", b"\xe2\x80\x9cso"),
    *(b"\xff", b"\xc3", b"\xa9", b"\x01", b"\x00", b"# no (", b"\n(", b"\n(S (NP (DT the) (NN cat)) (VP (VBD sat)))\n", b"''"),
    *(b"(NP (DT the)\n  (NN mat))\n", b"(S (-NONE- *))", b"x" * 70),
]  # fmt: skip
WHOLE = [piece for piece in PIECES if piece.count(b"(") == piece.count(b")") and piece.strip() and b"(" in piece]


def _read(text: bytes, options: ReadOptions, names: Names) -> tuple[Treebank, str]:
    """All trees up to the first error, and that error."""
    parts = []
    try:
        for part in bracketed_parts(Text(Source("x.mrg", text), options), options, names):
            parts.append(part)
    except InputError as error:
        return join_parts(parts, names), str(error)
    return join_parts(parts, names), ""


def _text(generator: random.Random) -> bytes:
    """Text that is mostly right, or anything."""
    if generator.random() < 0.6:
        trees = [generator.choice(WHOLE) for _ in range(generator.randrange(1, 12))]
        text = generator.choice([b"\n", b" ", b""]).join(trees)
    else:
        text = b"".join(generator.choice(PIECES) for _ in range(generator.randrange(1, 25)))
    if generator.random() < 0.3:
        place = generator.randrange(len(text) + 1)
        text = text[:place] + generator.choice(PIECES) + text[place + generator.randrange(2) :]
    return text


@pytest.mark.parametrize("part", range(PARTS))
def test_same_columns_and_errors(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = random.Random(5 + 1000 * part)
    seen = {"trees": 0, "errors": 0, "problems": 0}
    inputs = range(part, INPUTS, PARTS)
    for number in inputs:
        text = _text(generator)
        monkeypatch.setattr(text_module, "CHUNK_BYTES", generator.choice([7, 30, 200, 5 << 17]))
        options = ReadOptions(
            encoding="utf-8",
            on_error=generator.choice(["stop", "stop", "parse-fails", "repair"]),
            lines=generator.random() < 0.1,
            comment=generator.choice(["", "", "", "#"]),
        )
        ours, theirs = _read(text, options, Names(compiled=True)), _read(text, options, Names())
        assert ours[1] == theirs[1], (number, text, options)
        assert ours[0] == theirs[0], (number, text, options)
        assert [ours[0].place(i) for i in range(len(ours[0]))] == [theirs[0].place(i) for i in range(len(theirs[0]))]
        assert ours[0].problems() == theirs[0].problems(), (number, text, options)
        seen["trees"] += len(ours[0])
        seen["errors"] += bool(ours[1])
        seen["problems"] += len(ours[0].problems())
    assert min(seen.values()) > len(inputs) // 20, seen


def test_numbers_are_those_of_the_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    """Strings are numbered by first use, so that columns can be hashed as they are; where they are not, the hash is not made so."""
    monkeypatch.setattr(text_module, "CHUNK_BYTES", 64)
    generator = random.Random(6)
    options = ReadOptions(encoding="utf-8", on_error="parse-fails")
    n_same = 0
    for _ in range(200):
        text = _text(generator) + b"\n" + _text(generator)
        expected, error = _read(text, options, Names())
        if error:
            continue
        names, digest, known = Names(compiled=True), TreebankHash(), (0, 0)
        with suppress(_NotPlain):
            for part in bracketed_parts(Text(Source("x.mrg", text), options), options, names):
                labels = _new_names(part.columns.label, names.label_numbers, known[0], restore_label)
                words = _new_names(part.columns.word, names.word_numbers, known[1], restore_word)
                digest.update_numbered(part.columns, part.n_nodes, part.n_tokens, labels, words)
                known = len(names.label_numbers), len(names.word_numbers)
            assert digest.hexdigest() == expected.sha256(), text
            n_same += 1
    assert n_same > 100


def test_deep_and_long_text() -> None:
    deep = b"(A " * 100_000 + b"(B b)" + b")" * 100_000
    wide = b"(S " + b" ".join(b"(N w%d)" % number for number in range(50_000)) + b")"
    for text in (deep, wide, deep + b"\n" + wide):
        assert _read(text, ReadOptions(), Names(compiled=True)) == _read(text, ReadOptions(), Names())
