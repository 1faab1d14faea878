"""``treegauge compare`` as a user runs it."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from significance_rows import careless, own_treebank

from treegauge import CompareOptions


def run(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "treegauge", "compare", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compare")
    gold = own_treebank(40)
    for name, trees in (("gold", gold), ("sys.poor", careless(gold, 1, 0.4)), ("sys.good", careless(gold, 2, 0.1))):
        (folder / f"{name}.mrg").write_text("".join(f"{tree}\n" for tree in trees), "utf-8")
    return folder


def test_tables_name_the_systems_and_the_seed(files: Path) -> None:
    every = ("-m", "all", "--table", "all", "--structure", "NP")
    done = run("gold.mrg", "sys.poor.mrg", "sys.good.mrg", "--rounds", "200", "--seed", "7", *every, cwd=files)
    assert done.returncode == 0, done.stderr
    assert "poor" in done.stdout
    assert "sys.poor" not in done.stdout
    assert "seed 7" in done.stdout
    assert "take brackets for independent" in done.stdout
    for title in ("Differences", "By structure", "Table 1", "Table 2", "Table 4", "Tests on brackets"):
        assert title in done.stdout
    assert "By sentence length" not in done.stdout
    assert done.stderr == ""


def test_no_metric_is_scored_unasked(files: Path) -> None:
    options = ("gold.mrg", "sys.poor.mrg", "sys.good.mrg", "--rounds", "20", "-m", "parseval")
    plain = run(*options, cwd=files)
    assert "is better than" in plain.stdout
    assert "Tests on brackets" not in plain.stdout
    assert "Tests on brackets" in run(*options, "-m", "hogenhout", cwd=files).stdout
    assert CompareOptions(("parseval",)).scored_metrics() == ["parseval"]


def test_json_has_everything_and_agrees_with_csv(files: Path) -> None:
    options = ("gold.mrg", "a=sys.poor.mrg", "b=sys.good.mrg", "--rounds", "200", "--by-length", "--lengths", "9")
    document = json.loads(run(*options, "--format", "json", cwd=files).stdout)
    assert [group["kind"] for group in document["groups"]] == ["all", "length", "length"]
    records = list(csv.DictReader(io.StringIO(run(*options, "--format", "csv", cwd=files).stdout)))
    for record in records:
        group = next(group for group in document["groups"] if group["title"] == record["group"])
        found = group["pairs"][0]["differences"][record["metric"]][record["rate"]]
        assert found["p"] == float(record["p"])
        assert found["difference"] == float(record["difference"])


def test_latex_is_a_tabular_with_booktabs(files: Path) -> None:
    done = run(
        "gold.mrg",
        "a=sys.poor.mrg",
        "b_1=sys.good.mrg",
        "--rounds",
        "99",
        "-m",
        "hogenhout",
        "--table",
        "measures",
        "--format",
        "latex",
        cwd=files,
    )
    lines = done.stdout.splitlines()
    assert lines[:2] == [r"% needs \usepackage{booktabs}", r"\begin{tabular}{lrr}"]
    assert lines[3] == r"measure & a & b\_1 \\"
    assert [lines[2], lines[4]] == [r"\toprule", r"\midrule"]
    assert r"\bottomrule" in lines


def test_three_systems_have_a_matrix(files: Path) -> None:
    done = run("gold.mrg", "a=sys.poor.mrg", "b=sys.good.mrg", "c=gold.mrg", "-m", "parseval", "--rounds", "500", cwd=files)
    assert "Who beats whom: parseval f1" in done.stdout
    assert "correction for 3 pairs" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("gold.mrg", "sys.poor.mrg"), 2, "at least two systems"),
        (("gold.mrg", "sys.poor.mrg", "nowhere.mrg"), 3, "nowhere.mrg"),
        (("gold.mrg", "sys.poor.mrg", "sys.good.mrg", "-m", "f1"), 2, "unknown metric 'f1'"),
        (("gold.mrg", "sys.poor.mrg", "sys.good.mrg", "--rates", "f2"), 2, "unknown rate 'f2'"),
        (("gold.mrg", "sys.poor.mrg", "sys.good.mrg", "--by-length", "--lengths", "ten"), 2, "--lengths"),
        (("gold.mrg", "sys.poor.mrg", "sys.good.mrg", "--table", "every"), 2, "unknown table"),
        (("gold.mrg", "sys.poor.mrg", "sys.good.mrg", "--rounds", "0"), 2, "rounds"),
        (("gold.mrg", "x=sys.poor.mrg", "x=sys.good.mrg"), 2, "called 'x'"),
        (("gold.mrg", "bad.mrg", "sys.good.mrg", "--on-error", "stop"), 3, "bad.mrg:1"),
        (("gold.mrg", "other.mrg", "sys.good.mrg", "--on-mismatch", "error"), 4, "do not fit"),
    ],
)
def test_what_cannot_be_done_is_said(files: Path, arguments: tuple[str, ...], code: int, message: str) -> None:
    (files / "bad.mrg").write_text("(S (NP (NN a))", "utf-8")
    (files / "other.mrg").write_text("(S (NP (NN something)) (VP (VB else)))\n" * 40, "utf-8")
    done = run(*arguments, cwd=files)
    assert done.returncode == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_the_answer_comes_first(files: Path) -> None:
    """The sentence names the better system; the table has the systems in the order in which they were given."""
    options = ("gold.mrg", "good=sys.good.mrg", "poor=sys.poor.mrg", "--rounds", "500")
    done = run(*options, cwd=files)
    sentence, _, header, *rows = done.stdout.splitlines()
    assert re.fullmatch(r"good is better than poor by \d+\.\d\d F1 \(95% interval \d+.* to \d+.*, p = \.00\d\d\)\.", sentence)
    assert header.split() == ["rate", "good", "poor", "difference", "low", "high", "p"]
    assert float(rows[2].split()[3]) < 0
    assert [row.split()[0] for row in rows[:4]] == ["recall", "precision", "f1", "exact_match"]
    assert done.stdout.count("compare|") == 1
    assert "gold:" not in done.stdout.splitlines()[-1]
    assert "|gold:" in run(*options, "--signature", "full", cwd=files).stdout.splitlines()[-1]
    (pair,) = json.loads(run(*options, "--format", "json", cwd=files).stdout)["groups"][0]["pairs"]
    assert (pair["a"], pair["b"]) == ("good", "poor")
    assert pair["differences"]["parseval"]["f1"]["difference"] < 0
    same = run("gold.mrg", "a=sys.good.mrg", "b=sys.good.mrg", "--rounds", "50", cwd=files).stdout
    assert same.startswith("a and b have the same F1 (95% interval 0.00 to 0.00, p = 1.0000).")


def test_a_file_and_quiet(files: Path) -> None:
    (files / "short.mrg").write_text("\n".join((files / "sys.good.mrg").read_text("utf-8").splitlines()[:-1]) + "\n", "utf-8")
    options = ("gold.mrg", "sys.poor.mrg", "short.mrg", "--rounds", "50", "-o", "answer.txt")
    loud, quiet = run(*options, cwd=files), run(*options, "--quiet", cwd=files)
    assert (loud.returncode, quiet.returncode, loud.stdout, quiet.stdout) == (4, 4, "", "")
    assert len(quiet.stderr.splitlines()) < len(loud.stderr.splitlines())
    assert "better than" in (files / "answer.txt").read_text("utf-8")


def test_the_table_in_the_paper(files: Path) -> None:
    systems = ("gold.mrg", "poor=sys.poor.mrg", "good=sys.good.mrg", "same=sys.good.mrg", "--rounds", "500")
    rates = ("--rates", "lr,f1,cb", "--published", "Berkeley=lr:82.5,F1:83.1", "--baselines")
    table = run(*systems, *rates, "--format", "markdown", cwd=files).stdout.splitlines()
    assert table[0] == "| system | recall | F1 | average crossing |"
    poor, good, same, *others, berkeley = [line.split(" | ") for line in table[2 : table.index("")]]
    assert "**" not in poor[2] + berkeley[2] + "".join("".join(row) for row in others)
    assert good[2] == same[2].replace("†", "")
    assert good[2].startswith("**")
    assert berkeley[:3] == ["| Berkeley*", "82.50", "83.10"]
    assert [row[0] for row in others][:2] == ["| right-branching*", "| left-branching*"]
    caption = table[table.index("") + 3 :][-1]
    for said in ("PARSEVAL on 40 sentences", "randomisation", "500 rounds", "Holm", "*: baseline or as published, not tested here"):
        assert said in " ".join(table), caption
    fractions = run(*systems, "--rates", "f1", "--format", "html", "--fraction", "--digits", "3", "--intervals", cwd=files).stdout
    assert re.search(r"<b>0\.\d{3} \[0\.\d{3}, \d\.\d{3}\]</b>", fractions)
    for wrong in ("Berkeley", "Berkeley=x", "Berkeley=1,2,3,4", "Berkeley=82.5", "Berkeley=82.5,f1:80", "Berkeley=f1:x"):
        said = run(*systems, "--rates", "lr,f1", "--published", wrong, "--format", "latex", cwd=files).stderr
        assert "--published Berkeley=...: name the rates, as in Berkeley=f1:95.8" in said, wrong
        assert "a value or nothing for each of recall,f1" in said
    fraction = run(*systems, "--rates", "f1", "--published", "Berkeley=0.825", "--format", "latex", cwd=files).stderr
    assert "values are percentages: write 82.5, not 0.825" in fraction


def test_the_caption_says_whether_the_others_are_worse(files: Path) -> None:
    systems = ("gold.mrg", "poor=sys.poor.mrg", "good=sys.good.mrg", "--rounds", "500", "--format", "latex", "--rates", "f1")
    caption = run(*systems, cwd=files).stdout
    assert r"Bold: best system tested here; all others are significantly worse (p $\leq$ 0.05; paired" in caption
    assert "textgreater" not in caption
    equal = run(*systems, "same=sys.good.mrg", cwd=files).stdout
    assert r"not significantly worse (p \textgreater{} 0.05; paired" in equal


def test_runs_that_are_given_as_one_treebank_are_refused(files: Path, tmp_path: Path) -> None:
    for number in (1, 2, 3):
        (tmp_path / f"a-{number}.mrg").write_bytes((files / "sys.poor.mrg").read_bytes())
    for given in (f"{tmp_path}/a-*.mrg", tmp_path):
        done = run("gold.mrg", f"A={given}", "sys.good.mrg", "--rounds", "20", cwd=files)
        assert (done.returncode, done.stdout) == (4, "")
        assert "120 parses in 3 files for 40 gold sentences; nothing was scored" in done.stderr
        assert "NAME=runs:'GLOB'" in done.stderr


def test_the_table_of_the_answer_has_the_answer(files: Path) -> None:
    done = run("gold.mrg", "sys.poor.mrg", "sys.good.mrg", "--rounds", "200", "--table", "answer", cwd=files)
    assert done.stdout.startswith("good is better than poor by ")


def test_lengths_are_enough(files: Path) -> None:
    options = ("gold.mrg", "sys.poor.mrg", "sys.good.mrg", "--rounds", "20", "--lengths", "9")
    assert run(*options, cwd=files).stdout == run(*options, "--by-length", cwd=files).stdout
    assert "1-9 words" in run(*options, cwd=files).stdout
