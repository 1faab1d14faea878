"""The page of benchmarks says what bench/RESULTS.md says; `python bench/claims.py` renews it."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "benchmarks.md").read_text("utf-8")
RESULTS = (ROOT / "bench" / "RESULTS.md").read_text("utf-8")
DATED = re.compile(r" Measured on (\d{4}-\d\d-\d\d), commit ([0-9a-f]{7})\.$", re.MULTILINE)


@pytest.fixture(scope="module")
def claims() -> ModuleType:
    spec = importlib.util.spec_from_file_location("claims", ROOT / "bench" / "claims.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["claims"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_cut_from_the_results(claims: ModuleType) -> None:
    assert DATED.sub("", PAGE) == claims.page(RESULTS, {}), "run: python bench/claims.py"


def test_every_claim_has_a_table_or_a_sentence_a_command_and_a_date(claims: ModuleType) -> None:
    sections = [section for section in PAGE.split("\n## ")[1:] if "`. " in section]
    assert len(sections) == len(claims.CLAIMS) + claims.FIGURES.count("![")
    for section in sections:
        assert re.search(r" (?:Measured|Drawn) on \d{4}-\d\d-\d\d, commit [0-9a-f]{7}\.$", section, re.MULTILINE), section
        (script,) = re.findall(r"^`python (bench/\w+\.py) --(?:save|plot|figure)\b.*`\.", section, re.MULTILINE)
        assert "--save" in (ROOT / script).read_text("utf-8") or "results" in (ROOT / script).read_text("utf-8"), script


def test_the_readme_has_the_figures_of_the_results() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    rows = re.findall(r"^\| [^|]*(?:`treegauge train|mixed)[^|]*\| \**([\d.]+)\** \| ([\d.]+) \|$", readme, re.MULTILINE)
    assert len(rows) == 5
    for f1, milliseconds in rows:
        assert re.search(rf"^\|.*\| {f1} \|.*\| {milliseconds} \|", RESULTS, re.MULTILINE), f1
    (said,) = re.findall(r"^The package itself is .*$", readme, re.MULTILINE)
    wheel, installed, packages, seconds = re.findall(
        r"wheel of ([\d.]+) MB and takes (\d+) MB .*`\) (\d+) MB\. .* takes (\d+) seconds", said
    )[0]
    first = RESULTS.partition("## The first minutes")[2].partition("\n## ")[0]
    table = dict(re.findall(r"^\| (wheel|package as installed|all packages) \| ([\d.]+) \|$", first, re.MULTILINE))
    assert table["wheel"] == wheel
    assert round(float(table["package as installed"])) == int(installed)
    assert round(float(table["all packages"])) == int(packages)
    assert f"tour: {seconds} seconds." in first


def test_a_section_that_is_gone_is_an_error(claims: ModuleType) -> None:
    with pytest.raises(SystemExit, match="no section 'Reading'"):
        claims.page(RESULTS.replace("## Reading", "## Readings"), {})
    with pytest.raises(SystemExit, match="nothing in the section 'Start-up' matches"):
        claims.page(RESULTS.replace("`treegauge ", "`tg ").replace("The bare", "A bare"), {})
