"""`score`, `compare`, `freval` and `report` agree: the same rates, signatures, and sentences that EVALB would drop.

For every metric and every preset, on files with escaped words, retagged punctuation, failed and missing parses.
"""

from __future__ import annotations

import html
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import treegauge
from treegauge import CompareOptions, Scores, compare, load_preset, metric_names, preset_names, score
from treegauge.cli import main
from treegauge.errors import FormatError, InputError, MismatchError
from treegauge.io.sources import ReadOptions
from treegauge.metrics.evalb import UNPAIRED, VALID, score_lines
from treegauge.metrics.fragments import BySize
from treegauge.metrics.registry import compared_metrics
from treegauge.reports.reporting import report_of_scores
from treegauge.significance import compare_scores


def score_by_text(*arguments: Any, **options: Any) -> Any:
    """Scores of files with sentences that have no parse at all."""
    return score(*arguments, pair="text", **options)


GOLD = r"""
(ROOT (S (NP (DT the) (NN cat)) (VP (VBD ate) (NP (CD 1\/2) (NN fish))) (. .)))
(ROOT (S (PP (IN at) (NP (NN noon))) (, ,) (NP (PRP he)) (VP (VBD slept)) (. .)))
(ROOT (S (NP (NN rain)) (VP (VBD fell) (PP (IN on) (NP (NNS roofs)))) (. .)))
(ROOT (S (NP (NP (NNS sons)) (PP (IN of) (NP (NNS bakers)))) (VP (VBP bake) (NP (NN bread))) (. .)))
(ROOT (FRAG (NP (NN silence)) (. .)))
(ROOT (S (NP (PRP we)) (VP (VBD saw) (NP (DT a) (NN play) (PP (IN about) (NP (NN love))))) (. ?)))
"""
ESCAPED = r"""
(ROOT (S (NP (DT the) (NN cat)) (VP (VBD ate) (NP (CD 1/2)) (NP (NN fish))) (. .)))
(ROOT (S (PP (IN at) (NP (NN noon))) (, ,) (NP (PRP he)) (VP (VBD slept)) (. .)))
(ROOT (S (NP (NN rain)) (VP (VBD fell) (PP (IN on) (NP (NNS roofs)))) (. .)))
(ROOT (S (NP (NNS sons)) (PP (IN of) (NP (NNS bakers))) (VP (VBP bake) (NP (NN bread))) (. .)))
(ROOT (FRAG (NP (NN silence)) (. .)))
(ROOT (S (NP (PRP we)) (VP (VBD saw) (NP (DT a) (NN play)) (PP (IN about) (NP (NN love)))) (. ?)))
"""
RETAGGED = r"""
(ROOT (S (NP (DT the) (NN cat)) (VP (VBD ate) (NP (CD 1\/2) (NN fish))) (. .)))
(ROOT (S (PP (IN at) (NP (NN noon))) (NN ,) (NP (PRP he)) (VP (VBD slept)) (. .)))

(ROOT (S (NP (NP (NNS sons)) (PP (IN of) (NP (NNS bakers)))) (VP (VBP bake) (NP (NN bread))) (SYM .)))
(ROOT (FRAG (NN silence) (. .)))
(ROOT (S (NP (PRP we)) (VP (VBD saw) (NP (DT a) (NN play) (PP (IN about) (NP (NN love))))) (. ?)))
"""
MISSING = "\n".join(line for number, line in enumerate(ESCAPED.splitlines()) if number != 3) + "\n"
FILES = {"gold": GOLD, "escaped": ESCAPED, "retagged": RETAGGED, "missing": MISSING}
SYSTEMS = ("escaped", "retagged", "missing")

every_preset = pytest.mark.parametrize("preset", [None, *preset_names()])


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files in a folder that is the current one."""
    for name, text in FILES.items():
        (tmp_path / f"{name}.mrg").write_text(text.removeprefix("\n"), "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(files: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*words: str) -> str:
        capsys.readouterr()
        with pytest.raises(SystemExit):
            main(words)
        return capsys.readouterr().out

    return call


def same(ours: float | None, theirs: float | None) -> bool:
    return ours == theirs or (isinstance(ours, float) and isinstance(theirs, float) and math.isnan(ours) and math.isnan(theirs))


def metrics_for(preset: str | None) -> list[str]:
    """The metrics that count the same sentences under a preset: ``induction`` also counts those without brackets."""
    alone = preset is not None and not load_preset(preset).empty_gold
    return [name for name in metric_names() if name != "induction" or not alone]


@every_preset
def test_score_compare_and_freval_agree(preset: str | None, run: Any) -> None:
    trees = ["gold.mrg", *(f"{system}.mrg" for system in SYSTEMS)]
    given = [] if preset is None else ["-p", preset]
    metrics = [word for name in metrics_for(preset) for word in ("-m", name)]
    scored = json.loads(run("score", *trees, *given, *metrics, "--format", "json"))["results"]
    compared = json.loads(run("compare", *trees, *given, *metrics, "--rates", "all", "--rounds", "3", "--format", "json"))
    fragments = json.loads(run("freval", *trees, *given, "--format", "json"))["systems"]

    assert len(scored) == len(SYSTEMS) * len(metrics_for(preset))
    for result in scored:
        system, metric, text = result["system"], result["metric"], result["signature"]["text"]
        rates = compared["groups"][0]["systems"][system]["rates"][metric]
        assert {rate: found["value"] for rate, found in rates.items()} == result["rates"], (system, metric)
        assert compared["signatures"][system][metric] == text
        assert len(result["signature"]["gold"]) == len(result["signature"]["test"]) == 12
        assert result["signature"]["version"]
        if metric == "freval":
            (of_system,) = (one for one in fragments if one["system"] == system)
            assert of_system["rates"] == result["rates"]
            assert of_system["signature"] == text
        if result["evalb"] is not None:
            assert len(compared["dropped_by_evalb"][system]) == result["evalb"]["dropped"]
    assert set(compared["dropped_by_evalb"]) == {result["system"] for result in scored if result["evalb"] is not None}


@every_preset
def test_the_report_agrees(preset: str | None, files: Path) -> None:
    systems = {system: f"{system}.mrg" for system in SYSTEMS}
    scores = score_by_text("gold.mrg", systems, metrics_for(preset), preset)
    report = treegauge.report(
        "gold.mrg", systems, CompareOptions(tuple(metrics_for(preset)), pair="text", preset=preset, rates=("all",), rounds=3)
    )
    page = html.unescape(report.html())
    for result in scores:
        rates = report.comparison.overall.rates[result.system]
        for rate, value in result.rates.items():
            assert same(rates[result.metric, rate].value, value), (result.system, result.metric, rate)
        assert str(result.signature) in page
        if result.metric == "freval":
            assert report.fragments[result.system].rates == result.rates
        if result.evalb is not None:
            assert report.comparison.dropped_by_evalb[result.system] == result.dropped_by_evalb
    assert {note.text for note in scores.of("retagged", "parseval").notes} == {n.text for s, n in report.notes if s == "retagged"}


@pytest.mark.parametrize("preset", [name for name in preset_names() if load_preset(name).parameters is not None])
def test_the_sentences_that_evalb_would_drop(preset: str, files: Path) -> None:
    file = load_preset(preset).parameters
    assert file is not None
    gold = (files / "gold.mrg").read_bytes().splitlines(keepends=True)
    for system in SYSTEMS:
        test = (files / f"{system}.mrg").read_bytes().splitlines(keepends=True)
        verdicts = [result.status for result in score_lines(gold, test, file.parameters)]
        expected = [number for number, status in enumerate(verdicts) if status not in (VALID, UNPAIRED)]
        if result_is_silent(preset):
            continue
        assert score_by_text("gold.mrg", f"{system}.mrg", preset=preset).dropped_by_evalb == expected, system


def result_is_silent(preset: str) -> bool:
    """Whether nothing is said of EVALB, since it cannot delete what the preset deletes."""
    return score_by_text("gold.mrg", "escaped.mrg", preset=preset).evalb is None


def test_compare_warns_of_escaped_words(files: Path) -> None:
    comparison = compare(
        "gold.mrg", {"a": "escaped.mrg", "b": "gold.mrg"}, CompareOptions(pair="text", rounds=3, metrics=("parseval",))
    )
    assert comparison.dropped_by_evalb == {"a": [0], "b": []}
    assert any("EVALB would score the systems on different sentences (dropped: a 1, b 0)" in text for text in comparison.warnings)


def test_compare_takes_reading_options(files: Path) -> None:
    (files / "commented.mrg").write_text("% a comment (\n" + (files / "escaped.mrg").read_text("utf-8"), "utf-8")
    systems = {"plain": "escaped.mrg", "commented": "commented.mrg"}
    comparison = compare("gold.mrg", systems, CompareOptions(pair="text", rounds=3), reading=ReadOptions(comment="%"))
    assert all(difference.value == 0 for difference in comparison.overall.pairs[0].differences if not math.isnan(difference.value))


class TestSavedScores:
    """Scores read back are the scores."""

    @every_preset
    def test_a_comparison_of_them_is_that_of_the_trees(self, preset: str | None, files: Path) -> None:
        systems = {system: f"{system}.mrg" for system in SYSTEMS}
        options = CompareOptions(pair="text", preset=preset, rounds=5, structure=("NP",), lengths=(4,))
        names = options.scored_metrics()
        for system, path in systems.items():
            score_by_text("gold.mrg", {system: path}, names, preset).save(f"{system}.scores")
        loaded = [result for system in systems for result in Scores.load(f"{system}.scores")]
        assert compare_scores(loaded, options).to_dict() == compare("gold.mrg", systems, options).to_dict()

    def test_everything_is_kept(self, files: Path) -> None:
        scores = score_by_text("gold.mrg", {"r": "retagged.mrg"}, metric_names())
        scores.save("r.scores")
        for before, after in zip(scores, Scores.load("r.scores"), strict=True):
            assert before.to_json(per_sentence=True) == after.to_json(per_sentence=True)
            assert before.definition == after.definition
            assert before.dropped_by_evalb == after.dropped_by_evalb
            assert before.scored_sentences.rows.dtype == after.scored_sentences.rows.dtype
            ours, theirs = before.scored_sentences.reproduced, after.scored_sentences.reproduced
            assert (ours is None) == (theirs is None) == (before.metric != "hogenhout")
            assert ours is None or theirs is None or ours.tolist() == theirs.tolist()

    def test_integers_of_any_size(self, files: Path) -> None:
        result = score_by_text("gold.mrg", "escaped.mrg", "freval")
        rows = result.rows.copy()
        rows[0, 1] = BySize((7, 10**5000, 0, 3))
        replace(result, sentences=replace(result.scored_sentences, rows=rows)).save("large.scores")
        assert Scores.load("large.scores")[0].rows[0, 1] == BySize((7, 10**5000, 0, 3))

    def test_the_same_scores_are_the_same_bytes(self, files: Path) -> None:
        for name in ("one", "two"):
            score_by_text("gold.mrg", {"e": "escaped.mrg"}, metric_names()).save(f"{name}.scores")
        assert (files / "one.scores").read_bytes() == (files / "two.scores").read_bytes()

    def test_on_the_command_line(self, run: Any, files: Path) -> None:
        metrics = [word for name in compared_metrics() for word in ("-m", name)]
        how = [*metrics, "--rounds", "5", "--format", "json"]
        trees = json.loads(run("compare", "gold.mrg", "escaped.mrg", "retagged.mrg", *how))
        for system in ("escaped", "retagged"):
            run("score", "gold.mrg", f"{system}={system}.mrg", *metrics, "--save", f"{system}.scores")
        read_back = json.loads(run("compare", "--scores", "escaped.scores", "retagged.scores", *how))
        assert read_back == trees
        run("report", "--scores", "escaped.scores", "retagged.scores", "--rounds", "5", "-o", "scores.html")
        run("report", "gold.mrg", "escaped.mrg", "retagged.mrg", "--rounds", "5", "-o", "trees.html")
        assert (files / "scores.html").read_text("utf-8") == (files / "trees.html").read_text("utf-8")

    def test_without_hogenhout_there_are_no_tests_on_brackets(self, files: Path) -> None:
        scores = score_by_text("gold.mrg", {"e": "escaped.mrg", "r": "retagged.mrg"}, ["parseval"])
        comparison = compare_scores(scores, CompareOptions(pair="text", rounds=3))
        assert comparison.overall.pairs[0].brackets is None
        assert [table.title for table in comparison.tables()] == ["Differences"]
        assert comparison.to_dict()["groups"][0]["pairs"][0]["brackets"] is None

    @pytest.mark.parametrize(
        ("other", "named"),
        [
            (lambda: score_by_text(GOLD + GOLD, {"b": ESCAPED + ESCAPED}, ["goodman"]), "hash of the gold trees"),
            (lambda: score_by_text(GOLD, {"b": ESCAPED}, ["goodman"], "collins"), "the preset is default for a, but collins for b"),
            (lambda: score_by_text(GOLD, {"b": ESCAPED}, ["goodman"], cutoff=3), "the preset's cutoff_length"),
            (lambda: score_by_text(GOLD, {"b": ESCAPED}, ["goodman"], match_words="length"), "match_words"),
            (lambda: score_by_text(GOLD, {"b": ESCAPED}, ["parseval"]), "no score by goodman of b"),
        ],
        ids=["gold", "preset", "cutoff", "match_words", "metric"],
    )
    def test_scores_that_cannot_be_compared_say_why(self, other: Any, named: str) -> None:
        with pytest.raises(MismatchError, match=named):
            compare_scores([*score_by_text(GOLD, {"a": RETAGGED}, ["goodman"]), *other()], CompareOptions(pair="text", rounds=3))

    def test_another_option_of_the_metric_is_named(self) -> None:
        one, other = score_by_text(GOLD, {"a": GOLD}, ["goodman"]), score_by_text(GOLD, {"b": GOLD}, ["goodman:pre"])
        with pytest.raises(MismatchError, match="the option preterminals of the metric is False for a, but True for b"):
            compare_scores([*one, *other])
        ours, theirs = (score_by_text(GOLD, {name: GOLD}, [metric]) for name, metric in (("a", "freval"), ("b", "freval:1-15")))
        with pytest.raises(
            MismatchError, match=r"scores by freval that cannot be compared: the option \w+ of the metric is .* for a, but .* for b"
        ):
            compare_scores([*ours, *theirs])

    def test_two_metrics_on_different_trees_are_refused(self) -> None:
        first = score_by_text(GOLD, {"a": ESCAPED, "b": GOLD}, ["parseval"])
        for kind, other in (
            ("gold", score_by_text(ESCAPED, {"a": ESCAPED, "b": GOLD}, ["goodman"])),
            ("test", score_by_text(GOLD, {"a": GOLD, "b": GOLD}, ["goodman"])),
        ):
            with pytest.raises(
                MismatchError, match=rf"hash of the {kind} trees is \w+ for a by parseval, but \w+ for a by goodman"
            ):
                compare_scores([*first, *other], CompareOptions(pair="text", rounds=3))

    def test_other_sentences_are_named_unless_they_may_be_skipped(self) -> None:
        scores = score_by_text(GOLD, {"a": ESCAPED, "b": RETAGGED.replace("\n\n", "\n()\n")}, ["parseval"], on_mismatch="skip")
        with pytest.raises(MismatchError, match=r"b by parseval and a by parseval .*lacks 1 .*sentence 3"):
            compare_scores(scores, CompareOptions(pair="text", rounds=3))
        assert compare_scores(scores, CompareOptions(pair="text", rounds=3, on_mismatch="skip")).overall.sentences == 5

    def test_files_that_are_none(self, files: Path) -> None:
        with pytest.raises(FormatError, match="not a file of scores"):
            Scores.load("gold.mrg")
        with pytest.raises(InputError, match="cannot be read"):
            Scores.load("nowhere.scores")
        score_by_text("gold.mrg", "escaped.mrg").save("cut.scores")
        (files / "cut.scores").write_bytes((files / "cut.scores").read_bytes()[:300])
        with pytest.raises(FormatError, match="not a file of scores"):
            Scores.load("cut.scores")

    def test_a_report_notices_that_trees_have_changed(self, run: Any, files: Path, capsys: pytest.CaptureFixture[str]) -> None:
        run("score", "gold.mrg", "escaped.mrg", "-m", "parseval", "-m", "freval", "--save", "e.scores")
        (files / "escaped.mrg").write_text(RETAGGED, "utf-8")
        with pytest.raises(SystemExit) as left:
            main(["report", "--scores", "e.scores", "-o", "-"])
        assert left.value.code == 4
        assert "has changed since it was scored: the hash of the test trees" in capsys.readouterr().err

    def test_a_report_of_scores_without_their_trees_says_what_is_left_out(
        self, run: Any, files: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        run("score", "gold.mrg", "escaped.mrg", "-m", "parseval", "-m", "freval", "--save", "e.scores")
        scores = Scores.load("e.scores")
        whole = report_of_scores(scores, CompareOptions(rounds=3))
        (files / "gold.mrg").unlink()
        alone = report_of_scores(scores, CompareOptions(rounds=3))
        assert alone.left_out.startswith("gold.mrg is not there, so the tables")
        assert (alone.comparison.to_dict(), alone.fragments) == (whole.comparison.to_dict(), whole.fragments)
        titles = [table.title for table in alone.tables()]
        assert titles == [table.title for table in whole.tables() if table.title in titles]
        assert "Rates" in titles
        assert "By label" not in titles
        assert alone.left_out in alone.html()
        assert 'id="sentences"' not in alone.html()
        assert [str(note) for _, note in alone.notes] == [str(note) for _, note in whole.notes]


def test_the_bits_of_hogenhout_are_never_summed(files: Path) -> None:
    result = score_by_text("gold.mrg", "retagged.mrg", "hogenhout")
    bits = result.scored_sentences.reproduced
    assert bits is not None
    brackets = result.rows[:, result.columns.index("TTB")].tolist()
    found = result.rows[:, [result.columns.index(name) for name in ("TINH", "TNINH")]].sum(axis=1).tolist()
    assert [int(of_sentence).bit_count() for of_sentence in bits] == found
    assert all(int(of_sentence).bit_length() <= total for of_sentence, total in zip(bits, brackets, strict=True))
    assert "reproduced" not in result.counts


class TestResultInAnInterpreter:
    """What a person sees who types `result`."""

    def test_rates_are_attributes(self) -> None:
        result = score_by_text(GOLD, ESCAPED)
        assert result.f1 == result.rates["f1"]
        assert "exact_match" in dir(result)
        with pytest.raises(AttributeError, match="no attribute or rate 'f2'; its rates: recall"):
            _ = result.f2

    def test_one_line(self) -> None:
        assert repr(score_by_text(GOLD, {"mine": GOLD}, ["parseval"])[0]) == "<Result mine by parseval: f1 100.00, 6 sentences>"
        assert repr(score_by_text("(X a)", "(X a)", "goodman", "induction")).endswith("labelled_recall undefined, 0 sentences>")

    def test_html(self) -> None:
        assert "<table" in score_by_text(GOLD, ESCAPED)._repr_html_()

    def test_help_names_every_option_and_rate(self) -> None:
        import inspect

        text = inspect.getdoc(score) or ""
        for name, parameter in inspect.signature(score).parameters.items():
            assert parameter.kind is parameter.VAR_KEYWORD or f"``{name}``" in text, name
        for name in metric_names():
            rates = score_by_text(GOLD, ESCAPED, name).rates
            plain = {rate.split("_1")[0].removeprefix("mean_").removeprefix("unlabelled_") for rate in rates}
            assert all(rate in text for rate in plain), name
