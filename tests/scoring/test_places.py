"""Where each scored sentence stands, kept without its tree: in results, in files of scores, on lists of sentences."""

from __future__ import annotations

import gc
import json
import zipfile
from pathlib import Path

import pytest

import treegauge
from treegauge import Scores, Treebank
from treegauge.cli import main
from treegauge.io import ReadOptions, sources, stream

TREES = [f"(S (NP (N a{number})) (VP (V b)))" for number in range(30)]


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are read in blocks of a few trees."""
    monkeypatch.setattr(sources, "CHUNK_BYTES", 200)


def files(folder: Path) -> dict[str, Path]:
    """The same trees a line each, with blank lines and trees over two lines, and in a format with names of sentences."""
    uneven = [f"{tree[:6]}\n {tree[6:]}" if number % 4 == 1 else tree for number, tree in enumerate(TREES)]
    texts = {"even.mrg": "\n".join(TREES), "uneven.mrg": "\n\n".join(uneven)}
    for name, text in texts.items():
        (folder / name).write_text(text + "\n")
    treegauge.write(TREES, folder / "named.export")
    return {name: folder / name for name in (*texts, "named.export")}


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("name", ["even.mrg", "uneven.mrg", "named.export"])
def test_places_are_those_of_the_trees(name: str, tmp_path: Path) -> None:
    path = files(tmp_path)[name]
    blocks = list(stream(path, ReadOptions()))
    assert name.endswith("export") or len(blocks) > 3
    expected = [block.place(number) for block in blocks for number in range(len(block))]
    result = treegauge.score(path, path)
    assert list(result.scored_sentences.places) == expected
    assert [place for block in blocks for place in block.places()] == expected


@pytest.mark.usefixtures("small_chunks")
def test_trees_in_memory_are_counted_through(tmp_path: Path) -> None:
    """Also where the other side is a file, which is read in blocks."""
    result = treegauge.score(Treebank.parse(" ".join(TREES)), files(tmp_path)["even.mrg"])
    assert list(result.scored_sentences.places) == [f"tree {number}" for number in range(1, 31)]


@pytest.mark.usefixtures("small_chunks")
def test_files_of_scores_have_the_places_once(tmp_path: Path) -> None:
    even, uneven = files(tmp_path)["even.mrg"], files(tmp_path)["uneven.mrg"]
    same = treegauge.score(even, {"A": even, "B": uneven}, ["parseval", "goodman"])
    other = treegauge.score(uneven, {"C": even}, ["parseval"])
    Scores([*same, *other]).save(tmp_path / "scores")
    with zipfile.ZipFile(tmp_path / "scores") as file:
        text = file.read("scores.json").decode()
    document = json.loads(text)
    assert text == json.dumps(document, ensure_ascii=False)
    assert document["places"] == [list(result.scored_sentences.places) for result in (same[0], other[0])]
    assert [result["places"] for result in document["results"]] == [0, 0, 0, 0, 1]
    again = Scores.load(tmp_path / "scores")
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "scores").read_bytes()
    assert [list(result.per_sentence()) for result in again] == [list(result.per_sentence()) for result in (*same, *other)]


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize(
    "option", [["--per-sentence"], ["--format", "jsonl"], ["--confidence", "--rounds", "5"], ["-m", "goodman"]]
)
def test_the_command_keeps_no_trees(option: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Except for examples, which show them."""
    kept: list[int] = []
    keep = treegauge.scoring.counts.SystemCounts._keep_trees
    monkeypatch.setattr(treegauge.scoring.counts.SystemCounts, "_keep_trees", lambda *given: (kept.append(1), keep(*given)))
    even, uneven = (str(files(tmp_path)[name]) for name in ("even.mrg", "uneven.mrg"))
    words = ["score", even, uneven, "--save", str(tmp_path / "scores"), "-o", str(tmp_path / "out"), *option]
    with pytest.raises(SystemExit) as end:
        main(words)
    assert (end.value.code, kept) == (0, [])
    assert len(Scores.load(tmp_path / "scores")[0].scored_sentences.places) == 30
    with pytest.raises(SystemExit):
        main(["score", even, uneven, "-o", str(tmp_path / "out"), "--breakdown", "labels", "--examples", "1"])
    assert kept


@pytest.mark.usefixtures("small_chunks")
def test_blocks_that_were_counted_are_forgotten(tmp_path: Path) -> None:
    """Without trees, only the blocks at hand are in memory, however many there are."""
    path = tmp_path / "long.mrg"
    path.write_text("".join(f"{tree}\n" for tree in TREES * 20))
    alive: list[int] = []

    def count_blocks(_: int) -> None:
        alive.append(sum(type(one) is Treebank for one in gc.get_objects()))

    gc.collect()
    gc.freeze()  # leaves out what other tests of this process have made, which is much to look through
    treegauge.score(path, path, trees=False, progress=count_blocks)
    assert len(alive) > 50
    assert max(alive) < 12
