"""Small promises of the commands, each as a user meets it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import treegauge
from treegauge.errors import FormatError, UnknownName, UsageError
from treegauge.presets import load_preset

GOLD = "(S (NP (DT the) (NN cat)) (VP (VBD sat)))\n(S (NP (NN rain)) (VP (VBD fell)))\n"
TEST = "(S (NP (DT the)) (NN cat) (VP (VBD sat)))\n(S (NP (NN rain)) (VP (VBD fell)))\n"
GRAMMAR = 'S -> "I" "saw" [1.0]\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("gold.mrg", GOLD), ("test.mrg", TEST), ("g.txt", GRAMMAR)):
        (tmp_path / name).write_text(text)
    return tmp_path


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "treegauge", *arguments]
    env = {**os.environ, **environment}
    return subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", check=False, env=env)


@pytest.mark.parametrize(
    "text", ["(S (NP (NN rain)) (VP (VBD fell)))\n", "( (S\n    (NP (NN rain))))\n", "(S (NP 0=I) (VP 1=saw))\n", "(NN rain)\n"]
)
def test_parse_given_trees_names_the_option(folder: Path, text: str) -> None:
    (folder / "trees.mrg").write_text(text)
    done = run(folder, "parse", "g.txt", "trees.mrg")
    assert (done.returncode, "--input trees" in done.stderr, done.stdout) == (3, True, ""), done.stderr


@pytest.mark.parametrize("line", ["( I said ) so", "(See below.) It rained.", "(a) (b) I saw", "(1) I saw (it)"])
def test_sentences_that_begin_with_a_bracket_are_no_trees(line: str, tmp_path: Path) -> None:
    from treegauge.parsing.input import read_sentences

    (tmp_path / "x").write_text(line + "\n")
    [sentence] = read_sentences(str(tmp_path / "x"), "tokens")
    assert sentence.words == tuple(line.split())


@pytest.mark.parametrize("name", ["x.mrg", "x.txt", "x.ptb", "x.dbr"])
def test_discbracket_is_known_whatever_the_file_is_called(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("(S (VP (V 0=saw) (NP (PRP 2=you))) (NP (PRP 1=I)))\n")
    bank = treegauge.read(tmp_path / name)
    assert (bank.words(0), bank.blocks is not None) == (["saw", "I", "you"], True)
    (tmp_path / name).write_text("(S (CD 0=1) (NP (NN x)))\n")
    assert name == "x.dbr" or treegauge.read(tmp_path / name).words(0) == ["0=1", "x"]


def test_discbracket_is_known_in_strings() -> None:
    good, bad = "(S (VP (V 0=saw) (NP (PRP 2=you))) (NP (PRP 1=I)))", "(S (V 0=saw) (PRP 2=you))"
    for value in (good, [good, "", good]):
        assert treegauge.as_treebank(value).words(0) == ["saw", "I", "you"]
    assert treegauge.as_treebank(good, treegauge.ReadOptions(format="bracketed")).words(0) == ["0=saw", "2=you", "1=I"]
    assert treegauge.as_treebank("(S (CD 0=1) (NN x))").words(0) == ["0=1", "x"]
    result = treegauge.score([good, good], [good, bad])
    assert (result.recall, [note.sentence for note in result.problems]) == (0.5, [1])
    with pytest.raises(FormatError):
        treegauge.score([good, good], [good, bad], on_error="stop")


def test_normalise_keeps_the_sentence_under_a_root_without_a_label(folder: Path) -> None:
    trees = ["( (S (NP-SBJ (-NONE- *)) (VP (VB go) (NP (NN home)))) )", "( (S (NP (NN rain)) (VP (VBD fell))) )"]
    (folder / "wsj.mrg").write_text("\n".join(trees))
    steps = "traces,functions,unaries:top,binarise:right"  # as in the README
    done = run(folder, "normalise", "wsj.mrg", "--steps", steps)
    assert done.stdout == "(S (VB go) (NN home))\n(S (NN rain) (VBD fell))\n"


def test_diff_writes_what_the_suffix_says_or_refuses(folder: Path) -> None:
    done = run(folder, "diff", "gold.mrg", "test.mrg", "-o", "x.eps")
    assert (done.returncode, "there are: text, svg, png, pdf" in done.stderr, (folder / "x.eps").exists()) == (2, True, False)
    pytest.importorskip("matplotlib")
    assert run(folder, "diff", "gold.mrg", "test.mrg", "-o", "x.pdf").returncode == 0
    first = (folder / "x.pdf").read_bytes()
    assert first.startswith(b"%PDF-")
    run(folder, "diff", "gold.mrg", "test.mrg", "-o", "x.pdf")
    assert (folder / "x.pdf").read_bytes() == first


def test_drawings_are_ascii_where_the_locale_is(folder: Path) -> None:
    ascii_only = run(folder, "diff", "gold.mrg", "test.mrg", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert ascii_only.stdout.isascii()
    assert ascii_only.stdout == run(folder, "diff", "gold.mrg", "test.mrg", "--ascii", PYTHONIOENCODING="utf-8").stdout
    assert not run(folder, "diff", "gold.mrg", "test.mrg", PYTHONIOENCODING="utf-8").stdout.isascii()


def test_score_writes_to_a_file_and_can_be_quiet(folder: Path) -> None:
    (folder / "short.mrg").write_text(TEST.splitlines()[0] + "\n")
    loud = run(folder, "score", "gold.mrg", "short.mrg")
    assert (loud.returncode, "gold.mrg:2" in loud.stderr) == (4, True)
    quiet = run(folder, "score", "gold.mrg", "short.mrg", "--quiet", "-o", "out.txt")
    assert (quiet.returncode, quiet.stdout, "gold.mrg:2" in quiet.stderr) == (4, "", False)
    assert quiet.stderr.startswith("treegauge: short: gold and test do not match")
    assert "listed above" not in quiet.stderr
    assert (folder / "out.txt").read_text() == loud.stdout
    refused = run(folder, "score", "gold.mrg", "test.mrg", "-o", "gold.mrg")
    assert (refused.returncode, (folder / "gold.mrg").read_text()) == (2, GOLD)


def test_sentences_are_numbered_from_1_where_they_are_printed(folder: Path) -> None:
    (folder / "holes.mrg").write_text("\n" + TEST.splitlines()[1] + "\n")
    document = json.loads(run(folder, "score", "gold.mrg", "holes.mrg", "--lines", "--format", "json", "--per-sentence").stdout)
    assert document["schema"] == "treegauge.result/2"
    assert [record["sentence"] for record in document["per_sentence"]] == [1, 2]
    assert [note["sentence"] for note in document["notes"]] == [1]
    lines = run(folder, "score", "gold.mrg", "test.mrg", "--format", "jsonl").stdout.splitlines()
    assert [json.loads(line)["sentence"] for line in lines] == [1, 2]
    rows = run(folder, "score", "gold.mrg", "test.mrg", "--format", "csv", "--per-sentence").stdout.splitlines()
    assert [row.split(",")[1] for row in rows] == ["sentence", "1", "2"]
    result = treegauge.Result.from_json(json.dumps(document))
    assert [record["sentence"] for record in result.per_sentence()] == [0, 1]
    assert [note.sentence for note in result.notes] == [0]


def test_threads_go_by_one_name() -> None:
    for path in (Path(treegauge.__file__).parent / "cli").glob("*.py"):
        assert '"--threads"' not in path.read_text("utf-8"), path.name
        assert '"--workers"' not in path.read_text("utf-8") or path.name == "_engines.py", path.name


def test_an_unknown_preset_lists_the_presets_and_then_files() -> None:
    with pytest.raises(
        UnknownName, match=r"did you mean 'collins'\? Valid: collins, default, .*, spmrl, or a file \.prm or \.toml$"
    ):
        load_preset("colins")


def test_freval_prints_the_table_where_figures_cannot_be_drawn(folder: Path) -> None:
    (folder / "matplotlib.py").write_text("raise ImportError('none here')\n")
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    done = run(folder, "freval", "gold.mrg", "test.mrg", "--figures", "figures", "--figure-format", "pdf", PYTHONPATH=path)
    assert "FLR 1" in done.stdout
    assert (done.returncode, "[plot]" in done.stderr) == (2, True), done.stderr


def test_a_sentence_is_no_string() -> None:
    grammar = treegauge.PCFG.parse(GRAMMAR)
    with pytest.raises(UsageError, match=r"'I saw'\.split\(\)"):
        treegauge.Forest(grammar, "I saw")
    assert treegauge.Forest(grammar, ["I", "saw"]).n_parses == 1


def test_compare_takes_a_list_of_systems(folder: Path) -> None:
    options = treegauge.CompareOptions(metrics=("parseval",), rounds=20)
    gold, test = GOLD.splitlines(), TEST.splitlines()
    listed = treegauge.compare(gold, [test, gold], options)
    assert listed.systems == ("system 1", "system 2")
    named = treegauge.compare(str(folder / "gold.mrg"), [str(folder / "test.mrg"), str(folder / "gold.mrg")], options)
    assert named.systems == ("test", "gold")
    f1 = [[group["parseval", "f1"].value for group in found.overall.rates.values()] for found in (listed, named)]
    assert f1[0] == f1[1] == [pytest.approx(10 / 12), 1.0]
    with pytest.raises(UsageError, match="two systems"):
        treegauge.compare(gold, [test], options)


@pytest.mark.slow
def test_a_report_on_a_very_deep_tree_ends(tmp_path: Path) -> None:
    depth = 100_000
    (tmp_path / "deep.mrg").write_text("(S " + "(X " * depth + "(N a)" + ")" * depth + ")\n")
    (tmp_path / "flat.mrg").write_text("(S (N a))\n")
    done = run(tmp_path, "report", "deep.mrg", "flat.mrg", "deep.mrg", "-o", "x.html")
    assert done.returncode == 0, done.stderr[-300:]
    assert (tmp_path / "x.html").stat().st_size > 1000
