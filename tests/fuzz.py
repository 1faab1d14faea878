"""Mutated inputs for all readers: treebanks in every format and style, plain or compressed, and all files of our own.

``python tests/fuzz.py 200000 --seed 1`` tries that many, in this process, and prints how many of each kind were tried, each failure
with its input, and the seed that repeats it. A failure is an exception that is not ours, or readers that do not agree.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER.parent), str(FOLDER.parent / "src"), str(FOLDER / "helpers"), str(FOLDER / "cases")]

SHARES = {"treebanks": 50, "treebanks in their styles": 15, "files of our own": 25, "compiled scanner": 10}
"""How many of 100 inputs are of each kind."""
THOROUGH = 0.2
"""The share of treebanks that are read in all ways, which must agree, and written and read again; the others are read once."""


def kinds_of_input(folder: Path) -> dict[str, Callable[[random.Random], object]]:
    from tests import test_fuzz_files
    from tests.io import test_fuzz, test_scanning

    (folder / "kinds").mkdir()
    kinds = test_fuzz_files.kinds_in(folder / "kinds")
    tries = (
        lambda generator: test_fuzz.try_mutated_file(generator, THOROUGH),
        lambda generator: test_fuzz.try_styled_file(generator, THOROUGH),
        lambda generator: test_fuzz_files.is_refused(generator, kinds, folder),
        test_scanning.try_text,
    )
    return dict(zip(SHARES, tries, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, help="number of inputs")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    order = [name for name, share in SHARES.items() for _ in range(share)]
    tried, failures = Counter[str](), 0
    with tempfile.TemporaryDirectory(prefix="treegauge-fuzz-") as folder:
        tries = kinds_of_input(Path(folder))
        for number in range(given.count):
            name = order[number % len(order)]
            seed = f"{given.seed} {name} {number}"
            try:
                tries[name](random.Random(seed))
            except Exception:
                failures += 1
                print(f"random.Random({seed!r}):\n{traceback.format_exc()}", flush=True)
            tried[name] += 1
            if (number + 1) % 10_000 == 0 or number + 1 == given.count:
                counts = ", ".join(f"{count:,} {name}" for name, count in tried.items())
                print(f"{counts}: {failures} failures, {time.process_time():.0f} s of processor time", flush=True)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
