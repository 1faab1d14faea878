"""What holds, given all that was said: changes of mind, withdrawals, several annotators, an adjudicator, other gold trees."""

from __future__ import annotations

import random

import pytest
from humancheck_helpers import said
from hypothesis import given, strategies as st

from treegauge.errors import UnknownName
from treegauge.humancheck.judgements import Judgement, JudgementLog, Person, verdict_rule
from treegauge.humancheck.questions import Check
from treegauge.humancheck.session import AdjudicatorWorklist, Worklist
from treegauge.metrics.hogenhout import Verdict

ANNA = Person("annotator", "anna")


def test_verdicts_of_several(check: Check) -> None:
    bracket = check.questions[0].bracket
    log = JudgementLog([said(check, 0, "accepted", "anna"), said(check, 0, "rejected", "ben"), said(check, 0, "unsure", "cleo")])
    assert log.is_disputed(bracket)
    assert verdict_rule(log)(bracket) is None
    assert verdict_rule(log, annotators=["ben"])(bracket) is Verdict.REJECTED
    log.add([said(check, 0, "rejected", "dora")])
    assert verdict_rule(log)(bracket) is Verdict.REJECTED
    assert verdict_rule(log, "unanimous")(bracket) is None
    log.add([said(check, 0, "accepted", "judge", role="adjudicator")])
    assert verdict_rule(log)(bracket) is Verdict.ACCEPTED
    assert verdict_rule(log, "unanimous")(bracket) is Verdict.ACCEPTED
    assert verdict_rule(log, annotators=["ben"])(bracket) is Verdict.REJECTED
    assert log.names() == ["anna", "ben", "cleo", "dora"]
    with pytest.raises(UnknownName):
        verdict_rule(log, "loudest")


def test_unanimity_waits_for_the_unsure(check: Check) -> None:
    log = JudgementLog([said(check, 0, "accepted", "anna"), said(check, 0, "unsure", "ben")])
    assert verdict_rule(log)(check.questions[0].bracket) is Verdict.ACCEPTED
    assert verdict_rule(log, "unanimous")(check.questions[0].bracket) is None


def test_a_verdict_under_another_gold_tree_is_remembered_but_not_counted(check: Check) -> None:
    bracket = check.questions[0].bracket
    old = Judgement("1", bracket._replace(gold="another"), "SP", "accepted", "anna")
    log = JudgementLog([old])
    assert log.current(bracket, ANNA) is None
    assert log.under_other_gold(bracket) == [old]
    assert verdict_rule(log)(bracket) is None
    assert verdict_rule(log, across_gold=True)(bracket) is Verdict.ACCEPTED


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["accepted", "rejected", "unsure", "skipped", "undo"])), max_size=12))
def test_the_last_word_not_withdrawn_holds_in_whatever_order_it_is_heard(check: Check, acts: list[tuple[int, str]]) -> None:
    entries: list[Judgement] = []
    expected: dict[int, list[Judgement]] = {}
    order: list[tuple[int, Judgement]] = []
    for number, act in acts:
        at = f"2025-01-01T00:00:{len(entries):02}.000000Z"
        if act == "undo":
            if order:
                target, last = order.pop()
                expected[target].remove(last)
                entries.append(said(check, target, "withdrawn", undoes=last.id, at=at))
        else:
            judgement = said(check, number, act, at=at)
            entries.append(judgement)
            expected.setdefault(number, []).append(judgement)
            order.append((number, judgement))
    shuffled = random.Random(0).sample(entries, len(entries))
    for told in (entries, shuffled):
        log = JudgementLog(told)
        worklist = Worklist("anna", check, log)
        for number in range(3):
            judgement = log.current(check.questions[number].bracket, ANNA)
            assert judgement == (expected[number][-1] if expected.get(number) else None)
        assert worklist.last_judgement() == (order[-1][1] if order else None)
        grown = Worklist("anna", check, JudgementLog())
        for judgement in told:
            grown.log.add([judgement])
            grown.update([judgement])
        assert grown.states.tolist() == worklist.states.tolist()
        assert list(grown.upcoming()) == list(worklist.upcoming())
        assert grown.progress() == worklist.progress()


def test_skipped_questions_come_again_at_the_end(check: Check) -> None:
    log = JudgementLog()
    worklist = Worklist("anna", check, log)
    seen: list[int] = []
    for turn in range(2 * len(check.order)):
        number = worklist.next()
        assert number is not None
        seen.append(number)
        verdict = "skipped" if turn < len(check.order) and turn % 2 else "accepted"
        judgement = said(check, number, verdict, at=f"2025-01-01T00:00:00.{turn:06}Z")
        log.add([judgement])
        worklist.update([judgement])
        if worklist.next() is None:
            break
    assert seen[: len(check.order)] == list(check.order)
    assert seen[len(check.order) :] == list(check.order)[1::2]
    assert worklist.progress().left == 0


@pytest.mark.parametrize(
    ("verdicts", "disputed"),
    [("accepted rejected", True), ("accepted unsure", False), ("rejected skipped", False), ("accepted accepted", False)],
)
def test_doubt_is_no_disagreement(check: Check, verdicts: str, disputed: bool) -> None:
    number = check.order[0]
    log = JudgementLog(said(check, number, verdict, name) for verdict, name in zip(verdicts.split(), ("anna", "ben"), strict=True))
    assert log.is_disputed(check.questions[number].bracket) == disputed


def test_disagreements_are_the_adjudicators_queue(check: Check) -> None:
    a, b, c = check.order[:3]
    log = JudgementLog(
        [said(check, n, "accepted", "anna") for n in (a, b, c)] + [said(check, n, "rejected", "ben") for n in (a, c)]
    )
    worklist = AdjudicatorWorklist("adjudicator", check, log)
    assert list(worklist.upcoming()) == [a, c]
    ruling = said(check, a, "accepted", "adjudicator", role="adjudicator")
    log.add([ruling])
    worklist.update([ruling])
    assert list(worklist.upcoming()) == [c]
    assert worklist.progress()[:2] == (1, 1)
    change = said(check, c, "accepted", "ben", at="2025-02-01T00:00:00.000000Z")
    log.add([change])
    worklist.update([change])
    assert worklist.next() is None
