"""What can be seen on one system of how treegauge fares on others: without POSIX, with spawned workers, in plain ASCII."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TREES = "(S (NP (DT the) (NN caf\u00e9)) (VP (VBD fell)))\n"
WITHOUT_POSIX = """\
import importlib, os, pkgutil, signal, sys
import treegauge

def every_module():
    for module in pkgutil.walk_packages(treegauge.__path__, "treegauge."):
        if not module.name.endswith("__main__"):
            try:
                importlib.import_module(module.name)
            except ImportError as error:
                assert (error.name or "").partition(".")[0] not in POSIX | {"treegauge"}, error

POSIX = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"}
every_module()  # so that other packages are loaded, as they would be in their versions for Windows
for name in [name for name in sys.modules if name.partition(".")[0] == "treegauge" and not name.startswith("treegauge.neural.")]:
    del sys.modules[name]
for name in POSIX:
    sys.modules[name] = None
for name in ("fork", "getuid", "geteuid", "killpg", "mkfifo", "getppid", "sysconf", "O_NOFOLLOW", "sched_getaffinity", "setsid"):
    if hasattr(os, name):
        delattr(os, name)
for name in ("SIGHUP", "SIGKILL", "SIGALRM", "pthread_kill"):
    delattr(signal, name)
every_module()

from treegauge.cli import main, parse
from treegauge.engines import workers

def spawned(n, folder=None, *, copies=False, start=workers._executor):
    print("workers were started", file=sys.stderr)
    return start(n, folder)

if __name__ == "__main__":
    parse.MANY, workers._executor = 30, spawned
    for line in sys.stdin.read().splitlines():
        try:
            main(line.split())
        except SystemExit as end:
            assert not end.code, (line, end.code)
"""


def test_nothing_of_posix_is_needed(tmp_path: Path) -> None:
    """Every module is imported, and commands run, where the modules, functions and signals that only POSIX has are missing."""
    pytest.importorskip("numba", reason="kernels need the extra [parse]")
    (tmp_path / "program.py").write_text(WITHOUT_POSIX, "utf-8")
    (tmp_path / "gold.mrg").write_text(TREES * 3, "utf-8")
    (tmp_path / "g.txt").write_text('S -> S S [.5] | "a" [.5]\n')
    (tmp_path / "s.txt").write_text("a a\n" * 40)
    (tmp_path / "judgements.jsonl").write_text("")
    lines = [
        "score gold.mrg gold.mrg -q",
        "parse g.txt s.txt -o by-engine.mrg --engine local:2",
        "evalb gold.mrg gold.mrg",
        "convert gold.mrg -o gold.export",
        "compare gold.mrg a=gold.mrg b=gold.export --rounds 20",
        "check --import judgements.jsonl",
        "parse g.txt s.txt -o parsed.mrg --jobs 2",
    ]
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, input="\n".join(lines), capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("workers were started") == 2, done.stderr
    assert (tmp_path / "parsed.mrg").read_text() == "(S (S a) (S a))\n" * 40
    assert (tmp_path / "gold.export").read_text("utf-8").count("caf\u00e9") == 3


def test_text_files_name_their_encoding() -> None:
    """Without ``encoding=``, Windows would read and write its own."""
    calls = re.compile(r"\.(?:read_text|write_text)\(\)|(?<![\w.])(?<!def )open\([^()]*(?:\([^()]*\))*[^()]*\)|\.open\(\"[rwa]\"\)")
    for path in (ROOT / "src").rglob("*.py"):
        for call in calls.findall(path.read_text("utf-8")):
            assert re.search(r"encoding=|\"[rwax+]*b[rwax+]*\"|os\.O_", call), f"{path}: {call}"


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a clone")
def test_file_names_are_names_on_every_system() -> None:
    """No two differ in case only, and none has a character or a name that Windows reserves."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, encoding="utf-8").stdout
    names = listed.rstrip("\0").split("\0")
    assert len({name.casefold() for name in names}) == len(names)
    reserved = re.compile(r'[<>:"|?*\\]|(?:^|/)(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|/|$)|[ .](?:/|$)', re.IGNORECASE)
    assert not [name for name in names if reserved.search(name)]


@pytest.mark.parametrize("line", ["score gold.mrg caf\u00e9.mrg -q", "validate caf\u00e9.mrg", "explain parseval", "help score"])
def test_text_is_printed_in_plain_ascii_where_that_is_all_there_is(tmp_path: Path, line: str) -> None:
    for name in ("gold.mrg", "caf\u00e9.mrg"):
        (tmp_path / name).write_text(TREES, "utf-8")
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        [sys.executable, "-m", "treegauge", *map(os.fsencode, line.split())],
        cwd=tmp_path, env=environment, capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done
    assert done.stdout.isascii()


def test_trees_keep_their_bytes_in_plain_ascii(tmp_path: Path) -> None:
    (tmp_path / "gold.mrg").write_text(TREES, "utf-8")
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable, "-m", "treegauge", "convert", "gold.mrg"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=True)
    assert done.stdout.decode("utf-8") == TREES
