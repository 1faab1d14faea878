"""Mistakes in Python that a newcomer made: each is an error that says what to write instead, or just works."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import treegauge
from treegauge.grammar import PCFG
from treegauge.io import check, count_parts
from treegauge.normalise import pipeline
from treegauge.parsing.raw_text import tokenise
from treegauge.parsing.spellings import Spellings

TEXT = "(S (NP-SBJ (N a)) (VP (V b)))\n"


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    for name in ("A.mrg", "B.mrg"):
        (tmp_path / name).write_text(TEXT)
    return str(tmp_path / "A.mrg"), str(tmp_path / "B.mrg")


@pytest.mark.parametrize("make", [list, lambda files: [treegauge.read(file) for file in files]])
def test_files_in_a_list_are_not_one_system_of_score(files: tuple[str, str], make: Callable[..., list[object]]) -> None:
    with pytest.raises(treegauge.UsageError, match=r"several systems or several runs: score.gold, {'A': a, 'B': b}"):
        treegauge.score(TEXT, make(files))
    assert isinstance(treegauge.score(TEXT, make(files)[:1]), treegauge.Result)


@pytest.mark.parametrize("function", ["compare", "report"])
def test_systems_one_by_one_are_refused(function: str, files: tuple[str, str]) -> None:
    with pytest.raises(treegauge.UsageError, match=f"{function} takes all systems together"):
        getattr(treegauge, function)(TEXT, *files)


def test_files_are_counted_and_checked(files: tuple[str, str], tmp_path: Path) -> None:
    assert count_parts(files[0]) == count_parts(Path(files[0])) == count_parts(treegauge.read(files[0]))
    (tmp_path / "messy.mrg").write_text("(S (N a)\n")
    assert [type(found) for found in check(tmp_path / "messy.mrg")][:1] == [treegauge.BracketError]


def test_a_treebank_is_made_by_from_trees_and_passed_to_apply() -> None:
    with pytest.raises(treegauge.UsageError, match=r"Treebank\.from_trees"):
        treegauge.Treebank([treegauge.Tree.parse(TEXT)])  # type: ignore[call-arg,arg-type]
    chain, bank = pipeline("functions"), treegauge.Treebank.parse(TEXT)
    with pytest.raises(treegauge.UsageError, match=r"one Tree, not Treebank: pipeline\.apply"):
        chain(bank)  # type: ignore[arg-type]
    made = chain.apply(bank)
    assert len(list(made)) == len(list(made)) == len(made) == 1


def test_the_values_of_on_error_are_those_of_the_command_line() -> None:
    with pytest.raises(treegauge.UnknownName, match="valid: parse-fails, repair, skip, stop"):
        treegauge.read(TEXT, on_error="ignore")


def test_parses_of_a_forest_have_their_posterior() -> None:
    forest = treegauge.Forest(PCFG.parse('S -> S S [.5] | "a" [.5]'), ["a", "a", "a"])
    assert [parse.posterior for parse in forest.kbest(3)] == pytest.approx([0.5, 0.5])


def test_a_forest_of_a_model_is_one_of_its_grammar() -> None:
    model = treegauge.load("own")
    with pytest.raises(treegauge.UsageError, match=r"parser\.grammar"):
        treegauge.Forest(model, ["a"])  # type: ignore[arg-type]
    with pytest.raises(treegauge.UnknownName, match="did you mean 'recall'"):
        model.decoding("recal")


def test_an_apostrophe_is_not_an_opening_quotation_mark() -> None:
    assert Spellings(["‘", "’", "a"])(["'"]) == ("’",)
    assert Spellings(["`", "’"])(["'"]) == ("’",)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("See https://a.org/Tree_(graph).", "See https://a.org/Tree_(graph) ."),
        ("See (https://a.org/x) at https://a.org/x(y)/z.", "See ( https://a.org/x ) at https://a.org/x(y)/z ."),
        ("He said 'no' to them.", "He said ` no ' to them ."),
        ("rock 'n' roll of the '90s' end", "rock 'n ' roll of the '90s ' end"),
    ],
)
def test_brackets_of_addresses_and_one_word_in_quotation_marks(text: str, words: str) -> None:
    assert tokenise(text) == words.split()
