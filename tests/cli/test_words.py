"""Words that people type for a command, a metric or an option: each leads to the right one in one line, with exit code 2."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from treegauge.cli import COMMANDS
from treegauge.cli._group import treegauge
from treegauge.cli._words import words_for
from treegauge.cli.score import _for_terminal

WORDS = {
    **dict.fromkeys(["evaluate", "eval", "fscore", "parseval", "Evaluation"], "treegauge score GOLD TEST"),
    **dict.fromkeys(["significance", "ttest", "t_test", "bootstrap", "test"], "treegauge compare GOLD A B"),
    **dict.fromkeys(["stats", "stat"], "treegauge validate FILE --statistics"),
    "lint": "treegauge validate FILE",
    "relabel": "treegauge normalise FILE --steps labels:OLD=NEW",
    "concatenate": "treegauge convert A.mrg B.mrg -o ALL.mrg",
    "presets": "treegauge score --show-preset default",
    "split": "treegauge convert FILE -o LINES.mrg, then cut that file by lines with head, tail or split",
    **dict.fromkeys(["tokenize", "tokenise"], "treegauge parse MODEL --raw FILE"),
    **dict.fromkeys(["show", "tree", "viz", "visualize"], "treegauge draw FILE"),
    "plot": "treegauge compare GOLD A B --figure FILE.svg, or draw trees: treegauge draw FILE",
    "clean": "treegauge normalise FILE --steps traces,functions",
    "repair": "treegauge convert FILE --on-error repair -o MENDED",
    "diffs": "treegauge diff GOLD TEST",
    "latex": "treegauge score GOLD TEST --format latex",
    "confusion": "treegauge score GOLD TEST --breakdown labels,confusions",
    "filter": "treegauge normalise FILE --steps traces,functions",
    "binarize": "treegauge normalise FILE --steps binarise",
    **dict.fromkeys(["recall", "precision", "bracket"], "treegauge score GOLD TEST"),
    "visualization": "treegauge draw FILE",
    "baselines": "treegauge score GOLD TEST --baselines",
    "power": "treegauge compare GOLD A B --power",
    "ensemble": "treegauge mix MODEL MODEL -o MIXED",
    "em": "treegauge learn FILE",
    "commands": "treegauge help --all",
    **dict.fromkeys(["viterbi", "k-best"], "treegauge parse MODEL FILE, with --kbest K or --objective NAME"),
}
OPTIONS = {
    "score gold.mrg A.mrg --latex": "unknown option --latex: write --format latex",
    "score gold.mrg A.mrg --tex": "unknown option --tex: write --format latex",
    "compare gold.mrg A.mrg B.mrg --json": "unknown option --json: write --format json",
    "compare gold.mrg A.mrg B.mrg --csv": "unknown option --csv: write --format csv",
    "score gold.mrg A.mrg --markdown": "unknown option --markdown: write --format markdown",
    "diff gold.mrg A.mrg --png": "unknown option --png: write -o FILE.png",
    "compare gold.mrg A.mrg B.mrg --plot x.svg": "unknown option --plot: write --figure",
    "score gold.mrg A.mrg --ci": "unknown option --ci: write --confidence",
    "score gold.mrg A.mrg --unlabeled": "unknown option --unlabelled: write --metric induction, or read the unlabelled rates",
    "score gold.mrg A.mrg --by-label": "unknown option --by-label: write --breakdown labels",
    "score gold.mrg A.mrg --max-length 10": "unknown option --max-length: write --cutoff",
    "score gold.mrg A.mrg --style ctb": "unknown option --style: write --treebank",
    "score gold.mrg A.mrg --repair": "unknown option --repair: write --on-error repair",
    "score gold.mrg A.mrg --max-len 40": "unknown option --max-len: write --cutoff",
    "compare gold.mrg A.mrg B.mrg --alpha 0.01": "unknown option --alpha: write --level",
    "train train.mrg --gpu": "unknown option --gpu: write --device",
    "validate gold.mrg --fix": "unknown option --fix: write treegauge convert FILE --on-error repair -o MENDED",
    "convert gold.mrg --format export": "unknown option --format: write --to",
    "draw gold.mrg -n 3": "unknown option -n: write --sentence",
    "parse m.model x.txt -k 3": "unknown option -k: write --kbest",
    "score gold.mrg A.mrg -f latex": "unknown option -f: write --format",
    "parse --sample 5": "unknown option --sample: write Python, treegauge.Forest(grammar, words).sample(5)",
    "posteriors --inside": "unknown option --inside: write Python, treegauge.Forest(grammar, words).chart_table()",
    "diff gold.mrg A.mrg --latex": "unknown option --latex: write treegauge score GOLD TEST --format latex",
    "score gold.mrg A.mrg --significance": "unknown option --significance: write treegauge compare GOLD A B",
    "score gold.mrg A.mrg --plot": "unknown option --plot: write treegauge compare GOLD A B --figure FILE.svg",
    "report gold.mrg A.mrg --plot": "unknown option --plot: write --figures",
    "diff gold.mrg A.mrg --html": "unknown option --html: write treegauge report GOLD A B -o FILE.html",
    "score gold.mrg A.mrg --stats": "unknown option --stats: write treegauge validate FILE --statistics",
    "validate text.txt --tokenize": "unknown option --tokenize: write treegauge parse MODEL --raw FILE",
    "score gold.mrg A.mrg --clean": "unknown option --clean: write treegauge normalise FILE --steps traces,functions",
    "compare gold.mrg A.mrg B.mrg --show": "unknown option --show: write treegauge draw FILE",
    "draw gold.mrg --repair": "unknown option --repair: write treegauge convert FILE --on-error repair -o MENDED",
    "score --help-all": "unknown option --help-all: write treegauge help COMMAND",
    "mix a.model b.model --weights 2,1": "unknown option --weights: write --shares",
    "parse m.model x.txt --k-best 3": "unknown option --k-best: write --kbest",
    "compare gold.mrg A.mrg B.mrg --documents x": "unknown option --documents: write --clusters",
    "score gold.mrg A.mrg --clusters x": "unknown option --clusters: write treegauge compare GOLD A B --clusters FILE",
    "score gold.mrg A.mrg --strict": "unknown option --strict: write --on-error stop",
    "score gold.mrg A.mrg --min-f1 0.8": "unknown option --min-f1: write --fail-under f1=0.8",
    "score -V": "unknown option -V: write treegauge --version",
    "score --gold gold.mrg A.mrg": "unknown option --gold: write the file without an option",
    "validate llm.jsonl --gold gold.mrg": "unknown option --gold: write treegauge score GOLD TEST, which compares sentences",
    "compare gold.mrg A.mrg B.mrg --document x": "unknown option --document: write --clusters",
    "score gold.mrg A.mrg --fail f1=.5": "unknown option --fail: write --fail-under",
    "posteriors --min .5": "unknown option --min: write --least",
    "mix a.model b.model --held-out x.mrg": "unknown option --held-out: write --tune",
    "train x.mrg --held-out 0.1": "unknown option --held-out: write --hold-out",
}
METRICS = {
    **dict.fromkeys(
        [
            "score GOLD GOLD -q -m f1",
            "score GOLD GOLD -q -m F1",
            "compare GOLD x=GOLD y=GOLD -m f-score",
        ],
        "it is a rate of the metric 'parseval', which is the default: write --rates f1 (treegauge explain parseval)",
    ),
    "cite recall": "which is the default: write --rates recall of score and compare (treegauge explain parseval)",
    **dict.fromkeys(["score GOLD GOLD -q -m kim", "explain kim"], "the metric 'induction': write induction:kim"),
    **dict.fromkeys(["score GOLD GOLD -q -m evalb", "explain EVALB"], "treegauge evalb GOLD TEST"),
    "score GOLD GOLD -q -p evalb": "EVALB's own are collins, new and nk",
}


def error(*words: str) -> str:
    done = subprocess.run([sys.executable, "-m", "treegauge", *words], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert done.stderr.count("\n") == 1
    return done.stderr.strip()


@pytest.mark.parametrize("word", WORDS)
def test_a_word_for_a_command_leads_to_it(word: str) -> None:
    assert error(word, "gold.mrg") == f"treegauge: unknown command '{word}'; type: {WORDS[word]}"


def test_files_without_a_command_lead_to_their_score(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my gold.mrg").touch()
    line = "treegauge score 'my gold.mrg' A.mrg --format json"
    assert error("my gold.mrg", "A.mrg", "--format", "json") == f"treegauge: unknown command 'my gold.mrg'; type: {line}"
    assert "treegauge score" not in error("no.mrg", "A.mrg")
    assert error("my gold.mrg").endswith("type: treegauge validate 'my gold.mrg'")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("train gold.mrg -o x.model --grammars one", "Invalid value for '--grammars': 'one' is not a whole number."),
        ("train gold.mrg -o x.model --hold-out x", "Invalid value for '--hold-out': 'x' is not a number."),
    ],
)
def test_what_is_wrong_with_an_argument_is_said_in_plain_words(line: str, said: str) -> None:
    done = subprocess.run([sys.executable, "-m", "treegauge", *line.split()], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (2, f"Error: {said}")


def test_help_knows_the_words_as_well() -> None:
    assert error("help", "evaluate").endswith("type: treegauge score GOLD TEST")


@pytest.mark.parametrize("line", OPTIONS)
def test_a_format_as_an_option_leads_to_the_option(line: str) -> None:
    assert error(*line.split()) == f"treegauge: {OPTIONS[line]}"


@pytest.mark.parametrize("line", METRICS)
def test_a_rate_or_program_as_a_metric_leads_to_the_metric(line: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    gold = tmp_path_factory.mktemp("words") / "gold.mrg"
    gold.write_text("(S (NP (NN rain)) (VP (VBD fell)))\n", "utf-8")
    assert error(*line.replace("GOLD", str(gold)).split()).endswith(METRICS[line])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("explain", "  labelled-recall            maximises right labelled constituents"),
        ("explain f1", "f1 is a rate of parseval."),
        ("explain average_crossing", "average_crossing is a rate of parseval."),
        ("explain goodman.labelled_recall", "goodman.labelled_recall is a rate of goodman."),
        ("explain consistent_brackets_recall", "consistent_brackets_recall is a rate of goodman."),
        ("explain labelled-recall", "labelled-recall, a decoding objective"),
        ("explain random", "drawn from all binary trees over the words that the preset keeps, each with the same probability"),
        ("explain lam", "lam: the price of a node"),
        ("cite", "goodman1996        Goodman (1996), Parsing Algorithms and Metrics"),
        ("cite treegauge", "@misc{treegauge2026,"),
    ],
)
def test_names_are_listed_and_explained(line: str, said: str) -> None:
    done = subprocess.run([sys.executable, "-m", "treegauge", *line.split()], capture_output=True, text=True, check=True)
    assert said in done.stdout


def test_options_that_are_gone_are_not_suggested() -> None:
    done = subprocess.run([sys.executable, "-m", "treegauge", "score", "--par"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--part" not in done.stderr


def test_no_word_is_a_command_and_every_line_can_be_typed() -> None:
    words = [word for line in words_for("commands").values() for word in line.split()]
    assert not set(words) & set(COMMANDS)
    assert len(words) == len(set(words)), "a word stands for one command"
    context = click.Context(treegauge)
    for line in (*words_for("commands"), *(line[10:] for line in words_for("options") if line.startswith("treegauge "))):
        name, *rest = shlex.split(line)
        if name == "--version":
            continue
        command = treegauge.get_command(context, name)
        assert command is not None, line
        known = {flag for option in command.params if isinstance(option, click.Option) for flag in option.opts}
        assert {word for word in rest if re.match("-", word)} <= known, line


def test_a_signature_is_broken_between_its_parts_and_fits_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    signature = (
        "parseval|preset:default@71bebc|on_mismatch:align|sentences:103|skipped:0|gold:be11adc0de86|test:3525a058151c|version:1"
    )
    lines = _for_terminal(signature, ["f1"]).split("\n")
    assert max(map(len, lines)) <= 80
    assert "".join(line.strip() for line in lines) == signature
    assert _for_terminal("recall  85.33", ["f1"]) == "recall  85.33"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("train trees.mrg a.model", "unexpected extra argument (a.model). Is it the output? Write -o FILE"),
        ("induce trees.mrg a.model", "unexpected extra argument (a.model). Is it the output? Write -o FILE"),
        ("posteriors own sentence.txt -o chart.svg", "unknown option -o: write --svg"),
        ("validate trees.mrg --treebank spanish", "Did you mean 'cess'?"),
        ("treebanks dutch", "unknown treebank 'dutch'; for Dutch there is alpino"),
        ("score trees.mrg trees.mrg -m sentence_f1", "it is a rate of the metric 'induction': treegauge explain induction"),
        ("draw s(NP", "--on-error repair of score and convert reads trees inside prose"),
    ],
)
def test_what_newcomers_typed(line: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "trees.mrg").write_text("(S (NP (N rain)) (VP (V fell)))\n")
    done = subprocess.run(
        [sys.executable, "-m", "treegauge", *line.split()], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, message in " ".join(done.stderr.split())) == (2, True), done.stderr


def test_labels_among_bare_brackets_are_noticed(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    (tmp_path / "trees.mrg").write_text("(S (NP (N rain)) (VP (V fell)))\n")
    line = [
        sys.executable,
        "-m",
        "treegauge",
        "learn",
        "trees.mrg",
        "--input",
        "brackets",
        "--iterations",
        "0",
        "--nonterminals",
        "2",
    ]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "trees.mrg has labels, which become words: for trees, leave out --input brackets" in done.stderr
