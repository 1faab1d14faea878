"""What people write in Python and on the command line for rates, runs, limits and published values."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import treegauge
from treegauge import CheckFailed, InputError, UsageError
from treegauge.cli import main
from treegauge.scoring.paper_table import published_rows
from treegauge.scoring.result import Scores

GOLD = [f"(S (NP (D the) (N n{number})) (VP (V saw) (NP (D a) (N cat))))" for number in range(20)]
FLAT = [f"(S (D the) (N n{number}) (VP (V saw) (D a) (N cat)))" for number in range(20)]
HALF = GOLD[:10] + FLAT[10:]


@pytest.fixture(scope="module")
def comparison() -> treegauge.Comparison:
    return treegauge.compare(GOLD, {"half": HALF, "flat": FLAT}, rates="recall,F1,exact", rounds=100)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, trees in {"gold": GOLD, "a1": HALF, "a2": FLAT, "a3": GOLD, "b": FLAT}.items():
        Path(f"{name}.mrg").write_text("\n".join(trees) + "\n")
    return tmp_path


def called(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[Any, str]:
    with pytest.raises(SystemExit) as stop:
        main(list(words))
    return stop.value.code, capsys.readouterr().err


def test_rates_are_found_as_tables_print_them(comparison: treegauge.Comparison) -> None:
    result = treegauge.score(GOLD, HALF)
    assert result.F1 == result.f1 == result.lf
    assert result.exact == result.exact_match == 0.5
    assert comparison["F1"] == comparison["f1"] == comparison["parseval.F1"]
    assert comparison.overall.names == (("parseval", "recall"), ("parseval", "f1"), ("parseval", "exact_match"))
    assert comparison["exact match"].difference == -0.5
    with pytest.raises(AttributeError, match="has no attribute or rate 'to_latex'"):
        _ = result.to_latex
    with pytest.raises(treegauge.UnknownName) as wrong:
        treegauge.compare(GOLD, {"a": HALF, "b": FLAT}, rates="f2", rounds=10)
    assert "parseval." not in str(wrong.value)


def test_lists_of_words(comparison: treegauge.Comparison) -> None:
    assert comparison.to_latex(["recall", "f1"]) == comparison.to_latex("recall", "f1") == comparison.to_latex("recall,f1")
    assert comparison.to_latex(rates=["recall", "f1"]) == comparison.to_latex("recall", "f1")
    wrong: Any = {"caption": "x"}
    with pytest.raises(treegauge.UnknownName, match="'caption'; set it around the table"):
        comparison.to_latex(**wrong)
    found = treegauge.compare(GOLD, {"a": HALF, "b": FLAT}, lengths="4,10", structure="NP,VP", rounds=10)
    assert [group.title for group in found.groups[1:]] == ["5-10 words", "NP", "VP"]
    for wrong in ("ten", [0], -1, 2.5):
        with pytest.raises(UsageError, match="lengths"):
            treegauge.compare(GOLD, {"a": HALF, "b": FLAT}, lengths=wrong, rounds=10)


def test_short_sentences_are_compared_by_themselves() -> None:
    gold, test = [*GOLD, "(S (A a) (B (C c) (D d)))"], [*FLAT, "(S (A a) (C c) (D d))"]
    found = treegauge.compare(gold, {"a": test, "b": gold}, cutoff=3, rounds=10, rates="f1")
    assert [(group.title, group.sentences) for group in found.groups] == [("all sentences", 21), ("1-3 words", 1)]
    assert found.groups[1].rates["a"]["parseval", "f1"].value == treegauge.score(gold, test, cutoff=3).short.rates["f1"]


def test_the_ends_of_the_interval(comparison: treegauge.Comparison) -> None:
    found = comparison["f1"]
    assert (found.low, found.high) == found.interval[:2]


def test_systems_given_one_by_one() -> None:
    first, second = (treegauge.Treebank.parse("\n".join(trees)) for trees in (HALF, FLAT))
    for other in (second, second[0], list(second), FLAT, FLAT[0]):
        with pytest.raises(UsageError, match=r"score takes all systems together, as in score\(gold, \{'mine': a"):
            treegauge.score(GOLD, first, other)  # type: ignore[call-overload]
        with pytest.raises(UsageError, match=r"compare takes all systems together, as in compare\(gold, \{'mine': a"):
            treegauge.compare(GOLD, first, other)  # type: ignore[arg-type]


def test_the_metric_has_one_name() -> None:
    for call in (treegauge.score, treegauge.compare):
        with pytest.raises(treegauge.UnknownName, match="'metrics'; did you mean 'metric'"):
            call(GOLD, {"a": HALF, "b": FLAT}, metrics=["parseval"])  # type: ignore[call-overload]


def test_published_values(comparison: treegauge.Comparison) -> None:
    names = [("parseval", "recall"), ("parseval", "f1"), ("parseval", "average_crossing")]
    recall, f1, crossing = names
    for given in (["K=f1:95.8"], "K=F1:95.8", ["K=,95.8,"], ["K=-,95.8,-"], {"K": {"f1": 95.8}}, {"K": {"parseval.f1": 95.8}}):
        (row,) = published_rows(given, names)
        assert (row.system, row.untested) == ("K", "as published")
        assert dict(row.rates) == {f1: pytest.approx(0.958)}
    (row,) = published_rows(["K=90,95.8,0.4"], names)
    assert dict(row.rates) == {recall: pytest.approx(0.9), f1: pytest.approx(0.958), crossing: 0.4}
    assert len(published_rows(["K=f1:1.5", "K=f1:2"], names)) == 2
    for wrong in (["K"], ["K=95.8"], ["K=95.8,90"], ["K=f1:x"], {"K": 95.8}, {"K": {"f1": "x"}}, {"K": {"f1": None}}):
        with pytest.raises(UsageError, match=r'published="K=...": name the rates, as in K=f1:95.8'):
            published_rows(wrong, names)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"values are percentages: write 95.8, not 0.958"):
        published_rows({"K": {"f1": 0.958, "average_crossing": 3}}, names)
    with pytest.raises(treegauge.UnknownName, match="unknown rate 'f2'"):
        published_rows({"K": {"f2": 95.8}}, names)
    table = comparison.to_latex("recall", "f1", published={"K": {"f1": 95.8}})
    assert "K* & -- & 95.80 \\\\" in table
    assert "*: as published, not tested here." in table


def test_results_by_the_name_of_the_system() -> None:
    scores = treegauge.score(GOLD, {"base": FLAT, "mine": HALF})
    assert scores["mine"] is scores.of("mine") is scores[1]
    with pytest.raises(UsageError, match="there are: base/parseval, mine/parseval"):
        _ = scores["other"]


def test_limits_in_python() -> None:
    result = treegauge.score(GOLD, HALF)
    result.check(f1=0.8, parsed=0.95, average_crossing=1, **{"parseval.recall": 0.5, "parseval.cb": 1})
    for wrong, said in (
        ({"F1": 0.99}, "f1 is 0.857143, below the required 0.99"),
        ({"parsed": 1, "exact": 0.6}, "exact_match is 0.5"),
    ):
        with pytest.raises(CheckFailed, match=said):
            result.check(**wrong)
    with pytest.raises(UsageError, match=r"write f1=0.8"):
        result.check(f1=80)
    runs = treegauge.score(GOLD, {"A": [FLAT, GOLD]})
    runs.check(exact_match=0.5)
    with pytest.raises(CheckFailed, match=r"A: exact_match is 0\.5, below the required 0\.6"):
        Scores(runs).check(exact_match=0.6)


def test_frames_have_the_main_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=dict))
    result = treegauge.score(GOLD, HALF)
    frame = result.to_frame()
    assert list(frame)[:4] == ["sentence", "length", "f1", "sentences"]
    assert frame["f1"] == [record["rates"]["f1"] for record in result.per_sentence()]
    assert "f1" in treegauge.score(GOLD, HALF, "freval").to_frame()


def test_files_of_runs_that_are_all_missing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("score", "compare"):
        for given in ("base=nope-1.mrg,nope-2.mrg", "10,20,40", "x(1),y(2)"):
            code, said = called(capsys, command, "gold.mrg", "ours=a1.mrg,a2.mrg", given)
            assert code == 3
            assert "no such file" in said
            assert "stands for the runs of one system" in said
    for one in (["nope.mrg", "nope2.mrg"], ["nope.mrg"]):
        with pytest.raises(InputError, match="no such file"):
            treegauge.score("gold.mrg", {"a": one})
    with pytest.warns(treegauge.TreegaugeWarning):
        assert treegauge.score(GOLD[:2], ["I cannot", "No tree."]).recall == 0


def test_runs_by_a_glob(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores = treegauge.score("gold.mrg", {"a": "runs:a*.mrg"})
    assert [result.run for result in scores] == ["a1", "a2", "a3"]
    found = treegauge.compare("gold.mrg", {"a": "runs:a*.mrg", "b": "b.mrg"}, rounds=50)
    assert found.overall.has_runs
    with pytest.raises(UsageError, match=r"runs of a system are written runs:a\*"):
        treegauge.score("gold.mrg", {"a": "run:a*.mrg"})
    code, said = called(capsys, "compare", "gold.mrg", "a=run:a*.mrg", "b.mrg")
    assert code == 2
    assert "written runs:a*.mrg" in said
    code, said = called(capsys, "compare", "gold.mrg", "a1.mrg", "a2.mrg", "a3.mrg", "b.mrg", "--rounds", "20")
    assert code == 0
    assert "3 files look like runs of one parser; to compare their mean, write NAME=runs:'a*.mrg'" in said


def test_a_figure_of_a_comparison(comparison: treegauge.Comparison, tmp_path: Path) -> None:
    from treegauge.reports import comparison_figure

    figure = comparison_figure(comparison)
    assert repr(figure).startswith("<Figure 'differences': Differences, flat − half")
    assert treegauge.write_figure(comparison, tmp_path / "x.svg") == [tmp_path / "x.svg"]
    assert (tmp_path / "x.svg").read_text("utf-8") == figure._repr_svg_()
    assert math.isfinite(comparison["f1"].p)


def test_slips_in_python_are_answered_in_words(tmp_path: Path) -> None:
    tree = "(S (NP (DT the) (NN cat)) (VP (VBD sat)))"
    result: Any = treegauge.score([tree] * 3, [tree] * 3)
    with pytest.raises(UsageError, match="a figure is made of a comparison"):
        treegauge.write_figure(result, tmp_path / "s.svg")
    result.check({"f1": 0.1})
    other: Any = treegauge.score([tree] * 3, [tree.replace("NP", "PP")] * 3)
    with pytest.raises(CheckFailed, match="f1"):
        other.check({"f1": 0.99})
    wrong: Any = {"prediction": [tree], "references": [tree]}
    with pytest.raises(treegauge.UnknownName, match="did you mean 'predictions'"):
        treegauge.evaluator().add_batch(**wrong)
    for name in ("a.mrg", "b.mrg"):
        (tmp_path / name).write_text(tree, "utf-8")
    with pytest.raises(UsageError, match="a file is given twice as a run"):
        treegauge.score([tree], {"runs": [tmp_path / "a.mrg", tmp_path / "a.mrg"]})
    with pytest.raises(UsageError, match=r"2 results of 'runs'.*\n  All of them: "):
        treegauge.score([tree], {"runs": f"runs:{tmp_path}/*.mrg"}).of("runs")
