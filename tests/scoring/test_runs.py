"""Several runs of a system: how they are given, shown, saved and limited."""

from __future__ import annotations

import csv
import io
import json
import re
import statistics
from pathlib import Path

import pytest

import treegauge
from treegauge.cli import main
from treegauge.cli._options import named_runs
from treegauge.errors import UsageError
from treegauge.scoring.inputs import runs_of
from treegauge.trees.treebank import Treebank

GOLD = ["(S (NP (D a) (N b)) (VP (V c)))"] * 4
FLAT = "(S (D a) (N b) (V c))"
RUNS = [[FLAT, *GOLD[1:]], [FLAT, FLAT, *GOLD[2:]], GOLD]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, trees in {"gold": GOLD, "a-1": RUNS[0], "a-2": RUNS[1], "a-3": RUNS[2], "b,1": GOLD}.items():
        Path(f"{name}.mrg").write_text("\n".join(trees) + "\n")
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    with pytest.raises(SystemExit) as stop:
        main(list(words))
    shown = capsys.readouterr()
    assert stop.value.code == code, shown.err
    return shown.out if not code else shown.err


def test_the_runs_of_a_system_by_name(folder: Path) -> None:
    assert named_runs(["A=a-1.mrg,a-2.mrg", "runs:a-*.mrg", "b,1.mrg", "x=*.mrg"]) == {
        "A": ["a-1.mrg", "a-2.mrg"], "a": ["a-1.mrg", "a-2.mrg", "a-3.mrg"], "b,1": "b,1.mrg", "x": "*.mrg"
    }  # fmt: skip
    assert named_runs(["A=runs:."])["A"] == sorted(f"./{path.name}" for path in folder.glob("*.mrg"))
    assert named_runs(["x=[ab]-[1,2].mrg"]) == {"x": "[ab]-[1,2].mrg"}
    with pytest.raises(UsageError, match="twice"):
        runs_of(named_runs(["A=a-1.mrg,./a-1.mrg"])["A"])


def test_what_is_a_run_in_python(folder: Path) -> None:
    paths, bank = ["a-1.mrg", "a-2.mrg"], Treebank.parse("\n".join(GOLD))
    assert list(runs_of(paths)) == list(runs_of([Path(path) for path in paths])) == ["a-1", "a-2"]
    assert list(runs_of([bank, bank])) == list(runs_of([GOLD, bank])) == list(runs_of([GOLD, "a-1.mrg"])) == ["1", "2"]
    for one in (GOLD, bank, "a-1.mrg", ["no tree", "and no file"], [bank[0], bank[1]], [], ["", *GOLD]):
        assert runs_of(one) == {"": one}
    assert runs_of([bank]) == {"": bank}
    assert list(runs_of(["a-1.mrg", "missing.mrg"])) == ["a-1", "missing"]


def test_nltk_trees_are_trees_not_runs() -> None:
    nltk = pytest.importorskip("nltk")
    trees = [nltk.Tree.fromstring(text) for text in GOLD]
    assert runs_of(trees) == {"": trees}
    assert list(runs_of([trees, trees])) == ["1", "2"]


def test_each_run_has_the_result_of_a_score_of_its_own() -> None:
    scores = treegauge.score(GOLD, {"A": RUNS, "B": GOLD}, ["parseval", "goodman"])
    assert [(result.system, result.run, result.metric) for result in scores[:3]] == [
        ("A", "1", "parseval"), ("A", "1", "goodman"), ("A", "2", "parseval")
    ]  # fmt: skip
    assert [result.f1 for result in scores if result.metric == "parseval"] == [
        treegauge.score(GOLD, run).f1 for run in [*RUNS, GOLD]
    ]
    assert scores[0].label == "A (1)"
    with pytest.raises(AttributeError, match=r"statistics.mean\(result.rates\[result.headline\] for result in scores\)"):
        scores.mean  # type: ignore[reportAttributeAccessIssue]  # noqa: B018
    induced = treegauge.score(GOLD, {"A": RUNS}, "induction")
    assert statistics.mean(result.rates[result.headline] for result in induced) == statistics.mean(
        result.sentence_f1 for result in induced
    )
    with pytest.raises(UsageError, match=r"3 results of 'A'.*A \(1\)/parseval"):
        scores.of("A", "parseval")


def test_score_shows_mean_and_standard_deviation(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "score", "gold.mrg", "A=a-1.mrg,a-2.mrg,a-3.mrg", "one=a-1.mrg")
    rates = [treegauge.score(GOLD, run).f1 for run in RUNS]
    mean = sum(rates) / 3
    sd = (sum((rate - mean) ** 2 for rate in rates) / 2) ** 0.5
    assert re.search(rf"^f1 +{100 * mean:.2f} ± {100 * sd:.2f} +{100 * rates[0]:.2f}$", text, re.MULTILINE)
    assert "standard deviation over runs (A 3)" in text
    hashes = [treegauge.score(GOLD, run).signature.test for run in RUNS]
    assert f"test:{','.join(hashes)}|" in text


def test_json_and_csv_have_a_line_for_each_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    systems = ("score", "gold.mrg", "A=runs:a-*.mrg", "b=b,1.mrg", "--format")
    results = json.loads(printed(capsys, *systems, "json"))["results"]
    assert [(one["system"], one.get("run")) for one in results] == [("A", "a-1"), ("A", "a-2"), ("A", "a-3"), ("b", None)]
    rows = list(csv.DictReader(io.StringIO(printed(capsys, *systems, "csv"))))
    assert [row["run"] for row in rows if row["rate"] == "f1" and row["length"] == "all"] == ["a-1", "a-2", "a-3", ""]
    lines = printed(capsys, *systems, "jsonl").splitlines()
    assert [json.loads(line).get("run") for line in lines[::4]] == ["a-1", "a-2", "a-3", None]
    again = treegauge.Scores.from_json(json.dumps({"schema": "treegauge.scores/2", "results": results}))
    assert [result.run for result in again] == ["a-1", "a-2", "a-3", ""]


def test_limits_are_for_the_mean(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rates = [treegauge.score(GOLD, run).f1 for run in RUNS]
    mean = sum(rates) / 3
    words = ("score", "gold.mrg", "A=runs:a-*.mrg", "--fail-under")
    printed(capsys, *words, f"f1={mean - 0.001}")
    assert f"A: f1 is {mean:.6g}" in printed(capsys, *words, f"f1={mean + 0.001}", code=1)


def test_a_run_is_not_overwritten(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for given in ("A=a-1.mrg,a-2.mrg", "A=runs:a-*.mrg", "a-1.mrg,a-2.mrg"):
        assert "would be overwritten" in printed(capsys, "score", "gold.mrg", given, "-o", "a-2.mrg", code=2)
    assert "missing.mrg" in printed(capsys, "score", "gold.mrg", "A=a-1.mrg,missing.mrg", code=3)
    assert "nothing matches" in printed(capsys, "score", "gold.mrg", "A=runs:z-*.mrg", code=3)


def test_evalb_has_one_line_for_all_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("a-1.mrg").write_text("\n".join(["()", "()", *GOLD[2:]]) + "\n")
    shown = printed(capsys, "score", "gold.mrg", "A=runs:a-*.mrg")
    assert re.findall(".*EVALB.*", shown) == ["A: EVALB with collins.prm would drop 2, 0, 0 of the 4 sentences, run by run."]
    assert "EVALB" not in printed(capsys, "score", "gold.mrg", "A=a-2.mrg,a-3.mrg")
