"""Why two scores differ."""

from __future__ import annotations

import contextlib
import io
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import treegauge
from treegauge import load_preset
from treegauge.cli import main
from treegauge.scoring.difference import explain_difference
from treegauge.scoring.result import Result

GOLD = ["(ROOT (S (NP (DT the) (NN cat)) (VP (VBD sat)) (. .)))", "(ROOT (S (NP (NN rain)) (, ,) (VP (V fell)) (. .)))"]
TEST = ["(ROOT (S (NP (DT the) (NN cat)) (VX (VBD sat)) (. .)))", "(ROOT (S (NP (NN rain) (NN ,)) (VP (V fell)) (. .)))"]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    paths = tmp_path / "gold.mrg", tmp_path / "test.mrg"
    for path, trees in zip(paths, (GOLD, TEST), strict=True):
        path.write_text("\n".join(trees) + "\n")
    return paths


def steps(difference: Any) -> dict[tuple[str, str, str], float]:
    return {(step.option, step.before, step.after): step.change for step in difference.steps if step.has_effect}


def test_no_difference(files: tuple[Path, Path]) -> None:
    result = treegauge.score(*files)
    difference = explain_difference(result, Result.from_json(result.to_json()))
    assert (difference.steps, difference.remarks, difference.unexplained) == ((), (), 0)


def test_the_root_and_the_dropped_sentence(files: tuple[Path, Path]) -> None:
    first, second = treegauge.score(*files), treegauge.score(*files, preset="collins", on_mismatch="evalb")
    difference = explain_difference(Result.from_json(first.to_json()), Result.from_json(second.to_json()))
    assert set(steps(difference)) == {("delete_labels", "ROOT", ""), ("on_mismatch", "align", "evalb")}
    assert math.fsum(steps(difference).values()) == pytest.approx(second.rates["f1"] - first.rates["f1"])
    assert abs(difference.unexplained) < 1e-12
    assert not difference.remarks
    idle = [step.after or step.before for step in difference.steps if not step.has_effect]
    assert sorted(idle) == ["(the empty label)", "S1", "VROOT"]
    assert "No effect: (the empty label) no longer in delete_labels" in difference.table().notes[1]


def test_options_that_act_only_together(files: tuple[Path, Path]) -> None:
    """Deleting S and deleting NP each remove other brackets; `alone` shows what each does from the first result."""
    base = load_preset("default")
    other = replace(base, delete_labels=base.delete_labels | {"NP"}, labelled=False)
    difference = explain_difference(treegauge.score(*files), treegauge.score(*files, preset=other))
    by_name = {step.option: step for step in difference.steps}
    first = treegauge.score(*files).rates["f1"]
    for name, preset in (("labelled", replace(base, labelled=False)), ("delete_labels", replace(other, labelled=True))):
        assert by_name[name].alone == pytest.approx(treegauge.score(*files, preset=preset).rates["f1"] - first)
    assert abs(difference.unexplained) < 1e-12


def test_other_trees(files: tuple[Path, Path], tmp_path: Path) -> None:
    better = tmp_path / "better.mrg"
    better.write_text("\n".join([GOLD[0], TEST[1]]))
    first, second = treegauge.score(*files), treegauge.score(files[0], better, preset="collins")
    difference = explain_difference(first, second)
    assert [step.option for step in difference.steps if step.has_effect] == ["test trees", "delete_labels"]
    assert abs(difference.unexplained) < 1e-12


def test_another_rate(files: tuple[Path, Path]) -> None:
    difference = explain_difference(treegauge.score(*files), treegauge.score(*files, preset="collins"), "exact_match")
    assert (difference.before, difference.after) == (0.5, 0.5)
    assert not any(step.has_effect for step in difference.steps)


def test_another_metric_is_only_listed(files: tuple[Path, Path]) -> None:
    difference = explain_difference(treegauge.score(*files), treegauge.score(*files, "goodman:pre"))
    assert [(step.option, step.before, step.after, step.change) for step in difference.steps] == [
        ("metric", "parseval", "goodman:pre preterminals=True", None)
    ]


def test_an_option_of_a_metric(files: tuple[Path, Path]) -> None:
    first, second = (treegauge.score(*files, name) for name in ("goodman", "goodman:pre"))
    [step] = explain_difference(first, second).steps
    assert step.change == pytest.approx(second.rates["labelled_recall"] - first.rates["labelled_recall"])


def test_trees_that_are_gone_or_changed_or_elsewhere(files: tuple[Path, Path], tmp_path: Path) -> None:
    first, second = treegauge.score(*files), treegauge.score(*files, preset="collins")
    elsewhere = tmp_path / "elsewhere.mrg"
    files[1].rename(elsewhere)
    gone = explain_difference(first, second)
    assert all(step.change is None for step in gone.steps)
    assert "no such file" in gone.remarks[0]
    assert math.isnan(gone.unexplained)
    files[1].write_text(GOLD[0])
    assert "other trees now" in explain_difference(first, second).remarks[0]
    found = explain_difference(first, second, test=str(elsewhere))
    assert not found.remarks
    assert abs(found.unexplained) < 1e-12


def test_trees_from_memory_can_be_named(files: tuple[Path, Path]) -> None:
    first, second = treegauge.score(GOLD, TEST), treegauge.score(GOLD, TEST, preset="collins")
    assert "gold" in explain_difference(first, second).remarks[0]
    assert not explain_difference(first, second, gold=str(files[0]), test=str(files[1])).remarks


def test_a_number_of_another_version_that_does_not_come_out_again(files: tuple[Path, Path]) -> None:
    data = json.loads(treegauge.score(*files).to_json())
    data["rates"]["f1"] += 0.01
    data["signature"]["version"] = "0.0.1"
    remarks = explain_difference(Result.from_json(json.dumps(data)), treegauge.score(*files)).remarks
    assert "The versions differ: 0.0.1 and" in remarks[0]
    assert "Scored again here, the first result is" in remarks[1]


class TestCommand:
    def call(self, *arguments: object) -> tuple[int, str, str]:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as end:
            main(["explain-difference", *map(str, arguments)])
        return int(end.value.code or 0), out.getvalue(), err.getvalue()

    @pytest.fixture
    def results(self, files: tuple[Path, Path], tmp_path: Path) -> tuple[Path, Path]:
        paths = tmp_path / "A.json", tmp_path / "B.json"
        paths[0].write_text(treegauge.score(*files).to_json())
        paths[1].write_text(treegauge.score(files[0], {"x": files[1], "y": files[0]}, preset="collins").to_json())
        return paths

    def test_table_and_json(self, results: tuple[Path, Path]) -> None:
        code, out, err = self.call(results[0], results[0])
        assert (code, err) == (0, "")
        assert out.splitlines()[0].split() == ["option", "first", "second", "change", "alone", "f1"]
        code, out, _ = self.call(results[0], results[1], "--system", "test.mrg,x", "--format", "json")
        assert code == 0
        data = json.loads(out)
        assert data["schema"] == "treegauge.difference/2"
        assert data["steps"][0]["option"] == "delete_labels"

    def test_which_result(self, results: tuple[Path, Path]) -> None:
        code, _, err = self.call(*results)
        assert code == 2
        assert "x by parseval, y by parseval" in err

    def test_bad_input(self, results: tuple[Path, Path], tmp_path: Path) -> None:
        other = tmp_path / "other.json"
        other.write_text("{}")
        assert self.call(results[0], other)[0] == 3
        treegauge.score(["(S (N a))"], ["(S (N a))"]).save(other)
        code, _, err = self.call(results[0], other)
        assert (code, "Write it with: treegauge score ... --format json" in err, "codec" in err) == (3, True, False), err
        code, _, err = self.call(results[0], tmp_path / "no.json")
        assert (code, "no.json" in err) == (3, True)
        assert self.call(results[0], results[0], "--rate", "f2")[0] == 2
