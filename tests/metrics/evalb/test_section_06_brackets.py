"""EVALB.md 6: which brackets count."""

from __future__ import annotations

import pytest
from evalb_helpers import COLLINS, run


def counted(line: str, prm: str = COLLINS) -> int:
    return run(line, line, prm).row.gold


def test_brackets_emptied_by_deletion_do_not_count():
    assert counted("(S (NP (-NONE- *)) (X (. .) (, ,)) (Y) (VP (V a)))") == 2


@pytest.mark.parametrize(
    ("label", "other", "matches"),
    [
        ("NP-SBJ-1", "NP", True),
        ("NP=2", "NP", True),
        ("NP=2-X", "NP-Y", True),
        ("NP|x", "NP", False),
        ("NP|x-1", "NP|x", True),
        ("-LRB-", "=X", True),
        ("-NONE-", "", True),
        ("=X", "", True),
        ("np", "NP", False),
    ],
)
def test_labels_are_cut(label: str, other: str, matches: bool):
    assert run(f"(S ({label} (N a)) (N b))", f"(S ({other} (N a)) (N b))").row.matched == 1 + matches


def test_eq_label_and_delete():
    prm = "DELETE_LABEL PRT\nEQ_LABEL ADVP PRT\n"
    assert counted("(S (ADVP-X (R a)) (V b))", prm) == 1
    assert counted("(S (ADVP (R a)) (V b))", "DELETE_LABEL PRT\nEQ_LABEL ADVP X\nEQ_LABEL X PRT\n") == 2


def test_delete_fn_label_nonterminal():
    assert counted("(S (NP-SBJ (N a)) (V b))", "DELETE_LABEL NP-SBJ\n") == 2
    assert counted("(S (NP-SBJ (N a)) (V b))", "DELETE_LABEL NP\n") == 1


def test_none_nonterminal():
    assert counted("(S (-NONE- (N a)) (V b))") == 2


def test_deletion_at_any_depth_keeps_the_children():
    assert counted("(TOP (S (TOP (NP (TOP (N a)))) (VP (V b))))") == 3


def test_root_label_empty():
    outcome = run("( (S (N a)))", "(TOP (S (N a)))")
    assert (outcome.row.gold, outcome.row.test, outcome.row.matched) == (2, 1, 1)


@pytest.mark.parametrize("root", ["ROOT", "S1", "VROOT"])
def test_other_roots_count_unless_listed(root: str):
    line = f"({root} (S (N a)))"
    assert counted(line) == 2
    assert counted(line, COLLINS + f"DELETE_LABEL {root}\n") == 1


def test_preterminals_never_count():
    assert counted("(N a)") == 0
    assert counted("(S (N a))") == 1
