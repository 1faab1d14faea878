"""What the exact cases leave open: structures, steps left out, missing verdicts, other tokens, the brackets to judge."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from treegauge import alignment
from treegauge.alignment.pairing import Pair
from treegauge.cli import main
from treegauge.errors import MismatchError, UnknownName, UsageError
from treegauge.metrics.hogenhout import (
    BracketKey,
    Hogenhout,
    Judgements,
    Verdict,
    brackets_to_judge,
    comparative_rows,
    crossing_histogram,
)
from treegauge.metrics.hogenhout.bracket_measures import measures, parse_base
from treegauge.metrics.registry import find_metric
from treegauge.presets import load_preset
from treegauge.reports.explanations import explanation
from treegauge.scoring.paper_table import rate_heading
from treegauge.trees.treebank import Treebank


def pair(gold: str, test: str, metric: Hogenhout, preset: str = "default") -> Pair:
    return alignment.pair(Treebank.parse(gold), Treebank.parse(test), metric.preset_for(load_preset(preset)))


def items(gold: str, test: str, metric: Hogenhout, preset: str = "default") -> dict[str, int]:
    rows = metric.rows(pair(gold, test, metric, preset))
    return dict(zip(metric.columns, rows.sum(axis=0).tolist(), strict=True))


GOLD = "(S (NP (D a) (N b)) (VP (V c) (NP (D d) (N e)) (PP (P f) (NP (D g) (N h)))))"
TEST = "(S (NP (D a) (N b)) (VP (V c) (NP (NP (D d) (N e)) (VP (P f) (NP (D g) (N h))))))"


def test_structure_goes_by_gold_label_for_the_treebank_and_by_test_label_for_the_parser() -> None:
    found = items(GOLD, TEST, Hogenhout(structure=("PP",)))
    # The gold PP was reproduced, but the parser calls it VP: it counts in the treebank's items only.
    assert found == {"TTB": 1, "TPB": 0, "EM": 0, "CE": 0, "SP": 0, "PINH": 0, "PNINH": 0, "TINH": 1, "TNINH": 0}
    rates = Hogenhout(structure=("PP",)).rates(list(found.values()))
    assert rates["recall_hard"] == 1
    assert math.isnan(rates["precision_hard"])
    # The parser's additional NP is spurious, as an NP; all four NPs of the parser are counted, three of the treebank.
    found = items(GOLD, TEST, Hogenhout(structure=("NP",)))
    assert (found["TTB"], found["TPB"], found["EM"], found["SP"]) == (3, 4, 3, 1)


def test_a_collapsed_chain_keeps_all_its_labels() -> None:
    gold = "(S (VP (V go) (ADVP (SBAR (A far) (B away)))))"
    for label in ("S", "VP", "ADVP", "SBAR"):
        found = items(gold, gold, Hogenhout(structure=(label,)))
        assert (found["TTB"], found["TPB"], found["EM"]) == (1, 1, 1), label
    assert items(gold, gold, Hogenhout(structure=("S", "VP")))["TTB"] == 1
    assert items(gold, gold, Hogenhout())["TTB"] == 2


def test_inheritance_looks_at_parents_outside_the_structure() -> None:
    gold = "(S (A a) (X (B b) (Y (C c) (Z (D d) (E e)))))"
    found = items(gold, gold, Hogenhout(structure=("Z",)))
    assert (found["TTB"], found["TINH"]) == (1, 1)


@pytest.mark.parametrize(
    ("keep", "brackets"),
    [
        ((), 2),  # S over a b c, and the VP chain as one
        (("one-word",), 3),  # and the NP over a
        (("double",), 3),  # VP twice
        (("double", "one-word"), 4),
        (("empty",), 3),  # and the PRN over a comma
        (("punctuation",), 3),  # the NP over a comma and a word has two words now
    ],
)
def test_each_step_can_be_left_out(keep: tuple[str, ...], brackets: int) -> None:
    tree = "(S (NP (, ,) (N a)) (PRN (, ,)) (VP (VP (V b) (N c))))"
    metric = Hogenhout(keep=keep)
    found = items(tree, tree, metric)
    assert (found["TTB"], found["TPB"], found["EM"], found["CE"], found["SP"]) == (brackets, brackets, brackets, 0, 0)


def test_an_empty_bracket_crosses_nothing_and_hides_no_crossing() -> None:
    gold = "(S (X (A a) (B b) (E (, ,))) (Y (C c) (D d)))"
    test = "(S (A a) (Z (B b) (C c)) (E (, ,)) (D d))"
    metric = Hogenhout(keep=("empty",))
    found = items(gold, test, metric)
    assert (found["CE"], found["TTB"], found["TPB"]) == (1, 4, 3)
    swapped = items("(S (X (A a) (B b)) (E (, ,)) (Y (C c) (D d)))", "(S (A a) (B b) (W (E (, ,)) (C c) (D d)))", metric)
    assert swapped["CE"] == 0


def test_the_parsers_pieces_of_one_word_are_one_word() -> None:
    gold = "(S (NP (N we)) (VP (MD cannot) (VP (V go))))"
    test = "(S (NP (N we)) (VP (X (MD can) (RB not)) (VP (V go))))"
    found = items(gold, test, Hogenhout())
    assert (found["TTB"], found["TPB"], found["EM"], found["SP"]) == (2, 2, 2, 0)


def test_questions_are_the_crossing_and_spurious_brackets() -> None:
    metric = Hogenhout()
    prepared = pair(GOLD, TEST.replace("(D a) (N b)", "(D a)", 1).replace("(V c)", "(N b) (V c)", 1), metric)
    asked = brackets_to_judge(prepared, metric)
    assert [(question.bracket, question.kind) for question in asked] == [
        (BracketKey(0, 1, 8, "VP"), "CE"),
        (BracketKey(0, 3, 8, "NP"), "SP"),
    ]
    assert [question.kind for question in brackets_to_judge(prepared, metric, exact=True)] == ["EM", "CE", "SP", "EM", "EM", "EM"]
    assert [q.bracket.label for q in brackets_to_judge(prepared, Hogenhout(structure=("VP",)))] == ["VP"]
    chain = "(S (A a) (VP (NP (B b) (C c))) (D d))"
    assert brackets_to_judge(pair("(S (A a) (B b) (C c) (D d))", chain, metric), metric)[0].bracket.label == "VP+NP"


def test_verdicts_by_label_come_before_verdicts_on_any_label() -> None:
    judged = Judgements({BracketKey(0, 3, 8, "NP"): Verdict.ACCEPTED, BracketKey(0, 3, 8): Verdict.REJECTED})
    metric = Hogenhout().with_judgements(judged)
    found = items(GOLD, TEST, metric)
    assert (found["EMA"], found["SPA"], found["SPR"], found["unjudged"]) == (6, 1, 0, 0)


def test_measures_that_need_every_verdict_wait_for_it() -> None:
    metric = Hogenhout().with_judgements(Judgements({}))
    rows = metric.rows(pair(GOLD, TEST, metric))
    rates = metric.rates(rows.sum(axis=0).tolist())
    waiting = {name for name, rate in rates.items() if math.isnan(rate)}
    assert waiting >= {"recall_soft", "precision_soft", "test_noise", "problem_rate"}
    assert (rates["recall_hard"], rates["precision_hard"], rates["spuriousness"]) == (1, 6 / 7, 1 / 7)


def test_rejected_exact_matches_leave_recall_and_the_comparison() -> None:
    metric = Hogenhout()
    prepared = pair(GOLD, GOLD, metric)
    rejecting = Hogenhout().with_judgements(Judgements({BracketKey(0, 0, 2): Verdict.REJECTED}))
    assert comparative_rows(prepared, prepared, rejecting, metric).tolist() == [[5, 0, 1, 0]]
    assert rejecting.rates(rejecting.rows(prepared).sum(axis=0).tolist())["recall_hard"] == 5 / 6


def test_items_are_a_partition() -> None:
    metric = Hogenhout(structure=("NP", "VP"))
    found = items(GOLD, TEST, metric)
    assert found["EM"] + found["CE"] + found["SP"] == found["TPB"]
    assert found["PINH"] + found["PNINH"] == found["CE"]


def test_signature_changes_with_every_option() -> None:
    judged = Judgements({BracketKey(0, 1, 2): Verdict.ACCEPTED})
    options = [
        Hogenhout(),
        Hogenhout(structure=("NP",)),
        Hogenhout(reading="both"),
        Hogenhout(keep=("double",)),
        Hogenhout().with_judgements(judged),
        Hogenhout(with_emr=True).with_judgements(judged),
        Hogenhout().with_judgements(Judgements({BracketKey(0, 1, 2): Verdict.REJECTED})),
        Hogenhout().with_judgements(Judgements({BracketKey(0, 1, 2): Verdict.ACCEPTED}, otherwise=Verdict.REJECTED)),
    ]
    assert len({repr(dict(metric.options)) for metric in options}) == len(options)


def test_options_on_the_command_line() -> None:
    metric = find_metric("hogenhout:structure=PP,NP:parse:keep-one-word:with-emr")
    assert isinstance(metric, Hogenhout)
    assert (metric.structure, metric.reading, metric.keep, metric.with_emr) == (("PP", "NP"), "parse", ("one-word",), True)
    for wrong in ("hogenhout:nontopp", "hogenhout:keep-all", "hogenhout:one-word"):
        with pytest.raises(UnknownName):
            find_metric(wrong)
    with pytest.raises(UnknownName):
        Hogenhout(reading="liberal")
    with pytest.raises(UnknownName):
        Hogenhout(keep=("doubles",))


def test_a_step_of_the_preset_cannot_be_left_out_too_late() -> None:
    prepared = alignment.pair(Treebank.parse(GOLD), Treebank.parse(GOLD), load_preset("default"))
    with pytest.raises(UsageError, match="empty"):
        Hogenhout(keep=("empty",)).rows(prepared)


def test_systems_on_other_sentences_cannot_be_compared() -> None:
    bank = Treebank.parse(GOLD + GOLD)
    short = Treebank.parse("(S (N x) (N y))" + GOLD)
    preset = load_preset("default")
    whole, part = alignment.pair(bank, bank, preset), alignment.pair(bank, short, preset, on_mismatch="skip")
    assert len(part) == 1
    with pytest.raises(MismatchError, match="same sentences"):
        comparative_rows(whole, part, Hogenhout())


def test_an_empty_treebank_has_no_brackets() -> None:
    empty = Treebank.from_trees([])
    prepared = alignment.pair(empty, empty, load_preset("default"))
    assert Hogenhout().rows(prepared).shape == (0, 9)
    assert comparative_rows(prepared, prepared, Hogenhout()).shape == (0, 4)
    assert crossing_histogram(np.zeros(0, dtype=np.int64)).tolist() == []
    assert all(math.isnan(rate) for rate in Hogenhout().rates([0] * 9).values())


def test_measures_work_on_whole_columns() -> None:
    rng = np.random.default_rng(0)
    table = rng.integers(0, 4, size=(50, 9))
    metric = Hogenhout()
    together = metric.rates([table[:, column] for column in range(9)])
    for index, row in enumerate(table.tolist()):
        for name, rate in metric.rates(row).items():
            assert together[name][index] == pytest.approx(rate, nan_ok=True, abs=0)


@given(st.lists(st.tuples(st.integers(1, 40), st.integers(1, 10**40)), min_size=1, max_size=20))
def test_parse_base_is_between_the_smallest_and_the_largest_root(sentences: list[tuple[int, int]]) -> None:
    roots = [math.exp(math.log(p) / n) for n, p in sentences]
    value = parse_base(sentences).value
    assert min(roots) * (1 - 1e-9) <= value <= max(roots) * (1 + 1e-9)


def test_parse_base_at_its_edges() -> None:
    assert math.isnan(parse_base([]).value)
    assert parse_base([(3, 0), (0, 1)])[1:] == (0, 2)
    assert parse_base([(3, math.inf), (4, 2)]).value == math.inf
    assert parse_base([(400, 10**300)]).value == pytest.approx(10 ** (300 / 400))
    with pytest.raises(UsageError):
        parse_base([(3, -1)])


def test_measures_of_incomplete_items() -> None:
    rates = measures({"TTB": 10, "TPB": 5, "EM": 4, "SP": 1, "PINH": 0, "PNINH": 0, "TINH": 1, "TNINH": 3})
    assert set(rates) == {"generation_rate", "recall_hard", "precision_hard", "spuriousness", "p_inheritance", "t_inheritance"}


@pytest.mark.parametrize(("metric", "reading"), [("hogenhout", "nontop"), ("hogenhout:literal", "literal")])
def test_figures_of_t_inheritance_name_its_reading(
    metric: str, reading: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, tree in (("gold.mrg", GOLD), ("A.mrg", TEST), ("B.mrg", GOLD)):
        Path(name).write_text(f"{tree}\n" * 3)
    table = f"score gold.mrg A.mrg -m {metric}"
    paper = f"score gold.mrg A.mrg -m {metric} --rates t_inheritance --format latex"
    compared = f"compare gold.mrg A.mrg B.mrg -m {metric} --rounds 20"
    words = f"t inheritance ({reading})"
    for command, shown in ((table, words), (paper, words), (compared, f"T-inheritance ({reading})")):
        with pytest.raises(SystemExit):
            main(command.split())
        assert shown in capsys.readouterr().out, command
    assert rate_heading((metric, "t_inheritance"), [(metric, "t_inheritance")]) == words, "as in sentences of compare and report"
    assert any(line.endswith(f"({reading})") and "t_inheritance" in line for line in explanation(metric).splitlines())
