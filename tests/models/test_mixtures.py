"""Mixtures of models on the command line and as files: what is chosen, what is refused."""

from __future__ import annotations

import contextlib
import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from tests.neural.toy_network import TREES, trained

from treegauge.cli._group import treegauge
from treegauge.errors import FileNote, MismatchError, ModelError, TreegaugeError, UsageError
from treegauge.grammar import PCFG, load_model, save_model, train
from treegauge.grammar.training_sentences import hold_out_by_words, seen_sentences, sentence_hashes
from treegauge.io import write
from treegauge.io.archive import write_archive
from treegauge.models.loading import load_parser
from treegauge.models.mixtures import load_mixture, mix_models, save_mixture
from treegauge.parsing import read_charts, write_charts
from treegauge.parsing.mixture import MixtureParser, mixture_of
from treegauge.parsing.parser import Parser, Sentence
from treegauge.trees import Tree, Treebank

SENTENCES = ("the cat sat", "milk saw the old dog with a cat", "a dog sat with milk")
HELD = [
    Tree.parse(text) for text in ("(TOP (S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (DT a) (NN cat)))))", "(TOP (NP (NN dog)))")
]
RECALL = ("--objective", "labelled-recall", "--format", "jsonl")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two counted grammars and their training sentences, some text, and trees that neither was trained on."""
    made = tmp_path_factory.mktemp("mixture")
    for name, trees in (("a", TREES), ("b", TREES[:4] * 2 + TREES[4:])):
        grammar, notes = train(trees, steps="traces,functions,root,redundant")
        save_model(grammar, made / f"{name}.model", notes=notes, sentences=sentence_hashes(trees))
    (made / "words.txt").write_text("".join(f"{line}\n" for line in SENTENCES))
    write(Treebank.from_trees(HELD), made / "held.mrg")
    write(Treebank.from_trees([*HELD, TREES[0]]), made / "overlap.mrg")
    return made


def run(folder: Path, *arguments: str, code: int = 0) -> tuple[str, str]:
    with contextlib.chdir(folder):
        done = CliRunner().invoke(treegauge, list(arguments), prog_name="treegauge")
    if isinstance(done.exception, TreegaugeError):
        assert done.exception.exit_code == code, done.exception
        return done.stdout, str(done.exception)
    assert done.exit_code == code, done.output
    return done.stdout, done.stderr


def test_a_mixture_may_lie_on_another_drive(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows has no relative path from one drive to another: then the file names its models by their whole paths."""

    def relpath(path: object, start: object = None) -> str:
        raise ValueError("path is on mount 'C:', start on mount 'D:'")

    monkeypatch.setattr(os.path, "relpath", relpath)
    names = [str(folder / "a.model"), str(folder / "b.model")]
    save_mixture(tmp_path / "far.model", names, [1.0, 1.0], 0.4, notes={})
    monkeypatch.undo()
    assert len(load_mixture(tmp_path / "far.model").parser.parts) == 2  # type: ignore[attr-defined]


def test_parse_with_several_models(folder: Path) -> None:
    """Two models are the mean of their posteriors; their shares are said unless they are given, or nothing is to be said."""
    assert "equal shares" not in run(folder, "parse", "a.model", "b.model", "words.txt", "--quiet")[1]
    alone = [run(folder, "parse", f"{name}.model", "words.txt", *RECALL)[0] for name in "ab"]
    mixed, said = run(folder, "parse", "a.model", "b.model", "words.txt", "--format", "jsonl", "--posteriors")
    assert "equal shares, lam 0.45" in said
    assert said.count("equal shares") == 1
    records = [json.loads(line) for line in mixed.splitlines()]
    assert [" ".join(record["words"]) for record in records] == list(SENTENCES)
    for record, sentence in zip(records, SENTENCES, strict=True):
        parts = [load_parser(str(folder / f"{name}.model")).parser for name in "ab"]
        views = [part.view(Sentence(tuple(sentence.split()))) for part in parts]
        mean = {(s, t, label): p for s, t, label, p in record["posteriors"]}
        wanted: dict[tuple[int, int, str], float] = {}
        for view in views:
            for c in view.shown_constituents():
                wanted[c[:3]] = wanted.get(c[:3], 0.0) + c.posterior / 2
        for key in mean.keys() | wanted.keys():
            assert mean.get(key, 0.0) == pytest.approx(wanted.get(key, 0.0), abs=1e-5), key
    for shares, name in (("1,0", 0), ("0,1", 1)):
        given, said = run(folder, "parse", "a.model", "b.model", "words.txt", "--shares", shares, *RECALL)
        assert "equal" not in said
        trees = [[json.loads(line)["tree"] for line in text.splitlines()] for text in (given, alone[name])]
        assert trees[0] == trees[1]


def test_what_parse_refuses(folder: Path) -> None:
    assert "whole trees" in run(folder, "parse", "a.model", "b.model", "words.txt", "--kbest", "2", code=2)[1]
    for objective, why in (
        ("viterbi", "posteriors do not say"),
        ("frames", "parses of a grammar"),
        ("max-rule", "treegauge train"),
    ):
        assert why in run(folder, "parse", "a.model", "b.model", "words.txt", "--objective", objective, code=2)[1]
    assert "several models" in run(folder, "parse", "a.model", "words.txt", "--shares", "1,2", code=2)[1]
    for shares in ("1", "1,2,3", "0,0", "1,-1", "1,nan"):
        assert "2 models need 2 shares" in run(folder, "parse", "a.model", "b.model", "words.txt", "--shares", shares, code=2)[1]
    assert "separated by commas" in run(folder, "parse", "a.model", "b.model", "words.txt", "--shares", "1;2", code=2)[1]
    for files, wrong in (
        (("a.model", "words.txt", "b.model"), "words.txt"),
        (("grammar.txt", "a.model", "words.txt"), "grammar.txt"),
    ):
        refused = run(folder, "parse", *files, code=2)[1]
        assert "only one text can follow the models, not 2" in refused
        assert f"is {wrong} one?" in refused
    several = run(folder, "parse", "a.model", "words.txt", "more.txt", code=2)[1]
    assert "cat words.txt more.txt | treegauge parse a.model -" in several
    for other in ("a.model", "./a.model"):
        assert "give it once" in run(folder, "parse", "a.model", other, "words.txt", code=2)[1]


def test_objectives_and_options_on_a_mixture(folder: Path) -> None:
    for options in (
        ["--objective", "bracketed-recall"],
        ["--objective", "labelled-recall", "--pre"],
        ["--for", "recall"],
        ["--exact"],
    ):
        trees = run(folder, "parse", "a.model", "b.model", "words.txt", *options)[0].splitlines()
        assert [" ".join(Tree.parse(tree).words) for tree in trees] == list(SENTENCES), options
    tagged = run(folder, "parse", "a.model", "b.model", "held.mrg", "--input", "trees", "--gold-tags")[0]
    assert [Tree.parse(line).tags for line in tagged.splitlines()] == [tree.tags for tree in HELD]
    plain = run(folder, "parse", "a.model", "b.model", "words.txt")[0]
    assert run(folder, "parse", "a.model", "b.model", "words.txt", "--jobs", "2")[0] == plain


@pytest.mark.slow
def test_workers_parse_with_a_mixture(folder: Path) -> None:
    plain = run(folder, "parse", "a.model", "b.model", "words.txt")[0]
    assert run(folder, "parse", "a.model", "b.model", "words.txt", "--engine", "local:2")[0] == plain


def test_resume_covers_all_models_and_shares(folder: Path) -> None:
    def interrupted(*arguments: str, code: int) -> str:
        (folder / "out.mrg").write_text(run(folder, "parse", "a.model", "b.model", "words.txt")[0].splitlines(True)[0])
        plan = {"models": None}
        (folder / "out.mrg.checkpoint").write_text(json.dumps(plan))
        return run(folder, "parse", *arguments, "-o", "out.mrg", "--resume", code=code)[1]

    said = interrupted("a.model", "b.model", "words.txt", "--shares", "1,2", code=2)
    assert "the model" in said
    assert "--shares" in said


def test_mix_tune_parse(folder: Path) -> None:
    _, said = run(folder, "mix", "a.model", "b.model", "--tune", "held.mrg", "-o", "mix.model")
    assert re.search(r"tuned on 2 sentences in \d+ s: F1 [\d.]+; lam 0\.\d+\n", said)
    assert "a.model alone" in said
    trees, said = run(folder, "parse", "mix.model", "words.txt")
    assert "decoding for f1: --objective labelled-precision-recall --lam" in said
    assert len(trees.splitlines()) == len(SENTENCES)
    assert "decoding for recall" in run(folder, "parse", "mix.model", "words.txt", "--for", "recall")[1]
    again = (folder / "mix.model").read_bytes()
    run(folder, "mix", "a.model", "b.model", "--tune", "held.mrg", "-o", "mix.model")
    assert (folder / "mix.model").read_bytes() == again, "the search has no chance in it"
    nested = run(folder, "parse", "mix.model", "own", "words.txt", "--shares", "2,1")[0]
    assert len(nested.splitlines()) == len(SENTENCES)


def test_tuning_trees_must_be_new(folder: Path) -> None:
    _, said = run(folder, "mix", "a.model", "b.model", "--tune", "overlap.mrg", "-o", "mix.model", code=4)
    assert "a.model was trained on 1 of these 3 sentences, such as: the cat sat" in said
    assert "--drop-overlap" in said
    _, said = run(folder, "mix", "a.model", "b.model", "--tune", "overlap.mrg", "--drop-overlap", "-o", "mix.model")
    assert "1 sentence dropped: a.model" in said
    assert "tuned on 2 sentences" in said
    save_model(load_model(folder / "b.model").grammar, folder / "old.model")
    _, said = run(folder, "mix", "a.model", "old.model", "--tune", "held.mrg", "-o", "mix.model")
    assert "old.model does not say what it was trained on" in said


def test_a_few_headings_may_be_known(folder: Path) -> None:
    heading, new = (
        Tree.parse("(S (NN Introduction))"),
        [Tree.parse(f"(S (NP (DT the) (NN w{i})) (VP (VBD sat)))") for i in range(39)],
    )
    for name, known in (("one", [heading]), ("three", [heading, *new[:2]])):
        grammar, notes = train([*TREES, *known], steps="traces,functions,root,redundant")
        save_model(grammar, folder / f"{name}.model", notes=notes, sentences=sentence_hashes([*TREES, *known]))
    write(Treebank.from_trees([heading, *new]), folder / "new.mrg")
    _, said = run(folder, "mix", "one.model", "b.model", "--tune", "new.mrg", "-o", "mix.model")
    assert "1 sentence dropped: one.model was trained on them" in said
    assert "tuned on 39 sentences" in said
    _, said = run(folder, "mix", "three.model", "b.model", "--tune", "new.mrg", "-o", "mix.model", code=4)
    assert "was trained on 3 of these 40 sentences, such as: the w" in said
    assert "--tune TREES" in run(folder, "mix", "a.model", "b.model", "-o", "equal.model")[1]
    assert "--tune TREES" not in run(folder, "mix", "a.model", "b.model", "--shares", "1,2", "-o", "equal.model")[1]


def test_held_out_trees_of_the_training_file(folder: Path) -> None:
    """What ``--hold-out`` leaves out of any model is what ``mix --hold-out`` tunes on."""
    trees = [Tree.parse(f"(S (NP (NN w{i})) (VP (VB sat)))") for i in range(60)]
    write(Treebank.from_trees(trees), folder / "many.mrg")
    for name in "cd":
        run(folder, "induce", "many.mrg", "--no-tune", "--hold-out", "0.2", "-o", f"{name}.model")
    held = hold_out_by_words(trees, 0.2)[1]
    assert 0 < len(held) < 30
    assert not seen_sentences(held, load_parser(str(folder / "c.model")).sentences)
    _, said = run(folder, "mix", "c.model", "d.model", "--tune", "many.mrg", "--hold-out", "0.2", "-o", "cd.model")
    assert f"tuned on {len(held)} sentences" in said
    assert "was trained on" in run(folder, "mix", "c.model", "d.model", "--tune", "many.mrg", "-o", "cd.model", code=4)[1]


def test_mixture_files(folder: Path, tmp_path: Path) -> None:
    """A file names its parts from its folder; a part that was changed or moved is an error; a bundle has them inside."""
    names = [str(folder / f"{name}.model") for name in "ab"]
    place, bundle = folder / "plain.model", tmp_path / "bundle.model"
    run(folder, "mix", "a.model", "b.model", "--shares", "2,1", "--lam", "0.3", "-o", "plain.model")
    run(folder, "mix", *names, "--shares", "2,1", "--lam", "0.3", "--bundle", "-o", str(bundle))
    assert place.stat().st_size < 2000 < bundle.stat().st_size
    for path in (place, bundle):
        found = load_parser(str(path)).parser
        assert isinstance(found, MixtureParser)
        assert (found.shares, found.lam) == ((2.0, 1.0), 0.3)
    assert run(folder, "parse", "plain.model", "words.txt")[0] == run(folder, "parse", str(bundle), "words.txt")[0]
    assert len(load_mixture(place).sentences) == len(sentence_hashes(TREES))
    (tmp_path / "link.model").symlink_to(place)
    assert len(load_mixture(tmp_path / "link.model").sentences) == len(sentence_hashes(TREES))
    moved = tmp_path / "moved.model"
    moved.write_bytes(place.read_bytes())
    with pytest.raises(ModelError, match=r"its part .*a\.model is not there"):
        load_mixture(moved)
    (tmp_path / "a.model").write_bytes((folder / "b.model").read_bytes())
    with pytest.raises(ModelError, match=r"a\.model has been changed since it was mixed"):
        load_mixture(moved)
    save_mixture(tmp_path / "both.model", [str(bundle), names[0]], [1.0, 1.0], 0.3, notes={}, bundle=True)
    assert load_mixture(tmp_path / "both.model").parser.parts[0].shares == (2.0, 1.0)  # type: ignore[attr-defined]
    with pytest.raises(UsageError, match=r"plain\.model names its models by paths, .*: mix those models, or bundle it, too"):
        save_mixture(tmp_path / "both.model", [str(place), names[0]], [1.0, 1.0], 0.3, notes={}, bundle=True)
    for shares, lam in (([1.0], 0.3), ([1.0, 1.0], 1e99)):
        save_mixture(tmp_path / "bad.model", names, shares, lam, notes={})
        with pytest.raises(ModelError, match="damaged"):
            load_mixture(tmp_path / "bad.model")
    for number in range(20):
        inner = str(tmp_path / f"{number - 1}.model") if number else names[0]
        save_mixture(tmp_path / f"{number}.model", [inner], [1.0], 0.3, notes={}, bundle=True)
    assert isinstance(load_parser(str(tmp_path / "5.model")).parser, MixtureParser)
    with pytest.raises(ModelError, match="too deep"):
        load_mixture(tmp_path / "19.model")
    write_archive(tmp_path / "bad.model", {"schema": "\ud800", "version": 1}, {})
    with pytest.raises(ModelError, match="a model of schema"):
        load_parser(str(tmp_path / "bad.model"))


def test_a_model_without_a_parse_leaves_its_share_to_the_others(folder: Path, tmp_path: Path) -> None:
    """The sentence is parsed by the other one, and counted; without any parse it has the fallback of the first."""
    save_model(PCFG.parse('S -> NN VBD [1]\nNN -> "milk" [1]\nVBD -> "sat" [1]'), tmp_path / "small.model")
    small = str(tmp_path / "small.model")
    alone = run(folder, "parse", "a.model", "own", "words.txt", "--shares", "1,0")[0]
    mixed, said = run(folder, "parse", small, "a.model", "words.txt")
    assert (mixed, "3 sentences parsed by only some of the models" in said) == (alone, True)
    save_model(PCFG.parse('S -> NN NN [1]\nNN -> "milk" [1]'), tmp_path / "other.model")
    mixed, said = run(folder, "parse", small, str(tmp_path / "other.model"), "words.txt")
    assert "3 without a parse" in said
    assert mixed.count("-FALLBACK") == 3
    # A model whose share is 0 has no say even then.
    mixed, said = run(folder, "parse", "a.model", small, "words.txt", "--shares", "0,1")
    assert ("3 without a parse" in said, mixed.count("-FALLBACK")) == (True, 3)


def test_what_mix_refuses(folder: Path) -> None:
    for arguments, why in (
        (["a.model", "-o", "x.model"], "two models or more"),
        (["a.model", "b.model"], "-o mix.model"),
        (["a.model", "words.txt", "-o", "x.model"], "words.txt is not a model"),
        (["a.model", "b.model", "--tune", "held.mrg", "--shares", "1,2", "-o", "x.model"], "leave out --shares"),
        (["a.model", "b.model", "--hold-out", "0.1", "-o", "x.model"], "trees of --tune"),
    ):
        assert why in run(folder, "mix", *arguments, code=2)[1]


def counted(text: str, **labels: str | None) -> Parser:
    return Parser(PCFG(PCFG.parse(text).rules, "S", labels) if labels else PCFG.parse(text))


def test_models_that_do_not_fit() -> None:
    one = counted('S -> NP V [1]\nNP -> N N [1]\nN -> "n\'t" [1]\nV -> "b" [1]')
    with pytest.raises(MismatchError, match="no label in common: one has NP, S and other has IP, XP"):
        mixture_of({"one": one, "other": counted('IP -> XP V [1]\nXP -> N N [1]\nN -> "a" [1]\nV -> "b" [1]')})
    with pytest.raises(MismatchError, match="one has do and n't, other has don't"):
        mixture_of({"one": one, "other": counted('S -> N V [1]\nN -> "don\'t" [1]\nV -> "b" [1]')})
    with pytest.raises(MismatchError, match="other is a grammar over tags, one is one over words"):
        mixture_of({"one": one, "other": Parser(one.grammar, tag_words=True)})
    with pytest.raises(UsageError, match="give it once"):
        mix_models([load_parser("own"), load_parser("own")])


def test_function_tags_are_cut_with_a_warning() -> None:
    plain = counted('S -> NP V [1]\nNP -> N [1]\nN -> "a" [1]\nV -> "b" [1]')
    detailed = counted('S -> `NP-SBJ` V [1]\n`NP-SBJ` -> N [1]\nN -> "a" [1]\nV -> "b" [1]')
    with pytest.warns(FileNote, match=r"detailed: its labels are mixed without function tags \(NP-SBJ as NP\)"):
        mixture = mixture_of({"plain": plain, "detailed": detailed})
    assert str(mixture.parse(Sentence(("a", "b"))).tree) == "(S (NP (N a)) (V b))"
    both = mixture_of({"one": detailed, "other": counted('S -> `NP-SBJ` V [1]\n`NP-SBJ` -> N [1]\nN -> "a" [1]\nV -> "b" [1]')})
    assert str(both.parse(Sentence(("a", "b"))).tree) == "(S (NP-SBJ (N a)) (V b))"


def test_decode_several_files_of_charts(folder: Path) -> None:
    """The mean of charts, and of charts and models; one that has all shares decides alone."""
    words, rng = [sentence.split() for sentence in SENTENCES], np.random.default_rng(1)
    for name in ("one", "two"):
        scores = [rng.normal(size=(len(own), len(own), 4)) * 3 for own in words]
        write_charts(folder / f"{name}.npz", scores, ["", "NP", "VP", "S"], words=words, null=[0])
    write_charts(folder / "wordless.npz", [np.zeros((len(own), len(own), 2)) for own in words], ["", "NP"], null=[0])
    alone = run(folder, "decode", "two.npz", "--lam", "0.45")[0]
    assert run(folder, "decode", "one.npz", "two.npz", "--shares", "0,1")[0] == alone
    assert run(folder, "decode", "a.model", "two.npz", "--shares", "0,1")[0] == alone
    assert run(folder, "decode", "one.npz", "two.npz")[0] != alone
    for name, labels in (("detailed", ["", "NP-SBJ", "VP", "S"]), ("foreign", ["", "A::B", "C", "D"])):
        scores = [chart.scores for chart in read_charts(folder / "two.npz")]
        write_charts(folder / f"{name}.npz", scores, labels, words=words, null=[0])
    cut, said = run(folder, "decode", "detailed.npz", "one.npz", "a.model")
    assert "mixed without function tags (NP-SBJ as NP)" in said
    assert cut == run(folder, "decode", "two.npz", "one.npz", "a.model")[0]
    for other in ("one.npz", "a.model"):
        assert "no label in common" in run(folder, "decode", "foreign.npz", other, code=4)[1]
    records = run(folder, "decode", "one.npz", "wordless.npz", "a.model", "--format", "jsonl", "--shares", "1,1,98")[0]
    given = [str(Tree.parse(json.loads(line)["tree"])) for line in records.splitlines()]
    assert given == run(folder, "parse", "a.model", "own", "words.txt", "--shares", "1,0")[0].splitlines()
    assert "whole trees" in run(folder, "decode", "one.npz", "two.npz", "--kbest", "2", code=2)[1]
    assert "posteriors do not say" in run(folder, "decode", "one.npz", "two.npz", "--objective", "viterbi", code=2)[1]
    assert "has no words" in run(folder, "decode", "wordless.npz", "a.model", code=4)[1]
    assert "treegauge parse mixes them" in run(folder, "decode", "a.model", "b.model", code=2)[1]
    write_charts(folder / "short.npz", [np.zeros((3, 3, 2))], ["", "NP"], null=[0])
    assert "short.npz has 1 chart" in run(folder, "decode", "one.npz", "short.npz", code=4)[1]


def posteriors_of(folder: Path, *models: str) -> list[dict[tuple[int, int, str], float]]:
    """The posteriors that the command prints for each sentence."""
    printed, _ = run(folder, "posteriors", *models, "words.txt", "--sentence", "all", "--format", "json", "--least", "0")
    found = [json.loads(line)["constituents"] for line in printed.splitlines()]
    return [{(c["start"], c["end"], c["label"]): c["posterior"] for c in own} for own in found]


def test_posteriors_of_several_models(folder: Path) -> None:
    one, other, mixed = (posteriors_of(folder, *names) for names in (["a.model"], ["b.model"], ["a.model", "b.model"]))
    assert len(mixed) == len(SENTENCES)
    for own, alone, more in zip(mixed, one, other, strict=True):
        for key in own.keys() | alone.keys() | more.keys():
            assert own.get(key, 0.0) == pytest.approx((alone.get(key, 0.0) + more.get(key, 0.0)) / 2, abs=1e-5), key
    printed, said = run(folder, "posteriors", "a.model", "b.model", "words.txt", "--sentence", "2", "--shares", "1,3")
    assert "milk saw the old dog with a cat" in printed
    assert "parse" not in said
    assert "entropy" not in said
    document = json.loads(run(folder, "posteriors", "a.model", "b.model", "words.txt", "--format", "json")[0])
    assert [document[name] for name in ("sentence_log_probability", "parses", "entropy_nats")] == [None] * 3
    rates, _ = run(folder, "posteriors", "a.model", "b.model", "--tree", "held.mrg")
    assert "ER_PC and ER_CF need whole trees, which a mixture does not have." in rates
    assert rates.splitlines()[2].split()[-2:] == ["-", "-"]
    assert "samples" not in rates
    assert "2 sentences" in run(folder, "posteriors", "a.model", "b.model", "--calibration", "held.mrg")[0]
    assert (
        "a mixture does not have"
        in run(folder, "posteriors", "a.model", "b.model", "--tree", "held.mrg", "-m", "freval", code=2)[1]
    )
    assert "symbols of a grammar" in run(folder, "posteriors", "a.model", "b.model", "words.txt", "--symbols", code=2)[1]
    (folder / "none.txt").write_text("colourless green\n\nthe cat sat\n")
    printed, said = run(folder, "posteriors", "a.model", "b.model", "none.txt", "--sentence", "all")
    assert "# sentence 3" in printed
    assert "sentence 2: the grammar has no parse for: (no words)" in said


def test_posteriors_look_words_up_as_the_model_spells_them(tmp_path: Path) -> None:
    (tmp_path / "g.txt").write_text('S -> N V [1]\nN -> "(" [1]\nV -> "1\\/2" [1]\n')
    (tmp_path / "trees.mrg").write_text("(S (N -LRB-) (V 1/2))\n")
    printed, _ = run(tmp_path, "posteriors", "g.txt", "trees.mrg", "--input", "trees", "--format", "json")
    assert json.loads(printed)["words"][1] == "1/2"
    assert "100.00" in run(tmp_path, "posteriors", "g.txt", "--tree", "trees.mrg")[0]


@pytest.mark.torch
def test_a_network_among_them(folder: Path) -> None:
    pytest.importorskip("torch", reason="torch is not installed (extra [torch])")
    from treegauge.neural.network_model import save_network

    save_network(trained(), folder / "n.model")
    trees = run(folder, "parse", "a.model", "n.model", "words.txt", "--device", "cpu", "--jobs", "2")[0].splitlines()
    assert [" ".join(Tree.parse(tree).words) for tree in trees] == list(SENTENCES)
    printed, said = run(folder, "posteriors", "n.model", "words.txt", "--device", "cpu")
    assert "the cat sat" in printed
    assert said.startswith("entropy ")
    rates, _ = run(
        folder, "posteriors", "n.model", "--tree", "held.mrg", "--metric", "parseval.f1", "--samples", "5", "--device", "cpu"
    )
    assert "ER_PC, ER_CF, parseval.f1: from 5 samples" in rates
    assert [set(own) for own in posteriors_of(folder, "a.model", "n.model")]
    _, said = run(folder, "mix", "a.model", "n.model", "--tune", "held.mrg", "--device", "cpu", "-o", "an.model")
    assert "n.model alone" in said
    assert run(folder, "parse", "an.model", "words.txt", "--device", "cpu")[0].count("\n") == len(SENTENCES)
