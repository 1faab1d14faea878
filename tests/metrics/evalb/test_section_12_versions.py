"""EVALB.md 12: the 2008 text, and the parameter files that go with it."""

from __future__ import annotations

from importlib.resources import files

import pytest
from evalb_helpers import TRAM, run

from treegauge.presets.prm import Parameters, parse_prm


def preset(name: str) -> Parameters:
    parameters, messages = parse_prm(files("treegauge.presets").joinpath(f"{name}.prm").read_bytes())
    assert messages == ()
    return parameters


def test_collins():
    assert preset("collins") == Parameters(
        max_error=10,
        cutoff_length=40,
        delete_labels=(b"TOP", b"-NONE-", b",", b":", b"``", b"''", b"."),
        delete_labels_for_length=(b"-NONE-",),
        equal_labels=((b"ADVP", b"PRT"),),
    )


def test_collins_is_the_file_beside_the_outputs(shared):
    data = (shared / "data" / "outputs" / "collins.prm").read_bytes()
    assert parse_prm(data)[0]._replace(max_error=10) == preset("collins")


def test_new_is_collins_and_more():
    collins, new = preset("collins"), preset("new")
    assert set(new.delete_labels) == {*collins.delete_labels, b"S1", b"?", b"!"}
    assert set(new.quote_labels) == {b"``", b"''", b"POS", b"NN", b"CD", b"VBZ", b":"}
    assert new._replace(delete_labels=collins.delete_labels, quote_labels=()) == collins


def test_nk_is_new_with_more_errors():
    assert preset("nk") == preset("new")._replace(max_error=10_000)


@pytest.mark.parametrize("side", ["gold", "test"])
def test_rows_of_errors_and_skips_show_no_words(side: str):
    # The shipped sample output shows the gold word count there; the program has not since 2006.
    assert run(TRAM, "(S (N x))" if side == "gold" else "\n").row.words == 0


def test_the_total_line_shows_the_number_of_crossings():
    outcome = run("(S (A (N a) (N b)) (N c))\n" * 3, "(S (N a) (B (N b) (N c)))\n" * 3)
    assert outcome.lines[7].split()[5] == "3"
