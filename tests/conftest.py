"""What all tests share: where licensed data is looked for, and how hard hypothesis tries."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

SHARED = Path(__file__).resolve().parents[2] / "shared"

# The same examples every time, so that the same source gives the same answer; "thorough" looks for new ones.
settings.register_profile(
    "default", deadline=None, max_examples=100, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("quick", parent=settings.get_profile("default"), max_examples=20)
settings.register_profile("thorough", parent=settings.get_profile("default"), max_examples=2000, derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of specifications and data beside the project, which is never part of it."""
    if not (SHARED / "data").is_dir():
        pytest.skip("no folder ../shared with the licensed treebanks beside the project")
    return SHARED
