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
from treegauge.significance import compare_scores

GOLD = [f"(S (NP (D the) (N n{number})) (VP (V saw) (NP (D a) (N cat))))" for number in range(20)]
FLAT = [f"(S (D the) (N n{number}) (VP (V saw) (D a) (N cat)))" for number in range(20)]
HALF = GOLD[:10] + FLAT[10:]
NOT_TREES = r"not trees or a model\n.*compare_scores\(treegauge.Scores.load\(a, b\)\)"


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
    assert result.exact == result.EM == result.complete_match == result.exact_match == 0.5
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
    with pytest.raises(treegauge.UnknownName, match="'caption'; write it into the text of the table"):
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
    assert published_rows(["K=lp:90,f1:95.8"], names) == published_rows({"K": {"exact": 40, "f1": 95.8}}, names)
    for wrong in (["K=f1:95.8%"], ["K=f1:95.8±0.1"], {"K": {"f1": "x"}}):
        with pytest.raises(
            UsageError, match=r'published="K=...": values are percentages, as in K=f1:95.8, not .(95.8%|95.8±0.1|x)'
        ):
            published_rows(wrong, names)  # type: ignore[arg-type]
    for wrong in ([("K", 95.8)], [("K", {"f1": 95.8})]):
        with pytest.raises(UsageError, match=r'published is \{"Kitaev & Klein": \{"f1": 95.8\}\}, or a list of texts such as'):
            published_rows(wrong, names)  # type: ignore[arg-type]
    for wrong in (["K"], ["K=95.8"], ["K=95.8,90"], {"K": 95.8}, {"K": {"f1": None}}):
        with pytest.raises(UsageError, match=r'published="K=...": name the rates, as in K=f1:95.8'):
            published_rows(wrong, names)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"values are percentages: write 95.8, not 0.958"):
        published_rows({"K": {"f1": 0.958, "average_crossing": 3}}, names)
    with pytest.raises(treegauge.UnknownName, match="unknown rate 'f2'"):
        published_rows({"K": {"f2": 95.8}}, names)
    for one in ({"K": 95.8}, {"K": 95.8, "L": {"f1": 90}}, (text for text in ["K=95.8"])):
        assert published_rows(one, [f1])[0] == published_rows(["K=95.8"], [f1])[0]
    assert "K* & 95.80 \\\\" in comparison.to_latex("f1", published={"K": 95.8})
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
    for systems in ({"a": "runs:a*.mrg"}, {"b": "b.mrg", "a": ["a1.mrg", "a2.mrg"]}):
        with pytest.raises(UsageError, match="a: the trees of one run are shown; give one file per system"):
            treegauge.report("gold.mrg", systems)
    assert treegauge.report("gold.mrg", {"a": "runs:a1*.mrg"}, rounds=20).systems == ("a",)
    for first in ("a=runs:a*.mrg", "a=a1.mrg", "a=a1.mrg,a2.mrg"):
        code, said = called(capsys, "compare", first, "b=runs:b*.mrg", "gold.mrg")
        assert code == 3
        assert said.splitlines()[-1] == "  NAME=FILE is a system of score, compare or report: the gold trees come first."
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


def test_saved_scores_are_found_in_one_way(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One file of two systems, two files, and files given where trees or models are expected."""
    for line in (
        "gold.mrg a1.mrg b.mrg --save all.scores",
        "gold.mrg A=a1.mrg --save A.scores",
        "gold.mrg B=b.mrg --save B.scores",
    ):
        assert called(capsys, "score", *line.split(), "-q")[0] == 0
    assert called(capsys, "compare", "--scores", "all.scores", "--rounds", "20") == (0, "")
    code, message = called(capsys, "compare", "--scores", "A.scores")
    assert (code, "at least two systems" in message) == (2, True)
    code, message = called(capsys, "compare", "A.scores", "B.scores")
    assert (code, "add --scores" in message) == (2, True)
    code, message = called(capsys, "compare", "gold.mrg", "A.scores", "B.scores")
    assert (code, "the option scores of compare" in message) == (3, True)
    with pytest.raises(InputError, match=NOT_TREES):
        treegauge.compare("gold.mrg", ["A.scores", "B.scores"])
    options = treegauge.CompareOptions(rounds=20)
    comparison = compare_scores(Scores.load("A.scores", "B.scores"), options)
    assert comparison.systems == ("A", "B")
    assert compare_scores(Scores.load("all.scores"), options).overall.pairs


def test_saved_scores_are_no_model(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("numba")
    assert called(capsys, "score", "gold.mrg", "a1.mrg", "--save", "a.scores", "-q")[0] == 0
    with pytest.raises(InputError, match=NOT_TREES):
        treegauge.load("a.scores")


def test_breakdowns_in_words(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert list(treegauge.score(GOLD, HALF, breakdowns="labels").breakdowns) == ["labels"]
    assert list(treegauge.score(GOLD, HALF, breakdowns="labels, lengths").breakdowns) == ["labels", "lengths"]
    code, message = called(
        capsys, *["score", "gold.mrg", "a1.mrg", "--breakdown", "labels", "--format", "latex", "--rows", "systems"]
    )
    assert (code, message) == (0, "treegauge: --rows systems has no effect beside --breakdown, --by-length and --per-sentence\n")


@pytest.mark.parametrize("empty", [None, "()"])
def test_parses_that_are_all_empty(empty: str | None) -> None:
    """They are a warning, as other parses that cannot be read, and an error if ``strict``; some empty ones are not."""
    for call in (lambda **how: treegauge.score(GOLD, [empty] * 20, **how), _against_empty(empty)):
        with pytest.warns(treegauge.TreegaugeWarning, match="all 20 parses are empty"):
            call()
        with pytest.raises(treegauge.MismatchError, match="all 20 parses are empty"):
            call(strict=True)
    assert not treegauge.score(GOLD, [*GOLD[:19], empty], strict=True).warnings


def _against_empty(empty: str | None) -> Any:
    return lambda **how: treegauge.compare(GOLD, {"empty": [empty] * 20, "half": HALF}, rounds=10, **how)


def test_calls_that_python_has_not() -> None:
    compare: Any = treegauge.compare
    score: Any = treegauge.score
    with pytest.raises(UsageError, match="compare takes gold, systems, options; all others by name"):
        compare(GOLD, FLAT, HALF, "induction")
    for call in (lambda: compare(GOLD, {"a": FLAT, "b": HALF}, unlabelled=True), lambda: score(GOLD, FLAT, unlabelled=True)):
        with pytest.raises(UsageError, match="unlabelled_f1"):
            call()
    three = compare(GOLD, {"a": FLAT, "b": HALF, "c": GOLD[:5] + FLAT[5:]}, rounds=10)
    with pytest.raises(UsageError, match=r"comparison.overall.pair\(a, b\).of\('f1'\)"):
        _ = three["f1"]
    assert three.overall.pair("a", "b").of("f1").value > 0


def test_the_caption_says_which_system_has_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["score", "gold.mrg", "A=a1.mrg,a2.mrg,a3.mrg", "b.mrg", "--format", "latex", "-q"])
    assert "standard deviations over 3 runs of A." in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["score", "gold.mrg", "A=a1.mrg,a2.mrg", "B=a3.mrg,b.mrg", "--format", "latex", "-q"])
    assert "standard deviations over 2 runs." in capsys.readouterr().out


def test_each_line_of_an_error_has_the_prefix(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, message = called(capsys, "score", "gold.mrg", "a1.mrg", "b.mrg", "--fail-under", "f1=0.99", "-q")
    assert code == 1
    assert [line.split(": ")[:2] for line in message.splitlines()] == [["treegauge", "a1"], ["treegauge", "b"]]


def test_spans_are_answered_with_how_to_make_trees_of_them() -> None:
    """Models that induce trees give (start, end) pairs; a list of such sentences was taken for several runs."""
    words, spans = ["the", "cat", "saw", "it"], [(0, 4), (0, 2)]
    gold = ["(S (NP (D the) (N cat)) (VP (V saw) (NP (P it))))"] * 2
    for given in ([spans, spans], {"mine": [spans, spans]}, [set(spans)] * 2):
        with pytest.raises(UsageError, match=r"Tree\.from_spans\(words, spans\) makes a tree"):
            treegauge.score(gold, given, "induction")
    trees = [treegauge.Tree.from_spans(words, spans)] * 2
    assert treegauge.score(gold, trees, "induction").counts["matched"] == 2


def test_small_letters_are_recognised_in_parses_that_lack_punctuation() -> None:
    gold = ["(S (NP (DT The) (NN cat)) (VP (VBD sat) (ADVP (RB Here) (RB now))) (. .))"] * 5
    result = treegauge.score(gold, ["(X (X the cat) (X sat (X here now)))"] * 5, "induction")
    assert "5 differ only in capital and small letters" in " ".join(result.remarks)


def test_parses_are_trees() -> None:
    """What parse, kbest and argmax return is scored without its field ``tree``, in a list or alone."""
    pytest.importorskip("numba")
    forest = treegauge.Forest(treegauge.PCFG.parse('S -> A A [1]\nA -> "a" [1]'), ["a", "a"])
    gold = "(S (A a) (A a))"
    for parse in (forest.best(), forest.argmax("labelled-recall"), forest.kbest(1)[0]):
        assert treegauge.score([gold], [parse]).f1 == treegauge.score(gold, parse).f1 == 1


def test_rates_of_short_sentences_are_attributes_too() -> None:
    result = treegauge.score(GOLD, FLAT, cutoff=3)
    assert treegauge.score(GOLD, FLAT).short.f1 == result.f1
    with pytest.raises(AttributeError, match="a result has no attribute or rate 'sentence_f1'; its rates: recall, precision"):
        _ = result.short.sentence_f1


def test_the_numbers_of_kbest_and_sample_are_checked() -> None:
    pytest.importorskip("numba")
    forest = treegauge.Forest(treegauge.PCFG.parse('S -> "a" [1]'), ["a"])
    wrong: Any = "3"
    with pytest.raises(UsageError, match="k must be a whole number, not '3'"):
        forest.kbest(wrong)
    with pytest.raises(UsageError, match="size must be a whole number, not '3'"):
        forest.sample(wrong)
    assert forest.kbest(-1) == []


def test_the_arguments_of_add_batch_are_named() -> None:
    evaluator: Any = treegauge.evaluator("parseval")
    with pytest.raises(UsageError, match="add_batch takes predictions= and references="):
        evaluator.add_batch(FLAT, GOLD)
