"""Helpers of the benchmarks: peak memory, and the sections of RESULTS.md, each replaced by its benchmark with ``--save``."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from pathlib import Path

# Packages that pip installs come with bytecode, so commands are measured with it, even if Python is told to write none.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

RESULTS = Path(__file__).parent / "RESULTS.md"
_INTRODUCTION = """# Benchmark results

Each section is the last output of one script in this folder, written by it with `--save`. Times depend on the machine and on what
else it does; the ratios to a peer measured in the same run are what to look at.
"""


PEAK = """
import resource, sys
from treegauge.cli import main
try:
    main(sys.argv[2:])
except SystemExit as end:
    assert (end.code or 0) == int(sys.argv[1]), end.code
with open("/proc/self/status") as status:
    own = int(next(line.split()[1] for line in status if line.startswith("VmHWM")))
print(own + resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
"""
"""A program that runs a command, whose exit code is its first argument, and prints the most memory it ever held, in KiB, as the
last word on stderr; the most that one of its child processes held, if it had any, is added."""


def peak_memory(*words: object, stdin: Path | None = None, code: int = 0) -> int:
    """The peak memory of a command, in bytes; ``code`` is the exit code that it is to have."""
    with open(stdin or os.devnull, "rb") as stream:
        command = [sys.executable, "-c", PEAK, str(code), *map(str, words)]
        done = subprocess.run(command, check=True, stdin=stream, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return 1024 * int(done.stderr.split()[-1])


def machine() -> str:
    """The machine a result was measured on, in a line."""
    load = os.getloadavg()[0]
    return f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores, load {load:.1f} at the end"


def save_section(title: str, text: str) -> None:
    """Replace the section of that title, or append it."""
    known = RESULTS.read_text("utf-8") if RESULTS.is_file() else _INTRODUCTION
    section = f"## {title}\n\n{text.strip()}\n"
    pattern = re.compile(rf"^## {re.escape(title)}\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
    if pattern.search(known):
        changed = pattern.sub(lambda _: section + "\n", known)
    else:
        changed = f"{known.rstrip()}\n\n{section}"
    RESULTS.write_text(changed.rstrip() + "\n", "utf-8")
