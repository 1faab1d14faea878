"""The check of trees with crossing branches: brackets with gaps are asked about, shown, stored, exported and judged."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from treegauge.errors import FormatError, RequestError
from treegauge.humancheck.corrections import BracketChange, correct_tree, correct_treebank
from treegauge.humancheck.editing import EDITS, edit_tree, edited_tree
from treegauge.humancheck.exchange import export_lines, import_file
from treegauge.humancheck.judgements import BracketId, Judgement, JudgementLog, Person, verdict_rule
from treegauge.humancheck.questions import Check, CheckPlan, build_check
from treegauge.humancheck.results import find_results, judgements_for
from treegauge.humancheck.session import Session
from treegauge.humancheck.store import Store
from treegauge.humancheck.web.views import question_view
from treegauge.presets import load_preset
from treegauge.testing import discontinuous_trees, trees
from treegauge.trees import Tree, Treebank, parse_discbracket
from treegauge.trees.discontinuous import blocks_of

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
    assert (corrected.changes, corrected.refused) == (1, ())
    assert str(corrected.bank[0]) == ("(S (VP (VP (PWS 0=Wen) (VVPP 3=gesehen)) (PPER 2=sie)) (VAFIN 1=hat) ($. 4=?))")


@pytest.mark.parametrize("blocks", ["0-1", "0-1 1-4", "0-2 3-5", "1-2 3-4", "0-1,3-4", "3-4 0-1"])
def test_blocks_that_cannot_be_are_refused(blocks: str, tmp_path: Path) -> None:
    bracket = BracketId("", 0, 4, "VP", "gold", "0-1 2-4")
    with Store(tmp_path / "one.sqlite") as store:
        store.append([Judgement("1", bracket, "SP", "accepted", "anna")], {"": ("Wen", "hat", "sie", "gesehen", "?")})
        line = "".join(export_lines(store, "jsonl")).replace("0-1 2-4", blocks)
        (tmp_path / "x.jsonl").write_text(line, "utf-8")
        with pytest.raises(FormatError, match="the blocks"):
            import_file(store, str(tmp_path / "x.jsonl"))


def sets_of(tree: Tree) -> Counter[frozenset[int]]:
    """The sets of words of all phrases."""
    blocks = ((node, blocks) for node, blocks in tree.nodes_with_blocks() if not node.is_preterminal)
    return Counter(frozenset(at for block in own for at in range(*block)) for _, own in blocks)


PLAIN = trees(
    label=st.sampled_from(["S", "NP", "VP"]), tag=st.sampled_from(["N", "V"]), word=st.sampled_from(["a", "b"]), max_leaves=7
).filter(lambda tree: all(tree.tags) and all(node.width for node in tree.nodes()))


@settings(max_examples=60)
@given(discontinuous_trees(PLAIN) | PLAIN, st.data())
def test_a_bracket_with_gaps_that_was_put_in_is_in(tree: Tree, data: st.DataObject) -> None:
    """By brute force on sets of words: the phrases that do not cross it stay, and it is there."""
    words = sorted(data.draw(st.sets(st.integers(0, tree.width - 1), min_size=min(2, tree.width))))
    if len(words) < 2:
        return
    blocks = tuple((block.start, block.end) for block in blocks_of(words))
    change = BracketChange(words[0], words[-1] + 1, "NEW", True, blocks)
    made = correct_tree(tree, [change], np.ones(tree.width, dtype=np.bool_), lambda label: False)
    new = frozenset(words)
    stay = Counter({own: n for own, n in sets_of(tree).items() if not own & new or own <= new or new <= own})
    assert isinstance(made, Tree)
    assert sets_of(made) == stay + Counter([new])
    assert (made.words, made.tags) == (tree.words, tree.tags)
    back = correct_tree(made, [change._replace(inserts=False)], np.ones(tree.width, dtype=np.bool_), lambda label: False)
    if new not in stay:
        assert isinstance(back, Tree)
        assert sets_of(back) == stay


def test_punctuation_goes_with_its_neighbours_into_a_bracket_with_gaps() -> None:
    tree = parse_discbracket("(S (A 0=a) ($, 1=,) (B 2=b) ($, 3=,) (C 4=c) (D 5=d) ($. 6=.))")
    counts = np.array([not tag.startswith("$") for tag in tree.tags])
    made = correct_tree(tree, [BracketChange(0, 4, "X", True, ((0, 2), (3, 4)))], counts)
    assert str(made) == "(S (X (A 0=a) ($, 1=,) (B 2=b) (D 5=d)) ($, 3=,) (C 4=c) ($. 6=.))"
    crossing = [BracketChange(0, 4, "X", True, ((0, 1), (2, 4))), BracketChange(0, 2, "Y", True)]
    assert correct_tree(tree, crossing, counts) == "the accepted brackets X and Y cross each other"
    twice = [BracketChange(0, 4, "X", True, ((0, 1), (2, 4))), BracketChange(0, 4, "Y", True, ((0, 1), (2, 4)))]
    assert correct_tree(tree, twice, counts) == "the same words were accepted as X and as Y"


@settings(max_examples=80)
@given(discontinuous_trees(PLAIN), st.sampled_from(sorted(EDITS)), st.integers(0, 12), st.integers(0, 12))
def test_edits_of_trees_with_gaps_keep_words_and_tags(tree: Tree, name: str, node: int, last: int) -> None:
    try:
        found = edit_tree(tree, name, node, last, "NEW", has_gaps=True)
    except RequestError:
        return
    assert found.tree.words == tree.words
    assert edited_tree(tree, str(found.tree)) == found.tree
    edited = list(found.tree.nodes_with_blocks())[found.node]
    before = list(tree.nodes_with_blocks())
    match name:
        case "relabel":
            assert (edited[0].label, edited[1]) == ("NEW", before[node][1])
        case "add":
            assert edited[0].label == "NEW"
        case "delete":
            assert found.tree.size == tree.size - 1
        case _:
            assert edited[1] == before[node][1], "the node that was moved"
            assert found.tree != tree


def test_gaps_are_made_and_closed_by_edits() -> None:
    tree = parse_discbracket(GOLD)
    # The participle goes out of the verb phrase, past the words between, and in again.
    out = edit_tree(tree, "out", 3, 3, "", has_gaps=True)
    assert str(out.tree) == "(S (VP (PWS Wen)) (VAFIN hat) (PPER sie) (VVPP gesehen) ($. ?))"
    assert edit_tree(out.tree, "previous", out.node, out.node, "", has_gaps=True).tree == tree
    with pytest.raises(RequestError, match="no bracket before"):
        edit_tree(out.tree, "previous", out.node, out.node, "", has_gaps=False)
    # A bracket with a gap of its own: around three neighbours, then the middle one out.
    flat = Tree.parse("(S (A a) (B b) (C c))")
    wide = edit_tree(flat, "add", 1, 3, "X", has_gaps=True)
    assert str(edit_tree(wide.tree, "out", 3, 3, "", has_gaps=True).tree) == "(S (X (A 0=a) (C 2=c)) (B 1=b))"
    with pytest.raises(RequestError, match="An edit is one of"):
        edit_tree(flat, "turn", 0, 0, "", has_gaps=True)
    with pytest.raises(RequestError, match="words of the treebank"):
        edited_tree(tree, GOLD.replace("2=sie", "2=er"))


def test_the_corrected_treebank_is_saved_with_its_gaps(tmp_path: Path) -> None:
    check = checked(OTHER)
    question = check.questions[check.order[0]]
    said = Judgement("1", question.bracket, question.kind, "accepted", "anna", correction=True, correct_label="VZ")
    with Store(tmp_path / "one.sqlite") as store:
        anna = Person("annotator", "anna")
        session = Session(check, store, [anna])
        session.log.add([said])
        discbracket = "(S (VZ (VP (PWS 0=Wen) (VVPP 3=gesehen)) (PPER 2=sie)) (VAFIN 1=hat) ($. 4=?))\n"
        assert session.export_corrected(anna, "discbracket").decode() == discbracket
        assert "#501\tVZ\t--\t--\t502\n" in session.export_corrected(anna, "export").decode()
        with pytest.raises(RequestError, match="a patch needs bracketed files"):
            session.export_corrected(anna, "patch")
        with pytest.raises(RequestError, match="cannot be written in this format"):
            session.export_corrected(anna, "mrg")
