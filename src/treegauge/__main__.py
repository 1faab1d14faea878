"""``python -m treegauge`` is the command ``treegauge``."""

from treegauge.cli import main

main()
