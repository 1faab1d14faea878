"""Faults that must be survived: files that are damaged, huge or hostile, full disks, and too little memory.

Each of these ended in a foreign exception, an internal error, a message that did not say what is wanted, a destroyed file or
gigabytes of memory once.
"""

from __future__ import annotations

import io
import json
import os
import resource
import sqlite3
import subprocess
import sys
import tracemalloc
import zipfile
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from treegauge.cli import main
from treegauge.data import write_examples
from treegauge.engines.workers import Cluster
from treegauge.errors import EngineError, FormatError, InputError, ModelError, TreegaugeError, UnknownName, WriteError
from treegauge.grammar import PCFG, load_model, save_model
from treegauge.grammar.grammar_text import read_file
from treegauge.humancheck.exchange import import_file
from treegauge.humancheck.store import Store
from treegauge.io import archive, bracketed, read, sources, write
from treegauge.io.bracketed_columns import Events, find_events
from treegauge.io.sources import ReadOptions, Source
from treegauge.io.validation import examine
from treegauge.io.xml import XmlHandler
from treegauge.parsing import chart, read_charts, write_charts
from treegauge.parsing.output import RecordFile
from treegauge.parsing.parser import Parser, Sentence
from treegauge.presets import load_preset, preset_text
from treegauge.scoring.evaluation import score
from treegauge.scoring.result import Scores
from treegauge.scoring.signature import Signature
from treegauge.trees import Treebank

GRAMMAR_TEXT = 'S -> S S [0.4] | "a" [0.6]'
GRAMMAR = PCFG.parse(GRAMMAR_TEXT)


def run(*words: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """A command. With ``preexec_fn``, which may limit what can be written, without byte code, of which it would store a part."""
    bare = ["-B"] if "preexec_fn" in options else []
    return subprocess.run([sys.executable, *bare, "-m", "treegauge", *words], capture_output=True, timeout=240, **options)


# Presets


PRESETS: dict[str, tuple[str, str]] = {
    "a truth value that is a number": ("labelled = 7", "labelled cannot be 7: it is true or false"),
    "a number that is a truth value": ("cutoff_length = true", "cutoff_length cannot be True: it is a number"),
    "a list that is text": ('delete_tags = "NP"', "delete_tags cannot be 'NP': it is a list of labels"),
    "numbers in a list": ("delete_tags = [1, 2]", "delete_tags cannot be [1, 2]: it is a list of labels"),
    "a pair of three": ('equal_labels = [["A", "B", "C"]]', "equal_labels cannot be [['A', 'B', 'C']]: it is a list of pairs"),
    "pairs that are none": ("equal_labels = [1]", "equal_labels cannot be [1]: it is a list of pairs"),
    "a table": ("[labelled]\nx = 1", "labelled cannot be {'x': 1}: it is true or false"),
    "a date": ("cutoff_length = 1979-05-27", "cutoff_length cannot be datetime.date(1979, 5, 27): it is a number"),
    "a number of 5,000 digits": (f"cutoff_length = {'9' * 5000}", "not a TOML file: "),
    "lists in lists": (f"delete_tags = {'[' * 20_000}{']' * 20_000}", "not a preset: lists in lists, too deep to read"),
    "a base that is not a name": ("base = 3", "base is the name of a preset, not 3"),
    "a base with a zero byte": ('base = "a\\u0000b.toml"', "a\\0b.toml: the preset cannot be read: "),
}
"""What is wrong, and what is said of it."""


@pytest.mark.parametrize(("text", "problem"), PRESETS.values(), ids=PRESETS)
def test_a_preset_that_is_wrong_is_an_error_of_ours(text: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(InputError) as error:
        load_preset(path)
    assert problem in str(error.value)
    assert error.value.path in (str(path), "a\\0b.toml")


def test_a_preset_that_builds_on_itself_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.toml").write_text('base = "b.toml"')
    Path("b.toml").write_text('base = "a.toml"')
    with pytest.raises(FormatError, match=r"builds on itself: a.toml -> b.toml -> a.toml"):
        load_preset("a.toml")


def test_presets_that_build_on_each_other_without_end_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for number in range(2000):
        Path(f"{number}.toml").write_text(f'base = "{number + 1}.toml"')
    with pytest.raises(FormatError, match=r"0.toml: the preset builds on more than 50 others"):
        load_preset("0.toml")
    Path("40.toml").write_text("cutoff_length = 7")
    assert load_preset("0.toml").cutoff_length == 7


@pytest.mark.parametrize("name", ["a\0b.prm", f"{'x' * 5000}.toml", "no/such.prm"])
def test_names_of_presets_that_cannot_be(name: str) -> None:
    for function in (load_preset, preset_text):
        with pytest.raises(InputError, match="the preset cannot be read"):
            function(name)


def test_an_overlong_name_is_cut_short_in_the_message() -> None:
    with pytest.raises(UnknownName, match=r"unknown preset 'x{40,80}\.\.\.'; valid: collins"):
        load_preset("x" * 5000)


def test_a_preset_that_was_edited_is_read_again(tmp_path: Path) -> None:
    base, path = tmp_path / "base.toml", tmp_path / "p.toml"
    base.write_text("cutoff_length = 1")
    path.write_text(f'base = "{base}"')
    assert load_preset(path).cutoff_length == 1
    base.write_text("cutoff_length = 2")
    assert load_preset(path).cutoff_length == 2


# Model files


def resealed(path: Path, **parts: bytes) -> Path:
    """A model with some parts replaced, and the sha256 that belongs to it."""
    save_model(GRAMMAR, path)
    with zipfile.ZipFile(path) as old:
        contents = {name: old.read(name) for name in old.namelist()} | {
            name.replace("__", "."): data for name, data in parts.items()
        }
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        new.comment = b"sha256 of what stands before: " + b"0" * 64
        for name, data in contents.items():
            new.writestr(name, data)
    body = made.getvalue()[:-64]
    path.write_bytes(body + archive._seal(body))
    return path


def npy(header: str, data: bytes = b"") -> bytes:
    text = header.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data


def header(kind: str, shape: str) -> str:
    return f"{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}}}"


HEADERS = {
    "more than there is": (header("'<i4'", "(200_000_000,)"), "16 bytes do not hold an array of int32 and shape (200000000,)"),
    "more than any memory": (header("'<i4'", "(99999999999,)"), "16 bytes do not hold an array of int32 and shape (99999999999,)"),
    "less than nothing": (header("'<i4'", "(-1,)"), "16 bytes do not hold an array of int32 and shape (-1,)"),
    "objects": (header("'O'", "(0,)"), "16 bytes do not hold an array of object and shape (0,)"),
    "no whole number": (header("'<i4'", "(1e9,)"), "(ValueError: shape is not valid"),
    "5,000 digits": (header(f"'{'9' * 5000}'", "(0,)"), "(SyntaxError: "),
    "a product": (header("[('a', '<i4')] * 9", "()"), "(ValueError: malformed node"),
    "brackets": ("(" * 5000, "Error: "),
    "half a header": ("{'descr': '<i4',", "Error: "),
    "a zero byte": ("\0", "(ValueError: "),  # followed by the words of NumPy or, before 3.11.4, of Python
    "nothing": ("", "(ValueError: Cannot parse header"),
    "a number with two parts": (header("'<c16'", "()"), "lhs is complex128 of shape (), not a column of whole numbers"),
}
"""What the header of an array says, and what is said of it."""


@pytest.mark.parametrize(("header", "problem"), HEADERS.values(), ids=HEADERS)
def test_headers_of_arrays_that_lie(header: str, problem: str, tmp_path: Path) -> None:
    path = resealed(tmp_path / "m.model", lhs__npy=npy(header, b"\0" * 16))
    tracemalloc.start()
    try:
        with pytest.raises(ModelError) as error:
            load_model(path)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert problem in str(error.value)
    assert most < 20 << 20, "nothing is allocated on a header's word"


@pytest.mark.parametrize(
    "array",
    [np.zeros((2, 2)), np.array(3), np.array([1 + 2j, 3]), np.array(["a", "b"]), np.array([None, 1]).astype("S4")],
    ids=["matrix", "number", "complex", "text", "bytes"],
)
@pytest.mark.parametrize("name", ["lhs", "arity", "rhs", "is_word", "probability"])
def test_columns_of_other_shapes_and_types(name: str, array: NDArray[Any], tmp_path: Path) -> None:
    content = io.BytesIO()
    np.save(content, array)
    with pytest.raises(ModelError) as error:
        load_model(resealed(tmp_path / "m.model", **{f"{name}__npy": content.getvalue()}))
    assert f"{name} is {array.dtype} of shape {array.shape}, not a column of " in str(error.value)


@pytest.mark.slow
@pytest.mark.parametrize(
    "parts",
    [
        lambda: {"model__json": b'{"schema":"treegauge-pcfg","version":1,"x":[' + b"[]," * 100_000_000 + b"[]]}"},
        lambda: {"is_word__npy": npy("{'descr': '|b1', 'fortran_order': False, 'shape': (300000000,)}", bytes(300_000_000))},
    ],
    ids=["document", "array"],
)
def test_a_small_file_that_unpacks_to_a_huge_one_is_refused_before(parts: Callable[[], dict[str, bytes]], tmp_path: Path) -> None:
    path = resealed(tmp_path / "m.model", **parts())
    assert path.stat().st_size < 1_000_000
    done = run("parse", str(path), os.devnull, preexec_fn=memory_of(1_500))
    assert (done.returncode, b"unpacks to more" in done.stderr) == (3, True), done.stderr


def memory_of(megabytes: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))


def test_files_that_are_not_there(tmp_path: Path) -> None:
    for function, problem in ((load_model, "cannot be read"), (read_file, "no such file")):
        with pytest.raises(InputError, match=problem):
            function(tmp_path / "missing")
    bank = Treebank.parse("(S a)")
    for name in ("a\0b", "\ud800"):
        for function in (load_model, read_file, Scores.load, read, lambda path: score(path, bank), lambda path: score(bank, path)):
            with pytest.raises(InputError, match="cannot be read"):
                function(name)
        with pytest.raises(WriteError, match="cannot be written: no file has a name with"):
            write(bank, name)


def test_what_was_refused_all_along_still_is(tmp_path: Path) -> None:
    """The neighbours of the faults above, which were never foreign exceptions: they show that nothing was loosened."""
    path = tmp_path / "p.toml"
    for text in (f'base = "{"x" * 5000}.toml"'.encode(), b"labelled = \xff"):
        path.write_bytes(text)
        with pytest.raises(InputError):
            load_preset(path)
    with pytest.raises(UnknownName, match=r"unknown preset 'a\\x00b'"):
        load_preset("a\0b")
    content = io.BytesIO()
    np.save(content, np.array([np.nan, np.inf]))
    with pytest.raises(ModelError, match="probability"):
        load_model(resealed(tmp_path / "m.model", probability__npy=content.getvalue()))


@pytest.mark.parametrize("number", ["²", "9" * 5000, "0", "-1", "x"])
@pytest.mark.parametrize(
    "words",
    ["score {t} {t} --jobs {n}", "score {t} {t} --engine local:{n}",
     "compare {t} a={t} b={t} --by-length --lengths 10,{n}", "freval {t} {t} --sizes 1,{n}"],
)  # fmt: skip
def test_numbers_that_are_none_are_refused(words: str, number: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Python takes ``²`` for a digit and then cannot make a number of it, nor of thousands of digits."""
    (tmp_path / "t.mrg").write_text("(S (N a))\n")
    with pytest.raises(SystemExit) as end:
        main([word.format(t=tmp_path / "t.mrg", n=number) for word in words.split()])
    said = capsys.readouterr().err
    assert (end.value.code, "internal" in said) == (2, False)
    assert len(said) < 1000


# Output


def test_examples_on_a_full_disk(tmp_path: Path) -> None:
    """The message names the file, and no half of it is left."""
    done = run("examples", str(tmp_path), preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000)))
    assert (done.returncode, b"train.mrg: cannot be written" in done.stderr) == (3, True), done.stderr
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("")
    with pytest.raises(WriteError, match="cannot be written"):
        write_examples(tmp_path / "file" / "folder")


@pytest.mark.parametrize("command", ["induce", "learn --nonterminals 20 --iterations 1"])
def test_a_full_disk_does_not_destroy_a_grammar(command: str, tmp_path: Path) -> None:
    """A disk that has room for everything but the grammar: for the checkpoint of ``learn``, which comes first, too."""
    trees, out = tmp_path / "t.mrg", tmp_path / "g.txt"
    trees.write_text("(S (NP (N a)) (VP (V b)))\n")
    words = [*command.split(), str(trees), "--format", "text", "-o", str(out)]
    assert run(*words).returncode == 0
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    others = max((len(data) for name, data in before.items() if name.endswith(".checkpoint")), default=0)
    assert others < len(before["g.txt"])
    limit = (others + len(before["g.txt"])) // 2
    done = run(*words, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    assert (done.returncode, b"g.txt" in done.stderr) == (3, True), done.stderr
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


FULL: dict[str, tuple[str, str]] = {
    "parse": ("parse own s.txt -o OUT", "out.mrg"),
    "parse, compressed": ("parse own s.txt -o OUT", "out.mrg.gz"),
    "consensus": ("consensus t.mrg t.mrg -o OUT", "out.mrg"),
    "decode": ("decode charts.npz -o OUT", "out.mrg"),
    "compare --figure": ("compare t.mrg A=t.mrg B=t.mrg --rounds 2 --figure OUT", "out.pdf"),
}
"""Commands that destroyed an earlier file on a full disk, or ended in an internal error, and the file that they write."""


@pytest.mark.parametrize(("words", "name"), FULL.values(), ids=FULL)
def test_a_full_disk_does_not_destroy_an_earlier_file(
    words: str, name: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Where the home folder cannot be written, matplotlib would need a temporary file.
    monkeypatch.setenv("MPLCONFIGDIR", str(tmp_path_factory.mktemp("matplotlib")))
    (tmp_path / "s.txt").write_text("the cat sleeps\n" * 40)
    (tmp_path / "t.mrg").write_text("(S (NP (DT the) (NN cat)) (VP (VBZ sleeps)))\n" * 40)
    scores = np.random.default_rng(1).normal(size=(3, 3, 2))
    write_charts(tmp_path / "charts.npz", [scores] * 40, ["", "X"], words=[["the", "cat", "sleeps"]] * 40, null=[0])
    if words.startswith("decode"):  # stores its kernels, which the run without room would compile twice: to store, and without
        assert run("decode", "charts.npz", cwd=tmp_path).returncode == 0
    (tmp_path / name).write_bytes(b"good")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    done = run(*words.replace("OUT", name).split(), cwd=tmp_path, preexec_fn=no_files)
    assert (done.returncode, f"{name}: cannot be written".encode() in done.stderr) == (3, True), done.stderr
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def no_files() -> None:
    """Let this process write no byte to any file."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def test_charts_are_written_whole_or_not_at_all(tmp_path: Path) -> None:
    scores = [np.random.default_rng(1).normal(size=(2, 2, 1))]
    write_charts(tmp_path / "charts", scores, ["X"])
    before = (tmp_path / "charts.npz").read_bytes()
    code = (
        "import numpy, resource; from treegauge.parsing import write_charts\nresource.setrlimit(resource.RLIMIT_FSIZE, (50, 50))\n"
    )
    code += f"write_charts({str(tmp_path / 'charts.npz')!r}, [numpy.zeros((9, 9, 9))], list('abcdefghi'))"
    done = subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, check=False)
    assert b"WriteError" in done.stderr
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"charts.npz": before}


def test_a_run_over_an_earlier_file_can_be_resumed(tmp_path: Path) -> None:
    """What is complete is beside the earlier file, which stays; the run that continues it replaces the file."""
    out, unfinished = tmp_path / "out.mrg", tmp_path / "out.mrg.unfinished"
    out.write_text("(OLD (A a))\n(OLD (B b))\n(OLD (C c))\n")
    with suppress(KeyboardInterrupt), RecordFile(str(out), "bracketed", 0, resume=False).open() as write:
        write("(NEW (A a))\n(NEW")
        raise KeyboardInterrupt
    assert (out.read_text().count("OLD"), unfinished.read_text()) == (3, "(NEW (A a))\n(NEW")
    again = RecordFile(str(out), "bracketed", 0, resume=True)
    assert again.done == 1
    with again.open() as write:
        write("(NEW (B b))\n")
    assert (out.read_text(), unfinished.exists()) == ("(NEW (A a))\n(NEW (B b))\n", False)


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
def test_a_compressed_file_that_is_resumed_is_closed_while_it_is_replaced(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows refuses to rename an open file. What is appended then is a compressed part of its own, which later runs read, too."""
    out, replace, seen = tmp_path / f"out.mrg{suffix}", os.replace, list[str]()

    def replace_closed(old: str, new: str) -> None:
        if os.path.isdir("/proc/self/fd"):
            held = [os.path.join("/proc/self/fd", number) for number in os.listdir("/proc/self/fd")]
            assert not any(os.path.exists(name) and os.path.samefile(name, file) for name in held for file in (old, new))
        seen.append(new)
        replace(old, new)

    with RecordFile(str(out), "bracketed", False, resume=False).open() as write:
        write("(S (A a0))\n")
    monkeypatch.setattr(os, "replace", replace_closed)
    for number in range(1, 4):
        again = RecordFile(str(out), "bracketed", False, resume=True)
        assert again.done == number
        with again.open() as write:
            write(f"(S (A a{number}))\n")
    assert [str(tree) for tree in read(str(out))] == [f"(S (A a{number}))" for number in range(4)]
    assert seen == [str(out)] * 3


def test_what_an_older_run_has_left_is_not_continued(tmp_path: Path) -> None:
    out, unfinished = tmp_path / "out.mrg", tmp_path / "out.mrg.unfinished"
    unfinished.write_text("(STALE (A a))\n")
    with RecordFile(str(out), "bracketed", 0, resume=False).open() as write:
        write("(NEW (A a))\n")
    with RecordFile(str(out), "bracketed", 0, resume=True).open() as write:
        write("(NEW (B b))\n")
    assert (out.read_text(), unfinished.exists()) == ("(NEW (A a))\n(NEW (B b))\n", False)
    assert RecordFile(str(out), "bracketed", 0, resume=True).done == 2


def test_an_export_may_replace_an_earlier_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``--export`` is the name of a file in ``check`` and a flag in ``train``, where an internal error came of it."""
    (tmp_path / "g.txt").write_text("earlier")
    with pytest.raises(SystemExit) as stop:
        main(["train", "--export", str(tmp_path / "missing.model"), "-o", str(tmp_path / "g.txt")])
    assert stop.value.code == 3, capsys.readouterr().err
    assert (tmp_path / "g.txt").read_text() == "earlier"


def test_parses_are_utf_8_whatever_standard_output_says(tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("Žofie spí\n", "utf-8")
    done = run("parse", "own", str(tmp_path / "s.txt"), env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert (done.returncode, "Žofie" in done.stdout.decode("utf-8")) == (0, True), done.stderr
    (tmp_path / "t.mrg").write_text("(Š (N a))\n", "utf-8")
    words = ("score", str(tmp_path / "t.mrg"), str(tmp_path / "t.mrg"), "--breakdown", "labels")
    assert run(*words, env={**os.environ, "PYTHONIOENCODING": "ascii"}).returncode == 0


# Memory and time


def test_a_sentence_whose_chart_does_not_fit_gets_the_fallback(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("a",) * (chart.LONG + 1)
    parser = Parser(GRAMMAR, probabilities=False)
    assert not parser.parse(Sentence(words)).fallback
    monkeypatch.setattr(chart, "available_memory", lambda: 1 << 20)
    parsed = parser.parse(Sentence(words))
    assert (parsed.fallback, parsed.too_long) == (True, True)
    assert not parser.parse(Sentence(words[:50])).fallback


def test_posteriors_of_a_sentence_whose_chart_does_not_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "g.txt").write_text(GRAMMAR_TEXT)
    long = " ".join("a" * (chart.LONG + 1))
    (tmp_path / "s.txt").write_text(f"{long}\n")
    (tmp_path / "t.mrg").write_text(f"(S (S a) (S a))\n(S {long.replace('a', '(S a)')})\n")
    monkeypatch.setattr(chart, "available_memory", lambda: 1 << 20)
    monkeypatch.chdir(tmp_path)

    def said(*words: str) -> tuple[object, str, str]:
        with pytest.raises(SystemExit) as stop:
            main(["posteriors", "g.txt", *words])
        found = capsys.readouterr()
        return stop.value.code, found.out, found.err

    code, _, problem = said("s.txt")
    assert (code, "a sentence of 401 words needs about" in problem) == (4, True)
    code, shown, problem = said("--tree", "t.mrg")
    assert (code, "1 of 2 trees" in shown, "left out: a sentence of 401 words" in problem) == (0, True, True)
    code, shown, problem = said("--calibration", "t.mrg", "--format", "json")
    assert (code, json.loads(shown)["unparsed"], "left out: a sentence of 401 words" in problem) == (0, 1, True)


def test_the_available_memory_is_that_of_the_process() -> None:
    code = "from treegauge.parsing.chart import available_memory; print(available_memory())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, preexec_fn=memory_of(3_000))
    assert 0 < int(done.stdout) < 3_000 << 20


@pytest.mark.slow
@pytest.mark.parametrize("bracket", [b"(", b")"])
def test_16_mb_of_brackets(bracket: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.mrg"
    path.write_bytes(bracket * (16 << 20))
    done = run("validate", str(path), preexec_fn=memory_of(700), env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
    assert (done.returncode, b"1 error" in done.stdout) == (3, True), done.stderr


@pytest.mark.parametrize(
    ("text", "errors", "problem"),
    [
        (b"(" * (4 << 20), 1, "4194304 opening brackets that are never closed; the text ends on line 1"),
        (b")" * (4 << 20), 1, "closing bracket without an opening one"),
        (b"(S (N a)) " + b"(" * (4 << 20), 1, "4194304 opening brackets that are never closed; the text ends on line 1"),
        (b"(\n" * (1 << 16), 1 << 16, "opening bracket that is never closed; a new tree begins on line 2"),
        (b"(S (N a)" + b")" * (4 << 20), 1, "closing bracket without an opening one"),
        (b"word " * (1 << 18), 1, "text outside brackets"),
    ],
    ids=["opening", "closing", "after a tree", "lines", "closing a tree", "words"],
)
def test_brackets_without_partner_take_little_memory(text: bytes, errors: int, problem: str) -> None:
    """A small multiple of the text: not events, nor errors, of every bracket."""
    source = Source("x.mrg", text)
    tracemalloc.start()
    try:
        report = examine(source, ReadOptions(format="bracketed"))
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (report.n_errors, report.errors[0].problem) == (errors, problem)
    assert most < max(12 * len(text), 5 << 20)


def test_notes_on_trees_take_little_memory() -> None:
    text = b"()" * (1 << 20)
    tracemalloc.start()
    try:
        report = examine(Source("x.mrg", text), ReadOptions(format="bracketed"))
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (report.n_trees, len(report.remarks), report.remarks[1].text) == (1 << 20, 20, "empty parse")
    assert report.n_remarks > 1 << 20
    assert most < 110 << 20


def test_blank_lines_are_read_in_passing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is looked at once: blank lines that are kept for a tree to come are looked at again with every chunk of the file."""
    looked_at: list[int] = []

    def counted(text: bytes) -> Events:
        looked_at.append(len(text))
        return find_events(text)

    monkeypatch.setattr(bracketed, "find_events", counted)
    monkeypatch.setattr(sources, "CHUNK_BYTES", 1 << 16)
    data = b"\n" * (1 << 20) + b"(S (N a))\n"
    bank = read(Source("x.mrg", data), ReadOptions(format="bracketed"))
    assert (len(bank), bank.place(0)) == (1, f"x.mrg:{(1 << 20) + 1}")
    assert 1 << 20 <= sum(looked_at) < 1.5 * len(data)


def test_an_attribute_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """After 4 MB, not at the end of the file: with every chunk the parser begins an unfinished tag anew."""
    fed: list[int] = []
    feed = XmlHandler.feed

    def counted(handler: XmlHandler, chunk: bytes, is_last: bool) -> InputError | None:
        fed.append(len(chunk))
        return feed(handler, chunk, is_last)

    monkeypatch.setattr(XmlHandler, "feed", counted)
    begin = b'<corpus><s id="1"><graph><terminals><t id="1" word="'
    report = examine(Source("x.xml", begin + b"x" * (24 << 20)), ReadOptions(format="tigerxml"))
    assert [error.problem for error in report.errors] == ["a tag, text or comment of more than 4 MB"]
    assert 4 << 20 < sum(fed) <= (4 << 20) + 2 * max(fed)
    assert max(fed) < 1 << 20
    end = b'" pos="N"/></terminals></graph></s></corpus>'
    report = examine(Source("x.xml", begin + b"x" * (3 << 20) + end), ReadOptions(format="tigerxml"))
    assert (report.n_trees, report.errors) == (1, [])


# Workers


class _NoCluster:
    """A cluster whose workers are killed while they start, some times."""

    failures = 0

    def __init__(self, **options: Any) -> None:
        if _NoCluster.failures:
            _NoCluster.failures -= 1
            raise RuntimeError("Nanny failed to start.")


def test_workers_killed_while_they_start_are_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(distributed, "LocalCluster", _NoCluster)
    monkeypatch.setattr(distributed, "Client", lambda cluster, **options: cluster)
    _NoCluster.failures = 2
    assert isinstance(Cluster(workers=1).client, _NoCluster)
    assert _NoCluster.failures == 0
    _NoCluster.failures = 99
    with pytest.raises(EngineError, match="do not start on this machine"):
        _ = Cluster(workers=1).client


# The project's own fuzz of what is not a treebank


def mutations(data: bytes, seed: int, count: int) -> list[bytes]:
    random = np.random.default_rng(seed)
    found: list[bytes] = []
    for _ in range(count):
        changed = bytearray(data)
        for _ in range(int(random.integers(1, 6))):
            at, width = int(random.integers(0, len(changed) + 1)), int(random.integers(0, 12))
            piece = random.choice([b"", b"\0", b"[", b"]", b'"', b"=", b"\n", b"9" * 50, b"\xff", b"->", b"|", b"{", b"true"])
            changed[at : at + width] = bytes(piece) * int(random.integers(1, 4))
        found.append(bytes(changed))
    return found


def survives(function: Callable[[Path], object], path: Path, data: bytes) -> None:
    path.write_bytes(data)
    try:
        function(path)
    except TreegaugeError:
        pass
    except Exception as error:
        raise AssertionError(f"{type(error).__name__}: {error} on {data!r}") from error


@pytest.mark.parametrize("seed", range(4))
def test_fuzzed_presets(seed: int, tmp_path: Path) -> None:
    toml = 'base = "default"\ndelete_tags = ["A", "B"]\nequal_labels = [["A", "B"]]\nlabelled = false\ncutoff_length = 10\n'
    for data in mutations(toml.encode(), seed, 300):
        survives(load_preset, tmp_path / "p.toml", data)
    for data in mutations(preset_text("collins").encode(), seed, 200):
        survives(load_preset, tmp_path / "p.prm", data)


@pytest.mark.parametrize("seed", range(4))
def test_fuzzed_grammars(seed: int, tmp_path: Path) -> None:
    text = '%start S\nS -> NP "a" [0.3] | `X$` [0.7]\n# c\nNP -> @"\\u00e9" [1.0] \\\n\n`X$` -> \'b\' [1]\n'
    for data in mutations(text.encode(), seed, 300):
        survives(read_file, tmp_path / "g.txt", data)


@pytest.mark.parametrize("seed", range(2))
def test_fuzzed_models(seed: int, tmp_path: Path) -> None:
    whole = tmp_path / "whole.model"
    save_model(GRAMMAR, whole)
    for data in mutations(whole.read_bytes(), seed, 150):
        survives(load_model, tmp_path / "m.model", data)
    with zipfile.ZipFile(whole) as model:
        document, lhs = model.read("model.json"), model.read("lhs.npy")
    for data in mutations(document, seed, 60):
        survives(load_model, resealed(tmp_path / "r.model", model__json=data), (tmp_path / "r.model").read_bytes())
    for data in mutations(lhs, seed, 60):
        survives(load_model, resealed(tmp_path / "r.model", lhs__npy=data), (tmp_path / "r.model").read_bytes())
    for value in (None, 3, "x", [1], {"a": 1}, 1e400, [None]):
        for key in json.loads(document):
            if key not in ("schema", "version"):
                changed = json.dumps({**json.loads(document), key: value}).encode()
                survives(load_model, resealed(tmp_path / "r.model", model__json=changed), (tmp_path / "r.model").read_bytes())


# Values inside files of the right form


def test_text_of_numbers_that_are_no_characters(tmp_path: Path) -> None:
    """Of such text Python makes a string, on which its own functions fail."""
    words = np.array([65, 0x110041, 0, 0], np.uint32).view("U4")
    np.savez(tmp_path / "c.npz", **{"scores.0": np.zeros((1, 1, 1)), "labels": np.array(["S"]), "words": words})
    with pytest.raises(FormatError, match="invalid code point"):
        list(read_charts(tmp_path / "c.npz"))


def test_deeply_nested_words_in_a_table_of_judgements(tmp_path: Path) -> None:
    names = "id,at,annotator,role,verdict,kind,label,start,end,bracket,blocks,note,correction,undoes,blind,seconds,tags,gold,words"
    cells = f"j,,anna,annotator,accepted,SP,NP,0,2,x,,,False,,False,1.5,other,gold,{'[' * 100_000}"
    (tmp_path / "j.csv").write_text(f"{names}\n{cells}\n")
    with Store(tmp_path / "j.sqlite") as store, pytest.raises(FormatError, match=r"j\.csv:2: not a judgement"):
        import_file(store, str(tmp_path / "j.csv"))


@pytest.mark.parametrize("name", ["\ud800", "a" * 300])
def test_a_bundled_model_with_an_impossible_name(tmp_path: Path, name: str) -> None:
    from treegauge.models.loading import MIXTURE
    from treegauge.models.mixtures import load_mixture, save_mixture

    save_model(GRAMMAR, tmp_path / "g.model")
    save_mixture(tmp_path / "m.model", [str(tmp_path / "g.model"), "own"], [2, 1], 0.5, notes={}, bundle=True)
    document, arrays = archive.read_archive(tmp_path / "m.model", MIXTURE, 1)
    document["parts"][0]["path"] = name
    archive.write_archive(tmp_path / "m.model", document, arrays)
    if name == "\ud800":
        with pytest.raises(ModelError, match="this file is damaged"):
            load_mixture(tmp_path / "m.model")
    else:
        load_mixture(tmp_path / "m.model")


def test_a_store_whose_settings_are_damaged(tmp_path: Path) -> None:
    with Store(tmp_path / "j.sqlite") as store:
        store.add_people([("annotator", "anna")])
    with closing(sqlite3.connect(tmp_path / "j.sqlite")) as connection:
        connection.execute("UPDATE setting SET value = '[1'")
        connection.commit()
    with Store(tmp_path / "j.sqlite") as store, pytest.raises(InputError, match="this file is damaged"):
        store.revoke_link("annotator", "anna")


def test_a_deeply_nested_value_in_a_signature() -> None:
    given = f"metric:parseval|x:{'[' * 100_000}"
    with suppress(TreegaugeError):
        assert Signature.parse(given)
