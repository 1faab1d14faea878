"""Pipelines as text: parsing, defaults, errors that help, filters and vanished trees, and the registry itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import treegauge.normalise
from treegauge.errors import UnknownName, UsageError
from treegauge.io import read
from treegauge.normalise import STEPS, binarise, collapse_unaries, pipeline, strip_functions
from treegauge.normalise.pipelines import ALIASES
from treegauge.trees import Tree, Treebank

TREE = Tree.parse("(S (NP-SBJ (-NONE- *)) (VP (VB go) (ADVP (RB now)) (NP-DIR (NN home)) (PP (IN in) (NP (NN May)))) (. .))")


def test_the_example_of_the_brief() -> None:
    made = pipeline("traces,functions,unaries:top,binarise:right:h=2:v=1")(TREE)
    assert str(made) == "(S (VP (VB go) (VP|VB (RB now) (VP|VB|RB (NN home) (PP (IN in) (NN May))))) (. .))"


def test_parameters_by_position_by_name_and_with_blanks() -> None:
    for written in (
        "binarise:left:1:2",
        "binarise:direction=left:h=1:v=2",
        " binarise : left : v = 2 : h=1 ",
        "binarise:h=1:left:v=2",
    ):
        assert pipeline(written)(TREE) == binarise(TREE, "left", h=1, v=2)


def test_quoted_values() -> None:
    assert pipeline('punctuation:". :"')(TREE) == pipeline("punctuation:evalb")(TREE)
    chain = pipeline('traces:"-NONE- ."')
    assert str(chain) == 'traces:tags="-NONE- ."'
    assert str(chain(TREE)) == "(S (VP (VB go) (ADVP (RB now)) (NP-DIR (NN home)) (PP (IN in) (NP (NN May)))))"
    german = Tree.parse("(S (NN a) ($, ,) (NN b) (= c))")
    assert str(pipeline('punctuation:"$, ="')(german)) == "(S (NN a) (NN b))"


@pytest.mark.parametrize(
    "written", ["traces", *STEPS, "binarise:head:h=inf:v=3", "hogenhout:evalb:no", 'root:"A B"', "goodman,freval"]
)
def test_a_pipeline_reads_back_as_itself(written: str) -> None:
    chain = pipeline(written)
    assert str(pipeline(str(chain))) == str(chain)
    assert pipeline(str(chain))(TREE) == chain(TREE)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("trace", "unknown normalising step 'trace'; did you mean 'traces'\\? Valid: .*binarise.*goodman.*xcont"),
        ("", "step without a name"),
        ("traces,,functions", "step without a name"),
        ("binarise:up", "binarise:direction=up is not valid; direction is right, left or head"),
        ("binarise:w=1", "unknown parameter of binarise 'w'; valid: direction, h, rules, v"),
        ("binarise:h=-1", "binarise:h=-1 is not valid; h is how many siblings"),
        ("binarise:h=x", "binarise:h=x is not valid"),
        ("binarise:v=0", "binarise:v=0 is not valid"),
        ("binarise:head:rules=magerman", "unknown set of head rules .*'magerman'.* collins, left, right"),
        ("labels:x", "labels:new=x is not valid; new is pairs OLD=NEW"),
        ("labels:x=", "labels:new=x= is not valid"),
        ("labels:A=B,C=D", "'C=D' is not a step: colons separate the parameters of a step"),
        ("punctuation:ces", "punctuation:tags=ces is not valid; tags is evalb, a treebank"),
        ("unaries:foo", "unaries:keep=foo is not valid; keep is top, bottom or joined"),
        ("length:ten", "length:longest=ten is not valid; longest is a number of words"),
        ("empty:1", "too many parameters for empty: '1'"),
        ("length:1:2", "'2' is one more than length:longest=40 has"),
        ("functions:tags=maybe", "functions:tags=maybe is not valid; tags is whether .* \\(yes or no\\)"),
        ('punctuation:". ,', "double quote is not closed"),
        ("traces:tags=", "traces:tags= is not valid"),
        ("goodman:1", "goodman stands for traces,unaries:top,xcont and takes no parameters"),
    ],
)
def test_errors_say_what_is_possible(written: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        pipeline(written)


def test_rules_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "my.heads").write_text("* right\n")
    tree = Tree.parse("(A (B b) (C c) (D d))")
    assert pipeline(f'binarise:head:rules="{tmp_path / "my.heads"}"')(tree) == binarise(tree, "head", rules="right")


def test_what_cannot_be_undone_is_named() -> None:
    with pytest.raises(UsageError, match="cannot be undone: traces, unaries "):
        pipeline("traces,unaries:top,xcont").inverse()
    assert pipeline("unaries:joined,xcont").inverse()(Tree.parse("(A+B (C c) (A+B_Cont (D d) (E e)))")) == Tree.parse(
        "(A (B (C c) (D d) (E e)))"
    )
    assert str(pipeline("unaries:joined,xcont").inverse()) == "undo of unaries:keep=joined,xcont"


def test_mh_is_undone_to_the_unary_free_tree() -> None:
    chain = pipeline("mh")
    tree = pipeline("traces")(TREE)
    assert tree is not None
    assert chain.inverse()(chain(tree) or tree) == collapse_unaries(strip_functions(tree))


def test_vanished_trees_stay_in_line_and_filtered_ones_do_not() -> None:
    bank = Treebank.parse("(S (. .)) (S (NN a)) (S (A a) (B b)) (S (-NONE- *)) ()")
    gone: Counter[str] = Counter()
    made = list(pipeline("traces,punctuation,length:1").apply(bank, gone))
    assert [str(tree) for tree in made] == ["()", "(S (NN a))", "()", "()"]
    assert gone == {"punctuation": 1, "length:longest=1": 1, "traces": 1}


def test_whatever_holds_trees(tmp_path: Path) -> None:
    chain = pipeline("xcont")
    text = "(A (B b) (C c) (D d))"
    tree = Tree.parse(text)
    file = tmp_path / "a.mrg"
    file.write_text(text)
    single = [text, tree, tree.to_nltk(), file, str(file), Treebank.from_trees([tree])]
    several = [[tree], [text], [tree.to_nltk()], iter([tree])]
    for form in (*single, *several):
        assert [str(made) for made in chain.apply(form)] == ["(A (B b) (A_Cont (C c) (D d)))"]


def test_a_stream_stays_a_stream() -> None:
    def endless() -> Iterator[Tree]:
        while True:
            yield TREE

    assert next(pipeline("traces").stream(endless())) == pipeline("traces")(TREE)


def test_trees_know_where_they_were_read(tmp_path: Path) -> None:
    file = tmp_path / "a.mrg"
    file.write_text("(A (B b))\n(A (B b) (C c))\n(A (. .))\n(A (D d))\n")
    made = pipeline("punctuation,length:1").apply(read(file))
    assert [str(tree) for tree in made] == ["(A (B b))", "()", "(A (D d))"]
    assert [made.place(i) for i in range(3)] == [f"{file}:{line}" for line in (1, 3, 4)]
    assert len(pipeline("length:0").apply(read(file))) == 0


def test_an_empty_parse_is_not_counted_as_vanished() -> None:
    gone: Counter[str] = Counter()
    assert list(pipeline("hogenhout").apply([Tree("")], gone)) == [Tree("")]
    assert not gone


@pytest.mark.parametrize("name", STEPS)
def test_steps_are_documented_and_bear_an_empty_parse(name: str) -> None:
    step = STEPS[name]
    assert step.name == name
    assert step.help
    assert all(parameter.help for parameter in step.parameters)
    assert pipeline(step.signature)(TREE) == pipeline(name)(TREE)
    assert all(made.width == 0 for made in pipeline(name).apply([Tree("")]))


@pytest.mark.parametrize("name", ALIASES)
def test_aliases_stand_for_steps(name: str) -> None:
    assert name not in STEPS
    assert pipeline(name)(TREE) == pipeline(ALIASES[name][0])(TREE)


def test_public_names() -> None:
    names = treegauge.normalise.__all__
    assert len(set(names)) == len(names)
    assert all(hasattr(treegauge.normalise, name) for name in names)


def test_labels_are_renamed_by_pairs_between_colons_or_in_quotes() -> None:
    tree = Tree.parse("(S (PRT (RP up)) (X (Y y)))")
    assert str(pipeline("labels:PRT=ADVP:X=Z:Y=T")(tree)) == "(S (ADVP (RP up)) (Z (T y)))"
    assert str(pipeline('labels:"PRT=ADVP Y=T":tags=no')(tree)) == "(S (ADVP (RP up)) (X (Y y)))"
    assert str(pipeline(["labels:X=Z", "labels:Z=W"])(tree)) == "(S (PRT (RP up)) (W (Y y)))"


def test_steps_follow_the_style_of_the_treebank() -> None:
    tree = Tree.parse("(STA+fcl (SUBJ+np- (H+n chuva)) (P+v-fin caiu) (. .))")
    assert str(pipeline("functions", "floresta")(tree)) == "(fcl (np (n chuva)) (v-fin caiu) (. .))"
    assert str(pipeline("functions:tags=no", "floresta")(tree)) == "(fcl (np (H+n chuva)) (P+v-fin caiu) (. .))"
    assert str(pipeline("functions:before=", "floresta")(tree)) == str(pipeline("functions")(tree))
    assert str(pipeline("preset:default", "floresta")(tree)) == "(fcl (np (n chuva)) (v-fin caiu))"
    twice = Tree.parse("(STA+fcl (ADVL/N<[+3]+pp (H+prp com)))")
    assert str(pipeline("functions", "floresta")(twice)) == "(fcl (pp (prp com)))", "cut at the last mark"
    assert str(pipeline("preset:default", "floresta")(twice)) == "(fcl (pp (prp com)))"
    assert str(pipeline("root", "alpino")(Tree.parse("(top (smain (n Jan)))"))) == "(smain (n Jan))"
    with pytest.raises(UnknownName, match="unknown treebank 'floreste'; did you mean 'floresta'"):
        pipeline("functions", "floreste")
