"""Mistakes in Python that a newcomer made: each is an error that says what to write instead, or just works."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

import treegauge
from treegauge.grammar import PCFG
from treegauge.io import check, count_parts
from treegauge.normalise import pipeline
from treegauge.parsing import Forest
from treegauge.parsing.raw_text import tokenise
from treegauge.parsing.spellings import Spellings

TEXT = "(S (NP-SBJ (N a)) (VP (V b)))\n"


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    for name in ("A.mrg", "B.mrg"):
        (tmp_path / name).write_text(TEXT)
    return str(tmp_path / "A.mrg"), str(tmp_path / "B.mrg")


@pytest.mark.parametrize("make", [list, lambda files: [treegauge.read(file) for file in files]])
def test_files_in_a_list_are_not_one_system_of_score(files: tuple[str, str], make: Callable[..., list[object]]) -> None:
    with pytest.raises(treegauge.UsageError, match=r"several systems or several runs: score.gold, {'A': a, 'B': b}"):
        treegauge.score(TEXT, make(files))
    assert isinstance(treegauge.score(TEXT, make(files)[:1]), treegauge.Result)


@pytest.mark.parametrize("given", [treegauge.Treebank.parse(TEXT), TEXT, {"a": TEXT}])
def test_confidence_is_of_results(given: object) -> None:
    with pytest.raises(treegauge.UsageError, match=r"with_confidence takes what treegauge.score returns, not (Tree|str)"):
        treegauge.with_confidence(given)  # type: ignore[call-overload]


@pytest.mark.parametrize("sentence", [1, -1])
def test_a_sentence_that_is_not_there_is_counted_as_in_python(sentence: int) -> None:
    with pytest.raises(treegauge.UsageError, match=f"there is no sentence {sentence}, counted from 0: the treebank has 1"):
        treegauge.diff(TEXT, TEXT, sentence)


@pytest.mark.parametrize("function", ["compare", "report"])
def test_systems_one_by_one_are_refused(function: str, files: tuple[str, str]) -> None:
    with pytest.raises(treegauge.UsageError, match=f"{function} takes all systems together"):
        getattr(treegauge, function)(TEXT, *files)


def test_files_are_counted_and_checked(files: tuple[str, str], tmp_path: Path) -> None:
    assert count_parts(files[0]) == count_parts(Path(files[0])) == count_parts(treegauge.read(files[0]))
    (tmp_path / "messy.mrg").write_text("(S (N a)\n")
    assert [type(found) for found in check(tmp_path / "messy.mrg")][:1] == [treegauge.BracketError]


def test_a_treebank_is_made_by_from_trees_and_passed_to_apply() -> None:
    with pytest.raises(treegauge.UsageError, match=r"Treebank\.from_trees"):
        treegauge.Treebank([treegauge.Tree.parse(TEXT)])  # type: ignore[call-arg,arg-type]
    chain, bank = pipeline("functions"), treegauge.Treebank.parse(TEXT)
    with pytest.raises(treegauge.UsageError, match=r"one Tree, not Treebank: pipeline\.apply"):
        chain(bank)  # type: ignore[arg-type]
    made = chain.apply(bank)
    assert len(list(made)) == len(list(made)) == len(made) == 1


@pytest.mark.parametrize(("given", "name"), [("icepahc", "treebank"), ("export", "format"), ("latin-1", "encoding")])
@pytest.mark.parametrize("function", [treegauge.read, treegauge.stream, treegauge.as_treebank])
def test_an_option_without_its_name(
    function: Callable[..., Iterable[object]], given: str, name: str, files: tuple[str, str]
) -> None:
    with pytest.raises(treegauge.UsageError, match=f"options are named: {name}='{given}'"):
        list(function(files[0], given))


def test_the_values_of_on_error_are_those_of_the_command_line() -> None:
    with pytest.raises(treegauge.UnknownName, match="valid: parse-fails, repair, skip, stop"):
        treegauge.read(TEXT, on_error="ignore")


def test_parses_of_a_forest_have_their_posterior() -> None:
    forest = treegauge.Forest(PCFG.parse('S -> S S [.5] | "a" [.5]'), ["a", "a", "a"])
    assert [parse.posterior for parse in forest.kbest(3)] == pytest.approx([0.5, 0.5])


def test_a_forest_of_a_model_is_one_of_its_grammar() -> None:
    model = treegauge.load("own")
    with pytest.raises(treegauge.UsageError, match=r"parser\.grammar"):
        treegauge.Forest(model, ["a"])  # type: ignore[arg-type]
    with pytest.raises(treegauge.UnknownName, match="did you mean 'recall'"):
        model.decoding("recal")


def test_an_apostrophe_is_not_an_opening_quotation_mark() -> None:
    assert Spellings(["‘", "’", "a"])(["'"]) == ("’",)
    assert Spellings(["`", "’"])(["'"]) == ("’",)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("See https://a.org/Tree_(graph).", "See https://a.org/Tree_(graph) ."),
        ("See (https://a.org/x) at https://a.org/x(y)/z.", "See ( https://a.org/x ) at https://a.org/x(y)/z ."),
        ("He said 'no' to them.", "He said ` no ' to them ."),
        ("rock 'n' roll of the '90s' end", "rock 'n ' roll of the '90s ' end"),
    ],
)
def test_brackets_of_addresses_and_one_word_in_quotation_marks(text: str, words: str) -> None:
    assert tokenise(text) == words.split()


@pytest.mark.parametrize("metric", ["parseval", "induction:prpn"])
def test_compute_refuses_a_cutoff_that_it_would_not_heed(metric: str) -> None:
    limited = treegauge.evaluator(metric, cutoff=1)
    with pytest.raises(treegauge.UsageError, match=r"compute\(\) has no cutoff: score\(gold, test\)\.short has the rates"):
        limited.compute(predictions=[TEXT], references=[TEXT])
    assert limited.score(TEXT, TEXT).short.length == 1


def test_a_forest_is_not_an_array_of_scores() -> None:
    forest = Forest(PCFG.parse('S -> "a" [1]'), ["a"])
    with pytest.raises(treegauge.UsageError, match=r"decode takes an array of span scores; .*\.argmax\(objective\)"):
        treegauge.decode(forest, "viterbi")


def test_best_takes_no_objective_and_a_tree_has_the_words_of_its_forest() -> None:
    forest = Forest(PCFG.parse('S -> "a" "b" [1]'), ["a", "b"])
    for wrong in (lambda: forest.best("labelled-recall"), lambda: forest.best(objective="labelled-recall")):  # type: ignore[call-arg]
        with pytest.raises(treegauge.UsageError, match=r"argmax\('labelled-recall'\) has the best tree for an objective"):
            wrong()
    assert forest.expected_score("(S a b)") == 1
    with pytest.raises(treegauge.UsageError, match="the words differ: 'a c' is not the sentence of this forest"):
        forest.expected_score("(S a c)")


@pytest.mark.parametrize("words", ["a b c", None])
def test_a_tree_of_spans_is_over_a_list_of_words(words: object) -> None:
    with pytest.raises(treegauge.UsageError, match=r"words must be a list of words, such as 'a b'\.split\(\), not"):
        treegauge.Tree.from_spans(words, [(0, 2)])  # type: ignore[arg-type]


@pytest.mark.parametrize("spans", [[(0, 2, 0.7)], [0, 2], [(0,)]])
def test_a_span_is_a_pair_or_a_triple(spans: object) -> None:
    with pytest.raises(treegauge.UsageError, match=r"a span is \(start, end\) or \(start, end, label\), such as"):
        treegauge.Tree.from_spans(["a", "b"], spans)  # type: ignore[arg-type]


def test_the_probability_of_a_rule_is_a_number() -> None:
    with pytest.raises(treegauge.UsageError, match="the probability of S must be a number, not '1/1'"):
        PCFG.from_rules([("S", ["NP", "VP"], "1/1")])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ('NP->"I" [1]', "1:5: expected '->' after the left-hand side, with a blank before it"),
        ('NP-> "I" [1]', "1:6: expected '->' after the left-hand side, with a blank before it"),
        ('NP "I" [1]', "1:4: expected '->' after the left-hand side\n"),
        ("S -> NP VP 1.0", "1:13: neither a symbol, a word in quotes nor a probability in square brackets\n"),
        ("S -> NP VP (1.0)", "1:12: neither a symbol, a word in quotes nor a probability in square brackets\n"),
        ("S -> NP VP 1", "1:13: this alternative has no probability in square brackets"),
        ("S --> NP VP [1]", "1:3: neither a symbol, a word in quotes nor a probability in square brackets; write ->"),
        ("S ::= NP VP [1]", "1:3: neither a symbol, a word in quotes nor a probability in square brackets; write ->"),
        ("S -> '' [1]", "1:12: a right-hand side must not be empty, nor hold an empty word"),
        ('S -> "a" "" [.5] | "b" [.5]', "1:18: a right-hand side must not be empty, nor hold an empty word"),
        ("S -> [1]", "1:9: a right-hand side must not be empty"),
    ],
)
def test_rules_as_others_write_them(rule: str, message: str) -> None:
    with pytest.raises(treegauge.FormatError) as caught:
        PCFG.parse(rule)
    assert message in str(caught.value)


@pytest.mark.parametrize("metric", ["induction:compound-pcfg", "compound-pcfg"])
def test_the_compound_pcfg_is_evaluated_as_kim_does(metric: str) -> None:
    with pytest.raises(treegauge.UsageError, match="kim") as caught:
        treegauge.score(TEXT, TEXT, metric)
    assert "did you mean" not in str(caught.value)


GRAMMAR = 'S -> NP VP [1]\nNP -> "I" [1]\nVP -> "saw" [1]'


@pytest.mark.parametrize(
    ("make", "name", "meant"),
    [
        (lambda: treegauge.Tree.parse(TEXT), "leaves", "tree.words"),
        (lambda: treegauge.Tree.parse(TEXT), "subtrees", "tree.nodes()"),
        (lambda: treegauge.read(TEXT), "save", "treegauge.write(treebank, path)"),
        (lambda: treegauge.read(TEXT), "statistics", "treegauge.io.count_parts(treebank)"),
        (lambda: PCFG.parse(GRAMMAR), "save", "treegauge.grammar.save_model(grammar, path)"),
        (lambda: Forest(PCFG.parse(GRAMMAR), ["I", "saw"]), "outside", "forest.constituents()"),
        (lambda: Forest(PCFG.parse(GRAMMAR), ["I", "saw"]).best(), "draw", "parse.tree.draw()"),
        (lambda: treegauge.load("own").parse("It rains."), "log_probability", "parse.sentence_log_probability (of the words)"),
        (lambda: treegauge.grammar.train(TEXT), "parse", "treegauge.grammar.save_model(trained, path), then treegauge.load(path)"),
        (lambda: treegauge.score(TEXT, {"a": TEXT, "b": TEXT}), "to_latex", "treegauge.compare(gold, systems).to_latex()"),
        (lambda: treegauge, "statistics", "treegauge.io.count_parts(trees)"),
    ],
)
def test_attributes_of_other_names(make: Callable[[], object], name: str, meant: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(make(), name)
    assert f"has no attribute {name!r}; write {meant}" in str(caught.value)
    with pytest.raises(AttributeError, match=r"has no attribute 'nothing'$"):
        _ = make().nothing  # type: ignore[attr-defined]


def test_a_treebank_is_named_by_its_language() -> None:
    with pytest.raises(treegauge.UnknownName, match="unknown treebank 'Portuguese'; for Portuguese there is tycho or floresta"):
        treegauge.read(TEXT, treebank="Portuguese")


def test_options_for_reading_of_check_and_count_parts(tmp_path: Path) -> None:
    (file := tmp_path / "x.ptb").write_text("# 1\n(STA+fcl (P+v chove) (.))\n")
    assert [bank.n_tokens for bank in check(file, treebank="floresta") if isinstance(bank, treegauge.Treebank)] == [2]
    assert ("words", "", 2) in count_parts(file, treebank="floresta").rows
    with pytest.raises(treegauge.UnknownName, match="unknown argument of check 'encodings'; did you mean 'encoding'"):
        list(check(file, encodings="utf-8"))  # type: ignore[call-arg]


def test_words_and_spans_exchanged() -> None:
    with pytest.raises(treegauge.UsageError, match="words must be a list of words"):
        treegauge.Tree.from_spans([(0, 2)], ["the", "cat"])  # type: ignore[arg-type,list-item]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ('S -> "I [1]', '1:6: this " is not closed'),
        ("S -> NP [1", "1:9: this [ is not closed"),
        ("S -> NP [.5 .5]", "1:9: neither a symbol, a word in quotes nor a probability"),
        ("S -> NP", "1:8: this alternative has no probability in square brackets; for equal ones write [1] after each"),
    ],
)
def test_brackets_and_quotes_that_are_not_closed(rule: str, message: str) -> None:
    with pytest.raises(treegauge.FormatError) as caught:
        PCFG.parse(rule)
    assert message in str(caught.value)


def test_brackets_to_learn_from_are_read_elsewhere() -> None:
    with pytest.raises(treegauge.MismatchError, match=r"are read by treegauge.learning.read_brackets \("):
        treegauge.learn(["((DT NN) VBD)"], nonterminals=2, iterations=1)


def test_a_sample_is_one_tree() -> None:
    assert [str(tree) for tree in Forest(PCFG.parse(GRAMMAR), ["I", "saw"]).sample()] == ["(S (NP I) (VP saw))"]


def test_rates_are_found_by_name_and_misspelt_ones_listed(files: tuple[str, str]) -> None:
    result = treegauge.score(*files)
    assert result["F1"] == result["f-score"] == result.short["fmeasure"] == result.f1 == 1
    for wrong in ("f2", 0):
        with pytest.raises(treegauge.UnknownName, match=f"unknown rate '{wrong}'; .*alid: average_crossing"):
            result[wrong]  # type: ignore[index]
    with pytest.raises(treegauge.UsageError, match=r"check\(f1=0.9\), or together as check\({'f1': 0.9}\)"):
        result.check("f1", 0.9)  # type: ignore[arg-type]


def test_a_comparison_says_who_is_better() -> None:
    flat = "(S (NP-SBJ (N a)) (V b))\n"
    comparison = treegauge.compare(TEXT * 20, {"flat": flat * 20, "half": TEXT * 10 + flat * 10}, rounds=99)
    assert repr(comparison).startswith("<Comparison on 20 sentences: half is better than flat by ")
    header = comparison.to_latex("recall", "precision", "f1", "exact").splitlines()[5]  # any number of rates
    assert header.startswith("system & recall & precision & F1 & exact match")
    planned = treegauge.compare(TEXT * 20, {"flat": flat * 20}, rounds=99, power=True, assume=1)
    assert repr(planned).startswith("<Comparison on 20 sentences: ")


@pytest.mark.parametrize("function", [treegauge.score, treegauge.compare])
def test_the_system_that_does_not_fit_is_named(function: Callable[..., object], files: tuple[str, str]) -> None:
    with pytest.raises(treegauge.MismatchError, match=r"^short: there are 2 gold sentences but 1 parse.*\n.*pair=\"text\""):
        function(TEXT * 2, {"whole": TEXT * 2, "short": [TEXT]})
    for file in files:
        Path(file).write_text(TEXT.replace("a", "c") * 2)
    with pytest.raises(treegauge.MismatchError, match=r"^runs: .* 4 parses.*\n.*several runs of a parser .*'runs:GLOB'"):
        function([TEXT], {"whole": [TEXT], "runs": str(Path(files[0]).with_name("*.mrg"))})


def test_repair_weights_and_figures_say_what_to_write() -> None:
    for wrong, said in (
        (lambda: treegauge.score(TEXT, TEXT, repair=True), "argument of score 'repair'; on_error=\"repair\" repairs parses"),  # type: ignore[call-overload]
        (
            lambda: treegauge.write_figure("x.svg", treegauge.Tree.parse(TEXT)),
            r"write_figure\(comparison, 'x.svg'\), not of a str",
        ),  # type: ignore[arg-type]
    ):
        with pytest.raises(treegauge.UsageError, match=said):
            wrong()
