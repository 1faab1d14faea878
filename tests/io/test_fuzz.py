"""Readers given anything at all: a result or one of our errors, never another exception; and no tree is lost.

``python tests/fuzz.py`` tries as many more as one likes.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
import tempfile
import zlib
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from tests.io.test_styles import SAMPLES

import treegauge.io.sources as text_module
from treegauge.errors import InputError, WriteError
from treegauge.io import ReadOptions, Source, check, read, stream
from treegauge.io.formats import FORMATS, READABLE
from treegauge.io.sources import ON_ERROR
from treegauge.io.validation import examine
from treegauge.presets.treebanks import TREEBANKS
from treegauge.trees import Tree, Treebank
from treegauge.trees.notation import parse_all

pytestmark = pytest.mark.slow

BRACKETED = """\
( (S (NP-SBJ-1 (DT The) (NN caf\u00e9) ) (VP (VBD fell) (NP (-NONE- *-1) ) (-LRB- -LRB-) (: --) (-RRB- -RRB-)) (. .) ))
(S
  (NP (NNP Donaudampfschifffahrtsgesellschaft) (NNP Donaudampfschifffahrt))
  (VP (VBZ is) (ADJP-PRD##lem=x|y=z## (JJ long))))
() (())
(TOP (NP the cat) (X) (NP ( a) (FRAG -LSB-)))(A a)
"""
EXPORT = """\
#FORMAT 3
#BOT EDITOR
1\tSkut\tWojciech
#EOT EDITOR
#BOS 1 2 9 1 %% HEADLINE
Das\t\tPDS\tNom.Sg\tSB\t500
(\t\t$(\t--\t--\t0
ist\tVAFIN\t--\tHD\t500\tx\t501
gut\tADJD\t--\tPD\t501\t%% c
.\t$.\t--\t--\t0
#500\tS\t--\t--\t0
#501\tAP\t--\tPD\t500
#EOS 1
#BOS 2 0 0 0 %% no VROOT
Ja\tPTKANT\t--\t--\t0
#EOS 2
"""
TIGER = """\
<?xml version="1.0" encoding="UTF-8"?>
<corpus id="T"><body>
<s id="s1"><graph root="s1_VROOT"><terminals>
<t id="s1_1" word="Ross" lemma="Ross" pos="NE" morph="Nom.Sg" case="nom"/>
<t id="s1_2" word="," pos="$," />
<t id="s1_3" word="sagt &amp; geht" pos="VVFIN"><secedge label="HD" idref="s1_500"/></t></terminals>
<nonterminals>
<nt id="s1_500" cat="S"><edge label="SB" idref="s1_1"/><edge label="HD" idref="s1_3"/></nt>
<nt id="s1_VROOT" cat="VROOT"><edge label="--" idref="s1_500"/><edge label="--" idref="s1_2"/></nt>
</nonterminals></graph></s>
<s id="s2"><graph root="a"><t id="a" word="Ja" pos="PTKANT"/></graph></s>
</body></corpus>
"""
DISCBRACKET = """\
(VROOT (S (VP-OC (NP-OA (ART 0=Den) (NN 1=Apfel)) (VVPP 4=gegessen)) (VAFIN 2=hat) (NE 3=Anna)) ($. 5=.))
(S (X 2=c 0=a) (Y 1=-LRB- 3==))
()
"""
ALPINO = """\
<?xml version="1.0" encoding="UTF-8"?>
<treebank><alpino_ds version="1.3">
<node begin="0" end="4" cat="top" rel="top"><node begin="0" end="3" cat="smain" rel="--">
<node begin="0" end="3" cat="inf" rel="vc" index="1">
<node begin="0" end="1" pos="pron" rel="obj1" lemma="dat" word="Dat" index="2"/>
<node begin="2" end="3" pos="verb" rel="hd" lemma="doen" pt="ww" word="doen"/><node rel="su" index="2"/></node>
<node begin="1" end="2" pos="verb" rel="hd" word="wil &amp;"/></node><node begin="3" end="4" pos="punct" rel="--" word="."/></node>
<sentence sentid="x1">Dat wil doen .</sentence></alpino_ds></treebank>
"""
COLUMNS = "Confidence NN B-NP\nin IN B-PP\n-LRB- ( O\nthe DT I-NP\n\n\npound\tNN B-NP\n. . O\n"
SINICA = """\
#1:1.[0] S(agent:NP(Head:Nhaa:\u4ed6)|time:Dd:\u5e38\u5e38|Head:VA11:\u4f86)#\u3002(PERIODCATEGORY)

#2:1.[0] NP(property:VH11:good|Head:Nab:rain)#
"""
JSON_LINES = """\
{"id": 1, "parse": "(S (NP (DT the) (NN rain)) (VP (VBD fell)))", "out": [{"text": "(S (N a"}]}
{"id": 2, "parse": "", "p": -1.5e3}

{"parse": null, "w": "\\ud83d\\ude00"}
{"parse": "(S 0=a 1=-LRB-)"}
"""
HISTORICAL = """\
/~* a comment *~/
( (CODE <P_1>) (IP-MAT (NP-SBJ (PRO-N hann-hann)) (VBDI kom-koma) (CP (C 0)) (, ,-,)) (ID 1150.FIRST,.1))
( (IP-MAT=1 (NP-SBJ *con*) (BEPI er-vera) ($= $=) (. .)) (ID 1150.FIRST,.2))
"""
COMMENTED = BRACKETED.replace("() (())", "# a comment (\n(N #)")
FLAT = "(S (NP (DT the) (NN rain)) (VP (VBD fell)))\n\n(FRAG (UH no)) (FRAG (UH yes))\n()\n"
SEEDS: dict[str, list[bytes]] = {
    "bracketed": [text.encode() for text in (BRACKETED, BRACKETED.replace("\n", "\r\n"), COMMENTED, FLAT, FLAT, "")],
    "export": [EXPORT.encode(), EXPORT.replace("#FORMAT 3\n", "").encode()],
    "tigerxml": [TIGER.encode(), TIGER.replace("<s id=", "<!-- c -->\n<s id=").encode()],
    "conll2000": [COLUMNS.encode()],
    "discbracket": [DISCBRACKET.encode()],
    "alpino": [ALPINO.encode()],
    "sinica": [SINICA.encode()],
    "jsonl": [JSON_LINES.encode()],
    "brackets": [b"((the cat) (sat down))\n(((a b) c) d)\nyes\n\n(a b) c\n"],
}
STYLED = [text.encode() for text in (HISTORICAL, HISTORICAL, BRACKETED)]
EVERYTHING = [seed for seeds in SEEDS.values() for seed in seeds] + [
    *STYLED,
    BRACKETED.encode("utf-16"),
    gzip.compress(FLAT.encode()),
]
TOKENS = [
    *(b"(", b")", b" ", b"\n", b"\t", b"\r", b"\0", b"\xff", b"\xc3", b"\xc3\xa9", b"\xc2\x85"),
    *(b"\xef\xbb\xbf", b"\xff\xfe", b"\x1f\x8b"),
    *(b"-LRB-", b"-RRB-", b"()", b"( x)", b"(X)", b"\n(", b")\n", b"longer-than-eight-bytes"),
    *(b"#", b"%%", b"#BOS 1\n", b"#EOS 1\n", b"#500\tX\t--\t--\t0\n", b"#FORMAT 4\n", b"--", b"##", b"|", b"=", b"0", b"500"),
    *(b"<", b">", b"&", b"&amp;", b'"', b"<s id='x'>", b"</s>", b"<t id='q' word='w'/>", b"<!DOCTYPE a [<!ENTITY b 'c'>]>"),
    *(b"0=", b"1=a", b"<node begin='7' word='w'/>", b"</node>", b"<alpino_ds>", b"<?treegauge no-vroot?>"),
    *(b" O\n", b" B-NP\n", b" I-NP\n", b"\n\n"),
    *(b"[0]", b":", b"|", b")#", b"{", b"}", b"[" * 5000, b'"parse": ', b"\\ud800", b"null", b"1e999", b"9" * 5000),
    *(b"(CODE <x>)", b"(ID 1)", b"*con*", b"-0", b"/~*", b"*~/", b"<S ID=1>", b"</S>", b"$"),
]

MAGIC = (b"\x1f\x8b", b"BZh", b"\xff\xfe", b"\xfe\xff", b"\xfd7zXZ\0")
"""How compressed files and those in UTF-16 begin."""


def mutated(random_: random.Random, seeds: list[bytes]) -> bytes:
    """One of some files (mostly), with some bytes changed."""
    data = bytearray(random_.choice(seeds if random_.random() < 0.9 else EVERYTHING))
    for _ in range(random_.choice((0, 1, 1, 1, 2, 3, 10))):
        start = random_.randint(0, len(data))
        end = min(len(data), start + random_.choice((0, 1, 1, 2, 5, 20, 100)))
        match random_.randrange(7):
            case 0:
                data[start:end] = b""
            case 1:
                data[start:start] = random_.choice(TOKENS)
            case 2:
                data[start:end] = bytes(random_.randrange(256) for _ in range(end - start))
            case 3:
                data[start:start] = data[start:end] * random_.choice((1, 2, 30))
            case 4:
                other = random_.choice(EVERYTHING)
                cut = random_.randint(0, len(other))
                data[start:end] = other[cut : cut + 60]
            case 5:
                data[start:end] = random_.choice(TOKENS)
            case _:  # a letter for a letter, which breaks least
                data[start : start + 1] = random_.choice((b"x", b"-", b"1", b"\xc3\x9f", b" "))
    return bytes(data[: random_.randint(0, len(data))] if random_.random() < 0.05 else data)


def examined(data: bytes, options: ReadOptions, name: str = "x") -> Treebank | None:
    """What all ways of reading agree on: a treebank, or None for an error."""
    source = Source(name, data)
    try:
        bank = read(source, options)
    except InputError:
        bank = None
    found = list(check(source, options))
    assert any(isinstance(item, InputError) for item in found) == (bank is None)
    for item in found:
        if isinstance(item, Treebank):
            assert item == Treebank.from_trees(list(item)), "the columns are those of the trees"
        else:
            assert str(item).startswith(name), "an error says where"
    if bank is not None:
        blocks = list(stream(source, options))
        assert sum(map(len, blocks)) == len(bank)
        assert [tree for block in blocks for tree in block] == list(bank)
        assert [tree for item in found if isinstance(item, Treebank) for tree in item] == list(bank)
    return bank


COMPRESS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def read_compressed(data: bytes, suffix: str, options: ReadOptions) -> list[Tree] | None:
    """The trees of a compressed file, or None for an error."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "packed"
        path.write_bytes(data)
        try:
            return list(read(Source(f"x{suffix}", stored=str(path)), options))
        except InputError:
            return None


def agrees_with_the_slow_reader(data: bytes, bank: Treebank | None) -> None:
    """Bracketed text, read another way: the same trees, or both refuse."""
    try:
        expected = parse_all(data.removeprefix(b"\xef\xbb\xbf").decode("utf-8"))
    except (InputError, UnicodeDecodeError):
        expected = None
    if b"\0" in data or data.startswith(MAGIC):
        expected = None
    assert (None if bank is None else list(bank)) == expected


def comes_back(bank: Treebank) -> None:
    for known in FORMATS.values():
        if known.writer is None:
            continue
        try:
            text = b"".join(known.writer([bank]))
        except WriteError:
            continue
        reader = {"pretty": "bracketed", "export4": "export"}.get(known.name, known.name)
        assert list(read(Source("x", text), ReadOptions(format=reader, features=True, secondary=True))) == list(bank)


def survives(data: bytes, options: ReadOptions) -> None:
    """Whatever is done with broken trees, the file is read or refused, and every block is sound."""
    with suppress(InputError):  # if the whole file is refused
        for block in stream(Source("x", data), options):
            assert block == Treebank.from_trees(list(block)), "the columns are those of the trees"


def try_mutated_file(random_: random.Random, thorough: float = 1.0) -> None:
    """A mutated file, read once and, with probability ``thorough``, in all ways, which must agree."""
    name = random_.choice(["auto", *READABLE, "bracketed"])
    data = mutated(random_, SEEDS.get(name, EVERYTHING))
    options = ReadOptions(
        format=name,
        encoding=random_.choice(["utf-8"] * 8 + ["latin-1", "utf-16"]),
        lines=random_.random() < 0.2,
        comment=random_.choice(["", "", "#"]),
        functions=random_.random() < 0.8,
        features=random_.random() < 0.5,
        attach_punctuation=random_.random() < 0.7,
        secondary=random_.random() < 0.5,
    )
    style = random_.choice(["", "", *TREEBANKS])
    styled = mutated(random_, STYLED) if style and random_.random() < 0.5 else data
    with failing_with(data, styled, options):
        field = random_.choice(["", "out.0.text"])
        survives(styled, replace(options, on_error=random_.choice(ON_ERROR), field=field, treebank=style))
        if random_.random() > thorough:
            return
        bank = examined(data, options)
        if options.format == "bracketed" and options.encoding == "utf-8" and not options.lines and not options.comment:
            agrees_with_the_slow_reader(data, bank)
        if bank is not None:
            comes_back(bank)
        if random_.random() < 0.1:
            suffix = random_.choice(list(COMPRESS))
            packed = COMPRESS[suffix](data)
            expected = None if bank is None else list(bank)
            assert read_compressed(packed, suffix, options) == expected, "compression changes nothing"
            read_compressed(mutated(random_, [packed]), suffix, options)


def try_styled_file(random_: random.Random, thorough: float = 1.0) -> None:
    """A mutated treebank in its style, by some policy for broken trees: nothing is made up, and what was read is read again."""
    treebank = random_.choice(list(SAMPLES))
    name, text, _ = SAMPLES[treebank]
    encoding = TREEBANKS[treebank].encoding or "utf-8"
    data = mutated(random_, [text.encode(), (text * 3).encode(), text.encode(encoding, "replace")])
    options = ReadOptions(
        treebank=random_.choice([treebank] * 6 + list(TREEBANKS)),
        on_error=random_.choice(ON_ERROR),
        encoding=random_.choice(["auto", "auto", "utf-8", f"*.psd=utf-8,{encoding}"]),
        functions=random_.random() < 0.8,
        features=random_.random() < 0.5,
        lines=random_.random() < 0.1,
    )
    with failing_with(data, options):
        if random_.random() > thorough:
            survives(data, options)
            return
        bank = examined(data, options, name)
        report = examine(Source(name, data), options)
        assert report.n_words <= len(data)
        if bank is not None:
            assert bank.n_tokens <= len(data), "a word has a byte at least"
            assert bank.n_nodes <= 2 * len(data), "a bracket has a byte, and a trace gets one more node"
            if random_.random() < 0.1:
                comes_back(bank)


@contextmanager
def failing_with(*what: object) -> Generator[None]:
    """A context that reads files in chunks of some size, chosen by their content, and whose failures show that content."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_module, "CHUNK_BYTES", (4, 7, 50, 1 << 20)[zlib.crc32(repr(what).encode()) % 4])
        try:
            yield
        except Exception as error:
            raise AssertionError(f"chunks of {text_module.CHUNK_BYTES}, {what}") from error


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("try_one", [try_mutated_file, try_styled_file])
def test_mutated_files(try_one: Callable[[random.Random], None], seed: int) -> None:
    random_ = random.Random(seed)
    for _ in range(1000):
        try_one(random_)


PIECES = [
    "(",
    ")",
    " ",
    "\n",
    "a",
    "NP",
    "-LRB-",
    "é",
    "#",
    "( ",
    "(X y)",
    "\n(",
    "\r\n",
    "\t",
    "B-NP",
    " O\n",
    "\x1c",
    "\u2028",
    "\xa0",
]


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join), st.integers(1, 60))
def test_bracketed_texts(text: str, chunk: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_module, "CHUNK_BYTES", chunk)
        data = text.encode()
        agrees_with_the_slow_reader(data, examined(data, ReadOptions(format="bracketed")))
        examined(data, ReadOptions(format="bracketed", lines=True, comment="#"))


@given(st.binary(max_size=60), st.sampled_from(["auto", *READABLE]))
def test_binary_junk(data: bytes, name: str) -> None:
    examined(data, ReadOptions(format=name))
