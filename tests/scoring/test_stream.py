"""Block by block: the same numbers as all at once, or a refusal."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import treegauge
from treegauge import Treebank
from treegauge.io import sources
from treegauge.scoring import counts as comparison, inputs as sides
from treegauge.scoring.result import Result
from treegauge.trees.columns import TreebankHash

GOLD = [f"(TOP (S (NP (DT the) (NN noun{i % 7})) (, ,) (VP (VBD verb{i}) (NP (NN object{i % 3})))))" for i in range(40)]
TEST = [tree.replace("(VP", "(X").replace("(, ,)", "(NN ,)") if i % 5 == 0 else tree for i, tree in enumerate(GOLD)]


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a few trees each, other ones on either side."""
    monkeypatch.setattr(sources, "CHUNK_BYTES", 700)


def written(folder: Path, name: str, trees: list[str]) -> Path:
    path = folder / name
    path.write_text("\n".join(trees) + "\n")
    return path


def without_rows(result: Result) -> dict[str, object]:
    data = result.to_dict()
    data.pop("inputs")
    return data


def compared(folder: Path, gold: list[str], test: list[str], **options: object) -> tuple[Result, Result]:
    paths = written(folder, "gold.mrg", gold), written(folder, "test.mrg", test)
    return (
        treegauge.score(*paths, stream=True, pair="text", **options),
        treegauge.score(*paths, pair="text", **options),
    )


@pytest.mark.parametrize("options", [{}, {"on_mismatch": "skip"}, {"on_mismatch": "evalb"}, {"metric": "leaf-ancestor"}], ids=str)
def test_the_same_numbers_as_all_at_once(tmp_path: Path, options: dict[str, object]) -> None:
    changed = [tree.replace("verb9", "other") for tree in TEST]
    changed[20] = "()"
    streamed, whole = compared(tmp_path, GOLD, changed, breakdowns=() if "evalb" in options.values() else ("labels",), **options)
    assert without_rows(streamed) == without_rows(whole)
    assert str(streamed) == str(whole)
    assert streamed.signature.gold == treegauge.as_treebank(GOLD).sha256()[:12]
    with pytest.raises(treegauge.UsageError, match="streamed"):
        _ = streamed.rows


def test_blank_lines(tmp_path: Path) -> None:
    test = [*TEST[:11], "", *TEST[12:30], "", *TEST[31:]]
    streamed, whole = compared(tmp_path, GOLD, test)
    assert without_rows(streamed) == without_rows(whole)
    assert [note.kind for note in streamed.notes] == ["no-parse", "no-parse"]
    assert [note.sentence for note in streamed.notes] == [11, 30]


@pytest.mark.parametrize("more", ["gold", "test"])
def test_one_side_ends_first(tmp_path: Path, more: str) -> None:
    gold, test = (GOLD, TEST[:33]) if more == "gold" else (GOLD[:33], TEST)
    streamed, whole = compared(tmp_path, gold, test)
    assert without_rows(streamed) == without_rows(whole)
    assert {note.kind for note in streamed.notes} == {"missing" if more == "gold" else "extra"}
    assert len(streamed.notes) == 7


@pytest.mark.parametrize("gone", [0, 5, 20, 38])
def test_a_missing_sentence_is_refused(tmp_path: Path, gone: int) -> None:
    paths = written(tmp_path, "gold.mrg", GOLD), written(tmp_path, "test.mrg", [*TEST[:gone], *TEST[gone + 1 :]])
    with pytest.raises(treegauge.MismatchError, match="without streaming"):
        treegauge.score(*paths, stream=True)
    assert [note.kind for note in treegauge.score(*paths, pair="text").notes] == ["missing"]


def test_a_sentence_that_turns_up_blocks_later_is_refused(tmp_path: Path) -> None:
    moved = [*TEST[:3], "(S (N something) (N else))", *TEST[4:30], TEST[3], *TEST[31:]]
    paths = written(tmp_path, "gold.mrg", GOLD), written(tmp_path, "test.mrg", moved)
    with pytest.raises(treegauge.MismatchError):
        treegauge.score(*paths, stream=True)
    assert treegauge.score(*paths, pair="text").counts["sentences"] == 40


def test_an_error_in_a_later_block_is_raised_and_no_thread_is_left(tmp_path: Path) -> None:
    paths = written(tmp_path, "gold.mrg", GOLD), written(tmp_path, "test.mrg", [*TEST, "(S (NP"])
    before = threading.active_count()
    for stream in (True, False):
        with pytest.raises(treegauge.BracketError, match=r"test\.mrg:41:1"):
            treegauge.score(*paths, stream=stream, on_error="stop")
    assert threading.active_count() == before


def test_files_of_directories_are_scored_one_by_one(tmp_path: Path) -> None:
    for side, trees in (("gold", GOLD), ("test", TEST)):
        (tmp_path / side).mkdir()
        for first in range(0, 40, 10):
            written(tmp_path / side, f"{first:02}.mrg", trees[first : first + 10])
    written(tmp_path / "test", "10.mrg", [*TEST[10:14], *TEST[15:20]])
    result = treegauge.score(tmp_path / "gold", tmp_path / "test", pair="text")
    assert [(note.kind, note.sentence) for note in result.notes] == [("missing", 14)]
    assert result.signature.gold == treegauge.as_treebank(GOLD).sha256()[:12]
    assert result.signature.test == treegauge.as_treebank([*TEST[:14], *TEST[15:]]).sha256()[:12]
    assert result.scored_sentences.index.tolist() == list(range(40))
    assert result.scored_sentences.places[14].endswith("10.mrg:5")


@settings(max_examples=30)
@given(st.lists(st.integers(1, 9), max_size=6), st.lists(st.integers(1, 9), max_size=6))
def test_steps_take_equally_many_of_both(gold_sizes: list[int], test_sizes: list[int]) -> None:
    def blocks(sizes: list[int]) -> Iterator[Treebank]:
        first = 0
        for size in sizes:
            yield Treebank.parse(" ".join(f"(N w{i})" for i in range(first, first + size)))
            first += size

    steps = list(comparison._steps(blocks(gold_sizes), blocks(test_sizes)))
    for side, sizes in enumerate((gold_sizes, test_sizes)):
        words = [word for step in steps for i in range(len(step[side])) for word in step[side].words(i)]
        assert words == [f"w{i}" for i in range(sum(sizes))]
    uneven = [len(gold) == len(test) for gold, test in steps]
    assert uneven == sorted(uneven, reverse=True)


@settings(max_examples=30)
@given(st.lists(st.sampled_from(GOLD), min_size=1, max_size=12), st.data())
def test_the_hash_of_blocks_is_that_of_the_whole(trees: list[str], data: st.DataObject) -> None:
    bank = treegauge.as_treebank(trees)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(bank)), max_size=3)))
    digest = TreebankHash()
    for first, last in zip([0, *cuts], [*cuts, len(bank)], strict=True):
        before = digest.copy()
        digest.update(bank[first:last] if data.draw(st.booleans()) else treegauge.as_treebank(trees[first:last] or []))
        if data.draw(st.booleans()):
            digest = before
            digest.update(bank[first:last])
    assert digest.hexdigest() == bank.sha256()


def test_reading_ahead_stops_when_nobody_takes() -> None:
    made: list[int] = []

    def endless() -> Iterator[Treebank]:
        while True:
            made.append(1)
            yield Treebank.parse("(N a)")

    threads = threading.active_count()
    ahead = sides.read_ahead(endless())
    next(ahead)
    ahead.close()
    assert threading.active_count() == threads
    assert len(made) == 2


def test_an_error_comes_again_when_asked_again(tmp_path: Path) -> None:
    assert [len(block) for block in sides.read_ahead(iter([Treebank.parse("(N a)")]))] == [1]
    broken = sides.Trees([str(written(tmp_path, "broken.mrg", [*GOLD, "(S"]))], treegauge.ReadOptions(), keep=True)
    for _ in range(2):
        with pytest.raises(treegauge.BracketError):
            list(broken.blocks())
    broken.close()


def test_a_file_that_was_closed_in_the_middle_is_read_from_the_beginning(tmp_path: Path) -> None:
    trees = sides.Trees([str(written(tmp_path, "gold.mrg", GOLD))], treegauge.ReadOptions(), keep=True)
    blocks = trees.blocks()
    assert len(next(blocks)) < len(GOLD)
    trees.close()
    assert len(trees.whole()) == len(GOLD)
    trees.close()
    assert len(trees.whole()) == len(GOLD)


def test_gold_is_read_once_for_all_systems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [written(tmp_path, name, trees) for name, trees in (("gold.mrg", GOLD), ("a.mrg", TEST), ("b.mrg", GOLD))]
    read: list[str] = []
    stream = sides.io.stream

    def counted(path: str, *arguments: object) -> Iterator[Treebank]:
        read.append(Path(path).name)
        return stream(path, *arguments)

    monkeypatch.setattr(sides.io, "stream", counted)
    scores = treegauge.score(paths[0], {"a": paths[1], "b": paths[2]})
    assert sorted(read) == ["a.mrg", "b.mrg", "gold.mrg"]
    assert scores.of("b").rates["f1"] == 1
    assert np.isfinite(scores.of("a").rates["f1"])
