"""The compiled scanner gives the columns that the NumPy reader gives, and the same errors, whatever the text and however it is cut.

``TREEGAUGE_FUZZ=200000 pytest -n 2 tests/io/test_scanning.py`` tries that many texts instead of a few thousand, in parts that
run side by side.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

import treegauge.io.sources as text_module
from treegauge import compiled
from treegauge.errors import InputError
from treegauge.io.bracketed import AnyNames, bracketed_parts
from treegauge.io.bracketed_columns import Names, join_parts
from treegauge.io.scanning import ScannedNames, scanner
from treegauge.io.sources import ReadOptions, Source, Text
from treegauge.trees.bracketed import restore_label, restore_word
from treegauge.trees.columns import TreebankHash
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


@pytest.fixture(scope="module")
def engine() -> compiled.Kernels:
    before = os.environ.get("TREEGAUGE_KERNELS")
    os.environ["TREEGAUGE_KERNELS"] = "now"
    found = scanner()
    os.environ.pop("TREEGAUGE_KERNELS")
    if before is not None:
        os.environ["TREEGAUGE_KERNELS"] = before
    if found is None:
        pytest.skip("there is no folder to store kernels in")
    return found


def _read(text: bytes, options: ReadOptions, names: AnyNames) -> tuple[Treebank, str]:
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
def test_same_columns_and_errors(part: int, engine: compiled.Kernels, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = random.Random(5 + 1000 * part)
    seen = {"trees": 0, "errors": 0, "problems": 0}
    inputs = range(part, INPUTS, PARTS)
    for number in inputs:
        text = _text(generator)
        monkeypatch.setattr(text_module, "CHUNK_BYTES", generator.choice([7, 30, 200, 5 << 17]))
        options = ReadOptions(
            on_error=generator.choice(["stop", "stop", "parse-fails", "repair"]),
            lines=generator.random() < 0.1,
            comment=generator.choice(["", "", "", "#"]),
        )
        ours, theirs = _read(text, options, ScannedNames(engine)), _read(text, options, Names())
        assert ours[1] == theirs[1], (number, text, options)
        assert ours[0] == theirs[0], (number, text, options)
        assert [ours[0].place(i) for i in range(len(ours[0]))] == [theirs[0].place(i) for i in range(len(theirs[0]))]
        assert ours[0].problems() == theirs[0].problems(), (number, text, options)
        seen["trees"] += len(ours[0])
        seen["errors"] += bool(ours[1])
        seen["problems"] += len(ours[0].problems())
    assert min(seen.values()) > len(inputs) // 20, seen


def test_numbers_are_those_of_the_hash(engine: compiled.Kernels, monkeypatch: pytest.MonkeyPatch) -> None:
    """Strings are numbered by first use, so that columns can be hashed as they are; also beside blocks that NumPy has read."""
    monkeypatch.setattr(text_module, "CHUNK_BYTES", 64)
    generator = random.Random(6)
    options = ReadOptions(on_error="parse-fails")
    for _ in range(200):
        text = _text(generator) + b"\n" + _text(generator)
        expected, error = _read(text, options, Names())
        if error:
            continue
        names, digest, known = ScannedNames(engine), TreebankHash(), (0, 0)
        for part in bracketed_parts(Text(Source("x.mrg", text), options), options, names):
            labels = [_spelled(label) for label in names.labels()[known[0] :]]
            words = [_spelled(word) for word in names.vocabulary()[known[1] :]]
            digest.update_numbered(part.columns, part.n_nodes, part.n_tokens, labels, words)
            known = names.label_strings.count, names.word_strings.count
        assert digest.hexdigest() == expected.sha256(), text


def _spelled(string: str) -> bytes:
    encoded = string.encode()
    return b"%d:%b" % (len(encoded), encoded)


def test_spelling_of_new_strings(engine: compiled.Kernels) -> None:
    names = ScannedNames(engine)
    text = b"(S (NN a-LRB-b) (-LRB- -RRB-LRB-) (NN caf\xc3\xa9) (X-LRB- " + b"y" * 1234 + b"))\n(T ())"
    assert names.scan(text, "", 1, is_last=True, may_nest=True) is not None
    for strings, given, restore in (
        (names.label_strings, names.labels(), restore_label),
        (names.word_strings, names.vocabulary(), restore_word),
    ):
        assert b"".join(strings.with_lengths(0, strings.count, restore)) == b"".join(map(_spelled, given))


def test_deep_and_long_text(engine: compiled.Kernels) -> None:
    deep = b"(A " * 100_000 + b"(B b)" + b")" * 100_000
    wide = b"(S " + b" ".join(b"(N w%d)" % number for number in range(50_000)) + b")"
    for text in (deep, wide, deep + b"\n" + wide):
        assert _read(text, ReadOptions(), ScannedNames(engine)) == _read(text, ReadOptions(), Names())


@pytest.mark.slow
def test_a_damaged_file_is_as_if_it_were_not_there(tmp_path: Path) -> None:
    """Cut short or with a wrong bit, stored code is never mapped: it is compiled again."""
    program = "from treegauge.io.scanning import scanner; print(scanner() is not None)"

    def run(mode: str) -> str:
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "TREEGAUGE_KERNELS": mode}
        return subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True).stdout

    assert run("never") == "False\n"
    assert not list(tmp_path.iterdir())
    assert run("now") == "True\n"
    (stored,) = tmp_path.glob("*.kernels")
    good = stored.read_bytes()
    for bad in (good[: len(good) // 2], good[:-1] + bytes([good[-1] ^ 1]), b""):
        stored.write_bytes(bad)
        with pytest.warns(compiled.DamagedKernelCache):
            assert compiled._read_sealed(stored) is None
        assert compiled._load(stored) is None
        stored.write_bytes(bad)
    assert run("now") == "True\n"
    assert compiled._load(stored) is not None


def test_without_a_folder_there_is_no_scanner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(blocked / "folder"))
    assert compiled._folder() is None
