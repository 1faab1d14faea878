"""The memory that a chart will take, and the memory that there is."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from treegauge.errors import TooLong
from treegauge.grammar.pcfg import PCFG
from treegauge.parsing.chart import Tags
from treegauge.parsing.forest import Forest

__all__ = ["LONG", "check_memory", "memory_at_hand"]

LONG = 400
"""Words of a sentence from which on it is asked whether its chart fits: that of a shorter one does on any machine."""
_PROBE = 200
_CHARTS = 3
"""A chart grows by copying, and has an outside of the same size."""
_SHARE = 0.5
"""Of the memory at hand for one chart: other sentences, and other programs, need some too."""


def check_memory(grammar: PCFG, words: Sequence[str], tags: Tags | None) -> None:
    """Refuse a sentence whose chart would take more than half of the memory at hand.

    Charts grow with the square of the length. How large one is with this grammar is seen on the sentence's first words.
    """
    if len(words) <= LONG:
        return
    probe = Forest(grammar, words[:_PROBE], tags=None if tags is None else tags[:_PROBE])
    needed = _CHARTS * sum(column.nbytes for column in probe.viterbi.chart) * (len(words) / _PROBE) ** 2
    if needed > (at_hand := memory_at_hand()) * _SHARE:
        raise TooLong(
            f"a sentence of {len(words):,} words needs about {needed / 1e9:.1f} GB for its chart; "
            f"{at_hand / 1e9:.1f} GB are at hand, of which it may take half"
        )


def memory_at_hand() -> int:
    """The bytes that this process can still take: the system's, or what a container or ``ulimit -v`` leaves it."""
    bounds = [_system()]
    used, most = (_number(Path(f"/sys/fs/cgroup/memory.{name}")) for name in ("current", "max"))
    if used is not None and most is not None:
        bounds.append(max(most - used, 0))
    bounds += _address_space()
    return min(bounds)


def _system() -> int:
    try:
        for line in Path("/proc/meminfo").read_text("ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    except (OSError, ValueError):
        pass
    try:
        # Where nobody says what is free, half of what there is.
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, OSError, ValueError):
        return 4 << 30


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text("ascii"))
    except (OSError, ValueError):
        return None


def _address_space() -> list[int]:
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        taken = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, OSError, ValueError, IndexError):
        return []
    return [] if limit == resource.RLIM_INFINITY else [max(limit - taken, 0)]
