"""What holds, given all that was said: changes of mind, withdrawals, several annotators, an adjudicator, other gold trees."""

from __future__ import annotations

import random

import pytest
from humancheck_helpers import said
from hypothesis import given
from hypothesis import strategies as st

from treegauge.errors import UnknownName
from treegauge.humancheck.judgements import Judgement, Ledger, decided
from treegauge.humancheck.questions import Check
from treegauge.humancheck.session import AdjudicatorDesk, AnnotatorDesk
from treegauge.metrics.hogenhout import Verdict

ANNA = ("annotator", "anna")


def test_verdicts_of_several(check: Check) -> None:
    bracket = check.questions[0].bracket
    ledger = Ledger([said(check, 0, "accepted", "anna"), said(check, 0, "rejected", "ben"), said(check, 0, "unsure", "cleo")])
    assert ledger.is_disputed(bracket)
    assert decided(ledger)(bracket) is None
    assert decided(ledger, annotators=["ben"])(bracket) is Verdict.REJECTED
    ledger.add([said(check, 0, "rejected", "dora")])
    assert decided(ledger)(bracket) is Verdict.REJECTED
    assert decided(ledger, "unanimous")(bracket) is None
    ledger.add([said(check, 0, "accepted", "judge", role="adjudicator")])
    assert decided(ledger)(bracket) is Verdict.ACCEPTED
    assert decided(ledger, "unanimous")(bracket) is Verdict.ACCEPTED
    assert decided(ledger, annotators=["ben"])(bracket) is Verdict.REJECTED
    assert ledger.speakers() == ["anna", "ben", "cleo", "dora"]
    with pytest.raises(UnknownName):
        decided(ledger, "loudest")


def test_unanimity_waits_for_the_unsure(check: Check) -> None:
    ledger = Ledger([said(check, 0, "accepted", "anna"), said(check, 0, "unsure", "ben")])
    assert decided(ledger)(check.questions[0].bracket) is Verdict.ACCEPTED
    assert decided(ledger, "unanimous")(check.questions[0].bracket) is None


def test_a_verdict_under_another_gold_tree_is_remembered_but_not_counted(check: Check) -> None:
    bracket = check.questions[0].bracket
    old = Judgement("1", bracket._replace(gold="another"), "SP", "accepted", "anna")
    ledger = Ledger([old])
    assert ledger.standing(bracket, ANNA) is None
    assert ledger.elsewhere(bracket) == [old]
    assert decided(ledger)(bracket) is None
    assert decided(ledger, across_gold=True)(bracket) is Verdict.ACCEPTED


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["accepted", "rejected", "unsure", "skipped", "undo"])), max_size=12))
def test_the_last_word_not_withdrawn_holds_in_whatever_order_it_is_heard(check: Check, acts: list[tuple[int, str]]) -> None:
    log: list[Judgement] = []
    expected: dict[int, list[Judgement]] = {}
    order: list[tuple[int, Judgement]] = []
    for number, act in acts:
        at = f"2025-01-01T00:00:{len(log):02}.000000Z"
        if act == "undo":
            if order:
                target, last = order.pop()
                expected[target].remove(last)
                log.append(said(check, target, "withdrawn", undoes=last.id, at=at))
        else:
            judgement = said(check, number, act, at=at)
            log.append(judgement)
            expected.setdefault(number, []).append(judgement)
            order.append((number, judgement))
    shuffled = random.Random(0).sample(log, len(log))
    for told in (log, shuffled):
        ledger = Ledger(told)
        desk = AnnotatorDesk("anna", check, ledger)
        for number in range(3):
            standing = ledger.standing(check.questions[number].bracket, ANNA)
            assert standing == (expected[number][-1] if expected.get(number) else None)
        assert desk.last() == (order[-1][1] if order else None)
        grown = AnnotatorDesk("anna", check, Ledger())
        for judgement in told:
            grown.ledger.add([judgement])
            grown.hear([judgement])
        assert grown.states.tolist() == desk.states.tolist()
        assert list(grown.upcoming()) == list(desk.upcoming())
        assert grown.progress() == desk.progress()


def test_skipped_questions_come_again_at_the_end(check: Check) -> None:
    ledger = Ledger()
    desk = AnnotatorDesk("anna", check, ledger)
    seen: list[int] = []
    for turn in range(2 * len(check.order)):
        number = desk.next()
        assert number is not None
        seen.append(number)
        verdict = "skipped" if turn < len(check.order) and turn % 2 else "accepted"
        judgement = said(check, number, verdict, at=f"2025-01-01T00:00:00.{turn:06}Z")
        ledger.add([judgement])
        desk.hear([judgement])
        if desk.next() is None:
            break
    assert seen[: len(check.order)] == list(check.order)
    assert seen[len(check.order) :] == list(check.order)[1::2]
    assert desk.progress().left == 0


@pytest.mark.parametrize(
    ("verdicts", "disputed"),
    [("accepted rejected", True), ("accepted unsure", False), ("rejected skipped", False), ("accepted accepted", False)],
)
def test_doubt_is_no_disagreement(check: Check, verdicts: str, disputed: bool) -> None:
    number = check.order[0]
    ledger = Ledger(said(check, number, verdict, name) for verdict, name in zip(verdicts.split(), ("anna", "ben"), strict=True))
    assert ledger.is_disputed(check.questions[number].bracket) == disputed


def test_disagreements_are_the_adjudicators_queue(check: Check) -> None:
    a, b, c = check.order[:3]
    ledger = Ledger([said(check, n, "accepted", "anna") for n in (a, b, c)] + [said(check, n, "rejected", "ben") for n in (a, c)])
    desk = AdjudicatorDesk("adjudicator", check, ledger)
    assert list(desk.upcoming()) == [a, c]
    ruling = said(check, a, "accepted", "adjudicator", role="adjudicator")
    ledger.add([ruling])
    desk.hear([ruling])
    assert list(desk.upcoming()) == [c]
    assert desk.progress()[:2] == (1, 1)
    change = said(check, c, "accepted", "ben", at="2025-02-01T00:00:00.000000Z")
    ledger.add([change])
    desk.hear([change])
    assert desk.next() is None
