"""The counting experiments: the papers' examples exactly, Table 2 on our own treebank, and going on after a kill."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from treegauge.data import own_treebank
from treegauge.errors import MismatchError, UnknownName
from treegauge.experiments import load_experiment
from treegauge.experiments.base import Corpus, Work
from treegauge.experiments.held_out import held_out
from treegauge.experiments.pieces import Pieces
from treegauge.experiments.runner import document, run_experiment
from treegauge.experiments.simaan_grammars import variants
from treegauge.io import read
from treegauge.normalise import pipeline
from treegauge.trees import Tree, Treebank


def small_corpus() -> Corpus:
    return Corpus("travel", own_treebank("all", ("travel",)))


def run_small(name: str, folder: Path | None = None, *, resume: bool = False, **settings: Any) -> dict[str, Any]:
    experiment = load_experiment(name)
    corpus, chosen = small_corpus(), experiment.settings(rounds=50, **settings)
    report = run_experiment(experiment, corpus, chosen, folder=folder, resume=resume, threads=1)
    return document(experiment, report, experiment.fingerprint(corpus, chosen))


def test_goodmans_example_has_the_papers_numbers() -> None:
    experiment = load_experiment("goodman-example")
    report = experiment.run(None, experiment.settings(), Work(Pieces()))
    trees = report.data["trees"]
    assert {shape: values for shape, values in trees.items() if shape != "S(A B)"} == {
        shape: [pytest.approx(0.25), pytest.approx(1.75)] for shape in ("S(A C)", "S(A D)", "S(E B)", "S(F B)")
    }
    assert trees["S(A B)"] == [0.0, pytest.approx(2.0)]
    for row in report.tables[1].to_records():
        assert row["paper"] is None or row["ours"] == pytest.approx(row["paper"])


def test_simaans_example_has_the_papers_numbers() -> None:
    experiment = load_experiment("simaan-example")
    report = experiment.run(None, experiment.settings(), Work(Pieces()))
    rows = report.data["rows"]
    assert float(rows["MPP"][0]) == pytest.approx(1 / 250)
    assert float(rows["M_LR"][0]) == pytest.approx(81 / 50000)
    assert [round(rows[name][1], 3) for name in ("MPP", "M_LR")] == [2.55, 3.132]
    assert [round(rows[name][2], 2) for name in ("MPP", "M_LR")] == [1.69, 1.94]
    assert report.tables[0].to_records()[0] == {"": "parses", "paper": 500, "ours": 500}


@pytest.mark.parametrize("name", ["goodman-table2", "simaan-table2"])
def test_a_killed_run_goes_on_to_the_same_numbers(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run_small(name)
    parsed = 0

    def dies(self: Pieces, piece: str, compute: Any) -> Any:
        nonlocal parsed
        parsed += piece not in self
        if parsed > 2:
            raise KeyboardInterrupt
        return get(self, piece, compute)

    get = Pieces.get
    monkeypatch.setattr(Pieces, "get", dies)
    with pytest.raises(KeyboardInterrupt):
        run_small(name, tmp_path)
    monkeypatch.undo()
    assert not (tmp_path / f"{name}.json").exists()
    assert run_small(name, tmp_path, resume=True) == whole
    assert json.loads((tmp_path / f"{name}.json").read_text("utf-8")) == json.loads(json.dumps(whole))
    assert {path.suffix for path in tmp_path.iterdir()} == {".json", ".md", ".svg", ".csv"}
    assert "What differs from the paper, and why" in (tmp_path / f"{name}.md").read_text("utf-8")


def test_every_algorithm_of_table_2_is_there_with_its_signature() -> None:
    found = run_small("simaan-table2", gold_tags=True)
    for grammar, kind in (("MRL", "binarised"), ("MH", "unary-free")):
        scored = found["data"][grammar][f"against {kind} trees"]
        assert list(scored["rates"]) == ["MPP", "M_LR", "M_PCh", "M_CFP"]
        assert all("parseval" in signature for signature in scored["signatures"].values())
        assert 0 <= found["data"][grammar]["unparsed"] < 1
    # Given the tags, every word is tagged right.
    assert found["data"]["MH"]["against unary-free trees"]["rates"]["MPP"]["tagging_accuracy"] == 1


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
    train, test, how = held_out(read(tmp_path))
    assert ([tree.words for tree in train], [tree.words for tree in test]) == ([("b",), ("c",)], [("a",)])
    assert "dev" in how
    (tmp_path / "dev.mrg").rename(tmp_path / "development_of_x.mrg")
    with pytest.raises(MismatchError):
        held_out(read(tmp_path))
    every = held_out(Treebank.from_trees([Tree.parse(f"(S (A w{i}))") for i in range(10)]))
    assert [tree.words for tree in every.test] == [("w4",), ("w9",)]
