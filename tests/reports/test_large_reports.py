"""The report of a large treebank holds only the trees it shows, and says the same as the report that holds all of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import treegauge
from treegauge import CompareOptions, alignment
from treegauge.data import treebank_path
from treegauge.errors import MismatchError
from treegauge.io import sources
from treegauge.metrics.hogenhout import Hogenhout, Judgements, Verdict, brackets_to_judge
from treegauge.presets import load_preset
from treegauge.reports import reporting
from treegauge.reports.reporting import Report, report, report_of_scores
from treegauge.scoring.baselines import baseline_for
from treegauge.scoring.saved_scores import load_scores

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
    """Gold trees, three systems, of which two lack a parse, and one whose sentences are in another order."""
    gold = treegauge.read(treebank_path("travel"))[:60]
    lines = {"gold": list(gold), "right": list(baseline_for("right-branching", gold, load_preset("default")))}
    lines["random"] = list(baseline_for("random", gold, load_preset("default")))
    lines["second"] = list(baseline_for("left-branching", gold, load_preset("default")))
    lines["moved"] = [*lines["random"][1:], lines["random"][0]]
    for name, trees in lines.items():
        text = [str(tree) for tree in trees]
        lost = {"random": 7, "second": 11}.get(name)
        text = ["(())" if number == lost else line for number, line in enumerate(text)]
        (tmp_path / f"{name}.mrg").write_text("\n".join(text) + "\n")
    return {name: str(tmp_path / f"{name}.mrg") for name in lines}


@pytest.mark.parametrize("names", [("right", "random"), ("random",), ("right", "moved")])
def test_a_large_report_is_the_report(files: dict[str, str], names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    systems = {name: files[name] for name in names}
    compare(monkeypatch, lambda: report(files["gold"], systems, OPTIONS, most=MOST))


@pytest.mark.parametrize("names", [("right", "random"), ("random",), ("random", "second")])
def test_with_sentences_left_out(files: dict[str, str], names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that one system lacks are left out for all, also of what is counted block by block."""
    monkeypatch.setattr(sources, "CHUNK_BYTES", 2000)
    systems, options = {name: files[name] for name in names}, replace(OPTIONS, on_mismatch="skip")
    few = compare(monkeypatch, lambda: report(files["gold"], systems, options, most=MOST))
    assert few.sentences.compared == 60 - len({"random", "second"} & {*names})


def test_with_judgements(files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    systems = {name: files[name] for name in ("right", "random")}
    pair = alignment.pair(treegauge.read(files["gold"]), treegauge.read(files["random"]), load_preset("default"))
    asked = [one.bracket for one in brackets_to_judge(pair, Hogenhout())]
    assert asked[-1].sentence == 59
    judgements = {"random": Judgements(dict.fromkeys(asked, Verdict.ACCEPTED))}
    few = compare(monkeypatch, lambda: report(files["gold"], systems, OPTIONS, judgements=judgements, most=MOST))
    monkeypatch.setattr(sources, "CHUNK_BYTES", 2000)
    in_blocks = report(files["gold"], systems, OPTIONS, judgements=judgements, most=MOST)
    for found in (few, in_blocks):
        items = found.comparison.overall.items["random"]
        assert (items["CEA"], items["SPA"]) == (items["CE"], items["SP"])


@pytest.mark.parametrize("on_mismatch", ["align", "skip"])
def test_of_stored_scores(on_mismatch: str, files: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    systems, options = {name: files[name] for name in ("right", "random")}, replace(OPTIONS, on_mismatch=on_mismatch)
    metrics = ["parseval", "hogenhout", "freval"]
    treegauge.score(files["gold"], systems, metrics, on_mismatch=on_mismatch, pair="text").save(tmp_path / "scores")
    loaded = load_scores(str(tmp_path / "scores"))
    compare(monkeypatch, lambda: report_of_scores(loaded, options, most=MOST))
    trees = (tmp_path / "random.mrg").read_text()
    (tmp_path / "random.mrg").write_text(trees.replace("(NP ", "(XP ", 1))
    with pytest.raises(MismatchError, match="has changed since it was scored"):
        report_of_scores(loaded, options, most=MOST)


def compare(monkeypatch: pytest.MonkeyPatch, make: Callable[[], Report]) -> Report:
    """Compare the report that holds all trees with the one that holds few, and return the latter."""
    whole = make()
    monkeypatch.setattr(reporting, "LARGE_BYTES", 0)
    few = make()
    assert whole.numbers is None
    assert few.numbers is not None
    assert len(few.gold) == len(few.numbers) < len(whole.gold)
    assert all(len(bank) <= len(few.gold) for bank in few.banks.values())
    assert [table.to_records() for table in few.tables()] == [table.to_records() for table in whole.tables()]
    assert decoded(few) == decoded(whole)
    assert (few.sentences.differing, few.sentences.compared) == (whole.sentences.differing, whole.sentences.compared)
    assert few.notes == whole.notes
    pages = [re.sub(r'<script id="data".*?</script>|static\d+', "", found.html(), flags=re.DOTALL) for found in (few, whole)]
    examples = [re.findall(r"Examples of each kind.*?</dl>", page, flags=re.DOTALL) for page in pages]
    assert examples[0] == examples[1] != []
    return few
