"""Results as values: JSON and back, tables, HTML, Arrow, rows; the metric object."""

from __future__ import annotations

import builtins
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from tree_pairs import treebank_pairs

import treegauge
from treegauge import Result, Scores, Tree, Treebank, evaluator, metric_names
from treegauge.metrics.metric import ExactSum, total_of

GOLD = ["(TOP (S (NP (DT the) (NN cat)) (VP (VBD sat))))", "(TOP (S (NP (NN rain)) (VP (V fell))))", "(TOP (NN x))"]
TEST = ["(TOP (S (NP (DT the) (NN cat)) (VP (VBD sat))))", "(TOP (S (NP (NN rain) (V fell))))", "(TOP (NN x))"]


@pytest.mark.parametrize("metric", metric_names())
@pytest.mark.parametrize("per_sentence", [True, False])
def test_json_and_back(metric: str, per_sentence: bool) -> None:
    result = treegauge.score(GOLD, [*TEST[:2], "()"], metric)
    text = result.to_json(per_sentence=per_sentence)
    again = Result.from_json(text)
    assert json.loads(text)["schema"] == "treegauge.result/2"
    assert again.to_dict() == result.to_dict()
    assert again.signature == result.signature
    assert again.notes == result.notes
    assert again.evalb == result.evalb
    assert all(
        a == b or (math.isnan(a) and math.isnan(b)) for a, b in zip(again.rates.values(), result.rates.values(), strict=True)
    )
    assert str(again) == str(result)
    if per_sentence:
        assert again.rows.shape == result.rows.shape
        if result.rows.dtype != object:
            assert (again.rows == result.rows).all()
    else:
        with pytest.raises(treegauge.UsageError, match="no rows"):
            _ = again.rows


def test_undefined_rates_are_null() -> None:
    data = json.loads(treegauge.score("(NN x)", "(NN x)").to_json())
    assert data["rates"]["f1"] is None
    assert data["rates"]["tagging_accuracy"] == 1
    assert "NaN" not in json.dumps(data, allow_nan=False)


def test_full_precision() -> None:
    result = treegauge.score(GOLD, TEST)
    assert Result.from_json(result.to_json()).rates["mean_recall"] == result.rates["mean_recall"] == math.fsum([1, 1 / 3]) / 2


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "3", '{"schema": "x"}', '{"schema": "treegauge.result/1"}', '{"schema": "treegauge.scores/1", "results": 3}'],
)
def test_other_json_is_refused(text: str) -> None:
    with pytest.raises(treegauge.FormatError):
        Scores.from_json(text)


def test_several_systems_and_metrics() -> None:
    scores = treegauge.score(GOLD, {"good": GOLD, "bad": TEST}, ["parseval", "goodman:pre"])
    assert [(result.system, result.metric) for result in scores] == [
        ("good", "parseval"),
        ("good", "goodman:pre"),
        ("bad", "parseval"),
        ("bad", "goodman:pre"),
    ]
    assert scores.of("good", "parseval").rates["f1"] == 1
    assert isinstance(scores[1:], Scores)
    again = Scores.from_json(scores.to_json())
    assert [result.to_dict() for result in again] == [result.to_dict() for result in scores]
    assert str(again) == str(scores)
    assert "good" in str(scores)
    assert "<table>" in scores._repr_html_()
    with pytest.raises(treegauge.UsageError, match="good/parseval"):
        scores.of("good")


def test_one_of_a_list_is_still_a_list() -> None:
    assert isinstance(treegauge.score(GOLD, TEST, ["parseval"]), Scores)
    assert isinstance(treegauge.score(GOLD, {"a": TEST}), Scores)


@pytest.mark.parametrize("kind", ["path", "Path", "Treebank", "text", "strings", "trees", "generator", "nltk"])
def test_any_form_of_trees(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "test.mrg"
    file.write_text("\n".join(TEST) + "\n")
    forms: dict[str, Any] = {
        "path": str(file),
        "Path": file,
        "Treebank": Treebank.parse("\n".join(TEST)),
        "text": "\n".join(TEST),
        "strings": TEST,
        "trees": [Tree.parse(text) for text in TEST],
        "generator": (Tree.parse(text) for text in TEST),
    }
    if kind == "nltk":
        nltk = pytest.importorskip("nltk")
        forms["nltk"] = [nltk.Tree.fromstring(text) for text in TEST]
    expected = treegauge.score(GOLD, TEST)
    result = treegauge.score(GOLD, forms[kind])
    assert result.rates == pytest.approx(dict(expected.rates), nan_ok=True)
    assert result.signature == expected.signature


@settings(max_examples=30)
@given(treebank_pairs(max_size=6).filter(lambda banks: len(banks[0]) > 0))
def test_rows_add_up_to_counts_and_shards_to_the_whole(banks: tuple[Treebank, Treebank]) -> None:
    gold, test = banks
    for metric in ("parseval", "leaf-ancestor"):
        whole = treegauge.score(gold, test, metric)
        total = ExactSum(len(whole.columns))
        for first in range(0, len(gold), 2):
            total.add(treegauge.score(gold[first : first + 2], test[first : first + 2], metric).rows)
        assert total.values() == total_of(whole.rows)
        assert list(whole.counts.values()) == total_of(whole.rows)


class TestExactSum:
    @pytest.mark.parametrize("pieces", [1, 2, 7])
    def test_it_is_fsum_in_any_number_of_pieces(self, pieces: int) -> None:
        generator = np.random.default_rng(5)
        for scale in (-300, -20, 0, 15, 250):
            rows = generator.standard_normal((40, 3)) * 10.0 ** (scale + generator.integers(-15, 15, size=(40, 1)))
            rows[:, 1] = np.rint(generator.random(40) * 100)
            total, other = ExactSum(3), ExactSum(3)
            for part in np.array_split(rows, pieces):
                total.add(part)
                piece = ExactSum(3)
                piece.add(part)
                other.merge(piece)
            assert total.values() == other.values() == [math.fsum(column) for column in rows.T]

    def test_integers_stay_integers_beyond_64_bits(self) -> None:
        total = ExactSum(1)
        for _ in range(3):
            total.add(np.array([[2**200]], dtype=object))
        assert total.values() == [3 * 2**200]

    def test_what_is_not_finite(self) -> None:
        total = ExactSum(2)
        total.add(np.array([[math.nan, 1.5], [1.0, math.inf]]))
        total.add(np.array([[1.0, 1.5]]))
        assert math.isnan(total.values()[0])
        assert total.values()[1] == math.inf


def test_html_is_escaped() -> None:
    result = treegauge.score(GOLD, {"<b>": TEST, "&": GOLD})
    assert "<b>" not in result._repr_html_()
    assert "&lt;b&gt;" in result._repr_html_()
    assert treegauge.score(GOLD, TEST)._repr_html_().startswith("<table>")


def test_the_table_shows_undefined_as_a_dash() -> None:
    lines = str(treegauge.score("(NN x)", "(NN x)")).splitlines()
    assert lines[1].split() == ["recall", "-"]


def test_arrow_needs_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *arguments: Any, **options: Any) -> Any:
        if name == "pyarrow":
            raise ImportError(name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(treegauge.UsageError, match="pip install pyarrow"):
        treegauge.score(GOLD, TEST).__arrow_c_stream__()


def test_arrow() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    for metric in ("parseval", "freval"):
        result = treegauge.score(GOLD, TEST, metric)
        table = pyarrow.table(result)
        assert table.column_names == ["sentence", "length", *result.columns]
        assert table.num_rows == 3


class TestEvaluator:
    def test_compute_as_hugging_face_does(self) -> None:
        expected = treegauge.score(GOLD, TEST).rates["f1"]
        assert evaluator("parseval").compute(predictions=TEST, references=GOLD)["f1"] == expected

    def test_batches(self) -> None:
        parseval = evaluator("parseval")
        parseval.add_batch(predictions=TEST[:1], references=GOLD[:1])
        parseval.add(prediction=TEST[1], reference=GOLD[1])
        assert parseval.compute(predictions=TEST[2:], references=GOLD[2:]) == dict(treegauge.score(GOLD, TEST).rates)
        with pytest.raises(treegauge.UsageError, match="nothing"):
            parseval.compute()

    def test_other_numbers_of_trees(self) -> None:
        with pytest.raises(treegauge.MismatchError, match="1 predictions for 2 references"):
            evaluator().compute(predictions=TEST[:1], references=GOLD[:2])
        with pytest.raises(treegauge.UsageError, match="both"):
            evaluator().compute(predictions=TEST)

    def test_rows_and_rates(self) -> None:
        goodman = evaluator("goodman:pre", "collins", on_mismatch="skip")
        rows = goodman.rows(GOLD, TEST)
        assert rows.shape == (3, len(goodman.columns))
        assert goodman.rates(total_of(rows)) == goodman.compute(predictions=TEST, references=GOLD)
        assert goodman.score(GOLD, TEST).signature.on_mismatch == "skip"
        assert goodman.name == "goodman"

    def test_a_failed_parse_is_an_empty_string(self) -> None:
        rates = evaluator().compute(predictions=["", TEST[1]], references=GOLD[:2])
        assert rates["recall"] == pytest.approx(1 / 6)


def test_unknown_names() -> None:
    for options in ({"metric": "parsval"}, {"preset": "colins"}, {"on_mismatch": "ignore"}):
        with pytest.raises(treegauge.UnknownName):
            treegauge.score(GOLD, TEST, **options)


def test_no_systems() -> None:
    with pytest.raises(treegauge.UsageError, match="no system"):
        treegauge.score(GOLD, {})


def test_progress_counts_sentences() -> None:
    done: list[int] = []
    treegauge.score(GOLD, TEST, progress=done.append)
    assert sum(done) == 3


def test_breakdowns_of_blocks_add(tmp_path: Path) -> None:
    folder = tmp_path / "gold", tmp_path / "test"
    for side, trees in zip(folder, (GOLD, TEST), strict=True):
        side.mkdir()
        for number, tree in enumerate(trees):
            (side / f"{number}.mrg").write_text(tree)
    names: Sequence[str] = ("labels", "confusions", "lengths", "crossings")
    split, whole = treegauge.score(*folder, breakdowns=names), treegauge.score(GOLD, TEST, breakdowns=names)
    for name in names:
        assert split.breakdowns[name].table.rows == whole.breakdowns[name].table.rows
        for key in whole.breakdowns[name].keys:
            assert split.breakdowns[name].examples(key) == whole.breakdowns[name].examples(key)


@pytest.mark.filterwarnings("ignore::treegauge.TreegaugeWarning")
@pytest.mark.parametrize(
    ("metric", "on_mismatch", "parsed"),
    [
        *(("parseval", "align", 1), ("parseval", "skip", 1), ("parseval", "evalb", 1), ("parseval", "edit", 2)),
        *(("goodman", "align", 1), ("goodman", "skip", 1), ("leaf-ancestor", "edit", 2)),
    ],
)
def test_a_sentence_is_parsed_if_it_has_a_readable_tree_over_its_words(metric: str, on_mismatch: str, parsed: int) -> None:
    gold = ["(S (NP (NN rain)) (VP (V fell)))"] * 5
    test = [gold[0], "I cannot.", "", gold[0].replace("rain", "snow"), None]
    result = treegauge.score(gold, test, metric, on_mismatch=on_mismatch)
    assert result.parsed == parsed / 5
    assert result.counts.get("parsed", parsed) == parsed
    assert Result.from_json(result.to_json()).parsed == result.parsed


GOLD_FIRST = "This is in the gold trees, which must all be readable: gold comes first, then the parses."


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ([GOLD[0], "I cannot.", GOLD[2]], "string 2 is not bracketed text: 'I cannot.'"),
        ([GOLD[0], GOLD[1][:-1], GOLD[2]], "<strings>:2:1: opening bracket that is never closed"),
        ([GOLD[0], GOLD[1][:-1], None], "item 2 of the list:1:1: opening bracket that is never closed"),
        ([GOLD[0], None, GOLD[2]], "item 2 of the list: expected a Tree"),
    ],
)
def test_gold_and_answers_exchanged(answers: list[str | None], said: str) -> None:
    with pytest.raises((treegauge.UsageError, treegauge.BracketError)) as refusal:
        treegauge.score(answers, GOLD)
    assert said in str(refusal.value)
    assert GOLD_FIRST in str(refusal.value)


def test_only_the_values_of_on_error_that_score_takes_are_listed() -> None:
    with pytest.raises(treegauge.UnknownName, match=r"valid: parse-fails, repair, stop$"):
        treegauge.score(GOLD, TEST, on_error="fix")


def test_answers_are_one_system_of_compare() -> None:
    with pytest.raises(treegauge.UsageError, match="systems are given by name"):
        treegauge.compare(GOLD, [GOLD[0], "I cannot.", None])


def test_python_can_suggest_a_rate_or_a_function_of_another_spelling() -> None:
    for thing, name in ((treegauge.score(GOLD, TEST), "ff1"), (treegauge, "evaluate")):
        with pytest.raises(AttributeError) as error:
            getattr(thing, name)
        assert (error.value.name, error.value.obj) == (name, thing)
