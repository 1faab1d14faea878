"""Which questions are asked: named by content, each once, in an order that outlives a re-run, and fed back into the counts."""

from __future__ import annotations

import numpy as np
import pytest
from humancheck_helpers import careless, small_check

from treegauge.alignment.words import plain_word
from treegauge.data import own_treebank
from treegauge.errors import UsageError
from treegauge.humancheck.judgements import tree_hash
from treegauge.humancheck.questions import Check, CheckPlan, build_check
from treegauge.humancheck.results import judgements_for
from treegauge.metrics.hogenhout import Hogenhout, Verdict, brackets_to_judge
from treegauge.presets import load_preset
from treegauge.trees import Tree, Treebank


def asked(gold: str, test: str, plan: CheckPlan | None = None) -> list[tuple[str, str, str]]:
    check = build_check(Treebank.parse(gold), {"A": Treebank.parse(test)}, plan)
    chosen = sorted((check.questions[number] for number in check.order), key=lambda question: question.span[1:3])
    return [(question.kind, question.bracket.label, " ".join(question.words)) for question in chosen]


GOLD = "(S (NP (D the) (N dog)) (, ,) (VP (V saw) (NP (D a) (N cat)) (PP (P in) (NP (N Ur)))) (. .))"
TEST = "(S (NP (D the) (N dog)) (, ,) (VP (X (V saw) (D a)) (N cat) (PP (P in) (NP (N Ur)))) (. .))"


def test_crossing_and_spurious_brackets_are_asked_and_exact_ones_on_request() -> None:
    assert asked(GOLD, TEST) == [("CE", "X", "saw a")]
    flat = "(S (D the) (N dog) (, ,) (VP (V saw) (NP (NP (D a) (N cat)) (PP (P in) (NP (N Ur))))) (. .))"
    assert asked(GOLD, flat) == [("SP", "NP", "a cat in Ur")]
    assert [kind for kind, *_ in asked(GOLD, flat, CheckPlan(exact=True))] == ["EM", "EM", "EM", "SP", "EM"]
    assert asked(GOLD, flat, CheckPlan(Hogenhout(structure=("PP",)), exact=True)) == [("EM", "PP", "in Ur")]


def test_the_questions_are_those_of_the_metric(check: Check) -> None:
    for system in check.systems:
        metric = check.plan.metric
        expected = sorted((found.bracket, found.kind) for found in brackets_to_judge(system.pair, metric, exact=True))
        numbers = system.question.tolist()
        assert sorted(zip(system.names, (check.questions[n].kind for n in numbers), strict=True)) == expected
        assert check.instances[0].sum() == check.systems[0].counts["TPB"]


def test_spans_cover_the_words_that_count(check: Check) -> None:
    for index, system in enumerate(check.systems):
        test = system.items.test.brackets
        for question in check.questions:
            for occurrence in question.occurrences:
                if occurrence.system == index:
                    first = int(system.pair.gold.token_offset[occurrence.sentence])
                    rows = slice(first + int(test.start[occurrence.row]), first + int(test.end[occurrence.row]))
                    counted = len(system.pair.gold.word[rows])
                    punctuation = sum(not any(map(str.isalnum, word)) for word in question.words)
                    assert counted <= len(question.words) <= counted + punctuation


def test_a_bracket_is_one_question_for_all_parsers_and_places() -> None:
    gold = Treebank.parse(GOLD + GOLD)
    check = build_check(gold, {"A": Treebank.parse(TEST + TEST), "B": Treebank.parse(GOLD + TEST)})
    (number,) = check.order
    assert [occurrence[:2] for occurrence in check.questions[number].occurrences] == [(0, 0), (0, 1), (1, 1)]
    assert check.systems_with(check.questions[number]) == ["A", "B"]
    assert check.instances[:, 0, number].tolist() == [2, 1]


def test_the_same_text_with_two_analyses_is_two_questions() -> None:
    gold = Treebank.parse(GOLD + GOLD.replace("(NP (D a) (N cat))", "(D a) (N cat)"))
    check = build_check(gold, {"A": Treebank.parse(TEST + TEST)})
    one, other = (check.questions[number].bracket for number in check.order)
    assert one[:4] == other[:4]
    assert {one.gold, other.gold} == {tree_hash(tree) for tree in gold}


def test_a_rerun_keeps_keys_and_order() -> None:
    before, after = small_check(sentences=20), small_check(sentences=40)
    old = [before.questions[number].bracket for number in before.order]
    new = [after.questions[number].bracket for number in after.order]
    assert [bracket for bracket in new if bracket in set(old)] == old
    assert len(new) > len(old)
    assert [small_check(CheckPlan(seed=2), 20).questions[n].bracket for n in small_check(CheckPlan(seed=2), 20).order] != old


def test_a_sample_is_the_beginning_of_the_order(check: Check) -> None:
    sample = small_check(CheckPlan(sample=7))
    assert [sample.questions[n].bracket for n in sample.order] == [check.questions[n].bracket for n in check.order[:7]]
    assert len(sample.ranking) == len(check.order)


def test_what_a_preset_leaves_out_does_not_change_a_name() -> None:
    everything = CheckPlan(Hogenhout(keep=("punctuation",)))
    by_default, with_all = (
        {question.bracket: question for question in build_check(Treebank.parse(GOLD), {"A": Treebank.parse(TEST)}, plan).questions}
        for plan in (CheckPlan(), everything)
    )
    assert set(with_all) > {bracket for bracket in by_default if bracket.label != "S"}


def test_traces_are_not_words() -> None:
    traced = GOLD.replace("(VP (V saw)", "(VP (NP (-NONE- *)) (V saw)")
    check, plain = (build_check(Treebank.parse(gold), {"A": Treebank.parse(TEST)}) for gold in (traced, GOLD))
    question, other = (each.questions[each.order[0]] for each in (check, plain))
    assert question.span == other.span
    assert question.bracket.gold != other.bracket.gold


def test_other_tokens_over_the_same_text() -> None:
    gold = "(S (NP (N we)) (VP (MD cannot) (VP (V go) (NP (N home)))))"
    test = "(S (X (NP (N we)) (MD can)) (Y (RB not) (V go) (NP (N home))))"
    check = build_check(Treebank.parse(gold), {"A": Treebank.parse(test)})
    found = {question.bracket.label: question.span for question in check.questions}
    # An edge inside a gold word can only be given in the parser's words.
    assert (found["X"].words[found["X"].start : found["X"].end], found["X"].by_gold) == (("we", "can"), False)
    assert (found["Y"].words[found["Y"].start : found["Y"].end], found["Y"].by_gold) == (("not", "go", "home"), False)
    assert found["S"].by_gold
    assert found["S"].words == ("we", "cannot", "go", "home")


def test_punctuation_that_only_one_side_has() -> None:
    test = TEST.replace("(, ,) ", "")
    check = build_check(Treebank.parse(GOLD), {"A": Treebank.parse(test)})
    question = check.questions[check.order[0]]
    assert (question.span.start, question.span.end, question.words) == (3, 5, ("saw", "a"))
    tokens = check.systems[0].spans.tokens(0)
    assert [plain_word(w) for w in np.array(check.systems[0].bank.words(0))[tokens.test]] == [
        plain_word(w) for w in np.array(check.gold.words(0))[tokens.gold]
    ]


@pytest.mark.parametrize("structure", [(), ("NP",), ("PP", "VP")])
def test_verdicts_go_through_the_metrics_own_items(structure: tuple[str, ...]) -> None:
    check = small_check(CheckPlan(Hogenhout(structure=structure), exact=True))
    rng = np.random.default_rng(3)
    verdicts = {question.bracket: list(Verdict)[int(rng.integers(2))] for question in check.questions}
    for index, system in enumerate(check.systems):
        metric = Hogenhout(structure=structure).with_judgements(judgements_for(check, verdicts.get)[system.name])
        counts = dict(zip(metric.columns, metric.rows(system.pair).sum(axis=0).tolist(), strict=True))
        accepted = np.array([verdicts[question.bracket] is Verdict.ACCEPTED for question in check.questions])
        for kind, name in enumerate(("CE", "SP", "EM")):
            assert counts[f"{name}A"] == check.instances[index, kind][accepted].sum()
            assert counts[f"{name}R"] == check.instances[index, kind][~accepted].sum()
        reproduced = counts["TINH"] + counts["TNINH"]
        assert counts["EMA_treebank"] == reproduced - check.reproduced[index][~accepted].sum()
        assert counts["unjudged"] == 0


def test_a_label_that_no_database_could_hold() -> None:
    gold = Treebank.from_trees([Tree("S", [Tree("A", ["a"]), Tree("B", ["b"]), Tree("C", ["c"])])])
    test = Treebank.from_trees([Tree("S", [Tree("X\x00\ud800", [Tree("A", ["a"]), Tree("B", ["b"])]), Tree("C", ["c"])])])
    check = build_check(gold, {"A": test})
    assert check.questions[check.order[0]].bracket.label == "X\ufffd\ufffd"
    verdicts = judgements_for(check, lambda _: Verdict.ACCEPTED)["A"]
    metric = Hogenhout().with_judgements(verdicts)
    assert dict(zip(metric.columns, metric.rows(check.systems[0].pair).sum(axis=0).tolist(), strict=True))["SPA"] == 1


def test_nothing_to_check_is_said() -> None:
    with pytest.raises(UsageError, match="at least one parser"):
        build_check(own_treebank("dev"), {})


def test_identical_trees_ask_nothing() -> None:
    gold = own_treebank("dev")[:10]
    assert build_check(gold, {"A": gold}).order == ()


def test_a_deep_tree() -> None:
    deep, flat = Tree("X", ["w"]), Tree("W", ["w"])
    for level in range(20_000):
        deep = Tree(f"X{level % 7}", [deep, Tree("W", ["w"])] if level % 1000 == 0 else [deep])
    gold = Treebank.from_trees([Tree("S", [flat] * deep.width)])
    check = build_check(gold, {"A": Treebank.from_trees([deep])}, CheckPlan(preset=load_preset("default")))
    assert len(check.order) == 19


def test_careless_parsers_make_all_kinds_of_errors(check: Check) -> None:
    assert (check.instances.sum(axis=2) > 10).all()
    assert careless(check.gold, 1) == check.systems[0].bank
