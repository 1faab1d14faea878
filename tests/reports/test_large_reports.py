"""The report of a large treebank holds only the trees it shows, and says the same as the report that holds all of them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import treegauge
from treegauge import CompareOptions
from treegauge.data import treebank_path
from treegauge.presets import load_preset
from treegauge.reports import scored_trees
from treegauge.reports.report_contents import all_tables
from treegauge.reports.reporting import Report, report
from treegauge.scoring.baselines import baseline_for

OPTIONS = CompareOptions(metrics=("parseval", "hogenhout"), rounds=20, pair="text")
MOST = 5


def decoded(found: Report) -> list[dict[str, Any]]:
    """The sentences with names of labels and kinds in place of their numbers."""
    documents: list[dict[str, Any]] = [json.loads(text) for text in found.sentences.documents]
    for document in documents:
        for tree in (document["g"], *document["t"]):
            tree["l"] = [found.sentences.labels[number] for number in tree.get("l", ())]
            tree["k"] = [found.sentences.kinds[number] for number in tree.get("k", ())]
    return documents


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """Gold trees, two systems, one of which lacks a parse, and one whose sentences are in another order."""
    gold = treegauge.read(treebank_path("travel"))[:60]
    lines = {"gold": list(gold), "right": list(baseline_for("right-branching", gold, load_preset("default")))}
    lines["random"] = list(baseline_for("random", gold, load_preset("default")))
    lines["moved"] = [*lines["random"][1:], lines["random"][0]]
    for name, trees in lines.items():
        text = [str(tree) for tree in trees]
        text[7:8] = ["(())"] if name == "random" else text[7:8]
        (tmp_path / f"{name}.mrg").write_text("\n".join(text) + "\n")
    return {name: str(tmp_path / f"{name}.mrg") for name in lines}


@pytest.mark.parametrize("names", [("right", "random"), ("random",), ("right", "moved")])
def test_a_large_report_is_the_report(files: dict[str, str], names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    systems = {name: files[name] for name in names}
    whole = report(files["gold"], systems, OPTIONS, most=MOST)
    monkeypatch.setattr(scored_trees, "LARGE_BYTES", 0)
    few = report(files["gold"], systems, OPTIONS, most=MOST)
    assert whole.numbers is None
    assert few.numbers is not None
    assert len(few.gold) == len(few.numbers) < len(whole.gold)
    assert len(few.banks[names[0]]) <= len(few.gold)
    assert [table.to_records() for table in all_tables(few)] == [table.to_records() for table in all_tables(whole)]
    assert decoded(few) == decoded(whole)
    assert (few.sentences.differing, few.sentences.compared) == (whole.sentences.differing, whole.sentences.compared)
    assert few.notes == whole.notes
    pages = [re.sub(r'<script id="data".*?</script>|static\d+', "", found.html(), flags=re.DOTALL) for found in (few, whole)]
    examples = [re.findall(r"An example of each kind.*?</dl>", page, flags=re.DOTALL) for page in pages]
    assert examples[0] == examples[1] != []
