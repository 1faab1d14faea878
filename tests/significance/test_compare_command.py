"""``treegauge compare`` as a user runs it."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from significance_rows import careless, own_treebank

import treegauge
from treegauge import CompareOptions
from treegauge.cli import main


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
    assert "assume that brackets are independent" in done.stdout
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
        (("gold.mrg", "other.mrg", "sys.good.mrg", "--on-mismatch", "error"), 4, "do not match"),
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
    for wrong in ("Berkeley", "Berkeley=x", "Berkeley=1,2,3,4", "Berkeley=82.5", "Berkeley=82.5,f1:80"):
        said = run(*systems, "--rates", "lr,f1", "--published", wrong, "--format", "latex", cwd=files).stderr
        assert "--published Berkeley=...: name the rates, as in Berkeley=f1:95.8" in said, wrong
        assert "one value or none for each of recall,f1" in said
    percent = run(*systems, "--rates", "f1", "--published", "Berkeley=f1:82.5%", "--format", "latex", cwd=files).stderr
    assert "--published Berkeley=...: values are percentages, as in Berkeley=f1:95.8, not '82.5%'" in percent
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


@pytest.mark.parametrize("command", ["score", "compare"])
@pytest.mark.parametrize("layout", [("--format", "latex"), ("--format", "markdown"), ("--rows", "systems")])
def test_the_table_in_the_paper_has_short_sentences(
    files: Path, capsys: pytest.CaptureFixture[str], command: str, layout: tuple[str, str]
) -> None:
    """``--cutoff 10`` (WSJ-10) gives further columns, in all formats with a row a system."""
    paths = [str(files / name) for name in ("gold.mrg", "sys.poor.mrg", "sys.good.mrg")]
    rounds = ["--rounds", "20", "--baselines", "--published", "X=f1:80"] if command == "compare" else []
    with pytest.raises(SystemExit):
        main([command, *paths, "--rates", "f1", "--cutoff", "10", "--quiet", *layout, *rounds])
    printed = capsys.readouterr().out.replace("$\\leq$", "≤")
    good = treegauge.score(paths[0], paths[2], cutoff=10)
    assert good.short.sentences < good.total.sentences
    row = next(line for line in printed.splitlines() if re.match(r"(\| )?good\b", line))
    assert re.findall(r"\d+\.\d+", row) == [f"{100 * part.rates['f1']:.2f}" for part in (good.total, good.short)]
    assert "F1 (≤ 10)" in printed
    assert f"≤ 10: {good.short.sentences} sentences of up to 10 words." in printed
    if rounds:
        baseline = next(line for line in printed.splitlines() if "right-branching" in line)
        assert len(re.findall(r"\d+\.\d+", baseline)) == 2


def test_the_table_in_the_paper_without_short_sentences(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [str(files / name) for name in ("gold.mrg", "sys.poor.mrg", "sys.good.mrg")]
    with pytest.raises(SystemExit):
        main(["compare", *paths, "--cutoff", "1", "--rounds", "20", "--format", "latex"])
    assert "No sentence is as short as 1 word." in capsys.readouterr().out


def test_structure_and_lengths_are_in_latex(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The tables that were asked for stand below the table of the paper; a length that is asked for twice has one row."""
    paths = [str(files / name) for name in ("gold.mrg", "sys.poor.mrg", "sys.good.mrg")]
    with pytest.raises(SystemExit):
        main(
            [
                "compare",
                *paths,
                *["--structure", "NP", "--by-length", "--cutoff", "10", "--rates", "f1", "--rounds", "20", "--format", "latex"],
            ]
        )
    printed = capsys.readouterr().out
    assert printed.index("F1 ($\\leq$ 10)") < printed.index("By sentence length") < printed.index("By structure")
    assert printed.count("1-10 words & ") == 1


def test_all_tables_have_the_pairs_in_the_order_given(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of three systems, too; and no column of rates has the name of another system."""
    (files / "third.mrg").write_text("".join(f"{tree}\n" for tree in careless(own_treebank(40), 3, 0.2)), "utf-8")
    systems = [f"{name}={files / file}" for name, file in (("B", "sys.good.mrg"), ("A", "sys.poor.mrg"), ("C", "third.mrg"))]
    asked = ["--structure=NP", "--power", "--equivalence=1", "--table=all", "--format=markdown", "--rounds=20", "-q"]
    with pytest.raises(SystemExit):
        main(["compare", str(files / "gold.mrg"), *systems, *asked])
    tables = [table for table in capsys.readouterr().out.split("\n\n") if "| first | second |" in table]
    assert len(tables) > 6
    for table in tables:
        heads, _, *rows = [[cell.strip() for cell in line.split("|")] for line in table.splitlines()]
        place = heads.index("first")
        assert list(dict.fromkeys(tuple(row[place : place + 2]) for row in rows)) == [("B", "A"), ("B", "C"), ("A", "C")]
        assert not {"A", "B"} & set(heads)


def test_a_label_that_gold_does_not_have(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [str(files / name) for name in ("gold.mrg", "sys.poor.mrg", "sys.good.mrg")]
    with pytest.raises(SystemExit):
        main(["compare", *paths, "--structure=NP,PPP", "--rates=f1", "--rounds=20"])
    printed = capsys.readouterr()
    assert "warning: PPP: no gold bracket has this label" in printed.out
    assert "warning: NP: no gold" not in printed.out
    assert "PPP" not in printed.out.partition("Tests on brackets")[2]
    assert "treegauge: --rates does not apply to --structure" in printed.err


def test_the_suffix_of_the_output_names_the_format(files: Path) -> None:
    """What is written into x.tex is LaTeX, unless another format is asked for; no picture is written for its suffix."""
    systems = ("gold.mrg", "sys.poor.mrg", "sys.good.mrg")
    score, report = (["score", *systems[:2]], ["report", *systems, "--rounds", "20"])
    for words, output, start in (
        (["compare", *systems, "--rounds", "20"], "x.tex", "% needs"),
        (["compare", *systems, "--rounds", "20"], "x.json", "{"),
        (["compare", *systems, "--rounds", "20", "--format", "csv"], "x.tex", "kind,group"),
        (["compare", *systems, "--rounds", "20"], "x.txt", "good is better"),
        (score, "x.md", "| system |"),
        (score, "x.CSV", "system,metric"),
        (score, "scores", "parseval"),
        (report, "x.tex", "% needs"),
        (report, "x.htm", "<!DOCTYPE html>"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "treegauge", *words, "-o", output], cwd=files, capture_output=True, check=False
        )
        assert (done.returncode, (files / output).read_text("utf-8")[: len(start)]) == (0, start)
    assert run_all(*score, "-o", "x.json.gz", cwd=files).returncode == 0
    assert json.loads(gzip.decompress((files / "x.json.gz").read_bytes()))["metric"] == "parseval"
    for words in (score, report):
        done = run_all(*words, "-o", "x.pdf", cwd=files)
        assert (done.returncode, (files / "x.pdf").exists()) == (2, False)
        assert "-o x.pdf: there is no format for the suffix .pdf; there are: " in done.stderr


def run_all(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "treegauge", *words], cwd=cwd, capture_output=True, text=True, check=False)


def test_trees_that_are_compared_twice_get_a_warning(files: Path) -> None:
    """A run that was copied makes the number of runs larger than it is, and a p smaller."""
    paths = [str(files / name) for name in ("sys.poor.mrg", "sys.good.mrg", "gold.mrg")]
    poor, good, gold = paths
    (files / "copy.mrg").write_bytes(Path(poor).read_bytes())
    runs = treegauge.compare(gold, {"A": [poor, good, files / "copy.mrg"], "B": good}, rounds=20, metric=["parseval", "goodman"])
    copied = [warning for warning in runs.warnings if "its trees are" in warning]
    assert copied == ["A (copy): its trees are those of A (sys.poor)", "B: its trees are those of A (sys.good)"]
    done = run("gold.mrg", "A=sys.poor.mrg", "B=sys.poor.mrg", "C=gold.mrg", "--rounds", "20", cwd=files)
    assert "warning: B: its trees are those of A\n" in done.stdout
    assert "warning: C: its trees are the gold trees\n" in done.stdout
    with pytest.raises(treegauge.MismatchError, match="B: its trees are those of A"):
        treegauge.compare(gold, {"A": poor, "B": poor}, rounds=20, strict=True)
    assert not any("its trees" in text for text in treegauge.compare(gold, {"A": poor, "B": good}, rounds=20).warnings)


def test_pictures_of_several_runs_are_refused_and_a_name_is_no_part_of_a_file(files: Path) -> None:
    for command in ("diff", "report", "check"):
        done = run_all(command, "gold.mrg", "A=runs:sys.*.mrg", cwd=files)
        assert (done.returncode, done.stdout) == (2, "")
        assert "A=runs:sys.*.mrg: the trees of one run are shown; give one file per system" in done.stderr
    named, plain = (run_all("diff", "gold.mrg", given, cwd=files) for given in ("A=sys.poor.mrg", "sys.poor.mrg"))
    assert (named.returncode, named.stdout) == (0, plain.stdout)
