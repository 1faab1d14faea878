"""``parse``, ``posteriors`` and ``train`` with latent-variable models, as commands."""

from __future__ import annotations

import contextlib
import itertools
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from tests.latent.test_training import FAST, bank

import treegauge as python
from treegauge.cli._group import treegauge
from treegauge.engines.workers import Processes
from treegauge.errors import TooLong, TreegaugeError
from treegauge.grammar.latent.latent_model import LatentModel, load_latent, save_latent
from treegauge.grammar.training_sentences import STEPS, hold_out_by_words, sentence_hashes
from treegauge.learning.latent.latent_training import train_latent
from treegauge.parsing.latent.latent_forest import LatentForest

WORDS = ["Ann saw a big dog .", "the cat met a big bird near the lake .", "Bob heard a big tree ."]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("latent")
    save_latent(train_latent(bank(), FAST), made / "m.model")
    (made / "words.txt").write_text("".join(f"{line}\n" for line in WORDS), "utf-8")
    return made


def run(folder: Path, *arguments: str, code: int = 0) -> tuple[str, str]:
    with contextlib.chdir(folder):
        done = CliRunner().invoke(treegauge, list(arguments), prog_name="treegauge")
    if isinstance(done.exception, TreegaugeError):  # the command line says it and exits with its code
        assert done.exception.exit_code == code, done.exception
        return done.stdout, str(done.exception)
    assert done.exit_code == code, done.output
    return done.stdout, done.stderr


def test_parse_in_every_way_gives_the_same_trees(folder: Path) -> None:
    plain, said = run(folder, "parse", "m.model", "words.txt", "--prune-check", "2")
    assert plain.splitlines()[0] == "(TOP (S (NP (NNP Ann)) (VP (VBD saw) (NP (DT a) (JJ big) (NN dog))) (. .)))"
    assert "3 sentences" in said
    assert "search error: the best tree was lost in 0 of" in said
    assert run(folder, "parse", "m.model", "words.txt", "--jobs", "2")[0] == plain
    assert run(folder, "parse", "m.model", "words.txt", "--engine", "local:2")[0] == plain


def test_sentences_that_exact_parsing_has_to_prune_are_counted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, _ = run(folder, "parse", "m.model", "words.txt")
    exactly, said = run(folder, "parse", "m.model", "words.txt", "--exact")
    assert exactly == plain
    assert "pruned despite" not in said

    def forest(model: LatentModel, words: Sequence[str], *, exact: bool = False, **options: Any) -> LatentForest:
        if exact and len(words) == len(WORDS[1].split()):
            raise TooLong("too many parses")
        return LatentForest(model, words, exact=exact, **options)

    monkeypatch.setattr("treegauge.parsing.latent.latent_parser.LatentForest", forest)
    found, said = run(folder, "parse", "m.model", "words.txt", "--exact")
    assert found == plain
    assert "1 sentence pruned despite --exact: too many parses" in said


@pytest.mark.slow
def test_a_long_file_is_parsed_by_processes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bytes as by one, and an interrupted run is resumed in the middle of a block."""
    monkeypatch.setattr("treegauge.cli.parse.SMALL_BLOCK", 3)
    monkeypatch.setattr("treegauge.cli.parse.MANY", 6)
    opened: list[int] = []

    class Recorded(Processes):
        def __init__(self, workers: int, *, inherit: bool = False) -> None:
            opened.append(workers)
            super().__init__(workers, inherit=inherit)

    monkeypatch.setattr("treegauge.engines.workers.Processes", Recorded)
    (folder / "long.txt").write_text("".join(f"{line}\n" for line in 3 * WORDS[:2] + WORDS), "utf-8")
    plain, _ = run(folder, "parse", "m.model", "long.txt", "--jobs", "1")
    assert not opened
    assert run(folder, "parse", "m.model", "long.txt", "--jobs", "2")[0] == plain
    assert opened == [2]
    with monkeypatch.context() as patch:
        patch.setattr("treegauge.cli.parse._records", interrupted)
        run(folder, "parse", "m.model", "long.txt", "--jobs", "2", "-o", "out.mrg", code=1)
    assert (folder / "out.mrg").read_text("utf-8").count("\n") == 2
    _, said = run(folder, "parse", "m.model", "long.txt", "--jobs", "2", "-o", "out.mrg", "--resume")
    assert (folder / "out.mrg").read_text("utf-8") == plain
    assert "7 sentences after 2 done before" in said
    assert len(opened) == 3


def interrupted(engine: Processes, found: Iterator[list[Any]]) -> Iterator[Any]:
    with contextlib.closing(engine):
        yield from next(found)[:2]
        raise KeyboardInterrupt


def test_kbest_and_posteriors(folder: Path) -> None:
    out, _ = run(
        folder, "parse", "m.model", "words.txt", "--kbest", "2", "--posteriors", "--format", "jsonl", "--objective", "max-rule"
    )
    first = json.loads(out.splitlines()[0])
    assert first["kbest"][0]["tree"] == first["tree"]
    assert [0, 6, "S"] in [entry[:3] for entry in first["posteriors"]]
    out, _ = run(folder, "posteriors", "m.model", "words.txt", "--format", "json")
    document = json.loads(out)
    assert 0 <= document["entropy_nats"] < 3
    assert document["parses"] >= 1
    assert {c["label"] for c in document["constituents"]} >= {"S", "NP", "VP", "NNP"}


def test_refusals(folder: Path) -> None:
    assert "max-rule" in run(folder, "parse", "m.model", "words.txt", "--objective", "best", code=2)[1]
    assert "--exact" in run(folder, "parse", "m.model", "words.txt", "--prune", code=2)[1]
    assert "-o parser.model" in run(folder, "train", "words.txt", code=2)[1]
    assert "grammar" in run(folder, "train", "--show", "m.model", "--grammar", "9", code=2)[1]
    assert "NP" in run(folder, "train", "--show", "m.model", "--label", "NPP", code=2)[1]
    assert "one of them" in run(folder, "train", "--show", "--export", "m.model", code=2)[1]
    assert "add --show" in run(folder, "train", "m.model", "--label", "NP", code=2)[1]


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("words.txt -o x.model --grammar 1", "--grammar is about a model: .*; for training write --grammars N"),
        ("words.txt -o x.model --level 1", "--level is about a model: .* --rounds N"),
        ("words.txt -o x.model --neural --grammar 1", "--grammar is about a model"),
        ("words.txt -o x.model --format nltk", "--format is about a model"),
        ("words.txt -o x.model --svg x.svg", "--svg is about a model: add --show"),
        ("words.txt -o x.model --gram 1", "unknown option --gram: write --grammars"),
        ("words.txt -o x.model --neural --rounds 1", "--rounds is for grammars"),
        ("words.txt -o x.model --epochs 1", "--epochs goes with --neural"),
        ("words.txt -o x.model --device cuda", "--device goes with --neural"),
        ("--show m.model --grammars 1", "--grammars is for training, .*: --grammar N says which grammar"),
        ("--export m.model --rounds 1", "--rounds is for training, .* --level N"),
        ("--show m.model --format nltk", "--format belongs to --export"),
        ("--export m.model --label NP", "--label belongs to --show"),
    ],
)
def test_an_option_that_would_do_nothing_is_refused(folder: Path, line: str, advice: str) -> None:
    assert re.search(advice, run(folder, "train", *line.split(), code=2)[1])


@pytest.mark.parametrize(("seconds", "most"), [(0.0, 1000), (1e9, 1)])
def test_where_lines_stay_training_prints_one_in_ten_seconds(
    folder: Path, monkeypatch: pytest.MonkeyPatch, seconds: float, most: int
) -> None:
    monkeypatch.setattr("treegauge.cli.train.SECONDS_BETWEEN_LINES", seconds)
    (folder / "some.mrg").write_text("".join(f"{tree}\n" for tree in bank(20)), "utf-8")
    _, said = run(folder, "train", "some.mrg", "-o", "some.model", "--grammars", "1", "--rounds", "1", "--no-tune")
    iterations = [line for line in said.splitlines() if ", iteration " in line]
    assert min(2, most) <= len(iterations) <= most


def test_an_output_that_cannot_be_written_is_refused_before_training(folder: Path) -> None:
    (folder / "bank.mrg").write_text("".join(f"{tree}\n" for tree in bank()), "utf-8")
    (folder / "taken").mkdir(exist_ok=True)
    for output, why in (("taken", "it is a folder"), ("missing/m.model", "No such file"), ("a\0b", "zero byte")):
        assert why in run(folder, "train", "bank.mrg", "-o", output, "--no-tune", code=3)[1]
    assert not (folder / "missing").exists()
    assert not list(folder.glob("*.checkpoint"))


def test_gold_tags_that_the_lexicon_rules_out_are_kept(folder: Path) -> None:
    (folder / "tagged.txt").write_text("saw/NNP Ann/VBD a/DT big/JJ ./NN dog/.\n", "utf-8")
    out, _ = run(folder, "parse", "m.model", "tagged.txt", "--input", "tagged", "--gold-tags")
    assert out == "(TOP (S (NP (NNP saw)) (VP (VBD Ann) (NP (DT a) (JJ big) (NN .))) (. dog)))\n"


def test_weights_and_preterminals_are_options_as_with_counted_grammars(folder: Path) -> None:
    (folder / "weights.txt").write_text("NP 1\n", "utf-8")
    for options in (["--objective", "general", "--weights", "weights.txt"], ["--objective", "labelled-recall", "--pre"]):
        out, _ = run(folder, "parse", "m.model", "words.txt", *options)
        assert [line.count("(NP") > 0 for line in out.splitlines()] == [True] * 3


def test_show_and_export(folder: Path) -> None:
    out, _ = run(folder, "train", "--show", "m.model", "--label", "NN", "--svg", "nn.svg")
    assert "NN-0" in out
    assert (folder / "nn.svg").read_text("utf-8").startswith("<svg")
    run(folder, "train", "--show", "m.model", "--label", "NN", "-o", "table.txt")
    assert (folder / "table.txt").read_text("utf-8") == out
    run(folder, "train", "--export", "m.model", "--level", "1", "-o", "level.txt")
    out, _ = run(folder, "parse", "level.txt", "words.txt")
    assert out.startswith("(TOP (S-")


def test_held_out_trees_are_not_among_the_sentences_of_the_model(folder: Path) -> None:
    trees = bank()
    (folder / "bank.mrg").write_text("".join(f"{tree}\n" for tree in trees), "utf-8")
    quickly = ("--grammars", "1", "--rounds", "0", "--no-tune")
    _, said = run(folder, "train", "bank.mrg", "-o", "rest.model", *quickly, "--hold-out", "0.3")
    rest, held = hold_out_by_words(trees, 0.3)
    assert f"{len(rest)} trees, {len(held)} held out" in said
    assert load_latent(folder / "rest.model").sentences.tolist() == sentence_hashes(rest).tolist()
    assert not np.isin(sentence_hashes(held), load_latent(folder / "rest.model").sentences).any()
    run(folder, "train", "bank.mrg", "-o", "all.model", *quickly)
    assert load_latent(folder / "all.model").sentences.tolist() == sentence_hashes(trees).tolist()


def marked_bank() -> list[str]:
    """Trees whose functions stand before a mark, as in Floresta: each word in several functions."""
    nouns, verbs = ["chuva", "casa", "ave", "rua"], ["cai", "dorme", "passa"]
    return [
        f"(STA+fcl (SUBJ+np (>N+pron-det esta) (H+n {noun})) (P+v-fin {verb}) (ADVL/N<[+3]+pp (H+prp em) (P<+n {other})) (.))"
        for noun, verb, other in itertools.product(nouns, verbs, nouns)
    ]


def test_functions_before_a_mark_are_not_learned(tmp_path: Path) -> None:
    (tmp_path / "bank.ptb").write_text("#1 a comment\n" + "\n".join(marked_bank()), "utf-8")
    (tmp_path / "words.txt").write_text("esta chuva cai em casa .\n", "utf-8")
    expected = "(fcl (np (pron-det esta) (n chuva)) (v-fin cai) (pp (prp em) (n casa)) (. .))\n"
    style = ("bank.ptb", "--treebank", "floresta")
    for command in (["train", "--grammars", "1", "--rounds", "1"], ["induce"], ["induce", "--steps", "traces,functions,root"]):
        _, said = run(tmp_path, *command, *style, "-o", "m.model")
        assert "held-out F1 100.00" in said or command[0] == "induce", "the held-out trees are cut, too"
        assert run(tmp_path, "parse", "m.model", "words.txt")[0] == expected, command
        calibration = run(tmp_path, "posteriors", "m.model", "--calibration", *style)[0]
        assert "F1 100.00 expected, 100.00 actual" in calibration
        _, said = run(tmp_path, "parse", "m.model", *style, "--input", "trees", "--gold-tags", "--posteriors", "-o", "out.mrg")
        assert "0 without a parse" in said
        assert "actual recall 100.00, precision 100.00" in said
    marked = run(tmp_path, "induce", *style, "--steps", "traces,root,mh", "-o", "-")[0]
    assert "fcl^~v-fin" in marked or "fcl^~pron-det" in marked, "tags are whole"
    assert "+" not in marked
    learned = run(tmp_path, "learn", *style, "--nonterminals", "2", "--iterations", "1")[0]
    assert '"v-fin"' in learned
    assert "+" not in learned
    held = ("--hold-out", "0.3")
    run(tmp_path, "train", *style, *held, "-o", "a.model", "--grammars", "1", "--rounds", "0", "--no-tune")
    run(tmp_path, "induce", *style, *held, "-o", "b.model", "--no-tune")
    _, said = run(tmp_path, "mix", "a.model", "b.model", "--tune", *style, *held, "-o", "mix.model")
    assert "F1 100.00; lam" in said
    for treebank in (tmp_path / "bank.ptb", python.read(tmp_path / "bank.ptb", treebank="floresta")):
        model = python.train(treebank, treebank="floresta", grammars=1, rounds=0, tune=False)
        assert f"{model.parse('esta chuva cai em casa .')}\n" == expected
        assert model.notes["steps"] == "traces,functions:before=+,features,root:labels=floresta,redundant"
    (tmp_path / "penn.mrg").write_text("".join(f"{tree}\n" for tree in bank()), "utf-8")
    for name in ("", "ptb"):
        model = python.train(tmp_path / "penn.mrg", treebank=name, grammars=1, rounds=0, tune=False)
        assert model.notes["steps"] == STEPS, "other styles change no step"


def test_an_interrupted_training_says_how_it_continues(tmp_path: Path) -> None:
    (tmp_path / "train.mrg").write_text("".join(f"{tree}\n" for tree in bank()), "utf-8")
    words = ("train", "train.mrg", "-o", "m.model", "--grammars", "1", "--rounds", "1", "--no-tune")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("treegauge.cli.train._iteration_printer", lambda show: interrupt)
        said = run(tmp_path, *words, code=1)[1]
    assert "m.model.checkpoint keeps what was done: the same command with --resume continues" in said
    said = run(tmp_path, *words, "--resume")[1]
    assert "kB, in " in said
    assert ", 0 s left" not in said
    assert "-o parser.model" in run(tmp_path, "train", "train.mrg", code=2)[1]
