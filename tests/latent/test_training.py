"""Training of latent-variable models: checkpoints, tuning, model files, the command."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from processes import running_process
from tests.latent.toys import TREES, model_of

from treegauge.errors import Discontinuous, ModelError, UsageError
from treegauge.grammar.grammar_text import read_text, write_text
from treegauge.grammar.latent.latent_model import load_latent, save_latent
from treegauge.grammar.latent.subcategories import describe, draw_subcategories, to_pcfg
from treegauge.learning.latent.latent_training import IterationReport, TrainingSettings, hold_out, train_latent
from treegauge.learning.latent.treebank_em import Schedule, treebank_arrays
from treegauge.normalise import split_nodes
from treegauge.parsing import Forest
from treegauge.parsing.latent.latent_forest import LatentForest
from treegauge.parsing.latent.latent_parser import LatentParser
from treegauge.parsing.parser import Sentence
from treegauge.trees import parse_discbracket
from treegauge.trees.tree import Tree

FAST = TrainingSettings(grammars=2, rounds=2, tuning_grammars=0, schedule=Schedule(3, 2, 2))


class Stopped(Exception):
    """Somebody stopped the run."""


def bank(size: int = 60) -> list[Tree]:
    """Trees of a small artificial language, some with traces and function tags."""
    rng = random.Random(0)
    nouns, verbs, names = ["cat", "dog", "bird", "tree"], ["saw", "heard", "met"], ["Ann", "Bob"]
    trees: list[Tree] = []
    for _ in range(size):
        subject = rng.choice([f"(NP-SBJ (NNP {rng.choice(names)}))", f"(NP-SBJ (DT the) (NN {rng.choice(nouns)}))"])
        thing = f"(NP (DT a) (JJ big) (NN {rng.choice(nouns)}))"
        ending = rng.choice(["", " (PP (IN near) (NP (DT the) (NN lake)))", " (SBAR (-NONE- *T*))"])
        trees.append(Tree.parse(f"(TOP (S {subject} (VP (VBD {rng.choice(verbs)}) {thing}{ending}) (. .)))"))
    return trees


def test_a_model_is_read_as_it_was_written(tmp_path: Path) -> None:
    model = train_latent(bank(), FAST)
    save_latent(model, tmp_path / "a.model")
    again = load_latent(tmp_path / "a.model")
    save_latent(again, tmp_path / "b.model")
    assert (tmp_path / "a.model").read_bytes() == (tmp_path / "b.model").read_bytes()
    assert again.settings == model.settings
    words = ["the", "cat", "saw", "a", "big", "dog", "."]
    one, two = LatentForest(model, words), LatentForest(again, words)
    assert one.log_partition == two.log_partition
    assert np.array_equal(one.posteriors.label, two.posteriors.label)
    assert one.argmax("labelled-precision-recall").tree.words == tuple(words)
    assert "near" in again.table.words
    assert not any("SBJ" in name or "NONE" in name for name in again.base.names)


@pytest.mark.parametrize("place", [100, 3000, -200])
def test_a_damaged_model_is_refused(tmp_path: Path, place: int) -> None:
    path = tmp_path / "a.model"
    save_latent(model_of(), path)
    content = bytearray(path.read_bytes())
    content[place] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(ModelError):
        load_latent(path)


def test_stopping_and_resuming_give_the_same_model(tmp_path: Path) -> None:
    folder = tmp_path / "checkpoint"
    whole = train_latent(bank(), FAST, checkpoint=folder)
    assert not folder.exists()
    for stop in (1, 7, 16):
        seen: list[IterationReport] = []

        def tell(at: IterationReport, stop: int = stop, seen: list[IterationReport] = seen) -> None:
            seen.append(at)
            if len(seen) == stop:
                raise Stopped

        with pytest.raises(Stopped):
            train_latent(bank(), FAST, checkpoint=folder, on_iteration=tell)
        assert folder.is_dir()
        resumed = train_latent(bank(), FAST, checkpoint=folder, resume=True)
        for name, model in (("whole", whole), ("resumed", resumed)):
            save_latent(model, tmp_path / name)
        assert (tmp_path / "whole").read_bytes() == (tmp_path / "resumed").read_bytes()


def test_threads_do_not_change_the_model(tmp_path: Path) -> None:
    for jobs in (1, 2, 3):
        save_latent(train_latent(bank(), TrainingSettings(**{**vars(FAST), "jobs": jobs})), tmp_path / str(jobs))
    assert len({(tmp_path / str(jobs)).read_bytes() for jobs in (1, 2, 3)}) == 1


def test_a_checkpoint_of_another_run_is_refused(tmp_path: Path) -> None:
    def stop(at: IterationReport) -> None:
        raise Stopped

    with pytest.raises(Stopped):
        train_latent(bank(), FAST, checkpoint=tmp_path / "c", on_iteration=stop)
    with pytest.raises(UsageError, match="trees"):
        train_latent(bank(50), FAST, checkpoint=tmp_path / "c", resume=True)
    with pytest.raises(UsageError, match="no checkpoint"):
        train_latent(bank(), FAST, checkpoint=tmp_path / "other", resume=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "a.state").write_bytes(b"")
    with pytest.raises(UsageError, match="not a checkpoint"):
        train_latent(bank(), FAST, checkpoint=tmp_path / "mine")


def test_a_run_killed_before_its_first_checkpoint_or_at_the_end_can_be_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for left in ([], [".plan.json.part.7"]):
        (tmp_path / "c").mkdir()
        for name in left:
            (tmp_path / "c" / name).write_bytes(b"{")
        train_latent(bank(), FAST, checkpoint=tmp_path / "c")
    removed: list[str] = []
    real = Path.unlink
    monkeypatch.setattr(Path, "unlink", lambda self: (removed.append(self.name), real(self)))
    train_latent(bank(), FAST, checkpoint=tmp_path / "c")
    assert [name for name in removed if not name.startswith(".")][-1] == "plan.json"


def test_a_model_that_cannot_be_kept_leaves_the_checkpoint(tmp_path: Path) -> None:
    """A full disk at the end of training must not lose the work of many minutes."""

    def full(_: object) -> None:
        raise Stopped

    with pytest.raises(Stopped):
        train_latent(bank(), FAST, checkpoint=tmp_path / "c", save=full)
    seen: list[IterationReport] = []
    resumed = train_latent(bank(), FAST, checkpoint=tmp_path / "c", resume=True, on_iteration=seen.append)
    assert not seen
    assert not (tmp_path / "c").exists()
    for name, model in (("whole", train_latent(bank(), FAST)), ("resumed", resumed)):
        save_latent(model, tmp_path / name)
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "resumed").read_bytes()


def test_nothing_but_a_checkpoint_is_removed_and_a_damaged_one_is_refused(tmp_path: Path) -> None:
    def stop(at: IterationReport) -> None:
        raise Stopped

    folder = tmp_path / "c"
    with pytest.raises(Stopped):
        train_latent(bank(), FAST, checkpoint=folder, on_iteration=stop)
    (folder / "thesis.tex").write_text("years of work", "utf-8")
    with pytest.raises(UsageError, match="not a checkpoint"):
        train_latent(bank(), FAST, checkpoint=folder)
    assert (folder / "thesis.tex").exists()
    for content in (b"{", b"[1]", b"7", b"\xff"):
        (folder / "plan.json").write_bytes(content)
        with pytest.raises(ModelError, match="this file is damaged, or is not a checkpoint"):
            train_latent(bank(), FAST, checkpoint=folder, resume=True)


@pytest.mark.parametrize(
    "text",
    ["(NN dog)", "(TOP (S " + "(NN dog) " * 70 + "))", "(TOP (X (Y (Z a))))", "(S dog cat)"],
    ids=["one tag", "long sentences", "chains", "no tags"],
)
def test_settings_can_be_chosen_on_trees_with_nothing_to_score(text: str) -> None:
    settings = TrainingSettings(grammars=1, most_rounds=1, tuning_grammars=1, schedule=Schedule(2, 1, 1))
    tree = Tree.parse(text)
    assert LatentParser(train_latent([tree] * 50, settings)).parse(Sentence(tree.words)).tree.words == tree.words


def test_settings_are_chosen_on_held_out_trees() -> None:
    tried: list[str] = []
    settings = TrainingSettings(grammars=1, most_rounds=2, tuning_grammars=1, schedule=Schedule(3, 2, 2))
    model = train_latent(bank(), settings, on_try=lambda each: tried.append(each.what))
    assert tried[:2] == ["2 rounds", "1 round"]
    assert any("smoothing" in what for what in tried)
    assert any("pruning" in what for what in tried)
    assert model.notes["rounds"] in (0, 1, 2)
    assert len(model.notes["tried"]) == len(tried)
    forest = LatentForest(model, ["Ann", "saw", "a", "big", "dog", "."])
    assert forest.has_parse


def test_the_held_out_slice_is_spread_and_apart() -> None:
    trees = [Tree("A", [str(i)]) for i in range(500)]
    rest, held = hold_out(trees)
    assert len(held) == 100
    assert sorted(int(t.words[0]) for t in rest + held) == list(range(500))


def test_few_trees_are_enough() -> None:
    model = train_latent(TREES[:2], TrainingSettings(grammars=1, schedule=Schedule(3, 2, 2)))
    assert LatentForest(model, TREES[0].words).argmax("labelled-precision-recall").tree == TREES[0]


def test_a_language_without_capitals_and_unknown_words() -> None:
    trees = [Tree.parse(text) for text in ("(S (NP (N 猫)) (VP (V 見た)))", "(S (NP (N 犬)) (VP (V 来た)))")] * 3
    parser = LatentParser(train_latent(trees, FAST))
    parsed = parser.parse(Sentence(("鳥", "飛んだ")))
    assert parsed.tree == Tree.parse("(S (NP (N 鳥)) (VP (V 飛んだ)))")
    assert not parsed.fallback


def test_no_sentence_is_without_a_tree() -> None:
    parser = LatentParser(train_latent(bank(), FAST))
    for words in ((".", ".", "the", "cat", "saw"), ("in",) * 30, ("near", "near"), ("the",) * 500, ()):
        parsed = parser.parse(Sentence(words))
        assert parsed.tree.words == words
    assert parser.parse(Sentence((".", "."))).fallback


def test_gold_tags_and_kbest_and_posteriors_of_the_parser() -> None:
    model = train_latent(bank(), FAST)
    words = ("the", "cat", "saw", "a", "big", "dog", ".")
    tags = ("DT", "NN", "VBD", "DT", "XX", "NN", ".")
    parsed = LatentParser(model, gold_tags=True, kbest=2, posteriors=True).parse(Sentence(words, tags))
    assert parsed.tree.tags == tags
    assert all(parse.tree.tags == tags for parse in parsed.kbest)
    assert any(c.label == "S" and c.posterior > 0.9 for c in parsed.constituents)
    trees = [p.tree for p in LatentParser(model).parse_all([Sentence(words)] * 5, jobs=2)]
    assert len(set(trees)) == 1


def test_the_text_of_a_level_is_an_ordinary_grammar() -> None:
    model = train_latent(bank(), FAST)
    for rounds in (0, 1, 2):
        grammar = to_pcfg(model, 0, rounds)
        again = read_text(write_text(grammar))
        assert again.rules == grammar.rules
        words = ["Ann", "saw", "a", "big", "dog", "."]
        assert Forest(again, words).log_partition == Forest(grammar, words).log_partition
        assert {grammar.label(s) for s in grammar.nonterminals} >= {"NP", "VP", "S"}


def test_every_symbol_has_a_name_of_its_own_whatever_labels_are_called() -> None:
    """Labels of a treebank can look like the titles of inner symbols, or of tags with the same name as a label."""
    texts = ("(S (@S (A a) (B b) (C c)) (NP (NN d)) (X (X^ x) (X y)))", "(@S (@@S (A a) (B b) (C c)) (X^ (X^^ z) (X y)))")
    base = treebank_arrays([Tree.parse(text) for text in texts]).base
    assert len(set(base.titles)) == base.size
    assert {"S", "@S", "@@S", "NP", "X", "X^"} <= set(base.titles)
    model = train_latent([Tree.parse(text) for text in texts] * 3, FAST)
    grammar = to_pcfg(model, 0, 0)
    assert len(grammar.nonterminals) == model.base.size + 1
    for text in texts:
        tree = Forest(grammar, Tree.parse(text).words).best().tree
        assert str(tree) == text


def test_descriptions() -> None:
    model = train_latent(bank(), FAST)
    described = describe(model, 0, labels=["NN"])
    assert sum(row.share for row in described.rows) == pytest.approx(1.0)
    assert {name for row in described.rows for name, _ in row.below} <= {"cat", "dog", "bird", "tree", "lake"}
    assert "NN-0" in str(describe(model))
    picture = draw_subcategories(described)
    assert picture.count("<g>") == len(described.rows)
    heading, bars = (int(x) for x in re.findall(r'<text x="(\d+)"', picture)[:2])
    assert bars - heading > 8 * len("subcategory"), "the headings do not touch"


@pytest.mark.slow
def test_kill_and_resume_give_the_same_bytes(tmp_path: Path) -> None:
    (tmp_path / "bank.mrg").write_text("".join(f"{tree}\n" for tree in bank(300)), "utf-8")
    # Each iteration prints its line, so that the moment of the kill is known.
    program = "from treegauge.cli import main, train; train.SECONDS_BETWEEN_LINES = 0; main()"
    command = [sys.executable, "-c", program, "train", "bank.mrg", "--grammars", "2", "--rounds", "2", "--no-tune", "-o"]
    subprocess.run([*command, "whole.model"], cwd=tmp_path, check=True, capture_output=True)
    with running_process([*command, "cut.model"], cwd=tmp_path, stderr=subprocess.PIPE) as child:
        assert child.stderr is not None
        assert any(b"round 2, iteration 10:" in line for line in child.stderr)
        child.kill()
    assert not (tmp_path / "cut.model").exists()
    subprocess.run([*command, "cut.model", "--resume"], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "cut.model").read_bytes() == (tmp_path / "whole.model").read_bytes()
    parsed = subprocess.run(
        [sys.executable, "-m", "treegauge", "parse", "cut.model", "-"],
        cwd=tmp_path, input=b"Ann saw a big dog .\n", check=True, capture_output=True,
    )  # fmt: skip
    assert parsed.stdout.startswith(b"(TOP (S (NP (NNP Ann))")


def test_trees_with_gaps_are_refused() -> None:
    tree = parse_discbracket("(S (VP (A 0=a) (B 2=b)) (C 1=c))")
    with pytest.raises(Discontinuous, match=r"tree 1: .* VP has a gap\n.*continuous:split"):
        treebank_arrays([tree])
    assert treebank_arrays([split_nodes(tree)]).base.size


def test_progress_counts_to_the_end() -> None:
    """Also if fewer rounds are trained than might have been."""
    seen: list[IterationReport] = []
    few = bank()[:10]
    train_latent(few, TrainingSettings(grammars=2), on_iteration=seen.append)
    done = [at.done for at in seen]
    assert done == sorted(done)
    assert done[-1] == pytest.approx(1.0)
