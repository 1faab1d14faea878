"""``treegauge convert`` and ``treegauge validate`` as a user runs them: pipes, exit codes, whatever the input."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from treegauge.cli import main
from treegauge.io import read, write
from treegauge.trees import Treebank

BANK = Treebank.parse("(S (NP (DT the) (NN cat)) (VP (VBD sat))) (S (A ä))")


def run(*arguments: object, text: bytes = b"", code: int = 0) -> tuple[str, str]:
    done = subprocess.run([sys.executable, "-m", "treegauge", *map(str, arguments)], capture_output=True, input=text, check=False)
    out, err = done.stdout.decode(), done.stderr.decode()
    assert "Traceback" not in err
    assert "internal error" not in err
    assert done.returncode == code, err
    return out, err


@pytest.fixture
def mrg(tmp_path: Path) -> Path:
    path = tmp_path / "x.mrg"
    write(BANK, path)
    return path


def test_convert_through_a_chain_of_formats(tmp_path: Path, mrg: Path) -> None:
    run("convert", mrg, "-o", tmp_path / "x.export.gz")
    run("convert", tmp_path / "x.export.gz", "-o", tmp_path / "y.mrg", "--to", "pretty", "--stream")
    assert read(tmp_path / "y.mrg") == BANK
    out, _ = run("convert", tmp_path / "y.mrg", mrg)
    assert out == "".join(f"{tree}\n" for tree in [*BANK, *BANK])
    out, _ = run("convert", "-", "--to", "conll2000", text=b"(S (NP (DT the)) (. .))")
    assert out == "the DT B-NP\n. . O\n\n"


def test_convert_refuses_what_it_cannot_do(tmp_path: Path, mrg: Path) -> None:
    _, err = run("convert", "-", "-o", tmp_path / "x.conll", text=b"(S (NP (NP (A a))))", code=3)
    assert "-:1: CoNLL-2000 columns hold chunks" in err
    assert not (tmp_path / "x.conll").exists()
    _, err = run("convert", tmp_path / "y.mrg", "-o", tmp_path / "z.mrg", code=3)
    assert "no such file" in err
    _, err = run("convert", mrg, "--to", "freebank", code=2)
    assert "'freebank' is not one of" in err
    _, err = run("convert", code=2)
    assert "no files given" in err
    assert list(tmp_path.iterdir()) == [mrg]


def test_validate_is_silent_about_nothing(tmp_path: Path, mrg: Path) -> None:
    out, _ = run("validate", mrg)
    assert out == f"{mrg}: 2 trees, 4 words, 0 errors, 0 notes\n"
    bad = tmp_path / "bad.mrg"
    bad.write_text("(S (A a)\n(B b)\n()\n" + "word\n" * 30)
    out, err = run("validate", "--max", "2", bad, mrg, code=3)
    assert err == ""
    assert out.split("\n") == [
        f"{bad}:1:1: opening bracket that is never closed; a new tree begins on line 2",
        "  (S (A a)",
        "  ^",
        "  Each tree needs as many '(' as ')'; write -LRB- and -RRB- for literal brackets.",
        f"{bad}:4:1: text outside brackets",
        "  word",
        "  ^",
        "  A word belongs in a bracket, as in (NP (NN word)); --comment '#' skips lines with #, "
        "--format-in brackets reads bare words.",
        f"{bad}: ... and 29 more errors",
        f"{bad}:3: note: empty parse",
        f"{bad}: 2 trees, 1 word, 31 errors, 1 note",
        f"{mrg}: 2 trees, 4 words, 0 errors, 0 notes",
        "2 files: 4 trees, 5 words, 31 errors, 1 note",
        "",
    ]


def test_notes_are_no_errors() -> None:
    out, _ = run("validate", "-", text=b"()\n(NP the cat) (A a)\n")
    assert out.split("\n") == [
        "-:1: note: empty parse",
        "-:2: note: 2 trees on this line",
        "-:2: note: 2 words without a tag",
        "-: 3 trees, 3 words, 0 errors, 3 notes",
        "",
    ]
    out, _ = run("validate", "-", "--no-notes", text=b"()\n")
    assert out == "-: 1 tree, 0 words, 0 errors, 1 note\n"


def test_validate_as_json() -> None:
    out, _ = run("validate", "--format", "json", "-", text=b"(A a)\n(B b\n()", code=3)
    found = json.loads(out)
    assert found["schema"] == "treegauge.validate/2"
    (report,) = found["files"]
    assert (report["trees"], report["words"], report["n_errors"], report["n_notes"]) == (2, 1, 1, 1)
    assert report["errors"][0]["line"] == 2
    assert report["notes"] == [{"place": "-:3", "text": "empty parse"}]


def test_discontinuous_sentences_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "x.export"
    gap = "#BOS {0} 0 0 0\na A -- -- 500\n, $, -- -- 0\nb B -- -- 500\n#500 X -- -- 0\n#EOS {0}\n"
    path.write_text("#FORMAT 3\n" + "".join(gap.format(number) for number in (1, 2, 3)))
    out, _ = run("validate", path)
    assert "3 trees, 9 words, 0 errors, 0 notes, 3 trees with crossing branches" in out
    out, _ = run("validate", path, "--attach-punctuation")
    assert "3 trees, 9 words, 0 errors" in out
    assert "crossing" not in out


MONSTERS = {
    "binary": bytes(range(256)) * 500,
    "zeros": b"\0" * 10_000,
    "odd utf-16": "(S (A a))\n".encode("utf-16") + b"x",
    "cut.gz": gzip.compress(b"(S (A a))\n" * 5000)[:60],
    "deep": b"(" * 100_000,
    "closing": b")" * 100_000,
    "deep spaced": b"( " * 100_000 + b"a",
    "long line": b"(A " + b"a" * 2_000_000,
    "one line of junk": b"x )( " * 100_000,
    "many lines of junk": b") x\n" * 20_000,
    "xml": b"<corpus>" * 50_000,
    "export": b"#BOS 1\n" * 20_000,
    "columns": b"a b B-NP\nc\n\n" * 10_000,
    "only carriage returns": b"(S (A a))\r(B b\r" * 100,
}


@pytest.mark.parametrize("name", MONSTERS)
def test_monsters_are_errors_not_crashes(tmp_path: Path, name: str, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / name.replace(" ", "_")
    path.write_bytes(MONSTERS[name])
    for command in (["validate", str(path)], ["convert", str(path), "-o", str(tmp_path / "out.mrg")]):
        with pytest.raises(SystemExit) as stop:
            main(command)
        assert stop.value.code == 3
        out, err = capfd.readouterr()
        said = out if command[0] == "validate" else err
        assert str(path) in said
        assert len(said) < 20_000
        assert command[0] == "convert" or re.search(r" errors?, [\d,]+ notes?\n$", out)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("command", [["convert"], ["normalise", "--steps", "traces"]])
def test_an_output_without_its_option_is_named_before_anything_is_written(command: list[str], tmp_path: Path, mrg: Path) -> None:
    out, err = run(*command, mrg, tmp_path / "new.export", code=3)
    assert out == ""
    assert err.endswith(f"new.export: no such file\n  Is it the output? Write -o {tmp_path / 'new.export'}\n")
    _, err = run(*command, mrg, tmp_path / "new.export", "-o", tmp_path / "y.mrg", code=3)
    assert "Is it the output?" not in err


def test_a_directory_of_mixed_formats_and_a_missing_one(tmp_path: Path, mrg: Path) -> None:
    run("convert", mrg, "-o", tmp_path / "y.export")
    out, _ = run("validate", tmp_path)
    assert "2 files: 4 trees" in out
    out, _ = run("convert", f"{tmp_path}/*")
    assert out.count("\n") == 4
    _, err = run("validate", tmp_path / "nowhere" / "*.mrg", code=3)
    assert "nothing matches this pattern" in err


@pytest.mark.posix
def test_a_closed_pipe_is_quiet(tmp_path: Path) -> None:
    path = tmp_path / "x.mrg"
    write(Treebank.from_trees(list(BANK) * 20_000), path)
    command = f"'{sys.executable}' -m treegauge convert '{path}' | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.stdout == f"{BANK[0]}\n"
    assert done.stderr == ""


def test_help_shows_examples_and_formats() -> None:
    out, _ = run("convert", "--help")
    assert "treegauge convert wsj/ -o wsj.mrg.gz" in out
    assert "conll2000" in out
    out, _ = run("validate", "--help")
    assert "treegauge validate --max 5" in out


def test_validate_counts_parts_of_trees_as_a_table(mrg: Path) -> None:
    out, _ = run("validate", mrg, "--statistics", "--max", 1, "--format", "csv")
    assert out.splitlines() == [
        *("what,name,count", "trees,,2", "words,,4", "mean length,,2.0", "longest,,3"),
        *("different labels,,3", "label,S,2", "different tags,,4", "tag,DT,1", "different words,,4", "word,the,1"),
        *("different productions,,4", "production,S -> NP VP,1"),
    ]
    assert json.loads(run("validate", mrg, "--statistics", "--format", "json")[0])["rows"][0]["count"] == 2
    assert run("validate", mrg, "--statistics")[0].startswith("Statistics\nwhat ")
    assert "--format csv is a table: add --statistics" in run("validate", mrg, "--format", "csv", code=2)[1]
    assert "never closed" in run("validate", "-", "--statistics", text=b"(S (A a)", code=3)[1]
