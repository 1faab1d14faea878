"""``treegauge compare`` as a user runs it."""

from __future__ import annotations

import csv
import io
import json
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
    done = run("gold.mrg", "sys.poor.mrg", "sys.good.mrg", "--rounds", "200", "--seed", "7", "--structure", "NP", cwd=files)
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
    assert "Differences" in plain.stdout
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
        "gold.mrg", "a=sys.poor.mrg", "b_1=sys.good.mrg", "--rounds", "99", "--table", "measures", "--format", "latex", cwd=files
    )
    lines = done.stdout.splitlines()
    assert lines[0] == r"\begin{tabular}{lrr}"
    assert lines[2] == r"measure & a & b\_1 \\"
    assert [lines[1], lines[3]] == [r"\toprule", r"\midrule"]
    assert r"\bottomrule" in lines


def test_three_systems_have_a_matrix(files: Path) -> None:
    done = run("gold.mrg", "a=sys.poor.mrg", "b=sys.good.mrg", "c=gold.mrg", "-m", "parseval", "--rounds", "500", cwd=files)
    assert "Who beats whom: parseval f1" in done.stdout
    assert "corrected for 3 pairs" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("gold.mrg", "sys.poor.mrg"), 2, "at least two systems"),
        (("gold.mrg", "sys.poor.mrg", "nowhere.mrg"), 3, "nowhere.mrg"),
        (("gold.mrg", "sys.poor.mrg", "sys.good.mrg", "-m", "f1"), 2, "unknown metric 'f1'"),
        (("gold.mrg", "sys.poor.mrg", "sys.good.mrg", "--rates", "f2"), 2, "unknown rate 'f2'"),
        (("gold.mrg", "sys.poor.mrg", "sys.good.mrg", "--by-length", "--lengths", "ten"), 2, "--lengths"),
        (("gold.mrg", "sys.poor.mrg", "sys.good.mrg", "--table", "all"), 2, "unknown table"),
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
