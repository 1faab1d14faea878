"""Whatever a command is given: a message, the documented exit code, no traceback, and no file lost."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from processes import running_process

from treegauge.cli import main

TREES = "(S (NP (DT the) (NN rain)) (VP (VBD fell)))\n(S (NP (NNS dogs)) (VP (VBP bark) (ADVP (RB loudly))))\n"
CHUNKS = "the DT B-NP\nrain NN I-NP\nfell VBD B-VP\n\ndogs NNS B-NP\nbark VBP B-VP\n"
GRAMMAR = "S -> NP VP [1.0]\nNP -> 'dogs' [1.0]\nVP -> 'bark' [1.0]\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "gold.mrg").write_text(TREES)
    (tmp_path / "test.mrg").write_text(TREES.replace("ADVP", "PP"))
    (tmp_path / "chunks.txt").write_text(CHUNKS)
    (tmp_path / "grammar.txt").write_text(GRAMMAR)
    (tmp_path / "sentences.txt").write_text("dogs bark\n")
    (tmp_path / "empty.mrg").touch()
    (tmp_path / "latin.mrg").write_bytes(TREES.replace("rain", "małe").encode("latin2"))
    (tmp_path / "junk.mrg").write_bytes(bytes(range(256)))
    (tmp_path / "unclosed.mrg").write_text("(" * 100_000)
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(line: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The exit code and the message of a command."""
    with pytest.raises(SystemExit) as left:
        main(line.split())
    code = left.value.code
    message = capsys.readouterr().err
    assert "Traceback" not in message
    assert "internal error" not in message
    return code if isinstance(code, int) else 0, message


READERS = (
    "score {} test.mrg", "score gold.mrg {}", "score {} {} --stream", "freval {} test.mrg", "freval gold.mrg {}",
    "compare {} gold.mrg test.mrg", "compare gold.mrg {} test.mrg", "report {} test.mrg", "report gold.mrg {}",
    "diff {} test.mrg", "diff gold.mrg {}", "induce {} -o x.model", "chunks score {} chunks.txt", "chunks train {} -o x.model",
    "parse {} sentences.txt", "posteriors {} sentences.txt", "explain-difference {} {}",
)  # fmt: skip
BROKEN_PARSES = (
    "score gold.mrg {}",
    "freval gold.mrg {}",
    "compare gold.mrg {} test.mrg",
    "report gold.mrg {}",
    "diff gold.mrg {}",
)
TREE_READERS = ("validate {}", "convert {}", "normalise {} --steps traces", "learn {} -o x.model")


@pytest.mark.parametrize("line", [*READERS, *TREE_READERS])
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("no-such-file.mrg", ("no such file", "No such file", "no file")),
        ("junk.mrg", ("junk.mrg:",)),
        ("latin.mrg", ("latin.mrg:",)),
        ("unclosed.mrg", ("unclosed.mrg",)),
        ("folder", ("folder",)),
    ],
)
def test_what_cannot_be_read_is_named(
    line: str, given: str, words: tuple[str, ...], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(line.replace("{}", given).split())
    captured = capsys.readouterr()
    said = captured.out + captured.err
    is_broken_parse = line in BROKEN_PARSES and given in ("latin.mrg", "unclosed.mrg")
    assert left.value.code == (4 if is_broken_parse else 3)
    assert any(word in said for word in words), said
    assert "internal error" not in said
    assert not (folder / "x.model").exists()


@pytest.mark.parametrize("line", [line for line in READERS if not line.startswith(("induce", "parse", "posteriors", "explain"))])
def test_a_file_without_trees_is_not_scored(line: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, message = run(line.replace("{}", "empty.mrg"), capsys)
    assert code == 3
    assert "empty.mrg: no" in message
    assert not (folder / "report.html").exists()


@pytest.mark.parametrize(
    ("line", "output"),
    [
        ("report gold.mrg test.mrg --rounds 10 -o {}", "gold.mrg"),
        ("report gold.mrg test.mrg --rounds 10 -o {}", "test.mrg"),
        ("report gold.mrg mine=test.mrg --rounds 10 -o {}", "test.mrg"),
        ("diff gold.mrg test.mrg -o {}", "test.mrg"),
        ("induce gold.mrg -o {}", "gold.mrg"),
        ("induce . -o {}", "gold.mrg"),
        ("induce gold.mrg -o {}", "link.mrg"),
        ("learn gold.mrg --iterations 1 --nonterminals 2 -o {}", "gold.mrg"),
        ("learn gold.mrg --iterations 1 --nonterminals 2 -o x.model --checkpoint {}", "gold.mrg"),
        ("parse grammar.txt sentences.txt -o {}", "sentences.txt"),
        ("parse grammar.txt sentences.txt -o {}", "grammar.txt"),
        ("posteriors grammar.txt sentences.txt --svg {}", "sentences.txt"),
        ("chunks train chunks.txt -o {}", "chunks.txt"),
    ],
)
@pytest.mark.posix
def test_an_input_is_not_written_over(line: str, output: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "link.mrg").symlink_to("gold.mrg")
    for name in ("empty", "latin", "junk", "unclosed"):
        (folder / f"{name}.mrg").unlink()
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    code, message = run(line.replace("{}", output), capsys)
    assert code == 2
    assert "would be overwritten" in message
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


@pytest.mark.parametrize("line", ["convert gold.mrg -o gold.mrg", "convert gold.mrg -o gold.mrg --stream"])
def test_trees_are_not_translated_in_place(line: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, message = run(line, capsys)
    assert code == 2
    assert "would be overwritten" in message
    assert (folder / "gold.mrg").read_text() == TREES


@pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="pipes with names are a thing of Unix")
@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("compare gold.mrg test.mrg {} --rounds 10", False),
        ("compare {} test.mrg gold.mrg --rounds 10", False),
        ("report gold.mrg {} -o report.html --rounds 10", False),
        ("score gold.mrg {}", True),
    ],
)
def test_a_pipe_is_read_once(line: str, wrong: bool, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Such as bash gives for ``<(zcat parses.gz)``."""
    text = TREES.replace("ADVP", "XP") if not wrong else TREES.split("\n")[1][:-1] + "\n"
    (folder / "same.mrg").write_text(text)
    code_of_file, message_of_file = run(line.replace("{}", "same.mrg"), capsys)
    end, begin = os.pipe()
    with os.fdopen(begin, "w") as pipe:
        pipe.write(text)
    code, message = run(line.replace("{}", f"/dev/fd/{end}"), capsys)
    os.close(end)
    assert code == code_of_file == (4 if wrong else 0), message
    assert message.count("\n") == message_of_file.count("\n")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are a thing of Unix")
@pytest.mark.parametrize("line", ["induce gold.mrg -o {}", "chunks train chunks.txt -o {}", "convert gold.mrg -o {}"])
def test_a_pipe_is_written_to_and_not_replaced(line: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    code, _ = run(line.replace("{}", str(pipe)), capsys)
    assert code == 0
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    reader.join(10)
    assert read[0]


@pytest.mark.parametrize(
    "line",
    [
        "convert gold.mrg -o {}", "normalise gold.mrg --steps traces -o {}", "report gold.mrg test.mrg --rounds 10 -o {}",
        "diff gold.mrg test.mrg -o {}", "induce gold.mrg -o {}", "induce gold.mrg --format text -o {}",
        "parse grammar.txt sentences.txt -o {}", "posteriors grammar.txt sentences.txt --svg {}",
    ],
)  # fmt: skip
@pytest.mark.parametrize("output", ["no-such-folder/x", "folder"])
def test_where_nothing_can_be_written(line: str, output: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, message = run(line.replace("{}", output), capsys)
    assert code in (2, 3)
    assert output in message
    assert not list((folder / "folder").iterdir())


@pytest.mark.parametrize(
    "line",
    [
        "report gold.mrg test.mrg --rounds 100000000 -o x.html",
        "compare gold.mrg test.mrg also=test.mrg --rounds 100000000",
        "score - test.mrg",
        "convert - -o x.mrg",
    ],
)
def test_an_interrupted_command_stops_at_once_and_leaves_nothing(line: str, folder: Path) -> None:
    # Many sentences that differ, so that not all ways of swapping them are enumerated.
    for name in ("gold.mrg", "test.mrg"):
        (folder / name).write_text((folder / name).read_text() * 50)
    before = sorted(folder.iterdir())
    code = (
        "import sys, click, treegauge.cli\ninvoke = click.Context.invoke\n"
        "def begin(*words, **options):\n    print('!', flush=True)\n    return invoke(*words, **options)\n"
        "click.Context.invoke = begin\ntreegauge.cli.main(sys.argv[1:])"
    )
    with running_process(
        [sys.executable, "-c", code, *line.split()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"!\n"
        running.send_signal(signal.SIGINT)
        _, message = running.communicate(timeout=300)
    assert running.returncode == 130
    assert message.decode().split() == ["treegauge:", "interrupted"]
    assert sorted(folder.iterdir()) == before


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
@pytest.mark.parametrize("line", ["compare gold.mrg test.mrg also=test.mrg --rounds 10", "diff gold.mrg test.mrg", "cite parseval"])
def test_a_reader_that_has_seen_enough(line: str, folder: Path) -> None:
    script = f"{sys.executable} -m treegauge {line} | head -c 1 > /dev/null; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_two_files_that_do_not_exist_are_not_two_folders(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "treegauge", "score", "gold.mrg", "test.mrg"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, "")
    assert "gold.mrg: no such file" in done.stderr
