"""A corrected treebank: accepted brackets come in, what they cross goes, rejected exact matches go, and the rest stays."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from humancheck_helpers import said, small_check
from hypothesis import given, strategies as st

from treegauge.errors import UsageError
from treegauge.humancheck.corrected_text import CorrectedFile, corrected_files, patch_of, replace_brackets
from treegauge.humancheck.corrections import BracketChange, CorrectedTreebank, correct_tree, correct_treebank
from treegauge.humancheck.judgements import JudgementLog
from treegauge.humancheck.questions import CheckPlan, build_check
from treegauge.io.reading import read
from treegauge.io.sources import ReadOptions
from treegauge.testing.strategies import trees
from treegauge.trees import Tree, Treebank

GOLD = (
    "(TOP (S (NP-SBJ (PRP He)) (VP (VBD waited) (PP (IN for) (NP (PRP$ his) (NN master))) (, ,) (PP (IN on)"
    " (NP (DT the) (NN bridge)))) (NP (-NONE- *)) (. .)))"
)
TEST = (
    "(TOP (S (NP (PRP He)) (VP (VBD waited) (PP (IN for) (NP (NP (PRP$ his) (NN master)) (, ,) (PP (IN on)"
    " (NP (DT the) (NN bridge)))))) (. .)))"
)


def corrected(
    log_of: dict[str, tuple[str, bool]], gold: str = GOLD, test: str = TEST, annotator: str = "anna"
) -> tuple[Tree, list[str]]:
    """The corrected tree, given verdict and remark by label and first word of the brackets."""
    check = build_check(Treebank.parse(gold), {"A": Treebank.parse(test)}, CheckPlan(exact=True))
    log = []
    for number, question in enumerate(check.questions):
        name = f"{question.bracket.label} {question.words[0]} {question.kind}"
        if name in log_of:
            verdict, correction = log_of[name]
            log.append(said(check, number, verdict, correction=correction))
    assert len(log) == len(log_of), [f"{q.bracket.label} {q.words[0]} {q.kind}" for q in check.questions]
    done = correct_treebank(check, JudgementLog(log), parser_labels=True)
    return done.bank[0], list(done.refused)


def test_an_accepted_bracket_comes_in_and_what_it_crosses_goes() -> None:
    tree, refused = corrected({"NP his CE": ("accepted", True), "PP for SP": ("accepted", True)})
    assert refused == []
    assert str(tree) == GOLD.replace(
        "(PP (IN for) (NP (PRP$ his) (NN master))) (, ,) (PP (IN on) (NP (DT the) (NN bridge)))",
        "(PP (IN for) (NP (NP (PRP$ his) (NN master)) (, ,) (PP (IN on) (NP (DT the) (NN bridge)))))",
    )


def test_a_rejected_exact_match_goes() -> None:
    tree, _ = corrected({"NP the EM": ("rejected", True)})
    assert str(tree) == GOLD.replace("(NP (DT the) (NN bridge))", "(DT the) (NN bridge)")


def test_a_verdict_without_the_remark_changes_nothing() -> None:
    tree, refused = corrected({"NP his CE": ("accepted", False), "NP the EM": ("rejected", False)})
    assert (str(tree), refused) == (GOLD, [])


def test_what_cannot_be_corrected_is_listed() -> None:
    tree, refused = corrected({"NP his CE": ("rejected", True)})
    assert str(tree) == GOLD
    assert "NP [his master , on the bridge] was rejected" in refused[0]
    tree, refused = corrected({"S He EM": ("rejected", True)})
    assert str(tree) == GOLD.replace("(S ", "").replace("(. .)))", "(. .))")
    tree, refused = corrected({"S He EM": ("rejected", True)}, GOLD[5:-1], TEST[5:-1])
    assert "the whole sentence" in refused[0]


def test_corrections_that_cannot_stand_together_leave_the_sentence_alone() -> None:
    gold = Treebank.parse("(S (A a) (B b) (C c))")
    systems = {"A": "(S (X (A a) (B b)) (C c))", "B": "(S (A a) (Y (B b) (C c)))", "C": "(S (Z (A a) (B b)) (C c))"}
    for chosen, reason in (("AB", "cross each other"), ("AC", "as X and as Z")):
        check = build_check(gold, {name: Treebank.parse(systems[name]) for name in chosen})
        done = correct_treebank(
            check, JudgementLog([said(check, number, "accepted", correction=True) for number in check.order]), parser_labels=True
        )
        assert done.bank == gold
        assert reason in done.refused[0]
        assert (done.changes, done.sentences) == (0, 0)


def test_most_of_those_whose_verdict_it_is_must_want_the_correction() -> None:
    check = build_check(Treebank.parse(GOLD), {"A": Treebank.parse(TEST)})
    number = next(n for n in check.order if check.questions[n].bracket.label == "NP")
    log = [said(check, number, "accepted", name, correction=name == "anna") for name in ("anna", "ben")]
    assert correct_treebank(check, JudgementLog(log), parser_labels=True).changes == 0
    log.append(said(check, number, "accepted", "cleo", correction=True))
    assert correct_treebank(check, JudgementLog(log), parser_labels=True).changes == 1
    assert correct_treebank(check, JudgementLog(log), annotators=["ben"], parser_labels=True).changes == 0
    log.append(said(check, number, "rejected", "x", role="adjudicator"))
    assert correct_treebank(check, JudgementLog(log), parser_labels=True).changes == 0


def test_words_and_tags_stay_and_the_accepted_brackets_are_there_afterwards() -> None:
    check = small_check()
    log = [said(check, n, "accepted", correction=True) for n in check.order if check.questions[n].occurrences[0].system == 0]
    done = correct_treebank(check, JudgementLog(log), parser_labels=True)
    assert done.changes > 20
    again = build_check(done.bank, {"A": check.systems[0].bank})
    old = {check.questions[check.number[one.bracket]].bracket[:4] for one in log}
    left_out = {bracket[:4] for bracket in (again.questions[n].bracket for n in again.order)}
    refused = {place.split(":")[0] for place in done.refused}
    assert refused == set()
    assert not old & left_out
    for before, after in zip(check.gold, done.bank, strict=True):
        assert list(before.tagged()) == list(after.tagged())


@given(trees(max_leaves=8), st.data())
def test_a_bracket_that_was_put_in_is_in(tree: Tree, data: st.DataObject) -> None:
    if tree.width < 2:
        return
    start = data.draw(st.integers(0, tree.width - 2))
    end = data.draw(st.integers(start + 2, tree.width))
    everything = np.ones(tree.width, dtype=np.bool_)
    made = correct_tree(tree, [BracketChange(start, end, "NEW+X", True)], everything, lambda label: False)
    assert isinstance(made, Tree)
    assert [(s, t) for s, t, label in made.spans() if label == "NEW"] == [(start, end)]
    assert made.words == tree.words
    kept = {(s, t) for s, t, _ in tree.spans() if not (s < start < t < end or start < s < end < t)}
    assert {(s, t) for s, t, _ in made.spans()} == kept | {(start, end)}


def test_deep_trees_are_corrected() -> None:
    deep = Tree("X", [Tree("A", ["a"]), Tree("B", ["b"]), Tree("C", ["c"])])
    for _ in range(5000):
        deep = Tree("X", [deep])
    made = correct_tree(deep, [BracketChange(0, 2, "NEW", True)], np.ones(3, dtype=np.bool_))
    assert isinstance(made, Tree)
    assert made.size == deep.size + 1


@pytest.mark.parametrize(
    ("gold", "expected"),
    [
        ("(TOP (A a) (B b) (. .))", "(TOP (X (A a) (B b) (. .)))"),
        ("(S (A a) (, ,) (B b) (, ,) (C c))", "(S (X (A a) (, ,) (B b)) (, ,) (C c))"),
    ],
)
def test_punctuation_at_the_edges(gold: str, expected: str) -> None:
    tree = Tree.parse(gold)
    counts = np.array([tag not in (",", ".") for tag in tree.tags])
    assert str(correct_tree(tree, [BracketChange(0, 2, "X", True)], counts)) == expected


def test_the_label_of_a_correction_is_the_one_people_chose() -> None:
    check = build_check(Treebank.parse(GOLD), {"A": Treebank.parse(TEST)})
    number = next(n for n in check.order if check.questions[n].kind == "SP")
    bracket = check.questions[number].bracket

    def changed(*labels: str, **options: bool) -> CorrectedTreebank:
        log = [said(check, number, "accepted", f"p{i}", correction=True, correct_label=label) for i, label in enumerate(labels)]
        return correct_treebank(check, JudgementLog(log), **options)

    assert bracket.label != "QP"
    assert "(QP " in str(changed("QP").bank[0])
    assert "(QP " in str(changed("QP", "QP", "XP").bank[0])
    for labels in (("",), ("QP", "XP")):
        refused = changed(*labels)
        assert refused.changes == 0
        assert "has no label for the treebank" in refused.refused[0]
    assert changed("", parser_labels=True).changes == 1


WSJ_STYLE = """\
# newdoc id = one\r
( (S \r
    (NP-SBJ (PRP He))\r
    (VP (VBD waited) \r
      (PP (IN for)\r
        (NP (PRP$ his) (NN master)))\r
      (PP (IN on)\r
        (NP (DT the) (NN bridge))))\r
    (. .)))\r
\r
((S (NP (PRP He)) (VP (VBD slept)))) ( (S (NP (PRP I)) (VP (VBD saw) (NP (DT a) (NN-LRB- f-LRB-x\\/y-RRB-)))))\r
# the end"""
ATTACHED = "(NP (NP (PRP$ his) (NN master)) (PP (IN on) (NP (DT the) (NN bridge))))"


def in_a_folder(folder: Path, text: str, change: Callable[[Tree], Tree]) -> tuple[bytes, list[CorrectedFile]]:
    """The bytes of a treebank file in a folder, and the file with its trees changed."""
    file = folder / "gold.mrg"
    file.write_bytes(text.encode())
    bank = read("gold.mrg", ReadOptions(comment="#"))
    made = corrected_files(bank, Treebank.from_trees(change(tree) for tree in bank))
    assert made is not None
    return file.read_bytes(), made


def attach(tree: Tree) -> Tree:
    text = str(tree).replace("(NP (PRP$ his) (NN master))) (PP (IN on) (NP (DT the) (NN bridge)))", f"{ATTACHED})")
    return Tree.parse(text.replace("(VP (VBD slept))", "(VBD slept)"))


def test_a_corrected_file_differs_only_in_the_corrected_brackets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before, (file,) = in_a_folder(tmp_path, WSJ_STYLE, attach)
    after = file.after.decode()
    assert re.sub(r"[()\s]|NP|VP", "", after) == re.sub(r"[()\s]|NP|VP", "", WSJ_STYLE)
    assert after.count("\r\n") == WSJ_STYLE.count("\n")
    assert "((S (NP (PRP He)) (VBD slept))) ( (S" in after
    assert [str(tree) for tree in Treebank.parse(after.replace("# newdoc id = one", "").replace("# the end", ""))] == [
        str(attach(tree)) for tree in read("gold.mrg", ReadOptions(comment="#"))
    ]
    unchanged, (same,) = in_a_folder(tmp_path, WSJ_STYLE, lambda tree: tree)
    assert same.before == same.after == unchanged == before
    assert list(patch_of([same])) == []


@pytest.mark.parametrize("command", [["git", "apply", "--whitespace=nowarn"], ["patch", "-p1", "-i"]])
@pytest.mark.parametrize("end", ["", "\r\n"], ids=["no newline at the end", "newline"])
def test_patches_apply(command: list[str], end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    monkeypatch.chdir(tmp_path)
    _, files = in_a_folder(tmp_path, WSJ_STYLE + end, attach)
    (tmp_path / "corrections.patch").write_bytes(b"".join(patch_of(files)))
    subprocess.run([*command, "corrections.patch"], check=True, cwd=tmp_path, capture_output=True)
    assert (tmp_path / "gold.mrg").read_bytes() == files[0].after


@given(trees(max_leaves=7), st.data())
def test_replaced_brackets_give_the_other_tree(tree: Tree, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, tree.width - 1))
    end = data.draw(st.integers(start + 1, tree.width))
    made = correct_tree(tree, [BracketChange(start, end, "NEW", True)], np.ones(tree.width, dtype=np.bool_), lambda label: False)
    assert isinstance(made, Tree)
    text = str(tree).replace(" (", data.draw(st.sampled_from([" (", "\n  (", "\r\n\t(", "  ("])))
    replaced = replace_brackets(text, tree, made)
    assert replaced is not None
    assert Tree.parse(replaced) == made
    back = replace_brackets(replaced, made, tree)
    assert back is not None
    assert Tree.parse(back) == tree


def test_treebanks_that_are_not_bracketed_files_have_no_text_to_correct() -> None:
    bank = Treebank.parse(GOLD)
    assert corrected_files(bank, bank) is None
    with pytest.raises(UsageError, match="a patch needs bracketed files"):
        list(patch_of(None))
    with pytest.raises(UsageError, match=r"export, XML and \.gz have no such text"):
        list(patch_of([CorrectedFile(__file__, b"(A a)", b"(B a)")]))
    assert replace_brackets("(S (A a))", Tree.parse("(S (A a) (B b))"), Tree.parse("(S (A a) (B b))")) is None


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
def test_files_keep_their_encoding(encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gold.mrg").write_bytes("(S (NP (N été)) (VP (V là) (ADV déjà)))\n(S (N ça))\n".encode(encoding))
    reading = ReadOptions() if encoding.startswith("utf-8") else ReadOptions(encoding=encoding)
    bank = read("gold.mrg", reading)
    better = Treebank.from_trees([Tree.parse("(S (NP (N été)) (V là) (ADV déjà))"), bank[1]])
    (file,) = corrected_files(bank, better, reading) or ()
    assert file.after == "(S (NP (N été)) (V là) (ADV déjà))\n(S (N ça))\n".encode(encoding)
