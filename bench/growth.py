"""Growth of time: of `score` with the number of sentences, their length and the vocabulary; of `compare` with systems and rounds.

python bench/growth.py [--data ../shared/data/outputs] [--sentences 1000000] [--figure docs/images/growth.svg] [--save]

CPU time of whole commands beyond that of starting, one run each, on files made by generated.py. Each size is doubled, or multiplied
by ten, and the exponent between neighbouring sizes is printed: 1 means linear growth.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from generated import FilePair, generate, source_files, vocabulary
from results import machine, save_section

from scoring import best, treegauge, whole_command

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data" / "outputs"
LENGTHS = (5, 10, 20, 40, 80)
SYSTEMS = (2, 3, 4, 6, 8)
ROUNDS = (1_000, 2_000, 4_000, 8_000, 16_000)
COMPARED = 2_400


class Curve(NamedTuple):
    """A named curve: seconds by size."""

    name: str
    size: str
    points: list[tuple[int, float]]

    def table(self) -> list[str]:
        lines = [f"| {self.size} | CPU seconds | exponent |", "|---:|---:|---:|"]
        for number, (size, seconds) in enumerate(self.points):
            exponent = ""
            if number and size > self.points[number - 1][0]:
                before, earlier = self.points[number - 1]
                exponent = f"{math.log(max(seconds, 1e-3) / max(earlier, 1e-3)) / math.log(size / before):.2f}"
            lines.append(f"| {size:,} | {seconds:.2f} | {exponent} |")
        return [f"{self.name}:", "", *lines, ""]


def seconds(start: float, *words: object) -> float:
    """The CPU time of a command beyond that of starting."""
    return whole_command(treegauge(*words)).cpu - start


def by_sentences(gold: Path, test: Path, most: int, folder: Path, start: float) -> Curve:
    points: list[tuple[int, float]] = []
    for size in sorted({most // 100, most // 30, most // 10, most // 3, most}):
        files = generate(gold, test, size, folder)
        points.append((size, seconds(start, "score", files.gold, files.test)))
        _remove(files)
    return Curve("`score`, by the number of sentences", "sentences", points)


def by_length(most: int, folder: Path, start: float) -> Curve:
    """The time by the length of sentences, in files of sentences that all have that length."""
    points: list[tuple[int, float]] = []
    for length in LENGTHS:
        paths = folder / f"gold.length{length}.mrg", folder / f"test.length{length}.mrg"
        for path, label in zip(paths, ("NP", "VP"), strict=True):
            line = "(S " + " ".join(f"({label} (DT the) (NN w{place}))" for place in range(length // 2)) + " (. .))\n"
            path.write_text(line * most)
        points.append((length, seconds(start, "score", *paths)))
        for path in paths:
            path.unlink()
    return Curve(f"`score` of {most:,} sentences, by their length", "words", points)


def by_vocabulary(gold: Path, test: Path, most: int, folder: Path, start: float) -> Curve:
    """The curve over the same trees with more and more of their words renamed."""
    points: list[tuple[int, float]] = []
    for renamed in (0.0, 0.1, 0.25, 0.5, 1.0):
        files = generate(gold, test, most, folder, renamed=renamed)
        points.append((vocabulary(files.gold), seconds(start, "score", files.gold, files.test)))
        _remove(files)
    return Curve(f"`score` of {most:,} sentences, by the number of different words", "words", points)


def by_systems(files: FilePair, start: float) -> Curve:
    points = [
        (n, seconds(start, "compare", files.gold, *(f"s{k}={files.test}" for k in range(n)), "-m", "parseval", "--rounds", 2_000))
        for n in SYSTEMS
    ]
    return Curve(f"`compare -m parseval --rounds 2000` of {COMPARED:,} sentences, by the number of systems", "systems", points)


def by_rounds(files: FilePair, start: float) -> Curve:
    points = [
        (n, seconds(start, "compare", files.gold, f"a={files.test}", f"b={files.gold}", "-m", "parseval", "--rounds", n))
        for n in ROUNDS
    ]
    return Curve(f"`compare -m parseval` of {COMPARED:,} sentences, by the number of rounds", "rounds", points)


def _remove(files: FilePair) -> None:
    for path in (files.gold, files.test):
        path.unlink()


def draw(curves: Sequence[Curve], path: Path) -> None:
    """All curves side by side, both axes logarithmic, beside a line of slope 1."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "treegauge"
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    figure, axes = plt.subplots(1, len(curves), figsize=(3.1 * len(curves), 3))
    for curve, of_curve in zip(curves, axes, strict=True):
        sizes, times = zip(*curve.points, strict=True)
        of_curve.loglog(sizes, times, "o-", markersize=3)
        of_curve.loglog(sizes, [times[-1] * size / sizes[-1] for size in sizes], ":", color="grey")
        of_curve.set_xticks(sizes, [_short(size) for size in sizes], fontsize=7)
        of_curve.xaxis.set_minor_locator(NullLocator())
        of_curve.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        of_curve.yaxis.set_minor_locator(NullLocator())
        of_curve.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        of_curve.tick_params(axis="y", labelsize=7)
        of_curve.set_xlabel(curve.size)
        what, _, by = curve.name.replace("`", "").rpartition(", by ")
        of_curve.set_title(f"{what}\nby {by}", fontsize=7)
        of_curve.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("CPU seconds")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def _short(size: int) -> str:
    """A size in a few characters: 333,333 is 333k."""
    return f"{size / 1e6:g}M" if size >= 1_000_000 else f"{size / 1000:.0f}k" if size >= 1000 else str(size)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=SHARED, help="folder with gum_dev.gold.mrg and gum_dev.berkeley-maxrule.mrg")
    parser.add_argument("--sentences", type=int, default=1_000_000, help="the most")
    parser.add_argument("--figure", type=Path, metavar="FILE.svg")
    parser.add_argument("--save", action="store_true", help="put the result into RESULTS.md")
    options = parser.parse_args()
    most = options.sentences
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        gold, test = source_files(options.data, folder)
        start = best({"start": lambda: whole_command(treegauge("score", "--list"))}, 3)["start"].cpu
        large = generate(gold, test, 50_000, folder)
        whole_command(treegauge("score", large.gold, large.test))  # compiles the kernels, unless they are there
        curves = [
            by_sentences(gold, test, most, folder, start),
            by_length(most // 20, folder, start),
            by_vocabulary(gold, test, most // 10, folder, start),
            by_systems(generate(gold, test, COMPARED, folder), start),
            by_rounds(generate(gold, test, COMPARED, folder), start),
        ]
    tables = [line for curve in curves for line in curve.table()]
    text = "\n".join([f"CPU time beyond the {start:.2f} s of starting.", "", *tables, machine()])
    print(text)
    if options.figure:
        draw(curves, options.figure)
    if options.save:
        save_section("Growth", text)


if __name__ == "__main__":
    main()
