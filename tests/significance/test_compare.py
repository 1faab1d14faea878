"""Whole comparisons: what identical, better, incomplete and judged systems get, by length, by structure, and as tables."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from significance_rows import careless, own_treebank

import treegauge
from treegauge import alignment
from treegauge.errors import InputError, MismatchError, UnknownName, UsageError
from treegauge.metrics.hogenhout import BracketKey, Hogenhout, Judgements, Verdict, brackets_to_judge
from treegauge.metrics.metric import total_of
from treegauge.metrics.parseval import Parseval
from treegauge.metrics.registry import compared_metrics
from treegauge.presets import load_preset
from treegauge.reports import comparison_figure, write_figure
from treegauge.significance import CompareOptions, Comparison, compare
from treegauge.significance.tabulation import TABLES, comparison_tables, matrix_table
from treegauge.trees import Tree
from treegauge.trees.treebank import Treebank

GOLD = own_treebank(60)
BANK = Treebank.from_trees(GOLD)
POOR, FAIR, GOOD = (Treebank.from_trees(careless(GOLD, seed, share)) for seed, share in ((1, 0.4), (2, 0.15), (3, 0.12)))
QUICK = CompareOptions(rounds=300)
F1 = ("parseval", "f1")


@pytest.fixture(scope="module")
def three() -> Comparison:
    settings = CompareOptions(rounds=500, structure=("NP", "PP", "XYZ"), lengths=(8, 15))
    return compare(BANK, {"poor": POOR, "fair": FAIR, "good": GOOD}, settings)


def test_every_metric_is_compared_by_its_headline(three: Comparison) -> None:
    assert {metric for metric, _ in three.overall.names} == set(compared_metrics())


def test_rates_and_differences_are_those_of_the_metric(three: Comparison) -> None:
    metric = Parseval()
    rates = {
        name: metric.rates(total_of(metric.rows(alignment.pair(BANK, bank, load_preset("default")))))
        for name, bank in (("poor", POOR), ("good", GOOD))
    }
    found = three.overall.pair("poor", "good").of(F1)
    assert (found.a, found.b) == pytest.approx((rates["poor"]["f1"], rates["good"]["f1"]), abs=1e-12)
    assert found.interval.low < found.value < found.interval.high
    assert three.overall.rates["poor"][F1].value == pytest.approx(rates["poor"]["f1"], abs=1e-12)
    assert found.error_reduction == pytest.approx(found.value / (1 - found.a))


def test_a_clear_difference_is_found_and_an_unclear_one_is_not(three: Comparison) -> None:
    assert three.overall.pair("poor", "fair").of(F1).winner == 1
    assert three.overall.pair("fair", "good").of(F1).winner == 0


def test_holm_corrects_for_the_pairs(three: Comparison) -> None:
    p = [pair.of(F1).p for pair in three.overall.pairs]
    corrected = [pair.of(F1).p_holm for pair in three.overall.pairs]
    assert min(corrected) == pytest.approx(3 * min(p))
    assert max(corrected) == pytest.approx(max(p))


def test_matrix_is_antisymmetric(three: Comparison) -> None:
    table = matrix_table(three, three.overall, F1)
    signs = [row[2:] for row in table.rows]
    opposite = {">": "<", "<": ">", "=": "=", "": ""}
    assert signs == [tuple(opposite[signs[j][i]] for j in range(3)) for i in range(3)]
    assert signs[0] == ("", "<", "<")


def test_length_groups_are_a_partition(three: Comparison) -> None:
    groups = three.of_kind("length")
    assert [group.title for group in groups] == ["1-8 words", "9-15 words", "more than 15 words"]
    assert sum(group.sentences for group in groups) == len(BANK)
    for pair in three.overall.pairs:
        cells = np.array([group.pair(pair.a, pair.b).brackets.cells for group in groups])
        assert tuple(cells.sum(axis=0)) == pair.brackets.cells
    long = [tree for tree in GOLD if sum(tag != "-NONE-" for tag in tree.tags) > 15]
    assert groups[-1].sentences == len(long)


def test_structures_are_counted_by_their_labels(three: Comparison) -> None:
    group = next(group for group in three.of_kind("structure") if group.title == "NP")
    metric = Hogenhout(structure=("NP",))
    expected = metric.rows(alignment.pair(BANK, FAIR, load_preset("default"))).sum(axis=0).tolist()
    assert list(group.items["fair"].values()) == expected
    assert group.pair("poor", "fair").brackets.cells.total == expected[0]


def test_a_structure_that_does_not_occur_has_no_numbers(three: Comparison) -> None:
    group = next(group for group in three.of_kind("structure") if group.title == "XYZ")
    found = group.pair("poor", "fair").of(("hogenhout", "recall_hard"))
    assert all(math.isnan(value) for value in (found.value, found.p, found.p_holm, found.interval.low))
    assert found.winner == 0


def test_identical_systems_have_p_1_and_no_z() -> None:
    comparison = compare(BANK, {"one": FAIR, "two": FAIR}, CompareOptions(rounds=200, rates=("all",)))
    pair = comparison.overall.pairs[0]
    assert all(math.isnan(d.value) or (d.p == 1 and d.p_holm == 1 and d.value == 0) for d in pair.differences)
    tests = pair.brackets
    assert math.isnan(tests.mcnemar.z)
    assert tests.mcnemar.p_exact == 1
    assert math.isnan(tests.real_test.z)
    assert any("z is undefined" in warning for warning in tests.warnings)
    text = "\n".join(map(str, comparison_tables(comparison)))
    assert "z is undefined" in text
    assert "no sentence differs" in text


def test_the_warning_about_dependence_stands_beside_every_such_p(three: Comparison) -> None:
    for group in three.groups:
        for pair in group.pairs:
            assert any("independent" in warning for warning in pair.brackets.warnings)
    tables = comparison_tables(three, ["brackets"])
    assert any("independent" in note for note in tables[0].notes)


def test_small_tests_are_warned_of() -> None:
    few = compare(BANK[:5], {"poor": POOR[:5], "good": GOOD[:5]}, QUICK)
    assert any("small test" in warning for warning in few.overall.warnings)
    assert any("small real test" in w or "real test" in w for w in few.overall.pairs[0].brackets.warnings)
    assert few.overall.pairs[0].exact


def test_complementing_systems_are_warned_of() -> None:
    half = len(BANK) // 2
    first = Treebank.concatenate([BANK[:half], POOR[half:]])
    second = Treebank.concatenate([POOR[:half], BANK[half:]])
    pair = compare(BANK, {"first": first, "second": second}, QUICK).overall.pairs[0]
    assert any("complement" in warning for warning in pair.brackets.warnings)


def other_words(tree: Tree) -> Tree:
    return Tree(tree.label, [Tree("NN", ["something"]), Tree("NN", ["else"])])


def test_differently_skipped_sentences_are_paired_and_warned_of() -> None:
    broken = list(POOR)
    broken[3] = other_words(broken[3])
    systems = {"broken": Treebank.from_trees(broken), "good": GOOD}
    skipping = compare(BANK, systems, CompareOptions(rounds=100, on_mismatch="skip", metrics=("parseval", "hogenhout")))
    assert skipping.overall.sentences == len(BANK) - 1
    assert any("skip different sentences" in warning for warning in skipping.warnings)
    aligning = compare(BANK, systems, CompareOptions(rounds=100, metrics=("parseval",)))
    assert aligning.overall.sentences == len(BANK)
    assert any("count as missed" in warning for warning in aligning.warnings)
    with pytest.raises(MismatchError):
        compare(BANK, systems, CompareOptions(on_mismatch="error"))


def test_sentences_that_evalb_would_drop_for_one_system_only_are_warned_of() -> None:
    gold = Treebank.parse("(S (NP (N a) (N b)) (, ,) (VP (V c) (N d)))" * 40)
    tagged = Treebank.parse("(S (NP (N a) (N b)) (N ,) (VP (V c) (N d)))" + "(S (NP (N a) (N b)) (, ,) (VP (V c) (N d)))" * 39)
    comparison = compare(gold, {"good": gold, "tagged": tagged}, QUICK)
    assert any(
        "EVALB would score the systems on different sentences" in warning and "good 0, tagged 1" in warning
        for warning in comparison.warnings
    )
    assert comparison.overall.pairs[0].of(F1).value == 0
    runs = compare(gold, {"good": [gold, tagged, tagged], "tagged": tagged}, CompareOptions(rounds=20, metrics=("parseval",)))
    assert any("(dropped: good 0/1, tagged 1); treegauge" in warning for warning in runs.warnings)


def test_judgements_enter_through_the_same_items() -> None:
    metric = Hogenhout()
    systems = {"poor": POOR, "good": GOOD}
    judged: dict[str, Judgements] = {}
    for name, bank in systems.items():
        asked = brackets_to_judge(alignment.pair(BANK, bank, load_preset("default")), metric)
        judged[name] = Judgements({question.bracket: Verdict.ACCEPTED for question in asked})
    rejected = BracketKey(0, 0, alignment.pair(BANK, GOOD, load_preset("default")).gold.token_offset[1].item())
    judged["good"] = Judgements({**judged["good"].verdicts, rejected: Verdict.REJECTED})
    settings = CompareOptions(rounds=100, metrics=("hogenhout",), rates=("all",))
    comparison = compare(BANK, systems, settings, judgements=judged)
    plain = compare(BANK, systems, settings)
    measures = comparison.overall.measures["good"]
    assert len(measures) == 12
    assert measures["precision_soft"] == pytest.approx(1 - 1 / comparison.overall.items["good"]["TPB"])
    assert comparison.overall.items["good"]["EMR"] == 1
    ours, theirs = comparison.overall.pairs[0].brackets.cells, plain.overall.pairs[0].brackets.cells
    assert ours.total == theirs.total
    assert ours.YY + ours.NY == theirs.YY + theirs.NY - 1
    table = comparison_tables(comparison, ["measures"])[0]
    assert [row[0] for row in table.rows][:3] == ["Generation Rate", "Recall-hard", "Recall-soft"]


def test_every_table_can_be_shown(three: Comparison) -> None:
    for name in TABLES:
        assert comparison_tables(three, [name]) or name in ("equivalence", "power"), name
    tidy = comparison_tables(three, ["tidy"])[0]
    assert len(tidy.rows) == sum(len(pair.differences) for group in three.groups for pair in group.pairs)
    with pytest.raises(UnknownName):
        comparison_tables(three, ["totals"])


def test_sentences_by_crossing_errors_add_up(three: Comparison) -> None:
    for system, histogram in three.overall.crossing_errors.items():
        assert sum(histogram) == len(BANK)
        assert sum(errors * count for errors, count in enumerate(histogram)) == three.overall.items[system]["CE"]
    table = comparison_tables(three, ["crossing"])[0]
    assert sum(int(row[1] or 0) for row in table.rows) == len(BANK)


def test_json_is_complete_and_strict(three: Comparison) -> None:
    document = json.loads(json.dumps(three.to_dict(), allow_nan=False))
    assert document["schema"] == "treegauge.compare/2"
    assert (document["seed"], document["rounds"]) == (1, 500)
    pair = document["groups"][0]["pairs"][0]
    assert set(pair["brackets"]) >= {"YY", "YN", "NY", "NN", "binomial", "mcnemar", "real_test", "warnings"}
    assert pair["differences"]["parseval"]["f1"]["p"] == three.overall.pairs[0].of(F1).p


def test_the_same_seed_gives_the_same_numbers() -> None:
    wanted = ((), ("parseval",))
    one, two = (compare(BANK, {"fair": FAIR, "good": GOOD}, CompareOptions(rounds=300, metrics=names)) for names in wanted)
    assert one.overall.pairs[0].of(F1) == two.overall.pairs[0].of(F1)
    other = compare(BANK, {"fair": FAIR, "good": GOOD}, CompareOptions(rounds=300, metrics=("parseval",), seed=9))
    assert other.overall.pairs[0].of(F1).interval != one.overall.pairs[0].of(F1).interval


def test_progress_counts_the_rounds() -> None:
    done: list[int] = []
    settings = CompareOptions(rounds=2000, metrics=("parseval",), structure=("NP",))
    compare(BANK, {"poor": POOR, "fair": FAIR, "good": GOOD}, settings, progress=done.append)
    assert sum(done) == settings.rounds == 2000


def test_any_form_of_trees() -> None:
    text = {name: [str(tree) for tree in bank] for name, bank in (("fair", FAIR), ("good", GOOD))}
    from_text = compare([str(tree) for tree in GOLD], text, QUICK)
    assert from_text.to_dict() == compare(BANK, {"fair": FAIR, "good": GOOD}, QUICK).to_dict()
    assert "No difference is shown between" in str(from_text)
    assert "<table>" in from_text._repr_html_()


def test_wrong_requests_are_refused() -> None:
    with pytest.raises(UsageError, match="two systems"):
        compare(BANK, {"one": GOOD})
    with pytest.raises(UnknownName, match="rate"):
        compare(BANK, {"one": GOOD, "two": POOR}, CompareOptions(rates=("f2",)))
    with pytest.raises(UnknownName, match="metric"):
        compare(BANK, {"one": GOOD, "two": POOR}, CompareOptions(metrics=("parsevil",)))
    empty = Treebank.from_trees([])
    with pytest.raises(InputError, match="no trees in gold"):
        compare(empty, {"one": empty, "two": empty})


@pytest.mark.parametrize("runs", [1, 2])
@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"level": 95}, "a confidence level is between 0 and 1, not 95"), ({"level": 1}, "between 0 and 1"),
        ({"level": 0}, "between 0 and 1"), ({"level": -1}, "between 0 and 1"), ({"rounds": 0}, "rounds must be positive, not 0"),
        ({"seed": -1}, "a seed is 0 or a positive integer"), ({"interval": "bcaa"}, "did you mean 'bca'"),
        ({"documents": "by-file"}, 'clusters="by-file" makes each file'), ({"metric": "f1"}, 'write rates="f1"'),
        ({"cutoff": -3}, "cutoff is a number of words, 0 or more, not -3"),
    ],
)  # fmt: skip
def test_settings_that_cannot_be_are_refused_for_files_and_runs_alike(runs: int, setting: dict[str, Any], message: str) -> None:
    systems = {"one": [GOOD, FAIR][:runs], "two": [POOR, GOOD][:runs]}
    with pytest.raises(UsageError, match=message):
        treegauge.compare(BANK, systems, **setting)


@pytest.mark.parametrize("runs", [1, 2])
def test_gold_trees_that_can_be_read_once_serve_all_systems_and_runs(runs: int) -> None:
    systems = {"one": [GOOD, FAIR][:runs], "two": [POOR, GOOD][:runs]}
    found = treegauge.compare((str(tree) for tree in GOLD), systems, rounds=20)
    assert found.to_dict() == treegauge.compare([str(tree) for tree in GOLD], systems, rounds=20).to_dict()


def test_the_lower_rate_wins_where_lower_is_better() -> None:
    options = CompareOptions(metrics=("parseval",), rates=("average_crossing", "f1"), rounds=500)
    gold = ["(S (A (X a) (X b)) (B (X c) (X d)))"] * 40
    crossed = ["(S (X a) (C (X b) (X c)) (X d))"] * 40
    found = compare(gold, {"poor": crossed, "good": gold}, options).overall.pair("poor", "good")
    crossing, f1 = (found.of(("parseval", rate)) for rate in ("average_crossing", "f1"))
    assert crossing.value < 0 < f1.value
    assert (crossing.winner, f1.winner) == (1, 1)
    assert crossing.sign.wins > crossing.sign.losses


def test_a_system_may_have_the_name_of_a_statistic() -> None:
    def cells(name: str) -> list[list[str]]:
        comparison = compare(BANK, {name: POOR, "other": FAIR}, QUICK, metric="parseval")
        return [row for table in comparison.tables("answer", "differences") for row in table.texts()]

    usual = cells("usual")
    assert all(cells(name) == usual for name in ("p", "low", "difference", "rate", "effect", "wins"))


def test_python_compares_by_parseval_unless_told(tmp_path: Path) -> None:
    gold = own_treebank(20)
    systems = {"a": careless(gold, 1, 0.4), "b": careless(gold, 2, 0.1)}
    found = treegauge.compare(gold, systems, rounds=20)
    assert {metric for metric, _ in found.overall.names} == {"parseval"}
    assert found["f1"].rates == {name: treegauge.score(gold, trees).f1 for name, trees in systems.items()}
    assert {metric for metric, _ in treegauge.compare(gold, systems, rounds=20, metric="all").overall.names} > {
        "parseval",
        "goodman",
    }
    path = tmp_path / "differences.svg"
    write_figure(comparison_figure(found), path)
    assert "Differences, b − a" in path.read_text("utf-8")


def test_the_signature_names_documents_by_their_hash() -> None:
    gold = own_treebank(20)
    systems = {"a": careless(gold, 1, 0.4), "b": careless(gold, 2, 0.1)}

    def documents(labels: list[str]) -> str:
        return treegauge.compare(gold, systems, rounds=20, clusters=labels).signature.partition("|clusters:")[2].partition("|")[0]

    halves = documents(["x"] * 10 + ["y"] * 10)
    assert halves == documents(["one"] * 10 + ["two"] * 10)
    assert halves.startswith("2@")
    assert halves != documents(["x"] * 9 + ["y"] * 11)
