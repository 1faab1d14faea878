"""``treegauge score`` as a program: what it prints where, exit codes, formats, bad input, pipes."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from processes import running_process

from treegauge import Result, Scores, Signature, metric_names
from treegauge.cli import main
from treegauge.cli.score import BREAKDOWN_NAMES
from treegauge.metrics.breakdowns import BREAKDOWNS
from treegauge.parsing.objectives import OBJECTIVES
from treegauge.reports.explanations import ALSO_OBJECTIVES, explanation

GOLD = """\
(TOP (S (NP (DT The) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (DT a) (NN mat)))) (. .)))
(TOP (S (NP (PRP It)) (VP (MD can) (RB not) (VP (VB stay))) (. .)))
(TOP (S (NP (NNP Rain)) (, ,) (VP (VBD fell)) (. .)))
(TOP (S (NP (NNS Cats)) (VP (VBP sleep)) (. .)))
"""
TEST = GOLD.replace("(VP (VBD sat) (PP (IN on) (NP (DT a) (NN mat))))", "(VP (VBD sat) (PP (IN on)) (NP (DT a) (NN mat)))")
LINES = GOLD.splitlines(keepends=True)


class Done(NamedTuple):
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


def run(folder: Path, *arguments: str, text: str | None = None) -> Done:
    """The command in a process of its own."""
    command = [sys.executable, "-m", "treegauge", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, input=text, check=False)
    return Done(done.returncode, done.stdout, done.stderr)


def call(folder: Path, *arguments: str) -> Done:
    """The command in this process, which is much quicker."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit) as end,
    ):
        main(arguments)
    return Done(int(end.value.code or 0), out.getvalue(), err.getvalue())


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    contents = {
        "gold.mrg": GOLD,
        "test.mrg": TEST,
        "short.mrg": "".join([LINES[0], *LINES[2:]]),
        "tail.mrg": "".join(LINES[:3]),
        "double.mrg": "".join([*LINES[:2], *LINES[1:]]),
        "blank.mrg": "".join([LINES[0], "\n", *LINES[2:]]),
        "changed.mrg": GOLD.replace("stay", "go"),
        "retagged.mrg": TEST.replace("(, ,)", "(NN ,)"),
        "empty.mrg": "",
        "blanks.mrg": "\n\n",
        "broken.mrg": GOLD + "(TOP (S",
        "my.prm": "DEBUG 1\nMAX_ERROR 99\nQUOTE_LABEL ''\nDELETE_LABEL TOP\nFOO bar\n",
        "bad.prm": "\x01\x02 nonsense\n",
        "text.txt": "a cat sat (it did)\nrain fell\n",
        "page.html": "<!DOCTYPE html>\n<html><head><meta charset=utf-8></head><body>f1<br></body></html>",
        "table.tex": "\\begin{tabular}{lr}\n f1 (all) & 80.1 \\\\\n\\end{tabular}\n",
        "binary.model": "PK\0\0\n(\0(S\n\0)",
        "refusals.jsonl": '{"parse": "I cannot."}\n' * 4,
        "answers.txt": "Sure! (S (NP (NN a))\n" * 4,
    }
    for name, content in contents.items():
        (folder / name).write_text(content)
    (folder / "nothing").mkdir()
    (folder / "test.mrg.gz").write_bytes(gzip.compress(TEST.encode()))
    for side, text in (("golds", GOLD), ("tests", TEST)):
        (folder / side / "deep").mkdir(parents=True)
        (folder / side / "a.mrg").write_text(text)
        (folder / side / "deep" / "b.mrg").write_text(LINES[3])
    (folder / "others").mkdir()
    (folder / "others" / "a.mrg").write_text(TEST)
    (folder / "others" / "c.mrg").write_text(TEST)
    (folder / "answers.jsonl").write_text(json.dumps({"x": "(S (A a))"}))
    return folder


def test_the_table(files: Path) -> None:
    done = run(files, "score", "gold.mrg", "test.mrg")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["parseval", "test"]
    assert lines[1].split() == ["recall", "93.33"]
    assert lines[15].split() == ["sentences", "4"]
    assert lines[16] == "EVALB with collins.prm would drop 0 of these 4 sentences and print FMeasure 93.33."
    assert Signature.parse(lines[17]).sentences == 4


def test_systems_side_by_side_and_short_sentences(files: Path) -> None:
    done = call(files, "score", "gold.mrg", "good=gold.mrg", "test.mrg", "-m", "parseval", "-m", "goodman", "--cutoff", "5")
    assert done.returncode == 0
    assert done.stderr == "treegauge: warning: gold and test are the same: gold.mrg\n"
    tables = done.stdout.split("\n\n")
    assert [table.splitlines()[:2] for table in tables] == [
        ["All sentences", tables[0].splitlines()[1]],
        ["Sentences of length <= 5", tables[1].splitlines()[1]],
        ["All sentences", tables[2].splitlines()[1]],
        ["Sentences of length <= 5", tables[3].splitlines()[1]],
    ]
    assert tables[0].splitlines()[1].split() == ["parseval", "good", "test"]
    assert tables[2].splitlines()[1].split() == ["goodman", "good", "test"]


class TestJson:
    def test_one_result(self, files: Path) -> None:
        done = run(files, "score", "gold.mrg", "test.mrg.gz", "--format", "json", "--per-sentence", "--breakdown", "label")
        result = Result.from_json(done.stdout)
        assert result.counts["matched"] == 14
        assert len(result.rows) == 4
        assert result.inputs is not None
        assert (result.inputs.gold, result.inputs.test) == (("gold.mrg",), ("test.mrg.gz",))
        data = json.loads(done.stdout)
        assert data["breakdowns"]["labels"][0]["label"] == "NP"
        assert data["per_sentence"][0]["place"] == "gold.mrg:1"

    def test_several_results(self, files: Path) -> None:
        done = call(files, "score", "gold.mrg", "test.mrg", "short.mrg", "--format", "json")
        assert done.returncode == 4
        assert [result.system for result in Scores.from_json(done.stdout)] == ["test", "short"]

    def test_lines(self, files: Path) -> None:
        done = call(files, "score", "gold.mrg", "test.mrg", "--format", "jsonl", "-m", "goodman:pre")
        records = [json.loads(line) for line in done.stdout.splitlines()]
        assert [record["sentence"] for record in records] == [1, 2, 3, 4]
        assert all(record["metric"] == "goodman:pre" for record in records)
        assert records[0]["rates"]["labelled_recall"] == 10 / 11


@pytest.mark.parametrize("form", ["markdown", "latex", "evalb", "csv"])
def test_formats(files: Path, form: str) -> None:
    done = call(files, "score", "gold.mrg", "test.mrg", "--format", form)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    if form == "markdown":
        assert lines[0] == "| system | recall | precision | F1 | exact match |"
        assert lines[2].startswith("| test | 93.33 | 93.33 | 93.33 |")
        by_rate = call(files, "score", "gold.mrg", "test.mrg", "--format", form, "--rows", "rates").stdout.splitlines()
        assert by_rate[:4] == ["| parseval | test |", "| --- | ---: |", "| recall | 93.33 |", "| precision | 93.33 |"]
    elif form == "latex":
        assert lines[0] == r"% needs \usepackage{booktabs}"
        assert lines[1:5] == [r"\begin{table}", r"\centering", r"\begin{tabular}{lrrrr}", r"\toprule"]
        assert lines[-2] == r"\end{table}"
        assert lines[-1].startswith("% parseval|")
    elif form == "evalb":
        assert lines[3] == "   1    7    0   80.00  80.00     4      5    5      0      6     6   100.00"
        assert "Bracketing FMeasure       =  93.33" in lines
    else:
        assert lines[:3] == [
            "system,metric,length,sentences,rate,value",
            "test,parseval,all,4,recall,0.9333333333333333",
            "test,parseval,all,4,precision,0.9333333333333333",
        ]


def test_sentences_in_a_table_and_as_csv(files: Path) -> None:
    done = call(files, "score", "gold.mrg", "test.mrg", "--per-sentence", "--format", "csv")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("system,sentence,place,length,sentences,parsed,matched,gold,test")
    assert lines[1].startswith("test,1,gold.mrg:1,7,1,1,4,5,5")
    table = call(files, "score", "gold.mrg", "test.mrg", "--per-sentence").stdout.splitlines()
    assert table[2].split()[:7] == ["gold.mrg:1", "7", "80.00", "1", "4", "5", "5"]


def test_a_comma_tagged_wrongly(files: Path) -> None:
    done = call(files, "score", "gold.mrg", "retagged.mrg")
    assert done.returncode == 0
    assert re.search(r"^f1 +93.33$", done.stdout, re.MULTILINE)
    assert "EVALB with collins.prm would drop 1 of these 4 sentences and print FMeasure 91.67." in done.stdout
    assert done.stderr == ""


class TestMismatches:
    def test_a_missing_sentence(self, files: Path) -> None:
        done = run(files, "score", "gold.mrg", "short.mrg")
        assert done.returncode == 4
        assert "recall                 73.33" in done.stdout
        assert done.stderr.splitlines() == [
            "gold.mrg:2: no test sentence for 'It can not stay .'; its gold brackets count as missed",
            "treegauge: short: gold and test do not match: 1 gold sentence has no parse (listed above)",
        ]

    def test_a_doubled_sentence(self, files: Path) -> None:
        done = call(files, "score", "gold.mrg", "double.mrg")
        assert done.returncode == 4
        assert re.search(r"^f1 +100.00$", done.stdout, re.MULTILINE)
        assert "double.mrg:3: no gold sentence for the test sentence 'It can not stay .'; it is left out" in done.stderr

    def test_a_blank_line_is_a_failed_parse(self, files: Path) -> None:
        done = call(files, "score", "gold.mrg", "blank.mrg")
        assert done.returncode == 0
        assert done.stderr == "gold.mrg:2: no parse; its gold brackets count as missed\n"
        assert "sentences                  4" in done.stdout

    def test_changed_words(self, files: Path) -> None:
        done = call(files, "score", "gold.mrg", "changed.mrg")
        assert done.returncode == 0
        assert "gold.mrg:2: the words differ (word 4 is 'stay' in gold, word 4 is 'go' at changed.mrg:2)" in done.stderr

    def test_a_mismatch_as_an_error(self, files: Path) -> None:
        for test in ("changed.mrg", "short.mrg", "blank.mrg"):
            done = call(files, "score", "gold.mrg", test, "--on-mismatch", "error")
            assert (done.returncode, done.stdout) == (4, "")
            assert "nothing was scored" in done.stderr
            assert "gold.mrg:2" in done.stderr

    def test_leaving_out(self, files: Path) -> None:
        done = call(files, "score", "gold.mrg", "changed.mrg", "--on-mismatch", "skip")
        assert done.returncode == 0
        assert "Sentences left out: 1." in done.stdout
        assert re.search(r"^f1 +100.00$", done.stdout, re.MULTILINE)

    def test_evalbs_decisions(self, files: Path) -> None:
        done = call(files, "score", "gold.mrg", "retagged.mrg", "--on-mismatch", "evalb", "--format", "evalb")
        assert done.returncode == 0
        assert "   3    4    1    0.00   0.00     0      0    0      0      0     0     0.00" in done.stdout
        assert "Bracketing FMeasure       =  91.67" in done.stdout
        assert done.stderr == "gold.mrg:3: EVALB: Length unmatch (2|3); it is left out\n"

    def test_ignoring_words(self, files: Path) -> None:
        done = call(files, "score", "gold.mrg", "changed.mrg", "--ignore-words")
        assert done.stderr == ""
        assert re.search(r"^f1 +100.00$", done.stdout, re.MULTILINE)


BAD = [
    (("gold.mrg", "empty.mrg"), 3, "empty.mrg: no trees in the test file"),
    (
        ("gold.mrg", "test.mrg", "empty.mrg"),
        3,
        "empty.mrg: no trees in the test file\n  Nothing was scored; leave this file out to ",
    ),
    (("empty.mrg", "gold.mrg"), 3, "empty.mrg: no trees in the gold file"),
    (("gold.mrg", "blanks.mrg"), 3, "blanks.mrg: no trees in the test file"),
    *((("gold.mrg", name), 3, f"{name}: no trees in the test file\n") for name in ("text.txt", "table.tex", "binary.model")),
    (("gold.mrg", "page.html"), 3, "page.html: this is HTML, not a treebank\n"),
    (("gold.mrg", "page.html", "--on-error", "stop"), 3, "page.html: this is HTML, not a treebank\n"),
    (("gold.mrg", "test.mrg", "--format", "tex"), 2, "'evalb'. Did you mean 'latex'?\n"),
    (("gold.mrg", "test.mrg", "--match-words", "cas"), 2, "Did you mean 'case'?\n"),
    (("gold.mrg", "test.mrg", "--formt", "json"), 2, "No such option '--formt'. Did you mean '--format'?\n"),
    (("gold.mrg", "text.txt", "--on-error", "repair"), 3, "text.txt: no trees in the test file\n"),
    (("gold.mrg", "text.txt", "--stream"), 3, "text.txt: no trees in the test file\n"),
    (("gold.mrg", "others"), 4, "8 parses in 2 files for 4 gold sentences; nothing was scored\n  Give one of the files, or "),
    (("answers.jsonl", "gold.mrg", "--field", "x"), 3, "no field 'parse'; there are: x\n  Gold comes first; --field NAME is only"),
    (("gold.mrg", "nothing"), 3, "nothing: no treebank file in this directory"),
    (("nothing", "nothing"), 3, "nothing: no treebank file in this directory"),
    (("gold.mrg", "no.mrg"), 3, "no.mrg: no such file"),
    (("gold.mrg", "broken.mrg", "--on-error", "stop"), 3, "broken.mrg:5:1: 2 opening brackets that are never closed"),
    (("gold.mrg", "x/*.mrg"), 3, "x/*.mrg: nothing matches this pattern"),
    (("golds", "others"), 4, "only in golds: deep/b.mrg\n  only in others: c.mrg"),
    (("gold.mrg", "test.mrg", "-p", "no.prm"), 3, "no.prm: the preset cannot be read"),
    (("gold.mrg", "test.mrg", "-p", "bad.prm"), 3, "bad.prm: this is not an EVALB parameter file: no line has one of its keywords"),
    (("gold.mrg", "test.mrg", "-p", "colins"), 2, "did you mean 'collins'?"),
    (("gold.mrg", "test.mrg", "-m", "parsval"), 2, "did you mean 'parseval'?"),
    (("gold.mrg", "test.mrg", "-m", "parseval:x"), 2, "takes no options"),
    (("gold.mrg", "test.mrg", "--breakdown", "lable"), 2, "did you mean 'labels'?"),
    (
        ("gold.mrg", "test.mrg", "--fail-under", "f1=90"),
        2,
        "--fail-under f1=90: values are fractions between 0 and 1; write f1=0.9\n",
    ),
    (("gold.mrg", "test.mrg", "--fail-under", "f1=x"), 2, "as in f1=0.90"),
    (("gold.mrg", "test.mrg", "--fail-under", "f2=0.9"), 2, "unknown rate 'f2'; valid: average_crossing"),
    (("gold.mrg", "test.mrg", "--fail-below", "f1=0.9"), 2, "unknown option --fail-below: write --fail-under"),
    (("gold.mrg", "test.mrg", "--cutoff", "10", "--cutoff", "40"), 2, "--cutoff is given twice"),
    (("-", "-"), 2, "cannot both be standard input"),
    (("gold.mrg",), 2, "score needs gold and at least one file of parses: treegauge score GOLD TEST\n"),
    (("gold.mrg", "test.mrg", "--stream", "--per-sentence"), 2, "--stream keeps no sentences"),
    (("gold.mrg", "test.mrg", "-m", "goodman", "--format", "evalb"), 2, "EVALB's layout"),
    (("gold.mrg", "test.mrg", "-m", "goodman", "--on-mismatch", "evalb"), 2, "parseval only, not to goodman"),
]


@pytest.mark.parametrize(("arguments", "code", "message"), BAD, ids=[" ".join(arguments) for arguments, _, _ in BAD])
def test_bad_input(files: Path, arguments: tuple[str, ...], code: int, message: str) -> None:
    """Each has its message and its exit code, and prints no score."""
    done = call(files, "score", *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["refusals.jsonl", "answers.txt"])
def test_a_file_of_bad_answers_is_scored(files: Path, name: str) -> None:
    done = call(files, "score", "gold.mrg", name, "--format", "json")
    assert done.returncode == 4
    result = Result.from_json(done.stdout)
    assert result.parsed == 0
    assert result.evalb is not None
    assert not result.evalb.counts_also  # an answer that is no tree has no bracket without a label either


class TestPresets:
    def test_what_a_parameter_file_sets_in_vain_is_said(self, files: Path) -> None:
        done = call(files, "score", "gold.mrg", "test.mrg", "-p", "my.prm")
        assert done.returncode == 0
        assert done.stderr.splitlines() == [
            "treegauge: my.prm: no effect here: DEBUG, MAX_ERROR, QUOTE_LABEL",
            "treegauge: my.prm:5: Unknown keyword (FOO bar) in parameter file",
        ]

    def test_showing(self, files: Path) -> None:
        assert "DELETE_LABEL TOP" in call(files, "score", "--show-preset", "collins").stdout
        shown = call(files, "score", "--show-preset").stdout
        assert 'base = "collins"' in shown
        assert "# delete_tags_for_length = ['-NONE-']" in shown
        assert "FOO bar" in call(files, "score", "-p", "my.prm", "--show-preset").stdout

    def test_list(self, files: Path) -> None:
        listed = run(files, "score", "--list").stdout.splitlines()
        assert [line.split()[0] for line in listed if not line.startswith("gaps:")] == metric_names()


class TestFilesAndPipes:
    def test_directories_are_paired_by_name(self, files: Path) -> None:
        done = call(files, "score", "golds", "tests", "--format", "json")
        result = Result.from_json(done.stdout)
        assert result.counts["sentences"] == 5
        assert result.inputs is not None
        assert result.inputs.gold == (os.path.join("golds", "a.mrg"), os.path.join("golds", "deep", "b.mrg"))
        assert result.rates["f1"] == 17 / 18

    def test_globs(self, files: Path) -> None:
        done = call(files, "score", "golds/*.mrg", "tests/*.mrg", "--format", "json")
        assert Result.from_json(done.stdout).counts["sentences"] == 4

    def test_standard_input(self, files: Path) -> None:
        done = run(files, "score", "-", "test.mrg", "--format", "json", text=GOLD)
        assert Result.from_json(done.stdout).counts["matched"] == 14
        done = run(files, "score", "gold.mrg", "-", "--format", "json", text="".join(LINES[1:]))
        assert done.returncode == 4
        assert Result.from_json(done.stdout).counts["matched"] == 10

    @pytest.mark.posix
    def test_a_broken_pipe_is_quiet(self, files: Path) -> None:
        command = f"{sys.executable} -m treegauge score gold.mrg test.mrg --format jsonl | true"
        done = subprocess.run(["bash", "-c", command], cwd=files, capture_output=True, text=True, check=False)
        assert (done.stdout, done.stderr) == ("", "")

    @pytest.mark.posix
    def test_colour_on_a_terminal_only_and_not_against_the_users_wish(self, files: Path) -> None:
        import pty

        shown = {}
        for wish in ("", "1"):
            read, write = pty.openpty()
            command = [sys.executable, "-m", "treegauge", "score", "gold.mrg", "test.mrg"]
            environment = {**os.environ, "NO_COLOR": wish}
            with running_process(command, cwd=files, stdout=write, stderr=write, env=environment) as process:
                process.wait(timeout=120)
            os.close(write)
            shown[wish] = os.read(read, 10_000).decode()
            os.close(read)
        assert "\x1b[1mf1" in shown[""]
        assert "\x1b" not in shown["1"]
        assert "\x1b" not in run(files, "score", "gold.mrg", "test.mrg").stdout


class TestChecks:
    def test_good_enough(self, files: Path) -> None:
        assert call(files, "score", "gold.mrg", "test.mrg", "--fail-under", "f1=0.93", "--fail-under", "recall=0.9").returncode == 0

    def test_not_good_enough(self, files: Path) -> None:
        done = run(files, "score", "gold.mrg", "test.mrg", "--fail-under", "f1=0.94")
        assert done.returncode == 1
        assert re.search(r"^f1 +93.33$", done.stdout, re.MULTILINE)
        assert done.stderr == "treegauge: test: f1 is 0.933333, below the required 0.94\n"

    def test_of_one_metric_only(self, files: Path) -> None:
        both = ("-m", "parseval", "-m", "frames", "--fail-under")
        assert call(files, "score", "gold.mrg", "test.mrg", *both, "f1=0.9").returncode == 1
        assert call(files, "score", "gold.mrg", "test.mrg", *both, "parseval.f1=0.9").returncode == 0

    def test_missing_sentences_are_named_beside_a_failed_check(self, files: Path) -> None:
        done = call(files, "score", "gold.mrg", "short.mrg", "--fail-under", "f1=0.99")
        assert done.returncode == 1
        assert "1 gold sentence has no parse" in done.stderr

    def test_of_a_crossing_less_is_better(self, files: Path) -> None:
        wrong = call(files, "score", "gold.mrg", "test.mrg", "--fail-under", "average_crossing=1")
        assert wrong.returncode == 2
        assert "lower is better; use --fail-over average_crossing=1" in wrong.stderr
        assert call(files, "score", "gold.mrg", "test.mrg", "--fail-over", "f1=0.5").returncode == 2
        assert call(files, "score", "gold.mrg", "test.mrg", "--fail-over", "average_crossing=9").returncode == 0
        (files / "left.mrg").write_text("(S (A (N a) (N b)) (N c))")
        (files / "right.mrg").write_text("(S (N a) (A (N b) (N c)))")
        failed = call(files, "score", "left.mrg", "right.mrg", "--fail-over", "average_crossing=0.5")
        assert failed.returncode == 1
        assert "average_crossing is 1, above the allowed 0.5" in failed.stderr


def test_breakdowns_examples_and_baselines(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    done = call(
        files, "score", "gold.mrg", "test.mrg", "--breakdown", "label,confusion,depth,unary,errors", "--by-length",
        "--examples", "1", "--baselines", "--seed", "3",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "gold.mrg:1: missed PP: The cat sat [on a mat]" in done.stdout
    assert "test: By label" in done.stdout
    assert "test: By sentence length" in done.stdout
    header = done.stdout.splitlines()[0].split()
    assert header == ["parseval", "test", "right-branching", "left-branching", "balanced", "random", "oracle-binary"]
    assert "|seed:3|" in done.stdout


def test_help_names_every_breakdown() -> None:
    assert BREAKDOWN_NAMES.split(", ") == list(BREAKDOWNS)


def test_explain_and_cite(files: Path) -> None:
    for metric in metric_names():
        explained = call(files, "explain", metric)
        assert explained.returncode == 0
        assert "An example:" in explained.stdout
        assert ":`" not in explained.stdout
    assert set(ALSO_OBJECTIVES) == {*metric_names()} & {*OBJECTIVES}
    for objective in OBJECTIVES:
        said = explanation(objective)
        assert f"{objective}, a decoding objective: maximises {OBJECTIVES[objective].maximises}\n" in said
        assert f"Paper: {OBJECTIVES[objective].source}" in said
        assert (":`" in said or "``" in said) is False
    assert call(files, "explain", "labeled-recall").stdout == f"{explanation('labelled-recall')}\n"
    assert "H is the mean of -lg P(E_c | c)" in call(files, "explain", "chunk-entropy").stdout
    assert "unknown metric or objective 'nonsense'; valid: balanced, bracketed-recall" in call(files, "explain", "nonsense").stderr
    cited = call(files, "cite", *metric_names(), "evalb", "pereira1992")
    assert cited.stdout.count("@") == len(set(cited.stdout.split("@")[1:]))
    assert "@inproceedings{black1991," in cited.stdout
    assert call(files, "cite", "blck1991").returncode == 2


def test_items_of_hogenhout_and_matsumoto_for_some_labels(files: Path) -> None:
    shown = call(files, "score", "gold.mrg", "test.mrg", "-m", "hogenhout", "--structure", "PP,NP").stdout
    names = [line.split()[0] for line in shown.splitlines()[1:10]]
    assert names == ["TTB", "TPB", "EM", "CE", "SP", "PINH", "PNINH", "TINH", "TNINH"]
    assert shown == call(files, "score", "gold.mrg", "test.mrg", "-m", "hogenhout:structure=PP,NP").stdout
    refused = call(files, "score", "gold.mrg", "test.mrg", "--structure", "PP")
    assert refused.returncode == 2
    assert "--structure is for -m hogenhout" in refused.stderr
