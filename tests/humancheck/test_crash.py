"""Servers that die and annotators that crowd: no acknowledged judgement is lost, none is there twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from humancheck_load import KILLS, crowd, kill_again_and_again

pytestmark = pytest.mark.slow


@pytest.mark.slow
def test_killing_the_server_again_and_again_loses_and_doubles_nothing(tmp_path: Path) -> None:
    kill_again_and_again(str(tmp_path / "j.sqlite"), KILLS, tmp_path)


@pytest.mark.slow
def test_ten_annotators_at_once(tmp_path: Path) -> None:
    crowd(str(tmp_path / "j.sqlite"))
