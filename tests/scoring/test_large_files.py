"""Counting by kernels gives what the NumPy code gives: sums, short sentences, notes, EVALB's outcome, hashes."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numba", reason="kernels need the extra [parse]")

import treegauge.io.sources as text_module
from treegauge import load_preset, read
from treegauge.data import treebank_path
from treegauge.io.sources import ReadOptions
from treegauge.metrics.parseval import Parseval
from treegauge.presets import Preset
from treegauge.scoring import evaluation, large_files
from treegauge.scoring.inputs import Request
from treegauge.scoring.large_files import count_large_files

PAIRS = 60
LABELS = ["NP", "VP", "PP", "S", "ADVP", "PRT", "X", "NP-SBJ", "TOP", "ROOT"]


def _tree(generator: random.Random, words: list[str]) -> str:
    """A random tree over words; some brackets have no words, some words no tag."""
    if len(words) == 1 and generator.random() < 0.7:
        word = words[0]
        tag = "." if word == "." else "," if word == "," else "``" if word in ("``", "“") else generator.choice(["NN", "DT", "V"])
        tag = "-NONE-" if word.startswith("*") else tag
        if generator.random() < 0.03:
            tag = generator.choice(["NN", ".", "-NONE-", ""])
        return f"({tag} {word})" if generator.random() < 0.995 else f"(NP {word} x)"
    cuts = sorted(generator.sample(range(1, len(words)), min(len(words) - 1, generator.randrange(3))))
    spans = zip([0, *cuts], [*cuts, len(words)], strict=True)
    children = [_tree(generator, words[low:high]) for low, high in spans]
    if generator.random() < 0.02:
        children.append(f"({generator.choice(LABELS)})")
    return f"({generator.choice(LABELS)} {' '.join(children)})"


def _files(generator: random.Random, folder: Path) -> tuple[str, str]:
    gold, test = [], []
    for _ in range(generator.randrange(1, 60)):
        words = [generator.choice(["the", "cat", ",", ".", "*T*-1", "``", "a/b", "longerword", "it's", "café"]) for _ in range(8)]
        words = words[: generator.randrange(1, 9)]
        other = list(words)
        if generator.random() < 0.3:
            other = [word for word in words if not word.startswith("*")] or ["the"]
        if generator.random() < 0.05:
            other = [{"``": "“", "a/b": "a\\/b", "cat": "dog"}.get(word, word) for word in other]
        gold.append(f"(TOP {_tree(generator, words)})")
        test.append("(())" if generator.random() < 0.02 else f"(TOP {_tree(generator, other)})")
    if generator.random() < 0.2:
        test[generator.randrange(len(test))] += ")" if generator.random() < 0.5 else ""
    paths = folder / "gold.mrg", folder / "test.mrg"
    for path, lines in zip(paths, (gold, test), strict=True):
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(paths[0]), str(paths[1])


def _said(counted: Any) -> list[Any]:
    """All that a result is made of."""
    counts = counted.counts
    one = counts.of_metrics[0]
    notes = sorted(counts.notes, key=lambda note: (note.sentence, note.kind, note.text))
    return [
        *(one.total.values(), one.short.values(), one.n_total, one.n_short, notes, counts.evalb),
        *(counts.n_gold, counts.n_test, dict(counts.repairs), counted.digests, counts.labels),
    ]


def _presets() -> list[Preset]:
    default = load_preset("default")
    return [default, default, load_preset("collins"), load_preset("none"), load_preset("new"), load_preset("spmrl")]


@pytest.mark.slow
def test_same_as_numpy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = random.Random(3)
    n_compared = n_notes = 0
    for number in range(PAIRS):
        gold, test = _files(generator, tmp_path)
        monkeypatch.setattr(text_module, "CHUNK_BYTES", generator.choice([150, 900, 5 << 17]))
        monkeypatch.setattr(large_files, "_ODD_BATCH", generator.choice([1, 5, 1000]))
        on_mismatch, on_error = generator.choice(["align", "skip"]), generator.choice(["parse-fails", "repair"])
        request = Request(
            (Parseval(),),
            generator.choice(_presets()),
            on_mismatch=on_mismatch,
            sentences=False,
            on_error=on_error,
            keep=False,
            reading=(reading := ReadOptions(on_error=on_error)),
        )
        ours = count_large_files(gold, test, request, reading)
        if ours is None:
            continue
        # Small files: the NumPy code counts.
        ((theirs, _),) = evaluation.count_systems(gold, {"test": test}, request)
        assert _said(ours) == _said(theirs), (number, request)
        n_compared += 1
        n_notes += len(ours.counts.notes)
    assert n_compared > PAIRS // 2
    assert n_notes


def test_most_sentences_are_plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel counts nearly all of a treebank; a test that only ever saw the NumPy code would see nothing."""
    lines = [" ".join(str(tree).split()) for tree in read(treebank_path("news"))]
    for name in ("gold", "test"):
        (tmp_path / f"{name}.mrg").write_text("\n".join(lines) + "\n")
    odd: list[int] = []
    add = large_files.SystemCounts.add
    monkeypatch.setattr(
        large_files.SystemCounts, "add", lambda self, gold, *rest, **more: (odd.append(len(gold)), add(self, gold, *rest, **more))
    )
    request = Request((Parseval(),), sentences=False)
    counted = count_large_files(str(tmp_path / "gold.mrg"), str(tmp_path / "test.mrg"), request, ReadOptions())
    assert counted is not None
    assert counted.counts.n_gold == len(lines)
    assert sum(odd) < len(lines) / 20


def test_files_that_are_not_parallel_are_left_to_numpy(tmp_path: Path) -> None:
    gold, test = tmp_path / "gold.mrg", tmp_path / "test.mrg"
    gold.write_text("(S (NN a))\n(S (NN b))\n")
    test.write_text("(S (NN a))\n")
    request = Request((Parseval(),), sentences=False)
    assert count_large_files(str(gold), str(test), request, ReadOptions()) is None
    test.write_text("(S (NN b))\n(S (NN a))\n")
    assert count_large_files(str(gold), str(test), request, ReadOptions()) is None
    assert count_large_files(str(gold), str(tmp_path / "none.mrg"), request, ReadOptions()) is None


def test_large_files_are_counted_by_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`score` asks the kernels from some size on, and for files only."""
    gold, test = _files(random.Random(1), tmp_path)
    request = Request((Parseval(),), sentences=False)
    asked: list[str] = []
    monkeypatch.setattr(large_files, "count_large_files", lambda gold, *rest: asked.append(gold))
    evaluation.count_systems(gold, {"test": test}, request)
    assert not asked
    monkeypatch.setattr(evaluation, "SMALLEST_BYTES", 1)
    evaluation.count_systems(gold, {"test": test}, request)
    assert asked == [gold]
