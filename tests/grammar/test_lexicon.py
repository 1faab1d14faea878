"""Words that were never seen, or seldom: signatures, smoothing, one unknown word, given tags."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import assume, given, settings, strategies as st

from treegauge.data import own_treebank
from treegauge.errors import UnknownName
from treegauge.grammar import PCFG
from treegauge.grammar.lexicon import UNKNOWN, Smoothing, signatures, smoothed_lexicon, tokens
from treegauge.grammar.treebank_grammar import train
from treegauge.normalise import pipeline, unbinarise
from treegauge.normalise.labels import strip_functions
from treegauge.normalise.markovisation import SPLITS, USUAL_SPLITS, annotate, lexical_tag
from treegauge.parsing import Forest
from treegauge.parsing.parser import Parser, Sentence
from treegauge.trees import Tree

BANK = [
    Tree.parse("(S (NP (DT the) (NN cat)) (VP (VBD slept)))"),
    Tree.parse("(S (NP (NNP Rome)) (VP (VBD burned)))"),
    Tree.parse("(S (NP (DT the) (NN dog)) (VP (VBD walked)))"),
    Tree.parse("(S (NP (CD 42) (NNS cats)) (VP (VBD slept)))"),
]


def test_signatures_go_from_fine_to_coarse() -> None:
    assert signatures("walking")[0].endswith(":ing>")
    assert signatures("Walking", initial=True)[0] != signatures("Walking")[0] != signatures("walking")[0]
    assert len({signatures(word)[0] for word in ("3.14", "B2B", "USA", "Usa", "x-ray", "usa", "–")}) == 7
    for word in ("", "a", "É", "été", "1", "-", "--", "ﬁ", "A" * 1000):
        names = signatures(word)
        assert names[-1] == UNKNOWN
        assert all(name.startswith("<unknown:") and name.endswith(">") for name in names[:-1])
        assert len(set(names)) == len(names)


def test_the_lexicon_is_a_distribution_over_words_and_signatures() -> None:
    grammar = train(own_treebank("train")).grammar
    assert all(total == pytest.approx(1) for total in grammar.totals.values())
    assert UNKNOWN in grammar.vocabulary


def test_counts_of_known_words_are_kept() -> None:
    counts = tokens(own_treebank("train"))
    lexicon = smoothed_lexicon(counts, smoothing=Smoothing(alpha=2.0))
    totals: dict[str, float] = {}
    for words in lexicon.values():
        for word, count in words.items():
            totals[word] = totals.get(word, 0.0) + count
    for word in {token.word for token in counts}:
        seen = sum(count for token, count in counts.items() if token.word == word)
        assert totals[word] == pytest.approx(seen)


def test_smoothing_by_its_definition() -> None:
    """Two rare words with the suffix -ed, one of them a noun: P(NN | ed) by hand."""
    bank = [Tree.parse("(S (VBD mined))"), Tree.parse("(S (NN shed))"), Tree.parse("(S (DT the))"), Tree.parse("(S (DT the))")]
    smoothing = Smoothing(rare=1, alpha=1.0, beta=1.0, gamma=0.0, least=0.0)
    lexicon = smoothed_lexicon(tokens(bank), smoothing=smoothing)
    coarsest = {"VBD": 1 / 2, "NN": 1 / 2}
    one = {tag: (1 + p) / (2 + 1) for tag, p in coarsest.items()}  # :d
    two = {tag: (1 + p) / (2 + 1) for tag, p in one.items()}  # :ed
    assert lexicon["VBD"]["<unknown::ed>"] / lexicon["NN"]["<unknown::ed>"] == pytest.approx(two["VBD"] / two["NN"])
    finest = {"VBD": (1 + two["VBD"]) / 2, "NN": two["NN"] / 2}  # :ned
    assert lexicon["NN"]["mined"] == pytest.approx((0 + finest["NN"]) / (1 + 1))
    # "the" has the signature :e, of which no rare word is: it gets the tags of the coarsest.
    assert lexicon["NN"]["the"] == pytest.approx(2 * 0.5 / 3)


ODD = [
    *("(", ")", "()", "-LRB-", "-RRB-", "((", "{", "]", "\\", "\\/", "|", "^", "=", "@", "~", "+", "_Cont", "#", "%", "'", '"'),
    *("<unknown>", "<unknown:C>", "<unknown:", "TOP", "-NONE-", "*T*-1", "0", "", " ", "\t", "\n", "\x00", "a" * 500),
    *("\u00a0", "\u200b", "\ufeff", "\ud800", "\u0301", "\U0001f680", "\u0130", "\u1e9e", "\ufb03", "\u0645\u0631", "\u6f22\u5b57"),
]
ANY_WORD = st.one_of(st.sampled_from(ODD), st.text(), st.text(alphabet="aA1-.", max_size=6))


@cache
def own_grammars() -> list[PCFG]:
    bank = own_treebank("train", ("travel",))
    return [
        train(bank).grammar,
        train(bank, lexicon="collins").grammar,
        train(bank, steps="traces,root,mh", lexicon="collins").grammar,
        train(bank[:20], steps="traces,functions,root,goodman", estimator="dop1").grammar,
    ]


@given(ANY_WORD, st.booleans())
def test_any_word_has_tags(word: str, initial: bool) -> None:
    for grammar in own_grammars():
        symbols, weights, _ = grammar.binary.word(word, initial=initial)
        assert len(symbols) == len(weights) > 0
        assert all(0 < weight <= 1 for weight in weights.tolist())


@settings(max_examples=30)
@given(ANY_WORD)
def test_any_unknown_word_can_be_parsed_where_words_stand(word: str) -> None:
    grammar = own_grammars()[0]
    assume(word not in grammar.vocabulary and word.lower() not in grammar.vocabulary)
    parser = Parser(grammar)
    for words in ((word, "is", word, "."), ("The", word, "is", word, "."), ("We", "saw", "the", word, ".")):
        parsed = parser.parse(Sentence(words))
        assert not parsed.fallback, words
        assert parsed.tree.words == words


@pytest.mark.parametrize("lexicon", ["signatures", "collins"])
def test_without_rare_words_the_rarest_stand_for_unknown_ones(lexicon: str) -> None:
    often = [tree for tree in BANK for _ in range(9)]
    parser = Parser(train(often, lexicon=lexicon).grammar)
    assert not parser.parse(Sentence(("the", "zebra", "ran"))).fallback
    assert UNKNOWN not in train(often, lexicon="collins", unknown_below=1).grammar.vocabulary


def test_every_word_can_be_parsed() -> None:
    parser = Parser(train(BANK).grammar)
    for words in (("The", "zebra", "jumped"), ("Oslo", "Vanished"), ("99", "ZZZ", "!!!"), ("the", "x-y", "é")):
        assert not parser.parse(Sentence(words)).fallback, words
    tags = [parser.parse(Sentence(words)).tree.tags for words in (("the", "bird", "landed"), ("77", "birds", "landed"))]
    assert tags == [("DT", "NN", "VBD"), ("CD", "NNS", "VBD")]


def test_the_first_word_may_be_known_in_lower_case_only_in_grammars_with_an_unknown_word() -> None:
    smoothed = train(BANK).grammar.binary
    assert smoothed.word("The", initial=True)[1].tolist() == smoothed.word("the")[1].tolist()
    assert smoothed.word("The")[1].tolist() != smoothed.word("the")[1].tolist()
    plain = train(BANK, lexicon="plain").grammar.binary
    assert not len(plain.word("The", initial=True)[0])


def test_collins_has_one_unknown_word() -> None:
    grammar = train(BANK, lexicon="collins", unknown_below=2).grammar
    assert set(grammar.vocabulary) == {"the", "slept", UNKNOWN}
    assert Forest(grammar, ["zzz", "the", "q"]).binary.word("zzz")[0].tolist() == grammar.binary.word("cat")[0].tolist()
    with pytest.raises(UnknownName):
        train(BANK, lexicon="none")


def test_given_tags_are_kept_whatever_the_words() -> None:
    grammar = train(own_treebank("train")).grammar
    for tree in own_treebank("dev")[:12]:
        parsed = Parser(grammar, gold_tags=True).parse(Sentence(tree.words, tree.tags))
        assert parsed.tree.words == tree.words
        assert parsed.tree.tags == tree.tags


def test_annotation_is_undone_exactly() -> None:
    clean = pipeline("traces,root")
    for splits in ((), USUAL_SPLITS, tuple(SPLITS)):
        for direction in ("right", "left", "head"):
            for tree in list(own_treebank("dev"))[:20]:
                cleaned = clean(tree)
                assert cleaned is not None
                made = annotate(cleaned, direction, h=1, v=3, splits=splits)
                assert unbinarise(made) == strip_functions(cleaned)
                assert max(len(node.children) for node in made.nodes()) <= 2


def test_splits_mark_what_they_say() -> None:
    subject = "(NP-SBJ (NP (NN life) (POS 's)) (NN end))"
    clause = "(SBAR (IN that) (S (VP (TO to) (VP (VB go)))))"
    tree = Tree.parse(f"(S {subject} (VP (VBZ is) (RB not) (NP-TMP (DT this)) {clause}))")

    def labels(*splits: str) -> set[str]:
        return {node.label for node in annotate(tree, v=1, splits=splits).nodes() if "|" not in node.label}

    assert "VBZ^=be" in labels("aux")
    assert {"IN^VP", "DT^NP"} <= labels("in") | labels("tag-pa")
    assert {"NP^P", "NP"} <= labels("poss")
    assert {"NP^TMP", "NP^SBJ"} <= labels("tmp") | labels("sbj")
    assert {"VP^VBF", "VP^TO", "VP^VB"} <= labels("vp")
    assert {"S^VBF", "S^TO", "SBAR^IN"} <= labels("sentence")
    assert {"S", "S^G"} <= labels("gapped")
    assert {"DT^U", "S^U"} <= labels("alone") | labels("unary")
    assert lexical_tag("VBZ^VP^=be") == "VBZ^=be"
    with pytest.raises(UnknownName):
        annotate(tree, splits=["no-such"])


def test_smoothed_rules_by_their_definition() -> None:
    trees = [
        Tree.parse("(S (NP (D a) (N b)) (VP (V c) (NP (N b) (N b))))"),
        Tree.parse("(S (NP (D a) (N b)) (VP (V c) (NP (D a) (N b))))"),
    ]
    steps = "parents"
    plain = {rule.production: rule.probability for rule in train(trees, steps=steps, lexicon="plain").grammar.rules}
    smoothed = train(trees, steps=steps, lexicon="plain", rule_weight=2.0).grammar
    found = {str(rule.production): rule.probability for rule in smoothed.rules}
    # NP: 3 times D N, once N N; under S always D N, under VP half of the time.
    assert found["NP^S -> N N"] == pytest.approx((2 * 0 + 2 * 0.25) / (2 + 2))
    assert found["NP^VP -> N N"] == pytest.approx((2 * 0.5 + 2 * 0.25) / (2 + 2))
    assert {str(production) for production in plain} < set(found)
    assert all(total == pytest.approx(1) for total in smoothed.totals.values())
    assert {smoothed.label(symbol) for symbol in smoothed.nonterminals} == {"S", "NP", "VP", "D", "N", "V"}
