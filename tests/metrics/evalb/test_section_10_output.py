"""EVALB.md 10: the table, to the byte."""

from __future__ import annotations

from evalb_helpers import COLLINS, TRAM, run

from treegauge.metrics.evalb.program import row

WHOLE = """\
  Sent.                        Matched  Bracket   Cross        Correct Tag
 ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy
============================================================================
   1    6    0  100.00 100.00     4      4    4      0      5     5   100.00
   2    4    0   66.67  50.00     2      3    4      2      4     3    75.00
   3    1    1    0.00   0.00     0      0    0      0      0     0     0.00
   4    6    2    0.00   0.00     0      0    0      0      0     0     0.00
============================================================================
                 85.71  75.00      6     7     8      2      9     8    88.89
=== Summary ===

-- All --
Number of sentence        =      4
Number of Error sentence  =      1
Number of Skip  sentence  =      1
Number of Valid sentence  =      2
Bracketing Recall         =  85.71
Bracketing Precision      =  75.00
Bracketing FMeasure       =  80.00
Complete match            =  50.00
Average crossing          =   1.00
No crossing               =  50.00
2 or less crossing        = 100.00
Tagging accuracy          =  88.89

-- len<=5 --
Number of sentence        =      2
Number of Error sentence  =      1
Number of Skip  sentence  =      0
Number of Valid sentence  =      1
Bracketing Recall         =  66.67
Bracketing Precision      =  50.00
Bracketing FMeasure       =  57.14
Complete match            =   0.00
Average crossing          =   2.00
No crossing               =   0.00
2 or less crossing        = 100.00
Tagging accuracy          =  75.00
"""


def test_the_whole_table():
    gold = f"{TRAM}\n(S (A (N a) (N b)) (N c) (B (N d)))\n(S (N a))\n{TRAM}\n"
    test = f"{TRAM}\n(S (N a) (X (Y (N b) (N c))) (B (M d)))\n(S (N b))\n\n"
    outcome = run(gold, test, COLLINS, "-c", "5")
    assert outcome.stdout.decode() == WHOLE
    assert outcome.stderr == b"3 : Words unmatch (a|b)\n"


def test_widths_grow():
    wide = row((12345, 1234, 0, 1000, 1000, 2000, 1234, 12345, 12345))
    assert wide == b"12345  1234    0  100.00  50.00   1000    1000  2000    1234   12345  12345   100.00\n"


def test_the_total_line_is_short_without_brackets():
    outcome = run("(N a)\n", "(N a)\n")
    assert outcome.lines[5] == "      1     1   100.00"
    block = outcome.block(0)
    # A valid sentence without brackets is a complete match; 0/0 is EVALB's negative nan.
    assert (block["Complete match"], block["Bracketing Recall"], block["Bracketing FMeasure"]) == ("100.00", "0.00", "-nan")
    assert b"Bracketing FMeasure       =   -nan\n" in outcome.stdout
    one_sided = run("(S (N a))\n", "(N a)\n")
    assert one_sided.lines[5] == "      1     1   100.00"


def test_rounding_half():
    # 5/32 = 15.625 exactly: half to even gives 15.62, as C's printf does.
    gold = "(S " + "(A (N a)) " * 31 + ")"
    test = "(S " + "(A (N a)) " * 4 + "(B (N a)) " * 27 + ")"
    assert run(gold, test, "").lines[3].split()[3] == "15.62"


def test_rounding_half2():
    # 3/32 = 9.375 -> 9.38 (the even neighbour is above), 1/32 = 3.125 -> 3.12.
    gold = "(S " + "(A (N a)) " * 31 + ")"
    shares = []
    for right in (2, 0):
        test = "(S " + "(A (N a)) " * right + "(B (N a)) " * (31 - right) + ")"
        shares.append(run(gold, test, "").lines[3].split()[3])
    assert shares == ["9.38", "3.12"]


def test_f_is_computed_from_the_rates():
    gold = "(S (A (N a)) (N b) (N c))\n"
    outcome = run(gold, "(S (B (N a)) (C (N b)) (N c))\n", "")
    # R = 50, P = 33.33...: F = 40.
    assert outcome.block(0)["Bracketing FMeasure"] == "40.00"


def test_cutoff_goes_by_gold_length_with_punctuation():
    gold = "(S (N a) (N b) (. .))\n"
    test = "(S (N a) (N b) (. .) (. .) (. .))\n"
    assert run(gold, test, COLLINS, "-c", "3").block(1)["Number of sentence"] == "1"
    assert run(gold, test, COLLINS, "-c", "2").block(1)["Number of sentence"] == "0"
    assert run(test, gold, COLLINS, "-c", "4").block(1)["Number of sentence"] == "0"


def test_errors_and_skips_enter_the_second_block():
    gold = "(S (N a))\n(S (N a) (N b))\n(S (N a))\n"
    block = run(gold, "(S (N x))\n(S (N x) (N b))\n\n", COLLINS, "-c", "1").block(1)
    names = ["sentence", "Error sentence", "Skip sentence", "Valid sentence"]
    assert [block[f"Number of {name}"] for name in names] == ["2", "1", "1", "0"]
    assert block["Complete match"] == "0.00"


def test_two_or_less_crossing():
    gold = "(S (X (N a) (N b)) (N c))\n" * 2
    test = "(S (N a) (A (B (C (N b) (N c)))))\n(S (N a) (A (B (N b) (N c))))\n"
    block = run(gold, test, "").block(0)
    assert (block["No crossing"], block["2 or less crossing"], block["Average crossing"]) == ("0.00", "50.00", "2.50")


DUMP = [
    "   1    6    0   75.00  75.00     3      4    4      0      5     4    80.00",
    "-<1>---(wn1=  5, bn1=  5)-           -<2>---(wn2=  5, bn2=  6)-",
    "  0 : 1 : DT      every                   0 : 1 : DT      every           ",
    "  1 : 0 : NN      tram                    1 : 0 : NNP     tram            ",
    "  2 : 1 : VBZ     needs                   2 : 1 : VBZ     needs           ",
    "  3 : 1 : JJ      straight                3 : 1 : JJ      straight        ",
    "  4 : 1 : NNS     rails                   4 : 1 : NNS     rails           ",
    "",
    "  0 : 5 :   0    5  TOP           0 : 5 :   0    5  TOP   ",
    "  1 : 1 :   0    5  S             1 : 1 :   0    5  S     ",
    "  2 : 1 :   0    2  NP            2 : 1 :   0    2  NP    ",
    "  3 : 0 :   2    5  VP            3 : 0 :   2    5  XP    ",
    "  4 : 1 :   3    5  NP            4 : 5 :   3    3  NP-E  ",
    "                                  5 : 1 :   3    5  NP    ",
    "",
    "========",
]


def test_debug_1():
    test = TRAM.replace("(NN tram)", "(NNP tram)").replace("(VP", "(XP").replace("(NP (JJ", "(NP-E) (NP-OBJ (JJ")
    outcome = run(TRAM, test, COLLINS + "DEBUG 1\n")
    assert outcome.lines[3:19] == DUMP
    assert run(TRAM, test, COLLINS, "-d") == outcome


def test_debug_1_after_error_and_skip_rows():
    outcome = run("(S (NP-X (N a)))\n(S (N ) (N b))\n", "(S (N abc) (V de))\n\n", "DEBUG 1\n")
    assert outcome.lines[3:-30] == [
        "   1    1    1    0.00   0.00     0      0    0      0      0     0     0.00",
        "-<1>---(wn1=  1, bn1=  2)-           -<2>---(wn2=  2, bn2=  1)-",
        "  0 : 9 : N       a                       0 : 9 : N       abc             ",
        " " * 40 + "  1 : 9 : V       de              ",
        "",
        "  0 : 9 :   0    1  S             0 : 9 :   0    2  S     ",
        "  1 : 9 :   0    1  NP-X        ",
        "",
        "========",
        "   2    2    2    0.00   0.00     0      0    0      0      0     0     0.00",
        "-<1>---(wn1=  2, bn1=  1)-           -<2>---(wn2=  0, bn2=  0)-",
        " " * 40,
        "  1 : 9 : N       b                     ",
        "",
        "  0 : 9 :   0    2  S           ",
        "",
        "========",
        "=" * 76,
    ]


TRACE = """\
label=S, word=, wid=0
label=A, word=, wid=0
label=N, word=a, wid=0
label=N, word=b, wid=1
label=., word=., wid=2
label=N, word=c, wid=2
label=S, word=, wid=0
label=N, word=a, wid=0
label=X, word=, wid=1
label=N, word=b, wid=1
label=N, word=c, wid=2

1.res=0, 2.res=0, 1.start=0, 2.start=0, 1.end=3, 2.end=3
1.res=0, 2.res=1, 1.start=0, 2.start=0, 1.end=2, 2.end=3
1.res=0, 2.res=0, 1.start=0, 2.start=1, 1.end=2, 2.end=3
  BRACKET[0-1]:  (N a) (N b)
1.res=0, 2.res=1, 1.start=2, 2.start=0, 1.end=3, 2.end=3
1.res=0, 2.res=0, 1.start=2, 2.start=1, 1.end=3, 2.end=3
  BRACKET[2-2]: (N c)
  EXTRA[1-2]:  (N b) (N c)
  CROSSING[0-1]:  (N a) (N b)
"""


def test_prm_debug_2():
    gold, test = "(S (A (N a) (N b)) (. .) (C(N c)))", "(S (N a) (X (N b) (N c)))"
    outcome = run(gold, test, COLLINS + "DEBUG 2\n")
    assert outcome.stdout.decode().partition("=" * 76 + "\n")[2].startswith(TRACE + "   1    4    0   33.33  50.00")
    assert run(gold, test, COLLINS, "-D") == outcome
    assert run(gold, test, COLLINS + "DEBUG 3\n") == outcome


def test_debug_2_names_an_other_label_and_each_crossed_bracket_once_in_a_row():
    gold, test = "(S (A (N a) (N b)) (N c))", "(T (N a) (X (Y (N b) (N c))))"
    lines = run(gold, test, "DEBUG 2\n").lines
    assert [line for line in lines if line.startswith("  ") and "[" in line] == [
        "  LABEL[0-2]:  (A (N a) (N b)) (N c)",
        "  BRACKET[0-1]:  (N a) (N b)",
        "  EXTRA[1-2]:  (Y (N b) (N c))",
        "  EXTRA[1-2]:  (N b) (N c)",
        "  CROSSING[0-1]:  (N a) (N b)",
    ]


def test_debug_2_stops_with_the_error_that_ends_the_run():
    outcome = run("(S (N a) (N b c))", "(S (N a))", "DEBUG 2\nMAX_ERROR -1\n")
    assert outcome.lines[3:] == ["label=S, word=, wid=0", "label=N, word=a, wid=0", "label=N, word=b, wid=1"]
    assert outcome.code == 1


def test_debug_2_says_that_the_text_of_an_unclosed_bracket_is_ours():
    gold, test = "(S (A (N a) (N b)) (N c)", "(S (N a) (X (N b) (N c)))"
    outcome = run(gold, test, "DEBUG 2\n")
    assert "  BRACKET[0--2]:  (A (N a) (N b)) (N c)" in outcome.lines
    assert (
        b"treegauge: line 1: a traced bracket without its closing bracket; EVALB's own trace is undefined here\n" in outcome.stderr
    )
    assert b"treegauge" not in run(gold, test, "DEBUG 1\n").stderr + run(gold + ")", test, "DEBUG 2\n").stderr
