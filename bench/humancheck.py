"""The speed at which the human check stores judgements.

    python bench/humancheck.py [--save]   ten annotators, 1,000 judgements each, in SQLite and PostgreSQL
    python bench/humancheck.py --annotators 30 --minutes 2 --pause 1   people who look at each question for a second

The server is ``treegauge check`` in a process of its own; every annotator is a connection that sends its next answer as soon as the
one before was acknowledged, which is some hundred times faster than people judge. An answer is acknowledged when it is on the disk.
With a pause, each also fetches its questions, as the page does. In the end every acknowledged answer must be in the store, once.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import secrets
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from results import machine, save_section

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "humancheck"))
from humancheck_postgres import NoServer, postgresql_server

from treegauge import io
from treegauge.data import own_treebank
from treegauge.humancheck.store import Store
from treegauge.trees import Tree, Treebank
from treegauge.trees.tree import Child, rebuild


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--annotators", type=int, default=10)
    parser.add_argument("--judgements", type=int, default=1000)
    parser.add_argument("--minutes", type=float, default=0, help="judge for so long, instead of a number of judgements")
    parser.add_argument("--pause", type=float, default=0, help="seconds between answers")
    parser.add_argument("--save", action="store_true", help="write the section of RESULTS.md")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        text = measure_stores(Path(folder), options)
        print(text)
        if options.save:
            save_section("Human check", text)


def measure_stores(folder: Path, options: argparse.Namespace) -> str:
    """The times of answers with each kind of store, and the time of a bare sync of the same disk."""
    gold = own_treebank()
    io.write(gold, folder / "gold.mrg")
    io.write(flat(gold), folder / "flat.mrg")
    names = [f"annotator{number}" for number in range(options.annotators)]
    rows = [row("SQLite", measure(folder, f"{folder}/j.sqlite", names, options))]
    try:
        with postgresql_server() as location:
            rows.append(row("PostgreSQL", measure(folder, location, names, options)))
    except NoServer as reason:
        rows.append(f"| PostgreSQL | {reason} | | | | | |")
    long = (
        f"{options.minutes:g} minutes, {options.pause:g} s between answers"
        if options.minutes
        else f"{options.judgements:,} judgements each"
    )
    return "\n".join(
        [
            f"{options.annotators} annotators at once, {long}, all on the disk before they are acknowledged; "
            f"how long an answer takes. A bare write and sync of 4 KiB on this disk: {1000 * sync_time(folder):.1f} ms.",
            "",
            "| store | judgements | a second | median | 95% | 99% | longest |",
            "|---|--:|--:|--:|--:|--:|--:|",
            *rows,
            "",
            machine(),
        ]
    )


def row(database: str, taken: tuple[list[float], float]) -> str:
    """A row of the table, from the seconds of each answer and of all together."""
    seconds, whole = sorted(taken[0]), taken[1]
    shown = (f"{1000 * seconds[min(int(q * len(seconds)), len(seconds) - 1)]:.1f} ms" for q in (0.5, 0.95, 0.99, 1.0))
    return f"| {database} | {len(seconds):,} | {len(seconds) / whole:.0f} | {' | '.join(shown)} |"


def measure(folder: Path, store: str, names: Sequence[str], options: argparse.Namespace) -> tuple[list[float], float]:
    """The seconds of each answer, and of all together."""
    with server([folder / "gold.mrg", folder / "flat.mrg"], store, names, "--exact") as links:
        people = [Annotator(links[name], options.judgements, 60 * options.minutes, options.pause) for name in names]
        begin = time.perf_counter()
        for person in people:
            person.start()
        for person in people:
            person.join()
        whole = time.perf_counter() - begin
    with Store(store) as stored:
        assert sorted(one.id for one in stored.since(0)) == sorted(name for person in people for name in person.acknowledged)
    return [second for person in people for second in person.seconds], whole


def flat(trees: Treebank) -> Treebank:
    """The output of a parser that groups the last children of a node, with enough brackets of every kind to ask about."""

    def make(node: Tree, children: list[Child]) -> list[Child]:
        if len(children) > 2:
            children = [*children[:-2], Tree("X", children[-2:])]
        return [node.replace(children=children)]

    return Treebank.from_trees(rebuild(tree, make) or tree for tree in trees)


@contextmanager
def server(files: Sequence[Path], store: str, names: Sequence[str], *options: str) -> Iterator[dict[str, str]]:
    """``treegauge check`` in a process of its own, and the link of each annotator."""
    people = [word for name in names for word in ("--annotator", name)]
    command = [sys.executable, "-m", "treegauge", "check", *map(str, files), "--store", store, "--port", "0", "--no-open"]
    with subprocess.Popen([*command, *people, *options], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline().strip() for _ in range(len(names) + (len(names) > 1))]
        try:
            yield dict(line.split(": ", 1) for line in lines) if len(names) > 1 else {names[0]: lines[0]}
        finally:
            process.terminate()
            process.wait(60)


class Annotator(threading.Thread):
    """A simulated annotator, who answers some questions, or for some seconds, with a pause before each answer."""

    def __init__(self, link: str, n_judgements: int, seconds: float = 0, pause: float = 0) -> None:
        super().__init__()
        self.link, self.n_judgements, self.pause = urlsplit(link), n_judgements, pause
        self.until = time.perf_counter() + seconds if seconds else 0.0
        self.seconds: list[float] = []
        self.acknowledged: list[str] = []

    def run(self) -> None:
        connection = http.client.HTTPConnection(self.link.hostname or "", self.link.port)
        connection.request("GET", self.link.path)
        page = connection.getresponse().read().decode()
        key = page.split('data-key="', 1)[1].split('"', 1)[0]
        while key and (time.perf_counter() < self.until if self.until else len(self.acknowledged) < self.n_judgements):
            if self.pause:
                time.sleep(self.pause)
                connection.request("GET", f"{self.link.path}question/{key}", headers={"Accept-Encoding": "gzip"})
                connection.getresponse().read()
            name = secrets.token_hex(16)
            body = json.dumps({"id": name, "question": key, "verdict": "accepted"})
            begin = time.perf_counter()
            connection.request("POST", self.link.path + "judge", body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            key = json.loads(answer.read())["next"]
            self.seconds.append(time.perf_counter() - begin)
            assert answer.status == 200
            self.acknowledged.append(name)
        connection.close()


def sync_time(folder: Path) -> float:
    """The median time of a write and a sync."""
    times: list[float] = []
    with open(folder / "sync", "wb") as file:
        for _ in range(50):
            begin = time.perf_counter()
            file.write(b"x" * 4096)
            file.flush()
            os.fsync(file.fileno())
            times.append(time.perf_counter() - begin)
    return statistics.median(times)


if __name__ == "__main__":
    main()
