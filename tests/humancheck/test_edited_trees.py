"""Edited trees from the page to the corrected treebank: whose tree holds, what later corrections do, export and import."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from humancheck_helpers import said, words_of
from humancheck_page import PageClient, open_page

from treegauge.humancheck.corrections import correct_treebank
from treegauge.humancheck.exchange import import_file
from treegauge.humancheck.judgements import JudgementLog
from treegauge.humancheck.questions import Check, CheckPlan, build_check
from treegauge.humancheck.store import Store
from treegauge.io import read
from treegauge.trees import Treebank

GOLD = "(S (NP (D the) (N man)) (VP (V saw) (NP (D a) (N dog)) (PP (P in) (NP (D the) (N park)))))"
TEST = "(S (NP (D the) (N man)) (VP (V saw) (NP (NP (D a) (N dog)) (PP (P in) (NP (D the) (N park))))))"
CROSS = "(S (X (D the) (N man) (V saw)) (NP (D a) (N dog)) (PP (P in) (NP (D the) (N park))))"
EDITED = GOLD.replace("(NP (D a) (N dog))", "(QP (D a) (N dog))")
OTHER = GOLD.replace("(VP ", "(XP ")


@pytest.fixture
def check(tmp_path: Path) -> Check:
    (tmp_path / "gold.mrg").write_text(f"{GOLD}\n", "utf-8")
    systems = {"A": Treebank.parse(TEST), "B": Treebank.parse(CROSS)}
    return build_check(read(tmp_path / "gold.mrg"), systems, CheckPlan(by_sentence=True))


@pytest.fixture
def people(check: Check, store: Store) -> Iterator[dict[str, PageClient]]:
    yield from open_page(check, store, ["anna", "ben"])


def corrected(check: Check, *log: object, **options: object) -> tuple[str, tuple[str, ...]]:
    done = correct_treebank(check, JudgementLog(log), **options)  # pyright: ignore[reportArgumentType]
    return str(done.bank[0]), done.refused


def test_whose_tree_holds(check: Check) -> None:
    number = check.order[0]
    anna = said(check, number, "rejected", "anna", correction=True, correct_tree=EDITED)
    ben = said(check, number, "rejected", "ben", correction=True, correct_tree=OTHER)
    assert corrected(check, anna) == (EDITED, ())
    tree, refused = corrected(check, anna, said(check, number, "accepted", "ben"))
    assert tree == GOLD, "half of the annotators are not most of them"
    assert "1 of 2 annotators edited the tree" in refused[0]
    assert "differently" not in refused[0], "only one of them edited it"
    tree, refused = corrected(check, anna, ben)
    assert tree == GOLD
    assert "differently" in refused[0]
    assert corrected(check, anna, ben, annotators=["ben"]) == (OTHER, ())
    ruling = said(check, number, "accepted", "adjudicator", role="adjudicator", correction=True, correct_tree=OTHER)
    assert corrected(check, anna, ben, ruling) == (OTHER, ())
    cleo = said(check, number, "unsure", "cleo", correction=True, correct_tree=EDITED)
    assert corrected(check, anna, ben, cleo) == (EDITED, ())
    later = said(check, check.order[1], "rejected", "anna", correction=True, correct_tree=OTHER)
    assert corrected(check, anna, later) == (OTHER, ()), "the latest of one's own trees holds"
    assert corrected(check, said(check, number, "rejected", correct_tree=EDITED)) == (GOLD, ()), "without the mark nothing changes"


def test_a_tree_over_other_words_is_listed_and_left_out(check: Check) -> None:
    tree, refused = corrected(check, said(check, check.order[0], "accepted", correction=True, correct_tree="(S (D no))"))
    assert tree == GOLD
    assert "does not have the words" in refused[0]


def send(client: PageClient, key: str, **fields: object) -> tuple[int, dict[str, object]]:
    return client.post("judge", {"id": f"{key}{len(client.session.log.by_id):08}", "question": key, **fields})


def test_a_later_correction_goes_on_from_the_edited_tree(check: Check, people: dict[str, PageClient]) -> None:
    anna = people["anna"]
    keys = {check.questions[number].bracket.label: check.questions[number].key for number in check.order}
    assert send(anna, keys["X"], verdict="rejected", correction=True, correct_tree=EDITED)[0] == 200
    assert send(anna, keys["NP"], verdict="accepted", correction=True, correct_label="NP")[0] == 200
    both = EDITED.replace("(QP (D a) (N dog)) (PP", "(NP (QP (D a) (N dog)) (PP").replace("(N park)))))", "(N park))))))")
    assert anna.get("corrected.mrg") == f"{both}\n"
    patch = anna.get("corrected.patch").splitlines()
    assert patch[-2:] == [f"-{GOLD}", f"+{both}"]
    assert people["ben"].get("corrected.mrg") == f"{GOLD}\n"
    anna.post("undo", {"id": "u" * 20, "undoes": list(anna.session.log.by_id)[-1]})
    assert anna.get("corrected.mrg") == f"{EDITED}\n"


def test_an_answer_sent_twice_is_stored_once(check: Check, people: dict[str, PageClient]) -> None:
    anna = people["anna"]
    keys = [check.questions[number].key for number in check.order]
    send(anna, keys[0], verdict="rejected", correction=True, correct_tree=EDITED)
    answer = {"id": "twice0000", "question": keys[1], "verdict": "accepted", "correction": True, "correct_label": "NP"}
    assert [anna.post("judge", answer)[0] for _ in range(2)] == [200, 200]
    assert len(anna.session.log.by_id) == 2
    stored = anna.session.log.by_id["twice0000"]
    assert send(anna, keys[0], verdict="rejected", correction=True, correct_tree=OTHER)[0] == 200
    assert anna.post("judge", answer)[0] == 200, "though by now it would be made of another tree"
    assert anna.session.log.by_id["twice0000"] == stored


def test_bad_trees_and_edits_are_refused(check: Check, people: dict[str, PageClient]) -> None:
    anna = people["anna"]
    key = anna.shown()
    for tree in ("(S (D no))", "(", "(S " * 20_000):
        assert send(anna, key, verdict="accepted", correction=True, correct_tree=tree)[0] in (400, 413)
    wrong = [("nonsense", 1, GOLD), ("delete", 0, GOLD), ("delete", "x", GOLD), ("delete", 10**9, GOLD), ("delete", 1, "(S)")]
    for edit, node, tree in wrong:
        status, problem = anna.post(f"edit/{key}", {"tree": tree, "edit": edit, "node": node})
        assert status == 400, problem
    assert anna.session.log.by_id == {}


def shown_tree(html: str) -> str:
    found = re.search(r'data-tree="([^"]*)"', html)
    assert found is not None
    return unescape(found.group(1))


def test_the_editor_begins_with_ones_own_corrections(check: Check, people: dict[str, PageClient]) -> None:
    anna, adjudicator = people["anna"], people["adjudicator"]
    keys = {check.questions[number].bracket.label: check.questions[number].key for number in check.order}
    assert send(anna, keys["NP"], verdict="accepted", correction=True, correct_label="NX")[0] == 200
    text = shown_tree(anna.get(f"edit/{keys['X']}?verdict=accepted"))
    assert "(NX (NP (D a) (N dog)) (PP" in text
    assert shown_tree(anna.get(f"edit/{keys['X']}?from=treebank")) == GOLD
    status, edited, _ = anna.request(
        "POST",
        f"edit/{keys['X']}",
        json.dumps({"tree": GOLD, "edit": "relabel", "node": 1, "label": "<b>"}).encode(),
        {"Content-Type": "application/json"},
    )
    assert status == 200
    assert "(&lt;b&gt; (D the)" in edited
    assert "<b>" not in edited.replace("<bdi>", "")
    send(anna, keys["X"], verdict="rejected", correction=True, correct_tree=EDITED)
    assert shown_tree(adjudicator.get(f"edit/{keys['X']}?from=anna")) == EDITED
    assert shown_tree(people["ben"].get(f"edit/{keys['X']}?from=anna")) == GOLD, "annotators do not see each other's trees"


def test_a_blind_reader_does_not_see_the_treebank(check: Check, store: Store) -> None:
    for clients in open_page(check, store, ["anna"], blind=True):
        anna = clients["anna"]
        key = anna.shown()
        assert anna.request("GET", f"edit/{key}")[0] == 403
        assert anna.request("GET", "corrected.mrg")[0] == 403
        anna.judge("accepted", key)
        assert anna.request("GET", f"edit/{key}")[0] == 200


def test_export_and_import_keep_edited_trees(check: Check, store: Store, tmp_path: Path) -> None:
    one = said(check, check.order[0], "accepted", correction=True, correct_tree=EDITED)
    store.append([one], words_of(check))
    from treegauge.humancheck.exchange import export_lines

    for form in ("jsonl", "csv"):
        path = tmp_path / f"j.{form}"
        path.write_text("".join(f"{line}\n" for line in export_lines(store, form)))
        with Store(tmp_path / f"{form}.sqlite") as other:
            assert import_file(other, str(path)).stored == 1
            assert other.since(0)[0].correct_tree == EDITED
