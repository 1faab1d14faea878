"""The example files: as described, right, and never written over somebody's own."""

from __future__ import annotations

import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest
from pages import FOLLOWED, MADE, NEWCOMERS, ROOT, commands

import treegauge
from treegauge.data import EXAMPLES, own_treebank, write_examples
from treegauge.normalise import pipeline


def test_the_files_are_what_their_descriptions_say(tmp_path: Path) -> None:
    paths = write_examples(tmp_path / "new")
    assert {path.name for path in paths} == set(EXAMPLES)
    gold = treegauge.read(tmp_path / "new" / "gold.mrg")
    assert [str(tree) for tree in gold] == [str(tree) for tree in own_treebank("dev")]
    assert len(treegauge.read(tmp_path / "new" / "train.mrg")) == 418
    without_traces = pipeline("traces")
    sentences = (tmp_path / "new" / "sentences.txt").read_text("utf-8").splitlines()
    assert sentences == [" ".join(without_traces(tree).words) for tree in gold]
    assert sentences == [" ".join(tree.words) for tree in treegauge.read(tmp_path / "new" / "A.mrg")]
    for name in ("A.mrg", "B.mrg"):
        result = treegauge.score(gold, tmp_path / "new" / name)
        assert not result.notes
        assert 0.8 < result.f1 < 0.9


def test_the_answers_of_a_language_model_are_broken_in_every_way_and_most_can_be_repaired(tmp_path: Path) -> None:
    write_examples(tmp_path)
    options = treegauge.ReadOptions(on_error="repair", field="parse")
    for name in ("llm.jsonl", "llm2.jsonl"):
        result = treegauge.score(tmp_path / "gold.mrg", tmp_path / name, reading=options)
        said = " ".join(map(str, result.problems))
        for repair in ("prose", "closing-added", "code-fence", "numbering", "closing-removed"):
            assert repair in said
        assert sum(note.kind == "broken" for note in result.problems) == 1


def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "B.mrg").write_text("mine", "utf-8")
    with pytest.raises(treegauge.UsageError, match=r"not overwritten, since it differs from the example: .*B\.mrg"):
        write_examples(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["B.mrg"]


def test_writing_them_again_changes_nothing_and_completes_what_is_missing(tmp_path: Path) -> None:
    paths = write_examples(tmp_path)
    before = {path: path.stat().st_mtime_ns for path in paths}
    (tmp_path / "A.mrg").unlink()
    assert write_examples(tmp_path) == paths
    assert {path: path.stat().st_mtime_ns for path in paths if path.name != "A.mrg"}.items() <= before.items()
    command = [sys.executable, "-m", "treegauge", "examples"]
    again = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.splitlines()
    assert all("already there" in line for line in again[:-1])
    assert again[-1] == "Now type: treegauge compare gold.mrg A.mrg B.mrg"


def test_a_copy_of_the_repository_stays_clean() -> None:
    """README says to run its commands there; those of the pages that it leads to can be typed there, too."""
    ignored = (ROOT / ".gitignore").read_text("utf-8").splitlines()
    lines = [line.partition(" #")[0] for page in NEWCOMERS + FOLLOWED for line, _ in commands(ROOT / page)]
    written = {name.strip("';") for line in lines for name in MADE.findall(line)} - {"-", "/dev/null", "&1"}
    assert {"parsed.mrg.gz", "report.html"} <= written
    names = {*EXAMPLES, "judgements.sqlite", *written}
    patterns = [f"{pattern}*" if pattern.endswith("/") else pattern for pattern in ignored]
    assert {name for name in names if not any(fnmatch(f"/{name}", pattern) for pattern in patterns)} == set()


def test_103_sentences_show_a_difference(tmp_path: Path) -> None:
    """The docs show the verdict; the files stay such that it holds."""
    write_examples(tmp_path)
    compared = treegauge.compare(tmp_path / "gold.mrg", {name: tmp_path / f"{name}.mrg" for name in "AB"})
    assert str(compared).startswith("B is better than A by 0.81 F1")
