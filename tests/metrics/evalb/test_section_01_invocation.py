"""EVALB.md 1: words from left to right, exit codes, files that cannot be opened."""

from __future__ import annotations

import pytest
from evalb_helpers import COLLINS, TRAM, run, run_words

FILES = {"gold": TRAM + "\n", "test": TRAM + "\n", "prm": COLLINS}

USAGE = (
    " evalb [-dDh][-c n][-e n][-p param_file] gold-file test-file  \n"
    "                                                         \n"
    "    Evaluate bracketing in test-file against gold-file.  \n"
    "    Return recall, precision, F-Measure, tag accuracy.              \n"
    "                                                         \n"
    "  <option>                                               \n"
    "    -d             debug mode                            \n"
    "    -D             debug mode plus bracketing info       \n"
    "    -c n           cut-off length forstatistics (def.=40)\n"
    "    -e n           number of error to kill (default=10)  \n"
    "    -p param_file  parameter file                        \n"
    "    -h    help                                           \n"
)


def words(text: str):
    return run_words(text.split(), **FILES)


def test_cli_options_after_files():
    assert words("gold test -p prm -c 5") == words("-p prm -c 5 gold test")
    assert words("gold -p prm test").row.gold == 4
    assert words("gold test").row.gold == 5


def test_a_later_scalar_wins():
    assert b"-- len<=7 --" in words("-c 3 gold test -c 7").stdout
    assert b"-- len<=40 --" in words("-c 3 -p prm gold test").stdout
    assert b"-- len<=3 --" in words("-p prm -c 3 gold test").stdout


def test_cli_d_before_p():
    files = FILES | {"prm": COLLINS + "DEBUG 0\n"}
    assert run_words(["-D", "-p", "prm", "gold", "test"], **files) == run_words(["-p", "prm", "gold", "test"], **files)
    assert b"label=TOP" in run_words(["-p", "prm", "-D", "gold", "test"], **files).stdout


def test_cli_two_prms():
    files = FILES | {"one": "DELETE_LABEL TOP\nCUTOFF_LEN 5\n", "two": "DELETE_LABEL .\nCUTOFF_LEN 6\n"}
    both = run_words(["-p", "one", "-p", "two", "gold", "test"], **files)
    assert (both.row.gold, both.row.words) == (4, 5)
    assert b"-- len<=6 --" in both.stdout
    assert run_words(["-p", "two", "gold", "test"], **files).row.gold == 5
    assert run_words(["-p", "one", "gold", "test"], **files).row.words == 6


def test_cli_glued():
    assert words("-pprm -c5 -e3 gold test") == words("-p prm -c 5 -e 3 gold test")
    assert b"-- len<=5 --" in words("-pprm -c5 -e3 gold test").stdout


def test_only_the_first_letter_of_an_option_is_read():
    assert words("-debug gold test") == words("-d gold test")
    assert words("-Dxyz gold test") == words("-D gold test")
    assert words("-hello gold test").code == 1
    assert words("-cutoff gold test") == words("-c 0 gold test")


def test_cli_three_files():
    assert words("-p prm gold test nosuch") == words("-p prm gold test")


def test_lone_dash_is_ignored():
    assert words("- gold - test -") == words("gold test")


def test_cli_help():
    outcome = words("-h")
    assert (outcome.stdout, outcome.stderr.decode(), outcome.code) == (b"", USAGE, 1)


@pytest.mark.parametrize("option", ["-z", "--", "--help", "-K", "-X", "-1"])
def test_cli_bad_option(option: str):
    outcome = words(f"{option} gold test")
    assert (outcome.stdout, outcome.stderr.decode(), outcome.code) == (b"", USAGE, 0)


def test_words_before_a_fatal_one_have_had_their_effect():
    outcome = run_words(["-p", "prm", "-h"], prm="nonsense here\n")
    assert outcome.stderr.decode() == "Unknown keyword (nonsense here) in parameter file\n" + USAGE


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nosuch test", "Can't open gold file (nosuch)\n"),
        ("nosuch nosuch2", "Can't open gold file (nosuch)\n"),
        ("gold nosuch", "Can't open test file (nosuch)\n"),
        ("-p nosuch gold test", "Can't open parameter file (nosuch)\n"),
        ("gold test -p nosuch -h", "Can't open parameter file (nosuch)\n"),
        ("", "Can't open gold file ((null))\n"),
        ("-", "Can't open gold file ((null))\n"),
        ("gold", "Can't open test file ((null))\n"),
    ],
)
def test_unopenable_files(text: str, message: str):
    outcome = words(text)
    assert (outcome.stdout, outcome.stderr.decode(), outcome.code) == (b"", message, 1)


def test_a_value_that_is_missing_at_the_end_reads_as_nothing():
    outcome = words("gold test -c")
    assert outcome.stderr == b"Missing argument: cut-off length for statistices\n"
    assert b"-- len<=0 --" in outcome.stdout
    assert words("gold test -e").stderr == b"Missing argument: number of error to kill\n"
    assert words("gold test -p").stderr == b"Missing argument: parameter file\nCan't open parameter file ()\n"


def test_the_next_word_is_a_value_whatever_it_looks_like():
    bad = TRAM.replace("tram", "train") + "\n"
    assert run(TRAM, bad, COLLINS, "-e", "-1").code == 1
    assert run(TRAM, bad, COLLINS, "-e", "0").code == 0
    assert words("-p -h gold test").messages == ["Can't open parameter file (-h)"]


def test_exit_code_is_0_however_many_sentences_failed():
    outcome = run("(S (N a))\n" * 5, "(S (N b))\n" * 5)
    assert (outcome.code, len(outcome.messages), outcome.finished) == (0, 5, True)


def test_a_directory_opens_and_holds_nothing():
    assert words(". .") == run_words(["none", "none"], none="")


def test_no_prm():
    outcome = run(TRAM, TRAM, None)
    assert (outcome.row.gold, outcome.row.words, outcome.row.length) == (5, 6, 6)
    assert b"-- len<=40 --" in outcome.stdout
    stops = run("(S (N a))\n" * 12, "(S (N b))\n" * 12, None)
    assert (stops.code, len(stops.messages)) == (1, 12)
    labelled = run("(S (NP (N a)) (N b))", "(S (VP (N a)) (N b))", None)
    assert labelled.row.matched == 1
