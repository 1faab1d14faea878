"""Six newcomers, each with a task and the pages that README leads to: every command of the page is run as it stands, in the page's
order, without any extra, in a folder that holds nothing but what the first command of the README wrote, and does what it says.

Blocks of Python in the docs are doctests of their own; the README's is run here.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from pages import NEWCOMERS, ROOT, Done, commands, follow

import treegauge

pytestmark = pytest.mark.slow

FIRST = "pip install '.[parse]' && treegauge demo"


def printed(found: dict[str, Done], part: str) -> str:
    """What the first command with this part in it printed."""
    return next(done.output for line, done in found.items() if part in line)


def rate(found: dict[str, Done], part: str, name: str = "f1") -> float:
    """A rate in the first column of a table that a command printed."""
    row = re.search(rf"^{name} +([\d.]+)", printed(found, part), re.MULTILINE)
    assert row, printed(found, part)
    return float(row[1])


def test_the_readme_leads_to_every_page() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert all(f"({page})" in readme for page in NEWCOMERS if page != "README.md")
    assert next(commands(ROOT / "README.md")).line == FIRST


@pytest.mark.slow
def test_the_readme_from_the_first_line_to_the_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = follow("README.md", tmp_path, {"llm.jsonl": 4})
    assert rate(found, "score gold.mrg A.mrg ") == 84.83
    assert rate(found, "score gold.mrg parsed.mrg") > 80
    (source,) = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(source, names)
    validate = names["validate"]
    assert callable(validate)
    assert round(100 * validate(Path("B.mrg").read_text("utf-8").splitlines()), 2) == 85.63


@pytest.mark.slow
def test_a_paper_by_tonight(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    found = follow("docs/howto/paper.md", tmp_path)
    (claim,) = re.findall(r"^> (.*)$", (ROOT / "docs/howto/paper.md").read_text("utf-8"), re.MULTILINE)
    answer = printed(found, "compare gold.mrg baseline=runs:")
    assert set(re.findall(r"\d*\.\d+", claim)) <= set(re.findall(r"\d*\.\d+", answer)), claim
    table = (tmp_path / "table.tex").read_text("utf-8")
    assert r"\textbf{" in table
    assert "over 5 runs" in table
    assert ElementTree.parse(tmp_path / "differences.svg").getroot().tag.endswith("svg")
    assert all(name in (tmp_path / "report.html").read_text("utf-8") for name in ("baseline", "ours"))
    (source,) = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs/howto/paper.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(source, {})
    assert capsys.readouterr().out.startswith(answer.partition("\n")[0])
    assert "system & recall & precision & F1 " in (tmp_path / "table.tex").read_text("utf-8")


@pytest.mark.slow
def test_a_messy_treebank(tmp_path: Path) -> None:
    found = follow("docs/howto/treebanks.md", tmp_path, {"messy.mrg --lines": 3})
    gold = treegauge.read(tmp_path / "gold.mrg")[:12]
    assert list(treegauge.read(tmp_path / "mended.mrg")) == list(gold)
    again = treegauge.score(tmp_path / "mended.mrg", tmp_path / "parser.mrg")
    assert round(100 * again.f1, 2) == rate(found, "score clean.mrg")


@pytest.mark.slow
def test_answers_of_a_language_model(tmp_path: Path) -> None:
    codes = {"parsed=0.95": 1, "-o repaired.mrg": 4, "-q": 0, "-o scores.txt": 4, "model=llm.jsonl": 4}
    found = follow("docs/howto/language-models.md", tmp_path, codes)
    plain = rate(found, "head -4 scores.txt")
    repaired = rate(found, "--field parse --on-error repair 2>/dev/null")
    assert plain < repaired < rate(found, "score gold.mrg best.mrg")


@pytest.mark.slow
def test_grammar_induction(tmp_path: Path) -> None:
    found = follow("docs/howto/induction.md", tmp_path)
    learned, right, left = map(float, printed(found, "learned.mrg -m induction").splitlines()[1].split()[2:5])
    assert learned > right + 10 > left


@pytest.mark.slow
def test_teaching(tmp_path: Path) -> None:
    found = follow("docs/howto/teach.md", tmp_path)
    grammar = treegauge.PCFG.parse((tmp_path / "grammar.txt").read_text("utf-8"))
    forest = treegauge.Forest(grammar, (tmp_path / "sentence.txt").read_text("utf-8").split())
    trees = [line for line in printed(found, "--kbest 2").splitlines() if line.startswith("(")]
    assert trees == [str(parse.tree) for parse in forest.kbest(2)]
    assert "word 'dog' is not in the grammar" in found['echo "I saw the dog" | treegauge parse grammar.txt -'].errors
    better = treegauge.PCFG.parse((tmp_path / "better.txt").read_text("utf-8"))
    assert treegauge.Forest(better, forest.words).log_partition > forest.log_partition


@pytest.mark.slow
def test_a_parser_for_my_texts(tmp_path: Path) -> None:
    follow("docs/howto/parse-text.md", tmp_path)
    trees = treegauge.read(tmp_path / "trees.mrg")
    assert [" ".join(tree.words) for tree in trees] == ["I saw the man with the telescope .", "Where 's the station ?"]
    records = [json.loads(line) for line in (tmp_path / "trees.jsonl").read_text("utf-8").splitlines()]
    assert len(records) == 2
    assert all(0 < record["confidence"]["expected_f1"] <= 1 for record in records)


@pytest.mark.slow
def test_the_tutorial(tmp_path: Path) -> None:
    follow("docs/tutorial.md", tmp_path)
