"""``python -m treegauge``: the command ``treegauge``."""

from __future__ import annotations

from treegauge.cli import main

main()
