"""Broken trees of a treebank do not stop a command that was told so, and what was written and left out adds up."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from treegauge.cli import main
from treegauge.io import ReadOptions, read, stream

GOOD = ["(S (NP (N Ana)) (VP (V dorme)))", "(S (NP (N chá)) (VP (V ferve)))", "(S (NP (N Rui)) (VP (V lê)))"]
UNCLOSED, SURPLUS, OUTSIDE = "(S (NP (N pão)) (VP (V falta))", "(S (NP (N sol)) (VP (V põe))))", "nota à margem"
TREES = [GOOD[0], UNCLOSED, GOOD[1], OUTSIDE, GOOD[2], SURPLUS]
PLACES = ["x.ptb:2:1", "x.ptb:4:1", "x.ptb:6:30"]
REPAIRED = {UNCLOSED: UNCLOSED + ")", SURPLUS: SURPLUS[:-1]}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "x.ptb").write_text("\n".join(TREES) + "\n", "latin-1")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(line: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[str]]:
    """The exit code of a command, and the lines of its messages."""
    with pytest.raises(SystemExit) as end:
        main(line.split())
    return int(end.value.code or 0), capsys.readouterr().err.splitlines()


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"[^\s()]+(?=[\s)]|$)", re.sub(r"\([^\s()]*", "", text)))


@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("how", ["skip", "repair"])
@pytest.mark.parametrize("command", ["convert", "normalise --steps redundant"])
def test_what_is_written_and_left_out_adds_up(
    command: str, how: str, drop: bool, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, messages = run(f"{command} x.ptb -o out.mrg --on-error {how} --rejects r.txt{' --drop' * drop}", capsys)
    mended = REPAIRED if how == "repair" else {}
    rejected = [text for text in TREES if text not in GOOD and text not in mended]
    written = [mended.get(text, "()" if text in rejected else text) for text in TREES]
    lines = (folder / "out.mrg").read_text("utf-8").splitlines()
    assert lines == [text for text in written if text != "()" or not drop]
    assert (folder / "r.txt").read_text("latin-1").splitlines() == rejected, "in the encoding of the file"
    assert words("\n".join(lines + rejected)) == words("\n".join(TREES)), "no word is lost, none is written twice"
    assert code == 4
    assert [place for place in PLACES if any(line.startswith(f"{place}: ") for line in messages)] == PLACES
    done = "left out" if drop else "written as ()"
    assert messages[-1] == f"treegauge: 3 of 6 trees are broken: {len(rejected)} {done}, {len(mended)} repaired"


@pytest.mark.parametrize("lines", ["", " --lines"])
def test_what_a_repair_leaves_out_is_kept(lines: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = "(S (NP (DT a) (NN b))) (VP (VBD sat)))"
    (folder / "x.ptb").write_text(f"{GOOD[0]}\n{broken}\n1. {UNCLOSED}\n", "utf-8")
    code, messages = run(f"convert x.ptb{lines} -o out.mrg --on-error repair --rejects r.txt", capsys)
    assert code == 4
    assert messages[-1] == "treegauge: 2 of 3 trees are broken: 0 written as (), 2 repaired"
    assert (folder / "out.mrg").read_text("utf-8").splitlines() == [GOOD[0], "(S (NP (DT a) (NN b)))", UNCLOSED + ")"]
    assert (folder / "r.txt").read_text("utf-8") == "(VP (VBD sat)))\n", "a number before a tree is no text left out"


@pytest.mark.parametrize(("how", "counted"), [("skip", 3), ("repair", 5)])
@pytest.mark.parametrize("command", ["induce x.ptb -o - --format text", "train x.ptb -o x.model --grammars 1 --rounds 0 --no-tune"])
def test_grammars_are_of_the_trees_that_could_be_read(
    command: str, how: str, counted: int, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, messages = run(f"{command} --on-error {how} --rejects r.txt", capsys)
    assert code == 4
    assert any(re.match(rf"{counted} trees\b", line) for line in messages)
    assert messages[-1] == f"treegauge: 3 of 6 trees are broken: {6 - counted} left out, {counted - 3} repaired"
    assert len((folder / "r.txt").read_bytes().splitlines()) == 6 - counted


@pytest.mark.parametrize(
    "command",
    [
        "convert x.ptb -o out.mrg",
        "normalise x.ptb --steps redundant -o out.mrg",
        "induce x.ptb -o out.mrg",
        "train x.ptb -o out.mrg",
        "score x.ptb x.ptb --on-error parse-fails",
        "compare x.ptb x.ptb B=x.ptb --on-error repair",
    ],
)
def test_a_broken_gold_tree_stops_unless_told_otherwise(command: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "x.ptb").write_text("\n".join([GOOD[0], UNCLOSED, GOOD[1]]), "utf-8")
    code, messages = run(command, capsys)
    assert code == 3
    assert any("x.ptb:2:1: opening bracket that is never closed" in line for line in messages)
    assert not (folder / "out.mrg").exists()


@pytest.mark.parametrize("name", ["x.ptb", "x.jsonl"])
def test_score_convert_and_python_repair_alike(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fenced = f"```\n{GOOD[1]}\n```"
    answers = [GOOD[0], fenced, "1. " + UNCLOSED, "[S [NP [N sal]] [VP [V cai]]]", "no tree", SURPLUS]
    records = "\n".join(json.dumps({"parse": answer}) for answer in answers)
    text = f"#1\n{GOOD[0]}\n#2\n{UNCLOSED}\n#3\n  {GOOD[1]}\n#4\n{SURPLUS}\n"
    (folder / name).write_text(records if name == "x.jsonl" else text, "utf-8")
    style = "" if name == "x.jsonl" else " --treebank floresta"
    assert run(f"convert {name}{style} --on-error repair -q -o out.mrg", capsys)[0] == 4
    expected = (folder / "out.mrg").read_text("utf-8").splitlines()
    assert expected.count("()") == (name == "x.jsonl")
    bank = read(name, ReadOptions(treebank=style[12:], on_error="repair"))
    assert [str(tree) for tree in bank] == expected
    assert [str(tree) for block in stream(name, ReadOptions(treebank=style[12:], on_error="repair")) for tree in block] == expected
    code, messages = run(f"score out.mrg {name}{style} --on-error repair -o -", capsys)
    assert (code, sum("no parse" in line or "no test" in line for line in messages)) == (4 * (name == "x.jsonl"), 0)
    assert sum("repaired: " in line for line in messages) == len(bank.problems()) - (name == "x.jsonl")


def test_quiet_lists_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("convert", "normalise --steps redundant"):
        code, messages = run(f"{command} x.ptb -o out.mrg --on-error parse-fails -q", capsys)
        assert (code, messages) == (4, ["treegauge: 3 of 6 trees are broken: 3 written as (), 0 repaired"])


def test_a_whole_treebank_is_not_reported(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "x.ptb").write_text("\n".join(GOOD), "utf-8")
    assert run("convert x.ptb -o out.mrg --on-error repair --rejects r.txt --drop", capsys) == (0, [])
    assert (folder / "r.txt").read_bytes() == b""
    for option in ("--drop", "--rejects r.txt"):
        assert run(f"convert x.ptb {option}", capsys)[0] == 2, "these options need --on-error"


def test_exit_codes_of_repaired_answers_are_those_of_the_page_on_language_models(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "gold.mrg").write_text("\n".join(GOOD[:2]), "utf-8")
    repairable = json.dumps({"parse": f"Sure: {GOOD[0]}"})
    (folder / "good.jsonl").write_text("\n".join([repairable, json.dumps({"parse": GOOD[1]})]), "utf-8")
    (folder / "bad.jsonl").write_text("\n".join([repairable, json.dumps({"parse": "I cannot do that."})]), "utf-8")
    assert run("convert good.jsonl --field parse --on-error repair -o good.mrg", capsys)[0] == 4
    assert run("score gold.mrg good.jsonl --field parse --on-error repair", capsys)[0] == 0
    assert run("convert bad.jsonl --field parse --on-error repair -o bad.mrg", capsys)[0] == 4
    assert run("score gold.mrg bad.jsonl --field parse --on-error repair", capsys)[0] == 4
    assert run("score gold.mrg bad.mrg", capsys)[0] == 0


@pytest.mark.parametrize(
    ("command", "advice"),
    [
        ("convert x.ptb -o y.mrg --lines", "--on-error repair mends what can be mended, --on-error skip does without it"),
        ("induce x.ptb -o y.model --lines", "--on-error repair mends what can be mended, --on-error skip does without it"),
        ("draw x.ptb --lines", "treegauge convert FILE --on-error repair -o MENDED mends what can be mended"),
        ("validate x.ptb --statistics --lines", "treegauge convert FILE --on-error repair -o MENDED mends what can be mended"),
        ("draw (S", None),
    ],
)
def test_a_broken_tree_that_stops_a_command_names_a_way_on(
    command: str, advice: str | None, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, lines = run(command, capsys)
    assert code == 3
    assert any(advice in line for line in lines) if advice else not any("--on-error" in line for line in lines)
