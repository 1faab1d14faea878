"""Public objects at a prompt and in a notebook: a line each, a picture or a table where there is one, data frames of tables."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import public_instances
import pytest

import treegauge
from treegauge.tables import HasTable, Table
from treegauge.trees import Tree

PAGE = (Path(__file__).parents[1] / "docs" / "reference" / "api.md").read_text("utf-8")
WIDEST = 120
GROUPS = (public_instances.scored, public_instances.judged, public_instances.modelled, public_instances.chunked)
NO_INSTANCES = {"Metric", "Engine", "Shard", "PosteriorView", "DiscontinuousTree"}
"""Abstract classes and protocols; discontinuous trees are trees."""
RECORDS = {"Binomial", "ParseSettings", "RealTest", "SentenceResult", "TuningResult"}
"""Records of a few numbers at full precision, which may take half a line more."""
NEURAL = {"DensePCFG", "LowRankPCFG", "SentCFG", "SpanCRF", "TreeCRF"}
TABLES = {"Table", "Result", "Scores", "Comparison", "Breakdown", "Calibration", "Evaluation", "SubcategoryTable", "ChartTable"}
PICTURES = {"Tree", "TreeDiff", "Parse", "Best", "ParsedSentence", "Forest", "LatentForest", "SpanChart", "Report"} | TABLES


def public_classes() -> set[type]:
    """The classes that the API page lists, without exceptions."""
    names = re.findall(r"^\.\. autoclass:: (treegauge\S*)\.(\w+)$", PAGE, re.MULTILINE)
    values = {getattr(importlib.import_module(folder), name) for folder, name in names}
    return {value for value in values if isinstance(value, type) and not issubclass(value, Exception)}


@pytest.fixture(scope="module")
def instances() -> list[object]:
    return [value for group in GROUPS for value in group()]


def shown_in_notebooks(value: Any) -> bool:
    return hasattr(value, "_repr_html_") or hasattr(value, "_repr_svg_")


def test_every_public_class_has_an_instance_here(instances: list[object]) -> None:
    seen = {type(value) for value in instances}
    assert {value.__name__ for value in public_classes() if value not in seen} == NO_INSTANCES | NEURAL


def test_a_repr_is_one_line(instances: list[object]) -> None:
    """Trees alone may be longer: their repr is the expression that makes them."""
    for value in instances:
        text = repr(value)
        assert "\n" not in text, type(value)
        assert "array(" not in text, text
        assert " at 0x" not in text, text
        most = 1.6 * WIDEST if type(value).__name__ in RECORDS else WIDEST
        assert len(text) <= most or isinstance(value, Tree), text


@pytest.mark.torch
def test_a_repr_of_neural_charts_is_one_line() -> None:
    pytest.importorskip("torch")
    for value in public_instances.neural():
        assert re.fullmatch(r"<[^\n]{1,118}>", repr(value)), type(value)
        assert " at 0x" not in repr(value)


def test_what_has_a_picture_or_a_table_shows_it(instances: list[object]) -> None:
    shown = {type(value).__name__: value for value in instances if shown_in_notebooks(value)}
    assert set(shown) == PICTURES
    for name, value in shown.items():
        text: str = value._repr_html_() if hasattr(value, "_repr_html_") else value._repr_svg_()  # type: ignore[attr-defined]
        assert re.search(r"<(svg|table)", text), name


def test_tables_become_data_frames(instances: list[object], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=lambda data, columns=None: data))
    tables = {type(value).__name__: value for value in instances if hasattr(value, "to_frame")}
    assert set(tables) == TABLES
    for name, value in tables.items():
        assert len(value.to_frame()) > 0, name  # type: ignore[attr-defined]


def test_without_pandas_the_message_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(treegauge.UsageError, match="a data frame needs pandas: pip install pandas"):
        Table("", ("n",), ((1,),)).to_frame()


def test_a_table_of_a_kind_of_its_own_says_which() -> None:
    with pytest.raises(NotImplementedError):
        HasTable().to_frame()


def modules() -> Iterator[str]:
    yield "treegauge"
    yield from sorted(set(re.findall(r"^### (treegauge\S+)$", PAGE, re.MULTILINE)))


@pytest.mark.parametrize("name", list(modules()))
def test_dir_lists_the_public_names_and_no_others(name: str) -> None:
    module = importlib.import_module(name)
    if "__getattr__" in vars(module):
        assert dir(module) == sorted({*module.__all__, *({"__version__"} & vars(module).keys())})
    assert {each for each in dir(module) if not each.startswith("_")} >= set(module.__all__) - {"__version__"}


def test_signatures_can_be_read_in_a_help_text() -> None:
    """No default value is an address, or longer than the rest."""
    for name in treegauge.__all__:
        value = getattr(treegauge, name)
        if inspect.isfunction(value):
            for parameter in inspect.signature(value).parameters.values():
                shown = repr(parameter.default)
                assert len(shown) < 60, (name, parameter.name)
                assert not inspect.isroutine(parameter.default) or parameter.name in ("progress", "on_iteration"), (name, parameter)
                assert " object at 0x" not in shown, (name, parameter)
