"""Bad outputs as they come, through the command line and Python: no traceback, no refusal where a score exists, no silence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import treegauge
from treegauge.cli import main
from treegauge.io.sources import ReadOptions

FOLDER = Path(__file__).parent
EXPECTED: dict[str, dict[str, Any]] = json.loads((FOLDER / "expected.json").read_text("utf-8"))
SENTENCES = 4
every_output = pytest.mark.parametrize("name", EXPECTED)
then_otherwise = pytest.mark.parametrize("name", [name for name, expected in EXPECTED.items() if "then" in expected])


def f1(expected: dict[str, Any]) -> float:
    """2m/(g+t) where parses are right or missing, three brackets each, or of brackets counted by hand."""
    if "counts" in expected:
        counts = expected["counts"]
        return 2 * counts["matched"] / (counts["gold"] + counts["test"])
    return 2 * expected["right"] / (SENTENCES + expected["right"])


def test_every_output_has_an_expectation() -> None:
    assert {path.name for path in (FOLDER / "outputs").iterdir()} == set(EXPECTED)
    assert len(EXPECTED) >= 40


@every_output
def test_command_line(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    expected = EXPECTED[name]
    files = [str(FOLDER / expected["gold"]), str(FOLDER / "outputs" / name)]
    with pytest.raises(SystemExit) as left:
        main(["score", *files, *expected["options"], "--format", "json"])
    printed = capsys.readouterr()
    assert "Traceback" not in printed.err
    assert "internal error" not in printed.err
    result = json.loads(printed.out)
    assert result["rates"]["f1"] == pytest.approx(f1(expected))
    assert left.value.code == expected["exit"]
    kinds = [note["kind"] for note in result["notes"]]
    assert {kind: kinds.count(kind) for kind in ("broken", "repaired", "missing", "extra")} == {
        kind: expected[kind] for kind in ("broken", "repaired", "missing", "extra")
    }
    lines = [line for line in printed.err.splitlines() if f"{name}:" in line]
    assert len(lines) >= expected["broken"] + expected["repaired"] + expected["extra"]
    assert expected.get("warning", "") in printed.err
    assert expected.get("said", "") in printed.err
    if "match_words" in expected.get("then", {}) and "warning" in expected:
        assert f"give --match-words {expected['then']['match_words']}" in printed.err
    assert ("warning: " in printed.err) == ("warning" in expected), printed.err


@then_otherwise
def test_command_line_with_the_option_that_helps(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    expected, then = EXPECTED[name], EXPECTED[name]["then"]
    files = [str(FOLDER / expected["gold"]), str(FOLDER / "outputs" / name)]
    given = [f"--{key.replace('_', '-')}={then[key]}" for key in ("match_words", "on_mismatch") if key in then]
    with pytest.raises(SystemExit) as left:
        main(["score", *files, *given, "--format", "json"])
    printed = capsys.readouterr()
    assert left.value.code == 0
    check_then(json.loads(printed.out), then)
    assert ("whose words" in printed.err or "aligned by edit distance" in printed.err) == ("edited" in then)


def check_then(result: dict[str, Any], then: dict[str, Any]) -> None:
    signature = result["signature"]["text"]
    for key in ("match_words", "on_mismatch"):
        if key in then:
            assert f"{key}:{then[key]}" in signature
    if "right" in then:
        assert result["rates"]["f1"] == pytest.approx(f1(then))
    else:
        assert {name: result["counts"][name] for name in then["counts"]} == then["counts"]
        assert result["rates"]["precision"] < 1
        assert sum(note["kind"] == "edited" for note in result["notes"]) == then["edited"]


@every_output
def test_python(name: str) -> None:
    expected = EXPECTED[name]
    options = expected["options"]
    result = treegauge.score(
        FOLDER / expected["gold"],
        FOLDER / "outputs" / name,
        on_error="repair" if "repair" in options else "parse-fails",
        reading=ReadOptions(lines="--lines" in options, field="output" if "--field" in options else ""),
        pair="text",
    )
    assert result.rates["f1"] == pytest.approx(f1(expected))
    kinds = [problem.kind for problem in result.problems]
    assert (kinds.count("broken"), kinds.count("repaired")) == (expected["broken"], expected["repaired"])
    assert sum(result.signature.repairs.values()) >= expected["repaired"]
    assert ("warning" in expected) == bool(result.warnings)
    assert expected.get("warning", "") in " ".join(result.warnings)
    assert not any("--" in warning for warning in result.warnings)
    assert any(expected.get("said", "") in note.text for note in result.notes) or "said" not in expected


@then_otherwise
def test_python_with_the_option_that_helps(name: str) -> None:
    expected, then = EXPECTED[name], EXPECTED[name]["then"]
    gold, test = FOLDER / expected["gold"], FOLDER / "outputs" / name
    match_words, on_mismatch = then.get("match_words", "exact"), then.get("on_mismatch", "align")
    result = treegauge.score(gold, test, match_words=match_words, on_mismatch=on_mismatch)
    assert result.edited == then.get("edited", 0)
    check_then(result.to_dict(), then)


@pytest.mark.parametrize("language", ["en", "de", "fr", "zh", "ar"])
def test_strings(language: str) -> None:
    """A list of what a model said: the same as a file of it, and messages that name no option of the command line."""
    gold = (FOLDER / f"gold.{language}.mrg").read_text("utf-8").splitlines()
    parses = [gold[0], gold[1][:-1], "no idea", ""]
    result = treegauge.score(gold, parses)
    assert result.rates["f1"] == pytest.approx(2 * 1 / 5)
    assert [(problem.sentence, problem.kind) for problem in result.problems] == [(1, "broken"), (2, "broken")]
    assert not any("--" in note.text for note in result.notes)
    assert treegauge.score(gold, parses, on_error="repair").rates["f1"] == pytest.approx(2 * 2 / 6)
    with pytest.raises(treegauge.errors.BracketError):
        treegauge.score(gold, [*gold[:3], gold[3][:-1]], on_error="stop")


def test_unequal_numbers_are_refused() -> None:
    gold = (FOLDER / "gold.en.mrg").read_text("utf-8").splitlines()
    with pytest.raises(treegauge.errors.MismatchError, match="4 gold sentences but 3 parses") as refusal:
        treegauge.score(gold, gold[:3])
    assert "--" not in str(refusal.value)
    assert treegauge.score(gold, gold[:3], pair="text").rates["recall"] == 0.75


def test_broken_gold_is_an_error() -> None:
    gold = (FOLDER / "gold.en.mrg").read_text("utf-8").splitlines()
    with pytest.raises(treegauge.errors.BracketError):
        treegauge.score([*gold[:3], gold[3][:-1]], gold)


def test_the_check_that_was_asked_for_comes_first(capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(FOLDER / "gold.en.mrg"), str(FOLDER / "outputs" / "en-unclosed.mrg")]
    with pytest.raises(SystemExit) as left:
        main(["score", *files, "--fail-under", "f1=0.9"])
    assert left.value.code == 1
    assert "1 tree could not be read" in capsys.readouterr().err


def test_the_training_loop_of_the_readme_survives_garbage() -> None:
    gold = treegauge.read(FOLDER / "gold.en.mrg")

    def validate(parses: list[str]) -> float:
        return treegauge.score(gold, parses, metric="parseval").rates["f1"]

    parses = [str(tree) for tree in gold]
    assert validate(parses) == 1
    assert validate([parses[0], "(S (NP", "<pad> <pad>", "))))"]) == pytest.approx(2 * 1 / 5)


BROKEN_STRINGS = ["(S (NP (N a)", "no idea", "(S (NP (N a))) )", "(S\n(NP (N a)", "\ud800"]


@pytest.mark.parametrize("first", range(len(BROKEN_STRINGS)))
def test_stop_names_the_first_string_that_is_no_tree(first: int) -> None:
    """Whatever is wrong with it, and whatever is wrong with later ones."""
    gold = ["(S (NP (N a)))"] * 7
    parses = [gold[0], "", BROKEN_STRINGS[first], gold[0], *BROKEN_STRINGS[:3]]
    with pytest.raises(treegauge.TreegaugeError, match=r"^(<strings>:3:|string 3 )") as refusal:
        treegauge.score(gold, parses, on_error="stop")
    assert "lines=True" not in str(refusal.value)
    with pytest.raises(treegauge.TreegaugeError, match=r"^(<strings>:3:|string 3 )"):
        treegauge.compare(gold, [gold, parses], treegauge.CompareOptions(on_error="stop"))


def test_wrong_kinds_of_arguments_are_refused_in_words() -> None:
    trees: Any = ["(S (NP (N a)))", "(S (NP (N a)) (VP (V b)))"]
    nested: Any = [trees]
    with pytest.raises(treegauge.UsageError, match="item 1 of the list: expected a Tree"):
        treegauge.induce(nested)
    with pytest.raises(treegauge.UsageError, match="single trees, so it is one system"):
        treegauge.compare(trees, trees)
    with pytest.raises(treegauge.UsageError, match="single trees, so it is one system"):
        treegauge.report(trees, trees)
    for systems in (treegauge.as_treebank(trees), "x.mrg", 3):
        wrong: Any = systems
        with pytest.raises(treegauge.UsageError, match=r"in a list, \[a, b\], not (Treebank|str|int)"):
            treegauge.compare(trees, wrong)
    with pytest.raises(treegauge.UsageError, match="item 1 of the list: expected a Tree"):
        treegauge.learn(nested)
    assert str(treegauge.induce(trees)) == str(treegauge.induce([treegauge.Tree.parse(text) for text in trees]))
    assert treegauge.report(trees, [trees], treegauge.CompareOptions(rounds=10)).systems == ("system 1",)


def test_an_evaluator_takes_broken_parses_as_score_does() -> None:
    gold = ["(S (NP (N a)))", "(S (NP (N b)) (VP (V c)))", "(S (NP (N d)))", "(S (NP (N e)))"]
    parses: list[Any] = [gold[0], gold[1][:-1], None, "no idea"]
    for on_error in ("parse-fails", "repair"):
        expected = treegauge.score(gold, parses, on_error=on_error).rates
        evaluator = treegauge.evaluator("parseval", on_error=on_error)
        assert evaluator.compute(predictions=parses, references=gold) == pytest.approx(dict(expected), nan_ok=True)
        for parse, tree in zip(parses, gold, strict=True):
            evaluator.add(prediction=parse, reference=tree)
        assert evaluator.compute() == pytest.approx(dict(expected), nan_ok=True)
    assert treegauge.evaluator("parseval").compute(predictions=parses, references=gold)["recall"] == pytest.approx(2 / 9)
    with pytest.raises(treegauge.TreegaugeError):
        treegauge.evaluator("parseval", on_error="stop").compute(predictions=parses, references=gold)
    with pytest.raises(treegauge.BracketError):
        treegauge.evaluator("parseval").compute(predictions=gold, references=[*gold[:3], "(S"])


def test_the_difference_to_a_broken_parse_is_that_to_none() -> None:
    found = treegauge.diff("(S (NP (N a)))", "(S (NP (N a))")
    assert found.test is None
    assert "never closed" in found.note
    with pytest.raises(treegauge.BracketError):
        treegauge.diff("(S (NP (N a))", "(S (NP (N a)))")
