"""The compiled scanner gives the columns that the NumPy reader gives, and the same errors, whatever the text and however it is cut.

``python tests/fuzz.py`` tries as many more as one likes.
"""

from __future__ import annotations

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


def try_text(generator: random.Random) -> tuple[Treebank, str]:
    """A text that both readers must read alike: its trees up to the first error, and that error."""
    text = _text(generator)
    options = ReadOptions(
        encoding="utf-8",
        on_error=generator.choice(["stop", "stop", "parse-fails", "repair"]),
        lines=generator.random() < 0.1,
        comment=generator.choice(["", "", "", "#"]),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_module, "CHUNK_BYTES", generator.choice([7, 30, 200, 5 << 17]))
        (ours, our_error), (theirs, their_error) = _read(text, options, Names(compiled=True)), _read(text, options, Names())
    assert our_error == their_error, (text, options)
    assert ours == theirs, (text, options)
    assert [ours.place(i) for i in range(len(ours))] == [theirs.place(i) for i in range(len(theirs))]
    assert ours.problems() == theirs.problems(), (text, options)
    return ours, our_error


def test_same_columns_and_errors() -> None:
    generator = random.Random(5)
    banks, errors = zip(*[try_text(generator) for _ in range(2000)], strict=True)
    assert min(sum(map(len, banks)), sum(map(bool, errors)), sum(len(bank.problems()) for bank in banks)) > 100


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
