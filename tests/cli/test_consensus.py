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


@pytest.mark.parametrize("metric", ["parseval", "parseval.unlabelled_f1", "parent-child"])
def test_trees_without_constituents_agree(tmp_path: Path, metric: str) -> None:
    """Three parsers outvote the one that has a phrase over a single word."""
    flat = write(tmp_path / "flat.jsonl", "(TOP (UH yes))")
    other = write(tmp_path / "other.jsonl", "(TOP (FRAG (UH yes)))")
    done = CliRunner().invoke(command, [other, flat, flat, flat, "--field", "parse", "--metric", metric])
    assert done.stdout == "(TOP (UH yes))\n"
    assert "mean agreement 0.7500" in done.stderr


@pytest.mark.parametrize(("other", "said"), [("(S (N we) (VP (V slept) (R well)))", "'well', of"), ("(S (N We))", "'We', of")])
def test_the_first_word_that_differs_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str], other: str, said: str) -> None:
    one, two = write(tmp_path / "1.jsonl", TREES[1]), write(tmp_path / "2.jsonl", other)
    with pytest.raises(SystemExit) as left:
        main(["consensus", one, two, "--field", "parse"])
    assert left.value.code == 4
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [("consensus", "--weight", "nan", "--weight", "1"), ("consensus", "--recombine", "--lam", "nan"), ("mix", "--lam", "inf")],
    ids=" ".join,
)
def test_numbers_that_are_not_finite_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    one = write(tmp_path / "1.jsonl", *TREES)
    with pytest.raises(SystemExit) as left:
        main([*arguments, one, one, "-o", str(tmp_path / "out")])
    assert left.value.code == 2
    said = capsys.readouterr().err
    assert "is not a finite number" in said or "is not in the range" in said
    assert not (tmp_path / "out").exists()
