"""Alignment where it matters: escapes, merged and split tokens, changed words, missing and doubled sentences, shifted files."""

from __future__ import annotations

from dataclasses import replace

import pytest

import treegauge
from treegauge import Treebank, alignment, load_preset
from treegauge.alignment.alignment import Fit, align
from treegauge.alignment.pairing import Pair
from treegauge.errors import InputError
from treegauge.scoring.result import Result

GOLD = """
(TOP (S (NP (DT The) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (DT a) (NN mat)))) (. .)))
(TOP (S (NP (PRP It)) (VP (MD can) (RB not) (VP (VB stay))) (. .)))
(TOP (S (`` ``) (NP (NNP Rain)) ('' '') (VP (VBD fell) (PRN (-LRB- -LRB-) (ADVP (RB hard)) (-RRB- -RRB-))) (. .)))
(TOP (S (NP (NNS Cats)) (VP (VBP sleep)) (. .)))
"""


def trees(text: str) -> list[str]:
    return [line for line in text.strip().splitlines() if line.strip()]


def kinds(result: Result) -> list[str]:
    return [note.kind for note in result.notes]


def score(test: list[str], gold: str = GOLD, **options: object) -> Result:
    return treegauge.score(trees(gold), test, pair="text", **options)


def pair(gold: str, test: str, preset: str = "default", **options: object) -> Pair:
    return alignment.pair(Treebank.parse(gold), Treebank.parse(test), load_preset(preset), **options)


def test_the_gold_trees_fit_themselves() -> None:
    result = score(trees(GOLD))
    assert not result.notes
    assert result.rates["f1"] == result.rates["tagging_accuracy"] == result.rates["exact_match"] == 1


@pytest.mark.parametrize(
    ("written", "otherwise"),
    [
        ("(`` ``)", '(`` ")'),
        ("('' '')", "('' \u201d)"),
        ("(-LRB- -LRB-)", "(-LRB- \\[)"),
        ("(-LRB- -LRB-)", "(-LRB- -LRB-)"),
        ("(NNP Rain)", "(NNP Rain)"),
    ],
)
def test_escapes_and_quotes_are_no_difference(written: str, otherwise: str) -> None:
    sentence = trees(GOLD)[2]
    assert written in sentence
    other = sentence.replace(written, otherwise)
    result = score([*trees(GOLD)[:2], other, trees(GOLD)[3]])
    if "[" in otherwise:
        assert kinds(result) == ["text-differs"], "a square bracket is another character"
    else:
        assert not result.notes
        assert result.rates["f1"] == 1


@pytest.mark.parametrize(
    ("ours", "theirs"), [("1\\/2", "1/2"), ("-LCB-", "{"), ("\\*", "*"), ("don't", "don\u2019t"), ("`", "\u2018")]
)
def test_words_that_are_the_same(ours: str, theirs: str) -> None:
    gold, test = f"(S (NP (CD {ours})) (VP (V x)))", f"(S (NP (CD {theirs})) (VP (V x)))"
    assert not treegauge.score(gold, test).notes


def test_words_that_differ_in_case_differ() -> None:
    assert kinds(treegauge.score("(S (NP (N Rain)))", "(S (NP (N rain)))")) == ["text-differs", "all-words"]


class TestOtherTokens:
    """The test side cuts the text otherwise; brackets are compared over the common pieces."""

    GOLD = "(S (NP (PRP It)) (VP (MD can) (RB not) (VP (VB stay))))"

    def test_merged(self) -> None:
        result = treegauge.score(self.GOLD, "(S (NP (PRP It)) (VP (MD cannot) (VP (VB stay))))")
        assert kinds(result) == ["characters"]
        assert (result.counts["matched"], result.counts["gold"], result.counts["test"]) == (4, 4, 4)
        assert result.counts["words"] == 4, "words are the gold words"
        assert result.counts["tags"] == 2, "no tag of the test tree is for `can` or `not` alone"

    def test_split(self) -> None:
        gold = "(S (NP (PRP It)) (VP (MD cannot) (VP (VB stay))))"
        result = treegauge.score(gold, self.GOLD)
        assert (result.counts["matched"], result.counts["gold"], result.counts["test"]) == (4, 4, 4)
        assert result.counts["words"] == 3
        assert result.counts["tags"] == 2

    def test_a_bracket_around_half_a_token_is_wrong(self) -> None:
        result = treegauge.score("(S (NP (PRP It)) (VP (MD cannot)))", "(S (NP (PRP It)) (VP (MD can) (ADVP (RB not))))")
        assert (result.counts["matched"], result.counts["gold"], result.counts["test"]) == (3, 3, 4)

    def test_overlapping_tokens(self) -> None:
        result = treegauge.score("(S (X (A ab)) (Y (B cd)))", "(S (X (A abc)) (Y (B d)))")
        assert kinds(result) == ["characters"]
        assert (result.counts["matched"], result.counts["crossing"]) == (1, 1)

    def test_equally_many_tokens_over_the_same_text(self) -> None:
        assert kinds(treegauge.score("(S (A ca) (B nnot))", "(S (A can) (B not))")) == ["characters"]

    def test_the_deleted_token_is_decided_by_gold(self) -> None:
        result = treegauge.score("(S (NP (N U.S)) (. .))", "(S (NP (N U.S.)))")
        assert kinds(result) == ["characters"]
        assert (result.counts["matched"], result.counts["gold"], result.counts["test"]) == (2, 2, 2)


def test_a_comma_tagged_as_a_noun_loses_no_sentence() -> None:
    gold = "(S (NP (N rain)) (, ,) (VP (V fell)))"
    result = treegauge.score(gold, "(S (NP (N rain)) (NN ,) (VP (V fell)))")
    assert not result.notes
    assert result.rates["f1"] == 1
    assert result.evalb is not None
    assert result.evalb.dropped == 1


def test_traces_on_one_side_only() -> None:
    gold = "(S (NP-SBJ-1 (N rain)) (VP (V seems) (S (NP (-NONE- *-1)) (VP (V fall)))))"
    test = "(S (NP (N rain)) (VP (V seems) (S (VP (V fall)))))"
    for ours, theirs in ((gold, test), (test, gold)):
        result = treegauge.score(ours, theirs)
        assert not result.notes
        assert result.rates["f1"] == 1


def test_a_parser_that_leaves_out_punctuation() -> None:
    gold = "(S (`` ``) (NP (N rain)) (, ,) ('' '') (VP (V fell)) (. .))"
    for test in ("(S (NP (N rain)) (VP (V fell)))", "(S (NP (N rain)) (, ,) (VP (V fell)))"):
        for ours, theirs in ((gold, test), (test, gold)):
            result = treegauge.score(ours, theirs)
            assert not result.notes
            assert result.rates["f1"] == 1
    assert treegauge.score(gold, "(S (NP (N rain)) (VP (V fell)))").short.sentences == 1
    assert pair(gold, "(S (NP (N rain)) (VP (V fell)))").gold.length.tolist() == [6], "the length is that of the gold sentence"


def test_changed_words_count_as_missed_and_are_listed() -> None:
    test = trees(GOLD)
    test[1] = test[1].replace("stay", "go")
    result = score(test)
    assert kinds(result) == ["text-differs"]
    note = result.notes[0]
    assert note.sentence == 1
    assert "word 4 is 'stay' in gold, word 4 is 'go'" in note.text
    assert note.text.endswith("its gold brackets count as missed")
    everything = score(trees(GOLD)).counts
    assert result.counts["gold"] == everything["gold"]
    assert result.counts["matched"] == result.counts["test"] == everything["gold"] - 4
    assert result.counts["words"] == everything["words"]
    assert result.counts["sentences"] == 4


def test_changed_words_can_be_left_out() -> None:
    test = trees(GOLD)
    test[1] = test[1].replace("stay", "go")
    result = score(test, on_mismatch="skip")
    assert (result.skipped, result.counts["sentences"], result.rates["f1"]) == (1, 3, 1)
    assert result.notes[0].text.endswith("it is left out")
    assert result.sentences is not None
    assert result.sentences.index.tolist() == [0, 2, 3]
    assert result.sentences.status.tolist() == [0, 1, 0, 0]


def test_changed_words_can_be_an_error() -> None:
    test = trees(GOLD)
    test[1] = test[1].replace("stay", "go")
    test[3] = "()"
    with pytest.raises(treegauge.MismatchError, match=r"(?s)do not match in 2 sentences.*word 4 is 'stay'.*no parse"):
        score(test, on_mismatch="error")


def test_words_can_be_ignored() -> None:
    test = [line.replace("cat", "dog").replace("sat", "ran") for line in trees(GOLD)]
    assert score(test).rates["f1"] < 1
    result = score(test, match_words="length")
    assert not result.notes
    assert result.rates["f1"] == 1
    assert result.signature.match_words == "length"
    assert result.evalb is None


@pytest.mark.parametrize("parse", ["()", "(TOP)", "(TOP (S))", ""])
def test_a_failed_parse(parse: str) -> None:
    test = trees(GOLD)
    test[0] = parse
    result = score(test)
    assert kinds(result) == ["no-parse"]
    assert result.counts["sentences"] == 4
    assert result.counts["test"] == result.counts["gold"] - 5


@pytest.mark.parametrize("missing", [0, 1, 2, 3])
def test_a_missing_sentence(missing: int) -> None:
    test = trees(GOLD)
    gone = Treebank.parse(test.pop(missing))
    result = score(test)
    assert [(note.kind, note.sentence) for note in result.notes] == [("missing", missing)]
    assert " ".join(gone.words(0))[:20] in result.notes[0].text
    assert result.counts["matched"] == result.counts["test"] < result.counts["gold"]
    assert result.counts["sentences"] == 4


@pytest.mark.parametrize("doubled", [0, 1, 2, 3])
def test_a_doubled_sentence(doubled: int) -> None:
    test = trees(GOLD)
    test.insert(doubled, test[doubled])
    result = score(test)
    assert [(note.kind, note.sentence) for note in result.notes] == [("extra", -1)]
    assert result.rates["f1"] == 1
    assert result.counts["sentences"] == 4


@pytest.mark.parametrize("shift", [1, 2, 3])
def test_a_shifted_file_of_the_same_number_of_trees(shift: int) -> None:
    test = trees(GOLD)
    test = ["(S (N Something) (N else))"] * shift + test[: 4 - shift]
    result = score(test)
    assert sorted(kinds(result)) == ["extra"] * shift + ["missing"] * shift
    assert result.counts["matched"] == result.counts["test"] > 0


def test_missing_doubled_and_changed_at_once() -> None:
    gold = [f"(S (NP (N noun{i})) (VP (V verb{i}) (NP (N object{i}))))" for i in range(20)]
    test = [*gold[:3], *gold[4:8], gold[7], *gold[8:12], gold[12].replace("verb12", "other"), *gold[13:]]
    result = treegauge.score(gold, test)
    assert [(note.kind, note.sentence) for note in result.notes] == [("missing", 3), ("text-differs", 12), ("extra", -1)]
    assert result.counts["matched"] == 18 * 4


def test_sentences_in_another_order_are_not_all_found_but_none_is_lost() -> None:
    gold = [f"(S (N a{i}) (N b{i}))" for i in range(6)]
    result = treegauge.score(gold, gold[::-1])
    assert result.counts["sentences"] == 6
    assert result.counts["gold"] == 6


def test_a_fit_has_one_test_sentence_for_each_gold_sentence() -> None:
    gold, test = Treebank.parse(GOLD), Treebank.parse(GOLD)[1:]
    alignment = align(gold, test, load_preset("default"))
    assert alignment.test.tolist() == [-1, 0, 1, 2]
    assert alignment.fit.tolist() == [Fit.MISSING, Fit.TOKENS, Fit.TOKENS, Fit.TOKENS]


def test_equal_words_of_a_preset() -> None:
    preset = replace(load_preset("collins"), equal_words=(("colour", "color"), ("color", "hue"), ("''", "'")))
    for word in ("colour", "color", "hue"):
        assert not treegauge.score("(S (N colour))", f"(S (N {word}))", preset=preset).notes
    assert treegauge.score("(S (N colour))", "(S (N red))", preset=preset).notes
    assert not treegauge.score("(S (N ''))", "(S (N '))", preset=preset).notes


def test_a_hundred_thousand_brackets_deep() -> None:
    depth = 100_000
    deep = "(X " * depth + "(N a) (N b)" + ")" * depth
    other = "(TOP " * depth + "(X (N a) (N b))" + ")" * depth
    result = treegauge.score(deep, other)
    assert (result.counts["gold"], result.counts["test"], result.counts["matched"]) == (depth, 1, 1)


def test_an_empty_treebank() -> None:
    """Nothing can be scored, as on the command line."""
    for score in (treegauge.score, treegauge.evaluator().score, treegauge.evaluator("goodman").rows):
        with pytest.raises(InputError, match="no trees in gold"):
            score([], [])
    with pytest.raises(InputError, match="no trees in gold"):
        treegauge.evaluator().compute(predictions=[], references=[])


def test_induction_leaves_out_sentences_without_gold_spans() -> None:
    gold = ["(S (N a) (N b))", "(S (NP (N a) (N b)) (N c))", "(S (N a) (N b) (N c))"]
    test = ["(S (N a) (N b))", "(S (NP (N a) (N b)) (N c))", "(S (NP (N a) (N b)) (N c))"]
    result = treegauge.score(gold, test, preset="induction")
    assert (result.skipped, result.counts["sentences"], result.counts["test"]) == (2, 1, 1)
    assert result.rates["f1"] == result.rates["mean_f1"] == 1


def test_a_trace_that_a_parse_has_as_a_word_is_named() -> None:
    """Gold has no traces at all; only their writing tells. A number 0 that gold has as well is none, nor is any other word."""
    gold = ["(S (NP (PRP I)) (VP (VBD said) (NP (CD 0))))"] * 3
    parses = [
        "(S (NP (PRP I)) (VP (VBD said) (SBAR (IN 0) (NP (CD 0))) (NP (NN *T*-1))))",
        "(S (NP (PRP I)) (VP (VBD said) (NP (CD 0) (NN x))))",
        "(S (NP (PRP I)) (VP (VBD said) (NP (NN *-1))))",
    ]
    named, other, third = treegauge.score(gold, parses).notes[:3]
    assert named.what == "the parse has '0' as CD, which is written as a trace, and gold has no such word"
    assert "words differ" in other.what
    assert "words differ" in third.what


class TestSomeDeletedWordsAreMissing:
    """The parsed text lacks some of the words that the preset deletes, and has others; its parses have no tags."""

    GOLD = "(S (NP (NN Rain)) (, ,) (VP (VBD cost) (NP ($ $) (CD 5))) (. .))"

    @pytest.mark.parametrize(
        "test", ["(X Rain (X cost (X $ 5)))", "(X Rain (X , (X cost (X $ 5))))", "(X Rain (X cost (X $ (X 5 .))))"]
    )
    def test_gold_decides_what_is_deleted(self, test: str) -> None:
        result = treegauge.score(self.GOLD, test, "induction")
        assert kinds(result) == [], "the metric reads no tags"
        assert "all-tags" in kinds(treegauge.score(self.GOLD, test))
        assert result.counts == treegauge.score(self.GOLD, "(X Rain (X cost 5))", "induction").counts

    def test_words_that_the_parse_deletes_and_gold_lacks(self) -> None:
        test = "(S (NP (NN Rain)) (, ,) (VP (VBD cost) (NP (XX $) (CD 5))) (: ;))"
        assert not treegauge.score("(S (NP (NN Rain)) (VP (VBD cost) (NP ($ $) (CD 5))))", test, "induction").notes

    def test_the_word_that_differs_is_named(self) -> None:
        result = treegauge.score(self.GOLD, "(X Rain (X cost (X $ 6)))", "induction")
        assert "word 5 is '5' in gold, word 4 is '6'" in result.notes[0].what

    def test_at_the_end_a_deleted_word_is_named(self) -> None:
        result = treegauge.score(self.GOLD, "(X Rain (X cost (X $ (X 5 !))))", "induction")
        assert "word 6 is '.' in gold, word 5 is '!'" in result.notes[0].what

    def test_lengths_only(self) -> None:
        result = treegauge.score(self.GOLD, "(X Rain (X cost (X $ 5)))", "induction", match_words="length")
        assert "word 5 is '5' in gold, the sentence ends after 4 words" in result.notes[0].what
