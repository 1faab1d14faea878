"""Models in Python: every kind is opened, trained, asked for parses of text, and shown in one line."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treegauge
from treegauge import PCFG, ParsingModel, Tree, TreegaugeWarning, UsageError
from treegauge.cli import main
from treegauge.data import own_treebank
from treegauge.grammar import load_model, save_model
from treegauge.grammar.grammar_text import write_text
from treegauge.parsing import Sentence, split_sentences
from treegauge.parsing.output import with_posteriors

TREES = [
    "(TOP (S (NP (DT the) (NN cat)) (VP (VBD sat)) (. .)))",
    "(TOP (S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (DT a) (NN cat))) (. .)))",
    "(TOP (S (NP (PRP it)) (VP (VBD did) (RB n't) (VP (VB sit))) (. .)))",
] * 10
TEXT = "the dog didn't sit."
WORDS = ["the", "dog", "did", "n't", "sit", "."]


@pytest.fixture(scope="module")
def trained() -> ParsingModel:
    return treegauge.train(TREES, grammars=2, rounds=1, tune=False)


@pytest.fixture(scope="module")
def models(trained: ParsingModel, tmp_path_factory: pytest.TempPathFactory) -> dict[str, ParsingModel]:
    """A model of each kind that needs no torch, as opened from its file."""
    folder = tmp_path_factory.mktemp("models")
    trained.save(folder / "trained.model")
    grammar = treegauge.induce(TREES)
    save_model(grammar, folder / "counted.model")
    (folder / "grammar.txt").write_text(write_text(grammar))
    names = ("trained.model", "counted.model", "grammar.txt")
    return {name: treegauge.load(folder / name) for name in names} | {"own": treegauge.load("own")}


def test_a_saved_model_is_the_same_when_opened(trained: ParsingModel, models: dict[str, ParsingModel]) -> None:
    assert models["trained.model"].parse(TEXT).tree == trained.parse(TEXT).tree
    assert models["counted.model"].parse(TEXT) == models["grammar.txt"].parse(TEXT)
    assert models["trained.model"].posteriors(TEXT) == trained.posteriors(TEXT)


@pytest.mark.parametrize("name", ["trained.model", "counted.model", "grammar.txt", "own"])
def test_every_kind_parses_text_and_words(models: dict[str, ParsingModel], name: str) -> None:
    model = models[name]
    parse = model.parse(TEXT)
    assert parse.tree.words == tuple(WORDS)
    assert not parse.fallback
    assert parse.sentence_log_probability < 0
    assert model.parse(words=WORDS) == parse
    assert model.parse([TEXT, "the cat sat."]) == [parse, model.parse("the cat sat.")]
    assert model.parse(()) == []
    assert model.parse(iter([TEXT])) == [parse]  # a column of pandas, a generator, the lines of a file
    assert str(parse) == str(parse.tree)
    best = model.kbest(TEXT, 3)
    assert 1 <= len(best) <= 3
    assert sorted(best, key=lambda each: -each.log_probability) == best
    of_words = parse.sentence_log_probability
    assert [each.posterior for each in best] == pytest.approx([math.exp(each.log_probability - of_words) for each in best])
    assert model.kbest(words=WORDS, k=1) == best[:1]
    found = model.posteriors(TEXT, least=0.5)
    whole = [c for c in found if (c.start, c.end, c.label) == (0, 6, "S")]
    assert len(whole) == 1
    assert all(0.5 <= c.posterior <= 1 + 1e-6 for c in found)
    assert len(model.posteriors(TEXT, least=0)) >= len(found)
    for value in (model, model.parser, parse):
        assert "\n" not in repr(value)
        assert len(repr(value)) < 400
    assert re.search("<svg.*>sit<", parse._repr_html_(), re.DOTALL)


def test_a_model_is_decoded_for_another_objective(models: dict[str, ParsingModel]) -> None:
    model = models["counted.model"].decoding("labelled-precision-recall", lam=0.99)
    assert "lam=0.99" in repr(model)
    assert model.parse("the dog sat.").tree.words == ("the", "dog", "sat", ".")
    with pytest.raises(UsageError, match="unknown objective"):
        model.decoding("nonsense")


WRONG: list[tuple[Callable[[ParsingModel], Any], str]] = [
    (lambda model: model.parse(5), "a sentence is a string, not of type int; only parse takes a list of them"),  # type: ignore[call-overload]
    (lambda model: model.parse([["the", "cat"]]), r"tokens are words=\["),  # type: ignore[list-item]
    (lambda model: model.parse(), "give one sentence"),  # type: ignore[call-overload]
    (lambda model: model.parse("a", words=["a"]), "give one sentence.*, not both"),  # type: ignore[call-overload]
    (lambda model: model.parse(words="the cat"), "a list of tokens"),
    (lambda model: model.parse(words=["the", 3]), "a list of tokens"),  # type: ignore[list-item]
    (lambda model: model.parse(words=5), "a list of tokens"),  # type: ignore[call-overload]
    (lambda model: model.parse(words=["the", ""]), "a list of tokens"),
    (lambda model: model.posteriors("a", least="0.1"), "least must be a number"),  # type: ignore[arg-type]
    (lambda model: model.decoding("labelled-precision-recall", lam="0.4"), "lam must be a finite number, not '0.4'"),
    (lambda model: model.decoding("f1", lam=3), "lam is a posterior, a number from 0 to 1, not 3"),
    (lambda model: treegauge.mix([model, model], shares=["1", "2"]), "2 models need 2 shares, .*, such as 2,1; you gave '1', '2'"),
    (lambda model: treegauge.mix([model, model], lam=float("nan")), "lam must be a finite number, not nan"),
    (lambda model: treegauge.mix([model, model], lam=-1e308), r"lam must be a finite number, not -1e\+308"),
    (lambda model: treegauge.mix([model, model], shares=[1e308, 1e308]), "2 models need 2 shares"),
    (lambda model: treegauge.mix([model, model], shares=2), "shares must be a list of numbers, not 2"),  # type: ignore[arg-type]
    (lambda model: model.decoding(5), "unknown objective '5'; valid:"),  # type: ignore[arg-type]
    (lambda _: treegauge.mix(None), r"a list: mix\(\[a, b\]\)"),  # type: ignore[arg-type]
    (lambda _: treegauge.mix([]), "at least one model"),
    (lambda model: treegauge.mix(model, model), r"a list: mix\(\[a, b\]\)"),  # type: ignore[arg-type,misc]
    (lambda model: treegauge.mix([model, model], weights=[1, 2]), r"argument of mix 'weights'; shares=\[2, 1\]"),  # type: ignore[call-arg]
    (lambda _: treegauge.train(TREES, "a.model"), r"train takes one treebank, and train\(trees\).save\('parser.model'\)"),  # type: ignore[misc]
    (lambda _: treegauge.train(TREES, seed="x"), "seed must be a whole number, not 'x'"),  # type: ignore[arg-type]
    (lambda model: treegauge.mix([model, model], tune=TREES), r"the command treegauge mix .* load\('mix.model'\)"),
    (lambda model: model.posteriors("a", threshold=0.5), "'threshold'; least=0.5 leaves out smaller posteriors"),  # type: ignore[call-arg]
    (lambda model: treegauge.mix([model, model], held_out=TREES), r"'held_out'; the command treegauge mix --tune TREES"),  # type: ignore[call-arg]
    (lambda model: model.parse(Path("text.txt")), r"not a file; its text is pathlib.Path\('text.txt'\).read_text"),  # type: ignore[call-overload]
    (
        lambda _: treegauge.load(treegauge.grammar.train(TREES)),
        r"not TrainedGrammar; treegauge.grammar.save_model\(grammar, path\)",
    ),  # type: ignore[arg-type]
    (lambda _: treegauge.mix([treegauge.grammar.train(TREES)]), r"not TrainedGrammar; treegauge.grammar.save_model"),  # type: ignore[list-item]
    (lambda _: treegauge.Parser(treegauge.grammar.train(TREES)), "not TrainedGrammar: .* or trained.grammar"),  # type: ignore[arg-type]
    (
        lambda _: treegauge.induce(TREES).parse("x"),
        r"no rules here; to parse text: treegauge.ParsingModel\(treegauge.Parser\(grammar\)\)",
    ),
    (lambda _: save_model("m.model", treegauge.induce(TREES)), r"save_model\(grammar, path\) takes a grammar first, not str"),  # type: ignore[arg-type]
    (lambda model: model.kbest("a", 0), "at least 1"),
    (lambda model: model.kbest("a", n=2), r"argument of kbest 'n'; model.kbest\(text, k=3\)"),  # type: ignore[call-arg]
    (lambda model: model.parse("a", kbest=2), r"argument of parse 'kbest'; model.kbest\(text, k=3\)"),  # type: ignore[call-overload]
    (lambda model: model.parse({"text": "a"}), "not of type dict; only parse takes a list of them, or a column"),  # type: ignore[call-overload]
    (lambda model: model.parse("It rains.", objective="recall"), r"argument of parse 'objective'; model.decoding\('recall'\)"),  # type: ignore[call-overload]
    (lambda model: model.parse("a", word=["a"]), "'word'; did you mean 'words'"),  # type: ignore[call-overload]
    (lambda model: model.posteriors("a", least=3), "least must be a number from 0 to 1, not 3"),
    (lambda model: model.parse(words=["a", "b"], tags=["X"]), "one for each token"),
    (lambda model: model.parse(words=[["a"], ["b"]], tags=[["X"]]), "tags= has 1 sentence, but words= 2"),
    (lambda model: model.parse(words=["a", "b"], tags=["X", None]), "a list of tags"),  # type: ignore[list-item]
    (lambda model: model.kbest(words=["a"], tags=[5]), "a list of tags"),  # type: ignore[list-item]
    (lambda model: model.posteriors(words=["a"], tags=["A B"]), "a token or tag has no blank"),
    (lambda _: treegauge.load(b"own"), "the path of a model file, not bytes"),  # type: ignore[arg-type]
    (lambda model: model.kbest(["It rains."]), r"only parse takes a list .*; else \[model.kbest\(x\) for x in texts\]"),  # type: ignore[arg-type]
    (lambda _: treegauge.train(TREES, quik=True), "did you mean 'quick'.*hold_out.*neural.*quick.*tune"),
    (lambda _: treegauge.train(TREES, epochs=1), "'epochs'; it goes only with neural=True"),
    (lambda _: treegauge.train(TREES, grammars=1, neural=True), "'grammars'; it goes without neural=True"),
    (lambda _: treegauge.score(TREES, TREES, baselines=True), "baseline_for"),  # type: ignore[call-overload]
    (lambda _: treegauge.Forest(treegauge.learn(TREES, nonterminals=2, iterations=1).grammar, ["DT"]), "call it"),  # type: ignore[arg-type]
    (lambda model: model.kbest("a", "2"), "k must be a whole number, not '2'"),  # type: ignore[arg-type]
    (lambda model: model.save("m.model"), "save_model"),
    (lambda _: treegauge.load(5), "the path of a model file, not int"),  # type: ignore[arg-type]
    (lambda _: treegauge.load(["a", "b"]), r"not list; treegauge.mix\(\["),  # type: ignore[arg-type]
    (lambda model: model.kbest(["It rains."]), "a sentence is a string, not of type list"),  # type: ignore[arg-type]
    (lambda model: treegauge.mix([model, model]).save("m.model"), "models in different files can be saved"),
    (lambda _: treegauge.Parser("m.model"), "a PCFG, not str: treegauge.load"),  # type: ignore[arg-type]
    (lambda _: treegauge.Forest([Tree.parse("(S a)")], ["a"]), "a PCFG, not list: treegauge.induce"),  # type: ignore[arg-type]
    (lambda _: treegauge.Parser(PCFG.parse('S -> "a" [1]')).parse("a"), "a Sentence, not str"),  # type: ignore[arg-type]
    (lambda _: treegauge.train(TREES, grammas=1), "'grammas'; did you mean 'grammars'"),
    (lambda _: treegauge.train(TREES, embeddings="x.vec"), "neural=True"),
    (lambda _: treegauge.train(TREES, neural="no"), "neural must be True or False, not 'no'"),  # type: ignore[arg-type]
    (lambda _: treegauge.train(TREES, tune=None), "tune must be True or False, not None"),  # type: ignore[arg-type]
    (lambda _: treegauge.train(TREES, neural=True, jobs="auto"), "jobs must be a whole number, not 'auto'"),  # type: ignore[arg-type]
    (lambda _: treegauge.train(TREES, hold_out=float("nan")), "at least 0 and below 1, not nan"),
    (lambda _: treegauge.train(TREES, resume=True), "checkpoint=None: no checkpoint there"),
]


def test_the_nodes_over_one_span_keep_their_order() -> None:
    trees = ["(S (VP (NP (N it))))", "(S (VP (V see) (NP (N it))) (. .))", "(S (VP (V see)))"]
    model = treegauge.train(trees * 10, grammars=1, rounds=1, tune=False)
    for parser in (model, treegauge.mix([model, model])):
        assert str(parser.parse(words=["it"]).tree) == trees[0]


def test_the_root_of_a_mixtures_tree_is_certain(trained: ParsingModel) -> None:
    for model in (trained, treegauge.mix([trained, "own"])):
        parsed = model.parser.with_settings(posteriors=True).parse(Sentence(tuple(WORDS)))
        assert with_posteriors(parsed.tree, parsed.constituents).label == "TOP=1.000"


def test_a_model_of_another_kind_need_not_be_made_again(models: dict[str, ParsingModel], tmp_path: Path) -> None:
    models["trained.model"].save(tmp_path / "m.model")
    with pytest.raises(treegauge.errors.ModelError, match=r"of another kind: .* open models of every kind"):
        load_model(tmp_path / "m.model")


@pytest.mark.parametrize(("use", "message"), WRONG)
def test_wrong_types_raise_with_a_hint(models: dict[str, ParsingModel], use: Callable[[ParsingModel], Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        use(models["own"])


def test_a_text_of_several_sentences_gets_a_warning_at_the_line_of_the_caller(models: dict[str, ParsingModel]) -> None:
    for text in ("I saw the man. It rained.", "I saw the man\nIt rained."):
        for ask in (models["own"].parse, models["own"].kbest, lambda text: models["own"].parse([text, "It rained."])):
            with pytest.warns(
                TreegaugeWarning, match=r"2 sentences, .* parse\(treegauge.parsing.split_sentences\(text\)\)"
            ) as found:
                ask(text)
            assert found[0].filename == __file__
        assert len(models["own"].parse(split_sentences(text))) == 2
    with pytest.warns(TreegaugeWarning):
        assert models["own"].parse("I saw the man. It rained.").tree.words[3:5] == ("man", ".")


def test_a_mixture_is_saved_by_the_files_of_its_models(trained: ParsingModel, tmp_path: Path) -> None:
    trained.save(tmp_path / "trained.model")
    mixed = treegauge.mix([treegauge.load(tmp_path / "trained.model"), "own"], shares=[2, 1], lam=0.4)
    assert repr(mixed).startswith("<mixture of trained.model (2) and own (1); ")
    mixed.save(tmp_path / "mix.model")
    opened = treegauge.load(tmp_path / "mix.model")
    assert opened.posteriors(TEXT) == mixed.posteriors(TEXT)
    for name in ("recall", "labelled-recall"):  # what it decodes with is seen however long the names of its models are
        decoding = opened.decoding(name)
        assert repr(decoding).endswith(f"; decodes with {decoding.parser.objective}{' lam=0.25' * (name == 'recall')}>")
        assert len(repr(decoding)) <= 120
    for wrong in (treegauge.mix([trained, "own"]), treegauge.mix([mixed, "own"]), treegauge.load(tmp_path / "mix.model")):
        with pytest.raises(UsageError, match=r"can be saved: save them, .*, or copy its file"):
            wrong.save(tmp_path / "wrong.model")


def test_lists_of_tokens_are_a_list_of_sentences(models: dict[str, ParsingModel]) -> None:
    for model in models.values():
        assert model.parse(words=[WORDS, ["the", "cat", "sat", "."]]) == model.parse([TEXT, "the cat sat."])


def test_given_tags_are_kept_and_read_by_a_grammar_over_tags(models: dict[str, ParsingModel], tmp_path: Path) -> None:
    tags = ["DT", "NN", "VBD", "RB", "VB", "."]
    for name in ("trained.model", "counted.model"):
        assert models[name].parse(words=WORDS, tags=tags).tree.tags == tuple(tags)
        assert {c.label for c in models[name].posteriors(words=WORDS, tags=tags, least=0.5) if c.end - c.start == 1} >= set(tags)
    learned = treegauge.learn(TREES, nonterminals=2, iterations=2)
    save_model(learned.grammar(), tmp_path / "learned.model", notes={"terminals": "tags"})
    model = treegauge.load(tmp_path / "learned.model")
    parse = model.parse(words=WORDS, tags=tags)
    assert (parse.tree.words, parse.tree.tags, parse.fallback) == (tuple(WORDS), tuple(tags), False)
    assert model.kbest(words=WORDS, k=1, tags=tags)[0].tree.words == tuple(WORDS)
    with pytest.raises(UsageError, match="a grammar over tags needs it"):
        model.parse(TEXT)


def test_a_decoding_that_is_not_saved_gets_a_warning(trained: ParsingModel, tmp_path: Path) -> None:
    mixed = treegauge.mix([treegauge.load("own"), trained], lam=0.3)
    mixed.files = ("own", str(tmp_path / "m.model"))
    trained.save(tmp_path / "m.model")
    for model in (trained, mixed):
        chosen = model.decoding("precision")
        with pytest.warns(TreegaugeWarning, match=r"not saved .*decoding\('labelled-precision-recall', lam=0.7\)"):
            chosen.save(tmp_path / "chosen.model")
        with pytest.warns(TreegaugeWarning, match=r"not saved .*decoding\('labelled-recall'\)"):
            model.decoding("labelled-recall").save(tmp_path / "chosen.model")
        opened = treegauge.load(tmp_path / "chosen.model")
        assert repr(opened).split(";")[-1] == repr(model).split(";")[-1]
        assert opened.decoding("labelled-precision-recall", lam=0.7).parse(TEXT) == chosen.parse(TEXT)
        model.decoding("f1").save(tmp_path / "f1.model")  # no warning, which would be an error: this is what it decodes for


@pytest.mark.parametrize("options", [{}, {"tags": True}, {"steps": "traces,functions,root,unaries:keep=joined"}])
def test_a_grammar_of_train_is_saved_with_its_notes_as_induce_saves_it(tmp_path: Path, options: dict[str, Any]) -> None:
    treegauge.write(treegauge.read(own_treebank("train", ("travel",)))[:60], tmp_path / "t.mrg")
    save_model(treegauge.grammar.train(str(tmp_path / "t.mrg"), **options), tmp_path / "python.model")
    flags = [word for name, value in options.items() for word in (f"--{name}", value) if word is not True]
    with pytest.raises(SystemExit) as ended:
        main(["induce", str(tmp_path / "t.mrg"), "--no-tune", *flags, "-o", str(tmp_path / "command.model")])
    assert ended.value.code == 0
    ours, theirs = (load_model(tmp_path / f"{name}.model") for name in ("python", "command"))
    assert (ours.grammar, ours.notes) == (theirs.grammar, theirs.notes)
    assert treegauge.load(tmp_path / "python.model").parser.reads_tags == bool(options.get("tags"))
    save_model(treegauge.grammar.train(TREES), tmp_path / "more.model", notes={"by": "me"})
    assert load_model(tmp_path / "more.model").notes.items() >= {"by": "me", "terminals": "words"}.items()


def test_a_treebank_is_no_model(models: dict[str, ParsingModel], tmp_path: Path) -> None:
    (tmp_path / "t.mrg").write_text("\n".join(TREES), encoding="utf-8-sig")
    with pytest.raises(treegauge.FormatError, match=r"this is a treebank, not a model\n.*treegauge train .*t.mrg -o parser.model"):
        treegauge.load(tmp_path / "t.mrg")


def test_the_name_of_a_file_is_no_sentence(models: dict[str, ParsingModel], tmp_path: Path) -> None:
    (tmp_path / "essay.txt").write_text(TEXT)
    with pytest.warns(TreegaugeWarning, match="is a file, and its name is parsed"):
        models["own"].parse(str(tmp_path / "essay.txt"))


def test_a_model_is_decoded_for_a_purpose(models: dict[str, ParsingModel]) -> None:
    trained = models["trained.model"]
    assert trained.decoding("recall").parser.options == {"lam": 0.25}
    assert trained.decoding("precision").parser.options == {"lam": 0.7}
    assert trained.decoding("exact").parser.objective == "mbr:parseval.exact_match"
    assert trained.decoding("recall").decoding("f1").parse(TEXT) == trained.parse(TEXT)
    assert treegauge.mix([trained, "own"]).decoding("recall", lam=0.2).parser.options == {"lam": 0.2}
    assert models["own"].decoding("recall").parser.objective == "viterbi", "that is the setting that it stores"
    assert models["grammar.txt"].decoding("recall").parser.options == {"lam": 0.25}
    assert models["grammar.txt"].parser.objective == models["grammar.txt"].decoding("exact").parser.objective == "viterbi"


def test_parsers_parse_sentences_only(models: dict[str, ParsingModel]) -> None:
    for model in models.values():
        with pytest.raises(UsageError, match="a Sentence, not str"):
            model.parser.parse("It rains.")  # type: ignore[arg-type]


def test_the_words_of_trees_are_parsed_without_traces(models: dict[str, ParsingModel], tmp_path: Path) -> None:
    tree = Tree.parse("(S (NP-1 (DT the) (NN cat)) (VP (VBD sat) (NP (-NONE- *-1))) (. .))")
    words = ["the", "cat", "sat", "."]
    for model in models.values():
        parse = model.parse(words=words)
        assert model.parse(tree).tree == parse.tree
        assert [each.tree for each in model.parse(treegauge.Treebank.from_trees([tree] * 2))] == [parse.tree] * 2
        assert [each.tree for each in model.parse([tree])] == [parse.tree]
        assert model.kbest(tree, 2) == model.kbest(words=words, k=2)
        assert model.posteriors(tree) == model.posteriors(words=words)
    learned = treegauge.learn(TREES, nonterminals=2, iterations=2)
    save_model(learned.grammar(), tmp_path / "learned.model", notes={"terminals": "tags"})
    of_tags = treegauge.load(tmp_path / "learned.model")
    assert of_tags.parse(tree).tree == of_tags.parse(words=words, tags=["DT", "NN", "VBD", "."]).tree


def test_the_tags_of_a_tree_are_not_copied_into_a_tree_without_a_parse(models: dict[str, ParsingModel]) -> None:
    for words in (["cat", "it", "cat", "n't"] * 3, ["it"] * 500):
        tree = Tree("S", [Tree("GIVEN", [word]) for word in words])
        for model in models.values():
            parse = model.parse(tree)
            assert parse.tree == model.parse(words=words).tree
            assert "GIVEN" not in parse.tree.tags
            if parse.fallback:
                assert set(model.parse(words=words, tags=["GIVEN"] * len(words)).tree.tags) == {"GIVEN"}
        assert all(models[name].parse(tree).fallback for name in ("trained.model", "counted.model"))


def test_trees_get_the_parses_of_the_command(models: dict[str, ParsingModel], tmp_path: Path) -> None:
    gold = treegauge.read(own_treebank("dev"))[:30]
    assert any("-NONE-" in tree.tags for tree in gold)
    treegauge.write(gold, tmp_path / "gold.mrg")
    with pytest.raises(SystemExit) as ended:
        main(["parse", "own", str(tmp_path / "gold.mrg"), "--input", "trees", "-q", "-o", str(tmp_path / "out.mrg")])
    assert ended.value.code == 0
    assert [parse.tree for parse in models["own"].parse(gold)] == list(treegauge.read(tmp_path / "out.mrg"))


@pytest.mark.parametrize("token", ["a b", "a\x0bb", "a\0", " "])
def test_tokens_that_no_file_of_trees_can_hold_are_refused(models: dict[str, ParsingModel], token: str) -> None:
    model = models["own"]
    for ask in (model.parse, model.kbest, model.posteriors):
        with pytest.raises(UsageError, match="a token or tag has no blank and no zero byte, unlike"):
            ask(words=["He", "saw", token])
    with pytest.raises(UsageError, match="zero byte, unlike 'saw"):
        model.parse("I saw\0 him.")
    assert repr(model.parser.parse(Sentence(("He", "saw", token)))).startswith("<parse of 3 words"), "a repr never raises"
    assert model.parse(words=["He", "saw", "a\xa0b"]).tree.words[2] == "a\xa0b", "a no-break space is part of a word, as in files"


def test_a_list_of_tokens_gets_a_warning(models: dict[str, ParsingModel]) -> None:
    with pytest.warns(TreegaugeWarning, match=r"words=\["):
        models["own"].parse(["It", "rains", "."])
    assert models["own"].parser.parse(Sentence(("It", "rains", "."))).tree == models["own"].parse("It rains.").tree


@pytest.mark.torch
def test_a_network_is_trained_saved_and_opened(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    tiny = {"hidden": 5, "spans": 7, "words": 6, "characters": 4, "layers": 1}
    model = treegauge.train(TREES, neural=True, epochs=1, tune=False, device="cpu", **tiny)
    model.save(tmp_path / "network.model")
    opened = treegauge.load(tmp_path / "network.model", device="cpu")
    assert opened.parse(TEXT).tree == model.parse(TEXT).tree
    assert "NetworkModel" in repr(opened)
    assert model.kbest(TEXT, 2) == model.kbest(TEXT, np.int64(2))  # type: ignore[arg-type]
    assert len(model.kbest(TEXT, 2)) == 2
    assert model.posteriors("") == treegauge.load("own").posteriors("") == []


def test_escaped_brackets_are_brackets_as_in_files(models: dict[str, ParsingModel], tmp_path: Path) -> None:
    for model in models.values():
        parse = model.parse("the cat -LRB- it sat -RRB-")
        assert parse.tree.words == ("the", "cat", "(", "it", "sat", ")")
        assert parse.tree == model.parse("the cat (it sat)").tree
        assert parse.tree == model.parse(words=["the", "cat", "-LRB-", "it", "sat", "-RRB-"]).tree
        treegauge.write([parse.tree], tmp_path / "a.mrg")
        assert list(treegauge.read(tmp_path / "a.mrg")) == [parse.tree]
