"""The check of trees with crossing branches: brackets with gaps are asked about, shown, stored, exported and judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from treegauge.errors import FormatError
from treegauge.humancheck.corrections import correct_treebank
from treegauge.humancheck.exchange import export_lines, import_file
from treegauge.humancheck.judgements import Judgement, JudgementLog, verdict_rule
from treegauge.humancheck.questions import BracketId, Check, CheckPlan, build_check
from treegauge.humancheck.results import find_results, judgements_for
from treegauge.humancheck.store import Store
from treegauge.humancheck.web.pages import question_view
from treegauge.presets import load_preset
from treegauge.trees import Treebank, parse_discbracket

GOLD = "(S (VP (PWS 0=Wen) (VVPP 3=gesehen)) (VAFIN 1=hat) (PPER 2=sie) ($. 4=?))"
# Of the same first and last word as gold's VP, one crosses it, and one is that with another gap.
TEST = "(S (VP (PWS 0=Wen) (VAFIN 1=hat)) (VX (PPER 2=sie) (VVPP 3=gesehen)) ($. 4=?))"
OTHER = "(S (VP (PWS 0=Wen) (PPER 2=sie) (VVPP 3=gesehen)) (VAFIN 1=hat) ($. 4=?))"
PLAN = CheckPlan(preset=load_preset("default", "negra"))


def bank(*texts: str) -> Treebank:
    return Treebank.from_trees([parse_discbracket(text) for text in texts])


def checked(*tests: str) -> Check:
    return build_check(bank(GOLD), {f"parser {number}": bank(test) for number, test in enumerate(tests)}, PLAN)


def test_brackets_with_gaps_are_questions_of_their_own() -> None:
    found = {
        (question.kind, question.bracket.label, question.words, question.bracket.blocks)
        for question in checked(TEST, OTHER).questions
    }
    assert found == {
        ("EM", "S", ("Wen", "hat", "sie", "gesehen"), ""),
        ("CE", "VP", ("Wen", "hat"), ""),
        ("CE", "VX", ("sie", "gesehen"), ""),
        ("SP", "VP", ("Wen", "…", "sie", "gesehen"), "0-1 2-4"),
    }


def test_names_of_brackets_without_gaps_are_as_they_were() -> None:
    """Stores of earlier versions know brackets by these, and the order of questions depends on them."""
    bracket = BracketId("hash", 0, 2, "NP", "gold")
    assert bracket.key == "75537693fb25cf7f9b326c5e"
    assert bracket._replace(blocks="0-1 3-4").key != bracket.key


def test_the_page_shows_each_block_and_crossing_branches() -> None:
    check = checked(OTHER)
    [number] = check.order
    view = question_view(check, check.questions[number], "anna", blind=False)
    assert [(segment.before, segment.text, segment.after) for segment in view.segments] == [
        ("[", "Wen", "]"),
        ("", "hat", ""),
        ("[", "sie gesehen", "]"),
        ("", "?", ""),
    ]
    assert all("Wen" in picture.svg and picture.svg.index("Wen") < picture.svg.index("gesehen") for picture in view.pictures)
    assert view.reason.around is not None
    assert view.reason.around.label == "S"
    crossing = checked(TEST)
    reasons = {
        question.bracket.label: question_view(crossing, question, "anna", blind=False).reason.crosses
        for question in crossing.questions
        if question.kind == "CE"
    }
    assert {label: [(gold.label, gold.words, gold.blocks) for gold in golds] for label, golds in reasons.items()} == {
        "VP": [("VP", "Wen … gesehen", ((0, 1), (3, 4)))],
        "VX": [("VP", "Wen … gesehen", ((0, 1), (3, 4)))],
    }


def test_judgements_survive_the_store_and_its_exports(tmp_path: Path) -> None:
    check = checked(OTHER)
    question = check.questions[check.order[0]]
    said = Judgement("1", question.bracket, question.kind, "accepted", "anna", correction=True, correct_label="VP")
    for suffix in ("jsonl", "csv"):
        with Store(tmp_path / f"one-{suffix}.sqlite") as one, Store(tmp_path / f"two-{suffix}.sqlite") as two:
            one.append([said], {question.bracket.sentence: question.span.words})
            (tmp_path / f"out.{suffix}").write_text("".join(f"{line}\n" for line in export_lines(one, suffix)), "utf-8")
            import_file(two, str(tmp_path / f"out.{suffix}"))
            assert [judgement.bracket for judgement in two.since(0)] == [question.bracket]
            log = JudgementLog(two.since(0))
    verdict = verdict_rule(log, "majority", ())
    assert find_results(check, verdict).to_dict() != find_results(check, lambda _: None).to_dict()
    [judged] = judgements_for(check, verdict).values()
    assert {key.blocks for key in judged} == {((0, 1), (2, 4))}
    corrected = correct_treebank(check, log)
    assert (corrected.changes, list(corrected.bank)) == (0, list(check.gold))
    assert "crossing branches" in corrected.refused[0]


@pytest.mark.parametrize("blocks", ["0-1", "0-1 1-4", "0-2 3-5", "1-2 3-4", "0-1,3-4", "3-4 0-1"])
def test_blocks_that_cannot_be_are_refused(blocks: str, tmp_path: Path) -> None:
    bracket = BracketId("", 0, 4, "VP", "gold", "0-1 2-4")
    with Store(tmp_path / "one.sqlite") as store:
        store.append([Judgement("1", bracket, "SP", "accepted", "anna")], {"": ("Wen", "hat", "sie", "gesehen", "?")})
        line = "".join(export_lines(store, "jsonl")).replace("0-1 2-4", blocks)
        (tmp_path / "x.jsonl").write_text(line, "utf-8")
        with pytest.raises(FormatError, match="the blocks"):
            import_file(store, str(tmp_path / "x.jsonl"))
