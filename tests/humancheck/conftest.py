"""Lets the tests of this folder import its helper modules, and gives them a small check and a store."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from humancheck_helpers import small_check

from treegauge.humancheck.questions import Check
from treegauge.humancheck.store import Store


@pytest.fixture(scope="session")
def check() -> Check:
    """Two careless parsers on 40 sentences of our own treebank."""
    return small_check()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "judgements.sqlite") as opened:
        yield opened
