"""What all tests share: where licensed data is looked for, how hard hypothesis tries, and a browser."""

from __future__ import annotations

import gc
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update"]
SHARED = Path(__file__).resolve().parents[2] / "shared"
SOURCES = Path(__file__).resolve().parents[1] / "src"

# Commands that tests start run these sources, as the tests do, and so share the kernels compiled from them; an installed copy would
# compile its own. (.ci/run tries the installed wheel.)
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(SOURCES), os.environ.get("PYTHONPATH")]))

# They also share its bytecode, as everywhere else: where Python is told to store none, each command compiles all that it imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A shell's background job ignores SIGINT, and nohup makes it ignore SIGHUP; so would the commands that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# The same examples in every run: a change is judged by the change. To look for new ones, HYPOTHESIS_PROFILE=thorough.
settings.register_profile(
    "default", deadline=None, max_examples=100, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("quick", parent=settings.get_profile("default"), max_examples=20)
settings.register_profile("thorough", parent=settings.get_profile("default"), max_examples=2000, derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_collection_finish() -> None:
    """Take the thousands of collected tests, and all that they import, out of the garbage collector's rounds: they stay anyway."""
    gc.collect()
    gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    if os.name != "posix" and item.get_closest_marker("posix") is not None:
        pytest.skip("needs pipes, shells, signals or links of POSIX")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of specifications and data beside the project, which is never part of it."""
    if not (SHARED / "data").is_dir():
        pytest.skip("no folder ../shared with the licensed treebanks beside the project")
    return SHARED


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser for the tests of one file; while it runs, nothing else in the process can run an event loop of its own."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        assert os.environ.get("TREEGAUGE_REQUIRE_BROWSER") != "1", "no Chromium"
        pytest.skip("no Chromium on this machine")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """The script of axe-core, which finds faults of pages for keyboards and screen readers; ``AXE_CORE`` names its file."""
    path = Path(os.environ.get("AXE_CORE", "node_modules/axe-core/axe.min.js"))
    if not path.is_file():
        assert os.environ.get("TREEGAUGE_REQUIRE_AXE") != "1", "no axe-core"
        pytest.skip("no axe-core: npm install axe-core, and AXE_CORE=node_modules/axe-core/axe.min.js")
    return path.read_text("utf-8")
