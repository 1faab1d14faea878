"""Faults that must be survived: files that are damaged, huge or hostile, full disks, and too little memory.

Each of these ended in a foreign exception, an internal error, a destroyed file or gigabytes of memory once.
"""

from __future__ import annotations

import io
import json
import os
import resource
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from treegauge.engines.cluster import Cluster
from treegauge.errors import EngineError, FormatError, InputError, ModelError, TreegaugeError, WriteError
from treegauge.grammar import PCFG, load_model, save_model
from treegauge.grammar.grammar_text import read_file
from treegauge.io import archive, read, write
from treegauge.io.sources import ReadOptions, Source
from treegauge.io.validation import examine
from treegauge.parsing import parser as parser_module
from treegauge.parsing.parser import Parser, Sentence
from treegauge.presets import load_preset, preset_text
from treegauge.trees import Treebank

GRAMMAR = PCFG.parse('S -> S S [0.4] | "a" [0.6]')


def run(*words: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-m", "treegauge", *words], capture_output=True, timeout=240, **options)


# Presets


PRESETS = {
    "a truth value that is a number": "labelled = 7",
    "a number that is a truth value": "cutoff_length = true",
    "a list that is text": 'delete_tags = "NP"',
    "numbers in a list": "delete_tags = [1, 2]",
    "a pair of three": 'equal_labels = [["A", "B", "C"]]',
    "pairs that are none": "equal_labels = [1]",
    "a table": "[labelled]\nx = 1",
    "a date": "cutoff_length = 1979-05-27",
    "a number of 5,000 digits": f"cutoff_length = {'9' * 5000}",
    "lists in lists": f"delete_tags = {'[' * 20_000}{']' * 20_000}",
    "a base that is no name": "base = 3",
    "a base with a zero byte": 'base = "a\\u0000b.toml"',
    "an overlong base": f'base = "{"x" * 5000}.toml"',
    "not UTF-8": b"labelled = \xff",
}


@pytest.mark.parametrize("text", PRESETS.values(), ids=PRESETS)
def test_a_preset_that_is_wrong_is_an_error_of_ours(text: str | bytes, tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError, match="toml"):
        load_preset(path)


def test_a_preset_that_builds_on_itself_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.toml").write_text('base = "b.toml"')
    Path("b.toml").write_text('base = "a.toml"')
    with pytest.raises(FormatError, match=r"builds on itself: a.toml -> b.toml -> a.toml"):
        load_preset("a.toml")


@pytest.mark.parametrize("name", ["a\0b", "a\0b.prm", "x" * 5000, f"{'x' * 5000}.toml", "no/such.prm"])
def test_names_of_presets_that_cannot_be(name: str) -> None:
    for function in (load_preset, preset_text):
        with pytest.raises(TreegaugeError):
            function(name)


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


HEADERS = [
    "{'descr': '<i4', 'fortran_order': False, 'shape': (99999999999,)}",
    "{'descr': '<i4', 'fortran_order': False, 'shape': (-1,)}",
    "{'descr': '<i4', 'fortran_order': False, 'shape': (1e9,)}",
    "{'descr': 'O', 'fortran_order': False, 'shape': (0,)}",
    "{'descr': '" + "9" * 5000 + "', 'fortran_order': False, 'shape': (0,)}",
    "{'descr': [('a', '<i4')] * 9, 'fortran_order': False, 'shape': ()}",
    "(" * 5000,
    "{'descr': '<i4',",
    "\0",
    "",
    "{'descr': '<c16', 'fortran_order': False, 'shape': ()}",
]


@pytest.mark.parametrize("header", HEADERS)
def test_headers_of_arrays_that_lie(header: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError):
        load_model(resealed(tmp_path / "m.model", lhs__npy=npy(header, b"\0" * 16)))


def test_columns_of_other_shapes_and_types(tmp_path: Path) -> None:
    for array in (np.zeros((2, 2)), np.array(3), np.array([1 + 2j, 3]), np.array([np.nan, np.inf]), np.array(["a", "b"])):
        content = io.BytesIO()
        np.save(content, array)
        for name in ("lhs__npy", "arity__npy", "rhs__npy", "probability__npy"):
            with pytest.raises(ModelError):
                load_model(resealed(tmp_path / "m.model", **{name: content.getvalue()}))


@pytest.mark.parametrize(
    "parts",
    [
        {"model__json": b'{"schema":"treegauge-pcfg","version":1,"x":[' + b"[]," * 100_000_000 + b"[]]}"},
        {"is_word__npy": npy("{'descr': '|b1', 'fortran_order': False, 'shape': (300000000,)}", bytes(300_000_000))},
    ],
    ids=["document", "array"],
)
def test_a_small_file_that_unpacks_to_a_huge_one_is_refused_before(parts: dict[str, bytes], tmp_path: Path) -> None:
    path = resealed(tmp_path / "m.model", **parts)
    assert path.stat().st_size < 1_000_000
    done = run("parse", str(path), os.devnull, preexec_fn=memory_of(1_500))
    assert (done.returncode, b"unpacks to more" in done.stderr) == (3, True), done.stderr


def memory_of(megabytes: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))


def test_files_that_are_not_there(tmp_path: Path) -> None:
    for function in (load_model, read_file):
        with pytest.raises(InputError, match="cannot be read"):
            function(tmp_path / "missing")
    with pytest.raises(InputError):
        load_model("a\0b")
    with pytest.raises(WriteError, match="zero byte"):
        write(Treebank.parse("(S a)"), "a\0b")


# Output


@pytest.mark.parametrize(
    "command", ["induce {0} --format text -o {1}", "learn {0} --format text -o {1} --nonterminals 2 --iterations 1"]
)
def test_a_full_disk_does_not_destroy_a_grammar(command: str, tmp_path: Path) -> None:
    trees, out = tmp_path / "t.mrg", tmp_path / "g.txt"
    trees.write_text("(S (NP (N a)) (VP (V b)))\n")
    out.write_text("good")
    limit = (10, 10)  # bytes of a file, as a disk with so many left

    def small_disk() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)

    done = run(*command.format(trees, out).split(), "--checkpoint" if "learn" in command else "--tags", *(
        [os.devnull] if "learn" in command else []), preexec_fn=small_disk)  # fmt: skip
    assert done.returncode == 3, done.stderr
    assert out.read_text() == "good"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["g.txt", "t.mrg"]


def test_parses_are_utf_8_whatever_standard_output_says(tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("Žofie spí\n", "utf-8")
    done = run("parse", "own", str(tmp_path / "s.txt"), env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert (done.returncode, "Žofie" in done.stdout.decode("utf-8")) == (0, True), done.stderr
    (tmp_path / "t.mrg").write_text("(Š (N a))\n", "utf-8")
    words = ("score", str(tmp_path / "t.mrg"), str(tmp_path / "t.mrg"), "--breakdown", "labels")
    assert run(*words, env={**os.environ, "PYTHONIOENCODING": "ascii"}).returncode == 0


# Memory and time


def test_a_sentence_whose_chart_does_not_fit_gets_the_fallback(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("a",) * (parser_module.LONG + 1)
    parser = Parser(GRAMMAR, probabilities=False)
    assert not parser.parse(Sentence(words)).fallback
    monkeypatch.setattr(parser_module, "memory_at_hand", lambda: 1 << 20)
    parsed = parser.parse(Sentence(words))
    assert (parsed.fallback, parsed.too_long) == (True, True)
    assert not parser.parse(Sentence(words[:50])).fallback


def test_the_memory_at_hand_is_that_of_the_process() -> None:
    code = "from treegauge.parsing.parser import memory_at_hand; print(memory_at_hand())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, preexec_fn=memory_of(3_000))
    assert 0 < int(done.stdout) < 3_000 << 20


@pytest.mark.parametrize("bracket", [b"(", b")"])
def test_16_mb_of_brackets(bracket: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.mrg"
    path.write_bytes(bracket * (16 << 20))
    done = run("validate", str(path), preexec_fn=memory_of(1_600), env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
    assert (done.returncode, b"1 error" in done.stdout) == (3, True), done.stderr


def test_blank_lines_are_read_in_passing(monkeypatch: pytest.MonkeyPatch) -> None:
    from treegauge.io import bracketed

    monkeypatch.setattr(bracketed, "_LARGEST_TREE_BYTES", 1 << 20)  # what is kept of a text without a whole tree
    bank = read(Source("x.mrg", b"\n" * (5 << 20) + b"(S (N a))\n"), ReadOptions(format="bracketed"))
    assert (len(bank), bank.place(0)) == (1, f"x.mrg:{(5 << 20) + 1}")


def test_an_attribute_without_end_is_refused() -> None:
    data = b'<corpus><s id="1"><graph><terminals><t id="1" word="' + b"x" * (24 << 20)
    report = examine(Source("x.xml", data), ReadOptions(format="tigerxml"))
    assert [error.problem for error in report.errors] == ["a tag, text or comment of more than 4 MB"]


# Workers


class _NoCluster:
    """A cluster whose workers are killed while they start, some times."""

    def __init__(self, failures: int) -> None:
        self.failures, self.calls = failures, 0

    def __call__(self, **options: Any) -> str:
        self.calls += 1
        if self.calls <= self.failures:
            raise RuntimeError("Nanny failed to start.")
        return "started"


def test_workers_killed_while_they_start_are_started_again() -> None:
    start = _NoCluster(2)
    assert Cluster(workers=1)._started(start) == "started"
    with pytest.raises(EngineError, match="do not start on this machine"):
        Cluster(workers=1)._started(_NoCluster(9))


# Compiled kernels


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize("damage", [lambda data: data[: len(data) // 2], lambda data: b"", lambda data: bytes(len(data))])
def test_a_damaged_kernel_is_compiled_again(suffix: str, damage: Callable[[bytes], bytes], tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(
        "from treegauge.parsing.jit import kernel\n\n@kernel\ndef twice(x):\n    return 2 * x\n\nprint(twice(21))\n"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def result() -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([sys.executable, "one.py"], cwd=tmp_path, env=environment, capture_output=True, check=True)

    assert result().stdout == b"42\n"
    stored = list((tmp_path / "cache").rglob(f"*{suffix}"))
    assert stored
    for path in stored:
        path.write_bytes(damage(path.read_bytes()))
    again = result()
    assert (again.stdout, b"is damaged" in again.stderr) == (b"42\n", True)
    assert result().stderr == b""


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
