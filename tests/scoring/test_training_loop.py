"""The example of validation inside a training loop runs, and its numbers are those of the command line."""

from __future__ import annotations

import importlib.util
import sys
import warnings
from pathlib import Path
from types import ModuleType

import pytest

import treegauge
from treegauge.data import own_treebank

EXAMPLE = Path(__file__).parents[2] / "examples" / "training_loop.py"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("training_loop", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["training_loop"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_it_learns_and_says_so(example: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        example.main()
    lines = capsys.readouterr().out.splitlines()
    scores = [float(line.split("F1 ")[1].split("%")[0]) for line in lines[:3]]
    assert scores == sorted(scores)
    assert scores[-1] > 75
    signature = treegauge.Signature.parse(lines[3].split(": ", 1)[1])
    assert (signature.metric, signature.sentences) == ("parseval", len(own_treebank("dev")))


def test_a_failed_parse_counts_as_missed(example: ModuleType) -> None:
    dev = own_treebank("dev")[:3]
    result = example.validate(dev, [str(dev[0]), "", str(dev[2])])
    assert result.rates["recall"] < 1
    assert result.rates["precision"] == 1
