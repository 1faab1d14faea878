"""The six commands that read parses: the same list of what does not fit, the same exit code, the same options."""

from __future__ import annotations

from pathlib import Path

import pytest

from treegauge.cli import main
from treegauge.humancheck.store import Store

GOLD = ["(S (NP (DT The) (NN dog)) (VP (VBD barked)))", "(S (NP (NN Rain)) (VP (VBD fell)))", "(S (NP (NNS Cats)) (VP (VBP purr)))"]
COMMANDS = {
    "score": ["score"],
    "compare": ["compare", "--rounds", "50", "-m", "parseval"],
    "report": ["report", "--rounds", "50", "--format", "markdown"],
    "freval": ["freval"],
    "diff": ["diff"],
    "check": ["check", "--results", "--store", "judgements.sqlite"],
}
every_command = pytest.mark.parametrize("command", COMMANDS)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gold.mrg").write_text("\n".join(GOLD) + "\n")
    with Store("judgements.sqlite", create=True):
        pass
    return tmp_path


def run(command: str, parses: list[str], capsys: pytest.CaptureFixture[str], *options: str) -> tuple[object, str]:
    Path("parsed.mrg").write_text("\n".join(parses) + "\n")
    others = ["gold.mrg"] if command == "compare" else []
    with pytest.raises(SystemExit) as left:
        main([*COMMANDS[command], "gold.mrg", "parsed.mrg", *others, *options])
    printed = capsys.readouterr()
    assert "Traceback" not in printed.err
    assert "internal error" not in printed.err
    return left.value.code or 0, printed.err


@every_command
def test_all_fits(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = run(command, GOLD, capsys)
    assert code == 0
    assert "gold.mrg:" not in said


@every_command
def test_a_broken_tree(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = run(command, [GOLD[0], GOLD[1][:-1], GOLD[2]], capsys)
    assert code == 4
    assert "parsed.mrg:2:1: opening bracket that is never closed" in said
    assert "1 tree could not be read (listed above)" in said


@every_command
def test_a_repaired_tree(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = run(command, [GOLD[0], GOLD[1][:-1], GOLD[2]], capsys, "--on-error", "repair")
    assert code == 0
    assert "repaired: closing-added" in said


@every_command
def test_the_first_error_is_the_end_where_that_is_wanted(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = run(command, [GOLD[0], GOLD[1][:-1], GOLD[2]], capsys, "--on-error", "stop")
    assert code == 3
    assert "parsed.mrg:2:1" in said


@every_command
def test_a_blank_line_is_a_failed_parse_of_its_own_sentence(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The first of two sentences with the same words: by their text, the second would be it."""
    Path("gold.mrg").write_text("\n".join([GOLD[0], *GOLD]) + "\n")
    code, said = run(command, ["", GOLD[0], *GOLD[1:]], capsys)
    assert code == 0
    assert "gold.mrg:1: no parse" in said
    assert "gold.mrg:2" not in said


@every_command
def test_a_missing_sentence(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = run(command, GOLD[1:], capsys)
    assert code == 4
    assert "gold.mrg:1: no test sentence for 'The dog barked'" in said
    assert "1 gold sentence has no parse (listed above)" in said


@every_command
def test_words_in_another_case(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    parses = [line.replace("The", "the").replace("Rain", "rain").replace("Cats", "cats") for line in GOLD]
    code, said = run(command, parses, capsys)
    assert code == 0
    assert "3 differ only in capital and small letters; give --match-words case" in said
    code, said = run(command, parses, capsys, "--match-words", "case")
    assert code == 0
    assert "words differ" not in said


@pytest.mark.parametrize("command", ["score", "compare", "report", "freval"])
def test_edit_distance(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = run(command, [GOLD[0].replace("dog", "cat"), *GOLD[1:]], capsys, "--on-mismatch", "edit")
    assert code == 0
    assert "aligned by edit distance: 2 of 3 gold and 3 test words are shared" in said


def test_many_differences_are_a_few_examples_and_a_count(capsys: pytest.CaptureFixture[str]) -> None:
    Path("gold.mrg").write_text("\n".join(GOLD * 20) + "\n")
    code, said = run("score", [line.lower().replace("(s (np", "(S (NP").replace("vp", "VP") for line in GOLD * 20], capsys)
    assert code == 0
    assert len(said.splitlines()) == 5
    assert "and 57 more sentences whose words differ (60 in all; --format json lists them)" in said


BROKEN, BLANK = GOLD[1][:-1], ""


@pytest.mark.parametrize(
    ("parses", "checks", "code"),
    [
        ([GOLD[0], BROKEN, GOLD[2]], "parsed=0.6", 0),
        ([GOLD[0], BROKEN, GOLD[2]], "parsed=0.7", 1),
        ([GOLD[0], BROKEN, GOLD[2]], "f1=0.1", 4),
        ([GOLD[0], BROKEN, GOLD[2]], "f1=0.9", 1),
        ([GOLD[0], BROKEN, GOLD[2]], "parsed=0.6 f1=0.9", 1),
        ([GOLD[0], BLANK, GOLD[2]], "parsed=0.7", 1),
        (GOLD[:2], "parsed=0.6", 0),
        (GOLD[:2], "parsed=0.7", 1),
        ([*GOLD, GOLD[0]], "parsed=0.6", 4),
        ([*GOLD, GOLD[0]], "parsed=0.6 f1=1", 4),
        ([*GOLD, GOLD[0]], "f1=0.6", 4),
        ([GOLD[0], GOLD[1].replace(" ", " zz"), GOLD[2]], "parsed=0.7", 1),
        (GOLD, "parsed=1", 0),
    ],
)
def test_a_limit_of_parsed_sentences_judges_missing_and_broken_ones_alone(
    parses: list[str], checks: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [word for check in checks.split() for word in ("--fail-under", check)]
    found, said = run("score", parses, capsys, "--lines", *options)
    assert found == code, said
    assert (code == 1 and "parsed=0.7" in checks) == ("parsed is 0.666667, below the required 0.7" in said)


def test_other_limits_say_which_one_judges_broken_parses(capsys: pytest.CaptureFixture[str]) -> None:
    code, said = run("score", [GOLD[0], GOLD[1][:-1], GOLD[2]], capsys, "--fail-under", "f1=0.1")
    assert (code, "; --fail-under parsed=... says how many may fail" in said) == (4, True)
    assert "parsed=" not in run("score", [GOLD[0], GOLD[1][:-1], GOLD[2]], capsys)[1]
    code, said = run("score", [*GOLD, GOLD[0]], capsys, "--fail-under", "parsed=0.6")
    assert (code, said.splitlines()[-1]) == (4, "treegauge: the checks passed, but exit code 4 reports these parses")


def test_a_limit_of_parsed_sentences_is_a_lower_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("score", GOLD, capsys, "--fail-over", "parsed=0.5")[0] == 2


def test_missing_answers_are_counted_and_judged_by_the_limit_of_parsed_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    """Lines are missing, so that answers are paired by their words: those over other words belong to no gold sentence."""
    Path("gold.mrg").write_text("".join(f"(S (NP (NN rain{number})) (VP (VBD fell)))\n" for number in range(20)))
    answers = Path("gold.mrg").read_text().splitlines()
    answers[4] = answers[4].replace("rain", "snow")
    answers[9] = "I cannot."
    answers[14] = ""
    parses = [answer for number, answer in enumerate(answers) if number not in (5, 10, 15)]
    for options, code in ((), 4), (("--fail-under", "parsed=0.7"), 0), (("--fail-under", "parsed=0.8"), 1):
        found, said = run("score", parses, capsys, "--lines", *options)
        assert found == code, said
        assert "1 tree could not be read" in said
        assert "no gold sentence for an empty parse; it is left out" in said
        assert "6 gold sentences have no parse, 2 parses have no gold sentence" in said
        assert "give a parse for each gold sentence, in order, an empty one (null in JSON lines) where there is none" in said
        assert ("parsed is 0.7, below the required 0.8" in said) == (code == 1)
    assert run("score", parses, capsys, "--lines", "-q", "--fail-under", "parsed=0.7") == (0, "")
