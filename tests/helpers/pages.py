"""The pages that users read: the commands in them, and what these print in a folder that ``treegauge examples`` filled."""

from __future__ import annotations

import os
import re
import shlex
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from processes import running_process

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(sh|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
MASKS = ((re.compile(r"\b\d+\.\d+ s\b"), "N s"), (re.compile(r"version:[\w.]+"), "version:V"))
CUT = "..."
"""The last line of an output that goes on."""
NEWCOMERS = ("README.md", "docs/tutorial.md", *(f"docs/howto/{name}.md" for name in ("paper", "treebanks", "language-models")))
NEWCOMERS += ("docs/howto/induction.md", "docs/howto/teach.md", "docs/howto/parse-text.md")
"""The pages that newcomers follow from the first line to the last: see ``tests/newcomers``."""
FOLLOWED = (
    "docs/index.md",
    "docs/check.md",
    *(f"docs/howto/{name}.md" for name in ("run-a-check", "train", "train-a-network", "mix", "learn", "reproduce")),
)
"""Others that are followed from the first line to the last, with all extras: see ``tests/docs/test_followed.py``."""
LINE_BY_LINE = (
    *(f"docs/howto/{name}.md" for name in ("score", "report", "parse-for-a-metric", "languages", "words-differ", "confidence")),
    *(f"docs/howto/{name}.md" for name in ("decode-neural-charts", "grammars", "discontinuous", "chinese")),
    "docs/reference/presets.md",
)
"""Pages that name files of the reader's own; ``tests/docs/test_docs.py`` makes such files, and runs each line."""
OF_THEIR_OWN = {
    "docs/howto/cluster.md": "tests/engines/test_page.py",
    "docs/compare.md": "tests/docs/test_shown_output.py",
    "docs/reference/examples.md": "tests/docs/test_option_examples.py",
    "docs/architecture.md": "tests/docs/test_recipes.py",
}
"""Pages with a test of their own, which runs all their commands."""
_INSTALLED = "downloads packages: .ci/run installs treegauge with its extras, and then runs the tests"
NOT_RUN = {"pip install '.[test]'": _INSTALLED, "pip install 'treegauge[": _INSTALLED}
"""Beginnings of commands that no test runs, with the reason."""


class Command(NamedTuple):
    """A line of shell in a page, and the lines shown below it; none in a block ``sh``.

    A block ``sh`` whose lines depend on each other, by a variable or a program in the background, is one command.
    """

    line: str
    shown: list[str]


class Done(NamedTuple):
    """The exit code of a command, its standard output and its standard error."""

    code: int
    output: str
    errors: str

    @property
    def lines(self) -> list[str]:
        """Standard output, then standard error; what is said once, when kernels are compiled, is left out."""
        lines = (self.output + self.errors).splitlines()
        return [line.rstrip() for line in lines if not re.search("compiling the kernels of|compiling the parser", line)]


def commands(page: Path) -> Iterator[Command]:
    """The commands of a page in their order."""
    for kind, block in BLOCK.findall(page.read_text("utf-8")):
        if kind == "sh" and re.search(r"^\w+=|&$", block, re.MULTILINE):
            yield Command(block, [])
        elif kind == "sh":
            yield from (Command(line, []) for line in block.replace("\\\n", " ").splitlines() if line.strip())
        else:
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                line, *shown = part.splitlines()
                yield Command(line, shown)


def is_run(line: str) -> bool:
    """Whether the tests run a command of a page."""
    return not line.startswith(tuple(NOT_RUN))


EXTRAS = ("matplotlib", "starlette", "uvicorn", "sqlalchemy", "alembic", "psycopg", "dask", "distributed", "torch")
"""Packages that come with an extra only."""


def environment(folder: Path) -> dict[str, str]:
    """The variables of a user's terminal of 80 columns, with ``treegauge`` among the programs and no browser to open."""
    program = folder / "bin" / "treegauge"
    if not program.exists():
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m treegauge "$@"\n', "utf-8")
        program.chmod(0o755)
        hidden = f"import sys\nsys.modules.update(dict.fromkeys({EXTRAS}))\n"
        (program.parent / "sitecustomize.py").write_text(hidden, "utf-8")
    paths = os.pathsep.join([str(program.parent), str(Path(sys.executable).parent), os.environ["PATH"]])
    return dict(os.environ, COLUMNS="80", NO_COLOR="1", PYTHONUTF8="1", PATH=paths, BROWSER="true")


def run(line: str, folder: Path, *, extras: bool = True) -> Done:
    """Run a line of shell as a user does, and end what it leaves running; without ``extras``, after a plain ``pip install .``."""
    variables = environment(folder)
    if not extras:
        variables["PYTHONPATH"] = os.pathsep.join([str(folder / "bin"), *filter(None, [os.environ.get("PYTHONPATH")])])
    script = f"trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT\n{line}" if re.search("&$", line, re.MULTILINE) else line
    done = subprocess.run(["bash", "-c", script], cwd=folder, env=variables, capture_output=True, encoding="utf-8")
    return Done(done.returncode, done.stdout, done.stderr)


TASKS = ("results", "agreement", "audit", "export", "import", "corrected", "patch", "revoke")
"""Options with which ``treegauge check`` ends by itself."""


def serves(line: str) -> bool:
    """Whether a command serves a page until its user stops it."""
    return line.startswith("treegauge check ") and not any(f" --{task}" in line for task in TASKS)


def serve(line: str, folder: Path) -> Done:
    """Run a command that serves a page, on any free port; open every link that it prints, and press Ctrl-C."""
    words = shlex.split(re.sub(r" --port \d+", "", line), comments=True)
    command = [sys.executable, "-m", "treegauge", *words[1:], "--port", "0"]
    printed = folder / "served.txt"
    options = {"cwd": folder, "env": environment(folder), "stderr": subprocess.PIPE, "encoding": "utf-8"}
    with printed.open("w", encoding="utf-8") as output, running_process(command, stdout=output, **options) as page:
        assert page.stderr is not None
        errors = ""
        while "Stop with Ctrl-C." not in errors:
            said = page.stderr.readline()
            assert said, f"{line}\n{errors}"
            errors += said
        links = re.findall(r"https?://\S+", printed.read_text("utf-8"))
        assert links, line
        for link in links:
            assert "<html" in fetch(link), link
        page.send_signal(signal.SIGINT)
        rest = page.communicate(timeout=60)[1]
    return Done(page.returncode, printed.read_text("utf-8"), errors + rest)


def fetch(link: str) -> str:
    """The page at a link to a server on this machine, under whatever name the link reaches it; its certificate is nobody's."""
    parts = urlsplit(link)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    here = parts._replace(netloc=f"127.0.0.1:{parts.port}").geturl()
    with urlopen(Request(here, headers={"Host": parts.netloc}), context=context, timeout=60) as answer:
        return answer.read().decode("utf-8")


def interrupt(line: str, folder: Path) -> Done:
    """Run a command, and press Ctrl-C as soon as it has stored something from which ``--resume`` can continue."""
    words = shlex.split(line, comments=True)
    before = stored(folder)
    command = [sys.executable, "-m", "treegauge", *words[1:]]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "encoding": "utf-8"}
    with running_process(command, cwd=folder, env=environment(folder), **pipes) as process:
        while process.poll() is None and stored(folder).items() <= before.items():
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    return Done(process.returncode, output, errors)


def stored(folder: Path) -> dict[Path, int]:
    """The finished checkpoints in a folder, and the pieces of experiments, with the times at which they were written."""
    found: dict[Path, int] = {}
    for path in folder.rglob("*"):
        if re.search("checkpoint|pieces|work/", path.relative_to(folder).as_posix()) and ".part." not in path.name:
            with suppress(FileNotFoundError):
                found[path] = path.stat().st_mtime_ns if path.is_file() else 0
    return {path: written for path, written in found.items() if written}


MADE = re.compile(r"(?:-o|(?<!-)>|--figure|--svg|--output) (\S+)")


def follow(page: str, folder: Path, codes: Mapping[str, int] | None = None, *, extras: bool = False) -> dict[str, Done]:
    """Run the commands of a page, compare what they print with what it shows, and look at the files that they say they write.

    ``codes`` are the exit codes that the page announces, by a part of the command; all others must be 0. A command that the next
    one resumes is interrupted first.
    """
    text, found = (ROOT / page).read_text("utf-8"), dict[str, Done]()
    assert all(f"exit code is {code}" in text or f"exit code {code}" in text for code in (codes or {}).values())
    assert (folder / "gold.mrg").exists() or run("treegauge examples", folder).code == 0
    lines = [command for command in commands(ROOT / page) if is_run(command.line)]
    for number, (line, shown) in enumerate(lines):
        command = line.removeprefix("pip install '.[parse]' && ")
        if command.startswith("treegauge examples"):
            continue
        if "--resume" in line and "--resume" not in lines[number - 1].line:
            assert interrupt(line.replace(" --resume", ""), folder).code == 130, line
        done = found[line] = serve(line, folder) if serves(line) else run(command, folder, extras=extras)
        expected = next((code for part, code in (codes or {}).items() if part in line and "|" not in line), 0)
        assert done.code == expected, f"{line}\n{done.output}{done.errors}"
        assert not (printed := differs(shown, done)), f"{line}\n{printed}"
        for name in () if "--part " in line else MADE.findall(line.partition(" #")[0]):
            assert name in ("-", "/dev/null", "&1") or "$" in name or (folder / name.strip("';")).stat().st_size, f"{line}: {name}"
    assert found, page
    return found


def masked(line: str) -> str:
    """The line without times and versions."""
    for pattern, word in MASKS:
        line = pattern.sub(word, line)
    return line.rstrip()


def differs(shown: list[str], done: Done) -> str:
    """What a command printed, if that is not what a page shows; else nothing."""
    expected, found = [masked(line) for line in shown], [masked(line) for line in done.lines]
    if expected and expected[-1] == CUT:
        expected, found = expected[:-1], found[: len(expected) - 1]
    return "" if not shown or expected == found else "\n".join(done.lines)
