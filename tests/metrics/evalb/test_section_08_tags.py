"""EVALB.md 8: tagging accuracy over the kept words."""

from __future__ import annotations

from evalb_helpers import run


def tags(gold: str, test: str, prm: str = "") -> tuple[int, int]:
    row = run(gold, test, prm).row
    return row.tags, row.words


def test_tags_are_compared_without_cutting():
    assert tags("(S (NN a) (NN-X b))", "(S (NN a) (NN b))") == (1, 2)


def test_equal_labels_are_equal_tags():
    assert tags("(S (RB a) (RP b))", "(S (RP a) (RB b))", "EQ_LABEL RB RP\n") == (2, 2)
    assert tags("(S (RB a))", "(S (IN a))", "EQ_LABEL RB RP\nEQ_LABEL RP IN\n") == (0, 1)


def test_deleted_words_have_no_tag_to_get_wrong():
    assert tags("(S (N a) (. .))", "(S (N a) (, .))", "DELETE_LABEL .\nDELETE_LABEL ,\n") == (1, 1)


def test_tag_errors_do_not_touch_brackets():
    row = run("(S (NP (A a)) (B b))", "(S (NP (X a)) (Y b))", "").row
    assert (row.matched, row.gold, row.tags) == (2, 2, 0)
