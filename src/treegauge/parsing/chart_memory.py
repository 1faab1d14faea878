"""The memory that a chart of a long sentence needs, and the memory that there is."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from treegauge.errors import TooLong
from treegauge.grammar.pcfg import PCFG
from treegauge.parsing.chart import Tags
from treegauge.parsing.forest import Forest

LONG = 400
"""The length in words above which the memory for a chart is checked; shorter sentences fit on any machine."""
_PROBE = 200
"""The number of first words on which the size of a long sentence's chart is estimated."""
_CHARTS = 3
"""The peak memory in charts: a chart grows by copying, and its outside values take the same space."""
_SHARE = 0.5
"""The share of the available memory that one chart may take: other sentences and other programs need some too."""


def check_memory(grammar: PCFG, words: Sequence[str], tags: Tags | None, item_bytes: int = 0) -> None:
    """Refuse a sentence whose chart would take more than half of the available memory.

    The size of a chart grows with the square of the length; how large charts are under this grammar is measured on the sentence's
    first words. ``item_bytes`` is what the caller needs for each item of the chart besides.
    """
    if len(words) <= LONG:
        return
    probe = Forest(grammar, words[:_PROBE], tags=None if tags is None else tags[:_PROBE])
    columns = probe.viterbi.chart
    needed = (_CHARTS * sum(column.nbytes for column in columns) + item_bytes * len(columns.symbol)) * (len(words) / _PROBE) ** 2
    if needed > (available := available_memory()) * _SHARE:
        raise TooLong(
            f"a sentence of {len(words):,} words needs about {needed / 1e9:.1f} GB for its chart; "
            f"{available / 1e9:.1f} GB are available, of which it may take half"
        )


def available_memory() -> int:
    """The bytes that this process can still allocate: the system's free memory, or what a container or ``ulimit -v`` leaves."""
    bounds = [_free_memory()]
    used, most = (_read_number(Path(f"/sys/fs/cgroup/memory.{name}")) for name in ("current", "max"))
    if used is not None and most is not None:
        bounds.append(max(most - used, 0))
    bounds += _free_address_space()
    return min(bounds)


def _free_memory() -> int:
    """The bytes of free memory of the system, or an estimate."""
    try:
        for line in Path("/proc/meminfo").read_text("ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    except (OSError, ValueError):
        pass
    try:
        # On systems that do not report the free memory, half of all memory.
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, OSError, ValueError):
        return 4 << 30


def _read_number(path: Path) -> int | None:
    try:
        return int(path.read_text("ascii"))
    except (OSError, ValueError):
        return None


def _free_address_space() -> list[int]:
    """The bytes that ``ulimit -v`` still allows, if it is set."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        taken = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, OSError, ValueError, IndexError):
        return []
    return [] if limit == resource.RLIM_INFINITY else [max(limit - taken, 0)]
