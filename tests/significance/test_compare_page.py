"""The comparison page of the docs: its numbers are those that were measured; ``tests/docs`` runs its commands."""

from __future__ import annotations

import doctest
import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "compare.md").read_text("utf-8")
RESULTS: dict[str, Any] = json.loads((ROOT / "experiments" / "results" / "null_simulation.json").read_text("utf-8"))


def test_python_examples() -> None:
    test = doctest.DocTestParser().get_doctest(PAGE.replace("```", ""), {}, "compare.md", "compare.md", 0)
    assert len(test.examples) > 10
    result = doctest.DocTestRunner().run(test)
    assert result.failed == 0


def percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def test_the_table_of_tests_is_what_was_measured() -> None:
    rows = re.findall(r"^\| ([^|]*[^|\s]) \| ([\d.]+%) \| ([\d.]+%) \| ([\d.]+%) \| ([\d.]+%) \|$", PAGE, re.MULTILINE)
    assert {test for test, *_ in rows} <= set(RESULTS["null"])
    assert len(rows) >= 10
    few, many = RESULTS["by_size"]["100"], RESULTS["by_size"]["400"]
    for test, *shown in rows:
        measured = (RESULTS["null"][test], few["null"][test], few["power"][test], many["power"][test])
        assert shown == list(map(percent, measured)), test
    assert RESULTS["repetitions"] >= 500
    assert f"{RESULTS['repetitions']:,} times" in PAGE


def test_the_table_of_tests_for_runs_is_what_was_measured() -> None:
    cells = json.loads((ROOT / "experiments" / "results" / "runs_simulation.json").read_text("utf-8"))["cells"]
    shown = dict(re.findall(r"^\| ([a-z ]+) \| ([\d.]+% to [\d.]+%) \|$", PAGE, re.MULTILINE))
    assert set(shown) == set(cells[0]["null"]) - {"coverage"}
    for test, span in shown.items():
        shares = [cell["null"][test] for cell in cells]
        assert span == f"{percent(min(shares))} to {percent(max(shares))}"
    coverage = [cell["real"]["coverage"] for cell in cells]
    assert f"{percent(min(coverage))} to {percent(max(coverage))} of the time" in PAGE


def test_what_the_page_says_of_the_tests_is_true() -> None:
    """Sentence-level tests hold .05 within binomial error; those on brackets do not, by far."""
    high = RESULTS["level"] + 3 * RESULTS["standard_error"]
    by_size = [of_size["null"] for of_size in RESULTS["by_size"].values()]
    for rates in (RESULTS["null"], *by_size):
        for test, rate in rates.items():
            if test.startswith(("randomisation", "sign test", "paired t")):
                assert rate <= high, test
            if test.startswith(("McNemar", "real test")):
                assert rate > 0.2, test
    for brackets, dispersion in RESULTS["overdispersion"].items():
        assert f"{100 * RESULTS['null'][f'McNemar z, {brackets}']:.0f}%" in PAGE
        assert f"{dispersion:.1f}" in PAGE


def test_what_the_page_says_of_power_is_what_was_measured() -> None:
    """The script's own seed first, then one that nobody had looked at."""
    folder = ROOT / "experiments" / "results"
    first, second = (json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("power_simulation*.json"), reverse=True))

    def farthest(results: dict[str, Any], *kinds: str) -> str:
        far = [abs(cell["claim"] - cell["power"]) for cell in results["runs"] if "runs" in kinds]
        for cell in (cell for kind in kinds if kind != "runs" for cell in results[kind]):
            for sizes, claims in cell["claims"].items():
                far += [abs(claim - cell["power"][sizes.split(" for ")[1]][rate]) for rate, claim in claims.items()]
        return f"{100 * max(far):.1f}"

    def equivalent(results: dict[str, Any]) -> str:
        of_sentences = (of_size for cell in results["cells"] for of_size in cell["equivalence"].values())
        shares = [share for of_size in of_sentences for share in of_size.values()]
        return percent(max(*shares, *(cell["equivalence"] for cell in results["runs"])))

    claims, again = (farthest(one, "cells", "runs") for one in (first, second))
    plans, plans_again = (farthest(one, "plans") for one in (first, second))
    assert f"at most {claims} points from the share of {first['experiments']:,} tests that found the difference" in PAGE
    assert f"for plans, at most {plans} points if" in PAGE
    assert f"(with another seed, {again} and {plans_again})" in PAGE
    assert f"in at most {equivalent(first)} ({equivalent(second)}) of the tests" in PAGE
