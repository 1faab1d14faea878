"""``treegauge induce``, ``parse`` and ``posteriors`` as real processes."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

import treegauge
from treegauge.data import treebank_path
from treegauge.trees import Tree, Treebank

GRAMMAR = 'S -> S S [.5] | "a" [.5]\n'


def run(*arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "treegauge", *arguments]
    return subprocess.run(command, capture_output=True, text=True, input=text, check=False, timeout=300)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("models") / "travel.model")
    done = run("induce", str(treebank_path("travel")), "-o", path)
    assert done.returncode == 0, done.stderr
    assert "rules" in done.stderr
    return path


@pytest.fixture
def catalan(tmp_path: Path) -> str:
    path = tmp_path / "catalan.pcfg"
    path.write_text(GRAMMAR)
    return str(path)


def test_parse_works_at_once() -> None:
    done = run("parse", text="where is the station ?\n")
    assert done.returncode == 0, done.stderr
    tree = Tree.parse(done.stdout)
    assert tree.words == ("where", "is", "the", "station", "?")
    assert "0 without a parse" in done.stderr


def test_order_marks_and_counts(model: str) -> None:
    text = "Please book a room .\n\nzzz zzz zzz\nWhere is the hotel ?\n"
    done = run("parse", model, "-", "--jobs", "2", "--objective", "labelled-recall", text=text)
    assert done.returncode == 0, done.stderr
    trees = [Tree.parse(line) for line in done.stdout.splitlines()]
    assert [" ".join(tree.words) for tree in trees] == text.splitlines()
    marked = [tree.label.endswith("-FALLBACK") for tree in trees]  # the empty line is no failed parse
    assert f"{sum(marked)} without a parse" in done.stderr
    assert not any("|" in node.label or "^" in node.label for tree in trees for node in tree.nodes())


def test_json_kbest_and_posteriors(catalan: str) -> None:
    done = run("parse", catalan, "-", "--kbest", "9", "--posteriors", "--format", "json", text="a a a\nb\n")
    document = json.loads(done.stdout)
    assert document["schema"] == "treegauge.parse/3"
    first, second = document["sentences"]
    assert [parse["tree"] for parse in first["kbest"]] == ["(S (S a) (S (S a) (S a)))", "(S (S (S a) (S a)) (S a))"]
    of_words = first["sentence_log_probability"]  # of both parses together
    assert of_words == pytest.approx(math.log(1 / 16), rel=1e-15)
    assert "log_probability" not in first, "that is the name of the probability of one tree"
    assert [each["posterior"] for each in first["kbest"]] == pytest.approx([0.5, 0.5])
    assert [each["log_probability"] - of_words for each in first["kbest"]] == pytest.approx([math.log(0.5)] * 2)
    assert [0, 2, "S", 0.5] in first["posteriors"]
    assert (second["fallback"], second["tree"], second["sentence_log_probability"]) == (True, "(X-FALLBACK b)", None)


KILLED = """
import os, sys, treegauge.cli.parse as parse
made = parse.parse_record
def record(job, number, parsed):
    if number == 5:
        raise KeyboardInterrupt
    return made(job, number, parsed)
parse.parse_record = record
from treegauge.cli import main
main(sys.argv[1:])
"""


@pytest.fixture
def killed(catalan: str, tmp_path: Path) -> tuple[str, ...]:
    """The arguments of a run that was interrupted after five sentences."""
    (tmp_path / "s.txt").write_text("".join("a " * n + "\n" for n in range(1, 9)))
    command = ("parse", catalan, str(tmp_path / "s.txt"), "-o", str(tmp_path / "part.mrg"))
    done = subprocess.run([sys.executable, "-c", KILLED, *command, "--jobs", "1"], capture_output=True, text=True, check=False)
    assert done.returncode == 130, done.stderr
    assert (tmp_path / "part.mrg").read_text().count("\n") == 5
    return command


def test_an_interrupted_run_resumes_to_the_same_file(killed: tuple[str, ...], tmp_path: Path) -> None:
    whole, part = tmp_path / "whole.mrg", tmp_path / "part.mrg"
    assert run(*killed[:-1], str(whole)).returncode == 0
    part.write_bytes(part.read_bytes() + b"(S (S")
    done = run(*killed, "--resume")
    assert done.returncode == 0, done.stderr
    assert "3 sentences after 5 done before" in done.stderr
    assert part.read_bytes() == whole.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["catalan.pcfg", "part.mrg", "s.txt", "whole.mrg"]


@pytest.mark.parametrize("earlier", [False, True])
def test_a_run_that_ends_before_its_first_tree_leaves_no_file(catalan: str, tmp_path: Path, earlier: bool) -> None:
    (tmp_path / "s.txt").write_bytes(b"a a\0\n")
    if earlier:
        (tmp_path / "part.mrg").write_text("(S a)\n")
    before = sorted(tmp_path.iterdir())
    assert run("parse", catalan, str(tmp_path / "s.txt"), "-o", str(tmp_path / "part.mrg")).returncode == 3
    assert sorted(tmp_path.iterdir()) == before


def test_a_run_that_starts_again_says_what_it_discards(killed: tuple[str, ...]) -> None:
    done = run(*killed)
    assert "part.mrg: an unfinished run is discarded; --resume would have continued it" in done.stderr
    assert "discarded" not in run(*killed).stderr, "the first run was completed"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("s.txt", "what differs: the text"),
        ("catalan.pcfg", "what differs: the model"),
        ("--objective", "what differs: --objective"),
        ("--for", "what differs: --for"),
        ("part.mrg", "record 2 is not of the sentence"),
        ("part.mrg.checkpoint", "not an unfinished run"),
        ("damage", "this file is damaged, or is not a checkpoint"),
    ],
)
def test_another_run_is_not_resumed(killed: tuple[str, ...], tmp_path: Path, change: str, message: str) -> None:
    more: list[str] = []
    if change == "s.txt":
        (tmp_path / "s.txt").write_text("".join("a " * n + "\n" for n in range(1, 10)))
    elif change == "catalan.pcfg":
        (tmp_path / "catalan.pcfg").write_text('S -> S S [.25] | "a" [.75]\n')
    elif change == "--objective":
        more = ["--objective", "labelled-recall"]
    elif change == "--for":
        more = ["--for", "recall"]
    elif change == "part.mrg":
        (tmp_path / "part.mrg").write_text("(S a)\n(S b)\n")
    elif change == "damage":
        (tmp_path / "part.mrg.checkpoint").write_text("[3")
    else:
        (tmp_path / "part.mrg.checkpoint").unlink()
    before = (tmp_path / "part.mrg").read_bytes()
    done = run(*killed, "--resume", *more)
    assert done.returncode == (3 if change == "damage" else 2), done.stderr
    assert message in done.stderr
    assert "--resume" in done.stderr
    assert (tmp_path / "part.mrg").read_bytes() == before


def test_a_complete_file_is_not_resumed_once_its_unfinished_successor_is_removed(catalan: str, tmp_path: Path) -> None:
    """Its trees may be those of another model; the plan beside it is that of the run which was to replace it."""
    (tmp_path / "s.txt").write_text("".join("a " * n + "\n" for n in range(1, 9)))
    command = ("parse", catalan, str(tmp_path / "s.txt"), "-o", str(tmp_path / "part.mrg"), "--jobs", "1")
    assert run(*command, "--objective", "labelled-recall").returncode == 0
    before = (tmp_path / "part.mrg").read_bytes()
    assert subprocess.run([sys.executable, "-c", KILLED, *command], capture_output=True, check=False).returncode == 130
    (tmp_path / "part.mrg.unfinished").unlink()
    done = run(*command, "--resume")
    assert (done.returncode, "what differs: the output" in done.stderr) == (2, True), done.stderr
    assert (tmp_path / "part.mrg").read_bytes() == before


def test_standard_input_with_other_words_is_not_resumed(catalan: str, tmp_path: Path) -> None:
    command = ("parse", catalan, "-", "-o", str(tmp_path / "part.jsonl"), "--format", "jsonl", "--jobs", "1")
    text = "".join("a " * n + "\n" for n in range(1, 9))
    begin = [sys.executable, "-c", KILLED, *command]
    assert subprocess.run(begin, capture_output=True, text=True, input=text, check=False).returncode == 130
    other = run(*command, "--resume", text=text.replace("a a \n", "a b \n", 1))
    assert (other.returncode, "record 2 is not of the sentence" in other.stderr) == (2, True)
    same = run(*command, "--resume", text=text)
    assert "3 sentences after 5 done before" in same.stderr


def test_other_inputs(tmp_path: Path) -> None:
    trees = "(S (N fish) (V swim)) (S (N swim) (V fish))"
    (tmp_path / "bank.mrg").write_text(trees)
    assert run("induce", str(tmp_path / "bank.mrg"), "--steps", "", "--tags", "-o", str(tmp_path / "tags")).returncode == 0
    done = run("parse", str(tmp_path / "tags"), str(tmp_path / "bank.mrg"), "--input", "trees")
    assert done.stdout == "(S (N fish) (V swim))\n(S (N swim) (V fish))\n"
    done = run("parse", "own", "-", "--input", "tagged", "--gold-tags", text="Zib/NNP zabs/VBZ ./.\n")
    assert Tree.parse(done.stdout).tags == ("NNP", "VBZ", ".")
    done = run("parse", "own", "-", "--raw", text="Don't go.\n")
    assert Tree.parse(done.stdout).words == ("Do", "n't", "go", ".")


@pytest.mark.parametrize("engine", ["local", "local:2"])
def test_a_blank_line_is_a_sentence_without_words(tmp_path: Path, catalan: str, engine: str) -> None:
    (tmp_path / "sentences.txt").write_text("a\n\na a\n")
    done = run("parse", catalan, str(tmp_path / "sentences.txt"), "--engine", engine)
    assert done.stdout == "(S a)\n()\n(S (S a) (S a))\n"


def test_induce_writes_what_nltk_reads(tmp_path: Path) -> None:
    nltk = pytest.importorskip("nltk")
    bank = tmp_path / "bank.mrg"
    bank.write_text("(S (NP (PRP$ its) (NN end)) (VP (VBD came)) (. .))")
    done = run("induce", str(bank), "--format", "nltk", "--steps", "", "--lexicon", "plain")
    assert "# PRP_dollar stands for PRP$" in done.stdout
    grammar = nltk.PCFG.fromstring(done.stdout)
    assert len(grammar.productions()) == 7


def test_posteriors_print_and_draw(tmp_path: Path, catalan: str) -> None:
    svg = tmp_path / "chart.svg"
    done = run("posteriors", catalan, "-", "--format", "json", "--svg", str(svg), text="a a a\n")
    document = json.loads(done.stdout)
    assert document["parses"] == 2
    assert {(c["start"], c["end"]): c["posterior"] for c in document["constituents"]}[1, 3] == pytest.approx(0.5)
    assert svg.read_text().startswith("<svg ")
    assert "0.50" in svg.read_text()
    assert f"wrote {svg}" in done.stderr


def test_posteriors_of_the_first_of_several_sentences_say_so(tmp_path: Path, catalan: str) -> None:
    file = tmp_path / "sentences.txt"
    file.write_text("a a a\na a\n")
    assert "--sentence 2 shows the second one" in run("posteriors", catalan, str(file)).stderr
    assert "--sentence 2" not in run("posteriors", catalan, str(file), "--sentence", "1").stderr
    said = run("posteriors", catalan, str(file), "--sentence", "all").stderr.splitlines()
    assert [line.partition(": log probability of the words")[0] for line in said] == ["sentence 1", "sentence 2"]
    file.write_text("a a a\n")
    assert "--sentence 2" not in run("posteriors", catalan, str(file)).stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("parse", "own", "-", "--objective", "viterby"), 2, "did you mean 'viterbi'"),
        (("parse", "own", "-", "--lam", "1"), 2, "takes no option 'lam'"),
        (("parse", "own", "-", "--lam", "2"), 2, "2.0 is not in the range 0<=x<=1"),
        (("decode", "charts.npz", "--lam", "-0.1"), 2, "-0.1 is not in the range 0<=x<=1"),
        (("posteriors", "--samples", "200"), 2, "--samples belongs to --tree: add it"),
        (("posteriors", "--calibration", "dev.mrg", "-m", "freval"), 2, "--metric belongs to --tree: add it"),
        (("posteriors", "--tree", "trees.mrg", "--bins"), 2, "--bins belongs to --calibration: add it"),
        (("parse", "no-such-grammar"), 3, "no such file"),
        (("parse", "own", "-", "--resume"), 2, "--resume needs"),
        (("parse", "own", "-", "--input", "tagged"), 3, "expected word/TAG"),
        (("posteriors",), 4, "no sentence"),
        (("posteriors", "own", "--svg", "chart.PNG"), 2, "chart.PNG: the picture is written as SVG: name the file .svg"),
        (("parse", "own", "--kbest", "3", "--objective", "labelled-recall"), 2, "--kbest prints the likeliest parses"),
        (("parse", "own", "--kbest", "3", "--for", "recall"), 2, "--format jsonl, which has both"),
        (("parse", "own", "I saw the man"), 3, 'echo "I saw the man" | treegauge parse MODEL'),
        (("posteriors", "I saw the man"), 3, 'echo "I saw the man" | treegauge posteriors MODEL'),
    ],
)
def test_errors(arguments: tuple[str, ...], code: int, message: str) -> None:
    done = run(*arguments, text="" if arguments[0] == "posteriors" else "word\n")
    assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr
    assert message in done.stderr


def test_the_own_grammar_parses_its_own_treebank(model: str) -> None:
    bank = Treebank.parse(treebank_path("travel").read_text("utf-8"))[:20]
    text = "".join(" ".join(w for w, t in tree.tagged() if t != "-NONE-") + "\n" for tree in bank)
    done = run("parse", model, "-", text=text)
    assert "20 sentences" in done.stderr
    assert "; 0 without a parse" in done.stderr


def test_a_tag_that_the_grammar_does_not_have_is_called_a_tag(tmp_path: Path) -> None:
    trees = tmp_path / "gold.mrg"
    trees.write_text("(S (NP (DT the) (NN cat)) (VP (VBZ sits)))\n")
    model = str(tmp_path / "tags.model")
    assert run("learn", str(trees), "-o", model, "--nonterminals", "3", "--iterations", "2").returncode == 0
    trees.write_text("(S (NP (RBS most) (NN cat)) (VP (VBZ sit)))\n")
    said = run("parse", model, str(trees), "--input", "trees").stderr
    assert "tag 'RBS' is not in the grammar (1 sentence)" in said
    assert "punctuation" not in said
    assert "no stored setting: --objective viterbi (learn --tune TREES stores one)" in said
    trees.write_text("(S (NP (DT the) (NN cat)) (, ,) (VP (VBZ sits)) (. .))\n")
    said = run("parse", model, str(trees), "--input", "trees").stderr
    assert "most of these tags are punctuation" in said
    assert "treegauge normalise FILE --steps preset:induction" in said


def test_a_kbest_list_in_brackets_has_probabilities_and_reads_back(tmp_path: Path) -> None:
    grammar = tmp_path / "grammar.txt"
    grammar.write_text('S -> A A [.75] | B B [.25]\nA -> "x" [1]\nB -> "x" [1]\n')
    out = tmp_path / "out.mrg"
    assert run("parse", str(grammar), "-", "--kbest", "5", "-o", str(out), text="x x\nx\n").returncode == 0
    assert out.read_text().splitlines() == [
        "# sentence 1, parse 1, posterior 0.75, log probability -0.2877",
        "(S (A x) (A x))",
        "# sentence 1, parse 2, posterior 0.25, log probability -1.3863",
        "(S (B x) (B x))",
        "",
        "# sentence 2, no parse",
        "(A-FALLBACK x)",
        "",
    ]
    read = treegauge.read(out, treegauge.ReadOptions(comment="#"))
    assert [str(tree) for tree in read] == ["(S (A x) (A x))", "(S (B x) (B x))", "(A-FALLBACK x)"]


def test_words_that_are_not_in_the_grammar_are_named_and_counted(tmp_path: Path) -> None:
    grammar = tmp_path / "grammar.txt"
    grammar.write_text('S -> S S [.5] | "x" [.5]\n')
    sentences = "x x\ndog x dog\nx dog\nx a b c d e f\n"
    done = run("parse", str(grammar), "-", text=sentences)
    assert "3 without a parse" in done.stderr
    said = [line for line in done.stderr.splitlines() if "not in the grammar" in line]
    assert said[:2] == ["word 'dog' is not in the grammar (2 sentences)", "word 'a' is not in the grammar (1 sentence)"]
    assert said[5:] == ["and 2 more words that are not in the grammar"]
    elsewhere = run("parse", str(grammar), "-", "--engine", "local:2", text=sentences)
    assert [line for line in elsewhere.stderr.splitlines() if "not in the grammar" in line] == said
    chart = run("posteriors", str(grammar), "-", text="x dog\n")
    assert chart.returncode == 4
    assert "the grammar has no parse for: x dog; word 'dog' is not in the grammar" in chart.stderr
    with pytest.raises(treegauge.TreegaugeError, match="words 'a', 'b' are not in the grammar"):
        treegauge.Forest(treegauge.PCFG.parse(grammar.read_text()), ["x", "a", "b", "a"]).argmax("labelled-recall")
    assert "not in the grammar" not in run("parse", str(grammar), "-", text="\n").stderr
