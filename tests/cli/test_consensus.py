"""``treegauge consensus`` on answers of language models: broken ones neither vote nor win, and are counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from treegauge.cli import main
from treegauge.cli.consensus import command

TREES = ("(S (NP (N rain)) (VP (V fell)))", "(S (N we) (VP (V slept)))")


def write(path: Path, *answers: str) -> str:
    path.write_text("".join(json.dumps({"parse": answer}) + "\n" for answer in answers), "utf-8")
    return str(path)


def test_broken_answers_do_not_vote_and_are_counted(tmp_path: Path) -> None:
    one, two = write(tmp_path / "1.jsonl", "no", TREES[1]), write(tmp_path / "2.jsonl", TREES[0], f"Sure! {TREES[1]}")
    done = CliRunner().invoke(command, [one, two, "--field", "parse"])
    assert done.stdout.splitlines() == list(TREES)
    assert f"1 from {one} (1 could not be read)" in done.stderr
    repaired = CliRunner().invoke(command, [one, two, "--field", "parse", "--on-error", "repair"])
    assert f"1 from {two} (1 repaired)" in repaired.stderr


def test_a_sentence_without_any_tree_is_exit_code_4(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = write(tmp_path / "1.jsonl", "no", TREES[1]), write(tmp_path / "2.jsonl", "nor this", TREES[1])
    with pytest.raises(SystemExit) as left:
        main(["consensus", one, two, "--field", "parse"])
    assert left.value.code == 4
    captured = capsys.readouterr()
    assert captured.out.splitlines() == ["()", TREES[1]]
    assert "1 sentence without a readable tree in any file" in captured.err
