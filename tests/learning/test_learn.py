"""Learning as a whole: histories, starts, stopping, checkpoints, the command, and being killed at any time."""

from __future__ import annotations

import itertools
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from processes import running_process

import treegauge
from treegauge.data import own_treebank, treebank_path
from treegauge.errors import BracketError, MismatchError, ModelError, UsageError
from treegauge.grammar import PCFG, load_model, read_text, write_text
from treegauge.learning import BracketedSentences, DenseGrammar, Iteration, LearningSettings, learn, random_grammar, read_brackets
from treegauge.trees import Treebank

QUICK = LearningSettings(nonterminals=4, seed=3, iterations=12, tolerance=0.0, restarts=2)


@pytest.fixture(scope="module")
def sentences() -> BracketedSentences:
    return BracketedSentences.from_treebank(own_treebank("all", ("travel",)), longest=10).take(range(40))


class Interrupted(Exception):
    pass


def test_the_cross_entropy_of_each_start_falls_and_the_best_is_kept(sentences: BracketedSentences) -> None:
    heard: list[Iteration] = []
    learned = learn(sentences, QUICK, on_iteration=heard.append)
    assert [len(history) for history in learned.histories] == [13, 13]
    assert all(a > b for history in learned.histories for a, b in itertools.pairwise(history))
    assert learned.cross_entropy == min(history[-1] for history in learned.histories)
    assert [(at.start, at.step) for at in heard] == [(r, k) for r in range(2) for k in range(13)]
    again = learn(sentences, LearningSettings(nonterminals=4, iterations=0), start=learned.grammar())
    assert again.cross_entropy == pytest.approx(learned.cross_entropy, rel=1e-12), "it is the grammar's own cross entropy"


def test_learning_stops_where_it_no_longer_pays(sentences: BracketedSentences) -> None:
    learned = learn(sentences, LearningSettings(nonterminals=3, tolerance=0.01, iterations=500))
    *_, before, last = learned.histories[0]
    assert len(learned.histories[0]) < 500
    assert before - last < 0.01


def test_brackets_make_the_learned_grammar_bracket_alike(sentences: BracketedSentences) -> None:
    """Without brackets the same sentences are at least as probable: fewer parses are forbidden."""
    settings = LearningSettings(nonterminals=3, iterations=3, tolerance=0.0)
    with_brackets, without = learn(sentences, settings), learn(sentences.without_brackets(), settings)
    assert without.histories[0][0] < with_brackets.histories[0][0]


@pytest.mark.parametrize("stop_after", [1, 7, 13, 14, 20, 25])
def test_resumed_learning_ends_the_same(sentences: BracketedSentences, tmp_path: Path, stop_after: int) -> None:
    whole = learn(sentences, QUICK)
    heard = 0

    def interrupt(_: Iteration) -> None:
        nonlocal heard
        heard += 1
        if heard == stop_after:
            raise Interrupted

    with pytest.raises(Interrupted):
        learn(sentences, QUICK, checkpoint=tmp_path / "c", on_iteration=interrupt)
    resumed = learn(sentences, QUICK, checkpoint=tmp_path / "c", resume=True)
    assert resumed.histories == whole.histories
    assert resumed.grammar() == whole.grammar()


def test_one_start_may_go_on_longer_than_was_meant(sentences: BracketedSentences, tmp_path: Path) -> None:
    short, long = (LearningSettings(nonterminals=3, iterations=n, tolerance=0.0) for n in (5, 9))
    learn(sentences, short, checkpoint=tmp_path / "c")
    resumed = learn(sentences, long, checkpoint=tmp_path / "c", resume=True)
    assert resumed.histories == learn(sentences, long).histories


def test_any_grammar_resumes_too(tmp_path: Path) -> None:
    start = PCFG.parse('S -> "a" S "b" [.3] | S S [.2] | A [.3] | "b" [.2]\nA -> "a" [.5] | S A A [.5]').with_labels(str.lower)
    bracketed = read_brackets("(a (a b) b)\n(a b a)\nb a")
    settings = LearningSettings(iterations=4, tolerance=0.0)
    whole = learn(bracketed, settings, start=start)
    learn(bracketed, LearningSettings(iterations=2, tolerance=0.0), start=start, checkpoint=tmp_path / "c")
    resumed = learn(bracketed, settings, start=start, checkpoint=tmp_path / "c", resume=True)
    assert resumed.grammar() == whole.grammar()
    assert resumed.grammar().label("A") == "a"


def test_a_checkpoint_of_another_run_is_refused(sentences: BracketedSentences, tmp_path: Path) -> None:
    learn(sentences, QUICK, checkpoint=tmp_path / "c")
    with pytest.raises(UsageError, match="what differs: seed"):
        learn(sentences, LearningSettings(4, 4, 12, 0.0, 2), checkpoint=tmp_path / "c", resume=True)
    with pytest.raises(UsageError, match="what differs: sentences"):
        learn(sentences.take(range(20)), QUICK, checkpoint=tmp_path / "c", resume=True)
    with pytest.raises(UsageError, match="no checkpoint"):
        learn(sentences, QUICK, checkpoint=tmp_path / "none", resume=True)
    (tmp_path / "c").write_bytes(b"PK nothing")
    with pytest.raises(ModelError):
        learn(sentences, QUICK, checkpoint=tmp_path / "c", resume=True)


def test_dense_grammars_come_back_from_pcfgs() -> None:
    grammar = random_grammar(5, ["a", 'it\'s "it"', "c"], 1)
    back = DenseGrammar.from_pcfg(read_text(write_text(grammar.to_pcfg())))
    assert back.symbols == grammar.symbols
    assert np.array_equal(back.binary, grammar.binary)
    assert np.array_equal(back.lexical, grammar.lexical)
    pruned = grammar.to_pcfg(threshold=0.02)
    assert 0 < len(pruned.rules) < grammar.n_rules
    with pytest.raises(UsageError, match="only rules"):
        DenseGrammar.from_pcfg(PCFG.parse('S -> "a" "b" [1]'))


def test_treebanks_give_tags_or_words_and_the_brackets_that_matter() -> None:
    bank = Treebank.parse("(S (NP (NP (PRP it))) (VP (VBD sat) (ADVP (RB down))) (. .) (X (-NONE- *)))  (-NONE- *)  (S (UH oh))")
    tags = BracketedSentences.from_treebank(bank)
    assert [(tags.words(i), tags.brackets(i)) for i in range(len(tags))] == [
        (["PRP", "VBD", "RB", "."], [(0, 4), (1, 3)]),
        (["UH"], []),
    ]
    words = BracketedSentences.from_treebank(bank, terminals="words", longest=1)
    assert [words.words(i) for i in range(len(words))] == [["oh"]]
    with pytest.raises(MismatchError, match="tree 1: a word without a tag: a b"):
        BracketedSentences.from_treebank(Treebank.parse("(S a (B b))"))


@pytest.mark.parametrize(("text", "place"), [("a b\n(a (b) c", "x:2:1"), ("(a b))", "x:1:6"), ("((a b) (", "x:1:8")])
def test_unbalanced_brackets_are_shown(text: str, place: str) -> None:
    with pytest.raises(BracketError, match=place):
        read_brackets(text, path="x")


def test_brackets_are_read_from_files_and_lists_of_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("np.txt").write_text("((a b) c)\n\nd e\n", "utf-8")
    expected = [(["a", "b", "c"], [(0, 2), (0, 3)]), (["d", "e"], [])]
    for given in ("np.txt", Path("np.txt"), ["((a b) c)", "d e"], ["((a b) c)\n", "\n", "d e\n"], "((a b) c)\nd e"):
        found = read_brackets(given)
        assert [(found.words(i), found.brackets(i)) for i in range(len(found))] == expected, given
    assert read_brackets("np.txt", path="x").words(0) == ["np.txt"], "with a path for messages a string is always text"
    Path("np.txt").write_text("a\n(b", "utf-8")
    with pytest.raises(BracketError, match=r"np\.txt:2:1"):
        read_brackets("np.txt")
    for other in (3, [3], Treebank.parse("(S (A a))")):
        with pytest.raises(UsageError, match="as text, as a file or as a list of lines, not"):
            read_brackets(cast("str", other))


def learn_command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "treegauge", "learn", *arguments]


def run(*arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(learn_command(*arguments), capture_output=True, text=True, input=text, check=False)


def test_the_command_learns_from_bare_brackets() -> None:
    done = run(
        "-", "--input", "brackets", "--nonterminals", "2", "--iterations", "4", "--format", "nltk", text="((a b) c)\na b c\n"
    )
    assert done.returncode == 0, done.stderr
    assert read_text(done.stdout).start == "S"
    assert "2 sentences, 6 tokens, 2 brackets" in done.stderr
    assert "step 4: " in done.stderr


def test_the_command_says_what_is_wrong(tmp_path: Path) -> None:
    assert run("-", "--input", "brackets", text="((a b)").returncode == 3
    assert run("-", "--input", "brackets", "--format", "model", text="a").returncode == 2
    other = tmp_path / "g.txt"
    other.write_text('S -> "z" [1]\n', "utf-8")
    done = run("-", "--input", "brackets", "--start", str(other), text="a b")
    assert done.returncode == 0
    assert read_text(done.stdout) == read_text(other.read_text("utf-8"))
    assert "no sentence has a parse that fits its brackets: the grammar stays as it was" in done.stderr


def test_sentences_taken_for_trees_lead_to_input_brackets() -> None:
    done = run("-", text="((a b) c)\nd e\n")
    assert done.returncode == 3
    assert "read by treegauge.learning.read_brackets (in the command: --input brackets)" in done.stderr
    with pytest.raises(BracketError, match=r"Brackets without labels are read by treegauge.learning.read_brackets"):
        treegauge.learn(["((a b) c)", "(d e))"])
    parse = [sys.executable, "-m", "treegauge", "parse", "--input", "brackets", "-"]
    assert "Did you mean 'trees'?" in subprocess.run(parse, capture_output=True, text=True, input="", check=False).stderr


@pytest.mark.slow
def test_killed_at_random_it_resumes_to_the_identical_grammar(tmp_path: Path) -> None:
    options = ["--nonterminals", "6", "--iterations", "40", "--tolerance", "0", "--restarts", "2", "--max-length", "12"]
    corpus = str(treebank_path("travel"))
    assert run(corpus, *options, "-o", str(tmp_path / "whole.model")).returncode == 0
    killed = tmp_path / "killed.model"
    chance = random.Random(5)
    kills, resume = 0, False
    while kills < 4:
        command = learn_command(corpus, *options, "-o", str(killed), *(["--resume"] if resume else []))
        with running_process(command, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            if _kill_after(process, steps=chance.randint(1, 15), wait=chance.random() * 0.03):
                kills += 1
        resume = Path(f"{killed}.checkpoint").exists()
        if killed.exists():
            break
    assert kills >= 3
    assert run(corpus, *options, "-o", str(killed), "--resume").returncode == 0
    assert killed.read_bytes() == (tmp_path / "whole.model").read_bytes()
    assert load_model(killed).notes["best_start"] in (0, 1)


def _kill_after(process: subprocess.Popen[str], steps: int, wait: float) -> bool:
    """Kill a run some steps on and a random moment later; False if it had ended by then."""
    assert process.stderr is not None
    for line in process.stderr:
        steps -= "step" in line
        if steps == 0:
            break
    time.sleep(wait)
    os.kill(process.pid, signal.SIGKILL)
    return process.wait() == -signal.SIGKILL


def test_learn_takes_the_options_of_the_command_and_its_result_can_be_saved(tmp_path: Path) -> None:
    tree = "(S (NP (DT the) (NN cat)) (VP (VBD sat)))"
    learned = treegauge.learn([tree], nonterminals=2, iterations=1, terminals="words", max_length=8, ignore_brackets=True)
    learned.save(tmp_path / "x.model", terminals="words")
    assert treegauge.load(tmp_path / "x.model").parse("the cat sat").tree.words == ("the", "cat", "sat")
