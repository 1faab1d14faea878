"""The counting experiments: the papers' examples exactly, Table 2 on our own treebank, and going on after a kill."""

from __future__ import annotations

import itertools
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from processes import running_process

from treegauge.data import own_treebank
from treegauge.errors import MismatchError, UnknownName
from treegauge.experiments import load_experiment
from treegauge.experiments.experiment import Checkpoint, Corpus, Work, document, run_experiment
from treegauge.experiments.freval_table1 import Settings, latent_parses
from treegauge.experiments.paper_comparison import CriterionTest, criterion_table, in_words
from treegauge.experiments.simaan_table2 import variants
from treegauge.io import read
from treegauge.learning.latent import QUICK, train_latent
from treegauge.normalise import pipeline
from treegauge.parsing.latent import LatentParser
from treegauge.parsing.parser import Sentence
from treegauge.trees import Tree, Treebank

pytestmark = pytest.mark.slow


def small_corpus() -> Corpus:
    return Corpus("travel", own_treebank("all", ("travel",)))


def run_small(name: str, **settings: Any) -> dict[str, Any]:
    experiment = load_experiment(name)
    corpus, chosen = small_corpus(), experiment.settings(rounds=50, **settings)
    report = run_experiment(experiment, corpus, chosen, threads=1)
    return document(experiment, report, experiment.fingerprint(corpus, chosen))


def test_goodmans_example_has_the_papers_numbers() -> None:
    experiment = load_experiment("goodman-example")
    report = experiment.run(None, experiment.settings(), Work(Checkpoint()))
    trees = report.data["trees"]
    assert {shape: values for shape, values in trees.items() if shape != "S(A B)"} == {
        shape: [pytest.approx(0.25), pytest.approx(1.75)] for shape in ("S(A C)", "S(A D)", "S(E B)", "S(F B)")
    }
    assert trees["S(A B)"] == [0.0, pytest.approx(2.0)]
    for row in report.tables[1].to_records():
        assert row["paper"] is None or row["ours"] == pytest.approx(row["paper"])


def test_simaans_example_has_the_papers_numbers() -> None:
    experiment = load_experiment("simaan-example")
    report = experiment.run(None, experiment.settings(), Work(Checkpoint()))
    rows = report.data["rows"]
    assert float(rows["MPP"][0]) == pytest.approx(1 / 250)
    assert float(rows["M_LR"][0]) == pytest.approx(81 / 50000)
    assert [round(rows[name][1], 3) for name in ("MPP", "M_LR")] == [2.55, 3.132]
    assert [round(rows[name][2], 2) for name in ("MPP", "M_LR")] == [1.69, 1.94]
    assert report.tables[0].to_records()[0] == {"": "parses", "paper": 500, "ours": 500}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "options"), [("goodman-table2", []), ("simaan-table2", ["--sentences", "55", "--halvings", "0"])])
def test_a_run_killed_by_the_system_goes_on_to_the_same_files(name: str, options: list[str], tmp_path: Path) -> None:
    """SIGKILL in the middle of parsing, in a real process."""
    treebank = tmp_path / "travel.mrg"
    treebank.write_text("\n".join(map(str, small_corpus().bank)), "utf-8")
    command = [sys.executable, "-m", "treegauge", "reproduce", name, str(treebank), "--rounds", "50", "--jobs", "1", *options]
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    with running_process([*command, "-o", str(killed)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        parsed = (line for line in process.stderr if " sentences" in line)
        assert len(list(itertools.islice(parsed, 2))) == 2
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert process.returncode == -signal.SIGKILL
    (kept,) = killed.iterdir()
    pieces = kept.read_text("utf-8").count("\n")
    for folder, resume in ((killed, ["--resume"]), (whole, [])):
        done = subprocess.run([*command, "-o", str(folder), *resume], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert pieces > 1
    assert {path.name: path.read_bytes() for path in killed.iterdir()} == {path.name: path.read_bytes() for path in whole.iterdir()}
    assert {path.suffix for path in whole.iterdir()} == {".json", ".md", ".svg", ".csv"}
    assert "What differs from the paper, and why" in (whole / f"{name}.md").read_text("utf-8")


def test_every_algorithm_of_table_2_is_there_with_its_signature() -> None:
    found = run_small("simaan-table2", gold_tags=True, halvings=0)
    for grammar, kind in (("MRL", "binarised"), ("MH", "unary-free")):
        scored = found["data"][grammar][f"against {kind} trees"]
        assert list(scored["rates"]) == ["MPP", "M_LR", "M_PCh", "M_CFP"]
        assert all("parseval" in signature for signature in scored["signatures"].values())
        assert 0 <= found["data"][grammar]["unparsed"] < 1
        assert set(scored["rates"]["MPP"]) >= {"recall", "precision", "f1", "exact_match", "no_crossing"}
    # Given the tags, every word is tagged right.
    assert found["data"]["MH"]["against unary-free trees"]["rates"]["MPP"]["tagging_accuracy"] == 1


def test_what_kept_unary_rules_cost_is_said_in_figures() -> None:
    found = run_small("simaan-table2", unaries="kept", halvings=-1, sentences=20)
    rates = found["data"]["MRL"]["against binarised trees"]["rates"]
    precision = {name: f"{100 * rates[name]['precision']:.2f}" for name in ("M_LR", "MPP")}
    assert any(f"M_LR: its precision is {precision['M_LR']}, that of MPP {precision['MPP']}." in note for note in found["notes"])
    (order,) = (note for note in found["notes"] if note.startswith("Order under MRL"))
    assert columns_of_the_paper(found, "One algorithm less another") == set()
    assert ("as in the paper" in order) != ("why its order differs" in order)


def test_shares_of_errors_are_not_said_to_be_printed_in_the_paper() -> None:
    found = run_small("goodman-table2", max_length=12)
    assert columns_of_the_paper(found, "Share of the error of the Labelled Tree algorithm that goes away") == set()


def columns_of_the_paper(found: dict[str, Any], title: str) -> set[str]:
    """The columns of a table that are said to be the paper's; what we compute from its numbers is not."""
    (table,) = (each for each in found["tables"] if each["title"] == title)
    return {column for column in table["rows"][0] if "paper" in column}


def test_hogenhouts_tables_add_up() -> None:
    found = run_small("hogenhout-tables", sentences=20, max_length=12)
    for items in found["data"]["items"].values():
        assert items["EMA"] + items["EMR"] + items["CEA"] + items["CER"] + items["SPA"] + items["SPR"] == items["TPB"]
    YY, YN, NY, NN = found["data"]["cells"]
    assert found["data"]["items"]["A"]["TTB"] == YY + YN + NY + NN
    assert found["data"]["items"]["A"]["EMA"] == YY + YN
    assert found["data"]["parse_base"] >= 1
    assert "SIMULATED" in found["notes"][1]
    assert columns_of_the_paper(found, "Comparative items (Table 2): is it binomial?") == {"paper"}
    paper = {row["measure"]: row["A paper"] for row in found["tables"][2]["rows"]}
    assert paper["Precision-soft"] == pytest.approx(0.912, abs=5e-4)


def test_freval_ranks_our_own_parsers() -> None:
    found = run_small("freval-table1", sentences=12, max_length=10, dop_trees=30, latent=1)
    assert set(found["data"]["unparsed"]) == {"PCFG", "MH", "DOP", "annotated", "latent"}
    assert {"latent, viterbi", "latent, max-rule", "latent, labelled-precision-recall"} <= set(found["data"]["rates"])
    for rates in found["data"]["rates"].values():
        assert 0 <= rates["f1"] <= 1
    (row,) = [row for row in found["tables"][0]["rows"] if row["parser"] == "ours: PCFG"]
    assert row["F1 1"] == found["data"]["rates"]["PCFG"]["f1_1"]
    assert found["notes"][0].startswith("Outcome: ")


def test_latent_grammars_are_in_the_ranking_by_default_and_trained_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Settings().latent > 0
    parts, work, settings = small_corpus().split(), Work(Checkpoint()), Settings(latent=1)
    gold, trees = list(parts.test)[:3], list(parts.train)[:45]
    found, unparsed = latent_parses(trees, gold, settings, work)
    # The model is the one of the command, and none is needed where the parses are in the checkpoint.
    model = train_latent(trees, replace(QUICK, most_rounds=1))
    for name, parsed in found.items():
        parser = LatentParser(model, name.partition(", ")[2])
        assert parsed == [parser.parse(Sentence(tree.words)).scored_tree for tree in gold]
    monkeypatch.setattr("treegauge.learning.latent.train_latent", lambda *_, **__: pytest.fail("trained again"))
    assert latent_parses(trees, gold, settings, work) == (found, unparsed)


def test_the_curve_ends_where_the_table_stands() -> None:
    found = run_small("simaan-table2", halvings=1, sentences=20)
    fewer, all_trees = found["data"]["curve"]
    assert 2 * fewer["trees"] - all_trees["trees"] in (0, 1)
    assert fewer["unknown"] > all_trees["unknown"] > 0
    for grammar, kind in (("MRL", "binarised"), ("MH", "unary-free")):
        assert all_trees["words"][grammar]["f1"] == found["data"][grammar][f"against {kind} trees"]["rates"]["MPP"]["f1"]
    # MH's trees have no unary productions to begin with.
    alike, own = found["data"]["against the same trees"]["rates"], found["data"]["MH"]["against unary-free trees"]["rates"]
    assert [alike[f"MH {name}"]["f1"] for name in own] == [rates["f1"] for rates in own.values()]
    assert any("on its own criterion" in note for note in found["notes"])


def test_every_exception_is_told_with_its_significance() -> None:
    verdicts = [
        CriterionTest("x", "A", "B", 0.02, 0.01),
        CriterionTest("y", "A", "B", 0.01, 0.3),
        CriterionTest("z", "A", "B", -0.03, 0.001),
    ]
    said = in_words(verdicts)
    assert said.startswith("on 2 of 3 criteria the algorithm made for it is best, on 1 of them significantly")
    assert "On y A leads B by 1.00 points (p = 0.3000): not significant" in said
    assert "On z B is 3.00 points above A (p = 0.0010): significant" in said
    assert [row["verdict"] for row in criterion_table(verdicts).to_records()] == ["best", "best", "not best"]


def test_grammars_are_undone_to_the_trees_they_are_scored_against() -> None:
    clean, plain = pipeline("traces,root"), pipeline("functions")
    free = pipeline("functions,unaries")
    for tree in own_treebank("dev"):
        cleaned = clean(tree)
        assert cleaned is not None
        mrl, mh = variants("joined")
        assert mrl.plain(mrl.forward(cleaned)) == plain(cleaned)
        assert mrl.gold(cleaned) == variants("kept")[0].gold(cleaned)
        assert mh.plain(mh.forward(cleaned)) == free(cleaned) == mh.gold(cleaned)
    with pytest.raises(UnknownName):
        variants("gone")


def test_files_called_dev_or_test_are_held_out(tmp_path: Path) -> None:
    (tmp_path / "dev.mrg").write_text("(S (A a))\n")
    (tmp_path / "train.mrg").write_text("(S (B b))\n(S (C c))\n")
    train, test, how = Corpus("x", read(tmp_path)).split()
    assert ([tree.words for tree in train], [tree.words for tree in test]) == ([("b",), ("c",)], [("a",)])
    assert "dev" in how
    (tmp_path / "dev.mrg").rename(tmp_path / "development_of_x.mrg")
    with pytest.raises(MismatchError):
        Corpus("x", read(tmp_path)).split()
    every = Corpus("x", Treebank.from_trees([Tree.parse(f"(S (A w{i}))") for i in range(10)])).split()
    assert [tree.words for tree in every.test] == [("w4",), ("w9",)]
