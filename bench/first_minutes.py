"""The first minutes of a new user: install into an empty environment, take the tour, which ends with the first scores, write the
example files, and score a parser.

python bench/first_minutes.py [--save]

Packages come from the index that pip is set up for, without pip's cache, so the time depends on the network as much as on the
machine. The sizes are those of the wheel, of the package as installed, and of the whole environment with its dependencies.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from results import machine, save_section

ROOT = Path(__file__).resolve().parents[1]
MEGABYTE = 1 << 20


def seconds(*words: object, folder: Path) -> float:
    """The wall-clock time of a command."""
    began = time.monotonic()
    subprocess.run([str(word) for word in words], cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - began


def size(folder: Path) -> int:
    """The bytes of all files below a folder."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def measure(folder: Path) -> str:
    """Run the commands of the README in a fresh environment, and return their times and the sizes."""
    environment, place = folder / "environment", folder / "place"
    place.mkdir()
    steps = {"python -m venv": seconds(sys.executable, "-m", "venv", environment, folder=folder)}
    python, treegauge = environment / "bin" / "python", environment / "bin" / "treegauge"
    empty = size(environment)
    steps["pip install '.[parse]'"] = seconds(python, "-m", "pip", "install", "--no-cache-dir", f"{ROOT}[parse]", folder=folder)
    steps["treegauge demo"] = seconds(treegauge, "demo", folder=place)
    first = sum(steps.values())
    steps["treegauge demo, again"] = seconds(treegauge, "demo", folder=place)
    steps["treegauge examples"] = seconds(treegauge, "examples", folder=place)
    steps["treegauge score gold.mrg A.mrg"] = seconds(treegauge, "score", "gold.mrg", "A.mrg", folder=place)
    steps["treegauge compare gold.mrg A.mrg B.mrg"] = seconds(treegauge, "compare", "gold.mrg", "A.mrg", "B.mrg", folder=place)
    seconds(python, "-m", "pip", "wheel", "--no-deps", "-w", folder / "wheels", ROOT, folder=folder)
    (wheel,) = (folder / "wheels").glob("treegauge-*.whl")
    (installed,) = environment.glob("lib/python*/site-packages/treegauge")
    sizes = {"wheel": wheel.stat().st_size, "package as installed": size(installed), "all packages": size(environment) - empty}
    plain = folder / "plain"
    seconds(sys.executable, "-m", "venv", plain, folder=folder)
    seconds(plain / "bin" / "python", "-m", "pip", "install", "--no-cache-dir", ROOT, folder=folder)
    sizes["all packages of `pip install .`"] = size(plain) - empty
    lines = ["| step | seconds |", "|---|---|", *(f"| `{step}` | {taken:.1f} |" for step, taken in steps.items())]
    lines += [
        "",
        f"From the first command to the first scores, at the end of the tour: {first:.0f} seconds.",
        "",
        "| what | megabytes |",
        "|---|---|",
    ]
    return "\n".join([*lines, *(f"| {what} | {count / MEGABYTE:.1f} |" for what, count in sizes.items())])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--save", action="store_true", help="Write the section of RESULTS.md.")
    save = parser.parse_args().save
    with tempfile.TemporaryDirectory() as folder:
        text = f"{measure(Path(folder))}\n\n`python bench/first_minutes.py --save`; {machine()}."
    print(text)
    if save:
        save_section("The first minutes", text)


if __name__ == "__main__":
    main()
